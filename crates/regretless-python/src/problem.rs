//! Problems: by name, from a file, from arrays, from modeling libraries, or a Python function.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple, PyType};
use regretless::data::CostNames;
use regretless::oracle::{Heuristic, Oracle};
use regretless::parallel::Threads;
use regretless::problem::{
    Benchmark, CostColumns, ExternalProblem, FileProblem, LinearArrays, LinearColumn, ProblemSpec,
    ReadOptions, Sense,
};
use regretless::renamed::explain;

use crate::arrays::{array1, row_numbers, vector};
use crate::call::lock;
use crate::call_observer::{PyCall, catch_panic, warn};
use crate::error::to_py_err;
use crate::frames::{FrameTemplate, column_names_or_numbers};
use crate::function_problem::{FunctionProblem, SolverFunction};
use crate::keywords::refuse_unknown;
use crate::linear;
use crate::names::{column_names, in_order_of, row_in_order_of};
use crate::results::to_python;
use crate::solutions::{Solution, Solutions};

/// A problem: the feasible decisions and the objective sense.
///
/// Parameters
/// ----------
/// description : str, path or dict
///     The name of a benchmark of any size: "KS32" (knapsack), "SP5x5" (shortest path on a grid),
///     "TSP20", "CVRP20"; the path of a problem file (.toml) as the command line writes it; or a
///     dict with the content of a problem file.
/// seed : int, default 0
///     Seed of the random parts of a benchmark, such as the weights of a knapsack; the same as in
///     `generate`.
///
/// Raises
/// ------
/// ValueError
///     For an unknown name or an invalid description.
///
/// Notes
/// -----
/// Problems are immutable, can be pickled, and can be used by several threads.
///
/// Examples
/// --------
/// >>> problem = rl.Problem("KS32")
/// >>> problem = rl.Problem({"kind": "top_k", "items": 24, "k": 6, "sense": "minimize"})
/// >>> problem = rl.Problem.from_file("model.mps", costs="x*")
#[pyclass(frozen, module = "regretless")]
pub struct Problem {
    /// The serializable description.
    pub spec: ProblemSpec,
    /// The built problem.
    pub problem: Arc<dyn regretless::problem::ProblemKind>,
    /// The Python function, if the problem is one.
    function: Option<Arc<SolverFunction>>,
    /// Costs of the file it was read from.
    costs: Option<Vec<f64>>,
    /// Warnings that were raised already, about costs matched by position.
    warned: Mutex<HashSet<String>>,
}

impl Problem {
    /// Builds and checks a problem.
    pub fn from_spec(spec: ProblemSpec) -> PyResult<Self> {
        let problem = catch_panic(|| spec.build().map_err(to_py_err))?;
        Ok(Self::from_built(spec, problem))
    }

    /// A problem that is built already.
    pub fn from_built(
        spec: ProblemSpec,
        problem: Arc<dyn regretless::problem::ProblemKind>,
    ) -> Self {
        Self {
            spec,
            problem,
            function: None,
            costs: None,
            warned: Mutex::default(),
        }
    }

    /// Raises a warning once per problem.
    pub fn warn_once(&self, py: Python<'_>, notice: &str) -> PyResult<()> {
        let new = lock(&self.warned).insert(notice.to_owned());
        if new { warn(py, notice) } else { Ok(()) }
    }

    /// Reads a problem file; errors name the file.
    fn from_problem_file(path: &Path) -> PyResult<Self> {
        let with_path = |error: regretless::Error| match error {
            regretless::Error::Setting { message, remedy } => {
                to_py_err(regretless::Error::Setting {
                    message: format!("{}: {message}", path.display()),
                    remedy,
                })
            }
            other => to_py_err(other.in_file(path)),
        };
        let spec = ProblemSpec::read(path).map_err(to_py_err)?;
        let problem = catch_panic(|| spec.build().map_err(with_path))?;
        Ok(Self::from_built(spec, problem))
    }

