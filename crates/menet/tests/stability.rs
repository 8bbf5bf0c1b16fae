//! Stability selection finds what is there, keeps false selections within its bounds, and measures stability as the papers do.

use crate::common;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use faer::Mat;
use menet::evaluate::subset;
use menet::refit::Refit;
use menet::stability::{Stability, StabilityParams, bounds, entry_order, fit_on, half_samples, select};
use menet::{Dataset, Error, MenParams, Monitor, Neighborhood, Prepared};
use rand::RngExt;
use rand::seq::SliceRandom;

/// Synthetic samples of which the truth is known.
struct DrawnSamples {
    x: Mat<f64>,
    labels: Vec<usize>,
    /// The variables that differ between classes.
    truth: BTreeSet<usize>,
}

/// Samples in `classes` classes of equal size, of p variables with variance 1 within classes. `signals` variables at random places are
/// true: each is larger by `shift` in one class, the classes taking turns, and its noise is its own. All others are noise in blocks of ten
/// with correlation ½. True variables are in no block, since a variable that shares the noise of a true one helps to tell classes apart,
/// and would not be a false selection.
fn draw(seed: u64, n: usize, p: usize, classes: usize, signals: usize, shift: f64) -> DrawnSamples {
    const BLOCK: usize = 10;
    let rng = &mut common::rng(seed);
    let labels: Vec<usize> = (0..n).map(|i| i % classes).collect();
    let mut places: Vec<usize> = (0..p).collect();
    places.shuffle(rng);
    let mut x = Mat::zeros(n, p);
    for i in 0..n {
        for (k, &j) in places[..signals].iter().enumerate() {
            x[(i, j)] = common::normal(rng) + if k % classes == labels[i] { shift } else { 0.0 };
        }
        for block in places[signals..].chunks(BLOCK) {
            let shared = common::normal(rng);
            for &j in block {
                x[(i, j)] = 0.5f64.sqrt() * (shared + common::normal(rng));
            }
        }
    }
    DrawnSamples { x, labels, truth: places[..signals].iter().copied().collect() }
}

/// How many true and how many false variables are stable, and the bounds without and with unimodality.
fn selections(drawn: &DrawnSamples, how: &StabilityParams) -> (usize, usize, f64, f64) {
    let data = Dataset::new(drawn.x.as_ref(), &drawn.labels).unwrap();
    let found = select(&data, &MenParams::default(), how, &(), &|_, _| {}).unwrap();
    let right = found.stable.iter().filter(|j| drawn.truth.contains(j)).count();
    (right, found.stable.len() - right, found.bounds.meinshausen_buhlmann, found.bounds.unimodal)
}

/// Mean numbers of true and false selections over repeats, and the bounds.
fn mean_selections(
    repeats: u64,
    how: &StabilityParams,
    drawn: impl Fn(u64) -> DrawnSamples,
) -> (f64, f64, f64, f64) {
    let (mut right, mut wrong, mut worst, mut unimodal) = (0.0, 0.0, 0.0, 0.0);
    for seed in 0..repeats {
        let (r, w, mb, um) = selections(&drawn(seed), how);
        right += r as f64 / repeats as f64;
        wrong += w as f64 / repeats as f64;
        (worst, unimodal) = (mb, um);
    }
    (right, wrong, worst, unimodal)
}

#[test]
fn ten_true_variables_among_five_thousand_are_found() {
    for (classes, shift) in [(2, 1.2), (4, 1.6)] {
        let how = StabilityParams::default().with(|it| it.pairs = 25);
        let (right, wrong, ..) = selections(&draw(1, 200, 5_000, classes, 10, shift), &how);
        assert!(right >= 9 && wrong <= 1, "{classes} classes: {right} true and {wrong} false selections");
    }
}

#[test]
fn false_selections_stay_within_the_bounds() {
    let how = StabilityParams::default().with(|it| it.pairs = 15);
    // With signal, and without any, where whatever is selected is false; also at a size at which more are to be expected.
    for (signals, threshold, size) in [(5, 0.75, None), (0, 0.75, None), (0, 0.6, Some(40))] {
        let how = how.clone().with(|it| (it.threshold, it.size) = (threshold, size));
        let (right, wrong, worst, unimodal) =
            mean_selections(30, &how, |seed| draw(seed, 60, 300, 3, signals, 2.0));
        assert!(
            wrong <= unimodal && unimodal <= worst,
            "{wrong} false selections, bounds {unimodal} and {worst}"
        );
        assert!(right >= 0.9 * signals as f64, "{right} of {signals}");
        assert!(size.is_none() || wrong > 0.0, "a test that cannot fail");
    }
}

