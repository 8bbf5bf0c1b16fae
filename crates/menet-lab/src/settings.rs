//! Parameters of MEN as TOML: what a file or a command line sets, checked against their [description](menet::describe).
//!
//! A stage may be named by its kind alone: `penalty = "mcp"` is `[penalty]` with `kind = "mcp"`. The key `preset` stands for the
//! values of that preset; what is set beside it goes first.

use menet::describe::{Parameter, ValueKind, parameters};
use menet::params::Preset;
use menet::select::SEARCHED;
use menet::{MenParams, Named};
use toml::{Table, Value};

use crate::error::{Error, Result};

/// The key that stands for the values of a preset.
pub const PRESET: &str = "preset";

/// The table with every stage as a table of its own, the preset as its values, and nothing that is unknown or of a wrong type.
///
/// # Errors
/// Naming the parameter, what it is set to, and what is allowed.
pub fn spelled_out(table: &Table) -> Result<Table> {
    let mut whole = Table::new();
    if let Some(preset) = table.get(PRESET) {
        let name = preset.as_str().unwrap_or_default();
        let preset = Preset::from_name(name).map_err(|_| {
            let names: Vec<&str> = Preset::ALL.iter().map(|preset| preset.name()).collect();
            refused(PRESET, preset, &format!("one of {}", names.join(", ")))
        })?;
        whole = difference(&table_of(&preset.params())?, &table_of(&MenParams::default())?);
    }
    for (name, value) in table.iter().filter(|(name, _)| *name != PRESET) {
        match value {
            Value::Table(inner) if parameters().has_stage(name) => {
                inner.iter().try_for_each(|(leaf, value)| {
                    set(&mut whole, &format!("{name}.{leaf}"), value.clone())
                })?;
            }
            _ => set(&mut whole, name, value.clone())?,
        }
    }
    Ok(whole)
}

/// Sets the parameter at `path` in a spelled-out table; a stage is its kind.
///
/// # Errors
/// As [`spelled_out`].
pub fn set(table: &mut Table, path: &str, value: Value) -> Result<()> {
    let parameter = find(path)?;
    check(parameter, &value)?;
    match parameter.path.split_once('.') {
        None => drop(table.insert(parameter.name.clone(), value)),
        Some((stage, leaf)) => {
            let inner = table.entry(stage).or_insert_with(|| Value::Table(Table::new()));
            if let Value::Table(inner) = inner {
                inner.insert(leaf.to_owned(), value);
            }
        }
    }
    Ok(())
}

/// The values of a list such as `5,10,none` that a search tries of the parameter at `path`: "none" leaves it open.
///
/// # Errors
/// When a search does not choose this parameter, a value has another type, or a value is given twice.
pub fn values(path: &str, list: &str) -> Result<serde_json::Value> {
    if !SEARCHED.contains(&path) {
        let allowed = SEARCHED.join(", ");
        return Err(Error::Usage(format!("a search does not try values of `{path}`, but of {allowed}")));
    }
    let mut values: Vec<serde_json::Value> = Vec::new();
    for text in list.split(',').map(str::trim) {
        let mut table = Table::new();
        let value = match text {
            "none" if !path.ends_with(".kind") => serde_json::Value::Null,
            _ => {
                set_text(&mut table, path, text)?;
                let number = || Error::Usage(format!("`{path}` is {text}, but must be finite"));
                // JSON has no infinity.
                let value = get(&table, path).and_then(|value| serde_json::to_value(value).ok());
                value.filter(|value| !value.is_null()).ok_or_else(number)?
            }
        };
        if values.contains(&value) {
            return Err(Error::Usage(format!("{text} is given twice; give it only once")));
        }
        values.push(value);
    }
    Ok(values.into())
}

