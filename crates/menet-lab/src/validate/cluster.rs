//! The order of the rows and columns of a heatmap, by hierarchical clustering.

use kodama::{Method, linkage};

/// The places of `rows`, so that rows which are alike lie next to each other: the leaves of the tree of average linkage over
/// Euclidean distances. Where two branches join, each is turned so that the nearest of their ends touch.
///
/// Values that are missing (NaN) in either of two rows do not count in their distance. Memory and time grow with the square of the
/// number of rows: show some of the rows where there are more than a few thousand.
pub fn order(rows: &[Vec<f64>]) -> Vec<usize> {
    let n = rows.len();
    if n < 3 {
        return (0..n).collect();
    }
    let mut condensed = Vec::with_capacity(n * (n - 1) / 2);
    for i in 0..n {
        condensed.extend((i + 1..n).map(|j| distance(&rows[i], &rows[j])));
    }
    // Rows that share no value are as far apart as any two.
    let largest = condensed.iter().copied().filter(|d| d.is_finite()).fold(0.0, f64::max);
    condensed.iter_mut().filter(|d| !d.is_finite()).for_each(|d| *d = largest);
    // The clustering overwrites its distances; turning the branches needs them again.
    let tree = linkage(&mut condensed.clone(), n, Method::Average);
    let apart = |a: usize, b: usize| {
        let (i, j) = (a.min(b), a.max(b));
        condensed[i * n - i * (i + 1) / 2 + j - i - 1]
    };
    let mut branches: Vec<Vec<usize>> = (0..n).map(|i| vec![i]).collect();
    for step in tree.steps() {
        let left = std::mem::take(&mut branches[step.cluster1]);
        let right = std::mem::take(&mut branches[step.cluster2]);
        branches.push(joined(left, right, apart));
    }
    branches.pop().unwrap_or_default()
}

/// Two branches in one line, turned so that the ends which touch are the nearest.
fn joined(mut left: Vec<usize>, mut right: Vec<usize>, apart: impl Fn(usize, usize) -> f64) -> Vec<usize> {
    let ends = |branch: &[usize]| [branch[0], branch[branch.len() - 1]];
    let ([first, last], [start, end]) = (ends(&left), ends(&right));
    let touching = [(last, start), (first, start), (last, end), (first, end)];
    let nearest = touching.map(|(a, b)| apart(a, b));
    let best = (0..4).min_by(|&a, &b| nearest[a].total_cmp(&nearest[b])).unwrap_or(0);
    if best % 2 == 1 {
        left.reverse();
    }
    if best >= 2 {
        right.reverse();
    }
    left.append(&mut right);
    left
}

/// The Euclidean distance over the values that both rows have, scaled up to all; NaN if they share none.
fn distance(a: &[f64], b: &[f64]) -> f64 {
    let both = a.iter().zip(b).map(|(x, y)| x - y).filter(|d| d.is_finite());
    let (sum, count) = both.fold((0.0, 0_usize), |(sum, count), d| (sum + d * d, count + 1));
    (sum * a.len() as f64 / count as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::order;

    fn column(values: &[f64]) -> Vec<Vec<f64>> {
        values.iter().map(|&value| vec![value]).collect()
    }

    #[test]
    fn rows_on_a_line_come_in_its_order() {
        let values = [5.0, 1.0, 9.0, 1.1, 5.3, 9.6, 0.8];
        let places = order(&column(&values));
        let sorted: Vec<f64> = places.iter().map(|&i| values[i]).collect();
        let rises = sorted.is_sorted();
        assert!(rises || sorted.iter().rev().is_sorted(), "{sorted:?}");
    }

    #[test]
    fn every_row_has_one_place() {
        for n in [0, 1, 2, 3, 40] {
            let rows: Vec<Vec<f64>> =
                (0..n).map(|i| vec![(i * 7 % 11) as f64, (i * i % 13) as f64]).collect();
            let mut places = order(&rows);
            places.sort_unstable();
            assert_eq!(places, (0..n).collect::<Vec<usize>>());
        }
    }

    #[test]
    fn clusters_stay_together() {
        // Two blobs, dealt out in turn.
        let rows: Vec<Vec<f64>> = (0..20)
            .map(|i| vec![f64::from(i % 2) * 50.0 + f64::from(i * 3 % 7), f64::from(i * 5 % 7)])
            .collect();
        let sides: Vec<usize> = order(&rows).into_iter().map(|i| i % 2).collect();
        let changes = sides.windows(2).filter(|pair| pair[0] != pair[1]).count();
        assert_eq!(changes, 1, "{sides:?}");
    }

    #[test]
    fn missing_values_and_equal_rows_are_no_trouble() {
        let rows =
            vec![vec![f64::NAN, 1.0], vec![2.0, f64::NAN], vec![f64::NAN; 2], vec![2.0, 1.0], vec![2.0, 1.0]];
        let mut places = order(&rows);
        places.sort_unstable();
        assert_eq!(places, [0, 1, 2, 3, 4]);
        assert_eq!(order(&vec![vec![1.0]; 5]).len(), 5);
        assert_eq!(order(&vec![Vec::new(); 4]).len(), 4);
    }
}
