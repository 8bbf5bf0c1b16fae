//! Best subsets: equal to brute force, never worse than the lasso's support, and what the flag says is true.

pub(crate) mod brute_force;
use crate::common::{column, correlate, gaussian, normal, rng};
use brute_force::BruteForce;
use faer::{Mat, MatMut, MatRef};
use menet::gram::{FactorGram, Gram};
use menet::lars::{EndReason, LarsOptions, Path, lars_path};
use menet::penalties::l0::{SplicingResult, splice};
use menet::{Error, Monitor};
use rand::RngExt;

/// Data whose neighbouring columns correlate by `rho`.
fn chained(rng: &mut impl RngExt, n: usize, p: usize, rho: f64) -> Mat<f64> {
    let mut x = gaussian(rng, n, p);
    for j in 1..p {
        for i in 0..n {
            x[(i, j)] = rho * x[(i, j - 1)] + (1.0 - rho * rho).sqrt() * x[(i, j)];
        }
    }
    x
}

/// A response of a few variables, and noise.
fn signal(rng: &mut impl RngExt, x: &Mat<f64>, count: usize, noise: f64) -> Vec<f64> {
    let chosen: Vec<(usize, f64)> =
        (0..count).map(|_| (rng.random_range(0..x.ncols()), normal(rng))).collect();
    let value = |i: usize| chosen.iter().map(|&(j, w)| w * x[(i, j)]).sum::<f64>();
    (0..x.nrows()).map(|i| value(i) + noise * normal(rng)).collect()
}

fn options(ridge: f64, factors: Option<Vec<f64>>, max: Option<usize>) -> LarsOptions {
    LarsOptions::default().with(|it| {
        it.ridge = ridge;
        it.penalty_factors = factors;
        it.max_nonzeros = max;
    })
}

fn run(gram: &dyn Gram, b: &[f64], options: &LarsOptions) -> (Path, SplicingResult) {
    let path = lars_path(gram, b, options, &()).unwrap();
    let spliced = splice(gram, b, &path, options, 3, &()).unwrap();
    (path, spliced)
}

/// A fit with fewer variables is a fit with more of them, cut off: to the last bit.
#[test]
fn truncation_is_a_smaller_fit() {
    for seed in 0..40 {
        let rng = &mut rng(seed);
        let x = chained(rng, 30, 25, 0.8);
        let y = signal(rng, &x, 6, 0.5);
        let b = correlate(&x, &y);
        let factor = FactorGram::new(x);
        let factors: Option<Vec<f64>> =
            (seed % 2 == 0).then(|| (0..25).map(|j| if j % 9 == 0 { 0.0 } else { 1.0 }).collect());
        let ridge = [0.0, 0.3][(seed / 2 % 2) as usize];
        let with = |k: usize| run(&factor, &b, &options(ridge, factors.clone(), Some(k))).1;
        let whole = with(18);
        for k in [1, 2, 7, 17] {
            let small = with(k);
            assert_eq!(small.path, whole.path.truncated(k).unwrap(), "seed {seed} k {k}");
            assert_eq!(small.objective, whole.objective[..k]);
            assert_eq!(small.certified, whole.certified[..k]);
            assert_eq!(small.path.ended(), EndReason::MaxNonzeros { needed: k + 1 });
        }
        assert!(whole.path.at_nonzeros(19).is_err());
    }
}

#[test]
fn a_path_is_a_staircase() {
    let rng = &mut rng(3);
    let x = chained(rng, 60, 40, 0.7);
    let b = correlate(&x, &signal(rng, &x, 8, 1.0));
    let factors: Vec<f64> = (0..40).map(|j| if j == 5 { 0.0 } else { 1.0 }).collect();
    let gram = x.transpose() * &x;
    let (_, SplicingResult { path, objective, .. }) = run(&gram, &b, &options(0.1, Some(factors), Some(12)));
    let knots = path.knots();
    assert_eq!(knots.len(), 25);
    assert_eq!(knots[0].coefficients.indices(), [5]);
    assert_eq!(path.free(), [5]);
    assert!(objective.windows(2).all(|f| f[1] < f[0]));
    let mut active: Vec<usize> = Vec::new();
    for (k, pair) in knots[1..].chunks(2).enumerate() {
        let above = &knots[2 * k];
        assert_eq!(above.level, pair[0].level);
        active.retain(|j| !above.left.contains(j));
        active.extend(&above.entered);
        active.sort_unstable();
        let (k, w) = (k + 1, &pair[0].coefficients);
        assert_eq!(path.selected(w), k);
        assert!(active.iter().all(|&j| w.get(j) != 0.0) && active.len() == k);
        assert_eq!((w, pair[0].entered.len()), (&pair[1].coefficients, 0));
        assert_eq!(path.at_nonzeros(k).unwrap().coefficients, *w);
        // Between its levels a subset stays as it is.
        let between = 0.3 * pair[0].level + 0.7 * pair[1].level;
        if pair[1].level < pair[0].level {
            assert_eq!(path.at_lambda(between).unwrap().coefficients, *w);
        }
    }
    assert!(path.certificate().kkt < 1e-12);
}

