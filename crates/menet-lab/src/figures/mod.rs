//! The figures of a study, each as SVG and PNG.
//!
//! One file a figure, each a function from the study's types to an SVG. Charts are kuva's; pictures with marks are
//! composed on a small canvas of our own. PNGs are made from the SVGs, so that both show the same.

use std::path::PathBuf;

use menet::Men;
use menet::sparse::SparseVector;

use crate::charts::rates::rates;
use crate::charts::tuning::tuning;
use crate::charts::{self, paths};
use crate::curves::{self, TrainingSetting};
use crate::error::{Error, Result};
use crate::folder::Folder;
use crate::names::{setting, slug};
use crate::progress::{Progress, Steps};
use crate::study::{Showcase, Study};
use crate::tune::TuningResult;

mod annotated;
mod bars;
mod bases;
mod boxes;
mod canvas;
mod lines;
mod pictures;
mod raster;
mod samples;
pub mod validation;

pub(crate) use bases::heaviest;
use lines::Frame;
pub(crate) use samples::by_class;
pub use validation::write as write_validation;

/// A figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// What its file is called, without ending.
    pub name: String,
    /// The picture.
    pub svg: String,
}

/// All figures of a study.
///
/// # Errors
/// When the study's parts do not fit together.
pub fn all(study: &Study) -> Result<Vec<Figure>> {
    let mut figures: Vec<Figure> = Vec::new();
    for (i, setting) in curves::settings(study).iter().enumerate() {
        // Different names may become the same plain letters.
        let mut place = format!("{}-{}", slug(&setting.data), setting.train);
        if figures.iter().any(|figure| figure.name.ends_with(&format!("-{place}"))) {
            place = format!("{place}-{}", i + 1);
        }
        let mut add = |kind: &str, svg: Option<String>| {
            let name = format!("{kind}-{place}");
            figures.extend(svg.map(|svg| Figure { name, svg: renumbered(&svg) }));
        };
        add("rates", rates(study, setting).map(|chart| lines::svg(&chart, Frame::default())));
        add("boxes", charts::boxes::boxes(study, setting).map(|chart| boxes::svg(&chart)));
        if let Some(showcase) = showcase(study, setting) {
            check(showcase)?;
            add("samples", samples::figure(showcase));
            add("bases", bases::figure(showcase));
            add("path", path_of(showcase));
            add("entries", annotated::figure(showcase));
        }
    }
    Ok(figures)
}

/// Writes every figure into `folder/figures`, which is made if need be, and returns the files.
///
/// # Errors
/// When a file cannot be written, or the study's parts do not fit together.
pub fn write_all(study: &Study, folder: &Folder, progress: &dyn Progress) -> Result<Vec<PathBuf>> {
    Steps::new(progress, 1).next("drawing the figures".to_owned());
    write_figures(&all(study)?, folder, progress)
}

fn write_figures(figures: &[Figure], folder: &Folder, progress: &dyn Progress) -> Result<Vec<PathBuf>> {
    let mut steps = Steps::new(progress, figures.len());
    let mut files = Vec::new();
    for figure in figures {
        steps.next(format!("figure {}", figure.name));
        files.extend(figure.write(folder, "figures/")?);
    }
    Ok(files)
}

/// The path of a model's column, counted from 0, as an SVG; none if the model has no such path. `what` says of which data.
pub fn path(men: &Men, column: usize, what: &str) -> Option<String> {
    Some(lines::svg(&paths::whole(men, column, what)?, Frame::default()))
}

fn path_of(showcase: &Showcase) -> Option<String> {
    let what = format!("{}, repeat {}", setting(&showcase.data, showcase.train_per_class), showcase.repeat);
    path(showcase.men.as_ref()?, 0, &what)
}

/// An axis as a picture of `shape` (height, width): blue pixels count against, orange for, white not at all. The square root
/// of a weight over the largest is its strength.
pub fn axis_picture(shape: (usize, usize), axis: &SparseVector) -> image::RgbImage {
    pictures::axis(shape, axis)
}

