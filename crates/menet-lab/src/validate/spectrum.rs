//! Spectra: variables whose names are places on an axis.

use menet::Dataset;
use menet::dataset::View;

/// The fewest variables that make a spectrum.
const SPECTRUM: usize = 10;

/// Where the variables are on a numeric axis: their names, if these are numbers that rise or fall throughout. Numbers in no order are
/// more likely the keys of a database.
pub(crate) fn numeric_axis(data: &Dataset<'_>) -> Option<Vec<f64>> {
    let names = data.feature_names().filter(|names| names.len() >= SPECTRUM)?;
    let at: Vec<f64> = names
        .iter()
        .map(|name| name.trim().parse().ok().filter(|x: &f64| x.is_finite()))
        .collect::<Option<_>>()?;
    let all = |before: fn(f64, f64) -> bool| at.windows(2).all(|pair| before(pair[0], pair[1]));
    (all(|a, b| a < b) || all(|a, b| a > b)).then_some(at)
}

/// The mean of every variable in every class.
pub(crate) fn class_means(data: &Dataset<'_>) -> Vec<Vec<f64>> {
    let mut sums = vec![vec![0.0; data.variables()]; data.classes().len()];
    for i in 0..data.samples() {
        let sums = &mut sums[data.class_of(i)];
        match data.view() {
            View::Double(x) => sums.iter_mut().zip(x.row(i).iter()).for_each(|(sum, x)| *sum += x),
            View::Single(x) => {
                sums.iter_mut().zip(x.row(i).iter()).for_each(|(sum, &x)| *sum += f64::from(x));
            }
            View::Sparse(x) => x.row(i).for_each(|(j, x)| sums[j] += x),
        }
    }
    for (class, sums) in sums.iter_mut().enumerate() {
        let n = data.members(class).len() as f64;
        sums.iter_mut().for_each(|sum| *sum /= n);
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;

    #[test]
    fn only_numbers_in_order_make_a_spectrum() {
        let named = |name: fn(usize) -> String| {
            let data = Dataset::from_owned(Mat::zeros(2, 12), &["a", "b"]).unwrap();
            numeric_axis(&data.with_feature_names((0..12).map(name).collect()).unwrap())
        };
        assert_eq!(named(|j| format!("{}", 400 + 2 * j)).unwrap()[11], 422.0);
        assert!(named(|j| format!("{}", -(j as f64))).is_some());
        assert!(named(|j| format!("{}", j * 7 % 12)).is_none(), "keys are in no order");
        assert!(named(|j| format!("gene {j}")).is_none());
        assert!(named(|j| if j == 5 { "NaN".to_owned() } else { j.to_string() }).is_none());
    }

    #[test]
    fn class_means_are_means() {
        let x = faer::mat![[1.0, 0.0], [3.0, 4.0], [5.0, 6.0f64]];
        let data = Dataset::from_owned(x, &["a", "a", "b"]).unwrap();
        assert_eq!(class_means(&data), [[2.0, 2.0], [5.0, 6.0]]);
    }
}
