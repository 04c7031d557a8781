//! Problems: by name, from a file, from arrays, or as a Python function.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple, PyType};
use regretless::data::CostNames;
use regretless::oracle::{Heuristic, Oracle};
use regretless::parallel::Threads;
use regretless::problem::{
    Benchmark, CostColumns, ExternalProblem, FileProblem, LinearArrays, LinearColumn, ProblemSpec,
    ReadOptions, Sense,
};

use crate::arrays::{row_numbers, vector};
use crate::call_observer::{PyCall, catch_panic, warn};
use crate::error::to_py_err;
use crate::function_problem::{FunctionProblem, SolverFunction};
use crate::linear;
use crate::names::{column_names, in_order_of, row_in_order_of};
use crate::oracle::{Solution, Solutions};

/// What is decided: which decisions are feasible, and whether costs are paid or earned.
///
/// Problem("KS32") is a benchmark by name: KS32 (knapsack, any number of items), SP5x5 (shortest
/// path, any grid), TSP20 (tour, any number of nodes), CVRP20 (routes). Numbers that a benchmark
/// draws at random, such as the weights of a knapsack, follow `seed`, as in `generate`.
/// Problem("problem.toml") is a problem file as the command line writes it, and Problem({"kind":
/// "top_k", ...}) the same as a dict.
#[pyclass(frozen, module = "regretless")]
pub struct Problem {
    /// In writing.
    pub spec: ProblemSpec,
    /// Ready to be solved.
    pub problem: Arc<dyn regretless::problem::ProblemKind>,
    /// The function, if the problem is one.
    function: Option<Arc<SolverFunction>>,
    /// Costs of the file it came from.
    costs: Option<Vec<f64>>,
    /// Warnings that were given: that positions decide which cost is which.
    warned: Mutex<HashSet<String>>,
}

impl Problem {
    /// A problem in writing, its numbers checked.
    pub fn of(spec: ProblemSpec) -> PyResult<Self> {
        let problem = catch_panic(|| spec.build().map_err(to_py_err))?;
        Ok(Self::from_built(spec, problem))
    }

    /// A problem that is ready to be solved.
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

    /// Says once that costs are matched by position.
    pub fn warn_once(&self, py: Python<'_>, notice: &str) -> PyResult<()> {
        let new = self
            .warned
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(notice.to_owned());
        if new { warn(py, notice) } else { Ok(()) }
    }

    /// The problem of a problem file; errors name the file.
    fn of_file(path: &Path) -> PyResult<Self> {
        let named = |error: regretless::Error| match error {
            regretless::Error::Setting(message) => to_py_err(regretless::Error::setting(format!(
                "{}: {message}",
                path.display()
            ))),
            other => to_py_err(other.in_file(path)),
        };
        let spec = ProblemSpec::read(path).map_err(to_py_err)?;
        let problem = catch_panic(|| spec.build().map_err(named))?;
        Ok(Self::from_built(spec, problem))
    }

    /// Who solves during a call: on so many threads (none: all there are), by a heuristic if one is
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

    /// Whether it is solved by a function of the user's.
    pub fn is_function(&self) -> bool {
        self.function.is_some()
    }

    /// The function, if the problem is one.
    pub fn function(&self) -> Option<&Arc<SolverFunction>> {
        self.function.as_ref()
    }

