//! What a model asks of new samples: the variables of its panel, by name.
//!
//! A table with named columns needs no others, and whatever else its columns hold does not matter, text included. The other variables of
//! the fit are read where they can be, because they tell whether the model was fitted to a sample. A model that fills missing values from
//! neighbours measures them on all variables where all are there, and on the panel otherwise.
//!
//! A table without names has all variables of the model, in its order.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use faer::MatRef;
use menet::Men;

use crate::error::{Error, Result, short};
use crate::fingerprint;
use crate::table::{Table, TableValues};

/// The names of the variables that a model has and needs.
#[derive(Debug)]
pub struct ModelVariables {
    /// All variables of the fit, and whether each is in the panel.
    variables: HashMap<String, bool>,
    /// The panel, in the model's order.
    panel: Vec<String>,
    /// Whether missing values are filled from neighbours.
    neighbors: bool,
}

/// How a column of a table is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColumnReading {
    /// It holds numbers, or is refused.
    Strictly,
    /// Text counts as missing. The column serves only to recognise training samples.
    Loosely,
    /// It is not read.
    Not,
}

impl ModelVariables {
    /// Of a table that must have all of these variables. The caller checks that it has them.
    pub fn named(names: &[String]) -> Self {
        let variables = names.iter().map(|name| (name.clone(), true)).collect();
        ModelVariables { variables, panel: Vec::new(), neighbors: false }
    }

    fn of(men: &Men) -> Option<Self> {
        let (names, panel) = (men.feature_names()?, men.panel());
        let needed = |j: &usize| panel.binary_search(j).is_ok();
        Some(ModelVariables {
            variables: names.iter().enumerate().map(|(j, name)| (name.clone(), needed(&j))).collect(),
            panel: panel.iter().map(|&j| names[j].clone()).collect(),
            neighbors: men.fills_from_neighbors(),
        })
    }

    /// Whether the model cannot do without this variable.
    pub(crate) fn needs(&self, name: &str) -> bool {
        self.variables.get(name) == Some(&true)
    }

    /// How a column is read that is among these, in a table that has all of them.
    pub(crate) fn reading(&self, name: &str, has_all: bool) -> ColumnReading {
        match self.variables.get(name) {
            None => ColumnReading::Not,
            Some(true) => ColumnReading::Strictly,
            Some(false) if self.neighbors && has_all => ColumnReading::Strictly,
            Some(false) => ColumnReading::Loosely,
        }
    }

    /// Whether a table with these columns has every variable of the fit.
    pub(crate) fn all_among<'a>(&self, columns: impl Iterator<Item = &'a str>) -> bool {
        let found: std::collections::HashSet<&str> =
            columns.filter(|name| self.variables.contains_key(*name)).collect();
        found.len() == self.variables.len()
    }

    /// Refuses columns that lack variables of the panel, and names all of these.
    ///
    /// # Errors
    /// When a variable is missing.
    pub(crate) fn check<'a>(&self, columns: impl Iterator<Item = &'a str>, path: &Path) -> Result<()> {
        let columns: std::collections::HashSet<&str> = columns.collect();
        let lacking: Vec<String> = self
            .panel
            .iter()
            .filter(|name| !columns.contains(name.as_str()))
            .map(|name| format!("{:?}", short(name)))
            .collect();
        let (count, needed) = (lacking.len(), self.panel.len());
        let problem = match &lacking[..] {
            [] => return Ok(()),
            [name] => format!("there is no column {name}, which the model needs"),
            names => {
                let turned =
                    if count == needed { "; if the table is transposed, add --transpose" } else { "" };
                format!(
                    "there are no columns for {count} of the {needed} variables that the model needs: {}{turned}",
                    names.join(", ")
                )
            }
        };
        Err(Error::input(path, problem))
    }
}

/// A model, ready for tables.
#[derive(Debug)]
pub struct TableModel<'m> {
    men: &'m Men,
    /// The model of the panel alone; none for a model whose variables have no names, or without a panel.
    on_panel: Option<Men>,
    needs: Option<Arc<ModelVariables>>,
}

impl<'m> TableModel<'m> {
    /// Of a model.
    ///
    /// # Errors
    /// When its parts do not fit together.
    pub fn new(men: &'m Men) -> Result<Self> {
        let named = men.feature_names().is_some() && !men.panel().is_empty();
        let on_panel = if named { Some(men.on_panel()?) } else { None };
        let needs = if named { ModelVariables::of(men).map(Arc::new) } else { None };
        Ok(TableModel { men, on_panel, needs })
    }

    /// The model as it was fitted.
    pub fn men(&self) -> &Men {
        self.men
    }

    /// What readers should look for; none = all columns.
    pub fn needs(&self) -> Option<Arc<ModelVariables>> {
        self.needs.clone()
    }

    /// A table with the columns that one form of the model takes, in its order, and that form.
    ///
    /// # Errors
    /// When a variable that the model needs is missing.
    pub fn arrange(&self, table: Table) -> Result<(Table, &Men)> {
        let (mut table, men) = match (&self.needs, &self.on_panel, &table.feature_names) {
            (Some(needs), Some(on_panel), Some(own)) => {
                let path = Path::new(&table.source);
                needs.check(own.iter().map(String::as_str), path)?;
                let whole = needs.neighbors && needs.all_among(own.iter().map(String::as_str));
                let men = if whole { self.men } else { on_panel };
                (table.select(men.feature_names().unwrap_or_default())?, men)
            }
            _ => (table, self.men),
        };
        if let (true, Some(needs), TableValues::Dense(values)) =
            (men.fills_from_neighbors(), &self.needs, &table.values)
            && needs.variables.len() > table.columns
            && values.iter().any(|value| value.is_nan())
        {
            table.notices.push(format!(
                "missing values are filled from training samples that are near on the panel ({} variables), since the data lack other \
                 variables of the fit",
                needs.panel.len()
            ));
        }
        Ok((table, men))
    }

    /// Whether the means of the training data can stand for missing values: a model that prepares samples has no means of samples as they
    /// are.
    pub fn takes_means(men: &Men) -> bool {
        men.preparation().is_none()
    }

    /// What samples are recognised by, before they are arranged; empty if the table lacks variables of the fit.
    pub fn fingerprints(&self, table: &Table) -> Vec<u64> {
        let x = match (&table.values, table.matrix()) {
            (TableValues::Sparse(x), _) => return fingerprint::of_sparse(x),
            (_, Ok(x)) => x,
            (_, Err(_)) => return Vec::new(),
        };
        let (Some(names), Some(own)) = (self.men.feature_names(), &table.feature_names) else {
            return fingerprint::of_rows(x);
        };
        if names == own {
            return fingerprint::of_rows(x);
        }
        let places: HashMap<&str, usize> =
            own.iter().enumerate().map(|(at, name)| (name.as_str(), at)).collect();
        let order: Option<Vec<usize>> = names.iter().map(|name| places.get(name.as_str()).copied()).collect();
        let Some(order) = order else { return Vec::new() };
        let of_row = |i: usize| {
            let row: Vec<f64> = order.iter().map(|&at| x[(i, at)]).collect();
            fingerprint::of_rows(MatRef::from_row_major_slice(&row, 1, row.len()))
        };
        (0..x.nrows()).flat_map(of_row).collect()
    }
}
