//! A line on the terminal while a fit runs, and what stops it.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressStyle};
use menet::{Monitor, Stage};
use menet_lab::Progress;

use crate::{signals, text};

/// Shows progress on a terminal, nothing in a pipe, and stops on a signal.
pub(crate) struct Watch {
    bar: ProgressBar,
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
        let line = bar.clone();
        signals::listen(move || line.finish_and_clear());
        Watch { bar }
    }

    /// Clears the line.
    pub(crate) fn done(&self) {
        self.bar.finish_and_clear();
    }
}

/// An error must not stand behind the line of progress.
impl Drop for Watch {
    fn drop(&mut self) {
        self.done();
    }
}

impl Monitor for Watch {
    fn progress(&self, stage: Stage, done: usize, total: usize) {
        self.bar.set_message(stage.name());
        self.bar.set_length(total as u64);
        self.bar.set_position(done as u64);
    }

    fn stop(&self) -> bool {
        signals::heard().is_some()
    }
}

impl Progress for Watch {
    fn cells(&self, done: usize, total: usize, last: &str) {
        self.bar.set_message(text::inline(last).into_owned());
        self.bar.set_length(total as u64);
        self.bar.set_position(done as u64);
    }
}
