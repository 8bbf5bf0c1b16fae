//! A folder continues only the run that it holds: whatever goes in is part of the key.

use std::path::Path;

use faer::Mat;
use menet::evaluate::generator;
use menet::penalties::feature_graph::{Edge, EdgeList, FeatureGraph};
use menet::penalties::groups::Groups;
use menet::select::{Search, Space, TrialChoice};
use menet::{Dataset, MenParams};
use menet_lab::params::MethodParams;
use menet_lab::validate::{Baseline, MenProcedure, NAME, Options, Procedure, ValidationSubject, validate};
use menet_lab::{NamedSet, Protocol, Result, TuneOptions, run};
use rand::RngExt;

use crate::common::{file, opened, protocol};

const SAMPLES: usize = 24;

fn values(seed: u64) -> Mat<f64> {
    let mut rng = generator(seed, &[3]);
    Mat::from_fn(SAMPLES, 6, |i, j| rng.random::<f64>() + if j == i % 3 { 1.0 } else { 0.0 })
}

fn data() -> Dataset<'static> {
    let labels: Vec<usize> = (0..SAMPLES).map(|i| i % 3).collect();
    Dataset::from_owned(values(1), &labels).unwrap()
}

fn names(first: &str) -> Vec<String> {
    (0..6).map(|j| if j == 0 { first.to_owned() } else { format!("v{j}") }).collect()
}

fn set(data: Dataset<'static>) -> NamedSet<'static> {
    NamedSet { name: "set".to_owned(), data, rows: None, ids: None }
}

/// Sets that differ from the plain one in one input, with the word for it.
fn other_sets() -> Vec<(&'static str, NamedSet<'static>)> {
    let labels: Vec<usize> = (0..SAMPLES).map(|i| (i / 2) % 3).collect();
    let weights: Vec<f64> = (0..SAMPLES).map(|i| 1.0 + (i % 5) as f64).collect();
    let batches = |shift: usize| (0..SAMPLES).map(|i| (i + shift) / 5 % 2).collect::<Vec<_>>();
    let with = |data: Dataset<'static>| set(data);
    let rows = (1..=SAMPLES).collect();
    vec![
        (
            "values",
            with(Dataset::from_owned(values(2), &(0..SAMPLES).map(|i| i % 3).collect::<Vec<_>>()).unwrap()),
        ),
        ("labels", with(Dataset::from_owned(values(1), &labels).unwrap())),
        ("sample weights", with(data().with_weights(&weights).unwrap())),
        ("balanced classes", with(data().with_balanced_classes())),
        ("batches", with(data().with_batches(&batches(0)).unwrap())),
        ("image shape", with(data().with_image_shape(2, 3).unwrap())),
        ("variable names", with(data().with_feature_names(names("age")).unwrap())),
        ("rows", NamedSet { rows: Some(rows), ..set(data()) }),
        ("name or size", NamedSet { name: "other".to_owned(), ..set(data()) }),
    ]
}

fn quick() -> Options {
    Options { folds: 2, repeats: 1, permutations: 2, pairs: 1, largest_panel: 3, ..Options::default() }
}

fn men(params: MenParams) -> MenProcedure {
    let mut men = MenProcedure::new(params.with(|it| (it.nonzeros, it.ridge) = (Some(2), Some(0.3))));
    men.folds = 2;
    men
}

fn refused(found: Result<impl std::fmt::Debug>, word: &str) {
    let message = found.unwrap_err().to_string();
    assert!(message.contains("another run") && message.contains(word), "{word}: {message}");
}

/// Parameters that differ in one field.
fn other_params() -> Vec<MenParams> {
    let edge = |weight| Edge { ends: (0.into(), 1.into()), weight };
    let graph = |weight| {
        let edges = FeatureGraph::Edges(EdgeList::new("edges.csv", vec![edge(weight)]));
        MenParams::default().with(|it| it.penalty.feature_graph = Some(edges))
    };
    let group = |at: usize| {
        MenParams::default()
            .with(|it| it.penalty.feature_groups = Some(Groups::from_pairs([(0, "g"), (at, "g")])))
    };
    vec![
        // A parameter file would name the file of both graphs, and how many edges there are.
        graph(1.0),
        graph(2.0),
        group(1),
        group(2),
        MenParams::default().with(|it| it.penalty.always = Some(vec![0.into()])),
        MenParams::default().with(|it| it.penalty.never = Some(vec![0.into()])),
        MenParams::default().with(|it| it.manifold.beta *= 1.0 + f64::EPSILON),
    ]
}

#[test]
fn a_validation_continues_only_with_the_same_inputs() {
    let dir = tempfile::tempdir().unwrap();
    let go =
        |set: &NamedSet<'_>, groups: Option<&[usize]>, options: &Options, procedures: &[&dyn Procedure]| {
            let folder = opened(dir.path());
            validate(ValidationSubject { set, groups, procedures }, options, Some(&folder), &[], &())
        };
    let (plain, own) = (set(data()), men(MenParams::default()));
    go(&plain, None, &quick(), &[&own]).unwrap();
    let journal = file(dir.path(), NAME);
    for (word, other) in other_sets() {
        refused(go(&other, None, &quick(), &[&own]), word);
    }
    let ids: Vec<String> = (0..SAMPLES).map(|i| format!("s{i}")).collect();
    refused(go(&NamedSet { ids: Some(&ids), ..plain.clone() }, None, &quick(), &[&own]), "sample names");
    for groups in [3, 4] {
        let groups: Vec<usize> = (0..SAMPLES).map(|i| i / groups).collect();
        refused(go(&plain, Some(&groups), &quick(), &[&own]), "groups");
    }
    refused(go(&plain, None, &Options { folds: 3, ..quick() }, &[&own]), "folds");
    refused(go(&plain, None, &Options { seed: 1, ..quick() }, &[&own]), "seed");
    refused(go(&plain, None, &Options { largest_panel: 4, ..quick() }, &[&own]), "largest_panel");
    // Groups have no order of entry, so they are refused before.
    for params in other_params().into_iter().filter(|params| params.penalty.feature_groups.is_none()) {
        refused(go(&plain, None, &quick(), &[&men(params)]), "methods");
    }
    let inner = MenProcedure { folds: 3, ..own.clone() };
    refused(go(&plain, None, &quick(), &[&inner]), "methods");
    go(&plain, None, &quick(), &[&own]).unwrap();
    assert_eq!(file(dir.path(), NAME), journal, "nothing was computed again");
}

