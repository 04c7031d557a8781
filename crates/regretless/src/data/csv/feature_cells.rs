//! Cells of features: numbers, gaps, texts and dates.
//!
//! The first cell of a column that is no gap decides what the column holds; a later cell of another
//! kind is an error with its place. Numbers are stored row by row, as training needs them: a table
//! of numbers without gaps is never copied.

use super::number;
use super::table::CsvTable;
use crate::data::FeatureOptions;
use crate::data::encoding::{
    CellKind, RawCells, RawColumn, RawTable, TIME_GAP, TableOrigin, TextCollector, is_gap, no_date,
};
use crate::data::row_times::wall_clock_seconds;
use crate::error::{Error, Result};

/// What the cells of features may be.
#[derive(Debug, Clone, Default)]
pub(in crate::data) enum FeatureCells {
    /// Numbers; a gap is an error.
    #[default]
    Numbers,
    /// What the cells look like, if the options do not say it.
    Inferred(FeatureOptions),
    /// What a model expects of each column.
    Known(Vec<CellKind>),
}

/// Reads the features of a table row by row.
pub(super) struct FeatureReader {
    columns: Vec<ColumnReader>,
    /// The columns with `is_in_numbers`, row by row.
    numbers: Vec<f32>,
    options: FeatureOptions,
    rows: usize,
}

/// Reads one column.
struct ColumnReader {
    column: usize,
    cells: CellReader,
    /// Whether the column has a place among the numbers. A column of gaps that turns out to hold
    /// something else keeps it.
    is_in_numbers: bool,
}

enum CellReader {
    Numbers {
        /// Whether gaps are allowed.
        may_have_gaps: bool,
        /// Whether the column has had gaps only, so it may hold something else.
        is_open: bool,
    },
    Texts {
        collector: TextCollector,
        /// Whether numbers and dates are texts too.
        accepts_all: bool,
    },
    Times(Vec<i64>),
}

impl FeatureReader {
    pub fn new(table: &CsvTable, columns: &[usize], cells: FeatureCells) -> Self {
        let names = table.header().names;
        let reader = |(position, column): (usize, &usize)| {
            let name = &names[*column];
            let cells = match &cells {
                FeatureCells::Numbers => CellReader::Numbers {
                    may_have_gaps: false,
                    is_open: false,
                },
                FeatureCells::Inferred(options) if options.is_text(name) => CellReader::texts(),
                FeatureCells::Inferred(options) if options.is_date(name) => {
                    CellReader::Times(Vec::new())
                }
                FeatureCells::Inferred(options) => CellReader::Numbers {
                    may_have_gaps: !options.refuse_gaps,
                    is_open: true,
                },
                FeatureCells::Known(kinds) => match kinds[position] {
                    CellKind::Numbers => CellReader::Numbers {
                        may_have_gaps: true,
                        is_open: false,
                    },
                    CellKind::Texts => CellReader::texts(),
                    CellKind::Times => CellReader::Times(Vec::new()),
                },
            };
            ColumnReader {
                column: *column,
                is_in_numbers: matches!(cells, CellReader::Numbers { .. }),
                cells,
            }
        };
        Self {
            columns: columns.iter().enumerate().map(reader).collect(),
            numbers: Vec::new(),
            options: match cells {
                FeatureCells::Inferred(options) => options,
                FeatureCells::Numbers | FeatureCells::Known(_) => FeatureOptions::default(),
            },
            rows: 0,
        }
    }

    /// Reads the features of the current row; `parameters` are columns of row parameters.
    pub fn read_row(&mut self, table: &CsvTable, parameters: &[usize]) -> Result<()> {
        for reader in &mut self.columns {
            let number = reader
                .read(table, self.rows)
                .map_err(|error| table.feature_error(error, reader.column, parameters))?;
            if reader.is_in_numbers {
                self.numbers.push(number);
            }
        }
        self.rows += 1;
        Ok(())
    }

