//! What a validation finds. Rates, recalls and frequencies are fractions from 0 to 1, not percentages.

use menet::Men;
use menet::evaluate::Split;
use serde::{Deserialize, Serialize};

/// An estimate with its 95 % confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The estimate.
    pub mean: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// The ends, the estimate in the place of one that is not known.
    pub(crate) fn ends(&self) -> (f64, f64) {
        let known = |end: f64| if end.is_finite() { end } else { self.mean };
        (known(self.low), known(self.high))
    }
}

/// The results of a validation, and everything that its tables, figures and report need besides the data.
#[derive(Debug, Clone)]
pub struct Validation {
    /// The name of the data set.
    pub data: String,
    /// The names of the classes.
    pub classes: Vec<String>,
    /// How many samples every class has.
    pub class_sizes: Vec<usize>,
    /// How many variables there are.
    pub variables: usize,
    /// How samples were held out.
    pub design: Design,
    /// What a reader should know of equal samples, in words; none if there are none.
    pub copies: Option<String>,
    /// MEN first, then what it is compared with, on the same splits.
    pub methods: Vec<MethodResult>,
    /// The permutation test of the first method; none if it was not asked for.
    pub permutation: Option<PermutationTest>,
    /// The stability of the selection; none if it was not asked for, or if the first method is not MEN.
    pub stability: Option<StabilityFound>,
    /// How good MEN is at every number of variables, in the cross-validation that chose the final model; by rising number.
    pub sizes: Vec<SizeRow>,
    /// The panel of the final model, the most important variable first.
    pub panel: Vec<PanelEntry>,
    /// The models to show; none if the first method is not MEN.
    pub models: Option<Models>,
    /// What was done, in words for a methods section.
    pub words: Vec<String>,
    /// `run.toml`: everything that is needed to repeat the run.
    pub run: String,
    /// Seconds of computing. They are in no file, so that a run that was stopped and continued writes the same bytes.
    pub seconds: f64,
}

impl Validation {
    /// The balanced accuracy of guessing, among the classes that were held out.
    pub fn chance(&self) -> f64 {
        let tested = self.methods.first().map_or(0, |method| method.recalls.iter().flatten().count());
        1.0 / tested.max(1) as f64
    }

    /// The classes that were never held out, because they are too small to be learned from without a sample.
    pub fn untested(&self) -> Vec<&str> {
        let recalls = self.methods.first().map_or(&[][..], |method| &method.recalls);
        let never = self.classes.iter().zip(recalls).filter(|(_, recall)| recall.is_none());
        never.map(|(class, _)| class.as_str()).collect()
    }
}

/// How samples were held out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Design {
    /// Folds of the outer cross-validation.
    pub folds: usize,
    /// How many times it was repeated with other folds.
    pub repeats: usize,
    /// Folds of the inner cross-validation, which chooses; 0 if nothing was chosen.
    pub inner_folds: usize,
    /// The number of groups that stay together, if there are groups.
    pub groups: Option<usize>,
    /// How many samples are copies of others, with which they stay.
    pub copies: usize,
    /// Whether every fold leaves out one group.
    pub leave_one_group_out: bool,
    /// The seed.
    pub seed: u64,
}

/// How one method did on samples that it had not seen.
#[derive(Debug, Clone, PartialEq)]
pub struct MethodResult {
    /// The name of the method.
    pub name: String,
    /// The mean over classes of the fraction that is right.
    pub balanced: Interval,
    /// The fraction that is right.
    pub rate: Interval,
    /// The area under the ROC curve, one class against the rest, mean over classes; none without probabilities.
    pub auc: Option<Interval>,
    /// The mean of −log p of the true class; none without probabilities.
    pub log_loss: Option<Interval>,
    /// The fraction of every class that is right; none for a class that was never tested.
    pub recalls: Vec<Option<Interval>>,
    /// How many samples of each class (first index) were given each class (second index), over all repeats.
    pub confusion: Vec<Vec<usize>>,
    /// Every sample, in the order of the data.
    pub samples: Vec<SampleResult>,
    /// The scores of every repeat.
    pub repeats: Vec<RepeatRow>,
    /// How many variables the models of the folds use, on average.
    pub variables: f64,
    /// What was chosen in every fold, as one line of TOML; empty if nothing was.
    pub choices: Vec<String>,
}

/// One repeat of the cross-validation, a row of `scores.csv`.
#[derive(Debug, Clone, PartialEq)]
pub struct RepeatRow {
    /// The repeat, from 0.
    pub repeat: usize,
    /// The mean over classes of the fraction that is right.
    pub balanced: f64,
    /// The fraction that is right.
    pub rate: f64,
    /// The area under the ROC curve.
    pub auc: Option<f64>,
    /// The log loss.
    pub log_loss: Option<f64>,
    /// How many variables the models of the folds use, on average.
    pub variables: f64,
}

