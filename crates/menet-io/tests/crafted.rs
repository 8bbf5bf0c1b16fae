//! Model files that someone made up: fields and tensors are changed, and the checksum is computed again. Each is an error, or a model
//! that works; none panics.
//!
//! `MENET_SOAK=100` tries a hundred times as many (`make soak`).

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use menet::dataset::View;
use menet::faer::Mat;
use menet::penalties::PenaltyKind;
use menet::penalties::groups::Groups;
use menet::prepare::{Impute, Scale};
use menet::refit::Refit;
use menet::rules::{Priors, RuleKind};
use menet::{Dataset, MenParams, SizeLimits, fit};
use menet_io::export::{Precision, to_json, to_onnx, to_sql};
use menet_io::{ModelFile, Table};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde_json::{Value, json};

/// Changed copies per model; a soak multiplies it.
const ROUNDS: usize = 400;

const P: usize = 6;

/// A model file in pieces.
#[derive(Clone)]
struct CraftedModel {
    json: Value,
    tensors: Vec<(String, Dtype, Vec<usize>, Vec<u8>)>,
}

impl CraftedModel {
    fn of(bytes: &[u8]) -> Self {
        let (_, metadata) = SafeTensors::read_metadata(bytes).unwrap();
        let mut json: Value = serde_json::from_str(&metadata.metadata().clone().unwrap()["menet"]).unwrap();
        json.as_object_mut().unwrap().remove("checksum");
        json.as_object_mut().unwrap().remove("format");
        let tensors = SafeTensors::deserialize(bytes).unwrap();
        let mut tensors: Vec<_> = tensors
            .iter()
            .map(|(name, t)| (name.to_owned(), t.dtype(), t.shape().to_vec(), t.data().to_vec()))
            .collect();
        tensors.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        CraftedModel { json, tensors }
    }

    /// The file, with a checksum that is right.
    fn bytes(&self) -> Vec<u8> {
        let json = format!("{{\"format\":4,\"checksum\":\"00000000\",{}", &self.json.to_string()[1..]);
        let mut crc = crc32fast::Hasher::new();
        crc.update(json.as_bytes());
        for (name, dtype, shape, bytes) in &self.tensors {
            crc.update(format!("{name} {dtype:?} {shape:?} ").as_bytes());
            crc.update(bytes);
        }
        let json = json.replacen("00000000", &format!("{:08x}", crc.finalize()), 1);
        let views = self.tensors.iter().map(|(name, dtype, shape, bytes)| {
            (name.as_str(), TensorView::new(*dtype, shape.clone(), bytes).unwrap())
        });
        safetensors::serialize(views, Some(HashMap::from([("menet".to_owned(), json)]))).unwrap()
    }

    /// Changes one thing, and says what.
    fn change(&mut self, rng: &mut Pcg64Mcg) -> String {
        if rng.random_bool(0.5) { self.change_json(rng) } else { self.change_tensor(rng) }
    }

    fn change_json(&mut self, rng: &mut Pcg64Mcg) -> String {
        let mut places = Vec::new();
        pointers(&self.json, String::new(), &mut places);
        let place = places.swap_remove(rng.random_range(0..places.len()));
        let value = self.json.pointer_mut(&place).unwrap();
        let before = value.to_string();
        match (value, rng.random_range(0..4)) {
            (Value::Array(list), 0) if !list.is_empty() => drop(list.pop()),
            (Value::Array(list), 1) if !list.is_empty() => list.push(list[0].clone()),
            (Value::Object(fields), 0) if !fields.is_empty() => {
                let key = fields.keys().nth(rng.random_range(0..fields.len())).unwrap().clone();
                fields.remove(&key);
            }
            (value, _) => *value = another(value, rng),
        }
        format!("{place}: {before} becomes {}", self.json.pointer(&place).unwrap())
    }

