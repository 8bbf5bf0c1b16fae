//! Manifold Elastic Net: its parameters, its fit, its model.

use std::time::Instant;

use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};

use crate::alignment::{Alignment, related};
use crate::dataset::Dataset;
use crate::error::{Error, Result, at_least_one, check};
use crate::implicit::{self, Implicit};
use crate::lars::{Certificate, Ended, LarsOptions, Path, check_penalty_factors, lars_paths};
use crate::monitor::{Monitor, Stage, proceed};
use crate::neighbors::NeighborSearch;
use crate::patches::{self, PatchParams};
use crate::preprocess::Preprocessed;
use crate::projection::Projection;
use crate::reduction::{
    Definiteness, DefinitenessReport, LassoProblem, ReductionParams, reduce, reduce_sparse,
};
use crate::regime::{GramForm, Regime, Route};
use crate::rules::Metric;
use crate::sparse::{SparseMatrix, SparseVector};
use crate::target::{TargetKind, target};

/// The parameters of a fit. `MenParams::default()` is a good start; set what you want to differ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MenParams {
    /// Number of components d, from 1 to c−1; none = as many as the target has.
    pub components: Option<usize>,
    /// Largest number K of variables a component uses, ≥ 1; none = [`default_nonzeros`], more than p means p. [`Men::nonzeros`]
    /// says what was used.
    pub nonzeros: Option<usize>,
    /// λ2 ≥ 0, the ridge of the elastic net.
    pub ridge: f64,
    /// α ≥ 0, the weight of the manifold term.
    pub alpha: f64,
    /// β > 0, the weight of the distance between the embedding Z and the projection XW.
    pub beta: f64,
    /// κ ≥ 0, how strongly near samples of other classes are pushed apart; `definiteness` may lower it.
    pub kappa: f64,
    /// Neighbours of the same class in a patch, ≥ 1; a smaller class uses what it has.
    pub k_within: usize,
    /// Neighbours of other classes in a patch, ≥ 0.
    pub k_between: usize,
    /// How neighbours are searched for; of data that stay sparse only exactly.
    pub neighbors: NeighborSearch,
    /// The patch rule, a name in [`patches::REGISTRY`].
    pub patch: String,
    /// Width of the heat kernel of the Laplacian patches, > 0; none = the median distance to the neighbours.
    pub bandwidth: Option<f64>,
    /// Regularizer of the LLE patch, > 0.
    pub lle_regularizer: f64,
    /// Tangent dimension of the LTSA patch, ≥ 1; none = half of the neighbours.
    pub ltsa_dimension: Option<usize>,
    /// Where the samples of a class should land.
    pub target: TargetKind,
    /// γ > 0, the shrinkage of the within-class covariance of the target `whitened`.
    pub target_shrinkage: f64,
    /// What to do where the reduced problem would not be positive definite.
    pub definiteness: Definiteness,
    /// f in (0, 1], the smallest eigenvalue of A that is allowed.
    pub floor: f64,
    /// Whether the solver works on columns of length 1; W is in the user's units in any case.
    pub standardize: bool,
    /// Rank of the PCA reconstruction the data are replaced by first, ≥ 1; none = no reconstruction.
    pub pca_rank: Option<usize>,
    /// One factor > 0 a variable on its penalty; infinity bars it. None = all 1.
    pub penalty_factors: Option<Vec<f64>>,
    /// The metric of the nearest-neighbour rule.
    pub metric: Metric,
    /// How A is applied: a matter of time and memory.
    pub route: Route,
    /// What there is of the Gram matrix: a matter of time and memory.
    pub gram: GramForm,
}

impl Default for MenParams {
    fn default() -> Self {
        MenParams {
            components: None,
            nonzeros: None,
            ridge: 0.03,
            alpha: 1.0,
            beta: 1.0,
            kappa: 0.1,
            k_within: 5,
            k_between: 5,
            neighbors: NeighborSearch::Exact,
            patch: "dla".to_owned(),
            bandwidth: None,
            lle_regularizer: 1e-3,
            ltsa_dimension: None,
            target: TargetKind::Whitened,
            target_shrinkage: 0.1,
            definiteness: Definiteness::Shrink,
            floor: 0.5,
            standardize: true,
            pca_rank: None,
            penalty_factors: None,
            metric: Metric::Euclidean,
            route: Route::Auto,
            gram: GramForm::Auto,
        }
    }
}

