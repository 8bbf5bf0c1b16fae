//! The answer in three sentences, then the scores that it rests on.

use std::fmt::Write;

use super::format::{count, counted, percent, percent_with, plain_with, probability};
use super::{Page, PageSubject, sample_name};
use crate::names::{escaped, shown};
use crate::validate::{Interval, LEVEL, MethodResult, PermutationTest, Validation};

/// How many variables the answer names, and how many classes the table of recalls shows unfolded.
const NAMED: usize = 5;
const UNFOLDED: usize = 12;

/// How many of the samples that are always wrong are listed.
const LISTED: usize = 200;

pub(super) fn add(subject: &PageSubject<'_>, page: &mut Page) {
    let markup = format!(
        "<ol class=\"answer\">\n<li><strong>How good?</strong> {}</li>\n<li><strong>How sure?</strong> {}</li>\n<li><strong>Which \
         variables?</strong> {}</li>\n</ol>\n{}{}{}",
        how_good(subject),
        how_sure(subject.validation),
        which(subject),
        scores(subject),
        recalls(subject),
        always_wrong(subject),
    );
    page.section("answer", "The answer", "Answer", &markup);
}

fn how_good(subject: &PageSubject<'_>) -> String {
    let MethodResult { name, balanced, .. } = subject.first;
    let chance = subject.validation.chance();
    let untested = match subject.validation.untested().as_slice() {
        [] => String::new(),
        names => format!(
            " <em>Too small to be held out, and not in this number: {}.</em>",
            names.iter().map(|name| escaped(&shown(name, 40))).collect::<Vec<_>>().join(", ")
        ),
    };
    let judged = if balanced.low > chance {
        "The whole interval is above chance."
    } else {
        "<em>The interval does not exclude chance.</em>"
    };
    format!(
        "On samples that it had not seen, {} reaches a balanced accuracy of <b>{}</b> (95&nbsp;% interval {:.1} to {:.1}); guessing \
         gives {}. {judged}{untested}",
        escaped(&shown(name, 40)),
        percent(balanced.mean),
        100.0 * balanced.low,
        100.0 * balanced.high,
        percent(chance),
    )
}

fn how_sure(validation: &Validation) -> String {
    let Some(test) = &validation.permutation else {
        return "No permutation test was asked for, so this page cannot say how often chance would do as well.".to_owned();
    };
    let PermutationTest { permuted, as_good, p_value, asked, early, .. } = test;
    let runs = counted(permuted.len(), "run");
    let whole = format!("of {runs} of the whole procedure with permuted labels");
    let good = match as_good {
        0 => format!("None {whole} is as good as the run with the true ones"),
        1 => format!("1 {whole} is as good as the run with the true ones"),
        n => format!("{} {whole} are as good as the run with the true ones", count(*n)),
    };
    let failed = match test.failed {
        0 => String::new(),
        n => format!(" {} could not be fitted in every fold, and decided at chance there.", count(n)),
    };
    let stopped = if *early {
        format!(" The test stopped before all {} because the answer was clear.", count(*asked))
    } else {
        String::new()
    };
    let verdict = if let Some(limit) = test.limit() {
        format!(" <em>{}.</em>", escaped(&limit))
    } else if p_value.mean > LEVEL {
        " <em>p is above 0.05: chance may explain this result.</em>".to_owned()
    } else if p_value.high > LEVEL {
        " More permutations are needed to be sure that p is at most 0.05.".to_owned()
    } else {
        String::new()
    };
    format!(
        "{good}: <b>p = {}</b> (its own 95&nbsp;% interval {} to {}).{failed}{verdict}{stopped}",
        probability(p_value.mean),
        probability(p_value.low),
        probability(p_value.high),
    )
}

fn which(subject: &PageSubject<'_>) -> String {
    let Validation { panel, stability, variables, .. } = subject.validation;
    if panel.is_empty() {
        return "The method has no panel: it does not select variables, or its final model was not kept."
            .to_owned();
    }
    let named: Vec<String> = panel
        .iter()
        .take(NAMED)
        .map(|entry| {
            let name = escaped(&shown(&subject.variable(entry.variable), 40));
            let often = entry.frequency.map_or_else(String::new, |f| format!(" ({:.0}&nbsp;%)", 100.0 * f));
            format!("<b>{name}</b>{often}")
        })
        .collect();
    let first = if panel.len() > NAMED { "; the first are " } else { ": " };
    let uses = format!(
        "The final model uses {} of {}{first}{}.",
        count(panel.len()),
        counted(*variables, "variable"),
        named.join(", ")
    );
    let Some(found) = stability else {
        return format!(
            "{uses} No half-samples were asked for, so this page cannot say whether other samples would select the same."
        );
    };
    let Interval { mean, low, high } = found.index;
    let share = format!("{:.0}&nbsp;% of the half-samples", 100.0 * found.threshold);
    // The stable panel has its own size.
    let first = format!("first {}", count(found.stable_size));
    let stable = match found.stable.len() {
        0 => format!("No variable is stable: none is among the {first} of at least {share}."),
        1 => format!("1 variable is stable: at least {share} have it among their {first}."),
        n => format!(
            "{} variables are stable: at least {share} have each of them among their {first}.",
            count(n)
        ),
    };
    let index = format!("{mean:.2}, 95&nbsp;% interval {low:.2} to {high:.2}").replace('-', "−");
    format!(
        "{uses} In brackets is how many of {} select the variable in a panel of that size. The selection is <b>{}</b> (Nogueira's stability index {index}). \
         {stable}",
        counted(found.half_samples, "half-sample"),
        stability_word(mean),
    )
}

