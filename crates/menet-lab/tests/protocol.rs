//! The protocol: what is drawn, what is kept, and that a stopped run goes on as if nothing had happened.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use faer::Mat;
use menet::refit::Refit;
use menet::rules::RuleKind;
use menet::scores::ScoreKind;
use menet::select;
use menet::{Dataset, MenParams, Method, Monitor, Named};
use menet_lab::cell::Cell;
use menet_lab::params::MethodParams;
use menet_lab::tune::Found;
use menet_lab::{
    Error, MetricChoice, Progress, Protocol, Set, Status, Study, TuneOptions, journal, run, tune,
};
use rand::{RngExt, SeedableRng};

/// Classes about their centres, the last of fewer samples.
fn data(seed: u64) -> Dataset<'static> {
    let mut rng = rand_pcg::Pcg64::seed_from_u64(seed);
    let labels: Vec<usize> = (0..44).map(|i| if i < 40 { i % 4 } else { 4 }).collect();
    let centres = Mat::from_fn(5, 12, |_, _| rng.random::<f64>());
    let x = Mat::from_fn(44, 12, |i, j| centres[(labels[i], j)] + 0.6 * rng.random::<f64>());
    Dataset::from_owned(x, &labels).unwrap()
}

fn set(seed: u64) -> Set<'static> {
    Set { name: "clusters".to_owned(), data: data(seed), rows: None, ids: None }
}

fn protocol() -> Protocol {
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
        params: MethodParams::default(),
    }
}

fn go(protocol: &Protocol, set: &Set<'_>, folder: &Path) -> (Study, Vec<Cell>) {
    run(protocol, std::slice::from_ref(set), folder, &[], &()).unwrap()
}

fn file(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap()
}

#[test]
fn results_have_every_cell_and_no_dimension_beyond_a_methods_limit() {
    let dir = tempfile::tempdir().unwrap();
    let (study, _) = go(&protocol(), &set(1), dir.path());
    let most = |method: &str| study.results.iter().filter(|r| r.method == method).map(|r| r.dimension).max();
    assert_eq!((most("men"), most("flda"), most("pca"), most("slpp")), (Some(4), Some(4), Some(6), Some(6)));
    let rows = file(dir.path(), "results.csv");
    assert!(
        rows.starts_with("data,train_per_class,method,repeat,dimension,rate\nclusters,3,men,0,1,"),
        "{rows}"
    );
    assert_eq!(rows.lines().count(), 1 + 2 * 3 * (4 + 4 + 6 + 6));
    let splits = file(dir.path(), "splits.csv");
    assert_eq!(splits.lines().count(), 1 + 2 * 3 * 44);
    assert_eq!(splits.lines().filter(|line| line.contains(",3,0,") && line.ends_with(",train,")).count(), 15);
    // The table's rate is the best mean over dimensions, its deviation that of the repeats there.
    for row in &study.summary {
        let at = |d: usize| -> Vec<f64> {
            let same = study.results.iter().filter(|r| {
                r.method == row.method && r.train_per_class == row.train_per_class && r.dimension == d
            });
            same.map(|r| r.rate).collect()
        };
        let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
        let best = (1..=6).map(at).filter(|x| x.len() == 3).map(|x| mean(&x)).fold(0.0, f64::max);
        assert!((row.rate - best).abs() < 1e-9 && (mean(&at(row.dimension)) - best).abs() < 1e-9);
        let squares: f64 = at(row.dimension).iter().map(|x| (x - best).powi(2)).sum();
        assert!((row.sd.unwrap() - (squares / 2.0).sqrt()).abs() < 1e-9 && row.seconds > 0.0);
    }
    assert!(dir.path().join("report.html").is_file() && dir.path().join("figures").is_dir());
    // What is recorded of the run gives its parameters back.
    let recorded = MethodParams::parse(&file(dir.path(), "run.toml")).unwrap();
    assert_eq!(recorded.method("men").unwrap(), Method::from_name("men").unwrap());
}

/// Stops after so many cells.
struct After(usize, AtomicUsize);

