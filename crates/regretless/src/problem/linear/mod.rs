//! Any mixed-integer linear problem: binary, integer or continuous columns, linear rows, and
//! predicted costs on all columns or on some.
//!
//! Columns without a predicted cost are *auxiliary*: they keep their objective coefficient, and
//! their cost is the fixed cost of a decision. Objective coefficients in a file are ignored for
//! columns with predicted costs.

pub(super) mod arrays;
#[cfg(feature = "highs")]
mod build;
#[cfg(feature = "highs")]
mod changes;
pub(super) mod file;
#[cfg(feature = "highs")]
mod infeasibility;
#[cfg(feature = "highs")]
mod problem;
#[cfg(feature = "highs")]
mod restriction;
#[cfg(feature = "highs")]
mod rows;
#[cfg(feature = "highs")]
mod unboundedness;

pub use arrays::{LinearArrays, LinearColumn, LinearRow};
#[cfg(feature = "highs")]
pub use build::{LinearBuilder, VariableDomain};
#[cfg(feature = "highs")]
use changes::{LinearChange, LinearSlot, LinearSlots};
pub(super) use file::hash_of;
pub use file::{CostColumns, LinearFile};
#[cfg(feature = "highs")]
pub use problem::LinearProblem;
#[cfg(feature = "highs")]
use rows::LinearRows;
