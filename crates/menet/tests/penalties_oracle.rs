//! What paths say of themselves, recomputed from the definition of every penalty: from G, b and the coefficients alone.
//!
//! The weights of the penalties are written down here once more, and the problems are those on which claims go wrong: exact
//! recovery without noise, copies and near copies, ties, few samples, levels that cannot be reached.

use std::collections::BTreeMap;

use faer::Mat;
use menet::lars::{EndReason, LarsOptions, Path, PenaltyReport, lars_path};
use menet::penalties::{self, PathPenalty, PenaltyKind};
use menet::sparse::SparseVector;
use menet::{Error, Named};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;

use crate::common::{Design, correlate, gaussian, normal, rng};
use crate::l0::brute_force::BruteForce;

/// A violation up to this is rounding, as the documentation has it.
const EXACT: f64 = 1e-9;

/// A regression and what is asked of it.
pub(crate) struct Problem {
    pub(crate) x: Mat<f64>,
    pub(crate) y: Vec<f64>,
    pub(crate) gram: Mat<f64>,
    pub(crate) b: Vec<f64>,
    /// The squared lengths of the variables in the penalty, without the ridge.
    pub(crate) lengths: Vec<f64>,
    pub(crate) options: LarsOptions,
    /// How many variables the first path has, where that is given.
    pub(crate) first: Option<usize>,
    pub(crate) label: String,
}

impl Problem {
    fn new(seed: u64, kind: PenaltyKind) -> Self {
        let rng = &mut rng(seed);
        let (n, p) = (rng.random_range(5..=40), rng.random_range(2..=24));
        let design = Design::ALL[rng.random_range(0..Design::ALL.len())];
        let x = if rng.random_bool(0.4) { chained(rng, n, p) } else { design.matrix(rng, n, p) };
        let truth = rng.random_range(1..=5);
        let mut y = match rng.random_range(0..3) {
            0 => design.response(rng, n),
            _ => (0..n).map(|_| 0.0).collect(),
        };
        let noise = [0.0, 0.0, 0.3][rng.random_range(0..3)];
        for _ in 0..truth {
            let (j, w) = (rng.random_range(0..p), 1.0 + rng.random_range(0.0..3.0));
            (0..n).for_each(|i| y[i] += w * x[(i, j)] + noise * normal(rng));
        }
        let (gram, b) = (x.transpose() * &x, correlate(&x, &y));
        let largest = b.iter().fold(0.0, |most: f64, b| most.max(b.abs()));
        let factors = rng.random_bool(0.2).then(|| {
            let other = if kind == PenaltyKind::L0 { 1.0 } else { 2.0 };
            (0..p)
                .map(|_| [0.0, f64::INFINITY, other, 1.0, 1.0, 1.0, 1.0, 1.0][rng.random_range(0..8)])
                .collect()
        });
        let share = [1e-6, 1e-3, 0.05, 0.4][rng.random_range(0..4)];
        let at_level = kind != PenaltyKind::L0 && rng.random_bool(0.4);
        let k = rng.random_range(1..=8);
        let options = LarsOptions::default().with(|it| {
            it.ridge = [0.0, 0.0, 0.1][rng.random_range(0..3)];
            it.penalty_factors = factors;
            match at_level {
                true => it.lambda_min = if largest > 0.0 { share * largest } else { share },
                false => it.max_nonzeros = Some(k),
            }
        });
        let label = format!("{kind:?} seed {seed} {design:?} n {n} p {p} noise {noise} {options:?}");
        let lengths = (0..p).map(|j| gram[(j, j)]).collect();
        Problem { x, y, gram, b, lengths, options, first: None, label }
    }

    fn solved(&self, kind: PenaltyKind) -> Result<Path, Error> {
        let (p, params) = (self.b.len(), PathPenalty::default().with(|it| it.kind = kind));
        let b = Mat::from_fn(p, 1, |j, _| self.b[j]);
        let paths = penalties::paths(&self.gram, b.as_ref(), &self.lengths, &self.options, &params, &());
        paths.map(|mut paths| paths.remove(0))
    }

    fn factor(&self, j: usize) -> f64 {
        self.options.penalty_factors.as_ref().map_or(1.0, |v| v[j])
    }

    /// `b − (G + λ2 I) w`, and by how much rounding may have changed an entry at most.
    fn correlations(&self, w: &SparseVector) -> (Vec<f64>, f64) {
        let mut off = 0.0f64;
        let c = (0..self.b.len()).map(|j| {
            let ridge = |k: usize| if j == k { self.options.ridge } else { 0.0 };
            let terms: Vec<f64> = w.iter().map(|(k, w)| (self.gram[(j, k)] + ridge(k)) * w).collect();
            let sizes = self.b[j].abs() + terms.iter().map(|term| term.abs()).sum::<f64>();
            off = off.max(64.0 * f64::EPSILON * sizes);
            self.b[j] - terms.iter().sum::<f64>()
        });
        (c.collect(), off)
    }

