//! The options of each command.

use std::path::PathBuf;

use clap::Args;
use regretless::data::SplitRule;
use regretless::problem::Benchmark;
use serde::{Deserialize, Serialize};

use super::data::{ColumnOptions, CsvOptions, DataOptions, ParameterOptions};
use super::values::{FileFormat, GeneratedFormat, RelaxationArg, ResultFormat};
use super::{ExecutionOptions, LimitOptions, NameOptions, ProblemSource};

/// Options of `generate`.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
pub struct GenerateOptions {
    /// Benchmark: KS32 (knapsack, any number of items), SP5x5 (grid shortest path, any size), TSP20
    /// (traveling salesperson, any number of nodes) or CVRP20 (vehicle routing, any number of
    /// customers)
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
    #[arg(long, value_name = "FRACTION")]
    pub noise: Option<f64>,
    /// Seed of the data, as numpy's `RandomState` takes it [default: 0]
    #[arg(long, value_name = "SEED")]
    pub seed: Option<u32>,
    /// Folder of the table and the problem; created if missing
    #[arg(long, value_name = "FOLDER", help_heading = "Output")]
    pub out: Option<PathBuf>,
    /// csv: table.csv; npy: features.npy and costs.npy [default: csv]
    #[arg(long, value_enum, value_name = "FORMAT", hide_possible_values = true)]
    pub format: Option<GeneratedFormat>,
}

/// Options of `solve`.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
pub struct SolveOptions {
    /// Files: TSPLIB .tsp, CVRPLIB .vrp, OR-Library knapsacks, .mps and .lp models; all may be
    /// compressed (.gz, .bz2)
    #[arg(value_name = "FILE")]
    #[serde(default)]
    pub files: Vec<PathBuf>,
    /// Format of the files [default: recognized by name and content]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub file_format: Option<FileFormat>,
    /// Only this problem of an OR-Library file, counted from 1 [default: all]
    #[arg(long, value_name = "N")]
    pub problem_number: Option<usize>,
    /// Vehicles of a routing file whose name does not end in -k and their number
    #[arg(long, value_name = "N")]
    pub vehicles: Option<usize>,
    /// Whether a route may serve a single customer [default: true, as in published optima]
    #[arg(
        long,
        num_args = 0..=1,
        default_missing_value = "true",
        value_name = "BOOL",
        hide_possible_values = true
    )]
    pub single_customer_routes: Option<bool>,
    /// Solve the LP relaxation instead: plain, or tight with the cuts of the problem (subtours,
    /// rounded capacities)
    #[arg(long, value_enum, value_name = "KIND", num_args = 0..=1, default_missing_value = "plain")]
    pub relax: Option<RelaxationArg>,
    /// Limits of each search.
    #[command(flatten)]
    #[serde(flatten)]
    pub limits: LimitOptions,
    /// Write the decision: TSPLIB .tour, CVRPLIB .sol or name,value CSV of nonzero values; a folder
    /// if there are several problems; - writes to standard output
    #[arg(long, value_name = "PATH", help_heading = "Output")]
    pub out: Option<PathBuf>,
}

/// Options of `check`.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
pub struct CheckOptions {
    /// The table.
    #[command(flatten)]
    #[serde(flatten)]
    pub data: DataOptions,
    /// Problem file; with it, features that leak the best objective are found too, which solves
    /// every row once
    #[arg(long, value_name = "FILE.toml", help_heading = "Problem")]
    pub problem: Option<ProblemSource>,
    /// The split of the rows that train would use, for drift between its parts
    /// [default: 0.2,0.2]
    #[arg(long, value_name = "SPLIT")]
    pub split: Option<SplitRule>,
    /// Seed of a random split [default: 0]
    #[arg(long, value_name = "N")]
    pub seed: Option<u32>,
    /// Threads, checkpoints, heuristic.
    #[command(flatten)]
    #[serde(flatten)]
    pub execution: ExecutionOptions,
}

/// Options of `label`.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
pub struct LabelOptions {
    /// The table.
    #[command(flatten)]
    #[serde(flatten)]
    pub data: DataOptions,
    /// Problem file, as generate writes it
    #[arg(long, value_name = "FILE.toml", help_heading = "Problem")]
    pub problem: Option<ProblemSource>,
    /// Label only one of several equal shards of the rows: 2/7 is the second of seven
    #[arg(long, value_name = "I/N")]
    pub shard: Option<String>,
    /// Threads, checkpoints, heuristic.
    #[command(flatten)]
    #[serde(flatten)]
    pub execution: ExecutionOptions,
}