/// Sets the parameter at `path` to what a text says, as on a command line.
///
/// # Errors
/// As [`spelled_out`].
pub fn set_text(table: &mut Table, path: &str, text: &str) -> Result<()> {
    if path == PRESET {
        let preset = [(PRESET.to_owned(), Value::String(text.to_owned()))].into_iter().collect();
        let own = std::mem::take(table);
        *table = spelled_out(&preset)?;
        merge(table, &own);
        return Ok(());
    }
    let parameter = find(path)?;
    let refuse = || refused(&parameter.path, &Value::String(text.to_owned()), &allowed(parameter));
    let numbers = || -> Result<Value> {
        let number = |field: &str| field.trim().parse().map(Value::Float).map_err(|_| refuse());
        Ok(Value::Array(text.split(',').map(number).collect::<Result<_>>()?))
    };
    let value = match parameter.kind {
        ValueKind::Number => Value::Float(text.trim().parse().map_err(|_| refuse())?),
        ValueKind::Whole => {
            let whole: u64 = text.trim().parse().map_err(|_| refuse())?;
            Value::Integer(i64::try_from(whole).unwrap_or(i64::MAX))
        }
        ValueKind::Flag => Value::Boolean(text.trim().parse().map_err(|_| refuse())?),
        ValueKind::Priors if text.contains(|sign: char| sign.is_ascii_digit()) => numbers()?,
        ValueKind::Factors => numbers()?,
        ValueKind::Choice | ValueKind::Priors | ValueKind::Graph => Value::String(text.to_owned()),
        ValueKind::Variables => {
            let names: Vec<&str> = text.split(',').map(str::trim).collect();
            if names.contains(&"") {
                let problem = "a name is empty; separate names by one comma, as age,sex";
                return Err(Error::Usage(format!("`{}` is {text:?}: {problem}", parameter.path)));
            }
            Value::Array(names.into_iter().map(|name| Value::String(name.to_owned())).collect())
        }
        ValueKind::Groups => return Err(refuse()),
    };
    set(table, &parameter.path, value)
}

/// Adds changes to a spelled-out table.
pub fn merge(table: &mut Table, changes: &Table) {
    for (name, value) in changes {
        match (table.get_mut(name), value) {
            (Some(Value::Table(own)), Value::Table(inner)) => merge(own, inner),
            _ => drop(table.insert(name.clone(), value.clone())),
        }
    }
}

/// The parameters with the changes of a spelled-out table.
///
/// # Errors
/// Where a value is not what its type asks for.
pub fn changed(own: &MenParams, changes: &Table) -> Result<MenParams> {
    let mut table = table_of(own)?;
    merge(&mut table, changes);
    let params: MenParams =
        table.try_into().map_err(|e: toml::de::Error| Error::Usage(e.message().to_owned()))?;
    Ok(menet_io::edges::complete(params)?)
}

/// The value at a path of a spelled-out table.
pub fn get<'t>(table: &'t Table, path: &str) -> Option<&'t Value> {
    match path.split_once('.') {
        None => table.get(path),
        Some((stage, leaf)) => table.get(stage)?.get(leaf),
    }
}

/// The value at a path, taken out of a spelled-out table; stages that are left empty go too.
pub(crate) fn take(table: &mut Table, path: &str) -> Option<Value> {
    let Some((stage, leaf)) = path.split_once('.') else { return table.remove(path) };
    let inner = table.get_mut(stage)?.as_table_mut()?;
    let value = inner.remove(leaf);
    if inner.is_empty() {
        table.remove(stage);
    }
    value
}

/// The parameters as a table, without those that are left open.
///
/// # Errors
/// Never, for parameters that can be fitted.
pub fn table_of(params: &MenParams) -> Result<Table> {
    Table::try_from(params).map_err(|e| Error::Usage(e.to_string()))
}

/// What the first table has that the second has not.
pub(crate) fn difference(table: &Table, other: &Table) -> Table {
    let new = |(name, value): (&String, &Value)| match (value, other.get(name)) {
        (Value::Table(inner), Some(Value::Table(own))) => {
            let inner = difference(inner, own);
            (!inner.is_empty()).then(|| (name.clone(), Value::Table(inner)))
        }
        (value, own) => (Some(value) != own).then(|| (name.clone(), value.clone())),
    };
    table.iter().filter_map(new).collect()
}

