//! `menet fit`

use std::path::PathBuf;

use clap::Args;
use menet::{Men, Named};
use menet_io::ModelFile;
use serde_json::{Value, json};

use crate::Context;
use crate::args::{DataArgs, ParamArgs};
use crate::failure::Failure;
use crate::text;

/// Learn a sparse projection from labelled data and save it.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  menet fit --data leukemia --nonzeros 20 --model leukemia.safetensors")]
pub(crate) struct Fit {
    #[command(flatten)]
    data: DataArgs,
    /// The model file to write.
    #[arg(long, value_name = "FILE")]
    model: PathBuf,
    /// Leave the paths out of the file: smaller, but it can not be made sparser later.
    #[arg(long)]
    no_path: bool,
    #[command(flatten)]
    params: ParamArgs,
}

impl Fit {
    pub(crate) fn run(&self, context: &Context) -> Result<(), Failure> {
        if self.model.as_os_str() == "-" {
            return Err(Failure::Usage("--model -: a model needs a file of its own".to_owned()));
        }
        let params = self.params.resolve()?;
        let table = self.data.how.read_labelled(context, &self.data.data)?;
        let data = table.dataset()?;
        let men = menet::fit(&data, &params, &context.watch)?;
        context.watch.done();
        let (n, p) = (data.samples(), data.variables());
        let kept = if self.no_path { men.clone().without_paths() } else { men.clone() };
        ModelFile::new(kept, &data, &self.data.data)?.save(&self.model)?;
        if context.json {
            text::print(format_args!("{}", report(&men, n, p)))?;
        } else {
            context.say(summary(&men, n, p))?;
            if context.verbose {
                let rows: Vec<Vec<String>> = men
                    .seconds()
                    .iter()
                    .map(|(stage, s)| vec![stage.to_string(), format!("{s:.4}")])
                    .collect();
                context.say(text::table(&["stage", "seconds"], &rows))?;
            }
            context.say(format_args!("saved to {}", self.model.display()))?;
        }
        Ok(())
    }
}

fn report(men: &Men, n: usize, p: usize) -> Value {
    let definiteness = men.definiteness();
    let mut seconds: serde_json::Map<String, Value> =
        men.seconds().iter().map(|(stage, seconds)| (stage.name().to_owned(), json!(seconds))).collect();
    seconds.insert("total".to_owned(), json!(men.seconds().iter().map(|(_, seconds)| seconds).sum::<f64>()));
    json!({
        "n": n,
        "p": p,
        "classes": men.classes().len(),
        "components": men.projection().components(),
        "nonzeros": men.support_sizes(),
        "kkt": men.certificates().iter().map(|c| c.kkt).collect::<Vec<_>>(),
        "levels": men.levels(),
        "neighbor_recall": men.neighbor_recall(),
        "definiteness": {
            "policy": definiteness.policy.name(),
            "floor": definiteness.floor,
            "kappa_requested": definiteness.kappa_requested,
            "kappa_used": definiteness.kappa_used,
            "eigenvalues_changed": definiteness.eigenvalues_changed,
            "lambda_min": definiteness.lambda_min,
        },
        "regime": men.regime(),
        "cg_residual": men.cg_residual(),
        "seconds": seconds,
    })
}

/// What a fit was, for people.
pub(super) fn summary(men: &Men, n: usize, p: usize) -> String {
    let certificates = men.certificates();
    let rows: Vec<Vec<String>> = (0..certificates.len())
        .map(|k| {
            let (used, level) = (men.support_sizes()[k], men.levels()[k]);
            vec![
                format!("{}", k + 1),
                used.to_string(),
                format!("{level:.4}"),
                format!("{:.1e}", certificates[k].kkt),
            ]
        })
        .collect();
    let report = men.definiteness();
    let kappa = if report.kappa_used == report.kappa_requested {
        String::new()
    } else {
        format!("kappa {} -> {:.4} ({})\n", report.kappa_requested, report.kappa_used, report.policy.name())
    };
    let regime = men.regime().map_or_else(String::new, |regime| format!("{}\n", regime.why));
    let residual = men
        .cg_residual()
        .map_or_else(String::new, |residual| format!("residual of the solves {residual:.1e}\n"));
    let recall = men.neighbor_recall().map_or_else(String::new, |recall| {
        format!("approximate neighbours, {:.1}% of the true ones\n", 100.0 * recall)
    });
    let total: f64 = men.seconds().iter().map(|(_, seconds)| seconds).sum();
    format!(
        "{n} samples of {p} variables in {} classes, fitted in {total:.2} s\n{recall}{regime}{residual}{kappa}\n{}\n",
        men.classes().len(),
        text::table(&["axis", "variables", "level", "certificate"], &rows)
    )
}
