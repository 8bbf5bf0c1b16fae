//! The model file: one safetensors file that holds a fitted model and its gallery.
//!
//! What is a list of numbers is a tensor; the rest is one JSON string under `menet` in the file's metadata. Lists of lists
//! are flat, with a tensor of offsets beside them.
//!
//! | tensor | shape | |
//! |---|---|---|
//! | `mean`, `units` | p | the mean of a variable; its weight in W a unit of solver coefficient |
//! | `w.offsets`, `w.indices`, `w.values` | d+1, nnz, nnz | the columns of W |
//! | `level`, `kkt` | d, d×2 | level and certificate (plain, scaled) of a column |
//! | `entry.offsets`, `entry.indices` | | variables in order of entry |
//! | `gallery`, `gallery.classes` | n×d, n | projected training samples and their classes |
//! | `gallery.fingerprints` | n | what the training samples are recognised by ([`crate::fingerprint`]); since version 2 |
//! | `names` | bytes | names of the variables, a JSON list; absent if they have none |
//! | `penalty_factors` | p | absent if none were given |
//! | `path.*` | | the knots of every path; absent if left out |
//!
//! The JSON begins with the version of the format and, since version 2, a checksum (CRC-32) of all the rest: the JSON with zeros
//! in the checksum's place, and every tensor's name, type, shape and bytes. Numbers are finite, but for penalty factors.

mod tensors;

use std::collections::HashMap;
use std::path::Path;

use faer::{Mat, MatRef};
use menet::lars::{self, Certificate, Ended, Knot};
use menet::men::{Component, MenParts};
use menet::reduction::DefinitenessReport;
use menet::regime::Regime;
use menet::sparse::SparseVector;
use menet::{Dataset, Men, MenParams, Stage};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::{atomic, fingerprint, memory};
use tensors::{Packer, Problem, Unpacker};

/// The version of the format that this code writes. It reads all from 1 on.
pub const VERSION: u32 = 2;

/// What stands in the checksum's place while it is computed.
const NO_CHECKSUM: &str = "00000000";

/// Where a model came from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// The version of menet that made it.
    pub menet: String,
    /// The data, as they were named.
    pub data: String,
    /// Number of training samples.
    pub samples: usize,
}

/// What the classes were, where they were not text, before their names were written down.
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

/// A fitted model with what nearest neighbour needs.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelFile {
    /// The model.
    pub men: Men,
    /// The projected training samples, n×d.
    pub gallery: Mat<f64>,
    /// Their classes.
    pub gallery_classes: Vec<usize>,
    /// What they are recognised by; none in a file of version 1.
    pub fingerprints: Vec<u64>,
    /// Where it came from.
    pub provenance: Provenance,
    /// What the class names stand for, if whoever fitted the model knew.
    pub label_kind: Option<LabelKind>,
}

/// The JSON part.
#[derive(Debug, Serialize, Deserialize)]
struct Header {
    format: u32,
    #[serde(default)]
    checksum: String,
    params: MenParams,
    classes: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    neighbor_recall: Option<f64>,
    definiteness: DefinitenessReport,
    #[serde(default)]
    regime: Option<Regime>,
    cg_residual: Option<f64>,
    seconds: Vec<(Stage, f64)>,
    image_shape: Option<(usize, usize)>,
    provenance: Provenance,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    label_kind: Option<LabelKind>,
}

/// What every version's JSON begins with.
#[derive(Deserialize)]
struct Version {
    format: u32,
    checksum: Option<String>,
}

impl ModelFile {
    /// A model and the training data it is to recognise by.
    ///
    /// # Errors
    /// When the data are not those of the model.
    pub fn new(men: Men, data: &Dataset<'_>, source: &str) -> Result<Self> {
        let gallery = men.projection().project(data)?;
        let provenance = Provenance {
            menet: env!("CARGO_PKG_VERSION").to_owned(),
            data: source.to_owned(),
            samples: data.samples(),
        };
        let gallery_classes = data.class_indices().to_vec();
        let fingerprints = fingerprint::of_data(data);
        Ok(ModelFile { men, gallery, gallery_classes, fingerprints, provenance, label_kind: None })
    }

    /// Which of these samples the model was fitted to; none if it does not know its own.
    pub fn seen(&self, fingerprints: &[u64]) -> Vec<bool> {
        let own: std::collections::HashSet<u64> = self.fingerprints.iter().copied().collect();
        fingerprints.iter().map(|sample| own.contains(sample)).collect()
    }

