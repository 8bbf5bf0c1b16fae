//! The figures of validations: everything is drawn, is well-formed, hostile names stay text, and what there is not is left out. The
//! results are made up around models that are fitted, since the figures show what they are given. The files stay in `target/tmp`, to
//! be looked at.

use std::path::{Path, PathBuf};

use faer::Mat;
use menet::evaluate::{generator, stratified_folds, subset};
use menet::{Dataset, MenParams, fit};
use menet_io::{ReadOptions, read};
use menet_lab::figures;
use menet_lab::validate::{
    Design, Interval, MethodResult, Models, PanelEntry, PermutationTest, RepeatRow, SampleResult, SizeRow,
    StabilityFound, Validation,
};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use crate::common::opened;

const HOSTILE: &str =
    "<img src=x onerror=window.hacked=1></script><script>window.hacked=1</script>$a$\u{202e}\u{1}";

fn interval(mean: f64, half: f64) -> Interval {
    Interval { mean, low: mean - half, high: (mean + half).min(1.0) }
}

/// A method that is right as often as `skill` says.
fn assessed(name: &str, data: &Dataset<'_>, skill: f64, seed: u64) -> MethodResult {
    let mut rng = Pcg64::seed_from_u64(seed);
    let classes = data.classes().len();
    let mut confusion = vec![vec![0; classes]; classes];
    let samples = (0..data.samples())
        .map(|row| {
            let class = data.class_of(row);
            let mut weights: Vec<f64> = (0..classes).map(|_| rng.random::<f64>()).collect();
            weights[class] += skill;
            let sum: f64 = weights.iter().sum();
            let probabilities: Vec<f64> = weights.iter().map(|weight| weight / sum).collect();
            let given = (0..classes).max_by(|&a, &b| probabilities[a].total_cmp(&probabilities[b])).unwrap();
            confusion[class][given] += 10;
            let mut times = vec![0; classes];
            times[given] = 10;
            let wrong = if given == class { 0 } else { 10 };
            SampleResult { row, name: None, class, tested: 10, wrong, given: times, probabilities }
        })
        .collect();
    let recalls: Vec<f64> = (0..classes)
        .map(|c| confusion[c][c] as f64 / confusion[c].iter().sum::<usize>().max(1) as f64)
        .collect();
    let balanced = recalls.iter().sum::<f64>() / classes as f64;
    let repeat =
        |repeat| RepeatRow { repeat, balanced, rate: balanced, auc: None, log_loss: None, variables: 9.0 };
    MethodResult {
        name: name.to_owned(),
        balanced: interval(balanced, 0.05),
        rate: interval(balanced, 0.04),
        auc: Some(interval(0.9, 0.06)),
        log_loss: Some(interval(0.4, 0.1)),
        recalls: recalls.into_iter().map(|recall| Some(interval(recall, 0.1))).collect(),
        confusion,
        samples,
        repeats: (0..10).map(repeat).collect(),
        variables: 9.4,
        choices: Vec::new(),
    }
}

