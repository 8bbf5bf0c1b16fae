//! The data of the path explorer: every knot of the first columns, small enough to travel in a page.
//!
//! A variable's coefficients are listed from the knot before it first moves, so no index is repeated. Where all knots
//! would be too many numbers, every m-th is kept, and the page says so.

use menet::lars::{Knot, Path};
use serde_json::{Value, json};

use super::script::number;
use crate::charts::{self, paths::Column};
use crate::error::Result;
use crate::figures::check;
use crate::names::{scale, setting, shown, variable};
use crate::palette::LOOKS;
use crate::study::{Showcase, Study};

/// How many columns can be explored.
const COLUMNS: usize = 10;

/// How many coefficients a report may hold, about 1.6 MB of text.
const BUDGET: usize = 180_000;

/// One entry per showcase that has a model with paths.
pub(super) fn data(study: &Study) -> Result<Value> {
    let showcases: Vec<&Showcase> = study.showcases.iter().filter(with_paths).collect();
    let columns: usize = showcases.iter().map(|s| paths(s).len()).sum();
    let mut out = Vec::new();
    for showcase in showcases {
        check(showcase)?;
        out.push(set(showcase, BUDGET / columns.max(1)));
    }
    Ok(Value::Array(out))
}

/// The showcase's place in [`data`], if it has paths.
pub(super) fn place(study: &Study, showcase: &Showcase) -> Option<usize> {
    study.showcases.iter().filter(with_paths).position(|other| std::ptr::eq(other, showcase))
}

fn with_paths(showcase: &&Showcase) -> bool {
    showcase.men.as_ref().is_some_and(|men| !men.paths().is_empty())
}

fn paths(showcase: &Showcase) -> &[Path] {
    let paths = showcase.men.as_ref().map_or(&[][..], |men| men.paths());
    &paths[..paths.len().min(COLUMNS)]
}

fn set(showcase: &Showcase, budget: usize) -> Value {
    let mut used: Vec<usize> = paths(showcase).iter().flat_map(Path::order_of_entry).collect();
    used.sort_unstable();
    used.dedup();
    let units = showcase.men.as_ref().map_or(&[][..], |men| &men.parts().units);
    // Pixels are named by their place, which the page works out.
    let names = match showcase.image_shape {
        Some(_) => Value::Null,
        None => used.iter().map(|&j| shown(&variable(showcase, j), 60)).collect(),
    };
    json!({
        "title": format!("{}, repeat {}", setting(&showcase.data, showcase.train_per_class), showcase.repeat),
        "scale": showcase.men.as_ref().map(scale),
        "shape": showcase.image_shape.map(|(height, width)| [height, width]),
        "variables": used,
        "names": names,
        "units": used.iter().map(|&j| number(units[j])).collect::<Value>(),
        "columns": paths(showcase).iter().map(|path| column(path, &used, budget)).collect::<Value>(),
        "rates": showcase.rates_by_nonzeros.iter().map(|&(k, rate)| json!([k, number(rate)])).collect::<Value>(),
    })
}

fn column(path: &Path, used: &[usize], budget: usize) -> Value {
    let kept = kept(path, budget);
    let Column { knots, norms, lines } = charts::paths::column(path, kept.iter().copied());
    let place = |j: &usize| used.binary_search(j).ok();
    // What happened at the knots since the last one that was kept.
    let since = |list: fn(&Knot) -> &Vec<usize>| -> Value {
        let first = |i: usize| if i == 0 { 0 } else { kept[i - 1] + 1 };
        let gathered = (0..kept.len()).map(|i| -> Value {
            let passed = &path.knots()[first(i)..=kept[i]];
            passed.iter().flat_map(list).filter_map(place).collect()
        });
        gathered.collect()
    };
    let lines = lines.iter().filter(|line| !line.2.is_empty()).map(|(j, from, coefficients)| {
        json!([place(j), from, coefficients.iter().map(|&w| number(w)).collect::<Value>()])
    });
    let numbers =
        |value: fn(&Knot) -> f64| -> Value { knots.iter().map(|knot| number(value(knot))).collect() };
    json!({
        "levels": numbers(|knot| knot.level),
        "norms": norms.into_iter().map(number).collect::<Value>(),
        "kkt": numbers(|knot| knot.certificate.kkt),
        "scaled": numbers(|knot| knot.certificate.scaled),
        "entered": since(|knot| &knot.entered),
        "left": since(|knot| &knot.left),
        "paths": lines.collect::<Value>(),
        "places": kept,
        "knots": path.knots().len(),
        "ended": path.ended().to_string(),
    })
}

/// The knots to keep: all, or the first, where the first variables enter, then every m-th, and the last.
fn kept(path: &Path, budget: usize) -> Vec<usize> {
    let all: usize = path.knots().iter().map(|knot| knot.coefficients.nonzeros()).sum();
    let step = all.div_ceil(budget.max(1)).max(1);
    let last = path.knots().len() - 1;
    let first = last.min(2 * LOOKS);
    let mut kept: Vec<usize> = (0..first).chain((first..last).step_by(step)).collect();
    kept.push(last);
    kept
}
