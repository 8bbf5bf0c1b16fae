//! Groups in a whole fit.

use faer::Mat;
use menet::penalties::groups::{GroupAxes, Groups};
use menet::plan::GramRequest;
use menet::refit::Refit;
use menet::{Dataset, MenParams, SizeLimits, fit};

use crate::common::{gaussian, normal, rng};

/// Samples of four classes; variable 5 is constant.
fn samples() -> (Mat<f64>, Vec<usize>) {
    let mut rng = rng(10);
    let labels: Vec<usize> = (0..80).map(|i| i % 4).collect();
    let centres = gaussian(&mut rng, 4, 8);
    let x = Mat::from_fn(80, 30, |i, j| match j {
        5 => 3.0,
        0..8 => 2.0 * centres[(labels[i], j)] + normal(&mut rng),
        _ => normal(&mut rng),
    });
    (x, labels)
}

#[test]
fn a_fit_uses_whole_groups_and_never_constant_columns() {
    let (x, labels) = samples();
    let data = Dataset::from_owned(x, &labels).unwrap();
    let groups = Groups::from_pairs((0..30).map(|j| (j, format!("window {}", j / 3))));
    let base = MenParams::paper().with(|it| {
        it.nonzeros = Some(2);
        it.penalty.feature_groups = Some(groups.clone());
    });
    for axes in [GroupAxes::Each, GroupAxes::Together] {
        for refit in [Refit::None, Refit::Axis, Refit::Panel, Refit::Discriminant] {
            for gram in [GramRequest::Full, GramRequest::Columns] {
                let params = base.clone().with(|it| {
                    (it.penalty.group_axes, it.refit.kind, it.compute.gram) = (axes, Some(refit), gram);
                });
                let men = fit(&data, &params, &()).unwrap();
                assert!(men.certificates().iter().all(|certificate| certificate.kkt <= 1e-9));
                assert!(men.doubts().is_empty(), "{:?}", men.doubts());
                let chosen = men.chosen_groups().unwrap();
                assert!(chosen.len() == 3 && chosen.iter().all(|chosen| chosen.len() == 2), "{chosen:?}");
                assert!(axes == GroupAxes::Each || chosen.windows(2).all(|pair| pair[0] == pair[1]));
                for (axis, chosen) in men.paths().iter().zip(&chosen) {
                    let members = chosen.iter().flat_map(|&g| groups.groups()[g].variables.iter().copied());
                    let mut members: Vec<usize> = members.filter(|&j| j != 5).collect();
                    members.sort_unstable();
                    assert_eq!(axis.last().coefficients.indices(), members);
                }
                assert!(!men.panel().contains(&5));
            }
        }
    }
    assert_eq!(fit(&data, &MenParams::paper(), &()).unwrap().chosen_groups(), None);
}

#[test]
fn a_fit_says_when_it_has_fewer_groups() {
    let (x, labels) = samples();
    let data = Dataset::from_owned(x, &labels).unwrap();
    // More than there are: all of them, and nothing to say. More than a level has: that is said.
    let groups = Groups::from_pairs((0..30).map(|j| (j, (j / 15).to_string())));
    let params = MenParams::paper().with(|it| {
        it.nonzeros = Some(7);
        it.penalty.feature_groups = Some(groups);
    });
    let men = fit(&data, &params, &()).unwrap();
    assert!(men.chosen_groups().unwrap().iter().all(|chosen| chosen.len() == 2));
    assert!(men.doubts().is_empty(), "{:?}", men.doubts());
}

#[test]
fn a_fit_refuses_what_does_not_go_with_groups() {
    let (x, labels) = samples();
    let data = Dataset::from_owned(x, &labels).unwrap();
    let params = MenParams::default()
        .with(|it| it.penalty.feature_groups = Some(Groups::from_pairs([(0, "a"), (1, "a")])));
    let refused: [(MenParams, &str); 4] = [
        (params.clone().with(|it| it.panel_size = Some(3)), "panel_size"),
        (params.clone().with(|it| it.penalty.factors = Some(vec![0.0; 30])), "penalty.factors"),
        (
            params.clone().with(|it| it.penalty.feature_groups = Some(Groups::from_pairs([(30, "a")]))),
            "variable 30",
        ),
        (
            MenParams::default()
                .with(|it| (it.penalty.group_axes, it.panel_size) = (GroupAxes::Together, Some(1))),
            "panel_size",
        ),
    ];
    for (params, expected) in refused {
        let message = fit(&data, &params, &()).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
    let men = fit(&data, &params, &()).unwrap();
    let smaller = SizeLimits::default().with(|it| it.nonzeros = Some(1));
    let own = fit(&data, &params.clone().with(|it| it.nonzeros = Some(1)), &()).unwrap();
    assert_eq!(men.at(smaller, Some(&data)).unwrap().projection(), own.projection());
    assert!(men.at(smaller, None).unwrap_err().to_string().contains("training samples"));
    let scad = params.clone().with(|it| it.penalty.kind = menet::penalties::PenaltyKind::Scad);
    assert!(fit(&data, &scad, &()).unwrap_err().to_string().contains("l1 with groups"));
    let one_axis = SizeLimits::default().with(|it| it.components = Some(1));
    assert_eq!(men.at(one_axis, Some(&data)).unwrap().chosen_groups().unwrap().len(), 1);
    let barred = (0..30).map(|j| if j == 0 { f64::INFINITY } else { 1.0 }).collect();
    let men = fit(&data, &params.with(|it| it.penalty.factors = Some(barred)), &()).unwrap();
    assert!(!men.panel().contains(&0));
}
