//! Refits and panels: every system is solved, every budget is kept, and what is read off a fit is what a fit gives.

use crate::common;
use faer::Mat;
use menet::refit::Refit;
use menet::rules::RuleKind;
use menet::sparse::SparseMatrix;
use menet::{Dataset, Men, MenParams, Named, SizeLimits, fit};
use rand::RngExt;

/// Some variables tell some classes apart, the others are noise; on three levels if asked, so that ties abound.
fn samples(n: usize, p: usize, classes: usize, levels: bool) -> (Mat<f64>, Vec<usize>) {
    let rng = &mut common::rng(11);
    let labels: Vec<usize> = (0..n).map(|i| i % classes).collect();
    let x = Mat::from_fn(n, p, |i, j| {
        let signal = if j % 3 == 0 && j / 3 % classes == labels[i] { 1.5 } else { 0.0 };
        let value = signal + common::normal(rng);
        if levels { value.clamp(-1.0, 1.0).round() } else { value * (1.0 + j as f64) }
    });
    (x, labels)
}

fn fitted(data: &Dataset<'_>, params: &MenParams) -> Men {
    fit(data, params, &()).unwrap_or_else(|e| panic!("{params:?}: {e}"))
}

fn with(refit: Refit, panel_size: Option<usize>) -> MenParams {
    MenParams::default().with(|it| {
        it.refit.kind = Some(refit);
        it.panel_size = panel_size;
        it.nonzeros = panel_size.is_none().then_some(6);
    })
}

#[test]
fn every_refit_solves_its_equations() {
    for levels in [false, true] {
        let (x, labels) = samples(60, 40, 4, levels);
        let data = Dataset::new(x.as_ref(), &labels).unwrap();
        for &refit in Refit::ALL {
            for standardize in [true, false] {
                for panel_size in [None, Some(7)] {
                    let men = fitted(
                        &data,
                        &with(refit, panel_size).with(|it| it.penalty.standardize = standardize),
                    );
                    let report = men.refit();
                    assert_eq!(report.refit, refit);
                    match refit {
                        Refit::None => assert_eq!(report.residual, None),
                        _ => assert!(report.residual.unwrap() < 1e-9, "{report:?}"),
                    }
                    assert_eq!(report.shrinkage.is_some(), refit == Refit::Discriminant);
                }
            }
        }
    }
}

/// The paper's problem on the panel, from its own definition: the weights make the gradient of the quadratic part vanish there.
#[test]
fn the_panel_refit_is_the_minimiser_on_the_panel() {
    let (x, labels) = samples(50, 30, 3, false);
    let data = Dataset::new(x.as_ref(), &labels).unwrap();
    let params = with(Refit::Panel, None).with(|it| {
        it.manifold.alpha = 0.0;
        it.ridge = Some(0.3);
    });
    let men = fitted(&data, &params);
    let panel = men.panel();
    // Without the manifold term A = I: the ridge regression of the target on columns of length 1.
    let pre = menet::Centred::new(&data, None).unwrap();
    let all = menet::targets::AxisCount::All;
    let y =
        menet::targets::target(&data, &pre, params.target.kind, params.target.shrinkage, all, &()).unwrap();
    let (centred, norms) = (pre.dense().unwrap(), pre.norms());
    let columns = Mat::from_fn(50, panel.len(), |i, k| centred[(i, panel[k])] / norms[panel[k]]);
    let w = men.projection();
    for (k, axis) in w.axes().iter().enumerate() {
        assert_eq!(axis.indices(), panel);
        let solver: Vec<f64> = panel.iter().map(|&j| axis.get(j) * norms[j]).collect();
        let fitted: Vec<f64> = (0..50)
            .map(|i| panel.iter().enumerate().map(|(m, _)| columns[(i, m)] * solver[m]).sum())
            .collect();
        let gram: Vec<f64> = (0..panel.len())
            .map(|m| (0..50).map(|i| columns[(i, m)] * fitted[i]).sum::<f64>() + 0.3 * solver[m])
            .collect();
        let b: Vec<f64> =
            (0..panel.len()).map(|m| (0..50).map(|i| columns[(i, m)] * y[(i, k)]).sum()).collect();
        // The same direction: the axis was scaled afterwards.
        let inner: f64 = gram.iter().zip(&b).map(|(a, b)| a * b).sum();
        let lengths: f64 =
            gram.iter().map(|a| a * a).sum::<f64>().sqrt() * b.iter().map(|b| b * b).sum::<f64>().sqrt();
        assert!((inner / lengths - 1.0).abs() < 1e-10, "axis {k}");
    }
}

