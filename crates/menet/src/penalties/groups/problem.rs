//! One problem: some axes that choose groups together.

use faer::{Mat, MatRef};

use crate::error::{Error, Result};
use crate::gram::Gram;
use crate::lars::Certificate;
use crate::numerics::linalg::column;
use crate::numerics::sparse::SparseVector;

/// A group as the solver sees it: only variables that can be used.
#[derive(Debug, Clone)]
pub(super) struct Block {
    pub(super) variables: Vec<usize>,
    /// Its weight v.
    pub(super) v: f64,
    /// `√tr(G_gg)`, ridge included, at least as large as the largest singular value of the group's columns.
    pub(super) length: f64,
}

/// `min ½ tr(Wᵀ(G + λ2 I)W) − tr(bᵀW) + λ Σ v ‖U_g‖` over the parts `U_g`, whose sum is W.
#[derive(Debug)]
pub(super) struct Problem<'a> {
    pub(super) gram: &'a dyn Gram,
    /// p×D.
    pub(super) b: MatRef<'a, f64>,
    pub(super) ridge: f64,
    pub(super) blocks: &'a [Block],
    /// The largest `‖b_g‖/v`: the level above which all is zero, and the unit of violations.
    pub(super) first_level: f64,
    /// The largest `‖b_g‖` over the group's length.
    unit: f64,
}

impl<'a> Problem<'a> {
    pub(super) fn new(
        gram: &'a dyn Gram,
        b: MatRef<'a, f64>,
        ridge: f64,
        blocks: &'a [Block],
    ) -> Result<Self> {
        let norms: Vec<f64> = blocks.iter().map(|block| norm_at(b, &block.variables)).collect();
        let largest = |over: &dyn Fn(&Block) -> f64| {
            // A group without length has no minimum; the solver will say so.
            let of = |(norm, block): (&f64, &Block)| if over(block) > 0.0 { norm / over(block) } else { 0.0 };
            norms.iter().zip(blocks).map(of).fold(0.0, f64::max)
        };
        let (first_level, unit) = (largest(&|block| block.v), largest(&|block| block.length));
        if first_level > 1e100 || (unit > 0.0 && !(1e-100..=1e100).contains(&unit)) {
            let value = format!("of size {first_level:e} ({unit:e} over the lengths of the groups)");
            return Err(Error::parameter("b", value, "between 1e-100 and 1e100 in size: rescale the data"));
        }
        Ok(Problem { gram, b, ridge, blocks, first_level, unit })
    }

    /// Number of axes D that choose together.
    pub(super) fn width(&self) -> usize {
        self.b.ncols()
    }

    /// `b − (G + λ2 I)W` at all variables, for the coefficients `w` (D columns) of the variables `support`.
    pub(super) fn correlations(&self, support: &[usize], w: MatRef<'_, f64>) -> Mat<f64> {
        let mut c = Mat::zeros(self.b.nrows(), self.width());
        if !support.is_empty() {
            self.gram.product(support, w, c.as_mut());
        }
        faer::zip!(c.as_mut(), self.b).for_each(|faer::unzip!(c, b)| *c = *b - *c);
        for (s, &j) in support.iter().enumerate() {
            for k in 0..self.width() {
                c[(j, k)] -= self.ridge * w[(s, k)];
            }
        }
        c
    }

    /// The correlations at some variables, one row per entry of `rows`. `at` finds a variable in `support`.
    pub(super) fn correlations_at(
        &self,
        rows: &[usize],
        support: &[usize],
        w: MatRef<'_, f64>,
        at: impl Fn(usize) -> Option<usize>,
    ) -> Mat<f64> {
        let mut c = Mat::zeros(rows.len(), self.width());
        if !support.is_empty() && !rows.is_empty() {
            self.gram.product_at(rows, support, w, c.as_mut());
        }
        for k in 0..self.width() {
            for (r, &j) in rows.iter().enumerate() {
                let ridge = at(j).map_or(0.0, |s| self.ridge * w[(s, k)]);
                c[(r, k)] = self.b[(j, k)] - c[(r, k)] - ridge;
            }
        }
        c
    }

    /// The correlations for parts.
    pub(super) fn correlations_of(&self, parts: &[GroupPart]) -> Mat<f64> {
        let (support, w) = sum_of(self.blocks, parts, self.width());
        self.correlations(&support, w.as_ref())
    }

    /// How far the parts (by group; groups without a part are zero) are from optimal at `level`, where `c` are their correlations, computed
    /// from `G` and `b` alone.
    pub(super) fn certificate(&self, parts: &[GroupPart], c: MatRef<'_, f64>, level: f64) -> Certificate {
        let mut of: Vec<Option<&GroupPart>> = vec![None; self.blocks.len()];
        parts.iter().for_each(|part| of[part.group] = Some(part));
        let (mut plain, mut scaled) = (0.0_f64, 0.0_f64);
        for (block, part) in self.blocks.iter().zip(of) {
            let broken = match part {
                None => norm_at(c, &block.variables) - level * block.v,
                Some(part) => {
                    let over = level * block.v / norm(&part.u);
                    let rows = block.variables.len();
                    let off = |(at, u): (usize, &f64)| c[(block.variables[at % rows], at / rows)] - over * u;
                    norm_of(part.u.iter().enumerate().map(off))
                }
            };
            // NaN must not look like 0.
            let broken = if broken.is_nan() { f64::INFINITY } else { broken.max(0.0) };
            plain = plain.max(broken / block.v);
            if block.length > 0.0 {
                scaled = scaled.max(broken / block.length);
            }
        }
        let over = |violation: f64, size: f64| if violation > 0.0 { violation / size } else { 0.0 };
        Certificate { kkt: over(plain, self.first_level), scaled: over(scaled, self.unit) }
    }
}

/// What a chosen group adds to W.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct GroupPart {
    pub(super) group: usize,
    /// One column per axis, one after the other.
    pub(super) u: Vec<f64>,
}

/// The variables that some part uses, rising, and their coefficients: the sums of the parts.
pub(super) fn sum_of(blocks: &[Block], parts: &[GroupPart], width: usize) -> (Vec<usize>, Mat<f64>) {
    let used = parts.iter().flat_map(|part| blocks[part.group].variables.iter().copied());
    let mut support: Vec<usize> = used.collect();
    support.sort_unstable();
    support.dedup();
    let mut w = Mat::zeros(support.len(), width);
    for part in parts {
        let variables = &blocks[part.group].variables;
        for (r, j) in variables.iter().enumerate() {
            if let Ok(s) = support.binary_search(j) {
                for k in 0..width {
                    w[(s, k)] += part.u[k * variables.len() + r];
                }
            }
        }
    }
    (support, w)
}

/// The coefficients of every axis.
pub(super) fn axes_of(blocks: &[Block], parts: &[GroupPart], width: usize) -> Vec<SparseVector> {
    let (support, w) = sum_of(blocks, parts, width);
    let axis =
        |k: usize| SparseVector::from_rising(support.iter().copied().zip(column(&w, k).iter().copied()));
    (0..width).map(axis).collect()
}

/// The Euclidean length of a vector.
pub(super) fn norm(values: &[f64]) -> f64 {
    norm_of(values.iter().copied())
}

/// The Euclidean length of numbers that are computed on the way.
pub(super) fn norm_of(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|value| value * value).sum::<f64>().sqrt()
}

/// The Frobenius norm of some rows.
pub(super) fn norm_at(matrix: MatRef<'_, f64>, rows: &[usize]) -> f64 {
    norm_of((0..matrix.ncols()).flat_map(|k| rows.iter().map(move |&j| matrix[(j, k)])))
}
