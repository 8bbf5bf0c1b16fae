//! The seams between the stages: what is made outside gives the same bits as `fit`.

use crate::common::clusters;
use menet::faer::Mat;
use menet::gram::{FactorGram, Gram, GramForm};
use menet::neighbors::{Block, Centre, NearestSamples};
use menet::operator::Route;
use menet::patches;
use menet::plan::{DataShape, GramRequest, RouteRequest};
use menet::sparse::SparseMatrix;
use menet::targets::{AxisCount, target};
use menet::{
    Alignment, Centred, Dataset, Men, MenParams, Neighborhood, Plan, Prepared, ReducedProblem, SizeLimits,
    fit, reduce,
};

fn same(a: &Men, b: &Men) {
    assert_eq!(a.projection(), b.projection());
    assert_eq!(a.paths(), b.paths());
    assert_eq!(a.rule().unwrap(), b.rule().unwrap());
    assert_eq!(a.panel_table(), b.panel_table());
    assert_eq!((a.report().definiteness, &a.report().regime), (b.report().definiteness, &b.report().regime));
}

fn both(data: &Dataset<'static>) -> [Dataset<'static>; 2] {
    let labels: Vec<String> =
        data.class_indices().iter().map(|&class| data.classes()[class].clone()).collect();
    let x = SparseMatrix::from_dense(data.x().unwrap()).unwrap();
    [data.clone(), Dataset::from_sparse_beyond(0, x, &labels).unwrap()]
}

#[test]
fn plan_reduce_solve_assemble_is_fit() {
    for data in both(&clusters(41, 4, 12, 30)) {
        for patch in ["dla", "ltsa"] {
            let params = MenParams::default().with(|it| {
                it.nonzeros = Some(8);
                it.patch.kind = patch.to_owned();
            });
            let whole = fit(&data, &params, &()).unwrap();

            let plan = Plan::new(&data, &params).unwrap();
            let samples = Centred::new(&data, None).unwrap();
            let rule = patches::rule(patch).unwrap();
            // Neighbours of three blocks in two, merged.
            let wanted = patches::groups(rule, &patches::PatchParams::default());
            let class = data.class_indices();
            let block = |from: usize, to: usize| match data.sparse() {
                Some(x) => {
                    let rows: Vec<usize> = (from..to).collect();
                    Block::sparse(x.select(&rows), &class[from..to], from).unwrap()
                }
                None => {
                    let x = data.x().unwrap().subrows(from, to - from);
                    Block::dense(x, &class[from..to], from).unwrap()
                }
            };
            let mean = samples.mean().to_vec();
            let centre = Centre::new(&mean, &[]).unwrap();
            let mut found = [Vec::new(), Vec::new()];
            for (from, to) in [(0, 7), (7, 40), (40, 48)] {
                let queries = block(from, to);
                let search =
                    |a, b| NearestSamples::search(&queries, &block(a, b), centre, wanted, &()).unwrap();
                let merged = search(20, 48).merge(search(0, 20)).unwrap().into_neighbors();
                found.iter_mut().zip(merged).for_each(|(all, some)| all.extend(some));
            }
            let patch_params = patches::PatchParams::default();
            let alignment = Alignment::from_neighbors(&samples, rule, &patch_params, &found, &()).unwrap();
            let y = target(&data, &samples, params.target.kind, params.target.shrinkage, AxisCount::All, &());
            let problem =
                reduce(samples, (y.unwrap().as_ref(), None), &alignment, &params, &plan.regime, &()).unwrap();
            let prepared = Prepared::from_problem(&data, problem).unwrap();
            let solved = prepared.solve(&params, &()).unwrap();
            same(&Men::assemble(&solved, &params, &()).unwrap(), &whole);

            let neighborhood = Neighborhood::new(&data, &params, &()).unwrap();
            let prepared = Prepared::new(&data, &params, &neighborhood, &()).unwrap();
            let solved = prepared.solve(&params, &()).unwrap();
            same(&Men::assemble(&solved, &params, &()).unwrap(), &whole);
            let axes = solved.read(SizeLimits::default(), &params).unwrap();
            assert_eq!(axes.axes, whole.projection().axes());
        }
    }
}

