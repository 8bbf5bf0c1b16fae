//! The fit: Algorithm 1 of the paper, one call per stage, and what comes after it.
//!
//! [`fit`] is plan → reduce → solve → assemble. Each step can be kept, used again, or made elsewhere:
//!
//! | step | holds | depends on |
//! |---|---|---|
//! | [`Plan`] | what will be done | the size of the data |
//! | [`Neighborhood`] | neighbours and alignment L | the samples and the patch |
//! | [`Prepared`] | the [reduced problem](ReducedProblem) `(G, b)` | also α, β, κ, the target and the feature graph |
//! | [`SolvedPaths`] | the paths, from which axes are read | also the ridge and the longest path |
//! | [`Men`] | the model | also the number of variables, the refit and the rule |
//!
//! What is read off a [`SolvedPaths`] costs little beside the steps before. A search over many settings ([`crate::select`])
//! therefore makes few of the first steps and many of the last.

use std::time::Instant;

use faer::{Mat, MatRef};

use crate::alignment::{Alignment, related};
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::lars::{LarsOptions, Path, lars_paths_each};
use crate::model::Men;
use crate::monitor::{Monitor, Stage, proceed};
use crate::named::Named;
use crate::params::MenParams;
use crate::patches;
use crate::penalties::PenaltyKind;
use crate::plan::Plan;
use crate::prepare::Preparation;
use crate::preprocess::{Centred, Weighing};
use crate::reduce::{ReducedProblem, reduce};
use crate::solved::SolvedPaths;
use crate::targets::{AxisCount, TargetSpread, target_by};

/// Learns a sparse projection and a rule that decides by it.
///
/// # Errors
/// When a parameter is out of range, there are fewer than two classes, there is nothing to learn, the policy
/// `error` refuses, a decomposition fails, or `monitor` asks to stop.
pub fn fit(data: &Dataset<'_>, params: &MenParams, monitor: &dyn Monitor) -> Result<Men> {
    fit_axes(data, params, AxisCount::exactly(params.components), monitor)
}

/// As [`fit`], with fewer axes than `params` ask for where the class centres leave fewer.
pub(crate) fn fit_at_most(data: &Dataset<'_>, params: &MenParams, monitor: &dyn Monitor) -> Result<Men> {
    fit_axes(data, params, params.components.map_or(AxisCount::All, AxisCount::AtMost), monitor)
}

/// Prepares the samples if that is asked for, and fits.
fn fit_axes(data: &Dataset<'_>, params: &MenParams, axes: AxisCount, monitor: &dyn Monitor) -> Result<Men> {
    let start = Instant::now();
    let Some((preparation, data)) = prepared(data, params, monitor)? else {
        return fit_prepared(data, params, axes, monitor);
    };
    let seconds = start.elapsed().as_secs_f64();
    let men = fit_prepared(&data, &params.clone().prepared(), axes, monitor)?;
    men.prepared_by(preparation, seconds)
}

/// How samples like these are prepared, and the prepared samples; none if nothing is asked for.
pub(crate) fn prepared<'a>(
    data: &'a Dataset<'_>,
    params: &MenParams,
    monitor: &dyn Monitor,
) -> Result<Option<(Preparation, Dataset<'a>)>> {
    let prepare = params.prepare;
    if !prepare.ask_for(data) {
        return Ok(None);
    }
    // What can be refused is refused before any work.
    Plan::new(data, params)?;
    params.check_names(data)?;
    proceed(monitor, Stage::Preprocess)?;
    let found = Preparation::of(data, &prepare)?;
    if let Some((preparation, _)) = &found {
        preparation.check_always(data, params)?;
    }
    Ok(found)
}

/// A fit of prepared samples.
pub(crate) fn fit_prepared(
    data: &Dataset<'_>,
    params: &MenParams,
    axes: AxisCount,
    monitor: &dyn Monitor,
) -> Result<Men> {
    let plan = planned(data.distinct(), params)?;
    refuse_missing(data)?;
    let data = data.distinct();
    let (neighborhood, samples) = Neighborhood::with_samples(data, params, monitor)?;
    let prepared = Prepared::from_samples(data, samples, params, (&plan, axes), &neighborhood, monitor)?;
    let found = prepared.problem.b.ncols();
    let params = &MenParams { components: params.components.map(|_| found), ..params.clone() };
    let solved = prepared.solve(params, monitor)?;
    Men::assemble(&solved, params, monitor)
}

/// What a fit will do. Names that parameters use are looked up here, before any work.
fn planned(data: &Dataset<'_>, params: &MenParams) -> Result<Plan> {
    let plan = Plan::new(data, params)?;
    if params.prepare.ask_for(data) {
        let allowed =
            "prepared before this step, and fitted with default `impute` and `scale` (`Preparation::of`)";
        return Err(Error::parameter("samples", "not prepared", allowed));
    }
    params.check_names(data)?;
    Ok(plan)
}

