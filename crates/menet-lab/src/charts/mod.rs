//! What the figures show, as plain data: one file per chart, with a struct and the function that computes it from results.
//!
//! Numbers, names, their order and notes are decided here, once. [`figures`](crate::figures) draws a value as SVG, the scripts of
//! the [`report`](crate::report) draw it in a page, and Python draws it with matplotlib: none of them computes anything but places.

pub(crate) mod batches;
pub(crate) mod boxes;
pub(crate) mod check;
pub(crate) mod comparison;
pub mod confusion;
pub mod effects;
pub mod heatmap;
pub(crate) mod lines;
pub(crate) mod paths;
pub mod permutation;
pub(crate) mod rates;
pub(crate) mod roc;
pub(crate) mod samples;
pub(crate) mod selection;
pub(crate) mod spectrum;
pub(crate) mod stability_sizes;
pub(crate) mod text;
pub(crate) mod tuning;
pub(crate) mod values;
