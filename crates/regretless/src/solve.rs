//! Solvers: the optimal decision for one cost vector.
//!
//! What users can name of the crate `regretless-solvers`; the solvers themselves are reached
//! through a [`Problem`](crate::Problem).

pub use regretless_solvers::{
    NormalCone, SearchLimits, Solution, SolveFailure, SolveStatus, Solver, relaxation, warm_start,
};

pub(crate) use regretless_solvers::{
    assignment, check_not_stopped, complete_graph, cone, graph_path, grid_path, knapsack,
    multiple_choice, network_flow, newsvendor, spanning_tree, storage, top_k, tsp,
};
#[cfg(feature = "highs")]
pub(crate) use regretless_solvers::{cvrp, highs, linear};
