//! The search over settings gives every setting what a fit of its own would give it.

use crate::common;
use faer::Mat;
use menet::evaluate::{Split, generator, stratified_folds, subset};
use menet::penalties::PenaltyKind;
use menet::refit::Refit;
use menet::rules::{Metric, Priors, RuleKind};
use menet::scores::{ScoreKind, scores_of};
use menet::select::{Grid, ModelSize, Search, Space, Trial, TrialChoice, best, most_stable, search};
use menet::{Dataset, Error, MenParams, Monitor, Named, fit};

fn samples() -> (Mat<f64>, Vec<usize>) {
    let rng = &mut common::rng(3);
    let labels: Vec<usize> = (0..60).map(|i| i % 4).collect();
    let x = Mat::from_fn(60, 40, |i, j| {
        common::normal(rng) + if j < 12 && j % 4 == labels[i] { 1.2 } else { 0.0 }
    });
    (x, labels)
}

fn grid(sizes: Vec<ModelSize>) -> Grid {
    Grid::of(&MenParams::default()).with(|it| {
        it.beta = vec![1.0, 10.0];
        it.target_shrinkage = vec![0.1];
        it.ridge = vec![0.03, 1.0];
        it.sizes = sizes;
        it.refit = vec![Refit::None, Refit::Panel, Refit::Discriminant];
        it.refit_ridge = vec![None, Some(3.0)];
        it.rule = vec![RuleKind::Nearest, RuleKind::Centroid, RuleKind::Gaussian];
        it.voters = vec![1, 3];
        it.metric = vec![Metric::Euclidean, Metric::Cosine];
        it.priors = vec![Priors::Train, Priors::Equal];
    })
}

/// The score of a setting on a fold, by a fit of its own.
fn alone(data: &Dataset<'_>, fold: &Split, params: &MenParams) -> (f64, f64, usize) {
    let train = subset(data, &fold.train).unwrap();
    let men = fit(&train, params, &()).unwrap();
    let test = subset(data, &fold.test).unwrap();
    let z = men.projection().project(&test).unwrap();
    let rule = men.rule().unwrap();
    let truth: Vec<usize> = fold.test.iter().map(|&i| data.class_of(i)).collect();
    let log_probabilities = rule.log_probabilities(z.as_ref()).unwrap();
    let given = rule.classify(z.as_ref()).unwrap();
    let scores = scores_of(&truth, &given, 4, Some(log_probabilities.as_ref())).unwrap();
    (scores.balanced, scores.log_loss.unwrap(), men.panel().len())
}

#[test]
fn every_setting_gets_what_its_own_fit_would() {
    let (x, labels) = samples();
    let data = Dataset::new(x.as_ref(), &labels).unwrap();
    let folds = stratified_folds(&data, 3, &mut generator(0, &[])).unwrap();
    for sizes in [
        vec![ModelSize::per_path(3), ModelSize::per_path(8)],
        vec![ModelSize::of_panel(4), ModelSize::of_panel(12)],
        vec![ModelSize { nonzeros: None, panel: None }],
    ] {
        let grid = grid(sizes);
        let base = MenParams::default();
        let trials =
            search(&data, &base, &grid, &folds, (ScoreKind::LogLoss, TrialChoice::Best), &(), &|_, _| ())
                .unwrap();
        assert_eq!(trials.len(), grid.settings(&base).len());
        // Every seventh: all would take long.
        for trial in trials.iter().step_by(7) {
            assert_eq!(trial.failed, None);
            let mut variables = 0.0;
            for (fold, found) in folds.iter().zip(&trial.folds) {
                let (balanced, log_loss, used) = alone(&data, fold, &trial.params);
                assert_eq!(
                    (found.balanced, found.log_loss),
                    (balanced, Some(log_loss)),
                    "{:?}",
                    trial.params
                );
                variables += used as f64 / folds.len() as f64;
            }
            assert!((trial.variables - variables).abs() < 1e-9);
        }
    }
}

