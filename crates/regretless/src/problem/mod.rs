//! Problems: what is feasible, whether to minimise or maximise, and which engine solves it.
//!
//! A problem is immutable and shared by all threads; it hands out one [`Solver`] per thread. Adding
//! one is one file here, one variant of [`ProblemSpec`] and one arm in [`ProblemSpec::build`].

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::data::{CostMatching, CostNames, CostSide};
use crate::decision::Decision;
use crate::error::Result;
use crate::solve::cone::NormalCone;
use crate::solve::relaxation::{
    AdjacentVertices, CostRangeKind, CostRanging, Relaxation, RelaxationSolver,
};
use crate::solve::{SearchLimits, Solver};

mod benchmark;
mod cvrp;
mod external;
pub mod formats;
mod from_file;
mod function;
mod grid_path;
mod handle;
mod knapsack;
mod linear;
mod model_problem;
#[cfg(feature = "highs")]
mod schedule;
mod spec_file;
mod top_k;
mod tsp;

pub use crate::sense::Sense;
pub use benchmark::Benchmark;
pub(crate) use benchmark::paper_weights;
pub use cvrp::Cvrp;
pub use external::ExternalProblem;
pub use from_file::{FileFormat, FileProblem, ReadOptions};
pub use grid_path::GridPath;
pub use handle::Problem;
pub use knapsack::Knapsack;
pub use linear::{CostColumns, LinearArrays, LinearColumn, LinearFile, LinearRow};
#[cfg(feature = "highs")]
pub use linear::{LinearBuilder, LinearProblem, VariableDomain};
pub use model_problem::ModelProblem;
#[cfg(feature = "highs")]
pub use schedule::{Schedule, ScheduledTask};
pub use top_k::TopK;
pub use tsp::Tsp;

/// The least and greatest value each variable of a problem can take.
#[derive(Debug, Clone, PartialEq)]
pub enum VariableBounds {
    /// Every variable is 0 or 1.
    Binary,
    /// Lower and upper bound of each variable.
    Box {
        /// Least values.
        lower: Vec<f64>,
        /// Greatest values.
        upper: Vec<f64>,
    },
}

/// On which threads the engines of a problem may be called. Answers are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SolverThreading {
    /// On several threads of the pool at the same time.
    ThreadPool,
    /// On several threads at the same time, none of them of the pool: a call may itself wait for
    /// the pool.
    OwnThreads,
    /// One after the other, on the thread that asks.
    Serialized,
}

/// A family of optimisation problems that differ in their costs only.
pub trait ProblemKind: Send + Sync + fmt::Debug {
    /// What the problem is called in tables and messages.
    fn name(&self) -> String;

    /// Whether to minimise or maximise.
    fn sense(&self) -> Sense;

    /// How many costs are predicted.
    fn num_costs(&self) -> usize;

    /// Names of the costs, in their order, if the problem has names for them.
    fn cost_names(&self) -> Option<&CostNames> {
        None
    }

    /// Whether the user could give the costs names where there are none: if so, it is worth a
    /// notice that costs with names are matched by position.
    fn may_have_cost_names(&self) -> bool {
        self.cost_names().is_some()
    }

    /// BLAKE3 of the file that the problem was read from, in hexadecimal digits, if it was read
    /// from one.
    fn file_hash(&self) -> Option<&str> {
        None
    }

    /// The values each variable can take.
    fn bounds(&self) -> VariableBounds {
        VariableBounds::Binary
    }

    /// An engine of its own for one thread.
    fn solver(&self, limits: &SearchLimits) -> Box<dyn Solver>;

    /// On which threads its engines may be called.
    fn solver_calls(&self) -> SolverThreading {
        SolverThreading::ThreadPool
    }

    /// A local search for one thread, if the problem has one: good decisions, soon, without a
    /// proof.
    fn local_search(&self, _limits: &SearchLimits) -> Option<Box<dyn Solver>> {
        None
    }

    /// The same, several times as soon and a little worse.
    fn fast_local_search(&self, limits: &SearchLimits) -> Option<Box<dyn Solver>> {
        self.local_search(limits)
    }

    /// What the problem is made of beyond its [`ProblemSpec`], such as the content of a file it
    /// names: labels are found again only while it stays the same.
    fn fingerprint(&self) -> Vec<u8> {
        Vec::new()
    }

