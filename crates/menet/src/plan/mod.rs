//! What a fit of a given size will do, and why, or why it cannot be done: before any work.
//!
//! | | the Gram matrix in full | its columns on demand |
//! |---|---|---|
//! | A as a dense matrix | few samples, few variables | few samples, many variables |
//! | A by conjugate gradients | many samples, few variables | many of both, and sparse data |
//!
//! All ways give the same answer; only time and memory differ. A request may be `Auto` ([`RouteRequest::Auto`],
//! [`GramRequest::Auto`]); the choice never is ([`Regime`]).

mod cost;
mod regime;
mod request;

pub use regime::{ChoiceReason, Regime, RegimeReason};
pub use request::{ComputeParams, GramRequest, RouteRequest};

use crate::dataset::{Dataset, View};
use crate::error::{Error, Result};
use crate::gram::GramForm;
use crate::named::Named;
use crate::neighbors::NeighborSearch;
use crate::operator::{Definiteness, Route};
use crate::params::MenParams;
use crate::patches;
use crate::prepare::Scale;
use cost::ProblemSize;

/// Up to this many samples an n×n matrix is formed.
pub(crate) const DENSE_LIMIT: usize = 5_000;

/// Rows of the largest square matrix that is formed even if asked for: 3.2 GB.
const LARGEST: usize = 20_000;

/// The share of the entries of all patches that have a place of their own in L. The others share places.
const APART: f64 = 0.82;

/// The size of the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataShape {
    /// Number of samples n, with and without a label.
    pub samples: usize,
    /// Number of variables p.
    pub variables: usize,
    /// Number of classes c.
    pub classes: usize,
    /// Number of nonzeros of data that stay sparse; none for dense data.
    pub nonzeros: Option<usize>,
}

impl From<&Dataset<'_>> for DataShape {
    fn from(data: &Dataset<'_>) -> Self {
        let others = match data.unlabelled_view() {
            Some(View::Sparse(x)) => x.nonzeros(),
            _ => 0,
        };
        DataShape {
            samples: data.samples() + data.unlabelled(),
            variables: data.variables(),
            classes: data.classes().len(),
            nonzeros: data.sparse().map(|x| x.nonzeros() + others),
        }
    }
}

/// What a fit will do.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Plan {
    /// The size of the data.
    pub shape: DataShape,
    /// The number of axes: as many as were asked for, or the most there can be. Class centres that depend on each other may
    /// leave fewer.
    pub axes: usize,
    /// How neighbours are searched for.
    pub neighbors: NeighborSearch,
    /// How A is applied, which part of the Gram matrix is computed, and why.
    pub regime: Regime,
    /// About the largest number of bytes that the fit needs besides the data.
    pub bytes: f64,
}

impl Plan {
    /// Decides what can be decided from the size of the data and the parameters, and refuses what can be refused.
    ///
    /// # Errors
    /// When a parameter is out of range or not possible for data of this size, or there are fewer than two classes.
    pub fn new(shape: impl Into<DataShape>, params: &MenParams) -> Result<Self> {
        let shape = shape.into();
        let (n, p, classes) = (shape.samples, shape.variables, shape.classes);
        params.check(p)?;
        if classes < 2 {
            return Err(Error::Classes { found: classes, samples: n });
        }
        params.rule.priors.check(classes).map_err(|error| error.of_stage("rule"))?;
        let limit = p.min(classes - 1);
        let axes = params.components.unwrap_or(limit);
        if axes > limit {
            return Err(Error::Components { requested: axes, limit, classes });
        }
        params.check_axes(axes)?;
        if shape.nonzeros.is_some() {
            refuse_for_sparse(shape, params)?;
        }
        let size = size(shape, params)?;
        let regime = choose(size, params, shape.nonzeros.is_some())?;
        let bytes = size.bytes(regime.route, regime.gram, shape.nonzeros);
        Ok(Plan { shape, axes, neighbors: params.patch.search, regime, bytes })
    }
}

impl Plan {
    /// The plan for samples in pieces ([`crate::pieces`]). There is only one way for them: A by conjugate gradients, and the Gram matrix in full.
    ///
    /// # Errors
    /// As [`Self::new`], when another way is asked for, or there are too many variables for a Gram matrix.
    pub fn of_pieces(shape: DataShape, params: &MenParams) -> Result<Self> {
        let refuse = |parameter, value: &str, allowed: &str| Err(Error::parameter(parameter, value, allowed));
        for (asked, name, value) in [
            (
                params.prepare.impute.is_some(),
                "prepare.impute",
                params.prepare.impute.map_or("", Named::name),
            ),
            (params.prepare.scale != Scale::None, "prepare.scale", params.prepare.scale.name()),
        ] {
            if asked {
                let allowed = "left out for samples in pieces: prepare them before";
                return refuse(name, &format!("{value:?}"), allowed);
            }
        }
        if params.manifold.definiteness == Definiteness::Floor {
            let allowed = "\"shrink\" or \"error\" for samples in pieces: floor needs the dense spectrum";
            return refuse("manifold.definiteness", "\"floor\"", allowed);
        }
        if params.compute.route == RouteRequest::Dense {
            return refuse("compute.route", "\"dense\"", "\"conjugate\" or \"auto\" for samples in pieces");
        }
        if params.compute.gram == GramRequest::Columns {
            return refuse("compute.gram", "\"columns\"", "\"full\" or \"auto\" for samples in pieces");
        }
        let compute = ComputeParams { route: RouteRequest::Conjugate, gram: GramRequest::Full };
        let asked = MenParams { compute, ..params.clone() };
        let mut plan = Self::new(shape, &asked)?;
        let DataShape { samples, variables, classes, .. } = shape;
        let (route, gram) = (ChoiceReason::Pieces, ChoiceReason::Pieces);
        plan.regime.why = RegimeReason::Chosen { samples, variables, classes, route, gram };
        Ok(plan)
    }
}

