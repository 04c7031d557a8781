//! `regretless` trains predictors for the decisions they lead to.
//!
//! Costs of an optimisation problem are unknown when the decision must be made; a predictor
//! estimates them from features, an exact solver turns the estimate into a decision, and what
//! counts is the *regret* of that decision. One way leads through the crate:
//!
//! ```text
//! table ─read─► Dataset ─label─► Labelled ─► Loss ─► train ─► Model
//! new rows ─► Model ─► costs ─► Oracle ─► decisions
//! ```
//!
//! Each room is one module: [`data`] brings tables in, [`problem`] says what is feasible, [`solve`]
//! finds cheapest decisions, [`oracle`] runs solvers over whole tables and counts them, [`label`]
//! keeps the best decision of every instance, [`loss`] gives value and gradient, [`predict`] turns
//! features into costs, [`mod@train`] is the loop, [`mod@evaluate`] measures regret.
//!
//! Inside the library every problem is a minimisation: costs of a maximisation are negated once
//! when a table is labelled, and predictions are negated back when they leave.

// Unit tests share helpers with the integration tests, which name the crate from outside.
#[cfg(test)]
extern crate self as regretless;

pub mod cancellation;
pub mod checksummed_file;
pub mod data;
pub mod decision;
pub mod error;
pub mod evaluate;
pub mod experiment;
pub mod label;
pub mod loss;
pub mod observer;
pub mod oracle;
pub mod parallel;
pub mod predict;
pub mod problem;
pub mod random;
mod simd;
pub mod size_limits;
pub mod solve;
pub mod text;
pub mod train;

pub use decision::Decision;
pub use error::{Error, Result};
