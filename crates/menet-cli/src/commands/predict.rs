//! `menet predict`

use std::path::PathBuf;

use clap::Args;
use faer::{Mat, MatRef};
use menet::rules::{LearnedRule, Metric, Priors, Projected, RuleKind, RuleParams, learn};
use menet::scores::{Scores, scores_of};
use menet::{Named, SampleDoubts};
use menet_io::{ModelFile, Table, TableModel, labels};
use serde_json::{Map, Value, json};

use crate::Context;
use crate::args::{DataArgs, FillArgs, NewSamples, PriorsText, metric, smaller};
use crate::failure::Failure;
use crate::{overwrite, text};

/// Classify data by the rule of a model, with probabilities.
///
/// The data need the variables of the panel, by name, and no others; data without names need all variables of the fit. The output has one label and its probability per sample; where
/// missing values are filled, also how many values of the panel were missing. With --probabilities it has the probability of every class.
/// A sample without any value of the panel gets the probabilities that the classes have before anything is measured.
#[derive(Debug, Args)]
#[command(
    after_help = "Example, with samples that the fit has not seen:\n  menet split --data leukemia --train \
                        train.csv --test test.csv\n  menet fit --data train.csv --panel-size 20 --model m.safetensors\n  menet \
                        predict --model m.safetensors --data test.csv --out labels.csv"
)]
pub(crate) struct Predict {
    /// A model file.
    #[arg(long, value_name = "FILE")]
    model: PathBuf,
    /// Use only the first axes; only for models without a refit that decide by the rule nearest.
    #[arg(long, value_name = "D")]
    components: Option<usize>,
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    fill: FillArgs,
    /// Where to write the labels: .csv, or - for standard output.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Also write the probability of every class, in one column probability:NAME per class.
    #[arg(long)]
    probabilities: bool,
    /// Number of neighbours that vote; for models with the rule nearest [default: the model's]
    #[arg(long, value_name = "N")]
    neighbors: Option<usize>,
    /// Metric, euclidean or cosine; for models with the rule nearest [default: the model's]
    #[arg(long, value_parser = metric)]
    metric: Option<Metric>,
    /// How frequent the classes are among these samples: train, equal, or one number per class in sorted order, as 0.2,0.8
    /// [default: the model's]
    #[arg(long)]
    priors: Option<PriorsText>,
}

/// The decisions of the rule for all samples.
struct Decisions {
    classes: Vec<usize>,
    /// One row per sample, one column per class.
    log_probabilities: Mat<f64>,
}

/// How the predictions compare with labels.
struct Agreement {
    /// Samples with a known label.
    known: usize,
    right: usize,
    /// Samples that the model was fitted to.
    seen: usize,
    /// How many samples that the model was not fitted to have a known label, and are right.
    new_known: usize,
    new_right: usize,
    /// Labels that are not classes of the model.
    unknown: Vec<String>,
    /// How many samples have a label that is a class of the model, and their scores; none without such samples.
    scored: usize,
    scores: Option<Scores>,
}

impl Predict {
    pub(crate) fn run(&self, context: &Context) -> Result<(), Failure> {
        overwrite::refuse_model(&self.model, &self.data, &self.out)?;
        let mut file = ModelFile::load(&self.model)?;
        file.men = smaller(&file.men, None, self.components)?;
        let rule = self.rule(&file)?;
        let fitted = TableModel::new(&file.men)?;
        let NewSamples { table, men, fingerprints, doubts } =
            self.data.how.read_for(context, &self.data.data, &fitted, &self.fill)?;
        let mut z = table.project(men)?;
        doubts.unknown().for_each(|i| z.row_mut(i).fill(f64::NAN));
        let decided = Decisions {
            classes: rule.classify(z.as_ref())?,
            log_probabilities: rule.log_probabilities(z.as_ref())?,
        };
        let missing = (men.fills() || self.fill.fills()).then_some(&doubts.missing[..]);
        self.write(&table, &decided, file.men.classes(), missing)?;
        let ids = table.ids.iter().flat_map(|ids| &ids.values);
        context.notice_formulas(&self.out, ids.chain(file.men.classes()));
        let agreement = agreement(&file, &table, &fingerprints, &decided)?;
        let n = decided.classes.len();
        self.warn(context, &agreement, n);
        let name = |i: usize| match &table.ids {
            Some(ids) => format!("{:?}", ids.values[i]),
            None => format!("sample {}", i + 1),
        };
        let sentences = doubts.in_words(&name, &|j| men.name_of(j));
        sentences.into_iter().for_each(|doubt| context.notice(doubt));
        self.print_summary(context, &agreement, &doubts, file.men.classes())
    }

