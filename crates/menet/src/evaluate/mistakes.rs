//! Which class was taken for which, and the recall of every class.

use serde::{Deserialize, Serialize};

/// Samples of one class that were given another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "(usize, usize, usize)", into = "(usize, usize, usize)")]
pub struct Mistake {
    /// Their class.
    pub class: usize,
    /// The class they were given.
    pub taken_for: usize,
    /// How many there are, 1 or more.
    pub count: usize,
}

// Three numbers in place of three named fields: a journal holds many of them.
impl From<(usize, usize, usize)> for Mistake {
    fn from((class, taken_for, count): (usize, usize, usize)) -> Self {
        Mistake { class, taken_for, count }
    }
}

impl From<Mistake> for (usize, usize, usize) {
    fn from(mistake: Mistake) -> Self {
        (mistake.class, mistake.taken_for, mistake.count)
    }
}

/// The mistakes, from the counts of true and given classes.
pub fn mistakes(confusion: &[Vec<usize>]) -> Vec<Mistake> {
    let pairs = confusion.iter().enumerate().flat_map(|(class, row)| {
        row.iter().enumerate().map(move |(taken_for, &count)| Mistake { class, taken_for, count })
    });
    pairs.filter(|mistake| mistake.class != mistake.taken_for && mistake.count > 0).collect()
}

/// The percentage of every class that is right, where `tested` is how many samples each class has; none for a class without samples.
pub fn recalls(tested: &[usize], mistakes: &[Mistake]) -> Vec<Option<f64>> {
    let mut right = tested.to_vec();
    for mistake in mistakes {
        if let Some(right) = right.get_mut(mistake.class) {
            *right = right.saturating_sub(mistake.count);
        }
    }
    let percent =
        |(&right, &tested): (&usize, &usize)| (tested > 0).then(|| 100.0 * right as f64 / tested as f64);
    right.iter().zip(tested).map(percent).collect()
}

/// The mean over classes of the percentage that is right, where `tested` is how many samples each class has. Classes without
/// samples do not count; none where no class has any.
pub fn balanced_rate(tested: &[usize], mistakes: &[Mistake]) -> Option<f64> {
    let recalls: Vec<f64> = recalls(tested, mistakes).into_iter().flatten().collect();
    (!recalls.is_empty()).then(|| recalls.iter().sum::<f64>() / recalls.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_balanced_rate_counts_every_class_alike() {
        let mistakes = [Mistake { class: 0, taken_for: 1, count: 5 }, Mistake::from((1, 0, 1))];
        // 95 of 100, 1 of 2, and a class without samples.
        assert_eq!(balanced_rate(&[100, 2, 0], &mistakes), Some((95.0 + 50.0) / 2.0));
        assert_eq!(balanced_rate(&[4, 6], &[]), Some(100.0));
        assert_eq!(balanced_rate(&[0, 0], &[]), None);
    }
}