impl MenParams {
    /// Refuses parameters that are out of range for `p` variables.
    ///
    /// # Errors
    /// Naming the parameter, its value and what is allowed.
    pub fn check(&self, p: usize) -> Result<()> {
        at_least_one("components", self.components)?;
        at_least_one("nonzeros", self.nonzeros)?;
        at_least_one("pca_rank", self.pca_rank)?;
        self.patch_params().check()?;
        self.reduction_params(2).check()?;
        check("ridge", self.ridge, "a number from 0 to 1e100", |x| x >= 0.0)?;
        check("target_shrinkage", self.target_shrinkage, "a number > 0, at most 1e100", |x| x > 0.0)?;
        patches::rule(&self.patch)?;
        self.penalty_factors.as_ref().map_or(Ok(()), |factors| check_penalty_factors(factors, p))
    }

    fn patch_params(&self) -> PatchParams {
        PatchParams {
            k_within: self.k_within,
            k_between: self.k_between,
            bandwidth: self.bandwidth,
            lle_regularizer: self.lle_regularizer,
            ltsa_dimension: self.ltsa_dimension,
        }
    }

    fn reduction_params(&self, classes: usize) -> ReductionParams {
        ReductionParams {
            alpha: self.alpha,
            beta: self.beta,
            kappa: self.kappa,
            definiteness: self.definiteness,
            floor: self.floor,
            route: self.route,
            gram: self.gram,
            axes: classes - 1,
        }
    }

    /// Options of the LARS stage for `samples`: constant columns, whose norm is 0, are barred.
    fn lars_options(&self, samples: usize, norms: &[f64]) -> LarsOptions {
        let p = norms.len();
        let factor = |j: usize| self.penalty_factors.as_ref().map_or(1.0, |factors| factors[j]);
        let factors = (0..p).map(|j| if norms[j] > 0.0 { factor(j) } else { f64::INFINITY }).collect();
        LarsOptions {
            ridge: self.ridge,
            penalty_factors: Some(factors),
            max_nonzeros: Some(self.nonzeros.unwrap_or_else(|| default_nonzeros(samples)).min(p)),
            ..LarsOptions::default()
        }
    }
}

/// The number of variables a component uses at most, unless it is given: twice the number of samples, but at least 50 and at most 100.
///
/// More samples than 50 need all of 100 variables to recognise others; with fewer than 25, half as many do as well. Fewer than 50
/// recognise less at any number of samples. docs/experiments.md has the table.
pub fn default_nonzeros(samples: usize) -> usize {
    samples.saturating_mul(2).clamp(50, 100)
}

/// Learns a sparse projection: Algorithm 1 of the paper, one call a stage.
///
/// # Errors
/// When a parameter is out of range, there are fewer than two classes, there is nothing to learn, the policy
/// `error` refuses, a decomposition fails, or `monitor` asks to stop.
pub fn fit(data: &Dataset<'_>, params: &MenParams, monitor: &dyn Monitor) -> Result<Men> {
    params.check(data.variables())?;
    if data.classes().len() < 2 {
        return Err(Error::Classes { found: data.classes().len(), samples: data.samples() });
    }
    let mut clock = Clock { monitor, seconds: Vec::new() };
    let reduced = match data.sparse() {
        None => stages(data, params, &mut clock)?,
        Some(x) => sparse_stages(data, x, params, &mut clock)?,
    };
    let options = params.lars_options(data.samples(), &reduced.norms);
    let paths = clock.time(Stage::Lars, || {
        lars_paths(&reduced.problem.gram, reduced.problem.b.as_ref(), &options, monitor)
    })?;
    Men::assemble(data, params, reduced, paths, clock.seconds)
}

/// What the stages before the paths leave.
struct Stages {
    mean: Vec<f64>,
    norms: Vec<f64>,
    /// Of neighbours.
    recall: Option<f64>,
    problem: LassoProblem,
}

