//! How good decisions are.
//!
//! | score | what | better |
//! |---|---|---|
//! | rate | the percentage that is right | higher |
//! | balanced | the mean over classes of the percentage that is right (the recall) | higher |
//! | log loss | the mean of −log p of the true class, natural logarithm | lower |
//! | AUC | the chance that a sample of a class gets a higher probability of it than another sample, the mean over classes | higher |
//!
//! Classes that were not tested do not count. Log loss and AUC (one against the rest, macro) are scikit-learn's `log_loss`
//! and `roc_auc_score(multi_class="ovr", average="macro")`.

use faer::MatRef;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::named::named;

/// The scores of decisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScoreKind {
    /// The percentage that is right.
    #[default]
    Rate,
    /// The mean over classes of the percentage that is right.
    Balanced,
    /// The mean of −log p of the true class.
    LogLoss,
    /// The area under the curve, one class against the rest, the mean over classes.
    Auc,
}

named!(ScoreKind, "score", Rate = "rate", Balanced = "balanced", LogLoss = "log_loss", Auc = "auc");

impl ScoreKind {
    /// This score; NaN where it is not known.
    pub fn of(self, scores: &Scores) -> f64 {
        match self {
            ScoreKind::Rate => scores.rate,
            ScoreKind::Balanced => scores.balanced,
            ScoreKind::LogLoss => scores.log_loss.unwrap_or(f64::NAN),
            ScoreKind::Auc => scores.auc.unwrap_or(f64::NAN),
        }
    }

    /// This score, turned so that higher is better. One that is not known is worse than any other.
    pub fn merit(self, scores: &Scores) -> f64 {
        let value = self.of(scores);
        match self {
            _ if value.is_nan() => f64::NEG_INFINITY,
            ScoreKind::LogLoss => -value,
            _ => value,
        }
    }

    /// Whether it needs probabilities.
    pub(crate) fn needs_probabilities(self) -> bool {
        matches!(self, ScoreKind::LogLoss | ScoreKind::Auc)
    }
}

/// How good the decisions on some samples are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Scores {
    /// The percentage that is right.
    pub rate: f64,
    /// The mean of `recalls`, in percent.
    pub balanced: f64,
    /// The percentage of each class that is right; none for a class that was not tested.
    pub recalls: Vec<Option<f64>>,
    /// How many samples of each class (first index) were given each class (second index).
    pub confusion: Vec<Vec<usize>>,
    /// The log loss, where probabilities are known.
    pub log_loss: Option<f64>,
    /// The AUC, from 0 to 1, where probabilities are known and more than one class was tested.
    pub auc: Option<f64>,
}

/// The scores of samples of classes `truth` that were `given` these classes. The log-probabilities have one row per sample and
/// one column per class; minus infinity is allowed.
///
/// # Errors
/// When there are no samples, sizes disagree, a class is not below `classes`, or a log-probability is above 0 or NaN.
pub fn scores_of(
    truth: &[usize],
    given: &[usize],
    classes: usize,
    log_probabilities: Option<MatRef<'_, f64>>,
) -> Result<Scores> {
    weighted_scores(truth, given, classes, log_probabilities, None)
}

/// Scores of samples with weights ≥ 0, if they have any. Counts in the confusion matrix stay counts.
///
/// # Errors
/// As [`scores_of`].
pub(crate) fn weighted_scores(
    truth: &[usize],
    given: &[usize],
    classes: usize,
    log_probabilities: Option<MatRef<'_, f64>>,
    weights: Option<&[f64]>,
) -> Result<Scores> {
    let n = truth.len();
    if n == 0 {
        return Err(Error::Empty { rows: 0, columns: classes });
    }
    if given.len() != n {
        let why = format!("`truth` has {n}");
        return Err(Error::Size { what: "`given`", given: given.len(), expected: n, why });
    }
    for (name, list) in [("truth", truth), ("given", given)] {
        if let Some(class) = list.iter().find(|&&class| class >= classes) {
            return Err(Error::parameter(name, class, format!("below {classes}, the number of classes")));
        }
    }
    if let Some(logs) = log_probabilities {
        check_logs(logs, n, classes)?;
    }
    let mut confusion = vec![vec![0; classes]; classes];
    truth.iter().zip(given).for_each(|(&truth, &given)| confusion[truth][given] += 1);
    // How much of every class was tested, and was right.
    let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
    let (mut tested, mut right) = (vec![0.0; classes], vec![0.0; classes]);
    for (i, (&truth, &given)) in truth.iter().zip(given).enumerate() {
        tested[truth] += weight(i);
        right[truth] += if truth == given { weight(i) } else { 0.0 };
    }
    let percent = |right: f64, of: f64| 100.0 * right / of;
    let recall = |class: usize| (tested[class] > 0.0).then(|| percent(right[class], tested[class]));
    let recalls: Vec<Option<f64>> = (0..classes).map(recall).collect();
    Ok(Scores {
        rate: percent(right.iter().sum(), tested.iter().sum()),
        balanced: mean(recalls.iter().flatten().copied()).unwrap_or(f64::NAN),
        recalls,
        confusion,
        log_loss: log_probabilities.map(|logs| log_loss(truth, logs, &weight)),
        auc: log_probabilities
            .and_then(|logs| mean((0..classes).filter_map(|class| auc(truth, class, logs, &weight)))),
    })
}

