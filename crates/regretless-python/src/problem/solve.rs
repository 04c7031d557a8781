//! Solving of problems, and what other modules need of a problem for it.

use std::sync::Arc;

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use regretless::data::{CostNames, Matrix, RowParameters};
use regretless::evaluate::{MissingPredictions, UnpredictedCosts};
use regretless::oracle::{Heuristic, Oracle};
use regretless::parallel::Threads;
use regretless::problem::{ProblemKind, ProblemSpec};
use regretless::solve::SearchLimits;

use super::Problem;
use super::build::DEFAULT_FUNCTION_NAME;
use crate::arrays::{ArrayOwnership, check_finite, vector};
use crate::call::lock;
use crate::call_observer::{PyCall, detached, warn};
use crate::error::to_py_err;
use crate::function_problem::FunctionProblem;
use crate::keywords::SolveOptions;
use crate::names::{column_names, reorder_row_to_problem, reorder_to_problem};
use crate::parameters::{ParameterList, row_parameters, single_row};
use crate::solutions::{Solution, Solutions, SolveResult};
use crate::solver_function::SolverFunction;

impl Problem {
    /// Raises a warning once per problem.
    pub fn warn_once(&self, py: Python<'_>, warning: &str) -> PyResult<()> {
        self.warn_once_about(py, warning, None)
    }

    /// Raises a warning once per problem and list of cost names. The warning itself shows some of
    /// the names: tables with others, or in another order, can have the same one. Tables without
    /// names share one warning, since there is nothing to tell them apart by.
    pub fn warn_once_about(
        &self,
        py: Python<'_>,
        warning: &str,
        names: Option<&CostNames>,
    ) -> PyResult<()> {
        let names = names.filter(|names| names.are_explicit());
        let names = names.map_or_else(Vec::new, CostNames::to_vec);
        let is_new = lock(&self.warned).insert((warning.to_owned(), names));
        if is_new { warn(py, warning) } else { Ok(()) }
    }

    /// The oracle of a call for the rows of a table with these parameters, with a number of threads
    /// (all by default), limits, and a heuristic if one is named.
    pub fn oracle(
        &self,
        call: &PyCall,
        threads: Option<usize>,
        heuristic: Option<&str>,
        limits: SearchLimits,
        parameters: Option<&Arc<RowParameters>>,
    ) -> regretless::Result<Oracle> {
        let kind = self.kind_for_call(call, parameters);
        Self::new_oracle(kind, threads, heuristic, limits)?.with_parameters(parameters)
    }

    /// The same without a table: it says what the problem has, but solves no row of a problem with
    /// parameters.
    pub fn oracle_without_rows(&self, call: &PyCall) -> regretless::Result<Oracle> {
        let kind = self.kind_for_call(call, None);
        Self::new_oracle(kind, Some(1), None, SearchLimits::default())
    }

    /// The problem during a call; a function then knows how many numbers each parameter has.
    fn kind_for_call(
        &self,
        call: &PyCall,
        parameters: Option<&Arc<RowParameters>>,
    ) -> Arc<dyn ProblemKind> {
        match &self.function {
            None => Arc::clone(&self.problem),
            Some(function) => Arc::new(FunctionProblem::new(
                function,
                Some(call.state()),
                parameters.map(AsRef::as_ref),
            )),
        }
    }

    fn new_oracle(
        kind: Arc<dyn ProblemKind>,
        threads: Option<usize>,
        heuristic: Option<&str>,
        limits: SearchLimits,
    ) -> regretless::Result<Oracle> {
        let heuristic = heuristic.map(str::parse::<Heuristic>).transpose()?;
        let threads = Threads::new(threads.unwrap_or(0))?;
        Oracle::new(kind)
            .with_threads(threads)
            .with_limits(limits)
            .with_heuristic(heuristic)
    }

    /// Names and patterns of the row parameters that the problem reads.
    pub fn parameter_names(&self) -> Vec<String> {
        let columns = self.problem.row_problems().parameters().iter();
        columns.map(|columns| columns.pattern.clone()).collect()
    }

    /// Whether the costs that are solved for are more than those given: with known parts, or
    /// without those of absent items.
    pub fn has_total_costs(&self) -> bool {
        self.problem.may_have_absent_costs() || self.problem.row_problems().has_known_costs()
    }

    /// Whether it is solved by a Python function.
    pub fn is_function(&self) -> bool {
        self.function.is_some()
    }

    /// The Python function, if the problem is one.
    pub fn function(&self) -> Option<&Arc<SolverFunction>> {
        self.function.as_ref()
    }

    /// Identifies the problem: by the fingerprint of its content if it has one, else by its
    /// description.
    pub fn identity(&self) -> PyResult<String> {
        let fingerprint = self.problem.model_parts().fingerprint();
        if !fingerprint.is_empty() && !matches!(*self.spec, ProblemSpec::Parametric { .. }) {
            return Ok(fingerprint
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect());
        }
        let description = serde_json::to_string(&*self.spec)
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        // A description with columns names the file but does not hold it.
        Ok(format!("{description} {fingerprint:?}"))
    }

