//! Fixed choices of a binary decision: the best decision that makes some choices and leaves others
//! out, and how a problem is solved for it.
//!
//! Linear problems fix the bounds of a column. Paths close arcs and cut off the arcs that begin the
//! path (Yen 1971). Other problems add a penalty to the cost of the choice, which grows until the
//! optimum has the choice: such an optimum is the best of them whatever the penalty, and a penalty
//! above the difference of any two objectives proves that there is none.

use std::sync::Arc;

use super::{ProblemKind, VariableBounds};
use crate::decision::Decision;

/// Choices that a decision must make, and others that it must not make.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FixedChoices {
    /// Variables that must be 1; nodes of a path in the order in which it begins with them.
    pub forced: Vec<u32>,
    /// Variables that must be 0.
    pub forbidden: Vec<u32>,
}

impl FixedChoices {
    /// One choice that must be made.
    pub fn force(choice: u32) -> Self {
        Self {
            forced: vec![choice],
            forbidden: Vec::new(),
        }
    }

    /// One choice that must not be made.
    pub fn forbid(choice: u32) -> Self {
        Self {
            forced: Vec::new(),
            forbidden: vec![choice],
        }
    }

    /// Whether a decision has all forced choices and no forbidden one.
    pub fn are_met_by(&self, decision: &Decision) -> bool {
        let is_chosen = |choice: &u32| decision.value(*choice as usize) == 1.0;
        self.forced.iter().all(is_chosen) && !self.forbidden.iter().any(is_chosen)
    }

    /// Whether a choice is forced that is forbidden, or that `exists` excludes.
    pub fn contradict(&self, exists: impl Fn(u32) -> bool) -> bool {
        let is_impossible = |choice: &u32| self.forbidden.contains(choice) || !exists(*choice);
        self.forced.iter().any(is_impossible)
    }
}

/// How the best decision with fixed choices is found.
#[derive(Debug, Clone)]
pub enum ChoiceFixing {
    /// By the costs: forced choices are made cheaper and forbidden ones dearer, until the optimum
    /// has them or the change exceeds the difference of any two objectives.
    ByCosts,
    /// By a smaller problem.
    Restricted {
        /// Its decisions lack the choices in `added`.
        problem: Arc<dyn ProblemKind>,
        /// Forced choices that are part of every decision.
        added: Vec<u32>,
    },
    /// No decision has these choices.
    Infeasible,
    /// Decisions are not binary: they have no choices.
    NotBinary,
    /// There is no exact method, for this reason.
    Unsupported(&'static str),
}

impl ChoiceFixing {
    /// By a smaller problem whose decisions are those of the full one.
    pub fn restricted_to(problem: impl ProblemKind) -> Self {
        Self::Restricted {
            problem: Arc::new(problem),
            added: Vec::new(),
        }
    }

    /// Binary decisions can be fixed by costs. Bounds that are infinite on both sides are not
    /// known, as those of a user's function: whether its decisions are binary is seen from them.
    pub fn by_bounds(bounds: &VariableBounds) -> Self {
        match bounds {
            VariableBounds::Binary => Self::ByCosts,
            VariableBounds::Box { lower, upper } => {
                let is_unknown = lower.iter().all(|bound| *bound == f64::NEG_INFINITY)
                    && upper.iter().all(|bound| *bound == f64::INFINITY);
                if is_unknown {
                    Self::ByCosts
                } else {
                    Self::NotBinary
                }
            }
        }
    }
}
