//! Variables by name, and what a user decides about single ones: which are always in a model, and which never are.
//!
//! A variable goes by its name, or by its position if the data have no names. What a name stands for is known only together with
//! the data, so parameters hold [references](VariableRef) and every fit looks them up ([`Variables`]).

use std::collections::HashMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::lars::check_penalty_factors;
use crate::params::MenParams;

/// How a user refers to a variable.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum VariableRef {
    /// Its position, from 0.
    Position(usize),
    /// Its name; or its number from 1, as the command shows it, if the data have no names.
    Name(String),
}

impl From<&str> for VariableRef {
    fn from(name: &str) -> Self {
        VariableRef::Name(name.to_owned())
    }
}

impl From<usize> for VariableRef {
    fn from(position: usize) -> Self {
        VariableRef::Position(position)
    }
}

impl fmt::Display for VariableRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            VariableRef::Position(position) => write!(f, "{position}"),
            VariableRef::Name(name) => write!(f, "{name:?}"),
        }
    }
}

/// How many near matches a message names.
const NEAR: usize = 3;

/// The variables of a data set, to look names up.
#[derive(Debug)]
pub struct Variables<'a> {
    names: Option<&'a [String]>,
    count: usize,
    /// Where a name is; none if several variables have it.
    places: HashMap<&'a str, Option<usize>>,
}

impl<'a> Variables<'a> {
    /// Of so many variables, with these names if they have any.
    pub fn new(names: Option<&'a [String]>, count: usize) -> Self {
        let mut places = HashMap::new();
        for (j, name) in names.unwrap_or_default().iter().enumerate() {
            places.entry(name.as_str()).and_modify(|place| *place = None).or_insert(Some(j));
        }
        Variables { names, count, places }
    }

    /// The position of a variable that `parameter` names.
    ///
    /// # Errors
    /// When there is no such variable, or several have the name; the message lists near matches.
    pub fn find(&self, parameter: &'static str, variable: &VariableRef) -> Result<usize> {
        let refuse = |allowed: String| Err(Error::parameter(parameter, variable, allowed));
        match (variable, self.names) {
            (VariableRef::Position(j), _) if *j < self.count => Ok(*j),
            (VariableRef::Position(_), _) => {
                refuse(format!("a position from 0 to {}", self.count.saturating_sub(1)))
            }
            (VariableRef::Name(name), Some(names)) => match self.places.get(name.as_str()) {
                Some(Some(j)) => Ok(*j),
                Some(None) => refuse("a name that only one variable has: use its position".to_owned()),
                None => refuse(match near(name, names) {
                    near if near.is_empty() => {
                        format!(
                            "the name of a variable: {} and others",
                            listed(&names[..names.len().min(NEAR)])
                        )
                    }
                    near => format!("the name of a variable: near matches are {}", listed(&near)),
                }),
            },
            (VariableRef::Name(name), None) => match name.trim().parse::<usize>() {
                Ok(number) if (1..=self.count).contains(&number) => Ok(number - 1),
                _ => refuse(format!("a number from 1 to {}, since the variables have no names", self.count)),
            },
        }
    }

    /// The positions of all of them, rising, each once.
    ///
    /// # Errors
    /// As [`Self::find`].
    pub(crate) fn find_all(&self, parameter: &'static str, variables: &[VariableRef]) -> Result<Vec<usize>> {
        let mut found: Vec<usize> =
            variables.iter().map(|variable| self.find(parameter, variable)).collect::<Result<_>>()?;
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }
}

fn listed(names: &[impl fmt::Debug]) -> String {
    names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ")
}

/// The names that are most like `name`, the nearest first.
fn near<'a>(name: &str, names: &'a [String]) -> Vec<&'a str> {
    // Case, spaces and signs do not matter.
    let plain =
        |text: &str| text.to_lowercase().chars().filter(|c| c.is_alphanumeric()).collect::<Vec<char>>();
    let wanted = plain(name);
    let most = (wanted.len() / 3).max(2);
    let mut found: Vec<(usize, &str)> = names
        .iter()
        .filter_map(|other| {
            let given = plain(other);
            // A part of a longer name is near as well: `M55150` for `M55150_at`.
            let part = wanted.len() >= 3 && given.windows(wanted.len()).any(|part| part == wanted);
            let far = edits(&wanted, &given, most).min(if part { 1 } else { usize::MAX });
            (far <= most).then_some((far, other.as_str()))
        })
        .collect();
    found.sort_by_key(|(far, _)| *far);
    found.into_iter().take(NEAR).map(|(_, other)| other).collect()
}

