//! Numbers in the notes of charts.

use crate::validate::Interval;

/// An interval of fractions in percent.
pub(crate) fn percent(interval: &Interval) -> String {
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
pub(crate) fn fraction(value: f64) -> String {
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

/// A count with its noun.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_said() {
        let read = [0.00012, 0.0102, 0.5, f64::NAN].map(fraction);
        assert_eq!(read, ["1.2e-4", "0.0102", "0.50", "not known"]);
        let one_sided = Interval { mean: 0.5, low: f64::NAN, high: 0.6 };
        assert_eq!(percent(&one_sided), "50.0 %");
    }
}
