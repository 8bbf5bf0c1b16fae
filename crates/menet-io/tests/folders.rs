//! Folders of images, whose names are those of classes.

use std::path::Path;

use menet_io::ReadOptions;

use crate::common::{folder, load};

/// Two classes of two images, in folders of these names.
fn pictures(top: &Path, classes: &[&std::ffi::OsStr]) {
    for (k, class) in classes.iter().enumerate() {
        std::fs::create_dir(top.join(class)).unwrap();
        for i in 0..2 {
            let grey = image::GrayImage::from_fn(3, 2, |x, y| image::Luma([(x + y) as u8 * 9 + k as u8 + i]));
            grey.save(top.join(class).join(format!("{i}.png"))).unwrap();
        }
    }
}

/// What is said of folders of these names.
fn refused(classes: &[&std::ffi::OsStr]) -> String {
    let top = folder();
    pictures(top.path(), classes);
    load(top.path(), &ReadOptions::default()).map(|table| table.labels).unwrap_err().to_string()
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_whose_name_is_not_utf8_is_refused() {
    use std::os::unix::ffi::OsStrExt;
    let names = [&b"\xe4"[..], &b"\xf6"[..]].map(std::ffi::OsStr::from_bytes);
    let message = refused(&names);
    assert!(message.contains("not UTF-8") && message.contains("rename"), "{message}");
}

#[test]
fn two_folders_are_two_classes() {
    let message = refused(&["1".as_ref(), "1.0".as_ref()]);
    assert!(message.contains("both stand for the class \"1\""), "{message}");
    let top = folder();
    pictures(top.path(), &["1".as_ref(), "01".as_ref()]);
    let table = load(top.path(), &ReadOptions::default()).unwrap();
    assert_eq!(table.labels.unwrap(), ["01", "01", "1", "1"]);
}
