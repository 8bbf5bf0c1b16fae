//! Colours that people with red-green colour blindness can distinguish. Each has a line style and a marker, so that no
//! figure relies on colour alone.

/// The look of one series.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SeriesStyle {
    /// The colour on a light background; [`dark_twins`] has the one for dark backgrounds.
    pub(crate) colour: &'static str,
    /// SVG dash pattern; empty = solid.
    pub(crate) dash: &'static str,
    /// The number of the marker.
    pub(crate) marker: usize,
}

/// Okabe and Ito's colours without yellow, which is hard to see on white, then three of Tol's.
const COLOURS: [(&str, &str); 10] = [
    ("#0072b2", "#4ea5e6"),
    ("#d55e00", "#ff8f45"),
    ("#009e73", "#2fc79a"),
    ("#cc79a7", "#eaa3cb"),
    ("#e69f00", "#f5c04a"),
    ("#56b4e9", "#9fdcff"),
    ("#000000", "#f2f2f2"),
    ("#882255", "#cf5b97"),
    ("#999933", "#cccc66"),
    ("#808080", "#a8a8a8"),
];

const DASHES: [&str; 4] = ["", "8,4", "2,3", "8,3,2,3"];

/// The number of looks with different colours.
pub(crate) const LOOKS: usize = COLOURS.len();

/// The look of series number `i`.
pub(crate) fn look(i: usize) -> SeriesStyle {
    let (colour, _) = COLOURS[i % LOOKS];
    SeriesStyle { colour, dash: DASHES[(i + i / LOOKS) % DASHES.len()], marker: i % 8 }
}

/// Every colour for light backgrounds with its counterpart for dark backgrounds.
pub(crate) fn dark_twins() -> impl Iterator<Item = (&'static str, &'static str)> {
    COLOURS.into_iter()
}

/// The strength of the colour of a weight, from −1 to 1, where `largest` is the largest absolute weight. The square root
/// keeps small weights visible; the colour keys say so.
pub(crate) fn strength(weight: f64, largest: f64) -> f64 {
    if largest > 0.0 { weight.signum() * (weight.abs() / largest).min(1.0).sqrt() } else { 0.0 }
}

/// The ends of the diverging scale: blue for negative weights, orange for positive weights, white at zero. No common
/// colour blindness confuses them.
const NEGATIVE: [f64; 3] = [0.0, 68.0, 136.0];
const POSITIVE: [f64; 3] = [179.0, 71.0, 0.0];

/// The colour of a strength from −1 to 1.
pub(crate) fn diverging(strength: f64) -> [u8; 3] {
    let end = if strength < 0.0 { NEGATIVE } else { POSITIVE };
    end.map(|end| (255.0 + (end - 255.0) * strength.abs().min(1.0)).round() as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_is_white_and_signs_differ() {
        assert_eq!(diverging(0.0), [255; 3]);
        assert_ne!(diverging(0.5), diverging(-0.5));
        assert_eq!(strength(0.25, 1.0), 0.5);
        assert_eq!(strength(-1.0, 1.0), -1.0);
        assert_eq!(strength(0.0, 0.0), 0.0);
    }

    #[test]
    fn looks_differ_for_the_first_twenty() {
        let mut seen: Vec<(&str, &str)> = (0..20).map(|i| (look(i).colour, look(i).dash)).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 20);
    }
}
