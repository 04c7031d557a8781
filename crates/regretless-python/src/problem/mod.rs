//! Problems: by name, from a file, from arrays, or a Python function.
//!
//! This file has the base of the Python class; `build.rs` constructs problems, `solve.rs` solves
//! them.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple, PyType};
use regretless::data::CostNames;
use regretless::problem::{Benchmark, ProblemSpec};

use crate::arrays::array1;
use crate::call_observer::catch_panic;
use crate::error::to_py_err;
use crate::function_problem::SolverFunction;
use crate::keywords::SolveOptions;
use crate::parameters::{ParameterList, node_parameters};
use crate::results::to_python;
use crate::solutions::{Solution, Solutions};

mod build;
mod solve;

use build::{
    ArrayArguments, ArrayColumns, ColumnList, DEFAULT_FUNCTION_NAME, ModelFileOptions,
    description_of, external_problem, parameters_module, parse_sense, read_model_file, sense_field,
    spec_of_dict,
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
        Self::from_spec(catch_panic(|| benchmark.problem(seed).map_err(to_py_err))?)
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
        let module = parameters_module(class.py())?;
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
        let module = parameters_module(py)?;
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
        let module = parameters_module(py)?;
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
        let module = parameters_module(py)?;
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
        let module = parameters_module(py)?;
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
        self.solve_rows(py, C, parameters, &options)
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
}
