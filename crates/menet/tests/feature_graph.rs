//! A graph over the variables: the path of `G + λ3 Ω` is exact by every route, and whatever comes after a path goes on as before.

use crate::common;
use faer::Mat;
use menet::lars::{LarsOptions, lars_paths};
use menet::penalties::feature_graph::{Edge, EdgeList, FeatureGraph};
use menet::plan::{GramRequest, RouteRequest};
use menet::refit::Refit;
use menet::scores::ScoreKind;
use menet::select::{Grid, ModelSize, TrialChoice, search};
use menet::sparse::SparseMatrix;
use menet::stability::entry_order;
use menet::{Dataset, Men, MenParams, Method, Named, Neighborhood, Prepared, SizeLimits, fit};

const SIDE: usize = 8;
const P: usize = SIDE * SIDE;

/// Noisy images of three classes, each brighter in a square of its own. The scales of the pixels differ, and one is constant.
fn images(scale: f64) -> (Mat<f64>, Vec<usize>) {
    let rng = &mut common::rng(7);
    let labels: Vec<usize> = (0..60).map(|i| i % 3).collect();
    let x = Mat::from_fn(60, P, |i, j| {
        let (row, column) = (j / SIDE, j % SIDE);
        let corner = [(0, 0), (4, 4), (0, 5)][labels[i]];
        let inside = (corner.0..corner.0 + 3).contains(&row) && (corner.1..corner.1 + 3).contains(&column);
        let value = f64::from(u8::from(inside)) * 0.8 + common::normal(rng);
        if j == 9 { 3.0 } else { scale * (1.0 + (j % 5) as f64) * value }
    });
    (x, labels)
}

fn data(scale: f64) -> Dataset<'static> {
    let (x, labels) = images(scale);
    Dataset::from_owned(x, &labels).unwrap().with_image_shape(SIDE, SIDE).unwrap()
}

fn params(graph: FeatureGraph, weight: f64) -> MenParams {
    MenParams::default().with(|it| {
        (it.penalty.feature_graph, it.penalty.graph_weight) = (Some(graph), Some(weight));
        it.nonzeros = Some(10);
    })
}

fn grid(weight: f64) -> MenParams {
    params(FeatureGraph::Grid(None), weight)
}

/// Edges of the chain or the grid as a list.
fn edges(graph: &FeatureGraph) -> FeatureGraph {
    let found = graph.edges(None, Some((SIDE, SIDE)), P).unwrap();
    // Backwards, to show that neither order nor direction matters.
    let list =
        found.iter().rev().map(|&(i, j, weight)| Edge { ends: (j.into(), i.into()), weight: 2.0 * weight });
    FeatureGraph::Edges(EdgeList::new("edges.csv", list.collect()))
}

/// Ω by its definition, in the user's units.
fn roughness(axis: &menet::sparse::SparseVector) -> f64 {
    let found = FeatureGraph::Grid(None).edges(None, Some((SIDE, SIDE)), P).unwrap();
    found.iter().map(|&(i, j, a)| a * (axis.get(i) - axis.get(j)).powi(2)).sum()
}

