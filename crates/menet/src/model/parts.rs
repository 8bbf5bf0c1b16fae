//! Everything a model is made of.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::lars::{Certificate, Path};
use crate::panel;
use crate::params::MenParams;
use crate::prepare::Preparation;
use crate::projection::Projection;
use crate::refit::{Refit, RefitProblem, RefitReport};
use crate::report::FitReport;
use crate::rules::LearnedRule;

/// What is known of the path of one axis besides the axis read off it.
#[derive(Debug, Clone, PartialEq)]
pub struct Component {
    /// The level λ at which its path was read.
    pub level: f64,
    /// The worst certificate over its path.
    pub certificate: Certificate,
    /// The variables of its path in the order in which they first entered.
    pub order_of_entry: Vec<usize>,
}

impl From<&Path> for Component {
    fn from(path: &Path) -> Self {
        let (level, certificate) = (path.last().level, path.certificate());
        Component { level, certificate, order_of_entry: path.order_of_entry() }
    }
}

/// A variable of the panel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PanelVariable {
    /// Its position.
    pub variable: usize,
    /// Its standard deviation in the training samples; none if that is not known.
    pub deviation: Option<f64>,
    /// Its smallest and its largest value in the training samples, prepared as the model prepares them; none if that is not known.
    pub range: Option<(f64, f64)>,
    /// Its mean in every class, by itself: less the mean of all samples, over its standard deviation. Empty if that is not known.
    pub class_means: Vec<f64>,
    /// The class towards which a larger value moves a sample while all other variables stay as they are: the class whose centre its weights
    /// point to most; none if that is not known. It need not be the class with the largest mean.
    pub class: Option<usize>,
}

impl PanelVariable {
    /// A variable of which nothing else is known.
    pub(crate) fn unknown(variable: usize) -> Self {
        PanelVariable { variable, deviation: None, range: None, class_means: Vec::new(), class: None }
    }
}

/// Everything a [`Men`](super::Men) is made of, for code that stores models.
///
/// [`Self::new`] makes them; set what is known beyond that.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct MenParts {
    /// The parameters of the fit.
    pub params: MenParams,
    /// How samples are prepared before they are projected; none if they are taken as they are.
    pub preparation: Option<Preparation>,
    /// The mean of every variable, and the columns of W, in the user's units, or in those of prepared samples.
    pub projection: Projection,
    /// One per path.
    pub components: Vec<Component>,
    /// The path of every axis, in the solver's units; empty if they were left out.
    pub paths: Vec<Path>,
    /// The reduced problem at the variables that the paths reached, for refits that solve it again; none if it was left out.
    pub reached: Option<RefitProblem>,
    /// What the refit did.
    pub refit: RefitReport,
    /// The distinct variables that the axes use, rising; what is known of each from the training samples may be missing.
    pub panel: Vec<PanelVariable>,
    /// The rule that decides in the projected space; none for a model that was made smaller without its training samples.
    pub rule: Option<LearnedRule>,
    /// What turns a path's coefficient of a variable into its weight in W.
    pub units: Vec<f64>,
    /// What the fit found and did.
    pub report: FitReport,
    /// Class names, sorted.
    pub classes: Vec<String>,
    /// Names of the variables, if the data had any.
    pub feature_names: Option<Vec<String>>,
    /// Height and width of the images, if the samples are known to be images.
    pub image_shape: Option<(usize, usize)>,
}

impl MenParts {
    /// A model that projects. `units` is what turns a path's coefficient of a variable into its weight in W.
    pub fn new(
        params: MenParams,
        projection: Projection,
        units: Vec<f64>,
        components: Vec<Component>,
        report: FitReport,
        classes: Vec<String>,
    ) -> Self {
        let panel: Vec<PanelVariable> =
            panel::union(projection.axes()).into_iter().map(PanelVariable::unknown).collect();
        let candidates = panel.len();
        MenParts {
            params,
            preparation: None,
            projection,
            components,
            paths: Vec::new(),
            reached: None,
            refit: RefitReport { refit: Refit::None, candidates, residual: None, shrinkage: None },
            panel,
            rule: None,
            units,
            report,
            classes,
            feature_names: None,
            image_shape: None,
        }
    }

    /// Refuses parts that do not fit together.
    pub(super) fn check(&self) -> Result<()> {
        let (p, d) = (self.projection.variables(), self.projection.components());
        let size = |what, given: usize, expected: usize, of: &str| {
            let why = format!("the model has {expected} {of}");
            if given == expected { Ok(()) } else { Err(Error::Size { what, given, expected, why }) }
        };
        if p == 0 || d == 0 {
            return Err(Error::Empty { rows: d, columns: p });
        }
        self.params.check(p)?;
        self.report.check(p)?;
        size("`units`", self.units.len(), p, "variables")?;
        if let Some(preparation) = &self.preparation {
            preparation.check(p)?;
        }
        if !self.paths.is_empty() {
            size("`paths`", self.paths.len(), self.components.len(), "axes that were fitted")?;
        }
        if let Some(rule) = &self.rule {
            size("the rule's space", rule.dimension(), d, "axes")?;
            size("the rule's classes", rule.class_count(), self.classes.len(), "classes")?;
        }
        let used = panel::union(self.projection.axes());
        let listed: Vec<usize> = self.panel.iter().map(|row| row.variable).collect();
        if used != listed {
            return Err(Error::parameter(
                "panel",
                format!("{listed:?}"),
                format!("{used:?}, as the axes use"),
            ));
        }
        let count = self.classes.len();
        if let Some(class) = self.panel.iter().filter_map(|row| row.class).find(|&class| class >= count) {
            return Err(Error::parameter(
                "panel",
                format!("for class {class}"),
                format!("for classes below {count}"),
            ));
        }
        let ranges = self.panel.iter().filter_map(|row| row.range);
        if let Some((low, high)) = ranges.into_iter().find(|(low, high)| low > high || (low + high).is_nan())
        {
            return Err(Error::parameter("panel", format!("values from {low:?} to {high:?}"), "rising ends"));
        }
        for row in self.panel.iter().filter(|row| !row.class_means.is_empty()) {
            size("the class means of a variable", row.class_means.len(), count, "classes")?;
        }
        if let Some(names) = &self.feature_names {
            size("`feature_names`", names.len(), p, "variables")?;
        }
        if let Some((height, width)) = self.image_shape {
            size("an image", height.saturating_mul(width), p, "variables")?;
        }
        let used = self
            .paths
            .iter()
            .flat_map(Path::knots)
            .flat_map(|knot| knot.coefficients.indices().iter().chain(&knot.entered).chain(&knot.left));
        let used = used.chain(self.components.iter().flat_map(|component| &component.order_of_entry));
        let used = used.chain(self.paths.iter().flat_map(Path::free));
        let last = self.paths.iter().filter_map(|path| path.ended().variable());
        let used = used.copied().chain(last);
        if let Some(index) = used.max().filter(|&index| index >= p) {
            return Err(Error::parameter("paths", format!("variable {index}"), format!("below {p}")));
        }
        Ok(())
    }
}
