//! Untrusted text that is displayed, becomes part of a path, or is written for a spreadsheet.
//!
//! Cells, names of columns and methods, and file names may contain anything: escape sequences for
//! the terminal, marks that reverse the reading order, line breaks that imitate output of this
//! program, `../` that leaves a folder, or a formula that a spreadsheet would run. This module has
//! one function against each of them, and the wildcard patterns by which columns are selected.

use std::borrow::Cow;
use std::path::Path;

use crate::error::{Error, Result};

/// Untrusted text made safe to display or to write for a spreadsheet.
pub trait SafeText {
    /// Text for one line of a terminal: control characters, line breaks and marks that reverse the
    /// reading order are written as escapes such as `\n` and `\u{1b}`.
    fn escaped(&self) -> Cow<'_, str>;

    /// Text for a CSV cell: text that a spreadsheet would run as a formula is prefixed with a
    /// single quote.
    fn escape_formula(&self) -> Cow<'_, str>;
}

impl SafeText for str {
    fn escaped(&self) -> Cow<'_, str> {
        escaped(self)
    }

    fn escape_formula(&self) -> Cow<'_, str> {
        escape_formula(self)
    }
}

/// A duration for people: two digits in seconds, minutes, hours or days.
pub fn duration(seconds: f64) -> String {
    let units = [
        (60.0, 1.0, "s"),
        (3600.0, 60.0, "min"),
        (86400.0, 3600.0, "h"),
    ];
    let unit = units.iter().find(|(limit, ..)| seconds < *limit);
    let (_, size, name) = unit.unwrap_or(&(f64::INFINITY, 86400.0, "days"));
    let count = seconds / size;
    if count < 9.95 {
        format!("{count:.1} {name}")
    } else {
        format!("{count:.0} {name}")
    }
}

/// Most names in a message. Untuned: keeps messages short.
const MAX_NAMES_SHOWN: usize = 8;

/// What to do about a quantity in a constraint that is unknown when deciding, such as a demand.
pub const UNKNOWN_QUANTITY_REMEDY: &str = "unknown demands are predicted by the kind \
     newsvendor (how much of each item to order); of other quantities in constraints, make the \
     levels that can be chosen the options of a multiple-choice knapsack, each with its cost at \
     the quantity that occurred";

