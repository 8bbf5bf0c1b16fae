//! `menet validate`: what it prints and writes, groups, and a run that is killed at any moment.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::common::{json, menet, names, ok, refused, small_csv, text};

/// The small set with a patient per two samples and names of samples.
fn patients() -> String {
    let with = |(i, line): (usize, &str)| match i {
        0 => format!("{line},patient,id\n"),
        i => format!("{line},p{},s{i}\n", (i - 1) / 4),
    };
    small_csv().lines().enumerate().map(with).collect()
}

fn quick(out: &str) -> Vec<&str> {
    let options = "--data d.csv --folds 3 --repeats 2 --permutations 12 --pairs 3 --nonzeros 1,2 --out";
    ["validate"].into_iter().chain(options.split(' ')).chain([out]).collect()
}

fn with<'a>(base: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [base, more].concat()
}

#[test]
fn the_three_answers_are_printed_and_written() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("d.csv"), patients()).unwrap();
    let more = ["--groups", "patient", "--compare", "flda", "--model", "m.safetensors", "--json"];
    let found = json(dir.path(), &with(&quick("trust"), &more));
    for score in [&found["balanced_accuracy"], &found["methods"][1]["balanced_accuracy"]] {
        let number = |name: &str| score[name].as_f64().unwrap();
        assert!(0.0 <= number("low") && number("low") <= number("mean") && number("mean") <= number("high"));
        assert!(number("high") <= 1.0);
    }
    assert!(found["p_value"].as_f64().is_some_and(|p| p > 0.0 && p <= 1.0), "{found}");
    assert!(found["stability"]["index"].as_f64().unwrap() <= 1.0);
    assert!(found["stability"]["low"].is_f64() && found["stability"]["high"].is_f64());
    assert!(found["seconds"].as_f64().unwrap() > 0.0);
    let panel = found["panel"].as_array().unwrap();
    assert!(!panel.is_empty() && panel.iter().all(|row| "abc".contains(row["name"].as_str().unwrap())));
    assert!(panel.iter().all(|row| (0.0..=1.0).contains(&row["frequency"].as_f64().unwrap())));
    let there = names(&dir.path().join("trust"));
    for file in ["report.html", "scores.csv", "panel.csv", "permutations.csv", "figures"] {
        assert!(there.iter().any(|name| name == file), "{file} is not among {there:?}");
    }
    let samples = fs::read_to_string(dir.path().join("trust/samples.csv")).unwrap();
    assert!(
        samples.starts_with("method,row,name,class,tested,wrong,most_often,p(no),p(yes)\nmen,0,s1,no,2,")
    );
    let predict = "predict --model m.safetensors --data d.csv --drop patient --out labels.csv";
    ok(dir.path(), &predict.split(' ').collect::<Vec<_>>());
    // For people.
    let said = ok(dir.path(), &with(&quick("trust"), &more[..4]));
    for words in
        ["balanced accuracy", "95 %", "permutations of the labels", "half-samples", "panel of", "report.html"]
    {
        assert!(said.contains(words), "{words} is not in {said}");
    }
}

/// Every file below a folder, with its bytes.
fn bytes(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for inner in [folder.to_owned(), folder.join("figures")] {
        for name in names(&inner) {
            let path = inner.join(&name);
            if path.is_file() {
                all.push((name, fs::read(path).unwrap()));
            }
        }
    }
    all
}

#[test]
fn a_killed_run_continues_to_the_same_bytes() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("d.csv"), patients()).unwrap();
    let base = with(&quick("trust"), &["--groups", "patient", "--all-permutations"]);
    let base: Vec<&str> = base.into_iter().map(|word| if word == "12" { "40" } else { word }).collect();
    ok(dir.path(), &base);
    let whole = bytes(&dir.path().join("trust"));
    for wait in [0, 30, 90, 200, 400, 700] {
        fs::rename(dir.path().join("trust"), dir.path().join(format!("before-{wait}"))).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_menet"))
            .current_dir(dir.path())
            .args(&base)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(wait));
        child.kill().unwrap();
        child.wait().unwrap();
        ok(dir.path(), &base);
        let again = bytes(&dir.path().join("trust"));
        let named = |all: &[(String, Vec<u8>)]| all.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        assert_eq!(named(&whole), named(&again), "after {wait} ms");
        for ((name, a), (_, b)) in whole.iter().zip(&again) {
            assert!(a == b, "{name} differs after {wait} ms");
        }
    }
}

