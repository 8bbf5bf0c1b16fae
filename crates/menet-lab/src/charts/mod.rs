//! What the figures show, as plain data: one file per chart, with a struct and the function that computes it from results.
//!
//! Numbers, names, their order and notes are decided here, once. [`figures`](crate::figures) draws a value as SVG, the scripts of
//! the [`report`](crate::report) draw it in a page, and Python draws it with matplotlib: none of them computes anything but places.

pub mod confusion;
