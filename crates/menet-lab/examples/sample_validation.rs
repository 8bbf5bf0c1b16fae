//! Writes reports of made-up validations, to look at and to test in a browser:
//! `cargo run --release -p menet-lab --example sample_validation -- folder [--plain]`.
//!
//! The models are real fits of built-in data. The scores of MEN come from a small cross-validation; what it is compared with, the intervals
//! and the permuted labels are made up. Names would run as scripts if anything forgot to escape them, unless `--plain` is given.
//! `expected.json` has, for every page, samples as text and what the core computes for them: `scripts/test_validation.py` compares.

use std::error::Error;
use std::path::PathBuf;

use faer::Mat;
use menet::evaluate::{Split, generator, stratified_folds, subset};
use menet::rules::{Metric, Priors, RuleKind};
use menet::scores::scores_of;
use menet::{Dataset, Men, MenParams, fit};
use menet_io::{ReadOptions, read};
use menet_lab::report::validation::html;
use menet_lab::validate::{
    Assessed, Design, Interval, Models, PanelEntry, PermutationTest, RepeatRow, SampleResult, SizeRow,
    StabilityFound, Validation,
};
use rand::RngExt;
use serde_json::{Value, json};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Names that try to get out of wherever they are put; the last would be computed by a spreadsheet.
const HOSTILE: [&str; 6] = [
    "<img src=x onerror=window.hacked=1>",
    "</script><script>window.hacked=1</script>",
    "\"><svg onload=window.hacked=1>",
    "<a href=\"javascript:window.hacked=1\">$x$, & 'y'\u{2028}</a>",
    "\u{202e}{{window.hacked=1}} ${window.hacked=1} %{x} <!--",
    "=HYPERLINK(\"https://example.org\",\"x\")@",
];

/// What is written, and for whom.
struct Pages {
    folder: PathBuf,
    hostile: bool,
    expected: Vec<Value>,
}

fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().ok_or("give a folder to write to")?);
    let hostile = !arguments.any(|argument| argument == "--plain");
    std::fs::create_dir_all(&folder)?;
    let mut pages = Pages { folder, hostile, expected: Vec::new() };

    let mut genes = read("leukemia", &ReadOptions::default())?;
    let mut labels = genes.labels.take().ok_or("leukemia has labels")?;
    if hostile {
        labels
            .iter_mut()
            .for_each(|label| *label = format!("{}{label}", HOSTILE[label.len() % HOSTILE.len()]));
        genes.feature_names =
            Some((0..genes.columns).map(|j| format!("{}{j}", HOSTILE[j % HOSTILE.len()])).collect());
    }
    genes.labels = Some(labels);
    let data = genes.dataset()?;
    let panel = MenParams::default().with(|it| it.panel_size = Some(30));
    let validation = pages.validation("leukemia", &data, &panel)?;
    pages.write("report", &validation, &data)?;
    pages.rules(&validation, &data, &panel)?;
    pages.bare(&validation, &data)?;

    // Two classes have one axis.
    let two: Vec<&str> =
        data.class_indices().iter().map(|&class| if class == 0 { "first" } else { "other" }).collect();
    let two = Dataset::new(data.x()?, &two)?
        .with_feature_names(data.feature_names().unwrap_or_default().to_vec())?;
    let validation = pages.validation("two classes", &two, &panel)?;
    pages.write("strip", &validation, &two)?;

    let faces = read("orl", &ReadOptions::default())?;
    let faces = faces.dataset()?;
    let few = MenParams::default().with(|it| it.nonzeros = Some(30));
    let validation = pages.validation("orl", &faces, &few)?;
    pages.write("images", &validation, &faces)?;

    let spectra = spectra()?;
    let validation = pages.validation("spectra", &spectra, &few)?;
    pages.write("spectra", &validation, &spectra)?;

    std::fs::write(pages.folder.join("expected.json"), serde_json::to_string(&pages.expected)?)?;
    println!("{}", pages.folder.display());
    Ok(())
}

impl Pages {
    /// A page, and what is expected of it.
    fn write(&mut self, name: &str, validation: &Validation, data: &Dataset<'_>) -> Outcome<()> {
        let link = Some("https://example.org/gene?q={name}");
        std::fs::write(self.folder.join(format!("{name}.html")), html(validation, data, link)?)?;
        if let Some(models) = &validation.models {
            let mut page = expected(&models.all, data)?;
            page["page"] = name.into();
            page["panel"] = validation.panel.iter().map(|entry| json!([entry.name, entry.effect])).collect();
            page["methods"] = validation.methods.len().into();
            page["words"] = validation.words.join("\n\n").into();
            self.expected.push(page);
        }
        Ok(())
    }