    /// The rule of the model, with the changes that the options make.
    fn rule(&self, file: &ModelFile) -> Result<LearnedRule, Failure> {
        let mut rule = file.men.rule()?.clone();
        let kind = rule.kind().name();
        if let LearnedRule::Nearest(own) = &rule {
            if self.neighbors.is_none() && self.metric.is_none() && self.priors.is_none() {
                return Ok(rule);
            }
            let neighbors = self.neighbors.unwrap_or(own.neighbors);
            let samples = own.classes.len();
            if neighbors == 0 || self.neighbors.is_some_and(|k| k > samples) {
                return Err(Failure::Usage(format!(
                    "--neighbors {neighbors}: use 1 to {samples}, the number of training samples"
                )));
            }
            let params = RuleParams::default().with(|it| {
                it.neighbors = neighbors;
                it.metric = self.metric.unwrap_or(own.metric);
                it.priors = self
                    .priors
                    .as_ref()
                    .map_or_else(|| file.men.params().rule.priors.clone(), |p| p.0.clone());
                it.kind = RuleKind::Nearest;
            });
            // The probabilities are recalibrated, because distances and votes have another scale.
            let (z, classes, count) = (own.gallery.as_ref(), &own.classes[..], own.shifts.len());
            return Ok(learn(&params, &Projected { z, classes, count, weights: None, covariance: None })?);
        }
        let neighbors = self.neighbors.map(|k| format!("--neighbors {k}"));
        let given = neighbors.or_else(|| self.metric.map(|metric| format!("--metric {}", metric.name())));
        if let Some(given) = given {
            return Err(Failure::Usage(format!(
                "{given}: the model decides by the rule {kind}, which keeps no training samples; remove the option, or fit again \
                 with --rule nearest"
            )));
        }
        let Some(PriorsText(priors)) = &self.priors else { return Ok(rule) };
        let log_priors = match priors {
            // The model does not store the sizes of the classes, only its own priors.
            Priors::Train if file.men.params().rule.priors == Priors::Train => return Ok(rule),
            Priors::Train => {
                return Err(Failure::Usage(format!(
                    "--priors train: the model was fitted with other priors, and the rule {kind} does not store how frequent \
                     the classes were; give one number per class"
                )));
            }
            other => other.logs(&vec![1.0; file.men.classes().len()])?,
        };
        match &mut rule {
            LearnedRule::Centroid(rule) => rule.log_priors = log_priors,
            LearnedRule::Gaussian(rule) => rule.log_priors = log_priors,
            LearnedRule::Nearest(_) => {}
        }
        Ok(rule)
    }

    /// One row per sample, with its name if it has one, and how many values of the panel it lacks if it may lack some.
    fn write(
        &self,
        table: &Table,
        decided: &Decisions,
        names: &[String],
        missing: Option<&[usize]>,
    ) -> Result<(), Failure> {
        let mut header = vec!["label".to_owned(), "probability".to_owned()];
        header.extend(missing.map(|_| "missing".to_owned()));
        if self.probabilities {
            header.extend(names.iter().map(|name| format!("probability:{name}")));
        }
        if let Some(ids) = &table.ids {
            header.insert(0, ids.name.clone());
        }
        let rows = decided.classes.iter().enumerate().map(|(i, &class)| {
            // Rust's debug format writes 1e-300, not 300 zeros.
            let probability = |class: usize| format!("{:?}", decided.log_probabilities[(i, class)].exp());
            let id = table.ids.as_ref().map(|ids| ids.values[i].clone());
            let all = (0..names.len()).filter(|_| self.probabilities).map(probability);
            let lacks = missing.map(|missing| missing[i].to_string());
            id.into_iter().chain([names[class].clone(), probability(class)]).chain(lacks).chain(all).collect()
        });
        Ok(menet_io::write::csv_rows(&self.out, &header, rows)?)
    }

    fn warn(&self, context: &Context, agreement: &Agreement, n: usize) {
        let Agreement { seen, unknown, .. } = agreement;
        if !unknown.is_empty() {
            context.notice(format_args!(
                "labels of the data that are not classes of the model: {}",
                menet_io::formats::list(unknown)
            ));
        }
        if *seen > 0 {
            let others = match agreement.new_known {
                0 => String::new(),
                known => {
                    let rate = 100.0 * agreement.new_right as f64 / known as f64;
                    format!("; {rate:.1}% of the {known} other samples are predicted correctly")
                }
            };
            context.notice(format_args!(
                "the model was fitted to {seen} of these {n} samples; recognising them says nothing about new samples (see \
                 menet split){others}"
            ));
        }
    }

