//! Exact ranges of the costs of quantities, by solves with moved costs.
//!
//! As one cost moves, the objective of a decision is a line whose slope is the value of the cost's
//! variable, and the least objective of all decisions is the lower envelope of these lines: a
//! concave, piecewise linear function. The explained decision stays optimal until another line
//! crosses its own. A search begins beyond the end: it solves there, and moves to where the line of
//! the decision that was found crosses. If nothing is better at a crossing, it is the end (Newton's
//! method, or that of Dinkelbach for ratios). Each crossing is nearer than the one before, and
//! there are finitely many decisions with different lines, so an end that is reached is exact; it
//! takes few solves, as a decision that is found for one cost serves all.
//!
//! A search that ends before, at the limit of solves, has an end that is safe: the farthest point
//! at which a solve has shown that nothing is better. Lines of nearly the same slope are those of
//! one decision with rounded values, and a difference of objectives within the tolerance of the
//! solver is none: neither moves an end.

use std::sync::Arc;

use super::RowCase;
use super::choices::ChoiceSolver;
use super::restricted::differ;
use crate::error::{Error, Result, SolveFailure};
use crate::oracle::{Oracle, OracleWorker};
use crate::problem::{ColumnDomain, ProblemKind, Restriction, VariableBounds};
use crate::solve::{Solution, SolveStatus};

/// Solves of one end. Untuned: nearly all take two to four. Only if costs beyond the end leave no
/// optimum may a search halve its interval until then, to about a millionth.
const MAX_END_SOLVES: usize = 20;

/// How far a variable may move if the objective is unbounded, relative to its value, at least to
/// 1. Untuned: what it gains by that is far above rounding, and far below the limits of numbers.
const BOUNDED_MOVE: f64 = 100.0;

/// Growth of the distance at which a better decision is looked for. Untuned: most are found at the
/// first.
const EXPANSION: f64 = 4.0;

/// Difference of two objectives that counts as rounding of their sums, relative to the size of
/// their terms: above that of values, which have ten digits.
const SUM_ROUNDING: f64 = 1e-9;

/// Fraction by which a crossing must be nearer than the one before: below it they are the same.
const MIN_PROGRESS: f64 = 1e-6;

/// One end of the range of a cost, as a distance from the cost.
#[derive(Debug)]
pub(super) struct SearchedEnd {
    pub(super) cost: usize,
    /// 1 for the upper end, −1 for the lower one.
    pub(super) direction: f64,
    /// The value of the variable in the explained decision.
    value: f64,
    /// Up to here the decision is optimal.
    proven: f64,
    /// From here on another decision is better; infinite if none is known.
    crossing: f64,
    /// From here on there is no optimum.
    unbounded_at: f64,
    /// Where the best decision with a bounded variable was found last.
    bounded_at: f64,
    /// Whether some decision is known to gain in this direction.
    has_room: bool,
    solves: usize,
    /// Whether the end is exact: the decision changes at the crossing, or never.
    pub(super) is_exact: bool,
    /// Whether no further solve helps.
    is_given_up: bool,
}

/// A solve for an end.
#[derive(Debug, Clone, Copy)]
enum Trial {
    /// The cost moves by this distance.
    Moved(f64),
    /// The same, and the variable moves by a limited distance.
    Bounded(f64),
    /// The largest gain of any decision: the extreme value of the variable.
    Extreme,
    /// The other value of a binary column.
    Flipped,
}

/// A solve for one of the ends.
#[derive(Debug, Clone, Copy)]
struct EndTrial {
    /// The place of the end.
    place: usize,
    trial: Trial,
}

/// What a trial found.
enum TrialResult {
    /// The best decision.
    Found(Box<Solution>),
    /// No decision is feasible.
    Infeasible,
    /// There is no optimum.
    Unbounded,
    /// The search stopped at a limit without a decision.
    Stopped,
}

impl SearchedEnd {
    fn new(cost: usize, direction: f64, value: f64) -> Self {
        Self {
            cost,
            direction,
            value,
            proven: 0.0,
            crossing: f64::INFINITY,
            unbounded_at: f64::INFINITY,
            bounded_at: f64::INFINITY,
            has_room: false,
            solves: 0,
            is_exact: false,
            is_given_up: false,
        }
    }

    fn is_open(&self) -> bool {
        !self.is_exact && !self.is_given_up && self.solves < MAX_END_SOLVES
    }

    /// The next solve; `step` is the distance of the first one.
    fn next_trial(&self, step: f64) -> Trial {
        if self.unbounded_at.is_finite() && self.unbounded_at <= self.crossing {
            // With bounds on the variable, an unbounded ray ends at a decision whose line may cross
            // earlier.
            if self.unbounded_at < self.bounded_at {
                Trial::Bounded(self.unbounded_at)
            } else {
                Trial::Moved(0.5 * (self.proven + self.unbounded_at))
            }
        } else if self.crossing.is_finite() {
            Trial::Moved(self.crossing)
        } else if self.proven == 0.0 {
            Trial::Moved(step)
        } else if self.has_room {
            Trial::Moved(EXPANSION * self.proven)
        } else {
            Trial::Extreme
        }
    }

