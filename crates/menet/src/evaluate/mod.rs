//! Splits, folds, and recognition rates at every dimension.
//!
//! This is the protocol of the paper's section 3. Some samples of every class, drawn at random, are used for training, and the
//! others are tested: each gets the class of its nearest training sample in the projected space. Parameters are chosen by
//! cross-validation inside the training samples. All random draws depend on the seed alone.
//!
//! | file | what it holds |
//! |---|---|
//! | `splits` | random splits, the folds of a cross-validation |
//! | `groups` | folds that keep groups of samples together |
//! | `together` | which samples stay together: groups, and copies of each other |
//! | `nearest` | recognition by the nearest neighbour, at every dimension in one pass |
//! | `mistakes` | which class was taken for which |
//! | here | the decisions of any rule, and parts of a data set |

mod groups;
mod mistakes;
mod nearest;
mod splits;
mod together;

use faer::{Mat, MatRef};

use crate::dataset::{Dataset, Samples, View};
use crate::error::{Error, Result};
use crate::prepare::{Preparation, PrepareParams};
use crate::rules::LearnedRule;
use crate::scores::{Scores, scores_of};

pub use groups::{grouped_folds, leave_one_group_out};
pub use mistakes::{Mistake, balanced_rate, mistakes, recalls};
pub use nearest::{Recognition, Score, recognitions, scores};
pub use splits::{Split, generator, random_split, stratified_folds, stratified_split};
pub use together::{SampleGrouping, together, together_in};

/// How well a learned rule decides on samples at each of `dimensions`: a dimension d uses the first d columns of `z`. Dimensions
/// that the rule does not have are left out. `class_of` gives the place of each of the rule's classes among all `classes`, as `truth` counts
/// them.
///
/// # Errors
/// When sizes disagree, a value is not finite, or there is nothing to decide on.
pub fn decisions(
    rule: &LearnedRule,
    class_of: &[usize],
    classes: usize,
    z: MatRef<'_, f64>,
    truth: &[usize],
    dimensions: &[usize],
) -> Result<Vec<(usize, Scores)>> {
    let (given, expected) = (class_of.len(), rule.class_count());
    if given != expected {
        let why = format!("the rule knows {expected} classes");
        return Err(Error::Size { what: "`class_of`", given, expected, why });
    }
    let mut found = Vec::new();
    for &d in dimensions.iter().filter(|&&d| (1..=rule.dimension()).contains(&d)) {
        let Some(rule) = rule.first(d) else { continue };
        let z = z.get(.., ..d);
        let decided = rule.classify(z)?.into_iter().map(|class| class_of[class]).collect::<Vec<_>>();
        let known = rule.log_probabilities(z)?;
        // A class that was not learned has probability 0.
        let mut all = Mat::from_fn(z.nrows(), classes, |_, _| f64::NEG_INFINITY);
        for (k, &class) in class_of.iter().enumerate() {
            all.col_mut(class).copy_from(known.col(k));
        }
        found.push((d, scores_of(truth, &decided, classes, Some(all.as_ref()))?));
    }
    Ok(found)
}

/// The rows of a data set as a data set of their own, with its names, image shape and batches, and with all samples without a label.
///
/// # Errors
/// When there are none.
pub fn subset(data: &Dataset<'_>, rows: &[usize]) -> Result<Dataset<'static>> {
    let labels: Vec<&str> = rows.iter().map(|&i| data.classes()[data.class_of(i)].as_str()).collect();
    let p = data.variables();
    let samples: Samples<'static> = match data.view() {
        View::Double(x) => Mat::from_fn(rows.len(), p, |i, j| x[(rows[i], j)]).into(),
        View::Single(x) => Mat::from_fn(rows.len(), p, |i, j| f64::from(x[(rows[i], j)])).into(),
        View::Sparse(x) => x.select(rows).into(),
    };
    let samples = if data.first_missing().is_some() { samples.with_missing() } else { samples };
    let mut out = Dataset::from_labels(samples, &labels)?;
    if let Some(batches) = data.batches() {
        let of: Vec<&str> = rows.iter().map(|&i| batches.names()[batches.of()[i]].as_str()).collect();
        out = out.with_batches(&of)?;
    }
    if let Some(names) = data.feature_names() {
        out = out.with_feature_names(names.to_vec())?;
    }
    if let Some((height, width)) = data.image_shape() {
        out = out.with_image_shape(height, width)?;
    }
    Ok(out.weighted_as(data, rows).beside_unlabelled_of(data))
}