/// A problem from G, b, mean, norms and a report; of the samples there is only what the paths reach.
#[test]
fn a_problem_made_elsewhere_gives_the_same_model() {
    let data = clusters(42, 4, 12, 30);
    for gram in [GramRequest::Full, GramRequest::Columns] {
        for params in [
            MenParams::default().with(|it| {
                it.nonzeros = Some(8);
                it.compute.route = RouteRequest::Dense;
                it.compute.gram = gram;
            }),
            MenParams::paper().with(|it| {
                it.nonzeros = Some(8);
                it.compute.route = RouteRequest::Dense;
                it.compute.gram = gram;
            }),
        ] {
            let whole = fit(&data, &params, &()).unwrap();
            let neighborhood = Neighborhood::new(&data, &params, &()).unwrap();
            let prepared = Prepared::new(&data, &params, &neighborhood, &()).unwrap();
            let made = prepared.problem();
            let regime = made.report().regime.clone().unwrap();
            assert_eq!(regime.route, Route::Dense);
            let p = data.variables();
            let g: Box<dyn Gram> = match regime.gram {
                GramForm::Full => Box::new(made.gram().submatrix(&(0..p).collect::<Vec<_>>())),
                // The Gram matrix of these samples, by another factor: equal up to rounding only.
                GramForm::Columns => {
                    let g = made.gram().submatrix(&(0..p).collect::<Vec<_>>());
                    let values = g.self_adjoint_eigen(faer::Side::Lower).unwrap();
                    let (u, s) = (values.U(), values.S());
                    let root = |k: usize| s[k].max(0.0).sqrt();
                    Box::new(FactorGram::new(Mat::from_fn(p, p, |k, j| root(k) * u[(j, k)])))
                }
            };
            let (mean, norms) = (made.mean().to_vec(), made.norms().to_vec());
            let (b, n) = (made.b().to_owned(), data.samples());
            let problem =
                ReducedProblem::new(g, b.clone(), mean.clone(), norms.clone(), n, made.report().clone());
            // The columns that no path reaches are missing.
            let used: Vec<usize> = whole.paths().iter().flat_map(|path| path.order_of_entry()).collect();
            let x = data.x().unwrap();
            let some = Mat::from_fn(n, p, |i, j| if used.contains(&j) { x[(i, j)] } else { 0.0 });
            let some = SparseMatrix::from_dense(some.as_ref()).unwrap();
            let few = Dataset::from_sparse_beyond(0, some, data.class_indices()).unwrap();
            let prepared = Prepared::from_problem(&few, problem.unwrap()).unwrap();
            let solved = prepared.solve(&params, &()).unwrap();
            let men = Men::assemble(&solved, &params, &()).unwrap();
            if regime.gram == GramForm::Full {
                assert_eq!(men.paths(), whole.paths());
                assert_eq!(men.projection(), whole.projection());
            } else {
                let off = men.projection().to_dense() - whole.projection().to_dense();
                assert!(off.norm_max() < 1e-8 * whole.projection().to_dense().norm_max());
            }

            let wrong = |b, mean, norms| {
                let g: Box<dyn Gram> = Box::new(Mat::<f64>::identity(p, p));
                ReducedProblem::new(g, b, mean, norms, n, made.report().clone()).is_err()
            };
            assert!(wrong(Mat::zeros(p - 1, 2), mean.clone(), norms.clone()));
            assert!(wrong(Mat::zeros(p, 0), mean.clone(), norms.clone()));
            assert!(wrong(b.clone(), mean[1..].to_vec(), norms.clone()));
            assert!(wrong(b, mean, Vec::new()));
        }
    }
    let problem = |data: &Dataset<'_>| {
        let params = MenParams::default();
        let neighborhood = Neighborhood::new(data, &params, &()).unwrap();
        let prepared = Prepared::new(data, &params, &neighborhood, &()).unwrap();
        let made = prepared.problem();
        let g: Box<dyn Gram> = Box::new(made.gram().submatrix(&(0..30).collect::<Vec<_>>()));
        let (b, mean, norms) = (made.b().to_owned(), made.mean().to_vec(), made.norms().to_vec());
        ReducedProblem::new(g, b, mean, norms, data.samples(), made.report().clone()).unwrap()
    };
    let other = clusters(43, 4, 11, 30);
    assert!(Prepared::from_problem(&other, problem(&data)).is_err(), "other samples");
    let narrow = clusters(43, 4, 12, 29);
    assert!(Prepared::from_problem(&narrow, problem(&data)).is_err(), "other variables");
}

/// Factors for every axis give what the same factors for all give; and each axis its own.
#[test]
fn every_axis_may_have_its_own_factors() {
    let data = clusters(45, 4, 12, 30);
    let params = MenParams::paper().with(|it| it.nonzeros = Some(8));
    let shared: Vec<f64> =
        (0..30).map(|j| if j == 5 { f64::INFINITY } else { 1.0 + j as f64 / 10.0 }).collect();
    let whole =
        fit(&data, &params.clone().with(|it| it.penalty.factors = Some(shared.clone())), &()).unwrap();
    let neighborhood = Neighborhood::new(&data, &params, &()).unwrap();
    let prepared = Prepared::new(&data, &params, &neighborhood, &()).unwrap();
    let factors = Mat::from_fn(30, 3, |j, _| shared[j]);
    let solved = prepared.solve_each(&params, 8, factors.as_ref(), &()).unwrap();
    assert_eq!(Men::assemble(&solved, &params, &()).unwrap().projection(), whole.projection());
    let mixed = Mat::from_fn(30, 3, |j, k| if k == 1 { shared[j] } else { 1.0 });
    let solved = prepared.solve_each(&params, 8, mixed.as_ref(), &()).unwrap();
    let plain = fit(&data, &params, &()).unwrap();
    let expected = [&plain.paths()[0], &whole.paths()[1], &plain.paths()[2]];
    assert_eq!(solved.paths().iter().collect::<Vec<_>>(), expected);
    assert!(prepared.solve_each(&params, 8, mixed.subrows(0, 29), &()).is_err());
    let scad = params.with(|it| it.penalty.kind = menet::penalties::PenaltyKind::Scad);
    let refusal = prepared.solve_each(&scad, 8, mixed.as_ref(), &()).unwrap_err().to_string();
    assert!(refusal.contains("scad") && refusal.contains("l1 with penalty factors per axis"), "{refusal}");
}

