//! A line on the terminal while a fit runs, and Ctrl-C.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use indicatif::{ProgressBar, ProgressStyle};
use menet::{Monitor, Stage};
use menet_lab::Progress;

/// Shows progress on a terminal, nothing in a pipe, and stops on Ctrl-C.
pub(crate) struct Watch {
    bar: ProgressBar,
    stop: Arc<AtomicBool>,
}

impl Watch {
    pub(crate) fn new(quiet: bool) -> Self {
        let bar = if quiet || !std::io::stderr().is_terminal() {
            ProgressBar::hidden()
        } else {
            ProgressBar::no_length()
        };
        if let Ok(style) = ProgressStyle::with_template("{msg:12} {bar:40} {pos}/{len} {elapsed}") {
            bar.set_style(style);
        }
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        // Without a handler Ctrl-C still ends the program; files are written whole or not at all either way.
        let _ = ctrlc::set_handler(move || {
            if flag.swap(true, Ordering::Relaxed) {
                std::process::exit(130);
            }
        });
        Watch { bar, stop }
    }

    /// Clears the line.
    pub(crate) fn done(&self) {
        self.bar.finish_and_clear();
    }
}

impl Monitor for Watch {
    fn progress(&self, stage: Stage, done: usize, total: usize) {
        self.bar.set_message(stage.name());
        self.bar.set_length(total as u64);
        self.bar.set_position(done as u64);
    }

    fn stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

impl Progress for Watch {
    fn cells(&self, done: usize, total: usize, last: &str) {
        self.bar.set_message(last.to_owned());
        self.bar.set_length(total as u64);
        self.bar.set_position(done as u64);
    }
}
