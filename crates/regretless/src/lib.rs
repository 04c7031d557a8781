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
//! Extension points: a solver of your own ([`Problem::from_solver`]), a problem with relaxation and
//! warm starts ([`problem::ProblemKind`]), a loss ([`loss`]), progress and cancellation
//! ([`observer::Observer`]).

// Tests in the crate name its items as users do.
#[cfg(test)]
extern crate self as regretless;

mod auto;
pub mod backtest;
pub mod baseline;
pub mod cancellation;
pub mod checkpoint;
mod checksummed_file;
mod compressed;
pub mod data;
pub mod decision;
pub mod error;
pub mod evaluate;
pub mod experiment;
pub mod explain;
pub mod label;
pub mod loss;
pub mod method;
pub mod model;
pub mod notes;
pub mod observer;
pub mod optimizer;
pub mod oracle;
pub mod parallel;
mod parallel_threshold;
mod planned_solves;
pub mod predict;
pub mod problem;
mod random;
mod renamed;
pub mod report;
pub mod review;
pub mod sense;
pub mod settings;
mod simd;
mod size_limits;
pub mod solve;
mod statistics;
#[cfg(test)]
mod tests;
pub mod text;
pub mod train;
pub mod trainer;

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
