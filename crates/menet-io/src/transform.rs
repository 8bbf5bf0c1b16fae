//! Projecting data larger than memory: blocks are read, projected and written one at a time.

use std::path::Path;

use menet::{Men, Monitor, Stage};

use crate::blocks::BlockReader;
use crate::error::{Error, Result};
use crate::formats::ReadOptions;
use crate::formulas;
use crate::missing::{Missing, for_model};
use crate::needs::TableModel;
use crate::write::BlockWriter;

/// What was projected.
#[derive(Debug, Clone, Default)]
pub struct TransformReport {
    /// Number of samples.
    pub samples: usize,
    /// Notices for the user about how they were read and written.
    pub notices: Vec<String>,
}

/// Projects data with a model and writes the same file as [`crate::write::matrix`] would for the whole, whatever the size of the
/// blocks, with the names of the samples if they have any. `fill` fills missing values with the mean of the training data, for a model
/// that does not fill them itself. `block_bytes` is usually [`crate::blocks::BLOCK`].
///
/// # Errors
/// When the data are invalid, do not match the model, or lack values, the file cannot be written, or `monitor` asks to stop.
/// No file is left then.
pub fn transform(
    men: &Men,
    source: &str,
    options: &ReadOptions,
    fill: bool,
    out: &Path,
    block_bytes: usize,
    monitor: &dyn Monitor,
) -> Result<TransformReport> {
    // An svmlight file may lack the last variables: they are 0.
    let least_columns = men.projection().variables();
    let fitted = TableModel::new(men)?;
    let as_it_is = ReadOptions { least_columns, needs: fitted.needs(), ..options.clone() };
    let mut reader = BlockReader::open(source, &as_it_is, block_bytes)?;
    let header: Vec<String> = (1..=men.projection().components()).map(|k| format!("z{k}")).collect();
    let id = reader.id_name();
    let mut notices = Vec::new();
    if id.is_some() && !BlockWriter::holds_ids(out) {
        notices.push(format!(
            "{}: a .npy file does not hold the names of the samples; they are left out",
            out.display()
        ));
    }
    let mut writer = BlockWriter::create(out, &header, id)?;
    let (mut missing, mut like_formulas) = (Missing::default(), 0);
    loop {
        if monitor.stop() {
            return Err(menet::Error::Stopped { stage: Stage::Transform }.into());
        }
        let start = reader.rows();
        let Some(table) = reader.next().transpose()? else { break };
        let (mut table, form) = fitted.arrange(table)?;
        let mut unknown = Vec::new();
        if fill && TableModel::takes_means(form) && table.columns == form.projection().variables() {
            unknown = form.unknown_samples(table.view()?);
            table.fill_missing(form.projection().mean());
        }
        // Every block says the same.
        notices
            .extend(table.notices.drain(..).filter(|notice| !notices.contains(notice)).collect::<Vec<_>>());
        if !men.fills() {
            missing.look(&table, start);
        }
        // The message says how many values are missing in all.
        if !missing.any() {
            let mut z = table.project(form).map_err(|e| counted_from(start, e))?;
            unknown.into_iter().for_each(|i| z.row_mut(i).fill(f64::NAN));
            let ids = table.ids.as_ref().map(|ids| ids.values.as_slice());
            writer.write(z.as_ref(), ids)?;
            like_formulas += formulas::count(ids.unwrap_or_default());
        }
        let (done, total) = reader.progress();
        monitor.progress(Stage::Transform, done as usize, total as usize);
    }
    missing.check(source, reader.rows(), for_model(men))?;
    writer.finish()?;
    notices.extend(formulas::notice(out, like_formulas));
    Ok(TransformReport { samples: reader.rows(), notices })
}

/// An error about a row of a block, with the number of the row in the data.
fn counted_from(start: usize, error: Error) -> Error {
    match error {
        Error::Core(menet::Error::NotFinite { what, row, column, value }) => {
            menet::Error::NotFinite { what, row: start + row, column, value }.into()
        }
        other => other,
    }
}
