//! `menet export`

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use menet_io::export::{self, Precision};
use menet_io::{ModelFile, atomic};

use crate::Context;
use crate::args::ModelArgs;
use crate::failure::Failure;
use crate::overwrite::{self, Output};
use crate::text;

/// Write a model for other programs: ONNX for inference, JSON to read anywhere, SQL for data in a database.
///
/// Give one of --onnx FILE, --json and --sql TABLE. --json and --sql write to --out FILE, or to standard output. All three hold the panel,
/// how its values are prepared, the weights and the rule; SQL compares with class centroids in the place of the rule nearest.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  menet export --model leukemia.safetensors --onnx leukemia.onnx\n  \
                  menet export --model leukemia.safetensors --json > leukemia.json\n  \
                  menet export --model leukemia.safetensors --sql patients | sqlite3 -csv hospital.db")]
pub(crate) struct Export {
    #[command(flatten)]
    model: ModelArgs,
    /// Write an ONNX file. It takes the panel of a sample as `X`, in the order of `menet inspect --template`, and gives `label`,
    /// `probabilities` and `scores`.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["sql", "json", "out"])]
    onnx: Option<PathBuf>,
    /// The ONNX file takes all variables of the fit, in their order, instead of the panel: for images, for instance.
    #[arg(long)]
    all_variables: bool,
    /// The precision of samples and results of the ONNX file [default: single]. It computes in double precision all the same.
    #[arg(long, value_name = "PRECISION", value_enum)]
    precision: Option<OnnxPrecision>,
    /// Write a SELECT that computes axes, a value per class and the label for every row of this table. Its columns have the names of
    /// the variables.
    #[arg(long, value_name = "TABLE", conflicts_with = "json")]
    sql: Option<String>,
    /// Where to write JSON or SQL; - is standard output.
    #[arg(long, value_name = "FILE", default_value = "-")]
    out: PathBuf,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum OnnxPrecision {
    /// float32, what most tools send.
    Single,
    /// float64.
    Double,
}

impl Export {
    pub(crate) fn run(&self, context: &Context) -> Result<(), Failure> {
        let (option, out) = match (&self.onnx, &self.sql) {
            (Some(path), _) => ("--onnx", path),
            (None, Some(_)) => ("--out", &self.out),
            (None, None) if context.json => ("--out", &self.out),
            (None, None) => {
                return Err(Failure::Usage(
                    "which format? Give --onnx FILE, --json, or --sql TABLE".to_owned(),
                ));
            }
        };
        if let Some(table) = self.sql.as_deref().filter(|table| table.to_lowercase().ends_with(".sql")) {
            let table = text::inline(table);
            return Err(Failure::Usage(format!(
                "--sql {table}: this is the name of a table, not of a file; give the table of your samples, and the file as --out {table}"
            )));
        }
        if self.onnx.is_none() && self.precision.is_some() {
            return Err(Failure::Usage("--precision is for --onnx; JSON and SQL have all digits".to_owned()));
        }
        if self.onnx.is_none() && self.all_variables {
            return Err(Failure::Usage(
                "--all-variables is for --onnx; JSON and SQL name the variables that they use".to_owned(),
            ));
        }
        let inputs = [("--model", self.model.model.clone())];
        overwrite::refuse(&inputs, &[Output::File(option, out)])?;
        let mut file = ModelFile::load(&self.model.model)?;
        file.men = self.model.of(&file)?;
        if self.onnx.is_some() && !self.all_variables {
            file.men = file.men.on_panel()?;
        }
        let bytes = match (&self.onnx, &self.sql) {
            (Some(_), _) => export::to_onnx(&file, self.precision.unwrap_or(OnnxPrecision::Single).into())?,
            (None, Some(table)) => export::to_sql(&file, table)?.into_bytes(),
            (None, None) => export::to_json(&file)?.into_bytes(),
        };
        atomic::write(out, |to| to.write_all(&bytes))?;
        if out == Path::new("-") { Ok(()) } else { context.say(summary(&file, out, bytes.len())) }
    }
}

fn summary(file: &ModelFile, out: &Path, bytes: usize) -> String {
    let projection = file.men.projection();
    let (variables, axes) = (projection.panel().len(), projection.components());
    format!("{variables} variables on {axes} axes, {} kB: {}", bytes.div_ceil(1000), out.display())
}

impl From<OnnxPrecision> for Precision {
    fn from(digits: OnnxPrecision) -> Self {
        match digits {
            OnnxPrecision::Single => Precision::Single,
            OnnxPrecision::Double => Precision::Double,
        }
    }
}
