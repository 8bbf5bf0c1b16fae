//! Options that several commands share, by what they are about.

mod choice;
mod data;
mod model;
mod params;
mod search;

pub(crate) use choice::ChoiceArgs;
pub(crate) use data::{DataArgs, HowArgs, builtin_names, set_name};
pub(crate) use model::{ModelArgs, smaller};
pub(crate) use params::{ParamArgs, PriorsText, metric};
pub(crate) use search::{SearchArgs, dimensions, method_params, with_default};
