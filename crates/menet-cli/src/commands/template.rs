//! An empty table for new samples of a model: `menet inspect --template`.

use std::path::Path;

use menet::Men;

use crate::Context;
use crate::failure::Failure;
use crate::text;

/// Writes the header of a table that `menet predict` reads: names of the samples, their batches if the model has batches, and the panel.
pub(super) fn write(context: &Context, men: &Men, path: &Path) -> Result<(), Failure> {
    let Some(names) = men.feature_names() else {
        return Err(Failure::Usage(format!(
            "--template {}: the variables of this model have no names, so columns cannot be matched; new samples need all {} variables, in \
             the order of the fit",
            text::path(path),
            men.projection().variables()
        )));
    };
    let panel: Vec<String> = men.panel().into_iter().map(|j| names[j].clone()).collect();
    let free = |name: &str| {
        let mut name = name.to_owned();
        while panel.contains(&name) {
            name.push('_');
        }
        name
    };
    let batch = men.preparation().is_some_and(|learned| learned.batches.is_some()).then(|| free("batch"));
    let id = free("id");
    let how = [
        (id != "id").then(|| format!(" --id {id}")),
        batch.as_ref().map(|batch| format!(" --batch {batch}")),
        // A reader takes a line of numbers for a sample.
        panel.iter().any(|name| name.trim().parse::<f64>().is_ok()).then(|| " --header".to_owned()),
    ];
    let how: String = how.into_iter().flatten().collect();
    let header: Vec<String> = [id].into_iter().chain(batch).chain(panel).collect();
    if path.exists() {
        return Err(Failure::Usage(format!(
            "--template {}: the file exists already, and may have been filled in; name another, or remove it",
            text::path(path)
        )));
    }
    menet_io::write::csv_rows(path, &header, std::iter::empty())?;
    context.notice_formulas(path, &header);
    if path.as_os_str() == "-" {
        return Ok(());
    }
    context.say(format_args!(
        "an empty table for new samples: {0}; fill it in, then: menet predict --model FILE --data {0}{how} --out labels.csv",
        text::path(path)
    ))
}
