//! What tuning saw: for MEN the cross-validated score against the number of variables, one line per refit; for other methods the
//! cross-validated rate against the number of variables per axis, or the dimension.

use std::collections::BTreeMap;

use menet::Named;
use menet::refit::Refit;
use menet::scores::ScoreKind;
use menet::select::Choice;

use kuva::plot::LinePlot;
use kuva::plot::band::BandPlot;
use kuva::plot::scatter::ScatterPlot;
use kuva::render::layout::{Layout, TickFormat};
use kuva::render::plots::Plot;

use super::canvas::FONT;
use super::rates::{AxesExtent, MARKERS, style};
use crate::names::plotted;
use crate::output::words;
use crate::palette::look;
use crate::tune::selection::{mean, usable};
use crate::tune::{Trial, TuningResult, TuningTrials};

/// The figure of a search.
pub(super) fn figure(tuned: &TuningResult, source: &str) -> String {
    match &tuned.found {
        TuningTrials::Walk { best, trials } => of_walk(tuned, best, trials, source),
        TuningTrials::Selection(selection) => of_selection(tuned, selection, source),
    }
}

/// The title. In text the method `men` is called MEN.
fn title(tuned: &TuningResult, source: &str) -> String {
    let name = match tuned.method.name() {
        "men" => "MEN",
        other => other,
    };
    format!("Tuning {name} on {}", plotted(source, 60))
}

/// One line per refit: at every size that was tried the best over all other parameters, with a band of one standard error.
fn of_selection(tuned: &TuningResult, selection: &Choice, source: &str) -> String {
    let score = selection.score;
    let percent = matches!(score, ScoreKind::Rate | ScoreKind::Balanced);
    let usable: Vec<&menet::select::Trial> =
        usable(selection).filter(|trial| mean(trial, score).is_some()).collect();
    let (mut bands, mut lines) = (Vec::new(), Vec::new());
    let (mut extent, mut least, mut most) = (AxesExtent::default(), f64::INFINITY, 1.0_f64);
    for (number, &refit) in Refit::ALL.iter().enumerate() {
        let mut by_size: BTreeMap<(Option<usize>, Option<usize>), &menet::select::Trial> = BTreeMap::new();
        for &trial in usable.iter().filter(|trial| trial.params.refit.kind() == refit) {
            let best = by_size.entry((trial.params.panel_size, trial.params.nonzeros)).or_insert(trial);
            // The one that was chosen is on its line, also among equals.
            let chosen = std::ptr::eq(trial, selection.trial());
            let (new, old) = (trial.merit(score), best.merit(score));
            if new > old || (new == old && chosen) {
                *best = trial;
            }
        }
        let mut points: Vec<(f64, f64, f64)> = by_size
            .values()
            .filter_map(|trial| {
                Some((trial.variables.max(1.0), mean(trial, score)?, trial.standard_error(score)))
            })
            .collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        if points.is_empty() {
            continue;
        }
        let top = if percent { 100.0 } else { f64::INFINITY };
        let low: Vec<f64> = points.iter().map(|&(_, mean, error)| (mean - error).max(0.0)).collect();
        let high: Vec<f64> = points.iter().map(|&(_, mean, error)| (mean + error).min(top)).collect();
        low.iter().chain(&high).for_each(|&value| extent.rate(value));
        least = points.iter().fold(least, |least, point| least.min(point.0));
        most = points.iter().fold(most, |most, point| most.max(point.0));
        let look = look(number);
        let xs: Vec<f64> = points.iter().map(|point| point.0).collect();
        bands.push(Plot::Band(BandPlot::new(xs, low, high).with_color(look.colour).with_opacity(0.12)));
        let means: Vec<(f64, f64)> = points.iter().map(|&(x, mean, _)| (x, mean)).collect();
        let line = LinePlot::new().with_data(means.clone()).with_color(look.colour).with_stroke_width(1.8);
        let label = format!("refit {}", refit.name());
        lines.push(Plot::Line(line.with_line_style(style(look.dash)).with_legend(label)));
        let dots = ScatterPlot::new().with_data(means).with_color(look.colour).with_size(4.0);
        lines.push(Plot::Scatter(dots.with_marker(MARKERS[look.marker])));
    }
    let best = selection.trial();
    let at = (best.variables.max(1.0), mean(best, score).unwrap_or(0.0));
    extent.rate(at.1);
    let ring = ScatterPlot::new().with_data(vec![at]).with_color(look(6).colour).with_size(8.0);
    lines.push(Plot::Scatter(ring.with_marker(MARKERS[6]).with_legend("chosen")));
    bands.extend(lines);
    let (bottom, top) = if percent { extent.rates() } else { extent.padded() };
    let name = words(score);
    let better = if score == ScoreKind::LogLoss { ", lower is better" } else { "" };
    let unit = if percent { " (%)" } else { "" };
    let layout = Layout::auto_from_plots(&bands)
        .with_title(title(tuned, source))
        .with_subtitle(format!(
            "in cross-validation{better}: at every size the best of all other settings; bands are one standard error\n{}",
            plotted(&selection.reason, 150)
        ))
        .with_x_label("distinct variables of all axes together, mean over the folds")
        .with_y_label(format!("{name}{unit}"))
        .with_log_x()
        .with_x_axis_min(round_number(least / 1.1, false))
        .with_x_axis_max(round_number(most * 1.1, true))
        .with_y_axis_min(bottom)
        .with_y_axis_max(top)
        .with_x_tick_format(TickFormat::Integer)
        .with_font_family(FONT)
        .with_width(900.0)
        .with_height(520.0);
    kuva::render_to_svg(bands, layout)
}

