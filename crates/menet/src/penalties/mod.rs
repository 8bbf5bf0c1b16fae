//! Penalties other than ℓ1, which the paper leaves to future work.
//!
//! The lasso selects and shrinks with the same force, so large coefficients are too small, and small false ones take their place.
//! A concave penalty shrinks large coefficients less:
//!
//! ```text
//! ½ wᵀ(G₀ + λ2 I) w − bᵀw + Σⱼ P(gⱼ|wⱼ|, λ) / gⱼ
//! ```
//!
//! gⱼ is the squared length of variable j, ridge included, so that a penalty means the same in any unit. P is one of
//!
//! | penalty | weight `P′(t, λ)/λ` | reference |
//! |---|---|---|
//! | [`l1`](PenaltyKind::L1) | 1 | Tibshirani 1996 |
//! | `adaptive` (`adaptive.rs`) | `(ε/(t + ε))^γ`, t from a first fit | Zou 2006; Zou and Zhang 2009 |
//! | `reweighted` (`reweighted.rs`) | `ε/(t + ε)` | Candès, Wakin and Boyd 2008 |
//! | `scad` (`scad.rs`) | 1 to λ, then falling to 0 at aλ | Fan and Li 2001 |
//! | `mcp` (`mcp.rs`) | `(1 − t/(γλ))₊` | Zhang 2010 |
//!
//! They are solved in rounds of exact weighted lasso paths. The penalty [`l0`](PenaltyKind::L0) counts variables, and has no weights.
//!
//! To add a penalty with weights: one file here with a type that implements [`Penalty`], one variant of [`PenaltyKind`] and one line in
//! [`PenaltyKind::penalty`]. The contract test below, the command and Python follow from these.

mod adaptive;
mod between;
mod descent;
pub mod feature_graph;
pub mod groups;
mod kind;
pub mod l0;
mod mcp;
mod params;
mod reweighted;
mod rounds;
mod scad;

use faer::MatRef;
use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::gram::Gram;
use crate::lars::{self, LarsMethod, LarsOptions, Path, PenaltyReport, lars_paths};
use crate::monitor::Monitor;
use crate::named::Named;
pub use kind::{PathPenalty, PenaltyKind};
pub use params::PenaltyParams;
pub use rounds::Round;

/// Largest number of variables that are exchanged at once, in the search for best subsets.
const EXCHANGES: usize = 3;

/// The numbers that a penalty may depend on besides the level.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Tuning {
    /// γ of SCAD (its a), of MCP and of the adaptive weights.
    pub gamma: f64,
    /// ε of the adaptive and reweighted penalties, in the units of t.
    pub epsilon: f64,
}

impl Tuning {
    /// Of both numbers.
    pub fn new(gamma: f64, epsilon: f64) -> Self {
        Tuning { gamma, epsilon }
    }
}

/// A concave penalty P(t, λ) of the size t ≥ 0 of a coefficient.
pub trait Penalty: Sync + std::fmt::Debug {
    /// Which it is.
    fn kind(&self) -> PenaltyKind;

    /// The γ that is used where none is given; none if it has no γ.
    fn default_gamma(&self) -> Option<f64>;

    /// The γ must be larger than this.
    fn least_gamma(&self) -> f64;

    /// ε that is used where none is given, relative to the largest t of the first fit; none if it has no ε.
    fn default_epsilon(&self) -> Option<f64>;

    /// Whether there is one round only.
    fn once(&self) -> bool {
        false
    }

    /// `P′(t, λ)/λ`: 1 at t = 0, falling, never below 0.
    fn weight(&self, t: f64, level: f64, tuning: Tuning) -> f64;

    /// `P(t, λ)`.
    fn value(&self, t: f64, level: f64, tuning: Tuning) -> f64;

    /// `P″(t, λ)`, at most 0.
    fn curvature(&self, t: f64, level: f64, tuning: Tuning) -> f64;
}

/// A path of a penalty that is solved in rounds.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Penalised {
    /// The path of the last round, to the level at which the coefficients are stationary.
    pub path: Path,
    /// What every round did, in order.
    pub history: Vec<Round>,
}

