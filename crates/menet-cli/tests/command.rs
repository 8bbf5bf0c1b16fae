//! The command as people and scripts use it: results, exit codes, and what is left on the disk.

mod common;

use std::fs;
use std::path::Path;
use std::process::Command;

use common::{json, menet, names, ok, text};
use menet::panel::Reading;
use menet::{MenParams, fit};
use menet_io::{ModelFile, ReadOptions};

#[test]
fn fit_transform_predict_equal_the_library_bit_for_bit() {
    let dir = tempfile::tempdir().unwrap();
    let line = "fit --data leukemia --preset paper --nonzeros 15 --model m --json";
    let report = json(dir.path(), &line.split(' ').collect::<Vec<_>>());
    let table = menet_io::read("leukemia", &ReadOptions::default()).unwrap();
    let data = table.dataset().unwrap();
    let men = fit(&data, &MenParams { nonzeros: Some(15), ..MenParams::paper() }, &()).unwrap();
    assert_eq!((report["n"].as_u64(), report["p"].as_u64()), (Some(38), Some(5000)));
    assert_eq!(report["nonzeros"], serde_json::json!([15, 15]));
    assert!(report["kkt"].as_array().unwrap().iter().all(|kkt| kkt.as_f64().unwrap() < 1e-12));
    assert_eq!(report["definiteness"]["kappa_used"].as_f64().unwrap(), men.definiteness().kappa_used);
    assert!(report["seconds"]["total"].as_f64().unwrap() > 0.0);

    let loaded = ModelFile::load(&dir.path().join("m")).unwrap();
    assert_eq!(loaded.men.projection(), men.projection());
    assert_eq!(loaded.men.paths(), men.paths());

    ok(dir.path(), &["transform", "--model", "m", "--data", "leukemia", "--out", "z.csv"]);
    let z = menet_io::read(dir.path().join("z.csv").to_str().unwrap(), &ReadOptions::default()).unwrap();
    assert_eq!(z.feature_names.as_deref().unwrap(), ["z1", "z2"]);
    assert_eq!(z.matrix().unwrap(), men.transform(data.x().unwrap()).unwrap());
    ok(
        dir.path(),
        &[
            "transform",
            "--model",
            "m",
            "--data",
            "leukemia",
            "--out",
            "z.npy",
            "--nonzeros",
            "4",
            "--components",
            "1",
        ],
    );
    let z = menet_io::read(dir.path().join("z.npy").to_str().unwrap(), &ReadOptions::default()).unwrap();
    let reading = Reading { nonzeros: Some(4), panel_size: None, components: Some(1) };
    assert_eq!(z.matrix().unwrap(), men.at(reading, None).unwrap().transform(data.x().unwrap()).unwrap());

    ok(dir.path(), &["transform", "--model", "m", "--data", "leukemia", "--out", "z.parquet"]);
    let z = menet_io::read(dir.path().join("z.parquet").to_str().unwrap(), &ReadOptions::default()).unwrap();
    assert_eq!(z.matrix().unwrap(), men.transform(data.x().unwrap()).unwrap());
    assert_eq!(z.feature_names.as_deref().unwrap(), ["z1", "z2"]);

    let report =
        json(dir.path(), &["predict", "--model", "m", "--data", "leukemia", "--out", "l.csv", "--json"]);
    assert_eq!((report["n"].as_u64(), report["rate"].as_f64()), (Some(38), Some(100.0)));
    assert!(fs::read_to_string(dir.path().join("l.csv")).unwrap().starts_with("label,probability\nALL-B,0."));
    assert_eq!(names(dir.path()), ["l.csv", "m", "z.csv", "z.npy", "z.parquet"]);
}

