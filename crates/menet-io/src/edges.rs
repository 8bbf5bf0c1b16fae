//! Files of edges between variables: `variable,variable[,weight]`, one edge per line.
//!
//! A variable goes by its name, or by its number from 1 if the data have no names. The weight is 1 if there is none. A first line of
//! titles (`variable,variable`, `from,to` or `source,target`, with or without `weight`) is skipped, and so are empty lines.

use std::path::Path;

use menet::MenParams;
use menet::penalties::feature_graph::{Edge, EdgeList, FeatureGraph};

use crate::error::{Error, Result, short};
use crate::whole;

/// The titles that a first line may have.
const TITLES: [[&str; 2]; 3] = [["variable", "variable"], ["from", "to"], ["source", "target"]];

/// Reads a file of edges.
///
/// # Errors
/// When it cannot be read, has no edge, or a line is not an edge; the message names the line.
pub fn read_edges(path: &Path) -> Result<EdgeList> {
    let text = whole::read_text(path, whole::LISTS)?;
    let mut edges = Vec::new();
    // Line by line: a reader of the whole file does not count empty lines.
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    for (place, (at, line)) in lines.enumerate() {
        let number = at + 1;
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .trim(csv::Trim::All)
            .buffer_capacity(line.len().max(1))
            .from_reader(line.as_bytes());
        let record = reader.records().next().transpose();
        let record =
            record.map_err(|e| Error::input(path, format!("line {number}: {e}")))?.unwrap_or_default();
        let cells: Vec<&str> = record.iter().collect();
        let title = |titles: &[&str; 2]| {
            cells.len() >= 2
                && cells[..2].iter().zip(titles).all(|(cell, title)| cell.eq_ignore_ascii_case(title))
        };
        if place == 0 && TITLES.iter().any(title) {
            continue;
        }
        let refuse = |problem: String| {
            let form = "an edge is variable,variable or variable,variable,weight";
            Err(Error::input(path, format!("line {number}: {problem}; {form}")))
        };
        let weight = match cells.as_slice() {
            [_, _] => 1.0,
            [_, _, weight] => match fast_float2::parse::<f64, _>(weight) {
                Ok(weight) if weight > 0.0 && weight.is_finite() => weight,
                _ => return refuse(format!("the weight is {:?}, but must be a number > 0", short(weight))),
            },
            other => return refuse(format!("it has {} fields", other.len())),
        };
        if cells[..2].contains(&"") {
            return refuse("a variable is missing".to_owned());
        }
        edges.push(Edge { ends: (cells[0].into(), cells[1].into()), weight });
    }
    if edges.is_empty() {
        return Err(Error::input(
            path,
            "no edges: one line per edge, as variable,variable or variable,variable,weight",
        ));
    }
    Ok(EdgeList::new(path.display().to_string(), edges))
}

/// Reads the edges that parameters only name, if they do.
///
/// # Errors
/// As [`read_edges`]; where there is no such file, the message lists the graphs that need none.
pub fn complete(params: MenParams) -> Result<MenParams> {
    let Some(file) = params.penalty.feature_graph.as_ref().and_then(FeatureGraph::unread).map(str::to_owned)
    else {
        return Ok(params);
    };
    let path = Path::new(&file);
    if !path.exists() {
        let names = FeatureGraph::NAMES.join(", ");
        let problem = format!(
            "there is no such file, and `penalty.feature_graph` must be {names}, grid:HEIGHTxWIDTH or a file of edges"
        );
        return Err(Error::input(path, problem));
    }
    let list = read_edges(path)?;
    Ok(params.with(|it| it.penalty.feature_graph = Some(FeatureGraph::Edges(list))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> std::result::Result<EdgeList, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        read_edges(file.path()).map_err(|e| e.to_string())
    }

    #[test]
    fn edges_are_read() {
        let plain = read("a,b\nb, c ,2.5\n\n\"d,e\",a,1").unwrap();
        assert_eq!(plain.count(), 3);
        let edges = FeatureGraph::Edges(plain);
        let names = ["a", "b", "c", "d,e"].map(str::to_owned);
        assert_eq!(edges.edges(Some(&names), None, 4).unwrap(), [(0, 1, 1.0), (1, 2, 2.5), (0, 3, 1.0)]);
        assert_eq!(read("From,To,weight\n1,2,1").unwrap().count(), 1);
    }

    #[test]
    fn wrong_lines_are_told() {
        for (text, expected) in [
            ("a,b\nc", "line 2: it has 1 fields"),
            ("a,b,1,2", "line 1: it has 4 fields"),
            ("a,b,x", "line 1: the weight is \"x\""),
            ("a,b\n\na,c,-1", "line 3: the weight is \"-1\""),
            ("a,", "line 1: a variable is missing"),
            ("", "no edges"),
            ("from,to", "no edges"),
        ] {
            let message = read(text).unwrap_err();
            assert!(message.contains(expected), "{text:?}: {message}");
        }
    }
}
