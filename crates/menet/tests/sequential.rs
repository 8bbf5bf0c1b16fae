//! faer may run in parallel by itself, where some crate asks for its feature `rayon`; its sums then depend on the number of
//! threads. Everything here tells it not to: nothing looks at its global setting, which would panic now.

use faer::Mat;
use menet::neighbors::NeighborSearch;
use menet::operator::Definiteness;
use menet::plan::RouteRequest;
use menet::{Dataset, MenParams, Method, fit};

#[test]
fn nothing_asks_for_the_global_parallelism_of_faer() {
    faer::disable_global_parallelism();
    let data = |n: usize, p: usize| {
        let x = Mat::from_fn(n, p, |i, j| ((i * 7919 + j * 104_729 + i * j * 31 + i * i) % 1009) as f64);
        Dataset::from_owned(x, &(0..n).map(|i| i % 3).collect::<Vec<_>>()).unwrap()
    };
    let small = data(60, 40);
    for patch in menet::patches::REGISTRY {
        let params = MenParams::paper().with(|it| {
            it.patch.kind = patch.name().to_owned();
            it.nonzeros = Some(5);
        });
        fit(&small, &params, &()).unwrap();
    }
    for definiteness in [Definiteness::Shrink, Definiteness::Floor] {
        fit(
            &small,
            &MenParams::paper().with(|it| {
                it.manifold.definiteness = definiteness;
                it.pca_rank = Some(10);
            }),
            &(),
        )
        .unwrap();
    }
    fit(&small, &MenParams::paper().with(|it| it.compute.route = RouteRequest::Conjugate), &()).unwrap();
    for method in Method::all() {
        method.reducer().fit(&small, Some(2), &()).unwrap();
    }
    // The whitened target by pairs of samples, and weights whose A is raised to the floor.
    fit(&data(40, 200), &MenParams::default(), &()).unwrap();
    let weighted =
        data(60, 40).with_weights(&(0..60).map(|i| 0.5 + (i % 3) as f64).collect::<Vec<_>>()).unwrap();
    let floor = MenParams::default().with(|it| it.manifold.definiteness = Definiteness::Floor);
    fit(&weighted, &floor, &()).unwrap();
    let neighbors = NeighborSearch::Approximate;
    fit(&data(12_000, 3), &MenParams::paper().with(|it| it.patch.search = neighbors), &()).unwrap();
}
