//! A fitted model, and the models of fewer variables that can be read off it.

use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};

use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::fit::{Clock, Solved};
use crate::lars::{Certificate, Ended, Path};
use crate::monitor::{Monitor, Stage, proceed};
use crate::numerics::sparse::SparseVector;
use crate::operator::DefinitenessReport;
use crate::panel::{self, Reading};
use crate::params::MenParams;
use crate::plan::Regime;
use crate::projection::Projection;
use crate::refit::{Axes, How, Reached, Refit, RefitReport, Source};
use crate::rules::{Learned, Projected, learn};

/// What is known of one component's path besides the axis read off it.
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

/// A variable of the panel.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PanelVariable {
    /// Which.
    pub variable: usize,
    /// Its standard deviation in the training samples; none if that is not known.
    pub deviation: Option<f64>,
    /// The class that a larger value speaks for: the one whose centre its weights point to most; none if that is not known.
    pub class: Option<usize>,
}

/// A row of [`Men::panel_table`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PanelRow {
    /// The variable.
    pub variable: usize,
    /// The axes that use it, from 0.
    pub axes: Vec<usize>,
    /// Its place, from 1, among the variables that entered the path of a component: the earliest over the components.
    pub entered: Option<usize>,
    /// Its largest weight in size over the axes.
    pub weight: f64,
    /// That weight times the standard deviation of the variable.
    pub effect: Option<f64>,
    /// The length of its weights over all axes, times its standard deviation; or times 1 if that is not known.
    pub importance: f64,
    /// The class that a larger value speaks for.
    pub class: Option<usize>,
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
    /// One per path.
    pub components: Vec<Component>,
    /// The path of every component, in the solver's units; empty if they were left out.
    pub paths: Vec<Path>,
    /// The reduced problem at the variables that the paths reached, for refits that solve it again; none if it was left out.
    pub reached: Option<Reached>,
    /// What the refit did.
    pub refit: RefitReport,
    /// The distinct variables that the axes use, rising; what is known of each from the training samples may be missing.
    pub panel: Vec<PanelVariable>,
    /// The rule that decides in the projected space; none for a model that was made smaller without its training samples.
    pub rule: Option<Learned>,
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
    /// Reads the model that `params` ask for off the paths.
    ///
    /// # Errors
    /// When the paths do not reach so far, no variable can be used, a system cannot be solved, or `monitor` asks to stop.
    pub fn assemble(solved: &Solved<'_>, params: &MenParams, monitor: &dyn Monitor) -> Result<Self> {
        let (data, problem) = (solved.prepared.data, &solved.prepared.problem);
        if params.panel_size.is_none() && !params.refit().shares_panel() {
            check_ties(&solved.paths)?;
        }
        let mut clock = Clock { monitor, seconds: solved.seconds.clone() };
        let (axes, rule, panel) = clock.time(Stage::Refit, || {
            let reading = Reading { nonzeros: None, panel_size: params.panel_size, components: None };
            let axes = solved.read(reading, params)?;
            proceed(monitor, Stage::Refit)?;
            let (rule, panel) = decided(data, &problem.mean, &axes, params)?;
            Ok((axes, rule, panel))
        })?;
        Men::from_parts(MenParts {
            params: params.clone(),
            mean: problem.mean.clone(),
            axes: axes.axes,
            components: solved.paths.iter().map(Component::from).collect(),
            reached: solved.reached(params.refit()).cloned(),
            paths: solved.paths.clone(),
            refit: axes.report,
            panel,
            rule: Some(rule),
            units: solved.units.clone(),
            neighbor_recall: problem.report.neighbor_recall,
            cg_residual: problem.cg_residual(),
            definiteness: problem.report.definiteness.clone(),
            regime: problem.report.regime.clone(),
            seconds: clock.seconds,
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
        if !parts.paths.is_empty() {
            size("`paths`", parts.paths.len(), parts.components.len(), "components")?;
        }
        if let Some(rule) = &parts.rule {
            size("the rule's space", rule.dimension(), d, "axes")?;
            size("the rule's classes", rule.class_count(), parts.classes.len(), "classes")?;
        }
        let used = panel::union(&parts.axes);
        let told: Vec<usize> = parts.panel.iter().map(|row| row.variable).collect();
        if used != told {
            return Err(Error::parameter("panel", format!("{told:?}"), format!("{used:?}, as the axes use")));
        }
        if let Some(names) = &parts.feature_names {
            size("`feature_names`", names.len(), p, "variables")?;
        }
        if let Some((height, width)) = parts.image_shape {
            size("an image", height.saturating_mul(width), p, "variables")?;
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

    /// The same fit with fewer variables or components. From paths that reach as far, it is bit for bit what [`fit`](crate::fit())
    /// gives with these parameters.
    ///
    /// A refit, and the rule, are computed from the training samples again. Without those the axes of the refit `none` can still be
    /// read, and there is no rule unless it is that of a nearest neighbour and only components were left out.
    ///
    /// # Errors
    /// When the fit does not reach so far, a number is 0, or the training samples are needed.
    pub fn at(&self, reading: Reading, training: Option<&Dataset<'_>>) -> Result<Men> {
        let mut parts = self.parts.clone();
        let fitted = parts.components.len();
        let d = reading.components.unwrap_or(fitted);
        if d == 0 || d > fitted {
            let allowed = format!("1 to {fitted}, the number that was fitted");
            return Err(Error::parameter("components", d, allowed));
        }
        parts.components.truncate(d);
        parts.paths.truncate(d);
        parts.params.components = reading.components.or(parts.params.components);
        parts.params.panel_size = reading.panel_size.or(parts.params.panel_size);
        let fewer_axes_only = reading.nonzeros.is_none()
            && parts.params.panel_size.is_none()
            && parts.params.refit() == Refit::None;
        if fewer_axes_only && training.is_none() {
            parts.axes.truncate(d);
            let used = panel::union(&parts.axes);
            parts.panel.retain(|row| used.binary_search(&row.variable).is_ok());
            parts.rule = parts.rule.and_then(|rule| rule.first(d));
            return Men::from_parts(parts);
        }
        if parts.paths.is_empty() {
            let (asked, has) = ("another size".to_owned(), "was left out of this model".to_owned());
            return Err(Error::PathTooShort { asked, has });
        }
        parts.params.check(parts.mean.len())?;
        if let Some(k) = reading.nonzeros {
            let k = k.min(parts.mean.len());
            parts.paths = parts.paths.iter().map(|path| path.truncated(k)).collect::<Result<_>>()?;
            parts.components = parts.paths.iter().map(Component::from).collect();
            parts.params.nonzeros = Some(k);
        }
        if parts.params.panel_size.is_none() && !parts.params.refit().shares_panel() {
            check_ties(&parts.paths)?;
        }
        let Some(data) = training else { return Men::from_parts(without_training(parts)?) };
        let source = Source {
            data,
            mean: &parts.mean,
            units: &parts.units,
            paths: &parts.paths,
            reached: parts.reached.as_ref(),
        };
        let reading = Reading { nonzeros: None, panel_size: parts.params.panel_size, components: None };
        let axes = source.read(&How::new(reading, &parts.params, parts.paths.len()))?;
        let (rule, panel) = decided(data, &parts.mean, &axes, &parts.params)?;
        (parts.rule, parts.panel) = (Some(rule), panel);
        (parts.axes, parts.refit) = (axes.axes, axes.report);
        Men::from_parts(parts)
    }

    /// The distinct variables that the axes use, rising.
    pub fn panel(&self) -> Vec<usize> {
        self.parts.panel.iter().map(|row| row.variable).collect()
    }

    /// What is known of every variable of the panel, the most important first.
    pub fn panel_table(&self) -> Vec<PanelRow> {
        let orders: Vec<&Vec<usize>> =
            self.parts.components.iter().map(|component| &component.order_of_entry).collect();
        let row = |known: &PanelVariable| {
            let j = known.variable;
            let weights = self.parts.axes.iter().map(|axis| axis.get(j)).enumerate();
            let used: Vec<(usize, f64)> = weights.filter(|(_, weight)| *weight != 0.0).collect();
            let weight =
                used.iter().fold(0.0, |most: f64, &(_, w)| if w.abs() > most.abs() { w } else { most });
            let length = used.iter().map(|(_, w)| w * w).sum::<f64>().sqrt();
            let place = |order: &&Vec<usize>| order.iter().position(|&other| other == j).map(|at| at + 1);
            PanelRow {
                variable: j,
                axes: used.iter().map(|(k, _)| *k).collect(),
                entered: orders.iter().filter_map(place).min(),
                weight,
                effect: known.deviation.map(|deviation| weight * deviation),
                importance: length * known.deviation.unwrap_or(1.0),
                class: known.class,
            }
        };
        let mut rows: Vec<PanelRow> = self.parts.panel.iter().map(row).collect();
        rows.sort_by(|a, b| b.importance.total_cmp(&a.importance));
        rows
    }

    /// What the refit did.
    pub fn refit(&self) -> &RefitReport {
        &self.parts.refit
    }

    /// The rule that decides in the projected space.
    ///
    /// # Errors
    /// When the model has none, because it was made smaller without its training samples.
    pub fn rule(&self) -> Result<&Learned> {
        self.parts.rule.as_ref().ok_or_else(|| {
            Error::Degenerate(
                "this model was made smaller without its training samples: it can transform, but not predict"
                    .to_owned(),
            )
        })
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

    /// The number K of variables that a path was allowed. Of a model without paths whose parameters leave it open, the most that
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

/// Refuses paths of which one cannot use any variable.
fn check_ties(paths: &[Path]) -> Result<()> {
    let Some(k) = paths.iter().position(|path| path.last().coefficients.nonzeros() == 0) else {
        return Ok(());
    };
    Err(match (paths[k].ended(), paths[k].max_nonzeros()) {
        (Ended::MaxNonzeros { needed }, Some(nonzeros)) => {
            Error::Tie { component: k + 1, tied: needed, nonzeros }
        }
        (ended, _) => Error::NoVariable { component: k + 1, why: ended.to_string() },
    })
}

/// The parts of a model whose axes are read off its paths alone, and that has no rule.
fn without_training(mut parts: MenParts) -> Result<MenParts> {
    if parts.params.refit() != Refit::None {
        let has = "was kept without the training samples that its refit needs".to_owned();
        return Err(Error::PathTooShort { asked: "another size".to_owned(), has });
    }
    let supports = match parts.params.panel_size {
        Some(size) => panel::within_size(&parts.paths, panel::reach(&parts.paths), size)?,
        None => parts.paths.iter().map(|path| path.last().coefficients.clone()).collect(),
    };
    let used = supports.iter().filter(|support| support.nonzeros() > 0);
    parts.axes = used.map(|support| axis(support, &parts.units)).collect();
    let variables = panel::union(&parts.axes);
    parts.refit.candidates = variables.len();
    let unknown = |variable| PanelVariable { variable, deviation: None, class: None };
    parts.panel = variables.into_iter().map(unknown).collect();
    parts.rule = None;
    Ok(parts)
}

/// The rule for these axes, and what the training samples say of the panel.
fn decided(
    data: &Dataset<'_>,
    mean: &[f64],
    axes: &Axes,
    params: &MenParams,
) -> Result<(Learned, Vec<PanelVariable>)> {
    let projection = Projection::new(mean.to_vec(), axes.axes.clone())?;
    let z = projection.project(data)?;
    let (classes, count) = (data.class_indices(), data.classes().len());
    let covariance = axes.covariance.as_ref().map(Mat::as_ref);
    let rule =
        learn(&params.rule_for(axes.axes.len()), &Projected { z: z.as_ref(), classes, count, covariance })?;
    let d = axes.axes.len();
    let mut centres = Mat::<f64>::zeros(count, d);
    for class in 0..count {
        let members = data.members(class);
        for k in 0..d {
            centres[(class, k)] =
                members.iter().map(|&i| z[(i, k)]).sum::<f64>() / members.len().max(1) as f64;
        }
    }
    let deviations = deviations(data, mean, &axes.panel);
    let row = |(&variable, deviation): (&usize, f64)| {
        let towards = |class: usize| -> f64 {
            axes.axes.iter().enumerate().map(|(k, axis)| axis.get(variable) * centres[(class, k)]).sum()
        };
        let class = (0..count).reduce(|best, next| if towards(next) > towards(best) { next } else { best });
        PanelVariable { variable, deviation: Some(deviation), class }
    };
    let panel = axes.panel.iter().zip(deviations).map(row).collect();
    Ok((rule, panel))
}

/// The standard deviations of some variables.
fn deviations(data: &Dataset<'_>, mean: &[f64], variables: &[usize]) -> Vec<f64> {
    let x = data.columns_at(mean, variables);
    let degrees = data.samples().saturating_sub(1).max(1) as f64;
    x.col_iter().map(|column| (column.iter().map(|x| x * x).sum::<f64>() / degrees).sqrt()).collect()
}
