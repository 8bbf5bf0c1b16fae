//! From the manifold problem to a lasso: `(X, L, Y, α, β) → (G, b)`.
//!
//! LARS needs nothing but `b = XᵀY` and columns of `G = XᵀAX`, where [A](crate::operator) stands for the manifold term.

use faer::{Mat, MatRef};

use crate::alignment::Alignment;
use crate::error::{Error, Result};
use crate::gram::{Gram, GraphGram, gram_of};
use crate::lars::{Path, lars_paths};
use crate::monitor::Monitor;
use crate::operator::Operator;
use crate::panel;
use crate::params::{MenParams, default_nonzeros};
use crate::penalties::groups::{self, DEFAULT_GROUPS, GroupSparsity};
use crate::penalties::{self, PenaltyKind};
use crate::plan::Regime;
use crate::preprocess::Centred;
use crate::report::FitReport;

/// A lasso problem with one response per axis, and what is needed to turn its solution into a model.
#[derive(Debug)]
pub struct ReducedProblem {
    pub(crate) gram: Box<dyn Gram>,
    pub(crate) b: Mat<f64>,
    pub(crate) mean: Vec<f64>,
    pub(crate) norms: Vec<f64>,
    pub(crate) samples: usize,
    /// Names of the variables, if they have any.
    pub(crate) names: Option<Vec<String>>,
    pub(crate) report: FitReport,
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
        report: FitReport,
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
        Ok(ReducedProblem { gram, b, mean, norms, samples, names: None, report })
    }

    /// This problem with names of its variables, by which parameters may speak of them.
    ///
    /// # Errors
    /// When there is not one name per variable.
    pub fn with_names(mut self, names: Vec<String>) -> Result<Self> {
        let (given, expected) = (names.len(), self.mean.len());
        if given != expected {
            let why = format!("the problem has {expected} variables");
            return Err(Error::Size { what: "`names`", given, expected, why });
        }
        self.names = Some(names);
        Ok(self)
    }

    /// This problem with the term of the `feature_graph` of `params`, if they have one: its Gram matrix is `XᵀAX + λ3 Ω`. The names
    /// of the variables must be known before.
    ///
    /// # Errors
    /// When the graph does not belong to these variables.
    pub fn with_graph(mut self, params: &MenParams, image_shape: Option<(usize, usize)>) -> Result<Self> {
        if let Some(omega) = params.laplacian(self.names.as_deref(), image_shape, &self.norms)? {
            self.gram = Box::new(GraphGram::new(self.gram, omega)?);
        }
        Ok(self)
    }

    /// The penalty factor that `params` give to every variable.
    ///
    /// # Errors
    /// As [`MenParams::factors`].
    pub fn factors(&self, params: &MenParams) -> Result<Vec<f64>> {
        params.factors(self.names.as_deref(), self.mean.len())
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
    pub fn report(&self) -> &FitReport {
        &self.report
    }

    /// The path of every axis, as far as `params` need it.
    ///
    /// # Errors
    /// When a parameter is out of range, LARS fails, or `monitor` asks to stop.
    pub fn paths(&self, params: &MenParams, monitor: &dyn Monitor) -> Result<Vec<Path>> {
        let p = self.mean.len();
        let Some(size) = params.panel_size else {
            let default =
                if params.penalty.grouped() { DEFAULT_GROUPS } else { default_nonzeros(self.samples) };
            let nonzeros = params.nonzeros.unwrap_or(default);
            return self.paths_to(nonzeros, params, monitor);
        };
        if params.penalty.kind != PenaltyKind::L1 {
            return self.paths_within(size, params, monitor);
        }
        let paths_to = |nonzeros: usize| self.paths_to(nonzeros, params, monitor).map(Some);
        let paths = panel::far_enough(size, params, (p, self.b.ncols()), &paths_to)?;
        Ok(paths.unwrap_or_default())
    }

    /// The paths of a penalty other than ℓ1 that together use at most `size` variables, free ones not counted.
    fn paths_within(&self, size: usize, params: &MenParams, monitor: &dyn Monitor) -> Result<Vec<Path>> {
        let most = panel::most_within(size, params, self.mean.len());
        if params.reads_off() {
            return self.paths_to(most, params, monitor);
        }
        // The largest number of variables per axis that is not too much, by bisection: rounds are made for one number.
        let (mut fits, mut found, mut too_many) = (0, None, most + 1);
        while too_many - fits > 1 {
            let k = if fits == 0 {
                (most / self.b.ncols().max(1)).max(1).min(too_many - 1)
            } else {
                fits.midpoint(too_many)
            };
            let paths = self.paths_to(k, params, monitor)?;
            if panel::at_ends(&paths) <= size {
                (fits, found) = (k, Some(paths));
            } else {
                too_many = k;
            }
        }
        match found {
            Some(paths) => Ok(paths),
            // One variable per axis is too much already: the paths of ℓ1 are read at one common level.
            None => lars_paths(
                self.gram(),
                self.b(),
                &params.lars_options(most, self.factors(params)?, &self.norms),
                monitor,
            ),
        }
    }

    /// The path of every axis up to `nonzeros` variables, or, with groups, the solution with so many groups.
    ///
    /// # Errors
    /// As [`Self::paths`].
    pub(crate) fn paths_to(
        &self,
        nonzeros: usize,
        params: &MenParams,
        monitor: &dyn Monitor,
    ) -> Result<Vec<Path>> {
        let factors = self.factors(params)?;
        if params.penalty.grouped() {
            let options = params.group_options(&self.norms, &factors);
            let found =
                groups::solve(self.gram(), self.b(), &options, GroupSparsity::Groups(nonzeros), monitor)?;
            return found.paths(&options.groups, nonzeros);
        }
        let options = params.lars_options(nonzeros, factors, &self.norms);
        // Of the solver's columns: 1, unless they have their own lengths.
        let length = |norm: &f64| if params.penalty.standardize { 1.0 } else { norm * norm };
        let lengths: Vec<f64> = self.norms.iter().map(length).collect();
        let penalty = params.path_penalty(self.samples);
        penalties::paths(self.gram(), self.b(), &lengths, &options, &penalty, monitor)
    }

    /// What turns a path's coefficient of a variable into its weight in W: `W = (1 + λ2) ŵ` (Eq. updateW), on columns that
    /// were divided by their norm.
    pub(crate) fn units(&self, params: &MenParams) -> Vec<f64> {
        let unit = |&norm: &f64| {
            (1.0 + params.ridge()) / if params.penalty.standardize && norm > 0.0 { norm } else { 1.0 }
        };
        self.norms.iter().map(unit).collect()
    }

    /// The worst relative residual of the conjugate gradients so far, if they were used. The certificate speaks of the
    /// Gram matrix as built; this says how well it was.
    pub fn cg_residual(&self) -> Option<f64> {
        self.gram.residual().or(self.report.cg_residual)
    }
}

