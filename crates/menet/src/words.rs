//! What a fit does to the samples and how it chooses, in sentences for a methods section.
//!
//! [`steps`] takes the parameters apart field by field, and [`searched`] a grid, so that a new field does not compile before somebody
//! decides what is said of it. Only what affects time and memory alone is left out.

use std::fmt::Display;

use crate::named::Named;
use crate::operator::ManifoldParams;
use crate::params::MenParams;
use crate::patches::PatchParams;
use crate::penalties::feature_graph::DEFAULT_WEIGHT;
use crate::penalties::groups::{DEFAULT_GROUPS, GroupAxes};
use crate::penalties::{PenaltyKind, PenaltyParams};
use crate::prepare::{Impute, PrepareParams, Scale};
use crate::refit::{Refit, RefitParams};
use crate::rules::{Priors, RuleKind, RuleRequest};
use crate::select::{Grid, ModelSize};
use crate::targets::{TargetParams, TargetSpread};
use crate::variables::VariableRef;

/// So many names of variables are listed.
const NAMED: usize = 10;

/// What the sentences need to know of the samples.
#[derive(Debug, Clone, Copy, Default)]
pub struct Samples {
    /// The number of classes.
    pub classes: usize,
    /// The number of batches; none if the samples have no batches.
    pub batches: Option<usize>,
}

/// What a fit with these parameters does, in the order in which it does it: one sentence or two per stage.
///
/// Of the parameters in `open`, which are chosen among several values, the sentences say only that they are chosen.
pub fn steps(params: &MenParams, open: &[&str], samples: Samples) -> Vec<String> {
    let in_words = ParamsInWords { params, open, samples };
    // Every field is named: one that is new must be told below, or be listed here as affecting nothing but time and memory.
    let MenParams {
        components: _,
        nonzeros: _,
        panel_size: _,
        ridge: _,
        pca_rank: _,
        prepare: PrepareParams { impute: _, max_missing: _, scale: _, batch_scale: _ },
        patch:
            PatchParams {
                kind: _,
                k_within: _,
                k_between: _,
                search: _,
                bandwidth: _,
                regularizer: _,
                dimension: _,
            },
        manifold: ManifoldParams { alpha: _, beta: _, kappa: _, definiteness: _, floor: _ },
        target: TargetParams { kind: _, shrinkage: _, spread: _ },
        penalty:
            PenaltyParams {
                kind: _,
                gamma: _,
                epsilon: _,
                standardize: _,
                factors: _,
                always: _,
                never: _,
                feature_groups: _,
                group_axes: _,
                feature_graph: _,
                graph_weight: _,
            },
        refit: RefitParams { kind: _, ridge: _, relax: _ },
        rule: RuleRequest { kind: _, k: _, metric: _, priors: _ },
        compute: _, // time and memory
    } = params;
    [
        in_words.preparation(),
        in_words.manifold(),
        in_words.target(),
        in_words.penalty(),
        in_words.size(),
        in_words.constraints(),
        in_words.refit(),
        in_words.rule(),
    ]
    .concat()
}

