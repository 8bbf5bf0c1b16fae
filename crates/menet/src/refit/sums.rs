//! What a refit needs of the training samples, as sums over them: for samples that no process holds at once.
//!
//! With `V` the samples less their class centre, every variable divided by its unit, a refit looks at V through two matrices,
//!
//! ```text
//! VᵀV    and    (V∘V)ᵀ(V∘V)
//! ```
//!
//! of which the second holds the fourth powers of Ledoit and Wolf's intensity, for any choice among the variables. Both are sums over the
//! samples, so that those of pieces add up.

use faer::Mat;

use crate::error::{Error, Result};

/// Sums over the training samples, of some variables.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainingSums {
    pub(super) variables: Vec<usize>,
    pub(super) counts: Vec<usize>,
    /// The class centres of the centred variables over their units, c×m.
    pub(super) centres: Mat<f64>,
    /// The length of every centred variable over its unit.
    pub(super) norms: Vec<f64>,
    pub(super) units: Vec<f64>,
    /// The smallest and the largest value of every variable.
    pub(super) ranges: Vec<(f64, f64)>,
    pub(super) squares: Mat<f64>,
    pub(super) fourths: Mat<f64>,
}

impl TrainingSums {
    /// From sums over all samples.
    ///
    /// `variables` rise. `counts` are the samples of every class, `ranges` the ends of every variable; `centres` (c×m) and `norms` (m) are
    /// of the centred variables, in the user's units. `squares` and `fourths` (m×m) are `VᵀV` and `(V∘V)ᵀ(V∘V)`, where V is divided by `units`.
    ///
    /// # Errors
    /// When sizes do not fit together.
    pub fn new(
        variables: Vec<usize>,
        counts: Vec<usize>,
        mut centres: Mat<f64>,
        mut norms: Vec<f64>,
        (units, ranges): (Vec<f64>, Vec<(f64, f64)>),
        (squares, fourths): (Mat<f64>, Mat<f64>),
    ) -> Result<Self> {
        let (m, c) = (variables.len(), counts.len());
        for (what, given, expected) in [
            ("a row of `centres`", centres.ncols(), m),
            ("a column of `centres`", centres.nrows(), c),
            ("`norms`", norms.len(), m),
            ("`units`", units.len(), m),
            ("`ranges`", ranges.len(), m),
            ("`squares`", squares.nrows() * squares.ncols(), m * m),
            ("`fourths`", fourths.nrows() * fourths.ncols(), m * m),
        ] {
            if given != expected {
                let why = format!("there are {m} variables and {c} classes");
                return Err(Error::Size { what, given, expected, why });
            }
        }
        for (j, unit) in units.iter().enumerate() {
            norms[j] /= unit;
            (0..c).for_each(|class| centres[(class, j)] /= unit);
        }
        Ok(TrainingSums { variables, counts, centres, norms, units, ranges, squares, fourths })
    }

    /// Number of samples.
    pub(super) fn samples(&self) -> usize {
        self.counts.iter().sum()
    }

    /// The sums of some of the variables.
    ///
    /// # Errors
    /// When one is not among them.
    pub(super) fn of(&self, variables: &[usize]) -> Result<Self> {
        let place = |j: &usize| {
            self.variables
                .binary_search(j)
                .map_err(|_| Error::Degenerate(format!("there are no sums of variable {j} of the panel")))
        };
        let at: Vec<usize> = variables.iter().map(place).collect::<Result<_>>()?;
        let (m, c) = (at.len(), self.counts.len());
        let part = |a: &Mat<f64>| Mat::from_fn(m, m, |i, j| a[(at[i], at[j])]);
        Ok(TrainingSums {
            variables: variables.to_vec(),
            counts: self.counts.clone(),
            centres: Mat::from_fn(c, m, |class, j| self.centres[(class, at[j])]),
            norms: at.iter().map(|&j| self.norms[j]).collect(),
            units: at.iter().map(|&j| self.units[j]).collect(),
            ranges: at.iter().map(|&j| self.ranges[j]).collect(),
            squares: part(&self.squares),
            fourths: part(&self.fourths),
        })
    }

    /// The class centres of the centred variables, c×m, in the user's units.
    pub(crate) fn centres(&self) -> Mat<f64> {
        Mat::from_fn(self.counts.len(), self.units.len(), |class, j| self.centres[(class, j)] * self.units[j])
    }

    /// The standard deviation of every variable over all samples, in the user's units.
    pub(crate) fn deviations(&self) -> Vec<f64> {
        let degrees = self.samples().saturating_sub(1).max(1) as f64;
        self.norms.iter().zip(&self.units).map(|(norm, unit)| norm * unit / degrees.sqrt()).collect()
    }
}
