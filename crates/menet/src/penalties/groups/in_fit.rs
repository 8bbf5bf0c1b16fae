//! What the parameters of a fit say about groups, and what a fitted model knows of them.

use super::GroupOptions;
use crate::error::{Error, Result};
use crate::model::Men;
use crate::named::Named;
use crate::params::MenParams;
use crate::penalties::PenaltyKind;

/// How many groups are chosen, unless `nonzeros` is given.
pub(crate) const DEFAULT_GROUPS: usize = 10;

impl MenParams {
    /// Refuses what does not go with groups of `p` variables.
    pub(crate) fn check_groups(&self, p: usize) -> Result<()> {
        if !self.penalty.grouped() {
            return Ok(());
        }
        self.penalty.feature_groups.as_ref().map_or(Ok(()), |groups| groups.check(p))?;
        if let Some(size) = self.panel_size {
            let allowed = "left out with groups: a panel of so many variables would break them; use nonzeros, which counts groups";
            return Err(Error::parameter("panel_size", size, allowed));
        }
        if self.penalty.kind != PenaltyKind::L1 {
            let allowed = "l1 with groups, whose penalty is the length of a group's coefficients";
            return Err(Error::parameter("penalty.kind", self.penalty.kind.name(), allowed));
        }
        if self.penalty.always.as_ref().is_some_and(|always| !always.is_empty()) {
            let allowed = "left out with groups: put the variables that belong together into one group";
            return Err(Error::parameter("penalty.always", "given", allowed));
        }
        let other = |factors: &Vec<f64>| {
            factors.iter().copied().find(|&factor| factor != 1.0 && factor != f64::INFINITY)
        };
        if let Some(factor) = self.penalty.factors.as_ref().and_then(other) {
            let value = format!("{factor:?} with groups");
            return Err(Error::parameter(
                "penalty.factors",
                value,
                "1, or infinity for a variable that is not used",
            ));
        }
        Ok(())
    }

    /// Refuses groups for something that reads many sizes off one path, which groups do not have.
    pub(crate) fn refuse_groups(&self, what: &str) -> Result<()> {
        if !self.penalty.grouped() {
            return Ok(());
        }
        let (name, value) = match &self.penalty.feature_groups {
            Some(groups) => ("penalty.feature_groups", format!("{} groups with {what}", groups.len())),
            None => ("penalty.group_axes", format!("\"together\" with {what}")),
        };
        Err(Error::parameter(name, value, "left out there: fit again for every number of groups"))
    }

    /// The problem of a fit whose constant columns have norm 0.
    pub(crate) fn group_options(&self, norms: &[f64], factors: &[f64]) -> GroupOptions {
        let barred = (0..norms.len()).map(|j| norms[j] == 0.0 || factors[j] == f64::INFINITY).collect();
        GroupOptions::new(self.penalty.feature_groups.clone().unwrap_or_default()).with(|it| {
            it.ridge = self.ridge();
            it.axes = self.penalty.group_axes;
            it.barred = Some(barred);
        })
    }
}

impl Men {
    /// The groups that the solution of every axis uses, as numbers in [`Groups::completed`](super::Groups::completed); none for a fit without groups.
    ///
    /// They follow from the variables that entered. A group that shares variables with others counts if all its variables
    /// entered, so a group that other groups cover counts as well.
    pub fn chosen_groups(&self) -> Option<Vec<Vec<usize>>> {
        let params = self.params();
        if !params.penalty.grouped() {
            return None;
        }
        let p = self.projection().variables();
        let groups = params.penalty.feature_groups.clone().unwrap_or_default().completed(p);
        let mut members = vec![0_usize; p];
        groups.groups().iter().flat_map(|group| &group.variables).for_each(|&j| members[j] += 1);
        let chosen = |order: &Vec<usize>| {
            let mut entered = vec![false; p];
            order.iter().for_each(|&j| entered[j] = true);
            let uses = |g: &usize| {
                let variables = &groups.groups()[*g].variables;
                let shared = variables.iter().any(|&j| members[j] > 1);
                let mut found = variables.iter().map(|&j| entered[j]);
                if shared { found.all(|entered| entered) } else { found.any(|entered| entered) }
            };
            (0..groups.len()).filter(uses).collect()
        };
        Some(self.parts().components.iter().map(|axis| chosen(&axis.order_of_entry)).collect())
    }

    /// What to say of axes that have fewer groups than were asked for.
    pub(crate) fn fewer_groups(&self) -> Vec<String> {
        let Some(chosen) = self.chosen_groups() else { return Vec::new() };
        let all = self
            .params()
            .penalty
            .feature_groups
            .clone()
            .unwrap_or_default()
            .completed(self.projection().variables());
        let wanted = self.params().nonzeros.unwrap_or(DEFAULT_GROUPS).min(all.len());
        let count = chosen.len();
        let short: Vec<(usize, usize)> =
            chosen.iter().map(Vec::len).enumerate().filter(|&(_, has)| has > 0 && has < wanted).collect();
        match short.first() {
            Some(&(axis, has)) => vec![format!(
                "{} of {count} axes have fewer groups than {wanted}, axis {} has {has}: more would enter at once, or no level has \
                 as many",
                short.len(),
                axis + 1
            )],
            None => Vec::new(),
        }
    }
}
