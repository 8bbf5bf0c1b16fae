//! Decision rules in the projected space.

mod nearest;

pub use nearest::{Metric, Prediction, nearest_neighbors};
