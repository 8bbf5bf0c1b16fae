//! Missing values, batches and scales from the command line.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::common;
use crate::common::{json, menet, ok, refused};

/// Sixty samples of counts in two runs, some of them missing; `rare` is missing mostly.
fn write_samples(folder: &Path) {
    let mut text = "run,label,a,b,c,d,rare\n".to_owned();
    for i in 0..60_usize {
        let (run, class) = ((i / 2) % 2, i % 2);
        write!(text, "r{run},k{class}").unwrap();
        for j in 0..5 {
            let value = (i * 7 + j * 13 + i * j) % 11 + 6 * usize::from(j == class) + 20 * run;
            let gap = (i * 5 + j * 3) % 13 == 0 || (j == 4 && i % 3 != 0);
            if gap { text.push(',') } else { write!(text, ",{value}.{i:02}").unwrap() }
        }
        text.push('\n');
    }
    fs::write(folder.join("d.csv"), text).unwrap();
}

const DATA: [&str; 4] = ["--data", "d.csv", "--batch", "run"];

#[test]
fn a_model_prepares_new_samples_as_it_prepared_its_own() {
    let dir = tempfile::tempdir().unwrap();
    write_samples(dir.path());
    for impute in ["mean", "median", "knn"] {
        let fit = [
            "fit",
            "--impute",
            impute,
            "--scale",
            "log1p-unit",
            "--set",
            "prepare.batch_scale=true",
            "--model",
            "m",
        ];
        let said = ok(dir.path(), &[&fit[..], &DATA].concat());
        for part in [
            "scale: log1p-unit\n",
            "batches: values less the mean of their batch, of 2, and divided by their deviation there\n",
            &format!("in 5 variables, filled by {impute}; most in rare 68.3 %"),
        ] {
            assert!(said.contains(part), "{part}: {said}");
        }
        let report = json(dir.path(), &[&fit[..], &DATA, &["--json"]].concat());
        let preparation = &report["preparation"];
        assert_eq!(
            (preparation["dropped"][0].as_str(), preparation["impute"].as_str()),
            (Some("rare"), Some(impute))
        );
        assert_eq!(preparation["batches"].as_array().unwrap().len(), 2);
        assert!(preparation["missing"]["rare"].as_f64().unwrap() > 0.6);
        assert!(report["doubts"][0].as_str().unwrap().contains("rare"), "{report}");
        let inspected = json(dir.path(), &["inspect", "--model", "m", "--json"]);
        assert_eq!(inspected["preparation"], *preparation);
        // The whole file, and samples of a known batch by themselves.
        let whole = ok(dir.path(), &[&["transform", "--model", "m", "--out", "-"], &DATA[..]].concat());
        let text = fs::read_to_string(dir.path().join("d.csv")).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        fs::write(dir.path().join("one.csv"), format!("{}\n{}\n", lines[0], lines[8])).unwrap();
        let one = ["transform", "--model", "m", "--data", "one.csv", "--batch", "run", "--out", "-"];
        assert_eq!(ok(dir.path(), &one).lines().nth(1), whole.lines().nth(8));
        let message = refused(
            dir.path(),
            &["transform", "--model", "m", "--data", "d.csv", "--drop", "run", "--out", "-"],
        );
        assert!(message.contains("batch"), "{message}");
        let predicted =
            json(dir.path(), &[&["predict", "--model", "m", "--out", "p.csv", "--json"], &DATA[..]].concat());
        assert!(
            predicted["rate"].as_f64().unwrap() > 80.0 && predicted["training_samples"] == 60,
            "{predicted}"
        );
    }
}

#[test]
fn a_new_batch_is_measured_by_its_own_samples() {
    let dir = tempfile::tempdir().unwrap();
    write_samples(dir.path());
    ok(dir.path(), &[&["fit", "--impute", "mean", "--model", "m"], &DATA[..]].concat());
    let text = fs::read_to_string(dir.path().join("d.csv")).unwrap();
    let known = ok(dir.path(), &[&["transform", "--model", "m", "--out", "-"], &DATA[..]].concat());
    // The same samples under other names of their batches have the same centres.
    fs::write(dir.path().join("new.csv"), text.replace("r0,", "x,").replace("r1,", "y,")).unwrap();
    let new =
        ok(dir.path(), &["transform", "--model", "m", "--data", "new.csv", "--batch", "run", "--out", "-"]);
    assert_eq!(new, known);
    fs::write(
        dir.path().join("one.csv"),
        text.lines().take(2).collect::<Vec<_>>().join("\n").replace("r0,", "x,"),
    )
    .unwrap();
    let message = refused(
        dir.path(),
        &["transform", "--model", "m", "--data", "one.csv", "--batch", "run", "--out", "-"],
    );
    assert!(message.contains("\"x\"") && message.contains("at least 2 samples"), "{message}");
    // A model without batches says that it does not need them.
    ok(dir.path(), &["fit", "--data", "d.csv", "--drop", "run", "--impute", "mean", "--model", "plain"]);
    let output = menet(dir.path(), &[&["transform", "--model", "plain", "--out", "-"], &DATA[..]].concat());
    assert!(
        common::text(&output.stderr).contains("--batch run has no effect"),
        "{}",
        common::text(&output.stderr)
    );
}