impl Monitor for After {
    fn stop(&self) -> bool {
        self.1.load(Ordering::Relaxed) >= self.0
    }
}

impl Progress for After {
    fn status(&self, status: Status) {
        self.1.fetch_max(status.done, Ordering::Relaxed);
    }
}

#[test]
fn a_stopped_run_goes_on_to_the_same_results() {
    let (whole, stopped) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (protocol, set) = (protocol(), set(2));
    go(&protocol, &set, whole.path());
    let sets = std::slice::from_ref(&set);
    let error = run(&protocol, sets, stopped.path(), &[], &After(5, AtomicUsize::new(0))).unwrap_err();
    assert!(matches!(error, Error::Method { source: menet::Error::Stopped { .. }, .. }), "{error}");
    assert!(!stopped.path().join("results.csv").exists(), "nothing half done is shown");
    // A kill in the middle of a line.
    let journal = stopped.path().join(journal::NAME);
    let cells = std::fs::read_to_string(&journal).unwrap();
    let finished = cells.lines().count() - 1;
    assert!((5..=8).contains(&finished), "{finished}");
    std::fs::write(&journal, cells.clone() + &cells[cells.len() / 2..cells.len() - 9]).unwrap();
    go(&protocol, &set, stopped.path());
    for name in ["results.csv", "splits.csv", "run.toml"] {
        assert_eq!(file(whole.path(), name), file(stopped.path(), name), "{name}");
    }
    assert!(file(stopped.path(), journal::NAME).starts_with(&cells), "what was finished is not done again");
}

/// Every file of a run but for what holds seconds, with the seconds cut out where they stand in a column.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut out = BTreeMap::new();
    for name in ["results.csv", "splits.csv", "confusion.csv", "choices.csv", "run.toml"] {
        if let Ok(bytes) = std::fs::read(folder.join(name)) {
            out.insert(name.to_owned(), bytes);
        }
    }
    let summary = file(folder, "summary.csv");
    let without: Vec<&str> = summary.lines().map(|line| line.rsplit_once(',').unwrap().0).collect();
    out.insert("summary.csv".to_owned(), without.join("\n").into_bytes());
    for entry in std::fs::read_dir(folder.join("figures")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        out.insert(name, std::fs::read(path).unwrap());
    }
    // The seconds in the report are a table of their own, folded.
    let report = file(folder, "report.html");
    let (head, rest) = report.split_once("<summary>Seconds</summary>").unwrap();
    let (_, tail) = rest.split_once("</details>").unwrap();
    out.insert("report.html".to_owned(), [head, tail].concat().into_bytes());
    out
}

/// The names of the files that are not the same in two folders.
fn differing(a: &Path, b: &Path) -> Vec<String> {
    let (a, b) = (files(a), files(b));
    let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    names.into_iter().filter(|&name| a.get(name) != b.get(name)).cloned().collect()
}

