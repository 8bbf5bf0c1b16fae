//! Runs a small study of built-in data, to look at its figures and report:
//! `cargo run --release -p menet-lab --example sample_report -- folder [--hostile]`.
//!
//! With `--hostile`, labels, variables and the sets themselves have names that would run as scripts if anything forgot to
//! escape them: `scripts/test_report.py` opens that report in a browser.

use std::error::Error;
use std::path::PathBuf;

use menet_io::{ReadOptions, Table, read};
use menet_lab::params::MethodParams;
use menet_lab::{MetricChoice, NamedSet, Protocol, run};

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
    let mut names = ["orl", "leukemia"];
    if hostile {
        spoil(&mut faces);
        spoil(&mut genes);
        names = [HOSTILE[0], HOSTILE[1]];
    }
    let protocol = Protocol {
        methods: ["men", "flda", "pca"].map(str::to_owned).to_vec(),
        train_per_class: vec![5, 3],
        repeats: 3,
        dims: (1..=14).collect(),
        seed: 0,
        metric: MetricChoice::Euclidean,
        subset_classes: None,
        min_per_class: None,
        tune: None,
        prepare: menet::prepare::PrepareParams::default(),
        params: MethodParams::default(),
    };
    let sets = [
        NamedSet { name: names[0].to_owned(), data: faces.dataset()?, rows: None, ids: None },
        NamedSet { name: names[1].to_owned(), data: genes.dataset()?, rows: None, ids: None },
    ];
    run(&protocol, &sets, &folder, &[], &())?;
    println!("{}", folder.join("report.html").display());
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
