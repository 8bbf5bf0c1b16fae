//! What is made of the selected variables: the weights of every axis, computed anew on the variables that its path, or all
//! paths together, have selected.
//!
//! LARS selects and shrinks at once. Its supports are good, its weights are small and nearly disjoint between axes; so a stage
//! after the paths computes the weights again:
//!
//! | refit | variables of an axis | weights |
//! |---|---|---|
//! | `none` | its own support | the paper's |
//! | `axis` | its own support | the same problem without the ℓ1 penalty; `relax` mixes both |
//! | `panel` | the panel, the union of all supports | the same problem without the ℓ1 penalty |
//! | `discriminant` | the panel | the discriminants, with a shrunken within-class covariance |
//!
//! # The scale of scores
//!
//! The paper's axes are as long as their path leaves them, and scores on them are small. After a refit, scores have a pooled
//! within-class variance of 1: for `discriminant` on every axis, by the shrunken covariance; for `axis` and `panel` on the average over
//! the axes, by one factor for all, so that the axes keep the lengths that the target gives them relative to each other.

mod discriminant;
mod elimination;
mod least_squares;
mod sums;
mod training;
mod within;

use faer::{Mat, MatRef};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, check};
use crate::lars::Path;
use crate::named::named;
use crate::numerics::sparse::SparseVector;
use crate::panel::{SizeLimits, at_least, at_nonzeros, candidates, reach, union, within_size};
use crate::params::MenParams;
use crate::reduce::ReducedProblem;
use crate::rules::RuleKind;
pub(crate) use elimination::Elimination;
pub use sums::TrainingSums;
pub use training::Training;
use training::TrainingVariables;
pub(crate) use training::VariableSpread;
use within::WithinCovariance;

/// How the weights of the selected variables are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Refit {
    /// They are the paper's.
    None,
    /// On every axis's own support, without the ℓ1 penalty.
    Axis,
    /// On the panel for all axes, without the ℓ1 penalty.
    Panel,
    /// The discriminants of the panel.
    Discriminant,
}

named!(Refit, "refit", None = "none", Axis = "axis", Panel = "panel", Discriminant = "discriminant");

impl Refit {
    /// Whether every axis uses the whole panel.
    pub fn shares_panel(self) -> bool {
        matches!(self, Refit::Panel | Refit::Discriminant)
    }

    /// Whether it solves the reduced problem again, and needs its Gram matrix for that.
    pub fn needs_gram(self) -> bool {
        matches!(self, Refit::Axis | Refit::Panel)
    }
}

/// The refit: how the weights of the selected variables are computed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct RefitParams {
    /// On which variables, and with which objective; none: "discriminant".
    #[schemars(extend("common" = true))]
    pub kind: Option<Refit>,
    /// Ridge of the refit, at least 0; none: the ridge of the path.
    #[schemars(extend("of" = ["axis", "panel"]))]
    pub ridge: Option<f64>,
    /// How far the refit goes, from 0 (the weights of the path) to 1 (those without the ℓ1 penalty).
    #[schemars(extend("of" = ["axis"]))]
    pub relax: f64,
}

impl Default for RefitParams {
    fn default() -> Self {
        RefitParams { kind: None, ridge: None, relax: 1.0 }
    }
}

impl RefitParams {
    /// Which refit is used.
    pub fn kind(&self) -> Refit {
        self.kind.unwrap_or(Refit::Discriminant)
    }

    /// Refuses parameters that are out of range.
    ///
    /// # Errors
    /// Naming the parameter, its value and what is allowed.
    pub fn check(&self) -> Result<()> {
        check("ridge", self.ridge.unwrap_or(0.0), "a number from 0 to 1e100", |x| x >= 0.0)?;
        check("relax", self.relax, "from 0 to 1", |x| (0.0..=1.0).contains(&x))
    }
}

/// What a refit did.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RefitReport {
    /// Which.
    pub refit: Refit,
    /// From how many variables the panel was chosen; the size of the panel itself where nothing was dropped.
    pub candidates: usize,
    /// How far the weights are from solving their equations: the largest entry left over, relative to the largest of the
    /// right-hand side. None for `none`, whose certificate is that of its paths.
    pub residual: Option<f64>,
    /// The intensity λ, from 0 to 1, with which the within-class covariance was shrunken, if it was.
    pub shrinkage: Option<f64>,
}

/// The reduced problem at the variables that some path has reached: what `axis` and `panel` solve again.
#[derive(Debug, Clone, PartialEq)]
pub struct RefitProblem {
    /// The variables, rising.
    pub variables: Vec<usize>,
    /// `XᵀAX` there, without the ridge, in the solver's units.
    pub gram: Mat<f64>,
    /// `XᵀY` there, one column per path.
    pub b: Mat<f64>,
}

impl RefitProblem {
    pub(crate) fn new(problem: &ReducedProblem, paths: &[Path]) -> Self {
        let of = |path: &Path| [path.order_of_entry(), path.free().to_vec()].concat();
        let mut variables: Vec<usize> = paths.iter().flat_map(of).collect();
        variables.sort_unstable();
        variables.dedup();
        let gram = problem.gram.submatrix(&variables);
        let b = Mat::from_fn(variables.len(), problem.b.ncols(), |i, k| problem.b[(variables[i], k)]);
        RefitProblem { variables, gram, b }
    }

