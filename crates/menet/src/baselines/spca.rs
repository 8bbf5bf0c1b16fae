//! Sparse principal component analysis of Zou, Hastie and Tibshirani.
//!
//! ```text
//! min over A, B, AᵀA = I:  ‖X − X B Aᵀ‖² + λ‖B‖² + Σ λ1ⱼ ‖βⱼ‖₁
//! ```
//!
//! It is solved in turns: with A fixed every column of B is an elastic net of `Xαⱼ` on X, read off its exact path where it has K
//! variables; with B fixed `A = UVᵀ` for the thin SVD `XᵀX B = U D Vᵀ`. It begins at the principal axes.

use faer::Mat;
use serde::{Deserialize, Serialize};

use super::space::signed;
use crate::dataset::Dataset;
use crate::error::{Error, Result, at_least_one, check};
use crate::gram::{Gram, GramForm, of_factor};
use crate::lars::{LarsOptions, lars_paths};
use crate::methods::{LearnedReduction, Reducer};
use crate::monitor::{Monitor, Stage, proceed};
use crate::numerics::linalg::{axpy, column, dot, inner_products, product, thin_svd};
use crate::numerics::sparse::SparseVector;
use crate::preprocess::Centred;
use crate::projection::Projection;

/// Sparse PCA: axes of at most `nonzeros` variables that together rebuild the data.
///
/// One fit at the dimension asked for; the axes are then ordered by adjusted variance (the variance an axis adds to those
/// before it), so that the first few are the best few. They have length 1. The data are centred, not scaled. If the
/// iteration has not settled to `tolerance` after `iterations`, the remarks say so.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Spca {
    /// Largest number K of variables an axis uses, ≥ 1; none = min(p, 100), as for MEN.
    pub nonzeros: Option<usize>,
    /// λ ≥ 0, relative to the mean squared length of the columns.
    pub ridge: f64,
    /// λ = ∞: a soft threshold of `XᵀXαⱼ` in place of the elastic net, for many variables.
    pub soft: bool,
    /// Largest number of turns, ≥ 1.
    pub iterations: usize,
    /// The largest change of an entry of an axis at which the iteration has settled, > 0.
    pub tolerance: f64,
    /// Components to fit if the caller does not say; none = 10, fewer if the data have fewer.
    pub components: Option<usize>,
}

impl Default for Spca {
    fn default() -> Self {
        Spca { nonzeros: None, ridge: 0.1, soft: false, iterations: 200, tolerance: 1e-4, components: None }
    }
}

/// How a column of B is made sparse.
enum Sparsity {
    /// At most so many variables on the path.
    Nonzeros(usize),
    /// At most so many variables, by a soft threshold.
    Soft(usize),
    /// At this level λ1/2 of the path: a fixed penalty, for which the objective falls at every turn.
    #[cfg_attr(not(test), expect(dead_code, reason = "the tests compare objectives at a fixed penalty"))]
    Level(f64),
}

impl Reducer for Spca {
    fn name(&self) -> &'static str {
        "spca"
    }

    fn summary(&self) -> &'static str {
        "sparse PCA: axes of few variables that together rebuild the data"
    }

    fn check(&self, _variables: usize) -> Result<()> {
        at_least_one("nonzeros", self.nonzeros)?;
        at_least_one("components", self.components)?;
        at_least_one("iterations", Some(self.iterations))?;
        check("ridge", self.ridge, "a number from 0 to 1e100", |x| x >= 0.0)?;
        check("tolerance", self.tolerance, "a number > 0, at most 1e100", |x| x > 0.0)
    }

    fn fit(
        &self,
        data: &Dataset<'_>,
        components: Option<usize>,
        monitor: &dyn Monitor,
    ) -> Result<LearnedReduction> {
        at_least_one("components", components.or(self.components))?;
        self.check(data.variables())?;
        let pre = Centred::new(data, None)?;
        let p = data.variables();
        let k = self.nonzeros.unwrap_or(100).min(p);
        let turns = AlternatingIteration {
            x: pre.dense()?,
            ridge: self.ridge * pre.total() / p as f64,
            sparsity: if self.soft { Sparsity::Soft(k) } else { Sparsity::Nonzeros(k) },
            iterations: self.iterations,
            tolerance: self.tolerance,
        };
        let found = turns.run(components.or(self.components).unwrap_or(10), monitor)?;
        let units: Vec<SparseVector> = found.b.iter().filter_map(unit).collect();
        if units.is_empty() {
            let why = format!("more variables tie for every axis than the {k} it may use");
            return Err(Error::Degenerate(why));
        }
        let (order, adjusted) = by_adjusted_variance(pre.dense()?, &units);
        let total = pre.total();
        let share = 100.0 * adjusted.iter().sum::<f64>() / total;
        let mut remarks =
            vec![format!("{} axes explain {share:.1}% of the variance (adjusted)", order.len())];
        let unsettled = (found.change > self.tolerance).then(|| {
            let (turns, change) = (found.turns, found.change);
            format!("not settled after {turns} turns: an entry still changed by {change:.1e}")
        });
        remarks.push(unsettled.clone().unwrap_or_else(|| format!("settled after {} turns", found.turns)));
        let axes = order.iter().map(|&at| signed(&units[at].to_dense(p))).collect();
        Ok(LearnedReduction { remarks, unsettled, ..Projection::new(pre.mean().to_vec(), axes)?.into() })
    }
}

