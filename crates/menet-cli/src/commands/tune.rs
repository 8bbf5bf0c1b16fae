//! `menet tune`

use std::path::PathBuf;

use clap::Args;
use menet::rules::RuleKind;
use menet::scores::ScoreKind;
use menet::{Method, Named};
use menet_io::ModelFile;
use menet_lab::output::TUNING_FILES;
use menet_lab::params::fields;
use menet_lab::protocol::default_dimensions;
use menet_lab::tune::selection::mean;
use menet_lab::tune::{TuningResult, TuningTrials, folds, tune_on};
use menet_lab::{Folder, Progress, Status, TuneOptions};
use serde_json::{Value, json};

use crate::Context;
use crate::args::{
    CountArgs, DataArgs, SearchArgs, SearchedParamArgs, UnlabelledArgs, dimensions, labelled, of_others,
};
use crate::failure::Failure;
use crate::overwrite::{self, Output};
use crate::text;

/// Choose the parameters of a method by cross-validation: number of variables, refit, rule, ridge and others.
#[derive(Debug, Args)]
#[command(after_help = after_help())]
pub(crate) struct Tune {
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    count: CountArgs,
    #[command(flatten)]
    unlabelled: UnlabelledArgs,
    /// The method, by one of the names listed below [default: men, or the variant that --params describes]
    #[arg(long, value_name = "NAME")]
    method: Option<String>,
    /// Folder for trials.csv, best.toml and the plot.
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
    /// Also fit the chosen settings on all samples and save the model to this file; for MEN.
    #[arg(long, value_name = "FILE")]
    model: Option<PathBuf>,
    /// Samples with the same value in this column stay in one fold: patients, batches, studies. For formats without columns, a file with
    /// one group per line.
    #[arg(long, value_name = "COLUMN")]
    groups: Option<String>,
    /// Hold out one group at a time.
    #[arg(long, requires = "groups", conflicts_with = "folds")]
    leave_one_group_out: bool,
    /// Dimensions to choose from, as 1-14 or 1,2,5-9 [default: 1 to samples - 1, at most 50]
    #[arg(long, value_name = "LIST")]
    dims: Option<String>,
    /// Seed of the folds.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    params: SearchedParamArgs,
    #[command(flatten)]
    search: SearchArgs,
}

fn after_help() -> String {
    let methods = super::evaluate::methods();
    format!(
        "{methods}\nExamples:\n  menet tune --data leukemia --panel-size 20 --out tuned --model panel.safetensors\n  menet inspect \
         --model panel.safetensors --panel\n\n  menet tune --data orl --out tuned\n  menet fit --data orl --params \
         tuned/best.toml --model faces.safetensors\n\nThe score of the choice is the best of all settings on the same folds, \
         so it is slightly optimistic. evaluate --tune searches inside training halves and tests on the others."
    )
}

impl Tune {
    pub(crate) fn run(&self, context: &Context) -> Result<(), Failure> {
        let sources = std::slice::from_ref(&self.data.data);
        overwrite::refuse_run(sources, &self.data.how, self.params.files(), &self.out, TUNING_FILES)?;
        let params = self.params.of_methods()?;
        let name = self.method.clone().unwrap_or_else(|| params.meant().to_owned());
        self.search.refuse_unused(std::slice::from_ref(&name))?;
        let params = self.search.with_metric(params);
        let method = params.method(&name)?;
        self.refuse_model(&method)?;
        let own = match method.men() {
            Some(men) => men.prepare,
            None => of_others(&params)?,
        };
        let mut how = self.data.how.options();
        how.groups.clone_from(&self.groups);
        let table = self.data.how.read_labelled_with(context, &self.data.data, &how)?;
        let mut table = self.count.weigh(table)?;
        table.keep_unlabelled = self.unlabelled.keep();
        let data = labelled(&table, own.impute)?;
        let method = self.params.grouped_method(method, &data)?;
        method.reducer().check(data.variables())?;
        method.men().map_or(Ok(()), |men| men.check_names(&data))?;
        let dims = match &self.dims {
            Some(text) => dimensions(text)?,
            None => default_dimensions(data.samples()),
        };
        let metric = self.search.metric(&params)?;
        let options = TuneOptions { prepare: own, ..self.search.options()? };
        if self.out.exists() && !self.out.is_dir() {
            return Err(Failure::Usage(format!(
                "--out {}: this is not a folder; give --out another name",
                self.out.display()
            )));
        }
        let groups =
            table.groups.as_deref().map(|groups| super::validate::numbered(&table.of_labelled(groups)));
        super::note_copies(context, &data, groups.as_deref())?;
        let groups = groups.as_deref().map(|groups| (groups, self.leave_one_group_out));
        let folds = folds(&data, groups, options.folds, self.seed)?;
        let folder = Folder::open(&self.out, "tune", TUNING_FILES)?;
        let tuned = tune_on(&method, &data, &dims, metric, &options, &folds, &context.watch)?;
        context.watch.status(Status { now: "drawing the plot".to_owned(), ..Status::default() });
        menet_lab::output::write_tuning(&tuned, &self.data.data, &folder)?;
        context.watch.done();
        if let (Some(path), Some(men)) = (&self.model, tuned.men()) {
            ModelFile::new(men.clone(), &data, &self.data.data)?.save(path)?;
        }
        if context.json {
            return text::print(self.report(&tuned)?);
        }
        context.say(summary(&tuned)?)?;
        context.say(format_args!("trials.csv, best.toml and the plot are in {}", text::path(&self.out)))?;
        match &self.model {
            Some(path) => context.say(format_args!("the model is in {}", text::path(path))),
            None => Ok(()),
        }
    }

