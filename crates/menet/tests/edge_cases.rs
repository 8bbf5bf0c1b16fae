//! Careless, degenerate and extreme input to a fit: certified answers or one clear error.

mod common;

use common::clusters;
use faer::{Mat, mat};
use menet::lars::Certificate;
use menet::neighbors::{Among, neighbors};
use menet::panel::Reading;
use menet::preprocess::Preprocessed;
use menet::target::{TargetKind, target};
use menet::{Dataset, Error, Men, MenParams, Monitor, Named, Stage, fit};
use std::sync::Mutex;

fn fitted(data: &Dataset<'_>, params: &MenParams) -> Men {
    let men = fit(data, params, &()).unwrap();
    // On raw columns the plain measure says little of one that is far longer than those that carry b.
    let kkt = |c: &Certificate| if params.standardize { c.kkt.max(c.scaled) } else { c.scaled };
    assert!(men.certificates().iter().all(|c| kkt(c) <= 1e-9), "{:?}", men.certificates());
    let limit = params.nonzeros.unwrap_or_else(|| menet::params::default_nonzeros(data.samples()));
    assert!(men.support_sizes().iter().all(|&k| k <= limit));
    assert!(men.transform(data.x().unwrap()).unwrap().norm_max().is_finite());
    men
}

fn message(data: &Dataset<'_>, params: &MenParams) -> String {
    fit(data, params, &()).unwrap_err().to_string()
}

/// The samples of `data` at `rows`.
fn rows(data: &Dataset<'_>, rows: &[usize]) -> Mat<f64> {
    Mat::from_fn(rows.len(), data.variables(), |i, j| data.x().unwrap()[(rows[i], j)])
}

#[test]
fn a_class_of_one_sample() {
    let base = clusters(1, 3, 6, 8);
    let x = rows(&base, &[0, 1, 2, 3, 4, 6, 7]);
    let data = Dataset::from_owned(x, &["a", "b", "c", "a", "b", "a", "b"]).unwrap();
    assert_eq!(data.members(2), [2]);
    for patch in menet::patches::REGISTRY {
        fitted(&data, &MenParams { patch: patch.name().to_owned(), ..MenParams::paper() });
    }
}

#[test]
fn every_class_of_one_sample() {
    let data = Dataset::from_owned(rows(&clusters(2, 5, 1, 6), &[0, 1, 2, 3, 4]), &[0, 1, 2, 3, 4]).unwrap();
    for &target in TargetKind::ALL {
        assert_eq!(fitted(&data, &MenParams { target, ..MenParams::paper() }).projection().components(), 4);
    }
}

#[test]
fn more_neighbours_than_samples() {
    let params = MenParams { k_within: 1000, k_between: 1000, ..MenParams::paper() };
    fitted(&clusters(3, 3, 4, 5), &params);
    fitted(&clusters(3, 3, 4, 5), &MenParams { k_between: 0, ..MenParams::paper() });
}

#[test]
fn two_classes_one_axis() {
    let data = clusters(4, 2, 10, 12);
    let men = fitted(&data, &MenParams { nonzeros: Some(3), ..MenParams::paper() });
    assert_eq!(men.projection().components(), 1);
    assert_eq!(men.support_sizes(), [3]);
}

#[test]
fn too_many_components() {
    let data = clusters(5, 4, 5, 10);
    let params = MenParams { components: Some(4), ..MenParams::paper() };
    assert_eq!(
        fit(&data, &params, &()).unwrap_err(),
        Error::Components { requested: 4, limit: 3, classes: 4 }
    );
    assert!(message(&data, &params).contains("use 1 to 3"));
    let zero = MenParams { components: Some(0), ..MenParams::paper() };
    assert!(message(&data, &zero).contains("`components` is 0"));
}

#[test]
fn duplicate_samples() {
    let base = clusters(6, 3, 5, 7);
    let twice: Vec<usize> = (0..15).chain(0..15).collect();
    let labels: Vec<usize> = twice.iter().map(|i| i % 3).collect();
    let data = Dataset::from_owned(rows(&base, &twice), &labels).unwrap();
    for patch in menet::patches::REGISTRY {
        fitted(&data, &MenParams { patch: patch.name().to_owned(), ..MenParams::paper() });
    }
    // Nothing but copies of two points, one a class.
    let x = Mat::from_fn(8, 3, |i, j| ((i % 2) * (j + 1)) as f64);
    let data = Dataset::from_owned(x, &[0, 1, 0, 1, 0, 1, 0, 1]).unwrap();
    for patch in menet::patches::REGISTRY {
        fitted(&data, &MenParams { patch: patch.name().to_owned(), ..MenParams::paper() });
    }
}