#[test]
fn large_sparse_data_stay_sparse_from_end_to_end() {
    let dir = tempfile::tempdir().unwrap();
    // 400 samples of some 100,000 variables: 320 MB, were they dense.
    let line = |i: usize| {
        let mut pairs: Vec<(usize, usize)> =
            (0..8).map(|k| ((i * 7919 + k * 12_501) % 90_000 + 1000, 1 + k % 3)).collect();
        pairs.extend([(1 + 10 * (i % 3) + i / 3 % 7, 2), (100_000, 1 + i % 2)]);
        pairs.sort_unstable();
        pairs.dedup_by_key(|pair| pair.0);
        let pairs: Vec<String> = pairs.iter().map(|(index, value)| format!("{index}:{value}")).collect();
        format!("{} {}\n", i % 3, pairs.join(" "))
    };
    fs::write(dir.path().join("d.svm"), (0..400).map(line).collect::<String>()).unwrap();
    // Samples that lack the last variables are samples all the same.
    let cut = |i: usize| line(i).rsplit_once(' ').unwrap().0.to_owned() + "\n";
    fs::write(dir.path().join("few.svm"), (0..9).map(cut).collect::<String>()).unwrap();
    let report = json(dir.path(), &["fit", "--data", "d.svm", "--nonzeros", "20", "--model", "m", "--json"]);
    assert_eq!((report["n"].as_u64(), report["p"].as_u64()), (Some(400), Some(100_000)));
    assert!(report["kkt"].as_array().unwrap().iter().all(|kkt| kkt.as_f64().unwrap() < 1e-9));

    let table = menet_io::read(dir.path().join("d.svm").to_str().unwrap(), &ReadOptions::default()).unwrap();
    let data = table.dataset().unwrap();
    assert!(data.sparse().is_some());
    let men = fit(&data, &MenParams { nonzeros: Some(20), ..MenParams::default() }, &()).unwrap();
    assert_eq!(ModelFile::load(&dir.path().join("m")).unwrap().men.projection(), men.projection());
    ok(dir.path(), &["transform", "--model", "m", "--data", "d.svm", "--out", "z.npy"]);
    let z = menet_io::read(dir.path().join("z.npy").to_str().unwrap(), &ReadOptions::default()).unwrap();
    assert_eq!(z.matrix().unwrap(), men.projection().project(&data).unwrap());
    let predict = ["predict", "--model", "m", "--data", "few.svm", "--out", "l.csv", "--json"];
    assert_eq!(json(dir.path(), &predict)["n"].as_u64(), Some(9));
    let shown = json(dir.path(), &["data", "d.svm", "--json"]);
    assert_eq!(shown["p"].as_u64(), Some(100_000));
    assert!(shown["constant_columns"].as_u64().unwrap() > 90_000);

    let before = names(dir.path());
    let methods = ["--methods", "men,pca", "--train-per-class", "5", "--out", "run"];
    let refused = menet(dir.path(), &[&["evaluate", "--data", "d.svm"], &methods[..]].concat());
    assert_eq!(refused.status.code(), Some(2));
    let said = text(&refused.stderr);
    assert!(said.contains("400 x 100000") && said.contains("dense"), "{said}");
    assert_eq!(names(dir.path()), before, "nothing is left behind");
}

#[test]
fn columns_in_any_order_and_parameters_from_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let line = |i: usize, order: [usize; 3]| {
        let x = [
            (i * 7 % 5) as f64 + (i % 2) as f64 * 4.0,
            (i * 3 % 7) as f64,
            (i * i % 11) as f64 + (i % 2) as f64,
        ];
        order.map(|k| x[k].to_string()).join(",")
    };
    let rows = |order| -> Vec<String> { (0..20).map(|i| line(i, order)).collect() };
    let labelled: String = rows([0, 1, 2])
        .iter()
        .enumerate()
        .map(|(i, row)| format!("{row},{}\n", ["no", "yes"][i % 2]))
        .collect();
    fs::write(dir.path().join("d.csv"), format!("a,b,c,label\n{labelled}")).unwrap();
    fs::write(dir.path().join("other.csv"), format!("c,a,b\n{}\n", rows([2, 0, 1]).join("\n"))).unwrap();
    fs::write(dir.path().join("p.toml"), "nonzeros = 2\nridge = 0.5\npatch = \"lle\"\n").unwrap();
    ok(dir.path(), &["fit", "--data", "d.csv", "--params", "p.toml", "--ridge", "0.25", "--model", "m"]);
    let model = ModelFile::load(&dir.path().join("m")).unwrap();
    let params = model.men.params();
    assert_eq!(
        (params.nonzeros, params.ridge, params.patch.as_str()),
        (Some(2), Some(0.25), "lle"),
        "flags win over the file"
    );
    let one = ok(dir.path(), &["transform", "--model", "m", "--data", "d.csv", "--out", "-"]);
    let two = ok(dir.path(), &["transform", "--model", "m", "--data", "other.csv", "--out", "-"]);
    assert_eq!(one, two);
}

#[test]
fn odd_names_and_labels_survive() {
    let dir = tempfile::tempdir().unwrap();
    let labels = ["a \"b\", c", "<script>alert(1)</script>", "größe 漢字 🙂"];
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let mut csv = format!("{},{},label\n", quoted("x, \"y\""), quoted("<b>&"));
    for i in 0..12 {
        csv += &format!("{},{},{}\n", i % 3 * 4 + i, i % 3 + i * i % 5, quoted(labels[i % 3]));
    }
    fs::write(dir.path().join("d.csv"), csv).unwrap();
    ok(dir.path(), &["fit", "--data", "d.csv", "--preset", "paper", "--model", "m"]);
    ok(dir.path(), &["predict", "--model", "m", "--data", "d.csv", "--out", "l.csv"]);
    let found = menet_io::read(dir.path().join("l.csv").to_str().unwrap(), &ReadOptions::default()).unwrap();
    let expected: Vec<&str> = (0..12).map(|i| labels[i % 3]).collect();
    assert_eq!(found.labels.unwrap(), expected);
    let shown = json(dir.path(), &["inspect", "--model", "m", "--json"]);
    let variables = shown["axes"][0]["variables"].as_array().unwrap();
    let mut names: Vec<&str> = variables.iter().map(|v| v["variable"].as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, ["<b>&", "x, \"y\""]);
}

