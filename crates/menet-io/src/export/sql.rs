//! The model as one SELECT: the axes, a value per class, and the label of every row of a table.
//!
//! With the rules `centroid` and `gaussian`, the values are the decision values up to a number that the classes of a row share, so the
//! label is the one that menet predicts. With `nearest`, a table of all training samples would be needed. The SELECT then compares with the
//! class centroids of the gallery instead, and says so: its values are `−½‖z − centroid‖²` up to such a number.
//!
//! Nothing in the table may change what the statement means:
//!
//! - Every column is named together with its table. SQLite takes a bare `"name"` that no column has for a text.
//! - The columns of the model stand before those of the table. Where names are equal, SQLite and DuckDB keep the name of the first
//!   column, and PostgreSQL refuses to choose.
//! - A value that menet refuses (missing, NaN, infinite, a text) becomes NULL, and so do the axes, values and label that depend on it.
//!   Databases disagree about NaN: for DuckDB and PostgreSQL it is larger than all numbers, and SQLite has none.

use std::fmt::Write as _;

use faer::Mat;
use menet::rules::{LearnedRule, Linear};

use super::ExportedModel;
use crate::error::{Error, Result};
use crate::model::{LabelKind, ModelFile};

/// Terms of a sum that stand side by side. SQLite limits the depth of an expression to 1,000.
const TOGETHER: usize = 50;

/// The largest value of a sample that menet computes with.
const LARGEST: f64 = 1e100;

/// The smallest number above -1, whose `log(1 + x)` is defined.
const ABOVE_MINUS_ONE: f64 = -1.0 + f64::EPSILON / 2.0;

/// What the statement calls a row of the table, and the range of its values.
const ROW: &str = "menet_row";
const RANGE: &str = "menet_range";

/// Columns that every table of SQLite or DuckDB has, whether it was given them or not.
const ROW_NUMBERS: [&str; 3] = ["rowid", "oid", "_rowid_"];

/// The model as a SELECT from `table`.
///
/// # Errors
/// When the table or the variables have no names, or names that a database does not tell apart; when a class is not what the model says
/// it is; when the model has no rule, centres batches, or fills missing values from neighbours.
pub fn to_sql(file: &ModelFile, table: &str) -> Result<String> {
    if table.trim().is_empty() {
        return Err(Error::Model("the table to select from has no name".to_owned()));
    }
    let flat = ExportedModel::of(file)?;
    let Some(names) = &flat.names else {
        let problem =
            "the variables of the model have no names, which SQL needs: fit data whose columns have names";
        return Err(Error::Model(problem.to_owned()));
    };
    check_names(names)?;
    let (linear, label) = match flat.rule {
        LearnedRule::Nearest(rule) => {
            (centroids(&rule.gallery, &rule.classes, rule.shifts.len()), "nearest_centroid")
        }
        LearnedRule::Centroid(_) | LearnedRule::Gaussian(_) => match flat.rule.linear()? {
            Some(linear) => (linear, "label"),
            None => return Err(Error::Model("the rule has no linear form".to_owned())),
        },
    };
    let columns: Vec<String> = names.iter().map(|name| quoted(name)).collect::<Result<_>>()?;
    let (scores, values) = (unlike("menet_scores", table), unlike("menet_values", table));
    let mut sql = format!("-- Made by menet {}.", env!("CARGO_PKG_VERSION"));
    if label != "label" {
        sql.push_str(
            " The rule of the model asks all training samples; this compares with the centroids of the classes instead.\n\
             -- The labels may differ from those of menet: fit with the rule centroid or gaussian for the same.",
        );
    }
    let _ = write!(sql, "\nWITH {scores} AS (\n  SELECT{}\n    {ROW}.*", axes(&flat, &columns));
    let _ = write!(sql, "\n  FROM {} AS {ROW}\n  CROSS JOIN {}", quoted(table)?, range(&flat));
    let _ = write!(sql, "\n), {values} AS (\n  SELECT{}", values_of(&linear, &scores));
    let _ = write!(sql, "\n    {scores}.*\n  FROM {scores}\n)\nSELECT\n  CASE{}", decision(&flat, &values)?);
    let _ = writeln!(sql, "\n  END AS {label},\n  {values}.*\nFROM {values};");
    Ok(sql)
}

/// The columns `axis_1` and so on.
fn axes(flat: &ExportedModel<'_>, columns: &[String]) -> String {
    let known = flat.fill.as_ref().map(|_| {
        let within = |column: &String| format!("{ROW}.{column} BETWEEN {RANGE}.least AND {RANGE}.most");
        joined(columns.iter().map(within).collect(), " OR ")
    });
    let axis = |k: usize| {
        let used = (0..flat.panel.len()).filter(|&place| flat.weights[(place, k)] != 0.0);
        let term = |place: usize| {
            let (weight, mean) = (number(flat.weights[(place, k)]), number(flat.mean[place]));
            format!("{weight} * ({} - {mean})", prepared(flat, place, &columns[place]))
        };
        let sum = joined(used.map(term).collect(), " + ");
        let value = match &known {
            // Of a row without any value of the panel nothing is known.
            Some(known) => format!("CASE WHEN {known} THEN {sum} END"),
            None => sum,
        };
        format!("\n    {value} AS axis_{},", k + 1)
    };
    (0..flat.axes()).map(axis).collect()
}