#[test]
fn one_sample_one_class_one_variable() {
    let one = Dataset::from_owned(mat![[1.0, 2.0]], &["a"]).unwrap();
    assert_eq!(fit(&one, &MenParams::paper(), &()).unwrap_err(), Error::Classes { found: 1, samples: 1 });
    let single = Dataset::from_owned(mat![[1.0], [2.0], [3.0]], &["a", "a", "a"]).unwrap();
    assert!(message(&single, &MenParams::paper()).contains("1 class found in 3 samples"));
    let narrow = Dataset::from_owned(mat![[1.0], [2.0], [5.0], [6.5]], &["a", "a", "b", "b"]).unwrap();
    let men = fitted(&narrow, &MenParams::paper());
    assert_eq!(men.support_sizes(), [1]);
}

#[test]
fn the_default_number_of_nonzeros_follows_the_samples() {
    for (n, expected) in [(6, 50), (25, 50), (26, 52), (40, 80), (50, 100), (400, 100)] {
        assert_eq!(menet::params::default_nonzeros(n), expected);
    }
    // 30 samples of 90 variables, and of 20.
    for (p, expected) in [(90, 60), (20, 20)] {
        let data = clusters(5, 3, 10, p);
        let men = fitted(&data, &MenParams::paper());
        assert_eq!((data.samples(), men.nonzeros(), men.params().nonzeros), (30, expected, None));
        let asked = fitted(&data, &MenParams { nonzeros: Some(expected), ..MenParams::paper() });
        assert_eq!((asked.projection(), asked.nonzeros()), (men.projection(), expected));
        assert_eq!(
            men.at(Reading { nonzeros: Some(3), components: None, ..Reading::default() }, None)
                .unwrap()
                .nonzeros(),
            3
        );
        let most = men.support_sizes().into_iter().max();
        assert_eq!(
            (Some(men.without_paths().nonzeros()), asked.without_paths().nonzeros()),
            (most, expected)
        );
    }
}

#[test]
fn numbers_of_nonzeros() {
    let data = clusters(7, 4, 6, 9);
    let with = |k| MenParams { nonzeros: Some(k), ..MenParams::paper() };
    let all = fitted(&data, &with(1000));
    assert_eq!(all.support_sizes(), [9, 9, 9], "more than p means p");
    assert_eq!(fitted(&data, &with(1)).support_sizes(), [1, 1, 1]);
    assert!(message(&data, &with(0)).contains("`nonzeros` is 0"));
    assert!(
        all.at(Reading { nonzeros: Some(0), components: None, ..Reading::default() }, None).is_err()
            && all.at(Reading { nonzeros: None, components: Some(0), ..Reading::default() }, None).is_err()
            && all.at(Reading { nonzeros: None, components: Some(4), ..Reading::default() }, None).is_err()
    );
    assert!(
        fitted(&data, &with(3))
            .at(Reading { nonzeros: Some(4), components: None, ..Reading::default() }, None)
            .is_err()
    );
}

#[test]
fn a_fit_holds_every_smaller_fit_bit_for_bit() {
    // More variables than a Gram matrix is formed for, so columns on demand.
    let wide = clusters(27, 4, 5, menet::regime::GRAM_LIMIT + 100);
    let large = fitted(&wide, &MenParams { nonzeros: Some(40), ..MenParams::paper() });
    for k in (1..=40).step_by(3) {
        let direct = fitted(&wide, &MenParams { nonzeros: Some(k), ..MenParams::paper() });
        assert_eq!(
            direct.paths(),
            large
                .at(Reading { nonzeros: Some(k), components: None, ..Reading::default() }, None)
                .unwrap()
                .paths(),
            "K {k}"
        );
    }
    let labels: Vec<usize> = (0..60).map(|i| i / 5).collect();
    let data = Dataset::from_owned(common::drawn::faces(3, 12, 5, 20), &labels).unwrap();
    let with = |k, d| MenParams { nonzeros: Some(k), components: Some(d), ..MenParams::paper() };
    let large = fitted(&data, &with(40, 11));
    for (k, d) in [(40, 11), (40, 3), (39, 11), (17, 5), (5, 1), (1, 11)] {
        let (direct, cut) = (
            fitted(&data, &with(k, d)),
            large.at(Reading { nonzeros: Some(k), components: Some(d), ..Reading::default() }, None).unwrap(),
        );
        assert_eq!(direct.projection(), cut.projection(), "K {k} d {d}");
        assert_eq!(direct.paths(), cut.paths());
        assert_eq!((direct.levels(), direct.certificates()), (cut.levels(), cut.certificates()));
        assert_eq!(direct.params(), cut.params());
    }
}

