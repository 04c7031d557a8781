//! The k best decisions in order, enumerated with Lawler's (1972) partitioning, which is Murty's
//! (1968) for assignments and Yen's (1971) for paths.
//!
//! The decisions that are not listed yet are divided into parts by fixed choices, and the best
//! decision of each part is known. The best of them is next. Its part is divided by the first
//! choice in which a decision differs from it: the choices before are fixed as they are, this one
//! is flipped. If no decision contains another one, some choice of it is missing in every other
//! decision, so only its own choices are flipped.

use std::collections::HashSet;

use serde::Serialize;

use super::choices::{ChoiceSolver, is_of_solver};
use super::patterns::{ListEnd, PatternRanking};
use super::restricted::CompleteSolution;
use super::{ChangedValue, DEFAULT_ALTERNATIVES, NamedValue, RowCase};
use crate::error::{Error, Result};
use crate::problem::{ColumnDomain, FixedChoices};
use crate::solve::Solution;
use crate::solve::relaxation::CostRangeKind;

/// The best decisions that differ from the explained one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Alternatives {
    /// In order of their objective under the predicted costs.
    pub decisions: Vec<RankedDecision>,
    /// Whether there are no further decisions.
    pub are_all: bool,
    /// Why there are fewer than were asked for, or none.
    pub reason: Option<String>,
    /// Solves that were needed.
    pub solves: usize,
}

impl Alternatives {
    /// A list without decisions yet.
    fn empty() -> Self {
        Self {
            decisions: Vec::new(),
            are_all: false,
            reason: None,
            solves: 0,
        }
    }

    /// No decisions, for this reason.
    pub(super) fn none(reason: String) -> Self {
        Self {
            reason: Some(reason),
            ..Self::empty()
        }
    }
}

/// A decision other than the explained one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RankedDecision {
    /// Its objective under the predicted costs, known costs included.
    pub objective: f64,
    /// How much worse it is than the explained decision, under the predicted costs.
    pub price: f64,
    /// What it chooses and the explained decision does not.
    pub added: Vec<String>,
    /// What the explained decision chooses and it does not.
    pub removed: Vec<String>,
    /// Values that both have and that differ, if decisions have quantities.
    pub changed: Vec<ChangedValue>,
    /// All its choices.
    pub choices: Vec<NamedValue>,
    /// Columns whose whole cost is known, if their value is not 0; if decisions have quantities.
    pub other_columns: Vec<NamedValue>,
}

/// A part of the decisions, and the best of it.
struct DecisionPart {
    fixed: FixedChoices,
    best: Solution,
}

/// Lists decisions in order.
pub(super) struct DecisionRanking<'a> {
    solver: &'a ChoiceSolver<'a>,
    /// The costs that exist.
    present: Vec<usize>,
    parts: Vec<DecisionPart>,
    /// The part of the last decision, which is divided before the next one is found.
    last: Option<DecisionPart>,
    /// The choices of all decisions found, and of the explained one.
    seen: HashSet<Vec<u32>>,
    found: usize,
    /// The objective of the last decision.
    last_objective: f64,
    /// Parts that were solved.
    solved_parts: usize,
    max_parts: usize,
    limit_was_reached: bool,
}

impl<'a> DecisionRanking<'a> {
    /// All decisions except for the explained one.
    pub(super) fn new(solver: &'a ChoiceSolver<'a>, max_parts: usize) -> Self {
        let case = solver.case();
        Self {
            solver,
            present: case.present(),
            parts: Vec::new(),
            last: Some(DecisionPart {
                fixed: FixedChoices::default(),
                best: case.solution.clone(),
            }),
            seen: HashSet::from([case.solution.decision.indices().to_vec()]),
            found: 0,
            last_objective: case.solution.objective,
            solved_parts: 0,
            max_parts,
            limit_was_reached: false,
        }
    }

    pub(super) fn limit_was_reached(&self) -> bool {
        self.limit_was_reached
    }

    /// Decisions found so far.
    pub(super) fn found(&self) -> usize {
        self.found
    }

    /// The next decision; none if there is no other, or the limit of solves is reached.
    ///
    /// # Errors
    /// When a solve fails or the user interrupts.
    pub(super) fn next(&mut self) -> Result<Option<Solution>> {
        while let Some(solution) = self.next_of_parts()? {
            // Two parts may share a decision if a problem divides them by more than choices.
            if self.seen.insert(solution.decision.indices().to_vec()) {
                self.found += 1;
                return Ok(Some(solution));
            }
        }
        Ok(None)
    }