/// How many letters must be inserted, deleted or replaced to turn one text into the other, or more than `most`.
fn edits(a: &[char], b: &[char], most: usize) -> usize {
    if a.len().abs_diff(b.len()) > most {
        return most + 1;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

impl MenParams {
    /// The penalty factor of every variable: `penalty_factors`, but 0 for the variables that are `always` in and infinity for those
    /// that `never` are.
    ///
    /// # Errors
    /// When there is not one factor per variable, a name is unknown, or a variable is said to be both in and out.
    pub fn factors(&self, names: Option<&[String]>, p: usize) -> Result<Vec<f64>> {
        let mut factors = self.penalty.factors.clone().unwrap_or_else(|| vec![1.0; p]);
        check_penalty_factors(&factors, p)?;
        if self.penalty.always.is_none() && self.penalty.never.is_none() {
            return Ok(factors);
        }
        let variables = Variables::new(names, p);
        let (always, never) = (self.penalty.always.as_deref(), self.penalty.never.as_deref());
        let always = variables.find_all("penalty.always", always.unwrap_or_default())?;
        let never = variables.find_all("penalty.never", never.unwrap_or_default())?;
        let quoted = |j: usize| names.map_or_else(|| j.to_string(), |names| format!("{:?}", names[j]));
        if let Some(&j) = always.iter().find(|j| never.binary_search(j).is_ok()) {
            let value = format!("a list with {}, which `penalty.always` has as well", quoted(j));
            return Err(Error::parameter("penalty.never", value, "a list of other variables"));
        }
        for (name, chosen, opposite, factor) in
            [("penalty.always", &always, f64::INFINITY, 0.0), ("penalty.never", &never, 0.0, f64::INFINITY)]
        {
            if let Some(&j) = chosen.iter().find(|&&j| factors[j] == opposite) {
                let value =
                    format!("a list with {}, whose factor in `penalty.factors` is {opposite}", quoted(j));
                return Err(Error::parameter(name, value, "a list of other variables"));
            }
            chosen.iter().for_each(|&j| factors[j] = factor);
        }
        Ok(factors)
    }

    /// Refuses parameters that speak of variables, or of an image shape, which `data` do not have.
    ///
    /// # Errors
    /// As [`Self::factors`].
    pub fn check_names(&self, data: &Dataset<'_>) -> Result<()> {
        self.factors(data.feature_names(), data.variables())?;
        self.check_graph(data)
    }

    /// The variables that are always in, rising: those of `always`, and those with a penalty factor of 0.
    ///
    /// # Errors
    /// As [`Self::factors`].
    pub(crate) fn always_in(&self, names: Option<&[String]>, p: usize) -> Result<Vec<usize>> {
        let factors = self.factors(names, p)?;
        Ok((0..p).filter(|&j| factors[j] == 0.0).collect())
    }

    /// The variables that are never in, rising: those of `never`, and those with an infinite penalty factor.
    ///
    /// # Errors
    /// As [`Self::factors`].
    pub(crate) fn never_in(&self, names: Option<&[String]>, p: usize) -> Result<Vec<usize>> {
        let factors = self.factors(names, p)?;
        Ok((0..p).filter(|&j| factors[j].is_infinite()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Vec<String> {
        ["age", "sex", "wage", "X1", "X1", "M55150_at"].map(str::to_owned).to_vec()
    }

    #[test]
    fn names_are_found_and_unknown_ones_told_with_near_matches() {
        let names = names();
        let variables = Variables::new(Some(&names), 6);
        assert_eq!(
            variables.find_all("penalty.always", &["wage".into(), "age".into(), "age".into()]),
            Ok(vec![0, 2])
        );
        assert_eq!(variables.find("penalty.always", &VariableRef::Position(4)), Ok(4));
        for (given, expected) in [
            (
                "Age",
                "`penalty.always` is \"Age\", but must be the name of a variable: near matches are \"age\", \"wage\"",
            ),
            ("m55150", "near matches are \"M55150_at\""),
            ("temperature", "the name of a variable: \"age\", \"sex\", \"wage\" and others"),
            ("X1", "only one variable has"),
        ] {
            let message = variables.find("penalty.always", &given.into()).unwrap_err().to_string();
            assert!(message.contains(expected), "{message}");
        }
        let message = variables.find("penalty.never", &6.into()).unwrap_err().to_string();
        assert!(message.contains("`penalty.never` is 6, but must be a position from 0 to 5"), "{message}");
    }

    #[test]
    fn without_names_text_is_a_number_from_one() {
        let variables = Variables::new(None, 6);
        assert_eq!(variables.find("penalty.always", &"1".into()), Ok(0));
        for wrong in ["0", "7", "age", "-1"] {
            let message = variables.find("penalty.always", &wrong.into()).unwrap_err().to_string();
            assert!(message.contains("a number from 1 to 6"), "{message}");
        }
    }

    #[test]
    fn edits_are_counted() {
        let count =
            |a: &str, b: &str| edits(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>(), 9);
        assert_eq!([count("kitten", "sitting"), count("age", "age"), count("", "abc")], [3, 0, 3]);
    }
}
