//! Methods beyond their losses: on which problems they run, how their solver calls are handled,
//! and fine-tuning.

mod allocations;
mod auto;
mod fine_tuning;
mod matrix;
mod oracle_settings;
