//! Tables and files of a run.

use menet::Named;
use menet::scores::ScoreKind;
use menet::select::Choice;
use menet_io::write::csv_table;
use toml::{Table, Value};

use crate::cell::Cell;
use crate::error::{Error, Result};
use crate::folder::Folder;
use crate::journal::{self, Fingerprint};
use crate::params::fields;
use crate::protocol::{NamedSet, Protocol};
use crate::study::{ChoiceRow, Confusion, Study, SummaryRow};
use crate::tune::selection::{self, mean};
use crate::tune::{Trial, TuningResult, TuningTrials};

/// The files that a run of [`write()`] leaves in its folder.
pub const FILES: &[&str] = &[
    journal::NAME,
    "results.csv",
    "summary.csv",
    "confusion.csv",
    "splits.csv",
    "choices.csv",
    "run.toml",
    "report.html",
    "figures/",
];

/// The files of [`write_tuning`].
pub const TUNING_FILES: &[&str] = &["trials.csv", "best.toml", "params.toml", "tuning.svg", "tuning.png"];

/// Writes the tables and the record.
///
/// # Errors
/// When one cannot be written.
pub fn write(study: &Study, protocol: &Protocol, sets: &[NamedSet<'_>], folder: &Folder) -> Result<()> {
    let header = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<String>>();
    csv_table(
        &folder.file("results.csv")?,
        &header(&["data", "train_per_class", "method", "repeat", "dimension", "rate"]),
        study.results.iter().map(|row| {
            vec![
                row.data.clone(),
                row.train_per_class.to_string(),
                row.method.clone(),
                row.repeat.to_string(),
                row.dimension.to_string(),
                row.rate.to_string(),
            ]
        }),
    )?;
    csv_table(
        &folder.file("summary.csv")?,
        &header(&SummaryRow::COLUMNS),
        study.summary.iter().map(|row| {
            vec![
                row.data.clone(),
                row.train_per_class.to_string(),
                row.method.clone(),
                row.rate.to_string(),
                optional(row.sd),
                row.balanced.to_string(),
                optional(row.log_loss),
                optional(row.auc),
                row.dimension.to_string(),
                row.variables.to_string(),
                row.seconds.to_string(),
            ]
        }),
    )?;
    csv_table(
        &folder.file("confusion.csv")?,
        &header(&["data", "train_per_class", "method", "class", "taken_for", "samples"]),
        study.confusions.iter().flat_map(confusion_rows),
    )?;
    // One split at a time: those of many large sets would not fit in memory together.
    let of_split = |set: &NamedSet<'_>, size: usize, repeat: usize| -> Vec<Vec<String>> {
        let Ok(split) = protocol.split(set, size, repeat) else { return Vec::new() };
        let role = |row: usize| if split.train.binary_search(&row).is_ok() { "train" } else { "test" };
        let line = |row: usize| {
            let (name, size, repeat) = (set.name.clone(), size.to_string(), repeat.to_string());
            let id = set.ids.and_then(|ids| ids.get(set.row(row))).cloned().unwrap_or_default();
            vec![name, size, repeat, set.row(row).to_string(), role(row).to_owned(), id]
        };
        (0..set.data.samples()).map(line).collect()
    };
    let sizes = |set| protocol.train_per_class.iter().map(move |&size| (set, size));
    let places = sets
        .iter()
        .flat_map(sizes)
        .flat_map(|(set, size)| (0..protocol.repeats).map(move |repeat| (set, size, repeat)));
    let splits = places.flat_map(|(set, size, repeat)| of_split(set, size, repeat));
    if study.tuned {
        let rows = study.choices.iter().map(|row| row.cells().to_vec());
        csv_table(&folder.file("choices.csv")?, &header(&ChoiceRow::COLUMNS), rows)?;
    }
    let columns = header(&["data", "train_per_class", "repeat", "row", "role", "id"]);
    csv_table(&folder.file("splits.csv")?, &columns, splits)?;
    folder.write("run.toml", study.run.as_bytes())?;
    Ok(())
}