    /// How far the next solve looks: the nearest ends are searched first.
    fn reach(&self) -> f64 {
        self.crossing.min(self.unbounded_at)
    }

    /// Where the line of a decision that is worse by `price` crosses.
    fn meet(&mut self, value: f64, price: f64) {
        let gain = self.direction * (self.value - value);
        if gain > 0.0 && differ(self.value, value) {
            self.has_room = true;
            self.crossing = self.crossing.min(price / gain);
            self.is_exact |= self.proven >= self.crossing;
        }
    }

    /// Takes over that the decision is optimal up to a distance.
    pub(super) fn prove(&mut self, distance: f64) {
        self.proven = self.proven.max(distance);
        self.is_exact |= self.proven >= self.crossing;
    }

    /// The distance that is certain.
    pub(super) fn distance(&self) -> f64 {
        if self.is_exact {
            self.crossing
        } else {
            self.proven.min(self.crossing)
        }
    }
}

/// The search for all ends of the ranges of a row.
pub(super) struct RangeSearch<'a> {
    solver: &'a ChoiceSolver<'a>,
    case: &'a RowCase<'a>,
    pub(super) ends: Vec<SearchedEnd>,
    /// The problem of extreme values, if it is not that of the row.
    of_extremes: Option<Arc<dyn ProblemKind>>,
    step: f64,
    pub(super) solves: usize,
}

impl<'a> RangeSearch<'a> {
    /// All ends that the bounds of the variables leave open.
    pub(super) fn new(solver: &'a ChoiceSolver<'a>) -> Self {
        let case = solver.case();
        let bounds = case.problem.choices().bounds();
        let mut ends = Vec::new();
        for cost in case.present() {
            let [lower, upper] = match &bounds {
                VariableBounds::Binary => [0.0, 1.0],
                VariableBounds::Box { lower, upper } => [lower[cost], upper[cost]],
            };
            let value = case.solution.decision.value(cost);
            // A variable at its lower bound stays there while its cost rises.
            if value > lower {
                ends.push(SearchedEnd::new(cost, 1.0, value));
            }
            if value < upper {
                ends.push(SearchedEnd::new(cost, -1.0, value));
            }
        }
        let costs = case.costs.iter();
        let largest = costs.fold(0.0, |max: f64, cost| max.max(cost.abs()));
        Self {
            solver,
            case,
            ends,
            of_extremes: case.problem.model_parts().without_fixed_costs(),
            step: if largest > 0.0 { largest } else { 1.0 },
            solves: 0,
        }
    }

    /// Searches until all ends are exact or the limit of solves is reached.
    ///
    /// # Errors
    /// When a solve fails, decisions contradict each other, or the user interrupts.
    pub(super) fn run(&mut self) -> Result<()> {
        loop {
            let mut open: Vec<usize> = (0..self.ends.len())
                .filter(|place| self.ends[*place].is_open())
                .collect();
            // Near ends first: they say most about how firm the decision is, if not all can be
            // searched.
            open.sort_by(|a, b| {
                let [a, b] = [*a, *b].map(|place| self.ends[place].reach());
                a.total_cmp(&b)
            });
            open.truncate(self.case.limit.solves.saturating_sub(self.solves));
            if open.is_empty() {
                return Ok(());
            }
            self.round(&open)?;
        }
    }

    /// Whether no further solve helps any end.
    pub(super) fn is_complete(&self) -> bool {
        !self.ends.iter().any(SearchedEnd::is_open)
    }

    /// One solve for each of these ends.
    fn round(&mut self, open: &[usize]) -> Result<()> {
        let of_end = |place: &usize| EndTrial {
            place: *place,
            trial: self.trial(&self.ends[*place]),
        };
        let trials: Vec<EndTrial> = open.iter().map(of_end).collect();
        let results = self.solver.on_all_threads(&trials, |worker, of_end| {
            self.solve(worker, &self.ends[of_end.place], of_end.trial)
        })?;
        self.solves += trials.len();
        for (of_end, result) in trials.iter().zip(&results) {
            if let (Trial::Moved(_) | Trial::Bounded(_), TrialResult::Found(solution)) =
                (of_end.trial, result)
            {
                // Every decision found is a line that may cross those of other ends too.
                self.meet_all(solution)?;
            }
        }
        for (of_end, result) in trials.into_iter().zip(results) {
            self.ends[of_end.place].solves += 1;
            self.take(of_end.place, of_end.trial, &result)?;
        }
        Ok(())
    }

