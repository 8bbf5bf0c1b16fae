//! Some samples of a larger set, where they lie, and what distances between them leave out.

use faer::{Mat, MatRef};
use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::numerics::finite::{Real, check_finite, usable};
use crate::numerics::linalg::{column, dot, squared_distance, transpose_into, vectorized};
use crate::numerics::sparse::SparseMatrix;
use crate::preprocess::Rows;

/// Some samples of a larger set.
#[derive(Debug, Clone)]
pub struct Block<'a> {
    pub(super) rows: Rows<'a>,
    pub(super) variables: usize,
    pub(super) class: &'a [usize],
    pub(super) numbers: SampleNumbers<'a>,
    /// Squared distances of neighbours found elsewhere.
    pub(super) known: &'a [f64],
}

/// The numbers of samples in the whole set.
#[derive(Debug, Clone, Copy)]
pub(super) enum SampleNumbers<'a> {
    /// One after the other, from this one on.
    From(usize),
    Each(&'a [usize]),
}

impl SampleNumbers<'_> {
    pub(super) fn of(self, i: usize) -> usize {
        match self {
            SampleNumbers::From(start) => start + i,
            SampleNumbers::Each(numbers) => numbers[i],
        }
    }
}

impl<'a> Block<'a> {
    /// Dense samples, one per row, with the class of each; `start` is the number of the first in the whole set. They are
    /// copied unless each lies in one piece.
    ///
    /// # Errors
    /// When a value is not finite, there are no variables, or there is not one class per sample.
    pub fn dense(x: MatRef<'a, f64>, class: &'a [usize], start: usize) -> Result<Self> {
        let rows = match x.try_as_row_major() {
            Some(rows) => Rows::Given(rows),
            None => {
                let mut samples = Mat::zeros(x.ncols(), x.nrows());
                transpose_into(samples.as_mut(), x);
                Rows::Copied(samples)
            }
        };
        Self::checked(x, rows, class, start)
    }

    /// Dense samples in single precision, each in one piece.
    ///
    /// # Errors
    /// As [`Self::dense`], or when samples are not in one piece.
    pub fn single(x: MatRef<'a, f32>, class: &'a [usize], start: usize) -> Result<Self> {
        let rows = x.try_as_row_major().map(Rows::Single);
        let rows = rows.ok_or_else(|| Error::parameter("x", "by columns", "by rows (C order)"))?;
        Self::checked(x, rows, class, start)
    }

    /// Sparse samples, one per row.
    ///
    /// # Errors
    /// When there is not one class per sample.
    pub fn sparse(x: SparseMatrix, class: &'a [usize], start: usize) -> Result<Self> {
        check_length("`class`", class.len(), x.rows())?;
        let variables = x.columns();
        Ok(Block { rows: Rows::Sparse(x), variables, class, numbers: SampleNumbers::From(start), known: &[] })
    }

    fn checked<T: Real>(x: MatRef<'_, T>, rows: Rows<'a>, class: &'a [usize], start: usize) -> Result<Self> {
        let variables = x.ncols();
        if variables == 0 {
            return Err(Error::Empty { rows: x.nrows(), columns: 0 });
        }
        check_length("`class`", class.len(), x.nrows())?;
        check_finite("the block", x)?;
        Ok(Block { rows, variables, class, numbers: SampleNumbers::From(start), known: &[] })
    }

    /// This block with a number for each sample.
    ///
    /// # Errors
    /// When there is not one number per sample.
    pub fn numbered(self, numbers: &'a [usize]) -> Result<Self> {
        check_length("`numbers`", numbers.len(), self.samples())?;
        Ok(Block { numbers: SampleNumbers::Each(numbers), ..self })
    }

    /// This block with what is known of its neighbours: the squared distances that [`NearestSamples::into_arrays`] gives of these samples
    /// in other references. Further ones than the last of every group need not be found, and are not; a search takes less time.
    ///
    /// [`NearestSamples::into_arrays`]: super::NearestSamples::into_arrays
    pub fn knowing(self, squared: &'a [f64]) -> Self {
        Block { known: squared, ..self }
    }

    /// How far a neighbour of sample `i` in a group may be: by the list of that group, its begin and length, in all lists of `width`.
    pub(super) fn farthest(&self, i: usize, (from, k): (usize, usize), width: usize) -> f64 {
        if self.known.is_empty() || k == 0 { f64::INFINITY } else { self.known[i * width + from + k - 1] }
    }

    /// Refuses neighbours that are known if they are not so many per sample.
    pub(super) fn check_known(&self, width: usize) -> Result<()> {
        let (given, expected) = (self.known.len(), self.samples() * width);
        if given == 0 || given == expected {
            return Ok(());
        }
        let why = format!("there are {} samples with {width} neighbours each", self.samples());
        Err(Error::Size { what: "what is known of neighbours", given, expected, why })
    }

    /// Number of samples.
    pub fn samples(&self) -> usize {
        self.class.len()
    }

