//! The Laplacian of a graph, sparse, in the solver's units.

/// The Laplacian of a graph, times a factor: what is added to a Gram matrix.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Laplacian {
    diagonal: Vec<f64>,
    /// Where the entries beside the diagonal of every column begin.
    starts: Vec<usize>,
    rows: Vec<usize>,
    values: Vec<f64>,
}

impl Laplacian {
    /// Of `edges` between variables whose columns are divided by `units` (0 for a constant column, whose edges are left out), times λ3.
    /// None if no edge is left.
    ///
    /// An edge is two different positions below the number of units and a positive weight, and is given once.
    pub(crate) fn new(edges: &[(usize, usize, f64)], units: &[f64], weight: f64) -> Option<Self> {
        let p = units.len();
        let varies = |&&(i, j, _): &&(usize, usize, f64)| units[i] > 0.0 && units[j] > 0.0;
        let (mut diagonal, mut counts) = (vec![0.0; p], vec![0_usize; p]);
        for &(i, j, a) in edges.iter().filter(varies) {
            for end in [i, j] {
                diagonal[end] += a / units[end] / units[end];
                counts[end] += 1;
            }
        }
        let mut sizes: Vec<f64> = diagonal.iter().copied().filter(|entry| *entry > 0.0).collect();
        let middle = sizes.len() / 2;
        if sizes.is_empty() || weight == 0.0 {
            return None;
        }
        let factor = weight / *sizes.select_nth_unstable_by(middle, f64::total_cmp).1;
        let mut starts = vec![0; p + 1];
        (0..p).for_each(|j| starts[j + 1] = starts[j] + counts[j]);
        let mut columns: Vec<Vec<(usize, f64)>> =
            counts.iter().map(|&count| Vec::with_capacity(count)).collect();
        for &(i, j, a) in edges.iter().filter(varies) {
            let value = -factor * (a / units[i] / units[j]);
            columns[i].push((j, value));
            columns[j].push((i, value));
        }
        columns.iter_mut().for_each(|column| column.sort_unstable_by_key(|(row, _)| *row));
        let (rows, values) = columns.into_iter().flatten().unzip();
        diagonal.iter_mut().for_each(|entry| *entry *= factor);
        Some(Laplacian { diagonal, starts, rows, values })
    }

    /// Number of variables.
    pub(crate) fn dim(&self) -> usize {
        self.diagonal.len()
    }

    /// The diagonal.
    pub(crate) fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    /// The entries of column `j` that are not 0, the diagonal first.
    pub(crate) fn column(&self, j: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let beside = self.starts[j]..self.starts[j + 1];
        let beside = self.rows[beside.clone()].iter().copied().zip(self.values[beside].iter().copied());
        std::iter::once((j, self.diagonal[j])).chain(beside)
    }

    /// An entry.
    pub(crate) fn entry(&self, i: usize, j: usize) -> f64 {
        if i == j {
            return self.diagonal[j];
        }
        let beside = self.starts[j]..self.starts[j + 1];
        self.rows[beside.clone()].binary_search(&i).map_or(0.0, |at| self.values[beside.start + at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_laplacian_is_scaled_by_its_median_and_knows_no_constant_columns() {
        let edges = [(0, 1, 1.0), (1, 2, 2.0), (2, 3, 1.0), (3, 4, 1.0)];
        let units = [1.0, 2.0, 4.0, 0.0, 1.0];
        let omega = Laplacian::new(&edges, &units, 3.0).unwrap();
        // Diagonal 1, 3/4, 2/16: the median is 3/4.
        assert_eq!(omega.diagonal(), [4.0, 3.0, 0.5, 0.0, 0.0]);
        assert_eq!((omega.entry(0, 1), omega.entry(2, 1), omega.entry(0, 2)), (-2.0, -1.0, 0.0));
        assert_eq!(omega.column(1).collect::<Vec<_>>(), [(1, 3.0), (0, -2.0), (2, -1.0)]);
        // Weights that are equal in the user's units cost nothing.
        let equal = units;
        for i in 0..3 {
            let row: f64 = (0..3).map(|j| omega.entry(i, j) * equal[j]).sum();
            assert!(row.abs() < 1e-12, "{row}");
        }
        assert_eq!(Laplacian::new(&edges, &[0.0; 5], 1.0), None);
        assert_eq!(Laplacian::new(&edges, &units, 0.0), None);
        // The units of the edges do not matter.
        let eightfold = edges.map(|(i, j, a)| (i, j, 8.0 * a));
        assert_eq!(Laplacian::new(&eightfold, &units, 3.0), Some(omega));
    }
}
