//! The values of a variable in each class, as a row of small box plots.

use std::fmt::Write;

use super::PageSubject;
use super::format::short;
use crate::palette::LOOKS;

/// Up to so many classes, each has its box; beyond, there is one for the class that the variable is higher in, and one for the rest.
pub(super) const CLASSES: usize = 12;

const WIDTH: f64 = 150.0;
const ROW: f64 = 11.0;

/// Least, lower quartile, median, upper quartile and largest.
pub(super) type FiveNumbers = [f64; 5];

/// The five numbers of some values; none of no values. Quantiles are interpolated linearly, as NumPy's.
pub(super) fn five(mut values: Vec<f64>) -> Option<FiveNumbers> {
    if values.is_empty() {
        return None;
    }
    values.sort_unstable_by(f64::total_cmp);
    Some([0.0, 0.25, 0.5, 0.75, 1.0].map(|share| {
        let place = share * (values.len() - 1) as f64;
        let (low, part) = (place.floor() as usize, place.fract());
        let high = (low + 1).min(values.len() - 1);
        values[low] + part * (values[high] - values[low])
    }))
}

/// The boxes of entry `k` of the panel.
pub(super) fn sparkline(subject: &PageSubject<'_>, k: usize) -> String {
    let column = |rows: &mut dyn Iterator<Item = usize>| five(rows.map(|i| subject.values[k][i]).collect());
    let own = subject.validation.panel[k].higher_in;
    let boxes: Vec<(Option<usize>, FiveNumbers)> = if subject.classes.len() <= CLASSES {
        let each = |c: usize| Some((Some(c), column(&mut subject.data.members(c).iter().copied())?));
        (0..subject.classes.len()).filter_map(each).collect()
    } else {
        let is_own = |i: &usize| Some(subject.data.class_of(*i)) == own;
        let samples = || 0..subject.data.samples();
        let own_box = column(&mut samples().filter(is_own)).map(|five| (own, five));
        let rest = column(&mut samples().filter(|i| !is_own(i))).map(|five| (None, five));
        own_box.into_iter().chain(rest).collect()
    };
    let low = boxes.iter().map(|(_, five)| five[0]).fold(f64::INFINITY, f64::min);
    let high = boxes.iter().map(|(_, five)| five[4]).fold(f64::NEG_INFINITY, f64::max);
    // Halves, since the difference of two large numbers may not be finite.
    let span = high / 2.0 - low / 2.0;
    let x =
        |value: f64| 3.0 + (WIDTH - 6.0) * if span > 0.0 { (value / 2.0 - low / 2.0) / span } else { 0.5 };
    let (mut marks, mut medians) = (String::new(), Vec::new());
    for (row, (class, five)) in boxes.iter().enumerate() {
        let colour = class.map_or_else(|| "var(--faint)".to_owned(), |c| format!("var(--k{})", c % LOOKS));
        let [least, lower, median, upper, most] = five.map(x);
        let (middle, top) = (ROW * (row as f64 + 0.5), ROW * row as f64 + 2.0);
        let _ = write!(
            marks,
            "<g style=\"color:{colour}\"><path d=\"M{least:.1} {middle}H{lower:.1}M{upper:.1} {middle}H{most:.1}\"/><rect x=\"{lower:.1}\" \
             y=\"{top}\" width=\"{:.1}\" height=\"{}\"/><path class=\"m\" d=\"M{median:.1} {top}v{}\"/></g>",
            (upper - lower).max(0.5),
            ROW - 4.0,
            ROW - 4.0,
        );
        let name = class.map_or_else(|| "the rest".to_owned(), |c| subject.class(c, 24));
        medians.push(format!("{name} {}", short(five[2])));
    }
    let height = ROW * boxes.len() as f64;
    format!(
        "<svg class=\"boxes\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"Medians: {}\">{marks}</svg>",
        medians.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::five;

    #[test]
    fn quartiles_are_numpys() {
        // numpy.percentile([5, 1, 4, 2, 10], [0, 25, 50, 75, 100]) and of [1, 2]
        assert_eq!(five(vec![5.0, 1.0, 4.0, 2.0, 10.0]), Some([1.0, 2.0, 4.0, 5.0, 10.0]));
        assert_eq!(five(vec![1.0, 2.0]), Some([1.0, 1.25, 1.5, 1.75, 2.0]));
        assert_eq!(five(vec![3.0]), Some([3.0; 5]));
        assert_eq!(five(vec![]), None);
    }
}