/// The alternating iteration.
struct AlternatingIteration<'a> {
    x: &'a Mat<f64>,
    ridge: f64,
    sparsity: Sparsity,
    iterations: usize,
    tolerance: f64,
}

/// Where it ended.
struct SpcaSolution {
    #[cfg_attr(not(test), expect(dead_code, reason = "part of the objective, which the tests compute"))]
    a: Mat<f64>,
    b: Vec<SparseVector>,
    turns: usize,
    change: f64,
}

impl AlternatingIteration<'_> {
    fn run(&self, components: usize, monitor: &dyn Monitor) -> Result<SpcaSolution> {
        let svd = thin_svd(self.x.as_ref())?;
        let d = components.min(svd.s.len());
        let mut a = svd.v.subcols(0, d).to_owned();
        let gram = match self.sparsity {
            Sparsity::Soft(_) => None,
            _ => Some(of_factor(self.x.clone(), GramForm::reused(self.x.ncols()))),
        };
        let mut b: Vec<SparseVector> = Vec::new();
        let (mut turns, mut change) = (0, f64::INFINITY);
        while turns < self.iterations && change > self.tolerance {
            proceed(monitor, Stage::Lars)?;
            let pull = inner_products(self.x, product(self.x.as_ref(), a.as_ref()).as_ref());
            let next = self.sparse(gram.as_deref(), &pull)?;
            change = if b.is_empty() { f64::INFINITY } else { largest_change(&b, &next) };
            b = next;
            let image = Mat::from_fn(self.x.nrows(), d, |i, k| {
                b[k].iter().map(|(j, value)| self.x[(i, j)] * value).sum()
            });
            // A column of B that is zero leaves its part of A undetermined: `rotation` keeps A orthonormal there.
            a = rotation(product(self.x.transpose(), image.as_ref()), &a)?;
            turns += 1;
            monitor.progress(Stage::Lars, turns, self.iterations);
        }
        Ok(SpcaSolution { a, b, turns, change })
    }

    /// B for a given `XᵀXA`.
    fn sparse(&self, gram: Option<&dyn Gram>, pull: &Mat<f64>) -> Result<Vec<SparseVector>> {
        let Some(gram) = gram else {
            let Sparsity::Soft(k) = self.sparsity else {
                unreachable!("only a soft threshold needs no Gram matrix")
            };
            return Ok((0..pull.ncols()).map(|j| soft_threshold(column(pull, j), k)).collect());
        };
        let mut options = LarsOptions { ridge: self.ridge, ..LarsOptions::default() };
        match self.sparsity {
            Sparsity::Nonzeros(k) | Sparsity::Soft(k) => options.max_nonzeros = Some(k),
            Sparsity::Level(level) => options.lambda_min = level,
        }
        let paths = lars_paths(gram, pull.as_ref(), &options, &())?;
        Ok(paths.into_iter().map(|path| path.last().coefficients.clone()).collect())
    }
}

