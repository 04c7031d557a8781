//! Definitions of the command line. Every option has one name: `--learning-rate` on the command
//! line is `learning_rate` in a settings file, and the field here documents both.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::error::{ContextKind, ContextValue};
use clap::{Args, CommandFactory, Parser, Subcommand};
use regretless::oracle::Heuristic;
use regretless::solve::SearchLimits;
use regretless::{Error, Result};
use serde::{Deserialize, Serialize};

mod commands;
mod data;
mod fit;
mod studies;
mod training;
mod values;

pub use commands::{
    CheckOptions, DecideOptions, EvaluateOptions, ExplainOptions, GenerateOptions, InspectOptions,
    LabelOptions, ReproduceOptions, SolveOptions,
};
pub use data::{
    ColumnOptions, CsvOptions, DataOptions, ParameterOptions, ProblemOptions, ProblemSource,
};
pub use fit::FitOptions;
pub use studies::{BacktestOptions, CompareOptions, NameOptions, PageOptions, TrainOptions};
pub use training::Profile;
use values::Seconds;
pub use values::{GeneratedFormat, ResultFormat};

/// The version, and what this build lacks.
const VERSION: &str = if cfg!(feature = "highs") {
    env!("CARGO_PKG_VERSION")
} else {
    concat!(env!("CARGO_PKG_VERSION"), " (without HiGHS)")
};

const HELP_FOOTER: &str = "\
Start here:
  regretless fit --example battery       a verdict, a model and a page on real prices
  regretless fit --help                  the same for your own table
  regretless compare                     16 methods on built-in knapsack data, about a minute
  regretless generate --benchmark KS32 --out example      a table and a problem to try
  regretless train --help                how to train on your own table

Exit codes:
  0    done
  2    usage: unknown names or settings
  3    input: data or files that cannot be used, outputs that exist
  4    solver: an instance without a decision, or training that diverged
  130  interrupted; finished results are kept, the same command resumes

Settings files: --config FILE.toml holds the same names with underscores (learning_rate = 0.01).
Flags override the file. A table named after a command, such as [train], applies to that command
only. Paths are relative to the folder the program runs in.";

/// Decision-focused learning: train predictors for the decisions they lead to
#[derive(Debug, Parser)]
#[command(name = "regretless", version = VERSION, after_help = HELP_FOOTER, max_term_width = 100)]
pub struct Cli {
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Write synthetic data and its problem
    #[command(after_help = "\
Example:
  regretless generate --benchmark KS32 --instances 2000 --out ks32
  regretless generate --benchmark TSP5000 --instances 50 --format npy --out large

With --format npy rows are written as they are generated: a table can be larger than memory.")]
    Generate(CommandArgs<GenerateOptions>),

    /// Check a table for columns and rows that spoil training or its results
    #[command(after_help = "\
Examples:
  regretless check --data table.csv --costs 'c*'
  regretless check --data table.csv --costs 'c*' --problem problem.toml --split time:date

It reports constant, duplicate and nearly duplicate features, features that leak the target,
outliers that dominate the loss, rows out of time order, and drift between training and test rows.
Findings are hints: the exit code is 0. train, compare and backtest print the first of them.")]
    Check(CommandArgs<CheckOptions>),

    /// From a table to a verdict, a model and a page
    #[command(after_help = "\
Examples:
  regretless fit --example battery
  regretless fit history.csv --problem van.toml
  regretless fit history.csv --problem van.toml --costs 'eur_*' --time date --unit EUR

It prints what it takes each column for; a flag corrects it. With dates, models decide later rows
only; otherwise rows are cross-validated. The verdict compares auto with least squares, the mean,
the last period, columns that are forecasts, and decisions that were made. The model is fitted to
all rows. An interrupted run resumes with the same command.")]
    Fit(Box<CommandArgs<FitOptions>>),