#[test]
fn the_recall_of_approximate_neighbours_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let fit = ["fit", "--data", "leukemia", "--nonzeros", "5", "--model", "m"];
    assert!(json(dir.path(), &[&fit[..], &["--json"]].concat())["neighbor_recall"].is_null());
    assert!(!ok(dir.path(), &["inspect", "--model", "m"]).contains("approximate"));
    let approximate = [&fit[..], &["--neighbors", "approximate"]].concat();
    // So few samples that all are compared.
    assert!(ok(dir.path(), &approximate).contains("approximate neighbours, 100.0% of the true ones"));
    assert_eq!(json(dir.path(), &[&approximate[..], &["--json"]].concat())["neighbor_recall"], 1.0);
    assert!(ok(dir.path(), &["inspect", "--model", "m"]).contains("100.0% of the true ones"));
    let shown = json(dir.path(), &["inspect", "--model", "m", "--json"]);
    assert_eq!(
        (&shown["neighbor_recall"], &shown["params"]["neighbors"]),
        (&1.0.into(), &"approximate".into())
    );
}

#[test]
fn what_people_see() {
    let dir = tempfile::tempdir().unwrap();
    let demo = ok(dir.path(), &["demo"]);
    assert!(demo.contains("recognised") && demo.contains("menet-demo"), "{demo}");
    assert_eq!(names(&dir.path().join("menet-demo")).len(), 40);
    assert!(demo.contains("PCA"), "{demo}");
    ok(dir.path(), &["fit", "--data", "digits", "--preset", "paper", "--nonzeros", "9", "--model", "m"]);
    let shown = ok(dir.path(), &["inspect", "--model", "m", "--component", "2", "--png", "p"]);
    assert!(shown.contains("axis 2 uses 9 of 64") && shown.contains("row "), "{shown}");
    let shown = json(dir.path(), &["inspect", "--model", "m", "--json", "--top", "3"]);
    assert_eq!(shown["axes"].as_array().unwrap().len(), 9);
    assert_eq!(shown["axes"][0]["variables"].as_array().unwrap().len(), 3);
    let data = json(dir.path(), &["data", "digits", "--json"]);
    assert_eq!((data["n"].as_u64(), data["shape"][0].as_u64()), (Some(1797), Some(8)));
    assert_eq!(data["classes"][9]["name"], "9");
    let path = ok(dir.path(), &["path", "--data", "digits", "--nonzeros", "3", "--out", "-"]);
    assert!(path.starts_with("knot,lambda,l1_norm,feature,coefficient\n1,"), "{path}");
    fs::write(dir.path().join("odd.csv"), "<script>,\"a,\"\"b\",label\n1,2,x\n2,1,y\n3,5,x\n4,4,y\n")
        .unwrap();
    ok(dir.path(), &["path", "--data", "odd.csv", "--out", "p.csv", "--svg", "p.svg"]);
    let svg = fs::read_to_string(dir.path().join("p.svg")).unwrap();
    assert!(svg.contains("<svg") && !svg.contains("<script>"));
    assert!(fs::read_to_string(dir.path().join("p.csv")).unwrap().contains("<script>"));
    assert!(ok(dir.path(), &["completions", "bash"]).contains("menet"));
    assert!(ok(dir.path(), &["man"]).contains(".TH menet"));
}

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
        (vec![], 2, "Usage"),
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
        (with(&["--kappa", "-1"]), 2, "`kappa` is -1"),
        (vec!["fit", "--data", "good.csv", "--model", "-"], 2, "a file of its own"),
        (vec!["predict", "--model", "good", "--data", "good.csv", "--out", "l.parquet"], 2, "only .csv"),
        (with(&["--drop", "q"]), 2, "\"q\""),
        (with(&["--labels", "labels.txt"]), 2, "2 labels for 4 samples"),
        (with(&["--shape", "3x3"]), 2, "3x3"),
        (with(&["--shape", "big"]), 2, "40x40"),
        (with(&["--components", "2"]), 2, "use 1 to 1"),
        (with(&["--components", "0"]), 2, "`components` is 0"),
        (with(&["--nonzeros", "0"]), 2, "`nonzeros` is 0"),
        (with(&["--nonzeros", "-3"]), 2, "invalid"),
        (with(&["--ridge=-1"]), 2, "`ridge` is -1"),
        (with(&["--ridge", "NaN"]), 2, "`ridge` is NaN"),
        (with(&["--floor", "2"]), 2, "`floor` is 2"),
        (with(&["--patch", "umap"]), 2, "one of dla"),
        (with(&["--target", "moon"]), 2, "one of centres"),
        (with(&["--metric", "taxi"]), 2, "one of euclidean"),
        (with(&["--preset", "mine"]), 2, "one of default"),
        (with(&["--refit", "all"]), 2, "one of none"),
        (with(&["--rule", "vote"]), 2, "one of nearest"),
        (with(&["--relax", "2"]), 2, "`relax` is 2"),
        (with(&["--voters", "0"]), 2, "`voters` is 0"),
        (with(&["--panel-size", "0"]), 2, "`panel_size` is 0"),
        (with(&["--priors", "even"]), 2, "train, equal, or one number per class"),
        (with(&["--priors", "0.2,0.3,0.5"]), 2, "there are 2 classes"),
        (with(&["--priors", "0,1"]), 2, "`priors` is 0"),
        (with(&["--penalty-factors", "1,x"]), 2, "not a number"),
        (with(&["--penalty-factors", "1"]), 2, "2 variables"),
        (with(&["--params", "bad.toml"]), 2, "bad.toml"),
        (with(&["--params", "unknown.toml"]), 2, "rigde"),
        (with(&["--params", "absent.toml"]), 2, "absent.toml"),
        (with(&["--definiteness", "error", "--kappa", "50"]), 1, "largest admissible kappa"),
        (vec!["fit", "--data", "good.csv", "--model", "no/such/folder/m"], 1, "does not exist"),
        (vec!["fit", "--data", "good.csv", "--model", "folder"], 1, "is a folder"),
        (vec!["transform", "--model", "absent", "--data", "good.csv", "--out", "z.csv"], 2, "absent"),
        (
            vec!["transform", "--model", "notamodel", "--data", "good.csv", "--out", "z.csv"],
            2,
            "not a usable menet model",
        ),
        (vec!["transform", "--model", "folder", "--data", "good.csv", "--out", "z.csv"], 2, "folder"),
        (vec!["transform", "--model", "good", "--data", "other.csv", "--out", "z.csv"], 2, "no column \"a\""),
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
fn missing_values_become_the_training_mean() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("d.csv"), "a,b,label\n1,2,x\n2,1,y\n3,5,x\n6,4,y\n").unwrap();
    ok(dir.path(), &["fit", "--data", "d.csv", "--model", "m"]);
    // One sample alone, the mean of a (3) filled in.
    fs::write(dir.path().join("gap.csv"), "a,b\n,4\n").unwrap();
    fs::write(dir.path().join("full.csv"), "a,b\n3,4\n").unwrap();
    let gap =
        ok(dir.path(), &["transform", "--model", "m", "--data", "gap.csv", "--impute", "mean", "--out", "-"]);
    assert_eq!(gap, ok(dir.path(), &["transform", "--model", "m", "--data", "full.csv", "--out", "-"]));
    assert_eq!(
        menet(dir.path(), &["transform", "--model", "m", "--data", "gap.csv", "--out", "-"]).status.code(),
        Some(2)
    );
}

#[test]
#[cfg(unix)]
fn a_reader_that_goes_away_is_no_error() {
    let dir = tempfile::tempdir().unwrap();
    ok(dir.path(), &["fit", "--data", "digits", "--nonzeros", "5", "--model", "m"]);
    for command in ["data orl", "inspect --model m", "transform --model m --data digits --out -", "man"] {
        let line = format!(
            "'{}' {command} | head -c 1 >/dev/null; exit ${{PIPESTATUS[0]}}",
            env!("CARGO_BIN_EXE_menet")
        );
        let output = Command::new("bash").current_dir(dir.path()).args(["-c", &line]).output().unwrap();
        assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), ""), "{command}");
    }
}

#[test]
fn quiet_and_verbose() {
    let dir = tempfile::tempdir().unwrap();
    let fit = ["fit", "--data", "digits", "--nonzeros", "5", "--model", "m"];
    assert_eq!(ok(dir.path(), &[&fit[..], &["-q"]].concat()), "");
    assert!(ok(dir.path(), &[&fit[..], &["-v"]].concat()).contains("lars"));
}

#[test]
fn a_full_disk_is_an_error() {
    // A device that is always full, where there is one.
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
