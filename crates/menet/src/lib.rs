//! # menet: Manifold Elastic Net
//!
//! Sparse, supervised, linear dimension reduction. From n samples of p variables in c classes it learns a
//! projection `W` (p×d), each column of which uses at most K of the variables, keeps the local geometry of each
//! class and pushes classes apart. After Zhou, Tao and Wu, "Manifold Elastic Net: A Unified Framework for Sparse
//! Dimension Reduction".
//!
//! ```
#![doc = include_str!("../examples/readme.rs")]
//! ```
//!
//! # The problem
//!
//! ```text
//! min over Z, W:  ‖Y − XW‖² + α tr(ZᵀLZ) + β‖Z − XW‖² + λ1‖W‖₁ + λ2‖W‖²
//! ```
//!
//! Nothing carries a ½ or a 1/n. `X` is centred, `L` aligns one patch a sample, `Y` says where the samples of a class
//! should land. The sparsity is not set by λ1 but by K: the exact path over all λ1 is computed, and read where the
//! support is about to exceed K. A *level* is λ = λ1/2, the largest correlation.
//!
//! # The way of the data
//!
//! | stage | room | in the paper |
//! |---|---|---|
//! | labelled data, validated | [`dataset`] | |
//! | centre, PCA reconstruction, unit columns | [`preprocess`] | step 1 |
//! | neighbours within and between classes, exact or nearly all | [`neighbors`] | |
//! | a patch a sample | [`patches`] | step 2, Eqs. part1, part2 |
//! | `L = Σ SᵢᵀLᵢSᵢ`, and its spectrum | [`alignment`], [`spectrum`] | step 3, Eq. whole1 |
//! | the class target `Y` | [`target`](mod@target) | step 4, Eq. classerror |
//! | `(X, L, Y) → (G, b)`, definiteness | [`reduction`], [`conjugate`] | step 5, Eqs. newX, newY |
//! | which way, and why | [`regime`] | |
//! | where Gram columns come from | [`gram`], [`smoothed`] | |
//! | the path of every column, certified | [`lars`] | step 6 |
//! | the panel, and the weights on it | [`panel`], [`refit`] | |
//! | sparse `W`, in the user's units | [`projection`] | step 7, Eq. updateW |
//! | nearest neighbour, centroid, Gaussian; probabilities | [`rules`] | section 3 |
//! | splits, folds, rates at every dimension | [`evaluate`] | section 3 |
//! | rate, balanced accuracy, log loss, AUC | [`scores`] | |
//! | settings, by cross-validation | [`select`] | |
//!
//! Sparse data that are too large to be made dense go the same way through [`implicit`].
//!
//! The methods it is compared with are in [`baselines`]; [`reducer`] lists them all, MEN among them.
//!
//! [`fit`] is that table as a function. Every stage is public, so that one can stop anywhere and look.
//!
//! # What holds
//!
//! Every result carries its [certificate](lars::Certificate). Results are the same bits on any number of threads.
//! Input never panics; it gets an [`enum@Error`] that says what was given and what is allowed. Long functions take a
//! [`Monitor`], which sees progress and can stop them (a dense decomposition, once begun, runs to its end).
#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![warn(clippy::unwrap_used)]

pub mod alignment;
pub mod baselines;
pub mod conjugate;
pub mod dataset;
pub mod error;
pub mod evaluate;
mod fit;
pub mod gram;
pub mod implicit;
pub mod lars;
mod linalg;
pub mod model;
pub mod monitor;
pub mod named;
pub mod neighbors;
pub mod panel;
pub mod params;
pub mod patches;
pub mod preprocess;
pub mod projection;
pub mod reducer;
pub mod reduction;
pub mod refit;
pub mod regime;
pub mod rules;
pub mod scores;
pub mod select;
pub mod smoothed;
pub mod sparse;
pub mod spectrum;
pub mod target;

pub use dataset::{Dataset, Real};
pub use error::{Error, Result};
pub use fit::{Neighborhood, Prepared, Solved, fit};
pub use model::{Men, MenParts};
pub use monitor::{Monitor, Stage};
pub use named::Named;
pub use params::MenParams;
pub use projection::Projection;
pub use reducer::{Method, Reduced, Reducer};

/// The examples of the README and of docs/rust.md, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
#[doc = include_str!("../../../docs/rust.md")]
struct Readme;
