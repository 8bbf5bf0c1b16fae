//! How samples are prepared, in a model file: an entry in its JSON, and tensors.
//!
//! | tensor | shape | |
//! |---|---|---|
//! | `prepare.missing` | p | the fraction of the training samples that lack a variable |
//! | `prepare.dropped` | | the variables that were left out |
//! | `prepare.divisors` | p | what variables are divided by; absent if they are not |
//! | `prepare.centres`, `prepare.deviations` | batches×p | of the batches; NaN where a batch has no value |
//! | `prepare.fill` | p | values for missing ones; `mean` and `median` |
//! | `prepare.variables`, `prepare.means` | q | the variables of the samples below, and their means |
//! | `prepare.samples`, `prepare.weights` | m×q, m | the training samples that `knn` takes values from, NaN where they lack one; how much they count |

use menet::prepare::{BatchEffects, Filling, Neighbors, Preparation, PrepareParams};
use serde::{Deserialize, Serialize};

use super::tensors::{Packer, Problem, Unpacker};

/// The entry in the JSON.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct PreparationEntry {
    params: PrepareParams,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    batches: Option<BatchEntry>,
}

#[derive(Debug, Serialize, Deserialize)]
struct BatchEntry {
    names: Vec<String>,
    of_one_class: Vec<usize>,
}

pub(super) fn pack_preparation(pack: &mut Packer, learned: &Preparation) -> PreparationEntry {
    pack.floats("prepare.missing", &learned.missing);
    pack.indices("prepare.dropped", &learned.dropped);
    if let Some(divisors) = &learned.divisors {
        pack.floats("prepare.divisors", divisors);
    }
    if let Some(batches) = &learned.batches {
        pack.dense("prepare.centres", batches.centres.as_ref());
        if let Some(deviations) = &batches.deviations {
            pack.dense("prepare.deviations", deviations.as_ref());
        }
    }
    match &learned.filling {
        Some(Filling::Values(values)) => pack.floats("prepare.fill", values),
        Some(Filling::Neighbors(near)) => {
            pack.indices("prepare.variables", &near.variables);
            pack.floats("prepare.means", &near.means);
            pack.floats("prepare.weights", &near.weights);
            pack.matrix("prepare.samples", &near.samples, near.variables.len());
        }
        None => {}
    }
    let batches = learned.batches.as_ref().map(|batches| BatchEntry {
        names: batches.names.clone(),
        of_one_class: batches.of_one_class.clone(),
    });
    PreparationEntry { params: learned.params, batches }
}

/// The preparation of a model of `p` variables. The model checks that its parts fit together.
pub(super) fn unpack_preparation(
    unpack: &Unpacker<'_>,
    words: PreparationEntry,
    p: usize,
) -> Result<Preparation, Problem> {
    let batches = match words.batches {
        None => None,
        Some(BatchEntry { names, of_one_class }) => Some(BatchEffects {
            names,
            of_one_class,
            centres: unpack.with_missing("prepare.centres", p)?,
            deviations: match unpack.has("prepare.deviations") {
                true => Some(unpack.with_missing("prepare.deviations", p)?),
                false => None,
            },
        }),
    };
    let filling = if unpack.has("prepare.fill") {
        Some(Filling::Values(unpack.floats("prepare.fill")?))
    } else if unpack.has("prepare.samples") {
        let (variables, means) = (unpack.indices("prepare.variables")?, unpack.floats("prepare.means")?);
        let samples = unpack.numbers("prepare.samples", variables.len())?;
        let weights = unpack.floats("prepare.weights")?;
        Some(Filling::Neighbors(Neighbors { variables, samples, weights, means }))
    } else {
        None
    };
    Ok(Preparation {
        params: words.params,
        missing: unpack.floats("prepare.missing")?,
        dropped: unpack.indices("prepare.dropped")?,
        batches,
        divisors: match unpack.has("prepare.divisors") {
            true => Some(unpack.floats("prepare.divisors")?),
            false => None,
        },
        filling,
    })
}