    /// Write a commented problem file to begin with
    #[command(after_help = "\
Examples:
  regretless new --list
  regretless new knapsack --table history.csv --out van.toml
  regretless new knapsack --table history.csv --costs 'eur_*' --out van.toml

The file is valid as it is. With a table it has the names and the number of its costs.")]
    New(CommandArgs<crate::commands::NewOptions>),

    /// Solve every row of a table once and store the optimal decisions next to it
    #[command(after_help = "\
An interrupted run resumes with the same command. Machines with a shared folder divide the work:
  regretless label --data t.csv --costs 'c*' --problem p.toml --shard 1/2      first machine
  regretless label --data t.csv --costs 'c*' --problem p.toml --shard 2/2      second machine
  regretless label --data t.csv --costs 'c*' --problem p.toml                  merges them")]
    Label(CommandArgs<LabelOptions>),

    /// Train a model with one method
    #[command(after_help = "\
Examples:
  regretless train --data ks32/table.csv --costs 'c*' --problem ks32/problem.toml
  regretless train --data x.npy --cost-data c.npy --problem problem.toml --method 'MSE(C,O,S)'
  regretless train --data long.csv --instance-column day --cost-column price --problem p.toml
  regretless train --benchmark SP5x5 --method 'MAE(O,S) then SPO+ lr 0.001 epochs 5'
  regretless train --benchmark SP5x5 --method SPO+ --init-model model.safetensors \\
      --out tuned.safetensors")]
    Train(Box<CommandArgs<TrainOptions>>),

    /// Measure the regret of a model or of given predictions
    #[command(after_help = "\
Examples:
  regretless evaluate --model model.safetensors --data test.csv
  regretless evaluate --model model.safetensors --data test.csv --rows-out regret.csv --key date
  regretless evaluate --predictions preds.csv --data test.csv --costs 'c*' --problem problem.toml")]
    Evaluate(CommandArgs<EvaluateOptions>),

    /// Predict costs for new rows and decide
    #[command(after_help = "\
Examples:
  regretless decide --model model.safetensors --data new.csv --out decisions.csv
  regretless decide --model model.safetensors --data new.csv --key date --out tomorrow.csv --sparse
  regretless decide --model model.safetensors --data - --out - --format jsonl

With --out - decisions are all that standard output has; messages, and the report of --json, go to
standard error. A file that is called - is ./-.")]
    Decide(CommandArgs<DecideOptions>),

    /// Explain one decision: how firm it is, what else was possible, where its regret comes from
    #[command(after_help = "\
Examples:
  regretless explain --model model.safetensors --data new.csv --row 0
  regretless explain --model model.safetensors --data history.csv --key date=2026-01-05 --costs 'c*'
  regretless explain --model model.safetensors --data new.csv --row 3 --alternatives 5 \\
      --force-choice c7 --forbid-choice c2

Prices, ranges and objectives are under the predicted costs; the regret is under the true ones.")]
    Explain(Box<CommandArgs<ExplainOptions>>),

    /// Show what a model is: training, features, coefficients, importance of features
    #[command(after_help = "\
Examples:
  regretless inspect model.safetensors
  regretless inspect model.safetensors --json
  regretless inspect model.safetensors --data test.csv --repeats 10

With --data the importance of each feature is measured: the increase of the mean regret when its
values are shuffled among the rows (permutation importance). It solves every row once per feature
and repeat.")]
    Inspect(CommandArgs<InspectOptions>),

    /// Solve problem files: TSPLIB, CVRPLIB, OR-Library knapsacks, MPS and LP
    #[command(after_help = "\
Examples:
  regretless solve berlin52.tsp
  regretless solve E-n22-k4.vrp --out best.sol
  regretless solve model.mps --gap 0.001 --seconds 60 --json
  regretless solve *.tsp --nodes 1000 --out tours
  regretless solve pr1002.tsp --relax tight

With --out - the solution is all that standard output has; the report goes to standard error.
Ctrl-C ends the search with its incumbent and dual bound, with exit code 130.
An infeasible or unbounded problem is reported as its status, with exit code 4. A file that cannot
be read does not stop the others; the exit code is then 3.")]
    Solve(CommandArgs<SolveOptions>),

