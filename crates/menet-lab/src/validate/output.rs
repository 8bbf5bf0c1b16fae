//! The files of a validation.

use menet::Dataset;
use menet_io::write::csv_table;
use toml::{Table, Value};

use super::{Interval, Options, Validation};
use crate::error::{Error, Result};
use crate::folder::Folder;
use crate::journal::Fingerprint;
use crate::names::name_of;
use crate::output::optional;
use crate::progress::{Progress, Steps};
use crate::{figures, report};

/// The files that are written besides the journal; `figures/` stands for all in that folder.
pub const FILES: &[&str] = &[
    super::NAME,
    "summary.csv",
    "scores.csv",
    "samples.csv",
    "confusion.csv",
    "panel.csv",
    "stability.csv",
    "permutations.csv",
    "choices.csv",
    "run.toml",
    "report.html",
    "figures/",
];

/// Everything that is needed to repeat a run.
pub(super) fn run_toml(
    options: &Options,
    record: &Table,
    data: &Fingerprint,
    command: &[String],
) -> Result<String> {
    let broken = |e: toml::ser::Error| Error::Usage(e.to_string());
    let mut out = Table::new();
    out.insert("menet".to_owned(), Value::String(env!("CARGO_PKG_VERSION").to_owned()));
    out.insert("command".to_owned(), Value::try_from(command).map_err(broken)?);
    out.insert("data".to_owned(), Value::try_from(data).map_err(broken)?);
    out.insert("options".to_owned(), Value::try_from(options).map_err(broken)?);
    for name in ["methods", "groups"] {
        out.extend(record.get(name).map(|value| (name.to_owned(), value.clone())));
    }
    let text = toml::to_string(&out).map_err(broken)?;
    Ok(format!("# What was run. The options, the methods and the data decide every number.\n{text}"))
}

/// Writes the tables, the figures and the report into `folder`. `link` is the address of a variable, with `{name}` in it.
///
/// # Errors
/// When a file cannot be written.
pub fn write(
    found: &Validation,
    data: &Dataset<'_>,
    link: Option<&str>,
    folder: &Folder,
    progress: &dyn Progress,
) -> Result<()> {
    tables(found, data, folder)?;
    folder.write("run.toml", found.run.as_bytes())?;
    figures::write_validation(found, data, folder, progress)?;
    Steps::new(progress, 1).next("writing the report".to_owned());
    let page = report::validation::html(found, data, link)?;
    folder.write("report.html", page.as_bytes())?;
    // Whoever opens the folder only to write keeps the finished work.
    folder.file(super::NAME)?;
    folder.finish()
}

fn tables(found: &Validation, data: &Dataset<'_>, folder: &Folder) -> Result<()> {
    let write = |name: &str, header: &[&str], rows: Vec<Vec<String>>| {
        let header: Vec<String> = header.iter().map(|&name| name.to_owned()).collect();
        Ok::<_, Error>(csv_table(&folder.file(name)?, &header, rows.into_iter())?)
    };
    write("summary.csv", &["method", "score", "class", "mean", "low", "high"], summary(found))?;
    let mut rows = Vec::new();
    for method in &found.methods {
        rows.extend(method.repeats.iter().map(|row| {
            let numbers =
                [row.balanced.to_string(), row.rate.to_string(), optional(row.auc), optional(row.log_loss)];
            let ends = [method.name.clone(), row.repeat.to_string()].into_iter();
            ends.chain(numbers).chain([row.variables.to_string()]).collect()
        }));
    }
    let scores = ["method", "repeat", "balanced_accuracy", "rate", "auc", "log_loss", "variables"];
    write("scores.csv", &scores, rows)?;
    samples(found, folder)?;
    confusion(found, folder)?;
    panel(found, folder)?;
    if let Some(stability) = &found.stability {
        let name = |j: usize| name_of(data.feature_names(), data.image_shape(), j);
        let rows = stability.stable_frequencies.iter().map(|&(j, frequency)| {
            let stable = stability.stable.contains(&j);
            vec![name(j), j.to_string(), frequency.to_string(), stable.to_string()]
        });
        write("stability.csv", &["name", "variable", "frequency", "stable"], rows.collect())?;
    }
    if let Some(test) = &found.permutation {
        let row = |(k, value): (usize, &f64)| vec![k.to_string(), value.to_string()];
        let rows = test.permuted.iter().enumerate().map(row).collect();
        write("permutations.csv", &["permutation", "balanced_accuracy"], rows)?;
    }
    let mut rows = Vec::new();
    for method in &found.methods {
        let folds = found.design.folds.max(1);
        rows.extend(method.choices.iter().enumerate().map(|(at, choice)| {
            vec![method.name.clone(), (at / folds).to_string(), (at % folds).to_string(), choice.clone()]
        }));
    }
    write("choices.csv", &["method", "repeat", "fold", "choice"], rows)?;
    Ok(())
}

