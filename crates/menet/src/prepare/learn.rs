//! From training samples to their preparation, variable by variable.

use faer::{Mat, MatRef};
use rayon::prelude::*;

use super::batch::{self, BatchEffects};
use super::observed::ObservedValues;
use super::{Filling, Impute, Neighbors, Preparation, PrepareParams};
use crate::dataset::{Dataset, Real, View};
use crate::error::{Error, Result};
use crate::named::Named;
use crate::numerics::sparse::SparseMatrix;

/// What is learned of one variable.
struct LearnedVariable {
    /// The fraction of the samples that lack it.
    missing: f64,
    /// Mean and deviation in every batch.
    batches: Vec<(f64, f64)>,
    divisor: f64,
    /// Its mean or median, in prepared units; NaN if nothing is filled or it has no value.
    fill: f64,
}

impl LearnedVariable {
    /// One that is left out; nothing of it is used.
    fn dropped(missing: f64, batches: usize) -> Self {
        LearnedVariable { missing, batches: vec![(0.0, 1.0); batches], divisor: 1.0, fill: f64::NAN }
    }
}

impl Preparation {
    /// Learns from training samples.
    ///
    /// # Errors
    /// As [`Self::of`].
    pub fn learn(data: &Dataset<'_>, params: &PrepareParams) -> Result<Self> {
        params.check()?;
        if let (Some((row, column)), None) = (data.first_missing(), params.impute) {
            return Err(Error::NotFinite { what: "the data", row, column, value: f64::NAN });
        }
        if let Some(batches) = data.batches() {
            batch::check(batches, data)?;
        }
        let learned = match data.view() {
            View::Double(x) => of_dense(x, data, params)?,
            View::Single(x) => of_dense(x, data, params)?,
            View::Sparse(x) => of_sparse(x, data, params)?,
        };
        let missing: Vec<f64> = learned.iter().map(|variable| variable.missing).collect();
        let dropped = dropped(data, params, &missing)?;
        let mut preparation = Preparation {
            params: *params,
            missing,
            dropped,
            batches: effects(data, params, &learned),
            divisors: params
                .scale
                .divides()
                .then(|| learned.iter().map(|variable| variable.divisor).collect()),
            filling: None,
        };
        let fills: Vec<f64> =
            learned.iter().map(|variable| if variable.fill.is_nan() { 0.0 } else { variable.fill }).collect();
        preparation.filling = match params.impute {
            None => None,
            Some(Impute::Mean | Impute::Median) => Some(Filling::Values(fills)),
            Some(Impute::Knn) => {
                let incomplete = preparation.unfilled(data)?;
                let kept: Vec<usize> =
                    (0..data.variables()).filter(|j| preparation.dropped.binary_search(j).is_err()).collect();
                let means = kept.iter().map(|&j| fills[j]).collect();
                let weight = |i: usize| data.weight(i);
                Some(Filling::Neighbors(Neighbors::new(&incomplete, &weight, kept, means)))
            }
        };
        Ok(preparation)
    }
}

/// Whether so large a fraction is missing too often. Sums of weights may be off by rounding.
fn too_many(missing: f64, params: &PrepareParams) -> bool {
    missing > params.max_missing + 1e-12
}

/// The variables that are missing too often.
fn dropped(data: &Dataset<'_>, params: &PrepareParams, missing: &[f64]) -> Result<Vec<usize>> {
    let dropped: Vec<usize> = (0..missing.len()).filter(|&j| too_many(missing[j], params)).collect();
    if dropped.len() == missing.len() {
        let least = missing.iter().copied().fold(1.0, f64::min);
        let given = format!("{} with {} variables", params.max_missing, missing.len());
        let allowed = format!(
            "at least {least:.3}: no variable is left otherwise, since all are missing in so many of the samples"
        );
        return Err(Error::parameter("prepare.max_missing", given, allowed));
    }
    match missing.iter().position(|&fraction| fraction > 1.0 - 1e-12) {
        Some(j) if params.max_missing >= 1.0 => {
            let given = format!("{} with {}, which every sample lacks", params.max_missing, data.name_of(j));
            Err(Error::parameter(
                "prepare.max_missing",
                given,
                "below 1, so that such variables are left out",
            ))
        }
        _ => Ok(dropped),
    }
}

fn effects(data: &Dataset<'_>, params: &PrepareParams, learned: &[LearnedVariable]) -> Option<BatchEffects> {
    let batches = data.batches()?;
    let count = batches.names().len();
    let matrix = |of: &dyn Fn(&(f64, f64)) -> f64| {
        Mat::from_fn(count, learned.len(), |k, j| of(&learned[j].batches[k]))
    };
    let mut class = vec![None; count];
    let mut mixed = vec![false; count];
    for (i, &k) in batches.of().iter().enumerate().filter(|(i, _)| data.weight(*i) > 0.0) {
        mixed[k] |= *class[k].get_or_insert(data.class_of(i)) != data.class_of(i);
    }
    Some(BatchEffects {
        names: batches.names().to_vec(),
        centres: matrix(&|pair| pair.0),
        deviations: params.batch_scale.then(|| matrix(&|pair| pair.1)),
        of_one_class: (0..count).filter(|&k| class[k].is_some() && !mixed[k]).collect(),
    })
}

