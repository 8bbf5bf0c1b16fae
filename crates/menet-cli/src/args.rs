//! Options that several commands share.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use menet::panel::Reading;
use menet::refit::Refit;
use menet::rules::{Metric, Priors};
use menet::{Men, MenParams, Method, Named};
use menet_io::{Delimiter, ModelFile, ReadOptions, Table};
use menet_lab::params::MethodParams;
use menet_lab::{MetricChoice, TuneOptions};

use crate::Context;
use crate::failure::Failure;

/// The data to read.
#[derive(Debug, Args)]
#[command(next_help_heading = "Data")]
pub(crate) struct DataArgs {
    /// A file (.csv .tsv .txt .parquet .feather .arrow .npz .npy .mat .svm .libsvm, IDX; text also .gz or .zst), a folder with
    /// one sub-folder of images per class, a built-in set (orl, leukemia, digits), or - for text on standard input.
    #[arg(long, value_name = "FILE|FOLDER|SET")]
    pub(crate) data: String,
    #[command(flatten)]
    pub(crate) how: HowArgs,
}

/// How to read it.
#[derive(Debug, Args)]
#[command(next_help_heading = "Data")]
pub(crate) struct HowArgs {
    /// Name of the label column; its number from 1 with --no-header.
    #[arg(long, default_value = "label", value_name = "NAME")]
    label: String,
    /// Name of the column that names the samples; it is no variable, and stands in what is written.
    #[arg(long, value_name = "NAME")]
    id: Option<String>,
    /// A column to leave out; may be given several times.
    #[arg(long, value_name = "NAME")]
    drop: Vec<String>,
    /// A file with one label per line.
    #[arg(long, value_name = "FILE")]
    pub(crate) labels: Option<PathBuf>,
    /// The first line of a text is a sample; columns are named by number, as in --label 5.
    #[arg(long)]
    no_header: bool,
    /// The first line of a text holds names, although it looks like a sample.
    #[arg(long, conflicts_with = "no_header")]
    header: bool,
    /// Rows are variables and columns samples.
    #[arg(long)]
    transpose: bool,
    /// What separates the fields of a text: comma, semicolon, tab, bar, space, or another character [default: by the file's
    /// ending]
    #[arg(long, value_name = "SIGN")]
    delimiter: Option<Delimiter>,
    /// The decimal sign of a text: . or ,
    #[arg(long, value_name = "SIGN", default_value = ".", value_parser = [".", ",", "point", "comma"])]
    decimal: String,
    /// The encoding of a text, such as latin1 or utf-16le [default: UTF-8]
    #[arg(long, value_name = "NAME")]
    encoding: Option<String>,
    /// The format, where the file's ending does not tell: csv, tsv, txt, parquet, feather, npz, npy, mat, svmlight, idx.
    #[arg(long, value_name = "NAME")]
    format: Option<String>,
    /// Name of the array of samples in an archive [default: X].
    #[arg(long, value_name = "NAME")]
    x_key: Option<String>,
    /// Name of the array of labels in an archive [default: y].
    #[arg(long, value_name = "NAME")]
    y_key: Option<String>,
    /// svmlight indices begin at 0.
    #[arg(long)]
    zero_based: bool,
    /// Resize images to this many pixels.
    #[arg(long, value_name = "HxW", value_parser = pair)]
    size: Option<(usize, usize)>,
    /// The samples are images of this shape.
    #[arg(long, value_name = "HxW", value_parser = pair)]
    shape: Option<(usize, usize)>,
    /// What to do with missing values, which are an error otherwise: the mean of the training data.
    #[arg(long, value_name = "HOW")]
    impute: Option<Impute>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Impute {
    /// The mean of the column.
    Mean,
}

impl HowArgs {
    pub(crate) fn read(&self, context: &Context, source: &str) -> Result<Table, Failure> {
        noticed(context, menet_io::read(source, &self.options())?)
    }

    /// Reads data for a model: its columns in the model's order, missing values filled with the training mean if asked.
    pub(crate) fn read_for(&self, context: &Context, source: &str, men: &Men) -> Result<Table, Failure> {
        // Samples without the last variables are samples of the same kind.
        let least_columns = men.projection().variables();
        let options = ReadOptions { impute_mean: false, least_columns, ..self.options() };
        let table = noticed(context, menet_io::read(source, &options)?)?;
        let table = table.arranged(men, self.impute.is_some())?;
        table.check_missing()?;
        Ok(table)
    }

