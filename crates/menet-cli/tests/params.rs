//! The parameters of a fit from the command line: flags, `--set`, files, and what is said of them.

use std::fs;

use menet::describe::parameters;
use serde_json::Value;

use crate::common::{json, ok, refused, small_csv};

/// The parameters that a model was fitted with.
fn fitted(folder: &std::path::Path, more: &[&str]) -> Value {
    ok(folder, &[&["fit", "--data", "d.csv", "--model", "m"], more].concat());
    json(folder, &["inspect", "--model", "m", "--json"])["params"].clone()
}

#[test]
fn every_parameter_is_described() {
    let dir = tempfile::tempdir().unwrap();
    let all = ok(dir.path(), &["params"]);
    let described = json(dir.path(), &["params", "--json"]);
    let list = described["parameters"].as_array().unwrap();
    assert_eq!(list.len(), parameters().parameters.len());
    for one in &parameters().parameters {
        assert!(all.contains(&format!("  {}   (", one.path)), "{}: {all}", one.path);
    }
    for stage in described["stages"].as_array().unwrap() {
        let name = stage["name"].as_str().unwrap();
        let own = ok(dir.path(), &["params", name]);
        assert!(own.contains(&format!("  {name}.")) && !own.contains("  ridge "), "{own}");
    }
    let penalty = ok(dir.path(), &["params", "penalty"]);
    assert!(penalty.contains("mcp: The minimax concave penalty."), "{penalty}");
    let gamma = json(dir.path(), &["params", "penalty.gamma", "--json"]);
    assert_eq!(gamma["parameters"].as_array().unwrap().len(), 1);
    assert_eq!(gamma["parameters"][0]["of"], serde_json::json!(["adaptive", "scad", "mcp"]));
    let refusal = refused(dir.path(), &["params", "kappa"]);
    assert!(refusal.contains("no parameter or stage") && refusal.contains("manifold"), "{refusal}");
}

#[test]
fn flags_set_and_files_say_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    fs::write(folder.join("d.csv"), small_csv()).unwrap();
    fs::write(folder.join("long.toml"), "ridge = 1\n[penalty]\nkind = \"mcp\"\ngamma = 2\n[rule]\nk = 3\n")
        .unwrap();
    fs::write(folder.join("short.toml"), "ridge = 1.0\npenalty = \"mcp\"\n").unwrap();
    let gamma = ["--set", "penalty.gamma=2", "--set", "rule.k=3"];
    let expected = fitted(folder, &[&["--ridge", "1", "--penalty", "mcp"], &gamma[..]].concat());
    assert_eq!(expected["penalty"]["gamma"], 2.0);
    assert_eq!(expected["rule"]["k"], 3);
    let set = ["--set", "ridge=1", "--set", "penalty=mcp"];
    assert_eq!(fitted(folder, &[&set, &gamma[..]].concat()), expected);
    assert_eq!(fitted(folder, &["--params", "long.toml"]), expected);
    assert_eq!(fitted(folder, &[&["--params", "short.toml"], &gamma[..]].concat()), expected);
    // Flags override the file, wherever they stand, and a later --set an earlier one.
    let over = ["--set", "penalty.gamma=9", "--set", "penalty.gamma=2", "--params", "long.toml"];
    assert_eq!(fitted(folder, &over), expected);
}

#[test]
fn a_preset_gives_way_to_what_is_set_beside_it() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    fs::write(folder.join("d.csv"), small_csv()).unwrap();
    fs::write(folder.join("p.toml"), "preset = \"paper\"\nridge = 0.5\n").unwrap();
    for more in [
        &["--params", "p.toml"][..],
        &["--preset", "paper", "--ridge", "0.5"],
        &["--set", "ridge=0.5", "--set", "preset=paper"],
    ] {
        let params = fitted(folder, more);
        assert_eq!(params["ridge"], 0.5, "{more:?}");
        assert_eq!((&params["refit"]["kind"], &params["rule"]["kind"]), (&"none".into(), &"nearest".into()));
    }
}

