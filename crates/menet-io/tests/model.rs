//! The model file: a saved model loads bit for bit, old files still load, and damaged files are refused.

use std::fs;
use std::path::Path;

use crate::common::{folder, sample};
use menet::refit::Refit;
use menet::rules::{LearnedRule, Metric, Priors, RuleKind};
use menet::{Dataset, Men, MenParams, MenParts, Named, SizeLimits, fit};
use menet_io::export::to_sql;
use menet_io::model::{LabelKind, paths_from_bytes, paths_to_bytes};
use menet_io::{ModelFile, Table, TableValues};

/// The paper's method, which can be made smaller without training samples.
fn model() -> (ModelFile, Table) {
    model_with(MenParams::paper())
}

fn model_with(params: MenParams) -> (ModelFile, Table) {
    let names = ["a \"quoted\", name", "<script>", "größe", "", "e"].map(str::to_owned).to_vec();
    let (rows, labels) = sample();
    let values: Vec<f64> = rows.iter().flatten().map(|&x| x as f64 / 3.0).collect();
    let table = Table {
        labels: Some(labels.iter().map(|label| format!("klasse, \"{label}\" <b>")).collect()),
        feature_names: Some(names),
        image_shape: Some((1, 5)),
        ..Table::new(Path::new("test"), values, 36, 5)
    };
    let data = table.dataset().unwrap();
    let params = params.with(|it| {
        it.nonzeros = Some(4);
        it.penalty.factors = Some(vec![1.0, 1.0, f64::INFINITY, 0.5, 2.0]);
    });
    let men = fit(&data, &params, &()).unwrap();
    (ModelFile::new(men, &data, "test").unwrap(), table.clone())
}

/// The same model with a changed part.
fn with_parts(model: &ModelFile, change: impl FnOnce(&mut MenParts)) -> ModelFile {
    let mut parts = model.men.parts().clone();
    change(&mut parts);
    ModelFile { men: Men::from_parts(parts).unwrap(), ..model.clone() }
}

fn reading(nonzeros: Option<usize>, components: Option<usize>) -> SizeLimits {
    SizeLimits::default().with(|it| {
        it.nonzeros = nonzeros;
        it.panel_size = None;
        it.components = components;
    })
}

#[test]
fn every_refit_with_every_rule_survives_bit_for_bit() {
    for &refit in Refit::ALL {
        for &rule in RuleKind::ALL {
            for priors in [Priors::Train, Priors::Given((1..=12).map(f64::from).collect())] {
                let params = MenParams::default().with(|it| {
                    it.refit.kind = Some(refit);
                    it.rule.kind = Some(rule);
                    it.refit.relax = 0.7;
                    it.rule.k = 2;
                    it.rule.metric = Some(Metric::Cosine);
                    it.rule.priors = priors;
                });
                let what = format!("{} {} {:?}", refit.name(), rule.name(), params.rule.priors);
                let (model, table) = model_with(params);
                let complete = model.to_bytes_complete().unwrap();
                let back = ModelFile::from_bytes(&complete).unwrap();
                assert_eq!(back, model, "{what}");
                assert_eq!(back.to_bytes_complete().unwrap(), complete, "{what}");
                // A saved file leaves out only the reduced problem.
                assert_eq!(model.men.parts().reached.is_some(), refit.needs_gram(), "{what}");
                let saved = ModelFile::from_bytes(&model.to_bytes().unwrap()).unwrap();
                assert_eq!(saved, with_parts(&model, |parts| parts.reached = None), "{what}");
                let z = table.project(&saved.men).unwrap();
                let (own, other) = (model.men.rule().unwrap(), saved.men.rule().unwrap());
                assert_eq!(own.classify(z.as_ref()), other.classify(z.as_ref()), "{what}");
                assert_eq!(own.log_probabilities(z.as_ref()), other.log_probabilities(z.as_ref()), "{what}");
                assert_eq!(model.men.panel_table(), saved.men.panel_table(), "{what}");
                assert!(
                    saved.men.panel_table().iter().all(|row| row.effect.is_some() && row.class.is_some())
                );
                // With the training samples the complete bytes can be read at another size.
                let data = table.dataset().unwrap();
                let smaller = |men: &Men| men.at(reading(Some(2), None), Some(&data)).unwrap();
                assert_eq!(smaller(&back.men), smaller(&model.men), "{what}");
            }
        }
    }
}

