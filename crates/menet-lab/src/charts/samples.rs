//! The samples on the first two axes: of the final model, then of the model of a fold with its held-out samples. With one axis, samples
//! lie along it, one line per class.

use faer::Mat;
use menet::Dataset;

use super::lines::{Axis, Lines, Panels, Series};
use super::text::counted;
use super::values::some_samples;
use crate::error::Result;
use crate::names::{named, shown};
use crate::validate::Validation;

/// More samples hide each other and make large files.
const MOST: usize = 2000;

/// A legend of more classes is longer than the figure; names at the centres replace it.
pub(super) const LEGEND: usize = 14;

/// None where there are no models, or the final model has no axes.
pub(crate) fn samples(validation: &Validation, data: &Dataset<'_>) -> Result<Option<Panels>> {
    let Some(models) = validation.models.as_ref().filter(|models| models.all.projection().components() > 0)
    else {
        return Ok(None);
    };
    let rows = some_samples(data, MOST);
    let mut held = vec![false; data.samples()];
    models.split.test.iter().for_each(|&i| held[i] = true);
    let classes = data.classes().len();
    let one = models.all.projection().components().max(models.fold.projection().components()) < 2;
    let names = if classes > LEGEND && !one { "; names stand at the centres of the classes" } else { "" };
    let few = few(data, &rows);
    let legend = classes <= LEGEND && !one;
    let all = format!("final model, fitted on all {}", counted(data.samples(), "sample"));
    let fold = format!("model of one fold, {} held out", counted(models.split.test.len(), "sample"));
    let (every, none) = (vec![true; data.samples()], models.all.project(data)?);
    let charts = vec![
        chart(data, &rows, &none, &every, false, all),
        chart(data, &rows, &models.fold.project(data)?, &held, legend, fold),
    ];
    Ok(Some(Panels {
        title: format!("Samples on the axes of the model: {}", shown(&validation.data, 28)),
        note: format!("held-out samples are full, those that the fold learned from are faint{names}{few}"),
        charts,
    }))
}

/// How many samples are drawn, if not all are.
pub(super) fn few(data: &Dataset<'_>, rows: &[usize]) -> String {
    match data.samples() - rows.len() {
        0 => String::new(),
        _ => format!("; {} of {} samples are shown", rows.len(), data.samples()),
    }
}

/// Samples on the axes of one model; the `full` ones above the others, in full colour.
fn chart(
    data: &Dataset<'_>,
    rows: &[usize],
    z: &Mat<f64>,
    full: &[bool],
    legend: bool,
    title: String,
) -> Lines {
    let (classes, one) = (data.classes().len(), z.ncols() < 2);
    let name = |class: usize, most| shown(&named(&data.classes()[class]), most);
    // On one axis, the first class is at the top, and samples of a class lie a little apart.
    let place = |i: usize| match z.ncols() {
        0 => (0.0, 0.0),
        1 => (z[(i, 0)], (classes - data.class_of(i)) as f64 + spread(i)),
        _ => (z[(i, 0)], z[(i, 1)]),
    };
    let of = |class: usize, wanted: bool| {
        let own = rows.iter().filter(|&&i| data.class_of(i) == class && full[i] == wanted);
        Series::dots(class, 4.0, own.map(|&i| place(i)).collect())
    };
    let faint = (0..classes).map(|class| of(class, false)).filter(|it| !it.points.is_empty());
    let faint = faint.map(|it| Series { faint: true, ..it });
    let named = |class| if legend { name(class, 17) } else { String::new() };
    let series = faint.chain((0..classes).map(|class| of(class, true).named(named(class)))).collect();
    // The name of a class at the median of its samples.
    let median = |class: usize, k: usize| {
        let mut values: Vec<f64> = data.members(class).iter().map(|&i| z[(i, k)]).collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or(0.0)
    };
    let centre = |class| (name(class, 10), median(class, 0), median(class, 1));
    let y = if one {
        let names = (0..classes).rev().map(|class| name(class, 14)).collect();
        Axis { step: Some(1.0), names, ..Axis::from_to("", (0.3, classes as f64 + 0.7)) }
    } else {
        Axis::new("axis 2")
    };
    let places = if classes > LEGEND && !one { (0..classes).map(centre).collect() } else { Vec::new() };
    Lines { title, x: Axis::new("axis 1"), y, series, places, ..Lines::default() }
}

/// A place from −0.25 to 0.25 that differs from sample to sample, the same every time.
fn spread(i: usize) -> f64 {
    ((i + 1) as f64 * 0.618_033_988_749_895).fract() * 0.5 - 0.25
}