fn check_logs(logs: MatRef<'_, f64>, n: usize, classes: usize) -> Result<()> {
    for (what, given, expected, why) in [
        ("a column of `log_probabilities`", logs.nrows(), n, format!("there are {n} samples")),
        ("a row of `log_probabilities`", logs.ncols(), classes, format!("there are {classes} classes")),
    ] {
        if given != expected {
            return Err(Error::Size { what, given, expected, why });
        }
    }
    for column in 0..classes {
        // A value slightly above 0 is rounding.
        if let Some(row) = logs.col(column).iter().position(|&log| log.is_nan() || log > 1e-9) {
            let value = format!("{:?} in row {row}, column {column} (counted from 0)", logs[(row, column)]);
            return Err(Error::parameter("log_probabilities", value, "at most 0"));
        }
    }
    Ok(())
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = values.fold((0, 0.0), |(count, sum), value| (count + 1, sum + value));
    (count > 0).then(|| sum / f64::from(count))
}

/// With probabilities kept between ε and 1 − ε, as scikit-learn does.
fn log_loss(truth: &[usize], logs: MatRef<'_, f64>, weight: &dyn Fn(usize) -> f64) -> f64 {
    let (least, most) = (f64::EPSILON.ln(), (-f64::EPSILON).ln_1p());
    let loss = truth.iter().enumerate().map(|(i, &class)| -logs[(i, class)].clamp(least, most) * weight(i));
    loss.sum::<f64>() / (0..truth.len()).map(weight).sum::<f64>()
}

