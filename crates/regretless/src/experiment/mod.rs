//! Experiments: problems × methods × seeds, each combination a cell that is run once and stored.
//!
//! An [`Experiment`] is a TOML file; those of the paper are built in ([`Experiment::built_in`]). An
//! [`ExperimentRunner`] fills a folder with one file per cell. The name of a cell's file contains a
//! hash of everything its outcome depends on, so that no cell is run twice and no outdated result
//! is reused. Shards on several machines fill one folder, or folders that are copied together.
//! [`ExperimentResults`] aggregates the cells.

mod cell;
mod cell_data;
mod example;
mod problem_source;
mod results;
mod runner;
mod spec;
mod statistics;

pub use cell::{CellMetrics, CellOutcome, CellRecord, CurvePoint};
pub use example::{DecisionLayout, Example, ExampleDecision};
pub use problem_source::{DataFiles, ProblemSource};
pub use results::{ExperimentResults, MethodResults, ProblemResults, Provenance};
pub use runner::{ExperimentRunner, RunLimits};
pub use spec::{Experiment, ExperimentMethod, FigureKind, PublishedResult};
pub use statistics::{ConfidenceInterval, MeanAndDeviation};