    /// The same with other rules.
    fn rules(&mut self, validation: &Validation, data: &Dataset<'_>, panel: &MenParams) -> Outcome<()> {
        let rules: [(&str, RuleKind, usize, Metric, Priors); 6] = [
            ("nearest", RuleKind::Nearest, 1, Metric::Euclidean, Priors::Train),
            ("cosine", RuleKind::Nearest, 1, Metric::Cosine, Priors::Equal),
            ("voters", RuleKind::Nearest, 5, Metric::Euclidean, Priors::Train),
            ("voters-cosine", RuleKind::Nearest, 4, Metric::Cosine, Priors::Equal),
            ("centroid", RuleKind::Centroid, 1, Metric::Euclidean, Priors::Train),
            ("gaussian", RuleKind::Gaussian, 1, Metric::Euclidean, Priors::Given(vec![0.7, 0.2, 0.1])),
        ];
        for (name, rule, voters, metric, priors) in rules {
            let params = panel.clone().with(|it| {
                it.rule = Some(rule);
                it.voters = voters;
                it.metric = Some(metric);
                it.priors = priors;
            });
            let mut other = validation.clone();
            if let Some(models) = &mut other.models {
                models.all = fit(data, &params, &())?;
                models.fold = fit(&subset(data, &models.split.train)?, &params, &())?;
            }
            self.write(&format!("rule-{name}"), &other, data)?;
        }
        Ok(())
    }

    /// A validation of another method than MEN, which nothing was asked of besides.
    fn bare(&self, validation: &Validation, data: &Dataset<'_>) -> Outcome<()> {
        let mut bare = Validation {
            methods: vec![validation.methods[1].clone()],
            permutation: None,
            stability: None,
            sizes: Vec::new(),
            panel: Vec::new(),
            models: None,
            words: Vec::new(),
            ..validation.clone()
        };
        bare.methods[0].samples.iter_mut().for_each(|sample| sample.probabilities.clear());
        bare.methods[0].auc = None;
        std::fs::write(self.folder.join("bare.html"), html(&bare, data, None)?)?;
        Ok(())
    }

    fn named(&self, place: usize, plain: &str) -> String {
        if self.hostile { format!("{}{plain}", HOSTILE[place % HOSTILE.len()]) } else { plain.to_owned() }
    }

    /// A validation with a real cross-validation of MEN.
    fn validation(&self, name: &str, data: &Dataset<'_>, params: &MenParams) -> Outcome<Validation> {
        let mut rng = generator(1, &[7]);
        let (n, c) = (data.samples(), data.classes().len());
        let mut folds: Vec<(Split, Men)> = Vec::new();
        let mut samples: Vec<SampleResult> = (0..n)
            .map(|i| SampleResult {
                row: i,
                name: (i % 9 != 8).then(|| self.named(i, &format!("sample {i}"))),
                class: data.class_of(i),
                tested: 0,
                wrong: 0,
                given: vec![0; c],
                probabilities: vec![0.0; c],
            })
            .collect();
        for split in stratified_folds(data, 4, &mut rng)? {
            let men = fit(&subset(data, &split.train)?, params, &())?;
            let tested = subset(data, &split.test)?;
            let z = men.projection().project(&tested)?;
            let (given, logs) =
                (men.rule()?.classify(z.as_ref())?, men.rule()?.log_probabilities(z.as_ref())?);
            for (k, &i) in split.test.iter().enumerate() {
                let sample = &mut samples[i];
                sample.tested += 1;
                sample.wrong += usize::from(given[k] != sample.class);
                sample.given[given[k]] += 1;
                sample.probabilities = (0..c).map(|class| logs[(k, class)].exp()).collect();
            }
            folds.push((split, men));
        }
        let men = assessed(&self.named(0, "men"), samples.clone(), data)?;
        let other = |name: &str, every: usize| {
            let mut samples = samples.clone();
            for sample in samples.iter_mut().step_by(every) {
                let wrong = (sample.class + 1) % c;
                sample.given = vec![0; c];
                sample.given[wrong] = 1;
                sample.wrong = sample.tested;
                sample.probabilities =
                    (0..c).map(|class| if class == wrong { 0.9 } else { 0.1 / (c - 1) as f64 }).collect();
            }
            assessed(&self.named(1, name), samples, data)
        };
        let methods = vec![men, other("l1-logistic", 9)?, other("random-forest", 6)?];
        let all = fit(data, params, &())?;
        let stability = self.stability(data, params, &all)?;
        let panel = panel(&all, data, &folds, &stability);
        let chance = 1.0 / c as f64;
        let permuted: Vec<f64> =
            (0..199).map(|_| chance + 0.12 * (rng.random::<f64>() + rng.random::<f64>() - 1.0)).collect();
        let sizes =
            [2.0, 4.2, 7.8, 15.5, 31.0, 62.2, 110.0].iter().enumerate().map(|(k, &variables)| SizeRow {
                variables,
                balanced: [0.71, 0.83, 0.9, 0.92, 0.94, 0.935, 0.93][k],
                standard_error: 0.03,
                chosen: k == 3,
                best: k == 4,
            });
        let (split, fold) = folds.swap_remove(0);
        Ok(Validation {
            data: self.named(2, name),
            classes: data.classes().to_vec(),
            class_sizes: (0..c).map(|class| data.members(class).len()).collect(),
            variables: data.variables(),
            design: Design { folds: 4, repeats: 1, inner_folds: 3, groups: None, leave_one_group_out: false, seed: 1 },
            permutation: Some(PermutationTest {
                observed: methods[0].balanced.mean,
                permuted,
                as_good: 0,
                p_value: Interval { mean: 0.005, low: 0.0, high: 0.018 },
                asked: 999,
                early: true,
            }),
            methods,
            stability: Some(stability),
            sizes: sizes.collect(),
            panel,
            models: Some(Models { all, split, fold }),
            words: vec![
                self.named(3, "Scores were estimated by nested, stratified cross-validation (made-up text of a sample page)."),
                "Intervals are Nadeau and Bengio's. The seed was 1; menet 0.1.0.".to_owned(),
            ],
            run: self.named(1, "command = \"menet validate --data leukemia\"\nseed = 1\nmenet = \"0.1.0\"\n"),
            seconds: 42.0,
        })
    }

