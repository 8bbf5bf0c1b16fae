//! All tests of the crate's interface, as one program: linked once, and run side by side. A test of menet-cli sees
//! to it that every file is listed.

mod common;
mod honesty;
mod keys;
mod noise;
mod preparation;
mod protocol;
mod report;
mod resume;
mod tuning;
mod validation;
mod validation_figures;
mod words;
