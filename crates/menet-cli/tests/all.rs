//! All tests of the crate's interface, as one program: linked once, and run side by side.

mod always_never;
mod command;
mod common;
mod errors;
mod experiments;
mod feature_graph;
mod files;
mod first_contact;
mod panels;
mod preparation;
mod safety;
mod signals;
mod unlabelled;
mod validate;
mod words;

/// A file that is not listed above would never be compiled.
#[test]
fn every_file_is_listed() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");
    let listed = include_str!("all.rs");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        if name != "all" && (path.extension().is_some_and(|it| it == "rs") || path.join("mod.rs").exists()) {
            assert!(listed.contains(&format!("\nmod {name};\n")), "tests/all.rs does not list {name}");
        }
    }
}
