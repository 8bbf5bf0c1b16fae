//! The command as people and scripts use it: its results, and the files it writes.

use std::fs;

use crate::common::{json, menet, names, ok, text};
use menet::{MenParams, SizeLimits, fit};
use menet_io::{ModelFile, ReadOptions};

#[test]
fn fit_transform_predict_equal_the_library_bit_for_bit() {
    let dir = tempfile::tempdir().unwrap();
    let line = "fit --data leukemia --preset paper --nonzeros 15 --model m --json";
    let report = json(dir.path(), &line.split(' ').collect::<Vec<_>>());
    let table = menet_io::read("leukemia", &ReadOptions::default()).unwrap();
    let data = table.dataset().unwrap();
    let men = fit(&data, &MenParams::paper().with(|it| it.nonzeros = Some(15)), &()).unwrap();
    assert_eq!((report["n"].as_u64(), report["p"].as_u64()), (Some(38), Some(5000)));
    assert_eq!(report["nonzeros"], serde_json::json!([15, 15]));
    assert!(report["kkt"].as_array().unwrap().iter().all(|kkt| kkt.as_f64().unwrap() < 1e-12));
    assert_eq!(report["definiteness"]["kappa_used"].as_f64().unwrap(), men.report().definiteness.kappa_used);
    assert!(report["seconds"]["lars"].as_f64().unwrap() > 0.0);

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
    let reading = SizeLimits::default().with(|it| {
        it.nonzeros = Some(4);
        it.panel_size = None;
        it.components = Some(1);
    });
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
    // 400 samples of about 100,000 variables would take 320 MB as a dense matrix.
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
    // Samples may lack the last variables.
    let cut = |i: usize| line(i).rsplit_once(' ').unwrap().0.to_owned() + "\n";
    fs::write(dir.path().join("few.svm"), (0..9).map(cut).collect::<String>()).unwrap();
    let report = json(dir.path(), &["fit", "--data", "d.svm", "--nonzeros", "20", "--model", "m", "--json"]);
    assert_eq!((report["n"].as_u64(), report["p"].as_u64()), (Some(400), Some(100_000)));
    assert!(report["kkt"].as_array().unwrap().iter().all(|kkt| kkt.as_f64().unwrap() < 1e-9));

    let table = menet_io::read(dir.path().join("d.svm").to_str().unwrap(), &ReadOptions::default()).unwrap();
    let data = table.dataset().unwrap();
    assert!(data.sparse().is_some());
    let men = fit(&data, &MenParams::default().with(|it| it.nonzeros = Some(20)), &()).unwrap();
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
        (params.nonzeros, params.ridge, params.patch.kind.as_str()),
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
fn the_recall_of_approximate_neighbours_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let fit = ["fit", "--data", "leukemia", "--nonzeros", "5", "--model", "m"];
    assert!(json(dir.path(), &[&fit[..], &["--json"]].concat())["neighbor_recall"].is_null());
    assert!(!ok(dir.path(), &["inspect", "--model", "m"]).contains("approximate"));
    let approximate = [&fit[..], &["--set", "patch.search=approximate"]].concat();
    // With so few samples, all are compared.
    assert!(ok(dir.path(), &approximate).contains("approximate neighbours, 100.0% of the true ones"));
    assert_eq!(json(dir.path(), &[&approximate[..], &["--json"]].concat())["neighbor_recall"], 1.0);
    assert!(ok(dir.path(), &["inspect", "--model", "m"]).contains("100.0% of the true ones"));
    let shown = json(dir.path(), &["inspect", "--model", "m", "--json"]);
    assert_eq!(
        (&shown["neighbor_recall"], &shown["params"]["patch"]["search"]),
        (&1.0.into(), &"approximate".into())
    );
}

#[test]
fn what_people_see() {
    let dir = tempfile::tempdir().unwrap();
    let demo = ok(dir.path(), &["demo"]);
    assert!(demo.contains("recognised") && demo.contains("menet-demo"), "{demo}");
    assert_eq!(names(&dir.path().join("menet-demo")).len(), 41, "39 axes, a path and the list of files");
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
fn missing_values_become_the_training_mean() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("d.csv"), "a,b,label\n1,2,x\n2,1,y\n3,5,x\n6,4,y\n").unwrap();
    ok(dir.path(), &["fit", "--data", "d.csv", "--model", "m"]);
    // A single sample, filled with the mean of a (3).
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
fn quiet_and_verbose() {
    let dir = tempfile::tempdir().unwrap();
    let fit = ["fit", "--data", "digits", "--nonzeros", "5", "--model", "m"];
    assert_eq!(ok(dir.path(), &[&fit[..], &["-q"]].concat()), "");
    assert!(ok(dir.path(), &[&fit[..], &["-v"]].concat()).contains("lars"));
}

/// Two long columns that say nothing of the classes: their rounding is large beside the largest correlation.
#[test]
fn a_violation_above_the_bar_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let noise = |i: usize, j: usize| ((i * 7919 + j * 104_729 + i * j * 31) % 1009) as f64 / 500.0 - 1.0;
    // Samples i and i + 3 of a class have opposite values, so that class means are 0.
    let long = |i: usize, j: usize| noise(i % 3 + i / 6 * 3, j) * if i % 6 < 3 { 1.0 } else { -1.0 };
    let row = |i: usize, size: f64| {
        let short = (0..8).map(|j| noise(i, j) + if j < 4 { (i % 3) as f64 } else { 0.0 });
        let values = short.chain((8..10).map(|j| size * long(i, j))).map(|value| format!("{value:?},"));
        values.collect::<String>() + &format!("class {}\n", i % 3)
    };
    let header = (0..10).map(|j| format!("v{j},")).collect::<String>() + "label\n";
    for (size, exact) in [(1.0, true), (1e12, false)] {
        let table = header.clone() + &(0..60).map(|i| row(i, size)).collect::<String>();
        fs::write(dir.path().join("data.csv"), table).unwrap();
        let line = "fit --data data.csv --preset paper --ridge 0 --set manifold.alpha=0 --set penalty.standardize=false --model m";
        let output = menet(dir.path(), &line.split(' ').collect::<Vec<_>>());
        let notes = text(&output.stderr);
        assert!(output.status.success(), "{notes}");
        assert_eq!(notes.contains("not exact"), !exact, "{size}: {notes}");
    }
}
