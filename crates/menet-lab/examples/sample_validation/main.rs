//! Writes reports of made-up validations, to look at and to test in a browser:
//! `cargo run --release -p menet-lab --example sample_validation -- folder [--plain]`.
//!
//! The models are real fits of built-in data. The scores of MEN come from a small cross-validation; what it is compared with, the intervals
//! and the permuted labels are made up. Names would run as scripts if anything forgot to escape them, unless `--plain` is given.
//! `expected.json` has, for every page, samples as text and what the core computes for them: `scripts/test_validation.py` compares.

mod expected;
mod made_up;

use std::error::Error;
use std::path::PathBuf;

use faer::Mat;
use menet::evaluate::{generator, subset};
use menet::rules::{Metric, Priors, RuleKind};
use menet::{Dataset, MenParams, fit};
use menet_io::{ReadOptions, read};
use menet_lab::report::validation::html;
use menet_lab::validate::Validation;
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
            let mut page = expected::expected(&models.all, data)?;
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
                it.rule.kind = Some(rule);
                it.rule.k = voters;
                it.rule.metric = Some(metric);
                it.rule.priors = priors;
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
