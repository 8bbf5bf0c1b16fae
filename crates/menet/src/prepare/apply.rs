//! From samples to prepared ones, by what was learned.

use faer::{Mat, MatRef};
use rayon::prelude::*;

use super::learn::logarithms;
use super::{Filling, Preparation, Scale, batch};
use crate::dataset::{DENSE_BYTES, Dataset, Real, Samples, View};
use crate::error::{Error, Result};
use crate::numerics::finite::{check_present, first_missing};
use crate::numerics::sparse::SparseMatrix;

/// How a variable is called in messages.
pub(super) trait VariableNaming {
    fn name_of(&self, j: usize) -> String;
}

impl VariableNaming for Dataset<'_> {
    fn name_of(&self, j: usize) -> String {
        Dataset::name_of(self, j)
    }
}

/// New samples may come without names: variables go by their place.
struct UnnamedVariables;

impl VariableNaming for UnnamedVariables {
    fn name_of(&self, j: usize) -> String {
        format!("variable {j} (counted from 0)")
    }
}

impl Preparation {
    /// The prepared samples, with classes and names as they are. They have no batches any more.
    ///
    /// # Errors
    /// When the variables are others, a value is infinite, or missing and not filled, or cannot be prepared, or the batch of a sample
    /// is not known.
    pub fn prepare<'a>(&self, data: &'a Dataset<'_>) -> Result<Dataset<'a>> {
        if self.keeps(data) { Ok(data.borrowed()) } else { self.changed(data) }
    }

