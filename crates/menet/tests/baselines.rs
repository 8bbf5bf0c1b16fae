//! The baselines against independent answers, and what holds for every method.

use crate::common;
use crate::common::{clusters, gaussian, relative_difference, rng};
use faer::Mat;
use menet::baselines::{Dla, Flda, Lpp, Npe, Pca};
use menet::evaluate::{classes_of, generator, random_split, scores, subset};
use menet::patches::{self, PatchParams};
use menet::{Alignment, Centred, Dataset, Method, Reducer};
use rand::seq::SliceRandom;

/// The numbers of scripts/oracles.py.
fn oracles() -> (Dataset<'static>, serde_json::Value) {
    let json: serde_json::Value = serde_json::from_str(include_str!("data/oracles.json")).unwrap();
    let x = matrix(&json["x"]);
    let labels: Vec<String> = json["y"].as_array().unwrap().iter().map(ToString::to_string).collect();
    (Dataset::from_owned(x, &labels).unwrap(), json)
}

fn matrix(json: &serde_json::Value) -> Mat<f64> {
    let rows: Vec<Vec<f64>> = serde_json::from_value(json.clone()).unwrap();
    Mat::from_fn(rows.len(), rows[0].len(), |i, j| rows[i][j])
}

/// The smallest |cosine| between a column of `w` and the row of `expected` of the same number.
fn alignment_of(w: &Mat<f64>, expected: &Mat<f64>) -> f64 {
    (0..w.ncols())
        .map(|k| {
            let inner: f64 = (0..w.nrows()).map(|j| w[(j, k)] * expected[(k, j)]).sum();
            inner.abs() / (w.col(k).norm_l2() * expected.row(k).norm_l2())
        })
        .fold(1.0, f64::min)
}

fn axes(method: &dyn Reducer, data: &Dataset<'_>, components: Option<usize>) -> Mat<f64> {
    method.fit(data, components, &()).unwrap().projection.to_dense()
}

#[test]
fn pca_equals_scikit_learn() {
    let (data, json) = oracles();
    let w = axes(&Pca {}, &data, None);
    assert_eq!(w.ncols(), 12);
    assert!(alignment_of(&w, &matrix(&json["pca"])) > 1.0 - 1e-12);
    assert!((w.transpose() * &w - Mat::<f64>::identity(12, 12)).norm_max() < 1e-12);
}

/// Of large data only the axes that are asked for are computed: those of the whole decomposition, whatever their number.
#[test]
fn few_axes_of_large_data_are_those_of_all() {
    for (n, p) in [(300, 420), (420, 300)] {
        let rng = &mut rng(17);
        let (factors, loadings) = (gaussian(rng, n, 30), gaussian(rng, 30, p));
        let scaled = Mat::from_fn(n, 30, |i, k| factors[(i, k)] * 0.8f64.powi(k as i32));
        let x = scaled * loadings + gaussian(rng, n, p) * faer::Scale(0.1);
        let data = Dataset::from_owned(x, &(0..n).map(|i| i % 3).collect::<Vec<_>>()).unwrap();
        let all = axes(&Pca {}, &data, None);
        assert_eq!(all.ncols(), n.min(p) - usize::from(n <= p));
        for count in [1, 4, 20] {
            let few = axes(&Pca {}, &data, Some(count));
            assert_eq!(few.ncols(), count);
            assert!((&few - all.subcols(0, count)).norm_max() < 1e-9, "{n} x {p}, {count}");
            assert!((few.transpose() * &few - Mat::<f64>::identity(count, count)).norm_max() < 1e-12);
        }
        // More than a tenth of them: from the whole decomposition.
        assert!((axes(&Pca {}, &data, Some(60)) - all.subcols(0, 60)).norm_max() < 1e-12);
    }
}

#[test]
fn flda_equals_scikit_learn() {
    let (data, json) = oracles();
    let full = axes(&Flda { pca_rank: Some(12), ridge: 0.0 }, &data, None);
    assert_eq!(full.ncols(), 3);
    assert!(alignment_of(&full, &matrix(&json["lda"])) > 1.0 - 1e-10);
    let five = axes(&Flda { pca_rank: Some(5), ridge: 0.0 }, &data, None);
    assert!(alignment_of(&five, &matrix(&json["lda_after_pca_5"])) > 1.0 - 1e-10);
    // A ridge turns the axes towards those of the between-class scatter alone.
    let heavy = axes(&Flda { pca_rank: Some(12), ridge: 1e9 }, &data, None);
    assert!(alignment_of(&heavy, &matrix(&json["lda"])) < 0.99);
}

