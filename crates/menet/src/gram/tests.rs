//! The contract of every source of Gram columns.

use faer::linalg::solvers::DenseSolveCore;

use super::*;
use crate::alignment::Alignment;
use crate::operator::Smoother;
use crate::patches::{self, PatchParams};
use crate::penalties::feature_graph::Laplacian;
use crate::preprocess::Centred;
use crate::preprocess::tests::{awkward, both};

/// Only columns: everything else comes from the trait.
#[derive(Debug)]
struct ColumnsOnly(Mat<f64>);

impl Gram for ColumnsOnly {
    fn dim(&self) -> usize {
        self.0.ncols()
    }
    fn column(&self, j: usize, out: &mut [f64]) {
        self.0.column(j, out);
    }
}

/// A source and what it is called.
type Source = (String, Box<dyn Gram>);

/// Every source of the Gram matrix of the same nine samples of eight variables, dense and sparse.
fn sources() -> (Mat<f64>, Vec<Source>) {
    let [dense, sparse] = both(&awkward());
    let operator = Mat::from_fn(9, 9, |i, j| ((i * 31 + j * 17) % 11) as f64 - 5.0);
    let (x, ..) = Centred::new(&dense, None).unwrap().into_solver(true);
    let Columns::Dense(dense_x) = &x else { unreachable!() };
    let factor = &operator * dense_x;
    let full = factor.transpose() * &factor;
    let b = Mat::from_fn(8, 2, |i, k| (i * 3 + k) as f64 % 5.0);
    let mut sources: Vec<Source> = vec![
        ("full".to_owned(), Box::new(full.clone())),
        ("columns only".to_owned(), Box::new(ColumnsOnly(full.clone()))),
        ("full, from a factor".to_owned(), of_factor(factor.clone(), GramForm::Full)),
        ("a factor".to_owned(), of_factor(factor.clone(), GramForm::Columns)),
    ];
    for (name, data) in [("dense", dense), ("sparse", sparse)] {
        // With room for all batches, for one, and for none.
        for budget in [1 << 20, 8 * 9 * size_of::<f64>(), 0] {
            let (x, ..) = Centred::new(&data, None).unwrap().into_solver(true);
            let gram = SmoothedGram::new(x, Operator::Dense(operator.clone()), 1.0, b.as_ref());
            sources.push((format!("{name}, smoothed, {budget}"), Box::new(gram.with_budget(budget))));
        }
    }
    (full, sources)
}

/// Every source again with a graph, and what the sum is.
fn sources_with_graph() -> (Mat<f64>, Vec<Source>) {
    let (full, sources) = sources();
    let edges = [(0, 1, 1.0), (1, 2, 0.5), (0, 5, 2.0), (5, 6, 1.0), (3, 6, 0.25), (6, 7, 1.0)];
    let units: Vec<f64> = (0..8).map(|j| if full[(j, j)] > 0.0 { 1.0 + j as f64 } else { 0.0 }).collect();
    let omega = Laplacian::new(&edges, &units, 3.0).unwrap();
    let sum = Mat::from_fn(8, 8, |i, j| full[(i, j)] + omega.entry(i, j));
    let with = |(name, gram): Source| -> Source {
        (format!("{name}, with a graph"), Box::new(GraphGram::new(gram, omega.clone()).unwrap()))
    };
    (sum, sources.into_iter().map(with).collect())
}

#[test]
fn contract_of_every_source() {
    for (full, sources) in [sources(), sources_with_graph()] {
        keep_the_contract(full.as_ref(), sources);
    }
}

fn keep_the_contract(full: MatRef<'_, f64>, sources: Vec<Source>) {
    let (rows, support) = ([7, 0, 3], [6, 0, 5]);
    let coefficients = Mat::from_fn(3, 10, |i, k| (i + 2 * k) as f64 - 1.5);
    let expected = Mat::from_fn(8, 3, |i, k| full[(i, support[k])]) * &coefficients;
    let near = |a: f64, b: f64| (a - b).abs() < 1e-12 * full.norm_max();
    for (name, gram) in sources {
        assert_eq!(gram.dim(), 8, "{name}");
        assert!(gram.check().is_ok(), "{name}");
        let (diagonal, lengths) = (gram.diagonal(), gram.squared_lengths());
        let (mut entries, mut column) = ([0.0; 3], [0.0; 8]);
        for j in 0..8 {
            gram.entries(&rows, j, &mut entries);
            gram.column(j, &mut column);
            assert!(near(diagonal[j], full[(j, j)]), "{name}");
            assert!((0..3).all(|k| near(entries[k], full[(rows[k], j)])), "{name}");
            assert!((0..8).all(|i| near(column[i], full[(i, j)])), "{name}");
            assert_eq!(lengths[j] > 0.0, full[(j, j)] > 0.0, "{name}");
        }
        let mut product = Mat::zeros(8, 10);
        gram.product(&support, coefficients.as_ref(), product.as_mut());
        assert!((&product - &expected).norm_max() < 1e-12 * expected.norm_max(), "{name}");
        let mut some = Mat::zeros(3, 10);
        gram.product_at(&rows, &support, coefficients.as_ref(), some.as_mut());
        let off = |r: usize| (some.row(r) - product.row(rows[r])).norm_max();
        assert!((0..3).all(|r| off(r) < 1e-12 * expected.norm_max()), "{name}");
        let mut few = Mat::zeros(8, 3);
        gram.product(&support, coefficients.subcols(2, 3), few.as_mut());
        assert_eq!(few, product.subcols(2, 3), "{name}: a column depends on those beside it");
        let mut block = [0.0; 9];
        gram.block(&rows, &support, &mut block);
        let at = |k: usize| full[(rows[k % 3], support[k / 3])];
        assert!((0..9).all(|k| near(block[k], at(k))), "{name}");
        let square = gram.submatrix(&support);
        assert!(
            (0..9).all(|k| near(square[(k % 3, k / 3)], full[(support[k % 3], support[k / 3])])),
            "{name}"
        );
    }
}

