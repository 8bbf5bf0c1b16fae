//! What the command does when it fails: exit codes, messages, and no files left behind.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{menet, names, ok, text};

#[test]
fn bad_input() {
    let dir = tempfile::tempdir().unwrap();
    let put = |name: &str, bytes: &[u8]| fs::write(dir.path().join(name), bytes).unwrap();
    put("good.csv", b"a,b,label\n1,2,x\n2,1,y\n3,5,x\n4,4,y\n");
    put("other.csv", b"q,r,label\n1,2,x\n2,1,y\n");
    put("empty.csv", b"");
    put("header.csv", b"a,b,label\n");
    put("ragged.csv", b"a,b,label\n1,2,x\n1,2\n");
    put("text.csv", b"a,b,label\n1,two,x\n2,1,y\n");
    put("missing.csv", b"a,b,label\n1,,x\n2,1,y\n");
    put("huge.csv", b"a,b,label\n1,1e400,x\n2,1,y\n");
    put("large.csv", b"a,b,label\n1,1e200,x\n2,1,y\n");
    put("one.csv", b"a,b,label\n1,2,x\n2,1,x\n");
    put("single.csv", b"a,b,label\n1,2,x\n");
    put("constant.csv", b"a,b,label\n1,2,x\n1,2,y\n");
    put("twice.csv", b"a,a,label\n1,2,x\n2,1,y\n");
    put("nolabel.csv", b"a,b\n1,2\n2,1\n");
    put("bad.npz", b"PK\x03\x04 and no more");
    put("bad.npy", b"\x93NUMPY\x01\x00\xff\xff{");
    put("bad.svm", b"1 3:x\n");
    put("bad-images-idx3-ubyte", b"\0\0\x08\x03");
    put("data.xyz", b"1");
    put("notamodel", b"hello");
    put("bad.toml", b"ridge = \"much\"\n");
    put("unknown.toml", b"rigde = 1\n");
    put("labels.txt", b"x\ny\n");
    put("semicolons.csv", b"a;b;label\n1;2;x\n");
    put("unlabelled.csv", b"a,b,label\n1,2,x\n2,1,\n3,3,y\n");
    fs::create_dir(dir.path().join("folder")).unwrap();
    ok(dir.path(), &["fit", "--data", "good.csv", "--preset", "paper", "--model", "good"]);
    let before = names(dir.path());
    let fit = |data: &'static str| vec!["fit", "--data", data, "--model", "out"];
    let with = |more: &[&'static str]| [&["fit", "--data", "good.csv", "--model", "out"], more].concat();
    let cases: Vec<(Vec<&str>, i32, &str)> = vec![
        (vec!["export", "--model", "good"], 2, "--onnx FILE, --json, or --sql TABLE"),
        (vec!["fly"], 2, "unrecognized"),
        (vec!["fit", "--data", "good.csv"], 2, "--model"),
        (fit("nothing.csv"), 2, "no such file"),
        (fit("empty.csv"), 2, "empty"),
        (fit("header.csv"), 2, "no data"),
        (fit("ragged.csv"), 2, "ragged.csv"),
        (fit("text.csv"), 2, "line 2, column \"b\": \"two\""),
        (fit("missing.csv"), 2, "--impute mean"),
        (fit("huge.csv"), 2, "1e400"),
        (fit("large.csv"), 2, "row 0, column 1"),
        (fit("one.csv"), 2, "1 class found"),
        (fit("single.csv"), 2, "1 class found"),
        (fit("constant.csv"), 2, "constant"),
        (fit("twice.csv"), 2, "more than once"),
        (fit("nolabel.csv"), 2, "no label column \"label\" among \"a\", \"b\""),
        (fit("bad.npz"), 2, "bad.npz"),
        (fit("bad.npy"), 2, "bad.npy"),
        (fit("bad.svm"), 2, "line 1"),
        (fit("bad-images-idx3-ubyte"), 2, "header"),
        (fit("data.xyz"), 2, "unknown format"),
        (fit("folder"), 2, "no sub-folders"),
        (fit("semicolons.csv"), 2, "semicolons"),
        (fit("unlabelled.csv"), 2, "sample 2 of 3 has no label"),
        (with(&["--label", "class"]), 2, "no column \"class\""),
        (with(&["--set", "manifold.kappa=-1"]), 2, "`manifold.kappa` is -1"),
        (vec!["fit", "--data", "good.csv", "--model", "-"], 2, "cannot be written to standard output"),
        (vec!["predict", "--model", "good", "--data", "good.csv", "--out", "l.parquet"], 2, "only .csv"),
        (with(&["--drop", "q"]), 2, "\"q\""),
        (with(&["--labels", "labels.txt"]), 2, "2 labels for 4 samples"),
        (with(&["--shape", "3x3"]), 2, "3x3"),
        (with(&["--shape", "big"]), 2, "40x40"),
        (with(&["--set", "components=2"]), 2, "use 1 to 1"),
        (with(&["--set", "components=0"]), 2, "`components` is 0"),
        (with(&["--nonzeros", "0"]), 2, "`nonzeros` is 0"),
        (with(&["--nonzeros", "-3"]), 2, "--nonzeros: `nonzeros` is \"-3\", but must be a whole number"),
        (with(&["--ridge=-1"]), 2, "`ridge` is -1"),
        (with(&["--ridge", "NaN"]), 2, "`ridge` is NaN"),
        (with(&["--set", "manifold.floor=2"]), 2, "`manifold.floor` is 2"),
        (with(&["--set", "patch=umap"]), 2, "one of dla"),
        (with(&["--set", "target=moon"]), 2, "one of centres"),
        (with(&["--set", "rule.metric=taxi"]), 2, "one of euclidean"),
        (with(&["--preset", "mine"]), 2, "one of default"),
        (with(&["--refit", "all"]), 2, "one of none"),
        (with(&["--rule", "vote"]), 2, "one of nearest"),
        (with(&["--set", "refit.relax=2"]), 2, "`refit.relax` is 2"),
        (with(&["--set", "rule.k=0"]), 2, "`rule.k` is 0"),
        (with(&["--panel-size", "0"]), 2, "`panel_size` is 0"),
        (with(&["--set", "rule.priors=even"]), 2, "train, equal, or one number per class"),
        (with(&["--set", "rule.priors=0.2,0.3,0.5"]), 2, "there are 2 classes"),
        (with(&["--set", "rule.priors=0,1"]), 2, "`rule.priors` is 0"),
        (
            with(&["--set", "penalty.factors=1,x"]),
            2,
            "`penalty.factors` is \"1,x\", but must be one number per variable",
        ),
        (with(&["--set", "penalty.factors=1"]), 2, "2 variables"),
        (with(&["--params", "bad.toml"]), 2, "bad.toml"),
        (with(&["--params", "unknown.toml"]), 2, "rigde"),
        (with(&["--params", "absent.toml"]), 2, "absent.toml"),
        (
            with(&["--set", "manifold.definiteness=error", "--set", "manifold.kappa=50"]),
            1,
            "largest admissible kappa",
        ),
        (vec!["fit", "--data", "good.csv", "--model", "no/such/folder/m"], 1, "does not exist"),
        (vec!["fit", "--data", "good.csv", "--model", "folder"], 1, "is a folder"),
        (vec!["transform", "--model", "absent", "--data", "good.csv", "--out", "z.csv"], 2, "absent"),
        (
            vec!["transform", "--model", "notamodel", "--data", "good.csv", "--out", "z.csv"],
            2,
            "not a usable menet model",
        ),
        (vec!["transform", "--model", "folder", "--data", "good.csv", "--out", "z.csv"], 2, "folder"),
        (
            vec!["transform", "--model", "good", "--data", "other.csv", "--out", "z.csv"],
            2,
            "variables that the model needs: \"a\", \"b\"",
        ),
        (
            vec!["transform", "--model", "good", "--data", "digits", "--out", "z.csv"],
            2,
            "learned from 2 variables",
        ),
        (vec!["transform", "--model", "good", "--data", "good.csv", "--out", "z.doc"], 2, "use .csv"),
        (
            vec!["transform", "--model", "good", "--data", "good.csv", "--out", "z.csv", "--nonzeros", "0"],
            2,
            "nonzeros",
        ),
        (
            vec!["predict", "--model", "good", "--data", "good.csv", "--out", "l.csv", "--neighbors", "0"],
            2,
            "neighbors",
        ),
        (
            vec!["predict", "--model", "good", "--data", "good.csv", "--out", "l.csv", "--components", "9"],
            2,
            "1 to 1",
        ),
        (vec!["inspect", "--model", "good", "--component", "7"], 2, "axes 1 to 1"),
        (vec!["inspect", "--model", "good", "--png", "p"], 2, "not of images"),
        (vec!["path", "--data", "good.csv", "--component", "0", "--out", "p.csv"], 2, "axes 1 to 1"),
        (vec!["data", "nowhere"], 2, "built-in set (orl, leukemia, digits)"),
    ];
    assert!(cases.len() >= 40);
    for (arguments, code, expected) in cases {
        let output = menet(dir.path(), &arguments);
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {message}");
        assert!(message.contains(expected), "{arguments:?}: {message}");
        assert!(!message.contains("panicked"), "{arguments:?}: {message}");
        assert_eq!(names(dir.path()), before, "{arguments:?} left something behind");
    }
}

#[test]
#[cfg(unix)]
fn a_reader_that_goes_away_is_no_error() {
    let dir = tempfile::tempdir().unwrap();
    ok(dir.path(), &["fit", "--data", "digits", "--nonzeros", "5", "--model", "m"]);
    ok(dir.path(), &["fit", "--data", "leukemia", "--nonzeros", "5", "--model", "genes"]);
    for command in [
        "data orl",
        "data --json digits",
        "inspect --model m",
        "inspect --model m --panel --csv -",
        "inspect --model m --json",
        "transform --model m --data digits --out -",
        "predict --model m --data digits --out -",
        "path --data digits --nonzeros 3 --out -",
        "export --model genes --json",
        "export --model genes --sql t",
        "fit --data digits --nonzeros 3 --model m",
        "fit --data digits --nonzeros 3 --model m --json",
        "completions bash",
        "completions zsh",
        "completions fish",
        "man",
        "man fit",
        "--help",
        "fit --help",
        "--version",
    ] {
        let line = format!(
            // Nobody reads: the first byte that leaves finds the pipe closed.
            "'{}' {command} | exec <&-; exit ${{PIPESTATUS[0]}}",
            env!("CARGO_BIN_EXE_menet")
        );
        let output = Command::new("bash").current_dir(dir.path()).args(["-c", &line]).output().unwrap();
        let notes = text(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{command}: {notes}");
        // Notices about the data may stand there.
        assert!(notes.lines().all(|line| line.starts_with("menet: note:")), "{command}: {notes}");
    }
}

#[test]
fn a_full_disk_is_an_error() {
    // Needs a device that is always full.
    if !Path::new("/dev/full").exists() {
        eprintln!("skipped: there is no /dev/full");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    ok(dir.path(), &["fit", "--data", "digits", "--nonzeros", "5", "--model", "m"]);
    let output = Command::new(env!("CARGO_BIN_EXE_menet"))
        .current_dir(dir.path())
        .args(["transform", "--model", "m", "--data", "digits", "--out", "-"])
        .stdout(full)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("cannot be written"));
}
