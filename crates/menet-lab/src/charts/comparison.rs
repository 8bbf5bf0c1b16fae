//! The balanced accuracy of every method on the same splits, with intervals.

use serde::Serialize;

use super::text::{counted, percent};
use crate::names::{named, shown};
use crate::validate::{MethodResult, Validation};

/// How good some methods are, one below the other. Accuracies are fractions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Comparison {
    /// What is shown, and of which data.
    pub(crate) title: String,
    /// What a reader should know, in a line.
    pub(crate) note: String,
    /// The accuracy of guessing.
    pub(crate) chance: f64,
    /// The ends of the axis.
    pub(crate) limits: (f64, f64),
    /// The methods, the one that the validation is about first.
    pub(crate) methods: Vec<ComparedMethod>,
}

/// One method.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct ComparedMethod {
    /// Its name.
    pub(crate) name: String,
    /// Its balanced accuracy.
    pub(crate) mean: f64,
    /// The ends of the interval.
    pub(crate) ends: (f64, f64),
    /// The numbers in words.
    pub(crate) text: String,
}

/// None with one method.
pub(crate) fn comparison(validation: &Validation) -> Option<Comparison> {
    let methods = validation.methods.iter().filter(|method| method.balanced.mean.is_finite());
    let methods: Vec<ComparedMethod> = methods.map(compared).collect();
    let chance = validation.chance();
    let least = methods.iter().map(|method| method.ends.0).fold(chance, f64::min);
    let design = &validation.design;
    let folds = if design.leave_one_group_out {
        "one group left out at a time".to_owned()
    } else {
        format!("{} × {}", counted(design.repeats, "repeat"), counted(design.folds, "fold"))
    };
    (methods.len() > 1).then(|| Comparison {
        title: format!("Methods on the same splits: {}", shown(&validation.data, 28)),
        note: format!(
            "balanced accuracy on held-out samples with its 95 % interval; {folds}; dashed: chance"
        ),
        chance,
        limits: ((least * 10.0).floor() / 10.0, 1.0),
        methods,
    })
}

fn compared(method: &MethodResult) -> ComparedMethod {
    let variables = if method.variables.is_finite() && method.variables > 0.0 {
        format!(", {:.0} variables", method.variables)
    } else {
        String::new()
    };
    let (low, high) = method.balanced.ends();
    ComparedMethod {
        name: shown(&named(&method.name), 20),
        mean: method.balanced.mean.clamp(0.0, 1.0),
        ends: (low.clamp(0.0, 1.0), high.clamp(0.0, 1.0)),
        text: format!("{}{variables}", percent(&method.balanced)),
    }
}
