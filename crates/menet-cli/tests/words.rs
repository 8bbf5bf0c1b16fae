//! How the command explains its numbers, and its notices about labels that do not look like classes.

use std::fs;
use std::path::Path;

use crate::common::{json, menet, ok, refused, text};
use menet::rules::LearnedRule;
use menet_io::ModelFile;

/// The mean score of each class on an axis, from the model file alone.
fn means(path: &Path, axis: usize) -> Vec<(String, f64)> {
    let file = ModelFile::load(path).unwrap();
    let LearnedRule::Nearest(rule) = file.men.rule().unwrap() else { panic!("another rule") };
    let of_class = |(class, name): (usize, &String)| {
        let scores: Vec<f64> = (0..rule.gallery.nrows())
            .filter(|&i| rule.classes[i] == class)
            .map(|i| rule.gallery[(i, axis)])
            .collect();
        (name.clone(), scores.iter().sum::<f64>() / scores.len() as f64)
    };
    file.men.classes().iter().enumerate().map(of_class).collect()
}

#[test]
fn the_ends_of_an_axis_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let fitted = ok(dir.path(), &["fit", "--data", "leukemia", "--nonzeros", "10", "--model", "m"]);
    let report =
        json(dir.path(), &["fit", "--data", "leukemia", "--nonzeros", "10", "--model", "m", "--json"]);
    let shown = ok(dir.path(), &["inspect", "--model", "m"]);
    let inspected = json(dir.path(), &["inspect", "--model", "m", "--json"]);
    for axis in 0..2 {
        let means = means(&dir.path().join("m"), axis);
        let low = means.iter().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
        let high = means.iter().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
        assert_ne!(low.0, high.0);
        for ends in [&report["ends"][axis], &inspected["axes"][axis]["ends"]] {
            for (end, (class, mean)) in [("low", low), ("high", high)] {
                assert_eq!(ends[end]["class"], class.as_str());
                assert!((ends[end]["mean"].as_f64().unwrap() - mean).abs() < 1e-12 * (1.0 + mean.abs()));
            }
            assert_eq!(ends["class_means"].as_array().unwrap().len(), 3);
        }
        let line = shown.lines().filter(|line| line.starts_with("low end: ")).nth(axis).unwrap();
        let (left, right) = line.split_once(" ... high end: ").unwrap();
        assert!(left.starts_with(&format!("low end: {} (mean -", low.0)), "{line}");
        assert!(right.starts_with(&format!("{} (mean +", high.0)), "{line}");
        let row = fitted.lines().find(|line| line.starts_with(&format!("{} ", axis + 1))).unwrap();
        assert!(row.contains(&low.0) && row.contains(&high.0), "{row}");
    }
}

#[test]
fn ends_come_from_the_means_of_a_rule_without_training_samples() {
    let dir = tempfile::tempdir().unwrap();
    let fit = |rule: &'static str| {
        ["fit", "--data", "leukemia", "--nonzeros", "10", "--rule", rule, "--model", rule]
    };
    let ends = |rule: &'static str| {
        ok(dir.path(), &fit(rule));
        json(dir.path(), &["inspect", "--model", rule, "--json"])["axes"][0]["ends"].clone()
    };
    let expected = ends("nearest");
    for rule in ["centroid", "gaussian"] {
        let found = ends(rule);
        for end in ["low", "high"] {
            assert_eq!(found[end]["class"], expected[end]["class"], "{rule}");
            let (a, b) = (found[end]["mean"].as_f64().unwrap(), expected[end]["mean"].as_f64().unwrap());
            assert!((a - b).abs() < 1e-9 * (1.0 + b.abs()), "{rule}: {a} {b}");
        }
    }
}

#[test]
fn a_sparser_axis_has_no_known_ends() {
    let dir = tempfile::tempdir().unwrap();
    ok(dir.path(), &["fit", "--data", "leukemia", "--preset", "paper", "--nonzeros", "10", "--model", "m"]);
    let sparser = ["inspect", "--model", "m", "--nonzeros", "4"];
    let shown = ok(dir.path(), &sparser);
    assert!(!shown.contains("low end") && shown.contains("ends: not known"), "{shown}");
    assert!(json(dir.path(), &[&sparser[..], &["--json"]].concat())["axes"][0]["ends"].is_null());
    // The same number gives the same model.
    let same = ok(dir.path(), &["inspect", "--model", "m", "--nonzeros", "10"]);
    assert!(same.contains("low end: ") && !same.contains("ends: not known"), "{same}");
}

