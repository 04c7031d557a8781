//! The options of the commands that train: one model, or studies of several.

use std::path::PathBuf;

use clap::Args;
use regretless::Result;
use regretless::data::{CostNames, Dataset, SplitRule};
use regretless::method::Method;
use regretless::predict::PredictorSpec;
use regretless_study::table_report::NamesFile;
use serde::{Deserialize, Serialize};

use super::data::{DataOptions, ProblemOptions};
use super::training::TrainingOptions;
use super::values::{WindowArg, one_or_many, one_or_many_methods};
use super::{ExecutionOptions, ProblemSource};

/// Options of `train`.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
pub struct TrainOptions {
    /// The table.
    #[command(flatten)]
    #[serde(flatten)]
    pub data: DataOptions,
    /// The problem.
    #[command(flatten)]
    #[serde(flatten)]
    pub problem: ProblemOptions,
    /// Method: a loss, followed by oracle settings and stages. Losses: MSE or MAE with components
    /// C, O, S, O_S, W(w), IC(k), EIC(k), tau=t; SPO+, PFYL, MAP and others. Oracle settings:
    /// 'relax', 'cache 5%' and others. 'A then B' fine-tunes with B, 'A then B lr 0.001 epochs 5'
    /// with its own learning rate and epochs. 'auto' searches over losses, predictors and learning
    /// rates by cross-validated regret and averages the best, planned for 20 CPU seconds; 'auto
    /// 300s' for longer, 'auto with NCE or MAP' also tries these [default: auto; with --benchmark
    /// MAE(O,S), the paper's]
    #[arg(long, value_name = "NAME", help_heading = "Training")]
    pub method: Option<Method>,
    /// Trained model to start from instead of random parameters. Its predictor and scalers are
    /// kept; --predictor is not used
    #[arg(long, value_name = "FILE", help_heading = "Training")]
    pub init_model: Option<PathBuf>,
    /// How the rows are divided.
    #[command(flatten)]
    #[serde(flatten)]
    pub split: SplitOptions,
    /// How to train.
    #[command(flatten)]
    #[serde(flatten)]
    pub training: TrainingOptions,
    /// Seed of the split, the initial parameters and the batches [default: 0]
    #[arg(long, value_name = "SEED", help_heading = "Training")]
    pub seed: Option<u32>,
    /// Threads, checkpoints, heuristic.
    #[command(flatten)]
    #[serde(flatten)]
    pub execution: ExecutionOptions,
    /// Model file; epochs, report and settings are written next to it [default: model.safetensors]
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub out: Option<PathBuf>,
    /// Unit of the costs, such as EUR, for the page of --report
    #[arg(long, value_name = "TEXT", help_heading = "Output")]
    pub unit: Option<String>,
    /// The page.
    #[command(flatten)]
    #[serde(flatten)]
    pub page: PageOptions,
}

/// A page about the results.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
#[command(next_help_heading = "Output")]
pub struct PageOptions {
    /// Write a page about the decisions, for people who do not know the field: one HTML file that
    /// needs no network
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// Folder for the figures of the page as SVG files
    #[arg(long, value_name = "FOLDER")]
    pub figures: Option<PathBuf>,
    /// Coordinates of nodes, to draw tours, routes, paths and trees on the page: a CSV file with
    /// the columns x and y, and node with their names
    #[arg(long, value_name = "FILE.csv")]
    pub coordinates: Option<PathBuf>,
    /// What people call the costs.
    #[command(flatten)]
    #[serde(flatten)]
    pub names: NameOptions,
}

/// Names of costs for people.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
#[command(next_help_heading = "Output")]
pub struct NameOptions {
    /// What people call the costs, for pages and explanations: a CSV file with a header such as
    /// cost,name, and in each row a cost and its name
    #[arg(long, value_name = "FILE.csv")]
    pub names: Option<PathBuf>,
}

impl NameOptions {
    /// The names of the costs of a table, if there are some.
    pub fn of_table(&self, data: &Dataset) -> Result<Option<CostNames>> {
        NamesFile::names_in(self.names.as_deref(), data)
    }
}

