//! Samples with gaps and batches in experiments: whatever is learned is learned from training samples.

use crate::common;
use crate::common::{opened, protocol};
use faer::Mat;
use menet::evaluate::{classes_of, generator, halves, recognitions, subset};
use menet::prepare::{Impute, PrepareParams, Scale};
use menet::rules::{Metric, nearest_neighbors};
use menet::{Dataset, MenParams, Method};
use menet_lab::cell::{CellKey, evaluate};
use menet_lab::params::MethodParams;
use menet_lab::validate::{
    Baseline, HeldOutCase, MenProcedure, Options, Procedure, ValidationSubject, output, validate,
};
use menet_lab::{NamedSet, Protocol, TuneOptions, tune};
use rand::RngExt;

/// Four classes in three shifted batches, a fifth of the values missing; the last samples are far from all others.
fn set() -> NamedSet<'static> {
    let mut rng = generator(3, &[]);
    let labels: Vec<usize> = (0..72).map(|i| i % 4).collect();
    let batches: Vec<usize> = (0..72).map(|i| (i / 4) % 3).collect();
    let x = Mat::from_fn(72, 10, |i, j| {
        let value =
            rng.random::<f64>() + if j % 4 == labels[i] { 1.0 } else { 0.0 } + 3.0 * batches[i] as f64;
        let value = if i >= 60 { 40.0 * value } else { value };
        if rng.random::<f64>() < 0.2 { f64::NAN } else { value }
    });
    let names = (0..10).map(|j| format!("gene {j}")).collect();
    let data = Dataset::with_missing(x, &labels).unwrap().with_batches(&batches).unwrap();
    NamedSet { name: "gaps".to_owned(), data: data.with_feature_names(names).unwrap(), rows: None, ids: None }
}

fn ways() -> impl Iterator<Item = PrepareParams> {
    [Impute::Mean, Impute::Median, Impute::Knn]
        .into_iter()
        .map(|impute| PrepareParams::default().with(|it| (it.impute, it.scale) = (Some(impute), Scale::Unit)))
}

fn prepared(prepare: &PrepareParams) -> Protocol {
    let of_prepare = toml::Value::try_from(prepare).unwrap();
    let section: toml::Table = [("prepare".to_owned(), of_prepare)].into_iter().collect();
    let params = MethodParams([("men".to_owned(), section)].into_iter().collect());
    Protocol { train_per_class: vec![8], repeats: 2, prepare: *prepare, params, ..protocol() }
}

/// The rates of a cell are those of methods that are fitted to prepared training samples.
#[test]
fn evaluate_prepares_inside_the_training_samples() {
    let set = set();
    for prepare in ways() {
        let protocol = prepared(&prepare);
        for name in ["pca", "slpp", "men"] {
            let place =
                CellKey { data: set.name.clone(), train_per_class: 8, repeat: 1, method: name.to_owned() };
            let cell = evaluate(&protocol, &set, &place, &()).unwrap();
            assert_eq!(cell.failed, None, "{name}");
            let split = protocol.split(&set, 8, 1).unwrap();
            let (train, test) = halves(&set.data, &split, &prepare).unwrap();
            let asked = classes_of(&set.data, &split.test);
            let reduced = Method::from_name(name).unwrap().reducer().fit(&train, Some(6), &()).unwrap();
            let rates: Vec<f64> = match reduced.men() {
                Some(men) => {
                    let z = men.project(&test).unwrap();
                    let rule = men.rule().unwrap();
                    let dims: Vec<usize> = (1..=z.ncols()).collect();
                    let found = menet::evaluate::decisions(rule, &[0, 1, 2, 3], 4, z.as_ref(), &asked, &dims)
                        .unwrap();
                    found.iter().map(|(_, scores)| scores.rate).collect()
                }
                None => {
                    let known = classes_of(&set.data, &split.train);
                    let (gallery, z) = (
                        reduced.projection.project(&train).unwrap(),
                        reduced.projection.project(&test).unwrap(),
                    );
                    let dims: Vec<usize> = (1..=6).collect();
                    let found =
                        recognitions(gallery.as_ref(), &known, z.as_ref(), &asked, &dims, Metric::Euclidean);
                    found.unwrap().iter().map(|found| found.score.rate()).collect()
                }
            };
            let cell_rates: Vec<f64> = cell.outcomes.iter().map(|outcome| outcome.rate).collect();
            assert_eq!(cell_rates, rates, "{name} {prepare:?}");
        }
    }
}