/// Labelled and other samples together, less the mean of the labelled ones: the loss has no constant. The manifold term, which sees all
/// samples, does not depend on the mean. The norm of a variable is over all samples.
fn among_all<'a>(data: &Dataset<'_>, all: &'a Dataset<'_>, params: &MenParams) -> Result<Centred<'a>> {
    let mut mean: Vec<f64> = (0..data.samples()).map(|i| data.weight(i)).collect();
    let mut norm = mean.clone();
    mean.resize(all.samples(), 0.0);
    norm.resize(all.samples(), 1.0);
    Centred::weighed(all, params.pca_rank, Some(Weighing { mean: &mean, norm: &norm }))
}

/// Refuses missing values, in samples as the caller counts them.
fn refuse_missing(data: &Dataset<'_>) -> Result<()> {
    match data.first_missing() {
        Some((row, column)) => Err(Error::NotFinite { what: "the data", row, column, value: f64::NAN }),
        None => Ok(()),
    }
}

/// The problem with the names of the data's variables.
fn named(problem: ReducedProblem, data: &Dataset<'_>) -> Result<ReducedProblem> {
    match data.feature_names() {
        Some(names) => problem.with_names(names.to_vec()),
        None => Ok(problem),
    }
}

/// Neighbours and their alignment.
#[derive(Debug)]
pub struct Neighborhood {
    alignment: Alignment,
    recall: Option<f64>,
    seconds: Vec<(Stage, f64)>,
}

impl Neighborhood {
    /// Searches the neighbours of every sample and aligns the patches they make.
    ///
    /// # Errors
    /// As [`fit`].
    pub fn new(data: &Dataset<'_>, params: &MenParams, monitor: &dyn Monitor) -> Result<Self> {
        planned(data.distinct(), params)?;
        refuse_missing(data)?;
        let data = data.distinct();
        Ok(Self::with_samples(data, params, monitor)?.0)
    }

    /// The neighborhood, and the centred samples it was made from.
    fn with_samples<'a>(
        data: &'a Dataset<'_>,
        params: &MenParams,
        monitor: &dyn Monitor,
    ) -> Result<(Self, Centred<'a>)> {
        let (rule, patch) = (patches::rule(&params.patch.kind)?, &params.patch);
        let mut clock = Clock { monitor, seconds: Vec::new() };
        let samples = clock.time(Stage::Preprocess, || Centred::new(data, params.pca_rank))?;
        let (found, recall) = clock
            .time(Stage::Neighbors, || related(data, &samples, rule, patch, params.patch.search, monitor))?;
        let mut alignment = clock
            .time(Stage::Alignment, || Alignment::from_neighbors(&samples, rule, patch, &found, monitor))?;
        if let Some(all) = data.union()? {
            clock.time(Stage::Alignment, || {
                let samples = among_all(data, &all, params)?;
                alignment.join_unlabelled(&all, &samples, rule, patch, params.patch.search, monitor)
            })?;
        }
        Ok((Neighborhood { alignment, recall, seconds: clock.seconds }, samples))
    }
}

/// The reduced problem, and the samples that it is of.
#[derive(Debug)]
pub struct Prepared<'a> {
    pub(crate) data: &'a Dataset<'a>,
    pub(crate) problem: ReducedProblem,
}

impl<'a> Prepared<'a> {
    /// Reduces the problem of `data` to a lasso.
    ///
    /// # Errors
    /// As [`fit`].
    pub fn new(
        data: &'a Dataset<'a>,
        params: &MenParams,
        neighborhood: &Neighborhood,
        monitor: &dyn Monitor,
    ) -> Result<Self> {
        let plan = planned(data.distinct(), params)?;
        refuse_missing(data)?;
        let data = data.distinct();
        let samples = Centred::new(data, params.pca_rank)?;
        let axes = AxisCount::exactly(params.components);
        Self::from_samples(data, samples, params, (&plan, axes), neighborhood, monitor)
    }

    /// A problem that was reduced elsewhere. Of `data` the classes are used, and the variables that a path reaches: the
    /// others may be left empty (sparse samples with few columns).
    ///
    /// # Errors
    /// When the data have other sizes than the problem.
    pub fn from_problem(data: &'a Dataset<'a>, problem: ReducedProblem) -> Result<Self> {
        let why = |what: &str, expected: usize| format!("the problem has {expected} {what}");
        for (what, given, expected) in [
            ("variables", data.variables(), problem.mean.len()),
            ("samples", data.samples(), problem.samples),
        ] {
            if given != expected {
                return Err(Error::Size { what: "the data", given, expected, why: why(what, expected) });
            }
        }
        Ok(Prepared { data, problem: named(problem, data)? })
    }