/// A number, or an empty field, which spreadsheets and data frames read as missing.
pub(crate) fn optional(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// Everything that is needed to repeat a run.
///
/// # Errors
/// Never, for protocols that were checked.
pub fn run_toml(protocol: &Protocol, data: &[Fingerprint], command: &[String]) -> Result<String> {
    let broken = |e: toml::ser::Error| Error::Usage(e.to_string());
    let mut effective = Table::new();
    for name in &protocol.methods {
        effective.insert(name.clone(), Value::Table(fields(&protocol.params.method(name)?)?));
    }
    let mut record = Table::new();
    record.insert("menet".to_owned(), Value::String(env!("CARGO_PKG_VERSION").to_owned()));
    record.insert("command".to_owned(), Value::try_from(command).map_err(broken)?);
    record.insert("data".to_owned(), Value::try_from(data).map_err(broken)?);
    record.insert("protocol".to_owned(), Value::try_from(protocol).map_err(broken)?);
    record.insert("parameters".to_owned(), Value::Table(effective));
    let text = toml::to_string(&record).map_err(broken)?;
    Ok(format!(
        "# What was run. [protocol] and the data decide every number; [parameters] are those of the methods in full,\n\
         # before tuning, and may be given to --params.\n{text}"
    ))
}

/// Every pair of true and predicted class that occurred, with its count.
fn confusion_rows(confusion: &Confusion) -> Vec<Vec<String>> {
    let right = confusion.right().into_iter().enumerate().map(|(class, count)| (class, class, count));
    let wrong = confusion.mistakes.iter().map(|&mistake| mistake.into());
    let mut seen: Vec<(usize, usize, usize)> =
        right.chain(wrong).filter(|&(_, _, count)| count > 0).collect();
    seen.sort_unstable();
    let row = |(class, taken_for, count): (usize, usize, usize)| {
        let Confusion { data, train_per_class, method, classes, .. } = confusion;
        let (class, taken_for) = (classes[class].clone(), classes[taken_for].clone());
        vec![data.clone(), train_per_class.to_string(), method.clone(), class, taken_for, count.to_string()]
    };
    seen.into_iter().map(row).collect()
}

/// The table for a terminal: one line per set, training size and method. Columns for the standard deviation and for scores
/// are left out if no row has them. A star marks a mean over fewer splits, because the method failed on the others.
pub fn table(study: &Study, cells: &[Cell]) -> (Vec<String>, Vec<Vec<String>>) {
    let star = |row: &SummaryRow| {
        let same = |cell: &&Cell| cell.place.is_repeat_of(&row.data, row.train_per_class, &row.method);
        if cells.iter().filter(same).any(|cell| cell.failed.is_some()) { "*" } else { "" }
    };
    let missing = [
        ("sd", study.summary.iter().all(|row| row.sd.is_none())),
        ("log_loss", study.summary.iter().all(|row| row.log_loss.is_none())),
        ("auc", study.summary.iter().all(|row| row.auc.is_none())),
    ];
    let names =
        ["data", "train", "method", "rate", "sd", "balanced", "log_loss", "auc", "dimension", "variables"];
    let kept = |cells: [String; 10]| -> Vec<String> {
        let cells = cells.into_iter().enumerate();
        cells.filter(|(k, _)| !missing.contains(&(names[*k], true))).map(|(_, cell)| cell).collect()
    };
    let number = |value: Option<f64>, digits: usize| {
        value.map_or_else(|| "-".to_owned(), |value| format!("{value:.digits$}"))
    };
    let line = |row: &SummaryRow| {
        kept([
            row.data.clone(),
            row.train_per_class.to_string(),
            row.method.clone(),
            format!("{:.2}{}", row.rate, star(row)),
            number(row.sd, 2),
            format!("{:.2}", row.balanced),
            number(row.log_loss, 3),
            number(row.auc, 3),
            row.dimension.to_string(),
            format!("{:.0}", row.variables),
        ])
    };
    (kept(names.map(str::to_owned)), study.summary.iter().map(line).collect())
}

/// Writes the trials and the choice of tuning: `trials.csv`, the parameters as `best.toml` and, under its earlier name,
/// `params.toml`, and the plot `tuning.svg`, `tuning.png`.
///
/// # Errors
/// When the folder or a file cannot be written.
pub fn write_tuning(tuned: &TuningResult, source: &str, folder: &Folder) -> Result<()> {
    let (header, rows) = match &tuned.found {
        TuningTrials::Walk { trials, .. } => walk_table(trials),
        TuningTrials::Selection(selection) => selection_table(selection),
    };
    csv_table(&folder.file("trials.csv")?, &header, rows.into_iter())?;
    let chosen = fields(&tuned.method)?;
    let table = match tuned.method.men() {
        // The form that `fit` reads.
        Some(_) => chosen,
        None => [(tuned.method.name().to_owned(), Value::Table(chosen))].into_iter().collect(),
    };
    let text = toml::to_string(&table).map_err(|e| Error::Usage(e.to_string()))?;
    let reason = match &tuned.found {
        TuningTrials::Walk { .. } => String::new(),
        TuningTrials::Selection(choice) => format!("# {}.\n", choice.reason),
    };
    let heading = format!(
        "# Chosen for {} by cross-validation: {} at dimension {}.\n{reason}",
        source.escape_debug(),
        validated(tuned),
        tuned.dimension,
    );
    for name in ["best.toml", "params.toml"] {
        folder.write(name, (heading.clone() + &text).as_bytes())?;
    }
    crate::figures::write_tuning(tuned, source, folder)?;
    folder.finish()
}

/// The cross-validated score of the choice, in words.
pub fn validated(tuned: &TuningResult) -> String {
    match &tuned.found {
        TuningTrials::Walk { best, .. } => {
            format!("rate {:.2} % (standard error {:.2})", best.score.rate(), best.standard_error)
        }
        TuningTrials::Selection(selection) => {
            let (best, score) = (selection.trial(), selection.score);
            let error = best.standard_error(score);
            let value = |digits: usize, unit: &str| {
                let mean = mean(best, score).unwrap_or(f64::NAN);
                format!("{} {mean:.digits$}{unit} (standard error {error:.digits$})", words(score))
            };
            match score {
                ScoreKind::Rate | ScoreKind::Balanced => value(2, " %"),
                ScoreKind::LogLoss | ScoreKind::Auc => value(4, ""),
            }
        }
    }
}

/// The name of a score in sentences.
pub fn words(score: ScoreKind) -> &'static str {
    match score {
        ScoreKind::Rate => "rate",
        ScoreKind::Balanced => "balanced accuracy",
        ScoreKind::LogLoss => "log loss",
        ScoreKind::Auc => "AUC",
    }
}

