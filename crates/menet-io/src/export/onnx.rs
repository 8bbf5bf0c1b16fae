//! The model as an ONNX file: gather the panel, project, decide, and turn decision values into probabilities.
//!
//! Samples come in single or double precision; everything in between is computed in double. Results are `label`, `probabilities` (a column
//! per class) and `scores` (a column per axis), as [`LearnedRule`] computes them: ties go to the first gallery sample, and, among equally many
//! votes, to the class of the nearest voter.

use menet::rules::{LearnedRule, Linear, Metric, Nearest};
use prost::Message as _;

use super::graph::{ElementType, GraphBuilder};
use super::proto::{Entry, Model, OperatorSet};
use super::{ExportedModel, rows};
use crate::error::{Error, Result};
use crate::model::{LabelKind, ModelFile};

/// The version of the operators, which runtimes from 2022 on know, and that of the file format that goes with it.
const OPSET: i64 = 17;
const IR: i64 = 8;

/// In the place of a length or sum of 0.
const TINY: f64 = 1e-300;

/// The precision of samples and results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// `float32`, what most tools send.
    Single,
    /// `float64`.
    Double,
}

/// The model as the bytes of an ONNX file.
///
/// # Errors
/// When the model has no rule, centres batches, or fills missing values from neighbours.
pub fn to_onnx(file: &ModelFile, precision: Precision) -> Result<Vec<u8>> {
    let flat = ExportedModel::of(file)?;
    let (m, d, c) = (flat.panel.len(), flat.axes(), flat.men.classes().len());
    let kind = if precision == Precision::Single { ElementType::Single } else { ElementType::Double };
    let mut it = GraphBuilder::default();
    it.input("X", kind, flat.men.projection().variables());
    let panel = it.integers("panel", &[m], flat.panel.iter().map(|&j| j as i64));
    let used = it.with("Gather", &["X", &panel], &[("axis", 1)]);
    let mut values = it.with("Cast", &[&used], &[("to", ElementType::Double as i64)]);
    if flat.logarithm {
        let one = it.doubles("one", &[], [1.0]);
        let above = it.apply("Add", &[&values, &one]);
        values = it.apply("Log", &[&above]);
    }
    if let Some(divisors) = &flat.divisors {
        let divisors = it.doubles("divisors", &[m], divisors.iter().copied());
        values = it.apply("Div", &[&values, &divisors]);
    }
    // The samples that lack the whole panel.
    let mut unknown = None;
    if let Some(fill) = &flat.fill {
        let fill = it.doubles("fill", &[m], fill.iter().copied());
        let missing = it.apply("IsNaN", &[&values]);
        values = it.apply("Where", &[&missing, &fill, &values]);
        let lacks = it.with("Cast", &[&missing], &[("to", ElementType::Double as i64)]);
        let (lacks, half) = (it.least(&lacks, 1), it.doubles("half", &[], [0.5]));
        unknown = Some(it.apply("Greater", &[&lacks, &half]));
    }
    let mean = it.doubles("mean", &[m], flat.mean.iter().copied());
    let weights = it.doubles("weights", &[m, d], rows(&flat.weights).concat());
    let centred = it.apply("Sub", &[&values, &mean]);
    let mut z = it.apply("MatMul", &[&centred, &weights]);
    let (mut class, mut values) = match flat.rule {
        LearnedRule::Nearest(rule) => nearest(&mut it, &z, rule),
        LearnedRule::Centroid(_) | LearnedRule::Gaussian(_) => match flat.rule.linear()? {
            Some(rule) => linear(&mut it, &z, &rule),
            None => return Err(Error::Model("the rule has no linear form".to_owned())),
        },
    };
    if let Some(unknown) = unknown {
        let priors = flat.rule.log_priors();
        let most = (0..c).fold(0, |most, class| if priors[class] > priors[most] { class } else { most });
        let priors = it.doubles("log_priors", &[1, c], priors);
        let (most, nowhere) =
            (it.integers("most_probable", &[], [most as i64]), it.doubles("nowhere", &[], [f64::NAN]));
        let axis = it.integers("columns", &[1], [1]);
        let rows = it.apply("Squeeze", &[&unknown, &axis]);
        class = it.apply("Where", &[&rows, &most, &class]);
        values = it.apply("Where", &[&unknown, &priors, &values]);
        z = it.apply("Where", &[&unknown, &nowhere, &z]);
    }
    let (classes, label_kind) = labels(&mut it, &flat)?;
    let label = it.with("Gather", &[&classes, &class], &[("axis", 0)]);
    let probabilities = it.with("Softmax", &[&values], &[("axis", 1)]);
    it.output("label", &label, label_kind, None);
    for (name, value, columns) in [("probabilities", &probabilities, c), ("scores", &z, d)] {
        let given = it.with("Cast", &[value], &[("to", kind as i64)]);
        it.output(name, &given, kind, Some(columns));
    }
    let version = env!("CARGO_PKG_VERSION");
    let mut metadata_props = Vec::new();
    if let Some(names) = &flat.names {
        let value = serde_json::Value::from(names.clone()).to_string();
        metadata_props.push(Entry { key: "panel".to_owned(), value });
    }
    let model = Model {
        ir_version: IR,
        producer_name: "menet".to_owned(),
        producer_version: version.to_owned(),
        graph: Some(it.finish("menet")),
        opset_import: vec![OperatorSet { domain: String::new(), version: OPSET }],
        metadata_props,
    };
    Ok(model.encode_to_vec())
}

