//! A fit of samples in pieces: what is computed from one piece of the rows or columns at a time, and how the answers are combined.
//!
//! No function here sees all samples. Answers of pieces are sums. Add them up in a fixed order, and the result does not depend on which
//! machine computed which piece, or when. The rest of the fit starts from the sums.
//!
//! | step | of every piece | from the sums |
//! |---|---|---|
//! | means, norms, class centres | [`outline`], then [`class_sums`] | [`Moments`] |
//! | neighbours | [`NearestSamples`](crate::neighbors::NearestSamples) | its `merge` |
//! | alignment L | `Patches` of its samples | [`alignment`] |
//! | target | [`WithinProducts`] | [`Moments::target`] |
//! | `A X` | [`images`], of a few columns | |
//! | `G = XᵀAX`, `b = XᵀY` | [`gram`] | [`Moments::correlations`] |
//! | paths | | [`ReducedProblem::paths`](crate::ReducedProblem::paths) |
//! | refit | [`WithinProducts`] | [`TrainingSums`](crate::refit::TrainingSums), [`Men::axes_at`](crate::Men::axes_at) |
//! | rule | the projected samples | [`ModelWithoutRule::learn`](crate::ModelWithoutRule::learn) |

mod alignment;
mod moments;
mod products;
mod triangle;

pub use alignment::{Patches, alignment};
pub use moments::{ClassSums, Moments, Outline, Target, class_sums, outline};
pub use products::{BAND, SolverUnits, WithinProducts, gram, images};
pub use triangle::{basis, rank, reconstructed, stacked, triangle};
