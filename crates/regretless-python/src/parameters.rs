//! Parameters of rows: arrays by name, a DataFrame, or names of columns of the features, which are
//! also found without being named.
//! `regretless.tables.parameters` reads them; numbers in float64 and C order are not copied.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;
use regretless::data::RowParameters;

use crate::arrays::{ArrayOwnership, f64_array};
use crate::problem::Problem;

/// The argument `parameters` of a call and the tables beside it.
pub struct ParameterArgs<'a, 'py> {
    /// The argument.
    pub value: Option<&'a Bound<'py, PyAny>>,
    /// The features, where the call has some: the argument may name columns of them.
    pub features: Option<&'a Bound<'py, PyAny>>,
    /// The table whose rows they belong to, and its name in messages.
    pub table: &'a Bound<'py, PyAny>,
    /// Its name in messages.
    pub table_name: &'a str,
}

impl<'a, 'py> ParameterArgs<'a, 'py> {
    /// Parameters beside a table of costs.
    pub fn of_costs(value: Option<&'a Bound<'py, PyAny>>, costs: &'a Bound<'py, PyAny>) -> Self {
        Self {
            value,
            features: None,
            table: costs,
            table_name: "C",
        }
    }

    /// Parameters beside a table of features.
    pub fn of_features(
        value: Option<&'a Bound<'py, PyAny>>,
        features: &'a Bound<'py, PyAny>,
    ) -> Self {
        Self {
            value,
            features: Some(features),
            table: features,
            table_name: "X",
        }
    }

    /// The parameters of this many rows, if some were given.
    pub fn read(
        &self,
        problem: &Problem,
        rows: usize,
        ownership: ArrayOwnership,
    ) -> PyResult<Option<RowParameters>> {
        let needed = problem.parameter_names();
        if self.value.is_none() && (self.features.is_none() || needed.is_empty()) {
            return Ok(None);
        }
        let module = self.table.py().import("regretless.tables.parameters")?;
        let value = match self.value {
            Some(value) => value.clone(),
            None => module.call_method1("columns_in_features", (self.features, &needed))?,
        };
        if value.is_none() {
            return Ok(None);
        }
        let arguments = (
            value,
            rows,
            needed,
            self.features,
            self.table,
            self.table_name,
            node_parameters(problem),
        );
        let columns = module.call_method1("parameter_columns", arguments)?;
        collect(problem, &columns, rows, ownership).map(Some)
    }
}

/// The parameters as given, or else the columns of the features that the problem reads.
pub fn given_parameters<'py>(
    problem: &Problem,
    features: &Bound<'py, PyAny>,
    parameters: Option<&Bound<'py, PyAny>>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let module = features.py().import("regretless.tables.parameters")?;
    let arguments = (features, parameters, problem.parameter_names());
    let parameters = module.call_method1("given_parameters", arguments)?;
    Ok((!parameters.is_none()).then_some(parameters))
}

/// The argument `parameters` of a call for one row as a table with one row.
pub fn one_row_parameters<'py>(
    parameters: Option<&Bound<'py, PyAny>>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Some(parameters) = parameters else {
        return Ok(None);
    };
    let module = parameters.py().import("regretless.tables.parameters")?;
    Ok(Some(module.call_method1("one_row", (parameters,))?))
}

/// The parameters of one row, if some were given.
pub fn single_row(
    problem: &Problem,
    value: Option<&Bound<'_, PyAny>>,
) -> PyResult<Option<Arc<RowParameters>>> {
    let Some(value) = value else {
        return Ok(None);
    };
    let module = value.py().import("regretless.tables.parameters")?;
    let arguments = (value, problem.parameter_names(), node_parameters(problem));
    let columns = module.call_method1("row_parameter_columns", arguments)?;
    let parameters = collect(problem, &columns, 1, ArrayOwnership::Copy)?;
    Ok(Some(Arc::new(parameters)))
}

/// The parameters whose entries may be names of nodes.
fn node_parameters(problem: &Problem) -> Vec<String> {
    let parameters = problem.problem.parameters().iter();
    let nodes = parameters.filter(|parameter| parameter.names.is_some());
    nodes.map(|parameter| parameter.pattern.clone()).collect()
}

/// The numbers of nodes by name; numbers that are given are names too.
fn node_numbers(problem: &Problem, parameter: &str, names: &[String]) -> PyResult<Vec<f64>> {
    let mut parameters = problem.problem.parameters().iter();
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

fn collect(
    problem: &Problem,
    columns: &Bound<'_, PyAny>,
    rows: usize,
    ownership: ArrayOwnership,
) -> PyResult<RowParameters> {
    let mut parameters = RowParameters::new(rows);
    for column in columns.try_iter()? {
        let (name, array): (String, Bound<'_, PyAny>) = column?.extract()?;
        if array.is_instance_of::<PyList>() {
            let names: Vec<String> = array.extract()?;
            let numbers = node_numbers(problem, &name, &names)?;
            parameters = parameters
                .with_column(name, 1, Arc::new(numbers))
                .map_err(|error| PyValueError::new_err(format!("parameters: {error}")))?;
            continue;
        }
        let mut parameters_of_problem = problem.problem.parameters().iter();
        let nodes = parameters_of_problem
            .find(|known| known.pattern == name)
            .and_then(|known| known.names.as_ref());
        if let Some(nodes) = nodes.filter(|nodes| !nodes.are_numbers()) {
            return Err(PyValueError::new_err(format!(
                "parameters: '{name}' names nodes, whose names are text: {}",
                nodes.first()
            )));
        }
        let values = f64_array(&array, &name, ownership)?;
        let width = values.values().len() / rows.max(1);
        parameters = parameters
            .with_column(name, width, values)
            .map_err(|error| PyValueError::new_err(format!("parameters: {error}")))?;
    }
    Ok(parameters)
}