/// What needs dense data.
fn refuse_for_sparse(shape: DataShape, params: &MenParams) -> Result<()> {
    if let Some(rank) = params.pca_rank {
        let value = format!("{rank} with sparse samples, {} x {}", shape.samples, shape.variables);
        return Err(Error::parameter("pca_rank", value, "left out: a reconstruction needs dense data"));
    }
    if params.patch.search == NeighborSearch::Approximate {
        let allowed = "\"exact\" for data that stay sparse";
        return Err(Error::parameter("patch.search", "\"approximate\" with sparse samples", allowed));
    }
    Ok(())
}

/// What the cheapest way depends on.
fn size(shape: DataShape, params: &MenParams) -> Result<ProblemSize> {
    let rule = patches::rule(&params.patch.kind)?;
    let mut patch = params.patch.clone();
    // A class has no more neighbours than that.
    patch.k_within = patch.k_within.min(shape.samples / shape.classes);
    patch.k_between = patch.k_between.min(shape.samples);
    let entries = (APART * shape.samples as f64 * rule.entries(&patch) as f64) as usize;
    let DataShape { samples, variables, classes, .. } = shape;
    Ok(ProblemSize { samples, variables, axes: classes - 1, entries })
}

/// The cheapest of the allowed ways.
fn choose(size: ProblemSize, params: &MenParams, sparse: bool) -> Result<Regime> {
    let (n, p) = (size.samples, size.variables);
    let floor = params.manifold.definiteness == Definiteness::Floor;
    if floor && n > DENSE_LIMIT {
        let allowed =
            format!("\"shrink\" or \"error\" above {DENSE_LIMIT} samples: floor needs the dense spectrum");
        return Err(Error::parameter(
            "manifold.definiteness",
            format!("\"floor\" with {n} samples"),
            allowed,
        ));
    }
    let too_large = |parameter, value: &str, rows: usize, what: &str, other: &str| {
        let value = format!("\"{value}\" with {rows} {what}");
        let allowed = format!("\"{other}\" or \"auto\" above {LARGEST} {what}");
        Err(Error::parameter(parameter, value, allowed))
    };
    let (grams, gram_reason): (&[GramForm], _) = match params.compute.gram {
        GramRequest::Full if sparse => {
            let allowed = "\"columns\" or \"auto\" for data that stay sparse";
            return Err(Error::parameter("compute.gram", "\"full\" with sparse samples", allowed));
        }
        GramRequest::Full if p > LARGEST => {
            return too_large("compute.gram", "full", p, "variables", "columns");
        }
        GramRequest::Full => (&[GramForm::Full], ChoiceReason::Asked),
        GramRequest::Columns => (&[GramForm::Columns], ChoiceReason::Asked),
        GramRequest::Auto if sparse => (&[GramForm::Columns], ChoiceReason::Sparse),
        GramRequest::Auto if GramForm::reused(p) == GramForm::Columns => {
            (&[GramForm::Columns], ChoiceReason::Many { limit: crate::gram::GRAM_LIMIT })
        }
        GramRequest::Auto => (&[GramForm::Full, GramForm::Columns], ChoiceReason::Cost),
    };
    let (routes, route_reason): (&[Route], _) = match params.compute.route {
        RouteRequest::Conjugate if floor => {
            let allowed = "\"dense\" or \"auto\": the policy floor needs the spectrum of A";
            return Err(Error::parameter(
                "compute.route",
                "\"conjugate\" with definiteness \"floor\"",
                allowed,
            ));
        }
        RouteRequest::Dense if n > LARGEST => {
            return too_large("compute.route", "dense", n, "samples", "conjugate");
        }
        _ if floor => (&[Route::Dense], ChoiceReason::Floor),
        RouteRequest::Dense => (&[Route::Dense], ChoiceReason::Asked),
        RouteRequest::Conjugate => (&[Route::Conjugate], ChoiceReason::Asked),
        RouteRequest::Auto if sparse => (&[Route::Conjugate], ChoiceReason::Sparse),
        RouteRequest::Auto if n > DENSE_LIMIT => {
            (&[Route::Conjugate], ChoiceReason::Many { limit: DENSE_LIMIT })
        }
        RouteRequest::Auto => (&[Route::Dense, Route::Conjugate], ChoiceReason::Cost),
    };
    let (mut route, mut gram) = (routes[0], grams[0]);
    for &other in routes {
        for &form in grams {
            if size.cost(other, form) < size.cost(route, gram) {
                (route, gram) = (other, form);
            }
        }
    }
    let why = RegimeReason::Chosen {
        samples: n,
        variables: p,
        classes: size.axes + 1,
        route: route_reason,
        gram: gram_reason,
    };
    Ok(Regime { route, gram, why })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Metric;

    fn shape(samples: usize, variables: usize) -> DataShape {
        DataShape { samples, variables, classes: 10, nonzeros: None }
    }

    fn auto(n: usize, p: usize, floor: bool, sparse: bool) -> (Route, GramForm) {
        let definiteness = if floor { Definiteness::Floor } else { Definiteness::Shrink };
        let params = MenParams::default().with(|it| it.manifold.definiteness = definiteness);
        let nonzeros = sparse.then_some(n);
        let regime = Plan::new(DataShape { nonzeros, ..shape(n, p) }, &params).unwrap().regime;
        let why = regime.to_string();
        assert!(why.contains("A ") && why.contains("Gram"), "{why}");
        (regime.route, regime.gram)
    }

    #[test]
    fn sizes_choose() {
        use {GramForm::*, Route::*};
        assert_eq!(auto(400, 1_600, false, false), (Dense, Full));
        assert_eq!(auto(38, 5_000, false, false), (Dense, Columns));
        assert_eq!(auto(38, 500, false, false), (Dense, Full));
        assert_eq!(auto(200, 200_000, false, false), (Conjugate, Columns));
        assert_eq!(auto(5_000, 784, false, false), (Conjugate, Full));
        assert_eq!(auto(60_000, 784, false, false), (Conjugate, Full));
        assert_eq!(auto(20_000, 20_000, false, false), (Conjugate, Columns));
        assert_eq!(auto(4_000, 784, true, false), (Dense, Full));
        assert_eq!(auto(400, 1_600, false, true), (Conjugate, Columns));
        assert_eq!(auto(400, 1_600, true, true), (Dense, Columns));
    }

    #[test]
    fn what_is_asked_for_is_done_or_refused() {
        let params = MenParams::default().with(|it| {
            it.compute.route = RouteRequest::Conjugate;
            it.compute.gram = GramRequest::Columns;
        });
        let asked = Plan::new(shape(400, 1_600), &params).unwrap().regime;
        assert_eq!((asked.route, asked.gram), (Route::Conjugate, GramForm::Columns));
        assert!(asked.to_string().matches("as asked").count() == 2, "{asked}");
        /// The size of the data, what is asked for, and what is refused.
        type RefusedCase = (DataShape, fn(&mut MenParams), &'static str);
        let refused: [RefusedCase; 9] = [
            (shape(30_000, 10), |p| p.compute.route = RouteRequest::Dense, "route"),
            (shape(10, 30_000), |p| p.compute.gram = GramRequest::Full, "gram"),
            (
                DataShape { nonzeros: Some(9), ..shape(10, 10) },
                |p| p.compute.gram = GramRequest::Full,
                "gram",
            ),
            (DataShape { nonzeros: Some(9), ..shape(10, 10) }, |p| p.pca_rank = Some(2), "pca_rank"),
            (
                shape(10, 10),
                |p| {
                    (p.compute.route, p.manifold.definiteness) =
                        (RouteRequest::Conjugate, Definiteness::Floor);
                },
                "route",
            ),
            (shape(DENSE_LIMIT + 1, 10), |p| p.manifold.definiteness = Definiteness::Floor, "definiteness"),
            (shape(60_000, 784), |p| p.components = Some(10), "components"),
            (shape(60_000, 784), |p| p.patch.kind = "dlb".to_owned(), "patch"),
            (DataShape { classes: 2, ..shape(90, 7) }, |p| p.rule.metric = Some(Metric::Cosine), "metric"),
        ];
        for (shape, change, parameter) in refused {
            let mut params = MenParams::default();
            change(&mut params);
            let message = Plan::new(shape, &params).unwrap_err().to_string();
            assert!(message.contains(parameter), "{message}");
        }
        let alone = DataShape { classes: 1, ..shape(10, 10) };
        assert!(matches!(Plan::new(alone, &MenParams::default()), Err(Error::Classes { .. })));
    }

    #[test]
    fn memory_grows_with_what_is_formed() {
        let bytes = |n, p, route, gram| {
            let params = MenParams::default().with(|it| {
                it.compute.route = route;
                it.compute.gram = gram;
            });
            Plan::new(shape(n, p), &params).unwrap().bytes
        };
        let data = 8.0 * 4_000.0 * 4_000.0;
        let (dense, conjugate) = (RouteRequest::Dense, RouteRequest::Conjugate);
        let lean = bytes(4_000, 4_000, conjugate, GramRequest::Columns);
        assert!(lean > data && bytes(4_000, 4_000, dense, GramRequest::Columns) > lean);
        assert!(
            bytes(4_000, 4_000, dense, GramRequest::Full) > bytes(4_000, 4_000, dense, GramRequest::Columns)
        );
    }
}