    /// Compare methods over several seeds on one problem
    #[command(after_help = "\
Examples:
  regretless compare
  regretless compare --benchmark SP5x5 --methods 'MSE;MAE(O,S)' --seeds 20
  regretless compare --data table.csv --costs 'c*' --problem problem.toml --profile default")]
    Compare(Box<CommandArgs<CompareOptions>>),

    /// Decide your history as if it were the present: what would each method have cost?
    #[command(after_help = "\
Examples:
  regretless backtest --data table.csv --costs 'c_*' --problem problem.toml --time date
  regretless backtest --data table.csv --costs 'c_*' --problem problem.toml --time date \\
      --methods 'MSE;MAE(O,S);SPO+' --window 365 --step 7 --season 7 --unit EUR
  regretless backtest --data table.csv --costs 'c_*' --problem problem.toml --time date \\
      --decisions 'chosen_*' --predictions 'forecast=predictions.csv'

Every period is decided by models of the periods before it only. Least squares, the mean of the
history and the last period always run, too. The first line is the verdict: what the best method
saves against least squares, with an interval that allows for the number of methods compared.
An interrupted run resumes with the same command. Machines with a shared folder divide the work
with --shard 1/2 and --shard 2/2; the same command without --shard then writes the results.")]
    Backtest(Box<CommandArgs<BacktestOptions>>),

    /// Run the paper's experiments or your own, and report
    #[command(after_help = "\
Examples:
  regretless reproduce --smoke                     all of them with few rows: a minute
  regretless reproduce components --seeds 5
  regretless reproduce scale --only 'TSP100;MAE(O,S);SPO+' --time-budget 30m
  regretless reproduce scale --shard 1/4
  regretless reproduce components --show > mine.toml

An experiment is problems x methods x seeds. A cell is one problem, method and seed, and one file
in the folder: an interrupted run resumes with the same command, cells are never run twice, and
folders of several machines can be copied together.")]
    Reproduce(CommandArgs<ReproduceOptions>),
}

/// The error for an old flag, with its new name; nothing for other errors of the parser.
pub fn renamed_flag(error: &clap::Error, arguments: &[OsString]) -> Option<Error> {
    let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let old = flag.strip_prefix("--")?.replace('-', "_");
    let command = arguments.get(1)?;
    let definition = Cli::command();
    let options = definition.find_subcommand(command)?;
    let new = Error::renamed_word(&old, |word| {
        options
            .get_arguments()
            .any(|argument| argument.get_id() == word)
    })?;
    let new = new.replace('_', "-");
    Some(Error::setting(format!("'{flag}' is called '--{new}' now")))
}

/// Options of one command and those of every command.
#[derive(Debug, Args)]
pub struct CommandArgs<O: Args> {
    /// Options of this command.
    #[command(flatten)]
    pub options: O,
    /// Options of every command.
    #[command(flatten)]
    pub common: GlobalOptions,
}

/// Options of a single call, which cannot be set in a settings file.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "General")]
pub struct GlobalOptions {
    /// Read settings from this file; flags override it
    #[arg(long, value_name = "FILE.toml")]
    pub config: Option<PathBuf>,
    /// Print the result as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Replace outputs that exist
    #[arg(long)]
    pub force: bool,
    /// No progress bars and no warnings, only results and errors
    #[arg(long)]
    pub quiet: bool,
}

/// Options of the execution.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
#[command(next_help_heading = "General")]
pub struct ExecutionOptions {
    /// Threads; 0 uses all cores, the maximum is 8 per core (64 on small machines). Results do not
    /// depend on it [default: 0]
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// Seconds between checkpoints; an interrupted run resumes from the last one [default: 2]
    #[arg(long, value_name = "SECONDS")]
    pub checkpoint_interval: Option<Seconds>,
    /// Compute all decisions, those of labels and those that are evaluated, by a heuristic instead
    /// of an exact solver: local-search, local-search:fast (both for TSP and CVRP) or 'node-limit
    /// 100' (branch and bound with a node limit). For problems too large for an exact solver;
    /// regret is then measured against decisions that need not be optimal
    #[arg(long, value_name = "HEURISTIC")]
    pub heuristic: Option<Heuristic>,
    /// Limits of labels and decisions.
    #[command(flatten)]
    #[serde(flatten)]
    pub limits: LimitOptions,
}