    /// Reads labelled data of which some will be held back: missing values cannot be filled before it is known which.
    pub(crate) fn read_unfilled(&self, context: &Context, source: &str) -> Result<Table, Failure> {
        if self.impute.is_some() {
            return Err(Failure::Usage(
                "--impute: the mean of all samples would tell the training samples of those they are tested on; fill missing \
                 values beforehand, or leave their columns out with --drop"
                    .to_owned(),
            ));
        }
        self.read_labelled(context, source)
    }

    /// Reads labelled data.
    pub(crate) fn read_labelled(&self, context: &Context, source: &str) -> Result<Table, Failure> {
        let table = self.read(context, source)?;
        if table.labels.is_none() {
            let known = table
                .feature_names
                .as_deref()
                .map_or_else(String::new, |columns| format!(" among {}", menet_io::formats::list(columns)));
            let how = if self.no_header { "by its number with --label" } else { "with --label" };
            return Err(Failure::Usage(format!(
                "{source}: there is no label column {:?}{known}; name it {how} (--y-key for arrays), or give --labels FILE; if every row is a variable, give --transpose",
                self.label
            )));
        }
        Ok(table)
    }

    pub(crate) fn options(&self) -> ReadOptions {
        ReadOptions {
            format: self.format.clone(),
            label: self.label.clone(),
            id: self.id.clone(),
            drop: self.drop.clone(),
            labels: self.labels.clone(),
            no_header: self.no_header,
            header: self.header,
            delimiter: self.delimiter,
            decimal_comma: matches!(self.decimal.as_str(), "," | "comma"),
            encoding: self.encoding.clone(),
            transpose: self.transpose,
            x_key: self.x_key.clone(),
            y_key: self.y_key.clone(),
            zero_based: self.zero_based,
            least_columns: 0,
            size: self.size,
            shape: self.shape,
            impute_mean: matches!(self.impute, Some(Impute::Mean)),
        }
    }
}

/// Says what is worth saying of how a table was read.
fn noticed(context: &Context, mut table: Table) -> Result<Table, Failure> {
    for notice in table.notices.drain(..) {
        context.notice(notice);
    }
    Ok(table)
}

/// `40x40`.
fn pair(text: &str) -> Result<(usize, usize), String> {
    let side = |text: &str| text.parse::<usize>().ok().filter(|&side| (1..=100_000).contains(&side));
    text.split_once(['x', 'X'])
        .and_then(|(height, width)| Some((side(height)?, side(width)?)))
        .ok_or_else(|| "height and width are needed, as in 40x40".to_owned())
}

macro_rules! params {
    ($($(#[$meta:meta])* $field:ident: $kind:ty => |$value:ident| $convert:expr,)*) => {
        /// The parameters of a fit.
        #[derive(Debug, Args)]
        #[command(next_help_heading = "Parameters (each also a key of --params)")]
        pub(crate) struct ParamArgs {
            /// A TOML file with parameters; flags win over it.
            #[arg(long, value_name = "FILE")]
            pub(crate) params: Option<PathBuf>,
            $($(#[$meta])* #[arg(long, allow_negative_numbers = true)] $field: Option<$kind>,)*
        }

        impl ParamArgs {
            /// The defaults, then the file, then the flags.
            pub(crate) fn resolve(&self) -> Result<MenParams, Failure> {
                let mut params = self.params.as_deref().map_or(Ok(MenParams::default()), read_params)?;
                $(if let Some($value) = self.$field.clone() { params.$field = $convert; })*
                Ok(params)
            }
        }

        #[cfg(test)]
        const FIELDS: &[&str] = &[$(stringify!($field)),*];
    };
}

params! {
    /// The defaults of --refit, --rule, --ridge and --metric: default, or paper for the paper's method to the letter [default:
    /// default]
    preset: String => |x| Named::from_name(&x)?,
    /// Number of axes, 1 to classes - 1 [default: as many as there are]
    components: usize => |x| Some(x),
    /// Largest number of variables that the path of an axis selects, per path; all axes together may use more [default: twice
    /// the number of samples, from 50 to 100]
    nonzeros: usize => |x| Some(x),
    /// Largest number of distinct variables that all axes use together, >= 1 [default: no limit]
    panel_size: usize => |x| Some(x),
    /// How the weights of the selected variables are computed: none (as the paths leave them), axis, panel or discriminant
    /// [default: the preset's: discriminant, or none for paper]
    refit: String => |x| Some(Named::from_name(&x)?),
    /// Ridge of the refits axis and panel, >= 0 [default: that of the path]
    refit_ridge: f64 => |x| Some(x),
    /// How far the refit axis goes, from 0 (the paper's weights) to 1 [default: 1]
    relax: f64 => |x| x,
    /// Ridge of the elastic net, >= 0 [default: the preset's: 0.3, or 0.03 for paper]
    ridge: f64 => |x| Some(x),
    /// Weight of the manifold term, >= 0 [default: 1]
    alpha: f64 => |x| x,
    /// Weight of the distance between embedding and projection, > 0 [default: 1]
    beta: f64 => |x| x,
    /// How strongly classes are pushed apart, >= 0; may be lowered, see --definiteness [default: 0.1]
    kappa: f64 => |x| x,
    /// Neighbours of the same class, >= 1 [default: 5]
    k_within: usize => |x| x,
    /// Neighbours of other classes, >= 0 [default: 5]
    k_between: usize => |x| x,
    /// How neighbours are searched for: exact, or approximate, which pays from some 50,000 samples on [default: exact]
    neighbors: String => |x| Named::from_name(&x)?,
    /// The patch rule: dla, laplacian, laplacian-binary, lle, ltsa, each but dla also with -unsupervised [default: dla]
    patch: String => |x| x,
    /// Width of the heat kernel, > 0 [default: median distance]
    bandwidth: f64 => |x| Some(x),
    /// Regularizer of the lle patch, > 0 [default: 0.001]
    lle_regularizer: f64 => |x| x,
    /// Tangent dimension of the ltsa patch [default: half of the neighbours]
    ltsa_dimension: usize => |x| Some(x),
    /// Where classes should land: centres or whitened [default: whitened]
    target: String => |x| Named::from_name(&x)?,
    /// Shrinkage of the whitened target, > 0 [default: 0.1]
    target_shrinkage: f64 => |x| x,
    /// Where the problem is not positive definite: shrink, floor or error [default: shrink]
    definiteness: String => |x| Named::from_name(&x)?,
    /// Smallest eigenvalue allowed, in (0, 1] [default: 0.5]
    floor: f64 => |x| x,
    /// Solve on columns of length 1: true or false [default: true]
    standardize: bool => |x| x,
    /// Replace the data by their PCA reconstruction of this rank [default: none]
    pca_rank: usize => |x| Some(x),
    /// Factors on the penalty of each variable, as 1,2,inf,... [default: all 1]
    penalty_factors: Factors => |x| Some(x.0),
    /// How samples are decided on: nearest, centroid or gaussian [default: the preset's: nearest]
    rule: String => |x| Some(Named::from_name(&x)?),
    /// How many of the nearest training samples vote in the rule nearest, >= 1 [default: 1]
    voters: usize => |x| x,
    /// Metric of the rule nearest: euclidean or cosine [default: the preset's: cosine, or euclidean for paper]
    metric: String => |x| Some(Named::from_name(&x)?),
    /// How frequent the classes are: train (as in the training data), equal, or one number per class in their sorted order, as
    /// 0.2,0.8 [default: train]
    priors: PriorsText => |x| x.0,
    /// How the operator A is applied: auto, dense or conjugate (gradients); a matter of speed [default: auto]
    route: String => |x| Named::from_name(&x)?,
    /// What is formed of the Gram matrix: auto, full or columns; a matter of speed and memory [default: auto]
    gram: String => |x| Named::from_name(&x)?,
}

/// A comma-separated list of numbers.
#[derive(Debug, Clone)]
struct Factors(Vec<f64>);

impl std::str::FromStr for Factors {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |field: &str| field.trim().parse().map_err(|_| format!("{field:?} is not a number"));
        text.split(',').map(number).collect::<Result<_, _>>().map(Factors)
    }
}

/// `train`, `equal`, or a comma-separated list of numbers.
#[derive(Debug, Clone)]
pub(crate) struct PriorsText(pub(crate) Priors);

impl std::str::FromStr for PriorsText {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "train" => Ok(PriorsText(Priors::Train)),
            "equal" => Ok(PriorsText(Priors::Equal)),
            _ => match text.parse::<Factors>() {
                Ok(Factors(numbers)) => Ok(PriorsText(Priors::Given(numbers))),
                Err(problem) => {
                    Err(format!("{problem}; use train, equal, or one number per class, as 0.2,0.8"))
                }
            },
        }
    }
}

fn read_params(path: &Path) -> Result<MenParams, Failure> {
    let text =
        std::fs::read_to_string(path).map_err(|e| Failure::Usage(format!("{}: {e}", path.display())))?;
    toml::from_str(&text).map_err(|e| Failure::Usage(format!("{}: {e}", path.display())))
}

/// A model to use, and how much of it.
#[derive(Debug, Args)]
#[command(next_help_heading = "Model")]
pub(crate) struct ModelArgs {
    /// A model file.
    #[arg(long, value_name = "FILE")]
    pub(crate) model: PathBuf,
    /// Use at most this many variables per axis; only for models without a refit.
    #[arg(long, value_name = "K")]
    nonzeros: Option<usize>,
    /// Use only the first axes; only for models without a refit.
    #[arg(long, value_name = "D")]
    components: Option<usize>,
}

impl ModelArgs {
    /// The model of the file, or the smaller one that was asked for.
    pub(crate) fn of(&self, file: &ModelFile) -> Result<Men, Failure> {
        smaller(&file.men, self.nonzeros, self.components)
    }
}

/// A model of fewer variables or axes, as far as it can be had without the training samples.
pub(crate) fn smaller(men: &Men, nonzeros: Option<usize>, components: Option<usize>) -> Result<Men, Failure> {
    // As many as there are is no other model.
    let nonzeros = nonzeros.filter(|&k| k != men.nonzeros());
    let components = components.filter(|&d| d != men.projection().components());
    let refit = men.refit().refit;
    let option = match (nonzeros, components) {
        (None, None) => return Ok(men.clone()),
        (Some(k), _) => format!("--nonzeros {k}"),
        (None, Some(d)) => format!("--components {d}"),
    };
    if refit != Refit::None {
        return Err(Failure::Usage(format!(
            "{option}: the model was made with --refit {}, and to compute its weights for other variables or axes needs the \
             training samples, which a model file does not hold; fit again with --nonzeros, --panel-size or --components, or \
             with --refit none for a model that can be made smaller",
            refit.name()
        )));
    }
    Ok(men.at(Reading { nonzeros, panel_size: None, components }, None)?)
}

/// How parameters are searched.
#[derive(Debug, Args)]
#[command(next_help_heading = "Search and metric")]
pub(crate) struct SearchArgs {
    /// Metric of the nearest-neighbour rule: euclidean, cosine, or auto when tuning [default: for MEN that of its parameters, when
    /// tuning both; for other methods that of the table men in --params, or euclidean]
    #[arg(long, value_name = "NAME")]
    metric: Option<String>,
    /// Largest number of fits a search may make; for MEN, of times that paths are computed [default: 100]
    #[arg(long, value_name = "FITS")]
    budget: Option<usize>,
    /// Folds of the cross-validation [default: 5]
    #[arg(long, value_name = "N")]
    folds: Option<usize>,
    /// Take the sparsest model within one standard error of the best.
    #[arg(long)]
    one_standard_error: bool,
    /// What MEN is tuned for: rate, balanced, log_loss or auc; other methods are tuned for the rate [default: rate]
    #[arg(long, value_name = "NAME")]
    score: Option<String>,
    /// Total numbers of variables to try MEN with, as 5,10,20 [default: none; see --nonzeros]
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',')]
    panel_size: Vec<usize>,
    /// Numbers of variables per path to try MEN with [default: 5,10,20,50,100,200, up to what --params allows; none with --panel-size]
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',')]
    nonzeros: Vec<usize>,
    /// Refits to try MEN with, of none, axis, panel, discriminant [default: none,panel,discriminant; for men-paper none]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    refit: Vec<String>,
    /// Rules to try MEN with, of nearest, centroid, gaussian [default: all; for men-paper nearest]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    rule: Vec<String>,
}