/// A validation of a model with so many variables per axis.
fn validation(name: &str, data: &Dataset<'_>, params: &MenParams) -> Validation {
    let all = fit(data, params, &()).unwrap();
    let split = stratified_folds(data, 4, &mut generator(1, &[2])).unwrap().swap_remove(0);
    let fold = fit(&subset(data, &split.train).unwrap(), params, &()).unwrap();
    let names = data.feature_names();
    let frequency = |place: usize| 0.99 * (-(place as f64) / 25.0).exp();
    let rows = all.panel_table();
    let deviation = |variable| all.parts().panel.iter().find(|v| v.variable == variable).unwrap().deviation;
    let panel: Vec<PanelEntry> = rows
        .iter()
        .enumerate()
        .map(|(place, row)| PanelEntry {
            variable: row.variable,
            name: names.map_or_else(|| row.variable.to_string(), |names| names[row.variable].clone()),
            frequency: Some(frequency(place)),
            folds: frequency(place),
            entered: row.entered,
            weights: all.projection().axes().iter().map(|axis| axis.get(row.variable)).collect(),
            deviation: deviation(row.variable),
            effect: row.effect,
            class_means: row.class_means.clone(),
            higher_in: row.higher_in,
            class: row.class,
            stable: frequency(place) > 0.6,
        })
        .collect();
    let mut rng = Pcg64::seed_from_u64(3);
    let chance = 1.0 / data.classes().len() as f64;
    let permuted: Vec<f64> = (0..200)
        .map(|_| chance + 0.15 * ((0..6).map(|_| rng.random::<f64>()).sum::<f64>() / 3.0 - 1.0))
        .collect();
    let others = (0..data.variables()).filter(|j| panel.iter().all(|entry| entry.variable != *j));
    let frequencies: Vec<(usize, f64)> = panel
        .iter()
        .map(|entry| entry.variable)
        .chain(others.take(30))
        .enumerate()
        .map(|(place, j)| (j, frequency(place)))
        .collect();
    let size = panel.len();
    let sizes: Vec<usize> = [1, 2, 3, 5, 8, 12, 20, 30, 50, 80].into_iter().chain([size, 7]).collect();
    let mut by_size: Vec<(usize, Interval)> =
        sizes.iter().map(|&size| (size, interval(0.3 + 0.1 * (size as f64).ln(), 0.08))).collect();
    by_size.sort_by_key(|&(size, _)| size);
    by_size.dedup_by_key(|&mut (size, _)| size);
    let row = |place: usize| SizeRow {
        variables: [1.0, 2.4, 5.0, 11.2, 19.5, 48.0, 95.0][place],
        balanced: [0.55, 0.71, 0.86, 0.93, 0.945, 0.95, 0.94][place],
        standard_error: 0.02,
        chosen: place == 3,
        best: place == 5,
    };
    Validation {
        data: name.to_owned(),
        classes: data.classes().to_vec(),
        class_sizes: (0..data.classes().len()).map(|class| data.members(class).len()).collect(),
        variables: data.variables(),
        design: Design {
            folds: 5,
            repeats: 10,
            inner_folds: 5,
            groups: None,
            copies: 0,
            leave_one_group_out: false,
            seed: 0,
        },
        copies: None,
        methods: vec![
            assessed("men", data, 0.6, 5),
            assessed("anova-lda", data, 0.5, 6),
            assessed("pca", data, 0.3, 7),
        ],
        permutation: Some(PermutationTest {
            observed: 0.91,
            permuted,
            as_good: 0,
            p_value: Interval { mean: 0.00498, low: 0.0001, high: 0.0183 },
            asked: 1000,
            early: true,
            failed: 0,
            arrangements: 1_000_000,
            exchanged: None,
        }),
        stability: Some(StabilityFound {
            half_samples: 100,
            selectable: data.variables(),
            size,
            index: interval(0.62, 0.07),
            by_size,
            frequencies: frequencies.clone(),
            stable_size: 7,
            threshold: 0.6,
            stable: frequencies.iter().filter(|&&(_, f)| f >= 0.6).map(|&(j, _)| j).collect(),
            stable_frequencies: frequencies.iter().map(|&(j, f)| (j, f.powf(0.9))).collect(),
            false_selections: vec![("exchangeable".to_owned(), 0.83), ("unimodal".to_owned(), 0.21)],
        }),
        sizes: (0..7).map(row).collect(),
        panel,
        models: Some(Models { all, split, fold }),
        words: Vec::new(),
        run: String::new(),
        seconds: 1.0,
    }
}

fn built_in(name: &str) -> Dataset<'static> {
    let table = read(name, &ReadOptions::default()).unwrap();
    let mut data = Dataset::from_owned(table.matrix().unwrap().to_owned(), &table.labels.unwrap()).unwrap();
    if let Some(names) = table.feature_names {
        data = data.with_feature_names(names).unwrap();
    }
    match table.image_shape {
        Some((height, width)) => data.with_image_shape(height, width).unwrap(),
        None => data,
    }
}