#[test]
fn matrices_may_lie_in_memory_in_any_way() {
    let x = Mat::from_fn(6, 9, |i, j| ((i * 31 + j * 17) % 11) as f64 - 5.0);
    let full = x.transpose() * &x;
    let (row_major, rows_first) = (full.transpose().to_owned(), x.transpose().to_owned());
    let sources: [&dyn Gram; 5] = [
        &full,
        &row_major.transpose(),
        &FactorGram::new(x.clone()),
        &FactorGram::borrowed(x.as_ref()),
        &FactorGram::borrowed(rows_first.transpose()),
    ];
    for gram in sources {
        // Whole numbers: exact whatever the order.
        let (mut column, mut entries) = ([0.0; 9], [0.0; 3]);
        gram.column(4, &mut column);
        gram.entries(&[7, 2, 3], 4, &mut entries);
        assert_eq!((column[7], column[2], column[3]), (entries[0], entries[1], entries[2]));
        assert_eq!(entries, [7, 2, 3].map(|r| full[(r, 4)]));
        assert_eq!(gram.diagonal(), (0..9).map(|j| full[(j, j)]).collect::<Vec<_>>());
    }
}

#[test]
fn what_is_kept_changes_no_bit() {
    let [_, sparse] = both(&awkward());
    let operator = Mat::from_fn(9, 9, |i, j| ((i * 31 + j * 17) % 11) as f64 - 5.0);
    let b = Mat::from_fn(8, 2, |i, k| (i * 3 + k) as f64 % 5.0);
    let coefficients = Mat::from_fn(3, 10, |i, k| (i + 2 * k) as f64 - 1.5);
    let products: Vec<Mat<f64>> = [1 << 20, 8 * 9 * size_of::<f64>(), 0]
        .into_iter()
        .map(|budget| {
            let (x, ..) = Centred::new(&sparse, None).unwrap().into_solver(true);
            let gram = SmoothedGram::new(x, Operator::Dense(operator.clone()), 1.0, b.as_ref());
            let gram = gram.with_budget(budget);
            let mut product = Mat::zeros(8, 10);
            gram.product(&[6, 0, 5], coefficients.as_ref(), product.as_mut());
            assert!(gram.bytes_kept() <= budget);
            assert_eq!(gram.bytes_kept() > 0, budget > 0);
            product
        })
        .collect();
    assert!(products.iter().all(|product| *product == products[0]));
}

/// A by conjugate gradients, against `A = I + αL M` from dense matrices.
#[test]
fn conjugate_gram_equals_the_dense_one() {
    let [data, _] = both(&awkward());
    let pre = Centred::new(&data, None).unwrap();
    let rule = patches::rule("dla").unwrap();
    let params = PatchParams { k_within: 2, k_between: 2, ..PatchParams::default() };
    let l = Alignment::new(&data, &pre, rule, &params, &()).unwrap().matrix(0.01);
    let (alpha, beta) = (0.7, 1.3);
    let (dense_l, identity) = (l.to_dense(), Mat::<f64>::identity(9, 9));
    let inner = &dense_l * faer::Scale(alpha) + &identity * faer::Scale(beta);
    let m = inner.partial_piv_lu().inverse() * faer::Scale(beta);
    let a = identity + dense_l * m * faer::Scale(alpha);
    let (x, ..) = pre.into_solver(true);
    let expected = x.dense().unwrap().transpose() * a * x.dense().unwrap();

    let operator = Operator::Conjugate(Smoother::new(&l, alpha, beta, 1e-13));
    let b = Mat::from_fn(8, 1, |j, _| j as f64);
    let gram = SmoothedGram::new(x, operator, beta, b.as_ref());
    let near = |a: f64, b: f64| (a - b).abs() < 1e-11;
    let mut column = vec![0.0; 8];
    for j in 0..8 {
        gram.column(j, &mut column);
        assert!((0..8).all(|i| near(column[i], expected[(i, j)])), "column {j}");
        assert!(near(gram.diagonal()[j], expected[(j, j)]));
        assert!(gram.squared_lengths()[j] >= expected[(j, j)], "an upper bound");
    }
    let coefficients = Mat::from_fn(3, 2, |i, j| (i + j) as f64 - 1.0);
    let mut out = Mat::zeros(8, 2);
    gram.product(&[4, 0, 7], coefficients.as_ref(), out.as_mut());
    let chosen = Mat::from_fn(8, 3, |i, k| expected[(i, [4, 0, 7][k])]);
    assert!((out - chosen * coefficients).norm_max() < 1e-11);
    assert!(gram.residual().unwrap() < 1e-12);
}
