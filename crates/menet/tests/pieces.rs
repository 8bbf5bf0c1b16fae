//! A fit of samples in pieces is the fit of all of them, to rounding.

use crate::common::clusters;
use menet::faer::{Mat, MatRef};
use menet::neighbors::{Block, Centre, NearestSamples, NeighborLists};
use menet::operator::{CG_TOLERANCE, Smoother, admissible};
use menet::patches::groups;
use menet::patches::rule;
use menet::pieces::{self, Moments, Outline, Patches, SolverUnits, Target, WithinProducts};
use menet::plan::{DataShape, Plan};
use menet::refit::{Refit, Training, TrainingSums};
use menet::targets::AxisCount;
use menet::{Dataset, FitReport, Men, MenParams, ReducedProblem, SizeLimits, fit};

/// The pieces: where each begins and ends.
type Cuts<'a> = &'a [(usize, usize)];

fn added(a: Mat<f64>, b: &Mat<f64>) -> Mat<f64> {
    a + b
}

fn moments(data: &Dataset<'_>, cuts: Cuts<'_>) -> Moments {
    let (x, classes, count) = (data.x().unwrap(), data.class_indices(), data.classes().len());
    let p = x.ncols();
    let mut first = Outline {
        low: vec![f64::INFINITY; p],
        high: vec![f64::NEG_INFINITY; p],
        sum: vec![0.0; p],
        squares: vec![0.0; p],
        bad: None,
    };
    for &(from, to) in cuts {
        let part = pieces::outline(x.subrows(from, to - from));
        assert_eq!(part.bad, None);
        for j in 0..p {
            first.low[j] = first.low[j].min(part.low[j]);
            first.high[j] = first.high[j].max(part.high[j]);
            first.sum[j] += part.sum[j];
            first.squares[j] += part.squares[j];
        }
    }
    let about: Vec<f64> = first.sum.iter().map(|sum| sum / x.nrows() as f64).collect();
    let mut second = pieces::class_sums(x.subrows(0, 0), &[], count, &about).unwrap();
    for &(from, to) in cuts {
        let part = pieces::class_sums(x.subrows(from, to - from), &classes[from..to], count, &about).unwrap();
        second.sums += part.sums;
        second.squares.iter_mut().zip(part.squares).for_each(|(sum, part)| *sum += part);
    }
    let counts = (0..count).map(|class| data.members(class).len()).collect();
    Moments::new(counts, &first, &second, &about).unwrap()
}

fn spread(
    data: &Dataset<'_>,
    cuts: Cuts<'_>,
    moments: &Moments,
    variables: &[usize],
    factor: &[f64],
) -> WithinProducts {
    let (x, classes) = (data.x().unwrap(), data.class_indices());
    let mean: Vec<f64> = variables.iter().map(|&j| moments.mean[j]).collect();
    let centres = Mat::from_fn(moments.counts.len(), variables.len(), |class, k| {
        moments.centres[(class, variables[k])]
    });
    let units = SolverUnits { mean: &mean, factor };
    let parts = cuts.iter().map(|&(from, to)| {
        let rows = x.subrows(from, to - from);
        WithinProducts::of(rows, &classes[from..to], variables, centres.as_ref(), units, true).unwrap()
    });
    let sum = |a: WithinProducts, b: WithinProducts| WithinProducts {
        squares: added(a.squares, &b.squares),
        fourths: Some(added(a.fourths.unwrap(), &b.fourths.unwrap())),
    };
    parts.reduce(sum).unwrap()
}

fn neighbors(data: &Dataset<'_>, cuts: Cuts<'_>, params: &MenParams) -> NeighborLists<2> {
    let (x, classes) = (data.x().unwrap(), data.class_indices());
    let wanted = groups(rule(&params.patch.kind).unwrap(), &params.patch);
    let block = |&(from, to): &(usize, usize)| {
        Block::dense(x.subrows(from, to - from), &classes[from..to], from).unwrap()
    };
    let mean = vec![0.0; x.ncols()];
    let centre = Centre::new(&mean, &[]).unwrap();
    let mut found = [Vec::new(), Vec::new()];
    for queries in cuts {
        let parts = cuts
            .iter()
            .map(|part| NearestSamples::search(&block(queries), &block(part), centre, wanted, &()).unwrap());
        let merged = parts.reduce(|a, b| a.merge(b).unwrap()).unwrap().into_neighbors();
        found.iter_mut().zip(merged).for_each(|(all, some)| all.extend(some));
    }
    found
}