/// Sizes share paths only where these hold them: panels of every penalty, limits per path beside a panel, and all refits.
#[test]
fn shared_paths_give_what_own_paths_would() {
    let (x, labels) = samples();
    let data = Dataset::new(x.as_ref(), &labels).unwrap();
    let folds = stratified_folds(&data, 2, &mut generator(7, &[])).unwrap();
    for &penalty in PenaltyKind::ALL {
        for (panel_size, sizes) in [
            (None, [1, 2, 15].map(ModelSize::of_panel)),
            (Some(6), [1, 3, 20].map(|k| ModelSize { nonzeros: Some(k), panel: Some(6) })),
        ] {
            let base =
                MenParams::default().with(|it| (it.penalty.kind, it.panel_size) = (penalty, panel_size));
            let grid = Grid::of(&base).with(|it| {
                (it.sizes, it.refit, it.rule) =
                    (sizes.to_vec(), Refit::ALL.to_vec(), vec![RuleKind::Centroid]);
            });
            let trials =
                search(&data, &base, &grid, &folds, (ScoreKind::LogLoss, TrialChoice::Best), &(), &|_, _| ())
                    .unwrap();
            for trial in &trials {
                assert_eq!(trial.failed, None, "{:?}", trial.params);
                for (fold, found) in folds.iter().zip(&trial.folds) {
                    let (balanced, log_loss, _) = alone(&data, fold, &trial.params);
                    let found = (found.balanced, found.log_loss);
                    assert_eq!(found, (balanced, Some(log_loss)), "{:?}", trial.params);
                }
            }
        }
    }
}

#[test]
fn the_best_is_chosen_and_one_standard_error_takes_fewer_variables() {
    let (x, labels) = samples();
    let data = Dataset::new(x.as_ref(), &labels).unwrap();
    let folds = stratified_folds(&data, 5, &mut generator(0, &[])).unwrap();
    let grid = grid([1, 2, 4, 8, 16, 32].map(ModelSize::of_panel).to_vec());
    let trials = search(
        &data,
        &MenParams::default(),
        &grid,
        &folds,
        (ScoreKind::LogLoss, TrialChoice::Best),
        &(),
        &|_, _| (),
    )
    .unwrap();
    for score in [ScoreKind::Rate, ScoreKind::Balanced, ScoreKind::LogLoss, ScoreKind::Auc] {
        let top = best(&trials, score, false).unwrap();
        let merits = trials.iter().map(|trial| trial.merit(score));
        assert_eq!(trials[top].merit(score), merits.fold(f64::NEG_INFINITY, f64::max));
        let frugal = best(&trials, score, true).unwrap();
        assert!(trials[frugal].variables <= trials[top].variables);
        let least = trials[top].merit(score) - trials[top].standard_error(score);
        assert!(trials[frugal].merit(score) >= least);
    }
}

#[test]
fn probabilities_are_computed_for_the_best_and_the_choice() {
    let (x, labels) = samples();
    let data = Dataset::new(x.as_ref(), &labels).unwrap();
    let score = ScoreKind::Balanced;
    for (seed, &choose) in (0..6).zip(TrialChoice::ALL.iter().cycle()) {
        let folds = stratified_folds(&data, 3, &mut generator(seed, &[])).unwrap();
        let grid = grid([2, 5, 9].map(ModelSize::per_path).to_vec());
        let trials = |score| {
            search(&data, &MenParams::default(), &grid, &folds, (score, choose), &(), &|_, _| ()).unwrap()
        };
        let (few, all) = (trials(score), trials(ScoreKind::LogLoss));
        let chosen = choose.of(&few, score, data.variables()).unwrap();
        assert_eq!(all[chosen].folds, few[chosen].folds, "probabilities of the choice are known");
        let best_of = |trials: &[Trial]| best(trials, score, false);
        assert_eq!(best_of(&all), best_of(&few), "the log loss tells equals apart");
        assert_eq!(most_stable(&all, score, data.variables()), most_stable(&few, score, data.variables()));
        let same = |(a, b): (&Trial, &Trial)| a.panels == b.panels && a.merit(score) == b.merit(score);
        assert!(all.iter().zip(&few).all(same));
        let unknown =
            few.iter().filter(|trial| trial.folds.iter().all(|found| found.log_loss.is_none())).count();
        assert!(unknown > few.len() / 2, "{unknown} of {} without probabilities", few.len());
    }
}

