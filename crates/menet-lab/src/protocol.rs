//! The definition of an experiment.

use menet::evaluate::{Split, generator, random_split, subset};
use menet::prepare::PrepareParams;
use menet::rules::Metric;
use menet::select::Search;
use menet::{Dataset, Method};
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::params::MethodParams;

/// A named data set.
#[derive(Debug, Clone)]
pub struct NamedSet<'a> {
    /// The name in tables and files.
    pub name: String,
    /// The data.
    pub data: Dataset<'a>,
    /// The row of the file of every sample; none = in the order of the file.
    pub rows: Option<Vec<usize>>,
    /// Names of the samples, by row of the file, if they have any.
    pub ids: Option<&'a [String]>,
}

impl NamedSet<'_> {
    /// The row of sample `i` in the file, from 0.
    pub fn row(&self, i: usize) -> usize {
        self.rows.as_ref().map_or(i, |rows| rows[i])
    }
}

/// The metric of the nearest-neighbour rule, or how it is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MetricChoice {
    /// The Euclidean distance, as in the paper.
    Euclidean,
    /// One minus the cosine.
    Cosine,
    /// The better one in cross-validation.
    Auto,
}

impl MetricChoice {
    /// The metrics to try.
    pub fn metrics(self) -> &'static [Metric] {
        match self {
            MetricChoice::Euclidean => &[Metric::Euclidean],
            MetricChoice::Cosine => &[Metric::Cosine],
            MetricChoice::Auto => &[Metric::Euclidean, Metric::Cosine],
        }
    }

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            MetricChoice::Euclidean => "euclidean",
            MetricChoice::Cosine => "cosine",
            MetricChoice::Auto => "auto",
        }
    }
}

/// How parameters are searched.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TuneOptions {
    /// Largest number of fits of methods other than MEN, ≥ 1.
    pub budget: usize,
    /// Folds of the cross-validation, ≥ 2.
    pub folds: usize,
    /// How samples are prepared for methods other than MEN and its variants, which have parameters of their own for it.
    #[serde(skip_serializing_if = "is_default")]
    pub prepare: PrepareParams,
    /// What is tried for MEN, the score it is tuned for, and which of the good settings is taken. Other methods are tuned for the rate, and
    /// take the sparsest setting within one standard error of the best where MEN takes the smallest.
    pub search: Search,
}

impl Default for TuneOptions {
    fn default() -> Self {
        TuneOptions { budget: 100, folds: 5, prepare: PrepareParams::default(), search: Search::default() }
    }
}

/// An experiment: everything that its numbers depend on, except the data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Protocol {
    /// Names of the methods, in the order of the table.
    pub methods: Vec<String>,
    /// Numbers of training samples per class.
    pub train_per_class: Vec<usize>,
    /// Number of random splits per training size.
    pub repeats: usize,
    /// Dimensions to test; empty = those of [`default_dimensions`].
    pub dims: Vec<usize>,
    /// Seed of all random choices.
    pub seed: u64,
    /// The metric.
    pub metric: MetricChoice,
    /// Draw this many classes; none = all.
    pub subset_classes: Option<usize>,
    /// Leave out classes with fewer samples.
    pub min_per_class: Option<usize>,
    /// Search parameters inside each training half; none = use them as given.
    pub tune: Option<TuneOptions>,
    /// How samples are prepared for methods other than MEN and its variants, which have parameters of their own for it.
    // Left out of journals where nothing is prepared, so that runs of earlier versions can continue.
    #[serde(default, skip_serializing_if = "is_default")]
    pub prepare: PrepareParams,
    /// Parameters of the methods.
    pub params: MethodParams,
}

fn is_default(prepare: &PrepareParams) -> bool {
    *prepare == PrepareParams::default()
}

/// The largest dimension that is tested by default.
const MOST_DIMENSIONS: usize = 50;

/// The dimensions to test after learning from `samples` samples: 1 to `samples − 1`, at most 50. Methods with fewer
/// axes use those they have. A limit of c−1, that of MEN and FLDA, would be unfair to methods that need more axes.
pub fn default_dimensions(samples: usize) -> Vec<usize> {
    (1..=samples.saturating_sub(1).clamp(1, MOST_DIMENSIONS)).collect()
}

/// The largest number of repeats.
const MOST_REPEATS: usize = 100_000;

/// Streams of the random generator, one per purpose.
const CLASSES: u64 = 1;
const SPLIT: u64 = 2;
pub(crate) const FOLDS: u64 = 3;