    /// The selections of a few half-samples.
    fn stability(&self, data: &Dataset<'_>, params: &MenParams, all: &Men) -> Outcome<StabilityFound> {
        const HALVES: usize = 12;
        let mut counts = vec![0_usize; data.variables()];
        let mut rng = generator(2, &[]);
        for _ in 0..HALVES / 2 {
            for split in stratified_folds(data, 2, &mut rng)? {
                fit(&subset(data, &split.train)?, params, &())?
                    .panel()
                    .into_iter()
                    .for_each(|j| counts[j] += 1);
            }
        }
        let mut frequencies: Vec<(usize, f64)> = counts
            .iter()
            .enumerate()
            .filter(|(_, n)| **n > 0)
            .map(|(j, &n)| (j, n as f64 / HALVES as f64))
            .collect();
        frequencies.sort_by(|a, b| b.1.total_cmp(&a.1));
        let size = all.panel().len();
        let at = |k: usize| Interval {
            mean: 0.3 + 0.03 * k as f64,
            low: 0.2 + 0.03 * k as f64,
            high: 0.42 + 0.03 * k as f64,
        };
        Ok(StabilityFound {
            half_samples: HALVES,
            size,
            index: at(8),
            by_size: (1..=16).map(|k| (k * size.div_ceil(8), at(k))).collect(),
            stable_frequencies: frequencies.clone(),
            stable_size: size,
            threshold: 0.75,
            stable: frequencies.iter().filter(|(_, f)| *f >= 0.75).map(|(j, _)| *j).collect(),
            frequencies,
            false_selections: vec![
                (self.named(4, "Meinshausen and Bühlmann: exchangeable selection"), 1.25),
                ("Shah and Samworth: unimodal".to_owned(), 0.5),
            ],
        })
    }
}

fn assessed(name: &str, samples: Vec<SampleResult>, data: &Dataset<'_>) -> Outcome<Assessed> {
    let c = data.classes().len();
    let mut confusion = vec![vec![0; c]; c];
    for sample in &samples {
        sample.given.iter().enumerate().for_each(|(class, n)| confusion[sample.class][class] += n);
    }
    let decided: Vec<usize> =
        samples.iter().map(|s| s.given.iter().position(|&n| n > 0).unwrap_or(s.class)).collect();
    let logs = Mat::from_fn(samples.len(), c, |i, class| samples[i].probabilities[class].max(1e-300).ln());
    let scores = scores_of(data.class_indices(), &decided, c, Some(logs.as_ref()))?;
    let about = |mean: f64, half: f64| Interval {
        mean,
        low: (mean - half).max(0.0),
        high: (mean + half / 2.0).min(1.0),
    };
    let recalls =
        scores.recalls.iter().map(|recall| recall.map(|recall| about(recall / 100.0, 0.1))).collect();
    let (balanced, rate) = (scores.balanced / 100.0, scores.rate / 100.0);
    let row =
        RepeatRow { repeat: 0, balanced, rate, auc: scores.auc, log_loss: scores.log_loss, variables: 30.0 };
    Ok(Assessed {
        name: name.to_owned(),
        balanced: about(balanced, 0.08),
        rate: about(rate, 0.07),
        auc: scores.auc.map(|auc| about(auc, 0.03)),
        log_loss: scores.log_loss.map(|loss| Interval { mean: loss, low: 0.8 * loss, high: 1.3 * loss }),
        recalls,
        confusion,
        samples,
        repeats: vec![row],
        variables: 30.0,
        choices: Vec::new(),
    })
}

