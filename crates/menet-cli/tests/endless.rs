//! Files that never end, where a file is read whole: each is refused at once.

#![cfg(unix)]

use std::fs;
use std::process::Command;

use crate::common::{ok, refused, small_csv, text};

#[test]
fn devices_are_refused_wherever_a_file_is_read_whole() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("d.csv"), small_csv()).unwrap();
    fs::write(dir.path().join("p.toml"), "[penalty]\nfeature_graph = \"/dev/zero\"\n").unwrap();
    for line in [
        "fit --data d.csv --model m --params /dev/zero",
        "fit --data d.csv --model m --params p.toml",
        "fit --data d.csv --model m --feature-graph /dev/zero",
        "fit --data d.csv --model m --feature-groups /dev/zero",
        "path --data d.csv --params /dev/urandom --out -",
        "validate --data d.csv --params /dev/zero --out v",
        "evaluate --data d.csv --params /dev/zero --out e",
        "tune --data d.csv --params /dev/zero --out t",
        "predict --data d.csv --out p.csv --model /dev/zero",
        "inspect --model /dev/zero",
    ] {
        let refusal = refused(dir.path(), &line.split(' ').collect::<Vec<_>>());
        assert!(refusal.contains("is a device"), "{line}: {refusal}");
    }
}

#[test]
fn an_endless_pipe_is_read_up_to_a_limit() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("d.csv"), small_csv()).unwrap();
    let line =
        format!("yes | '{}' fit --data d.csv --model m --params /dev/stdin", env!("CARGO_BIN_EXE_menet"));
    let output = Command::new("bash").current_dir(dir.path()).args(["-c", &line]).output().unwrap();
    let refusal = text(&output.stderr);
    assert!(output.status.code() == Some(2) && refusal.contains("longer than 64.0 MB"), "{refusal}");
}

#[test]
fn a_pipe_may_hold_parameters_and_groups() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("d.csv"), small_csv()).unwrap();
    fs::write(dir.path().join("p.toml"), "nonzeros = 1\n").unwrap();
    fs::write(dir.path().join("g.csv"), "variable,group\na,one\nb,one\n").unwrap();
    ok(
        dir.path(),
        &["fit", "--data", "d.csv", "--params", "p.toml", "--feature-groups", "g.csv", "--model", "files"],
    );
    let line = format!(
        "'{}' fit --data d.csv --params <(cat p.toml) --feature-groups <(cat g.csv) --model pipes",
        env!("CARGO_BIN_EXE_menet")
    );
    let output = Command::new("bash").current_dir(dir.path()).args(["-c", &line]).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let inspected = |model: &str| ok(dir.path(), &["inspect", "--model", model, "--json"]);
    assert_eq!(inspected("pipes"), inspected("files"));
}
