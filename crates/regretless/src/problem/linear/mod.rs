//! Any linear problem: columns that are binary, integer or continuous, linear rows, and predicted
//! costs on all columns or on some.
//!
//! Columns without a predicted cost are *auxiliary*: they keep the objective coefficient they were
//! given, and what they cost is the fixed cost of a decision. The objective coefficients that a
//! file gives to columns with predicted costs are not used.

mod arrays;
#[cfg(feature = "highs")]
mod build;
mod file;
#[cfg(feature = "highs")]
mod problem;

pub use arrays::{LinearArrays, LinearColumn, LinearRow};
#[cfg(feature = "highs")]
pub use build::{LinearBuilder, VariableDomain};
pub(super) use file::hash_of;
pub use file::{CostColumns, LinearFile};
#[cfg(feature = "highs")]
pub use problem::LinearProblem;
