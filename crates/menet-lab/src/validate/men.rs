//! MEN as a procedure: the choice of its settings by cross-validation inside the training samples, then the fit.

use menet::evaluate::{Split, subset};
use menet::select::{Choice, Grid, Search, Space};
use menet::{Dataset, Men, MenParams};

use super::procedure::{Decisions, HeldOutCase, Procedure};
use super::splits::inner;
use crate::cell::places_of;
use crate::error::Result;
use crate::progress::{Progress, QuietProgress};
use crate::settings::{difference, paths, table_of};

/// The folds of the inner cross-validation by default.
pub const INNER_FOLDS: usize = 3;

/// MEN, its settings chosen by cross-validation inside the training samples.
#[derive(Debug, Clone)]
pub struct MenProcedure {
    /// The name in tables.
    pub name: String,
    /// The parameters; what they leave open is searched.
    pub base: MenParams,
    /// How the settings are chosen; none: a fit with `base` alone.
    pub search: Option<Search>,
    /// Folds of the cross-validation that chooses, ≥ 2.
    pub folds: usize,
}

/// A model, its parameters, and how they were chosen if there was more than one setting.
#[derive(Debug)]
pub(super) struct ChosenModel {
    pub(super) men: Men,
    pub(super) params: MenParams,
    pub(super) choice: Option<Choice>,
}

impl MenProcedure {
    /// MEN with these parameters, and the default search for what they leave open.
    pub fn new(base: MenParams) -> Self {
        MenProcedure { name: "men".to_owned(), base, search: Some(Search::default()), folds: INNER_FOLDS }
    }

    /// MEN with these parameters and no search.
    pub fn fixed(base: MenParams) -> Self {
        MenProcedure { search: None, ..Self::new(base) }
    }

    /// MEN with these parameters, trying these lists.
    pub fn trying(base: MenParams, space: Space) -> Self {
        MenProcedure { search: Some(Search { space, ..Search::default() }), ..Self::new(base) }
    }

    /// The settings to choose from; none if there is nothing to choose.
    pub fn grid(&self, data: &Dataset<'_>) -> Option<Grid> {
        let grid = self.search.as_ref()?.grid(&self.base, data);
        (grid.settings(&self.base).len() > 1).then_some(grid)
    }

    /// The parameters of the only setting, or those that all settings share.
    pub(super) fn shared(&self, data: &Dataset<'_>) -> MenParams {
        let first = |search: &Search| search.grid(&self.base, data).settings(&self.base).into_iter().next();
        self.search.as_ref().and_then(first).unwrap_or_else(|| self.base.clone())
    }

    /// Chooses among the settings by cross-validation inside `data`, which must be training samples only, and fits the choice.
    pub(super) fn choose(
        &self,
        data: &Dataset<'_>,
        groups: Option<&[usize]>,
        seed: u64,
        progress: &dyn Progress,
    ) -> Result<ChosenModel> {
        let quiet = QuietProgress(progress);
        let (Some(_), Some(search)) = (self.grid(data), &self.search) else {
            let params = self.shared(data);
            let men = menet::fit(data, &params, &quiet)?;
            return Ok(ChosenModel { men, params, choice: None });
        };
        let folds: Vec<Split> = inner(data, groups, self.folds, seed)?;
        let choice = search.run(data, &self.base, &folds, &quiet, &|_, _| ())?;
        Ok(ChosenModel { men: choice.men.clone(), params: choice.params().clone(), choice: Some(choice) })
    }
}

impl Procedure for MenProcedure {
    fn name(&self) -> &str {
        &self.name
    }

    fn identity(&self) -> String {
        format!("{self:?}")
    }

    fn decide(&self, case: &HeldOutCase<'_>, progress: &dyn Progress) -> Result<Decisions> {
        let train = subset(case.data, &case.split.train)?;
        let groups = case.training_groups();
        let ChosenModel { men, params, choice } =
            self.choose(&train, groups.as_deref(), case.seed, progress)?;
        let test = subset(case.data, &case.split.test)?;
        let z = men.project(&test)?;
        let rule = men.rule()?;
        let class_of = places_of(men.classes(), case.data.classes());
        let given = rule.classify(z.as_ref())?.into_iter().map(|class| class_of[class]).collect();
        let logs = rule.log_probabilities(z.as_ref())?;
        let mut probabilities = vec![vec![0.0; case.data.classes().len()]; test.samples()];
        for (i, row) in probabilities.iter_mut().enumerate() {
            class_of.iter().enumerate().for_each(|(k, &class)| row[class] = logs[(i, k)].exp());
        }
        let panel = men.panel();
        Ok(Decisions {
            given,
            probabilities: Some(probabilities),
            variables: panel.len(),
            panel,
            choice: if choice.is_some() { one_line(&params, &self.base)? } else { String::new() },
        })
    }

    fn men(&self) -> Option<&MenProcedure> {
        Some(self)
    }
}

/// What a choice adds to the base parameters, as TOML on one line.
pub(super) fn one_line(params: &MenParams, base: &MenParams) -> Result<String> {
    let new = difference(&table_of(params)?, &table_of(base)?);
    Ok(paths(&new).iter().map(|(path, value)| format!("{path} = {value}")).collect::<Vec<_>>().join(", "))
}
