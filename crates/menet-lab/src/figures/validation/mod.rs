//! The figures of a validation, one file per figure, each a function from the results and the data to an SVG.

use std::path::PathBuf;

use menet::Dataset;

use super::lines::{self, Frame};
use super::{Figure, renumbered, write_figures};
use crate::charts::{Chart, of_validation};
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
    let values = shown(validation, data)?;
    let figure = |(name, chart): (&str, Chart)| Figure {
        name: name.to_owned(),
        svg: renumbered(&svg(name, &chart, validation, &values)),
    };
    Ok(of_validation(validation, data)?.into_iter().map(figure).collect())
}

fn svg(name: &str, chart: &Chart, validation: &Validation, data: &Dataset<'_>) -> String {
    let plain = Frame::default();
    let frame = match name {
        "selection" => Frame { wrap: Some(110), ..plain },
        "permutation" => Frame { title: Some(15), ..plain },
        "roc" => Frame { wrap: Some(90), size: (840.0, 600.0), ..plain },
        _ => plain,
    };
    match chart {
        Chart::Lines(chart) => lines::svg(chart, frame),
        Chart::Beside(panels) => lines::beside(panels, (560.0, 520.0)),
        Chart::Below(panels) => lines::below(panels, (960.0, 300.0)),
        Chart::Comparison(chart) => comparison::svg(chart),
        Chart::Confusion(chart) => confusion::svg(chart, validation),
        Chart::Heatmap(chart) => heatmap::svg(chart, validation, data),
        Chart::Bars(effects) => loadings::svg(effects, validation, data),
        Chart::Pictures(effects) => picture::svg(effects, validation, data),
        Chart::Frequencies(found) => stability::svg(found, validation, data),
    }
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
    write_figures(&all(validation, data)?, folder, progress)
}
