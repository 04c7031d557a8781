//! Options of `fit`.

use std::path::PathBuf;

use clap::Args;
use regretless::method::Method;
use serde::{Deserialize, Serialize};

use super::data::{ColumnOptions, CsvOptions, EncodingOptions, ParameterOptions, ProblemSource};
use super::values::{one_or_many, one_or_many_paths};
use super::{ExecutionOptions, NameOptions};

/// Options of `fit`.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
pub struct FitOptions {
    /// The table: CSV, also compressed, or Parquet, with a row per decision; several tables with
    /// the same columns are joined, one after the other
    #[arg(value_name = "TABLE")]
    #[serde(default, deserialize_with = "one_or_many_paths")]
    pub table: Option<Vec<PathBuf>>,
    /// Problem file
    #[arg(long, value_name = "FILE.toml", help_heading = "Problem")]
    pub problem: Option<ProblemSource>,
    /// An example on real data instead of a table and a problem: battery, machine or houses
    #[arg(long, value_name = "NAME", help_heading = "Problem")]
    pub example: Option<String>,
    /// What the columns are.
    #[command(flatten)]
    #[serde(flatten)]
    pub roles: RoleOptions,
    /// How texts, dates and gaps become features.
    #[command(flatten)]
    #[serde(flatten)]
    pub encoding: EncodingOptions,
    /// Columns of a long table.
    #[command(flatten)]
    #[serde(flatten)]
    pub columns: ColumnOptions,
    /// Long table: the column with the cost [default: cost]
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    pub cost_column: Option<String>,
    /// Row parameters in files of their own.
    #[command(flatten)]
    #[serde(flatten)]
    pub parameter_files: ParameterOptions,
    /// How CSV files are written.
    #[command(flatten)]
    #[serde(flatten)]
    pub csv: CsvOptions,
    /// The method that is compared with least squares and the other baselines [default: auto with
    /// the budget]
    #[arg(long, value_name = "NAME", help_heading = "Training")]
    pub method: Option<Method>,
    /// CPU seconds that all searches of auto may take together, counted by work, so results do not
    /// depend on the machine [default: 20]
    #[arg(long, value_name = "SECONDS", help_heading = "Training")]
    pub budget: Option<f64>,
    /// Periods of a season, such as 7 for days; the costs of a season before are then compared too
    #[arg(long, value_name = "N", help_heading = "Training")]
    pub season: Option<usize>,
    /// Periods between a decision and the last period whose costs are known when it is made
    /// [default: 1]
    #[arg(long, value_name = "N", help_heading = "Training")]
    pub horizon: Option<usize>,
    /// Seed of folds, initial parameters and batches [default: 0]
    #[arg(long, value_name = "SEED", help_heading = "Training")]
    pub seed: Option<u32>,
    /// Threads, checkpoints, heuristic.
    #[command(flatten)]
    #[serde(flatten)]
    pub execution: ExecutionOptions,
    /// Write new-rows.csv for the decision after the last row with costs, and stop: the model of an
    /// earlier run decides it
    #[arg(long, help_heading = "Output")]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rows_only: bool,
    /// Unit of the costs, such as EUR, for the verdict and the page
    #[arg(long, value_name = "TEXT", help_heading = "Output")]
    pub unit: Option<String>,
    /// Title of the page [default: a question about the table]
    #[arg(long, value_name = "TEXT", help_heading = "Output")]
    pub title: Option<String>,
    /// What people call the costs.
    #[command(flatten)]
    #[serde(flatten)]
    pub names: NameOptions,
    /// Folder of the model, the page and all results [default: runs/fit-NAME, with the name of the
    /// table]
    #[arg(long, value_name = "FOLDER", help_heading = "Output")]
    pub out: Option<PathBuf>,
}

/// What columns are, if names and values do not say so.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
#[command(next_help_heading = "Columns")]
pub struct RoleOptions {
    /// Costs, by name or pattern such as 'c*' [default: the columns named after the problem's
    /// costs, or the only group of as many columns with names that are alike]
    #[arg(long, value_delimiter = ',', value_name = "COLUMNS")]
    #[serde(default, deserialize_with = "one_or_many")]
    pub costs: Option<Vec<String>>,
    /// Times of the rows, or none [default: the only column of dates]
    #[arg(long, value_name = "COLUMN")]
    pub time: Option<String>,
    /// Columns that name the rows, such as order numbers, or none: they are no features, and label
    /// rows [default: texts and whole numbers called id with another value in every row]
    #[arg(long, value_delimiter = ',', value_name = "COLUMNS")]
    #[serde(default, deserialize_with = "one_or_many")]
    pub keys: Option<Vec<String>>,
    /// Decisions that were made, one column for each cost, or none [default: columns named after
    /// the costs that are 0 and 1, or mostly 0, if all rows are feasible]
    #[arg(long, value_delimiter = ',', value_name = "COLUMNS")]
    #[serde(default, deserialize_with = "one_or_many")]
    pub decisions: Option<Vec<String>>,
    /// Forecasts of the costs, one column for each, which are compared as they are and features,
    /// too, or none [default: the only other columns named after the costs]
    #[arg(long, value_delimiter = ',', value_name = "COLUMNS")]
    #[serde(default, deserialize_with = "one_or_many")]
    pub forecasts: Option<Vec<String>>,
    /// Features, by name or pattern [default: all other columns that tell rows apart]
    #[arg(long, value_delimiter = ',', value_name = "COLUMNS")]
    #[serde(default, deserialize_with = "one_or_many")]
    pub features: Option<Vec<String>>,
    /// Costs of how many periods before are features, such as 1,7, or none; only where times are
    /// regular [default: 1 and a season, if there are ten rows for each column]
    #[arg(long, value_delimiter = ',', value_name = "PERIODS")]
    #[serde(default, deserialize_with = "one_or_many")]
    pub lags: Option<Vec<String>>,
    /// Columns to ignore, by name or pattern
    #[arg(long, value_delimiter = ',', value_name = "COLUMNS")]
    #[serde(default, deserialize_with = "one_or_many")]
    pub ignore: Option<Vec<String>>,
}