    /// The oracle of a call, with a number of threads (all by default) and a heuristic if one is
    /// named.
    pub fn oracle(
        &self,
        call: &PyCall,
        threads: Option<usize>,
        heuristic: Option<&str>,
    ) -> regretless::Result<Oracle> {
        let heuristic = heuristic.map(str::parse::<Heuristic>).transpose()?;
        let threads = Threads::new(threads.unwrap_or(0))?;
        let problem: Arc<dyn regretless::problem::ProblemKind> = match &self.function {
            None => Arc::clone(&self.problem),
            Some(function) => Arc::new(FunctionProblem {
                function: Arc::clone(function),
                call: Some(Arc::clone(call.state())),
            }),
        };
        Oracle::new(problem)
            .with_threads(threads)
            .with_heuristic(heuristic)
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
        let fingerprint = self.problem.fingerprint();
        if !fingerprint.is_empty() {
            return Ok(fingerprint.iter().map(|b| format!("{b:02x}")).collect());
        }
        serde_json::to_string(&self.spec).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// Refuses a function without a name, whose stored labels could not be identified.
    pub fn check_storable(&self) -> PyResult<()> {
        match &self.spec {
            ProblemSpec::External(given) if given.name == DEFAULT_FUNCTION_NAME => {
                Err(PyValueError::new_err(
                    "labels of a function are stored under its name; give it one: \
                     from_solver(..., name='depots 2024')",
                ))
            }
            _ => Ok(()),
        }
    }
}

/// The name of a function without a given name.
const DEFAULT_FUNCTION_NAME: &str = "a Python function";

/// Parses "minimize" or "maximize".
fn parse_sense(text: &str) -> PyResult<Sense> {
    match text {
        "minimize" | "min" => Ok(Sense::Minimize),
        "maximize" | "max" => Ok(Sense::Maximize),
        _ => Err(to_py_err(regretless::Error::unknown(
            "sense",
            text,
            &["minimize", "maximize"],
        ))),
    }
}

/// The description of a benchmark or a dict.
fn parse_description(description: &Bound<'_, PyAny>, seed: u32) -> PyResult<ProblemSpec> {
    if let Ok(table) = description.cast::<PyDict>() {
        let text = crate::train::json_text(table, "the problem")?;
        return serde_json::from_str(&text).map_err(|error| {
            PyValueError::new_err(format!("the problem: {}", explain(&error.to_string())))
        });
    }
    let name: String = description.extract()?;
    let benchmark: Benchmark = name.parse().map_err(to_py_err)?;
    catch_panic(|| benchmark.problem(seed).map_err(to_py_err))
}

#[pymethods]
impl Problem {
    #[new]
    #[pyo3(signature = (description, *, seed=0))]
    fn new(description: &Bound<'_, PyAny>, seed: u32) -> PyResult<Self> {
        if let Ok(path) = description.extract::<PathBuf>()
            && (path.extension().is_some_and(|end| end == "toml")
                || !description.is_instance_of::<PyString>())
        {
            return Self::from_problem_file(&path);
        }
        Self::from_spec(parse_description(description, seed)?)
    }