    /// What every decision costs beyond its predicted costs, to be minimised; none where that
    /// differs from decision to decision, so that a decision alone does not tell its objective.
    fn fixed_cost(&self) -> Option<f64> {
        Some(0.0)
    }

    /// The linear relaxation for one thread, if the problem has it.
    fn relaxation_solver(
        &self,
        _kind: Relaxation,
        _limits: &SearchLimits,
    ) -> Option<Box<dyn RelaxationSolver>> {
        None
    }

    /// Cost ranges for one thread, if the problem has them. Ranges from a basis are those of the
    /// plain relaxation.
    fn cost_ranging(
        &self,
        _kind: CostRangeKind,
        _limits: &SearchLimits,
    ) -> Option<Box<dyn CostRanging>> {
        None
    }

    /// Adjacent vertices of the plain relaxation for one thread, if the problem has them.
    fn adjacent_vertices(&self, _limits: &SearchLimits) -> Option<Box<dyn AdjacentVertices>> {
        None
    }

    /// The cone of negated costs under which a decision is known to be best, if the problem has it:
    /// by the rows of the plain relaxation that bind there, and others of its own.
    fn cone(&self, _decision: &Decision) -> Option<NormalCone> {
        None
    }

    /// Whether every decision is a vertex of the plain relaxation, so that its cone means
    /// something: true where there are no whole numbers or all of them are 0 or 1.
    fn has_vertex_decisions(&self) -> bool {
        true
    }

    /// Checks a decision against the constraints, independently of any engine.
    ///
    /// # Errors
    /// The first constraint that does not hold, in words.
    fn check(&self, decision: &Decision) -> std::result::Result<(), String>;
}

/// Matches costs to those of a problem: by name where both have names, by position otherwise.
///
/// # Errors
/// When both have names and the sets differ.
pub fn match_costs(found: CostSide<'_>, problem: &dyn ProblemKind) -> Result<CostMatching> {
    let owner = problem.name();
    let names = problem.cost_names();
    CostMatching::new(
        found,
        CostSide {
            owner: &owner,
            names,
            could_have_names: problem.may_have_cost_names(),
        },
    )
}

/// A problem in writing: what stands in a settings file or in a model's metadata.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ProblemSpec {
    /// Knapsack with several dimensions.
    Knapsack(Knapsack),
    /// Shortest path through a grid.
    GridPath(GridPath),
    /// The k best items.
    TopK(TopK),
    /// Any linear problem, from an MPS or LP file.
    Linear(LinearFile),
    /// Any linear problem, by its numbers.
    LinearArrays(LinearArrays),
    /// A problem of the user's own program.
    External(ExternalProblem),
    /// Travelling salesperson.
    Tsp(Tsp),
    /// Capacitated vehicle routing.
    Cvrp(Cvrp),
    /// Tasks on machines when energy is cheap.
    #[cfg(feature = "highs")]
    Schedule(Schedule),
}

impl ProblemSpec {
    /// The problem itself, its numbers checked.
    ///
    /// # Errors
    /// When the numbers make no problem.
    pub fn build(&self) -> Result<Arc<dyn ProblemKind>> {
        Ok(match self {
            Self::Knapsack(problem) => Arc::new(problem.clone().validate()?),
            Self::GridPath(problem) => Arc::new(problem.clone().validate()?),
            Self::TopK(problem) => Arc::new(problem.clone().validate()?),
            Self::Linear(file) => return file.build(),
            Self::LinearArrays(arrays) => return arrays.build(),
            Self::External(given) => return given.build(),
            Self::Tsp(problem) => Arc::new(problem.clone().validate()?),
            #[cfg(feature = "highs")]
            Self::Cvrp(problem) => Arc::new(problem.clone().validate()?),
            #[cfg(feature = "highs")]
            Self::Schedule(problem) => Arc::new(problem.linear()?),
            #[cfg(not(feature = "highs"))]
            Self::Cvrp(_) => {
                let message = "vehicle routing needs HiGHS, which this build was made without \
                    (cargo feature `highs`)";
                return Err(crate::error::Error::setting(message));
            }
        })
    }
}

/// Checks that a decision of a binary problem is one.
fn check_binary(decision: &Decision, num_costs: usize) -> std::result::Result<(), String> {
    if !decision.is_binary() {
        return Err("a variable is neither 0 nor 1".into());
    }
    match decision.indices().last() {
        Some(last) if *last as usize >= num_costs => {
            Err(format!("variable {last} of {num_costs} does not exist"))
        }
        _ => Ok(()),
    }
}
