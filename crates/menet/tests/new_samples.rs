//! Predictions without doubt: samples of which nothing is known, and values that no training sample comes near.

use faer::Mat;
use menet::dataset::View;
use menet::prepare::{Impute, Scale};
use menet::rules::{Priors, RuleKind};
use menet::sparse::SparseMatrix;
use menet::{Dataset, Men, MenParams, Named, fit};

const P: usize = 7;

/// Sixteen samples of class 0 and eight of class 1, which variable 2 tells apart; a few values are missing.
fn model(change: impl Fn(&mut MenParams)) -> (Men, Mat<f64>) {
    let labels: Vec<usize> = (0..24).map(|i| usize::from(i % 3 == 0)).collect();
    let x = Mat::from_fn(24, P, |i, j| {
        let noise = ((i * 37 + j * 101 + i * j * 13) % 97) as f64 / 20.0;
        noise + if j == 2 { 9.0 * labels[i] as f64 } else { 0.0 }
    });
    let holes = Mat::from_fn(24, P, |i, j| if (i + 2 * j) % 11 == 0 { f64::NAN } else { x[(i, j)] });
    let params =
        MenParams::default().with(|it| (it.panel_size, it.prepare.impute) = (Some(3), Some(Impute::Mean)));
    (fit(&Dataset::with_missing(holes, &labels).unwrap(), &params.with(change), &()).unwrap(), x)
}

/// Samples like those of the fit, the first of which lacks the panel, and the second all of it but one value.
fn lacking(men: &Men, x: &Mat<f64>) -> Mat<f64> {
    let panel = men.panel();
    Mat::from_fn(4, P, |i, j| {
        let lacks = match i {
            0 => panel.contains(&j),
            1 => panel.contains(&j) && j != panel[1],
            2 => !panel.contains(&j),
            _ => false,
        };
        if lacks { f64::NAN } else { x[(i, j)] }
    })
}

#[test]
fn a_sample_without_any_value_of_the_panel_gets_the_priors() {
    for &rule in RuleKind::ALL {
        for (priors, most, probability) in [
            (Priors::Train, 0, 16.0 / 24.0),
            (Priors::Equal, 0, 0.5),
            (Priors::Given(vec![1.0, 3.0]), 1, 0.75),
        ] {
            for impute in Impute::ALL {
                let (men, x) = model(|it| {
                    (it.rule.kind, it.rule.priors, it.prepare.impute) =
                        (Some(rule), priors.clone(), Some(*impute));
                });
                let x = lacking(&men, &x);
                let what = format!("{} {priors:?} {}", rule.name(), impute.name());
                let forms = [(men.clone(), (0..P).collect()), (men.on_panel().unwrap(), men.panel())];
                for (men, places) in forms {
                    let x = Mat::from_fn(4, places.len(), |i, j| x[(i, places[j])]);
                    let z = men.transform(x.as_ref()).unwrap();
                    assert!(z.row(0).iter().all(|z| z.is_nan()), "{what}");
                    assert!((1..4).all(|i| z.row(i).iter().all(|z| z.is_finite())), "{what}");
                    let learned = men.rule().unwrap();
                    assert_eq!(learned.classify(z.as_ref()).unwrap()[0], most, "{what}");
                    let logs = learned.log_probabilities(z.as_ref()).unwrap();
                    assert!((logs[(0, most)].exp() - probability).abs() < 1e-12, "{what}: {logs:?}");
                    // The others are decided as if it were not there.
                    let rest = z.subrows(1, 3);
                    assert_eq!(learned.classify(rest).unwrap(), learned.classify(z.as_ref()).unwrap()[1..]);
                    assert_eq!(learned.log_probabilities(rest).unwrap(), logs.subrows(1, 3).to_owned());
                    assert_eq!(
                        learned.decision_values(rest).unwrap(),
                        learned.decision_values(z.as_ref()).unwrap().subrows(1, 3).to_owned()
                    );
                    let alone = z.subrows(0, 1);
                    assert_eq!(learned.classify(alone).unwrap(), [most]);
                    // A row that is partly NaN is none of these.
                    let (mut broken, value) = (z.clone(), z[(1, 0)]);
                    broken[(1, 0)] = f64::INFINITY;
                    assert!(learned.classify(broken.as_ref()).is_err(), "{value}");
                    let doubts = men.doubts_of(View::Double(x.as_ref()), None).unwrap();
                    assert_eq!((doubts.panel, &doubts.missing[..]), (3, &[3, 2, 0, 0][..]), "{what}");
                    assert_eq!(doubts.unknown().collect::<Vec<_>>(), [0]);
                    assert!(doubts.far.is_empty(), "{what}: {:?}", doubts.far);
                }
            }
        }
    }
}

