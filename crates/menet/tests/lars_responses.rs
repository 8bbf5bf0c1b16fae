//! Penalty factors that differ from response to response.

use crate::common;
use crate::common::{gaussian, rng};
use faer::Mat;
use menet::gram::FactorGram;
use menet::lars::{LarsOptions, lars_path, lars_paths, lars_paths_each};
use rand::RngExt;

/// Responses with factors of their own: the bits that each has alone.
#[test]
fn factors_of_every_response() {
    for p in [30, menet::gram::GRAM_LIMIT + 1] {
        let rng = &mut rng(5);
        let (x, y) = (gaussian(rng, 25, p), gaussian(rng, 25, 5));
        let b = x.transpose() * &y;
        let each = Mat::from_fn(p, 5, |j, k| match (j + k) % 10 {
            0 if k % 2 == 0 && j < 60 => 0.0,
            1 => f64::INFINITY,
            _ => rng.random_range(0.5..2.0),
        });
        let options = LarsOptions::default().with(|it| {
            it.ridge = 0.2;
            it.max_nonzeros = Some(9);
            it.working_set = 5;
        });
        let factor = FactorGram::new(x.clone());
        let together = lars_paths_each(&factor, b.as_ref(), each.as_ref(), &options, &()).unwrap();
        assert_eq!(together.len(), 5);
        for (k, path) in together.iter().enumerate() {
            let own = options.clone().with(|it| it.penalty_factors = Some(common::column(&each, k)));
            assert_eq!(*path, lars_path(&factor, &common::column(&b, k), &own, &()).unwrap());
            assert_eq!(path.free().is_empty(), k % 2 == 1);
        }
        // The same factors for all are those of the options.
        let same = Mat::from_fn(p, 5, |j, _| each[(j, 0)]);
        let shared = options.clone().with(|it| it.penalty_factors = Some(common::column(&each, 0)));
        assert_eq!(
            lars_paths_each(&factor, b.as_ref(), same.as_ref(), &options, &()).unwrap(),
            lars_paths(&factor, b.as_ref(), &shared, &()).unwrap()
        );
    }
}

#[test]
fn factors_of_every_response_are_checked() {
    let gram: Mat<f64> = Mat::identity(3, 3);
    let b: Mat<f64> = Mat::full(3, 2, 1.0);
    let run = |factors: Mat<f64>, options: &LarsOptions| {
        lars_paths_each(&gram, b.as_ref(), factors.as_ref(), options, &()).unwrap_err().to_string()
    };
    let default = LarsOptions::default();
    let ones = || Mat::full(3, 2, 1.0);
    assert!(run(Mat::full(3, 1, 1.0), &default).contains("2 responses"));
    assert!(run(Mat::full(2, 2, 1.0), &default).contains("3 variables"));
    let mut bad = ones();
    bad[(2, 1)] = -1.0;
    assert!(run(bad, &default).contains("-1 at variable 2"));
    let both = default.clone().with(|it| it.penalty_factors = Some(vec![1.0; 3]));
    assert!(run(ones(), &both).contains("factors of its own"));
    let mut free = ones();
    free[(0, 1)] = 0.0;
    assert!(run(free, &default.with(|it| it.positive = true)).contains("`positive`"));
}
