//! The command line: flags and settings files become calls of the library.
//!
//! `args/` defines the flags, `settings.rs` merges flags over a settings file, `commands/` has one
//! file per command, and `output.rs` prints results and errors. Exit codes are set here only.
//!
//! It is a library, so the Python package has the same `regretless` command as the program that is
//! built with cargo: both call [`run`].

use std::ffi::OsString;

use clap::Parser;
use regretless::{Error, ErrorKind};

mod args;
mod commands;
mod input;
mod output;
mod progress;
mod settings;
mod shell;
#[cfg(unix)]
mod sigbus;
mod text;

use args::Cli;

/// Exit code of a command that succeeded, also of `--help` and `--version`.
const SUCCESS: u8 = 0;

/// Exit code of a command line that names unknown things.
const USAGE: u8 = 2;

/// Runs the command line `arguments`, whose first element is the name of the program, and returns
/// the exit code. Installs handlers for Ctrl-C and SIGBUS for the rest of the process: call it
/// once, in a process that does nothing else.
pub fn run(arguments: &[OsString]) -> u8 {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => return report_usage(&error, arguments),
    };
    progress::listen_for_interrupts();
    let _scope = progress::enter_cancellation_scope();
    #[cfg(unix)]
    sigbus::install_handler();
    match commands::run(cli.command, arguments) {
        Ok(None) => SUCCESS,
        Ok(Some(error)) | Err(error) => fail(&error),
    }
}

/// Prints an error of the parser, or the text of `--help` and `--version`, which clap passes as an
/// error too.
fn report_usage(error: &clap::Error, arguments: &[OsString]) -> u8 {
    if let Some(renamed) = args::renamed_flag(error, arguments) {
        return fail(&renamed);
    }
    // A closed standard output leaves nowhere to report to.
    let _ = error.print();
    if error.use_stderr() { USAGE } else { SUCCESS }
}

fn fail(error: &Error) -> u8 {
    output::print_error(error);
    exit_code(error)
}

/// The exit code of each kind of error, as `--help` lists them.
fn exit_code(error: &Error) -> u8 {
    match error.kind() {
        ErrorKind::Setting | ErrorKind::Problem => USAGE,
        ErrorKind::Data | ErrorKind::File => 3,
        ErrorKind::Solver => 4,
        ErrorKind::Interrupted => 130,
        // Kinds that later versions of the library add count as failures until they are listed.
        _ => 1,
    }
}
