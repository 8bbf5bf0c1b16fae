//! Which classes the samples of every class were given.

use menet::evaluate::Mistake;
use serde::Serialize;

use crate::curves::{TrainingSetting, methods};
use crate::names::{named, shown};
use crate::study::Study;
use crate::validate::Validation;

/// How many classes can be read in a page.
const LEGIBLE: usize = 100;

/// Which classes a method gave to the samples of every class.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Confusion {
    /// The method that decided.
    pub method: String,
    /// The names of the classes.
    pub classes: Vec<String>,
    /// How many samples of every class were decided on.
    pub tested: Vec<f64>,
    /// The counts that are not zero, by true class and then by given class.
    pub cells: Vec<Cell>,
    /// The classes to draw where there is room for a hundred: those with the most mistakes, in their order.
    pub legible: Vec<usize>,
    /// The mistakes in a sentence or two.
    pub summary: String,
}

/// The samples of one class that were given one class.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cell {
    /// Their class.
    pub class: usize,
    /// The class that they were given.
    pub given: usize,
    /// How many there are.
    pub count: f64,
    /// Their share of the class.
    pub share: f64,
    /// The share in whole percent.
    pub percent: String,
}

impl Confusion {
    /// The chart of a matrix of counts: rows are true classes, columns are given classes.
    pub fn new(method: &str, classes: &[String], counts: &[Vec<f64>]) -> Self {
        let all = |(class, row): (usize, &Vec<f64>)| {
            row.iter().enumerate().map(move |(given, &count)| (class, given, count)).collect::<Vec<_>>()
        };
        let tested = counts.iter().map(|row| row.iter().sum()).collect();
        Self::of_cells(method, classes, tested, counts.iter().enumerate().flat_map(all).collect())
    }

    fn of_cells(
        method: &str,
        classes: &[String],
        tested: Vec<f64>,
        counts: Vec<(usize, usize, f64)>,
    ) -> Self {
        let classes: Vec<String> = classes.iter().map(|name| shown(&named(name), 60)).collect();
        let cell = |(class, given, count): (usize, usize, f64)| {
            let share = count / tested[class];
            Cell { class, given, count, share, percent: whole_percent(share) }
        };
        let mut cells: Vec<Cell> = counts.into_iter().filter(|cell| cell.2 != 0.0).map(cell).collect();
        cells.sort_by_key(|cell| (cell.class, cell.given));
        let legible = legible(classes.len(), &cells);
        let summary = summary(&classes, &tested, &cells, legible.len());
        Confusion { method: shown(method, 30), classes, tested, cells, legible, summary }
    }
}

/// The charts of a validation, one per method; none where nothing was tested.
pub fn of_validation(validation: &Validation) -> Vec<Confusion> {
    let counts = |rows: &[Vec<usize>]| -> Vec<Vec<f64>> {
        rows.iter().map(|row| row.iter().map(|&count| count as f64).collect()).collect()
    };
    let methods = validation.methods.iter();
    let charts = methods.map(|it| Confusion::new(&it.name, &validation.classes, &counts(&it.confusion)));
    charts.filter(|chart| !chart.cells.is_empty()).collect()
}

/// The charts of one setting of a study, in the order of the methods.
pub(crate) fn of_study(study: &Study, setting: &TrainingSetting) -> Vec<Confusion> {
    of_setting(study, setting).into_iter().map(sparse).collect()
}

/// The confusions of a setting, in the order of the methods.
pub(crate) fn of_setting<'a>(
    study: &'a Study,
    setting: &TrainingSetting,
) -> Vec<&'a crate::study::Confusion> {
    let own = |it: &&crate::study::Confusion| it.data == setting.data && it.train_per_class == setting.train;
    let find = |method: &String| study.confusions.iter().filter(own).find(|it| it.method == *method);
    methods(study).iter().filter_map(find).collect()
}

fn sparse(confusion: &crate::study::Confusion) -> Confusion {
    let right = confusion.right().into_iter().enumerate().map(|(class, count)| (class, class, count as f64));
    let wrong = confusion
        .mistakes
        .iter()
        .map(|&Mistake { class, taken_for, count }| (class, taken_for, count as f64));
    let tested = confusion.tested.iter().map(|&count| count as f64).collect();
    Confusion::of_cells(&confusion.method, &confusion.classes, tested, right.chain(wrong).collect())
}

fn mistakes(cells: &[Cell]) -> impl Iterator<Item = &Cell> {
    cells.iter().filter(|cell| cell.class != cell.given)
}

fn legible(classes: usize, cells: &[Cell]) -> Vec<usize> {
    let mut involved = vec![0.0; classes];
    for cell in mistakes(cells) {
        involved[cell.class] += cell.count;
        involved[cell.given] += cell.count;
    }
    let mut all: Vec<usize> = (0..classes).collect();
    all.sort_by(|&a, &b| f64::total_cmp(&involved[b], &involved[a]));
    all.truncate(LEGIBLE);
    all.sort_unstable();
    all
}

fn summary(classes: &[String], tested: &[f64], cells: &[Cell], legible: usize) -> String {
    let (whole, wrong) = (tested.iter().sum::<f64>(), mistakes(cells).map(|cell| cell.count).sum::<f64>());
    let mut worst: Vec<&Cell> = mistakes(cells).collect();
    worst.sort_by(|a, b| b.count.total_cmp(&a.count));
    let name = |class: usize| shown(&classes[class], 24);
    let often =
        worst.iter().take(3).map(|it| format!("{} for {} ({})", name(it.class), name(it.given), it.count));
    let often: Vec<String> = often.collect();
    let often = if often.is_empty() { String::new() } else { format!(" Most often: {}.", often.join(", ")) };
    let part = match classes.len() {
        all if all > legible => {
            format!(" The map shows the {legible} of {all} classes with the most mistakes.")
        }
        _ => String::new(),
    };
    let share = 100.0 * wrong / whole.max(1.0);
    format!("{wrong} of {whole} test samples ({share:.1} %) are taken for another class.{often}{part}")
}

/// A share that is not zero never reads 0, and one that is not all never reads 100.
fn whole_percent(share: f64) -> String {
    match (100.0 * share).round() {
        0.0 if share > 0.0 => "<1".to_owned(),
        100.0 if share < 1.0 => ">99".to_owned(),
        whole => format!("{whole:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_honest_at_the_ends() {
        let read = [0.0, 0.001, 0.5, 0.999, 1.0].map(whole_percent);
        assert_eq!(read, ["0", "<1", "50", ">99", "100"]);
    }

    #[test]
    fn the_worst_mistakes_are_told_first() {
        let names = ["a", "b", "c"].map(str::to_owned);
        let counts = [vec![8.0, 2.0, 0.0], vec![0.0, 0.0, 0.0], vec![3.0, 1.0, 6.0]];
        let chart = Confusion::new("men", &names, &counts);
        assert_eq!(chart.tested, [10.0, 0.0, 10.0]);
        assert_eq!(chart.cells.iter().map(|cell| cell.percent.as_str()).collect::<String>(), "8020301060");
        assert!(chart.summary.contains("6 of 20 test samples (30.0 %)"), "{}", chart.summary);
        assert!(
            chart.summary.contains("Most often: c for a (3), a for b (2), c for b (1)."),
            "{}",
            chart.summary
        );
    }
}
