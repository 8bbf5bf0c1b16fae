//! From paths to a model, and to smaller ones.
//!
//! | | |
//! |---|---|
//! | [`Men::from_paths`] | a model that knows its paths alone |
//! | [`Men::axes_at`] | axes read off the paths, with the training samples or sums over them |
//! | [`Undecided::learn`] | the rule, from the projected training samples |
//!
//! [`Men::assemble`] and [`Men::at`] are these steps one after the other, on samples in memory.

use faer::{Mat, MatRef};

use super::{Component, Men, MenParts, PanelVariable};
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::fit::{Clock, fit_prepared};
use crate::lars::{Ended, Path};
use crate::monitor::{Monitor, Stage, proceed};
use crate::numerics::sparse::SparseVector;
use crate::panel::{self, Reading};
use crate::params::MenParams;
use crate::prepare::PrepareParams;
use crate::projection::Projection;
use crate::reduce::ReducedProblem;
use crate::refit::{Axes, How, Reached, Refit, Source, Training, wanted};
use crate::rules::{Projected, learn};
use crate::solved::Solved;
use crate::targets::AxisCount;

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
        let mut parts = parts_of(problem, solved.paths.clone(), params, data.classes().to_vec())?;
        parts.reached = solved.reached(params.refit()).cloned();
        parts.feature_names = data.feature_names().map(<[String]>::to_vec);
        parts.image_shape = data.image_shape();
        let mut men = clock.time(Stage::Refit, || {
            let reading = Reading { nonzeros: None, panel_size: params.panel_size, components: None };
            let axes = solved.read(reading, params)?;
            proceed(monitor, Stage::Refit)?;
            let undecided = Undecided::new(parts, axes, Training::Samples(data))?;
            let z = undecided.projection().project(data)?;
            undecided.learn_weighted(z.as_ref(), data.class_indices(), data.weights())
        })?;
        men.parts.seconds = clock.seconds;
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
        let reached = params.refit().needs_gram().then(|| Reached::new(problem, &paths));
        let mut parts = parts_of(problem, paths, params, classes)?;
        parts.reached = reached;
        Men::from_parts(parts)
    }

    /// The same fit with fewer variables or axes. From paths that reach as far, it is bit for bit what [`fit`](crate::fit())
    /// gives with these parameters. The rounds of the penalties `reweighted`, `scad` and `mcp` are made for one number of variables. Another number
    /// is fitted again.
    ///
    /// A refit and the rule are computed again from the training samples. Without them, only the axes of the refit `none` can be
    /// read, and only the rule `nearest` is kept, and only if nothing but axes was left out.
    ///
    /// # Errors
    /// When the fit does not reach so far, a number is 0, or the training samples are needed.
    pub fn at(&self, reading: Reading, training: Option<&Dataset<'_>>) -> Result<Men> {
        match (training, &self.parts.preparation) {
            (Some(data), Some(preparation)) => self.at_prepared(reading, &preparation.prepare(data)?),
            (Some(data), None) => self.at_prepared(reading, data),
            (None, _) => self.at_without_training(reading),
        }
    }

    /// The same with training samples that are prepared already.
    ///
    /// # Errors
    /// As [`Self::at`].
    pub fn at_prepared(&self, reading: Reading, data: &Dataset<'_>) -> Result<Men> {
        if let Some(params) = self.made_again(reading) {
            // Names and shape come from the model: the samples may have none.
            let data = data.called(self.feature_names(), self.image_shape());
            let plain = params.with_prepare(&PrepareParams::default());
            let men = fit_prepared(&data, &plain, AxisCount::exactly(plain.components), &())?;
            return match &self.parts.preparation {
                Some(preparation) => men.prepared_by(preparation.clone(), 0.0),
                None => Ok(men),
            };
        }
        let data = data.distinct();
        let undecided = self.axes_at(reading, Training::Samples(data))?;
        let z = undecided.projection().project(data)?;
        undecided.learn_weighted(z.as_ref(), data.class_indices(), data.weights())
    }

    /// The variables of which [`Self::axes_at`] needs the training samples, rising.
    ///
    /// # Errors
    /// When the fit does not reach so far, or a number is 0.
    pub fn wanted(&self, reading: Reading) -> Result<Vec<usize>> {
        let parts = self.cut(reading)?;
        wanted(&parts.paths, &how(&parts))
    }

    /// The axes of [`Self::at`]; the rule is still to be learned.
    ///
    /// # Errors
    /// As [`Self::at`].
    pub fn axes_at(&self, reading: Reading, training: Training<'_>) -> Result<Undecided> {
        let parts = self.cut(reading)?;
        let source = Source {
            training,
            mean: parts.projection.mean(),
            units: &parts.units,
            paths: &parts.paths,
            reached: parts.reached.as_ref(),
        };
        let axes = source.read(&how(&parts))?;
        Undecided::new(parts, axes, training)
    }

    fn at_without_training(&self, reading: Reading) -> Result<Men> {
        let d = self.axes_kept(reading)?;
        // An axis that ties left without variables has no column in W.
        let all_have_axes = self.parts.projection.components() == self.parts.components.len();
        let fewer_axes_only = reading.nonzeros.is_none()
            && all_have_axes
            && reading.panel_size.or(self.parts.params.panel_size).is_none()
            && self.parts.params.refit() == Refit::None;
        if !fewer_axes_only {
            return Men::from_parts(without_training(self.cut(reading)?)?);
        }
        let mut parts = self.first(d, reading);
        parts.projection = parts.projection.first(d)?;
        let used = panel::union(parts.projection.axes());
        parts.panel.retain(|row| used.binary_search(&row.variable).is_ok());
        parts.rule = parts.rule.and_then(|rule| rule.first(d));
        Men::from_parts(parts)
    }

    /// The parameters of the fit that a reading stands for, where it cannot be read off this one: its penalty is solved for one size.
    fn made_again(&self, reading: Reading) -> Option<MenParams> {
        let params = &self.parts.params;
        let p = self.parts.projection.variables();
        let nonzeros = reading.nonzeros.map(|k| k.min(p)).filter(|&k| k != self.nonzeros());
        let panel_size = reading.panel_size.filter(|&size| Some(size) != params.panel_size);
        let other = nonzeros.is_some() || panel_size.is_some();
        (other && !params.reads_off()).then(|| MenParams {
            nonzeros: nonzeros.or(params.nonzeros),
            panel_size: panel_size.or(params.panel_size),
            components: reading.components.or(params.components),
            ..params.clone()
        })
    }

    /// How many axes a reading keeps.
    fn axes_kept(&self, reading: Reading) -> Result<usize> {
        let fitted = self.parts.components.len();
        let d = reading.components.unwrap_or(fitted);
        if d == 0 || d > fitted {
            let allowed = format!("1 to {fitted}, the number that was fitted");
            return Err(Error::parameter("components", d, allowed));
        }
        Ok(d)
    }

    /// The parts with the first `d` paths, and the parameters of the reading.
    fn first(&self, d: usize, reading: Reading) -> MenParts {
        let mut parts = self.parts.clone();
        parts.components.truncate(d);
        parts.paths.truncate(d);
        parts.params.components = reading.components.or(parts.params.components);
        parts.params.panel_size = reading.panel_size.or(parts.params.panel_size);
        parts
    }

    /// The parts with paths and parameters as a reading asks for.
    fn cut(&self, reading: Reading) -> Result<MenParts> {
        let mut parts = self.first(self.axes_kept(reading)?, reading);
        if parts.paths.is_empty() {
            let (asked, has) = ("another size".to_owned(), "was left out of this model".to_owned());
            return Err(Error::PathTooShort { asked, has });
        }
        parts.params.check(parts.projection.variables())?;
        if self.made_again(reading).is_some() {
            let (name, asked) = match reading.nonzeros {
                Some(k) => ("nonzeros", k),
                None => ("panel_size", reading.panel_size.unwrap_or_default()),
            };
            let allowed = "that of the fit: with this penalty a model holds no smaller ones, so fit again, or give the training samples";
            return Err(Error::parameter(name, asked, allowed));
        }
        if let Some(k) = reading.nonzeros.filter(|_| parts.params.reads_off()) {
            let k = k.min(parts.projection.variables());
            parts.paths = parts.paths.iter().map(|path| path.truncated(k)).collect::<Result<_>>()?;
            parts.components = parts.paths.iter().map(Component::from).collect();
            parts.params.nonzeros = Some(k);
        }
        if parts.params.panel_size.is_none() && !parts.params.refit().shares_panel() {
            check_ties(&parts.paths)?;
        }
        Ok(parts)
    }
}

