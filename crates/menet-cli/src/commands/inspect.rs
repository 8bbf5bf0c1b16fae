//! `menet inspect`

use std::path::PathBuf;

use clap::Args;
use menet::{Men, PanelRow};
use menet_io::ModelFile;
use menet_lab::Folder;
use serde_json::{Value, json};

use super::ends::{AxisEnds, ends};
use super::{fit, pictures, template, variable};
use crate::Context;
use crate::args::ModelArgs;
use crate::failure::Failure;
use crate::overwrite::{self, Output};
use crate::text::{self, table};

/// Show which variables make each axis, or with --panel the variables that all axes use together.
///
/// The weight of a variable multiplies its value minus its mean. The effect is the weight times the standard deviation of the
/// variable, so effects can be compared between variables. `entered` is the position at which the variable entered its path.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  menet inspect --model leukemia.safetensors --component 1 --top 10\n  menet inspect --model \
                        leukemia.safetensors --panel --csv panel.csv\n  menet inspect --model leukemia.safetensors --template new.csv"
)]
pub(crate) struct Inspect {
    #[command(flatten)]
    model: ModelArgs,
    /// Only this axis, counted from 1.
    #[arg(long = "component", value_name = "AXIS", conflicts_with = "panel")]
    axis: Option<usize>,
    /// Show the panel instead of the axes: the distinct variables that all axes use together.
    #[arg(long)]
    panel: bool,
    /// Also write the whole panel to this file: .csv, or - for standard output.
    #[arg(long, value_name = "FILE", requires = "panel")]
    csv: Option<PathBuf>,
    /// Also write an empty table to this file, with the columns to fill in for new samples: the sample's name, its batch if the model has
    /// batches, and the panel. It is .csv, or - for standard output.
    #[arg(long, value_name = "FILE")]
    template: Option<PathBuf>,
    /// How many variables to show: those with the strongest effect per axis, or the most important ones of the panel.
    #[arg(long, default_value_t = 20, value_name = "N")]
    top: usize,
    /// For image data: write a picture of every axis into this folder.
    #[arg(long, value_name = "FOLDER")]
    png: Option<PathBuf>,
}

const WORDS: &str = "\
effect: the weight times the standard deviation of the variable; comparable between variables; + moves a sample to the high end
weight: multiplies the value of the variable minus its mean
entered: the order in which variables entered the path; 1 is the first";

const PANEL_WORDS: &str = "\
importance: the Euclidean length of the weights of a variable over all axes, times its standard deviation
weight: the weight with the largest absolute value over the axes; effect: that weight times the standard deviation of the variable
higher in: the class with the largest mean of the variable by itself, with that mean in standard deviations from the mean of all samples
others fixed: the class that a larger value favours while all other variables stay as they are; where variables are correlated, it need not
be the class that the variable is higher in
entered: the earliest position at which the variable entered a path";

/// What stands for the position of a variable that never entered a path, because it is in every model.
const ALWAYS: &str = "always";

/// The columns of the panel.
const PANEL: [&str; 8] =
    ["variable", "importance", "higher in", "others fixed", "effect", "weight", "axes", "entered"];

/// A variable of an axis.
struct AxisVariable {
    variable: usize,
    weight: f64,
    /// The weight if every variable had standard deviation 1: comparable between variables of different units.
    effect: f64,
    /// None if no path reached the variable.
    entered: Option<usize>,
}

