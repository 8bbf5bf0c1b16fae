//! What people meet first: the command alone, the demo of genes, manual pages, a flag that is nearly right.

use crate::common::{json, menet, names, ok, refused, small_csv, text};

#[test]
fn the_command_alone_says_what_to_try() {
    let dir = tempfile::tempdir().unwrap();
    let said = ok(dir.path(), &[]);
    assert_eq!(said.lines().count(), 10, "{said}");
    assert!(said.lines().all(|line| line.len() <= 110), "{said}");
    // Every command that it names can be asked for help.
    for line in said.lines().filter(|line| line.starts_with("  menet ")) {
        let name = line.split_whitespace().nth(1).unwrap();
        assert!(ok(dir.path(), &[name, "--help"]).contains("Usage: menet"), "{name}");
    }
}

#[test]
fn the_demo_of_genes_counts_patients_that_were_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let report = json(dir.path(), &["demo", "--genes", "--json"]);
    assert_eq!((report["n"].as_u64(), report["variables"].as_u64()), (Some(38), Some(5000)));
    let right: Vec<u64> =
        report["rates"].as_array().unwrap().iter().map(|rate| rate["right"].as_u64().unwrap()).collect();
    // More genes, more patients; half of the patients would be luck.
    assert!(right.is_sorted() && right[0] > 19 && right[3] > 34 && right[3] <= 38, "{right:?}");
    assert_eq!(report["panel"].as_array().unwrap().len(), 5);
    assert_eq!(names(dir.path()).len(), 0, "it writes nothing");
    assert!(ok(dir.path(), &["demo", "--genes"]).contains(report["panel"][0]["variable"].as_str().unwrap()));
    refused(dir.path(), &["demo", "--genes", "--out", "folder"]);
}

#[test]
fn every_command_has_a_manual_page() {
    let dir = tempfile::tempdir().unwrap();
    ok(dir.path(), &["man", "--out", "pages"]);
    let pages = names(&dir.path().join("pages"));
    assert!(pages.contains(&"menet.1".to_owned()) && pages.len() > 14, "{pages:?}");
    for page in pages.iter().filter(|page| *page != "menet.1") {
        let name = page.strip_prefix("menet-").unwrap().strip_suffix(".1").unwrap();
        let printed = ok(dir.path(), &["man", name]);
        assert!(printed.contains(&format!(".TH menet-{name} 1")), "{printed}");
        assert_eq!(printed, std::fs::read_to_string(dir.path().join("pages").join(page)).unwrap());
    }
    assert!(refused(dir.path(), &["man", "fitt"]).contains("there are fit,"));
}

#[test]
fn slips_are_answered_with_what_was_meant() {
    let dir = tempfile::tempdir().unwrap();
    for (slip, meant) in [
        (&["fitt"][..], "'fit'"),
        (&["fit", "--dta", "orl"], "'--data'"),
        (&["fit", "--data", "orl", "--model", "m", "--panelsize", "3"], "'--panel-size'"),
        (&["fit", "--data", "orl", "--model", "m", "--penalty", "scda"], "scad"),
    ] {
        let said = refused(dir.path(), slip);
        assert!(said.contains(meant), "{said}");
    }
    std::fs::write(dir.path().join("d.csv"), small_csv()).unwrap();
    let said = refused(dir.path(), &["fit", "--data", "d.csv", "--label", "Label", "--model", "m"]);
    assert!(said.contains("did you mean \"label\"?"), "{said}");
    ok(dir.path(), &["fit", "--data", "d.csv", "--model", "m"]);
    let said = refused(dir.path(), &["export", "--model", "m", "--sql", "d.sql"]);
    assert!(said.contains("the name of a table") && said.contains("--out d.sql"), "{said}");
    let said = refused(dir.path(), &["export", "--model", "m", "--sql", "t", "--precision", "double"]);
    assert!(said.contains("--precision is for --onnx"), "{said}");
    let unnamed = menet(dir.path(), &["export", "--model", "m", "--sql", " "]);
    assert!(!unnamed.status.success() && text(&unnamed.stderr).contains("has no name"));
}
