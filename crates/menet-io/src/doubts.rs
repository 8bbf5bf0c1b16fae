//! Doubts about a table that can be read.

use std::collections::{BTreeMap, HashSet};

use crate::error::short;
use crate::needs::ModelVariables;
use crate::table::{Table, TableValues};

/// With fewer samples than this, nothing is said about a column.
const FEW: usize = 5;

/// One notice per doubt. Nothing is said of columns that the model does not need.
pub(crate) fn about(table: &Table, needs: Option<&ModelVariables>) -> Vec<String> {
    let mut notices = counts_and_names(table, &|name| needs.is_none_or(|needs| needs.needs(name)));
    notices.extend(equal_classes(table));
    notices
}

/// Columns that count the samples, or whose name suggests sample names and whose whole numbers all differ.
fn counts_and_names(table: &Table, used: &dyn Fn(&str) -> bool) -> Vec<String> {
    let (TableValues::Dense(values), Some(names)) = (&table.values, &table.feature_names) else {
        return Vec::new();
    };
    let mut notices = Vec::new();
    for (j, name) in names.iter().enumerate().filter(|(_, name)| table.rows >= FEW && used(name)) {
        let column = || values.iter().skip(j).step_by(table.columns).copied();
        let counts =
            column().zip(column().skip(1)).all(|(a, b)| b == a + 1.0) && column().all(|x| x.fract() == 0.0);
        let different = || {
            let mut seen = HashSet::new();
            column().all(|x| x.fract() == 0.0 && seen.insert(x.to_bits()))
        };
        if counts || names_samples(name) && different() {
            let (name, what) =
                (short(name), if counts { "counts the samples" } else { "differs in every sample" });
            notices.push(format!(
                "column {name:?} {what} and is used as a variable; if it names the samples, give --id {name:?}, or leave it \
                 out with --drop {name:?}"
            ));
        }
    }
    notices
}

/// Whether the name of a column suggests that it names samples.
fn names_samples(name: &str) -> bool {
    let name = name.to_lowercase();
    let usual = ["sample", "patient", "subject", "key", "no", "nr", "number", "row", "barcode"];
    usual.contains(&name.as_str())
        || ["_id", " id", ".id", "_no", "_nr"].iter().any(|ending| name.ends_with(ending))
}

/// Two classes that are the same number, written in two ways.
fn equal_classes(table: &Table) -> Option<String> {
    let mut seen: BTreeMap<u64, &String> = BTreeMap::new();
    let classes: std::collections::BTreeSet<&String> = table.labels.iter().flatten().collect();
    for class in classes {
        let Some(value) = class.parse::<f64>().ok().filter(|x| x.is_finite() && x.abs() < 1e15) else {
            continue;
        };
        if let Some(other) = seen.insert(value.to_bits(), class) {
            let (one, two) = (short(other), short(class));
            return Some(format!(
                "the classes {one:?} and {two:?} are the same number; if they are one class, write them in the same way"
            ));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn table(names: &[&str], rows: &[[f64; 2]], labels: &[&str]) -> Table {
        let values: Vec<f64> = rows.iter().flatten().copied().collect();
        let mut table = Table::new(Path::new("t"), values, rows.len(), 2);
        table.feature_names = Some(names.iter().map(|name| (*name).to_owned()).collect());
        table.labels = Some(labels.iter().map(|label| (*label).to_owned()).collect());
        table
    }

    #[test]
    fn names_among_the_variables_are_noticed() {
        let labels = ["x", "y", "x", "y", "x"];
        let rows = [[7.0, 0.5], [3.0, 0.1], [9.0, 0.2], [4.0, 0.7], [1.0, 0.2]];
        let notices = about(&table(&["patient_id", "a"], &rows, &labels), None);
        assert!(notices.len() == 1 && notices[0].contains("--id \"patient_id\""), "{notices:?}");
        assert!(about(&table(&["age", "a"], &rows, &labels), None).is_empty());
        let counted = [[4.0, 0.5], [5.0, 0.1], [6.0, 0.2], [7.0, 0.7], [8.0, 0.2]];
        assert!(about(&table(&["v", "a"], &counted, &labels), None)[0].contains("counts the samples"));
        assert!(about(&table(&["v", "a"], &counted[..4], &labels[..4]), None).is_empty(), "too few to say");
    }

    #[test]
    fn one_number_written_in_two_ways_is_noticed() {
        let rows = [[1.0, 2.0]; 3];
        assert!(about(&table(&["a", "b"], &rows, &["1000", "1e3", "x"]), None)[0].contains("same number"));
        assert!(about(&table(&["a", "b"], &rows, &["1", "2", ""]), None).is_empty());
    }
}