#[test]
fn a_model_without_a_rule_survives() {
    let (model, _) = model();
    let men = model.men.at(reading(Some(2), None), None).unwrap();
    assert!(men.rule().is_err());
    let model = ModelFile { men, ..model };
    assert_eq!(ModelFile::from_bytes(&model.to_bytes().unwrap()).unwrap(), model);
}

#[test]
fn a_rule_without_training_samples_needs_few_bytes() {
    // The file also has the mean, unit and name of every variable: about 25 bytes per variable, for any panel.
    let (p, size) = (200, 20);
    let bytes = |samples: usize, rule: RuleKind| {
        let value = |i: usize, j: usize| ((i * 7919 + j * 104_729 + i * j * 31) % 1009) as f64 / 100.0;
        let shifted = |i: usize, j: usize| value(i, j) + if j % 9 == i % 3 { 4.0 } else { 0.0 };
        let values: Vec<f64> = (0..samples * p).map(|at| shifted(at / p, at % p)).collect();
        let table = Table {
            labels: Some((0..samples).map(|i| format!("class {}", i % 3)).collect()),
            feature_names: Some((0..p).map(|j| format!("gene{j}")).collect()),
            ..Table::new(Path::new("test"), values, samples, p)
        };
        let data = table.dataset().unwrap();
        let params = MenParams::default().with(|it| {
            it.panel_size = Some(size);
            it.rule.kind = Some(rule);
        });
        let men = fit(&data, &params, &()).unwrap().without_paths();
        assert_eq!(men.panel().len(), size);
        ModelFile::new(men, &data, "test").unwrap().to_bytes().unwrap().len()
    };
    for rule in [RuleKind::Centroid, RuleKind::Gaussian] {
        let (few, many) = (bytes(120, rule), bytes(360, rule));
        assert!(many < 20_000, "{}: {many} bytes", rule.name());
        // Eight bytes per sample recognise it; seconds, and the variables that the paths pass, may differ slightly.
        let grown = many.abs_diff(few);
        assert!(grown < 240 * 8 + 200, "{}: {few} and {many} bytes", rule.name());
    }
    assert!(bytes(360, RuleKind::Nearest) > bytes(360, RuleKind::Gaussian) + 360 * 2 * 8);
}

#[test]
fn a_model_survives_the_file_bit_for_bit() {
    let dir = folder();
    let (model, table) = model();
    let (one, two) = (dir.path().join("one.safetensors"), dir.path().join("two.safetensors"));
    model.save(&one).unwrap();
    model.save(&two).unwrap();
    assert_eq!(fs::read(&one).unwrap(), fs::read(&two).unwrap(), "saving twice gives the same bytes");
    let loaded = ModelFile::load(&one).unwrap();
    assert_eq!(loaded, model);
    assert_eq!(
        loaded.men.transform(table.matrix().unwrap()).unwrap(),
        model.men.transform(table.matrix().unwrap()).unwrap()
    );
    assert_eq!(loaded.men.at(reading(Some(2), Some(3)), None), model.men.at(reading(Some(2), Some(3)), None));

    assert_eq!(ModelFile::from_bytes(&model.to_bytes().unwrap()).unwrap(), model);
    let paths = model.men.paths();
    assert_eq!(paths_from_bytes(&paths_to_bytes(paths).unwrap()).unwrap(), paths);
    assert!(paths_from_bytes(&[0; 20]).is_err());
    type Names = fn(usize) -> String;
    let named = |kind: LabelKind, name: Names| {
        let count = model.men.classes().len();
        let men = with_parts(&model, |parts| parts.classes = (0..count).map(name).collect()).men;
        ModelFile { men, label_kind: Some(kind), ..model.clone() }
    };
    let numbers = named(LabelKind::Integer, |class| (class as i64 - 3).to_string());
    assert_eq!(ModelFile::from_bytes(&numbers.to_bytes().unwrap()).unwrap(), numbers);
    let crafted: [(LabelKind, Names); 4] = [
        (LabelKind::Integer, |class| format!("{class} END AS label FROM t; DROP TABLE t; --")),
        (LabelKind::Integer, |class| format!("0{class}")),
        (LabelKind::Number, |class| format!("inf{}", " ".repeat(class))),
        (LabelKind::Boolean, |class| format!("true{class}")),
    ];
    for (kind, name) in crafted {
        let crafted = named(kind, name);
        let refused = ModelFile::from_bytes(&crafted.to_bytes().unwrap()).unwrap_err().to_string();
        assert!(refused.contains("its kind says so"), "{refused}");
        // A model that was never in a file.
        let refused = to_sql(&crafted, "t").unwrap_err().to_string();
        assert!(refused.contains("its kind says so"), "{refused}");
    }
    let mut parts = model.men.parts().clone();
    parts.report.neighbor_recall = Some(0.1 + 0.2);
    let approximate = ModelFile { men: Men::from_parts(parts).unwrap(), ..model.clone() };
    assert_eq!(ModelFile::from_bytes(&approximate.to_bytes().unwrap()).unwrap(), approximate);

    let light = ModelFile { men: model.men.clone().without_paths(), ..model.clone() };
    light.save(&two).unwrap();
    assert!(fs::metadata(&two).unwrap().len() < fs::metadata(&one).unwrap().len());
    let light = ModelFile::load(&two).unwrap();
    assert_eq!(light.men.projection(), model.men.projection());
    assert_eq!(light.men.certificates(), model.men.certificates());
    assert!(light.men.at(reading(Some(2), None), None).unwrap_err().to_string().contains("left out"));
    assert_eq!(light.men.at(reading(None, Some(2)), None).unwrap().projection().components(), 2);
}

