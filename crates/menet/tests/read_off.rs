//! What is read off a fit is what a fit of that size gives, to the last bit, for every penalty, refit and reading; or it is refused.

use faer::Mat;
use menet::penalties::PenaltyKind;
use menet::penalties::feature_graph::FeatureGraph;
use menet::penalties::groups::{GroupAxes, Groups};
use menet::plan::{GramRequest, RouteRequest};
use menet::prepare::{Impute, Scale};
use menet::refit::Refit;
use menet::rules::RuleKind;
use menet::{Dataset, Error, Men, MenParams, Named, SizeLimits, fit};

use crate::common::{normal, rng};

/// Four classes; every third variable tells one of them apart, variable 7 is a copy of variable 3, and values of variable 1 tie.
fn samples(n: usize, p: usize) -> (Mat<f64>, Vec<usize>) {
    let mut rng = rng(31);
    let labels: Vec<usize> = (0..n).map(|i| i % 4).collect();
    let mut x = Mat::from_fn(n, p, |i, j| {
        normal(&mut rng) + if j % 3 == 0 && j / 3 % 4 == labels[i] { 1.2 } else { 0.0 }
    });
    for i in 0..n {
        (x[(i, 7)], x[(i, 1)]) = (x[(i, 3)], x[(i, 1)].round());
    }
    (x, labels)
}

fn data(n: usize, p: usize) -> Dataset<'static> {
    let (x, labels) = samples(n, p);
    Dataset::from_owned(x, &labels).unwrap()
}

fn reading(nonzeros: Option<usize>, panel_size: Option<usize>, components: Option<usize>) -> SizeLimits {
    SizeLimits::default().with(|it| {
        (it.nonzeros, it.panel_size, it.components) = (nonzeros, panel_size, components);
    })
}

/// The parameters of the fit that a reading stands for.
fn of(params: &MenParams, reading: SizeLimits) -> MenParams {
    params.clone().with(|it| {
        it.nonzeros = reading.nonzeros.or(it.nonzeros);
        it.panel_size = reading.panel_size.or(it.panel_size);
        it.components = reading.components.or(it.components);
    })
}

fn same(read: &Men, direct: &Men, case: &str) {
    assert_eq!(read.projection(), direct.projection(), "{case}");
    assert_eq!((read.refit(), read.panel()), (direct.refit(), direct.panel()), "{case}");
    assert_eq!(read.rule().unwrap(), direct.rule().unwrap(), "{case}");
    assert_eq!(read.panel_table(), direct.panel_table(), "{case}");
    // For a panel, the paths of either may go on beyond what it needs.
    if read.nonzeros() == direct.nonzeros() || direct.params().panel_size.is_none() {
        assert_eq!((read.levels(), read.certificates()), (direct.levels(), direct.certificates()), "{case}");
        assert_eq!(read.paths(), direct.paths(), "{case}");
    }
}

/// Reads off a fit with `params`, and compares.
fn check(data: &Dataset<'_>, params: &MenParams, readings: &[SizeLimits]) {
    let large = match fit(data, params, &()) {
        Ok(large) => large,
        Err(Error::Tie { .. }) => return,
        Err(other) => panic!("{params:?}: {other}"),
    };
    for &reading in readings {
        let case = format!("{params:?}\n{reading:?}");
        let direct = fit(data, &of(params, reading), &());
        let (read, direct) = match (large.at(reading, Some(data)), direct) {
            (Ok(read), Ok(direct)) => (read, direct),
            (Err(read), Err(direct)) => {
                assert_eq!(read, direct, "{case}");
                continue;
            }
            (read, direct) => panic!("{case}\n{:?}\n{:?}", read.err(), direct.err()),
        };
        same(&read, &direct, &case);
        // What the paths reach is enough, or it is refused.
        let reached = large.preparation().map_or_else(|| Ok(data.clone()), |known| known.prepare(data));
        match large.at_reached(reading, &reached.unwrap()) {
            Ok(read) => same(&read, &direct, &case),
            Err(error) => assert!(error.to_string().contains("fit again"), "{case}\n{error}"),
        }
        match large.at(reading, None) {
            Ok(read) => {
                assert_eq!(read.projection(), direct.projection(), "{case}");
                assert_eq!((read.refit(), read.panel()), (direct.refit(), direct.panel()), "{case}");
                assert!(read.rule().is_err() || read.rule() == direct.rule(), "{case}");
            }
            Err(error) => assert!(error.to_string().contains("training samples"), "{case}\n{error}"),
        }
    }
}

fn combinations() -> impl Iterator<Item = MenParams> {
    let penalties =
        PenaltyKind::ALL.iter().flat_map(|&penalty| Refit::ALL.iter().map(move |&refit| (penalty, refit)));
    penalties.map(|(penalty, refit)| {
        MenParams::default().with(|it| (it.penalty.kind, it.refit.kind) = (penalty, Some(refit)))
    })
}

#[test]
fn every_penalty_refit_and_reading() {
    let data = data(44, 30);
    let per_path =
        [(Some(4), None, None), (Some(1), None, Some(2)), (None, None, Some(1)), (None, None, Some(2))];
    let of_panels = [
        (None, Some(6), None),
        (None, Some(2), None),
        (None, Some(1), None),
        (None, Some(5), Some(1)),
        (Some(3), Some(6), Some(2)),
    ];
    let readings: Vec<SizeLimits> =
        per_path.iter().chain(&of_panels).map(|&(k, size, d)| reading(k, size, d)).collect();
    for params in combinations() {
        for (nonzeros, panel_size) in [(Some(12), None), (None, None), (None, Some(12)), (Some(5), Some(12))]
        {
            check(
                &data,
                &params.clone().with(|it| (it.nonzeros, it.panel_size) = (nonzeros, panel_size)),
                &readings,
            );
        }
    }
}

