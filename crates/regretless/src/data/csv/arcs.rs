//! Arcs or edges of a network in a CSV file: one row each.

use std::path::Path;

use super::table::CsvTable;
use crate::data::CsvDialect;
use crate::data::layout::ColumnSelection;
use crate::error::{Error, InputPlace, Result};

/// The columns of a file of arcs.
#[derive(Debug)]
pub(crate) struct ArcColumns {
    pub from: String,
    pub to: String,
    pub name: Option<String>,
    /// Columns with a number per arc.
    pub numbers: Vec<String>,
}

/// The arcs of a file.
#[derive(Debug, Default)]
pub(crate) struct ArcRows {
    /// The two nodes of each arc.
    pub ends: Vec<[String; 2]>,
    pub names: Option<Vec<String>>,
    /// Numbers per arc, column by column; an empty cell is infinite: nothing is stated.
    pub numbers: Vec<Vec<f64>>,
}

/// Reads the arcs of a file; `item` is what a row is: an arc or an edge.
///
/// # Errors
/// When a column is missing, a cell that names a node is empty, both ends of an arc are the same
/// node, a cell is no number, or there is no row.
pub(crate) fn read_arcs(
    path: &Path,
    columns: &ArcColumns,
    dialect: CsvDialect,
    item: &str,
) -> Result<ArcRows> {
    let mut table = CsvTable::open(path, dialect)?;
    let header = table.header();
    let ends = [header.column(&columns.from)?, header.column(&columns.to)?];
    let name = (columns.name.as_ref().map(|name| header.column(name))).transpose()?;
    let mut numbers = Vec::new();
    for column in &columns.numbers {
        numbers.push(header.column(column)?);
    }
    let mut rows = ArcRows {
        names: name.map(|_| Vec::new()),
        numbers: vec![Vec::new(); numbers.len()],
        ..ArcRows::default()
    };
    table.read(ColumnSelection::default(), |table| {
        let mut nodes = [String::new(), String::new()];
        for (column, node) in ends.iter().zip(&mut nodes) {
            table.text(*column)?.clone_into(node);
            if node.is_empty() {
                let message = format!("the cell is empty; it must name a node of the {item}");
                return Err(table.cell_error(*column, message));
            }
        }
        if nodes[0] == nodes[1] {
            let message = format!("this {item} leads from a node to itself; leave it out");
            return Err(table.cell_error(ends[1], message));
        }
        rows.ends.push(nodes);
        if let (Some(column), Some(names)) = (name, &mut rows.names) {
            names.push(table.text(column)?.to_owned());
        }
        for (column, values) in numbers.iter().zip(&mut rows.numbers) {
            let is_empty = table.text(*column)?.is_empty();
            values.push(if is_empty {
                f64::INFINITY
            } else {
                table.parameter(*column)?
            });
        }
        Ok(())
    })?;
    if rows.ends.is_empty() {
        let message = format!("there is no {item} in the file");
        return Err(Error::input(InputPlace::file(path), message));
    }
    Ok(rows)
}
