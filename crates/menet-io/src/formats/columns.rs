//! The roles of named columns, and the values that they may hold.

use std::path::Path;

use super::ReadOptions;
use super::header::check as check_header;
use crate::error::{Error, Result, short};
use crate::labels;
use crate::needs::ColumnReading;

/// Double precision holds all whole numbers up to this one.
const EXACT: i128 = 1 << 53;

/// Names of columns that name samples, in upper or lower case.
const INDEX: [&str; 7] = ["id", "index", "sample_id", "sampleid", "sample id", "rownames", "row_names"];

/// The role of each column.
#[derive(Debug, Clone, Default)]
pub(super) struct Layout {
    pub(super) label: Option<usize>,
    pub(super) id: Option<usize>,
    pub(super) groups: Option<usize>,
    pub(super) batch: Option<usize>,
    /// The name of the column of sample names in outputs.
    pub(super) id_name: String,
    pub(super) variables: Vec<usize>,
    /// The names of the variables.
    pub(super) names: Vec<String>,
    /// Which of the variables are missing where they hold no number.
    pub(super) loose: Vec<bool>,
    /// Notices for the user.
    pub(super) notices: Vec<String>,
}

/// The role of each column of a table that is not read here, by its name.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Roles {
    /// The column with the labels.
    pub label: Option<String>,
    /// The column that names the samples.
    pub id: Option<String>,
    /// The name of the column of sample names in outputs.
    pub id_name: String,
    /// The variables, in the order of the table.
    pub variables: Vec<String>,
    /// Notices for the user.
    pub notices: Vec<String>,
}

/// The role of each column of a table that is not read here. `index` are the columns that the file declares as an index of the rows,
/// `texts` says which columns hold text, and `header` whether the names are the first line of a text file.
///
/// # Errors
/// When there are no columns, a name repeats, a requested column is missing, no variable is left, or the first line is no header.
pub fn roles(
    path: &Path,
    names: &[String],
    index: &[String],
    texts: &[bool],
    header: bool,
    options: &ReadOptions,
) -> Result<Roles> {
    let mut notices = Vec::new();
    if header {
        let read = format!("the first line ({}) is read as the names of the columns", list(names));
        let is_no_header = || {
            format!(
                "the first line ({}) looks like a sample, not like the names of the columns; add a first line with names",
                list(names)
            )
        };
        let doubt = check_header(names, path, options).map_err(|_| Error::input(path, is_no_header()))?;
        notices.extend(doubt.map(|_| format!("{}: {read}", path.display())));
    }
    let is_text = |at: usize| texts.get(at).copied().unwrap_or_default();
    let layout = NamedColumns { names, index, is_text: &is_text }.layout(path, options)?;
    notices.extend(layout.notices);
    let name = |at: Option<usize>| at.map(|at| names[at].clone());
    let (label, id) = (name(layout.label), name(layout.id));
    Ok(Roles { label, id, id_name: layout.id_name, variables: layout.names, notices })
}

/// What the roles of the columns depend on.
pub(super) struct NamedColumns<'a> {
    pub(super) names: &'a [String],
    /// Names of columns that the file declares as an index of the rows.
    pub(super) index: &'a [String],
    /// Whether a column holds text.
    pub(super) is_text: &'a dyn Fn(usize) -> bool,
}

