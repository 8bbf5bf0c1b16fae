//! JSON inside a script element, where a name must not end the element.

use serde_json::Value;

use super::unwritten;
use crate::error::Result;

/// `value` as JSON without any character that HTML or JavaScript could take for its own.
pub(super) fn json(value: &Value) -> Result<String> {
    let plain = serde_json::to_string(value).map_err(unwritten)?;
    let mut out = String::with_capacity(plain.len());
    for c in plain.chars() {
        match c {
            '<' => out.push_str("\\u003c"),
            '>' => out.push_str("\\u003e"),
            '&' => out.push_str("\\u0026"),
            '\u{2028}' => out.push_str("\\u2028"),
            '\u{2029}' => out.push_str("\\u2029"),
            c => out.push(c),
        }
    }
    Ok(out)
}

/// A number in five digits, as short as JSON allows; none where it is not finite.
pub(super) fn number(value: f64) -> Value {
    let rounded: f64 = format!("{value:.4e}").parse().unwrap_or(f64::NAN);
    // −0 and 0 are the same to a reader.
    if rounded == 0.0 { Value::from(0) } else { Value::from(rounded) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_the_script_element() {
        let text = json(&Value::from("</script><!--&\u{2028}")).unwrap();
        assert!(!text.contains(['<', '>', '&', '\u{2028}']));
        assert_eq!(serde_json::from_str::<String>(&text).unwrap(), "</script><!--&\u{2028}");
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(number(1.0 / 3.0).to_string(), "0.33333");
        assert_eq!(number(0.0).to_string(), "0");
        assert_eq!(number(123_456.0).to_string(), "123460.0");
        assert!(number(f64::NAN).is_null());
    }
}
