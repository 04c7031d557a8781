//! Problems: by name, from a file, from arrays, or a Python function.
//!
//! This file has the base of the Python class; `build.rs` constructs problems, `solve.rs` solves
//! them.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use regretless::data::CostNames;
use regretless::evaluate::MissingPredictions;
use regretless::problem::{Benchmark, ProblemFamily, ProblemSpec};

use crate::arrays::array1;
use crate::call_observer::catch_panic;
use crate::error::to_py_err;
use crate::keywords::SolveOptions;
use crate::parameters::{ParameterList, node_parameters};
use crate::results::to_python;
use crate::solutions::{Solution, Solutions};
use crate::solver_function::SolverFunction;

mod build;
mod solve;

use build::{
    ArrayArguments, ArrayColumns, ColumnList, DEFAULT_FUNCTION_NAME, ModelFileOptions,
    description_of, external_problem, parse_sense, read_model_file, spec_of_dict,
};
pub use build::{sense_word, spec_of_description};

/// A problem: the feasible decisions and the objective sense; `regretless.Problem` is its class in
/// Python.
#[pyclass(frozen, subclass, module = "regretless._core", name = "_Problem")]
#[derive(Clone)]
pub struct Problem {
    /// The serializable description.
    pub spec: Arc<ProblemSpec>,
    /// The built problem.
    pub problem: Arc<dyn regretless::problem::ProblemKind>,
    /// The Python function, if the problem is one.
    function: Option<Arc<SolverFunction>>,
    /// Costs of the file it was read from.
    costs: Option<Arc<[f64]>>,
    /// Whether it was named as a benchmark of the paper.
    pub is_benchmark: bool,
    /// Notices about costs matched by position that were raised as warnings already.
    warned: Arc<Mutex<HashSet<Notice>>>,
}

/// A notice and the names of the costs that it is about.
type Notice = (String, Vec<String>);

impl Problem {
    /// The problem as the library has it, with the names of the oracle's parameters.
    pub fn built(&self, oracle: &regretless::oracle::Oracle) -> regretless::Problem {
        let spec = ProblemSpec::clone(&self.spec);
        regretless::Problem::from_parts(oracle.problem().clone(), spec)
    }
}

#[pymethods]
impl Problem {
    #[new]
    fn copy(problem: &Bound<'_, Self>) -> Self {
        problem.get().clone()
    }

    /// The benchmark of this name.
    #[staticmethod]
    #[pyo3(name = "_of_benchmark")]
    fn of_benchmark(name: &str, seed: u32) -> PyResult<Self> {
        let benchmark: Benchmark = name.parse().map_err(to_py_err)?;
        Ok(Self {
            is_benchmark: true,
            ..Self::from_spec(catch_panic(|| benchmark.problem(seed).map_err(to_py_err))?)?
        })
    }

    /// The problem of a description in plain values, as problem files have it; with the costs of
    /// the file that it was read from.
    #[staticmethod]
    #[pyo3(name = "_of_description", signature = (description, costs=None))]
    fn of_description(description: &Bound<'_, PyAny>, costs: Option<Vec<f64>>) -> PyResult<Self> {
        Ok(Self {
            costs: costs.map(Into::into),
            ..Self::from_spec(spec_of_dict(description)?)?
        })
    }

    /// The problem of a problem file.
    #[staticmethod]
    #[pyo3(name = "_of_problem_file")]
    fn of_problem_file(path: PathBuf) -> PyResult<Self> {
        Self::from_problem_file(&path)
    }

    /// The problem of a model file of another tool.
    #[staticmethod]
    #[pyo3(name = "_of_model_file")]
    fn of_model_file(path: PathBuf, reading: ModelFileOptions) -> PyResult<Self> {
        let file = read_model_file(&path, &reading.0)?;
        Ok(Self {
            costs: Some(file.costs.into()),
            ..Self::from_spec(file.spec)?
        })
    }