impl PageOptions {
    /// Whether a page is drawn.
    pub fn is_wanted(&self) -> bool {
        self.report.is_some() || self.figures.is_some()
    }
}

/// Predictor and division of the rows.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
#[command(next_help_heading = "Training")]
pub struct SplitOptions {
    /// Predictor: linear, mlp, or mlp:64,32 with its hidden layers [default: linear;
    /// auto tries several]
    #[arg(long, value_name = "KIND")]
    pub predictor: Option<PredictorSpec>,
    /// Fractions of the rows for validation and test, drawn at random (0.2 for both, or 0.2,0.1),
    /// in table order (order, or order:0.2,0.1), or by the times in a column, the latest rows for
    /// test (time:date, or time:date,0.2,0.1; ISO dates or numbers); or numbers of rows in table
    /// order for training, validation and test (1000,400,600) [default: 0.2,0.2; with --benchmark
    /// 1000,400,600]
    #[arg(long, value_name = "SPLIT")]
    pub split: Option<SplitRule>,
}

/// Options of `compare`.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
pub struct CompareOptions {
    /// The table.
    #[command(flatten)]
    #[serde(flatten)]
    pub data: DataOptions,
    /// The problem.
    #[command(flatten)]
    #[serde(flatten)]
    pub problem: ProblemOptions,
    /// Methods, separated by semicolons or given one by one, or auto. MSE always runs as the
    /// reference; least squares, the mean of the training rows and (where --split is in the order
    /// of the table) the previous row are baselines [default: auto;MSE;MAE(O,S), and SPO+ where
    /// its solves take seconds; with --benchmark MSE and MAE with every subset of C, O, S, as in
    /// the paper]
    #[arg(
        long,
        value_delimiter = ';',
        value_name = "NAMES",
        help_heading = "Training"
    )]
    #[serde(default, deserialize_with = "one_or_many_methods")]
    pub methods: Option<Vec<Method>>,
    /// Number of seeds; built-in data and random splits depend on the seed too [default: 5]
    #[arg(long, value_name = "N", help_heading = "Training")]
    pub seeds: Option<u32>,
    /// First seed [default: 0]
    #[arg(long, value_name = "SEED", help_heading = "Training")]
    pub seed: Option<u32>,
    /// How the rows are divided.
    #[command(flatten)]
    #[serde(flatten)]
    pub split: SplitOptions,
    /// How to train.
    #[command(flatten)]
    #[serde(flatten)]
    pub training: TrainingOptions,
    /// Threads, checkpoints, heuristic.
    #[command(flatten)]
    #[serde(flatten)]
    pub execution: ExecutionOptions,
    /// Folder of the results [default: the first free runs/NAME-1, runs/NAME-2, ...]
    #[arg(long, value_name = "FOLDER", help_heading = "Output")]
    pub out: Option<PathBuf>,
    /// Unit of the costs, such as EUR, for the verdict and the page
    #[arg(long, value_name = "TEXT", help_heading = "Output")]
    pub unit: Option<String>,
    /// The page, which is in the folder too.
    #[command(flatten)]
    #[serde(flatten)]
    pub page: PageOptions,
}

