//! Part optimization: one patch per sample, and the rules that build them.
//!
//! A patch is a sample with its related ones and a small matrix `Lᵢ` such that `tr(ZᵢᵀLᵢZᵢ)` is small when the
//! projected patch `Zᵢ` keeps the geometry the rule cares about (Eq. partopt). A rule that also pushes samples
//! apart gives `Lᵢ = attractᵢ − κ repelᵢ`, both parts positive semidefinite, so that κ can be chosen later.
//!
//! To add a rule: one file here with a type that implements [`PatchRule`], and one line in [`REGISTRY`]. The
//! contract tests below and the command's and Python's lists follow from the registry.

mod dla;
mod laplacian;
mod lle;
mod ltsa;

use faer::Mat;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, at_least_one, check};
use crate::neighbors::{Neighbor, NeighborScope, NeighborSearch};

pub use crate::alignment::groups;
pub use crate::preprocess::Rows;
pub(crate) use dla::Dla;
pub(crate) use laplacian::{Laplacian, Weights};
pub(crate) use lle::Lle;
use ltsa::Ltsa;

/// Every rule, under the name by which it is chosen.
pub static REGISTRY: &[&dyn PatchRule] = &[
    &Dla,
    &Laplacian { weights: Weights::Heat, supervised: true },
    &Laplacian { weights: Weights::Binary, supervised: true },
    &Laplacian { weights: Weights::Heat, supervised: false },
    &Laplacian { weights: Weights::Binary, supervised: false },
    &Lle { supervised: true },
    &Lle { supervised: false },
    &Ltsa { supervised: true },
    &Ltsa { supervised: false },
];

/// The rule called `name`.
///
/// # Errors
/// When there is none; the message lists those there are.
pub fn rule(name: &str) -> Result<&'static dyn PatchRule> {
    REGISTRY.iter().copied().find(|rule| rule.name() == name).ok_or_else(|| {
        let names: Vec<&str> = REGISTRY.iter().map(|rule| rule.name()).collect();
        Error::parameter("patch", format!("\"{name}\""), format!("one of {}", names.join(", ")))
    })
}

/// The patches, one per sample: which samples are neighbours, and what is kept of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct PatchParams {
    /// The patch rule.
    #[schemars(schema_with = "names_of_rules")]
    pub kind: String,
    /// Neighbours of the same class in a patch (of any class for unsupervised rules), at least 1. A smaller class uses what it has.
    pub k_within: usize,
    /// Neighbours of other classes in a patch, at least 0.
    pub k_between: usize,
    /// How neighbours are searched for.
    ///
    /// "approximate" looks only where neighbours are likely, and misses about one in twenty. It pays from about 50,000 samples on, is
    /// exact below 10,000 samples and wherever it would not be faster, and does not work on data that stay sparse.
    pub search: NeighborSearch,
    /// Width of the heat kernel of the Laplacian patches, more than 0; none: the median distance to the neighbours.
    #[schemars(extend("of" = ["laplacian", "laplacian-unsupervised"]))]
    pub bandwidth: Option<f64>,
    /// Regularizer of the LLE patch, more than 0, relative to the trace of the local Gram matrix.
    #[schemars(extend("of" = ["lle", "lle-unsupervised"]))]
    pub regularizer: f64,
    /// Tangent dimension of the LTSA patch, at least 1; none: half of the neighbours, at most the number of variables.
    #[schemars(extend("of" = ["ltsa", "ltsa-unsupervised"]))]
    pub dimension: Option<usize>,
}

/// The choices of `kind`, for the description of parameters.
fn names_of_rules(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    let rules = REGISTRY
        .iter()
        .map(|rule| serde_json::json!({ "const": rule.name(), "description": rule.summary() }));
    schemars::json_schema!({ "oneOf": rules.collect::<Vec<_>>() })
}

impl Default for PatchParams {
    fn default() -> Self {
        PatchParams {
            kind: "dla".to_owned(),
            k_within: 5,
            k_between: 5,
            search: NeighborSearch::Exact,
            bandwidth: None,
            regularizer: 1e-3,
            dimension: None,
        }
    }
}

impl PatchParams {
    /// Refuses parameters that are out of range.
    ///
    /// # Errors
    /// Naming the parameter, its value and what is allowed.
    pub fn check(&self) -> Result<()> {
        rule(&self.kind)?;
        at_least_one("k_within", Some(self.k_within))?;
        at_least_one("dimension", self.dimension)?;
        let positive = "a number > 0, at most 1e100";
        check("bandwidth", self.bandwidth.unwrap_or(1.0), positive, |x| x > 0.0)?;
        check("regularizer", self.regularizer, positive, |x| x > 0.0)
    }
}

/// What a rule sees of a sample.
#[derive(Debug)]
pub struct Neighborhood<'a> {
    /// The sample itself.
    pub center: usize,
    /// Its neighbours of the group the rule asked for first, nearest first.
    pub near: &'a [Neighbor],
    /// Its neighbours of the group to be pushed away, if the rule asked for one.
    pub far: &'a [Neighbor],
    /// All samples.
    pub samples: &'a Rows<'a>,
    /// Number of variables.
    pub variables: usize,
    /// The parameters.
    pub params: &'a PatchParams,
    /// The median distance between a sample and its neighbours of the first group, over all samples.
    pub median_distance: f64,
}

/// A patch: its members, and its matrix in two parts.
#[derive(Debug, Clone)]
pub struct Patch {
    /// The samples, the centre first.
    pub members: Vec<usize>,
    /// The part that keeps samples together, positive semidefinite.
    pub attract: PatchMatrix,
    /// The part that pushes samples apart, to be multiplied by −κ; none if the rule has none.
    pub repel: Option<PatchMatrix>,
}

