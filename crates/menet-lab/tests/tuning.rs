//! Tuning: it sees only training samples, keeps its budget, and its choice is what `fit` takes.

use std::collections::BTreeSet;

use faer::Mat;
use menet::refit::Refit;
use menet::rules::RuleKind;
use menet::scores::ScoreKind;
use menet::select::{self, Search, Space, TrialChoice};
use menet::{Dataset, MenParams, Method, Named};
use menet_lab::params::MethodParams;
use menet_lab::tune::TuningTrials;
use menet_lab::{MetricChoice, NamedSet, Protocol, TuneOptions, tune};
use rand::{RngExt, SeedableRng};

use crate::common::{data, file, go, opened, protocol, set};

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
    // Replace every test sample by one of another class.
    let x = set.data.x().unwrap();
    let from = |i: usize| if split.test.contains(&i) { 43 - i } else { i };
    let labels = set.data.class_indices().to_vec();
    let other = Mat::from_fn(44, 12, |i, j| x[(from(i), j)] + f64::from(from(i) != i) * 3.0);
    let changed = NamedSet { data: Dataset::from_owned(other, &labels).unwrap(), ..set.clone() };
    let (a, b) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let ((one, first), (two, second)) = (go(&protocol, &set, a.path()), go(&protocol, &changed, b.path()));
    for (first, second) in first.iter().zip(&second) {
        assert!(first.chosen.is_some());
        assert_eq!(first.chosen, second.chosen, "{}", first.place);
    }
    assert_ne!(one.results, two.results, "the rates do see them");
    // The table is at the chosen dimension.
    let choice = first[0].chosen.as_ref().unwrap();
    let at = one.results.iter().find(|r| r.method == "men" && r.dimension == choice.dimension).unwrap();
    assert_eq!((one.summary[0].dimension, one.summary[0].rate), (choice.dimension, at.rate));
}

/// A search among a few settings of MEN.
fn few(choose: TrialChoice) -> Search {
    let space = Space { nonzeros: vec![Some(2), Some(5)], ridge: vec![0.3], ..Space::default() };
    Search { space, choose, ..Search::default() }
}

#[test]
fn a_search_keeps_its_budget_and_its_choice_is_what_fit_takes() {
    let data = data(9);
    for method in Method::all() {
        for choose in [TrialChoice::Best, TrialChoice::Smallest] {
            let options = TuneOptions { budget: 30, search: few(choose), ..TuneOptions::default() };
            let dims: Vec<usize> = (1..5).collect();
            let tuned = tune(&method, &data, &dims, MetricChoice::Auto, &options, 0, &()).unwrap();
            let rates: Vec<f64> = match &tuned.found {
                TuningTrials::Walk { trials, .. } => trials.iter().map(|trial| trial.score.rate()).collect(),
                TuningTrials::Selection(found) => {
                    found.trials.iter().map(|trial| trial.merit(ScoreKind::Rate)).collect()
                }
            };
            assert!(tuned.fits <= 30 && !rates.is_empty(), "{}: {}", method.name(), tuned.fits);
            let (best, all) = (tuned.rate(), rates.into_iter().fold(0.0, f64::max));
            assert!(best <= all && best > 30.0, "{}: {best} of {all}", method.name());
            let fitted = tuned.method.reducer().fit(&data, Some(tuned.dimension), &()).unwrap();
            assert_eq!(fitted.projection.components(), tuned.dimension, "{}", method.name());
            if let (None, Some(k)) = (tuned.method.men(), tuned.support()) {
                assert!(fitted.projection.axes().iter().all(|axis| axis.nonzeros() <= k));
            }
            if let Some(men) = tuned.men() {
                assert_eq!(men.projection(), &fitted.projection, "{}", method.name());
            }
            let dir = tempfile::tempdir().unwrap();
            menet_lab::output::write_tuning(&tuned, "clusters", &opened(dir.path())).unwrap();
            for name in ["best.toml", "params.toml"] {
                let back = MethodParams::parse(&file(dir.path(), name)).unwrap();
                assert_eq!(back.method(method.name()).unwrap(), tuned.method, "{name}");
            }
        }
    }
    // The one-standard-error rule prefers the smaller model, but never one that is worse by more than the standard error.
    for name in ["men", "spg"] {
        let method = Method::from_name(name).unwrap();
        let search = |choose| {
            let options = TuneOptions { budget: 30, search: few(choose), ..TuneOptions::default() };
            let tuned =
                tune(&method, &data, &[1, 2, 3, 4], MetricChoice::Euclidean, &options, 0, &()).unwrap();
            match &tuned.found {
                TuningTrials::Walk { best, .. } => {
                    (best.nonzeros.unwrap() as f64, best.score.rate(), best.standard_error)
                }
                TuningTrials::Selection(found) => {
                    let (best, by) = (found.trial(), found.score);
                    (best.variables, best.merit(by), best.standard_error(by))
                }
            }
        };
        let (best, sparse) = (search(TrialChoice::Best), search(TrialChoice::Smallest));
        assert!(sparse.0 <= best.0 && sparse.1 >= best.1 - best.2 - 1e-9, "{name}: {best:?} {sparse:?}");
    }
}