/// The least and the most that a value may be, as a table of one row. A text of SQLite is compared with them as the number that it is.
fn range(flat: &ExportedModel<'_>) -> String {
    let least = if flat.logarithm { ABOVE_MINUS_ONE } else { -LARGEST };
    let double = |value: f64| format!("CAST({value:e} AS double precision)");
    format!("(SELECT {} AS least, {} AS most) AS {RANGE}", double(least), double(LARGEST))
}

/// The columns `value_1` and so on, one per class.
fn values_of(linear: &Linear, scores: &str) -> String {
    let value = |c: usize| {
        let term = |k: usize| {
            let (weight, reference) = (number(linear.weights[(k, c)]), number(linear.reference[k]));
            format!("{weight} * ({scores}.axis_{} - {reference})", k + 1)
        };
        let terms = std::iter::once(number(linear.offsets[c])).chain((0..linear.reference.len()).map(term));
        format!("\n    {} AS value_{},", joined(terms.collect(), " + "), c + 1)
    };
    (0..linear.offsets.len()).map(value).collect()
}

/// The class of the largest value; of equal ones, the first.
fn decision(flat: &ExportedModel<'_>, values: &str) -> Result<String> {
    let classes = flat.men.classes();
    let value = |c: usize| format!("{values}.value_{}", c + 1);
    let case = |(c, class): (usize, &String)| -> Result<String> {
        let earlier = (0..c).map(|other| format!("{} > {}", value(c), value(other)));
        let later = (c + 1..classes.len()).map(|other| format!("{} >= {}", value(c), value(other)));
        let known = (classes.len() == 1).then(|| format!("{} IS NOT NULL", value(c)));
        let wins: Vec<String> = earlier.chain(later).chain(known).collect();
        Ok(format!("\n    WHEN {} THEN {}", wins.join(" AND "), literal(class, flat.kind)?))
    };
    classes.iter().enumerate().map(case).collect()
}

/// A value of the panel as the axes use it, from the column of this name. It is NULL if it is out of range, or missing and not filled.
fn prepared(flat: &ExportedModel<'_>, place: usize, column: &str) -> String {
    let given = format!("{ROW}.{column}");
    let mut value = given.clone();
    if flat.logarithm {
        value = format!("ln(1 + {value})");
    }
    if let Some(divisors) = &flat.divisors {
        value = format!("{value} / {}", number(divisors[place]));
    }
    let missing = match &flat.fill {
        // Where there is NaN, it is larger than all numbers, and so is 0 less NaN.
        Some(fill) => format!(
            " WHEN {given} IS NULL OR ({given} > {RANGE}.most AND 0e0 - {given} > {RANGE}.most) THEN {}",
            number(fill[place])
        ),
        None => String::new(),
    };
    format!("CASE WHEN {given} BETWEEN {RANGE}.least AND {RANGE}.most THEN {value}{missing} END")
}

/// Refuses names of variables that a database does not tell apart, or takes for a column that is always there.
fn check_names(names: &[&str]) -> Result<()> {
    let mut seen = std::collections::HashMap::new();
    for name in names {
        let folded = name.to_lowercase();
        if ROW_NUMBERS.contains(&folded.as_str()) {
            return Err(Error::Model(format!(
                "a variable of the model has the name {name:?}, which SQLite takes for the number of a row where the table lacks it: \
                 rename the variable and fit again"
            )));
        }
        if let Some(other) = seen.insert(folded, name) {
            return Err(Error::Model(format!(
                "two variables of the model have the names {other:?} and {name:?}, which databases do not tell apart: rename one and \
                 fit again"
            )));
        }
    }
    Ok(())
}

/// A name for a part of the statement that is not that of the table.
fn unlike(name: &str, table: &str) -> String {
    let same = name.eq_ignore_ascii_case(table);
    if same { format!("{name}_") } else { name.to_owned() }
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

/// A sum, or another chain, in parentheses, not deep.
fn joined(terms: Vec<String>, by: &str) -> String {
    match terms.len() {
        0 => "0e0".to_owned(),
        n if n <= TOGETHER => format!("({})", terms.join(by)),
        _ => joined(terms.chunks(TOGETHER).map(|some| joined(some.to_vec(), by)).collect(), by),
    }
}

/// With an exponent, so that every database takes it as double precision.
fn number(value: f64) -> String {
    if value < 0.0 { format!("({value:e})") } else { format!("{value:e}") }
}

/// A name of a table or column.
fn quoted(name: &str) -> Result<String> {
    Ok(format!("\"{}\"", whole(name)?.replace('"', "\"\"")))
}

/// A class as what the model says it is.
fn literal(class: &str, kind: LabelKind) -> Result<String> {
    kind.check(class).map_err(Error::Model)?;
    Ok(match kind {
        LabelKind::Integer => class.to_owned(),
        LabelKind::Number => {
            class.parse().map(number).map_err(|e| Error::Model(format!("the class {class:?}: {e}")))?
        }
        LabelKind::Boolean => class.to_uppercase(),
        LabelKind::Text => format!("'{}'", whole(class)?.replace('\'', "''")),
    })
}

/// A text that a statement can hold: SQL ends at a NUL character.
fn whole(text: &str) -> Result<&str> {
    match text.contains('\0') {
        true => {
            Err(Error::Model(format!("{text:?} holds a NUL character, which SQL has no form for: rename it")))
        }
        false => Ok(text),
    }
}
