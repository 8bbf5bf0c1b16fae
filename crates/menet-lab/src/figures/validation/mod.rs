//! The figures of a validation, one file per figure, each a function from the results and the data to an SVG.

use std::path::PathBuf;

use menet::Dataset;

use super::lines::{self, Frame};
use super::{Figure, renumbered};
use crate::charts;
use crate::charts::batches::batches;
use crate::charts::lines::{Lines, Panels};
use crate::charts::permutation::permutation;
use crate::charts::roc::roc;
use crate::charts::samples::samples;
use crate::charts::selection::selection;
use crate::charts::spectrum::spectrum;
use crate::charts::stability_sizes::stability_sizes;
use crate::error::{Error, Result};
use crate::folder::Folder;
use crate::progress::{Progress, Steps};
use crate::validate::{Validation, shown};

mod comparison;
mod confusion;
mod heatmap;
mod loadings;
mod picture;
mod stability;

/// All figures of a validation of `data`. A figure is missing where there is nothing to show: no permutation test, no half-samples, no
/// probabilities, one method, no model, no batches.
///
/// # Errors
/// When the results are not of these data.
pub fn all(validation: &Validation, data: &Dataset<'_>) -> Result<Vec<Figure>> {
    check(validation, data)?;
    let values = shown(validation, data)?;
    let mut figures = Vec::new();
    let mut add = |name: &str, svg: Option<String>| {
        figures.extend(svg.map(|svg| Figure { name: name.to_owned(), svg: renumbered(&svg) }));
    };
    let chart = |chart: Lines, frame| lines::svg(&chart, frame);
    let plain = Frame::default();
    let beside = |panels: Panels| lines::beside(&panels, (560.0, 520.0));
    let below = |panels: Panels| lines::below(&panels, (960.0, 300.0));
    add("samples", samples(validation, data)?.map(beside));
    add("batches", batches(validation, data)?.map(beside));
    add("loadings", loadings::figure(validation, &values));
    let spectrum = || spectrum(validation, &values).map(below);
    add("panel", picture::figure(validation, &values).or_else(spectrum));
    add("heatmap", heatmap::figure(validation, &values));
    add("stability", stability::figure(validation, &values));
    add("stability-sizes", stability_sizes(validation).map(|it| chart(it, plain)));
    add("selection", selection(validation).map(|it| chart(it, Frame { wrap: Some(110), ..plain })));
    add("permutation", permutation(validation).map(|it| chart(it, Frame { title: Some(15), ..plain })));
    add("confusion", confusion::figure(validation));
    let (wrap, size) = (Some(90), (840.0, 600.0));
    add("roc", roc(validation).map(|it| chart(it, Frame { wrap, size, ..plain })));
    add("comparison", charts::comparison::comparison(validation).map(|it| comparison::svg(&it)));
    Ok(figures)
}

/// Writes every figure of a validation into `folder/figures`, which is made if need be, and returns the files.
///
/// # Errors
/// When a file cannot be written, or the results are not of these data.
pub fn write(
    validation: &Validation,
    data: &Dataset<'_>,
    folder: &Folder,
    progress: &dyn Progress,
) -> Result<Vec<PathBuf>> {
    Steps::new(progress, 1).next("drawing the figures".to_owned());
    let figures = all(validation, data)?;
    let mut steps = Steps::new(progress, figures.len());
    let mut files = Vec::new();
    for figure in &figures {
        steps.next(format!("figure {}", figure.name));
        files.extend(figure.write(folder, "figures/")?);
    }
    Ok(files)
}

/// Refuses results that are not of these data, so that no drawing reads beyond an end.
fn check(validation: &Validation, data: &Dataset<'_>) -> Result<()> {
    let (n, p, classes) = (data.samples(), data.variables(), data.classes().len());
    let mut sizes = vec![
        ("`variables`", validation.variables, p),
        ("the list of classes", validation.classes.len(), classes),
        ("the list of class sizes", validation.class_sizes.len(), classes),
    ];
    for method in &validation.methods {
        sizes.push(("a confusion matrix", method.confusion.len(), classes));
        sizes.extend(method.confusion.iter().map(|row| ("a row of a confusion matrix", row.len(), classes)));
        for sample in method.samples.iter().filter(|sample| !sample.probabilities.is_empty()) {
            sizes.push(("a sample's list of probabilities", sample.probabilities.len(), classes));
        }
        let below = method.samples.iter().filter(|sample| sample.class >= classes).count();
        sizes.push(("the list of samples of unknown classes", below, 0));
    }
    let axes = validation.panel.first().map_or(0, |entry| entry.weights.len());
    for entry in &validation.panel {
        sizes.push(("a variable's list of weights", entry.weights.len(), axes));
    }
    if let Some(models) = &validation.models {
        sizes.push(("the final model", models.all.projection().variables(), p));
        sizes.push(("the model of a fold", models.fold.projection().variables(), p));
    }
    if let Some((what, given, expected)) = sizes.into_iter().find(|&(_, given, expected)| given != expected) {
        return Err(Error::Study(format!("{what} has size {given}, but the data ask for {expected}")));
    }
    let frequent = validation
        .stability
        .iter()
        .flat_map(|found| found.frequencies.iter().chain(&found.stable_frequencies));
    let variables = validation.panel.iter().map(|entry| entry.variable);
    if let Some(j) = variables.chain(frequent.map(|&(j, _)| j)).find(|&j| j >= p) {
        return Err(Error::Study(format!("variable {j} is beyond the {p} variables of the data")));
    }
    let unknown = |entry: &&crate::validate::PanelEntry| entry.class.is_some_and(|class| class >= classes);
    if let Some(entry) = validation.panel.iter().find(unknown) {
        return Err(Error::Study(format!(
            "variable {} speaks for a class that the data lack",
            entry.variable
        )));
    }
    let split =
        validation.models.iter().flat_map(|models| models.split.train.iter().chain(&models.split.test));
    match split.copied().find(|&i| i >= n) {
        Some(i) => Err(Error::Study(format!("row {i} of a fold is beyond the {n} samples of the data"))),
        None => Ok(()),
    }
}
