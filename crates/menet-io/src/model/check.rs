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
        let refit = &self.refit;
        if refit.candidates > p {
            return Err(format!("its panel was chosen from {} of {p} variables", refit.candidates));
        }
        for (name, number, most) in
            [("residual", refit.residual, f64::MAX), ("shrinkage", refit.shrinkage, 1.0)]
        {
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