/// `‖N w − μ B w‖ / (‖N‖ ‖w‖)` with μ the Rayleigh quotient, worst over the columns; and the quotients.
fn residual(n: &Mat<f64>, b: &Mat<f64>, w: &Mat<f64>) -> (f64, Vec<f64>) {
    let (mut worst, mut quotients): (f64, Vec<f64>) = (0.0, Vec::new());
    for k in 0..w.ncols() {
        let (nw, bw) = (n * w.col(k), b * w.col(k));
        let mu = (w.col(k).transpose() * &nw) / (w.col(k).transpose() * &bw);
        let rest = Mat::from_fn(w.nrows(), 1, |i, _| nw[i] - mu * bw[i]);
        worst = worst.max(rest.norm_l2() / (n.norm_l2() * w.col(k).norm_l2()));
        quotients.push(mu);
    }
    (worst, quotients)
}

#[test]
fn lpp_npe_and_dla_solve_their_eigenproblems() {
    let data = clusters(3, 4, 15, 9);
    let pre = Centred::new(&data, None).unwrap();
    let (x, identity) = (pre.dense().unwrap(), Mat::<f64>::identity(9, 9));
    let matrix_of = |rule: &str, kappa: f64| {
        let alignment =
            Alignment::new(&data, &pre, patches::rule(rule).unwrap(), &PatchParams::default(), &()).unwrap();
        alignment.matrix(kappa).to_dense()
    };
    let check = |name: &str, l: &Mat<f64>, b: &Mat<f64>, w: &Mat<f64>| {
        assert_eq!(w.ncols(), 9, "{name}");
        let n = x.transpose() * l * x;
        let (worst, quotients) = residual(&n, b, w);
        assert!(worst < 1e-10, "{name}: residual {worst}");
        assert!(quotients.is_sorted_by(|a, b| a <= &(b + 1e-9)), "{name}: {quotients:?}");
        let random = gaussian(&mut rng(5), 9, 50);
        let least = residual(&n, b, &random).1.into_iter().fold(f64::INFINITY, f64::min);
        assert!(quotients[0] <= least, "{name}: the first axis is the minimum");
        for k in 0..9 {
            assert!((w.col(k).norm_l2() - 1.0).abs() < 1e-12, "{name}: axes have length 1");
        }
    };
    for (rule, lpp) in [
        ("laplacian", Lpp::default()),
        ("laplacian-unsupervised", Lpp { supervised: false, ..Lpp::default() }),
        ("laplacian-binary", Lpp { binary: true, ..Lpp::default() }),
    ] {
        let l = matrix_of(rule, 0.0);
        let d = Mat::from_fn(60, 60, |i, j| if i == j { l[(i, i)] } else { 0.0 });
        check(rule, &l, &(x.transpose() * d * x), &axes(&lpp, &data, None));
    }
    for (rule, npe) in
        [("lle", Npe::default()), ("lle-unsupervised", Npe { supervised: false, ..Npe::default() })]
    {
        check(rule, &matrix_of(rule, 0.0), &(x.transpose() * x), &axes(&npe, &data, None));
    }
    let dla = axes(&Dla { kappa: 0.2, ..Dla::default() }, &data, None);
    check("dla", &matrix_of("dla", 0.2), &identity, &dla);
    assert!((dla.transpose() * &dla - identity).norm_max() < 1e-12);
}

/// Complete graphs of equal classes make `XᵀLX` a multiple of the within-class and `XᵀDX` of the total scatter.
#[test]
fn slpp_of_complete_class_graphs_is_flda() {
    let (data, _) = oracles();
    let slpp = axes(&Lpp { binary: true, k: 9, ..Lpp::default() }, &data, Some(3));
    let flda = axes(&Flda { pca_rank: Some(12), ridge: 0.0 }, &data, None);
    assert!(relative_difference(&slpp, &flda) < 1e-9);
}

