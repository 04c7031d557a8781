//! The `regretless` program: see the library of this crate.

use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    ExitCode::from(regretless_cli::run(&arguments))
}
