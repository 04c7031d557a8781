//! A CSV file with a header, read row by row; every error has its place.
//!
//! Cells are separated by commas, or by the delimiter of the dialect, and may be quoted; spaces
//! around them are ignored. Lines end in LF, CRLF or CR; a byte-order mark and empty lines are
//! skipped.

use std::borrow::Cow;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use csv::{ByteRecord, ErrorKind, ReaderBuilder};

use super::feature_cells::FeatureReader;
use super::number;
#[cfg(feature = "parquet")]
use super::parquet_rows::ParquetRows;
use super::row_numbers::row_of;
use crate::compressed::DecompressedStream;
use crate::data::cost_gaps::CostGaps;
use crate::data::encoding::RawTable;
use crate::data::layout::{ColumnSelection, CsvHeader};
use crate::data::{CsvDialect, NodeNames, ParameterColumns};
use crate::error::{Error, InputPlace, Result};

/// Most bytes of a row, 512 MB: more than ten million cells. Wider tables are NPY files.
const MAX_ROW_BYTES: u64 = 1 << 29;

/// A file that fails within a row that is too long. A row is stored as a whole while it is read;
/// without a limit, a file without line breaks would end in an allocation that aborts the process.
struct LimitedRows {
    file: DecompressedStream,
    /// Bytes since the start of the row, up to one buffer more.
    row_bytes: u64,
}

impl Read for LimitedRows {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.row_bytes += count as u64;
        if self.row_bytes > MAX_ROW_BYTES {
            let message = format!("a row has more than {MAX_ROW_BYTES} bytes");
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        Ok(count)
    }
}

/// Where records come from.
enum RecordReader {
    Csv(Box<csv::Reader<LimitedRows>>),
    #[cfg(feature = "parquet")]
    Parquet(Box<ParquetRows>),
}

/// An open file with its current row.
pub(super) struct CsvTable {
    path: PathBuf,
    dialect: CsvDialect,
    names: Vec<String>,
    reader: RecordReader,
    record: ByteRecord,
    /// Number of the current record, the header being 0.
    index: u64,
    /// The columns whose cells name nodes.
    node_columns: Vec<(usize, Arc<NodeNames>)>,
}

/// Whether a file is read as Parquet.
pub(super) fn has_parquet_extension(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("parquet"))
}

/// The row of a record as a spreadsheet shows it; rows of Parquet files, which have no header, are
/// counted from 1.
pub(in crate::data) fn row_number(path: &Path, record: u64, dialect: CsvDialect) -> u64 {
    if has_parquet_extension(path) {
        record
    } else {
        row_of(path, record, dialect)
    }
}

/// The values of the selected columns, row by row.
pub(super) struct SelectedColumns {
    pub features: RawTable,
    /// An empty cell that is allowed is NaN.
    pub costs: Vec<f32>,
    /// Column by column.
    pub parameters: Vec<Vec<f64>>,
    pub rows: usize,
}

impl CsvTable {
    /// Opens a file and reads its header.
    pub fn open(path: &Path, dialect: CsvDialect) -> Result<Self> {
        if has_parquet_extension(path) {
            return Self::open_parquet(path);
        }
        let file = DecompressedStream::open(path)?;
        let reader = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(dialect.delimiter())
            .from_reader(LimitedRows { file, row_bytes: 0 });
        let mut table = Self {
            path: path.to_path_buf(),
            dialect,
            names: Vec::new(),
            reader: RecordReader::Csv(Box::new(reader)),
            record: ByteRecord::new(),
            index: 0,
            node_columns: Vec::new(),
        };
        if !table.read_record()? {
            return Err(Error::input(InputPlace::file(path), "the file is empty")
                .with_remedy("its first row must name the columns"));
        }
        let name = |j| table.text(j).map(str::to_string);
        table.names = (0..table.record.len()).map(name).collect::<Result<_>>()?;
        table.check_names()?;
        Ok(table)
    }

    /// Opens a Parquet file, whose cells are written with a decimal point.
    #[cfg(feature = "parquet")]
    fn open_parquet(path: &Path) -> Result<Self> {
        let (rows, names) = ParquetRows::open(path)?;
        let table = Self {
            path: path.to_path_buf(),
            dialect: CsvDialect::default(),
            names,
            reader: RecordReader::Parquet(Box::new(rows)),
            record: ByteRecord::new(),
            index: 0,
            node_columns: Vec::new(),
        };
        table.check_names()?;
        Ok(table)
    }

    #[cfg(not(feature = "parquet"))]
    fn open_parquet(path: &Path) -> Result<Self> {
        let message = "this program was built without Parquet (cargo feature `parquet`)";
        Err(Error::input(InputPlace::file(path), message)
            .with_remedy("build it with the feature, or save the table as CSV"))
    }

