//! Losses beside the cost-sensitive family: golden values, finite differences, and what they
//! refuse.

mod case;
mod golden;
mod gradients;
mod single;
