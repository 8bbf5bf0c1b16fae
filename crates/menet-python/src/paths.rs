//! LARS, and what can be read off its paths.

use menet::Named;
use menet::gram::Gram;
use menet::lars::{LarsMethod, LarsOptions, Path, PathPoint, PenaltyReport, violation};
use menet::penalties::{self, PathPenalty, PenaltyKind};
use menet::sparse::SparseVector;
use menet_io::model::{paths_from_bytes, paths_to_bytes};
use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::arrays::{Samples, columns, matrix, vector};
use crate::errors::{Failure, no_component};
use crate::run::run;

/// One path per response. What a caller asks for is built then, and not before.
#[pyclass(frozen, module = "menet._core")]
#[derive(Debug)]
pub(crate) struct Paths {
    paths: Vec<Path>,
    /// What turns a coefficient of a variable into what is shown of it.
    units: Units,
}

/// The number of variables, and a factor each if they are not all 1.
#[derive(Debug, Clone, FromPyObject, IntoPyObject)]
pub(crate) enum Units {
    One(usize),
    Each(Vec<f64>),
}

/// How to make them again, for pickle.
type PickleParts<'py> = (Bound<'py, PyAny>, (Bound<'py, PyBytes>, Units));

impl Paths {
    pub(crate) fn new(paths: Vec<Path>, units: Units) -> Self {
        Paths { paths, units }
    }

    fn variables(&self) -> usize {
        match &self.units {
            Units::One(p) => *p,
            Units::Each(units) => units.len(),
        }
    }

    fn shown(&self, coefficients: &SparseVector) -> SparseVector {
        match &self.units {
            Units::One(_) => coefficients.clone(),
            Units::Each(units) => coefficients.map(|j, value| value * units[j]),
        }
    }

    fn path(&self, response: usize) -> PyResult<&Path> {
        self.paths.get(response).ok_or_else(|| no_component(response, self.paths.len()))
    }

    /// One column per response, or the column of one response.
    fn points<'py>(
        &self,
        py: Python<'py>,
        response: Option<usize>,
        read: impl Fn(&Path) -> menet::Result<PathPoint>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let paths = match response {
            Some(response) => std::slice::from_ref(self.path(response)?),
            None => &self.paths[..],
        };
        let points: menet::Result<Vec<SparseVector>> =
            paths.iter().map(|path| Ok(self.shown(&read(path)?.coefficients))).collect();
        Ok(columns(py, self.variables(), points.map_err(Failure::from)?.into_iter()))
    }
}

#[pymethods]
impl Paths {
    /// From what `__reduce__` gave.
    #[staticmethod]
    fn from_bytes(bytes: &[u8], units: Units) -> PyResult<Self> {
        Ok(Paths { paths: paths_from_bytes(bytes).map_err(Failure::from)?, units })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<PickleParts<'py>> {
        let Paths { paths, units } = slf.get();
        let bytes = paths_to_bytes(paths).map_err(Failure::from)?;
        Ok((slf.get_type().getattr("from_bytes")?, (PyBytes::new(slf.py(), &bytes), units.clone())))
    }

    fn __len__(&self) -> usize {
        self.paths.len()
    }

    /// The level at every knot.
    fn lambdas<'py>(&self, py: Python<'py>, response: usize) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let levels = self.path(response)?.knots().iter().map(|knot| knot.level);
        Ok(PyArray1::from_iter(py, levels))
    }

    /// The coefficients, p × knots.
    fn coefs<'py>(&self, py: Python<'py>, response: usize) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let knots = self.path(response)?.knots();
        Ok(columns(py, self.variables(), knots.iter().map(|knot| self.shown(&knot.coefficients))))
    }

    /// The variables that begin to move at every knot.
    fn entered(&self, response: usize) -> PyResult<Vec<Vec<usize>>> {
        Ok(self.path(response)?.knots().iter().map(|knot| knot.entered.clone()).collect())
    }

    /// The variables that have come back to zero at every knot.
    fn left(&self, response: usize) -> PyResult<Vec<Vec<usize>>> {
        Ok(self.path(response)?.knots().iter().map(|knot| knot.left.clone()).collect())
    }

    /// How far every knot is from optimal.
    fn kkt<'py>(&self, py: Python<'py>, response: usize) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let kkt = self.path(response)?.knots().iter().map(|knot| knot.certificate.kkt);
        Ok(PyArray1::from_iter(py, kkt))
    }

    /// Why the path ended, in words.
    fn ended(&self, response: usize) -> PyResult<String> {
        Ok(self.path(response)?.ended().to_string())
    }

    /// Coefficients at a level, p × responses.
    fn at_lambda<'py>(
        &self,
        py: Python<'py>,
        level: f64,
        response: Option<usize>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.points(py, response, |path| path.at_lambda(level))
    }

    /// Coefficients with at most so many nonzeros, p × responses.
    fn at_nonzeros<'py>(
        &self,
        py: Python<'py>,
        nonzeros: usize,
        response: Option<usize>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.points(py, response, |path| path.at_nonzeros(nonzeros))
    }

    /// Rounds, whether they settled, and the violation of the first-order conditions; none for paths without rounds.
    fn rounds(&self, response: usize) -> PyResult<Option<(usize, bool, Option<f64>)>> {
        Ok(match self.path(response)?.report() {
            Some(PenaltyReport::Rounds { count, settled, stationarity }) => {
                Some((*count, *settled, *stationarity))
            }
            _ => None,
        })
    }

    /// Whether no exchange of a variable makes the subset of 1, 2, … variables better; none for paths without subsets.
    fn local(&self, response: usize) -> PyResult<Option<Vec<bool>>> {
        Ok(match self.path(response)?.report() {
            Some(PenaltyReport::Subsets { local }) => Some(local.clone()),
            _ => None,
        })
    }

    /// The paths that ended for lack of precision, and why.
    fn troubles(&self) -> Vec<(usize, String)> {
        troubles(&self.paths)
    }
}

