//! What was done and found, in words that can go into a methods section.

use menet::Named;

use super::men::MenProcedure;
use super::{Choose, Interval, Options, StabilityFound, Validation};

/// The paragraphs: the cross-validation, the permutation test, the stability, the final model, the software.
pub(super) fn paragraphs(found: &Validation, options: &Options, men: Option<&MenProcedure>) -> Vec<String> {
    let mut all = vec![cross_validation(found, men)];
    all.extend(permutation(found));
    all.extend(found.stability.as_ref().map(|stability| selection(found, stability)));
    if let Some(models) = &found.models {
        let axes = models.all.projection().components();
        all.push(format!(
            "The final model was chosen and fitted in the same way on all {} samples; it has {axes} {} and uses {} of {} variables.",
            found.class_sizes.iter().sum::<usize>(),
            if axes == 1 { "axis" } else { "axes" },
            found.panel.len(),
            found.variables,
        ));
    }
    all.push(format!(
        "All computations were done with menet {} (Manifold Elastic Net; Zhou, Tao and Wu), seed {}.",
        env!("CARGO_PKG_VERSION"),
        options.seed
    ));
    all
}

fn cross_validation(found: &Validation, men: Option<&MenProcedure>) -> String {
    let design = &found.design;
    let (samples, classes) = (found.class_sizes.iter().sum::<usize>(), found.classes.len());
    let repeated = match design.repeats {
        1 => "was done once".to_owned(),
        repeats => format!("was repeated {repeats} times"),
    };
    let held_out = match (design.groups, design.leave_one_group_out) {
        (Some(groups), true) => format!("each of the {groups} groups was held out once"),
        (Some(groups), false) => format!(
            "{}-fold cross-validation {repeated}; the samples of each of the {groups} groups stayed together",
            design.folds
        ),
        (None, _) => {
            format!("stratified {}-fold cross-validation {repeated}", design.folds)
        }
    };
    let inside = match men {
        Some(men) if design.inner_folds > 0 => format!(
            " Inside every training part, the settings (number of variables, ridge, refit and decision rule) were chosen from {} \
             combinations by {}-fold cross-validation{}; centring and scaling were computed from the training part alone.",
            men.grid.settings(&men.base).len(),
            design.inner_folds,
            match men.choose {
                Choose::Best => ", taking the best",
                Choose::Smallest => ", taking the smallest model within one standard error of the best",
                Choose::MostStable => ", taking the most stable selection within one standard error of the best",
            }
        ),
        Some(_) => " All settings were fixed beforehand; centring and scaling were computed from the training part alone."
            .to_owned(),
        None => String::new(),
    };
    let filled = men.and_then(|men| men.base.impute).map_or(String::new(), |impute| {
        format!(" Missing values were filled from the training part alone ({}).", impute.name())
    });
    let untested = match found.untested().as_slice() {
        [] => String::new(),
        names => format!(
            " (not {}, which {} too small)",
            names.join(", "),
            if names.len() == 1 { "is" } else { "are" }
        ),
    };
    let unit = if design.groups.is_some() { "group" } else { "sample" };
    let first = &found.methods[0];
    let scores = [("an AUC", first.auc), ("a log loss", first.log_loss)].into_iter();
    let scores: String =
        scores.filter_map(|(name, value)| Some(format!(", {name} of {}", told(value?)))).collect();
    format!(
        "Performance was estimated on {samples} samples of {classes} classes with {} variables: {held_out}.{inside}{filled} Held-out samples{untested} \
         were classified with a balanced accuracy of {}{scores}. Intervals take the {unit} as the unit, as many as a \
         training part has, so that repeats do not narrow them: Wilson's for rates and the balanced accuracy, Newcombe's for the AUC, \
         Student's t for the log loss.",
        found.variables,
        told(first.balanced),
    )
}

fn permutation(found: &Validation) -> Option<String> {
    let test = found.permutation.as_ref()?;
    let end = if test.early {
        format!(
            " and stopped when the answer was clear, after {} of at most {}",
            test.permuted.len(),
            test.asked
        )
    } else {
        format!(" with {} permutations", test.permuted.len())
    };
    let failed = match test.failed() {
        0 => String::new(),
        n => format!("; {n} of these could not be fitted and count as being as good"),
    };
    Some(format!(
        "A permutation test repeated the whole procedure, choices included, on permuted labels{end}: {} of {} were as good as the \
         true labels (balanced accuracy {:.3} in the first repeat){failed}, p = {} (95 % interval of the p-value {} to {}).",
        test.as_good,
        test.permuted.len(),
        test.observed,
        p(test.p_value.mean),
        p(test.p_value.low),
        p(test.p_value.high),
    ))
}

fn selection(found: &Validation, stability: &StabilityFound) -> String {
    let bound = stability.false_selections.iter().find(|(name, _)| name.starts_with("unimodal"));
    let bound = bound.map_or_else(String::new, |(_, bound)| {
        format!("; at most {bound:.2} false selections are expected (Shah and Samworth's bound for unimodal frequencies)")
    });
    format!(
        "The stability of the selection was assessed on {} half-samples in complementary pairs: Nogueira's index of panels of {} \
         variables is {}. {} of {} variables were among the first {} in at least {:.0} % of the \
         half-samples{bound}.",
        stability.half_samples,
        stability.size,
        told(stability.index),
        stability.stable.len(),
        found.variables,
        stability.stable_size,
        100.0 * stability.threshold,
    )
}

fn told(interval: Interval) -> String {
    format!("{:.3} (95 % confidence interval {:.3} to {:.3})", interval.mean, interval.low, interval.high)
}

fn p(value: f64) -> String {
    if value == 0.0 || value >= 0.001 { format!("{value:.3}") } else { format!("{value:.1e}") }
}
