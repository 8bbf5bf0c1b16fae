//! Variables that are always in, and never: they are honoured by every way to a model, and no limit counts them.

use crate::common;
use faer::Mat;
use menet::refit::Refit;
use menet::scores::ScoreKind;
use menet::select::{Grid, ModelSize, TrialChoice, search};
use menet::stability::{StabilityParams, entry_order, fit_on, select};
use menet::{Dataset, Men, MenParams, Method, Named, Neighborhood, Prepared, SizeLimits, VariableRef, fit};

const P: usize = 30;

/// Three classes; the first 9 variables tell them apart.
fn named() -> Dataset<'static> {
    let rng = &mut common::rng(23);
    let labels: Vec<usize> = (0..48).map(|i| i % 3).collect();
    let x = Mat::from_fn(48, P, |i, j| {
        let signal = if j < 9 && j % 3 == labels[i] { 1.5 } else { 0.0 };
        signal + common::normal(rng)
    });
    let names = (0..P).map(|j| format!("gene {j}")).collect();
    Dataset::from_owned(x, &labels).unwrap().with_feature_names(names).unwrap()
}

fn refs<T: Copy + Into<VariableRef>>(variables: &[T]) -> Option<Vec<VariableRef>> {
    Some(variables.iter().map(|&variable| variable.into()).collect())
}

/// Two that tell nothing are always in, the three best ones never.
fn forced(refit: Refit) -> MenParams {
    MenParams::default().with(|it| {
        it.refit.kind = Some(refit);
        it.penalty.always = refs(&["gene 20", "gene 25"]);
        it.penalty.never = refs(&[0, 1, 2]);
    })
}

fn message(data: &Dataset<'_>, change: impl FnOnce(&mut MenParams)) -> String {
    fit(data, &MenParams::default().with(change), &()).unwrap_err().to_string()
}

#[test]
fn they_are_factors_of_zero_and_infinity_to_the_last_bit() {
    let data = named();
    let mut factors = vec![1.0; P];
    (factors[20], factors[25]) = (0.0, 0.0);
    factors[..3].fill(f64::INFINITY);
    for &refit in Refit::ALL {
        let by_name = fit(&data, &forced(refit), &()).unwrap();
        let by_factor = MenParams::default().with(|it| {
            it.refit.kind = Some(refit);
            it.penalty.factors = Some(factors.clone());
        });
        let by_factor = fit(&data, &by_factor, &()).unwrap();
        assert_eq!(by_name.projection(), by_factor.projection());
        assert_eq!((by_name.paths(), by_name.always()), (by_factor.paths(), by_factor.always()));
    }
}

#[test]
fn no_limit_counts_them() {
    let data = named();
    for &refit in Refit::ALL {
        for size in [1, 4, 9] {
            let men = fit(&data, &forced(refit).with(|it| it.panel_size = Some(size)), &()).unwrap();
            let panel = men.panel();
            assert_eq!(men.always(), [20, 25], "{refit:?}");
            assert_eq!(men.never(), [0, 1, 2]);
            assert!(panel.iter().all(|j| *j > 2), "{panel:?}");
            let counted = panel.len() - 2;
            assert_eq!(men.selected().len(), counted);
            match refit.shares_panel() {
                true => assert_eq!(counted, size, "{refit:?}: {panel:?}"),
                // Axes with supports of their own may leave some of the limit unused, never all of it.
                false => assert!((1..=size).contains(&counted), "{refit:?}: {panel:?}"),
            }
            for row in men.panel_table() {
                assert_eq!(row.always, [20, 25].contains(&row.variable));
                assert_eq!(row.entered.is_none(), row.always);
            }
        }
        for k in [1, 5] {
            let men = fit(&data, &forced(refit).with(|it| it.nonzeros = Some(k)), &()).unwrap();
            assert!(men.paths().iter().all(|path| path.selected(&path.last().coefficients) == k));
            assert_eq!(men.always(), [20, 25]);
            if !refit.shares_panel() {
                assert_eq!(men.support_sizes(), [k + 2, k + 2], "{refit:?}");
            }
        }
    }
}

