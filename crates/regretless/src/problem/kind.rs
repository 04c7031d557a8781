//! [`ProblemKind`]: the feasible decisions of a problem, its solvers, and what is known of them.

use std::fmt;
use std::sync::Arc;

use super::{ChoiceFixing, ColumnDomain, EqualityConstraints, FixedChoices, Restriction, Sense};
use crate::data::{CostMatching, CostNames, NamedCosts, ParameterColumns};
use crate::decision::Decision;
use crate::error::Result;
use crate::solve::cone::NormalCone;
use crate::solve::relaxation::{
    AdjacentVertices, CostRangeKind, CostRanging, Relaxation, RelaxationSolver,
};
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
pub trait ProblemKind: Send + Sync + fmt::Debug + std::any::Any {
    /// The name in tables and messages.
    fn name(&self) -> String;

    /// The objective sense.
    fn sense(&self) -> Sense;

    /// Number of predicted costs.
    fn num_costs(&self) -> usize;

    /// Names of the costs, in order, if the problem has them.
    fn cost_names(&self) -> Option<&CostNames> {
        None
    }

    /// Whether the user could name the costs: if so, a warning is useful when named costs are
    /// matched by position.
    fn may_have_cost_names(&self) -> bool {
        self.cost_names().is_some()
    }

    /// A message for the user where numbers of the problem, such as weights, belong to costs by
    /// position and these costs have names.
    fn position_note(&self, _costs: &CostNames) -> Option<String> {
        None
    }

    /// BLAKE3 of the file that the problem was read from, in hexadecimal digits, if it was read
    /// from one.
    fn file_hash(&self) -> Option<&str> {
        None
    }

    /// The content of that file, for models that hold it.
    fn file_content(&self) -> Option<&[u8]> {
        None
    }

    /// The bounds of the variables.
    fn bounds(&self) -> VariableBounds {
        VariableBounds::Binary
    }

    /// The columns that a row's own problem is built from; empty where all rows have this problem.
    fn parameters(&self) -> &[ParameterColumns] {
        &[]
    }

    /// The problem of a row whose parameters have these values, in the order of
    /// [`ProblemKind::parameters`].
    ///
    /// # Errors
    /// When there is no such problem, as a message: a capacity is negative, a target cannot be
    /// reached.
    fn row_problem(&self, _values: &[f64]) -> std::result::Result<Arc<dyn ProblemKind>, String> {
        Err("the problem has no parameters per row".into())
    }

    /// The known part of the costs of a row with these parameters, in the user's sense; `None`
    /// where costs are predicted as a whole.
    fn known_costs(&self, _values: &[f64]) -> Option<Vec<f64>> {
        None
    }

    /// Whether a part of the costs is known.
    fn has_known_costs(&self) -> bool {
        false
    }

    /// Whether some costs may not exist in some rows.
    fn may_have_absent_costs(&self) -> bool {
        self.present_costs().is_some()
    }

    /// Which costs exist; `None` where all do. The variable of an absent cost is 0 in every
    /// decision, and losses and averages leave it out.
    fn present_costs(&self) -> Option<&[bool]> {
        None
    }

    /// A solver for one thread.
    fn solver(&self, limits: &SearchLimits) -> Box<dyn Solver>;

    /// Makes a solver of another problem with the same template (a problem whose parameters differ
    /// per row) solve this one with the same limits, if that is faster than a new solver: as if
    /// [`Self::solver`] had just built it. `false`, with nothing changed, otherwise.
    fn reuse_solver(&self, _solver: &mut dyn Solver) -> bool {
        false
    }

    /// Why no decision is feasible, as a sentence, if that is known: called after a solve failed
    /// with [`SolveFailure::Infeasible`](crate::solve::SolveFailure::Infeasible).
    fn infeasibility(&self) -> Option<String> {
        None
    }

    /// Which columns can change without limit under these minimized costs, as a sentence, if that
    /// is known: called after a solve failed with
    /// [`SolveFailure::Unbounded`](crate::solve::SolveFailure::Unbounded).
    fn unboundedness(&self, _costs: &[f64]) -> Option<String> {
        None
    }