    fn print_summary(
        &self,
        context: &Context,
        agreement: &Agreement,
        doubts: &SampleDoubts,
        names: &[String],
    ) -> Result<(), Failure> {
        let n = doubts.missing.len();
        let &Agreement { known, right, seen, ref unknown, scored, ref scores, .. } = agreement;
        let rate = (known > 0).then(|| 100.0 * right as f64 / known as f64);
        if self.out.as_os_str() == "-" {
            return Ok(());
        }
        if context.json {
            let mut report = json!({
                "n": n, "rate": rate, "labelled": known, "training_samples": seen, "unknown_labels": unknown,
                "scored": scored, "without_panel": doubts.unknown().count(), "far_outside": doubts.far.len(),
            });
            if let (Some(report), Some(scores)) = (report.as_object_mut(), scores) {
                report.extend(scores_json(scores, names));
            }
            return text::print(report);
        }
        let of = if known < n { format!(" of the {known} labelled ones") } else { String::new() };
        let rate = rate.map_or_else(String::new, |rate| format!(", {rate:.1}%{of} correct"));
        let balanced = scores
            .as_ref()
            .map_or_else(String::new, |scores| format!(", balanced accuracy {:.1}%", scores.balanced));
        context.say(format_args!("{n} samples classified{rate}{balanced}: {}", self.out.display()))
    }
}

/// All scores except the rate, which also counts labels that are not classes of the model.
fn scores_json(scores: &Scores, names: &[String]) -> Map<String, Value> {
    let recalls: Vec<Value> = names
        .iter()
        .zip(&scores.recalls)
        .map(|(class, recall)| json!({ "class": class, "recall": recall }))
        .collect();
    let mut all = Map::new();
    all.insert("balanced".to_owned(), json!(scores.balanced));
    all.insert("recalls".to_owned(), json!(recalls));
    all.insert("confusion".to_owned(), json!({ "classes": names, "counts": scores.confusion }));
    all.insert("log_loss".to_owned(), json!(scores.log_loss));
    all.insert("auc".to_owned(), json!(scores.auc));
    all
}

fn agreement(
    file: &ModelFile,
    table: &Table,
    fingerprints: &[u64],
    decided: &Decisions,
) -> Result<Agreement, Failure> {
    let names: Vec<String> = file.men.classes().iter().map(|name| labels::normal(name)).collect();
    let given = table.labels.as_deref().unwrap_or_default();
    let mut seen = file.seen(fingerprints);
    // Where variables of the fit are not there, no sample is recognised.
    seen.resize(decided.classes.len(), false);
    let found = &decided.classes;
    let count = |wanted: &dyn Fn(bool, bool) -> bool| {
        let right = |label: &String, class: usize| names[class] == *label;
        let all = given.iter().zip(found).zip(&seen).filter(|((label, _), _)| !label.is_empty());
        all.filter(|((label, class), seen)| wanted(right(label, **class), **seen)).count()
    };
    // If the decision has the same label as the sample, it is taken as the true class. So neither of two classes that are the
    // same number is counted as wrong for the other.
    let class_of = |i: usize| match names[found[i]] == given[i] {
        true => Some(found[i]),
        false => names.iter().position(|name| *name == given[i]),
    };
    let (rows, truth): (Vec<usize>, Vec<usize>) =
        (0..given.len()).filter(|&i| !given[i].is_empty()).filter_map(|i| Some((i, class_of(i)?))).unzip();
    let scores = match rows.len() {
        0 => None,
        _ => Some(scores_of_rows(&rows, &truth, found, decided.log_probabilities.as_ref())?),
    };
    Ok(Agreement {
        known: count(&|_, _| true),
        right: count(&|right, _| right),
        new_known: count(&|_, seen| !seen),
        new_right: count(&|right, seen| right && !seen),
        seen: seen.iter().filter(|seen| **seen).count(),
        unknown: labels::unknown(given, file.men.classes()).into_iter().map(str::to_owned).collect(),
        scored: rows.len(),
        scores,
    })
}

fn scores_of_rows(
    rows: &[usize],
    truth: &[usize],
    found: &[usize],
    log_probabilities: MatRef<'_, f64>,
) -> Result<Scores, Failure> {
    let given: Vec<usize> = rows.iter().map(|&i| found[i]).collect();
    let classes = log_probabilities.ncols();
    let of_rows = Mat::from_fn(rows.len(), classes, |i, c| log_probabilities[(rows[i], c)]);
    Ok(scores_of(truth, &given, classes, Some(of_rows.as_ref()))?)
}