#[test]
fn values_far_outside_the_training_range_are_told() {
    for &scale in Scale::ALL {
        let (men, x) = model(|it| it.prepare.scale = scale);
        let variable = men.panel()[0];
        let column: Vec<f64> = x.col(variable).iter().copied().collect();
        let top = column.iter().copied().fold(f64::MIN, f64::max);
        let width = top - column.iter().copied().fold(f64::MAX, f64::min);
        let doubts = |value: f64| {
            let new = Mat::from_fn(24, P, |i, j| if (i, j) == (5, variable) { value } else { x[(i, j)] });
            let doubts = men.doubts_of(View::Double(new.as_ref()), None).unwrap();
            let single = Mat::from_fn(24, P, |i, j| new[(i, j)] as f32);
            assert_eq!(
                men.doubts_of(View::Single(single.as_ref()), None).unwrap().far.len(),
                doubts.far.len()
            );
            let sparse = SparseMatrix::from_dense(new.as_ref()).unwrap();
            assert_eq!(men.doubts_of(View::Sparse(&sparse), None).unwrap(), doubts, "{}", scale.name());
            doubts
        };
        assert!(doubts(column[5]).far.is_empty());
        // One value of three: a long tail.
        assert!(doubts(top + 0.3 * width).far.is_empty(), "{}", scale.name());
        if scale == Scale::None {
            assert!(doubts(top + 4.0 * width).far.is_empty());
            let units = Mat::from_fn(24, P, |i, j| x[(i, j)] + if i == 3 { 4.0 * width } else { 0.0 });
            let found = men.doubts_of(View::Double(units.as_ref()), None).unwrap();
            assert_eq!(found.far.iter().map(|far| far.sample).collect::<Vec<_>>(), [3], "all values");
        }
        if scale.name().starts_with("log") {
            // A few widths of logarithms.
            assert!(doubts(top + 1e4 * width).far.is_empty());
            continue;
        }
        let found = doubts(top + 1e4 * width);
        assert_eq!(found.far.len(), 1);
        let far = found.far[0];
        assert_eq!((far.sample, far.variable, far.value), (5, variable, top + 1e4 * width));
        if scale == Scale::None {
            assert!((far.widths / 1e4 - 1.0).abs() < 0.2, "{far:?}");
        }
        let sentences = found.in_words(&|i| format!("s{i}"), &|j| men.name_of(j));
        assert!(sentences.len() == 1 && sentences[0].contains("1 of 24 samples (s5 with "), "{sentences:?}");
    }
}

/// The range is that of the training samples of each form: with sums over pieces, too (`pieces.rs` compares whole models).
#[test]
fn the_range_is_that_of_the_training_samples() {
    let labels: Vec<usize> = (0..20).map(|i| i % 2).collect();
    let x = Mat::from_fn(20, 3, |i, j| ((i * 7 + j * 5) % 11) as f64 + 3.0 * (labels[i] * j) as f64);
    let men = fit(&Dataset::new(x.as_ref(), &labels).unwrap(), &MenParams::default(), &()).unwrap();
    for row in &men.parts().panel {
        let (low, high) = row.range.unwrap();
        let j = row.variable;
        let column = || x.col(j).iter().copied();
        let (least, most) = (column().fold(f64::MAX, f64::min), column().fold(f64::MIN, f64::max));
        assert!((low - least).abs() < 1e-12 && (high - most).abs() < 1e-12, "{j}: {low} {high}");
    }
}

#[test]
fn what_is_doubtful_is_said_once_per_doubt() {
    let (men, x) = model(|_| ());
    let x = lacking(&men, &x);
    let doubts = men.doubts_of(View::Double(x.as_ref()), None).unwrap();
    let sentences = doubts.in_words(&|i| format!("s{i}"), &|j| men.name_of(j));
    assert_eq!(sentences.len(), 2, "{sentences:?}");
    assert!(sentences[0].contains("without any value of the panel: 1 of 4 samples (s0)"), "{sentences:?}");
    assert!(
        sentences[1].contains("fewer than half of the 3 values of the panel: 1 of 4 samples (s1)"),
        "{sentences:?}"
    );
    let wrong = Mat::<f64>::zeros(2, 3);
    assert!(
        men.doubts_of(View::Double(wrong.as_ref()), None).unwrap_err().to_string().contains("7 variables")
    );
}

/// A new batch of which one sample has values has no centre: that sample would be its own.
#[test]
fn a_sample_alone_with_its_values_in_a_new_batch_is_unknown() {
    let labels: Vec<usize> = (0..24).map(|i| usize::from(i % 3 == 0)).collect();
    let x = Mat::from_fn(24, P, |i, j| {
        ((i * 37 + j * 101) % 97) as f64 + if j == 2 { 90.0 * labels[i] as f64 } else { 0.0 }
    });
    let batches: Vec<&str> = (0..24).map(|i| ["a", "b"][i / 2 % 2]).collect();
    let data = Dataset::with_missing(x.clone(), &labels).unwrap().with_batches(&batches).unwrap();
    let params =
        MenParams::default().with(|it| (it.panel_size, it.prepare.impute) = (Some(3), Some(Impute::Mean)));
    let men = fit(&data, &params, &()).unwrap();
    let new = Mat::from_fn(4, P, |i, j| if i == 0 { x[(5, j)] + 1e3 } else { f64::NAN });
    let names = vec!["new".to_owned(); 4];
    let z = men.transform_batches(View::Double(new.as_ref()), Some(&names)).unwrap();
    assert!(z.col(0).iter().all(|z| z.is_nan()), "{z:?}");
    let doubts = men.doubts_of(View::Double(new.as_ref()), Some(&names)).unwrap();
    assert_eq!((doubts.missing.clone(), doubts.unknown().count()), (vec![3; 4], 4));
    // Two values make a centre.
    let two = Mat::from_fn(4, P, |i, j| if i < 2 { x[(5 + i, j)] } else { f64::NAN });
    let z = men.transform_batches(View::Double(two.as_ref()), Some(&names)).unwrap();
    assert!(z[(0, 0)].is_finite() && z[(1, 0)].is_finite() && z[(2, 0)].is_nan());
}
