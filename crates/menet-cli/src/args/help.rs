//! The help of a parameter. Defaults and choices come from the core.

use menet::params::{Preset, default_nonzeros};
use menet::penalties::feature_graph::DEFAULT_WEIGHT;
use menet::penalties::{Penalty, PenaltyKind};
use menet::prepare::Impute;
use menet::{MenParams, Named, patches};

/// The help of a parameter: its text with the choices filled in, and its default.
pub(super) fn help(field: &str, text: &str) -> String {
    let text = match choices(field) {
        Some(names) => text.trim().replace("{choices}", &names.join(", ")),
        None => text.trim().to_owned(),
    };
    let separator = if text.contains("{lines}") { '\n' } else { ' ' };
    let text = text.replace("{lines}", &lines(field));
    format!("{text}{separator}[default: {}]", default(field))
}

/// A line per value of a parameter, each about that value.
fn lines(field: &str) -> String {
    match field {
        "penalty" => {
            PenaltyKind::ALL.iter().map(|kind| format!("\n- {}: {}", kind.name(), kind.about())).collect()
        }
        _ => String::new(),
    }
}

/// The values that a parameter can have, as the core lists them; none for numbers.
pub(super) fn choices(field: &str) -> Option<Vec<&'static str>> {
    // The argument only says which type.
    fn names<T: Named>(_: T) -> Option<Vec<&'static str>> {
        Some(T::ALL.iter().map(|value| value.name()).collect())
    }
    let params = MenParams::default();
    match field {
        "preset" => names(params.preset),
        "refit" => names(params.refit()),
        "neighbors" => names(params.neighbors),
        "patch" => Some(patches::REGISTRY.iter().map(|rule| rule.name()).collect()),
        "impute" => names(Impute::Mean),
        "scale" => names(params.scale),
        "target" => names(params.target),
        "target_spread" => names(params.target_spread),
        "definiteness" => names(params.definiteness),
        "group_axes" => names(params.group_axes),
        "rule" => names(params.rule().kind),
        "metric" => names(params.metric()),
        "penalty" => names(params.penalty),
        "route" => names(params.route),
        "gram" => names(params.gram),
        _ => None,
    }
}

/// The default of a parameter in words.
pub(super) fn default(field: &str) -> String {
    let default = MenParams::default();
    // What the default preset gives, and what others give where they differ.
    let by_preset = |value: &dyn Fn(&MenParams) -> String| {
        let others = Preset::ALL.iter().filter_map(|&preset| {
            let other = value(&MenParams::default().with(|it| it.preset = preset));
            (other != value(&default)).then(|| format!(", or {other} with the preset {}", preset.name()))
        });
        value(&default) + &others.collect::<String>()
    };
    if let Some(value) = written(&default, field) {
        return value;
    }
    match field {
        "refit" => by_preset(&|params| params.refit().name().to_owned()),
        "ridge" => by_preset(&|params| params.ridge().to_string()),
        "metric" => by_preset(&|params| params.metric().name().to_owned()),
        "rule" => {
            let several = by_preset(&|params| params.rule().kind.name().to_owned());
            let one = by_preset(&|params| params.rule_for(1).kind.name().to_owned());
            if one == several { several } else { format!("{several}; on a single axis {one}") }
        }
        "components" => "as many as there are".to_owned(),
        "nonzeros" => {
            let (least, most) = (default_nonzeros(0), default_nonzeros(usize::MAX));
            format!("twice the number of samples, but at least {least} and at most {most}")
        }
        "panel_size" => "no limit".to_owned(),
        "penalty_shape" => of_penalties(|penalty| penalty.default_shape()),
        "penalty_epsilon" => of_penalties(|penalty| penalty.default_epsilon()),
        "refit_ridge" => "that of the path".to_owned(),
        "bandwidth" => "the median distance".to_owned(),
        "impute" => "missing values are an error".to_owned(),
        "ltsa_dimension" => "half of the neighbours".to_owned(),
        "penalty_factors" => "all 1".to_owned(),
        "always" | "never" => "no variable".to_owned(),
        "feature_graph" => "no graph".to_owned(),
        "graph_weight" => format!("{DEFAULT_WEIGHT} with --feature-graph"),
        _ => "none".to_owned(),
    }
}

/// A number of every penalty that has it, in words.
fn of_penalties(number: impl Fn(&dyn Penalty) -> Option<f64>) -> String {
    let of = |kind: &PenaltyKind| Some(format!("{} with {}", number(kind.penalty()?)?, kind.name()));
    PenaltyKind::ALL.iter().filter_map(of).collect::<Vec<_>>().join(", ")
}

/// The value of a field as a flag would give it; none if it is not set.
pub(super) fn written(params: &MenParams, field: &str) -> Option<String> {
    let table = toml::Table::try_from(params).ok()?;
    Some(match table.get(field)? {
        toml::Value::String(text) => text.clone(),
        toml::Value::Float(number) => number.to_string(),
        other => other.to_string(),
    })
}
