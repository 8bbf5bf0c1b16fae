//! Validation: honest on noise, the same after a stop and on any number of threads, and true to groups.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use faer::Mat;
use menet::evaluate::{generator, subset};
use menet::select::{Search, Space};
use menet::{Dataset, MenParams, Monitor};
use menet_lab::validate::{
    Baseline, Decisions, HeldOutCase, MenProcedure, NAME, Options, Procedure, TrialChoice, Validation,
    ValidationSubject, output, validate,
};
use menet_lab::{Error, NamedSet, Progress, Result, Status};
use rand::RngExt;

use crate::common::opened;

/// Classes that differ in the first `signal` variables, among noise.
fn made(seed: u64, sizes: &[usize], p: usize, signal: usize, shift: f64) -> Dataset<'static> {
    let mut rng = generator(seed, &[77]);
    let labels: Vec<usize> = sizes.iter().enumerate().flat_map(|(class, &size)| vec![class; size]).collect();
    let mut noise = || (0..6).map(|_| rng.random::<f64>()).sum::<f64>() - 3.0;
    let x = Mat::from_fn(labels.len(), p, |i, j| {
        noise() + if j < signal && j % sizes.len() == labels[i] { shift } else { 0.0 }
    });
    let names = (0..p).map(|j| format!("gene {j}")).collect();
    Dataset::from_owned(x, &labels).unwrap().with_feature_names(names).unwrap()
}

fn set(data: Dataset<'static>) -> NamedSet<'static> {
    NamedSet { name: "made".to_owned(), data, rows: None, ids: None }
}

fn quick() -> Options {
    Options { folds: 3, repeats: 2, permutations: 20, pairs: 5, largest_panel: 10, ..Options::default() }
}

/// MEN that chooses among these numbers of variables per path.
fn sized(nonzeros: &[usize]) -> MenProcedure {
    let nonzeros = nonzeros.iter().copied().map(Some).collect();
    MenProcedure::trying(MenParams::default(), Space { nonzeros, ..Space::default() })
}

fn men() -> MenProcedure {
    sized(&[3, 6])
}

fn go(
    set: &NamedSet<'_>,
    options: &Options,
    procedures: &[&dyn Procedure],
    groups: Option<&[usize]>,
) -> Validation {
    validate(ValidationSubject { set, groups, procedures }, options, None, &[], &()).unwrap()
}

/// Every file of a folder.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut out = BTreeMap::new();
    for folder in [folder.to_owned(), folder.join("figures")] {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                out.insert(
                    path.display().to_string().rsplit_once('/').unwrap().1.to_owned(),
                    std::fs::read(path).unwrap(),
                );
            }
        }
    }
    out
}

/// Stops after so many reports.
struct StopAfter(usize, AtomicUsize);

impl Monitor for StopAfter {
    fn stop(&self) -> bool {
        self.1.load(Ordering::Relaxed) >= self.0
    }
}