#[test]
fn raising_the_repeats_gives_what_a_run_at_once_gives() {
    let (at_once, extended) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let set = set(5);
    for tune in [None, Some(TuneOptions { budget: 10, ..TuneOptions::default() })] {
        let of = |repeats| Protocol {
            repeats,
            tune: tune.clone(),
            methods: vec!["men".to_owned(), "pca".to_owned()],
            train_per_class: vec![3],
            ..protocol()
        };
        let name = if tune.is_some() { "tuned" } else { "plain" };
        let (whole, part) = (at_once.path().join(name), extended.path().join(name));
        go(&of(4), &set, &whole);
        let (study, _) = go(&of(1), &set, &part);
        // One repeat has no standard deviation, in no file.
        assert!(study.summary.iter().all(|row| row.sd.is_none()));
        assert!(file(&part, "summary.csv").lines().skip(1).all(|line| line.split(',').nth(4) == Some("")));
        // The scripts behind the markup know these words for other reasons.
        let page = file(&part, "report.html");
        let page = page.split_once("<script").unwrap().0;
        assert!(!page.contains("NaN") && !page.contains('±'));
        go(&of(2), &set, &part);
        let before = file(&part, journal::NAME);
        // Stopped in between, as by a kill: the tables are those of two repeats until the new ones are there.
        let tables = file(&part, "results.csv");
        let error =
            run(&of(4), std::slice::from_ref(&set), &part, &[], &After(5, AtomicUsize::new(0))).unwrap_err();
        assert!(matches!(error, Error::Method { source: menet::Error::Stopped { .. }, .. }), "{error}");
        assert_eq!(tables, file(&part, "results.csv"));
        go(&of(4), &set, &part);
        assert_eq!(differing(&whole, &part), [""; 0], "{name}");
        let journal = file(&part, journal::NAME);
        assert!(journal.starts_with(&before), "what was finished is not done again");
        assert_eq!(journal.lines().count(), 1 + 2 * 4, "and nothing twice");
        // Fewer would leave out finished work.
        let message = run(&of(3), std::slice::from_ref(&set), &part, &[], &()).unwrap_err().to_string();
        for word in ["--repeats 3", "4 repeats", "--repeats 4 or more", "another folder"] {
            assert!(message.contains(word), "{message}");
        }
        assert_eq!(differing(&whole, &part), [""; 0], "a refusal changes nothing");
    }
}

#[test]
fn a_folder_of_an_older_format_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let (protocol, set) = (protocol(), set(3));
    let header = r#"{"menet":"0.1.0","protocol":"methods = []\nrepeats = 3\n","data":[]}"#;
    let cell = r#"{"place":{"data":"clusters","train_per_class":3,"repeat":0,"method":"men"},"rates":[[1,50.0]],"seconds":0.1,"chosen":null,"remarks":[],"unsettled":null,"failed":null}"#;
    let cases = [
        (format!("{header}\n{cell}\n"), "format 1"),
        (header.replacen('{', "{\"format\":2,", 1) + "\n", "format 2"),
        (header.replacen('{', "{\"format\":4,", 1) + "\n", "format 4"),
        ("nonsense\n".to_owned(), "cannot be read"),
        ("{\"format\":2}\n".to_owned(), "cannot be read"),
    ];
    for (text, words) in cases {
        let path = dir.path().join(journal::NAME);
        std::fs::write(&path, &text).unwrap();
        let message =
            run(&protocol, std::slice::from_ref(&set), dir.path(), &[], &()).unwrap_err().to_string();
        assert!(message.contains(words) && message.contains("another folder"), "{message}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text, "it is left as it was");
    }
}

#[test]
fn by_default_methods_use_as_many_dimensions_as_they_have() {
    let dir = tempfile::tempdir().unwrap();
    let protocol = Protocol { dims: Vec::new(), train_per_class: vec![3], ..protocol() };
    let (study, cells) = go(&protocol, &set(1), dir.path());
    // 5 classes of 3: 14 dimensions, of which 12 variables allow 12, and MEN and FLDA have 4.
    let most = |method: &str| study.results.iter().filter(|r| r.method == method).map(|r| r.dimension).max();
    assert_eq!((most("men"), most("flda"), most("pca")), (Some(4), Some(4), Some(12)));
    for cell in &cells {
        assert!(cell.outcomes.iter().all(|o| o.variables <= 12 && o.variables >= 1));
        assert!(cell.outcomes.windows(2).all(|w| w[0].variables <= w[1].variables));
        assert_eq!(cell.tested, [7, 7, 7, 7, 1]);
        for outcome in &cell.outcomes {
            let wrong: usize = outcome.mistakes.iter().map(|m| m.count).sum();
            assert!((outcome.rate - 100.0 * (29 - wrong) as f64 / 29.0).abs() < 1e-9);
        }
    }
    assert!(study.summary.iter().filter(|row| row.method == "pca").all(|row| row.variables == 12.0));
    // The confusions are those of the table's dimension, over all repeats.
    for (row, confusion) in study.summary.iter().zip(&study.confusions) {
        assert_eq!((&row.method, &row.data), (&confusion.method, &confusion.data));
        assert_eq!(confusion.tested, [21, 21, 21, 21, 3]);
        let wrong: usize = confusion.mistakes.iter().map(|m| m.count).sum();
        assert!((row.rate - 100.0 * (87 - wrong) as f64 / 87.0).abs() < 1e-9);
        assert!((row.balanced - confusion.balanced().unwrap()).abs() < 1e-9);
    }
    let listed = file(dir.path(), "confusion.csv");
    assert!(listed.starts_with("data,train_per_class,method,class,taken_for,samples\n"), "{listed}");
    let total: usize =
        listed.lines().skip(1).map(|l| l.rsplit(',').next().unwrap().parse::<usize>().unwrap()).sum();
    assert_eq!(total, 4 * 87);
}

