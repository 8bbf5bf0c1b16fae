//! Missing values, batches and scales in a fit: the model is that of prepared samples, and folds learn for themselves.

use faer::Mat;
use menet::dataset::{Samples, View};
use menet::evaluate::{classes_of, decisions, generator, halves, stratified_folds, subset};
use menet::penalties::PenaltyKind;
use menet::prepare::{Impute, Preparation, PrepareParams, Scale};
use menet::rules::{Metric, RuleKind};
use menet::scores::ScoreKind;
use menet::select::{self, Grid, ModelSize, TrialChoice};
use menet::sparse::SparseMatrix;
use menet::stability::{self, StabilityParams};
use menet::{Dataset, Error, Men, MenParams, Method, Named, Neighborhood, SizeLimits, fit};
use rand::RngExt;

/// Three classes that some variables tell apart; a fraction of the values is missing, and batches are shifted.
fn samples(seed: u64, n: usize, p: usize, missing: f64) -> (Mat<f64>, Vec<usize>, Vec<usize>) {
    let mut rng = generator(seed, &[]);
    let labels: Vec<usize> = (0..n).map(|i| i % 3).collect();
    let batches: Vec<usize> = (0..n).map(|i| (i / 3) % 4).collect();
    let x = Mat::from_fn(n, p, |i, j| {
        let value = rng.random::<f64>() * (1 + j % 5) as f64
            + if j < 9 && j % 3 == labels[i] { 1.5 } else { 0.0 }
            + 0.3 * batches[i] as f64;
        if rng.random::<f64>() < missing { f64::NAN } else { value }
    });
    (x, labels, batches)
}

fn data(x: &Mat<f64>, labels: &[usize]) -> Dataset<'static> {
    Dataset::with_missing(x.clone(), labels).unwrap()
}

/// Every way to prepare samples that fits these data.
fn ways() -> Vec<MenParams> {
    let mut all = Vec::new();
    for impute in [Impute::Mean, Impute::Median, Impute::Knn] {
        for &scale in Scale::ALL {
            for batch_scale in [false, true] {
                all.push(MenParams::default().with(|it| {
                    (it.prepare.impute, it.prepare.scale, it.prepare.batch_scale) =
                        (Some(impute), scale, batch_scale);
                    it.nonzeros = Some(6);
                }));
            }
        }
    }
    all
}

#[test]
fn a_fit_is_that_of_the_prepared_samples() {
    let (x, labels, batches) = samples(1, 60, 14, 0.1);
    let (new, ..) = samples(2, 21, 14, 0.2);
    for with_batches in [false, true] {
        let mut data = data(&x, &labels);
        if with_batches {
            data = data.with_batches(&batches).unwrap();
        }
        let names: Option<Vec<String>> = with_batches.then(|| (0..21).map(|i| (i % 4).to_string()).collect());
        for params in ways() {
            let men = fit(&data, &params, &()).unwrap();
            assert_eq!(men.params(), &params);
            let learned = Preparation::learn(&data, &params.prepare).unwrap();
            assert_eq!(men.preparation(), Some(&learned));
            let plain = params.clone().with(|it| it.prepare = PrepareParams::default());
            let expected = fit(&learned.prepare(&data).unwrap(), &plain, &()).unwrap();
            assert_eq!(men.projection(), expected.projection(), "to the last bit");
            assert_eq!(men.rule().unwrap(), expected.rule().unwrap());
            let found = men.transform_batches(View::Double(new.as_ref()), names.as_deref()).unwrap();
            let prepared = learned.apply(View::Double(new.as_ref()), names.as_deref()).unwrap();
            assert_eq!(found, expected.projection().project_view(prepared.view()).unwrap());
            assert_eq!(
                men.project(&data).unwrap(),
                expected.project(&learned.prepare(&data).unwrap()).unwrap()
            );
        }
    }
}

