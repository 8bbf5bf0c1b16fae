//! From paths to a model, and to smaller ones.
//!
//! | | |
//! |---|---|
//! | [`Men::from_paths`] | a model that knows its paths alone |
//! | [`Men::axes_at`] | axes read off the paths, with the training samples or sums over them |
//! | [`ModelWithoutRule::learn`] | the rule, from the projected training samples |
//!
//! [`Men::assemble`] and [`Men::at`] are these steps one after the other, on samples in memory.

use faer::{Mat, MatRef};

use super::{Component, Men, MenParts, PanelVariable};
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::fit::{Clock, fit_prepared};
use crate::lars::{EndReason, Path};
use crate::monitor::{Monitor, Stage, proceed};
use crate::panel::{self, SizeLimits};
use crate::params::MenParams;
use crate::projection::Projection;
use crate::reduce::ReducedProblem;
use crate::refit::{Axes, ReadOffOptions, ReadOffSource, RefitProblem, Training, VariableSpread, wanted};
use crate::report::FitReport;
use crate::rules::{Projected, learn};
use crate::solved::SolvedPaths;
use crate::targets::AxisCount;

impl Men {
    /// Reads the model that `params` ask for off the paths.
    ///
    /// # Errors
    /// When the paths do not reach so far, no variable can be used, a system cannot be solved, or `monitor` asks to stop.
    pub fn assemble(solved: &SolvedPaths<'_>, params: &MenParams, monitor: &dyn Monitor) -> Result<Self> {
        let (data, problem) = (solved.prepared.data, &solved.prepared.problem);
        if params.panel_size.is_none() && !params.refit.kind().shares_panel() {
            check_ties(&solved.paths)?;
        }
        let mut clock = Clock { monitor, seconds: solved.seconds.clone() };
        let mut parts = parts_of(problem, solved.paths.clone(), params, data.classes().to_vec())?;
        parts.reached = solved.reached(params.refit.kind()).cloned();
        parts.feature_names = data.feature_names().map(<[String]>::to_vec);
        parts.image_shape = data.image_shape();
        let mut men = clock.time(Stage::Refit, || {
            let reading = SizeLimits { nonzeros: None, panel_size: params.panel_size, components: None };
            let axes = solved.read(reading, params)?;
            proceed(monitor, Stage::Refit)?;
            let undecided = ModelWithoutRule::new(parts, axes, Training::Samples(data))?;
            let z = undecided.projection().project(data)?;
            undecided.learn_weighted(z.as_ref(), data.class_indices(), data.weights())
        })?;
        men.parts.report.seconds = clock.seconds;
        Ok(men)
    }

    /// A model that knows only the paths of a reduced problem: no refit, no rule. [`Self::axes_at`] then reads the model that
    /// `params` ask for.
    ///
    /// # Errors
    /// When no variable can be used.
    pub fn from_paths(
        problem: &ReducedProblem,
        paths: Vec<Path>,
        params: &MenParams,
        classes: Vec<String>,
    ) -> Result<Self> {
        check_ties(&paths)?;
        let reached = params.refit.kind().needs_gram().then(|| RefitProblem::new(problem, &paths));
        let mut parts = parts_of(problem, paths, params, classes)?;
        parts.reached = reached;
        Men::from_parts(parts)
    }

    /// This fit with fewer variables or axes: bit for bit the axes and the rule that [`fit`](crate::fit()) gives with these
    /// parameters.
    ///
    /// They are read off the paths, which for a limit on the panel may go on beyond those of such a fit. Where the paths do not hold them,
    /// the training samples are fitted again: the rounds of the penalties `reweighted`, `scad` and `mcp`, and groups, are solved for one
    /// size; and a limit on the panel may need longer paths than those of the fit.
    ///
    /// A refit and the rule are computed again from the training samples. Without them, only the axes of the refit `none` can be
    /// read. Then only the rule `nearest` of samples without weights is learned again, from the samples it stores, and only if nothing
    /// but axes was left out.
    ///
    /// # Errors
    /// When the fit does not reach so far, a number is 0, or the training samples are needed.
    pub fn at(&self, reading: SizeLimits, training: Option<&Dataset<'_>>) -> Result<Men> {
        match (training, &self.parts.preparation) {
            (Some(data), Some(preparation)) => self.at_prepared(reading, &preparation.prepare(data)?),
            (Some(data), None) => self.at_prepared(reading, data),
            (None, _) => self.at_without_training(reading),
        }
    }

    /// [`Self::at`] with training samples that are prepared already.
    ///
    /// # Errors
    /// As [`Self::at`].
    pub fn at_prepared(&self, reading: SizeLimits, data: &Dataset<'_>) -> Result<Men> {
        let params = match self.cut(reading)? {
            CutFit::Held(parts) => return trained(*parts, data),
            CutFit::Again(params) => params,
        };
        // Names and shape come from the model: the samples may have none.
        let data = data.called(self.feature_names(), self.image_shape());
        let plain = params.prepared();
        let men = fit_prepared(&data, &plain, AxisCount::exactly(plain.components), &())?;
        match &self.parts.preparation {
            Some(preparation) => men.prepared_by(preparation.clone(), 0.0),
            None => Ok(men),
        }
    }

