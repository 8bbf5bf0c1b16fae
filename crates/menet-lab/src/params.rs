//! Parameters of methods by name.
//!
//! A file has one table per method (`run.toml` has them under `parameters`), `[men]`, `[dla]`, ... with the fields that differ
//! from the defaults; `[men.penalty]` is a stage of MEN. A file with parameters of MEN at its top is a parameter file of `menet fit`.
//! It applies to `men` (unless its α is 0 or its preset is `paper`); to `men-alpha0` without its α; and to `men-paper` without what would
//! make it another method. A penalty in it applies to the variant of that name alone, and a graph to `men-graph`.

use std::collections::BTreeMap;

use menet::describe::parameters;
use menet::{MenParams, Method};
use toml::{Table, Value};

use crate::error::{Error, Result};
use crate::settings::{PRESET, changed, get, merge, spelled_out, take};

/// The parameters that make the penalty of a variant of MEN.
const OF_PENALTY: [&str; 3] = ["penalty.kind", "penalty.gamma", "penalty.epsilon"];

/// The parameters of the graph of `men-graph`.
const OF_GRAPH: [&str; 2] = ["penalty.feature_graph", "penalty.graph_weight"];

/// The parameters of a file of `fit` that do not apply to the paper's method.
const NOT_OF_PAPER: [&str; 3] = ["refit", "rule", "panel_size"];

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
        let of_fit = |name: &String| {
            name == PRESET || parameters().has_stage(name) || parameters().find(name).is_some()
        };
        let params = if !table.is_empty() && table.values().all(Value::is_table) && !table.keys().any(of_fit)
        {
            let sections = table.into_iter().filter_map(|(name, value)| match value {
                Value::Table(section) => Some((name, section)),
                _ => None,
            });
            MethodParams(sections.collect())
        } else {
            Self::of_fit(&table)?
        };
        for name in params.0.keys() {
            params.method(name)?;
        }
        Ok(params)
    }

    /// What a parameter file of `fit` says of every variant of MEN.
    ///
    /// # Errors
    /// As [`spelled_out`].
    pub fn of_fit(table: &Table) -> Result<Self> {
        let is_paper = table.get(PRESET).and_then(Value::as_str) == Some("paper");
        let given = spelled_out(table)?;
        let is_ablation = get(&given, "manifold.alpha")
            .is_some_and(|alpha| alpha.as_float() == Some(0.0) || alpha.as_integer() == Some(0));
        let kind = get(&given, "penalty.kind").and_then(Value::as_str).unwrap_or_default();
        let penalty = format!("men-{kind}");
        let mut shared = given.clone();
        OF_PENALTY.iter().chain(&OF_GRAPH).for_each(|path| drop(take(&mut shared, path)));
        let own = |name: &str| {
            let mut own = shared.clone();
            match name {
                "men-alpha0" => drop(take(&mut own, "manifold.alpha")),
                "men-paper" if !is_paper => NOT_OF_PAPER.iter().for_each(|path| drop(take(&mut own, path))),
                _ => {}
            }
            if name == "men-paper" && is_ablation {
                take(&mut own, "manifold.alpha");
            }
            for (of, paths) in [("men-graph", &OF_GRAPH[..]), (&penalty[..], &OF_PENALTY[..])] {
                for path in paths.iter().filter(|_| of == name) {
                    if let (Some(value), Some((stage, leaf))) = (get(&given, path), path.split_once('.')) {
                        let leaf = [(leaf.to_owned(), value.clone())].into_iter().collect();
                        merge(&mut own, &[(stage.to_owned(), Value::Table(leaf))].into_iter().collect());
                    }
                }
            }
            (name.to_owned(), own)
        };
        let special = ["men-alpha0", "men-paper"];
        let names =
            Method::all().into_iter().filter(|method| method.men().is_some()).map(|method| method.name());
        let names = names.filter(|name| special.contains(name) || !(is_ablation || is_paper));
        Ok(MethodParams(names.map(own).collect()))
    }

    /// Adds other parameters, which go first.
    pub fn add(&mut self, other: &Self) {
        for (name, section) in &other.0 {
            merge(self.0.entry(name.clone()).or_default(), section);
        }
    }

    /// Sets the same for every variant of MEN, beside what they have.
    pub fn set_for_all(&mut self, changes: &Table) {
        for method in Method::all().iter().filter(|method| method.men().is_some() && !changes.is_empty()) {
            merge(self.0.entry(method.name().to_owned()).or_default(), changes);
        }
    }

    /// The variant of MEN that a file of `fit` describes.
    pub fn meant(&self) -> &str {
        let has = |path: &'static str| self.0.iter().find(|(_, table)| get(table, path).is_some());
        has("penalty.kind").or_else(|| has("penalty.feature_graph")).map_or("men", |(name, _)| name)
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
    let usage_error = |problem: &str| Error::Usage(format!("parameters of {}: {problem}", method.name()));
    let changed = match method.men() {
        Some(men) => {
            let of_men = |men: &MenParams| changed(men, &spelled_out(changes)?);
            method.clone().with_men(of_men(men).map_err(|error| usage_error(&error.to_string()))?)
        }
        None => {
            let mut fields = fields(method)?;
            fields.extend(changes.clone());
            let table: Table = [(method.name().to_owned(), Value::Table(fields))].into_iter().collect();
            table.try_into().map_err(|e: toml::de::Error| usage_error(e.message()))?
        }
    };
    // `lpp` with `supervised = true` would be `slpp` under a wrong name. The paper's method is `men` with other values.
    let plain = |name| if name == "men-paper" { "men" } else { name };
    match changed.reducer().name() {
        name if plain(name) == plain(method.name()) => Ok(changed),
        other => {
            Err(usage_error(&format!("with these values it is the method {other}; use that name instead")))
        }
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
        let params = MethodParams::parse("ridge = 0.3\nmanifold.alpha = 2.0").unwrap();
        let Method::Men(men) = params.method("men").unwrap() else { panic!() };
        assert_eq!((men.ridge, men.manifold.alpha), (Some(0.3), 2.0));
        let Method::MenAlpha0(men) = params.method("men-alpha0").unwrap() else { panic!() };
        assert_eq!((men.ridge, men.manifold.alpha), (Some(0.3), 0.0));
        let params = MethodParams::parse("ridge = 0.3\n[penalty]\nkind = \"scad\"\ngamma = 3.0").unwrap();
        let of = |name: &str| params.method(name).unwrap().men().unwrap().clone();
        assert_eq!((of("men").penalty.kind, of("men").ridge), (PenaltyKind::L1, Some(0.3)));
        assert_eq!(
            (of("men-scad").penalty.kind, of("men-scad").penalty.gamma),
            (PenaltyKind::Scad, Some(3.0))
        );
        assert_eq!((of("men-mcp").penalty.kind, of("men-mcp").ridge), (PenaltyKind::Mcp, Some(0.3)));
        assert_eq!(params.meant(), "men-scad");
        assert_eq!(MethodParams::parse("penalty = \"l1\"").unwrap().meant(), "men");
        assert_eq!(MethodParams::parse("penalty.feature_graph = \"chain\"").unwrap().meant(), "men-graph");
    }

    #[test]
    fn a_file_of_fit_does_not_make_the_papers_method_another() {
        let params = MethodParams::parse("ridge = 0.3\nrefit = \"panel\"\nrule = \"centroid\"").unwrap();
        let Method::MenPaper(paper) = params.method("men-paper").unwrap() else { panic!() };
        assert_eq!(paper, MenParams::paper().with(|it| it.ridge = Some(0.3)));
        let params = MethodParams::parse("ridge = 0.3\npreset = \"paper\"").unwrap();
        assert_eq!(params.method("men").unwrap(), Method::from_name("men").unwrap());
        let Method::MenPaper(paper) = params.method("men-paper").unwrap() else { panic!() };
        assert_eq!(paper, MenParams::paper().with(|it| it.ridge = Some(0.3)));
    }

    #[test]
    fn parameters_cannot_make_a_method_another() {
        for text in
            ["[lpp]\nsupervised = true", "[men-alpha0]\nmanifold.alpha = 1.0", "[men.manifold]\nalpha = 0.0"]
        {
            let message = MethodParams::parse(text).unwrap_err().to_string();
            assert!(message.contains("use that name instead"), "{message}");
        }
        let ablation = MethodParams::parse("manifold.alpha = 0.0\nridge = 0.5").unwrap();
        assert_eq!(ablation.method("men").unwrap(), Method::from_name("men").unwrap());
        let Method::MenAlpha0(men) = ablation.method("men-alpha0").unwrap() else { panic!() };
        assert_eq!((men.manifold.alpha, men.ridge), (0.0, Some(0.5)));
    }

    #[test]
    fn unknown_names_are_reported() {
        for (text, word) in [
            ("[dlaa]\nkappa = 1.0", "dlaa"),
            ("[dla]\nkapa = 1.0", "kapa"),
            ("ridge = \"a\"", "ridge"),
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