    /// Refuses a function without a name, whose stored labels could not be identified.
    pub fn check_storable(&self) -> PyResult<()> {
        match &*self.spec {
            ProblemSpec::External(problem) if problem.name == DEFAULT_FUNCTION_NAME => {
                Err(PyValueError::new_err(
                    "labels of a function are stored under its name; give it one: \
                     from_solver(..., name='depots 2024')",
                ))
            }
            _ => Ok(()),
        }
    }

    /// Refuses another number of costs per row than the problem has.
    pub fn check_width(&self, width: usize) -> PyResult<()> {
        let expected = self.problem.num_costs();
        if width == expected {
            return Ok(());
        }
        let name = self.problem.name();
        Err(PyValueError::new_err(format!(
            "{width} costs per row, {name} needs {expected}"
        )))
    }

    /// Solves for one row of costs.
    pub(super) fn solve_row(
        &self,
        py: Python<'_>,
        costs: &Bound<'_, PyAny>,
        parameters: Option<ParameterList<'_>>,
        options: &SolveOptions,
    ) -> PyResult<Solution> {
        let costs = reorder_row_to_problem(costs, vector(costs, "c")?, self)?;
        self.check_width(costs.len())?;
        if let Some(bad) = costs.iter().position(|cost| cost.is_infinite()) {
            let message = format!("cost {bad} is {}, not a finite number", costs[bad]);
            return Err(PyValueError::new_err(message));
        }
        // The cost of an absent item may be missing.
        if let (false, Some(bad)) = (
            self.problem.may_have_absent_costs(),
            costs.iter().position(|cost| cost.is_nan()),
        ) {
            return Err(PyValueError::new_err(format!("cost {bad} is not a number")));
        }
        let parameters = single_row(self, parameters)?;
        let call = PyCall::new(false);
        let (result, is_heuristic) = call.run(py, |_| {
            let heuristic = options.heuristic.as_deref();
            let oracle = self.oracle(
                &call,
                Some(1),
                heuristic,
                options.limits,
                parameters.as_ref(),
            )?;
            let mut totals = costs.clone();
            if self.has_total_costs() {
                let row = Matrix::from_f64(1, costs.len(), &costs)?;
                let row = row.with_f64_values(Arc::new(costs.clone()))?;
                oracle.total_costs(&row)?.read(0, &mut totals);
            }
            let mut worker = oracle.worker();
            worker.set_instance(0);
            let mut complete = regretless::Decision::default();
            let sense = self.problem.sense();
            let result: SolveResult = sense.solve_stated(totals, |minimized| {
                let (solution, values) = worker.solve_complete(minimized)?;
                complete = values;
                Ok(solution)
            });
            drop(worker);
            Ok((
                result.map(|solution| (solution, complete)),
                oracle.is_heuristic(),
            ))
        })?;
        let (solution, complete) =
            result.map_err(|failure| PyRuntimeError::new_err(failure.to_string()))?;
        let cost_names = self.problem.names().cost_names().cloned();
        let numbered = CostNames::numbered(costs.len());
        let column_names = cost_names.as_ref().unwrap_or(&numbered);
        Ok(Solution {
            solution,
            width: costs.len(),
            column_names: column_names.followed_by(self.problem.model_parts().auxiliary_names()),
            cost_names,
            complete,
            is_heuristic,
        })
    }

    /// Solves for every row of costs; `missing` says what costs that are NaN mean.
    pub(super) fn solve_rows(
        &self,
        py: Python<'_>,
        table: &Bound<'_, PyAny>,
        missing: MissingPredictions,
        parameters: Option<ParameterList<'_>>,
        options: &SolveOptions,
    ) -> PyResult<Solutions> {
        let costs = reorder_to_problem(table, "C", self)?;
        let width = costs.cols();
        self.check_width(width)?;
        let rows = costs.rows();
        let parameters = row_parameters(self, parameters, rows, ArrayOwnership::Borrow)?;
        let parameters = parameters.map(Arc::new);
        let call = PyCall::new(options.progress);
        let oracle = options
            .oracle(self, &call, parameters.as_ref())
            .map_err(to_py_err)?;
        let costs = detached(py, || oracle.minimized_totals(costs))?;
        if self.problem.may_have_absent_costs() && missing == MissingPredictions::Refused {
            check_finite(&costs, table, "C")?;
        }
        let names = self.problem.names().cost_names().cloned();
        let table_names = column_names(table).map(CostNames::from);
        let shown_names = names.clone().or(table_names);
        let shown_names = shown_names.unwrap_or_else(|| CostNames::numbered(width));
        let (results, is_heuristic) = call.run(py, |observer| {
            observer.begin("solving", costs.rows() as u64);
            let results = missing.decide_complete(&oracle, &costs, &shown_names, observer)?;
            observer.end();
            Ok((results, oracle.is_heuristic()))
        })?;
        if missing == MissingPredictions::LeftOut
            && let Some(note) = UnpredictedCosts::of_rows(&costs).note(&shown_names)
        {
            warn(py, &note)?;
        }
        Ok(Solutions::new(
            results,
            self.problem.as_ref(),
            names,
            is_heuristic,
        ))
    }
}
