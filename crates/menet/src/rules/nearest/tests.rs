use super::*;
use crate::named::Named;
use faer::mat;

#[test]
fn ties_go_to_the_lower_row_and_the_nearest_voter() {
    let gallery = mat![[1.0], [-1.0], [2.0], [-3.0], [3.0f64]];
    let one =
        |k| nearest_neighbors(gallery.as_ref(), &[7, 8, 8, 7, 9], mat![[0.0]].as_ref(), k, Metric::Euclidean);
    assert_eq!(one(1).unwrap(), [Prediction { class: 7, distance: 1.0 }]);
    assert_eq!(one(3).unwrap(), [Prediction { class: 8, distance: 1.0 }]);
    assert_eq!(one(4).unwrap()[0].class, 7, "two votes each: the nearest decides");
    assert_eq!(one(99).unwrap()[0].class, 7);
    assert!(one(0).is_err());
}

#[test]
fn side_by_side_they_are_the_same_distances() {
    let gallery = Mat::from_fn(2500, 5, |i, k| ((i * 31 + k * 17 + i * k) % 23) as f64 - 11.0);
    for metric in [Metric::Euclidean, Metric::Cosine] {
        let (known, mut found) = (Gallery::new(gallery.as_ref(), metric), Vec::new());
        for sample in [[0.0; 5], [1.0, -2.0, 0.5, 3.0, 7.0], [-11.0, 3.0, 3.0, 0.1, 0.0]] {
            known.distances(&sample, &mut found);
            let expected: Vec<f64> = gallery
                .row_iter()
                .map(|row| metric.distance(&sample, &row.iter().copied().collect::<Vec<_>>()))
                .collect();
            assert_eq!(found, expected);
            let first = (0..2500).min_by(|&a, &b| expected[a].total_cmp(&expected[b])).unwrap();
            assert_eq!(nearest(&found), (first, expected[first]));
        }
    }
}

#[test]
fn wrong_sizes_are_errors() {
    let x = mat![[1.0, 2.0f64]];
    let run = |gallery: MatRef<'_, f64>, classes: &[usize], samples: MatRef<'_, f64>| {
        nearest_neighbors(gallery, classes, samples, 1, Metric::Cosine)
    };
    assert!(run(x.as_ref(), &[0, 1], x.as_ref()).is_err());
    assert!(run(x.as_ref(), &[0], x.subcols(0, 1)).is_err());
    assert!(run(x.subrows(0, 0), &[], x.as_ref()).is_err());
}

#[test]
fn values_and_classes_are_those_of_the_neighbours() {
    // Whole numbers: many distances tie.
    let z = Mat::from_fn(40, 2, |i, k| ((i * 7 + k * 13 + i * i) % 5) as f64);
    let classes: Vec<usize> = (0..40).map(|i| i % 3).collect();
    let asked = Mat::from_fn(60, 2, |i, k| ((i * 3 + k * 5 + i * i) % 6) as f64);
    let projected = Projected { z: z.as_ref(), classes: &classes, count: 3, weights: None, covariance: None };
    for &metric in Metric::ALL {
        for neighbors in [1, 3, 4, 99] {
            let params = RuleParams { neighbors, metric, ..RuleParams::default() };
            let rule = Nearest::learn(&params, &projected, true).unwrap();
            let found = nearest_neighbors(z.as_ref(), &classes, asked.as_ref(), neighbors, metric).unwrap();
            let expected: Vec<usize> = found.iter().map(|found| found.class).collect();
            assert_eq!(rule.classify(asked.as_ref()).unwrap(), expected);
            for (i, decision) in rule.decisions(asked.as_ref()).unwrap().iter().enumerate() {
                assert_eq!(decision.class, expected[i]);
                assert!(decision.values.iter().all(|&value| value <= decision.values[expected[i]]));
                if neighbors == 1 {
                    let value = -found[i].distance / rule.temperature;
                    assert_eq!(decision.values[expected[i]], value);
                }
            }
        }
    }
}

#[test]
fn without_a_pair_the_temperature_is_the_mean_distance() {
    let z = mat![[0.0], [1.0], [5.0f64]];
    let learn = |neighbors| {
        let params = RuleParams { neighbors, ..RuleParams::default() };
        let projected =
            Projected { z: z.as_ref(), classes: &[0, 1, 2], count: 3, weights: None, covariance: None };
        Nearest::learn(&params, &projected, true).unwrap().temperature
    };
    assert!((learn(1) - 10.0 / 3.0).abs() < 1e-15);
    assert_eq!(learn(2), 1.0);
}
