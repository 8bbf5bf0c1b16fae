//! A folder with one sub-folder of images per class.

use std::path::{Path, PathBuf};

use image::imageops::FilterType;

use super::columns::list;
use super::{Format, ReadOptions, Reader, refuse_transpose};
use crate::error::{Error, Result};
use crate::table::Table;
use crate::{labels, memory};

/// Pictures, read as grey.
pub const FOLDER: Format = Format {
    name: "folder",
    endings: &[],
    summary: "a folder with one sub-folder of images per class (png, jpeg, pgm, tiff, bmp, gif), read as grey",
    reader: Reader::Whole(read),
};

const ENDINGS: [&str; 10] = ["png", "jpg", "jpeg", "pgm", "ppm", "pbm", "tif", "tiff", "bmp", "gif"];

fn read(folder: &Path, options: &ReadOptions) -> Result<Table> {
    refuse_transpose("images", folder, options)?;
    let classes: Vec<PathBuf> = sorted(folder)?.into_iter().filter(|path| path.is_dir()).collect();
    if classes.is_empty() {
        return Err(Error::input(
            folder,
            "has no sub-folders; put the images of each class into a sub-folder",
        ));
    }
    let (mut values, mut labels) = (Vec::new(), Vec::new());
    let (mut shape, mut passed, mut deep) = (None, Vec::new(), 0);
    for (class, name) in classes.iter().zip(names_of(&classes)?) {
        for path in sorted(class)? {
            if !is_image(&path) {
                passed.push(format!("{}/{}", self::name(class), self::name(&path)));
                continue;
            }
            let (grey, reduced) = grey(&path, options.size)?;
            deep += usize::from(reduced);
            let size = (grey.height() as usize, grey.width() as usize);
            let (h, w) = *shape.get_or_insert(size);
            if (h, w) != size {
                let problem = format!(
                    "is {} x {} pixels, but other images are {h} x {w}; resize all with --size",
                    size.0, size.1
                );
                return Err(Error::input(&path, problem));
            }
            memory::reserve(&mut values, h * w, folder)?;
            values.extend(grey.into_raw().into_iter().map(f64::from));
            labels.push(name.clone());
        }
    }
    let Some((height, width)) = shape else {
        return Err(Error::input(
            folder,
            format!("its sub-folders contain no images (menet reads {})", ENDINGS.join(", ")),
        ));
    };
    let mut table = Table::new(folder, values, labels.len(), height * width);
    (table.labels, table.image_shape) = (Some(labels), Some((height, width)));
    if !passed.is_empty() {
        let which = list(&passed);
        table
            .notices
            .push(format!("{}: skipped files that are not images menet can read: {which}", folder.display()));
    }
    if deep > 0 {
        let problem = format!("{deep} images have more than 8 bits per grey value; 8 bits are kept");
        table.notices.push(format!("{}: {problem}", folder.display()));
    }
    Ok(table)
}

/// The class that every folder stands for. Two folders are two classes.
fn names_of(classes: &[PathBuf]) -> Result<Vec<String>> {
    let mut names: Vec<String> = Vec::new();
    for (at, class) in classes.iter().enumerate() {
        let Some(text) = class.file_name().and_then(|name| name.to_str()) else {
            let problem =
                "the name of this folder, which is that of its class, is not UTF-8; rename the folder";
            return Err(Error::input(class, problem));
        };
        let name = labels::normal(text);
        if let Some(other) = names.iter().position(|other| !name.is_empty() && *other == name) {
            let problem = format!(
                "this folder and {:?} both stand for the class {name:?}; rename one of them, or put their images into one folder",
                self::name(&classes[other])
            );
            return Err(Error::input(&classes[at], problem));
        }
        names.push(name);
    }
    Ok(names)
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// An image in 8-bit grey, and whether its values had more bits.
fn grey(path: &Path, size: Option<(usize, usize)>) -> Result<(image::GrayImage, bool)> {
    let reader = image::ImageReader::open(path).and_then(|reader| reader.with_guessed_format());
    let picture = reader.map_err(|e| Error::input(path, e))?.decode();
    let picture = picture.map_err(|e| Error::input(path, format!("not a readable image: {e}")))?;
    let color = picture.color();
    let deep = color.bits_per_pixel() > 8 * u16::from(color.channel_count());
    let grey = picture.into_luma8();
    let grey = match size {
        Some((height, width)) if (grey.height() as usize, grey.width() as usize) != (height, width) => {
            image::imageops::resize(&grey, width as u32, height as u32, FilterType::Lanczos3)
        }
        _ => grey,
    };
    Ok((grey, deep))
}

fn is_image(path: &Path) -> bool {
    let ending = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    path.is_file() && ENDINGS.contains(&ending.as_str())
}

/// The contents of a folder without hidden files, sorted by name: the same order on every machine.
fn sorted(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).map_err(|e| Error::input(folder, e))?;
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.map(|entry| entry.path()).map_err(|e| Error::input(folder, e)))
        .collect::<Result<_>>()?;
    paths.retain(|path| !path.file_name().unwrap_or_default().to_string_lossy().starts_with('.'));
    paths.sort();
    Ok(paths)
}
