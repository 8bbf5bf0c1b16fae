//! The mean, the length and the class centres of every variable.

use faer::{Mat, MatRef};
use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::numerics::finite::{Real, usable};
use crate::numerics::linalg::product;
use crate::preprocess::{all_constant, is_constant, is_too_small};
use crate::targets::{AxisCount, TargetKind, Whitened, placed, whitened_from};

/// Rows that a thread takes at a time. Sums are in this order whatever the number of threads.
const ROWS: usize = 1024;

/// What a first look at the rows of a piece gives.
#[derive(Debug, Clone, PartialEq)]
pub struct Outline {
    /// The smallest value of every variable; infinity of no rows.
    pub low: Vec<f64>,
    /// The largest; −infinity of no rows.
    pub high: Vec<f64>,
    /// The sum.
    pub sum: Vec<f64>,
    /// The sum of squares.
    pub squares: Vec<f64>,
    /// The first row and column whose value is not finite or too large, and the value.
    pub bad: Option<(usize, usize, f64)>,
}

/// Looks at the rows of a piece for the first time.
pub fn outline<T: Real>(x: MatRef<'_, T>) -> Outline {
    let p = x.ncols();
    let parts: Vec<Outline> = strips(x)
        .map(|(start, rows)| {
            let mut found = empty(p);
            for (i, row) in rows.row_iter().enumerate() {
                for (j, &value) in row.iter().enumerate() {
                    let value: f64 = value.into();
                    if !usable(value) && found.bad.is_none() {
                        found.bad = Some((start + i, j, value));
                    }
                    found.low[j] = found.low[j].min(value);
                    found.high[j] = found.high[j].max(value);
                    found.sum[j] += value;
                    found.squares[j] += value * value;
                }
            }
            found
        })
        .collect();
    parts.into_iter().fold(empty(p), |mut all, part| {
        for j in 0..p {
            all.low[j] = all.low[j].min(part.low[j]);
            all.high[j] = all.high[j].max(part.high[j]);
            all.sum[j] += part.sum[j];
            all.squares[j] += part.squares[j];
        }
        all.bad = all.bad.or(part.bad);
        all
    })
}

fn empty(p: usize) -> Outline {
    let (low, high) = (vec![f64::INFINITY; p], vec![f64::NEG_INFINITY; p]);
    Outline { low, high, sum: vec![0.0; p], squares: vec![0.0; p], bad: None }
}

/// What a second look gives, about a point that the first look chose.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassSums {
    /// The sum of the rows of every class, less the point each, c×p.
    pub sums: Mat<f64>,
    /// The sum of squares of all rows less the point.
    pub squares: Vec<f64>,
}

/// Looks at the rows of a piece a second time. `about` is near the mean, so that nothing cancels.
///
/// # Errors
/// When there is not one class per row, or one is out of range.
pub fn class_sums<T: Real>(
    x: MatRef<'_, T>,
    classes: &[usize],
    count: usize,
    about: &[f64],
) -> Result<ClassSums> {
    check_classes(x, classes, count)?;
    let p = x.ncols();
    // By rows, so that a sample is added to one line.
    let parts: Vec<(Vec<f64>, Vec<f64>)> = strips(x)
        .map(|(start, rows)| {
            let (mut sums, mut squares) = (vec![0.0; count * p], vec![0.0; p]);
            for (i, row) in rows.row_iter().enumerate() {
                let class = classes[start + i];
                let sums = &mut sums[class * p..(class + 1) * p];
                for (j, &value) in row.iter().enumerate() {
                    let value = value.into() - about[j];
                    sums[j] += value;
                    squares[j] += value * value;
                }
            }
            (sums, squares)
        })
        .collect();
    let (mut sums, mut squares) = (vec![0.0; count * p], vec![0.0; p]);
    for (part, of_squares) in parts {
        sums.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
        squares.iter_mut().zip(of_squares).for_each(|(sum, part)| *sum += part);
    }
    Ok(ClassSums { sums: Mat::from_fn(count, p, |class, j| sums[class * p + j]), squares })
}

/// Refuses classes that do not belong to the rows.
pub(super) fn check_classes<T>(x: MatRef<'_, T>, classes: &[usize], count: usize) -> Result<()> {
    let rows = x.nrows();
    if classes.len() != rows {
        let why = format!("there are {rows} rows");
        return Err(Error::Size { what: "`classes`", given: classes.len(), expected: rows, why });
    }
    match classes.iter().max() {
        Some(&class) if class >= count => {
            Err(Error::parameter("classes", class, format!("below {count}, the number of classes")))
        }
        _ => Ok(()),
    }
}

/// The rows in strips, with the number of the first.
fn strips<'a, T: Real>(
    x: MatRef<'a, T>,
) -> impl IndexedParallelIterator<Item = (usize, MatRef<'a, T>)> + use<'a, T> {
    let starts: Vec<usize> = (0..x.nrows()).step_by(ROWS).collect();
    starts.into_par_iter().map(move |start| (start, x.subrows(start, ROWS.min(x.nrows() - start))))
}

/// Means, norms and class centres of all samples.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Moments {
    /// The number of samples of every class.
    pub counts: Vec<usize>,
    /// The mean of every variable.
    pub mean: Vec<f64>,
    /// The norm of every centred variable, 0 for a constant one.
    pub norms: Vec<f64>,
    /// The class means of the centred variables, c×p; 0 for a constant variable.
    pub centres: Mat<f64>,
    /// The smallest and the largest value of every variable; empty where that is not known.
    pub ranges: Vec<(f64, f64)>,
    /// The variables that are constant but for rounding: they take no part in distances either.
    pub rounding: Vec<usize>,
    /// The variables that vary, but so little that they count as constant, rising: their squares are too small for double precision.
    pub too_small: Vec<usize>,
}

