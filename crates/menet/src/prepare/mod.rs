//! What samples need before a fit: missing values, batches, scales.
//!
//! All of it is learned from the training samples ([`Preparation::learn`]), is part of the model, and is applied to new samples. So
//! whatever holds samples back (folds, half-samples) learns it without them. The steps, in this order:
//!
//! ```text
//! x → log(1 + x) → less the mean of its batch → over its scale → missing values filled
//! ```
//!
//! Means, deviations and medians are those of the values that are there. Missing values are filled last, when all variables and
//! batches are comparable. W and the mean of a model are in the units of prepared samples: `z = (prepared x − mean) W`. A variable that
//! is missing too often is 0 for all samples, so that no axis uses it.
//!
//! Where nothing is asked for, there is no [`Preparation`], and nothing is copied.
//!
//! | file | what it holds |
//! |---|---|
//! | `scale` | logarithms and divisors |
//! | `batch` | centres and deviations of batches, known and new |
//! | `impute`, `knn` | what stands for a missing value |
//! | `observed` | statistics of the values that are there |
//! | `subset` | the preparation of some of the variables |
//! | `learn`, `apply` | from training samples to a preparation, and from samples to prepared ones |

mod apply;
mod batch;
mod impute;
mod knn;
mod learn;
mod observed;
mod scale;
mod subset;

#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use batch::BatchEffects;
pub use impute::{Filling, Impute};
pub use knn::{DONORS, Neighbors};
pub use scale::Scale;

use crate::dataset::Dataset;
use crate::error::{Error, Result, check};
use crate::params::MenParams;

/// How samples are prepared.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct PrepareParams {
    /// How missing values are filled; none: they are an error.
    ///
    /// It is learned from the training samples, and new samples are filled in the same way.
    #[schemars(extend("common" = true))]
    pub impute: Option<Impute>,
    /// Variables that a larger fraction of the training samples lacks are left out, from 0 to 1; used with `impute`.
    pub max_missing: f64,
    /// How variables are scaled before all else. W and the mean are then in the units of the scaled variables.
    #[schemars(extend("common" = true))]
    pub scale: Scale,
    /// Whether values are also divided by their standard deviation in their batch, besides being centred there; for samples with
    /// batches.
    pub batch_scale: bool,
}

impl Default for PrepareParams {
    fn default() -> Self {
        PrepareParams { impute: None, max_missing: 0.5, scale: Scale::None, batch_scale: false }
    }
}

impl PrepareParams {
    /// Refuses parameters that are out of range.
    ///
    /// # Errors
    /// Naming the parameter, its value and what is allowed.
    pub fn check(&self) -> Result<()> {
        check("max_missing", self.max_missing, "from 0 to 1", |x| (0.0..=1.0).contains(&x))
    }

    /// Whether these samples need a preparation.
    pub fn ask_for(&self, data: &Dataset<'_>) -> bool {
        self.impute.is_some() || self.scale != Scale::None || data.batches().is_some()
    }
}

/// What was learned from training samples about how samples are prepared.
///
/// The fields are public for those who store models; [`Men::from_parts`](crate::Men::from_parts) checks them.
#[derive(Debug, Clone, PartialEq)]
pub struct Preparation {
    /// How samples are prepared.
    pub params: PrepareParams,
    /// The fraction of the training samples that every variable is missing in.
    pub missing: Vec<f64>,
    /// The variables that were left out because they are missing too often, rising.
    pub dropped: Vec<usize>,
    /// The batches, if the samples have any.
    pub batches: Option<BatchEffects>,
    /// What every variable is divided by; none if they are not.
    pub divisors: Option<Vec<f64>>,
    /// What missing values are filled with; none if they are an error.
    pub filling: Option<Filling>,
}

