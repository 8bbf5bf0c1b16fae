//! One normal form for class labels, so that a class is the same class in every file and format.
//!
//! | in the file | label |
//! |---|---|
//! | ` x `, `x` | `x`: spaces around a label do not count |
//! | `1`, `+1`, `1.0`, `1.000e+00`, the number 1 of any type | `1` |
//! | `1.50` | `1.5` |
//! | `True`, `TRUE`, `true`, a truth value | `true`; it is not the class `1` |
//! | `007`, `1E3` | unchanged: with a leading zero, or an exponent without a point, they are codes, not numbers |
//! | `NA`, `NaN`, `null`, `?` and the like, an empty field, a null | no label |
//!
//! Whole numbers are compared digit by digit, so numbers above 2^53 stay distinct. A sample without a label has an empty text.

/// Texts that stand for a missing value or label.
pub const MISSING: [&str; 15] =
    ["", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NAN", "-nan", "-NaN", "NaT", "null", "NULL", "?"];

/// The normal form of a label; empty where it is missing.
pub fn normal(text: &str) -> String {
    let text = text.trim();
    if MISSING.contains(&text) {
        return String::new();
    }
    match text {
        "True" | "TRUE" | "true" => return from_bool(true),
        "False" | "FALSE" | "false" => return from_bool(false),
        _ => {}
    }
    whole(text).or_else(|| decimal(text)).unwrap_or_else(|| text.to_owned())
}

/// The label of a truth value.
pub fn from_bool(value: bool) -> String {
    value.to_string()
}

/// The label of a number; missing if it is NaN.
pub fn from_number(value: f64) -> String {
    match value {
        _ if value.is_nan() => String::new(),
        0.0 => "0".to_owned(),
        // A value that single precision holds is printed in single precision: 0.1, not 0.10000000149011612.
        _ if value.fract() != 0.0 && f64::from(value as f32) == value => (value as f32).to_string(),
        // Larger numbers would show digits that double precision does not have.
        _ if value.abs() < 1e21 => value.to_string(),
        _ => format!("{value:e}"),
    }
}

/// The labels of the data that a model does not know, each once, in order.
pub fn unknown<'a>(labels: &'a [String], classes: &[String]) -> Vec<&'a str> {
    let known: std::collections::HashSet<String> = classes.iter().map(|class| normal(class)).collect();
    let mut seen = std::collections::BTreeSet::new();
    seen.extend(labels.iter().filter(|label| !label.is_empty() && !known.contains(&normal(label))));
    seen.into_iter().map(String::as_str).collect()
}

/// `1`, `+1`, `-0`, `1.`, `1.00`: the digits of a whole number, however long.
fn whole(text: &str) -> Option<String> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let (digits, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let plain = !digits.is_empty()
        && digits.bytes().all(|b| b.is_ascii_digit())
        && fraction.bytes().all(|b| b == b'0')
        && (digits.len() == 1 || !digits.starts_with('0'));
    let sign = if digits == "0" { "" } else { sign };
    plain.then(|| format!("{sign}{digits}"))
}

/// A number with a decimal point, perhaps with an exponent, as NumPy and R write them.
fn decimal(text: &str) -> Option<String> {
    let number = text.trim_start_matches(['+', '-']);
    let numeric = number.contains('.')
        && number.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && !(number.len() > 1 && number.starts_with('0') && !number.starts_with("0."));
    let value: f64 = text.parse().ok().filter(|x: &f64| numeric && x.is_finite())?;
    Some(from_number(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_class_has_one_form() {
        for (one, form) in [
            (" x ", "x"),
            ("x y", "x y"),
            ("+1", "1"),
            ("1.0", "1"),
            ("1.", "1"),
            ("1.000000000000000000e+00", "1"),
            ("-0.0", "0"),
            ("1.50", "1.5"),
            ("-2.5", "-2.5"),
            (".5", "0.5"),
            ("TRUE", "true"),
            ("False", "false"),
            ("9007199254740993", "9007199254740993"),
            ("-123456789012345678901234567890", "-123456789012345678901234567890"),
            ("007", "007"),
            ("00.5", "00.5"),
            ("1E3", "1E3"),
            ("1.2.3", "1.2.3"),
            ("-", "-"),
            ("--1.5", "--1.5"),
            ("inf", "inf"),
            ("None", "None"),
            ("Na", "Na"),
        ] {
            assert_eq!(normal(one), form, "{one:?}");
            assert_eq!(normal(form), form, "{form:?} stays");
        }
        for missing in ["", "  ", "NA", "nan", "NaN", "null", "?", " NA "] {
            assert_eq!(normal(missing), "", "{missing:?}");
        }
        assert_eq!(from_number(1.0), "1");
        assert_eq!(from_number(-0.0), "0");
        assert_eq!(from_number(0.1), "0.1");
        assert_eq!(from_number(0.1f32.into()), "0.1");
        assert_eq!(from_number(2f64.powi(69)), "590295810358705700000");
        assert_eq!(from_number(1e300), "1e300");
        assert_eq!(from_number(f64::NAN), "");
    }

    #[test]
    fn labels_that_a_model_does_not_know() {
        let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let classes = texts(&["1.0", "True", "b"]);
        let labels = texts(&["1", "true", "b", "", "c", "c", "2"]);
        assert_eq!(unknown(&labels, &classes), ["2", "c"]);
    }
}
