//! A Gram matrix and the Laplacian of a graph over its variables.

use faer::{MatMut, MatRef};

use super::Gram;
use crate::error::{Error, Result};
use crate::penalties::feature_graph::Laplacian;

/// `G + λ3 Ω`: another source, to which the few entries of a [`Laplacian`] are added as they are asked for.
#[derive(Debug)]
pub(crate) struct GraphGram {
    gram: Box<dyn Gram>,
    omega: Laplacian,
}

impl GraphGram {
    /// Of a source and a Laplacian, which holds the factor λ3.
    ///
    /// # Errors
    /// When they have different numbers of variables.
    pub(crate) fn new(gram: Box<dyn Gram>, omega: Laplacian) -> Result<Self> {
        let (given, expected) = (omega.dim(), gram.dim());
        if given != expected {
            let why = format!("the Gram matrix has {expected} variables");
            return Err(Error::Size { what: "the graph", given, expected, why });
        }
        Ok(GraphGram { gram, omega })
    }

    fn plus_diagonal(&self, mut entries: Vec<f64>) -> Vec<f64> {
        entries.iter_mut().zip(self.omega.diagonal()).for_each(|(entry, more)| *entry += more);
        entries
    }

    /// Adds `Ω[:, support] · coefficients` at the rows for which `place` knows where they are.
    fn add_product(
        &self,
        place: impl Fn(usize) -> Option<usize>,
        support: &[usize],
        coefficients: MatRef<'_, f64>,
        mut out: MatMut<'_, f64>,
    ) {
        for (k, &j) in support.iter().enumerate() {
            for (row, value) in self.omega.column(j).filter_map(|(row, value)| Some((place(row)?, value))) {
                for c in 0..coefficients.ncols() {
                    // A zero adds nothing, so that zeros at the end change no bit.
                    if coefficients[(k, c)] != 0.0 {
                        out[(row, c)] += value * coefficients[(k, c)];
                    }
                }
            }
        }
    }
}

impl Gram for GraphGram {
    fn dim(&self) -> usize {
        self.gram.dim()
    }

    fn column(&self, j: usize, out: &mut [f64]) {
        self.gram.column(j, out);
        self.omega.column(j).for_each(|(row, value)| out[row] += value);
    }

    fn diagonal(&self) -> Vec<f64> {
        self.plus_diagonal(self.gram.diagonal())
    }

    fn squared_lengths(&self) -> Vec<f64> {
        self.plus_diagonal(self.gram.squared_lengths())
    }

    fn entries(&self, rows: &[usize], j: usize, out: &mut [f64]) {
        self.gram.entries(rows, j, out);
        out.iter_mut().zip(rows).for_each(|(out, &row)| *out += self.omega.entry(row, j));
    }

    fn check(&self) -> Result<()> {
        match self.omega.diagonal().iter().position(|entry| !entry.is_finite() || *entry > 1e100) {
            None => self.gram.check(),
            Some(j) => Err(Error::parameter(
                "penalty.graph_weight",
                format!("such that the graph adds {:e} to variable {j}", self.omega.diagonal()[j]),
                "smaller, or the variable left out, which hardly varies",
            )),
        }
    }

    fn block(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) {
        self.gram.block(rows, columns, out);
        if !rows.is_empty() {
            for (&j, out) in columns.iter().zip(out.chunks_exact_mut(rows.len())) {
                out.iter_mut().zip(rows).for_each(|(out, &row)| *out += self.omega.entry(row, j));
            }
        }
    }

    fn square(&self, variables: &[usize], out: &mut [f64]) {
        self.gram.square(variables, out);
        for (k, &j) in variables.iter().enumerate() {
            let column = &mut out[k * variables.len()..][..variables.len()];
            column.iter_mut().zip(variables).for_each(|(out, &row)| *out += self.omega.entry(row, j));
        }
    }

    fn residual(&self) -> Option<f64> {
        self.gram.residual()
    }

    fn product(&self, support: &[usize], coefficients: MatRef<'_, f64>, mut out: MatMut<'_, f64>) {
        self.gram.product(support, coefficients, out.as_mut());
        self.add_product(Some, support, coefficients, out);
    }

    fn product_at(
        &self,
        rows: &[usize],
        support: &[usize],
        coefficients: MatRef<'_, f64>,
        mut out: MatMut<'_, f64>,
    ) {
        self.gram.product_at(rows, support, coefficients, out.as_mut());
        let mut places: Vec<(usize, usize)> = rows.iter().enumerate().map(|(at, &row)| (row, at)).collect();
        places.sort_unstable();
        let place =
            |row: usize| places.binary_search_by_key(&row, |&(row, _)| row).ok().map(|at| places[at].1);
        self.add_product(place, support, coefficients, out);
    }
}
