//! Decisions with fixed choices, and what a forced or forbidden choice costs.
//!
//! If a problem has no own means to fix a choice (`Choices::fix_choices`), the costs do it: forced
//! choices become cheaper and forbidden ones dearer by a penalty. All decisions that have the fixed
//! choices gain the same by it, so an optimum that has them is the best of them, whatever the
//! penalty. It begins small, because solvers are exact up to a tolerance that grows with the costs,
//! and grows until the optimum has the choices. Every objective lies between the optimum and the
//! sum of the positive costs: if a penalty above this distance does not suffice, no feasible
//! decision has them.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde::Serialize;

use super::ranking::DecisionRanking;
use super::{ChangedValue, RowCase};
use crate::decision::Decision;
use crate::error::{Error, Result, SolveFailure};
use crate::oracle::{Oracle, OracleWorker, SolveResult};
use crate::problem::{ChoiceFixing, ColumnDomain, FixedChoices};
use crate::solve::{Solution, SolveStatus};

/// The largest penalty, relative to the largest difference of two objectives: more than 1, so
/// rounding does not matter.
const MAX_PENALTY_FACTOR: f64 = 1.25;

/// Growth of the penalty from solve to solve. Untuned: most choices follow the first or second.
const PENALTY_GROWTH: f64 = 4.0;

/// Difference of two objectives that counts as rounding of a solver, relative to the size of their
/// terms.
const PRICE_TOLERANCE: f64 = 1e-7;

/// The same if quantities depend on integer columns: ten times the tolerance of integers and rows,
/// from which decisions may gain.
const QUANTITY_PRICE_TOLERANCE: f64 = 1e-5;

/// The choice that was forced or forbidden.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChoiceAnswer {
    /// The decision has it this way already: it costs nothing.
    AlreadyDecided,
    /// There is a decision with it, at a price.
    Possible,
    /// No feasible decision has it.
    Infeasible,
}

/// What it costs to force or forbid one choice.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FixedChoiceEffect {
    /// The name of its cost.
    pub name: String,
    /// Whether the choice is forced; otherwise it is forbidden.
    pub is_forced: bool,
    /// Whether a decision with it exists.
    pub answer: ChoiceAnswer,
    /// How much worse the best decision with it is under the predicted costs; none if there is no
    /// such decision.
    pub price: Option<f64>,
    /// Its objective under the predicted costs.
    pub objective: Option<f64>,
    /// What it chooses and the explained decision does not.
    pub added: Vec<String>,
    /// What the explained decision chooses and it does not.
    pub removed: Vec<String>,
    /// Values that both have and that differ, if decisions have quantities.
    pub changed: Vec<ChangedValue>,
}

impl FixedChoiceEffect {
    /// The explained decision has the choice this way already.
    pub(super) fn decided(case: &RowCase<'_>, name: String, is_forced: bool) -> Self {
        Self {
            name,
            is_forced,
            answer: ChoiceAnswer::AlreadyDecided,
            price: Some(0.0),
            objective: Some(case.stated(case.solution.objective)),
            added: Vec::new(),
            removed: Vec::new(),
            changed: Vec::new(),
        }
    }
}

/// Finds the best decisions of a row with fixed choices.
pub(super) struct ChoiceSolver<'a> {
    case: &'a RowCase<'a>,
    /// The first and the largest penalty, if fixing is by costs.
    first_penalty: f64,
    max_penalty: f64,
    /// Solves so far.
    solves: AtomicUsize,
    /// Whether a decision was found that is better than one that should be optimal.
    has_contradiction: AtomicBool,
}

/// The best decision with fixed choices; none if no feasible decision has them.
pub(super) type FixedSolution = Option<Solution>;

impl<'a> ChoiceSolver<'a> {
    pub(super) fn new(case: &'a RowCase<'a>) -> Self {
        let largest: f64 = case.costs.iter().filter(|cost| **cost > 0.0).sum();
        let difference = largest - case.solution.objective;
        let scale = case
            .costs
            .iter()
            .fold(0.0, |max: f64, cost| max.max(cost.abs()));
        // With costs of 0 only, any penalty above 0 separates the decisions.
        let scale = if scale > 0.0 { scale } else { 1.0 };
        Self {
            case,
            first_penalty: scale,
            max_penalty: MAX_PENALTY_FACTOR * difference.max(scale),
            solves: AtomicUsize::new(0),
            has_contradiction: AtomicBool::new(false),
        }
    }