/// A line that was damaged, or a tail without its end, costs that cell alone.
#[test]
fn a_damaged_journal_loses_only_what_is_damaged() {
    let dir = tempfile::tempdir().unwrap();
    let (protocol, set) = (protocol(), set(2));
    go(&protocol, &set, dir.path());
    let before = file(dir.path(), "results.csv");
    let path = dir.path().join(journal::NAME);
    let mut lines: Vec<Vec<u8>> =
        std::fs::read(&path).unwrap().split(|&b| b == b'\n').map(<[u8]>::to_vec).collect();
    let cells = lines.len() - 2;
    lines[3][10] = 0xff;
    std::fs::write(&path, lines.join(&b'\n')).unwrap();
    go(&protocol, &set, dir.path());
    assert_eq!(before, file(dir.path(), "results.csv"));
    let after = std::fs::read(&path).unwrap();
    assert_eq!(after.split(|&b| b == b'\n').count() - 2, cells + 1, "one cell was done again");
}

/// Parameters may be infinite, which JSON cannot hold.
#[test]
fn infinite_penalty_factors_can_be_resumed() {
    let dir = tempfile::tempdir().unwrap();
    let factors = "[men]\npenalty_factors = [1.0, inf, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0]";
    let protocol = Protocol {
        params: MethodParams::parse(factors).unwrap(),
        tune: Some(TuneOptions { budget: 5, ..TuneOptions::default() }),
        methods: vec!["men".to_owned()],
        train_per_class: vec![3],
        ..protocol()
    };
    let (first, _) = go(&protocol, &set(3), dir.path());
    let (second, cells) = go(&protocol, &set(3), dir.path());
    assert_eq!(first.summary, second.summary, "nothing was computed again");
    let chosen = &cells[0].chosen.as_ref().unwrap().params;
    assert_eq!(chosen["penalty_factors"].as_array().unwrap()[1].as_float(), Some(f64::INFINITY));
}

#[test]
fn a_folder_of_another_run_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    go(&protocol(), &set(3), dir.path());
    let before = file(dir.path(), "results.csv");
    let refuse = |protocol: &Protocol, set: &Set<'_>, word: &str| {
        let message = run(protocol, std::slice::from_ref(set), dir.path(), &[], &()).unwrap_err().to_string();
        assert!(message.contains("another run") && message.contains(word), "{message}");
    };
    refuse(&Protocol { seed: 8, ..protocol() }, &set(3), "options: seed");
    let more = Protocol { train_per_class: vec![3], methods: vec!["pca".to_owned()], ..protocol() };
    refuse(&more, &set(3), "options: methods, train_per_class");
    refuse(&protocol(), &set(4), "data");
    assert_eq!(before, file(dir.path(), "results.csv"));
}

#[test]
fn numbers_do_not_depend_on_the_number_of_workers() {
    let protocol = Protocol {
        methods: Method::all().iter().map(|method| method.name().to_owned()).collect(),
        tune: Some(TuneOptions { budget: 12, folds: 3, ..TuneOptions::default() }),
        metric: MetricChoice::Auto,
        train_per_class: vec![3],
        ..protocol()
    };
    let results = |threads: usize| {
        let dir = tempfile::tempdir().unwrap();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let (_, cells) = pool.install(|| go(&protocol, &set(5), dir.path()));
        (file(dir.path(), "results.csv"), cells.into_iter().map(|cell| cell.chosen).collect::<Vec<_>>())
    };
    assert_eq!(results(1), results(3));
}

