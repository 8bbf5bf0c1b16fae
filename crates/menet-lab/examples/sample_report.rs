//! Writes the figures and the report of a small study of built-in data, to look at:
//! `cargo run --release -p menet-lab --example sample_report -- folder [--hostile]`.
//!
//! With `--hostile`, labels, variables and the set itself have names that would run as scripts if anything forgot to
//! escape them: `scripts/test_report.py` opens that report in a browser.

#[path = "support/study.rs"]
mod support;

use std::error::Error;
use std::path::PathBuf;

use menet_io::{ReadOptions, Table, read};
use support::{Plan, study};

/// Names that try to get out of wherever they are put.
const HOSTILE: [&str; 5] = [
    "<img src=x onerror=window.hacked=1>",
    "</script><script>window.hacked=1</script>",
    "\"><svg onload=window.hacked=1>",
    "<a href=\"javascript:window.hacked=1\">$x$ & 'y'\u{2028}</a>",
    "\u{202e}{{window.hacked=1}} ${window.hacked=1} <!--",
];

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().ok_or("give a folder to write to")?);
    let hostile = arguments.any(|argument| argument == "--hostile");
    let mut faces = read("orl", &ReadOptions::default())?;
    let mut genes = read("leukemia", &ReadOptions::default())?;
    let mut names = ["orl", "leukemia"].map(str::to_owned);
    if hostile {
        spoil(&mut faces);
        spoil(&mut genes);
        names = [HOSTILE[0], HOSTILE[1]].map(str::to_owned);
    }
    let [faces_name, genes_name] = names;
    let plan = |name, train: &[usize], repeats, dimensions, nonzeros| Plan {
        name,
        train_per_class: train.to_vec(),
        repeats,
        dimensions,
        nonzeros,
    };
    let study = study(&[
        (plan(faces_name, &[3, 5], 5, 14, 100), &faces),
        (plan(genes_name, &[5], 3, 6, 30), &genes),
    ])?;
    std::fs::create_dir_all(&folder)?;
    let files = menet_lab::figures::write_all(&study, &folder)?;
    let report = folder.join("report.html");
    let html = menet_lab::report::html(&study)?;
    menet_io::atomic::write(&report, |out| out.write_all(html.as_bytes()))?;
    println!("{} figures and {} ({:.1} MB)", files.len() / 2, report.display(), html.len() as f64 / 1e6);
    Ok(())
}

/// Gives labels and variables hostile names.
fn spoil(table: &mut Table) {
    if let Some(labels) = &mut table.labels {
        let mut kinds = labels.clone();
        kinds.sort();
        kinds.dedup();
        for label in labels {
            let kind = kinds.iter().position(|kind| kind == label).unwrap_or(0);
            *label = format!("{}{kind}", HOSTILE[kind % HOSTILE.len()]);
        }
    }
    // Images keep their places for names.
    if table.image_shape.is_none() {
        let name = |j: usize| format!("{}{j}", HOSTILE[j % HOSTILE.len()]);
        table.feature_names = Some((0..table.columns).map(name).collect());
    }
}
