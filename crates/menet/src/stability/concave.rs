//! The largest tail of an r-concave distribution with a given mean.
//!
//! A distribution on {0, 1, …, B} with probabilities f is r-concave, for r < 0, if `g = f^r` is convex where f is positive. With
//! `s = −1/r`, `f = g^(−s)`. Log-concave distributions are r-concave for every r < 0, and all r-concave ones are unimodal.
//!
//! We look for the maximum of `P(X ≥ t)` for `E X = μ`, μ at most t/2. For such a small mean, the mode of the maximiser is at 0. Up to a
//! point g is as small as convexity allows, and beyond it g is infinite. So g is linear on {0, …, k}, with any value above its
//! continuation at k + 1:
//!
//! ```text
//! f(i) = c (1 + u i)^(−s)  for i ≤ k,     f(k+1) = m ≤ c (1 + u (k+1))^(−s)
//! ```
//!
//! The total and the mean give c and m for every slope u and end k. For m = 0 the mean of the first k + 1 values is μ, which gives the
//! smallest slope of an end, and the largest one of the end before. So the search is over one interval of slopes per end.

/// How many slopes are tried per end before the search narrows.
const TRIED: usize = 12;

/// Steps of the searches for a slope; each takes at least a third of the interval away.
const STEPS: usize = 60;

/// The largest `P(X ≥ at/b)` of an r-concave X on {0, 1/b, …, 1} with mean at most `mean`; `s` = −1/r. Where the mean is above half of
/// `at/b`, Markov's bound, which is not smaller.
pub(super) fn largest_tail(mean: f64, at: usize, b: usize, s: i32) -> f64 {
    let (mu, t) = (mean * b as f64, at as f64);
    if 2.0 * mu > t {
        return (mu / t).min(1.0);
    }
    if mu <= 0.0 {
        return 0.0;
    }
    let mut best: f64 = 0.0;
    let mut low = slope(mu, at - 1, s);
    for k in at - 1..b {
        let high = slope(mu, k + 1, s);
        let tail = |u: f64| tail(u, k, mu, at, s);
        let place = |step: usize| low + (high - low) * step as f64 / TRIED as f64;
        let at_best = (0..=TRIED).max_by(|&i, &j| tail(place(i)).total_cmp(&tail(place(j)))).unwrap_or(0);
        best = best.max(tail(place(at_best)));
        let (mut left, mut right) = (place(at_best.saturating_sub(1)), place((at_best + 1).min(TRIED)));
        for _ in 0..STEPS {
            let third = (right - left) / 3.0;
            let (x, y) = (tail(left + third), tail(right - third));
            best = best.max(x).max(y);
            if x < y { left += third } else { right -= third }
        }
        low = high;
    }
    best.min(1.0)
}

/// The slope with which the values 0 to `k` alone have the mean `mu`: 0, the uniform distribution, if they have no larger one.
fn slope(mu: f64, k: usize, s: i32) -> f64 {
    let mean = |u: f64| {
        let (total, first) = moments(u, k, s);
        first / total
    };
    if mean(0.0) <= mu {
        return 0.0;
    }
    let mut high = 1.0;
    while mean(high) > mu && high < 1e100 {
        high *= 2.0;
    }
    let mut low = 0.0;
    for _ in 0..2 * STEPS {
        let middle = 0.5 * (low + high);
        if mean(middle) > mu { low = middle } else { high = middle }
    }
    high
}

/// `P(X ≥ at)` for this slope and this end.
fn tail(u: f64, k: usize, mu: f64, at: usize, s: i32) -> f64 {
    let (total, first) = moments(u, k, s);
    let end = (k + 1) as f64;
    let c = (end - mu) / (end * total - first);
    let m = ((mu - c * first) / end).max(0.0);
    c * (at..=k).map(|i| (1.0 + u * i as f64).powi(-s)).sum::<f64>() + m
}

