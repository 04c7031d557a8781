//! Column names, and costs in the order of a problem.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use regretless::data::{CostMatching, CostNames, Dataset, Matrix, NamedCosts};
use regretless::job::MatchedTable;
use regretless::notes::Note;

use crate::arrays::{ArrayOwnership, NamedArray, array2, exact_matrix, finite_matrix};
use crate::error::to_py_err;
use crate::problem::Problem;

/// Names of the columns of an array, or of the entries of a row, if it has names.
pub fn column_names(value: &Bound<'_, PyAny>) -> Option<Vec<String>> {
    let named = value.cast::<NamedArray>().ok()?;
    Some(named.get().names.clone())
}

/// Matches the costs of a table to those of a problem; if they are matched by position, a warning
/// is raised, once per problem and list of names.
fn match_names(
    py: Python<'_>,
    problem: &Problem,
    argument: &str,
    names: &CostNames,
) -> PyResult<CostMatching> {
    check_names(argument, names)?;
    let matching =
        CostMatching::with_problem(NamedCosts::new(argument, names), problem.problem.as_ref())
            .map_err(to_py_err)?;
    for note in Note::of_matching(problem.problem.as_ref(), names, &matching) {
        problem.warn_once_about(py, &note.text, Some(names))?;
    }
    Ok(matching)
}

/// Matches a table to a problem; if costs are matched by position, a warning is raised, once per
/// problem and list of names.
pub fn open_table(py: Python<'_>, problem: &Problem, data: Dataset) -> PyResult<MatchedTable> {
    let names = data.cost_names().clone();
    check_names("C", &names)?;
    let table = MatchedTable::open(problem.problem.as_ref(), data, "C").map_err(to_py_err)?;
    for note in table.notes() {
        problem.warn_once_about(py, &note.text, Some(&names))?;
    }
    Ok(table)
}

fn check_names(argument: &str, names: &CostNames) -> PyResult<()> {
    names
        .check("column")
        .map_err(|error| PyValueError::new_err(format!("{argument}: {error}")))
}

/// Reorders a table to the order of a problem's costs or, if the problem's costs have no names, of
/// a model's.
pub fn match_table_of_model(
    py: Python<'_>,
    problem: &Problem,
    model: &regretless::predict::CostModel,
    data: &mut Dataset,
) -> PyResult<()> {
    let names = data.cost_names().clone();
    let warnings = model
        .match_table(data, problem.problem.as_ref())
        .map_err(to_py_err)?;
    warnings
        .iter()
        .try_for_each(|warning| problem.warn_once_about(py, warning, Some(&names)))
}

/// A table of predictions or decisions, reordered to the costs of the table `C`, which are in the
/// order of the problem's. Arrays without names are assumed to be in that order, without a warning,
/// because predictions usually have no names.
pub fn reorder_to_costs(
    value: &Bound<'_, PyAny>,
    argument: &str,
    problem: &Problem,
    costs: &CostNames,
) -> PyResult<Matrix> {
    let numbers = finite_matrix(value, argument, ArrayOwnership::Borrow)?;
    warn_about_names_beside_none(value, argument, problem, costs)?;
    reorder_numbers(numbers, value, argument, NamedCosts::new("C", costs))
}

/// Warns if a table has names and the costs of `C`, those of the problem too, have none.
pub fn warn_about_names_beside_none(
    value: &Bound<'_, PyAny>,
    argument: &str,
    problem: &Problem,
    costs: &CostNames,
) -> PyResult<()> {
    if costs.are_explicit() {
        return Ok(());
    }
    match column_names(value).map(CostNames::from) {
        Some(names) => match_names(value.py(), problem, argument, &names).map(drop),
        None => Ok(()),
    }
}

