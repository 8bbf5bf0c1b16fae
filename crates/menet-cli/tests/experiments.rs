//! `menet evaluate` and `menet tune`, from the command line.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

fn command(folder: &Path, arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_menet"));
    command.current_dir(folder).args(arguments.split_whitespace());
    command
}

fn menet(folder: &Path, arguments: &str) -> Output {
    command(folder, arguments).output().unwrap()
}

fn ok(folder: &Path, arguments: &str) -> String {
    let output = menet(folder, arguments);
    assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Runs the command, and expects exit code 2, an error that contains `words`, and no files.
fn refused(folder: &Path, arguments: &str, words: &[&str]) {
    let output = menet(folder, arguments);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{arguments}: {message}");
    for word in words {
        assert!(message.contains(word), "{arguments}: {message}");
    }
    assert!(!folder.join("no").exists(), "{arguments} left a folder");
}

const SMALL: &str =
    "evaluate --data leukemia --methods men,flda,pca --train-per-class 4 --repeats 2 --dims 1-3";

#[test]
fn a_run_prints_the_table_and_leaves_all_files() {
    let dir = tempfile::tempdir().unwrap();
    let printed = ok(dir.path(), &format!("{SMALL} --out run"));
    let header: Vec<&str> = printed.lines().next().unwrap().split_whitespace().collect();
    let columns =
        ["data", "train", "method", "rate", "sd", "balanced", "log_loss", "auc", "dimension", "variables"];
    assert_eq!(header, columns, "{printed}");
    let row = |method: &str| -> Vec<&str> {
        let fields = printed.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        fields.into_iter().find(|fields| fields.get(2) == Some(&method)).unwrap()
    };
    // PCA uses every gene that varies, MEN only a few.
    let variables = |method: &str| row(method)[9].parse::<usize>().unwrap();
    assert!((4000..=5000).contains(&variables("pca")) && row("pca")[0] == "leukemia", "{printed}");
    assert!(variables("men") < 1000, "{printed}");
    assert!(printed.contains("ptimistic"), "{printed}");
    let run = dir.path().join("run");
    let first = |name: &str| fs::read_to_string(run.join(name)).unwrap().lines().next().unwrap().to_owned();
    assert_eq!(first("results.csv"), "data,train_per_class,method,repeat,dimension,rate");
    let summary = "data,train_per_class,method,rate,sd,balanced,log_loss,auc,dimension,variables,seconds";
    assert_eq!(first("summary.csv"), summary);
    assert_eq!(first("confusion.csv"), "data,train_per_class,method,class,taken_for,samples");
    assert_eq!(first("splits.csv"), "data,train_per_class,repeat,row,role,id");
    assert!(fs::read_to_string(run.join("run.toml")).unwrap().contains("seed = 0"));
    assert!(
        fs::read_to_string(run.join("report.html")).unwrap().to_lowercase().starts_with("<!doctype html>")
    );
    assert!(run.join("figures/rates-leukemia-4.png").is_file());
    // Repeating the command, or running it from its own record, gives the same results.
    assert_eq!(printed, ok(dir.path(), &format!("{SMALL} --out run")));
    ok(dir.path(), &format!("{SMALL} --out again --params run/run.toml"));
    let rows = |name: &str| fs::read_to_string(dir.path().join(name).join("results.csv")).unwrap();
    assert_eq!(rows("run"), rows("again"));
    let json: serde_json::Value =
        serde_json::from_str(&ok(dir.path(), &format!("{SMALL} --out run --json"))).unwrap();
    assert_eq!(json["summary"].as_array().unwrap().len(), 3);
    assert!(json["summary"][2]["variables"].as_f64().unwrap() > 4000.0);
    assert!(json["summary"][0]["log_loss"].is_f64() && json["summary"][0]["auc"].is_f64());
    assert!(json["summary"][2]["log_loss"].is_null() && json["summary"][2]["auc"].is_null());
    assert!(json["summary"][0]["balanced"].is_f64() && json["summary"][0]["dimension"].is_u64());
}

#[test]
fn repeats_can_be_raised_and_one_has_no_deviation() {
    let dir = tempfile::tempdir().unwrap();
    let run = "evaluate --data leukemia --methods flda,pca --train-per-class 4";
    let printed = ok(dir.path(), &format!("{run} --repeats 1 --out run"));
    let header: Vec<&str> = printed.lines().next().unwrap().split_whitespace().collect();
    assert!(!header.contains(&"sd") && printed.contains("no standard deviation"), "{printed}");
    assert!(!printed.contains("NaN"), "{printed}");
    let json = |repeats: usize| -> serde_json::Value {
        let text = ok(dir.path(), &format!("{run} --repeats {repeats} --out run --json"));
        serde_json::from_str(&text).unwrap()
    };
    assert!(json(1)["summary"].as_array().unwrap().iter().all(|row| row["sd"].is_null()));
    // By default PCA may use 11 dimensions, one less than the number of training samples, and FLDA uses its two.
    let results = || fs::read_to_string(dir.path().join("run/results.csv")).unwrap();
    assert_eq!(results().lines().filter(|line| line.contains(",pca,")).count(), 11);
    assert_eq!(results().lines().filter(|line| line.contains(",flda,")).count(), 2);
    assert!(json(3)["summary"].as_array().unwrap().iter().all(|row| row["sd"].is_f64()));
    ok(dir.path(), &format!("{run} --repeats 3 --out whole"));
    assert_eq!(results(), fs::read_to_string(dir.path().join("whole/results.csv")).unwrap());
    refused(dir.path(), &format!("{run} --repeats 2 --out run"), &["--repeats 2", "--repeats 3 or more"]);
}

/// Once in an empty folder, and once while a finished run is extended.
#[test]
fn a_killed_run_goes_on_to_the_same_results() {
    let dir = tempfile::tempdir().unwrap();
    let split = "evaluate --data orl --methods men,slpp,pca --train-per-class 3 --dims 1-10";
    let run = &format!("{split} --repeats 6");
    ok(dir.path(), &format!("{run} --out whole"));
    for finished in [0, 2] {
        let killed = format!("killed-{finished}");
        let folder = dir.path().join(&killed);
        if finished > 0 {
            ok(dir.path(), &format!("{split} --repeats {finished} --out {killed}"));
        }
        let before = fs::read(folder.join("results.csv")).ok();
        kill_when(dir.path(), &format!("{run} --out {killed} --threads 1"), &folder, 4 + 3 * finished);
        assert_eq!(before, fs::read(folder.join("results.csv")).ok(), "the run had not ended");
        ok(dir.path(), &format!("{run} --out {killed}"));
        let rows = |folder: &str, name: &str| fs::read(dir.path().join(folder).join(name)).unwrap();
        for name in ["results.csv", "splits.csv", "confusion.csv"] {
            assert_eq!(rows("whole", name), rows(&killed, name), "{name}");
        }
    }
}

/// Begins a run, and kills it with SIGKILL when its journal has this many lines.
fn kill_when(here: &Path, run: &str, folder: &Path, lines: usize) {
    let mut child = command(here, run).stdout(Stdio::null()).spawn().unwrap();
    let journal = folder.join("cells.jsonl");
    let finished = || fs::read_to_string(&journal).map_or(0, |text| text.lines().count());
    for _ in 0..6000 {
        if finished() >= lines || child.try_wait().unwrap().is_some() {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap(); // SIGKILL
    child.wait().unwrap();
    assert!(finished() >= lines, "the run had begun");
}

#[test]
fn tuned_parameters_are_what_fit_takes() {
    let dir = tempfile::tempdir().unwrap();
    let printed = ok(dir.path(), "tune --data leukemia --out tuned --folds 3");
    for words in [
        "men: balanced accuracy ",
        "the largest of 160 settings",
        "standard error",
        "variables in all",
        "refit = ",
        "rule = ",
        "best.toml",
    ] {
        assert!(printed.contains(words), "{words}: {printed}");
    }
    let tuned = dir.path().join("tuned");
    for name in ["trials.csv", "best.toml", "params.toml", "tuning.svg", "tuning.png"] {
        assert!(tuned.join(name).is_file(), "{name}");
    }
    let trials = fs::read_to_string(tuned.join("trials.csv")).unwrap();
    assert!(
        trials.starts_with("beta,target_shrinkage,ridge,nonzeros,panel_size,refit,refit_ridge,rule,"),
        "{trials}"
    );
    ok(dir.path(), "fit --data leukemia --params tuned/params.toml --model m.safetensors");
    ok(dir.path(), &format!("{SMALL} --params tuned/best.toml --out run"));
    let baseline = ok(dir.path(), "tune --data leukemia --method dla --out dla --budget 6 --folds 3 --json");
    let baseline: serde_json::Value = serde_json::from_str(&baseline).unwrap();
    assert_eq!(baseline["method"], "dla");
    assert!(fs::read_to_string(dir.path().join("dla/best.toml")).unwrap().contains("[dla]"));
    let trials = fs::read_to_string(dir.path().join("dla/trials.csv")).unwrap();
    assert!(
        trials.starts_with("setting,nonzeros,dimension,metric,rate,standard_error,margin,merit,"),
        "{trials}"
    );
}

/// `tune` followed by `fit` gives the same panel as `tune --model`.
#[test]
fn a_panel_of_so_many_genes_takes_two_commands() {
    let dir = tempfile::tempdir().unwrap();
    let tune = "tune --panel-size 20 --data leukemia --folds 3 --score balanced --json";
    let report = ok(dir.path(), &format!("{tune} --out tuned --model direct.safetensors"));
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let panel = report["panel_size"].as_u64().unwrap();
    assert!((1..=20).contains(&panel), "{report}");
    assert_eq!(report["tuned_for"], "balanced");
    assert!(report["scores"]["balanced"].as_f64().unwrap() > 70.0 && report["standard_error"].is_f64());
    ok(dir.path(), "fit --params tuned/best.toml --data leukemia --model m.safetensors");
    let predicted = |model: &str| ok(dir.path(), &format!("predict --model {model} --data leukemia --out -"));
    assert_eq!(predicted("m.safetensors"), predicted("direct.safetensors"));
    // The numbers do not depend on the number of threads.
    let trials = |folder: &str| fs::read_to_string(dir.path().join(folder).join("trials.csv")).unwrap();
    ok(dir.path(), &format!("{tune} --out one --threads 1"));
    assert_eq!(trials("one"), trials("tuned"));
}

#[test]
fn the_papers_method_is_shown_beside_men() {
    let dir = tempfile::tempdir().unwrap();
    let help = ok(dir.path(), "evaluate --help");
    assert!(help.contains("men,men-paper,dla") && help.contains("men-paper"), "{help}");
}

/// The folder of a run may have the name of its data set.
#[test]
fn a_folder_called_like_a_built_in_set_does_not_hide_it() {
    let dir = tempfile::tempdir().unwrap();
    for _ in 0..2 {
        ok(dir.path(), &format!("{SMALL} --out leukemia"));
    }
    assert!(ok(dir.path(), "data leukemia").contains("5000"));
    refused(dir.path(), "data ./leukemia", &["leukemia"]);
}

#[test]
fn wrong_options_are_reported() {
    let dir = tempfile::tempdir().unwrap();
    let here = dir.path();
    fs::write(here.join("p.toml"), "[dla]\nkapa = 1.0\n").unwrap();
    refused(here, "evaluate --data leukemia --methods men,lda --out no", &["lda", "flda"]);
    refused(here, "evaluate --data leukemia --dims 3-1 --out no", &["3-1"]);
    refused(here, "evaluate --data leukemia --params p.toml --out no", &["p.toml", "kapa"]);
    refused(
        here,
        "evaluate --data leukemia --train-per-class 8 --out no",
        &["ALL-T", "8", "--min-per-class"],
    );
    refused(here, "evaluate --data leukemia --metric manhattan --out no", &["manhattan"]);
    refused(here, "evaluate --data leukemia --metric auto --out no", &["auto"]);
    refused(here, "evaluate --data nothing.csv --out no", &["nothing.csv"]);
    refused(here, "evaluate --data leukemia --data leukemia --out no", &["leukemia"]);
    fs::write(here.join("k.toml"), "[dla]\nk_within = 0\n").unwrap();
    refused(
        here,
        "evaluate --data leukemia --methods pca,dla --params k.toml --out no",
        &["k_within", "dla"],
    );
    refused(here, "evaluate --data leukemia --seed 18446744073709551615 --out no", &["seed"]);
    refused(here, "evaluate --data leukemia --repeats 1000000000 --out no", &["repeats"]);
    refused(here, "evaluate --data leukemia --tune --train-per-class 2 --out no", &["3 training samples"]);
    refused(here, "evaluate --data leukemia --folds 3 --out no", &["--tune"]);
    refused(here, "evaluate --data leukemia --impute zero --out no", &["impute", "mean, median, knn"]);
    refused(here, "evaluate --data leukemia --dims 1-99999999 --out no", &["10000"]);
    refused(here, "tune --data leukemia --dims 7-9 --out no", &["at most 2"]);
    refused(here, "tune --data leukemia --out k.toml", &["k.toml"]);
    refused(here, "tune --data leukemia --method lda --out no", &["lda"]);
    refused(here, "tune --data leukemia --budget 2 --out no", &["--budget 2", "methods other than MEN"]);
    refused(here, "tune --data leukemia --method dla --budget 2 --out no", &["budget"]);
    refused(here, "tune --data leukemia --score f1 --out no", &["--score", "f1", "balanced", "log_loss"]);
    refused(here, "tune --data leukemia --refit all --out no", &["--refit", "all", "discriminant"]);
    refused(here, "tune --data leukemia --rule nearest,nearest --out no", &["--rule", "twice"]);
    refused(here, "tune --data leukemia --panel-size 0 --out no", &["`panel_size` is 0"]);
    refused(
        here,
        "tune --data leukemia --method dla --panel-size 5 --out no",
        &["--panel-size", "men-paper", "dla"],
    );
    refused(here, "tune --data leukemia --method dla --model m --out no", &["--model", "dla"]);
    refused(here, "evaluate --data leukemia --tune --methods pca --score auc --out no", &["--score", "pca"]);
    refused(here, "evaluate --data leukemia --panel-size 5 --out no", &["--panel-size", "--tune"]);
    refused(
        here,
        "evaluate --data leukemia --params p.toml --methods men --train-per-class x --out no",
        &["x"],
    );
    // A run without any result fails.
    let nothing =
        menet(here, "evaluate --data leukemia --methods men,flda --dims 7-9 --repeats 1 --out nothing");
    assert_eq!(nothing.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&nothing.stderr).contains("at most 2"));
    // A folder that holds another run stays unchanged.
    ok(here, &format!("{SMALL} --out run"));
    let before = fs::read_to_string(here.join("run/results.csv")).unwrap();
    refused(here, &format!("{SMALL} --seed 1 --out run"), &["another run"]);
    assert_eq!(before, fs::read_to_string(here.join("run/results.csv")).unwrap());
}