    /// The explained row.
    pub(super) fn case(&self) -> &'a RowCase<'a> {
        self.case
    }

    /// The best decision for each list of fixed choices, on all threads.
    ///
    /// # Errors
    /// When choices cannot be fixed, a search is not exact, or the user interrupts.
    pub(super) fn solve_all(&self, all: &[FixedChoices]) -> Result<Vec<FixedSolution>> {
        self.on_all_threads(all, |worker, fixed| self.solve(worker, fixed))
    }

    /// The results of `solve` for all items, in their order.
    ///
    /// # Errors
    /// The first failure, or that the user interrupts.
    pub(super) fn on_all_threads<T: Sync, R: Send>(
        &self,
        all: &[T],
        solve: impl Fn(&mut OracleWorker<'_>, &T) -> Result<R> + Sync + Send,
    ) -> Result<Vec<R>> {
        let mut results: Vec<Option<Result<R>>> = all.iter().map(|_| None).collect();
        let oracle = &self.case.oracle;
        oracle.solver_threads().fill_slots(
            &mut results,
            || oracle.worker(),
            |worker, index, slot| {
                if !self.case.observer.interrupted() {
                    *slot = Some(solve(worker, &all[index]));
                }
            },
        );
        let results = results.into_iter();
        results
            // A slot stays empty only if the user has interrupted.
            .map(|result| result.unwrap_or(Err(Error::Interrupted)))
            .collect()
    }

    /// The best decision with fixed choices.
    fn solve(&self, worker: &mut OracleWorker<'_>, fixed: &FixedChoices) -> Result<FixedSolution> {
        let case = self.case;
        let found = match case.problem.choices().fix_choices(fixed) {
            ChoiceFixing::ByCosts => self.solve_by_costs(worker, fixed),
            ChoiceFixing::Restricted { problem, added } => {
                self.count_solve();
                let oracle = Oracle::new(problem).with_limits(*case.oracle.limits());
                let found = oracle.worker().solve(&case.costs);
                found.map(|solution| with_choices(solution, &added))
            }
            ChoiceFixing::Infeasible => return Ok(None),
            ChoiceFixing::NotBinary => return Err(case.not_binary("a fixed choice")),
            ChoiceFixing::Unsupported(reason) => return Err(self.unsupported(reason)),
        };
        match found {
            Ok(solution) => self.checked(solution, fixed),
            Err(SolveFailure::Infeasible | SolveFailure::Conflict(_)) => Ok(None),
            Err(failure) => Err(Error::single_solve(failure)),
        }
    }

    /// The optimum under penalties that grow until it has the fixed choices, or cannot have them.
    fn solve_by_costs(&self, worker: &mut OracleWorker<'_>, fixed: &FixedChoices) -> SolveResult {
        let mut penalty = self.first_penalty.min(self.max_penalty);
        loop {
            let mut costs = self.case.costs.clone();
            for choice in &fixed.forced {
                costs[*choice as usize] -= penalty;
            }
            for choice in &fixed.forbidden {
                costs[*choice as usize] += penalty;
            }
            self.count_solve();
            let solution = worker.solve(&costs)?;
            if fixed.are_met_by(&solution.decision) || penalty >= self.max_penalty {
                return Ok(solution);
            }
            penalty = (PENALTY_GROWTH * penalty).min(self.max_penalty);
        }
    }

    /// Counts one solve.
    pub(super) fn count_solve(&self) {
        self.solves.fetch_add(1, Ordering::Relaxed);
    }

    /// Solves so far.
    pub(super) fn solves(&self) -> usize {
        self.solves.load(Ordering::Relaxed)
    }

    /// A solution with its objective under the predicted costs; none if it shows that the choices
    /// cannot be fixed this way.
    fn checked(&self, mut solution: Solution, fixed: &FixedChoices) -> Result<FixedSolution> {
        if !solution.decision.is_binary() {
            return Err(self.case.not_binary("a fixed choice"));
        }
        self.require_proof(&solution)?;
        if !fixed.are_met_by(&solution.decision) {
            return Ok(None);
        }
        // The objective of the solver has the penalties in it.
        solution.objective = solution.decision.dot(&self.case.costs);
        solution.bound = solution.objective;
        Ok(Some(solution))
    }

    /// Checks that a decision with fixed choices is proven optimal.
    ///
    /// # Errors
    /// When it is not.
    pub(super) fn require_proof(&self, solution: &Solution) -> Result<()> {
        if solution.status == SolveStatus::Optimal {
            return Ok(());
        }
        let message = format!(
            "a decision with a fixed choice is not proven optimal ({}), so its price is not known",
            solution.status
        );
        Err(Error::single_solve(SolveFailure::SolverError(message)))
    }

    fn unsupported(&self, reason: &str) -> Error {
        Error::setting(format!(
            "{} cannot fix this choice: {reason}",
            self.case.problem.name()
        ))
    }

    /// How much worse a decision is than the explained one.
    ///
    /// # Errors
    /// When it is better, so the explained decision is not optimal.
    pub(super) fn price(&self, solution: &Solution) -> Result<f64> {
        let price = solution.objective - self.case.solution.objective;
        if price >= 0.0 {
            return Ok(price);
        }
        if price >= -self.case.price_tolerance() {
            return Ok(0.0);
        }
        Err(self.contradiction())
    }

    /// Whether the decisions of the solver contradict each other: the explained one is not optimal.
    pub(super) fn has_contradiction(&self) -> bool {
        self.has_contradiction.load(Ordering::Relaxed)
    }

    /// Records that decisions of the solver contradict each other, and returns the error that says
    /// so.
    pub(super) fn contradiction(&self) -> Error {
        self.has_contradiction.store(true, Ordering::Relaxed);
        inexact_solver()
    }

    /// What the forced and forbidden choices of these names cost, one at a time.
    ///
    /// # Errors
    /// When a name is unknown, decisions are not binary or not proven, or the user interrupts.
    pub(super) fn effects(
        &self,
        force: &[String],
        forbid: &[String],
    ) -> Result<Vec<FixedChoiceEffect>> {
        if force.is_empty() && forbid.is_empty() {
            return Ok(Vec::new());
        }
        let case = self.case;
        if let Some(reason) = case.unproven() {
            let message = format!("a fixed choice has no price: {reason}");
            return Err(Error::single_solve(SolveFailure::SolverError(message)));
        }
        // All names first: a typing error is found before the first solve.
        for name in force.iter().chain(forbid) {
            case.column_named(name)?;
        }
        if !case.is_binary() && case.domains.is_empty() {
            let name = force.iter().chain(forbid).next().map_or("", String::as_str);
            return Err(case
                .not_binary("a fixed choice")
                .with_capability_remedy(format!(
                    "all predicted columns must be binary for that; to price at least 1 unit of \
                 {name}, bound it below by 1 in a copy of the problem (lower = {{ {name} = 1 }} in \
                 a problem file), decide with it and compare the objectives"
                )));
        }
        let mut effects = Vec::with_capacity(force.len() + forbid.len());
        for (names, is_forced) in [(force, true), (forbid, false)] {
            for name in names {
                let column = case.column_named(name)?;
                let has_choice = case.is_binary() && (column as usize) < case.costs.len();
                effects.push(match case.domains.get(column as usize) {
                    Some(domain) if !has_choice => {
                        self.column_effect(column, *domain, is_forced)?
                    }
                    _ => self.effect(column, is_forced)?,
                });
            }
        }
        Ok(effects)
    }

    fn effect(&self, choice: u32, is_forced: bool) -> Result<FixedChoiceEffect> {
        let case = self.case;
        let is_chosen = case.solution.decision.value(choice as usize) == 1.0;
        let name = case.name(choice as usize);
        let mut effect = FixedChoiceEffect::decided(case, name, is_forced);
        if is_chosen == is_forced {
            return Ok(effect);
        }
        match self.best_with(choice, is_forced)? {
            Some(solution) => {
                effect.answer = ChoiceAnswer::Possible;
                effect.price = Some(self.price(&solution)?);
                effect.objective = Some(case.stated(solution.objective));
                let difference = case.difference(&solution.decision);
                (effect.added, effect.removed) = (difference.added, difference.removed);
            }
            None => {
                effect.answer = ChoiceAnswer::Infeasible;
                (effect.price, effect.objective) = (None, None);
            }
        }
        Ok(effect)
    }

    /// The best decision with one fixed choice. If the problem has no exact method for it, the best
    /// decisions are listed in order until one has it.
    fn best_with(&self, choice: u32, is_forced: bool) -> Result<FixedSolution> {
        let fixed = if is_forced {
            FixedChoices::force(choice)
        } else {
            FixedChoices::forbid(choice)
        };
        let ChoiceFixing::Unsupported(reason) = self.case.problem.choices().fix_choices(&fixed)
        else {
            let mut found = self.solve_all(&[fixed])?;
            return Ok(found.pop().flatten());
        };
        let mut ranking = DecisionRanking::new(self, self.case.limit.solves);
        while let Some(solution) = ranking.next()? {
            if fixed.are_met_by(&solution.decision) {
                return Ok(Some(solution));
            }
        }
        if ranking.limit_was_reached() {
            let (count, limit) = (ranking.found(), self.case.limit.solves);
            return Err(self.unsupported(reason).with_remedy(format!(
                "none of the best {count} decisions, found within {limit} solves, has it; a \
                 higher limit of solves lists more of them"
            )));
        }
        Ok(None)
    }
}

/// Whether an error says that the solver has no exact decisions with fixed choices.
pub(super) fn is_of_solver(error: &Error) -> bool {
    matches!(error, Error::Solver { .. } | Error::Capability { .. })
}

/// Why the decisions of a solver say nothing about each other.
pub(super) const INEXACT_SOLVER: &str =
    "the solver returned a better decision elsewhere: its decisions are not optimal";

/// The error of a solver whose decisions contradict each other.
fn inexact_solver() -> Error {
    Error::single_solve(SolveFailure::InvalidSolution(INEXACT_SOLVER.into()))
}

/// A solution with further choices.
fn with_choices(mut solution: Solution, added: &[u32]) -> Solution {
    if !added.is_empty() {
        let choices = solution.decision.indices().iter().chain(added).copied();
        solution.decision = Decision::from_indices(choices.collect::<Vec<u32>>());
    }
    solution
}

impl RowCase<'_> {
    /// Difference of two objectives that counts as rounding of a solver.
    pub(super) fn price_tolerance(&self) -> f64 {
        if !self.has_rounded_quantities() {
            return self.rounding() * self.scale();
        }
        // A quantity that is slightly above 0 counts in a decision of zeros, too.
        let costs = self.costs.iter();
        let largest = costs.fold(0.0, |max: f64, cost| max.max(cost.abs()));
        self.rounding() * (self.scale() + largest)
    }

