//! `menet validate`

use std::path::PathBuf;

use clap::Args;
use menet::Method;
use menet_io::ModelFile;
use menet_lab::validate::{
    Baseline, INNER_FOLDS, Interval, MenProcedure, MethodResult, Options, Procedure, Validation,
    ValidationSubject, output,
};
use menet_lab::{Folder, NamedSet};
use serde_json::{Value, json};

use crate::Context;
use crate::args::{
    ChoiceArgs, CountArgs, DataArgs, SearchedParamArgs, labelled, of_others, set_name, with_default,
};
use crate::failure::Failure;
use crate::overwrite::{self, Output};
use crate::{signals, text};

/// Find out how far a model can be trusted: how good it is on samples it has not seen, whether that could be chance, and whether
/// other samples would select the same variables. Writes a report.
#[derive(Debug, Args)]
#[command(after_help = after_help())]
pub(crate) struct Validate {
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    count: CountArgs,
    /// Folder for the report, tables and figures. A stopped run continues in its folder.
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
    /// Also save the final model, chosen and fitted on all samples, to this file.
    #[arg(long, value_name = "FILE")]
    model: Option<PathBuf>,
    /// Samples with the same value in this column stay together: patients, batches, studies. For formats without columns, a file
    /// with one group per line.
    #[arg(long, value_name = "COLUMN")]
    groups: Option<String>,
    /// Hold out one group at a time.
    #[arg(long, requires = "groups", conflicts_with_all = ["folds", "repeats"])]
    leave_one_group_out: bool,
    #[arg(long, value_name = "N", help = with_default("Folds of the cross-validation", default().folds))]
    folds: Option<usize>,
    #[arg(long, value_name = "N", help = with_default(
        "How many times the cross-validation is repeated with other folds. Raising it extends a finished run", default().repeats))]
    repeats: Option<usize>,
    #[arg(long, value_name = "N", help = with_default(
        "Largest number of permutations of the labels; 0 for no test", default().permutations))]
    permutations: Option<usize>,
    /// Do all permutations, even if the answer is clear: the smallest p-value is then 1/(permutations + 1) instead of 0.01.
    #[arg(long)]
    all_permutations: bool,
    #[arg(long, value_name = "N", help = with_default(
        "Pairs of half-samples for the stability of the selection; 0 for none", default().pairs))]
    pairs: Option<usize>,
    #[arg(long, value_name = "FRACTION", help = with_default(
        "A variable is stable if so many of the half-samples select it", default().threshold))]
    threshold: Option<f64>,
    #[arg(long, value_name = "NUMBER", help = with_default(
        "How many false selections to accept in the stable panel; this decides how many variables a half-sample selects",
        default().false_selections))]
    false_selections: Option<f64>,
    #[arg(long, value_name = "N", help = with_default(
        "Largest panel whose stability is computed", default().largest_panel))]
    largest_panel: Option<usize>,
    /// Other methods to compare on the same folds, by the names listed below.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    compare: Vec<String>,
    #[arg(long, value_name = "URL", help = LINK)]
    link: Option<String>,
    /// Seed of all random choices.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    params: SearchedParamArgs,
    #[arg(long, value_name = "N", help = with_default("Folds of the inner cross-validation", INNER_FOLDS))]
    inner_folds: Option<usize>,
    #[command(flatten)]
    choice: ChoiceArgs,
}

const LINK: &str =
    "Address of a variable in the report, with {name} in it, such as https://example.org/gene/{name}";

fn default() -> Options {
    Options::default()
}

fn after_help() -> String {
    let methods = super::evaluate::methods();
    format!(
        "{methods}\nExamples:\n  menet validate --data leukemia --out trust\n  menet validate --data genes.csv --groups patient --compare \
         flda,pca --out trust\n  menet validate --data genes.csv --groups study --leave-one-group-out --out trust\n  menet \
         validate --data genes.csv --panel-size 5,10,20 --most-stable --model panel.safetensors --out trust\n\nEvery choice is \
         made inside the training parts, so the scores are not optimistic. Scores are fractions from 0 to 1; intervals have 95 %."
    )
}

