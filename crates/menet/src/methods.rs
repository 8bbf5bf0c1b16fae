//! What MEN and its baselines have in common: data in, a projection out.
//!
//! To add a method: a type that implements [`Reducer`] (one file in `baselines/`), and one line in the list at the end of
//! `methods!` below. The command, the lab, Python and the contract tests follow from [`Method::all`].

use std::any::Any;

use faer::Mat;
use serde::{Deserialize, Serialize};

use crate::baselines::{Dla, Flda, Lpp, Npe, Pca, Spca, Spg};
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::fit::fit_at_most;
use crate::lars::Path;
use crate::monitor::Monitor;
use crate::numerics::sparse::SparseVector;
use crate::panel::SizeLimits;
use crate::penalties::PenaltyKind;
use crate::penalties::feature_graph::FeatureGraph;
use crate::prepare::{Preparation, PrepareParams};
use crate::projection::Projection;
use crate::{Men, MenParams};

/// A method of dimension reduction with its parameters.
pub trait Reducer: Sync + std::fmt::Debug {
    /// The name by which it is chosen.
    fn name(&self) -> &'static str;

    /// One line for help texts.
    fn summary(&self) -> &'static str;

    /// Refuses parameters that are out of range for `variables` variables.
    ///
    /// # Errors
    /// Naming the parameter, its value and what is allowed.
    fn check(&self, variables: usize) -> Result<()>;

    /// Learns at most `components` axes, or fewer if the method has fewer. None: as many as the method has, or as its own
    /// parameters say. The first axes do not depend on how many are asked for, except for sparse PCA.
    ///
    /// # Errors
    /// When a parameter is out of range, there is nothing to learn, a decomposition fails, or `monitor` asks to stop.
    fn fit(
        &self,
        data: &Dataset<'_>,
        components: Option<usize>,
        monitor: &dyn Monitor,
    ) -> Result<LearnedReduction>;
}

/// What a method learned.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LearnedReduction {
    /// How samples are prepared before they are projected; none if they are taken as they are.
    pub preparation: Option<Preparation>,
    /// The projection, best axes first.
    pub projection: Projection,
    /// What a careful user should know about the fit.
    pub remarks: Vec<String>,
    /// What did not converge, if an iteration stopped early.
    pub unsettled: Option<String>,
    /// This fit at every smaller number of variables, for methods with paths.
    pub(crate) sparser: Option<SparserFits>,
}

/// A fit that holds every smaller number of variables.
#[derive(Debug, Clone)]
pub(crate) enum SparserFits {
    /// A model of MEN.
    Men(Box<Men>),
    /// The paths of another method.
    Paths(SparsePaths),
}

/// One path per axis, and how to read it.
#[derive(Debug, Clone)]
pub(crate) struct SparsePaths {
    /// The mean of every variable.
    pub(crate) mean: Vec<f64>,
    /// What turns a path's coefficient of a variable into its weight.
    pub(crate) units: Vec<f64>,
    /// The paths.
    pub(crate) paths: Vec<Path>,
}

impl From<Projection> for LearnedReduction {
    fn from(projection: Projection) -> Self {
        LearnedReduction {
            preparation: None,
            projection,
            remarks: Vec::new(),
            unsettled: None,
            sparser: None,
        }
    }
}

impl LearnedReduction {
    /// From paths. The axes end before the first that uses no variable.
    ///
    /// # Errors
    /// When the first already does.
    pub(crate) fn from_paths(mut paths: SparsePaths) -> Result<Self> {
        let used = |path: &Path| path.last().coefficients.nonzeros() > 0;
        let first_empty = paths.paths.iter().position(|path| !used(path)).unwrap_or(paths.paths.len());
        paths.paths.truncate(first_empty);
        if first_empty == 0 {
            return Err(Error::Degenerate("the first axis uses no variable".to_owned()));
        }
        let projection = paths.at(usize::MAX)?;
        Ok(LearnedReduction { sparser: Some(SparserFits::Paths(paths)), ..projection.into() })
    }

