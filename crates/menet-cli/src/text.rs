//! Text for people.
//!
//! Names come from files, and files are not trusted. A control character in a name could move the cursor, rename the
//! window or hide a line, so all printed text passes through [`safe`].

use std::borrow::Cow;
use std::fmt::{Display, Write as _};
use std::io::Write;
use std::path::Path;

use menet_io::terminal::steers;
use unicode_width::UnicodeWidthStr;

use crate::failure::Failure;

/// Prints a line. If the reader has closed the pipe (`| head`), the program ends quietly; a full disk is an error.
pub(crate) fn print(line: impl Display) -> Result<(), Failure> {
    let line = line.to_string();
    let mut out = std::io::stdout().lock();
    match writeln!(out, "{}", safe(&line)).and_then(|()| out.flush()) {
        Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Err(menet_io::Error::BrokenPipe.into()),
        Err(e) => {
            let problem = format!("cannot be written: {e}");
            Err(menet_io::Error::Output { path: Path::new("-").to_owned(), problem }.into())
        }
        Ok(()) => Ok(()),
    }
}

/// Prints a line on standard error, and ignores failures: there is nowhere else to report them.
pub(crate) fn complain(line: impl Display) {
    let line = line.to_string();
    let _ = writeln!(std::io::stderr().lock(), "menet: {}", safe(&line));
}

/// Escapes characters that control a terminal or change the reading order, in text of one or more lines.
///
/// They become `\u001b` and the like, which is the same string in JSON.
pub(crate) fn safe(text: &str) -> Cow<'_, str> {
    escaped(text, |c| steers(c) && c != '\n' && c != '\t')
}

/// A name or a path, escaped so that it stays on one line.
pub(crate) fn inline(text: &str) -> Cow<'_, str> {
    escaped(text, steers)
}

/// A name on one line, cut to at most `most` columns.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    let name = inline(text);
    if name.width() <= most {
        return name.into_owned();
    }
    let mut start = String::new();
    for c in name.chars() {
        start.push(c);
        if start.width() > most - 3 {
            start.pop();
            break;
        }
    }
    start + "..."
}

/// The path of a file, on one line.
pub(crate) fn path(path: &Path) -> String {
    inline(&path.to_string_lossy()).into_owned()
}

/// A paragraph in lines of at most 100 columns, indented.
pub(crate) fn wrapped(text: &str, indent: usize) -> String {
    const COLUMNS: usize = 100;
    let mut lines = vec![" ".repeat(indent)];
    for word in text.split_whitespace() {
        let last = &lines[lines.len() - 1];
        let empty = last.len() == indent;
        if !empty && last.width() + 1 + word.width() > COLUMNS {
            lines.push(" ".repeat(indent) + word);
        } else if let Some(last) = lines.last_mut() {
            *last += &format!("{}{word}", if empty { "" } else { " " });
        }
    }
    lines.join("\n") + "\n"
}

fn escaped(text: &str, bad: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&bad) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\n' if bad(c) => out.push_str("\\n"),
            '\t' if bad(c) => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            // Writing to a string cannot fail. All these characters have four digits.
            _ if bad(c) => drop(write!(out, "\\u{:04x}", u32::from(c))),
            _ => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Rows under a header. The first column is aligned left, the others right.