/// `Σ (1 + u i)^(−s)` and `Σ i (1 + u i)^(−s)` for i up to `k`.
fn moments(u: f64, k: usize, s: i32) -> (f64, f64) {
    let weights = (0..=k).map(|i| (i as f64, (1.0 + u * i as f64).powi(-s)));
    weights.fold((0.0, 0.0), |(total, first), (i, weight)| (total + weight, first + i * weight))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The probabilities `g^(−s)` of a convex g with value 1 at 0, these second differences and that slope; none where g is not positive.
    fn probabilities(slope: f64, bends: &[f64], s: i32) -> Option<Vec<f64>> {
        let mut g = vec![1.0];
        let mut rise = slope;
        for place in 0..=bends.len() {
            g.push(g[place] + rise);
            rise += bends.get(place).copied().unwrap_or(0.0);
        }
        if g.iter().any(|&g| g <= 0.0) {
            return None;
        }
        let total: f64 = g.iter().map(|g| g.powi(-s)).sum();
        Some(g.iter().map(|g| g.powi(-s) / total).collect())
    }

    /// `P(X ≥ at)` with the slope that makes the mean `mu`: the larger the slope, the smaller the mean.
    fn tail_of(bends: &[f64], mu: f64, at: usize, s: i32) -> f64 {
        let mean = |slope: f64| {
            let f = probabilities(slope, bends, s);
            f.map_or(f64::INFINITY, |f| f.iter().enumerate().map(|(i, f)| i as f64 * f).sum::<f64>())
        };
        let (mut low, mut high) = (-1e9, 1e9);
        for _ in 0..140 {
            let middle = 0.5 * (low + high);
            if mean(middle) > mu { low = middle } else { high = middle }
        }
        probabilities(high, bends, s).map_or(0.0, |f| f[at..].iter().sum())
    }

    /// The largest tail over convex functions, by a search along the second differences that knows nothing of the maximiser's form.
    fn searched(mean: f64, at: usize, b: usize, s: i32) -> f64 {
        let mu = mean * b as f64;
        let sizes: Vec<f64> =
            std::iter::once(0.0).chain((-6..=12).map(|e| 10f64.powf(e as f64 / 2.0))).collect();
        let mut best = 0.0;
        for start in [0.0, 0.1, 10.0] {
            let mut bends = vec![start; b - 1];
            let mut now = tail_of(&bends, mu, at, s);
            let (mut factor, mut coarse) = (2.0, true);
            while factor > 1.0 + 1e-7 {
                let before = now;
                for place in 0..bends.len() {
                    let old = bends[place];
                    let tries = if coarse { sizes.clone() } else { vec![old * factor, old / factor] };
                    for size in tries {
                        let kept = std::mem::replace(&mut bends[place], size);
                        let tail = tail_of(&bends, mu, at, s);
                        if tail > now { now = tail } else { bends[place] = kept }
                    }
                }
                if now <= before * (1.0 + 1e-9) {
                    (coarse, factor) = (false, if coarse { factor } else { 1.0 + (factor - 1.0) / 2.0 });
                }
            }
            best = now.max(best);
        }
        best
    }

    #[test]
    fn it_is_the_maximum_over_all_convex_functions() {
        let mut compared = 0;
        for b in [3, 6] {
            for at in 1..=b {
                for mean in [0.001, 0.02, 0.1, 0.2, 0.4] {
                    for s in [2, 4] {
                        if 2.0 * mean * b as f64 > at as f64 {
                            continue;
                        }
                        let (found, searched) = (largest_tail(mean, at, b, s), searched(mean, at, b, s));
                        assert!(
                            searched <= found * (1.0 + 1e-6),
                            "{b} {at} {mean} {s}: {found} < {searched}"
                        );
                        assert!(searched >= found * 0.99, "{b} {at} {mean} {s}: {found} > {searched}");
                        compared += 1;
                    }
                }
            }
        }
        assert!(compared > 40);
    }
}
