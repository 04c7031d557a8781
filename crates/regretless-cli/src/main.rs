//! The command line: flags and settings files become calls of the library.
//!
//! `args/` defines the flags, `settings.rs` merges flags over a settings file, `commands/` has one
//! file per command, and `output.rs` prints results and errors. Exit codes are set here only.

use std::process::ExitCode;

use clap::Parser;
use regretless::{Error, ErrorKind};

mod args;
mod commands;
mod csv_text;
mod input;
mod output;
mod progress;
mod settings;
#[cfg(unix)]
mod sigbus;
mod text;
mod text_table;

use args::Cli;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => match args::renamed_flag(&error) {
            Some(renamed) => return fail(&renamed),
            None => error.exit(),
        },
    };
    progress::listen_for_interrupts();
    let _scope = progress::enter_cancellation_scope();
    #[cfg(unix)]
    sigbus::install_handler();
    match commands::run(cli.command) {
        Ok(None) => ExitCode::SUCCESS,
        Ok(Some(error)) | Err(error) => fail(&error),
    }
}

fn fail(error: &Error) -> ExitCode {
    output::print_error(error);
    ExitCode::from(exit_code(error))
}

/// The exit code of each kind of error, as `--help` lists them.
fn exit_code(error: &Error) -> u8 {
    match error.kind() {
        ErrorKind::Setting | ErrorKind::Problem => 2,
        ErrorKind::Data | ErrorKind::File => 3,
        ErrorKind::Solver => 4,
        ErrorKind::Interrupted => 130,
        // Kinds that later versions of the library add count as failures until they are listed.
        _ => 1,
    }
}
