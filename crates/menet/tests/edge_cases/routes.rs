//! Samples that a patch ties to no other, on every route and with every patch.

use faer::Mat;
use menet::operator::Definiteness;
use menet::plan::{GramRequest, RouteRequest};
use menet::{Dataset, MenParams, Named, fit, patches};

use super::{fitted, rows};
use crate::common::{clusters, gaussian, relative_difference, rng};

/// Data sets in which some samples have no neighbour that counts, and data of fewer variables than neighbours.
fn lonely() -> Vec<(&'static str, Dataset<'static>)> {
    let base = clusters(1, 3, 6, 8);
    let labelled = |x: Mat<f64>, labels: &[usize]| Dataset::from_owned(x, labels).unwrap();
    let one = labelled(rows(&base, &[0, 1, 2, 3, 4, 6, 7]), &[0, 1, 2, 0, 1, 0, 1]);
    // A class whose samples are all the same is one distinct sample.
    let copies = labelled(rows(&base, &[0, 1, 2, 3, 4, 6, 7, 2, 2]), &[0, 1, 2, 0, 1, 0, 1, 2, 2]);
    let all = labelled(rows(&clusters(2, 5, 1, 6), &[0, 1, 2, 3, 4]), &[0, 1, 2, 3, 4]);
    let few = clusters(3, 3, 40, 3);
    let line = labelled(
        Mat::from_fn(150, 1, |i, _| (i * i % 97) as f64 + (i % 3) as f64),
        &(0..150).map(|i| i % 3).collect::<Vec<_>>(),
    );
    vec![("one", one), ("copies", copies), ("all", all), ("few variables", few), ("one variable", line)]
}

/// Whatever the patch, its κ and its neighbours: conjugate gradients and dense matrices give one answer.
#[test]
fn samples_without_neighbours_are_fitted_on_every_route() {
    for (name, data) in lonely() {
        for patch in patches::REGISTRY {
            for (kappa, k_between) in [(0.0, 5), (0.1, 0), (0.1, 5)] {
                let params = MenParams::paper().with(|it| {
                    it.patch.kind = patch.name().to_owned();
                    (it.manifold.kappa, it.patch.k_between, it.nonzeros) = (kappa, k_between, Some(5));
                });
                let [dense, conjugate] = [RouteRequest::Dense, RouteRequest::Conjugate].map(|route| {
                    let params = params.clone().with(|it| it.compute.route = route);
                    fit(&data, &params, &())
                        .unwrap_or_else(|e| panic!("{name} {} {kappa} {k_between}: {e}", patch.name()))
                });
                let apart =
                    relative_difference(&dense.projection().to_dense(), &conjugate.projection().to_dense());
                assert!(apart < 1e-7, "{name} {} {kappa} {k_between}: {apart:e}", patch.name());
                assert!(conjugate.report().cg_residual.is_none_or(|left| left <= 1e-11));
            }
        }
    }
}

/// The smallest eigenvalue is for the report alone where nothing pushes samples apart. It is a lower bound, however slow the iteration is.
#[test]
fn fewer_variables_than_neighbours() {
    for (n, p, k) in [(90, 1, 5), (200, 2, 5), (200, 6, 10)] {
        let x = gaussian(&mut rng(n as u64), n, p);
        let data = Dataset::from_owned(x, &(0..n).map(|i| i % 2).collect::<Vec<_>>()).unwrap();
        for patch in ["lle", "lle-unsupervised", "ltsa", "ltsa-unsupervised"] {
            for &policy in Definiteness::ALL {
                for alpha in [0.0, 1.0, 1e6] {
                    let params = MenParams::paper().with(|it| {
                        it.patch.kind = patch.to_owned();
                        (it.patch.k_within, it.manifold.definiteness, it.manifold.alpha, it.nonzeros) =
                            (k, policy, alpha, None);
                        it.compute.gram = GramRequest::Auto;
                    });
                    let men = fitted(&data, &params);
                    let lowest = men.report().definiteness.lambda_min;
                    assert!((-1e-5..=1e-9).contains(&lowest), "{patch} n {n} p {p} k {k}: {lowest:e}");
                }
            }
        }
    }
}