/// What is chosen among the values of a grid: the names of the parameters, and the parameters with their values in words.
pub fn searched(grid: &Grid) -> (Vec<&'static str>, Vec<String>) {
    let Grid { beta, target_shrinkage, ridge, sizes, refit, refit_ridge, rule, voters, metric, priors } =
        grid;
    let (mut names, mut words) = (Vec::new(), Vec::new());
    let mut add = |name: &'static str, what: &str, values: Vec<String>| {
        if values.len() > 1 {
            names.push(name);
            words.push(format!("{what} ({})", values.join(", ")));
        }
    };
    let distinct = |of: fn(&ModelSize) -> Option<usize>, open: &str| {
        let mut values: Vec<String> = Vec::new();
        for size in sizes {
            let value = of(size).map_or_else(|| open.to_owned(), |count| count.to_string());
            if !values.contains(&value) {
                values.push(value);
            }
        }
        values
    };
    add("manifold.beta", "β", texts(beta));
    add("target.shrinkage", "the shrinkage of the target", texts(target_shrinkage));
    add("ridge", "the ridge λ2", texts(ridge));
    add("nonzeros", "the number of variables per axis", distinct(|size| size.nonzeros, "the default"));
    add("panel_size", "the size of the panel", distinct(|size| size.panel, "no limit"));
    add("refit.kind", "the refit", names_of(refit));
    let ridges =
        refit_ridge.iter().map(|ridge| ridge.map_or("that of the path".to_owned(), |x| x.to_string()));
    // As the grid does: other refits have no ridge, and other rules neither votes nor a metric.
    let (has_ridge, votes) =
        (refit.iter().any(|refit| refit.needs_gram()), rule.contains(&RuleKind::Nearest));
    add("refit.ridge", "the ridge of the refit", if has_ridge { ridges.collect() } else { Vec::new() });
    add("rule.kind", "the decision rule", names_of(rule));
    add("rule.k", "the number of neighbours that vote", if votes { texts(voters) } else { Vec::new() });
    add("rule.metric", "the metric", if votes { names_of(metric) } else { Vec::new() });
    add("rule.priors", "the priors", priors.iter().map(prior).collect());
    (names, words)
}

fn texts<T: Display>(values: &[T]) -> Vec<String> {
    values.iter().map(T::to_string).collect()
}

fn names_of<T: Named>(values: &[T]) -> Vec<String> {
    values.iter().map(|value| value.name().to_owned()).collect()
}

fn prior(priors: &Priors) -> String {
    match priors {
        Priors::Train => "as in the training samples".to_owned(),
        Priors::Equal => "equal".to_owned(),
        Priors::Given(numbers) => texts(numbers).join(" : "),
    }
}

/// The parameters, and what is told of them elsewhere.
struct ParamsInWords<'a> {
    params: &'a MenParams,
    open: &'a [&'a str],
    samples: Samples,
}

