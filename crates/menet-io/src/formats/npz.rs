//! NumPy's `.npz`: named arrays in a zip archive, of which every checksum is checked.

use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use zip::ZipArchive;
use zip::result::ZipError;

use super::columns::list;
use super::npy::Npy;
use super::numpy::{Shape, ended, numbers, read_labels};
use super::{Format, ReadOptions, Reader};
use crate::error::{Error, Result, short};
use crate::source::open_file;
use crate::table::Table;

/// Named arrays.
pub const NPZ: Format = Format {
    name: "npz",
    endings: &[".npz"],
    summary: "NumPy archive with `X` (samples in rows) and `y`; `h` and `w` give the image shape",
    reader: Reader::Whole(|path, options| {
        read_npz_from(BufReader::new(open_file(path, "a NumPy archive")?), path, options)
    }),
};

/// Reads an archive.
///
/// # Errors
/// When an array is missing, is not what it should be, or is damaged.
pub fn read_npz_from(reader: impl Read + Seek, path: &Path, options: &ReadOptions) -> Result<Table> {
    let mut archive = Archive::open(reader, path)?;
    let (x_key, y_key) = (options.x_key.as_deref().unwrap_or("X"), options.y_key.as_deref().unwrap_or("y"));
    let known = list(&archive.names);
    let found = archive.array(x_key, |file, what| {
        let shape = Shape::of(&file.header, what, path)?;
        Ok((shape, shape.in_rows(numbers(file, what, path)?)))
    })?;
    let Some((shape, values)) = found else {
        let problem = format!("there is no array {x_key:?} among {known}; name it with --x-key");
        return Err(Error::input(path, problem));
    };
    let labels = archive.array(y_key, |file, what| read_labels(file, what, path))?;
    if labels.is_none() && options.y_key.is_some() {
        return Err(Error::input(path, format!("there is no array {y_key:?} among {known}")));
    }
    let mut side = |name: &str| -> Result<Option<usize>> {
        let values = archive.array(name, |file, what| numbers(file, what, path))?;
        let whole = |x: &f64| x.fract() == 0.0 && *x >= 1.0 && *x < 1e9;
        match values.as_deref() {
            None => Ok(None),
            Some([x]) if whole(x) => Ok(Some(*x as usize)),
            Some(_) => Err(Error::input(path, format!("the array {name:?} is not one whole number >= 1"))),
        }
    };
    let image = side("h")?.zip(side("w")?);
    let mut table = shape.table(shape.rows, values, path);
    if options.transpose {
        table = table.transposed()?;
    }
    if let Some(labels) = labels {
        table.set_labels(labels)?;
    }
    if let Some((height, width)) = image.filter(|_| !options.transpose) {
        table.set_image_shape(height, width)?;
    }
    Ok(table)
}

/// An archive that may be damaged.
struct Archive<'a, R> {
    zip: ZipArchive<R>,
    names: Vec<String>,
    path: &'a Path,
}

impl<'a, R: Read + Seek> Archive<'a, R> {
    fn open(reader: R, path: &'a Path) -> Result<Self> {
        let invalid =
            |e: &dyn std::fmt::Display| Error::input(path, format!("not a readable npz archive: {e}"));
        let mut zip = ZipArchive::new(reader).map_err(|e| invalid(&e))?;
        let mut entries = Vec::new();
        for at in 0..zip.len() {
            let entry = zip.by_index_raw(at).map_err(|e| invalid(&e))?;
            entries.push((entry.name_raw().to_vec(), entry.header_start()));
        }
        let array = |name: &[u8]| {
            let name = String::from_utf8_lossy(name).into_owned();
            name.strip_suffix(".npy").map(str::to_owned)
        };
        let names = entries.iter().filter_map(|(name, _)| array(name)).collect();
        // Names have no checksum, but stand in the file twice.
        let mut reader = zip.into_inner();
        for (name, start) in &entries {
            if local_name(&mut reader, *start, name.len()).map_err(|e| invalid(&e))? != *name {
                return Err(invalid(&"a name stands in it in two ways; it is damaged"));
            }
        }
        let zip = ZipArchive::new(reader).map_err(|e| invalid(&e))?;
        Ok(Archive { zip, names, path })
    }

    /// What `read` makes of the array called `name`, if there is one and its checksum holds.
    fn array<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(Npy<&mut dyn Read>, &str) -> Result<T>,
    ) -> Result<Option<T>> {
        let (path, what) = (self.path, format!("the array {name:?}"));
        let damaged = |e: &dyn std::fmt::Display| {
            let cause = e.to_string();
            Error::input(
                path,
                format!("{what} cannot be read: {}", short(cause.lines().next().unwrap_or_default())),
            )
        };
        let mut entry = match self.zip.by_name(&format!("{name}.npy")) {
            Err(ZipError::FileNotFound) => return Ok(None),
            other => other.map_err(|e| damaged(&e))?,
        };
        let file = Npy::new(&mut entry as &mut dyn Read).map_err(|e| damaged(&e))?;
        let value = read(file, &what)?;
        ended(&mut entry, &what, path)?;
        Ok(Some(value))
    }
}

/// The name in the header that stands before an entry's bytes.
fn local_name(reader: &mut (impl Read + Seek), start: u64, length: usize) -> std::io::Result<Vec<u8>> {
    let mut header = [0; 30];
    reader.seek(SeekFrom::Start(start))?;
    reader.read_exact(&mut header)?;
    let claimed = usize::from(u16::from_le_bytes([header[26], header[27]]));
    let mut name = vec![0; length.min(claimed)];
    reader.read_exact(&mut name)?;
    // Another length is another name.
    Ok(if claimed == length { name } else { Vec::from(*b"\0") })
}