fn panel(
    all: &Men,
    data: &Dataset<'_>,
    folds: &[(Split, Men)],
    stability: &StabilityFound,
) -> Vec<PanelEntry> {
    let rows = all.panel_table().into_iter();
    rows.map(|row| {
        let known = all.parts().panel.iter().find(|known| known.variable == row.variable);
        let used = folds.iter().filter(|(_, men)| men.panel().contains(&row.variable)).count();
        let frequency =
            stability.frequencies.iter().find(|(j, _)| *j == row.variable).map_or(0.0, |(_, f)| *f);
        PanelEntry {
            variable: row.variable,
            name: data
                .feature_names()
                .map_or_else(|| row.variable.to_string(), |names| names[row.variable].clone()),
            frequency: Some(frequency),
            folds: used as f64 / folds.len() as f64,
            entered: row.entered,
            weights: all.projection().axes().iter().map(|axis| axis.get(row.variable)).collect(),
            deviation: known.and_then(|known| known.deviation),
            effect: row.effect,
            class: row.class,
            stable: stability.stable.contains(&row.variable),
        }
    })
    .collect()
}

/// Samples near those of the data, as text in several forms, and what the core says of them.
fn expected(men: &Men, data: &Dataset<'_>) -> Outcome<Value> {
    let (x, n, p) = (data.x()?, data.samples(), data.variables());
    let rows = [1, n / 2, n - 1];
    let new = Mat::from_fn(rows.len() + 1, p, |i, j| match rows.get(i) {
        Some(&row) => x[(row, j)] * 1.03 + 0.001 * ((j * 31 + i) % 17) as f64,
        // Far from all others.
        None => x[(0, j)] * -7.5 + 3.0,
    });
    let z = men.transform(new.as_ref())?;
    let (given, logs) = (men.rule()?.classify(z.as_ref())?, men.rule()?.log_probabilities(z.as_ref())?);
    let line = |i: usize, columns: &[usize], separator: &str| {
        let values: Vec<String> = columns.iter().map(|&j| format!("{:?}", new[(i, j)])).collect();
        values.join(separator)
    };
    let everything: Vec<usize> = (0..p).collect();
    let mut texts = vec![line(0, &everything, ","), line(1, &everything, " ")];
    if let Some(names) = data.feature_names() {
        // In another order than the model's.
        let panel: Vec<usize> = men.panel().into_iter().rev().collect();
        let quoted: Vec<String> =
            panel.iter().map(|&j| format!("\"{}\"", names[j].replace('"', "\"\""))).collect();
        let lines: Vec<String> =
            (0..new.nrows()).map(|i| format!("new {i};{}", line(i, &panel, ";"))).collect();
        texts.push(format!("id;{}\r\n{}\r\n", quoted.join(";"), lines.join("\r\n")));
    } else {
        texts.push((0..new.nrows()).map(|i| line(i, &everything, "\t")).collect::<Vec<_>>().join("\n"));
    }
    let samples = (0..new.nrows()).map(|i| {
        json!({
            "scores": z.row(i).iter().copied().collect::<Vec<f64>>(),
            "class": given[i],
            "probabilities": logs.row(i).iter().map(|log| log.exp()).collect::<Vec<f64>>(),
        })
    });
    Ok(json!({
        "rule": men.rule()?.kind(),
        "classes": data.classes().len(),
        "variables": p,
        "named": data.feature_names().is_some(),
        "samples": samples.collect::<Value>(),
        // One sample, the next, and all of them.
        "texts": texts,
    }))
}

/// Spectra of three classes: peaks at different wavelengths.
fn spectra() -> Outcome<Dataset<'static>> {
    let mut rng = generator(3, &[]);
    let labels: Vec<&str> = (0..90).map(|i| ["barley", "oat", "wheat"][i % 3]).collect();
    let at = |j: usize| 400.0 + 2.5 * j as f64;
    let peak = |x: f64, centre: f64, width: f64| (-((x - centre) / width).powi(2)).exp();
    let x = Mat::from_fn(90, 300, |i, j| {
        let own = [520.0, 700.0, 910.0][i % 3];
        0.4 + peak(at(j), 650.0, 200.0) + 0.25 * peak(at(j), own, 18.0) + 0.1 * rng.random::<f64>()
    });
    let names = (0..300).map(|j| format!("{}", at(j))).collect();
    Ok(Dataset::from_owned(x, &labels)?.with_feature_names(names)?)
}
