//! The options of each command.

use std::path::PathBuf;

use clap::Args;
use regretless::data::SplitRule;
use regretless::predict::PredictorSpec;
use regretless::problem::Benchmark;
use regretless::train::Method;
use serde::{Deserialize, Serialize};

use super::data::{ColumnOptions, DataOptions, ProblemOptions};
use super::training::TrainingOptions;
use super::values::{FileFormat, RelaxationArg, TableFormat, one_or_many_losses};
use super::{ExecutionOptions, ProblemSource};

/// Options of `generate`.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
pub struct GenerateOptions {
    /// Benchmark: KS32 (knapsack, any number of items), SP5x5 (shortest path, any grid) or TSP20
    /// (tour, any number of nodes)
    #[arg(long, value_name = "NAME")]
    pub benchmark: Option<Benchmark>,
    /// Instances [default: 2000]
    #[arg(long, value_name = "N")]
    pub instances: Option<usize>,
    /// Features per instance [default: 5]
    #[arg(long, value_name = "N")]
    pub features: Option<usize>,
    /// Degree of the polynomial between features and costs [default: 6]
    #[arg(long, value_name = "N")]
    pub degree: Option<u32>,
    /// Half-width of the multiplicative noise [default: 0.5]
    #[arg(long, value_name = "SHARE")]
    pub noise: Option<f64>,
    /// Seed of the data, as numpy's `RandomState` takes it [default: 0]
    #[arg(long, value_name = "SEED")]
    pub seed: Option<u32>,
    /// Folder of the table and the problem; made if missing
    #[arg(long, value_name = "FOLDER", help_heading = "Output")]
    pub out: Option<PathBuf>,
    /// csv: table.csv; npy: features.npy and costs.npy [default: csv]
    #[arg(long, value_enum, value_name = "FORMAT", hide_possible_values = true)]
    pub format: Option<TableFormat>,
}

/// Options of `solve`.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
pub struct SolveOptions {
    /// Files: TSPLIB .tsp, CVRPLIB .vrp, OR-Library knapsacks, .mps and .lp models
    #[arg(value_name = "FILE")]
    #[serde(default)]
    pub files: Vec<PathBuf>,
    /// Kind of the files [default: told by name and content]
    #[arg(long, value_enum, value_name = "KIND")]
    pub kind: Option<FileFormat>,
    /// Only this problem of an OR-Library file, counted from 1 [default: all]
    #[arg(long, value_name = "N")]
    pub number: Option<usize>,
    /// Vehicles of a routing file whose name does not end in -k and their number
    #[arg(long, value_name = "N")]
    pub vehicles: Option<usize>,
    /// Whether a route may serve a single customer [default: true, as in published optima]
    #[arg(long, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL", hide_possible_values = true)]
    pub single_customer_routes: Option<bool>,
    /// Most nodes of a search tree; the best decision found by then is told with its bound
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub nodes: Option<u64>,
    /// Share of the objective by which the decision may be off [default: 0]
    #[arg(long, value_name = "SHARE", help_heading = "Limits")]
    pub gap: Option<f64>,
    /// Solve the linear relaxation instead: plain, or tight with the cuts the problem has
    /// (subtours, capacities)
    #[arg(long, value_enum, value_name = "KIND", num_args = 0..=1, default_missing_value = "plain")]
    pub relax: Option<RelaxationArg>,
    /// Write the decision: TSPLIB .tour, CVRPLIB .sol or name,value CSV; a folder where there are
    /// several problems
    #[arg(long, value_name = "PATH", help_heading = "Output")]
    pub out: Option<PathBuf>,
}

/// Options of `label`.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
pub struct LabelOptions {
    /// Where the instances come from.
    #[command(flatten)]
    #[serde(flatten)]
    pub data: DataOptions,
    /// Problem file, as generate writes it
    #[arg(long, value_name = "FILE.toml", help_heading = "Problem")]
    pub problem: Option<ProblemSource>,
    /// Label one of several equal shares of the rows only: 2/7 is the second of seven
    #[arg(long, value_name = "I/N")]
    pub shard: Option<String>,
    /// Threads.
    #[command(flatten)]
    #[serde(flatten)]
    pub execution: ExecutionOptions,
}

