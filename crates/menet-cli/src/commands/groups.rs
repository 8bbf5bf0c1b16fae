//! The groups of variables that every axis uses, in words and as JSON.

use menet::Men;
use serde_json::{Value, json};

use super::variable;
use crate::text;

/// How many groups per axis the summary names.
const NAMED: usize = 12;

/// The names of the groups of every axis; none for a fit without groups.
fn names(men: &Men) -> Option<Vec<Vec<String>>> {
    let chosen = men.chosen_groups()?;
    let given = men.params().penalty.feature_groups.clone().unwrap_or_default();
    let all = given.completed(men.projection().variables());
    let name = |&g: &usize| match given.groups().get(g) {
        Some(group) => group.name.clone(),
        // A variable that is in no group of the file.
        None => variable(men, all.groups()[g].variables[0]),
    };
    Some(chosen.iter().map(|groups| groups.iter().map(name).collect()).collect())
}

/// One line per axis, or one for all where they choose together.
pub(super) fn lines(men: &Men) -> String {
    let Some(names) = names(men) else { return String::new() };
    let line = |who: String, names: &Vec<String>| {
        let some: Vec<String> = names.iter().take(NAMED).map(|name| text::shortened(name, 40)).collect();
        let more =
            if names.len() > NAMED { format!(" and {} more", names.len() - NAMED) } else { String::new() };
        format!(
            "groups of {who}: {}{more}\n",
            if some.is_empty() { "none".to_owned() } else { some.join(", ") }
        )
    };
    if names.len() > 1 && names.windows(2).all(|pair| pair[0] == pair[1]) {
        return line("all axes".to_owned(), &names[0]);
    }
    names.iter().enumerate().map(|(k, names)| line(format!("axis {}", k + 1), names)).collect()
}

/// A list per axis, or null.
pub(super) fn json(men: &Men) -> Value {
    json!(names(men))
}