/// Options of `evaluate`.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
pub struct EvaluateOptions {
    /// Model whose predictions are evaluated
    #[arg(long, value_name = "FILE")]
    pub model: Option<PathBuf>,
    /// Predicted costs to evaluate instead of a model (CSV or NPY, one row per instance)
    #[arg(long, value_name = "FILE")]
    pub predictions: Option<PathBuf>,
    /// Problem [default: the one in the model file]
    #[arg(long, value_name = "FILE.toml")]
    pub problem: Option<ProblemSource>,
    /// The table.
    #[command(flatten)]
    #[serde(flatten)]
    pub data: DataOptions,
    /// Write one row per instance: key, regret, objective of the decision, best objective, relative
    /// regret, and the status of decision and label (.csv or .jsonl)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub rows_out: Option<PathBuf>,
    /// The column whose cells name the instances in --rows-out, such as a date [default:
    /// --instance-column of a long table, else row numbers from 0]
    #[arg(long, value_name = "COLUMN", help_heading = "Output")]
    pub key: Option<String>,
    /// Break ties pessimistically (worst-case regret, Elmachtoub & Grigas)
    #[arg(
        long,
        num_args = 0..=1,
        default_missing_value = "true",
        value_name = "BOOL",
        hide_possible_values = true
    )]
    pub unambiguous: Option<bool>,
    /// Threads, checkpoints, heuristic.
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
    /// New rows (CSV or NPY): the features the model was trained on; - reads standard input (CSV,
    /// or NPY, which is recognized by its first bytes)
    #[arg(long, value_name = "FILE")]
    pub data: Option<PathBuf>,
    /// The column whose cells name the instances in the output, such as a date [default:
    /// --instance-column of a long table, else row numbers from 0]
    #[arg(long, value_name = "COLUMN")]
    pub key: Option<String>,
    /// Holidays, if the model uses them: a file with a date in each line [default: those of the
    /// training]
    #[arg(long, value_name = "FILE")]
    pub holidays: Option<PathBuf>,
    /// Row parameters in files of their own.
    #[command(flatten)]
    #[serde(flatten)]
    pub parameter_files: ParameterOptions,
    /// Which columns name instances and items.
    #[command(flatten)]
    #[serde(flatten)]
    pub columns: ColumnOptions,
    /// How CSV files are written.
    #[command(flatten)]
    #[serde(flatten)]
    pub csv: CsvOptions,
    /// Problem [default: the one in the model file]
    #[arg(long, value_name = "FILE.toml")]
    pub problem: Option<ProblemSource>,
    /// Decisions: the values of all columns of the problem, with key, predicted objective and
    /// status (.csv, .jsonl; .npy holds the values only); - writes to standard output
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub out: Option<PathBuf>,
    /// Format of --out [default: by its extension; csv for standard output]
    #[arg(long, value_enum, value_name = "FORMAT", help_heading = "Output")]
    pub format: Option<ResultFormat>,
    /// Write only values that are not 0: in CSV one row (key, objective, status, column, value)
    /// each
    #[arg(
        long,
        num_args = 0..=1,
        default_missing_value = "true",
        value_name = "BOOL",
        hide_possible_values = true,
        help_heading = "Output"
    )]
    pub sparse: Option<bool>,
    /// Write the predicted costs too (CSV or NPY)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub predictions_out: Option<PathBuf>,
    /// Threads, checkpoints, heuristic.
    #[command(flatten)]
    #[serde(flatten)]
    pub execution: ExecutionOptions,
}

/// Options of `explain`.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
pub struct ExplainOptions {
    /// Model that decides
    #[arg(long, value_name = "FILE")]
    pub model: Option<PathBuf>,
    /// The table with the row. The true costs are read only if they are named: --costs, --cost-data
    /// or --cost-column.
    #[command(flatten)]
    #[serde(flatten)]
    pub data: DataOptions,
    /// The row, counted from 0 [default: the only one]
    #[arg(long, value_name = "N")]
    pub row: Option<usize>,
    /// The row by a cell, as in date=2026-01-05
    #[arg(long, value_name = "COLUMN=VALUE", conflicts_with = "row")]
    pub key: Option<String>,
    /// Problem [default: the one in the model file]
    #[arg(long, value_name = "FILE.toml")]
    pub problem: Option<ProblemSource>,
    /// Number of the best other decisions to list, if decisions are binary or have integer columns
    /// [default: 3]
    #[arg(long, value_name = "K", help_heading = "Explanation")]
    pub alternatives: Option<usize>,
    /// What it costs to choose this item, by the name of its cost or integer column; may be
    /// repeated, each is answered alone
    #[arg(long, value_name = "NAME", help_heading = "Explanation")]
    #[serde(default)]
    pub force_choice: Vec<String>,
    /// What it costs not to choose this item; may be repeated
    #[arg(long, value_name = "NAME", help_heading = "Explanation")]
    #[serde(default)]
    pub forbid_choice: Vec<String>,
    /// Maximum number of solves of each part (cost ranges, other decisions, features); a choice
    /// that the costs fix may take a few, which count as one [default: 250, or what takes about a
    /// minute]
    #[arg(long, value_name = "N", help_heading = "Explanation")]
    pub max_solves: Option<usize>,
    /// What people call the costs.
    #[command(flatten)]
    #[serde(flatten)]
    pub names: NameOptions,
    /// Threads, checkpoints, heuristic.
    #[command(flatten)]
    #[serde(flatten)]
    pub execution: ExecutionOptions,
}

