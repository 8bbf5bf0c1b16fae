//! The panel in a model file, and the reduced problem at the variables that the paths reached.

use menet::PanelVariable;
use menet::refit::Reached;

use super::tensors::{Packer, Problem, Unpacker};

/// Marks an unknown standard deviation, which is never negative otherwise.
const NO_DEVIATION: f64 = -1.0;

pub(super) fn pack_panel(pack: &mut Packer, panel: &[PanelVariable], classes: usize) {
    pack.indices("panel.variables", &panel.iter().map(|row| row.variable).collect::<Vec<_>>());
    let deviations = panel.iter().map(|row| row.deviation.unwrap_or(NO_DEVIATION));
    pack.floats("panel.deviations", &deviations.collect::<Vec<_>>());
    pack.indices("panel.classes", &panel.iter().map(|row| row.class.unwrap_or(classes)).collect::<Vec<_>>());
}

/// The variables that the axes use; none in a file from before panels existed.
pub(super) fn unpack_panel(
    unpack: &Unpacker<'_>,
    classes: usize,
) -> Result<Option<Vec<PanelVariable>>, Problem> {
    if !unpack.has("panel.variables") {
        return Ok(None);
    }
    let (variables, known) = (unpack.indices("panel.variables")?, unpack.indices("panel.classes")?);
    let deviations = unpack.floats("panel.deviations")?;
    if variables.len() != known.len() || variables.len() != deviations.len() {
        return Err("its panel has different numbers of variables, deviations and classes".to_owned());
    }
    let row = |((variable, deviation), class): ((usize, f64), usize)| {
        if class > classes || deviation < 0.0 && deviation != NO_DEVIATION {
            return Err(format!("a variable of its panel has deviation {deviation} and class {class}"));
        }
        let deviation = Some(deviation).filter(|&deviation| deviation != NO_DEVIATION);
        Ok(PanelVariable { variable, deviation, class: Some(class).filter(|&class| class < classes) })
    };
    variables.into_iter().zip(deviations).zip(known).map(row).collect::<Result<_, _>>().map(Some)
}

pub(super) fn pack_reached(pack: &mut Packer, reached: &Reached) {
    pack.indices("reached.variables", &reached.variables);
    pack.dense("reached.gram", reached.gram.as_ref());
    pack.dense("reached.b", reached.b.as_ref());
}

/// The reduced problem for `p` variables and this many paths; none if the file does not have it.
pub(super) fn unpack_reached(
    unpack: &Unpacker<'_>,
    p: usize,
    paths: usize,
) -> Result<Option<Reached>, Problem> {
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
    Ok(Some(Reached { variables, gram, b }))
}
