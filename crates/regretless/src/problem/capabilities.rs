//! What may be known of a problem besides its costs, its solver and its check: one trait per
//! capability, each method of which defaults to "not known".

use std::sync::Arc;

use super::{
    ChoiceFixing, ColumnDomain, EqualityConstraints, FixedChoices, ProblemKind, Restriction,
    SolverThreading, VariableBounds,
};
use crate::data::{CostNames, ParameterColumns};
use crate::decision::Decision;
use crate::solve::cone::NormalCone;
use crate::solve::relaxation::{
    AdjacentVertices, CostRangeKind, CostRanging, Relaxation, RelaxationSolver, VertexSolver,
};
use crate::solve::{SearchLimits, Solver};

/// The capabilities of a problem: `self` if its kind implements the trait, and the part of
/// [`KindCapabilities::NONE`] otherwise.
#[derive(Clone, Copy)]
pub struct KindCapabilities<'a> {
    /// The names of the costs.
    pub names: &'a dyn CostNaming,
    /// What differs between rows besides their costs.
    pub row_problems: &'a dyn RowProblems,
    /// How solvers may be called, and local searches.
    pub solver_traits: &'a dyn SolverTraits,
    /// Why costs have no optimal decision.
    pub failure_reasons: &'a dyn FailureReasons,
    /// Relaxations and cost ranges.
    pub sensitivity: &'a dyn Sensitivity,
    /// The shape of the set of decisions.
    pub geometry: &'a dyn DecisionGeometry,
    /// The values of variables, and decisions in which some of them are fixed.
    pub choices: &'a dyn Choices,
    /// The parts of a model that are not predicted.
    pub model_parts: &'a dyn ModelParts,
    /// Predicted quantities, and what a decision costs once they are known.
    pub recourse: &'a dyn Recourse,
}

impl KindCapabilities<'static> {
    /// Those of a problem of which nothing else is known.
    pub const NONE: Self = Self {
        names: &NoCapability,
        row_problems: &NoCapability,
        solver_traits: &NoCapability,
        failure_reasons: &NoCapability,
        sensitivity: &NoCapability,
        geometry: &NoCapability,
        choices: &NoCapability,
        model_parts: &NoCapability,
        recourse: &NoCapability,
    };
}

impl<'a> KindCapabilities<'a> {
    /// Those that most kinds have: names, reasons of failures, sensitivity, geometry and choices.
    pub fn of<K>(kind: &'a K) -> Self
    where
        K: CostNaming + FailureReasons + Sensitivity + DecisionGeometry + Choices,
    {
        Self {
            names: kind,
            failure_reasons: kind,
            sensitivity: kind,
            geometry: kind,
            choices: kind,
            ..KindCapabilities::NONE
        }
    }
}

struct NoCapability;

impl CostNaming for NoCapability {}
impl RowProblems for NoCapability {}
impl SolverTraits for NoCapability {}
impl FailureReasons for NoCapability {}
impl Sensitivity for NoCapability {}
impl DecisionGeometry for NoCapability {}
impl Choices for NoCapability {}
impl ModelParts for NoCapability {}
impl Recourse for NoCapability {}

/// The names of the costs of a problem.
pub trait CostNaming {
    /// Names of the costs, in order, if the problem has them.
    fn cost_names(&self) -> Option<&CostNames> {
        None
    }

    /// Whether the user could name the costs: if so, a warning is useful when named costs are
    /// matched by position.
    fn may_have_cost_names(&self) -> bool {
        self.cost_names().is_some()
    }

    /// A message for the user if numbers of the problem, such as weights, belong to costs by
    /// position and these costs have names.
    fn position_note(&self, _costs: &CostNames) -> Option<String> {
        None
    }
}

/// What differs between the rows of a table besides their costs.
pub trait RowProblems {
    /// The columns that a row's own problem is built from; empty if all rows have this problem.
    fn parameters(&self) -> &[ParameterColumns] {
        &[]
    }

    /// The problem of a row whose parameters have these values, in the order of
    /// [`RowProblems::parameters`].
    ///
    /// # Errors
    /// When there is no such problem, as a message: a capacity is negative, a target cannot be
    /// reached.
    fn row_problem(&self, _values: &[f64]) -> Result<Arc<dyn ProblemKind>, String> {
        Err("the problem has no parameters per row".into())
    }

    /// The known part of the costs of a row with these parameters, in the user's sense; `None` if
    /// costs are predicted as a whole.
    fn known_costs(&self, _values: &[f64]) -> Option<Vec<f64>> {
        None
    }

    /// Whether a part of the costs is known.
    fn has_known_costs(&self) -> bool {
        false
    }

    /// Whether rows may lack costs that this problem has.
    fn may_have_absent_costs(&self) -> bool {
        false
    }

