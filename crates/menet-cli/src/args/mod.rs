//! Options that several commands share, by what they are about.

mod choice;
mod count;
mod data;
mod model;
mod params;
mod search;
mod texts;

pub(crate) use choice::ChoiceArgs;
pub(crate) use count::{CountArgs, UnlabelledArgs};
pub(crate) use data::{DataArgs, FillArgs, NewSamples, ReadingArgs, builtin_names, labelled, set_name};
pub(crate) use model::{ModelArgs, smaller};
pub(crate) use params::{ParamArgs, SearchedParamArgs, of_others};
pub(crate) use search::{SearchArgs, dimensions, with_default};
pub(crate) use texts::{PriorsText, metric};