fn of_dense<T: Real>(
    x: MatRef<'_, T>,
    data: &Dataset<'_>,
    params: &PrepareParams,
) -> Result<Vec<LearnedVariable>> {
    let batches = data.batches();
    let weight = |i: usize| data.weight(i);
    let learn = |j: usize| {
        let mut values: Vec<f64> = x.col(j).iter().map(|&value| value.into()).collect();
        let total: f64 = (0..values.len()).map(weight).sum();
        let lacking: f64 = (0..values.len()).filter(|&i| values[i].is_nan()).map(weight).sum();
        let missing = lacking / total;
        if too_many(missing, params) {
            return Ok(LearnedVariable::dropped(missing, batches.map_or(0, |batches| batches.names().len())));
        }
        if params.scale.logs() {
            logarithms(&mut values, |i| (i, j), data)?;
        }
        let mut of_batches = Vec::new();
        if let Some(batches) = batches {
            of_batches = batch::measure(&values, &weight, batches.of(), (0, batches.names().len(), 0));
            for (value, &k) in values.iter_mut().zip(batches.of()) {
                let (centre, deviation) = of_batches[k];
                *value = if params.batch_scale { (*value - centre) / deviation } else { *value - centre };
            }
        }
        let observed =
            || values.iter().enumerate().map(|(i, &value)| (value, weight(i))).collect::<ObservedValues>();
        let (divisor, fill) = summary(&observed, params);
        Ok(LearnedVariable { missing, batches: of_batches, divisor, fill })
    };
    in_order((0..x.ncols()).into_par_iter().map(learn).collect())
}

/// Zeros that are not stored are values like others.
fn of_sparse(x: &SparseMatrix, data: &Dataset<'_>, params: &PrepareParams) -> Result<Vec<LearnedVariable>> {
    let refused = match (params.impute, data.batches()) {
        (Some(Impute::Knn), _) => Some((
            "prepare.impute",
            format!("{:?} with sparse samples", Impute::Knn.name()),
            "\"mean\" or \"median\"",
        )),
        (_, Some(_)) => Some(("batch", "given with sparse samples".to_owned(), "left out")),
        _ => None,
    };
    if let Some((name, given, allowed)) = refused {
        let allowed = format!("{allowed} for data that stay sparse: the samples would become dense");
        return Err(Error::parameter(name, given, allowed));
    }
    let weight = |i: usize| data.weight(i);
    let total: f64 = (0..x.rows()).map(weight).sum();
    let columns = x.transpose();
    let learn = |j: usize| {
        let (rows, mut values): (Vec<usize>, Vec<f64>) = columns.row(j).unzip();
        let lacking: f64 =
            rows.iter().zip(&values).filter(|(_, value)| value.is_nan()).map(|(&i, _)| weight(i)).sum();
        let missing = lacking / total;
        if too_many(missing, params) {
            return Ok(LearnedVariable::dropped(missing, 0));
        }
        if params.scale.logs() {
            logarithms(&mut values, |at| (rows[at], j), data)?;
        }
        let stored: f64 = rows.iter().map(|&i| weight(i)).sum();
        let zeros = [(0.0, total - stored)];
        let observed = || {
            let pairs = rows.iter().zip(&values).map(|(&i, &value)| (value, weight(i)));
            pairs.chain(zeros).collect::<ObservedValues>()
        };
        let (divisor, fill) = summary(&observed, params);
        Ok(LearnedVariable { missing, batches: Vec::new(), divisor, fill })
    };
    in_order((0..x.columns()).into_par_iter().map(learn).collect())
}

/// The divisor and the value for missing ones, which is in units of the divisor.
fn summary(observed: &dyn Fn() -> ObservedValues, params: &PrepareParams) -> (f64, f64) {
    let divisor = if params.scale.divides() { params.scale.divisor(observed().deviation()) } else { 1.0 };
    let fill = match params.impute {
        None => f64::NAN,
        Some(Impute::Median) => observed().median(),
        Some(Impute::Mean | Impute::Knn) => observed().mean(),
    };
    (divisor, fill / divisor)
}

/// log(1 + x) of one variable; `place` gives row and column of a value.
pub(super) fn logarithms(
    values: &mut [f64],
    place: impl Fn(usize) -> (usize, usize),
    data: &dyn super::apply::VariableNaming,
) -> Result<()> {
    for (at, value) in values.iter_mut().enumerate() {
        if *value <= -1.0 {
            let (row, column) = place(at);
            let given = format!(
                "a logarithm of 1 + x with x = {value:?} in row {row} (counted from 0), {}",
                data.name_of(column)
            );
            return Err(Error::parameter(
                "prepare.scale",
                given,
                "\"none\", \"unit\" or \"pareto\" where values are -1 or less: logarithms are for counts",
            ));
        }
        *value = value.ln_1p();
    }
    Ok(())
}

/// The first error in the order of the variables, whichever thread met one first.
fn in_order(learned: Vec<Result<LearnedVariable>>) -> Result<Vec<LearnedVariable>> {
    learned.into_iter().collect()
}
