//! The alignment of samples in pieces.
//!
//! Most patch rules need only the neighbours, and L is made from these. Rules that look at the samples
//! ([`PatchRule::needs_samples`]) are applied to one piece at a time, with the rows that its neighbourhoods use.

use faer::MatRef;
use faer::sparse::Triplet;

use crate::alignment::{Alignment, Entries, PatchInputs};
use crate::error::{Error, Result};
use crate::monitor::Monitor;
use crate::neighbors::{Neighbor, NeighborLists};
use crate::patches::{PatchParams, PatchRule};
use crate::preprocess::Rows;

/// The entries of L that the patches of a piece add: rows, columns and values.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Patches {
    /// Rows and columns, as numbers of samples, and values.
    pub entries: Vec<(usize, usize, f64)>,
}

impl Patches {
    /// The patches of the samples whose neighbours are `near`. The first of them has the number `start`. `x` holds the rows of these samples
    /// and of their neighbours, and `numbers`, rising, are the numbers of these rows.
    ///
    /// # Errors
    /// When a row is missing, or a patch cannot be built.
    pub fn of(
        near: &[Vec<Neighbor>],
        start: usize,
        (x, numbers): (MatRef<'_, f64>, &[usize]),
        rule: &dyn PatchRule,
        params: &PatchParams,
        monitor: &dyn Monitor,
    ) -> Result<Self> {
        let place = |number: usize| {
            numbers.binary_search(&number).map_err(|_| {
                let allowed = "the rows of all samples and of their neighbours";
                Error::parameter("numbers", format!("without {number}"), allowed)
            })
        };
        let local = |near: &Vec<Neighbor>| -> Result<Vec<Neighbor>> {
            near.iter().map(|near| Ok(Neighbor { index: place(near.index)?, ..*near })).collect()
        };
        let near: Vec<Vec<Neighbor>> = near.iter().map(local).collect::<Result<_>>()?;
        let centres: Vec<usize> = (start..start + near.len()).map(place).collect::<Result<_>>()?;
        let rows = match x.try_as_row_major() {
            Some(rows) => Rows::Given(rows),
            None => Rows::Copied(x.transpose().to_owned()),
        };
        let none = vec![Vec::new(); near.len()];
        let patched = PatchInputs { rows: &rows, variables: x.ncols(), rule, params, found: (&near, &none) };
        let entries = patched.attract(&|at| centres[at], 1.0, monitor)?;
        let entries = entries.into_iter().map(|entry| (numbers[entry.row], numbers[entry.col], entry.val));
        Ok(Patches { entries: entries.collect() })
    }
}

/// The alignment of `samples` samples from their neighbours, or from the patches of all pieces in their order, if the rule needs the samples.
///
/// # Errors
/// When the rule needs patches and there are none, a number is out of range, or `monitor` asks to stop.
pub fn alignment(
    found: &NeighborLists<2>,
    patches: &[Patches],
    rule: &dyn PatchRule,
    params: &PatchParams,
    monitor: &dyn Monitor,
) -> Result<Alignment> {
    let n = found[0].len();
    if !rule.needs_samples() {
        let rows = Rows::Copied(faer::Mat::new());
        return Alignment::from_patches(
            &PatchInputs { rows: &rows, variables: 0, rule, params, found: (&found[0], &found[1]) },
            monitor,
        );
    }
    let all = patches.iter().flat_map(|patches| &patches.entries);
    if let Some((row, column, _)) = all.clone().find(|(row, column, _)| *row >= n || *column >= n) {
        return Err(Error::parameter(
            "patches",
            format!("an entry at {row}, {column}"),
            format!("below {n}"),
        ));
    }
    let entries: Entries = all.map(|&(row, column, value)| Triplet::new(row, column, value)).collect();
    Alignment::from_entries(n, &entries)
}
