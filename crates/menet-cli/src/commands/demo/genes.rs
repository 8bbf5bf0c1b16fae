//! The genes of the built-in set leukemia.

use faer::Mat;
use menet::{Dataset, Men, MenParams, SizeLimits};
use serde_json::json;

use crate::Context;
use crate::commands::variable;
use crate::failure::Failure;
use crate::text;

/// The sizes of the panels that are tried, and of the one that is shown.
const SIZES: [usize; 4] = [1, 2, 5, 10];
const SHOWN: usize = 5;

pub(super) fn run(context: &Context) -> Result<(), Failure> {
    let table = menet_io::read("leukemia", &menet_io::ReadOptions::default())?;
    let all = table.dataset()?;
    let (n, p) = (all.samples(), all.variables());
    let params = MenParams::default().with(|it| it.panel_size = SIZES.last().copied());

    // Each patient in turn is left out, and the genes are chosen from the others alone.
    let mut right = [0; SIZES.len()];
    for out in 0..n {
        let (train, left) = without(&all, out)?;
        let men = menet::fit(&train, &params, &())?;
        for (right, size) in right.iter_mut().zip(SIZES) {
            let panel = of_size(&men, size, &train)?;
            let decided = panel.rule()?.classify(panel.projection().project(&left)?.as_ref())?;
            *right += usize::from(decided[0] == all.class_of(out));
        }
    }
    let men = of_size(&menet::fit(&all, &params, &())?, SHOWN, &all)?;
    let genes: Vec<(String, String)> = men
        .panel_table()
        .iter()
        .map(|row| {
            let class = row.higher_in.map_or("", |class| men.classes()[class].as_str());
            (variable(&men, row.variable), class.to_owned())
        })
        .collect();
    if context.json {
        let rates: Vec<_> = SIZES
            .iter()
            .zip(right)
            .map(|(size, right)| json!({ "panel_size": size, "right": right }))
            .collect();
        let panel: Vec<_> =
            genes.iter().map(|(gene, class)| json!({ "variable": gene, "higher_in": class })).collect();
        return text::print(json!({ "n": n, "variables": p, "rates": rates, "panel": panel }));
    }
    text::print(format_args!(
        "\
Leukaemia: {n} patients of the kinds {}, with {p} genes each. Every patient in turn was left out, and
menet chose genes from the other patients alone. How many of the {n} patients it then classified correctly:
",
        men.classes().join(", ")
    ))?;
    for (size, right) in SIZES.iter().zip(right) {
        let noun = if *size == 1 { "gene " } else { "genes" };
        text::print(format_args!("  {size:>3} {noun}   {right:>3} of {n}"))?;
    }
    text::print(format_args!(
        "\nThe {SHOWN} genes that menet selects from all patients, and the class in which each is higher on average:\n"
    ))?;
    for (gene, class) in &genes {
        text::print(format_args!("  {:<20} {}", text::inline(gene), text::inline(class)))?;
    }
    text::print(
        "\nNext, with intervals, a test against chance and a report: menet validate --data leukemia --panel-size 5 --out trust",
    )
}

/// All samples but one, and that one.
fn without(all: &Dataset<'_>, out: usize) -> Result<(Dataset<'static>, Dataset<'static>), Failure> {
    let x = all.x()?;
    let some = |rows: Vec<usize>| {
        let labels: Vec<&str> = rows.iter().map(|&i| all.classes()[all.class_of(i)].as_str()).collect();
        Dataset::from_owned(Mat::from_fn(rows.len(), all.variables(), |i, j| x[(rows[i], j)]), &labels)
    };
    Ok((some((0..all.samples()).filter(|&i| i != out).collect())?, some(vec![out])?))
}

/// A fit read with a panel of this many variables.
fn of_size(men: &Men, size: usize, train: &Dataset<'_>) -> Result<Men, Failure> {
    Ok(men.at(SizeLimits::default().with(|it| it.panel_size = Some(size)), Some(train))?)
}