impl Preparation {
    /// Learns how to prepare samples like these, and prepares them; none if nothing is asked for.
    ///
    /// # Errors
    /// When a parameter is out of range, a value cannot be prepared, no variable is left, or the data are sparse and would become dense.
    pub fn of<'a>(data: &'a Dataset<'_>, params: &PrepareParams) -> Result<Option<(Self, Dataset<'a>)>> {
        params.check()?;
        if !params.ask_for(data) {
            return Ok(None);
        }
        let learned = Self::learn(data, params)?;
        let prepared = learned.prepare(data)?;
        Ok(Some((learned, prepared)))
    }

    /// Number of variables p.
    pub fn variables(&self) -> usize {
        self.missing.len()
    }

    /// Refuses parts that do not fit together, for a model of `p` variables.
    pub(crate) fn check(&self, p: usize) -> Result<()> {
        self.params.check()?;
        let sizes = [
            ("`missing`", Some(self.missing.len())),
            ("`divisors`", self.divisors.as_ref().map(Vec::len)),
            ("`centres`", self.batches.as_ref().map(|batches| batches.centres.ncols())),
            (
                "`deviations`",
                self.batches.as_ref().and_then(|batches| Some(batches.deviations.as_ref()?.ncols())),
            ),
            ("`fill`", self.filling.as_ref().map(Filling::variables)),
        ];
        for (what, given) in sizes.into_iter().filter_map(|(what, given)| Some((what, given?))) {
            // Neighbours have the variables that were kept alone.
            let expected = match (what, &self.filling) {
                ("`fill`", Some(Filling::Neighbors(_))) => p - self.dropped.len().min(p),
                _ => p,
            };
            if given != expected {
                let why = format!("the model has {p} variables");
                return Err(Error::Size { what, given, expected, why });
            }
        }
        let rising = |list: &[usize], end: usize| {
            list.windows(2).all(|pair| pair[0] < pair[1]) && list.last().is_none_or(|&last| last < end)
        };
        // A batch without a value has no deviation.
        let positive = |deviations: &faer::Mat<f64>| {
            deviations
                .col_iter()
                .all(|column| column.iter().all(|deviation| *deviation > 0.0 || deviation.is_nan()))
        };
        let kept = |list: &[usize]| list.iter().all(|j| self.dropped.binary_search(j).is_err());
        let neighbors_fit = match &self.filling {
            Some(Filling::Neighbors(near)) => {
                let q = near.variables.len();
                rising(&near.variables, p)
                    && kept(&near.variables)
                    && near.means.len() == q
                    && q > 0
                    && near.samples.len() == q * near.weights.len()
                    && near.weights.iter().all(|&weight| weight > 0.0 && weight.is_finite())
            }
            _ => true,
        };
        let batches_fit = self.batches.as_ref().is_none_or(|batches| {
            let count = batches.names.len();
            let rows = |x: &faer::Mat<f64>| x.nrows() == count;
            rows(&batches.centres)
                && batches
                    .deviations
                    .as_ref()
                    .is_none_or(|deviations| rows(deviations) && positive(deviations))
                && batches.deviations.is_some() == self.params.batch_scale
                && batches.names.iter().collect::<std::collections::HashSet<_>>().len() == count
                && rising(&batches.of_one_class, count)
        });
        let divisors_fit = self.divisors.is_some() == self.params.scale.divides()
            && self.divisors.iter().flatten().all(|&divisor| divisor > 0.0 && divisor.is_finite());
        let filling_fits = matches!(
            (&self.filling, self.params.impute),
            (None, None)
                | (Some(Filling::Neighbors(_)), Some(Impute::Knn))
                | (Some(Filling::Values(_)), Some(Impute::Mean | Impute::Median))
        );
        let missing_fits = self.missing.iter().all(|fraction| (0.0..=1.0 + 1e-9).contains(fraction));
        let parts_fit = neighbors_fit && batches_fit && divisors_fit && filling_fits && missing_fits;
        if rising(&self.dropped, p) && parts_fit {
            return Ok(());
        }
        Err(Error::parameter("preparation", "damaged", "parts that fit together"))
    }

    /// Refuses variables that must be in every model and were left out.
    pub(crate) fn check_always(&self, data: &Dataset<'_>, params: &MenParams) -> Result<()> {
        if self.dropped.is_empty() {
            return Ok(());
        }
        let always = params.always_in(data.feature_names(), data.variables())?;
        match always.iter().find(|j| self.dropped.binary_search(j).is_ok()) {
            None => Ok(()),
            Some(&j) => {
                let given = format!(
                    "a list with {}, which is missing in {:.0} % of the samples",
                    data.name_of(j),
                    100.0 * self.missing[j]
                );
                let allowed = format!(
                    "variables that are missing in at most {:.0} % (`prepare.max_missing`)",
                    100.0 * self.params.max_missing
                );
                Err(Error::parameter("penalty.always", given, allowed))
            }
        }
    }
}

impl Filling {
    /// How many variables it has values for.
    fn variables(&self) -> usize {
        match self {
            Filling::Values(values) => values.len(),
            Filling::Neighbors(near) => near.variables.len(),
        }
    }
}