/// More variables than brute force can try: all single exchanges by hand, true variables found, sources agree.
#[test]
fn wide_problems_are_locally_optimal() {
    for seed in 0..6 {
        let rng = &mut rng(seed);
        let (n, p) = (80, 300);
        let x = chained(rng, n, p, 0.5);
        let truth = [10, 60, 61, 150, 220, 299];
        let y: Vec<f64> = (0..n)
            .map(|i| truth.iter().enumerate().map(|(s, &j)| (1.0 + s as f64 / 5.0) * x[(i, j)]).sum::<f64>())
            .map(|value| value + 0.3 * normal(rng))
            .collect();
        let b = correlate(&x, &y);
        let (gram, factor) = (x.transpose() * &x, FactorGram::new(x.clone()));
        let options = options([0.0, 0.5][(seed % 2) as usize], None, Some(15));
        let (_, spliced) = run(&gram, &b, &options);
        let (_, other) = run(&factor, &b, &options);
        assert_eq!(spliced.path.at_nonzeros(6).unwrap().coefficients.indices(), truth);
        assert!(spliced.certified.iter().all(|&certified| certified));
        let brute = BruteForce::new(&x, &y, options.ridge);
        for k in [1, 3, 6, 10, 15] {
            let w = spliced.path.at_nonzeros(k).unwrap().coefficients;
            assert_eq!(other.path.at_nonzeros(k).unwrap().coefficients.indices(), w.indices());
            let f = brute.objective(w.indices()).unwrap();
            for at in 0..k {
                let mut support = w.indices().to_vec();
                for j in (0..p).filter(|j| !w.indices().contains(j)) {
                    support[at] = j;
                    assert!(brute.objective(&support).unwrap() >= f - 1e-11 * f.abs(), "seed {seed} k {k}");
                }
            }
        }
    }
}

/// A Gram matrix that only knows upper bounds of the squared lengths.
#[derive(Debug)]
struct BoundedGram(Mat<f64>, Vec<f64>);

impl Gram for BoundedGram {
    fn dim(&self) -> usize {
        self.0.dim()
    }
    fn column(&self, j: usize, out: &mut [f64]) {
        self.0.column(j, out);
    }
    fn squared_lengths(&self) -> Vec<f64> {
        (0..self.dim()).map(|j| self.0[(j, j)] * self.1[j]).collect()
    }
    fn product(&self, support: &[usize], coefficients: MatRef<'_, f64>, out: MatMut<'_, f64>) {
        self.0.product(support, coefficients, out);
    }
}

#[test]
fn bounds_of_squared_lengths_change_nothing() {
    for seed in 0..20 {
        let rng = &mut rng(seed);
        let x = chained(rng, 40, 30, 0.6);
        let b = correlate(&x, &signal(rng, &x, 6, 1.0));
        let gram = x.transpose() * &x;
        let factors = (0..30).map(|_| rng.random_range(1.5..2.5)).collect();
        let options = options(0.2, None, Some(10));
        let (_, exact) = run(&gram, &b, &options);
        let (_, bounded) = run(&BoundedGram(gram, factors), &b, &options);
        assert!(bounded.certified.iter().all(|&certified| certified));
        for k in 1..=10 {
            let [w, other] = [&exact, &bounded].map(|it| it.path.at_nonzeros(k).unwrap().coefficients);
            assert_eq!(w.indices(), other.indices(), "seed {seed} k {k}");
        }
    }
    // Where a bound is far from the truth, the flag does not vouch for what was not looked at.
    let rng = &mut rng(1);
    let x = gaussian(rng, 40, 30);
    let b = correlate(&x, &signal(rng, &x, 6, 1.0));
    let far = (0..30).map(|j| if j % 2 == 0 { 50.0 } else { 1.5 }).collect();
    let (_, bounded) = run(&BoundedGram(x.transpose() * &x, far), &b, &options(0.0, None, Some(10)));
    assert!(bounded.certified.contains(&false));
}

