//! What the JSON of a model file may say. Its parameters and tensors are checked with the model they make ([`menet::Men::from_parts`]).
//!
//! A checksum shows that a file is as it was written, not who wrote it: every field may hold anything that its type allows.

use std::collections::HashSet;

use super::tensors::Problem;
use super::{Header, LabelKind};
use crate::error::short;

impl Header {
    /// Refuses values that no fit of `p` variables gives.
    pub(super) fn check(&self, p: usize) -> Result<(), Problem> {
        self.check_classes()?;
        if self.unlabelled.1 > self.unlabelled.0 {
            let (all, some) = self.unlabelled;
            return Err(format!(
                "{some} of its {all} samples without a label are joined to none, which are too many"
            ));
        }
        if let Some(refit) = self.refit.filter(|refit| refit.candidates > p) {
            return Err(format!("its panel was chosen from {} of {p} variables", refit.candidates));
        }
        let seconds = self.seconds.iter().map(|(stage, seconds)| (stage.name(), Some(*seconds), f64::MAX));
        let told = &self.definiteness;
        let numbers = [
            ("neighbor_recall", self.neighbor_recall, 1.0),
            ("cg_residual", self.cg_residual, f64::MAX),
            ("floor", Some(told.floor), 1.0),
            ("kappa_requested", Some(told.kappa_requested), f64::MAX),
            ("kappa_used", Some(told.kappa_used), f64::MAX),
            ("residual", self.refit.and_then(|refit| refit.residual), f64::MAX),
            ("shrinkage", self.refit.and_then(|refit| refit.shrinkage), 1.0),
        ];
        for (name, number, most) in numbers.into_iter().chain(seconds) {
            if let Some(number) = number.filter(|number| !(0.0..=most).contains(number)) {
                let allowed = if most == 1.0 { "from 0 to 1" } else { "0 or more" };
                return Err(format!("its {name} is {number:?}, but must be {allowed}"));
            }
        }
        Ok(())
    }

    /// Refuses classes that are missing, given twice, or not of their kind.
    fn check_classes(&self) -> Result<(), Problem> {
        if self.classes.is_empty() {
            return Err("it has no classes".to_owned());
        }
        let mut seen = HashSet::new();
        if let Some(twice) = self.classes.iter().find(|class| !seen.insert(class.as_str())) {
            return Err(format!("it has the class {:?} twice", short(twice)));
        }
        let kind = self.label_kind.unwrap_or(LabelKind::Text);
        self.classes.iter().try_for_each(|class| kind.check(class))
    }
}
