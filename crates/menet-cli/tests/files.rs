//! Real-world files, from the command line: names of samples, labels, notices, standard input, too little memory.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::{menet, refused, text};

/// The output and the notices of a successful run.
fn ok(folder: &Path, arguments: &[&str]) -> (String, String) {
    let output = menet(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    (text(&output.stdout), text(&output.stderr))
}

/// Thirty samples of three variables in two classes, with names.
fn table(folder: &Path, name: &str, labels: [&str; 2], shift: usize) {
    let mut csv = String::from("patient,a,b,c,label\n");
    for i in 0..30 {
        let (a, b, c) = ((i * 7 + shift) % 11 + 6 * (i % 2), (i * 5 + shift) % 13, (i * 3) % 7 + i % 2);
        csv += &format!("P{i},{a}.5,{b},{c},{}\n", labels[i % 2]);
    }
    fs::write(folder.join(name), csv).unwrap();
}

#[test]
fn names_of_samples_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    table(dir.path(), "d.csv", ["no", "yes"], 0);
    let said = refused(dir.path(), &["fit", "--data", "d.csv", "--model", "m"]);
    assert!(said.contains("--id \"patient\""), "{said}");
    ok(dir.path(), &["fit", "--data", "d.csv", "--id", "patient", "--model", "m"]);
    let with = |command: &'static str, out: &'static str| {
        [command, "--model", "m", "--data", "d.csv", "--id", "patient", "--out", out]
    };
    let (printed, _) = ok(dir.path(), &with("transform", "-"));
    assert!(printed.starts_with("patient,z1\nP0,"), "{printed}");
    ok(dir.path(), &with("predict", "l.csv"));
    assert!(
        fs::read_to_string(dir.path().join("l.csv")).unwrap().starts_with("patient,label,probability\nP0,")
    );
    ok(dir.path(), &with("transform", "z.parquet"));
    let (shown, _) = ok(dir.path(), &["data", "z.parquet", "--id", "patient", "--json"]);
    assert!(shown.contains("\"p\":1"), "{shown}");
    let (_, noticed) = ok(dir.path(), &with("transform", "z.npy"));
    assert!(noticed.contains("does not hold the names"), "{noticed}");
}

#[test]
fn scores_of_training_samples_are_called_worthless() {
    let dir = tempfile::tempdir().unwrap();
    table(dir.path(), "d.csv", ["no", "yes"], 0);
    table(dir.path(), "new.csv", ["no", "yes"], 1);
    ok(dir.path(), &["fit", "--data", "d.csv", "--id", "patient", "--model", "m"]);
    let predict = |data: &'static str| {
        ["predict", "--model", "m", "--data", data, "--id", "patient", "--out", "l.csv", "--json"]
    };
    let (said, noticed) = ok(dir.path(), &predict("d.csv"));
    assert!(noticed.contains("fitted to 30 of these 30 samples"), "{noticed}");
    assert!(said.contains("\"training_samples\":30"), "{said}");
    let (said, noticed) = ok(dir.path(), &predict("new.csv"));
    assert!(noticed.is_empty() && said.contains("\"training_samples\":0"), "{noticed}{said}");
    let quiet = [&predict("d.csv")[..], &["--quiet"]].concat();
    assert!(ok(dir.path(), &quiet).1.is_empty());
}

#[test]
fn labels_that_the_model_does_not_know_are_reported() {
    let dir = tempfile::tempdir().unwrap();
    table(dir.path(), "d.csv", ["1", "2"], 0);
    table(dir.path(), "same.csv", ["1.0", " 2"], 1);
    table(dir.path(), "other.csv", ["one", "2"], 1);
    ok(dir.path(), &["fit", "--data", "d.csv", "--id", "patient", "--model", "m"]);
    let predict = |data: &'static str| {
        ["predict", "--model", "m", "--data", data, "--id", "patient", "--out", "l.csv", "--json"]
    };
    let rate =
        |said: &str| serde_json::from_str::<serde_json::Value>(said).unwrap()["rate"].as_f64().unwrap();
    let (said, noticed) = ok(dir.path(), &predict("same.csv"));
    assert!(noticed.is_empty() && rate(&said) > 60.0, "{said}{noticed}");
    let (said, noticed) = ok(dir.path(), &predict("other.csv"));
    assert!(
        noticed.contains("not classes of the model: \"one\"") && said.contains("[\"one\"]"),
        "{noticed}{said}"
    );
}