/// The training and the test samples of a split, prepared by what the training samples say.
///
/// # Errors
/// As [`subset`], or when samples cannot be prepared.
pub fn halves(
    data: &Dataset<'_>,
    split: &Split,
    prepare: &PrepareParams,
) -> Result<(Dataset<'static>, Dataset<'static>)> {
    let (train, test) = (subset(data, &split.train)?, subset(data, &split.test)?);
    if !prepare.ask_for(data) {
        return Ok((train, test));
    }
    let learned = Preparation::learn(&train, prepare)?;
    Ok((learned.prepare_owned(train)?, learned.prepare_owned(test)?))
}

/// The classes of `rows`, as positions in the classes of `data`.
pub fn classes_of(data: &Dataset<'_>, rows: &[usize]) -> Vec<usize> {
    rows.iter().map(|&row| data.class_of(row)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::named::Named;
    use crate::rules::Metric;

    pub(super) fn data(sizes: &[usize]) -> Dataset<'static> {
        let labels: Vec<usize> =
            sizes.iter().enumerate().flat_map(|(class, &size)| vec![class; size]).collect();
        // No two samples are equal.
        let x = Mat::from_fn(labels.len(), 3, |i, j| {
            ((i * 7 + j * 13 + i * i) % 5) as f64 + labels[i] as f64 + 1e-3 * i as f64
        });
        Dataset::from_owned(x, &labels).unwrap()
    }

    #[test]
    fn decisions_are_those_of_the_rule_on_the_first_axes() {
        use crate::rules::{Priors, Projected, RuleKind, RuleParams, learn};
        let (gallery, samples) = (data(&[9, 9, 9]), data(&[5, 6, 7]));
        let z = gallery.x().unwrap();
        for &kind in RuleKind::ALL {
            let params = RuleParams { kind, neighbors: 1, metric: Metric::Euclidean, priors: Priors::Train };
            let projected =
                Projected { z, classes: gallery.class_indices(), count: 3, weights: None, covariance: None };
            let rule = learn(&params, &projected).unwrap();
            // The rule's classes are 1, 2 and 0 of four.
            let (order, count) = ([1, 2, 0], 4);
            let truth: Vec<usize> = samples.class_indices().iter().map(|&class| order[class]).collect();
            let x = samples.x().unwrap();
            let found = decisions(&rule, &order, count, x, &truth, &[1, 2, 3, 7]).unwrap();
            assert_eq!(found.last().unwrap().0, 3, "{kind:?}");
            for (d, scores) in found {
                let given = rule.first(d).unwrap().classify(x.get(.., ..d)).unwrap();
                let right = given.iter().zip(samples.class_indices()).filter(|(a, b)| a == b).count();
                assert!((scores.rate - 100.0 * right as f64 / 18.0).abs() < 1e-12, "{kind:?} at {d}");
                let wrong = mistakes(&scores.confusion);
                assert_eq!(wrong.iter().map(|m| m.count).sum::<usize>(), 18 - right);
                assert_eq!(balanced_rate(&[7, 5, 6, 0], &wrong), Some(scores.balanced));
                assert_eq!(recalls(&[7, 5, 6, 0], &wrong), scores.recalls);
                assert!(scores.log_loss.is_some_and(f64::is_finite) && scores.auc.is_some());
            }
            assert!(decisions(&rule, &[0, 1], 3, x, &truth, &[1]).is_err());
        }
    }
}