    /// The same model with only the first components. (A sparser one would need the training samples, of which only the
    /// projections are kept.)
    ///
    /// # Errors
    /// When there are not so many.
    pub fn at_components(&self, components: usize) -> Result<Self> {
        let men = self.men.at(None, Some(components))?;
        let gallery = self.gallery.subcols(0, components).to_owned();
        Ok(ModelFile { men, gallery, ..self.clone() })
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
    /// When it cannot be read, is not a model of this version, or does not hold together.
    pub fn load(path: &Path) -> Result<Self> {
        let mut file = std::fs::File::open(path).map_err(|e| Error::input(path, e))?;
        let bytes = memory::read_to_end(&mut file, path)?;
        Self::unpack(&bytes)
            .map_err(|problem| Error::input(path, format!("not a usable menet model: {problem}")))
    }

    /// The file's bytes, the same every time.
    ///
    /// # Errors
    /// When the model cannot be written down.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.pack().map_err(Error::Model)
    }

    /// From a file's bytes.
    ///
    /// # Errors
    /// When they are no model of this version, or do not hold together.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Self::unpack(bytes).map_err(|problem| Error::Model(format!("not a usable menet model: {problem}")))
    }

    fn pack(&self) -> std::result::Result<Vec<u8>, Problem> {
        let parts = self.men.parts();
        let mut pack = Packer::default();
        pack.floats("mean", &parts.mean);
        pack.floats("units", &parts.units);
        pack.sparse("w", parts.axes.iter());
        pack.floats("level", &parts.components.iter().map(|c| c.level).collect::<Vec<_>>());
        pack.certificates("kkt", parts.components.iter().map(|c| c.certificate));
        pack.lists("entry", parts.components.iter().map(|c| c.order_of_entry.as_slice()));
        let rows: Vec<f64> =
            self.gallery.row_iter().flat_map(|row| row.iter().copied().collect::<Vec<_>>()).collect();
        pack.matrix("gallery", &rows, self.gallery.ncols());
        pack.indices("gallery.classes", &self.gallery_classes);
        if !self.fingerprints.is_empty() {
            pack.words("gallery.fingerprints", self.fingerprints.iter().copied());
        }
        if let Some(names) = &parts.feature_names {
            pack.bytes("names", serde_json::to_vec(names).map_err(|e| e.to_string())?);
        }
        if let Some(factors) = &parts.params.penalty_factors {
            pack.floats("penalty_factors", factors);
        }
        if !parts.paths.is_empty() {
            pack_paths(&mut pack, &parts.paths);
        }
        let header = Header {
            format: VERSION,
            checksum: NO_CHECKSUM.to_owned(),
            // JSON knows no infinity: the factors are a tensor.
            params: MenParams { penalty_factors: None, ..parts.params.clone() },
            classes: parts.classes.clone(),
            neighbor_recall: parts.neighbor_recall,
            definiteness: parts.definiteness.clone(),
            regime: parts.regime.clone(),
            cg_residual: parts.cg_residual,
            seconds: parts.seconds.clone(),
            image_shape: parts.image_shape,
            provenance: self.provenance.clone(),
            label_kind: self.label_kind,
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
        if !(1..=VERSION).contains(&format) {
            return Err(format!("its format is version {format}, this menet reads versions 1 to {VERSION}"));
        }
        match checksum {
            None if format == 1 => {}
            None => return Err("its checksum is missing".to_owned()),
            Some(checksum) => {
                let found = unpack.checksum(&json.replacen(&checksum, NO_CHECKSUM, 1));
                if checksum != found {
                    let problem = "the file was changed or damaged after it was written";
                    return Err(format!("{problem}: its checksum is {found}, not {checksum}"));
                }
            }
        }
        let header: Header = serde_json::from_str(json).map_err(damaged)?;
        let mut params = header.params;
        if unpack.has("penalty_factors") {
            params.penalty_factors = Some(unpack.factors("penalty_factors")?);
        }
        let (levels, kkt) = (unpack.floats("level")?, unpack.certificates("kkt")?);
        let entries = unpack.lists("entry")?;
        if levels.len() != kkt.len() || levels.len() != entries.len() {
            return Err("levels, certificates and orders of entry are not equally many".to_owned());
        }
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
        let men = Men::from_parts(MenParts {
            params,
            mean: unpack.floats("mean")?,
            axes: unpack.sparse("w")?,
            components,
            paths: if unpack.has("path.level") { unpack_paths(&unpack)? } else { Vec::new() },
            units: unpack.floats("units")?,
            neighbor_recall: header.neighbor_recall,
            definiteness: header.definiteness,
            regime: header.regime,
            cg_residual: header.cg_residual,
            seconds: header.seconds,
            classes: header.classes,
            feature_names,
            image_shape: header.image_shape,
        })
        .map_err(|e| e.to_string())?;
        let d = men.projection().components();
        let (gallery, gallery_classes) = (unpack.floats("gallery")?, unpack.indices("gallery.classes")?);
        let n = gallery_classes.len();
        if n == 0 || gallery.len() != n * d {
            return Err(format!("{} values are no gallery of {n} samples in {d} dimensions", gallery.len()));
        }
        if gallery_classes.iter().any(|&class| class >= men.classes().len()) {
            return Err("a sample of the gallery has no class".to_owned());
        }
        let gallery = MatRef::from_row_major_slice(&gallery, n, d).to_owned();
        let fingerprints = match unpack.has("gallery.fingerprints") {
            true => unpack.words("gallery.fingerprints")?,
            false => Vec::new(),
        };
        let (provenance, label_kind) = (header.provenance, header.label_kind);
        Ok(ModelFile { men, gallery, gallery_classes, fingerprints, provenance, label_kind })
    }
}