impl ParamsInWords<'_> {
    /// A value, or that it is chosen.
    fn value(&self, name: &str, value: impl Display) -> String {
        if self.open.contains(&name) { "chosen".to_owned() } else { value.to_string() }
    }

    fn is_open(&self, name: &str) -> bool {
        self.open.contains(&name)
    }

    fn axes(&self) -> usize {
        self.params.components.unwrap_or(self.samples.classes.saturating_sub(1))
    }

    fn preparation(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        let it = self.params;
        if it.prepare.scale.logs() {
            sentences.push("Values x were replaced by log(1 + x).".to_owned());
        }
        if let Some(batches) = self.samples.batches {
            let divided = if it.prepare.batch_scale {
                ", and the values were divided by their standard deviation in the batch"
            } else {
                ""
            };
            sentences.push(format!(
                "The mean of every batch ({batches} batches) was subtracted from each variable{divided}; a batch without training samples was \
                 measured by its own samples."
            ));
        }
        match it.prepare.scale {
            Scale::None | Scale::Log1p => {}
            Scale::Unit | Scale::Log1pUnit => {
                sentences.push("Variables were divided by their standard deviation.".to_owned());
            }
            Scale::Pareto => {
                sentences.push(
                    "Variables were divided by the square root of their standard deviation.".to_owned(),
                );
            }
        }
        if let Some(impute) = it.prepare.impute {
            let by = match impute {
                Impute::Mean => "the mean of the variable",
                Impute::Median => "the median of the variable",
                Impute::Knn => "the values of the nearest samples (knn)",
            };
            sentences.push(format!(
                "Missing values were filled with {by}; variables that more than {} % of the samples lack were left out.",
                (1e6 * it.prepare.max_missing).round() / 1e4
            ));
        }
        sentences.push("Variables were centred.".to_owned());
        if let Some(rank) = it.pca_rank {
            sentences.push(format!("The samples were replaced by their best approximation of rank {rank}."));
        }
        sentences
    }

    fn manifold(&self) -> Vec<String> {
        let it = self.params;
        let own = match it.patch.kind.as_str() {
            patch if patch.contains("lle") => format!(", regularizer {}", it.patch.regularizer),
            patch if patch.contains("ltsa") => {
                format!(", tangent dimension {}", or_default(it.patch.dimension, "half of the neighbours"))
            }
            patch if patch.starts_with("laplacian") && !patch.contains("binary") => {
                format!(
                    ", bandwidth {}",
                    or_default(it.patch.bandwidth, "the median distance to the neighbours")
                )
            }
            _ => String::new(),
        };
        vec![format!(
            "The manifold term (weight α = {}) had patches of the rule {}{own}, with {} neighbours of the same class and {} of other \
             classes, found by {} search, κ = {} and β = {}; where the problem would not be positive definite, the policy was {} \
             (floor {}).",
            it.manifold.alpha,
            it.patch.kind,
            it.patch.k_within,
            it.patch.k_between,
            if it.patch.search.name() == "exact" {
                "exact".to_owned()
            } else {
                format!("an {}", it.patch.search.name())
            },
            it.manifold.kappa,
            self.value("manifold.beta", it.manifold.beta),
            it.manifold.definiteness.name(),
            it.manifold.floor,
        )]
    }

    fn target(&self) -> Vec<String> {
        let it = self.params;
        let spread = match it.target.spread {
            TargetSpread::Classes => "within classes",
            TargetSpread::All => "of all samples",
        };
        let how = match it.target.kind {
            crate::targets::TargetKind::Centres => "the class centres".to_owned(),
            crate::targets::TargetKind::Whitened => format!(
                "the class centres after whitening by the covariance {spread} (shrinkage {})",
                self.value("target.shrinkage", it.target.shrinkage)
            ),
        };
        let axes = match it.components {
            None => "as many axes as it allows".to_owned(),
            Some(count) => format!("{count} {}", if count == 1 { "axis" } else { "axes" }),
        };
        vec![format!("The target was {how}, with {axes}.")]
    }

    fn penalty(&self) -> Vec<String> {
        let it = self.params;
        let units =
            if it.penalty.standardize { "variables of length 1" } else { "variables in their own units" };
        let penalty = it.penalty.kind.penalty();
        let gamma = it.penalty.gamma.or(penalty.and_then(|penalty| penalty.default_gamma()));
        let epsilon = it.penalty.epsilon.or(penalty.and_then(|penalty| penalty.default_epsilon()));
        let mut own = match self.is_open("ridge") {
            true => "the ridge λ2 was chosen".to_owned(),
            false => format!("ridge λ2 = {}", it.ridge()),
        };
        if let Some(gamma) = gamma {
            own += &format!(", γ = {gamma}");
        }
        if let Some(epsilon) = epsilon {
            own += &format!(", ε = {epsilon}");
        }
        let name = if it.penalty.grouped() {
            "a group lasso".to_owned()
        } else {
            format!("the penalty {}", it.penalty.kind.name())
        };
        let exact =
            if it.penalty.kind == PenaltyKind::L1 && !it.penalty.grouped() { " (elastic net)" } else { "" };
        vec![format!("Weights were sparse by {name}{exact} on {units} ({own}).")]
    }

    fn size(&self) -> Vec<String> {
        let it = self.params;
        let (what, default) = if it.penalty.grouped() {
            ("groups of variables", format!("at most {DEFAULT_GROUPS}"))
        } else {
            ("variables", "twice as many as training samples, from 50 to 100".to_owned())
        };
        let mut sentences = Vec::new();
        match it.nonzeros {
            _ if self.is_open("nonzeros") => {
                sentences.push(format!("The number of {what} per axis was chosen."));
            }
            Some(k) => {
                sentences.push(format!("Each axis selected at most {k} {what}; this number was given."));
            }
            None if it.panel_size.is_some() || self.is_open("panel_size") => {}
            None => sentences.push(format!("The number of {what} per axis was the default ({default}).")),
        }
        match it.panel_size {
            _ if self.is_open("panel_size") => {
                sentences.push("The number of variables of all axes together was chosen.".to_owned());
            }
            Some(size) => {
                sentences
                    .push(format!("All axes together used at most {size} variables; this number was given."));
            }
            None => {}
        }
        sentences
    }

    fn constraints(&self) -> Vec<String> {
        let it = self.params;
        let mut sentences = Vec::new();
        if let Some(always) = it.penalty.always.as_deref().filter(|list| !list.is_empty()) {
            sentences.push(format!("In every model, whatever the data: {}.", listed(always)));
        }
        if let Some(never) = it.penalty.never.as_deref().filter(|list| !list.is_empty()) {
            sentences.push(format!("Barred from every model: {}.", listed(never)));
        }
        if let Some(factors) = &it.penalty.factors {
            let free = factors.iter().filter(|&&factor| factor == 0.0).count();
            let barred = factors.iter().filter(|factor| factor.is_infinite()).count();
            let finite = factors.iter().copied().filter(|factor| factor.is_finite());
            let (low, high) =
                finite.fold((f64::INFINITY, 0.0_f64), |(low, high), x| (low.min(x), high.max(x)));
            sentences.push(format!(
                "The penalties of variables had factors from {low} to {high} (free of it: {free}; barred: {barred})."
            ));
        }
        if let Some(groups) = &it.penalty.feature_groups {
            let used: usize = groups.groups().iter().map(|group| group.variables.len()).sum();
            sentences
                .push(format!("Variables entered in {} groups, which have {used} members.", groups.len()));
        }
        if it.penalty.group_axes == GroupAxes::Together {
            sentences.push("A variable or group was selected for all axes or for none.".to_owned());
        }
        if let Some(graph) = &it.penalty.feature_graph {
            let weight = it.penalty.graph_weight.unwrap_or(DEFAULT_WEIGHT);
            sentences.push(format!(
                "Neighbouring variables were tied to similar weights by a feature graph ({}, λ3 = {weight}).",
                graph.in_words()
            ));
        }
        sentences
    }

    fn refit(&self) -> Vec<String> {
        let it = self.params;
        let ridge = self.value("refit.ridge", it.refit_ridge());
        let open = self.is_open("refit.kind");
        let what = match it.refit.kind() {
            _ if open => "by a chosen refit".to_owned(),
            Refit::None => return vec!["The weights are those of the path, without a refit.".to_owned()],
            Refit::Axis => "without the L1 penalty on the variables of each axis".to_owned(),
            Refit::Panel => "without the L1 penalty on the panel".to_owned(),
            Refit::Discriminant => "as discriminants of the panel".to_owned(),
        };
        let ridge =
            if open || it.refit.kind().needs_gram() { format!(" (ridge {ridge})") } else { String::new() };
        let relax = if !open && it.refit.kind() == Refit::Axis {
            format!(", relaxed by φ = {}", it.refit.relax)
        } else {
            String::new()
        };
        vec![format!("The weights were computed again {what}{ridge}{relax}.")]
    }

    fn rule(&self) -> Vec<String> {
        let rule = self.params.rule.on(self.axes());
        let (voters, metric) =
            (self.value("rule.k", rule.neighbors), self.value("rule.metric", rule.metric.name()));
        let open = self.is_open("rule.kind");
        let how = match rule.kind {
            _ if open => format!(
                "by a chosen rule (for the nearest neighbours: {voters} of them vote, metric {metric})"
            ),
            RuleKind::Nearest => {
                format!("by the nearest neighbours ({voters} of them vote, metric {metric})")
            }
            RuleKind::Centroid => "by the nearest class mean".to_owned(),
            RuleKind::Gaussian => "by a Gaussian rule with one covariance for all classes".to_owned(),
        };
        vec![format!(
            "Samples were classified {how}; the priors of the classes were {}.",
            self.value("rule.priors", prior(&rule.priors))
        )]
    }
}

fn or_default<T: Display>(value: Option<T>, default: &str) -> String {
    value.map_or_else(|| default.to_owned(), |value| value.to_string())
}

/// The first few of many variables.
fn listed(variables: &[VariableRef]) -> String {
    let name = |variable: &VariableRef| match variable {
        VariableRef::Position(j) => format!("variable {j} (counted from 0)"),
        VariableRef::Name(name) => name.clone(),
    };
    let shown: Vec<String> = variables.iter().take(NAMED).map(name).collect();
    let more = variables.len().saturating_sub(NAMED);
    shown.join(", ") + &if more > 0 { format!(" and {more} more") } else { String::new() }
}
