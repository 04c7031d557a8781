//! Columns as they are read: numbers with gaps, texts and times.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::super::{CsvDialect, FeatureShape, Features, csv};
use super::FeatureOptions;
use crate::data::row_times::wall_clock_seconds;
use crate::error::{Error, InputPlace, Result};

/// The code of a gap in a column of texts.
pub(crate) const TEXT_GAP: u32 = u32::MAX;
/// A gap in a column of times.
pub(crate) const TIME_GAP: i64 = i64::MIN;
/// The row of an item that does not exist in its instance.
const ABSENT_ROW: u32 = u32::MAX;

/// Columns as they are read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RawTable {
    pub columns: Vec<RawColumn>,
    /// The columns of numbers, row by row; NaN is a gap.
    pub numbers: Vec<f32>,
    /// Columns of `numbers`; some may be unused.
    pub width: usize,
    pub rows: usize,
    pub options: FeatureOptions,
    pub origin: Option<TableOrigin>,
}

/// The file of a table; row r of the table is record r + 1.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TableOrigin {
    pub path: PathBuf,
    pub dialect: CsvDialect,
}

/// One column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RawColumn {
    pub name: String,
    pub cells: RawCells,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum RawCells {
    /// A column of `RawTable::numbers`.
    Numbers {
        slot: usize,
    },
    Texts(TextCells),
    /// Seconds since 1970-01-01T00:00 of the clock.
    Times(Vec<i64>),
}

/// Texts by their number in a list of distinct ones.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct TextCells {
    /// In order of first appearance.
    pub values: Vec<String>,
    pub codes: Vec<u32>,
}

/// Collects texts.
#[derive(Debug, Default)]
pub(crate) struct TextCollector {
    cells: TextCells,
    numbers: HashMap<String, u32>,
}

impl TextCollector {
    /// A collector after this many gaps.
    pub fn after_gaps(count: usize) -> Self {
        let mut collector = Self::default();
        collector.cells.codes.resize(count, TEXT_GAP);
        collector
    }

    pub fn push_gap(&mut self) {
        self.cells.codes.push(TEXT_GAP);
    }

    pub fn push(&mut self, text: &str) {
        let text = without_zero_decimals(text);
        if let Some(code) = self.numbers.get(text) {
            self.cells.codes.push(*code);
            return;
        }
        // Codes are in the order of appearance: the same file gives the same codes.
        let code = self.cells.values.len() as u32;
        self.numbers.insert(text.to_owned(), code);
        self.cells.values.push(text.to_owned());
        self.cells.codes.push(code);
    }

    pub fn finish(self) -> TextCells {
        self.cells
    }
}

/// A whole number without a fraction of zeros: 3 and 3.0 are the same category.
fn without_zero_decimals(text: &str) -> &str {
    match text.split_once('.') {
        Some((whole, zeros))
            if !zeros.is_empty()
                && zeros.bytes().all(|byte| byte == b'0')
                && !whole.trim_start_matches('-').is_empty()
                && whole
                    .trim_start_matches('-')
                    .bytes()
                    .all(|byte| byte.is_ascii_digit()) =>
        {
            whole
        }
        _ => text,
    }
}

/// A number as the text of a category.
pub(crate) fn number_text(number: f32) -> String {
    // Negative zero is zero.
    (number + 0.0).to_string()
}

/// Rows of a raw table.
#[derive(Debug, Clone)]
pub(crate) struct RawRows {
    table: Arc<RawTable>,
    /// Row numbers; all rows in order if absent.
    rows: Option<Arc<Vec<u32>>>,
}

impl PartialEq for RawRows {
    fn eq(&self, other: &Self) -> bool {
        self.rows == other.rows
            && (Arc::ptr_eq(&self.table, &other.table) || self.table == other.table)
    }
}

impl RawRows {
    pub fn all(table: RawTable) -> Self {
        Self {
            table: Arc::new(table),
            rows: None,
        }
    }

