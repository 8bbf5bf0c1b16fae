//! Panels, refits, rules and probabilities, from the command line.

use std::fs;
use std::path::Path;

use crate::common::{json, menet, ok, refused, small_csv, text};
use menet::{MenParams, fit};
use menet_io::{ModelFile, ReadOptions};

/// A CSV file as its header and its rows.
fn csv(path: &Path) -> (Vec<String>, Vec<Vec<String>>) {
    let mut reader = csv::Reader::from_path(path).unwrap();
    let fields = |record: &csv::StringRecord| record.iter().map(str::to_owned).collect::<Vec<_>>();
    let header = fields(reader.headers().unwrap());
    (header, reader.records().map(|record| fields(&record.unwrap())).collect())
}

fn split(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

#[test]
fn a_fit_tells_its_panel_refit_and_rule() {
    let dir = tempfile::tempdir().unwrap();
    let line = "fit --data leukemia --panel-size 20 --refit discriminant --rule gaussian --model m";
    let said = ok(dir.path(), &split(line));
    for part in [
        "panel of 20 distinct variables, chosen from ",
        "refit discriminant (shrinkage 0.",
        "rule gaussian\n",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let line_of = said.lines().find(|line| line.starts_with("certificate: ")).unwrap();
    assert!(line_of.contains("paths ") && line_of.contains(", refit "), "{said}");
    assert!(!said.contains("level"), "no axis of a shared panel has a level: {said}");
    let report = json(dir.path(), &split(&format!("{line} --json")));
    assert_eq!((report["panel_size"].as_u64(), report["rule"].as_str()), (Some(20), Some("gaussian")));
    assert_eq!(report["refit"]["refit"], "discriminant");
    assert!(report["refit"]["candidates"].as_u64().unwrap() > 20);
    assert!(report["refit"]["residual"].as_f64().unwrap() < 1e-9);
    assert!((0.0..=1.0).contains(&report["refit"]["shrinkage"].as_f64().unwrap()));
    let shown = ok(dir.path(), &["inspect", "--model", "m"]);
    assert!(
        shown.contains("panel of 20 distinct variables, chosen from ") && shown.contains("rule gaussian"),
        "{shown}"
    );
    let paper = json(dir.path(), &split("fit --data leukemia --preset paper --nonzeros 5 --model p --json"));
    assert_eq!((paper["refit"]["refit"].as_str(), paper["rule"].as_str()), (Some("none"), Some("nearest")));
    assert!(paper["refit"]["shrinkage"].is_null() && paper["refit"]["residual"].is_null());
}

#[test]
fn fewer_variables_than_axes_are_shown() {
    let dir = tempfile::tempdir().unwrap();
    for refit in ["none", "axis", "panel", "discriminant"] {
        let line = format!("fit --data digits --panel-size 3 --refit {refit} --model m --json");
        let report = json(dir.path(), &split(&line));
        let size = report["panel_size"].as_u64().unwrap();
        assert!((1..=3).contains(&size), "{refit}: {report}");
        let shown = json(dir.path(), &["inspect", "--model", "m", "--panel", "--json"]);
        assert_eq!(shown["panel"].as_array().unwrap().len() as u64, size, "{refit}");
        let said = ok(dir.path(), &["inspect", "--model", "m"]);
        assert!(said.contains(&format!("panel of {size} distinct variable")), "{refit}: {said}");
        ok(dir.path(), &["predict", "--model", "m", "--data", "digits", "--out", "l.csv"]);
    }
}

#[test]
fn probabilities_are_those_of_the_library() {
    let dir = tempfile::tempdir().unwrap();
    let table = menet_io::read("leukemia", &ReadOptions::default()).unwrap();
    let data = table.dataset().unwrap();
    for rule in ["nearest", "centroid", "gaussian"] {
        ok(dir.path(), &["fit", "--data", "leukemia", "--rule", rule, "--model", "m"]);
        let line = "predict --model m --data leukemia --out l.csv --probabilities --json";
        let report = json(dir.path(), &split(line));
        let params =
            MenParams::default().with(|it| it.rule.kind = Some(menet::Named::from_name(rule).unwrap()));
        let men = fit(&data, &params, &()).unwrap();
        let z = men.transform(data.x().unwrap()).unwrap();
        let logs = men.rule().unwrap().log_probabilities(z.as_ref()).unwrap();
        let classes = men.rule().unwrap().classify(z.as_ref()).unwrap();
        let (header, rows) = csv(&dir.path().join("l.csv"));
        let expected = ["label", "probability", "probability:ALL-B", "probability:ALL-T", "probability:AML"];
        assert_eq!(header, expected);
        for (i, row) in rows.iter().enumerate() {
            assert_eq!(row[0], men.classes()[classes[i]], "{rule}");
            let all: Vec<f64> = row[2..].iter().map(|field| field.parse().unwrap()).collect();
            assert!((all.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{rule}: {row:?}");
            assert!((0..3).all(|c| all[c] == logs[(i, c)].exp()), "bit for bit: {row:?}");
            assert_eq!(row[1], row[2 + classes[i]], "{rule}");
        }
        let scores =
            menet::scores::scores_of(data.class_indices(), &classes, 3, Some(logs.as_ref())).unwrap();
        assert_eq!(report["balanced"].as_f64(), Some(scores.balanced));
        assert_eq!((report["log_loss"].as_f64(), report["auc"].as_f64()), (scores.log_loss, scores.auc));
        assert_eq!(report["confusion"]["counts"], serde_json::json!(scores.confusion));
        assert_eq!(report["recalls"][1]["class"], "ALL-T");
        assert_eq!(report["recalls"][1]["recall"].as_f64(), scores.recalls[1]);
        assert_eq!((report["training_samples"].as_u64(), report["scored"].as_u64()), (Some(38), Some(38)));
        let said = ok(dir.path(), &split("predict --model m --data leukemia --out l.csv"));
        assert!(said.contains("balanced accuracy "), "{said}");
        let (header, rows) = csv(&dir.path().join("l.csv"));
        assert_eq!((header.len(), rows.len()), (2, 38));
    }
}

#[test]
fn odd_class_names_are_quoted() {
    let dir = tempfile::tempdir().unwrap();
    let names = ["a \"b\", c", "größe", "=1+1"];
    let rows: String = (0..18)
        .map(|i| format!("{},{},\"{}\"\n", i % 3 * 4 + i, i * i % 5, names[i % 3].replace('"', "\"\"")))
        .collect();
    fs::write(dir.path().join("d.csv"), format!("x,y,label\n{rows}")).unwrap();
    ok(dir.path(), &["fit", "--data", "d.csv", "--model", "m"]);
    ok(dir.path(), &split("predict --model m --data d.csv --out l.csv --probabilities"));
    let (header, _) = csv(&dir.path().join("l.csv"));
    let mut expected: Vec<String> = names.iter().map(|name| format!("probability:{name}")).collect();
    expected.sort_unstable();
    assert_eq!(header[2..], expected);
}

#[test]
fn labels_that_are_no_class_count_as_wrong_and_in_no_other_score() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("d.csv"), small_csv()).unwrap();
    ok(dir.path(), &["fit", "--data", "d.csv", "--model", "m"]);
    fs::write(dir.path().join("n.csv"), "a,b,c,label\n1,2,3,no\n9,1,2,perhaps\n8,3,3,\n").unwrap();
    let report = json(dir.path(), &split("predict --model m --data n.csv --out l.csv --json"));
    assert_eq!((report["labelled"].as_u64(), report["scored"].as_u64()), (Some(2), Some(1)));
    assert!(report["rate"].as_f64().unwrap() <= 50.0);
    let counts: u64 = report["confusion"]["counts"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|row| row.as_array().unwrap())
        .map(|count| count.as_u64().unwrap())
        .sum();
    assert_eq!(counts, 1);
    assert!(report["recalls"][1]["recall"].is_null() && report["auc"].is_null());
    fs::write(dir.path().join("u.csv"), "a,b,c\n1,2,3\n").unwrap();
    let report = json(dir.path(), &split("predict --model m --data u.csv --out l.csv --json"));
    assert!(report["rate"].is_null() && report.get("balanced").is_none());
}

#[test]
fn neighbours_and_metric_are_of_the_nearest_rule() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("d.csv"), small_csv()).unwrap();
    let predict = |more: &str| format!("predict --model m --data d.csv --out l.csv{more}");
    for rule in ["centroid", "gaussian"] {
        ok(dir.path(), &["fit", "--data", "d.csv", "--rule", rule, "--model", "m"]);
        for more in [" --neighbors 3", " --metric cosine"] {
            let refusal = refused(dir.path(), &split(&predict(more)));
            assert!(
                refusal.contains(&format!("the rule {rule}")) && refusal.contains("--rule nearest"),
                "{refusal}"
            );
        }
    }
    assert!(!dir.path().join("l.csv").exists());
    ok(dir.path(), &split("fit --data d.csv --preset paper --model m"));
    let refusal = refused(dir.path(), &split(&predict(" --neighbors 21")));
    assert!(refusal.contains("--neighbors 21") && refusal.contains("1 to 20"), "{refusal}");
    ok(dir.path(), &split(&predict(" --neighbors 20 --metric cosine")));
    let all = csv(&dir.path().join("l.csv")).1;
    assert!(all.iter().all(|row| row[0] == all[0][0] || row[1].parse::<f64>().unwrap() < 0.6), "{all:?}");
    // The same as a fit with these options.
    ok(dir.path(), &split(&predict(" --neighbors 3 --probabilities")));
    let over = fs::read(dir.path().join("l.csv")).unwrap();
    ok(dir.path(), &split("fit --data d.csv --preset paper --set rule.k=3 --model m"));
    ok(dir.path(), &split(&predict(" --probabilities")));
    assert_eq!(over, fs::read(dir.path().join("l.csv")).unwrap());
}