    /// Read a problem from a file.
    ///
    /// Parameters
    /// ----------
    /// path : path
    ///     A linear model (.mps, .lp), a TSP (TSPLIB .tsp), a CVRP (CVRPLIB .vrp), a knapsack of
    ///     the OR-Library, or a problem file (.toml). The costs of the file are in `costs`.
    /// costs : str or sequence of str, optional
    ///     Names or patterns such as "x*" of the columns whose costs are predicted, in the order of
    ///     the costs; all columns by default. Other columns keep their cost.
    /// sense : {"minimize", "maximize"}, optional
    ///     Replaces the objective sense of the file.
    /// file_format : {"tsplib", "knapsack", "linear"}, optional
    ///     The format, where the file name does not show it.
    /// problem_number : int, default 1
    ///     Number of the problem in an OR-Library file, from 1.
    /// vehicles : int, optional
    ///     Number of vehicles of a CVRP file whose name does not end in -k and the number.
    /// single_customer_routes : bool, optional
    ///     Whether a route may serve a single customer; true by default.
    ///
    /// Returns
    /// -------
    /// Problem
    ///
    /// Raises
    /// ------
    /// FileNotFoundError
    ///     Where the file does not exist.
    /// ValueError
    ///     Where it cannot be read.
    #[classmethod]
    #[pyo3(
        signature = (
            path, *, costs=None, sense=None, file_format=None, problem_number=1, vehicles=None,
            single_customer_routes=None, **unknown
        ),
        text_signature = "($cls, path, *, costs=None, sense=None, file_format=None, \
            problem_number=1, vehicles=None, single_customer_routes=None)"
    )]
    fn from_file(
        _class: &Bound<'_, PyType>,
        path: PathBuf,
        costs: Option<Bound<'_, PyAny>>,
        sense: Option<&str>,
        file_format: Option<&str>,
        problem_number: usize,
        vehicles: Option<usize>,
        single_customer_routes: Option<bool>,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        refuse_unknown("Problem.from_file", unknown)?;
        if path.extension().is_some_and(|end| end == "toml") {
            return Self::from_problem_file(&path);
        }
        let costs = match costs {
            None => CostColumns::All,
            Some(one) if one.is_instance_of::<PyString>() => {
                CostColumns::Named(vec![one.extract()?])
            }
            Some(many) => CostColumns::Named(many.extract()?),
        };
        let options = ReadOptions {
            kind: file_format.map(str::parse).transpose().map_err(to_py_err)?,
            number: Some(problem_number),
            vehicles,
            single_customer_routes,
            costs,
            sense: sense.map(parse_sense).transpose()?,
        };
        let mut problems = catch_panic(|| FileProblem::read(&path, &options).map_err(to_py_err))?;
        let problem = problems
            .pop()
            .ok_or_else(|| PyValueError::new_err(format!("{}: no problem", path.display())))?;
        Ok(Self {
            costs: Some(problem.costs),
            ..Self::from_spec(problem.spec)?
        })
    }

    /// Build a linear or mixed-integer problem from arrays.
    ///
    /// Parameters
    /// ----------
    /// A : array_like, DataFrame or scipy.sparse matrix of shape (m, n)
    ///     Constraint matrix.
    /// b : array_like of shape (m,)
    ///     Right-hand sides.
    /// sense : {"minimize", "maximize"}
    ///     Objective sense.
    /// relations : str or sequence of str, optional
    ///     "<=", ">=" or "==", one for all rows or one each; "<=" by default.
    /// lower, upper : float or array_like, optional
    ///     Bounds of the variables, one for all or one each; 0 and infinity by default.
    /// integer : bool or array_like, optional
    ///     Which variables are integer, one for all or one each; none by default.
    /// costs : sequence of int, optional
    ///     Increasing numbers of the variables whose costs are predicted; all by default.
    /// known_costs : float or array_like, optional
    ///     Costs of the other variables, one per variable; 0 by default.
    /// names : sequence of str or None, optional
    ///     Names of the variables (None where the cost is not predicted); by default the column
    ///     names of `A`. Tables with names are matched to them.
    /// name : str, default "arrays"
    ///     Name of the problem.
    ///
    /// Returns
    /// -------
    /// Problem
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     Where the arrays do not belong together.
    ///
    /// Examples
    /// --------
    /// >>> rl.Problem.from_arrays([[3, 4, 5]], [7], sense="maximize", upper=1, integer=True)
    #[classmethod]
    #[pyo3(signature = (
        A, b, *, sense, relations=None, lower=None, upper=None, integer=None, costs=None,
        known_costs=None, names=None, name="arrays"
    ))]
    fn from_arrays(
        _class: &Bound<'_, PyType>,
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
    ) -> PyResult<Self> {
        let (entries, count) = linear::row_entries(A)?;
        let names = match names {
            Some(names) => Some(names),
            None => column_names(A)?.map(|names| names.into_iter().map(Some).collect()),
        };
        if let Some(names) = names.as_ref().filter(|names| names.len() != count) {
            return Err(PyValueError::new_err(format!(
                "{} names for {count} variables",
                names.len()
            )));
        }
        let lower = lower.map_or_else(
            || Ok(vec![Some(0.0); count]),
            |value| linear::bounds(value, count, "lower"),
        )?;
        let upper = upper.map_or_else(
            || Ok(vec![None; count]),
            |value| linear::bounds(value, count, "upper"),
        )?;
        let integer = linear::flags(integer, count)?;
        let known = known_costs
            .map(|value| linear::broadcast(value, count, "known_costs"))
            .transpose()?;
        let costs = costs.map(|costs| row_numbers(costs, "costs")).transpose()?;
        let predicted = linear::predicted(costs, count)?;
        let column = |number: usize| LinearColumn {
            name: names.as_ref().and_then(|names| names[number].clone()),
            lower: lower[number],
            upper: upper[number],
            integer: integer[number],
            cost: (!predicted[number]).then(|| known.as_ref().map_or(0.0, |known| known[number])),
        };
        let rows = linear::linear_rows(entries, &vector(b, "b")?, relations)?;
        let columns = (0..count).map(column).collect();
        let arrays = LinearArrays {
            name: name.into(),
            sense: parse_sense(sense)?,
            columns,
            rows,
        };
        Self::from_spec(ProblemSpec::LinearArrays(arrays))
    }

    /// Build a problem that is solved by a Python function.
    ///
    /// Parameters
    /// ----------
    /// solve : callable
    ///     `solve(costs)` gets one row of costs (float64) and returns the optimal decision, an
    ///     array of the same length, or a pair (decision, objective), or None where no decision is
    ///     feasible. The objective is needed only where it is more than costs times decision.
    /// num_costs : int
    ///     Number of costs.
    /// sense : {"minimize", "maximize"}
    ///     Objective sense.
    /// binary : bool, default True
    ///     Whether decisions are zeros and ones.
    /// name : str, optional
    ///     Needed to store labels; it should change when the function does.
    /// thread_safe : bool, default False
    ///     Whether several threads may call the function at the same time.
    /// cost_names : sequence of str, optional
    ///     Names of the costs; tables with names are matched to them.
    ///
    /// Returns
    /// -------
    /// Problem
    ///
    /// Notes
    /// -----
    /// The function runs on the thread that calls `solve_all`, `label`, `train` and so on. Calls
    /// are serialized, also where several threads use the problem, or several problems are made
    /// from one function or from methods of one object. So it may have state, such as the model of
    /// a solver. It may use this package, and its own problem too; it must not wait for another
    /// thread that uses its own problem. A stateless function that releases the interpreter lock
    /// is faster with `thread_safe=True`: all threads then call it at the same time.
    ///
    /// An exception of the function stops the call and is raised unchanged.
    ///
    /// Examples
    /// --------
    /// >>> def cheapest(costs):
    /// ...     return np.arange(len(costs)) == np.argmin(costs)
    /// >>> problem = rl.Problem.from_solver(cheapest, 3, sense="minimize")
    #[classmethod]
    #[pyo3(signature = (
        solve, num_costs, *, sense, binary=true, name=None, thread_safe=false, cost_names=None
    ))]
    fn from_solver(
        _class: &Bound<'_, PyType>,
        solve: &Bound<'_, PyAny>,
        num_costs: usize,
        sense: &str,
        binary: bool,
        name: Option<String>,
        thread_safe: bool,
        cost_names: Option<Vec<String>>,
    ) -> PyResult<Self> {
        if num_costs == 0 {
            return Err(PyValueError::new_err("num_costs must be at least 1"));
        }
        let cost_names = cost_names.map(CostNames::from);
        if let Some(names) = &cost_names {
            names.check("cost").map_err(to_py_err)?;
            if names.len() != num_costs {
                return Err(PyValueError::new_err(format!(
                    "{} names for {num_costs} costs",
                    names.len()
                )));
            }
        }
        let name = name.unwrap_or(DEFAULT_FUNCTION_NAME.into());
        let given = ExternalProblem {
            name,
            sense: parse_sense(sense)?,
            costs: num_costs,
            cost_names,
        };
        let function = Arc::new(SolverFunction::new(
            solve,
            given.clone(),
            binary,
            thread_safe,
        )?);
        Ok(Self {
            spec: ProblemSpec::External(given),
            problem: Arc::new(FunctionProblem {
                function: Arc::clone(&function),
                call: None,
            }),
            function: Some(function),
            costs: None,
            warned: Mutex::default(),
        })
    }

    /// Build the problem of a Gurobi model; see `regretless.problems.from_gurobipy`.
    ///
    /// Parameters
    /// ----------
    /// model : gurobipy.Model
    ///     A linear or mixed-integer model.
    /// costs : optional
    ///     Variables whose costs are predicted: names, patterns, column numbers or variables; all
    ///     by default.
    ///
    /// Returns
    /// -------
    /// Problem
    #[classmethod]
    #[pyo3(signature = (model, costs=None))]
    fn from_gurobipy<'py>(
        class: &Bound<'py, PyType>,
        model: &Bound<'py, PyAny>,
        costs: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        read_model(class.py(), "from_gurobipy", model, costs)
    }

    /// Build the problem of a HiGHS model; see `regretless.problems.from_highspy`.
    ///
    /// Parameters
    /// ----------
    /// model : highspy.Highs, highspy.HighsModel or highspy.HighsLp
    ///     A linear or mixed-integer model.
    /// costs : optional
    ///     Variables whose costs are predicted: names, patterns, column numbers or variables; all
    ///     by default.
    ///
    /// Returns
    /// -------
    /// Problem
    #[classmethod]
    #[pyo3(signature = (model, costs=None))]
    fn from_highspy<'py>(
        class: &Bound<'py, PyType>,
        model: &Bound<'py, PyAny>,
        costs: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        read_model(class.py(), "from_highspy", model, costs)
    }

    /// Build the problem of an OR-Tools model; see `regretless.problems.from_ortools`.
    ///
    /// Parameters
    /// ----------
    /// model : pywraplp.Solver, model_builder.Model or cp_model.CpModel
    ///     A linear or mixed-integer model.
    /// costs : optional
    ///     Variables whose costs are predicted: names, patterns, column numbers or variables; all
    ///     by default.
    ///
    /// Returns
    /// -------
    /// Problem
    #[classmethod]
    #[pyo3(signature = (model, costs=None))]
    fn from_ortools<'py>(
        class: &Bound<'py, PyType>,
        model: &Bound<'py, PyAny>,
        costs: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        read_model(class.py(), "from_ortools", model, costs)
    }

    /// Build the problem of a Pyomo model; see `regretless.problems.from_pyomo`.
    ///
    /// Parameters
    /// ----------
    /// model : pyomo.environ.ConcreteModel
    ///     A linear or mixed-integer model.
    /// costs : optional
    ///     Variables whose costs are predicted: names, patterns, column numbers or variables; all
    ///     by default.
    ///
    /// Returns
    /// -------
    /// Problem
    #[classmethod]
    #[pyo3(signature = (model, costs=None))]
    fn from_pyomo<'py>(
        class: &Bound<'py, PyType>,
        model: &Bound<'py, PyAny>,
        costs: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        read_model(class.py(), "from_pyomo", model, costs)
    }

    /// The objective sense: "minimize" or "maximize".
    #[getter]
    pub fn sense(&self) -> &'static str {
        match self.problem.sense() {
            Sense::Minimize => "minimize",
            Sense::Maximize => "maximize",
        }
    }

    /// Number of costs.
    #[getter]
    fn num_costs(&self) -> usize {
        self.problem.num_costs()
    }

    /// Costs of the file that the problem was read from, else None.
    #[getter]
    fn costs<'py>(&self, py: Python<'py>) -> Option<Bound<'py, numpy::PyArray1<f64>>> {
        self.costs.clone().map(|costs| array1(py, costs))
    }

    /// Names of the costs, in the order of decisions and arrays, or None.
    ///
    /// Columns of DataFrames are matched to these names; arrays are in this order.
    #[getter]
    fn cost_names(&self) -> Option<Vec<String>> {
        self.problem.cost_names().map(CostNames::to_vec)
    }

    /// BLAKE3 hash of the model file that it was read from.
    #[getter]
    fn _file_hash(&self) -> Option<&str> {
        self.problem.file_hash()
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
        to_python(py, &self.spec)
    }

    /// Solve for one row of costs.
    ///
    /// Parameters
    /// ----------
    /// c : array_like of shape (d,)
    ///     Costs, in the problem's order, or a Series whose names are matched.
    /// heuristic : str, optional
    ///     As in `solve_all`.
    ///
    /// Returns
    /// -------
    /// Solution
    ///     The optimal decision, its objective and status.
    ///
    /// Raises
    /// ------
    /// RuntimeError
    ///     Where no decision is feasible.
    #[pyo3(
        signature = (c, *, heuristic=None, **unknown),
        text_signature = "($self, c, *, heuristic=None)"
    )]
    fn solve(
        &self,
        py: Python<'_>,
        c: &Bound<'_, PyAny>,
        heuristic: Option<&str>,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Solution> {
        refuse_unknown("Problem.solve", unknown)?;
        let mut costs = row_in_order_of(c, vector(c, "c")?, self)?;
        self.check_width(costs.len())?;
        self.problem.sense().convert_slice(&mut costs);
        let call = PyCall::new(false);
        let result = call.run(py, |_| {
            let oracle = self.oracle(&call, Some(1), heuristic)?;
            let result = oracle.worker().solve(&costs);
            Ok(result)
        })?;
        let solution = result.map_err(|failure| PyRuntimeError::new_err(failure.to_string()))?;
        Ok(Solution {
            solution,
            sense: self.problem.sense(),
            width: costs.len(),
            cost_names: self.problem.cost_names().cloned(),
        })
    }

    /// Solve for every row of costs, on several threads.
    ///
    /// Parameters
    /// ----------
    /// C : array_like or DataFrame of shape (n, d)
    ///     Costs. Columns with names are matched to the problem's costs by name, arrays by
    ///     position.
    /// threads : int, optional
    ///     Number of threads; all by default. Results do not depend on it.
    /// progress : bool, default False
    ///     Whether to show a progress bar.
    /// heuristic : str, optional
    ///     "local-search" (TSP and CVRP) or "node-limit 100" instead of an exact solver.
    ///
    /// Returns
    /// -------
    /// Solutions
    ///     One decision per row; `decisions` is a DataFrame where `C` is one. Where a row has no
    ///     feasible decision, its status gives the reason, and decision and objective are NaN.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For another number of costs, costs that are not finite, or a heuristic that the problem
    ///     does not have.
    #[pyo3(
        signature = (C, *, threads=None, progress=false, heuristic=None, **unknown),
        text_signature = "($self, C, *, threads=None, progress=False, heuristic=None)"
    )]
    fn solve_all(
        &self,
        py: Python<'_>,
        C: &Bound<'_, PyAny>,
        threads: Option<usize>,
        progress: bool,
        heuristic: Option<&str>,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Solutions> {
        refuse_unknown("Problem.solve_all", unknown)?;
        let mut costs = in_order_of(C, "C", self)?;
        self.check_width(costs.cols())?;
        let sense = self.problem.sense();
        let call = PyCall::new(progress);
        let results = call.run(py, |observer| {
            let oracle = self.oracle(&call, threads, heuristic)?;
            sense.convert_matrix(&mut costs)?;
            observer.begin("solving", costs.rows() as u64);
            let results = oracle.solve_all(&costs, observer)?;
            observer.end();
            Ok(results)
        })?;
        let width = self.problem.num_costs();
        let names = self.problem.cost_names().cloned();
        let columns = match &names {
            Some(names) => Some(names.to_vec()),
            None => column_names(C)?,
        };
        let columns = columns.unwrap_or_else(|| column_names_or_numbers(None, width));
        Ok(Solutions::new(results, sense, width)
            .with_cost_names(names)
            .with_frame(FrameTemplate::of(C, columns)?))
    }

    fn __repr__(&self) -> String {
        format!(
            "<regretless.Problem {}: {}, {} costs>",
            self.problem.name(),
            self.sense(),
            self.problem.num_costs()
        )
    }

    /// Problems are immutable, so that a copy is the problem itself.
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
                (Some(mine), Some(theirs)) => mine.solve.is(&theirs.solve),
                _ => false,
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

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let module = py.import("regretless._pickle")?;
        let (rebuild, arguments) = match &self.function {
            Some(function) => {
                let name = Some(self.problem.name()).filter(|name| name != DEFAULT_FUNCTION_NAME);
                let SolverFunction {
                    solve,
                    binary,
                    thread_safe,
                    ..
                } = &**function;
                let (solve, costs, sense) =
                    (solve.clone_ref(py), self.problem.num_costs(), self.sense());
                let arguments = (
                    solve,
                    costs,
                    sense,
                    *binary,
                    name,
                    *thread_safe,
                    self.cost_names(),
                );
                ("from_solver", arguments.into_pyobject(py)?)
            }
            None => ("from_dict", (self.to_dict(py)?,).into_pyobject(py)?),
        };
        (module.getattr(rebuild)?, arguments).into_pyobject(py)
    }
}

/// Reads a model of a modeling library by a function of `regretless.problems`.
fn read_model<'py>(
    py: Python<'py>,
    function: &str,
    model: &Bound<'py, PyAny>,
    costs: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let problems = py.import("regretless.problems")?;
    problems.call_method1(function, (model, costs))
}

impl Problem {
    /// Refuses another number of costs per row than the problem has.
    pub fn check_width(&self, found: usize) -> PyResult<()> {
        let needed = self.problem.num_costs();
        if found == needed {
            return Ok(());
        }
        let name = self.problem.name();
        Err(PyValueError::new_err(format!(
            "{found} costs per row, {name} needs {needed}"
        )))
    }
}
