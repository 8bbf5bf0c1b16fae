//! How many variables a half-sample can select: what agreement by chance, and false selections, depend on.

use crate::dataset::{Dataset, View};
use crate::error::Result;
use crate::params::MenParams;

/// The number of variables that can be selected: those that are penalised and not barred, have more than one value, and are not missing too
/// often to be used.
///
/// # Errors
/// When `params` name a variable that does not exist.
pub fn selectable(data: &Dataset<'_>, params: &MenParams) -> Result<usize> {
    let p = data.variables();
    let factors = params.factors(data.feature_names(), p)?;
    let allowed = if params.prepare.impute.is_some() {
        params.prepare.max_missing * data.samples() as f64
    } else {
        0.0
    };
    let usable = |j: &usize| factors[*j] > 0.0 && factors[*j] < f64::INFINITY;
    let (all, samples) = ((0..p).filter(usable), data.samples());
    Ok(match data.view() {
        View::Double(x) => all.filter(|&j| varies(x.col(j).iter().copied(), 0, allowed)).count(),
        View::Single(x) => {
            all.filter(|&j| varies(x.col(j).iter().map(|&x| f64::from(x)), 0, allowed)).count()
        }
        View::Sparse(x) => {
            let columns = x.transpose();
            all.filter(|&j| {
                let zeros = samples - columns.row(j).count();
                varies(columns.row(j).map(|(_, value)| value), zeros, allowed)
            })
            .count()
        }
    })
}

/// Whether these values, and so many zeros beside them, differ, with at most so many of them missing.
fn varies(values: impl Iterator<Item = f64>, zeros: usize, allowed: f64) -> bool {
    let (mut known, mut differ, mut missing) = ((zeros > 0).then_some(0.0), false, 0.0);
    for value in values {
        if value.is_nan() {
            missing += 1.0;
        } else {
            differ |= *known.get_or_insert(value) != value;
        }
    }
    differ && missing <= allowed
}

#[cfg(test)]
mod tests {
    use faer::{Mat, mat};

    use super::*;
    use crate::prepare::Impute;
    use crate::sparse::SparseMatrix;

    #[test]
    fn variables_that_cannot_be_selected_do_not_count() {
        let x =
            mat![[0.0, 1.0, 5.0, 2.0], [0.0, 2.0, 0.0, 3.0], [0.0, 3.0, 0.0, 5.0], [0.0, 1.0, 0.0, 8.0f64]];
        let labels = ["a", "a", "b", "b"];
        let plain = MenParams::default();
        let other = plain.clone().with(|it| it.penalty.factors = Some(vec![1.0, 0.0, 1.0, f64::INFINITY]));
        let sparse = Dataset::from_sparse_beyond(0, SparseMatrix::from_dense(x.as_ref()).unwrap(), &labels);
        for data in [Dataset::new(x.as_ref(), &labels).unwrap(), sparse.unwrap()] {
            assert_eq!(selectable(&data, &plain).unwrap(), 3);
            assert_eq!(selectable(&data, &other).unwrap(), 1);
        }
        let lacking =
            Mat::from_fn(4, 4, |i, j| if j == 1 && i > 0 || j == 3 && i == 0 { f64::NAN } else { x[(i, j)] });
        let data = Dataset::with_missing(lacking, &labels).unwrap();
        let filled = plain.with(|it| (it.prepare.impute, it.prepare.max_missing) = (Some(Impute::Mean), 0.5));
        assert_eq!(selectable(&data, &filled).unwrap(), 2);
    }
}