/// Writes all figures, reads them back and returns their names.
fn drawn(folder: &str, validation: &Validation, data: &Dataset<'_>) -> Vec<String> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("validation").join(folder);
    let files = figures::write_validation(validation, data, &opened(&folder), &()).unwrap();
    let values = menet_lab::charts::values(validation, data).unwrap();
    assert_eq!(2 * values.len(), files.len(), "a value per figure, which is an SVG and a PNG");
    values.iter().for_each(|(name, value)| is_plain(name, value));
    for file in &files {
        let bytes = std::fs::read(file).unwrap();
        match file.extension().unwrap().to_str().unwrap() {
            "svg" => {
                let text = String::from_utf8(bytes).unwrap();
                let svg =
                    roxmltree::Document::parse(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
                assert_eq!(svg.root_element().tag_name().name(), "svg");
                let mut attributes = svg.descendants().flat_map(|node| node.attributes());
                // Base64 may spell it too.
                let bad = attributes
                    .find(|a| a.name() != "href" && (a.value().contains("NaN") || a.value().contains("inf")));
                assert_eq!(bad, None, "{}", file.display());
                assert!(text.len() < 3_000_000, "{}: {} bytes", file.display(), text.len());
            }
            _ => assert!(bytes.starts_with(b"\x89PNG") && bytes.len() > 5000, "{}", file.display()),
        }
    }
    let stem = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
    files.iter().map(|path| stem(path)).step_by(2).collect()
}

/// The contract of every chart's value: all numbers are finite, and names cannot rearrange the text around them.
fn is_plain(chart: &str, value: &serde_json::Value) {
    use serde_json::Value;
    match value {
        Value::String(text) => assert!(!text.contains(['\u{202e}', '\u{1}']), "{chart}: {text}"),
        // serde writes a number that is not finite as null.
        Value::Array(parts) => parts.iter().for_each(|part| {
            assert!(!part.is_null(), "{chart}: {value}");
            is_plain(chart, part);
        }),
        Value::Object(fields) => fields.values().for_each(|part| is_plain(chart, part)),
        _ => (),
    }
}

fn svg(validation: &Validation, data: &Dataset<'_>, name: &str) -> String {
    let all = figures::validation::all(validation, data).unwrap();
    all.into_iter().find(|figure| figure.name == name).unwrap_or_else(|| panic!("{name}")).svg
}

const ALWAYS: [&str; 10] = [
    "samples",
    "loadings",
    "heatmap",
    "stability",
    "stability-sizes",
    "selection",
    "permutation",
    "confusion",
    "roc",
    "comparison",
];

fn small() -> MenParams {
    MenParams::default().with(|it| it.nonzeros = Some(10))
}

#[test]
fn genes_are_drawn() {
    let data = built_in("leukemia");
    let found = validation("leukemia", &data, &small());
    let names = drawn("leukemia", &found, &data);
    assert_eq!(names, ALWAYS);
    // The most important variable is named, in full or cut.
    let first: String = found.panel[0].name.chars().take(8).collect();
    for figure in ["loadings", "heatmap", "stability"] {
        assert!(svg(&found, &data, figure).contains(&first), "{figure}");
    }
    let permutation = svg(&found, &data, "permutation");
    assert!(permutation.contains("p = 0.0050 (1.0e-4 to 0.0183)"), "the p-value is in the title");
    assert!(permutation.contains("200 permutations of 1000, stopped early"));
    assert!(svg(&found, &data, "selection").contains("chosen: 11 variables, 93.0 %"));
    assert!(svg(&found, &data, "stability").contains("threshold 60 %"));
}

#[test]
fn images_are_drawn_with_their_panel() {
    for (name, axes) in [("digits", 9), ("orl", 39)] {
        let data = built_in(name);
        let found = validation(name, &data, &small());
        let names = drawn(name, &found, &data);
        assert!(names.contains(&"panel".to_owned()), "{name}");
        assert_eq!(names.len(), ALWAYS.len() + 1);
        let pictures = svg(&found, &data, "panel").matches("<image").count();
        assert_eq!(pictures, axes.min(18) + 1, "one per axis and the key");
    }
}

/// Three kinds of spectra with peaks at different places.
fn spectra() -> Dataset<'static> {
    let mut rng = Pcg64::seed_from_u64(11);
    let labels: Vec<&str> = (0..60).map(|i| ["oak", "birch", "pine"][i % 3]).collect();
    let x = Mat::from_fn(60, 300, |i, j| {
        let peak = |at: f64, width: f64| (-((j as f64 - at) / width).powi(2)).exp();
        let own = 0.4 * peak([90.0, 150.0, 155.0][i % 3], 12.0);
        2.0 * peak(110.0, 60.0) + peak(230.0, 20.0) + own + 0.1 * rng.random::<f64>()
    });
    let names = (0..300).map(|j| format!("{}", 400.0 + 2.5 * f64::from(j))).collect();
    Dataset::from_owned(x, &labels).unwrap().with_feature_names(names).unwrap()
}

