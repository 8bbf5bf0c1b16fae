//! The settings that are tried, and which of them share a reduced problem, paths or axes.

use crate::error::{Error, Result};
use crate::params::MenParams;
use crate::refit::Refit;
use crate::rules::{Metric, Priors, RuleKind, RuleRequest};

/// The values that are tried: all combinations, but for metrics that a rule does not look at.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Grid {
    /// Weights of the distance between embedding and projection.
    pub beta: Vec<f64>,
    /// Shrinkages of the target.
    pub target_shrinkage: Vec<f64>,
    /// Ridges.
    pub ridge: Vec<f64>,
    /// Sizes.
    pub sizes: Vec<ModelSize>,
    /// Refits.
    pub refit: Vec<Refit>,
    /// Ridges of the refits `axis` and `panel`; none = that of the path.
    pub refit_ridge: Vec<Option<f64>>,
    /// Rules.
    pub rule: Vec<RuleKind>,
    /// Numbers of voters of the rule `nearest`.
    pub voters: Vec<usize>,
    /// Metrics of the rule `nearest`.
    pub metric: Vec<Metric>,
    /// Priors.
    pub priors: Vec<Priors>,
}

/// How many variables a model uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelSize {
    /// At most so many per path; none: as many as a fit takes by default.
    pub nonzeros: Option<usize>,
    /// At most so many over all axes; none: no limit.
    pub panel: Option<usize>,
}

impl ModelSize {
    /// The size of models with these parameters.
    pub fn of(params: &MenParams) -> Self {
        ModelSize { nonzeros: params.nonzeros, panel: params.panel_size }
    }

    /// At most so many variables per path.
    pub fn per_path(nonzeros: usize) -> Self {
        ModelSize { nonzeros: Some(nonzeros), panel: None }
    }

    /// At most so many variables over all axes.
    pub fn of_panel(size: usize) -> Self {
        ModelSize { nonzeros: None, panel: Some(size) }
    }

    /// What sizes must share, so that all of them can be read off the same paths.
    fn paths(self) -> (bool, Option<usize>, bool) {
        let limited = self.panel.is_some();
        (limited, self.nonzeros.filter(|_| limited), self.nonzeros.is_none())
    }
}

impl Grid {
    /// The values of `base` alone.
    pub fn of(base: &MenParams) -> Self {
        let rule = base.rule.on_several();
        Grid {
            beta: vec![base.manifold.beta],
            target_shrinkage: vec![base.target.shrinkage],
            ridge: vec![base.ridge()],
            sizes: vec![ModelSize::of(base)],
            refit: vec![base.refit.kind()],
            refit_ridge: vec![base.refit.ridge],
            rule: vec![rule.kind],
            voters: vec![rule.neighbors],
            metric: vec![rule.metric],
            priors: vec![rule.priors],
        }
    }

    /// How many times paths are computed in every fold.
    pub fn paths_per_fold(&self) -> usize {
        self.beta.len() * self.target_shrinkage.len() * self.ridge.len() * self.groups().len()
    }

    /// Every setting, in the order of the trials.
    pub fn settings(&self, base: &MenParams) -> Vec<MenParams> {
        let mut all = Vec::new();
        for prepared in self.prepared(base) {
            for solved in self.solved(&prepared) {
                for group in self.groups() {
                    for read in self.read(&solved, &group) {
                        all.extend(self.decided(&read));
                    }
                }
            }
        }
        all
    }

    /// The settings that need a reduced problem of their own.
    pub(super) fn prepared(&self, base: &MenParams) -> Vec<MenParams> {
        let pairs = self.beta.iter().flat_map(|&beta| self.target_shrinkage.iter().map(move |&s| (beta, s)));
        let with = |(beta, shrinkage)| {
            base.clone().with(|it| (it.manifold.beta, it.target.shrinkage) = (beta, shrinkage))
        };
        pairs.map(with).collect()
    }

    /// Of those, the settings that need paths of their own.
    pub(super) fn solved(&self, prepared: &MenParams) -> Vec<MenParams> {
        self.ridge.iter().map(|&ridge| MenParams { ridge: Some(ridge), ..prepared.clone() }).collect()
    }

    /// Sizes that can be read off the same paths.
    pub(super) fn groups(&self) -> Vec<Vec<ModelSize>> {
        let mut groups: Vec<Vec<ModelSize>> = Vec::new();
        for size in &self.sizes {
            match groups.iter_mut().find(|group| group[0].paths() == size.paths()) {
                Some(group) => group.push(*size),
                None => groups.push(vec![*size]),
            }
        }
        groups
    }

    /// Of settings with paths, those that need axes of their own.
    pub(super) fn read(&self, solved: &MenParams, group: &[ModelSize]) -> Vec<MenParams> {
        let sized = group.iter().map(|size| MenParams {
            nonzeros: size.nonzeros,
            panel_size: size.panel,
            ..solved.clone()
        });
        let refits: Vec<(Refit, Option<f64>)> = self
            .refit
            .iter()
            .flat_map(|&refit| {
                let ridges = if refit.needs_gram() { &self.refit_ridge[..] } else { &self.refit_ridge[..1] };
                ridges.iter().map(move |&ridge| (refit, ridge))
            })
            .collect();
        let all = sized.flat_map(|sized| {
            let refitted = move |&(refit, ridge): &(Refit, Option<f64>)| {
                sized.clone().with(|it| (it.refit.kind, it.refit.ridge) = (Some(refit), ridge))
            };
            refits.iter().map(refitted)
        });
        all.collect()
    }

    /// Of settings with axes, all.
    pub(super) fn decided(&self, read: &MenParams) -> Vec<MenParams> {
        let mut all = Vec::new();
        for &rule in &self.rule {
            let (voters, metric) = match rule {
                RuleKind::Nearest => (&self.voters[..], &self.metric[..]),
                RuleKind::Centroid | RuleKind::Gaussian => (&self.voters[..1], &self.metric[..1]),
            };
            for &voters in voters {
                for &metric in metric {
                    for priors in &self.priors {
                        let (kind, metric, priors) = (Some(rule), Some(metric), priors.clone());
                        let rule = RuleRequest { kind, k: voters, metric, priors };
                        all.push(read.clone().with(|it| it.rule = rule));
                    }
                }
            }
        }
        all
    }

    pub(super) fn check(&self) -> Result<()> {
        let empty = [
            ("manifold.beta", self.beta.is_empty()),
            ("target.shrinkage", self.target_shrinkage.is_empty()),
            ("ridge", self.ridge.is_empty()),
            ("nonzeros", self.sizes.is_empty()),
            ("refit.kind", self.refit.is_empty()),
            ("refit.ridge", self.refit_ridge.is_empty()),
            ("rule.kind", self.rule.is_empty()),
            ("rule.k", self.voters.is_empty()),
            ("rule.metric", self.metric.is_empty()),
            ("rule.priors", self.priors.is_empty()),
        ];
        match empty.iter().find(|(_, empty)| *empty) {
            Some((name, _)) => Err(Error::parameter(name, "an empty list", "at least one value to try")),
            None => Ok(()),
        }
    }
}
