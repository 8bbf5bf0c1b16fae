//! The protocol: which samples are drawn, which cells are computed, and what is refused.

use menet::Method;
use menet_lab::params::MethodParams;
use menet_lab::{MetricChoice, Protocol, TuneOptions, run};

use crate::common::{file, go, protocol, set};

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
    // The rate of the table is the best mean over dimensions, with the standard deviation of the repeats at that dimension.
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
    // The record of the run contains its parameters.
    let recorded = MethodParams::parse(&file(dir.path(), "run.toml")).unwrap();
    assert_eq!(recorded.method("men").unwrap(), Method::from_name("men").unwrap());
}

#[test]
fn by_default_methods_use_as_many_dimensions_as_they_have() {
    let dir = tempfile::tempdir().unwrap();
    let protocol = Protocol { dims: Vec::new(), train_per_class: vec![3], ..protocol() };
    let (study, cells) = go(&protocol, &set(1), dir.path());
    // 5 classes of 3 samples allow 14 dimensions, 12 variables allow 12, and MEN and FLDA have 4.
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
    // The confusion is at the dimension of the table, over all repeats.
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

#[test]
fn what_cannot_be_run_is_reported_at_once() {
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