#[test]
fn wrong_options_are_refused_before_any_work() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("d.csv"), patients()).unwrap();
    for (more, words) in [
        (vec!["--groups", "hospital"], "hospital"),
        (vec!["--groups", "label"], "--label"),
        (vec!["--link", "javascript:alert('{name}')"], "https://"),
        (vec!["--compare", "magic"], "magic"),
        (vec!["--compare", "men"], "twice"),
        (vec!["--threshold", "0.4"], "--threshold 0.4"),
        (vec!["--inner-folds", "1"], "--inner-folds 1"),
        (vec!["--ridge=-1"], "`ridge` is -1"),
        (vec!["--rule", "majority"], "majority"),
        (vec!["--one-standard-error", "--most-stable"], "cannot be used with"),
        (vec!["--model", "-"], "standard output"),
        (vec!["--model", "d.csv"], "overwrite"),
        (vec!["--impute", "zero"], "mean, median, knn"),
    ] {
        let message = refused(dir.path(), &with(&with(&quick("trust"), &["--drop", "patient"]), &more));
        assert!(message.contains(words), "{more:?}: {message}");
    }
    assert!(!dir.path().join("trust").exists(), "nothing was begun");
    let each = ["validate", "--data", "d.csv", "--leave-one-group-out", "--out", "trust"];
    assert!(refused(dir.path(), &each).contains("--groups"));
    fs::write(dir.path().join("g.txt"), "x\n".repeat(400)).unwrap();
    let one = ["validate", "--data", "orl", "--groups", "g.txt", "--out", "orl"];
    assert!(refused(dir.path(), &one).contains("one group"));
    let none = ["validate", "--data", "orl", "--groups", "none.txt", "--out", "orl"];
    assert!(refused(dir.path(), &none).contains("one group per line"));
}

#[test]
fn a_folder_of_another_run_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("d.csv"), patients()).unwrap();
    let base = with(&quick("trust"), &["--groups", "patient"]);
    ok(dir.path(), &base);
    let message = refused(dir.path(), &with(&base, &["--seed", "1"]));
    assert!(message.contains("another run") && message.contains("seed"), "{message}");
    let message = refused(dir.path(), &with(&quick("trust"), &["--drop", "patient"]));
    assert!(message.contains("another run"), "{message}");
}

#[test]
fn files_of_others_and_finished_work_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("d.csv"), patients()).unwrap();
    let base = with(&quick("trust"), &["--drop", "patient"]);
    fs::create_dir(dir.path().join("trust")).unwrap();
    fs::write(dir.path().join("trust/report.html"), "mine").unwrap();
    assert!(refused(dir.path(), &base).contains("overwritten"));
    assert_eq!(fs::read_to_string(dir.path().join("trust/report.html")).unwrap(), "mine");
    fs::remove_dir_all(dir.path().join("trust")).unwrap();
    ok(dir.path(), &base);
    let journal = dir.path().join("trust").join(menet_lab::validate::NAME);
    let lines = |path: &Path| fs::read_to_string(path).unwrap().lines().count();
    let all = lines(&journal);
    // Fewer permutations leave the others for later.
    let fewer: Vec<&str> = base.iter().map(|word| if *word == "12" { "2" } else { word }).collect();
    ok(dir.path(), &fewer);
    assert_eq!(lines(&journal), all);
    // A run that finished nothing leaves its folder free.
    let header = fs::read_to_string(&journal).unwrap().lines().next().unwrap().to_owned() + "\n";
    let mark = dir.path().join("trust").join(menet_lab::folder::MARK);
    let heading = fs::read_to_string(&mark).unwrap().lines().next().unwrap().to_owned();
    fs::remove_dir_all(dir.path().join("trust")).unwrap();
    fs::create_dir(dir.path().join("trust")).unwrap();
    fs::write(mark, format!("{heading}\n{}\n", menet_lab::validate::NAME)).unwrap();
    fs::write(&journal, header).unwrap();
    ok(dir.path(), &with(&base, &["--seed", "3"]));
}

#[test]
fn classes_that_are_too_small_are_named_and_do_not_count() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("d.csv"), small_csv() + "1,2,3,tiny\n").unwrap();
    let output = menet(dir.path(), &quick("trust"));
    let (said, noted) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success() && said.contains("balanced accuracy of 0.500"), "{said}{noted}");
    assert!(noted.contains("tiny"), "{noted}");
    let one = small_csv().replace("no\n", "yes\n") + "1,2,3,no\n2,3,1,no\n";
    fs::write(dir.path().join("d.csv"), one).unwrap();
    assert!(refused(dir.path(), &quick("other")).contains("only samples of class \"yes\""));
}
