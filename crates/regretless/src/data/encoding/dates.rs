//! Codes of dates: weekdays, season, hours, trend and holidays.

use std::f64::consts::TAU;

use super::DatesCode;
use super::calendar::{day_of, hour_of, weekday_of, year_fraction, year_of};
use super::cells::{ColumnCells, EncodedRows, Occurrences};
use super::raw::{RawCells, TEXT_GAP, TIME_GAP, no_date};
use crate::error::Result;

/// Days of a mean year of the Gregorian calendar, the unit of trends.
const DAYS_PER_YEAR: f64 = 365.2425;

impl ColumnCells<'_> {
    /// The time of a cell; `None` if there is a gap.
    pub(super) fn time(&self, row: usize, source: usize) -> Result<Option<i64>> {
        match &self.raw.cells {
            RawCells::Times(times) => Ok(Some(times[source]).filter(|time| *time != TIME_GAP)),
            RawCells::Numbers { slot } => {
                let table = self.rows.table();
                if table.numbers[source * table.width + slot].is_nan() {
                    return Ok(None);
                }
                Err(self.wrong_kind("numbers", "dates"))
            }
            RawCells::Texts(texts) => match texts.codes[source] {
                TEXT_GAP => Ok(None),
                code => {
                    let text = &texts.values[code as usize];
                    let time = super::super::row_times::wall_clock_seconds(text);
                    let error = || self.rows.cell_error(row, &self.column.name, &no_date(text));
                    time.map(Some).ok_or_else(error)
                }
            },
        }
    }

    pub(super) fn encode_dates(
        &self,
        code: &DatesCode,
        out: &mut EncodedRows,
        offset: usize,
    ) -> Result<()> {
        let mut missing = Occurrences::default();
        let mut unseen_day = Occurrences::default();
        let mut unseen_hour = Occurrences::default();
        let mut beyond = Occurrences::default();
        let years = code
            .holidays
            .as_ref()
            .and_then(|days| Some([year_of(*days.first()?), year_of(*days.last()?)]));
        for (row, source) in self.existing_rows() {
            let mut at = row * out.width + offset;
            let Some(time) = self.time(row, source)? else {
                let indicator = at + self.column.feature_names().len() - 1;
                self.mark_gap(row, code.gaps, indicator, &mut missing, out)?;
                continue;
            };
            if write_one_hot(&code.weekdays, weekday_of(time), &mut out.values[at..]) {
                unseen_day.add(row);
            }
            at += code.weekdays.len();
            if code.season {
                // On a circle, the end of December is next to the start of January.
                let angle = TAU * year_fraction(time);
                out.values[at] = angle.sin() as f32;
                out.values[at + 1] = angle.cos() as f32;
                at += 2;
            }
            if write_one_hot(&code.hours, hour_of(time), &mut out.values[at..]) {
                unseen_hour.add(row);
            }
            at += code.hours.len();
            if let Some(first) = code.trend_from {
                let days = (day_of(time) - first) as f64;
                out.values[at] = (days / DAYS_PER_YEAR) as f32;
                at += 1;
            }
            if let Some(holidays) = &code.holidays {
                let day = day_of(time);
                out.values[at] = f32::from(u8::from(holidays.binary_search(&day).is_ok()));
                if years.is_none_or(|[first, last]| !(first..=last).contains(&year_of(day))) {
                    beyond.add(row);
                }
            }
        }
        let zeros = "its columns are 0";
        self.note_gaps(&missing, zeros, out);
        let text = format!("a weekday that no training row has: {zeros}");
        self.note(&unseen_day, &text, out);
        let text = format!("an hour that no training row has: {zeros}");
        self.note(&unseen_hour, &text, out);
        let text = "a date in a year without any given holiday: it counts as none";
        self.note(&beyond, text, out);
        Ok(())
    }
}

/// Writes the one-hot code of a part of a date; returns whether no training row has the value.
/// Without known values the part has no columns.
fn write_one_hot(known: &[u8], value: u8, columns: &mut [f32]) -> bool {
    match known.iter().position(|other| *other == value) {
        Some(index) => columns[index] = 1.0,
        None => return !known.is_empty(),
    }
    false
}