/// The first of some names, and the number of the others: "a, b and 3 more".
pub fn first_names<T: AsRef<str>>(names: impl IntoIterator<Item = T>) -> String {
    let mut names = names.into_iter();
    let first: Vec<T> = names.by_ref().take(MAX_NAMES_SHOWN).collect();
    let shown = first
        .iter()
        .map(AsRef::as_ref)
        .collect::<Vec<_>>()
        .join(", ");
    match names.count() {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Largest number that [`amount`] writes with all digits before the point, and most decimals.
const MAX_PLAIN_AMOUNT: f64 = 1e15;
const MAX_DECIMALS: i32 = 12;

/// Fraction of its precision below which an amount is 0 for people: rounding errors of sums.
const MIN_SHOWN_FRACTION: f64 = 1e-6;

/// A number for people, with thousands separators: as many decimals as leave two digits of
/// `precision`, such as the width of its interval; if that is 0, four digits. One that would be
/// rounded to 0 has one digit.
pub fn amount(value: f64, precision: f64) -> String {
    let (size, digits) = if precision > 0.0 {
        (precision, 2)
    } else {
        (value.abs(), 4)
    };
    let decimals = if size > 0.0 {
        digits - 1 - size.log10().floor() as i32
    } else {
        0
    };
    let rounds_to_zero = value.abs() < 0.5 * 10_f64.powi(-decimals.max(0));
    let decimals = if rounds_to_zero && value.abs() > MIN_SHOWN_FRACTION * precision {
        first_decimal(value)
    } else {
        decimals
    };
    if value.abs() >= MAX_PLAIN_AMOUNT || decimals > MAX_DECIMALS {
        return format!("{value:.3e}");
    }
    let decimals = decimals.max(0) as usize;
    let text = format!("{:.decimals$}", value.abs());
    let (whole, fraction) = match text.split_once('.') {
        Some((whole, fraction)) => (whole, format!(".{fraction}")),
        None => (text.as_str(), String::new()),
    };
    let is_zero = text.bytes().all(|byte| matches!(byte, b'0' | b'.'));
    let sign = if value < 0.0 && !is_zero { "-" } else { "" };
    format!("{sign}{}{fraction}", grouped_digits(whole))
}

/// Decimals of a number below 1 that is rounded to one digit.
fn first_decimal(value: f64) -> i32 {
    let text = format!("{value:.0e}");
    let exponent = text
        .split_once('e')
        .and_then(|(_, exponent)| exponent.parse().ok());
    exponent.map_or(0, |exponent: i32| -exponent)
}

/// Digits with thousands separators.
pub fn grouped_digits(digits: &str) -> String {
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Longest name, in bytes, that may become the name of a folder. File systems allow 255 bytes; a
/// number, a hash and the suffixes of files, also temporary ones, need the rest.
const MAX_NAME_BYTES: usize = 100;

/// Characters of a long text that become part of a file name. Untuned: leaves space for suffixes.
const MAX_FILE_NAME_PART_CHARS: usize = 64;

/// Checks a name that will become the name of a file or folder: it must not leave its folder.
///
/// # Errors
/// When the name is empty, longer than `MAX_NAME_BYTES` bytes, consists of dots, or contains a
/// path separator, a colon (a drive on Windows) or a control character. `what` is the owner of the
/// name, for the message.
pub fn check_name(what: &str, name: &str) -> Result<()> {
    let problem = if name.is_empty() {
        "is empty".to_string()
    } else if name.len() > MAX_NAME_BYTES {
        format!("has {} bytes, and {MAX_NAME_BYTES} are allowed", name.len())
    } else if name.chars().all(|c| c == '.') {
        "consists of dots, which refer to a folder".to_string()
    } else if let Some(wrong) = name.chars().find(|c| is_unsafe_in_name(*c)) {
        format!("contains '{}'", escaped(&wrong.to_string()))
    } else {
        return Ok(());
    };
    let shown: String = name.chars().take(MAX_FILE_NAME_PART_CHARS).collect();
    Err(
        Error::setting(format!("the name '{shown}' of {what} {problem}")).with_remedy(
            "it becomes the name of a folder: use letters, digits, spaces, '-' and '_'",
        ),
    )
}

/// Path separators of all systems, the colon of a drive, and invisible characters.
fn is_unsafe_in_name(c: char) -> bool {
    matches!(c, '/' | '\\' | ':') || is_hidden(c)
}

/// Any text as a part of a file name: ASCII letters and digits stay, all else becomes `_`. A long
/// text is truncated and gets a hash of the whole, so different texts have different names.
pub fn file_name_part(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    if text.chars().count() <= MAX_FILE_NAME_PART_CHARS {
        return text.chars().map(plain).collect();
    }
    let kept: String = text
        .chars()
        .take(MAX_FILE_NAME_PART_CHARS)
        .map(plain)
        .collect();
    let hash = blake3::hash(text.as_bytes()).to_hex();
    format!("{kept}-{}", &hash[..16])
}

/// Text for one line of a terminal: control characters, line breaks and marks that reverse the
/// reading order are written as escapes such as `\n` and `\u{1b}`.
pub(crate) fn escaped(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_hidden(c) {
            safe.extend(c.escape_default());
        } else {
            safe.push(c);
        }
    }
    Cow::Owned(safe)
}

/// Several lines of a message as one.
pub(crate) fn one_line(text: &str) -> String {
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    lines.join(", ")
}

/// A path for one line of a terminal.
pub fn display_path(path: &Path) -> String {
    escaped(&path.display().to_string()).into_owned()
}

/// Characters that a terminal does not display but obeys: control characters (C0, DEL, C1), marks
/// of the reading order, separators of lines and paragraphs, and the byte order mark.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}'
        )
        || matches!(c, '\u{2066}'..='\u{2069}')
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}')
}