    fn from_samples(
        data: &'a Dataset<'a>,
        samples: Centred<'_>,
        params: &MenParams,
        (plan, axes): (&Plan, AxisCount),
        neighborhood: &Neighborhood,
        monitor: &dyn Monitor,
    ) -> Result<Self> {
        let mut clock = Clock { monitor, seconds: neighborhood.seconds.clone() };
        let all = data.union()?;
        let all = all.as_ref().map(|all| Ok((all, among_all(data, all, params)?))).transpose()?;
        let y = clock.time(Stage::Target, || {
            let spread = all.as_ref().filter(|_| params.target.spread == TargetSpread::All);
            let spread = spread.map(|(data, samples)| (*data, samples));
            target_by(data, &samples, spread, (params.target.kind, params.target.shrinkage), axes, monitor)
        })?;
        let samples = all.map_or(samples, |(_, all)| all);
        let mut problem = clock.time(Stage::Reduction, || {
            reduce(
                samples,
                (y.as_ref(), data.weights()),
                &neighborhood.alignment,
                params,
                &plan.regime,
                monitor,
            )
        })?;
        problem.report.neighbor_recall = neighborhood.recall;
        problem.report.seconds = clock.seconds;
        let problem = named(problem, data)?.with_graph(params, data.image_shape())?;
        Ok(Prepared { data, problem })
    }

    /// The reduced problem.
    pub fn problem(&self) -> &ReducedProblem {
        &self.problem
    }

    /// Computes the paths as far as `params` need them.
    ///
    /// # Errors
    /// As [`fit`].
    pub fn solve(&'a self, params: &MenParams, monitor: &dyn Monitor) -> Result<SolvedPaths<'a>> {
        self.solve_by(params, monitor, || self.problem.paths(params, monitor))
    }

    /// Computes the paths up to `nonzeros` variables per axis.
    ///
    /// # Errors
    /// As [`fit`].
    pub fn solve_to(
        &'a self,
        params: &MenParams,
        nonzeros: usize,
        monitor: &dyn Monitor,
    ) -> Result<SolvedPaths<'a>> {
        self.solve_by(params, monitor, || self.problem.paths_to(nonzeros, params, monitor))
    }

    /// The solved problem with penalty factors for every axis (p×d), in the place of those of `params`.
    ///
    /// # Errors
    /// As [`fit`], and when there is not one factor per variable and axis, or the penalty is not ℓ1.
    pub fn solve_each(
        &'a self,
        params: &MenParams,
        nonzeros: usize,
        factors: MatRef<'_, f64>,
        monitor: &dyn Monitor,
    ) -> Result<SolvedPaths<'a>> {
        let norms = &self.problem.norms;
        params.refuse_groups("penalty factors per axis")?;
        if params.penalty.kind != PenaltyKind::L1 {
            let allowed = "l1 with penalty factors per axis; the other penalties make their own";
            return Err(Error::parameter("penalty.kind", params.penalty.kind.name(), allowed));
        }
        let options =
            LarsOptions { penalty_factors: None, ..params.lars_options(nonzeros, Vec::new(), norms) };
        // Constant columns are barred, as in `lars_options`.
        let barred = |j: usize| norms.get(j).is_some_and(|&norm| norm == 0.0);
        let factors = Mat::from_fn(factors.nrows(), factors.ncols(), |j, k| {
            if barred(j) { f64::INFINITY } else { factors[(j, k)] }
        });
        self.solve_by(params, monitor, || {
            lars_paths_each(self.problem.gram(), self.problem.b(), factors.as_ref(), &options, monitor)
        })
    }

    fn solve_by(
        &'a self,
        params: &MenParams,
        monitor: &dyn Monitor,
        paths: impl FnOnce() -> Result<Vec<Path>>,
    ) -> Result<SolvedPaths<'a>> {
        let mut clock = Clock { monitor, seconds: self.problem.report.seconds.clone() };
        let paths = clock.time(Stage::Lars, paths)?;
        let units = self.problem.units(params);
        Ok(SolvedPaths::new(self, paths, units, clock.seconds))
    }
}

/// Times the stages, and stops between them if asked to.
pub(crate) struct Clock<'a> {
    pub(crate) monitor: &'a dyn Monitor,
    pub(crate) seconds: Vec<(Stage, f64)>,
}

impl Clock<'_> {
    pub(crate) fn time<T>(&mut self, stage: Stage, work: impl FnOnce() -> Result<T>) -> Result<T> {
        proceed(self.monitor, stage)?;
        self.monitor.progress(stage, 0, 1);
        let start = Instant::now();
        let out = work()?;
        self.seconds.push((stage, start.elapsed().as_secs_f64()));
        self.monitor.progress(stage, 1, 1);
        Ok(out)
    }
}