#[test]
fn the_path_is_that_of_the_sum_written_out() {
    let data = data(1.0);
    for standardize in [true, false] {
        let with = grid(2.0).with(|it| it.penalty.standardize = standardize);
        let without =
            with.clone().with(|it| (it.penalty.feature_graph, it.penalty.graph_weight) = (None, None));
        let neighborhood = Neighborhood::new(&data, &without, &()).unwrap();
        let prepared = Prepared::new(&data, &without, &neighborhood, &()).unwrap();
        let (gram, norms) = (prepared.problem().gram(), prepared.problem().norms());
        let all: Vec<usize> = (0..P).collect();
        let mut sum = gram.submatrix(&all);
        // Ω from its quadratic form: e'Ωe and e'Ωf, entry by entry.
        let unit = |j: usize| {
            if norms[j] == 0.0 {
                0.0
            } else if standardize {
                1.0 / norms[j]
            } else {
                1.0
            }
        };
        let mut omega = Mat::<f64>::zeros(P, P);
        for (i, j, a) in FeatureGraph::Grid(None).edges(None, Some((SIDE, SIDE)), P).unwrap() {
            if norms[i] > 0.0 && norms[j] > 0.0 {
                for (r, c, sign) in [(i, i, 1.0), (j, j, 1.0), (i, j, -1.0), (j, i, -1.0)] {
                    omega[(r, c)] += sign * a * unit(r) * unit(c);
                }
            }
        }
        let mut diagonal: Vec<f64> = (0..P).map(|j| omega[(j, j)]).filter(|x| *x > 0.0).collect();
        diagonal.sort_by(f64::total_cmp);
        let median = diagonal[diagonal.len() / 2];
        sum += omega * faer::Scale(2.0 / median);
        let factors = (0..P).map(|j| if norms[j] > 0.0 { 1.0 } else { f64::INFINITY }).collect();
        let options = LarsOptions::default().with(|it| {
            (it.ridge, it.max_nonzeros, it.penalty_factors) = (with.ridge(), Some(10), Some(factors));
        });
        let expected = lars_paths(&sum, prepared.problem().b(), &options, &()).unwrap();
        let men = fit(&data, &with, &()).unwrap();
        for (path, expected) in men.paths().iter().zip(&expected) {
            assert!(path.certificate().kkt < 1e-10 && path.certificate().scaled < 1e-10);
            assert_eq!(path.order_of_entry(), expected.order_of_entry());
            for (a, b) in path.knots().iter().zip(expected.knots()) {
                assert!((a.level - b.level).abs() < 1e-9 * expected.knots()[0].level);
                let off = |j: usize| (a.coefficients.get(j) - b.coefficients.get(j)).abs();
                assert!((0..P).all(|j| off(j) < 1e-9), "{:?}", a.coefficients);
            }
        }
        let plain = fit(&data, &without, &()).unwrap();
        assert_ne!(plain.paths(), men.paths(), "the graph must matter");
    }
}

#[test]
fn every_route_gives_the_same() {
    let (x, labels) = images(1.0);
    let dense = data(1.0);
    let entries = |i: usize| (0..P).map(|j| x[(i, j)]).collect::<Vec<_>>();
    let (starts, columns): (Vec<usize>, Vec<usize>) =
        ((0..=60).map(|i| i * P).collect(), (0..60).flat_map(|_| 0..P).collect());
    let values: Vec<f64> = (0..60).flat_map(entries).collect();
    let sparse = SparseMatrix::from_rows((60, P), &starts, &columns, &values).unwrap();
    let sparse =
        Dataset::from_sparse_beyond(0, sparse, &labels).unwrap().with_image_shape(SIDE, SIDE).unwrap();
    let expected = fit(&dense, &grid(1.0), &()).unwrap();
    let same = |men: &Men, what: &str| {
        assert!(men.certificates().iter().all(|c| c.kkt < 1e-9 && c.scaled < 1e-9), "{what}");
        assert_eq!(men.panel(), expected.panel(), "{what}");
        for (a, b) in men.projection().axes().iter().zip(expected.projection().axes()) {
            assert!((0..P).all(|j| (a.get(j) - b.get(j)).abs() < 1e-6), "{what}");
        }
    };
    for (route, gram) in [
        (RouteRequest::Dense, GramRequest::Full),
        (RouteRequest::Dense, GramRequest::Columns),
        (RouteRequest::Conjugate, GramRequest::Full),
        (RouteRequest::Conjugate, GramRequest::Columns),
    ] {
        let asked = grid(1.0).with(|it| (it.compute.route, it.compute.gram) = (route, gram));
        same(&fit(&dense, &asked, &()).unwrap(), &format!("{route:?} {gram:?}"));
    }
    same(&fit(&sparse, &grid(1.0), &()).unwrap(), "sparse");
    same(&fit(&dense, &params(edges(&FeatureGraph::Auto), 1.0), &()).unwrap(), "a list of edges");
    same(&fit(&dense, &params(FeatureGraph::Grid(Some((SIDE, SIDE))), 1.0), &()).unwrap(), "a given shape");
}

