//! The panel: the distinct variables that all axes use together, and how it is read off their paths.
//!
//! Without a limit, the panel is the union of what the paths have selected at K variables per axis. With a limit of m variables
//! there are two ways:
//!
//! - Where axes keep their own supports (refits `none` and `axis`), all paths are read at the largest common K whose union has at most m
//!   variables. If even one variable per axis is too many, they are read at one common level λ, and axes that have no variable
//!   there are left out.
//! - Where all axes use the whole panel (refits `panel` and `discriminant`), the paths give more candidates than needed, all read at
//!   one common level. Then the candidates that contribute least to the separation of the classes are dropped ([`crate::refit`]).

use crate::error::{Error, Result};
use crate::lars::{EndReason, Path};
use crate::numerics::sparse::SparseVector;
use crate::params::MenParams;
use crate::penalties::PenaltyKind;
use crate::penalties::groups::GroupAxes;

/// How many variables are read off a fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct SizeLimits {
    /// Largest number of variables that a path selects; none = as many as it was computed for.
    pub nonzeros: Option<usize>,
    /// Largest number of distinct variables over all axes; none = no limit.
    pub panel_size: Option<usize>,
    /// How many paths are used, from the first on; none = all.
    pub components: Option<usize>,
}

/// The fewest candidates from which a panel is chosen.
const CANDIDATES: usize = 300;

/// How many candidates a panel of `size` variables is chosen from: at least twice as many, in steps of doubling, so that panels of
/// different sizes share their candidates.
pub(crate) fn candidates(size: usize) -> usize {
    let mut count = CANDIDATES;
    while count < size.saturating_mul(2) {
        count *= 2;
    }
    count
}