/// A symmetric matrix over the members of a patch.
#[derive(Debug, Clone)]
pub enum PatchMatrix {
    /// That of `Σⱼ ωⱼ ‖z₀ − zⱼ‖²` with one weight for each member but the centre (Eq. part2).
    Star(Vec<f64>),
    /// Any other.
    Dense(Mat<f64>),
}

impl PatchMatrix {
    /// Its nonzero entries `(row, column, value)`.
    pub fn entries(&self) -> Vec<(usize, usize, f64)> {
        let all: Vec<(usize, usize, f64)> = match self {
            PatchMatrix::Star(weights) => {
                let spokes = weights
                    .iter()
                    .enumerate()
                    .flat_map(|(k, &w)| [(0, k + 1, -w), (k + 1, 0, -w), (k + 1, k + 1, w)]);
                std::iter::once((0, 0, weights.iter().sum())).chain(spokes).collect()
            }
            PatchMatrix::Dense(matrix) => {
                let size = matrix.nrows();
                (0..size * size).map(|at| (at % size, at / size, matrix[(at % size, at / size)])).collect()
            }
        };
        all.into_iter().filter(|entry| entry.2 != 0.0).collect()
    }
}

/// A way to turn a neighbourhood into a patch.
pub trait PatchRule: Sync + std::fmt::Debug {
    /// The name in the registry.
    fn name(&self) -> &'static str;

    /// One line for help texts.
    fn summary(&self) -> &'static str;

    /// From which samples the first group of neighbours is taken.
    fn near(&self) -> NeighborScope;

    /// Whether the rule has a second group, of other classes, and so a κ.
    fn has_kappa(&self) -> bool {
        false
    }

    /// Whether a patch depends on the samples themselves, and not only on neighbours and their distances.
    fn needs_samples(&self) -> bool {
        false
    }

    /// About how many entries of L a patch with these parameters adds. The plan needs it. By default, the patch is a star.
    fn entries(&self, params: &PatchParams) -> usize {
        let far = if self.has_kappa() { 2 * params.k_between + 1 } else { 0 };
        2 * params.k_within + 1 + far
    }

    /// The patch of one sample.
    ///
    /// # Errors
    /// When a local decomposition fails.
    fn patch(&self, neighborhood: &Neighborhood<'_>) -> Result<Patch>;
}

impl Neighborhood<'_> {
    /// The centre followed by the first group.
    fn near_members(&self) -> Vec<usize> {
        std::iter::once(self.center).chain(self.near.iter().map(|n| n.index)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::Dataset;
    use crate::neighbors::neighbors;
    use crate::numerics::linalg::symmetric_eigen;
    use crate::preprocess::Centred;

    fn params() -> PatchParams {
        PatchParams { k_within: 4, k_between: 3, ..PatchParams::default() }
    }

    /// What every registered rule must keep: symmetric parts, positive semidefinite, rows that sum to zero.
    #[test]
    fn contract_of_every_rule() {
        let x = Mat::from_fn(24, 6, |i, j| ((i * 37 + j * 11 + i * j) % 17) as f64 / 3.0);
        let labels: Vec<usize> = (0..24).map(|i| [0, 1, 1, 2][i % 4] + usize::from(i == 23) * 9).collect();
        let data = Dataset::from_owned(x, &labels).unwrap();
        let pre = Centred::new(&data, None).unwrap();
        let params = params();
        let mut names: Vec<&str> = REGISTRY.iter().map(|rule| rule.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), REGISTRY.len(), "names repeat");
        for rule in REGISTRY {
            assert_eq!(super::rule(rule.name()).unwrap().name(), rule.name());
            let near = neighbors(&data, &pre, rule.near(), params.k_within, &()).unwrap();
            let far = neighbors(&data, &pre, NeighborScope::Between, params.k_between, &()).unwrap();
            for i in 0..24 {
                let far = if rule.has_kappa() { &far[i][..] } else { &[] };
                let patch = rule
                    .patch(&Neighborhood {
                        center: i,
                        near: &near[i],
                        far,
                        samples: pre.rows(),
                        variables: pre.variables(),
                        params: &params,
                        median_distance: 2.0,
                    })
                    .unwrap();
                assert_eq!(patch.members[0], i);
                assert_eq!(patch.repel.is_some(), rule.has_kappa());
                for part in [Some(&patch.attract), patch.repel.as_ref()].into_iter().flatten() {
                    let size = patch.members.len();
                    let mut dense = Mat::zeros(size, size);
                    part.entries().into_iter().for_each(|(i, j, value)| dense[(i, j)] += value);
                    let part = dense;
                    let size = 1.0 + part.norm_max();
                    for r in 0..part.nrows() {
                        let sum: f64 = (0..part.ncols()).map(|c| part[(r, c)]).sum();
                        assert!(sum.abs() < 1e-12 * size, "{}: a row sums to {sum}", rule.name());
                        for c in 0..r {
                            assert_eq!(part[(r, c)], part[(c, r)], "{}", rule.name());
                        }
                    }
                    let (values, _) = symmetric_eigen(part.as_ref()).unwrap();
                    assert!(values[0] > -1e-10 * size, "{}: eigenvalue {}", rule.name(), values[0]);
                }
            }
        }
    }

    #[test]
    fn a_star_is_as_large_as_its_spokes() {
        assert_eq!(PatchMatrix::Star(vec![2.0; 300]).entries().len(), 901);
        assert_eq!(PatchMatrix::Star(vec![1.0, 0.0]).entries().len(), 4, "weights of 0 leave nothing");
    }

    #[test]
    fn an_unknown_rule_lists_the_known_ones() {
        let message = rule("isomap").unwrap_err().to_string();
        assert!(message.contains("\"isomap\"") && message.contains("dla, laplacian"), "{message}");
    }
}