    /// Columns for which a predicted cost of the wrong sign makes the objective unbounded, as a
    /// sentence, if there are any.
    fn unboundedness_note(&self) -> Option<String> {
        None
    }

    /// Why true costs cannot be used, as a sentence, if that is so: called where a label was not
    /// proven optimal. A shortest path has no meaning where a cycle has a negative length.
    fn unusable_costs(&self, _costs: &[f64]) -> Option<String> {
        None
    }

    /// Whether search limits, node limits and warm starts can have an effect: its solvers are those
    /// of this library, and not a function of the user's.
    fn has_search_settings(&self) -> bool {
        true
    }

    /// The threads on which its solvers may be called.
    fn solver_calls(&self) -> SolverThreading {
        SolverThreading::ThreadPool
    }

    /// What a solve costs, for planning a training within a budget.
    fn solve_cost_hint(&self) -> SolveCostHint {
        SolveCostHint::UNKNOWN
    }

    /// A local search for one thread, if the problem has one: good decisions, fast, without a proof
    /// of optimality.
    fn local_search(&self, _limits: &SearchLimits) -> Option<Box<dyn Solver>> {
        None
    }

    /// A local search that is several times faster and slightly worse.
    fn fast_local_search(&self, limits: &SearchLimits) -> Option<Box<dyn Solver>> {
        self.local_search(limits)
    }

    /// A fingerprint of what is not in the [`ProblemSpec`](super::ProblemSpec), such as the content
    /// of a file it names: stored labels are used only while it stays the same.
    fn fingerprint(&self) -> Vec<u8> {
        Vec::new()
    }

    /// The fixed cost of every decision, minimized; `None` where it differs between decisions, so
    /// that a decision alone does not determine its objective.
    fn fixed_cost(&self) -> Option<f64> {
        Some(0.0)
    }

    /// Names of the columns without predicted costs that have a known cost: the level of predicted
    /// costs then matters for decisions. Empty for most problems.
    fn fixed_cost_columns(&self) -> Vec<String> {
        Vec::new()
    }

    /// The linear relaxation for one thread, if the problem has it.
    fn relaxation_solver(
        &self,
        _kind: Relaxation,
        _limits: &SearchLimits,
    ) -> Option<Box<dyn RelaxationSolver>> {
        None
    }

    /// Cost ranges for one thread, if the problem has them. Ranges from a basis are those of
    /// [`Relaxation::Plain`].
    fn cost_ranging(
        &self,
        _kind: CostRangeKind,
        _limits: &SearchLimits,
    ) -> Option<Box<dyn CostRanging>> {
        None
    }

    /// Adjacent vertices of [`Relaxation::Plain`] for one thread, if the problem has them.
    fn adjacent_vertices(&self, _limits: &SearchLimits) -> Option<Box<dyn AdjacentVertices>> {
        None
    }

    /// The normal cone of a decision: negated costs under which it is proven optimal, if the
    /// problem has it. It is spanned by the constraints of [`Relaxation::Plain`], and by further
    /// valid inequalities, that hold with equality at the decision.
    fn cone(&self, _decision: &Decision) -> Option<NormalCone> {
        None
    }

    /// Whether [`Self::cone`] returns the cone of every decision.
    fn has_cones(&self) -> bool {
        false
    }

    /// Whether every decision is a vertex of [`Relaxation::Plain`], so that its cone has full
    /// dimension: true where there are no integer variables or all of them are binary.
    fn has_vertex_decisions(&self) -> bool {
        true
    }

    /// Equality constraints that all decisions satisfy: adding a combination of their rows to the
    /// costs changes no decision.
    fn equality_constraints(&self) -> EqualityConstraints {
        EqualityConstraints::None
    }

    /// How the best decision with fixed choices is found, where decisions are binary.
    fn fix_choices(&self, _fixed: &FixedChoices) -> ChoiceFixing {
        ChoiceFixing::by_bounds(&self.bounds())
    }