#[test]
fn scores_have_unit_variance_within_classes_after_a_refit() {
    let (x, labels) = samples(90, 30, 3, false);
    let data = Dataset::new(x.as_ref(), &labels).unwrap();
    for refit in [Refit::Axis, Refit::Panel, Refit::Discriminant] {
        let men = fitted(&data, &with(refit, None));
        let z = men.transform(x.as_ref()).unwrap();
        let mut total = 0.0;
        for column in z.col_iter() {
            let mut squares = 0.0;
            for class in 0..3 {
                let members = data.members(class);
                let mean = members.iter().map(|&i| column[i]).sum::<f64>() / members.len() as f64;
                squares += members.iter().map(|&i| (column[i] - mean).powi(2)).sum::<f64>();
            }
            let variance = squares / 87.0;
            total += variance;
            // By the shrunken covariance it is 1; by that of these samples nearly.
            assert!(refit != Refit::Discriminant || (0.7..1.4).contains(&variance), "{variance}");
        }
        let mean = total / z.ncols() as f64;
        assert!(refit == Refit::Discriminant || (mean - 1.0).abs() < 1e-9, "{}: {mean}", refit.name());
    }
}

#[test]
fn a_budget_is_kept_at_every_size() {
    for levels in [false, true] {
        let (x, labels) = samples(45, 25, 5, levels);
        let data = Dataset::new(x.as_ref(), &labels).unwrap();
        for &refit in Refit::ALL {
            for size in [1, 2, 3, 5, 8, 24, 25, 1000] {
                let params = with(refit, Some(size));
                let men = match fit(&data, &params, &()) {
                    // On few levels the first two variables may tie, and nothing is refitted to choose between them.
                    Err(menet::Error::Tie { .. }) if levels && !refit.shares_panel() => continue,
                    men => men.unwrap(),
                };
                let panel = men.panel();
                assert!(!panel.is_empty() && panel.len() <= size, "{} {size}: {panel:?}", refit.name());
                if refit.shares_panel() {
                    assert_eq!(panel.len(), size.min(25), "{} reaches its budget", refit.name());
                }
                assert_eq!(men.rule().unwrap().class_count(), 5);
                assert!(men.panel_table().iter().all(|row| row.class.is_some() && row.effect.is_some()));
            }
        }
    }
}

#[test]
fn a_model_read_off_a_fit_is_that_of_a_fit() {
    let (x, labels) = samples(60, 40, 4, false);
    let data = Dataset::new(x.as_ref(), &labels).unwrap();
    for &refit in Refit::ALL {
        for rule in [RuleKind::Nearest, RuleKind::Centroid, RuleKind::Gaussian] {
            let params = |nonzeros, components, panel_size| {
                MenParams::default().with(|it| {
                    it.refit.kind = Some(refit);
                    it.rule.kind = Some(rule);
                    it.nonzeros = nonzeros;
                    it.components = components;
                    it.panel_size = panel_size;
                })
            };
            let large = fitted(&data, &params(Some(12), None, None));
            let reading = SizeLimits::default().with(|it| {
                it.nonzeros = Some(5);
                it.components = Some(2);
                it.panel_size = None;
            });
            let (read, direct) =
                (large.at(reading, Some(&data)).unwrap(), fitted(&data, &params(Some(5), Some(2), None)));
            assert_eq!(read.projection(), direct.projection(), "{} {}", refit.name(), rule.name());
            assert_eq!(read.rule().unwrap(), direct.rule().unwrap());
            assert_eq!((read.refit(), read.panel()), (direct.refit(), direct.panel()));

            let large = fitted(&data, &params(None, None, Some(20)));
            let reading = SizeLimits::default().with(|it| it.panel_size = Some(6));
            let (read, direct) =
                (large.at(reading, Some(&data)).unwrap(), fitted(&data, &params(None, None, Some(6))));
            assert_eq!(read.projection(), direct.projection(), "{} {}", refit.name(), rule.name());
            assert_eq!(read.rule().unwrap(), direct.rule().unwrap());
            let alone = large.at(reading, None);
            match refit {
                Refit::None => assert_eq!(alone.unwrap().projection(), direct.projection()),
                _ => assert!(alone.unwrap_err().to_string().contains("training samples")),
            }
        }
    }
}

