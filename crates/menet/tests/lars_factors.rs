//! Penalty factors of every kind, for every response its own: free variables (0), barred ones (infinite) and others of all
//! sizes, on designs that are chosen to be hard. Every knot is optimal.

use crate::common::{Design, column, correlate, rng};
use faer::Mat;
use menet::gram::{FactorGram, Gram};
use menet::lars::{EndReason, LarsOptions, Path, lars_path, lars_paths_each};
use rand::{Rng, RngExt};

const BAR: f64 = 1e-9;

/// Responses of a problem.
const RESPONSES: usize = 4;

struct Case {
    design: Design,
    x: Mat<f64>,
    b: Mat<f64>,
    factors: Mat<f64>,
    options: LarsOptions,
    label: String,
}

/// The factors of one response: how many are free, how many barred and what the others are differs from one to the next.
fn factors(rng: &mut impl Rng, p: usize) -> Vec<f64> {
    let free = [0.0, 0.05, 0.2, 0.5][rng.random_range(0..4)];
    let barred = [0.0, 0.1, 0.5, 0.9][rng.random_range(0..4)];
    let kind = rng.random_range(0..4);
    (0..p)
        .map(|_| match kind {
            _ if rng.random_bool(free) => 0.0,
            _ if rng.random_bool(barred) => f64::INFINITY,
            0 => 1.0,
            // Of few values, so that ties stay ties.
            1 => [0.5, 1.0, 2.0][rng.random_range(0..3)],
            2 => rng.random_range(0.1..3.0),
            // As an adaptive lasso has them.
            _ => 10f64.powf(rng.random_range(-2.0..2.0)),
        })
        .collect()
}

fn case(seed: u64, design: Design, largest: usize) -> Case {
    let rng = &mut rng(seed);
    let (n, p) = (rng.random_range(2..=largest), rng.random_range(1..=largest));
    let size = [1.0, 1.0, 1.0, 1e-40, 1e40][rng.random_range(0..5)];
    let x = design.matrix(rng, n, p);
    let x = Mat::from_fn(n, p, |i, j| size * x[(i, j)]);
    let responses: Vec<Vec<f64>> = (0..RESPONSES).map(|_| correlate(&x, &design.response(rng, n))).collect();
    let each: Vec<Vec<f64>> = (0..RESPONSES).map(|_| factors(rng, p)).collect();
    let options = LarsOptions::default().with(|it| {
        it.ridge = size * size * [0.0, 0.0, 1e-3, 0.1, 10.0][rng.random_range(0..5)];
        it.max_nonzeros = rng.random_bool(0.5).then(|| rng.random_range(1..=p));
        it.working_set = if rng.random_bool(0.3) { rng.random_range(1..=8) } else { 256 };
    });
    let label = format!("{design:?} seed {seed} n {n} p {p} size {size:e} {options:?}");
    let [b, factors] = [&responses, &each].map(|columns| Mat::from_fn(p, RESPONSES, |j, k| columns[k][j]));
    Case { design, x, b, factors, options, label }
}

/// The larger violation, in either measure, of the optimality conditions by `w`: written apart from the library's.
fn violation(gram: &Mat<f64>, b: &[f64], v: &[f64], ridge: f64, w: &[f64], lambda: f64) -> f64 {
    let p = w.len();
    let length = |j: usize| (gram[(j, j)] + ridge).sqrt();
    let largest = b.iter().fold(0.0, |m: f64, b| m.max(b.abs()));
    let there = (0..p).filter(|&j| length(j) > 0.0 && v[j].is_finite());
    let unit = there.map(|j| b[j].abs() / length(j)).fold(0.0, f64::max);
    let mut worst = 0.0f64;
    for j in 0..p {
        let c = b[j] - (0..p).map(|i| gram[(j, i)] * w[i]).sum::<f64>() - ridge * w[j];
        let wrong = match v[j] {
            f64::INFINITY if w[j] != 0.0 => f64::INFINITY,
            f64::INFINITY => 0.0,
            0.0 => c.abs(),
            v if w[j] != 0.0 => (c - lambda * v * w[j].signum()).abs(),
            v => c.abs() - lambda * v,
        };
        if wrong > 0.0 {
            worst = worst.max(wrong / largest).max(wrong / (length(j) * unit));
        }
    }
    worst
}

