//! Loops over vectors, in one fixed order of summation whatever the width of the machine's.

/// Runs `work` compiled for the widest vectors this machine has. Sums keep their order whatever the width.
/// The closure must be `#[inline(always)]`, or it is compiled apart, for the oldest machine.
pub(crate) fn vectorized<T>(work: impl FnOnce() -> T) -> T {
    pulp::Arch::new().dispatch(work)
}

/// `Σ xᵢ yᵢ`, in one fixed order. To be called inside [`vectorized`].
#[inline(always)]
pub(crate) fn dot_inline(x: &[f64], y: &[f64]) -> f64 {
    const LANES: usize = 8;
    let (x, x_tail) = x.as_chunks::<LANES>();
    let (y, y_tail) = y.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for (x, y) in x.iter().zip(y) {
        for l in 0..LANES {
            sums[l] += x[l] * y[l];
        }
    }
    let tail: f64 = x_tail.iter().zip(y_tail).map(|(x, y)| x * y).sum();
    sums.iter().sum::<f64>() + tail
}

/// The inner products of several vectors with `x`, each in the same fixed order. To be called inside [`vectorized`].
#[inline(always)]
pub(crate) fn dots_inline<const R: usize>(rows: [&[f64]; R], x: &[f64]) -> [f64; R] {
    const LANES: usize = 8;
    let mut sums = [[0.0; LANES]; R];
    let (chunks, tail) = x.as_chunks::<LANES>();
    let rows = rows.map(|row| {
        let (row, tail) = row[..x.len()].as_chunks::<LANES>();
        (&row[..chunks.len()], tail)
    });
    for (k, x) in chunks.iter().enumerate() {
        for (sums, (row, _)) in sums.iter_mut().zip(&rows) {
            for l in 0..LANES {
                sums[l] += row[k][l] * x[l];
            }
        }
    }
    std::array::from_fn(|r| {
        let s = &sums[r];
        let sum = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
        rows[r].1.iter().zip(tail).fold(sum, |sum, (row, x)| sum + row * x)
    })
}

/// `y ← y + a x`. To be called inside [`vectorized`].
#[inline(always)]
pub(crate) fn axpy_inline(a: f64, x: &[f64], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += a * x;
    }
}

/// `Σ xᵢ yᵢ`, in one fixed order whatever the vector width.
pub(crate) fn dot(x: &[f64], y: &[f64]) -> f64 {
    vectorized(
        #[inline(always)]
        || dot_inline(x, y),
    )
}

/// `y ← y + a x`.
pub(crate) fn axpy(a: f64, x: &[f64], y: &mut [f64]) {
    vectorized(
        #[inline(always)]
        || axpy_inline(a, x, y),
    );
}

/// `out ← out + Σₖ x[k] · column k` for columns stored one after the other: four at a time, since writing the result costs
/// as much as reading a column.
pub(crate) fn combine(columns: &[f64], x: &[f64], out: &mut [f64]) {
    let m = out.len();
    if m == 0 {
        return;
    }
    vectorized(
        #[inline(always)]
        || {
            let (fours, rest) = x.as_chunks::<4>();
            let mut columns = columns.chunks_exact(m);
            for x in fours {
                if let [Some(c0), Some(c1), Some(c2), Some(c3)] = [(); 4].map(|()| columns.next()) {
                    for ((((out, c0), c1), c2), c3) in out.iter_mut().zip(c0).zip(c1).zip(c2).zip(c3) {
                        *out += (x[0] * c0 + x[1] * c1) + (x[2] * c2 + x[3] * c3);
                    }
                }
            }
            for (x, column) in rest.iter().zip(columns) {
                axpy_inline(*x, column, out);
            }
        },
    );
}

