//! The panel against the samples, standardized, both ordered by hierarchical clustering.

use menet::Dataset;
use serde::Serialize;

use super::values::{columns, mean_and_deviation, share};
use crate::validate::Validation;
use crate::validate::cluster::order;

/// How many variables figures show.
pub(crate) const VARIABLES: usize = 60;

/// How many samples are shown, about.
const SAMPLES: usize = 400;

/// With more classes, samples are ordered inside their classes.
const MIXED: usize = 12;

/// Variables from the top, samples from the left.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Heatmap {
    /// The places of the variables among those given.
    pub variables: Vec<usize>,
    /// The samples.
    pub samples: Vec<usize>,
    /// Their classes.
    pub classes: Vec<usize>,
    /// Standard deviations from the mean over all samples: one list per variable, one value per sample.
    pub values: Vec<Vec<f64>>,
    /// Whether samples are ordered across classes.
    pub mixed: bool,
}

impl Heatmap {
    /// The chart of some variables, one list of values per variable, whose samples are of `count` classes.
    pub fn new(columns: &[Vec<f64>], classes: &[usize], count: usize) -> Self {
        let some = share(classes, count, SAMPLES);
        let standardized: Vec<Vec<f64>> = columns
            .iter()
            .map(|column| {
                let (mean, deviation) = mean_and_deviation(column);
                let scale = if deviation > 0.0 { 1.0 / deviation } else { 0.0 };
                some.iter().map(|&i| (column[i] - mean) * scale).collect()
            })
            .collect();
        let own: Vec<usize> = some.iter().map(|&i| classes[i]).collect();
        let mixed = count <= MIXED;
        let (variables, across) = (order(&standardized), sample_order(&standardized, &own, mixed));
        Heatmap {
            values: variables.iter().map(|&k| across.iter().map(|&i| standardized[k][i]).collect()).collect(),
            samples: across.iter().map(|&i| some[i]).collect(),
            classes: across.iter().map(|&i| own[i]).collect(),
            variables,
            mixed,
        }
    }
}

/// The chart of at most so many variables of the panel; none without a panel.
pub(crate) fn heatmap(validation: &Validation, data: &Dataset<'_>, most: usize) -> Option<Heatmap> {
    let variables: Vec<usize> = validation.panel.iter().take(most).map(|entry| entry.variable).collect();
    let chart = || Heatmap::new(&columns(data, &variables), data.class_indices(), data.classes().len());
    (!variables.is_empty()).then(chart)
}

/// Samples by clustering; inside their classes if they are not mixed.
fn sample_order(standardized: &[Vec<f64>], classes: &[usize], mixed: bool) -> Vec<usize> {
    let rows: Vec<Vec<f64>> =
        (0..classes.len()).map(|i| standardized.iter().map(|column| column[i]).collect()).collect();
    if mixed {
        return order(&rows);
    }
    let mut across = Vec::with_capacity(rows.len());
    for class in 0..classes.iter().max().map_or(0, |most| most + 1) {
        let members: Vec<usize> = (0..rows.len()).filter(|&i| classes[i] == class).collect();
        let own: Vec<Vec<f64>> = members.iter().map(|&i| rows[i].clone()).collect();
        across.extend(order(&own).into_iter().map(|place| members[place]));
    }
    across
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_stay_inside_their_classes_unless_mixed() {
        let values = vec![vec![0.0, 9.0, 0.1, 9.1, 0.2, 5.0]];
        let classes = [0, 1, 1, 0, 0, 1];
        let apart: Vec<usize> = sample_order(&values, &classes, false).iter().map(|&i| classes[i]).collect();
        assert_eq!(apart, [0, 0, 0, 1, 1, 1]);
        let mixed: Vec<usize> = sample_order(&values, &classes, true).iter().map(|&i| classes[i]).collect();
        assert_ne!(mixed, apart);
    }
}
