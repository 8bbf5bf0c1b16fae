//! ROC curves.

/// The points of a ROC curve from scores and whether a sample is of the class; none if all are, or none is.
pub(crate) fn curve(mut scored: Vec<(f64, bool)>) -> Option<Vec<(f64, f64)>> {
    let positive = scored.iter().filter(|(_, is)| *is).count();
    let negative = scored.len() - positive;
    if positive == 0 || negative == 0 {
        return None;
    }
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut points = vec![(0.0, 0.0)];
    let (mut right, mut wrong) = (0, 0);
    for (place, &(score, is)) in scored.iter().enumerate() {
        if is {
            right += 1;
        } else {
            wrong += 1;
        }
        // Equal scores cannot be parted, so the curve goes straight over them.
        if scored.get(place + 1).is_none_or(|next| next.0 != score) {
            points.push((f64::from(wrong) / negative as f64, f64::from(right) / positive as f64));
        }
    }
    Some(points)
}

/// The area under a curve.
pub(crate) fn area(points: &[(f64, f64)]) -> f64 {
    points.windows(2).map(|pair| (pair[1].0 - pair[0].0) * (pair[0].1 + pair[1].1) / 2.0).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_area_is_the_share_of_pairs_in_order() {
        // Ties among them.
        let scored: Vec<(f64, bool)> = (0..60).map(|i| (f64::from(i * 7 % 11), (i * 5 % 7) > 3)).collect();
        let (mut won, mut pairs) = (0.0, 0.0);
        for a in scored.iter().filter(|a| a.1) {
            for b in scored.iter().filter(|b| !b.1) {
                pairs += 1.0;
                won += if a.0 > b.0 {
                    1.0
                } else if a.0 == b.0 {
                    0.5
                } else {
                    0.0
                };
            }
        }
        let points = curve(scored).unwrap();
        assert!((area(&points) - won / pairs).abs() < 1e-12);
    }

    #[test]
    fn one_kind_of_samples_has_no_curve() {
        assert_eq!(curve(vec![(0.5, true); 3]), None);
        assert_eq!(curve(Vec::new()), None);
        assert_eq!(curve(vec![(0.9, true), (0.1, false)]), Some(vec![(0.0, 0.0), (0.0, 1.0), (1.0, 1.0)]));
    }
}
