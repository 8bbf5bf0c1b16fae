//! Parameters out of range, stages that do not belong together, and a monitor that stops a fit.

use std::sync::Mutex;

use menet::neighbors::{NeighborScope, neighbors};
use menet::targets::{AxisCount, TargetKind, target};
use menet::{Centred, Error, MenParams, Monitor, Stage, fit};

use super::message;
use crate::common::clusters;

#[test]
fn stages_refuse_what_does_not_belong_together() {
    let (one, other) = (clusters(24, 3, 6, 5), clusters(25, 3, 5, 5));
    let pre = Centred::new(&other, None).unwrap();
    let size = |error: Error| assert!(matches!(error, Error::Size { .. }), "{error}");
    size(neighbors(&one, &pre, NeighborScope::All, 2, &()).unwrap_err());
    size(target(&one, &pre, TargetKind::Centres, 1.0, AxisCount::All, &()).unwrap_err());
}

#[test]
fn parameters_out_of_range() {
    let data = clusters(21, 3, 5, 6);
    let d = MenParams::default;
    let cases = [
        ("ridge", d().with(|it| it.ridge = Some(-0.1))),
        ("ridge", d().with(|it| it.ridge = Some(f64::NAN))),
        ("manifold.alpha", d().with(|it| it.manifold.alpha = -1.0)),
        ("manifold.beta", d().with(|it| it.manifold.beta = 0.0)),
        ("manifold.kappa", d().with(|it| it.manifold.kappa = f64::INFINITY)),
        ("patch.k_within", d().with(|it| it.patch.k_within = 0)),
        ("patch.kind", d().with(|it| it.patch.kind = "umap".to_owned())),
        ("patch.bandwidth", d().with(|it| it.patch.bandwidth = Some(0.0))),
        ("patch.regularizer", d().with(|it| it.patch.regularizer = 0.0)),
        ("patch.dimension", d().with(|it| it.patch.dimension = Some(0))),
        ("target.shrinkage", d().with(|it| it.target.shrinkage = 0.0)),
        ("manifold.floor", d().with(|it| it.manifold.floor = 0.0)),
        ("manifold.floor", d().with(|it| it.manifold.floor = 1.1)),
        ("pca_rank", d().with(|it| it.pca_rank = Some(0))),
    ];
    for (name, params) in cases {
        let message = message(&data, &params);
        assert!(message.starts_with(&format!("`{name}` is ")), "{message}");
    }
}

#[derive(Default)]
struct Recorder {
    seen: Mutex<Vec<Stage>>,
    stop_at: Option<Stage>,
}

impl Monitor for Recorder {
    fn progress(&self, stage: Stage, done: usize, total: usize) {
        assert!(done <= total);
        self.seen.lock().unwrap().push(stage);
    }
    fn stop(&self) -> bool {
        self.stop_at.is_some() && self.seen.lock().unwrap().last() == self.stop_at.as_ref()
    }
}

#[test]
fn a_monitor_sees_every_stage_and_can_stop_any() {
    let data = clusters(22, 3, 6, 8);
    let recorder = Recorder::default();
    let men = fit(&data, &MenParams::paper(), &recorder).unwrap();
    let mut seen = recorder.seen.into_inner().unwrap();
    seen.dedup();
    assert_eq!(seen, Stage::ALL);
    assert_eq!(men.report().seconds.iter().map(|(stage, _)| *stage).collect::<Vec<_>>(), Stage::ALL);
    for stage in Stage::ALL {
        let recorder = Recorder { stop_at: Some(stage), ..Recorder::default() };
        // Asked as a stage begins, it ends within that stage, or before the next one where it cannot be cut.
        let Err(Error::Stopped { stage: at }) = fit(&data, &MenParams::paper(), &recorder) else {
            panic!("{stage}")
        };
        let place = |stage| Stage::ALL.iter().position(|&other| other == stage).unwrap();
        assert!(place(at) == place(stage) || place(at) == place(stage) + 1, "{stage} stopped at {at}");
    }
}
