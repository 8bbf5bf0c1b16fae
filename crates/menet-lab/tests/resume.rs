//! The journal: a stopped run continues to the same results, and a folder of another run is refused.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use menet::Monitor;
use menet_lab::params::MethodParams;
use menet_lab::{Error, NamedSet, Progress, Protocol, Status, TuneOptions, journal, run};

use crate::common::{file, go, protocol, set};

/// Stops after this many cells.
struct StopAfter(usize, AtomicUsize);

impl Monitor for StopAfter {
    fn stop(&self) -> bool {
        self.1.load(Ordering::Relaxed) >= self.0
    }
}

impl Progress for StopAfter {
    fn status(&self, status: Status) {
        self.1.fetch_max(status.done, Ordering::Relaxed);
    }
}

#[test]
fn a_stopped_run_goes_on_to_the_same_results() {
    let (whole, stopped) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (protocol, set) = (protocol(), set(2));
    go(&protocol, &set, whole.path());
    let sets = std::slice::from_ref(&set);
    let error = run(&protocol, sets, stopped.path(), &[], &StopAfter(5, AtomicUsize::new(0))).unwrap_err();
    assert!(matches!(error, Error::Method { source: menet::Error::Stopped { .. }, .. }), "{error}");
    assert!(!stopped.path().join("results.csv").exists(), "nothing half done is shown");
    // A kill in the middle of a line.
    let journal = stopped.path().join(journal::NAME);
    let cells = std::fs::read_to_string(&journal).unwrap();
    let finished = cells.lines().count() - 1;
    assert!((5..=8).contains(&finished), "{finished}");
    std::fs::write(&journal, cells.clone() + &cells[cells.len() / 2..cells.len() - 9]).unwrap();
    go(&protocol, &set, stopped.path());
    for name in ["results.csv", "splits.csv", "run.toml"] {
        assert_eq!(file(whole.path(), name), file(stopped.path(), name), "{name}");
    }
    assert!(file(stopped.path(), journal::NAME).starts_with(&cells), "what was finished is not done again");
}

/// Every file of a run, without seconds.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut out = BTreeMap::new();
    for name in ["results.csv", "splits.csv", "confusion.csv", "choices.csv", "run.toml"] {
        if let Ok(bytes) = std::fs::read(folder.join(name)) {
            out.insert(name.to_owned(), bytes);
        }
    }
    let summary = file(folder, "summary.csv");
    let without: Vec<&str> = summary.lines().map(|line| line.rsplit_once(',').unwrap().0).collect();
    out.insert("summary.csv".to_owned(), without.join("\n").into_bytes());
    for entry in std::fs::read_dir(folder.join("figures")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        out.insert(name, std::fs::read(path).unwrap());
    }
    // The seconds of the report are in a folded table.
    let report = file(folder, "report.html");
    let (head, rest) = report.split_once("<summary>Seconds</summary>").unwrap();
    let (_, tail) = rest.split_once("</details>").unwrap();
    out.insert("report.html".to_owned(), [head, tail].concat().into_bytes());
    out
}

/// The names of the files that differ between two folders.
fn differing(a: &Path, b: &Path) -> Vec<String> {
    let (a, b) = (files(a), files(b));
    let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    names.into_iter().filter(|&name| a.get(name) != b.get(name)).cloned().collect()
}

#[test]
fn raising_the_repeats_gives_what_a_run_at_once_gives() {
    let (at_once, extended) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let set = set(5);
    for tune in [None, Some(TuneOptions { budget: 10, ..TuneOptions::default() })] {
        let of = |repeats| Protocol {
            repeats,
            tune: tune.clone(),
            methods: vec!["men".to_owned(), "pca".to_owned()],
            train_per_class: vec![3],
            ..protocol()
        };
        let name = if tune.is_some() { "tuned" } else { "plain" };
        let (whole, part) = (at_once.path().join(name), extended.path().join(name));
        go(&of(4), &set, &whole);
        let (study, _) = go(&of(1), &set, &part);
        // With one repeat, no file has a standard deviation.
        assert!(study.summary.iter().all(|row| row.sd.is_none()));
        assert!(file(&part, "summary.csv").lines().skip(1).all(|line| line.split(',').nth(4) == Some("")));
        // Scripts after the markup contain these words for other reasons.
        let page = file(&part, "report.html");
        let page = page.split_once("<script").unwrap().0;
        assert!(!page.contains("NaN") && !page.contains('±'));
        go(&of(2), &set, &part);
        let before = file(&part, journal::NAME);
        // If it is stopped in between, the tables are those of two repeats until the new ones are complete.
        let tables = file(&part, "results.csv");
        let error = run(&of(4), std::slice::from_ref(&set), &part, &[], &StopAfter(5, AtomicUsize::new(0)))
            .unwrap_err();
        assert!(matches!(error, Error::Method { source: menet::Error::Stopped { .. }, .. }), "{error}");
        assert_eq!(tables, file(&part, "results.csv"));
        go(&of(4), &set, &part);
        assert_eq!(differing(&whole, &part), [""; 0], "{name}");
        let journal = file(&part, journal::NAME);
        assert!(journal.starts_with(&before), "what was finished is not done again");
        assert_eq!(journal.lines().count(), 1 + 2 * 4, "and nothing twice");
        // Fewer would leave out finished work.
        let message = run(&of(3), std::slice::from_ref(&set), &part, &[], &()).unwrap_err().to_string();
        for word in ["--repeats 3", "4 repeats", "--repeats 4 or more", "another folder"] {
            assert!(message.contains(word), "{message}");
        }
        assert_eq!(differing(&whole, &part), [""; 0], "a refusal changes nothing");
    }
}

