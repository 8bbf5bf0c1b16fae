//! All tests of the crate's interface, as one program: linked once, and run side by side.

mod always_never;
mod command;
mod common;
mod copies;
mod endless;
mod errors;
mod experiments;
mod feature_graph;
mod files;
mod first_contact;
mod formulas;
mod panel_alone;
mod panels;
mod params;
mod preparation;
mod safety;
mod signals;
mod unlabelled;
mod validate;
mod words;

/// A file that is not listed in `all.rs` of its crate would never be compiled, unless it is a program of its own.
#[test]
fn every_file_of_every_crate_is_listed() {
    let own = ["all", "sequential"];
    let crates = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    for name in ["menet", "menet-io", "menet-lab", "menet-cli"] {
        let folder = std::path::Path::new(crates).join(name).join("tests");
        let listed = std::fs::read_to_string(folder.join("all.rs")).unwrap();
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let file = path.file_stem().unwrap().to_str().unwrap();
            let is_code = path.extension().is_some_and(|it| it == "rs") || path.join("mod.rs").exists();
            if is_code && !own.contains(&file) {
                assert!(
                    listed.contains(&format!("\nmod {file};\n")),
                    "{name}/tests/all.rs does not list {file}"
                );
            }
        }
    }
}

/// An editor shows a doc comment without its neighbours.
#[test]
fn doc_comments_stand_alone() {
    fn look(folder: &std::path::Path) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                look(&path);
            } else if path.extension().is_some_and(|it| it == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                let leans = text.lines().position(|line| line.trim_start().starts_with("/// The same"));
                assert_eq!(
                    leans,
                    None,
                    "{}: say it without \"The same\" (line counted from 0)",
                    path.display()
                );
            }
        }
    }
    for name in ["menet", "menet-io", "menet-lab", "menet-cli", "menet-python"] {
        look(&std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join(name).join("src"));
    }
}