    /// As [`Self::at_prepared`], where of the training samples only the labelled ones and the variables that some path reaches are known.
    /// With these nothing can be fitted again.
    ///
    /// # Errors
    /// As [`Self::at`], and when the paths do not hold the smaller model.
    pub fn at_reached(&self, reading: SizeLimits, data: &Dataset<'_>) -> Result<Men> {
        trained(self.held(reading)?, data)
    }

    /// The variables of which [`Self::axes_at`] needs the training samples, rising.
    ///
    /// # Errors
    /// When the fit does not reach so far, or a number is 0.
    pub fn wanted(&self, reading: SizeLimits) -> Result<Vec<usize>> {
        let parts = self.held(reading)?;
        wanted(&parts.paths, &how(&parts))
    }

    /// The axes of [`Self::at`]; the rule is still to be learned.
    ///
    /// # Errors
    /// As [`Self::at`].
    pub fn axes_at(&self, reading: SizeLimits, training: Training<'_>) -> Result<ModelWithoutRule> {
        undecided(self.held(reading)?, training)
    }

    /// How many axes a reading keeps.
    pub(super) fn axes_kept(&self, reading: SizeLimits) -> Result<usize> {
        let fitted = self.parts.components.len();
        let d = reading.components.unwrap_or(fitted);
        if d == 0 || d > fitted {
            let allowed = format!("1 to {fitted}, the number that was fitted");
            return Err(Error::parameter("components", d, allowed));
        }
        Ok(d)
    }

    /// The parts with paths and parameters as a reading asks for, or the parameters to fit with where the paths do not hold it.
    fn cut(&self, reading: SizeLimits) -> Result<CutFit> {
        let d = self.axes_kept(reading)?;
        if self.parts.paths.is_empty() {
            let (asked, has) = ("another size".to_owned(), "was left out of this model".to_owned());
            return Err(Error::PathTooShort { asked, has });
        }
        let (fitted, p) = (&self.parts.params, self.parts.projection.variables());
        let params = MenParams {
            nonzeros: reading.nonzeros.map(|k| k.min(p)).or(fitted.nonzeros),
            panel_size: reading.panel_size.or(fitted.panel_size),
            components: reading.components.or(fitted.components),
            ..fitted.clone()
        };
        params.check(p)?;
        params.check_axes(d)?;
        let Some(paths) = panel::held(&self.parts.paths, fitted, (&params, d), p)? else {
            return Ok(CutFit::Again(Box::new(params)));
        };
        if params.panel_size.is_none() && !params.refit.kind().shares_panel() {
            check_ties(&paths)?;
        }
        let components = paths.iter().map(Component::from).collect();
        Ok(CutFit::Held(Box::new(MenParts { params, paths, components, ..self.parts.clone() })))
    }

    /// The parts that a reading asks for, which the paths must hold.
    pub(super) fn held(&self, reading: SizeLimits) -> Result<MenParts> {
        if let CutFit::Held(parts) = self.cut(reading)? {
            return Ok(*parts);
        }
        let (name, asked) = match (reading.panel_size, reading.nonzeros, reading.components) {
            (Some(size), ..) => ("panel_size", size),
            (_, Some(k), _) => ("nonzeros", k),
            (.., d) => ("components", d.unwrap_or_default()),
        };
        let allowed = "that of the fit, whose paths do not hold this smaller model: fit again with the size you want, or give all \
                       training samples";
        Err(Error::parameter(name, asked, allowed))
    }
}

/// A fit cut to what a reading asks for.
enum CutFit {
    /// Its paths hold that.
    Held(Box<MenParts>),
    /// A fit with these parameters has other paths.
    Again(Box<MenParams>),
}

/// A model whose axes are known. Its rule is learned from the training samples, projected on them.
#[derive(Debug, Clone)]
pub struct ModelWithoutRule {
    pub(super) parts: MenParts,
    pub(super) covariance: Option<Mat<f64>>,
}

impl ModelWithoutRule {
    fn new(mut parts: MenParts, axes: Axes, training: Training<'_>) -> Result<Self> {
        let Axes { axes, panel, report, covariance } = axes;
        let mean = parts.projection.mean().to_vec();
        let spreads = training.spreads(&mean, &panel)?;
        let known = |(variable, VariableSpread { deviation, range, class_means })| PanelVariable {
            variable,
            deviation: Some(deviation),
            range: Some(range),
            class_means,
            class: None,
        };
        parts.projection = Projection::new(mean, axes)?;
        parts.panel = panel.into_iter().zip(spreads).map(known).collect();
        (parts.refit, parts.rule) = (report, None);
        Ok(ModelWithoutRule { parts, covariance })
    }

    /// Projects samples on the axes.
    pub fn projection(&self) -> &Projection {
        &self.parts.projection
    }

