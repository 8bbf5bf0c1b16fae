//! `menet evaluate`

use std::path::PathBuf;

use clap::Args;
use menet::Method;
use menet_lab::cell::Cell;
use menet_lab::{NamedSet, Protocol, Study, output};
use serde_json::json;

use crate::Context;
use crate::args::{ReadingArgs, SearchArgs, SearchedParamArgs, dimensions, labelled, of_others, set_name};
use crate::failure::Failure;
use crate::{overwrite, signals, text};

/// Run the paper's experiment: compare methods on random splits, with a table, figures and a report.
#[derive(Debug, Args)]
#[command(after_help = after_help())]
pub(crate) struct Evaluate {
    /// A data set, as for fit; can be repeated.
    #[arg(long, value_name = "FILE|FOLDER|SET", required = true)]
    data: Vec<String>,
    /// The methods to compare, by the names listed below.
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        default_value = "men,men-paper,dla,slpp,npe,flda,pca,spca"
    )]
    methods: Vec<String>,
    /// Training samples per class; the others are for testing.
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', default_value = "5")]
    train_per_class: Vec<usize>,
    /// Number of random splits per training size. Raising it extends a finished run.
    #[arg(long, value_name = "N", default_value_t = 5)]
    repeats: usize,
    /// Dimensions to test, as 1-14 or 1,2,5-9 [default: 1 to training samples - 1, at most 50]
    #[arg(long, value_name = "LIST")]
    dims: Option<String>,
    /// Seed of all random choices.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Folder for the results. A stopped run continues in its folder.
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
    /// Use this many classes, drawn at random.
    #[arg(long, value_name = "N")]
    subset_classes: Option<usize>,
    /// Leave out classes with fewer samples.
    #[arg(long, value_name = "N")]
    min_per_class: Option<usize>,
    /// Choose dimension and parameters by cross-validation inside each training half.
    #[arg(long)]
    tune: bool,
    #[command(flatten)]
    params: SearchedParamArgs,
    #[command(flatten)]
    search: SearchArgs,
    #[command(flatten)]
    how: ReadingArgs,
}

const EXAMPLES: &str = "Examples:\n  menet evaluate --data orl --out orl-run\n  menet evaluate --data orl --out orl-run \
                        --repeats 10    (five more, once the first five are finished)\n  menet evaluate --data \
                        yale.npz --data umist.npz --train-per-class 5,7 --tune --out faces\n\nWithout --tune the \
                        reported rate is the best mean over dimensions, as in the paper. This is optimistic, because the test \
                        samples choose the dimension. With --tune, parameters are chosen for the rate, unless --score says \
                        otherwise for MEN.";

fn after_help() -> String {
    format!("{}\n{EXAMPLES}", methods())
}

/// Every method with its summary, for help texts.
pub(super) fn methods() -> String {
    let line = |method: &Method| format!("  {:<11} {}\n", method.name(), method.reducer().summary());
    format!("Methods:\n{}", Method::all().iter().map(line).collect::<String>())
}

