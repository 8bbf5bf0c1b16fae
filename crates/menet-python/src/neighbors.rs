//! Neighbours of data in chunks, as Dask's workers search for them: of chunks in each other, and merged.
//!
//! An answer is two arrays with one row per sample: the numbers of its neighbours, the groups side by side and nearest first,
//! and their squared distances; −1 and infinity where there are fewer.

use menet::neighbors::{Block, Buckets, Centre, NearestSamples, NeighborScope};
use menet::patches::{PatchParams, rule};
use menet::{Method, Result};
use numpy::ndarray::{Array1, Array2};
use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::arrays::{Samples, View, vector};
use crate::errors::Failure;
use crate::run::run;
use crate::settings::{Settings, method};

/// As many groups as there are kinds of neighbours; those that nobody asks for have none.
const KINDS: usize = 3;
const NAMES: [(&str, NeighborScope); KINDS] =
    [("within", NeighborScope::Within), ("between", NeighborScope::Between), ("all", NeighborScope::All)];

type Groups = [(NeighborScope, usize); KINDS];
type GroupRequests = Vec<(String, usize)>;

/// Numbers and squared distances.
type NeighborArrays<'py> = (Bound<'py, PyArray2<i64>>, Bound<'py, PyArray2<f64>>);
type GivenNeighbors<'py> = (PyReadonlyArray2<'py, i64>, PyReadonlyArray2<'py, f64>);

/// The groups of neighbours that the patch rule of these settings asks for.
#[pyfunction]
pub(crate) fn neighbor_groups(settings: Settings) -> PyResult<Vec<(&'static str, usize)>> {
    let Method::Men(params) = method("men", settings)? else {
        return Err(PyTypeError::new_err("the parameters of another method"));
    };
    let rule = rule(&params.patch.kind).map_err(Failure::from)?;
    let mut patch = PatchParams::default();
    (patch.k_within, patch.k_between) = (params.patch.k_within, params.patch.k_between);
    let groups = menet::patches::groups(rule, &patch);
    Ok(groups
        .iter()
        .flat_map(|&(among, k)| NAMES.iter().find(|it| it.1 == among).map(|it| (it.0, k)))
        .collect())
}

/// The neighbours of a chunk's samples in the chunk; `start` is the number of the first.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "a chunk, and what all searches share")]
pub(crate) fn nearest_within<'py>(
    py: Python<'py>,
    x: Samples<'_>,
    codes: PyReadonlyArray1<'_, i64>,
    start: usize,
    groups: GroupRequests,
    mean: PyReadonlyArray1<'_, f64>,
    dropped: PyReadonlyArray1<'_, i64>,
    threads: usize,
) -> PyResult<NeighborArrays<'py>> {
    let (chunk, groups) = (Chunk::new(&x, &codes)?, kinds(&groups)?);
    let (mean, dropped) = (vector(&mean)?, whole("dropped", &dropped)?);
    let found = run(py, threads, |monitor| {
        let centre = Centre::new(mean, &dropped)?;
        Ok(NearestSamples::search_within(&chunk.block(start)?, centre, groups, monitor)?)
    })?;
    answer(py, found, chunk.class.len(), groups)
}

/// The neighbours of the samples of each of two chunks in the other. Of either may be known the squared distances that an
/// answer gives of its neighbours elsewhere: further ones are left out then.
#[pyfunction]
#[pyo3(signature = (x, x_codes, x_start, y, y_codes, y_start, groups, mean, dropped, threads, x_known=None, y_known=None))]
#[expect(clippy::too_many_arguments, reason = "two chunks, and what all searches share")]
pub(crate) fn nearest_between<'py>(
    py: Python<'py>,
    x: Samples<'_>,
    x_codes: PyReadonlyArray1<'_, i64>,
    x_start: usize,
    y: Samples<'_>,
    y_codes: PyReadonlyArray1<'_, i64>,
    y_start: usize,
    groups: GroupRequests,
    mean: PyReadonlyArray1<'_, f64>,
    dropped: PyReadonlyArray1<'_, i64>,
    threads: usize,
    x_known: Option<PyReadonlyArray2<'_, f64>>,
    y_known: Option<PyReadonlyArray2<'_, f64>>,
) -> PyResult<(NeighborArrays<'py>, NeighborArrays<'py>)> {
    let (x, y, groups) = (Chunk::new(&x, &x_codes)?, Chunk::new(&y, &y_codes)?, kinds(&groups)?);
    let (mean, dropped) = (vector(&mean)?, whole("dropped", &dropped)?);
    let (x_known, y_known) = (known(x_known.as_ref())?, known(y_known.as_ref())?);
    let (of_x, of_y) = run(py, threads, |monitor| {
        let centre = Centre::new(mean, &dropped)?;
        let (a, b) = (x.block(x_start)?.knowing(x_known), y.block(y_start)?.knowing(y_known));
        Ok(NearestSamples::search_both(&a, &b, centre, groups, monitor)?)
    })?;
    Ok((answer(py, of_x, x.class.len(), groups)?, answer(py, of_y, y.class.len(), groups)?))
}