/// The whole of it, as the documentation has it: `cargo test --release --workspace --test all -- --ignored --nocapture stability`.
#[test]
#[ignore = "takes minutes"]
fn soak() {
    for (classes, shift) in [(2, 1.2), (3, 1.4), (4, 1.6)] {
        let (mut least, mut most, mut sum, mut bound) = (10, 0, 0.0, 0.0);
        for seed in 0..100 {
            let drawn = draw(seed, 200, 5_000, classes, 10, shift);
            let (right, wrong, _, unimodal) = selections(&drawn, &StabilityParams::default());
            (least, most) = (least.min(right), most.max(wrong));
            (sum, bound) = (sum + wrong as f64, unimodal);
        }
        let mean = sum / 100.0;
        println!(
            "{classes} classes: at least {least} of 10 true variables, at most {most} others, {mean} on average"
        );
        assert!(least >= 9 && most <= 1 && mean <= bound, "{least}, {most}, {mean}, bound {bound}");
    }
}

/// The index and its variance by plain loops over a matrix of zeros and ones: Nogueira, Sechidis and Brown (2018), Definition 4 and
/// Theorem 7 with Corollary 9.
fn nogueira(p: usize, panels: &[Vec<usize>]) -> (f64, f64) {
    let m = panels.len();
    let mut z = vec![vec![0.0; p]; m];
    for (i, panel) in panels.iter().enumerate() {
        for &j in panel {
            z[i][j] = 1.0;
        }
    }
    let mut mean = vec![0.0; p];
    let mut sizes = vec![0.0; m];
    for i in 0..m {
        for j in 0..p {
            mean[j] += z[i][j] / m as f64;
            sizes[i] += z[i][j];
        }
    }
    let k_bar = sizes.iter().sum::<f64>() / m as f64;
    let d = p as f64;
    let mut variances = 0.0;
    for j in 0..p {
        // The unbiased sample variance of a column.
        let mut squares = 0.0;
        for row in &z {
            squares += (row[j] - mean[j]).powi(2);
        }
        variances += squares / (m as f64 - 1.0);
    }
    let chance = k_bar / d * (1.0 - k_bar / d);
    let phi = 1.0 - variances / d / chance;
    let mut phis = vec![0.0; m];
    for i in 0..m {
        let mut overlap = 0.0;
        for j in 0..p {
            overlap += z[i][j] * mean[j];
        }
        let correction = 2.0 * k_bar * sizes[i] / (d * d) - sizes[i] / d - k_bar / d + 1.0;
        phis[i] = (overlap / d - sizes[i] * k_bar / (d * d) + phi / 2.0 * correction) / chance;
    }
    let phi_bar = phis.iter().sum::<f64>() / m as f64;
    let squares: f64 = phis.iter().map(|x| (x - phi_bar).powi(2)).sum();
    (phi, 4.0 / (m as f64).powi(2) * squares)
}

fn random_orders(seed: u64, p: usize, panels: usize, longest: usize) -> Vec<Vec<usize>> {
    let rng = &mut common::rng(seed);
    let one = |_| {
        let mut all: Vec<usize> = (0..p).collect();
        all.shuffle(rng);
        // Some lists are shorter, so that sizes differ.
        all.truncate(longest - rng.random_range(0..3));
        all
    };
    (0..panels).map(one).collect()
}

#[test]
fn the_index_is_nogueiras() {
    for (seed, p, panels) in [(0, 30, 4), (1, 12, 20), (2, 100, 50)] {
        let mut orders = random_orders(seed, p, panels, 9);
        // Half of them begin alike.
        for order in orders.iter_mut().step_by(2) {
            order.retain(|&j| j > 3);
            order.splice(0..0, [3, 0, 2]);
        }
        let stability = Stability::new(p, orders).unwrap();
        for size in 1..=9 {
            let (value, variance) = nogueira(p, &stability.selected(size));
            let found = stability.index(size);
            assert!((found.value - value).abs() < 1e-12, "{} and {value}", found.value);
            let margin = 1.959_963_984_540_054 * variance.sqrt();
            assert!((found.low - (value - margin).max(-1.0 / (panels as f64 - 1.0))).abs() < 1e-12);
            assert!((found.high - (value + margin).min(1.0)).abs() < 1e-12);
        }
    }
}

#[test]
fn panels_at_random_have_index_zero() {
    for size in [1, 5, 20] {
        let values: Vec<f64> = (0..200)
            .map(|seed| Stability::new(40, random_orders(seed, 40, 10, 23)).unwrap().index(size).value)
            .collect();
        let mean = values.iter().sum::<f64>() / 200.0;
        let deviation = (values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 199.0).sqrt();
        assert!(mean.abs() < 4.0 * deviation / 200f64.sqrt(), "{mean} at size {size}");
    }
}

