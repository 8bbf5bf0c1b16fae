//! The progress line on the terminal, and stopping on a signal.
//!
//! The line fits in 60 columns: the current work, a bar, how much is finished, the time since the start, and the time
//! left where it can be estimated. It is redrawn every 100 ms, so the clock keeps running through a long stage.

use std::fmt::Write;
use std::io::IsTerminal;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use menet::{Monitor, Stage};
use menet_lab::{Progress, Status, TimeLeft};

use crate::{signals, text};

/// Shows progress on a terminal (nothing in a pipe), and stops on a signal.
pub(crate) struct ProgressLine {
    bar: ProgressBar,
    shown: Arc<Mutex<LineState>>,
}

impl ProgressLine {
    pub(crate) fn new(quiet: bool) -> Self {
        let bar = if quiet || !std::io::stderr().is_terminal() {
            ProgressBar::hidden()
        } else {
            ProgressBar::no_length()
        };
        let shown = Arc::new(Mutex::new(LineState::default()));
        let drawn = Arc::clone(&shown);
        let draw = move |state: &ProgressState, out: &mut dyn Write| {
            let shown = locked(&drawn);
            let _ = out.write_str(&line(&shown.status, shown.since.elapsed(), state.elapsed()));
        };
        if let Ok(style) = ProgressStyle::with_template("{line}") {
            bar.set_style(style.with_key("line", draw));
        }
        let line = bar.clone();
        signals::listen(move || line.finish_and_clear());
        ProgressLine { bar, shown }
    }

    /// Clears the line.
    pub(crate) fn done(&self) {
        self.bar.finish_and_clear();
    }

    /// Shows a status. The first one starts the clock.
    fn show(&self, status: Status) {
        if self.bar.is_hidden() {
            return;
        }
        let mut shown = locked(&self.shown);
        shown.status = status;
        shown.since = Instant::now();
        let first = !std::mem::replace(&mut shown.ticking, true);
        // Drawing takes the lock too.
        drop(shown);
        if first {
            self.bar.enable_steady_tick(Duration::from_millis(100));
        }
    }
}

/// Clears the line, so that an error does not follow it.
impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.done();
    }
}

impl Monitor for ProgressLine {
    fn progress(&self, stage: Stage, done: usize, total: usize) {
        let began = {
            let mut shown = locked(&self.shown);
            if shown.stage != Some(stage) {
                (shown.stage, shown.stage_began) = (Some(stage), Instant::now());
            }
            shown.stage_began
        };
        // Only for the last stage: the time of later stages is unknown.
        let last = matches!(stage, Stage::Lars | Stage::Transform);
        let left = (last && done > 0 && done < total)
            .then(|| began.elapsed().mul_f64((total - done) as f64 / done as f64))
            .map(TimeLeft::About);
        let now = match Stage::ALL.iter().position(|&other| other == stage) {
            Some(place) => format!("{}, stage {} of {}", stage.name(), place + 1, Stage::ALL.len()),
            None => stage.name().to_owned(),
        };
        self.show(Status { now, done, total, left });
    }

    fn stop(&self) -> bool {
        signals::heard().is_some()
    }
}

impl Progress for ProgressLine {
    fn status(&self, status: Status) {
        self.show(status);
    }
}

/// What the line shows, and since when it shows it.
struct LineState {
    status: Status,
    since: Instant,
    stage: Option<Stage>,
    stage_began: Instant,
    ticking: bool,
}

impl Default for LineState {
    fn default() -> Self {
        let now = Instant::now();
        LineState { status: Status::default(), since: now, stage: None, stage_began: now, ticking: false }
    }
}

fn locked(shown: &Mutex<LineState>) -> MutexGuard<'_, LineState> {
    shown.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// One less than 60 columns: some terminals wrap when the last is filled.
const WIDTH: usize = 59;
const BAR: usize = 10;

/// The line of a status that came `age` ago, `elapsed` after the start.
fn line(status: &Status, age: Duration, elapsed: Duration) -> String {
    let Status { now, done, total, left } = status;
    let mut rest = String::new();
    // A single step needs no bar.
    if *total > 1 {
        let full = (done * BAR / total).min(BAR);
        let _ = write!(rest, " {}{} {done}/{total}", "█".repeat(full), "░".repeat(BAR - full));
    }
    let _ = write!(rest, " {}", clock(elapsed));
    let (least, left) = match left {
        Some(TimeLeft::About(left)) => ("", left.checked_sub(age)),
        Some(TimeLeft::AtMost(left)) => ("<", left.checked_sub(age)),
        None => ("", None),
    };
    // It takes longer than estimated: show no number instead of a wrong one.
    if let Some(left) = left.filter(|left| left.as_secs() > 0) {
        let _ = write!(rest, ", {least}{} left", clock(left));
    }
    let room = WIDTH.saturating_sub(console::measure_text_width(&rest));
    // Names of data may contain anything, even escape sequences.
    let clean = text::inline(now);
    let now = console::truncate_str(&clean, room, "…");
    let space = " ".repeat(room.saturating_sub(console::measure_text_width(&now)));
    format!("{now}{space}{rest}")
}

/// Minutes and seconds, with hours where there are any.
fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(now: &str, done: usize, total: usize, left: Option<TimeLeft>) -> Status {
        Status { now: now.to_owned(), done, total, left }
    }

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_line_says_what_how_much_and_how_long() {
        let cells = status("men, repeat 3, orl", 12, 35, Some(TimeLeft::About(31 * SECOND)));
        assert_eq!(
            line(&cells, SECOND / 2, 8 * SECOND),
            "men, repeat 3, orl         ███░░░░░░░ 12/35 0:08, 0:30 left"
        );
        // Without news, the clock runs on and the time left runs down.
        assert!(line(&cells, 20 * SECOND, 28 * SECOND).ends_with("12/35 0:28, 0:11 left"));
        assert!(
            line(&cells, 40 * SECOND, 48 * SECOND).ends_with("12/35 0:48"),
            "it takes longer than estimated"
        );
        let search = status("trying ridge = 0.1", 15, 60, Some(TimeLeft::AtMost(3700 * SECOND)));
        assert!(line(&search, Duration::ZERO, 75 * SECOND).ends_with("15/60 1:15, <1:01:40 left"));
        let one = status("reduction, stage 5 of 6", 0, 1, None);
        assert_eq!(
            line(&one, SECOND, 9 * SECOND).trim_end(),
            format!("{:<54} 0:09", "reduction, stage 5 of 6")
        );
    }

    #[test]
    fn a_line_fits_in_60_columns_whatever_it_says() {
        let long = "men (+15), repeat 100, a set with a very long name and more, 5 per class";
        let days = 400 * 3600 * SECOND;
        for now in [long, "", "漢字の長い名前のデータ集合、そしてさらに長い名前です", "a\tb\u{1b}[31mc\nd"]
        {
            for (done, total) in [(0, 0), (0, 1), (3, 2), (99_999, 700_000)] {
                for left in [None, Some(TimeLeft::About(days)), Some(TimeLeft::AtMost(days))] {
                    let line = line(&status(now, done, total, left), Duration::ZERO, days);
                    assert_eq!(console::measure_text_width(&line), WIDTH, "{line:?}");
                    assert!(!line.contains(|c: char| c.is_control()), "{line:?}");
                }
            }
        }
        assert!(line(&status(long, 1, 35, None), SECOND, SECOND).starts_with("men (+15), repeat 100"));
    }
}
