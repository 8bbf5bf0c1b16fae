//! Text for people.

use std::fmt::Display;
use std::io::Write;
use std::path::Path;

use crate::failure::Failure;

/// Prints a line. A reader that has gone away (`| head`) ends the program in silence; a full disk is an error.
pub(crate) fn print(line: impl Display) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match writeln!(out, "{line}").and_then(|()| out.flush()) {
        Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => std::process::exit(0),
        Err(e) => {
            let problem = format!("cannot be written: {e}");
            Err(menet_io::Error::Output { path: Path::new("-").to_owned(), problem }.into())
        }
        Ok(()) => Ok(()),
    }
}

/// Rows under a header, columns as wide as they need to be; the first is on the left, numbers on the right.
pub(crate) fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    let width = |k: usize| {
        rows.iter().map(|row| row[k].chars().count()).chain([header[k].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let line = |cells: Vec<&str>| {
        let padded = cells.iter().zip(&widths).enumerate().map(|(k, (cell, &width))| {
            let space = " ".repeat(width - cell.chars().count());
            if k == 0 { format!("{cell}{space}") } else { format!("{space}{cell}") }
        });
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    let mut out = line(header.to_vec());
    for row in rows {
        out += &line(row.iter().map(String::as_str).collect());
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn columns_line_up() {
        let rows = [vec!["ä".to_owned(), "1.5".to_owned()], vec!["long name".to_owned(), "12".to_owned()]];
        assert_eq!(super::table(&["name", "x"], &rows), "name         x\nä          1.5\nlong name   12\n");
    }
}
