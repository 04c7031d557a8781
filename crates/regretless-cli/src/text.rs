//! Text for the terminal, and names of files.

use std::borrow::Cow;
use std::path::Path;

use regretless::text::SafeText;
use regretless::{Error, Result};

/// Longest file name, in bytes, on Linux, macOS and Windows.
const MAX_FILE_NAME_BYTES: usize = 255;

/// Text for one line of a terminal, without control characters.
pub fn escaped(text: &str) -> Cow<'_, str> {
    text.escaped()
}

/// Text for a CSV cell that a spreadsheet does not run as a formula.
pub fn escape_formula(text: &str) -> Cow<'_, str> {
    text.escape_formula()
}

/// Text of several lines: as [`escaped`], but line breaks stay.
pub fn escaped_lines(text: &str) -> String {
    let lines: Vec<Cow<'_, str>> = text.split('\n').map(escaped).collect();
    lines.join("\n")
}

/// JSON text: invisible characters are written as `\uXXXX`, which is equivalent in JSON. Such
/// characters occur in strings only, since the JSON writer puts them nowhere else.
pub fn escaped_json(json: &str) -> String {
    let mut safe = String::with_capacity(json.len());
    for c in json.chars() {
        let is_visible =
            c == '\n' || matches!(escaped(c.encode_utf8(&mut [0; 4])), Cow::Borrowed(_));
        if is_visible {
            safe.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                safe.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    safe
}

/// Checks before long work that file systems accept the name of a file with the suffixes that will
/// be appended to it.
///
/// # Errors
/// When the longest of them has more than [`MAX_FILE_NAME_BYTES`] bytes.
pub fn check_file_name_fits(path: &Path, suffixes: &[&str]) -> Result<()> {
    let name_bytes = path
        .file_name()
        .unwrap_or_default()
        .as_encoded_bytes()
        .len();
    let Some(longest) = suffixes.iter().max_by_key(|suffix| suffix.len()) else {
        return Ok(());
    };
    if name_bytes + longest.len() <= MAX_FILE_NAME_BYTES {
        return Ok(());
    }
    let message = format!(
        "the name has {name_bytes} bytes, and a file with the suffix '{longest}' is written next \
         to it; a file name has at most {MAX_FILE_NAME_BYTES} bytes"
    );
    Err(Error::setting(format!("{}: {message}", path.display())))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{check_file_name_fits, escaped_json, escaped_lines};

    #[test]
    fn hidden_characters_are_shown() {
        assert_eq!(escaped_lines("a\nb\u{1b}"), "a\nb\\u{1b}");
        assert_eq!(
            escaped_json("{\"a\":\n\"\u{9b}\u{202e}\"}"),
            "{\"a\":\n\"\\u009b\\u202e\"}"
        );
    }

    #[test]
    fn suffixes_must_fit() {
        let path = |length: usize| "m".repeat(length);
        check_file_name_fits(Path::new(&path(243)), &["", ".checkpoints"]).unwrap();
        let error = check_file_name_fits(Path::new(&path(244)), &["", ".checkpoints"])
            .unwrap_err()
            .to_string();
        assert!(
            error.contains(".checkpoints") && error.contains("255"),
            "{error}"
        );
    }
}