    /// The rows of a long table in the order of its slots; some may be absent.
    pub fn arranged(self, rows: &[Option<usize>]) -> Self {
        let index = |row: &Option<usize>| row.map_or(ABSENT_ROW, |row| row as u32);
        Self {
            rows: Some(Arc::new(rows.iter().map(index).collect())),
            ..self
        }
    }

    pub fn table(&self) -> &RawTable {
        &self.table
    }

    pub fn len(&self) -> usize {
        self.rows
            .as_ref()
            .map_or(self.table.rows, |rows| rows.len())
    }

    /// The row of the table; `None` if the item does not exist.
    pub fn row(&self, row: usize) -> Option<usize> {
        match &self.rows {
            None => Some(row),
            Some(rows) => Some(rows[row])
                .filter(|row| *row != ABSENT_ROW)
                .map(|row| row as usize),
        }
    }

    pub fn select(&self, rows: &[usize]) -> Self {
        let index = |row: &usize| match &self.rows {
            None => *row as u32,
            Some(rows) => rows[*row],
        };
        Self {
            table: Arc::clone(&self.table),
            rows: Some(Arc::new(rows.iter().map(index).collect())),
        }
    }

    /// Where a cell is, for messages; rows in memory are counted from 0.
    pub fn place(&self, row: usize, column: &str) -> InputPlace {
        // Messages name the row of the file, which splits and selections have changed.
        let row = self.row(row).unwrap_or(row);
        match &self.table.origin {
            None => InputPlace::default().row(row as u64).column(column),
            Some(origin) => {
                let row = csv::row_number(&origin.path, row as u64 + 1, origin.dialect);
                InputPlace::file(&origin.path).row(row).column(column)
            }
        }
    }

    /// Whether rows are counted from 0 in messages.
    pub fn is_in_memory(&self) -> bool {
        self.table.origin.is_none()
    }
}

/// Whether a cell says that its value is missing. `None` is what Python writes for a gap; `none` in
/// other cases is a value of many categories, as in pandas.
pub(crate) fn is_gap(cell: &str) -> bool {
    const MARKERS: [&str; 7] = ["", "na", "n/a", "#n/a", "nan", "null", "<na>"];
    // No marker is longer.
    cell.len() <= 4
        && (cell == "None"
            || MARKERS
                .iter()
                .any(|marker| cell.eq_ignore_ascii_case(marker)))
}

/// The truth value of a word; `None` for other words.
pub(crate) fn truth_value(word: &str) -> Option<bool> {
    let is = |words: &[&str]| words.iter().any(|known| word.eq_ignore_ascii_case(known));
    if is(&["true", "yes", "t", "y"]) {
        Some(true)
    } else if is(&["false", "no", "f", "n"]) {
        Some(false)
    } else {
        None
    }
}

/// Columns in memory, from which the features of a table or of a row are made.
#[derive(Debug, Default)]
pub struct FeatureTable {
    columns: Vec<RawColumn>,
    /// The columns of numbers.
    numbers: Vec<Vec<f32>>,
}

impl FeatureTable {
    /// A column of numbers; NaN is a gap.
    #[must_use]
    pub fn numbers(mut self, name: impl Into<String>, values: Vec<f32>) -> Self {
        let slot = self.numbers.len();
        self.numbers.push(values);
        self.with_cells(name, RawCells::Numbers { slot })
    }

    /// A column of texts; `None` is a gap.
    #[must_use]
    pub fn texts<T: AsRef<str>>(
        self,
        name: impl Into<String>,
        values: impl IntoIterator<Item = Option<T>>,
    ) -> Self {
        let mut collector = TextCollector::default();
        for value in values {
            match value.as_ref().map(|text| text.as_ref().trim()) {
                // The same markers as in files: a table in memory and its file have the same gaps.
                Some(text) if !is_gap(text) => collector.push(text),
                Some(_) | None => collector.push_gap(),
            }
        }
        self.with_cells(name, RawCells::Texts(collector.finish()))
    }