/// The target of every class, or what is missing for it.
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    /// One row per class, one column per axis.
    Placed(Mat<f64>),
    /// The rank of the samples cannot be told from the sums of products: it must be given ([`super::rank`]).
    RankUnclear,
}

impl Moments {
    /// From the first look at all rows, the second one about `about`, and the number of samples of every class.
    ///
    /// # Errors
    /// When sizes do not fit together, or all variables are constant.
    pub fn new(counts: Vec<usize>, first: &Outline, second: &ClassSums, about: &[f64]) -> Result<Self> {
        let (n, p, c) = (counts.iter().sum::<usize>(), about.len(), counts.len());
        if second.sums.shape() != (c, p) || first.sum.len() != p || second.squares.len() != p {
            let (why, given) = (format!("there are {p} variables and {c} classes"), first.sum.len());
            return Err(Error::Size { what: "the sums", given, expected: p, why });
        }
        let size = n.max(1) as f64;
        let (mut mean, mut norms) = (about.to_vec(), vec![0.0; p]);
        let (mut rounding, mut too_small) = (Vec::new(), Vec::new());
        let mut centres = Mat::zeros(c, p);
        for j in 0..p {
            let (low, high) = (first.low[j], first.high[j]);
            let left = second.sums.col(j).iter().sum::<f64>() / size;
            mean[j] = (about[j] + left).clamp(low.min(high), high.max(low));
            let left = mean[j] - about[j];
            let norm = (second.squares[j] - size * left * left).max(0.0).sqrt();
            if is_constant(low, high, norm, first.squares[j].sqrt()) {
                if low < high {
                    rounding.push(j);
                }
                if is_too_small(low, high, norm) {
                    too_small.push(j);
                }
                continue;
            }
            norms[j] = norm;
            for class in 0..c {
                centres[(class, j)] = second.sums[(class, j)] / counts[class].max(1) as f64 - left;
            }
        }
        if norms.iter().all(|&norm| norm == 0.0) {
            return Err(all_constant(p, n, &too_small));
        }
        let ranges = first.low.iter().copied().zip(first.high.iter().copied()).collect();
        Ok(Moments { counts, mean, norms, centres, ranges, rounding, too_small })
    }

    /// From means, norms and class centres that are known already.
    ///
    /// # Errors
    /// When sizes do not fit together.
    pub fn known(counts: Vec<usize>, mean: Vec<f64>, norms: Vec<f64>, centres: Mat<f64>) -> Result<Self> {
        let (p, c) = (mean.len(), counts.len());
        if norms.len() != p || centres.shape() != (c, p) {
            let (why, given) = (format!("there are {p} variables and {c} classes"), norms.len());
            return Err(Error::Size { what: "`norms`, or a row of `centres`,", given, expected: p, why });
        }
        let (ranges, rounding, too_small) = Default::default();
        Ok(Moments { counts, mean, norms, centres, ranges, rounding, too_small })
    }

    /// Number of samples.
    pub fn samples(&self) -> usize {
        self.counts.iter().sum()
    }

    /// The target of every class. `scatter` holds the within-class products of all variables (p×p), which whitening needs (more than two
    /// classes); `rank` is that of the samples, where it is known.
    ///
    /// # Errors
    /// As [`target`](crate::targets::target()).
    pub fn target(
        &self,
        kind: TargetKind,
        shrinkage: f64,
        axes: AxisCount,
        scatter: Option<MatRef<'_, f64>>,
        rank: Option<usize>,
    ) -> Result<Target> {
        let total: f64 = self.norms.iter().map(|norm| norm * norm).sum();
        let whitened = kind == TargetKind::Whitened && self.counts.len() > 2;
        let (centres, size) = match scatter.filter(|_| whitened) {
            None if whitened => {
                let allowed = "given: a whitened target of more than two classes needs it";
                return Err(Error::parameter("scatter", "left out", allowed));
            }
            None => (self.centres.clone(), total.sqrt()),
            Some(scatter) => {
                let varying = self.norms.iter().filter(|&&norm| norm > 0.0).count();
                let most = varying.min(self.samples().saturating_sub(1));
                match whitened_from(&self.masses(), scatter, &self.centres, (most, total), shrinkage, rank)? {
                    Whitened::Centres(centres, size) => (centres, size),
                    Whitened::RankUnclear => return Ok(Target::RankUnclear),
                }
            }
        };
        Ok(Target::Placed(placed(&self.masses(), &centres, size, axes)?))
    }

    /// The samples of every class, as numbers.
    fn masses(&self) -> Vec<f64> {
        self.counts.iter().map(|&count| count as f64).collect()
    }

    /// `b = XᵀY` for the target of every class (c×d), the columns of X divided by their norm if `standardize`.
    pub fn correlations(&self, target: MatRef<'_, f64>, standardize: bool) -> Mat<f64> {
        let sums = Mat::from_fn(self.counts.len(), self.mean.len(), |class, j| {
            let norm = if standardize && self.norms[j] > 0.0 { self.norms[j] } else { 1.0 };
            self.counts[class] as f64 * self.centres[(class, j)] / norm
        });
        product(sums.transpose(), target)
    }
}
