//! Numbers in cells.

/// Parses a number, rounded once to single precision.
///
/// # Errors
/// A message with the cell and a remedy.
pub(super) fn parse(cell: &str) -> Result<f32, String> {
    match cell.parse::<f32>() {
        Ok(number) if number.is_finite() => Ok(number),
        Ok(_) if cell.bytes().any(|byte| byte.is_ascii_digit()) => Err(format!(
            "{} is beyond single precision; numbers reach to 3.4e38",
            quoted(cell)
        )),
        Ok(_) => Err(format!(
            "{} is not finite; fill in a number or leave the row out",
            quoted(cell)
        )),
        Err(_) if cell.is_empty() => {
            Err("the cell is empty; fill in a number or leave the row out".into())
        }
        Err(_) if looks_grouped(cell) => {
            let advice = "write a decimal point and no thousands separators";
            Err(format!("{} is not a number; {advice}", quoted(cell)))
        }
        Err(_) => Err(format!(
            "{} is not a number; ignore the column if it is not meant to be one",
            quoted(cell)
        )),
    }
}

fn looks_grouped(cell: &str) -> bool {
    cell.contains(',')
        && cell
            .trim_start_matches(['-', '+'])
            .bytes()
            .all(|b| b.is_ascii_digit() || b",.".contains(&b))
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
pub(super) fn shortest(number: impl std::fmt::Debug) -> String {
    let mut text = format!("{number:?}");
    if text.ends_with(".0") {
        text.truncate(text.len() - 2);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{parse, quoted, shortest};

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
            assert_eq!(parse(text).map(f32::to_bits), Ok(number.to_bits()));
        }
    }

    #[test]
    fn long_cells_are_cut_between_characters() {
        assert_eq!(quoted(&"é".repeat(41)), format!("'{}…'", "é".repeat(40)));
        assert_eq!(quoted("é"), "'é'");
    }
}
