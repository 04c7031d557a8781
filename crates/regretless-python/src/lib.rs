//! `regretless._core`: the library as Python classes, one file per room of the library.
//!
//! Rules of this crate: costs come in and go out in the user's sense; the interpreter is released
//! while the library works (`watch.rs`), Ctrl-C is heard and stops the work, and an exception of a
//! user's own function arrives as it was raised; arrays of float32 in C order are read where they
//! are (`arrays.rs`). Docstrings here are the documentation of the Python package.

#![allow(
    clippy::too_many_arguments,
    clippy::needless_pass_by_value,
    non_snake_case,
    reason = "arguments are Python's keywords, named as papers name them, and handed over by value"
)]

use pyo3::prelude::pymodule;

mod arrays;
mod call;
mod call_observer;
mod data;
mod error;
mod evaluate;
mod function_locks;
mod function_problem;
mod label;
mod linear;
mod loss;
mod names;
mod oracle;
mod predict;
mod problem;
mod single_precision;
mod solver;
mod train;

/// The compiled part of regretless. Import `regretless` instead.
#[pymodule]
mod _core {
    use pyo3::prelude::{Bound, PyModule, PyResult};

    #[pymodule_export]
    use super::data::generate;
    #[pymodule_export]
    use super::evaluate::{evaluate, regret};
    #[pymodule_export]
    use super::label::{Labels, label};
    #[pymodule_export]
    use super::loss::Loss;
    #[pymodule_export]
    use super::names::{column_names_of, costs_in_order};
    #[pymodule_export]
    use super::oracle::{Solution, Solutions};
    #[pymodule_export]
    use super::predict::{Model, problem_of_model};
    #[pymodule_export]
    use super::problem::Problem;
    #[pymodule_export]
    use super::solver::Solver;
    #[pymodule_export]
    use super::train::train;

    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "the name Python expects")]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    /// Makes an array, so that numpy is there before anybody can press Ctrl-C.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        drop(super::arrays::row(module.py(), vec![0.0_f32]));
        Ok(())
    }
}
