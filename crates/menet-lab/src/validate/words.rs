//! What was done and found, in words that can go into a methods section.

use menet::Dataset;

use super::men::MenProcedure;
use super::{Interval, Options, StabilityFound, TrialChoice, Validation};
use crate::output::words as score_words;

/// The paragraphs: the cross-validation, every step of a fit, the permutation test, the stability, the final model, the software.
pub(super) fn paragraphs(
    found: &Validation,
    options: &Options,
    (men, data): (Option<&MenProcedure>, &Dataset<'_>),
) -> Vec<String> {
    let mut all = vec![cross_validation(found, men, data)];
    all.extend(men.map(|men| procedure(men, data)));
    all.extend(comparison(found));
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

fn cross_validation(found: &Validation, men: Option<&MenProcedure>, data: &Dataset<'_>) -> String {
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
    let inside = men.map_or_else(String::new, |men| choice(men, data, design.inner_folds));
    let untested = match found.untested().as_slice() {
        [] => String::new(),
        names => format!(
            " (not {}, which {} too small)",
            names.join(", "),
            if names.len() == 1 { "is" } else { "are" }
        ),
    };
    let copies = found.copies.as_ref().map_or_else(String::new, |copies| format!(" {copies}."));
    let unit = match (design.groups, design.copies) {
        (Some(_), _) => "group",
        (None, 0) => "sample",
        (None, _) => "distinct sample",
    };
    let first = &found.methods[0];
    let scores = [("an AUC", first.auc), ("a log loss", first.log_loss)].into_iter();
    let scores: String =
        scores.filter_map(|(name, value)| Some(format!(", {name} of {}", with_interval(value?)))).collect();
    format!(
        "Performance was estimated on {samples} samples of {classes} classes with {} variables: {held_out}.{copies}{inside} Held-out samples{untested} \
         were classified with a balanced accuracy of {}{scores}. Intervals take the {unit} as the unit, as many as a \
         training part has, so that repeats do not narrow them: Wilson's for rates and the balanced accuracy, Newcombe's for the AUC, \
         Student's t for the log loss.",
        found.variables,
        with_interval(first.balanced),
    )
}

/// The methods that the first one is compared with.
fn comparison(found: &Validation) -> Option<String> {
    let others: Vec<String> = found.methods.iter().skip(1).map(|method| method.name.clone()).collect();
    let verb = if others.len() == 1 { "was" } else { "were" };
    (!others.is_empty()).then(|| {
        format!(
            "For comparison, {} {verb} fitted and tested on the same training parts and held-out samples; what they \
             choose, they chose inside every training part.",
            in_a_row(&others)
        )
    })
}

/// How the settings were chosen, or that there was nothing to choose.
fn choice(men: &MenProcedure, data: &Dataset<'_>, folds: usize) -> String {
    let (Some(grid), Some(search)) = (men.grid(data), &men.search) else {
        return " All settings were fixed beforehand.".to_owned();
    };
    let (_, searched) = menet::words::searched(&grid);
    format!(
        " Inside every training part, {} {} chosen from {} combinations by {folds}-fold cross-validation, taking {} ({}).",
        in_a_row(&searched),
        if searched.len() == 1 { "was" } else { "were" },
        grid.settings(&men.base).len(),
        match search.choose {
            TrialChoice::Best => "the best",
            TrialChoice::Smallest => "the smallest model within one standard error of the best",
            TrialChoice::MostStable => "the most stable selection within one standard error of the best",
        },
        score_words(search.score),
    )
}

/// What was done to the samples and how a model was made of them: every step, from the parameters and the data.
fn procedure(men: &MenProcedure, data: &Dataset<'_>) -> String {
    let open = men.grid(data).map_or_else(Vec::new, |grid| menet::words::searched(&grid).0);
    let params = men.shared(data);
    let samples = menet::words::Samples {
        classes: data.classes().len(),
        batches: data.batches().map(|batches| batches.names().len()),
    };
    let steps = menet::words::steps(&params, &open, samples);
    format!(
        "All of the following was learned from the training part alone and applied to the held-out samples.{} {}",
        counting(data),
        steps.join(" ")
    )
}

/// How much samples count, and those without a label.
fn counting(data: &Dataset<'_>) -> String {
    let mut sentences = String::new();
    if data.is_balanced() {
        sentences += " Samples were weighted so that every class counted as much as any other.";
    }
    // Balanced classes alone give all samples of a class one weight.
    let one_per_class = |weights: &[f64]| {
        let class = |class| data.members(class).iter().map(|&i| weights[i]);
        (0..data.classes().len()).all(|k| class(k).all(|weight| Some(weight) == class(k).next()))
    };
    if let Some(weights) = data.weights().filter(|weights| !(data.is_balanced() && one_per_class(weights))) {
        let low = weights.iter().copied().fold(f64::INFINITY, f64::min);
        let high = weights.iter().copied().fold(0.0, f64::max);
        let so = if data.is_balanced() { ", then" } else { "," };
        sentences +=
            &format!(" Samples had weights of their own{so} from {low:.3} to {high:.3} times their mean.");
    }
    if data.unlabelled() > 0 {
        sentences +=
            &format!(" {} samples without a label took part in the manifold term.", data.unlabelled());
    }
    sentences
}

/// `a, b and c`.
fn in_a_row(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [all @ .., last] => format!("{} and {last}", all.join(", ")),
    }
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
    let failed = match test.failed {
        0 => String::new(),
        n => format!("; {n} of these could not be fitted in every fold, and decided at chance there"),
    };
    let exchanged = test.exchanged.as_ref().map_or_else(String::new, |how| format!(" ({how})"));
    let limit = test.limit().map_or_else(String::new, |limit| format!(" {}.", capitalised(&limit)));
    Some(format!(
        "A permutation test repeated the whole procedure, choices included, on permuted labels{exchanged}{end}: {} of {} were as good as the \
         true labels (balanced accuracy {:.3} in the first repeat){failed}, p = {} (95 % interval of the p-value {} to {}).{limit}",
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
        with_interval(stability.index),
        stability.stable.len(),
        found.variables,
        stability.stable_size,
        100.0 * stability.threshold,
    )
}

fn capitalised(text: &str) -> String {
    text.chars().take(1).flat_map(char::to_uppercase).chain(text.chars().skip(1)).collect()
}

fn with_interval(interval: Interval) -> String {
    format!("{:.3} (95 % confidence interval {:.3} to {:.3})", interval.mean, interval.low, interval.high)
}

fn p(value: f64) -> String {
    if value == 0.0 || value >= 0.001 { format!("{value:.3}") } else { format!("{value:.1e}") }
}
