//! The samples on the first two axes: of the final model on the left, of the model of a fold with its held-out samples on the right.
//! With one axis, samples lie along it, one line per class.

use faer::Mat;
use kuva::plot::annotations::TextAnnotation;
use kuva::plot::legend::{LegendEntry, LegendShape};
use kuva::plot::scatter::ScatterPlot;
use kuva::render::layout::Layout;
use kuva::render::plots::Plot;
use menet::Dataset;

use super::super::canvas::{Canvas, FONT, TextAnchor};
use super::super::rates::MARKERS;
use super::values::{class, counted, faded, some_samples};
use crate::error::Result;
use crate::names::{plotted, shown};
use crate::palette::look;
use crate::validate::Validation;

/// More samples hide each other and make large files.
const MOST: usize = 2000;

/// A legend of more classes is longer than the figure; names at the centres replace it.
const LEGEND: usize = 14;

const LEGEND_WIDTH: f64 = 210.0;

const TOP: f64 = 58.0;
const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 520.0;

/// None where there are no models, or the final model has no axes.
pub(super) fn figure(validation: &Validation, data: &Dataset<'_>) -> Result<Option<String>> {
    let Some(models) = validation.models.as_ref().filter(|models| models.all.projection().components() > 0)
    else {
        return Ok(None);
    };
    let rows = some_samples(data, MOST);
    let mut held = vec![false; data.samples()];
    models.split.test.iter().for_each(|&i| held[i] = true);
    let classes = data.classes().len();
    let one = models.all.projection().components().max(models.fold.projection().components()) < 2;
    let legend = if classes > LEGEND || one { 0.0 } else { LEGEND_WIDTH };
    let mut canvas = Canvas::new(2.0 * WIDTH + legend, TOP + HEIGHT);
    let title = format!("Samples on the axes of the model: {}", shown(&validation.data, 28));
    canvas.title((16.0, 26.0), 17.0, TextAnchor::Start, &title);
    let few = match data.samples() - rows.len() {
        0 => String::new(),
        _ => format!("; {} of {} samples are shown", rows.len(), data.samples()),
    };
    let names = if classes > LEGEND && !one { "; names stand at the centres of the classes" } else { "" };
    let note = format!("held-out samples are full, those that the fold learned from are faint{names}{few}");
    canvas.text((16.0, 46.0), 12.0, TextAnchor::Start, &note);
    let z = models.all.project(data)?;
    let left = Panel { validation, data, rows: &rows, z: &z, held: None };
    let all = format!("final model, fitted on all {}", counted(data.samples(), "sample"));
    canvas.embed((0.0, TOP), &left.chart(&all, false));
    let z = models.fold.project(data)?;
    let right = Panel { validation, data, rows: &rows, z: &z, held: Some(&held) };
    let fold = format!("model of one fold, {} held out", counted(models.split.test.len(), "sample"));
    canvas.embed((WIDTH, TOP), &right.chart(&fold, legend > 0.0));
    Ok(Some(canvas.finish()))
}

/// The samples on the axes of one model.
struct Panel<'a> {
    validation: &'a Validation,
    data: &'a Dataset<'a>,
    rows: &'a [usize],
    z: &'a Mat<f64>,
    /// Which samples were held out; none if none were.
    held: Option<&'a [bool]>,
}

impl Panel<'_> {
    /// Where a sample lies. On one axis, classes lie one above the other, and samples of a class a little apart.
    fn place(&self, i: usize) -> (f64, f64) {
        match self.z.ncols() {
            0 => (0.0, 0.0),
            1 => (self.z[(i, 0)], self.line(self.data.class_of(i)) + spread(i)),
            _ => (self.z[(i, 0)], self.z[(i, 1)]),
        }
    }

    /// The height of the line of a class on one axis: the first class is at the top.
    fn line(&self, class: usize) -> f64 {
        (self.data.classes().len() - class) as f64
    }

    fn chart(&self, title: &str, legend: bool) -> String {
        let classes = self.data.classes().len();
        let mut plots = Vec::new();
        // What the model has not seen lies above what it has.
        for full in [false, true] {
            for class in 0..classes {
                let look = look(class);
                let wanted = |&&i: &&usize| {
                    self.data.class_of(i) == class && self.held.is_none_or(|held| held[i]) == full
                };
                let points: Vec<(f64, f64)> =
                    self.rows.iter().filter(wanted).map(|&i| self.place(i)).collect();
                if points.is_empty() {
                    continue;
                }
                let colour = if full { look.colour.to_owned() } else { faded(look.colour) };
                let dots = ScatterPlot::new().with_data(points).with_color(colour).with_size(4.0);
                plots.push(Plot::Scatter(dots.with_marker(MARKERS[look.marker])));
            }
        }
        let one = self.z.ncols() < 2;
        let mut layout = Layout::auto_from_plots(&plots)
            .with_title(title)
            .with_title_size(14)
            .with_x_label("axis 1")
            .with_y_label(if one { "" } else { "axis 2" })
            .with_font_family(FONT)
            .with_width(WIDTH + if legend { LEGEND_WIDTH } else { 0.0 })
            .with_height(HEIGHT);
        if one {
            layout = layout.with_y_axis_min(0.3).with_y_axis_max(classes as f64 + 0.7).with_y_tick_step(1.0);
            layout = layout.with_y_categories((0..classes).rev().map(|c| self.name(c, 14)).collect());
        } else if classes > LEGEND {
            for class in 0..classes {
                layout = layout.with_annotation(self.label(class));
            }
        }
        if legend {
            let entry = |class: usize| LegendEntry {
                label: self.name(class, 17),
                color: look(class).colour.to_owned(),
                shape: LegendShape::Marker(MARKERS[look(class).marker]),
                dasharray: None,
            };
            layout = layout
                .with_legend_entries((0..classes).map(entry).collect())
                .with_legend_width(LEGEND_WIDTH - 20.0);
        }
        kuva::render_to_svg(plots, layout)
    }

    fn name(&self, number: usize, most: usize) -> String {
        plotted(&class(self.validation, number, most), most)
    }

    /// The name of a class at the median of its samples.
    fn label(&self, class: usize) -> TextAnnotation {
        let members = self.data.members(class);
        let median = |k: usize| {
            let mut values: Vec<f64> = members.iter().map(|&i| self.z[(i, k)]).collect();
            values.sort_by(f64::total_cmp);
            values.get(values.len() / 2).copied().unwrap_or(0.0)
        };
        TextAnnotation::new(self.name(class, 10), median(0), median(1)).with_font_size(10)
    }
}

/// A place from −0.25 to 0.25 that differs from sample to sample, the same every time.
fn spread(i: usize) -> f64 {
    ((i + 1) as f64 * 0.618_033_988_749_895).fract() * 0.5 - 0.25
}
