//! Every parameter of a fit, described: its name, type, choices, default and words.
//!
//! The description is the JSON Schema of [`MenParams`]: names, types, defaults and doc comments stand at the fields, and nowhere else.
//! The command's flags and help, Python's stage classes, the checks of parameter files and the pages of the site are made from this list.

use std::sync::OnceLock;

use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde_json::Value;

use crate::params::{MenParams, Preset};
use crate::select::SEARCHED;

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ValueKind {
    /// A number.
    Number,
    /// A whole number, at least 0.
    Whole,
    /// True or false.
    Flag,
    /// One of a few names.
    Choice,
    /// "train", "equal", or one number per class.
    Priors,
    /// One number per variable.
    Factors,
    /// Names or positions of variables.
    Variables,
    /// Groups of variables.
    Groups,
    /// A graph over the variables: its name, or edges.
    Graph,
}

/// A value that a choice may take.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Choice {
    /// Its name.
    pub name: String,
    /// One line about it.
    pub about: String,
}

/// A parameter.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Parameter {
    /// Where it is, as `penalty.gamma`; the name alone for what belongs to no stage.
    pub path: String,
    /// The stage, empty for what belongs to none.
    pub stage: String,
    /// The name in its stage.
    pub name: String,
    /// What its value is.
    pub kind: ValueKind,
    /// Whether it may be left open.
    pub optional: bool,
    /// The names that a choice may take.
    pub choices: Vec<Choice>,
    /// The default; null where it is left open.
    pub default: Value,
    /// In one paragraph.
    pub about: String,
    /// What there is to say beyond that; often empty.
    pub more: String,
    /// The kinds of the stage that use it; empty: all.
    pub of: Vec<String>,
    /// Whether most users meet it.
    pub common: bool,
    /// Whether a search can try values of it.
    pub searched: bool,
}

/// A stage of the pipeline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct StageDescription {
    /// Its name.
    pub name: String,
    /// What it does.
    pub about: String,
}

/// The description of all parameters.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Description {
    /// The stages, in the order of the pipeline.
    pub stages: Vec<StageDescription>,
    /// The parameters: first those of no stage, then by stage.
    pub parameters: Vec<Parameter>,
    /// The presets, with what they set.
    pub presets: Vec<Choice>,
}

impl Description {
    /// The parameter at this path.
    pub fn find(&self, path: &str) -> Option<&Parameter> {
        self.parameters.iter().find(|parameter| parameter.path == path)
    }

    /// Whether there is a stage of this name.
    pub fn has_stage(&self, name: &str) -> bool {
        self.stages.iter().any(|stage| stage.name == name)
    }
}

/// The parameters of a fit.
pub fn parameters() -> &'static Description {
    static DESCRIPTION: OnceLock<Description> = OnceLock::new();
    DESCRIPTION.get_or_init(describe)
}

fn describe() -> Description {
    let settings = SchemaSettings::draft2020_12().with(|it| it.inline_subschemas = true);
    let schema = settings.clone().into_generator().into_root_schema_for::<MenParams>();
    let presets = settings.into_generator().into_root_schema_for::<Preset>();
    // Through text, where a number is a number whatever its type was.
    let defaults = serde_json::to_value(MenParams::default()).unwrap_or_default();
    let (mut stages, mut own, mut staged) = (Vec::new(), Vec::new(), Vec::new());
    for (name, property) in properties(schema.as_value()) {
        if property.get("properties").is_none() {
            own.push(parameter("", name, property, &defaults[name]));
            continue;
        }
        stages.push(StageDescription { name: name.clone(), about: paragraphs(property).0 });
        let inner = properties(property);
        staged.extend(inner.map(|(leaf, property)| parameter(name, leaf, property, &defaults[name][leaf])));
    }
    own.append(&mut staged);
    Description { stages, parameters: own, presets: choices(presets.as_value()) }
}

/// The properties of an object, in the order of their fields.
fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema.get("properties").and_then(Value::as_object).into_iter().flatten()
}