fn summary(found: &Validation) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for method in &found.methods {
        let mut add = |score: &str, class: &str, value: Option<Interval>| {
            if let Some(Interval { mean, low, high }) = value {
                let numbers = [mean, low, high].map(|number| number.to_string());
                let words = [method.name.clone(), score.to_owned(), class.to_owned()];
                rows.push(words.into_iter().chain(numbers).collect::<Vec<String>>());
            }
        };
        add("balanced_accuracy", "", Some(method.balanced));
        add("rate", "", Some(method.rate));
        add("auc", "", method.auc);
        add("log_loss", "", method.log_loss);
        for (class, recall) in found.classes.iter().zip(&method.recalls) {
            add("recall", class, *recall);
        }
    }
    let mut alone = |score: &str, value: Interval| {
        let Interval { mean, low, high } = value;
        let words = [found.methods[0].name.clone(), score.to_owned(), String::new()];
        rows.push(words.into_iter().chain([mean, low, high].map(|number| number.to_string())).collect());
    };
    if let Some(test) = &found.permutation {
        alone("p_value", test.p_value);
    }
    if let Some(stability) = &found.stability {
        alone("stability", stability.index);
    }
    rows
}

/// How every sample was classified when it was held out.
fn samples(found: &Validation, folder: &Folder) -> Result<()> {
    let fixed = ["method", "row", "name", "class", "tested", "wrong", "most_often"];
    let probabilities = found.classes.iter().map(|class| format!("p({class})"));
    let header: Vec<String> = fixed.iter().map(|&name| name.to_owned()).chain(probabilities).collect();
    let mut rows = Vec::new();
    for method in &found.methods {
        for sample in &method.samples {
            // The first of those that were given most often.
            let most = sample.given.iter().copied().max().filter(|&most| most > 0);
            let often = most.and_then(|most| sample.given.iter().position(|&count| count == most));
            let known = |class: usize| optional(sample.probabilities.get(class).copied());
            let words = [
                method.name.clone(),
                sample.row.to_string(),
                sample.name.clone().unwrap_or_default(),
                found.classes[sample.class].clone(),
                sample.tested.to_string(),
                sample.wrong.to_string(),
                often.map_or_else(String::new, |class| found.classes[class].clone()),
            ];
            rows.push(words.into_iter().chain((0..found.classes.len()).map(known)).collect());
        }
    }
    Ok(csv_table(&folder.file("samples.csv")?, &header, rows.into_iter())?)
}

fn confusion(found: &Validation, folder: &Folder) -> Result<()> {
    let mut rows = Vec::new();
    for method in &found.methods {
        for (class, row) in method.confusion.iter().enumerate() {
            for (given, count) in row.iter().enumerate().filter(|(_, count)| **count > 0) {
                let (class, given) = (found.classes[class].clone(), found.classes[given].clone());
                rows.push(vec![method.name.clone(), class, given, count.to_string()]);
            }
        }
    }
    let header = ["method", "class", "taken_for", "decisions"].map(str::to_owned);
    Ok(csv_table(&folder.file("confusion.csv")?, &header, rows.into_iter())?)
}

fn panel(found: &Validation, folder: &Folder) -> Result<()> {
    let axes = found.panel.first().map_or(0, |entry| entry.weights.len());
    let fixed = ["name", "variable", "frequency", "folds", "order", "effect", "higher_in", "class", "stable"];
    let weights = (1..=axes).map(|axis| format!("weight_{axis}"));
    let means = found.classes.iter().map(|class| format!("mean:{class}"));
    let header: Vec<String> = fixed.iter().map(|&name| name.to_owned()).chain(weights).chain(means).collect();
    let rows = found.panel.iter().map(|entry| {
        let words = [
            entry.name.clone(),
            entry.variable.to_string(),
            optional(entry.frequency),
            entry.folds.to_string(),
            entry.entered.map_or_else(String::new, |order| order.to_string()),
            optional(entry.effect),
            entry.higher_in.map_or_else(String::new, |class| found.classes[class].clone()),
            entry.class.map_or_else(String::new, |class| found.classes[class].clone()),
            entry.stable.to_string(),
        ];
        let mean = |class: usize| optional(entry.class_means.get(class).copied());
        let means = (0..found.classes.len()).map(mean);
        words
            .into_iter()
            .chain(entry.weights.iter().map(f64::to_string))
            .chain(means)
            .collect::<Vec<String>>()
    });
    Ok(csv_table(&folder.file("panel.csv")?, &header, rows)?)
}
