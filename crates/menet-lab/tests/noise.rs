//! Stability selection on noise: whatever the settings, nothing is stable, or they are refused.

use faer::Mat;
use menet::evaluate::generator;
use menet::params::Preset;
use menet::penalties::PenaltyKind;
use menet::penalties::feature_graph::FeatureGraph;
use menet::penalties::groups::{GroupAxes, Groups};
use menet::prepare::{Impute, Scale};
use menet::refit::Refit;
use menet::stability::{StabilityParams, select};
use menet::targets::TargetKind;
use menet::{Dataset, MenParams, Named, VariableRef};
use menet_lab::NamedSet;
use menet_lab::validate::{MenProcedure, Options, ValidationSubject, validate};
use rand::RngExt;

const SAMPLES: usize = 30;
const VARIABLES: usize = 150;

/// Noise. Half of the variables of the second kind are constant, and some values are missing.
fn noise(lacking: bool) -> Dataset<'static> {
    let mut rng = generator(12, &[]);
    let x = Mat::from_fn(SAMPLES, VARIABLES, |_, j| {
        let value = (0..6).map(|_| rng.random::<f64>()).sum::<f64>();
        match (lacking, j % 2) {
            (true, 1) => 3.0,
            (true, _) if rng.random::<f64>() < 0.05 => f64::NAN,
            _ => value,
        }
    });
    let labels: Vec<usize> = (0..SAMPLES).map(|i| i % 3).collect();
    Dataset::with_missing(x, &labels).unwrap()
}

/// Every kind of fit, by what is set.
fn settings() -> Vec<(String, MenParams)> {
    let base = MenParams::default().with(|it| it.nonzeros = Some(4));
    let mut all = Vec::new();
    let mut add =
        |name: String, change: &dyn Fn(&mut MenParams)| all.push((name, base.clone().with(|it| change(it))));
    for &penalty in PenaltyKind::ALL {
        add(format!("penalty {}", penalty.name()), &|it| it.penalty.kind = penalty);
        add(format!("penalty {}, panel of 8", penalty.name()), &|it| {
            (it.penalty.kind, it.nonzeros, it.panel_size) = (penalty, None, Some(8));
        });
    }
    for &refit in Refit::ALL {
        add(format!("refit {}", refit.name()), &|it| it.refit.kind = Some(refit));
        add(format!("refit {}, panel of 8", refit.name()), &|it| {
            (it.refit.kind, it.panel_size) = (Some(refit), Some(8));
        });
    }
    for &preset in Preset::ALL {
        add(format!("preset {}", preset.name()), &|it| {
            *it = preset.params().with(|own| own.nonzeros = it.nonzeros);
        });
    }
    for &target in TargetKind::ALL {
        add(format!("target {}", target.name()), &|it| it.target.kind = target);
    }
    for &scale in Scale::ALL {
        add(format!("scale {}", scale.name()), &|it| it.prepare.scale = scale);
    }
    for rule in menet::patches::REGISTRY {
        add(format!("patch {}", rule.name()), &|it| it.patch.kind = rule.name().to_owned());
    }
    let groups = || Groups::from_pairs((0..VARIABLES).map(|j| (j, (j / 5).to_string())));
    for &axes in GroupAxes::ALL {
        add(format!("groups, axes {}", axes.name()), &|it| {
            (it.penalty.feature_groups, it.penalty.group_axes) = (Some(groups()), axes);
        });
    }
    add("axes together".to_owned(), &|it| it.penalty.group_axes = GroupAxes::Together);
    add("feature graph".to_owned(), &|it| it.penalty.feature_graph = Some(FeatureGraph::Chain));
    let first = |count: usize| Some((0..count).map(VariableRef::Position).collect::<Vec<_>>());
    add("always".to_owned(), &|it| it.penalty.always = first(3));
    add("never, nine of ten".to_owned(), &|it| it.penalty.never = first(9 * VARIABLES / 10));
    add("penalty factors".to_owned(), &|it| {
        it.penalty.factors =
            Some((0..VARIABLES).map(|j| if j < 100 { f64::INFINITY } else { 1.0 }).collect());
    });
    add("four variables with small penalty factors".to_owned(), &|it| {
        it.penalty.factors = Some((0..VARIABLES).map(|j| if j < 4 { 0.2 } else { 1.0 }).collect());
    });
    add("no column scaling".to_owned(), &|it| it.penalty.standardize = false);
    add("reconstruction".to_owned(), &|it| it.pca_rank = Some(10));
    add("one axis".to_owned(), &|it| it.components = Some(1));
    add("no ridge".to_owned(), &|it| it.ridge = Some(0.0));
    add("constants and missing values".to_owned(), &|it| it.prepare.impute = Some(Impute::Mean));
    all
}

#[test]
fn nothing_is_stable_in_noise_whatever_the_settings() {
    let options = Options {
        folds: 2,
        repeats: 1,
        permutations: 0,
        pairs: 15,
        largest_panel: 10,
        threshold: 0.9,
        false_selections: 0.5,
        ..Options::default()
    };
    let how = StabilityParams::default().with(|it| {
        (it.pairs, it.most, it.threshold, it.false_selections) = (15, 10, 0.9, 0.5);
    });
    let (mut refused, mut largest) = (Vec::new(), Vec::new());
    for (name, params) in settings() {
        let data = noise(params.prepare.impute.is_some());
        let men = MenProcedure::fixed(params.clone());
        let set = NamedSet {
            name: "noise".to_owned(),
            data: noise(params.prepare.impute.is_some()),
            rows: None,
            ids: None,
        };
        let subject = ValidationSubject { set: &set, groups: None, procedures: &[&men] };
        let selected = select(&data, &params, &how, &(), &|_, _| ());
        match validate(subject, &options, None, &[], &()) {
            Ok(found) => {
                let found = found.stability.unwrap();
                assert_eq!(found.stable, Vec::<usize>::new(), "{name}");
                assert_eq!(selected.unwrap().stable, Vec::<usize>::new(), "{name}");
                // Half-samples of the same noise agree a little.
                let worst = found.by_size.iter().map(|(_, index)| index.mean).fold(f64::MIN, f64::max);
                largest.push((name.clone(), worst));
            }
            Err(error) => {
                let (here, there) = (error.to_string(), selected.unwrap_err().to_string());
                assert!(here.starts_with(&there) && here.contains("--pairs 0"), "{name}: {here}\n{there}");
                assert!(here.contains("stability selection"), "{name}: {here}");
                let without = Options { pairs: 0, ..options.clone() };
                assert!(validate(subject, &without, None, &[], &()).is_ok(), "{name}");
                refused.push(name);
            }
        }
    }
    let wrong: Vec<_> = largest.iter().filter(|(_, worst)| *worst > 0.3).collect();
    assert!(wrong.is_empty(), "{wrong:?} of {largest:?}");
    assert_eq!(refused.len(), 11, "{refused:?}");
}
