//! Long work: without the interpreter's lock, on so many threads, until Ctrl-C.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use menet::Monitor;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rayon::ThreadPoolBuilder;

use crate::errors::Failure;

/// How often Python is asked for signals.
const PERIOD: Duration = Duration::from_millis(50);

/// Stops the work once Python has a signal to handle.
#[derive(Default)]
struct Watch(AtomicBool);

impl Monitor for Watch {
    fn stop(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Runs `work` on a pool of `threads` threads of its own, so that a process that forks afterwards inherits no pool, while
/// this thread waits for it and for signals.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    threads: usize,
    work: impl FnOnce(&dyn Monitor) -> Result<T, Failure> + Send,
) -> PyResult<T> {
    let pool = ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|e| PyRuntimeError::new_err(format!("{threads} threads cannot be started: {e}")))?;
    let watch = Watch::default();
    let mut signal = None;
    let out = py.detach(|| {
        thread::scope(|scope| {
            let (done, finished) = channel::<()>();
            let (pool, watch) = (&pool, &watch);
            let worker = scope.spawn(move || {
                let _done = done; // dropped when the work ends, however it ends
                pool.install(|| work(watch))
            });
            while finished.recv_timeout(PERIOD) == Err(RecvTimeoutError::Timeout) {
                if signal.is_none() {
                    signal = Python::attach(|py| py.check_signals()).err();
                    watch.0.store(signal.is_some(), Ordering::Relaxed);
                }
            }
            worker.join()
        })
    });
    match (signal, out) {
        (Some(signal), _) => Err(signal),
        (None, Ok(out)) => Ok(out?),
        (None, Err(panic)) => std::panic::resume_unwind(panic),
    }
}