impl NamedColumns<'_> {
    /// The role of each column, by its name.
    ///
    /// # Errors
    /// When there are no columns, a name repeats, a requested column is missing, or no variable is left.
    pub(super) fn layout(&self, path: &Path, options: &ReadOptions) -> Result<Layout> {
        let names = self.names;
        if names.is_empty() {
            return Err(Error::input(path, "the file is empty"));
        }
        let mut seen = std::collections::HashSet::new();
        let role = |name: &str| {
            name == options.label
                || [&options.id, &options.groups, &options.batch]
                    .into_iter()
                    .any(|given| given.as_deref() == Some(name))
        };
        let needs = options.needs.as_deref();
        let matters = |name: &str| needs.is_none_or(|needs| needs.needs(name) || role(name));
        if let Some(name) = names.iter().find(|name| !seen.insert(name.as_str()) && matters(name)) {
            let name = short(name);
            return Err(Error::input(path, format!("the column name {name:?} appears more than once")));
        }
        let missing = |name: &str, purpose: &str| {
            let among = list(names);
            let near = names.iter().find(|other| other.trim().eq_ignore_ascii_case(name.trim()));
            let near = near.map_or(String::new(), |near| format!("; did you mean {:?}?", short(near)));
            Error::input(path, format!("there is no column {:?} {purpose} among {among}{near}", short(name)))
        };
        if let Some(name) = options.drop.iter().find(|name| !seen.contains(name.as_str())) {
            return Err(missing(name, "to leave out"));
        }
        if let Some(name) = options.id.as_deref().filter(|name| !seen.contains(name)) {
            return Err(missing(name, "to name the samples"));
        }
        if let Some(name) = options.groups.as_deref().filter(|name| !seen.contains(name)) {
            return Err(missing(name, "to group the samples by"));
        }
        if let Some(name) = options.batch.as_deref().filter(|name| !seen.contains(name)) {
            return Err(missing(name, "to take the batches from"));
        }
        if options.label != ReadOptions::default().label && !seen.contains(options.label.as_str()) {
            return Err(missing(&options.label, "to take the labels from"));
        }
        let mut taken = std::collections::HashSet::new();
        let has_all = needs.is_some_and(|needs| needs.all_among(names.iter().map(String::as_str)));
        let label = options.label_column().map_err(|problem| Error::input(path, problem))?;
        let mut layout = Layout { id_name: "id".to_owned(), ..Layout::default() };
        for (at, name) in names.iter().enumerate() {
            // A column can name the samples, group them and say their batch.
            let (grouping, batching) =
                (options.groups.as_ref() == Some(name), options.batch.as_ref() == Some(name));
            if grouping {
                layout.groups = Some(at);
            }
            if batching {
                layout.batch = Some(at);
            }
            if options.drop.contains(name) {
            } else if label == Some(name) {
                layout.label = Some(at);
            } else if options.id.as_ref() == Some(name) {
                (layout.id, layout.id_name) = (Some(at), name.clone());
            } else if grouping || batching {
            } else if self.is_index(at) && needs.is_none_or(|needs| !needs.needs(name)) {
                self.index_column(at, options, &mut layout);
            } else {
                let reading = needs.map_or(ColumnReading::Strictly, |needs| needs.reading(name, has_all));
                // Of other columns with one name the first is read.
                if reading != ColumnReading::Not && taken.insert(name) {
                    layout.variables.push(at);
                    layout.names.push(name.clone());
                    layout.loose.push(reading == ColumnReading::Loosely);
                }
            }
        }
        if let Some(needs) = needs {
            needs.check(layout.names.iter().map(String::as_str), path)?;
        }
        if layout.variables.is_empty() {
            let problem = format!("there are no variables among its {} columns", names.len());
            return Err(Error::input(path, problem));
        }
        Ok(layout)
    }

    /// Whether a column is the index that pandas or R wrote.
    fn is_index(&self, at: usize) -> bool {
        let name = self.names[at].as_str();
        let level = name.strip_prefix("__index_level_").is_some_and(|rest| rest.ends_with("__"));
        let usual = INDEX.iter().any(|usual| usual.eq_ignore_ascii_case(name));
        at == 0 && name.is_empty()
            || name.starts_with("Unnamed: ")
            || level
            || usual
            || self.index.iter().any(|index| index == name)
    }

    /// An index of text, or one with a name, names the samples. A count of the rows is left out.
    fn index_column(&self, at: usize, options: &ReadOptions, layout: &mut Layout) {
        let name = &self.names[at];
        let generic = name.is_empty() || name.starts_with("Unnamed: ") || name.starts_with("__index_level_");
        let shown = short(name);
        if options.id.is_none() && layout.id.is_none() && (!generic || (self.is_text)(at)) {
            layout.id = Some(at);
            if !generic {
                layout.id_name.clone_from(name);
            }
            layout.notices.push(format!(
                "column {} ({shown:?}) names the samples and is not used as a variable; if it is a variable, rename it",
                at + 1
            ));
        } else {
            layout.notices.push(format!(
                "column {} ({shown:?}) is an index of the rows and is left out; if it is a variable, rename it",
                at + 1
            ));
        }
    }
}