#[test]
fn numbers_of_a_model_are_finite() {
    let (model, _) = model();
    for bad in [f64::NAN, f64::INFINITY] {
        let broken = with_parts(&model, |parts| {
            if let Some(LearnedRule::Nearest(rule)) = &mut parts.rule {
                rule.gallery[(0, 0)] = bad;
            }
        });
        let message = ModelFile::from_bytes(&broken.to_bytes().unwrap()).unwrap_err().to_string();
        assert!(message.contains("\"gallery\"") && message.contains("not a"), "{message}");
    }
}

#[test]
fn a_model_knows_the_samples_it_was_fitted_to() {
    let (model, table) = model();
    let own = menet_io::fingerprint::of_rows(table.matrix().unwrap());
    let count = |model: &ModelFile, samples: &[u64]| model.seen(samples).iter().filter(|seen| **seen).count();
    assert_eq!(count(&model, &own), 36);
    let mut other = table.clone();
    if let TableValues::Dense(values) = &mut other.values {
        values[7] += 1e-9;
    }
    assert_eq!(count(&model, &menet_io::fingerprint::of_rows(other.matrix().unwrap())), 35);
}

#[test]
fn a_damaged_model_is_an_error() {
    let dir = folder();
    let path = dir.path().join("m.safetensors");
    model().0.save(&path).unwrap();
    let bytes = fs::read(&path).unwrap();
    for cut in (0..bytes.len()).step_by(64) {
        fs::write(&path, &bytes[..cut]).unwrap();
        assert!(ModelFile::load(&path).is_err(), "cut at {cut} of {}", bytes.len());
    }
    let replace = |from: &str, to: &str| {
        assert_eq!(from.len(), to.len());
        let text: Vec<u8> = bytes.clone();
        let at = text.windows(from.len()).position(|w| w == from.as_bytes()).unwrap();
        [&text[..at], to.as_bytes(), &text[at + to.len()..]].concat()
    };
    for (other, remedy) in [(7, "use a newer menet"), (2, "fit the model again")] {
        fs::write(&path, replace("\\\"format\\\":4", &format!("\\\"format\\\":{other}"))).unwrap();
        let message = ModelFile::load(&path).unwrap_err().to_string();
        assert!(message.contains(&format!("version {other}, ")) && message.contains(remedy), "{message}");
    }
    // Changed text or a missing checksum is noticed.
    fs::write(&path, replace("provenance", "provenancE")).unwrap();
    assert!(ModelFile::load(&path).unwrap_err().to_string().contains("changed or damaged"));
    fs::write(&path, replace("\\\"checksum\\\"", "\\\"checkmum\\\"")).unwrap();
    assert!(ModelFile::load(&path).unwrap_err().to_string().contains("checksum is missing"));
    // A header that claims absurd sizes.
    let header =
        br#"{"mean":{"dtype":"F64","shape":[1152921504606846976],"data_offsets":[0,9223372036854775807]}}"#;
    fs::write(&path, [&(header.len() as u64).to_le_bytes()[..], header].concat()).unwrap();
    assert!(ModelFile::load(&path).is_err());
    fs::write(&path, u64::MAX.to_le_bytes()).unwrap();
    assert!(ModelFile::load(&path).is_err());
}

#[test]
fn strings_as_labels_reach_the_model() {
    let (model, table) = model();
    let data: Dataset<'_> = table.dataset().unwrap();
    assert_eq!(model.men.classes(), data.classes());
    assert!(model.men.classes()[0].contains('"'));
}