/// One response of a case.
struct OneResponse<'a> {
    case: &'a Case,
    gram: &'a Mat<f64>,
    b: Vec<f64>,
    v: Vec<f64>,
}

impl OneResponse<'_> {
    /// Whether the free columns, each made as long as 1, have a singular value below `bound`.
    fn free_columns_depend(&self, bound: f64) -> bool {
        let x = &self.case.x;
        let free: Vec<usize> = (0..self.v.len()).filter(|&j| self.v[j] == 0.0).collect();
        let lengths: Vec<f64> = free.iter().map(|&j| x.col(j).norm_l2()).collect();
        if free.is_empty() {
            return false;
        }
        if free.len() > x.nrows() || lengths.contains(&0.0) {
            return true;
        }
        let unit = Mat::from_fn(x.nrows(), free.len(), |i, k| x[(i, free[k])] / lengths[k]);
        unit.thin_svd().unwrap().S().column_vector()[free.len() - 1] < bound
    }

    /// Whether a path without a ridge may end early, with a diagnostic: columns cannot be told apart, or `b` is rounding and
    /// so outside the range of G.
    fn at_the_edge(&self, fragile: &[Design]) -> bool {
        let longest = self.case.x.norm_max();
        let rounding = self.b.iter().all(|b| b.abs() < 1e-14 * longest);
        let fragile = fragile.contains(&self.case.design);
        self.case.options.ridge == 0.0 && (fragile || self.free_columns_depend(1e-3) || rounding)
    }

    /// What is wrong with a path, if anything.
    fn fault(&self, path: &Path, fragile: &[Design]) -> Option<String> {
        let (knots, options, p) = (path.knots(), &self.case.options, self.b.len());
        let worst = path.certificate();
        if worst.scaled > BAR || worst.kkt > BAR || worst.scaled.is_nan() || worst.kkt.is_nan() {
            return Some(format!("certificate {worst:?}"));
        }
        // Not the path's word for it: recomputed here, at some knots and halfway to the next ones. Between knots, the huge
        // coefficients of opposite sign that nearly equal columns get without a ridge cost their own digits.
        let between = if options.ridge == 0.0 && fragile.contains(&self.case.design) { 1e-5 } else { BAR };
        for at in (0..knots.len()).step_by(1 + knots.len() / 6) {
            let next = &knots[(at + 1).min(knots.len() - 1)];
            for (lambda, bar) in [(knots[at].level, BAR), (0.5 * (knots[at].level + next.level), between)] {
                let w = path.at_lambda(lambda).unwrap().coefficients.to_dense(p);
                let found = violation(self.gram, &self.b, &self.v, options.ridge, &w, lambda);
                if found > bar {
                    return Some(format!("{found:e} at level {lambda:e}, knot {at} of {}", knots.len()));
                }
            }
        }
        let free: Vec<usize> = (0..p).filter(|&j| self.v[j] == 0.0).collect();
        if path.free() != free {
            return Some(format!("free: {:?}", path.free()));
        }
        // Who enters and leaves is penalised, and tells the support of the next knot, apart from those that arrive at zero.
        let mut active = vec![false; p];
        for (knot, next) in knots.iter().zip(&knots[1..]) {
            for (&j, enters) in
                knot.entered.iter().map(|j| (j, true)).chain(knot.left.iter().map(|j| (j, false)))
            {
                if self.v[j] == 0.0 || self.v[j].is_infinite() || active[j] == enters {
                    return Some(format!("variable {j} with factor {} comes or goes", self.v[j]));
                }
                active[j] = enters;
            }
            if next.coefficients.indices().iter().any(|&j| self.v[j] > 0.0 && !active[j]) {
                return Some("a variable that never entered is not zero".to_owned());
            }
        }
        let k = options.max_nonzeros.unwrap_or(usize::MAX);
        if knots.iter().any(|knot| path.selected(&knot.coefficients) > k) {
            return Some("support above K".to_owned());
        }
        if knots.windows(2).any(|pair| pair[0].level < pair[1].level) {
            return Some("a level rises".to_owned());
        }
        match path.ended() {
            EndReason::Complete if path.last().level == 0.0 => None,
            EndReason::MaxNonzeros { .. } if options.max_nonzeros.is_some() => None,
            other => Some(format!("ended: {other}")),
        }
    }
}

