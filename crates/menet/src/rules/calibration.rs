//! How sure a rule is: its temperature T, from samples left out in turn.
//!
//! With scores `s_c` of a left-out sample, the rule says `log p_c = s_c / T − log Σ exp(s / T)`. T minimises the log loss
//!
//! ```text
//! − Σ over samples dᵢ Σ_c t_c log p_c
//! ```
//!
//! which is convex in 1/T; d is the weight of a sample. The targets t are Platt's: with m samples in the own class (or the sum of their weights), `(m + 1)/(m + 2)` for it and the rest
//! for the best of the others. Samples that are perfectly separated therefore do not drive T to 0. (Spreading the rest over all other
//! classes asks for probabilities of classes that are out of the question, and makes rules of many classes unsure.)

use rayon::prelude::*;

/// Most samples that are left out in turn.
const TRIALS: usize = 2000;

/// Bounds of 1/T, relative to the median spread of the scores of a sample.
const BLUNTEST: f64 = 1e-3;
const SHARPEST: f64 = 1e4;

/// A left-out sample: its class, and the scores of all classes without it.
#[derive(Debug)]
pub(super) struct Trial {
    pub(super) own: usize,
    /// How much it counts.
    pub(super) weight: f64,
    pub(super) scores: Vec<f64>,
}

/// At most `most` of `0..n`, evenly spaced.
pub(super) fn spaced(n: usize, most: usize) -> Vec<usize> {
    let count = n.min(most);
    (0..count).map(|k| k * n / count).collect()
}

/// The samples to leave out in turn: evenly spaced among those whose class has another.
pub(super) fn calibration_rows(counts: &[usize], classes: &[usize]) -> Vec<usize> {
    let usable: Vec<usize> = (0..classes.len()).filter(|&i| counts[classes[i]] > 1).collect();
    spaced(usable.len(), TRIALS).into_iter().map(|k| usable[k]).collect()
}

/// T, at least `least` where that is given; none if the trials cannot tell.
pub(super) fn temperature(trials: &[Trial], masses: &[f64], least: Option<f64>) -> Option<f64> {
    // Distances may be of any size: work in units of their spread.
    let spread = |trial: &Trial| {
        let range =
            trial.scores.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |r, &s| (s.min(r.0), s.max(r.1)));
        range.1 - range.0
    };
    let mut spreads: Vec<f64> = trials.iter().map(spread).filter(|&spread| spread > 0.0).collect();
    if spreads.is_empty() {
        return None;
    }
    spreads.sort_unstable_by(f64::total_cmp);
    let unit = spreads[spreads.len() / 2];
    let highest = least.map_or(SHARPEST, |least| unit / least);
    let lowest = BLUNTEST.min(highest);
    let known = TrialTerms::new(trials, masses, unit);
    let slopes = |sharpness: f64| known.slopes(sharpness);
    if slopes(highest).0 <= 0.0 {
        // Not a rounding error below `least`.
        return Some(least.unwrap_or(unit / highest));
    }
    if slopes(lowest).0 >= 0.0 {
        return Some((unit / lowest).max(least.unwrap_or(0.0)));
    }
    // Newton's method inside a bracket; where it leaves the bracket, the middle on a logarithmic scale.
    let (mut low, mut high) = (lowest, highest);
    let mut sharpness = 1.0_f64.clamp(low, high);
    for _ in 0..200 {
        let (first, second) = slopes(sharpness);
        if first > 0.0 {
            high = sharpness;
        } else {
            low = sharpness;
        }
        let newton = sharpness - first / second;
        let next = if newton > low && newton < high { newton } else { low.sqrt() * high.sqrt() };
        let step = (next - sharpness).abs();
        sharpness = next;
        if step <= 1e-12 * sharpness {
            break;
        }
    }
    Some((unit / sharpness).max(least.unwrap_or(0.0)))
}

/// What the derivatives of the loss need of every trial, whatever the temperature.
struct TrialTerms {
    classes: usize,
    /// The scores from the best one of their trial, in units: at most 0. The derivatives do not depend on where scores are counted from.
    x: Vec<f64>,
    /// What `x` should be on average over the classes, and how much the trial counts.
    wanted: Vec<(f64, f64)>,
}

/// Fewer trials than this are not worth several threads.
const FEW: usize = 256;

impl TrialTerms {
    fn new(trials: &[Trial], masses: &[f64], unit: f64) -> Self {
        let classes = trials.first().map_or(0, |trial| trial.scores.len());
        let (mut all, mut wanted) =
            (Vec::with_capacity(trials.len() * classes), Vec::with_capacity(trials.len()));
        for trial in trials {
            let best = trial.scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let from = all.len();
            all.extend(trial.scores.iter().map(|s| (s - best) / unit));
            let x = &all[from..];
            let m = masses[trial.own];
            let own = (m + 1.0) / (m + 2.0);
            let best_other = runner_up(x, trial.own).map_or(x[trial.own], |c| x[c]);
            wanted.push((own * x[trial.own] + (1.0 - own) * best_other, trial.weight));
        }
        TrialTerms { classes, x: all, wanted }
    }

    /// The first and second derivative of the loss by `unit / T`.
    fn slopes(&self, sharpness: f64) -> (f64, f64) {
        let add = |sum: (f64, f64), each: (f64, f64)| (sum.0 + each.0, sum.1 + each.1);
        let rows = || self.x.chunks_exact(self.classes);
        if self.wanted.len() < FEW {
            let mut p = vec![0.0; self.classes];
            let each = rows().zip(&self.wanted).map(|(x, &wanted)| slope(x, wanted, sharpness, &mut p));
            return each.fold((0.0, 0.0), add);
        }
        let each: Vec<(f64, f64)> = self
            .x
            .par_chunks_exact(self.classes)
            .zip(&self.wanted)
            .map_init(|| vec![0.0; self.classes], |p, (x, &wanted)| slope(x, wanted, sharpness, p))
            .collect();
        each.into_iter().fold((0.0, 0.0), add)
    }
}

