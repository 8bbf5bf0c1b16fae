//! How much the samples of a table count: weights from a column, balanced classes, samples without a label.

use menet::Dataset;
use menet::dataset::{Samples, sorted_classes};

use crate::error::{Error, Result, short};
use crate::table::{Table, TableValues};

impl Table {
    /// Takes the weights of the samples from a column, which is no variable any more.
    ///
    /// # Errors
    /// When there is no such column, or the table is sparse.
    pub fn take_weights(&mut self, column: &str) -> Result<()> {
        let refuse = |problem: String| Err(Error::input(self.source.as_ref(), problem));
        let names = self.feature_names.as_deref().unwrap_or_default();
        let Some(at) = names.iter().position(|name| name == column) else {
            return refuse(format!("there is no column {:?} to take the weights from", short(column)));
        };
        if self.columns == 1 {
            return refuse(format!("there are no variables beside the weights in {:?}", short(column)));
        }
        let columns = self.columns;
        let TableValues::Dense(values) = &mut self.values else {
            return refuse("weights cannot be taken from a column of a sparse file".to_owned());
        };
        self.weights = Some(values.iter().skip(at).step_by(columns).copied().collect());
        let mut place = 0;
        values.retain(|_| {
            place += 1;
            (place - 1) % columns != at
        });
        self.columns -= 1;
        self.image_shape = None;
        if let Some(names) = &mut self.feature_names {
            names.remove(at);
        }
        Ok(())
    }

    /// The labelled samples, with the others beside them.
    pub(crate) fn partly_labelled(&self) -> Result<Dataset<'_>> {
        let labels = self.labels.as_deref().unwrap_or_default();
        let known: Vec<String> = labels.iter().filter(|label| !label.is_empty()).cloned().collect();
        let classes = sorted_classes(&known);
        let code = |label: &String| classes.iter().position(|class| class == label);
        let codes: Vec<Option<usize>> = labels.iter().map(code).collect();
        let samples: Samples<'_> = match &self.values {
            TableValues::Dense(_) => self.matrix()?.into(),
            TableValues::Sparse(x) => x.clone().into(),
        };
        Ok(Dataset::partly_labelled(samples.with_missing(), &codes, classes.clone())?)
    }

    /// The data with the weights of this table.
    pub(crate) fn counted<'a>(&self, mut data: Dataset<'a>) -> Result<Dataset<'a>> {
        if let Some(weights) = &self.weights {
            let labels = self.labels.as_deref().unwrap_or_default();
            let of_labelled = weights.iter().zip(labels).filter(|(_, label)| !label.is_empty());
            data = data.with_weights(&of_labelled.map(|(weight, _)| *weight).collect::<Vec<_>>())?;
        }
        Ok(if self.balanced { data.with_balanced_classes() } else { data })
    }

    /// What belongs to samples, for those with a label alone.
    pub fn of_labelled<T: Clone>(&self, all: &[T]) -> Vec<T> {
        match &self.labels {
            Some(labels) if self.without_label() > 0 => {
                let kept = all.iter().zip(labels).filter(|(_, label)| !label.is_empty());
                kept.map(|(one, _)| one.clone()).collect()
            }
            _ => all.to_vec(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new("x.csv".as_ref(), vec![1.0, 5.0, 2.0, 3.0, 6.0, 4.0, 7.0, 0.0, 8.0], 3, 3);
        table.feature_names = Some(["a", "w", "b"].map(str::to_owned).to_vec());
        table.labels = Some(["0", "1", ""].map(str::to_owned).to_vec());
        table
    }

    #[test]
    fn a_column_becomes_weights() {
        let mut table = table();
        table.take_weights("w").unwrap();
        assert_eq!(table.values, TableValues::Dense(vec![1.0, 2.0, 3.0, 4.0, 7.0, 8.0]));
        assert_eq!(table.weights.as_deref(), Some(&[5.0, 6.0, 0.0][..]));
        assert_eq!(table.feature_names.as_deref(), Some(&["a".to_owned(), "b".to_owned()][..]));
        assert!(table.dataset().unwrap_err().to_string().contains("--unlabelled keep"));
        table.keep_unlabelled = true;
        let data = table.dataset().unwrap();
        assert_eq!((data.samples(), data.unlabelled(), data.variables()), (2, 1, 2));
        let weights = data.weights().unwrap();
        assert!((weights[1] / weights[0] - 1.2).abs() < 1e-15);
        assert_eq!(table.of_labelled(&[10, 11, 12]), [10, 11]);
        assert!(table.take_weights("w").unwrap_err().to_string().contains("no column"));
    }
}
