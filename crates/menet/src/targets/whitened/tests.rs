use super::*;
use crate::targets::{AxisCount, TargetKind, placed, target};

/// Fixed noise, with classes that differ.
fn noise(n: usize, p: usize, classes: usize) -> Mat<f64> {
    let mut state = 12_345_u64;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    };
    let centres = Mat::from_fn(classes, p, |_, _| 0.3 * uniform());
    Mat::from_fn(n, p, |i, j| uniform() + centres[(i % classes, j)])
}

/// As [`noise`], in the three ways rank can be short: a constant and twin columns, twin samples, products of few factors.
fn awkward(n: usize, p: usize, classes: usize, kind: usize) -> Mat<f64> {
    let mut x = noise(n, p, classes);
    match kind {
        1 => {
            x.col_mut(3).fill(2.0);
            let twin = x.col(5).to_owned();
            x.col_mut(p - 1).copy_from(&twin);
        }
        2 => {
            for k in 0..n / 10 {
                let twin = x.row(k).to_owned();
                x.row_mut(n - 1 - k).copy_from(&twin);
            }
        }
        3 => x = noise(n, 5, classes) * noise(5, p, 5),
        _ => {}
    }
    x
}

fn labelled(x: Mat<f64>, classes: usize) -> Dataset<'static> {
    let labels: Vec<usize> = (0..x.nrows()).map(|i| i % classes).collect();
    Dataset::from_owned(x, &labels).unwrap()
}

/// The decomposition is the oracle. More samples than variables, fewer, as many; few lines and many.
#[test]
fn the_space_does_not_matter() {
    for (n, p, classes) in
        [(60, 7, 4), (30, 30, 4), (90, 200, 2), (90, 200, 30), (520, 900, 9), (900, 520, 9)]
    {
        for kind in 0..4 {
            let data = labelled(awkward(n, p, classes, kind), classes);
            let pre = Centred::new(&data, None).unwrap();
            let (size, rank) =
                (pre.total().sqrt(), singular_values(pre.dense().unwrap().as_ref()).unwrap().len());
            for shrinkage in [0.01, 0.1, 10.0] {
                let plain = pre.columns().class_means(&data);
                let of_classes = (plain.clone(), data.masses());
                let (centres, _) = whitened_centres(&data, &pre, of_classes, shrinkage, &()).unwrap();
                let (expected, _) = by_decomposition(&data, pre.dense().unwrap(), &plain, shrinkage).unwrap();
                // Up to a rotation.
                let (a, b) = (&centres * centres.transpose(), &expected * expected.transpose());
                let off = (&a - &b).norm_max() / b.norm_max();
                assert!(off < 1e-12, "{n} x {p}, {kind}, rank {rank}, {shrinkage}: {off:e}");
                // And so is the target, signs included.
                let placed = placed(&data.masses(), &expected, size, AxisCount::All).unwrap();
                let expected = Mat::from_fn(n, placed.ncols(), |i, k| placed[(data.class_of(i), k)]);
                let found =
                    target(&data, &pre, TargetKind::Whitened, shrinkage, AxisCount::All, &()).unwrap();
                assert_eq!(found.ncols(), expected.ncols());
                // Two classes are not whitened, which makes no difference but a factor.
                let factor = if classes == 2 { expected.norm_l2() / found.norm_l2() } else { 1.0 };
                let off = (found * faer::Scale(factor) - &expected).norm_max() / expected.norm_max();
                assert!(off < 1e-10, "{n} x {p}, {kind}, rank {rank}, {shrinkage}: {off:e}");
            }
        }
    }
}

#[test]
fn ranks_are_those_of_the_singular_values() {
    for (n, p) in [(20, 40), (40, 20), (560, 640), (640, 560)] {
        for kind in 0..4 {
            let data = labelled(awkward(n, p, 4, kind), 4);
            let pre = Centred::new(&data, None).unwrap();
            let x = pre.dense().unwrap();
            let expected = singular_values(x.as_ref()).unwrap().len();
            let most = pre.largest_rank();
            let gram = if n < p { x * x.transpose() } else { x.transpose() * x };
            assert_eq!(rank(gram, x, most).unwrap(), expected, "{n} x {p}, {kind}");
        }
    }
}

/// What products of lines cannot tell from rounding: the singular values can.
#[test]
fn doubtful_ranks_are_counted_by_singular_values() {
    let n = 40;
    for size in [1e-5, 1e-7, 1e-9] {
        let mut x = noise(n, 6, 2);
        for i in 0..n {
            x[(i, 5)] = x[(i, 4)] + size * x[(i, 5)];
        }
        let data = labelled(x, 2);
        let pre = Centred::new(&data, None).unwrap();
        let x = pre.dense().unwrap();
        assert_eq!(rank(x.transpose() * x, x, 6).unwrap(), 6, "{size}");
    }
    // One variable in units far from the others.
    let mut x = noise(n, 6, 2);
    x.col_mut(2).iter_mut().for_each(|x| *x *= 1e9);
    let pre = labelled(x, 2);
    let pre = Centred::new(&pre, None).unwrap();
    let x = pre.dense().unwrap();
    assert_eq!(rank(x.transpose() * x, x, 6).unwrap(), 6);
}

#[test]
fn whitening_makes_the_within_covariance_the_identity() {
    let data = labelled(noise(60, 4, 3), 3);
    let pre = Centred::new(&data, None).unwrap();
    let centres = pre.columns().class_means(&data);
    let covariance = within_covariance(&data, pre.dense().unwrap(), &centres);
    let plain = pre.columns().class_means(&data);
    let (found, _) = whitened_centres(&data, &pre, (plain.clone(), data.masses()), 1e-12, &()).unwrap();
    // Mahalanobis' distances.
    let factor = cholesky(covariance.as_ref()).unwrap();
    let mut columns = centres.transpose().to_owned();
    solve_lower(factor.as_ref(), columns.as_mut());
    let expected = columns.transpose() * &columns;
    assert!((&found * found.transpose() - &expected).norm_max() < 1e-9 * expected.norm_max());
}

/// A shift at the edge of rounding: the decomposition takes over, or its error.
#[test]
fn tiny_shrinkage_gives_what_the_decomposition_gives() {
    let data = labelled(noise(30, 80, 3), 3);
    let pre = Centred::new(&data, None).unwrap();
    for shrinkage in [1e-6, 1e-15, 1e-18] {
        let plain = pre.columns().class_means(&data);
        let found = whitened_centres(&data, &pre, (plain.clone(), data.masses()), shrinkage, &());
        match by_decomposition(&data, pre.dense().unwrap(), &plain, shrinkage) {
            Ok((expected, _)) => {
                let (found, _) = found.unwrap();
                let (a, b) = (&found * found.transpose(), &expected * expected.transpose());
                // Both lose what the condition number takes.
                let off = (&a - &b).norm_max() / b.norm_max();
                assert!(off < 1e-14 * 29.0 / shrinkage, "{shrinkage}: {off:e}");
            }
            Err(expected) => assert_eq!(found.unwrap_err(), expected),
        }
    }
}