    /// Whether the problem's check knows all constraints of a row. If rows have problems of their
    /// own and only a user's function knows their constraints, a decision of another row cannot be
    /// offered to a row.
    fn checks_constraints(&self) -> bool {
        true
    }
}

/// How the solvers of a problem may be called, and its local searches.
pub trait SolverTraits {
    /// Whether search limits, node limits and warm starts can have an effect: its solvers are those
    /// of this library, and not a user's function.
    fn has_search_settings(&self) -> bool {
        true
    }

    /// The threads on which its solvers may be called.
    fn solver_calls(&self) -> SolverThreading {
        SolverThreading::ThreadPool
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

    /// A local search for one thread, if the problem has one: good decisions, fast, without a proof
    /// of optimality.
    fn local_search(&self, _limits: &SearchLimits) -> Option<Box<dyn Solver>> {
        None
    }

    /// A local search that is several times faster and slightly worse.
    fn fast_local_search(&self, limits: &SearchLimits) -> Option<Box<dyn Solver>> {
        self.local_search(limits)
    }
}

/// Why costs have no optimal decision.
pub trait FailureReasons {
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

    /// Why true costs cannot be used, as a sentence, if that is so: called if a label was not
    /// proven optimal. A shortest path has no meaning if a cycle has a negative length.
    fn unusable_costs(&self, _costs: &[f64]) -> Option<String> {
        None
    }
}

/// Relaxations, and how far costs may change. Where one solver has all of it, a problem gives
/// [`Self::vertex_solver`], and the other methods follow from it.
pub trait Sensitivity {
    /// A solver for one thread that relaxes, has the cost ranges of a basis, and finds adjacent
    /// vertices, if the problem has one.
    fn vertex_solver(&self, _limits: &SearchLimits) -> Option<Box<dyn VertexSolver>> {
        None
    }

    /// Cost ranges of a basis of [`Relaxation::Plain`] for one thread, if the problem has them.
    fn basis_ranging(&self, limits: &SearchLimits) -> Option<Box<dyn CostRanging>> {
        let solver: Box<dyn CostRanging> = self.vertex_solver(limits)?;
        Some(solver)
    }

    /// Exact cost ranges for one thread, if the problem has them.
    fn exact_ranging(&self, _limits: &SearchLimits) -> Option<Box<dyn CostRanging>> {
        None
    }

    /// The linear relaxation for one thread, if the problem has it.
    fn relaxation_solver(
        &self,
        _kind: Relaxation,
        limits: &SearchLimits,
    ) -> Option<Box<dyn RelaxationSolver>> {
        let solver: Box<dyn RelaxationSolver> = self.vertex_solver(limits)?;
        Some(solver)
    }

    /// Cost ranges of a kind for one thread, if the problem has them.
    fn cost_ranging(
        &self,
        kind: CostRangeKind,
        limits: &SearchLimits,
    ) -> Option<Box<dyn CostRanging>> {
        match kind {
            CostRangeKind::Basis => self.basis_ranging(limits),
            CostRangeKind::Exact => self.exact_ranging(limits),
        }
    }

    /// Adjacent vertices of [`Relaxation::Plain`] for one thread, if the problem has them.
    fn adjacent_vertices(&self, limits: &SearchLimits) -> Option<Box<dyn AdjacentVertices>> {
        let solver: Box<dyn AdjacentVertices> = self.vertex_solver(limits)?;
        Some(solver)
    }
}

/// The shape of the set of decisions.
pub trait DecisionGeometry {
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

    /// Whether every decision is a vertex of [`Relaxation::Plain`], so its cone has full dimension:
    /// true if there are no integer variables or all of them are binary.
    fn has_vertex_decisions(&self) -> bool {
        true
    }

    /// Equality constraints that all decisions satisfy: adding a combination of their rows to the
    /// costs changes no decision.
    fn equality_constraints(&self) -> EqualityConstraints {
        EqualityConstraints::None
    }

    /// Whether a decision may have all choices of another one and more, as in a knapsack. It cannot
    /// if all decisions have equally many choices.
    fn may_contain_decisions(&self) -> bool {
        true
    }
}

/// The values of variables, and decisions in which some of them are fixed.
pub trait Choices {
    /// The bounds of the variables.
    fn bounds(&self) -> VariableBounds {
        VariableBounds::Binary
    }

    /// How the best decision with fixed choices is found, if decisions are binary.
    fn fix_choices(&self, _fixed: &FixedChoices) -> ChoiceFixing {
        ChoiceFixing::by_bounds(&self.bounds())
    }

