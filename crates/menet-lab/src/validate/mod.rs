//! How far a model can be trusted.
//!
//! Three questions, one engine:
//!
//! - How good is it on samples that it has not seen? Repeated, stratified cross-validation of the whole procedure: every choice is made
//!   inside the training part.
//! - Could it be chance? The same procedure on permuted labels.
//! - Would other samples have selected the same variables? The selection in many half-samples.
//!
//! | module | contents |
//! |---|---|
//! | [`Options`] | how samples are held out |
//! | [`Procedure`] | what is validated; MEN, baselines, or what a caller brings |
//! | `splits` | folds and permuted labels |
//! | `work` | the pieces of work, kept on disk |
//! | `assess`, `intervals` | from decisions to scores with their intervals |
//! | `permutation` | when the permutation test stops, and its p-value |
//! | `stability` | the selection in half-samples |
//! | `sizes`, `panel` | rows of the tables |
//! | `words` | what was done, in words |
//! | `output` | the files |

mod assess;
mod baseline;
pub mod cluster;
mod intervals;
mod men;
mod options;
pub mod output;
mod panel;
mod permutation;
mod procedure;
mod results;
mod sizes;
mod splits;
mod stability;
mod words;
mod work;

use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;

use menet::evaluate::{Split, generator, subset};
use menet::{Dataset, Error as CoreError};
use rand::RngExt;
use toml::{Table, Value};

use crate::error::{Error, Result};
use crate::journal::Fingerprint;
use crate::progress::{Left, Progress, Quiet, Status, proportional};
use crate::protocol::Set;
use crate::workers::{self, locked};
pub use baseline::Baseline;
pub use men::{INNER_FOLDS, MenProcedure, RIDGES, SIZES};
pub use menet::select::Choose;
pub use options::Options;
use permutation::Statistic;
pub use procedure::{Case, Decided, Procedure};
pub use results::{
    Assessed, Design, Interval, Models, PanelEntry, PermutationTest, RepeatRow, SampleResult, SizeRow,
    StabilityFound, Validation,
};
pub use splits::inner;
pub use work::{Done, NAME, Place};
use work::{Found, Store};

/// The stream of the seeds of procedures.
const CASES: u64 = 15;

/// So many permutations are begun together. The number does not depend on the threads, so that a run and its continuation do the same.
const BATCH: usize = 16;

/// Everything that is validated.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// The data.
    pub set: &'a Set<'a>,
    /// The group of every sample as a number from 0, if samples are in groups.
    pub groups: Option<&'a [usize]>,
    /// The procedures: the first one is validated, the others are compared with it.
    pub procedures: &'a [&'a dyn Procedure],
}

impl std::fmt::Debug for Subject<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = self.procedures.iter().map(|procedure| procedure.name()).collect();
        f.debug_struct("Subject").field("set", &self.set.name).field("procedures", &names).finish()
    }
}