/// How problems ended.
#[derive(Default)]
struct Tally {
    problems: usize,
    refused: usize,
    diagnosed: usize,
    free: usize,
    faults: Vec<String>,
}

impl Tally {
    fn solve(&mut self, case: &Case, factored: bool, fragile: &[Design]) {
        let gram = case.x.transpose() * &case.x;
        let factor = FactorGram::new(case.x.clone());
        let source: &dyn Gram = if factored { &factor } else { &gram };
        let together = lars_paths_each(source, case.b.as_ref(), case.factors.as_ref(), &case.options, &());
        let mut all = true;
        for k in 0..RESPONSES {
            let one = OneResponse { case, gram: &gram, b: column(&case.b, k), v: column(&case.factors, k) };
            let options = case.options.clone().with(|it| it.penalty_factors = Some(one.v.clone()));
            self.problems += 1;
            let label = || format!("response {k} {:?} {}", one.v, case.label);
            let path = match lars_path(source, &one.b, &options, &()) {
                Ok(path) => path,
                Err(error) => {
                    all = false;
                    self.refused += 1;
                    // A ridge of 10 is nothing beside columns of length 1e6.
                    let resolved = options.ridge > 1e-2 * gram.norm_max() && case.design != Design::Scaled;
                    if resolved || !one.free_columns_depend(1e-4) || !error.to_string().contains("factor 0") {
                        self.faults.push(format!("{error}: {}", label()));
                    }
                    continue;
                }
            };
            self.free += usize::from(!path.free().is_empty());
            if together.as_ref().is_ok_and(|together| together[k] != path) {
                self.faults.push(format!("not what it is alone: {}", label()));
            }
            let early = !matches!(path.ended(), EndReason::Complete | EndReason::MaxNonzeros { .. });
            if early && one.at_the_edge(fragile) {
                self.diagnosed += 1;
                // As far as it goes it is right.
                let worst = path.certificate();
                let wrong = worst.scaled > BAR || worst.kkt > BAR;
                self.faults.extend(wrong.then(|| format!("certificate {worst:?}: {}", label())));
            } else {
                self.faults.extend(one.fault(&path, fragile).map(|fault| format!("{fault}: {}", label())));
            }
        }
        if all != together.is_ok() {
            self.faults.push(format!("together {:?}: {}", together.err(), case.label));
        }
    }

    fn report(&self) {
        let Tally { problems, refused, diagnosed, free, faults } = self;
        println!(
            "{problems} problems, {free} solved with free variables, {refused} refused since those depend on each other, \
             {diagnosed} ended with a diagnostic, {} faults",
            faults.len()
        );
        faults.iter().take(20).for_each(|fault| println!("{}", &fault[..fault.len().min(1500)]));
        assert!(faults.is_empty(), "{} of {problems} problems failed", faults.len());
        assert!(4 * free > *problems && 3 * refused < *problems && 20 * diagnosed < *problems);
    }
}

fn run(seeds: std::ops::Range<u64>, largest: usize, fragile: &[Design]) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds {
        for (k, design) in Design::ALL.into_iter().enumerate() {
            tally.solve(&case(seed * 100 + k as u64, design, largest), seed % 4 == 0, fragile);
        }
    }
    tally
}

#[test]
fn ten_thousand_problems() {
    let tally = run(0..400, 40, &[Design::NearDuplicates]);
    tally.report();
    assert!(tally.problems - tally.refused >= 10_000);
}

#[test]
fn thousands_of_tiny_problems() {
    run(1000..1100, 6, &[Design::NearDuplicates]).report();
}

#[test]
fn hundreds_of_larger_problems() {
    run(2000..2015, 200, &[Design::NearDuplicates]).report();
}

#[test]
#[ignore = "a soak of 140,000 problems, some ten seconds: cargo test --release -- --ignored"]
fn soak() {
    run(10_000..15_000, 25, &[Design::NearDuplicates, Design::Scaled]).report();
}
