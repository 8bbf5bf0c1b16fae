//! Labelled data: the one place where input is validated.

mod alike;
mod batches;
mod digest;
mod distinct;
mod missing;
mod samples;
mod unlabelled;

use std::sync::{Arc, OnceLock};

use faer::{Mat, MatRef};

pub(crate) use alike::{chance_of_equality, first_alike};
pub use batches::Batches;
pub use samples::{Samples, View};

use samples::SampleValues;

use crate::error::{Error, Result};
pub use crate::numerics::finite::Real;
use crate::numerics::linalg::Matrix;
use crate::numerics::sparse::SparseMatrix;

/// Sparse data are made dense up to so many bytes; larger ones stay sparse.
pub const DENSE_BYTES: usize = 1 << 28;

/// Samples in rows, variables in columns, and a class for every sample.
///
/// The matrix is owned or borrowed. A borrowed one may have any strides, row-major, column-major or a slice of
/// either, and is not copied. A [sparse](Self::from_sparse) one is made dense if it is small, and stays as it is
/// otherwise.
///
/// Classes are sorted numerically when all labels are whole numbers, and bytewise otherwise.
///
/// ```
/// use faer::mat;
/// use menet::Dataset;
///
/// let x = mat![[0.0, 1.0], [2.0, 3.0], [4.0, 5.0f64]];
/// let data = Dataset::new(x.as_ref(), &["10", "9", "10"])?;
/// assert_eq!(data.classes(), ["9", "10"]);
/// assert_eq!(data.class_of(0), 1);
/// # Ok::<(), menet::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Dataset<'a> {
    x: SampleValues<'a>,
    class_of: Vec<usize>,
    classes: Vec<String>,
    members: Vec<Vec<usize>>,
    feature_names: Option<Vec<String>>,
    image_shape: Option<(usize, usize)>,
    weights: Option<Vec<f64>>,
    unlabelled: Option<Arc<SampleValues<'static>>>,
    /// Whether every class has the same weight, in parts of the data too.
    balanced: bool,
    /// [`Self::distinct`], once it is known; none where that is these data.
    distinct: OnceLock<Option<Box<Dataset<'static>>>>,
    batches: Option<Batches>,
    /// Row and column of the first missing value.
    missing: Option<(usize, usize)>,
}

impl<'a> Dataset<'a> {
    /// Borrows `x`, one row per sample, with one label per row.
    ///
    /// # Errors
    /// When `x` is empty, a value is not finite, or the number of labels is not the number of rows.
    pub fn new<L: ToString>(x: MatRef<'a, f64>, labels: &[L]) -> Result<Self> {
        Self::from_labels(x.into(), labels)
    }

