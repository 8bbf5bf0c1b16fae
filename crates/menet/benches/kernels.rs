//! The kernels below a fit, each by itself, on seeded data: `make bench-kernels`, or
//! `cargo bench --bench kernels -- neighbors` for those of one name.
//!
//! The rate beside a time is that of the work that nobody can avoid: with `elem/s` read floating-point operations a second
//! (of what is not that, the name says so), with `B/s` bytes of data. What a kernel saves by being clever raises it.

#[path = "../examples/support/clusters.rs"]
mod clusters;
#[path = "../examples/support/faces.rs"]
mod faces;

use std::time::Duration;

use criterion::Throughput::{BytesDecimal, Elements};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use faer::{Mat, MatRef};
use menet::lars::{LarsOptions, lars_paths, regression_paths};
use menet::neighbors::{NeighborScope, NeighborSearch, neighbor_groups};
use menet::operator::{ManifoldParams, Smoother, eigenvalue_bound};
use menet::patches::{PatchParams, rule};
use menet::rules::{Metric, nearest_neighbors};
use menet::sparse::{SparseMatrix, SparseVector};
use menet::{Alignment, Centred, Dataset, MenParams, Named, Projection, Real, Result};
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;

/// Times `kernel`, which does `work`.
fn time<T>(criterion: &mut Criterion, name: &str, work: Throughput, mut kernel: impl FnMut() -> Result<T>) {
    let (group, name) = name.split_once('/').expect("a name has a group");
    let mut group = criterion.benchmark_group(group);
    group.throughput(work);
    group.bench_function(name, |bencher| bencher.iter(|| kernel().expect("the data are valid")));
}

/// LARS with its Gram matrix, from that matrix alone, and where there is none.
fn regressions(criterion: &mut Criterion) -> Result<()> {
    let (n, p, d, k) = (400, 1600, 40, 200);
    let options = LarsOptions::default().with(|it| {
        it.ridge = 0.3;
        it.max_nonzeros = Some(k);
    });
    let (x, y) = regression(faces::faces(0, 100, 4, 40), d)?;
    // Half of the Gram matrix; and the check of all variables at every knot, at K knots.
    let (product, checks) = (flops([n, p, p]), flops([d, p, k, k]));
    time(criterion, "lars/gram_n400_p1600_d40_k200", Elements(product + checks), || {
        regression_paths(x.as_ref(), y.as_ref(), &options, &())
    });
    let (gram, b) = (x.transpose() * &x, x.transpose() * &y);
    time(criterion, "lars/given_p1600_d40_k200", Elements(checks), || {
        lars_paths(&gram.as_ref(), b.as_ref(), &options, &())
    });
    let (n, p, d, k) = (300, 20_000, 9, 100);
    let (x, y) = regression(normal(2, n, p), d)?;
    let options = options.with(|it| it.max_nonzeros = Some(k));
    // The samples, read once at every knot.
    time(criterion, "lars/wide_n300_p20000_d9_k100", BytesDecimal(8 * flops([n, p, k])), || {
        regression_paths(x.as_ref(), y.as_ref(), &options, &())
    });
    Ok(())
}

/// All pairs; and nearly all neighbours, as if all pairs had been compared.
fn neighbors(criterion: &mut Criterion) -> Result<()> {
    let groups = [(NeighborScope::Within, 5), (NeighborScope::Between, 5)];
    let images = clusters::clusters(10_000, 24, 10, Some(256));
    let points = clusters::clusters(30_000, 8, 10, Some(20));
    for (data, search) in [
        (&images, NeighborSearch::Exact),
        (&points, NeighborSearch::Exact),
        (&points, NeighborSearch::Approximate),
    ] {
        let (n, p) = (data.samples(), data.variables());
        let preprocessed = Centred::new(data, None)?;
        // A product serves both samples of a pair.
        time(
            criterion,
            &format!("neighbors/{}_n{n}_p{p}", search.name()),
            Elements(flops([n, n, p])),
            || {
                let (found, recall) = neighbor_groups(data, &preprocessed, groups, search, &())?;
                assert!(recall != Some(1.0), "an exact search in disguise: this has no meaning");
                Ok(found)
            },
        );
    }
    Ok(())
}

