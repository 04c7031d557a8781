//! Experiments: problems × methods × seeds. Each combination is a *cell*: one training and its
//! evaluation, which are run once and stored.
//!
//! An [`Experiment`] is a TOML file; those of the paper are built in ([`Experiment::built_in`]).
//! Its problems are named ones or, built by a program, the user's problem and table
//! ([`Experiment::comparison`]). An [`ExperimentRunner`] fills a folder with one file per cell. The
//! name of a cell's file contains a hash of everything its outcome depends on, so no cell is run
//! twice and no outdated result is reused. Shards on several machines fill one folder, or folders
//! that are copied together. [`ExperimentResults`] aggregates the cells.

mod aggregate;
mod bootstrap;
mod cell;
mod cell_context;
mod cell_data;
mod example;
mod method;
mod named_problem;
mod problem_source;
mod results;
mod runner;
mod scoreboard_task;
mod seed_design;
mod spec;
mod spec_changes;
mod store;

pub use bootstrap::RegretSample;
pub use cell::{CellId, CellMetrics, CellRecord, CurvePoint};
pub use cell_data::CellData;
pub use example::{Example, ExampleDecision};
pub(crate) use example::{
    auxiliary_entries, example_decisions, example_rows, examples, shown_predictions,
};
pub use method::CellMethod;
pub use named_problem::DataFiles;
pub use results::{ExperimentResults, MethodResults, ProblemResults, Provenance};
pub use runner::ExperimentRunner;
pub use seed_design::SeedDesign;
pub use spec::{Experiment, FigureKind, PublishedResult};
pub use store::CellStore;
pub(crate) use store::{CellFiles, StoredCell, cell_key};

pub use regretless::problem::DecisionLayout;
pub use regretless_base::statistics::{ConfidenceInterval, MeanAndDeviation};