impl SearchArgs {
    /// The metric asked for, or that of the parameters of MEN.
    pub(crate) fn metric(&self, params: &MethodParams) -> Result<MetricChoice, Failure> {
        match (self.metric.as_deref(), params.method("men")?) {
            (Some("euclidean"), _) => Ok(MetricChoice::Euclidean),
            (Some("cosine"), _) => Ok(MetricChoice::Cosine),
            (Some("auto"), _) => Ok(MetricChoice::Auto),
            (Some(other), _) => {
                Err(Failure::Usage(format!("--metric {other}: use euclidean, cosine or auto")))
            }
            (None, Method::Men(men)) if men.metric == Some(Metric::Cosine) => Ok(MetricChoice::Cosine),
            (None, _) => Ok(MetricChoice::Euclidean),
        }
    }

    /// The parameters with the metric asked for in those of MEN and its variants.
    pub(crate) fn with_metric(&self, mut params: MethodParams) -> MethodParams {
        if let Some(metric) = self.metric.as_deref().filter(|&metric| Metric::from_name(metric).is_ok()) {
            for method in Method::all().iter().filter(|method| method.men().is_some()) {
                let section = params.0.entry(method.name().to_owned()).or_default();
                section.insert("metric".to_owned(), toml::Value::String(metric.to_owned()));
            }
        }
        params
    }

