//! Few, many, constant, scaled and tied variables.

use faer::Mat;
use menet::{Dataset, MenParams};

use super::fitted;
use crate::common::{self, clusters};

#[test]
fn every_feature_scaled() {
    let base = clusters(9, 4, 8, 20);
    let params = MenParams::paper().with(|it| it.nonzeros = Some(6));
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

/// A variable whose squares vanish counts as constant, and the fit says so; a larger one is a variable like any other.
#[test]
fn a_variable_too_small_to_be_squared_is_named() {
    let base = clusters(10, 4, 8, 20);
    let at = |size: f64, sparse: bool| {
        let x = Mat::from_fn(32, 20, |i, j| base.x().unwrap()[(i, j)] * if j == 3 { size } else { 1.0 });
        let names = (0..20).map(|j| format!("v{j}")).collect();
        let data = if sparse {
            let x = menet::sparse::SparseMatrix::from_dense(x.as_ref()).unwrap();
            Dataset::from_sparse(x, base.class_indices()).unwrap()
        } else {
            Dataset::from_owned(x, base.class_indices()).unwrap()
        };
        fitted(
            &data.with_feature_names(names).unwrap(),
            &MenParams::paper().with(|it| it.nonzeros = Some(20)),
        )
    };
    for sparse in [false, true] {
        for size in [1e-165, 1e-158, 1e-300] {
            let men = at(size, sparse);
            let doubts = men.doubts();
            assert!(
                doubts.iter().any(|doubt| doubt.contains("v3") && doubt.contains("squared")),
                "{doubts:?}"
            );
            assert!(!men.panel().contains(&3));
        }
        let men = at(1e-140, sparse);
        assert!(men.doubts().iter().all(|doubt| !doubt.contains("squared")), "{:?}", men.doubts());
        assert!(men.panel().contains(&3), "{:?}", men.panel());
    }
    let tiny = Mat::from_fn(6, 2, |i, j| 1e-170 * ((i * 5 + j) % 7) as f64);
    let data = Dataset::from_owned(tiny, &[0, 1, 0, 1, 0, 1]).unwrap();
    let message = menet::fit(&data, &MenParams::default(), &()).unwrap_err().to_string();
    assert!(message.contains("constant") && message.contains("squared"), "{message}");
}

#[test]
fn one_feature_scaled() {
    let base = clusters(10, 4, 8, 20);
    for size in [1e8, 1e-8] {
        for standardize in [true, false] {
            let x = Mat::from_fn(32, 20, |i, j| base.x().unwrap()[(i, j)] * if j == 3 { size } else { 1.0 });
            let data = Dataset::from_owned(x, base.class_indices()).unwrap();
            let men = fitted(
                &data,
                &MenParams::paper().with(|it| {
                    it.penalty.standardize = standardize;
                    it.nonzeros = Some(8);
                }),
            );
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
        &MenParams::paper().with(|it| it.nonzeros = Some(12)),
    );
    for axis in men.projection().axes() {
        assert_eq!(axis.nonzeros(), 10);
        assert_eq!((axis.get(4), axis.get(7)), (0.0, 0.0));
    }
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
fn wide_and_tall() {
    fitted(&clusters(15, 3, 4, 400), &MenParams::paper());
    fitted(&clusters(16, 3, 200, 4), &MenParams::paper());
    fitted(&clusters(17, 3, 4, 60), &MenParams::paper().with(|it| it.ridge = Some(0.0)));
}

#[test]
fn more_variables_than_a_gram_matrix_holds() {
    let data = clusters(18, 3, 5, menet::gram::GRAM_LIMIT + 50);
    let params = MenParams::paper().with(|it| it.nonzeros = Some(20));
    assert_eq!(fitted(&data, &params).support_sizes(), [20, 20]);
}

#[test]
fn pca_reconstruction_still_speaks_of_the_original_variables() {
    let data = clusters(19, 4, 8, 15);
    let men = fitted(
        &data,
        &MenParams::paper().with(|it| {
            it.pca_rank = Some(5);
            it.nonzeros = Some(4);
        }),
    );
    assert_eq!(men.projection().variables(), 15);
    assert_eq!(men.support_sizes(), [4, 4, 4]);
    let full = fitted(&data, &MenParams::paper().with(|it| it.pca_rank = Some(999)));
    let plain = fitted(&data, &MenParams::paper());
    assert!(
        common::relative_difference(&full.projection().to_dense(), &plain.projection().to_dense()) < 1e-8
    );
}