#[test]
fn nothing_changes_where_nothing_is_asked_for() {
    let (x, labels, _) = samples(3, 45, 10, 0.0);
    let (plain, filling) =
        (data(&x, &labels), MenParams::default().with(|it| it.prepare.impute = Some(Impute::Mean)));
    let men = fit(&plain, &MenParams::default(), &()).unwrap();
    assert!(men.preparation().is_none());
    assert_eq!(men.transform(x.as_ref()).unwrap(), men.projection().transform(x.as_ref()).unwrap());
    // Complete samples that could have been filled give the same axes.
    let could = fit(&plain, &filling, &()).unwrap();
    assert_eq!(could.projection(), men.projection());
    assert!(could.fills() && !men.fills());
    let mut gap = x.clone();
    gap[(4, 2)] = f64::NAN;
    assert!(could.transform(gap.as_ref()).is_ok());
    let message = men.transform(gap.as_ref()).unwrap_err().to_string();
    assert!(message.contains("row 4, column 2"), "{message}");
}

#[test]
fn smaller_models_are_those_of_smaller_fits() {
    let (x, labels, batches) = samples(4, 60, 20, 0.1);
    let data = data(&x, &labels).with_batches(&batches).unwrap();
    for (impute, scale) in [(Impute::Knn, Scale::Unit), (Impute::Median, Scale::Log1p)] {
        for penalty in [PenaltyKind::L1, PenaltyKind::Scad] {
            let params = MenParams::default().with(|it| {
                (it.prepare.impute, it.prepare.scale, it.penalty.kind) = (Some(impute), scale, penalty);
                it.nonzeros = Some(8);
            });
            let men = fit(&data, &params, &()).unwrap();
            let smaller =
                men.at(SizeLimits::default().with(|it| it.nonzeros = Some(3)), Some(&data)).unwrap();
            let expected = fit(&data, &params.clone().with(|it| it.nonzeros = Some(3)), &()).unwrap();
            assert_eq!(smaller.projection(), expected.projection(), "{penalty:?}");
            assert_eq!(smaller.preparation(), expected.preparation());
            assert_eq!(smaller.rule().unwrap(), expected.rule().unwrap());
        }
    }
}

/// What a search finds in a fold is what a fit of the training samples alone finds. Were anything learned from the test samples, it
/// would differ.
#[test]
fn folds_learn_from_their_training_samples_alone() {
    let (mut x, labels, batches) = samples(5, 72, 12, 0.25);
    // The last samples are far from all others, so that whatever is learned from them shows.
    for i in 60..72 {
        for j in 0..12 {
            x[(i, j)] *= 1e3;
        }
    }
    let data = data(&x, &labels).with_batches(&batches).unwrap();
    let folds = stratified_folds(&data, 4, &mut generator(0, &[])).unwrap();
    for params in ways().into_iter().filter(|params| params.prepare.scale != Scale::Log1pUnit) {
        let mut grid = Grid::of(&params);
        grid.sizes = vec![ModelSize::per_path(3), ModelSize::per_path(6)];
        let trials = select::search(
            &data,
            &params,
            &grid,
            &folds,
            (ScoreKind::LogLoss, TrialChoice::Best),
            &(),
            &|_, _| (),
        )
        .unwrap();
        for trial in &trials {
            for (fold, found) in folds.iter().zip(&trial.folds) {
                let (train, test) = (subset(&data, &fold.train).unwrap(), subset(&data, &fold.test).unwrap());
                let men = fit(&train, &trial.params, &()).unwrap();
                let z = men.project(&test).unwrap();
                let truth = classes_of(&data, &fold.test);
                let d = men.projection().components();
                let expected =
                    decisions(men.rule().unwrap(), &[0, 1, 2], 3, z.as_ref(), &truth, &[d]).unwrap();
                assert_eq!(found, &expected[0].1, "{params:?}");
            }
        }
        let (train, test) = halves(&data, &folds[0], &params.prepare).unwrap();
        let learned = Preparation::learn(&subset(&data, &folds[0].train).unwrap(), &params.prepare).unwrap();
        let expected = learned.prepare(&data).unwrap();
        for (part, rows) in [(&train, &folds[0].train), (&test, &folds[0].test)] {
            for (i, &row) in rows.iter().enumerate() {
                assert_eq!(part.x().unwrap().row(i), expected.x().unwrap().row(row));
            }
        }
    }
}

