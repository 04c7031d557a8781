//! Names of columns, and costs in the order of a problem.
//!
//! Labels of columns that are strings are names. Other labels, such as the numbers pandas gives to
//! unnamed columns, are none.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use regretless::data::{CostMatching, CostNames, CostSide, Dataset, Matrix};
use regretless::problem::match_costs;

use crate::arrays::{ArrayOwnership, finite_matrix, rectangle};
use crate::error::to_py_err;
use crate::problem::Problem;

/// Column names of a table such as pandas' or polars', if it has names.
pub fn column_names(value: &Bound<'_, PyAny>) -> PyResult<Option<Vec<String>>> {
    // Arrow's tables list their data under `columns` and the names beside them.
    let of_arrow = value.getattr_opt("column_names")?;
    match of_arrow.map_or_else(|| value.getattr_opt("columns"), |names| Ok(Some(names)))? {
        None => Ok(None),
        Some(labels) => names_of(&labels),
    }
}

/// The names of the numbers in one row such as a pandas Series, if they have names.
fn entry_names(value: &Bound<'_, PyAny>) -> PyResult<Option<Vec<String>>> {
    match value.getattr_opt("index")? {
        // Lists have a method of this name.
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
        let message =
            "the columns have labels of several levels (a MultiIndex); give each column one name";
        return Err(PyValueError::new_err(message));
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

/// How the costs of a table belong to those of a problem; where positions decide, a warning says
/// so, once per problem.
fn matching(
    py: Python<'_>,
    problem: &Problem,
    owner: &str,
    names: &CostNames,
) -> PyResult<CostMatching> {
    names
        .check("column")
        .map_err(|error| PyValueError::new_err(format!("{owner}: {error}")))?;
    let found =
        match_costs(CostSide::new(owner, names), problem.problem.as_ref()).map_err(to_py_err)?;
    if let Some(notice) = found.notice() {
        problem.warn_once(py, notice)?;
    }
    Ok(found)
}

/// Brings a table into the order of a problem's costs.
pub fn match_table(py: Python<'_>, problem: &Problem, data: &mut Dataset) -> PyResult<()> {
    let found = matching(py, problem, "C", data.cost_names())?;
    data.apply(&found).map_err(to_py_err)
}

/// Brings a table into the order of a problem's costs or, where it has no names, of a model's.
pub fn match_table_of_model(
    py: Python<'_>,
    problem: &Problem,
    model: &regretless::predict::CostModel,
    data: &mut Dataset,
) -> PyResult<()> {
    let notices = regretless::evaluate::match_table(data, model, problem.problem.as_ref())
        .map_err(to_py_err)?;
    notices
        .iter()
        .try_for_each(|notice| problem.warn_once(py, notice))
}

/// A table of predictions or decisions in the order that is wanted. Arrays are in that order
/// already: what is predicted has no names by its nature, so that no warning is due.
pub fn in_order(value: &Bound<'_, PyAny>, what: &str, wanted: CostSide<'_>) -> PyResult<Matrix> {
    let mut numbers = finite_matrix(value, what, ArrayOwnership::Borrow)?;
    let Some(names) = column_names(value)?.map(CostNames::from) else {
        return Ok(numbers);
    };
    names
        .check("column")
        .map_err(|error| PyValueError::new_err(format!("{what}: {error}")))?;
    if numbers.cols() == names.len()
        && let Some(order) = CostMatching::new(CostSide::new(what, &names), wanted)
            .map_err(to_py_err)?
            .order()
    {
        numbers.reorder_columns(order).map_err(to_py_err)?;
    }
    Ok(numbers)
}

/// The same in the order of a problem's costs; names that cannot be matched are told.
pub fn in_order_of(value: &Bound<'_, PyAny>, what: &str, problem: &Problem) -> PyResult<Matrix> {
    let named = column_names(value)?.map(CostNames::from);
    if let Some(names) = &named {
        matching(value.py(), problem, what, names)?;
    }
    let owner = problem.problem.name();
    let names = problem.problem.cost_names();
    in_order(
        value,
        what,
        CostSide {
            owner: &owner,
            names,
            could_have_names: false,
        },
    )
}

/// One row of numbers in the order of a problem's costs.
pub fn row_in_order_of(
    value: &Bound<'_, PyAny>,
    mut numbers: Vec<f64>,
    problem: &Problem,
) -> PyResult<Vec<f64>> {
    let Some(names) = entry_names(value)?.map(CostNames::from) else {
        return Ok(numbers);
    };
    let found = matching(value.py(), problem, "the row of costs", &names)?;
    problem.check_width(numbers.len())?;
    found.apply_to_row(&mut numbers);
    Ok(numbers)
}

/// Refuses a table whose columns are not in the order of a problem's costs, for results that are in
/// the order of the columns.
pub fn check_order(value: &Bound<'_, PyAny>, what: &str, problem: &Problem) -> PyResult<()> {
    let Some(names) = column_names(value)?.map(CostNames::from) else {
        return Ok(());
    };
    if matching(value.py(), problem, what, &names)?
        .order()
        .is_none()
    {
        return Ok(());
    }
    let message = format!("the columns of {what} are in another order than the problem's costs");
    Err(PyValueError::new_err(format!(
        "{message}; take {what}[problem.cost_names]"
    )))
}

/// A table of costs as an array in the order of a problem's costs, in the precision it was given in
/// (float32 or float64), for modules that keep arrays.
#[pyfunction]
#[pyo3(name = "_costs_in_order")]
pub fn costs_in_order<'py>(
    py: Python<'py>,
    problem: &Bound<'py, Problem>,
    costs: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let data = crate::label::costs_only(problem.get(), costs, ArrayOwnership::Borrow)?;
    let (costs, shape) = (
        data.costs().clone(),
        [data.costs().rows(), data.costs().cols()],
    );
    if !costs.has_f64_values() {
        return Ok(rectangle(py, costs.into_vec(), shape)?.into_any());
    }
    let (mut numbers, mut row) = (
        Vec::with_capacity(shape[0] * shape[1]),
        Vec::with_capacity(shape[1]),
    );
    for number in 0..shape[0] {
        costs.read(number, &mut row);
        numbers.extend_from_slice(&row);
    }
    Ok(rectangle(py, numbers, shape)?.into_any())
}

/// Names of a table's columns, or None.
#[pyfunction]
#[pyo3(name = "_column_names")]
pub fn column_names_of(table: &Bound<'_, PyAny>) -> PyResult<Option<Vec<String>>> {
    column_names(table)
}