/// Nogueira's index in words, by the thresholds of Nogueira, Sechidis and Brown (2018).
pub(super) fn stability_word(index: f64) -> &'static str {
    match index {
        i if i > 0.75 => "excellently stable",
        i if i >= 0.4 => "stable to an intermediate to good degree",
        _ => "poorly stable",
    }
}

/// All methods, one row each.
fn scores(subject: &PageSubject<'_>) -> String {
    let mut rows = String::new();
    for method in &subject.validation.methods {
        let optional =
            |value: Option<Interval>| value.map_or_else(|| "–".to_owned(), |value| plain_with(&value, 3));
        let _ = writeln!(
            rows,
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            escaped(&shown(&method.name, 40)),
            percent_with(&method.balanced),
            percent_with(&method.rate),
            optional(method.auc),
            optional(method.log_loss),
            variables(method.variables),
        );
    }
    format!(
        "<figure>\n<figcaption>Scores on held-out samples <span class=\"note\">with 95&nbsp;% confidence intervals; the log loss is \
         the mean of −log p of the true class (lower is better); the AUC is that of one class against the rest, mean over \
         classes; variables: mean over the models of the folds</span></figcaption>\n<div class=\"scroll\" tabindex=\"0\" \
         role=\"region\" aria-label=\"Scores\"><table id=\"scores\">\n<thead><tr><th scope=\"col\">method</th><th \
         scope=\"col\">balanced accuracy</th><th scope=\"col\">rate</th><th scope=\"col\">AUC</th><th scope=\"col\">log \
         loss</th><th scope=\"col\">variables</th></tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n</figure>\n"
    )
}

fn variables(mean: f64) -> String {
    if mean.fract() == 0.0 { count(mean as usize) } else { format!("{mean:.1}") }
}

/// The recall of every class under every method.
fn recalls(subject: &PageSubject<'_>) -> String {
    let methods = &subject.validation.methods;
    let heads: String =
        methods.iter().map(|m| format!("<th scope=\"col\">{}</th>", escaped(&shown(&m.name, 40)))).collect();
    let mut rows = String::new();
    for (class, size) in subject.validation.class_sizes.iter().enumerate() {
        let cells: String = methods
            .iter()
            .map(|method| match method.recalls.get(class) {
                Some(Some(recall)) => format!("<td>{}</td>", percent_with(recall)),
                _ => "<td>never tested</td>".to_owned(),
            })
            .collect();
        let _ = writeln!(
            rows,
            "<tr><th scope=\"row\">{}</th><td>{}</td>{cells}</tr>",
            subject.dotted(class, 60),
            count(*size)
        );
    }
    let open = if subject.classes.len() <= UNFOLDED { " open" } else { "" };
    format!(
        "<details class=\"recalls\"{open}>\n<summary>Recall of every class</summary>\n<p class=\"note\">the share of the class's \
         samples that get their class when they are held out, with 95&nbsp;% confidence intervals</p>\n<div class=\"scroll tall\" \
         tabindex=\"0\" role=\"region\" aria-label=\"Recall of every class\">\n<table>\n<thead><tr><th scope=\"col\">class</th><th \
         scope=\"col\">samples</th>{heads}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n</div>\n</details>\n"
    )
}

/// The samples that no model got right. They may be mislabelled, or a class may have a kind that the others do not show.
fn always_wrong(subject: &PageSubject<'_>) -> String {
    let samples = &subject.first.samples;
    let wrong: Vec<_> =
        samples.iter().filter(|sample| sample.tested > 0 && sample.wrong == sample.tested).collect();
    let tested = samples.iter().filter(|sample| sample.tested > 0).count();
    if wrong.is_empty() {
        return format!(
            "<p id=\"wrong\">No sample is always wrong: each of {} gets its class at least once when it is held out.</p>\n",
            count(tested)
        );
    }
    let rows: String = wrong
        .iter()
        .take(LISTED)
        .map(|sample| {
            let most = (0..sample.given.len()).max_by_key(|&c| (sample.given[c], std::cmp::Reverse(c)));
            let given = most.map_or_else(String::new, |class| subject.dotted(class, 40));
            format!(
                "<tr><th scope=\"row\">{}</th><td>{}</td><td>{given}</td><td>{}</td></tr>\n",
                escaped(&sample_name(sample)),
                subject.dotted(sample.class, 40),
                count(sample.tested)
            )
        })
        .collect();
    let open = if wrong.len() <= UNFOLDED { " open" } else { "" };
    let cut = if wrong.len() > LISTED { format!("; the first {LISTED} are listed") } else { String::new() };
    let unnamed = if wrong.iter().any(|s| s.name.is_none()) { "; rows are counted from 0" } else { "" };
    format!(
        "<details id=\"wrong\"{open}>\n<summary>{} of {} always wrong</summary>\n<p class=\"note\">whenever they are held out, by <code>{}</code>; \
         look whether their labels are right{unnamed}{cut}</p>\n<div class=\"scroll tall\" tabindex=\"0\" role=\"region\" \
         aria-label=\"Samples that are always wrong\">\n<table>\n<thead><tr><th scope=\"col\">sample</th><th \
         scope=\"col\">class</th><th scope=\"col\">most often given</th><th scope=\"col\">times held \
         out</th></tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n</div>\n</details>\n",
        count(wrong.len()),
        counted(tested, "sample"),
        escaped(&shown(&subject.first.name, 40)),
    )
}

#[cfg(test)]
mod tests {
    use super::stability_word;

    #[test]
    fn thresholds_are_nogueiras() {
        assert_eq!(stability_word(0.39), "poorly stable");
        assert!(
            stability_word(0.4).contains("intermediate") && stability_word(0.75).contains("intermediate")
        );
        assert_eq!(stability_word(0.76), "excellently stable");
    }
}