/// A model whose axes are known. Its rule is learned from the training samples, projected on them.
#[derive(Debug, Clone)]
pub struct Undecided {
    parts: MenParts,
    deviations: Vec<f64>,
    covariance: Option<Mat<f64>>,
}

impl Undecided {
    fn new(mut parts: MenParts, axes: Axes, training: Training<'_>) -> Result<Self> {
        let Axes { axes, panel, report, covariance } = axes;
        let mean = parts.projection.mean().to_vec();
        let deviations = training.deviations(&mean, &panel)?;
        parts.projection = Projection::new(mean, axes)?;
        let unknown = |variable| PanelVariable { variable, deviation: None, class: None };
        (parts.panel, parts.refit, parts.rule) = (panel.into_iter().map(unknown).collect(), report, None);
        Ok(Undecided { parts, deviations, covariance })
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

    /// The same for samples with weights.
    fn learn_weighted(self, z: MatRef<'_, f64>, classes: &[usize], weights: Option<&[f64]>) -> Result<Men> {
        let Undecided { mut parts, deviations, covariance } = self;
        let (n, count, d) = (z.nrows(), parts.classes.len(), parts.projection.components());
        if classes.len() != n || z.ncols() != d || classes.iter().any(|&class| class >= count) {
            let why =
                format!("there are {n} projected samples on {} of {d} axes, and {count} classes", z.ncols());
            return Err(Error::Size { what: "`classes`", given: classes.len(), expected: n, why });
        }
        let covariance = covariance.as_ref().map(Mat::as_ref);
        let samples = Projected { z, classes, count, weights, covariance };
        parts.rule = Some(learn(&parts.params.rule_for(d), &samples)?);
        let centres = centres(z, classes, count, weights);
        let axes = parts.projection.axes();
        for (row, deviation) in parts.panel.iter_mut().zip(deviations) {
            let towards = |class: usize| -> f64 {
                axes.iter().enumerate().map(|(k, axis)| axis.get(row.variable) * centres[(class, k)]).sum()
            };
            row.class =
                (0..count).reduce(|best, next| if towards(next) > towards(best) { next } else { best });
            row.deviation = Some(deviation);
        }
        Men::from_parts(parts)
    }
}

/// How the parameters of a model say that it is read.
fn how(parts: &MenParts) -> How {
    let reading = Reading { nonzeros: None, panel_size: parts.params.panel_size, components: None };
    How::new(reading, &parts.params, parts.paths.len())
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
    let definiteness = problem.report.definiteness.clone();
    let mut parts = MenParts::new(params.clone(), projection, units, components, definiteness, classes);
    parts.paths = paths;
    parts.neighbor_recall = problem.report.neighbor_recall;
    parts.cg_residual = problem.cg_residual();
    parts.unlabelled = problem.report.unlabelled;
    parts.regime.clone_from(&problem.report.regime);
    parts.seconds.clone_from(&problem.report.seconds);
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
