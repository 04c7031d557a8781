//! Methods beyond their losses: on which problems they run, how their questions are answered,
//! training on.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot go on should say where"
)]

mod allocations;
mod auto;
mod fine_tuning;
mod matrix;
mod oracle_settings;
#[path = "../common/setting.rs"]
mod setting;