/// User text in a CSV cell: a spreadsheet would run text that begins with `=`, `+`, `-`, `@`, TAB
/// or CR as a formula, so it is prefixed with a single quote. Numbers such as `-1.5` are unchanged.
pub fn escape_formula(text: &str) -> Cow<'_, str> {
    let begins_a_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    if begins_a_formula && text.parse::<f64>().is_err() {
        return Cow::Owned(format!("'{text}"));
    }
    Cow::Borrowed(text)
}

/// Whether a name matches a pattern in which each `*` matches any characters or none.
pub fn matches_pattern(pattern: &str, name: &str) -> bool {
    let Some((start, remaining)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let Some(mut name) = name.strip_prefix(start) else {
        return false;
    };
    let mut parts = remaining.split('*');
    let end = parts.next_back().unwrap_or_default();
    for part in parts {
        match name.find(part) {
            Some(position) => name = &name[position + part.len()..],
            None => return false,
        }
    }
    name.ends_with(end)
}

/// The name that was probably meant by one that does not exist: the one with the fewest letters to
/// change, insert or remove, at most a third of them and not all, whatever their case.
pub fn nearest_name<'n>(wanted: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let wanted: Vec<char> = wanted.to_lowercase().chars().collect();
    let max_distance = wanted.len().div_ceil(3).min(wanted.len().saturating_sub(1));
    let distances = names
        .into_iter()
        .map(|name| (edit_distance(&wanted, &name.to_lowercase()), name));
    let nearest = distances.min_by_key(|(distance, _)| *distance);
    let (_, name) = nearest.filter(|(distance, _)| *distance <= max_distance)?;
    Some(name)
}

