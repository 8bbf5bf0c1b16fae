//! Keyword arguments as parameters of the core: serde reads them as it would read a parameter file.

use std::collections::BTreeMap;

use menet::neighbors::NeighborSearch;
use menet::operator::Definiteness;
use menet::params::Preset;
use menet::patches::REGISTRY;
use menet::penalties::PenaltyKind;
use menet::penalties::groups::GroupAxes;
use menet::plan::{GramRequest, RouteRequest};
use menet::prepare::{Impute, Scale};
use menet::refit::Refit;
use menet::rules::{Metric, RuleKind};
use menet::scores::ScoreKind;
use menet::targets::{TargetKind, TargetSpread};
use menet::{MenParams, Method, Named, VariableRef};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use serde::de::value::{Error as Refusal, MapAccessDeserializer, MapDeserializer, SeqDeserializer};
use serde::de::{Deserialize, Deserializer, IntoDeserializer, Visitor};

use crate::errors::Failure;
use crate::paths::METHODS;

/// The names and values of an estimator's parameters, those that are `None` left out: none is the default of all that
/// can be.
pub(crate) type Settings = BTreeMap<String, Setting>;

/// One value. The package passes Python's own types only.
#[derive(Debug, FromPyObject)]
pub(crate) enum Setting {
    Flag(bool),
    Whole(u64),
    Number(f64),
    Text(String),
    /// Before `Numbers`, which would take them for fractions.
    Wholes(Vec<u64>),
    Numbers(Vec<f64>),
    List(Vec<Setting>),
    Table(Settings),
}

/// The method called `name` with the parameters that `settings` spell out.
pub(crate) fn method(name: &str, settings: Settings) -> PyResult<Method> {
    let table = std::iter::once((name, Setting::Table(settings)));
    let table: MapDeserializer<'_, _, Refusal> = MapDeserializer::new(table);
    Method::deserialize(MapAccessDeserializer::new(table)).map_err(|e| PyTypeError::new_err(e.to_string()))
}

/// Refuses names of variables where the samples have none: in Python, variables without names go by their positions.
pub(crate) fn check_named(params: &MenParams, names: Option<&[String]>) -> menet::Result<()> {
    let lists = [("penalty.always", &params.penalty.always), ("penalty.never", &params.penalty.never)];
    for (parameter, list) in lists {
        let named = |one: &&VariableRef| matches!(one, VariableRef::Name(_));
        if let (None, Some(name)) = (names, list.iter().flatten().find(named)) {
            let allowed = "a list of positions: the samples have no names (a data frame would give them)";
            let (value, allowed) = (format!("a list with {name}"), allowed.to_owned());
            return Err(menet::Error::Parameter { name: parameter.into(), value, allowed });
        }
    }
    Ok(())
}

/// Looks up the variables that the settings name, before any work.
#[pyfunction]
pub(crate) fn check_variables(
    settings: Settings,
    variables: usize,
    feature_names: Option<Vec<String>>,
) -> PyResult<()> {
    let Method::Men(params) = method("men", settings)? else {
        return Err(PyTypeError::new_err("the parameters of another method"));
    };
    let names = feature_names.as_deref();
    let checked = check_named(&params, names).and_then(|()| {
        params.factors(names, variables)?;
        params.penalty.feature_graph.map_or(Ok(()), |graph| graph.edges(names, None, variables).map(drop))
    });
    Ok(checked.map_err(Failure::from)?)
}

/// The default parameters of every method, by its name, as JSON.
#[pyfunction]
pub(crate) fn defaults() -> PyResult<String> {
    let all: BTreeMap<&str, serde_json::Value> = Method::all()
        .iter()
        .map(|method| {
            // A method is a table of its parameters under its name.
            let value = serde_json::to_value(method).unwrap_or_default();
            (method.name(), value[method.name()].clone())
        })
        .collect();
    serde_json::to_string(&all).map_err(|e| PyTypeError::new_err(e.to_string()))
}

/// Every parameter of MEN, described, as JSON.
#[pyfunction]
pub(crate) fn describe() -> PyResult<String> {
    let all = menet::describe::parameters();
    serde_json::to_string(all).map_err(|e| PyTypeError::new_err(e.to_string()))
}

/// The parameters of every preset, by its name, as JSON.
#[pyfunction]
pub(crate) fn presets() -> PyResult<String> {
    let all: BTreeMap<&str, MenParams> =
        Preset::ALL.iter().map(|preset| (preset.name(), preset.params())).collect();
    serde_json::to_string(&all).map_err(|e| PyTypeError::new_err(e.to_string()))
}

/// The names that a parameter with named values may take, `method` being that of a path and `score` that of a search.
#[pyfunction]
pub(crate) fn choices() -> BTreeMap<&'static str, Vec<&'static str>> {
    fn names<T: Named>() -> (&'static str, Vec<&'static str>) {
        (T::PARAMETER, T::ALL.iter().map(|value| value.name()).collect())
    }
    let patches = REGISTRY.iter().map(|rule| rule.name()).collect();
    BTreeMap::from([
        names::<Impute>(),
        names::<Scale>(),
        names::<TargetKind>(),
        names::<TargetSpread>(),
        names::<Definiteness>(),
        names::<NeighborSearch>(),
        names::<Metric>(),
        names::<PenaltyKind>(),
        names::<Preset>(),
        names::<Refit>(),
        names::<RouteRequest>(),
        names::<RuleKind>(),
        names::<GramRequest>(),
        names::<GroupAxes>(),
        names::<ScoreKind>(),
        ("patch", patches),
        ("method", METHODS.iter().map(|&(name, _)| name).collect()),
    ])
}

impl<'de> IntoDeserializer<'de, Refusal> for Setting {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Setting {
    type Error = Refusal;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
        match self {
            Setting::Flag(value) => visitor.visit_bool(value),
            Setting::Whole(value) => visitor.visit_u64(value),
            Setting::Number(value) => visitor.visit_f64(value),
            Setting::Text(value) => visitor.visit_string(value),
            Setting::Wholes(values) => visitor.visit_seq(SeqDeserializer::new(values.into_iter())),
            Setting::List(values) => visitor.visit_seq(SeqDeserializer::new(values.into_iter())),
            Setting::Numbers(values) => visitor.visit_seq(SeqDeserializer::new(values.into_iter())),
            Setting::Table(table) => visitor.visit_map(MapDeserializer::new(table.into_iter())),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
        visitor.visit_some(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        match self {
            Setting::Text(value) => value.into_deserializer().deserialize_enum(name, variants, visitor),
            other => other.deserialize_any(visitor),
        }
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}
