//! Samples without a label, from the command line.

use std::fmt::Write;
use std::fs;

use crate::common;
use crate::common::json;

#[test]
fn a_fit_tells_how_many_samples_have_no_label() {
    let dir = tempfile::tempdir().unwrap();
    let mut text = "label,left,right,noise\n".to_owned();
    for i in 0..40_i32 {
        let label = if i % 4 == 3 { String::new() } else { (i % 2).to_string() };
        let wave = |step: i32| f64::from((i * step) % 17) / 17.0;
        writeln!(text, "{label},{},{},{}", f64::from(i % 2) + wave(3), wave(5), wave(7)).unwrap();
    }
    fs::write(dir.path().join("partly.csv"), text).unwrap();
    let line = ["fit", "--data", "partly.csv", "--model", "m", "--unlabelled", "keep"];
    let run = common::menet(dir.path(), &line);
    let said = String::from_utf8(run.stderr).unwrap();
    assert!(run.status.success(), "{said}");
    assert!(
        said.contains("10 of 40 samples have no label; they take part in the manifold term alone"),
        "{said}"
    );
    let report = json(dir.path(), &[&line[..], &["--json"]].concat());
    assert_eq!((report["n"].as_u64(), report["unlabelled"].as_u64()), (Some(30), Some(10)));
}
