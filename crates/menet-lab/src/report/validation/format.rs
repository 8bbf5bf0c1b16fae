//! Numbers in text.

use crate::validate::Interval;

/// `12,345`.
pub(super) fn count(n: usize) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// `1 fold`, `12 folds`.
pub(super) fn counted(n: usize, what: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{} {what}{plural}", count(n))
}

/// A fraction in percent.
pub(super) fn percent(fraction: f64) -> String {
    format!("{:.1}\u{a0}%", 100.0 * fraction)
}

/// `93.1 % (88.0 to 97.2)`
pub(super) fn percent_with(interval: &Interval) -> String {
    let Interval { mean, low, high } = interval;
    format!("{} ({:.1} to {:.1})", percent(*mean), 100.0 * low, 100.0 * high)
}

/// `0.931 (0.880 to 0.972)`
pub(super) fn plain_with(interval: &Interval, digits: usize) -> String {
    let Interval { mean, low, high } = interval;
    format!("{mean:.digits$} ({low:.digits$} to {high:.digits$})").replace('-', "−")
}

/// A probability in two digits that count: `0.25`, `0.0010`, `1.2e−7`.
pub(super) fn probability(p: f64) -> String {
    if p == 0.0 {
        return "0".to_owned();
    }
    if p < 1e-4 {
        return format!("{p:.1e}").replace('-', "−");
    }
    let digits = (1.0 - p.log10().floor()).clamp(2.0, 6.0) as usize;
    format!("{p:.digits$}")
}

/// A number of any size in a few digits.
pub(super) fn short(value: f64) -> String {
    let plain = value == 0.0 || (0.001..1e5).contains(&value.abs());
    if plain { format!("{value:.3}") } else { format!("{value:.2e}") }.replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(count(999), "999");
        assert_eq!(counted(1, "fold"), "1 fold");
        assert_eq!(counted(2000, "fold"), "2,000 folds");
        assert_eq!(probability(0.25), "0.25");
        assert_eq!(probability(0.001), "0.0010");
        assert_eq!(probability(1.0), "1.00");
        assert_eq!(probability(1.23e-7), "1.2e−7");
        assert_eq!(short(-0.5), "−0.500");
    }
}
