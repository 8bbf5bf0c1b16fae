//! `menet fit`

use std::path::PathBuf;

use clap::Args;
use menet::lars::{Path, PenaltyReport};
use menet::penalties::PenaltyKind;
use menet::refit::RefitReport;
use menet::rules::LearnedRule;
use menet::{Men, Named};
use menet_io::ModelFile;
use serde_json::{Value, json};

use super::ends::{AxisEnds, ends};
use crate::Context;
use crate::args::{CountArgs, DataArgs, ParamArgs, UnlabelledArgs, labelled};
use crate::failure::Failure;
use crate::overwrite::{self, Output};
use crate::{regression, text};

/// Learn a sparse projection from labelled data, and save it as a model.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  menet fit --data leukemia --nonzeros 20 --model leukemia.safetensors\n  menet fit --data leukemia \
                        --penalty mcp --set penalty.gamma=2 --model mcp.safetensors"
)]
pub(crate) struct Fit {
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    count: CountArgs,
    #[command(flatten)]
    unlabelled: UnlabelledArgs,
    /// The model file to write.
    #[arg(long, value_name = "FILE")]
    model: PathBuf,
    /// Leave the paths out of the file. The file is smaller, but a model without a refit cannot be made sparser later.
    #[arg(long)]
    no_path: bool,
    #[command(flatten)]
    params: ParamArgs,
}

impl Fit {
    pub(crate) fn run(&self, context: &Context) -> Result<(), Failure> {
        if self.model.as_os_str() == "-" {
            return Err(Failure::Usage(
                "--model -: a model cannot be written to standard output; name a file".to_owned(),
            ));
        }
        let inputs: Vec<_> =
            overwrite::data(&self.data.data, &self.data.how).into_iter().chain(self.params.files()).collect();
        overwrite::refuse(&inputs, &[Output::File("--model", &self.model)])?;
        let params = self.params.resolve()?; // What is wrong with flags is told before data are read.
        let mut table = self.count.weigh(self.data.how.read_labelled(context, &self.data.data)?)?;
        table.keep_unlabelled = self.unlabelled.keep();
        let doubt = table.labels.as_deref().and_then(regression::doubt);
        if let Some(doubt) = &doubt {
            context.notice(doubt);
        }
        let data = labelled(&table, params.prepare.impute)?;
        let without = table.without_label();
        if without > 0 {
            context.notice(format_args!(
                "{without} of {} samples have no label; they take part in the manifold term alone",
                table.rows
            ));
        }
        let params = self.params.grouped(params, &data)?;
        let plan = menet::Plan::new(&data, &params)?;
        let (needed, available) = (plan.bytes as u64, menet_io::memory::available());
        if needed > available {
            context.notice(format_args!(
                "this fit needs about {} of memory beside the data, and {} are available ({})",
                menet_io::memory::size(needed),
                menet_io::memory::size(available),
                plan.regime
            ));
        }
        let men = menet::fit(&data, &params, &context.watch)?;
        context.watch.done();
        men.doubts().iter().for_each(|doubt| context.notice(doubt));
        let (n, p) = (data.samples(), data.variables());
        let kept = if self.no_path { men.clone().without_paths() } else { men.clone() };
        let file = ModelFile::new(kept, &data, &self.data.data)?;
        file.save(&self.model)?;
        let ends = ends(&file, &men);
        if context.json {
            text::print(report(&men, &ends, doubt.as_deref(), (n, p)))?;
        } else {
            context.say(summary(&men, &ends, n, p))?;
            if context.verbose {
                let rows: Vec<Vec<String>> = men
                    .report()
                    .seconds
                    .iter()
                    .map(|(stage, s)| vec![stage.to_string(), format!("{s:.4}")])
                    .collect();
                context.say(text::table(&["stage", "seconds"], &rows))?;
            }
            context.say(format_args!("saved to {}", text::path(&self.model)))?;
        }
        Ok(())
    }
}

