//! How often variables are selected, and how much the panels agree.

use crate::error::{Error, Result};

/// The panels of many half-samples, at every size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stability {
    variables: usize,
    /// How many of them can be selected.
    selectable: usize,
    orders: Vec<Vec<usize>>,
}

/// Nogueira's stability index with its asymptotic 95 % confidence interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StabilityIndex {
    /// The estimate: 1 for equal panels, about 0 for panels drawn at random.
    pub value: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// The 97.5 % quantile of the standard normal distribution.
const NORMAL: f64 = 1.959_963_984_540_054;

impl Stability {
    /// From the order in which variables enter in every half-sample ([`super::entry_order`]), out of `variables`.
    ///
    /// # Errors
    /// When there are fewer than two orders, or one lists a variable twice or one that does not exist.
    pub fn new(variables: usize, orders: Vec<Vec<usize>>) -> Result<Self> {
        if orders.len() < 2 {
            return Err(Error::parameter("orders", format!("{} lists", orders.len()), "at least 2 lists"));
        }
        let mut last = vec![usize::MAX; variables];
        for (k, order) in orders.iter().enumerate() {
            for &variable in order {
                let wrong = match last.get_mut(variable) {
                    None => Some(format!("variables below {variables}")),
                    Some(last) => (std::mem::replace(last, k) == k).then(|| "distinct variables".to_owned()),
                };
                if let Some(allowed) = wrong {
                    return Err(Error::parameter(
                        "orders",
                        format!("variable {variable} in list {k}"),
                        allowed,
                    ));
                }
            }
        }
        Ok(Stability { variables, selectable: variables, orders })
    }

    /// These panels where only so many of the variables can be selected ([`super::selectable`]): what agreement by chance depends on.
    /// Fewer than occur in the panels count as those that occur.
    #[must_use]
    pub fn among(mut self, selectable: usize) -> Self {
        let mut seen = vec![false; self.variables];
        self.orders.iter().flatten().for_each(|&j| seen[j] = true);
        let occur = seen.into_iter().filter(|seen| *seen).count();
        self.selectable = selectable.clamp(occur.min(self.variables), self.variables);
        self
    }

    /// How many variables can be selected.
    pub fn selectable(&self) -> usize {
        self.selectable
    }

    /// How many variables there are.
    pub fn variables(&self) -> usize {
        self.variables
    }

    /// The order of entry in every half-sample.
    pub fn orders(&self) -> &[Vec<usize>] {
        &self.orders
    }

    /// The panel of `size` variables of every half-sample, in the order of entry. A list that ends before gives a smaller panel.
    pub fn selected(&self, size: usize) -> Vec<Vec<usize>> {
        self.panels(size).map(<[usize]>::to_vec).collect()
    }

    /// The fraction of the half-samples whose panel of `size` variables has each variable, one number per variable.
    pub fn frequencies(&self, size: usize) -> Vec<f64> {
        let mut counts = vec![0usize; self.variables];
        self.panels(size).flatten().for_each(|&variable| counts[variable] += 1);
        let panels = self.orders.len() as f64;
        counts.into_iter().map(|count| count as f64 / panels).collect()
    }

    /// The mean number of variables in the panels of `size`: less than `size` if some lists are shorter.
    pub fn mean_size(&self, size: usize) -> f64 {
        self.panels(size).map(<[usize]>::len).sum::<usize>() as f64 / self.orders.len() as f64
    }

    /// The variables whose frequency at `size` is at least `threshold` and not 0: the most frequent first, then by variable.
    pub fn stable(&self, size: usize, threshold: f64) -> Vec<usize> {
        let frequencies = self.frequencies(size);
        let often = |&j: &usize| frequencies[j] >= threshold && frequencies[j] > 0.0;
        let mut stable: Vec<usize> = (0..self.variables).filter(often).collect();
        stable.sort_by(|&a, &b| frequencies[b].total_cmp(&frequencies[a]));
        stable
    }