/// The next of 1, 2, 5, 10, 20, ... below or above, so that the axis has ticks about all points.
pub(super) fn round_number(value: f64, up: bool) -> f64 {
    let power = 10_f64.powi(value.max(1.0).log10().floor() as i32);
    let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
    let found = if up {
        steps.into_iter().find(|&step| step >= value)
    } else {
        steps.into_iter().rev().find(|&step| step <= value)
    };
    found.unwrap_or(1.0)
}

/// The chosen setting at its dimension, with a band of one standard error, and the best over all settings and dimensions. A
/// method without a number of variables is shown against the dimension.
fn of_walk(tuned: &TuningResult, best_trial: &Trial, trials: &[Trial], source: &str) -> String {
    let sparse = best_trial.support().is_some();
    let place = |trial: &Trial| if sparse { trial.support().unwrap_or(0) } else { trial.dimension };
    let same_kind = |trial: &&Trial| trial.metric == tuned.metric;
    let chosen: BTreeMap<usize, &Trial> = trials
        .iter()
        .filter(same_kind)
        .filter(|trial| trial.without_support() == best_trial.without_support())
        .filter(|trial| !sparse || trial.dimension == tuned.dimension)
        .map(|trial| (place(trial), trial))
        .collect();
    let mut best: BTreeMap<usize, f64> = BTreeMap::new();
    for trial in trials.iter().filter(same_kind) {
        let most = best.entry(place(trial)).or_insert(0.0);
        *most = most.max(trial.score.rate());
    }
    let mut extent = AxesExtent::default();
    best.values().for_each(|&rate| extent.rate(rate));
    let (mut xs, mut low, mut high) = (Vec::new(), Vec::new(), Vec::new());
    for (&x, trial) in &chosen {
        let (rate, error) = (trial.score.rate(), trial.standard_error);
        xs.push(x as f64);
        low.push((rate - error).max(0.0));
        high.push((rate + error).min(100.0));
    }
    low.iter().chain(&high).for_each(|&rate| extent.rate(rate));
    let own = if sparse {
        format!("the chosen setting, {} dimensions", tuned.dimension)
    } else {
        "the chosen setting".to_owned()
    };
    let of_chosen: Vec<(f64, f64)> =
        chosen.iter().map(|(&x, trial)| (x as f64, trial.score.rate())).collect();
    let of_best = best.iter().map(|(&x, &rate)| (x as f64, rate)).collect();
    let mut plots =
        vec![Plot::Band(BandPlot::new(xs, low, high).with_color(look(0).colour).with_opacity(0.15))];
    let all = "the best of all settings".to_owned();
    for (number, label, points) in [(1, all, of_best), (0, own, of_chosen)] {
        let look = look(number);
        let line = LinePlot::new().with_data(points.clone()).with_color(look.colour).with_stroke_width(1.8);
        plots.push(Plot::Line(line.with_line_style(style(look.dash)).with_legend(label)));
        let dots = ScatterPlot::new().with_data(points).with_color(look.colour).with_size(4.0);
        plots.push(Plot::Scatter(dots.with_marker(MARKERS[look.marker])));
    }
    let at = (place(best_trial) as f64, best_trial.score.rate());
    let ring = ScatterPlot::new().with_data(vec![at]).with_color(look(6).colour).with_size(8.0);
    plots.push(Plot::Scatter(ring.with_marker(MARKERS[6]).with_legend("chosen")));
    let x_label = if sparse { "variables an axis may use (K)" } else { "dimension of the projected space" };
    let (bottom, top) = extent.rates();
    let layout = Layout::auto_from_plots(&plots)
        .with_title(title(tuned, source))
        .with_subtitle("cross-validated rate; the band is one standard error over the folds")
        .with_x_label(x_label)
        .with_y_label("recognition rate (%)")
        .with_y_axis_min(bottom)
        .with_y_axis_max(top)
        .with_x_tick_format(TickFormat::Integer)
        .with_font_family(FONT)
        .with_width(900.0)
        .with_height(520.0);
    kuva::render_to_svg(plots, layout)
}

#[cfg(test)]
mod tests {
    use super::round_number;

    #[test]
    fn axes_end_at_round_numbers() {
        let ends = |value: f64| (round_number(value, false), round_number(value, true));
        assert_eq!((ends(26.0), ends(63.0), ends(9.5)), ((20.0, 50.0), (50.0, 100.0), (5.0, 10.0)));
        assert_eq!((ends(1.0), ends(0.9), ends(200.0)), ((1.0, 1.0), (1.0, 1.0), (200.0, 200.0)));
    }
}
