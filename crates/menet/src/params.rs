//! The parameters of a fit and their defaults.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, at_least_one, check};
use crate::lars::{LarsOptions, check_penalty_factors};
use crate::named::named;
use crate::neighbors::NeighborSearch;
use crate::operator::{Definiteness, OperatorParams};
use crate::patches::{self, PatchParams};
use crate::penalties::feature_graph::FeatureGraph;
use crate::penalties::groups::{GroupAxes, Groups};
use crate::penalties::{PenaltyKind, PenaltyParams};
use crate::plan::{GramRequest, RouteRequest};
use crate::prepare::{Impute, PrepareParams, Scale};
use crate::refit::Refit;
use crate::rules::{Metric, Priors, RuleKind, RuleParams};
use crate::targets::{TargetKind, TargetSpread};
use crate::variables::VariableRef;

/// A set of defaults for the parameters that are none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Preset {
    /// What was best on faces and genes: axes refitted on the panel, and a rule to match (docs/experiments.md).
    #[default]
    Default,
    /// The defaults with a larger ridge, for few samples of many variables: correlated variables are then selected together, and other
    /// samples select more of the same ones (docs/validation.md has the numbers).
    Stable,
    /// The paper's weights and rule: the axes as their paths leave them, and the nearest neighbour.
    Paper,
}

named!(Preset, "preset", Default = "default", Stable = "stable", Paper = "paper");

/// The parameters of a fit. `MenParams::default()` is a good start; set what you want to differ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct MenParams {
    /// The defaults of `ridge`, `refit`, `rule` and `metric`.
    pub preset: Preset,
    /// Number of axes d, from 1 to c−1; none = as many as the target has.
    pub components: Option<usize>,
    /// Largest number K of variables that the path of an axis selects, ≥ 1; none = [`default_nonzeros`], more than p means
    /// p. [`crate::Men::nonzeros`] says what was used.
    pub nonzeros: Option<usize>,
    /// Largest number of distinct variables that all axes use together, ≥ 1; none = no limit.
    pub panel_size: Option<usize>,
    /// How the weights of the selected variables are computed; none = the preset's.
    pub refit: Option<Refit>,
    /// The ridge of the refits `axis` and `panel`, ≥ 0; none = the ridge of the path.
    pub refit_ridge: Option<f64>,
    /// φ from 0 to 1: how far the refit `axis` goes from the paper's weights, 0, to those without the ℓ1 penalty, 1.
    pub relax: f64,
    /// λ2 ≥ 0, the ridge of the elastic net; none = the preset's.
    pub ridge: Option<f64>,
    /// The penalty on the coefficients of a path.
    pub penalty: PenaltyKind,
    /// a > 2 of the penalty `scad`, γ > 1 of `mcp`, γ > 0 of `adaptive`; none = 3.7, 3 and 1.
    pub penalty_shape: Option<f64>,
    /// ε > 0 of the penalties `adaptive` and `reweighted`, relative to the largest coefficient of the first fit; none = 0.05 and 0.1.
    pub penalty_epsilon: Option<f64>,
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
    /// How neighbours are searched for. Data that stay sparse need the exact search.
    pub neighbors: NeighborSearch,
    /// The patch rule, a name in [`patches::REGISTRY`].
    pub patch: String,
    /// Width of the heat kernel of the Laplacian patches, > 0; none = the median distance to the neighbours.
    pub bandwidth: Option<f64>,
    /// Regularizer of the LLE patch, > 0.
    pub lle_regularizer: f64,
    /// Tangent dimension of the LTSA patch, ≥ 1; none = half of the neighbours.
    pub ltsa_dimension: Option<usize>,
    /// Where the samples of a class should be projected.
    pub target: TargetKind,
    /// γ > 0, the shrinkage of the within-class covariance of the target `whitened`.
    pub target_shrinkage: f64,
    /// Which samples' covariance whitens the target; it matters where there are samples without a label.
    pub target_spread: TargetSpread,
    /// What to do where the reduced problem would not be positive definite.
    pub definiteness: Definiteness,
    /// f in (0, 1], the smallest eigenvalue of A that is allowed.
    pub floor: f64,
    /// Whether the solver works on columns of length 1; W is in the user's units in any case.
    pub standardize: bool,
    /// How missing values are filled; none = they are an error ([`crate::prepare`]).
    pub impute: Option<Impute>,
    /// From 0 to 1: variables that are missing in a larger fraction of the samples are left out; used with `impute`.
    pub max_missing: f64,
    /// How variables are scaled before all else. W is then in the units of the scaled variables.
    pub scale: Scale,
    /// Whether values are divided by their standard deviation in their batch, besides being centred there; for samples with batches.
    pub batch_scale: bool,
    /// Rank of the PCA reconstruction that replaces the data first, ≥ 1; none = no reconstruction.
    pub pca_rank: Option<usize>,
    /// One factor ≥ 0 per variable on its penalty; none = all 1. A variable with factor 0 is never penalised: it is in every
    /// model, and `nonzeros` and `panel_size` do not count it. Infinity bars a variable.
    pub penalty_factors: Option<Vec<f64>>,
    /// Variables that are in every model, as with a penalty factor of 0: `nonzeros` and `panel_size` do not count them.
    pub always: Option<Vec<VariableRef>>,
    /// Variables that are in no model, as with an infinite penalty factor.
    pub never: Option<Vec<VariableRef>>,
    /// Which variables are neighbours, and should have similar weights; none = no graph.
    pub feature_graph: Option<FeatureGraph>,
    /// λ3 ≥ 0, the weight of `feature_graph`; none = [`DEFAULT_WEIGHT`](crate::penalties::feature_graph::DEFAULT_WEIGHT).
    pub graph_weight: Option<f64>,
    /// Groups of variables that enter together; none = variables enter one by one. With groups, `nonzeros` counts groups
    /// ([`crate::penalties::groups`]).
    pub groups: Option<Groups>,
    /// Whether every axis chooses its own groups, or a group is chosen for all axes or for none; without `groups` every variable is
    /// then a group.
    pub group_axes: GroupAxes,
    /// How the class of a projected sample is decided; none = the preset's.
    pub rule: Option<RuleKind>,
    /// How many of the nearest training samples vote in the rule `nearest`, ≥ 1.
    pub voters: usize,
    /// The metric of the rule `nearest`; none = the preset's.
    pub metric: Option<Metric>,
    /// How frequent the classes are expected to be.
    pub priors: Priors,
    /// How A is applied. This affects time and memory only.
    pub route: RouteRequest,
    /// Which part of the Gram matrix is computed. This affects time and memory only.
    pub gram: GramRequest,
}

