//! What each way of a fit costs, and whether the one that is chosen is a cheap one: the measurements behind `regime.rs`.
//!
//! ```sh
//! cargo run --release -p menet --example regimes
//! cargo run --release -p menet --example regimes -- 5 text 1993 4862 20 100 normal 400 1600 40 200
//! ```
//!
//! The arguments are the number of repeats and, per case, `text`, `normal` or `sparse` (texts that stay sparse), the samples,
//! variables, classes and variables per axis. Without arguments, the cases of docs/benchmarks.md. The times are the least of all
//! repeats, in milliseconds, of the stages reduction and LARS; then the other stages, by the way that was chosen.

#[path = "support/clusters.rs"]
mod drawn;
#[path = "support/texts.rs"]
mod written;

use menet::regime::{GramForm, Route};
use menet::sparse::SparseMatrix;
use menet::{Dataset, Men, MenParams, Named, Stage, fit};

const CASES: &str = "text 1993 4862 2 100 text 1993 4862 20 100 text 1943 3289 2 100 text 1943 3289 20 100 \
    text 1000 5500 10 100 text 3500 2000 10 50 text 600 2500 4 30 text 4000 5000 5 100 normal 400 1600 40 200 \
    normal 300 3000 5 50 normal 150 1600 15 100 normal 100 5000 4 50 normal 1500 400 10 50 normal 3000 784 10 60 \
    normal 2000 1600 10 100";

/// The ways that can be forced, and the choice.
const WAYS: [(Route, GramForm); 5] = [
    (Route::Dense, GramForm::Full),
    (Route::Dense, GramForm::Columns),
    (Route::Conjugate, GramForm::Full),
    (Route::Conjugate, GramForm::Columns),
    (Route::Auto, GramForm::Auto),
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let (repeats, cases) = match given.split_first() {
        Some((repeats, cases)) => (repeats.parse()?, cases.to_vec()),
        None => (5, CASES.split_whitespace().map(str::to_owned).collect()),
    };
    println!("| data | n | p | classes | K | dense, full | dense, columns | conjugate, full | conjugate, columns | auto | of the best | preprocess, neighbours, alignment | target |");
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    for case in cases.chunks(5) {
        let [kind, numbers @ ..] = case else { continue };
        let numbers = numbers.iter().map(|text| text.parse()).collect::<Result<Vec<usize>, _>>()?;
        let [n, p, classes, nonzeros] = numbers[..] else {
            return Err(format!("four numbers are needed after {kind}").into());
        };
        measure(kind, [n, p, classes, nonzeros], repeats)?;
    }
    Ok(())
}

/// One line of the table.
fn measure(kind: &str, size: [usize; 4], repeats: usize) -> Result<(), Box<dyn std::error::Error>> {
    let [n, p, classes, nonzeros] = size;
    let labels: Vec<usize> = (0..n).map(|i| i % classes).collect();
    let texts = || written::texts(1, n, p, classes, 20..101);
    let data = match kind {
        "text" => Dataset::from_owned(texts(), &labels)?,
        "sparse" => Dataset::from_sparse_beyond(0, SparseMatrix::from_dense(texts().as_ref())?, &labels)?,
        "normal" => drawn::clusters(n, 40, classes, Some(p)),
        _ => return Err(format!("no such data: {kind}").into()),
    };
    let mut best = [f64::INFINITY; WAYS.len()];
    let (mut before, mut target) = (f64::INFINITY, f64::INFINITY);
    let mut chosen = String::new();
    for _ in 0..repeats {
        for (&(route, gram), best) in WAYS.iter().zip(&mut best) {
            // Sparse data allow one way with whole columns.
            if kind == "sparse" && gram == GramForm::Full {
                continue;
            }
            let params = MenParams { nonzeros: Some(nonzeros), route, gram, ..MenParams::default() };
            let men = fit(&data, &params, &())?;
            *best = best.min(seconds(&men, &[Stage::Reduction, Stage::Lars]));
            if route == Route::Auto {
                target = target.min(seconds(&men, &[Stage::Target]));
                before = before.min(seconds(&men, &[Stage::Preprocess, Stage::Neighbors, Stage::Alignment]));
                chosen = men.regime().map_or_else(String::new, |way| {
                    format!("{}, {}", way.route.name(), way.gram.name())
                });
            }
        }
    }
    let least = best[..4].iter().copied().fold(f64::INFINITY, f64::min);
    let times: Vec<String> = best[..4].iter().map(|s| format!("{:.0}", 1e3 * s)).collect();
    println!(
        "| {kind} | {n} | {p} | {classes} | {nonzeros} | {} | {:.0} ({chosen}) | {:.2} | {:.0} | {:.0} |",
        times.join(" | "),
        1e3 * best[4],
        best[4] / least,
        1e3 * before,
        1e3 * target,
    );
    Ok(())
}

fn seconds(men: &Men, stages: &[Stage]) -> f64 {
    men.seconds().iter().filter(|(stage, _)| stages.contains(stage)).map(|(_, seconds)| seconds).sum()
}
