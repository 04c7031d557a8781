//! Parameters of rows: float64 arrays, or names of nodes, by the name of the parameter.
//!
//! `regretless.tables.parameters` makes them of what the user gave; arrays in C order are not
//! copied.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;
use regretless::data::RowParameters;

use crate::arrays::{ArrayOwnership, f64_array};
use crate::problem::Problem;

/// Pairs of a name and an array of shape (n,) or (n, k), or a list of names of nodes.
pub type ParameterList<'py> = Vec<(String, Bound<'py, PyAny>)>;

/// The parameters of this many rows, if some were given.
pub fn row_parameters(
    problem: &Problem,
    columns: Option<ParameterList<'_>>,
    rows: usize,
    ownership: ArrayOwnership,
) -> PyResult<Option<RowParameters>> {
    let Some(columns) = columns else {
        return Ok(None);
    };
    let in_parameters =
        |error: regretless::Error| PyValueError::new_err(format!("parameters: {error}"));
    let mut parameters = RowParameters::new(rows);
    for (name, entries) in columns {
        parameters = if entries.is_instance_of::<PyList>() {
            let names: Vec<String> = entries.extract()?;
            let numbers = node_numbers(problem, &name, &names)?;
            parameters.with_column(name, 1, Arc::new(numbers))
        } else {
            refuse_numbers_of_nodes(problem, &name)?;
            let values = f64_array(&entries, &name, ownership)?;
            let width = values.values().len() / rows.max(1);
            parameters.with_column(name, width, values)
        }
        .map_err(in_parameters)?;
    }
    Ok(Some(parameters))
}

/// The parameters of one row, if some were given.
pub fn single_row(
    problem: &Problem,
    columns: Option<ParameterList<'_>>,
) -> PyResult<Option<Arc<RowParameters>>> {
    Ok(row_parameters(problem, columns, 1, ArrayOwnership::Copy)?.map(Arc::new))
}

/// The parameters whose entries may be names of nodes.
pub fn node_parameters(problem: &Problem) -> Vec<String> {
    let parameters = problem.problem.row_problems().parameters().iter();
    let nodes = parameters.filter(|parameter| parameter.names.is_some());
    nodes.map(|parameter| parameter.pattern.clone()).collect()
}

/// The numbers of nodes by name; numbers that are given are names too.
fn node_numbers(problem: &Problem, parameter: &str, names: &[String]) -> PyResult<Vec<f64>> {
    let mut parameters = problem.problem.row_problems().parameters().iter();
    let nodes = parameters
        .find(|known| known.pattern == parameter)
        .and_then(|known| known.names.as_ref())
        .ok_or_else(|| PyValueError::new_err(format!("parameters: '{parameter}' is no node")))?;
    let mut numbers = Vec::with_capacity(names.len());
    for (row, name) in names.iter().enumerate() {
        numbers.push(nodes.number(name).ok_or_else(|| {
            PyValueError::new_err(format!(
                "parameters: '{parameter}' of row {row} is '{name}', which is no node of the \
                 problem; the nodes are {}",
                nodes.first()
            ))
        })?);
    }
    Ok(numbers)
}

/// Refuses numbers for a node if the nodes have other names.
fn refuse_numbers_of_nodes(problem: &Problem, parameter: &str) -> PyResult<()> {
    let mut parameters = problem.problem.row_problems().parameters().iter();
    let nodes = parameters
        .find(|known| known.pattern == parameter)
        .and_then(|known| known.names.as_ref());
    match nodes.filter(|nodes| !nodes.are_numbers()) {
        None => Ok(()),
        Some(nodes) => Err(PyValueError::new_err(format!(
            "parameters: '{parameter}' names nodes, whose names are text: {}",
            nodes.first()
        ))),
    }
}
