//! What each way of a fit costs, and whether the one that is chosen is a cheap one: the measurements behind `regime.rs`.
//!
//! ```sh
//! cargo run --release -p menet --example regimes
//! cargo run --release -p menet --example regimes -- 5 text 1993 4862 20 100 normal 400 1600 40 200
//! ```
//!
//! The arguments are the number of repeats and, per case, `text`, `normal` or `sparse` (texts that stay sparse), the samples,
//! variables, classes and variables per axis. Without arguments, the cases of docs/benchmarks.md. The times are the least of all
//! repeats, in milliseconds, of the stages reduction + LARS; then the other stages, by the way that was chosen. They are processor
//! time where the system tells it, so that other work on the machine disturbs them little: set `RAYON_NUM_THREADS=1` for them.

#[path = "support/clusters.rs"]
mod drawn;
#[path = "support/texts.rs"]
mod written;

use std::sync::Mutex;
use std::time::Instant;

use menet::gram::GRAM_LIMIT;
use menet::plan::{GramRequest, RouteRequest};
use menet::sparse::SparseMatrix;
use menet::{Dataset, MenParams, Monitor, Stage, fit};

const CASES: &str = "text 1993 4862 2 100 text 1993 4862 20 100 text 1943 3289 2 100 text 1943 3289 20 100 \
    text 1000 5500 10 100 text 3500 2000 10 50 text 600 2500 4 30 text 4000 5000 5 100 normal 400 1600 40 200 \
    normal 300 3000 5 50 normal 150 1600 15 100 normal 100 5000 4 50 normal 1500 400 10 50 normal 3000 784 10 60 \
    normal 2000 1600 10 100";

/// The ways that can be forced, and the choice.
const WAYS: [(RouteRequest, GramRequest); 5] = [
    (RouteRequest::Dense, GramRequest::Full),
    (RouteRequest::Dense, GramRequest::Columns),
    (RouteRequest::Conjugate, GramRequest::Full),
    (RouteRequest::Conjugate, GramRequest::Columns),
    (RouteRequest::Auto, GramRequest::Auto),
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let (repeats, cases) = match given.split_first() {
        Some((repeats, cases)) => (repeats.parse()?, cases.to_vec()),
        None => (5, CASES.split_whitespace().map(str::to_owned).collect()),
    };
    println!(
        "| data | n | p | classes | K | dense, full | dense, columns | conjugate, full | conjugate, columns | auto | of the best | preprocess, neighbours, alignment | target |"
    );
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
    let mut best = [[f64::INFINITY; 2]; WAYS.len()];
    let (mut before, mut target) = (f64::INFINITY, f64::INFINITY);
    let mut chosen = String::new();
    for _ in 0..repeats {
        for (&(route, gram), best) in WAYS.iter().zip(&mut best) {
            if (kind == "sparse" || p > GRAM_LIMIT) && gram == GramRequest::Full {
                continue;
            }
            let params = MenParams::paper().with(|it| {
                it.nonzeros = Some(nonzeros);
                it.compute.route = route;
                it.compute.gram = gram;
            });
            let clock = Clock::default();
            let men = fit(&data, &params, &clock)?;
            let found = [Stage::Reduction, Stage::Lars].map(|stage| clock.seconds(&[stage]));
            if found[0] + found[1] < best[0] + best[1] {
                *best = found;
            }
            if route == RouteRequest::Auto {
                target = target.min(clock.seconds(&[Stage::Target]));
                before = before.min(clock.seconds(&[Stage::Preprocess, Stage::Neighbors, Stage::Alignment]));
                let way = men.report().regime.as_ref().ok_or("a fit tells its way")?;
                chosen = format!("{:?}, {:?}", way.route, way.gram).to_lowercase();
            }
        }
    }
    let sums = best.map(|[reduction, lars]| reduction + lars);
    let least = sums[..4].iter().copied().fold(f64::INFINITY, f64::min);
    let times: Vec<String> = best[..4]
        .iter()
        .map(|[reduction, lars]| format!("{:.0} + {:.0}", 1e3 * reduction, 1e3 * lars))
        .collect();
    println!(
        "| {kind} | {n} | {p} | {classes} | {nonzeros} | {} | {:.0} ({chosen}) | {:.2} | {:.0} | {:.0} |",
        times.join(" | "),
        1e3 * sums[4],
        sums[4] / least,
        1e3 * before,
        1e3 * target,
    );
    Ok(())
}

/// When every stage began and ended.
#[derive(Default)]
struct Clock(Mutex<Vec<(Stage, f64)>>);

impl Monitor for Clock {
    fn progress(&self, stage: Stage, done: usize, total: usize) {
        if (done == 0 || done == total)
            && let Ok(mut seen) = self.0.lock()
        {
            seen.push((stage, now()));
        }
    }
}

impl Clock {
    /// From the first to the last that was heard of each of these stages.
    fn seconds(&self, stages: &[Stage]) -> f64 {
        let Ok(seen) = self.0.lock() else { return f64::NAN };
        let of = |stage: &Stage| {
            let mut times = seen.iter().filter(|(other, _)| other == stage).map(|(_, time)| time);
            let first = times.next().unwrap_or(&f64::NAN);
            times.next_back().unwrap_or(first) - first
        };
        stages.iter().map(of).sum()
    }
}

/// What all threads have run for, in seconds; the time of day where the system does not tell.
fn now() -> f64 {
    static START: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    let elapsed = START.elapsed().as_secs_f64();
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else { return elapsed };
    let run = |path: std::path::PathBuf| {
        let text = std::fs::read_to_string(path.join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<f64>().ok()
    };
    let nanoseconds: Option<f64> = threads.map(|thread| run(thread.ok()?.path())).sum();
    nanoseconds.map_or(elapsed, |nanoseconds| 1e-9 * nanoseconds)
}
