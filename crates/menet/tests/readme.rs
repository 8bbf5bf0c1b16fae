//! The README shows the example that is compiled and run.

#[test]
fn the_readme_shows_the_example() {
    let readme = include_str!("../README.md");
    assert!(
        readme.contains(include_str!("../examples/readme.rs")),
        "copy examples/readme.rs into the README"
    );
}
