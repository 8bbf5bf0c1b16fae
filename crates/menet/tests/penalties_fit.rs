//! Penalties inside fits: limits, smaller models, routes and files of parameters.

use menet::params::default_nonzeros;
use menet::penalties::PenaltyKind;
use menet::refit::Refit;
use menet::{Dataset, MenParams, Named, SizeLimits, fit};

use crate::common;
use crate::common::{normal, rng};

const ALL: &[PenaltyKind] = PenaltyKind::ALL;

/// Three classes of 40 variables, nine of which tell them apart.
fn data(seed: u64, n: usize) -> Dataset<'static> {
    let mut rng = rng(seed);
    let labels: Vec<usize> = (0..n).map(|i| i % 3).collect();
    let x = faer::Mat::from_fn(n, 40, |i, j| {
        normal(&mut rng) + if j % 4 == 0 && j < 36 && (j / 4) % 3 == labels[i] { 1.5 } else { 0.0 }
    });
    Dataset::from_owned(x, &labels).unwrap()
}

fn with(penalty: PenaltyKind, refit: Refit) -> MenParams {
    MenParams::default().with(|it| (it.penalty.kind, it.refit.kind) = (penalty, Some(refit)))
}

/// The limits hold for every penalty and refit, and a smaller model is the fit of that size, to the last bit.
#[test]
fn limits_hold_and_smaller_models_are_fits_of_their_size() {
    let data = data(1, 60);
    for &penalty in ALL {
        for &refit in Refit::ALL {
            let params = with(penalty, refit);
            let large = fit(&data, &params.clone().with(|it| it.nonzeros = Some(12)), &()).unwrap();
            assert!(
                large.paths().iter().all(|path| path.selected(&path.last().coefficients) <= 12),
                "{penalty:?}"
            );
            assert!(large.certificates().iter().all(|certificate| certificate.kkt < 1e-9), "{penalty:?}");
            for k in [1, 5, 12] {
                let own = fit(&data, &params.clone().with(|it| it.nonzeros = Some(k)), &()).unwrap();
                let read =
                    large.at(SizeLimits::default().with(|it| it.nonzeros = Some(k)), Some(&data)).unwrap();
                assert_eq!(own.projection(), read.projection(), "{penalty:?} {refit:?} at {k}");
                assert_eq!(own.paths(), read.paths(), "{penalty:?} {refit:?} at {k}");
            }
            for size in [1, 2, 4, 9] {
                let params = params.clone().with(|it| it.panel_size = Some(size));
                let own = fit(&data, &params, &()).unwrap();
                assert!((1..=size).contains(&own.panel().len()), "{penalty:?} {refit:?}: {:?}", own.panel());
                let read = large.at(SizeLimits::default().with(|it| it.panel_size = Some(size)), Some(&data));
                // Paths to 12 variables may be too short for ℓ1 to take its candidates from.
                if penalty != PenaltyKind::L1 {
                    assert!((1..=size).contains(&read.unwrap().panel().len()), "{penalty:?} {refit:?}");
                }
            }
        }
    }
}

#[test]
fn without_the_training_samples_rounds_cannot_be_made_again() {
    let data = data(2, 45);
    for &penalty in ALL {
        let params = with(penalty, Refit::None).with(|it| it.nonzeros = Some(10));
        let men = fit(&data, &params, &()).unwrap();
        let read = men.at(SizeLimits::default().with(|it| it.nonzeros = Some(4)), None);
        assert_eq!(read.is_ok(), penalty.reads_off(), "{penalty:?}");
        if let Err(error) = read {
            assert!(error.to_string().contains("training samples"), "{error}");
        }
        // Fewer axes can always be read.
        assert!(men.at(SizeLimits::default().with(|it| it.components = Some(1)), None).is_ok());
    }
}