    /// The best decision of all parts, whose part is the last one from then on.
    fn next_of_parts(&mut self) -> Result<Option<Solution>> {
        if let Some(part) = &self.last {
            let divided = self.divide(part);
            // All parts or none: the best of some of them need not be the next decision.
            if self.solved_parts + divided.len() > self.max_parts {
                self.limit_was_reached = true;
                return Ok(None);
            }
            self.solved_parts += divided.len();
            let found = self.solver.solve_all(&divided)?;
            self.last = None;
            for (fixed, best) in divided.into_iter().zip(found) {
                if let Some(best) = best {
                    self.parts.push(DecisionPart { fixed, best });
                }
            }
        }
        let Some(best) = self.best_part() else {
            return Ok(None);
        };
        let part = self.parts.swap_remove(best);
        let solution = part.best.clone();
        let tolerance = self.solver.case().price_tolerance();
        // Parts only shrink, so objectives cannot fall from one decision to the next.
        if solution.objective < self.last_objective - tolerance {
            return Err(self.solver.contradiction());
        }
        self.last_objective = solution.objective;
        self.last = Some(part);
        Ok(Some(solution))
    }

    /// The part with the best decision. Ties go to the first in the order of choices, so the order
    /// of the list does not matter.
    fn best_part(&self) -> Option<usize> {
        let order = |a: &DecisionPart, b: &DecisionPart| {
            let objectives = a.best.objective.total_cmp(&b.best.objective);
            let choices = a.best.decision.indices().cmp(b.best.decision.indices());
            objectives.then(choices)
        };
        let parts = self.parts.iter().enumerate();
        let best = parts.min_by(|(_, a), (_, b)| order(a, b));
        best.map(|(place, _)| place)
    }

    /// Divides the decisions of a part other than its best one.
    fn divide(&self, part: &DecisionPart) -> Vec<FixedChoices> {
        let problem = &self.solver.case().problem;
        let decision = &part.best.decision;
        if let Some(parts) = problem.choices().divide_decisions(&part.fixed, decision) {
            return parts;
        }
        // The parts are disjoint: each has the choices before its own as the decision has them, and
        // its own one flipped.
        let mut forced = part.fixed.forced.clone();
        let mut divided = Vec::new();
        for choice in problem.choices().choices_in_order(decision) {
            if part.fixed.forced.contains(&choice) {
                continue;
            }
            let mut forbidden = part.fixed.forbidden.clone();
            forbidden.push(choice);
            divided.push(FixedChoices {
                forced: forced.clone(),
                forbidden,
            });
            forced.push(choice);
        }
        // See the header: only the choices of the decision itself have to be flipped.
        if !problem.geometry().may_contain_decisions() {
            return divided;
        }
        let mut forbidden = part.fixed.forbidden.clone();
        for cost in &self.present {
            let choice = *cost as u32;
            if decision.value(*cost) != 0.0 || part.fixed.forbidden.contains(&choice) {
                continue;
            }
            let mut more = forced.clone();
            more.push(choice);
            divided.push(FixedChoices {
                forced: more,
                forbidden: forbidden.clone(),
            });
            forbidden.push(choice);
        }
        divided
    }
}