#[test]
fn threads_do_not_matter() {
    let rng = &mut rng(11);
    let x = chained(rng, 50, 400, 0.6);
    let b = correlate(&x, &signal(rng, &x, 10, 1.0));
    let factor = FactorGram::new(x);
    let options = options(0.1, None, Some(20));
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| run(&factor, &b, &options).1)
    };
    assert_eq!(with(1), with(4));
}

#[test]
fn extreme_scales() {
    let rng = &mut rng(2);
    let x = chained(rng, 30, 10, 0.7);
    let y = signal(rng, &x, 4, 0.5);
    let (_, plain) = run(&(x.transpose() * &x), &correlate(&x, &y), &options(0.0, None, None));
    let wild = |j: usize| [1e-30, 1.0, 1e30][j % 3];
    let scales: [&dyn Fn(usize) -> f64; 3] = [&|_| 1e-50, &|_| 1e49, &wild];
    for scale in scales {
        let scaled = Mat::from_fn(30, 10, |i, j| x[(i, j)] * scale(j));
        let gram = scaled.transpose() * &scaled;
        let (_, spliced) = run(&gram, &correlate(&scaled, &y), &options(0.0, None, None));
        for k in 1..=10 {
            let (w, other) = (plain.path.at_nonzeros(k).unwrap(), spliced.path.at_nonzeros(k).unwrap());
            assert_eq!(w.coefficients.indices(), other.coefficients.indices());
            for (j, value) in w.coefficients.iter() {
                let off = (other.coefficients.get(j) * scale(j) - value).abs();
                assert!(off < 1e-9 * plain.path.last().coefficients.values()[0].abs().max(1.0));
            }
            assert!(
                (plain.objective[k - 1] - spliced.objective[k - 1]).abs() < 1e-10 * plain.objective[9].abs()
            );
        }
        assert!(spliced.path.certificate().scaled < 1e-10);
    }
    let small: Vec<f64> = y.iter().map(|y| 1e-50 * y).collect();
    let (_, spliced) = run(&(x.transpose() * &x), &correlate(&x, &small), &options(0.0, None, None));
    assert_eq!(spliced.path.order_of_entry(), plain.path.order_of_entry());
}

