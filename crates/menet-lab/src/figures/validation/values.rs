//! What several figures read off the data and the panel.

use std::ops::RangeInclusive;

use menet::Dataset;
use menet::dataset::View;

use super::super::tuning::round_number;
use crate::names::{name_of, named, shown};
use crate::validate::{Interval, PanelEntry, Validation};

/// A variable of an axis.
#[derive(Debug, Clone, Copy)]
pub(super) struct Effect {
    pub(super) variable: usize,
    /// Its weight times its standard deviation.
    pub(super) value: f64,
    /// The class that a larger value speaks for while all other variables stay as they are.
    pub(super) class: Option<usize>,
}

/// The variables of every axis of the final model, those with the largest effects first.
pub(super) fn effects(validation: &Validation, data: &Dataset<'_>) -> Vec<Vec<Effect>> {
    let axes = validation.panel.first().map_or(0, |entry| entry.weights.len());
    let deviations = deviations(&validation.panel, data);
    let of_axis = |axis: usize| {
        let entries = validation.panel.iter().zip(&deviations);
        let mut effects: Vec<Effect> = entries
            .map(|(entry, deviation)| {
                let value = entry.weights[axis] * deviation;
                Effect { variable: entry.variable, value, class: entry.class }
            })
            .filter(|effect| effect.value != 0.0 && effect.value.is_finite())
            .collect();
        effects.sort_by(|a, b| b.value.abs().total_cmp(&a.value.abs()).then(a.variable.cmp(&b.variable)));
        effects
    };
    (0..axes).map(of_axis).collect()
}

/// The standard deviations of the panel; those that the results do not tell are computed.
fn deviations(panel: &[PanelEntry], data: &Dataset<'_>) -> Vec<f64> {
    let unknown: Vec<usize> =
        panel.iter().filter(|entry| entry.deviation.is_none()).map(|entry| entry.variable).collect();
    let mut computed = columns(data, &unknown).into_iter().map(|column| mean_and_deviation(&column).1);
    let known = |entry: &PanelEntry| entry.deviation.or_else(|| computed.next()).unwrap_or(0.0);
    panel.iter().map(known).collect()
}

/// The values of some variables, one list per variable.
pub(super) fn columns(data: &Dataset<'_>, variables: &[usize]) -> Vec<Vec<f64>> {
    let n = data.samples();
    match data.view() {
        View::Double(x) => variables.iter().map(|&j| (0..n).map(|i| x[(i, j)]).collect()).collect(),
        View::Single(x) => {
            variables.iter().map(|&j| (0..n).map(|i| f64::from(x[(i, j)])).collect()).collect()
        }
        View::Sparse(x) => {
            let mut places = vec![usize::MAX; data.variables()];
            variables.iter().enumerate().for_each(|(k, &j)| places[j] = k);
            let mut columns = vec![vec![0.0; n]; variables.len()];
            for i in 0..n {
                for (j, value) in x.row(i).filter(|&(j, _)| places[j] != usize::MAX) {
                    columns[places[j]][i] = value;
                }
            }
            columns
        }
    }
}

/// The mean and the standard deviation of finite values; zeros if there are none.
pub(super) fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let finite = || values.iter().copied().filter(|value| value.is_finite());
    let count = finite().count().max(1) as f64;
    let mean = finite().sum::<f64>() / count;
    let square = finite().map(|value| (value - mean) * (value - mean)).sum::<f64>();
    (mean, (square / (count - 1.0).max(1.0)).sqrt())
}

/// At most about `most` samples, the same share of every class; all if they are no more.
pub(super) fn some_samples(data: &Dataset<'_>, most: usize) -> Vec<usize> {
    let step = data.samples().div_ceil(most).max(1);
    let mut rows: Vec<usize> = (0..data.classes().len())
        .flat_map(|class| data.members(class).iter().copied().step_by(step))
        .collect();
    rows.sort_unstable();
    rows
}

/// The name of a variable, its position in the image, or its number from 1, as in `panel.csv`.
pub(super) fn variable(data: &Dataset<'_>, j: usize) -> String {
    named(&name_of(data.feature_names(), data.image_shape(), j))
}

/// A class in a figure.
pub(super) fn class(validation: &Validation, class: usize, most: usize) -> String {
    shown(&named(&validation.classes[class]), most)
}

