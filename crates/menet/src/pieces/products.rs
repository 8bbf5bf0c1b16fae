//! Products of variables over the rows of a piece, and the images `A X` of a few columns of all rows.
//!
//! Values are converted to double precision a strip of rows at a time, so that a piece in single precision is never copied whole.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::moments::check_classes;
use crate::error::{Error, Result};
use crate::numerics::finite::Real;
use crate::numerics::linalg::{ParColumnTiles, TILE, mirror_lower};
use crate::operator::Smoother;

/// Rows that are converted at a time.
const ROWS: usize = 512;

/// How values become those of the solver: `(x − mean) · factor`, with a factor of 0 for a constant variable.
#[derive(Debug, Clone, Copy)]
pub struct SolverUnits<'a> {
    /// The mean of every variable.
    pub mean: &'a [f64],
    /// The factor on every variable.
    pub factor: &'a [f64],
}

impl SolverUnits<'_> {
    fn check(&self, variables: usize) -> Result<()> {
        for (what, given) in [("`mean`", self.mean.len()), ("`factor`", self.factor.len())] {
            if given != variables {
                let why = format!("there are {variables} variables");
                return Err(Error::Size { what, given, expected: variables, why });
            }
        }
        Ok(())
    }
}

/// The products of some variables within classes, over the rows of a piece; those of pieces add up.
#[derive(Debug, Clone, PartialEq)]
pub struct WithinProducts {
    /// `VᵀV`, with V the rows less their class centre, times the factors.
    pub squares: Mat<f64>,
    /// `(V∘V)ᵀ(V∘V)`, if asked for.
    pub fourths: Option<Mat<f64>>,
}

impl WithinProducts {
    /// Of the `variables` of a piece, in the units of these variables. `centres` (c×m) are their class means, less the mean: the two are
    /// subtracted one after the other, since their sum would be rounded at the size of the mean.
    ///
    /// # Errors
    /// When sizes do not fit together.
    pub fn of<T: Real>(
        x: MatRef<'_, T>,
        classes: &[usize],
        variables: &[usize],
        centres: MatRef<'_, f64>,
        units: SolverUnits<'_>,
        fourths: bool,
    ) -> Result<Self> {
        check_classes(x, classes, centres.nrows())?;
        let m = variables.len();
        units.check(m)?;
        if centres.ncols() != m || variables.iter().any(|&j| j >= x.ncols()) {
            let why = format!("there are units for {m} of {} variables", x.ncols());
            return Err(Error::Size { what: "a row of `centres`", given: centres.ncols(), expected: m, why });
        }
        let mut squares = Mat::zeros(m, m);
        let mut of_squares = fourths.then(|| Mat::zeros(m, m));
        for start in (0..x.nrows()).step_by(ROWS) {
            let rows = ROWS.min(x.nrows() - start);
            let value = |i: usize, k: usize| {
                let value: f64 = x[(start + i, variables[k])].into();
                units.factor[k] * (value - units.mean[k] - centres[(classes[start + i], k)])
            };
            let mut v = converted(rows, m, value);
            add_products(squares.as_mut(), v.as_ref(), v.as_ref());
            if let Some(of_squares) = &mut of_squares {
                v.as_mut().par_column_tiles().for_each(|tile| {
                    tile.col_iter_mut().for_each(|column| column.iter_mut().for_each(|x| *x *= *x));
                });
                add_products(of_squares.as_mut(), v.as_ref(), v.as_ref());
            }
        }
        mirror_lower(squares.as_mut());
        if let Some(of_squares) = &mut of_squares {
            mirror_lower(of_squares.as_mut());
        }
        Ok(WithinProducts { squares, fourths: of_squares })
    }
}

/// The columns of a band of the Gram matrix are a multiple of this, but for the last band.
pub const BAND: usize = TILE;

/// `A X` for a few columns of all rows, as given, in the solver's units.
///
/// # Errors
/// When sizes do not fit together.
pub fn images<T: Real>(x: MatRef<'_, T>, units: SolverUnits<'_>, smoother: &Smoother) -> Result<Mat<f64>> {
    units.check(x.ncols())?;
    if x.nrows() != smoother.samples() {
        let (given, expected) = (x.nrows(), smoother.samples());
        let why = format!("the alignment is of {expected} samples");
        return Err(Error::Size { what: "a column", given, expected, why });
    }
    let mut x = converted(x.nrows(), x.ncols(), |i, j| scaled(x, units, i, j));
    smoother.apply_in_place(x.as_mut());
    Ok(x)
}

/// The part of the lower half of `XᵀAX` that the rows of a piece make, with their `images` (rows of `A X`); the upper half is 0.
///
/// The images may be of a band of columns, from `first` on, a multiple of [`BAND`]. The result then has the columns of the band, and the
/// rows from `first` on. A band has the same bits whichever others there are.
///
/// # Errors
/// When sizes do not fit together.
pub fn gram<T: Real>(
    x: MatRef<'_, T>,
    units: SolverUnits<'_>,
    images: MatRef<'_, f64>,
    first: usize,
) -> Result<Mat<f64>> {
    let (n, p) = x.shape();
    units.check(p)?;
    let width = images.ncols();
    let fits = first.is_multiple_of(BAND) && first + width <= p;
    if images.nrows() != n || !fits {
        let (given, expected) = (images.nrows() * width, n * p);
        let why =
            format!("the piece is {n} x {p}, and a band begins at a multiple of {BAND}, here at {first}");
        return Err(Error::Size { what: "`images`", given, expected, why });
    }
    let mut gram = Mat::zeros(p - first, width);
    for start in (0..n).step_by(ROWS) {
        let rows = ROWS.min(n - start);
        let part = converted(rows, p - first, |i, j| scaled(x, units, start + i, first + j));
        // By columns, as the products want them.
        let images = converted(rows, width, |i, j| images[(start + i, j)]);
        add_products(gram.as_mut(), part.as_ref(), images.as_ref());
    }
    Ok(gram)
}

fn scaled<T: Real>(x: MatRef<'_, T>, units: SolverUnits<'_>, i: usize, j: usize) -> f64 {
    let value: f64 = x[(i, j)].into();
    // A constant column is 0, however large its rounding.
    if units.factor[j] == 0.0 { 0.0 } else { (value - units.mean[j]) * units.factor[j] }
}

/// A matrix by columns of values that lie by rows: in squares that the cache holds.
fn converted(rows: usize, columns: usize, value: impl Fn(usize, usize) -> f64 + Sync) -> Mat<f64> {
    const SQUARE: usize = 64;
    let mut out = Mat::zeros(rows, columns);
    out.as_mut().par_column_tiles().enumerate().for_each(|(t, mut tile)| {
        for start in (0..rows).step_by(SQUARE) {
            for first in (0..tile.ncols()).step_by(SQUARE) {
                for i in start..rows.min(start + SQUARE) {
                    for k in first..tile.ncols().min(first + SQUARE) {
                        tile[(i, k)] = value(i, t * TILE + k);
                    }
                }
            }
        }
    });
    out
}

/// `out += aᵀ b`, the lower half. Tiles on the diagonal are whole.
fn add_products(out: MatMut<'_, f64>, a: MatRef<'_, f64>, b: MatRef<'_, f64>) {
    let p = a.ncols();
    out.par_column_tiles().enumerate().for_each(|(t, tile)| {
        let (start, width) = (t * TILE, tile.ncols());
        let below = tile.subrows_mut(start, p - start);
        let (left, right) = (a.subcols(start, p - start).transpose(), b.subcols(start, width));
        matmul(below, Accum::Add, left, right, 1.0, Par::Seq);
    });
}
