//! How a CSV file separates its cells and writes its decimals.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// The delimiter and the decimal separator of a CSV file; a comma and a point by default.
///
/// ```
/// use regretless::data::CsvDialect;
///
/// let european = CsvDialect::new(";", ",")?;
/// assert_ne!(european, CsvDialect::default());
/// assert!(CsvDialect::new(",", ",").is_err(), "no cell could have a decimal");
/// # Ok::<(), regretless::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CsvDialect {
    delimiter: u8,
    has_decimal_comma: bool,
}

impl Default for CsvDialect {
    fn default() -> Self {
        Self {
            delimiter: b',',
            has_decimal_comma: false,
        }
    }
}

impl CsvDialect {
    /// A dialect from the delimiter, one character or `tab`, and the decimal separator, `.` or `,`.
    ///
    /// # Errors
    /// When one of them cannot be used, or both are the same.
    pub fn new(delimiter: &str, decimal: &str) -> Result<Self> {
        let has_decimal_comma = match decimal {
            "." => false,
            "," => true,
            other => {
                return Err(Error::setting(format!("decimal '{other}' cannot be used"))
                    .with_remedy("choose '.' or ','"));
            }
        };
        let delimiter = match (delimiter, delimiter.as_bytes()) {
            ("tab" | "\\t", _) => b'\t',
            (_, [byte]) if is_delimiter(*byte) => *byte,
            (other, _) => {
                return Err(
                    Error::setting(format!("delimiter '{other}' cannot be used"))
                        .with_remedy("choose ';', ',', '|' or tab"),
                );
            }
        };
        if has_decimal_comma && delimiter == b',' {
            return Err(Error::setting(
                "the decimal separator and the delimiter cannot both be a comma",
            )
            .with_remedy("set the delimiter too, for instance to ';'"));
        }
        Ok(Self {
            delimiter,
            has_decimal_comma,
        })
    }

    /// The dialect of a file: unless something else is given, tabs separate the cells of files that
    /// are named so, commas those of others, and a point precedes decimals.
    ///
    /// # Errors
    /// Those of [`new`](Self::new).
    pub fn of_file(path: &Path, delimiter: Option<&str>, decimal: Option<&str>) -> Result<Self> {
        let standard = if is_tab_separated(path) { "tab" } else { "," };
        Self::new(delimiter.unwrap_or(standard), decimal.unwrap_or("."))
    }

    /// The byte between two cells.
    pub(crate) fn delimiter(self) -> u8 {
        self.delimiter
    }

    /// Whether decimals follow a comma.
    pub(crate) fn has_decimal_comma(self) -> bool {
        self.has_decimal_comma
    }
}

/// Whether the name of a file, compressed or not, says that tabs separate its cells.
fn is_tab_separated(path: &Path) -> bool {
    let name = path.to_string_lossy().to_ascii_lowercase();
    [".tsv", ".tsv.gz", ".tsv.bz2"]
        .iter()
        .any(|ending| name.ends_with(ending))
}

/// Whether a byte can separate cells: it is not part of a number, a name or a line end.
fn is_delimiter(byte: u8) -> bool {
    byte == b'\t' || (byte.is_ascii_punctuation() && !b"\"'.+-_*".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::CsvDialect;

    #[test]
    fn delimiters_that_numbers_and_names_contain_are_refused() {
        for delimiter in ["", ";;", "a", "0", ".", "-", "\"", "\n", "é", " "] {
            assert!(CsvDialect::new(delimiter, ".").is_err(), "{delimiter:?}");
        }
        for delimiter in [";", ",", "|", "tab", "\t", "\\t", ":"] {
            assert!(CsvDialect::new(delimiter, ".").is_ok(), "{delimiter:?}");
        }
        assert_eq!(
            CsvDialect::new("tab", ",").unwrap(),
            CsvDialect::new("\t", ",").unwrap()
        );
        for decimal in ["", ";", "..", " "] {
            assert!(CsvDialect::new(";", decimal).is_err(), "{decimal:?}");
        }
    }
}
