//! The model file: one safetensors file that holds a fitted model and the rule that decides by it.
//!
//! Lists of numbers are tensors. The rest is one JSON string under `menet` in the file's metadata. Lists of lists
//! are flat, with a tensor of offsets.
//!
//! | tensor | shape | |
//! |---|---|---|
//! | `mean`, `units` | p | the mean of a variable; its weight in W per unit of solver coefficient |
//! | `w.offsets`, `w.indices`, `w.values` | d+1, nnz, nnz | the columns of W |
//! | `level`, `kkt` | paths, paths×2 | level and certificate (plain, scaled) per path |
//! | `entry.offsets`, `entry.indices` | | variables of a path in order of entry |
//! | `panel.variables` | m | the distinct variables that W uses |
//! | `panel.deviations`, `panel.classes` | m | their standard deviations, −1 if unknown; the classes they favour, c if unknown |
//! | `panel.ranges`, `panel.class_means` | m×2, m×c | their ends, and their standardised class means; absent if unknown |
//! | `rule.*` | | the parameters of the rule, see below |
//! | `gallery`, `gallery.classes` | n×d, n | projected training samples and their classes; rule `nearest` only |
//! | `gallery.fingerprints` | n | one number per training sample, to recognise it ([`crate::fingerprint`]) |
//! | `names` | bytes | names of the variables, a JSON list; absent if they have none |
//! | `penalty_factors` | p | absent if none were given |
//! | `prepare.*` | | what samples are prepared with before they are projected, see `model/preparation.rs`; absent if they are not |
//! | `path.*` | | the knots of every path; absent if left out |
//! | `reached.variables`, `reached.gram`, `reached.b` | r, r×r, r×paths | the reduced problem at the variables that the paths reached; only in [`ModelFile::to_bytes_complete`] |
//!
//! | rule | its tensors |
//! |---|---|
//! | `nearest` | `gallery`, `gallery.classes`; `rule.temperature` (1); `rule.shifts` (c), which priors add to the classes |
//! | `centroid` | `rule.means` (c×d), `rule.variance` (1), `rule.log_priors` (c), `rule.temperature` (1) |
//! | `gaussian` | `rule.means` (c×d), `rule.covariance` (d×d), `rule.log_priors` (c), `rule.temperature` (1) |
//!
//! The JSON begins with the version of the format and a checksum (CRC-32) of all the rest: the JSON with zeros
//! in the place of the checksum, and the name, type, shape and bytes of every tensor. All numbers are finite except penalty factors and
//! missing values of `prepare.*`.

mod check;
mod panel;
mod paths;
mod preparation;
mod rule;
mod tensors;

use std::collections::HashMap;
use std::path::Path;

use menet::refit::RefitReport;
use menet::{Component, Dataset, FitReport, Men, MenParams, MenParts, Projection, SizeLimits};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, short};
use crate::{atomic, fingerprint, memory, whole};
use panel::{pack_panel, pack_reached, unpack_panel, unpack_reached};
use paths::{pack_paths, unpack_paths};
use preparation::{pack_preparation, unpack_preparation};
use rule::{pack_rule, unpack_rule};
use tensors::{Packer, Problem, Unpacker};

pub use paths::{paths_from_bytes, paths_to_bytes};

/// The version of the format that this code writes and reads.
pub const VERSION: u32 = 4;

/// The placeholder of the checksum while it is computed.
const NO_CHECKSUM: &str = "00000000";

/// Where a model came from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// The version of menet that made it.
    pub menet: String,
    /// The data, as the user named them.
    pub data: String,
    /// Number of training samples.
    pub samples: usize,
}

/// The type that the classes had before they became text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LabelKind {
    /// Text.
    Text,
    /// Whole numbers.
    Integer,
    /// Numbers.
    Number,
    /// Truth values, `False` and `True`.
    Boolean,
}

impl LabelKind {
    /// Refuses a class that is not of this type: other programs get it without quotation marks.
    pub(crate) fn check(self, class: &str) -> std::result::Result<(), Problem> {
        let (sound, allowed) = match self {
            LabelKind::Text => (true, ""),
            LabelKind::Integer => {
                let number = class.parse::<i128>().ok().filter(|number| number.to_string() == class);
                let range = i128::from(i64::MIN)..=i128::from(u64::MAX);
                (number.is_some_and(|number| range.contains(&number)), "a whole number of 64 bits")
            }
            LabelKind::Number => (class.parse().is_ok_and(f64::is_finite), "a finite number"),
            LabelKind::Boolean => (["False", "True"].contains(&class), "False or True"),
        };
        if sound {
            Ok(())
        } else {
            Err(format!("the class {:?} is not {allowed}, but its kind says so", short(class)))
        }
    }
}