#[test]
fn edges() {
    let rng = &mut rng(4);
    let x = gaussian(rng, 20, 6);
    let gram = x.transpose() * &x;
    // Nothing to explain.
    let (_, nothing) = run(&gram, &[0.0; 6], &options(0.0, None, Some(3)));
    assert_eq!((nothing.path.knots().len(), nothing.path.ended()), (1, EndReason::Complete));
    assert_eq!((nothing.path.last().level, nothing.objective.len()), (0.0, 0));
    let free = Some(vec![0.0, 1.0, 1.0, 1.0, 1.0, 1.0]);
    let (_, nothing) = run(&gram, &[0.0; 6], &options(0.0, free, None));
    assert_eq!((nothing.path.last().coefficients.nonzeros(), nothing.path.certificate().kkt), (0, 0.0));
    // Explained by two variables exactly.
    let y: Vec<f64> = (0..20).map(|i| x[(i, 1)] - 2.0 * x[(i, 4)]).collect();
    let b = correlate(&x, &y);
    let (_, exact) = run(&gram, &b, &options(0.0, None, None));
    assert_eq!(exact.path.last().coefficients.indices(), [1, 4]);
    assert_eq!((exact.path.ended(), exact.path.last().level), (EndReason::Complete, 0.0));
    // Fewer variables than asked for.
    let b = correlate(&x, &signal(rng, &x, 4, 1.0));
    let (_, all) = run(&gram, &b, &options(0.0, None, Some(50)));
    assert_eq!((all.objective.len(), all.path.ended()), (6, EndReason::Complete));
    assert_eq!(all.path.at_nonzeros(50).unwrap().coefficients.nonzeros(), 6);
    // All free, all barred.
    let (_, free) = run(&gram, &b, &options(0.0, Some(vec![0.0; 6]), None));
    assert_eq!((free.path.knots().len(), free.path.last().coefficients.nonzeros()), (1, 6));
    let (_, barred) = run(&gram, &b, &options(0.0, Some(vec![f64::INFINITY; 6]), None));
    assert_eq!((barred.path.knots().len(), barred.path.ended()), (1, EndReason::Complete));
    // More variables than samples, without a ridge: as many as the rank.
    let wide = gaussian(rng, 5, 12);
    let y: Vec<f64> = (0..5).map(|_| normal(rng)).collect();
    let (_, rank) = run(&FactorGram::new(wide.clone()), &correlate(&wide, &y), &options(0.0, None, None));
    assert_eq!((rank.objective.len(), rank.path.ended()), (5, EndReason::Complete));
    let (_, ridge) = run(&FactorGram::new(wide.clone()), &correlate(&wide, &y), &options(0.1, None, None));
    assert_eq!((ridge.objective.len(), ridge.path.ended()), (12, EndReason::Complete));
    // b that no coefficients explain.
    let two = faer::mat![[1.0, 1.0], [1.0, 1.0f64]];
    let (_, outside) = run(&two, &[1.0, 0.5], &options(0.0, None, None));
    assert_eq!(outside.path.ended(), EndReason::Unbounded { variable: 1 });
    let (_, outside) = run(&two, &[1.0, 1.0 - 1e-7], &options(0.0, None, None));
    assert_eq!(outside.path.ended(), EndReason::Dependent { variable: 1 });
    assert_eq!(outside.path.at_nonzeros(2).unwrap().coefficients.indices(), [0]);
    // Equal columns: the first is chosen, the other only with a ridge; constant ones never.
    let mut equal = gaussian(rng, 15, 4);
    for i in 0..15 {
        equal[(i, 2)] = equal[(i, 0)];
        equal[(i, 3)] = 0.0;
    }
    let b = correlate(&equal, &column(&equal, 0));
    let gram = equal.transpose() * &equal;
    let (_, once) = run(&gram, &b, &options(0.0, None, None));
    assert_eq!(once.path.last().coefficients.indices(), [0]);
    let (_, twice) = run(&gram, &b, &options(1.0, None, None));
    assert_eq!(twice.path.at_nonzeros(2).unwrap().coefficients.indices(), [0, 2]);
    assert!(twice.path.knots().iter().all(|knot| knot.coefficients.get(3) == 0.0));
}

/// Stops when asked for the second time.
struct Impatient(std::sync::atomic::AtomicUsize);

impl Monitor for Impatient {
    fn stop(&self) -> bool {
        self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed) > 0
    }
}

#[test]
fn what_is_refused() {
    let rng = &mut rng(5);
    let x = gaussian(rng, 20, 6);
    let (gram, b) = (x.transpose() * &x, correlate(&x, &column(&x, 2)));
    let good = options(0.0, None, Some(3));
    let path = lars_path(&gram, &b, &good, &()).unwrap();
    let message =
        |b: &[f64], options: &LarsOptions| splice(&gram, b, &path, options, 2, &()).unwrap_err().to_string();
    assert!(message(&b[..5], &good).contains("`b` has 5 entries"));
    assert!(message(&[f64::NAN; 6], &good).contains("NaN"));
    assert!(message(&b, &good.clone().with(|it| it.positive = true)).contains("best subsets"));
    assert!(message(&b, &options(-1.0, None, None)).contains("ridge"));
    let free = options(0.0, Some(vec![0.0, 1.0, 1.0, 1.0, 1.0, 1.0]), Some(3));
    assert!(message(&b, &free).contains("free variables of `path`"));
    let b = correlate(&x, &signal(rng, &x, 6, 1.0));
    let path = lars_path(&gram, &b, &good, &()).unwrap();
    let more = splice(&gram, &b, &path, &options(0.0, None, Some(5)), 2, &()).unwrap_err();
    assert!(more.to_string().contains("was stopped at 3 nonzeros"), "{more}");
    let stopped = splice(&gram, &b, &path, &good, 2, &Impatient(0.into())).unwrap_err();
    assert!(matches!(stopped, Error::Stopped { .. }), "{stopped}");
}
