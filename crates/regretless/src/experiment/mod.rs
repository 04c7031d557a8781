//! Experiments: problems × methods × seeds, each a cell that is run once and kept.
//!
//! An [`Experiment`] is a TOML file anyone can copy and change; those of the paper are built in
//! ([`Experiment::named`]). A [`ExperimentRunner`] fills a folder with one file per cell. A cell's file name
//! holds a hash over all that its outcome depends on, so that nothing is run twice and nothing old
//! is mistaken for new; shards on several machines fill the same folder, or folders that are copied
//! together. [`Results`] are what the cells say together.

mod cell;
mod example;
mod ground;
mod plan;
mod results;
mod runner;
mod statistics;
mod subject;

pub use cell::{CellMetrics, CellOutcome, CellRecord, CurvePoint};
pub use example::{Drawing, Example, ExampleDecision};
pub use plan::{Experiment, ExperimentMethod, FigureKind, PublishedResult};
pub use results::{ExperimentResults, MethodResults, ProblemResults, Provenance};
pub use runner::{ExperimentRunner, RunLimits};
pub use statistics::{ConfidenceInterval, MeanAndDeviation};
pub use subject::{DataFiles, NamedProblem};
