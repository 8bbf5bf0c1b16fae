//! One step of the walk.

use toml::{Table, Value};

use crate::space::Parameter;

/// The setting with one parameter moved a step along its values; none at the end of the list.
pub(super) fn step(setting: &Table, parameter: &Parameter, up: bool) -> Option<Table> {
    let now = setting.get(parameter.name);
    let number = |value: Option<&Value>| match value {
        Some(Value::Float(x)) => Some(*x),
        Some(Value::Integer(x)) => Some(*x as f64),
        _ => None,
    };
    let exact = parameter.values.iter().position(|value| value.as_ref() == now);
    // A value that is not in the list moves to the next one in the list.
    let next = match exact {
        Some(at) if up => parameter.values.get(at + 1),
        Some(at) => at.checked_sub(1).map(|at| &parameter.values[at]),
        None if up => parameter.values.iter().find(|value| number(value.as_ref()) > number(now)),
        None => parameter.values.iter().rev().find(|value| number(value.as_ref()) < number(now)),
    }?;
    let mut moved = setting.clone();
    match next {
        Some(value) => moved.insert(parameter.name.to_owned(), value.clone()),
        None => moved.remove(parameter.name),
    };
    Some(moved)
}
