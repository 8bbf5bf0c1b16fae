//! Preparations with known answers, and what is refused.

use faer::{Mat, mat};

use super::*;
use crate::dataset::Samples;
use crate::named::Named;
use crate::numerics::sparse::SparseMatrix;

const MISSING: f64 = f64::NAN;

fn params(change: impl FnOnce(&mut PrepareParams)) -> PrepareParams {
    PrepareParams::default().with(change)
}

fn labels(n: usize) -> Vec<usize> {
    (0..n).map(|i| i % 2).collect()
}

/// Numbers without a pattern, some of them missing.
fn gaps(n: usize, p: usize, fraction: usize) -> Mat<f64> {
    Mat::from_fn(n, p, |i, j| match (i * 7919 + j * 104_729 + i * j * 31) % 1009 {
        hash if (hash * 7) % 100 < fraction => MISSING,
        hash => hash as f64 / 7.0 - 20.0 * j as f64,
    })
}

fn data(x: &Mat<f64>) -> Dataset<'static> {
    Dataset::with_missing(x.clone(), &labels(x.nrows())).unwrap()
}

fn dense(data: &Dataset<'_>) -> Mat<f64> {
    data.x().unwrap().to_owned()
}

/// What is learned of samples, and what they become.
fn prepared(x: &Mat<f64>, how: &PrepareParams) -> Result<(Preparation, Mat<f64>)> {
    let learned = Preparation::learn(&data(x), how)?;
    let prepared = dense(&learned.prepare(&data(x))?);
    Ok((learned, prepared))
}

#[test]
fn nothing_asked_for_is_nothing_done() {
    let x = gaps(9, 4, 0);
    assert!(Preparation::of(&data(&x), &PrepareParams::default()).unwrap().is_none());
    // Complete data that could have been filled stay where they are.
    let (data, impute) = (data(&x), params(|it| it.impute = Some(Impute::Median)));
    let (_, same) = Preparation::of(&data, &impute).unwrap().unwrap();
    assert_eq!(same.x().unwrap().as_ptr(), data.x().unwrap().as_ptr(), "no copy");
}

#[test]
fn known_answers() {
    let x = mat![[1.0, 4.0], [MISSING, 0.0], [3.0, 4.0], [8.0, MISSING], [4.0, 0.0]];
    let filled = |impute| prepared(&x, &params(|it| it.impute = Some(impute))).unwrap().1;
    assert_eq!(filled(Impute::Mean), mat![[1.0, 4.0], [4.0, 0.0], [3.0, 4.0], [8.0, 2.0], [4.0, 0.0]]);
    assert_eq!(filled(Impute::Median), mat![[1.0, 4.0], [3.5, 0.0], [3.0, 4.0], [8.0, 2.0], [4.0, 0.0]]);
    // Of deviation 2 are the values of the second variable that are there, which knn fills in its own units.
    let both = params(|it| (it.impute, it.scale) = (Some(Impute::Mean), Scale::Unit));
    let (learned, found) = prepared(&x, &both).unwrap();
    assert_eq!(learned.divisors.as_ref().unwrap()[1], 2.0);
    assert_eq!(found[(3, 1)], 1.0);
    assert_eq!(learned.missing, [0.2, 0.2]);
    let pareto = params(|it| (it.impute, it.scale) = (Some(Impute::Mean), Scale::Pareto));
    let (learned, _) = prepared(&x, &pareto).unwrap();
    assert_eq!(learned.divisors.unwrap()[1], 2f64.sqrt());
}

#[test]
fn batches_lose_their_mean_and_their_deviation() {
    let x = mat![[1.0, 10.0], [3.0, 10.0], [100.0, 7.0], [104.0, 9.0], [102.0, 8.0], [2.0, 13.0]];
    let batches = ["a", "a", "b", "b", "b", "a"];
    let data = Dataset::from_owned(x, &labels(6)).unwrap().with_batches(&batches).unwrap();
    let (learned, prepared) = Preparation::of(&data, &PrepareParams::default()).unwrap().unwrap();
    let expected = mat![[-1.0, -1.0], [1.0, -1.0], [-2.0, -1.0], [2.0, 1.0], [0.0, 0.0], [0.0, 2.0]];
    assert_eq!(dense(&prepared), expected);
    assert!(prepared.batches().is_none(), "no batch is left in them");
    // New samples: of a known batch by its centre, of a new one by their own.
    let new = mat![[5.0, 11.0], [10.0, 0.0], [12.0, 4.0]];
    let names = ["a", "c", "c"].map(str::to_owned);
    let apply = |rows: usize, names: Option<&[String]>| {
        learned.apply(crate::dataset::View::Double(new.get(..rows, ..)), names).map(|samples| {
            match samples.view() {
                crate::dataset::View::Double(x) => x.to_owned(),
                _ => unreachable!("dense samples stay dense"),
            }
        })
    };
    assert_eq!(apply(3, Some(&names)).unwrap(), mat![[3.0, 0.0], [-1.0, -2.0], [1.0, 2.0]]);
    for (names, word) in [(Some(&names[..2]), "\"c\""), (None, "batch"), (Some(&names[..1]), "2 samples")] {
        let message = apply(2, names).unwrap_err().to_string();
        assert!(message.contains(word), "{message}");
    }
    let scaled = params(|it| it.batch_scale = true);
    let (_, prepared) = Preparation::of(&data, &scaled).unwrap().unwrap();
    let deviation = |rows: [usize; 3], j: usize| {
        rows.iter().map(|&i| prepared.x().unwrap()[(i, j)].powi(2)).sum::<f64>() / 3.0
    };
    for (rows, j) in [([0, 1, 5], 0), ([2, 3, 4], 0), ([0, 1, 5], 1), ([2, 3, 4], 1)] {
        assert!((deviation(rows, j) - 1.0).abs() < 1e-15);
    }
}

