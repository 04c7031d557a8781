//! Losses beside the cost-sensitive family: golden values, finite differences, and what they
//! refuse.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot go on should say where"
)]

mod case;
#[path = "../common/mod.rs"]
mod common;
mod golden;
mod gradients;
mod single;