/// The whole fit, piece by piece: rows in `cuts`, columns three at a time.
fn fit_pieces(data: &Dataset<'_>, cuts: Cuts<'_>, params: &MenParams) -> Men {
    let (x, n, p) = (data.x().unwrap(), data.samples(), data.variables());
    let shape = DataShape { samples: n, variables: p, classes: data.classes().len(), nonzeros: None };
    let plan = Plan::of_pieces(shape, params).unwrap();
    let moments = moments(data, cuts);
    let found = neighbors(data, cuts, params);
    let (rule, patch) = (rule(&params.patch.kind).unwrap(), params.patch.clone());
    let patches: Vec<Patches> = match rule.needs_samples() {
        true => {
            let all: Vec<usize> = (0..n).collect();
            let of = |&(from, to): &(usize, usize)| {
                Patches::of(&found[0][from..to], from, (x, &all), rule, &patch, &()).unwrap()
            };
            cuts.iter().map(of).collect()
        }
        false => Vec::new(),
    };
    let alignment = pieces::alignment(&found, &patches, rule, &patch, &()).unwrap();
    let (laplacian, report) = admissible(&alignment, &params.manifold, &()).unwrap();

    let varies: Vec<f64> = moments.norms.iter().map(|&norm| f64::from(u8::from(norm > 0.0))).collect();
    let all: Vec<usize> = (0..p).collect();
    let scatter = spread(data, cuts, &moments, &all, &varies).squares;
    let (kind, shrinkage) = (params.target.kind, params.target.shrinkage);
    let target =
        |rank| moments.target(kind, shrinkage, AxisCount::All, Some(scatter.as_ref()), rank).unwrap();
    let target = match target(None) {
        Target::Placed(target) => target,
        Target::RankUnclear => {
            let units = SolverUnits { mean: &moments.mean, factor: &varies };
            let triangles =
                cuts.iter().map(|&(from, to)| pieces::triangle(x.subrows(from, to - from), units));
            let triangle = triangles.reduce(|a, b| pieces::stacked(a.as_ref(), b.as_ref())).unwrap();
            match target(Some(pieces::rank(triangle.as_ref()).unwrap())) {
                Target::Placed(target) => target,
                Target::RankUnclear => panic!("the rank was given"),
            }
        }
    };

    let factor: Vec<f64> =
        moments.norms.iter().map(|&norm| if norm > 0.0 { 1.0 / norm } else { 0.0 }).collect();
    let (starts, indices, values) = laplacian.rows();
    let copy = menet::sparse::SparseSymmetric::from_rows(starts.to_vec(), indices.to_vec(), values.to_vec());
    let smoother = Smoother::new(&copy.unwrap(), params.manifold.alpha, params.manifold.beta, CG_TOLERANCE);
    let mut images = Mat::zeros(n, p);
    for start in (0..p).step_by(3) {
        let width = 3.min(p - start);
        let units =
            SolverUnits { mean: &moments.mean[start..start + width], factor: &factor[start..start + width] };
        let some = pieces::images(x.subcols(start, width), units, &smoother).unwrap();
        images.subcols_mut(start, width).copy_from(&some);
    }
    let units = SolverUnits { mean: &moments.mean, factor: &factor };
    let parts = cuts.iter().map(|&(from, to)| {
        let (rows, images) = (x.subrows(from, to - from), images.subrows(from, to - from));
        pieces::gram(rows, units, images, 0).unwrap()
    });
    let lower = parts.reduce(|a, b| added(a, &b)).unwrap();
    let gram = Mat::from_fn(p, p, |i, j| lower[(i.max(j), i.min(j))]);
    let b = moments.correlations(target.as_ref(), true);
    let mut reduction = FitReport::new(report);
    reduction.regime = Some(plan.regime);
    let (mean, norms) = (moments.mean.clone(), moments.norms.clone());
    let problem = ReducedProblem::new(Box::new(gram), b, mean, norms, n, reduction).unwrap();
    let paths = problem.paths(params, &()).unwrap();
    let bare = Men::from_paths(&problem, paths, params, data.classes().to_vec()).unwrap();
    read(&bare, SizeLimits::default(), data, cuts, &moments)
}

