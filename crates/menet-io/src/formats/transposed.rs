//! Text with one variable per row and one sample per column, as is common for gene tables.
//!
//! The first line names the samples, and the first field of every other line names the variable. The row `label` (or the one
//! that `--label` names) holds the classes. Without a header there are only numbers, and rows are named by number.

use std::path::Path;

use super::ReadOptions;
use super::columns::not_a_number;
use super::dialect::{Records, line, utf8};
use super::header::header;
use crate::error::{Error, Result, short};
use crate::needs::ColumnReading;
use crate::table::{Ids, Table};
use crate::{labels, memory};

pub(super) fn read(mut records: Records, path: &Path, options: &ReadOptions) -> Result<Table> {
    let (mut first, mut row) = (csv::ByteRecord::new(), csv::ByteRecord::new());
    if !records.next(&mut first)? {
        return Err(Error::input(path, "the file is empty"));
    }
    records.check_separated(&first)?;
    records.bound(first.len())?;
    // Names of samples may be numbers, so the first line is a header unless --no-header is given.
    let with_header = ReadOptions { header: !options.no_header, ..options.clone() };
    let second = if options.no_header { None } else { records.next(&mut row)?.then(|| row.clone()) };
    let header = header(&first, second.as_ref(), path, &with_header)?;
    records.require(header.names.len())?;
    if let Some(held) = if header.is_data { Some(first) } else { second } {
        records.hold(held);
    }
    let skip = usize::from(!header.is_data);
    let n = header.names.len() - skip;
    if n == 0 {
        return Err(Error::input(path, "there are names of variables but no samples"));
    }
    let mut rows = RowContents::new(path, options, &header.names[skip..], header.is_data)?;
    let mut number = 0;
    while records.next(&mut row)? {
        number += 1;
        let name = match header.is_data {
            true => number.to_string(),
            false => utf8(row.get(0).unwrap_or_default(), &row, "1", path)?.trim().to_owned(),
        };
        rows.take(name, &row, skip, &records)?;
    }
    rows.table(n)
}

/// The contents of the rows.
struct RowContents<'a> {
    path: &'a Path,
    options: &'a ReadOptions,
    /// The row of the labels.
    label: Option<&'a String>,
    ids: Option<Vec<String>>,
    groups: Option<Vec<String>>,
    batches: Option<Vec<String>>,
    labels: Option<Vec<String>>,
    seen: std::collections::HashSet<String>,
    names: Vec<String>,
    /// Variable by variable.
    values: Vec<f64>,
    nameless: bool,
}

impl<'a> RowContents<'a> {
    fn new(path: &'a Path, options: &'a ReadOptions, samples: &[String], nameless: bool) -> Result<Self> {
        let label = options.label_column().map_err(|problem| Error::input(path, problem))?;
        let ids = (!nameless).then(|| samples.to_vec());
        let (groups, batches, labels) = Default::default();
        let (seen, names, values) = Default::default();
        Ok(RowContents { path, options, label, ids, groups, batches, labels, seen, names, values, nameless })
    }

    fn take(&mut self, name: String, row: &csv::ByteRecord, skip: usize, records: &Records) -> Result<()> {
        let (path, options) = (self.path, self.options);
        if !self.seen.insert(name.clone()) {
            let problem =
                format!("line {}: the variable {:?} appears more than once", line(row), short(&name));
            return Err(Error::input(path, problem));
        }
        let texts = |convert: &dyn Fn(&str) -> String| {
            row.iter()
                .skip(skip)
                .map(|field| utf8(field, row, &name, path).map(convert))
                .collect::<Result<_>>()
        };
        let (grouping, batching) =
            (options.groups.as_ref() == Some(&name), options.batch.as_ref() == Some(&name));
        if grouping {
            self.groups = Some(texts(&labels::normal)?);
        }
        if batching {
            self.batches = Some(texts(&labels::normal)?);
        }
        if grouping || batching || options.drop.contains(&name) {
        } else if self.label == Some(&name) {
            self.labels = Some(texts(&labels::normal)?);
        } else if options.id.as_ref() == Some(&name) {
            self.ids = Some(texts(&|id| id.trim().to_owned())?);
        } else {
            let needs = options.needs.as_deref().filter(|_| !self.nameless);
            let reading = needs.map_or(ColumnReading::Strictly, |needs| needs.reading(&name, true));
            if reading == ColumnReading::Not {
                return Ok(());
            }
            memory::reserve(&mut self.values, row.len(), path)?;
            for field in row.iter().skip(skip) {
                let number =
                    records.number(field).or((reading == ColumnReading::Loosely).then_some(f64::NAN));
                let Some(value) = number else {
                    let text = String::from_utf8_lossy(field);
                    let problem = not_a_number("row", &name, &text);
                    return Err(Error::input(path, format!("line {}, {problem}", line(row))));
                };
                self.values.push(value);
            }
            self.names.push(name);
        }
        Ok(())
    }

    fn table(self, n: usize) -> Result<Table> {
        let p = self.names.len();
        let wanted = |name: &String| !self.seen.contains(name);
        let usual = ReadOptions::default().label;
        let missing = self
            .options
            .drop
            .iter()
            .chain(&self.options.id)
            .chain(&self.options.groups)
            .chain(&self.options.batch)
            .find(|name| wanted(name));
        let missing = missing.or(Some(&self.options.label).filter(|label| **label != usual && wanted(label)));
        if let Some(name) = missing {
            return Err(Error::input(self.path, format!("there is no row {:?}", short(name))));
        }
        if let Some(needs) = self.options.needs.as_deref().filter(|_| !self.nameless) {
            needs.check(self.names.iter().map(String::as_str), self.path)?;
        }
        if p == 0 {
            return Err(Error::input(self.path, "there are no variables among its rows"));
        }
        let mut values = Vec::new();
        memory::reserve(&mut values, n * p, self.path)?;
        for i in 0..n {
            values.extend((0..p).map(|j| self.values[j * n + i]));
        }
        let mut table = Table::new(self.path, values, n, p);
        table.labels = self.labels;
        let name = self.options.id.clone().unwrap_or_else(|| "id".to_owned());
        table.ids = self.ids.map(|values| Ids { name, values });
        table.groups = self.groups;
        table.batches = self.batches;
        table.feature_names = (!self.nameless).then_some(self.names);
        Ok(table)
    }
}
