//! The fit: Algorithm 1 of the paper, one call per stage, and what comes after it.
//!
//! The stages fall into three steps, each of which can be kept and used again:
//!
//! | step | holds | depends on |
//! |---|---|---|
//! | [`Neighborhood`] | neighbours and alignment L | the samples and the patch |
//! | [`Prepared`] | the reduced problem `(G, b)` | also α, β, κ and the target |
//! | [`Solved`] | the paths, from which axes are read | also the ridge and the longest path |
//!
//! What is read off a [`Solved`] (number of variables, refit, rule) costs little beside the steps before. A search over
//! many settings ([`crate::select`]) therefore makes few of the first steps and many of the last.

use std::sync::OnceLock;
use std::time::Instant;

use crate::alignment::{Alignment, related};
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::implicit::{self, Implicit};
use crate::lars::{Ended, Path, lars_paths};
use crate::model::Men;
use crate::monitor::{Monitor, Stage, proceed};
use crate::neighbors::NeighborSearch;
use crate::panel::{self, Reading};
use crate::params::{MenParams, default_nonzeros};
use crate::patches;
use crate::preprocess::Preprocessed;
use crate::reduction::{LassoProblem, reduce, reduce_sparse};
use crate::refit::{Axes, Elimination, How, Reached, Refit, Source};
use crate::target::target;

/// Learns a sparse projection and a rule that decides by it.
///
/// # Errors
/// When a parameter is out of range, there are fewer than two classes, there is nothing to learn, the policy
/// `error` refuses, a decomposition fails, or `monitor` asks to stop.
pub fn fit(data: &Dataset<'_>, params: &MenParams, monitor: &dyn Monitor) -> Result<Men> {
    let (neighborhood, samples) = Neighborhood::with_samples(data, params, monitor)?;
    let prepared = Prepared::from_samples(data, samples, params, &neighborhood, monitor)?;
    let solved = prepared.solve(params, monitor)?;
    Men::assemble(&solved, params, monitor)
}

/// Centred samples.
enum Samples<'a> {
    Dense(Preprocessed<'a>),
    Sparse(Implicit),
}

impl<'a> Samples<'a> {
    fn new(data: &'a Dataset<'_>, params: &MenParams) -> Result<Self> {
        Ok(match data.sparse() {
            None => Samples::Dense(Preprocessed::new(data, params.pca_rank)?),
            Some(x) => Samples::Sparse(Implicit::new(x)?),
        })
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
        Ok(Self::with_samples(data, params, monitor)?.0)
    }

    /// The same, and the centred samples it was made from.
    fn with_samples<'a>(
        data: &'a Dataset<'_>,
        params: &MenParams,
        monitor: &dyn Monitor,
    ) -> Result<(Self, Samples<'a>)> {
        check(data, params)?;
        let (rule, patch) = (patches::rule(&params.patch)?, params.patch_params());
        let mut clock = Clock { monitor, seconds: Vec::new() };
        let samples = clock.time(Stage::Preprocess, || Samples::new(data, params))?;
        let ((near, far), recall) = clock.time(Stage::Neighbors, || match &samples {
            Samples::Dense(pre) => related(data, pre, rule, &patch, params.neighbors, monitor),
            Samples::Sparse(pre) => {
                Ok((implicit::related(pre, data.class_indices(), rule, &patch, monitor)?, None))
            }
        })?;
        let alignment = clock.time(Stage::Alignment, || match &samples {
            Samples::Dense(pre) => Alignment::from_neighbors(pre, rule, &patch, &near, &far, monitor),
            Samples::Sparse(pre) => Alignment::from_neighbors(pre, rule, &patch, &near, &far, monitor),
        })?;
        Ok((Neighborhood { alignment, recall, seconds: clock.seconds }, samples))
    }
}

/// Refuses what can be refused before any work.
fn check(data: &Dataset<'_>, params: &MenParams) -> Result<()> {
    params.check(data.variables())?;
    let classes = data.classes().len();
    if classes < 2 {
        return Err(Error::Classes { found: classes, samples: data.samples() });
    }
    params.priors.check(classes)?;
    if data.sparse().is_none() {
        return Ok(());
    }
    if let Some(rank) = params.pca_rank {
        let (n, p) = (data.samples(), data.variables());
        let value = format!("{rank} with sparse samples, {n} x {p}");
        return Err(Error::parameter("pca_rank", value, "left out: a reconstruction needs dense data"));
    }
    if params.neighbors == NeighborSearch::Approximate {
        let allowed = "\"exact\" for data that stay sparse";
        return Err(Error::parameter("neighbors", "\"approximate\" with sparse samples", allowed));
    }
    Ok(())
}

