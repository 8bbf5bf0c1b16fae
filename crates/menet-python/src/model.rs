//! A fitted MEN.

use std::path::PathBuf;

use menet::sparse::SparseVector;
use menet::{Men, MenParams, Method};
use menet_io::ModelFile;
use menet_io::model::LabelKind;
use numpy::ndarray::Array2;
use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::arrays::{Samples, array, matrix, vector};
use crate::errors::{Failure, no_component};
use crate::paths::{Paths, Units, troubles};
use crate::run::run;
use crate::settings::{Settings, method};

/// A model, and the projected training samples by which it recognises.
#[pyclass(frozen, module = "menet._core")]
#[derive(Debug)]
pub(crate) struct Model {
    file: ModelFile,
    /// Whether the gallery is that of this model: not so for one that was made sparser without its training samples.
    recognises: bool,
}

/// How to make it again, for pickle.
type Reduced<'py> = (Bound<'py, PyAny>, (Bound<'py, PyBytes>, bool));

/// Projected samples, and the classes they belong to.
type Gallery<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<i64>>);

impl Model {
    fn men(&self) -> &Men {
        &self.file.men
    }

    fn component<T>(&self, component: usize, read: impl FnOnce(&Men) -> T) -> PyResult<T> {
        let d = self.men().projection().components();
        if component < d { Ok(read(self.men())) } else { Err(no_component(component, d)) }
    }
}

fn json(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|e| PyTypeError::new_err(e.to_string()))
}

#[pymethods]
impl Model {
    /// Fits; `codes` are positions in `classes`.
    #[staticmethod]
    #[expect(clippy::too_many_arguments, reason = "an estimator and its data")]
    fn fit(
        py: Python<'_>,
        settings: Settings,
        x: Samples<'_>,
        codes: PyReadonlyArray1<'_, i64>,
        classes: Vec<String>,
        label_kind: &str,
        feature_names: Option<Vec<String>>,
        threads: usize,
    ) -> PyResult<Self> {
        let Method::Men(params) = method("men", settings)? else {
            return Err(PyTypeError::new_err("the parameters of another method"));
        };
        let label_kind = serde_json::from_value::<LabelKind>(label_kind.into())
            .map_err(|e| PyTypeError::new_err(e.to_string()))?;
        let (x, codes) = (x.view()?, vector(&codes)?);
        run(py, threads, |monitor| {
            let mut data = x.dataset(codes, classes)?;
            if let Some(names) = feature_names {
                data = data.with_feature_names(names)?;
            }
            let men = menet::fit(&data, &params, monitor)?;
            let file = ModelFile { label_kind: Some(label_kind), ..ModelFile::new(men, &data, "Python")? };
            Ok(Model { file, recognises: true })
        })
    }

