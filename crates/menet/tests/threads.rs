//! The same bits on 1, 2 and 4 threads.

use crate::common;
use faer::Mat;
use menet::neighbors::NeighborSearch;
use menet::operator::Definiteness;
use menet::plan::{GramRequest, RouteRequest};
use menet::{Dataset, Men, MenParams, SizeLimits, fit};

fn on(threads: usize, data: &Dataset<'_>, params: &MenParams) -> Men {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| fit(data, params, &()).unwrap())
}

#[test]
fn same_bits_on_any_number_of_threads() {
    let labels: Vec<usize> = (0..150).map(|i| i / 5).collect();
    let data = Dataset::from_owned(common::drawn::faces(1, 30, 5, 20), &labels).unwrap();
    let base = MenParams::paper().with(|it| {
        it.nonzeros = Some(60);
        it.components = Some(12);
    });
    let variants = [
        base.clone().with(|it| {
            it.compute.route = RouteRequest::Dense;
            it.compute.gram = GramRequest::Full;
        }),
        base.clone().with(|it| {
            it.compute.route = RouteRequest::Dense;
            it.compute.gram = GramRequest::Columns;
        }),
        base.clone().with(|it| {
            it.compute.route = RouteRequest::Conjugate;
            it.compute.gram = GramRequest::Full;
        }),
        base.clone().with(|it| {
            it.compute.route = RouteRequest::Conjugate;
            it.compute.gram = GramRequest::Columns;
        }),
        base.clone().with(|it| it.manifold.definiteness = Definiteness::Floor),
        base.clone().with(|it| {
            it.patch.kind = "ltsa".to_owned();
            it.pca_rank = Some(40);
        }),
        base.with(|it| it.patch.kind = "lle".to_owned()),
    ];
    for params in variants {
        let one = on(1, &data, &params);
        let projected = one.transform(data.x().unwrap()).unwrap();
        for threads in [2, 4] {
            let many = on(threads, &data, &params);
            assert_eq!(one.projection(), many.projection(), "{threads} threads, {params:?}");
            assert_eq!(one.paths(), many.paths());
            assert_eq!(one.report().definiteness, many.report().definiteness);
            assert_eq!(
                (one.report().regime.as_ref(), one.report().cg_residual),
                (many.report().regime.as_ref(), many.report().cg_residual)
            );
            assert_eq!(bits(&projected), bits(&many.transform(data.x().unwrap()).unwrap()));
        }
    }
}

#[test]
fn same_bits_of_approximate_neighbours() {
    let x = Mat::from_fn(12_000, 3, |i, j| {
        ((i * 7919 + j * 104_729 + i * j * 31 + i * i) % 1009) as f64 + 1e-5 * i as f64
    });
    let labels: Vec<usize> = (0..12_000).map(|i| i % 2).collect();
    let data = Dataset::from_owned(x, &labels).unwrap();
    let params = MenParams::paper().with(|it| it.patch.search = NeighborSearch::Approximate);
    let (one, two) = (on(1, &data, &params), on(2, &data, &params));
    assert_eq!(
        (one.projection(), one.report().neighbor_recall),
        (two.projection(), two.report().neighbor_recall)
    );
    let recall = one.report().neighbor_recall.unwrap();
    assert!((0.9..1.0).contains(&recall), "{recall}");
    assert_eq!(
        one.at(
            SizeLimits::default().with(|it| {
                it.nonzeros = Some(2);
                it.components = None;
            }),
            None
        )
        .unwrap()
        .report()
        .neighbor_recall,
        Some(recall)
    );
    assert_eq!(on(2, &data, &MenParams::paper()).report().neighbor_recall, None);
}

fn bits(a: &Mat<f64>) -> Vec<u64> {
    a.col_iter().flat_map(|column| column.iter().map(|x| x.to_bits()).collect::<Vec<_>>()).collect()
}
