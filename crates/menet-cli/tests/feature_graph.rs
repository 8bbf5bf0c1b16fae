//! A graph over the variables, from the command line.

use std::fs;

use crate::common::{json, ok, refused};

fn split(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

#[test]
fn a_grid_is_taken_from_the_shape_of_images() {
    let dir = tempfile::tempdir().unwrap();
    let line = "fit --data digits --nonzeros 10 --refit none --feature-graph";
    let said = ok(dir.path(), &split(&format!("{line} grid --set penalty.graph_weight=2 --model grid")));
    assert!(said.contains("feature graph: grid, weight 2\n"), "{said}");
    let shown = json(dir.path(), &split("inspect --model grid --json"));
    assert_eq!(
        (
            shown["params"]["penalty"]["feature_graph"].as_str(),
            shown["params"]["penalty"]["graph_weight"].as_f64()
        ),
        (Some("grid"), Some(2.0))
    );
    let axes = |name: &str| {
        json(dir.path(), &["inspect", "--model", name, "--top", "100", "--json"])["axes"].clone()
    };
    for graph in ["auto", "grid:8x8"] {
        ok(dir.path(), &split(&format!("{line} {graph} --set penalty.graph_weight=2 --model other")));
        assert_eq!(axes("other"), axes("grid"), "{graph}");
    }
    ok(dir.path(), &split(&format!("{line} chain --set penalty.graph_weight=2 --model chain")));
    assert_ne!(axes("chain"), axes("grid"));
    // Smaller models are read off the paths.
    ok(dir.path(), &split("inspect --model grid --nonzeros 4"));
}

#[test]
fn a_file_of_edges_is_a_graph_and_a_model_stores_how_many_there_are() {
    let dir = tempfile::tempdir().unwrap();
    let mut edges = "variable,variable,weight\n".to_owned();
    for j in 1..64 {
        edges += &format!("{},{},0.5\n", j + 1, j);
    }
    fs::write(dir.path().join("edges.csv"), edges).unwrap();
    let line = "fit --data digits --nonzeros 10 --refit none --model";
    let said = ok(dir.path(), &split(&format!("{line} listed --feature-graph edges.csv")));
    assert!(said.contains("feature graph: 63 edges of edges.csv, weight 1\n"), "{said}");
    ok(dir.path(), &split(&format!("{line} chain --feature-graph chain")));
    let axes = |name: &str| {
        json(dir.path(), &["inspect", "--model", name, "--top", "100", "--json"])["axes"].clone()
    };
    assert_eq!(axes("listed"), axes("chain"));
    let shown = json(dir.path(), &split("inspect --model listed --json"));
    assert_eq!(shown["params"]["penalty"]["feature_graph"]["edges"], 63);
    assert_eq!(shown["params"]["penalty"]["feature_graph"]["source"], "edges.csv");
    // The file may be gone when the model is used.
    fs::remove_file(dir.path().join("edges.csv")).unwrap();
    ok(dir.path(), &split("inspect --model listed --nonzeros 4"));
    ok(dir.path(), &split("predict --model listed --data digits --out p.csv"));
}

#[test]
fn experiments_know_it_as_a_method() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("p.toml"), "nonzeros = 5\n[penalty]\nfeature_graph = \"chain\"\n").unwrap();
    let line = "evaluate --data digits --methods men-graph,men --train-per-class 3 --repeats 1 --out run --params p.toml";
    ok(dir.path(), &split(line));
    let recorded = fs::read_to_string(dir.path().join("run/run.toml")).unwrap();
    assert!(recorded.contains("feature_graph = \"chain\""), "{recorded}");
    fs::write(dir.path().join("q.toml"), "[men.penalty]\nfeature_graph = \"chain\"").unwrap();
    let refusal =
        refused(dir.path(), &split("evaluate --data digits --methods men --out r2 --params q.toml"));
    assert!(refusal.contains("it is the method men-graph"), "{refusal}");
}

#[test]
fn what_does_not_fit_is_told() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("bad.csv"), "1,2\n1,65\n").unwrap();
    fs::write(dir.path().join("broken.csv"), "1,2\n3\n").unwrap();
    for (flags, expected) in [
        (
            "--feature-graph gird",
            "there is no such file, and `penalty.feature_graph` must be auto, grid, chain",
        ),
        ("--feature-graph bad.csv", "`penalty.feature_graph` is \"65\", but must be a number from 1 to 64"),
        ("--feature-graph broken.csv", "broken.csv: line 2: it has 1 fields"),
        ("--feature-graph grid:3x3", "a grid of 3 x 3"),
        (
            "--set penalty.graph_weight=2",
            "`penalty.graph_weight` is 2, but must be left out without a `penalty.feature_graph`",
        ),
    ] {
        let said = refused(dir.path(), &split(&format!("fit --data digits --model m {flags}")));
        assert!(said.contains(expected), "{flags}: {said}");
    }
    let said = refused(dir.path(), &split("fit --data leukemia --model m --feature-graph grid"));
    assert!(said.contains("the data have no image shape"), "{said}");
}