    /// The projection with at most `nonzeros` variables per path, learned from the same `training` samples; none for methods
    /// without paths. If ties leave an axis without variables, it and all later axes are left out. For MEN, which refits its
    /// axes, that is an error ([`Men::at`]).
    ///
    /// # Errors
    /// When the fit does not reach so far, or [`Men::at`] refuses.
    pub fn at_nonzeros(&self, nonzeros: usize, training: &Dataset<'_>) -> Result<Option<Projection>> {
        match &self.sparser {
            None => Ok(None),
            Some(SparserFits::Paths(paths)) => paths.at(nonzeros).map(Some),
            Some(SparserFits::Men(men)) => {
                let reading =
                    SizeLimits { nonzeros: Some(nonzeros.min(men.nonzeros())), ..SizeLimits::default() };
                men.at(reading, Some(training)).map(|men| Some(men.projection().clone()))
            }
        }
    }

    /// Projects samples, prepared as the training samples were.
    ///
    /// # Errors
    /// As [`Projection::transform`], or when samples cannot be prepared.
    pub fn project(&self, data: &Dataset<'_>) -> Result<Mat<f64>> {
        match &self.preparation {
            Some(preparation) => self.projection.project(&preparation.prepare(data)?),
            None => self.projection.project(data),
        }
    }

    /// The model, if the method is MEN.
    pub fn men(&self) -> Option<&Men> {
        match &self.sparser {
            Some(SparserFits::Men(men)) => Some(men),
            _ => None,
        }
    }
}

impl SparsePaths {
    fn at(&self, nonzeros: usize) -> Result<Projection> {
        let weights = |coefficients: &SparseVector| coefficients.map(|j, value| value * self.units[j]);
        Projection::new(self.mean.clone(), axes_of(&self.paths, nonzeros, weights)?)
    }
}

/// The axes of paths read at `nonzeros`, up to the first that is empty.
fn axes_of(
    paths: &[Path],
    nonzeros: usize,
    weights: impl Fn(&SparseVector) -> SparseVector,
) -> Result<Vec<SparseVector>> {
    let mut axes = Vec::with_capacity(paths.len());
    for path in paths {
        let reach = path.max_nonzeros().unwrap_or(usize::MAX);
        let point = path.at_nonzeros(nonzeros.min(reach))?;
        if point.coefficients.nonzeros() == 0 {
            break;
        }
        axes.push(weights(&point.coefficients));
    }
    Ok(axes)
}

impl Reducer for MenParams {
    fn name(&self) -> &'static str {
        match self.penalty.kind {
            _ if self.manifold.alpha == 0.0 => "men-alpha0",
            PenaltyKind::L1 if self.penalty.feature_graph.is_some() => "men-graph",
            PenaltyKind::L1 if self.is_papers() => "men-paper",
            PenaltyKind::L1 => "men",
            PenaltyKind::Adaptive => "men-adaptive",
            PenaltyKind::Reweighted => "men-reweighted",
            PenaltyKind::Scad => "men-scad",
            PenaltyKind::Mcp => "men-mcp",
            PenaltyKind::L0 => "men-l0",
        }
    }

    fn summary(&self) -> &'static str {
        match self.penalty.kind {
            _ if self.manifold.alpha == 0.0 => {
                "MEN without its manifold term: the elastic net on the class target alone"
            }
            PenaltyKind::L1 if self.penalty.feature_graph.is_some() => {
                "MEN with a graph over the variables: axes become connected regions"
            }
            PenaltyKind::L1 if self.is_papers() => "MEN as in the paper: no refit, nearest neighbour",
            PenaltyKind::L1 => "manifold elastic net: sparse axes that keep classes together and apart",
            PenaltyKind::Adaptive => "MEN with weights from a first fit",
            PenaltyKind::Reweighted => "MEN with weights from the fit before, in rounds",
            PenaltyKind::Scad => "MEN with the smoothly clipped absolute deviation",
            PenaltyKind::Mcp => "MEN with the minimax concave penalty",
            PenaltyKind::L0 => "MEN with the best subset of variables per axis",
        }
    }

    fn check(&self, variables: usize) -> Result<()> {
        MenParams::check(self, variables)
    }

    fn fit(
        &self,
        data: &Dataset<'_>,
        components: Option<usize>,
        monitor: &dyn Monitor,
    ) -> Result<LearnedReduction> {
        let most = data.variables().min(data.classes().len().saturating_sub(1)).max(1);
        let components = components.or(self.components).map(|asked| asked.min(most));
        let men = fit_at_most(data, &MenParams { components, ..self.clone() }, monitor)?;
        let (projection, preparation) = (men.projection().clone(), men.preparation().cloned());
        Ok(LearnedReduction {
            preparation,
            sparser: Some(SparserFits::Men(Box::new(men))),
            ..projection.into()
        })
    }
}

