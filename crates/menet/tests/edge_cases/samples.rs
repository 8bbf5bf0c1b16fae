//! Few, equal and odd samples and classes.

use faer::{Mat, mat};
use menet::targets::{AxisCount, TargetKind, target};
use menet::{Centred, Dataset, Error, MenParams, Named, fit};

use super::{fitted, message, rows};
use crate::common::clusters;

#[test]
fn a_class_of_one_sample() {
    let base = clusters(1, 3, 6, 8);
    let x = rows(&base, &[0, 1, 2, 3, 4, 6, 7]);
    let data = Dataset::from_owned(x, &["a", "b", "c", "a", "b", "a", "b"]).unwrap();
    assert_eq!(data.members(2), [2]);
    for patch in menet::patches::REGISTRY {
        fitted(&data, &MenParams::paper().with(|it| it.patch.kind = patch.name().to_owned()));
    }
}

#[test]
fn every_class_of_one_sample() {
    let data = Dataset::from_owned(rows(&clusters(2, 5, 1, 6), &[0, 1, 2, 3, 4]), &[0, 1, 2, 3, 4]).unwrap();
    for &target in TargetKind::ALL {
        assert_eq!(
            fitted(&data, &MenParams::paper().with(|it| it.target.kind = target)).projection().components(),
            4
        );
    }
}

#[test]
fn more_neighbours_than_samples() {
    let params = MenParams::paper().with(|it| {
        it.patch.k_within = 1000;
        it.patch.k_between = 1000;
    });
    fitted(&clusters(3, 3, 4, 5), &params);
    fitted(&clusters(3, 3, 4, 5), &MenParams::paper().with(|it| it.patch.k_between = 0));
}

#[test]
fn two_classes_one_axis() {
    let data = clusters(4, 2, 10, 12);
    let men = fitted(&data, &MenParams::paper().with(|it| it.nonzeros = Some(3)));
    assert_eq!(men.projection().components(), 1);
    assert_eq!(men.support_sizes(), [3]);
}

/// `whitened` would give the same axis up to scale, so its work is saved: both targets have the same bits.
#[test]
fn two_classes_are_not_whitened() {
    let data = clusters(4, 2, 10, 12);
    let pre = Centred::new(&data, None).unwrap();
    let of = |kind| target(&data, &pre, kind, 0.1, AxisCount::All, &()).unwrap();
    assert_eq!(of(TargetKind::Whitened), of(TargetKind::Centres));
    let three = clusters(4, 3, 10, 12);
    let pre = Centred::new(&three, None).unwrap();
    let of = |kind| target(&three, &pre, kind, 0.1, AxisCount::All, &()).unwrap();
    assert_ne!(of(TargetKind::Whitened), of(TargetKind::Centres));
}

#[test]
fn too_many_components() {
    let data = clusters(5, 4, 5, 10);
    let params = MenParams::paper().with(|it| it.components = Some(4));
    assert_eq!(
        fit(&data, &params, &()).unwrap_err(),
        Error::Components { requested: 4, limit: 3, classes: 4 }
    );
    assert!(message(&data, &params).contains("use 1 to 3"));
    let zero = MenParams::paper().with(|it| it.components = Some(0));
    assert!(message(&data, &zero).contains("`components` is 0"));
}

#[test]
fn duplicate_samples() {
    let base = clusters(6, 3, 5, 7);
    let twice: Vec<usize> = (0..15).chain(0..15).collect();
    let labels: Vec<usize> = twice.iter().map(|i| i % 3).collect();
    let data = Dataset::from_owned(rows(&base, &twice), &labels).unwrap();
    for patch in menet::patches::REGISTRY {
        fitted(&data, &MenParams::paper().with(|it| it.patch.kind = patch.name().to_owned()));
    }
    // Nothing but copies of two points, one per class.
    let x = Mat::from_fn(8, 3, |i, j| ((i % 2) * (j + 1)) as f64);
    let data = Dataset::from_owned(x, &[0, 1, 0, 1, 0, 1, 0, 1]).unwrap();
    for patch in menet::patches::REGISTRY {
        fitted(&data, &MenParams::paper().with(|it| it.patch.kind = patch.name().to_owned()));
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
fn huge_neighbourhoods_stay_small() {
    // A patch of hundreds of members is its few nonzeros, not a dense square.
    let data = clusters(26, 2, 300, 4);
    fitted(
        &data,
        &MenParams::paper().with(|it| {
            it.patch.k_within = 299;
            it.patch.k_between = 300;
        }),
    );
}

/// Without a ridge and a manifold term, and with all variables, the scores are the least-squares fit of the target.
#[test]
fn training_scores_follow_the_target() {
    let data = clusters(20, 3, 10, 6);
    let params = MenParams::paper().with(|it| {
        it.ridge = Some(0.0);
        it.manifold.alpha = 0.0;
    });
    let men = fitted(&data, &params);
    let pre = Centred::new(&data, None).unwrap();
    let z = men.transform(data.x().unwrap()).unwrap();
    // How far the residual is from orthogonal to every variable.
    let off = |shrinkage: f64| {
        let y = target(&data, &pre, params.target.kind, shrinkage, AxisCount::All, &()).unwrap();
        let x = pre.dense().unwrap().transpose();
        (x * (&z - &y)).norm_max() / (x * &y).norm_max()
    };
    assert!(off(params.target.shrinkage) < 1e-9, "{:e}", off(params.target.shrinkage));
    assert!(off(10.0 * params.target.shrinkage) > 1e-3, "another target is another fit");
    let y = target(&data, &pre, params.target.kind, params.target.shrinkage, AxisCount::All, &()).unwrap();
    for k in 0..2 {
        let cosine = (z.col(k).transpose() * y.col(k)) / (z.col(k).norm_l2() * y.col(k).norm_l2());
        let other = (z.col(k).transpose() * y.col(1 - k)) / (z.col(k).norm_l2() * y.col(1 - k).norm_l2());
        assert!(cosine > 0.7 && cosine > 2.0 * other.abs(), "axis {k}: {cosine} {other}");
    }
}
