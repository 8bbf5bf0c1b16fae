//! Running the command, for several test files.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

pub(crate) fn menet(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_menet")).current_dir(folder).args(arguments).output().unwrap()
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs the command, expects success, and returns the output.
pub(crate) fn ok(folder: &Path, arguments: &[&str]) -> String {
    let output = menet(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

pub(crate) fn json(folder: &Path, arguments: &[&str]) -> serde_json::Value {
    serde_json::from_str(&ok(folder, arguments)).unwrap()
}

/// Runs the command, expects exit code 2, and returns the message.
pub(crate) fn refused(folder: &Path, arguments: &[&str]) -> String {
    let output = menet(folder, arguments);
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
    message
}

/// The names of the files in a folder, including hidden ones.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// A small data set of two classes and three variables.
pub(crate) fn small_csv() -> String {
    let row = |i: usize| {
        format!("{},{},{},{}\n", i * 7 % 5 + i % 2 * 4, i * 3 % 7, i * i % 11 + i % 2, ["no", "yes"][i % 2])
    };
    "a,b,c,label\n".to_owned() + &(0..20).map(row).collect::<String>()
}
