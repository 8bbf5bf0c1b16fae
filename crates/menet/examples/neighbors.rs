//! How long exact and approximate neighbours take, 5 within and 5 between classes, in processor seconds; and the recall.
//!
//! ```sh
//! cargo run --release -p menet --example neighbors -- normal 300000
//! cargo run --release -p menet --example neighbors -- images 200000 approximate
//! cargo run --release -p menet --example neighbors -- idx 60000 train-images-idx3-ubyte train-labels-idx1-ubyte
//! cargo run --release -p menet --example neighbors -- images-784 60000 exact pieces
//! ```
//!
//! `normal` are normal clusters of 20 variables that overlap, `images` 24 factors in 256 variables and some noise
//! (`images-784`: in 784), both in 10 classes; `normal-2` is in 2. `idx` are unpacked files. `pieces` are 5,000 samples each
//! in single precision, of which every pair is searched by itself.

#[path = "support/clusters.rs"]
mod drawn;

use std::time::Instant;

use faer::{Mat, MatRef};
use menet::neighbors::{Block, Centre, NearestSamples, NeighborScope, NeighborSearch, neighbor_groups};
use menet::{Centred, Dataset, Named};

/// Samples of a piece.
const PIECE: usize = 5_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [kind, n, rest @ ..] = args.as_slice() else {
        return Err("say what, and how many samples: see the head of this example".into());
    };
    let n: usize = n.parse()?;
    let (data, rest) = match (kind.as_str(), rest) {
        ("normal", _) => (drawn::clusters(n, 20, 10, None), rest),
        ("normal-2", _) => (drawn::clusters(n, 20, 2, None), rest),
        ("images", _) => (drawn::clusters(n, 24, 10, Some(256)), rest),
        ("images-784", _) => (drawn::clusters(n, 24, 10, Some(784)), rest),
        ("idx", [images, labels, rest @ ..]) => (idx(n, images, labels)?, rest),
        _ => return Err(format!("no such data: {kind}").into()),
    };
    let preprocessed = Centred::new(&data, None)?;
    let groups = [(NeighborScope::Within, 5), (NeighborScope::Between, 5)];
    let asked = |name: &str| rest.is_empty() || rest.iter().any(|rest| rest == name);
    for &search in NeighborSearch::ALL {
        if asked(search.name()) {
            let ((_, recall), seconds) =
                timed(|| neighbor_groups(&data, &preprocessed, groups, search, &()))?;
            println!("{kind} {n} {}: {seconds}, recall {:.3}", search.name(), recall.unwrap_or(1.0));
        }
    }
    if asked("pieces") {
        let x = data.x()?;
        let rows: Vec<f32> = (0..n).flat_map(|i| x.row(i).iter().map(|&x| x as f32)).collect();
        let (_, seconds) = timed(|| pieces(&rows, data.class_indices(), preprocessed.mean(), groups))?;
        println!("{kind} {n} pieces: {seconds}");
    }
    Ok(())
}

/// Runs `work`, and says how long it took.
fn timed<T>(work: impl FnOnce() -> menet::Result<T>) -> menet::Result<(T, String)> {
    let (start, wall) = (processor_seconds(), Instant::now());
    let done = work()?;
    let wall = wall.elapsed().as_secs_f64();
    let processor = match (start, processor_seconds()) {
        (Some(start), Some(end)) => format!("{:.1} CPU s, ", end - start),
        _ => String::new(),
    };
    Ok((done, format!("{processor}{wall:.1} s")))
}

/// The neighbours of samples, one after the other, by pairs of pieces.
fn pieces(
    rows: &[f32],
    class: &[usize],
    mean: &[f64],
    groups: [(NeighborScope, usize); 2],
) -> menet::Result<Vec<NearestSamples<2>>> {
    let (p, centre) = (mean.len(), Centre::new(mean, &[])?);
    let samples = rows.chunks(PIECE * p).zip(class.chunks(PIECE));
    let blocks: Vec<Block<'_>> = samples
        .enumerate()
        .map(|(k, (rows, class))| {
            Block::single(MatRef::from_row_major_slice(rows, class.len(), p), class, k * PIECE)
        })
        .collect::<menet::Result<_>>()?;
    let within = blocks.iter().map(|block| NearestSamples::search_within(block, centre, groups, &()));
    let mut found: Vec<NearestSamples<2>> = within.collect::<menet::Result<_>>()?;
    let known: Vec<Vec<f64>> = found.iter().map(|found| found.clone().into_arrays().1).collect();
    for b in 0..blocks.len() {
        for a in 0..b {
            let block = |k: usize| blocks[k].clone().knowing(&known[k]);
            let (here, there) = NearestSamples::search_both(&block(a), &block(b), centre, groups, &())?;
            found[a] = found[a].clone().merge(here)?;
            found[b] = found[b].clone().merge(there)?;
        }
    }
    Ok(found)
}

/// What all threads have used, where the system tells.
fn processor_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
    let ticks: f64 = fields.get(11)?.parse::<f64>().ok()? + fields.get(12)?.parse::<f64>().ok()?;
    Some(ticks / 100.0)
}

/// The first images of an IDX file.
fn idx(n: usize, images: &str, labels: &str) -> Result<Dataset<'static>, Box<dyn std::error::Error>> {
    let (images, labels) = (std::fs::read(images)?, std::fs::read(labels)?);
    let p = 28 * 28;
    if images.len() < 16 + n * p || labels.len() < 8 + n {
        return Err(format!("fewer than {n} images of 28 x 28 pixels").into());
    }
    let x = Mat::from_fn(n, p, |i, j| f64::from(images[16 + i * p + j]));
    Ok(Dataset::from_owned(x, &labels[8..8 + n])?)
}
