//! Row parameters in a CSV file of their own, with one row per instance.

use std::collections::HashSet;
use std::path::Path;

use super::number::quoted;
use super::table::CsvTable;
use crate::data::layout::ColumnSelection;
use crate::data::{CsvDialect, InstanceKeys, ParameterColumns};
use crate::error::Result;

/// The parameters of a file.
pub(in crate::data) struct ParameterTable {
    /// Name and numbers of each column.
    pub columns: Vec<(String, Vec<f64>)>,
    /// The instance of each row, if the file has the column that names them.
    pub instances: Option<InstanceKeys>,
}

/// Reads those of the parameters that a file has.
///
/// # Errors
/// When a cell is no number, a pattern matches another number of columns than the problem needs,
/// or an instance has two rows.
pub(in crate::data) fn read_parameters(
    path: &Path,
    parameters: &[ParameterColumns],
    dialect: CsvDialect,
    instance_column: Option<&str>,
) -> Result<ParameterTable> {
    let mut table = CsvTable::open(path, dialect)?.with_nodes_of(parameters);
    let header = table.header();
    let is_known = |parameter: &&ParameterColumns| !header.parameter(&parameter.pattern).is_empty();
    let columns = header.parameters(parameters.iter().filter(is_known))?;
    let names = table.names_of(&columns);
    let instance_column = instance_column.and_then(|name| {
        let column = table.header().column(name).ok()?;
        Some((name, column))
    });
    let chosen = ColumnSelection {
        parameters: columns,
        ..ColumnSelection::default()
    };
    let mut instances = Vec::new();
    let mut known: HashSet<String> = HashSet::new();
    let numbers = table.read(chosen, |table| {
        let Some((_, column)) = instance_column else {
            return Ok(());
        };
        let name = table.text(column)?;
        if !known.insert(name.to_owned()) {
            let message = format!(
                "instance {} has two rows of parameters; one is needed",
                quoted(name)
            );
            return Err(table.cell_error(column, message));
        }
        instances.push(name.to_owned());
        Ok(())
    })?;
    Ok(ParameterTable {
        columns: names.into_iter().zip(numbers.parameters).collect(),
        instances: instance_column.map(|(name, _)| InstanceKeys::new(name, instances)),
    })
}