#[test]
fn spectra_are_drawn_along_their_axis() {
    let data = spectra();
    let found = validation("spectra", &data, &small());
    assert!(drawn("spectra", &found, &data).contains(&"panel".to_owned()));
    let panel = svg(&found, &data, "panel");
    assert!(panel.contains("axis 1: 20 variables") && panel.contains("birch"));
}

#[test]
fn long_hostile_and_empty_names_stay_text() {
    let mut rng = Pcg64::seed_from_u64(4);
    let class = |i: usize| [format!("{HOSTILE}{HOSTILE}"), String::new(), "c".repeat(300)][i % 3].clone();
    let labels: Vec<String> = (0..45).map(class).collect();
    let x = Mat::from_fn(45, 40, |i, j| if j % 3 == i % 3 { 1.0 } else { 0.0 } + rng.random::<f64>());
    let variable =
        |j: usize| if j == 5 { " ".to_owned() } else { format!("{HOSTILE}{}{j}", "n".repeat(100)) };
    let data = Dataset::from_owned(x, &labels).unwrap();
    let data = data.with_feature_names((0..40).map(variable).collect()).unwrap();
    let mut found = validation(HOSTILE, &data, &small());
    found.methods.iter_mut().for_each(|method| method.name += HOSTILE);
    if let Some(stability) = &mut found.stability {
        stability.false_selections[0].0 = HOSTILE.repeat(3);
    }
    assert_eq!(drawn("hostile", &found, &data), ALWAYS);
    for figure in figures::validation::all(&found, &data).unwrap() {
        assert!(!figure.svg.contains("<img") && !figure.svg.contains("<script"), "{}", figure.name);
        assert!(!figure.svg.contains('\u{202e}'), "{}", figure.name);
        assert!(!figure.svg.contains(&"n".repeat(60)), "{}: names are cut", figure.name);
    }
    assert!(svg(&found, &data, "confusion").contains("(no name)"));
}

#[test]
fn one_axis_is_a_line_per_class() {
    let data = spectra();
    let found = validation("one axis", &data, &small().with(|it| it.components = Some(1)));
    assert!(drawn("one-axis", &found, &data).contains(&"samples".to_owned()));
    let samples = svg(&found, &data, "samples");
    assert!(!samples.contains("axis 2"));
    assert!(["oak", "birch", "pine"].iter().all(|name| samples.contains(name)));
}

#[test]
fn what_there_is_not_is_left_out() {
    let data = spectra();
    let mut found = validation("bare", &data, &small());
    found.permutation = None;
    found.stability = None;
    found.models = None;
    found.methods.truncate(1);
    for sample in &mut found.methods[0].samples {
        sample.probabilities.clear();
    }
    let unknown = Interval { mean: 0.7, low: f64::NAN, high: f64::NAN };
    found.methods[0].balanced = unknown;
    found.sizes.iter_mut().for_each(|row| row.standard_error = f64::NAN);
    assert_eq!(drawn("bare", &found, &data), ["loadings", "panel", "heatmap", "selection", "confusion"]);
    found.panel.clear();
    found.sizes.clear();
    assert_eq!(drawn("bare", &found, &data), ["confusion"]);
}

#[test]
fn results_of_other_data_are_refused() {
    let (data, genes) = (spectra(), built_in("leukemia"));
    let found = validation("spectra", &data, &small());
    let refused = figures::validation::all(&found, &genes).unwrap_err().to_string();
    assert!(refused.contains("`variables` has size 300, but the data ask for 5000"), "{refused}");
    let mut beyond = found.clone();
    beyond.panel[0].variable = 300;
    let refused = figures::validation::all(&beyond, &data).unwrap_err().to_string();
    assert!(refused.contains("variable 300 is beyond the 300 variables"), "{refused}");
}

#[test]
fn figures_depend_on_their_data_alone() {
    let data = spectra();
    let found = validation("spectra", &data, &small());
    let first = figures::validation::all(&found, &data).unwrap();
    assert_eq!(first, figures::validation::all(&found, &data).unwrap());
}