/// Limits of the searches that compute labels and decisions.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
#[command(next_help_heading = "Limits")]
pub struct LimitOptions {
    /// Relative gap between objective and dual bound at which the search for a decision may stop:
    /// 0.01 allows 1 % [default: 0]
    #[arg(long, value_name = "GAP")]
    pub gap: Option<f64>,
    /// Maximum number of branch-and-bound nodes of the search for a decision, which ends with its
    /// incumbent [default: 10000000]
    #[arg(long, value_name = "N")]
    pub nodes: Option<u64>,
    /// Maximum seconds of the search for a decision, which ends with its incumbent. Results then
    /// depend on the machine: they are not reproducible [default: none]
    #[arg(long, value_name = "SECONDS")]
    pub seconds: Option<f64>,
}

impl LimitOptions {
    /// The library's limits.
    pub fn search_limits(&self) -> Result<SearchLimits> {
        let standard = SearchLimits::default();
        let limits = SearchLimits {
            nodes: self.nodes.unwrap_or(standard.nodes),
            gap: self.gap.unwrap_or(standard.gap),
            seconds: self.seconds,
        };
        limits.check()?;
        Ok(limits)
    }

    /// Whether any limit is given.
    pub fn are_any_set(&self) -> bool {
        self.gap.is_some() || self.nodes.is_some() || self.seconds.is_some()
    }
}

impl ExecutionOptions {
    /// Time between checkpoints.
    pub fn checkpoint_interval(&self, standard: Duration) -> Duration {
        self.checkpoint_interval.map_or(standard, Seconds::duration)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::Cli;

    /// The commands of a help text that start with the program's name, without comments.
    fn examples(help: &str) -> Vec<String> {
        let joined = help.replace(" \\\n", " ");
        joined
            .lines()
            .filter(|line| line.starts_with("  regretless "))
            .map(|line| {
                // A comment stands behind several spaces, a redirection behind `>`.
                let line = line.trim_start();
                let end = line.find("   ").or_else(|| line.find(" > "));
                line[..end.unwrap_or(line.len())].trim_end().to_owned()
            })
            .collect()
    }

    /// The words of a command with single quotes.
    fn words(line: &str) -> Vec<String> {
        let mut words = vec![String::new()];
        let mut is_quoted = false;
        for character in line.chars() {
            match character {
                '\'' => is_quoted = !is_quoted,
                ' ' if !is_quoted => {
                    if words.last().is_some_and(|word| !word.is_empty()) {
                        words.push(String::new());
                    }
                }
                _ => words.last_mut().unwrap().push(character),
            }
        }
        assert!(!is_quoted, "{line}");
        words
    }

    #[test]
    fn help_of_every_command_has_examples_that_can_be_parsed() {
        for command in Cli::command().get_subcommands() {
            let name = command.get_name();
            let help = command.get_after_help().map(ToString::to_string);
            let examples = examples(&help.unwrap_or_default());
            let own = format!("regretless {name}");
            assert!(
                examples.iter().any(|line| line.starts_with(&own)),
                "{name} has no example"
            );
            for line in examples {
                if let Err(error) = Cli::try_parse_from(words(&line)) {
                    panic!("{line}: {error}");
                }
            }
        }
    }

    #[test]
    fn commands_in_the_general_help_can_be_parsed() {
        let help = Cli::command().get_after_help().unwrap().to_string();
        let examples = examples(&help);
        assert!(!examples.is_empty(), "{help}");
        for line in examples {
            if let Err(error) = Cli::try_parse_from(words(&line)) {
                assert_eq!(error.kind(), clap::error::ErrorKind::DisplayHelp, "{line}");
            }
        }
    }
}