/// The alignment of 5,000 samples as a fit has it.
fn alignment(criterion: &mut Criterion) -> Result<()> {
    let data = clusters::clusters(5000, 20, 10, None);
    let preprocessed = Centred::new(&data, None)?;
    let alignment = Alignment::new(&data, &preprocessed, rule("dla")?, &PatchParams::default(), &())?;
    let ManifoldParams { alpha, beta, kappa, floor, .. } = MenParams::default().manifold;
    let admissible = alignment.largest_kappa(kappa, eigenvalue_bound(alpha, beta, floor), &())?;
    let laplacian = alignment.matrix(admissible.map_or(0.0, |(kappa, _)| kappa));
    // Per product with the matrix, of which there are some hundred.
    let work = Elements(2 * laplacian.nonzeros() as u64);
    time(criterion, "alignment/lanczos_n5000", work, || laplacian.smallest_eigenvalue());

    let smoother = Smoother::new(&laplacian, alpha, beta, 1e-12);
    let right = normal(3, laplacian.dim(), 8);
    time(criterion, "alignment/conjugate_n5000_elem_is_a_right_side", Elements(8), || {
        smoother.gram(right.as_ref(), &())
    });
    Ok(())
}

/// 9 axes of 60 of 784 variables.
fn projection(criterion: &mut Criterion) -> Result<()> {
    let (n, p) = (50_000, 784);
    let weights = normal(4, p, 9);
    let axis = |k: usize| (0..60).map(|j| ((13 * j + 7 * k) % p, weights[(j, k)])).collect();
    let axes = (0..9).map(|k| SparseVector::from_pairs(axis(k))).collect();
    let projection = Projection::new(vec![0.5; p], axes)?;
    let mut rng = rand_pcg::Pcg64::seed_from_u64(5);
    let single: Vec<f32> = (0..n * p).map(|_| rng.random()).collect();
    let double: Vec<f64> = single.iter().map(|&x| x.into()).collect();
    dense(criterion, "projection/f32_n50000_p784", &projection, &single);
    dense(criterion, "projection/f64_n50000_p784", &projection, &double);
    // A tenth is not zero.
    let starts: Vec<usize> = (0..=n).map(|i| 78 * i).collect();
    let indices: Vec<usize> = (0..n).flat_map(|i| (0..78).map(move |k| 10 * k + i % 10)).collect();
    let sparse = SparseMatrix::from_rows((n, p), &starts, &indices, &double[..78 * n])?;
    let bytes = (size_of::<u32>() + size_of::<f64>()) * sparse.nonzeros();
    time(criterion, "projection/sparse_n50000_p784", BytesDecimal(bytes as u64), || {
        projection.transform_sparse(&sparse)
    });
    Ok(())
}

fn dense<T: Real>(criterion: &mut Criterion, name: &str, projection: &Projection, rows: &[T]) {
    let p = projection.variables();
    let x = MatRef::from_row_major_slice(rows, rows.len() / p, p);
    let mut z = vec![T::default(); x.nrows() * projection.components()];
    time(criterion, name, BytesDecimal(size_of_val(rows) as u64), || projection.transform_into(x, &mut z));
}

/// The nearest of 10,000 samples of 9 coordinates to each of 5,000.
fn classification(criterion: &mut Criterion) -> Result<()> {
    let (gallery, samples) = (normal(6, 10_000, 9), normal(7, 5000, 9));
    let classes: Vec<usize> = (0..10_000).map(|i| i % 10).collect();
    // A difference, its square and a sum.
    time(criterion, "classify/nearest_n5000_of_10000_d9", Elements(flops([10_000, 5000, 9, 3])), || {
        nearest_neighbors(gallery.as_ref(), &classes, samples.as_ref(), 1, Metric::Euclidean)
    });
    Ok(())
}

fn flops<const N: usize>(factors: [usize; N]) -> u64 {
    factors.into_iter().product::<usize>() as u64
}

fn normal(seed: u64, rows: usize, columns: usize) -> Mat<f64> {
    let mut rng = rand_pcg::Pcg64::seed_from_u64(seed);
    Mat::from_fn(rows, columns, |_, _| rng.sample(StandardNormal))
}

/// `x` with unit columns, and `d` responses to every fiftieth of them.
fn regression(x: Mat<f64>, d: usize) -> Result<(Mat<f64>, Mat<f64>)> {
    let (n, p) = x.shape();
    let data = Dataset::from_owned(x, &vec![0; n])?;
    let centred = Centred::new(&data, None)?;
    let (columns, norms) = (centred.dense()?, centred.norms());
    let x = Mat::from_fn(n, p, |i, j| columns[(i, j)] / norms[j]);
    let weights = normal(1, p, d);
    let weights = Mat::from_fn(p, d, |j, k| if (j + 7 * k) % 50 == 0 { 5.0 * weights[(j, k)] } else { 0.0 });
    let y = &x * weights + normal(0, n, d);
    Ok((x, y))
}

fn bench(criterion: &mut Criterion) {
    for kernels in [regressions, neighbors, alignment, projection, classification] {
        kernels(criterion).expect("the data are valid");
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(2));
    targets = bench
}
criterion_main!(benches);