#[test]
fn a_value_whose_batch_has_none_of_its_variable_is_missing() {
    let x = mat![[1.0, MISSING], [3.0, MISSING], [5.0, 7.0], [7.0, 9.0]];
    let data = data(&x).with_batches(&["a", "a", "b", "b"]).unwrap();
    let impute = params(|it| it.impute = Some(Impute::Mean));
    let (learned, prepared) = Preparation::of(&data, &impute).unwrap().unwrap();
    assert_eq!(dense(&prepared), mat![[-1.0, 0.0], [1.0, 0.0], [-1.0, -1.0], [1.0, 1.0]]);
    let new = mat![[2.0, 1000.0]];
    let known = Dataset::from_owned(new, &["0"]).unwrap().with_batches(&["a"]).unwrap();
    assert_eq!(dense(&learned.prepare(&known).unwrap()), mat![[0.0, 0.0]]);
}

#[test]
fn samples_are_prepared_alike_alone_and_together() {
    let x = gaps(40, 11, 20);
    let new = gaps(23, 11, 30);
    for &impute in Impute::ALL {
        for &scale in &[Scale::None, Scale::Unit, Scale::Pareto] {
            let how = params(|it| (it.impute, it.scale) = (Some(impute), scale));
            let learned = Preparation::learn(&data(&x), &how).unwrap();
            let together = dense(&learned.prepare(&data(&new)).unwrap());
            assert!((0..23).all(|i| (0..11).all(|j| together[(i, j)].is_finite())), "{how:?}");
            for i in 0..23 {
                let alone = Mat::from_fn(1, 11, |_, j| new[(i, j)]);
                let alone = Dataset::with_missing(alone, &["0"]).unwrap();
                let found = dense(&learned.prepare(&alone).unwrap());
                assert_eq!(found.row(0), together.row(i), "sample {i}, {how:?}");
            }
            // Values that are there are not touched by what others lack.
            let divisor = |j: usize| learned.divisors.as_ref().map_or(1.0, |all| all[j]);
            for i in 0..23 {
                for j in (0..11).filter(|&j| !new[(i, j)].is_nan()) {
                    assert_eq!(together[(i, j)], new[(i, j)] / divisor(j));
                }
            }
        }
    }
}

#[test]
fn sparse_samples_are_prepared_like_dense_ones_and_stay_sparse() {
    let x = Mat::from_fn(30, 7, |i, j| match (i * 13 + j * 29 + i * j) % 11 {
        0 => MISSING,
        hash @ (1..=3) => hash as f64,
        _ => 0.0,
    });
    let starts: Vec<usize> = (0..=30).map(|i| i * 7).collect();
    let indices: Vec<usize> = (0..210).map(|at| at % 7).collect();
    let values: Vec<f64> = (0..210).map(|at| x[(at / 7, at % 7)]).collect();
    let sparse = SparseMatrix::from_rows_with_missing((30, 7), &starts, &indices, &values).unwrap();
    let kept = Samples::kept_sparse(sparse.clone()).with_missing();
    let kept = Dataset::from_labels(kept, &labels(30)).unwrap();
    for &impute in &[Impute::Mean, Impute::Median] {
        for &scale in Scale::ALL {
            let how = params(|it| (it.impute, it.scale) = (Some(impute), scale));
            let (expected, filled) = prepared(&x, &how).unwrap();
            let (found, stays) = Preparation::of(&kept, &how).unwrap().unwrap();
            let off = stays.sparse().unwrap().to_dense() - &filled;
            assert!(off.norm_max() < 1e-14, "{how:?}: {}", off.norm_max());
            assert_eq!(found.missing, expected.missing);
        }
    }
    let knn = params(|it| it.impute = Some(Impute::Knn));
    let message = Preparation::of(&kept, &knn).unwrap_err().to_string();
    assert!(message.contains("\"knn\" with sparse samples") && message.contains("dense"), "{message}");
    let batches = kept.with_batches(&labels(30)).unwrap();
    let how = params(|it| it.impute = Some(Impute::Mean));
    let message = Preparation::of(&batches, &how).unwrap_err().to_string();
    assert!(message.contains("batch") && message.contains("sparse"), "{message}");
}

