//! The samples of a few cells, compared with those that look for neighbours there.
//!
//! A cell is taken once for all samples of a block that look into it, so that their products are those of matrices.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};

use super::CandidateList;
use super::cells::Index;
use super::choose::SearchGroup;
use crate::numerics::linalg::vectorized;

/// Candidates beyond those that are asked for.
const SPARE: usize = 2;

/// Entries that are compared at a time.
const LANES: usize = 16;

impl Index {
    /// The nearest of the samples at some places, and a few more.
    pub(super) fn search<const G: usize>(
        &self,
        places: &[usize],
        groups: [SearchGroup; G],
    ) -> [Vec<CandidateList>; G] {
        let p = self.samples.variables;
        let centres = self.centre_products(places);
        groups.map(|group| {
            let kept = group.k.saturating_add(SPARE);
            let mut found = vec![CandidateList::new(); places.len()];
            if group.k == 0 {
                return found;
            }
            let mut searching = vec![Vec::new(); self.cells.len()];
            for (query, &at) in places.iter().enumerate() {
                let cells = self.eligible(at, group.among, centres.col_as_slice(query));
                for cell in self.nearest(cells, group, kept) {
                    searching[cell].push(query);
                }
            }
            // First where most look, which is near to most: what comes later seldom displaces anything.
            let mut cells: Vec<usize> =
                (0..self.cells.len()).filter(|&cell| !searching[cell].is_empty()).collect();
            cells.sort_by_key(|&cell| std::cmp::Reverse(searching[cell].len()));
            for cell in cells {
                let (queries, cell) = (&searching[cell], self.cells[cell].clone());
                let (squares, samples) = (&self.squares[cell.clone()], &self.x[cell.start * p..cell.end * p]);
                let products =
                    products(p, samples, &self.gathered(queries.iter().map(|&query| places[query])));
                for (column, &query) in queries.iter().enumerate() {
                    let products = products.col_as_slice(column);
                    keep_nearest(&mut found[query], kept, squares, products, cell.start, places[query]);
                }
            }
            found
        })
    }

    /// `2 c·x` for all centres and the samples at some places.
    pub(super) fn centre_products(&self, places: &[usize]) -> Mat<f32> {
        products(self.samples.variables, &self.centres, &self.gathered(places.iter().copied()))
    }

    fn gathered(&self, places: impl Iterator<Item = usize>) -> Vec<f32> {
        let p = self.samples.variables;
        places.flat_map(|at| &self.x[at * p..(at + 1) * p]).copied().collect()
    }

    /// As many of the nearest of some cells as `group` asks for; more if these have no more than `kept` samples.
    fn nearest(
        &self,
        mut cells: CandidateList,
        group: SearchGroup,
        kept: usize,
    ) -> impl Iterator<Item = usize> {
        let mut count = group.count(cells.len());
        if count < cells.len() {
            cells.select_nth_unstable_by(count, nearer);
            let size = |cell: &(f32, u32)| self.cells[cell.1 as usize].len();
            let mut samples: usize = cells[..count].iter().map(size).sum();
            if samples <= kept {
                cells[count..].sort_unstable_by(nearer);
            }
            while samples <= kept && count < cells.len() {
                samples += size(&cells[count]);
                count += 1;
            }
        }
        cells.into_iter().take(count).map(|(_, cell)| cell as usize)
    }
}

pub(super) fn nearer(a: &(f32, u32), b: &(f32, u32)) -> std::cmp::Ordering {
    a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
}

/// `2 aᵀ b`, samples one after the other.
pub(super) fn products(p: usize, a: &[f32], b: &[f32]) -> Mat<f32> {
    let a = MatRef::from_column_major_slice(a, p, a.len() / p);
    let b = MatRef::from_column_major_slice(b, p, b.len() / p);
    let mut out = Mat::zeros(a.ncols(), b.ncols());
    matmul(&mut out, Accum::Replace, a.transpose(), b, 2.0, Par::Seq);
    out
}

/// Puts samples from `start` on among the `kept` nearest of the sample at `own`, which are in order.
fn keep_nearest(
    near: &mut CandidateList,
    kept: usize,
    squares: &[f32],
    products: &[f32],
    start: usize,
    own: usize,
) {
    vectorized(
        #[inline(always)]
        || {
            let worst =
                |near: &CandidateList| if near.len() < kept { f32::INFINITY } else { near[kept - 1].0 };
            let mut limit = worst(near);
            let mut keep = |away: f32, at: usize, limit: &mut f32| {
                if away < *limit && at != own {
                    near.insert(near.partition_point(|other| other.0 <= away), (away, at as u32));
                    near.truncate(kept);
                    *limit = worst(near);
                }
            };
            let ((squares, squares_tail), (products, products_tail)) =
                (squares.as_chunks::<LANES>(), products.as_chunks::<LANES>());
            for (c, (squares, products)) in squares.iter().zip(products).enumerate() {
                let mut hits = 0;
                for l in 0..LANES {
                    hits += i32::from(squares[l] - products[l] < limit);
                }
                if hits > 0 {
                    for l in 0..LANES {
                        keep(squares[l] - products[l], start + c * LANES + l, &mut limit);
                    }
                }
            }
            let tail = start + squares.len() * LANES;
            for (l, (square, product)) in squares_tail.iter().zip(products_tail).enumerate() {
                keep(square - product, tail + l, &mut limit);
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_are_kept_in_order_and_the_first_of_those_equally_near() {
        // With and without a tail; few values, so that many are equal.
        for (n, kept) in [(3, 7), (16, 1), (77, 5), (160, 12)] {
            let squares: Vec<f32> = (0..n).map(|k| ((k * 7919 + k * k) % 23) as f32).collect();
            let products: Vec<f32> = (0..n).map(|k| ((k * 31) % 5) as f32).collect();
            let (start, own) = (100, 102);
            let mut all: CandidateList =
                (0..n).map(|k| (squares[k] - products[k], (start + k) as u32)).collect();
            all.retain(|&(_, at)| at != own);
            all.sort_by(nearer);
            all.truncate(kept);
            let mut near = CandidateList::new();
            for (c, (squares, products)) in squares.chunks(50).zip(products.chunks(50)).enumerate() {
                keep_nearest(&mut near, kept, squares, products, start + 50 * c, own as usize);
            }
            assert_eq!(near, all, "{kept} of {n}");
        }
    }
}