fn stages(data: &Dataset<'_>, params: &MenParams, clock: &mut Clock<'_>) -> Result<Stages> {
    let (rule, patch, monitor) = (patches::rule(&params.patch)?, params.patch_params(), clock.monitor);
    let pre = clock.time(Stage::Preprocess, || Preprocessed::new(data, params.pca_rank))?;
    let ((near, far), recall) =
        clock.time(Stage::Neighbors, || related(data, &pre, rule, &patch, params.neighbors, monitor))?;
    let alignment = clock
        .time(Stage::Alignment, || Alignment::from_neighbors(&pre, rule, &patch, &near, &far, monitor))?;
    let y = clock.time(Stage::Target, || {
        target(data, &pre, params.target, params.target_shrinkage, params.components)
    })?;
    let (mean, norms, problem) = clock.time(Stage::Reduction, || {
        let Preprocessed { x, mean, norms, .. } =
            if params.standardize { pre.with_unit_columns() } else { pre };
        Ok((
            mean,
            norms,
            reduce(x, y.as_ref(), &alignment, &params.reduction_params(data.classes().len()), monitor)?,
        ))
    })?;
    Ok(Stages { mean, norms, recall, problem })
}

/// The same for data that stay sparse.
fn sparse_stages(
    data: &Dataset<'_>,
    x: &SparseMatrix,
    params: &MenParams,
    clock: &mut Clock<'_>,
) -> Result<Stages> {
    let (rule, patch, monitor) = (patches::rule(&params.patch)?, params.patch_params(), clock.monitor);
    if let Some(rank) = params.pca_rank {
        let (n, p) = (data.samples(), data.variables());
        let value = format!("{rank} with sparse samples, {n} x {p}");
        return Err(Error::parameter("pca_rank", value, "left out: a reconstruction needs dense data"));
    }
    if params.neighbors == NeighborSearch::Approximate {
        let allowed = "\"exact\" for data that stay sparse";
        return Err(Error::parameter("neighbors", "\"approximate\" with sparse samples", allowed));
    }
    let pre = clock.time(Stage::Preprocess, || Implicit::new(x))?;
    let (near, far) = clock
        .time(Stage::Neighbors, || implicit::related(&pre, data.class_indices(), rule, &patch, monitor))?;
    let alignment = clock
        .time(Stage::Alignment, || Alignment::from_neighbors(&pre, rule, &patch, &near, &far, monitor))?;
    let y = clock.time(Stage::Target, || {
        let (kind, shrinkage) = (params.target, params.target_shrinkage);
        implicit::target(data, &pre, kind, shrinkage, params.components, monitor)
    })?;
    let problem = clock.time(Stage::Reduction, || {
        let x = pre.solver_columns(params.standardize);
        reduce_sparse(x, y.as_ref(), &alignment, &params.reduction_params(data.classes().len()), monitor)
    })?;
    Ok(Stages { mean: pre.mean, norms: pre.norms, recall: None, problem })
}

/// Times the stages, and stops between them if asked to.
struct Clock<'a> {
    monitor: &'a dyn Monitor,
    seconds: Vec<(Stage, f64)>,
}

impl Clock<'_> {
    fn time<T>(&mut self, stage: Stage, work: impl FnOnce() -> Result<T>) -> Result<T> {
        proceed(self.monitor, stage)?;
        self.monitor.progress(stage, 0, 1);
        let start = Instant::now();
        let out = work()?;
        self.seconds.push((stage, start.elapsed().as_secs_f64()));
        self.monitor.progress(stage, 1, 1);
        Ok(out)
    }
}

/// What is known of one component of a fitted model besides its axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Component {
    /// The level λ at which its path was read.
    pub level: f64,
    /// The worst certificate over its path.
    pub certificate: Certificate,
    /// The variables of its path in the order in which they first entered.
    pub order_of_entry: Vec<usize>,
}

impl From<&Path> for Component {
    fn from(path: &Path) -> Self {
        let (level, certificate) = (path.last().level, path.certificate());
        Component { level, certificate, order_of_entry: path.order_of_entry() }
    }
}

/// A fitted model. It holds the whole path of every component, so that sparser or smaller models need no new fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Men {
    parts: MenParts,
    projection: Projection,
}

/// Everything a [`Men`] is made of, for those who store models.
#[derive(Debug, Clone, PartialEq)]
pub struct MenParts {
    /// The parameters of the fit.
    pub params: MenParams,
    /// The mean of every variable.
    pub mean: Vec<f64>,
    /// The columns of W, in the user's units.
    pub axes: Vec<SparseVector>,
    /// One a column.
    pub components: Vec<Component>,
    /// The path of every column, in the solver's units; empty if they were left out.
    pub paths: Vec<Path>,
    /// What turns a path's coefficient of a variable into its weight in W.
    pub units: Vec<f64>,
    /// The share of true neighbours that the approximate search found; none if it was exact.
    pub neighbor_recall: Option<f64>,
    /// What the definiteness policy found and did.
    pub definiteness: DefinitenessReport,
    /// Which way the fit went; none if that is not known.
    pub regime: Option<Regime>,
    /// The worst relative residual of the conjugate gradients, if they built the Gram matrix.
    pub cg_residual: Option<f64>,
    /// Seconds every stage took.
    pub seconds: Vec<(Stage, f64)>,
    /// Class names, sorted.
    pub classes: Vec<String>,
    /// Names of the variables, if the data had any.
    pub feature_names: Option<Vec<String>>,
    /// Height and width of the images that the samples are, if the data said so.
    pub image_shape: Option<(usize, usize)>,
}

