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
mod named_problem;
mod results;
mod runner;
mod spec;
mod statistics;

pub use cell::{CellMetrics, CellOutcome, CellRecord, CurvePoint};
pub use example::{Drawing, Example, ExampleDecision};
pub use named_problem::{DataFiles, NamedProblem};
pub use results::{ExperimentResults, MethodResults, ProblemResults, Provenance};
pub use runner::{ExperimentRunner, RunLimits};
pub use spec::{Experiment, ExperimentMethod, FigureKind, PublishedResult};
pub use statistics::{ConfidenceInterval, MeanAndDeviation};
