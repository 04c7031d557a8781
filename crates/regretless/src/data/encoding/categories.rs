//! Codes of categories: one-hot columns and target statistics.

use std::borrow::Cow;
use std::collections::HashMap;

use super::TargetStatisticsCode;
use super::cells::{ColumnCells, EncodedRows, Occurrences};
use super::raw::{RawCells, TEXT_GAP};
use crate::error::Result;
use crate::text::nearest_name;

impl ColumnCells<'_> {
    pub(super) fn encode_categories(
        &self,
        values: &[String],
        gaps: usize,
        out: &mut EncodedRows,
        offset: usize,
    ) -> Result<()> {
        let index = |text: &str| {
            values
                .binary_search_by(|value| value.as_str().cmp(text))
                .ok()
        };
        // Every distinct text is searched once.
        let indices: Vec<Option<usize>> = match &self.raw.cells {
            RawCells::Texts(texts) => texts.values.iter().map(|text| index(text)).collect(),
            RawCells::Numbers { .. } | RawCells::Times(_) => Vec::new(),
        };
        let (mut missing, mut unseen) = (Occurrences::default(), Occurrences::default());
        for (row, source) in self.existing_rows() {
            let at = row * out.width + offset;
            let found = match &self.raw.cells {
                RawCells::Texts(texts) => match texts.codes[source] {
                    TEXT_GAP => None,
                    code => Some(indices[code as usize]),
                },
                RawCells::Numbers { .. } | RawCells::Times(_) => {
                    self.text(source).map(|text| index(&text))
                }
            };
            match found {
                Some(Some(index)) => out.values[at + index] = 1.0,
                Some(None) => unseen.add(row),
                None => self.mark_gap(row, gaps, at + values.len(), &mut missing, out)?,
            }
        }
        let zeros = "all its columns are 0";
        self.note_gaps(&missing, zeros, out);
        let first = self.first_text(&unseen);
        let names = || values.iter().map(String::as_str);
        let meant = first.and_then(|text| nearest_name(&text, names()));
        let meant = meant.map_or_else(String::new, |name| format!("; did you mean '{name}'?"));
        let text = format!("is a value that no training row has: {zeros}{meant}");
        self.note_first_text(&unseen, &text, out);
        Ok(())
    }

    pub(super) fn encode_statistics(
        &self,
        code: &TargetStatisticsCode,
        out: &mut EncodedRows,
        offset: usize,
    ) -> Result<()> {
        let mut known: HashMap<Option<String>, Option<f64>> = HashMap::new();
        let (mut missing, mut unseen) = (Occurrences::default(), Occurrences::default());
        for (row, source) in self.existing_rows() {
            let text = self.text(source).map(Cow::into_owned);
            // A gap is a value with a mean of its own if training rows have gaps; refused ones are
            // refused nevertheless.
            if text.is_none() {
                self.check_gap(row)?;
            }
            let is_gap = text.is_none();
            let found = known
                .entry(text)
                .or_insert_with_key(|text| code.mean(text.as_deref()));
            match found {
                Some(_) => {}
                None if is_gap => missing.add(row),
                None => unseen.add(row),
            }
            out.values[row * out.width + offset] = found.unwrap_or(code.prior) as f32;
        }
        let taken = "the mean cost of all training rows is taken";
        self.note_gaps(&missing, taken, out);
        let text = format!("is a value that no training row has: {taken}");
        self.note_first_text(&unseen, &text, out);
        Ok(())
    }
}

impl TargetStatisticsCode {
    /// The mean cost of a value or, without one, of gaps; `None` if no training row has it.
    fn mean(&self, text: Option<&str>) -> Option<f64> {
        let Some(text) = text else {
            return self.gap_mean;
        };
        let found = self
            .values
            .binary_search_by(|value| value.as_str().cmp(text));
        found.ok().map(|index| self.means[index])
    }
}