/// The trials equal those of `menet::select` and of separate fits.
#[test]
fn men_is_searched_in_full_and_for_the_score_asked_for() {
    let data = data(9);
    let men = Method::from_name("men").unwrap();
    let dims: Vec<usize> = (1..5).collect();
    for &score in ScoreKind::ALL {
        let search = Search { score, ..Search::default() };
        let options = TuneOptions { folds: 3, search, ..TuneOptions::default() };
        let tuned = tune(&men, &data, &dims, MetricChoice::Euclidean, &options, 0, &()).unwrap();
        let TuningTrials::Selection(found) = &tuned.found else { panic!() };
        assert_eq!(select::best(&found.trials, score, false), Some(found.chosen), "{score:?}");
        let seen = |of: &dyn Fn(&MenParams) -> String| -> BTreeSet<String> {
            found.trials.iter().map(|trial| of(&trial.params)).collect()
        };
        assert_eq!(seen(&|p| p.ridge().to_string()).len(), select::RIDGES.len());
        assert_eq!(seen(&|p| format!("{:?}", p.refit.kind())).len(), select::REFITS.len());
        assert_eq!(seen(&|p| format!("{:?}", p.rule.kind)).len(), 3);
        assert_eq!(seen(&|p| format!("{:?}", p.rule.metric)).len(), 2);
        // No setting twice.
        let settings: Vec<String> = found.trials.iter().map(|trial| format!("{:?}", trial.params)).collect();
        assert_eq!(settings.iter().collect::<BTreeSet<_>>().len(), settings.len());
        let dir = tempfile::tempdir().unwrap();
        menet_lab::output::write_tuning(&tuned, "clusters", &opened(dir.path())).unwrap();
        let trials = file(dir.path(), "trials.csv");
        let header = "beta,target_shrinkage,ridge,nonzeros,panel_size,refit,refit_ridge,rule,voters,metric,priors,mean,standard_error,rate,\
                      balanced,log_loss,auc,variables,chosen,reason,failed";
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
        let TuningTrials::Selection(found) = tuned.found else { panic!() };
        found.trials
    };
    let trying = |space: Space| {
        let search = Search { space, ..Search::default() };
        TuneOptions { budget: 12, folds: 3, search, ..TuneOptions::default() }
    };
    let panel_size = vec![Some(3), Some(6)];
    let found =
        search("men", trying(Space { panel_size, refit: vec![Refit::Discriminant], ..Space::default() }));
    assert!(
        found.iter().all(|trial| trial.params.refit.kind() == Refit::Discriminant && trial.variables <= 6.0)
    );
    let sizes: BTreeSet<_> =
        found.iter().map(|trial| (trial.params.panel_size, trial.params.nonzeros)).collect();
    assert_eq!(sizes, [(Some(3), None), (Some(6), None)].into());
    let rule = vec![RuleKind::Centroid];
    let found = search("men-alpha0", trying(Space { rule, nonzeros: vec![Some(2)], ..Space::default() }));
    assert!(found.iter().all(|trial| trial.params.rule.on_several().kind == RuleKind::Centroid));
    assert!(found.iter().all(|trial| trial.params.nonzeros == Some(2) && trial.params.manifold.alpha == 0.0));
    // The search of `men-paper` keeps the paper's refit and rule.
    let of_paper = search("men-paper", trying(Space::default()));
    let ridges: BTreeSet<String> = of_paper.iter().map(|trial| trial.params.ridge().to_string()).collect();
    assert_eq!(ridges.len(), select::RIDGES.len());
    for trial in of_paper {
        assert_eq!(
            (trial.params.refit.kind(), trial.params.rule.on_several().kind),
            (Refit::None, RuleKind::Nearest)
        );
    }
    let small = TuneOptions { budget: 2, ..trying(Space::default()) };
    let method = Method::from_name("dla").unwrap();
    let message =
        tune(&method, &data, &[1], MetricChoice::Euclidean, &small, 0, &()).unwrap_err().to_string();
    assert!(message.contains("budget is 2") && message.contains("takes 3"), "{message}");
}

/// With `auto` each metric has its own walk, so no order between metrics can make a search run in circles.
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
    let TuningTrials::Selection(found) = tuned.found else { panic!() };
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
    let TuningTrials::Walk { trials, .. } = tuned.found else { panic!() };
    let mut seen: Vec<Option<usize>> = trials.iter().map(|trial| trial.support()).collect();
    seen.sort_unstable();
    seen.dedup();
    assert!(seen.len() >= 2 && seen.contains(&Some(100)) && !seen.contains(&None), "{seen:?}");
}
