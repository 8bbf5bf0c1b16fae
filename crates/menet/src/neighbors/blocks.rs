//! Neighbours of data in several pieces: of one block of samples in another, and the answers merged.
//!
//! Distances are those of the whole search, to the last bit, and ties go to the lower number, so that the merged answer is that
//! of [`neighbor_groups`](super::neighbor_groups) on all samples at once. That search leaves out columns that are constant but
//! for rounding; blocks are compared as they are given, so leave such columns out before.

use faer::{Mat, MatRef};
use rayon::prelude::*;

use super::single_precision::Samples;
use super::{Among, Found, by_group, dense_screen, exact, nearest, sparse_screen};
use crate::error::{Error, Result};
use crate::monitor::Monitor;
use crate::numerics::finite::check_finite;
use crate::numerics::linalg::transpose_into;
use crate::numerics::sparse::SparseMatrix;
use crate::preprocess::Rows;

/// Some samples of a larger set.
#[derive(Debug, Clone)]
pub struct Block<'a> {
    rows: Rows<'a>,
    /// The samples as they were given, if they are dense.
    dense: Option<MatRef<'a, f64>>,
    variables: usize,
    class: &'a [usize],
    start: usize,
}

impl<'a> Block<'a> {
    /// Dense samples, one per row, with the class of each; `start` is the number of the first in the whole set.
    ///
    /// # Errors
    /// When a value is not finite, or there is not one class per sample.
    pub fn dense(x: MatRef<'a, f64>, class: &'a [usize], start: usize) -> Result<Self> {
        check_finite("the block", x)?;
        let rows = match x.try_as_row_major() {
            Some(rows) => Rows::Given(rows),
            None => {
                let mut samples = Mat::zeros(x.ncols(), x.nrows());
                transpose_into(samples.as_mut(), x);
                Rows::Copied(samples)
            }
        };
        check_classes(class, x.nrows())?;
        Ok(Block { rows, dense: Some(x), variables: x.ncols(), class, start })
    }

    /// Sparse samples, one per row.
    ///
    /// # Errors
    /// When there is not one class per sample.
    pub fn sparse(x: SparseMatrix, class: &'a [usize], start: usize) -> Result<Self> {
        check_classes(class, x.rows())?;
        let variables = x.columns();
        Ok(Block { rows: Rows::Sparse(x), dense: None, variables, class, start })
    }

    fn means(&self) -> Vec<f64> {
        let of = |x: MatRef<'_, f64>| {
            x.col_iter().map(|column| column.iter().sum::<f64>() / x.nrows().max(1) as f64).collect()
        };
        self.dense.map_or_else(Vec::new, of)
    }

    /// The samples less these means, one per row.
    fn less(&self, means: &[f64]) -> Mat<f64> {
        self.dense.map_or_else(Mat::new, |x| Mat::from_fn(x.nrows(), x.ncols(), |i, j| x[(i, j)] - means[j]))
    }
}

fn check_classes(class: &[usize], samples: usize) -> Result<()> {
    if class.len() == samples {
        return Ok(());
    }
    let why = format!("there are {samples} samples");
    Err(Error::Size { what: "`class`", given: class.len(), expected: samples, why })
}

/// The nearest samples of a block's samples, as far as others have been searched.
#[derive(Debug, Clone, PartialEq)]
pub struct Nearest<const G: usize> {
    groups: [(Among, usize); G],
    /// For every sample and group the squared distances and numbers of its neighbours.
    lists: Vec<[Vec<(f64, usize)>; G]>,
}

impl<const G: usize> Nearest<G> {
    /// The nearest `references` of every one of `queries`, by group. A sample is no neighbour of itself.
    ///
    /// # Errors
    /// When one block is sparse and the other is not, they have different variables, or `monitor` asks to stop.
    pub fn search(
        queries: &Block<'_>,
        references: &Block<'_>,
        groups: [(Among, usize); G],
        monitor: &dyn Monitor,
    ) -> Result<Self> {
        if queries.variables != references.variables {
            let why = format!("the queries have {} variables", queries.variables);
            let (given, expected) = (references.variables, queries.variables);
            return Err(Error::Size { what: "a reference", given, expected, why });
        }
        let candidates = match (&queries.rows, &references.rows) {
            (Rows::Sparse(x), Rows::Sparse(y)) => {
                let (left, right) =
                    ((x, queries.class, queries.start), (y, references.class, references.start));
                sparse_screen::candidates_between(left, right, groups, monitor)?
            }
            (Rows::Sparse(_), _) | (_, Rows::Sparse(_)) => {
                let allowed = "both dense or both sparse";
                return Err(Error::parameter("references", "one block sparse, the other dense", allowed));
            }
            _ => {
                let means = references.means();
                let (x, y) = (queries.less(&means), references.less(&means));
                let [left, right] = Samples::together([
                    (&x, queries.class, queries.start),
                    (&y, references.class, references.start),
                ]);
                dense_screen::candidates_between(&left, &right, groups, monitor)?
            }
        };
        let squared = |i: usize, j: usize| queries.rows.squared_distance_to(i, &references.rows, j);
        let lists = candidates.into_par_iter().enumerate().map(|(i, near)| {
            let found = exact(near, groups, |j| squared(i, j));
            found.map(|list| list.into_iter().map(|(d, j)| (d, references.start + j)).collect())
        });
        Ok(Nearest { groups, lists: lists.collect() })
    }