#[test]
fn names_without_their_stage_are_told_where_they_are() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    fs::write(folder.join("d.csv"), small_csv()).unwrap();
    fs::write(folder.join("p.toml"), "kappa = 0.2\n").unwrap();
    let fit = |more: &[&str]| refused(folder, &[&["fit", "--data", "d.csv", "--model", "m"], more].concat());
    assert!(fit(&["--kappa", "0.2"]).contains("--kappa"));
    assert!(fit(&["--set", "kappa=0.2"]).contains("there is no parameter `kappa`: use manifold.kappa"));
    let refusal = fit(&["--params", "p.toml"]);
    assert!(refusal.contains("p.toml") && refusal.contains("use manifold.kappa"), "{refusal}");
    assert!(fit(&["--set", "penalty.gama=2"]).contains("penalty has kind, gamma"));
    assert!(fit(&["--set", "patch.k_within=0"]).contains("`patch.k_within` is 0, but must be >= 1"));
    assert!(fit(&["--set", "manifold.kappa=x"]).contains("`manifold.kappa` is \"x\", but must be a number"));
}

#[test]
fn searches_and_experiments_take_them_too() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    fs::write(folder.join("d.csv"), small_csv()).unwrap();
    let common = ["--data", "d.csv", "--set", "manifold.kappa=0", "--penalty", "adaptive"];
    let read = |path: &str| fs::read_to_string(folder.join(path)).unwrap();
    ok(folder, &[&["tune", "--nonzeros", "1,2", "--folds", "2", "--out", "t"], &common[..]].concat());
    let best: toml::Table = read("t/best.toml").parse().unwrap();
    assert_eq!(best["manifold"]["kappa"].as_float(), Some(0.0));
    assert_eq!(best["penalty"]["kind"].as_str(), Some("adaptive"));
    // What was chosen is what a fit takes.
    ok(folder, &["fit", "--data", "d.csv", "--params", "t/best.toml", "--model", "m"]);
    let run = [
        "evaluate",
        "--methods",
        "men-adaptive,pca",
        "--repeats",
        "1",
        "--train-per-class",
        "4",
        "--out",
        "e",
    ];
    ok(folder, &[&run, &common[..]].concat());
    let record: toml::Table = read("e/run.toml").parse().unwrap();
    assert_eq!(record["parameters"]["men-adaptive"]["manifold"]["kappa"].as_float(), Some(0.0));
    let validate = [
        "validate",
        "--nonzeros",
        "2",
        "--repeats",
        "1",
        "--permutations",
        "0",
        "--pairs",
        "0",
        "--out",
        "v",
    ];
    ok(folder, &[&validate, &common[..]].concat());
    assert!(read("v/run.toml").contains("men-adaptive"), "{}", read("v/run.toml"));
}

/// Two screens; `menet params` and `menet data --help` have the rest.
#[test]
fn the_help_of_fit_shows_what_most_users_need() {
    let dir = tempfile::tempdir().unwrap();
    let options = |command: &str| {
        let help = ok(dir.path(), &[command, "--help"]);
        let is_option = |line: &&str| {
            let line = line.trim_start();
            line.starts_with("--")
                || (line.starts_with('-') && line.contains(", --") && !line.starts_with("-h,"))
        };
        (help.lines().filter(is_option).count(), help)
    };
    let (count, help) = options("fit");
    assert!((20..=30).contains(&count), "{count}: {help}");
    assert!(help.lines().count() <= 90 && !help.contains("--delimiter"), "{help}");
    let (count, help) = options("data");
    assert!(count >= 15 && help.contains("--delimiter") && help.contains("--x-key"), "{help}");
    // What is hidden works.
    fs::write(dir.path().join("d.csv"), small_csv().replace(',', ";")).unwrap();
    ok(dir.path(), &["fit", "--data", "d.csv", "--delimiter", "semicolon", "--model", "m"]);
}
