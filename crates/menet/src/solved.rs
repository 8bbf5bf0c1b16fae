//! The solved problem: from its paths, axes of any number of variables are read, with any refit, at little cost.

use std::sync::OnceLock;

use crate::error::Result;
use crate::fit::Prepared;
use crate::lars::Path;
use crate::monitor::Stage;
use crate::panel::{self, SizeLimits};
use crate::params::MenParams;
use crate::refit::{Axes, Elimination, ReadOffOptions, ReadOffSource, Refit, RefitProblem, Training};

/// The paths, and what axes are read off them with.
#[derive(Debug)]
pub struct SolvedPaths<'a> {
    pub(crate) prepared: &'a Prepared<'a>,
    pub(crate) paths: Vec<Path>,
    pub(crate) units: Vec<f64>,
    pub(crate) seconds: Vec<(Stage, f64)>,
    reached: OnceLock<RefitProblem>,
}

impl<'a> SolvedPaths<'a> {
    pub(crate) fn new(
        prepared: &'a Prepared<'a>,
        paths: Vec<Path>,
        units: Vec<f64>,
        seconds: Vec<(Stage, f64)>,
    ) -> Self {
        SolvedPaths { prepared, paths, units, seconds, reached: OnceLock::new() }
    }

    /// The path of every axis, in the solver's units.
    pub fn paths(&self) -> &[Path] {
        &self.paths
    }

    /// Axes of so many variables, refitted as `params` say.
    ///
    /// # Errors
    /// When the paths do not reach so far, no variable can be used, or a system cannot be solved.
    pub fn read(&self, reading: SizeLimits, params: &MenParams) -> Result<Axes> {
        self.source(params.refit.kind()).read(&ReadOffOptions::new(reading, params, self.paths.len()))
    }

    /// The paths of a fit with `params`, cut from these, which are of a fit with `solved` parameters; none where they do not hold them.
    pub(crate) fn held(&self, solved: &MenParams, params: &MenParams) -> Result<Option<Vec<Path>>> {
        panel::held(&self.paths, solved, (params, self.paths.len()), self.units.len())
    }

    /// The order in which [`Self::read`] drops the candidates of `paths` down to panels of `size` and more: computed once for many sizes.
    pub(crate) fn eliminate_from(
        &self,
        paths: &[Path],
        candidates: usize,
        (size, params): (usize, &MenParams),
    ) -> Result<Elimination> {
        let how = ReadOffOptions::new(SizeLimits::default(), params, paths.len());
        ReadOffSource { paths, ..self.source(Refit::Discriminant) }.eliminate(&how, candidates, size)
    }

    /// The axes of a fit with `params` and these `paths`; those on a panel of that order, if there is one.
    pub(crate) fn axes_of(
        &self,
        paths: &[Path],
        elimination: Option<&Elimination>,
        params: &MenParams,
    ) -> Result<Axes> {
        let reading = SizeLimits { panel_size: params.panel_size, ..SizeLimits::default() };
        let (how, source) = (
            ReadOffOptions::new(reading, params, paths.len()),
            ReadOffSource { paths, ..self.source(params.refit.kind()) },
        );
        match (elimination, params.panel_size) {
            (Some(order), Some(size)) => source.on_panel(&how, &order.panel(size), order.candidates()),
            _ => source.read(&how),
        }
    }

    /// The reduced problem at the variables that were reached, for the refits that need it.
    pub(crate) fn reached(&self, refit: Refit) -> Option<&RefitProblem> {
        refit
            .needs_gram()
            .then(|| self.reached.get_or_init(|| RefitProblem::new(&self.prepared.problem, &self.paths)))
    }

    fn source(&self, refit: Refit) -> ReadOffSource<'_> {
        ReadOffSource {
            training: Training::Samples(self.prepared.data),
            mean: &self.prepared.problem.mean,
            units: &self.units,
            paths: &self.paths,
            reached: self.reached(refit),
        }
    }
}