    /// The nearest of both, which are of the same queries in different references.
    ///
    /// # Errors
    /// When they are not of as many queries, or of other groups.
    pub fn merge(self, other: Self) -> Result<Self> {
        let (given, expected) = (other.lists.len(), self.lists.len());
        if given != expected || self.groups != other.groups {
            let why = format!("the other is of {expected} queries, and both must have the same groups");
            return Err(Error::Size { what: "one answer", given, expected, why });
        }
        let groups = self.groups;
        let both = self.lists.into_par_iter().zip(other.lists).map(|(ours, theirs)| {
            let mut pairs = theirs.into_iter().zip(groups);
            ours.map(|mut ours| {
                let (theirs, (_, k)) = pairs.next().unwrap_or((Vec::new(), (Among::All, 0)));
                ours.extend(theirs);
                nearest(ours, k)
            })
        });
        Ok(Nearest { groups, lists: both.collect() })
    }

    /// The neighbours, by group and query; a neighbour's index is its number in the whole set.
    pub fn into_neighbors(self) -> Found<G> {
        by_group(self.lists)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::Dataset;
    use crate::neighbors::{NeighborSearch, neighbor_groups};
    use crate::preprocess::Centred;

    const GROUPS: [(Among, usize); 3] = [(Among::Within, 5), (Among::Between, 4), (Among::All, 9)];

    /// Whole numbers, of which nearly every distance is shared, in pieces of very different sizes.
    #[test]
    fn pieces_give_the_neighbours_of_the_whole() {
        for (n, p, scale) in [(700, 3, 1.0), (600, 40, 0.1), (90, 201, 1e-60), (90, 7, 1e60)] {
            let x = Mat::from_fn(n, p, |i, j| match (i * 7919 + j * 104_729 + i * j * 31) % 7 {
                _ if i % 17 == 4 => 0.0,
                at @ 0..=2 => scale * (1 + at) as f64,
                _ => 0.0,
            });
            let class: Vec<usize> =
                (0..n).map(|i| usize::from(i % 5 > 1) + 2 * usize::from(i == 8)).collect();
            let data = Dataset::new(x.as_ref(), &class).unwrap();
            let samples = Centred::new(&data, None).unwrap();
            let (whole, _) = neighbor_groups(&data, &samples, GROUPS, NeighborSearch::Exact, &()).unwrap();
            let cuts = [0, 1, n / 7, n / 7, n / 2, n];
            for sparse in [false, true] {
                let block = |from: usize, to: usize| {
                    let rows = x.subrows(from, to - from);
                    if sparse {
                        Block::sparse(SparseMatrix::from_dense(rows).unwrap(), &class[from..to], from)
                    } else {
                        Block::dense(rows, &class[from..to], from)
                    }
                    .unwrap()
                };
                for query in cuts.windows(2) {
                    let queries = block(query[0], query[1]);
                    let parts = cuts.windows(2).rev().map(|part| {
                        Nearest::search(&queries, &block(part[0], part[1]), GROUPS, &()).unwrap()
                    });
                    let found = parts.reduce(|a, b| a.merge(b).unwrap()).unwrap().into_neighbors();
                    for (found, whole) in found.iter().zip(&whole) {
                        assert_eq!(found, &whole[query[0]..query[1]], "{n} x {p}, sparse {sparse}");
                    }
                }
            }
        }
    }

    #[test]
    fn blocks_that_do_not_fit_are_refused() {
        let (x, class) = (Mat::<f64>::from_fn(4, 3, |i, j| (i + j) as f64), [0, 1, 0, 1]);
        let block = Block::dense(x.as_ref(), &class, 0).unwrap();
        assert!(Block::dense(x.as_ref(), &class[1..], 0).is_err());
        let narrow = Block::dense(x.subcols(0, 2), &class, 0).unwrap();
        assert!(Nearest::search(&block, &narrow, GROUPS, &()).is_err());
        let sparse = Block::sparse(SparseMatrix::from_dense(x.as_ref()).unwrap(), &class, 0).unwrap();
        assert!(Nearest::search(&block, &sparse, GROUPS, &()).is_err());
        let all = Nearest::search(&block, &block, GROUPS, &()).unwrap();
        let fewer = Block::dense(x.subrows(0, 2), &class[..2], 0).unwrap();
        let few = Nearest::search(&fewer, &block, GROUPS, &()).unwrap();
        assert!(all.merge(few).is_err());
    }
}
