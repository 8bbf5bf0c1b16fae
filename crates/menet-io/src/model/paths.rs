//! Paths in a model file, and on their own.

use std::collections::HashMap;

use menet::lars::{self, Certificate, EndReason, Knot, PenaltyReport};
use menet::sparse::SparseVector;

use super::tensors::{Packer, Problem, Unpacker};
use crate::error::{Error, Result};

/// Why a path ended, as numbers.
fn ended_code(ended: EndReason) -> [usize; 2] {
    match ended {
        EndReason::Complete => [0, 0],
        EndReason::MaxNonzeros { needed } => [1, needed],
        EndReason::LambdaMin => [2, 0],
        EndReason::Dependent { variable } => [3, variable],
        EndReason::Unbounded { variable } => [4, variable],
        EndReason::Indefinite { variable } => [5, variable],
        EndReason::Answer => [7, 0],
        _ => [6, 0],
    }
}

fn ended_from(code: usize, variable: usize) -> std::result::Result<EndReason, Problem> {
    Ok(match code {
        0 => EndReason::Complete,
        1 => EndReason::MaxNonzeros { needed: variable },
        2 => EndReason::LambdaMin,
        3 => EndReason::Dependent { variable },
        4 => EndReason::Unbounded { variable },
        5 => EndReason::Indefinite { variable },
        6 => EndReason::Stalled,
        7 => EndReason::Answer,
        other => return Err(format!("a path ended for the unknown reason {other}")),
    })
}

/// Paths as bytes, without a model.
///
/// # Errors
/// When they cannot be serialised.
pub fn paths_to_bytes(paths: &[lars::Path]) -> Result<Vec<u8>> {
    let mut pack = Packer::default();
    pack_paths(&mut pack, paths);
    pack.finish(HashMap::new()).map_err(Error::Model)
}

/// Paths from the bytes of [`paths_to_bytes`].
///
/// # Errors
/// When the bytes are not paths.
pub fn paths_from_bytes(bytes: &[u8]) -> Result<Vec<lars::Path>> {
    let paths = Unpacker::new(bytes).and_then(|(unpack, _)| unpack_paths(&unpack));
    paths.map_err(|problem| Error::Model(format!("not usable paths: {problem}")))
}

pub(super) fn pack_paths(pack: &mut Packer, paths: &[lars::Path]) {
    let knots = || paths.iter().flat_map(lars::Path::knots);
    let counts: Vec<usize> = paths.iter().map(|path| path.knots().len()).collect();
    pack.indices("path.knots", &counts);
    pack.indices("path.ended", &paths.iter().flat_map(|path| ended_code(path.ended())).collect::<Vec<_>>());
    pack.indices("path.max", &paths.iter().map(|path| path.max_nonzeros().unwrap_or(0)).collect::<Vec<_>>());
    pack.floats("path.level", &knots().map(|knot| knot.level).collect::<Vec<_>>());
    pack.certificates("path.kkt", knots().map(|knot| knot.certificate));
    pack.sparse("path.w", knots().map(|knot| &knot.coefficients));
    pack.lists("path.entered", knots().map(|knot| knot.entered.as_slice()));
    pack.lists("path.left", knots().map(|knot| knot.left.as_slice()));
    if paths.iter().any(|path| !path.free().is_empty()) {
        pack.lists("path.free", paths.iter().map(lars::Path::free));
    }
    if paths.iter().any(|path| path.report().is_some()) {
        let (codes, numbers): (Vec<_>, Vec<_>) = paths.iter().map(|path| report_code(path.report())).unzip();
        pack.lists("path.report", codes.iter().map(Vec::as_slice));
        pack.floats("path.stationarity", &numbers);
    }
}

/// In the place of a number that is at least 0, where there is none.
const NONE: f64 = -1.0;

/// What is known of a penalty, as whole numbers and one number.
fn report_code(report: Option<&PenaltyReport>) -> (Vec<usize>, f64) {
    match report {
        Some(PenaltyReport::Rounds { count, settled, stationarity }) => {
            (vec![0, *count, usize::from(*settled)], stationarity.unwrap_or(NONE))
        }
        Some(PenaltyReport::Subsets { local }) => {
            let local = local.iter().map(|&local| usize::from(local));
            (std::iter::once(1).chain(local).collect(), NONE)
        }
        _ => (Vec::new(), NONE),
    }
}

fn report_from(codes: &[usize], number: f64) -> std::result::Result<Option<PenaltyReport>, Problem> {
    let flag = |code: usize| match code {
        0 | 1 => Ok(code == 1),
        other => Err(format!("the report of a path has the flag {other}")),
    };
    Ok(match codes {
        [] => None,
        &[0, count, settled] => {
            let stationarity = Some(number).filter(|&number| number >= 0.0);
            Some(PenaltyReport::Rounds { count, settled: flag(settled)?, stationarity })
        }
        [1, local @ ..] => Some(PenaltyReport::Subsets {
            local: local.iter().map(|&code| flag(code)).collect::<std::result::Result<_, Problem>>()?,
        }),
        _ => return Err("the report of a path cannot be read".to_owned()),
    })
}

pub(super) fn unpack_paths(unpack: &Unpacker<'_>) -> std::result::Result<Vec<lars::Path>, Problem> {
    let counts = unpack.indices("path.knots")?;
    let (ended, max) = (unpack.indices("path.ended")?, unpack.indices("path.max")?);
    let (levels, kkt) = (unpack.floats("path.level")?, unpack.certificates("path.kkt")?);
    let weights: Vec<SparseVector> = unpack.sparse("path.w")?;
    let (entered, left) = (unpack.lists("path.entered")?, unpack.lists("path.left")?);
    let total = counts.iter().try_fold(0_usize, |sum, &count| sum.checked_add(count));
    let equal =
        [levels.len(), kkt.len(), weights.len(), entered.len(), left.len()].iter().all(|&n| Some(n) == total);
    if !equal || ended.len() != 2 * counts.len() || max.len() != counts.len() {
        return Err("the lists of its paths have different lengths".to_owned());
    }
    let free = if unpack.has("path.free.offsets") {
        unpack.lists("path.free")?
    } else {
        vec![Vec::new(); counts.len()]
    };
    let (reports, stationarity) = if unpack.has("path.report.offsets") {
        (unpack.lists("path.report")?, unpack.floats("path.stationarity")?)
    } else {
        (vec![Vec::new(); counts.len()], vec![NONE; counts.len()])
    };
    if [free.len(), reports.len(), stationarity.len()].iter().any(|&length| length != counts.len()) {
        return Err("the lists of its paths have different lengths".to_owned());
    }
    let mut knots =
        levels.into_iter().zip(kkt).zip(weights).zip(entered).zip(left).map(
            |((((level, certificate), coefficients), entered), left): ((((f64, Certificate), _), _), _)| {
                Knot { level, coefficients, entered, left, certificate }
            },
        );
    counts
        .iter()
        .enumerate()
        .map(|(k, &count)| {
            let ended = ended_from(ended[2 * k], ended[2 * k + 1])?;
            let max_nonzeros = Some(max[k]).filter(|&max| max > 0);
            let path = lars::Path::from_knots(knots.by_ref().take(count).collect(), ended, max_nonzeros)
                .map_err(|e| e.to_string())?
                .with_free(free[k].clone());
            Ok(match report_from(&reports[k], stationarity[k])? {
                Some(report) => path.with_report(report),
                None => path,
            })
        })
        .collect()
}