/// Permutations and half-samples are those of the first method.
#[test]
fn a_validation_continues_only_with_the_same_first_method() {
    let dir = tempfile::tempdir().unwrap();
    let pca = menet::Method::from_name("pca").unwrap();
    let pca = Baseline { method: pca, prepare: menet::prepare::PrepareParams::default(), folds: 2 };
    let (plain, own) = (set(data()), men(MenParams::default()));
    let go = |procedures: &[&dyn Procedure]| {
        let subject = ValidationSubject { set: &plain, groups: None, procedures };
        validate(subject, &quick(), Some(&opened(dir.path())), &[], &())
    };
    go(&[&own, &pca]).unwrap();
    refused(go(&[&pca, &own]), "first");
}

#[test]
fn an_experiment_continues_only_with_the_same_inputs() {
    let dir = tempfile::tempdir().unwrap();
    let go = |protocol: &Protocol, set: &NamedSet<'_>| {
        run(protocol, std::slice::from_ref(set), dir.path(), &[], &())
    };
    let few =
        || Protocol { methods: vec!["men".to_owned()], train_per_class: vec![4], repeats: 1, ..protocol() };
    go(&few(), &set(data())).unwrap();
    let journal = file(dir.path(), menet_lab::journal::NAME);
    for (word, other) in other_sets() {
        // Rows come from the protocol, which chooses them.
        if word != "rows" {
            refused(go(&few(), &other), word);
        }
    }
    let params = MethodParams::parse("[men]\nmanifold.beta = 2.0").unwrap();
    refused(go(&Protocol { params, ..few() }, &set(data())), "params");
    let tune = Some(TuneOptions::default());
    refused(go(&Protocol { tune, ..few() }, &set(data())), "tune");
    go(&few(), &set(data())).unwrap();
    assert_eq!(file(dir.path(), menet_lab::journal::NAME), journal, "nothing was computed again");
}

/// Every list of a search is in the key, "none" in it too.
#[test]
fn a_tuned_experiment_continues_only_with_the_same_search() {
    let dir = tempfile::tempdir().unwrap();
    let set = set(data());
    let go = |space: &Space, choose: TrialChoice| {
        let search = Search { space: space.clone(), choose, ..Search::default() };
        let tune = Some(TuneOptions { folds: 2, search, ..TuneOptions::default() });
        let few = Protocol {
            methods: vec!["men".to_owned()],
            train_per_class: vec![4],
            repeats: 1,
            tune,
            ..protocol()
        };
        run(&few, std::slice::from_ref(&set), dir.path(), &[], &())
    };
    let (own, best) =
        (Space { panel_size: vec![None, Some(3)], ridge: vec![0.3], ..Space::default() }, TrialChoice::Best);
    go(&own, best).unwrap();
    let journal = file(dir.path(), menet_lab::journal::NAME);
    for panel_size in [vec![], vec![Some(3)], vec![None], vec![Some(3), None]] {
        refused(go(&Space { panel_size, ..own.clone() }, best), "tune");
    }
    refused(go(&Space { refit_ridge: vec![None, Some(1.0)], ..own.clone() }, best), "tune");
    refused(go(&Space { voters: vec![3], ..own.clone() }, best), "tune");
    refused(go(&own, TrialChoice::Smallest), "tune");
    go(&own, best).unwrap();
    assert_eq!(file(dir.path(), menet_lab::journal::NAME), journal, "nothing was computed again");
}

/// One changed digit of finished work is not believed: the work is done again.
#[test]
fn damaged_work_is_done_again() {
    let dir = tempfile::tempdir().unwrap();
    let (plain, own) = (set(data()), men(MenParams::default()));
    let go = |path: &Path| {
        let subject = ValidationSubject { set: &plain, groups: None, procedures: &[&own] };
        validate(subject, &quick(), Some(&opened(path)), &[], &()).map(|found| found.methods)
    };
    let found = go(dir.path()).unwrap();
    let journal = std::fs::read(dir.path().join(NAME)).unwrap();
    let first = journal.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    let mut rng = generator(5, &[6]);
    for _ in 0..60 {
        let at = rng.random_range(first..journal.len());
        let mut damaged = journal.clone();
        damaged[at] = rng.random_range(b' '..=b'~');
        std::fs::write(dir.path().join(NAME), &damaged).unwrap();
        assert_eq!(go(dir.path()).unwrap(), found, "byte {at}");
        assert_eq!(std::fs::read(dir.path().join(NAME)).unwrap(), journal, "byte {at}");
    }
    for at in 0..first - 1 {
        let mut damaged = journal.clone();
        damaged[at] ^= 1;
        std::fs::write(dir.path().join(NAME), &damaged).unwrap();
        let message = go(dir.path()).unwrap_err().to_string();
        assert!(message.contains("another run"), "byte {at}: {message}");
    }
}
