//! Output: results on standard output, errors and warnings on standard error.
//!
//! Control characters and other hidden characters are escaped here, so that no text from a file
//! reaches a terminal unescaped.

use std::fmt::Write as _;
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use regretless::data::OutputFile;
use regretless::{Error, Result};
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
    /// Whether standard output has the results of the command, so that the report goes to standard
    /// error.
    pub stdout_is_taken: bool,
    /// What ends the run once the report is printed: until then, the same command resumes.
    pub end: Option<RunEnd>,
}

impl CommandReport {
    /// Adds a line of text. Leading and trailing line breaks stay; others can only come from a name
    /// or a cell and are escaped as `\n`. Text of several lines is pushed to `text` directly.
    pub fn line(&mut self, line: impl AsRef<str>) {
        let line = line.as_ref();
        let content = line.trim_matches('\n');
        let (before, after) = line
            .split_once(content)
            .filter(|_| !content.is_empty())
            .unwrap_or((line, ""));
        self.text.push_str(before);
        self.text.push_str(&escaped(content));
        self.text.push_str(after);
        self.text.push('\n');
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
        let _ = write!(text, "\n hint: {}", escaped(&remedy));
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

/// Writes a whole text file or nothing.
pub fn write_text(path: &Path, text: &str, force: bool) -> Result<()> {
    OutputFile::new(path, force).write(|out| out.write_all(text.as_bytes()))
}

/// An integer with thousands separators.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Numbers from here on are written with an exponent. Untuned: more than any total of money that
/// fits a column.
const MAX_WHOLE_NUMBER: f64 = 1e12;

/// A number with about five significant digits; large amounts are rounded to whole ones.
pub fn number(value: f64) -> String {
    match value.abs() {
        size if size == 0.0 || (1e-3..1e6).contains(&size) => {
            let before = if size < 1.0 { 0 } else { size.log10() as usize };
            format!("{value:.*}", 4_usize.saturating_sub(before).max(1))
        }
        // Totals of money, which people compare with each other.
        size if (1e6..MAX_WHOLE_NUMBER).contains(&size) => format!("{value:.0}"),
        _ => format!("{value:.3e}"),
    }
}

/// A fraction as a percentage.
pub fn percent(fraction: f64) -> String {
    // Optimal objectives can sum to almost 0, which makes ratios to them meaningless.
    if fraction.abs() < 1e4 {
        format!("{:.2} %", 100.0 * fraction)
    } else {
        "–".into()
    }
}

#[cfg(test)]
mod tests {
    use super::{grouped, number};

    #[test]
    fn numbers_are_short_and_readable() {
        assert_eq!(
            [grouped(0), grouped(999), grouped(1000), grouped(1_234_567)],
            ["0", "999", "1,000", "1,234,567"]
        );
        assert_eq!(
            [number(0.0), number(0.123_456), number(12.345_67)],
            ["0.0000", "0.1235", "12.346"]
        );
        assert_eq!(
            [number(123_456.7), number(3_332_025.4), number(1.5e-9)],
            ["123456.7", "3332025", "1.500e-9"]
        );
    }
}