    /// The names of the columns.
    pub fn header(&self) -> CsvHeader<'_> {
        CsvHeader {
            path: &self.path,
            names: &self.names,
        }
    }

    /// Names of these columns.
    pub fn names_of(&self, columns: &[usize]) -> Vec<String> {
        columns.iter().map(|j| self.names[*j].clone()).collect()
    }

    /// Number of the current record, the header being 0.
    pub fn record(&self) -> u64 {
        self.index
    }

    /// The row in which a spreadsheet shows a record.
    pub fn row_of(&self, record: u64) -> u64 {
        row_number(&self.path, record, self.dialect)
    }

    /// The text of a cell of the current row.
    pub fn text(&self, column: usize) -> Result<&str> {
        let cell = self.record.get(column).unwrap_or_default();
        let wrong = |_| self.cell_error(column, "the text is not UTF-8; save the file as UTF-8");
        std::str::from_utf8(cell).map(str::trim).map_err(wrong)
    }

    /// The value in a cell of the current row.
    pub fn number(&self, column: usize) -> Result<f32> {
        number::parse(self.text(column)?, self.dialect)
            .map_err(|message| self.cell_error(column, message))
    }

    /// The same file for parameters of a problem, of which some name nodes.
    pub fn with_nodes_of<'p>(
        mut self,
        parameters: impl IntoIterator<Item = &'p ParameterColumns>,
    ) -> Self {
        for parameter in parameters {
            if let Some(names) = &parameter.names {
                let columns = self.header().parameter(&parameter.pattern);
                let nodes = columns
                    .into_iter()
                    .map(|column| (column, Arc::clone(names)));
                self.node_columns.extend(nodes);
            }
        }
        self
    }

    /// The row parameter in a cell of the current row, with all digits; the number of a node if the
    /// cell names one.
    pub fn parameter(&self, column: usize) -> Result<f64> {
        let mut node_columns = self.node_columns.iter();
        if let Some((_, names)) = node_columns.find(|(nodes, _)| *nodes == column) {
            return self.node(column, names);
        }
        number::parse_f64(self.text(column)?, self.dialect)
            .map_err(|message| self.cell_error(column, message))
    }

    /// The number of the node that a cell of the current row names.
    fn node(&self, column: usize, names: &NodeNames) -> Result<f64> {
        let cell = self.text(column)?;
        // A column with gaps has the node 12 as 12.0, or as 12,0.
        let with_point = || number::with_decimal_point(cell, self.dialect);
        let number = names
            .number(cell)
            .or_else(|| with_point().and_then(|text| names.number(&text)));
        number.ok_or_else(|| {
            let message = if cell.is_empty() {
                "the cell is empty, but the problem needs a node".to_owned()
            } else {
                format!("{} is no node of the problem", number::quoted(cell))
            };
            let remedy = format!("the nodes are {}", names.first());
            self.cell_error(column, message).with_remedy(remedy)
        })
    }

    /// A cell of the current row as the text of a time, with a decimal point in numbers.
    pub fn time(&self, column: usize) -> Result<Cow<'_, str>> {
        let cell = self.text(column)?;
        match number::with_decimal_point(cell, self.dialect) {
            Some(number) => Ok(number),
            // A number with a point where the decimal mark is a comma would be misread.
            None if number::looks_numeric(cell, self.dialect) => {
                self.number(column).map(|_| Cow::Borrowed(cell))
            }
            None => Ok(Cow::Borrowed(cell)),
        }
    }

    /// Whether a cell of the current row is empty or meant to be a number.
    pub fn looks_numeric(&self, column: usize) -> bool {
        self.text(column)
            .is_ok_and(|cell| cell.is_empty() || number::looks_numeric(cell, self.dialect))
    }

    /// An error about a cell of the current row.
    pub fn cell_error(&self, column: usize, message: impl Into<String>) -> Error {
        self.cell_error_at(self.index, column, message)
    }

    /// An error about a cell of any record.
    pub fn cell_error_at(&self, record: u64, column: usize, message: impl Into<String>) -> Error {
        let name = self.names.get(column).filter(|name| !name.is_empty());
        let name = name.map_or_else(|| (column + 1).to_string(), String::clone);
        Error::input(
            InputPlace::file(&self.path)
                .row(row_number(&self.path, record, self.dialect))
                .column(name),
            message,
        )
    }

    /// The delimiter and decimal separator.
    pub fn dialect(&self) -> CsvDialect {
        self.dialect
    }

    /// Reads all rows and calls `each_row` for each of them.
    pub fn read(
        &mut self,
        chosen: ColumnSelection,
        mut each_row: impl FnMut(&Self) -> Result<()>,
    ) -> Result<SelectedColumns> {
        let mut features = FeatureReader::new(self, &chosen.features, chosen.cells);
        let (mut costs, mut rows) = (Vec::new(), 0);
        let mut parameters = vec![Vec::new(); chosen.parameters.len()];
        while self.next_row()? {
            each_row(self)?;
            for (column, values) in chosen.parameters.iter().zip(&mut parameters) {
                values.push(self.parameter(*column)?);
            }
            features.read_row(self, &chosen.parameters)?;
            for column in &chosen.costs {
                let is_empty = self.text(*column)?.is_empty();
                if is_empty && !chosen.costs_may_be_empty {
                    return Err(self.empty_cost_error(*column, &chosen.costs, rows));
                }
                costs.push(if is_empty {
                    f32::NAN
                } else {
                    self.number(*column)?
                });
            }
            rows += 1;
        }
        if rows == 0 {
            return Err(Error::input(
                InputPlace::file(&self.path),
                "there is no row of data below the header",
            ));
        }
        Ok(SelectedColumns {
            features: features.finish(self),
            costs,
            parameters,
            rows,
        })
    }

    /// The error of an empty cost in the current row, the first one after `rows_before` rows
    /// without any. Reads the remaining rows, since what helps depends on how many have gaps.
    fn empty_cost_error(&mut self, column: usize, costs: &[usize], rows_before: usize) -> Error {
        let rare = self.number(column).err();
        let frequent = self.cell_error(column, "the cell is empty");
        let mut gaps = CostGaps {
            rows_with_gaps: 1,
            rows: rows_before + 1,
        };
        while let Ok(true) = self.next_row() {
            let is_empty = |column: &usize| self.text(*column).is_ok_and(str::is_empty);
            gaps.add(costs.iter().any(is_empty));
        }
        match rare.filter(|_| gaps.are_rare()) {
            Some(error) => error,
            None => gaps.explain(frequent),
        }
    }

    /// The error of a feature; an infinite parameter is valid, but no feature.
    pub fn feature_error(&self, error: Error, column: usize, parameters: &[usize]) -> Error {
        if parameters.contains(&column) && self.parameter(column).is_ok_and(f64::is_infinite) {
            let message = "a feature must be finite; ignore the column as a feature, and it is \
                still read as a parameter";
            return self.cell_error(column, message);
        }
        error
    }

    /// Reads the next row; false at the end of the file.
    pub fn next_row(&mut self) -> Result<bool> {
        self.index += 1;
        if !self.read_record()? {
            return Ok(false);
        }
        let (cells, columns) = (self.record.len(), self.names.len());
        if cells == columns {
            return Ok(true);
        }
        let message = format!("the row has {cells} cells, but the header names {columns} columns");
        Err(self.cell_error(cells.min(columns), message))
    }

    fn read_record(&mut self) -> Result<bool> {
        match &mut self.reader {
            RecordReader::Csv(reader) => {
                reader.get_mut().row_bytes = 0;
                let read = reader.read_byte_record(&mut self.record);
                read.map_err(|error| match error.into_kind() {
                    ErrorKind::Io(source) => Error::io(&self.path)(source),
                    other => Error::input(
                        InputPlace::file(&self.path),
                        format!("the file cannot be read as CSV: {other:?}"),
                    ),
                })
            }
            #[cfg(feature = "parquet")]
            RecordReader::Parquet(rows) => rows.read(&mut self.record),
        }
    }

    fn check_names(&self) -> Result<()> {
        if let [only] = self.names.as_slice()
            && let Some(separator) = [',', ';', '\t', '|']
                .into_iter()
                .find(|separator| only.contains(*separator))
        {
            let message = format!("the header seems to be separated by {separator:?}");
            return Err(
                Error::input(InputPlace::file(&self.path).row(1), message).with_remedy(format!(
                    "set `delimiter` to {}, or separate cells by {:?}",
                    if separator == '\t' {
                        "tab".into()
                    } else {
                        format!("'{separator}'")
                    },
                    char::from(self.dialect.delimiter())
                )),
            );
        }
        let mut order: Vec<usize> = (0..self.names.len())
            .filter(|j| !self.names[*j].is_empty())
            .collect();
        order.sort_by_key(|j| (&self.names[*j], *j));
        let duplicates = order
            .windows(2)
            .find(|pair| self.names[pair[0]] == self.names[pair[1]]);
        duplicates.map_or(Ok(()), |pair| {
            let message = format!(
                "columns {} and {} have the same name; rename one",
                pair[0] + 1,
                pair[1] + 1
            );
            Err(self.cell_error_at(0, pair[1], message))
        })
    }
}