/// The model of a reading, from sums over the pieces and the projected samples.
fn read(men: &Men, reading: SizeLimits, data: &Dataset<'_>, cuts: Cuts<'_>, moments: &Moments) -> Men {
    let wanted = men.wanted(reading).unwrap();
    let norms: Vec<f64> = wanted.iter().map(|&j| moments.norms[j]).collect();
    let factor: Vec<f64> = norms.iter().map(|norm| (data.samples() as f64).sqrt() / norm).collect();
    let spread = spread(data, cuts, moments, &wanted, &factor);
    let centres =
        Mat::from_fn(moments.counts.len(), wanted.len(), |class, k| moments.centres[(class, wanted[k])]);
    let units = factor.iter().map(|factor| 1.0 / factor).collect();
    let products = (spread.squares, spread.fourths.unwrap());
    let ranges = wanted.iter().map(|&j| moments.ranges[j]).collect();
    let sums =
        TrainingSums::new(wanted, moments.counts.clone(), centres, norms, (units, ranges), products).unwrap();
    let undecided = men.axes_at(reading, Training::Sums(&sums)).unwrap();
    let z = undecided.projection().transform(data.x().unwrap()).unwrap();
    undecided.learn(z.as_ref(), data.class_indices()).unwrap()
}

fn same(found: &Men, expected: &Men, what: &str) {
    assert_eq!(found.panel(), expected.panel(), "{what}");
    let (a, b) = (found.projection(), expected.projection());
    assert_eq!(a.components(), b.components(), "{what}");
    let largest = b.axes().iter().flat_map(|axis| axis.iter()).fold(0.0, |m: f64, (_, w)| m.max(w.abs()));
    for (a, b) in a.axes().iter().zip(b.axes()) {
        assert_eq!(a.indices(), b.indices(), "{what}");
        for ((_, x), (_, y)) in a.iter().zip(b.iter()) {
            assert!((x - y).abs() <= 1e-10 * largest, "{what}: {x} and {y}");
        }
    }
    // By variable: copies are equally important, and rounding orders them.
    let rows = |men: &Men| {
        let mut rows = men.panel_table();
        rows.sort_by_key(|row| row.variable);
        rows
    };
    for (a, b) in rows(found).iter().zip(rows(expected)) {
        assert_eq!((a.variable, a.class), (b.variable, b.class), "{what}");
        assert!((a.importance - b.importance).abs() <= 1e-9 * b.importance, "{what}");
    }
    assert_eq!(
        found.report().definiteness,
        expected.report().definiteness,
        "{what}: L is the same to the last bit"
    );
    assert_eq!(found.rule().unwrap().kind(), expected.rule().unwrap().kind());
}