#[test]
fn priors_can_be_overruled() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("d.csv"), small_csv()).unwrap();
    for rule in ["nearest", "centroid", "gaussian"] {
        let fitted = |priors: &str, model: &str| {
            let line = format!("fit --data d.csv --rule {rule} --set rule.priors={priors} --model {model}");
            ok(dir.path(), &split(&line));
        };
        let predicted = |model: &str, more: &str| {
            let line = format!("predict --model {model} --data d.csv --out l.csv --probabilities{more}");
            ok(dir.path(), &split(&line));
            csv(&dir.path().join("l.csv")).1
        };
        fitted("train", "t");
        fitted("0.1,0.9", "g");
        let (train, given) = (predicted("t", ""), predicted("g", ""));
        assert_ne!(train, given, "{rule}");
        let over = predicted("t", " --priors 0.1,0.9");
        let number = |field: &String| field.parse::<f64>().unwrap();
        for ((a, b), before) in over.iter().zip(&given).zip(&train) {
            assert!((number(&a[3]) - number(&b[3])).abs() < 1e-12, "{rule}: {a:?} {b:?}");
            assert!(number(&a[3]) >= number(&before[3]), "yes is more frequent now: {a:?} {before:?}");
        }
        assert_eq!(predicted("t", " --priors train"), train);
        let refusal =
            refused(dir.path(), &split("predict --model t --data d.csv --out n.csv --priors 1,2,3"));
        assert!(refusal.contains("2 classes"), "{refusal}");
        let back = menet(dir.path(), &split("predict --model g --data d.csv --out l.csv --priors train"));
        if rule == "nearest" {
            assert!(back.status.success(), "{}", text(&back.stderr));
        } else {
            assert_eq!(back.status.code(), Some(2));
            assert!(text(&back.stderr).contains("one number per class"), "{}", text(&back.stderr));
        }
    }
}