/// `out[t] = Σₖ weights[k][t] · column k`, added up in the order of the columns: weights of 0 at the end change nothing.
pub(crate) fn combine_each<'a, const T: usize>(
    column: impl Fn(usize) -> &'a [f64],
    weights: &[[f64; T]],
    mut out: [&mut [f64]; T],
) {
    const ROWS: usize = 512;
    let m = out[0].len();
    out.iter_mut().for_each(|out| out.fill(0.0));
    for start in (0..m).step_by(ROWS) {
        let end = (start + ROWS).min(m);
        let mut out = out.each_mut().map(|out| &mut out[start..end]);
        vectorized(
            #[inline(always)]
            || {
                let (fours, rest) = weights.as_chunks::<4>();
                for (k, w) in fours.iter().enumerate() {
                    let columns: [&[f64]; 4] = std::array::from_fn(|c| &column(4 * k + c)[start..end]);
                    add_columns(columns, *w, &mut out);
                }
                for (k, w) in rest.iter().enumerate() {
                    add_columns([&column(4 * fours.len() + k)[start..end]], [*w], &mut out);
                }
            },
        );
    }
}

/// `out[t] ← out[t] + Σₖ weights[k][t] · column k`, one after the other.
#[inline(always)]
fn add_columns<const C: usize, const T: usize>(
    columns: [&[f64]; C],
    weights: [[f64; T]; C],
    out: &mut [&mut [f64]; T],
) {
    let len = columns[0].len();
    let columns = columns.map(|column| &column[..len]);
    let out = out.each_mut().map(|out| &mut out[..len]);
    for i in 0..len {
        for t in 0..T {
            let mut sum = out[t][i];
            for c in 0..C {
                sum += weights[c][t] * columns[c][i];
            }
            out[t][i] = sum;
        }
    }
}

/// The inner products of `x` with several vectors.
pub(crate) fn inner_each<const T: usize>(vectors: [&[f64]; T], x: &[f64]) -> [f64; T] {
    vectorized(
        #[inline(always)]
        || dots_inline(vectors, x),
    )
}

/// `Σ (xᵢ − yᵢ)²`, in one fixed order whatever the vector width.
pub(crate) fn squared_distance(x: &[f64], y: &[f64]) -> f64 {
    const LANES: usize = 8;
    vectorized(
        #[inline(always)]
        || {
            let (x, x_tail) = x.as_chunks::<LANES>();
            let (y, y_tail) = y.as_chunks::<LANES>();
            let mut sums = [0.0; LANES];
            for (x, y) in x.iter().zip(y) {
                for l in 0..LANES {
                    let d = x[l] - y[l];
                    sums[l] += d * d;
                }
            }
            let tail: f64 = x_tail.iter().zip(y_tail).map(|(x, y)| (x - y) * (x - y)).sum();
            sums.iter().sum::<f64>() + tail
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vector_kernels_handle_tails() {
        for n in [0, 1, 7, 8, 9, 31] {
            let x: Vec<f64> = (0..n).map(|i| i as f64).collect();
            let y: Vec<f64> = (0..n).map(|i| 2.0 - i as f64).collect();
            assert_eq!(dot(&x, &y), x.iter().zip(&y).map(|(a, b)| a * b).sum::<f64>());
            let columns: Vec<f64> = (0..7 * n).map(|i| (i % 5) as f64).collect();
            let weights = [1.0, -2.0, 0.5, 3.0, 0.0, 1.0, 2.0];
            let expected: Vec<f64> = (0..n)
                .map(|i| weights.iter().enumerate().map(|(k, w)| w * columns[k * n + i]).sum())
                .collect();
            let mut out = vec![0.0; n];
            combine(&columns, &weights, &mut out);
            assert_eq!(out, expected);
            let scaled = weights.map(|w| [w, 2.0 * w, 0.0, -w]);
            let mut out = [(); 4].map(|()| vec![7.0; n]);
            combine_each(|k| &columns[k * n..][..n], &scaled, out.each_mut().map(Vec::as_mut_slice));
            for (out, factor) in out.iter().zip([1.0, 2.0, 0.0, -1.0]) {
                assert!(out.iter().zip(&expected).all(|(a, b)| *a == factor * b));
            }
            assert_eq!(inner_each([&x, &y], &y), [dot(&x, &y), dot(&y, &y)]);
            assert_eq!(squared_distance(&x, &y), x.iter().zip(&y).map(|(a, b)| (a - b).powi(2)).sum::<f64>());
        }
    }
}
