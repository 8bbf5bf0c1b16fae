//! Confidence intervals that are honest for repeated cross-validation.
//!
//! Repeats test the same samples again, so they say nothing new about other samples. The unit is therefore the sample, not the
//! decision, and each unit has the fraction of its decisions that are right. Where samples are in groups, a group is one unit. Decisions
//! also share training samples; as many units as a training part has make up for that. So ten repeats of 5 folds of 75 samples have 60
//! units.
//!
//! | score | interval |
//! |---|---|
//! | rate, recall | Wilson's |
//! | balanced accuracy | Wilson's, with c²/Σ(1/n) units for c classes of n units |
//! | AUC | Newcombe's fifth method, per class; the ends are averaged, since the same samples serve all classes |
//! | log loss | Student's t over the samples |
//!
//! All have 95 %. None of them shrinks to a point when every decision is right, as a bootstrap or a t interval over folds would.

use super::Interval;

/// The 97.5 % point of the normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// Wilson's interval of a fraction of `units`, which may be the mean of fractions.
pub(super) fn wilson(fraction: f64, units: f64) -> Interval {
    let (n, z2) = (units.max(1.0), Z * Z);
    let centre = (fraction + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let half = Z / (1.0 + z2 / n) * (fraction * (1.0 - fraction) / n + z2 / (4.0 * n * n)).max(0.0).sqrt();
    // Rounding must not push an end beyond the estimate.
    let (low, high) = ((centre - half).max(0.0).min(fraction), (centre + half).min(1.0).max(fraction));
    Interval { mean: fraction, low, high }
}

/// The interval of the mean of the recalls of classes with so many units each. If all recalls were equal, this mean would vary as a
/// fraction of c²/Σ(1/units) units does. Combining the intervals of the recalls instead (MOVER) covered less, always at the upper end.
pub(super) fn balanced(recalls: &[(f64, f64)]) -> Interval {
    let count = recalls.len().max(1) as f64;
    let mean = recalls.iter().map(|(recall, _)| recall).sum::<f64>() / count;
    let reciprocals: f64 = recalls.iter().map(|(_, units)| 1.0 / units.max(1.0)).sum();
    wilson(mean, count * count / reciprocals)
}

/// The interval of the mean of estimates that may depend on each other.
pub(super) fn mean_of_dependent(parts: &[Interval]) -> Interval {
    let mean = |end: fn(&Interval) -> f64| parts.iter().map(end).sum::<f64>() / parts.len().max(1) as f64;
    Interval { mean: mean(|part| part.mean), low: mean(|part| part.low), high: mean(|part| part.high) }
}

/// Newcombe's interval of an area under the curve, of so many units inside and outside of a class: the areas θ that are no further from
/// the estimate than Z times the standard error that Hanley and McNeil give for θ.
pub(super) fn auc(area: f64, inside: f64, outside: f64) -> Interval {
    let (m, n) = (inside.max(1.0), outside.max(1.0));
    let half = (m + n) / 2.0 - 1.0;
    let variance = |t: f64| t * (1.0 - t) * (1.0 + half * ((1.0 - t) / (2.0 - t) + t / (1.0 + t))) / (m * n);
    let within = |t: f64| (t - area).powi(2) <= Z * Z * variance(t);
    // The distance grows and the variance falls towards the ends, so that one boundary lies on either side.
    let boundary = |mut outer: f64| {
        let mut inner = area;
        if within(outer) {
            return outer;
        }
        for _ in 0..100 {
            let middle = 0.5 * (inner + outer);
            if within(middle) { inner = middle } else { outer = middle }
        }
        inner
    };
    // At an area of 0 or 1 the variance of the estimate itself is 0: the search begins a little inside.
    Interval { mean: area, low: boundary(0.0), high: boundary(1.0) }
}

/// Student's interval of a mean of `units` units with these values.
pub(super) fn student(values: &[f64], units: f64) -> Interval {
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    if values.len() < 2 {
        return Interval { mean, low: f64::NEG_INFINITY, high: f64::INFINITY };
    }
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let half = student_point(units - 1.0) * (variance / units.max(1.0)).sqrt();
    Interval { mean, low: mean - half, high: mean + half }
}

/// The 97.5 % point of Student's distribution: Hill's expansion around the normal one; exact to four digits from 3 degrees on.
fn student_point(degrees: f64) -> f64 {
    if degrees < 1.5 {
        return 12.706_205;
    }
    if degrees < 2.5 {
        return 4.302_653;
    }
    let (z, v) = (Z, degrees);
    let z3 = z.powi(3);
    let (z5, z7, z9) = (z.powi(5), z.powi(7), z.powi(9));
    z + (z3 + z) / (4.0 * v)
        + (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * v * v)
        + (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * z) / (384.0 * v.powi(3))
        + (79.0 * z9 + 776.0 * z7 + 1482.0 * z5 - 1920.0 * z3 - 945.0 * z) / (92160.0 * v.powi(4))
}

/// Clopper and Pearson's 95 % interval of a probability, after `hits` of `trials`.
pub(super) fn exact(hits: usize, trials: usize) -> (f64, f64) {
    if trials == 0 {
        return (0.0, 1.0);
    }
    // P(at least `hits`) rises with the probability, P(at most `hits`) falls.
    let low = if hits == 0 { 0.0 } else { root(|q| 1.0 - at_most(hits - 1, trials, q) > 0.025) };
    let high = if hits == trials { 1.0 } else { root(|q| at_most(hits, trials, q) < 0.025) };
    (low, high)
}

/// Where `reached` becomes true between 0 and 1.
fn root(reached: impl Fn(f64) -> bool) -> f64 {
    let (mut below, mut above) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (below + above);
        if reached(middle) { above = middle } else { below = middle }
    }
    0.5 * (below + above)
}