    /// How to search.
    pub(crate) fn options(&self) -> Result<TuneOptions, Failure> {
        fn named<T: Named>(option: &str, names: &[String]) -> Result<Vec<T>, Failure> {
            let told = |e: menet::Error| Failure::Usage(format!("--{option}: {e}"));
            let mut values: Vec<T> = Vec::new();
            for (k, name) in names.iter().enumerate() {
                if names[..k].contains(name) {
                    return Err(Failure::Usage(format!("--{option}: {name:?} is given twice; give it once")));
                }
                values.push(T::from_name(name.trim()).map_err(told)?);
            }
            Ok(values)
        }
        let default = TuneOptions::default();
        let score = named("score", self.score.as_slice())?;
        let options = TuneOptions {
            budget: self.budget.unwrap_or(default.budget),
            folds: self.folds.unwrap_or(default.folds),
            one_standard_error: self.one_standard_error,
            score: score.first().copied().unwrap_or(default.score),
            nonzeros: self.nonzeros.clone(),
            panel_size: self.panel_size.clone(),
            refit: named("refit", &self.refit)?,
            rule: named("rule", &self.rule)?,
            metrics: match self.metric.as_deref() {
                Some("euclidean") => vec![Metric::Euclidean],
                Some("cosine") => vec![Metric::Cosine],
                _ => Vec::new(),
            },
        };
        options.check()?;
        Ok(options)
    }