/// The same for numbers that are read already.
pub fn reorder_numbers(
    mut numbers: Matrix,
    value: &Bound<'_, PyAny>,
    argument: &str,
    target: NamedCosts<'_>,
) -> PyResult<Matrix> {
    let Some(names) = column_names(value).map(CostNames::from) else {
        return Ok(numbers);
    };
    check_names(argument, &names)?;
    if numbers.cols() == names.len()
        && let Some(order) = CostMatching::new(NamedCosts::new(argument, &names), target)
            .map_err(to_py_err)?
            .order()
    {
        numbers.reorder_columns(order).map_err(to_py_err)?;
    }
    Ok(numbers)
}

/// A table, reordered to a problem's costs; names that cannot be matched raise an error.
pub fn reorder_to_problem(
    value: &Bound<'_, PyAny>,
    argument: &str,
    problem: &Problem,
) -> PyResult<Matrix> {
    let named = column_names(value).map(CostNames::from);
    if let Some(names) = &named {
        match_names(value.py(), problem, argument, names)?;
    }
    // Costs of absent items may be missing; those of others are checked once it is known which.
    let numbers = if problem.problem.may_have_absent_costs() {
        exact_matrix(value, argument, ArrayOwnership::Borrow)?
    } else {
        finite_matrix(value, argument, ArrayOwnership::Borrow)?
    };
    reorder_numbers(
        numbers,
        value,
        argument,
        NamedCosts {
            name: &problem.problem.name(),
            cost_names: problem.problem.names().cost_names(),
            warn_if_unnamed: false,
        },
    )
}

/// One row of costs, reordered to a problem's costs.
pub fn reorder_row_to_problem(
    value: &Bound<'_, PyAny>,
    mut numbers: Vec<f64>,
    problem: &Problem,
) -> PyResult<Vec<f64>> {
    let Some(names) = column_names(value).map(CostNames::from) else {
        return Ok(numbers);
    };
    let matching = match_names(value.py(), problem, "the row of costs", &names)?;
    problem.check_width(numbers.len())?;
    matching.apply_to_row(&mut numbers);
    Ok(numbers)
}

/// For calls whose results have the order of the input columns: returns an error if that is not the
/// order of the problem's costs.
pub fn check_order(value: &Bound<'_, PyAny>, argument: &str, problem: &Problem) -> PyResult<()> {
    let Some(names) = column_names(value).map(CostNames::from) else {
        return Ok(());
    };
    if match_names(value.py(), problem, argument, &names)?
        .order()
        .is_none()
    {
        return Ok(());
    }
    Err(PyValueError::new_err(format!(
        "the columns of {argument} are in a different order than the problem's costs; use \
         {argument}[problem.cost_names]"
    )))
}

/// The same for the order of a table's costs, if the problem's costs have no names.
pub fn check_order_of_table(
    value: &Bound<'_, PyAny>,
    argument: &str,
    problem: &Problem,
    table: &CostNames,
) -> PyResult<()> {
    if problem.problem.names().cost_names().is_some() {
        return check_order(value, argument, problem);
    }
    let Some(names) = column_names(value).map(CostNames::from) else {
        return Ok(());
    };
    check_names(argument, &names)?;
    warn_about_names_beside_none(value, argument, problem, table)?;
    let (actual, expected) = (
        NamedCosts::new(argument, &names),
        NamedCosts::new("C", table),
    );
    let matching = CostMatching::new(actual, expected).map_err(to_py_err)?;
    if matching.order().is_none() {
        return Ok(());
    }
    Err(PyValueError::new_err(format!(
        "the columns of {argument} are in a different order than those of C; use \
         {argument}[C.columns]"
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
    let table = crate::label::costs_only(problem.get(), C, None, ArrayOwnership::Borrow)?;
    let costs = table.data().costs().clone();
    let (rows, cols) = (costs.rows(), costs.cols());
    if !costs.has_f64_values() {
        return Ok(array2(py, costs.into_vec(), rows, cols)?.into_any());
    }
    let mut values = Vec::with_capacity(rows * cols);
    let mut row = Vec::with_capacity(cols);
    for index in 0..rows {
        costs.read(index, &mut row);
        values.extend_from_slice(&row);
    }
    Ok(array2(py, values, rows, cols)?.into_any())
}