/// What is read off a fit, with and without the training samples, is what a fit gives.
#[test]
fn smaller_models_keep_them() {
    let data = named();
    for &refit in Refit::ALL {
        let whole = fit(&data, &forced(refit).with(|it| it.nonzeros = Some(8)), &()).unwrap();
        let fitted = fit(&data, &forced(refit).with(|it| it.nonzeros = Some(3)), &()).unwrap();
        let reading = SizeLimits::default().with(|it| it.nonzeros = Some(3));
        let read = whole.at(reading, Some(&data)).unwrap();
        assert_eq!((read.projection(), read.panel()), (fitted.projection(), fitted.panel()));
        assert_eq!(read.always(), [20, 25]);
        if refit == Refit::None {
            assert_eq!(whole.at(reading, None).unwrap().always(), [20, 25]);
        }
        let sized = fit(&data, &forced(refit).with(|it| it.panel_size = Some(9)), &()).unwrap();
        let reading = SizeLimits::default().with(|it| it.panel_size = Some(4));
        let read = sized.at(reading, Some(&data)).unwrap();
        let fitted = fit(&data, &forced(refit).with(|it| it.panel_size = Some(4)), &()).unwrap();
        assert_eq!((read.projection(), read.panel()), (fitted.projection(), fitted.panel()));
    }
    // The paths may be left out: what is always in is still known.
    let bare = fit(&data, &forced(Refit::Panel), &()).unwrap().without_paths();
    assert_eq!(bare.always(), [20, 25]);
    assert_eq!(bare.doubts(), Vec::<String>::new());
}

#[test]
fn searches_selections_and_methods_honour_them() {
    let data = named();
    let base = forced(Refit::Discriminant);
    let grid = Grid::of(&base).with(|it| it.sizes = vec![ModelSize::of_panel(2), ModelSize::per_path(3)]);
    let folds = menet::evaluate::stratified_folds(&data, 3, &mut common::rng(5)).unwrap();
    let trials =
        search(&data, &base, &grid, &folds, (ScoreKind::Rate, TrialChoice::Best), &(), &|_, _| ()).unwrap();
    assert_eq!(trials.len(), 2);
    for trial in &trials {
        for panel in &trial.panels {
            assert!(panel.contains(&20) && panel.contains(&25) && panel.iter().all(|j| *j > 2), "{panel:?}");
        }
    }
    assert!(trials[0].panels.iter().all(|panel| panel.len() == 4), "{:?}", trials[0].panels);
    let order = entry_order(&data, &base, 6, &()).unwrap();
    assert_eq!(order.len(), 6);
    assert!(order.iter().all(|j| ![0, 1, 2, 20, 25].contains(j)), "{order:?}");
    let how = StabilityParams::default().with(|it| (it.pairs, it.most) = (4, 5));
    let found = select(&data, &base, &how, &(), &|_, _| ()).unwrap();
    assert!(found.stability.orders().iter().flatten().all(|j| ![0, 1, 2, 20, 25].contains(j)));
    let men = fit_on(&data, &[4, 7], &base, &()).unwrap();
    assert_eq!((men.panel(), men.always()), (vec![4, 7, 20, 25], vec![20, 25]));
    assert!(fit_on(&data, &[1, 4], &base, &()).unwrap_err().to_string().contains("finite penalty factor"));
    for method in Method::all() {
        let Some(params) = method.men() else { continue };
        let params = params.clone().with(|it| {
            it.penalty.always.clone_from(&base.penalty.always);
            it.penalty.never.clone_from(&base.penalty.never);
        });
        let changed = method.clone().with_men(params);
        let found = changed.reducer().fit(&data, None, &()).unwrap();
        let men = found.men().unwrap();
        assert_eq!((men.always(), men.never()), (vec![20, 25], vec![0, 1, 2]), "{}", method.name());
    }
}

#[test]
fn steps_made_apart_honour_them() {
    let data = named();
    let params = forced(Refit::Axis).with(|it| it.nonzeros = Some(4));
    let neighborhood = Neighborhood::new(&data, &params, &()).unwrap();
    let prepared = Prepared::new(&data, &params, &neighborhood, &()).unwrap();
    let solved = prepared.solve(&params, &()).unwrap();
    let men = Men::assemble(&solved, &params, &()).unwrap();
    assert_eq!(men.projection(), fit(&data, &params, &()).unwrap().projection());
    assert_eq!(prepared.problem().factors(&params).unwrap()[20], 0.0);
}