    /// Refuses options that none of `methods` heeds.
    pub(crate) fn refuse_without_men(&self, methods: &[String]) -> Result<(), Failure> {
        let is_men = |name: &String| Method::from_name(name).is_ok_and(|method| method.men().is_some());
        match self.options()?.only_for_men() {
            Some(option) if !methods.iter().any(is_men) => {
                let known: Vec<&str> =
                    Method::all().iter().filter(|method| method.men().is_some()).map(Method::name).collect();
                Err(Failure::Usage(format!(
                    "{option} is for {}, and the method is {}; leave it out, or choose one of those",
                    known.join(", "),
                    methods.join(", ")
                )))
            }
            _ => Ok(()),
        }
    }

    /// Refuses options that only a search can heed.
    pub(crate) fn refuse_without_search(&self) -> Result<(), Failure> {
        let given = [
            ("--budget", self.budget.is_some()),
            ("--folds", self.folds.is_some()),
            ("--one-standard-error", self.one_standard_error),
            ("--score", self.score.is_some()),
            ("--panel-size", !self.panel_size.is_empty()),
            ("--nonzeros", !self.nonzeros.is_empty()),
            ("--refit", !self.refit.is_empty()),
            ("--rule", !self.rule.is_empty()),
        ];
        match given.iter().find(|(_, given)| *given) {
            Some((name, _)) => {
                Err(Failure::Usage(format!("{name} needs --tune: without it nothing is searched")))
            }
            None => Ok(()),
        }
    }
}