    /// The model, with the rule learned from the projected training samples (n×d) of these classes.
    ///
    /// # Errors
    /// When there is not one class per sample, or the rule cannot be learned.
    pub fn learn(self, z: MatRef<'_, f64>, classes: &[usize]) -> Result<Men> {
        self.learn_weighted(z, classes, None)
    }

    /// Learns the rule from samples with weights.
    fn learn_weighted(self, z: MatRef<'_, f64>, classes: &[usize], weights: Option<&[f64]>) -> Result<Men> {
        let ModelWithoutRule { mut parts, covariance } = self;
        let (n, count, d) = (z.nrows(), parts.classes.len(), parts.projection.components());
        if classes.len() != n || z.ncols() != d || classes.iter().any(|&class| class >= count) {
            let why =
                format!("there are {n} projected samples on {} of {d} axes, and {count} classes", z.ncols());
            return Err(Error::Size { what: "`classes`", given: classes.len(), expected: n, why });
        }
        let covariance = covariance.as_ref().map(Mat::as_ref);
        let samples = Projected { z, classes, count, weights, covariance };
        parts.rule = Some(learn(&parts.params.rule.on(d), &samples)?);
        let centres = centres(z, classes, count, weights);
        let axes = parts.projection.axes();
        for row in &mut parts.panel {
            let towards = |class: usize| -> f64 {
                axes.iter().enumerate().map(|(k, axis)| axis.get(row.variable) * centres[(class, k)]).sum()
            };
            row.class =
                (0..count).reduce(|best, next| if towards(next) > towards(best) { next } else { best });
        }
        Men::from_parts(parts)
    }
}

/// The axes that parts with paths say; the rule is still to be learned.
fn undecided(parts: MenParts, training: Training<'_>) -> Result<ModelWithoutRule> {
    let source = ReadOffSource {
        training,
        mean: parts.projection.mean(),
        units: &parts.units,
        paths: &parts.paths,
        reached: parts.reached.as_ref(),
    };
    let axes = source.read(&how(&parts))?;
    ModelWithoutRule::new(parts, axes, training)
}

/// The model that parts with paths say.
fn trained(parts: MenParts, data: &Dataset<'_>) -> Result<Men> {
    let data = data.distinct();
    let undecided = undecided(parts, Training::Samples(data))?;
    let z = undecided.projection().project(data)?;
    undecided.learn_weighted(z.as_ref(), data.class_indices(), data.weights())
}

/// How the parameters of a model say that it is read.
fn how(parts: &MenParts) -> ReadOffOptions {
    let reading = SizeLimits { nonzeros: None, panel_size: parts.params.panel_size, components: None };
    ReadOffOptions::new(reading, &parts.params, parts.paths.len())
}

/// The parts of a model of a reduced problem, with the axes of its paths.
fn parts_of(
    problem: &ReducedProblem,
    paths: Vec<Path>,
    params: &MenParams,
    classes: Vec<String>,
) -> Result<MenParts> {
    let units = problem.units(params);
    let ends = paths.iter().map(|path| &path.last().coefficients).filter(|end| end.nonzeros() > 0);
    let axes = ends.map(|end| end.map(|j, value| value * units[j])).collect();
    let projection = Projection::new(problem.mean.clone(), axes)?;
    let components = paths.iter().map(Component::from).collect();
    let report = FitReport { cg_residual: problem.cg_residual(), ..problem.report.clone() };
    let mut parts = MenParts::new(params.clone(), projection, units, components, report, classes);
    parts.paths = paths;
    Ok(parts)
}

/// The mean of the projected samples of every class, one row per class.
fn centres(z: MatRef<'_, f64>, classes: &[usize], count: usize, weights: Option<&[f64]>) -> Mat<f64> {
    let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
    let mut sizes = vec![0.0_f64; count];
    classes.iter().enumerate().for_each(|(i, &class)| sizes[class] += weight(i));
    let mut centres = Mat::zeros(count, z.ncols());
    for k in 0..z.ncols() {
        let samples = z.col(k).iter().zip(classes).enumerate();
        samples.for_each(|(i, (z, &class))| centres[(class, k)] += weight(i) * z);
        (0..count).filter(|&class| sizes[class] > 0.0).for_each(|class| centres[(class, k)] /= sizes[class]);
    }
    centres
}

/// Refuses paths none of which can use any variable.
fn check_ties(paths: &[Path]) -> Result<()> {
    if paths.iter().any(|path| path.last().coefficients.nonzeros() > 0) {
        return Ok(());
    }
    Err(match paths.first().map(|path| (path.ended(), path.max_nonzeros())) {
        Some((EndReason::MaxNonzeros { needed }, Some(nonzeros))) => {
            Error::Tie { component: 1, tied: needed, nonzeros }
        }
        Some((ended, _)) => Error::NoVariable { component: 1, why: ended.to_string() },
        None => Error::Degenerate("there is no axis".to_owned()),
    })
}
