//! Tests that combine several modules and use internals.
//!
//! Golden files hold values that other implementations computed; reference data are published
//! instances and real tables, both in `testdata`. A test whose file is missing fails.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot continue should fail at once"
)]

mod assignment;
mod cancellation;
pub(crate) mod common;
mod cost_sensitive;
mod data_check;
mod datagen;
mod equality;
mod explain;
mod fixture;
mod flows;
mod fused;
// Limits the memory of a process through /proc.
#[cfg(target_os = "linux")]
mod function_parameters;
mod fuzz;
mod graph_path;
mod highs;
mod inspection;
mod knapsack;
mod labels;
mod linear;
mod linear_changes;
mod losses;
#[path = "../../benches/measure/mod.rs"]
mod measure;
mod methods;
mod model_files;
mod multiple_choice_knapsack;
mod name_patterns;
mod newsvendor;
mod notes;
mod present;
mod problem_of_model;
mod regret;
mod renamed;
mod restricted_grids;
mod resuming;
mod routing;
mod row_problems;
mod row_weights;
mod sensitivity;
mod solvers;
mod spanning_tree;
mod storage;
mod tables;
mod training;
mod training_oracle;
mod tsp_benchmark;
mod unobserved_costs;
mod warm_start;
