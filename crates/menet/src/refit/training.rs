//! Where a refit takes the training samples from: the samples themselves, or sums over them.

use faer::{Mat, MatRef};

use super::Sums;
use super::within::Within;
use crate::dataset::Dataset;
use crate::error::Result;
use crate::numerics::linalg::product;

/// The training samples.
#[derive(Debug, Clone, Copy)]
pub enum Training<'a> {
    /// All of them.
    Samples(&'a Dataset<'a>),
    /// Sums over them, at least of the variables that are used ([`Men::wanted`](crate::Men::wanted)).
    Sums(&'a Sums),
}

impl<'a> Training<'a> {
    /// Some variables, rising, less their mean.
    pub(super) fn of(self, mean: &[f64], variables: &[usize]) -> Result<Variables<'a>> {
        Ok(match self {
            Training::Samples(data) => Variables::Columns { x: data.columns_at(mean, variables), data },
            Training::Sums(sums) => Variables::Sums(sums.of(variables)?),
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

    /// The standard deviations of some variables over all samples.
    pub(crate) fn deviations(self, mean: &[f64], variables: &[usize]) -> Result<Vec<f64>> {
        Ok(match self.of(mean, variables)? {
            Variables::Sums(sums) => sums.deviations(),
            Variables::Columns { x, data } => {
                let degrees = data.samples().saturating_sub(1).max(1) as f64;
                let deviation = |column: faer::ColRef<'_, f64>| {
                    let squares = column.iter().enumerate().map(|(i, x)| data.weight(i) * x * x);
                    (squares.sum::<f64>() / degrees).sqrt()
                };
                x.col_iter().map(deviation).collect()
            }
        })
    }
}

/// Some variables of the training samples.
pub(super) enum Variables<'a> {
    /// Their centred columns, n×m.
    Columns { x: Mat<f64>, data: &'a Dataset<'a> },
    /// The sums over them.
    Sums(Sums),
}

impl Variables<'_> {
    pub(super) fn within(&self) -> Within {
        match self {
            Variables::Columns { x, data } => {
                Within::new(x.as_ref(), data.class_indices(), data.classes().len(), data.weights())
            }
            Variables::Sums(sums) => Within::from_sums(sums),
        }
    }

    /// One over the root of the within-class variance of the scores on axes with these weights (m×d), averaged over the axes; 1 where
    /// there is none.
    pub(super) fn scale_of(&self, w: MatRef<'_, f64>) -> f64 {
        let (squares, samples, classes) = match self {
            Variables::Columns { x, data } => {
                let z = product(x.as_ref(), w);
                (squares_within(data, z.as_ref()), data.samples(), data.classes().len())
            }
            Variables::Sums(sums) => {
                let w = Mat::from_fn(w.nrows(), w.ncols(), |j, k| w[(j, k)] * sums.units[j]);
                let images = product(sums.squares.as_ref(), w.as_ref());
                let squares = (0..w.ncols()).map(|k| w.col(k).transpose() * images.col(k)).sum();
                (squares, sums.samples(), sums.counts.len())
            }
        };
        let degrees = samples.saturating_sub(classes).max(1);
        let variance = squares / (degrees * w.ncols().max(1)) as f64;
        if variance > 0.0 && variance.is_finite() { 1.0 / variance.sqrt() } else { 1.0 }
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
