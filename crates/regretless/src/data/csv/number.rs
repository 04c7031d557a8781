//! Numbers in cells.

use std::borrow::Cow;

use crate::data::CsvDialect;

/// Parses a number, rounded once to single precision.
///
/// # Errors
/// A message with the cell and a remedy.
pub(super) fn parse(cell: &str, dialect: CsvDialect) -> Result<f32, String> {
    let parsed = with_decimal_point(cell, dialect).map(|text| text.parse::<f32>());
    match parsed {
        Some(Ok(number)) if number.is_finite() => Ok(number),
        Some(Ok(_)) if has_digit(cell) => Err(format!(
            "{} is beyond single precision; numbers reach to 3.4e38",
            quoted(cell)
        )),
        Some(Ok(_)) => Err(format!(
            "{} is not finite; fill in a number or leave the row out",
            quoted(cell)
        )),
        _ if cell.is_empty() => {
            Err("the cell is empty; fill in a number or leave the row out".into())
        }
        _ if looks_numeric(cell, dialect) => Err(other_notation(cell, dialect)),
        _ => Err(format!(
            "{} is not a number; ignore the column if it is not meant to be one",
            quoted(cell)
        )),
    }
}

/// Parses a number in double precision; infinite numbers are bounds that do not bind.
///
/// # Errors
/// A message with the cell and a remedy.
pub(super) fn parse_f64(cell: &str, dialect: CsvDialect) -> Result<f64, String> {
    let parsed = with_decimal_point(cell, dialect).map(|text| text.parse::<f64>());
    match parsed {
        Some(Ok(number)) if number.is_infinite() && has_digit(cell) => Err(format!(
            "{} is beyond double precision; numbers reach to 1.8e308, and 'inf' has no bound",
            quoted(cell)
        )),
        Some(Ok(number)) if !number.is_nan() => Ok(number),
        Some(Ok(_)) => Err(format!("{} is not a number; fill in one", quoted(cell))),
        _ if cell.is_empty() => Err(
            "the cell is empty, but the problem needs this parameter; fill in a number, or leave \
             the row out"
                .into(),
        ),
        _ if looks_numeric(cell, dialect) => Err(other_notation(cell, dialect)),
        _ => Err(format!(
            "{} is not a number, but the problem needs this parameter",
            quoted(cell)
        )),
    }
}

/// What is wrong with a number in another way of writing.
fn other_notation(cell: &str, dialect: CsvDialect) -> String {
    let [name, decimal, other] = if dialect.has_decimal_comma() {
        ["comma", ",", "."]
    } else {
        ["point", ".", ","]
    };
    // If the other character separates thousands, reading it as a decimal mark would make 3,950 a
    // wrong number without a message. A number that begins with 0 has no thousands.
    let has_leading_zero = cell.trim_start_matches(['-', '+']).starts_with('0');
    if is_grouped(cell, other, decimal) && !has_leading_zero {
        let may_be_decimal = cell.matches(other).count() == 1 && !cell.contains(decimal);
        let otherwise = if may_be_decimal {
            format!(", or set `decimal` to '{other}' if it precedes decimals in the whole table")
        } else {
            String::new()
        };
        return format!(
            "{} looks like a number with thousands separators; write {}{otherwise}",
            quoted(cell),
            cell.replace(other, "")
        );
    }
    format!(
        "{} is not a number; write a decimal {name} and no thousands separators, or set `decimal` \
         to '{other}'",
        quoted(cell)
    )
}

fn has_digit(cell: &str) -> bool {
    cell.bytes().any(|byte| byte.is_ascii_digit())
}

/// A cell with a point in place of a decimal comma; `None` if a decimal point is not allowed.
pub(super) fn with_decimal_point(cell: &str, dialect: CsvDialect) -> Option<Cow<'_, str>> {
    if !dialect.has_decimal_comma() {
        return Some(Cow::Borrowed(cell));
    }
    if cell.contains('.') {
        return None;
    }
    Some(if cell.contains(',') {
        Cow::Owned(cell.replace(',', "."))
    } else {
        Cow::Borrowed(cell)
    })
}