#[test]
fn names_that_cannot_be_honoured_are_refused_before_any_work() {
    let data = named();
    for (change, expected) in [
        (
            (|it| it.penalty.always = refs(&["gene20"])) as fn(&mut MenParams),
            "`penalty.always` is \"gene20\", but must be the name of a variable: near matches are \"gene 20\"",
        ),
        (|it| it.penalty.never = refs(&[P]), "`penalty.never` is 30, but must be a position from 0 to 29"),
        (
            |it| (it.penalty.always, it.penalty.never) = (refs(&["gene 3"]), refs(&[3])),
            "`penalty.never` is a list with \"gene 3\", which `penalty.always` has as well",
        ),
        (
            |it| {
                it.penalty.always = refs(&[3]);
                it.penalty.factors = Some(vec![f64::INFINITY; P]);
            },
            "`penalty.always` is a list with \"gene 3\", whose factor in `penalty.factors` is inf",
        ),
        (
            |it| {
                it.penalty.never = refs(&[3]);
                it.penalty.factors = Some(vec![0.0; P]);
            },
            "`penalty.never` is a list with \"gene 3\", whose factor in `penalty.factors` is 0",
        ),
    ] {
        let found = message(&data, change);
        assert!(found.contains(expected), "{found}");
    }
    let unknown = MenParams::default().with(|it| it.penalty.always = refs(&["sex"]));
    assert!(Neighborhood::new(&data, &unknown, &()).is_err());
    assert!(unknown.check_names(&data).is_err());
    // Without names text is a number from 1.
    let plain = Dataset::new(data.x().unwrap(), data.class_indices()).unwrap();
    let numbered = MenParams::default().with(|it| it.penalty.always = refs(&["21"]));
    assert_eq!(fit(&plain, &numbered, &()).unwrap().always(), [20]);
    assert!(message(&plain, |it| it.penalty.always = refs(&["age"])).contains("a number from 1 to 30"));
}

/// A variable that is constant cannot be used: it is left out, and told. In a fold or a half-sample that may happen to any rare one.
#[test]
fn a_constant_variable_is_left_out_and_told() {
    let data = named();
    let x = data.x().unwrap();
    let x = Mat::from_fn(48, P, |i, j| if j == 20 { 4.0 } else { x[(i, j)] });
    let names = data.feature_names().unwrap().to_vec();
    let data = Dataset::from_owned(x, data.class_indices()).unwrap().with_feature_names(names).unwrap();
    for &refit in Refit::ALL {
        let men = fit(&data, &forced(refit), &()).unwrap();
        assert_eq!(men.always(), [25]);
        let doubts = men.doubts();
        assert!(
            doubts.iter().any(|doubt| doubt.contains("always in") && doubt.ends_with("gene 20")),
            "{doubts:?}"
        );
    }
}

/// With everything always in there is no path, but a model.
#[test]
fn all_variables_may_be_always_in() {
    let data = named();
    let all: Vec<usize> = (0..P).collect();
    for &refit in Refit::ALL {
        let params = MenParams::default().with(|it| {
            it.penalty.always = refs(&all);
            it.refit.kind = Some(refit);
        });
        assert_eq!(fit(&data, &params, &()).unwrap().panel(), all, "{refit:?}");
    }
}

/// A variable that is exactly balanced between the classes has weight 0. It is in every model all the same, and breaks none.
#[test]
fn a_variable_that_is_always_in_may_have_weight_zero() {
    let data = named();
    let x = data.x().unwrap();
    // Its mean is the same in every class, and so is its product with any other variable: those are constant within pairs.
    let x = Mat::from_fn(48, 8, |i, j| match j {
        7 => {
            if i / 3 % 2 == 0 {
                1.0
            } else {
                -1.0
            }
        }
        _ => x[(i / 6 * 3 + i % 3, j)],
    });
    let data = Dataset::from_owned(x, data.class_indices()).unwrap();
    for &refit in Refit::ALL {
        let params = MenParams::default().with(|it| {
            (it.refit.kind, it.panel_size) = (Some(refit), Some(3));
            it.penalty.always = refs(&[6, 7]);
            it.manifold.alpha = 0.0;
        });
        let men = fit(&data, &params, &()).unwrap();
        assert_eq!(men.always(), [6, 7], "{refit:?}");
        assert!((1..=3).contains(&men.selected().len()), "{refit:?}");
        assert_eq!(men.doubts(), Vec::<String>::new());
    }
}