impl Progress for StopAfter {
    fn status(&self, _: Status) {
        self.1.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_stopped_validation_goes_on_to_the_same_bytes() {
    let set = set(made(1, &[12, 12, 9], 30, 6, 2.0));
    let (men, options) = (men(), quick());
    let baseline = Baseline {
        method: menet::Method::from_name("pca").unwrap(),
        prepare: menet::prepare::PrepareParams::default(),
        folds: 2,
    };
    let subject = ValidationSubject { set: &set, groups: None, procedures: &[&men, &baseline] };
    let whole = tempfile::tempdir().unwrap();
    let found = validate(subject, &options, Some(&opened(whole.path())), &[], &()).unwrap();
    output::write(&found, &set.data, None, &opened(whole.path()), &()).unwrap();
    for stop in [1, 7, 13, 17] {
        let stopped = tempfile::tempdir().unwrap();
        let early = StopAfter(stop, AtomicUsize::new(0));
        let error = validate(subject, &options, Some(&opened(stopped.path())), &[], &early).unwrap_err();
        assert!(error.to_string().contains("stop"), "{error}");
        // A kill in the middle of a line.
        let journal = stopped.path().join(NAME);
        let lines = std::fs::read_to_string(&journal).unwrap();
        std::fs::write(&journal, lines.clone() + &lines[lines.len() / 2..lines.len() - 5]).unwrap();
        // On another number of threads.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1 + stop % 3).build().unwrap();
        let again =
            pool.install(|| validate(subject, &options, Some(&opened(stopped.path())), &[], &())).unwrap();
        output::write(&again, &set.data, None, &opened(stopped.path()), &()).unwrap();
        let (a, b) = (files(whole.path()), files(stopped.path()));
        let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
        let differing: Vec<_> = names.into_iter().filter(|&name| a.get(name) != b.get(name)).collect();
        assert!(differing.is_empty(), "after {stop}: {differing:?}");
    }
    let names: Vec<String> = files(whole.path()).into_keys().collect();
    for name in output::FILES.iter().filter(|name| !name.ends_with('/')) {
        assert!(names.iter().any(|other| other == name), "{name} is not among {names:?}");
    }
}

#[test]
fn more_repeats_continue_a_run_and_other_options_are_refused() {
    let set = set(made(2, &[10, 10], 12, 4, 2.0));
    let (men, folder) = (men(), tempfile::tempdir().unwrap());
    let subject = ValidationSubject { set: &set, groups: None, procedures: &[&men] };
    let run = |options: &Options| validate(subject, options, Some(&opened(folder.path())), &[], &());
    let few = Options { permutations: 0, pairs: 0, ..quick() };
    run(&few).unwrap();
    let journal = std::fs::read_to_string(folder.path().join(NAME)).unwrap();
    let more = run(&Options { repeats: 3, permutations: 4, ..few.clone() }).unwrap();
    assert_eq!(more.methods[0].repeats.len(), 3);
    assert!(std::fs::read_to_string(folder.path().join(NAME)).unwrap().starts_with(&journal));
    let message = run(&Options { folds: 4, ..few }).unwrap_err().to_string();
    assert!(message.contains("folds") && message.contains("another run"), "{message}");
}

#[test]
fn signal_is_found_and_its_variables_are_stable() {
    let set = set(made(3, &[16, 16, 16], 60, 6, 2.5));
    let found = go(&set, &Options { permutations: 1000, pairs: 20, ..quick() }, &[&men()], None);
    let first = &found.methods[0];
    assert!(first.balanced.mean > 0.8 && first.balanced.low < first.balanced.mean, "{:?}", first.balanced);
    assert!(first.balanced.low <= first.balanced.mean && first.balanced.mean <= first.balanced.high);
    let test = found.permutation.as_ref().unwrap();
    assert!(test.early && test.permuted.len() == 99 && (test.p_value.mean - 0.01).abs() < 1e-12, "{test:?}");
    let stability = found.stability.as_ref().unwrap();
    assert!(stability.stable.iter().all(|&j| j < 6) && stability.stable.len() >= 4, "{:?}", stability.stable);
    assert!(found.panel.iter().any(|entry| entry.stable && entry.folds > 0.9));
    // Every sample is held out once per repeat.
    assert!(first.samples.iter().all(|sample| sample.tested == 2 && sample.given.iter().sum::<usize>() == 2));
    let total: usize = first.confusion.iter().flatten().sum();
    assert_eq!(total, 2 * 48);
    assert!(found.words.iter().any(|text| text.contains("0.010")), "{:?}", found.words);
    assert!(found.models.is_some() && found.sizes.iter().filter(|row| row.chosen).count() == 1);
}

/// A procedure with a leak on purpose: it selects variables on all samples, and learns only the weights from the training part.
struct LeakyProcedure(MenProcedure);

impl Procedure for LeakyProcedure {
    fn name(&self) -> &str {
        "leaky"
    }

    fn identity(&self) -> String {
        "leaky".to_owned()
    }

    fn decide(&self, case: &HeldOutCase<'_>, progress: &dyn Progress) -> Result<Decisions> {
        let men = menet::fit(case.data, &self.0.base.clone().with(|it| it.nonzeros = Some(10)), &())?;
        let panel = men.panel();
        let x = case.data.x()?;
        let few = Mat::from_fn(x.nrows(), panel.len(), |i, j| x[(i, panel[j])]);
        let few = Dataset::from_codes(few, case.data.class_indices().to_vec(), case.data.classes().to_vec())?;
        self.0.decide(&HeldOutCase { data: &few, ..*case }, progress)
    }
}

/// Nothing is learned from noise; selection outside of the folds would seem to.
#[test]
fn a_leak_shows_on_noise_and_the_honest_procedure_stays_at_chance() {
    let options = Options { folds: 5, repeats: 1, permutations: 0, pairs: 0, ..Options::default() };
    let (men, leaky) = (men(), LeakyProcedure(men()));
    let (mut honest, mut leaking) = (0.0, 0.0);
    const SETS: u64 = 12;
    for seed in 0..SETS {
        let set = set(made(100 + seed, &[20, 20], 400, 0, 0.0));
        let found = go(&set, &options, &[&men, &leaky], None);
        honest += found.methods[0].balanced.mean / SETS as f64;
        leaking += found.methods[1].balanced.mean / SETS as f64;
    }
    assert!((honest - 0.5).abs() < 0.07, "{honest}");
    assert!(leaking > 0.7, "{leaking}");
}

/// Records which rows it saw together, and gives everyone the first class.
struct Recorder(Mutex<Vec<(Vec<usize>, Vec<usize>)>>);

impl Procedure for Recorder {
    fn name(&self) -> &str {
        "recorder"
    }

    fn identity(&self) -> String {
        "recorder".to_owned()
    }

    fn decide(&self, case: &HeldOutCase<'_>, _: &dyn Progress) -> Result<Decisions> {
        self.0.lock().unwrap().push((case.split.train.clone(), case.split.test.clone()));
        let given = vec![0; case.split.test.len()];
        Ok(Decisions { given, probabilities: None, panel: Vec::new(), variables: 3, choice: String::new() })
    }
}

#[test]
fn groups_stay_together_and_are_the_units_of_the_intervals() {
    let set = set(made(4, &[20, 20], 5, 0, 0.0));
    let groups: Vec<usize> = (0..40).map(|i| i / 4).collect();
    let options = Options { permutations: 3, early_stopping: false, pairs: 0, ..quick() };
    let recorder = Recorder(Mutex::new(Vec::new()));
    let grouped = go(&set, &options, &[&recorder], Some(&groups));
    let seen = recorder.0.into_inner().unwrap();
    assert_eq!(seen.len(), (2 + 3) * 3);
    for (train, test) in seen {
        assert!(train.iter().all(|&i| test.iter().all(|&j| groups[i] != groups[j])));
    }
    let alone = go(&set, &options, &[&Recorder(Mutex::new(Vec::new()))], None);
    let width = |found: &Validation| found.methods[0].balanced.high - found.methods[0].balanced.low;
    assert!(width(&grouped) > 1.3 * width(&alone), "{} {}", width(&grouped), width(&alone));
    assert_eq!((grouped.design.groups, grouped.methods[0].balanced.mean), (Some(10), 0.5));
    assert!(grouped.methods[0].log_loss.is_none() && grouped.models.is_none());
    // Giving all the same class is as good with any labels.
    assert_eq!(grouped.permutation.unwrap().p_value.mean, 1.0);
    let each = go(&set, &Options { leave_one_group_out: true, ..options.clone() }, &[&men()], Some(&groups));
    assert_eq!((each.design.folds, each.design.repeats), (10, 1));
    let subject = ValidationSubject { set: &set, groups: None, procedures: &[&men()] };
    let options = Options { leave_one_group_out: true, ..options };
    let message = validate(subject, &options, None, &[], &()).unwrap_err().to_string();
    assert!(message.contains("--groups"), "{message}");
}

/// Two classes give one axis, on which the default metric of the nearest neighbour, the cosine, is none.
#[test]
fn two_classes_are_validated_with_fixed_and_with_chosen_settings() {
    let set = set(made(8, &[15, 15], 20, 4, 2.0));
    let options = Options { permutations: 0, pairs: 3, repeats: 1, ..quick() };
    let params = MenParams::default().with(|it| it.rule.kind = Some(menet::rules::RuleKind::Nearest));
    let fixed = MenProcedure::fixed(params.clone());
    for men in [fixed, MenProcedure::new(params.clone())] {
        let found = go(&set, &options, &[&men], None);
        assert!(found.methods[0].balanced.mean > 0.7, "{:?}", found.methods[0].balanced);
        let model = found.models.unwrap().all;
        assert_eq!(model.rule().unwrap().kind(), menet::rules::RuleKind::Nearest);
    }
}

#[test]
fn choices_can_prefer_small_or_stable_models() {
    let set = set(made(5, &[20, 20], 40, 4, 1.5));
    let options = Options { permutations: 0, pairs: 0, repeats: 1, ..quick() };
    let with = |choose: TrialChoice| {
        let mut men = sized(&[2, 5, 10, 20]);
        men.search = men.search.map(|search| Search { choose, ..search });
        go(&set, &options, &[&men], None)
    };
    let (best, small, stable) =
        (with(TrialChoice::Best), with(TrialChoice::Smallest), with(TrialChoice::MostStable));
    assert!(small.methods[0].variables <= best.methods[0].variables);
    assert!(small.panel.len() <= best.panel.len());
    assert!(stable.words[0].contains("most stable") && small.words[0].contains("smallest"));
}

#[test]
fn small_classes_and_wrong_options_are_told() {
    let set = set(made(6, &[12, 12, 1], 8, 2, 2.0));
    let found = go(&set, &Options { pairs: 2, permutations: 5, ..quick() }, &[&men()], None);
    assert!(found.methods[0].recalls[2].is_none(), "a class of one sample is only learned from");
    let subject = ValidationSubject { set: &set, groups: None, procedures: &[&men(), &men()] };
    let refused = |subject, options: &Options| match validate(subject, options, None, &[], &()) {
        Err(Error::Usage(message)) => message,
        other => panic!("{other:?}"),
    };
    assert!(refused(subject, &quick()).contains("twice"));
    for (options, word) in [
        (Options { folds: 1, ..quick() }, "--folds 1"),
        (Options { repeats: 0, ..quick() }, "--repeats 0"),
        (Options { threshold: 0.5, ..quick() }, "--threshold 0.5"),
        (Options { false_selections: f64::NAN, ..quick() }, "--false-selections"),
        (Options { largest_panel: 0, ..quick() }, "--largest-panel"),
    ] {
        assert!(refused(subject, &options).contains(word));
    }
    let short = [0, 1];
    assert!(
        refused(ValidationSubject { groups: Some(&short), procedures: &[&men()], ..subject }, &quick())
            .contains("groups")
    );
    let one = subset(&set.data, &[0, 1, 2, 3]).unwrap();
    let one = NamedSet { name: "one".to_owned(), data: one, rows: None, ids: None };
    assert!(
        validate(
            ValidationSubject { set: &one, groups: None, procedures: &[&men()] },
            &quick(),
            None,
            &[],
            &()
        )
        .is_err()
    );
}

/// The intervals cover what the procedure reaches on new samples, although repeats use the same samples again.
#[test]
#[ignore = "takes a minute; `make soak` runs it"]
fn intervals_cover_the_accuracy_on_new_samples() {
    const SETS: u64 = 300;
    let params = MenParams::default().with(|it| it.nonzeros = Some(5));
    let men = MenProcedure::fixed(params.clone());
    let options = Options { folds: 5, repeats: 10, permutations: 0, pairs: 0, ..Options::default() };
    let mut coverages = Vec::new();
    for shift in [0.5, 1.0, 1.6] {
        // As many training samples as a fold has.
        let mut truth = 0.0;
        for seed in 0..SETS {
            let train = made(50_000 + seed, &[16, 16], 40, 6, shift);
            let test = made(90_000 + seed, &[500, 500], 40, 6, shift);
            let model = menet::fit(&train, &params, &()).unwrap();
            let z = model.projection().project(&test).unwrap();
            let given = model.rule().unwrap().classify(z.as_ref()).unwrap();
            let right = given.iter().zip(test.class_indices()).filter(|(a, b)| a == b).count();
            truth += right as f64 / 1000.0 / SETS as f64;
        }
        let (mut covered, mut width) = (0, 0.0);
        for seed in 0..SETS {
            let set = set(made(seed, &[20, 20], 40, 6, shift));
            let found = go(&set, &options, &[&men], None).methods[0].balanced;
            covered += usize::from(found.low <= truth && truth <= found.high);
            width += (found.high - found.low) / SETS as f64;
        }
        let coverage = covered as f64 / SETS as f64;
        println!(
            "shift {shift}: true balanced accuracy {truth:.3}, covered {coverage:.3}, mean width {width:.3}"
        );
        coverages.push(coverage);
    }
    assert!(coverages.iter().all(|&coverage| coverage > 0.92), "{coverages:?}");
}

/// The Kolmogorov–Smirnov distance of values from the uniform distribution.
fn distance_from_uniform(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len() as f64;
    let apart = |(k, p): (usize, &f64)| (p - k as f64 / n).max((k + 1) as f64 / n - p);
    sorted.iter().enumerate().map(apart).fold(0.0, f64::max)
}

/// p-values are uniform and the balanced accuracy is at chance where there is nothing to find.
#[test]
#[ignore = "takes minutes; `make soak` runs it"]
fn under_the_null_hypothesis_p_values_are_uniform() {
    const SETS: u64 = 200;
    let options = Options { folds: 5, repeats: 1, permutations: 199, pairs: 0, ..Options::default() };
    let men = sized(&[5, 10]);
    let (mut p_values, mut mean) = (Vec::new(), 0.0);
    for seed in 0..SETS {
        let set = set(made(1000 + seed, &[18, 18], 200, 0, 0.0));
        let found = go(&set, &Options { seed, ..options.clone() }, &[&men], None);
        p_values.push(found.permutation.unwrap().p_value.mean);
        mean += found.methods[0].balanced.mean / SETS as f64;
    }
    let distance = distance_from_uniform(&p_values);
    // Kolmogorov's 5 % point.
    println!(
        "distance {distance:.4} (5 % point {:.4}), mean balanced accuracy {mean:.4}",
        1.358 / (SETS as f64).sqrt()
    );
    assert!(distance < 1.358 / (SETS as f64).sqrt(), "{distance}");
    assert!((mean - 0.5).abs() < 0.02, "{mean}");
}
