//! The parameters of a fit and their defaults.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, at_least_one, check};
use crate::lars::{LarsOptions, check_penalty_factors};
use crate::named::named;
use crate::operator::ManifoldParams;
use crate::patches::PatchParams;
use crate::penalties::{PathPenalty, PenaltyKind, PenaltyParams};
use crate::plan::ComputeParams;
use crate::prepare::PrepareParams;
use crate::refit::{Refit, RefitParams};
use crate::rules::{Metric, RuleKind, RuleRequest};
use crate::targets::TargetParams;

/// Parameters that go well together, under a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Preset {
    /// What was best on faces and genes: axes refitted on the panel, and a rule to match.
    #[default]
    Default,
    /// A larger ridge, for few samples of many variables: correlated variables are then selected together, and other
    /// samples select more of the same ones.
    Stable,
    /// The paper's weights and rule: the axes as their paths leave them, and the nearest neighbour.
    Paper,
}

named!(Preset, "preset", Default = "default", Stable = "stable", Paper = "paper");

/// The parameters of a fit: one struct per stage, in the order of the pipeline, and what belongs to no stage.
///
/// `MenParams::default()` is a good start; set what you want to differ.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct MenParams {
    /// Number of axes d, from 1 to the number of classes minus 1; none: as many as the target has.
    pub components: Option<usize>,
    /// Largest number K of variables that the path of an axis selects, at least 1. None: twice the number of samples, but at least 50
    /// and at most 100; with `panel_size`, as many as the panel needs.
    #[schemars(extend("common" = true))]
    pub nonzeros: Option<usize>,
    /// Largest number of distinct variables that all axes use together, at least 1; none: no limit.
    ///
    /// The refits "panel" and "discriminant" first select more candidates, then drop those that contribute least to the separation of
    /// the classes.
    #[schemars(extend("common" = true))]
    pub panel_size: Option<usize>,
    /// Ridge λ2 of the elastic net, at least 0; none: 0.3.
    #[schemars(extend("common" = true))]
    pub ridge: Option<f64>,
    /// Rank of the PCA reconstruction that replaces the data first, at least 1; none: no reconstruction.
    pub pca_rank: Option<usize>,
    /// What samples need before a fit: missing values, batches, scales.
    pub prepare: PrepareParams,
    /// The patches, one per sample: which samples are neighbours, and what is kept of them.
    pub patch: PatchParams,
    /// The manifold term: how strongly the patches act on the projection.
    pub manifold: ManifoldParams,
    /// The target: where the samples of a class should be projected.
    pub target: TargetParams,
    /// The penalty: which coefficients are pressed down, and which variables enter together.
    pub penalty: PenaltyParams,
    /// The refit: how the weights of the selected variables are computed.
    pub refit: RefitParams,
    /// The rule: how the class of a projected sample is decided.
    pub rule: RuleRequest,
    /// How a fit is computed. Only time and memory depend on it, never the result.
    pub compute: ComputeParams,
}

impl Preset {
    /// The parameters it stands for.
    pub fn params(self) -> MenParams {
        MenParams::default().with(|it| match self {
            Preset::Default => {}
            Preset::Stable => it.ridge = Some(10.0),
            Preset::Paper => {
                it.ridge = Some(0.03);
                it.refit.kind = Some(Refit::None);
                (it.rule.kind, it.rule.metric) = (Some(RuleKind::Nearest), Some(Metric::Euclidean));
            }
        })
    }
}

impl MenParams {
    /// The paper's method with default parameters.
    pub fn paper() -> Self {
        Preset::Paper.params()
    }

    /// Whether the axes stay as their paths leave them, and the nearest neighbour decides, as in the paper.
    pub(crate) fn is_papers(&self) -> bool {
        let rule = &self.rule;
        self.refit.kind() == Refit::None
            && (rule.kind, rule.metric, rule.k) == (Some(RuleKind::Nearest), Some(Metric::Euclidean), 1)
    }

    /// These parameters, for samples that are prepared already.
    #[must_use]
    pub(crate) fn prepared(self) -> Self {
        MenParams { prepare: PrepareParams::default(), ..self }
    }