#[test]
fn a_folder_of_an_older_format_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let (protocol, set) = (protocol(), set(3));
    let header = r#"{"menet":"0.1.0","protocol":"methods = []\nrepeats = 3\n","data":[]}"#;
    let cell = r#"{"place":{"data":"clusters","train_per_class":3,"repeat":0,"method":"men"},"rates":[[1,50.0]],"seconds":0.1,"chosen":null,"remarks":[],"unsettled":null,"failed":null}"#;
    let cases = [
        (format!("{header}\n{cell}\n"), "format 1"),
        (header.replacen('{', "{\"format\":2,", 1) + "\n", "format 2"),
        (header.replacen('{', "{\"format\":9,", 1) + "\n", "format 9"),
        ("nonsense\n".to_owned(), "cannot be read"),
        ("{\"format\":2}\n".to_owned(), "cannot be read"),
    ];
    for (text, words) in cases {
        let opened = menet_lab::Folder::open(dir.path(), "evaluate", &[]).unwrap();
        let path = opened.file(journal::NAME).unwrap();
        drop(opened);
        std::fs::write(&path, &text).unwrap();
        let message =
            run(&protocol, std::slice::from_ref(&set), dir.path(), &[], &()).unwrap_err().to_string();
        assert!(message.contains(words) && message.contains("another folder"), "{message}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text, "it is left as it was");
    }
}

/// A damaged or incomplete line costs only that cell.
#[test]
fn a_damaged_journal_loses_only_what_is_damaged() {
    let dir = tempfile::tempdir().unwrap();
    let (protocol, set) = (protocol(), set(2));
    go(&protocol, &set, dir.path());
    let before = file(dir.path(), "results.csv");
    let path = dir.path().join(journal::NAME);
    let mut lines: Vec<Vec<u8>> =
        std::fs::read(&path).unwrap().split(|&b| b == b'\n').map(<[u8]>::to_vec).collect();
    let cells = lines.len() - 2;
    lines[3][10] = 0xff;
    std::fs::write(&path, lines.join(&b'\n')).unwrap();
    go(&protocol, &set, dir.path());
    assert_eq!(before, file(dir.path(), "results.csv"));
    let after = std::fs::read(&path).unwrap();
    assert_eq!(after.split(|&b| b == b'\n').count() - 2, cells + 1, "one cell was done again");
}

/// Parameters may be infinite, and JSON has no infinity.
#[test]
fn infinite_penalty_factors_can_be_resumed() {
    let dir = tempfile::tempdir().unwrap();
    let factors = "[men]\npenalty.factors = [1.0, inf, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0]";
    let protocol = Protocol {
        params: MethodParams::parse(factors).unwrap(),
        tune: Some(TuneOptions { budget: 5, ..TuneOptions::default() }),
        methods: vec!["men".to_owned()],
        train_per_class: vec![3],
        ..protocol()
    };
    let (first, _) = go(&protocol, &set(3), dir.path());
    let (second, cells) = go(&protocol, &set(3), dir.path());
    assert_eq!(first.summary, second.summary, "nothing was computed again");
    let chosen = &cells[0].chosen.as_ref().unwrap().params;
    assert_eq!(chosen["penalty"]["factors"].as_array().unwrap()[1].as_float(), Some(f64::INFINITY));
}

#[test]
fn a_folder_of_another_run_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    go(&protocol(), &set(3), dir.path());
    let before = file(dir.path(), "results.csv");
    let refuse = |protocol: &Protocol, set: &NamedSet<'_>, word: &str| {
        let message = run(protocol, std::slice::from_ref(set), dir.path(), &[], &()).unwrap_err().to_string();
        assert!(message.contains("another run") && message.contains(word), "{message}");
    };
    refuse(&Protocol { seed: 8, ..protocol() }, &set(3), "options: seed");
    let more = Protocol { train_per_class: vec![3], methods: vec!["pca".to_owned()], ..protocol() };
    refuse(&more, &set(3), "options: methods, params, train_per_class");
    refuse(&protocol(), &set(4), "data");
    assert_eq!(before, file(dir.path(), "results.csv"));
}