/// An interval of fractions in percent.
pub(super) fn percent(interval: &Interval) -> String {
    let Interval { mean, low, high } = interval;
    if !mean.is_finite() {
        return "not known".to_owned();
    }
    if !(low.is_finite() && high.is_finite()) {
        return format!("{:.1} %", 100.0 * mean);
    }
    format!("{:.1} % ({:.1} to {:.1})", 100.0 * mean, 100.0 * low, 100.0 * high)
}

/// A probability or an index in two or three digits.
pub(super) fn fraction(value: f64) -> String {
    if value == 0.0 {
        "0".to_owned()
    } else if !value.is_finite() {
        "not known".to_owned()
    } else if value.abs() < 0.001 {
        format!("{value:.1e}")
    } else if value.abs() < 0.1 {
        format!("{value:.4}")
    } else {
        format!("{value:.2}")
    }
}

/// Round numbers from the first one at or above the start of a range, at most about `most`.
pub(super) fn ticks(range: &RangeInclusive<f64>, most: usize) -> Vec<f64> {
    let (low, high) = (*range.start(), *range.end());
    let span = (high - low).max(f64::MIN_POSITIVE);
    let power = 10_f64.powf((span / most as f64).log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|unit| unit * power).into_iter().find(|s| span / s <= most as f64);
    let step = step.unwrap_or(span);
    let first = (low / step - 1e-9).ceil();
    (0..=most).map(|i| (first + i as f64) * step).filter(|&tick| tick <= high + step * 1e-9).collect()
}

/// The parts of a colour `#rrggbb`.
pub(super) fn rgb(colour: &str) -> [u8; 3] {
    let part = |at: usize| colour.get(at..at + 2).and_then(|hex| u8::from_str_radix(hex, 16).ok());
    [1, 3, 5].map(|at| part(at).unwrap_or(0))
}

/// A colour `#rrggbb` most of the way to white: kuva makes only some markers transparent.
pub(super) fn faded(colour: &str) -> String {
    let [red, green, blue] = rgb(colour).map(|part| ((u16::from(part) + 2 * 255) / 3) as u8);
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// How many pixels the longest of some names takes at a font size, about.
pub(super) fn longest(names: &[String], size: f64) -> f64 {
    names.iter().map(|name| name.chars().count()).max().unwrap_or(0) as f64 * size * 0.62
}

/// Where a logarithmic axis begins: at a round number, or a little below 1 so that a point at 1 is drawn whole.
pub(super) fn first_end(least: f64) -> f64 {
    if least < 1.1 { 0.85 } else { round_number(least / 1.1, false) }
}

/// A count with its noun.
pub(super) fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::mat;

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(ticks(&(0.0..=1.0), 5), [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]);
        assert_eq!(ticks(&(3.0..=27.0), 5), [5.0, 10.0, 15.0, 20.0, 25.0]);
    }

    #[test]
    fn every_kind_of_data_has_the_same_columns() {
        let x = mat![[0.0, 1.5, 2.0], [3.0, 0.0, 5.0f64]];
        let single = mat![[0.0, 1.5, 2.0], [3.0, 0.0, 5.0f32]];
        let codes = || (vec![0, 1], vec!["a".to_owned(), "b".to_owned()]);
        let sparse =
            menet::sparse::SparseMatrix::from_rows((2, 3), &[0, 2, 4], &[1, 2, 0, 2], &[1.5, 2.0, 3.0, 5.0]);
        let (given, names) = codes();
        let sets = [
            Dataset::new(x.as_ref(), &["a", "b"]).unwrap(),
            Dataset::from_codes(single.as_ref(), given, names).unwrap(),
            Dataset::from_codes(sparse.unwrap(), codes().0, codes().1).unwrap(),
        ];
        for data in &sets {
            assert_eq!(columns(data, &[2, 0]), [[2.0, 5.0], [0.0, 3.0]]);
        }
    }

    #[test]
    fn names_are_never_blank() {
        assert_eq!(named(" "), "(no name)");
        assert_eq!(
            (fraction(0.00012), fraction(0.0102), fraction(0.5)),
            ("1.2e-4".into(), "0.0102".into(), "0.50".into())
        );
        assert_eq!((rgb("#0072b2"), faded("#0072b2")), ([0, 0x72, 0xb2], "#aad0e5".to_owned()));
        let one_sided = Interval { mean: 0.5, low: f64::NAN, high: 0.6 };
        assert_eq!(percent(&one_sided), "50.0 %");
    }
}