#[test]
fn a_choice_is_fitted_and_says_why() {
    let (x, labels) = samples();
    let data = Dataset::new(x.as_ref(), &labels).unwrap();
    let folds = stratified_folds(&data, 4, &mut generator(5, &[])).unwrap();
    let base = MenParams::default().with(|it| it.ridge = Some(0.3));
    let space = Space { nonzeros: [2, 4, 8, 16].map(Some).to_vec(), ..Space::default() };
    for &choose in TrialChoice::ALL {
        for score in [ScoreKind::Balanced, ScoreKind::LogLoss] {
            let search = Search { space: space.clone(), score, choose };
            let found = search.run(&data, &base, &folds, &(), &|_, _| ()).unwrap();
            assert_eq!(Some(found.chosen), choose.of(&found.trials, score, data.variables()));
            let alone = fit(&data, found.params(), &()).unwrap();
            assert_eq!(found.men.projection().components(), alone.projection().components());
            assert_eq!(found.men.panel(), alone.panel());
            let size = format!("{} variables per axis: ", found.params().nonzeros.unwrap());
            assert!(found.reason.starts_with(&size), "{}", found.reason);
            let extreme = if score == ScoreKind::LogLoss { "lowest" } else { "largest" };
            assert!(found.reason.contains(extreme), "{}", found.reason);
            let word = match choose {
                TrialChoice::Best => "of 32 settings",
                TrialChoice::Smallest => "within one standard error",
                TrialChoice::MostStable => "agree most",
            };
            assert!(found.reason.contains(word), "{}", found.reason);
        }
    }
}

#[test]
fn the_most_stable_choice_agrees_most_within_one_standard_error() {
    let (x, labels) = samples();
    let data = Dataset::new(x.as_ref(), &labels).unwrap();
    let score = ScoreKind::Balanced;
    let folds = stratified_folds(&data, 5, &mut generator(1, &[])).unwrap();
    let grid = grid([2, 5, 9].map(ModelSize::per_path).to_vec());
    let trials =
        search(&data, &MenParams::default(), &grid, &folds, (score, TrialChoice::Best), &(), &|_, _| ())
            .unwrap();
    let agreement = |at: usize| {
        let found = menet::stability::Stability::new(data.variables(), trials[at].panels.clone()).unwrap();
        found.index(usize::MAX).value
    };
    let (top, chosen) =
        (best(&trials, score, false).unwrap(), most_stable(&trials, score, data.variables()).unwrap());
    let least = trials[top].merit(score) - trials[top].standard_error(score);
    assert!(trials[chosen].merit(score) >= least);
    let others = (0..trials.len()).filter(|&at| trials[at].merit(score) >= least);
    assert!(others.into_iter().all(|at| agreement(at) <= agreement(chosen) + 1e-12));
    assert_eq!(most_stable(&[], score, 3), None);
}

#[test]
fn a_class_missing_from_a_fold_is_never_recognised_there() {
    let (x, mut labels) = samples();
    labels[0] = 9;
    let data = Dataset::new(x.as_ref(), &labels).unwrap();
    let fold = Split { train: (10..60).collect(), test: (0..10).collect() };
    let base = MenParams::default().with(|it| it.nonzeros = Some(5));
    let trials = search(
        &data,
        &base,
        &Grid::of(&base),
        &[fold],
        (ScoreKind::Balanced, TrialChoice::Best),
        &(),
        &|_, _| (),
    )
    .unwrap();
    let scores = &trials[0].folds[0];
    assert_eq!(scores.recalls[data.class_of(0)], Some(0.0));
    assert!(scores.log_loss.unwrap().is_finite());
}

#[test]
fn a_search_can_be_stopped_and_refuses_what_it_cannot_do() {
    struct StopsAtOnce;
    impl Monitor for StopsAtOnce {
        fn stop(&self) -> bool {
            true
        }
    }
    let (x, labels) = samples();
    let data = Dataset::new(x.as_ref(), &labels).unwrap();
    let folds = stratified_folds(&data, 3, &mut generator(0, &[])).unwrap();
    let base = MenParams::default();
    let run = |grid: &Grid, monitor: &dyn Monitor| {
        search(&data, &base, grid, &folds, (ScoreKind::Rate, TrialChoice::Best), monitor, &|_, _| ())
    };
    assert!(matches!(run(&Grid::of(&base), &StopsAtOnce), Err(Error::Stopped { .. })));
    let empty = Grid::of(&base).with(|it| it.ridge = Vec::new());
    assert!(run(&empty, &()).unwrap_err().to_string().contains("ridge"));
    let wrong = Grid::of(&base).with(|it| it.ridge = vec![-1.0, 0.1]);
    let trials = run(&wrong, &()).unwrap();
    assert!(trials[0].failed.is_some() && trials[1].failed.is_none());
    assert!(run(&Grid::of(&base).with(|it| it.ridge = vec![-1.0]), &()).is_err());
}
