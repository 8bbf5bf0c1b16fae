//! Batches: samples that were measured together.

use super::{Dataset, Samples, sorted_classes};
use crate::error::{Error, Result};

/// The batch of every sample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batches {
    pub(super) names: Vec<String>,
    pub(super) of: Vec<usize>,
}

impl Batches {
    fn new(given: &[String]) -> Self {
        let names = sorted_classes(given);
        let place: std::collections::BTreeMap<&str, usize> =
            names.iter().enumerate().map(|(k, name)| (name.as_str(), k)).collect();
        let of = given.iter().map(|name| place[name.as_str()]).collect();
        Batches { names, of }
    }

    /// Their names, sorted as classes are.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The batch of every sample, as a position in [`Self::names`].
    pub fn of(&self) -> &[usize] {
        &self.of
    }

    /// The name of the batch of every sample.
    pub fn names_of_samples(&self) -> Vec<String> {
        self.of.iter().map(|&batch| self.names[batch].clone()).collect()
    }

    /// Those of some samples.
    pub(crate) fn at(&self, rows: &[usize]) -> Self {
        Self::new(&rows.iter().map(|&i| self.names[self.of[i]].clone()).collect::<Vec<_>>())
    }
}

impl<'a> Dataset<'a> {
    /// Says which samples were measured together. A fit then subtracts the mean of every batch ([`crate::prepare`]).
    ///
    /// # Errors
    /// When there is not one batch per sample.
    pub fn with_batches<B: ToString>(mut self, batches: &[B]) -> Result<Self> {
        if batches.len() != self.samples() {
            let why = format!("there are {} samples", self.samples());
            return Err(Error::Size { what: "`batch`", given: batches.len(), expected: self.samples(), why });
        }
        self.batches = Some(Batches::new(&batches.iter().map(B::to_string).collect::<Vec<_>>()));
        Ok(self)
    }

    /// The batches, if given.
    pub fn batches(&self) -> Option<&Batches> {
        self.batches.as_ref()
    }

    /// These samples without their batches.
    #[must_use]
    pub fn without_batches(mut self) -> Self {
        self.batches = None;
        self
    }

    /// These samples, borrowed from where they are.
    pub(crate) fn borrowed(&self) -> Dataset<'_> {
        self.called(self.feature_names(), self.image_shape())
    }

    /// Other values for the same samples and variables. They have no batches.
    pub(crate) fn replaced<'b>(&self, x: Samples<'b>) -> Result<Dataset<'b>> {
        let mut data = Dataset::from_codes(x, self.class_of.clone(), self.classes.clone())?;
        (data.feature_names, data.image_shape) = (self.feature_names.clone(), self.image_shape);
        data.weights.clone_from(&self.weights);
        data.balanced = self.balanced;
        Ok(data)
    }

    /// These samples with other classes, as positions in the list of classes. Every class must still have a sample.
    ///
    /// # Errors
    /// When there is not one class per sample, or a class has none.
    pub fn relabelled(&self, codes: Vec<usize>) -> Result<Dataset<'_>> {
        let mut data = self.borrowed();
        let plain =
            Dataset::from_codes(faer::Mat::<f64>::zeros(self.samples(), 1), codes, self.classes.clone())?;
        (data.class_of, data.members) = (plain.class_of, plain.members);
        Ok(data)
    }

    /// How a variable is called in messages.
    pub(crate) fn name_of(&self, j: usize) -> String {
        match self.feature_names() {
            Some(names) => format!("variable {:?}", names[j]),
            None => format!("variable {j} (counted from 0)"),
        }
    }
}
