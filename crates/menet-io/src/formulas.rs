//! Cells that a spreadsheet would run as formulas.
//!
//! A spreadsheet takes a cell that begins with `=`, `+`, `-` or `@` for a formula, which may start programs or send data away, and
//! names come from files that are not trusted. There is one rule per kind of file:
//!
//! | file | what becomes of such a cell | why |
//! |---|---|---|
//! | tables for people, [`csv_table`](crate::write::csv_table): results, panels, paths | an apostrophe before it ([`shown`]) | they are opened in spreadsheets |
//! | data, [`csv_rows`](crate::write::csv_rows): predictions, projections, splits | nothing; the user is told ([`notice`]) | programs read them, and find samples and variables by name |
//!
//! Numbers are never changed.

use std::borrow::Cow;
use std::path::Path;

/// What a formula begins with, in ASCII and in full width; spreadsheets skip the control characters.
const BEGIN: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];

/// Whether a spreadsheet would take a cell for a formula. A sign alone is a text.
fn is_formula(cell: &str) -> bool {
    cell.starts_with(BEGIN) && !["+", "-"].contains(&cell) && cell.parse::<f64>().is_err()
}

/// A cell for people: with an apostrophe, which spreadsheets take for the mark of a text, before what would be a formula.
pub fn shown(cell: &str) -> Cow<'_, str> {
    if is_formula(cell) { format!("'{cell}").into() } else { cell.into() }
}

/// How many names a spreadsheet would take for formulas.
pub fn count<'a>(names: impl IntoIterator<Item = &'a String>) -> usize {
    names.into_iter().filter(|name| is_formula(name)).count()
}

/// What to say about so many names that go as they are into a file of data; none if there are none, or no spreadsheet opens the file.
pub fn notice(path: &Path, count: usize) -> Option<String> {
    let opened = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("csv"));
    let (noun, verb) = if count == 1 { ("name", "begins") } else { ("names", "begin") };
    (count > 0 && opened).then(|| {
        format!(
            "{}: {count} {noun} {verb} as a formula does (=, +, -, @); in a spreadsheet, import the file with its columns as text",
            path.display()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_become_texts_and_all_else_stays() {
        for formula in [
            "=cmd|' /C calc'!A0",
            "+1+1",
            "-1+1",
            "@SUM(A1)",
            "\t=1",
            "\r=1",
            "\n=1",
            "=",
            "--1",
            "＝1",
            "-x",
        ] {
            assert_eq!(shown(formula), format!("'{formula}"));
        }
        for plain in ["", "-1.5", "+3", "-1e-300", "-inf", "+", "-", "a=b", "'=1", "1-2", "x@y", " =1"] {
            assert_eq!(shown(plain), plain);
        }
    }

    #[test]
    fn names_in_data_are_counted() {
        assert_eq!(count(&["=1", "-2", "@x", "y"].map(str::to_owned)), 2);
        let notice_for = |path: &str, count: usize| notice(path.as_ref(), count);
        assert!(notice_for("a.csv", 2).unwrap().starts_with("a.csv: 2 names begin"));
        assert!(notice_for("a.csv", 1).unwrap().contains("1 name begins"));
        assert_eq!(
            (notice_for("a.csv", 0), notice_for("-", 1), notice_for("a.parquet", 1)),
            (None, None, None)
        );
    }
}
