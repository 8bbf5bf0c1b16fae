//! What permuted labels reach, in columns, and what the true labels reach.

use super::lines::{Axis, Lines, Series, Upright};
use super::text::{counted, fraction};
use crate::names::shown;
use crate::palette::look;
use crate::validate::{Interval, PermutationTest, Validation};

const BINS: usize = 40;

/// None without permutations.
pub(crate) fn permutation(validation: &Validation) -> Option<Lines> {
    let test = validation.permutation.as_ref().filter(|test| test.observed.is_finite())?;
    let values: Vec<f64> =
        test.permuted.iter().map(|value| 100.0 * value).filter(|v| v.is_finite()).collect();
    if values.is_empty() {
        return None;
    }
    let upright =
        |name, at: f64, colour, dash| Upright { name: format!("{name}: {at:.1} %"), at, colour, dash };
    let observed = upright("true labels", 100.0 * test.observed, look(1).colour, "");
    let chance = upright("chance", 100.0 * validation.chance(), "#555555", "4,4");
    let columns = bins(&values, &[observed.at, chance.at]);
    // Round numbers beyond all bins, hardly above 100 %.
    let low = (columns[0].0 / 10.0).floor().max(0.0) * 10.0;
    let high = ((columns[columns.len() - 1].0 / 10.0).ceil() * 10.0).min(102.0);
    let Interval { mean, low: least, high: most } = test.p_value;
    let uncertain = if least.is_finite() && most.is_finite() {
        format!(" ({} to {})", fraction(least), fraction(most))
    } else {
        String::new()
    };
    let grey = Series { colour: "#b8b8b8".to_owned(), columns: true, points: columns, ..Series::default() };
    let x = Axis::from_to("balanced accuracy on held-out samples (%)", (low, high));
    Some(Lines {
        title: format!(
            "Could it be chance? p = {}{uncertain}: {}",
            fraction(mean),
            shown(&validation.data, 18)
        ),
        note: note(test),
        x: Axis { step: Some(10.0), ..x },
        y: Axis::new("permutations"),
        series: vec![grey.named("permuted labels")],
        uprights: vec![observed, chance],
        ..Lines::default()
    })
}

fn note(test: &PermutationTest) -> String {
    let done = counted(test.permuted.len(), "permutation");
    let early = if test.early {
        format!(" of {}, stopped early because the answer was clear", test.asked)
    } else {
        String::new()
    };
    format!("{done}{early}; {} as good as the true labels or better", test.as_good)
}

/// Equal bins over the values and some more places, as left ends and counts; every value is in one.
pub fn bins(values: &[f64], more: &[f64]) -> Vec<(f64, f64)> {
    let all = || values.iter().chain(more).copied();
    let (low, high) = (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max));
    let step = [1.0, 2.0, 5.0].into_iter().find(|step| (high - low) / step <= BINS as f64 - 2.0);
    let step = step.unwrap_or((high - low) / (BINS as f64 - 2.0));
    let start = (low / step).floor() - 1.0;
    let count = ((high / step).floor() - start) as usize + 2;
    let mut counts = vec![0.0; count + 1];
    for value in values {
        counts[((value / step).floor() - start) as usize] += 1.0;
    }
    (0..=count).map(|i| (start + i as f64) * step).zip(counts).collect()
}

#[cfg(test)]
mod tests {
    use super::bins;

    #[test]
    fn every_value_is_in_a_bin_of_its_own_range() {
        let columns = bins(&[25.0, 25.4, 26.0, 31.0], &[33.0]);
        let sum = |columns: &[(f64, f64)]| columns.iter().map(|column| column.1).sum::<f64>();
        let at = |value: f64| columns.iter().rfind(|column| column.0 <= value).unwrap().1;
        assert_eq!(sum(&columns), 4.0);
        assert_eq!((at(25.2), at(26.5), at(31.0), at(33.0)), (2.0, 1.0, 1.0, 0.0));
        let columns = bins(&[50.0; 3], &[50.0]);
        assert!(columns[0].0 < 50.0 && columns[columns.len() - 1].0 > 50.0);
        assert_eq!(sum(&columns), 3.0);
    }
}
