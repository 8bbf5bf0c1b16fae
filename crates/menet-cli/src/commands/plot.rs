//! The plot of a path: weights of an axis against the number of its variables.

use kuva::plot::LinePlot;
use kuva::render::layout::Layout;
use kuva::render::plots::Plot;
use menet::Men;
use menet::lars::Path;

use super::variable;

/// One colour after another, dark enough on white.
const COLOURS: [&str; 10] = [
    "#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b", "#e377c2", "#17becf", "#bcbd22",
    "#7f7f7f",
];

/// How many variables are named in the legend.
const NAMED: usize = 8;

/// An SVG of the path of a component: one line a variable, from nothing on the left to the fitted weights on the right.
/// Each variable's line is its solver coefficient, so that variables of different units can be compared.
pub(super) fn path(men: &Men, path: &Path, title: &str) -> String {
    let knots = path.knots();
    let last = &path.last().coefficients;
    let mut order: Vec<usize> = path.order_of_entry();
    order.sort_by(|&a, &b| last.get(b).abs().total_cmp(&last.get(a).abs()).then(a.cmp(&b)));
    let size = |k: usize| knots[k].coefficients.values().iter().map(|w| w.abs()).sum::<f64>();
    let lines: Vec<Plot> = order
        .iter()
        .enumerate()
        .map(|(place, &j)| {
            let points: Vec<(f64, f64)> =
                (0..knots.len()).map(|k| (size(k), knots[k].coefficients.get(j))).collect();
            let line = LinePlot::new()
                .with_data(points)
                .with_color(COLOURS[place % COLOURS.len()])
                .with_stroke_width(if place < NAMED { 2.0 } else { 0.8 });
            Plot::Line(if place < NAMED { line.with_legend(variable(men, j)) } else { line })
        })
        .collect();
    let layout = Layout::auto_from_plots(&lines)
        .with_title(title)
        .with_x_label("sum of absolute coefficients (the penalty falls to the right)")
        .with_y_label("coefficient, columns of length 1")
        .with_width(900.0)
        .with_height(520.0);
    kuva::render_to_svg(lines, layout)
}