/// Options of `train`.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
pub struct TrainOptions {
    /// Where the instances come from.
    #[command(flatten)]
    #[serde(flatten)]
    pub data: DataOptions,
    /// What is decided.
    #[command(flatten)]
    #[serde(flatten)]
    pub problem: ProblemOptions,
    /// Loss: MSE or MAE with components C, O, S, O_S, W(w), IC(k), EIC(k), tau=t; SPO+, PFYL, MAP
    /// and others, with 'relax' or 'cache 5%' behind; 'A then B' trains on with B, 'A then B lr
    /// 0.001 epochs 5' with its own learning rate and epochs; auto races losses by validation
    /// regret and trains on with SPO+ within a plan of 60 seconds, 'auto 300s' of more [default:
    /// MAE(O,S)]
    #[arg(long, value_name = "LABEL", help_heading = "Training")]
    pub loss: Option<Method>,
    /// Trained model to start from instead of a fresh one: its predictor and scaling stay,
    /// --predictor is not used
    #[arg(long, value_name = "FILE", help_heading = "Training")]
    pub init_from: Option<PathBuf>,
    /// How the rows are divided.
    #[command(flatten)]
    #[serde(flatten)]
    pub split: SplitOptions,
    /// How to train.
    #[command(flatten)]
    #[serde(flatten)]
    pub training: TrainingOptions,
    /// Seed of the split, the first parameters and the batches [default: 0]
    #[arg(long, value_name = "SEED", help_heading = "Training")]
    pub seed: Option<u32>,
    /// Threads.
    #[command(flatten)]
    #[serde(flatten)]
    pub execution: ExecutionOptions,
    /// Model file; epochs, report and settings are written beside it [default: model.safetensors]
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub out: Option<PathBuf>,
}

/// Predictor and division of the rows.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
#[command(next_help_heading = "Training")]
pub struct SplitOptions {
    /// Predictor: linear, mlp, or mlp:64,32 with its hidden layers [default: linear]
    #[arg(long, value_name = "KIND")]
    pub predictor: Option<PredictorSpec>,
    /// Shares drawn at random to validate and test (0.2 for both, or 0.2,0.1), or rows in the order
    /// of the table to train, validate and test (1000,400,600) [default: 0.2,0.2; with --benchmark
    /// 1000,400,600]
    #[arg(long, value_name = "SHARES|ROWS")]
    pub split: Option<SplitRule>,
}

/// Options of `evaluate`.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
pub struct EvaluateOptions {
    /// Model whose predictions are judged
    #[arg(long, value_name = "FILE")]
    pub model: Option<PathBuf>,
    /// Predicted costs to judge instead of a model's (CSV or NPY, one row per instance)
    #[arg(long, value_name = "FILE")]
    pub predictions: Option<PathBuf>,
    /// Problem to decide; a model knows its own
    #[arg(long, value_name = "FILE.toml")]
    pub problem: Option<ProblemSource>,
    /// Where the instances come from.
    #[command(flatten)]
    #[serde(flatten)]
    pub data: DataOptions,
    /// Among decisions the predictions cannot tell apart, count the worst
    #[arg(long, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL", hide_possible_values = true)]
    pub unambiguous: Option<bool>,
    /// Threads.
    #[command(flatten)]
    #[serde(flatten)]
    pub execution: ExecutionOptions,
}

