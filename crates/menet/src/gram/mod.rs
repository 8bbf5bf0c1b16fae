//! Where Gram columns come from.
//!
//! LARS asks four things of `G`: its diagonal, a few entries of one column, a block of a few rows and columns, and
//! products with a few sparse vectors at once, at all rows or at some. A source that can give
//! columns can give all of these; the sources here do so faster:
//!
//! | source | stores | for |
//! |---|---|---|
//! | [`Mat`], [`MatRef`] | `G` itself, p×p | small p |
//! | [`FactorGram`] | `F` with `G = FᵀF`, n×p | p ≫ n, without a p×p matrix |
//! | `SmoothedGram` | `X`, dense or sparse, and A as an operator | n and p both large |
//! | `GraphGram` | another source, and the Laplacian Ω of a graph | `G + λ3 Ω` ([`crate::penalties::feature_graph`]) |
//!
//! To add a source: one file here with a type that implements [`Gram`], and one line in the contract test below.

mod cost;
mod factor;
mod full;
mod graph;
mod smoothed;

use std::fmt::Debug;

use faer::{Mat, MatMut, MatRef};
use serde::{Deserialize, Serialize};

pub use factor::FactorGram;
pub(crate) use graph::GraphGram;
pub(crate) use smoothed::SmoothedGram;

use crate::error::Result;
use crate::monitor::Monitor;
use crate::numerics::linalg::{
    CombinedColumns, combinations, mirror_lower, multiply_in_place, symmetric_product,
};
use crate::operator::Operator;
use crate::preprocess::Columns;
pub use cost::GRAM_LIMIT;
pub(crate) use cost::{path_cost, whole_cost};

/// Which part of the Gram matrix is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GramForm {
    /// All of it.
    Full,
    /// The columns that are asked for.
    Columns,
}

/// `XᵀAX` for the solver's columns X and the correlations `b` with the responses; and, if it was built by conjugate
/// gradients, their worst relative residual.
///
/// # Errors
/// When `monitor` asks to stop.
pub(crate) fn gram_of(
    x: Columns,
    operator: Operator,
    form: GramForm,
    beta: f64,
    b: MatRef<'_, f64>,
    monitor: &dyn Monitor,
) -> Result<(Box<dyn Gram>, Option<f64>)> {
    match (x, operator, form) {
        (Columns::Dense(mut x), Operator::Dense(factor), form) => {
            multiply_in_place(factor.as_ref(), x.as_mut());
            Ok((of_factor(x, form), None))
        }
        (Columns::Dense(x), Operator::Conjugate(smoother), GramForm::Full) => {
            let gram = smoother.gram(x.as_ref(), monitor)?;
            Ok((Box::new(gram), Some(smoother.worst_residual())))
        }
        (x, operator, _) => Ok((Box::new(SmoothedGram::new(x, operator, beta, b)), None)),
    }
}

/// `FᵀF` for a factor `F` (n×p), in this form.
pub(crate) fn of_factor(factor: Mat<f64>, form: GramForm) -> Box<dyn Gram> {
    match form {
        GramForm::Columns => Box::new(FactorGram::new(factor)),
        GramForm::Full => Box::new(symmetric_product(factor.as_ref(), factor.as_ref())),
    }
}

/// A symmetric positive semidefinite matrix known by its columns. The ridge is not part of it.
pub trait Gram: Send + Sync + Debug {
    /// Number of variables p.
    fn dim(&self) -> usize;

    /// Writes column `j`, all p entries.
    fn column(&self, j: usize, out: &mut [f64]);

    /// The p diagonal entries.
    fn diagonal(&self) -> Vec<f64> {
        let mut buffer = vec![0.0; self.dim()];
        (0..self.dim())
            .map(|j| {
                self.column(j, &mut buffer);
                buffer[j]
            })
            .collect()
    }

    /// The squared length of every variable, by which violations of optimality are compared between variables: the diagonal,
    /// or, if the diagonal is expensive, an upper bound within a bounded factor of it.
    fn squared_lengths(&self) -> Vec<f64> {
        self.diagonal()
    }

    /// Writes the entries of column `j` at `rows`.
    fn entries(&self, rows: &[usize], j: usize, out: &mut [f64]) {
        let mut buffer = vec![0.0; self.dim()];
        self.column(j, &mut buffer);
        for (out, &row) in out.iter_mut().zip(rows) {
            *out = buffer[row];
        }
    }

    /// Refuses a source that cannot be a Gram matrix: not square, not finite. Called once before a path.
    ///
    /// # Errors
    /// Saying what is wrong.
    fn check(&self) -> Result<()> {
        Ok(())
    }

    /// Writes `G[rows, columns]`, one column after the other.
    fn block(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) {
        if !rows.is_empty() {
            for (&j, out) in columns.iter().zip(out.chunks_exact_mut(rows.len())) {
                self.entries(rows, j, out);
            }
        }
    }

    /// Writes `G[variables, variables]`. Only half of it is computed; the rest follows by symmetry.
    fn square(&self, variables: &[usize], out: &mut [f64]) {
        let m = variables.len();
        for (k, &j) in variables.iter().enumerate() {
            self.entries(&variables[k..], j, &mut out[k * m + k..(k + 1) * m]);
        }
        mirror_lower(MatMut::from_column_major_slice_mut(out, m, m));
    }

    /// `G[variables, variables]`.
    fn submatrix(&self, variables: &[usize]) -> Mat<f64> {
        let m = variables.len();
        let mut out = vec![0.0; m * m];
        self.square(variables, &mut out);
        MatRef::from_column_major_slice(&out, m, m).to_owned()
    }

    /// The worst relative residual of the conjugate gradients that answered so far, if they were used.
    fn residual(&self) -> Option<f64> {
        None
    }

    /// `out = G[:, support] · coefficients`. A column of the result must not depend on those beside it, nor on zeros at
    /// the end of the coefficients.
    fn product(&self, support: &[usize], coefficients: MatRef<'_, f64>, out: MatMut<'_, f64>) {
        let p = self.dim();
        let mut columns = vec![0.0; p * support.len()];
        for (&j, column) in support.iter().zip(columns.chunks_exact_mut(p)) {
            self.column(j, column);
        }
        combinations(CombinedColumns::Apart(&|k| &columns[k * p..][..p]), coefficients, out);
    }

    /// `out = G[rows, support] · coefficients`, under the same rule.
    fn product_at(
        &self,
        rows: &[usize],
        support: &[usize],
        coefficients: MatRef<'_, f64>,
        out: MatMut<'_, f64>,
    ) {
        let m = rows.len();
        let mut columns = vec![0.0; m * support.len()];
        if rows == support {
            self.square(support, &mut columns);
        } else {
            self.block(rows, support, &mut columns);
        }
        combinations(CombinedColumns::Block(&columns), coefficients, out);
    }
}

#[cfg(test)]
mod tests;
