//! One method on one split.

use std::time::Instant;

use menet::evaluate::{Mistake, classes_of, decisions, generator, mistakes, recalls, recognitions, subset};
use menet::rules::Metric;
use menet::{Dataset, Error as CoreError, Men, Projection};
use rand::RngExt;
use serde::{Deserialize, Serialize};
use toml::Table;

use crate::error::{Error, Result};
use crate::journal::{self, JournalLine};
use crate::params::{as_text, fields};
use crate::progress::Progress;
use crate::protocol::{FOLDS, NamedSet, Protocol, TuneOptions};
use crate::tune::tune;

/// Identifies a cell of the experiment.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CellKey {
    /// The data set.
    pub data: String,
    /// Training samples per class.
    pub train_per_class: usize,
    /// The repeat, from 0.
    pub repeat: usize,
    /// The method.
    pub method: String,
}

impl CellKey {
    /// Whether both are repeats of the same method on the same set at the same training size.
    pub fn is_repeat_of(&self, data: &str, train_per_class: usize, method: &str) -> bool {
        self.data == data && self.train_per_class == train_per_class && self.method == method
    }
}

impl std::fmt::Display for CellKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let CellKey { data, train_per_class, repeat, method } = self;
        write!(f, "{method} on {data}, {train_per_class} per class, repeat {repeat}")
    }
}

/// The results of a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Which cell.
    pub place: CellKey,
    /// The results by increasing dimension; empty if the method failed.
    pub outcomes: Vec<DimensionResult>,
    /// The number of test samples per class, in the order of the classes of the set; empty if the method failed.
    pub tested: Vec<usize>,
    /// Seconds of fit, projection and classification, on one core.
    pub seconds: f64,
    /// The choice of tuning.
    pub chosen: Option<TunedChoice>,
    /// Warnings for the user.
    pub remarks: Vec<String>,
    /// Which part of the fit did not converge.
    #[serde(default)]
    pub unsettled: Option<String>,
    /// Why the method has no rates.
    pub failed: Option<String>,
}

impl JournalLine for Cell {
    type Key = CellKey;
    const NAME: &'static str = journal::NAME;
    /// Format 1 had no such number, and its cells had rates only, without variables and mistakes. Format 2 had no log loss and
    /// AUC, and MEN decided by the nearest neighbour. Format 3 had no checksums.
    const FORMAT: u32 = 4;

    fn place(&self) -> CellKey {
        self.place.clone()
    }
}

/// The results at one dimension.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DimensionResult {
    /// The dimension.
    pub dimension: usize,
    /// Percent of the test samples recognised.
    pub rate: f64,
    /// How many distinct variables the axes up to this dimension use together.
    pub variables: usize,
    /// The test samples that were not recognised.
    pub mistakes: Vec<Mistake>,
    /// The mean of −log p of the true class, for methods whose rule gives probabilities.
    pub log_loss: Option<f64>,
    /// The area under the ROC curve, one class against the rest, mean over classes; for the same methods.
    pub auc: Option<f64>,
}

impl Cell {
    /// The percentage recognised per class at one of the outcomes; none for a class that was not tested.
    pub fn recalls(&self, outcome: &DimensionResult) -> Vec<Option<f64>> {
        recalls(&self.tested, &outcome.mistakes)
    }
}

/// The choice of tuning inside a training half.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TunedChoice {
    /// The dimension.
    pub dimension: usize,
    /// The metric.
    pub metric: Metric,
    /// All parameters of the method.
    #[serde(with = "as_text")]
    pub params: Table,
    /// The rate of the choice in cross-validation.
    pub validated: f64,
}

/// Fits the method of `place` on its split and tests it. If the protocol says so, it is tuned there first.
///
/// # Errors
/// When `monitor` asks to stop. If a method cannot learn from these samples, the cell says so.
pub fn evaluate(
    protocol: &Protocol,
    set: &NamedSet<'_>,
    place: &CellKey,
    monitor: &dyn Progress,
) -> Result<Cell> {
    let failed = |source: CoreError| match source {
        CoreError::Stopped { .. } => Err(Error::Method { context: place.to_string(), source }),
        // Parameters were checked before the run. A failure that the data cause is a result, and must not end the other
        // cells.
        other => Ok(Cell {
            place: place.clone(),
            outcomes: Vec::new(),
            tested: Vec::new(),
            seconds: 0.0,
            chosen: None,
            remarks: Vec::new(),
            unsettled: None,
            failed: Some(other.to_string()),
        }),
    };
    match attempt(protocol, set, place, monitor) {
        Err(Error::Core(source) | Error::Method { source, .. }) => failed(source),
        done => done,
    }
}