#[test]
fn labels_of_any_kind() {
    let base = clusters(8, 3, 5, 6);
    let reference = fitted(&base, &MenParams::paper());
    let names = ["zebra", "ärger", "apple"]; // bytewise: apple, zebra, ärger
    let strings: Vec<&str> = (0..15).map(|i| names[i % 3]).collect();
    let data = Dataset::new(base.x().unwrap(), &strings).unwrap();
    assert_eq!(data.classes(), ["apple", "zebra", "ärger"]);
    // The order of classes may turn the sign of an axis, nothing else.
    let men = fitted(&data, &MenParams::paper());
    for (a, b) in reference.projection().axes().iter().zip(men.projection().axes()) {
        assert_eq!(a.indices(), b.indices());
        assert!(a.values().iter().zip(b.values()).all(|(a, b)| (a.abs() - b.abs()).abs() < 1e-9 * a.abs()));
    }
    let sparse: Vec<i64> = (0..15).map(|i| [-7, 1_000_000, 3][i % 3]).collect();
    assert_eq!(Dataset::new(base.x().unwrap(), &sparse).unwrap().classes(), ["-7", "3", "1000000"]);
}

#[test]
fn every_feature_scaled() {
    let base = clusters(9, 4, 8, 20);
    let params = MenParams { nonzeros: Some(6), ..MenParams::paper() };
    let reference = fitted(&base, &params);
    for size in [1e8, 1e-8, 1e20, 1e-20] {
        let x = base.x().unwrap() * faer::Scale(size);
        let labels: Vec<usize> = base.class_indices().to_vec();
        let men = fitted(&Dataset::from_owned(x, &labels).unwrap(), &params);
        for (a, b) in reference.projection().axes().iter().zip(men.projection().axes()) {
            assert_eq!(a.indices(), b.indices());
            // A whitened target does not know the units, so W carries them.
            assert!(a.values().iter().zip(b.values()).all(|(a, b)| (b * size - a).abs() < 1e-7 * a.abs()));
        }
    }
}

#[test]
fn one_feature_scaled() {
    let base = clusters(10, 4, 8, 20);
    for size in [1e8, 1e-8] {
        for standardize in [true, false] {
            let x = Mat::from_fn(32, 20, |i, j| base.x().unwrap()[(i, j)] * if j == 3 { size } else { 1.0 });
            let data = Dataset::from_owned(x, base.class_indices()).unwrap();
            let men = fitted(&data, &MenParams { standardize, nonzeros: Some(8), ..MenParams::paper() });
            assert!(men.projection().to_dense().norm_max().is_finite());
        }
    }
}

#[test]
fn single_precision() {
    let base = clusters(11, 3, 6, 10);
    let single = Mat::from_fn(18, 10, |i, j| base.x().unwrap()[(i, j)] as f32);
    let double = Mat::from_fn(18, 10, |i, j| f64::from(single[(i, j)]));
    let a = fitted(&Dataset::from_f32(single.as_ref(), base.class_indices()).unwrap(), &MenParams::paper());
    let b = fitted(&Dataset::new(double.as_ref(), base.class_indices()).unwrap(), &MenParams::paper());
    assert_eq!(a.projection(), b.projection());
}

#[test]
fn memory_order_changes_nothing() {
    let base = clusters(12, 3, 6, 10);
    let row_major = base.x().unwrap().transpose().to_owned();
    let data = Dataset::new(row_major.transpose(), base.class_indices()).unwrap();
    assert_eq!(
        fitted(&data, &MenParams::paper()).projection(),
        fitted(&base, &MenParams::paper()).projection()
    );
}