/// Dense samples, sparse samples and columns of the Gram matrix on demand: one answer.
#[test]
fn all_routes_give_one_answer() {
    use menet::plan::{GramRequest, RouteRequest};
    let data = data(3, 60);
    for &penalty in ALL {
        let params = with(penalty, Refit::None).with(|it| it.nonzeros = Some(8));
        let whole = fit(&data, &params, &()).unwrap();
        for (route, gram) in
            [(RouteRequest::Conjugate, GramRequest::Columns), (RouteRequest::Dense, GramRequest::Columns)]
        {
            let other = fit(
                &data,
                &params.clone().with(|it| (it.compute.route, it.compute.gram) = (route, gram)),
                &(),
            )
            .unwrap();
            for (a, b) in whole.projection().axes().iter().zip(other.projection().axes()) {
                assert_eq!(a.indices(), b.indices(), "{penalty:?}");
                let largest = a.values().iter().fold(0.0f64, |most, w| most.max(w.abs()));
                assert!(
                    a.values().iter().zip(b.values()).all(|(a, b)| (a - b).abs() < 1e-7 * largest),
                    "{penalty:?}"
                );
            }
        }
    }
}

/// The first path of `adaptive` has the default length, so its weights do not depend on the number asked for, be it larger or smaller.
#[test]
fn adaptive_weights_do_not_depend_on_the_size() {
    let data = common::clusters(5, 3, 8, 150);
    let run = |k: usize| {
        fit(&data, &with(PenaltyKind::Adaptive, Refit::None).with(|it| it.nonzeros = Some(k)), &()).unwrap()
    };
    let (small, large) = (run(3), run(70));
    assert!((3..70).contains(&default_nonzeros(24)));
    assert!(large.paths().iter().all(|path| path.last().coefficients.nonzeros() > default_nonzeros(24)));
    for (small, large) in small.paths().iter().zip(large.paths()) {
        assert_eq!(*small, large.truncated(3).unwrap());
    }
}

#[test]
fn shapes_and_epsilons_are_used_and_checked() {
    let data = data(6, 60);
    let run = |penalty, shape, epsilon| {
        let params = with(penalty, Refit::None).with(|it| {
            it.nonzeros = Some(8);
            (it.penalty.gamma, it.penalty.epsilon) = (shape, epsilon);
        });
        fit(&data, &params, &()).map(|men| men.projection().clone())
    };
    for (penalty, shape, epsilon) in [
        (PenaltyKind::Scad, Some(2.2), None),
        (PenaltyKind::Mcp, Some(1.3), None),
        (PenaltyKind::Adaptive, Some(3.0), None),
        (PenaltyKind::Adaptive, None, Some(1.0)),
        (PenaltyKind::Reweighted, None, Some(2.0)),
    ] {
        assert_ne!(run(penalty, shape, epsilon).unwrap(), run(penalty, None, None).unwrap(), "{penalty:?}");
    }
    for (penalty, shape, epsilon) in [
        (PenaltyKind::L1, Some(3.0), None),
        (PenaltyKind::L0, None, Some(3.0)),
        (PenaltyKind::Scad, Some(2.0), None),
        (PenaltyKind::Reweighted, Some(1.0), None),
    ] {
        let refusal = run(penalty, shape, epsilon).unwrap_err().to_string();
        assert!(refusal.contains("`penalty.") && refusal.contains(penalty.name()), "{refusal}");
    }
}

/// Duplicates, constant columns, two samples per class, p ≫ n and extreme scales: a model, or one clear error.
#[test]
fn awkward_data_are_fitted_or_refused() {
    let mut rng = rng(7);
    let labels: Vec<usize> = (0..8).map(|i| i % 4).collect();
    for scale in [1.0, 1e-30, 1e30] {
        let mut x = common::gaussian(&mut rng, 8, 120);
        for i in 0..8 {
            x[(i, 3)] = 5.0;
            x[(i, 7)] = x[(i, 6)];
            x[(i, 9)] = -x[(i, 6)];
        }
        x *= faer::Scale(scale);
        let data = Dataset::from_owned(x, &labels).unwrap();
        for &penalty in ALL {
            let men = fit(&data, &with(penalty, Refit::Axis).with(|it| it.nonzeros = Some(6)), &()).unwrap();
            assert!(men.projection().axes().iter().flat_map(|axis| axis.values()).all(|w| w.is_finite()));
            assert!(men.panel().iter().all(|&j| j != 3), "{penalty:?}");
        }
    }
}