impl Inspect {
    pub(crate) fn run(&self, context: &Context) -> Result<(), Failure> {
        let pictured = self.png.iter().map(|folder| Output::Folder("--png", folder, &["axis-*.png"]));
        let written = self.csv.iter().map(|file| Output::File("--csv", file));
        let template = self.template.iter().map(|file| Output::File("--template", file));
        let outputs: Vec<Output<'_>> = pictured.chain(written).chain(template).collect();
        overwrite::refuse(&[("--model", self.model.model.clone())], &outputs)?;
        let file = ModelFile::load(&self.model.model)?;
        let men = self.model.of(&file)?;
        let d = men.projection().components();
        let axes = match self.axis {
            Some(k) if k >= 1 && k <= d => k - 1..k,
            Some(k) => return Err(Failure::Usage(format!("--component {k}: the model has axes 1 to {d}"))),
            None => 0..d,
        };
        if let Some(folder) = &self.png {
            let folder = Folder::open(folder, "inspect", &[])?;
            pictures::bases(&men, &folder)?;
            folder.finish()?;
        }
        if let Some(csv) = &self.csv {
            write_panel(&men, csv)?;
        }
        if let Some(path) = &self.template {
            template::write(context, &men, path)?;
        }
        let ends = ends(&file, &men);
        // If a table goes to standard output, print nothing else there.
        if [&self.csv, &self.template].into_iter().flatten().any(|file| file.as_os_str() == "-") {
            return Ok(());
        }
        if context.json {
            let axes: Vec<_> =
                axes.map(|k| self.axis_json(&men, file.provenance.samples, ends[k].as_ref(), k)).collect();
            let certificates = men.certificates();
            let paths = certificates.iter().zip(men.levels()).map(|(certificate, level)| {
                json!({ "level": level, "kkt": certificate.kkt, "kkt_scaled": certificate.scaled })
            });
            let panel = self
                .panel
                .then(|| men.panel_table().iter().map(|row| row_json(&men, row)).collect::<Vec<_>>());
            let inspected = json!({
                "axes": axes,
                "paths": paths.collect::<Vec<_>>(),
                "panel_size": men.selected().len(),
                "always": fit::names(&men, &men.always()),
                "never": fit::names(&men, &men.never()),
                "panel": panel,
                "groups": super::groups::json(&men),
                "preparation": super::preparation::json(&men),
                "refit": men.refit(),
                "rule": fit::rule_name(&men),
                "classes": men.classes(),
                "params": men.params(),
                "neighbor_recall": men.report().neighbor_recall,
                "data": file.provenance.data,
            });
            text::print(format_args!("{inspected}"))?;
            return Ok(());
        }
        if self.axis.is_none() {
            text::print(format_args!(
                "{}",
                fit::summary(&men, &ends, file.provenance.samples, men.projection().variables())
            ))?;
        }
        if self.panel {
            self.show_panel(context, &men)?;
            return self.print_pictures(d);
        }
        let always = men.always();
        let missing = axes.clone().any(|k| ends[k].is_none());
        for k in axes {
            let used = used(&men, file.provenance.samples, k);
            let effects =
                text::numbers(&used.iter().take(self.top).map(|u| u.effect).collect::<Vec<_>>(), true);
            let weights =
                text::numbers(&used.iter().take(self.top).map(|u| u.weight).collect::<Vec<_>>(), true);
            let rows: Vec<Vec<String>> = used
                .iter()
                .zip(effects.into_iter().zip(weights))
                .map(|(u, (effect, weight))| {
                    let entered =
                        if always.contains(&u.variable) { ALWAYS.to_owned() } else { place(u.entered) };
                    vec![variable(&men, u.variable), effect, weight, entered]
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
                "ends: not known for axes that --nonzeros made sparser; the model has the scores of its training samples only on \
                 its own axes",
            )?;
        }
        self.print_pictures(d)
    }

    fn print_pictures(&self, d: usize) -> Result<(), Failure> {
        match &self.png {
            Some(folder) => text::print(format_args!("pictures of {d} axes in {}", text::path(folder))),
            None => Ok(()),
        }
    }

    /// The panel as a table, the most important variables first.
    fn show_panel(&self, context: &Context, men: &Men) -> Result<(), Failure> {
        let table = men.panel_table();
        let shown = &table[..table.len().min(self.top)];
        let column = |value: &dyn Fn(&PanelRow) -> f64, signed: bool| {
            text::numbers(&shown.iter().map(value).collect::<Vec<_>>(), signed)
        };
        let weights = column(&|row| row.weight, true);
        let effects = column(&|row| row.effect.unwrap_or(0.0), true);
        let importances = column(&|row| row.importance, false);
        let rows: Vec<Vec<String>> = shown
            .iter()
            .enumerate()
            .map(|(i, row)| {
                vec![
                    variable(men, row.variable),
                    importances[i].clone(),
                    higher(men, row),
                    class(men, row.class).map_or_else(|| "-".to_owned(), |class| text::shortened(class, 24)),
                    row.effect.map_or_else(|| "-".to_owned(), |_| effects[i].clone()),
                    weights[i].clone(),
                    ranges(&row.axes),
                    if row.always { ALWAYS.to_owned() } else { place(row.entered) },
                ]
            })
            .collect();
        text::print(text::table(&PANEL, &rows))?;
        if shown.len() < table.len() {
            context.say(format_args!("and {} more (--top, or --csv for all)", table.len() - shown.len()))?;
        }
        context.say(PANEL_WORDS)?;
        if shown.iter().any(|row| row.effect.is_none()) {
            context.say(
                "-: this model has no standard deviations; importance is the length of the weights alone",
            )?;
        }
        match &self.csv {
            Some(file) => context.say(format_args!("all {} variables in {}", table.len(), text::path(file))),
            None => Ok(()),
        }
    }

    fn axis_json(&self, men: &Men, samples: usize, ends: Option<&AxisEnds>, k: usize) -> Value {
        // If axes share a panel, a path does not belong to one axis.
        let own = fit::own_paths(men);
        let certificate = own.then(|| men.certificates()[k]);
        let variables: Vec<_> = used(men, samples, k)
            .iter()
            .take(self.top)
            .map(|u| json!({ "variable": variable(men, u.variable), "index": u.variable + 1, "effect": u.effect, "weight": u.weight, "entered": u.entered }))
            .collect();
        json!({
            "component": k + 1,
            "nonzeros": men.support_sizes()[k],
            "level": own.then(|| men.levels()[k]),
            "kkt": certificate.map(|certificate| certificate.kkt),
            "kkt_scaled": certificate.map(|certificate| certificate.scaled),
            "ends": ends.map(AxisEnds::json),
            "variables": variables,
        })
    }
}

/// The name of a class of a row of the panel.
fn class(men: &Men, place: Option<usize>) -> Option<&str> {
    place.and_then(|class| men.classes().get(class)).map(String::as_str)
}

/// The class with the largest mean of a variable, and that mean.
fn higher(men: &Men, row: &PanelRow) -> String {
    let known = row.higher_in.zip(class(men, row.higher_in));
    known.map_or_else(
        || "-".to_owned(),
        |(place, name)| format!("{} {:+.2}", text::shortened(name, 24), row.class_means[place]),
    )
}

fn place(entered: Option<usize>) -> String {
    entered.map_or_else(|| "-".to_owned(), |place| place.to_string())
}

/// Axes from 1, with runs as `1-4`.
fn ranges(axes: &[usize]) -> String {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for &axis in axes {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == axis => *last = axis,
            _ => runs.push((axis, axis)),
        }
    }
    let run = |&(first, last): &(usize, usize)| match last - first {
        0 => format!("{}", first + 1),
        1 => format!("{},{}", first + 1, last + 1),
        _ => format!("{}-{}", first + 1, last + 1),
    };
    runs.iter().map(run).collect::<Vec<_>>().join(",")
}

