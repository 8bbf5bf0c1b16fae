//! Smaller models without the training samples: of the refit `none` alone.

use super::{Men, MenParts, ModelWithoutRule, PanelVariable};
use crate::error::{Error, Result};
use crate::numerics::sparse::SparseVector;
use crate::panel::{self, SizeLimits};
use crate::penalties::groups::GroupAxes;
use crate::projection::Projection;
use crate::refit::Refit;
use crate::rules::{LearnedRule, Nearest, Projected, RuleKind, learn};

impl Men {
    /// The smaller model that a reading asks for.
    pub(super) fn at_without_training(&self, reading: SizeLimits) -> Result<Men> {
        let fewer_axes_only = self.only_drops_axes(reading)?;
        let mut parts = match self.parts.paths.is_empty() && fewer_axes_only {
            true => self.first(reading)?,
            false => without_training(self.held(reading)?)?,
        };
        for row in &mut parts.panel {
            let known = self.parts.panel.iter().find(|known| known.variable == row.variable);
            if let Some(known) = known {
                *row = PanelVariable { class: None, ..known.clone() };
            }
        }
        let d = parts.projection.components();
        let nearest = parts.params.rule.on(d).kind == RuleKind::Nearest;
        match self.parts.rule.as_ref().filter(|_| fewer_axes_only && nearest) {
            Some(LearnedRule::Nearest(rule)) if self.unweighted(rule)? => {
                ModelWithoutRule { parts, covariance: None }.learn(rule.gallery.subcols(0, d), &rule.classes)
            }
            _ => Men::from_parts(parts),
        }
    }

    /// Whether a reading keeps the first axes as they are.
    fn only_drops_axes(&self, reading: SizeLimits) -> Result<bool> {
        let (params, axes) = (&self.parts.params, self.parts.components.len());
        // An axis that ties left without variables has no column in W.
        let all_have_axes = self.parts.projection.components() == axes;
        let each_alone = params.penalty.group_axes == GroupAxes::Each || self.axes_kept(reading)? == axes;
        let same_size = reading.nonzeros.is_none() && reading.panel_size.or(params.panel_size).is_none();
        Ok(same_size && all_have_axes && each_alone && params.refit.kind() == Refit::None)
    }

    /// The parts with the first axes, where there are no paths.
    fn first(&self, reading: SizeLimits) -> Result<MenParts> {
        let (mut parts, d) = (self.parts.clone(), self.axes_kept(reading)?);
        parts.params.components = reading.components.or(parts.params.components);
        parts.params.check_axes(d)?;
        parts.components.truncate(d);
        parts.projection = parts.projection.first(d)?;
        let used = panel::union(parts.projection.axes());
        parts.refit.candidates = used.len();
        parts.panel = used.into_iter().map(PanelVariable::unknown).collect();
        parts.rule = None;
        Ok(parts)
    }

    /// Whether the samples that a rule stores had no weights when it was learned: learned again, it is the same.
    fn unweighted(&self, rule: &Nearest) -> Result<bool> {
        let (z, count) = (rule.gallery.as_ref(), self.parts.classes.len());
        let samples = Projected { z, classes: &rule.classes, count, weights: None, covariance: None };
        let again = learn(&self.parts.params.rule.on(z.ncols()), &samples)?;
        Ok(matches!(again, LearnedRule::Nearest(again) if again == *rule))
    }
}

/// The parts of a model whose axes are read off its paths alone, and that has no rule.
fn without_training(mut parts: MenParts) -> Result<MenParts> {
    if parts.params.refit.kind() != Refit::None {
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
    parts.panel = variables.into_iter().map(PanelVariable::unknown).collect();
    parts.rule = None;
    Ok(parts)
}