    /// How the best decision is found in which the variables of some costs are 0, even if decisions
    /// are not binary: costs that exist, but have no prediction.
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
    /// one, if the problem has a division of its own.
    fn divide_decisions(
        &self,
        _fixed: &FixedChoices,
        _best: &Decision,
    ) -> Option<Vec<FixedChoices>> {
        None
    }
}

/// The parts of a linear model that are not predicted, and the file it was read from.
pub trait ModelParts {
    /// BLAKE3 of the file that the problem was read from, in hexadecimal digits, if it was read
    /// from one.
    fn file_hash(&self) -> Option<&str> {
        None
    }

    /// The content of that file, for models that hold it.
    fn file_content(&self) -> Option<&[u8]> {
        None
    }

    /// A fingerprint of what is not in the [`ProblemSpec`](super::ProblemSpec), such as the content
    /// of a file it names: stored labels are used only while it stays the same.
    fn fingerprint(&self) -> Vec<u8> {
        Vec::new()
    }

    /// Names of the rows of a linear problem; empty for other problems.
    fn row_names(&self) -> &[String] {
        &[]
    }

    /// Names of the columns of a linear problem; empty for other problems.
    fn column_names(&self) -> &[String] {
        &[]
    }

    /// The fixed cost of every decision, minimized; `None` if it differs between decisions, so a
    /// decision alone does not determine its objective.
    fn fixed_cost(&self) -> Option<f64> {
        Some(0.0)
    }

    /// Names of the columns without predicted costs that have a known cost: the level of predicted
    /// costs then matters for decisions. Empty for most problems.
    fn fixed_cost_columns(&self) -> Vec<String> {
        Vec::new()
    }

    /// Names of the columns without predicted costs, whose values are not part of a decision;
    /// empty for most problems.
    fn auxiliary_names(&self) -> &[String] {
        &[]
    }

    /// The fixed cost of a decision ([`Decision::fixed`]) by the values of the columns without
    /// predicted costs, in the order of [`ModelParts::auxiliary_names`].
    fn auxiliary_cost(&self, _auxiliary: &[f64]) -> f64 {
        0.0
    }

    /// Checks a decision, whose own constraints hold, with the values of all other columns.
    ///
    /// # Errors
    /// The first violated constraint, or a wrong fixed cost, as a message.
    fn check_auxiliary(&self, _decision: &Decision, auxiliary: &[f64]) -> Result<(), String> {
        match auxiliary.len() {
            0 => Ok(()),
            count => Err(format!("{count} values of columns that do not exist")),
        }
    }

    /// The values that the columns of a complete decision can take (predicted costs first, then
    /// [`Self::auxiliary_names`]), if [`Self::restricted`] can narrow them: linear problems.
    fn column_domains(&self) -> Option<Vec<ColumnDomain>> {
        None
    }

    /// The problem of the decisions that obey a restriction; none if its bounds contradict each
    /// other. Only for problems with [`Self::column_domains`].
    fn restricted(&self, _restriction: &Restriction) -> Option<Arc<dyn ProblemKind>> {
        None
    }

    /// The same problem with fixed costs of 0; none if they are 0.
    fn without_fixed_costs(&self) -> Option<Arc<dyn ProblemKind>> {
        None
    }
}

/// Predicted quantities, such as demands, and what a decision costs once they are known.
///
/// Predicted values are mostly objective coefficients, and the objective of a decision is their
/// inner product. Where they are quantities, a decision is made for predicted quantities, the true
/// ones become known, and the decision is corrected at a price: its objective is the cost after
/// this recourse, and the solver minimizes the same cost under the predicted quantities. Numbers
/// are minimized, as everywhere inside the library.
pub trait Recourse {
    /// Whether the predicted values are quantities and not objective coefficients.
    fn predicts_quantities(&self) -> bool {
        false
    }

    /// The objective of a decision once the true values are known.
    fn objective(&self, decision: &Decision, values: &[f64]) -> f64 {
        decision.dot(values)
    }

    /// Why true values cannot be used, as a sentence, if that is so: a negative demand.
    fn unusable_values(&self, _values: &[f64]) -> Option<String> {
        None
    }

    /// What a quantity that is predicted too low (`under`) or too high (`over`) by one unit costs,
    /// to first order at the optimal decision under the true values: the duals of the labeled
    /// solve. In the units of the user, where a forecast of 3 for 5 is too low, also in a
    /// maximization.
    fn error_prices(
        &self,
        _label: &Decision,
        _values: &[f64],
        under: &mut [f64],
        over: &mut [f64],
    ) {
        self.plain_prices(under, over);
    }

    /// The same if nothing coupled the quantities: the prices of a unit short and of a unit left.
    fn plain_prices(&self, under: &mut [f64], over: &mut [f64]) {
        under.fill(1.0);
        over.fill(1.0);
    }
}
