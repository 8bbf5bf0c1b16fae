//! The group lasso by itself.

use menet::Named;
use menet::penalties::groups::{
    Group, GroupAxes, GroupOptions, GroupSolution, GroupSparsity, Groups, regression,
};
use numpy::{PyArray1, PyArray2, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::arrays::{Samples, columns, matrix};
use crate::errors::Failure;
use crate::run::run;

/// The levels, the coefficients, the violations, the groups of every response, and whether they are as many as were asked for.
type Solution<'py> =
    (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>, Vec<Vec<usize>>, bool);

/// The solutions with `size` groups, or else at `levels`, of the columns of `y` on those of `x`.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "called by one function of the package")]
pub(crate) fn group_lasso<'py>(
    py: Python<'py>,
    x: Samples<'_>,
    y: PyReadonlyArray2<'_, f64>,
    groups: Vec<(String, Vec<usize>)>,
    ridge: f64,
    axes: &str,
    size: Option<usize>,
    levels: Vec<f64>,
    threads: usize,
) -> PyResult<Vec<Solution<'py>>> {
    let groups = groups.into_iter().map(|(name, variables)| Group { name, variables }).collect();
    let axes = GroupAxes::from_name(axes).map_err(Failure::from)?;
    let options = GroupOptions::new(Groups::new(groups)).with(|it| (it.ridge, it.axes) = (ridge, axes));
    let sizes = match size {
        Some(size) => vec![GroupSparsity::Groups(size)],
        None => levels.into_iter().map(GroupSparsity::Level).collect(),
    };
    let (x, y) = (x.view()?, matrix(&y)?);
    let (p, found) = run(py, threads, |monitor| {
        Ok(x.with(|x| Ok((x.ncols(), regression(x, y, &options, &sizes, monitor)?)))?)
    })?;
    let arrays = |found: GroupSolution| {
        let kkt = found.certificates.iter().map(|certificate| certificate.kkt);
        (
            PyArray1::from_vec(py, found.levels),
            columns(py, p, found.coefficients.into_iter()),
            PyArray1::from_iter(py, kkt),
            found.chosen,
            found.exact,
        )
    };
    Ok(found.into_iter().map(arrays).collect())
}
