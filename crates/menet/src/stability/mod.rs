//! Would other samples have selected the same variables?
//!
//! Stability selection draws complementary pairs of half-samples, selects variables on each, and keeps those that are selected often: the
//! *stable panel*. A bound on the expected number of false selections among them says how large the panels of the half-samples may be.
//!
//! | file | what it holds |
//! |---|---|
//! | `half_samples` | the half-samples, by class or by group |
//! | `order` | the order in which variables enter the paths: one fit, panels of all sizes |
//! | `selectable` | how many variables can be selected at all |
//! | `index` | selection frequencies, the stable panel, Nogueira's stability index |
//! | `bounds` | the expected number of false selections, and the panel size that keeps it small |
//! | `concave` | what the sharpest of these bounds needs |
//! | `refit` | a model on the stable panel |
//! | here | all of it in one call |
//!
//! ```
//! use menet::stability::{self, StabilityParams};
//! use menet::{Dataset, MenParams, faer::Mat};
//!
//! // Variable 0 tells the classes apart. The others are noise of a kind.
//! let noise = |i: usize, j: usize| ((i * 37 + j * 101 + i * j * 13) % 97) as f64 / 97.0;
//! let labels: Vec<usize> = (0..40).map(|i| i % 2).collect();
//! let x = Mat::from_fn(40, 30, |i, j| noise(i, j) + if j == 0 { 2.0 * labels[i] as f64 } else { 0.0 });
//! let data = Dataset::new(x.as_ref(), &labels)?;
//!
//! let (params, how) = (MenParams::default(), StabilityParams::default());
//! let found = stability::select(&data, &params, &how, &(), &|_, _| {})?;
//! assert_eq!(found.stable, [0]);
//! let men = stability::fit_on(&data, &found.stable, &params, &())?;
//! assert_eq!(men.panel(), [0]);
//! # Ok::<(), menet::Error>(())
//! ```

mod bounds;
mod concave;
mod half_samples;
mod index;
mod order;
mod refit;
mod selectable;

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use crate::dataset::Dataset;
use crate::error::{Error, Result, at_least_one};
use crate::evaluate::subset;
use crate::monitor::{Monitor, QuietMonitor, Stage, proceed};
use crate::params::MenParams;
use crate::plan::Plan;

pub use bounds::{Bounds, bounds, size_for};
pub use half_samples::half_samples;
pub use index::{Stability, StabilityIndex};
pub use order::{check_order, entry_order};
pub use refit::fit_on;
pub use selectable::selectable;

/// The parameters of stability selection.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct StabilityParams {
    /// Number B of complementary pairs of half-samples, ≥ 1.
    pub pairs: usize,
    /// The largest panel size that is computed, ≥ 1; more than p means p.
    pub most: usize,
    /// The panel size at which the stable panel is chosen, from 1 to `most`; none = [`size_for`] `false_selections`, at most `most`.
    pub size: Option<usize>,
    /// τ, above 1/2 and at most 1: a variable is stable if at least this fraction of the half-samples select it.
    pub threshold: f64,
    /// How many false selections are acceptable on average, > 0. It sets the panel size if `size` is none.
    pub false_selections: f64,
    /// The seed of the half-samples.
    pub seed: u64,
    /// One number per sample: samples with equal numbers stay in one half. None = every sample by itself.
    pub groups: Option<Vec<usize>>,
}

impl Default for StabilityParams {
    fn default() -> Self {
        StabilityParams {
            pairs: 50,
            most: 100,
            size: None,
            threshold: 0.75,
            false_selections: 1.0,
            seed: 0,
            groups: None,
        }
    }
}

/// What stability selection finds.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct StableSelection {
    /// The panels of all half-samples at all sizes.
    pub stability: Stability,
    /// The panel size at which the stable panel was chosen.
    pub size: usize,
    /// The stable panel: the most frequent variable first, then by variable. It may be empty.
    pub stable: Vec<usize>,
    /// How much the panels of `size` agree.
    pub index: StabilityIndex,
    /// Bounds on the expected number of false selections in `stable`.
    pub bounds: Bounds,
}

/// Selects variables that most half-samples agree on. `progress` is told how many half-samples of how many are done.
///
/// Half-samples are spread over rayon's threads. The result does not depend on their number.
///
/// # Errors
/// When a parameter is out of range, variables have no order of entry ([`check_order`]), a class has fewer than four samples or cannot be divided by groups, a half-sample cannot be fitted, or
/// `monitor` asks to stop.
pub fn select(
    data: &Dataset<'_>,
    params: &MenParams,
    how: &StabilityParams,
    monitor: &dyn Monitor,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<StableSelection> {
    let p = data.variables();
    Plan::new(data, params)?;
    check_order(params)?;
    at_least_one("most", Some(how.most))?;
    let choice = selectable(data, params)?.max(1);
    // Also where the size is given: what is out of range is refused before any work.
    let within = size_for(how.false_selections, how.threshold, choice, how.pairs)?;
    let size = match how.size {
        Some(size) if size == 0 || size > how.most => {
            let allowed = format!("from 1 to {}, the largest size that is computed", how.most);
            return Err(Error::parameter("size", size, allowed));
        }
        Some(size) => size.min(p),
        None => within.min(how.most),
    };
    let halves = half_samples(data, how.pairs, how.groups.as_deref(), how.seed)?;
    let (done, quiet) = (AtomicUsize::new(0), QuietMonitor(monitor));
    let one = |rows: &Vec<usize>| {
        proceed(monitor, Stage::Preprocess)?;
        let order = entry_order(&subset(data, rows)?, params, how.most, &quiet)?;
        progress(done.fetch_add(1, Ordering::Relaxed) + 1, halves.len());
        Ok(order)
    };
    let orders = halves.par_iter().with_max_len(1).map(one).collect::<Result<_>>()?;
    let stability = Stability::new(p, orders)?.among(choice);
    let (stable, index) = (stability.stable(size, how.threshold), stability.index(size));
    let bounds = bounds(how.threshold, stability.mean_size(size), stability.selectable(), how.pairs)?;
    Ok(StableSelection { stability, size, stable, index, bounds })
}
