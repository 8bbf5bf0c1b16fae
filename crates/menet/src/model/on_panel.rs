//! A model of its panel alone: all that a model needs of a new sample, and nothing else.

use super::{Component, Men, MenParts};
use crate::error::{Error, Result};
use crate::numerics::sparse::SparseVector;
use crate::params::MenParams;
use crate::penalties::PenaltyParams;
use crate::penalties::groups::GroupAxes;
use crate::projection::Projection;
use crate::report::FitReport;
use crate::variables::VariableRef;

impl Men {
    /// The model for samples that have the variables of the panel alone, rising ([`Self::panel`]): all that was learned of a variable is
    /// kept for these, and left out for the others. It projects and decides like this model, bit for bit.
    ///
    /// One thing differs: missing values that are filled from neighbours ([`Impute::Knn`](crate::prepare::Impute::Knn)) are filled from those
    /// that are near on the panel, because the other variables are not known.
    ///
    /// It has no paths, so that it cannot be made smaller, and its parameters have no groups, no graph and no `never`, which speak of
    /// variables that it does not have.
    ///
    /// # Errors
    /// When no axis uses a variable.
    pub fn on_panel(&self) -> Result<Men> {
        let (panel, parts) = (self.panel(), &self.parts);
        if panel.is_empty() {
            return Err(Error::Degenerate(
                "no axis of this model uses a variable, so it has no panel".to_owned(),
            ));
        }
        let of_panel = |values: &[f64]| -> Vec<f64> { panel.iter().map(|&j| values[j]).collect() };
        let axes = parts.projection.axes().iter().map(|axis| placed(axis, &panel)).collect();
        let component = |known: &Component| Component {
            // Others may have entered between those of the panel.
            order_of_entry: Vec::new(),
            ..known.clone()
        };
        let mut out = MenParts::new(
            self.params_on(&panel),
            Projection::new(of_panel(parts.projection.mean()), axes)?,
            of_panel(&parts.units),
            parts.components.iter().map(component).collect(),
            FitReport { too_small: Vec::new(), ..parts.report.clone() },
            parts.classes.clone(),
        );
        out.preparation = parts.preparation.as_ref().map(|preparation| preparation.on(&panel));
        for (place, (row, known)) in out.panel.iter_mut().zip(&parts.panel).enumerate() {
            *row = super::PanelVariable { variable: place, ..known.clone() };
        }
        (out.refit, out.rule) = (parts.refit, parts.rule.clone());
        out.refit.candidates = out.refit.candidates.min(panel.len());
        out.feature_names =
            self.feature_names().map(|names| panel.iter().map(|&j| names[j].clone()).collect());
        Men::from_parts(out)
    }

    /// Whether missing values are filled from neighbours, which are near on all variables.
    pub fn fills_from_neighbors(&self) -> bool {
        let filling = self.preparation().and_then(|preparation| preparation.filling.as_ref());
        matches!(filling, Some(crate::prepare::Filling::Neighbors(_)))
    }

    /// The parameters, where they speak of these variables alone.
    fn params_on(&self, panel: &[usize]) -> MenParams {
        let always = self.always();
        let refer = |(place, j): (usize, &usize)| {
            always.binary_search(j).is_ok().then(|| match self.feature_names() {
                Some(names) => VariableRef::Name(names[*j].clone()),
                None => VariableRef::Position(place),
            })
        };
        let always: Vec<VariableRef> = panel.iter().enumerate().filter_map(refer).collect();
        let own = self.params();
        let factors = own.penalty.factors.as_ref();
        let penalty = PenaltyParams {
            factors: factors.map(|factors| panel.iter().map(|&j| factors[j]).collect()),
            always: (!always.is_empty()).then_some(always),
            never: None,
            feature_groups: None,
            group_axes: GroupAxes::Each,
            feature_graph: None,
            graph_weight: None,
            ..own.penalty
        };
        own.clone().with(|it| it.penalty = penalty)
    }
}

/// A vector in terms of places in a rising list that has all its indices.
fn placed(vector: &SparseVector, list: &[usize]) -> SparseVector {
    let pairs = vector.iter().filter_map(|(j, value)| Some((list.binary_search(&j).ok()?, value)));
    SparseVector::from_pairs(pairs.collect())
}