/// Options of `inspect`.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
pub struct InspectOptions {
    /// Model file
    #[arg(value_name = "MODEL")]
    pub model: Option<PathBuf>,
    /// A table to measure the importance of features on.
    #[command(flatten)]
    #[serde(flatten)]
    pub data: DataOptions,
    /// Problem of the importance [default: the one in the model file]
    #[arg(long, value_name = "FILE.toml")]
    pub problem: Option<ProblemSource>,
    /// Shuffles of each feature [default: 5]
    #[arg(long, value_name = "N")]
    pub repeats: Option<usize>,
    /// Seed of the shuffles [default: 0]
    #[arg(long, value_name = "SEED")]
    pub seed: Option<u32>,
    /// Threads, checkpoints, heuristic.
    #[command(flatten)]
    #[serde(flatten)]
    pub execution: ExecutionOptions,
}

/// Options of `reproduce`.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
pub struct ReproduceOptions {
    /// Experiments: components, weighting, scale, energy, solves, front, auto, networks, equality,
    /// scoreboard, or files like them [default: components; with --smoke: all]
    #[arg(value_name = "NAME|FILE.toml")]
    #[serde(default)]
    pub experiments: Vec<String>,
    /// Print the TOML of these experiments instead of running them: a template for your own
    #[arg(long)]
    #[serde(skip)]
    pub show: bool,
    /// Smoke test: few seeds, rows, epochs and small problems; runs every part in about a minute
    #[arg(
        long,
        num_args = 0..=1,
        default_missing_value = "true",
        value_name = "BOOL",
        hide_possible_values = true
    )]
    pub smoke: Option<bool>,
    /// Only these problems and methods, separated by semicolons; the reference always runs
    #[arg(long, value_delimiter = ';', value_name = "NAMES")]
    #[serde(default)]
    pub only: Vec<String>,
    /// Run these methods instead of those of the experiment, separated by semicolons or given one
    /// by one. With several predictors, as scoreboard has, a method is run with each of them
    #[arg(long, value_delimiter = ';', value_name = "NAMES")]
    #[serde(default)]
    pub methods: Vec<String>,
    /// Fewer or more seeds than the experiment has
    #[arg(long, value_name = "N")]
    pub seeds: Option<u32>,
    /// Start no further cell after this time (90s, 30m, 2h); the same command resumes
    #[arg(long, value_name = "TIME")]
    pub time_budget: Option<String>,
    /// Run only one of several equal shards of problems and seeds: 2/7 is the second of seven
    #[arg(long, value_name = "I/N")]
    pub shard: Option<String>,
    /// California housing for CAKS problems: the classic nine columns or scikit-learn's
    /// [default: testdata/california/cal_housing.csv of the clone around the current folder]
    #[arg(long, value_name = "FILE")]
    pub california: Option<PathBuf>,
    /// Irish energy data for ENERGY problems: a folder with prices2013.dat, load1/day01.txt and so
    /// on [default: testdata/energy of the clone around the current folder]
    #[arg(long, value_name = "FOLDER")]
    pub energy: Option<PathBuf>,
    /// Tasks of scoreboard: a folder with asurv/features.npy, asurv/costs.npy and so on; a task
    /// that it lacks is read from testdata/scoreboard of the clone around the current folder, which
    /// has those of generated data
    #[arg(long, value_name = "FOLDER")]
    pub scoreboard: Option<PathBuf>,
    /// Folder of cells, tables, figures and report, one folder per experiment [default: runs]
    #[arg(long, value_name = "FOLDER", help_heading = "Output")]
    pub out: Option<PathBuf>,
    /// Threads, checkpoints, heuristic.
    #[command(flatten)]
    #[serde(flatten)]
    pub execution: ExecutionOptions,
}
