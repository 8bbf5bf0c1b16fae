//! The face-like problem of the paper's size: n = 400, p = 1600, c = 100, d = 40, K = 200.
//!
//! `make bench-kernels`, or `cargo bench --bench fit -- stages` for the stage table alone.

#[path = "../examples/support/faces.rs"]
mod drawn;

use criterion::{Criterion, criterion_group, criterion_main};
use menet::{Dataset, Men, MenParams, Stage, fit};

const REPEATS: usize = 9;

fn problem() -> (Dataset<'static>, MenParams) {
    let labels: Vec<usize> = (0..400).map(|i| i / 4).collect();
    let data = Dataset::from_owned(drawn::faces(0, 100, 4, 40), &labels).expect("drawn faces are valid");
    let params = MenParams::paper().with(|it| {
        it.components = Some(40);
        it.nonzeros = Some(200);
    });
    (data, params)
}

/// Median seconds of every stage, which criterion does not show.
fn stages(data: &Dataset<'_>, params: &MenParams) {
    let fits: Vec<Men> = (0..REPEATS).map(|_| fit(data, params, &()).expect("the benchmark fits")).collect();
    let median = |f: &dyn Fn(&Men) -> f64| {
        let mut all: Vec<f64> = fits.iter().map(f).collect();
        all.sort_by(f64::total_cmp);
        1e3 * all[REPEATS / 2]
    };
    println!("stage         median ms of {REPEATS}");
    for (k, stage) in Stage::ALL.iter().enumerate() {
        println!("{:<12} {:8.1}", stage.name(), median(&|men| men.report().seconds[k].1));
    }
    println!("{:<12} {:8.1}", "total", median(&|men| men.report().seconds.iter().map(|(_, s)| s).sum()));
    let worst = fits[0].certificates().iter().map(|c| c.kkt.max(c.scaled)).fold(0.0, f64::max);
    let knots: usize = fits[0].paths().iter().map(|path| path.knots().len()).sum();
    println!("{knots} knots, worst certificate {worst:.1e}, threads {}\n", rayon::current_num_threads());
}

fn bench(criterion: &mut Criterion) {
    let (data, params) = problem();
    stages(&data, &params);
    let mut group = criterion.benchmark_group("fit");
    group.sample_size(10);
    group.bench_function("n400_p1600_d40_k200", |b| b.iter(|| fit(&data, &params, &())));
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