fn report(men: &Men, ends: &[Option<AxisEnds>], doubt: Option<&str>, (n, p): (usize, usize)) -> Value {
    let mut all = json!({
        "n": n,
        "p": p,
        "classes": men.classes().len(),
        "components": men.projection().components(),
        "nonzeros": men.support_sizes(),
        "kkt": men.certificates().iter().map(|c| c.kkt).collect::<Vec<_>>(),
        "levels": men.levels(),
        "panel_size": men.selected().len(),
        "always": names(men, &men.always()),
        "never": names(men, &men.never()),
        "groups": super::groups::json(men),
        "doubts": men.doubts(),
        "preparation": super::preparation::json(men),
        "penalty": men.params().penalty,
        "rounds": men.paths().iter().map(Path::report).collect::<Vec<_>>(),
        "feature_graph": men.params().penalty.feature_graph,
        "graph_weight": men.params().graph_weight(),
        "refit": men.refit(),
        "rule": rule_name(men),
        "ends": ends.iter().map(|ends| ends.as_ref().map(AxisEnds::json)).collect::<Vec<_>>(),
        "label_doubt": doubt,
    });
    if let (Some(all), Value::Object(found)) = (all.as_object_mut(), json!(men.report().in_words())) {
        all.extend(found);
    }
    all
}

/// The name of the rule, if the model has one.
pub(super) fn rule_name(men: &Men) -> Option<&'static str> {
    men.rule().ok().map(|rule| rule.kind().name())
}

/// Whether every axis has its own path, so that the level, certificate and order of entry of the path belong to the axis.
pub(super) fn own_paths(men: &Men) -> bool {
    !men.refit().refit.shares_panel() && men.projection().components() == men.parts().components.len()
}

/// The panel, the refit and the rule on one line.
fn decision_line(men: &Men) -> String {
    let RefitReport { refit, candidates, shrinkage, .. } = *men.refit();
    let always = men.always();
    let size = men.selected().len();
    let from = if candidates > size + always.len() {
        format!(", chosen from {candidates} candidates")
    } else {
        String::new()
    };
    let plural = if size == 1 { "" } else { "s" };
    let shrinkage = shrinkage.map_or_else(String::new, |share| format!(" (shrinkage {share:.3})"));
    let rule = match men.rule() {
        Ok(LearnedRule::Nearest(rule)) => {
            let voters =
                if rule.neighbors == 1 { String::new() } else { format!("{} voters, ", rule.neighbors) };
            format!("rule nearest ({voters}{})", rule.metric.name())
        }
        Ok(rule) => format!("rule {}", rule.kind().name()),
        Err(_) => "no rule: the model was made smaller without its training samples".to_owned(),
    };
    let forced = forced_line(men, &always);
    format!(
        "panel of {size} distinct variable{plural}{from}; refit {}{shrinkage}; {rule}\n{forced}",
        refit.name()
    )
}

/// The penalty, if it is not ℓ1, and what is known of its solution, on one line.
fn penalty(men: &Men) -> String {
    let kind = men.params().penalty.kind;
    if kind == PenaltyKind::L1 {
        return String::new();
    }
    let (mut rounds, mut settled, mut axes, mut off) = (0, 0, 0, None::<f64>);
    let mut local = true;
    for report in men.paths().iter().filter_map(Path::report) {
        match report {
            PenaltyReport::Rounds { count, settled: yes, stationarity } => {
                (rounds, axes, settled) = (rounds.max(*count), axes + 1, settled + usize::from(*yes));
                off = stationarity.map_or(off, |found| Some(off.map_or(found, |worst| worst.max(found))));
            }
            PenaltyReport::Subsets { local: found } => local &= found.iter().all(|&local| local),
            _ => {}
        }
    }
    let known = match (kind, off) {
        (PenaltyKind::L0, _) if local => "; no exchange of one variable makes a subset better".to_owned(),
        (PenaltyKind::L0, _) => "; some subsets could not be certified".to_owned(),
        (PenaltyKind::Adaptive, _) => "; weights from a first fit".to_owned(),
        (_, Some(_)) if rounds == 0 && settled == axes => {
            "; no rounds: at level 0 no variable is penalised".to_owned()
        }
        (_, Some(off)) => {
            format!(
                "; at most {rounds} rounds, settled on {settled} of {axes} axes, first-order conditions violated by {off:.1e}"
            )
        }
        _ => String::new(),
    };
    format!("penalty: {}{known}\n", kind.name())
}

