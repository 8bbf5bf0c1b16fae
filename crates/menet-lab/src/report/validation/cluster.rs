//! The order of rows and columns in the heat map: the leaves of a hierarchical clustering, from left to right.

use faer::MatRef;
use kodama::{Method, linkage};

/// How two columns are compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Distance {
    /// The Euclidean distance.
    Euclidean,
    /// One minus the correlation; 1 where a column is constant.
    Correlation,
}

/// The columns of `x`, by average linkage, in an order that keeps clusters together.
pub(super) fn order(x: MatRef<'_, f64>, distance: Distance) -> Vec<usize> {
    let n = x.ncols();
    if n < 2 {
        return (0..n).collect();
    }
    let columns: Vec<Vec<f64>> = x.col_iter().map(|column| column.iter().copied().collect()).collect();
    let columns = match distance {
        Distance::Euclidean => columns,
        Distance::Correlation => columns.into_iter().map(unit).collect(),
    };
    let apart = |a: &[f64], b: &[f64]| -> f64 {
        let pairs = a.iter().zip(b);
        match distance {
            Distance::Euclidean => pairs.map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt(),
            Distance::Correlation => 1.0 - pairs.map(|(a, b)| a * b).sum::<f64>(),
        }
    };
    let mut distances = Vec::with_capacity(n * (n - 1) / 2);
    for a in 0..n {
        for b in a + 1..n {
            distances.push(apart(&columns[a], &columns[b]));
        }
    }
    let tree = linkage(&mut distances, n, Method::Average);
    // Labels below n are columns, the others the steps that made them.
    let (mut leaves, mut ahead) = (Vec::with_capacity(n), vec![2 * n - 2]);
    while let Some(label) = ahead.pop() {
        if label < n {
            leaves.push(label);
        } else {
            let step = &tree.steps()[label - n];
            ahead.extend([step.cluster2, step.cluster1]);
        }
    }
    leaves
}

/// Less its mean, and of length 1; all 0 if it is constant.
fn unit(mut column: Vec<f64>) -> Vec<f64> {
    let mean = column.iter().sum::<f64>() / column.len().max(1) as f64;
    column.iter_mut().for_each(|x| *x -= mean);
    let length = column.iter().map(|x| x * x).sum::<f64>().sqrt();
    column.iter_mut().for_each(|x| *x = if length > 0.0 { *x / length } else { 0.0 });
    column
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::mat;

    #[test]
    fn clusters_stay_together() {
        // Three groups on a line, shuffled.
        let x = mat![[0.0, 10.0, 0.1, 20.0, 10.2, 20.1, 0.3f64]];
        let found = order(x.as_ref(), Distance::Euclidean);
        let mut all = found.clone();
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3, 4, 5, 6]);
        let groups: Vec<usize> = found.iter().map(|&i| (x[(0, i)] / 9.0) as usize).collect();
        let changes = groups.windows(2).filter(|pair| pair[0] != pair[1]).count();
        assert_eq!(changes, 2, "{groups:?}");
    }

    #[test]
    fn correlation_ignores_scale_and_survives_constants() {
        let x = mat![[1.0, 5.0, 3.0, 100.0], [2.0, 5.0, 1.0, 200.0], [3.0, 5.0, 2.0, 300.0f64]];
        let found = order(x.as_ref(), Distance::Correlation);
        let place = |i: usize| found.iter().position(|&other| other == i).unwrap();
        assert_eq!(place(0).abs_diff(place(3)), 1, "{found:?}");
        assert_eq!(order(x.subcols(0, 1), Distance::Correlation), [0]);
        assert_eq!(order(x.subcols(0, 0), Distance::Euclidean), Vec::<usize>::new());
    }
}