#[test]
fn variables_that_are_missing_too_often_are_left_out() {
    let x = mat![[1.0, MISSING, MISSING], [2.0, MISSING, 5.0], [3.0, MISSING, MISSING], [4.0, 9.0, 6.0]];
    let of = |max_missing| {
        let how = params(|it| (it.impute, it.max_missing) = (Some(Impute::Mean), max_missing));
        prepared(&x, &how)
    };
    let (learned, found) = of(0.5).unwrap();
    assert_eq!(learned.dropped, [1]);
    assert_eq!(learned.missing, [0.0, 0.75, 0.5]);
    assert_eq!(found.col(1).norm_max(), 0.0);
    assert_eq!(of(0.0).unwrap().0.dropped, [1, 2]);
    assert!(of(1.0).unwrap().0.dropped.is_empty());
    let message = of(1.5).unwrap_err().to_string();
    assert!(message.contains("max_missing") && message.contains("1.5"), "{message}");
    // One that all samples lack is left out, or refused where nothing is to be left out.
    let x = Mat::from_fn(4, 3, |i, j| if j == 2 { MISSING } else { (i * j + i) as f64 });
    let data = data(&x).with_feature_names(["a", "b", "c"].map(str::to_owned).to_vec()).unwrap();
    let how = params(|it| it.impute = Some(Impute::Knn));
    assert_eq!(Preparation::of(&data, &how).unwrap().unwrap().0.dropped, [2]);
    let message = Preparation::of(&data, &how.with(|it| it.max_missing = 1.0)).unwrap_err().to_string();
    assert!(message.contains("variable \"c\"") && message.contains("every sample"), "{message}");
    let empty = Mat::from_fn(4, 2, |_, _| MISSING);
    let empty = Dataset::with_missing(empty, &labels(4)).unwrap();
    assert!(Preparation::of(&empty, &how).unwrap_err().to_string().contains("no variable is left"));
}

#[test]
fn what_cannot_be_prepared_is_named() {
    let x = mat![[1.0, 2.0], [-1.5, 4.0], [3.0, 0.0], [0.0, 1.0]];
    let counts = params(|it| it.scale = Scale::Log1p);
    let named = Dataset::from_owned(x.clone(), &labels(4)).unwrap();
    let named = named.with_feature_names(vec!["iron".to_owned(), "zinc".to_owned()]).unwrap();
    let message = Preparation::of(&named, &counts).unwrap_err().to_string();
    assert!(message.contains("-1.5 in row 1") && message.contains("\"iron\""), "{message}");
    let learned = Preparation::learn(&data(&mat![[1.0, 2.0], [0.0, 3.0]]), &counts).unwrap();
    assert!(learned.prepare(&data(&x)).unwrap_err().to_string().contains("-1.5"), "new samples, too");
    // Infinite values are no missing ones.
    let mut infinite = gaps(6, 3, 0);
    infinite[(4, 1)] = f64::INFINITY;
    let message = Dataset::with_missing(infinite.clone(), &labels(6)).unwrap_err().to_string();
    assert!(message.contains("row 4, column 1") && message.contains("inf"), "{message}");
    let fill = params(|it| it.impute = Some(Impute::Mean));
    let learned = Preparation::learn(&data(&gaps(6, 3, 10)), &fill).unwrap();
    assert!(learned.apply(crate::dataset::View::Double(infinite.as_ref()), None).is_err());
    // Missing values without a way to fill them.
    let message = Preparation::learn(&data(&gaps(6, 3, 50)), &counts).unwrap_err().to_string();
    assert!(message.contains("NaN"), "{message}");
    let batches = Dataset::from_owned(x, &labels(4)).unwrap().with_batches(&["a", "b", "a", "a"]).unwrap();
    let message = Preparation::of(&batches, &PrepareParams::default()).unwrap_err().to_string();
    assert!(message.contains("\"b\" for 1 of the training samples"), "{message}");
}

#[test]
fn constant_variables_stay_constant() {
    let x = Mat::from_fn(7, 3, |i, j| [0.1, i as f64, 1e8][j]);
    for &scale in Scale::ALL {
        let (learned, prepared) = prepared(&x, &params(|it| it.scale = scale)).unwrap();
        for j in [0, 2] {
            assert!((1..7).all(|i| prepared[(i, j)] == prepared[(0, j)]), "{scale:?}");
            assert!(learned.divisors.as_ref().is_none_or(|all| all[j] == 1.0), "{scale:?}");
        }
    }
}