/// The level at which every variable is first nonzero on some axis, by reading whole paths just below every knot.
fn first_levels(data: &Dataset<'_>, params: &MenParams) -> Vec<f64> {
    let neighborhood = Neighborhood::new(data, params, &()).unwrap();
    let prepared = Prepared::new(data, params, &neighborhood, &()).unwrap();
    let solved = prepared.solve_to(params, data.variables(), &()).unwrap();
    let mut first = vec![0.0f64; data.variables()];
    for path in solved.paths() {
        for pair in path.knots().windows(2) {
            let below = pair[0].level - 1e-6 * (pair[0].level - pair[1].level);
            for &j in path.at_lambda(below).unwrap().coefficients.indices() {
                first[j] = first[j].max(pair[0].level);
            }
        }
    }
    first
}

#[test]
fn the_order_of_entry_is_that_of_the_levels_on_any_axis() {
    for classes in [2, 4] {
        let drawn = draw(5, 48, 90, classes, 6, 1.5);
        let data = Dataset::new(drawn.x.as_ref(), &drawn.labels).unwrap();
        let params = MenParams::default();
        let all = entry_order(&data, &params, 1_000, &()).unwrap();
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len(), "distinct");
        let levels = first_levels(&data, &params);
        assert!(all.is_sorted_by(|&a, &b| levels[a] >= levels[b]));
        assert_eq!(all.len(), levels.iter().filter(|&&level| level > 0.0).count());
        // What is stopped early begins as what is not.
        for most in [1, 2, 7, 30, 60, all.len()] {
            assert_eq!(
                entry_order(&data, &params, most, &()).unwrap(),
                all[..most],
                "{classes} classes, {most}"
            );
        }
        // What comes after the paths has no effect.
        let other = params
            .with(|it| (it.nonzeros, it.panel_size, it.refit.kind) = (Some(2), Some(1), Some(Refit::Axis)));
        assert_eq!(entry_order(&data, &other, 30, &()).unwrap(), all[..30]);
    }
}

#[test]
fn ties_go_by_axis_and_variable_and_free_variables_are_not_listed() {
    let drawn = draw(6, 40, 30, 2, 3, 2.0);
    // Every variable twice.
    let x = Mat::from_fn(40, 60, |i, j| drawn.x[(i, j / 2)]);
    let data = Dataset::new(x.as_ref(), &drawn.labels).unwrap();
    let params = MenParams::default();
    let order = entry_order(&data, &params, 11, &()).unwrap();
    assert_eq!(order.len(), 11);
    for pair in order.chunks_exact(2) {
        assert!(pair[0] % 2 == 0 && pair[1] == pair[0] + 1, "{order:?}");
    }
    let mut factors = vec![1.0; 60];
    (factors[order[0]], factors[order[1]]) = (0.0, f64::INFINITY);
    let order_without =
        entry_order(&data, &params.with(|it| it.penalty.factors = Some(factors)), 11, &()).unwrap();
    assert_eq!(order_without.len(), 11);
    assert!(!order_without.contains(&order[0]) && !order_without.contains(&order[1]));
}

#[test]
fn a_model_on_given_variables_has_these_as_its_panel() {
    let drawn = draw(7, 60, 80, 4, 8, 2.0);
    let data = Dataset::new(drawn.x.as_ref(), &drawn.labels).unwrap();
    let variables: Vec<usize> = drawn.truth.iter().rev().copied().collect();
    let sorted: Vec<usize> = drawn.truth.iter().copied().collect();
    for refit in [Refit::None, Refit::Axis, Refit::Panel, Refit::Discriminant] {
        let params = MenParams::default()
            .with(|it| (it.refit.kind, it.nonzeros, it.panel_size) = (Some(refit), Some(1), Some(2)));
        let men = fit_on(&data, &variables, &params, &()).unwrap();
        assert_eq!(men.panel(), sorted, "{refit:?}");
        let table = men.panel_table();
        assert_eq!(table.iter().map(|row| row.variable).collect::<BTreeSet<_>>(), drawn.truth);
        assert!(table.iter().all(|row| row.entered.is_some() && row.effect.is_some() && row.class.is_some()));
        assert_eq!(men.projection().variables(), 80);
        assert_eq!(men.doubts(), Vec::<String>::new());
        let z = men.transform(drawn.x.as_ref()).unwrap();
        let given = men.rule().unwrap().classify(z.as_ref()).unwrap();
        let right = given.iter().zip(&drawn.labels).filter(|(a, b)| a == b).count();
        assert!(right > 45, "{refit:?}: {right} of 60");
        // One variable, and one that is free beside it.
        assert_eq!(fit_on(&data, &sorted[..1], &params, &()).unwrap().panel(), sorted[..1]);
        let mut factors = vec![1.0; 80];
        (factors[sorted[1]], factors[sorted[2]]) = (0.0, f64::INFINITY);
        let params = params.with(|it| it.penalty.factors = Some(factors));
        assert_eq!(fit_on(&data, &sorted[..1], &params, &()).unwrap().panel(), sorted[..2]);
        let message = |variables: &[usize]| fit_on(&data, variables, &params, &()).unwrap_err().to_string();
        assert!(message(&[]).contains("no variable is stable"));
        assert!(message(&[3, 80]).contains("80") && message(&[3, 3]).contains("distinct"));
        assert!(message(&sorted[2..3]).contains("finite penalty factor"));
    }
}

