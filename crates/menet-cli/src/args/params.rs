//! One flag per parameter of a fit. Defaults and choices in the help come from the core.

use std::path::{Path, PathBuf};

use clap::Args;
use menet::params::{Preset, default_nonzeros};
use menet::rules::{Metric, Priors};
use menet::{MenParams, Named, patches};

use crate::failure::Failure;

macro_rules! params {
    ($($(#[doc = $help:literal])* $field:ident: $kind:ty => |$value:ident| $convert:expr,)*) => {
        /// The parameters of a fit.
        #[derive(Debug, Args)]
        #[command(next_help_heading = "Parameters (each is also a key of --params)")]
        pub(crate) struct ParamArgs {
            /// A TOML file with parameters; flags override it.
            #[arg(long, value_name = "FILE")]
            pub(crate) params: Option<PathBuf>,
            $(
                #[arg(long, allow_negative_numbers = true, help = help(stringify!($field), concat!($($help),*)))]
                $field: Option<$kind>,
            )*
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

// `help` replaces {choices} by the core's list, and appends the default.
params! {
    /// The defaults of --refit, --rule, --ridge and --metric: {choices}; paper keeps the paper's weights and rule
    preset: String => |x| Named::from_name(&x)?,
    /// Number of axes, 1 to classes - 1
    components: usize => |x| Some(x),
    /// Largest number of variables that the path of one axis selects; all axes together may use more
    nonzeros: usize => |x| Some(x),
    /// Largest number of distinct variables that all axes use together, >= 1
    panel_size: usize => |x| Some(x),
    /// How the weights of the selected variables are computed: {choices}; none keeps the weights of the paths
    refit: String => |x| Some(Named::from_name(&x)?),
    /// Ridge of the refits axis and panel, >= 0
    refit_ridge: f64 => |x| Some(x),
    /// How far the refit axis goes, from 0 (the weights of the path) to 1 (no L1 penalty)
    relax: f64 => |x| x,
    /// Ridge of the elastic net, >= 0
    ridge: f64 => |x| Some(x),
    /// Weight of the manifold term, >= 0
    alpha: f64 => |x| x,
    /// Weight of the distance between embedding and projection, > 0
    beta: f64 => |x| x,
    /// How strongly classes are pushed apart, >= 0; --definiteness may lower it
    kappa: f64 => |x| x,
    /// Neighbours of the same class per patch, >= 1
    k_within: usize => |x| x,
    /// Neighbours of other classes per patch, >= 0
    k_between: usize => |x| x,
    /// How neighbours are searched for: {choices}; approximate pays from about 50,000 samples on
    neighbors: String => |x| Named::from_name(&x)?,
    /// The patch rule: {choices}
    patch: String => |x| x,
    /// Width of the heat kernel, > 0
    bandwidth: f64 => |x| Some(x),
    /// Regularizer of the lle patch, > 0
    lle_regularizer: f64 => |x| x,
    /// Tangent dimension of the ltsa patch, >= 1
    ltsa_dimension: usize => |x| Some(x),
    /// Where the samples of a class should be projected: {choices}
    target: String => |x| Named::from_name(&x)?,
    /// Shrinkage of the whitened target, > 0
    target_shrinkage: f64 => |x| x,
    /// What to do if the problem is not positive definite: {choices}
    definiteness: String => |x| Named::from_name(&x)?,
    /// Smallest eigenvalue allowed, in (0, 1]
    floor: f64 => |x| x,
    /// Solve on columns of length 1: true or false
    standardize: bool => |x| x,
    /// Replace the data by their PCA reconstruction of this rank, >= 1
    pca_rank: usize => |x| Some(x),
    /// One factor per variable on its penalty, as 1,2,inf,...
    penalty_factors: Factors => |x| Some(x.0),
    /// How labels are decided: {choices}
    rule: String => |x| Some(Named::from_name(&x)?),
    /// How many of the nearest training samples vote in the rule nearest, >= 1
    voters: usize => |x| x,
    /// Metric of the rule nearest: {choices}
    metric: String => |x| Some(Named::from_name(&x)?),
    /// How frequent the classes are: train (as in the training data), equal, or one number per class in sorted order, as
    /// 0.2,0.8
    priors: PriorsText => |x| x.0,
    /// How the operator A is applied: {choices}; affects speed and memory only
    route: String => |x| Named::from_name(&x)?,
    /// How the Gram matrix is formed: {choices}; affects speed and memory only
    gram: String => |x| Named::from_name(&x)?,
}

/// The help of a parameter: its text with the choices filled in, and its default.
fn help(field: &str, text: &str) -> String {
    let text = match choices(field) {
        Some(names) => text.trim().replace("{choices}", &names.join(", ")),
        None => text.trim().to_owned(),
    };
    format!("{text} [default: {}]", default(field))
}

/// The values that a parameter can have, as the core lists them; none for numbers.
fn choices(field: &str) -> Option<Vec<&'static str>> {
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
        "target" => names(params.target),
        "definiteness" => names(params.definiteness),
        "rule" => names(params.rule().kind),
        "metric" => names(params.metric()),
        "route" => names(params.route),
        "gram" => names(params.gram),
        _ => None,
    }
}

/// The default of a parameter in words.
fn default(field: &str) -> String {
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
        "refit_ridge" => "that of the path".to_owned(),
        "bandwidth" => "the median distance".to_owned(),
        "ltsa_dimension" => "half of the neighbours".to_owned(),
        "penalty_factors" => "all 1".to_owned(),
        _ => "none".to_owned(),
    }
}

/// The value of a field as a flag would give it; none if it is not set.
fn written(params: &MenParams, field: &str) -> Option<String> {
    let table = toml::Table::try_from(params).ok()?;
    Some(match table.get(field)? {
        toml::Value::String(text) => text.clone(),
        toml::Value::Float(number) => number.to_string(),
        other => other.to_string(),
    })
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

/// Reads `--metric` where it overrides the metric of a model.
pub(crate) fn metric(text: &str) -> Result<Metric, String> {
    Metric::from_name(text).map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use menet::refit::Refit;

    use super::*;

    /// The flags alone.
    #[derive(Debug, Parser)]
    struct Flags {
        #[command(flatten)]
        params: ParamArgs,
    }

    fn resolved(flag: &str) -> MenParams {
        Flags::try_parse_from(["menet", flag]).unwrap().params.resolve().unwrap()
    }

    #[test]
    fn every_parameter_is_a_flag() {
        let toml = toml::to_string(&MenParams::default().with(|it| {
            it.components = Some(1);
            it.nonzeros = Some(1);
            it.panel_size = Some(1);
            it.refit = Some(Refit::Panel);
            it.refit_ridge = Some(1.0);
            it.ridge = Some(1.0);
            it.rule = Some(menet::rules::RuleKind::Centroid);
            it.metric = Some(Metric::Cosine);
            it.bandwidth = Some(1.0);
            it.ltsa_dimension = Some(1);
            it.pca_rank = Some(1);
            it.penalty_factors = Some(vec![1.0, f64::INFINITY]);
        }))
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
    fn help_shows_the_defaults_of_the_core() {
        let mut given = 0;
        for field in FIELDS {
            let shown = help(field, "");
            let value = shown.trim().strip_prefix("[default: ").and_then(|rest| rest.strip_suffix(']'));
            let value = value.unwrap_or_else(|| panic!("{field}: {shown}"));
            // A default that is a value is one as a flag too; the others are words about what is computed.
            if written(&MenParams::default(), field).is_some() {
                given += 1;
                let flag = format!("--{}={value}", field.replace('_', "-"));
                assert_eq!(resolved(&flag), MenParams::default(), "{flag}");
            } else {
                assert!(!value.is_empty() && (*field == "pca_rank" || value != "none"), "{field}: {shown}");
            }
        }
        assert!(given > 15, "{given} defaults are values");
        assert_eq!(default("ridge"), "0.3, or 10 with the preset stable, or 0.03 with the preset paper");
        assert_eq!(default("rule"), "nearest; on a single axis gaussian, or nearest with the preset paper");
    }

    #[test]
    fn help_lists_the_choices_of_the_core() {
        use clap::CommandFactory;
        let command = Flags::command();
        for field in FIELDS {
            let flag = command.get_arguments().find(|flag| flag.get_id() == field).unwrap();
            let shown = flag.get_help().unwrap().to_string();
            assert!(!shown.contains("{choices}"), "{shown}");
            let listed =
                |name: &str| shown.contains(&format!(" {name}")) || shown.contains(&format!(",{name}"));
            for name in choices(field).unwrap_or_default() {
                assert!(listed(name), "{name} is missing: {shown}");
                resolved(&format!("--{field}={name}")).check(3).unwrap();
            }
        }
        let rules: Vec<&str> = patches::REGISTRY.iter().map(|rule| rule.name()).collect();
        let patch = command.get_arguments().find(|flag| flag.get_id() == "patch").unwrap();
        assert!(patch.get_help().unwrap().to_string().contains(&rules.join(", ")));
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
}
