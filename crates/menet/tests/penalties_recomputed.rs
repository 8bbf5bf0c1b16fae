//! What a model says of itself, recomputed from the definition: every penalty, every refit and every reading of a fit.

use faer::{Mat, Side};
use menet::lars::LarsOptions;
use menet::params::default_nonzeros;
use menet::penalties::PenaltyKind;
use menet::refit::Refit;
use menet::{Dataset, Men, MenParams, Named, Neighborhood, Prepared, SizeLimits, fit};

use crate::common::{correlate, gaussian, rng};
use crate::penalties_oracle::{Problem, Tally};

/// Four classes of 30 variables, some of which tell them apart; two are copies but for a little.
fn data(seed: u64) -> (Mat<f64>, Vec<usize>) {
    let rng = &mut rng(seed);
    let labels: Vec<usize> = (0..48).map(|i| i % 4).collect();
    let mut x = gaussian(rng, 48, 30);
    for i in 0..48 {
        for j in (0..24).step_by(3) {
            x[(i, j)] += if j / 3 % 4 == labels[i] { 1.5 } else { 0.0 };
        }
        x[(i, 7)] = x[(i, 6)] + 1e-3 * x[(i, 7)];
    }
    (x, labels)
}

/// The reduced problem of a fit.
struct ReducedSystem {
    gram: Mat<f64>,
    /// Data with this Gram matrix, and the inverse of their transpose.
    x: Mat<f64>,
    b: Vec<Vec<f64>>,
    units: Vec<f64>,
    samples: usize,
}

impl ReducedSystem {
    fn new(data: &Dataset<'_>, params: &MenParams) -> Self {
        let neighborhood = Neighborhood::new(data, params, &()).unwrap();
        let prepared = Prepared::new(data, params, &neighborhood, &()).unwrap();
        let made = prepared.problem();
        let p = data.variables();
        let mut gram = Mat::zeros(p, p);
        let mut column = vec![0.0; p];
        for j in 0..p {
            made.gram().column(j, &mut column);
            (0..p).for_each(|i| gram[(i, j)] = column[i]);
        }
        let x = gram.llt(Side::Lower).unwrap().L().transpose().to_owned();
        let b = made.b().col_iter().map(|b| b.iter().copied().collect()).collect();
        let units = made.norms().iter().map(|norm| (1.0 + params.ridge()) / norm).collect();
        ReducedSystem { gram, x, b, units, samples: data.samples() }
    }

    /// That of one axis.
    fn problem(&self, k: usize, params: &MenParams, max: Option<usize>, label: &str) -> Problem {
        // xᵀy = b: from the last row of xᵀ, which is lower triangular, down.
        let (p, b) = (self.b[k].len(), self.b[k].clone());
        let mut y = vec![0.0; p];
        for i in 0..p {
            let known: f64 = (0..i).map(|j| self.x[(j, i)] * y[j]).sum();
            y[i] = (b[i] - known) / self.x[(i, i)];
        }
        let apart = correlate(&self.x, &y).iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(apart < 1e-10);
        let options = LarsOptions::default().with(|it| (it.ridge, it.max_nonzeros) = (params.ridge(), max));
        Problem {
            x: self.x.clone(),
            y,
            gram: self.gram.clone(),
            b,
            lengths: vec![1.0; p],
            options,
            first: Some(default_nonzeros(self.samples)),
            label: label.to_owned(),
        }
    }

    /// How far an axis, but for its length, is from `(G + λ2 I) w = b` on its variables, relative to the largest of b there.
    fn left_over(&self, men: &Men, axis: usize, response: usize) -> f64 {
        let axis = &men.projection().axes()[axis];
        let (variables, ridge) = (axis.indices(), men.params().refit_ridge());
        let image = |j: usize| {
            let product = |&k: &usize| self.gram[(j, k)] * axis.get(k) / self.units[k];
            variables.iter().map(product).sum::<f64>() + ridge * axis.get(j) / self.units[j]
        };
        let pairs: Vec<(f64, f64)> = variables.iter().map(|&j| (image(j), self.b[response][j])).collect();
        let sum = |f: &dyn Fn(&(f64, f64)) -> f64| pairs.iter().map(f).sum::<f64>();
        let length = sum(&|(image, b)| image * b) / sum(&|(image, _)| image * image);
        let most = |f: &dyn Fn(&(f64, f64)) -> f64| pairs.iter().map(f).fold(0.0, f64::max);
        most(&|(image, b)| (length * image - b).abs()) / most(&|(_, b)| b.abs())
    }
}