    fn change_tensor(&mut self, rng: &mut Pcg64Mcg) -> String {
        let place = rng.random_range(0..self.tensors.len());
        let other = self.tensors[rng.random_range(0..self.tensors.len())].clone();
        let (name, dtype, shape, bytes) = &mut self.tensors[place];
        let before = format!("{name} {shape:?}");
        let words = bytes.len() / 8;
        match rng.random_range(0..7) {
            0 => {
                self.tensors.remove(place);
                return format!("without {before}");
            }
            1 if *dtype == other.1 => (*shape, *bytes) = (other.2, other.3),
            2 => shape.reverse(),
            3 if *dtype != Dtype::U8 => *dtype = if *dtype == Dtype::F64 { Dtype::U64 } else { Dtype::F64 },
            4 if words > 0 && shape.len() == 1 => {
                bytes.truncate(bytes.len() - if *dtype == Dtype::U8 { 1 } else { 8 });
                shape[0] -= 1;
            }
            5 if shape.len() == 1 && *dtype != Dtype::U8 => {
                bytes.extend(word(*dtype, rng));
                shape[0] += 1;
            }
            _ if *dtype == Dtype::U8 && words > 0 => bytes[rng.random_range(0..words * 8)] = rng.random(),
            _ if *dtype != Dtype::U8 && words > 0 => {
                let at = 8 * rng.random_range(0..words);
                bytes[at..at + 8].copy_from_slice(&word(*dtype, rng));
            }
            _ => {}
        }
        let (name, dtype, shape, bytes) = &self.tensors[place];
        format!("{before} becomes {name} {dtype:?} {shape:?}, {} bytes", bytes.len())
    }
}

/// All places in a value.
fn pointers(value: &Value, at: String, into: &mut Vec<String>) {
    match value {
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(i, x)| pointers(x, format!("{at}/{i}"), into));
        }
        Value::Object(fields) => fields.iter().for_each(|(key, x)| pointers(x, format!("{at}/{key}"), into)),
        _ => {}
    }
    if !at.is_empty() {
        into.push(at);
    }
}

/// A value of the same kind, or of another one.
fn another(value: &Value, rng: &mut Pcg64Mcg) -> Value {
    let numbers = [
        json!(0),
        json!(1),
        json!(2),
        json!(5),
        json!(6),
        json!(7),
        json!(-1),
        json!(0.5),
        json!(-0.5),
        json!(1e300),
    ];
    let large = [json!(1_u64 << 53), json!(u64::MAX), json!(i64::MIN)];
    let texts = [
        "",
        "a",
        "none",
        "\u{0}",
        "=1",
        "7",
        "-1",
        "1e400",
        "0 END; DROP TABLE t; --",
        "grid:9999999x9999999",
    ];
    let any = [
        Value::Null,
        json!([]),
        json!({}),
        json!(true),
        json!([0, 7]),
        json!({"name": "g", "variables": [7]}),
    ];
    let pick = |list: &[Value], rng: &mut Pcg64Mcg| list[rng.random_range(0..list.len())].clone();
    match value {
        Value::Number(_) if rng.random_bool(0.7) => pick(&numbers, rng),
        Value::Number(_) => pick(&large, rng),
        Value::String(_) if rng.random_bool(0.7) => json!(texts[rng.random_range(0..texts.len())]),
        _ => pick(&any, rng),
    }
}

fn word(dtype: Dtype, rng: &mut Pcg64Mcg) -> [u8; 8] {
    let indices = [0, 1, 2, 5, 6, 7, 1 << 32, (1 << 48) - 1, 1 << 48, u64::MAX];
    let numbers = [0.0, -0.0, 1.0, -1.0, 0.5, 1e-320, 1e100, 1e308, -1e308, f64::NAN, f64::INFINITY];
    match dtype {
        Dtype::U64 => indices[rng.random_range(0..indices.len())].to_le_bytes(),
        _ => numbers[rng.random_range(0..numbers.len())].to_le_bytes(),
    }
}

/// Samples of three classes, some of them without some values if `holes`.
fn samples(holes: bool) -> Table {
    let value = |i: usize, j: usize| ((i * 7 + j * j * 3 + i % 3 * (j + 1) + i * i * j) % 23) as f64;
    let hole = |i: usize, j: usize| holes && (i * 5 + j * 3).is_multiple_of(11);
    let values = (0..24 * P).map(|at| (at / P, at % P));
    let values = values.map(|(i, j)| if hole(i, j) { f64::NAN } else { value(i, j) + (i % 3 * j) as f64 });
    Table {
        labels: Some((0..24).map(|i| ["a", "b", "c"][i % 3].to_owned()).collect()),
        feature_names: Some((0..P).map(|j| format!("g{j}")).collect()),
        batches: holes.then(|| (0..24).map(|i| ["one", "two"][i / 3 % 2].to_owned()).collect()),
        image_shape: Some((2, 3)),
        ..Table::new(Path::new("test"), values.collect::<Vec<f64>>(), 24, P)
    }
}

