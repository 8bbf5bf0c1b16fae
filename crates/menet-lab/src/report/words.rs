//! What was done, in a paragraph that claims no more than the study knows.

use crate::curves::{TrainingSetting, settings};
use crate::names::{escaped, shown};
use crate::study::{ResultRow, Study, Validated};

/// Links to the validations of the sets, or how to make them.
pub(super) fn validations(study: &Study) -> String {
    let (there, missing): (Vec<&Validated>, Vec<&Validated>) =
        study.validations.iter().partition(|found| found.there);
    let link = |found: &&Validated| {
        let (folder, data) = (escaped(&found.folder), escaped(&shown(&found.data, 40)));
        format!("<a href=\"{folder}/report.html\">{data}</a>")
    };
    let mut out = String::new();
    if !there.is_empty() {
        let links: Vec<String> = there.iter().map(link).collect();
        out += &format!("\n<p>How far a model can be trusted, with its variables: {}.</p>", links.join(", "));
    }
    if let Some(first) = missing.first() {
        let folder = escaped(&first.folder);
        out += &format!(
            "\n<p class=\"note\">How good a model is on new samples, whether that could be chance, and whether other samples would \
             select the same variables: <code>menet validate</code> writes a report about it. If its <code>--out</code> is the \
             folder <code>{folder}</code> beside this page, the next <code>menet evaluate</code> links to it here.</p>"
        );
    }
    out
}

/// The protocol.
pub(super) fn protocol(study: &Study) -> String {
    let repeats = settings(study).into_iter().map(|setting| {
        let rows = study.results.iter();
        let rows = rows.filter(|row| row.data == setting.data && row.train_per_class == setting.train);
        rows.map(|row| row.repeat + 1).max().unwrap_or(0)
    });
    let counts: Vec<usize> = repeats.filter(|&n| n > 0).collect();
    let times = match (counts.iter().min(), counts.iter().max()) {
        (Some(1), Some(1)) => "This was done once, so there is no standard deviation.".to_owned(),
        (Some(low), Some(high)) if low == high => format!("This was repeated {low} times."),
        (Some(low), Some(high)) => format!("This was repeated {low} to {high} times, depending on the set."),
        _ => "No results were recorded.".to_owned(),
    };
    let spread = match counts.iter().max() {
        Some(2..) => "; ± is one standard deviation over the repeats (n−1)",
        _ => "",
    };
    let metric = escaped(&shown(&study.metric, 30));
    let rule = match (study.men_methods(), study.tuned) {
        (0, _) => format!(
            "Each test sample was then given the class of its nearest training sample in the projected space (metric: \
             {metric})."
        ),
        (_, false) => format!(
            "MEN then decided on each test sample by the rule that belongs to it (<code>rule</code> in the parameters \
             below), every other method by the nearest training sample in the projected space (metric: {metric})."
        ),
        (_, true) => format!(
            "MEN then decided on each test sample by the rule and metric that tuning chose, every other method by the nearest \
             training sample in the projected space (metric: {metric})."
        ),
    };
    let scores = if study.summary.iter().any(|row| row.log_loss.is_some()) {
        " The log loss is the mean of −log p of the true class (lower is better); the AUC is that of one class against the \
         rest, mean over classes. Both need probabilities, which only the rules of MEN give."
    } else {
        ""
    };
    let choice = if study.tuned {
        "<strong>Dimension and parameters were chosen by cross-validation inside each training half</strong>: the test \
         samples had no part in any choice. The dimension in the table is the median of those chosen."
    } else {
        "The table gives the best mean over all dimensions, and that dimension. As in the paper, it was \
         chosen on the test samples themselves, so these rates are <em>optimistic</em>: expect less on new samples."
    };
    format!(
        "<p>For each set, the given number of samples of every class was drawn at random to learn from, and all others \
         were kept to test on. Every method learned a projection from the training samples. {rule} {times} The \
         recognition rate is the percentage of test samples whose class was found{spread}. The balanced accuracy is the \
         mean over classes of the percentage found in each, so that small classes count as much as large ones.{scores} Repeats \
         are counted from 0, as in <code>splits.csv</code>.</p>\n<p>{choice}</p>"
    )
}

/// Which repeats the numbers of a setting are over.
pub(super) fn repeats(study: &Study, setting: &TrainingSetting) -> String {
    let own = |row: &&ResultRow| row.data == setting.data && row.train_per_class == setting.train;
    match study.results.iter().filter(own).map(|row| row.repeat).max() {
        Some(last @ 1..) => format!("repeats 0 to {last}"),
        _ => "the one split there is, repeat 0".to_owned(),
    }
}
