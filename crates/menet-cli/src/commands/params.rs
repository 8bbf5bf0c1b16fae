//! `menet params`

use clap::Args;
use menet::describe::{Parameter, ValueKind, parameters};
use serde_json::json;

use crate::Context;
use crate::failure::Failure;
use crate::text;

/// Describe the parameters of a fit: all, or those of one stage.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  menet params\n  menet params penalty\n  menet params penalty.gamma\n\nA parameter is set by --set \
                        NAME=VALUE, or in the TOML file of --params, where every stage is a table: ridge = 1.0 is at the top, and \
                        kind = \"mcp\" and gamma = 2.0 are below [penalty]."
)]
pub(crate) struct Params {
    /// A stage or a parameter.
    #[arg(value_name = "NAME")]
    of: Option<String>,
}

impl Params {
    pub(crate) fn run(&self, context: &Context) -> Result<(), Failure> {
        let all = parameters();
        let wanted = |one: &&Parameter| match self.of.as_deref() {
            None => true,
            Some(name) => one.path == name || one.stage == name,
        };
        let chosen: Vec<&Parameter> = all.parameters.iter().filter(wanted).collect();
        if let (Some(name), true) = (&self.of, chosen.is_empty()) {
            let stages: Vec<&str> = all.stages.iter().map(|stage| stage.name.as_str()).collect();
            return Err(Failure::Usage(format!(
                "there is no parameter or stage {}: the stages are {}",
                text::inline(name),
                stages.join(", ")
            )));
        }
        if context.json {
            return text::print(json!({
                "stages": all.stages, "parameters": chosen, "presets": all.presets,
            }));
        }
        let mut out = String::new();
        let mut stage = "";
        for one in &chosen {
            if one.stage != stage {
                stage = &one.stage;
                let words = all.stages.iter().find(|known| known.name == stage);
                out += &text::wrapped(&words.map_or_else(String::new, |words| words.about.clone()), 0);
                out += "\n";
            }
            out += &format!("  {}{}\n", one.path, values(one));
            let long = self.of.is_some();
            let about = if long && !one.more.is_empty() {
                format!("{} {}", one.about, one.more)
            } else {
                one.about.clone()
            };
            out += &text::wrapped(&about, 6);
            for choice in one.choices.iter().filter(|_| long) {
                out += &text::wrapped(&format!("{}: {}", choice.name, choice.about), 8);
            }
            out += "\n";
        }
        text::print(out.trim_end())
    }
}

/// What it may be, for which kinds, and its default.
fn values(parameter: &Parameter) -> String {
    let names: Vec<&str> = parameter.choices.iter().map(|choice| choice.name.as_str()).collect();
    let mut facts = vec![match parameter.kind {
        ValueKind::Choice => names.join(" | "),
        _ => menet_lab::settings::allowed(parameter),
    }];
    if !parameter.of.is_empty() {
        facts.push(format!("for {}", parameter.of.join(", ")));
    }
    facts.extend(match &parameter.default {
        serde_json::Value::Null => None,
        serde_json::Value::String(text) => Some(format!("default {text}")),
        other => Some(format!("default {other}")),
    });
    format!("   ({})", facts.join("; "))
}
