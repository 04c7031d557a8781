//! [`ProblemKind`]: the feasible decisions of a problem, its solvers, and what is known of them.

use std::fmt;

use super::Sense;
use super::capabilities::{
    Choices, CostNaming, DecisionGeometry, FailureReasons, KindCapabilities, ModelParts, Recourse,
    RowProblems, Sensitivity, SolverTraits,
};
use crate::data::{CostMatching, NamedCosts};
use crate::decision::Decision;
use crate::error::Result;
use crate::solve::{SearchLimits, Solver};

/// The bounds of the variables of a problem.
#[derive(Debug, Clone, PartialEq)]
pub enum VariableBounds {
    /// Every variable is 0 or 1.
    Binary,
    /// Lower and upper bound of each variable.
    Box {
        /// Lower bounds.
        lower: Vec<f64>,
        /// Upper bounds.
        upper: Vec<f64>,
    },
}

/// The threads on which the solvers of a problem may be called. Solutions are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SolverThreading {
    /// Concurrently on the threads of the pool.
    ThreadPool,
    /// Concurrently on threads outside the pool: a call may itself wait for the pool.
    OwnThreads,
    /// One call at a time, on the calling thread.
    Serialized,
}

/// The expected cost of solves of a problem on one thread.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SolveCostHint {
    /// Seconds of an exact solve, and how they are known.
    pub(crate) exact: SolveSeconds,
    /// Seconds of a relaxed solve over those of an exact one.
    pub(crate) relaxed_ratio: f64,
}

/// How the seconds of a solve are known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum SolveSeconds {
    /// Estimated from the size of the problem, by a formula fitted to medians that were measured on
    /// one core; only the order of magnitude matters.
    Estimated(f64),
    /// Counted by the solver (HiGHS alone does so); this estimate is used until something was
    /// counted.
    #[cfg_attr(not(feature = "highs"), expect(dead_code, reason = "needs HiGHS"))]
    Counted(f64),
    /// Unknown: stated by the user or measured.
    Unknown,
}

impl SolveCostHint {
    /// Nothing is known, as for a user's solver. The ratio is that of a typical mixed-integer
    /// problem.
    pub const UNKNOWN: Self = Self {
        exact: SolveSeconds::Unknown,
        relaxed_ratio: 0.2,
    };

    /// A solve that takes this long.
    pub fn estimated(seconds: f64, relaxed_ratio: f64) -> Self {
        Self {
            exact: SolveSeconds::Estimated(seconds),
            relaxed_ratio,
        }
    }
}

/// A family of optimization problems that differ in their costs only.
///
/// Five methods make a problem that can be trained on. What else is known of it are
/// [`KindCapabilities`].
pub trait ProblemKind: Send + Sync + fmt::Debug + std::any::Any {
    /// The name in tables and messages.
    fn name(&self) -> String;

    /// The objective sense.
    fn sense(&self) -> Sense;

    /// Number of predicted costs.
    fn num_costs(&self) -> usize;

    /// A solver for one thread.
    fn solver(&self, limits: &SearchLimits) -> Box<dyn Solver>;

    /// Checks a decision against the constraints, independently of any solver.
    ///
    /// # Errors
    /// The first violated constraint, as a message.
    fn check(&self, decision: &Decision) -> std::result::Result<(), String>;

    /// What a solve costs, for planning a training within a budget.
    fn solve_cost_hint(&self) -> SolveCostHint {
        SolveCostHint::UNKNOWN
    }

    /// Makes a solver of another problem with the same template (a problem whose parameters differ
    /// per row) solve this one with the same limits, if that is faster than a new solver: as if
    /// [`Self::solver`] had just built it. `false`, with nothing changed, otherwise.
    fn reuse_solver(&self, _solver: &mut dyn Solver) -> bool {
        false
    }

    /// Which costs exist; `None` if all do. The variable of an absent cost is 0 in every decision,
    /// and losses and averages leave it out.
    fn present_costs(&self) -> Option<&[bool]> {
        None
    }

    /// What else is known of the problem; callers ask for one of them at most once per solve.
    fn capabilities(&self) -> KindCapabilities<'_> {
        KindCapabilities::NONE
    }
}

impl dyn ProblemKind {
    /// The names of the costs.
    pub fn names(&self) -> &dyn CostNaming {
        self.capabilities().names
    }

    /// What differs between rows besides their costs.
    pub fn row_problems(&self) -> &dyn RowProblems {
        self.capabilities().row_problems
    }

    /// How its solvers may be called, and local searches.
    pub fn solver_traits(&self) -> &dyn SolverTraits {
        self.capabilities().solver_traits
    }

    /// Why costs have no optimal decision.
    pub fn failure_reasons(&self) -> &dyn FailureReasons {
        self.capabilities().failure_reasons
    }

    /// Relaxations and cost ranges.
    pub fn sensitivity(&self) -> &dyn Sensitivity {
        self.capabilities().sensitivity
    }

    /// The shape of the set of decisions.
    pub fn geometry(&self) -> &dyn DecisionGeometry {
        self.capabilities().geometry
    }

    /// The values of variables, and decisions in which some of them are fixed.
    pub fn choices(&self) -> &dyn Choices {
        self.capabilities().choices
    }

    /// The parts of a model that are not predicted.
    pub fn model_parts(&self) -> &dyn ModelParts {
        self.capabilities().model_parts
    }

    /// Predicted quantities, and what a decision costs once they are known.
    pub fn recourse(&self) -> &dyn Recourse {
        self.capabilities().recourse
    }

    /// Whether some costs may not exist in some rows.
    pub fn may_have_absent_costs(&self) -> bool {
        self.present_costs().is_some() || self.row_problems().may_have_absent_costs()
    }

    /// Checks a decision with the values of all other columns, in the order of
    /// `ModelParts::auxiliary_names`: every constraint, and the fixed cost of the decision.
    ///
    /// # Errors
    /// The first violated constraint, as a message.
    pub fn check_complete(
        &self,
        decision: &Decision,
        auxiliary: &[f64],
    ) -> std::result::Result<(), String> {
        self.check(decision)?;
        self.model_parts().check_auxiliary(decision, auxiliary)
    }
}

impl CostMatching {
    /// Matches costs with those of a problem: by name if both have names, by position otherwise.
    ///
    /// # Errors
    /// When both have names and the sets differ.
    pub fn with_problem(actual: NamedCosts<'_>, problem: &dyn ProblemKind) -> Result<Self> {
        Self::new(
            actual,
            NamedCosts {
                name: &problem.name(),
                cost_names: problem.names().cost_names(),
                warn_if_unnamed: problem.names().may_have_cost_names(),
            },
        )
    }
}

/// Checks that a decision is binary and has no variable beyond `num_costs`.
pub(super) fn check_binary(
    decision: &Decision,
    num_costs: usize,
) -> std::result::Result<(), String> {
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