/// P(X ≤ k) of a binomial distribution.
fn at_most(k: usize, n: usize, q: f64) -> f64 {
    let (mut sum, mut log) = (0.0, n as f64 * (-q).ln_1p());
    for i in 0..=k {
        sum += log.exp();
        log += ((n - i) as f64 / (i + 1) as f64).ln() + q.ln() - (-q).ln_1p();
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 2e-4
    }

    #[test]
    fn wilson_is_that_of_the_textbooks() {
        // statsmodels 0.14: proportion_confint(45, 50, method="wilson"), (0, 10), (10, 10)
        for (right, n, low, high) in
            [(45.0, 50.0, 0.7864, 0.9565), (0.0, 10.0, 0.0, 0.2775), (10.0, 10.0, 0.7225, 1.0)]
        {
            let found = wilson(right / n, n);
            assert!(close(found.low, low) && close(found.high, high), "{found:?}");
        }
    }

    #[test]
    fn equal_classes_are_one_sample_and_small_ones_widen_the_interval() {
        assert_eq!(balanced(&[(0.8, 20.0), (0.8, 20.0)]), wilson(0.8, 40.0));
        let small = balanced(&[(0.8, 35.0), (0.8, 5.0)]);
        assert!(small.high - small.low > 1.3 * (wilson(0.8, 40.0).high - wilson(0.8, 40.0).low));
        let part = Interval { mean: 0.5, low: 0.4, high: 0.6 };
        assert_eq!(mean_of_dependent(&[part; 4]), part);
    }

    #[test]
    fn the_interval_of_an_area_solves_its_equation() {
        for (area, m, n) in [(0.8, 20.0, 30.0), (0.5, 10.0, 10.0), (1.0, 15.0, 40.0), (0.0, 8.0, 9.0)] {
            let found = auc(area, m, n);
            assert!(0.0 <= found.low && found.low <= area && area <= found.high && found.high <= 1.0);
            for end in
                [found.low, found.high].into_iter().filter(|&end| end > 0.0 && end < 1.0 && end != area)
            {
                let q1 = end / (2.0 - end);
                let q2 = 2.0 * end * end / (1.0 + end);
                let half = (m + n) / 2.0 - 1.0;
                let hanley =
                    (end * (1.0 - end) + half * (q1 - end * end) + half * (q2 - end * end)) / (m * n);
                assert!(((end - area).powi(2) / hanley - Z * Z).abs() < 1e-6, "{area} {end}");
            }
        }
        assert!(auc(1.0, 15.0, 40.0).low > 0.8 && auc(1.0, 15.0, 40.0).low < 1.0);
    }

    #[test]
    fn students_points_are_those_of_the_tables() {
        for (degrees, point) in [(1.0, 12.7062), (2.0, 4.3027), (5.0, 2.5706), (10.0, 2.2281), (71.0, 1.9939)]
        {
            assert!((student_point(degrees) - point).abs() < 2e-3, "{degrees}");
        }
        let found = student(&[1.0, 2.0, 3.0, 4.0, 5.0], 5.0);
        assert!((found.high - 3.0 - 2.776 * (2.5_f64 / 5.0).sqrt()).abs() < 0.01, "{found:?}");
    }

    #[test]
    fn exact_intervals_are_those_of_clopper_and_pearson() {
        // scipy 1.16: binomtest(k, n).proportion_ci(method="exact")
        for (hits, trials, low, high) in [
            (0, 99, 0.0, 0.03658),
            (5, 100, 0.01643, 0.11283),
            (20, 40, 0.33801, 0.66199),
            (7, 7, 0.59038, 1.0),
        ] {
            let found = exact(hits, trials);
            assert!(close(found.0, low) && close(found.1, high), "{found:?}");
        }
    }
}