/// Whether a cell is a number in some way of writing: with a decimal point or comma, or with
/// thousands separators.
pub(super) fn looks_numeric(cell: &str, dialect: CsvDialect) -> bool {
    if cell.parse::<f32>().is_ok() {
        return true;
    }
    if !cell.contains(',') && !cell.contains('.') {
        return false;
    }
    cell.replace(',', ".").parse::<f32>().is_ok()
        || if dialect.has_decimal_comma() {
            is_grouped(cell, ".", ",")
        } else {
            is_grouped(cell, ",", ".")
        }
}

/// Whether a cell has thousands separators, as in 1,234,567.8.
fn is_grouped(cell: &str, separator: &str, decimal: &str) -> bool {
    let cell = cell.trim_start_matches(['-', '+']);
    let (whole, fraction) = cell.split_once(decimal).unwrap_or((cell, ""));
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let mut groups = whole.split(separator);
    let first = groups.next().unwrap_or_default();
    (1..=3).contains(&first.len())
        && are_digits(first)
        && are_digits(fraction)
        && groups.all(|group| group.len() == 3 && are_digits(group))
}

/// A cell in quotation marks, truncated when long.
pub(super) fn quoted(cell: &str) -> String {
    const MAX_QUOTED_CHARS: usize = 40;
    match cell.char_indices().nth(MAX_QUOTED_CHARS) {
        None => format!("'{cell}'"),
        Some((end, _)) => format!("'{}…'", &cell[..end]),
    }
}

/// The shortest text that reads back as the same number.
pub fn shortest(number: impl std::fmt::Debug) -> String {
    let mut text = format!("{number:?}");
    if text.ends_with(".0") {
        text.truncate(text.len() - 2);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{looks_numeric, parse, quoted, shortest};
    use crate::data::CsvDialect;

    #[test]
    fn numbers_are_written_short_and_read_back_the_same() {
        for (number, text) in [
            (1.0_f32, "1"),
            (-0.0, "-0"),
            (0.1, "0.1"),
            (1e30, "1e30"),
            (1e-45, "1e-45"),
        ] {
            assert_eq!(shortest(number), text);
            assert_eq!(
                parse(text, CsvDialect::default()).map(f32::to_bits),
                Ok(number.to_bits())
            );
        }
    }

    #[test]
    fn decimals_follow_a_comma_where_the_dialect_says_so() {
        let comma = CsvDialect::new(";", ",").unwrap();
        for (text, number) in [("1,5", 1.5), ("-0,25", -0.25), ("3", 3.0), ("1,5e2", 150.0)] {
            assert_eq!(parse(text, comma), Ok(number));
        }
        for text in ["1.5", "1.234,5", "1,2,3", "1.234.567", ""] {
            assert!(parse(text, comma).is_err(), "{text}");
        }
        let point = CsvDialect::default();
        for text in ["1,5", "1,234.5", "1,234", "1 000"] {
            assert!(parse(text, point).is_err(), "{text}");
        }
    }

    #[test]
    fn numbers_in_another_way_of_writing_are_not_taken_for_text() {
        let (point, comma) = (CsvDialect::default(), CsvDialect::new(";", ",").unwrap());
        for text in ["1,5", "1,234,567.8", "1.5", "-1,234"] {
            assert!(looks_numeric(text, point), "{text}");
        }
        for text in ["1.5", "1.234.567,8", "1,5"] {
            assert!(looks_numeric(text, comma), "{text}");
        }
        for text in [
            "27.10.2025",
            "2025-10-27",
            "Monday",
            "1,2,3",
            "a,b",
            "1.2.3",
        ] {
            assert!(!looks_numeric(text, point), "{text}");
            assert!(!looks_numeric(text, comma), "{text}");
        }
    }

    #[test]
    fn long_cells_are_cut_between_characters() {
        assert_eq!(quoted(&"é".repeat(41)), format!("'{}…'", "é".repeat(40)));
        assert_eq!(quoted("é"), "'é'");
    }
}
