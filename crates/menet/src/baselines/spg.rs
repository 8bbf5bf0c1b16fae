//! Sparse projection over a graph: the two steps that the paper argues against.

use serde::{Deserialize, Serialize};

use super::space::graph_embedding;
use crate::alignment::Alignment;
use crate::dataset::Dataset;
use crate::error::{Error, Result, at_least_one, check};
use crate::gram::{GramForm, of_factor};
use crate::lars::{LarsOptions, lars_paths};
use crate::methods::{LearnedReduction, Reducer, SparsePaths};
use crate::monitor::Monitor;
use crate::patches::{self, PatchParams};
use crate::plan::DENSE_LIMIT;
use crate::preprocess::Centred;

/// First a graph embedding Y, `L y = μ y` with the smallest μ and without the constant; then for every column of Y the
/// elastic net `min ‖y − Xw‖² + λ2‖w‖² + λ1‖w‖₁` with at most K variables.
///
/// The embedding knows nothing of X, and the regression nothing of the graph: MEN asks for both at once. Inside an
/// eigenspace (with a supervised graph the class indicators are one) columns are ordered by the variance the data have
/// along them. Columns of Y have length √n, columns of X length 1 for the regression, and W is in the user's units.
/// Needs the n×n graph: at most 5,000 samples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Spg {
    /// Largest number K of variables an axis uses, ≥ 1; none = min(p, 100), as for MEN.
    pub nonzeros: Option<usize>,
    /// λ2 ≥ 0, the ridge.
    pub ridge: f64,
    /// The patch rule of the graph, a name in [`patches::REGISTRY`].
    pub patch: String,
    /// Neighbours of the same class (of any, for unsupervised rules), ≥ 1.
    pub k_within: usize,
    /// Neighbours of other classes, ≥ 0, for rules that push apart.
    pub k_between: usize,
    /// κ ≥ 0, for rules that push apart.
    pub kappa: f64,
    /// Axes to fit if the caller does not say; none = c−1.
    pub components: Option<usize>,
}

impl Default for Spg {
    fn default() -> Self {
        Spg {
            nonzeros: None,
            ridge: 0.03,
            patch: "laplacian".to_owned(),
            k_within: 5,
            k_between: 5,
            kappa: 0.1,
            components: None,
        }
    }
}

impl Spg {
    fn patch_params(&self) -> PatchParams {
        PatchParams { k_within: self.k_within, k_between: self.k_between, ..PatchParams::default() }
    }
}

impl Reducer for Spg {
    fn name(&self) -> &'static str {
        "spg"
    }

    fn summary(&self) -> &'static str {
        "sparse projection over a graph: a graph embedding first, then the elastic net on it"
    }

    fn check(&self, _variables: usize) -> Result<()> {
        at_least_one("nonzeros", self.nonzeros)?;
        at_least_one("components", self.components)?;
        check("ridge", self.ridge, "a number from 0 to 1e100", |x| x >= 0.0)?;
        check("kappa", self.kappa, "a number from 0 to 1e100", |x| x >= 0.0)?;
        patches::rule(&self.patch)?;
        self.patch_params().check()
    }

    fn fit(
        &self,
        data: &Dataset<'_>,
        components: Option<usize>,
        monitor: &dyn Monitor,
    ) -> Result<LearnedReduction> {
        at_least_one("components", components.or(self.components))?;
        self.check(data.variables())?;
        let (n, p) = (data.samples(), data.variables());
        if n > DENSE_LIMIT {
            return Err(Error::TooLarge { what: "the graph embedding", samples: n, most: DENSE_LIMIT });
        }
        let pre = Centred::new(data, None)?;
        let alignment =
            Alignment::new(data, &pre, patches::rule(&self.patch)?, &self.patch_params(), monitor)?;
        let laplacian = alignment.matrix(self.kappa);
        let d = components.or(self.components).unwrap_or((data.classes().len() - 1).max(1));
        let y = graph_embedding(&laplacian, pre.dense()?, d)?;

        let (x, mean, norms) = pre.into_solver(true);
        let b = x.correlate_all(y.as_ref());
        let factors = norms.iter().map(|&norm| if norm > 0.0 { 1.0 } else { f64::INFINITY }).collect();
        let options = LarsOptions {
            ridge: self.ridge,
            penalty_factors: Some(factors),
            max_nonzeros: Some(self.nonzeros.unwrap_or(100).min(p)),
            ..LarsOptions::default()
        };
        let gram = of_factor(x.into_dense()?, GramForm::reused(p));
        let paths = lars_paths(&*gram, b.as_ref(), &options, monitor)?;
        let units = norms.iter().map(|&norm| if norm > 0.0 { 1.0 / norm } else { 1.0 }).collect();
        LearnedReduction::from_paths(SparsePaths { mean, units, paths })
    }
}
