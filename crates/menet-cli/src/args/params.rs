//! One flag per parameter of a fit.

use std::path::{Path, PathBuf};

use clap::Args;
use menet::penalties::feature_graph::FeatureGraph;
use menet::{Dataset, MenParams, Named};
use menet_io::whole;

use super::help::help;
use super::texts::{Factors, NameList, PriorsText};
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
            /// Groups of variables that enter together: a CSV file with one line variable,group per variable and group. A variable
            /// is known by its name, or by its number from 1 if the data have no names; it may be in several groups. With groups,
            /// --nonzeros counts groups, and is 10 by default
            #[arg(long, value_name = "FILE")]
            pub(crate) groups: Option<PathBuf>,
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
                Ok(menet_io::edges::complete(params)?)
            }

            /// Resolved parameters with the groups of --groups, once the data have been read. Nothing else is read again: a pipe would be
            /// empty.
            pub(crate) fn grouped(&self, mut params: MenParams, data: &Dataset<'_>) -> Result<MenParams, Failure> {
                if let Some(file) = &self.groups {
                    params.groups = Some(menet_io::read_groups(file, data.feature_names(), data.variables())?);
                }
                Ok(params)
            }

            /// The files that are read, with their flags.
            pub(crate) fn files(&self) -> impl Iterator<Item = (&'static str, PathBuf)> {
                let files = [("--params", self.params.clone()), ("--groups", self.groups.clone())];
                files.into_iter().filter_map(|(flag, file)| Some((flag, file?)))
            }
        }

        #[cfg(test)]
        const FIELDS: &[&str] = &[$(stringify!($field)),*];
    };
}

// `help` replaces {choices} by the core's list, {lines} by a line per choice, and appends the default.
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
    /// The penalty on the coefficients of a path, one of{lines}
    penalty: String => |x| Named::from_name(&x)?,
    /// Shape of the penalty: a of scad (> 2), gamma of mcp (> 1) and of adaptive (> 0)
    penalty_shape: f64 => |x| Some(x),
    /// Epsilon of the penalties adaptive and reweighted, > 0, relative to the largest coefficient of the first fit
    penalty_epsilon: f64 => |x| Some(x),
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
    /// Whose covariance whitens the target, {choices}: labelled samples within their classes, or all samples
    target_spread: String => |x| Named::from_name(&x)?,
    /// What to do if the problem is not positive definite: {choices}
    definiteness: String => |x| Named::from_name(&x)?,
    /// Smallest eigenvalue allowed, in (0, 1]
    floor: f64 => |x| x,
    /// Solve on columns of length 1: true or false
    standardize: bool => |x| x,
    /// How missing values are filled, learned from the training samples: {choices}
    impute: String => |x| Some(Named::from_name(&x)?),
    /// Leave out variables that a larger fraction of the samples lacks, from 0 to 1; used with --impute
    max_missing: f64 => |x| x,
    /// How variables are scaled first: {choices}; unit divides by the standard deviation, pareto by its square root, log1p is for
    /// counts
    scale: String => |x| Named::from_name(&x)?,
    /// Divide by the standard deviation in the batch, too, with --batch: true or false
    batch_scale: bool => |x| x,
    /// Replace the data by their PCA reconstruction of this rank, >= 1
    pca_rank: usize => |x| Some(x),
    /// One factor per variable on its penalty, as 1,2,inf,...
    penalty_factors: Factors => |x| Some(x.0),
    /// Variables that are in every model, as age,sex; they have no penalty, and --nonzeros and --panel-size do not count them.
    /// Names, or numbers from 1 if the data have no names
    always: NameList => |x| Some(x.0),
    /// Variables that are in no model, as X1,X2. Names, or numbers from 1 if the data have no names
    never: NameList => |x| Some(x.0),
    /// Which variables are neighbours and should have similar weights: grid (images), chain (spectra), auto (grid for images, else
    /// chain), grid:HEIGHTxWIDTH, or a file of edges, one variable,variable[,weight] per line
    feature_graph: String => |x| Some(FeatureGraph::from_text(&x)),
    /// Weight of --feature-graph, >= 0; 1 is about as strong as the data
    graph_weight: f64 => |x| Some(x),
    /// Whether each axis chooses its own groups, or all axes choose together: {choices}; together without --groups makes every
    /// variable a group
    group_axes: String => |x| Named::from_name(&x)?,
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

fn read_params(path: &Path) -> Result<MenParams, Failure> {
    let text = whole::read_text(path, whole::PARAMETERS)?;
    toml::from_str(&text).map_err(|e| Failure::Usage(format!("{}: {e}", path.display())))
}

#[cfg(test)]
mod tests;
