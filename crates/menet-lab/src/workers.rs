//! Pieces of work on all cores.
//!
//! Every worker takes the next piece and computes it alone on one core. So the seconds of a piece are its own, nothing is shared,
//! and the numbers do not depend on the number of workers.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

use crate::error::{Error, Result};

/// How many workers there are for so many pieces.
pub(crate) fn count(pieces: usize) -> usize {
    rayon::current_num_threads().min(pieces)
}

/// Does `work` on every piece. After an error, or a panic, no worker begins another piece.
///
/// # Errors
/// The first error, by the number of the worker.
pub(crate) fn each<T: Sync>(pieces: &[T], work: impl Fn(&T) -> Result<()> + Sync) -> Result<()> {
    let (next, broken) = (AtomicUsize::new(0), AtomicBool::new(false));
    let work = || -> Result<()> {
        while let Some(piece) = pieces.get(next.fetch_add(1, Ordering::Relaxed)) {
            if broken.load(Ordering::Relaxed) {
                break;
            }
            work(piece)?;
        }
        Ok(())
    };
    let outcomes: Vec<Result<()>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..count(pieces.len()))
            .map(|_| {
                scope.spawn(|| {
                    // A pool of one thread: everything inside stays on this worker.
                    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
                    let mut alarm = Alarm { raised: &broken, armed: true };
                    let outcome = match pool {
                        Ok(pool) => pool.install(work),
                        Err(e) => Err(Error::Usage(format!("a thread could not be started: {e}"))),
                    };
                    alarm.armed = outcome.is_err();
                    outcome
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| Err(Error::Usage("a worker panicked".to_owned()))))
            .collect()
    });
    outcomes.into_iter().collect()
}

/// If a worker ends early, even by a panic, the others end too.
struct Alarm<'a> {
    raised: &'a AtomicBool,
    armed: bool,
}

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if self.armed {
            self.raised.store(true, Ordering::Relaxed);
        }
    }
}

/// The state is consistent even after a panic, because every change is one call.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
