//! All tests of the crate's interface, as one program: linked once, and run side by side. `sequential` changes a
//! setting of the whole program, so it is one of its own.

mod always_never;
mod baselines;
mod common;
mod definiteness;
mod edge_cases;
mod feature_graph;
mod groups;
mod l0;
mod lars_factors;
mod lars_free;
mod lars_properties;
mod lars_reference;
mod lars_responses;
mod panels;
mod paper;
mod penalties;
mod penalties_fit;
mod pieces;
mod prepare;
mod readme;
mod seams;
mod select;
mod sparse;
mod stability;
mod threads;
mod unlabelled;
mod weights;

/// A file that is not listed above would never be compiled.
#[test]
fn every_file_is_listed() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");
    let listed = include_str!("all.rs");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        if !["all", "sequential"].contains(&name)
            && (path.extension().is_some_and(|it| it == "rs") || path.join("mod.rs").exists())
        {
            assert!(listed.contains(&format!("\nmod {name};\n")), "tests/all.rs does not list {name}");
        }
    }
}
