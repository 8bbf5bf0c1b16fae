//! Variables that are always in a model, and never, from the command line.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::common::{json, ok, refused};

/// Forty samples of four variables that tell two classes apart or not, and `age` and `sex`, which do not.
fn write_samples(folder: &Path) {
    let mut text = "label,left,right,noise,flat,age,sex\n".to_owned();
    for i in 0..40_i32 {
        let class = i % 2;
        let wave = |step: i32| f64::from((i * step) % 17) / 17.0;
        let (left, right) = (f64::from(class) + wave(3), wave(5) - f64::from(class));
        writeln!(text, "{class},{left},{right},{},1.0,{},{}", wave(7), 20 + (i * 11) % 50, i / 3 % 2)
            .unwrap();
    }
    fs::write(folder.join("samples.csv"), text).unwrap();
}

#[test]
fn a_fit_tells_which_variables_were_forced() {
    let dir = tempfile::tempdir().unwrap();
    write_samples(dir.path());
    let line = ["fit", "--data", "samples.csv", "--model", "m", "--panel-size", "1", "--always", "age, sex"];
    let line = [&line[..], &["--never", "left"]].concat();
    let said = ok(dir.path(), &line);
    for part in [
        "panel of 1 distinct variable, chosen from 4 candidates; ",
        "always in, not counted in the panel: age, sex\n",
        "never in: left\n",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let report = json(dir.path(), &[&line[..], &["--json"]].concat());
    assert_eq!(report["panel_size"], 1);
    assert_eq!((report["always"][1].as_str(), report["never"][0].as_str()), (Some("sex"), Some("left")));
    let shown = ok(dir.path(), &["inspect", "--model", "m", "--panel"]);
    assert!(shown.contains("always in, not counted in the panel: age, sex\n"), "{shown}");
    let rows = |shown: &str| shown.lines().filter(|line| line.trim_end().ends_with(" always")).count();
    assert_eq!(rows(&shown), 2, "{shown}");
    assert_eq!(rows(&ok(dir.path(), &["inspect", "--model", "m"])), 2);
    let inspected = json(dir.path(), &["inspect", "--model", "m", "--panel", "--json"]);
    assert_eq!((inspected["panel_size"].as_u64(), inspected["always"][0].as_str()), (Some(1), Some("age")));
    let always = inspected["panel"].as_array().unwrap().iter().filter(|row| row["always"] == true);
    assert_eq!(always.count(), 2);
}

#[test]
fn a_parameter_file_has_them_as_lists() {
    let dir = tempfile::tempdir().unwrap();
    write_samples(dir.path());
    fs::write(
        dir.path().join("p.toml"),
        "panel_size = 1\n[penalty]\nalways = [\"age\", 5]\nnever = [\"left\"]\n",
    )
    .unwrap();
    let line = ["fit", "--data", "samples.csv", "--model", "m", "--params", "p.toml", "--json"];
    let report = json(dir.path(), &line);
    assert_eq!((report["always"][0].as_str(), report["always"][1].as_str()), (Some("age"), Some("sex")));
    for command in ["evaluate", "tune", "validate"] {
        fs::write(dir.path().join("q.toml"), "penalty.always = [\"agee\"]").unwrap();
        let method: &[&str] = if command == "evaluate" { &["--methods", "men"] } else { &[] };
        let line = [&[command, "--data", "samples.csv", "--params", "q.toml", "--out", "o"], method].concat();
        let refusal = refused(dir.path(), &line);
        assert!(
            refusal.contains("`penalty.always` is \"agee\"") && refusal.contains("near matches are \"age\""),
            "{refusal}"
        );
    }
}

#[test]
fn what_cannot_be_honoured_is_told() {
    let dir = tempfile::tempdir().unwrap();
    write_samples(dir.path());
    fn fit<'a>(more: &[&'a str]) -> Vec<&'a str> {
        [&["fit", "--data", "samples.csv", "--model", "m"], more].concat()
    }
    for (flags, expected) in
        [(["--always", "Agee"], "near matches are \"age\""), (["--never", "age,,sex"], "a name is empty")]
    {
        let said = refused(dir.path(), &fit(&flags));
        assert!(said.contains(expected), "{said}");
    }
    let said = refused(dir.path(), &fit(&["--always", "age", "--never", "age"]));
    assert!(said.contains("which `penalty.always` has as well"), "{said}");
    let said = json(dir.path(), &fit(&["--always", "flat", "--json"]));
    assert!(said["doubts"][0].as_str().unwrap().contains("always in, but left out"), "{said}");
    assert_eq!(said["always"].as_array().unwrap().len(), 0);
}
