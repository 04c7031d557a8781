//! Explanations of single decisions.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use regretless::data::{CostNames, Dataset, FeatureShape, Features, Matrix};
use regretless::predict::CostModel;

use crate::arrays::{ArrayOwnership, exact_matrix};
use crate::error::to_py_err;
use crate::names::{column_names, match_table_of_model};
use crate::problem::Problem;

/// The true costs of one row, in the order of the problem's costs or, if these have no names, of
/// the model's.
pub fn true_costs(
    problem: &Problem,
    model: &CostModel,
    table: &Bound<'_, PyAny>,
) -> PyResult<Vec<f64>> {
    let names = column_names(table).map(CostNames::from);
    let costs = exact_matrix(table, "costs", ArrayOwnership::Copy)?;
    if costs.rows() != 1 {
        let rows = costs.rows();
        return Err(PyValueError::new_err(format!(
            "costs has {rows} rows; one row is explained"
        )));
    }
    let placeholder = Matrix::zeros(1, 1);
    let features = Features::new(placeholder, FeatureShape::Wide, None).map_err(to_py_err)?;
    let mut data = Dataset::with_missing_costs(features, costs, names).map_err(to_py_err)?;
    match_table_of_model(table.py(), problem, model, &mut data)?;
    let mut costs = Vec::new();
    data.costs().read(0, &mut costs);
    Ok(costs)
}