/// The variables that some axis uses, rising.
pub(crate) fn union(axes: &[SparseVector]) -> Vec<usize> {
    let mut all: Vec<usize> = axes.iter().flat_map(|axis| axis.indices().iter().copied()).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The variables that are free of the penalty in some path, rising. They are in every model, and a limit does not count them.
pub(crate) fn free(paths: &[Path]) -> Vec<usize> {
    let mut all: Vec<usize> = paths.iter().flat_map(|path| path.free().iter().copied()).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// How many variables some axis uses, free ones not counted.
fn count(axes: &[SparseVector], free: &[usize]) -> usize {
    union(axes).iter().filter(|j| free.binary_search(j).is_err()).count()
}

/// The coefficients of every path at `nonzeros` variables, or at its end if that comes first.
pub(crate) fn at_nonzeros(paths: &[Path], nonzeros: usize) -> Result<Vec<SparseVector>> {
    let read = |path: &Path| {
        let reach = path.max_nonzeros().unwrap_or(usize::MAX);
        Ok(path.at_nonzeros(nonzeros.min(reach))?.coefficients)
    };
    paths.iter().map(read).collect()
}

/// The coefficients of every path at one level, or at its end if that comes first.
fn at_level(paths: &[Path], level: f64) -> Result<Vec<SparseVector>> {
    let read = |path: &Path| Ok(path.at_lambda(level.max(path.last().level))?.coefficients);
    paths.iter().map(read).collect()
}

/// The largest number of variables that any path can be read at.
pub(crate) fn reach(paths: &[Path]) -> usize {
    let most =
        |path: &Path| path.knots().iter().map(|knot| path.selected(&knot.coefficients)).max().unwrap_or(0);
    paths.iter().map(|path| path.max_nonzeros().unwrap_or_else(|| most(path))).max().unwrap_or(0)
}

/// The axes at the largest common K, at most `nonzeros`, whose union has at most `size` variables. If there is no such K, the
/// axes at the lowest common level whose union is that small.
///
/// # Errors
/// When so many variables tie for the first place that none can be used.
pub(crate) fn within_size(paths: &[Path], nonzeros: usize, size: usize) -> Result<Vec<SparseVector>> {
    if paths.iter().any(Path::is_of_one_size) && at_ends(paths) <= size {
        return at_nonzeros(paths, reach(paths));
    }
    let (mut found, free) = (None, free(paths));
    for k in 1..=nonzeros.min(reach(paths)) {
        let axes = at_nonzeros(paths, k)?;
        if count(&axes, &free) > size {
            break;
        }
        found = Some(axes);
    }
    if let Some(axes) = found.filter(|axes| axes.iter().any(|axis| axis.nonzeros() > 0)) {
        return Ok(axes);
    }
    let mut levels: Vec<f64> = paths.iter().flat_map(Path::knots).map(|knot| knot.level).collect();
    levels.sort_unstable_by(|a, b| b.total_cmp(a));
    levels.dedup();
    let mut found = Vec::new();
    for level in levels {
        let axes = at_level(paths, level)?;
        let used = count(&axes, &free);
        if used > size {
            if union(&found).is_empty() {
                return Err(Error::Tie { component: 1, tied: used, nonzeros: size });
            }
            break;
        }
        found = axes;
    }
    Ok(found)
}

/// The axes at the highest common level at which their union has at least `wanted` variables, or else as low as all paths
/// reach. No axis has more than `nonzeros`.
pub(crate) fn at_least(paths: &[Path], nonzeros: usize, wanted: usize) -> Result<Vec<SparseVector>> {
    let cut: Vec<Path> = paths
        .iter()
        .map(|path| path.truncated(nonzeros.min(path.max_nonzeros().unwrap_or(nonzeros))))
        .collect::<Result<_>>()?;
    let mut levels: Vec<f64> = cut.iter().flat_map(Path::knots).map(|knot| knot.level).collect();
    levels.sort_unstable_by(|a, b| b.total_cmp(a));
    levels.dedup();
    // From the top, since variables may leave again. This way the answer does not depend on how far the paths go.
    let (mut axes, free) = (Vec::new(), free(paths));
    for level in levels {
        axes = at_level(&cut, level)?;
        if count(&axes, &free) >= wanted {
            break;
        }
    }
    Ok(axes)
}

/// How many variables the ends of the paths use together, free ones not counted.
pub(crate) fn at_ends(paths: &[Path]) -> usize {
    let ends: Vec<SparseVector> = paths.iter().map(|path| path.last().coefficients.clone()).collect();
    count(&ends, &free(paths))
}

/// How many variables [`at_least`] can find for certain: below the level at which the first path was stopped, others might be
/// missing.
fn certain(paths: &[Path]) -> Result<usize> {
    let stopped = paths.iter().filter(|path| stopped(path));
    let level = stopped.map(|path| path.last().level).fold(0.0, f64::max);
    Ok(count(&at_level(paths, level)?, &free(paths)))
}

/// Whether `paths` go far enough for a panel of `size` variables: longer ones would give the same panel.
fn suffice(paths: &[Path], size: usize, params: &MenParams) -> Result<bool> {
    if !paths.iter().any(stopped) {
        return Ok(true);
    }
    if certain(paths)? < wanted(size, params) {
        return Ok(false);
    }
    if params.refit.kind().shares_panel() {
        return Ok(true);
    }
    // Variables may leave: with fewer at the end than on the way, a longer path might have a larger K that is not too much.
    let free = free(paths);
    for k in 1..=reach(paths) {
        if count(&at_nonzeros(paths, k)?, &free) > size {
            return Ok(true);
        }
    }
    Ok(false)
}

/// How many variables the paths must be certain of, for a panel of `size`.
fn wanted(size: usize, params: &MenParams) -> usize {
    if params.refit.kind().shares_panel() { candidates(size) } else { size.saturating_add(1) }
}

fn stopped(path: &Path) -> bool {
    matches!(path.ended(), EndReason::MaxNonzeros { .. })
}

/// The ℓ1 paths of `d` axes that a panel of `size` of the `p` variables is read off. How far they must go shows only on the way.
/// `paths_to` computes them up to a number of variables, or cuts longer ones; none where it cannot.
pub(crate) fn far_enough(
    size: usize,
    params: &MenParams,
    (p, d): (usize, usize),
    paths_to: &dyn Fn(usize) -> Result<Option<Vec<Path>>>,
) -> Result<Option<Vec<Path>>> {
    let most = params.nonzeros.unwrap_or(p).min(p);
    let mut nonzeros = (wanted(size, params) / d.max(1) + 8).min(most);
    loop {
        let Some(paths) = paths_to(nonzeros)? else { return Ok(None) };
        if nonzeros >= most || suffice(&paths, size, params)? {
            return Ok(Some(paths));
        }
        nonzeros = (2 * nonzeros).min(most);
    }
}

/// To how many variables the paths of other penalties go at most, for a panel of `size` of the `p` variables.
pub(crate) fn most_within(size: usize, params: &MenParams, p: usize) -> usize {
    params.nonzeros.unwrap_or(size).min(size).min(p)
}

/// The paths of a fit with `params` to its first `d` axes, out of `all` paths of a fit with `fitted` parameters to the same `p` variables;
/// none where they do not hold them. Both have the same penalty.
///
/// # Errors
/// When more variables per path are asked for than were computed.
pub(crate) fn held(
    all: &[Path],
    fitted: &MenParams,
    (params, d): (&MenParams, usize),
    p: usize,
) -> Result<Option<Vec<Path>>> {
    let paths = &all[..d];
    if !params.reads_off() {
        return Ok(of_one_size(all, fitted, (params, d), p).then(|| paths.to_vec()));
    }
    let reaches = |k: usize| {
        paths.iter().all(|path| !stopped(path) || path.max_nonzeros().is_none_or(|most| k <= most))
    };
    let cut = |k: usize| paths.iter().map(|path| path.truncated(k)).collect::<Result<Vec<Path>>>();
    match params.panel_size {
        None => params.nonzeros.map_or_else(|| Ok(paths.to_vec()), |k| cut(k.min(p))).map(Some),
        Some(size) if params.penalty.kind == PenaltyKind::L1 => {
            far_enough(size, params, (p, d), &|k| match reaches(k) {
                true => cut(k).map(Some),
                false => Ok(suffice(paths, size, params)?.then(|| paths.to_vec())),
            })
        }
        Some(size) => {
            let most = most_within(size, params, p);
            if reaches(most) { cut(most).map(Some) } else { Ok(None) }
        }
    }
}

/// Whether paths that are solved for one size are those of other parameters, too.
fn of_one_size(all: &[Path], fitted: &MenParams, (params, d): (&MenParams, usize), p: usize) -> bool {
    let computed = all.first().and_then(Path::max_nonzeros).filter(|_| !params.penalty.grouped());
    let unsized_by_panel = params.panel_size.is_none() && fitted.panel_size.is_none();
    let nonzeros = params.nonzeros == fitted.nonzeros
        || (unsized_by_panel && computed.is_some() && params.nonzeros.map(|k| k.min(p)) == computed);
    // A limit on the panel, and groups that are chosen for all axes, depend on the number of axes.
    let each_alone = params.panel_size.is_none() && params.penalty.group_axes == GroupAxes::Each;
    nonzeros && params.panel_size == fitted.panel_size && (d == all.len() || each_alone)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_are_at_least_twice_the_panel() {
        assert_eq!([1, 150, 151, 300, 301].map(candidates), [300, 300, 600, 600, 1200]);
    }
}
