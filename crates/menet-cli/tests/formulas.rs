//! Names that a spreadsheet would run as formulas: in tables for people they become texts, in data they stay, and the user is told.

use std::fs;

use crate::common::{menet, ok, text};

const GENE: &str = "=cmd|' /C calc'!A0";
const CLASS: &str = "@yes";

/// Samples with hostile names of everything that has a name.
fn hostile() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let row = |i: usize| {
        let class = [CLASS, "-no"][i % 2];
        format!("+{i}+1,{class},{},{},{}\n", i * 7 % 5 + i % 2 * 9, i * 3 % 7, i * i % 11)
    };
    let rows = (0..24).map(row).collect::<String>();
    fs::write(dir.path().join("d.csv"), format!("id,label,{GENE},+b,c\n{rows}")).unwrap();
    dir
}

/// The cells of a CSV file.
fn cells(text: &str) -> Vec<String> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
    reader.records().flat_map(|row| row.unwrap().iter().map(str::to_owned).collect::<Vec<_>>()).collect()
}

#[test]
fn tables_for_people_hold_no_formula() {
    let dir = hostile();
    ok(dir.path(), &["fit", "--data", "d.csv", "--model", "m"]);
    ok(dir.path(), &["inspect", "--model", "m", "--panel", "--csv", "panel.csv"]);
    ok(dir.path(), &["path", "--data", "d.csv", "--component", "1", "--out", "path.csv"]);
    let quick =
        ["--repeats", "2", "--folds", "2", "--permutations", "9", "--pairs", "2", "--nonzeros", "1,2"];
    ok(dir.path(), &[&["validate", "--data", "d.csv", "--out", "v"][..], &quick].concat());
    ok(dir.path(), &["evaluate", "--data", "d.csv", "--methods", "men", "--repeats", "2", "--out", "e"]);
    let mut files = vec!["panel.csv".to_owned(), "path.csv".to_owned()];
    for folder in ["v", "e"] {
        let found = crate::common::names(&dir.path().join(folder));
        files.extend(
            found.iter().filter(|name| name.ends_with(".csv")).map(|name| format!("{folder}/{name}")),
        );
    }
    assert!(files.len() > 10, "{files:?}");
    let mut seen = String::new();
    for file in files {
        let text = fs::read_to_string(dir.path().join(&file)).unwrap();
        for cell in cells(&text) {
            let formula = cell.starts_with(['=', '+', '-', '@']) && cell.parse::<f64>().is_err();
            assert!(!formula, "{file}: {cell:?}");
        }
        seen += &text;
    }
    for name in [GENE, CLASS, "-no", "+b", "+1+1"] {
        assert!(seen.contains(&format!("'{name}")), "{name} is nowhere");
    }
}

#[test]
fn data_keep_their_names_and_the_user_is_told() {
    let dir = hostile();
    let notes_of = |arguments: &[&str]| {
        let output = menet(dir.path(), arguments);
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        text(&output.stderr)
    };
    let split = notes_of(&["split", "--data", "d.csv", "--train", "train.csv", "--test", "test.csv"]);
    assert!(split.contains("train.csv: ") && split.contains("as a formula does"), "{split}");
    notes_of(&["fit", "--data", "train.csv", "--model", "m"]);
    let predicted = notes_of(&["predict", "--model", "m", "--data", "test.csv", "--out", "labels.csv"]);
    assert!(predicted.contains("labels.csv: ") && predicted.contains("as a formula does"), "{predicted}");
    let moved = notes_of(&["transform", "--model", "m", "--data", "test.csv", "--out", "z.csv"]);
    assert!(moved.contains("z.csv: ") && moved.contains("as a formula does"), "{moved}");
    for file in ["train.csv", "labels.csv", "z.csv"] {
        let text = fs::read_to_string(dir.path().join(file)).unwrap();
        assert!(cells(&text).iter().any(|cell| cell.starts_with('+')), "{file}: {text}");
        assert!(!cells(&text).iter().any(|cell| cell.starts_with('\'')), "{file}: {text}");
    }
}
