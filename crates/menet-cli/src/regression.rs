//! Labels that look like a regression target or like names of samples, not like classes.

/// Up to this many values of a numeric label are accepted as classes.
const FEW: usize = 20;

/// Why labels are doubtful as classes, and what to do; none if they look like classes.
///
/// Labels are doubtful if every sample has its own; if they are numbers with fractions and more than 20 values; or if they
/// are numbers with more values than half of the samples, and have fractions or more than 20 values.
pub(crate) fn doubt(labels: &[String]) -> Option<String> {
    let mut distinct: Vec<&str> = labels.iter().map(String::as_str).collect();
    distinct.sort_unstable();
    distinct.dedup();
    let (n, c) = (labels.len(), distinct.len());
    // Two or three samples are too few to judge.
    if n < 4 {
        return None;
    }
    let values: Option<Vec<f64>> = distinct
        .iter()
        .map(|label| label.trim().parse().ok().filter(|value: &f64| value.is_finite()))
        .collect();
    let numeric = values.is_some();
    let fraction = values.is_some_and(|values| values.iter().any(|value| value.fract() != 0.0));
    let many = fraction && c > FEW;
    let most = 2 * c > n && c > 2 && (fraction || c > FEW);
    match (numeric, c == n) {
        (true, all) if all || many || most => Some(format!(
            "the label has {c} different numbers for {n} samples, so it looks like a regression target, but menet needs classes; \
             group the numbers into a few classes (low, middle, high), or name another column with --label"
        )),
        (false, true) => Some(format!(
            "each of the {n} samples has its own class, so the label looks like a name of the sample; name the column of \
             classes with --label"
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(n: usize, label: impl Fn(usize) -> String) -> Option<String> {
        doubt(&(0..n).map(label).collect::<Vec<_>>())
    }

    #[test]
    fn classes_are_classes() {
        assert_eq!(of(100, |i| ["a", "b"][i % 2].to_owned()), None);
        assert_eq!(of(1797, |i| (i % 10).to_string()), None);
        assert_eq!(of(400, |i| (i / 10).to_string()), None, "forty people, ten pictures each");
        assert_eq!(of(12, |i| (i % 6).to_string()), None, "two samples per class");
        assert_eq!(of(60, |i| format!("{}", (i % 4) as f64 / 2.0)), None, "four doses");
        assert_eq!(of(80, |i| format!("name {}", i / 2)), None, "names may be many");
        assert_eq!(of(2, |i| i.to_string()), None);
        assert_eq!(of(0, |i| i.to_string()), None);
        assert_eq!(of(30, |_| "1.5".to_owned()), None);
    }

    #[test]
    fn a_measurement_is_no_class() {
        for (why, warning) in [
            ("all differ", of(50, |i| format!("{}", i as f64 * 0.37))),
            ("few samples", of(8, |i| format!("{}", (i.min(6)) as f64 * 1.1))),
            ("rounded to tenths", of(5000, |i| format!("{:.1}", (i % 200) as f64 / 10.0))),
            ("whole numbers", of(100, |i| (i * 7 % 60).to_string())),
            ("every sample one", of(4, |i| i.to_string())),
        ] {
            assert!(
                warning.as_ref().is_some_and(|warning| warning.contains("regression target")),
                "{why}: {warning:?}"
            );
        }
    }

    #[test]
    fn names_of_samples_are_no_classes() {
        assert!(of(30, |i| format!("patient {i}")).unwrap().contains("name of the sample"));
        // One number among names is not a measurement.
        assert!(
            of(5, |i| if i == 0 { "1.5".to_owned() } else { format!("p{i}") }).unwrap().contains("--label")
        );
    }
}