#[test]
fn sparse_and_dense_samples_give_the_same_panels() {
    let rng = &mut common::rng(5);
    let labels: Vec<usize> = (0..80).map(|i| i % 4).collect();
    let x = Mat::from_fn(80, 50, |i, j| {
        if rng.random_bool(if j % 4 == labels[i] { 0.6 } else { 0.2 }) {
            common::normal(rng) + 1.0
        } else {
            0.0
        }
    });
    let dense = Dataset::new(x.as_ref(), &labels).unwrap();
    let sparse = SparseMatrix::from_dense(x.as_ref()).unwrap();
    let sparse = Dataset::from_sparse_beyond(0, sparse, &labels).unwrap();
    for refit in [Refit::Axis, Refit::Panel, Refit::Discriminant] {
        for panel_size in [None, Some(9)] {
            let (a, b) =
                (fitted(&dense, &with(refit, panel_size)), fitted(&sparse, &with(refit, panel_size)));
            assert_eq!(a.panel(), b.panel(), "{}", refit.name());
            let difference =
                common::relative_difference(&a.projection().to_dense(), &b.projection().to_dense());
            assert!(difference < 1e-7, "{}: {difference:e}", refit.name());
        }
    }
}

#[test]
fn awkward_data_are_refitted_or_refused() {
    // A class of one sample, a copy, a constant column, a column that only says the class, and one of size 1e90.
    let (x, mut labels) = samples(40, 12, 3, false);
    labels[7] = 3;
    let x = Mat::from_fn(40, 12, |i, j| match j {
        3 => x[(i, 0)],
        4 => 5.0,
        5 => labels[i] as f64,
        6 => 1e90 * x[(i, j)],
        _ => x[(i, j)],
    });
    let data = Dataset::new(x.as_ref(), &labels).unwrap();
    for &refit in Refit::ALL {
        for rule in [RuleKind::Nearest, RuleKind::Centroid, RuleKind::Gaussian] {
            for (ridge, panel_size) in [(0.03, None), (0.0, None), (0.03, Some(3)), (10.0, Some(1))] {
                let base = with(refit, panel_size);
                let men = fitted(
                    &data,
                    &base.with(|it| {
                        it.rule.kind = Some(rule);
                        it.ridge = Some(ridge);
                    }),
                );
                let z = men.transform(x.as_ref()).unwrap();
                let p = men.rule().unwrap().log_probabilities(z.as_ref()).unwrap();
                for row in p.row_iter() {
                    let sum: f64 = row.iter().map(|p| p.exp()).sum();
                    assert!((sum - 1.0).abs() < 1e-9, "{} {}", refit.name(), rule.name());
                }
                assert!(!men.panel().contains(&4), "a constant column has no weight");
            }
        }
    }
    // Every class has one sample: there is no within-class variance at all.
    let lone: Vec<usize> = (0..6).collect();
    let data = Dataset::from_owned(Mat::from_fn(6, 5, |i, j| ((i * 3 + j * j) % 7) as f64), &lone).unwrap();
    for &refit in Refit::ALL {
        let men = fitted(&data, &with(refit, None).with(|it| it.nonzeros = Some(3)));
        assert!(men.projection().to_dense().is_all_finite());
    }
}