/// A header and rows of text.
type TextTable = (Vec<String>, Vec<Vec<String>>);

fn walk_table(trials: &[Trial]) -> TextTable {
    let mut searched: Vec<String> = trials.iter().flat_map(|trial| trial.params.keys().cloned()).collect();
    searched.sort_unstable();
    searched.dedup();
    // It has its own column.
    searched.retain(|name| name != "nonzeros");
    let fixed = ["setting", "nonzeros", "dimension", "metric", "rate", "standard_error", "margin", "merit"];
    let header = fixed.iter().map(|&name| name.to_owned()).chain(searched.clone()).collect();
    let row = |trial: &Trial| {
        let value = |name: &String| match trial.params.get(name) {
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => String::new(),
        };
        let own = [
            trial.setting.to_string(),
            trial.support().map_or(String::new(), |k| k.to_string()),
            trial.dimension.to_string(),
            trial.metric.name().to_owned(),
            trial.score.rate().to_string(),
            trial.standard_error.to_string(),
            trial.score.margin.to_string(),
            trial.merit.to_string(),
        ];
        own.into_iter().chain(searched.iter().map(value)).collect()
    };
    (header, trials.iter().map(row).collect())
}

/// The parameters, the mean and standard error of the score that was tuned for, every score, the number of variables, whether
/// the setting was chosen, and why it has no scores.
fn selection_table(selection: &Choice) -> TextTable {
    let scores = ScoreKind::ALL.iter().map(|score| score.name());
    let tail = ["variables", "chosen", "reason", "failed"];
    let header = selection::COLUMNS.into_iter().chain(["mean", "standard_error"]).chain(scores).chain(tail);
    let row = |(place, trial): (usize, &menet::select::Trial)| {
        let (fitted, chosen) = (!trial.folds.is_empty(), place == selection.chosen);
        let error = Some(trial.standard_error(selection.score)).filter(|error| fitted && error.is_finite());
        let own = [optional(mean(trial, selection.score)), optional(error)];
        let scores = ScoreKind::ALL.iter().map(|&score| optional(mean(trial, score)));
        let tail = [
            optional(fitted.then_some(trial.variables)),
            chosen.to_string(),
            if chosen { selection.reason.clone() } else { String::new() },
            trial.failed.as_ref().map_or_else(String::new, ToString::to_string),
        ];
        selection::cells(&trial.params).into_iter().chain(own).chain(scores).chain(tail).collect()
    };
    (header.map(str::to_owned).collect(), selection.trials.iter().enumerate().map(row).collect())
}