/// Why a path ended, as numbers.
fn ended_code(ended: Ended) -> [usize; 2] {
    match ended {
        Ended::Complete => [0, 0],
        Ended::MaxNonzeros { needed } => [1, needed],
        Ended::LambdaMin => [2, 0],
        Ended::Dependent { variable } => [3, variable],
        Ended::Unbounded { variable } => [4, variable],
        Ended::Indefinite { variable } => [5, variable],
        _ => [6, 0],
    }
}

fn ended_from(code: usize, variable: usize) -> std::result::Result<Ended, Problem> {
    Ok(match code {
        0 => Ended::Complete,
        1 => Ended::MaxNonzeros { needed: variable },
        2 => Ended::LambdaMin,
        3 => Ended::Dependent { variable },
        4 => Ended::Unbounded { variable },
        5 => Ended::Indefinite { variable },
        6 => Ended::Stalled,
        other => return Err(format!("a path ended for reason {other}, which is unknown")),
    })
}

/// Paths alone as bytes, for those who keep them without a model.
///
/// # Errors
/// When they cannot be written down.
pub fn paths_to_bytes(paths: &[lars::Path]) -> Result<Vec<u8>> {
    let mut pack = Packer::default();
    pack_paths(&mut pack, paths);
    pack.finish(HashMap::new()).map_err(Error::Model)
}

/// Paths from what [`paths_to_bytes`] gave.
///
/// # Errors
/// When the bytes are no paths.
pub fn paths_from_bytes(bytes: &[u8]) -> Result<Vec<lars::Path>> {
    let paths = Unpacker::new(bytes).and_then(|(unpack, _)| unpack_paths(&unpack));
    paths.map_err(|problem| Error::Model(format!("not usable paths: {problem}")))
}

fn pack_paths(pack: &mut Packer, paths: &[lars::Path]) {
    let knots = || paths.iter().flat_map(lars::Path::knots);
    let counts: Vec<usize> = paths.iter().map(|path| path.knots().len()).collect();
    pack.indices("path.knots", &counts);
    pack.indices("path.ended", &paths.iter().flat_map(|path| ended_code(path.ended())).collect::<Vec<_>>());
    pack.indices("path.max", &paths.iter().map(|path| path.max_nonzeros().unwrap_or(0)).collect::<Vec<_>>());
    pack.floats("path.level", &knots().map(|knot| knot.level).collect::<Vec<_>>());
    pack.certificates("path.kkt", knots().map(|knot| knot.certificate));
    pack.sparse("path.w", knots().map(|knot| &knot.coefficients));
    pack.lists("path.entered", knots().map(|knot| knot.entered.as_slice()));
    pack.lists("path.left", knots().map(|knot| knot.left.as_slice()));
}

fn unpack_paths(unpack: &Unpacker<'_>) -> std::result::Result<Vec<lars::Path>, Problem> {
    let counts = unpack.indices("path.knots")?;
    let (ended, max) = (unpack.indices("path.ended")?, unpack.indices("path.max")?);
    let (levels, kkt) = (unpack.floats("path.level")?, unpack.certificates("path.kkt")?);
    let weights: Vec<SparseVector> = unpack.sparse("path.w")?;
    let (entered, left) = (unpack.lists("path.entered")?, unpack.lists("path.left")?);
    let total: usize = counts.iter().sum();
    let equal =
        [levels.len(), kkt.len(), weights.len(), entered.len(), left.len()].iter().all(|&n| n == total);
    if !equal || ended.len() != 2 * counts.len() || max.len() != counts.len() {
        return Err("the lists that make up its paths are not equally long".to_owned());
    }
    let mut knots =
        levels.into_iter().zip(kkt).zip(weights).zip(entered).zip(left).map(
            |((((level, certificate), coefficients), entered), left): ((((f64, Certificate), _), _), _)| {
                Knot { level, coefficients, entered, left, certificate }
            },
        );
    counts
        .iter()
        .enumerate()
        .map(|(k, &count)| {
            let ended = ended_from(ended[2 * k], ended[2 * k + 1])?;
            let max_nonzeros = Some(max[k]).filter(|&max| max > 0);
            lars::Path::from_knots(knots.by_ref().take(count).collect(), ended, max_nonzeros)
                .map_err(|e| e.to_string())
        })
        .collect()
}
