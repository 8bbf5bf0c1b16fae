//! What each way of a fit costs, computed from the size alone.
//!
//! The choice must not depend on the number of axes or of nonzeros that are asked for: a smaller model has the same bits whether it is
//! fitted or cut from another. So the cost is computed for as many axes as the classes allow, of 70 variables each. It does not depend
//! on a clock either. The constants are processor nanoseconds on one thread of an AMD EPYC with AVX-512, fitted to what
//! `RAYON_NUM_THREADS=1 cargo run --release -p menet --example regimes` showed for 11 sizes from 300×3,000 to 3,500×2,000; most
//! estimates were within 40 % of the times. Conjugate gradients with columns on demand take up to three times their estimate on normal data, where
//! variables that enter are scattered over many batches. [`NONZEROS`] and [`SOLVED`] were set so that the choice is right for these sizes;
//! no others were kept back to test it. docs/benchmarks.md has the table.
//!
//! | symbol | |
//! |---|---|
//! | n, p | samples, variables |
//! | e | stored entries of both parts of L |
//! | d, K | assumed numbers of axes, and of variables per axis |

use crate::gram::{GramForm, path_cost, whole_cost};
use crate::operator::Route;

/// Per n³: two Cholesky factors, an inverse and a sparse product make A as a dense matrix.
const DENSE_OPERATOR: f64 = 0.095;

/// Per n²p: the factor of A times the variables.
const DENSE_IMAGES: f64 = 0.06;

/// Per entry of L and variable: some forty products with L in single precision.
const SOLVE: f64 = 15.0;

/// Variables that are solved for per variable that enters a path: the others of its batch, which may enter later.
const SOLVED: f64 = 2.5;

/// Assumed number of variables per axis.
const NONZEROS: usize = 70;

/// What the cost depends on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProblemSize {
    pub(crate) samples: usize,
    pub(crate) variables: usize,
    /// The most axes there can be.
    pub(crate) axes: usize,
    /// Stored entries of the alignment matrix, of both of its parts.
    pub(crate) entries: usize,
}

impl ProblemSize {
    /// Nanoseconds of the stages reduction and LARS, as far as they depend on the way.
    pub(crate) fn cost(&self, route: Route, gram: GramForm) -> f64 {
        let (n, p, axes) = (self.samples as f64, self.variables as f64, self.axes as f64);
        let solve = SOLVE * self.entries as f64;
        let full = gram == GramForm::Full;
        let entering = axes * self.samples.min(NONZEROS) as f64;
        let operator = match route {
            Route::Conjugate if full => solve * p,
            Route::Conjugate => solve * p.min(SOLVED * entering),
            Route::Dense => DENSE_OPERATOR * n * n * n + DENSE_IMAGES * n * n * p,
        };
        let gram = if full { whole_cost(n, p) } else { axes * path_cost(self.samples, p, NONZEROS) };
        operator + gram
    }

    /// About the largest number of bytes held at one time, besides the data: the centred samples, and either what the search for
    /// neighbours needs, or A and the Gram matrix.
    pub(crate) fn bytes(&self, route: Route, gram: GramForm, nonzeros: Option<usize>) -> f64 {
        let (n, p, entries) = (self.samples as f64, self.variables as f64, self.entries as f64);
        // Sparse entries have an index each, and are kept by sample and by variable.
        let samples = nonzeros.map_or(8.0 * n * p, |entries| 3.0 * 12.0 * entries as f64);
        let search = nonzeros.map_or(4.0 * n * p, |entries| 12.0 * entries as f64);
        let operator = match route {
            Route::Dense => 3.0 * 8.0 * n * n,
            Route::Conjugate => 24.0 * entries,
        };
        let gram = match (route, gram) {
            (_, GramForm::Full) => 8.0 * p * p,
            (Route::Dense, GramForm::Columns) if nonzeros.is_none() => 0.0,
            _ => (8.0 * n * p).min(f64::from(1 << 29)),
        };
        samples + search.max(operator + gram)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::MenParams;
    use crate::plan::{DataShape, Plan};

    /// Seconds as measured, by way, and the way that `auto` takes: never a third more than the best.
    #[test]
    fn what_is_chosen_was_measured_to_be_cheap() {
        use GramForm::{Columns, Full};
        use Route::{Conjugate, Dense};
        let ways = [(Dense, Full), (Dense, Columns), (Conjugate, Full), (Conjugate, Columns)];
        // n, p, classes and milliseconds; K was 100 if not 200 (400 x 1,600), 50 (p = 2,000, 3,000 and 400) or 30 (p = 2,500).
        for (n, p, classes, measured) in [
            (1_993, 4_862, 20, [3_453, 3_402, 4_812, 3_555]),
            (1_993, 4_862, 2, [3_380, 2_043, 4_286, 270]),
            (1_943, 3_289, 20, [2_018, 2_532, 2_295, 2_352]),
            (1_943, 3_289, 2, [2_030, 1_559, 2_304, 290]),
            (400, 1_600, 40, [274, 825, 387, 1_340]),
            (1_000, 5_500, 10, [1_343, 609, 2_404, 802]),
            (3_500, 2_000, 10, [5_855, 5_662, 2_492, 974]),
            (600, 2_500, 4, [210, 97, 601, 85]),
            (300, 3_000, 5, [156, 52, 390, 132]),
            (1_500, 400, 10, [474, 593, 294, 392]),
            (2_000, 1_600, 10, [1_358, 1_945, 1_263, 1_933]),
        ] {
            let shape = DataShape { samples: n, variables: p, classes, nonzeros: None };
            let chosen = Plan::new(shape, &MenParams::default()).unwrap().regime;
            let took = ways.iter().position(|&way| way == (chosen.route, chosen.gram)).unwrap();
            let best = measured.iter().min().unwrap();
            assert!(measured[took] * 10 < best * 13, "{n} x {p}, {classes} classes: {chosen}");
        }
    }
}
