//! Which variables belong together, and which axes choose together.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::named::named;

/// Variables that enter together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// What it is called.
    pub name: String,
    /// Its variables, counted from 0.
    pub variables: Vec<usize>,
}

/// Groups of variables. A variable may be in several groups; one that is in none is a group of its own.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Groups {
    groups: Vec<Group>,
}

impl Groups {
    /// These groups.
    pub fn new(groups: Vec<Group>) -> Self {
        Groups { groups }
    }

    /// From pairs of a variable and the name of a group that it is in. Groups come in the order of their first pair.
    pub fn from_pairs<N: AsRef<str>>(pairs: impl IntoIterator<Item = (usize, N)>) -> Self {
        let (mut groups, mut places) = (Vec::<Group>::new(), BTreeMap::new());
        for (variable, name) in pairs {
            let name = name.as_ref();
            let place = *places.entry(name.to_owned()).or_insert_with(|| {
                groups.push(Group { name: name.to_owned(), variables: Vec::new() });
                groups.len() - 1
            });
            groups[place].variables.push(variable);
        }
        Groups { groups }
    }

    /// The groups, in order.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// Number of groups.
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Refuses groups that are empty, name a variable twice, or one that `p` variables do not have.
    ///
    /// # Errors
    /// Naming the group.
    pub fn check(&self, p: usize) -> Result<()> {
        for group in &self.groups {
            let name = &group.name;
            if group.variables.is_empty() {
                let value = format!("without variables in group {name:?}");
                return Err(Error::parameter(
                    "penalty.feature_groups",
                    value,
                    "at least one variable per group",
                ));
            }
            let mut sorted = group.variables.clone();
            sorted.sort_unstable();
            if let Some(&last) = sorted.last().filter(|&&last| last >= p) {
                let value = format!("variable {last} in group {name:?}");
                return Err(Error::parameter(
                    "penalty.feature_groups",
                    value,
                    format!("variables from 0 to {}", p - 1),
                ));
            }
            if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
                let value = format!("variable {} twice in group {name:?}", pair[0]);
                return Err(Error::parameter(
                    "penalty.feature_groups",
                    value,
                    "each variable once per group",
                ));
            }
        }
        Ok(())
    }

    /// Those of `p` variables that are in no group.
    pub(super) fn others(&self, p: usize) -> Vec<usize> {
        let mut mentioned = vec![false; p];
        for &j in self.groups.iter().flat_map(|group| &group.variables) {
            if let Some(mentioned) = mentioned.get_mut(j) {
                *mentioned = true;
            }
        }
        (0..p).filter(|&j| !mentioned[j]).collect()
    }

    /// These groups, and after them every other of `p` variables as a group of its own, called by its number.
    pub fn completed(&self, p: usize) -> Self {
        let single = |j: usize| Group { name: j.to_string(), variables: vec![j] };
        let others = self.others(p).into_iter().map(single);
        Groups { groups: self.groups.iter().cloned().chain(others).collect() }
    }
}

/// Whether axes choose their groups together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum GroupAxes {
    /// Every axis chooses its own groups.
    #[default]
    Each,
    /// A group is chosen for all axes or for none.
    Together,
}

named!(GroupAxes, "group_axes", Each = "each", Together = "together");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_become_groups_and_the_rest_are_single() {
        let groups = Groups::from_pairs([(3, "b"), (0, "a"), (1, "b"), (0, "b")]);
        let pairs: Vec<(&str, &[usize])> =
            groups.groups().iter().map(|group| (group.name.as_str(), &group.variables[..])).collect();
        assert_eq!(pairs, [("b", &[3, 1, 0][..]), ("a", &[0])]);
        let all = groups.completed(5);
        assert_eq!((all.len(), all.groups()[2].variables[0], all.groups()[3].variables[0]), (4, 2, 4));
        assert_eq!(Groups::default().completed(3).len(), 3);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let of = |variables: &[usize]| {
            Groups::new(vec![Group { name: "g".to_owned(), variables: variables.to_vec() }]).check(3)
        };
        assert!(of(&[0, 2]).is_ok());
        for (variables, expected) in
            [(&[][..], "without variables"), (&[0, 3], "variable 3"), (&[1, 1], "twice")]
        {
            let message = of(variables).unwrap_err().to_string();
            assert!(message.contains(expected) && message.contains("\"g\""), "{message}");
        }
    }
}