impl Default for MenParams {
    fn default() -> Self {
        MenParams {
            preset: Preset::Default,
            components: None,
            nonzeros: None,
            panel_size: None,
            refit: None,
            refit_ridge: None,
            relax: 1.0,
            ridge: None,
            penalty: PenaltyKind::L1,
            penalty_shape: None,
            penalty_epsilon: None,
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
            target_spread: TargetSpread::Classes,
            definiteness: Definiteness::Shrink,
            floor: 0.5,
            standardize: true,
            impute: None,
            max_missing: PrepareParams::default().max_missing,
            scale: Scale::None,
            batch_scale: false,
            pca_rank: None,
            penalty_factors: None,
            always: None,
            never: None,
            feature_graph: None,
            graph_weight: None,
            groups: None,
            group_axes: GroupAxes::Each,
            rule: None,
            voters: 1,
            metric: None,
            priors: Priors::Train,
            route: RouteRequest::Auto,
            gram: GramRequest::Auto,
        }
    }
}

impl MenParams {
    /// The paper's method with default parameters.
    pub fn paper() -> Self {
        MenParams { preset: Preset::Paper, ..MenParams::default() }
    }

    /// The refit that is used.
    pub fn refit(&self) -> Refit {
        self.refit.unwrap_or(match self.preset {
            Preset::Default | Preset::Stable => Refit::Discriminant,
            Preset::Paper => Refit::None,
        })
    }

    /// The rule that decides in a space of so many axes, with its parameters. On a single axis the angle between samples says
    /// no more than their sign. So all presets but the paper's take the Gaussian rule there, and the rule `nearest` the Euclidean
    /// metric.
    pub fn rule_for(&self, axes: usize) -> RuleParams {
        let mut rule = self.rule();
        if axes == 1 {
            if self.rule.is_none() && self.preset != Preset::Paper {
                rule.kind = RuleKind::Gaussian;
            }
            rule.metric = Metric::Euclidean;
        }
        rule
    }

    /// The rule that decides on several axes, with its parameters.
    pub fn rule(&self) -> RuleParams {
        let kind = self.rule.unwrap_or(match self.preset {
            Preset::Default | Preset::Stable | Preset::Paper => RuleKind::Nearest,
        });
        RuleParams { kind, neighbors: self.voters, metric: self.metric(), priors: self.priors.clone() }
    }