/// Options of `decide`.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
pub struct DecideOptions {
    /// Model that predicts
    #[arg(long, value_name = "FILE")]
    pub model: Option<PathBuf>,
    /// New rows (CSV or NPY): the features the model was trained on
    #[arg(long, value_name = "FILE")]
    pub data: Option<PathBuf>,
    /// Which columns name instances and items.
    #[command(flatten)]
    #[serde(flatten)]
    pub columns: ColumnOptions,
    /// Problem to decide, if not the one the model was trained for
    #[arg(long, value_name = "FILE.toml")]
    pub problem: Option<ProblemSource>,
    /// Decisions (CSV or NPY)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub out: Option<PathBuf>,
    /// Write one row (instance, item, value) per entry that is not zero; CSV only
    #[arg(long, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL", hide_possible_values = true, help_heading = "Output")]
    pub sparse: Option<bool>,
    /// Write the predicted costs too (CSV or NPY)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub predictions_out: Option<PathBuf>,
    /// Threads.
    #[command(flatten)]
    #[serde(flatten)]
    pub execution: ExecutionOptions,
}

/// Options of `reproduce`.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
pub struct ReproduceOptions {
    /// Experiments: components, weighting, scale, energy, solves, front, auto, or files like them
    /// [default: components; with --smoke: all]
    #[arg(value_name = "NAME|FILE.toml")]
    #[serde(default)]
    pub experiments: Vec<String>,
    /// Print the text of these experiments instead of running them: a start for one's own
    #[arg(long)]
    #[serde(skip)]
    pub show: bool,
    /// Everything tiny: seeds, rows, epochs and problems; shows in a minute that all of it runs
    #[arg(long, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL", hide_possible_values = true)]
    pub smoke: Option<bool>,
    /// Only these problems and methods, separated by semicolons; the reference always runs
    #[arg(long, value_delimiter = ';', value_name = "NAMES")]
    #[serde(default)]
    pub only: Vec<String>,
    /// Fewer or more seeds than the experiment has
    #[arg(long, value_name = "N")]
    pub seeds: Option<u32>,
    /// Begin no further cell after this long (90s, 30m, 2h); the next call goes on
    #[arg(long, value_name = "TIME")]
    pub budget: Option<String>,
    /// Run one of several equal shares of problems and seeds only: 2/7 is the second of seven
    #[arg(long, value_name = "I/N")]
    pub shard: Option<String>,
    /// California housing for CAKS problems: the classic nine columns or scikit-learn's
    #[arg(long, value_name = "FILE")]
    pub california: Option<PathBuf>,
    /// Irish energy data for ENERGY problems: a folder with prices2013.dat, load1/day01.txt and so
    /// on
    #[arg(long, value_name = "FOLDER")]
    pub energy: Option<PathBuf>,
    /// Folder of cells, tables, figures and report, one folder per experiment [default: runs]
    #[arg(long, value_name = "FOLDER", help_heading = "Output")]
    pub out: Option<PathBuf>,
    /// Threads.
    #[command(flatten)]
    #[serde(flatten)]
    pub execution: ExecutionOptions,
}

/// Options of `compare`.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
pub struct CompareOptions {
    /// Where the instances come from.
    #[command(flatten)]
    #[serde(flatten)]
    pub data: DataOptions,
    /// What is decided.
    #[command(flatten)]
    #[serde(flatten)]
    pub problem: ProblemOptions,
    /// Losses, separated by semicolons or given one by one, or auto; MSE always runs as the
    /// reference, and least squares, the mean of the training rows and (where --split goes in table
    /// order) the previous row as baselines [default: MSE and MAE with every choice of C, O, S]
    #[arg(
        long,
        alias = "loss",
        value_delimiter = ';',
        value_name = "LABELS",
        help_heading = "Training"
    )]
    #[serde(default, deserialize_with = "one_or_many_losses")]
    pub losses: Option<Vec<Method>>,
    /// How many seeds; data and split follow the seed too [default: 5]
    #[arg(long, value_name = "N", help_heading = "Training")]
    pub seeds: Option<u32>,
    /// The first seed [default: 0]
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
    /// Threads.
    #[command(flatten)]
    #[serde(flatten)]
    pub execution: ExecutionOptions,
    /// Folder of the results [default: the first free runs/NAME-1, runs/NAME-2, ...]
    #[arg(long, value_name = "FOLDER", help_heading = "Output")]
    pub out: Option<PathBuf>,
}