/// How far the axes are from the discriminants of the panel, `BᵀB w = μ Σ w` with `WᵀΣW = I`, for the shrinkage that is told.
fn from_discriminants(men: &Men, x: &Mat<f64>, labels: &[usize], lambda: f64) -> f64 {
    let (panel, axes, n) = (men.panel(), men.projection().axes(), x.nrows());
    let (m, c) = (panel.len(), 4);
    let mut columns = Mat::from_fn(n, m, |i, k| x[(i, panel[k])]);
    let mut centres = Mat::<f64>::zeros(c, m);
    let mut w = Mat::from_fn(m, axes.len(), |k, axis| axes[axis].get(panel[k]));
    for k in 0..m {
        let mean = columns.col(k).iter().sum::<f64>() / n as f64;
        (0..n).for_each(|i| centres[(labels[i], k)] += (columns[(i, k)] - mean) * c as f64 / n as f64);
        (0..n).for_each(|i| columns[(i, k)] -= mean + centres[(labels[i], k)]);
        let deviation = columns.col(k).norm_l2() / ((n - c) as f64).sqrt();
        columns.col_mut(k).iter_mut().for_each(|x| *x /= deviation);
        (0..c).for_each(|class| centres[(class, k)] /= deviation);
        (0..axes.len()).for_each(|axis| w[(k, axis)] *= deviation);
    }
    let within = columns.transpose() * &columns * faer::Scale((1.0 - lambda) / (n - c) as f64)
        + Mat::<f64>::identity(m, m) * faer::Scale(lambda);
    let between = centres.transpose() * &centres * faer::Scale(1.0 / c as f64);
    let lengths = w.transpose() * &within * &w - Mat::<f64>::identity(axes.len(), axes.len());
    let (image, shares) = (&between * &w, w.transpose() * &between * &w);
    let expected = &within * &w;
    let off = Mat::from_fn(m, axes.len(), |i, k| image[(i, k)] - shares[(k, k)] * expected[(i, k)]);
    (off.norm_max() / image.norm_max()).max(lengths.norm_max())
}

#[test]
fn models_say_what_the_definition_gives() {
    let (x, labels) = data(3);
    let data = Dataset::new(x.as_ref(), &labels).unwrap();
    let mut tally = Tally::default();
    let readings = [
        SizeLimits::default(),
        SizeLimits::default().with(|it| it.nonzeros = Some(5)),
        SizeLimits::default().with(|it| it.nonzeros = Some(1)),
        SizeLimits::default().with(|it| it.panel_size = Some(9)),
        SizeLimits::default().with(|it| it.panel_size = Some(2)),
        SizeLimits::default().with(|it| it.components = Some(2)),
        SizeLimits::default().with(|it| (it.nonzeros, it.components) = (Some(4), Some(1))),
    ];
    for &penalty in PenaltyKind::ALL {
        for &refit in Refit::ALL {
            for ridge in [0.0, 0.1] {
                let params = MenParams::default().with(|it| {
                    (it.penalty.kind, it.refit.kind, it.ridge) = (penalty, Some(refit), Some(ridge));
                    it.nonzeros = Some(9);
                });
                let reduced = ReducedSystem::new(&data, &params);
                let whole = fit(&data, &params, &()).unwrap();
                for reading in readings {
                    let label = format!("{penalty:?} {refit:?} ridge {ridge} {reading:?}");
                    // A reading that a fit does not have is refused, which is no claim.
                    let Ok(men) = whole.at(reading, Some(&data)) else { continue };
                    for (k, path) in men.paths().iter().enumerate() {
                        let problem = reduced.problem(k, &params, path.max_nonzeros(), &label);
                        // Where one variable per axis is too many, the paths are those of ℓ1.
                        let kind = if path.report().is_none() { PenaltyKind::L1 } else { penalty };
                        tally.look_at(&problem, path, kind);
                        assert_eq!(men.certificates()[k], path.certificate(), "{label}");
                    }
                    let axes = men.projection().components();
                    let report = men.refit();
                    let found = match refit {
                        Refit::None => 0.0,
                        Refit::Axis => (0..axes)
                            .map(|axis| {
                                let of = (0..men.paths().len()).map(|k| reduced.left_over(&men, axis, k));
                                of.fold(f64::INFINITY, f64::min)
                            })
                            .fold(0.0, f64::max),
                        Refit::Panel => (0..axes).map(|k| reduced.left_over(&men, k, k)).fold(0.0, f64::max),
                        Refit::Discriminant => {
                            from_discriminants(&men, &x, &labels, report.shrinkage.unwrap())
                        }
                    };
                    assert!(found < 1e-9, "{label}: {found:e}");
                    assert!(report.residual.unwrap_or(0.0) < 1e-9, "{label}: {report:?}");
                }
            }
        }
    }
    assert!(tally.faults.is_empty(), "{} off: {:?}", tally.faults.len(), &tally.faults[..1]);
    assert!(tally.claims > 1000 && tally.kept * 10 > tally.claims * 9, "{} of {}", tally.kept, tally.claims);
}
