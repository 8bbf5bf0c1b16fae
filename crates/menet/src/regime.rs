//! Which way a fit of a given size goes, and why.
//!
//! | | the Gram matrix in full | its columns on demand |
//! |---|---|---|
//! | A as a dense matrix | few samples, few variables | few samples, many variables |
//! | A by conjugate gradients | many samples, few variables | many of both, and sparse data |
//!
//! The answer is the same; only time and memory differ.

mod cost;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::named::Named;
pub(crate) use cost::{Size, columns_are_cheaper};

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
    /// For data of this size: of the ways that are allowed, the cheapest.
    ///
    /// # Errors
    /// When what is asked for needs a matrix that is too large, or cannot be had.
    pub(crate) fn choose(size: Size, route: Route, gram: GramForm, given: Given) -> Result<Self> {
        let (n, p) = (size.samples, size.variables);
        let sparse = matches!(given, Given::Sparse | Given::SparseFloor);
        let floor = matches!(given, Given::Floor | Given::SparseFloor);
        let too_large = |parameter, value: &str, rows: usize, what: &str, other: &str| {
            let value = format!("\"{value}\" with {rows} {what}");
            let allowed = format!("\"{other}\" or \"auto\" above {LARGEST} {what}");
            Err(Error::parameter(parameter, value, allowed))
        };
        let (grams, about_gram): (&[GramForm], _) = match gram {
            GramForm::Full if sparse => {
                let allowed = "\"columns\" or \"auto\" for data that stay sparse";
                return Err(Error::parameter("gram", "\"full\" with sparse samples", allowed));
            }
            GramForm::Full if p > LARGEST => return too_large("gram", "full", p, "variables", "columns"),
            GramForm::Full => (&[GramForm::Full], "as asked".to_owned()),
            GramForm::Columns => (&[GramForm::Columns], "as asked".to_owned()),
            GramForm::Auto if sparse => (&[GramForm::Columns], "since the data stay sparse".to_owned()),
            GramForm::Auto if p > GRAM_LIMIT => {
                (&[GramForm::Columns], format!("since {p} variables are more than {GRAM_LIMIT}"))
            }
            GramForm::Auto => (&[GramForm::Full, GramForm::Columns], cheaper(size)),
        };
        let (routes, about_route): (&[Route], _) = match route {
            Route::Conjugate if floor => {
                let allowed = "\"dense\" or \"auto\": the policy floor needs the spectrum of A";
                return Err(Error::parameter("route", "\"conjugate\" with definiteness \"floor\"", allowed));
            }
            Route::Dense if n > LARGEST => return too_large("route", "dense", n, "samples", "conjugate"),
            _ if floor => (&[Route::Dense], "since the policy floor needs its spectrum".to_owned()),
            Route::Dense => (&[Route::Dense], "as asked".to_owned()),
            Route::Conjugate => (&[Route::Conjugate], "as asked".to_owned()),
            Route::Auto if sparse => (&[Route::Conjugate], "since the data stay sparse".to_owned()),
            Route::Auto if n > DENSE_LIMIT => {
                (&[Route::Conjugate], format!("since {n} samples are more than {DENSE_LIMIT}"))
            }
            Route::Auto => (&[Route::Dense, Route::Conjugate], cheaper(size)),
        };
        let (mut route, mut gram) = (routes[0], grams[0]);
        for &other in routes {
            for &form in grams {
                if size.cost(other, form) < size.cost(route, gram) {
                    (route, gram) = (other, form);
                }
            }
        }
        let operator = match route {
            Route::Conjugate => "A by conjugate gradients",
            _ => "A as a dense matrix",
        };
        let columns = match gram {
            GramForm::Columns => "Gram columns on demand",
            _ => "the whole Gram matrix",
        };
        Ok(Regime { route, gram, why: format!("{operator}, {about_route}; {columns}, {about_gram}") })
    }
}

/// Why, where nothing but the cost decides.
fn cheaper(size: Size) -> String {
    let Size { samples, variables, axes, .. } = size;
    let classes = axes + 1;
    format!("which is cheaper for {samples} samples of {variables} variables in {classes} classes")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(samples: usize, variables: usize) -> Size {
        Size { samples, variables, axes: 9, entries: 18 * samples }
    }

    fn auto(n: usize, p: usize, given: Given) -> (Route, GramForm) {
        let regime = Regime::choose(size(n, p), Route::Auto, GramForm::Auto, given).unwrap();
        assert!(regime.why.contains("A ") && regime.why.contains("Gram"), "{}", regime.why);
        (regime.route, regime.gram)
    }

    #[test]
    fn sizes_choose() {
        use {GramForm::*, Route::*};
        assert_eq!(auto(400, 1_600, Given::Dense), (Dense, Full));
        assert_eq!(auto(38, 5_000, Given::Dense), (Dense, Columns));
        assert_eq!(auto(38, 500, Given::Dense), (Dense, Full));
        assert_eq!(auto(200, 200_000, Given::Dense), (Conjugate, Columns));
        assert_eq!(auto(5_000, 784, Given::Dense), (Conjugate, Full));
        assert_eq!(auto(60_000, 784, Given::Dense), (Conjugate, Full));
        assert_eq!(auto(20_000, 20_000, Given::Dense), (Conjugate, Columns));
        assert_eq!(auto(4_000, 784, Given::Floor), (Dense, Full));
        assert_eq!(auto(400, 1_600, Given::Sparse), (Conjugate, Columns));
        assert_eq!(auto(400, 1_600, Given::SparseFloor), (Dense, Columns));
    }

    #[test]
    fn what_is_asked_for_is_done_or_refused() {
        let choose = |n, p, route, gram, given| Regime::choose(size(n, p), route, gram, given);
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
