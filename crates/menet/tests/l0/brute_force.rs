//! All subsets of small problems, tried one by one.

use faer::Mat;
use menet::lars::{LarsOptions, lars_path};
use menet::penalties::l0::splice;
use rand::RngExt;

use super::{chained, options, signal};
use crate::common::{Design, column, correlate, rng};

/// A problem, and the least objective of a support from the data, not from their Gram matrix: twice as many digits.
pub(crate) struct BruteForce {
    /// The data, and the root of the ridge below them.
    x: Mat<f64>,
    y: Vec<f64>,
}

impl BruteForce {
    pub(crate) fn new(x: &Mat<f64>, y: &[f64], ridge: f64) -> Self {
        let (n, p) = x.shape();
        let below = |i: usize, j: usize| if i == n + j { ridge.sqrt() } else { 0.0 };
        let rows = if ridge > 0.0 { n + p } else { n };
        let x = Mat::from_fn(rows, p, |i, j| if i < n { x[(i, j)] } else { below(i, j) });
        let y = (0..rows).map(|i| if i < n { y[i] } else { 0.0 }).collect();
        BruteForce { x, y }
    }

    pub(crate) fn objective(&self, support: &[usize]) -> Option<f64> {
        self.objective_if(support, 1e-5)
    }

    /// None where a variable is not farther than this part of its length from those before it.
    pub(crate) fn objective_if(&self, support: &[usize], farther: f64) -> Option<f64> {
        let mut basis = Vec::new();
        let parts = support.iter().map(|&j| self.append(&mut basis, j, farther));
        parts.sum()
    }

    /// Appends a variable to an orthonormal basis, by Gram and Schmidt, twice; what it adds to the objective.
    fn append(&self, basis: &mut Vec<Vec<f64>>, j: usize, farther: f64) -> Option<f64> {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let mut x = column(&self.x, j);
        let length = dot(&x, &x).sqrt();
        for q in basis.iter().chain(basis.iter()) {
            let along = dot(q, &x);
            x.iter_mut().zip(q).for_each(|(x, q)| *x -= along * q);
        }
        let distance = dot(&x, &x).sqrt();
        if distance <= farther * length {
            return None;
        }
        x.iter_mut().for_each(|x| *x /= distance);
        let along = dot(&x, &self.y);
        basis.push(x);
        Some(-0.5 * along * along)
    }

    /// The least objective with `free` and k of `candidates`, for every k.
    fn best(&self, free: &[usize], candidates: &[usize]) -> Vec<f64> {
        let mut best = vec![f64::INFINITY; candidates.len() + 1];
        let mut basis = Vec::new();
        let start: Option<f64> = free.iter().map(|&j| self.append(&mut basis, j, 0.0)).sum();
        self.descend(&mut basis, start.unwrap(), 0, candidates, &mut best);
        best
    }

    /// With k variables chosen, those of `rest` in every way.
    fn descend(&self, basis: &mut Vec<Vec<f64>>, f: f64, k: usize, rest: &[usize], best: &mut [f64]) {
        best[k] = best[k].min(f);
        for (at, &j) in rest.iter().enumerate() {
            if let Some(part) = self.append(basis, j, 1e-5) {
                self.descend(basis, f + part, k + 1, &rest[at + 1..], best);
                basis.pop();
            }
        }
    }
}

/// What came out of a problem.
#[derive(Default, Debug)]
struct Tally {
    problems: usize,
    equal: usize,
    subsets: usize,
    equal_subsets: usize,
    certified: usize,
    faults: Vec<String>,
}