/// Parameters of methods from a file, none without one.
pub(crate) fn method_params(path: Option<&Path>) -> Result<MethodParams, Failure> {
    let Some(path) = path else { return Ok(MethodParams::default()) };
    let told = |e: &dyn std::fmt::Display| Failure::Usage(format!("{}: {e}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|e| told(&e))?;
    MethodParams::parse(&text).map_err(|e| told(&e))
}

/// Dimensions: `1-14`, `1,2,5-9`.
pub(crate) fn dimensions(text: &str) -> Result<Vec<usize>, Failure> {
    const MOST: usize = 10_000;
    let bad = |part: &str| {
        let allowed = format!("a number from 1 to {MOST}, or a range such as 1-14");
        Failure::Usage(format!("--dims {text}: {part:?} is not {allowed}"))
    };
    let mut all = Vec::new();
    for part in text.split(',').map(str::trim) {
        let number = |text: &str| text.trim().parse::<usize>().ok().filter(|n| (1..=MOST).contains(n));
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        match (number(first), number(last)) {
            (Some(first), Some(last)) if first <= last => all.extend(first..=last),
            _ => return Err(bad(part)),
        }
    }
    Ok(all)
}

/// The name of a data set in tables: that of the file without folder and ending.
pub(crate) fn set_name(source: &str) -> String {
    let plain = source.strip_suffix(".gz").unwrap_or(source);
    let path = Path::new(plain);
    // A folder keeps its dots.
    let name = if path.is_dir() { path.file_name() } else { path.file_stem() };
    name.map_or_else(|| source.to_owned(), |name| name.to_string_lossy().into_owned())
}

/// `--metric` where a model's own may be overruled.
pub(crate) fn metric(text: &str) -> Result<Metric, String> {
    Metric::from_name(text).map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parameter_is_a_flag() {
        let toml = toml::to_string(&MenParams {
            components: Some(1),
            nonzeros: Some(1),
            panel_size: Some(1),
            refit: Some(Refit::Panel),
            refit_ridge: Some(1.0),
            ridge: Some(1.0),
            rule: Some(menet::rules::RuleKind::Centroid),
            metric: Some(Metric::Cosine),
            bandwidth: Some(1.0),
            ltsa_dimension: Some(1),
            pca_rank: Some(1),
            penalty_factors: Some(vec![1.0, f64::INFINITY]),
            ..MenParams::default()
        })
        .unwrap();
        let mut keys: Vec<&str> =
            toml.lines().filter_map(|line| line.split_once(" = ")).map(|(key, _)| key).collect();
        let mut fields = FIELDS.to_vec();
        keys.sort_unstable();
        fields.sort_unstable();
        assert_eq!(keys, fields);
        let back: MenParams = toml::from_str(&toml).unwrap();
        assert_eq!(back.penalty_factors, Some(vec![1.0, f64::INFINITY]));
    }

    #[test]
    fn priors_are_read() {
        let read = |text: &str| text.parse::<PriorsText>().map(|priors| priors.0);
        assert_eq!(read("train"), Ok(Priors::Train));
        assert_eq!(read("equal"), Ok(Priors::Equal));
        assert_eq!(read("0.2, 0.8"), Ok(Priors::Given(vec![0.2, 0.8])));
        let told = read("even").unwrap_err();
        assert!(told.contains("\"even\"") && told.contains("train, equal"), "{told}");
    }

    #[test]
    fn dimensions_are_read() {
        assert_eq!(dimensions("1-3,7").unwrap(), [1, 2, 3, 7]);
        for wrong in ["", "0", "3-1", "a", "1-", "1,,2", "1-100000000"] {
            assert!(dimensions(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn sets_are_called_like_their_files() {
        let names =
            ["orl", "a/set.v1.csv", "set.v2.csv.gz", "x.npz", "t10k-images-idx3-ubyte.gz"].map(set_name);
        assert_eq!(names, ["orl", "set.v1", "set.v2", "x", "t10k-images-idx3-ubyte"]);
    }

    #[test]
    fn sizes_are_read() {
        assert_eq!(pair("40x30"), Ok((40, 30)));
        assert!(pair("40").is_err() && pair("0x3").is_err() && pair("x").is_err());
    }
}
