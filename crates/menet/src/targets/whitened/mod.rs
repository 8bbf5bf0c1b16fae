//! Whitened class centres, without a decomposition of the samples.
//!
//! The target sees whitened centres through their inner products alone: `C M⁻¹ Cᵀ`, where the rows of C are the centres,
//! `M = S_w + s I` and `s = γ tr S_w / r`. What is factored is the smaller of two matrices:
//!
//! | | |
//! |---|---|
//! | p ≤ n | `M = F Fᵀ`, p×p: the whitened centres are the rows of `C F⁻ᵀ` |
//! | n < p | `N = X_w X_wᵀ + s I`, n×n, where `X_w = PX` are the samples less the mean of their class: `M⁻¹ = (I − X_wᵀ N⁻¹ X_w) / s` |
//!
//! Where samples have weights d, a row of `X_w` is multiplied by the root of its weight: `X_w = Q D^(1/2) X`, where Q takes the part along
//! `√d` off every class.
//!
//! The difference in the second line cancels digits, so solutions are corrected by their residuals. With `C = U S Vᵀ` and
//! `H = VᵀM⁻¹V = R Rᵀ` the whitened centres are the rows of `U S R`.
//!
//! Sparse samples need neither matrix: see `sparse`.
//!
//! r, the rank of the samples, is counted by the pivots of a Cholesky factor: see [`rank`].

mod sample_gram;
mod sparse;

use faer::{Mat, MatRef};

use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::monitor::Monitor;
use crate::numerics::linalg::{
    ThinSvd, cholesky, cholesky_solve, column_mut, pivots, product, singular_values, solve_lower,
    symmetric_product, thin_svd,
};
use crate::preprocess::{Centred, Columns, Rows, class_means};
use sample_gram::{whole_gram, within_gram};
use sparse::by_gradients;

/// Corrections of a solution, and the relative residual that the last one may have to deal with. A correction leaves as large a part
/// of it as the first solution left, so that what is left in the end is rounding. Beyond, the samples are decomposed.
const CORRECTIONS: usize = 4;
const ACCEPTED: f64 = 1e-8;

/// What is left of the square of a line of length 1, once the lines before it are projected out: a line with less than the first
/// depends on them, one with more than the second does not.
const DEPENDENT: f64 = 1e-11;
const INDEPENDENT: f64 = 1e-9;

/// Lines whose lengths differ by more than this factor are not compared.
const SPREAD: f64 = 1e6;

/// Up to so many lines, singular values decide about dependent ones.
const FEW: usize = 500;

/// The `centres` of classes, one row each, of these masses, whitened by the covariance of samples within their own classes; and the size
/// of the samples.
pub(super) fn whitened_centres(
    data: &Dataset<'_>,
    samples: &Centred<'_>,
    (centres, masses): (Mat<f64>, Vec<f64>),
    shrinkage: f64,
    monitor: &dyn Monitor,
) -> Result<(Mat<f64>, f64)> {
    let means = &samples.columns().class_means(data);
    let (most, total) = (samples.largest_rank(), samples.total());
    let found = match samples.columns() {
        Columns::Sparse(x) => by_gradients((data, x, means), &centres, (most, total), shrinkage, monitor)?,
        Columns::Dense(x) if x.ncols() <= x.nrows() => {
            by_variables((data, x, means), &centres, (most, total), shrinkage)?
        }
        Columns::Dense(x) => {
            by_samples((data, x, means), samples.rows(), &centres, (most, total), shrinkage)?
        }
    };
    match sized(&masses, centres.clone(), total, found) {
        Some(found) => Ok(found),
        None => by_decomposition(data, samples.dense()?, &centres, shrinkage),
    }
}

/// What was found, with the size of the samples; none where it is inaccurate.
fn sized(masses: &[f64], plain: Mat<f64>, total: f64, found: WhiteningOutcome) -> Option<(Mat<f64>, f64)> {
    match found {
        WhiteningOutcome::Whitened { centres, rank } => {
            let squares = centres.row_iter().map(|row| row.squared_norm_l2());
            let between: f64 = squares.zip(masses).map(|(square, &mass)| mass * square).sum();
            Some((centres, (rank as f64 + between).sqrt()))
        }
        WhiteningOutcome::NoSpread => Some((plain, total.sqrt())),
        WhiteningOutcome::Inaccurate => None,
    }
}

