//! Names of data, methods, classes and variables come from files and may contain anything. These functions make them safe to show.

use menet::Men;

use crate::study::Showcase;

/// `name` without characters that XML forbids or that reorder text, cut to `most` characters in the
/// middle.
pub(crate) fn shown(name: &str, most: usize) -> String {
    let clean = |c: char| match c {
        // Bidirectional controls would let a name rearrange the text around it.
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
        c if c.is_control() => '\u{fffd}',
        c => c,
    };
    let length = name.chars().count();
    if length <= most {
        return name.chars().map(clean).collect();
    }
    // Names often begin in the same way, so the end is kept.
    let tail = most / 3;
    let head = most.saturating_sub(tail + 1);
    let (start, end) = (name.chars().take(head), name.chars().skip(length - tail));
    start.map(clean).chain(['…']).chain(end.map(clean)).collect()
}

/// Like [`shown`], for kuva, which reads `$...$` as mathematics.
pub(crate) fn plotted(name: &str, most: usize) -> String {
    shown(name, most).replace('$', "\\$")
}

/// Escapes `text` for HTML or XML, as content or in a quoted attribute.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// A name that can be seen.
pub(crate) fn named(name: &str) -> String {
    if name.trim().is_empty() { "(no name)".to_owned() } else { name.to_owned() }
}

/// A set and training size in titles.
pub(crate) fn setting(data: &str, train_per_class: usize) -> String {
    let samples = if train_per_class == 1 { "sample" } else { "samples" };
    format!("{}, {train_per_class} training {samples} per class", shown(data, 28))
}

/// The split that a picture was learned from, with the numbers of `splits.csv`.
pub(crate) fn split(showcase: &Showcase) -> String {
    let Showcase { train_per_class, repeat, .. } = showcase;
    format!("learned from the split of repeat {repeat}, {train_per_class} per class")
}

/// The name of a variable, its position in the image, or its number from 1.
pub(crate) fn variable(showcase: &Showcase, j: usize) -> String {
    name_of(showcase.feature_names.as_deref(), showcase.image_shape, j)
}

/// Like [`variable`], for a model.
pub(crate) fn variable_of(men: &Men, j: usize) -> String {
    name_of(men.feature_names(), men.image_shape(), j)
}

/// Like [`variable`], for any list of names.
pub(crate) fn name_of(names: Option<&[String]>, shape: Option<(usize, usize)>, j: usize) -> String {
    match (names, shape) {
        (Some(names), _) if j < names.len() => names[j].clone(),
        (_, Some((_, width))) if width > 0 => format!("row {}, column {}", j / width + 1, j % width + 1),
        _ => format!("variable {}", j + 1),
    }
}

/// The scale of the coefficients of a path.
pub(crate) fn scale(men: &Men) -> &'static str {
    if men.params().penalty.standardize { "columns of length 1" } else { "columns as they are" }
}

/// A part of a file name: only letters, digits, `-` and `_`.
pub(crate) fn slug(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    let slug: String = name.chars().take(40).map(plain).collect();
    if slug.is_empty() { "data".to_owned() } else { slug }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_tamed() {
        assert_eq!(shown("a\u{0}b\u{202e}c", 9), "a\u{fffd}b\u{fffd}c");
        assert_eq!(shown("abcdefgh", 6), "abc…gh");
        assert_eq!(shown("abcd", 4), "abcd");
        assert_eq!(plotted("$x$", 9), "\\$x\\$");
        assert_eq!(escaped("<a href=\"x\">&'"), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
        assert_eq!(slug("../a b"), "---a-b");
        assert_eq!(slug(""), "data");
    }
}