/// One model per part that a file may have.
fn models() -> Vec<(&'static str, ModelFile)> {
    let with = |change: fn(&mut MenParams)| MenParams::default().with(change);
    let settings: [(&str, MenParams); 8] = [
        (
            "panel",
            with(|it| {
                (it.refit.kind, it.rule.kind, it.nonzeros) =
                    (Some(Refit::Panel), Some(RuleKind::Gaussian), Some(4));
            }),
        ),
        ("paper", MenParams::paper().with(|it| it.nonzeros = Some(4))),
        (
            "groups",
            with(|it| {
                it.penalty.feature_groups =
                    Some(Groups::from_pairs([(0, "a"), (2, "a"), (2, "b"), (3, "b")]));
            }),
        ),
        (
            "always",
            with(|it| {
                (it.penalty.always, it.penalty.never) = (Some(vec!["g1".into()]), Some(vec![4_usize.into()]));
                (it.rule.kind, it.rule.k) = (Some(RuleKind::Centroid), 3);
            }),
        ),
        ("scad", with(|it| (it.penalty.kind, it.nonzeros, it.rule.k) = (PenaltyKind::Scad, Some(3), 3))),
        (
            "l0",
            with(|it| {
                (it.penalty.kind, it.nonzeros, it.panel_size) = (PenaltyKind::L0, Some(3), Some(4));
                (it.rule.priors, it.penalty.factors) =
                    (Priors::Given(vec![1.0, 2.0, 3.0]), Some(vec![1.0; P]));
            }),
        ),
        (
            "knn",
            with(|it| {
                (it.prepare.impute, it.prepare.scale, it.prepare.batch_scale) =
                    (Some(Impute::Knn), Scale::Unit, true);
            }),
        ),
        (
            "median",
            with(|it| (it.prepare.impute, it.prepare.scale) = (Some(Impute::Median), Scale::Log1pUnit)),
        ),
    ];
    settings
        .into_iter()
        .map(|(name, params)| {
            let mut table = samples(params.prepare.impute.is_some());
            if name == "median" {
                table.batches = None;
            }
            let data = table.dataset_with_missing().unwrap();
            let men = fit(&data, &params, &()).unwrap_or_else(|e| panic!("{name}: {e}"));
            (name, ModelFile::new(men, &data, "test").unwrap())
        })
        .collect()
}

/// Does everything with a model that takes no other files. Errors are fine.
fn work(file: &ModelFile, data: &Dataset<'_>) {
    let men = &file.men;
    let p = men.projection().variables();
    for value in [0.0, 3.5, f64::NAN] {
        let x = Mat::from_fn(3, p, |i, j| value + (i * j) as f64);
        let batches = men.preparation().and_then(|it| it.batches.as_ref()).map(|_| vec!["new".to_owned(); 3]);
        if let (Ok(z), Ok(rule)) =
            (men.transform_batches(View::Double(x.as_ref()), batches.as_deref()), men.rule())
        {
            let _ = (
                rule.classify(z.as_ref()),
                rule.log_probabilities(z.as_ref()),
                rule.decision_values(z.as_ref()),
            );
        }
    }
    let _ = (men.panel_table(), men.doubts(), men.always(), men.selected(), men.never(), men.chosen_groups());
    let _ = (men.nonzeros(), men.levels(), men.certificates(), men.support_sizes(), men.refit());
    let _ = (to_json(file), to_sql(file, "t"), to_onnx(file, Precision::Single));
    for (nonzeros, panel_size, components) in
        [(Some(2), None, None), (None, Some(2), None), (None, None, Some(1))]
    {
        let reading = SizeLimits::default()
            .with(|it| (it.nonzeros, it.panel_size, it.components) = (nonzeros, panel_size, components));
        let _ = (men.at(reading, None), men.at(reading, Some(data)), file.at_components(1));
    }
    assert_eq!(
        ModelFile::from_bytes(&file.to_bytes_complete().unwrap()).unwrap(),
        *file,
        "it does not survive"
    );
}

#[test]
fn a_crafted_model_is_an_error_or_works() {
    let soak = std::env::var("MENET_SOAK").ok().and_then(|times| times.parse().ok());
    let rounds = ROUNDS * soak.unwrap_or(1);
    for (seed, (name, model)) in models().into_iter().enumerate() {
        let holes = samples(model.men.fills());
        let data = holes.dataset_with_missing().unwrap();
        let sound = CraftedModel::of(&model.to_bytes_complete().unwrap());
        assert_eq!(ModelFile::from_bytes(&sound.bytes()).unwrap(), model, "{name}");
        work(&model, &data);
        let rng = &mut Pcg64Mcg::seed_from_u64(seed as u64);
        let (mut loaded, mut refused) = (0, 0);
        for round in 0..rounds {
            let mut pieces = sound.clone();
            let changes: Vec<String> = (0..rng.random_range(1..3)).map(|_| pieces.change(rng)).collect();
            let bytes = pieces.bytes();
            let outcome = catch_unwind(AssertUnwindSafe(|| match ModelFile::from_bytes(&bytes) {
                Ok(file) => {
                    work(&file, &data);
                    true
                }
                Err(e) => {
                    assert!(e.to_string().len() < 4000, "{}", e.to_string().len());
                    false
                }
            }));
            let outcome = outcome.unwrap_or_else(|_| panic!("{name}, round {round}: {changes:#?}"));
            *(if outcome { &mut loaded } else { &mut refused }) += 1;
        }
        println!("{name}: {refused} refused, {loaded} work");
        assert!(loaded > rounds / 20 && refused > rounds / 4, "{name}: {refused} refused, {loaded} work");
    }
}