#[test]
fn without_weight_it_changes_no_bit_and_with_more_axes_are_smoother() {
    let data = data(1.0);
    let plain = grid(0.0).with(|it| (it.penalty.feature_graph, it.penalty.graph_weight) = (None, None));
    let plain = plain.with(|it| it.refit.kind = Some(Refit::None));
    let without = fit(&data, &plain, &()).unwrap();
    let of =
        |weight: f64| fit(&data, &grid(weight).with(|it| it.refit.kind = Some(Refit::None)), &()).unwrap();
    assert_eq!(of(0.0).paths(), without.paths());
    // Roughness per length, of the whole solution without the ℓ1 penalty.
    let rough = |men: &Men| {
        let axes = men.projection().axes().iter();
        axes.map(|axis| roughness(axis) / axis.iter().map(|(_, w)| w * w).sum::<f64>()).sum::<f64>()
    };
    let all = |weight: f64| {
        let params = grid(weight).with(|it| (it.nonzeros, it.refit.kind) = (Some(P), Some(Refit::None)));
        fit(&data, &params, &()).unwrap()
    };
    let found = [0.0, 0.3, 3.0, 30.0].map(|weight| rough(&all(weight)));
    assert!(found.windows(2).all(|pair| pair[1] < pair[0]), "{found:?}");
}

#[test]
fn units_do_not_matter() {
    let (small, large) = (data(1.0), data(1000.0));
    let asked = grid(1.0).with(|it| it.refit.kind = Some(Refit::None));
    let (a, b) = (fit(&small, &asked, &()).unwrap(), fit(&large, &asked, &()).unwrap());
    assert_eq!(a.panel(), b.panel());
    for (a, b) in a.projection().axes().iter().zip(b.projection().axes()) {
        assert!((0..P).all(|j| (a.get(j) - 1000.0 * b.get(j)).abs() < 1e-9 * a.get(j).abs().max(1e-3)));
    }
}

#[test]
fn refits_keep_the_graph_and_smaller_models_are_those_of_fits() {
    let data = data(1.0);
    for &refit in Refit::ALL {
        let asked = grid(3.0).with(|it| it.refit.kind = Some(refit));
        let whole = fit(&data, &asked, &()).unwrap();
        let fitted = fit(&data, &asked.clone().with(|it| it.nonzeros = Some(4)), &()).unwrap();
        let read = whole.at(SizeLimits::default().with(|it| it.nonzeros = Some(4)), Some(&data)).unwrap();
        assert_eq!((read.projection(), read.panel()), (fitted.projection(), fitted.panel()), "{refit:?}");
        if let Some(residual) = whole.refit().residual {
            assert!(residual < 1e-9, "{refit:?}: {residual}");
        }
    }
    // The equations of the refit `panel` have Ω in them.
    let asked = grid(3.0).with(|it| it.refit.kind = Some(Refit::Panel));
    let men = fit(&data, &asked, &()).unwrap();
    let neighborhood = Neighborhood::new(&data, &asked, &()).unwrap();
    let prepared = Prepared::new(&data, &asked, &neighborhood, &()).unwrap();
    let (problem, panel) = (prepared.problem(), men.panel());
    let gram = problem.gram().submatrix(&panel);
    let axis = &men.projection().axes()[0];
    let w: Vec<f64> = panel.iter().map(|&j| axis.get(j) * problem.norms()[j]).collect();
    // The axes have a common length of their own, so the equations hold up to one factor.
    let left: Vec<f64> = (0..panel.len())
        .map(|i| (0..panel.len()).map(|j| gram[(i, j)] * w[j]).sum::<f64>() + asked.ridge() * w[i])
        .collect();
    let right: Vec<f64> = panel.iter().map(|&j| problem.b()[(j, 0)]).collect();
    let factor =
        left.iter().zip(&right).map(|(l, r)| l * r).sum::<f64>() / right.iter().map(|r| r * r).sum::<f64>();
    for (l, r) in left.iter().zip(&right) {
        assert!((l - factor * r).abs() < 1e-9 * factor.abs(), "{l} {r}");
    }
}

