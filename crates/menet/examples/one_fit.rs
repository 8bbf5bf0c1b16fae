//! The fit that `scripts/bench_python.py` times from Python, in Rust: seconds and memory, as JSON.
//!
//! `one_fit FILE SAMPLES VARIABLES PER_CLASS COMPONENTS NONZEROS REPEATS`, where FILE holds the samples row by row as
//! little-endian doubles, those of a class together.

use std::time::Instant;

use faer::MatRef;
use menet::{Dataset, MenParams, fit};

/// A line of `/proc/self/status`, in bytes; 0 where there is none.
fn status(key: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_default();
    1024 * line.split_whitespace().nth(1).and_then(|kb| kb.parse().ok()).unwrap_or(0)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let numbers = arguments[1..].iter().map(|text| text.parse()).collect::<Result<Vec<usize>, _>>()?;
    let [n, p, per_class, components, nonzeros, repeats] = numbers[..] else {
        return Err("six numbers are needed".into());
    };
    let bytes = std::fs::read(&arguments[0])?;
    let values: Vec<f64> = bytes.as_chunks().0.iter().map(|&chunk| f64::from_le_bytes(chunk)).collect();
    drop(bytes);
    let labels: Vec<usize> = (0..n).map(|i| i / per_class).collect();
    let data = Dataset::new(MatRef::from_row_major_slice(&values, n, p), &labels)?;
    let params = MenParams::paper().with(|it| {
        it.components = Some(components);
        it.nonzeros = Some(nonzeros);
    });
    // A small fit first, so that threads and their memory are there.
    fit(
        &data,
        &MenParams::paper().with(|it| {
            it.components = Some(1);
            it.nonzeros = Some(1);
        }),
        &(),
    )?;
    let mut seconds = Vec::new();
    std::fs::write("/proc/self/clear_refs", "5").ok();
    let before = status("VmRSS");
    for _ in 0..repeats {
        let start = Instant::now();
        let men = fit(&data, &params, &())?;
        seconds.push(start.elapsed().as_secs_f64());
        drop(men);
    }
    println!("{{\"seconds\": {seconds:?}, \"bytes\": {}}}", status("VmHWM").saturating_sub(before));
    Ok(())
}