#[test]
fn baselines_take_the_same_road() {
    let (x, labels, batches) = samples(6, 60, 12, 0.2);
    let data = data(&x, &labels).with_batches(&batches).unwrap();
    let prepare =
        PrepareParams::default().with(|it| (it.impute, it.scale) = (Some(Impute::Knn), Scale::Unit));
    let learned = Preparation::learn(&data, &prepare).unwrap();
    let prepared = learned.prepare(&data).unwrap();
    for name in ["pca", "flda", "slpp", "spg"] {
        let method = Method::from_name(name).unwrap();
        let found = method.fit(&prepare, &data, Some(2), &()).unwrap();
        let expected = method.reducer().fit(&prepared, Some(2), &()).unwrap();
        assert_eq!(found.projection, expected.projection, "{name}");
        assert_eq!(found.project(&data).unwrap(), expected.projection.project(&prepared).unwrap());
        assert!(method.reducer().fit(&data, Some(2), &()).is_err(), "{name}: missing values");
    }
    let men = Method::Men(MenParams::default().with(|it| it.prepare = prepare));
    let reduced = men.fit(&PrepareParams::default(), &data, None, &()).unwrap();
    assert_eq!(reduced.project(&data).unwrap(), reduced.men().unwrap().project(&data).unwrap());
}

#[test]
fn sparse_samples_stay_sparse_and_give_the_same_axes() {
    let mut rng = generator(7, &[]);
    let labels: Vec<usize> = (0..90).map(|i| i % 3).collect();
    let x = Mat::from_fn(90, 30, |i, j| {
        let count = (rng.random::<f64>() * 4.0 - 2.5).max(0.0).round() * (1 + j % 3) as f64;
        let own = if j < 9 && j % 3 == labels[i] { 3.0 } else { 0.0 };
        if rng.random::<f64>() < 0.02 { f64::NAN } else { count + own }
    });
    let starts: Vec<usize> = (0..=90).map(|i| i * 30).collect();
    let indices: Vec<usize> = (0..2700).map(|at| at % 30).collect();
    let values: Vec<f64> = (0..2700).map(|at| x[(at / 30, at % 30)]).collect();
    let sparse = SparseMatrix::from_rows_with_missing((90, 30), &starts, &indices, &values).unwrap();
    let sparse_data = |matrix: SparseMatrix| {
        Dataset::from_sparse_beyond(0, matrix, &labels).map(|data| data.sparse().is_some())
    };
    assert!(sparse_data(sparse.clone()).is_err(), "missing values have to be allowed");
    let kept = Dataset::with_missing(Samples::sparse_beyond(0, sparse.clone()), &labels).unwrap();
    for &scale in Scale::ALL {
        for impute in [Impute::Mean, Impute::Median] {
            let params = MenParams::default().with(|it| {
                (it.prepare.impute, it.prepare.scale, it.nonzeros) = (Some(impute), scale, Some(5));
            });
            let (of_dense, of_sparse) =
                (fit(&data(&x, &labels), &params, &()).unwrap(), fit(&kept, &params, &()).unwrap());
            let off = of_dense.projection().to_dense() - of_sparse.projection().to_dense();
            assert!(off.norm_max() < 1e-9 * of_dense.projection().to_dense().norm_max(), "{params:?}");
            let z = of_sparse.transform_batches(View::Sparse(&sparse), None).unwrap();
            assert_eq!(z, of_sparse.transform(x.as_ref()).unwrap(), "new samples may be dense");
        }
    }
    let knn = MenParams::default().with(|it| it.prepare.impute = Some(Impute::Knn));
    let message = fit(&kept, &knn, &()).unwrap_err().to_string();
    assert!(message.contains("knn") && message.contains("dense"), "{message}");
}