    /// The description of a linear model file and its costs; `None` for another kind of problem.
    #[staticmethod]
    #[pyo3(name = "_linear_model_file")]
    fn linear_model_file<'py>(
        py: Python<'py>,
        path: PathBuf,
        reading: ModelFileOptions,
    ) -> PyResult<Option<(Bound<'py, PyAny>, Vec<f64>)>> {
        let file = read_model_file(&path, &reading.0)?;
        match file.spec {
            spec @ ProblemSpec::Linear(_) => Ok(Some((to_python(py, &spec)?, file.costs))),
            _ => Ok(None),
        }
    }

    /// The kinds that problem files may have, with the fields from which their constructors are
    /// made.
    #[staticmethod]
    #[pyo3(name = "_kinds")]
    fn kinds(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        to_python(py, &ProblemFamily::all())
    }

    /// An objective sense as problem files write it, from how a user writes it.
    #[staticmethod]
    #[pyo3(name = "_sense_word")]
    fn parsed_sense(sense: &str) -> PyResult<&'static str> {
        Ok(sense_word(parse_sense(sense)?))
    }

    /// A linear problem of arrays. `A` is an array, or a CSR matrix as (indptr, indices, data,
    /// shape); the last three arguments are positions and names of columns.
    #[staticmethod]
    #[pyo3(name = "_of_arrays")]
    fn of_arrays(
        A: &Bound<'_, PyAny>,
        b: &Bound<'_, PyAny>,
        sense: &str,
        relations: Option<&Bound<'_, PyAny>>,
        lower: Option<&Bound<'_, PyAny>>,
        upper: Option<&Bound<'_, PyAny>>,
        integer: Option<&Bound<'_, PyAny>>,
        costs: Option<&Bound<'_, PyAny>>,
        known_costs: Option<&Bound<'_, PyAny>>,
        names: Option<Vec<Option<String>>>,
        name: &str,
        b_columns: ColumnList,
        lower_columns: ColumnList,
        upper_columns: ColumnList,
    ) -> PyResult<Self> {
        let arrays = ArrayArguments {
            matrix: A,
            right_sides: b,
            relations,
            lower,
            upper,
            integer,
            costs,
            known_costs,
        };
        let problem = arrays.build(name, parse_sense(sense)?, names)?;
        let columns = ArrayColumns {
            right_sides: b_columns,
            lower: lower_columns,
            upper: upper_columns,
        };
        Self::from_spec(columns.spec(problem)?)
    }

    /// The problem that a Python function solves. `answer` calls `solve` and returns None, an
    /// array, or a pair of array and objective.
    #[staticmethod]
    #[pyo3(name = "_of_function")]
    fn of_function(
        solve: &Bound<'_, PyAny>,
        answer: &Bound<'_, PyAny>,
        num_costs: usize,
        sense: &str,
        binary: bool,
        name: Option<String>,
        thread_safe: bool,
        cost_names: Option<Vec<String>>,
        parameters: Option<Vec<String>>,
        check: Option<&Bound<'_, PyAny>>,
        exact: bool,
    ) -> PyResult<Self> {
        let problem = external_problem(num_costs, parse_sense(sense)?, name, cost_names)?;
        let parameters = parameters.unwrap_or_default();
        for (position, name) in parameters.iter().enumerate() {
            if name.is_empty() || name.contains('*') || parameters[..position].contains(name) {
                return Err(PyValueError::new_err(format!(
                    "parameters: '{name}' is not a name of its own"
                )));
            }
        }
        let mut function = SolverFunction::new(
            solve,
            answer,
            problem,
            binary,
            thread_safe,
            parameters,
            check,
        )?;
        function.exact = exact;
        Ok(Self::from_function(function))
    }

    /// The arguments of `Problem.from_solver` that made the problem, by name, and the known costs;
    /// `None` for other problems.
    #[getter]
    #[pyo3(name = "_function")]
    fn function_arguments<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(function) = &self.function else {
            return Ok(None);
        };
        let name = Some(self.problem.name()).filter(|name| name != DEFAULT_FUNCTION_NAME);
        let known = function.known.as_ref();
        let known = known.map(|known| to_python(py, &known.description));
        let arguments = PyDict::new(py);
        arguments.set_item("solve", function.solve.bind(py))?;
        arguments.set_item("num_costs", self.problem.num_costs())?;
        arguments.set_item("sense", self.sense())?;
        arguments.set_item("binary", function.binary)?;
        arguments.set_item("name", name)?;
        arguments.set_item("thread_safe", function.thread_safe)?;
        arguments.set_item("cost_names", self.cost_names())?;
        arguments.set_item("parameters", function.parameters.clone())?;
        arguments.set_item("check", function.check.as_ref().map(|check| check.bind(py)))?;
        arguments.set_item("known", known.transpose()?)?;
        arguments.set_item("exact", function.exact)?;
        Ok(Some(arguments))
    }

    /// The problem of a function with these known costs.
    #[pyo3(name = "_with_known_part")]
    fn with_known_part(&self, known: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.with_known_costs(known)
    }

    /// Names of the parameters whose entries may be names of nodes.
    #[getter]
    #[pyo3(name = "_node_parameters")]
    fn node_parameters(&self) -> Vec<String> {
        node_parameters(self)
    }

    /// Whether quantities are predicted, and not costs.
    #[getter]
    #[pyo3(name = "_predicts_quantities")]
    fn predicts_quantities(&self) -> bool {
        self.problem.recourse().predicts_quantities()
    }

    /// The objective sense: "minimize" or "maximize".
    #[getter]
    pub fn sense(&self) -> &'static str {
        sense_word(self.problem.sense())
    }

    /// Number of costs.
    #[getter]
    fn num_costs(&self) -> usize {
        self.problem.num_costs()
    }

    /// Costs of the file that the problem was read from, else None.
    #[getter]
    fn costs<'py>(&self, py: Python<'py>) -> Option<Bound<'py, numpy::PyArray1<f64>>> {
        self.costs.as_ref().map(|costs| array1(py, costs.to_vec()))
    }

    /// Names of the costs, in the order of decisions and arrays, or None.
    ///
    /// Columns of DataFrames are matched to these names; arrays are in this order.
    #[getter]
    fn cost_names(&self) -> Option<Vec<String>> {
        self.problem.names().cost_names().map(CostNames::to_vec)
    }

    /// Names and patterns of the row parameters that the problem reads, in its order.
    ///
    /// Calls take them as `parameters`. Empty if all rows have the same feasible set and the same
    /// known costs.
    #[getter]
    fn parameters(&self) -> Vec<String> {
        let mut names = self.parameter_names();
        let mut seen = HashSet::new();
        names.retain(|name| seen.insert(name.clone()));
        names
    }

    /// Whether a part of the costs is known.
    #[getter]
    fn _has_known_costs(&self) -> bool {
        self.problem.row_problems().has_known_costs()
    }

    /// BLAKE3 hash of the model file that it was read from.
    #[getter]
    fn _file_hash(&self) -> Option<&str> {
        self.problem.model_parts().file_hash()
    }

    /// The content of the file that the problem was read from.
    #[getter]
    fn _file_content<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        let content = self.problem.model_parts().file_content()?;
        Some(PyBytes::new(py, content))
    }

    /// Name of the problem.
    #[getter]
    fn name(&self) -> String {
        self.problem.name()
    }

    /// Return the description of the problem, as `Problem` takes it.
    ///
    /// Returns
    /// -------
    /// dict
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        description_of(py, &self.spec)
    }

    /// The solution for one row of costs.
    #[pyo3(name = "_solve")]
    fn solve(
        &self,
        py: Python<'_>,
        c: &Bound<'_, PyAny>,
        parameters: Option<ParameterList<'_>>,
        options: SolveOptions,
    ) -> PyResult<Solution> {
        self.solve_row(py, c, parameters, &options)
    }

    /// The solutions for rows of costs.
    #[pyo3(name = "_solve_all")]
    fn solve_all(
        &self,
        py: Python<'_>,
        C: &Bound<'_, PyAny>,
        parameters: Option<ParameterList<'_>>,
        options: SolveOptions,
    ) -> PyResult<Solutions> {
        self.solve_rows(py, C, MissingPredictions::Refused, parameters, &options)
    }

    /// The decisions for rows of predicted costs; those without a prediction are NaN.
    #[pyo3(name = "_decide_all")]
    fn decide_all(
        &self,
        py: Python<'_>,
        predictions: &Bound<'_, PyAny>,
        parameters: Option<ParameterList<'_>>,
        options: SolveOptions,
    ) -> PyResult<Solutions> {
        let missing = MissingPredictions::LeftOut;
        self.solve_rows(py, predictions, missing, parameters, &options)
    }

    fn __repr__(&self) -> String {
        format!(
            "<regretless.Problem {}: {}, {} costs>",
            self.problem.name(),
            self.sense(),
            self.problem.num_costs()
        )
    }

    /// Problems are immutable, so a copy is the problem itself.
    fn __deepcopy__<'py>(this: &Bound<'py, Self>, _memo: &Bound<'_, PyAny>) -> Bound<'py, Self> {
        this.clone()
    }

    fn __copy__<'py>(this: &Bound<'py, Self>) -> Bound<'py, Self> {
        this.clone()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| {
            let other = other.get();
            let same_function = match (&self.function, &other.function) {
                (None, None) => true,
                (Some(function), Some(other)) => function.is_same(other),
                (None, Some(_)) | (Some(_), None) => false,
            };
            same_function && self.spec == other.spec
        })
    }

    fn __hash__(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        (self.problem.name(), self.problem.num_costs()).hash(&mut hasher);
        hasher.finish()
    }
}