/// MEN with another penalty.
fn penalised(penalty: PenaltyKind) -> MenParams {
    MenParams::default().with(|it| it.penalty.kind = penalty)
}

macro_rules! methods {
    ($($variant:ident($kind:ty) $name:literal = $default:expr,)*) => {
        /// Every method with its parameters; in a file, a table under the method's name.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        pub enum Method {
            $(#[doc = concat!("`", $name, "`")] #[serde(rename = $name)] $variant($kind),)*
        }

        impl Method {
            /// Every method with its default parameters.
            pub fn all() -> Vec<Method> {
                vec![$(Method::$variant($default)),*]
            }

            /// The name by which it is chosen.
            pub fn name(&self) -> &'static str {
                match self { $(Method::$variant(_) => $name),* }
            }

            /// The method as a `Reducer`.
            pub fn reducer(&self) -> &dyn Reducer {
                match self { $(Method::$variant(reducer) => reducer),* }
            }

            /// The parameters, if it is MEN or one of its variants.
            pub fn men(&self) -> Option<&MenParams> {
                match self { $(Method::$variant(params) => (params as &dyn Any).downcast_ref()),* }
            }

            /// This variant of MEN with other parameters; any other method as it is.
            #[must_use]
            pub fn with_men(mut self, params: MenParams) -> Method {
                let own = match &mut self { $(Method::$variant(own) => (own as &mut dyn Any).downcast_mut()),* };
                if let Some(own) = own {
                    *own = params;
                }
                self
            }
        }
    };
}

methods! {
    Men(MenParams) "men" = MenParams::default(),
    MenPaper(MenParams) "men-paper" = MenParams::paper(),
    Dla(Dla) "dla" = Dla::default(),
    Slpp(Lpp) "slpp" = Lpp::default(),
    Npe(Npe) "npe" = Npe::default(),
    Flda(Flda) "flda" = Flda::default(),
    Pca(Pca) "pca" = Pca::default(),
    Spca(Spca) "spca" = Spca::default(),
    MenAlpha0(MenParams) "men-alpha0" = MenParams::default().with(|it| it.manifold.alpha = 0.0),
    MenAdaptive(MenParams) "men-adaptive" = penalised(PenaltyKind::Adaptive),
    MenReweighted(MenParams) "men-reweighted" = penalised(PenaltyKind::Reweighted),
    MenScad(MenParams) "men-scad" = penalised(PenaltyKind::Scad),
    MenMcp(MenParams) "men-mcp" = penalised(PenaltyKind::Mcp),
    MenL0(MenParams) "men-l0" = penalised(PenaltyKind::L0),
    Lpp(Lpp) "lpp" = Lpp { supervised: false, ..Lpp::default() },
    Unpe(Npe) "unpe" = Npe { supervised: false, ..Npe::default() },
    Spg(Spg) "spg" = Spg::default(),
    MenGraph(MenParams) "men-graph" = MenParams::default().with(|it| it.penalty.feature_graph = Some(FeatureGraph::Auto)),
}

impl Method {
    /// Fits it to samples that are prepared first. MEN and its variants do that by their own parameters.
    ///
    /// # Errors
    /// As [`Reducer::fit`], or when samples cannot be prepared.
    pub fn fit(
        &self,
        prepare: &PrepareParams,
        data: &Dataset<'_>,
        components: Option<usize>,
        monitor: &dyn Monitor,
    ) -> Result<LearnedReduction> {
        if self.men().is_some() {
            return self.reducer().fit(data, components, monitor);
        }
        match Preparation::of(data, prepare)? {
            None => self.reducer().fit(data, components, monitor),
            Some((preparation, data)) => Ok(LearnedReduction {
                preparation: Some(preparation),
                ..self.reducer().fit(&data, components, monitor)?
            }),
        }
    }

    /// The method called `name` with its default parameters.
    ///
    /// # Errors
    /// When there is none; the message lists those there are.
    pub fn from_name(name: &str) -> Result<Method> {
        let all = Method::all();
        let names: Vec<&str> = all.iter().map(Method::name).collect();
        let at = names.iter().position(|&known| known == name).ok_or_else(|| {
            Error::parameter("method", format!("\"{name}\""), format!("one of {}", names.join(", ")))
        })?;
        Ok(all[at].clone())
    }
}