    /// The ridge that is used.
    pub fn ridge(&self) -> f64 {
        self.ridge.unwrap_or(match self.preset {
            Preset::Default => 0.3,
            Preset::Stable => 10.0,
            Preset::Paper => 0.03,
        })
    }

    /// The ridge that the refits use.
    pub fn refit_ridge(&self) -> f64 {
        self.refit_ridge.unwrap_or_else(|| self.ridge())
    }

    /// The metric that is used.
    pub fn metric(&self) -> Metric {
        self.metric.unwrap_or(match self.preset {
            Preset::Default | Preset::Stable => Metric::Cosine,
            Preset::Paper => Metric::Euclidean,
        })
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
        at_least_one("voters", Some(self.voters))?;
        self.prepare_params().check()?;
        self.patch_params().check()?;
        self.operator_params().check()?;
        check("ridge", self.ridge(), "a number from 0 to 1e100", |x| x >= 0.0)?;
        check("refit_ridge", self.refit_ridge(), "a number from 0 to 1e100", |x| x >= 0.0)?;
        check("relax", self.relax, "from 0 to 1", |x| (0.0..=1.0).contains(&x))?;
        check("target_shrinkage", self.target_shrinkage, "a number > 0, at most 1e100", |x| x > 0.0)?;
        check("graph_weight", self.graph_weight.unwrap_or(0.0), "a number from 0 to 1e100", |x| x >= 0.0)?;
        if let (Some(weight), None) = (self.graph_weight, &self.feature_graph) {
            let allowed = "left out without a `feature_graph`";
            return Err(Error::parameter("graph_weight", weight, allowed));
        }
        patches::rule(&self.patch)?;
        self.penalty_params(0).check()?;
        self.check_groups(p)?;
        self.penalty_factors.as_ref().map_or(Ok(()), |factors| check_penalty_factors(factors, p))
    }

    /// Refuses what does not go with so many axes.
    ///
    /// # Errors
    /// Naming the parameter, its value and what is allowed.
    pub(crate) fn check_axes(&self, axes: usize) -> Result<()> {
        if axes == 1 && self.metric == Some(Metric::Cosine) && self.rule().kind == RuleKind::Nearest {
            let allowed = "\"euclidean\", or left out: on one axis every cosine is 1 or -1";
            return Err(Error::parameter("metric", "\"cosine\" with one axis", allowed));
        }
        Ok(())
    }

    /// The penalty, for a fit of so many samples. The first path goes as far as paths of default length do, so the weights of `adaptive` do not
    /// depend on the number of variables that is asked for.
    pub(crate) fn penalty_params(&self, samples: usize) -> PenaltyParams {
        PenaltyParams {
            kind: self.penalty,
            shape: self.penalty_shape,
            epsilon: self.penalty_epsilon,
            first_nonzeros: Some(default_nonzeros(samples)),
        }
    }

    /// Whether a fit of fewer variables can be read off this one.
    pub(crate) fn reads_off(&self) -> bool {
        self.penalty.reads_off() && !self.grouped()
    }

    /// Whether a panel of a given size is what remains of more candidates. Penalties other than ℓ1 select the panel themselves.
    pub(crate) fn eliminates(&self) -> bool {
        self.refit().shares_panel() && self.penalty == PenaltyKind::L1 && !self.grouped()
    }

    /// How samples are prepared.
    pub fn prepare_params(&self) -> PrepareParams {
        PrepareParams {
            impute: self.impute,
            max_missing: self.max_missing,
            scale: self.scale,
            batch_scale: self.batch_scale,
        }
    }

    /// These parameters with samples prepared in this way.
    #[must_use]
    pub fn with_prepare(self, prepare: &PrepareParams) -> Self {
        let PrepareParams { impute, max_missing, scale, batch_scale } = *prepare;
        MenParams { impute, max_missing, scale, batch_scale, ..self }
    }

    /// The parameters of the patch rule.
    pub fn patch_params(&self) -> PatchParams {
        PatchParams {
            k_within: self.k_within,
            k_between: self.k_between,
            bandwidth: self.bandwidth,
            lle_regularizer: self.lle_regularizer,
            ltsa_dimension: self.ltsa_dimension,
        }
    }

    /// The trade-offs and the definiteness policy.
    pub fn operator_params(&self) -> OperatorParams {
        OperatorParams {
            alpha: self.alpha,
            beta: self.beta,
            kappa: self.kappa,
            definiteness: self.definiteness,
            floor: self.floor,
        }
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