/// `UVᵀ` of the thin SVD of `m`, completed by columns of `before` where `m` has no full rank.
fn rotation(m: Mat<f64>, before: &Mat<f64>) -> Result<Mat<f64>> {
    let size = m.norm_max();
    if size == 0.0 {
        return Ok(before.clone());
    }
    // A trace of the last turn decides what the image does not: continuous, and below rounding elsewhere.
    let m = Mat::from_fn(m.nrows(), m.ncols(), |i, k| m[(i, k)] + 1e-11 * size * before[(i, k)]);
    let svd = thin_svd(m.as_ref())?;
    Ok(product(svd.u.as_ref(), svd.v.transpose()))
}

/// The soft threshold at which just `k` entries, fewer under a tie, remain.
fn soft_threshold(c: &[f64], k: usize) -> SparseVector {
    let mut sizes: Vec<f64> = c.iter().map(|c| c.abs()).collect();
    sizes.sort_unstable_by(|a, b| b.total_cmp(a));
    let level = sizes.get(k).copied().unwrap_or(0.0);
    SparseVector::from_dense(&c.iter().map(|c| (c.abs() - level).max(0.0).copysign(*c)).collect::<Vec<_>>())
}

/// The vector with length 1; none if it is zero.
fn unit(b: &SparseVector) -> Option<SparseVector> {
    let length = dot(b.values(), b.values()).sqrt();
    (length > 0.0).then(|| b.map(|_, value| value / length))
}

fn largest_change(before: &[SparseVector], after: &[SparseVector]) -> f64 {
    let one = |a: &SparseVector, b: &SparseVector| {
        let (a, b) = (unit(a).unwrap_or_default(), unit(b).unwrap_or_default());
        let moved = b.iter().map(|(j, value)| (value - a.get(j)).abs());
        moved.chain(a.iter().map(|(j, value)| (value - b.get(j)).abs())).fold(0.0, f64::max)
    };
    before.iter().zip(after).map(|(a, b)| one(a, b)).fold(0.0, f64::max)
}