    /// What tells the problem from others: its content if it says so, else the problem in writing.
    pub fn identity(&self) -> PyResult<String> {
        let content = self.problem.fingerprint();
        if !content.is_empty() {
            return Ok(content.iter().map(|byte| format!("{byte:02x}")).collect());
        }
        serde_json::to_string(&self.spec).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// Whether labels can be told apart by what is known of the problem.
    pub fn check_storable(&self) -> PyResult<()> {
        match &self.spec {
            ProblemSpec::External(given) if given.name == DEFAULT_FUNCTION_NAME => {
                Err(PyValueError::new_err(
                    "labels of a function are kept under its name; give it one: from_callable(..., \
                    name='depots 2024')",
                ))
            }
            _ => Ok(()),
        }
    }
}

/// The name of a function that was given none.
const DEFAULT_FUNCTION_NAME: &str = "a Python function";

/// Reads "minimize" or "maximize".
fn sense(text: &str) -> PyResult<Sense> {
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

/// A description: a benchmark or a dict.
fn described(description: &Bound<'_, PyAny>, seed: u32) -> PyResult<ProblemSpec> {
    if let Ok(table) = description.cast::<PyDict>() {
        let text = crate::train::json_text(table, "the problem")?;
        return serde_json::from_str(&text)
            .map_err(|e| PyValueError::new_err(format!("the problem: {e}")));
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
            return Self::of_file(&path);
        }
        Self::of(described(description, seed)?)
    }

    /// The problem of a file: a model (.mps, .lp), a tour or routes (TSPLIB .tsp, CVRPLIB .vrp), a
    /// knapsack of the OR-Library, or a problem file (.toml). What the file says about costs is in
    /// `costs`.
    ///
    /// * `costs`: names or patterns such as "x*" of the columns whose costs are predicted, in the
    ///   order of the costs; all columns unless given. Other columns keep the cost the file gives
    ///   them.
    /// * `sense`: "minimize" or "maximize", if not as the file says.
    /// * `file_format`: "tsplib", "knapsack" or "linear" where the name does not tell.
    /// * `problem_number`: which problem of an OR-Library file, counted from 1.
    /// * `vehicles`: of a routing file whose name does not end in -k and their number.
    /// * `single_customer_routes`: whether a route may serve a single customer, True unless given.
    #[classmethod]
    #[pyo3(signature = (path, *, costs=None, sense=None, file_format=None, problem_number=1, vehicles=None, single_customer_routes=None))]
    fn from_file(
        _class: &Bound<'_, PyType>,
        path: PathBuf,
        costs: Option<Bound<'_, PyAny>>,
        sense: Option<&str>,
        file_format: Option<&str>,
        problem_number: usize,
        vehicles: Option<usize>,
        single_customer_routes: Option<bool>,
    ) -> PyResult<Self> {
        if path.extension().is_some_and(|end| end == "toml") {
            return Self::of_file(&path);
        }
        let costs = match costs {
            None => CostColumns::All,
            Some(one) if one.is_instance_of::<PyString>() => {
                CostColumns::Named(vec![one.extract()?])
            }
            Some(many) => CostColumns::Named(many.extract()?),
        };
        let reading = ReadOptions {
            kind: file_format.map(str::parse).transpose().map_err(to_py_err)?,
            number: Some(problem_number),
            vehicles,
            single_customer_routes,
            costs,
            sense: sense.map(self::sense).transpose()?,
        };
        let mut found = catch_panic(|| FileProblem::read(&path, &reading).map_err(to_py_err))?;
        let published = found
            .pop()
            .ok_or_else(|| PyValueError::new_err(format!("{}: no problem", path.display())))?;
        Ok(Self {
            costs: Some(published.costs),
            ..Self::of(published.spec)?
        })
    }

    /// A linear problem by its numbers: rows A x <= b, bounds, and which variables are whole
    /// numbers.
    ///
    /// * `A`: constraint matrix, an array or scipy.sparse.
    /// * `b`: right-hand sides.
    /// * `sense`: "minimize" or "maximize".
    /// * `relations`: "<=", ">=" or "==", one for all rows or one each.
    /// * `lower`, `upper`: bounds of the variables, one for all or one each; 0 and none unless
    ///   given, infinite is none.
    /// * `integer`: which variables are whole numbers, one for all or one each.
    /// * `costs`: numbers of the variables whose costs are predicted, all unless given; the others
    ///   cost what `known_costs` (one per variable) says, else nothing.
    /// * `names`: names of the variables, one each (None for variables whose costs are not
    ///   predicted); those of A's columns where A is a DataFrame. Costs of tables that have names
    ///   are then matched by name.
    #[classmethod]
    #[pyo3(signature = (A, b, *, sense, relations=None, lower=None, upper=None, integer=None, costs=None, known_costs=None, names=None, name="arrays"))]
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
        let (entries, count) = linear::rows(A)?;
        let of_columns = || Ok(column_names(A)?.map(|names| names.into_iter().map(Some).collect()));
        let names: Option<Vec<Option<String>>> =
            names.map_or_else(of_columns, |names| Ok::<_, PyErr>(Some(names)))?;
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
            .map(|value| linear::each(value, count, "known_costs"))
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
        let rows = linear::related(entries, &vector(b, "b")?, relations)?;
        let columns = (0..count).map(column).collect();
        let arrays = LinearArrays {
            name: name.into(),
            sense: self::sense(sense)?,
            columns,
            rows,
        };
        Self::of(ProblemSpec::LinearArrays(arrays))
    }

    /// A problem that is a function: `solve(costs)` gets one row of costs and returns the best
    /// decision, an array of as many values, or a pair (decision, objective), or None where no
    /// decision is feasible.
    ///
    /// The objective is needed only where it holds more than costs times decision.
    ///
    /// * `binary`: whether decisions are zeros and ones.
    /// * `thread_safe`: whether several threads may call the function at the same time.
    /// * `cost_names`: names of the costs, in the order the function gets them. Costs of tables
    ///   that have names are then matched by name.
    ///
    /// The function is called on the thread that calls `solve_all`, `label`, `train` and so on, and
    /// one call ends before the next one begins, also where several threads use the problem, or
    /// several problems are made from one function or from methods of one object. So it may keep
    /// state, such as a solver's model. It may use this package itself, and its own problem too; it
    /// must not wait for another thread that uses its own problem. A function without state of its
    /// own that releases the interpreter's lock is faster with thread_safe=True: `threads` threads
    /// then call it at the same time.
    ///
    /// An exception of the function stops the call that led to it and arrives unchanged. A name is
    /// needed to keep labels in a store, and should change when the function does.
    #[classmethod]
    #[pyo3(signature = (solve, num_costs, *, sense, binary=true, name=None, thread_safe=false, cost_names=None))]
    fn from_callable(
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
            sense: self::sense(sense)?,
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

    /// "minimize" or "maximize".
    #[getter]
    pub fn sense(&self) -> &'static str {
        match self.problem.sense() {
            Sense::Minimize => "minimize",
            Sense::Maximize => "maximize",
        }
    }