    /// To a file, whole or not at all.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.check_gallery()?;
        Ok(py.detach(|| self.file.save(&path)).map_err(Failure::from)?)
    }

    /// From what `__getstate__` gave.
    #[staticmethod]
    fn from_bytes(bytes: &[u8], recognises: bool) -> PyResult<Self> {
        Ok(Model { file: ModelFile::from_bytes(bytes).map_err(Failure::from)?, recognises })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
        let model = slf.get();
        let bytes = model.file.to_bytes().map_err(Failure::from)?;
        Ok((slf.get_type().getattr("from_bytes")?, (PyBytes::new(slf.py(), &bytes), model.recognises)))
    }

    /// The same fit with fewer variables a component, fewer components. With fewer variables it no longer recognises until
    /// it is given a gallery.
    fn at(&self, nonzeros: Option<usize>, components: Option<usize>) -> PyResult<Self> {
        let men = self.men().at(nonzeros, components).map_err(Failure::from)?;
        let gallery = self.file.gallery.subcols(0, men.projection().components()).to_owned();
        let file = ModelFile { men, gallery, ..self.file.clone() };
        Ok(Model { file, recognises: self.recognises && nonzeros.is_none() })
    }

    /// The same model with the training samples as it projects them.
    fn with_gallery(&self, gallery: PyReadonlyArray2<'_, f64>) -> PyResult<Self> {
        let gallery = matrix(&gallery)?.to_owned();
        let shape = (self.file.gallery_classes.len(), self.men().projection().components());
        if gallery.shape() != shape {
            return Err(PyTypeError::new_err(format!("a gallery of {:?}, not {shape:?}", gallery.shape())));
        }
        Ok(Model { file: ModelFile { gallery, ..self.file.clone() }, recognises: true })
    }

    /// The projected training samples and their classes.
    fn gallery<'py>(&self, py: Python<'py>) -> PyResult<Gallery<'py>> {
        self.check_gallery()?;
        let codes = self.file.gallery_classes.iter().map(|&class| class as i64);
        Ok((array(py, self.file.gallery.as_ref()), PyArray1::from_iter(py, codes)))
    }

    /// How many of these samples it was fitted to.
    fn seen(&self, py: Python<'_>, x: Samples<'_>, threads: usize) -> PyResult<usize> {
        let x = x.view()?;
        run(py, threads, |_| Ok(self.file.seen(&x.fingerprints()?).into_iter().filter(|seen| *seen).count()))
    }

    /// The axes in rows, d×p.
    fn components<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        let projection = self.men().projection();
        let mut axes = Array2::zeros((projection.components(), projection.variables()));
        for (k, axis) in projection.axes().iter().enumerate() {
            for (j, value) in axis.iter() {
                axes[(k, j)] = value;
            }
        }
        PyArray2::from_owned_array(py, axes)
    }

    fn mean<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, self.men().projection().mean())
    }

    /// The worst violation of the optimality conditions on the path of every component.
    fn kkt<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_iter(py, self.men().certificates().iter().map(|certificate| certificate.kkt))
    }

    fn levels<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_vec(py, self.men().levels())
    }

    /// The variables that every component uses, in the order in which they entered.
    fn selected(&self) -> Vec<Vec<usize>> {
        let axes = self.men().projection().axes();
        let orders = self.men().parts().components.iter().map(|component| &component.order_of_entry);
        let used = |axis: &SparseVector, j: usize| axis.indices().binary_search(&j).is_ok();
        orders
            .zip(axes)
            .map(|(order, axis)| order.iter().copied().filter(|&j| used(axis, j)).collect())
            .collect()
    }

    /// The share of true neighbours found, if the search was approximate.
    fn neighbor_recall(&self) -> Option<f64> {
        self.men().neighbor_recall()
    }

    /// What the definiteness policy found and did, as JSON.
    fn definiteness(&self) -> PyResult<String> {
        json(self.men().definiteness())
    }

    /// Which way the fit went, as JSON.
    fn regime(&self) -> PyResult<String> {
        json(&self.men().regime())
    }

    /// The parameters of the fit, as JSON, but for the penalty factors, which may be infinite.
    fn params(&self) -> PyResult<String> {
        json(&MenParams { penalty_factors: None, ..self.men().params().clone() })
    }

    fn penalty_factors(&self) -> Option<Vec<f64>> {
        self.men().params().penalty_factors.clone()
    }

    fn classes(&self) -> Vec<String> {
        self.men().classes().to_vec()
    }

    /// What the class names stand for, if the model says so.
    fn label_kind(&self) -> PyResult<Option<String>> {
        let kind =
            serde_json::to_value(self.file.label_kind).map_err(|e| PyTypeError::new_err(e.to_string()))?;
        Ok(kind.as_str().map(str::to_owned))
    }

    fn feature_names(&self) -> Option<Vec<String>> {
        self.men().feature_names().map(<[String]>::to_vec)
    }

    /// Seconds every stage of the fit took.
    fn seconds(&self) -> Vec<(&'static str, f64)> {
        self.men().seconds().iter().map(|&(stage, seconds)| (stage.name(), seconds)).collect()
    }

    /// The path of a component, in the units of its axis.
    fn path(&self, component: usize) -> PyResult<Paths> {
        self.component(component, |men| match men.paths().get(component) {
            Some(path) => Ok(Paths::new(vec![path.clone()], Units::Each(men.parts().units.clone()))),
            None => Err(PyValueError::new_err("the paths were left out of this model")),
        })?
    }

    /// The components whose paths numerical trouble ended, and how.
    fn troubles(&self) -> Vec<(usize, String)> {
        troubles(self.men().paths())
    }

    /// The worst relative residual of the conjugate gradients, if there were any.
    fn cg_residual(&self) -> Option<f64> {
        self.men().cg_residual()
    }

    /// Whether it can recognise samples by those it learned from.
    fn recognises(&self) -> bool {
        self.recognises
    }
}

impl Model {
    fn check_gallery(&self) -> PyResult<()> {
        if self.recognises {
            return Ok(());
        }
        Err(PyValueError::new_err(
            "this model was made sparser without its training samples, which a model file does not hold: it can \
             transform, but neither predict nor be saved",
        ))
    }
}