    /// The prepared samples; those that need no preparation stay where they are.
    ///
    /// # Errors
    /// As [`Self::prepare`].
    pub fn prepare_owned<'a>(&self, data: Dataset<'a>) -> Result<Dataset<'a>> {
        if self.keeps(&data) { Ok(data) } else { self.changed(&data) }
    }

    fn changed(&self, data: &Dataset<'_>) -> Result<Dataset<'static>> {
        let names = data.batches().map(|batches| batches.names_of_samples());
        let prepared = data.replaced(self.apply(data.view(), names.as_deref())?)?;
        let Some(others) = data.unlabelled_view() else { return Ok(prepared) };
        if self.batches.is_some() {
            let allowed = "left out where some samples have no label";
            return Err(Error::parameter("batches", "given", allowed));
        }
        Ok(prepared.beside(self.apply(others, None)?))
    }

    /// New samples, prepared. `batches` are the names of their batches, which a model with batches needs.
    ///
    /// # Errors
    /// As [`Self::prepare`].
    pub fn apply(&self, x: View<'_>, batches: Option<&[String]>) -> Result<Samples<'static>> {
        Ok(self.apply_counting(x, batches, &[])?.0)
    }

    /// New samples, prepared, and how many values of some variables (rising) every sample lacks: those that are not there, and those that
    /// cannot be centred because their new batch has too few.
    ///
    /// # Errors
    /// As [`Self::prepare`].
    pub(crate) fn apply_counting(
        &self,
        x: View<'_>,
        batches: Option<&[String]>,
        variables: &[usize],
    ) -> Result<(Samples<'static>, Vec<usize>)> {
        let (prepared, missing) = match x {
            View::Double(x) => self.dense(x, batches, variables)?,
            View::Single(x) => self.dense(x, batches, variables)?,
            View::Sparse(x) if self.needs_dense() => {
                if x.dense_bytes() > DENSE_BYTES as f64 {
                    return Err(Error::sparse(x));
                }
                self.dense(x.to_dense().as_ref(), batches, variables)?
            }
            View::Sparse(x) => {
                let lacks = |i: usize| {
                    let missing = x.row(i).filter(|(_, value)| value.is_nan());
                    missing.filter(|(j, _)| variables.binary_search(j).is_ok()).count()
                };
                return Ok((Samples::kept_sparse(self.sparse(x)?), (0..x.rows()).map(lacks).collect()));
            }
        };
        Ok((prepared.into(), missing))
    }

    /// Whether prepared samples are dense whatever they were.
    fn needs_dense(&self) -> bool {
        self.batches.is_some() || matches!(self.filling, Some(Filling::Neighbors(_)))
    }

    /// Whether these samples are prepared as they are.
    fn keeps(&self, data: &Dataset<'_>) -> bool {
        self.variables() == data.variables()
            && self.params.scale == Scale::None
            && self.batches.is_none()
            && self.dropped.is_empty()
            && data.first_missing().is_none()
            && data.unlabelled_view().is_none()
    }

    /// Prepared training samples that still lack values.
    pub(super) fn unfilled(&self, data: &Dataset<'_>) -> Result<Mat<f64>> {
        let names = data.batches().map(|batches| batches.names_of_samples());
        match data.view() {
            View::Double(x) => self.steps(x, names.as_deref()),
            View::Single(x) => self.steps(x, names.as_deref()),
            View::Sparse(x) => Err(Error::sparse(x)),
        }
    }

    fn dense<T: Real>(
        &self,
        x: MatRef<'_, T>,
        batches: Option<&[String]>,
        variables: &[usize],
    ) -> Result<(Mat<f64>, Vec<usize>)> {
        let mut out = self.steps(x, batches)?;
        let mut missing = vec![0; out.nrows()];
        for &j in variables {
            missing
                .iter_mut()
                .zip(out.col(j).iter())
                .for_each(|(count, x)| *count += usize::from(x.is_nan()));
        }
        match &self.filling {
            Some(Filling::Values(values)) => {
                out.col_iter_mut().zip(values).for_each(|(column, &fill)| {
                    column.iter_mut().filter(|value| value.is_nan()).for_each(|value| *value = fill);
                });
            }
            Some(Filling::Neighbors(near)) => near.fill(&mut out),
            None => {}
        }
        Ok((out, missing))
    }

    /// All steps but the last.
    fn steps<T: Real>(&self, x: MatRef<'_, T>, batches: Option<&[String]>) -> Result<Mat<f64>> {
        self.check_variables(x.ncols())?;
        check_present("the data", x)?;
        if self.params.impute.is_none()
            && let Some((row, column)) = first_missing(x)
        {
            return Err(Error::NotFinite { what: "the data", row, column, value: f64::NAN });
        }
        let effects = self.batches.as_ref();
        let slots = effects.map(|effects| effects.slots(batches, x.nrows())).transpose()?;
        let one = |j: usize| {
            let mut values: Vec<f64> = x.col(j).iter().map(|&value| value.into()).collect();
            if self.dropped.binary_search(&j).is_ok() {
                values.fill(0.0);
                return Ok(values);
            }
            if self.params.scale.logs() {
                logarithms(&mut values, |i| (i, j), &UnnamedVariables)?;
            }
            if let (Some(effects), Some(slots)) = (effects, &slots) {
                let known = effects.names.len();
                // The samples of a new batch are at least so many, but some may lack this variable.
                let new = batch::measure(&values, &|_| 1.0, &slots.of, (known, slots.new, batch::LEAST));
                for (value, &slot) in values.iter_mut().zip(&slots.of) {
                    let (centre, deviation) = match slot.checked_sub(known) {
                        Some(at) => new[at],
                        None => {
                            let deviations = effects.deviations.as_ref();
                            (effects.centres[(slot, j)], deviations.map_or(1.0, |all| all[(slot, j)]))
                        }
                    };
                    *value = if effects.deviations.is_some() {
                        (*value - centre) / deviation
                    } else {
                        *value - centre
                    };
                }
            }
            if let Some(divisors) = &self.divisors {
                values.iter_mut().for_each(|value| *value /= divisors[j]);
            }
            Ok(values)
        };
        let columns: Vec<Result<Vec<f64>>> = (0..x.ncols()).into_par_iter().map(one).collect();
        let columns: Vec<Vec<f64>> = columns.into_iter().collect::<Result<_>>()?;
        Ok(crate::numerics::linalg::from_columns(x.nrows(), &columns))
    }

    fn sparse(&self, x: &SparseMatrix) -> Result<SparseMatrix> {
        self.check_variables(x.columns())?;
        x.check_present()?;
        let values = match &self.filling {
            Some(Filling::Values(values)) => Some(values),
            _ => {
                x.check_finite()?;
                None
            }
        };
        if self.params.scale.logs() {
            for i in 0..x.rows() {
                for (j, value) in x.row(i).filter(|(j, _)| self.dropped.binary_search(j).is_err()) {
                    logarithms(&mut [value], |_| (i, j), &UnnamedVariables)?;
                }
            }
        }
        Ok(x.map(|_, j, value| {
            if self.dropped.binary_search(&j).is_ok() {
                return 0.0;
            }
            match values {
                Some(values) if value.is_nan() => values[j],
                _ => {
                    let value = if self.params.scale.logs() { value.ln_1p() } else { value };
                    self.divisors.as_ref().map_or(value, |divisors| value / divisors[j])
                }
            }
        }))
    }

    fn check_variables(&self, given: usize) -> Result<()> {
        let expected = self.variables();
        if given == expected {
            return Ok(());
        }
        let why = format!("the preparation was learned from {expected} variables");
        Err(Error::Size { what: "a sample", given, expected, why })
    }
}