/// The nearest of several answers, of the same samples in different references.
#[pyfunction]
pub(crate) fn merge_nearest<'py>(
    py: Python<'py>,
    parts: Vec<GivenNeighbors<'_>>,
    groups: GroupRequests,
    threads: usize,
) -> PyResult<NeighborArrays<'py>> {
    let groups = kinds(&groups)?;
    let [rows, columns] = match parts.first() {
        Some((indices, _)) => [indices.shape()[0], indices.shape()[1]],
        None => return Err(PyValueError::new_err("`parts` is empty, but there must be an answer to merge")),
    };
    for (indices, squared) in &parts {
        for shape in [indices.shape(), squared.shape()] {
            if shape != [rows, columns] || columns != width(groups) {
                return Err(PyValueError::new_err(format!(
                    "an answer is {} x {}, but must be {rows} x {}, as the first answer and the groups are",
                    shape[0],
                    shape[1],
                    width(groups)
                )));
            }
        }
    }
    let parts: Vec<(&[i64], &[f64])> = parts
        .iter()
        .map(|(indices, squared)| Ok((flat(indices)?, flat(squared)?)))
        .collect::<PyResult<_>>()?;
    let found = run(py, threads, |_| {
        let mut found = NearestSamples::none(groups, rows);
        for (indices, squared) in parts {
            found.add(indices, squared)?;
        }
        Ok(found)
    })?;
    answer(py, found, rows, groups)
}

/// The neighbours of samples in others, each with its number: those of a bucket, say. Of the samples may be known the squared
/// distances that an answer gives of their neighbours elsewhere.
#[pyfunction]
#[pyo3(signature = (x, codes, numbers, y, y_codes, y_numbers, groups, mean, dropped, threads, known=None))]
#[expect(clippy::too_many_arguments, reason = "two chunks, and what all searches share")]
pub(crate) fn nearest_in<'py>(
    py: Python<'py>,
    x: Samples<'_>,
    codes: PyReadonlyArray1<'_, i64>,
    numbers: PyReadonlyArray1<'_, i64>,
    y: Samples<'_>,
    y_codes: PyReadonlyArray1<'_, i64>,
    y_numbers: PyReadonlyArray1<'_, i64>,
    groups: GroupRequests,
    mean: PyReadonlyArray1<'_, f64>,
    dropped: PyReadonlyArray1<'_, i64>,
    threads: usize,
    known: Option<PyReadonlyArray2<'_, f64>>,
) -> PyResult<NeighborArrays<'py>> {
    let (x, y, groups) = (Chunk::new(&x, &codes)?, Chunk::new(&y, &y_codes)?, kinds(&groups)?);
    let (mean, dropped) = (vector(&mean)?, whole("dropped", &dropped)?);
    let (numbers, y_numbers) = (whole("numbers", &numbers)?, whole("y_numbers", &y_numbers)?);
    let known = self::known(known.as_ref())?;
    let found = run(py, threads, |monitor| {
        let centre = Centre::new(mean, &dropped)?;
        let queries = x.block(0)?.numbered(&numbers)?.knowing(known);
        let references = y.block(0)?.numbered(&y_numbers)?;
        Ok(NearestSamples::search(&queries, &references, centre, groups, monitor)?)
    })?;
    answer(py, found, x.class.len(), groups)
}

/// Centres of cells less the mean, the bucket of each, of how many of the nearest centres a row looks into the buckets, and the
/// share of all pairs that will be compared.
type CellDivision<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<i64>>, usize, f64);

/// Divides the space into cells, and cells into buckets, by some rows of all chunks.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "rows, and what all searches share")]
pub(crate) fn cells<'py>(
    py: Python<'py>,
    x: Samples<'_>,
    codes: PyReadonlyArray1<'_, i64>,
    buckets: usize,
    groups: GroupRequests,
    mean: PyReadonlyArray1<'_, f64>,
    dropped: PyReadonlyArray1<'_, i64>,
    threads: usize,
) -> PyResult<CellDivision<'py>> {
    let (chunk, groups) = (Chunk::new(&x, &codes)?, kinds(&groups)?);
    let (mean, dropped) = (vector(&mean)?, whole("dropped", &dropped)?);
    let (found, share) = run(py, threads, |monitor| {
        let centre = Centre::new(mean, &dropped)?;
        Ok(Buckets::new(&chunk.block(0)?, buckets, centre, groups, monitor)?)
    })?;
    let (centres, bucket_of, probes) = found.into_parts();
    let centres = Array2::from_shape_vec((bucket_of.len(), mean.len()), centres).map_err(wrong)?;
    Ok((PyArray2::from_owned_array(py, centres), integers(py, bucket_of), probes, share))
}

/// The bucket that every row belongs to, and for every row whether it looks for neighbours in each of the buckets.
type BucketAssignment<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray2<bool>>);