    /// How much the panels of `size` variables agree: Nogueira, Sechidis and Brown, "On the stability of feature selection algorithms",
    /// JMLR 18 (2018). With M panels, p variables that can be selected, frequencies f and mean size k,
    ///
    /// ```text
    /// index = 1 − mean over variables of M/(M−1) f (1 − f)  /  (k/p)(1 − k/p)
    /// ```
    ///
    /// The interval is their asymptotic one, cut at the smallest and the largest possible value, −1/(M−1) and 1. It takes the panels as
    /// independent, which those of half-samples of the same samples are not quite.
    ///
    /// Where all panels are equal, the index and both ends are 1. This includes panels that are all empty or all have every variable, for which
    /// the formula gives 0/0.
    pub fn index(&self, size: usize) -> StabilityIndex {
        let (m, p) = (self.orders.len() as f64, self.selectable as f64);
        let frequencies = self.frequencies(size);
        let variance: f64 = frequencies.iter().map(|f| f * (1.0 - f)).sum::<f64>() / p;
        if variance == 0.0 {
            return StabilityIndex { value: 1.0, low: 1.0, high: 1.0 };
        }
        // The share of the variables that a panel has on average, and what the variance would be by chance.
        let share = self.mean_size(size) / p;
        let chance = share * (1.0 - share);
        let value = 1.0 - m / (m - 1.0) * variance / chance;
        let influence = |panel: &[usize]| {
            let own = panel.len() as f64 / p;
            let overlap = panel.iter().map(|&j| frequencies[j]).sum::<f64>() / p;
            (overlap - own * share + value / 2.0 * (2.0 * own * share - own - share + 1.0)) / chance
        };
        let influences: Vec<f64> = self.panels(size).map(influence).collect();
        let mean = influences.iter().sum::<f64>() / m;
        let squares: f64 = influences.iter().map(|x| (x - mean) * (x - mean)).sum();
        let margin = NORMAL * 2.0 / m * squares.sqrt();
        StabilityIndex { value, low: (value - margin).max(-1.0 / (m - 1.0)), high: (value + margin).min(1.0) }
    }

    fn panels(&self, size: usize) -> impl Iterator<Item = &[usize]> {
        self.orders.iter().map(move |order| &order[..size.min(order.len())])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panels_grow_with_their_size() {
        let orders = vec![vec![3, 1, 0], vec![1, 3], vec![1, 4, 3], vec![2, 1, 3]];
        let stability = Stability::new(6, orders).unwrap();
        assert_eq!(stability.selected(1), [[3], [1], [1], [2]]);
        assert_eq!(stability.frequencies(2), [0.0, 1.0, 0.25, 0.5, 0.25, 0.0]);
        assert_eq!((stability.mean_size(2), stability.mean_size(9)), (2.0, 2.75));
        assert_eq!(stability.stable(2, 0.5), [1, 3]);
        assert_eq!(stability.stable(3, 0.9), [1, 3], "equals by variable");
        assert_eq!(stability.stable(2, 0.25), [1, 3, 2, 4]);
        assert_eq!(stability.stable(2, 0.0), [1, 3, 2, 4], "what is never selected is not stable");
        for (small, large) in [(0, 1), (1, 2), (2, 3)] {
            let (small, large) = (stability.frequencies(small), stability.frequencies(large));
            assert!(small.iter().zip(&large).all(|(small, large)| small <= large));
        }
    }

    #[test]
    fn equal_panels_have_index_one_and_disjoint_ones_the_least() {
        let one = StabilityIndex { value: 1.0, low: 1.0, high: 1.0 };
        let equal = Stability::new(5, vec![vec![2, 4, 0, 1, 3]; 7]).unwrap();
        // Nothing, something, everything.
        for size in 0..=5 {
            assert_eq!(equal.index(size), one);
        }
        assert_eq!(Stability::new(5, vec![vec![], vec![]]).unwrap().index(3), one);
        let shuffled = Stability::new(3, vec![vec![0, 1, 2], vec![2, 1, 0]]).unwrap();
        assert_eq!(shuffled.index(3), one, "the order within a panel does not matter");
        let disjoint = Stability::new(4, vec![vec![0, 1], vec![2, 3]]).unwrap().index(2);
        assert!((disjoint.value + 1.0).abs() < 1e-15 && disjoint.low >= -1.0 && disjoint.high <= 1.0);
    }

    #[test]
    fn orders_are_checked() {
        let message = |variables, orders| Stability::new(variables, orders).unwrap_err().to_string();
        assert!(message(5, vec![vec![1]]).contains("at least 2"));
        assert!(message(5, vec![vec![1], vec![0, 5]]).contains("variable 5 in list 1"));
        assert!(message(5, vec![vec![1, 2, 1], vec![]]).contains("distinct"));
    }
}
