//! Data sets that are compiled in. `docs/data.md` has their sources, terms and citations; `scripts/builtin_sets.py`
//! made them.

use std::io::Cursor;
use std::path::Path;

use crate::error::Result;
use crate::formats::{ReadOptions, npz, text};
use crate::table::Table;

/// A built-in set.
#[derive(Debug)]
pub struct BuiltinSet {
    /// The name by which it is read.
    pub name: &'static str,
    /// One line about it.
    pub summary: &'static str,
    bytes: &'static [u8],
    compressed_csv: bool,
}

/// All built-in sets.
pub static REGISTRY: &[BuiltinSet] = &[
    BuiltinSet {
        name: "orl",
        summary: "ORL/AT&T faces: 400 images of 40 people, 40 x 40 pixels",
        bytes: include_bytes!("../data/orl.npz"),
        compressed_csv: false,
    },
    BuiltinSet {
        name: "leukemia",
        summary: "ALL-AML leukaemia: 38 samples of 5000 named genes, classes ALL-B, ALL-T, AML",
        bytes: include_bytes!("../data/leukemia.csv.gz"),
        compressed_csv: true,
    },
    BuiltinSet {
        name: "digits",
        summary: "handwritten digits: 1797 images of 8 x 8 pixels",
        bytes: include_bytes!("../data/digits.npz"),
        compressed_csv: false,
    },
];

impl BuiltinSet {
    /// The set called `name`, if there is one.
    pub fn find(name: &str) -> Option<&'static BuiltinSet> {
        REGISTRY.iter().find(|set| set.name == name)
    }

    /// The data of the set.
    ///
    /// # Errors
    /// Only if the bytes that were compiled in are damaged.
    pub fn load(&self) -> Result<Table> {
        let (path, options) = (Path::new(self.name), ReadOptions::default());
        if self.compressed_csv {
            text::read_csv(Box::new(flate2::read::GzDecoder::new(self.bytes)), path, &options)
        } else {
            npz::read_npz_from(Cursor::new(self.bytes), path, &options)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_set_loads() {
        let shape = |name: &str| {
            let table = BuiltinSet::find(name).unwrap().load().unwrap();
            let data = table.dataset().unwrap();
            let sizes: Vec<usize> =
                (0..data.classes().len()).map(|class| data.members(class).len()).collect();
            (
                data.samples(),
                data.variables(),
                sizes,
                data.image_shape(),
                data.feature_names().map(|n| n[0].clone()),
            )
        };
        assert_eq!(shape("orl"), (400, 1600, vec![10; 40], Some((40, 40)), None));
        let gene = Some("M12759_at".to_owned());
        assert_eq!(shape("leukemia"), (38, 5000, vec![19, 8, 11], None, gene));
        let (n, p, sizes, image, _) = shape("digits");
        assert_eq!((n, p, sizes.len(), image), (1797, 64, 10, Some((8, 8))));
        assert!(BuiltinSet::find("iris").is_none());
    }
}
