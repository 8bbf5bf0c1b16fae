//! Files for tests, for several test files.
// Each test file is its own crate and needs only a part.
#![allow(dead_code)]

use std::fs;
use std::path::{Path, PathBuf};

use menet_io::{ReadOptions, Table, read};

pub(crate) fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

pub(crate) fn write(folder: &tempfile::TempDir, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.path().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, bytes).unwrap();
    path
}

pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

pub(crate) fn load(path: &Path, options: &ReadOptions) -> menet_io::Result<Table> {
    read(path.to_str().unwrap(), options)
}

/// 36 samples of 5 whole numbers in 12 classes, as text.
pub(crate) fn sample() -> (Vec<Vec<i64>>, Vec<i64>) {
    let rows =
        (0..36i64).map(|i| (0..5).map(|j| (i * 7 + j * j * 3 + (i % 12) * (j + 1)) % 23).collect()).collect();
    (rows, (0..36).map(|i| i % 12 + 1).collect())
}