impl Tally {
    fn compare(&mut self, x: &Mat<f64>, y: &[f64], options: &LarsOptions, label: &str) {
        let (p, b, gram) = (x.ncols(), correlate(x, y), x.transpose() * x);
        let brute = BruteForce::new(x, y, options.ridge);
        let Ok(path) = lars_path(&gram, &b, options, &()) else { return };
        let spliced = splice(&gram, &b, &path, options, 3, &()).unwrap();
        let v = options.penalty_factors.clone().unwrap_or_else(|| vec![1.0; p]);
        let of = |test: &dyn Fn(f64) -> bool| -> Vec<usize> { (0..p).filter(|&j| test(v[j])).collect() };
        let (free, candidates) = (of(&|v| v == 0.0), of(&|v| v > 0.0 && v.is_finite()));
        let best = brute.best(&free, &candidates);
        let reached = spliced.objective.len();
        let mut all = true;
        for k in 1..=reached {
            let found = spliced.path.at_nonzeros(k).unwrap().coefficients;
            let mut support = found.indices().to_vec();
            support.extend(free.iter().filter(|j| !found.indices().contains(j)));
            if spliced.path.selected(&found) != k {
                self.faults.push(format!("{} of {k} variables: {label}", spliced.path.selected(&found)));
            }
            let f = spliced.objective[k - 1];
            let slack = 1e-10 * f.abs();
            let own = brute.objective_if(&support, 0.0).unwrap();
            if (own - f).abs() > 100.0 * slack {
                self.faults.push(format!("objective {f} is {own} at k = {k}: {label}"));
            }
            let lasso: Vec<usize> = path.at_nonzeros(k).unwrap().coefficients.indices().to_vec();
            let lasso = brute.objective_if(&lasso, 0.0).unwrap();
            if f > lasso + slack {
                self.faults.push(format!("{f} is worse than {lasso} of the lasso at k = {k}: {label}"));
            }
            self.subsets += 1;
            let equal = f <= best[k] + slack;
            self.equal_subsets += usize::from(equal);
            all &= equal;
            if !equal {
                println!("missed {} by {:e} at k = {k}: {label}", best[k], f - best[k]);
            }
            if spliced.certified[k - 1] {
                self.certified += 1;
                let swapped = |i: usize, j: usize| {
                    support.iter().map(|&member| if member == i { j } else { member }).collect::<Vec<_>>()
                };
                let chosen = support.iter().filter(|i| !free.contains(i));
                let worse = chosen.flat_map(|&i| candidates.iter().map(move |&j| (i, j)));
                for (i, j) in worse.filter(|(_, j)| !support.contains(j)) {
                    if brute.objective(&swapped(i, j)).is_some_and(|other| other < f - 2e-11 * f.abs()) {
                        self.faults.push(format!("certified, but {j} for {i} helps at k = {k}: {label}"));
                    }
                }
            }
        }
        // What the path leaves out brings nothing.
        let last = spliced.objective.last().copied().unwrap_or_else(|| brute.objective(&free).unwrap());
        let rest = best[reached..].iter().copied().fold(f64::INFINITY, f64::min);
        if rest < last - 1e-9 * last.abs() {
            self.faults
                .push(format!("ended at {last} with {reached} variables, {rest} is possible: {label}"));
        }
        if spliced.path.certificate().scaled > 1e-10 || spliced.path.certificate().kkt > 1e-10 {
            self.faults.push(format!("{:?}: {label}", spliced.path.certificate()));
        }
        self.problems += 1;
        self.equal += usize::from(all);
    }

    fn report(&self) {
        println!(
            "{} of {} problems and {} of {} subsets as by brute force; {} certified; {} faults",
            self.equal,
            self.problems,
            self.equal_subsets,
            self.subsets,
            self.certified,
            self.faults.len()
        );
        self.faults.iter().take(20).for_each(|fault| println!("{fault}"));
        assert!(self.faults.is_empty(), "{} faults", self.faults.len());
        assert!(100 * self.equal >= 99 * self.problems, "{} of {}", self.equal, self.problems);
        assert!(100 * self.certified >= 99 * self.subsets, "{} of {}", self.certified, self.subsets);
    }
}

#[test]
fn two_thousand_problems_as_by_brute_force() {
    let mut tally = Tally::default();
    for seed in 0..2000 {
        let rng = &mut rng(seed);
        let (n, p) = ([6, 10, 15, 40, 100][rng.random_range(0..5)], rng.random_range(2..=14));
        let rho = [0.0, 0.3, 0.6, 0.9, 0.97][rng.random_range(0..5)];
        let x = chained(rng, n, p, rho);
        let count = rng.random_range(0..=p);
        let noise = [0.1, 1.0, 3.0][rng.random_range(0..3)];
        let y = signal(rng, &x, count, noise);
        let ridge = [0.0, 0.0, 0.01, 1.0, 20.0][rng.random_range(0..5)];
        let factors = rng.random_bool(0.25).then(|| {
            (0..p).map(|_| [0.0, f64::INFINITY, 1.0, 1.0, 2.0, 1.0, 1.0][rng.random_range(0..7)]).collect()
        });
        let label = format!("seed {seed} n {n} p {p} rho {rho} ridge {ridge} {factors:?}");
        tally.compare(&x, &y, &options(ridge, factors, None), &label);
    }
    tally.report();
    assert!(tally.problems > 1900, "{}", tally.problems);
}

/// Ties, duplicates, constant and tiny columns.
#[test]
fn hard_designs_as_by_brute_force() {
    let mut tally = Tally::default();
    let designs = Design::ALL.into_iter().filter(|&design| design != Design::NearDuplicates);
    for (d, design) in designs.enumerate() {
        for seed in 0..100 {
            let rng = &mut rng(seed * 100 + d as u64);
            let (n, p) = (rng.random_range(3..=30), rng.random_range(1..=11));
            let x = design.matrix(rng, n, p);
            let y = design.response(rng, n);
            let ridge = [0.0, 0.1, 5.0][rng.random_range(0..3)];
            tally.compare(
                &x,
                &y,
                &options(ridge, None, None),
                &format!("{design:?} seed {seed} ridge {ridge}"),
            );
        }
    }
    tally.report();
}
