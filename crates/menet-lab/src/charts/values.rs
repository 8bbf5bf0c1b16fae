//! What several figures read off the data and the panel.

use std::ops::RangeInclusive;

use menet::Dataset;
use menet::dataset::View;

use crate::names::{name_of, named, shown};
use crate::validate::Validation;

/// The values of some variables, one list per variable.
pub(crate) fn columns(data: &Dataset<'_>, variables: &[usize]) -> Vec<Vec<f64>> {
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
pub(crate) fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let finite = || values.iter().copied().filter(|value| value.is_finite());
    let count = finite().count().max(1) as f64;
    let mean = finite().sum::<f64>() / count;
    let square = finite().map(|value| (value - mean) * (value - mean)).sum::<f64>();
    (mean, (square / (count - 1.0).max(1.0)).sqrt())
}

/// At most about `most` samples, the same share of every class; all if they are no more.
pub(crate) fn some_samples(data: &Dataset<'_>, most: usize) -> Vec<usize> {
    share(data.class_indices(), data.classes().len(), most)
}

/// Like [`some_samples`], of samples of `count` classes.
pub(crate) fn share(classes: &[usize], count: usize, most: usize) -> Vec<usize> {
    let step = classes.len().div_ceil(most).max(1);
    let mut seen = vec![0; count];
    let kept = |&i: &usize| {
        seen[classes[i]] += 1;
        (seen[classes[i]] - 1_usize).is_multiple_of(step)
    };
    (0..classes.len()).filter(kept).collect()
}

/// The name of a variable, its position in the image, or its number from 1, as in `panel.csv`.
pub(crate) fn variable(data: &Dataset<'_>, j: usize) -> String {
    named(&name_of(data.feature_names(), data.image_shape(), j))
}

/// A class in a figure.
pub(crate) fn class(validation: &Validation, class: usize, most: usize) -> String {
    shown(&named(&validation.classes[class]), most)
}

/// Round numbers from the first one at or above the start of a range, at most about `most`.
pub(crate) fn ticks(range: &RangeInclusive<f64>, most: usize) -> Vec<f64> {
    let (low, high) = (*range.start(), *range.end());
    let span = (high - low).max(f64::MIN_POSITIVE);
    let power = 10_f64.powf((span / most as f64).log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|unit| unit * power).into_iter().find(|s| span / s <= most as f64);
    let step = step.unwrap_or(span);
    let first = (low / step - 1e-9).ceil();
    (0..=most).map(|i| (first + i as f64) * step).filter(|&tick| tick <= high + step * 1e-9).collect()
}

/// The parts of a colour `#rrggbb`.
pub(crate) fn rgb(colour: &str) -> [u8; 3] {
    let part = |at: usize| colour.get(at..at + 2).and_then(|hex| u8::from_str_radix(hex, 16).ok());
    [1, 3, 5].map(|at| part(at).unwrap_or(0))
}

/// How many pixels the longest of some names takes at a font size, about.
pub(crate) fn longest(names: &[String], size: f64) -> f64 {
    names.iter().map(|name| name.chars().count()).max().unwrap_or(0) as f64 * size * 0.62
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
        assert_eq!(rgb("#0072b2"), [0, 0x72, 0xb2]);
    }
}