/// The model of the review: a group with a variable that there is not.
#[test]
fn what_does_not_fit_together_is_told() {
    let found: HashMap<_, _> = models().into_iter().collect();
    let refusal = |name: &str, change: &dyn Fn(&mut CraftedModel)| {
        let mut pieces = CraftedModel::of(&found[name].to_bytes_complete().unwrap());
        change(&mut pieces);
        ModelFile::from_bytes(&pieces.bytes()).unwrap_err().to_string()
    };
    let set = |place: &'static str, value: Value| {
        move |pieces: &mut CraftedModel| {
            *pieces.json.pointer_mut(place).unwrap_or_else(|| panic!("{place}")) = value.clone();
        }
    };
    for (name, place, value, expected) in [
        ("groups", "/params/penalty/feature_groups/0/variables/0", json!(6), "variable 6 in group \"a\""),
        ("groups", "/params/penalty/feature_groups/0/variables", json!([]), "without variables"),
        ("panel", "/params/ridge", json!(-1.0), "`ridge`"),
        ("panel", "/params/patch/kind", json!("none"), "patch"),
        ("panel", "/classes/1", json!("a"), "the class \"a\" twice"),
        ("panel", "/refit/shrinkage", json!(1.5), "shrinkage is 1.5"),
        ("panel", "/refit/candidates", json!(7), "7 of 6 variables"),
        ("panel", "/report/definiteness/floor", json!(-0.5), "`floor` is -0.5"),
        ("panel", "/report/seconds/lars", json!(-1.0), "must be 0 or more in every stage"),
        ("panel", "/report/unreached", json!(1), "without a label"),
        ("panel", "/image_shape", json!([2, 2]), "an image"),
        ("always", "/params/penalty/always/0", json!("nobody"), "`penalty.always`"),
        ("always", "/params/penalty/never/0", json!(6), "`penalty.never`"),
        ("knn", "/preparation/batches/names/0", json!("two"), "preparation"),
        ("knn", "/preparation/params/scale", json!("none"), "preparation"),
        ("knn", "/preparation/params/impute", json!("mean"), "preparation"),
        ("knn", "/preparation/params/batch_scale", json!(false), "preparation"),
        ("median", "/preparation/params/impute", Value::Null, "preparation"),
    ] {
        let message = refusal(name, &set(place, value));
        assert!(message.contains(expected), "{name} {place}: {message}");
    }
    let tensor = |tensor: &'static str, at: usize, value: [u8; 8]| {
        move |pieces: &mut CraftedModel| {
            let found = pieces.tensors.iter_mut().find(|(name, ..)| name == tensor).unwrap();
            found.3[8 * at..8 * at + 8].copy_from_slice(&value);
        }
    };
    for (name, place, value, expected) in [
        ("knn", "prepare.deviations", 0.0_f64.to_le_bytes(), "preparation"),
        ("knn", "prepare.missing", 2.0_f64.to_le_bytes(), "preparation"),
        ("paper", "path.ended", 8_u64.to_le_bytes(), "unknown reason"),
        ("paper", "path.knots", u64::MAX.to_le_bytes(), "too large"),
        ("paper", "path.knots", ((1_u64 << 48) - 1).to_le_bytes(), "different lengths"),
        ("panel", "panel.classes", 4_u64.to_le_bytes(), "class 4"),
    ] {
        let message = refusal(name, &tensor(place, 0, value));
        assert!(message.contains(expected), "{name} {place}: {message}");
    }
    let ended_at_nobody = |pieces: &mut CraftedModel| {
        tensor("path.ended", 0, 3_u64.to_le_bytes())(pieces);
        tensor("path.ended", 1, 6_u64.to_le_bytes())(pieces);
    };
    assert!(refusal("paper", &ended_at_nobody).contains("variable 6"));
    let turned = |pieces: &mut CraftedModel| {
        pieces
            .tensors
            .iter_mut()
            .filter(|(name, ..)| name == "gallery")
            .for_each(|(_, _, shape, _)| shape.reverse());
    };
    assert!(refusal("paper", &turned).contains("must hold rows of"));
}