/// Options of `backtest`.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
pub struct BacktestOptions {
    /// The table.
    #[command(flatten)]
    #[serde(flatten)]
    pub data: DataOptions,
    /// Problem file, as generate writes it
    #[arg(long, value_name = "FILE.toml", help_heading = "Problem")]
    pub problem: Option<ProblemSource>,
    /// How the history is divided.
    #[command(flatten)]
    #[serde(flatten)]
    pub origin: OriginOptions,
    /// Methods, separated by semicolons or given one by one, or auto. Least squares, the mean of
    /// the history and the last period always run [default: auto; its searches take 20 CPU seconds
    /// together, but at least one each]
    #[arg(
        long,
        value_delimiter = ';',
        value_name = "NAMES",
        help_heading = "Methods"
    )]
    #[serde(default, deserialize_with = "one_or_many_methods")]
    pub methods: Option<Vec<Method>>,
    /// Periods of a season, such as 7 for days; the costs of a season before are then compared too
    #[arg(long, value_name = "N", help_heading = "Methods")]
    pub season: Option<usize>,
    /// Decisions that were made, to be compared: columns of the table, one for each cost, by names
    /// or patterns such as 'chosen_*'. They are matched with the costs by name, in any order, if
    /// the names differ only by what all of them begin and end with (chosen_north, c_north), else
    /// by position, with a note. Or a file with the column of --time and a column for each cost,
    /// with its name
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "COLUMNS|FILE",
        help_heading = "Methods"
    )]
    #[serde(default, deserialize_with = "one_or_many")]
    pub decisions: Option<Vec<String>>,
    /// Costs that another forecaster predicted, to be compared: a file with the column of --time
    /// and a column for each cost, or an array with a row for each row of the table; may be
    /// repeated
    #[arg(long, value_name = "NAME=FILE", help_heading = "Methods")]
    #[serde(default, deserialize_with = "one_or_many")]
    pub predictions: Option<Vec<String>>,
    /// Predictor: linear, mlp, or mlp:64,32 with its hidden layers [default: linear;
    /// auto tries several]
    #[arg(long, value_name = "KIND", help_heading = "Training")]
    pub predictor: Option<PredictorSpec>,
    /// How to train.
    #[command(flatten)]
    #[serde(flatten)]
    pub training: TrainingOptions,
    /// Seed of the initial parameters and the batches [default: 0]
    #[arg(long, value_name = "SEED", help_heading = "Training")]
    pub seed: Option<u32>,
    /// Threads, checkpoints, heuristic.
    #[command(flatten)]
    #[serde(flatten)]
    pub execution: ExecutionOptions,
    /// Unit of the costs, such as EUR, for the verdict
    #[arg(long, value_name = "TEXT", help_heading = "Output")]
    pub unit: Option<String>,
    /// Run only one of several equal shards of the trainings: 2/7 is the second of seven
    #[arg(long, value_name = "I/N", help_heading = "Output")]
    pub shard: Option<String>,
    /// Folder of the trainings and results [default: runs/backtest-NAME, with the name of the
    /// table]
    #[arg(long, value_name = "FOLDER", help_heading = "Output")]
    pub out: Option<PathBuf>,
    /// The page.
    #[command(flatten)]
    #[serde(flatten)]
    pub page: PageOptions,
}

/// How the history of a backtest is divided.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
#[command(next_help_heading = "History")]
pub struct OriginOptions {
    /// The column with the times: ISO dates, date-times or numbers. Rows of one time are one period
    #[arg(long, value_name = "COLUMN")]
    pub time: Option<String>,
    /// Periods that a model is trained on: a number, always the latest ones, or expanding, all
    /// earlier ones [default: expanding]
    #[arg(long, value_name = "N|expanding")]
    pub window: Option<WindowArg>,
    /// Periods of the first training of an expanding window [default: half of the table]
    #[arg(long, value_name = "N")]
    pub initial: Option<usize>,
    /// Periods from one training to the next [default: so many that there are at most 20]
    #[arg(long, value_name = "N")]
    pub step: Option<usize>,
    /// Periods that one model decides, at most a step [default: a step]
    #[arg(long, value_name = "N")]
    pub horizon: Option<usize>,
    /// Periods between the history and the first decided one, whose costs are not known in time
    /// [default: 0]
    #[arg(long, value_name = "N")]
    pub gap_periods: Option<usize>,
    /// Fraction of the periods of a history, the latest ones, that choose the best epoch
    /// [default: 0.2]
    #[arg(long, value_name = "FRACTION")]
    pub validation: Option<f64>,
    /// Train once, on the first window, and decide all later periods by these models
    /// [default: false]
    #[arg(
        long,
        num_args = 0..=1,
        default_missing_value = "true",
        value_name = "BOOL",
        hide_possible_values = true
    )]
    pub no_refit: Option<bool>,
    /// Start each training from the parameters of the one before [default: false]
    #[arg(
        long,
        num_args = 0..=1,
        default_missing_value = "true",
        value_name = "BOOL",
        hide_possible_values = true
    )]
    pub warm_start: Option<bool>,
}