impl RowCase<'_> {
    /// The best other decisions; `wanted` of them, if a number was asked for.
    ///
    /// # Errors
    /// When a number was asked for and there is no exact list, or a solve fails.
    pub(super) fn explain_alternatives(
        &self,
        solver: &ChoiceSolver<'_>,
        wanted: Option<usize>,
    ) -> Result<Alternatives> {
        match self.without_alternatives() {
            Some(error) if wanted.is_none_or(|count| count == 0) => {
                return Ok(Alternatives::none(self.missing_list(&error)));
            }
            Some(error) => return Err(error),
            None => {}
        }
        let count = wanted.unwrap_or(DEFAULT_ALTERNATIVES);
        let listed = if self.is_binary() {
            self.list_alternatives(solver, count)
        } else {
            self.list_patterns(solver, count)
        };
        match listed {
            Err(error) if wanted.is_none() && is_of_solver(&error) => {
                Ok(Alternatives::none(error.message()))
            }
            listed => listed,
        }
    }

    fn list_alternatives(&self, solver: &ChoiceSolver<'_>, wanted: usize) -> Result<Alternatives> {
        let mut alternatives = Alternatives::empty();
        let before = solver.solves();
        let mut ranking = DecisionRanking::new(solver, self.limit.solves);
        while alternatives.decisions.len() < wanted {
            let Some(solution) = ranking.next()? else {
                alternatives.are_all = !ranking.limit_was_reached;
                break;
            };
            let difference = self.difference(&solution.decision);
            alternatives.decisions.push(RankedDecision {
                objective: self.stated(solution.objective),
                price: solver.price(&solution)?,
                added: difference.added,
                removed: difference.removed,
                changed: difference.changed,
                choices: self.named_values(&solution.decision),
                other_columns: Vec::new(),
            });
        }
        alternatives.solves = solver.solves() - before;
        let found = alternatives.decisions.len();
        if ranking.limit_was_reached {
            alternatives.reason = Some(self.ended_by_limit(found, wanted));
        } else if alternatives.are_all {
            alternatives.reason = Some("there are no other decisions".into());
        }
        Ok(alternatives)
    }

    /// Why a list ends at the limit of solves.
    fn ended_by_limit(&self, found: usize, wanted: usize) -> String {
        format!(
            "the list ends after {found} of {wanted} decisions: the next one takes more than the \
             limit of {} solves; a higher max_solves lists it",
            self.limit.solves
        )
    }

    /// The best decisions with other values of the integer columns.
    fn list_patterns(&self, solver: &ChoiceSolver<'_>, wanted: usize) -> Result<Alternatives> {
        let mut alternatives = Alternatives::empty();
        let before = solver.solves();
        let mut ranking = PatternRanking::new(solver);
        while alternatives.decisions.len() < wanted {
            let found = alternatives.decisions.len();
            match ranking.next()? {
                Ok(next) => {
                    let ranked = self.ranked_pattern(solver, &next)?;
                    alternatives.decisions.push(ranked);
                    continue;
                }
                Err(ListEnd::Limit) => {
                    alternatives.reason = Some(self.ended_by_limit(found, wanted));
                }
                Err(ListEnd::Repeated) => {
                    alternatives.reason = Some(format!(
                        "the list ends after {found} of {wanted} decisions: very many values of \
                         the integer columns lead to the same quantities"
                    ));
                }
                Err(ListEnd::NoFurther) => {
                    alternatives.are_all = true;
                    let reason = "no other values of the integer columns lead to other quantities";
                    alternatives.reason = Some(reason.into());
                }
            }
            break;
        }
        alternatives.solves = solver.solves() - before;
        Ok(alternatives)
    }

    fn ranked_pattern(
        &self,
        solver: &ChoiceSolver<'_>,
        found: &CompleteSolution,
    ) -> Result<RankedDecision> {
        let difference = self.complete_difference(&found.complete);
        Ok(RankedDecision {
            objective: self.stated(found.solution.objective),
            price: solver.price(&found.solution)?,
            added: difference.added,
            removed: difference.removed,
            changed: difference.changed,
            choices: self.named_values(&found.solution.decision),
            other_columns: self.other_columns(&found.complete),
        })
    }

    /// Why there is no list that nobody asked for.
    fn missing_list(&self, error: &Error) -> String {
        let message = error.message();
        let limits = self.oracle.limits();
        let ranging = self
            .problem
            .sensitivity()
            .cost_ranging(CostRangeKind::Exact, limits);
        let is_continuous = !self.domains.is_empty() || ranging.is_some();
        if is_continuous && matches!(error, Error::Capability { .. }) {
            format!("{message}: between two quantities there is always another one")
        } else {
            message
        }
    }

    /// Why other decisions cannot be listed, if that is so.
    fn without_alternatives(&self) -> Option<Error> {
        let has_patterns = self.domains.iter().any(ColumnDomain::is_choice);
        if !self.is_binary() && !has_patterns {
            return Some(Error::Capability {
                method: "a list of other decisions".into(),
                capability: "binary decisions or integer columns",
                problem: self.problem.name(),
                remedy: "leave it out; the cost ranges say how firm the decision is".into(),
            });
        }
        if let Some(reason) = self.unproven() {
            return Some(Error::setting(format!(
                "other decisions have no price: {reason}"
            )));
        }
        None
    }
}