    /// Where these variables are.
    fn places(&self, variables: &[usize]) -> Result<Vec<usize>> {
        let place = |j: &usize| {
            self.variables.binary_search(j).map_err(|_| {
                Error::Degenerate(format!("variable {j} of the panel is not among those that a path reached"))
            })
        };
        variables.iter().map(place).collect()
    }
}

/// Axes read off a fit.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Axes {
    /// The columns of W, in the user's units.
    pub axes: Vec<SparseVector>,
    /// The distinct variables that they use, rising.
    pub panel: Vec<usize>,
    /// What the refit did.
    pub report: RefitReport,
    /// The within-class covariance of the scores, from the shrunken one of the panel; on request.
    pub covariance: Option<Mat<f64>>,
}

/// Everything that axes are read off.
pub(crate) struct ReadOffSource<'a> {
    pub(crate) training: Training<'a>,
    pub(crate) mean: &'a [f64],
    /// What turns a path's coefficient of a variable into its weight in W.
    pub(crate) units: &'a [f64],
    pub(crate) paths: &'a [Path],
    /// For the refits that need it.
    pub(crate) reached: Option<&'a RefitProblem>,
}

/// How axes are read off.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReadOffOptions {
    pub(crate) reading: SizeLimits,
    pub(crate) refit: Refit,
    /// Whether a panel of a given size is dropped down to from more candidates.
    pub(crate) eliminates: bool,
    pub(crate) relax: f64,
    /// The ridge of the refit.
    pub(crate) ridge: f64,
    /// Whether the covariance of the scores is asked for.
    pub(crate) covariance: bool,
}

/// The variables of which a reading needs the training samples, rising.
///
/// # Errors
/// When the paths do not reach so far.
pub(crate) fn wanted(paths: &[Path], how: &ReadOffOptions) -> Result<Vec<usize>> {
    let d = how.reading.components.unwrap_or(paths.len()).min(paths.len());
    let paths = &paths[..d];
    let axes = match how.reading.panel_size {
        Some(size) if how.eliminates => at_least(paths, how.nonzeros(paths), candidates(size)),
        Some(size) => within_size(paths, how.nonzeros(paths), size),
        None => at_nonzeros(paths, how.nonzeros(paths)),
    };
    Ok(union(&axes?))
}

