//! Explanations of single decisions.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use regretless::data::{CostNames, Dataset, FeatureShape, Features, Matrix};
use regretless::predict::CostModel;

use crate::arrays::{ArrayOwnership, exact_matrix};
use crate::error::to_py_err;
use crate::names::{column_names, match_table_of_model};
use crate::problem::Problem;

/// A vector or a Series as a table with one row; a table stays as it is.
pub fn one_row<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let module = value.py().import("regretless.results.explanation")?;
    module.call_method1("one_row", (value,))
}

/// The true costs of one row, in the order of the problem's costs or, where these have no names, of
/// the model's.
pub fn true_costs(
    problem: &Problem,
    model: &CostModel,
    value: &Bound<'_, PyAny>,
) -> PyResult<Vec<f64>> {
    let table = one_row(value)?;
    let names = column_names(&table)?.map(CostNames::from);
    let costs = exact_matrix(&table, "costs", ArrayOwnership::Copy)?;
    if costs.rows() != 1 {
        let rows = costs.rows();
        return Err(PyValueError::new_err(format!(
            "costs has {rows} rows; one row is explained"
        )));
    }
    let placeholder = Matrix::zeros(1, 1);
    let features = Features::new(placeholder, FeatureShape::Wide, None).map_err(to_py_err)?;
    let mut data = Dataset::with_missing_costs(features, costs, names).map_err(to_py_err)?;
    match_table_of_model(value.py(), problem, model, &mut data)?;
    let mut costs = Vec::new();
    data.costs().read(0, &mut costs);
    Ok(costs)
}

/// The names of choices: one name, or several.
pub fn choice_names(value: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<String>> {
    match value {
        None => Ok(Vec::new()),
        Some(value) => match value.extract::<String>() {
            Ok(name) => Ok(vec![name]),
            Err(_) => value.extract(),
        },
    }
}
