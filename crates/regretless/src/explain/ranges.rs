//! How far each predicted cost may move alone before the decision changes.
//!
//! In this order:
//! 1. by the problem's own algorithm for exact ranges;
//! 2. for binary decisions by one solve per cost: a choice that was not made is forced, one that
//!    was made is forbidden, and the difference of the objectives is how far its cost may move; for
//!    problems with quantities and integer columns, and for functions, by solves with moved costs
//!    (`range_search`);
//! 3. by the simplex basis of the relaxation, if its optimum is the decision. These ranges are
//!    valid and may be narrower than the exact ones.

use serde::Serialize;

use super::RowCase;
use super::choices::{ChoiceSolver, is_of_solver};
use super::range_search::{RangeSearch, SearchedEnd};
use crate::decision::Decision;
use crate::error::{Error, Result};
use crate::problem::{ColumnDomain, FixedChoices, VariableBounds};
use crate::sense::Sense;
use crate::solve::SolveFailure;
use crate::solve::relaxation::{CostRangeKind, CostRanges, Relaxation};

/// Difference of a value from that of the relaxed optimum that counts as rounding, relative to the
/// largest value: the tolerance of LP solvers.
const RELAXATION_TOLERANCE: f64 = 1e-6;

/// Solves of an end of the range of a quantity that are expected, with one to spare: most take two.
const SOLVES_OF_AN_END: usize = 3;

/// How ranges were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RangeMethod {
    /// By an algorithm for exact ranges: the decision changes beyond them.
    Exact,
    /// By solves for each cost: as exact, except for ends that are marked.
    Solves,
    /// By the simplex basis of the relaxation: the decision stays within them; beyond, it may
    /// stay or change.
    Basis,
}

/// How the ranges of all costs were found, or why there are none.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RangeReport {
    /// The method; none if there are no ranges.
    pub method: Option<RangeMethod>,
    /// Why there are no ranges, or why some or all are not exact.
    pub reason: Option<String>,
    /// Solves that were needed.
    pub solves: usize,
}

/// The interval of one predicted cost.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RangeEnds {
    /// Lower end; none if the cost may fall without limit.
    pub lower: Option<f64>,
    /// Upper end; none if the cost may rise without limit.
    pub upper: Option<f64>,
    /// Whether the decision changes below the lower end. Otherwise it stays at least down to there.
    pub lower_is_exact: bool,
    /// Whether the decision changes above the upper end. Otherwise it stays at least up to there.
    pub upper_is_exact: bool,
}

/// Ranges of minimized total costs.
pub(super) struct FoundEnds {
    ranges: CostRanges,
    lower_is_exact: Vec<bool>,
    upper_is_exact: Vec<bool>,
}

impl FoundEnds {
    /// Ranges whose finite ends are all exact, or none of them.
    fn new(ranges: CostRanges, are_exact: bool) -> Self {
        let is_exact = |end: &f64| are_exact || end.is_infinite();
        Self {
            lower_is_exact: ranges.lower.iter().map(is_exact).collect(),
            upper_is_exact: ranges.upper.iter().map(is_exact).collect(),
            ranges,
        }
    }
}

/// The ranges of minimized total costs, if there are any, and how they were found.
pub(super) struct FoundRanges {
    pub(super) report: RangeReport,
    ends: Option<FoundEnds>,
}

impl FoundRanges {
    /// No ranges, for this reason.
    pub(super) fn none(reason: String) -> Self {
        Self {
            report: RangeReport {
                method: None,
                reason: Some(reason),
                solves: 0,
            },
            ends: None,
        }
    }

    /// The range of the predicted part of a cost in the user's sense.
    pub(super) fn of_cost(&self, cost: usize, case: &RowCase<'_>, known: f64) -> Option<RangeEnds> {
        let ends = self.ends.as_ref()?;
        let end = |value: f64| value.is_finite().then(|| case.stated(value) - known);
        let range = RangeEnds {
            lower: end(ends.ranges.lower[cost]),
            upper: end(ends.ranges.upper[cost]),
            lower_is_exact: ends.lower_is_exact[cost],
            upper_is_exact: ends.upper_is_exact[cost],
        };
        Some(match case.problem.sense() {
            Sense::Minimize => range,
            // A maximized cost was negated, which exchanges the ends.
            Sense::Maximize => RangeEnds {
                lower: range.upper,
                upper: range.lower,
                lower_is_exact: range.upper_is_exact,
                upper_is_exact: range.lower_is_exact,
            },
        })
    }
}

