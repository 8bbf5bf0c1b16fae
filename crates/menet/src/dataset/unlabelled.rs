//! Samples without a label. They stand beside the labelled ones: whatever asks about classes sees the labelled samples alone, and the
//! manifold term sees all.

use std::sync::Arc;

use faer::Mat;

use super::samples::SampleValues;
use super::{Dataset, Samples, View};
use crate::error::{Error, Result};
use crate::numerics::linalg::Matrix;
use crate::numerics::sparse::SparseMatrix;

impl<'a> Dataset<'a> {
    /// From samples some of which have no class. The others are as in [`Self::from_codes`].
    ///
    /// # Errors
    /// As [`Self::from_codes`], and when no sample has a class.
    pub fn partly_labelled(
        x: impl Into<Samples<'a>>,
        codes: &[Option<usize>],
        classes: Vec<String>,
    ) -> Result<Dataset<'static>> {
        Self::split(x.into(), codes, classes)
    }

    /// Partly labelled data from sparse samples, made dense up to `bytes`.
    ///
    /// # Errors
    /// As [`Self::partly_labelled`].
    pub fn partly_sparse(
        bytes: usize,
        x: SparseMatrix,
        codes: &[Option<usize>],
        classes: Vec<String>,
    ) -> Result<Dataset<'static>> {
        Self::split(Samples::sparse_beyond(bytes, x), codes, classes)
    }

    fn split(x: Samples<'_>, codes: &[Option<usize>], classes: Vec<String>) -> Result<Dataset<'static>> {
        let Samples { values: x, may_lack } = x;
        let (n, p) = x.shape();
        if codes.len() != n {
            let why = format!("there are {n} rows of {p} columns");
            return Err(Error::Size { what: "`labels`", given: codes.len(), expected: n, why });
        }
        if may_lack {
            x.check_present()?;
        } else {
            x.check()?;
        }
        let (labelled, others): (Vec<usize>, Vec<usize>) = (0..n).partition(|&i| codes[i].is_some());
        if labelled.is_empty() && n > 0 {
            return Err(Error::Classes { found: 0, samples: n });
        }
        let data = Dataset::from_codes(
            Samples { values: x.rows(&labelled), may_lack },
            labelled.iter().filter_map(|&i| codes[i]).collect(),
            classes,
        )?;
        let unlabelled = (!others.is_empty()).then(|| Arc::new(x.rows(&others)));
        Ok(Dataset { unlabelled, ..data })
    }
}

impl Dataset<'_> {
    /// Number of samples without a label, which [`Self::samples`] does not count.
    pub fn unlabelled(&self) -> usize {
        self.unlabelled.as_ref().map_or(0, |x| x.shape().0)
    }

    /// The samples without a label, if there are any.
    pub(crate) fn unlabelled_view(&self) -> Option<View<'_>> {
        self.unlabelled.as_ref().map(|x| x.view())
    }

    /// These data with other samples without a label.
    pub(crate) fn beside(mut self, unlabelled: Samples<'static>) -> Self {
        self.unlabelled = Some(Arc::new(unlabelled.values));
        self
    }

    /// The unlabelled samples of `data` beside these.
    pub(crate) fn beside_unlabelled_of(mut self, data: &Dataset<'_>) -> Self {
        self.unlabelled.clone_from(&data.unlabelled);
        self
    }

    /// All samples as one class, the labelled ones first; none where all have a label.
    pub(crate) fn union(&self) -> Result<Option<Dataset<'static>>> {
        let Some(others) = &self.unlabelled else { return Ok(None) };
        let rows: Vec<usize> = (0..self.samples()).collect();
        let x = self.x.rows(&rows).above(others);
        let codes = vec![0; x.shape().0];
        Dataset::from_codes(Samples { values: x, may_lack: false }, codes, vec!["all".to_owned()]).map(Some)
    }
}

impl SampleValues<'static> {
    /// These samples and others after them, all dense or all sparse.
    fn above(self, others: &SampleValues<'_>) -> Self {
        let (n, p) = self.shape();
        match (self, others) {
            (SampleValues::Sparse(x), SampleValues::Sparse(others)) => {
                SampleValues::Sparse(SparseMatrix::stacked(&x, others))
            }
            (x, others) => {
                let (x, below) = (x.to_dense(), others.to_dense());
                let at = |i: usize, j: usize| if i < n { x[(i, j)] } else { below[(i - n, j)] };
                SampleValues::Dense(Matrix::Owned(Mat::from_fn(n + below.nrows(), p, at)))
            }
        }
    }
}

impl SampleValues<'_> {
    fn to_dense(&self) -> Mat<f64> {
        match self {
            SampleValues::Dense(x) => x.view().to_owned(),
            SampleValues::Single(x) => Mat::from_fn(x.nrows(), x.ncols(), |i, j| f64::from(x[(i, j)])),
            SampleValues::Sparse(x) => x.to_dense(),
        }
    }
}