fn attempt(protocol: &Protocol, set: &NamedSet<'_>, place: &CellKey, monitor: &dyn Progress) -> Result<Cell> {
    let split = protocol.split(set, place.train_per_class, place.repeat)?;
    let (train, test) = (subset(&set.data, &split.train)?, subset(&set.data, &split.test)?);
    let mut dims = protocol.dims_for(&set.data, place.train_per_class);
    let mut method = protocol.params.method(&place.method)?;
    let mut metric = protocol.metric.metrics()[0];
    let mut chosen = None;
    let mut most = dims.iter().copied().max();
    if let Some(options) = &protocol.tune {
        let stream = [FOLDS, place.train_per_class as u64, place.repeat as u64];
        let seed = generator(protocol.seed, &stream).random();
        let options = TuneOptions { prepare: protocol.prepare, ..options.clone() };
        let tuned = tune(&method, &train, &dims, protocol.metric, &options, seed, monitor)?;
        chosen = Some(TunedChoice {
            dimension: tuned.dimension,
            metric: tuned.metric,
            params: fields(&tuned.method)?,
            validated: tuned.rate(),
        });
        if tuned.method.men().is_some() {
            // The choice determines the number of axes.
            most = None;
            dims.push(tuned.dimension);
            dims.sort_unstable();
            dims.dedup();
        }
        (method, metric) = (tuned.method, tuned.metric);
    }
    let start = Instant::now();
    let reduced = method.fit(&protocol.prepare, &train, most, monitor)?;
    let asked = classes_of(&set.data, &split.test);
    let used = distinct_variables(&reduced.projection);
    let outcomes = match reduced.men() {
        Some(men) => by_own_rule(men, &set.data, &test, &asked, &dims, &used)?,
        None => {
            let (gallery, samples) = (reduced.project(&train)?, reduced.project(&test)?);
            let known = classes_of(&set.data, &split.train);
            let found = recognitions(gallery.as_ref(), &known, samples.as_ref(), &asked, &dims, metric)?;
            let outcome = |found: menet::evaluate::Recognition| DimensionResult {
                dimension: found.dimension,
                rate: found.score.rate(),
                variables: used[found.dimension - 1],
                mistakes: found.mistakes,
                log_loss: None,
                auc: None,
            };
            found.into_iter().map(outcome).collect()
        }
    };
    let seconds = start.elapsed().as_secs_f64();
    if outcomes.is_empty() {
        return Err(out_of_reach(reduced.projection.components()).into());
    }
    let mut tested = vec![0; set.data.classes().len()];
    asked.iter().for_each(|&class| tested[class] += 1);
    let (remarks, unsettled) = (reduced.remarks, reduced.unsettled);
    Ok(Cell { place: place.clone(), outcomes, tested, seconds, chosen, remarks, unsettled, failed: None })
}

/// The decisions of a model's rule at every dimension. `all` names the classes, `asked` are those of the test samples.
fn by_own_rule(
    men: &Men,
    all: &Dataset<'_>,
    test: &Dataset<'_>,
    asked: &[usize],
    dims: &[usize],
    used: &[usize],
) -> Result<Vec<DimensionResult>> {
    let z = men.project(test)?;
    let class_of = places_of(men.classes(), all.classes());
    let found = decisions(men.rule()?, &class_of, all.classes().len(), z.as_ref(), asked, dims)?;
    let outcome = |(dimension, scores): (usize, menet::scores::Scores)| DimensionResult {
        dimension,
        rate: scores.rate,
        variables: used[dimension - 1],
        mistakes: mistakes(&scores.confusion),
        log_loss: scores.log_loss,
        auc: scores.auc,
    };
    Ok(found.into_iter().map(outcome).collect())
}

/// The positions of some names among all.
pub(crate) fn places_of(some: &[String], all: &[String]) -> Vec<usize> {
    some.iter().filter_map(|name| all.iter().position(|other| other == name)).collect()
}

/// How many variables the first axis uses, the first two together, and so on.
fn distinct_variables(projection: &Projection) -> Vec<usize> {
    let mut seen = vec![false; projection.variables()];
    let mut count = 0;
    let so_far = projection.axes().iter().map(|axis| {
        for &j in axis.indices() {
            count += usize::from(!std::mem::replace(&mut seen[j], true));
        }
        count
    });
    so_far.collect()
}

/// The error if none of the requested dimensions is possible.
pub(crate) fn out_of_reach(most: usize) -> CoreError {
    CoreError::Degenerate(format!("none of the requested dimensions is possible: there are at most {most}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use menet::sparse::SparseVector;

    #[test]
    fn a_variable_of_two_axes_counts_once() {
        let axes = [vec![(0, 1.0), (3, -1.0)], vec![(3, 2.0)], vec![(0, 1.0), (1, 1.0), (4, 0.5)]];
        let axes = axes.map(SparseVector::from_pairs).to_vec();
        let projection = Projection::new(vec![0.0; 5], axes).unwrap();
        assert_eq!(distinct_variables(&projection), [2, 2, 4]);
    }
}
