//! Which classes are at the ends of an axis.
//!
//! The rule of a model holds the class means or the projected training samples, so the mean score of every class on every
//! axis is known.

use menet::Men;
use menet::rules::{LearnedRule, Nearest};
use menet_io::ModelFile;
use serde_json::{Value, json};

use crate::text;

/// The mean score of every class on one axis, and the classes with the lowest and the highest mean.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AxisEnds {
    /// In the order of the classes; none for a class without a sample in the model.
    means: Vec<Option<f64>>,
    low: ClassMean,
    high: ClassMean,
}

#[derive(Debug, Clone, PartialEq)]
struct ClassMean {
    class: String,
    mean: f64,
}

/// The ends of the axes of `men`, which is the model of `file` or a part of it. An axis that was made sparser has none,
/// because the rule knows only the axes of the file.
pub(super) fn ends(file: &ModelFile, men: &Men) -> Vec<Option<AxisEnds>> {
    let own = file.men.projection().axes();
    let of_axis = |(k, axis)| (own.get(k) == Some(axis)).then(|| of_axis(file, k)).flatten();
    men.projection().axes().iter().enumerate().map(of_axis).collect()
}

fn of_axis(file: &ModelFile, k: usize) -> Option<AxisEnds> {
    let classes = file.men.classes();
    let means = match file.men.rule().ok()? {
        LearnedRule::Nearest(rule) => of_gallery(rule, k),
        LearnedRule::Centroid(rule) => rule.means.col(k).iter().map(|&mean| Some(mean)).collect(),
        LearnedRule::Gaussian(rule) => rule.means.col(k).iter().map(|&mean| Some(mean)).collect(),
    };
    let known = || means.iter().enumerate().filter_map(|(class, mean)| Some((class, (*mean)?)));
    let end = |(class, mean): (usize, f64)| ClassMean { class: classes[class].clone(), mean };
    // Among equals, the first class, at both ends.
    let low = known().min_by(|a, b| a.1.total_cmp(&b.1)).map(end)?;
    let high = known().rev().max_by(|a, b| a.1.total_cmp(&b.1)).map(end)?;
    Some(AxisEnds { means, low, high })
}

/// The mean of every class on one axis.
fn of_gallery(rule: &Nearest, k: usize) -> Vec<Option<f64>> {
    let mut sums = vec![(0.0, 0usize); rule.shifts.len()];
    for (&class, &score) in rule.classes.iter().zip(rule.gallery.col(k).iter()) {
        sums[class].0 += score;
        sums[class].1 += 1;
    }
    sums.iter().map(|&(sum, count)| (count > 0).then(|| sum / count as f64)).collect()
}

impl AxisEnds {
    /// Both ends on one line.
    pub(super) fn line(&self) -> String {
        let end = |end: &ClassMean| format!("{} (mean {})", text::inline(&end.class), text::signed(end.mean));
        format!("low end: {} ... high end: {}", end(&self.low), end(&self.high))
    }

    /// Two cells of a table.
    pub(super) fn cells(&self) -> [String; 2] {
        [&self.low, &self.high]
            .map(|end| format!("{} ({})", text::shortened(&end.class, 24), text::signed(end.mean)))
    }

    pub(super) fn json(&self) -> Value {
        let end = |end: &ClassMean| json!({ "class": end.class, "mean": end.mean });
        json!({ "low": end(&self.low), "high": end(&self.high), "class_means": self.means })
    }
}
