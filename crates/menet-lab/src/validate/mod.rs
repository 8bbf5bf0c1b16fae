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
//! | `arrangements` | what permutations exchange, and how many there are |
//! | `run` | a validation while it is computed |
//! | `work` | the pieces of work, kept on disk |
//! | `assess`, `intervals` | from decisions to scores with their intervals |
//! | `permutation` | when the permutation test stops, and its p-value |
//! | `stability` | the selection in half-samples |
//! | `sizes`, `panel` | rows of the tables |
//! | `roc`, `cluster`, `spectrum` | ROC curves, the order of heatmaps, and spectra, for figures and the page |
//! | `words` | what was done, in words |
//! | `output` | the files |

mod arrangements;
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
pub(crate) mod roc;
mod run;
mod sizes;
pub(crate) mod spectrum;
mod splits;
mod stability;
mod words;
mod work;

use std::time::Instant;

use menet::evaluate::{Split, generator, subset};
use menet::prepare::{Impute, Preparation, PrepareParams};
use menet::{Dataset, Error as CoreError};
use rand::RngExt;
use toml::{Table, Value};

use crate::error::{Error, Result};
use crate::folder::Folder;
use crate::journal::Fingerprint;
use crate::progress::Progress;
use crate::protocol::NamedSet;
pub use baseline::Baseline;
pub use men::{INNER_FOLDS, MenProcedure};
pub use menet::select::TrialChoice;
pub use options::Options;
pub(crate) use permutation::LEVEL;
pub use procedure::{Decisions, HeldOutCase, Procedure};
pub use results::{
    Design, Interval, MethodResult, Models, PanelEntry, PermutationTest, RepeatRow, SampleResult, SizeRow,
    StabilityFound, Validation,
};
use run::ValidationRun;
pub use splits::inner;
use work::WorkStore;
pub use work::{FinishedWork, NAME, WorkItem};

/// The stream of the seeds of procedures.
const CASES: u64 = 15;

/// Everything that is validated.
#[derive(Clone, Copy)]
pub struct ValidationSubject<'a> {
    /// The data.
    pub set: &'a NamedSet<'a>,
    /// The group of every sample as a number from 0, if samples are in groups.
    pub groups: Option<&'a [usize]>,
    /// The procedures: the first one is validated, the others are compared with it.
    pub procedures: &'a [&'a dyn Procedure],
}

impl std::fmt::Debug for ValidationSubject<'_> {
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
    subject: ValidationSubject<'_>,
    options: &Options,
    folder: Option<&Folder>,
    command: &[String],
    progress: &dyn Progress,
) -> Result<Validation> {
    let begun = Instant::now();
    options.check()?;
    let ValidationSubject { set, groups, procedures } = subject;
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
    // Copies stay together like a group.
    let together = menet::evaluate::together(data, groups)?;
    let subject = ValidationSubject { groups: together.units.as_deref(), ..subject };
    let groups = subject.groups;
    let repeats: Vec<Vec<Split>> = (0..options.repeats())
        .map(|repeat| match progress.stop() {
            true => Err(menet::Error::Stopped { stage: menet::Stage::Preprocess }.into()),
            false => splits::outer(data, groups, options, repeat),
        })
        .collect::<Result<_>>()?;
    let tested = repeats.iter().flatten().flat_map(|split| &split.test).map(|&i| data.class_of(i));
    let tested: std::collections::BTreeSet<usize> = tested.collect();
    if tested.len() < 2 {
        let names: Vec<&str> = tested.iter().map(|&class| data.classes()[class].as_str()).collect();
        return Err(Error::Usage(format!(
            "only samples of {} can be held out: without a sample, two of its class must be left to learn from, in other groups \
             if there are groups; at least two classes need 3 samples or more",
            if names.is_empty() { "no class".to_owned() } else { format!("class {:?}", names[0]) }
        )));
    }
    if let (true, Some(men)) = (options.pairs > 0, first.men()) {
        // Tell now what would otherwise be told after all folds.
        menet::stability::check_order(&men.base).map_err(without_order)?;
        menet::stability::half_samples(data, 1, groups, options.seed)?;
    }
    let store = WorkStore::open(folder, &record, &fingerprint)?;
    let mut run = ValidationRun { subject, together: &together, options, repeats, store, progress };
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
        copies: together.in_words(),
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
        validation.sizes = sizes::rows(&chosen);
        validation.panel =
            panel::entries(&chosen.men, set, validation.stability.as_ref(), &run.panels(&men.name));
        let split = run.repeats[0][0].clone();
        let train = subset(data, &split.train)?;
        let own: Option<Vec<usize>> = groups.map(|groups| split.train.iter().map(|&i| groups[i]).collect());
        let fold = men.choose(&train, own.as_deref(), seed(options, 0, 0), progress)?.men;
        validation.models = Some(Models { all: chosen.men, split, fold });
    }
    validation.words = words::paragraphs(&validation, options, (first.men(), data));
    run.store.arrange(&run.places())?;
    validation.seconds = begun.elapsed().as_secs_f64();
    Ok(validation)
}

