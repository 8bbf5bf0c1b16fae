//! `menet inspect`

use std::path::PathBuf;

use clap::Args;
use menet::Men;
use menet_io::ModelFile;
use serde_json::json;

use super::ends::{Ends, ends};
use super::{fit, pictures, variable};
use crate::Context;
use crate::args::ModelArgs;
use crate::failure::Failure;
use crate::overwrite::{self, Output};
use crate::text::{self, table};

/// Show which variables make which axis.
///
/// The weight of a variable is what its value, less the mean, is multiplied by; its effect is the weight were all variables of
/// one size, by which they can be compared; `entered` is its place in the order in which the path took variables in.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  menet inspect --model leukemia.safetensors --component 1 --top 10")]
pub(crate) struct Inspect {
    #[command(flatten)]
    model: ModelArgs,
    /// Only this axis, counted from 1.
    #[arg(long, value_name = "AXIS")]
    component: Option<usize>,
    /// How many variables of an axis to show, those of strongest effect first.
    #[arg(long, default_value_t = 20, value_name = "N")]
    top: usize,
    /// For image data: write a picture of every axis into this folder.
    #[arg(long, value_name = "FOLDER")]
    png: Option<PathBuf>,
}

const WORDS: &str = "\
effect: the weight if all variables were of one size, by which they can be compared; + moves a sample to the high end
weight: what the value of the variable, less its mean, is multiplied by
entered: the order in which the path took variables in; 1 came first";

/// A variable of an axis.
struct Used {
    variable: usize,
    weight: f64,
    /// The weight once every variable has length 1: what can be compared between variables of different units.
    effect: f64,
    entered: usize,
}

impl Inspect {
    pub(crate) fn run(&self, context: &Context) -> Result<(), Failure> {
        let pictured = self.png.iter().map(|folder| Output::Folder("--png", folder, &["axis-*.png"]));
        overwrite::refuse(&[("--model", self.model.model.clone())], &pictured.collect::<Vec<_>>())?;
        let file = ModelFile::load(&self.model.model)?;
        let men = file.men.at(self.model.nonzeros, self.model.components)?;
        let d = men.projection().components();
        let axes = match self.component {
            Some(k) if k >= 1 && k <= d => k - 1..k,
            Some(k) => return Err(Failure::Usage(format!("--component {k}: the model has axes 1 to {d}"))),
            None => 0..d,
        };
        if let Some(folder) = &self.png {
            pictures::bases(&men, folder)?;
        }
        let ends = ends(&file, &men);
        if context.json {
            let axes: Vec<_> = axes.map(|k| self.axis_json(&men, ends[k].as_ref(), k)).collect();
            let inspected = json!({
                "axes": axes,
                "classes": men.classes(),
                "params": men.params(),
                "neighbor_recall": men.neighbor_recall(),
                "data": file.provenance.data,
            });
            text::print(format_args!("{inspected}"))?;
            return Ok(());
        }
        if self.component.is_none() {
            text::print(format_args!(
                "{}",
                fit::summary(&men, &ends, file.provenance.samples, men.projection().variables())
            ))?;
        }
        let missing = axes.clone().any(|k| ends[k].is_none());
        for k in axes {
            let used = used(&men, k);
            let effects =
                text::numbers(&used.iter().take(self.top).map(|u| u.effect).collect::<Vec<_>>(), true);
            let weights =
                text::numbers(&used.iter().take(self.top).map(|u| u.weight).collect::<Vec<_>>(), true);
            let rows: Vec<Vec<String>> = used
                .iter()
                .zip(effects.into_iter().zip(weights))
                .map(|(u, (effect, weight))| {
                    vec![variable(&men, u.variable), effect, weight, u.entered.to_string()]
                })
                .collect();
            text::print(format_args!(
                "axis {} uses {} of {} variables",
                k + 1,
                used.len(),
                men.projection().variables()
            ))?;
            if let Some(ends) = &ends[k] {
                text::print(ends.line())?;
            }
            text::print(table(&["variable", "effect", "weight", "entered"], &rows))?;
        }
        context.say(WORDS)?;
        if missing {
            context.say(
                "ends: not known of axes that --nonzeros made sparser; the model holds projected training samples of its own \
                 axes only",
            )?;
        }
        if let Some(folder) = &self.png {
            text::print(format_args!("pictures of {d} axes in {}", text::path(folder)))?;
        }
        Ok(())
    }

    fn axis_json(&self, men: &Men, ends: Option<&Ends>, k: usize) -> serde_json::Value {
        let certificate = men.certificates()[k];
        let variables: Vec<_> = used(men, k)
            .iter()
            .take(self.top)
            .map(|u| json!({ "variable": variable(men, u.variable), "index": u.variable + 1, "effect": u.effect, "weight": u.weight, "entered": u.entered }))
            .collect();
        json!({
            "component": k + 1,
            "nonzeros": men.support_sizes()[k],
            "level": men.levels()[k],
            "kkt": certificate.kkt,
            "kkt_scaled": certificate.scaled,
            "ends": ends.map(Ends::json),
            "variables": variables,
        })
    }
}

/// The variables of an axis, strongest first, with their place in the order of entry.
fn used(men: &Men, k: usize) -> Vec<Used> {
    let order = &men.parts().components[k].order_of_entry;
    let mut used: Vec<Used> = men.projection().axes()[k]
        .iter()
        .map(|(variable, weight)| {
            let entered = order.iter().position(|&j| j == variable).map_or(0, |place| place + 1);
            Used { variable, weight, effect: weight / men.parts().units[variable], entered }
        })
        .collect();
    used.sort_by(|a, b| b.effect.abs().total_cmp(&a.effect.abs()).then(a.variable.cmp(&b.variable)));
    used
}
