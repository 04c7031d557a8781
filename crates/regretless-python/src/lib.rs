//! `regretless._core`: the library as Python classes, one file per module of the library.
//!
//! Rules of this crate: costs have the objective sense of the user's problem, in input and output;
//! the interpreter lock is released while the library works (`call_observer.rs`); Ctrl-C stops the
//! work; an exception of a user's function is raised unchanged; arrays of float32 in C order are
//! read without a copy (`arrays.rs`). Functions take numpy arrays, texts and numbers; the Python
//! package, which is above, makes them of the tables of users, and documents what is public.

#![allow(
    clippy::too_many_arguments,
    clippy::needless_pass_by_value,
    non_snake_case,
    reason = "arguments are Python keywords, named as in papers, and passed by value"
)]

use pyo3::prelude::pymodule;

mod arrays;
mod backtest;
mod call;
mod call_observer;
mod check;
mod columns;
#[cfg(feature = "cli")]
mod command_line;
mod compare;
mod cost_sensitive;
mod data;
mod error;
mod evaluate;
mod explain;
mod fit;
mod function_checks;
mod function_locks;
mod function_problem;
mod keywords;
mod known_part;
mod label;
mod linear;
mod loss;
mod names;
mod notes;
mod observed_costs;
mod parameters;
mod predict;
mod problem;
mod results;
mod single_precision;
mod solutions;
mod solver;
mod solver_function;
mod train;

/// The compiled part of regretless. Import `regretless` instead.
#[pymodule]
mod _core {
    use pyo3::prelude::{Bound, PyModule, PyResult};

    #[pymodule_export]
    use super::arrays::NamedArray;
    #[pymodule_export]
    use super::backtest::{BacktestSource, rolling_folds, run_backtest};
    #[pymodule_export]
    use super::check::check;
    #[pymodule_export]
    use super::columns::FeatureSettings;
    #[cfg(feature = "cli")]
    #[pymodule_export]
    use super::command_line::run_command_line;
    #[pymodule_export]
    use super::compare::{comparison_splits, run_comparison};
    #[pymodule_export]
    use super::cost_sensitive::CostSensitiveSpec;
    #[pymodule_export]
    use super::data::generate;
    #[pymodule_export]
    use super::evaluate::{evaluate, evaluate_model, overlap_warning, regret};
    #[pymodule_export]
    use super::fit::run_fit;
    #[pymodule_export]
    use super::label::{Labels, label};
    #[pymodule_export]
    use super::loss::{Loss, check_loss, register_loss, set_loss_resolver};
    #[pymodule_export]
    use super::names::costs_in_order;
    #[pymodule_export]
    use super::observed_costs::{present_costs, unobserved_note};
    #[pymodule_export]
    use super::predict::{Model, problem_of_model};
    #[pymodule_export]
    use super::problem::Problem;
    #[pymodule_export]
    use super::solutions::{Solution, Solutions};
    #[pymodule_export]
    use super::solver::Solver;
    #[pymodule_export]
    use super::train::{
        default_settings, epoch_remark, epoch_rows, time_column, train, training_plan,
    };

    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "the name that Python uses")]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    /// Creates an array, so numpy is loaded before Ctrl-C can interrupt its import.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        drop(super::arrays::array1(module.py(), vec![0.0_f32]));
        regretless::loss::LossSpec::set_resolver(super::loss::resolve_loss);
        Ok(())
    }
}
