//! From a table to a verdict, a model and a page in one call.
//!
//! ```text
//! columns ─► roles ─► labeled rows ─► folds ─► verdict ─► model ─► page
//! ```
//!
//! With times, folds are a rolling origin: models decide later periods only. Without, they are
//! those of a cross-validation. The verdict is that of a backtest on these folds; the model is that
//! of the method which the verdict is about, fitted again to all rows, or of least squares if no
//! method is better.

mod calendar;
mod card;
mod command;
mod conclusion;
mod example;
mod folder;
mod joined;
mod lags;
mod next_rows;
mod past;
mod per_cost;
mod plan;
mod roles;
mod run;
mod table;
mod table_copy;

pub use command::FitCommand;
pub use conclusion::FitVerdict;
pub use example::{ExampleColumns, ExampleFiles, FIT_EXAMPLES, FitExample};
pub use folder::{FitFiles, SETTINGS_FILE_NAME};
pub use joined::{JOINED_TABLE_FILE_NAME, RowFile};
pub use next_rows::NextRows;
pub use plan::FitPlan;
pub use roles::{FoundCosts, NO_COLUMN, ProblemColumnNames, StatedRoles, TableRoles, UnusedColumn};
pub use run::{
    CARD_FILE_NAME, FitResults, LAGGED_FILE_NAME, MODEL_FILE_NAME, NEW_ROWS_FILE_NAME,
    PAGE_FILE_NAME,
};
pub use table::FitTable;

use std::path::PathBuf;

use regretless::data::{CsvDialect, FeatureOptions};
use regretless::method::{AutoBudget, Method};
use regretless::oracle::Heuristic;
use regretless::problem::ProblemSpec;
use regretless::solve::SearchLimits;

/// What is fitted, and how.
#[derive(Debug, Clone)]
pub struct FitSettings {
    /// The files as the user named them.
    pub files: FitFiles,
    /// The table: a CSV or Parquet file.
    pub file: PathBuf,
    /// How the file is written.
    pub dialect: CsvDialect,
    /// Files of row parameters.
    pub parameters: Vec<String>,
    /// How texts, dates and gaps become features.
    pub features: FeatureOptions,
    /// The problem; the number of its items may depend on the table.
    pub problem: ProblemSpec,
    /// What the user said about columns.
    pub roles: StatedRoles,
    /// The call, for the page and for errors that show how to say which role a column has.
    pub command: FitCommand,
    /// The method that is compared with the baselines; `auto` by default.
    pub method: Option<Method>,
    /// Processor seconds that the searches of `auto` take together.
    pub budget: f64,
    /// Seed of folds, initial parameters and batches.
    pub seed: u32,
    /// Periods of a season; the costs of a season before are then compared, too.
    pub season: Option<usize>,
    /// The costs of how many periods before are features: none for those that the table allows.
    pub lags: Option<Vec<usize>>,
    /// Periods between a decision and the last period whose costs are known.
    pub horizon: usize,
    /// The unit of costs, such as EUR.
    pub unit: Option<String>,
    /// The title of the page.
    pub title: Option<String>,
    /// The folder of the results.
    pub folder: PathBuf,
    /// Threads; 0 means one per core. Results do not depend on it.
    pub threads: usize,
    /// Limits of the search for a decision.
    pub limits: SearchLimits,
    /// A heuristic instead of exact solves.
    pub heuristic: Option<Heuristic>,
}

impl FitSettings {
    /// Processor seconds of all searches unless the user gives others.
    pub const DEFAULT_BUDGET: f64 = AutoBudget::DEFAULT_SECONDS;

    /// The default settings for a table and a problem.
    pub fn new(file: PathBuf, problem: ProblemSpec, folder: PathBuf, command: FitCommand) -> Self {
        Self {
            files: FitFiles {
                tables: vec![file.clone()],
                ..FitFiles::default()
            },
            file,
            dialect: CsvDialect::default(),
            parameters: Vec::new(),
            features: FeatureOptions::default(),
            problem,
            roles: StatedRoles::default(),
            command,
            method: None,
            budget: Self::DEFAULT_BUDGET,
            seed: 0,
            season: None,
            lags: None,
            horizon: 1,
            unit: None,
            title: None,
            folder,
            threads: 0,
            limits: SearchLimits::default(),
            heuristic: None,
        }
    }
}