/// Two classes apart along one axis and wide along another: what holds classes together and pushes them apart is known.
#[test]
fn dla_finds_the_gap() {
    let rng = &mut rng(11);
    let x = Mat::from_fn(60, 3, |i, j| {
        common::normal(rng) * [0.1, 3.0, 1.0][j] + [2.0, 0.0, 0.0][j] * (i % 2) as f64
    });
    let data = Dataset::from_owned(x, &(0..60).map(|i| i % 2).collect::<Vec<_>>()).unwrap();
    let w = axes(&Dla { kappa: 0.5, ..Dla::default() }, &data, Some(1));
    assert!(w[(0, 0)] > 0.99, "{w:?}");
    assert!(axes(&Pca {}, &data, Some(1))[(1, 0)] > 0.99, "PCA prefers the wide one");
}

/// With more variables than samples the c−1 eigenvalues of supervised LPP and NPE are 0: every class falls on one point, and
/// the axes of that eigenspace are orthonormal with falling variance.
#[test]
fn degenerate_eigenspaces_are_ordered_by_variance() {
    let data = clusters(8, 5, 6, 80);
    for method in [&Lpp::default() as &dyn Reducer, &Npe::default(), &Flda { pca_rank: Some(29), ridge: 0.0 }]
    {
        let projection = method.fit(&data, Some(4), &()).unwrap().projection;
        let (w, z) = (projection.to_dense(), projection.transform(data.x().unwrap()).unwrap());
        assert!((w.transpose() * &w - Mat::<f64>::identity(4, 4)).norm_max() < 1e-9, "{}", method.name());
        let within = (0..30)
            .map(|i| (z.row(i) - z.row(data.members(data.class_of(i))[0])).norm_l2())
            .fold(0.0, f64::max);
        assert!(within < 1e-8 * z.norm_max(), "{}: classes have width {within}", method.name());
        let variances: Vec<f64> = (0..4).map(|k| z.col(k).norm_l2()).collect();
        assert!(variances.is_sorted_by(|a, b| a >= b), "{}: {variances:?}", method.name());
    }
}

/// The rates of a method on one split.
fn rates(method: &dyn Reducer, data: &Dataset<'_>, train: &[usize], test: &[usize]) -> Vec<f64> {
    let (learn, ask) = (subset(data, train).unwrap(), subset(data, test).unwrap());
    let w = method.fit(&learn, Some(4), &()).unwrap().projection;
    let (gallery, seen) = (w.transform(learn.x().unwrap()).unwrap(), w.transform(ask.x().unwrap()).unwrap());
    let (known, asked) = (classes_of(data, train), classes_of(data, test));
    scores(gallery.as_ref(), &known, seen.as_ref(), &asked, &[1, 2, 3, 4], Default::default())
        .unwrap()
        .iter()
        .map(|(_, score)| score.rate())
        .collect()
}

#[test]
fn permutations_of_the_samples_leave_every_rate_unchanged() {
    for (seed, p) in [(21, 12), (22, 60)] {
        let data = clusters(seed, 5, 12, p);
        let split = random_split(&data, 7, &mut generator(1, &[])).unwrap();
        for method in Method::all() {
            let before = rates(method.reducer(), &data, &split.train, &split.test);
            let (mut train, mut test) = (split.train.clone(), split.test.clone());
            train.shuffle(&mut rng(3));
            test.shuffle(&mut rng(4));
            assert_eq!(before, rates(method.reducer(), &data, &train, &test), "{}", method.name());
        }
    }
}

/// What every method keeps: at most as many axes as asked for, the first the same however many, the same bits on any number
/// of threads, finite numbers on awkward data, and an error, not a panic, where nothing can be learned.
#[test]
fn contract_of_every_method() {
    let data = clusters(31, 4, 8, 30);
    for method in Method::all() {
        let (name, reducer) = (method.name(), method.reducer());
        assert_eq!(reducer.name(), name);
        let three = reducer.fit(&data, Some(3), &()).unwrap().projection;
        assert_eq!(three.components(), 3, "{name}");
        let one = axes(reducer, &data, Some(1));
        if name != "spca" {
            assert!((one.col(0) - three.to_dense().col(0)).norm_max() < 1e-12, "{name}: axes are nested");
        }
        let most = reducer.fit(&data, Some(10_000), &()).unwrap().projection.components();
        assert!((3..=31).contains(&most), "{name}: {most}");
        assert!(reducer.fit(&data, Some(0), &()).is_err(), "{name}");
        let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
        let many = pool.install(|| reducer.fit(&data, Some(3), &()).unwrap().projection);
        assert_eq!(three, many, "{name}: the same bits on any number of threads");
    }
}

