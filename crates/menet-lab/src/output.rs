//! Tables and files of a run.

use std::path::Path;

use menet::{Method, Named};
use menet_io::write::csv_rows;
use toml::{Table, Value};

use crate::cell::Cell;
use crate::error::{Error, Result};
use crate::journal::Fingerprint;
use crate::params::fields;
use crate::protocol::{Protocol, Set};
use crate::study::{ChoiceRow, Study, SummaryRow};
use crate::tune::{Tuned, deviation};

/// One row a set, training size and method, in the order of the table.
pub fn summarize(protocol: &Protocol, cells: &[Cell]) -> Vec<SummaryRow> {
    let mut rows: Vec<SummaryRow> = Vec::new();
    for cell in cells {
        let place = &cell.place;
        if rows.iter().any(|row| place.is_repeat_of(&row.data, row.train_per_class, &row.method)) {
            continue;
        }
        let repeats: Vec<&Cell> = cells
            .iter()
            .filter(|other| other.place.is_repeat_of(&place.data, place.train_per_class, &place.method))
            .filter(|cell| cell.failed.is_none())
            .collect();
        let found = if protocol.tune.is_some() { at_choice(&repeats) } else { at_best(&repeats) };
        let Some((dimension, rates)) = found else { continue };
        rows.push(SummaryRow {
            data: place.data.clone(),
            train_per_class: place.train_per_class,
            method: place.method.clone(),
            rate: mean(&rates),
            sd: deviation(&rates),
            dimension,
            seconds: mean(&repeats.iter().map(|cell| cell.seconds).collect::<Vec<_>>()),
        });
    }
    rows
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The dimension of the best mean rate, the lowest of equals, and the rates there.
fn at_best(repeats: &[&Cell]) -> Option<(usize, Vec<f64>)> {
    let first = repeats.first()?;
    let at = |dimension: usize| -> Option<Vec<f64>> {
        repeats.iter().map(|cell| rate_at(cell, dimension)).collect()
    };
    let candidates = first.rates.iter().filter_map(|&(dimension, _)| Some((dimension, at(dimension)?)));
    candidates.reduce(|best, next| if mean(&next.1) > mean(&best.1) + 1e-9 { next } else { best })
}

/// The median of the dimensions chosen, and the rate of every repeat at its own.
fn at_choice(repeats: &[&Cell]) -> Option<(usize, Vec<f64>)> {
    let mut chosen: Vec<usize> = repeats
        .iter()
        .map(|cell| cell.chosen.as_ref().map(|choice| choice.dimension))
        .collect::<Option<_>>()?;
    let rates: Vec<f64> = repeats
        .iter()
        .zip(&chosen)
        .map(|(cell, &dimension)| rate_up_to(cell, dimension))
        .collect::<Option<_>>()?;
    chosen.sort_unstable();
    Some((*chosen.get(chosen.len().checked_sub(1)? / 2)?, rates))
}

fn rate_at(cell: &Cell, dimension: usize) -> Option<f64> {
    cell.rates.iter().find(|&&(at, _)| at == dimension).map(|&(_, rate)| rate)
}

/// The rate at the largest dimension not above `dimension`: all training samples may give fewer axes than a fold did.
fn rate_up_to(cell: &Cell, dimension: usize) -> Option<f64> {
    cell.rates.iter().rev().find(|&&(at, _)| at <= dimension).map(|&(_, rate)| rate)
}

/// Writes the tables and the record.
///
/// # Errors
/// When one cannot be written.
pub fn write(study: &Study, protocol: &Protocol, sets: &[Set<'_>], folder: &Path) -> Result<()> {
    let header = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<String>>();
    csv_rows(
        &folder.join("results.csv"),
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
    csv_rows(
        &folder.join("summary.csv"),
        &header(&["data", "train_per_class", "method", "rate", "sd", "dimension", "seconds"]),
        study.summary.iter().map(|row| {
            vec![
                row.data.clone(),
                row.train_per_class.to_string(),
                row.method.clone(),
                row.rate.to_string(),
                row.sd.to_string(),
                row.dimension.to_string(),
                row.seconds.to_string(),
            ]
        }),
    )?;
    // One split at a time: of many large sets they would not fit in memory together.
    let of_split = |set: &Set<'_>, size: usize, repeat: usize| -> Vec<Vec<String>> {
        let Ok(split) = protocol.split(set, size, repeat) else { return Vec::new() };
        let role = |row: usize| if split.train.binary_search(&row).is_ok() { "train" } else { "test" };
        let line = |row: usize| {
            let (name, size, repeat) = (set.name.clone(), size.to_string(), repeat.to_string());
            vec![name, size, repeat, set.row(row).to_string(), role(row).to_owned()]
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
        csv_rows(&folder.join("choices.csv"), &header(&ChoiceRow::COLUMNS), rows)?;
    }
    let columns = header(&["data", "train_per_class", "repeat", "row", "role"]);
    csv_rows(&folder.join("splits.csv"), &columns, splits)?;
    Ok(menet_io::atomic::write(&folder.join("run.toml"), |out| out.write_all(study.run.as_bytes()))?)
}

/// All that is needed to repeat a run.
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

/// The table in the paper's layout: a row a set and training size, a column a method. A star marks a mean over fewer splits
/// than were made, since the method failed on the others.
pub fn table(study: &Study, cells: &[Cell]) -> (Vec<String>, Vec<Vec<String>>) {
    let star = |row: &SummaryRow| {
        let same = |cell: &&Cell| cell.place.is_repeat_of(&row.data, row.train_per_class, &row.method);
        if cells.iter().filter(same).any(|cell| cell.failed.is_some()) { "*" } else { "" }
    };
    let header = ["data".to_owned(), "train".to_owned()].into_iter().chain(study.methods.clone()).collect();
    let mut keys: Vec<(&str, usize)> =
        study.summary.iter().map(|row| (row.data.as_str(), row.train_per_class)).collect();
    keys.dedup();
    let rows = keys.into_iter().map(|(data, size)| {
        let cell = |method: &String| {
            study
                .summary
                .iter()
                .find(|row| row.data == data && row.train_per_class == size && row.method == *method)
                .map_or("-".to_owned(), |row| format!("{:.2}{} ({})", row.rate, star(row), row.dimension))
        };
        [data.to_owned(), size.to_string()].into_iter().chain(study.methods.iter().map(cell)).collect()
    });
    (header, rows.collect())
}

/// Writes what tuning tried and chose: `trials.csv`, `params.toml` and the plot `tuning.svg`, `tuning.png`.
///
/// # Errors
/// When the folder or a file cannot be written.
pub fn write_tuning(tuned: &Tuned, source: &str, folder: &Path) -> Result<()> {
    make_folder(folder)?;
    let mut searched: Vec<String> =
        tuned.trials.iter().flat_map(|trial| trial.params.keys().cloned()).collect();
    searched.sort_unstable();
    searched.dedup();
    // That is a column of its own.
    searched.retain(|name| name != "nonzeros");
    let fixed = ["setting", "nonzeros", "dimension", "metric", "rate", "standard_error", "margin", "merit"];
    let header: Vec<String> = fixed.iter().map(|&name| name.to_owned()).chain(searched.clone()).collect();
    let rows = tuned.trials.iter().map(|trial| {
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
    });
    csv_rows(&folder.join("trials.csv"), &header, rows)?;
    let chosen = fields(&tuned.method)?;
    let table = match tuned.method {
        // What `fit` takes.
        Method::Men(_) | Method::MenAlpha0(_) => chosen,
        _ => [(tuned.method.name().to_owned(), Value::Table(chosen))].into_iter().collect(),
    };
    let text = toml::to_string(&table).map_err(|e| Error::Usage(e.to_string()))?;
    let heading = format!(
        "# Chosen for {} by cross-validation: {:.2} % at dimension {}, {} metric.\n",
        source.escape_debug(),
        tuned.best.score.rate(),
        tuned.dimension,
        tuned.metric.name()
    );
    menet_io::atomic::write(&folder.join("params.toml"), |out| out.write_all((heading + &text).as_bytes()))?;
    crate::figures::write_tuning(tuned, source, folder)?;
    Ok(())
}

/// Makes a folder for output.
///
/// # Errors
/// When that is not possible.
pub fn make_folder(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|e| {
        let problem = format!("cannot be made a folder: {e}");
        menet_io::Error::Output { path: folder.to_owned(), problem }.into()
    })
}