/// The reduced problem.
#[derive(Debug)]
pub struct Prepared<'a> {
    pub(crate) data: &'a Dataset<'a>,
    pub(crate) mean: Vec<f64>,
    pub(crate) norms: Vec<f64>,
    /// Of neighbours.
    pub(crate) recall: Option<f64>,
    pub(crate) problem: LassoProblem,
    pub(crate) seconds: Vec<(Stage, f64)>,
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
        check(data, params)?;
        Self::from_samples(data, Samples::new(data, params)?, params, neighborhood, monitor)
    }

    fn from_samples(
        data: &'a Dataset<'a>,
        samples: Samples<'_>,
        params: &MenParams,
        neighborhood: &Neighborhood,
        monitor: &dyn Monitor,
    ) -> Result<Self> {
        let alignment = &neighborhood.alignment;
        let mut clock = Clock { monitor, seconds: neighborhood.seconds.clone() };
        let (kind, shrinkage, components) = (params.target, params.target_shrinkage, params.components);
        let reduction = params.reduction_params(data.classes().len());
        let (mean, norms, problem) = match samples {
            Samples::Dense(pre) => {
                let y = clock.time(Stage::Target, || target(data, &pre, kind, shrinkage, components))?;
                clock.time(Stage::Reduction, || {
                    let Preprocessed { x, mean, norms, .. } =
                        if params.standardize { pre.with_unit_columns() } else { pre };
                    Ok((mean, norms, reduce(x, y.as_ref(), alignment, &reduction, monitor)?))
                })?
            }
            Samples::Sparse(pre) => {
                let y = clock.time(Stage::Target, || {
                    implicit::target(data, &pre, kind, shrinkage, components, monitor)
                })?;
                let problem = clock.time(Stage::Reduction, || {
                    let x = pre.solver_columns(params.standardize);
                    reduce_sparse(x, y.as_ref(), alignment, &reduction, monitor)
                })?;
                (pre.mean, pre.norms, problem)
            }
        };
        let recall = neighborhood.recall;
        Ok(Prepared { data, mean, norms, recall, problem, seconds: clock.seconds })
    }

    /// Computes the paths as far as `params` need them.
    ///
    /// # Errors
    /// As [`fit`].
    pub fn solve(&'a self, params: &MenParams, monitor: &dyn Monitor) -> Result<Solved<'a>> {
        let p = self.data.variables();
        let Some(size) = params.panel_size else {
            let nonzeros = params.nonzeros.unwrap_or_else(|| default_nonzeros(self.data.samples()));
            return self.solve_to(params, nonzeros, monitor);
        };
        // As far as the panel needs it, which shows only on the way.
        let wanted =
            if params.refit().shares_panel() { panel::candidates(size) } else { size.saturating_add(1) };
        let most = params.nonzeros.unwrap_or(p).min(p);
        let mut nonzeros = (wanted / self.problem.b.ncols().max(1) + 8).min(most);
        loop {
            let solved = self.solve_to(params, nonzeros, monitor)?;
            let stopped = solved.paths.iter().any(|path| matches!(path.ended(), Ended::MaxNonzeros { .. }));
            if panel::certain(&solved.paths)? >= wanted || nonzeros >= most || !stopped {
                return Ok(solved);
            }
            nonzeros = (2 * nonzeros).min(most);
        }
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
    ) -> Result<Solved<'a>> {
        let options = params.lars_options(params.ridge(), nonzeros, &self.norms);
        let mut clock = Clock { monitor, seconds: self.seconds.clone() };
        let paths = clock.time(Stage::Lars, || {
            lars_paths(&self.problem.gram, self.problem.b.as_ref(), &options, monitor)
        })?;
        // W = (1 + λ2) ŵ (Eq. updateW), on columns that were divided by their norm.
        let unit =
            |&norm: &f64| (1.0 + params.ridge()) / if params.standardize && norm > 0.0 { norm } else { 1.0 };
        let units = self.norms.iter().map(unit).collect();
        Ok(Solved { prepared: self, paths, units, seconds: clock.seconds, reached: OnceLock::new() })
    }
}

/// The paths, and what axes are read off them with.
#[derive(Debug)]
pub struct Solved<'a> {
    pub(crate) prepared: &'a Prepared<'a>,
    pub(crate) paths: Vec<Path>,
    pub(crate) units: Vec<f64>,
    pub(crate) seconds: Vec<(Stage, f64)>,
    reached: OnceLock<Reached>,
}

impl Solved<'_> {
    /// The path of every component, in the solver's units.
    pub fn paths(&self) -> &[Path] {
        &self.paths
    }

    /// Axes of so many variables, refitted as `params` say.
    ///
    /// # Errors
    /// When the paths do not reach so far, no variable can be used, or a system cannot be solved.
    pub fn read(&self, reading: Reading, params: &MenParams) -> Result<Axes> {
        self.source(params.refit()).read(&How::new(reading, params, self.paths.len()))
    }

    /// The order in which [`Self::read`] drops `candidates` variables down to panels of `size` and more: computed once for many sizes.
    pub(crate) fn eliminate_from(
        &self,
        candidates: usize,
        size: usize,
        params: &MenParams,
    ) -> Result<Elimination> {
        self.source(Refit::Discriminant).eliminate(
            &How::new(Reading::default(), params, self.paths.len()),
            candidates,
            size,
        )
    }

    /// The axes on a panel of that order.
    pub(crate) fn on_panel(
        &self,
        elimination: &Elimination,
        size: usize,
        params: &MenParams,
    ) -> Result<Axes> {
        let how = How::new(Reading::default(), params, self.paths.len());
        self.source(params.refit()).on_panel(&how, &elimination.panel(size), elimination.candidates())
    }

    /// The reduced problem at the variables that were reached, for the refits that need it.
    pub(crate) fn reached(&self, refit: Refit) -> Option<&Reached> {
        refit
            .needs_gram()
            .then(|| self.reached.get_or_init(|| Reached::new(&self.prepared.problem, &self.paths)))
    }

    fn source(&self, refit: Refit) -> Source<'_> {
        Source {
            data: self.prepared.data,
            mean: &self.prepared.mean,
            units: &self.units,
            paths: &self.paths,
            reached: self.reached(refit),
        }
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