/// Validates the first procedure, and compares the others on the same folds. Finished work is kept in `folder`, so that a stopped run
/// can continue; without a folder it is kept in memory. [`output::write`] writes the tables, figures and report.
///
/// `command` is the command line of the user, for the record.
///
/// # Errors
/// When the options cannot be used with the data, a procedure cannot learn from a fold, the folder holds another run or cannot
/// be written, or `progress` asks to stop; finished work is kept.
pub fn validate(
    subject: Subject<'_>,
    options: &Options,
    folder: Option<&Path>,
    command: &[String],
    progress: &dyn Progress,
) -> Result<Validation> {
    let begun = Instant::now();
    options.check()?;
    let Subject { set, groups, procedures } = subject;
    let data = &set.data;
    if data.classes().len() < 2 {
        return Err(CoreError::Classes { found: data.classes().len(), samples: data.samples() }.into());
    }
    if options.leave_one_group_out && groups.is_none() {
        return Err(Error::Usage(
            "--leave-one-group-out needs groups; name their column with --groups".to_owned(),
        ));
    }
    let Some(first) = procedures.first() else {
        return Err(Error::Usage("give at least one method to validate".to_owned()));
    };
    for (k, procedure) in procedures.iter().enumerate() {
        if procedures[..k].iter().any(|other| other.name() == procedure.name()) {
            let name = procedure.name();
            return Err(Error::Usage(format!("the method {name:?} is given twice; give it only once")));
        }
    }
    let fingerprint = Fingerprint::new(set);
    let record = record(subject, options)?;
    let repeats: Vec<Vec<Split>> = (0..options.repeats())
        .map(|repeat| splits::outer(data, groups, options, repeat))
        .collect::<Result<_>>()?;
    if options.pairs > 0 && first.men().is_some() {
        // Tell now what would otherwise be told after all folds.
        menet::stability::half_samples(data, 1, groups, options.seed)?;
    }
    let mut run =
        Run { subject, options, repeats, store: Store::open(folder, &record, &fingerprint)?, progress };
    run.folds()?;
    let permutation = run.permutations()?;
    let mut methods = Vec::new();
    for procedure in procedures {
        let repeats = run.decisions(procedure.name());
        methods.push(assess::assess(procedure.name(), set, groups, &repeats)?);
    }
    let mut validation = Validation {
        data: set.name.clone(),
        classes: data.classes().to_vec(),
        class_sizes: (0..data.classes().len()).map(|class| data.members(class).len()).collect(),
        variables: data.variables(),
        design: run.design(),
        methods,
        permutation,
        stability: None,
        sizes: Vec::new(),
        panel: Vec::new(),
        models: None,
        words: Vec::new(),
        run: output::run_toml(options, &record, &fingerprint, command)?,
        seconds: 0.0,
    };
    if let Some(men) = first.men() {
        run.status("fitting the final model".to_owned(), 0, 0, None);
        // The seed of a fold that does not exist: the folds of the final choice are its own.
        let chosen = men.choose(data, groups, seed(options, usize::MAX, 0), progress)?;
        validation.stability = run.stability(&chosen)?;
        validation.sizes = sizes::rows(&chosen, men);
        validation.panel =
            panel::entries(&chosen.men, set, validation.stability.as_ref(), &run.panels(&men.name));
        let split = run.repeats[0][0].clone();
        let train = subset(data, &split.train)?;
        let own: Option<Vec<usize>> = groups.map(|groups| split.train.iter().map(|&i| groups[i]).collect());
        let fold = men.choose(&train, own.as_deref(), seed(options, 0, 0), progress)?.men;
        validation.models = Some(Models { all: chosen.men, split, fold });
    }
    validation.words = words::paragraphs(&validation, options, first.men());
    run.store.arrange(&run.places())?;
    validation.seconds = begun.elapsed().as_secs_f64();
    Ok(validation)
}

/// The seed of a procedure's own random choices in a fold. Permuted labels have the seeds of the first repeat, so that they are the only
/// difference.
fn seed(options: &Options, repeat: usize, fold: usize) -> u64 {
    generator(options.seed, &[CASES, repeat as u64, fold as u64]).random()
}

/// What the finished work depends on. Numbers of repeats, permutations and half-samples are not in it: raising one continues a run.
fn record(subject: Subject<'_>, options: &Options) -> Result<Table> {
    let mut record = Table::try_from(options).map_err(|e| Error::Usage(e.to_string()))?;
    for name in ["repeats", "permutations", "early_stopping", "pairs", "threshold", "false_selections"] {
        record.remove(name);
    }
    let identities = subject
        .procedures
        .iter()
        .map(|procedure| (procedure.name().to_owned(), Value::String(procedure.identity())));
    record.insert("methods".to_owned(), Value::Table(identities.collect()));
    if let Some(groups) = subject.groups {
        if groups.len() != subject.set.data.samples() {
            let (given, samples) = (groups.len(), subject.set.data.samples());
            return Err(Error::Usage(format!(
                "there are {given} groups for {samples} samples; give one per sample"
            )));
        }
        let text: Vec<String> = groups.iter().map(usize::to_string).collect();
        record.insert("groups".to_owned(), Value::String(text.join(" ")));
    }
    Ok(record)
}

