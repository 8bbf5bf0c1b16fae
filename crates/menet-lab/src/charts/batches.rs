//! The samples by batch on their first two principal components: as they come, then less the mean of their batch.

use menet::baselines::Pca;
use menet::prepare::Preparation;
use menet::{Dataset, Reducer};

use super::lines::{Axis, Lines, Panels, Series};
use super::samples::{LEGEND, few};
use super::values::some_samples;
use crate::error::Result;
use crate::names::{named, shown};
use crate::validate::Validation;

/// More samples hide each other and make large files.
const MOST: usize = 2000;

/// None where the final model knows no batches.
pub(crate) fn batches(validation: &Validation, data: &Dataset<'_>) -> Result<Option<Panels>> {
    let learned = validation.models.as_ref().and_then(|models| models.all.preparation());
    let Some((learned, effects)) = learned.and_then(|learned| Some((learned, learned.batches.as_ref()?)))
    else {
        return Ok(None);
    };
    let Some(batches) = data.batches().filter(|_| data.variables() > 1) else { return Ok(None) };
    // The same but for the batches, so that these are all the difference.
    let plain = data.relabelled(data.class_indices().to_vec())?.without_batches();
    let scaled = Preparation::of(&plain, &learned.params)?;
    let before = scaled.as_ref().map_or(&plain, |(_, scaled)| scaled);
    let after = learned.prepare(data)?;
    let rows = some_samples(data, MOST);
    let names = batches.names();
    let chart = |title: &str, data: &Dataset<'_>| -> Result<Lines> {
        let z = Pca {}.fit(data, Some(2), &())?.projection.project(data)?;
        let place = |i: usize| (z[(i, 0)], if z.ncols() > 1 { z[(i, 1)] } else { 0.0 });
        let legend = title == "after" && names.len() <= LEGEND;
        let series = (0..names.len()).map(|batch| {
            let own = rows.iter().filter(|&&i| batches.of()[i] == batch);
            let name = if legend { shown(&named(&names[batch]), 17) } else { String::new() };
            Series::dots(batch, 4.0, own.map(|&i| place(i)).collect()).named(name)
        });
        let (x, y) = (Axis::new("first component"), Axis::new("second component"));
        Ok(Lines { title: title.to_owned(), x, y, series: series.collect(), ..Lines::default() })
    };
    let how = if effects.deviations.is_some() { ", divided by its deviation" } else { "" };
    let few = few(data, &rows);
    Ok(Some(Panels {
        title: format!(
            "Samples by batch, on their first two principal components: {}",
            shown(&validation.data, 28)
        ),
        note: format!(
            "the final model subtracts the mean of every batch{how}; what still tells batches apart is not removed{few}"
        ),
        charts: vec![chart("before", before)?, chart("after", &after)?],
    }))
}