/// The class (a number) and the values of all classes, by functions that are linear in z.
fn linear(it: &mut GraphBuilder, z: &str, rule: &Linear) -> (String, String) {
    let (d, c) = rule.weights.shape();
    let reference = it.doubles("reference", &[d], rule.reference.iter().copied());
    let directions = it.doubles("directions", &[d, c], rows(&rule.weights).concat());
    let offsets = it.doubles("offsets", &[c], rule.offsets.iter().copied());
    let centred = it.apply("Sub", &[z, &reference]);
    let products = it.apply("MatMul", &[&centred, &directions]);
    let values = it.apply("Add", &[&products, &offsets]);
    (largest(it, &values), values)
}

fn largest(it: &mut GraphBuilder, values: &str) -> String {
    it.with("ArgMax", &[values], &[("axis", 1), ("keepdims", 0)])
}

/// The class (a number) and the values of all classes, by the nearest samples of the gallery.
fn nearest(it: &mut GraphBuilder, z: &str, rule: &Nearest) -> (String, String) {
    let (n, c) = (rule.gallery.nrows(), rule.shifts.len());
    let distances = distances(it, z, rule);
    let temperature = it.doubles("temperature", &[], [rule.temperature]);
    let shifts = it.doubles("shifts", &[c], rule.shifts.iter().copied());
    let of_gallery = it.integers("gallery_classes", &[n], rule.classes.iter().map(|&class| class as i64));
    // The distance to the nearest sample of every class.
    let near: Vec<String> = (0..c)
        .map(|class| {
            let own: Vec<i64> = (0..n).filter(|&i| rule.classes[i] == class).map(|i| i as i64).collect();
            let own = it.integers(&format!("class_{class}"), &[own.len()], own);
            let some = it.with("Gather", &[&distances, &own], &[("axis", 1)]);
            it.least(&some, 1)
        })
        .collect();
    let near = it.with("Concat", &near.iter().map(String::as_str).collect::<Vec<_>>(), &[("axis", 1)]);
    let axis = it.integers("second_axis", &[1], [1]);
    let (class, scores) = if rule.neighbors == 1 {
        let first = it.with("ArgMin", &[&distances], &[("axis", 1), ("keepdims", 0)]);
        (it.with("Gather", &[&of_gallery, &first], &[("axis", 0)]), it.apply("Neg", &[&near]))
    } else {
        let k = it.integers("neighbors", &[1], [rule.neighbors.min(n) as i64]);
        let smallest =
            super::proto::Attribute { name: "largest".to_owned(), i: Some(0), ints: Vec::new(), kind: 2 };
        let found = it.node("TopK", &[&distances, &k], vec![smallest], 2);
        let voters = it.with("Gather", &[&of_gallery, &found[1]], &[("axis", 0)]);
        let depth = it.integers("classes_in_all", &[1], [c as i64]);
        let ballot = it.integers("ballot", &[2], [0, 1]);
        let ballots = it.with("OneHot", &[&voters, &depth, &ballot], &[("axis", -1)]);
        let counts = it.with("ReduceSum", &[&ballots, &axis], &[("keepdims", 0)]);
        let votes = it.with("Cast", &[&counts], &[("to", ElementType::Double as i64)]);
        // The nearest voter whose class has the most votes.
        let of_voters = it.with("GatherElements", &[&votes, &voters], &[("axis", 1)]);
        let first = it.with("ArgMax", &[&of_voters], &[("axis", 1), ("keepdims", 1)]);
        let class = it.with("GatherElements", &[&voters, &first], &[("axis", 1)]);
        let class = it.apply("Squeeze", &[&class, &axis]);
        let sum = it.with("ReduceSum", &[&near, &axis], &[("keepdims", 1)]);
        let tiny = it.doubles("least_sum", &[], [TINY]);
        let sum = it.apply("Max", &[&sum, &tiny]);
        let shares = it.apply("Div", &[&near, &sum]);
        (class, it.apply("Sub", &[&votes, &shares]))
    };
    let scaled = it.apply("Div", &[&scores, &temperature]);
    let values = it.apply("Add", &[&scaled, &shifts]);
    let plain = rule.shifts.iter().all(|&shift| shift == 0.0);
    let class = if plain { class } else { largest(it, &values) };
    (class, values)
}

