//! Watching a long computation, and stopping it.
//!
//! Every long function takes a `&dyn Monitor`. It calls [`Monitor::progress`] as a stage advances and asks
//! [`Monitor::stop`] now and then; `true` ends the computation in [`crate::Error::Stopped`]. A progress bar
//! implements the first, Ctrl-C the second, and `&()` is the monitor that does neither.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// The stages of a fit, in the order data flow through them, and what comes after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// Centring, scaling, PCA reconstruction.
    Preprocess,
    /// Neighbours within and between classes.
    Neighbors,
    /// The patches and their alignment.
    Alignment,
    /// The class target.
    Target,
    /// Definiteness and the Gram matrix.
    Reduction,
    /// The LARS paths.
    Lars,
    /// The panel, the weights on it, and the rule that decides.
    Refit,
    /// Not of a fit: projecting samples.
    Transform,
}

impl Stage {
    /// All stages of a fit in order.
    pub const ALL: [Stage; 7] = [
        Stage::Preprocess,
        Stage::Neighbors,
        Stage::Alignment,
        Stage::Target,
        Stage::Reduction,
        Stage::Lars,
        Stage::Refit,
    ];

    /// The name used in reports and progress bars.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Preprocess => "preprocess",
            Stage::Neighbors => "neighbors",
            Stage::Alignment => "alignment",
            Stage::Target => "target",
            Stage::Reduction => "reduction",
            Stage::Lars => "lars",
            Stage::Refit => "refit",
            Stage::Transform => "transform",
        }
    }
}

impl std::fmt::Display for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// Watches a computation. Calls may come from several threads at once.
pub trait Monitor: Sync {
    /// `done` of `total` units of `stage` are finished.
    fn progress(&self, stage: Stage, done: usize, total: usize) {
        let _ = (stage, done, total);
    }

    /// Whether the computation should end now.
    fn stop(&self) -> bool {
        false
    }
}

impl Monitor for () {}

/// Passes on requests to stop, but no progress: for many fits that run at once.
pub(crate) struct QuietMonitor<'a>(pub(crate) &'a dyn Monitor);

impl Monitor for QuietMonitor<'_> {
    fn stop(&self) -> bool {
        self.0.stop()
    }
}

/// `Err(Stopped)` when the monitor asks for it.
pub(crate) fn proceed(monitor: &dyn Monitor, stage: Stage) -> Result<()> {
    if monitor.stop() { Err(Error::Stopped { stage }) } else { Ok(()) }
}
