//! The progress of a long command: the current work, how much is finished, and how long the rest will take.
//!
//! The cells of a run differ in cost by method and set, so the time left is not proportional to the time so far. It is the sum,
//! over the remaining cells, of the mean time of finished cells of the same kind, divided by the number of workers. It is known
//! once every remaining method has finished a cell.

use std::time::{Duration, Instant};

use menet::Monitor;

use crate::cell::CellKey;

/// The contents of the progress line.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Status {
    /// The current work, with the most important words first, because a narrow terminal cuts the end.
    pub now: String,
    /// How many units are finished.
    pub done: usize,
    /// How many units there are.
    pub total: usize,
    /// How long the rest will take, if it can be estimated.
    pub left: Option<TimeLeft>,
}

/// An estimate of the time left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeLeft {
    /// About this long.
    About(Duration),
    /// At most this long: a search may end before its budget is used.
    AtMost(Duration),
}

/// Watches a command.
pub trait Progress: Monitor {
    /// Reports the current status. Calls may come from several threads at once.
    fn status(&self, status: Status) {
        let _ = status;
    }
}

impl Progress for () {}

/// Stops when asked, but shows nothing: the stages of many simultaneous fits are not informative.
pub(crate) struct QuietProgress<'a>(pub(crate) &'a dyn Progress);

impl Monitor for QuietProgress<'_> {
    fn stop(&self) -> bool {
        self.0.stop()
    }
}

impl Progress for QuietProgress<'_> {}

/// A few consecutive steps that take about the same time.
pub(crate) struct Steps<'a> {
    progress: &'a dyn Progress,
    start: Instant,
    done: usize,
    total: usize,
}

impl<'a> Steps<'a> {
    pub(crate) fn new(progress: &'a dyn Progress, total: usize) -> Self {
        Steps { progress, start: Instant::now(), done: 0, total }
    }

    /// Begins the next step.
    pub(crate) fn next(&mut self, now: String) {
        let left = proportional(self.start.elapsed(), self.done, self.total).map(TimeLeft::About);
        self.progress.status(Status { now, done: self.done, total: self.total, left });
        self.done += 1;
    }
}

/// The time left if every remaining unit takes as long as the finished ones did on average; none before the first is finished.
pub(crate) fn proportional(elapsed: Duration, done: usize, total: usize) -> Option<Duration> {
    let rest = total.saturating_sub(done);
    (done > 0).then(|| elapsed.mul_f64(rest as f64 / done as f64))
}

/// The cells of a run while workers compute them.
#[derive(Debug)]
pub(crate) struct Tracker {
    kinds: Vec<RepeatGroup>,
    running: Vec<RunningCell>,
    done: usize,
    total: usize,
    workers: usize,
}

/// The repeats of one method on one set at one training size.
#[derive(Debug)]
struct RepeatGroup {
    like: CellKey,
    /// Cells that have not begun.
    waiting: usize,
    finished: usize,
    spent: Duration,
}

#[derive(Debug)]
struct RunningCell {
    place: CellKey,
    kind: usize,
    since: Instant,
}

