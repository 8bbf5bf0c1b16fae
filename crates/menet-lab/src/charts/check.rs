//! Whether results are of the data that they are drawn with.

use menet::Dataset;

use crate::error::{Error, Result};
use crate::validate::{PanelEntry, Validation};

/// Refuses results that are not of these data, so that no drawing reads beyond an end.
pub(crate) fn check(validation: &Validation, data: &Dataset<'_>) -> Result<()> {
    let (n, p, classes) = (data.samples(), data.variables(), data.classes().len());
    let mut sizes = vec![
        ("`variables`", validation.variables, p),
        ("the list of classes", validation.classes.len(), classes),
        ("the list of class sizes", validation.class_sizes.len(), classes),
    ];
    for method in &validation.methods {
        sizes.push(("a method's list of samples", method.samples.len(), n));
        sizes.push(("a confusion matrix", method.confusion.len(), classes));
        sizes.extend(method.confusion.iter().map(|row| ("a row of a confusion matrix", row.len(), classes)));
        for sample in method.samples.iter().filter(|sample| !sample.probabilities.is_empty()) {
            sizes.push(("a sample's list of probabilities", sample.probabilities.len(), classes));
        }
        let below = method.samples.iter().filter(|sample| sample.class >= classes).count();
        sizes.push(("the list of samples of unknown classes", below, 0));
    }
    let axes = validation.panel.first().map_or(0, |entry| entry.weights.len());
    for entry in &validation.panel {
        sizes.push(("a variable's list of weights", entry.weights.len(), axes));
    }
    if let Some(models) = &validation.models {
        sizes.push(("the final model", models.all.projection().variables(), p));
        sizes.push(("the model of a fold", models.fold.projection().variables(), p));
    }
    if let Some((what, given, expected)) = sizes.into_iter().find(|&(_, given, expected)| given != expected) {
        return Err(Error::Study(format!("{what} has size {given}, but the data ask for {expected}")));
    }
    let frequent = validation
        .stability
        .iter()
        .flat_map(|found| found.frequencies.iter().chain(&found.stable_frequencies));
    let variables = validation.panel.iter().map(|entry| entry.variable);
    if let Some(j) = variables.chain(frequent.map(|&(j, _)| j)).find(|&j| j >= p) {
        return Err(Error::Study(format!("variable {j} is beyond the {p} variables of the data")));
    }
    let unknown = |entry: &&PanelEntry| entry.class.is_some_and(|class| class >= classes);
    if let Some(entry) = validation.panel.iter().find(unknown) {
        return Err(Error::Study(format!(
            "variable {} speaks for a class that the data lack",
            entry.variable
        )));
    }
    let split =
        validation.models.iter().flat_map(|models| models.split.train.iter().chain(&models.split.test));
    match split.copied().find(|&i| i >= n) {
        Some(i) => Err(Error::Study(format!("row {i} of a fold is beyond the {n} samples of the data"))),
        None => Ok(()),
    }
}