/// A validation while it is computed.
struct Run<'a> {
    subject: Subject<'a>,
    options: &'a Options,
    /// The folds of every repeat.
    repeats: Vec<Vec<Split>>,
    store: Store,
    progress: &'a dyn Progress,
}

impl Run<'_> {
    fn data(&self) -> &Dataset<'_> {
        &self.subject.set.data
    }

    /// All folds of all procedures, repeat by repeat.
    fn fold_places(&self) -> Vec<(usize, Place)> {
        let mut places = Vec::new();
        for (repeat, splits) in self.repeats.iter().enumerate() {
            for (at, procedure) in self.subject.procedures.iter().enumerate() {
                for fold in 0..splits.len() {
                    places.push((at, Place::Fold { method: procedure.name().to_owned(), repeat, fold }));
                }
            }
        }
        places
    }

    /// Every piece of work that was asked for.
    fn places(&self) -> Vec<Place> {
        let folds = self.fold_places().into_iter().map(|(_, place)| place);
        let permutations = (0..self.options.permutations).map(Place::Permutation);
        folds.chain(permutations).chain((0..2 * self.options.pairs).map(Place::Half)).collect()
    }

    /// Every procedure on every fold.
    fn folds(&mut self) -> Result<()> {
        let places = self.fold_places();
        let open: Vec<(usize, Place)> =
            places.iter().filter(|(_, place)| !self.store.has(place)).cloned().collect();
        let (finished, total) = (places.len() - open.len(), places.len());
        let counted = Mutex::new((std::mem::replace(&mut self.store, Store::Memory(Default::default())), 0));
        let start = Instant::now();
        let outcome = workers::each(&open, |(at, place)| {
            let Place::Fold { method, repeat, fold } = place else { return Ok(()) };
            let context = || format!("{method}, repeat {}, fold {}", repeat + 1, fold + 1);
            self.proceed(&context)?;
            let case = Case {
                data: self.data(),
                split: &self.repeats[*repeat][*fold],
                groups: self.subject.groups,
                seed: seed(self.options, *repeat, *fold),
            };
            let decided = self.subject.procedures[*at].decide(&case, &Quiet(self.progress));
            let decided = decided.map_err(|error| in_context(error, &context))?;
            let mut counted = locked(&counted);
            counted.0.add(place.clone(), Found::Decided(decided))?;
            counted.1 += 1;
            // Permutations come after this, each as long as one repeat.
            let done = counted.1;
            let here = proportional(start.elapsed(), done, open.len());
            let rest = here.map(|here| here + self.later(start, done));
            self.status(
                format!("held-out samples: {method}, repeat {} of {}", repeat + 1, self.repeats.len()),
                finished + done,
                total,
                rest.map(Left::AtMost),
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
    fn permutations(&mut self) -> Result<Option<PermutationTest>> {
        let Options { permutations: asked, early_stopping, .. } = *self.options;
        let name = self.subject.procedures[0].name().to_owned();
        if asked == 0 {
            return Ok(None);
        }
        let first = &self.decisions(&name)[0];
        let observed = statistic(self.data(), first)?;
        let start = Instant::now();
        let (mut known, mut computed) = (Vec::new(), 0);
        for batch in (0..asked).step_by(BATCH) {
            let numbers: Vec<usize> = (batch..(batch + BATCH).min(asked)).collect();
            let open: Vec<usize> =
                numbers.iter().copied().filter(|&k| !self.store.has(&Place::Permutation(k))).collect();
            let store = Mutex::new(std::mem::replace(&mut self.store, Store::Memory(Default::default())));
            let outcome = workers::each(&open, |&k| {
                self.proceed(&|| format!("permutation {}", k + 1))?;
                let found = self.permuted(k)?;
                locked(&store).add(Place::Permutation(k), Found::Statistic(found))
            });
            self.store = store.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
            outcome?;
            computed += open.len();
            known.extend(numbers.iter().filter_map(|&k| self.store.statistic(k)));
            if let Some(found) = permutation::test(observed, &known, asked, early_stopping) {
                return Ok(Some(found));
            }
            let left = proportional(start.elapsed(), computed, computed + asked - known.len());
            self.status("permuted labels".to_owned(), known.len(), asked, left.map(Left::AtMost));
        }
        Ok(None)
    }

    /// The first procedure on the folds that the first repeat would have had with these labels.
    fn permuted(&self, k: usize) -> Result<Option<Statistic>> {
        let groups = self.subject.groups;
        let data = splits::permuted(self.data(), groups, self.options, k)?;
        let one = || -> Result<Statistic> {
            let folds = splits::outer(&data, groups, self.options, 0)?;
            let mut decided = Vec::new();
            for (fold, split) in folds.iter().enumerate() {
                let case = Case { data: &data, split, groups, seed: seed(self.options, 0, fold) };
                decided.push(self.subject.procedures[0].decide(&case, &Quiet(self.progress))?);
            }
            let pairs: Vec<(&Split, &Decided)> = folds.iter().zip(&decided).collect();
            statistic(&data, &pairs)
        };
        match one() {
            Ok(found) => Ok(Some(found)),
            Err(error) if stopped(&error) => Err(error),
            // It may be a mistake in the caller's procedure.
            Err(error @ Error::Foreign { .. }) => {
                Err(in_context(error, &|| format!("permutation {}", k + 1)))
            }
            // Labels that cannot be learned from are a result.
            Err(_) => Ok(None),
        }
    }

    /// The folds of every repeat with the decisions of a procedure.
    fn decisions(&self, method: &str) -> Vec<Vec<(&Split, &Decided)>> {
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
                        let place = Place::Fold { method: method.to_owned(), repeat, fold };
                        Some((&splits[fold], self.store.decided(&place)?))
                    })
                    .collect()
            })
            .collect()
    }

    /// The panels of a procedure's models in all folds.
    fn panels(&self, method: &str) -> Vec<&[usize]> {
        let all = self.decisions(method);
        all.into_iter().flatten().map(|(_, decided)| decided.panel.as_slice()).collect()
    }

    fn design(&self) -> Design {
        let Options { seed, leave_one_group_out, .. } = *self.options;
        let men = self.subject.procedures[0].men();
        let groups =
            self.subject.groups.map(|groups| groups.iter().collect::<std::collections::BTreeSet<_>>().len());
        Design {
            folds: self.repeats[0].len(),
            repeats: self.repeats.len(),
            inner_folds: men.filter(|men| !men.fixed()).map_or(0, |men| men.folds),
            groups,
            leave_one_group_out,
            seed,
        }
    }

    fn status(&self, now: String, done: usize, total: usize, left: Option<Left>) {
        self.progress.status(Status { now, done, total, left });
    }

    fn proceed(&self, context: &dyn Fn() -> String) -> Result<()> {
        if self.progress.stop() {
            let source = CoreError::Stopped { stage: menet::Stage::Preprocess };
            return Err(Error::Method { context: context(), source });
        }
        Ok(())
    }
}

fn statistic(data: &Dataset<'_>, folds: &[(&Split, &Decided)]) -> Result<Statistic> {
    let scores = assess::scores(data, folds)?;
    Ok(Statistic { balanced: scores.balanced / 100.0, log_loss: scores.log_loss })
}

fn stopped(error: &Error) -> bool {
    matches!(
        error,
        Error::Core(CoreError::Stopped { .. }) | Error::Method { source: CoreError::Stopped { .. }, .. }
    )
}

fn in_context(error: Error, context: &dyn Fn() -> String) -> Error {
    match error {
        Error::Core(source) => Error::Method { context: context(), source },
        Error::Method { context: inner, source } => {
            Error::Method { context: format!("{}: {inner}", context()), source }
        }
        Error::Foreign { source, .. } => Error::Foreign { context: context(), source },
        other => other,
    }
}
