//! From the manifold problem to a lasso: `(X, L, Y, α, β) → (G, b)`.
//!
//! LARS needs nothing but `b = XᵀY` and columns of `G = XᵀAX`, where [A](crate::operator) stands for the manifold term.

use faer::{Mat, MatRef};

use crate::alignment::Alignment;
use crate::error::{Error, Result};
use crate::gram::{Gram, gram_of};
use crate::lars::{Ended, Path, lars_paths};
use crate::monitor::{Monitor, Stage};
use crate::operator::{DefinitenessReport, Operator};
use crate::panel;
use crate::params::{MenParams, default_nonzeros};
use crate::plan::Regime;
use crate::preprocess::Centred;

/// A lasso problem with one response per axis, and what is needed to turn its solution into a model.
#[derive(Debug)]
pub struct ReducedProblem {
    pub(crate) gram: Box<dyn Gram>,
    pub(crate) b: Mat<f64>,
    pub(crate) mean: Vec<f64>,
    pub(crate) norms: Vec<f64>,
    pub(crate) samples: usize,
    pub(crate) report: ReductionReport,
}

/// How a problem was reduced.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ReductionReport {
    /// What the definiteness policy found and did.
    pub definiteness: DefinitenessReport,
    /// Which way the reduction went; none if that is not known.
    pub regime: Option<Regime>,
    /// The share of the true neighbours that a search found; none if it was exact.
    pub neighbor_recall: Option<f64>,
    /// The worst relative residual of the conjugate gradients that built a whole Gram matrix.
    pub cg_residual: Option<f64>,
    /// Seconds that every stage took.
    pub seconds: Vec<(Stage, f64)>,
}

impl ReductionReport {
    /// With nothing but what the definiteness policy found and did.
    pub fn new(definiteness: DefinitenessReport) -> Self {
        ReductionReport {
            definiteness,
            regime: None,
            neighbor_recall: None,
            cg_residual: None,
            seconds: Vec::new(),
        }
    }
}

impl ReducedProblem {
    /// A problem that was reduced elsewhere.
    ///
    /// `gram` is `XᵀAX` without the ridge, and `b` is `XᵀY`, one column per axis, for centred columns X, divided by their
    /// `norms` if the fit standardizes. `mean` and `norms` (0 for a constant column) are of all variables, over `samples`
    /// samples.
    ///
    /// # Errors
    /// When the sizes do not fit together.
    pub fn new(
        gram: Box<dyn Gram>,
        b: Mat<f64>,
        mean: Vec<f64>,
        norms: Vec<f64>,
        samples: usize,
        report: ReductionReport,
    ) -> Result<Self> {
        let p = gram.dim();
        for (what, given) in
            [("a column of `b`", b.nrows()), ("`mean`", mean.len()), ("`norms`", norms.len())]
        {
            if given != p {
                let why = format!("the Gram matrix has {p} variables");
                return Err(Error::Size { what, given, expected: p, why });
            }
        }
        if b.ncols() == 0 || samples == 0 {
            return Err(Error::Empty { rows: samples, columns: b.ncols() });
        }
        Ok(ReducedProblem { gram, b, mean, norms, samples, report })
    }

    /// `XᵀAX`, without the ridge.
    pub fn gram(&self) -> &dyn Gram {
        &*self.gram
    }

    /// `XᵀY`, one column per axis.
    pub fn b(&self) -> MatRef<'_, f64> {
        self.b.as_ref()
    }

    /// The mean of every variable.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// The norm of every centred variable, 0 for a constant one.
    pub fn norms(&self) -> &[f64] {
        &self.norms
    }

    /// How it was reduced.
    pub fn report(&self) -> &ReductionReport {
        &self.report
    }

    /// The path of every axis, as far as `params` need it.
    ///
    /// # Errors
    /// When a parameter is out of range, LARS fails, or `monitor` asks to stop.
    pub fn paths(&self, params: &MenParams, monitor: &dyn Monitor) -> Result<Vec<Path>> {
        let p = self.mean.len();
        let Some(size) = params.panel_size else {
            let nonzeros = params.nonzeros.unwrap_or_else(|| default_nonzeros(self.samples));
            return self.paths_to(nonzeros, params, monitor);
        };
        // As far as the panel needs it, which shows only on the way.
        let wanted =
            if params.refit().shares_panel() { panel::candidates(size) } else { size.saturating_add(1) };
        let most = params.nonzeros.unwrap_or(p).min(p);
        let mut nonzeros = (wanted / self.b.ncols().max(1) + 8).min(most);
        loop {
            let paths = self.paths_to(nonzeros, params, monitor)?;
            let stopped = paths.iter().any(|path| matches!(path.ended(), Ended::MaxNonzeros { .. }));
            if panel::certain(&paths)? >= wanted || nonzeros >= most || !stopped {
                return Ok(paths);
            }
            nonzeros = (2 * nonzeros).min(most);
        }
    }

    /// The path of every axis up to `nonzeros` variables.
    ///
    /// # Errors
    /// As [`Self::paths`].
    pub fn paths_to(&self, nonzeros: usize, params: &MenParams, monitor: &dyn Monitor) -> Result<Vec<Path>> {
        let options = params.lars_options(params.ridge(), nonzeros, &self.norms);
        lars_paths(self.gram(), self.b(), &options, monitor)
    }

    /// What turns a path's coefficient of a variable into its weight in W: `W = (1 + λ2) ŵ` (Eq. updateW), on columns that
    /// were divided by their norm.
    pub(crate) fn units(&self, params: &MenParams) -> Vec<f64> {
        let unit =
            |&norm: &f64| (1.0 + params.ridge()) / if params.standardize && norm > 0.0 { norm } else { 1.0 };
        self.norms.iter().map(unit).collect()
    }

    /// The worst relative residual of the conjugate gradients so far, if they were used. The certificate speaks of the
    /// Gram matrix as built; this says how well it was.
    pub fn cg_residual(&self) -> Option<f64> {
        self.gram.residual().or(self.report.cg_residual)
    }
}

/// Reduces the problem on these samples and the target `y` (n×d).
///
/// # Errors
/// When a parameter is out of range, sizes disagree, the policy refuses, a decomposition fails, or `monitor` asks to stop.
pub fn reduce(
    samples: Centred<'_>,
    y: MatRef<'_, f64>,
    alignment: &Alignment,
    params: &MenParams,
    regime: &Regime,
    monitor: &dyn Monitor,
) -> Result<ReducedProblem> {
    let n = samples.samples();
    check_sizes(n, y, alignment)?;
    let (x, mean, norms) = samples.into_solver(params.standardize);
    let b = x.correlate_all(y);
    let (operator, definiteness) =
        Operator::new(alignment, &params.operator_params(), regime.route, monitor)?;
    let (gram, cg_residual) = gram_of(x, operator, regime.gram, params.beta, b.as_ref(), monitor)?;
    let report =
        ReductionReport { regime: Some(regime.clone()), cg_residual, ..ReductionReport::new(definiteness) };
    ReducedProblem::new(gram, b, mean, norms, n, report)
}

/// Refuses data or a target of another number of samples than the alignment is of.
fn check_sizes(n: usize, y: MatRef<'_, f64>, alignment: &Alignment) -> Result<()> {
    let expected = alignment.attract.dim();
    let why = format!("the alignment is of {expected} samples");
    for (what, given) in [("a column of the data", n), ("a column of the target", y.nrows())] {
        if given != expected {
            return Err(Error::Size { what, given, expected, why });
        }
    }
    Ok(())
}