impl Protocol {
    /// Refuses an experiment that cannot be run.
    ///
    /// # Errors
    /// Naming what was given and what is allowed.
    pub fn check(&self) -> Result<()> {
        let refuse = |message: String| Err(Error::Usage(message));
        if self.methods.is_empty() || self.train_per_class.is_empty() {
            return refuse(
                "give at least one method and one number of training samples per class".to_owned(),
            );
        }
        for (k, name) in self.methods.iter().enumerate() {
            self.params.method(name)?;
            if self.methods[..k].contains(name) {
                return refuse(format!("the method {name:?} is given twice; give it only once"));
            }
        }
        let known: Vec<&str> = Method::all().iter().map(Method::name).collect();
        if let Some(name) = self.params.0.keys().find(|name| !known.contains(&name.as_str())) {
            return refuse(format!(
                "there are parameters for {name:?}, which is not a method; use one of {}",
                known.join(", ")
            ));
        }
        if let Some(k) = (1..self.train_per_class.len())
            .find(|&k| self.train_per_class[..k].contains(&self.train_per_class[k]))
        {
            return refuse(format!(
                "{} training samples per class are given twice; give each number only once",
                self.train_per_class[k]
            ));
        }
        if self.repeats == 0 || self.dims.contains(&0) || self.train_per_class.contains(&0) {
            return refuse("repeats, dimensions and training samples must be 1 or more".to_owned());
        }
        if self.repeats > MOST_REPEATS {
            return refuse(format!("{} repeats: at most {MOST_REPEATS} are allowed", self.repeats));
        }
        // TOML, the format of the record, has no larger whole numbers.
        let largest = i64::MAX as u64;
        if self.seed > largest || self.tune.as_ref().is_some_and(|tune| tune.budget as u64 > largest) {
            return refuse(format!("seed and budget must be at most {largest}"));
        }
        if self.tune.is_some() && self.train_per_class.iter().all(|&size| size < 3) {
            return refuse(
                "tuning needs at least 3 training samples per class: one to test on and two to learn from"
                    .to_owned(),
            );
        }
        match &self.tune {
            Some(TuneOptions { folds: 0 | 1, .. }) => refuse("use at least 2 folds".to_owned()),
            Some(TuneOptions { budget: 0, .. }) => refuse("the budget must be at least 1 fit".to_owned()),
            Some(tune) => Ok(tune.search.space.check()?),
            None if self.metric == MetricChoice::Auto => {
                refuse("the metric auto works only with tuning; use euclidean or cosine".to_owned())
            }
            _ => Ok(()),
        }
    }

    /// The set without small classes, and with the requested number of classes.
    ///
    /// # Errors
    /// When too few are left.
    pub fn restrict<'a>(&self, set: &NamedSet<'a>) -> Result<NamedSet<'a>> {
        let data = &set.data;
        let least = self.min_per_class.unwrap_or(1);
        let mut classes: Vec<usize> =
            (0..data.classes().len()).filter(|&class| data.members(class).len() >= least).collect();
        if let Some(wanted) = self.subset_classes {
            if wanted > classes.len() {
                return Err(Error::Usage(format!(
                    "{}: {wanted} classes were requested, but only {} have at least {least} samples",
                    set.name,
                    classes.len()
                )));
            }
            classes.shuffle(&mut generator(self.seed, &[CLASSES]));
            classes.truncate(wanted);
        }
        let mut rows: Vec<usize> =
            classes.iter().flat_map(|&class| data.members(class).iter().copied()).collect();
        rows.sort_unstable();
        if classes.len() < 2 {
            let found = classes.len();
            return Err(Error::Usage(format!(
                "{}: at least 2 classes are required, but only {found} with {least} or more samples would be used",
                set.name
            )));
        }
        Ok(NamedSet { name: set.name.clone(), data: subset(data, &rows)?, rows: Some(rows), ids: set.ids })
    }

    /// The split of a repeat: the same for every method.
    ///
    /// # Errors
    /// When a class is too small.
    pub fn split(&self, set: &NamedSet<'_>, train_per_class: usize, repeat: usize) -> Result<Split> {
        let mut rng = generator(self.seed, &[SPLIT, train_per_class as u64, repeat as u64]);
        random_split(&set.data, train_per_class, &mut rng)
            .map_err(|source| Error::Method { context: set.name.clone(), source })
    }

    /// The dimensions to test after learning from this many samples per class of a set.
    pub fn dims_for(&self, data: &Dataset<'_>, train_per_class: usize) -> Vec<usize> {
        let mut dims = if self.dims.is_empty() {
            default_dimensions(train_per_class.saturating_mul(data.classes().len()))
        } else {
            self.dims.clone()
        };
        dims.sort_unstable();
        dims.dedup();
        dims
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_dimensions_follow_the_number_of_training_samples() {
        assert_eq!(default_dimensions(15), (1..=14).collect::<Vec<_>>());
        assert_eq!(default_dimensions(200), (1..=50).collect::<Vec<_>>());
        // Too few samples to learn from, but the list is never empty.
        assert_eq!((default_dimensions(2), default_dimensions(0)), (vec![1], vec![1]));
    }
}
