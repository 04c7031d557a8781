//! Benchmark suites: regretless and other implementations on the same instances, the same data and
//! the same number of threads.
//!
//! Each suite generates its cases with the library, times the library, writes the cases to disk,
//! starts one Python process per other implementation (`peers/`), checks that the results agree,
//! and prints tables of medians and ratios. An implementation that is not installed or fails to
//! start is skipped with a message.

use std::process::ExitCode;

use clap::Parser;
use regretless::Result;

mod args;
mod epoch_clock;
mod epochs;
mod machine;
mod methods;
mod peer;
#[path = "../../crates/regretless/benches/measure/random.rs"]
#[allow(dead_code, reason = "shared with the benchmarks of the library")]
mod random;
mod report;
mod solvers;
mod statistics;
mod training;

use args::{Cli, Suite};

fn main() -> ExitCode {
    match run(&Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(cli: &Cli) -> Result<()> {
    let host = machine::host();
    let mut report = match cli.suite {
        Suite::Methods => methods::run_suite(cli)?,
        Suite::Solvers => solvers::run_suite(cli)?,
        Suite::Training => training::run_suite(cli)?,
    };
    report.notes.insert(0, host);
    report.write(cli)
}