#[test]
fn pieces_give_the_fit_of_the_whole() {
    let data = clusters(7, 4, 40, 30);
    let n = data.samples();
    let cuts: [Cuts<'_>; 3] =
        [&[(0, n)], &[(0, 1), (1, 1), (1, 90), (90, n)], &[(0, 53), (53, 106), (106, n)]];
    for patch in ["dla", "laplacian", "lle", "ltsa-unsupervised"] {
        for (refit, panel_size) in [
            (Refit::Discriminant, None),
            (Refit::Discriminant, Some(5)),
            (Refit::Panel, None),
            (Refit::Axis, Some(6)),
            (Refit::None, None),
        ] {
            let params = MenParams::default().with(|it| {
                it.patch.kind = patch.to_owned();
                (it.refit.kind, it.panel_size, it.nonzeros) = (Some(refit), panel_size, Some(12));
            });
            let whole = fit(&data, &params, &()).unwrap();
            for cuts in cuts {
                let found = fit_pieces(&data, cuts, &params);
                same(&found, &whole, &format!("{patch}, {refit:?}, {panel_size:?}, {} pieces", cuts.len()));
                let reading = SizeLimits::default().with(|it| it.nonzeros = Some(4));
                let (small, expected) = (
                    read(&found, reading, &data, cuts, &moments(&data, cuts)),
                    whole.at(reading, Some(&data)),
                );
                same(&small, &expected.unwrap(), &format!("{patch}, {refit:?} at 4"));
            }
        }
    }
}

#[test]
fn constant_dependent_and_extreme_variables_are_as_in_the_whole() {
    let plain = clusters(11, 3, 30, 12);
    let x = plain.x().unwrap();
    for scale in [1.0, 1e-40, 1e40] {
        let x = Mat::from_fn(x.nrows(), 16, |i, j| match j {
            12 => 0.1 * scale,
            // A copy, a sum, and a variable that is constant but for rounding.
            13 => scale * x[(i, 0)],
            14 => scale * (x[(i, 1)] + x[(i, 2)]),
            15 => 1e8 * scale * (1.0 + if i % 2 == 0 { f64::EPSILON } else { 0.0 }),
            _ => scale * x[(i, j)],
        });
        let labels: Vec<&String> =
            plain.class_indices().iter().map(|&class| &plain.classes()[class]).collect();
        let data = Dataset::new(x.as_ref(), &labels).unwrap();
        let cuts: Cuts<'_> = &[(0, 17), (17, 60), (60, 90)];
        let moments = moments(&data, cuts);
        assert_eq!((moments.norms[12], moments.norms[15]), (0.0, 0.0));
        assert_eq!(moments.rounding, [15]);
        let params = MenParams::default().with(|it| it.nonzeros = Some(6));
        let without = Mat::from_fn(x.nrows(), 15, |i, j| x[(i, j)]);
        let data = Dataset::new(without.as_ref(), &labels).unwrap();
        same(
            &fit_pieces(&data, cuts, &params),
            &fit(&data, &params, &()).unwrap(),
            &format!("scale {scale}"),
        );
    }
}

#[test]
fn a_first_look_finds_the_first_value_that_is_not_finite() {
    let mut x = Mat::<f64>::from_fn(3000, 4, |i, j| (i + j) as f64);
    x[(2500, 1)] = f64::NAN;
    x[(1100, 3)] = 1e200;
    let found = |x: MatRef<'_, f64>| pieces::outline(x).bad.map(|(row, column, _)| (row, column));
    assert_eq!(found(x.as_ref()), Some((1100, 3)));
    assert_eq!(found(x.subrows(1101, 1500)), Some((1399, 1)));
    assert_eq!(found(x.subrows(0, 0)), None);
}

#[test]
fn a_band_of_the_gram_matrix_has_the_bits_of_the_whole() {
    let (n, p) = (37, 2 * pieces::BAND + 19);
    let x = Mat::from_fn(n, p, |i, j| f64::sin((3 * i + 7 * j * j) as f64));
    let images = Mat::from_fn(n, p, |i, j| f64::cos((5 * i * i + j) as f64));
    let (mean, factor) = (vec![0.25; p], vec![1.5; p]);
    let units = SolverUnits { mean: &mean, factor: &factor };
    let of = |images: MatRef<'_, f64>, first| pieces::gram(x.as_ref(), units, images, first);
    let whole = of(images.as_ref(), 0).unwrap();
    for (first, width) in
        [(0, pieces::BAND), (pieces::BAND, pieces::BAND), (2 * pieces::BAND, 19), (128, 147)]
    {
        let band = of(images.subcols(first, width), first).unwrap();
        assert_eq!(band, whole.submatrix(first, first, p - first, width), "{width} columns from {first} on");
    }
    let wrong = of(images.subcols(1, 19), 1).unwrap_err().to_string();
    assert!(wrong.contains("multiple of 128, here at 1"), "{wrong}");
    assert!(of(images.subcols(0, pieces::BAND), 2 * pieces::BAND).is_err());
}

#[test]
fn what_pieces_cannot_do_is_refused() {
    let shape = DataShape { samples: 9_000, variables: 50, classes: 3, nonzeros: None };
    for (name, change) in [
        (
            "definiteness",
            (|it| it.manifold.definiteness = menet::operator::Definiteness::Floor) as fn(&mut MenParams),
        ),
        ("route", |it| it.compute.route = menet::plan::RouteRequest::Dense),
        ("gram", |it| it.compute.gram = menet::plan::GramRequest::Columns),
        ("components", |it| it.components = Some(3)),
    ] {
        let message = Plan::of_pieces(shape, &MenParams::default().with(change)).unwrap_err().to_string();
        assert!(message.contains(name), "{message}");
    }
    let why = Plan::of_pieces(shape, &MenParams::default()).unwrap().regime.to_string();
    assert!(why.contains("pieces"), "{why}");
}