    /// By how much coefficients violate the first-order conditions at a level, with these weights of nonzero coefficients; and by how
    /// much that may be off.
    fn violation(&self, w: &SparseVector, level: f64, weight: impl Fn(usize) -> f64) -> (f64, f64) {
        let largest = self.b.iter().fold(0.0, |most: f64, b| most.max(b.abs()));
        let (c, off) = self.correlations(w);
        let of = |j: usize| {
            let (v, w) = (self.factor(j), w.get(j));
            match v {
                f64::INFINITY if w == 0.0 => 0.0,
                f64::INFINITY => f64::INFINITY,
                v if w == 0.0 => (c[j].abs() - level * v * weight(j)).max(0.0),
                v => (c[j] - level * v * weight(j) * w.signum()).abs(),
            }
        };
        let worst = (0..c.len()).map(of).fold(0.0, f64::max);
        if worst == 0.0 { (0.0, off / largest) } else { (worst / largest, off / largest) }
    }

    /// The first ℓ1 path, from which weights come.
    fn first(&self, kind: PenaltyKind) -> Path {
        let first = |k: usize| match (self.first, kind) {
            (first, PenaltyKind::Adaptive) => first.unwrap_or(50),
            (first, _) => first.unwrap_or((2 * k).max(50)).max(k),
        };
        let options = self.options.clone().with(|it| it.max_nonzeros = it.max_nonzeros.map(first));
        lars_path(&self.gram, &self.b, &options, &()).unwrap()
    }

    /// t of a coefficient.
    fn size(&self, j: usize, w: f64) -> f64 {
        (self.lengths[j] + self.options.ridge) * w.abs()
    }

    /// ε: this part of the largest t of the first path.
    fn epsilon(&self, first: &Path, part: f64) -> f64 {
        let sizes = first.last().coefficients.iter().map(|(j, w)| self.size(j, w));
        match sizes.fold(0.0, f64::max) {
            0.0 => part,
            largest => part * largest,
        }
    }
}

/// `P′(t, λ)/λ`, as the documentation has it; at level 0 nothing is penalised.
fn weight(kind: PenaltyKind, t: f64, level: f64, epsilon: f64) -> f64 {
    match kind {
        PenaltyKind::Reweighted => epsilon / (t + epsilon),
        _ if t == 0.0 => 1.0,
        _ if level == 0.0 => 0.0,
        PenaltyKind::Scad if t <= level => 1.0,
        PenaltyKind::Scad => ((3.7 * level - t) / (2.7 * level)).max(0.0),
        PenaltyKind::Mcp => (1.0 - t / (3.0 * level)).max(0.0),
        _ => unreachable!("{kind:?}"),
    }
}

/// Neighbouring columns correlate.
fn chained(rng: &mut Pcg64Mcg, n: usize, p: usize) -> Mat<f64> {
    let rho = [0.0, 0.5, 0.9, 0.99][rng.random_range(0..4)];
    let mut x = gaussian(rng, n, p);
    for j in 1..p {
        (0..n).for_each(|i| x[(i, j)] = rho * x[(i, j - 1)] + f64::sqrt(1.0 - rho * rho) * x[(i, j)]);
    }
    x
}

/// What came out, per penalty.
#[derive(Default, Debug)]
pub(crate) struct Tally {
    problems: usize,
    refused: usize,
    pub(crate) claims: usize,
    /// Claims that were made: a path that is exact, rounds that settled, subsets that are local.
    pub(crate) kept: usize,
    pub(crate) faults: Vec<String>,
}

impl Tally {
    fn fault(&mut self, what: impl std::fmt::Display, problem: &Problem) {
        self.faults.push(format!("{what}: {}", problem.label));
    }

    fn look(&mut self, problem: &Problem, kind: PenaltyKind) {
        match problem.solved(kind) {
            Ok(path) => self.look_at(problem, &path, kind),
            // Free variables that depend on each other, and nothing else.
            Err(Error::Parameter { name, .. }) if name == "penalty_factors" => self.refused += 1,
            Err(error) => self.fault(error, problem),
        }
    }

