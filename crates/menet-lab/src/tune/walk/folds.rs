//! The scores of one fold, and how they are matched between folds.

use menet::evaluate::Score;
use menet::rules::Metric;

/// The scores of one fold.
pub(super) struct FoldCells {
    pub(super) cells: Vec<FoldScore>,
    /// The dimension of its fit.
    pub(super) reached: usize,
    /// The largest number of variables of its cells, for methods with paths. Larger numbers would give the same model.
    pub(super) most_size: Option<usize>,
}

impl FoldCells {
    /// The score that corresponds to a cell of another fold.
    pub(super) fn score_like(&self, other: &FoldScore) -> Option<Score> {
        let nonzeros = other.nonzeros.min(self.most_size);
        let place = (nonzeros, other.dimension, other.metric);
        self.cells
            .iter()
            .find(|cell| (cell.nonzeros, cell.dimension, cell.metric) == place)
            .map(|cell| cell.score)
    }
}

/// The sizes up to the first that is at least `used`. A path that ends with `used` variables contains no larger model.
pub(super) fn up_to(mut sizes: Vec<usize>, used: usize) -> Vec<usize> {
    let enough = sizes.iter().position(|&k| k >= used).map_or(sizes.len(), |at| at + 1);
    sizes.truncate(enough);
    sizes
}

/// The score of one fold at one sparsity, dimension and metric.
pub(super) struct FoldScore {
    pub(super) nonzeros: Option<usize>,
    pub(super) dimension: usize,
    pub(super) metric: Metric,
    pub(super) score: Score,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::sparsities;

    #[test]
    fn sizes_begin_at_one_and_end_where_the_path_does() {
        assert_eq!(sparsities(12), [1, 2, 3, 5, 10, 12]);
        assert_eq!((sparsities(1), sparsities(2)), (vec![1], vec![1, 2]));
        assert_eq!(up_to(sparsities(200), 7), [1, 2, 3, 5, 10]);
        assert_eq!(up_to(sparsities(200), 10), [1, 2, 3, 5, 10]);
        assert_eq!(up_to(sparsities(12), 30), sparsities(12));
    }

    #[test]
    fn a_fold_whose_path_ended_earlier_answers_with_its_last_model() {
        let cell = |nonzeros, right| FoldScore {
            nonzeros: Some(nonzeros),
            dimension: 1,
            metric: Metric::Euclidean,
            score: Score { right, tested: 9, margin: 0.0 },
        };
        let fold = FoldCells { cells: vec![cell(1, 3), cell(2, 5)], reached: 1, most_size: Some(2) };
        let right = |k| fold.score_like(&cell(k, 0)).map(|score| score.right);
        assert_eq!((right(1), right(2), right(5)), (Some(3), Some(5), Some(5)));
    }
}