fn parameter(stage: &str, name: &str, property: &Value, default: &Value) -> Parameter {
    let (about, more) = paragraphs(property);
    let types = texts(property.get("type"));
    let choices = choices(property);
    let kind = match property.get("kind").and_then(Value::as_str) {
        Some("priors") => ValueKind::Priors,
        Some("factors") => ValueKind::Factors,
        Some("variables") => ValueKind::Variables,
        Some("groups") => ValueKind::Groups,
        Some("graph") => ValueKind::Graph,
        _ if !choices.is_empty() => ValueKind::Choice,
        _ if types.iter().any(|one| one == "boolean") => ValueKind::Flag,
        _ if types.iter().any(|one| one == "integer") => ValueKind::Whole,
        _ => ValueKind::Number,
    };
    let path = if stage.is_empty() { name.to_owned() } else { format!("{stage}.{name}") };
    Parameter {
        searched: SEARCHED.contains(&path.as_str()),
        path,
        stage: stage.to_owned(),
        name: name.to_owned(),
        kind,
        optional: default.is_null(),
        choices,
        default: default.clone(),
        about,
        more,
        of: texts(property.get("of")),
        common: property.get("common").is_some(),
    }
}

/// The values of an enum, or of an enum that may be left open.
fn choices(schema: &Value) -> Vec<Choice> {
    let list = |key: &str| schema.get(key).and_then(Value::as_array);
    if let Some(open) = list("anyOf") {
        return open.iter().flat_map(choices).collect();
    }
    let choice = |one: &Value| {
        let name = one.get("const")?.as_str()?.to_owned();
        Some(Choice { name, about: paragraphs(one).0 })
    };
    list("oneOf").into_iter().flatten().filter_map(choice).collect()
}

/// A text, or a list of texts.
fn texts(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::String(text)) => vec![text.clone()],
        Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

/// The first paragraph of a doc comment, and the others.
fn paragraphs(schema: &Value) -> (String, String) {
    let text = schema.get("description").and_then(Value::as_str).unwrap_or_default().replace('`', "\"");
    let mut all = text.split("\n\n").map(|paragraph| paragraph.replace('\n', " ").trim().to_owned());
    (all.next().unwrap_or_default(), all.collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parameter_has_a_type_a_default_and_words() {
        let all = parameters();
        let fields = serde_json::to_value(MenParams::default()).unwrap();
        let count: usize =
            fields.as_object().unwrap().values().map(|one| one.as_object().map_or(1, |it| it.len())).sum();
        assert_eq!(all.parameters.len(), count);
        assert_eq!(
            all.stages.len(),
            fields.as_object().unwrap().values().filter(|one| one.is_object()).count()
        );
        for one in &all.parameters {
            assert!(one.about.len() > 10 && !one.about.contains("[`"), "{}: {}", one.path, one.about);
            assert!(one.choices.iter().all(|choice| !choice.about.is_empty()), "{one:?}");
            assert_eq!(one.optional, one.default.is_null());
        }
        for (path, kind) in [
            ("components", ValueKind::Whole),
            ("ridge", ValueKind::Number),
            ("penalty.kind", ValueKind::Choice),
            ("refit.kind", ValueKind::Choice),
            ("patch.kind", ValueKind::Choice),
            ("penalty.standardize", ValueKind::Flag),
            ("penalty.always", ValueKind::Variables),
            ("rule.priors", ValueKind::Priors),
        ] {
            assert_eq!(all.find(path).unwrap().kind, kind, "{path}");
        }
        assert_eq!(all.presets.len(), 3);
    }

    #[test]
    fn a_parameter_belongs_to_kinds_that_exist() {
        let all = parameters();
        for one in all.parameters.iter().filter(|one| !one.of.is_empty()) {
            let kinds = &all.find(&format!("{}.kind", one.stage)).unwrap().choices;
            assert!(one.of.iter().all(|kind| kinds.iter().any(|choice| choice.name == *kind)), "{one:?}");
        }
    }
}
