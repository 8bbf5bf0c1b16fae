//! The result of a reader: numbers in rows, with labels, names and shape if the file has them.

use std::path::Path;

use faer::{Mat, MatRef};
use menet::dataset::View;
use menet::sparse::SparseMatrix;
use menet::{Dataset, Men};

use crate::error::{Error, Result, short};
use crate::memory;
use crate::missing::{IN_A_FIT, Missing, for_model};

/// Samples in rows. A missing value is NaN.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Where it was read from, for messages.
    pub source: String,
    /// The numbers.
    pub values: TableValues,
    /// Number of samples.
    pub rows: usize,
    /// Number of variables.
    pub columns: usize,
    /// One label per row in its normal form (see [`crate::labels`]), empty if missing; none without labels.
    pub labels: Option<Vec<String>>,
    /// Names of the variables, if there are any.
    pub feature_names: Option<Vec<String>>,
    /// Names of the samples, if there are any.
    pub ids: Option<Ids>,
    /// The group of every sample, if there are groups.
    pub groups: Option<Vec<String>>,
    /// The batch of every sample, if there are batches.
    pub batches: Option<Vec<String>>,
    /// How much every sample counts, if weights were taken from a column.
    pub weights: Option<Vec<f64>>,
    /// Whether classes count alike.
    pub balanced: bool,
    /// Whether samples without a label take part.
    pub keep_unlabelled: bool,
    /// Height and width, if the samples are images.
    pub image_shape: Option<(usize, usize)>,
    /// Notices for the user about how it was read.
    pub notices: Vec<String>,
}

/// Names of samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ids {
    /// The name of their column.
    pub name: String,
    /// One per sample.
    pub values: Vec<String>,
}

/// The numbers of a table.
#[derive(Debug, Clone, PartialEq)]
pub enum TableValues {
    /// Row by row.
    Dense(Vec<f64>),
    /// From a sparse format, if the dense matrix would take more than [`menet::dataset::DENSE_BYTES`]. No value is missing.
    Sparse(SparseMatrix),
}

impl From<Vec<f64>> for TableValues {
    fn from(values: Vec<f64>) -> Self {
        TableValues::Dense(values)
    }
}

impl TableValues {
    /// The numbers row by row; empty if they are sparse.
    pub(crate) fn dense(&self) -> &[f64] {
        match self {
            TableValues::Dense(values) => values,
            TableValues::Sparse(_) => &[],
        }
    }

    fn dense_mut(&mut self) -> &mut [f64] {
        match self {
            TableValues::Dense(values) => values,
            TableValues::Sparse(_) => &mut [],
        }
    }
}

impl Table {
    /// A table with numbers only.
    pub fn new(source: &Path, values: impl Into<TableValues>, rows: usize, columns: usize) -> Self {
        Table {
            source: source.display().to_string(),
            values: values.into(),
            rows,
            columns,
            labels: None,
            feature_names: None,
            ids: None,
            groups: None,
            batches: None,
            weights: None,
            balanced: false,
            keep_unlabelled: false,
            image_shape: None,
            notices: Vec::new(),
        }
    }

