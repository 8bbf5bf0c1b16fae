//! Decision rules in the projected space: which class a projected sample belongs to, and how sure that is.
//!
//! Every rule gives each class c of a sample a *decision value* `v_c`. The largest decides, and
//!
//! ```text
//! log p_c = v_c − log Σ exp(v)
//! ```
//!
//! is the log-probability. A temperature T in the values, found on samples left out in turn ([`RuleParams`] has no say in
//! it), makes these probabilities honest. Everything stays in log space, so that outliers give finite numbers.
//!
//! | rule | what decides | what it stores |
//! |---|---|---|
//! | `nearest` | the k nearest samples | all samples |
//! | `centroid` | the nearest class mean | c means, one variance |
//! | `gaussian` | the class means under a shared, shrunken covariance | c means, one covariance |
//!
//! To add a rule: one file here with a type that implements `Rule`, one line in `RuleKind` and its `Named`, one in
//! [`LearnedRule`]. The contract test below covers it.

mod calibration;
mod centroid;
mod gaussian;
mod linear;
mod metric;
mod nearest;
mod params;
mod shrinkage;

use std::fmt::Debug;

use faer::{Mat, MatRef};

use crate::error::{Error, Result, check};
use crate::numerics::finite::check_finite;

pub use centroid::Centroid;
pub use gaussian::Gaussian;
pub use linear::Linear;
pub use metric::Metric;
pub use nearest::{Nearest, Prediction, nearest_neighbors};
pub use params::{Priors, RuleKind, RuleParams, RuleRequest};
pub(crate) use shrinkage::{intensity, ledoit_wolf, rooted};

/// What a rule learns from.
#[derive(Debug, Clone, Copy)]
pub struct Projected<'a> {
    /// The projected samples, one per row.
    pub z: MatRef<'a, f64>,
    /// Their classes, from 0.
    pub classes: &'a [usize],
    /// How many classes there are. Each needs a sample.
    pub count: usize,
    /// How much every sample counts, > 0; none = all as much.
    pub weights: Option<&'a [f64]>,
    /// The d×d within-class covariance, where it is known from elsewhere. Only `gaussian` reads it.
    pub covariance: Option<MatRef<'a, f64>>,
}

impl Projected<'_> {
    fn weight(&self, i: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[i])
    }

    /// The sum of the weights of every class.
    fn masses(&self) -> Vec<f64> {
        let mut masses = vec![0.0; self.count];
        self.classes.iter().enumerate().for_each(|(i, &class)| masses[class] += self.weight(i));
        masses
    }
}

/// What a rule says of one sample.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Decision {
    /// The class.
    pub class: usize,
    /// The log-probability of each class, up to a number that all classes share.
    pub values: Vec<f64>,
    /// What to add to each of `values` to get the decision values. It is apart from them, since it may be so large that
    /// their differences would be lost in rounding.
    pub shared: f64,
}