/// What became of the centres.
enum WhiteningOutcome {
    /// They are whitened, for samples of this rank.
    Whitened { centres: Mat<f64>, rank: usize },
    /// No class varies within itself: there is nothing to whiten by.
    NoSpread,
    /// The shift is so small that the residuals stay large.
    Inaccurate,
}

/// With `M` as a p×p matrix.
fn by_variables(
    (data, x, means): (&Dataset<'_>, &Mat<f64>, &Mat<f64>),
    centres: &Mat<f64>,
    (most, total): (usize, f64),
    shrinkage: f64,
) -> Result<WhiteningOutcome> {
    let covariance = within_covariance(data, x, means);
    let found = by_scatter((&data.masses(), means), covariance, centres, total, shrinkage, |scatter| {
        rank(scatter, x, most).map(Some)
    })?;
    Ok(found.unwrap_or(WhiteningOutcome::Inaccurate)) // the rank is always told
}

/// With `M` from the within-class products; none where `rank`, which gets the products of all samples, does not tell it.
fn by_scatter(
    (masses, means): (&[f64], &Mat<f64>),
    mut covariance: Mat<f64>,
    centres: &Mat<f64>,
    total: f64,
    shrinkage: f64,
    rank: impl FnOnce(Mat<f64>) -> Result<Option<usize>>,
) -> Result<Option<WhiteningOutcome>> {
    let trace = trace(&covariance);
    if trace <= 1e-24 * total {
        return Ok(Some(WhiteningOutcome::NoSpread));
    }
    // The inner products of all columns: those within classes, and those of the class means.
    let size = |class: usize| masses[class].sqrt();
    let weighted = Mat::from_fn(means.nrows(), means.ncols(), |i, v| size(i) * means[(i, v)]);
    let scatter = &covariance + symmetric_product(weighted.as_ref(), weighted.as_ref());
    let Some(rank) = rank(scatter)? else { return Ok(None) };
    shifted(&mut covariance, shrinkage * trace / rank as f64);
    let factor = cholesky(covariance.as_ref()).ok_or_else(|| singular(shrinkage))?;
    let mut columns = centres.transpose().to_owned();
    solve_lower(factor.as_ref(), columns.as_mut());
    Ok(Some(WhiteningOutcome::Whitened { centres: columns.transpose().to_owned(), rank }))
}

/// Whitened centres from sums over the samples.
pub(crate) enum Whitened {
    /// One row per class, and the size of the samples that they are means of.
    Centres(Mat<f64>, f64),
    /// The rank of the samples cannot be told from the products of variables.
    RankUnclear,
}

/// The whitened target from the within-class products of all variables; `rank` where it is known.
pub(crate) fn whitened_from(
    masses: &[f64],
    scatter: MatRef<'_, f64>,
    centres: &Mat<f64>,
    (most, total): (usize, f64),
    shrinkage: f64,
    rank: Option<usize>,
) -> Result<Whitened> {
    let by_pivots = |scatter| Ok(rank.or_else(|| rank_by_pivots(scatter, most)));
    let found = by_scatter((masses, centres), scatter.to_owned(), centres, total, shrinkage, by_pivots)?;
    Ok(match found {
        Some(found) => {
            let (centres, size) =
                sized(masses, centres.clone(), total, found).ok_or_else(|| singular(shrinkage))?;
            Whitened::Centres(centres, size)
        }
        None => Whitened::RankUnclear,
    })
}

/// With `N` as an n×n matrix.
fn by_samples(
    (data, x, means): (&Dataset<'_>, &Mat<f64>, &Mat<f64>),
    rows: &Rows<'_>,
    centres: &Mat<f64>,
    (most, total): (usize, f64),
    shrinkage: f64,
) -> Result<WhiteningOutcome> {
    let mut gram = within_gram(data, (x, rows), means);
    let trace = trace(&gram);
    if trace <= 1e-24 * total {
        return Ok(WhiteningOutcome::NoSpread);
    }
    let rank = rank(whole_gram(data, x, means, &gram), x, most)?;
    let shift = shrinkage * trace / rank as f64;
    shifted(&mut gram, shift);
    let Some(factor) = cholesky(gram.as_ref()) else { return Ok(WhiteningOutcome::Inaccurate) };
    drop(gram);
    let svd = thin_svd(centres.as_ref())?;
    let solved = Dual { data, roots: roots(data), x, factor, shift }.solve(svd.v.transpose());
    let centres = solved.and_then(|solved| rotated(&svd, solved.transpose()));
    Ok(centres.map_or(WhiteningOutcome::Inaccurate, |centres| WhiteningOutcome::Whitened { centres, rank }))
}

/// In the PCA space of the samples, from their decomposition: slow, and for a tiny γ the last resort.
fn by_decomposition(
    data: &Dataset<'_>,
    x: &Mat<f64>,
    centres: &Mat<f64>,
    shrinkage: f64,
) -> Result<(Mat<f64>, f64)> {
    let svd = thin_svd(x.as_ref())?;
    let (n, r) = (data.samples(), svd.s.len());
    let scores = Mat::from_fn(n, r, |i, k| svd.u[(i, k)] * svd.s[k]);
    let mut covariance = within_covariance(data, &scores, &class_means(data, &scores));
    let (trace, total) = (trace(&covariance), svd.s.iter().map(|s| s * s).sum::<f64>());
    if trace <= 1e-24 * total {
        return Ok((centres.clone(), total.sqrt()));
    }
    shifted(&mut covariance, shrinkage * trace / r as f64);
    let factor = cholesky(covariance.as_ref()).ok_or_else(|| singular(shrinkage))?;
    let whitened = |rows: Mat<f64>| {
        let mut columns = rows.transpose().to_owned();
        solve_lower(factor.as_ref(), columns.as_mut());
        columns.transpose().to_owned()
    };
    let centres = whitened(product(centres.as_ref(), svd.v.as_ref()));
    Ok((centres, whitened(scores).norm_l2()))
}

fn singular(shrinkage: f64) -> Error {
    let detail = format!("the within-class covariance is singular; raise target.shrinkage above {shrinkage}");
    Error::Numerical { what: "whitening", detail }
}

/// The whitened centres `U S R` of centres `U S Vᵀ`, from `M⁻¹V`; none where `VᵀM⁻¹V` is not positive definite.
fn rotated(svd: &ThinSvd, solved: MatRef<'_, f64>) -> Option<Mat<f64>> {
    let h = product(svd.v.transpose(), solved);
    let h = Mat::from_fn(h.nrows(), h.ncols(), |a, b| 0.5 * (h[(a, b)] + h[(b, a)]));
    let factor = cholesky(h.as_ref())?;
    let scaled = Mat::from_fn(svd.u.nrows(), svd.s.len(), |i, k| svd.u[(i, k)] * svd.s[k]);
    Some(product(scaled.as_ref(), factor.as_ref()))
}

/// `X_wᵀ X_w`.
fn within_covariance(data: &Dataset<'_>, x: &Mat<f64>, centres: &Mat<f64>) -> Mat<f64> {
    let (mut within, roots) = (x.clone(), roots(data));
    for v in 0..x.ncols() {
        for (i, x) in column_mut(&mut within, v).iter_mut().enumerate() {
            *x -= centres[(data.class_of(i), v)];
            if let Some(roots) = &roots {
                *x *= roots[i];
            }
        }
    }
    symmetric_product(within.as_ref(), within.as_ref())
}

/// The roots of the weights of samples that have any.
fn roots(data: &Dataset<'_>) -> Option<Vec<f64>> {
    data.weights().map(|weights| weights.iter().map(|weight| weight.sqrt()).collect())
}

fn trace(a: &Mat<f64>) -> f64 {
    (0..a.ncols()).map(|k| a[(k, k)]).sum()
}

fn shifted(a: &mut Mat<f64>, shift: f64) {
    (0..a.ncols()).for_each(|k| a[(k, k)] += shift);
}

/// The rank of `x`, at most `most`, from the inner products of its columns or of its rows.
///
/// Scaled to length 1, a line that the others span to 3e-6 depends on them, and one that they miss by more than 3e-5 does not. That
/// settles it if all are independent, or if there are many. Where a line is between, where few depend on each other, or where
/// lengths differ by more than six orders of magnitude, the singular values of `x` are counted.
fn rank(gram: Mat<f64>, x: &Mat<f64>, most: usize) -> Result<usize> {
    match rank_by_pivots(gram, most) {
        Some(rank) => Ok(rank),
        None => Ok(singular_values(x.as_ref())?.len()),
    }
}

/// The rank, where the inner products alone settle it.
fn rank_by_pivots(mut gram: Mat<f64>, most: usize) -> Option<usize> {
    let lengths: Vec<f64> = (0..gram.ncols()).map(|k| gram[(k, k)].max(0.0).sqrt()).collect();
    let longest = lengths.iter().copied().fold(0.0, f64::max);
    if !lengths.iter().all(|&length| length == 0.0 || SPREAD * length > longest) {
        return None;
    }
    let units: Vec<f64> = lengths.iter().map(|&l| if l > 0.0 { l.recip() } else { 0.0 }).collect();
    for j in 0..gram.ncols() {
        column_mut(&mut gram, j).iter_mut().zip(&units).for_each(|(x, unit)| *x *= unit * units[j]);
    }
    let pivots = pivots(gram)?;
    let independent = pivots.iter().filter(|&&pivot| pivot > INDEPENDENT).count();
    let clear = pivots.iter().all(|pivot| !(DEPENDENT..=INDEPENDENT).contains(pivot));
    (independent == most || (clear && lengths.len() > FEW)).then_some(independent)
}

/// `M⁻¹` by the factor of `N`. Vectors are rows, so that products are cut into as many tiles as there are samples or variables.
struct Dual<'a> {
    data: &'a Dataset<'a>,
    /// The roots of the weights, if there are any.
    roots: Option<Vec<f64>>,
    x: &'a Mat<f64>,
    factor: Mat<f64>,
    shift: f64,
}

impl Dual<'_> {
    /// `V M⁻¹`; none where the residuals stay large.
    fn solve(&self, v: MatRef<'_, f64>) -> Option<Mat<f64>> {
        let mut solved = self.inverse(v);
        for _ in 0..CORRECTIONS {
            let left = v - self.apply(solved.as_ref());
            solved += self.inverse(left.as_ref());
            // False where a number is not one.
            if (0..v.nrows()).all(|k| left.row(k).norm_l2() <= ACCEPTED * v.row(k).norm_l2()) {
                return Some(solved);
            }
        }
        None
    }

    /// `V (I − X_wᵀ N⁻¹ X_w) / s`.
    fn inverse(&self, v: MatRef<'_, f64>) -> Mat<f64> {
        let mut columns = self.scores(v).transpose().to_owned();
        cholesky_solve(self.factor.as_ref(), columns.as_mut());
        let within = self.weighted(self.within(columns.transpose().to_owned()));
        let spanned = product(within.as_ref(), self.x.as_ref());
        Mat::from_fn(v.nrows(), v.ncols(), |i, k| (v[(i, k)] - spanned[(i, k)]) / self.shift)
    }

    /// `V (X_wᵀ X_w + s I)`.
    fn apply(&self, v: MatRef<'_, f64>) -> Mat<f64> {
        let image = product(self.weighted(self.scores(v)).as_ref(), self.x.as_ref());
        Mat::from_fn(v.nrows(), v.ncols(), |i, k| image[(i, k)] + self.shift * v[(i, k)])
    }

    /// `V X_wᵀ`.
    fn scores(&self, v: MatRef<'_, f64>) -> Mat<f64> {
        self.within(self.weighted(product(v, self.x.transpose())))
    }

    /// Multiplies every sample, which is a column, by the root of its weight.
    fn weighted(&self, mut scores: Mat<f64>) -> Mat<f64> {
        if let Some(roots) = &self.roots {
            for (i, root) in roots.iter().enumerate() {
                scores.col_mut(i).iter_mut().for_each(|x| *x *= root);
            }
        }
        scores
    }

    /// Takes the mean of its class off every sample, which is a column; with weights, the part along their roots.
    fn within(&self, mut scores: Mat<f64>) -> Mat<f64> {
        for class in 0..self.data.classes().len() {
            let (members, mass) = (self.data.members(class), self.data.mass(class));
            let root = |i: usize| self.roots.as_ref().map_or(1.0, |roots| roots[i]);
            for k in 0..scores.nrows() {
                let mean = members.iter().map(|&i| root(i) * scores[(k, i)]).sum::<f64>() / mass;
                members.iter().for_each(|&i| scores[(k, i)] -= root(i) * mean);
            }
        }
        scores
    }
}

#[cfg(test)]
mod tests;
