//! What a validation says of itself in its methods section.

use faer::Mat;
use menet::evaluate::generator;
use menet::prepare::PrepareParams;
use menet::refit::Refit;
use menet::rules::RuleKind;
use menet::select::Space;
use menet::{Dataset, MenParams};
use menet_lab::NamedSet;
use menet_lab::validate::{Baseline, MenProcedure, Options, ValidationSubject, validate};
use rand::RngExt;

fn data() -> Dataset<'static> {
    let mut rng = generator(1, &[3]);
    let x = Mat::from_fn(24, 6, |i, j| rng.random::<f64>() + if j == i % 3 { 1.0 } else { 0.0 });
    Dataset::from_owned(x, &(0..24).map(|i| i % 3).collect::<Vec<_>>()).unwrap()
}

/// The paragraphs on the cross-validation and on the steps of a fit.
fn words(data: Dataset<'static>, men: &MenProcedure) -> (String, String) {
    let set = NamedSet { name: "set".to_owned(), data, rows: None, ids: None };
    let options = Options { folds: 2, repeats: 1, permutations: 0, pairs: 0, ..Options::default() };
    let method = menet::Method::from_name("pca").unwrap();
    let pca = Baseline { method, prepare: PrepareParams::default(), folds: 2 };
    let subject = ValidationSubject { set: &set, groups: None, procedures: &[men, &pca] };
    let mut all = validate(subject, &options, None, &[], &()).unwrap().words.into_iter();
    let found = (all.next().unwrap(), all.next().unwrap());
    assert!(all.next().unwrap().contains("For comparison, pca was fitted"));
    found
}

/// MEN with one setting.
fn fixed(params: MenParams) -> MenProcedure {
    MenProcedure { folds: 2, ..MenProcedure::fixed(params) }
}

#[test]
fn what_is_given_is_not_called_chosen() {
    let given = MenParams::default().with(|it| it.nonzeros = Some(2));
    let (first, steps) = words(data(), &fixed(given.clone()));
    assert!(first.contains("All settings were fixed beforehand"), "{first}");
    assert!(steps.contains("at most 2 variables; this number was given"), "{steps}");
    assert!(!first.contains("chosen") && !steps.contains("chosen"), "{first} {steps}");
    let space = Space {
        ridge: vec![0.3, 10.0],
        refit: vec![Refit::Panel],
        rule: vec![RuleKind::Centroid],
        ..Space::default()
    };
    let two = MenProcedure { folds: 2, ..MenProcedure::trying(given, space) };
    let (first, steps) = words(data(), &two);
    let expected = "the ridge λ2 (0.3, 10) was chosen from 2 combinations by 2-fold cross-validation, taking the best (balanced accuracy)";
    assert!(first.contains(expected), "{first}");
    assert!(steps.contains("λ2 was chosen") && steps.contains("at most 2 variables; this number"), "{steps}");
}

#[test]
fn every_property_of_the_samples_that_a_fit_uses_is_told() {
    let men = fixed(MenParams::default().with(|it| it.nonzeros = Some(2)));
    let (_, plain) = words(data(), &men);
    let weights: Vec<f64> = (0..24).map(|i| 1.0 + (i % 5) as f64).collect();
    let batches: Vec<usize> = (0..24).map(|i| i / 3 % 2).collect();
    for (data, word) in [
        (data().with_weights(&weights).unwrap(), "Samples had weights of their own, from"),
        (data().with_balanced_classes(), "every class counted as much"),
        (
            data().with_weights(&weights).unwrap().with_balanced_classes(),
            "Samples had weights of their own, then from",
        ),
        (data().with_batches(&batches).unwrap(), "The mean of every batch (2 batches) was subtracted"),
    ] {
        let (_, sentences) = words(data, &men);
        assert!(sentences.contains(word) && !plain.contains(word), "{word}: {sentences}");
    }
}
