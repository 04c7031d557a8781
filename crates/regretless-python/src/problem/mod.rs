//! Problems: by name, from a file, from arrays, from modeling libraries, or a Python function.
//!
//! This file has the Python class with its docstrings; `build.rs` constructs problems, `solve.rs`
//! solves them.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple, PyType};
use regretless::data::CostNames;
use regretless::problem::{ProblemSpec, ReadOptions};

use crate::arrays::array1;
use crate::error::to_py_err;
use crate::function_problem::SolverFunction;
use crate::keywords::{refuse_unknown, search_limits};
use crate::results::to_python;
use crate::solutions::{Solution, Solutions};

mod build;
mod solve;

use build::{
    ArrayArguments, ArrayColumns, ColumnEntries, DEFAULT_FUNCTION_NAME, cost_columns,
    description_of, external_problem, parse_description, parse_sense, read_model, sense_field,
};
pub use build::{sense_word, spec_of_description};

/// A problem: the feasible decisions and the objective sense.
///
/// Parameters
/// ----------
/// description : str, path or dict
///     The name of a benchmark of any size: "KS32" (knapsack), "SP5x5" (shortest path on a grid),
///     "TSP20", "CVRP20"; the path of a problem file (.toml) as the command line writes it; or a
///     dict with the content of a problem file, in which `column` and `columns` may stand for
///     numbers and arrays that differ per row.
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
    /// Notices about costs matched by position that were raised as warnings already.
    warned: Mutex<HashSet<(String, Vec<String>)>>,
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
    /// rhs, row_lower, row_upper : dict, optional
    ///     Other right-hand sides, or lower and upper bounds, of rows of a linear model, by the
    ///     names of the rows. Numbers, or `column` where they differ per row. A pattern such as
    ///     {"demand_*": rl.column("d_*")} stands for many rows.
    /// lower, upper, fixed : dict, optional
    ///     Other bounds of columns, and values that columns are fixed to, by name, likewise.
    /// coefficients : dict of dict, optional
    ///     Other coefficients, by the names of row and column.
    /// present : dict, optional
    ///     Which columns exist (1 or 0), by name; the others are 1. An absent column is 0 and has
    ///     no cost.
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
    ///
    /// Examples
    /// --------
    /// >>> problem = rl.Problem.from_file("model.lp", rhs={"demand": rl.column("demand_today")})
    #[classmethod]
    #[pyo3(
        signature = (
            path, *, costs=None, sense=None, file_format=None, problem_number=1, vehicles=None,
            single_customer_routes=None, rhs=None, row_lower=None, row_upper=None, lower=None,
            upper=None, fixed=None, coefficients=None, present=None, **unknown
        ),
        text_signature = "($cls, path, *, costs=None, sense=None, file_format=None, \
            problem_number=1, vehicles=None, single_customer_routes=None, rhs=None, \
            row_lower=None, row_upper=None, lower=None, upper=None, fixed=None, \
            coefficients=None, present=None)"
    )]
    fn from_file(
        class: &Bound<'_, PyType>,
        path: PathBuf,
        costs: Option<Bound<'_, PyAny>>,
        sense: Option<&str>,
        file_format: Option<&str>,
        problem_number: usize,
        vehicles: Option<usize>,
        single_customer_routes: Option<bool>,
        rhs: Option<Bound<'_, PyAny>>,
        row_lower: Option<Bound<'_, PyAny>>,
        row_upper: Option<Bound<'_, PyAny>>,
        lower: Option<Bound<'_, PyAny>>,
        upper: Option<Bound<'_, PyAny>>,
        fixed: Option<Bound<'_, PyAny>>,
        coefficients: Option<Bound<'_, PyAny>>,
        present: Option<Bound<'_, PyAny>>,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        refuse_unknown("Problem.from_file", unknown)?;
        let changes = PyDict::new(class.py());
        for (name, value) in [
            ("rhs", rhs),
            ("row_lower", row_lower),
            ("row_upper", row_upper),
            ("lower", lower),
            ("upper", upper),
            ("fixed", fixed),
            ("coefficients", coefficients),
            ("present", present),
        ] {
            if let Some(value) = value {
                changes.set_item(name, value)?;
            }
        }
        if path.extension().is_some_and(|end| end == "toml") {
            if let Some(name) = changes.keys().iter().next() {
                return Err(PyValueError::new_err(format!(
                    "{name} changes a linear model (.mps, .lp); write it into the problem file"
                )));
            }
            let given = [
                ("costs", costs.is_some()),
                ("sense", sense.is_some()),
                ("file_format", file_format.is_some()),
                ("problem_number", problem_number != 1),
                ("vehicles", vehicles.is_some()),
                ("single_customer_routes", single_customer_routes.is_some()),
            ];
            if let Some((name, _)) = given.iter().find(|(_, is_given)| *is_given) {
                return Err(PyValueError::new_err(format!(
                    "{name} describes a model file (.mps, .lp, .tsp, .vrp, OR-Library), not a \
                     problem file; write it into the problem file"
                )));
            }
            return Self::from_problem_file(&path);
        }
        let options = ReadOptions {
            file_format: file_format.map(str::parse).transpose().map_err(to_py_err)?,
            problem_number: Some(problem_number),
            vehicles,
            single_customer_routes,
            costs: cost_columns(costs.as_ref())?,
            sense: sense.map(parse_sense).transpose()?,
        };
        Self::from_published_file(&path, &options, &changes)
    }

    /// Build a knapsack problem: the most valuable items within capacities.
    ///
    /// Parameters
    /// ----------
    /// weights : array_like of shape (d,) or (m, d), or columns
    ///     Weights of the items, in one dimension or in several. `columns`, or a list with a
    ///     `column` per item, where they differ per row.
    /// capacity : float, array_like of shape (m,), or column
    ///     Capacity, or one per dimension.
    /// items : int or sequence of str, optional
    ///     Names of the items, by which columns of costs are matched; or their number, where all
    ///     weights come from columns.
    /// present : array_like of shape (d,) or columns, optional
    ///     Which items exist (1 or 0); all by default. An absent item is never selected, and its
    ///     cost may be missing (NaN).
    ///
    /// Returns
    /// -------
    /// Problem
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     Where arrays do not belong together or numbers are negative.
    ///
    /// Examples
    /// --------
    /// >>> problem = rl.Problem.knapsack([4, 3, 5], capacity=rl.column("truck_capacity"))
    /// >>> capacities = {"truck_capacity": np.array([8.0, 5.0])}
    /// >>> problem.solve_all([[10, 7, 12], [10, 7, 12]], parameters=capacities).objectives
    /// array([19., 12.])
    #[classmethod]
    #[pyo3(signature = (weights, capacity, *, items=None, present=None))]
    fn knapsack<'py>(
        class: &Bound<'py, PyType>,
        weights: Bound<'py, PyAny>,
        capacity: Bound<'py, PyAny>,
        items: Option<Bound<'py, PyAny>>,
        present: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Self> {
        let module = class.py().import("regretless.tables.parameters")?;
        let fields = [
            (
                "weights",
                Some(module.call_method1("knapsack_weights", (weights,))?),
            ),
            (
                "capacity",
                Some(module.call_method1("knapsack_capacity", (capacity,))?),
            ),
            ("items", items),
            ("present", present),
        ];
        Self::from_fields(class.py(), "knapsack", &fields)
    }

    /// Build a top-k selection: the k cheapest or, to maximize, the k most valuable items.
    ///
    /// Parameters
    /// ----------
    /// items : int
    ///     Number of items.
    /// k : int or column
    ///     Number of selected items.
    /// sense : {"minimize", "maximize"}, default "minimize"
    ///     Objective sense.
    /// at_most : bool, default False
    ///     Whether fewer than k items may be selected.
    /// present : array_like of shape (d,) or columns, optional
    ///     Which items exist (1 or 0); all by default. An absent item is never selected, and its
    ///     cost may be missing (NaN).
    ///
    /// Returns
    /// -------
    /// Problem
    ///
    /// Examples
    /// --------
    /// >>> problem = rl.Problem.top_k(3, k=rl.column("needed"))
    /// >>> problem.solve([5, 1, 4], parameters={"needed": 2}).decision
    /// array([0., 1., 1.], dtype=float32)
    #[classmethod]
    #[pyo3(signature = (items, k, *, sense="minimize", at_most=false, present=None))]
    fn top_k<'py>(
        class: &Bound<'py, PyType>,
        items: Bound<'py, PyAny>,
        k: Bound<'py, PyAny>,
        sense: &str,
        at_most: bool,
        present: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Self> {
        let py = class.py();
        let at_most = at_most.then(|| at_most.into_pyobject(py)).transpose()?;
        let fields = [
            ("items", Some(items)),
            ("k", Some(k)),
            ("sense", Some(sense_field(py, sense)?)),
            ("at_most", at_most.map(|flag| flag.to_owned().into_any())),
            ("present", present),
        ];
        Self::from_fields(py, "top_k", &fields)
    }

    /// Build a shortest path through a grid, along arcs to the right and down.
    ///
    /// Parameters
    /// ----------
    /// rows, cols : int
    ///     Size of the grid. Nodes are numbered row by row from 0.
    /// source, target : int, pair of int, column or columns, optional
    ///     First and last node, as a number or as row and column; the first and the last node of
    ///     the grid by default.
    /// present : array_like of shape (d,) or columns, optional
    ///     Which arcs are open (1 or 0); all by default. The cost of a closed arc may be missing
    ///     (NaN).
    ///
    /// Returns
    /// -------
    /// Problem
    ///
    /// Examples
    /// --------
    /// >>> problem = rl.Problem.grid_path(3, 3, source=rl.column("from"), target=rl.column("to"))
    /// >>> problem.parameters
    /// ['from', 'to']
    #[classmethod]
    #[pyo3(signature = (rows, cols, *, source=None, target=None, present=None))]
    fn grid_path<'py>(
        class: &Bound<'py, PyType>,
        rows: usize,
        cols: usize,
        source: Option<Bound<'py, PyAny>>,
        target: Option<Bound<'py, PyAny>>,
        present: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Self> {
        let grid = PyTuple::new(class.py(), [rows, cols])?;
        let fields = [
            ("grid", Some(grid.into_any())),
            ("source", source),
            ("target", target),
            ("present", present),
        ];
        Self::from_fields(class.py(), "grid_path", &fields)
    }

    /// Build an assignment of agents to tasks.
    ///
    /// Every member of the smaller side gets exactly one of the larger side.
    ///
    /// Parameters
    /// ----------
    /// agents, tasks : int or sequence of str
    ///     How many there are, or their names. Costs are those of the pairs, agent by agent; with
    ///     names they are called "agent-task".
    /// sense : {"minimize", "maximize"}, default "minimize"
    ///     Objective sense.
    /// forbidden : sequence of pairs, optional
    ///     Pairs (agent, task) that are never assigned, by name, or by number where there are no
    ///     names.
    /// present : array_like of shape (agents, tasks) or (agents * tasks,) or columns, optional
    ///     Which pairs may be assigned (1 or 0); all by default. The costs of other pairs may be
    ///     missing (NaN).
    ///
    /// Returns
    /// -------
    /// Problem
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     Where no assignment is left; the message names agents that may do too few tasks.
    ///
    /// Examples
    /// --------
    /// >>> problem = rl.Problem.assignment(["Ann", "Ben"], 3, forbidden=[("Ann", 0)])
    /// >>> problem.solve([1, 4, 5, 2, 3, 9]).decision.reshape(2, 3)
    /// array([[0., 1., 0.],
    ///        [1., 0., 0.]], dtype=float32)
    #[classmethod]
    #[pyo3(signature = (agents, tasks, *, sense="minimize", forbidden=None, present=None))]
    fn assignment<'py>(
        class: &Bound<'py, PyType>,
        agents: Bound<'py, PyAny>,
        tasks: Bound<'py, PyAny>,
        sense: &str,
        forbidden: Option<Bound<'py, PyAny>>,
        present: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Self> {
        let py = class.py();
        let module = py.import("regretless.tables.parameters")?;
        let present = present.map(|present| module.call_method1("flat_cells", (present,)));
        let fields = [
            ("agents", Some(agents)),
            ("tasks", Some(tasks)),
            ("sense", Some(sense_field(py, sense)?)),
            ("forbidden", forbidden),
            ("present", present.transpose()?),
        ];
        Self::from_fields(py, "assignment", &fields)
    }

    /// Build a multiple-choice knapsack: one offer of each group within a capacity.
    ///
    /// Parameters
    /// ----------
    /// weights : sequence of sequences, or columns
    ///     The weights of the offers of each group, such as a customer; an array of shape (groups,
    ///     offers) where all groups have equally many. `columns` of all offers, with `groups`,
    ///     where they differ per row.
    /// capacity : float or column
    ///     Most weight of all chosen offers, such as a budget.
    /// optional : bool, default False
    ///     Whether a group may choose nothing.
    /// sense : {"minimize", "maximize"}, default "maximize"
    ///     Objective sense.
    /// groups : sequence of int, optional
    ///     Number of offers of each group, where the weights come from columns.
    /// present : array_like with a flag per offer, or columns, optional
    ///     Which offers can be chosen (1 or 0); all by default. The values of other offers may be
    ///     missing (NaN).
    ///
    /// Returns
    /// -------
    /// Problem
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     Where the lightest offers of all groups exceed the capacity, or numbers are negative.
    ///
    /// Notes
    /// -----
    /// Values are those of the offers, group by group.
    ///
    /// Examples
    /// --------
    /// >>> problem = rl.Problem.multiple_choice_knapsack(
    /// ...     [[1, 3], [2, 4]], capacity=rl.column("budget")
    /// ... )
    /// >>> problem.solve([1, 6, 2, 5], parameters={"budget": 5}).decision
    /// array([0., 1., 1., 0.], dtype=float32)
    #[classmethod]
    #[pyo3(signature = (
        weights, capacity, *, optional=false, sense="maximize", groups=None, present=None
    ))]
    fn multiple_choice_knapsack<'py>(
        class: &Bound<'py, PyType>,
        weights: Bound<'py, PyAny>,
        capacity: Bound<'py, PyAny>,
        optional: bool,
        sense: &str,
        groups: Option<Bound<'py, PyAny>>,
        present: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Self> {
        let py = class.py();
        let module = py.import("regretless.tables.parameters")?;
        let present = present.map(|present| module.call_method1("flat_cells", (present,)));
        let optional = optional.into_pyobject(py)?;
        let fields = [
            ("weights", Some(weights)),
            ("capacity", Some(capacity)),
            ("optional", Some(optional.to_owned().into_any())),
            ("sense", Some(sense_field(py, sense)?)),
            ("groups", groups),
            ("present", present.transpose()?),
        ];
        Self::from_fields(py, "multiple_choice_knapsack", &fields)
    }

    /// Build a flow of least cost through a network.
    ///
    /// Parameters
    /// ----------
    /// arcs : sequence of pairs or triples, or dict
    ///     From, to and, optionally, name of each arc; nodes are texts or whole numbers. Or
    ///     {"file": "arcs.csv", "from": "from", "to": "to", "capacity": "capacity"} with the
    ///     columns of a CSV file. Costs are those of the arcs.
    /// supply : dict, array_like or columns
    ///     What each node sends, negative for a demand, by node; nodes that are not named send
    ///     nothing. Or one number per node: in the order of the nodes where all are whole
    ///     numbers, otherwise in the order in which the arcs name them. Supplies and
    ///     demands have to be equal in total.
    /// capacity : float or array_like, or columns, optional
    ///     Most flow of all arcs, or of each arc; infinite by default.
    /// lower : float or array_like, or columns, optional
    ///     Least flow; 0 by default.
    /// sense : {"minimize", "maximize"}, default "minimize"
    ///     Objective sense.
    /// present : array_like with a flag per arc, or columns, optional
    ///     Which arcs exist (1 or 0); all by default. The costs of other arcs may be missing (NaN).
    ///
    /// Returns
    /// -------
    /// Problem
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     Where no flow is feasible; the message names nodes that need more than can reach them.
    ///
    /// Notes
    /// -----
    /// A cycle of negative cost without a capacity makes the objective unbounded: such a solve is
    /// an error.
    ///
    /// Examples
    /// --------
    /// >>> problem = rl.Problem.min_cost_flow(
    /// ...     [("plant", "port"), ("port", "shop"), ("plant", "shop")],
    /// ...     {"plant": 4, "shop": -4},
    /// ...     capacity=[3, 3, np.inf],
    /// ... )
    /// >>> problem.solve([1, 1, 5]).decision
    /// array([3., 3., 1.], dtype=float32)
    #[classmethod]
    #[pyo3(signature = (
        arcs, supply, *, capacity=None, lower=None, sense="minimize", present=None
    ))]
    fn min_cost_flow<'py>(
        class: &Bound<'py, PyType>,
        arcs: Bound<'py, PyAny>,
        supply: Bound<'py, PyAny>,
        capacity: Option<Bound<'py, PyAny>>,
        lower: Option<Bound<'py, PyAny>>,
        sense: &str,
        present: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Self> {
        let py = class.py();
        let module = py.import("regretless.tables.parameters")?;
        let capacity = capacity.map(|capacity| module.call_method1("flow_bounds", (capacity,)));
        let fields = [
            ("arcs", Some(arcs)),
            ("supply", Some(supply)),
            ("capacity", capacity.transpose()?),
            ("lower", lower),
            ("sense", Some(sense_field(py, sense)?)),
            ("present", present),
        ];
        Self::from_fields(py, "min_cost_flow", &fields)
    }

    /// Build a transport from sources with a supply to destinations with a demand.
    ///
    /// Parameters
    /// ----------
    /// supply, demand : array_like or columns
    ///     What each source has, and each destination needs. Sources may keep some of theirs.
    ///     Costs are those of the lanes, source by source.
    /// capacity : float, array_like of shape (sources, destinations), or columns, optional
    ///     Most of each lane; infinite by default.
    /// sources, destinations : int or sequence of str, optional
    ///     Names; costs are then called "source-destination". Or their number, where supply or
    ///     demand come from columns.
    /// sense : {"minimize", "maximize"}, default "minimize"
    ///     Objective sense.
    /// present : array_like of shape (sources, destinations), or columns, optional
    ///     Which lanes exist (1 or 0); all by default. The costs of other lanes may be missing
    ///     (NaN).
    ///
    /// Returns
    /// -------
    /// Problem
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     Where the demands cannot be met; the message names destinations that need too much.
    ///
    /// Examples
    /// --------
    /// >>> problem = rl.Problem.transport([4, 3], rl.columns("need"), destinations=2)
    /// >>> problem.solve([1, 2, 3, 1], parameters={"need": [2, 3]}).decision.reshape(2, 2)
    /// array([[2., 0.],
    ///        [0., 3.]], dtype=float32)
    #[classmethod]
    #[pyo3(signature = (
        supply, demand, *, capacity=None, sources=None, destinations=None, sense="minimize",
        present=None
    ))]
    fn transport<'py>(
        class: &Bound<'py, PyType>,
        supply: Bound<'py, PyAny>,
        demand: Bound<'py, PyAny>,
        capacity: Option<Bound<'py, PyAny>>,
        sources: Option<Bound<'py, PyAny>>,
        destinations: Option<Bound<'py, PyAny>>,
        sense: &str,
        present: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Self> {
        let py = class.py();
        let module = py.import("regretless.tables.parameters")?;
        let capacity = capacity.map(|capacity| module.call_method1("flow_bounds", (capacity,)));
        let present = present.map(|present| module.call_method1("flat_cells", (present,)));
        let fields = [
            ("supply", Some(supply)),
            ("demand", Some(demand)),
            ("capacity", capacity.transpose()?),
            ("sources", sources),
            ("destinations", destinations),
            ("sense", Some(sense_field(py, sense)?)),
            ("present", present.transpose()?),
        ];
        Self::from_fields(py, "transport", &fields)
    }

    /// Build a shortest path in a directed graph, or over the nodes of a grid.
    ///
    /// Parameters
    /// ----------
    /// arcs : sequence of pairs or dict, optional
    ///     Arcs as (from, to) or (from, to, name), in the order of the costs. Nodes are texts or
    ///     whole numbers. Among named arcs, one without a name is called "from-to", a name that
    ///     no other arc may have. Or a CSV file: {"file": "arcs.csv", "from": "from", "to": "to",
    ///     "name": "name"}, with the names of its columns; "name" is optional.
    /// source, target : str, int, column, or columns, optional
    ///     First and last node. In a grid a number, counted row by row from 0, or row and column;
    ///     the first and the last node by default.
    /// grid : pair of int, optional
    ///     Rows and columns of a grid, in the place of `arcs`. Costs belong to its nodes, row by
    ///     row; a path pays for all its nodes, both ends included.
    /// neighbors : {4, 8}, default 4
    ///     Steps in a grid: to the sides, or also diagonally.
    /// present : array_like of shape (d,) or columns, optional
    ///     Which arcs, or nodes of a grid, are open (1 or 0); all by default. The cost of a closed
    ///     one may be missing (NaN).
    ///
    /// Returns
    /// -------
    /// Problem
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     Where an arc leads from a node to itself, an end is a node of no arc, or no path leads
    ///     from one end to the other.
    ///
    /// Notes
    /// -----
    /// Costs may be negative. Where a cycle of the graph has a negative length, predicted costs
    /// below 0 count as 0 in the search and the status is "limit reached"; true costs are refused.
    ///
    /// Examples
    /// --------
    /// >>> arcs = [("home", "bridge"), ("bridge", "work"), ("home", "work")]
    /// >>> problem = rl.Problem.graph_path(arcs, source=rl.column("start"), target="work")
    /// >>> problem.solve([2, 3, 6], parameters={"start": "home"}).decision
    /// array([1., 1., 0.], dtype=float32)
    #[classmethod]
    #[pyo3(signature = (
        arcs=None, *, source=None, target=None, grid=None, neighbors=None, present=None
    ))]
    fn graph_path<'py>(
        class: &Bound<'py, PyType>,
        arcs: Option<Bound<'py, PyAny>>,
        source: Option<Bound<'py, PyAny>>,
        target: Option<Bound<'py, PyAny>>,
        grid: Option<Bound<'py, PyAny>>,
        neighbors: Option<Bound<'py, PyAny>>,
        present: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Self> {
        let fields = [
            ("arcs", arcs),
            ("source", source),
            ("target", target),
            ("grid", grid),
            ("neighbors", neighbors),
            ("present", present),
        ];
        Self::from_fields(class.py(), "graph_path", &fields)
    }

    /// Build a minimum spanning tree: the cheapest edges that connect all nodes.
    ///
    /// Parameters
    /// ----------
    /// edges : sequence of pairs or dict, optional
    ///     Edges as (node, node) or (node, node, name), in the order of the costs; or a CSV file,
    ///     as in `graph_path`.
    /// nodes : int, optional
    ///     Number of nodes, in the place of `edges`: all pairs 0-1, 0-2, …, 1-2, … are joined.
    /// sense : {"minimize", "maximize"}, default "minimize"
    ///     Objective sense.
    /// present : array_like of shape (d,) or columns, optional
    ///     Which edges exist (1 or 0); all by default. The cost of an absent one may be missing
    ///     (NaN).
    ///
    /// Returns
    /// -------
    /// Problem
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     Where the edges do not connect all nodes.
    ///
    /// Examples
    /// --------
    /// >>> problem = rl.Problem.spanning_tree([("a", "b"), ("b", "c"), ("a", "c")])
    /// >>> problem.solve([1, 5, 2]).decision
    /// array([1., 0., 1.], dtype=float32)
    #[classmethod]
    #[pyo3(signature = (edges=None, *, nodes=None, sense="minimize", present=None))]
    fn spanning_tree<'py>(
        class: &Bound<'py, PyType>,
        edges: Option<Bound<'py, PyAny>>,
        nodes: Option<Bound<'py, PyAny>>,
        sense: &str,
        present: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Self> {
        let sense = sense_word(parse_sense(sense)?);
        let fields = [
            ("edges", edges),
            ("nodes", nodes),
            ("sense", Some(PyString::new(class.py(), sense).into_any())),
            ("present", present),
        ];
        Self::from_fields(class.py(), "spanning_tree", &fields)
    }

    /// Build a storage problem: charge and discharge a battery or a reservoir at given prices.
    ///
    /// Parameters
    /// ----------
    /// steps : int
    ///     Number of steps, each of which has a price.
    /// capacity : float or column
    ///     Highest level.
    /// charge_limit, discharge_limit : float, array_like of shape (steps,), column or columns
    ///     Most that is bought, and sold, in a step.
    /// charge_efficiency, discharge_efficiency : float or column, default 1.0
    ///     Shares of the bought energy that is stored, and of the energy taken out that is sold.
    /// initial : float or column, default 0.0
    ///     Level before the first step.
    /// final_min : float or column, optional
    ///     Lowest level after the last step; `initial` by default.
    /// min_level : float or column, default 0.0
    ///     Lowest level.
    /// inflow : array_like of shape (steps,) or columns, optional
    ///     What flows in during each step and may pass unused; negative for losses.
    ///
    /// Returns
    /// -------
    /// Problem
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     Where a number is out of its range or the levels cannot be kept.
    ///
    /// Notes
    /// -----
    /// The decision has the energy bought in each step, negative where it is sold. A step charges
    /// or discharges, never both, which matters at negative prices.
    ///
    /// Examples
    /// --------
    /// >>> battery = rl.Problem.storage(3, capacity=2, charge_limit=1, discharge_limit=2)
    /// >>> battery.solve([1, 2, 5]).decision
    /// array([ 1.,  1., -2.], dtype=float32)
    #[classmethod]
    #[pyo3(signature = (
        steps, *, capacity, charge_limit, discharge_limit, charge_efficiency=None,
        discharge_efficiency=None, initial=None, final_min=None, min_level=None, inflow=None
    ))]
    fn storage<'py>(
        class: &Bound<'py, PyType>,
        steps: Bound<'py, PyAny>,
        capacity: Bound<'py, PyAny>,
        charge_limit: Bound<'py, PyAny>,
        discharge_limit: Bound<'py, PyAny>,
        charge_efficiency: Option<Bound<'py, PyAny>>,
        discharge_efficiency: Option<Bound<'py, PyAny>>,
        initial: Option<Bound<'py, PyAny>>,
        final_min: Option<Bound<'py, PyAny>>,
        min_level: Option<Bound<'py, PyAny>>,
        inflow: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Self> {
        let fields = [
            ("steps", Some(steps)),
            ("capacity", Some(capacity)),
            ("charge_limit", Some(charge_limit)),
            ("discharge_limit", Some(discharge_limit)),
            ("charge_efficiency", charge_efficiency),
            ("discharge_efficiency", discharge_efficiency),
            ("initial", initial),
            ("final_min", final_min),
            ("min_level", min_level),
            ("inflow", inflow),
        ];
        Self::from_fields(class.py(), "storage", &fields)
    }

    /// Build a traveling salesperson problem: the shortest tour through the nodes.
    ///
    /// Parameters
    /// ----------
    /// nodes : int
    ///     Number of nodes. Costs are those of the edges 0-1, 0-2, …, 1-2, ….
    /// present : array_like of shape (nodes,) or columns, optional
    ///     Which nodes are visited (1 or 0); all by default. Costs of edges of absent nodes may be
    ///     missing (NaN).
    ///
    /// Returns
    /// -------
    /// Problem
    ///
    /// Notes
    /// -----
    /// Edges have one cost for both directions. For other tours, such as with time windows, use
    /// `Problem.from_solver`.
    ///
    /// Examples
    /// --------
    /// >>> problem = rl.Problem.tsp(6, present=rl.columns("visit"))
    #[classmethod]
    #[pyo3(signature = (nodes, *, present=None))]
    fn tsp<'py>(
        class: &Bound<'py, PyType>,
        nodes: Bound<'py, PyAny>,
        present: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Self> {
        let fields = [("nodes", Some(nodes)), ("present", present)];
        Self::from_fields(class.py(), "tsp", &fields)
    }

    /// Build a capacitated vehicle routing problem: the cheapest routes from a depot, node 0.
    ///
    /// Parameters
    /// ----------
    /// demands : array_like of shape (customers,) or columns
    ///     Demands of the customers.
    /// capacity : float or column
    ///     Capacity of a vehicle.
    /// vehicles : int or column
    ///     Number of vehicles.
    /// single_customer_routes : bool, default True
    ///     Whether a route may serve a single customer.
    /// customers : int, optional
    ///     Number of customers, where the demands come from columns.
    /// present : array_like of shape (customers,) or columns, optional
    ///     Which customers are served (1 or 0); all by default. Costs of edges of absent customers
    ///     may be missing (NaN).
    ///
    /// Returns
    /// -------
    /// Problem
    ///
    /// Examples
    /// --------
    /// >>> problem = rl.Problem.cvrp(rl.columns("demand"), 10, 2, customers=4)
    #[classmethod]
    #[pyo3(signature = (
        demands, capacity, vehicles, *, single_customer_routes=true, customers=None, present=None
    ))]
    fn cvrp<'py>(
        class: &Bound<'py, PyType>,
        demands: Bound<'py, PyAny>,
        capacity: Bound<'py, PyAny>,
        vehicles: Bound<'py, PyAny>,
        single_customer_routes: bool,
        customers: Option<Bound<'py, PyAny>>,
        present: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Self> {
        let single = single_customer_routes.into_pyobject(class.py())?;
        let fields = [
            ("demands", Some(demands)),
            ("capacity", Some(capacity)),
            ("vehicles", Some(vehicles)),
            ("single_customer_routes", Some(single.to_owned().into_any())),
            ("customers", customers),
            ("present", present),
        ];
        Self::from_fields(class.py(), "cvrp", &fields)
    }

    /// Build a linear or mixed-integer problem from arrays.
    ///
    /// Parameters
    /// ----------
    /// A : array_like, DataFrame or scipy.sparse matrix of shape (m, n)
    ///     Constraint matrix.
    /// b : array_like of shape (m,)
    ///     Right-hand sides; entries of a list may be a `column`.
    /// sense : {"minimize", "maximize"}
    ///     Objective sense.
    /// relations : str or sequence of str, optional
    ///     "<=", ">=" or "==", one for all rows or one each; "<=" by default.
    /// lower, upper : float or array_like, optional
    ///     Bounds of the variables, one for all or one each; 0 and infinity by default. Entries of
    ///     a list may be a `column`.
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
    /// >>> problem = rl.Problem.from_arrays(
    /// ...     [[3, 4, 5]], [7], sense="maximize", upper=1, integer=True
    /// ... )
    /// >>> problem = rl.Problem.from_arrays(
    /// ...     [[1, 1]], [rl.column("demand")], sense="minimize", relations=">="
    /// ... )
    /// >>> problem.solve([2, 3], parameters={"demand": 4}).objective
    /// 8.0
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
        let right_sides = ColumnEntries::split(b)?;
        let lower = lower.map(ColumnEntries::split).transpose()?;
        let upper = upper.map(ColumnEntries::split).transpose()?;
        let arrays = ArrayArguments {
            matrix: A,
            right_sides: &right_sides.numbers,
            relations,
            lower: lower.as_ref().map(|entries| &entries.numbers),
            upper: upper.as_ref().map(|entries| &entries.numbers),
            integer,
            costs,
            known_costs,
        };
        let problem = arrays.build(name, parse_sense(sense)?, names)?;
        let columns = ArrayColumns {
            right_sides: right_sides.columns,
            lower: lower.map(|entries| entries.columns).unwrap_or_default(),
            upper: upper.map(|entries| entries.columns).unwrap_or_default(),
        };
        Self::from_spec(columns.spec(problem)?)
    }

    /// Build a problem that is solved by a Python function.
    ///
    /// Parameters
    /// ----------
    /// solve : callable
    ///     `solve(costs)` gets one row of costs (float64) and returns the optimal decision, an
    ///     array of the same length, or a pair (decision, objective), or None where no decision is
    ///     feasible. The objective is needed only where it is more than costs times decision; the
    ///     difference may depend on the decision and the row's parameters, not on the costs.
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
    /// parameters : sequence of str, optional
    ///     Names of the row parameters that the function needs. It is then called
    ///     `solve(costs, parameters)`, with a dict of floats, or of arrays where a parameter has
    ///     several numbers per row.
    /// check : callable, optional
    ///     `check(decision)`, or `check(decision, parameters)`, returns whether a decision is
    ///     feasible. All decisions are then checked. Methods that offer a row the decisions of
    ///     other rows (MAP, NCE, LTR, caches) need it where there are parameters.
    /// exact : bool, default True
    ///     Whether the decisions of the function are optimal. With False, statuses are "heuristic",
    ///     regret is relative to the function's own decisions, so that it can be negative, and
    ///     explanations have no ranges, alternatives and prices.
    ///
    /// Returns
    /// -------
    /// Problem
    ///
    /// Notes
    /// -----
    /// The function may keep state, such as a solver's model, but its answer must depend on the
    /// costs (and parameters) alone. When rows are labeled, the first one is solved three more
    /// times at the end, one directly after the other; from 40 rows on, the first one and one in
    /// the middle two more times each. Another objective is an error, with `exact=False`, where
    /// only the first row is repeated, a warning. A function whose answers to these rows alternate
    /// with a period of two or three calls is always found.
    ///
    /// The function runs on the thread that calls `solve_all`, `label`, `train` and so on. Calls
    /// are serialized, also where several threads use the problem, or several problems are made
    /// from one function or from methods of one object. It may use this package, and its own
    /// problem too; it must not wait for another thread that uses its own problem. A stateless
    /// function that releases the interpreter lock is faster with `thread_safe=True`: all threads
    /// then call it at the same time.
    ///
    /// An exception of the function stops the call and is raised unchanged.
    ///
    /// Examples
    /// --------
    /// >>> def cheapest(costs):
    /// ...     return np.arange(len(costs)) == np.argmin(costs)
    /// >>> problem = rl.Problem.from_solver(cheapest, 3, sense="minimize")
    /// >>> def cheapest_offers(costs, parameters):
    /// ...     return np.argsort(np.argsort(costs)) < parameters["needed"]
    /// >>> problem = rl.Problem.from_solver(
    /// ...     cheapest_offers, 3, sense="minimize", parameters=["needed"]
    /// ... )
    /// >>> problem.solve([5, 1, 4], parameters={"needed": 2}).decision
    /// array([0., 1., 1.], dtype=float32)
    #[classmethod]
    #[pyo3(signature = (
        solve, num_costs, *, sense, binary=true, name=None, thread_safe=false, cost_names=None,
        parameters=None, check=None, exact=true
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
        let mut function =
            SolverFunction::new(solve, problem, binary, thread_safe, parameters, check)?;
        function.exact = exact;
        Ok(Self::from_function(function))
    }

    /// Build the problem of a CPMpy model; see `regretless.problems.from_cpmpy`.
    ///
    /// Parameters
    /// ----------
    /// model : cpmpy.Model
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
    fn from_cpmpy<'py>(
        class: &Bound<'py, PyType>,
        model: &Bound<'py, PyAny>,
        costs: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        read_model(class.py(), "from_cpmpy", model, costs)
    }

    /// Build the problem of a cvxpy model; see `regretless.problems.from_cvxpy`.
    ///
    /// Parameters
    /// ----------
    /// model : cvxpy.Problem
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
    fn from_cvxpy<'py>(
        class: &Bound<'py, PyType>,
        model: &Bound<'py, PyAny>,
        costs: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        read_model(class.py(), "from_cvxpy", model, costs)
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

    /// Build the problem of a linopy model; see `regretless.problems.from_linopy`.
    ///
    /// Parameters
    /// ----------
    /// model : linopy.Model
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
    fn from_linopy<'py>(
        class: &Bound<'py, PyType>,
        model: &Bound<'py, PyAny>,
        costs: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        read_model(class.py(), "from_linopy", model, costs)
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

    /// Build the problem of a PuLP model; see `regretless.problems.from_pulp`.
    ///
    /// Parameters
    /// ----------
    /// model : pulp.LpProblem
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
    fn from_pulp<'py>(
        class: &Bound<'py, PyType>,
        model: &Bound<'py, PyAny>,
        costs: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        read_model(class.py(), "from_pulp", model, costs)
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
        self.costs.clone().map(|costs| array1(py, costs))
    }

    /// Names of the costs, in the order of decisions and arrays, or None.
    ///
    /// Columns of DataFrames are matched to these names; arrays are in this order.
    #[getter]
    fn cost_names(&self) -> Option<Vec<String>> {
        self.problem.cost_names().map(CostNames::to_vec)
    }

    /// Names and patterns of the row parameters that the problem reads, in its order.
    ///
    /// Calls take them as `parameters`. Empty where all rows have the same feasible set and the
    /// same known costs.
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
        self.problem.has_known_costs()
    }

    /// BLAKE3 hash of the model file that it was read from.
    #[getter]
    fn _file_hash(&self) -> Option<&str> {
        self.problem.file_hash()
    }

    /// The content of the file that the problem was read from.
    #[getter]
    fn _file_content<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        let content = self.problem.file_content()?;
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

    /// Return the same problem with a known part of the costs.
    ///
    /// Parameters
    /// ----------
    /// known : array_like of shape (d,), dict, columns or column
    ///     The known part of every cost, by position or by the names of costs. Entries may be a
    ///     `column`; `columns` has the known parts of all costs of a row.
    ///
    /// Returns
    /// -------
    /// Problem
    ///     Its objective is (known + predicted) times decision. Tables of costs, and predictions,
    ///     hold the predicted part. Losses, labels, objectives and regret are those of the total.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For another number of costs or an unknown name.
    ///
    /// Notes
    /// -----
    /// A function of `Problem.from_solver` gets total costs.
    ///
    /// Examples
    /// --------
    /// >>> problem = rl.Problem.top_k(3, k=1).with_known([4.0, 0.0, 2.0])
    /// >>> problem.solve([1, 6, 2]).objective
    /// 4.0
    fn with_known(&self, known: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.with_known_costs(known)
    }

    /// Solve for one row of costs.
    ///
    /// Parameters
    /// ----------
    /// c : array_like of shape (d,)
    ///     Costs, in the problem's order, or a Series whose names are matched.
    /// parameters : mapping or Series, optional
    ///     The row parameters that the problem reads (`Problem.parameters`): numbers, or
    ///     one-dimensional arrays, by name.
    /// heuristic, gap, nodes, seconds : optional
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
        signature = (
            c, *, parameters=None, heuristic=None, gap=None, nodes=None, seconds=None, **unknown
        ),
        text_signature = "($self, c, *, parameters=None, heuristic=None, gap=None, nodes=None, \
            seconds=None)"
    )]
    fn solve(
        &self,
        py: Python<'_>,
        c: &Bound<'_, PyAny>,
        parameters: Option<&Bound<'_, PyAny>>,
        heuristic: Option<&str>,
        gap: Option<f64>,
        nodes: Option<u64>,
        seconds: Option<f64>,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Solution> {
        refuse_unknown("Problem.solve", unknown)?;
        let limits = search_limits(gap, nodes, seconds)?;
        self.solve_row(py, c, parameters, heuristic, limits)
    }

    /// Solve for every row of costs, on several threads.
    ///
    /// Parameters
    /// ----------
    /// C : array_like or DataFrame of shape (n, d)
    ///     Costs. Columns with names are matched to the problem's costs by name, arrays by
    ///     position.
    /// parameters : mapping or DataFrame, optional
    ///     The row parameters that the problem reads (`Problem.parameters`): arrays of shape (n,)
    ///     or (n, k) by name, or a DataFrame with one number per row in each column. Rows are
    ///     matched by position, and numbers per cost are in the order of the problem's costs.
    ///     Arrays of float64 in C order are not copied.
    /// threads : int, optional
    ///     Number of threads; all by default. Results do not depend on it.
    /// progress : bool, default False
    ///     Whether to show a progress bar.
    /// heuristic : str, optional
    ///     "local-search" (TSP and CVRP) or "node-limit 100" instead of an exact solver.
    /// gap : float, default 0
    ///     Relative gap between objective and dual bound at which a search may stop.
    /// nodes : int, optional
    ///     Maximum number of branch-and-bound nodes of a search, which ends with its incumbent.
    /// seconds : float, optional
    ///     Maximum seconds of a search, which ends with its incumbent. Results then depend on the
    ///     machine: they are not reproducible. A
    ///     function of your own has no such limits: gap, nodes and seconds are refused.
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
    ///     For another number of costs, costs that are not finite, parameters that are missing, not
    ///     read by the problem or not numbers, or a heuristic that the problem does not have.
    #[pyo3(
        signature = (
            C, *, parameters=None, threads=None, progress=false, heuristic=None, gap=None,
            nodes=None, seconds=None, **unknown
        ),
        text_signature = "($self, C, *, parameters=None, threads=None, progress=False, \
            heuristic=None, gap=None, nodes=None, seconds=None)"
    )]
    fn solve_all(
        &self,
        py: Python<'_>,
        C: &Bound<'_, PyAny>,
        parameters: Option<&Bound<'_, PyAny>>,
        threads: Option<usize>,
        progress: bool,
        heuristic: Option<&str>,
        gap: Option<f64>,
        nodes: Option<u64>,
        seconds: Option<f64>,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Solutions> {
        refuse_unknown("Problem.solve_all", unknown)?;
        let limits = search_limits(gap, nodes, seconds)?;
        self.solve_rows(py, C, parameters, threads, progress, heuristic, limits)
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

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let module = py.import("regretless._pickle")?;
        let (rebuild, arguments) = match &self.function {
            Some(function) => {
                let name = Some(self.problem.name()).filter(|name| name != DEFAULT_FUNCTION_NAME);
                let SolverFunction {
                    solve,
                    check,
                    parameters,
                    known,
                    binary,
                    thread_safe,
                    exact,
                    ..
                } = &**function;
                let known = known
                    .as_ref()
                    .map(|known| to_python(py, &known.description));
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
                    parameters.clone(),
                    check.as_ref().map(|check| check.clone_ref(py)),
                    known.transpose()?,
                    *exact,
                );
                ("from_solver", arguments.into_pyobject(py)?)
            }
            None => ("from_dict", (self.to_dict(py)?,).into_pyobject(py)?),
        };
        (module.getattr(rebuild)?, arguments).into_pyobject(py)
    }
}