#[test]
fn what_cannot_be_fitted_is_told_once() {
    let (x, labels, batches) = samples(8, 45, 10, 0.1);
    let refusal = |data: &Dataset<'_>, change: &dyn Fn(&mut MenParams)| {
        fit(data, &MenParams::default().with(change), &()).unwrap_err().to_string()
    };
    // Missing values without a way to fill them: as without any of this.
    let gaps = data(&x, &labels);
    let message = refusal(&gaps, &|_| ());
    assert_eq!(message, Dataset::new(x.as_ref(), &labels).unwrap_err().to_string());
    let message = refusal(&gaps, &|it| it.prepare.max_missing = -0.5);
    assert!(message.contains("`prepare.max_missing` is -0.5"), "{message}");
    // A variable that is always in, and mostly missing.
    let mut rare = x.clone();
    (0..40).for_each(|i| rare[(i, 3)] = f64::NAN);
    let message = refusal(&data(&rare, &labels), &|it| {
        (it.prepare.impute, it.penalty.always) = (Some(Impute::Mean), Some(vec![3.into()]));
    });
    assert!(message.contains("always") && message.contains("91 %"), "{message}");
    // All of a class lack a variable: it is filled like others.
    let mut of_class = x.clone();
    (0..45).filter(|i| labels[*i] == 1).for_each(|i| of_class[(i, 0)] = f64::NAN);
    let filling = MenParams::default().with(|it| it.prepare.impute = Some(Impute::Mean));
    assert!(fit(&data(&of_class, &labels), &filling, &()).is_ok());
    // A variable that all samples lack is left out, and told.
    let mut empty = x.clone();
    (0..45).for_each(|i| empty[(i, 7)] = f64::NAN);
    let men = fit(&data(&empty, &labels), &filling, &()).unwrap();
    assert_eq!(men.preparation().unwrap().dropped, [7]);
    assert!(
        men.doubts().iter().any(|doubt| doubt.contains("left out") && doubt.contains(": 8")),
        "{:?}",
        men.doubts()
    );
    assert!(!men.panel().contains(&7));
    // A batch of one sample, and samples without their batch.
    let mut lone = batches.clone();
    lone[11] = 99;
    let message =
        refusal(&gaps.clone().with_batches(&lone).unwrap(), &|it| it.prepare.impute = Some(Impute::Mean));
    assert!(message.contains("\"99\" for 1 of the training samples"), "{message}");
    let men = fit(&gaps.clone().with_batches(&batches).unwrap(), &filling, &()).unwrap();
    let message = men.transform(x.as_ref()).unwrap_err().to_string();
    assert!(message.contains("`batch` is left out"), "{message}");
    // A batch of one class alone is told.
    let by_class = gaps.clone().with_batches(&labels).unwrap();
    let doubts = match fit(&by_class, &filling, &()) {
        Ok(men) => men.doubts(),
        Err(error) => vec![error.to_string()],
    };
    assert!(!doubts.is_empty(), "centring by class leaves nothing to learn");
    // The steps after the preparation take prepared samples.
    let error = Neighborhood::new(&gaps, &filling, &()).unwrap_err();
    assert!(matches!(error, Error::Parameter { ref name, .. } if name == "samples"), "{error}");
}

#[test]
fn half_samples_prepare_themselves() {
    let (x, labels, batches) = samples(9, 96, 12, 0.15);
    let data = data(&x, &labels).with_batches(&batches).unwrap();
    let params = MenParams::default()
        .with(|it| (it.prepare.impute, it.prepare.scale) = (Some(Impute::Mean), Scale::Unit));
    let how = StabilityParams::default().with(|it| it.pairs = 4);
    let found = stability::select(&data, &params, &how, &(), &|_, _| ()).unwrap();
    let halves = stability::half_samples(&data, 4, None, 0).unwrap();
    let plain = params.clone().with(|it| it.prepare = PrepareParams::default());
    for (half, order) in halves.iter().zip(found.stability.orders()) {
        let half = subset(&data, half).unwrap();
        let (_, prepared) = Preparation::of(&half, &params.prepare).unwrap().unwrap();
        let expected = stability::entry_order(&prepared, &plain, how.most, &()).unwrap();
        assert_eq!(order, &expected);
    }
    let men = stability::fit_on(&data, &[0, 4, 8], &params, &()).unwrap();
    assert_eq!((men.panel(), men.preparation().is_some()), (vec![0, 4, 8], true));
}