impl Validate {
    pub(crate) fn run(&self, context: &Context) -> Result<(), Failure> {
        self.refuse()?;
        signals::resumable();
        let options = self.options();
        options.check()?;
        let params = self.params.of_methods()?;
        let prepare = of_others(&params)?;
        let mut men = self.procedure(&params.method(params.meant())?)?;
        let compared: Vec<Method> =
            self.compare.iter().map(|name| params.method(name)).collect::<Result<_, _>>()?;
        let mut how = self.data.how.options();
        how.groups.clone_from(&self.groups);
        let table = self.data.how.read_labelled_with(context, &self.data.data, &how)?;
        let table = self.count.weigh(table)?;
        let groups = table.groups.as_deref().map(numbered);
        let ids = table.ids.as_ref().map(|ids| ids.values.as_slice());
        let set = NamedSet {
            name: set_name(&self.data.data),
            data: labelled(&table, men.base.prepare.impute)?,
            rows: None,
            ids,
        };
        men.base = self.params.grouped(men.base, &set.data)?;
        let mut baselines: Vec<Box<dyn Procedure>> = Vec::new();
        for method in compared {
            let method = self.params.grouped_method(method, &set.data)?;
            baselines.push(match method.men() {
                Some(_) => Box::new(self.procedure(&method)?),
                None => Box::new(Baseline { method, prepare, folds: men.folds }),
            });
        }
        men.base.check(set.data.variables())?;
        men.base.check_names(&set.data)?;
        let procedures: Vec<&dyn Procedure> =
            std::iter::once(&men as &dyn Procedure).chain(baselines.iter().map(Box::as_ref)).collect();
        let subject = ValidationSubject { set: &set, groups: groups.as_deref(), procedures: &procedures };
        let command: Vec<String> =
            std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned()).collect();
        let folder = Folder::open(&self.out, "validate", output::FILES)?;
        let outcome =
            menet_lab::validate::validate(subject, &options, Some(&folder), &command, &context.watch)
                .and_then(|found| {
                    output::write(&found, &set.data, self.link.as_deref(), &folder, &context.watch)?;
                    Ok(found)
                });
        context.watch.done();
        let found = outcome?;
        if let (Some(path), Some(models)) = (&self.model, &found.models) {
            ModelFile::new(models.all.clone(), &set.data, &self.data.data)?.save(path)?;
        }
        if context.json {
            return text::print(self.report(&found));
        }
        self.print_summary(context, &found)
    }

    /// MEN or a variant, its open settings chosen as the options say.
    fn procedure(&self, method: &Method) -> Result<MenProcedure, Failure> {
        let Some(params) = method.men() else {
            return Err(Failure::Usage(format!("the method {} cannot be validated", method.name())));
        };
        let folds = self.inner_folds.unwrap_or(INNER_FOLDS);
        if folds < 2 {
            return Err(Failure::Usage(format!("--inner-folds {folds}: use at least 2")));
        }
        let search = Some(self.choice.search()?);
        Ok(MenProcedure {
            name: method.name().to_owned(),
            search,
            folds,
            ..MenProcedure::new(params.clone())
        })
    }

    /// Refuses files that cannot be written or would be overwritten, before anything is read.
    fn refuse(&self) -> Result<(), Failure> {
        if self.out.exists() && !self.out.is_dir() {
            return Err(Failure::Usage(format!(
                "--out {}: this is not a folder; give --out another name",
                self.out.display()
            )));
        }
        if self.model.as_ref().is_some_and(|model| model.as_os_str() == "-") {
            return Err(Failure::Usage(
                "--model -: a model cannot be written to standard output; name a file".to_owned(),
            ));
        }
        if let Some(model) = &self.model {
            let parent = model.parent().filter(|parent| !parent.as_os_str().is_empty());
            if model.is_dir() || parent.is_some_and(|parent| !parent.is_dir() && parent != self.out) {
                let why = if model.is_dir() { "this is a folder" } else { "its folder does not exist" };
                return Err(Failure::Usage(format!("--model {}: {why}; name a file", text::path(model))));
            }
        }
        menet_lab::report::validation::check_link(self.link.as_deref())?;
        let params = self.params.files();
        let inputs: Vec<_> =
            overwrite::data(&self.data.data, &self.data.how).into_iter().chain(params).collect();
        let folder = Output::Folder("--out", &self.out, output::FILES);
        let model = self.model.iter().map(|path| Output::File("--model", path));
        overwrite::refuse(&inputs, &std::iter::once(folder).chain(model).collect::<Vec<_>>())
    }

    fn options(&self) -> Options {
        let own = default();
        Options {
            folds: self.folds.unwrap_or(own.folds),
            repeats: self.repeats.unwrap_or(own.repeats),
            leave_one_group_out: self.leave_one_group_out,
            permutations: self.permutations.unwrap_or(own.permutations),
            early_stopping: !self.all_permutations,
            pairs: self.pairs.unwrap_or(own.pairs),
            largest_panel: self.largest_panel.unwrap_or(own.largest_panel),
            threshold: self.threshold.unwrap_or(own.threshold),
            false_selections: self.false_selections.unwrap_or(own.false_selections),
            seed: self.seed,
        }
    }

    fn report(&self, found: &Validation) -> Value {
        let first = &found.methods[0];
        let index = found.stability.as_ref().map(|stability| {
            json!({ "index": stability.index.mean, "low": stability.index.low, "high": stability.index.high })
        });
        let panel: Vec<Value> = found
            .panel
            .iter()
            .map(|entry| json!({ "name": entry.name, "frequency": entry.frequency, "stable": entry.stable }))
            .collect();
        let test = found.permutation.as_ref();
        let methods = found.methods.iter().map(|method| scores(method, &found.classes));
        json!({
            "balanced_accuracy": first.balanced,
            "p_value": test.map(|test| test.p_value.mean),
            "p_value_low": test.map(|test| test.p_value.low),
            "p_value_high": test.map(|test| test.p_value.high),
            "permutations": test.map(|test| test.permuted.len()),
            "permutations_failed": test.map(|test| test.failed),
            "arrangements": test.filter(|test| !test.many()).map(|test| test.arrangements),
            "copies": found.design.copies,
            "stability": index,
            "panel": panel,
            "stable_panel": found.stability.as_ref().map(|stability| stability.stable.len()),
            "seconds": found.seconds,
            "methods": methods.collect::<Vec<Value>>(),
            "always_wrong": always_wrong(first),
            "model": self.model.as_ref().map(|path| path.to_string_lossy()),
            "out": self.out.to_string_lossy(),
        })
    }

    fn print_summary(&self, context: &Context, found: &Validation) -> Result<(), Failure> {
        let header = ["method", "balanced accuracy", "rate", "AUC", "log loss", "variables"];
        let shown = |value: Option<Interval>| value.map_or_else(|| "-".to_owned(), interval);
        let rows: Vec<Vec<String>> = found
            .methods
            .iter()
            .map(|method| {
                let scores =
                    [Some(method.balanced), Some(method.rate), method.auc, method.log_loss].map(shown);
                let name = std::iter::once(method.name.clone());
                name.chain(scores).chain([format!("{:.1}", method.variables)]).collect()
            })
            .collect();
        text::print(text::table(&header, &rows))?;
        found.copies.iter().for_each(|copies| context.notice(copies));
        let chance = found.chance();
        context.say(format_args!(
            "on held-out samples, with 95 % intervals; chance has a balanced accuracy of {chance:.3}"
        ))?;
        let untested = found.untested();
        if !untested.is_empty() {
            let names: Vec<String> = untested.iter().map(|name| text::inline(name).into_owned()).collect();
            context.notice(format_args!(
                "too small to be held out, and not in these scores: {}",
                names.join(", ")
            ));
        }
        if let Some(test) = &found.permutation {
            let early = if test.early { ", enough for a clear answer" } else { "" };
            if test.failed > 0 {
                context.notice(format_args!(
                    "{} permutations could not be fitted in every fold; they decide at chance there",
                    test.failed
                ));
            }
            if !test.many() {
                context.notice(format_args!("the labels have {} different arrangements", test.arrangements));
            }
            test.limit().iter().for_each(|limit| context.notice(limit));
            context.say(format_args!(
                "p = {:.3} ({:.3} to {:.3}): {} of {} permutations of the labels were as good{early}",
                test.p_value.mean,
                test.p_value.low,
                test.p_value.high,
                test.as_good,
                test.permuted.len()
            ))?;
        }
        if let Some(stability) = &found.stability {
            if stability.size >= stability.selectable {
                context.notice("the panel has all variables that can be selected, so the index of its stability says nothing");
            }
            context.say(format_args!(
                "stability of the selection over {} half-samples: {} for {} variables; {} stable at {:.0} %",
                stability.half_samples,
                interval(stability.index),
                stability.size,
                stability.stable.len(),
                100.0 * stability.threshold
            ))?;
        }
        if !found.panel.is_empty() {
            let first = found.panel.iter().take(8).map(|entry| {
                let often =
                    entry.frequency.map_or_else(String::new, |often| format!(" ({:.0} %)", 100.0 * often));
                format!("{}{often}", text::inline(&entry.name))
            });
            let more = if found.panel.len() > 8 { ", ..." } else { "" };
            let first: Vec<String> = first.collect();
            context.say(format_args!("panel of {}: {}{more}", found.panel.len(), first.join(", ")))?;
        }
        let wrong = always_wrong(&found.methods[0]);
        if !wrong.is_empty() {
            let more = if wrong.len() > 10 { ", ..." } else { "" };
            let names: Vec<String> =
                wrong.iter().take(10).map(|name| text::inline(name).into_owned()).collect();
            let nameless = found.methods[0].samples.iter().all(|sample| sample.name.is_none());
            let from = if nameless { " (rows are counted from 0)" } else { "" };
            context.say(format_args!("always wrong: {}{more}{from}", names.join(", ")))?;
        }
        context.say(format_args!("report.html, tables and figures are in {}", text::path(&self.out)))?;
        match &self.model {
            Some(path) => context.say(format_args!("the model is in {}", text::path(path))),
            None => Ok(()),
        }
    }
}

