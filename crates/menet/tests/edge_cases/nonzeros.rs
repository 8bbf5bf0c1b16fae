//! How many variables an axis uses, and which may enter.

use faer::mat;
use menet::{Dataset, Error, MenParams, SizeLimits};

use super::{fitted, message};
use crate::common::{self, clusters};

#[test]
fn the_default_number_of_nonzeros_follows_the_samples() {
    for (n, expected) in [(6, 50), (25, 50), (26, 52), (40, 80), (50, 100), (400, 100)] {
        assert_eq!(menet::params::default_nonzeros(n), expected);
    }
    // 30 samples of 90 variables, and of 20.
    for (p, expected) in [(90, 60), (20, 20)] {
        let data = clusters(5, 3, 10, p);
        let men = fitted(&data, &MenParams::paper());
        assert_eq!((data.samples(), men.nonzeros(), men.params().nonzeros), (30, expected, None));
        let asked = fitted(&data, &MenParams::paper().with(|it| it.nonzeros = Some(expected)));
        assert_eq!((asked.projection(), asked.nonzeros()), (men.projection(), expected));
        assert_eq!(
            men.at(
                SizeLimits::default().with(|it| {
                    it.nonzeros = Some(3);
                    it.components = None;
                }),
                None
            )
            .unwrap()
            .nonzeros(),
            3
        );
        let most = men.support_sizes().into_iter().max();
        assert_eq!(
            (Some(men.without_paths().nonzeros()), asked.without_paths().nonzeros()),
            (most, expected)
        );
    }
}

#[test]
fn numbers_of_nonzeros() {
    let data = clusters(7, 4, 6, 9);
    let with = |k| MenParams::paper().with(|it| it.nonzeros = Some(k));
    let all = fitted(&data, &with(1000));
    assert_eq!(all.support_sizes(), [9, 9, 9], "more than p means p");
    assert_eq!(fitted(&data, &with(1)).support_sizes(), [1, 1, 1]);
    assert!(message(&data, &with(0)).contains("`nonzeros` is 0"));
    assert!(
        all.at(
            SizeLimits::default().with(|it| {
                it.nonzeros = Some(0);
                it.components = None;
            }),
            None
        )
        .is_err()
            && all
                .at(
                    SizeLimits::default().with(|it| {
                        it.nonzeros = None;
                        it.components = Some(0);
                    }),
                    None
                )
                .is_err()
            && all
                .at(
                    SizeLimits::default().with(|it| {
                        it.nonzeros = None;
                        it.components = Some(4);
                    }),
                    None
                )
                .is_err()
    );
    assert!(
        fitted(&data, &with(3))
            .at(
                SizeLimits::default().with(|it| {
                    it.nonzeros = Some(4);
                    it.components = None;
                }),
                None
            )
            .is_err()
    );
}

#[test]
fn a_fit_holds_every_smaller_fit_bit_for_bit() {
    // More variables than a Gram matrix is formed for, so columns on demand.
    let wide = clusters(27, 4, 5, menet::gram::GRAM_LIMIT + 100);
    let large = fitted(&wide, &MenParams::paper().with(|it| it.nonzeros = Some(40)));
    for k in (1..=40).step_by(3) {
        let direct = fitted(&wide, &MenParams::paper().with(|it| it.nonzeros = Some(k)));
        assert_eq!(
            direct.paths(),
            large
                .at(
                    SizeLimits::default().with(|it| {
                        it.nonzeros = Some(k);
                        it.components = None;
                    }),
                    None
                )
                .unwrap()
                .paths(),
            "K {k}"
        );
    }
    let labels: Vec<usize> = (0..60).map(|i| i / 5).collect();
    let data = Dataset::from_owned(common::drawn::faces(3, 12, 5, 20), &labels).unwrap();
    let with = |k, d| {
        MenParams::paper().with(|it| {
            it.nonzeros = Some(k);
            it.components = Some(d);
        })
    };
    let large = fitted(&data, &with(40, 11));
    for (k, d) in [(40, 11), (40, 3), (39, 11), (17, 5), (5, 1), (1, 11)] {
        let (direct, cut) = (
            fitted(&data, &with(k, d)),
            large
                .at(
                    SizeLimits::default().with(|it| {
                        it.nonzeros = Some(k);
                        it.components = Some(d);
                    }),
                    None,
                )
                .unwrap(),
        );
        assert_eq!(direct.projection(), cut.projection(), "K {k} d {d}");
        assert_eq!(direct.paths(), cut.paths());
        assert_eq!((direct.levels(), direct.certificates()), (cut.levels(), cut.certificates()));
        assert_eq!(direct.params(), cut.params());
    }
}

#[test]
fn barred_and_favoured_variables() {
    let data = clusters(14, 3, 8, 10);
    let mut factors = vec![1.0; 10];
    factors[2] = f64::INFINITY;
    factors[6] = 1e-3;
    let params = MenParams::paper().with(|it| {
        it.penalty.factors = Some(factors);
        it.nonzeros = Some(4);
    });
    for (axis, path) in fitted(&data, &params).projection().axes().iter().zip(fitted(&data, &params).paths())
    {
        assert_eq!(axis.get(2), 0.0);
        assert_eq!(path.order_of_entry()[0], 6);
    }
    let short = MenParams::paper().with(|it| it.penalty.factors = Some(vec![1.0; 9]));
    assert!(message(&data, &short).contains("10 variables"));
}

#[test]
fn ties_that_leave_an_axis_empty_are_an_error() {
    // Two samples: every variable tells them apart equally well.
    let two = Dataset::from_owned(mat![[0.0, 1.0, 2.0], [1.0, 3.0, 1.0]], &["a", "b"]).unwrap();
    let with = |k| MenParams::paper().with(|it| it.nonzeros = Some(k));
    let message = message(&two, &with(2));
    assert!(
        message.contains("3 tie for the first place") && message.contains("`nonzeros` is 2"),
        "{message}"
    );
    let men = fitted(&two, &with(3));
    assert_eq!(men.support_sizes(), [3]);
    assert!(matches!(
        men.at(
            SizeLimits::default().with(|it| {
                it.nonzeros = Some(2);
                it.components = None;
            }),
            None
        ),
        Err(Error::Tie { component: 1, tied: 3, nonzeros: 2 })
    ));
}
