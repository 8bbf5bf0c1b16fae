//! IDX, the format of MNIST-like sets: an images file and a labels file in the same folder, compressed or not.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::{Format, MOST_VALUES, Reader, refuse_transpose};
use crate::error::{Error, Result};
use crate::memory;
use crate::source::{PACKED, open};
use crate::table::Table;

/// Images and labels as bytes.
pub const IDX: Format = Format {
    name: "idx",
    endings: &["images-idx3-ubyte"],
    summary: "MNIST-like images; the labels file (labels-idx1-ubyte) is in the same folder",
    reader: Reader::Whole(|path, options| {
        refuse_transpose("images", path, options)?;
        let ([rows, height, width], bytes) = read_bytes::<3>(path, 0x0803)?;
        let labels = match options.labels {
            Some(_) => None,
            None => Some(read_labels(&labels_beside(path)?, rows)?),
        };
        let mut values = Vec::new();
        memory::reserve(&mut values, bytes.len(), path)?;
        values.extend(bytes.into_iter().map(f64::from));
        let image_shape = Some((height, width));
        Ok(Table { labels, image_shape, ..Table::new(path, values, rows, height * width) })
    }),
};

fn labels_beside(path: &Path) -> Result<PathBuf> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().replace("images-idx3", "labels-idx1");
    let plain = PACKED.iter().find_map(|packed| name.strip_suffix(packed)).unwrap_or(&name);
    [plain.to_owned(), format!("{plain}.gz"), format!("{plain}.zst")]
        .iter()
        .map(|name| path.with_file_name(name))
        .find(|p| p.exists())
        .ok_or_else(|| Error::input(path, format!("its labels file {plain}[.gz] is not in the same folder")))
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
    // Read one byte more than announced, to notice surplus bytes. Memory grows with the bytes that exist.
    let bytes = memory::read_to_end(&mut reader.take(total as u64 + 1), path)?;
    if bytes.len() != total {
        let more = if bytes.len() > total { "more" } else { "fewer" };
        return Err(Error::input(
            path,
            format!("holds {more} bytes than the {total} its header claims ({sizes:?})"),
        ));
    }
    Ok((sizes, bytes))
}