/// The derivatives of one sample; `p` is room for its probabilities.
fn slope(x: &[f64], (wanted, weight): (f64, f64), sharpness: f64, p: &mut [f64]) -> (f64, f64) {
    // The best score is 0, so that nothing overflows.
    p.iter_mut().zip(x).for_each(|(p, x)| *p = if *x == 0.0 { 1.0 } else { (sharpness * x).exp() });
    let total: f64 = p.iter().sum();
    p.iter_mut().for_each(|p| *p /= total);
    let expected: f64 = x.iter().zip(&*p).map(|(x, p)| p * x).sum();
    // Scores may be large enough that their squares overflow; their probabilities are 0 then.
    let variance: f64 =
        x.iter().zip(&*p).filter(|&(_, &p)| p > 0.0).map(|(x, p)| p * (x - expected).powi(2)).sum();
    (weight * (expected - wanted), weight * variance)
}

/// The first place of the best score of the classes other than the own, if there are others.
fn runner_up(scores: &[f64], own: usize) -> Option<usize> {
    let others = (0..scores.len()).filter(|&c| c != own);
    others.reduce(|best, c| if scores[c] > scores[best] { c } else { best })
}

/// Subtracts `log Σ exp` from a row.
pub(super) fn log_softmax(row: &mut [f64]) {
    let Some(best) = (0..row.len()).max_by(|&a, &b| row[a].total_cmp(&row[b])) else { return };
    let most = row[best];
    // What is beside the largest, so that a probability near 1 keeps its distance from 1.
    let rest: f64 = (0..row.len()).filter(|&c| c != best).map(|c| (row[c] - most).exp()).sum();
    let rest = rest.ln_1p();
    row.iter_mut().for_each(|value| *value = (*value - most) - rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loss(trials: &[Trial], masses: &[f64], t: f64) -> f64 {
        let one = |trial: &Trial| {
            let mut p: Vec<f64> = trial.scores.iter().map(|s| s / t).collect();
            log_softmax(&mut p);
            let m = masses[trial.own];
            let other = runner_up(&trial.scores, trial.own).unwrap();
            -trial.weight * ((m + 1.0) * p[trial.own] + p[other]) / (m + 2.0)
        };
        trials.iter().map(one).sum()
    }

    #[test]
    fn the_temperature_minimises_the_log_loss() {
        let counts = [12.0, 11.0, 11.0];
        for (noise, scale) in [(0.0, 1.0), (1.0, 1e-60), (3.0, 1.0), (3.0, 1e90)] {
            let trials: Vec<Trial> = (0..34)
                .map(|i| {
                    let score = |c: usize| noise * ((i * 17 + c * 29 + i * i) % 23) as f64 / 23.0;
                    let scores = (0..3).map(|c| scale * (score(c) + f64::from(u8::from(c == i % 3))));
                    Trial { own: i % 3, weight: 0.5 + (i % 4) as f64, scores: scores.collect() }
                })
                .collect();
            let t = temperature(&trials, &counts, None).unwrap();
            let at = loss(&trials, &counts, t);
            for factor in [0.5, 0.99, 0.999, 1.001, 1.01, 2.0] {
                assert!(at < loss(&trials, &counts, factor * t), "{noise} {scale} {factor}");
            }
            assert_eq!(temperature(&trials, &counts, Some(7.0 * t)), Some(7.0 * t));
            let free = temperature(&trials, &counts, Some(0.5 * t)).unwrap();
            assert!((free / t - 1.0).abs() < 1e-9);
        }
        let equal = [Trial { own: 0, weight: 1.0, scores: vec![2.0; 3] }];
        assert_eq!(temperature(&equal, &counts, None), None);
        assert_eq!(temperature(&[], &counts, None), None);
    }

    #[test]
    fn scores_that_mislead_give_a_blunt_rule() {
        let trials = [Trial { own: 0, weight: 1.0, scores: vec![0.0, 2.0] }];
        assert_eq!(temperature(&trials, &[3.0, 3.0], None), Some(2.0 / BLUNTEST));
    }

    #[test]
    fn rows_are_spaced_and_usable() {
        assert_eq!(spaced(5, 10), [0, 1, 2, 3, 4]);
        assert_eq!(spaced(10, 4), [0, 2, 5, 7]);
        assert_eq!(calibration_rows(&[2, 1, 2], &[0, 1, 2, 0, 2]), [0, 2, 3, 4]);
    }

    #[test]
    fn a_row_is_normalised_at_any_scale() {
        for row in [vec![0.0; 4], vec![-1e290, 3.0, -800.0], vec![1e300, -1e300], vec![5.0], vec![-40.0, 0.0]]
        {
            let mut p = row.clone();
            log_softmax(&mut p);
            assert!(p.iter().all(|p| p.is_finite() && *p <= 0.0), "{row:?}: {p:?}");
            assert!((p.iter().map(|p| p.exp()).sum::<f64>() - 1.0).abs() < 1e-15);
        }
        let mut near = vec![-40.0, 0.0];
        log_softmax(&mut near);
        assert!(near[1] < 0.0, "1 − e⁻⁴⁰ is below 1");
    }
}
