//! Decision-focused learning (predict-then-optimize) for combinatorial and linear problems.
//!
//! The costs of an optimization problem are unknown when the decision must be made. A predictor
//! estimates them from features, a solver turns the estimate into a decision, and what counts is
//! the *regret* of that decision: its true cost minus that of the best decision in hindsight. This
//! crate trains predictors for low regret, mainly with cost-sensitive losses that need no solver
//! call during training.
//!
//! ```
//! use regretless::{Dataset, Method, Problem, Split, Trainer};
//!
//! # fn main() -> regretless::Result<()> {
//! let problem = Problem::benchmark("KS32")?;
//! let data = Dataset::generate(&problem, 2000)?
//!     .split(Split::random(0).train(0.5).validation(0.2))?; // the rest is for testing
//! let method: Method = "MAE(O,S)".parse()?;
//! let model = Trainer::new(method).epochs(50).fit(&problem, &data)?;
//! println!("{:.2} %", 100.0 * model.evaluate(data.test())?.normalized_regret);
//! let decision = model.decide(data.test().row(0))?;
//! # assert!(!decision.indices().is_empty());
//! # Ok(())
//! # }
//! ```
//!
//! Costs, predictions and objectives enter and leave in the user's sense; inside the library every
//! problem is a minimization ([`Sense`]).
//!
//! Extension points: a custom solver ([`Problem::from_solver`]), a problem with relaxation and warm
//! starts ([`problem::ProblemKind`]), a loss ([`loss`]), progress and cancellation
//! ([`observer::Observer`]).

// Tests in the crate name its items as users do.
#[cfg(test)]
extern crate self as regretless;

use regretless_base::{
    checksummed_file, compressed, random, renamed, size_limits, statistics, verdict,
};

pub use regretless_base::{decision, error};

mod auto;
pub mod baseline;
pub mod checkpoint;
pub mod data;
pub mod evaluate;
pub mod explain;
pub mod job;
pub mod label;
pub mod loss;
pub mod method;
pub mod model;
mod note;
pub mod notes;
pub mod optimizer;
pub mod oracle;
pub mod predict;
pub mod problem;
pub mod report;
pub mod sense;
pub mod settings;
mod simd;
pub mod solve;
#[cfg(test)]
mod tests;
pub mod train;
pub mod trainer;

/// Cancellation of running solves.
pub mod cancellation {
    pub use regretless_base::cancellation::Cancellation;
    pub(crate) use regretless_base::cancellation::*;
}

/// Progress, messages and cancellation of long work.
pub mod observer {
    pub(crate) use regretless_base::observer::InterruptOnlyObserver;
    pub use regretless_base::observer::{NoopObserver, Observer};
}

/// Threads: a pool per process, and parallel loops whose results do not depend on their number.
pub mod parallel {
    pub use regretless_base::parallel::Threads;
    pub(crate) use regretless_base::parallel::*;
}

/// Untrusted text that is displayed, becomes part of a path, or is written for a spreadsheet.
pub mod text {
    pub use regretless_base::text::SafeText;
    pub(crate) use regretless_base::text::*;
}

pub use data::{Dataset, Split};
pub use decision::Decision;
pub use error::{Error, ErrorKind, Result, SolvePlace};
pub use evaluate::Evaluation;
pub use explain::{ExplainSettings, Explanation};
pub use label::{DataPart, DataSplit, Row};
pub use method::Method;
pub use model::Model;
pub use problem::Problem;
pub use sense::Sense;
pub use trainer::Trainer;