/// A sample of weight 2 is that sample twice, and one of weight 0 is none.
#[test]
fn whole_weights_are_repeated_samples() {
    let (x, labels, batches) = samples(11, 54, 12, 0.15);
    let weights: Vec<usize> = (0..54).map(|i| [1, 2, 0, 3, 1][(i * 7) % 5]).collect();
    let rows: Vec<usize> = (0..54).flat_map(|i| vec![i; weights[i]]).collect();
    let repeated = Mat::from_fn(rows.len(), 12, |i, j| x[(rows[i], j)]);
    let of = |all: &[usize]| rows.iter().map(|&i| all[i]).collect::<Vec<_>>();
    let numbers: Vec<f64> = weights.iter().map(|&weight| weight as f64).collect();
    let weighted = data(&x, &labels).with_batches(&batches).unwrap().with_weights(&numbers).unwrap();
    let repeated = data(&repeated, &of(&labels)).with_batches(&of(&batches)).unwrap();
    for params in ways() {
        let (a, b) = (fit(&weighted, &params, &()).unwrap(), fit(&repeated, &params, &()).unwrap());
        assert_eq!(a.panel(), b.panel(), "{params:?}");
        let (a, b) = (a.projection(), b.projection());
        let size = b.to_dense().norm_max();
        assert!((a.to_dense() - b.to_dense()).norm_max() < 1e-10 * size, "{params:?}");
        let off = a.mean().iter().zip(b.mean()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off < 1e-12, "{params:?}: {off}");
    }
    // A batch of one sample is one whether it is repeated or not.
    let mut lone = batches.clone();
    lone[rows[0]] = 9;
    let refusal = |data: Dataset<'_>| fit(&data, &ways()[0], &()).unwrap_err().to_string();
    let a = refusal(data(&x, &labels).with_batches(&lone).unwrap().with_weights(&numbers).unwrap());
    let b = refusal(repeated.clone().without_batches().with_batches(&of(&lone)).unwrap());
    assert_eq!(a, b);
}

/// Single precision is prepared like double.
#[test]
fn single_precision_gives_the_model_of_double() {
    let (x, labels, _) = samples(10, 45, 10, 0.1);
    let single = Mat::from_fn(45, 10, |i, j| x[(i, j)] as f32);
    let double = Mat::from_fn(45, 10, |i, j| f64::from(single[(i, j)]));
    let samples = Samples::from(single.as_ref()).with_missing();
    let names = ["0", "1", "2"].map(str::to_owned).to_vec();
    let single = Dataset::from_codes(samples, labels.clone(), names).unwrap();
    let params = MenParams::default()
        .with(|it| (it.prepare.impute, it.prepare.scale) = (Some(Impute::Knn), Scale::Pareto));
    let (a, b) = (fit(&single, &params, &()).unwrap(), fit(&data(&double, &labels), &params, &()).unwrap());
    assert_eq!(a.projection(), b.projection());
    assert_eq!(a.project(&single).unwrap(), b.transform(double.as_ref()).unwrap());
}

/// The mean balanced accuracy, in percent, of models that are chosen and fitted on random labels, nested.
fn on_random_labels(impute: Impute, seeds: std::ops::Range<u64>) -> f64 {
    let params = MenParams::default().with(|it| {
        (it.prepare.impute, it.prepare.scale, it.rule.metric) =
            (Some(impute), Scale::Unit, Some(Metric::Euclidean));
    });
    let mut grid = Grid::of(&params);
    grid.sizes = vec![ModelSize::per_path(2), ModelSize::per_path(8)];
    grid.rule = vec![RuleKind::Nearest, RuleKind::Gaussian];
    let (mut sum, mut count) = (0.0, 0.0);
    for seed in seeds {
        let mut rng = generator(seed, &[20]);
        let x = Mat::from_fn(80, 30, |_, _| {
            // The mean of some uniform numbers is nearly normal.
            let value: f64 = (0..6).map(|_| rng.random::<f64>()).sum();
            if rng.random::<f64>() < 0.3 { f64::NAN } else { value }
        });
        let mut labels: Vec<usize> = (0..80).map(|i| i % 2).collect();
        for i in (1..80).rev() {
            labels.swap(i, rng.random_range(0..=i));
        }
        let data = data(&x, &labels);
        for outer in stratified_folds(&data, 5, &mut generator(seed, &[21])).unwrap() {
            let (train, test) = (subset(&data, &outer.train).unwrap(), subset(&data, &outer.test).unwrap());
            let inner = stratified_folds(&train, 3, &mut generator(seed, &[22])).unwrap();
            let trials = select::search(
                &train,
                &params,
                &grid,
                &inner,
                (ScoreKind::Balanced, TrialChoice::Best),
                &(),
                &|_, _| (),
            )
            .unwrap();
            let best = select::best(&trials, ScoreKind::Balanced, false).unwrap();
            let men: Men = fit(&train, &trials[best].params, &()).unwrap();
            let z = men.project(&test).unwrap();
            let truth = classes_of(&data, &outer.test);
            let d = men.projection().components();
            let found = decisions(men.rule().unwrap(), &[0, 1], 2, z.as_ref(), &truth, &[d]).unwrap();
            sum += found[0].1.balanced;
            count += 1.0;
        }
    }
    sum / count
}