/// A marker that equals the class has no variance within classes: its rounding is no unit for scores.
#[test]
fn scores_without_variance_within_classes_keep_their_size() {
    let labels: Vec<usize> = (0..15).map(|i| usize::from(i >= 8)).collect();
    let x = Mat::from_fn(15, 3, |i, j| match j {
        0 => 0.1 + 0.7 * labels[i] as f64,
        _ => ((i * 7 + j * 5) % 11) as f64,
    });
    let data = Dataset::new(x.as_ref(), &labels).unwrap();
    for refit in [Refit::Axis, Refit::Panel, Refit::Discriminant] {
        let men = fitted(&data, &with(refit, None).with(|it| it.nonzeros = Some(1)));
        assert_eq!(men.panel(), [0]);
        assert!(men.refit().shrinkage.is_none_or(|intensity| intensity == 1.0));
        assert!(men.projection().to_dense().norm_max() < 100.0, "{:?}", men.projection());
    }
}

#[test]
fn relax_goes_from_the_papers_weights_to_the_refit() {
    let (x, labels) = samples(60, 30, 3, false);
    let data = Dataset::new(x.as_ref(), &labels).unwrap();
    let at = |relax| fitted(&data, &with(Refit::Axis, None).with(|it| it.refit.relax = relax));
    let paper = fitted(&data, &with(Refit::None, None));
    for (refitted, paper) in at(0.0).projection().axes().iter().zip(paper.projection().axes()) {
        // The same but for its length.
        let ratio = refitted.values()[0] / paper.values()[0];
        assert!(refitted.iter().zip(paper.values()).all(|((_, a), b)| (a / b / ratio - 1.0).abs() < 1e-9));
    }
    assert_ne!(at(0.5).projection(), at(1.0).projection());
    assert!(fit(&data, &MenParams::default().with(|it| it.refit.relax = 1.5), &()).is_err());
}

#[test]
fn the_same_bits_on_any_number_of_threads() {
    let (x, labels) = samples(70, 200, 4, false);
    let data = Dataset::new(x.as_ref(), &labels).unwrap();
    let on = |threads: usize, params: &MenParams| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| fitted(&data, params))
    };
    for &refit in Refit::ALL {
        for rule in [RuleKind::Nearest, RuleKind::Centroid, RuleKind::Gaussian] {
            let params = with(refit, Some(15)).with(|it| it.rule.kind = Some(rule));
            let (one, two) = (on(1, &params), on(2, &params));
            assert_eq!(one.projection(), two.projection());
            assert_eq!(one.rule().unwrap(), two.rule().unwrap());
        }
    }
}

/// Two variables share their noise. The second is a little higher in class 1, but the model subtracts it, to take the noise off the first.
#[test]
fn what_a_variable_says_alone_and_with_the_others_is_told_apart() {
    let mut rng = menet::evaluate::generator(5, &[1]);
    let mut noise = || (0..4).map(|_| rng.random::<f64>() - 0.5).sum::<f64>();
    let classes: Vec<usize> = (0..80).map(|i| i % 2).collect();
    let mut x = Mat::zeros(80, 2);
    for (i, &class) in classes.iter().enumerate() {
        let (shared, sign) = (noise(), 2.0 * class as f64 - 1.0);
        x[(i, 0)] = 0.5 * sign + shared + 0.05 * noise();
        x[(i, 1)] = 0.1 * sign + shared + 0.05 * noise();
    }
    let data = Dataset::from_owned(x, &classes).unwrap();
    let men = fit(&data, &MenParams::default().with(|it| it.panel_size = Some(2)), &()).unwrap();
    let table = men.panel_table();
    let row = |j: usize| table.iter().find(|row| row.variable == j).unwrap();
    assert_eq!((row(0).higher_in, row(0).class), (Some(1), Some(1)));
    assert_eq!((row(1).higher_in, row(1).class), (Some(1), Some(0)), "{:?}", row(1));
    for j in 0..2 {
        let column: Vec<f64> = data.x().unwrap().col(j).iter().copied().collect();
        let mean = column.iter().sum::<f64>() / 80.0;
        let deviation = (column.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 79.0).sqrt();
        for class in 0..2 {
            let own = column.iter().zip(&classes).filter(|(_, c)| **c == class).map(|(x, _)| x);
            let expected = (own.sum::<f64>() / 40.0 - mean) / deviation;
            assert!((row(j).class_means[class] - expected).abs() < 1e-12);
        }
    }
}