impl ReadOffSource<'_> {
    /// Reads axes.
    ///
    /// # Errors
    /// When the paths do not reach so far, no variable can be used, or a system cannot be solved.
    pub(crate) fn read(&self, how: &ReadOffOptions) -> Result<Axes> {
        let d = how.reading.components.unwrap_or(self.paths.len()).min(self.paths.len());
        let read = ReadOffSource { paths: &self.paths[..d], ..*self };
        match how.reading.panel_size {
            Some(size) if how.eliminates => {
                let elimination = read.eliminate(how, candidates(size), size)?;
                read.on_panel(how, &elimination.panel(size), elimination.candidates())
            }
            size if how.refit.shares_panel() => {
                let nonzeros = how.nonzeros(read.paths);
                let panel = union(&match size {
                    Some(size) => within_size(read.paths, nonzeros, size)?,
                    None => at_nonzeros(read.paths, nonzeros)?,
                });
                read.on_panel(how, &panel, panel.len())
            }
            Some(size) => read.own_supports(how, within_size(read.paths, how.nonzeros(read.paths), size)?),
            None => read.own_supports(how, at_nonzeros(read.paths, how.nonzeros(read.paths))?),
        }
    }

    /// The order in which so many candidates are dropped down to `size`.
    pub(crate) fn eliminate(
        &self,
        how: &ReadOffOptions,
        candidates: usize,
        size: usize,
    ) -> Result<Elimination> {
        let start = union(&at_least(self.paths, how.nonzeros(self.paths), candidates)?);
        if start.is_empty() {
            return Err(Error::Degenerate("no path selects a variable".to_owned()));
        }
        let within = self.variables(&start)?.within();
        Elimination::new(&within, &start, &crate::panel::free(self.paths), size)
    }

    /// The axes of a refit that uses the whole panel.
    pub(crate) fn on_panel(&self, how: &ReadOffOptions, panel: &[usize], candidates: usize) -> Result<Axes> {
        if panel.is_empty() {
            return Err(Error::Degenerate("no path selects a variable".to_owned()));
        }
        let x = self.variables(panel)?;
        let within = x.within();
        let (w, residual) = match how.refit {
            Refit::Panel => {
                let weights = self.panel_weights(how, self.reached()?, panel)?;
                let w = Mat::from_fn(panel.len(), weights.w.ncols(), |i, k| {
                    weights.w[(i, k)] * self.units[panel[i]]
                });
                let factor = x.scale_of(w.as_ref());
                (w * faer::Scale(factor), weights.residual)
            }
            Refit::Discriminant | Refit::None | Refit::Axis => {
                let found = discriminant::discriminants(&within, &self.training.shares(), self.paths.len())?;
                let w = Mat::from_fn(panel.len(), found.w.ncols(), |i, k| found.w[(i, k)] / within.scale[i]);
                (w, found.residual)
            }
        };
        let shrinkage = (how.refit == Refit::Discriminant).then_some(within.intensity);
        let report = RefitReport { refit: how.refit, candidates, residual: Some(residual), shrinkage };
        let covariance = how.covariance.then(|| covariance(&within, w.as_ref()));
        let axis = |k: usize| {
            SparseVector::from_pairs(panel.iter().enumerate().map(|(i, &j)| (j, w[(i, k)])).collect())
        };
        let axes: Vec<SparseVector> = (0..w.ncols()).map(axis).collect();
        // A variable that is exactly balanced between the classes may have weight 0 on every axis.
        let panel = union(&axes);
        Ok(Axes { axes, panel, report, covariance })
    }

    /// The axes of a refit that leaves every axis its own support, without those that have none.
    fn own_supports(&self, how: &ReadOffOptions, supports: Vec<SparseVector>) -> Result<Axes> {
        let panel = union(&supports);
        let mut residual: Option<f64> = None;
        let mut axes = Vec::with_capacity(supports.len());
        for (k, support) in supports.iter().enumerate().filter(|(_, support)| support.nonzeros() > 0) {
            let coefficients = if how.refit == Refit::Axis {
                let reached = self.reached()?;
                let places = reached.places(support.indices())?;
                let found = least_squares::weights(reached, &places, &[k], how.ridge)?;
                residual = Some(residual.map_or(found.residual, |worst| worst.max(found.residual)));
                let mixed = support
                    .iter()
                    .enumerate()
                    .map(|(i, (j, paper))| (j, (1.0 - how.relax) * paper + how.relax * found.w[(i, 0)]));
                SparseVector::from_pairs(mixed.collect())
            } else {
                support.clone()
            };
            axes.push(coefficients.map(|j, value| value * self.units[j]));
        }
        if axes.is_empty() {
            return Err(Error::Degenerate("no path selects a variable".to_owned()));
        }
        let report = RefitReport { refit: how.refit, candidates: panel.len(), residual, shrinkage: None };
        let mut found = Axes { axes, panel, report, covariance: None };
        if how.refit == Refit::Axis || how.covariance {
            let x = self.variables(&found.panel)?;
            let mut w = Mat::zeros(found.panel.len(), found.axes.len());
            for (k, axis) in found.axes.iter().enumerate() {
                for (j, value) in axis.iter() {
                    if let Ok(i) = found.panel.binary_search(&j) {
                        w[(i, k)] = value;
                    }
                }
            }
            if how.refit == Refit::Axis {
                let factor = x.scale_of(w.as_ref());
                w *= faer::Scale(factor);
                found.axes = found.axes.iter().map(|axis| axis.map(|_, value| value * factor)).collect();
            }
            if how.covariance {
                found.covariance = Some(covariance(&x.within(), w.as_ref()));
            }
        }
        Ok(found)
    }

    fn panel_weights(
        &self,
        how: &ReadOffOptions,
        reached: &RefitProblem,
        variables: &[usize],
    ) -> Result<least_squares::Weights> {
        let responses: Vec<usize> = (0..self.paths.len()).collect();
        least_squares::weights(reached, &reached.places(variables)?, &responses, how.ridge)
    }

    fn reached(&self) -> Result<&RefitProblem> {
        self.reached.ok_or_else(|| Error::PathTooShort {
            asked: "a refit".to_owned(),
            has: "was kept without the reduced problem".to_owned(),
        })
    }

    /// Some variables of all samples, centred.
    fn variables(&self, variables: &[usize]) -> Result<TrainingVariables<'_>> {
        self.training.of(self.mean, variables)
    }
}

impl ReadOffOptions {
    pub(crate) fn new(reading: SizeLimits, params: &MenParams, paths: usize) -> Self {
        let axes = reading.components.unwrap_or(paths).min(paths);
        // A panel of one variable has one discriminant, however many paths there are.
        let one = reading.panel_size == Some(1);
        let covariance = params.rule.on(if one { 1 } else { axes }).kind == RuleKind::Gaussian;
        ReadOffOptions {
            reading,
            refit: params.refit.kind(),
            eliminates: params.eliminates(),
            relax: params.refit.relax,
            ridge: params.refit_ridge(),
            covariance,
        }
    }

    /// At how many variables the paths are read at most.
    fn nonzeros(&self, paths: &[Path]) -> usize {
        self.reading.nonzeros.unwrap_or_else(|| reach(paths))
    }
}

/// The covariance of scores, from that of the panel.
fn covariance(within: &WithinCovariance, w: MatRef<'_, f64>) -> Mat<f64> {
    let w = Mat::from_fn(w.nrows(), w.ncols(), |i, k| w[(i, k)] * within.scale[i]);
    within.of_scores(w.as_ref())
}
