//! Tables as CSV text.

use regretless::{Error, Result};

/// A CSV table in memory.
pub struct CsvText {
    writer: csv::Writer<Vec<u8>>,
}

impl CsvText {
    /// A table with this header and no rows.
    pub fn new(header: &[&str]) -> Result<Self> {
        let mut table = Self {
            writer: csv::Writer::from_writer(Vec::new()),
        };
        table.row(header)?;
        Ok(table)
    }

    /// Adds a row; cells are quoted if CSV needs it.
    pub fn row<T: AsRef<[u8]>>(&mut self, cells: &[T]) -> Result<()> {
        self.writer.write_record(cells).map_err(not_written)
    }

    /// The text.
    pub fn finish(self) -> Result<String> {
        let bytes = self.writer.into_inner().map_err(not_written)?;
        String::from_utf8(bytes).map_err(not_written)
    }
}

/// A number, or an empty cell.
pub fn optional_cell(value: Option<f64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

fn not_written(error: impl std::fmt::Display) -> Error {
    Error::setting(format!("a table cannot be written as CSV: {error}"))
}

#[cfg(test)]
mod tests {
    use super::{CsvText, optional_cell};

    #[test]
    fn cells_are_quoted_where_needed() {
        let mut table = CsvText::new(&["method", "ratio"]).unwrap();
        table.row(&["MAE(O,S)", "0.5"]).unwrap();
        table.row(&["a\"b", &optional_cell(None)]).unwrap();
        assert_eq!(
            table.finish().unwrap(),
            "method,ratio\n\"MAE(O,S)\",0.5\n\"a\"\"b\",\n"
        );
    }
}