/// Groups as numbers, in the order in which they first appear.
pub(super) fn numbered(groups: &[String]) -> Vec<usize> {
    let mut known = std::collections::HashMap::new();
    groups
        .iter()
        .map(|group| {
            let next = known.len();
            *known.entry(group.as_str()).or_insert(next)
        })
        .collect()
}

/// The names of the samples that were wrong whenever they were held out; their rows from 0, as in `samples.csv`, if they have no names.
fn always_wrong(method: &MethodResult) -> Vec<String> {
    let wrong = method.samples.iter().filter(|sample| sample.tested > 0 && sample.wrong == sample.tested);
    wrong.map(|sample| sample.name.clone().unwrap_or_else(|| format!("row {}", sample.row))).collect()
}

fn scores(method: &MethodResult, classes: &[String]) -> Value {
    let recalls = classes.iter().zip(&method.recalls);
    let recalls: serde_json::Map<String, Value> =
        recalls.map(|(class, recall)| (class.clone(), json!(recall))).collect();
    json!({
        "name": method.name, "balanced_accuracy": method.balanced, "rate": method.rate, "auc": method.auc,
        "log_loss": method.log_loss, "recall": recalls, "confusion": method.confusion, "variables": method.variables,
    })
}

fn interval(value: Interval) -> String {
    format!("{:.3} ({:.3} to {:.3})", value.mean, value.low, value.high)
}