/// The first few of many names, for messages.
pub fn list(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(8).map(|name| format!("{:?}", short(name))).collect();
    let more = if names.len() > 8 { format!(", ... ({} in all)", names.len()) } else { String::new() };
    shown.join(", ") + &more
}

/// The message for a column, or another `line` of a table, that is not numeric.
pub(super) fn not_a_number(line: &str, name: &str, text: &str) -> String {
    let (name, text) = (short(name), short(text));
    let digits = text.trim().trim_start_matches(['+', '-']);
    if digits.split_once(',').is_some_and(|(whole, part)| {
        !part.is_empty() && (whole.to_owned() + part).bytes().all(|byte| byte.is_ascii_digit())
    }) {
        return format!("{line} {name:?}: {text:?} has a decimal comma; give --decimal ,");
    }
    let whole = text.trim().strip_prefix(['+', '-']).unwrap_or(text.trim());
    let beyond = if !whole.is_empty() && whole.bytes().all(|byte| byte.is_ascii_digit()) {
        " that double precision holds (it is a whole number beyond 2^53, which would be rounded)"
    } else {
        ""
    };
    format!(
        "{line} {name:?}: {text:?} is not a finite number{beyond}; leave the {line} out with --drop {name:?}, or say what it is with \
         --label {name:?} (the classes) or --id {name:?} (names of the samples)"
    )
}

/// The values of a column of any type; none where they are missing.
pub(super) enum ColumnValues {
    /// NaN where they are missing.
    Numbers(Vec<f64>),
    Integers(Vec<Option<i128>>),
    Truths(Vec<Option<bool>>),
    Texts(Vec<Option<String>>),
}

impl ColumnValues {
    /// Numbers, NaN where they are missing. The first one belongs to sample `start`.
    pub(super) fn numbers(self, name: &str, start: usize, path: &Path) -> Result<Vec<f64>> {
        let wrong = |row: usize, text: &str| {
            Err(Error::input(
                path,
                format!("row {}, {}", start + row + 1, not_a_number("column", name, text)),
            ))
        };
        match self {
            ColumnValues::Numbers(cells) => match cells.iter().position(|x| x.is_infinite()) {
                Some(row) => wrong(row, &cells[row].to_string()),
                None => Ok(cells),
            },
            ColumnValues::Integers(cells) => {
                let inexact = |cell: &Option<i128>| cell.is_some_and(|x| x.abs() > EXACT);
                match cells.iter().position(inexact) {
                    Some(row) => {
                        let value = cells[row].unwrap_or_default();
                        let name = short(name);
                        let problem = format!(
                            "row {}, column {name:?}: {value} is a whole number beyond 2^53, which would be rounded; leave \
                             the column out with --drop {name:?}, or name the samples by it with --id {name:?}",
                            start + row + 1
                        );
                        Err(Error::input(path, problem))
                    }
                    None => Ok(cells.into_iter().map(|cell| cell.map_or(f64::NAN, |x| x as f64)).collect()),
                }
            }
            ColumnValues::Truths(cells) => {
                Ok(cells.into_iter().map(|cell| cell.map_or(f64::NAN, |x| f64::from(u8::from(x)))).collect())
            }
            ColumnValues::Texts(cells) => match cells.iter().position(Option::is_some) {
                Some(row) => wrong(row, cells[row].as_deref().unwrap_or_default()),
                None => Ok(vec![f64::NAN; cells.len()]),
            },
        }
    }

    /// Labels in their normal form, empty where they are missing.
    pub(super) fn labels(self) -> Vec<String> {
        match self {
            ColumnValues::Numbers(cells) => cells.into_iter().map(labels::from_number).collect(),
            ColumnValues::Integers(cells) => texts(cells, |x| x.to_string()),
            ColumnValues::Truths(cells) => texts(cells, labels::from_bool),
            ColumnValues::Texts(cells) => texts(cells, |text| labels::normal(&text)),
        }
    }

    /// Names of samples, unchanged.
    pub(super) fn ids(self) -> Vec<String> {
        match self {
            ColumnValues::Texts(cells) => texts(cells, |text| text),
            other => other.labels(),
        }
    }
}

fn texts<T>(cells: Vec<Option<T>>, text: impl Fn(T) -> String) -> Vec<String> {
    cells.into_iter().map(|cell| cell.map(&text).unwrap_or_default()).collect()
}