#[test]
fn a_split_keeps_every_sample_once() {
    let dir = tempfile::tempdir().unwrap();
    table(dir.path(), "d.csv", ["no", "yes"], 0);
    let split = [
        "split",
        "--data",
        "d.csv",
        "--id",
        "patient",
        "--train",
        "a.csv",
        "--test",
        "b.csv",
        "--fraction",
        "0.2",
    ];
    let (said, _) = ok(dir.path(), &split);
    assert!(said.contains("24 samples to fit") && said.contains("6 samples to test"), "{said}");
    let read = |name: &str| fs::read_to_string(dir.path().join(name)).unwrap();
    let rows = |name: &str| read(name).lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
    assert!(read("a.csv").starts_with("id,label,a,b,c\n"));
    let mut all = [rows("a.csv"), rows("b.csv")].concat();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 30);
    let yes = rows("b.csv").iter().filter(|row| row.contains("yes")).count();
    assert_eq!(yes, 3, "as many of each class");
    let before = read("a.csv");
    ok(dir.path(), &split);
    assert_eq!(read("a.csv"), before, "the same seed, the same split");
    let (_, noticed) = ok(dir.path(), &["fit", "--data", "a.csv", "--model", "m"]);
    assert!(noticed.contains("\"id\") names the samples"), "{noticed}");
    let predict = ["predict", "--model", "m", "--data", "b.csv", "--out", "l.csv"];
    assert!(!ok(dir.path(), &predict).1.contains("fitted to"));
    assert!(read("l.csv").starts_with("id,label,probability\nP"));
    let wrong = [&split[..10], &["1.5"]].concat();
    assert!(refused(dir.path(), &wrong).contains("fraction"));
    fs::write(dir.path().join("gap.csv"), "a,label\n1,x\n4,\n2,x\n9,y\n3,y\n").unwrap();
    let gap = ["split", "--data", "gap.csv", "--train", "c.csv", "--test", "d2.csv"];
    assert!(refused(dir.path(), &gap).contains("sample 2 of 5 has no label"));
    assert!(!dir.path().join("c.csv").exists());
}

#[test]
fn standard_input_is_read() {
    let dir = tempfile::tempdir().unwrap();
    table(dir.path(), "d.csv", ["no", "yes"], 0);
    let piped = |arguments: &[&str], bytes: &[u8]| {
        let mut child = Command::new(env!("CARGO_BIN_EXE_menet"))
            .current_dir(dir.path())
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(bytes).unwrap();
        child.wait_with_output().unwrap()
    };
    let bytes = fs::read(dir.path().join("d.csv")).unwrap();
    let output = piped(&["data", "-", "--id", "patient", "--json"], &bytes);
    assert!(text(&output.stdout).contains("\"n\":30"), "{}", text(&output.stderr));
    let semicolons = text(&bytes).replace(',', ";").replace('.', ",");
    let how = ["data", "-", "--id", "patient", "--delimiter", ";", "--decimal", ",", "--json"];
    assert!(text(&piped(&how, semicolons.as_bytes()).stdout).contains("\"n\":30"));
    let redirected = Command::new(env!("CARGO_BIN_EXE_menet"))
        .current_dir(dir.path())
        .args(["fit", "--data", "-", "--id", "patient", "--model", "d.csv"])
        .stdin(fs::File::open(dir.path().join("d.csv")).unwrap())
        .output()
        .unwrap();
    assert_eq!(redirected.status.code(), Some(2), "{}", text(&redirected.stderr));
    assert_eq!(fs::read(dir.path().join("d.csv")).unwrap(), bytes, "what is read is not overwritten");
    let output = piped(&["data", "-", "--format", "npz"], b"PK");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("standard input"), "{}", text(&output.stderr));
}

#[test]
#[cfg(target_os = "linux")]
fn too_little_memory_is_an_error_with_an_estimate() {
    let dir = tempfile::tempdir().unwrap();
    // 60 MB of text become 240 MB of numbers.
    let line = vec!["7"; 2000].join(",") + "\n";
    let header: Vec<String> = (0..2000).map(|j| format!("v{j}")).collect();
    fs::write(dir.path().join("d.csv"), header.join(",") + "\n" + &line.repeat(15_000)).unwrap();
    let limited = |kilobytes: usize, arguments: &str| {
        let command = format!("ulimit -v {kilobytes}; exec '{}' {arguments}", env!("CARGO_BIN_EXE_menet"));
        Command::new("sh").current_dir(dir.path()).args(["-c", &command]).output().unwrap()
    };
    // Small data need little memory, also on several threads.
    fs::write(dir.path().join("s.csv"), header.join(",") + "\n" + &line.repeat(3)).unwrap();
    let output = limited(350_000, "data s.csv --threads 4");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let output = limited(250_000, "data d.csv --threads 1");
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("its numbers take about") && said.contains("are available"), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
}

#[test]
fn damaged_arrow_files_end_in_one_line() {
    let dir = tempfile::tempdir().unwrap();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../menet-io/tests/data/sample-lz4.feather");
    let bytes = fs::read(fixture).unwrap();
    for round in 0..60 {
        let mut damaged = bytes.clone();
        damaged[round * 7919 % bytes.len()] ^= 1 << (round % 8);
        fs::write(dir.path().join("d.feather"), damaged).unwrap();
        let output = menet(dir.path(), &["data", "d.feather", "--quiet"]);
        let said = text(&output.stderr);
        assert!(output.status.code().is_some_and(|code| code <= 2), "{said}");
        assert!(said.lines().count() <= 1 && !said.contains("panicked"), "{said}");
    }
}