/// Imputation that looked at test samples or labels would show here.
#[test]
#[ignore = "takes minutes; `make soak` runs it"]
fn random_labels_stay_random_with_missing_values() {
    for &impute in Impute::ALL {
        let found = on_random_labels(impute, 0..120);
        println!("{}: balanced accuracy {found:.2} % on random labels with 30 % missing", impute.name());
        assert!((found - 50.0).abs() < 2.0, "{}: {found}", impute.name());
    }
}

#[test]
fn a_model_on_its_panel_decides_like_the_whole_one() {
    let (x, labels, batches) = samples(3, 60, 14, 0.1);
    let (new, ..) = samples(4, 21, 14, 0.2);
    let (complete, ..) = samples(5, 21, 14, 0.0);
    let names: Vec<String> = (0..14).map(|j| format!("v{j}")).collect();
    let rules = [RuleKind::Nearest, RuleKind::Centroid, RuleKind::Gaussian];
    for with_batches in [false, true] {
        let mut data = data(&x, &labels).with_feature_names(names.clone()).unwrap();
        if with_batches {
            data = data.with_batches(&batches).unwrap();
        }
        let of_new: Option<Vec<String>> =
            with_batches.then(|| (0..21).map(|i| (i % 5).to_string()).collect());
        for (way, params) in ways().into_iter().enumerate() {
            let params = params.with(|it| {
                (it.rule.kind, it.panel_size) = (Some(rules[way % 3]), Some(6));
                it.penalty.always = Some(vec!["v13".into()]);
            });
            let men = fit(&data, &params, &()).unwrap();
            let (panel, on_panel) = (men.panel(), men.on_panel().unwrap());
            assert!(panel.len() < 14 && panel.contains(&13), "{panel:?}");
            assert_eq!(on_panel.panel(), (0..panel.len()).collect::<Vec<_>>());
            assert_eq!(on_panel.always().len(), 1);
            let panel_names: Vec<String> = panel.iter().map(|&j| names[j].clone()).collect();
            assert_eq!(on_panel.feature_names(), Some(&panel_names[..]));
            assert_eq!(on_panel.on_panel().unwrap(), on_panel, "nothing is left to leave out");
            // What is learned of the panel is what samples of the panel alone would have taught.
            let of = |x: &Mat<f64>| Mat::from_fn(x.nrows(), panel.len(), |i, at| x[(i, panel[at])]);
            let mut alone = Dataset::with_missing(of(&x), &labels).unwrap();
            if with_batches {
                alone = alone.with_batches(&batches).unwrap();
            }
            let learned = Preparation::learn(&alone, &params.prepare).unwrap();
            assert_eq!(on_panel.preparation(), Some(&learned), "{params:?}");
            let alike = if men.fills_from_neighbors() { vec![&complete] } else { vec![&complete, &new] };
            for x in alike {
                let whole = men.transform_batches(View::Double(x.as_ref()), of_new.as_deref()).unwrap();
                let few = of(x);
                let z = on_panel.transform_batches(View::Double(few.as_ref()), of_new.as_deref()).unwrap();
                assert_eq!(z, whole, "to the last bit");
                let (rule, own) = (men.rule().unwrap(), on_panel.rule().unwrap());
                assert_eq!(
                    own.log_probabilities(z.as_ref()).unwrap(),
                    rule.log_probabilities(whole.as_ref()).unwrap()
                );
            }
        }
    }
}
