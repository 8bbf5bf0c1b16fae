//! Loops over vectors. The order of summation is fixed, whatever the vector width of the machine.

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

/// Defines the inner products of some vectors with `x`, each in the same fixed order, to be called inside [`vectorized`].
/// Their sums have names: an array of them compilers may leave in memory.
macro_rules! define_dots {
    ($name:ident, $count:literal, $($row:ident $sum:ident),+) => {
        #[inline(always)]
        pub(crate) fn $name(rows: [&[f64]; $count], x: &[f64]) -> [f64; $count] {
            const LANES: usize = 8;
            let (x, x_tail) = x.as_chunks::<LANES>();
            let [$($row),+] = rows.map(|row| &row[..LANES * x.len() + x_tail.len()]);
            $(let ($row, mut $sum) = ($row.as_chunks::<LANES>(), [0.0; LANES]);)+
            for k in 0..x.len() {
                $(for l in 0..LANES {
                    $sum[l] += $row.0[k][l] * x[k][l];
                })+
            }
            let half = |s: [f64; LANES]| -> [f64; LANES / 2] { std::array::from_fn(|l| s[l] + s[l + LANES / 2]) };
            // Left to themselves, compilers look for vectors across the rows and shuffle their way there at every turn of
            // the loop: to here and no further.
            let halves = std::hint::black_box([$(half($sum)),+]);
            let mut tails = [$($row.1),+].into_iter();
            halves.map(|s| {
                let tail = tails.next().unwrap_or_default().iter().zip(x_tail);
                tail.fold((s[0] + s[2]) + (s[1] + s[3]), |sum, (row, x)| sum + row * x)
            })
        }
    };
}

define_dots!(one_dot, 1, r0 s0);
define_dots!(two_dots, 2, r0 s0, r1 s1);
define_dots!(four_dots, 4, r0 s0, r1 s1, r2 s2, r3 s3);

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
    const ROWS: usize = 1024;
    let m = out[0].len();
    out.iter_mut().for_each(|out| out.fill(0.0));
    for start in (0..m).step_by(ROWS) {
        let end = (start + ROWS).min(m);
        let mut out = out.each_mut().map(|out| &mut out[start..end]);
        vectorized(
            #[inline(always)]
            || {
                let (eights, rest) = weights.as_chunks::<8>();
                for (k, w) in eights.iter().enumerate() {
                    let columns: [&[f64]; 8] = std::array::from_fn(|c| &column(8 * k + c)[start..end]);
                    add_columns(columns, *w, &mut out);
                }
                let (fours, rest) = rest.as_chunks::<4>();
                for (k, w) in fours.iter().enumerate() {
                    let first = 8 * eights.len() + 4 * k;
                    let columns: [&[f64]; 4] = std::array::from_fn(|c| &column(first + c)[start..end]);
                    add_columns(columns, *w, &mut out);
                }
                for (k, w) in (weights.len() - rest.len()..).zip(rest) {
                    add_columns([&column(k)[start..end]], [*w], &mut out);
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

/// `out[t] = Σₖ weights[k][t] · column k` for columns stored one after the other, to the last bit as [`combine_each`]: for
/// columns that stay in the cache, of which a few entries at a time are added up where nothing has to be written.
pub(crate) fn combine_block<const T: usize>(columns: &[f64], weights: &[[f64; T]], mut out: [&mut [f64]; T]) {
    const LANES: usize = 8;
    let m = out[0].len();
    if m == 0 {
        return;
    }
    let whole = m - m % LANES;
    vectorized(
        #[inline(always)]
        || {
            for start in (0..whole).step_by(LANES) {
                let mut sums = [[0.0; LANES]; T];
                for (column, weights) in columns.chunks_exact(m).zip(weights) {
                    let column: &[f64] = &column[start..start + LANES];
                    for t in 0..T {
                        for l in 0..LANES {
                            sums[t][l] += weights[t] * column[l];
                        }
                    }
                }
                for (out, sums) in out.iter_mut().zip(&sums) {
                    out[start..start + LANES].copy_from_slice(sums);
                }
            }
            for i in whole..m {
                let mut sums = [0.0; T];
                for (column, weights) in columns.chunks_exact(m).zip(weights) {
                    for t in 0..T {
                        sums[t] += weights[t] * column[i];
                    }
                }
                for (out, sum) in out.iter_mut().zip(sums) {
                    out[i] = sum;
                }
            }
        },
    );
}

/// The inner products of `x` with up to four vectors.
pub(crate) fn inner_each<const T: usize>(vectors: [&[f64]; T], x: &[f64]) -> [f64; T] {
    const { assert!(1 <= T && T <= 4) };
    // The last stands in for those that are not there.
    let vector = |t: usize| vectors[t.min(T - 1)];
    let mut products = [0.0; T];
    vectorized(
        #[inline(always)]
        || match T {
            1 => products.copy_from_slice(&one_dot([vector(0)], x)),
            2 => products.copy_from_slice(&two_dots([vector(0), vector(1)], x)),
            _ => products.copy_from_slice(&four_dots(std::array::from_fn(vector), x)[..T]),
        },
    );
    products
}

/// `Σ (xᵢ − yᵢ)²`, in one fixed order whatever the vector width.
pub(crate) fn squared_distance<T: Copy + Into<f64>>(x: &[T], y: &[T]) -> f64 {
    const LANES: usize = 8;
    vectorized(
        #[inline(always)]
        || {
            let (x, x_tail) = x.as_chunks::<LANES>();
            let (y, y_tail) = y.as_chunks::<LANES>();
            let mut sums = [0.0; LANES];
            for (x, y) in x.iter().zip(y) {
                for l in 0..LANES {
                    let d = x[l].into() - y[l].into();
                    sums[l] += d * d;
                }
            }
            let square = |(&x, &y): (&T, &T)| {
                let d = x.into() - y.into();
                d * d
            };
            let tail: f64 = x_tail.iter().zip(y_tail).map(square).sum();
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
            let mut block = [(); 4].map(|()| vec![7.0; n]);
            combine_block(&columns, &scaled, block.each_mut().map(Vec::as_mut_slice));
            assert_eq!(block, out, "to the last bit");
            let (xy, yy) = (dot(&x, &y), dot(&y, &y));
            assert_eq!(inner_each([&x[..]], &y), [xy]);
            assert_eq!(inner_each([&x, &y], &y), [xy, yy]);
            assert_eq!(inner_each([&x, &y, &x], &y), [xy, yy, xy]);
            assert_eq!(inner_each([&x, &y, &y, &x], &y), [xy, yy, yy, xy]);
            assert_eq!(squared_distance(&x, &y), x.iter().zip(&y).map(|(a, b)| (a - b).powi(2)).sum::<f64>());
        }
    }
}