#[test]
fn constant_columns_are_never_selected() {
    let base = clusters(13, 3, 6, 10);
    let x = Mat::from_fn(18, 12, |i, j| match j {
        4 => 0.1,
        7 => 0.0,
        _ => base.x().unwrap()[(i, j - usize::from(j > 4) - usize::from(j > 7))],
    });
    let men = fitted(
        &Dataset::from_owned(x, base.class_indices()).unwrap(),
        &MenParams { nonzeros: Some(12), ..MenParams::paper() },
    );
    for axis in men.projection().axes() {
        assert_eq!(axis.nonzeros(), 10);
        assert_eq!((axis.get(4), axis.get(7)), (0.0, 0.0));
    }
}

#[test]
fn barred_and_favoured_variables() {
    let data = clusters(14, 3, 8, 10);
    let mut factors = vec![1.0; 10];
    factors[2] = f64::INFINITY;
    factors[6] = 1e-3;
    let params = MenParams { penalty_factors: Some(factors), nonzeros: Some(4), ..MenParams::paper() };
    for (axis, path) in fitted(&data, &params).projection().axes().iter().zip(fitted(&data, &params).paths())
    {
        assert_eq!(axis.get(2), 0.0);
        assert_eq!(path.order_of_entry()[0], 6);
    }
    let short = MenParams { penalty_factors: Some(vec![1.0; 9]), ..MenParams::paper() };
    assert!(message(&data, &short).contains("10 variables"));
}

#[test]
fn wide_and_tall() {
    fitted(&clusters(15, 3, 4, 400), &MenParams::paper());
    fitted(&clusters(16, 3, 200, 4), &MenParams::paper());
    fitted(&clusters(17, 3, 4, 60), &MenParams { ridge: Some(0.0), ..MenParams::paper() });
}

#[test]
fn more_variables_than_a_gram_matrix_holds() {
    let data = clusters(18, 3, 5, menet::regime::GRAM_LIMIT + 50);
    let params = MenParams { nonzeros: Some(20), ..MenParams::paper() };
    assert_eq!(fitted(&data, &params).support_sizes(), [20, 20]);
}

#[test]
fn pca_reconstruction_still_speaks_of_the_original_variables() {
    let data = clusters(19, 4, 8, 15);
    let men = fitted(&data, &MenParams { pca_rank: Some(5), nonzeros: Some(4), ..MenParams::paper() });
    assert_eq!(men.projection().variables(), 15);
    assert_eq!(men.support_sizes(), [4, 4, 4]);
    let full = fitted(&data, &MenParams { pca_rank: Some(999), ..MenParams::paper() });
    let plain = fitted(&data, &MenParams::paper());
    assert!(
        common::relative_difference(&full.projection().to_dense(), &plain.projection().to_dense()) < 1e-8
    );
}

#[test]
fn training_scores_follow_the_target() {
    let data = clusters(20, 3, 10, 6);
    let params = MenParams { ridge: Some(0.0), alpha: 0.0, ..MenParams::paper() };
    let men = fitted(&data, &params);
    let pre = Preprocessed::new(&data, None).unwrap();
    let y = target(&data, &pre, params.target, params.target_shrinkage, None).unwrap();
    let z = men.transform(data.x().unwrap()).unwrap();
    for k in 0..2 {
        let cosine = (z.col(k).transpose() * y.col(k)) / (z.col(k).norm_l2() * y.col(k).norm_l2());
        let other = (z.col(k).transpose() * y.col(1 - k)) / (z.col(k).norm_l2() * y.col(1 - k).norm_l2());
        assert!(cosine > 0.7 && cosine > 2.0 * other.abs(), "axis {k}: {cosine} {other}");
    }
}

#[test]
fn ties_that_leave_an_axis_empty_are_an_error() {
    // Two samples: every variable tells them apart equally well.
    let two = Dataset::from_owned(mat![[0.0, 1.0, 2.0], [1.0, 3.0, 1.0]], &["a", "b"]).unwrap();
    let with = |k| MenParams { nonzeros: Some(k), ..MenParams::paper() };
    let message = message(&two, &with(2));
    assert!(
        message.contains("3 tie for the first place") && message.contains("`nonzeros` is 2"),
        "{message}"
    );
    let men = fitted(&two, &with(3));
    assert_eq!(men.support_sizes(), [3]);
    assert!(matches!(
        men.at(Reading { nonzeros: Some(2), components: None, ..Reading::default() }, None),
        Err(Error::Tie { component: 1, tied: 3, nonzeros: 2 })
    ));
}