/// The variables that are always or never in, the graph over them, and the penalty, on one line each.
fn forced_line(men: &Men, always: &[usize]) -> String {
    let line = |what: &str, variables: &[usize]| match variables.len() {
        0 => String::new(),
        count if count <= SHOWN => format!("{what}: {}\n", names(men, variables).join(", ")),
        count => {
            let shown = names(men, &variables[..SHOWN]).join(", ");
            format!("{what}: {shown} and {} more\n", count - SHOWN)
        }
    };
    let graph = men.params().penalty.feature_graph.as_ref().map_or_else(String::new, |graph| {
        format!("feature graph: {}, weight {}\n", graph.in_words(), men.params().graph_weight())
    });
    line("always in, not counted in the panel", always)
        + &line("never in", &men.never())
        + &graph
        + &penalty(men)
}

/// How many variables a line names.
const SHOWN: usize = 10;

pub(super) fn names(men: &Men, variables: &[usize]) -> Vec<String> {
    variables.iter().map(|&j| super::variable(men, j)).collect()
}

/// The certificates of the model, on one line.
fn certificate_line(men: &Men) -> String {
    let paths = men.certificates().iter().map(|c| c.kkt).fold(0.0, f64::max);
    let refit =
        men.refit().residual.map_or_else(String::new, |residual| format!(", refit {}", exactness(residual)));
    format!(
        "certificate: relative distance from the exact optimum: paths {}{refit}; below 1e-9 is exact up to rounding\n",
        exactness(paths)
    )
}

fn exactness(size: f64) -> String {
    if size == 0.0 { "0".to_owned() } else { format!("{size:.1e}") }
}

/// A summary of a fit, for people.
pub(super) fn summary(men: &Men, ends: &[Option<AxisEnds>], n: usize, p: usize) -> String {
    let own = own_paths(men);
    let (certificates, sizes) = (men.certificates(), men.support_sizes());
    let levels = text::numbers(&men.levels(), false);
    let known = ends.iter().any(Option::is_some);
    let rows: Vec<Vec<String>> = (0..sizes.len())
        .map(|k| {
            let mut row = vec![format!("{}", k + 1), sizes[k].to_string()];
            if own {
                row.extend([levels[k].clone(), exactness(certificates[k].kkt)]);
            }
            if known {
                row.extend(ends[k].as_ref().map_or_else(|| ["-", "-"].map(str::to_owned), AxisEnds::cells));
            }
            row
        })
        .collect();
    let report = men.report().definiteness;
    let kappa = if report.kappa_used == report.kappa_requested {
        String::new()
    } else {
        format!("kappa {} -> {:.4} ({})\n", report.kappa_requested, report.kappa_used, report.policy.name())
    };
    let regime = men.report().regime.as_ref().map_or_else(String::new, |regime| format!("{regime}\n"));
    let residual = men
        .report()
        .cg_residual
        .map_or_else(String::new, |residual| format!("residual of the conjugate gradients {residual:.1e}\n"));
    let recall = men.report().neighbor_recall.map_or_else(String::new, |recall| {
        format!("approximate neighbours, {:.1}% of the true ones\n", 100.0 * recall)
    });
    let total = men.report().total_seconds();
    let mut header = vec!["axis", "variables"];
    header.extend(["level", "certificate"].iter().filter(|_| own));
    header.extend(["low end", "high end"].iter().filter(|_| known));
    let (level, ends) = (if own { LEVEL } else { "" }, if known { ENDS } else { "" });
    format!(
        "{n} samples of {p} variables in {} classes, fitted in {total:.2} s\n{}{recall}{regime}{residual}{kappa}{}{}\n{}\n{level}{}{ends}",
        men.classes().len(),
        super::preparation::lines(men),
        decision_line(men),
        super::groups::lines(men),
        text::table(&header, &rows),
        certificate_line(men),
    )
}

const LEVEL: &str = "level: the penalty at which the axis is read; a lower level means more variables\n";
const ENDS: &str = "low end, high end: the classes with the lowest and the highest mean score on the axis\n";
