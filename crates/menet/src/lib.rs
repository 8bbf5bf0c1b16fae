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
//! Nothing carries a ½ or a 1/n. `X` is centred, `L` aligns one patch per sample, `Y` says where the samples of a class
//! should land. The sparsity is not set by λ1 but by K: the exact path over all λ1 is computed, and read where the
//! support is about to exceed K. A *level* is λ = λ1/2, the largest correlation.
//!
//! # The way of the data
//!
//! | stage | room | in the paper |
//! |---|---|---|
//! | labelled data, validated | [`dataset`] | |
//! | what will be done, or why not | [`params`], [`plan`] | |
//! | centre, PCA reconstruction, unit columns; dense or sparse | [`preprocess`] | step 1 |
//! | neighbours within and between classes, exact or nearly all | [`neighbors`] | |
//! | one patch per sample | [`patches`] | step 2, Eqs. part1, part2 |
//! | `L = Σ SᵢᵀLᵢSᵢ` | [`alignment`] | step 3, Eq. whole1 |
//! | the class target `Y` | [`targets`] | step 4, Eq. classerror |
//! | A, which stands for the manifold term; definiteness | [`operator`] | step 5, Eqs. newX, newY |
//! | `(X, A, Y) → (G, b)` | [`reduce()`], [`gram`] | step 5 |
//! | the path of every axis, certified | [`lars`] | step 6 |
//! | the panel, and the weights on it | [`panel`], [`refit`] | |
//! | the model: sparse `W`, in the user's units | [`model`], [`Projection`] | step 7, Eq. updateW |
//! | nearest neighbour, centroid, Gaussian; probabilities | [`rules`] | section 3 |
//! | splits, folds, rates at every dimension | [`evaluate`] | section 3 |
//! | rate, balanced accuracy, log loss, AUC | [`scores`] | |
//! | settings, by cross-validation | [`select`] | |
//! | what other samples would have selected | [`stability`] | |
//! | samples that no process holds at once | [`pieces`] | |
//!
//! Dense and sparse data share every stage: they differ inside [`preprocess::Centred`] alone. Numerics that know nothing
//! of MEN are in `numerics/`.
//!
//! The baselines are in [`baselines`]; [`methods`] lists them all, MEN among them.
//!
//! [`fit()`] is that table as a function: [plan](Plan), [reduce](Prepared), [solve](Prepared::solve),
//! [assemble](Men::assemble). A caller can enter and leave at each of these seams.
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
pub mod dataset;
mod error;
pub mod evaluate;
mod fit;
pub mod gram;
pub mod lars;
pub mod methods;
pub mod model;
mod monitor;
mod named;
pub mod neighbors;
mod numerics;
pub mod operator;
pub mod panel;
pub mod params;
pub mod patches;
pub mod pieces;
pub mod plan;
pub mod preprocess;
mod projection;
mod reduce;

pub mod refit;
pub mod rules;
pub mod scores;
pub mod select;
pub mod stability;
pub mod targets;
mod with;

pub use faer;

pub use dataset::{Dataset, Real};
pub use error::{Error, Result};
pub use fit::{Neighborhood, Prepared, Solved, fit};
pub use methods::{Method, Reduced, Reducer};
pub use model::{Men, MenParts};
pub use monitor::{Monitor, Stage};
pub use named::Named;
pub use numerics::sparse;
pub use params::MenParams;
pub use plan::Plan;
pub use projection::Projection;
pub use reduce::{ReducedProblem, ReductionReport, reduce};

/// The examples of docs/rust.md, which is the README of this crate, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
