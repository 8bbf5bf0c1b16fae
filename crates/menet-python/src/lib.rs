//! The extension module `menet._core`: NumPy arrays in, NumPy arrays out, and nothing that a user calls.
//!
//! Users see the package in `python/menet`, which checks types, knows scikit-learn and documents everything; the stubs
//! beside it (`_core.pyi`) are held to this module by the tests.
//!
//! | room | what |
//! |---|---|
//! | `arrays` | NumPy memory as matrices, without a copy, and back |
//! | `counting` | weights of samples, and which of them are distinct |
//! | `settings` | keyword arguments as parameters of the core, and its defaults for the tests |
//! | `run` | long work: without the interpreter's lock, on so many threads, until Ctrl-C |
//! | `errors` | what the core says, as exceptions |
//! | `command` | what the command on Dask takes as `menet` does: parameters, roles of columns, labels |
//! | `model` | a fitted MEN |
//! | `search` | settings tried by cross-validation |
//! | `stability` | stability selection |
//! | `validate` | how far a model can be trusted |
//! | `procedures` | what is validated: MEN, baselines, and what Python brings |
//! | `found` | what a validation found, for Python |
//! | `baselines` | a fitted baseline: its projection, and its gallery |
//! | `export` | models for other programs |
//! | `pieces` | a fit of samples in pieces, for Dask |
//! | `project` | projected samples |
//! | `paths` | LARS |
//! | `groups` | the group lasso |
//! | `neighbors` | the neighbours of chunks, for Dask |
//! | `sets` | the built-in data |
#![forbid(unsafe_code)]

mod arrays;
mod baselines;
mod charts;
mod command;
mod counting;
mod errors;
mod export;
mod groups;
mod model;
mod neighbors;
mod paths;
mod pieces;
mod procedures;
mod project;
mod run;
mod search;
mod sets;
mod settings;
mod stability;
mod validate;
mod validation_result;
mod variables;

use pyo3::prelude::*;

#[pymodule(name = "_core")]
mod core {
    #[pymodule_export]
    use super::baselines::Baseline;
    #[pymodule_export]
    use super::charts::{confusion_chart, heatmap_chart, histogram};
    #[pymodule_export]
    use super::command::{CommandParams, column_roles, label_texts, missing_texts, param_flags};
    #[pymodule_export]
    use super::counting::{distinct, together};
    #[pymodule_export]
    use super::export::{to_json, to_onnx, to_sql};
    #[pymodule_export]
    use super::groups::group_lasso;
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::neighbors::{
        cells, home_and_probes, merge_nearest, nearest_between, nearest_in, nearest_within, neighbor_groups,
    };
    #[pymodule_export]
    use super::paths::{Paths, gram_paths, path_defaults, regression_paths};
    #[pymodule_export]
    use super::pieces::{
        ModelWithoutRule, align, basis, check_pieces, class_sums, fingerprints, gram, images, moments,
        needs_samples, outline, patches, reconstructed, solve, spread, stacked, target, triangle,
        triangle_rank,
    };
    #[pymodule_export]
    use super::project::{project, project_all};
    #[pymodule_export]
    use super::search::search;
    #[pymodule_export]
    use super::sets::builtin_set;
    #[pymodule_export]
    use super::settings::{check_variables, choices, defaults, describe, presets};
    #[pymodule_export]
    use super::stability::{stability_index, stable_selection};
    #[pymodule_export]
    use super::validate::{validate, validation_defaults};

    #[pymodule_export]
    const DENSE_BYTES: usize = menet::dataset::DENSE_BYTES;

    #[pymodule_export]
    const BAND: usize = menet::pieces::BAND;

    #[pymodule_export]
    const GRAM_LIMIT: usize = menet::gram::GRAM_LIMIT;

    #[pymodule_export]
    const INNER_FOLDS: usize = menet_lab::validate::INNER_FOLDS;

    #[pymodule_export]
    const FEATURE_GROUPS_HELP: &str = menet_lab::flags::FEATURE_GROUPS_HELP;

    #[pymodule_export]
    const SET_HELP: &str = menet_lab::flags::SET_HELP;

    #[pymodule_export]
    const PARAMS_HELP: &str = menet_lab::flags::PARAMS_HELP;

    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