#[test]
fn select_is_its_parts_and_does_not_depend_on_threads() {
    let drawn = draw(8, 50, 200, 3, 4, 2.0);
    let data = Dataset::new(drawn.x.as_ref(), &drawn.labels).unwrap();
    let params = MenParams::default();
    let groups: Vec<usize> = (0..50).map(|i| i / 2).collect();
    for groups in [None, Some(groups)] {
        let how = StabilityParams::default()
            .with(|it| (it.pairs, it.most, it.seed, it.groups) = (6, 30, 9, groups.clone()));
        let calls = AtomicUsize::new(0);
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let progress = |done: usize, total: usize| {
                assert!(1 <= done && done <= total && total == 12);
                calls.fetch_add(1, Ordering::Relaxed);
            };
            pool.install(|| select(&data, &params, &how, &(), &progress).unwrap())
        };
        let found = run(1);
        assert_eq!(found, run(3));
        assert_eq!(calls.into_inner(), 24);
        let halves = half_samples(&data, 6, groups.as_deref(), 9).unwrap();
        let orders: Vec<Vec<usize>> = halves
            .iter()
            .map(|rows| entry_order(&subset(&data, rows).unwrap(), &params, 30, &()).unwrap())
            .collect();
        assert_eq!(found.stability, Stability::new(200, orders).unwrap());
        assert_eq!(found.size, menet::stability::size_for(1.0, 0.75, 200, 6).unwrap());
        assert_eq!(found.stable, found.stability.stable(found.size, 0.75));
        assert_eq!(found.index, found.stability.index(found.size));
        assert_eq!(found.bounds, bounds(0.75, found.size as f64, 200, 6).unwrap());
        assert!(drawn.truth.iter().all(|j| found.stable.contains(j)), "{:?}", found.stable);
    }
}

#[test]
fn wishes_that_cannot_be_met_are_refused() {
    let drawn = draw(9, 20, 15, 2, 2, 2.0);
    let data = Dataset::new(drawn.x.as_ref(), &drawn.labels).unwrap();
    let refused = |change: fn(&mut StabilityParams)| {
        let how = StabilityParams::default().with(|it| it.pairs = 2).with(change);
        select(&data, &MenParams::default(), &how, &(), &|_, _| {}).unwrap_err().to_string()
    };
    assert!(refused(|it| it.pairs = 0).contains("`pairs` is 0"));
    assert!(refused(|it| it.most = 0).contains("`most` is 0"));
    assert!(refused(|it| it.threshold = 0.5).contains("above 0.5"));
    assert!(refused(|it| it.false_selections = -1.0).contains("`false_selections`"));
    assert!(refused(|it| it.size = Some(101)).contains("from 1 to 100"));
    assert!(refused(|it| it.groups = Some(vec![0; 20])).contains("`groups`"));
    let alone = subset(&data, &[0]).unwrap();
    let found = select(&alone, &MenParams::default(), &StabilityParams::default(), &(), &|_, _| {});
    assert!(matches!(found, Err(Error::Classes { found: 1, samples: 1 })));
    let all = StabilityParams::default().with(|it| (it.pairs, it.size, it.threshold) = (2, Some(90), 0.6));
    let found = select(&data, &MenParams::default(), &all, &(), &|_, _| {}).unwrap();
    assert_eq!(found.size, 15, "no more than there are");

    struct StopsAtOnce;
    impl Monitor for StopsAtOnce {
        fn stop(&self) -> bool {
            true
        }
    }
    let stopped = select(&data, &MenParams::default(), &all, &StopsAtOnce, &|_, _| {});
    assert!(matches!(stopped, Err(Error::Stopped { .. })));
}
