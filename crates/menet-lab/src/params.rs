//! Parameters of methods by name.
//!
//! A file has one table per method (`run.toml` has them under `parameters`), `[men]`, `[dla]`, ... with the fields that differ
//! from the defaults. A file without tables is a parameter file of `menet fit`. It applies to `men` (unless its α is 0 or its preset
//! is `paper`); to `men-alpha0` without its α; and to `men-paper` without the fields that would make it another method. A `penalty` in it
//! applies to the variant of that name alone, and a `feature_graph` to `men-graph`.

use std::collections::BTreeMap;

use menet::Method;
use toml::{Table, Value};

use crate::error::{Error, Result};

/// The fields that make the penalty of a variant of MEN.
const OF_PENALTY: [&str; 3] = ["penalty", "penalty_shape", "penalty_epsilon"];

/// The fields of the graph of `men-graph`.
const OF_GRAPH: [&str; 2] = ["feature_graph", "graph_weight"];

/// The fields of a parameter file of `fit` with the default preset that do not apply to the paper's method.
const DECIDED_BY_PRESET: [&str; 8] =
    ["preset", "refit", "refit_ridge", "relax", "rule", "voters", "priors", "panel_size"];

/// The parameters of every method that differ from its defaults.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct MethodParams(pub BTreeMap<String, Table>);

impl MethodParams {
    /// Reads the text of a file.
    ///
    /// # Errors
    /// When it is not TOML, or names an unknown method or parameter.
    pub fn parse(text: &str) -> Result<Self> {
        let mut table: Table = text.parse().map_err(|e: toml::de::Error| Error::Usage(e.to_string()))?;
        // The record of a run, `run.toml`, has them in a table of its own.
        if let (true, Some(Value::Table(recorded))) =
            (table.contains_key("protocol"), table.get("parameters"))
        {
            table = recorded.clone();
        }
        let by_method = !table.is_empty() && table.values().all(Value::is_table);
        let params = if by_method {
            let sections = table.into_iter().filter_map(|(name, value)| match value {
                Value::Table(section) => Some((name, section)),
                _ => None,
            });
            MethodParams(sections.collect())
        } else {
            let given = table.clone();
            OF_PENALTY.iter().chain(&OF_GRAPH).for_each(|&name| drop(table.remove(name)));
            let penalty = given.get("penalty").and_then(Value::as_str).unwrap_or_default();
            let penalty = format!("men-{penalty}");
            let (mut ablation, mut paper) = (table.clone(), table.clone());
            let alpha = ablation.remove("alpha");
            let is_ablation =
                alpha.is_some_and(|alpha| alpha.as_float() == Some(0.0) || alpha.as_integer() == Some(0));
            let is_paper = table.get("preset").and_then(Value::as_str) == Some("paper");
            if is_ablation {
                paper.remove("alpha");
            }
            if !is_paper {
                DECIDED_BY_PRESET.iter().for_each(|&name| drop(paper.remove(name)));
            }
            let plain = !is_ablation && !is_paper;
            let own = |name: &str| {
                let mut own = table.clone();
                for (of, keys) in [("men-graph", &OF_GRAPH[..]), (&penalty[..], &OF_PENALTY[..])] {
                    let keys = keys.iter().filter(|_| of == name);
                    own.extend(keys.filter_map(|&key| Some((key.to_owned(), given.get(key)?.clone()))));
                }
                (name.to_owned(), own)
            };
            let names = Method::all().into_iter().filter(|method| method.men().is_some());
            let special = ["men-alpha0", "men-paper"];
            let names = names.map(|method| method.name()).filter(|name| plain && !special.contains(name));
            let variants = [("men-alpha0".to_owned(), ablation), ("men-paper".to_owned(), paper)];
            MethodParams(names.map(own).chain(variants).collect())
        };
        for name in params.0.keys() {
            params.method(name)?;
        }
        Ok(params)
    }

    /// The variant of MEN that a file of `fit` describes.
    pub fn meant(&self) -> &str {
        let has = |key: &'static str| self.0.iter().find(|(_, table)| table.contains_key(key));
        has("penalty").or_else(|| has("feature_graph")).map_or("men", |(name, _)| name)
    }

    /// The method called `name` with these parameters.
    ///
    /// # Errors
    /// When the method, or one of its parameters, is unknown.
    pub fn method(&self, name: &str) -> Result<Method> {
        let default = Method::from_name(name)?;
        self.0.get(name).map_or(Ok(default.clone()), |section| overlay(&default, section))
    }
}

/// The method with some of its parameters replaced.
///
/// # Errors
/// When it has no such parameter, or the value has another type.
pub fn overlay(method: &Method, changes: &Table) -> Result<Method> {
    let mut fields = fields(method)?;
    fields.extend(changes.clone());
    let table: Table = [(method.name().to_owned(), Value::Table(fields))].into_iter().collect();
    let told = |problem: &str| Error::Usage(format!("parameters of {}: {problem}", method.name()));
    let changed: Method = table.try_into().map_err(|e: toml::de::Error| told(e.to_string().trim_end()))?;
    let changed = match changed.men().cloned() {
        Some(men) => changed.with_men(menet_io::edges::complete(men)?),
        None => changed,
    };
    // `lpp` with `supervised = true` would be `slpp` under a wrong name.
    match changed.reducer().name() {
        name if name == method.name() => Ok(changed),
        other => Err(told(&format!("with these values it is the method {other}; use that name instead"))),
    }
}

