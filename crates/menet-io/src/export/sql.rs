//! The model as one SELECT: the axes, a value per class, and the label of every row of a table.
//!
//! With the rules `centroid` and `gaussian`, the values are the decision values up to a number that the classes of a row share, so the
//! label is the one that menet predicts. With `nearest`, a table of all training samples would be needed. The SELECT then compares with the
//! class centroids of the gallery instead, and says so: its values are `−½‖z − centroid‖²` up to such a number.

use std::fmt::Write as _;

use faer::Mat;
use menet::rules::{Learned, Linear};

use super::Flat;
use crate::error::{Error, Result};
use crate::model::{LabelKind, ModelFile};

/// Terms of a sum that stand side by side. SQLite limits the depth of an expression to 1,000.
const TOGETHER: usize = 50;

/// The model as a SELECT from `table`.
///
/// # Errors
/// When the table or the variables have no names, the model has no rule, centres batches, or fills missing values from neighbours.
pub fn to_sql(file: &ModelFile, table: &str) -> Result<String> {
    if table.trim().is_empty() {
        return Err(Error::Model("the table to select from has no name".to_owned()));
    }
    let flat = Flat::of(file)?;
    let Some(names) = &flat.names else {
        let problem =
            "the variables of the model have no names, which SQL needs: fit data whose columns have names";
        return Err(Error::Model(problem.to_owned()));
    };
    let (linear, label) = match flat.rule {
        Learned::Nearest(rule) => {
            (centroids(&rule.gallery, &rule.classes, rule.shifts.len()), "nearest_centroid")
        }
        Learned::Centroid(_) | Learned::Gaussian(_) => match flat.rule.linear()? {
            Some(linear) => (linear, "label"),
            None => return Err(Error::Model("the rule has no linear form".to_owned())),
        },
    };
    let prepared = |place: usize| {
        let mut value = quoted(names[place]);
        if flat.logarithm {
            value = format!("ln(1 + {value})");
        }
        if let Some(divisors) = &flat.divisors {
            value = format!("{value} / {}", number(divisors[place]));
        }
        match &flat.fill {
            Some(fill) => format!("coalesce({value}, {})", number(fill[place])),
            None => value,
        }
    };
    let mut sql = format!("-- Made by menet {}.", env!("CARGO_PKG_VERSION"));
    if label != "label" {
        sql.push_str(
            " The rule of the model asks all training samples; this compares with the centroids of the classes instead.\n\
             -- The labels may differ from those of menet: fit with the rule centroid or gaussian for the same.",
        );
    }
    sql.push_str("\nWITH scores AS (\n  SELECT *");
    for k in 0..flat.axes() {
        let used = (0..flat.panel.len()).filter(|&place| flat.weights[(place, k)] != 0.0);
        let term = |place: usize| {
            format!(
                "{} * ({} - {})",
                number(flat.weights[(place, k)]),
                prepared(place),
                number(flat.mean[place])
            )
        };
        let _ = write!(sql, ",\n    {} AS axis_{}", sum(used.map(term).collect()), k + 1);
    }
    let _ = write!(sql, "\n  FROM {}\n), decided AS (\n  SELECT *", quoted(table));
    let classes = flat.men.classes();
    for c in 0..classes.len() {
        let mut terms = vec![number(linear.offsets[c])];
        terms.extend((0..flat.axes()).map(|k| {
            format!("{} * (axis_{} - {})", number(linear.weights[(k, c)]), k + 1, number(linear.reference[k]))
        }));
        let _ = write!(sql, ",\n    {} AS value_{}", sum(terms), c + 1);
    }
    sql.push_str("\n  FROM scores\n)\nSELECT *,\n  CASE");
    for (c, class) in classes.iter().enumerate() {
        // What is not less than any other comes first.
        let better: Vec<String> =
            (c + 1..classes.len()).map(|other| format!("value_{} >= value_{}", c + 1, other + 1)).collect();
        let class = literal(class, flat.kind);
        if better.is_empty() {
            let _ = write!(sql, "\n    WHEN value_{} IS NOT NULL THEN {class}", c + 1);
        } else {
            let earlier = (0..c).map(|other| format!("value_{} > value_{}", c + 1, other + 1));
            let all: Vec<String> = earlier.chain(better).collect();
            let _ = write!(sql, "\n    WHEN {} THEN {class}", all.join(" AND "));
        }
    }
    let _ = writeln!(sql, "\n  END AS {label}\nFROM decided;");
    Ok(sql)
}

/// The class centroids of projected samples, as a linear rule.
fn centroids(gallery: &Mat<f64>, classes: &[usize], count: usize) -> Linear {
    let mut means = Mat::<f64>::zeros(gallery.ncols(), count);
    let mut samples = vec![0.0; count];
    for (row, &class) in gallery.row_iter().zip(classes) {
        samples[class] += 1.0;
        row.iter().enumerate().for_each(|(k, z)| means[(k, class)] += z);
    }
    for c in 0..count {
        (0..gallery.ncols()).for_each(|k| means[(k, c)] /= samples[c]);
    }
    let offsets = means.col_iter().map(|mean| -0.5 * mean.squared_norm_l2()).collect();
    Linear { reference: vec![0.0; gallery.ncols()], weights: means, offsets }
}

/// A sum in parentheses, not deep.
fn sum(terms: Vec<String>) -> String {
    match terms.len() {
        0 => "0e0".to_owned(),
        n if n <= TOGETHER => format!("({})", terms.join(" + ")),
        _ => sum(terms.chunks(TOGETHER).map(|some| sum(some.to_vec())).collect()),
    }
}

/// With an exponent, so that every database takes it as double precision.
fn number(value: f64) -> String {
    if value < 0.0 { format!("({value:e})") } else { format!("{value:e}") }
}

/// A name of a table or column.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn literal(class: &str, kind: LabelKind) -> String {
    match kind {
        LabelKind::Integer | LabelKind::Number => class.to_owned(),
        LabelKind::Boolean => class.to_uppercase(),
        LabelKind::Text => format!("'{}'", class.replace('\'', "''")),
    }
}