#[test]
fn tuning_never_sees_the_test_samples() {
    let protocol = Protocol {
        methods: vec!["men".to_owned(), "dla".to_owned()],
        tune: Some(TuneOptions { budget: 20, ..TuneOptions::default() }),
        train_per_class: vec![3],
        repeats: 1,
        ..protocol()
    };
    let set = set(6);
    let split = protocol.split(&set, 3, 0).unwrap();
    // Every test sample replaced by another's, of another class.
    let x = set.data.x().unwrap();
    let from = |i: usize| if split.test.contains(&i) { 43 - i } else { i };
    let labels = set.data.class_indices().to_vec();
    let other = Mat::from_fn(44, 12, |i, j| x[(from(i), j)] + f64::from(from(i) != i) * 3.0);
    let changed = Set { data: Dataset::from_owned(other, &labels).unwrap(), ..set.clone() };
    let (a, b) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let ((one, first), (two, second)) = (go(&protocol, &set, a.path()), go(&protocol, &changed, b.path()));
    for (first, second) in first.iter().zip(&second) {
        assert!(first.chosen.is_some());
        assert_eq!(first.chosen, second.chosen, "{}", first.place);
    }
    assert_ne!(one.results, two.results, "the rates do see them");
    // The table is at the dimension chosen.
    let choice = first[0].chosen.as_ref().unwrap();
    let at = one.results.iter().find(|r| r.method == "men" && r.dimension == choice.dimension).unwrap();
    assert_eq!((one.summary[0].dimension, one.summary[0].rate), (choice.dimension, at.rate));
}

#[test]
fn classes_can_be_left_out_and_drawn() {
    let dir = tempfile::tempdir().unwrap();
    let few = Protocol { train_per_class: vec![6], methods: vec!["pca".to_owned()], ..protocol() };
    let message = run(&few, &[set(1)], dir.path(), &[], &()).unwrap_err().to_string();
    assert!(message.contains("\"4\"") && message.contains("--min-per-class"), "{message}");
    let large = Protocol { min_per_class: Some(7), ..few.clone() };
    assert_eq!(large.restrict(&set(1)).unwrap().data.classes(), ["0", "1", "2", "3"]);
    let drawn = Protocol { subset_classes: Some(2), ..large.clone() };
    let restricted = drawn.restrict(&set(1)).unwrap();
    assert_eq!((restricted.data.classes().len(), restricted.data.samples()), (2, 20));
    assert_eq!(restricted.data.x().unwrap()[(0, 0)], set(1).data.x().unwrap()[(restricted.row(0), 0)]);
    go(&drawn, &set(1), &dir.path().join("drawn"));
    let message = Protocol { subset_classes: Some(9), ..large }.restrict(&set(1)).unwrap_err().to_string();
    assert!(message.contains('9') && message.contains('4'), "{message}");
}