#[test]
fn awkward_data_give_numbers_or_errors() {
    let rng = &mut rng(41);
    let lonely: Vec<usize> = (0..20).map(|i| if i == 19 { 9 } else { i % 3 }).collect();
    let noise = gaussian(rng, 20, 15);
    let sets = [
        ("a class of one sample", noise.clone(), lonely.clone()),
        ("every class of one sample", noise.subrows(0, 6).to_owned(), (0..6).collect()),
        (
            "constant columns",
            Mat::from_fn(20, 15, |i, j| if j % 3 == 0 { 0.1 } else { noise[(i, j)] }),
            lonely.clone(),
        ),
        (
            "duplicates",
            Mat::from_fn(20, 15, |i, j| noise[(i / 3, j)]),
            (0..20).map(|i| (i / 3) % 3).collect(),
        ),
        ("one variable", noise.subcols(0, 1).to_owned(), lonely.clone()),
        (
            "extreme scales",
            Mat::from_fn(20, 15, |i, j| noise[(i, j)] * 10f64.powi(20 * (j as i32 % 3 - 1))),
            lonely.clone(),
        ),
        ("two samples", noise.subrows(0, 2).to_owned(), vec![0, 1]),
        (
            "ternary",
            Mat::from_fn(20, 15, |i, j| ((i * 7 + j * 5 + i * j) % 3) as f64),
            (0..20).map(|i| i % 3).collect(),
        ),
    ];
    for (what, x, labels) in sets {
        let data = Dataset::from_owned(x, &labels).unwrap();
        for method in Method::all() {
            if let Ok(reduced) = method.reducer().fit(&data, Some(4), &()) {
                let w = reduced.projection.to_dense();
                assert!(w.ncols() > 0 && w.norm_max().is_finite(), "{} on {what}", method.name());
                let z = reduced.projection.transform(data.x().unwrap()).unwrap();
                assert!(z.norm_max().is_finite(), "{} on {what}", method.name());
            }
        }
    }
    let constant = Dataset::from_owned(Mat::full(4, 3, 2.0), &[0, 1, 0, 1]).unwrap();
    for method in Method::all() {
        assert!(method.reducer().fit(&constant, None, &()).is_err(), "{}", method.name());
    }
}

/// A column a million times wider than what tells the classes apart must not make the other eigenvalues look equal.
#[test]
fn eigenvalues_are_compared_with_each_other_not_with_the_largest() {
    let rng = &mut rng(51);
    let labels: Vec<usize> = (0..60).map(|i| i % 2).collect();
    let x = Mat::from_fn(60, 3, |i, j| {
        let class = labels[i] as f64;
        common::normal(rng) * [1e6, 1.0, 30.0][j] + [0.0, 10.0 * class, 0.0][j]
    });
    let data = Dataset::from_owned(x, &labels).unwrap();
    let w = axes(&Dla { kappa: 0.5, ..Dla::default() }, &data, Some(1));
    assert!(w[(1, 0)] > 0.99, "{w:?}");
}

#[test]
fn parameters_out_of_range_are_named() {
    let cases: [(&dyn Reducer, &str); 7] = [
        (&Dla { k_within: 0, ..Dla::default() }, "k_within"),
        (&Dla { kappa: -1.0, ..Dla::default() }, "kappa"),
        (&Lpp { k: 0, ..Lpp::default() }, "`k`"),
        (&Npe { regularizer: f64::NAN, ..Npe::default() }, "regularizer"),
        (&Flda { pca_rank: Some(0), ridge: 0.0 }, "pca_rank"),
        (&menet::baselines::Spca { tolerance: 0.0, ..Default::default() }, "tolerance"),
        (&menet::baselines::Spg { patch: "nope".to_owned(), ..Default::default() }, "patch"),
    ];
    let data = clusters(1, 3, 5, 4);
    for (method, name) in cases {
        let message = method.check(4).unwrap_err().to_string();
        assert!(message.contains(name), "{message}");
        assert_eq!(method.fit(&data, None, &()).unwrap_err().to_string(), message);
    }
    for method in Method::all() {
        assert!(method.reducer().check(4).is_ok());
    }
}