fn row_json(men: &Men, row: &PanelRow) -> Value {
    json!({
        "variable": variable(men, row.variable),
        "index": row.variable + 1,
        "always": row.always,
        "axes": row.axes.iter().map(|axis| axis + 1).collect::<Vec<_>>(),
        "entered": row.entered,
        "weight": row.weight,
        "effect": row.effect,
        "importance": row.importance,
        "class_means": row.class_means,
        "higher_in": class(men, row.higher_in),
        "class": class(men, row.class),
    })
}

/// Writes all rows of the panel, with all digits.
fn write_panel(men: &Men, path: &std::path::Path) -> Result<(), Failure> {
    let fixed =
        ["variable", "index", "axes", "entered", "weight", "effect", "importance", "higher_in", "class"];
    let means = men.classes().iter().map(|class| format!("mean:{class}"));
    let header: Vec<String> = fixed.iter().map(|&name| name.to_owned()).chain(means).collect();
    let number = |x: f64| format!("{x:?}");
    let table = men.panel_table();
    let rows = table.iter().map(|row| {
        let axes: Vec<String> = row.axes.iter().map(|axis| (axis + 1).to_string()).collect();
        let mean = |class: usize| row.class_means.get(class).copied().map_or_else(String::new, number);
        let known = vec![
            variable(men, row.variable),
            (row.variable + 1).to_string(),
            axes.join(" "),
            row.entered.map_or_else(String::new, |place| place.to_string()),
            number(row.weight),
            row.effect.map_or_else(String::new, number),
            number(row.importance),
            class(men, row.higher_in).unwrap_or_default().to_owned(),
            class(men, row.class).unwrap_or_default().to_owned(),
        ];
        known.into_iter().chain((0..men.classes().len()).map(mean)).collect()
    });
    Ok(menet_io::write::csv_table(path, &header, rows)?)
}

/// The variables of an axis, strongest first, with their order of entry.
fn used(men: &Men, samples: usize, k: usize) -> Vec<AxisVariable> {
    let orders: Vec<&[usize]> =
        men.parts().components.iter().map(|axis| axis.order_of_entry.as_slice()).collect();
    // For axes that share a panel, the earliest position over all paths.
    let orders = if fit::own_paths(men) { &orders[k..=k] } else { &orders[..] };
    let position = |order: &&[usize], j: usize| order.iter().position(|&other| other == j).map(|at| at + 1);
    let mut used: Vec<AxisVariable> = men.projection().axes()[k]
        .iter()
        .map(|(variable, weight)| {
            let entered = orders.iter().filter_map(|order| position(order, variable)).min();
            AxisVariable { variable, weight, effect: weight * deviation(men, samples, variable), entered }
        })
        .collect();
    used.sort_by(|a, b| b.effect.abs().total_cmp(&a.effect.abs()).then(a.variable.cmp(&b.variable)));
    used
}

/// The standard deviation of a variable in the training samples. If the panel does not have it, it comes from the solver's
/// units, which divide columns by their length; otherwise it is 1.
fn deviation(men: &Men, samples: usize, j: usize) -> f64 {
    let panel = &men.parts().panel;
    let known = panel.binary_search_by_key(&j, |row| row.variable).ok().and_then(|at| panel[at].deviation);
    known.unwrap_or_else(|| {
        let params = men.params();
        if !params.penalty.standardize {
            return 1.0;
        }
        (1.0 + params.ridge()) / men.parts().units[j] / (samples.saturating_sub(1).max(1) as f64).sqrt()
    })
}
