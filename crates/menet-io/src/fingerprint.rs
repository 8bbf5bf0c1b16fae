//! Recognising samples: one 64-bit number per sample, so that a model can recognise the samples it was fitted to without
//! storing them.
//!
//! The number is the XXH64 hash of the nonzero values of the sample with their positions, so dense and sparse data agree.

use std::hash::Hasher;

use faer::MatRef;
use menet::dataset::View;
use menet::sparse::SparseMatrix;
use menet::{Dataset, Real};
use rayon::prelude::*;
use twox_hash::XxHash64;

fn of(entries: impl Iterator<Item = (usize, f64)>) -> u64 {
    let mut hash = XxHash64::with_seed(0);
    for (at, value) in entries.filter(|(_, value)| *value != 0.0) {
        hash.write(&(at as u64).to_le_bytes());
        hash.write(&value.to_bits().to_le_bytes());
    }
    hash.finish()
}

/// One fingerprint per row.
pub fn of_rows<T: Real>(x: MatRef<'_, T>) -> Vec<u64> {
    let row = |i: usize| x.row(i).iter().map(|&value| value.into()).enumerate();
    (0..x.nrows()).into_par_iter().map(|i| of(row(i))).collect()
}

/// One fingerprint per row of a sparse matrix, whose indices increase in each row.
pub fn of_sparse(x: &SparseMatrix) -> Vec<u64> {
    (0..x.rows()).into_par_iter().map(|i| of(x.row(i))).collect()
}

/// One fingerprint per sample.
pub fn of_data(data: &Dataset<'_>) -> Vec<u64> {
    match data.view() {
        View::Double(x) => of_rows(x),
        View::Single(x) => of_rows(x),
        View::Sparse(x) => of_sparse(x),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_differ_and_forms_agree() {
        let x = faer::mat![[0.0, 1.0, 2.0], [1.0, 0.0, 2.0], [-0.0, 1.0, 2.0], [0.0, 0.0, 0.0f64]];
        let dense = of_rows(x.as_ref());
        assert_eq!(dense[0], dense[2], "zero has one sign");
        assert!(dense[0] != dense[1] && dense[0] != dense[3]);
        let sparse = SparseMatrix::from_rows(
            (4, 3),
            &[0, 2, 4, 6, 6],
            &[1, 2, 0, 2, 1, 2],
            &[1.0, 2.0, 1.0, 2.0, 1.0, 2.0],
        );
        assert_eq!(of_sparse(&sparse.unwrap()), dense);
        assert_eq!(of_rows(x.as_ref().transpose().to_owned().as_ref().transpose()), dense);
    }
}