impl Men {
    fn assemble(
        data: &Dataset<'_>,
        params: &MenParams,
        reduced: Stages,
        paths: Vec<Path>,
        seconds: Vec<(Stage, f64)>,
    ) -> Result<Self> {
        let Stages { mean, norms, recall, problem } = reduced;
        // W = (1 + λ2) ŵ (Eq. updateW), on columns that were divided by their norm.
        let unit =
            |norm: f64| (1.0 + params.ridge) / if params.standardize && norm > 0.0 { norm } else { 1.0 };
        let units: Vec<f64> = norms.iter().map(|&norm| unit(norm)).collect();
        Men::from_parts(MenParts {
            params: params.clone(),
            mean,
            axes: paths.iter().map(|path| axis(&path.last().coefficients, &units)).collect(),
            components: paths.iter().map(Component::from).collect(),
            paths,
            units,
            neighbor_recall: recall,
            cg_residual: problem.cg_residual(),
            definiteness: problem.definiteness,
            regime: Some(problem.regime),
            seconds,
            classes: data.classes().to_vec(),
            feature_names: data.feature_names().map(<[String]>::to_vec),
            image_shape: data.image_shape(),
        })
    }

    /// A model from its parts, which must fit together.
    ///
    /// # Errors
    /// When they do not.
    pub fn from_parts(parts: MenParts) -> Result<Self> {
        let (p, d) = (parts.mean.len(), parts.axes.len());
        let size = |what, given: usize, expected: usize, of: &str| {
            let why = format!("the model has {expected} {of}");
            if given == expected { Ok(()) } else { Err(Error::Size { what, given, expected, why }) }
        };
        size("`units`", parts.units.len(), p, "variables")?;
        size("`components`", parts.components.len(), d, "axes")?;
        if !parts.paths.is_empty() {
            size("`paths`", parts.paths.len(), d, "axes")?;
        }
        if let Some(names) = &parts.feature_names {
            size("`feature_names`", names.len(), p, "variables")?;
        }
        if let Some((height, width)) = parts.image_shape {
            size("an image", height.saturating_mul(width), p, "variables")?;
        }
        let empty = parts.paths.iter().position(|path| path.last().coefficients.nonzeros() == 0);
        if let Some(k) = empty {
            return Err(match (parts.paths[k].ended(), parts.paths[k].max_nonzeros()) {
                (Ended::MaxNonzeros { needed }, Some(nonzeros)) => {
                    Error::Tie { component: k + 1, tied: needed, nonzeros }
                }
                (ended, _) => Error::NoVariable { component: k + 1, why: ended.to_string() },
            });
        }
        let used = parts
            .paths
            .iter()
            .flat_map(Path::knots)
            .flat_map(|knot| knot.coefficients.indices().iter().chain(&knot.entered).chain(&knot.left));
        let used = used.chain(parts.components.iter().flat_map(|component| &component.order_of_entry));
        if let Some(&index) = used.max().filter(|&&index| index >= p) {
            return Err(Error::parameter("paths", format!("variable {index}"), format!("below {p}")));
        }
        let projection = Projection::new(parts.mean.clone(), parts.axes.clone())?;
        Ok(Men { parts, projection })
    }

    /// What the model is made of.
    pub fn parts(&self) -> &MenParts {
        &self.parts
    }

    /// The same model without its paths: smaller, but it can no longer be made sparser.
    #[must_use]
    pub fn without_paths(mut self) -> Self {
        self.parts.paths = Vec::new();
        self
    }