impl RowCase<'_> {
    /// The ranges of all costs, and how they were found.
    ///
    /// # Errors
    /// When a solve fails or the user interrupts.
    pub(super) fn explain_ranges(&self, solver: &ChoiceSolver<'_>) -> Result<FoundRanges> {
        if let Some(reason) = self.unproven() {
            return Ok(FoundRanges::none(format!("no ranges: {reason}")));
        }
        // The cheapest source of exact ranges first; later ones take more solves or are not exact.
        if let Some(ranges) = self.ranges_by_algorithm()? {
            return Ok(found(RangeMethod::Exact, ranges, None, 0));
        }
        let reason = match self.exact_ranges_by_solves(solver) {
            Ok(Ok(ranges)) => return Ok(ranges),
            Ok(Err(reason)) => reason,
            // A search that stopped at a limit, or a function that is not what it should be.
            Err(error) if is_of_solver(&error) => {
                return Ok(FoundRanges::none(format!("no ranges: {}", error.message())));
            }
            Err(error) => return Err(error),
        };
        match self.ranges_by_basis()? {
            Ok(ranges) => Ok(found(RangeMethod::Basis, ranges, Some(reason), 1)),
            Err(missing) => Ok(FoundRanges::none(format!("{reason}; {missing}"))),
        }
    }

    /// Exact ranges by solves, or why there are none.
    fn exact_ranges_by_solves(
        &self,
        solver: &ChoiceSolver<'_>,
    ) -> Result<std::result::Result<FoundRanges, String>> {
        if self.is_binary() {
            let count = self.present().len();
            if count > self.limit.solves {
                let limit = self.limit.exceeded_by(count);
                return Ok(Err(format!(
                    "exact ranges take a solve for each of {count} costs, {limit}"
                )));
            }
            let before = solver.solves();
            let ranges = self.ranges_of_choices(solver)?;
            let solves = solver.solves() - before;
            return Ok(Ok(found(RangeMethod::Solves, ranges, None, solves)));
        }
        let has_choices = self.domains.iter().any(ColumnDomain::is_choice);
        if !has_choices && self.problem.solver_traits().has_search_settings() {
            let reason = "the problem has no algorithm for exact ranges, and no integer columns";
            return Ok(Err(reason.into()));
        }
        let search = RangeSearch::new(solver);
        let count = search.ends.len();
        if count > self.limit.solves {
            let limit = self.limit.exceeded_by(SOLVES_OF_AN_END * count);
            return Ok(Err(format!(
                "exact ranges have {count} ends, which take about {SOLVES_OF_AN_END} solves each, \
                 {limit}"
            )));
        }
        self.ranges_of_quantities(search).map(Ok)
    }

    /// The ranges of quantities. Ends that are not reached within the limit are as far as the
    /// simplex basis or a solve shows that the decision stays.
    fn ranges_of_quantities(&self, mut search: RangeSearch<'_>) -> Result<FoundRanges> {
        search.run()?;
        let cause = if search.is_complete() {
            "beyond, a solve found no optimum".to_owned()
        } else {
            let limit = self.limit.exceeded_by(SOLVES_OF_AN_END * search.ends.len());
            format!("all take about {SOLVES_OF_AN_END} solves each, {limit}")
        };
        let is_open = |end: &SearchedEnd| !end.is_exact;
        if search.ends.iter().any(is_open)
            && let Ok(safe) = self.ranges_by_basis()?
        {
            for end in &mut search.ends {
                let safe = if end.direction > 0.0 {
                    safe.upper[end.cost]
                } else {
                    safe.lower[end.cost]
                };
                end.prove(end.direction * (safe - self.costs[end.cost]));
            }
        }
        let mut ends = FoundEnds::new(CostRanges::unbounded(self.costs.len()), true);
        for end in &search.ends {
            let value = self.costs[end.cost] + end.direction * end.distance();
            if end.direction > 0.0 {
                ends.ranges.upper[end.cost] = value;
                ends.upper_is_exact[end.cost] = end.is_exact;
            } else {
                ends.ranges.lower[end.cost] = value;
                ends.lower_is_exact[end.cost] = end.is_exact;
            }
        }
        let open = search.ends.iter().filter(|end| is_open(end)).count();
        let count = search.ends.len();
        let reason = format!(
            "{open} of {count} ends are not exact: the decision stays at least up to them; {cause}"
        );
        Ok(FoundRanges {
            report: RangeReport {
                method: Some(RangeMethod::Solves),
                reason: (open > 0).then_some(reason),
                solves: search.solves,
            },
            ends: Some(ends),
        })
    }

    /// Exact ranges by the problem's own algorithm. None if it has no such algorithm, or if that
    /// found another decision of the same objective.
    fn ranges_by_algorithm(&self) -> Result<Option<CostRanges>> {
        let limits = self.oracle.limits();
        let Some(mut ranging) = self
            .problem
            .sensitivity()
            .cost_ranging(CostRangeKind::Exact, limits)
        else {
            return Ok(None);
        };
        match ranging.ranges(&self.costs) {
            Ok(ranges) if self.are_of_decision(&ranges) => Ok(Some(ranges)),
            Ok(_) | Err(SolveFailure::Unbounded | SolveFailure::UnboundedAlong(_)) => Ok(None),
            Err(failure) => Err(Error::single_solve(failure)),
        }
    }

    /// Whether exact ranges are those of the explained decision: a choice stays while it becomes
    /// cheaper, and what is not chosen stays out while it becomes dearer.
    fn are_of_decision(&self, ranges: &CostRanges) -> bool {
        !self.is_binary()
            || (0..self.costs.len()).all(|cost| {
                if self.solution.decision.value(cost) == 0.0 {
                    ranges.upper[cost] == f64::INFINITY
                } else {
                    ranges.lower[cost] == f64::NEG_INFINITY
                }
            })
    }

    /// Exact ranges of binary decisions by one solve per cost.
    fn ranges_of_choices(&self, solver: &ChoiceSolver<'_>) -> Result<CostRanges> {
        let present = self.present();
        let is_chosen = |cost: usize| self.solution.decision.value(cost) != 0.0;
        let flip = |cost: &usize| {
            if is_chosen(*cost) {
                FixedChoices::forbid(*cost as u32)
            } else {
                FixedChoices::force(*cost as u32)
            }
        };
        let flipped: Vec<FixedChoices> = present.iter().map(flip).collect();
        let mut ranges = CostRanges::unbounded(self.costs.len());
        for (cost, solution) in present.into_iter().zip(solver.solve_all(&flipped)?) {
            // No decision has the other choice, so this cost may move without limit.
            let Some(solution) = solution else {
                continue;
            };
            let price = solver.price(&solution)?;
            if is_chosen(cost) {
                ranges.upper[cost] = self.costs[cost] + price;
            } else {
                ranges.lower[cost] = self.costs[cost] - price;
            }
        }
        Ok(ranges)
    }

    /// Ranges of the simplex basis, or why there are none.
    fn ranges_by_basis(&self) -> Result<std::result::Result<CostRanges, String>> {
        let limits = self.oracle.limits();
        let (Some(mut relaxation), Some(mut ranging)) = (
            self.problem
                .sensitivity()
                .relaxation_solver(Relaxation::Plain, limits),
            self.problem
                .sensitivity()
                .cost_ranging(CostRangeKind::Basis, limits),
        ) else {
            return Ok(Err("the problem does not have ranges of a basis".into()));
        };
        let in_solve = Error::single_solve;
        let relaxed = relaxation.relax(&self.costs).map_err(in_solve)?;
        // A basis belongs to a vertex of the relaxation. Its ranges hold for the decision only if
        // that is the vertex.
        if !self.is_decision(&relaxed.decision) {
            let reason = "the optimum of the relaxation is not the decision, so ranges of \
                its basis say nothing about the decision";
            return Ok(Err(reason.into()));
        }
        let mut ranges = ranging.ranges(&self.costs).map_err(in_solve)?;
        self.widen_at_bounds(&mut ranges);
        Ok(Ok(ranges))
    }

    /// Removes ends that only a degenerate basis has. A variable at its lower bound stays there
    /// while it becomes dearer, and one at its upper bound while it becomes cheaper: the decision
    /// gains on every other one.
    fn widen_at_bounds(&self, ranges: &mut CostRanges) {
        let bounds = self.problem.choices().bounds();
        for cost in 0..self.costs.len() {
            let [lower, upper] = match &bounds {
                VariableBounds::Binary => [0.0, 1.0],
                VariableBounds::Box { lower, upper } => [lower[cost], upper[cost]],
            };
            let value = self.solution.decision.value(cost);
            if value <= lower {
                ranges.upper[cost] = f64::INFINITY;
            }
            if value >= upper {
                ranges.lower[cost] = f64::NEG_INFINITY;
            }
        }
    }

    /// Whether a point is the decision, up to rounding. The known costs of its other columns must
    /// be the same, too: a relaxation may have the decision's values with half a set-up.
    fn is_decision(&self, point: &Decision) -> bool {
        let own = &self.solution.decision;
        let known_cost_difference = (own.fixed() - point.fixed()).abs();
        if known_cost_difference > RELAXATION_TOLERANCE * self.scale() {
            return false;
        }
        let largest = own
            .iter()
            .fold(1.0, |max: f64, (_, value)| max.max(value.abs()));
        let is_equal = |cost: usize| {
            (own.value(cost) - point.value(cost)).abs() <= RELAXATION_TOLERANCE * largest
        };
        (0..self.costs.len()).all(is_equal)
    }
}

fn found(
    method: RangeMethod,
    ranges: CostRanges,
    reason: Option<String>,
    solves: usize,
) -> FoundRanges {
    FoundRanges {
        report: RangeReport {
            method: Some(method),
            reason,
            solves,
        },
        ends: Some(FoundEnds::new(ranges, method != RangeMethod::Basis)),
    }
}
