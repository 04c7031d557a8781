//! Output: results on standard output, errors and warnings on standard error.
//!
//! Control characters and other hidden characters are escaped here, so no text from a file reaches
//! a terminal unescaped.

use std::fmt::Write as _;
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use regretless::data::OutputFile;
use regretless::{Error, Result};
use regretless_study::text::push_line;
use serde_json::Value;

use crate::text::{escaped, escaped_json, escaped_lines};

/// Whether the running command keeps finished work when it is interrupted.
static IS_RESUMABLE: AtomicBool = AtomicBool::new(false);

/// Says that from now on an interrupted command can be resumed.
pub fn set_resumable() {
    IS_RESUMABLE.store(true, Ordering::Relaxed);
}

/// Where results go: a file, or standard output, which is named `-`.
#[derive(Debug, Clone, Copy)]
pub enum ResultTarget<'a> {
    /// A file that is written as a whole or not at all.
    File(OutputFile<'a>),
    /// Standard output.
    Stdout,
}

impl<'a> ResultTarget<'a> {
    /// The name of standard input and output.
    const STREAM: &'static str = "-";

    /// The target of a path; an existing file is replaced only with `force`.
    pub fn of(path: &'a Path, force: bool) -> Self {
        if is_stream(path) {
            Self::Stdout
        } else {
            Self::File(OutputFile::new(path, force))
        }
    }

    /// Checks before long work that it can be written.
    pub fn check_free(self) -> Result<()> {
        match self {
            Self::File(file) => file.check_free(),
            Self::Stdout => Ok(()),
        }
    }

    /// Writes the content. A reader that closes the pipe early, such as `head`, is not an error.
    pub fn write(self, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
        match self {
            Self::File(file) => file.write(content),
            Self::Stdout => {
                let mut out = io::BufWriter::new(io::stdout().lock());
                let written = content(&mut out).and_then(|()| out.flush());
                // What is left in the buffer after an error must not be written later.
                let (_, _) = out.into_parts();
                unless_pipe_closed(written)
            }
        }
    }
}

/// Whether a path means standard input or output.
pub fn is_stream(path: &Path) -> bool {
    path == Path::new(ResultTarget::STREAM)
}

fn unless_pipe_closed(written: io::Result<()>) -> Result<()> {
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Error::io(Path::new("standard output"))(error))
        }
        _ => Ok(()),
    }
}

/// What ends a run.
type RunEnd = Box<dyn FnOnce() -> Result<()>>;

/// Result of a command, as text and as JSON.
#[derive(Default)]
pub struct CommandReport {
    /// Text for the terminal.
    pub text: String,
    /// JSON for `--json`.
    pub json: Value,
    /// An error that occurred although there are results to report.
    pub failure: Option<Error>,
    /// Whether standard output has the results of the command, so the report goes to standard
    /// error.
    pub stdout_is_taken: bool,
    /// What ends the run once the report is printed: until then, the same command resumes.
    pub end: Option<RunEnd>,
}

impl CommandReport {
    /// Adds a line of text, as [`push_line`] does. Text of several lines is pushed to `text`
    /// directly.
    pub fn line(&mut self, line: impl AsRef<str>) {
        push_line(&mut self.text, line);
    }

    /// Prints the text or the JSON, on standard output unless results are there. A reader that
    /// closes the pipe early, such as `head`, is not an error.
    pub fn print(&self, json: bool) -> Result<()> {
        let mut text = if json {
            escaped_json(&self.json.to_string())
        } else {
            escaped_lines(&self.text)
        };
        if !text.ends_with('\n') {
            text.push('\n');
        }
        if self.stdout_is_taken {
            // A closed standard error leaves nowhere to report to.
            let _ = io::stderr().lock().write_all(text.as_bytes());
            return Ok(());
        }
        let mut out = io::stdout().lock();
        unless_pipe_closed(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
    }
}

/// Prints an error, and its remedy as a hint on a second line.
pub fn print_error(error: &Error) {
    let remedy = match error {
        Error::Exists(_) => Some("choose another path or use --force to replace it".into()),
        Error::Interrupted if IS_RESUMABLE.load(Ordering::Relaxed) => {
            Some("finished work is kept; the same command resumes".into())
        }
        other => other.remedy(),
    };
    let mut text = format!("error: {}", escaped(&error.message()));
    if let Some(remedy) = remedy {
        // The lines of a remedy are escaped one by one.
        let _ = write!(text, "\n hint: {}", escaped_lines(&remedy));
    }
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Prints one line on standard error; a failure to print it is ignored.
pub fn print_warning(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", escaped(text));
}

/// A path as JSON; bytes that are not UTF-8 are replaced.
pub fn path_json(path: &Path) -> Value {
    Value::String(path.display().to_string())
}
