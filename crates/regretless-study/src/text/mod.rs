//! Text for people: numbers, lines, tables, and files of them.

use std::path::Path;

use regretless::data::OutputFile;
use regretless::sense::Sense;
use regretless::text::SafeText;
use regretless::{Error, Result};
use regretless_base::text::grouped_digits;
use serde::Serialize;

mod csv_text;
mod paths;
mod text_table;

pub use csv_text::{CsvText, optional_cell};
pub use paths::{path_from, path_in, with_path};
pub use text_table::TextTable;

/// What has come of a good method: money was saved, or gained where costs are gains.
pub fn saved_or_gained(sense: Sense) -> &'static str {
    if sense.is_maximize() {
        "gained"
    } else {
        "saved"
    }
}

/// Writes a whole text file or nothing.
pub fn write_text(path: &Path, text: &str, force: bool) -> Result<()> {
    OutputFile::new(path, force).write(|out| out.write_all(text.as_bytes()))
}

/// Options as the text of a settings file that repeats the run of a command.
pub fn settings_text<O: Serialize>(options: &O, command: &str) -> Result<String> {
    let body = toml::to_string(options)
        .map_err(|error| Error::setting(format!("settings cannot be written: {error}")))?;
    let version = env!("CARGO_PKG_VERSION");
    Ok(format!(
        "# regretless {version}; run again: regretless {command} --config THIS_FILE --out \
            NEW\n{body}"
    ))
}

/// An integer with thousands separators.
pub fn grouped(number: u64) -> String {
    grouped_digits(&number.to_string())
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

/// The first columns of a list and the number of the others.
pub fn first_columns(names: &[String]) -> String {
    /// Untuned: keeps lines short.
    const MAX_LISTED_COLUMNS: usize = 12;
    let listed = names.len().min(MAX_LISTED_COLUMNS);
    let mut text = names[..listed].join(", ");
    if names.len() > listed {
        text += &format!(" and {} more", grouped((names.len() - listed) as u64));
    }
    text
}

/// Adds a line to a text. Leading and trailing line breaks stay; others can only come from a name
/// or a cell and are escaped as `\n`. Text of several lines is pushed to the text directly.
pub fn push_line(text: &mut String, line: impl AsRef<str>) {
    let line = line.as_ref();
    let content = line.trim_matches('\n');
    let (before, after) = line
        .split_once(content)
        .filter(|_| !content.is_empty())
        .unwrap_or((line, ""));
    text.push_str(before);
    text.push_str(&content.escaped());
    text.push_str(after);
    text.push('\n');
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
