//! The results of a run, and everything that figures and the report need.

use menet::evaluate::{Mistake, balanced_rate, recalls};
use menet::{Men, Method, Projection};

/// The rate of one method on one split at one dimension: a row of `results.csv`.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultRow {
    /// The data set.
    pub data: String,
    /// Training samples per class.
    pub train_per_class: usize,
    /// The method.
    pub method: String,
    /// The repeat, from 0.
    pub repeat: usize,
    /// The dimension of the projected space.
    pub dimension: usize,
    /// Percent of the test samples recognised.
    pub rate: f64,
}

/// One cell of the table: a row of `summary.csv`.
#[derive(Debug, Clone, PartialEq)]
pub struct SummaryRow {
    /// The data set.
    pub data: String,
    /// Training samples per class.
    pub train_per_class: usize,
    /// The method.
    pub method: String,
    /// Mean rate over the repeats, in percent: the best over dimensions or, with tuning, at the chosen dimension.
    pub rate: f64,
    /// Its standard deviation over the repeats; none with a single repeat.
    pub sd: Option<f64>,
    /// The mean over classes of the percentage recognised, so that every class has the same weight.
    pub balanced: f64,
    /// The mean log loss (natural logarithm), for methods whose rule gives probabilities.
    pub log_loss: Option<f64>,
    /// The mean area under the ROC curve, one class against the rest, for the same methods.
    pub auc: Option<f64>,
    /// The dimension; with tuning, the median of the choices.
    pub dimension: usize,
    /// How many distinct variables the axes use together; the mean over the repeats.
    pub variables: f64,
    /// Mean seconds of fit, projection and classification.
    pub seconds: f64,
}

impl SummaryRow {
    /// The names of the columns of `summary.csv`.
    pub const COLUMNS: [&str; 11] = [
        "data",
        "train_per_class",
        "method",
        "rate",
        "sd",
        "balanced",
        "log_loss",
        "auc",
        "dimension",
        "variables",
        "seconds",
    ];
}

/// The choice of tuning in one training half: a row of `choices.csv`.
#[derive(Debug, Clone, PartialEq)]
pub struct ChoiceRow {
    /// The data set.
    pub data: String,
    /// Training samples per class.
    pub train_per_class: usize,
    /// The method.
    pub method: String,
    /// The repeat, from 0.
    pub repeat: usize,
    /// The dimension.
    pub dimension: usize,
    /// The metric.
    pub metric: String,
    /// The rate of this choice in cross-validation, in percent.
    pub validated: f64,
    /// The parameters of the method, as TOML on one line.
    pub parameters: String,
}

impl ChoiceRow {
    /// The names of the columns.
    pub const COLUMNS: [&str; 8] =
        ["data", "train_per_class", "method", "repeat", "dimension", "metric", "validated", "parameters"];

    /// The row as text.
    pub fn cells(&self) -> [String; 8] {
        [
            self.data.clone(),
            self.train_per_class.to_string(),
            self.method.clone(),
            self.repeat.to_string(),
            self.dimension.to_string(),
            self.metric.clone(),
            self.validated.to_string(),
            self.parameters.clone(),
        ]
    }
}

/// The confusion of classes at the reported dimension, over all test samples of all repeats.
#[derive(Debug, Clone, PartialEq)]
pub struct Confusion {
    /// The data set.
    pub data: String,
    /// Training samples per class.
    pub train_per_class: usize,
    /// The method.
    pub method: String,
    /// The names of the classes.
    pub classes: Vec<String>,
    /// How many samples of every class were tested.
    pub tested: Vec<usize>,
    /// The samples that were not recognised, by true class and then by predicted class.
    pub mistakes: Vec<Mistake>,
}

impl Confusion {
    /// How many samples of every class were recognised.
    pub fn right(&self) -> Vec<usize> {
        let mut right = self.tested.clone();
        for mistake in &self.mistakes {
            right[mistake.class] = right[mistake.class].saturating_sub(mistake.count);
        }
        right
    }

    /// The percentage recognised per class; none for a class that was not tested.
    pub fn recalls(&self) -> Vec<Option<f64>> {
        recalls(&self.tested, &self.mistakes)
    }

    /// The mean of [`Self::recalls`].
    pub fn balanced(&self) -> Option<f64> {
        balanced_rate(&self.tested, &self.mistakes)
    }
}

/// Everything a report shows.
#[derive(Debug, Clone)]
pub struct Study {
    /// Whether dimension and parameters were chosen inside the training samples.
    pub tuned: bool,
    /// The metric of the nearest-neighbour rule, by which methods other than MEN decide.
    pub metric: String,
    /// The methods, in the order of the table's columns.
    pub methods: Vec<String>,
    /// The table.
    pub summary: Vec<SummaryRow>,
    /// The confusion of classes, one per row of the table.
    pub confusions: Vec<Confusion>,
    /// The rates that the table was made from.
    pub results: Vec<ResultRow>,
    /// The choices of tuning; empty without tuning.
    pub choices: Vec<ChoiceRow>,
    /// `run.toml`: everything that is needed to repeat the run.
    pub run: String,
    /// The models learned from the first split of every set, at the first training size.
    pub showcases: Vec<Showcase>,
    /// Every set, and the folder beside the report for its validation.
    pub validations: Vec<Validated>,
}

/// Where the validation of a set is, or would be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Validated {
    /// The data set.
    pub data: String,
    /// The name of the folder, beside the report.
    pub folder: String,
    /// Whether its report is there.
    pub there: bool,
}

impl Study {
    /// How many of the methods are MEN or one of its variants.
    pub(crate) fn men_methods(&self) -> usize {
        let is_men = |name: &&String| Method::from_name(name).is_ok_and(|method| method.men().is_some());
        self.methods.iter().filter(is_men).count()
    }
}

/// The models learned from one split.
#[derive(Debug, Clone)]
pub struct Showcase {
    /// The data set.
    pub data: String,
    /// Training samples per class.
    pub train_per_class: usize,
    /// The repeat, from 0, whose split it was learned from.
    pub repeat: usize,
    /// Height and width, if the samples are images.
    pub image_shape: Option<(usize, usize)>,
    /// Names of the variables, if there are any.
    pub feature_names: Option<Vec<String>>,
    /// A few samples with their class: the first ones of the first classes, independent of the split.
    pub samples: Vec<(String, Vec<f64>)>,
    /// The projection that every method learned.
    pub bases: Vec<(String, Projection)>,
    /// The model of MEN, with its paths, if MEN is among the methods.
    pub men: Option<Men>,
    /// The rate on the test samples of this split, in percent, by the largest number of variables per path of `men`; with its
    /// refit and rule.
    pub rates_by_nonzeros: Vec<(usize, f64)>,
}
