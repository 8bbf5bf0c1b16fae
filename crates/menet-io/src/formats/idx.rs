//! IDX, as MNIST-like sets come: an images file and a labels file beside it, packed or not.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::{Format, MOST_VALUES, Reader, open};
use crate::error::{Error, Result};
use crate::table::Table;

/// Images and labels as bytes.
pub const IDX: Format = Format {
    name: "idx",
    endings: &["images-idx3-ubyte", "images-idx3-ubyte.gz"],
    summary: "MNIST-like images; the labels file (labels-idx1-ubyte) stands beside",
    reader: Reader::Whole(|path, options| {
        let ([rows, height, width], bytes) = read_bytes::<3>(path, 0x0803)?;
        let labels = match options.labels {
            Some(_) => None,
            None => Some(read_labels(&labels_beside(path)?, rows)?),
        };
        let values = bytes.into_iter().map(f64::from).collect::<Vec<_>>().into();
        let (source, columns) = (path.display().to_string(), height * width);
        let image_shape = Some((height, width));
        Ok(Table { source, values, rows, columns, labels, feature_names: None, image_shape })
    }),
};

fn labels_beside(path: &Path) -> Result<PathBuf> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().replace("images-idx3", "labels-idx1");
    let plain = name.strip_suffix(".gz").unwrap_or(&name);
    [plain.to_owned(), format!("{plain}.gz")]
        .iter()
        .map(|name| path.with_file_name(name))
        .find(|p| p.exists())
        .ok_or_else(|| Error::input(path, format!("its labels file {plain}[.gz] is not beside it")))
}

fn read_labels(path: &Path, rows: usize) -> Result<Vec<String>> {
    let ([count], bytes) = read_bytes::<1>(path, 0x0801)?;
    if count != rows {
        return Err(Error::input(path, format!("{count} labels for {rows} images")));
    }
    Ok(bytes.iter().map(u8::to_string).collect())
}

/// The sizes and the bytes of a file of `N` dimensions.
fn read_bytes<const N: usize>(path: &Path, magic: u32) -> Result<([usize; N], Vec<u8>)> {
    let mut reader = open(path)?;
    let mut word = || -> Result<u32> {
        let mut bytes = [0; 4];
        reader
            .read_exact(&mut bytes)
            .map_err(|e| Error::input(path, format!("its header is cut short: {e}")))?;
        Ok(u32::from_be_bytes(bytes))
    };
    let found = word()?;
    if found != magic {
        let problem = format!(
            "begins with {found:#010x}, not {magic:#010x}: not an IDX file of {N} dimensions of bytes"
        );
        return Err(Error::input(path, problem));
    }
    let mut sizes = [0; N];
    for size in &mut sizes {
        *size = word()? as usize;
    }
    let total = sizes.iter().try_fold(1usize, |total, &size| total.checked_mul(size));
    let Some(total) = total.filter(|total| (1..=MOST_VALUES).contains(total)) else {
        return Err(Error::input(path, format!("its header claims {sizes:?}")));
    };
    // One byte more than announced, to notice when there is more; memory grows with what is there.
    let mut bytes = Vec::new();
    reader
        .take(total as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|e| Error::input(path, format!("damaged: {e}")))?;
    if bytes.len() != total {
        let more = if bytes.len() > total { "more" } else { "fewer" };
        return Err(Error::input(
            path,
            format!("holds {more} bytes than the {total} its header claims ({sizes:?})"),
        ));
    }
    Ok((sizes, bytes))
}