/// Every value of a spelled-out table with its path.
pub fn paths(table: &Table) -> Vec<(String, &Value)> {
    let mut all = Vec::new();
    for (name, value) in table {
        match value {
            Value::Table(inner) if parameters().has_stage(name) => {
                all.extend(inner.iter().map(|(leaf, value)| (format!("{name}.{leaf}"), value)));
            }
            _ => all.push((name.clone(), value)),
        }
    }
    all
}

/// The parameter at a path; that of a stage is its kind.
fn find(path: &str) -> Result<&'static Parameter> {
    let all = parameters();
    if let Some(found) = all.find(path).or_else(|| all.find(&format!("{path}.kind"))) {
        return Ok(found);
    }
    let leaf = path.rsplit('.').next().unwrap_or(path);
    let elsewhere: Vec<&str> = all
        .parameters
        .iter()
        .filter(|one| one.name == leaf && leaf != "kind")
        .map(|one| one.path.as_str())
        .collect();
    let known = match path.split_once('.') {
        _ if !elsewhere.is_empty() => format!("use {}", elsewhere.join(" or ")),
        Some((stage, _)) if all.has_stage(stage) => {
            let own = all.parameters.iter().filter(|one| one.stage == stage);
            format!("{stage} has {}", own.map(|one| one.name.as_str()).collect::<Vec<_>>().join(", "))
        }
        _ => {
            let own = all.parameters.iter().filter(|one| one.stage.is_empty()).map(|one| one.name.as_str());
            let stages = all.stages.iter().map(|stage| stage.name.as_str());
            format!(
                "there are {}, and the stages {}",
                own.collect::<Vec<_>>().join(", "),
                stages.collect::<Vec<_>>().join(", ")
            )
        }
    };
    Err(Error::Usage(format!("there is no parameter `{path}`: {known} (`menet params` describes them all)")))
}

/// Refuses a value of a wrong type.
fn check(parameter: &Parameter, value: &Value) -> Result<()> {
    let number = |value: &Value| matches!(value, Value::Integer(_) | Value::Float(_));
    let all = |of: fn(&Value) -> bool| value.as_array().is_some_and(|list| list.iter().all(of));
    let sound = match parameter.kind {
        ValueKind::Number => number(value),
        ValueKind::Whole => value.as_integer().is_some_and(|whole| whole >= 0),
        ValueKind::Flag => value.is_bool(),
        ValueKind::Choice => {
            value.as_str().is_some_and(|name| parameter.choices.iter().any(|choice| choice.name == name))
        }
        ValueKind::Priors => {
            value.as_str().is_some_and(|name| ["train", "equal"].contains(&name))
                || all(|one| matches!(one, Value::Integer(_) | Value::Float(_)))
        }
        ValueKind::Factors => all(|one| matches!(one, Value::Integer(_) | Value::Float(_))),
        ValueKind::Variables => all(|one| one.is_str() || one.as_integer().is_some_and(|place| place >= 0)),
        ValueKind::Groups => all(Value::is_table),
        ValueKind::Graph => value.is_str() || value.is_table(),
    };
    if sound { Ok(()) } else { Err(refused(&parameter.path, value, &allowed(parameter))) }
}

/// What a parameter may be, in words.
pub fn allowed(parameter: &Parameter) -> String {
    match parameter.kind {
        ValueKind::Number => "a number".to_owned(),
        ValueKind::Whole => "a whole number, at least 0".to_owned(),
        ValueKind::Flag => "true or false".to_owned(),
        ValueKind::Choice => {
            let names: Vec<&str> = parameter.choices.iter().map(|choice| choice.name.as_str()).collect();
            format!("one of {}", names.join(", "))
        }
        ValueKind::Priors => "train, equal, or one number per class, as 0.2,0.8".to_owned(),
        ValueKind::Factors => "one number per variable, as 1,2,inf".to_owned(),
        ValueKind::Variables => {
            "names of variables, as age,sex, or numbers from 1 if they have no names".to_owned()
        }
        ValueKind::Groups => "a file, given by --feature-groups".to_owned(),
        ValueKind::Graph => "auto, grid, chain, grid:HEIGHTxWIDTH or a file of edges".to_owned(),
    }
}