pub(crate) fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    let cells = |row: &[String]| row.iter().map(|cell| inline(cell).into_owned()).collect::<Vec<_>>();
    let rows: Vec<Vec<String>> = rows.iter().map(|row| cells(row)).collect();
    let header: Vec<String> = header.iter().map(|&name| inline(name).into_owned()).collect();
    let width = |k: usize| rows.iter().chain([&header]).map(|row| row[k].width()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let line = |cells: &[String]| {
        let padded = cells.iter().zip(&widths).enumerate().map(|(k, (cell, &width))| {
            let space = " ".repeat(width - cell.width());
            if k == 0 { format!("{cell}{space}") } else { format!("{space}{cell}") }
        });
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    [&header].into_iter().chain(&rows).map(|row| line(row)).collect()
}

/// A column of numbers in plain notation, aligned at the decimal point. There are enough decimals for three digits of the
/// largest and two of the smallest; if that takes more than nine digits, powers of ten are used.
pub(crate) fn numbers(values: &[f64], signed: bool) -> Vec<String> {
    let sizes = || values.iter().map(|value| value.abs()).filter(|size| *size > 0.0 && size.is_finite());
    let largest = sizes().fold(0.0, f64::max);
    let smallest = sizes().fold(f64::INFINITY, f64::min);
    // The position of the first digit: 0 for units, -1 for tenths.
    let place = |size: f64| size.log10().floor() as i32;
    let (high, low) = if largest > 0.0 { (place(largest), place(smallest)) } else { (0, 0) };
    let decimals = (2 - high).max(1 - low).max(0);
    let plain = high.max(0) + 1 + decimals <= 9;
    let one = |&value: &f64| {
        // A negative zero has no sign.
        let value = if value == 0.0 { 0.0 } else { value };
        match (plain, signed && value != 0.0) {
            (true, true) => format!("{value:+.*}", decimals as usize),
            (true, false) => format!("{value:.*}", decimals as usize),
            (false, true) => format!("{value:+.2e}"),
            (false, false) => format!("{value:.2e}"),
        }
    };
    values.iter().map(one).collect()
}

/// One number in plain notation, with its sign.
pub(crate) fn signed(value: f64) -> String {
    numbers(&[value], true).remove(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let rows = [vec!["ä".to_owned(), "1.5".to_owned()], vec!["long name".to_owned(), "12".to_owned()]];
        assert_eq!(table(&["name", "x"], &rows), "name         x\nä          1.5\nlong name   12\n");
        // Two columns for each ideograph, none for a combining accent.
        let rows = [vec!["漢字".to_owned(), "1".to_owned()], vec!["e\u{301}".to_owned(), "2".to_owned()]];
        assert_eq!(table(&["name", "x"], &rows), "name  x\n漢字  1\ne\u{301}     2\n");
    }

    #[test]
    fn what_steers_a_terminal_is_escaped() {
        let hostile = "a\u{1b}[31m\u{9b}2J\u{7f}\r\u{8}\u{202e}\u{2066}\u{200f}\u{2028}\u{0}z";
        let plain = "a\\u001b[31m\\u009b2J\\u007f\\r\\u0008\\u202e\\u2066\\u200f\\u2028\\u0000z";
        assert_eq!(safe(hostile), plain);
        assert_eq!(inline(hostile), plain);
        // Ordinary text stays: accents, ideographs, emoji with a joiner, right-to-left letters.
        let names = "größe 漢字 e\u{301} 👩\u{200d}🔬 שלום a\\b";
        assert_eq!((safe(names), inline(names)), (names.into(), names.into()));
        assert_eq!((safe("a\n\tb"), inline("a\n\tb")), ("a\n\tb".into(), "a\\n\\tb".into()));
    }

    #[test]
    fn escaped_json_reads_back() {
        let all: String = (0..0x3000u32).filter_map(char::from_u32).collect();
        let printed = safe(&serde_json::json!({ &all: [&all] }).to_string()).into_owned();
        assert!(!printed.contains(steers), "{printed}");
        let back: serde_json::Value = serde_json::from_str(&printed).unwrap();
        assert_eq!(back, serde_json::json!({ &all: [&all] }));
    }

    #[test]
    fn a_name_cannot_draw_another_row() {
        let rows = [vec!["x\ny\t\u{2028}z".to_owned(), "1".to_owned()]];
        assert_eq!(table(&["name", "n"], &rows).lines().count(), 2);
    }

    #[test]
    fn long_names_are_cut() {
        assert_eq!(shortened("abcdefgh", 8), "abcdefgh");
        assert_eq!(shortened("abcdefghi", 8), "abcde...");
        assert_eq!(shortened("漢字漢字漢字", 8), "漢字...");
        assert_eq!(shortened("a\n\u{1b}bcdefgh", 8), "a\\n\\u...");
    }

    #[test]
    fn numbers_are_plain() {
        assert_eq!(numbers(&[0.00012345, -0.0000345], true), ["+0.000123", "-0.000034"]);
        assert_eq!(numbers(&[1.25, -0.5, 0.0], true), ["+1.25", "-0.50", "0.00"]);
        assert_eq!(numbers(&[12345.6, 17.0], false), ["12346", "17"]);
        assert_eq!(numbers(&[1000.0, 1e-5], false), ["1.00e3", "1.00e-5"]);
        assert_eq!(numbers(&[1e-300, 0.0, f64::NAN], false), ["1.00e-300", "0.00e0", "NaN"]);
        assert_eq!((numbers(&[], true), numbers(&[0.0], false)), (vec![], vec!["0.00".to_owned()]));
        assert_eq!(signed(-1.2), "-1.20");
    }
}