#[test]
fn a_search_keeps_its_budget_and_its_choice_is_what_fit_takes() {
    let data = data(9);
    for method in Method::all() {
        for one_standard_error in [false, true] {
            let options = TuneOptions { budget: 30, one_standard_error, ..TuneOptions::default() };
            let dims: Vec<usize> = (1..5).collect();
            let tuned = tune(&method, &data, &dims, MetricChoice::Auto, &options, 0, &()).unwrap();
            let rates: Vec<f64> = match &tuned.found {
                Found::Walk { trials, .. } => trials.iter().map(|trial| trial.score.rate()).collect(),
                Found::Selection(found) => found.usable().map(|trial| trial.merit(ScoreKind::Rate)).collect(),
            };
            assert!(tuned.fits <= 30 && !rates.is_empty(), "{}: {}", method.name(), tuned.fits);
            let (best, all) = (tuned.rate(), rates.into_iter().fold(0.0, f64::max));
            assert!(best <= all && best > 30.0, "{}: {best} of {all}", method.name());
            let fitted = tuned.method.reducer().fit(&data, Some(tuned.dimension), &()).unwrap();
            assert_eq!(fitted.projection.components(), tuned.dimension, "{}", method.name());
            if let (None, Some(k)) = (tuned.method.men(), tuned.support()) {
                assert!(fitted.projection.axes().iter().all(|axis| axis.nonzeros() <= k));
            }
            if let Some(men) = &tuned.men {
                assert_eq!(men.projection(), &fitted.projection, "{}", method.name());
            }
            let dir = tempfile::tempdir().unwrap();
            menet_lab::output::write_tuning(&tuned, "clusters", dir.path()).unwrap();
            for name in ["best.toml", "params.toml"] {
                let back = MethodParams::parse(&file(dir.path(), name)).unwrap();
                assert_eq!(back.method(method.name()).unwrap(), tuned.method, "{name}");
            }
        }
    }
    // The rule prefers the smaller model, and never one that is worse by more than the standard error.
    for name in ["men", "spg"] {
        let method = Method::from_name(name).unwrap();
        let search = |one_standard_error| {
            let options = TuneOptions { budget: 30, one_standard_error, ..TuneOptions::default() };
            let tuned =
                tune(&method, &data, &[1, 2, 3, 4], MetricChoice::Euclidean, &options, 0, &()).unwrap();
            match &tuned.found {
                Found::Walk { best, .. } => {
                    (best.nonzeros.unwrap() as f64, best.score.rate(), best.standard_error)
                }
                Found::Selection(found) => {
                    let (best, rate) = (found.best(), ScoreKind::Rate);
                    (best.variables, best.merit(rate), best.standard_error(rate))
                }
            }
        };
        let (best, sparse) = (search(false), search(true));
        assert!(sparse.0 <= best.0 && sparse.1 >= best.1 - best.2 - 1e-9, "{name}: {best:?} {sparse:?}");
    }
}

/// The trials are those of `menet::select`, and of separate fits.
#[test]
fn men_is_searched_in_full_and_for_the_score_asked_for() {
    let data = data(9);
    let men = Method::from_name("men").unwrap();
    let dims: Vec<usize> = (1..5).collect();
    for &score in ScoreKind::ALL {
        let options = TuneOptions { budget: 60, folds: 3, score, ..TuneOptions::default() };
        let tuned = tune(&men, &data, &dims, MetricChoice::Euclidean, &options, 0, &()).unwrap();
        let Found::Selection(found) = &tuned.found else { panic!() };
        let Method::Men(own) = &men else { panic!() };
        assert_eq!(select::best_or_own(&found.trials, score, own), Some(found.chosen), "{score:?}");
        let seen = |of: &dyn Fn(&MenParams) -> String| -> BTreeSet<String> {
            found.trials.iter().map(|trial| of(&trial.params)).collect()
        };
        assert!(seen(&|p| p.ridge().to_string()).len() >= 5 && seen(&|p| p.beta.to_string()).len() >= 3);
        assert!(seen(&|p| p.target_shrinkage.to_string()).len() >= 3);
        assert_eq!(seen(&|p| format!("{:?}", p.refit())).len(), 3);
        assert_eq!(seen(&|p| format!("{:?}", p.rule().kind)).len(), 3);
        assert_eq!(seen(&|p| format!("{:?}", p.metric())).len(), 2);
        // No setting twice.
        let settings: Vec<String> = found.trials.iter().map(|trial| format!("{:?}", trial.params)).collect();
        assert_eq!(settings.iter().collect::<BTreeSet<_>>().len(), settings.len());
        let dir = tempfile::tempdir().unwrap();
        menet_lab::output::write_tuning(&tuned, "clusters", dir.path()).unwrap();
        let trials = file(dir.path(), "trials.csv");
        let header = "beta,target_shrinkage,ridge,nonzeros,panel_size,refit,refit_ridge,rule,voters,metric,priors,mean,standard_error,rate,\
                      balanced,log_loss,auc,variables,chosen,failed";
        assert_eq!(trials.lines().next(), Some(header));
        assert_eq!(trials.lines().count(), 1 + settings.len());
        assert_eq!(trials.lines().filter(|line| line.contains(",true,")).count(), 1);
    }
}