/// The paths that numerical trouble ended or that are not exactly optimal, and what is wrong with each.
fn troubles(paths: &[Path]) -> Vec<(usize, String)> {
    let early = paths.iter().enumerate().filter_map(|(k, path)| Some((k, path.ended_early()?)));
    let violated = paths
        .iter()
        .enumerate()
        .filter(|(_, path)| path.ended_early().is_none())
        .filter_map(|(k, path)| Some((k, violation(path.certificate().kkt)?)));
    let unsettled = paths.iter().enumerate().filter_map(|(k, path)| match path.report() {
        Some(PenaltyReport::Rounds { settled: false, .. }) => {
            Some((k, "has a penalty whose rounds did not settle: use a ridge or fewer variables".to_owned()))
        }
        _ => None,
    });
    early.chain(violated).chain(unsettled).collect()
}

/// The names of the methods.
pub(crate) const METHODS: [(&str, LarsMethod); 2] =
    [("lasso", LarsMethod::Lasso), ("lars", LarsMethod::Lars)];

/// The options of a path as Python gives them, in the order of [`path_defaults`].
type Options<'py> = (f64, Option<usize>, f64, Option<PyReadonlyArray1<'py, f64>>, bool, String);

/// A penalty, its shape and its epsilon.
type PenaltyOptions = (String, Option<f64>, Option<f64>);

fn penalty((name, gamma, epsilon): PenaltyOptions) -> PyResult<PathPenalty> {
    let kind = PenaltyKind::from_name(&name).map_err(Failure::from)?;
    Ok(PathPenalty::default().with(|it| (it.kind, it.gamma, it.epsilon) = (kind, gamma, epsilon)))
}

fn options(given: Options<'_>) -> PyResult<LarsOptions> {
    let (ridge, max_nonzeros, lambda_min, penalty_factors, positive, method) = given;
    let Some(&(_, method)) = METHODS.iter().find(|(name, _)| *name == method) else {
        let names = METHODS.map(|(name, _)| name).join(", ");
        return Err(PyValueError::new_err(format!("`method` is \"{method}\", but must be one of {names}")));
    };
    let factors = penalty_factors.as_ref().map(|v| vector(v).map(<[f64]>::to_vec)).transpose()?;
    Ok(LarsOptions::default().with(|it| {
        it.ridge = ridge;
        it.penalty_factors = factors;
        it.positive = positive;
        it.method = method;
        it.max_nonzeros = max_nonzeros;
        it.lambda_min = lambda_min;
    }))
}

/// The options of a path where nothing is said.
#[pyfunction]
pub(crate) fn path_defaults() -> (f64, Option<usize>, f64, Option<Vec<f64>>, bool, &'static str) {
    let LarsOptions { ridge, max_nonzeros, lambda_min, penalty_factors, positive, method, .. } =
        LarsOptions::default();
    let method = METHODS.iter().find(|(_, other)| *other == method).map_or("", |(name, _)| name);
    (ridge, max_nonzeros, lambda_min, penalty_factors, positive, method)
}

/// The paths of the columns of `y` on those of `x`.
#[pyfunction]
pub(crate) fn regression_paths(
    py: Python<'_>,
    x: Samples<'_>,
    y: PyReadonlyArray2<'_, f64>,
    options: Options<'_>,
    penalty: PenaltyOptions,
    threads: usize,
) -> PyResult<Paths> {
    let (options, penalty) = (self::options(options)?, self::penalty(penalty)?);
    let (x, y) = (x.view()?, matrix(&y)?);
    run(py, threads, |monitor| {
        Ok(x.with(|x| {
            let paths = penalties::regression_paths(x, y, &options, &penalty, monitor)?;
            Ok(Paths::new(paths, Units::One(x.ncols())))
        })?)
    })
}

/// The paths of the columns of `b` for a Gram matrix, which messages call `called`.
#[pyfunction]
pub(crate) fn gram_paths(
    py: Python<'_>,
    gram: PyReadonlyArray2<'_, f64>,
    b: PyReadonlyArray2<'_, f64>,
    options: Options<'_>,
    penalty: PenaltyOptions,
    threads: usize,
    called: String,
) -> PyResult<Paths> {
    let (options, penalty) = (self::options(options)?, self::penalty(penalty)?);
    let (gram, b) = (matrix(&gram)?, matrix(&b)?);
    run(py, threads, |monitor| {
        // A Gram matrix that is not square is refused by the path.
        let lengths: Vec<f64> = (0..gram.nrows().min(gram.ncols())).map(|j| gram[(j, j)]).collect();
        let paths = penalties::paths(&gram, b, &lengths, &options, &penalty, monitor);
        let paths = paths.map_err(|error| Failure::Gram { error, called })?;
        Ok(Paths::new(paths, Units::One(gram.dim())))
    })
}
