//! What a search tries: lists of values by parameter, and default lists for what is left open.

use serde::{Deserialize, Serialize};

use super::grid::{Grid, ModelSize};
use crate::error::{Error, Result, check};
use crate::named::Named;
use crate::params::MenParams;
use crate::refit::Refit;
use crate::rules::{Metric, Priors, RuleKind};

/// The numbers of variables per path that are tried where no size is given.
pub const SIZES: [usize; 5] = [5, 10, 20, 50, 100];

/// The ridges that are tried where none is given.
pub const RIDGES: [f64; 4] = [0.03, 0.3, 1.0, 3.0];

/// The refits that are tried where none is given.
pub const REFITS: [Refit; 2] = [Refit::Panel, Refit::Discriminant];

/// Lists of values to try, by the path of their parameter.
///
/// A list goes first. Without one, a parameter keeps the value that it was given. What is left open is searched: the number of
/// variables ([`SIZES`]), the ridge ([`RIDGES`]), the refit ([`REFITS`]), the rule and its metric (all).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Space {
    /// Numbers of variables per path; none: as many as a fit takes by default.
    #[serde(with = "open", skip_serializing_if = "Vec::is_empty")]
    pub nonzeros: Vec<Option<usize>>,
    /// Numbers of variables over all axes; none: no limit. A limit per path applies to each of them.
    #[serde(with = "open", skip_serializing_if = "Vec::is_empty")]
    pub panel_size: Vec<Option<usize>>,
    /// Ridges.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ridge: Vec<f64>,
    /// Weights of the distance between embedding and projection.
    #[serde(rename = "manifold.beta", skip_serializing_if = "Vec::is_empty")]
    pub beta: Vec<f64>,
    /// Shrinkages of the target.
    #[serde(rename = "target.shrinkage", skip_serializing_if = "Vec::is_empty")]
    pub target_shrinkage: Vec<f64>,
    /// Refits.
    #[serde(rename = "refit.kind", skip_serializing_if = "Vec::is_empty")]
    pub refit: Vec<Refit>,
    /// Ridges of the refits "axis" and "panel"; none: that of the path.
    #[serde(rename = "refit.ridge", with = "open", skip_serializing_if = "Vec::is_empty")]
    pub refit_ridge: Vec<Option<f64>>,
    /// Rules.
    #[serde(rename = "rule.kind", skip_serializing_if = "Vec::is_empty")]
    pub rule: Vec<RuleKind>,
    /// Numbers of voters of the rule "nearest".
    #[serde(rename = "rule.k", skip_serializing_if = "Vec::is_empty")]
    pub voters: Vec<usize>,
    /// Metrics of the rule "nearest".
    #[serde(rename = "rule.metric", skip_serializing_if = "Vec::is_empty")]
    pub metric: Vec<Metric>,
    /// Priors.
    #[serde(rename = "rule.priors", skip_serializing_if = "Vec::is_empty")]
    pub priors: Vec<Priors>,
}

/// The parameters that a search can choose, in the order of its results.
pub const SEARCHED: [&str; 11] = [
    "nonzeros",
    "panel_size",
    "ridge",
    "manifold.beta",
    "target.shrinkage",
    "refit.kind",
    "refit.ridge",
    "rule.kind",
    "rule.k",
    "rule.metric",
    "rule.priors",
];

impl Space {
    /// Refuses values that no fit takes.
    ///
    /// # Errors
    /// Naming the parameter, the value and what is allowed.
    pub fn check(&self) -> Result<()> {
        let no_size = |sizes: &[Option<usize>]| sizes.contains(&Some(0));
        for (name, zero) in [
            ("nonzeros", no_size(&self.nonzeros)),
            ("panel_size", no_size(&self.panel_size)),
            ("rule.k", self.voters.contains(&0)),
        ] {
            if zero {
                return Err(Error::parameter(name, 0, "at least 1"));
            }
        }
        let at_least_0 = |name, &x: &f64| check(name, x, "a number from 0 to 1e100", |x| x >= 0.0);
        self.ridge.iter().try_for_each(|x| at_least_0("ridge", x))?;
        self.refit_ridge.iter().flatten().try_for_each(|x| at_least_0("refit.ridge", x))
    }

    /// The grid for a fit with `base` of so many variables, whose classes allow so many axes.
    pub fn grid(&self, base: &MenParams, variables: usize, axes: usize) -> Grid {
        let own = Grid::of(base);
        let single = base.components.unwrap_or(axes).min(axes) == 1;
        let metrics = match (base.rule.metric, single) {
            (Some(_), _) => own.metric,
            // On one axis every cosine is 1 or -1.
            (None, true) => vec![Metric::Euclidean],
            (None, false) => Metric::ALL.to_vec(),
        };
        Grid {
            beta: first_of([&self.beta, &own.beta]),
            target_shrinkage: first_of([&self.target_shrinkage, &own.target_shrinkage]),
            ridge: first_of([&self.ridge, if base.ridge.is_some() { &own.ridge } else { &RIDGES }]),
            sizes: self.sizes(base, variables),
            refit: first_of([&self.refit, if base.refit.kind.is_some() { &own.refit } else { &REFITS }]),
            refit_ridge: first_of([&self.refit_ridge, &own.refit_ridge]),
            rule: first_of([&self.rule, if base.rule.kind.is_some() { &own.rule } else { RuleKind::ALL }]),
            voters: first_of([&self.voters, &own.voters]),
            metric: first_of([&self.metric, &metrics]),
            priors: first_of([&self.priors, &own.priors]),
        }
    }