#[test]
fn the_search_of_men_can_be_restricted() {
    let data = data(9);
    let search = |name: &str, options: TuneOptions| {
        let method = Method::from_name(name).unwrap();
        let tuned = tune(&method, &data, &[1, 2, 3, 4], MetricChoice::Euclidean, &options, 0, &()).unwrap();
        let Found::Selection(found) = tuned.found else { panic!() };
        found.trials
    };
    let few = TuneOptions { budget: 12, folds: 3, ..TuneOptions::default() };
    let panels = TuneOptions { panel_size: vec![3, 6], refit: vec![Refit::Discriminant], ..few.clone() };
    let found = search("men", panels);
    assert!(found.iter().all(|trial| trial.params.refit() == Refit::Discriminant && trial.variables <= 6.0));
    let sizes: BTreeSet<_> =
        found.iter().map(|trial| (trial.params.panel_size, trial.params.nonzeros)).collect();
    assert_eq!(sizes, [(Some(3), None), (Some(6), None)].into());
    let rules = TuneOptions { rule: vec![RuleKind::Centroid], nonzeros: vec![2], ..few.clone() };
    let found = search("men-alpha0", rules);
    assert!(found.iter().all(|trial| trial.params.rule().kind == RuleKind::Centroid));
    assert!(found.iter().all(|trial| trial.params.nonzeros == Some(2) && trial.params.alpha == 0.0));
    // The paper's method stays the paper's.
    for trial in search("men-paper", few.clone()) {
        assert_eq!((trial.params.refit(), trial.params.rule().kind), (Refit::None, RuleKind::Nearest));
    }
    let small = TuneOptions { budget: 2, ..few };
    let method = Method::from_name("men").unwrap();
    let message =
        tune(&method, &data, &[1], MetricChoice::Euclidean, &small, 0, &()).unwrap_err().to_string();
    assert!(message.contains("budget is 2") && message.contains("takes 3"), "{message}");
}

/// MEN decides by its own rule, every other method by the nearest neighbour, and only rules have probabilities.
#[test]
fn men_is_decided_by_its_own_rule() {
    let dir = tempfile::tempdir().unwrap();
    let methods = ["men", "men-paper", "pca"].map(str::to_owned).to_vec();
    let protocol = Protocol { methods, train_per_class: vec![3], repeats: 2, ..protocol() };
    let set = set(1);
    let (study, cells) = go(&protocol, &set, dir.path());
    for cell in &cells {
        let split = protocol.split(&set, 3, cell.place.repeat).unwrap();
        let train = menet::evaluate::subset(&set.data, &split.train).unwrap();
        let test = menet::evaluate::subset(&set.data, &split.test).unwrap();
        let method = Method::from_name(&cell.place.method).unwrap();
        let Some(params) = method.men() else {
            assert!(cell.outcomes.iter().all(|o| o.log_loss.is_none() && o.auc.is_none()));
            continue;
        };
        let men = menet::fit(&train, params, &()).unwrap();
        let z = men.projection().project(&test).unwrap();
        let given = men.rule().unwrap().classify(z.as_ref()).unwrap();
        let right = given.iter().zip(test.class_indices()).filter(|(a, b)| a == b).count();
        let last = cell.outcomes.last().unwrap();
        assert_eq!(last.dimension, men.projection().components());
        assert!((last.rate - 100.0 * right as f64 / given.len() as f64).abs() < 1e-9, "{}", cell.place);
        assert!(cell.outcomes.iter().all(|o| o.log_loss.is_some_and(f64::is_finite) && o.auc.is_some()));
        assert_eq!(cell.recalls(last).len(), 5);
    }
    let summary = file(dir.path(), "summary.csv");
    assert!(summary.starts_with("data,train_per_class,method,rate,sd,balanced,log_loss,auc,dimension,"));
    for (row, line) in study.summary.iter().zip(summary.lines().skip(1)) {
        let is_men = row.method != "pca";
        assert_eq!((row.log_loss.is_some(), row.auc.is_some()), (is_men, is_men), "{line}");
        assert_eq!(line.split(',').nth(6) == Some(""), !is_men, "{line}");
    }
    let page = file(dir.path(), "report.html");
    let log_loss = study.summary[0].log_loss.unwrap();
    assert!(page.contains(&format!("log loss {log_loss:.3}<br>AUC")), "the report has the scores");
}

