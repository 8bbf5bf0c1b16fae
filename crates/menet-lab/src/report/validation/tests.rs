//! The page without a browser: what is missing is left out, what does not fit is refused, names stay text.

use faer::Mat;
use menet::evaluate::{Split, subset};
use menet::{MenParams, fit};

use super::*;
use crate::validate::{Design, Interval, Models, PanelEntry};

const HOSTILE: &str =
    "<img src=x onerror=window.hacked=1></script><script>window.hacked=1</script>$a$\u{202e}\u{1}";

fn data(name: fn(usize) -> String) -> Dataset<'static> {
    let labels: Vec<String> = (0..30).map(|i| format!("{HOSTILE}{}", i % 3)).collect();
    let x = Mat::from_fn(30, 12, |i, j| {
        ((i * 7 + j * 13 + i * j) % 11) as f64 / 7.0 + if j == i % 3 { 3.0 } else { 0.0 }
    });
    Dataset::from_owned(x, &labels).unwrap().with_feature_names((0..12).map(name).collect()).unwrap()
}

fn validation(data: &Dataset<'_>) -> Validation {
    let all = fit(data, &MenParams::default(), &()).unwrap();
    let (test, train): (Vec<usize>, Vec<usize>) = (0..30).partition(|i| i % 5 == 0);
    let fold = fit(&subset(data, &train).unwrap(), &MenParams::default(), &()).unwrap();
    let about = |mean: f64| Interval { mean, low: mean - 0.1, high: mean + 0.05 };
    let sample = |i: usize| SampleResult {
        row: i,
        name: (i > 0).then(|| format!("{HOSTILE}{i}")),
        class: data.class_of(i),
        tested: 1,
        wrong: usize::from(i < 2),
        given: (0..3).map(|c| usize::from(c == data.class_of(i))).collect(),
        probabilities: (0..3).map(|c| if c == data.class_of(i) { 0.8 } else { 0.1 }).collect(),
    };
    let panel = all.panel_table().into_iter().map(|row| PanelEntry {
        variable: row.variable,
        name: data.feature_names().unwrap()[row.variable].clone(),
        frequency: None,
        folds: 0.5,
        entered: row.entered,
        weights: all.projection().axes().iter().map(|axis| axis.get(row.variable)).collect(),
        deviation: Some(1.0),
        effect: row.effect,
        class_means: row.class_means,
        higher_in: row.higher_in,
        class: row.class,
        stable: false,
    });
    Validation {
        data: HOSTILE.to_owned(),
        classes: data.classes().to_vec(),
        class_sizes: vec![10; 3],
        variables: 12,
        design: Design {
            folds: 5,
            repeats: 1,
            inner_folds: 0,
            groups: Some(4),
            copies: 0,
            leave_one_group_out: true,
            seed: 3,
        },
        copies: None,
        methods: vec![MethodResult {
            name: HOSTILE.to_owned(),
            balanced: about(0.35),
            rate: about(0.35),
            auc: None,
            log_loss: None,
            recalls: vec![Some(about(0.5)), Some(about(0.5)), None],
            confusion: vec![vec![10, 0, 0], vec![0, 10, 0], vec![0, 0, 10]],
            samples: (0..30).map(sample).collect(),
            repeats: Vec::new(),
            variables: 4.5,
            choices: Vec::new(),
        }],
        permutation: None,
        stability: None,
        sizes: Vec::new(),
        panel: panel.collect(),
        models: Some(Models { all, split: Split { train, test }, fold }),
        words: vec![HOSTILE.to_owned()],
        run: HOSTILE.to_owned(),
        seconds: 1.0,
    }
}

/// The page without the charting library.
fn page(validation: &Validation, data: &Dataset<'_>) -> String {
    let html = html(validation, data, Some("https://example.org/{name}")).unwrap();
    let start = html.find("<script>").unwrap();
    let end = start + html[start..].find("</script>").unwrap();
    assert!(html[start..end].contains("plotly.js"), "the charting library is inside");
    [&html[..start], &html[end..]].concat()
}

#[test]
fn hostile_names_stay_text() {
    let data = data(|j| format!("{HOSTILE}{j}"));
    let page = page(&validation(&data), &data);
    assert!(page.contains("&lt;img src=x") && !page.contains("<img"));
    // Ours: data and scripts; and the end of the library that was cut out.
    assert_eq!(page.matches("<script").count(), 2);
    assert_eq!(page.matches("</script").count(), 3);
    assert!(page.contains("href=\"https://example.org/%3Cimg%20src"));
    for fetch in ["src=\"http", "src=http", "@import", "url("] {
        assert!(!page.contains(fetch), "{fetch}");
    }
}

#[test]
fn doubts_are_told_and_what_is_missing_is_left_out() {
    let data = data(|j| format!("{}", 400 + j));
    let full = validation(&data);
    let text = page(&full, &data);
    for words in [
        "The interval does not exclude chance",
        "No permutation test was asked for",
        "No half-samples were asked for",
        "never tested",
        "2 of 30 samples always wrong",
        "row 0",
        "each fold leaves out one of 4 groups",
        "along the spectrum",
    ] {
        assert!(text.contains(words), "{words}");
    }
    assert!(!text.contains(">NaN") && !text.contains(">inf"));

    let mut chance = full.clone();
    let p_value = Interval { mean: 0.2, low: 0.1, high: 0.3 };
    chance.permutation = Some(crate::validate::PermutationTest {
        observed: 0.3,
        permuted: vec![0.3; 19],
        as_good: 3,
        p_value,
        asked: 19,
        early: false,
        failed: 0,
        arrangements: 1_000_000,
        exchanged: None,
    });
    assert!(page(&chance, &data).contains("chance may explain this result"));

    let without = Validation { models: None, panel: Vec::new(), ..full.clone() };
    let text = page(&without, &data);
    assert!(
        !text.contains("id=\"project\"") && !text.contains("id=\"heatmap\"") && text.contains("no panel")
    );
}

#[test]
fn what_does_not_fit_is_refused() {
    let data = data(|j| format!("g{j}"));
    let full = validation(&data);
    let refused = |change: fn(&mut Validation), link: Option<&str>| {
        let mut other = full.clone();
        change(&mut other);
        html(&other, &data, link).unwrap_err().to_string()
    };
    assert!(refused(|v| v.variables = 13, None).contains("13"));
    assert!(refused(|v| v.methods.clear(), None).contains("no method"));
    assert!(refused(|v| v.methods[0].samples.truncate(29), None).contains("29"));
    assert!(refused(|v| v.panel[0].variable = 12, None).contains("12"));
    assert!(refused(|v| v.models.as_mut().unwrap().split.test.push(30), None).contains("beyond"));
    assert!(refused(|_| (), Some("javascript:{name}")).contains("https://"));
}
