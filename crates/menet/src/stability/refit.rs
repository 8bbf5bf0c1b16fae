//! A model on given variables.

use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::fit::fit;
use crate::model::Men;
use crate::monitor::Monitor;
use crate::params::MenParams;

/// Fits a model that uses only `variables`, in any order, each at most once. It takes samples of all variables, as every model of `data` does.
///
/// All other variables are barred by an infinite penalty factor, except free ones, whose factor in `params` is 0: these are in every model.
/// `nonzeros` and `panel_size` of `params` are replaced, so that the panel has all of `variables`. One is missing only if its weight is 0
/// on every axis, or if a path ends early for lack of a ridge, which [`Men::doubts`] tells.
///
/// # Errors
/// When there are no variables, one is given twice, does not exist, or is barred or constant; and as [`fit()`].
pub fn fit_on(
    data: &Dataset<'_>,
    variables: &[usize],
    params: &MenParams,
    monitor: &dyn Monitor,
) -> Result<Men> {
    let p = data.variables();
    params.check(p)?;
    if variables.is_empty() {
        let message = "no variable is stable, so there is none to fit a model on: lower the threshold, allow more false \
                       selections, or use more samples (there may be nothing to find)";
        return Err(Error::Degenerate(message.to_owned()));
    }
    let given = params.factors(data.feature_names(), p)?;
    let own = |j: usize| given[j];
    let mut factors: Vec<f64> = (0..p).map(|j| if own(j) == 0.0 { 0.0 } else { f64::INFINITY }).collect();
    let mut seen = std::collections::BTreeSet::new();
    for &j in variables {
        let wrong = match j {
            _ if j >= p => Some(format!("variables below {p}")),
            _ if !seen.insert(j) => Some("distinct variables".to_owned()),
            _ if own(j).is_infinite() => Some("variables with a finite penalty factor".to_owned()),
            _ => None,
        };
        if let Some(allowed) = wrong {
            return Err(Error::parameter("variables", format!("a list with {j}"), allowed));
        }
        factors[j] = own(j);
    }
    let size = Some(variables.len());
    let params = params.clone().with(|it| {
        (it.nonzeros, it.panel_size, it.penalty.factors) = (size, size, Some(factors));
    });
    fit(data, &params, monitor)
}
