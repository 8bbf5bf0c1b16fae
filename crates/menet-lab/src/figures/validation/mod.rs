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
use crate::error::Result;
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
    charts::check::check(validation, data)?;
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