/// The paths of many responses, one per column of `b` (p×d), under any penalty.
///
/// `lengths` are the squared lengths of the variables, without the ridge. Penalties other than ℓ1 end at
/// [`max_nonzeros`](LarsOptions::max_nonzeros) variables, or, with rounds and if that is none, at [`lambda_min`](LarsOptions::lambda_min).
///
/// # Errors
/// As [`penalised_paths`].
pub fn paths(
    gram: &dyn Gram,
    b: MatRef<'_, f64>,
    lengths: &[f64],
    options: &LarsOptions,
    params: &PathPenalty,
    monitor: &dyn Monitor,
) -> Result<Vec<Path>> {
    params.check()?;
    match params.kind {
        PenaltyKind::L1 => lars_paths(gram, b, options, monitor),
        PenaltyKind::L0 => best_subsets(gram, b, options, monitor),
        _ => {
            let found = penalised_paths(gram, b, lengths, options, params, monitor)?;
            Ok(found.into_iter().map(|found| found.path).collect())
        }
    }
}

/// Refuses a level beside a number of variables: only one of them can end a path that is solved for one size.
fn refuse_level(kind: PenaltyKind, options: &LarsOptions) -> Result<()> {
    if options.lambda_min > 0.0 && (options.max_nonzeros.is_some() || kind == PenaltyKind::L0) {
        let allowed = format!("left out beside `max_nonzeros` with the penalty {}", kind.name());
        return Err(Error::parameter("lambda_min", format!("{:?}", options.lambda_min), allowed));
    }
    Ok(())
}

/// The best subsets of every response, from its ℓ1 path.
fn best_subsets(
    gram: &dyn Gram,
    b: MatRef<'_, f64>,
    options: &LarsOptions,
    monitor: &dyn Monitor,
) -> Result<Vec<Path>> {
    if options.max_nonzeros.is_none() {
        let allowed = "given with the penalty l0: the largest number of variables of a subset";
        return Err(Error::parameter("max_nonzeros", "none", allowed));
    }
    refuse_level(PenaltyKind::L0, options)?;
    if options.method != LarsMethod::Lasso {
        return Err(Error::parameter("method", "lars", "lasso with the penalty l0, which has no other"));
    }
    let other = |v: &&f64| ![0.0, 1.0, f64::INFINITY].contains(*v);
    if let Some(factor) = options.penalty_factors.iter().flatten().find(other) {
        let allowed = "0, 1 or infinity with the penalty l0, which counts variables";
        return Err(Error::parameter("penalty_factors", format!("{factor:?} for a variable"), allowed));
    }
    let paths = lars_paths(gram, b, options, monitor)?;
    let spliced = paths.par_iter().enumerate().with_max_len(1).map(|(k, path)| {
        let b: Vec<f64> = b.col(k).iter().copied().collect();
        let found = l0::splice(gram, &b, path, options, EXCHANGES, monitor)?;
        Ok(found.path.with_report(PenaltyReport::Subsets { local: found.certified }))
    });
    spliced.collect()
}

/// The paths of the regressions of every column of `y` (n×d) on the columns of `x` (n×p), under any penalty. Nothing is centred or scaled.
///
/// # Errors
/// As [`paths`].
pub fn regression_paths(
    x: MatRef<'_, f64>,
    y: MatRef<'_, f64>,
    options: &LarsOptions,
    params: &PathPenalty,
    monitor: &dyn Monitor,
) -> Result<Vec<Path>> {
    if params.kind == PenaltyKind::L1 {
        params.check()?;
        return lars::regression_paths(x, y, options, monitor);
    }
    lars::of_regression(x, y, |gram, b, _| paths(gram, b, &gram.diagonal(), options, params, monitor))
}