/// A whole run with tuning, its figures and its report.
#[test]
fn a_run_with_gaps_and_batches_is_complete() {
    let (set, folder) = (set(), tempfile::tempdir().unwrap());
    let prepare = ways().next().unwrap();
    let tune = TuneOptions { budget: 12, folds: 3, ..TuneOptions::default() };
    let protocol = Protocol { tune: Some(tune), repeats: 1, ..prepared(&prepare) };
    let (study, cells) = common::go(&protocol, &set, folder.path());
    assert!(cells.iter().all(|cell| cell.failed.is_none()), "{cells:?}");
    assert_eq!(study.summary.len(), 4);
    assert!(!common::file(folder.path(), "results.csv").contains("NaN"));
    // Without a way to fill them, every method says which value is missing.
    let plain = Protocol { prepare: PrepareParams::default(), params: MethodParams::default(), ..protocol };
    let place = CellKey { data: set.name.clone(), train_per_class: 8, repeat: 0, method: "pca".to_owned() };
    let cell = evaluate(&Protocol { tune: None, ..plain }, &set, &place, &()).unwrap();
    assert!(cell.failed.is_some_and(|why| why.contains("NaN")));
}

#[test]
fn tuning_prepares_inside_its_folds() {
    let set = set();
    for prepare in ways() {
        let options = TuneOptions { budget: 9, folds: 3, prepare, ..TuneOptions::default() };
        let method = Method::from_name("pca").unwrap();
        let dims = [1, 2, 3, 4, 5, 6];
        let tuned =
            tune(&method, &set.data, &dims, menet_lab::MetricChoice::Euclidean, &options, 5, &()).unwrap();
        // The same by hand: every test sample of every fold, at the dimension of the choice.
        let mut rng = generator(5, &[3]);
        let folds = menet::evaluate::stratified_folds(&set.data, 3, &mut rng).unwrap();
        let (mut right, mut tested) = (0, 0);
        for fold in &folds {
            let (train, test) = halves(&set.data, fold, &prepare).unwrap();
            let reduced = tuned.method.reducer().fit(&train, Some(6), &()).unwrap();
            let d = tuned.dimension;
            let (gallery, z) =
                (reduced.projection.project(&train).unwrap(), reduced.projection.project(&test).unwrap());
            let known = classes_of(&set.data, &fold.train);
            let found = nearest_neighbors(gallery.get(.., ..d), &known, z.get(.., ..d), 1, Metric::Euclidean)
                .unwrap();
            let truth = classes_of(&set.data, &fold.test);
            right += found.iter().zip(&truth).filter(|(found, truth)| found.class == **truth).count();
            tested += truth.len();
        }
        assert!((tuned.rate() - 100.0 * right as f64 / tested as f64).abs() < 1e-12, "{prepare:?}");
    }
}

#[test]
fn validation_prepares_inside_its_folds_and_draws_what_the_model_sees() {
    let set = set();
    for (at, prepare) in ways().enumerate() {
        let mut men = MenProcedure::new(MenParams::default().with(|it| it.prepare = prepare));
        (men.base.nonzeros, men.base.ridge) = (Some(5), Some(0.3));
        men.folds = 2;
        let pca = Baseline { method: Method::from_name("pca").unwrap(), prepare, folds: 2 };
        let options = Options {
            folds: 3,
            repeats: 1,
            permutations: 3,
            pairs: 2,
            largest_panel: 5,
            ..Options::default()
        };
        let folder = tempfile::tempdir().unwrap();
        let subject = ValidationSubject { set: &set, groups: None, procedures: &[&men, &pca] };
        let found = validate(subject, &options, Some(&opened(folder.path())), &[], &()).unwrap();
        output::write(&found, &set.data, None, &opened(folder.path()), &()).unwrap();
        let page = std::fs::read_to_string(folder.path().join("report.html")).unwrap();
        assert!(page.contains("menet predict"), "a new sample needs its batch");
        // A decision on held-out samples is that of a model which was fitted without them.
        let split = menet::evaluate::Split { train: (0..60).collect(), test: (60..72).collect() };
        let case = HeldOutCase { data: &set.data, split: &split, groups: None, seed: 1 };
        let decided = men.decide(&case, &()).unwrap();
        let train = subset(&set.data, &split.train).unwrap();
        let chosen = MenParams::default().with(|it| it.prepare = prepare);
        let fixed = chosen.with(|it| (it.nonzeros, it.ridge) = (Some(5), Some(0.3)));
        let fits: Vec<Vec<usize>> = men
            .grid(&train)
            .unwrap()
            .settings(&men.base)
            .iter()
            .map(|params| {
                let model = menet::fit(&train, params, &()).unwrap();
                let z = model.project(&subset(&set.data, &split.test).unwrap()).unwrap();
                model.rule().unwrap().classify(z.as_ref()).unwrap()
            })
            .collect();
        assert!(fits.contains(&decided.given), "{at}: {fixed:?}");
    }
}
