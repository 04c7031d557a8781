//! Races against peers: the same instances, the same data, the same number of threads, side by
//! side.
//!
//! Each race generates its cases with the library, times the library, writes the cases for the
//! peers, starts one Python process per peer (`peers/`), checks that all found the same, and prints
//! tables of medians and ratios. A peer that is not installed or refuses is skipped with a word.

use std::process::ExitCode;

use clap::Parser;
use regretless::Result;

mod args;
mod epochs;
mod machine;
mod methods;
mod peer;
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
    let mut report = match cli.race {
        Suite::Methods => methods::run_suite(cli)?,
        Suite::Solvers => solvers::run_suite(cli)?,
        Suite::Training => training::run_suite(cli)?,
    };
    report.notes.insert(0, host);
    report.write(cli)
}