/// How one sample was classified when it was held out.
#[derive(Debug, Clone, PartialEq)]
pub struct SampleResult {
    /// Its row in the file, from 0.
    pub row: usize,
    /// Its name, if samples have names.
    pub name: Option<String>,
    /// Its class.
    pub class: usize,
    /// How many times it was held out.
    pub tested: usize,
    /// How many times it was given a wrong class.
    pub wrong: usize,
    /// How many times it was given each class.
    pub given: Vec<usize>,
    /// The mean of its probabilities, one per class; empty without probabilities.
    pub probabilities: Vec<f64>,
}

/// The whole procedure, tuning included, on permuted labels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PermutationTest {
    /// The balanced accuracy with the true labels in the first repeat.
    pub observed: f64,
    /// The balanced accuracies with permuted labels, in the order in which they were computed.
    pub permuted: Vec<f64>,
    /// How many of `permuted` could not be learned from in some fold, where decisions are then at chance.
    pub failed: usize,
    /// How many of `permuted` are as good as `observed` or better. The log loss decides between equals.
    pub as_good: usize,
    /// The p-value and the 95 % interval of its own uncertainty, `mean` being the p-value.
    pub p_value: Interval,
    /// How many permutations were asked for.
    pub asked: usize,
    /// Whether the test stopped early because the answer was clear.
    pub early: bool,
    /// How many different arrangements of the labels there are, counted up to a million.
    pub arrangements: u64,
    /// What was exchanged, as part of a sentence; none where samples exchanged their classes.
    pub exchanged: Option<String>,
}

/// How stable the selection is over half-samples.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StabilityFound {
    /// How many half-samples there are.
    pub half_samples: usize,
    /// How many variables could be selected: not barred, penalised, and of more than one value.
    pub selectable: usize,
    /// The size of the panels that `index` and `frequencies` are of: that of the final model.
    pub size: usize,
    /// Nogueira's index at `size`.
    pub index: Interval,
    /// The index at every panel size: pairs of size and index.
    pub by_size: Vec<(usize, Interval)>,
    /// The fraction of the half-samples that select a variable at `size`: variable and frequency, the most frequent first. Variables
    /// that no half-sample selects are missing.
    pub frequencies: Vec<(usize, f64)>,
    /// The panel size that the stable panel is chosen at.
    pub stable_size: usize,
    /// From which frequency on a variable is stable.
    pub threshold: f64,
    /// The frequencies at `stable_size`, as above.
    pub stable_frequencies: Vec<(usize, f64)>,
    /// The stable panel, the most frequent first.
    pub stable: Vec<usize>,
    /// Bounds on the expected number of false selections in the stable panel, each with the name of its assumption.
    pub false_selections: Vec<(String, f64)>,
}

/// How good models of one size are in the cross-validation on all samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SizeRow {
    /// The mean number of variables in the models of the folds.
    pub variables: f64,
    /// The balanced accuracy, the best over the other parameters.
    pub balanced: f64,
    /// Its standard error over the folds.
    pub standard_error: f64,
    /// Whether the final model is of this size.
    pub chosen: bool,
    /// Whether this is the best.
    pub best: bool,
}

/// A variable of the panel of the final model, a row of `panel.csv`.
#[derive(Debug, Clone, PartialEq)]
pub struct PanelEntry {
    /// The variable.
    pub variable: usize,
    /// Its name; its place in the image, or its number from 1, if variables have no names.
    pub name: String,
    /// The fraction of the half-samples that select it; none without half-samples.
    pub frequency: Option<f64>,
    /// The fraction of the outer folds whose model uses it.
    pub folds: f64,
    /// Its place, from 1, among the variables that entered the path of an axis.
    pub entered: Option<usize>,
    /// Its weight on every axis.
    pub weights: Vec<f64>,
    /// Its standard deviation.
    pub deviation: Option<f64>,
    /// Its largest weight in size over the axes, times its standard deviation.
    pub effect: Option<f64>,
    /// Its mean in every class, by itself: less the mean of all samples, over its standard deviation. Empty if that is not known.
    pub class_means: Vec<f64>,
    /// The class with the largest mean, the variable taken by itself.
    pub higher_in: Option<usize>,
    /// The class that a larger value speaks for while all other variables stay as they are.
    pub class: Option<usize>,
    /// Whether it is in the stable panel.
    pub stable: bool,
}

/// The models that are shown.
#[derive(Debug, Clone)]
pub struct Models {
    /// The final model, tuned and fitted on all samples.
    pub all: Men,
    /// The first fold of the first repeat.
    pub split: Split,
    /// The model of that fold, which has not seen `split.test`.
    pub fold: Men,
}
