//! The page about the library shows the example that is compiled and run.

#[test]
fn the_page_shows_the_example() {
    // A link to docs/rust.md.
    let page = include_str!("../README.md");
    assert!(
        page.contains(include_str!("../examples/readme.rs")),
        "copy examples/readme.rs into docs/rust.md"
    );
}
