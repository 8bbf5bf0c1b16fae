//! What stands beside the interactive charts, and the library that draws them.

use std::io::Read;

use crate::error::{Error, Result};

/// plotly.js with the traces that are drawn here, compressed: `scripts/plotly_bundle.sh` makes it.
const LIBRARY: &[u8] = include_bytes!("plotly/plotly.js.gz");

/// What stands beside the charts' titles.
pub(super) const BOXES_NOTE: &str = "boxes: quartiles and median; one dot per repeat";
pub(super) const PATH_NOTE: &str =
    "the first ten variables that entered in colour; the penalty falls to the right";
pub(super) const ENTRIES_NOTE: &str = "the axis at the end of the step that each entry begins: ring, the variable that \
    entered; crosses, the others in use; colours of the lines above";
pub(super) const ENTRY_BARS_NOTE: &str = "coefficients at the end of the step that each entry begins; in the \
    colour of its line, the variable that entered";

/// The text of plotly.js.
pub(super) fn library() -> Result<String> {
    let mut script = String::new();
    let read = flate2::read::GzDecoder::new(LIBRARY).read_to_string(&mut script);
    read.map_err(|e| Error::Study(format!("the charting script inside the program is damaged: {e}")))?;
    Ok(script)
}

#[cfg(test)]
mod tests {
    use super::library;

    #[test]
    fn the_script_fits_into_a_page() {
        let script = library().unwrap();
        assert!(script.is_ascii() && script.contains("plotly.js") && script.len() < 1_500_000);
        assert!(!script.to_ascii_lowercase().contains("</script"));
    }
}