#[test]
fn searches_selections_and_methods_honour_it() {
    let data = data(1.0);
    let base = grid(3.0).with(|it| (it.nonzeros, it.refit.kind) = (None, Some(Refit::None)));
    let grid = Grid::of(&base).with(|it| it.sizes = vec![ModelSize::per_path(5)]);
    let folds = menet::evaluate::stratified_folds(&data, 3, &mut common::rng(5)).unwrap();
    let trials =
        search(&data, &base, &grid, &folds, (ScoreKind::Rate, TrialChoice::Best), &(), &|_, _| ()).unwrap();
    for (fold, panel) in folds.iter().zip(&trials[0].panels) {
        let train = menet::evaluate::subset(&data, &fold.train).unwrap();
        let men = fit(&train, &base.clone().with(|it| it.nonzeros = Some(5)), &()).unwrap();
        assert_eq!(&men.panel(), panel);
    }
    let plain = MenParams::default();
    let order = entry_order(&data, &base, 8, &()).unwrap();
    assert_ne!(order, entry_order(&data, &plain, 8, &()).unwrap());
    let method = Method::from_name("men-graph").unwrap();
    assert_eq!(method.men().unwrap().penalty.feature_graph, Some(FeatureGraph::Auto));
    let found = method.reducer().fit(&data, None, &()).unwrap();
    let weight = menet::penalties::feature_graph::DEFAULT_WEIGHT;
    let expected =
        fit(&data, &MenParams::default().with(|it| it.penalty.feature_graph = Some(FeatureGraph::Auto)), &());
    assert_eq!(found.projection, *expected.unwrap().projection());
    let by_grid = params(FeatureGraph::Grid(None), weight).with(|it| it.nonzeros = None);
    assert_eq!(found.projection, *fit(&data, &by_grid, &()).unwrap().projection());
    // Without a shape it is the chain.
    let flat = Dataset::new(data.x().unwrap(), data.class_indices()).unwrap();
    let found = method.reducer().fit(&flat, None, &()).unwrap();
    let by_chain = params(FeatureGraph::Chain, weight).with(|it| it.nonzeros = None);
    assert_eq!(found.projection, *fit(&flat, &by_chain, &()).unwrap().projection());
}

#[test]
fn what_does_not_fit_is_refused_before_any_work() {
    let data = data(1.0);
    let flat = Dataset::new(data.x().unwrap(), data.class_indices()).unwrap();
    let refusal = |data: &Dataset<'_>, params: MenParams| fit(data, &params, &()).unwrap_err().to_string();
    assert!(refusal(&flat, grid(1.0)).contains("the data have no image shape"));
    assert!(refusal(&flat, params(FeatureGraph::Grid(Some((8, 7))), 1.0)).contains("a grid of 8 x 7"));
    assert!(refusal(&data, params(FeatureGraph::Chain, -1.0)).contains("`penalty.graph_weight` is -1"));
    assert!(refusal(&data, params(FeatureGraph::from_text("e.csv"), 1.0)).contains("given again"));
    let alone = MenParams::default().with(|it| it.penalty.graph_weight = Some(1.0));
    assert!(
        refusal(&data, alone)
            .contains("`penalty.graph_weight` is 1, but must be left out without a `penalty.feature_graph`")
    );
    let list = vec![Edge { ends: ("left".into(), "right".into()), weight: 1.0 }];
    let unknown = params(FeatureGraph::Edges(EdgeList::new("e.csv", list)), 1.0);
    assert!(
        Neighborhood::new(&data, &unknown, &())
            .unwrap_err()
            .to_string()
            .contains("`penalty.feature_graph` is \"left\"")
    );
}
