//! MEN as a procedure: the choice of its settings by cross-validation inside the training samples, then the fit.

use menet::evaluate::{Split, subset};
use menet::refit::Refit;
use menet::rules::{Metric, RuleKind};
use menet::scores::ScoreKind;
use menet::select::{self, Grid, ModelSize, Trial, TrialChoice};
use menet::{Dataset, Men, MenParams, Named};

use super::procedure::{Decisions, HeldOutCase, Procedure};
use super::splits::inner;
use crate::cell::places_of;
use crate::error::{Error, Result};
use crate::progress::{Progress, QuietProgress};
use crate::settings::{difference, paths, table_of};

/// The ridges that are tried by default.
pub const RIDGES: [f64; 2] = [0.3, 10.0];

/// The numbers of variables per path that are tried by default.
pub const SIZES: [usize; 4] = [5, 10, 20, 50];

/// The folds of the inner cross-validation by default.
pub const INNER_FOLDS: usize = 3;

/// MEN, its settings chosen by cross-validation inside the training samples.
#[derive(Debug, Clone)]
pub struct MenProcedure {
    /// The name in tables.
    pub name: String,
    /// The parameters that are not searched.
    pub base: MenParams,
    /// The settings to choose from; a single one is taken as it is.
    pub grid: Grid,
    /// Folds of the cross-validation that chooses, ≥ 2.
    pub folds: usize,
    /// The score to choose by.
    pub score: ScoreKind,
    /// Which of the settings that are good enough is taken.
    pub choose: TrialChoice,
}

/// A model, and the trials that it was chosen from.
#[derive(Debug)]
pub(super) struct ChosenModel {
    pub(super) men: Men,
    pub(super) params: MenParams,
    pub(super) trials: Vec<Trial>,
    /// The place of the choice among the trials; none if there was only one setting.
    pub(super) place: Option<usize>,
}

impl MenProcedure {
    /// MEN with these parameters, and the default lists for what they leave open.
    pub fn new(base: MenParams) -> Self {
        let mut grid = Grid::of(&base);
        if base.ridge.is_none() {
            grid.ridge = RIDGES.to_vec();
        }
        if (base.panel_size, base.nonzeros) == (None, None) {
            grid.sizes = SIZES.map(ModelSize::Nonzeros).to_vec();
        }
        if base.refit.kind.is_none() {
            grid.refit = vec![Refit::Panel, Refit::Discriminant];
        }
        if base.rule.kind.is_none() {
            grid.rule = RuleKind::ALL.to_vec();
        }
        MenProcedure {
            name: "men".to_owned(),
            base,
            grid,
            folds: INNER_FOLDS,
            score: ScoreKind::Balanced,
            choose: TrialChoice::Best,
        }
    }

    /// Whether there is nothing to choose.
    pub fn fixed(&self) -> bool {
        self.grid.settings(&self.base).len() < 2
    }

    /// The settings for these classes: two of them give one axis, on which there are no angles. So a default of cosines becomes the
    /// Euclidean distance there; a user's own cosine is refused by the fit.
    fn grid_for(&self, data: &Dataset<'_>) -> Grid {
        let mut grid = self.grid.clone();
        if self.base.components.unwrap_or(data.classes().len() - 1) == 1 && self.base.rule.metric.is_none() {
            grid.metric.retain(|&metric| metric != Metric::Cosine);
            if grid.metric.is_empty() {
                grid.metric.push(Metric::Euclidean);
            }
        }
        grid
    }

    /// Chooses among the settings by cross-validation inside `data`, which must be training samples only, and fits the choice.
    /// A choice that works in the folds but not on all samples is left out, and the next best is taken.
    pub(super) fn choose(
        &self,
        data: &Dataset<'_>,
        groups: Option<&[usize]>,
        seed: u64,
        progress: &dyn Progress,
    ) -> Result<ChosenModel> {
        let quiet = QuietProgress(progress);
        let grid = self.grid_for(data);
        let mut settings = grid.settings(&self.base);
        if let (1, Some(one)) = (settings.len(), settings.pop()) {
            // Where no list was given, as a fit does it, which takes another rule on a single axis.
            let params = if self.grid == Grid::of(&self.base) { self.base.clone() } else { one };
            let men = menet::fit(data, &params, &quiet)?;
            return Ok(ChosenModel { men, params, trials: Vec::new(), place: None });
        }
        let folds: Vec<Split> = inner(data, groups, self.folds, seed)?;
        let mut trials = select::contest(data, &self.base, &grid, &folds, self.score, &quiet)?;
        let mut last = None;
        while let Some(place) = self.choose.of(&trials, self.score, data.variables()) {
            let params = trials[place].params.clone();
            match menet::fit(data, &params, &quiet) {
                Ok(men) => return Ok(ChosenModel { men, params, trials, place: Some(place) }),
                Err(stopped @ menet::Error::Stopped { .. }) => return Err(stopped.into()),
                Err(error) => {
                    trials[place].folds.clear();
                    last = Some(error);
                }
            }
        }
        Err(Error::Core(
            last.unwrap_or_else(|| menet::Error::Degenerate("no setting could be fitted".to_owned())),
        ))
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
        let ChosenModel { men, params, .. } = self.choose(&train, groups.as_deref(), case.seed, progress)?;
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
            choice: if self.fixed() { String::new() } else { one_line(&params, &self.base)? },
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