impl Evaluate {
    pub(crate) fn run(&self, context: &Context) -> Result<(), Failure> {
        let files = output::FILES;
        overwrite::refuse_run(&self.data, &self.how, self.params.files(), &self.out, files)?;
        signals::resumable();
        if !self.tune {
            self.search.refuse_without_search()?;
        }
        self.search.refuse_unused(&self.methods)?;
        let params = self.search.with_metric(self.params.of_methods()?);
        let prepare = of_others(&params)?;
        let mut protocol = Protocol {
            methods: self.methods.clone(),
            train_per_class: self.train_per_class.clone(),
            repeats: self.repeats,
            dims: self.dims.as_deref().map_or(Ok(Vec::new()), dimensions)?,
            seed: self.seed,
            metric: self.search.metric(&params)?,
            subset_classes: self.subset_classes,
            min_per_class: self.min_per_class,
            tune: if self.tune { Some(self.search.options()?) } else { None },
            prepare,
            params,
        };
        protocol.check()?;
        let tables = self
            .data
            .iter()
            .map(|source| self.how.read_labelled(context, source))
            .collect::<Result<Vec<_>, _>>()?;
        let sets = self
            .data
            .iter()
            .zip(&tables)
            .map(|(source, table)| {
                let ids = table.ids.as_ref().map(|ids| ids.values.as_slice());
                Ok(NamedSet {
                    name: set_name(source),
                    data: labelled(table, prepare.impute)?,
                    rows: None,
                    ids,
                })
            })
            .collect::<Result<Vec<_>, Failure>>()?;
        self.params.grouped_methods(&mut protocol.params, &sets)?;
        sets.iter().try_for_each(|set| super::note_copies(context, &set.data, None))?;
        let command: Vec<String> =
            std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned()).collect();
        let outcome = menet_lab::run(&protocol, &sets, &self.out, &command, &context.watch);
        context.watch.done();
        let (study, cells) = outcome?;
        self.print_results(context, &study, &cells)?;
        match cells.iter().find_map(|cell| cell.failed.as_deref()).filter(|_| study.summary.is_empty()) {
            Some(why) => Err(Failure::Usage(format!("no method could be fitted; the first reason: {why}"))),
            None => Ok(()),
        }
    }

    fn print_results(&self, context: &Context, study: &Study, cells: &[Cell]) -> Result<(), Failure> {
        let failed = || cells.iter().filter_map(|cell| Some((&cell.place, cell.failed.as_deref()?)));
        if context.json {
            let summary: Vec<_> = study
                .summary
                .iter()
                .map(|row| {
                    json!({ "data": row.data, "train_per_class": row.train_per_class, "method": row.method,
                        "rate": row.rate, "sd": row.sd, "balanced": row.balanced, "log_loss": row.log_loss,
                        "auc": row.auc, "dimension": row.dimension, "variables": row.variables, "seconds": row.seconds })
                })
                .collect();
            let failed: Vec<_> = failed()
                .map(|(place, why)| {
                    json!({ "data": place.data, "train_per_class": place.train_per_class, "method": place.method,
                        "repeat": place.repeat, "why": why })
                })
                .collect();
            return text::print(
                json!({ "summary": summary, "failed": failed, "out": self.out.to_string_lossy() }),
            );
        }
        let (header, rows) = output::table(study, cells);
        let header: Vec<&str> = header.iter().map(String::as_str).collect();
        text::print(text::table(&header, &rows))?;
        let kind = if study.tuned {
            "Rates in percent. Cross-validation inside each training half chose the parameters and the dimension (shown: the\n\
             median over repeats)."
        } else {
            "Rates in percent: the best mean over dimensions. This is optimistic, as in the paper, because the test samples\n\
             choose the dimension (--tune chooses it inside the training samples)."
        };
        context.say(kind)?;
        context.say(
            "balanced: every class has the same weight. variables: how many distinct ones all axes use, mean over repeats.",
        )?;
        if study.summary.iter().any(|row| row.log_loss.is_some()) {
            context.say(
                "log_loss and auc: only MEN's rules give probabilities; other methods decide by the nearest neighbour.",
            )?;
        }
        if let Some(tune) = self.tune.then(|| self.search.options()).transpose()? {
            let for_what = output::words(tune.search.score);
            if tune.search.score != menet::scores::ScoreKind::Rate {
                context.say(format_args!(
                    "MEN was tuned for the {for_what}, every other method for the rate."
                ))?;
            }
        }
        if study.summary.iter().all(|row| row.sd.is_none()) {
            context.say("One repeat gives no standard deviation; raise --repeats to get one.")?;
        }
        for (place, why) in failed() {
            context.say(format_args!("* no rate: {place}: {why}"))?;
        }
        match cells.iter().filter(|cell| cell.unsettled.is_some()).count() {
            0 => {}
            count => context.say(format_args!(
                "spca: {count} fits stopped before they converged (see {})",
                menet_lab::journal::NAME
            ))?,
        }
        context.say(format_args!("results in {}", self.out.display()))
    }
}
