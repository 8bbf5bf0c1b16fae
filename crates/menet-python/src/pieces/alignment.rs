//! L from neighbours.

use menet::neighbors::Neighbor;
use menet::operator::admissible;
use menet::patches::groups;
use menet::patches::rule;
use menet::pieces::{self, Patches};
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use super::{numbers, params};
use crate::arrays::{Samples, View, matrix, vector};
use crate::errors::Failure;
use crate::run::run;
use crate::settings::Settings;

/// The numbers and squared distances of the neighbours of a piece, groups side by side; −1 where there are fewer.
type GivenNeighbors<'py> = (PyReadonlyArray2<'py, i64>, PyReadonlyArray2<'py, f64>);

/// Rows, columns and values of entries.
type EntryArrays<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>);
type GivenEntries<'py> = (PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, f64>);

/// Whether the patch rule looks at the samples themselves.
#[pyfunction]
pub(crate) fn needs_samples(settings: Settings) -> PyResult<bool> {
    Ok(rule(&params(settings)?.patch.kind).map_err(Failure::from)?.needs_samples())
}

/// The neighbours at some columns of the lists.
fn listed(
    (indices, squared): &GivenNeighbors<'_>,
    columns: std::ops::Range<usize>,
) -> PyResult<Vec<Vec<Neighbor>>> {
    let (indices, squared) = (matrix(indices)?, matrix(squared)?);
    let neighbor = |i: usize, j: usize| {
        let index = usize::try_from(indices[(i, j)]).ok()?;
        Some(Neighbor { index, distance: squared[(i, j)].sqrt() })
    };
    Ok((0..indices.nrows()).map(|i| columns.clone().filter_map(|j| neighbor(i, j)).collect()).collect())
}

/// The entries that the patches of a piece add to L. `x` has the rows that its neighbourhoods use, whose numbers rise.
#[pyfunction]
pub(crate) fn patches<'py>(
    py: Python<'py>,
    settings: Settings,
    lists: GivenNeighbors<'_>,
    start: usize,
    x: Samples<'_>,
    rows: PyReadonlyArray1<'_, i64>,
    threads: usize,
) -> PyResult<EntryArrays<'py>> {
    let params = params(settings)?;
    let (rule, patch) = (rule(&params.patch.kind).map_err(Failure::from)?, params.patch);
    let [(_, k), _] = groups(rule, &patch);
    let (near, x, rows) = (listed(&lists, 0..k)?, x.view()?, numbers(&rows)?);
    let found = run(py, threads, |monitor| {
        let of = |x: faer::MatRef<'_, f64>| Patches::of(&near, start, (x, &rows), rule, &patch, monitor);
        Ok(match x {
            View::Double(x) => of(x)?,
            other => other.with(of)?,
        })
    })?;
    let entries = found.entries.iter();
    Ok((
        PyArray1::from_iter(py, entries.clone().map(|entry| entry.0 as i64)),
        PyArray1::from_iter(py, entries.clone().map(|entry| entry.1 as i64)),
        PyArray1::from_iter(py, entries.map(|entry| entry.2)),
    ))
}

/// L by its rows (where each begins, the columns and values of its entries), and what the definiteness policy found and did, as JSON.
type AlignmentArrays<'py> =
    (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<f64>>, String);

/// The alignment of all samples, from the neighbours of all pieces in their order, or from their patches.
#[pyfunction]
pub(crate) fn align<'py>(
    py: Python<'py>,
    settings: Settings,
    lists: Vec<GivenNeighbors<'_>>,
    entries: Vec<GivenEntries<'_>>,
    threads: usize,
) -> PyResult<AlignmentArrays<'py>> {
    let params = params(settings)?;
    let (rule, patch) = (rule(&params.patch.kind).map_err(Failure::from)?, params.patch);
    let [(_, near), (_, far)] = groups(rule, &patch);
    let mut found = [Vec::new(), Vec::new()];
    for lists in &lists {
        found[0].extend(listed(lists, 0..near)?);
        found[1].extend(listed(lists, near..near + far)?);
    }
    let given = |(rows, columns, values): &GivenEntries<'_>| -> PyResult<Patches> {
        let places = numbers(rows)?.into_iter().zip(numbers(columns)?);
        let entries = places.zip(vector(values)?).map(|((row, column), &value)| (row, column, value));
        Ok(Patches { entries: entries.collect() })
    };
    let entries: Vec<Patches> = entries.iter().map(given).collect::<PyResult<_>>()?;
    let (laplacian, report) = run(py, threads, |monitor| {
        let alignment = pieces::alignment(&found, &entries, rule, &patch, monitor)?;
        drop((found, entries));
        Ok(admissible(&alignment, &params.manifold, monitor)?)
    })?;
    let (starts, indices, values) = laplacian.rows();
    let report =
        serde_json::to_string(&report).map_err(|e| pyo3::exceptions::PyTypeError::new_err(e.to_string()))?;
    Ok((
        PyArray1::from_iter(py, starts.iter().map(|&start| start as i64)),
        PyArray1::from_slice(py, indices),
        PyArray1::from_slice(py, values),
        report,
    ))
}