/// The error of a fit that has no order of entry, with what to do here.
fn without_order(error: CoreError) -> Error {
    Error::Usage(format!("{error}; or draw no half-samples (--pairs 0, in Python n_pairs=0)"))
}

/// The data with the values that figures show: prepared as the final model prepares samples. Without a model, missing values are replaced by
/// the mean of their variable.
///
/// # Errors
/// When the data are not those of the validation.
pub(crate) fn shown<'a>(validation: &Validation, data: &'a Dataset<'_>) -> Result<Dataset<'a>> {
    let own = validation.models.as_ref().and_then(|models| models.all.preparation());
    Ok(match own {
        Some(preparation) => preparation.prepare(data)?,
        None => {
            let mean = PrepareParams::default().with(|it| it.impute = Some(Impute::Mean));
            match data.first_missing() {
                Some(_) => Preparation::learn(data, &mean)?.prepare(data)?,
                None => data.relabelled(data.class_indices().to_vec())?,
            }
        }
    })
}

/// The seed of a procedure's own random choices in a fold. Permuted labels have the seeds of the first repeat, so that they are the only
/// difference.
fn seed(options: &Options, repeat: usize, fold: usize) -> u64 {
    generator(options.seed, &[CASES, repeat as u64, fold as u64]).random()
}

/// What the finished work depends on. Numbers of repeats, permutations and half-samples are not in it: raising one continues a run.
fn record(subject: ValidationSubject<'_>, options: &Options) -> Result<Table> {
    let mut record = Table::try_from(options).map_err(|e| Error::Usage(e.to_string()))?;
    for name in ["repeats", "permutations", "early_stopping", "pairs", "threshold", "false_selections"] {
        record.remove(name);
    }
    // Every field is named, so that a new one cannot be forgotten; the fingerprint is that of the set.
    let ValidationSubject { set, groups, procedures } = subject;
    let identities =
        procedures.iter().map(|procedure| (procedure.name().to_owned(), Value::String(procedure.identity())));
    record.insert("methods".to_owned(), Value::Table(identities.collect()));
    // Permutations and half-samples are of the first method, and a table does not keep the order.
    let first = procedures.first().map_or("", |procedure| procedure.name());
    record.insert("first".to_owned(), Value::String(first.to_owned()));
    if let Some(groups) = groups {
        if groups.len() != set.data.samples() {
            let (given, samples) = (groups.len(), set.data.samples());
            return Err(Error::Usage(format!(
                "there are {given} groups for {samples} samples; give one per sample"
            )));
        }
        let text: Vec<String> = groups.iter().map(usize::to_string).collect();
        record.insert("groups".to_owned(), Value::String(text.join(" ")));
    }
    Ok(record)
}
