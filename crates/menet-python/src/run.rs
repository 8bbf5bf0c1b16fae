//! Long work: without the interpreter's lock, on so many threads, until Ctrl-C.
//!
//! Whatever may run in parallel goes through here. Outside, it would run on rayon's global pool, whose threads are missing in a process
//! that forked (as joblib's backend "multiprocessing" does): it would wait for them for ever.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use menet::Monitor;
use pyo3::exceptions::{PyMemoryError, PyRuntimeError};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::errors::Failure;

/// How often Python is asked for signals.
const PERIOD: Duration = Duration::from_millis(50);

/// Stops the work once Python has a signal to handle.
#[derive(Default)]
struct SignalWatch(AtomicBool);

impl Monitor for SignalWatch {
    fn stop(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Runs `work` on a pool of `threads` threads, while this thread waits for it and for signals.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    threads: usize,
    work: impl FnOnce(&dyn Monitor) -> Result<T, Failure> + Send,
) -> PyResult<T> {
    run_on(py, &*pool(threads).map_err(|e| not_started(threads, &e))?, work)
}

/// Runs work on a pool of its own if it calls Python, where it may come back to [`run`]: on the shared pool that would wait for
/// itself.
pub(crate) fn run_apart<T: Send>(
    py: Python<'_>,
    threads: usize,
    work: impl FnOnce(&dyn Monitor) -> Result<T, Failure> + Send,
) -> PyResult<T> {
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    run_on(py, &pool.map_err(|e| not_started(threads, &e))?, work)
}

fn not_started(threads: usize, why: &rayon::ThreadPoolBuildError) -> PyErr {
    PyRuntimeError::new_err(format!("{threads} threads cannot be started: {why}"))
}

fn run_on<T: Send>(
    py: Python<'_>,
    pool: &ThreadPool,
    work: impl FnOnce(&dyn Monitor) -> Result<T, Failure> + Send,
) -> PyResult<T> {
    let watch = SignalWatch::default();
    let (mut signal, mut out) = (None, None);
    py.detach(|| {
        let (done, finished) = channel::<()>();
        let (out, watch) = (&mut out, &watch);
        pool.in_place_scope(|scope| {
            scope.spawn(move |_| {
                let _done = done; // dropped when the work ends, however it ends
                *out = Some(catch_unwind(AssertUnwindSafe(|| work(watch))));
            });
            while finished.recv_timeout(PERIOD) == Err(RecvTimeoutError::Timeout) {
                if signal.is_none() {
                    signal = Python::attach(|py| py.check_signals()).err();
                    watch.0.store(signal.is_some(), Ordering::Relaxed);
                }
            }
        });
    });
    match (signal, out) {
        (Some(signal), _) => Err(signal),
        (None, Some(Ok(out))) => Ok(out?),
        (None, Some(Err(panic))) => match allocation(&*panic) {
            Some(what) => Err(PyMemoryError::new_err(format!("not enough memory: {what}"))),
            None => resume_unwind(panic),
        },
        (None, None) => Err(PyRuntimeError::new_err("the work ended without a result")),
    }
}

/// What could not be allocated, if that is why the work panicked: so do faer's matrices.
fn allocation(panic: &(dyn Any + Send)) -> Option<&str> {
    let message = panic.downcast_ref::<String>()?;
    message.contains("AllocError").then_some(message)
}

/// Pools by their number of threads, and the process they belong to.
type ThreadPools = (u32, BTreeMap<usize, Arc<ThreadPool>>);

static POOLS: Mutex<Option<ThreadPools>> = Mutex::new(None);

/// A pool of so many threads, kept for the next call: threads that come and go would each leave memory behind.
fn pool(threads: usize) -> Result<Arc<ThreadPool>, rayon::ThreadPoolBuildError> {
    let new = || ThreadPoolBuilder::new().num_threads(threads).build().map(Arc::new);
    // The lock may be held for ever in a process that forked while another thread had it.
    let Ok(mut pools) = POOLS.try_lock() else {
        return new();
    };
    let here = std::process::id();
    if pools.as_ref().is_some_and(|(process, _)| *process != here) {
        // This process forked from another: the threads stayed there, and nothing can wait for them here.
        std::mem::forget(pools.take());
    }
    let (_, pools) = pools.get_or_insert_with(|| (here, BTreeMap::new()));
    match pools.get(&threads) {
        Some(pool) => Ok(Arc::clone(pool)),
        None => {
            let pool = new()?;
            pools.insert(threads, Arc::clone(&pool));
            Ok(pool)
        }
    }
}
