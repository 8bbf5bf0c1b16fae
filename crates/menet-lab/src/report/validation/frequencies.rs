//! How often half-samples select the variables: bars with the threshold.

use super::PageSubject;
use super::format::{count, counted};
use crate::names::{escaped, shown};
use crate::validate::StabilityFound;

/// The most bars.
const BARS: usize = 40;

pub(super) fn markup(subject: &PageSubject<'_>, found: &StabilityFound) -> String {
    let StabilityFound { stable_frequencies, threshold, stable_size, .. } = found;
    let bars: String = stable_frequencies
        .iter()
        .take(BARS)
        .map(|&(j, frequency)| {
            let full = subject.variable(j);
            let (name, full) = (escaped(&shown(&full, 20)), escaped(&shown(&full, 200)));
            let kind = if frequency >= *threshold { "stable" } else { "rare" };
            let share = 100.0 * frequency;
            format!(
                "<li><span class=\"name\" title=\"{full}\">{name}</span><span class=\"track\"><span class=\"{kind}\" \
                 style=\"left:0;width:{share:.1}%\"></span></span><span class=\"value\">{share:.0}&nbsp;%</span></li>"
            )
        })
        .collect();
    let bars =
        if bars.is_empty() { "<li>No half-sample selects any variable.</li>".to_owned() } else { bars };
    let cut = if stable_frequencies.len() > BARS {
        format!("; the {BARS} most frequent of {}", count(stable_frequencies.len()))
    } else {
        String::new()
    };
    let bounds: String = found
        .false_selections
        .iter()
        .map(|(name, bound)| format!("<li>{}: at most {bound:.2}</li>\n", escaped(&shown(name, 200))))
        .collect();
    let bounds = if bounds.is_empty() {
        String::new()
    } else {
        format!("<p>Expected number of false selections in the stable panel:</p>\n<ul>\n{bounds}</ul>\n")
    };
    format!(
        "<figure>\n<figcaption>How often each variable is selected <span class=\"note\">share of {} at {}; the line is the threshold, \
         {:.0}&nbsp;%{cut}</span></figcaption>\n<ul class=\"bars frequencies\" id=\"frequencies\" \
         style=\"--t:{:.1}%\">{bars}</ul>\n</figure>\n<p>The stable panel has {}.</p>\n{bounds}",
        counted(found.half_samples, "half-sample"),
        counted(*stable_size, "variable"),
        100.0 * threshold,
        100.0 * threshold,
        counted(found.stable.len(), "variable"),
    )
}
