//! What the columns of a file with named columns are.

use std::path::Path;

use super::ReadOptions;
use crate::error::{Error, Result};

/// What a column is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Label,
    Dropped,
    Variable,
}

/// The role of each column, by its name.
///
/// # Errors
/// When there are no columns, a name repeats, there is nothing to drop, or no variable is left.
pub(super) fn roles(names: &[&str], path: &Path, options: &ReadOptions) -> Result<Vec<Role>> {
    if names.is_empty() {
        return Err(Error::input(path, "the file is empty"));
    }
    let mut seen = std::collections::HashSet::new();
    if let Some(name) = names.iter().find(|name| !seen.insert(**name)) {
        return Err(Error::input(path, format!("the column name {name:?} appears more than once")));
    }
    if let Some(name) = options.drop.iter().find(|name| !seen.contains(name.as_str())) {
        return Err(Error::input(path, format!("there is no column {name:?} to leave out")));
    }
    if options.label != ReadOptions::default().label && !seen.contains(options.label.as_str()) {
        return Err(Error::input(
            path,
            format!("there is no column {:?} to take the labels from", options.label),
        ));
    }
    let role = |name: &&str| match *name {
        name if options.drop.iter().any(|drop| drop == name) => Role::Dropped,
        name if name == options.label => Role::Label,
        _ => Role::Variable,
    };
    let roles: Vec<Role> = names.iter().map(role).collect();
    if !roles.contains(&Role::Variable) {
        return Err(Error::input(path, format!("there are no variables among its {} columns", names.len())));
    }
    Ok(roles)
}

/// The names of the variables.
pub(super) fn variables(names: &[&str], roles: &[Role]) -> Vec<String> {
    let kept = names.iter().zip(roles).filter(|(_, role)| **role == Role::Variable);
    kept.map(|(name, _)| (*name).to_owned()).collect()
}

/// Advice for a column that is not numeric.
pub(super) fn not_a_number(name: &str, text: &str) -> String {
    format!(
        "column {name:?}: {text:?} is not a finite number; leave the column out with --drop {name:?} or name it with --label"
    )
}