    /// The same fit with at most `nonzeros` variables a component and only the first `components`: bit for bit what
    /// [`fit`] gives with these parameters.
    ///
    /// # Errors
    /// When the fit does not reach so far, or a number is 0.
    pub fn at(&self, nonzeros: Option<usize>, components: Option<usize>) -> Result<Men> {
        let fitted = self.parts.axes.len();
        let d = components.unwrap_or(fitted);
        if d == 0 || d > fitted {
            let allowed = format!("1 to {fitted}, the number that was fitted");
            return Err(Error::parameter("components", d, allowed));
        }
        let mut parts = self.parts.clone();
        parts.axes.truncate(d);
        parts.components.truncate(d);
        parts.paths.truncate(d);
        parts.params.components = components.or(parts.params.components);
        if let Some(k) = nonzeros {
            if parts.paths.is_empty() {
                let (asked, has) = (format!("a support of {k}"), "was left out of this model".to_owned());
                return Err(Error::PathTooShort { asked, has });
            }
            let k = k.min(parts.mean.len());
            parts.paths = parts.paths.iter().map(|path| path.truncated(k)).collect::<Result<_>>()?;
            parts.axes =
                parts.paths.iter().map(|path| axis(&path.last().coefficients, &parts.units)).collect();
            parts.components = parts.paths.iter().map(Component::from).collect();
            parts.params.nonzeros = Some(k);
        }
        Men::from_parts(parts)
    }

    /// Projects samples (rows of `x`): `(x − mean) W`.
    ///
    /// # Errors
    /// When the number of columns is not that of the training data, or a value is not finite.
    pub fn transform(&self, x: MatRef<'_, f64>) -> Result<Mat<f64>> {
        self.projection.transform(x)
    }

    /// The projection: sparse W in the user's units, and the mean.
    pub fn projection(&self) -> &Projection {
        &self.projection
    }

    /// The parameters of the fit.
    pub fn params(&self) -> &MenParams {
        &self.parts.params
    }

    /// The path of every component, in the solver's units; empty if they were left out.
    pub fn paths(&self) -> &[Path] {
        &self.parts.paths
    }

    /// Coefficients of a path, in the solver's units, as weights in W, in the user's.
    pub fn weights(&self, coefficients: &SparseVector) -> SparseVector {
        axis(coefficients, &self.parts.units)
    }

    /// The certificate of every component, the worst over its path.
    pub fn certificates(&self) -> Vec<Certificate> {
        self.parts.components.iter().map(|component| component.certificate).collect()
    }

    /// The number K of variables that a component was allowed. Of a model without paths whose parameters leave it open, the most that
    /// one uses.
    pub fn nonzeros(&self) -> usize {
        let given = self.parts.params.nonzeros.map(|k| k.min(self.parts.mean.len()));
        let of_paths = self.parts.paths.first().and_then(Path::max_nonzeros);
        of_paths.or(given).or(self.support_sizes().into_iter().max()).unwrap_or(0)
    }

    /// How many variables every component uses.
    pub fn support_sizes(&self) -> Vec<usize> {
        self.projection.axes().iter().map(SparseVector::nonzeros).collect()
    }

    /// The level λ at which every component's path was read.
    pub fn levels(&self) -> Vec<f64> {
        self.parts.components.iter().map(|component| component.level).collect()
    }

    /// The share of true neighbours that the approximate search found; none if it was exact.
    pub fn neighbor_recall(&self) -> Option<f64> {
        self.parts.neighbor_recall
    }

    /// What the definiteness policy found and did.
    pub fn definiteness(&self) -> &DefinitenessReport {
        &self.parts.definiteness
    }

    /// Which way the fit went, and why; none for a model of a version that did not tell.
    pub fn regime(&self) -> Option<&Regime> {
        self.parts.regime.as_ref()
    }

    /// The worst relative residual of the conjugate gradients, if they built the Gram matrix.
    pub fn cg_residual(&self) -> Option<f64> {
        self.parts.cg_residual
    }

    /// Seconds every stage of the fit took, in order.
    pub fn seconds(&self) -> &[(Stage, f64)] {
        &self.parts.seconds
    }

    /// Class names, sorted.
    pub fn classes(&self) -> &[String] {
        &self.parts.classes
    }

    /// Names of the variables, if the data had any.
    pub fn feature_names(&self) -> Option<&[String]> {
        self.parts.feature_names.as_deref()
    }

    /// Height and width of the images that the samples are, if the data said so.
    pub fn image_shape(&self) -> Option<(usize, usize)> {
        self.parts.image_shape
    }
}

/// A column of W from a column of solver coefficients.
fn axis(coefficients: &SparseVector, units: &[f64]) -> SparseVector {
    coefficients.map(|j, value| value * units[j])
}
