//! What was done, in a paragraph that claims no more than the study knows.

use crate::curves::settings;
use crate::names::{escaped, shown};
use crate::study::Study;

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
    let metric = escaped(&shown(&study.metric, 30));
    let choice = if study.tuned {
        "<strong>Dimension and parameters were chosen by cross-validation inside each training half</strong>: the test \
         samples had no part in any choice. The dimension in brackets is the median of those chosen."
    } else {
        "The table gives the best mean over all dimensions, with that dimension in brackets. As in the paper, it was \
         chosen on the test samples themselves, so these rates are <em>optimistic</em>: expect less on new samples."
    };
    format!(
        "<p>For each set, the given number of samples of every class was drawn at random to learn from, and all others \
         were kept to test on. Every method learned a projection from the training samples; each test sample was \
         then given the class of its nearest training sample in the projected space (metric: {metric}). {times} The \
         recognition rate is the percentage of test samples whose class was found; ± is one standard deviation over \
         the repeats (n−1).</p>\n<p>{choice}</p>"
    )
}
