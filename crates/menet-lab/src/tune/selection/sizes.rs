//! The numbers of variables that the grid tries.

use menet::MenParams;
use menet::select::ModelSize;

use crate::protocol::TuneOptions;

/// The default numbers of variables, per path or in all.
pub const SIZES: [usize; 6] = [5, 10, 20, 50, 100, 200];

/// The sizes to try: those of the user, or a list up to the number that the parameters allow.
pub(super) fn sizes(own: &MenParams, options: &TuneOptions, p: usize) -> Vec<ModelSize> {
    let up_to = |most: usize| {
        let mut sizes: Vec<usize> = SIZES.into_iter().filter(|&size| size < most).collect();
        if most <= SIZES[SIZES.len() - 1] || own.panel_size.or(own.nonzeros).is_some() {
            sizes.push(most);
        }
        sizes
    };
    let capped = |sizes: &[usize]| -> Vec<usize> {
        let mut sizes: Vec<usize> = sizes.iter().map(|&size| size.min(p)).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    };
    if !options.nonzeros.is_empty() || !options.panel_size.is_empty() {
        let nonzeros = capped(&options.nonzeros).into_iter().map(ModelSize::Nonzeros);
        return nonzeros.chain(capped(&options.panel_size).into_iter().map(ModelSize::Panel)).collect();
    }
    match own.panel_size {
        Some(most) => up_to(most.min(p)).into_iter().map(ModelSize::Panel).collect(),
        None => up_to(own.nonzeros.unwrap_or(p).min(p)).into_iter().map(ModelSize::Nonzeros).collect(),
    }
}

/// The sizes halfway from the size of `params` to the next of `sizes` on either side.
pub(super) fn beside(sizes: &[ModelSize], params: &MenParams) -> Vec<ModelSize> {
    let own = match (params.panel_size, params.nonzeros) {
        (Some(size), _) => ModelSize::Panel(size),
        (None, Some(k)) => ModelSize::Nonzeros(k),
        (None, None) => return Vec::new(),
    };
    let number = |size: &ModelSize| match *size {
        ModelSize::Nonzeros(k) | ModelSize::Panel(k) => Some(k),
        ModelSize::Base => None,
    };
    let Some(k) = number(&own) else { return Vec::new() };
    let others: Vec<usize> = sizes.iter().filter_map(number).collect();
    let below = others.iter().copied().filter(|&other| other < k).max();
    let above = others.iter().copied().filter(|&other| other > k).min();
    let between = |other: usize| ((other * k) as f64).sqrt().round() as usize;
    let found = [below, above].into_iter().flatten().map(between).filter(|&found| found != k);
    found
        .map(|size| {
            if matches!(own, ModelSize::Panel(_)) {
                ModelSize::Panel(size)
            } else {
                ModelSize::Nonzeros(size)
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_the_users_or_a_list_up_to_what_is_allowed() {
        let options = TuneOptions::default();
        let own = MenParams::default();
        let of = |own: &MenParams, options: &TuneOptions, p| sizes(own, options, p);
        let nonzeros = |list: &[usize]| list.iter().map(|&k| ModelSize::Nonzeros(k)).collect::<Vec<_>>();
        assert_eq!(of(&own, &options, 5000), nonzeros(&SIZES));
        assert_eq!(of(&own, &options, 64), nonzeros(&[5, 10, 20, 50, 64]));
        assert_eq!(of(&own, &options, 3), nonzeros(&[3]));
        let few = own.clone().with(|it| it.nonzeros = Some(30));
        assert_eq!(of(&few, &options, 5000), nonzeros(&[5, 10, 20, 30]));
        let panel = own.clone().with(|it| it.panel_size = Some(20));
        assert_eq!(of(&panel, &options, 5000), [5, 10, 20].map(ModelSize::Panel));
        let given = TuneOptions { panel_size: vec![20, 7], nonzeros: vec![9], ..options };
        assert_eq!(of(&own, &given, 10), [ModelSize::Nonzeros(9), ModelSize::Panel(7), ModelSize::Panel(10)]);
    }
}
