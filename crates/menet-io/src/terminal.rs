//! Text from files on a terminal.
//!
//! A control character in a name could move the cursor, rename the window or hide a line. In a file it is data and is kept.
//! On a terminal it is shown as `\u001b` and the like.

use std::io::{Result, Write};

/// Whether a character controls a terminal or changes the reading order: C0, DEL and C1 controls, marks that change
/// the direction of text, and separators of lines and paragraphs.
pub fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Writes text to a terminal. Line ends and tabs are kept; invalid UTF-8 is shown as a replacement character.
#[derive(Debug)]
pub(crate) struct Terminal<W: Write> {
    out: W,
    /// The beginning of a character whose rest has not been written yet.
    rest: Vec<u8>,
}

impl<W: Write> Terminal<W> {
    pub(crate) fn new(out: W) -> Self {
        Terminal { out, rest: Vec::new() }
    }
}

impl<W: Write> Write for Terminal<W> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.rest.extend(bytes);
        let held = std::mem::take(&mut self.rest);
        for chunk in held.utf8_chunks() {
            for c in chunk.valid().chars() {
                if steers(c) && c != '\n' && c != '\t' {
                    write!(self.out, "\\u{:04x}", u32::from(c))?;
                } else {
                    write!(self.out, "{c}")?;
                }
            }
            let invalid = chunk.invalid();
            // The last bytes may be the beginning of a character.
            if held.ends_with(invalid) && std::str::from_utf8(invalid).is_err_and(|e| e.error_len().is_none())
            {
                self.rest = invalid.to_vec();
            } else if !invalid.is_empty() {
                write!(self.out, "\u{fffd}")?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_does_not_depend_on_how_it_is_cut() {
        let text = "label\n\"a\u{1b}[31m\",\u{9b}2J\t漢字 🙂\u{202e}\r\n";
        let expected = "label\n\"a\\u001b[31m\",\\u009b2J\t漢字 🙂\\u202e\\u000d\n";
        for size in 1..=text.len() {
            let mut terminal = Terminal::new(Vec::new());
            text.as_bytes().chunks(size).for_each(|part| terminal.write_all(part).unwrap());
            assert_eq!(String::from_utf8(terminal.out).unwrap(), expected, "{size}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_shown_as_such() {
        let mut terminal = Terminal::new(Vec::new());
        terminal.write_all(b"a\x9bb\xff\n").unwrap();
        assert_eq!(String::from_utf8(terminal.out).unwrap(), "a\u{fffd}b\u{fffd}\n");
    }
}
