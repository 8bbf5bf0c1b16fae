//! A validation while it is computed.

use std::sync::Mutex;
use std::time::Instant;

use menet::evaluate::{SampleGrouping, Split};
use menet::{Dataset, Error as CoreError};

use super::arrangements::Arrangements;
use super::permutation::{self, Statistic};
use super::procedure::{Decisions, HeldOutCase};
use super::work::{WorkItem, WorkResult, WorkStore};
use super::{Design, Options, PermutationTest, ValidationSubject, assess, seed, splits};
use crate::error::{Error, Result};
use crate::progress::{Progress, QuietProgress, Status, TimeLeft, proportional};
use crate::workers::{self, locked};

/// So many permutations are begun together. The number does not depend on the threads, so that a run and its continuation do the same.
const BATCH: usize = 16;

/// A validation while it is computed.
pub(super) struct ValidationRun<'a> {
    /// Its groups are the samples that stay together, copies too.
    pub(super) subject: ValidationSubject<'a>,
    pub(super) together: &'a SampleGrouping,
    pub(super) options: &'a Options,
    /// The folds of every repeat.
    pub(super) repeats: Vec<Vec<Split>>,
    pub(super) store: WorkStore,
    pub(super) progress: &'a dyn Progress,
}

impl ValidationRun<'_> {
    pub(super) fn data(&self) -> &Dataset<'_> {
        &self.subject.set.data
    }

    /// All folds of all procedures, repeat by repeat.
    fn fold_places(&self) -> Vec<(usize, WorkItem)> {
        let mut places = Vec::new();
        for (repeat, splits) in self.repeats.iter().enumerate() {
            for (at, procedure) in self.subject.procedures.iter().enumerate() {
                for fold in 0..splits.len() {
                    places.push((at, WorkItem::Fold { method: procedure.name().to_owned(), repeat, fold }));
                }
            }
        }
        places
    }

    /// Every piece of work that was asked for.
    pub(super) fn places(&self) -> Vec<WorkItem> {
        let folds = self.fold_places().into_iter().map(|(_, place)| place);
        let permutations = (0..self.options.permutations).map(WorkItem::Permutation);
        folds.chain(permutations).chain((0..2 * self.options.pairs).map(WorkItem::Half)).collect()
    }

    /// Every procedure on every fold.
    pub(super) fn folds(&mut self) -> Result<()> {
        let places = self.fold_places();
        let open: Vec<(usize, WorkItem)> =
            places.iter().filter(|(_, place)| !self.store.has(place)).cloned().collect();
        let (finished, total) = (places.len() - open.len(), places.len());
        let counted =
            Mutex::new((std::mem::replace(&mut self.store, WorkStore::Memory(Default::default())), 0));
        let start = Instant::now();
        let outcome = workers::each(&open, |(at, place)| {
            let WorkItem::Fold { method, repeat, fold } = place else { return Ok(()) };
            let context = || format!("{method}, repeat {}, fold {}", repeat + 1, fold + 1);
            self.proceed(&context)?;
            let case = HeldOutCase {
                data: self.data(),
                split: &self.repeats[*repeat][*fold],
                groups: self.subject.groups,
                seed: seed(self.options, *repeat, *fold),
            };
            let decided = self.subject.procedures[*at].decide(&case, &QuietProgress(self.progress));
            let decided = decided.map_err(|error| in_context(error, &context))?;
            let mut counted = locked(&counted);
            counted.0.add(place.clone(), WorkResult::Decided(decided))?;
            counted.1 += 1;
            // Permutations come after this, each as long as one repeat.
            let done = counted.1;
            let here = proportional(start.elapsed(), done, open.len());
            let rest = here.map(|here| here + self.later(start, done));
            self.status(
                format!("held-out samples: {method}, repeat {} of {}", repeat + 1, self.repeats.len()),
                finished + done,
                total,
                rest.map(TimeLeft::AtMost),
            );
            Ok(())
        });
        self.store = counted.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner).0;
        outcome
    }

    /// How long the permutations will take at most, if every fold takes as long as those so far.
    fn later(&self, start: Instant, done: usize) -> std::time::Duration {
        let per_fold = start.elapsed().div_f64(done.max(1) as f64);
        per_fold.mul_f64((self.options.permutations * self.repeats[0].len()) as f64)
    }

    /// The permutation test of the first procedure; none if it was not asked for.
    pub(super) fn permutations(&mut self) -> Result<Option<PermutationTest>> {
        let Options { permutations: asked, early_stopping, .. } = *self.options;
        let name = self.subject.procedures[0].name().to_owned();
        if asked == 0 {
            return Ok(None);
        }
        let first = &self.decisions(&name)[0];
        let observed = statistic(self.data(), first, 0)?;
        let arrangements = Arrangements::new(self.data().class_indices(), self.subject.groups);
        let start = Instant::now();
        let (mut known, mut computed) = (Vec::new(), 0);
        for batch in (0..asked).step_by(BATCH) {
            let numbers: Vec<usize> = (batch..(batch + BATCH).min(asked)).collect();
            let open: Vec<usize> =
                numbers.iter().copied().filter(|&k| !self.store.has(&WorkItem::Permutation(k))).collect();
            let store = Mutex::new(std::mem::replace(&mut self.store, WorkStore::Memory(Default::default())));
            let outcome = workers::each(&open, |&k| {
                self.proceed(&|| format!("permutation {}", k + 1))?;
                let found = self.permuted(&arrangements, observed.log_loss.is_some(), k)?;
                locked(&store).add(WorkItem::Permutation(k), WorkResult::Statistic(found))
            });
            self.store = store.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
            outcome?;
            computed += open.len();
            known.extend(numbers.iter().filter_map(|&k| self.store.statistic(k)));
            if let Some(found) = permutation::test(observed, &known, &arrangements, asked, early_stopping) {
                return Ok(Some(found));
            }
            let left = proportional(start.elapsed(), computed, computed + asked - known.len());
            self.status("permuted labels".to_owned(), known.len(), asked, left.map(TimeLeft::AtMost));
        }
        Ok(None)
    }

    /// The first procedure on the folds that the first repeat would have had with these labels. Where it cannot learn from them, it decides
    /// at chance; `known`: with probabilities.
    fn permuted(&self, arrangements: &Arrangements, known: bool, k: usize) -> Result<Statistic> {
        let groups = self.subject.groups;
        let data = splits::permuted(self.data(), arrangements, self.options, k)?;
        let folds = splits::outer(&data, groups, self.options, 0).unwrap_or_else(|_| {
            // No fold has enough samples to learn from.
            let all: Vec<usize> = (0..data.samples()).collect();
            vec![Split { train: all.clone(), test: all }]
        });
        let chance = |fold: usize| splits::at_chance(&data, &folds[fold], known, self.options, (k, fold));
        let (mut decided, mut failed) = (Vec::new(), 0);
        for (fold, split) in folds.iter().enumerate() {
            let case = HeldOutCase { data: &data, split, groups, seed: seed(self.options, 0, fold) };
            let found = match split.train == split.test {
                true => None,
                false => self.learned(&case, k)?,
            };
            failed += usize::from(found.is_none());
            decided.push(found.unwrap_or_else(|| chance(fold)));
        }
        let scored = |decided: &[Decisions], failed| {
            let pairs: Vec<(&Split, &Decisions)> = folds.iter().zip(decided).collect();
            statistic(&data, &pairs, failed)
        };
        scored(&decided, failed).or_else(|_| {
            // Probabilities that are none.
            let all: Vec<Decisions> = (0..folds.len()).map(chance).collect();
            scored(&all, folds.len())
        })
    }

    /// The decisions of the first procedure; none if it cannot learn from these labels.
    fn learned(&self, case: &HeldOutCase<'_>, k: usize) -> Result<Option<Decisions>> {
        match self.subject.procedures[0].decide(case, &QuietProgress(self.progress)) {
            Ok(decided) => Ok(Some(decided)),
            Err(error) if stopped(&error) => Err(error),
            // It may be a mistake in the caller's procedure.
            Err(error @ Error::Foreign { .. }) => {
                Err(in_context(error, &|| format!("permutation {}", k + 1)))
            }
            Err(_) => Ok(None),
        }
    }

    /// The folds of every repeat with the decisions of a procedure.
    pub(super) fn decisions(&self, method: &str) -> Vec<Vec<(&Split, &Decisions)>> {
        let of = |repeat: usize, splits: &'_ [Split]| -> Vec<(usize, usize)> {
            (0..splits.len()).map(|fold| (repeat, fold)).collect()
        };
        self.repeats
            .iter()
            .enumerate()
            .map(|(repeat, splits)| {
                of(repeat, splits)
                    .into_iter()
                    .filter_map(|(repeat, fold)| {
                        let place = WorkItem::Fold { method: method.to_owned(), repeat, fold };
                        Some((&splits[fold], self.store.decided(&place)?))
                    })
                    .collect()
            })
            .collect()
    }

    /// The panels of a procedure's models in all folds.
    pub(super) fn panels(&self, method: &str) -> Vec<&[usize]> {
        let all = self.decisions(method);
        all.into_iter().flatten().map(|(_, decided)| decided.panel.as_slice()).collect()
    }

    pub(super) fn design(&self) -> Design {
        let Options { seed, leave_one_group_out, .. } = *self.options;
        let men = self.subject.procedures[0].men();
        let SampleGrouping { copies, expected, groups, .. } = *self.together;
        Design {
            folds: self.repeats[0].len(),
            repeats: self.repeats.len(),
            inner_folds: men.filter(|men| men.grid(self.data()).is_some()).map_or(0, |men| men.folds),
            groups: groups.map(|(_, left)| left),
            copies: if expected { 0 } else { copies },
            leave_one_group_out,
            seed,
        }
    }

    pub(super) fn status(&self, now: String, done: usize, total: usize, left: Option<TimeLeft>) {
        self.progress.status(Status { now, done, total, left });
    }

    pub(super) fn proceed(&self, context: &dyn Fn() -> String) -> Result<()> {
        if self.progress.stop() {
            let source = CoreError::Stopped { stage: menet::Stage::Preprocess };
            return Err(Error::Method { context: context(), source });
        }
        Ok(())
    }
}

fn statistic(data: &Dataset<'_>, folds: &[(&Split, &Decisions)], failed: usize) -> Result<Statistic> {
    let scores = assess::scores(data, folds)?;
    Ok(Statistic { balanced: scores.balanced / 100.0, log_loss: scores.log_loss, failed })
}

fn stopped(error: &Error) -> bool {
    matches!(
        error,
        Error::Core(CoreError::Stopped { .. }) | Error::Method { source: CoreError::Stopped { .. }, .. }
    )
}

pub(super) fn in_context(error: Error, context: &dyn Fn() -> String) -> Error {
    match error {
        Error::Core(source) => Error::Method { context: context(), source },
        Error::Method { context: inner, source } => {
            Error::Method { context: format!("{}: {inner}", context()), source }
        }
        Error::Foreign { source, .. } => Error::Foreign { context: context(), source },
        other => other,
    }
}
