//! A small experiment, for several test files.
// Each test file is its own crate and needs only a part.
#![allow(dead_code)]

use std::path::Path;

use faer::Mat;
use menet::Dataset;
use menet_lab::cell::Cell;
use menet_lab::params::MethodParams;
use menet_lab::{Folder, MetricChoice, NamedSet, Protocol, Study, run};
use rand::{RngExt, SeedableRng};

/// Classes around their centres; the last class has fewer samples.
pub(crate) fn data(seed: u64) -> Dataset<'static> {
    let mut rng = rand_pcg::Pcg64::seed_from_u64(seed);
    let labels: Vec<usize> = (0..44).map(|i| if i < 40 { i % 4 } else { 4 }).collect();
    let centres = Mat::from_fn(5, 12, |_, _| rng.random::<f64>());
    let x = Mat::from_fn(44, 12, |i, j| centres[(labels[i], j)] + 0.6 * rng.random::<f64>());
    Dataset::from_owned(x, &labels).unwrap()
}

pub(crate) fn set(seed: u64) -> NamedSet<'static> {
    NamedSet { name: "clusters".to_owned(), data: data(seed), rows: None, ids: None }
}

pub(crate) fn protocol() -> Protocol {
    Protocol {
        methods: ["men", "slpp", "flda", "pca"].map(str::to_owned).to_vec(),
        train_per_class: vec![3, 2],
        repeats: 3,
        dims: (1..=6).collect(),
        seed: 7,
        metric: MetricChoice::Euclidean,
        subset_classes: None,
        min_per_class: None,
        tune: None,
        prepare: menet::prepare::PrepareParams::default(),
        params: MethodParams::default(),
    }
}

pub(crate) fn go(protocol: &Protocol, set: &NamedSet<'_>, folder: &Path) -> (Study, Vec<Cell>) {
    run(protocol, std::slice::from_ref(set), folder, &[], &()).unwrap()
}

pub(crate) fn file(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap()
}

pub(crate) fn opened(folder: &Path) -> Folder {
    Folder::open(folder, "validate", menet_lab::validate::output::FILES).unwrap()
}