    /// Refuses a block that cannot be compared with this one.
    pub(super) fn check(&self, other: &Block<'_>) -> Result<()> {
        if self.variables != other.variables {
            let why = format!("the other block has {}", self.variables);
            let (given, expected) = (other.variables, self.variables);
            return Err(Error::Size { what: "the list of variables of a block", given, expected, why });
        }
        let kind = |rows: &Rows<'_>| match rows {
            Rows::Given(_) | Rows::Copied(_) => "dense in double precision",
            Rows::Single(_) => "dense in single precision",
            Rows::Sparse(_) => "sparse",
        };
        let (ours, theirs) = (kind(&self.rows), kind(&other.rows));
        if ours == theirs {
            return Ok(());
        }
        Err(Error::parameter("a block", theirs, format!("{ours}, as the other block")))
    }

    /// Dense sample `i` less the mean, times `scale`; what takes no part is 0.
    pub(super) fn centred<T: Real>(&self, i: usize, centre: Centre<'_>, scale: f64, out: &mut [T]) {
        match &self.rows {
            Rows::Given(rows) => less(rows.row(i).as_slice(), centre.mean, scale, out),
            Rows::Single(rows) => less(rows.row(i).as_slice(), centre.mean, scale, out),
            Rows::Copied(columns) => less(column(columns, i), centre.mean, scale, out),
            Rows::Sparse(_) => {}
        }
        centre.dropped.iter().for_each(|&j| out[j] = T::default());
    }

    /// The squared length of every centred sample.
    pub(super) fn squared_lengths(&self, centre: Centre<'_>) -> Vec<f64> {
        let square = |out: &mut Vec<f64>, i| {
            self.centred(i, centre, 1.0, out);
            dot(out, out)
        };
        (0..self.samples()).into_par_iter().map_init(|| vec![0.0; self.variables], square).collect()
    }

    /// The squared distance of sample `i` to sample `j` of others, to the bits that the search of all samples has.
    pub(super) fn squared_distance(&self, i: usize, others: &Block<'_>, j: usize, dropped: &[usize]) -> f64 {
        if dropped.is_empty() {
            return self.rows.squared_distance_to(i, &others.rows, j);
        }
        match (&self.rows, &others.rows) {
            (Rows::Single(x), Rows::Single(y)) => without(x.row(i).as_slice(), y.row(j).as_slice(), dropped),
            (x, y) => match (double(x, i), double(y, j)) {
                (Some(x), Some(y)) => without(x, y, dropped),
                _ => f64::NAN,
            },
        }
    }
}

fn double<'s>(rows: &'s Rows<'_>, i: usize) -> Option<&'s [f64]> {
    match rows {
        Rows::Given(rows) => Some(rows.row(i).as_slice()),
        Rows::Copied(columns) => Some(column(columns, i)),
        Rows::Single(_) | Rows::Sparse(_) => None,
    }
}

fn less<T: Real, Z: Real>(x: &[T], mean: &[f64], scale: f64, out: &mut [Z]) {
    vectorized(
        #[inline(always)]
        || {
            for ((out, x), mean) in out.iter_mut().zip(x).zip(mean) {
                *out = Z::nearest(scale * ((*x).into() - mean));
            }
        },
    );
}

/// The squared distance but for some variables: they are made equal, so that what is summed, and in which order, stays as it is.
fn without<T: Copy + Into<f64>>(x: &[T], y: &[T], dropped: &[usize]) -> f64 {
    let mut x = x.to_vec();
    dropped.iter().for_each(|&j| x[j] = y[j]);
    squared_distance(&x, y)
}

/// What the distances between dense blocks are taken about, the same for all blocks of a set.
#[derive(Debug, Clone, Copy)]
pub struct Centre<'a> {
    /// Of every variable. The nearer to the mean of all samples, the faster; the neighbours are the same.
    pub(super) mean: &'a [f64],
    /// Variables that take no part in distances.
    pub(super) dropped: &'a [usize],
}

impl<'a> Centre<'a> {
    /// About `mean`, one value per variable, without the variables `dropped`: the search of all samples leaves out those that
    /// are constant but for rounding.
    ///
    /// # Errors
    /// When a mean is not finite, or there is no such variable.
    pub fn new(mean: &'a [f64], dropped: &'a [usize]) -> Result<Self> {
        if let Some(column) = mean.iter().position(|&mean| !usable(mean)) {
            return Err(Error::NotFinite { what: "`mean`", row: 0, column, value: mean[column] });
        }
        if let Some(&wrong) = dropped.iter().find(|&&j| j >= mean.len()) {
            let allowed = format!("a variable, of which there are {} (counted from 0)", mean.len());
            return Err(Error::parameter("dropped", wrong, allowed));
        }
        Ok(Centre { mean, dropped })
    }

    /// Refuses a block of another size, or a sparse one if variables are to be left out.
    pub(super) fn check(&self, block: &Block<'_>) -> Result<()> {
        let (given, expected) = (self.mean.len(), block.variables);
        if given != expected {
            let why = format!("a block has {expected} variables");
            return Err(Error::Size { what: "`mean`", given, expected, why });
        }
        if matches!(block.rows, Rows::Sparse(_)) && !self.dropped.is_empty() {
            let value = format!("{} variables with sparse samples", self.dropped.len());
            return Err(Error::parameter("dropped", value, "empty: leave these variables out before"));
        }
        Ok(())
    }
}

pub(super) fn check_length(what: &'static str, given: usize, samples: usize) -> Result<()> {
    if given == samples {
        return Ok(());
    }
    let why = format!("there are {samples} samples");
    Err(Error::Size { what, given, expected: samples, why })
}