#[test]
fn what_is_printed_is_explained() {
    let dir = tempfile::tempdir().unwrap();
    let fitted = ok(
        dir.path(),
        &["fit", "--data", "leukemia", "--preset", "paper", "--nonzeros", "10", "--model", "m"],
    );
    for word in ["\nlevel: ", "\ncertificate: ", "\nlow end, high end: "] {
        assert!(fitted.contains(word), "{word}: {fitted}");
    }
    let shown = ok(dir.path(), &["inspect", "--model", "m", "--component", "1"]);
    for word in ["\neffect: ", "\nweight: ", "\nentered: "] {
        assert!(shown.contains(word), "{word}: {shown}");
    }
    assert!(!ok(dir.path(), &["inspect", "--model", "m", "-q"]).contains("effect: "));
    // The genes of axis 1: name, effect, weight, order of entry. Weights are near 0.0001 there.
    let rows: Vec<Vec<&str>> = shown
        .lines()
        .skip_while(|line| !line.starts_with("variable "))
        .skip(1)
        .take_while(|line| !line.is_empty())
        .map(|line| line.split_whitespace().rev().collect())
        .collect();
    assert_eq!(rows.len(), 10, "{shown}");
    let inspected = json(dir.path(), &["inspect", "--model", "m", "--json"]);
    for (row, variable) in rows.iter().zip(inspected["axes"][0]["variables"].as_array().unwrap()) {
        let (weight, effect) = (row[1], row[2]);
        for (printed, key) in [(weight, "weight"), (effect, "effect")] {
            assert!(!printed.contains('e') && printed.contains('.'), "{printed}");
            let exact = variable[key].as_f64().unwrap();
            let read: f64 = printed.parse().unwrap();
            assert!((read - exact).abs() <= 0.06 * exact.abs(), "two digits at least: {printed} for {exact}");
        }
        assert_eq!(weight.len(), rows[0][1].len(), "aligned: {shown}");
    }
}

#[test]
fn data_is_named_either_way() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(ok(dir.path(), &["data", "digits"]), ok(dir.path(), &["data", "--data", "digits"]));
    assert!(refused(dir.path(), &["data"]).contains("FILE|FOLDER|SET"));
    assert!(refused(dir.path(), &["data", "digits", "--data", "orl"]).contains("cannot be used with"));
}

#[test]
fn at_most_twenty_classes_are_shown() {
    let dir = tempfile::tempdir().unwrap();
    let shown = ok(dir.path(), &["data", "orl"]);
    assert!(shown.contains("40 classes") && shown.contains("\nand 20 more\n"), "{shown}");
    let rows = |shown: &str| shown.lines().skip_while(|line| !line.starts_with("class ")).skip(1).count();
    // Twenty classes, the line about the others, and a blank line.
    assert_eq!(rows(&shown), 22, "{shown}");
    assert_eq!(json(dir.path(), &["data", "orl", "--json"])["classes"].as_array().unwrap().len(), 40);
    // The largest class comes first.
    let rows: String = (0..30).map(|i| format!("{i},{}\n", ["few", "many", "many"][i % 3])).collect();
    fs::write(dir.path().join("d.csv"), format!("a,label\n{rows}")).unwrap();
    let shown = ok(dir.path(), &["data", "d.csv"]);
    assert!(shown.find("many").unwrap() < shown.find("few").unwrap() && !shown.contains("more"), "{shown}");
}

#[test]
fn a_regression_target_is_noticed() {
    let dir = tempfile::tempdir().unwrap();
    let put = |name: &str, label: &dyn Fn(usize) -> String| {
        let row = |i: usize| format!("{},{},{}\n", i * 7 % 13, i * i % 11, label(i));
        let rows: String = (0..40).map(row).collect();
        fs::write(dir.path().join(name), format!("a,b,label\n{rows}")).unwrap();
    };
    put("measured.csv", &|i| format!("{:.2}", (i * 17 % 40) as f64 * 0.73));
    put("counted.csv", &|i| (i * 17 % 30).to_string());
    put("named.csv", &|i| format!("patient {i}"));
    put("classes.csv", &|i| (i % 4).to_string());
    for (name, word) in [
        ("measured.csv", "regression target"),
        ("counted.csv", "regression target"),
        ("named.csv", "name of the sample"),
    ] {
        for line in [vec!["data", name], vec!["fit", "--data", name, "--model", "m"]] {
            let output = menet(dir.path(), &line);
            let said = text(&output.stderr);
            assert!(
                said.starts_with("menet: note: ") && said.contains(word) && said.contains("--label"),
                "{line:?}: {said}"
            );
        }
        let doubt = json(dir.path(), &["data", name, "--json"])["label_doubt"].clone();
        assert!(doubt.as_str().unwrap().contains(word), "{doubt}");
    }
    let fine = menet(dir.path(), &["fit", "--data", "classes.csv", "--model", "m", "--json"]);
    assert_eq!(text(&fine.stderr), "");
    assert!(serde_json::from_slice::<serde_json::Value>(&fine.stdout).unwrap()["label_doubt"].is_null());
    assert!(json(dir.path(), &["data", "classes.csv", "--json"])["label_doubt"].is_null());
}
