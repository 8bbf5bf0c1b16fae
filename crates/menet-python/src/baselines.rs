//! The baselines: a projection, and the nearest training sample in the projected space.

use menet::rules::{LearnedRule, Metric, Nearest};
use menet::sparse::SparseVector;
use menet::{Named, Projection};
use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arrays::{Samples, array, matrix, vector};
use crate::errors::Failure;
use crate::project::project_with;
use crate::run::run;
use crate::settings::{Settings, method};

/// A fitted baseline. It keeps its projection and its gallery between calls.
#[pyclass(frozen, module = "menet._core")]
#[derive(Debug)]
pub(crate) struct Baseline {
    projection: Projection,
    rule: LearnedRule,
    unsettled: Option<String>,
}

impl Baseline {
    fn nearest(&self) -> PyResult<&Nearest> {
        match &self.rule {
            LearnedRule::Nearest(nearest) => Ok(nearest),
            _ => Err(PyValueError::new_err("the rule of this baseline is not \"nearest\"")),
        }
    }
}

/// The rule "nearest" with one voter. Without labels all samples are of class 0.
fn one_nearest(gallery: faer::Mat<f64>, codes: &[i64], metric: Metric) -> Result<LearnedRule, Failure> {
    let classes: Vec<usize> = codes.iter().map(|&code| usize::try_from(code).unwrap_or(usize::MAX)).collect();
    let count = classes.iter().max().map_or(0, |&largest| largest.saturating_add(1));
    if count > classes.len() {
        let why = format!("a class is {} of {} samples", count - 1, classes.len());
        return Err(menet::Error::Size { what: "`codes`", given: classes.len(), expected: count, why }.into());
    }
    Ok(LearnedRule::Nearest(Nearest::from_parts(gallery, classes, 1, metric, 1.0, vec![0.0; count])?))
}

#[pymethods]
impl Baseline {
    /// Fits the method called `name`; `codes` are positions in `classes`.
    #[staticmethod]
    #[expect(clippy::too_many_arguments, reason = "an estimator and its data")]
    fn fit(
        py: Python<'_>,
        name: &str,
        settings: Settings,
        x: Samples<'_>,
        codes: PyReadonlyArray1<'_, i64>,
        classes: Vec<String>,
        components: Option<usize>,
        metric: &str,
        threads: usize,
    ) -> PyResult<Self> {
        let method = method(name, settings)?;
        let metric = Metric::from_name(metric).map_err(Failure::from)?;
        let (x, codes) = (x.view()?, vector(&codes)?);
        run(py, threads, |monitor| {
            let data = x.dataset(codes, classes)?;
            let reduced = method.reducer().fit(&data, components, monitor)?;
            let gallery = reduced.projection.project(&data)?;
            let rule = one_nearest(gallery, codes, metric)?;
            Ok(Baseline { projection: reduced.projection, rule, unsettled: reduced.unsettled })
        })
    }

    /// From what the methods below return, for pickle and the like.
    #[staticmethod]
    fn from_parts(
        mean: PyReadonlyArray1<'_, f64>,
        axes: PyReadonlyArray2<'_, f64>,
        gallery: PyReadonlyArray2<'_, f64>,
        codes: PyReadonlyArray1<'_, i64>,
        metric: &str,
    ) -> PyResult<Self> {
        let metric = Metric::from_name(metric).map_err(Failure::from)?;
        let axes = matrix(&axes)?;
        let axes =
            axes.row_iter().map(|row| SparseVector::from_pairs(row.iter().copied().enumerate().collect()));
        let projection = Projection::new(vector(&mean)?.to_vec(), axes.collect()).map_err(Failure::from)?;
        let rule = one_nearest(matrix(&gallery)?.to_owned(), vector(&codes)?, metric)?;
        Ok(Baseline { projection, rule, unsettled: None })
    }

    /// The first `d` axes, from 1 to all.
    fn first(&self, d: usize) -> PyResult<Self> {
        let projection = &self.projection;
        let rule = self.rule.first(d).ok_or_else(|| PyValueError::new_err(format!("no {d} axes")))?;
        let axes = projection.axes()[..d].to_vec();
        let projection = Projection::new(projection.mean().to_vec(), axes).map_err(Failure::from)?;
        Ok(Baseline { projection, rule, unsettled: self.unsettled.clone() })
    }

    /// The projected samples, in single precision if `single`.
    fn project<'py>(
        &self,
        py: Python<'py>,
        x: Samples<'_>,
        threads: usize,
        single: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        project_with(py, &self.projection, x.view()?, threads, single)
    }

    /// The class of the training sample that is nearest to each row of `z`, which is projected.
    fn classify<'py>(
        &self,
        py: Python<'py>,
        z: PyReadonlyArray2<'_, f64>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let z = matrix(&z)?;
        let found = run(py, threads, |_| Ok(self.rule.classify(z)?))?;
        Ok(PyArray1::from_iter(py, found.into_iter().map(|class| class as i64)))
    }

    /// The axes in rows, d×p.
    fn components<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        array(py, self.projection.to_dense().transpose())
    }

    fn mean<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, self.projection.mean())
    }

    /// The projected training samples.
    fn gallery<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        Ok(array(py, self.nearest()?.gallery.as_ref()))
    }

    /// The classes of the training samples.
    fn codes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        Ok(PyArray1::from_iter(py, self.nearest()?.classes.iter().map(|&class| class as i64)))
    }

    fn metric(&self) -> PyResult<&'static str> {
        Ok(self.nearest()?.metric.name())
    }

    /// What did not settle, in words.
    fn unsettled(&self) -> Option<String> {
        self.unsettled.clone()
    }
}