    /// Owns `x`.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn from_owned<L: ToString>(x: Mat<f64>, labels: &[L]) -> Result<Dataset<'static>> {
        Dataset::from_labels(x.into(), labels)
    }

    /// From single precision, which is converted.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn from_f32<L: ToString>(x: MatRef<'_, f32>, labels: &[L]) -> Result<Dataset<'static>> {
        let x = Mat::from_fn(x.nrows(), x.ncols(), |i, j| f64::from(x[(i, j)]));
        Dataset::from_labels(x.into(), labels)
    }

    /// From sparse samples. Up to [`DENSE_BYTES`] they are made dense, and all there is can be done with them; beyond,
    /// [`crate::fit()`] and projections work on them as they are.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn from_sparse<L: ToString>(x: SparseMatrix, labels: &[L]) -> Result<Dataset<'static>> {
        Dataset::from_labels(x.into(), labels)
    }

    /// As [`Self::from_sparse`], made dense up to `bytes`.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn from_sparse_beyond<L: ToString>(
        bytes: usize,
        x: SparseMatrix,
        labels: &[L],
    ) -> Result<Dataset<'static>> {
        Dataset::from_labels(Samples::sparse_beyond(bytes, x), labels)
    }

    /// From samples in which NaN stands for a missing value. A fit fills them if its parameter `impute` says how.
    ///
    /// # Errors
    /// As [`Self::new`], but for NaN.
    pub fn with_missing<L: ToString>(x: impl Into<Samples<'a>>, labels: &[L]) -> Result<Self> {
        Self::from_labels(x.into().with_missing(), labels)
    }

    pub(crate) fn from_labels<L: ToString>(x: Samples<'a>, labels: &[L]) -> Result<Self> {
        let labels: Vec<String> = labels.iter().map(L::to_string).collect();
        let classes = sorted_classes(&labels);
        let index: std::collections::BTreeMap<&str, usize> =
            classes.iter().enumerate().map(|(k, class)| (class.as_str(), k)).collect();
        let codes: Vec<usize> = labels.iter().map(|label| index[label.as_str()]).collect();
        Self::from_codes(x, codes, classes)
    }

    /// From the class of every sample as a position in `classes`, whose order is the caller's. No label is turned into text.
    ///
    /// # Errors
    /// As [`Self::new`], and when a position is out of range or a class has no sample.
    pub fn from_codes(x: impl Into<Samples<'a>>, codes: Vec<usize>, classes: Vec<String>) -> Result<Self> {
        let Samples { values: x, may_lack } = x.into();
        let (n, p) = x.shape();
        if n == 0 || p == 0 {
            return Err(Error::Empty { rows: n, columns: p });
        }
        if codes.len() != n {
            let why = format!("there are {n} rows of {p} columns");
            return Err(Error::Size { what: "`labels`", given: codes.len(), expected: n, why });
        }
        let missing = match x.check() {
            Err(Error::NotFinite { .. }) if may_lack => {
                x.check_present()?;
                x.first_missing()
            }
            checked => checked.map(|()| None)?,
        };
        let mut members = vec![Vec::new(); classes.len()];
        for (i, &class) in codes.iter().enumerate() {
            let Some(members) = members.get_mut(class) else {
                let value = format!("{class} at sample {i} (counted from 0)");
                return Err(Error::parameter(
                    "codes",
                    value,
                    format!("below {}, the number of classes", classes.len()),
                ));
            };
            members.push(i);
        }
        if let Some(class) = members.iter().position(Vec::is_empty) {
            let value = format!("\"{}\", which no sample is of", classes[class]);
            return Err(Error::parameter("classes", value, "classes with at least one sample"));
        }
        Ok(Dataset {
            x,
            class_of: codes,
            classes,
            members,
            feature_names: None,
            image_shape: None,
            weights: None,
            unlabelled: None,
            balanced: false,
            distinct: OnceLock::new(),
            batches: None,
            missing,
        })
    }

    /// Names the variables.
    ///
    /// # Errors
    /// When there is not one name per variable.
    pub fn with_feature_names(mut self, names: Vec<String>) -> Result<Self> {
        if names.len() != self.variables() {
            let why = format!("there are {} variables", self.variables());
            return Err(Error::Size {
                what: "`feature_names`",
                given: names.len(),
                expected: self.variables(),
                why,
            });
        }
        (self.feature_names, self.distinct) = (Some(names), OnceLock::new());
        Ok(self)
    }

    /// Says that a sample is an image of `height` × `width` pixels, row by row.
    ///
    /// # Errors
    /// When that is not the number of variables.
    pub fn with_image_shape(mut self, height: usize, width: usize) -> Result<Self> {
        if height.checked_mul(width) != Some(self.variables()) {
            let why = format!("the image shape is {height} x {width}");
            let expected = height.saturating_mul(width);
            return Err(Error::Size { what: "a sample", given: self.variables(), expected, why });
        }
        (self.image_shape, self.distinct) = (Some((height, width)), OnceLock::new());
        Ok(self)
    }

    /// These samples with these names and this shape, which must be of as many variables.
    pub(crate) fn called(
        &self,
        names: Option<&[String]>,
        image_shape: Option<(usize, usize)>,
    ) -> Dataset<'_> {
        let x = match &self.x {
            SampleValues::Dense(x) => SampleValues::Dense(Matrix::Borrowed(x.view())),
            SampleValues::Single(x) => SampleValues::Single(*x),
            SampleValues::Sparse(x) => SampleValues::Sparse(x.clone()),
        };
        Dataset {
            x,
            class_of: self.class_of.clone(),
            classes: self.classes.clone(),
            members: self.members.clone(),
            feature_names: names.map(<[String]>::to_vec),
            image_shape,
            weights: self.weights.clone(),
            unlabelled: self.unlabelled.clone(),
            balanced: self.balanced,
            distinct: OnceLock::new(),
            batches: self.batches.clone(),
            missing: self.missing,
        }
    }

    /// The samples as they lie in memory.
    pub fn view(&self) -> View<'_> {
        self.x.view()
    }

    /// The data as a dense matrix in double precision, n×p.
    ///
    /// # Errors
    /// When they are [sparse](Self::sparse), or in single precision.
    pub fn x(&self) -> Result<MatRef<'_, f64>> {
        match self.view() {
            View::Double(x) => Ok(x),
            View::Single(_) => {
                let allowed = "in double precision for this: convert them first (`Dataset::from_f32`)";
                Err(Error::parameter("samples", "in single precision", allowed))
            }
            View::Sparse(x) => Err(Error::sparse(x)),
        }
    }

    /// The data, if they stayed sparse.
    pub fn sparse(&self) -> Option<&SparseMatrix> {
        match &self.x {
            SampleValues::Sparse(x) => Some(x),
            _ => None,
        }
    }

    /// Some variables, rising, of all samples, less their mean.
    pub(crate) fn columns_at(&self, mean: &[f64], variables: &[usize]) -> Mat<f64> {
        let mut x = Mat::from_fn(self.samples(), variables.len(), |_, k| -mean[variables[k]]);
        match self.view() {
            View::Sparse(sparse) => {
                for i in 0..sparse.rows() {
                    for (j, value) in sparse.row(i) {
                        if let Ok(k) = variables.binary_search(&j) {
                            x[(i, k)] += value;
                        }
                    }
                }
            }
            View::Double(all) => add_columns(&mut x, all, variables),
            View::Single(all) => add_columns(&mut x, all, variables),
        }
        x
    }

    /// Number of samples n.
    pub fn samples(&self) -> usize {
        self.class_of.len()
    }

    /// Number of variables p.
    pub fn variables(&self) -> usize {
        self.x.shape().1
    }

    /// Class names, sorted.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// The class of sample `i`, as a position in [`Self::classes`].
    pub fn class_of(&self, i: usize) -> usize {
        self.class_of[i]
    }

    /// The class of every sample.
    pub fn class_indices(&self) -> &[usize] {
        &self.class_of
    }

    /// The samples of class `class`, rising.
    pub fn members(&self, class: usize) -> &[usize] {
        &self.members[class]
    }

    /// Names of the variables, if given.
    pub fn feature_names(&self) -> Option<&[String]> {
        self.feature_names.as_deref()
    }

    /// Height and width of the images that the samples are, if given.
    pub fn image_shape(&self) -> Option<(usize, usize)> {
        self.image_shape
    }
}