/// A learned rule. Samples that reach it have the right size and are finite.
pub(crate) trait Rule: Sync + Debug {
    /// Learns the rule from samples; its temperature too, or only what it decides by.
    ///
    /// # Errors
    /// When sizes disagree, a value is out of range, or a class has no sample.
    fn learn(params: &RuleParams, projected: &Projected<'_>, calibrate: bool) -> Result<Self>
    where
        Self: Sized;

    /// Which rule it is.
    fn kind(&self) -> RuleKind;

    /// How many entries a sample has.
    fn dimension(&self) -> usize;

    /// The logarithms of the probabilities that the classes have before anything is known of a sample, up to a number that all share.
    fn log_priors(&self) -> Vec<f64>;

    /// How many classes there are.
    fn class_count(&self) -> usize;

    /// The rule on the first `d` axes, 1 to all. Its temperature, and a variance that all axes share, stay what they are.
    fn first(&self, d: usize) -> Self
    where
        Self: Sized;

    /// What it says of each row of `z`. A row's decision does not depend on the other rows.
    ///
    /// # Errors
    /// When the public fields of the rule were set to something that cannot be used.
    fn decisions(&self, z: MatRef<'_, f64>) -> Result<Vec<Decision>>;

    /// The classes alone, where there is a faster way to them.
    ///
    /// # Errors
    /// As for [`Self::decisions`].
    fn classify(&self, z: MatRef<'_, f64>) -> Result<Vec<usize>> {
        Ok(self.decisions(z)?.into_iter().map(|decision| decision.class).collect())
    }
}

/// A learned rule of any kind.
#[derive(Debug, Clone, PartialEq)]
pub enum LearnedRule {
    /// `nearest`
    Nearest(Nearest),
    /// `centroid`
    Centroid(Centroid),
    /// `gaussian`
    Gaussian(Gaussian),
}

/// Learns the rule that `params` asks for.
///
/// # Errors
/// When a parameter is out of range, sizes disagree, a value is not finite, or a class has no sample.
pub fn learn(params: &RuleParams, projected: &Projected<'_>) -> Result<LearnedRule> {
    learn_to(params, projected, true)
}

/// Learns a rule for decisions alone: how sure they are is not looked into, so that its probabilities mean nothing. Priors other than those of
/// the training samples need the temperature of the rule `nearest`, which then is found all the same.
pub(crate) fn learn_blunt(params: &RuleParams, projected: &Projected<'_>) -> Result<LearnedRule> {
    let other_priors = params.priors != Priors::Train || projected.weights.is_some();
    let needed = params.kind == RuleKind::Nearest && other_priors;
    learn_to(params, projected, needed)
}

fn learn_to(params: &RuleParams, projected: &Projected<'_>, calibrate: bool) -> Result<LearnedRule> {
    params.check(projected.count)?;
    Ok(match params.kind {
        RuleKind::Nearest => LearnedRule::Nearest(Nearest::learn(params, projected, calibrate)?),
        RuleKind::Centroid => LearnedRule::Centroid(Centroid::learn(params, projected, calibrate)?),
        RuleKind::Gaussian => LearnedRule::Gaussian(Gaussian::learn(params, projected, calibrate)?),
    })
}

impl LearnedRule {
    fn rule(&self) -> &dyn Rule {
        match self {
            LearnedRule::Nearest(rule) => rule,
            LearnedRule::Centroid(rule) => rule,
            LearnedRule::Gaussian(rule) => rule,
        }
    }

    /// Which rule it is.
    pub fn kind(&self) -> RuleKind {
        self.rule().kind()
    }

    /// The logarithms of the probabilities that the classes have before anything is known of a sample, up to a number that all share.
    pub fn log_priors(&self) -> Vec<f64> {
        self.rule().log_priors()
    }

    /// The rule as functions that are linear in the sample, where it is one: `centroid` and `gaussian`.
    ///
    /// # Errors
    /// When the public fields of the rule were set to something that cannot be used.
    pub fn linear(&self) -> Result<Option<Linear>> {
        match self {
            LearnedRule::Nearest(_) => Ok(None),
            LearnedRule::Centroid(rule) => Ok(Some(rule.linear())),
            LearnedRule::Gaussian(rule) => rule.linear().map(Some),
        }
    }

    /// How many entries a sample has.
    pub fn dimension(&self) -> usize {
        self.rule().dimension()
    }

    /// How many classes there are.
    pub fn class_count(&self) -> usize {
        self.rule().class_count()
    }

    /// The rule on the first `d` axes, of 1 to all of them; none for other numbers. How sure it is stays as it was.
    pub fn first(&self, d: usize) -> Option<Self> {
        (1..=self.dimension()).contains(&d).then(|| match self {
            LearnedRule::Nearest(rule) => LearnedRule::Nearest(rule.first(d)),
            LearnedRule::Centroid(rule) => LearnedRule::Centroid(rule.first(d)),
            LearnedRule::Gaussian(rule) => LearnedRule::Gaussian(rule.first(d)),
        })
    }

    /// The class of each row of `z`. A row of NaN alone is a sample of which nothing is known: it gets the class that is most probable
    /// before anything is measured.
    ///
    /// # Errors
    /// When the rows are not of the rule's dimension, or another value is not finite.
    pub fn classify(&self, z: MatRef<'_, f64>) -> Result<Vec<usize>> {
        let Some(known) = self.known(z)? else { return self.rule().classify(z) };
        let mut classes = vec![largest(&self.rule().log_priors()); z.nrows()];
        let found = self.rule().classify(rows_of(z, &known).as_ref())?;
        known.into_iter().zip(found).for_each(|(i, class)| classes[i] = class);
        Ok(classes)
    }

    /// The log-probability of each class (columns) of each row of `z`. The largest of a row is that of
    /// [`Self::classify`].
    ///
    /// # Errors
    /// As for [`Self::classify`].
    pub fn log_probabilities(&self, z: MatRef<'_, f64>) -> Result<Mat<f64>> {
        self.rows(z, |decision| {
            calibration::log_softmax(&mut decision.values);
        })
    }

    /// The decision values: the log-probabilities before they are normalised. The largest of a row is that of
    /// [`Self::classify`].
    ///
    /// # Errors
    /// As for [`Self::classify`].
    pub fn decision_values(&self, z: MatRef<'_, f64>) -> Result<Mat<f64>> {
        self.rows(z, |decision| {
            let shared = decision.shared;
            decision.values.iter_mut().for_each(|value| *value += shared);
        })
    }

    fn rows(&self, z: MatRef<'_, f64>, finish: impl Fn(&mut Decision)) -> Result<Mat<f64>> {
        let mut decisions = match self.known(z)? {
            None => self.rule().decisions(z)?,
            Some(known) => {
                let values = self.rule().log_priors();
                let prior = Decision { class: largest(&values), values, shared: 0.0 };
                let mut all = vec![prior; z.nrows()];
                let found = self.rule().decisions(rows_of(z, &known).as_ref())?;
                known.into_iter().zip(found).for_each(|(i, decision)| all[i] = decision);
                all
            }
        };
        for decision in &mut decisions {
            finish(decision);
            prefer(&mut decision.values, decision.class);
        }
        Ok(Mat::from_fn(z.nrows(), self.class_count(), |i, c| decisions[i].values[c]))
    }

    /// The rows of which something is known, where not all are; their values are finite.
    fn known(&self, z: MatRef<'_, f64>) -> Result<Option<Vec<usize>>> {
        let (given, expected) = (z.ncols(), self.dimension());
        if given != expected {
            let why = format!("the rule was learned from {expected} columns");
            return Err(Error::Size { what: "a sample", given, expected, why });
        }
        let Err(error) = check_finite("the samples", z) else { return Ok(None) };
        let known: Vec<usize> = (0..z.nrows()).filter(|&i| z.row(i).iter().any(|z| !z.is_nan())).collect();
        let all_finite = check_finite("the samples", rows_of(z, &known).as_ref()).is_ok();
        if all_finite { Ok(Some(known)) } else { Err(error) }
    }
}

/// Some rows of a matrix.
fn rows_of(z: MatRef<'_, f64>, rows: &[usize]) -> Mat<f64> {
    Mat::from_fn(rows.len(), z.ncols(), |i, k| z[(rows[i], k)])
}

/// By how much the class that was chosen stands out where rounding, or a tie, would hide it: it also survives `exp`.
const TIE: f64 = 8.0 * f64::EPSILON;

/// Makes the value of `class` the largest, if it is not.
fn prefer(values: &mut [f64], class: usize) {
    let others =
        (0..values.len()).filter(|&c| c != class).map(|c| values[c]).fold(f64::NEG_INFINITY, f64::max);
    if values[class] <= others {
        values[class] = others + TIE * others.abs().max(1.0);
    }
}

/// The first place of the largest value.
fn largest(values: &[f64]) -> usize {
    let mut best = 0;
    for (c, &value) in values.iter().enumerate() {
        if value > values[best] {
            best = c;
        }
    }
    best
}

/// Row `i` in one piece.
fn row(z: MatRef<'_, f64>, i: usize) -> Vec<f64> {
    z.row(i).iter().copied().collect()
}

/// How many samples each class has, once sizes and values are checked.
fn counts_of(projected: &Projected<'_>) -> Result<Vec<usize>> {
    let Projected { z, classes, count, .. } = *projected;
    if z.nrows() == 0 || z.ncols() == 0 {
        return Err(Error::Empty { rows: z.nrows(), columns: z.ncols() });
    }
    if classes.len() != z.nrows() {
        let why = format!("there are {} samples", z.nrows());
        return Err(Error::Size { what: "`classes`", given: classes.len(), expected: z.nrows(), why });
    }
    if let Some(weights) = projected.weights {
        if weights.len() != z.nrows() {
            let why = format!("there are {} samples", z.nrows());
            return Err(Error::Size { what: "`weights`", given: weights.len(), expected: z.nrows(), why });
        }
        for &weight in weights {
            check("weights", weight, "numbers > 0, at most 1e100", |weight| weight > 0.0)?;
        }
    }
    check_finite("the samples", z)?;
    let mut counts = vec![0; count];
    for &class in classes {
        let Some(of_class) = counts.get_mut(class) else {
            return Err(Error::parameter("classes", class, format!("below {count}, the number of classes")));
        };
        *of_class += 1;
    }
    match counts.iter().position(|&samples| samples == 0) {
        Some(class) => {
            let what = format!("class {class} (counted from 0) of {count} has no sample; leave it out");
            Err(Error::Degenerate(what))
        }
        None => Ok(counts),
    }
}

#[cfg(test)]
mod tests;
