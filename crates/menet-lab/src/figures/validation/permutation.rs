//! What permuted labels reach, as a histogram, and what the true labels reach.

use kuva::plot::Histogram;
use kuva::plot::annotations::ReferenceLine;
use kuva::plot::legend::{LegendEntry, LegendShape};
use kuva::render::layout::Layout;
use kuva::render::plots::Plot;

use super::super::canvas::FONT;
use super::values::{counted, fraction};
use crate::names::plotted;
use crate::palette::look;
use crate::validate::{Interval, PermutationTest, Validation};

const BINS: usize = 40;

/// None without permutations.
pub(super) fn figure(validation: &Validation) -> Option<String> {
    let test = validation.permutation.as_ref().filter(|test| test.observed.is_finite())?;
    let values: Vec<f64> =
        test.permuted.iter().map(|value| 100.0 * value).filter(|v| v.is_finite()).collect();
    if values.is_empty() {
        return None;
    }
    let observed = 100.0 * test.observed;
    let chance = 100.0 * validation.chance();
    let (edges, counts) = bins(&values, &[observed, chance]);
    // Round numbers beyond all bins, hardly above 100 %.
    let low = (edges[0] / 10.0).floor().max(0.0) * 10.0;
    let high = ((edges[edges.len() - 1] / 10.0).ceil() * 10.0).min(102.0);
    let plots = vec![Plot::Histogram(Histogram::from_bins(edges, counts).with_color("#b8b8b8"))];
    let Interval { mean, low: least, high: most } = test.p_value;
    let uncertain = if least.is_finite() && most.is_finite() {
        format!(" ({} to {})", fraction(least), fraction(most))
    } else {
        String::new()
    };
    let entry = |label: String, colour: &str, shape, dash: Option<&str>| LegendEntry {
        label,
        color: colour.to_owned(),
        shape,
        dasharray: dash.map(str::to_owned),
    };
    let legend = vec![
        entry("permuted labels".to_owned(), "#b8b8b8", LegendShape::Rect, None),
        entry(format!("true labels: {observed:.1} %"), look(1).colour, LegendShape::Line, None),
        entry(format!("chance: {chance:.1} %"), "#555555", LegendShape::Line, Some("4,4")),
    ];
    let title =
        format!("Could it be chance? p = {}{uncertain}: {}", fraction(mean), plotted(&validation.data, 18));
    let layout = Layout::auto_from_plots(&plots)
        .with_title(title)
        .with_title_size(15)
        .with_subtitle(note(test))
        .with_x_label("balanced accuracy on held-out samples (%)")
        .with_y_label("permutations")
        .with_x_axis_min(low)
        .with_x_axis_max(high)
        .with_x_tick_step(10.0)
        .with_legend_entries(legend)
        .with_reference_line(
            ReferenceLine::vertical(observed)
                .with_color(look(1).colour)
                .with_stroke_width(2.4)
                .with_dasharray(""),
        )
        .with_reference_line(ReferenceLine::vertical(chance).with_color("#555555").with_dasharray("4,4"))
        .with_font_family(FONT)
        .with_width(900.0)
        .with_height(520.0);
    Some(kuva::render_to_svg(plots, layout))
}

fn note(test: &PermutationTest) -> String {
    let done = counted(test.permuted.len(), "permutation");
    let early = if test.early {
        format!(" of {}, stopped early because the answer was clear", test.asked)
    } else {
        String::new()
    };
    format!("{done}{early}; {} as good as the true labels or better", test.as_good)
}

/// Equal bins over the values and some more places; every value is in one.
fn bins(values: &[f64], more: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let all = || values.iter().chain(more).copied();
    let (low, high) = (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max));
    let step = [1.0, 2.0, 5.0].into_iter().find(|step| (high - low) / step <= BINS as f64 - 2.0);
    let step = step.unwrap_or((high - low) / (BINS as f64 - 2.0));
    let start = (low / step).floor() - 1.0;
    let count = ((high / step).floor() - start) as usize + 2;
    let mut counts = vec![0.0; count];
    for value in values {
        counts[((value / step).floor() - start) as usize] += 1.0;
    }
    ((0..=count).map(|i| (start + i as f64) * step).collect(), counts)
}

#[cfg(test)]
mod tests {
    use super::bins;

    #[test]
    fn every_value_is_in_a_bin_of_its_own_range() {
        let values = [25.0, 25.4, 26.0, 31.0];
        let (edges, counts) = bins(&values, &[33.0]);
        assert_eq!(counts.iter().sum::<f64>(), 4.0);
        assert_eq!(edges.len(), counts.len() + 1);
        let at = |value: f64| counts[edges.iter().rposition(|&edge| edge <= value).unwrap()];
        assert_eq!((at(25.2), at(26.5), at(31.0), at(33.0)), (2.0, 1.0, 1.0, 0.0));
        let (edges, counts) = bins(&[50.0; 3], &[50.0]);
        assert!(edges[0] < 50.0 && edges[edges.len() - 1] > 50.0);
        assert_eq!(counts.iter().sum::<f64>(), 3.0);
    }
}
