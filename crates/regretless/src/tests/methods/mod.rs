//! Methods beyond their losses: on which problems they run, how their questions are answered,
//! training on.

mod allocations;
mod auto;
mod fine_tuning;
mod matrix;
mod oracle_settings;