/// The axes in the order in which each adds most to the variance of those before, and what it adds: a QR decomposition of
/// the scores with pivoting. Axes that add nothing are left out.
fn by_adjusted_variance(x: &Mat<f64>, axes: &[SparseVector]) -> (Vec<usize>, Vec<f64>) {
    let mut scores: Vec<Vec<f64>> = axes
        .iter()
        .map(|axis| {
            let mut z = vec![0.0; x.nrows()];
            axis.iter().for_each(|(j, weight)| axpy(weight, column(x, j), &mut z));
            z
        })
        .collect();
    let largest = scores.iter().map(|z| dot(z, z)).fold(0.0, f64::max);
    let (mut order, mut variances): (Vec<usize>, Vec<f64>) = (Vec::new(), Vec::new());
    let mut left: Vec<usize> = (0..axes.len()).collect();
    while let Some(best) = (0..left.len()).max_by(|&a, &b| {
        let size = |at: usize| dot(&scores[left[at]], &scores[left[at]]);
        size(a).total_cmp(&size(b)).then(b.cmp(&a))
    }) {
        let chosen = left.remove(best);
        let variance = dot(&scores[chosen], &scores[chosen]);
        if variance <= 1e-20 * largest {
            break;
        }
        let direction: Vec<f64> = scores[chosen].iter().map(|z| z / variance.sqrt()).collect();
        for &other in &left {
            let along = dot(&direction, &scores[other]);
            axpy(-along, &direction, &mut scores[other]);
        }
        order.push(chosen);
        variances.push(variance);
    }
    (order, variances)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn oracles() -> (Mat<f64>, serde_json::Value) {
        let json: serde_json::Value =
            serde_json::from_str(include_str!("../../tests/data/oracles.json")).unwrap();
        let rows: Vec<Vec<f64>> = serde_json::from_value(json["x"].clone()).unwrap();
        (Mat::from_fn(rows.len(), rows[0].len(), |i, j| rows[i][j]), json)
    }

    fn data(x: &Mat<f64>) -> Dataset<'static> {
        Dataset::from_owned(x.clone(), &vec![0; x.nrows()]).unwrap()
    }

    /// `‖X − X B Aᵀ‖² + λ‖B‖² + λ1 ‖B‖₁`.
    fn objective(x: &Mat<f64>, found: &SpcaSolution, ridge: f64, l1: f64) -> f64 {
        let p = x.ncols();
        let b = Mat::from_fn(p, found.b.len(), |j, k| found.b[k].get(j));
        let rest = x - x * &b * found.a.transpose();
        let size: f64 = found.b.iter().flat_map(SparseVector::values).map(|b| b.abs()).sum();
        rest.norm_l2().powi(2) + ridge * b.norm_l2().powi(2) + l1 * size
    }

    #[test]
    fn the_objective_is_no_worse_than_by_coordinate_descent() {
        let (x, json) = oracles();
        let data = data(&x);
        let pre = Centred::new(&data, None).unwrap();
        for case in json["spca"].as_array().unwrap() {
            let number = |name: &str| case[name].as_f64().unwrap();
            let (ridge, l1) = (number("ridge"), number("l1"));
            let turns = AlternatingIteration {
                x: pre.dense().unwrap(),
                ridge,
                sparsity: Sparsity::Level(l1 / 2.0),
                iterations: 5000,
                tolerance: 1e-9,
            };
            let found = turns.run(number("components") as usize, &()).unwrap();
            let (ours, theirs) = (objective(pre.dense().unwrap(), &found, ridge, l1), number("objective"));
            assert!(ours <= theirs * (1.0 + 1e-7), "{case}: {ours}");
            let d = found.a.ncols();
            assert!((found.a.transpose() * &found.a - Mat::<f64>::identity(d, d)).norm_max() < 1e-9);
        }
    }

    #[test]
    fn with_all_variables_it_is_pca() {
        let (x, _) = oracles();
        let data = data(&x);
        let sparse = Spca { nonzeros: Some(12), ridge: 1e-3, ..Spca::default() };
        let found = sparse.fit(&data, Some(3), &()).unwrap();
        assert!(found.remarks[1].starts_with("settled"), "{:?}", found.remarks);
        let pca = super::super::Pca {}.fit(&data, Some(3), &()).unwrap();
        let inner = found.projection.to_dense().transpose() * pca.projection.to_dense();
        for k in 0..3 {
            assert!(inner[(k, k)].abs() > 1.0 - 1e-6, "{inner:?}");
        }
    }

    #[test]
    fn axes_are_sparse_ordered_and_of_length_one() {
        let (x, _) = oracles();
        let data = data(&x);
        for soft in [false, true] {
            let spca = Spca { nonzeros: Some(4), soft, ..Spca::default() };
            let found = spca.fit(&data, Some(5), &()).unwrap();
            let axes = found.projection.axes();
            assert!(axes.len() >= 4, "{}", axes.len());
            assert!(axes.iter().all(|axis| (1..=4).contains(&axis.nonzeros())));
            assert!(axes.iter().all(|axis| (dot(axis.values(), axis.values()) - 1.0).abs() < 1e-12));
            let pre = Centred::new(&data, None).unwrap();
            let (order, adjusted) = by_adjusted_variance(pre.dense().unwrap(), axes);
            assert!(order.is_sorted(), "they come in that order: {order:?}");
            assert!(adjusted.is_sorted_by(|a, b| a >= b), "{adjusted:?}");
            // Adjusted variances add up to that of the span: the same as of a QR decomposition in any order.
            let scores = pre.dense().unwrap() * found.projection.to_dense();
            let r = scores.qr().R().to_owned();
            assert!((adjusted[0] - scores.col(0).squared_norm_l2()).abs() < 1e-9 * adjusted[0]);
            let volume: f64 = (0..axes.len()).map(|k| r[(k, k)].powi(2)).product();
            assert!((adjusted.iter().product::<f64>() - volume).abs() < 1e-9 * volume);
        }
    }

    #[test]
    fn a_turn_that_never_settles_is_told() {
        let (x, _) = oracles();
        let spca = Spca { nonzeros: Some(3), iterations: 1, ..Spca::default() };
        let found = spca.fit(&data(&x), Some(4), &()).unwrap();
        assert!(found.remarks[1].starts_with("not settled after 1 turns"), "{:?}", found.remarks);
    }
}