/// Writes the plot of what tuning saw into `folder`: `tuning.svg` and `tuning.png`.
///
/// # Errors
/// When a file cannot be written.
pub fn write_tuning(tuned: &TuningResult, source: &str, folder: &Folder) -> Result<Vec<PathBuf>> {
    let svg = lines::svg(&tuning(tuned, source), Frame { wrap: Some(110), ..Frame::default() });
    Figure { name: "tuning".to_owned(), svg: renumbered(&svg) }.write(folder, "")
}

impl Figure {
    /// Writes both forms; `inner` is where in the folder, empty or ending in `/`.
    fn write(&self, folder: &Folder, inner: &str) -> Result<Vec<PathBuf>> {
        let png = raster::png(&self.name, &self.svg)?;
        [("svg", self.svg.as_bytes()), ("png", &png)]
            .into_iter()
            .map(|(ending, bytes)| folder.write(&format!("{inner}{}.{ending}", self.name), bytes))
            .collect()
    }
}

/// kuva numbers its clip paths through the life of the process. A figure's file must depend on its data alone, so they are
/// numbered anew from 0. Quotes in names are escaped, so that only attributes match.
fn renumbered(svg: &str) -> String {
    const OPENINGS: [&str; 2] = ["id=\"kuva-clip-", "clip-path=\"url(#kuva-clip-"];
    let mut numbers: Vec<&str> = Vec::new();
    let (mut out, mut rest) = (String::with_capacity(svg.len()), svg);
    while let Some((at, opening)) =
        OPENINGS.iter().filter_map(|opening| Some((rest.find(opening)?, opening))).min()
    {
        let (before, after) = rest.split_at(at + opening.len());
        let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
        let (number, tail) = after.split_at(end);
        let place = numbers.iter().position(|&seen| seen == number).unwrap_or_else(|| {
            numbers.push(number);
            numbers.len() - 1
        });
        out += before;
        out += &place.to_string();
        rest = tail;
    }
    out + rest
}

/// The first showcase of a setting, if any: a second one would overwrite its files.
fn showcase<'a>(study: &'a Study, setting: &TrainingSetting) -> Option<&'a Showcase> {
    let fits = |s: &&Showcase| s.data == setting.data && s.train_per_class == setting.train;
    study.showcases.iter().find(fits)
}

/// Refuses a showcase whose sizes disagree, so that no drawing reads beyond an end.
pub(crate) fn check(showcase: &Showcase) -> Result<()> {
    let p = match (showcase.bases.first(), &showcase.men, showcase.samples.first()) {
        (Some((_, projection)), _, _) => projection.variables(),
        (None, Some(men), _) => men.projection().variables(),
        (None, None, Some((_, sample))) => sample.len(),
        (None, None, None) => return Ok(()),
    };
    let bases = showcase.bases.iter().map(|(name, projection)| (name.as_str(), projection.variables()));
    let samples = showcase.samples.iter().map(|(class, sample)| (class.as_str(), sample.len()));
    let men = showcase.men.iter().map(|men| ("MEN's model", men.projection().variables()));
    let names = showcase.feature_names.iter().map(|names| ("the list of names", names.len()));
    let shape = showcase.image_shape.iter().map(|&(h, w)| ("an image", h.saturating_mul(w)));
    match bases.chain(samples).chain(men).chain(names).chain(shape).find(|&(_, size)| size != p) {
        Some((what, size)) => {
            let problem = format!("{what} has {size} variables, others of the same showcase have {p}");
            Err(Error::Study(problem))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::renumbered;

    #[test]
    fn clip_paths_are_numbered_from_zero() {
        let svg = r##"<clipPath id="kuva-clip-17"/><g clip-path="url(#kuva-clip-17)"/><clipPath id="kuva-clip-9"/>kuva-clip-17"##;
        let anew = r##"<clipPath id="kuva-clip-0"/><g clip-path="url(#kuva-clip-0)"/><clipPath id="kuva-clip-1"/>kuva-clip-17"##;
        assert_eq!(renumbered(svg), anew);
        assert_eq!(renumbered("<svg/>"), "<svg/>");
    }
}