/// Under `auto` each metric has a walk of its own: no order between metrics can make a search go in circles.
#[test]
fn every_search_ends() {
    for seed in 100..130 {
        let data = data(seed);
        for method in ["slpp", "flda", "spca"] {
            let method = Method::from_name(method).unwrap();
            let options = TuneOptions { budget: 1000, folds: 3, ..TuneOptions::default() };
            let tuned = tune(&method, &data, &[1, 2, 3, 4], MetricChoice::Auto, &options, seed, &()).unwrap();
            assert!(tuned.fits < 1000);
        }
    }
}

#[test]
fn the_number_of_variables_given_is_the_most_that_is_tried() {
    let params = MethodParams::parse("nonzeros = 4").unwrap();
    let method = params.method("men").unwrap();
    let tuned =
        tune(&method, &data(1), &[1, 2, 3, 4], MetricChoice::Euclidean, &TuneOptions::default(), 0, &())
            .unwrap();
    let Found::Selection(found) = tuned.found else { panic!() };
    assert!(found.trials.iter().all(|trial| trial.params.nonzeros.is_some_and(|k| k <= 4)));
}

#[test]
fn sparse_pca_is_searched_at_several_sparsities() {
    let mut rng = rand_pcg::Pcg64::seed_from_u64(1);
    let labels: Vec<usize> = (0..30).map(|i| i % 3).collect();
    let x = Mat::from_fn(30, 250, |i, j| rng.random::<f64>() + f64::from(labels[i] == j % 3));
    let data = Dataset::from_owned(x, &labels).unwrap();
    let method = Method::from_name("spca").unwrap();
    let tuned =
        tune(&method, &data, &[1, 2], MetricChoice::Euclidean, &TuneOptions::default(), 0, &()).unwrap();
    let Found::Walk { trials, .. } = tuned.found else { panic!() };
    let mut seen: Vec<Option<usize>> = trials.iter().map(|trial| trial.support()).collect();
    seen.sort_unstable();
    seen.dedup();
    assert!(seen.len() >= 2 && seen.contains(&Some(100)) && !seen.contains(&None), "{seen:?}");
}

#[test]
fn what_cannot_be_run_is_told_at_once() {
    let wrong = [
        (Protocol { methods: vec!["mem".to_owned()], ..protocol() }, "mem"),
        (Protocol { methods: vec!["pca".to_owned(), "pca".to_owned()], ..protocol() }, "twice"),
        (Protocol { repeats: 0, ..protocol() }, "1 or more"),
        (Protocol { dims: vec![0], ..protocol() }, "1 or more"),
        (Protocol { metric: MetricChoice::Auto, ..protocol() }, "auto"),
        (Protocol { train_per_class: vec![], ..protocol() }, "training"),
        (Protocol { tune: Some(TuneOptions { folds: 1, ..TuneOptions::default() }), ..protocol() }, "folds"),
        (
            Protocol { tune: Some(TuneOptions { budget: 0, ..TuneOptions::default() }), ..protocol() },
            "budget",
        ),
    ];
    for (protocol, word) in wrong {
        let dir = tempfile::tempdir().unwrap();
        let message = run(&protocol, &[set(1)], &dir.path().join("x"), &[], &()).unwrap_err().to_string();
        assert!(message.contains(word), "{message}");
        assert!(!dir.path().join("x").exists(), "nothing is left behind");
    }
    let twins = [set(1), set(1)];
    let dir = tempfile::tempdir().unwrap();
    assert!(run(&protocol(), &twins, dir.path(), &[], &()).unwrap_err().to_string().contains("clusters"));
}