/// A fitted model and its origin.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelFile {
    /// The model, with its rule.
    pub men: Men,
    /// One number per training sample, to recognise it; empty for a model of its panel alone.
    pub fingerprints: Vec<u64>,
    /// Where it came from.
    pub provenance: Provenance,
    /// The type that the class names stand for, if known.
    pub label_kind: Option<LabelKind>,
}

/// The JSON part.
#[derive(Debug, Serialize, Deserialize)]
struct Header {
    format: u32,
    checksum: String,
    params: MenParams,
    classes: Vec<String>,
    report: FitReport,
    refit: RefitReport,
    image_shape: Option<(usize, usize)>,
    provenance: Provenance,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    label_kind: Option<LabelKind>,
    /// None for a model that takes samples as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    preparation: Option<preparation::PreparationEntry>,
    /// None for a model that cannot decide.
    rule: Option<rule::RuleEntry>,
}

/// The beginning of the JSON in every version.
#[derive(Deserialize)]
struct Version {
    format: u32,
    checksum: Option<String>,
}

impl ModelFile {
    /// A model, and the training data that it should recognise.
    ///
    /// # Errors
    /// When the data have another number of variables.
    pub fn new(men: Men, data: &Dataset<'_>, source: &str) -> Result<Self> {
        let (given, expected) = (data.variables(), men.projection().variables());
        if given != expected {
            let why = format!("the model was learned from {expected} variables");
            return Err(menet::Error::Size { what: "a sample", given, expected, why }.into());
        }
        let provenance = Provenance {
            menet: env!("CARGO_PKG_VERSION").to_owned(),
            data: source.to_owned(),
            samples: data.samples(),
        };
        Ok(ModelFile { men, fingerprints: fingerprint::of_data(data), provenance, label_kind: None })
    }

    /// Which of these samples the model was fitted to; all false if it does not store fingerprints.
    pub fn seen(&self, fingerprints: &[u64]) -> Vec<bool> {
        let own: std::collections::HashSet<u64> = self.fingerprints.iter().copied().collect();
        fingerprints.iter().map(|sample| own.contains(sample)).collect()
    }

    /// This model with only the first axes. (A sparser model would need the training samples, which are not stored.)
    ///
    /// # Errors
    /// When there are fewer axes, or the model has a refit, which needs the training samples.
    pub fn at_components(&self, components: usize) -> Result<Self> {
        let reading = SizeLimits::default().with(|it| it.components = Some(components));
        Ok(ModelFile { men: self.men.at(reading, None)?, ..self.clone() })
    }

