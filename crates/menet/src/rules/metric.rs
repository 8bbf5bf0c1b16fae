//! How two projected samples are compared.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::named::named;

/// How two projected samples are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Metric {
    /// The Euclidean distance, the paper's.
    #[default]
    Euclidean,
    /// One minus the cosine of the angle between them.
    Cosine,
}

named!(Metric, "metric", Euclidean = "euclidean", Cosine = "cosine");

impl Metric {
    /// The distance. The cosine distance from or to a vector without direction is 1.
    pub fn distance(self, x: &[f64], y: &[f64]) -> f64 {
        let inner = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
        match self {
            Metric::Euclidean => x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum::<f64>().sqrt(),
            Metric::Cosine => {
                let lengths = inner(x, x).sqrt() * inner(y, y).sqrt();
                if lengths > 0.0 { (1.0 - inner(x, y) / lengths).max(0.0) } else { 1.0 }
            }
        }
    }
}

impl Metric {
    /// The distance of the first entries, of the first two, and so on: the same numbers as [`Self::distance`] of each.
    pub(crate) fn distances_by_dimension<'a>(
        self,
        x: &'a [f64],
        y: &'a [f64],
    ) -> impl Iterator<Item = f64> + 'a {
        let (mut squares, mut inner, mut xx, mut yy) = (0.0, 0.0, 0.0, 0.0);
        x.iter().zip(y).map(move |(x, y)| match self {
            Metric::Euclidean => {
                squares += (x - y) * (x - y);
                f64::sqrt(squares)
            }
            Metric::Cosine => {
                inner += x * y;
                xx += x * x;
                yy += y * y;
                let lengths = f64::sqrt(xx) * f64::sqrt(yy);
                if lengths > 0.0 { (1.0 - inner / lengths).max(0.0) } else { 1.0 }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cosine_ignores_length() {
        assert!(Metric::Cosine.distance(&[1.0, 1.0], &[5.0, 5.0]) < 1e-15);
        assert_eq!(Metric::Cosine.distance(&[1.0, 0.0], &[0.0, 3.0]), 1.0);
        assert_eq!(Metric::Cosine.distance(&[0.0, 0.0], &[0.0, 3.0]), 1.0);
        assert_eq!(Metric::Euclidean.distance(&[0.0, 0.0], &[4.0, 3.0]), 5.0);
    }
}
