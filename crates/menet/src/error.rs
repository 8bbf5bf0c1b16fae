//! Everything that can go wrong, with the data a caller needs to say it in their own words.

use std::borrow::Cow;

use crate::monitor::Stage;
use crate::numerics::sparse::SparseMatrix;

/// `Result` with this crate's [`enum@Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// What was given, where, and what is allowed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter is outside its range.
    #[error("`{name}` is {value}, but must be {allowed}")]
    Parameter {
        /// The parameter's name, as in [`crate::MenParams`] or [`crate::lars::LarsOptions`].
        name: Cow<'static, str>,
        /// What was given.
        value: String,
        /// What would have been accepted.
        allowed: String,
    },
    /// Two sizes that must agree do not.
    #[error("{what} has {given} entries, but {expected} are needed: {why}")]
    Size {
        /// The thing of the wrong size.
        what: &'static str,
        /// Its size.
        given: usize,
        /// The size it must have.
        expected: usize,
        /// Where the expected size comes from.
        why: String,
    },
    /// There are no samples, no variables or no responses.
    #[error("the data are empty: {rows} rows and {columns} columns")]
    Empty {
        /// Number of samples.
        rows: usize,
        /// Number of variables.
        columns: usize,
    },
    /// A value is NaN or infinite, or so large that its square is.
    #[error(
        "row {row}, column {column} (counted from 0) of {what} is {value:?}, but must be finite and at most \
         1e100 in size"
    )]
    NotFinite {
        /// Which matrix or vector.
        what: &'static str,
        /// Row, from 0.
        row: usize,
        /// Column, from 0.
        column: usize,
        /// The value found.
        value: f64,
    },
    /// A supervised method was given fewer than two classes.
    #[error("{found} class{} found in {samples} samples, but at least 2 are needed", if *found == 1 { "" } else { "es" })]
    Classes {
        /// Number of classes found.
        found: usize,
        /// Number of samples.
        samples: usize,
    },
    /// More axes were asked for than the target has.
    #[error(
        "`components` is {requested}, but {classes} classes give a target of rank {limit}: use 1 to {limit}"
    )]
    Components {
        /// What was asked for.
        requested: usize,
        /// The largest possible number.
        limit: usize,
        /// Number of classes.
        classes: usize,
    },
    /// So many variables tie for the first place that an axis can use none of them.
    #[error(
        "axis {component} uses no variable: {tied} tie for the first place, but `nonzeros` is {nonzeros}; allow \
         {tied}, or break the tie with penalty.factors"
    )]
    Tie {
        /// The axis, from 1.
        component: usize,
        /// How many variables would have to move together.
        tied: usize,
        /// How many are allowed.
        nonzeros: usize,
    },
    /// An axis uses no variable, for another reason.
    #[error("axis {component} uses no variable: its path {why}")]
    NoVariable {
        /// The axis, from 1.
        component: usize,
        /// How its path ended.
        why: String,
    },
    /// A method needs a matrix of samples by samples, and there are too many.
    #[error("{what} needs an n x n matrix: there are {samples} samples, and at most {most} are possible")]
    TooLarge {
        /// What needs it.
        what: &'static str,
        /// How many samples there are.
        samples: usize,
        /// How many there may be.
        most: usize,
    },
    /// What was asked for needs dense data, and these are sparse and too large to be made so.
    #[error(
        "this needs dense data, and the sparse samples, {rows} x {columns}, would take {gigabytes:.1} GB: at most \
         {:.2} GB are made dense (`fit`, `transform` and `predict` work on sparse data of any size)",
        crate::dataset::DENSE_BYTES as f64 / 1e9
    )]
    Sparse {
        /// Number of samples.
        rows: usize,
        /// Number of variables.
        columns: usize,
        /// What they would take.
        gigabytes: f64,
    },
    /// No variable distinguishes the samples, or the class centres coincide.
    #[error("nothing to learn: {0}")]
    Degenerate(String),
    /// The reduced problem would not be positive definite and the policy is `error`.
    #[error(
        "with kappa = {kappa} the smallest eigenvalue of L is {lambda_min:.6e}, but alpha, beta and floor \
         allow at most {bound:.6e} below zero; {}",
        match largest_kappa {
            Some(k) => format!("the largest admissible kappa is {k:?} (or choose manifold.definiteness = shrink or floor)"),
            None => "this patch rule has no kappa to lower (choose manifold.definiteness = floor)".to_owned(),
        }
    )]
    Indefinite {
        /// The requested κ.
        kappa: f64,
        /// Smallest eigenvalue of the alignment matrix.
        lambda_min: f64,
        /// How far below zero it may lie.
        bound: f64,
        /// Largest κ that satisfies the bound, rounded down; none for rules without a κ.
        largest_kappa: Option<f64>,
    },
    /// More was asked of a path than was computed.
    #[error("{asked} was asked of a path that {has}; compute the path further")]
    PathTooShort {
        /// What was asked.
        asked: String,
        /// Where the path ends.
        has: String,
    },
    /// The monitor asked to stop.
    #[error("stopped during the stage `{stage}`")]
    Stopped {
        /// The stage that was interrupted.
        stage: Stage,
    },
    /// A decomposition or an iteration did not converge.
    #[error("{what} did not converge: {detail}")]
    Numerical {
        /// The computation.
        what: &'static str,
        /// What happened.
        detail: String,
    },
}

impl Error {
    pub(crate) fn parameter(name: &'static str, value: impl ToString, allowed: impl ToString) -> Self {
        Error::Parameter { name: name.into(), value: value.to_string(), allowed: allowed.to_string() }
    }

    /// This error, of a parameter of a stage: `k_within` of `patch` is `patch.k_within`, `patch` alone
    /// its kind. What has a stage already keeps it.
    pub(crate) fn of_stage(self, stage: &'static str) -> Self {
        match self {
            Error::Parameter { name, value, allowed } if !name.contains('.') => {
                let own = match name.strip_prefix(stage) {
                    Some("") => "kind",
                    Some(rest) => rest.strip_prefix('_').unwrap_or(&name),
                    None => &name,
                };
                Error::Parameter { name: format!("{stage}.{own}").into(), value, allowed }
            }
            other => other,
        }
    }

    /// That samples would have to be dense.
    pub fn sparse(x: &SparseMatrix) -> Self {
        Self::sparse_of(x.rows(), x.columns())
    }

    /// That samples of this size would have to be dense.
    pub(crate) fn sparse_of(rows: usize, columns: usize) -> Self {
        let gigabytes = size_of::<f64>() as f64 * rows as f64 * columns as f64 / 1e9;
        Error::Sparse { rows, columns, gigabytes }
    }
}

/// `Ok` when `value` is finite, no larger than what can be squared with safety, and satisfies `test`.
pub(crate) fn check(
    name: &'static str,
    value: f64,
    allowed: &'static str,
    test: impl Fn(f64) -> bool,
) -> Result<()> {
    if value.abs() <= 1e100 && test(value) {
        Ok(())
    } else {
        // As Rust debugs it: 1e308, not 309 digits.
        Err(Error::parameter(name, format!("{value:?}"), allowed))
    }
}

/// `Err` for a number that was given and is 0.
pub(crate) fn at_least_one(name: &'static str, value: Option<usize>) -> Result<()> {
    if value == Some(0) { Err(Error::parameter(name, 0, ">= 1")) } else { Ok(()) }
}
