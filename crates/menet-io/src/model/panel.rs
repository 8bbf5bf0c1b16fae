//! The panel in a model file, and the reduced problem at the variables that the paths reached.

use faer::Mat;
use menet::PanelVariable;
use menet::refit::RefitProblem;

use super::tensors::{Packer, Problem, Unpacker};

/// Marks an unknown standard deviation, which is never negative otherwise.
const NO_DEVIATION: f64 = -1.0;

pub(super) fn pack_panel(pack: &mut Packer, panel: &[PanelVariable], classes: usize) {
    pack.indices("panel.variables", &panel.iter().map(|row| row.variable).collect::<Vec<_>>());
    let deviations = panel.iter().map(|row| row.deviation.unwrap_or(NO_DEVIATION));
    pack.floats("panel.deviations", &deviations.collect::<Vec<_>>());
    let ranges: Option<Vec<(f64, f64)>> = panel.iter().map(|row| row.range).collect();
    if let Some(ranges) = ranges.filter(|ranges| !ranges.is_empty()) {
        let ends = Mat::from_fn(ranges.len(), 2, |j, end| if end == 0 { ranges[j].0 } else { ranges[j].1 });
        pack.dense("panel.ranges", ends.as_ref());
    }
    if !panel.is_empty() && panel.iter().all(|row| row.class_means.len() == classes) {
        let means = Mat::from_fn(panel.len(), classes, |j, class| panel[j].class_means[class]);
        pack.dense("panel.class_means", means.as_ref());
    }
    pack.indices("panel.classes", &panel.iter().map(|row| row.class.unwrap_or(classes)).collect::<Vec<_>>());
}

/// The variables that the axes use, with what is known of them.
pub(super) fn unpack_panel(unpack: &Unpacker<'_>, classes: usize) -> Result<Vec<PanelVariable>, Problem> {
    let (variables, known) = (unpack.indices("panel.variables")?, unpack.indices("panel.classes")?);
    let deviations = unpack.floats("panel.deviations")?;
    if variables.len() != known.len() || variables.len() != deviations.len() {
        return Err("its panel has different numbers of variables, deviations and classes".to_owned());
    }
    let means = match unpack.has("panel.class_means") {
        true => Some(unpack.dense("panel.class_means", classes)?),
        false => None,
    };
    if means.as_ref().is_some_and(|means| means.nrows() != variables.len()) {
        return Err("its panel has different numbers of variables and class means".to_owned());
    }
    let ranges = match unpack.has("panel.ranges") {
        true => Some(unpack.dense("panel.ranges", 2)?),
        false => None,
    };
    if ranges.as_ref().is_some_and(|ranges| ranges.nrows() != variables.len()) {
        return Err("its panel has different numbers of variables and ranges".to_owned());
    }
    let row = |(place, ((variable, deviation), class)): (usize, ((usize, f64), usize))| {
        if class > classes || deviation < 0.0 && deviation != NO_DEVIATION {
            return Err(format!("a variable of its panel has deviation {deviation} and class {class}"));
        }
        let deviation = Some(deviation).filter(|&deviation| deviation != NO_DEVIATION);
        let class_means =
            means.as_ref().map_or_else(Vec::new, |all| all.row(place).iter().copied().collect());
        let class = Some(class).filter(|&class| class < classes);
        let range = ranges.as_ref().map(|all| (all[(place, 0)], all[(place, 1)]));
        Ok(PanelVariable { variable, deviation, range, class_means, class })
    };
    variables.into_iter().zip(deviations).zip(known).enumerate().map(row).collect()
}

pub(super) fn pack_reached(pack: &mut Packer, reached: &RefitProblem) {
    pack.indices("reached.variables", &reached.variables);
    pack.dense("reached.gram", reached.gram.as_ref());
    pack.dense("reached.b", reached.b.as_ref());
}

/// The reduced problem for `p` variables and this many paths; none if the file does not have it.
pub(super) fn unpack_reached(
    unpack: &Unpacker<'_>,
    p: usize,
    paths: usize,
) -> Result<Option<RefitProblem>, Problem> {
    if !unpack.has("reached.variables") {
        return Ok(None);
    }
    let variables = unpack.indices("reached.variables")?;
    let r = variables.len();
    let sound =
        variables.windows(2).all(|pair| pair[0] < pair[1]) && variables.last().is_some_and(|&j| j < p);
    let (gram, b) = (unpack.dense("reached.gram", r)?, unpack.dense("reached.b", paths)?);
    if !sound || gram.nrows() != r || b.nrows() != r {
        return Err("its reduced problem does not match the variables that its paths reached".to_owned());
    }
    Ok(Some(RefitProblem { variables, gram, b }))
}