#[test]
fn a_column_that_is_rounding_takes_no_part() {
    // 1e14 plus a little: centred, nothing but rounding is left of it.
    let base = clusters(23, 3, 6, 5);
    let x =
        Mat::from_fn(18, 6, |i, j| if j == 5 { 1e14 + (i % 7) as f64 } else { base.x().unwrap()[(i, j)] });
    let men = fitted(&Dataset::from_owned(x, base.class_indices()).unwrap(), &MenParams::paper());
    let without = fitted(&base, &MenParams::paper());
    for (a, b) in men.projection().axes().iter().zip(without.projection().axes()) {
        assert_eq!(a.indices(), b.indices());
        assert!(a.values().iter().zip(b.values()).all(|(a, b)| (a - b).abs() < 1e-9 * b.abs()));
    }
}

#[test]
fn stages_refuse_what_does_not_belong_together() {
    let (one, other) = (clusters(24, 3, 6, 5), clusters(25, 3, 5, 5));
    let pre = Preprocessed::new(&other, None).unwrap();
    let size = |error: Error| assert!(matches!(error, Error::Size { .. }), "{error}");
    size(neighbors(&one, &pre, Among::All, 2, &()).unwrap_err());
    size(target(&one, &pre, TargetKind::Centres, 1.0, None).unwrap_err());
}

#[test]
fn huge_neighbourhoods_stay_small() {
    // A patch of hundreds of members is its few nonzeros, not a dense square.
    let data = clusters(26, 2, 300, 4);
    fitted(&data, &MenParams { k_within: 299, k_between: 300, ..MenParams::paper() });
}

#[test]
fn parameters_out_of_range() {
    let data = clusters(21, 3, 5, 6);
    let d = MenParams::default;
    let cases = [
        ("ridge", MenParams { ridge: Some(-0.1), ..d() }),
        ("ridge", MenParams { ridge: Some(f64::NAN), ..d() }),
        ("alpha", MenParams { alpha: -1.0, ..d() }),
        ("beta", MenParams { beta: 0.0, ..d() }),
        ("kappa", MenParams { kappa: f64::INFINITY, ..d() }),
        ("k_within", MenParams { k_within: 0, ..d() }),
        ("patch", MenParams { patch: "umap".to_owned(), ..d() }),
        ("bandwidth", MenParams { bandwidth: Some(0.0), ..d() }),
        ("lle_regularizer", MenParams { lle_regularizer: 0.0, ..d() }),
        ("ltsa_dimension", MenParams { ltsa_dimension: Some(0), ..d() }),
        ("target_shrinkage", MenParams { target_shrinkage: 0.0, ..d() }),
        ("floor", MenParams { floor: 0.0, ..d() }),
        ("floor", MenParams { floor: 1.1, ..d() }),
        ("pca_rank", MenParams { pca_rank: Some(0), ..d() }),
    ];
    for (name, params) in cases {
        let message = message(&data, &params);
        assert!(message.starts_with(&format!("`{name}` is ")), "{message}");
    }
}

#[derive(Default)]
struct Recorder {
    seen: Mutex<Vec<Stage>>,
    stop_at: Option<Stage>,
}

impl Monitor for Recorder {
    fn progress(&self, stage: Stage, done: usize, total: usize) {
        assert!(done <= total);
        self.seen.lock().unwrap().push(stage);
    }
    fn stop(&self) -> bool {
        self.stop_at.is_some() && self.seen.lock().unwrap().last() == self.stop_at.as_ref()
    }
}

#[test]
fn a_monitor_sees_every_stage_and_can_stop_any() {
    let data = clusters(22, 3, 6, 8);
    let recorder = Recorder::default();
    let men = fit(&data, &MenParams::paper(), &recorder).unwrap();
    let mut seen = recorder.seen.into_inner().unwrap();
    seen.dedup();
    assert_eq!(seen, Stage::ALL);
    assert_eq!(men.seconds().iter().map(|(stage, _)| *stage).collect::<Vec<_>>(), Stage::ALL);
    for stage in Stage::ALL {
        let recorder = Recorder { stop_at: Some(stage), ..Recorder::default() };
        // Asked as a stage begins, it ends within that stage, or before the next one where it cannot be cut.
        let Err(Error::Stopped { stage: at }) = fit(&data, &MenParams::paper(), &recorder) else {
            panic!("{stage}")
        };
        let place = |stage| Stage::ALL.iter().position(|&other| other == stage).unwrap();
        assert!(place(at) == place(stage) || place(at) == place(stage) + 1, "{stage} stopped at {at}");
    }
}
