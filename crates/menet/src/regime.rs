//! Which way a fit of a given size goes, and why.
//!
//! | | the Gram matrix in full | its columns on demand |
//! |---|---|---|
//! | A as a dense matrix | few samples, few variables | few samples, many variables |
//! | A by conjugate gradients | many samples, few variables | many of both, and sparse data |
//!
//! The answer is the same; only time and memory differ.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::named::Named;

/// How A is applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Route {
    /// Whichever is cheaper, but conjugate gradients beyond [`DENSE_LIMIT`] samples.
    #[default]
    Auto,
    /// A as an n×n matrix.
    Dense,
    /// Sparse L and conjugate gradients.
    Conjugate,
}

impl Named for Route {
    const PARAMETER: &'static str = "route";
    const ALL: &'static [Self] = &[Route::Auto, Route::Dense, Route::Conjugate];

    fn name(self) -> &'static str {
        match self {
            Route::Auto => "auto",
            Route::Dense => "dense",
            Route::Conjugate => "conjugate",
        }
    }
}

/// What there is of the Gram matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GramForm {
    /// Whichever is cheaper, but columns beyond [`GRAM_LIMIT`] variables.
    #[default]
    Auto,
    /// All of it.
    Full,
    /// The columns that are asked for.
    Columns,
}

impl Named for GramForm {
    const PARAMETER: &'static str = "gram";
    const ALL: &'static [Self] = &[GramForm::Auto, GramForm::Full, GramForm::Columns];

    fn name(self) -> &'static str {
        match self {
            GramForm::Auto => "auto",
            GramForm::Full => "full",
            GramForm::Columns => "columns",
        }
    }
}

/// Up to this many samples an n×n matrix is formed.
pub const DENSE_LIMIT: usize = 5_000;

/// Up to this many variables a p×p Gram matrix is formed, if that is cheaper than its columns on demand.
pub const GRAM_LIMIT: usize = 6_000;

/// Rows of the largest square matrix that is formed even if asked for: 3.2 GB.
const LARGEST: usize = 20_000;

/// The way a fit went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Regime {
    /// How A was applied, never `Auto`.
    pub route: Route,
    /// What there was of the Gram matrix, never `Auto`.
    pub gram: GramForm,
    /// Why so, in a sentence.
    pub why: String,
}

/// What data and other parameters leave no choice about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Given {
    /// Nothing.
    Dense,
    /// Nothing, but the policy `floor` needs the spectrum of A.
    Floor,
    /// The data stay sparse.
    Sparse,
    /// Both.
    SparseFloor,
}

impl Regime {
    /// For n samples of p variables.
    ///
    /// # Errors
    /// When what is asked for needs a matrix that is too large, or cannot be had.
    pub(crate) fn choose(n: usize, p: usize, route: Route, gram: GramForm, given: Given) -> Result<Self> {
        let sparse = matches!(given, Given::Sparse | Given::SparseFloor);
        let floor = matches!(given, Given::Floor | Given::SparseFloor);
        let too_large = |parameter, value: &str, rows: usize, what: &str, other: &str| {
            let value = format!("\"{value}\" with {rows} {what}");
            let allowed = format!("\"{other}\" or \"auto\" above {LARGEST} {what}");
            Err(Error::parameter(parameter, value, allowed))
        };
        let (gram, about_gram) = match gram {
            GramForm::Full if sparse => {
                let allowed = "\"columns\" or \"auto\" for data that stay sparse";
                return Err(Error::parameter("gram", "\"full\" with sparse samples", allowed));
            }
            GramForm::Full if p > LARGEST => return too_large("gram", "full", p, "variables", "columns"),
            GramForm::Full => (gram, "the whole Gram matrix, as asked".to_owned()),
            GramForm::Columns => (gram, "Gram columns on demand, as asked".to_owned()),
            GramForm::Auto if sparse => {
                (GramForm::Columns, "Gram columns on demand, since the data stay sparse".to_owned())
            }
            GramForm::Auto if p > GRAM_LIMIT => (
                GramForm::Columns,
                format!("Gram columns on demand, since {p} variables are more than {GRAM_LIMIT}"),
            ),
            GramForm::Auto if columns_are_cheaper(n, p) => (
                GramForm::Columns,
                format!("Gram columns on demand, which are cheaper for {n} samples of {p} variables"),
            ),
            GramForm::Auto => (
                GramForm::Full,
                format!("the whole Gram matrix, which is cheaper for {n} samples of {p} variables"),
            ),
        };
        let cheaper = gram == GramForm::Full && conjugate_is_cheaper(n, p);
        let (route, about_route) = match route {
            Route::Conjugate if floor => {
                let allowed = "\"dense\" or \"auto\": the policy floor needs the spectrum of A";
                return Err(Error::parameter("route", "\"conjugate\" with definiteness \"floor\"", allowed));
            }
            Route::Dense if n > LARGEST => return too_large("route", "dense", n, "samples", "conjugate"),
            _ if floor => {
                (Route::Dense, "A as a dense matrix, since the policy floor needs its spectrum".to_owned())
            }
            Route::Dense => (route, "A as a dense matrix, as asked".to_owned()),
            Route::Conjugate => (route, "A by conjugate gradients, as asked".to_owned()),
            Route::Auto if sparse => {
                (Route::Conjugate, "A by conjugate gradients, since the data stay sparse".to_owned())
            }
            Route::Auto if n > DENSE_LIMIT => (
                Route::Conjugate,
                format!("A by conjugate gradients, since {n} samples are more than {DENSE_LIMIT}"),
            ),
            Route::Auto if cheaper => (
                Route::Conjugate,
                format!("A by conjugate gradients, which are cheaper for {n} samples of {p} variables"),
            ),
            Route::Auto => (
                Route::Dense,
                format!("A as a dense matrix, which is cheaper for {n} samples of {p} variables"),
            ),
        };
        Ok(Regime { route, gram, why: format!("{about_route}; {about_gram}") })
    }
}

