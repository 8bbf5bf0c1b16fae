//! Signals that ask the program to end: SIGINT (Ctrl-C), SIGTERM and SIGHUP.
//!
//! The first one sets a flag. Computations look at it now and then, and end. What has not ended after [`PATIENCE`], reading a
//! file for instance, is ended from here: the drafts of files are removed, the line of progress is cleared, and one line says
//! what happened. A second signal does not wait.
//!
//! None of this happens in a signal handler, where almost nothing is allowed. The handler is signal-hook's: it writes one byte
//! into a pipe, and an ordinary thread wakes up.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::time::Duration;

use menet_io::atomic::{self, WrittenFiles};

use crate::text;

/// How long a computation may take to notice the flag.
const PATIENCE: Duration = Duration::from_millis(500);

/// The first signal that came; 0 is none.
static HEARD: AtomicI32 = AtomicI32::new(0);
/// Whoever has this lock ends the program, and never gives it back: there is one last line and one exit code.
static ENDING: Mutex<()> = Mutex::new(());
/// Whether the same command goes on where this one ends.
static RESUMABLE: AtomicBool = AtomicBool::new(false);

/// A signal that asked the program to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Signal(i32);

impl Signal {
    /// The exit code by which shells know it.
    pub(crate) fn code(self) -> i32 {
        128 + self.0
    }

    fn name(self) -> &'static str {
        match self.0 {
            1 => "SIGHUP",
            2 => "SIGINT (Ctrl-C)",
            15 => "SIGTERM",
            _ => "a signal",
        }
    }

    /// The line about it. `stage` is where the work ended, if it was work that noticed; `complete` is whether all was done.
    pub(crate) fn message(self, stage: Option<menet::Stage>, complete: bool) -> String {
        line(self, stage, complete, RESUMABLE.load(Ordering::Relaxed), &atomic::written())
    }
}

/// The signal that asked the program to end, if one did.
pub(crate) fn heard() -> Option<Signal> {
    Some(HEARD.load(Ordering::SeqCst)).filter(|&number| number != 0).map(Signal)
}

/// For a command that keeps what is finished, so that it can go on later.
pub(crate) fn resumable() {
    RESUMABLE.store(true, Ordering::Relaxed);
}

/// From here on the calling thread ends the program. If another one already does, this never returns.
pub(crate) fn take_over() {
    std::mem::forget(ENDING.lock());
}

fn line(
    signal: Signal,
    stage: Option<menet::Stage>,
    complete: bool,
    resumable: bool,
    written: &WrittenFiles,
) -> String {
    let name = signal.name();
    let files = match (written.files, &written.last) {
        (1, Some(last)) => format!("; {} is written and whole", text::path(last)),
        (count, Some(last)) => {
            format!("; {count} files are written and whole, the last is {}", text::path(last))
        }
        _ if complete || resumable => String::new(),
        _ => "; no file was written".to_owned(),
    };
    if complete {
        return format!("{name} came too late to stop the work{files}");
    }
    let stage = stage.map_or_else(String::new, |stage| format!(" during the stage `{stage}`"));
    let later =
        if resumable { "; what is finished is kept, and the same command goes on with it" } else { "" };
    format!("stopped by {name}{stage}{files}{later}")
}

/// Ends the program, in the thread that listens.
fn force(signal: Signal, clear: &dyn Fn()) -> ! {
    take_over();
    atomic::remove_drafts();
    clear();
    text::complain(signal.message(None, false));
    std::process::exit(signal.code());
}

/// Listens from now on. `clear` takes away the line of progress.
#[cfg(unix)]
pub(crate) fn listen(clear: impl Fn() + Send + 'static) {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let wanted = [SIGINT, SIGTERM].into_iter().chain((!hangup_is_ignored()).then_some(SIGHUP));
    // Without this a signal still ends the program, and files are whole or absent; only a draft may stay until the next run.
    let Ok(mut signals) = signal_hook::iterator::Signals::new(wanted) else { return };
    let work = move || {
        let Some(first) = signals.forever().next() else { return };
        HEARD.store(first, Ordering::SeqCst);
        let step = Duration::from_millis(10);
        let mut waited = Duration::ZERO;
        while waited < PATIENCE && signals.pending().next().is_none() {
            std::thread::sleep(step);
            waited += step;
        }
        force(Signal(first), &clear);
    };
    let _ = std::thread::Builder::new().name("signals".to_owned()).spawn(work);
}

/// Whether whoever started the program told it to ignore SIGHUP: `nohup` does that, and means it. (Shells that are not
/// interactive do so with SIGINT for what runs in the background. That stops all the same: it was sent on purpose.) Where it
/// cannot be known, it is not ignored.
#[cfg(unix)]
fn hangup_is_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}

/// Listens from now on. `clear` takes away the line of progress.
#[cfg(not(unix))]
pub(crate) fn listen(clear: impl Fn() + Send + 'static) {
    // Ctrl-C is the only signal there is. The crate calls this in a thread of its own.
    let _ = ctrlc::set_handler(move || {
        let second = HEARD.swap(2, Ordering::SeqCst) != 0;
        if !second {
            std::thread::sleep(PATIENCE);
        }
        force(Signal(2), &clear);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_true() {
        let written = |files, last: Option<&str>| WrittenFiles { files, last: last.map(Into::into) };
        let (int, stage) = (Signal(2), Some(menet::Stage::Lars));
        assert_eq!(
            line(int, stage, false, false, &written(0, None)),
            "stopped by SIGINT (Ctrl-C) during the stage `lars`; no file was written"
        );
        assert_eq!(
            line(Signal(15), None, false, false, &written(1, Some("a\u{1b}b"))),
            "stopped by SIGTERM; a\\u001bb is written and whole"
        );
        assert_eq!(
            line(Signal(1), None, false, true, &written(0, None)),
            "stopped by SIGHUP; what is finished is kept, and the same command goes on with it"
        );
        assert_eq!(
            line(int, None, true, false, &written(3, Some("z"))),
            "SIGINT (Ctrl-C) came too late to stop the work; 3 files are written and whole, the last is z"
        );
        assert_eq!([1, 2, 15].map(|number| Signal(number).code()), [129, 130, 143]);
    }
}
