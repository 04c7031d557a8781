//! What solving found: one solution or many.

use std::sync::OnceLock;

use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use regretless::data::CostNames;
use regretless::oracle::SolveResult;
use regretless::problem::Sense;
use regretless::solve::{SolveFailure, SolveStatus};

use crate::arrays::{rectangle, row};

/// A decision and what is known about it.
#[pyclass(frozen, module = "regretless")]
pub struct Solution {
    /// To be minimised.
    pub solution: regretless::solve::Solution,
    /// The user's sense.
    pub sense: Sense,
    /// Length of the decision.
    pub width: usize,
    /// Names of its values, if they have any.
    pub cost_names: Option<CostNames>,
}

#[pymethods]
impl Solution {
    /// The decision, one value per cost.
    #[getter]
    fn decision<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f32>> {
        let mut values = vec![0.0; self.width];
        write(&self.solution.decision, &mut values);
        row(py, values)
    }

    /// Names of the decision's values, or None where the problem has no names for its costs.
    #[getter]
    fn cost_names(&self) -> Option<Vec<String>> {
        self.cost_names.as_ref().map(CostNames::to_vec)
    }

    /// What the decision costs or earns.
    #[getter]
    fn objective(&self) -> f64 {
        self.sense.convert(self.solution.objective)
    }

    /// No decision is better than this.
    #[getter]
    fn bound(&self) -> f64 {
        self.sense.convert(self.solution.bound)
    }

    /// "optimal", "within" a gap, or "limit reached".
    #[getter]
    fn status(&self) -> String {
        status(self.solution.status)
    }

    fn __repr__(&self) -> String {
        format!(
            "<regretless.Solution {}: objective {}>",
            self.status(),
            self.objective()
        )
    }
}

/// Decisions for many rows of costs, in their order.
#[pyclass(frozen, module = "regretless")]
pub struct Solutions {
    answers: Vec<SolveResult>,
    sense: Sense,
    width: usize,
    cost_names: Option<CostNames>,
    dense: OnceLock<Py<PyArray2<f32>>>,
}

impl Solutions {
    /// Answers of an oracle.
    pub fn new(answers: Vec<SolveResult>, sense: Sense, width: usize) -> Self {
        Self {
            answers,
            sense,
            width,
            cost_names: None,
            dense: OnceLock::new(),
        }
    }

    /// The same, the values of decisions under these names.
    #[must_use]
    pub fn with_cost_names(mut self, cost_names: Option<CostNames>) -> Self {
        self.cost_names = cost_names;
        self
    }
}

#[pymethods]
impl Solutions {
    /// All decisions, one row each (float32); made when first asked for. A row that has none is
    /// NaN.
    #[getter]
    fn decisions(&self, py: Python<'_>) -> PyResult<Py<PyArray2<f32>>> {
        if let Some(known) = self.dense.get() {
            return Ok(known.clone_ref(py));
        }
        let values = dense(
            self.answers
                .iter()
                .map(|answer| answer.as_ref().ok().map(|s| &s.decision)),
            self.width,
        );
        let made = rectangle(py, values, [self.answers.len(), self.width])?.unbind();
        Ok(self.dense.get_or_init(|| made).clone_ref(py))
    }

    /// Names of the columns of `decisions`, or None where the costs have no names.
    #[getter]
    fn cost_names(&self) -> Option<Vec<String>> {
        self.cost_names.as_ref().map(CostNames::to_vec)
    }

    /// What each decision costs or earns; NaN where there is none.
    #[getter]
    fn objectives<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        row(
            py,
            self.answers
                .iter()
                .map(|a| {
                    a.as_ref()
                        .map_or(f64::NAN, |s| self.sense.convert(s.objective))
                })
                .collect(),
        )
    }

    /// How good each decision is known to be, or why there is none.
    #[getter]
    fn statuses(&self) -> Vec<String> {
        self.answers
            .iter()
            .map(|answer| answer.as_ref().map_or_else(failed, |s| status(s.status)))
            .collect()
    }

    /// Decisions without their zeros, as the parts of a scipy.sparse.csr_array: (values, columns,
    /// starts).
    ///
    /// scipy.sparse.csr_array(solutions.sparse(), shape=(len(solutions), problem.num_costs))
    fn sparse<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let (mut values, mut columns, mut starts) = (Vec::new(), Vec::new(), vec![0_i64]);
        for answer in &self.answers {
            if let Ok(solution) = answer {
                columns.extend(
                    solution
                        .decision
                        .indices()
                        .iter()
                        .map(|index| i64::from(*index)),
                );
                values.extend(solution.decision.iter().map(|(_, value)| value as f32));
            }
            starts.push(columns.len() as i64);
        }
        (row(py, values), row(py, columns), row(py, starts)).into_pyobject(py)
    }

    fn __len__(&self) -> usize {
        self.answers.len()
    }

    fn __repr__(&self) -> String {
        let found = self.answers.iter().filter(|answer| answer.is_ok()).count();
        format!(
            "<regretless.Solutions: {found} of {} rows decided>",
            self.answers.len()
        )
    }
}

fn write(decision: &regretless::Decision, out: &mut [f32]) {
    decision
        .iter()
        .for_each(|(place, value)| out[place] = value as f32);
}

/// Dense rows; those of nobody are NaN.
pub fn dense<'a>(
    decisions: impl ExactSizeIterator<Item = Option<&'a regretless::Decision>>,
    width: usize,
) -> Vec<f32> {
    let mut values = vec![0.0; decisions.len() * width];
    for (decision, row) in decisions.zip(values.chunks_exact_mut(width)) {
        match decision {
            Some(decision) => write(decision, row),
            None => row.fill(f32::NAN),
        }
    }
    values
}

fn status(status: SolveStatus) -> String {
    match status {
        SolveStatus::Optimal => "optimal".into(),
        SolveStatus::WithinGap(gap) => format!("within {:.2} %", 100.0 * gap),
        SolveStatus::LimitReached => "limit reached".into(),
    }
}

/// Infeasible and unbounded are findings about the problem; everything else is an error.
pub fn failed(failure: &SolveFailure) -> String {
    match failure {
        SolveFailure::Infeasible => "infeasible".into(),
        SolveFailure::Unbounded => "unbounded".into(),
        other => format!("failed: {other}"),
    }
}