/// Adds some columns of `all`.
fn add_columns<T: Real>(x: &mut Mat<f64>, all: MatRef<'_, T>, variables: &[usize]) {
    for (k, &j) in variables.iter().enumerate() {
        x.col_mut(k).iter_mut().zip(all.col(j).iter()).for_each(|(x, &value)| *x += value.into());
    }
}

/// Distinct labels: by value if all are whole numbers, bytewise otherwise.
pub fn sorted_classes(labels: &[String]) -> Vec<String> {
    let mut classes = labels.to_vec();
    classes.sort_unstable();
    classes.dedup();
    let numbers: Option<Vec<f64>> = classes.iter().map(|label| whole_number(label)).collect();
    if let Some(numbers) = numbers {
        let mut order: Vec<usize> = (0..classes.len()).collect();
        order.sort_by(|&a, &b| numbers[a].total_cmp(&numbers[b]).then(a.cmp(&b)));
        classes = order.into_iter().map(|k| std::mem::take(&mut classes[k])).collect();
    }
    classes
}

/// The value of a label such as `7`, `-3` or `2.0`.
fn whole_number(label: &str) -> Option<f64> {
    let digits = label.strip_prefix(['+', '-']).unwrap_or(label);
    let plain = digits.starts_with(|c: char| c.is_ascii_digit());
    label.parse::<f64>().ok().filter(|value| plain && value.is_finite() && value.fract() == 0.0)
}

#[cfg(test)]
mod tests;