    /// Writes the file, whole or not at all.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save(&self, path: &Path) -> Result<()> {
        let bytes = self.to_bytes()?;
        atomic::write(path, |out| out.write_all(&bytes))
    }

    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read, is not a model of a known version, or is inconsistent.
    pub fn load(path: &Path) -> Result<Self> {
        let bytes = memory::read_to_end(&mut whole::open(path)?, path)?;
        Self::unpack(&bytes)
            .map_err(|problem| Error::input(path, format!("not a usable menet model: {problem}")))
    }

    /// The bytes of the file, the same every time.
    ///
    /// # Errors
    /// When the model cannot be serialised.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.pack(false).map_err(Error::Model)
    }

    /// The bytes of a file that also holds the reduced problem at the variables that the paths reached, which
    /// [`Men::at`] needs for the refits `axis` and `panel`. It grows with the square of their number.
    ///
    /// # Errors
    /// When the model cannot be serialised.
    pub fn to_bytes_complete(&self) -> Result<Vec<u8>> {
        self.pack(true).map_err(Error::Model)
    }

    /// From the bytes of a file.
    ///
    /// # Errors
    /// When they are not a model of a known version, or are inconsistent.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Self::unpack(bytes).map_err(|problem| Error::Model(format!("not a usable menet model: {problem}")))
    }

    fn pack(&self, complete: bool) -> std::result::Result<Vec<u8>, Problem> {
        let parts = self.men.parts();
        let mut pack = Packer::default();
        pack.floats("mean", parts.projection.mean());
        pack.floats("units", &parts.units);
        pack.sparse("w", parts.projection.axes().iter());
        pack.floats("level", &parts.components.iter().map(|c| c.level).collect::<Vec<_>>());
        pack.certificates("kkt", parts.components.iter().map(|c| c.certificate));
        pack.lists("entry", parts.components.iter().map(|c| c.order_of_entry.as_slice()));
        pack_panel(&mut pack, &parts.panel, parts.classes.len());
        let rule = parts.rule.as_ref().map(|rule| pack_rule(&mut pack, rule));
        if let Some(reached) = parts.reached.as_ref().filter(|_| complete) {
            pack_reached(&mut pack, reached);
        }
        if !self.fingerprints.is_empty() {
            pack.words("gallery.fingerprints", self.fingerprints.iter().copied());
        }
        if let Some(names) = &parts.feature_names {
            pack.bytes("names", serde_json::to_vec(names).map_err(|e| e.to_string())?);
        }
        if let Some(factors) = &parts.params.penalty.factors {
            pack.floats("penalty_factors", factors);
        }
        if !parts.paths.is_empty() {
            pack_paths(&mut pack, &parts.paths);
        }
        let preparation = parts.preparation.as_ref().map(|learned| pack_preparation(&mut pack, learned));
        let header = Header {
            format: VERSION,
            checksum: NO_CHECKSUM.to_owned(),
            // JSON has no infinity, so the factors are a tensor.
            params: parts.params.clone().with(|it| it.penalty.factors = None),
            classes: parts.classes.clone(),
            report: parts.report.clone(),
            refit: parts.refit,
            image_shape: parts.image_shape,
            provenance: self.provenance.clone(),
            label_kind: self.label_kind,
            preparation,
            rule,
        };
        let json = serde_json::to_string(&header).map_err(|e| e.to_string())?;
        let json = json.replacen(NO_CHECKSUM, &pack.checksum(&json), 1);
        pack.finish(HashMap::from([("menet".to_owned(), json)]))
    }

    fn unpack(bytes: &[u8]) -> std::result::Result<Self, Problem> {
        let (unpack, metadata) = Unpacker::new(bytes)?;
        let json = metadata.get("menet").ok_or("a safetensors file, but without menet's metadata")?;
        let damaged = |e: serde_json::Error| format!("its metadata are damaged: {e}");
        let Version { format, checksum } = serde_json::from_str(json).map_err(damaged)?;
        if format != VERSION {
            let next = if format > VERSION { "use a newer menet" } else { "fit the model again" };
            return Err(format!(
                "its format is version {format}, but this menet reads version {VERSION}; {next}"
            ));
        }
        let checksum = checksum.ok_or("its checksum is missing")?;
        let found = unpack.checksum(&json.replacen(&checksum, NO_CHECKSUM, 1));
        if checksum != found {
            let problem = "the file was changed or damaged after it was written";
            return Err(format!("{problem}: its checksum is {found}, not {checksum}"));
        }
        let header: Header = serde_json::from_str(json).map_err(damaged)?;
        header.check(unpack.floats("mean")?.len())?;
        let mut params = header.params;
        if unpack.has("penalty_factors") {
            params.penalty.factors = Some(unpack.factors("penalty_factors")?);
        }
        let (levels, kkt) = (unpack.floats("level")?, unpack.certificates("kkt")?);
        let entries = unpack.lists("entry")?;
        if levels.len() != kkt.len() || levels.len() != entries.len() {
            return Err("there are different numbers of levels, certificates and orders of entry".to_owned());
        }
        let reached = unpack_reached(&unpack, unpack.floats("mean")?.len(), levels.len())?;
        let components = levels
            .into_iter()
            .zip(kkt)
            .zip(entries)
            .map(|((level, certificate), order_of_entry)| Component { level, certificate, order_of_entry })
            .collect();
        let feature_names = match unpack.has("names") {
            true => Some(serde_json::from_slice(unpack.bytes("names")?).map_err(damaged)?),
            false => None,
        };
        let axes = unpack.sparse("w")?;
        let (d, classes) = (axes.len(), header.classes.len());
        let rule = header.rule.as_ref().map(|words| unpack_rule(&unpack, words, d)).transpose()?;
        let panel = unpack_panel(&unpack, classes)?;
        let text = |e: menet::Error| e.to_string();
        let projection = Projection::new(unpack.floats("mean")?, axes).map_err(text)?;
        let units = unpack.floats("units")?;
        let mut parts = MenParts::new(params, projection, units, components, header.report, header.classes);
        if let Some(words) = header.preparation {
            parts.preparation = Some(unpack_preparation(&unpack, words, parts.units.len())?);
        }
        if unpack.has("path.level") {
            parts.paths = unpack_paths(&unpack)?;
        }
        (parts.refit, parts.panel) = (header.refit, panel);
        (parts.reached, parts.rule) = (reached, rule);
        (parts.feature_names, parts.image_shape) = (feature_names, header.image_shape);
        parts.params.factors(parts.feature_names.as_deref(), parts.units.len()).map_err(text)?;
        let men = Men::from_parts(parts).map_err(text)?;
        let fingerprints = match unpack.has("gallery.fingerprints") {
            true => unpack.words("gallery.fingerprints")?,
            false => Vec::new(),
        };
        let (provenance, label_kind) = (header.provenance, header.label_kind);
        Ok(ModelFile { men, fingerprints, provenance, label_kind })
    }
}
