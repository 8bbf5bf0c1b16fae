//! What the penalties cost: seconds of the LARS stage beside those of ℓ1. The Gram matrix is made once, whatever the penalty.
//!
//! `cargo run --release -p menet --example penalties`

#[path = "support/clusters.rs"]
mod clusters;
#[path = "support/faces.rs"]
mod faces;

use menet::lars::{Path, PenaltyReport};
use menet::penalties::PenaltyKind;
use menet::refit::Refit;
use menet::{Dataset, MenParams, Named, Stage, fit};

const REPEATS: usize = 5;

/// Exchanges for more variables than this take minutes, so `l0` is timed up to here.
const MOST_SUBSETS: usize = 20;

fn main() -> menet::Result<()> {
    let labels: Vec<usize> = (0..400).map(|i| i / 4).collect();
    let drawn = Dataset::from_owned(faces::faces(0, 100, 4, 40), &labels)?;
    let genes = clusters::clusters(100, 30, 4, Some(5_000));
    let params = |nonzeros: usize, axes: Option<usize>| {
        MenParams::default().with(|it| {
            it.refit.kind = Some(Refit::None);
            it.nonzeros = Some(nonzeros);
            it.components = axes;
        })
    };
    for (name, data, nonzeros, axes) in [
        ("drawn faces", &drawn, 200, Some(40)),
        ("drawn faces", &drawn, 100, Some(40)),
        ("drawn faces", &drawn, 20, Some(40)),
        ("drawn genes", &genes, 100, None),
        ("drawn genes", &genes, 20, None),
    ] {
        println!(
            "{name}: {} samples of {} variables, {nonzeros} variables per axis",
            data.samples(),
            data.variables()
        );
        compare(data, &params(nonzeros, axes))?;
    }
    Ok(())
}

/// The penalties take turns, so that a busy machine slows all of them.
fn compare(data: &Dataset<'_>, params: &MenParams) -> menet::Result<()> {
    let few = params.nonzeros.is_some_and(|nonzeros| nonzeros <= MOST_SUBSETS);
    let kinds: Vec<PenaltyKind> =
        PenaltyKind::ALL.iter().copied().filter(|&kind| few || kind != PenaltyKind::L0).collect();
    let mut seconds = vec![Vec::new(); kinds.len()];
    let mut counts = vec![String::new(); kinds.len()];
    for _ in 0..REPEATS {
        for (k, &penalty) in kinds.iter().enumerate() {
            let men = fit(data, &params.clone().with(|it| it.penalty.kind = penalty), &())?;
            let lars = men.report().seconds.iter().find(|(stage, _)| *stage == Stage::Lars);
            seconds[k].push(lars.map_or(0.0, |(_, seconds)| *seconds));
            counts[k] = rounds(men.paths());
        }
    }
    let median = |of: &[f64]| {
        let mut of = of.to_vec();
        of.sort_by(f64::total_cmp);
        of[of.len() / 2]
    };
    println!("penalty      LARS ms   x l1");
    for (k, penalty) in kinds.iter().enumerate() {
        let (own, l1) = (median(&seconds[k]), median(&seconds[0]));
        println!("{:<11} {:8.1} {:6.2}   {}", penalty.name(), 1e3 * own, own / l1, counts[k]);
    }
    println!();
    Ok(())
}

/// How many rounds and variables an axis has on average, and how many axes settled.
fn rounds(paths: &[Path]) -> String {
    let of = |path: &Path| match path.report() {
        Some(PenaltyReport::Rounds { count, settled, .. }) => Some((*count, usize::from(*settled))),
        _ => None,
    };
    let found: Vec<(usize, usize)> = paths.iter().filter_map(of).collect();
    if found.is_empty() {
        return String::new();
    }
    let (rounds, settled) = found.iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    let per_axis = |sum: usize| sum as f64 / found.len() as f64;
    let variables = paths.iter().map(|path| path.last().coefficients.nonzeros()).sum();
    format!(
        "{:.1} rounds and {:.1} variables per axis, {settled} of {} settled",
        per_axis(rounds),
        per_axis(variables),
        found.len()
    )
}
