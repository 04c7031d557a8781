//! Applies the code of one column to the cells of raw rows: what all kinds of code share.

use std::borrow::Cow;

use super::super::csv;
use super::calendar::{self, day_of};
use super::raw::{RawCells, RawColumn, RawRows, TEXT_GAP, TIME_GAP, number_text};
use super::{ColumnCode, ColumnEncoding};
use crate::error::{Error, InputPlace, Result};

/// Encoded rows.
pub(super) struct EncodedRows {
    pub(super) values: Vec<f32>,
    pub(super) width: usize,
    /// What was handled, for people.
    pub(super) notes: Vec<String>,
}

/// Rows in which something occurs.
#[derive(Default)]
pub(super) struct Occurrences {
    pub(super) count: usize,
    pub(super) first: Option<usize>,
}

impl Occurrences {
    pub(super) fn add(&mut self, row: usize) {
        self.count += 1;
        self.first.get_or_insert(row);
    }
}

impl RawRows {
    pub(super) fn column(&self, name: &str) -> Result<&RawColumn> {
        let columns = &self.table().columns;
        columns
            .iter()
            .find(|column| column.name == name)
            .ok_or_else(|| {
                let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
                Error::data(format!("the model expects the column '{name}'"))
                    .with_remedy(format!("the table has {}", names.join(", ")))
            })
    }

    /// A place with the file, if there is one.
    pub(super) fn in_file(&self, place: InputPlace) -> InputPlace {
        match &self.table().origin {
            None => place,
            Some(origin) => InputPlace {
                file: Some(origin.path.clone()),
                ..place
            },
        }
    }

    pub(super) fn cell_error(&self, row: usize, column: &str, message: &str) -> Error {
        let counted = if self.is_in_memory() {
            " (rows counted from 0)"
        } else {
            ""
        };
        Error::input(self.place(row, column), format!("{message}{counted}"))
    }
}

/// The cells of one column and their code.
pub(super) struct ColumnCells<'a> {
    pub(super) column: &'a ColumnEncoding,
    pub(super) raw: &'a RawColumn,
    pub(super) rows: &'a RawRows,
    pub(super) refuse_gaps: bool,
}

impl ColumnCells<'_> {
    /// Refuses times whose clock is not known: weekdays and hours of another zone than that of the
    /// training would be wrong without a word.
    fn check_clock(&self) -> Result<()> {
        let (RawCells::Times(_), Some(origin)) = (&self.raw.cells, &self.rows.table().origin)
        else {
            return Ok(());
        };
        let name = &self.column.name;
        let Some(zone) = csv::time_zone_before_utc(&origin.path, name) else {
            return Ok(());
        };
        let place = InputPlace::file(&origin.path).column(name);
        let message = format!(
            "the times were written in the zone {zone}, but a Parquet file holds them in UTC: what \
             the clock showed is not known"
        );
        Err(Error::input(place, message).with_remedy(
            "write the times of the clock without a zone (in pandas dt.tz_localize(None)), or \
             leave the column out",
        ))
    }

    /// Writes the features of the column behind `offset` in every row.
    pub(super) fn encode(&self, out: &mut EncodedRows, offset: usize) -> Result<()> {
        self.check_clock()?;
        match &self.column.code {
            ColumnCode::Numbers(code) => self.encode_numbers(*code, out, offset),
            ColumnCode::Booleans(code) => self.encode_booleans(*code, out, offset),
            ColumnCode::Categories { values, gaps } => {
                self.encode_categories(values, *gaps, out, offset)
            }
            ColumnCode::TargetStatistics(code) => self.encode_statistics(code, out, offset),
            ColumnCode::Dates(code) => self.encode_dates(code, out, offset),
        }
    }

    /// The rows that exist, with their rows in the raw table.
    pub(super) fn existing_rows(&self) -> impl Iterator<Item = (usize, usize)> {
        let rows = 0..self.rows.len();
        rows.filter_map(|row| self.rows.row(row).map(|source| (row, source)))
    }

    pub(super) fn wrong_kind(&self, found: &str, expected: &str) -> Error {
        let message = format!("the column holds {found}, but the model expects {expected}");
        let place = self
            .rows
            .in_file(InputPlace::default().column(&self.column.name));
        Error::input(place, message)
    }

    /// Handles a gap: indicated if training rows have gaps, or else noted; `indicator` is the
    /// position of the indicator, if there is one.
    pub(super) fn mark_gap(
        &self,
        row: usize,
        gaps: usize,
        indicator: usize,
        missing: &mut Occurrences,
        out: &mut EncodedRows,
    ) -> Result<()> {
        self.check_gap(row)?;
        // Without gaps in training there is no indicator: its weight could not have been learned.
        if gaps > 0 {
            out.values[indicator] = 1.0;
        } else {
            missing.add(row);
        }
        Ok(())
    }

    pub(super) fn check_gap(&self, row: usize) -> Result<()> {
        if !self.refuse_gaps {
            return Ok(());
        }
        let error = self
            .rows
            .cell_error(row, &self.column.name, "the value is missing");
        Err(error.with_remedy("fill it in, leave the row out, or let gaps be filled"))
    }

    /// Notes gaps if the training rows had none, so there is no indicator.
    pub(super) fn note_gaps(&self, gaps: &Occurrences, filled: &str, out: &mut EncodedRows) {
        self.note(
            gaps,
            &format!("the value is missing, which it never is in the training rows: {filled}"),
            out,
        );
    }

    pub(super) fn note(&self, found: &Occurrences, text: &str, out: &mut EncodedRows) {
        if let Some(first) = found.first {
            let (place, rows) = (self.rows.place(first, &self.column.name), self.rows.len());
            let counted = if self.rows.is_in_memory() {
                ", rows counted from 0"
            } else {
                ""
            };
            out.notes.push(format!(
                "{place}: {text} ({} of {rows} rows{counted})",
                found.count
            ));
        }
    }

    /// Notes rows with a text that is not known, with the first one.
    pub(super) fn note_first_text(&self, found: &Occurrences, text: &str, out: &mut EncodedRows) {
        if let Some(value) = self.first_text(found) {
            let shown: String = value.chars().take(40).collect();
            self.note(found, &format!("'{shown}' {text}"), out);
        }
    }

    /// The text of the first cell that was found.
    pub(super) fn first_text(&self, found: &Occurrences) -> Option<Cow<'_, str>> {
        let first = found.first.and_then(|row| self.rows.row(row));
        first.and_then(|source| self.text(source))
    }

    /// The text of a cell; `None` if there is a gap.
    pub(super) fn text(&self, source: usize) -> Option<Cow<'_, str>> {
        let table = self.rows.table();
        match &self.raw.cells {
            RawCells::Texts(texts) => match texts.codes[source] {
                TEXT_GAP => None,
                code => Some(Cow::Borrowed(texts.values[code as usize].as_str())),
            },
            RawCells::Numbers { slot } => {
                let number = table.numbers[source * table.width + slot];
                (!number.is_nan()).then(|| Cow::Owned(number_text(number)))
            }
            RawCells::Times(times) => {
                let time = times[source];
                (time != TIME_GAP).then(|| Cow::Owned(calendar::date_text(day_of(time))))
            }
        }
    }
}