/// The paths of many responses, one per column of `b` (p×d), under a penalty with rounds.
///
/// `lengths` are the squared lengths gⱼ of the variables, without the ridge. Each path ends where at most
/// [`max_nonzeros`](LarsOptions::max_nonzeros) variables are used, or, if that is none, at
/// [`lambda_min`](LarsOptions::lambda_min). What is reported of the rounds is in [`Path::report`].
///
/// # Errors
/// As [`lars_path`](crate::lars::lars_path); and when the penalty has no rounds, or there is neither a number of variables nor a level.
pub fn penalised_paths(
    gram: &dyn Gram,
    b: MatRef<'_, f64>,
    lengths: &[f64],
    options: &LarsOptions,
    params: &PathPenalty,
    monitor: &dyn Monitor,
) -> Result<Vec<Penalised>> {
    params.check()?;
    let Some(penalty) = params.kind.penalty() else {
        return Err(Error::parameter("penalty", params.kind.name(), "one that is solved in rounds"));
    };
    let name = params.kind.name();
    if options.positive || options.method != LarsMethod::Lasso {
        let allowed =
            "false, and the method the lasso, with penalties other than l1: their rounds need both signs";
        return Err(Error::parameter("positive", options.positive, allowed));
    }
    if options.max_nonzeros.is_none() && options.lambda_min <= 0.0 {
        let allowed =
            format!("given, or `lambda_min` > 0: the penalty {name} is solved for one size or level");
        return Err(Error::parameter("max_nonzeros", "none", allowed));
    }
    refuse_level(params.kind, options)?;
    if lengths.len() != gram.dim() {
        let why = format!("there are {} variables", gram.dim());
        return Err(Error::Size { what: "`lengths`", given: lengths.len(), expected: gram.dim(), why });
    }
    rounds::solve(gram, b, lengths, options, (penalty, params), monitor)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Vec<&'static dyn Penalty> {
        PenaltyKind::ALL.iter().filter_map(|kind| kind.penalty()).collect()
    }

    /// The contract: the weight is the derivative of the value over λ, 1 at zero, and falls; the curvature is its derivative.
    #[test]
    fn a_penalty_is_its_weight_function() {
        for penalty in all() {
            let usual = penalty.default_gamma().unwrap_or(1.0);
            let gammas = [usual, penalty.least_gamma() + 0.3, 3.0 * usual + 1.0];
            for (gamma, level) in
                gammas.iter().flat_map(|&gamma| [(gamma, 0.02), (gamma, 1.0), (gamma, 30.0)])
            {
                let tuning = Tuning { gamma, epsilon: 0.3 * level };
                let value = |t: f64| penalty.value(t, level, tuning);
                let weight = |t: f64| penalty.weight(t, level, tuning);
                assert_eq!((value(0.0), weight(0.0)), (0.0, 1.0), "{penalty:?}");
                let mut last = 1.0;
                for step in 1..400 {
                    let t = level * 0.0317 * f64::from(step);
                    let h = 1e-6 * level;
                    let slope = (value(t + h) - value(t - h)) / (2.0 * h);
                    assert!((slope - level * weight(t)).abs() < 1e-6 * level, "{penalty:?} at {t}");
                    assert!((0.0..=last).contains(&weight(t)), "{penalty:?} at {t}");
                    let bend = level * (weight(t + h) - weight(t - h)) / (2.0 * h);
                    let kink = (weight(t + h) == 0.0) != (weight(t - h) == 0.0)
                        || (weight(t + h) == 1.0) != (weight(t - h) == 1.0);
                    let curvature = penalty.curvature(t, level, tuning);
                    assert!(curvature <= 0.0);
                    assert!(
                        kink || (bend - curvature).abs() < 1e-5,
                        "{penalty:?} at {t}: {bend} {curvature}"
                    );
                    last = weight(t);
                }
            }
        }
        assert_eq!(all().len(), 4);
    }

    /// SCAD and MCP leave large coefficients alone, to the last bit.
    #[test]
    fn weights_reach_zero_exactly() {
        for kind in [PenaltyKind::Scad, PenaltyKind::Mcp] {
            let penalty = kind.penalty().unwrap();
            let tuning = Tuning { gamma: penalty.default_gamma().unwrap(), epsilon: 1.0 };
            assert_eq!(penalty.weight(3.7000001, 1.0, tuning), 0.0);
            assert_eq!(penalty.value(5.0, 1.0, tuning), penalty.value(50.0, 1.0, tuning));
        }
    }
}
