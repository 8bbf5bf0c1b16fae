//! Where a refit takes the training samples from: the samples themselves, or sums over them.

use faer::{Mat, MatRef};

use super::TrainingSums;
use super::within::WithinCovariance;
use crate::dataset::Dataset;
use crate::error::Result;
use crate::numerics::linalg::product;
use crate::preprocess::class_means;

/// Scores whose deviation within classes is this small a part of their size do not vary there.
const CONSTANT: f64 = 1e-12;

/// The training samples.
#[derive(Debug, Clone, Copy)]
pub enum Training<'a> {
    /// All of them.
    Samples(&'a Dataset<'a>),
    /// Sums over them, at least of the variables that are used ([`Men::wanted`](crate::Men::wanted)).
    Sums(&'a TrainingSums),
}

impl<'a> Training<'a> {
    /// Some variables, rising, less their mean.
    pub(super) fn of(self, mean: &[f64], variables: &[usize]) -> Result<TrainingVariables<'a>> {
        Ok(match self {
            Training::Samples(data) => {
                TrainingVariables::Columns { x: data.columns_at(mean, variables), data }
            }
            Training::Sums(sums) => TrainingVariables::Sums(Box::new(sums.of(variables)?)),
        })
    }

    /// The share of the samples that every class has.
    pub(super) fn shares(self) -> Vec<f64> {
        match self {
            Training::Samples(data) => {
                let masses = data.masses();
                let total: f64 = masses.iter().sum();
                masses.iter().map(|mass| mass / total).collect()
            }
            Training::Sums(sums) => {
                sums.counts.iter().map(|&count| count as f64 / sums.samples() as f64).collect()
            }
        }
    }

    /// How some variables spread over all samples and between classes.
    pub(crate) fn spreads(self, mean: &[f64], variables: &[usize]) -> Result<Vec<VariableSpread>> {
        let (deviations, ranges, centres) = match self.of(mean, variables)? {
            TrainingVariables::Sums(sums) => (sums.deviations(), sums.ranges.clone(), sums.centres()),
            TrainingVariables::Columns { x, data } => {
                let degrees = data.samples().saturating_sub(1).max(1) as f64;
                let deviation = |column: faer::ColRef<'_, f64>| {
                    let squares = column.iter().enumerate().map(|(i, x)| data.weight(i) * x * x);
                    (squares.sum::<f64>() / degrees).sqrt()
                };
                let range = |(column, &j): (faer::ColRef<'_, f64>, &usize)| {
                    column.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &x| {
                        (low.min(x + mean[j]), high.max(x + mean[j]))
                    })
                };
                let ranges = x.col_iter().zip(variables).map(range).collect();
                (x.col_iter().map(deviation).collect::<Vec<f64>>(), ranges, class_means(data, &x))
            }
        };
        let spread = |(j, deviation): (usize, f64)| {
            let unit = if deviation > 0.0 { deviation } else { 1.0 };
            let class_means = centres.col(j).iter().map(|mean| mean / unit).collect();
            VariableSpread { deviation, range: ranges[j], class_means }
        };
        Ok(deviations.into_iter().enumerate().map(spread).collect())
    }
}

/// How a variable spreads.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct VariableSpread {
    /// Its standard deviation over all samples.
    pub(crate) deviation: f64,
    /// Its smallest and its largest value.
    pub(crate) range: (f64, f64),
    /// Its mean in every class, less that of all samples, over its standard deviation.
    pub(crate) class_means: Vec<f64>,
}

/// Some variables of the training samples.
pub(super) enum TrainingVariables<'a> {
    /// Their centred columns, n×m.
    Columns { x: Mat<f64>, data: &'a Dataset<'a> },
    /// The sums over them.
    Sums(Box<TrainingSums>),
}

impl TrainingVariables<'_> {
    pub(super) fn within(&self) -> WithinCovariance {
        match self {
            TrainingVariables::Columns { x, data } => {
                WithinCovariance::new(x.as_ref(), data.class_indices(), data.classes().len(), data.weights())
            }
            TrainingVariables::Sums(sums) => WithinCovariance::from_sums(sums),
        }
    }

    /// One over the root of the within-class variance of the scores on axes with these weights (m×d), averaged over the axes; 1 where
    /// there is none but rounding.
    pub(super) fn scale_of(&self, w: MatRef<'_, f64>) -> f64 {
        let (squares, total, samples, classes) = match self {
            TrainingVariables::Columns { x, data } => {
                let z = product(x.as_ref(), w);
                let squared = |(i, z): (usize, f64)| data.weight(i) * z * z;
                let total: f64 = z.col_iter().flat_map(|z| z.iter().copied().enumerate().map(squared)).sum();
                (squares_within(data, z.as_ref()), total, data.samples(), data.classes().len())
            }
            TrainingVariables::Sums(sums) => {
                let w = Mat::from_fn(w.nrows(), w.ncols(), |j, k| w[(j, k)] * sums.units[j]);
                let images = product(sums.squares.as_ref(), w.as_ref());
                let squares: f64 = (0..w.ncols()).map(|k| w.col(k).transpose() * images.col(k)).sum();
                let centres = product(sums.centres.as_ref(), w.as_ref());
                let masses = centres.row_iter().zip(&sums.counts);
                let between: f64 = masses.map(|(row, &count)| count as f64 * row.squared_norm_l2()).sum();
                (squares, squares + between, sums.samples(), sums.counts.len())
            }
        };
        let degrees = samples.saturating_sub(classes).max(1);
        let variance = squares / (degrees * w.ncols().max(1)) as f64;
        let real = squares > CONSTANT * CONSTANT * total && variance.is_finite();
        if real { 1.0 / variance.sqrt() } else { 1.0 }
    }
}

/// The sum of the squares of scores less their class mean.
fn squares_within(data: &Dataset<'_>, z: MatRef<'_, f64>) -> f64 {
    let of_class = |column: faer::ColRef<'_, f64>, class: usize| {
        let members = data.members(class);
        let mean = members.iter().map(|&i| data.weight(i) * column[i]).sum::<f64>() / data.mass(class);
        members.iter().map(|&i| data.weight(i) * (column[i] - mean) * (column[i] - mean)).sum::<f64>()
    };
    let classes = data.classes().len();
    z.col_iter().map(|z| (0..classes).map(|class| of_class(z, class)).sum::<f64>()).sum()
}