/// The distances to all samples of the gallery.
fn distances(it: &mut GraphBuilder, z: &str, rule: &Nearest) -> String {
    let (n, d) = rule.gallery.shape();
    let gallery = rows(&rule.gallery);
    match rule.metric {
        Metric::Euclidean => {
            // Differences first: inner products would lose the digits of small distances.
            let gallery = it.doubles("gallery", &[1, n, d], gallery.concat());
            let (second, last) = (it.integers("between", &[1], [1]), it.integers("coordinates", &[1], [2]));
            let z = it.apply("Unsqueeze", &[z, &second]);
            let apart = it.apply("Sub", &[&z, &gallery]);
            let squares = it.apply("Mul", &[&apart, &apart]);
            let sums = it.with("ReduceSum", &[&squares, &last], &[("keepdims", 0)]);
            it.apply("Sqrt", &[&sums])
        }
        Metric::Cosine => {
            // d×n, each of length 1. What has no direction is at a distance of 1.
            let lengths: Vec<f64> =
                gallery.iter().map(|g| g.iter().map(|x| x * x).sum::<f64>().sqrt().max(TINY)).collect();
            let turned =
                (0..d).flat_map(|k| (0..n).map(move |i| (i, k))).map(|(i, k)| gallery[i][k] / lengths[i]);
            let directions = it.doubles("gallery", &[d, n], turned.collect::<Vec<_>>());
            let (one, zero) = (it.doubles("whole", &[], [1.0]), it.doubles("zero", &[], [0.0]));
            let (axis, tiny) =
                (it.integers("coordinates", &[1], [1]), it.doubles("least_length", &[], [TINY]));
            let squares = it.apply("Mul", &[z, z]);
            let squares = it.with("ReduceSum", &[&squares, &axis], &[("keepdims", 1)]);
            let length = it.apply("Sqrt", &[&squares]);
            let length = it.apply("Max", &[&length, &tiny]);
            let products = it.apply("MatMul", &[z, &directions]);
            let cosines = it.apply("Div", &[&products, &length]);
            let apart = it.apply("Sub", &[&one, &cosines]);
            it.apply("Max", &[&apart, &zero])
        }
    }
}

/// The classes, in their own type.
fn labels(it: &mut GraphBuilder, flat: &ExportedModel<'_>) -> Result<(String, ElementType)> {
    let (classes, c) = (flat.men.classes(), flat.men.classes().len());
    fn parsed<T: std::str::FromStr>(classes: &[String]) -> Result<Vec<T>> {
        let one = |class: &String| {
            class.parse().map_err(|_| Error::Model(format!("the class {class} is no number")))
        };
        classes.iter().map(one).collect()
    }
    Ok(match flat.kind {
        LabelKind::Text => (it.texts("classes", classes), ElementType::Text),
        LabelKind::Integer => (it.integers("classes", &[c], parsed::<i64>(classes)?), ElementType::Integer),
        LabelKind::Number => (it.doubles("classes", &[c], parsed::<f64>(classes)?), ElementType::Double),
        LabelKind::Boolean => {
            let values: Vec<bool> = classes.iter().map(|class| class.eq_ignore_ascii_case("true")).collect();
            (it.booleans("classes", &values), ElementType::Boolean)
        }
    })
}