impl Tracker {
    /// `open` are the cells to compute; the journal has `finished` more.
    pub(crate) fn new<'p>(open: impl Iterator<Item = &'p CellKey>, finished: usize, workers: usize) -> Self {
        let mut tracker =
            Tracker { kinds: Vec::new(), running: Vec::new(), done: finished, total: finished, workers };
        for place in open {
            tracker.total += 1;
            match tracker.kind(place) {
                Some(kind) => tracker.kinds[kind].waiting += 1,
                None => tracker.kinds.push(RepeatGroup {
                    like: place.clone(),
                    waiting: 1,
                    finished: 0,
                    spent: Duration::ZERO,
                }),
            }
        }
        tracker
    }

    fn kind(&self, place: &CellKey) -> Option<usize> {
        let same = |kind: &RepeatGroup| {
            place.is_repeat_of(&kind.like.data, kind.like.train_per_class, &kind.like.method)
        };
        self.kinds.iter().position(same)
    }

    /// Records that a worker begins a cell.
    pub(crate) fn begin(&mut self, place: &CellKey, at: Instant) {
        if let Some(kind) = self.kind(place) {
            self.kinds[kind].waiting = self.kinds[kind].waiting.saturating_sub(1);
            self.running.push(RunningCell { place: place.clone(), kind, since: at });
        }
    }

    /// Records that a worker has finished a cell.
    pub(crate) fn finish(&mut self, place: &CellKey, at: Instant) {
        if let Some(k) = self.running.iter().position(|running| running.place == *place) {
            let RunningCell { kind, since, .. } = self.running.remove(k);
            self.kinds[kind].finished += 1;
            self.kinds[kind].spent += at.saturating_duration_since(since);
            self.done += 1;
        }
    }

    /// The cell that has run longest, how many others are running, and the time left.
    pub(crate) fn status(&self, at: Instant) -> Status {
        let now = self.running.first().map_or_else(String::new, |first| {
            let CellKey { data, train_per_class, repeat, method } = &first.place;
            let others = match self.running.len() - 1 {
                0 => String::new(),
                others => format!(" (+{others})"),
            };
            format!("{method}{others}, repeat {repeat}, {data}, {train_per_class} per class")
        });
        Status { now, done: self.done, total: self.total, left: self.left(at).map(TimeLeft::About) }
    }

    fn left(&self, at: Instant) -> Option<Duration> {
        let mut sum = Duration::ZERO;
        for (k, kind) in self.kinds.iter().enumerate() {
            let running = self.running.iter().filter(|running| running.kind == k);
            if kind.waiting == 0 && running.clone().count() == 0 {
                continue;
            }
            let mean = self.mean(kind)?;
            sum += mean.mul_f64(kind.waiting as f64);
            sum +=
                running.map(|r| mean.saturating_sub(at.saturating_duration_since(r.since))).sum::<Duration>();
        }
        Some(sum / u32::try_from(self.workers.max(1)).unwrap_or(u32::MAX))
    }

    /// The mean time of finished cells of this kind or, if there are none, of the same method on other data. Methods differ by
    /// factors of a hundred, so other methods are not used.
    fn mean(&self, of: &RepeatGroup) -> Option<Duration> {
        let over = |same: &dyn Fn(&RepeatGroup) -> bool| {
            let (mut spent, mut finished) = (Duration::ZERO, 0);
            for kind in self.kinds.iter().filter(|kind| same(kind)) {
                spent += kind.spent;
                finished += kind.finished;
            }
            (finished > 0).then(|| spent.div_f64(finished as f64))
        };
        over(&|kind| std::ptr::eq(kind, of)).or_else(|| over(&|kind| kind.like.method == of.like.method))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(method: &str, repeat: usize) -> CellKey {
        CellKey { data: "orl".to_owned(), train_per_class: 5, repeat, method: method.to_owned() }
    }

    #[test]
    fn the_line_tells_what_runs_and_not_what_was_finished() {
        let places: Vec<CellKey> =
            (0..3).flat_map(|repeat| ["men", "spca"].map(|method| place(method, repeat))).collect();
        let start = Instant::now();
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        let mut tracker = Tracker::new(places.iter(), 4, 2);
        assert_eq!((tracker.status(start).done, tracker.status(start).total), (4, 10));
        tracker.begin(&places[0], at(0));
        tracker.begin(&places[1], at(0));
        assert_eq!(tracker.status(at(1)).now, "men (+1), repeat 0, orl, 5 per class");
        assert_eq!(tracker.status(at(1)).left, None, "nothing is finished yet");
        tracker.finish(&places[0], at(2));
        let status = tracker.status(at(2));
        assert_eq!((status.now.as_str(), status.done), ("spca, repeat 0, orl, 5 per class", 5));
        assert_eq!(status.left, None, "nothing is known about spca yet");
        tracker.finish(&places[1], at(10));
        // 2 × 2 s and 2 × 10 s on two workers.
        assert_eq!(tracker.status(at(10)).left, Some(TimeLeft::About(Duration::from_secs(12))));
        tracker.begin(&places[3], at(10));
        assert_eq!(tracker.status(at(16)).left, Some(TimeLeft::About(Duration::from_secs(9))));
        for k in [2, 4, 5] {
            tracker.begin(&places[k], at(16));
        }
        for place in &places[2..] {
            tracker.finish(place, at(17));
        }
        assert_eq!((tracker.done, tracker.left(at(17))), (10, Some(Duration::ZERO)));
    }

    #[test]
    fn time_left_is_in_proportion() {
        assert_eq!(proportional(Duration::from_secs(6), 2, 5), Some(Duration::from_secs(9)));
        assert_eq!(proportional(Duration::from_secs(6), 0, 5), None);
        assert_eq!(proportional(Duration::from_secs(6), 5, 5), Some(Duration::ZERO));
    }
}