    /// The columns as a raw table.
    pub fn finish(self, table: &CsvTable) -> RawTable {
        let names = table.header().names;
        let mut width = 0;
        let mut columns = Vec::with_capacity(self.columns.len());
        for reader in self.columns {
            let slot = width;
            width += usize::from(reader.is_in_numbers);
            let cells = match reader.cells {
                CellReader::Numbers { .. } => RawCells::Numbers { slot },
                CellReader::Texts { collector, .. } => RawCells::Texts(collector.finish()),
                CellReader::Times(times) => RawCells::Times(times),
            };
            columns.push(RawColumn {
                name: names[reader.column].clone(),
                cells,
            });
        }
        RawTable {
            columns,
            numbers: self.numbers,
            width,
            rows: self.rows,
            options: self.options,
            origin: Some(TableOrigin {
                path: table.header().path.to_path_buf(),
                dialect: table.dialect(),
            }),
        }
    }
}

/// Adds that an empty cell is a gap to the error of a cell that is no number.
fn explain_gaps(error: Error) -> Error {
    match error {
        Error::Input {
            place,
            message,
            remedy,
        } => Error::Input {
            place,
            message: message + "; leave the cell empty if its value is missing",
            remedy,
        },
        other => other,
    }
}

impl ColumnReader {
    /// Reads the cell of a row; the number if the column holds numbers, else NaN.
    fn read(&mut self, table: &CsvTable, rows: usize) -> Result<f32> {
        let column = self.column;
        match &mut self.cells {
            CellReader::Numbers {
                may_have_gaps,
                is_open,
            } => {
                let number = table.number(column);
                let Err(error) = number else {
                    *is_open = false;
                    return number;
                };
                let cell = table.text(column)?;
                if *may_have_gaps && is_gap(cell) {
                    return Ok(f32::NAN);
                }
                if !*is_open || table.looks_numeric(column) {
                    return Err(if *may_have_gaps && !table.looks_numeric(column) {
                        explain_gaps(error)
                    } else {
                        error
                    });
                }
                // The first cell that is no gap.
                self.is_in_numbers = self.is_in_numbers && rows > 0;
                self.cells = if wall_clock_seconds(cell).is_some() {
                    CellReader::Times(vec![TIME_GAP; rows])
                } else {
                    CellReader::Texts {
                        collector: TextCollector::after_gaps(rows),
                        accepts_all: false,
                    }
                };
                self.read(table, rows)
            }
            CellReader::Texts {
                collector,
                accepts_all,
            } => {
                let cell = table.text(column)?;
                if is_gap(cell) {
                    collector.push_gap();
                } else {
                    if !*accepts_all {
                        check_text(table, column, cell)?;
                    }
                    collector.push(cell);
                }
                Ok(f32::NAN)
            }
            CellReader::Times(times) => {
                let cell = table.text(column)?;
                times.push(if is_gap(cell) {
                    TIME_GAP
                } else {
                    let seconds = wall_clock_seconds(cell);
                    seconds.ok_or_else(|| table.cell_error(column, no_date(cell)))?
                });
                Ok(f32::NAN)
            }
        }
    }
}

impl CellReader {
    /// Texts, whatever they look like.
    fn texts() -> Self {
        Self::Texts {
            collector: TextCollector::default(),
            accepts_all: true,
        }
    }
}

/// Fails at a number or a date in a column that began with text: the first cell was probably a
/// mistake.
fn check_text(table: &CsvTable, column: usize, cell: &str) -> Result<()> {
    let found = if table.number(column).is_ok() {
        "number"
    } else if wall_clock_seconds(cell).is_some() {
        "date"
    } else {
        return Ok(());
    };
    let message = format!(
        "found the {found} {} in a column that begins with text; correct it, ignore the column, or \
         name it in `categories`",
        number::quoted(cell)
    );
    Err(table.cell_error(column, message))
}
