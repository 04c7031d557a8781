//! Row numbers as a spreadsheet shows them.
//!
//! The parser numbers records: it skips empty lines, and a quoted cell may span several lines. A
//! spreadsheet shows an empty line as a row and a quoted cell as part of one row. The difference
//! matters only for the row of an error, so the file is scanned again only then.

use std::io::{BufRead, BufReader};
use std::path::Path;

use crate::compressed::DecompressedStream;
use crate::data::CsvDialect;

/// The row in which a spreadsheet shows this record, the header being record 0 and row 1.
pub(super) fn row_of(path: &Path, record: u64, dialect: CsvDialect) -> u64 {
    let counted = DecompressedStream::open(path)
        .ok()
        .and_then(|file| find_row(BufReader::new(file), record, dialect.delimiter()));
    counted.unwrap_or(record + 1)
}

/// The state of the scanner within a cell.
#[derive(Clone, Copy, PartialEq)]
enum CsvCellState {
    Start,
    Unquoted,
    Quoted,
    /// After a quote inside a quoted cell: either the end of the cell or half of a doubled quote.
    Closing,
}

/// The row of a record; `None` if the text has fewer records.
fn find_row(mut text: impl BufRead, record: u64, delimiter: u8) -> Option<u64> {
    let (mut row, mut records) = (1, 0);
    let (mut cell, mut is_empty, mut after_return) = (CsvCellState::Start, true, false);
    loop {
        let bytes = text.fill_buf().ok()?;
        if bytes.is_empty() {
            return (!is_empty && records == record).then_some(row);
        }
        for byte in bytes {
            let ends_row = cell != CsvCellState::Quoted && matches!(byte, b'\r' | b'\n');
            if ends_row && *byte == b'\n' && after_return {
                after_return = false;
                continue;
            }
            after_return = ends_row && *byte == b'\r';
            if ends_row {
                if !is_empty && records == record {
                    return Some(row);
                }
                records += u64::from(!is_empty);
                row += 1;
                (cell, is_empty) = (CsvCellState::Start, true);
            } else {
                is_empty = false;
                cell = next_state(cell, *byte, delimiter);
            }
        }
        let used = bytes.len();
        text.consume(used);
    }
}

fn next_state(cell: CsvCellState, byte: u8, delimiter: u8) -> CsvCellState {
    match (cell, byte) {
        (CsvCellState::Start | CsvCellState::Closing, b'"') => CsvCellState::Quoted,
        (CsvCellState::Quoted, b'"') => CsvCellState::Closing,
        (CsvCellState::Quoted, _) => CsvCellState::Quoted,
        (CsvCellState::Start | CsvCellState::Unquoted | CsvCellState::Closing, _) => {
            if byte == delimiter {
                CsvCellState::Start
            } else {
                CsvCellState::Unquoted
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::find_row;

    fn rows(text: &str) -> Vec<Option<u64>> {
        (0..4)
            .map(|record| find_row(text.as_bytes(), record, b','))
            .collect()
    }

    #[test]
    fn line_ends_of_all_kinds_count_once() {
        let expected = [Some(1), Some(2), Some(3), None];
        for text in ["a\n1\n2\n", "a\r\n1\r\n2\r\n", "a\r1\r2", "a\n1\r\n2"] {
            assert_eq!(rows(text), expected, "{text:?}");
        }
    }

    #[test]
    fn empty_lines_are_rows_but_not_records() {
        assert_eq!(
            rows("\na\r\n\r\n\r\n1\n2\n"),
            [Some(2), Some(5), Some(6), None]
        );
    }

    #[test]
    fn a_quoted_line_end_stays_within_its_row() {
        assert_eq!(
            rows("a,b\n\"x\ny\",\"\"\"\n\"\n1,2\n3\" \n4"),
            [Some(1), Some(2), Some(3), Some(4)]
        );
        let semicolons = "a;b\n1;\"x\ny\"\n2;3\n";
        assert_eq!(find_row(semicolons.as_bytes(), 2, b';'), Some(3));
    }
}
