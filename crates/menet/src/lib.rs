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
//! No term has a factor ½ or 1/n. `X` is centred, `L` aligns one patch per sample, `Y` says where the samples of a class
//! should land. The sparsity is not set by λ1 but by K: the exact path over all λ1 is computed, and read where the
//! support is about to exceed K. A *level* is λ = λ1/2, the largest correlation.
//!
//! # How data flow
//!
//! | stage | room | in the paper |
//! |---|---|---|
//! | labelled data, validated | [`dataset`] | |
//! | missing values, batches, scales: learned, stored, applied | [`prepare`] | |
//! | what will be done, or why not | [`params`], [`plan`] | |
//! | centre, PCA reconstruction, unit columns; dense or sparse | [`Centred`] | step 1 |
//! | neighbours within and between classes, exact or approximate | [`neighbors`] | |
//! | one patch per sample | [`patches`] | step 2, Eqs. part1, part2 |
//! | `L = Σ SᵢᵀLᵢSᵢ` | [`Alignment`] | step 3, Eq. whole1 |
//! | the class target `Y` | [`targets`] | step 4, Eq. classerror |
//! | A, which stands for the manifold term; definiteness | [`operator`] | step 5, Eqs. newX, newY |
//! | `(X, A, Y) → (G, b)` | [`reduce()`], [`gram`] | step 5 |
//! | the path of every axis, certified | [`lars`] | step 6 |
//! | other penalties than ℓ1, groups of variables, a graph over variables | [`penalties`] | conclusion |
//! | the panel, and the weights on it | [`SizeLimits`], [`refit`] | |
//! | the model: sparse `W`, in the user's units | [`Men`], [`Projection`] | step 7, Eq. updateW |
//! | nearest neighbour, centroid, Gaussian; probabilities | [`rules`] | section 3 |
//! | splits, folds, rates at every dimension | [`evaluate`] | section 3 |
//! | rate, balanced accuracy, log loss, AUC | [`scores`] | |
//! | settings, by cross-validation | [`select`] | |
//! | what other samples would have selected | [`stability`] | |
//! | samples that no process holds at once | [`pieces`] | |
//! | every parameter, described once | [`describe`] | |
//! | all of it in sentences, for a methods section | [`words`] | |
//!
//! Dense and sparse data share every stage: they differ inside [`Centred`] alone. Numerics that are not
//! about MEN are in `numerics/`.
//!
//! The baselines are in [`baselines`]; [`Method`] lists them all, MEN among them.
//!
//! [`fit()`] is that table as a function: [plan](Plan), [reduce](Prepared), [solve](Prepared::solve),
//! [assemble](Men::assemble). A caller can enter and leave at each of these seams.
//!
//! # Guarantees
//!
//! Every result carries its [certificate](lars::Certificate). Results have the same bits on any number of threads. No input
//! causes a panic: functions return an [`enum@Error`] that says what was given and what is allowed. Long functions take a
//! [`Monitor`], which sees progress and can stop them (a dense decomposition, once begun, runs to its end).
#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![warn(clippy::unwrap_used)]

mod alignment;
pub mod baselines;
pub mod dataset;
pub mod describe;
mod error;
pub mod evaluate;
mod fit;
pub mod gram;
pub mod lars;
mod methods;
mod model;
mod monitor;
mod named;
pub mod neighbors;
mod numerics;
pub mod operator;
mod panel;
pub mod params;
pub mod patches;
pub mod penalties;
pub mod pieces;
pub mod plan;
pub mod prepare;
mod preprocess;
mod projection;
mod reduce;
pub mod refit;
mod report;
pub mod rules;
pub mod scores;
pub mod select;
mod solved;
pub mod stability;
pub mod targets;
mod variables;
mod with;
pub mod words;

pub use faer;

pub use alignment::Alignment;
pub use dataset::{Dataset, Real};
pub use error::{Error, Result};
pub use fit::{Neighborhood, Prepared, fit};
pub use methods::{LearnedReduction, Method, Reducer};
pub use model::{
    Component, FarSample, Men, MenParts, ModelWithoutRule, PanelRow, PanelVariable, SampleDoubts,
};
pub use monitor::{Monitor, Stage};
pub use named::Named;
pub use numerics::sparse;
pub use panel::SizeLimits;
pub use params::MenParams;
pub use plan::Plan;
pub use preprocess::Centred;
pub use projection::Projection;
pub use reduce::{ReducedProblem, reduce};
pub use report::FitReport;
pub use solved::SolvedPaths;
pub use variables::{VariableRef, Variables};

/// The examples of docs/rust.md, which is the README of this crate, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
