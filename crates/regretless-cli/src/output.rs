//! What leaves the program: results on standard output, errors and remarks on standard error.
//!
//! Nothing from a file reaches a terminal raw: control characters and the like are escaped here,
//! whoever made the text.

use std::fmt::Write as _;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use regretless::data::atomic_write::write_atomically;
use regretless::text::{escaped, escaped_json, escaped_lines};
use regretless::{Error, Result};
use serde_json::Value;

/// What a command found, for people and for machines.
#[derive(Debug, Default)]
pub struct CommandReport {
    /// For people.
    pub text: String,
    /// For machines.
    pub json: Value,
    /// What went wrong after there was something to report.
    pub failure: Option<Error>,
}

impl CommandReport {
    /// Adds a line for people. Line breaks before and behind it stay; inside they can only come
    /// from a name or a cell and are shown as `\n`. Text of several lines is pushed to `text` by
    /// whoever made these lines.
    pub fn line(&mut self, line: impl AsRef<str>) {
        let line = line.as_ref();
        let words = line.trim_matches('\n');
        let (before, behind) = line
            .split_once(words)
            .filter(|_| !words.is_empty())
            .unwrap_or((line, ""));
        self.text.push_str(before);
        self.text.push_str(&escaped(words));
        self.text.push_str(behind);
        self.text.push('\n');
    }

    /// Prints one of the two forms. A reader who has seen enough, such as `head`, is no error.
    pub fn print(&self, json: bool) -> Result<()> {
        let json_text;
        let text = if json {
            json_text = self.json.to_string();
            escaped_json(&json_text)
        } else {
            escaped_lines(&self.text)
        };
        let mut text = text.into_owned();
        if !text.ends_with('\n') {
            text.push('\n');
        }
        let mut out = io::stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(Error::io(Path::new("standard output"))(error))
            }
            _ => Ok(()),
        }
    }
}

/// Prints an error, and what to do about it on a line of its own where the error says so.
pub fn print_error(error: &Error) {
    let message = match error {
        Error::Exists(path) => format!(
            "{}: exists already; choose another path or use --force to replace it",
            path.display()
        ),
        other => other.to_string(),
    };
    let mut text = String::new();
    let _ = match message.split_once("; ") {
        Some((what, hint)) => write!(text, "error: {}\n hint: {}", escaped(what), escaped(hint)),
        None => write!(text, "error: {}", escaped(&message)),
    };
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Prints one line on standard error; nobody may be listening, which is fine.
pub fn print_warning(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", escaped(text));
}

/// A path as JSON; what is not UTF-8 in it is shown as such.
pub fn path_json(path: &Path) -> Value {
    Value::String(path.display().to_string())
}

/// Writes a whole text file or nothing.
pub fn write_text(path: &Path, text: &str, force: bool) -> Result<()> {
    write_atomically(path, force, |out| out.write_all(text.as_bytes()))
}

/// A number with a comma between thousands.
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

/// A number with about five digits that matter.
pub fn number(value: f64) -> String {
    match value.abs() {
        size if size == 0.0 || (1e-3..1e6).contains(&size) => {
            let before = if size < 1.0 { 0 } else { size.log10() as usize };
            format!("{value:.*}", 4_usize.saturating_sub(before).max(1))
        }
        _ => format!("{value:.3e}"),
    }
}

/// A share as a percentage.
pub fn percent(share: f64) -> String {
    // A share of next to nothing says nothing: best objectives can add up to 0.
    if share.abs() < 1e4 {
        format!("{:.2} %", 100.0 * share)
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
            [number(123_456.7), number(1.5e-9)],
            ["123456.7", "1.500e-9"]
        );
    }
}
