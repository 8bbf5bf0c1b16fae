//! The selection in half-samples.

use std::sync::Mutex;
use std::time::Instant;

use menet::evaluate::subset;
use menet::stability::{Stability, bounds, entry_order, half_samples, selectable, size_for};

use super::men::ChosenModel;
use super::run::{ValidationRun, in_context};
use super::work::{WorkResult, WorkStore};
use super::{Interval, StabilityFound, WorkItem};
use crate::error::Result;
use crate::progress::{QuietProgress, TimeLeft, proportional};
use crate::workers::{self, locked};

impl ValidationRun<'_> {
    /// How stable the selection with the settings of the final model is; none if it was not asked for.
    pub(super) fn stability(&mut self, chosen: &ChosenModel) -> Result<Option<StabilityFound>> {
        // Large enough for the panel of the final model, whose frequencies are shown.
        let most = self.options.largest_panel.max(chosen.men.panel().len()).min(self.data().variables());
        let pairs = self.options.pairs;
        if pairs == 0 {
            return Ok(None);
        }
        let halves = half_samples(self.data(), pairs, self.subject.groups, self.options.seed)?;
        let open: Vec<usize> = (0..halves.len()).filter(|&k| !self.store.has(&WorkItem::Half(k))).collect();
        let finished = halves.len() - open.len();
        let start = Instant::now();
        let counted =
            Mutex::new((std::mem::replace(&mut self.store, WorkStore::Memory(Default::default())), 0));
        let outcome = workers::each(&open, |&k| {
            let context = || format!("half-sample {}", k + 1);
            self.proceed(&context)?;
            let half = subset(self.data(), &halves[k])?;
            let order = entry_order(&half, &chosen.params, most, &QuietProgress(self.progress))
                .map_err(|source| in_context(source.into(), &context))?;
            let mut counted = locked(&counted);
            counted.0.add(WorkItem::Half(k), WorkResult::Order(order))?;
            counted.1 += 1;
            let left = proportional(start.elapsed(), counted.1, open.len()).map(TimeLeft::About);
            self.status("half-samples".to_owned(), finished + counted.1, halves.len(), left);
            Ok(())
        });
        self.store = counted.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner).0;
        outcome?;
        let orders: Vec<Vec<usize>> =
            (0..halves.len()).filter_map(|k| self.store.order(k)).cloned().collect();
        let choice = selectable(self.data(), &chosen.params)?;
        Ok(Some(self.found(Stability::new(self.data().variables(), orders)?.among(choice), chosen, most)?))
    }

    fn found(&self, stability: Stability, chosen: &ChosenModel, most: usize) -> Result<StabilityFound> {
        let (p, pairs) = (stability.selectable().max(1), self.options.pairs);
        let threshold = self.options.threshold;
        let size = chosen.men.panel().len().clamp(1, most);
        let stable_size = size_for(self.options.false_selections, threshold, p, pairs)?.min(most);
        let index = |size: usize| {
            let found = stability.index(size);
            Interval { mean: found.value, low: found.low, high: found.high }
        };
        let frequent = |size: usize| {
            let all = stability.frequencies(size).into_iter().enumerate();
            let mut all: Vec<(usize, f64)> = all.filter(|(_, frequency)| *frequency > 0.0).collect();
            all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            all
        };
        let bounds = bounds(threshold, stability.mean_size(stable_size), p, pairs)?;
        Ok(StabilityFound {
            half_samples: 2 * pairs,
            selectable: p,
            size,
            index: index(size),
            by_size: (1..=most).map(|size| (size, index(size))).collect(),
            frequencies: frequent(size),
            stable_size,
            threshold,
            stable_frequencies: frequent(stable_size),
            stable: stability.stable(stable_size, threshold),
            false_selections: vec![
                ("no assumption (Meinshausen and Bühlmann)".to_owned(), bounds.meinshausen_buhlmann),
                ("unimodal (Shah and Samworth)".to_owned(), bounds.unimodal),
                ("r-concave (Shah and Samworth)".to_owned(), bounds.r_concave),
            ],
        })
    }
}
