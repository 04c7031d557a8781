//! Values and gradients of losses: golden values, finite differences, and the cost-sensitive family
//! in single precision.

mod golden;
mod golden_case;
mod gradients;
mod own;
mod single_precision;