    /// How the best decision is found in which the variables of some costs are 0, also where
    /// decisions are not binary: costs that exist, but have no prediction.
    fn leave_out(&self, costs: &[u32]) -> ChoiceFixing {
        self.fix_choices(&FixedChoices {
            forced: Vec::new(),
            forbidden: costs.to_vec(),
        })
    }

    /// The choices of a decision in the order in which they can be fixed one after the other: along
    /// a path.
    fn choices_in_order(&self, decision: &Decision) -> Vec<u32> {
        decision.indices().to_vec()
    }

    /// Parts of the decisions with fixed choices that together have all of them except for the best
    /// one, where the problem has a division of its own.
    fn divide_decisions(
        &self,
        _fixed: &FixedChoices,
        _best: &Decision,
    ) -> Option<Vec<FixedChoices>> {
        None
    }

    /// Whether a decision may have all choices of another one and more, as in a knapsack. It cannot
    /// where all decisions have equally many choices.
    fn may_contain_decisions(&self) -> bool {
        true
    }

    /// The values that the columns of a complete decision can take (predicted costs first, then
    /// [`Self::auxiliary_names`]), where [`Self::restricted`] can narrow them: linear problems.
    fn column_domains(&self) -> Option<Vec<ColumnDomain>> {
        None
    }

    /// The problem of the decisions that obey a restriction; none where its bounds exclude each
    /// other. Only for problems with [`Self::column_domains`].
    fn restricted(&self, _restriction: &Restriction) -> Option<Arc<dyn ProblemKind>> {
        None
    }

    /// The same problem with fixed costs of 0; none where they are 0.
    fn without_fixed_costs(&self) -> Option<Arc<dyn ProblemKind>> {
        None
    }

    /// Checks a decision against the constraints, independently of any solver.
    ///
    /// # Errors
    /// The first violated constraint, as a message.
    fn check(&self, decision: &Decision) -> std::result::Result<(), String>;

    /// Whether [`Self::check`] knows all constraints of a row. Where rows have problems of their
    /// own and only a user's function knows their constraints, a decision of another row cannot be
    /// offered to a row.
    fn checks_constraints(&self) -> bool {
        true
    }

    /// Whether its solver finds optimal decisions; false for a user's function that is a heuristic.
    fn has_exact_solver(&self) -> bool {
        true
    }

    /// What a user can do whose own solver is said to be exact and returns worse decisions than
    /// others that are known; none for solvers of our own and for heuristics.
    fn heuristic_remedy(&self) -> Option<&'static str> {
        None
    }

    /// Names of the rows of a linear problem; empty for other problems.
    fn row_names(&self) -> &[String] {
        &[]
    }

    /// Names of the columns of a linear problem; empty for other problems.
    fn column_names(&self) -> &[String] {
        &[]
    }

    /// Names of the columns without predicted costs, whose values are not part of a decision;
    /// empty for most problems.
    fn auxiliary_names(&self) -> &[String] {
        &[]
    }

    /// The fixed cost of a decision ([`Decision::fixed`]) by the values of the columns without
    /// predicted costs, in the order of [`ProblemKind::auxiliary_names`].
    fn auxiliary_cost(&self, _auxiliary: &[f64]) -> f64 {
        0.0
    }

    /// Checks a decision with the values of all other columns, in the order of
    /// [`ProblemKind::auxiliary_names`]: every constraint, and the fixed cost of the decision.
    ///
    /// # Errors
    /// The first violated constraint, as a message.
    fn check_complete(
        &self,
        decision: &Decision,
        auxiliary: &[f64],
    ) -> std::result::Result<(), String> {
        if auxiliary.is_empty() {
            self.check(decision)
        } else {
            let count = auxiliary.len();
            Err(format!("{count} values of columns that do not exist"))
        }
    }
}

impl CostMatching {
    /// Matches costs with those of a problem: by name where both have names, by position otherwise.
    ///
    /// # Errors
    /// When both have names and the sets differ.
    pub fn with_problem(actual: NamedCosts<'_>, problem: &dyn ProblemKind) -> Result<Self> {
        Self::new(
            actual,
            NamedCosts {
                name: &problem.name(),
                cost_names: problem.cost_names(),
                warn_if_unnamed: problem.may_have_cost_names(),
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