    /// How many costs are predicted.
    #[getter]
    fn num_costs(&self) -> usize {
        self.problem.num_costs()
    }

    /// The costs of the file the problem was read from, if it was.
    #[getter]
    fn costs<'py>(&self, py: Python<'py>) -> Option<Bound<'py, numpy::PyArray1<f64>>> {
        self.costs
            .clone()
            .map(|costs| crate::arrays::row(py, costs))
    }

    /// Names of the costs, in the order of decisions and arrays, or None where the problem has no
    /// names for them.
    ///
    /// Tables with column names (DataFrames) are matched to these names; arrays are in this order.
    #[getter]
    fn cost_names(&self) -> Option<Vec<String>> {
        self.problem.cost_names().map(CostNames::to_vec)
    }

    /// BLAKE3 of the model file it was read from, for files that name it.
    #[getter]
    fn _file_hash(&self) -> Option<&str> {
        self.problem.file_hash()
    }

    /// What the problem is called.
    #[getter]
    fn name(&self) -> String {
        self.problem.name()
    }

    /// The problem in writing, as a dict that Problem takes.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        crate::train::python(py, &self.spec)
    }

    /// The best decision for one row of costs: an array in the problem's order, or a Series whose
    /// names are matched.
    ///
    /// Raises RuntimeError where no decision is feasible.
    #[pyo3(signature = (cost, *, heuristic=None))]
    fn solve(
        &self,
        py: Python<'_>,
        cost: &Bound<'_, PyAny>,
        heuristic: Option<&str>,
    ) -> PyResult<Solution> {
        let mut costs = row_in_order_of(cost, vector(cost, "cost")?, self)?;
        self.check_width(costs.len())?;
        self.problem.sense().convert_slice(&mut costs);
        let call = PyCall::new(false);
        let found = call.run(py, |_| {
            let oracle = self.oracle(&call, Some(1), heuristic)?;
            let answer = oracle.worker().solve(&costs);
            Ok(answer)
        })?;
        let solution = found
            .map_err(|failure| pyo3::exceptions::PyRuntimeError::new_err(failure.to_string()))?;
        let cost_names = self.problem.cost_names().cloned();
        Ok(Solution {
            solution,
            sense: self.problem.sense(),
            width: costs.len(),
            cost_names,
        })
    }

    /// The best decision for every row of costs, on several threads.
    ///
    /// A row without a decision does not stop the others: its status says why, its decision and
    /// objective are NaN.
    ///
    /// * `threads`: how many, all there are unless given; results do not depend on it.
    /// * `heuristic`: a heuristic instead of the exact solver: "local-search" (TSP, CVRP) or
    ///   "node-limit 100".
    #[pyo3(signature = (costs, *, threads=None, progress=false, heuristic=None))]
    fn solve_all(
        &self,
        py: Python<'_>,
        costs: &Bound<'_, PyAny>,
        threads: Option<usize>,
        progress: bool,
        heuristic: Option<&str>,
    ) -> PyResult<Solutions> {
        let mut costs = in_order_of(costs, "costs", self)?;
        self.check_width(costs.cols())?;
        let sense = self.problem.sense();
        let call = PyCall::new(progress);
        let answers = call.run(py, |observer| {
            let oracle = self.oracle(&call, threads, heuristic)?;
            sense.convert_matrix(&mut costs)?;
            observer.begin("solving", costs.rows() as u64);
            let answers = oracle.solve_all(&costs, observer)?;
            observer.end();
            Ok(answers)
        })?;
        Ok(Solutions::new(answers, sense, self.problem.num_costs())
            .with_cost_names(self.problem.cost_names().cloned()))
    }

    fn __repr__(&self) -> String {
        format!(
            "<regretless.Problem {}: {}, {} costs>",
            self.problem.name(),
            self.sense(),
            self.problem.num_costs()
        )
    }

    /// A problem never changes, so a copy is the problem itself.
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
                ("from_callable", arguments.into_pyobject(py)?)
            }
            None => ("from_dict", (self.to_dict(py)?,).into_pyobject(py)?),
        };
        (module.getattr(rebuild)?, arguments).into_pyobject(py)
    }
}

impl Problem {
    /// Rows must be as wide as the problem.
    pub fn check_width(&self, found: usize) -> PyResult<()> {
        let right = self.problem.num_costs();
        if found == right {
            return Ok(());
        }
        let name = self.problem.name();
        Err(PyValueError::new_err(format!(
            "{found} costs per row, {name} needs {right}"
        )))
    }
}