#[test]
fn the_panel_is_shown_and_written() {
    let dir = tempfile::tempdir().unwrap();
    ok(dir.path(), &split("fit --data leukemia --panel-size 30 --model m"));
    let shown = ok(dir.path(), &split("inspect --model m --panel --csv p.csv"));
    assert!(shown.contains("and 10 more") && shown.contains("all 30 variables in p.csv"), "{shown}");
    let men = ModelFile::load(&dir.path().join("m")).unwrap().men;
    let (header, rows) = csv(&dir.path().join("p.csv"));
    let fixed =
        ["variable", "index", "axes", "entered", "weight", "effect", "importance", "higher_in", "class"];
    assert_eq!(header.iter().take(9).collect::<Vec<_>>(), fixed);
    assert!(header.iter().skip(9).all(|name| name.starts_with("mean:")), "{header:?}");
    let expected = men.panel_table();
    assert_eq!(rows.len(), 30);
    assert!(expected.windows(2).all(|pair| pair[0].importance >= pair[1].importance));
    let written = json(dir.path(), &split("inspect --model m --panel --json"));
    for ((row, known), json) in rows.iter().zip(&expected).zip(written["panel"].as_array().unwrap()) {
        let number = |k: usize| row[k].parse::<f64>().unwrap();
        assert_eq!(row[1], (known.variable + 1).to_string());
        assert_eq!((number(4), number(6)), (known.weight, known.importance), "in full");
        assert_eq!(Some(number(5)), known.effect);
        assert_eq!(row[2], known.axes.iter().map(|k| (k + 1).to_string()).collect::<Vec<_>>().join(" "));
        assert_eq!(row[3], known.entered.unwrap().to_string());
        assert_eq!(row[7], men.classes()[known.higher_in.unwrap()]);
        assert_eq!(row[8], men.classes()[known.class.unwrap()]);
        let means: Vec<f64> = (9..row.len()).map(number).collect();
        assert_eq!(means, known.class_means);
        assert_eq!(json["higher_in"], row[7].as_str());
        assert_eq!((&json["variable"], &json["class"]), (&row[0].as_str().into(), &row[8].as_str().into()));
        assert_eq!(json["importance"].as_f64(), Some(known.importance));
    }
    let first = shown.lines().skip_while(|line| !line.starts_with("variable ")).nth(1).unwrap();
    assert!(first.starts_with(&rows[0][0]), "{first}");
    assert!(ok(dir.path(), &split("inspect --model m --panel --csv -")).starts_with("variable,index,"));
    // An input is not overwritten, and --csv needs --panel.
    fs::copy(dir.path().join("m"), dir.path().join("model.csv")).unwrap();
    let refusal = refused(dir.path(), &split("inspect --model model.csv --panel --csv model.csv"));
    assert!(refusal.contains("--csv") && refusal.contains("--model"), "{refusal}");
    assert!(refused(dir.path(), &split("inspect --model m --csv p.csv")).contains("--panel"));
    assert!(refused(dir.path(), &split("inspect --model m --panel --csv p.txt")).contains(".csv"));
}