    /// A column of dates such as `2026-01-31` or date-times such as `2026-01-31T18:30`; `None` is a
    /// gap.
    ///
    /// # Errors
    /// When a text is no date; the error has its row, counted from 0.
    pub fn dates<T: AsRef<str>>(
        self,
        name: impl Into<String>,
        values: impl IntoIterator<Item = Option<T>>,
    ) -> Result<Self> {
        let name = name.into();
        let mut times = Vec::new();
        for (row, value) in values.into_iter().enumerate() {
            let text = value.as_ref().map(|text| text.as_ref().trim());
            times.push(match text {
                Some(text) if !is_gap(text) => wall_clock_seconds(text).ok_or_else(|| {
                    let place = InputPlace::default().row(row as u64).column(&name);
                    Error::input(place, format!("{} (rows counted from 0)", no_date(text)))
                })?,
                Some(_) | None => TIME_GAP,
            });
        }
        Ok(self.with_cells(name, RawCells::Times(times)))
    }

    fn with_cells(mut self, name: impl Into<String>, cells: RawCells) -> Self {
        let name = name.into();
        self.columns.push(RawColumn { name, cells });
        self
    }

    /// The features of a table with one row per instance. Columns of numbers without gaps are used
    /// as they are; if there are others, the table is encoded when it is split, and a row when a
    /// model predicts its costs.
    ///
    /// # Errors
    /// When columns have different numbers of rows, or names are empty or duplicated.
    pub fn features(self, options: FeatureOptions) -> Result<Features> {
        options.check()?;
        let lengths = self.columns.iter().map(|column| match &column.cells {
            RawCells::Numbers { slot } => self.numbers[*slot].len(),
            RawCells::Texts(cells) => cells.codes.len(),
            RawCells::Times(times) => times.len(),
        });
        let lengths: Vec<usize> = lengths.collect();
        let rows = lengths.first().copied().unwrap_or(0);
        if let Some(other) = lengths.iter().position(|length| *length != rows) {
            let (first, name) = (&self.columns[0].name, &self.columns[other].name);
            return Err(Error::data(format!(
                "column '{first}' has {rows} rows, but '{name}' has {}",
                lengths[other]
            )));
        }
        let width = self.numbers.len();
        let mut numbers = Vec::with_capacity(rows * width);
        for row in 0..rows {
            numbers.extend(self.numbers.iter().map(|column| column[row]));
        }
        let table = RawTable {
            columns: self.columns,
            numbers,
            width,
            rows,
            options,
            origin: None,
        };
        Features::from_raw_table(table, FeatureShape::Wide)
    }
}

/// The message for a text that is no date.
pub(crate) fn no_date(text: &str) -> String {
    let start: String = text.chars().take(40).collect();
    format!("'{start}' is no date; write dates such as 2026-01-31 or 2026-01-31T18:30")
}

#[cfg(test)]
mod tests {
    use super::{TEXT_GAP, TextCollector, is_gap, truth_value};

    #[test]
    fn known_words_are_gaps_and_others_are_not() {
        for gap in ["", "NA", "n/a", "NaN", "NULL", "None", "<NA>", "#N/A"] {
            assert!(is_gap(gap), "{gap}");
        }
        for value in ["0", "-", "nano", "nil", "missing", "none", "NONE"] {
            assert!(!is_gap(value), "{value}");
        }
        assert_eq!(truth_value("Yes"), Some(true));
        assert_eq!(truth_value("FALSE"), Some(false));
        assert_eq!(truth_value("maybe"), None);
    }

    #[test]
    fn whole_numbers_are_one_category_however_they_are_written() {
        let mut collector = TextCollector::after_gaps(1);
        for text in ["3", "3.0", "-3.00", "03", "3.5", "v1.0"] {
            collector.push(text);
        }
        let cells = collector.finish();
        assert_eq!(cells.values, ["3", "-3", "03", "3.5", "v1.0"]);
        assert_eq!(cells.codes, [TEXT_GAP, 0, 0, 1, 2, 3, 4]);
    }
}
