//! SVG to PNG, with a font that travels with the program so that text appears on machines without any.

use std::sync::{Arc, OnceLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

use crate::error::{Error, Result};

/// Screen pixels a unit of the SVG becomes: sharp on today's screens and in print.
const SCALE: f32 = 2.0;

/// The embedded font first; the system's, where there are any, for scripts it lacks.
fn fonts() -> Arc<fontdb::Database> {
    static FONTS: OnceLock<Arc<fontdb::Database>> = OnceLock::new();
    Arc::clone(FONTS.get_or_init(|| {
        let mut fonts = fontdb::Database::new();
        fonts.load_font_data(dejavu::sans::regular().to_vec());
        fonts.load_font_data(dejavu::sans::bold().to_vec());
        fonts.load_system_fonts();
        let name = "DejaVu Sans";
        fonts.set_sans_serif_family(name);
        fonts.set_serif_family(name);
        fonts.set_monospace_family(name);
        Arc::new(fonts)
    }))
}

/// The bytes of a PNG of `svg`.
pub(super) fn png(figure: &str, svg: &str) -> Result<Vec<u8>> {
    let failed = |problem: String| Error::Figure { figure: figure.to_owned(), problem };
    let options = Options { fontdb: fonts(), font_family: "DejaVu Sans".to_owned(), ..Options::default() };
    let tree = Tree::from_str(svg, &options).map_err(|e| failed(e.to_string()))?;
    let size = tree.size().to_int_size().scale_by(SCALE);
    let mut pixels = size
        .and_then(|size| Pixmap::new(size.width(), size.height()))
        .ok_or_else(|| failed("it has no area, or more than fits in memory".to_owned()))?;
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
    pixels.encode_png().map_err(|e| failed(e.to_string()))
}