/// A variable with factor 0 is in every model, whatever the limit; and the limit does not count it.
#[test]
fn free_variables_are_in_every_model() {
    use menet::refit::Refit;
    let data = clusters(46, 4, 12, 30);
    let mut factors = vec![1.0; 30];
    (factors[3], factors[17]) = (0.0, 0.0);
    for &refit in menet::Named::ALL.iter().collect::<Vec<&Refit>>() {
        for (nonzeros, panel_size) in [(Some(5), None), (None, Some(4))] {
            let params = MenParams::default().with(|it| {
                it.refit.kind = Some(refit);
                it.nonzeros = nonzeros;
                it.panel_size = panel_size;
                it.penalty.factors = Some(factors.clone());
            });
            let men = fit(&data, &params, &()).unwrap();
            let panel = men.panel();
            assert!(panel.contains(&3) && panel.contains(&17), "{refit:?}: {panel:?}");
            assert!(men.certificates().iter().all(|c| c.kkt < 1e-9 && c.scaled < 1e-9));
            match panel_size {
                // Axes with supports of their own may leave some of the limit unused.
                Some(size) if refit.shares_panel() => assert_eq!(panel.len(), size + 2, "{panel:?}"),
                Some(size) => assert!((3..=size + 2).contains(&panel.len()), "{refit:?}: {panel:?}"),
                None => assert!(men.paths().iter().all(|path| path.selected(&path.last().coefficients) == 5)),
            }
            assert!(men.doubts().is_empty(), "{:?}", men.doubts());
        }
    }
}

/// Three values per variable: many tie.
#[test]
fn a_tied_axis_is_left_out_and_told() {
    let x = Mat::from_fn(12, 6, |i, j| match j {
        0 => f64::from(u8::from(i < 4)),
        // The same for the second axis, in four columns.
        _ => f64::from(u8::from((4..8).contains(&i))),
    });
    let labels: Vec<usize> = (0..12).map(|i| i / 4).collect();
    let data = Dataset::from_owned(x, &labels).unwrap();
    let params = |nonzeros| {
        MenParams::paper().with(|it| {
            it.nonzeros = Some(nonzeros);
            it.ridge = Some(0.1);
        })
    };
    let all = fit(&data, &params(6), &()).unwrap();
    assert_eq!((all.projection().components(), all.doubts().len()), (2, 0));
    let tied: Vec<usize> = (1..=5)
        .filter(|&k| {
            let men = fit(&data, &params(k), &());
            men.is_ok_and(|men| {
                assert_eq!(men.projection().components() + men.doubts().len(), 2, "{:?}", men.doubts());
                assert!(men.doubts().iter().all(|doubt| doubt.contains("tie for the first place")));
                let one = men.at(SizeLimits::default().with(|it| it.components = Some(1)), Some(&data));
                assert!(one.is_err() || one.unwrap().projection().components() == 1);
                !men.doubts().is_empty()
            })
        })
        .collect();
    assert!(!tied.is_empty(), "no axis was tied");
}

/// Counts the stages that were begun.
struct StageCounter(std::sync::atomic::AtomicUsize);

impl menet::Monitor for StageCounter {
    fn progress(&self, _: menet::Stage, _: usize, _: usize) {
        self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }
}

#[test]
fn what_cannot_be_done_is_refused_before_any_work() {
    let data = clusters(44, 4, 12, 30);
    let refused = [
        MenParams::default().with(|it| it.components = Some(4)),
        MenParams::default().with(|it| {
            it.compute.route = RouteRequest::Conjugate;
            it.manifold.definiteness = menet::operator::Definiteness::Floor;
        }),
    ];
    for params in refused {
        let begun = StageCounter(0.into());
        assert!(fit(&data, &params, &begun).is_err());
        assert_eq!(begun.0.into_inner(), 0, "a stage was begun");
    }
    // On sizes alone: nothing of 60,000 x 784 needs to be there.
    let shape = DataShape { samples: 60_000, variables: 784, classes: 10, nonzeros: None };
    for params in [
        MenParams::default().with(|it| it.components = Some(10)),
        MenParams::default().with(|it| it.compute.route = RouteRequest::Dense),
    ] {
        assert!(Plan::new(shape, &params).is_err());
    }
}