    fn trial(&self, end: &SearchedEnd) -> Trial {
        let domain = self.case.domains.get(end.cost);
        if domain.is_some_and(ColumnDomain::is_binary) {
            Trial::Flipped
        } else {
            end.next_trial(self.step)
        }
    }

    fn solve(
        &self,
        worker: &mut OracleWorker<'_>,
        end: &SearchedEnd,
        trial: Trial,
    ) -> Result<TrialResult> {
        let mut costs = self.case.costs.clone();
        let problem = match trial {
            Trial::Moved(distance) => {
                costs[end.cost] += end.direction * distance;
                None
            }
            Trial::Bounded(distance) => {
                costs[end.cost] += end.direction * distance;
                let reach = BOUNDED_MOVE * end.value.abs().max(1.0);
                let bounds = [end.value - reach, end.value + reach];
                let restriction = Restriction::of_column(end.cost as u32, bounds);
                let Some(problem) = self.case.problem.model_parts().restricted(&restriction) else {
                    return Ok(TrialResult::Infeasible);
                };
                Some(problem)
            }
            Trial::Extreme => {
                costs.fill(0.0);
                costs[end.cost] = end.direction;
                self.of_extremes.clone()
            }
            Trial::Flipped => {
                let other = 1.0 - end.value;
                let restriction = Restriction::of_column(end.cost as u32, [other, other]);
                let found = self.solver.best_restricted(&restriction)?;
                return Ok(found.map_or(TrialResult::Infeasible, |found| {
                    TrialResult::Found(Box::new(found.solution))
                }));
            }
        };
        self.solver.count_solve();
        let limits = *self.case.oracle.limits();
        let solved = match problem {
            Some(problem) => Oracle::new(problem)
                .with_limits(limits)
                .worker()
                .solve(&costs),
            None => worker.solve(&costs),
        };
        match solved {
            Ok(solution) => Ok(TrialResult::Found(Box::new(solution))),
            Err(SolveFailure::Unbounded | SolveFailure::UnboundedAlong(_)) => {
                Ok(TrialResult::Unbounded)
            }
            Err(SolveFailure::LimitReached { .. } | SolveFailure::TimeLimitReached) => {
                Ok(TrialResult::Stopped)
            }
            Err(failure) => Err(Error::single_solve(failure)),
        }
    }

    /// Meets a decision with the lines of all ends.
    fn meet_all(&mut self, solution: &Solution) -> Result<()> {
        let mut known = solution.clone();
        known.objective = known.decision.dot(&self.case.costs);
        let price = self.solver.price(&known)?;
        for end in &mut self.ends {
            if end.is_open() {
                end.meet(known.decision.value(end.cost), price);
            }
        }
        Ok(())
    }

    /// Takes over what a solve has shown about an end.
    fn take(&mut self, place: usize, trial: Trial, result: &TrialResult) -> Result<()> {
        let case = self.case;
        let end = &mut self.ends[place];
        match (trial, result) {
            (Trial::Moved(distance), TrialResult::Found(solution)) => {
                let moved = end.direction * distance * end.value;
                let least = match solution.status {
                    SolveStatus::Optimal => solution.objective,
                    SolveStatus::WithinGap(_) | SolveStatus::LimitReached => solution.bound,
                };
                let excess = case.solution.objective + moved - least;
                let has_crossed = end.crossing < distance * (1.0 - MIN_PROGRESS);
                let tolerance = if has_crossed {
                    SUM_ROUNDING * (case.scale() + moved.abs())
                } else {
                    // What is better only by rounding has no line of its own.
                    case.price_tolerance() * (1.0 + distance / self.step)
                };
                if excess <= tolerance {
                    end.prove(distance);
                } else {
                    end.is_given_up = !has_crossed;
                }
            }
            (Trial::Moved(distance), TrialResult::Unbounded) => {
                end.unbounded_at = end.unbounded_at.min(distance);
            }
            // The decision has met all ends already.
            (Trial::Bounded(distance), _) => end.bounded_at = distance,
            (Trial::Extreme, TrialResult::Found(solution)) => {
                let extreme = solution.decision.value(end.cost);
                end.has_room =
                    end.direction * (end.value - extreme) > 0.0 && differ(end.value, extreme);
                let is_proven = solution.status == SolveStatus::Optimal;
                end.is_exact = is_proven && !end.has_room;
                end.is_given_up = !is_proven && !end.has_room;
            }
            (Trial::Extreme, TrialResult::Unbounded) => end.has_room = true,
            (Trial::Flipped, TrialResult::Found(solution)) => {
                end.crossing = self.solver.price(solution)?;
                end.prove(end.crossing);
            }
            (Trial::Flipped, TrialResult::Infeasible) => end.is_exact = true,
            (_, TrialResult::Infeasible | TrialResult::Stopped | TrialResult::Unbounded) => {
                end.is_given_up = true;
            }
        }
        Ok(())
    }
}
