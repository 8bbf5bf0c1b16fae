//! All tests of the crate's interface, as one program: linked once, and run side by side. A test of menet-cli sees
//! to it that every file is listed.

mod always_never;
mod blocks;
mod common;
mod crafted;
mod folders;
mod model;
mod mutations;
mod preparation;
mod reading;
mod round_trip;