/// From the ranks of the samples of `class` among all; none if no sample or every sample is of that class.
fn auc(truth: &[usize], class: usize, logs: MatRef<'_, f64>, weight: &dyn Fn(usize) -> f64) -> Option<f64> {
    let sum = |of_class: bool| -> f64 {
        (0..truth.len()).filter(|&i| (truth[i] == class) == of_class).map(weight).sum()
    };
    let (inside, outside) = (sum(true), sum(false));
    if inside == 0.0 || outside == 0.0 {
        return None;
    }
    let mut order: Vec<usize> = (0..truth.len()).collect();
    order.sort_unstable_by(|&a, &b| logs[(a, class)].total_cmp(&logs[(b, class)]));
    // Twice the number of pairs in the right order, where a tie is half a pair: a whole number unless there are weights.
    let (mut pairs, mut below) = (0.0, 0.0);
    for tied in order.chunk_by(|&a, &b| logs[(a, class)] == logs[(b, class)]) {
        let of = |own: bool| -> f64 {
            tied.iter().filter(|&&i| (truth[i] == class) == own).map(|&i| weight(i)).sum()
        };
        let (own, others) = (of(true), of(false));
        pairs += own * (2.0 * below + others);
        below += others;
    }
    Some(pairs / (2.0 * inside * outside))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::named::Named;
    use faer::{Mat, mat};

    /// As in the recipe below. Values are quarters, so that probabilities tie.
    fn sample(n: usize, c: usize) -> (Vec<usize>, Mat<f64>) {
        let truth: Vec<usize> = (0..n).map(|i| (i * i + i / 3) % c).collect();
        let logs = Mat::from_fn(n, c, |i, k| {
            let value = |k: usize| {
                ((i * 7 + k * 5 + i * k * 3) % 11) as f64 / 4.0 + if truth[i] == k { 1.0 } else { 0.0 }
            };
            let total: f64 = (0..c).map(|k| value(k).exp()).sum();
            // Twelve digits: rounding neither makes nor breaks ties.
            ((value(k).exp() / total * 1e12).round() / 1e12).ln()
        });
        (truth, logs)
    }

    #[test]
    fn the_numbers_are_those_of_scikit_learn() {
        // scikit-learn 1.9.1, no seed is needed:
        //   i = np.arange(n); k = np.arange(c)[None]; t = (i*i + i//3) % c
        //   v = ((i[:, None]*7 + k*5 + i[:, None]*k*3) % 11) / 4.0 + (t[:, None] == k)
        //   p = np.exp(v); p /= p.sum(1, keepdims=True)
        //   roc_auc_score(t, p, multi_class="ovr", average="macro")   (of p[:, 1] for two classes), log_loss(t, p)
        for (n, c, auc, loss) in [
            (30, 3, 0.8646178577757526, 0.720600394266212),
            (41, 5, 0.794789523358401, 1.2182975082021215),
            (20, 2, 0.923076923076923, 0.3979687443747969),
        ] {
            let (truth, logs) = sample(n, c);
            let scores = scores_of(&truth, &truth, c, Some(logs.as_ref())).unwrap();
            assert!((scores.auc.unwrap() - auc).abs() < 1e-12, "{n} {c}: {scores:?}");
            assert!((scores.log_loss.unwrap() - loss).abs() < 1e-9, "{n} {c}: {scores:?}");
            assert_eq!((scores.rate, scores.balanced), (100.0, 100.0));
        }
        // log_loss([0, 1, 1], [[1, 0], [1, 0], [0, 1]])
        let sure = mat![[0.0, f64::NEG_INFINITY], [0.0, f64::NEG_INFINITY], [f64::NEG_INFINITY, 0.0]];
        let scores = scores_of(&[0, 1, 1], &[0, 0, 1], 2, Some(sure.as_ref())).unwrap();
        assert!((scores.log_loss.unwrap() - 12.014551129705717).abs() < 1e-12);
    }

    #[test]
    fn ranks_count_pairs() {
        let (truth, logs) = sample(41, 5);
        for class in 0..5 {
            let (mut sum, mut pairs) = (0.0, 0.0);
            for i in (0..41).filter(|&i| truth[i] == class) {
                for j in (0..41).filter(|&j| truth[j] != class) {
                    let (a, b) = (logs[(i, class)], logs[(j, class)]);
                    sum += if a > b {
                        1.0
                    } else if a == b {
                        0.5
                    } else {
                        0.0
                    };
                    pairs += 1.0;
                }
            }
            assert_eq!(auc(&truth, class, logs.as_ref(), &|_| 1.0), Some(sum / pairs));
        }
    }

    #[test]
    fn classes_that_were_not_tested_do_not_count() {
        let scores = scores_of(&[0, 0, 0, 2], &[0, 0, 1, 2], 4, None).unwrap();
        assert_eq!(scores.rate, 75.0);
        assert_eq!(scores.recalls, [Some(200.0 / 3.0), None, Some(100.0), None]);
        assert_eq!(scores.balanced, (200.0 / 3.0 + 100.0) / 2.0);
        assert_eq!(scores.confusion[0], [2, 1, 0, 0]);
        assert_eq!((scores.log_loss, scores.auc), (None, None));
        let even = Mat::from_fn(4, 4, |_, _| 0.25_f64.ln());
        let scores = scores_of(&[0, 0, 0, 2], &[0, 0, 1, 2], 4, Some(even.as_ref())).unwrap();
        assert_eq!(scores.auc, Some(0.5));
        let alone = scores_of(&[1, 1], &[1, 0], 4, Some(even.subrows(0, 2))).unwrap();
        assert_eq!((alone.auc, alone.balanced), (None, 50.0));
    }

    #[test]
    fn higher_merit_is_better() {
        let (truth, logs) = sample(30, 3);
        let known = scores_of(&truth, &truth, 3, Some(logs.as_ref())).unwrap();
        let unknown = scores_of(&truth, &truth, 3, None).unwrap();
        for &kind in ScoreKind::ALL {
            assert_eq!(ScoreKind::from_name(kind.name()).unwrap(), kind);
            assert_eq!(serde_json::to_string(&kind).unwrap(), format!("\"{}\"", kind.name()));
            assert_eq!(kind.needs_probabilities(), kind.of(&unknown).is_nan());
            if kind.needs_probabilities() {
                assert!(kind.merit(&known) > kind.merit(&unknown));
            }
        }
        assert_eq!(ScoreKind::LogLoss.merit(&known), -ScoreKind::LogLoss.of(&known));
        let text = serde_json::to_string(&known).unwrap();
        assert_eq!(serde_json::from_str::<Scores>(&text).unwrap(), known);
    }

    #[test]
    fn wrong_input_is_an_error() {
        let logs = Mat::from_fn(2, 2, |_, _| 0.5_f64.ln());
        assert!(scores_of(&[], &[], 2, None).is_err());
        assert!(scores_of(&[0, 1], &[0], 2, None).is_err());
        assert!(scores_of(&[0, 2], &[0, 1], 2, None).is_err());
        assert!(scores_of(&[0, 1], &[0, 2], 2, None).is_err());
        assert!(scores_of(&[0, 1], &[0, 1], 3, Some(logs.as_ref())).is_err());
        assert!(scores_of(&[0], &[0], 2, Some(logs.as_ref())).is_err());
        for bad in [f64::NAN, 0.1] {
            assert!(scores_of(&[0, 1], &[0, 1], 2, Some(mat![[bad, 0.0], [0.0, 0.0]].as_ref())).is_err());
        }
    }
}