fn refused(path: &str, value: &Value, allowed: &str) -> Error {
    Error::Usage(format!("`{path}` is {value}, but must be {allowed}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<MenParams> {
        changed(&MenParams::default(), &spelled_out(&text.parse().unwrap())?)
    }

    #[test]
    fn a_stage_is_named_by_its_kind_or_spelled_out() {
        let short = read("penalty = \"mcp\"\nrefit = \"axis\"\nridge = 1").unwrap();
        let long = read("ridge = 1.0\n[penalty]\nkind = \"mcp\"\n[refit]\nkind = \"axis\"").unwrap();
        assert_eq!(short, long);
        assert_eq!(read("").unwrap(), MenParams::default());
    }

    #[test]
    fn a_preset_is_its_values_and_gives_way_to_others() {
        assert_eq!(read("preset = \"paper\"").unwrap(), MenParams::paper());
        assert_eq!(read("ridge = 2\npreset = \"stable\"").unwrap().ridge, Some(2.0));
        let mut table = spelled_out(&"ridge = 2".parse().unwrap()).unwrap();
        set_text(&mut table, "preset", "stable").unwrap();
        assert_eq!(changed(&MenParams::default(), &table).unwrap().ridge, Some(2.0));
    }

    #[test]
    fn every_parameter_is_set_by_its_default_as_text() {
        let own = table_of(&MenParams::default()).unwrap();
        for parameter in &parameters().parameters {
            let Some(value) = get(&own, &parameter.path) else { continue };
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let mut table = Table::new();
            set_text(&mut table, &parameter.path, &text).unwrap();
            assert_eq!(
                changed(&MenParams::default(), &table).unwrap(),
                MenParams::default(),
                "{}",
                parameter.path
            );
        }
    }

    #[test]
    fn lists_of_a_search_are_read_and_refused_by_name() {
        assert_eq!(values("panel_size", "5, none").unwrap(), serde_json::json!([5, null]));
        assert_eq!(
            values("rule.kind", "nearest,gaussian").unwrap(),
            serde_json::json!(["nearest", "gaussian"])
        );
        for (path, list, word) in [
            ("ridge", "0.1,inf", "`ridge` is inf, but must be finite"),
            ("ridge", "", "`ridge` is \"\", but must be a number"),
            ("nonzeros", "5,5", "given twice"),
            ("refit.kind", "none,best", "must be one of"),
            ("penalty.gamma", "2", "does not try values of `penalty.gamma`"),
        ] {
            let message = values(path, list).unwrap_err().to_string();
            assert!(message.contains(word), "{message}");
        }
    }

    #[test]
    fn what_is_wrong_is_told_in_the_words_of_the_file() {
        for (text, expected) in [
            ("ridge = \"a\"", "`ridge` is \"a\", but must be a number"),
            ("nonzeros = -1", "`nonzeros` is -1, but must be a whole number"),
            ("penalty = \"lo\"", "`penalty.kind` is \"lo\", but must be one of l1, adaptive"),
            ("kappa = 0.1", "there is no parameter `kappa`: use manifold.kappa"),
            ("[penalty]\ngama = 3", "there is no parameter `penalty.gama`: penalty has kind, gamma"),
            ("nonsense = 3", "there are components, nonzeros"),
            ("preset = \"papier\"", "`preset` is \"papier\", but must be one of default, stable, paper"),
            ("[rule]\npriors = \"even\"", "must be train, equal, or one number per class"),
        ] {
            let message = read(text).unwrap_err().to_string();
            assert!(message.contains(expected), "{text}: {message}");
        }
    }
}
