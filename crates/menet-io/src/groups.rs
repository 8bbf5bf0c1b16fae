//! Groups of variables from a file: one line `variable,group` per variable and group.

use std::collections::HashMap;
use std::path::Path;

use menet::penalties::groups::Groups;
use menet::{VariableRef, Variables};

use crate::error::{Error, Result, short};
use crate::whole;

/// Reads groups of variables.
///
/// The file is CSV with two columns, the variable and its group; a first line `variable,group` is a header. A variable is known by its
/// name, or, where the data have no `names`, by its number from 1 to `p`. It may be in several groups. Variables that are not in
/// the file are groups of their own.
///
/// # Errors
/// When the file cannot be read, is empty, a line does not have two fields, or a variable is not known or twice in a group.
pub fn read_groups(path: &Path, names: Option<&[String]>, p: usize) -> Result<Groups> {
    let text = whole::read_text(path, whole::LISTS)?;
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .comment(None)
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let variables = Variables::new(names, p);
    let mut pairs: Vec<(usize, String)> = Vec::new();
    let mut seen: HashMap<(usize, String), u64> = HashMap::new();
    for (at, record) in reader.records().enumerate() {
        let record = record.map_err(|e| Error::input(path, e))?;
        let line = record.position().map_or(at as u64 + 1, csv::Position::line);
        let fault = |problem: String| Error::input(path, format!("line {line}: {problem}"));
        let [variable, group] = record.iter().collect::<Vec<_>>()[..] else {
            let found = record.len();
            let allowed = "2 are needed: variable,group";
            return Err(fault(format!(
                "{found} field{} found, but {allowed}",
                if found == 1 { "" } else { "s" }
            )));
        };
        let group = group.to_owned();
        if at == 0 && variable.eq_ignore_ascii_case("variable") && group.eq_ignore_ascii_case("group") {
            continue;
        }
        if group.is_empty() {
            return Err(fault(format!("variable {:?} has no group", short(variable))));
        }
        let j = variables.find("variable", &VariableRef::from(variable)).map_err(|e| fault(e.to_string()))?;
        if let Some(before) = seen.insert((j, group.clone()), line) {
            let message = format!(
                "variable {:?} is in group {:?} already, on line {before}",
                short(variable),
                short(&group)
            );
            return Err(fault(message));
        }
        pairs.push((j, group));
    }
    if pairs.is_empty() {
        let problem = "there are no groups in it; write one line variable,group per variable and group";
        return Err(Error::input(path, problem));
    }
    Ok(Groups::from_pairs(pairs))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, names: Option<&[&str]>) -> std::result::Result<Groups, String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("groups.csv");
        std::fs::write(&file, text).unwrap();
        let names: Option<Vec<String>> =
            names.map(|names| names.iter().map(|&name| name.to_owned()).collect());
        read_groups(&file, names.as_deref(), 4).map_err(|e| e.to_string())
    }

    fn pairs(groups: &Groups) -> Vec<(&str, &[usize])> {
        groups.groups().iter().map(|group| (group.name.as_str(), &group.variables[..])).collect()
    }

    #[test]
    fn names_or_numbers_make_groups() {
        let expected = [("one", &[0, 2][..]), ("two", &[2])];
        let names: &[&str] = &["age", "sex", "a,b", "last"];
        let text = "variable,group\nage, one\n\"a,b\",one\n\"a,b\",two\n";
        assert_eq!(pairs(&read(text, Some(names)).unwrap()), expected);
        assert_eq!(pairs(&read("\u{feff}1,one\r\n3,one\r\n\r\n3,two", None).unwrap()), expected);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let names: &[&str] = &["age", "sex", "x", "y"];
        for (text, names, message) in [
            ("", None, "no groups"),
            ("variable,group\n", None, "no groups"),
            ("1\n", None, "line 1: 1 field found, but 2 are needed"),
            ("1,a\n2,a,b\n", None, "line 2: 3 fields found"),
            ("1,a\n5,a\n", None, "line 2: `variable` is \"5\", but must be a number from 1 to 4"),
            (
                "age,a\nheight,a\n",
                Some(names),
                "line 2: `variable` is \"height\", but must be the name of a variable",
            ),
            ("1,\n", None, "has no group"),
            ("1,a\n1,a\n", None, "line 2: variable \"1\" is in group \"a\" already, on line 1"),
        ] {
            let found = read(text, names).unwrap_err();
            assert!(found.contains(message), "{found}");
        }
        assert!(read_groups(Path::new("nowhere/groups.csv"), None, 4).is_err());
    }
}
