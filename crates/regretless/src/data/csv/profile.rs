//! What the cells of each column of a file are, before anybody said what the columns mean.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::number;
use super::table::CsvTable;
use crate::data::date_forms::looks_like_date;
use crate::data::encoding::is_gap;
use crate::data::row_times::is_date;
use crate::data::{ColumnProfile, CsvDialect, TableProfile, ValueKind};
use crate::error::Result;

/// Most different cells of a column that are told apart: whether a column names its rows shows
/// within the first of them, and the set must not grow with the table.
const MAX_COUNTED_VALUES: usize = 10_000;
/// Share of the cells that must look like dates in a column of dates: some may be misspelled.
const MIN_DATE_SHARE: f64 = 0.8;
/// Longest text of a cell that is kept for a message.
const MAX_TEXT_CHARS: usize = 40;

/// The cells of a column so far.
struct ColumnCounter {
    empty: usize,
    numbers: usize,
    dates: usize,
    texts: usize,
    zeros: usize,
    ones: usize,
    negatives: usize,
    whole: usize,
    /// Hashes of different cells.
    seen: HashSet<u64>,
    /// Rows until the set of different cells was full.
    counted: usize,
    /// All cells in order, numbers by their value.
    content: DefaultHasher,
    /// The record of the first gap.
    first_gap: Option<u64>,
    /// Cells that look like dates but are not read as such.
    date_like: usize,
    /// The first cell that is neither a gap nor a date, with its record.
    first_other: Option<(u64, String)>,
}

impl ColumnCounter {
    fn new() -> Self {
        Self {
            empty: 0,
            numbers: 0,
            dates: 0,
            texts: 0,
            zeros: 0,
            ones: 0,
            negatives: 0,
            whole: 0,
            seen: HashSet::new(),
            counted: 0,
            content: DefaultHasher::new(),
            first_gap: None,
            date_like: 0,
            first_other: None,
        }
    }

    fn add(&mut self, cell: &str, table: &CsvTable) {
        if self.seen.len() < MAX_COUNTED_VALUES {
            let mut hasher = DefaultHasher::new();
            cell.hash(&mut hasher);
            self.seen.insert(hasher.finish());
            self.counted += 1;
        }
        if is_gap(cell) {
            self.empty += 1;
            self.first_gap.get_or_insert(table.record());
            // Not the text: gaps are written in several ways.
            "".hash(&mut self.content);
        } else if let Ok(value) = number::parse_f64(cell, table.dialect()) {
            value.to_bits().hash(&mut self.content);
            self.numbers += 1;
            self.zeros += usize::from(value == 0.0);
            self.ones += usize::from(value == 1.0);
            self.negatives += usize::from(value < 0.0);
            self.whole += usize::from(value.fract() == 0.0);
            self.count_other(cell, table);
        } else {
            cell.hash(&mut self.content);
            if is_date(cell) {
                self.dates += 1;
            } else {
                self.texts += 1;
                self.count_other(cell, table);
            }
        }
    }

    /// A cell that is neither a gap nor a date.
    fn count_other(&mut self, cell: &str, table: &CsvTable) {
        self.date_like += usize::from(looks_like_date(cell));
        if self.first_other.is_none() {
            let text = cell.chars().take(MAX_TEXT_CHARS).collect();
            self.first_other = Some((table.record(), text));
        }
    }

    /// The first cell that is no date of ISO 8601 in a column of dates. All numbers must look like
    /// one: amounts of eight digits do by chance.
    fn unread_date(&self, table: &CsvTable) -> Option<(u64, String)> {
        let (record, text) = self.first_other.as_ref()?;
        let dates = (self.dates + self.date_like) as f64;
        let cells = self.numbers + self.dates + self.texts;
        let is_number = self.dates + self.texts == 0;
        let is_column_of_dates = if is_number {
            self.date_like == cells
        } else {
            dates >= MIN_DATE_SHARE * cells as f64
        };
        is_column_of_dates.then(|| (table.row_of(*record), text.clone()))
    }

    fn profile(&self, name: &str, table: &CsvTable) -> ColumnProfile {
        let kind = match (self.numbers, self.dates, self.texts) {
            (0, 0, 0) => ValueKind::Empty,
            (_, 0, 0) => ValueKind::Number,
            (0, _, 0) => ValueKind::Date,
            _ => ValueKind::Text,
        };
        let numbers = self.numbers.max(1) as f64;
        ColumnProfile {
            name: name.to_owned(),
            kind,
            gaps: self.empty,
            distinct: self.seen.len(),
            names_rows: self.seen.len() == self.counted && self.empty == 0,
            zero_share: self.zeros as f64 / numbers,
            is_binary: self.numbers > 0 && self.zeros + self.ones == self.numbers,
            is_integral: self.whole == self.numbers,
            has_negatives: self.negatives > 0,
            content: self.content.finish(),
            first_gap: self.first_gap.map(|record| table.row_of(record)),
            unread_date: self.unread_date(table),
        }
    }
}

/// Reads all cells of a file once.
pub(in crate::data) fn profile(mut table: CsvTable) -> Result<TableProfile> {
    let names = table.header().names.to_vec();
    let mut counters: Vec<ColumnCounter> = names.iter().map(|_| ColumnCounter::new()).collect();
    let mut rows = 0;
    while table.next_row()? {
        for (column, counter) in counters.iter_mut().enumerate() {
            counter.add(table.text(column)?, &table);
        }
        rows += 1;
    }
    let named = names.iter().zip(&counters);
    Ok(TableProfile {
        rows,
        columns: named
            .map(|(name, counter)| counter.profile(name, &table))
            .collect(),
    })
}

/// Passes the cells of some columns to a function, row by row; numbers have a decimal point.
pub(in crate::data) fn visit_rows(
    mut table: CsvTable,
    columns: &[String],
    visit: &mut dyn FnMut(&[String]) -> Result<()>,
) -> Result<()> {
    let header = table.header();
    let positions = columns.iter().map(|name| header.column(name));
    let positions: Vec<usize> = positions.collect::<Result<_>>()?;
    let mut cells = vec![String::new(); columns.len()];
    while table.next_row()? {
        for (cell, column) in cells.iter_mut().zip(&positions) {
            let text = table.text(*column)?;
            *cell = match number::parse_f64(text, table.dialect()) {
                Ok(value) if table.dialect() != CsvDialect::default() => value.to_string(),
                Ok(_) | Err(_) => text.to_owned(),
            };
        }
        visit(&cells)?;
    }
    Ok(())
}

/// The cells of all columns, numbers with a decimal point.
pub(in crate::data) fn texts(mut table: CsvTable) -> Result<Vec<Vec<String>>> {
    let mut columns: Vec<Vec<String>> = vec![Vec::new(); table.header().names.len()];
    while table.next_row()? {
        for (column, cells) in columns.iter_mut().enumerate() {
            cells.push(table.text(column)?.to_owned());
        }
    }
    let dialect = table.dialect();
    if dialect == CsvDialect::default() {
        return Ok(columns);
    }
    for cells in &mut columns {
        let number = |cell: &String| number::parse_f64(cell, dialect);
        // Texts that look like numbers stay as they are where other cells do not.
        if cells
            .iter()
            .all(|cell| is_gap(cell) || number(cell).is_ok())
        {
            for cell in cells.iter_mut() {
                if let Ok(value) = number(cell) {
                    *cell = value.to_string();
                }
            }
        }
    }
    Ok(columns)
}