/// What else a fit may have: rules, weights, variables that are always or never in, a graph, preparation, and other ways to the Gram matrix.
#[test]
fn whatever_else_a_fit_has() {
    let (x, labels) = samples(44, 30);
    let plain = Dataset::from_owned(x.clone(), &labels).unwrap();
    let weights: Vec<f64> = (0..44).map(|i| [1.0, 0.5, 3.0, 0.0, 2.0][i % 5]).collect();
    let weighted = plain.clone().with_weights(&weights).unwrap();
    let holes = Mat::from_fn(44, 30, |i, j| if (i * 7 + j * 5) % 13 == 0 { f64::NAN } else { x[(i, j)] });
    let holes = Dataset::with_missing(holes.as_ref(), &labels).unwrap();
    type Change = fn(&mut MenParams);
    let changes: [(&Dataset<'_>, Change); 8] = [
        (&plain, |it| it.rule.kind = Some(RuleKind::Gaussian)),
        (&plain, |it| it.rule.kind = Some(RuleKind::Centroid)),
        (&weighted, |_| ()),
        (&plain, |it| {
            (it.penalty.always, it.penalty.never) = (Some(vec![2.into(), 20.into()]), Some(vec![0.into()]));
        }),
        (&plain, |it| it.penalty.feature_graph = Some(FeatureGraph::Chain)),
        (&holes, |it| (it.prepare.impute, it.prepare.scale) = (Some(Impute::Median), Scale::Unit)),
        (&plain, |it| (it.compute.route, it.compute.gram) = (RouteRequest::Conjugate, GramRequest::Columns)),
        (&plain, |it| {
            let paper = MenParams::paper();
            (it.ridge, it.refit, it.rule) = (paper.ridge, paper.refit, paper.rule);
            it.penalty.standardize = false;
        }),
    ];
    let readings = [(Some(3), None, Some(2)), (None, Some(5), None), (None, None, Some(1))];
    let readings = readings.map(|(k, size, d)| reading(k, size, d));
    for params in combinations() {
        for (data, change) in changes {
            for (nonzeros, panel_size) in [(Some(8), None), (None, Some(9))] {
                let params = params.clone().with(|it| (it.nonzeros, it.panel_size) = (nonzeros, panel_size));
                check(data, &params.with(change), &readings);
            }
        }
    }
}

/// Groups are solved for one size, and where all axes choose together for one number of axes.
#[test]
fn groups_of_variables() {
    let data = data(44, 30);
    let groups = Groups::from_pairs((0..30).map(|j| (j, format!("window {}", j / 3))));
    let readings = [(Some(2), None, None), (None, None, Some(1)), (Some(4), None, Some(2))];
    let readings = readings.map(|(k, size, d)| reading(k, size, d));
    for &refit in Refit::ALL {
        for (groups, axes) in [
            (Some(&groups), GroupAxes::Each),
            (Some(&groups), GroupAxes::Together),
            (None, GroupAxes::Together),
        ] {
            let params = MenParams::default().with(|it| {
                (it.refit.kind, it.nonzeros) = (Some(refit), Some(4));
                (it.penalty.feature_groups, it.penalty.group_axes) = (groups.cloned(), axes);
            });
            check(&data, &params, &readings);
        }
    }
}

/// A panel of 80 on three axes needs paths of 35 variables each; on one axis it needs one of 80.
#[test]
fn fewer_axes_need_longer_paths() {
    let data = data(60, 200);
    for &penalty in PenaltyKind::ALL {
        for refit in [Refit::None, Refit::Axis] {
            let params = MenParams::default().with(|it| {
                (it.penalty.kind, it.refit.kind, it.panel_size) = (penalty, Some(refit), Some(40));
            });
            check(&data, &params, &[reading(None, None, Some(1)), reading(None, Some(30), Some(2))]);
        }
    }
    let params =
        MenParams::default().with(|it| (it.refit.kind, it.panel_size) = (Some(Refit::None), Some(80)));
    let large = fit(&data, &params, &()).unwrap();
    let one = reading(None, None, Some(1));
    let refused = large.at(one, None).unwrap_err().to_string();
    assert!(refused.contains("`components` is 1") && refused.contains("fit again"), "{refused}");
    assert_eq!(large.at(one, Some(&data)).unwrap().panel().len(), 80);
}

/// One metric is refused on one axis, whichever way one gets there.
#[test]
fn what_a_fit_refuses_is_refused() {
    let data = data(44, 30);
    let params = MenParams::default().with(|it| it.rule.metric = Some(menet::rules::Metric::Cosine));
    check(&data, &params, &[reading(None, None, Some(1)), reading(Some(3), None, Some(1))]);
}

/// Only the end of a path of rounds is an answer.
#[test]
fn a_path_that_was_made_for_one_size_gives_its_end_alone() {
    let data = data(44, 30);
    for &penalty in PenaltyKind::ALL {
        let params = MenParams::paper().with(|it| (it.penalty.kind, it.nonzeros) = (penalty, Some(6)));
        for path in fit(&data, &params, &()).unwrap().paths() {
            let (first, end) = (&path.knots()[0], path.last());
            assert_eq!(path.at_lambda(end.level).unwrap().coefficients, end.coefficients);
            assert_eq!(path.at_nonzeros(6).unwrap().coefficients, end.coefficients);
            let between = path.at_lambda((first.level + end.level) / 2.0);
            assert_eq!(between.is_ok(), penalty.reads_off(), "{penalty:?}");
            if let Err(error) = between {
                assert!(error.to_string().contains("only its end is an answer"), "{error}");
            }
        }
    }
}