    /// The values as a matrix, without a copy.
    ///
    /// # Errors
    /// When they are sparse.
    pub fn matrix(&self) -> Result<MatRef<'_, f64>> {
        match &self.values {
            TableValues::Dense(values) => Ok(MatRef::from_row_major_slice(values, self.rows, self.columns)),
            TableValues::Sparse(x) => Err(menet::Error::sparse(x).into()),
        }
    }

    /// The projected samples.
    ///
    /// # Errors
    /// When the number of variables differs, a value is missing that the model does not fill, or the model needs batches.
    pub fn project(&self, men: &Men) -> Result<Mat<f64>> {
        Ok(men.transform_batches(self.view()?, self.batches.as_deref())?)
    }

    /// The values as they lie in memory.
    ///
    /// # Errors
    /// When there are more or fewer than rows times columns.
    pub fn view(&self) -> Result<View<'_>> {
        Ok(match &self.values {
            TableValues::Dense(_) => View::Double(self.matrix()?),
            TableValues::Sparse(x) => View::Sparse(x),
        })
    }

    /// The labelled data; dense values are not copied.
    ///
    /// # Errors
    /// When there are no labels, or a value is missing or not finite.
    pub fn dataset(&self) -> Result<Dataset<'_>> {
        self.check_missing()?;
        self.dataset_with_missing()
    }

    /// The labelled data with missing values, for a fit that fills them.
    ///
    /// # Errors
    /// When there are no labels, or a value is not finite.
    pub fn dataset_with_missing(&self) -> Result<Dataset<'_>> {
        let mut data = match self.without_label() {
            0 => {
                let labels = self.all_labels()?;
                match &self.values {
                    TableValues::Dense(_) => Dataset::with_missing(self.matrix()?, labels)?,
                    TableValues::Sparse(x) => Dataset::from_sparse(x.clone(), labels)?,
                }
            }
            _ => self.partly_labelled()?,
        };
        if let Some(batches) = &self.batches {
            data = data.with_batches(batches)?;
        }
        if let Some(names) = &self.feature_names {
            data = data.with_feature_names(names.clone())?;
        }
        if let Some((height, width)) = self.image_shape {
            data = data.with_image_shape(height, width)?;
        }
        self.counted(data)
    }

    /// How many samples without a label take part.
    pub fn without_label(&self) -> usize {
        let labels = self.labels.as_ref().filter(|_| self.keep_unlabelled);
        labels.map_or(0, |labels| labels.iter().filter(|label| label.is_empty()).count())
    }

    /// The label of every sample.
    ///
    /// # Errors
    /// When there are none, or a sample has none.
    pub fn all_labels(&self) -> Result<&[String]> {
        let Some(labels) = &self.labels else {
            return Err(Error::input(
                self.source.as_ref(),
                "there are no labels; name their column with --label, or give --labels FILE",
            ));
        };
        if let Some(row) = labels.iter().position(String::is_empty) {
            let count = labels.iter().filter(|label| label.is_empty()).count();
            let problem = format!(
                "sample {}{} of {} has no label ({count} without a label in all); add the label, leave the sample out, or fit with --unlabelled keep",
                row + 1,
                self.id_of(row),
                self.rows
            );
            return Err(Error::input(self.source.as_ref(), problem));
        }
        Ok(labels)
    }

    /// Refuses missing values, and says where the first one is.
    ///
    /// # Errors
    /// When a value is missing.
    pub fn check_missing(&self) -> Result<()> {
        let mut missing = Missing::default();
        missing.look(self, 0);
        missing.check(&self.source, self.rows, IN_A_FIT)
    }

    /// Refuses missing values of new samples of a model, and says where the first one is.
    ///
    /// # Errors
    /// When a value is missing.
    pub fn check_missing_for(&self, men: &Men) -> Result<()> {
        let mut missing = Missing::default();
        missing.look(self, 0);
        missing.check(&self.source, self.rows, for_model(men))
    }

    /// Adds the samples of another table with the same columns.
    ///
    /// # Errors
    /// When there is no memory for them.
    pub(crate) fn append(&mut self, other: Table) -> Result<()> {
        if let (TableValues::Dense(values), TableValues::Dense(more)) = (&mut self.values, other.values) {
            memory::reserve(values, more.len(), self.source.as_ref())?;
            values.extend(more);
        }
        self.rows += other.rows;
        if let (Some(labels), Some(more)) = (&mut self.labels, other.labels) {
            labels.extend(more);
        }
        if let (Some(ids), Some(more)) = (&mut self.ids, other.ids) {
            ids.values.extend(more.values);
        }
        if let (Some(groups), Some(more)) = (&mut self.groups, other.groups) {
            groups.extend(more);
        }
        if let (Some(batches), Some(more)) = (&mut self.batches, other.batches) {
            batches.extend(more);
        }
        Ok(())
    }

    /// Reserves memory for this many numbers in all.
    ///
    /// # Errors
    /// When there is no memory for them.
    pub(crate) fn make_room(&mut self, numbers: usize) -> Result<()> {
        match &mut self.values {
            TableValues::Dense(values) => {
                let more = numbers.saturating_sub(values.len());
                memory::reserve(values, more, self.source.as_ref())
            }
            TableValues::Sparse(_) => Ok(()),
        }
    }

    /// Sets labels from another source.
    ///
    /// # Errors
    /// When their number is not the number of samples.
    pub(crate) fn set_labels(&mut self, labels: Vec<String>) -> Result<()> {
        if labels.len() != self.rows {
            let problem =
                format!("{} labels for {} samples{}", labels.len(), self.rows, self.turned(labels.len()));
            return Err(Error::input(self.source.as_ref(), problem));
        }
        self.labels = Some(labels);
        Ok(())
    }

    /// A hint for the case that there are as many labels as columns.
    pub(crate) fn turned(&self, labels: usize) -> &'static str {
        if labels == self.columns && labels != self.rows {
            ", but there are as many labels as columns; if the table is transposed (one variable per row), add --transpose"
        } else {
            ""
        }
    }

    /// Exchanges rows and columns. Labels and names are dropped, because they may not belong to the columns.
    ///
    /// # Errors
    /// When the values are sparse or images, or there is no memory for both.
    pub(crate) fn transposed(self) -> Result<Self> {
        let path = Path::new(&self.source).to_owned();
        if self.image_shape.is_some() {
            return Err(Error::input(&path, "--transpose: images cannot be transposed; remove --transpose"));
        }
        let mut values = Vec::new();
        memory::reserve(&mut values, self.rows * self.columns, &path)?;
        let x = self.matrix()?;
        for j in 0..self.columns {
            values.extend((0..self.rows).map(|i| x[(i, j)]));
        }
        Ok(Table { notices: self.notices, ..Table::new(&path, values, self.columns, self.rows) })
    }

    /// The name of a sample for messages; empty if it has none.
    pub(crate) fn id_of(&self, row: usize) -> String {
        self.ids.as_ref().map_or_else(String::new, |ids| format!(" ({})", short(&ids.values[row])))
    }

    /// Fills every missing value with the value of its column in `values`, for instance the mean of the training data.
    pub fn fill_missing(&mut self, values: &[f64]) {
        for row in self.values.dense_mut().chunks_mut(self.columns) {
            for (value, &fill) in row.iter_mut().zip(values) {
                if value.is_nan() {
                    *value = fill;
                }
            }
        }
    }

    /// Sets the image shape.
    ///
    /// # Errors
    /// When height times width is not the number of variables.
    pub fn set_image_shape(&mut self, height: usize, width: usize) -> Result<()> {
        if height.checked_mul(width) != Some(self.columns) {
            let problem = format!(
                "an image of {height}x{width} pixels does not match the {} variables of a sample",
                self.columns
            );
            return Err(Error::input(self.source.as_ref(), problem));
        }
        self.image_shape = Some((height, width));
        Ok(())
    }

    /// The table with its columns in the order of `names`.
    ///
    /// # Errors
    /// When a name is missing.
    pub fn select(mut self, names: &[String]) -> Result<Self> {
        let Some(own) = &self.feature_names else { return Ok(self) };
        if own == names {
            return Ok(self);
        }
        let place: std::collections::HashMap<&str, usize> =
            own.iter().enumerate().map(|(at, name)| (name.as_str(), at)).collect();
        let order: Vec<usize> = names
            .iter()
            .map(|name| {
                place.get(name.as_str()).copied().ok_or_else(|| {
                    Error::input(
                        self.source.as_ref(),
                        format!("there is no column {:?}, which the model needs", short(name)),
                    )
                })
            })
            .collect::<Result<_>>()?;
        let x = self.matrix()?;
        let chosen: Vec<f64> =
            (0..self.rows).flat_map(|row| order.iter().map(move |&at| x[(row, at)])).collect();
        self.values = chosen.into();
        (self.columns, self.feature_names) = (names.len(), Some(names.to_vec()));
        Ok(self)
    }

    /// The name of a variable for messages.
    pub(crate) fn variable(&self, column: usize) -> String {
        match &self.feature_names {
            Some(names) => format!("{:?}", short(&names[column])),
            None => (column + 1).to_string(),
        }
    }
}