/// Reduces the problem on these samples. The target `y` (n×d), and the weights in the loss, if there are any, are those of the labelled
/// samples, which come first.
///
/// # Errors
/// When a parameter is out of range, sizes disagree, the policy refuses, a decomposition fails, or `monitor` asks to stop.
pub fn reduce(
    samples: Centred<'_>,
    (y, weights): (MatRef<'_, f64>, Option<&[f64]>),
    alignment: &Alignment,
    params: &MenParams,
    regime: &Regime,
    monitor: &dyn Monitor,
) -> Result<ReducedProblem> {
    let (n, labelled) = (samples.samples(), y.nrows());
    check_sizes(n, y, alignment)?;
    let too_small = samples.too_small().to_vec();
    let (x, mean, norms) = samples.into_solver(params.penalty.standardize);
    let b = if weights.is_none() && n == labelled {
        x.correlate_all(y)
    } else {
        // D Y, which is 0 for a sample without a label.
        let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
        let entry = |i: usize, k: usize| if i < labelled { weight(i) * y[(i, k)] } else { 0.0 };
        x.correlate_all(Mat::from_fn(n, y.ncols(), entry).as_ref())
    };
    let (operator, definiteness) =
        Operator::new(alignment, weights, &params.manifold, regime.route, monitor)?;
    // No eigenvalue of A is above 1 + β, or, with weights, the largest of them + β.
    let heaviest = weights.map_or(1.0, |weights| weights.iter().copied().fold(1.0, f64::max));
    let beta = params.manifold.beta + (heaviest - 1.0);
    let (gram, cg_residual) = gram_of(x, operator, regime.gram, beta, b.as_ref(), monitor)?;
    let mut report = FitReport { regime: Some(regime.clone()), cg_residual, ..FitReport::new(definiteness) };
    (report.unlabelled, report.unreached, report.too_small) =
        (n - labelled, alignment.unreached(), too_small);
    ReducedProblem::new(gram, b, mean, norms, labelled, report)
}

/// Refuses data or a target of another number of samples than the alignment is of.
fn check_sizes(n: usize, y: MatRef<'_, f64>, alignment: &Alignment) -> Result<()> {
    let (all, labelled) = (alignment.samples(), alignment.attract.dim());
    for (what, given, expected) in
        [("a column of the data", n, all), ("a column of the target", y.nrows(), labelled)]
    {
        if given != expected {
            let why = format!("the alignment is of {all} samples, {labelled} of them with a label");
            return Err(Error::Size { what, given, expected, why });
        }
    }
    Ok(())
}