    /// Refuses a model file that cannot be written, or that would overwrite an input or another output.
    fn refuse_model(&self, method: &Method) -> Result<(), Failure> {
        let Some(model) = &self.model else { return Ok(()) };
        if method.men().is_none() {
            return Err(Failure::Usage(format!(
                "--model: only MEN and its variants can be saved as models, but the method is {}; remove --model",
                method.name()
            )));
        }
        if model.as_os_str() == "-" {
            return Err(Failure::Usage(
                "--model -: a model cannot be written to standard output; name a file".to_owned(),
            ));
        }
        let params = self.params.files();
        let inputs: Vec<_> =
            overwrite::data(&self.data.data, &self.data.how).into_iter().chain(params).collect();
        overwrite::refuse(&inputs, &[Output::File("--model", model)])?;
        // The folder's own files are written before the model.
        let inside = model.parent().is_some_and(|parent| parent == self.out);
        let name = model.file_name().unwrap_or_default().to_string_lossy();
        if inside && TUNING_FILES.contains(&&*name) {
            return Err(Failure::Usage(format!(
                "--model {} would overwrite a file of --out {}; give --model another name",
                text::path(model),
                text::path(&self.out)
            )));
        }
        Ok(())
    }

    fn report(&self, tuned: &TuningResult) -> Result<Value, Failure> {
        let mut report = json!({
            "method": tuned.method.name(), "rate": tuned.rate(), "dimension": tuned.dimension, "nonzeros": tuned.support(),
            "metric": tuned.metric.name(), "fits": tuned.fits, "params": fields(&tuned.method)?,
            "out": self.out.to_string_lossy(),
        });
        match &tuned.found {
            TuningTrials::Walk { best, .. } => report["standard_error"] = json!(best.standard_error),
            TuningTrials::Selection(selection) => {
                let best = selection.trial();
                let scores =
                    ScoreKind::ALL.iter().map(|&score| (score.name().to_owned(), json!(mean(best, score))));
                report["tuned_for"] = json!(selection.score.name());
                report["reason"] = json!(selection.reason);
                report["scores"] = Value::Object(scores.collect());
                report["standard_error"] = json!(best.standard_error(selection.score));
                report["variables"] = json!(best.variables);
                report["panel_size"] = json!(tuned.men().map(|men| men.panel().len()));
                report["trials"] = json!(selection.trials.len());
                report["model"] = json!(self.model.as_ref().map(|path| path.to_string_lossy()));
            }
        }
        Ok(report)
    }
}

/// The choice and its score, for people.
fn summary(tuned: &TuningResult) -> Result<String, Failure> {
    let validated = menet_lab::output::validated(tuned);
    let name = tuned.method.name();
    let tuned_for = match &tuned.found {
        TuningTrials::Walk { best, .. } => {
            let sparsity = best.support().map_or(String::new(), |k| format!(", {k} variables per axis"));
            let params = best.params.iter().map(|(name, value)| format!("{name} = {value}"));
            return Ok(format!(
                "{name}: {validated} in cross-validation, after {} fits\n{} dimensions{sparsity}, {} metric; {}",
                tuned.fits,
                tuned.dimension,
                tuned.metric.name(),
                params.collect::<Vec<_>>().join(", ")
            ));
        }
        TuningTrials::Selection(selection) => selection,
    };
    let best = tuned_for.trial();
    let others: Vec<String> = ScoreKind::ALL
        .iter()
        .filter(|&&score| score != tuned_for.score)
        .filter_map(|&score| {
            let digits = if matches!(score, ScoreKind::Rate | ScoreKind::Balanced) { 2 } else { 4 };
            Some(format!("{} {:.digits$}", menet_lab::output::words(score), mean(best, score)?))
        })
        .collect();
    let params = &best.params;
    let rule = params.rule.on_several();
    let how = match rule.kind {
        RuleKind::Nearest => format!("nearest ({} metric, k = {})", rule.metric.name(), rule.neighbors),
        other => other.name().to_owned(),
    };
    let refit = match params.refit.kind() {
        refit if refit.needs_gram() => format!("{} (ridge {})", refit.name(), params.refit_ridge()),
        refit => refit.name().to_owned(),
    };
    let size = match (params.panel_size, params.nonzeros) {
        (Some(size), _) => format!("panel_size = {size}"),
        (None, Some(k)) => format!("nonzeros = {k} per path"),
        (None, None) => "nonzeros by default".to_owned(),
    };
    let variables = tuned.men().map_or(0, |men| men.panel().len());
    Ok(format!(
        "{name}: {validated} in cross-validation, chosen from {} settings by {} path computations\n{}\n{}\n{variables} variables in all \
         ({:.1} in the folds), {} axes: {size}\nrefit = {refit}, rule = {how}, ridge = {}, manifold.beta = {}, target.shrinkage = {}",
        tuned_for.trials.len(),
        tuned.fits,
        tuned_for.reason,
        others.join(", "),
        best.variables,
        tuned.dimension,
        params.ridge(),
        params.manifold.beta,
        params.target.shrinkage,
    ))
}
