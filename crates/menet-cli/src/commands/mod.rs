//! One file per subcommand.

pub(crate) mod data;
pub(crate) mod demo;
mod ends;
pub(crate) mod evaluate;
pub(crate) mod export;
pub(crate) mod fit;
mod groups;
pub(crate) mod inspect;
pub(crate) mod manual;
pub(crate) mod params;
pub(crate) mod path;
pub(crate) mod pictures;
pub(crate) mod predict;
mod preparation;
pub(crate) mod split;
mod template;
pub(crate) mod transform;
pub(crate) mod tune;
pub(crate) mod validate;

use menet::{Dataset, Men};

use crate::Context;
use crate::failure::Failure;

/// Says how many samples are copies of others, and what is done about it.
fn note_copies(context: &Context, data: &Dataset<'_>, groups: Option<&[usize]>) -> Result<(), Failure> {
    let together = menet::evaluate::together(data, groups)?;
    together.in_words().iter().for_each(|words| context.notice(words));
    Ok(())
}

/// The name of a variable, or its number from 1 if it has none.
fn variable(men: &Men, j: usize) -> String {
    match (men.feature_names(), men.image_shape()) {
        (Some(names), _) => names[j].clone(),
        (None, Some((_, width))) => format!("row {} column {}", j / width + 1, j % width + 1),
        (None, None) => format!("{}", j + 1),
    }
}
