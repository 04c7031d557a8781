//! Problems: the feasible decisions, the objective sense, and the solvers.
//!
//! A problem is immutable and shared by all threads; it creates one solver per thread. Problems are
//! validated by their constructors and on deserialization. A kind is one file or folder here, with
//! its line in the list below (`family.rs`).

mod arc_table;
mod assignment;
mod benchmark;
mod capabilities;
mod choice_fixing;
mod cvrp;
mod equality;
mod external;
mod family;
mod flexible_fields;
mod flow_numbers;
pub(crate) mod formats;
mod from_file;
mod function;
mod graph_path;
mod grid_path;
mod handle;
mod kind;
mod knapsack;
mod layout;
mod linear;
mod min_cost_flow;
mod model_problem;
mod multiple_choice_knapsack;
mod newsvendor;
mod parametric;
mod restriction;
mod row_place;
#[cfg(feature = "highs")]
mod schedule;
mod spanning_tree;
#[macro_use]
mod spec;
mod spec_file;
mod storage;
mod subset;
mod table;
mod top_k;
mod transport;
mod tsp;

pub use crate::sense::Sense;
pub use benchmark::Benchmark;
pub use benchmark::paper_weights;
#[cfg(feature = "highs")]
pub(crate) use capabilities::ModelParts;
pub use capabilities::{
    Choices, CostNaming, DecisionGeometry, FailureReasons, KindCapabilities, Recourse, RowProblems,
    Sensitivity, SolverTraits,
};
pub(crate) use choice_fixing::{ChoiceFixing, FixedChoices};
pub use cvrp::Cvrp;
pub(crate) use equality::{
    EqualityConstraints, EqualityProjection, Incidence, ProjectionScratch, SparseIncidence,
    VariableRun,
};
pub use external::ExternalProblem;
pub use family::ProblemFamily;
pub use from_file::{FileFormat, FileProblem, ReadOptions};
pub(crate) use grid_path::GridPath;
pub use handle::Problem;
pub(crate) use kind::SolveSeconds;
use kind::check_binary;
pub use kind::{ProblemKind, SolveCostHint, SolverThreading, VariableBounds};
pub use knapsack::Knapsack;
pub use layout::DecisionLayout;
pub(crate) use linear::LinearFile;
pub use linear::{CostColumns, LinearArrays, LinearColumn, LinearRow};
#[cfg(feature = "highs")]
pub use linear::{LinearBuilder, LinearProblem, VariableDomain};
pub(crate) use model_problem::ModelProblem;
pub(crate) use restriction::{ColumnBounds, ColumnDomain, ExcludedPattern, Restriction};
#[cfg(feature = "highs")]
pub use schedule::Schedule;
pub use top_k::TopK;
pub use tsp::Tsp;

problem_kinds! {
    Knapsack(Knapsack) = knapsack::FAMILY,
    GridPath(GridPath) = grid_path::FAMILY,
    GraphPath(graph_path::GraphPath) = graph_path::FAMILY,
    SpanningTree(spanning_tree::SpanningTree) = spanning_tree::FAMILY,
    Storage(storage::StorageProblem) = storage::FAMILY,
    TopK(TopK) = top_k::FAMILY,
    Assignment(assignment::Assignment) = assignment::FAMILY,
    MultipleChoiceKnapsack(multiple_choice_knapsack::MultipleChoiceKnapsack)
        = multiple_choice_knapsack::FAMILY,
    Newsvendor(newsvendor::Newsvendor) = newsvendor::FAMILY,
    MinCostFlow(min_cost_flow::MinCostFlow) = min_cost_flow::FAMILY,
    Transport(transport::Transport) = transport::FAMILY,
    Linear(LinearFile) = linear::file::FAMILY,
    LinearArrays(LinearArrays) = linear::arrays::FAMILY,
    External(ExternalProblem) = external::FAMILY,
    Tsp(Tsp) = tsp::FAMILY,
    Cvrp(Cvrp) = cvrp::FAMILY,
    #[cfg(feature = "highs")]
    Schedule(Schedule) = schedule::FAMILY,
}
