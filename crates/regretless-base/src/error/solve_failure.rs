//! Why there is no decision, and what a failed solve was for.

use std::fmt;

/// Why there is no decision.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub enum SolveFailure {
    /// No decision satisfies the constraints.
    #[error("no decision is feasible")]
    Infeasible,
    /// No decision satisfies the constraints; the message names constraints that contradict each
    /// other.
    #[error("no decision is feasible: {0}")]
    Conflict(String),
    /// The parameters of the row define no problem.
    #[error("this row defines no valid problem: {0}")]
    InvalidParameters(String),
    /// The true costs of the row have no optimum.
    #[error("the costs of the row cannot be used: {0}")]
    UnusableCosts(String),
    /// The objective is unbounded below.
    #[error("the objective is unbounded under these costs")]
    Unbounded,
    /// The objective is unbounded below; the message names the columns that can change without
    /// limit.
    #[error("the objective is unbounded under these costs (in training, predicted ones): {0}")]
    UnboundedAlong(String),
    /// The search ended before any decision was found.
    #[error("no decision found within {nodes} nodes")]
    LimitReached {
        /// Nodes searched.
        nodes: u64,
    },
    /// The time limit was reached before any decision was found.
    #[error("no decision found within the time limit")]
    TimeLimitReached,
    /// The solver call was to be served from the solution pool, and the pool is empty.
    #[error(
        "the solution pool is empty, and the cache may not call the solver; provide training rows, \
         or let the cache solve (cache 5%)"
    )]
    EmptySolutionPool,
    /// Costs of the row have no prediction, since no training row has them; the message names them
    /// and says why no decision leaves them out.
    #[error(
        "there is no prediction of {0} (no training row has a value); mark it as absent in this \
         row, or train on rows that have it"
    )]
    Unpredicted(String),
    /// The search was canceled.
    #[error("interrupted")]
    Interrupted,
    /// The solver's decision failed the check against the constraints.
    #[error("the solver returned an invalid solution: {0}")]
    InvalidSolution(String),
    /// The solver reported an error.
    #[error("the solver failed: {0}")]
    SolverError(String),
}

impl SolveFailure {
    /// Whether the failure is a property of the row and its limits, and not of the moment: a time
    /// limit, an exception of the user's function or a failed solver may end otherwise next time.
    pub fn is_property_of_row(&self) -> bool {
        match self {
            Self::Infeasible
            | Self::Conflict(_)
            | Self::Unbounded
            | Self::UnboundedAlong(_)
            | Self::LimitReached { .. } => true,
            // Unusable costs and invalid parameters cost nothing to find out again.
            Self::InvalidParameters(_)
            | Self::UnusableCosts(_)
            | Self::TimeLimitReached
            | Self::EmptySolutionPool
            | Self::Unpredicted(_)
            | Self::Interrupted
            | Self::InvalidSolution(_)
            | Self::SolverError(_) => false,
        }
    }
}

/// What a failed solve was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SolvePlace {
    /// The only instance there is, such as that of a problem file.
    Single,
    /// A row of the table, counted from 0.
    Row(usize),
    /// The first of this many rows, all of which failed.
    FirstOfAll(usize),
}

impl fmt::Display for SolvePlace {
    /// Ends with a colon and a space, unless it is empty.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Single => Ok(()),
            Self::Row(row) => write!(f, "row {row} (counted from 0): "),
            Self::FirstOfAll(rows) => {
                write!(f, "none of the {rows} rows has a decision; the first: ")
            }
        }
    }
}