    /// All that a path says.
    pub(crate) fn look_at(&mut self, problem: &Problem, path: &Path, kind: PenaltyKind) {
        self.problems += 1;
        let (level, asked) = (path.last().level, problem.options.lambda_min);
        match path.ended() {
            EndReason::LambdaMin if asked == 0.0 || level > asked * (1.0 + 1e-12) => {
                self.fault(
                    format!("ends at {level}, above the level of {asked}, as if it were there"),
                    problem,
                );
            }
            EndReason::Complete if level != 0.0 => self.fault(format!("complete at {level}"), problem),
            _ => {}
        }
        match kind {
            PenaltyKind::L1 => self.knots(problem, path, |_| 1.0),
            PenaltyKind::Adaptive => {
                let first = problem.first(kind);
                let (epsilon, w) = (problem.epsilon(&first, 0.05), &first.last().coefficients);
                self.knots(problem, path, |j| epsilon / (problem.size(j, w.get(j)) + epsilon));
            }
            PenaltyKind::L0 => self.subsets(problem, path),
            _ => self.end(problem, path, kind),
        }
    }

    /// Every knot of a path whose weights are known, and points between them.
    fn knots(&mut self, problem: &Problem, path: &Path, weight: impl Fn(usize) -> f64) {
        for knot in path.knots() {
            let (found, off) = problem.violation(&knot.coefficients, knot.level, &weight);
            let claimed = knot.certificate.kkt;
            if (found - claimed).abs() > 1e-12 + off {
                self.fault(format!("{found:e} at level {}, not {claimed:e}", knot.level), problem);
            }
        }
        for pair in path.knots().windows(2) {
            let middle = 0.3 * pair[0].level + 0.7 * pair[1].level;
            let point = path.at_lambda(middle).unwrap();
            let (found, off) = problem.violation(&point.coefficients, point.level, &weight);
            let ends = pair[0].certificate.kkt.max(pair[1].certificate.kkt);
            if found > 1e-12 + off + 2.0 * ends {
                self.fault(format!("{found:e} at level {middle}, between knots of {ends:e}"), problem);
            }
        }
        self.claims += 1;
        self.kept += usize::from(path.certificate().kkt <= EXACT);
    }

    /// The end of a path in rounds.
    fn end(&mut self, problem: &Problem, path: &Path, kind: PenaltyKind) {
        let Some(&PenaltyReport::Rounds { settled, stationarity: Some(claimed), .. }) = path.report() else {
            return self.fault(format!("{:?}", path.report()), problem);
        };
        let end = path.last();
        let epsilon = problem.epsilon(&problem.first(kind), 0.1);
        let weight = |j: usize| {
            weight(kind, problem.size(j, end.coefficients.get(j)), end.level * problem.factor(j), epsilon)
        };
        let (found, off) = problem.violation(&end.coefficients, end.level, weight);
        // Weights have rounding of their own: at most as much as t, relative to the level.
        if (found - claimed).abs() > 1e-12 + 4.0 * off {
            self.fault(format!("{found:e} at the end, level {}, not {claimed:e}", end.level), problem);
        }
        if settled && found > EXACT {
            self.fault(format!("settled, with a violation of {found:e} at level {}", end.level), problem);
        }
        if problem.options.max_nonzeros.is_some_and(|most| path.selected(&end.coefficients) > most) {
            self.fault(format!("{} variables", path.selected(&end.coefficients)), problem);
        }
        self.claims += 1;
        self.kept += usize::from(settled);
    }

    /// All exchanges of one variable, from the data.
    fn subsets(&mut self, problem: &Problem, path: &Path) {
        let Some(PenaltyReport::Subsets { local }) = path.report() else {
            return self.fault("no report", problem);
        };
        let (p, brute) = (problem.b.len(), BruteForce::new(&problem.x, &problem.y, problem.options.ridge));
        for (k, &local) in (1..).zip(local) {
            let w = path.at_nonzeros(k).unwrap().coefficients;
            let mut support = w.indices().to_vec();
            support.extend(path.free().iter().filter(|j| !w.indices().contains(j)));
            self.claims += 1;
            self.kept += usize::from(local);
            let f = brute.objective_if(&support, 0.0).unwrap();
            for at in (0..support.len()).filter(|&at| local && problem.factor(support[at]) > 0.0) {
                for j in (0..p).filter(|&j| problem.factor(j) == 1.0 && !w.indices().contains(&j)) {
                    let mut other = support.clone();
                    other[at] = j;
                    let better = brute.objective_if(&other, 1e-10).filter(|&g| g < f - EXACT * f.abs());
                    if let Some(g) = better {
                        let i = support[at];
                        self.fault(
                            format!("local, but {j} for {i} lowers {f:e} to {g:e} at k = {k}"),
                            problem,
                        );
                    }
                }
            }
        }
    }
}

