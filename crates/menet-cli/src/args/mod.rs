//! Options that several commands share, by what they are about.

mod data;
mod model;
mod params;
mod search;

pub(crate) use data::{DataArgs, HowArgs, builtin_names, set_name};
pub(crate) use model::{ModelArgs, smaller};
pub(crate) use params::{ParamArgs, PriorsText, metric};
pub(crate) use search::{SearchArgs, dimensions, list, method_params, named, names, with_default};
