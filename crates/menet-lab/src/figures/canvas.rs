//! A small SVG to compose on, for what no plotting crate draws: pictures with marks on them beside charts.

use std::fmt::Write;
use std::io::Cursor;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use image::{ImageFormat, RgbImage};

use crate::names::escaped;

/// The font of every figure; its file travels with the program (see `raster.rs`).
pub(super) const FONT: &str = "DejaVu Sans, Verdana, sans-serif";

/// Where a text's position lies in it.
#[derive(Debug, Clone, Copy)]
pub(super) enum TextAnchor {
    Start,
    Middle,
    End,
}

/// An SVG that grows.
#[derive(Debug)]
pub(super) struct Canvas {
    width: f64,
    height: f64,
    body: String,
}

impl Canvas {
    pub(super) fn new(width: f64, height: f64) -> Self {
        Canvas { width, height, body: String::new() }
    }

    /// Adds markup; writing to a string cannot fail.
    fn push(&mut self, markup: std::fmt::Arguments<'_>) {
        let _ = self.body.write_fmt(markup);
        self.body.push('\n');
    }

    pub(super) fn text(&mut self, (x, y): (f64, f64), size: f64, anchor: TextAnchor, text: &str) {
        self.styled((x, y), size, anchor, "#222222", false, text);
    }

    pub(super) fn title(&mut self, (x, y): (f64, f64), size: f64, anchor: TextAnchor, text: &str) {
        self.styled((x, y), size, anchor, "#000000", true, text);
    }

    pub(super) fn styled(
        &mut self,
        (x, y): (f64, f64),
        size: f64,
        anchor: TextAnchor,
        colour: &str,
        bold: bool,
        text: &str,
    ) {
        let anchor = match anchor {
            TextAnchor::Start => "start",
            TextAnchor::Middle => "middle",
            TextAnchor::End => "end",
        };
        let weight = if bold { " font-weight=\"bold\"" } else { "" };
        let text = escaped(text);
        self.push(format_args!(
            "<text x=\"{x:.2}\" y=\"{y:.2}\" font-size=\"{size}\" text-anchor=\"{anchor}\" fill=\"{colour}\"{weight}>{text}</text>"
        ));
    }

    /// A text turned about its position by so many degrees, clockwise.
    pub(super) fn turned(
        &mut self,
        (x, y): (f64, f64),
        size: f64,
        degrees: f64,
        anchor: TextAnchor,
        text: &str,
    ) {
        self.push(format_args!("<g transform=\"rotate({degrees} {x:.2} {y:.2})\">"));
        self.text((x, y), size, anchor, text);
        self.push(format_args!("</g>"));
    }

    pub(super) fn rect(&mut self, (x, y): (f64, f64), (w, h): (f64, f64), fill: &str, stroke: &str) {
        self.push(format_args!(
            "<rect x=\"{x:.2}\" y=\"{y:.2}\" width=\"{w:.2}\" height=\"{h:.2}\" fill=\"{fill}\" stroke=\"{stroke}\"/>"
        ));
    }

    pub(super) fn line(&mut self, (x1, y1): (f64, f64), (x2, y2): (f64, f64), colour: &str, width: f64) {
        self.push(format_args!(
            "<line x1=\"{x1:.2}\" y1=\"{y1:.2}\" x2=\"{x2:.2}\" y2=\"{y2:.2}\" stroke=\"{colour}\" stroke-width=\"{width}\"/>"
        ));
    }

    pub(super) fn circle(&mut self, (x, y): (f64, f64), r: f64, colour: &str, width: f64) {
        self.push(format_args!(
            "<circle cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"{r:.2}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\"/>"
        ));
    }

    /// A diagonal cross whose arms are `r` long.
    pub(super) fn cross(&mut self, (x, y): (f64, f64), r: f64, colour: &str, width: f64) {
        self.push(format_args!(
            "<path d=\"M{:.2} {:.2}L{:.2} {:.2}M{:.2} {:.2}L{:.2} {:.2}\" stroke=\"{colour}\" stroke-width=\"{width}\"/>",
            x - r,
            y - r,
            x + r,
            y + r,
            x - r,
            y + r,
            x + r,
            y - r
        ));
    }

    /// A picture, its pixels kept square-edged, in a thin frame.
    pub(super) fn picture(&mut self, (x, y): (f64, f64), (w, h): (f64, f64), picture: &RgbImage) {
        let data = png_base64(picture);
        self.push(format_args!(
            "<image x=\"{x:.2}\" y=\"{y:.2}\" width=\"{w:.2}\" height=\"{h:.2}\" preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\" href=\"data:image/png;base64,{data}\"/>"
        ));
        self.rect((x, y), (w, h), "none", "#bbbbbb");
    }

    /// Another SVG, whole, with its corner at a place.
    pub(super) fn embed(&mut self, (x, y): (f64, f64), svg: &str) {
        self.push(format_args!("<g transform=\"translate({x:.2} {y:.2})\">{svg}</g>"));
    }

    pub(super) fn finish(self) -> String {
        let Canvas { width, height, body } = self;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"{FONT}\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{body}</svg>\n"
        )
    }
}

/// A PNG as base64. Encoding into memory fails only for an empty picture, which then shows nothing.
fn png_base64(picture: &RgbImage) -> String {
    let mut bytes = Cursor::new(Vec::new());
    match picture.write_to(&mut bytes, ImageFormat::Png) {
        Ok(()) => STANDARD.encode(bytes.get_ref()),
        Err(_) => String::new(),
    }
}
