//! Which costs exist in each row, for predictors that Python fits: the numbers in the cells of
//! absent items mean nothing.

use numpy::PyArray2;
use pyo3::prelude::*;
use regretless::data::CostNames;
use regretless::evaluate::MissingPredictions;

use crate::arrays::{ArrayOwnership, array2};
use crate::call_observer::PyCall;
use crate::keywords::SolveOptions;
use crate::label::costs_only;
use crate::parameters::ParameterList;
use crate::problem::Problem;

/// Whether each cost exists in each row, in the order of the problem's costs; None where all do. A
/// row whose parameters define no problem, which gets no label, has none.
#[pyfunction]
#[pyo3(name = "_present_costs")]
pub fn present_costs<'py>(
    py: Python<'py>,
    problem: &Bound<'py, Problem>,
    C: &Bound<'py, PyAny>,
    parameters: Option<ParameterList<'py>>,
) -> PyResult<Option<Bound<'py, PyArray2<bool>>>> {
    let problem = problem.get();
    if !problem.problem.may_have_absent_costs() {
        return Ok(None);
    }
    let table = costs_only(problem, C, parameters, ArrayOwnership::Borrow)?;
    let data = table.data();
    let (rows, cols) = (data.costs().rows(), data.costs().cols());
    problem.check_width(cols)?;
    let call = PyCall::new(false);
    let present = call.run(py, |_| {
        let options = SolveOptions::default();
        let oracle = options.oracle(problem, &call, data.parameters())?;
        let mut present = vec![false; rows * cols];
        for (row, present) in present.chunks_exact_mut(cols.max(1)).enumerate() {
            if let Ok(problem) = oracle.row_problem(row) {
                match problem.present_costs() {
                    Some(exists) => present.copy_from_slice(exists),
                    None => present.fill(true),
                }
            }
        }
        Ok(present)
    })?;
    if present.iter().all(|exists| *exists) {
        return Ok(None);
    }
    Ok(Some(array2(py, present, rows, cols)?))
}

/// What predictions that are NaN mean.
pub fn missing_predictions(are_left_out: bool) -> MissingPredictions {
    if are_left_out {
        MissingPredictions::LeftOut
    } else {
        MissingPredictions::Refused
    }
}

/// The warning beside predictions of a model of the user's own that has none for these costs.
#[pyfunction]
#[pyo3(name = "_unobserved_note")]
pub fn unobserved_note(names: Vec<String>, costs: Vec<u32>) -> Option<String> {
    CostNames::from(names).unobserved_note(&costs)
}
