//! From paths to a model, and to smaller ones.

use faer::Mat;

use super::{Component, Men, MenParts, PanelVariable};
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::fit::{Clock, Solved};
use crate::lars::{Ended, Path};
use crate::monitor::{Monitor, Stage, proceed};
use crate::numerics::sparse::SparseVector;
use crate::panel::{self, Reading};
use crate::params::MenParams;
use crate::projection::Projection;
use crate::refit::{Axes, How, Refit, RefitReport, Source};
use crate::rules::{Learned, Projected, learn};

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
        let read = clock.time(Stage::Refit, || {
            let reading = Reading { nonzeros: None, panel_size: params.panel_size, components: None };
            let axes = solved.read(reading, params)?;
            proceed(monitor, Stage::Refit)?;
            Read::new(data, &problem.mean, axes, params)
        })?;
        let components = solved.paths.iter().map(Component::from).collect();
        let classes = data.classes().to_vec();
        let definiteness = problem.report.definiteness.clone();
        let (params, units) = (params.clone(), solved.units.clone());
        let refit = params.refit();
        let mut parts = MenParts::new(params, read.projection, units, components, definiteness, classes);
        (parts.rule, parts.panel, parts.refit) = (Some(read.rule), read.panel, read.report);
        parts.reached = solved.reached(refit).cloned();
        parts.paths.clone_from(&solved.paths);
        parts.neighbor_recall = problem.report.neighbor_recall;
        parts.cg_residual = problem.cg_residual();
        parts.regime.clone_from(&problem.report.regime);
        parts.seconds = clock.seconds;
        parts.feature_names = data.feature_names().map(<[String]>::to_vec);
        parts.image_shape = data.image_shape();
        Men::from_parts(parts)
    }

    /// The same fit with fewer variables or axes. From paths that reach as far, it is bit for bit what [`fit`](crate::fit())
    /// gives with these parameters.
    ///
    /// A refit, and the rule, are computed from the training samples again. Without those the axes of the refit `none` can still be
    /// read, and there is no rule unless it is that of a nearest neighbour and only axes were left out.
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
        // An axis that ties left without variables has no column in W.
        let all_have_axes = parts.projection.components() == fitted;
        let fewer_axes_only = reading.nonzeros.is_none()
            && all_have_axes
            && parts.params.panel_size.is_none()
            && parts.params.refit() == Refit::None;
        if fewer_axes_only && training.is_none() {
            parts.projection = parts.projection.first(d)?;
            let used = panel::union(parts.projection.axes());
            parts.panel.retain(|row| used.binary_search(&row.variable).is_ok());
            parts.rule = parts.rule.and_then(|rule| rule.first(d));
            return Men::from_parts(parts);
        }
        if parts.paths.is_empty() {
            let (asked, has) = ("another size".to_owned(), "was left out of this model".to_owned());
            return Err(Error::PathTooShort { asked, has });
        }
        parts.params.check(parts.projection.variables())?;
        if let Some(k) = reading.nonzeros {
            let k = k.min(parts.projection.variables());
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
            mean: parts.projection.mean(),
            units: &parts.units,
            paths: &parts.paths,
            reached: parts.reached.as_ref(),
        };
        let reading = Reading { nonzeros: None, panel_size: parts.params.panel_size, components: None };
        let axes = source.read(&How::new(reading, &parts.params, parts.paths.len()))?;
        let read = Read::new(data, parts.projection.mean(), axes, &parts.params)?;
        (parts.projection, parts.refit) = (read.projection, read.report);
        (parts.rule, parts.panel) = (Some(read.rule), read.panel);
        Men::from_parts(parts)
    }
}

/// Refuses paths none of which can use any variable.
fn check_ties(paths: &[Path]) -> Result<()> {
    if paths.iter().any(|path| path.last().coefficients.nonzeros() > 0) {
        return Ok(());
    }
    Err(match paths.first().map(|path| (path.ended(), path.max_nonzeros())) {
        Some((Ended::MaxNonzeros { needed }, Some(nonzeros))) => {
            Error::Tie { component: 1, tied: needed, nonzeros }
        }
        Some((ended, _)) => Error::NoVariable { component: 1, why: ended.to_string() },
        None => Error::Degenerate("there is no axis".to_owned()),
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
    let axes: Vec<SparseVector> =
        used.map(|support| support.map(|j, value| value * parts.units[j])).collect();
    let variables = panel::union(&axes);
    parts.projection = Projection::new(parts.projection.mean().to_vec(), axes)?;
    parts.refit.candidates = variables.len();
    let unknown = |variable| PanelVariable { variable, deviation: None, class: None };
    parts.panel = variables.into_iter().map(unknown).collect();
    parts.rule = None;
    Ok(parts)
}

/// What is read off paths with the help of the training samples.
struct Read {
    projection: Projection,
    rule: Learned,
    panel: Vec<PanelVariable>,
    report: RefitReport,
}

impl Read {
    fn new(data: &Dataset<'_>, mean: &[f64], axes: Axes, params: &MenParams) -> Result<Self> {
        let Axes { axes, panel, report, covariance } = axes;
        let projection = Projection::new(mean.to_vec(), axes)?;
        let z = projection.project(data)?;
        let (classes, count) = (data.class_indices(), data.classes().len());
        let covariance = covariance.as_ref().map(Mat::as_ref);
        let samples = Projected { z: z.as_ref(), classes, count, covariance };
        let rule = learn(&params.rule_for(projection.components()), &samples)?;
        let panel = described(data, &projection, &z, &panel);
        Ok(Read { projection, rule, panel, report })
    }
}

/// What the training samples, projected to `z`, say of the panel.
fn described(
    data: &Dataset<'_>,
    projection: &Projection,
    z: &Mat<f64>,
    panel: &[usize],
) -> Vec<PanelVariable> {
    let (count, d) = (data.classes().len(), projection.components());
    let mut centres = Mat::<f64>::zeros(count, d);
    for class in 0..count {
        let members = data.members(class);
        for k in 0..d {
            centres[(class, k)] =
                members.iter().map(|&i| z[(i, k)]).sum::<f64>() / members.len().max(1) as f64;
        }
    }
    let deviations = deviations(data, projection.mean(), panel);
    let row = |(&variable, deviation): (&usize, f64)| {
        let axes = projection.axes().iter().enumerate();
        let towards = |class: usize| -> f64 {
            axes.clone().map(|(k, axis)| axis.get(variable) * centres[(class, k)]).sum()
        };
        let class = (0..count).reduce(|best, next| if towards(next) > towards(best) { next } else { best });
        PanelVariable { variable, deviation: Some(deviation), class }
    };
    panel.iter().zip(deviations).map(row).collect()
}

/// The standard deviations of some variables.
fn deviations(data: &Dataset<'_>, mean: &[f64], variables: &[usize]) -> Vec<f64> {
    let x = data.columns_at(mean, variables);
    let degrees = data.samples().saturating_sub(1).max(1) as f64;
    x.col_iter().map(|column| (column.iter().map(|x| x * x).sum::<f64>() / degrees).sqrt()).collect()
}
