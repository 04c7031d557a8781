//! Codes of one number: numbers and truth values.

use super::NumberCode;
use super::cells::{ColumnCells, EncodedRows, Occurrences};
use super::raw::{RawCells, TEXT_GAP, TIME_GAP, TextCells, truth_value};
use crate::error::{Error, Result};

impl ColumnCells<'_> {
    /// The error of a column of texts where the model expects numbers, with the first text that is
    /// none.
    fn no_numbers(&self, texts: &TextCells) -> Error {
        let mut cells = self.existing_rows().map(|(row, source)| {
            let text = texts.values.get(texts.codes[source] as usize);
            (row, text.map_or("", String::as_str))
        });
        let is_text = |(_, text): &(usize, &str)| !text.is_empty() && text.parse::<f64>().is_err();
        match cells.find(is_text) {
            Some((row, text)) => {
                let message = format!("'{text}' is text, but the model expects numbers");
                self.rows.cell_error(row, &self.column.name, &message)
            }
            None => self.wrong_kind("text", "numbers"),
        }
    }

    pub(super) fn encode_numbers(
        &self,
        code: NumberCode,
        out: &mut EncodedRows,
        offset: usize,
    ) -> Result<()> {
        let table = self.rows.table();
        let mut missing = Occurrences::default();
        for (row, source) in self.existing_rows() {
            let number = match &self.raw.cells {
                RawCells::Numbers { slot } => table.numbers[source * table.width + slot],
                // A column of gaps alone is read as text or dates: it has no cell that says
                // otherwise.
                RawCells::Texts(texts) if texts.codes[source] == TEXT_GAP => f32::NAN,
                RawCells::Texts(texts) => return Err(self.no_numbers(texts)),
                RawCells::Times(times) if times[source] == TIME_GAP => f32::NAN,
                RawCells::Times(_) => return Err(self.wrong_kind("dates", "numbers")),
            };
            let at = row * out.width + offset;
            if number.is_nan() {
                self.mark_gap(row, code.gaps, at + 1, &mut missing, out)?;
                out.values[at] = code.fill;
            } else {
                out.values[at] = number;
            }
        }
        let filled = format!("it is taken as the median {}", code.fill);
        self.note_gaps(&missing, &filled, out);
        Ok(())
    }

    pub(super) fn encode_booleans(
        &self,
        code: NumberCode,
        out: &mut EncodedRows,
        offset: usize,
    ) -> Result<()> {
        let (mut missing, mut unseen) = (Occurrences::default(), Occurrences::default());
        for (row, source) in self.existing_rows() {
            let at = row * out.width + offset;
            let text = self.text(source);
            let truth = text.as_deref().map(|text| match text {
                "1" => Some(true),
                "0" => Some(false),
                word => truth_value(word),
            });
            match truth {
                Some(Some(truth)) => out.values[at] = f32::from(u8::from(truth)),
                Some(None) => {
                    out.values[at] = code.fill;
                    unseen.add(row);
                }
                None => {
                    self.mark_gap(row, code.gaps, at + 1, &mut missing, out)?;
                    out.values[at] = code.fill;
                }
            }
        }
        let filled = format!(
            "it is taken as {}",
            if code.fill > 0.5 { "true" } else { "false" }
        );
        self.note_gaps(&missing, &filled, out);
        self.note_first_text(
            &unseen,
            &format!("is neither true nor false: {filled}"),
            out,
        );
        Ok(())
    }
}
