//! Column names, and costs in the order of a problem.
//!
//! Column labels that are strings are names. Other labels, such as the numbers that pandas gives to
//! unnamed columns, are not.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use regretless::data::{CostMatching, CostNames, CostOwner, Dataset, Matrix};

use crate::arrays::{ArrayOwnership, array2, finite_matrix};
use crate::error::to_py_err;
use crate::problem::Problem;

/// Column names of a table (pandas, polars, pyarrow), if it has names.
pub fn column_names(value: &Bound<'_, PyAny>) -> PyResult<Option<Vec<String>>> {
    // `columns` of a pyarrow table are its data.
    let arrow_names = value.getattr_opt("column_names")?;
    match arrow_names.map_or_else(|| value.getattr_opt("columns"), |names| Ok(Some(names)))? {
        None => Ok(None),
        Some(labels) => names_of(&labels),
    }
}

/// Names of the entries of one row (a pandas Series), if it has names.
fn entry_names(value: &Bound<'_, PyAny>) -> PyResult<Option<Vec<String>>> {
    match value.getattr_opt("index")? {
        // Lists have a method `index`.
        Some(labels) if !labels.is_callable() => names_of(&labels),
        _ => Ok(None),
    }
}

fn names_of(labels: &Bound<'_, PyAny>) -> PyResult<Option<Vec<String>>> {
    let levels = labels
        .getattr_opt("nlevels")?
        .map(|levels| levels.extract::<usize>())
        .transpose()?;
    if levels.is_some_and(|levels| levels > 1) {
        return Err(PyValueError::new_err(
            "the columns have labels of several levels (a MultiIndex); give each column one name",
        ));
    }
    let Ok(labels) = labels.try_iter() else {
        return Ok(None);
    };
    let labels = labels.collect::<PyResult<Vec<_>>>()?;
    let names: Vec<String> = labels
        .iter()
        .filter_map(|label| label.extract().ok())
        .collect();
    if names.len() == labels.len() && !names.is_empty() {
        return Ok(Some(names));
    }
    match names.first() {
        None => Ok(None),
        Some(name) => Err(PyValueError::new_err(format!(
            "some labels of columns are strings ('{name}') and some are not; give every column a \
             name, or none"
        ))),
    }
}

/// Matches the costs of a table to those of a problem; where they are matched by position, a
/// warning is raised, once per problem.
fn match_names(
    py: Python<'_>,
    problem: &Problem,
    owner: &str,
    names: &CostNames,
) -> PyResult<CostMatching> {
    names
        .check("column")
        .map_err(|error| PyValueError::new_err(format!("{owner}: {error}")))?;
    let found = CostMatching::with_problem(CostOwner::new(owner, names), problem.problem.as_ref())
        .map_err(to_py_err)?;
    if let Some(notice) = found.notice() {
        problem.warn_once(py, notice)?;
    }
    Ok(found)
}

/// Reorders a table to the order of a problem's costs.
pub fn match_table(py: Python<'_>, problem: &Problem, data: &mut Dataset) -> PyResult<()> {
    let found = match_names(py, problem, "C", data.cost_names())?;
    data.apply(&found).map_err(to_py_err)
}

/// Reorders a table to the order of a problem's costs or, where it has no names, of a model's.
pub fn match_table_of_model(
    py: Python<'_>,
    problem: &Problem,
    model: &regretless::predict::CostModel,
    data: &mut Dataset,
) -> PyResult<()> {
    let notices = model
        .match_table(data, problem.problem.as_ref())
        .map_err(to_py_err)?;
    notices
        .iter()
        .try_for_each(|notice| problem.warn_once(py, notice))
}

/// A table of predictions or decisions in the order of the target's names. Arrays are in that order
/// already: predictions usually have no names, so that no warning is raised.
pub fn in_order(value: &Bound<'_, PyAny>, what: &str, target: CostOwner<'_>) -> PyResult<Matrix> {
    let mut numbers = finite_matrix(value, what, ArrayOwnership::Borrow)?;
    let Some(names) = column_names(value)?.map(CostNames::from) else {
        return Ok(numbers);
    };
    names
        .check("column")
        .map_err(|error| PyValueError::new_err(format!("{what}: {error}")))?;
    if numbers.cols() == names.len()
        && let Some(order) = CostMatching::new(CostOwner::new(what, &names), target)
            .map_err(to_py_err)?
            .order()
    {
        numbers.reorder_columns(order).map_err(to_py_err)?;
    }
    Ok(numbers)
}

/// A table in the order of a problem's costs; names that cannot be matched raise an error.
pub fn in_order_of(value: &Bound<'_, PyAny>, what: &str, problem: &Problem) -> PyResult<Matrix> {
    let named = column_names(value)?.map(CostNames::from);
    if let Some(names) = &named {
        match_names(value.py(), problem, what, names)?;
    }
    in_order(
        value,
        what,
        CostOwner {
            name: &problem.problem.name(),
            cost_names: problem.problem.cost_names(),
            could_have_names: false,
        },
    )
}

/// One row of costs in the order of a problem's costs.
pub fn row_in_order_of(
    value: &Bound<'_, PyAny>,
    mut numbers: Vec<f64>,
    problem: &Problem,
) -> PyResult<Vec<f64>> {
    let Some(names) = entry_names(value)?.map(CostNames::from) else {
        return Ok(numbers);
    };
    let found = match_names(value.py(), problem, "the row of costs", &names)?;
    problem.check_width(numbers.len())?;
    found.apply_to_row(&mut numbers);
    Ok(numbers)
}

/// Refuses a table whose columns are not in the order of a problem's costs, where results are in
/// the order of the columns.
pub fn check_order(value: &Bound<'_, PyAny>, what: &str, problem: &Problem) -> PyResult<()> {
    let Some(names) = column_names(value)?.map(CostNames::from) else {
        return Ok(());
    };
    if match_names(value.py(), problem, what, &names)?
        .order()
        .is_none()
    {
        return Ok(());
    }
    Err(PyValueError::new_err(format!(
        "the columns of {what} are in a different order than the problem's costs; use \
         {what}[problem.cost_names]"
    )))
}

/// Returns a table of costs as an array in the order of a problem's costs, in the precision it was
/// given in (float32 or float64).
#[pyfunction]
#[pyo3(name = "_costs_in_order")]
pub fn costs_in_order<'py>(
    py: Python<'py>,
    problem: &Bound<'py, Problem>,
    C: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let data = crate::label::costs_only(problem.get(), C, ArrayOwnership::Borrow)?;
    let costs = data.costs().clone();
    let (rows, cols) = (costs.rows(), costs.cols());
    if !costs.has_f64_values() {
        return Ok(array2(py, costs.into_vec(), rows, cols)?.into_any());
    }
    let mut values = Vec::with_capacity(rows * cols);
    let mut row = Vec::with_capacity(cols);
    for number in 0..rows {
        costs.read(number, &mut row);
        values.extend_from_slice(&row);
    }
    Ok(array2(py, values, rows, cols)?.into_any())
}

/// Returns the column names of a table, or None.
#[pyfunction]
#[pyo3(name = "_column_names")]
pub fn column_names_of(table: &Bound<'_, PyAny>) -> PyResult<Option<Vec<String>>> {
    column_names(table)
}