    /// Every limit per path with every limit on the panel.
    fn sizes(&self, base: &MenParams, variables: usize) -> Vec<ModelSize> {
        let capped = |size: usize| size.min(variables);
        let panels = first_of([&self.panel_size, &[base.panel_size]]);
        let open = [base.nonzeros, panels.iter().copied().flatten().next()] == [None, None];
        let default: Vec<Option<usize>> = if open { SIZES.map(Some).to_vec() } else { vec![base.nonzeros] };
        let nonzeros = first_of([&self.nonzeros, &default]);
        let mut sizes: Vec<ModelSize> = Vec::new();
        for &nonzeros in &nonzeros {
            for &panel in &panels {
                let size = ModelSize { nonzeros: nonzeros.map(capped), panel: panel.map(capped) };
                if !sizes.contains(&size) {
                    sizes.push(size);
                }
            }
        }
        sizes
    }
}

/// Lists in which "none" leaves a parameter open: a word, since TOML has no null. JSON may have null as well.
mod open {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Word {
        None,
    }

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Entry<T> {
        Value(T),
        Open(Word),
    }

    pub(super) fn serialize<T: Serialize + Copy, S: Serializer>(
        list: &[Option<T>],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(list.iter().map(|value| value.map_or(Entry::Open(Word::None), Entry::Value)))
    }

    pub(super) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<Option<T>>, D::Error> {
        let list = Vec::<Option<Entry<T>>>::deserialize(deserializer)?;
        let value = |entry| match entry {
            Some(Entry::Value(value)) => Some(value),
            Some(Entry::Open(Word::None)) | None => None,
        };
        Ok(list.into_iter().map(value).collect())
    }
}

/// The first list that has values.
fn first_of<T: Clone>(lists: [&[T]; 2]) -> Vec<T> {
    lists.into_iter().find(|list| !list.is_empty()).unwrap_or_default().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn per_path(sizes: &[usize]) -> Vec<ModelSize> {
        sizes.iter().copied().map(ModelSize::per_path).collect()
    }

    #[test]
    fn what_is_given_is_kept_and_what_is_open_is_searched() {
        let open = Space::default().grid(&MenParams::default(), 1000, 3);
        assert_eq!((open.sizes, open.ridge), (per_path(&SIZES), RIDGES.to_vec()));
        assert_eq!((open.refit, open.rule.len(), open.metric.len()), (REFITS.to_vec(), 3, 2));
        let fixed = MenParams::paper().with(|it| (it.nonzeros, it.components) = (Some(7), Some(2)));
        assert_eq!(Space::default().grid(&fixed, 1000, 3), Grid::of(&fixed));
        let panel = MenParams::default().with(|it| it.panel_size = Some(9));
        let of_panel = Space::default().grid(&panel, 1000, 3);
        assert_eq!(of_panel.sizes, [ModelSize::of_panel(9)]);
        assert_eq!(Space::default().grid(&MenParams::default(), 7, 1).sizes, per_path(&[5, 7]));
        assert_eq!(Space::default().grid(&MenParams::default(), 7, 1).metric, [Metric::Euclidean]);
    }

    #[test]
    fn a_list_goes_before_the_value() {
        let text = r#"{"nonzeros": [4, null], "panel_size": [2, 30], "ridge": [7], "rule.k": [3]}"#;
        let space: Space = serde_json::from_str(text).unwrap();
        space.check().unwrap();
        let grid = space.grid(&MenParams::paper(), 20, 3);
        let size = |nonzeros, panel| ModelSize { nonzeros, panel };
        let all = [(Some(4), 2), (Some(4), 20), (None, 2), (None, 20)];
        assert_eq!(grid.sizes, all.map(|(k, panel)| size(k, Some(panel))));
        assert_eq!((grid.ridge, grid.voters, grid.rule.len()), (vec![7.0], vec![3], 1));
        for (text, word) in [
            (r#"{"nonzeros": [0]}"#, "nonzeros"),
            (r#"{"ridge": [-1]}"#, "ridge"),
            (r#"{"rule.k": [0]}"#, "rule.k"),
        ] {
            let wrong: Space = serde_json::from_str(text).unwrap();
            assert!(wrong.check().unwrap_err().to_string().contains(word), "{text}");
        }
        assert!(serde_json::from_str::<Space>(r#"{"penalty.gamma": [2]}"#).is_err());
    }

    #[test]
    fn what_a_list_leaves_open_is_written_as_a_word() {
        let space = Space { panel_size: vec![None, Some(10)], refit_ridge: vec![None], ..Space::default() };
        let text = serde_json::to_string(&space).unwrap();
        assert_eq!(text, r#"{"panel_size":["none",10],"refit.ridge":["none"]}"#);
        assert_eq!(serde_json::from_str::<Space>(&text).unwrap(), space);
        let null: Space = serde_json::from_str(r#"{"panel_size":[null,10],"refit.ridge":[null]}"#).unwrap();
        assert_eq!(null, space);
        assert!(serde_json::from_str::<Space>(r#"{"panel_size":["some"]}"#).is_err());
    }

    #[test]
    fn every_parameter_that_is_searched_is_described() {
        let lists = SEARCHED.map(|path| (path.to_owned(), serde_json::Value::Array(Vec::new())));
        let space: Space =
            serde_json::from_value(serde_json::Value::Object(lists.into_iter().collect())).unwrap();
        assert_eq!(space, Space::default());
        SEARCHED
            .iter()
            .for_each(|path| assert!(crate::describe::parameters().find(path).is_some(), "{path}"));
    }
}