#[test]
fn experiments_take_missing_values() {
    let dir = tempfile::tempdir().unwrap();
    write_samples(dir.path());
    let evaluate = ["evaluate", "--train-per-class", "12", "--repeats", "2", "--methods", "men,pca,flda"];
    let message = refused(dir.path(), &[&evaluate[..], &DATA, &["--out", "no"]].concat());
    assert!(message.contains("\"a\"") && message.contains("--impute mean"), "{message}");
    let prepared = ["--impute", "knn", "--scale", "unit"];
    let found = json(dir.path(), &[&evaluate[..], &DATA, &prepared, &["--out", "run", "--json"]].concat());
    assert_eq!(found["summary"].as_array().unwrap().len(), 3);
    assert_eq!(found["failed"].as_array().unwrap().len(), 0, "{found}");
    let record = fs::read_to_string(dir.path().join("run/run.toml")).unwrap();
    assert!(record.contains("knn") && record.contains("unit"), "{record}");
    for method in ["men", "slpp"] {
        let tune = ["tune", "--method", method, "--folds", "3", "--out", "tuned", "--json"];
        assert!(json(dir.path(), &[&tune[..], &DATA, &prepared].concat())["rate"].as_f64().unwrap() > 60.0);
    }
    assert!(fs::read_to_string(dir.path().join("tuned/best.toml")).is_ok());
    let validate =
        ["validate", "--repeats", "1", "--permutations", "19", "--pairs", "4", "--compare", "pca", "--json"];
    let found = json(dir.path(), &[&validate[..], &DATA, &prepared, &["--out", "trust"]].concat());
    assert!(found["balanced_accuracy"]["mean"].as_f64().unwrap() > 0.7, "{found}");
    let page = fs::read_to_string(dir.path().join("trust/report.html")).unwrap();
    assert!(page.contains("menet predict"), "a page cannot know the batch of a new sample");
    // Whole batches are held out where they are groups, too.
    let groups = [
        "validate",
        "--groups",
        "run",
        "--leave-one-group-out",
        "--permutations",
        "0",
        "--pairs",
        "0",
        "--json",
    ];
    let found = json(dir.path(), &[&groups[..], &DATA, &prepared, &["--out", "left"]].concat());
    assert!(found["balanced_accuracy"]["mean"].as_f64().unwrap() > 0.5, "{found}");
}

#[test]
fn split_keeps_batches_and_gaps() {
    let dir = tempfile::tempdir().unwrap();
    write_samples(dir.path());
    ok(dir.path(), &[&["split", "--train", "train.csv", "--test", "test.csv"], &DATA[..]].concat());
    let train = fs::read_to_string(dir.path().join("train.csv")).unwrap();
    assert!(train.starts_with("label,run,a,b,c,d,rare\n"), "{train}");
    ok(dir.path(), &["fit", "--data", "train.csv", "--batch", "run", "--impute", "median", "--model", "m"]);
    let line =
        ["predict", "--model", "m", "--data", "test.csv", "--batch", "run", "--out", "p.csv", "--json"];
    assert_eq!(json(dir.path(), &line)["training_samples"], 0);
}

#[test]
fn what_is_wrong_is_told() {
    let dir = tempfile::tempdir().unwrap();
    write_samples(dir.path());
    let fit = |more: &[&str]| refused(dir.path(), &[&["fit", "--model", "m"], &DATA[..], more].concat());
    for (more, words) in [
        (&["--impute", "zero"][..], "mean, median, knn"),
        (&["--impute", "mean", "--set", "prepare.max_missing=2"], "from 0 to 1"),
        (&["--impute", "mean", "--scale", "auto"], "pareto"),
        (&["--impute", "mean", "--set", "prepare.max_missing=0"], "no variable is left"),
        (&["--impute", "mean", "--always", "rare"], "68 %"),
        (&[], "--impute mean"),
    ] {
        let message = fit(more);
        assert!(message.contains(words), "{more:?}: {message}");
    }
    fs::write(dir.path().join("n.csv"), "a,b,label\n1,2,x\n-3,1,y\n3,5,x\n6,4,y\n").unwrap();
    let message = refused(dir.path(), &["fit", "--data", "n.csv", "--scale", "log1p", "--model", "m"]);
    assert!(message.contains("variable \"a\"") && message.contains("-3"), "{message}");
}