/// A table of parameters as TOML text inside another format, because JSON has no infinity.
pub(crate) mod as_text {
    use serde::{Deserialize, Deserializer, Serializer, de, ser};
    use toml::Table;

    pub(crate) fn serialize<S: Serializer>(table: &Table, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&toml::to_string(table).map_err(ser::Error::custom)?)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Table, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

/// The parameters of a method as a table, without those that are not set.
///
/// # Errors
/// Never, for the existing methods.
pub fn fields(method: &Method) -> Result<Table> {
    let table = Table::try_from(method).map_err(|e| Error::Usage(e.to_string()))?;
    match table.into_iter().next() {
        Some((_, Value::Table(fields))) => Ok(fields),
        _ => Ok(Table::new()),
    }
}

#[cfg(test)]
mod tests {
    use menet::penalties::PenaltyKind;

    use super::*;

    #[test]
    fn sections_overlay_the_defaults() {
        let params = MethodParams::parse("[dla]\nkappa = 0.3\n[slpp]\nk = 2\n[pca]").unwrap();
        let Method::Dla(dla) = params.method("dla").unwrap() else { panic!() };
        assert_eq!((dla.kappa, dla.k_within), (0.3, 5));
        let Method::Slpp(slpp) = params.method("slpp").unwrap() else { panic!() };
        assert!(slpp.supervised && slpp.k == 2);
        assert_eq!(params.method("npe").unwrap(), Method::from_name("npe").unwrap());
    }

    #[test]
    fn a_file_of_fit_is_for_men_and_its_ablation() {
        let params = MethodParams::parse("ridge = 0.3\nalpha = 2.0").unwrap();
        let Method::Men(men) = params.method("men").unwrap() else { panic!() };
        assert_eq!((men.ridge, men.alpha), (Some(0.3), 2.0));
        let Method::MenAlpha0(men) = params.method("men-alpha0").unwrap() else { panic!() };
        assert_eq!((men.ridge, men.alpha), (Some(0.3), 0.0));
        let params = MethodParams::parse("ridge = 0.3\npenalty = \"scad\"\npenalty_shape = 3.0").unwrap();
        let of = |name: &str| params.method(name).unwrap().men().unwrap().clone();
        assert_eq!((of("men").penalty, of("men").ridge), (PenaltyKind::L1, Some(0.3)));
        assert_eq!((of("men-scad").penalty, of("men-scad").penalty_shape), (PenaltyKind::Scad, Some(3.0)));
        assert_eq!((of("men-mcp").penalty, of("men-mcp").ridge), (PenaltyKind::Mcp, Some(0.3)));
        assert_eq!(params.meant(), "men-scad");
        assert_eq!(MethodParams::parse("penalty = \"l1\"").unwrap().meant(), "men");
        assert_eq!(MethodParams::parse("feature_graph = \"chain\"").unwrap().meant(), "men-graph");
    }

    #[test]
    fn a_file_of_fit_does_not_make_the_papers_method_another() {
        let params = MethodParams::parse("ridge = 0.3\nrefit = \"panel\"\nrule = \"centroid\"").unwrap();
        let Method::MenPaper(paper) = params.method("men-paper").unwrap() else { panic!() };
        assert_eq!(paper, menet::MenParams::paper().with(|it| it.ridge = Some(0.3)));
        let params = MethodParams::parse("ridge = 0.3\npreset = \"paper\"").unwrap();
        assert_eq!(params.method("men").unwrap(), Method::from_name("men").unwrap());
        let Method::MenPaper(paper) = params.method("men-paper").unwrap() else { panic!() };
        assert_eq!(paper, menet::MenParams::paper().with(|it| it.ridge = Some(0.3)));
    }

    #[test]
    fn parameters_cannot_make_a_method_another() {
        for text in [
            "[men]\npreset = \"paper\"",
            "[lpp]\nsupervised = true",
            "[men-alpha0]\nalpha = 1.0",
            "[men]\nalpha = 0.0",
        ] {
            let message = MethodParams::parse(text).unwrap_err().to_string();
            assert!(message.contains("use that name instead"), "{message}");
        }
        let ablation = MethodParams::parse("alpha = 0.0\nridge = 0.5").unwrap();
        assert_eq!(ablation.method("men").unwrap(), Method::from_name("men").unwrap());
        let Method::MenAlpha0(men) = ablation.method("men-alpha0").unwrap() else { panic!() };
        assert_eq!((men.alpha, men.ridge), (0.0, Some(0.5)));
    }

    #[test]
    fn unknown_names_are_reported() {
        for (text, word) in [
            ("[dlaa]\nkappa = 1.0", "dlaa"),
            ("[dla]\nkapa = 1.0", "kapa"),
            ("ridge = \"a\"", "men"),
            ("x", "x"),
        ] {
            let message = MethodParams::parse(text).unwrap_err().to_string();
            assert!(message.contains(word), "{message}");
        }
    }

    #[test]
    fn every_method_survives_the_round_trip() {
        for method in Method::all() {
            assert_eq!(overlay(&method, &Table::new()).unwrap(), method);
            assert_eq!(method.reducer().name(), method.name());
        }
    }
}