    /// The same, relative to the size of the terms.
    pub(super) fn rounding(&self) -> f64 {
        if self.has_rounded_quantities() {
            QUANTITY_PRICE_TOLERANCE
        } else {
            PRICE_TOLERANCE
        }
    }

    /// Whether rounded integer columns leave quantities that are slightly wrong.
    fn has_rounded_quantities(&self) -> bool {
        let is_quantity = |domain: &ColumnDomain| !domain.is_integer;
        self.domains.iter().any(ColumnDomain::is_choice) && self.domains.iter().any(is_quantity)
    }
}

/// How a decision differs from the explained one.
pub(super) struct DecisionDifference {
    pub(super) added: Vec<String>,
    pub(super) removed: Vec<String>,
    pub(super) changed: Vec<ChangedValue>,
}

impl RowCase<'_> {
    /// The choices that a decision has and the explained one has not, and the reverse.
    pub(super) fn difference(&self, other: &Decision) -> DecisionDifference {
        let own = &self.solution.decision;
        let names = |of: &Decision, without: &Decision| {
            let only = of.iter().filter(|(cost, _)| without.value(*cost) == 0.0);
            only.map(|(cost, _)| self.name(cost)).collect()
        };
        DecisionDifference {
            added: names(other, own),
            removed: names(own, other),
            changed: Vec::new(),
        }
    }
}