/// Looks at so many problems of every penalty.
fn look(seeds: std::ops::Range<u64>) {
    let mut all: BTreeMap<&str, Tally> = BTreeMap::new();
    for seed in seeds {
        for &kind in PenaltyKind::ALL {
            all.entry(kind.name()).or_default().look(&Problem::new(seed, kind), kind);
        }
    }
    for (name, tally) in &all {
        let Tally { problems, refused, claims, kept, faults } = tally;
        println!(
            "{name}: {problems} problems, {refused} refused, {kept} of {claims} exact, settled or local; {} off",
            faults.len()
        );
        faults.iter().take(8).for_each(|fault| println!("  {fault}"));
    }
    assert!(all.values().all(|tally| tally.faults.is_empty()));
    for (name, tally) in &all {
        // Claims that are never made cannot be wrong.
        assert!(tally.kept * 10 >= tally.claims * 9, "{name}: {} of {}", tally.kept, tally.claims);
    }
}

#[test]
fn what_paths_say_is_what_the_definition_gives() {
    look(0..400);
}

#[test]
#[ignore = "a soak of 10,000 problems for every penalty, some ten seconds"]
fn soak_of_what_paths_say() {
    look(0..10_000);
}

/// Without noise a few variables explain everything. Where the ℓ1 path ends with them and no others, they are the answer at level 0, also
/// where more variables were in on the way than are allowed.
#[test]
fn what_explains_everything_is_found() {
    let (mut found, mut crowded) = (0, 0);
    for seed in 0..300 {
        let rng = &mut rng(seed);
        let (n, p) = (30, 20);
        let x = chained(rng, n, p);
        let mut y = vec![0.0; n];
        for k in 0..5 {
            let (j, w) = (4 * k + rng.random_range(0..3), normal(rng));
            (0..n).for_each(|i| y[i] += w * x[(i, j)]);
        }
        let (gram, b) = (x.transpose() * &x, correlate(&x, &y));
        let options = LarsOptions::default().with(|it| it.max_nonzeros = Some(5));
        let (lengths, label) = ((0..p).map(|j| gram[(j, j)]).collect(), format!("seed {seed}"));
        let problem = Problem { x, y, gram, b, lengths, options, first: None, label };
        let all = lars_path(&problem.gram, &problem.b, &LarsOptions::default(), &()).unwrap();
        if all.last().coefficients.nonzeros() != 5 {
            continue;
        }
        found += 1;
        crowded += usize::from(all.at_nonzeros(5).unwrap().level > 0.0);
        for kind in [PenaltyKind::Scad, PenaltyKind::Mcp] {
            let path = problem.solved(kind).unwrap();
            let (end, expected) = (&path.last().coefficients, &all.last().coefficients);
            assert_eq!(end.indices(), expected.indices(), "{kind:?} seed {seed}");
            let off = end.iter().map(|(j, w)| (w - expected.get(j)).abs()).fold(0.0, f64::max);
            assert!(off < 1e-9 && path.last().level < 1e-6, "{kind:?} seed {seed}: {off:e}");
            let Some(&PenaltyReport::Rounds { settled: true, stationarity: Some(left), .. }) = path.report()
            else {
                panic!("{kind:?} seed {seed}: {:?}", path.report());
            };
            assert!(left < 1e-12, "{kind:?} seed {seed}: {left:e}");
        }
    }
    assert!(found > 150 && crowded >= 3, "{found} problems, {crowded} with more variables on the way");
}

/// A path that cannot come down to the level that was asked for says why, and not that it has.
#[test]
fn a_level_that_is_not_reached_is_not_said_to_be() {
    let mut above = 0;
    for seed in 0..600 {
        for kind in PenaltyKind::ALL.iter().copied().filter(|&kind| kind != PenaltyKind::L0) {
            let mut problem = Problem::new(seed, kind);
            let near = Design::NearDuplicates.matrix(&mut rng(seed), problem.x.nrows(), problem.x.ncols());
            (problem.gram, problem.b) = (near.transpose() * &near, correlate(&near, &problem.y));
            problem.lengths = (0..near.ncols()).map(|j| problem.gram[(j, j)]).collect();
            let largest = problem.b.iter().fold(f64::MIN_POSITIVE, |most: f64, b| most.max(b.abs()));
            problem.options = LarsOptions::default().with(|it| it.lambda_min = 1e-9 * largest.max(1e-60));
            let path = problem.solved(kind).unwrap();
            let (level, asked) = (path.last().level, problem.options.lambda_min);
            assert_eq!(
                level > asked,
                path.ended_early().is_some(),
                "{kind:?} seed {seed}: {level:e}, {}",
                path.ended()
            );
            above += usize::from(level > asked);
        }
    }
    assert!(above >= 20, "{above} paths end above the level");
}