/// Sends rows to the buckets of [`cells`].
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "rows, buckets, and what all searches share")]
pub(crate) fn home_and_probes<'py>(
    py: Python<'py>,
    x: Samples<'_>,
    centres: PyReadonlyArray2<'_, f64>,
    bucket_of: PyReadonlyArray1<'_, i64>,
    probes: usize,
    mean: PyReadonlyArray1<'_, f64>,
    dropped: PyReadonlyArray1<'_, i64>,
    threads: usize,
) -> PyResult<BucketAssignment<'py>> {
    let x = x.view()?;
    let chunk = Chunk { x, class: vec![0; x.samples()] };
    let (mean, dropped) = (vector(&mean)?, whole("dropped", &dropped)?);
    let (centres, bucket_of) = (flat(&centres)?, whole("bucket_of", &bucket_of)?);
    let (homes, looks, buckets) = run(py, threads, |_| {
        let centre = Centre::new(mean, &dropped)?;
        let buckets = Buckets::from_parts(centres.to_vec(), bucket_of, probes)?;
        let (homes, looks) = buckets.assign(&chunk.block(0)?, centre)?;
        Ok((homes, looks, buckets.count()))
    })?;
    let looks = Array2::from_shape_vec((homes.len(), buckets), looks).map_err(wrong)?;
    Ok((integers(py, homes), PyArray2::from_owned_array(py, looks)))
}

fn integers(py: Python<'_>, values: Vec<usize>) -> Bound<'_, PyArray1<i64>> {
    PyArray1::from_owned_array(py, values.into_iter().map(|value| value as i64).collect::<Array1<i64>>())
}

fn wrong(e: numpy::ndarray::ShapeError) -> PyErr {
    PyValueError::new_err(e.to_string())
}

/// Some rows of the data, and their classes.
struct Chunk<'a> {
    x: View<'a>,
    class: Vec<usize>,
}

impl<'a> Chunk<'a> {
    fn new(x: &'a Samples<'_>, codes: &PyReadonlyArray1<'_, i64>) -> PyResult<Self> {
        Ok(Chunk { x: x.view()?, class: whole("codes", codes)? })
    }

    fn block(&self, start: usize) -> Result<Block<'_>> {
        match self.x {
            View::Double(x) => Block::dense(x, &self.class, start),
            View::Single(x) => Block::single(x, &self.class, start),
            View::Sparse(x) => Block::sparse(x.matrix()?, &self.class, start),
        }
    }
}

/// The groups of these names.
fn kinds(asked: &GroupRequests) -> PyResult<Groups> {
    let names: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
    if asked.len() > KINDS {
        return Err(PyValueError::new_err(format!(
            "{} groups, but there are the kinds {names:?}",
            asked.len()
        )));
    }
    let mut groups = [(NeighborScope::All, 0); KINDS];
    for (group, (name, k)) in groups.iter_mut().zip(asked) {
        let found = NAMES.iter().find(|it| it.0 == name);
        let refusal = || PyValueError::new_err(format!("a group is {name:?}, but must be one of {names:?}"));
        *group = (found.ok_or_else(refusal)?.1, *k);
    }
    Ok(groups)
}

fn width(groups: Groups) -> usize {
    groups.iter().map(|&(_, k)| k).sum()
}

/// Whole numbers that are not negative.
fn whole(name: &str, array: &PyReadonlyArray1<'_, i64>) -> PyResult<Vec<usize>> {
    let refusal =
        |value| PyValueError::new_err(format!("`{name}` has {value}, but must have no negative numbers"));
    vector(array)?.iter().map(|&value| usize::try_from(value).map_err(|_| refusal(value))).collect()
}

fn known<'a>(squared: Option<&'a PyReadonlyArray2<'_, f64>>) -> PyResult<&'a [f64]> {
    squared.map_or(Ok(&[]), flat)
}

/// The values of an array by rows, one row after the other.
fn flat<'a, T: numpy::Element>(array: &'a PyReadonlyArray2<'_, T>) -> PyResult<&'a [T]> {
    if !array.is_c_contiguous() {
        return Err(PyTypeError::new_err("an answer that is not contiguous by rows (C order)"));
    }
    array.as_slice().map_err(|_| PyTypeError::new_err("an array that is not contiguous"))
}

/// What was found, without a copy.
fn answer<'py>(
    py: Python<'py>,
    found: NearestSamples<KINDS>,
    samples: usize,
    groups: Groups,
) -> PyResult<NeighborArrays<'py>> {
    let ((indices, squared), shape) = (found.into_arrays(), (samples, width(groups)));
    let indices = Array2::from_shape_vec(shape, indices).map_err(wrong)?;
    let squared = Array2::from_shape_vec(shape, squared).map_err(wrong)?;
    Ok((PyArray2::from_owned_array(py, indices), PyArray2::from_owned_array(py, squared)))
}