/// Letters to change, insert, remove or exchange with the next one (optimal string alignment).
fn edit_distance(a: &[char], b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let is_changed = usize::from(a[i - 1] != b[j - 1]);
            let mut least = (rows[i - 1][j - 1] + is_changed)
                .min(rows[i - 1][j] + 1)
                .min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

/// The ending of a regular noun after a number.
pub fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

/// The part of each name that is not common to the beginning or the end of all of them: `beer` and
/// `cola` of `profit_beer` and `profit_cola`.
pub fn distinct_parts<T: AsRef<str>>(names: &[T]) -> Vec<&str> {
    let (start, end) = common_ends(names);
    let part = |name: &'_ T| start..name.as_ref().len() - end;
    names
        .iter()
        .map(|name| &name.as_ref()[part(name)])
        .collect()
}

/// The bytes that all names begin with, and those that all of them end with behind these.
pub fn common_ends<T: AsRef<str>>(names: &[T]) -> (usize, usize) {
    let Some(first) = names.first().map(AsRef::as_ref) else {
        return (0, 0);
    };
    let (mut start, mut end) = (first.len(), first.len());
    for name in names.iter().map(AsRef::as_ref) {
        start = start.min(equal_bytes(first.chars(), name.chars()));
    }
    for name in names.iter().map(AsRef::as_ref) {
        let (first, name) = (&first[start..], &name[start..]);
        end = end.min(equal_bytes(first.chars().rev(), name.chars().rev()));
    }
    (start, end)
}

/// The length of the characters that two texts have in common before the first difference.
fn equal_bytes(a: impl Iterator<Item = char>, b: impl Iterator<Item = char>) -> usize {
    a.zip(b)
        .take_while(|(a, b)| a == b)
        .map(|(a, _)| a.len_utf8())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_a_typing_error_away() {
        let names = ["oli", "date", "steel_price"];
        assert_eq!(nearest_name("oil", names), Some("oli"));
        assert_eq!(nearest_name("Date", names), Some("date"));
        assert_eq!(nearest_name("steelprice", names), Some("steel_price"));
        assert_eq!(nearest_name("wind", names), None);
        assert_eq!(nearest_name("z", ["b"]), None);
    }

    #[test]
    fn long_lists_of_names_are_cut() {
        let names: Vec<String> = (0..20).map(|j| format!("x{j}")).collect();
        assert!(first_names(&names).ends_with("x7 and 12 more"));
        assert!(first_names(&names[..8]).ends_with(", x7"));
        assert_eq!(first_names(&names[..2]), "x0, x1");
        assert_eq!(first_names(&names[..0]), "");
    }

    #[test]
    fn amounts_have_the_digits_that_their_precision_supports() {
        for (value, precision, expected) in [
            (1240.3, 720.0, "1,240"),
            (-1240.3, 720.0, "-1,240"),
            (12.345, 0.5, "12.35"),
            (-0.0004, 0.5, "-0.0004"),
            (0.36, 39.0, "0.4"),
            (0.000_97, 39.0, "0.001"),
            (-1e-9, 39.0, "0"),
            (0.0, 39.0, "0"),
            (1_234_567.8, 0.0, "1,234,568"),
            (0.123_456, 0.0, "0.1235"),
            (0.0, 0.0, "0"),
            (2e16, 1e15, "2.000e16"),
            (3e-20, 1e-20, "3.000e-20"),
        ] {
            assert_eq!(amount(value, precision), expected);
        }
    }

    #[test]
    fn names_that_leave_their_folder_are_refused() {
        let bad = [
            "",
            ".",
            "..",
            "...",
            "../victim",
            "/etc",
            "a/b",
            "a\\b",
            "C:x",
            "a\0b",
            "a\nb",
            "a\u{202e}b",
        ];
        for name in bad {
            let error = check_name("the experiment", name).unwrap_err().to_string();
            assert!(error.contains("the experiment"), "{error}");
            assert!(!error.chars().any(char::is_control), "{error:?}");
        }
        assert!(check_name("a problem", &"x".repeat(MAX_NAME_BYTES + 1)).is_err());
        for name in [
            "mine",
            "a.b",
            "..a",
            "two words",
            "Überblick",
            &"x".repeat(MAX_NAME_BYTES),
        ] {
            check_name("a problem", name).unwrap();
        }
    }

    #[test]
    fn long_texts_become_short_file_names_that_differ() {
        assert_eq!(file_name_part("MAE(O,S)"), "MAE_O_S_");
        let [first, second] = ["x", "y"].map(|end| file_name_part(&("l".repeat(10_000) + end)));
        assert!(first.len() < 100 && second.len() < 100);
        assert_ne!(first, second);
    }

    #[test]
    fn a_star_matches_any_characters_or_none() {
        for (pattern, name) in [
            ("c*", "c"),
            ("c*", "c12"),
            ("*", ""),
            ("*_eur", "x_eur"),
            ("x*y", "xy"),
            ("*a*b", "caxxb"),
            ("a*b*c", "a1b2b3c"),
        ] {
            assert!(matches_pattern(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [
            ("c", "c1"),
            ("c*", "xc"),
            ("x*y", "x"),
            ("*_eur", "eur"),
            ("*a*b", "ba"),
            ("a*b*c", "acb"),
            ("ab*ba", "aba"),
        ] {
            assert!(!matches_pattern(pattern, name), "{pattern} {name}");
        }
    }

    #[test]
    fn hidden_characters_are_shown() {
        assert_eq!(
            escaped("\u{1b}]0;x\u{7}\u{9b}31m"),
            "\\u{1b}]0;x\\u{7}\\u{9b}31m"
        );
        assert_eq!(escaped("a\nb\tc\u{202e}d"), "a\\nb\\tc\\u{202e}d");
        assert_eq!(escaped("Größe 東京 'x' \\d"), "Größe 東京 'x' \\d");
    }

    #[test]
    fn formulas_are_guarded_and_numbers_are_not() {
        for text in ["=cmd|'/c calc'!A1", "+x", "-x", "@SUM(A1)", "\tx", "\rx"] {
            assert_eq!(escape_formula(text), format!("'{text}"));
        }
        for text in ["-1.5", "+3", "-1e-9", "MSE", "", "a=b"] {
            assert_eq!(escape_formula(text), text);
        }
    }
}
