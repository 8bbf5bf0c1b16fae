//! A sparse vector, the shape of every coefficient vector here, a sparse matrix, and a symmetric one.

mod compressed;
mod matrix;
mod symmetric;

pub use compressed::IndexNumber;
pub use matrix::SparseMatrix;
pub(crate) use matrix::squared_distance;
pub use symmetric::SparseSymmetric;
pub(crate) use symmetric::{Pattern, Precision};

/// Indices in rising order, and the nonzero values at them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SparseVector {
    indices: Vec<usize>,
    values: Vec<f64>,
}

impl SparseVector {
    /// From pairs in any order; zeros are left out. Indices must not repeat.
    pub fn from_pairs(mut pairs: Vec<(usize, f64)>) -> Self {
        pairs.retain(|&(_, value)| value != 0.0);
        pairs.sort_unstable_by_key(|&(index, _)| index);
        debug_assert!(pairs.windows(2).all(|w| w[0].0 < w[1].0));
        let (indices, values) = pairs.into_iter().unzip();
        SparseVector { indices, values }
    }

    /// From pairs whose indices rise; zeros are left out.
    pub(crate) fn from_rising(pairs: impl ExactSizeIterator<Item = (usize, f64)>) -> Self {
        let (mut indices, mut values) = (Vec::with_capacity(pairs.len()), Vec::with_capacity(pairs.len()));
        for (index, value) in pairs.filter(|&(_, value)| value != 0.0) {
            indices.push(index);
            values.push(value);
        }
        debug_assert!(indices.is_sorted());
        SparseVector { indices, values }
    }

    /// The nonzero entries of a dense vector.
    pub fn from_dense(dense: &[f64]) -> Self {
        Self::from_pairs(dense.iter().copied().enumerate().collect())
    }

    /// Positions of the nonzeros, rising.
    pub fn indices(&self) -> &[usize] {
        &self.indices
    }

    /// The nonzero values, in the order of [`Self::indices`].
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Number of nonzeros.
    pub fn nonzeros(&self) -> usize {
        self.indices.len()
    }

    /// `(index, value)` pairs, indices rising.
    pub fn iter(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.indices.iter().copied().zip(self.values.iter().copied())
    }

    /// The value at `index`, 0 where nothing is stored.
    pub fn get(&self, index: usize) -> f64 {
        self.indices.binary_search(&index).map_or(0.0, |at| self.values[at])
    }

    /// As a dense vector of `len` entries.
    pub fn to_dense(&self, len: usize) -> Vec<f64> {
        let mut dense = vec![0.0; len];
        for (index, value) in self.iter() {
            dense[index] = value;
        }
        dense
    }

    /// Each value replaced by `f(index, value)`; results that are 0 are left out.
    pub fn map(&self, f: impl Fn(usize, f64) -> f64) -> Self {
        Self::from_pairs(self.iter().map(|(index, value)| (index, f(index, value))).collect())
    }

    /// `(1 − t) self + t other`.
    pub(crate) fn interpolate(&self, other: &Self, t: f64) -> Self {
        let mut pairs: Vec<(usize, f64)> = Vec::with_capacity(self.nonzeros().max(other.nonzeros()) + 1);
        let (mut a, mut b) = (self.iter().peekable(), other.iter().peekable());
        loop {
            let next = match (a.peek(), b.peek()) {
                (Some(&(i, _)), Some(&(j, _))) => i.min(j),
                (Some(&(i, _)), None) | (None, Some(&(i, _))) => i,
                (None, None) => break,
            };
            let x = a.next_if(|&(i, _)| i == next).map_or(0.0, |(_, x)| x);
            let y = b.next_if(|&(i, _)| i == next).map_or(0.0, |(_, y)| y);
            pairs.push((next, x + t * (y - x)));
        }
        Self::from_pairs(pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_sorted_and_zeros_dropped() {
        let v = SparseVector::from_pairs(vec![(5, 2.0), (1, -1.0), (3, 0.0)]);
        assert_eq!(v.indices(), [1, 5]);
        assert_eq!((v.get(1), v.get(3), v.get(9)), (-1.0, 0.0, 0.0));
        assert_eq!(v, SparseVector::from_dense(&v.to_dense(7)));
    }

    #[test]
    fn interpolation_merges_supports() {
        let a = SparseVector::from_pairs(vec![(0, 1.0), (2, 4.0)]);
        let b = SparseVector::from_pairs(vec![(2, 8.0), (3, -2.0)]);
        assert_eq!(a.interpolate(&b, 0.5).to_dense(4), [0.5, 0.0, 6.0, -1.0]);
        assert_eq!(a.interpolate(&b, 0.0), a);
        assert_eq!(a.interpolate(&b, 1.0), b);
    }
}