    /// The ridge that is used.
    pub fn ridge(&self) -> f64 {
        self.ridge.unwrap_or(0.3)
    }

    /// The ridge that the refits use.
    pub fn refit_ridge(&self) -> f64 {
        self.refit.ridge.unwrap_or(self.ridge())
    }

    /// Refuses parameters that are out of range for `p` variables.
    ///
    /// # Errors
    /// Naming the parameter, its value and what is allowed.
    pub fn check(&self, p: usize) -> Result<()> {
        at_least_one("components", self.components)?;
        at_least_one("nonzeros", self.nonzeros)?;
        at_least_one("panel_size", self.panel_size)?;
        at_least_one("pca_rank", self.pca_rank)?;
        check("ridge", self.ridge(), "a number from 0 to 1e100", |x| x >= 0.0)?;
        for (stage, checked) in [
            ("prepare", self.prepare.check()),
            ("patch", self.patch.check()),
            ("manifold", self.manifold.check()),
            ("target", self.target.check()),
            ("penalty", self.penalty.check()),
            ("refit", self.refit.check()),
            ("rule", self.rule.check()),
        ] {
            checked.map_err(|error| error.of_stage(stage))?;
        }
        self.check_groups(p)?;
        let factors = self.penalty.factors.as_ref();
        factors.map_or(Ok(()), |factors| check_penalty_factors(factors, p)).map_err(|e| e.of_stage("penalty"))
    }

    /// Refuses what does not go with so many axes.
    ///
    /// # Errors
    /// Naming the parameter, its value and what is allowed.
    pub(crate) fn check_axes(&self, axes: usize) -> Result<()> {
        if axes == 1
            && self.rule.metric == Some(Metric::Cosine)
            && self.rule.on_several().kind == RuleKind::Nearest
        {
            let allowed = "\"euclidean\", or left out: on one axis every cosine is 1 or -1";
            return Err(Error::parameter("rule.metric", "\"cosine\" with one axis", allowed));
        }
        Ok(())
    }

    /// The penalty, for a fit of so many samples. The first path goes as far as paths of default length do, so the weights of `adaptive` do not
    /// depend on the number of variables that is asked for.
    pub(crate) fn path_penalty(&self, samples: usize) -> PathPenalty {
        PathPenalty { first_nonzeros: Some(default_nonzeros(samples)), ..self.penalty.of_paths() }
    }

    /// Whether a fit of fewer variables can be read off this one.
    pub(crate) fn reads_off(&self) -> bool {
        self.penalty.kind.reads_off() && !self.penalty.grouped()
    }

    /// Whether a panel of a given size is what remains of more candidates. Penalties other than ℓ1 select the panel themselves.
    pub(crate) fn eliminates(&self) -> bool {
        self.refit.kind().shares_panel() && self.penalty.kind == PenaltyKind::L1 && !self.penalty.grouped()
    }

    /// Options of the LARS stage, with these penalty factors: constant columns, whose norm is 0, are barred.
    pub(crate) fn lars_options(&self, nonzeros: usize, mut factors: Vec<f64>, norms: &[f64]) -> LarsOptions {
        let constant = factors.iter_mut().zip(norms).filter(|(_, norm)| **norm == 0.0);
        constant.for_each(|(factor, _)| *factor = f64::INFINITY);
        LarsOptions {
            ridge: self.ridge(),
            penalty_factors: Some(factors),
            max_nonzeros: Some(nonzeros.min(norms.len())),
            ..LarsOptions::default()
        }
    }
}

/// The largest number of variables that an axis uses, unless it is given: twice the number of samples, but at least 50 and at most 100.
///
/// With more than 50 samples, 100 variables recognise new samples best. With fewer than 25 samples, 50 variables do as well. Fewer than
/// 50 variables do worse at any number of samples. docs/experiments.md has the table.
pub fn default_nonzeros(samples: usize) -> usize {
    samples.saturating_mul(2).clamp(50, 100)
}