#[test]
fn a_refit_says_why_it_cannot_be_made_smaller() {
    let dir = tempfile::tempdir().unwrap();
    for refit in ["axis", "panel", "discriminant"] {
        ok(dir.path(), &["fit", "--data", "leukemia", "--nonzeros", "10", "--refit", refit, "--model", "m"]);
        for line in [
            "transform --model m --data leukemia --out z.csv --nonzeros 4",
            "inspect --model m --nonzeros 4",
            "inspect --model m --components 1",
            "predict --model m --data leukemia --out z.csv --components 1",
        ] {
            let refusal = refused(dir.path(), &split(line));
            for part in [&format!("--refit {refit}")[..], "training samples", "fit again", "--panel-size"] {
                assert!(refusal.contains(part), "{line}: {refusal}");
            }
        }
        // The same number gives the same model.
        ok(dir.path(), &split("inspect --model m --nonzeros 10 --components 2"));
    }
    assert!(!dir.path().join("z.csv").exists());
    for rule in ["nearest", "centroid", "gaussian"] {
        let line = format!("fit --data leukemia --preset paper --rule {rule} --nonzeros 10 --model m");
        ok(dir.path(), &split(&line));
        ok(dir.path(), &split("inspect --model m --nonzeros 4 --panel"));
        // Only the rule `nearest` stores what it is learned from again.
        let line = split("predict --model m --data leukemia --out z.csv --components 1");
        if rule == "nearest" {
            ok(dir.path(), &line);
        } else {
            assert!(refused(dir.path(), &line).contains("fit again with this size to predict"));
        }
    }
}