/// Whether LARS is cheaper with Gram columns on demand than with the whole Gram matrix. Neither the number of axes nor how
/// sparse they are may decide: a sparser model has the same bits whether it is fitted or cut from another. So both are
/// supposed: eight axes, of as many variables as there are samples, at most 200. In nanoseconds, as measured, the whole takes
/// 5 p² to fill and n p² / 50 to compute; without it an axis takes a fourth of one for each product that it needs at every
/// stretch of 24 knots: of all variables at two knots, of the support and the watched ones with each other, and of the
/// support at all knots.
pub(crate) fn columns_are_cheaper(n: usize, p: usize) -> bool {
    let (n, p, nonzeros) = (n as f64, p as f64, n.min(200) as f64);
    let stretches = nonzeros / 24.0 + 1.0;
    let columns = 2.0 * n * stretches * (2.0 * p + 124.0 * nonzeros + 3_072.0);
    columns < p * p * (n / 50.0 + 5.0)
}

/// Whether the full Gram matrix is cheaper by conjugate gradients. By the dense route it takes some 6n³ + 2n²p operations
/// of matrix products; by the other one some forty products of sparse L with each of p vectors, which take the time of
/// about 30,000 n such operations (measured with p = 784 and 5,000 to 60,000 samples).
fn conjugate_is_cheaper(n: usize, p: usize) -> bool {
    let (n, p) = (n as f64, p as f64);
    30_000.0 * n * p < 6.0 * n * n * n + 2.0 * n * n * p
}

#[cfg(test)]
mod tests {
    use super::*;

    fn auto(n: usize, p: usize, given: Given) -> (Route, GramForm) {
        let regime = Regime::choose(n, p, Route::Auto, GramForm::Auto, given).unwrap();
        assert!(regime.why.contains("A ") && regime.why.contains("Gram"), "{}", regime.why);
        (regime.route, regime.gram)
    }

    #[test]
    fn sizes_choose() {
        use {GramForm::*, Route::*};
        assert_eq!(auto(400, 1_600, Given::Dense), (Dense, Full));
        assert_eq!(auto(38, 5_000, Given::Dense), (Dense, Columns));
        assert_eq!(auto(38, 500, Given::Dense), (Dense, Full));
        assert_eq!(auto(200, 200_000, Given::Dense), (Dense, Columns));
        assert_eq!(auto(5_000, 784, Given::Dense), (Conjugate, Full));
        assert_eq!(auto(60_000, 784, Given::Dense), (Conjugate, Full));
        assert_eq!(auto(20_000, 20_000, Given::Dense), (Conjugate, Columns));
        assert_eq!(auto(4_000, 784, Given::Floor), (Dense, Full));
        assert_eq!(auto(400, 1_600, Given::Sparse), (Conjugate, Columns));
        assert_eq!(auto(400, 1_600, Given::SparseFloor), (Dense, Columns));
    }

    #[test]
    fn what_is_asked_for_is_done_or_refused() {
        let choose = |n, p, route, gram, given| Regime::choose(n, p, route, gram, given);
        let asked = choose(400, 1_600, Route::Conjugate, GramForm::Columns, Given::Dense).unwrap();
        assert_eq!((asked.route, asked.gram), (Route::Conjugate, GramForm::Columns));
        assert!(asked.why.matches("as asked").count() == 2, "{}", asked.why);
        for (n, p, route, gram, given) in [
            (30_000, 10, Route::Dense, GramForm::Auto, Given::Dense),
            (10, 30_000, Route::Auto, GramForm::Full, Given::Dense),
            (10, 10, Route::Auto, GramForm::Full, Given::Sparse),
            (10, 10, Route::Conjugate, GramForm::Auto, Given::Floor),
        ] {
            assert!(matches!(choose(n, p, route, gram, given), Err(Error::Parameter { .. })), "{n} {p}");
        }
    }
}
