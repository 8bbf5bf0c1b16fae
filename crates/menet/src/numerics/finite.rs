//! Which numbers can be computed with: finite, and small enough to be squared.

use faer::MatRef;
use rayon::prelude::*;

use super::linalg::vectorized;
use crate::error::{Error, Result};

/// Values beyond this would overflow when squared distances are summed.
const LARGEST: f64 = 1e100;

/// Rows or columns that a thread looks through at a time.
const LINES: usize = 64;

/// Refuses a value that is not finite or too large, naming its row and column.
pub(crate) fn check_finite<T: Real>(what: &'static str, x: MatRef<'_, T>) -> Result<()> {
    // Along memory first: in nearly all cases there is nothing to find.
    let lines = if x.row_stride().abs() > x.col_stride().abs() { x.transpose() } else { x };
    let usable_line = |k: usize| {
        let line = lines.col(k);
        match line.try_as_col_major() {
            Some(line) => T::all_usable(line.as_slice()),
            None => line.iter().all(|&value| usable(value)),
        }
    };
    if (0..lines.ncols()).into_par_iter().with_min_len(LINES).all(usable_line) {
        return Ok(());
    }
    for column in 0..x.ncols() {
        if let Some(row) = x.col(column).iter().position(|&value| !usable(value)) {
            return Err(Error::NotFinite { what, row, column, value: x[(row, column)].into() });
        }
    }
    Ok(())
}

/// Refuses a value that is infinite or too large. Missing values, NaN, pass.
pub(crate) fn check_present<T: Real>(what: &'static str, x: MatRef<'_, T>) -> Result<()> {
    if check_finite(what, x).is_ok() {
        return Ok(());
    }
    for column in 0..x.ncols() {
        let wrong = |&value: &T| !usable(value) && !missing(value);
        if let Some(row) = x.col(column).iter().position(wrong) {
            return Err(Error::NotFinite { what, row, column, value: x[(row, column)].into() });
        }
    }
    Ok(())
}

/// Row and column of the first missing value, in the first column that has one.
pub(crate) fn first_missing<T: Real>(x: MatRef<'_, T>) -> Option<(usize, usize)> {
    let first = |column: usize| x.col(column).iter().position(|&value| missing(value));
    (0..x.ncols()).find_map(|column| Some((first(column)?, column)))
}

/// Whether a value stands for one that is not there.
fn missing<T: Into<f64>>(value: T) -> bool {
    let value: f64 = value.into();
    value.is_nan()
}

/// Whether a value is finite and can be squared.
pub(crate) fn usable<T: Into<f64>>(value: T) -> bool {
    value.into().abs() <= LARGEST // false for NaN
}

/// What samples are made of: double or single precision.
pub trait Real: Copy + Default + Into<f64> + Send + Sync {
    /// The nearest value of this precision.
    fn nearest(value: f64) -> Self;

    /// Whether all values are finite and can be squared in double precision.
    fn all_usable(values: &[Self]) -> bool;
}

impl Real for f64 {
    fn nearest(value: f64) -> f64 {
        value
    }

    fn all_usable(values: &[f64]) -> bool {
        const LANES: usize = 8;
        vectorized(
            #[inline(always)]
            || {
                let (chunks, tail) = values.as_chunks::<LANES>();
                let mut wrong = [0.0; LANES];
                for values in chunks {
                    for l in 0..LANES {
                        wrong[l] = if usable(values[l]) { wrong[l] } else { 1.0 };
                    }
                }
                wrong == [0.0; LANES] && tail.iter().all(|&value| usable(value))
            },
        )
    }
}

impl Real for f32 {
    fn nearest(value: f64) -> f32 {
        value as f32
    }

    /// Read as a whole number, the bits without the sign rise with the size of a value; infinity and NaN come last.
    fn all_usable(values: &[f32]) -> bool {
        let size = |value: f32| value.abs().to_bits();
        let largest = vectorized(
            #[inline(always)]
            || values.iter().fold(0, |largest: u32, &value| largest.max(size(value))),
        );
        largest < f32::INFINITY.to_bits()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_is_not_usable_is_seen_wherever_it_stands() {
        for len in [1, 7, 8, 9, 16, 37] {
            let (mut double, mut single) = (vec![-1e100; len], vec![f32::MIN; len]);
            assert!(f64::all_usable(&double) && f32::all_usable(&single), "{len}");
            for at in 0..len {
                for bad in [f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1e101] {
                    (double[at], single[at]) = (bad, bad as f32);
                    assert!(!f64::all_usable(&double) && !f32::all_usable(&single), "{bad} at {at} of {len}");
                }
                (double[at], single[at]) = (0.0, 0.0);
            }
        }
    }
}
