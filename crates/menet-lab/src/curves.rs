//! Results as curves: the settings, and the rates of each method at each dimension.

use std::collections::BTreeMap;

use crate::study::Study;

/// A data set and a number of training samples per class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TrainingSetting {
    pub(crate) data: String,
    pub(crate) train: usize,
}

/// Rates over the repeats, by dimension.
pub(crate) type Curve = BTreeMap<usize, Vec<f64>>;

/// All settings, in the order of their first appearance in the study.
pub(crate) fn settings(study: &Study) -> Vec<TrainingSetting> {
    let summary = study.summary.iter().map(|row| (&row.data, row.train_per_class));
    let results = study.results.iter().map(|row| (&row.data, row.train_per_class));
    let showcases = study.showcases.iter().map(|showcase| (&showcase.data, showcase.train_per_class));
    let mut out: Vec<TrainingSetting> = Vec::new();
    for (data, train) in summary.chain(results).chain(showcases) {
        let setting = TrainingSetting { data: data.clone(), train };
        if !out.contains(&setting) {
            out.push(setting);
        }
    }
    out
}

/// All methods: those that the study lists, then any that only its rows name.
pub(crate) fn methods(study: &Study) -> Vec<String> {
    let mut out = study.methods.clone();
    let summary = study.summary.iter().map(|row| &row.method);
    for method in summary.chain(study.results.iter().map(|row| &row.method)) {
        if !out.contains(method) {
            out.push(method.clone());
        }
    }
    out
}

/// The curve of every method in one setting, with the position of the method in [`methods`]. Methods without rows and rates
/// that are not finite are left out.
pub(crate) fn curves(study: &Study, setting: &TrainingSetting) -> Vec<(usize, String, Curve)> {
    let all = methods(study).into_iter().enumerate();
    all.filter_map(|(place, method)| {
        let mut curve = Curve::new();
        let rows = study.results.iter().filter(|row| {
            row.data == setting.data && row.train_per_class == setting.train && row.method == method
        });
        for row in rows.filter(|row| row.rate.is_finite()) {
            curve.entry(row.dimension).or_default().push(row.rate);
        }
        (!curve.is_empty()).then_some((place, method, curve))
    })
    .collect()
}

/// The mean, and the standard deviation over n−1; none for a single value.
pub(crate) fn mean_and_sd(values: &[f64]) -> (f64, Option<f64>) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    (mean, (values.len() > 1).then(|| (squares / (n - 1.0)).sqrt()))
}

/// Whether any dimension has more than one rate.
pub(crate) fn has_spread(curve: &Curve) -> bool {
    curve.values().any(|rates| rates.len() > 1)
}

/// How many dimensions box plots show, as in the paper.
const SHOWN: usize = 10;

/// The dimensions that box plots show: all if there are few, the last ten of up to twice as many, otherwise ten that are
/// spread evenly up to the last.
pub(crate) fn shown_dimensions(curves: &[(usize, String, Curve)]) -> Vec<usize> {
    let mut all: Vec<usize> = curves.iter().flat_map(|(_, _, curve)| curve.keys().copied()).collect();
    all.sort_unstable();
    all.dedup();
    let n = all.len();
    if n <= 2 * SHOWN {
        return all.split_off(n.saturating_sub(SHOWN));
    }
    (1..=SHOWN).map(|i| all[i * n / SHOWN - 1]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_repeat_has_no_spread() {
        assert_eq!(mean_and_sd(&[3.0]), (3.0, None));
        assert_eq!(mean_and_sd(&[1.0, 3.0]), (2.0, Some(2.0_f64.sqrt())));
    }

    #[test]
    fn ten_dimensions_are_shown() {
        let of = |n: usize| {
            let curve: Curve = (1..=n).map(|d| (d, vec![1.0])).collect();
            shown_dimensions(&[(0, "m".to_owned(), curve)])
        };
        assert_eq!(of(3), [1, 2, 3]);
        assert_eq!(of(14), (5..=14).collect::<Vec<_>>());
        assert_eq!(of(39).len(), 10);
        assert_eq!(of(39).last(), Some(&39));
    }
}
