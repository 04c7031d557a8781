//! Rows of a Parquet file as the cells of a CSV file: a number has the digits that read back as
//! the same number, a date or time is in ISO 8601, a missing value is an empty cell.
//!
//! So every layout, check and message of CSV files holds for Parquet files too. Columns are decoded
//! one row group at a time. The decoder believes the lengths in a file and panics on some damaged
//! ones: lengths are checked before it sees them (`footer.rs`, `pages.rs`), its panics are caught
//! (`decoder_panic.rs`), and what a file may hold is limited by its size (`footer.rs`).

use std::fmt::Write as _;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chrono::DateTime;
use csv::ByteRecord;
use parquet::basic::{ConvertedType, LogicalType, TimeUnit};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::{ByteArray, DataType, FixedLenByteArray};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;

use self::decoder_panic::catch_panic;
use self::footer::DecodedSize;
use self::pages::CheckedPages;
use crate::error::{Error, InputPlace, Result};
use crate::size_limits::check_memory;

mod decoder_panic;
mod delta;
mod footer;
mod metadata_types;
mod pages;
mod thrift;

const NANOSECONDS_PER_SECOND: i64 = 1_000_000_000;
const SECONDS_PER_DAY: i64 = 86_400;
/// Bytes of the integer that a decimal number is read as: 38 digits.
const DECIMAL_BYTES: usize = size_of::<i128>();

/// An open file with the columns of the current row group.
pub(super) struct ParquetRows {
    path: PathBuf,
    file: Arc<File>,
    reader: SerializedFileReader<File>,
    /// How much more may be decoded.
    left: DecodedSize,
    formats: Vec<CellFormat>,
    next_group: usize,
    columns: Vec<DecodedColumn>,
    /// The next row of the current group, and their number.
    row: usize,
    rows: usize,
    cell: String,
}

/// What the numbers of a column mean.
#[derive(Debug, Clone, Copy, PartialEq)]
enum CellFormat {
    Plain,
    Unsigned,
    /// Days since 1970-01-01.
    Date,
    /// Parts of a second since 1970-01-01, and whether they are in UTC.
    Timestamp {
        per_second: i64,
        is_utc: bool,
    },
    /// An integer times a negative power of ten.
    Decimal {
        scale: i32,
    },
}

/// The values of a column in a row group.
struct DecodedColumn {
    values: TypedValues,
    /// The number of each row's value; `None` if all rows have one.
    positions: Option<Vec<Option<usize>>>,
}

enum TypedValues {
    Boolean(Vec<bool>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Float(Vec<f32>),
    Double(Vec<f64>),
    /// Integers of decimal numbers that are stored as bytes.
    Decimal(Vec<i128>),
    Text(Vec<ByteArray>),
}

impl ParquetRows {
    /// Opens a file and returns it with the names of its columns.
    pub fn open(path: &Path) -> Result<(Self, Vec<String>)> {
        let file = File::open(path).map_err(Error::io(path))?;
        let (reader, left) = decoded(path, || {
            footer::check_file(&file)?;
            let reader = SerializedFileReader::new(file.try_clone()?)?;
            let left = DecodedSize::of_file(reader.metadata(), file.metadata()?.len())?;
            Ok((reader, left))
        })?;
        let schema = reader.metadata().file_metadata().schema_descr_ptr();
        let mut names = Vec::new();
        let mut formats = Vec::new();
        for column in schema.columns() {
            let name = column.path().string();
            let format = CellFormat::of(column).map_err(|message| {
                Error::input(InputPlace::file(path).column(&name), message)
                    .with_remedy("leave the column out of the file")
            })?;
            formats.push(format);
            names.push(name);
        }
        let rows = Self {
            path: path.to_path_buf(),
            file: Arc::new(file),
            reader,
            left,
            formats,
            next_group: 0,
            columns: Vec::new(),
            row: 0,
            rows: 0,
            cell: String::new(),
        };
        Ok((rows, names))
    }

    /// Reads the next row into a record; false at the end of the file.
    pub fn read(&mut self, record: &mut ByteRecord) -> Result<bool> {
        record.clear();
        while self.row == self.rows {
            if self.next_group == self.reader.num_row_groups() {
                return Ok(false);
            }
            self.read_group()?;
        }
        for (column, format) in self.columns.iter().zip(&self.formats) {
            self.cell.clear();
            if let Some(text) = column.text(self.row) {
                record.push_field(text);
                continue;
            }
            column.write(self.row, *format, &mut self.cell);
            record.push_field(self.cell.as_bytes());
        }
        self.row += 1;
        Ok(true)
    }

    fn read_group(&mut self) -> Result<()> {
        let columns = self.formats.len();
        let group = decoded(&self.path, || self.reader.get_row_group(self.next_group))?;
        let rows = decoded(&self.path, || {
            self.left.take_cells(group.metadata(), columns)
        })?;
        let bytes = rows.saturating_mul(columns * DecodedSize::CELL_BYTES);
        check_memory("a row group", bytes).map_err(|error| error.in_file(&self.path))?;
        self.columns.clear();
        for number in 0..columns {
            let column = decoded(&self.path, || {
                let place = self
                    .left
                    .column_pages(group.metadata().column(number), rows)?;
                let pages = group.get_column_page_reader(number)?;
                let pages = CheckedPages::new(pages, Arc::clone(&self.file), place);
                let description = group.metadata().schema_descr().column(number);
                let reader = get_column_reader(description, Box::new(pages));
                let column = DecodedColumn::read(reader, rows)?;
                self.left.take_bytes(column.text_bytes())?;
                Ok(column)
            })?;
            self.columns.push(column);
        }
        self.next_group += 1;
        self.row = 0;
        self.rows = rows;
        Ok(())
    }
}

/// A part of a file that is decoded; one that is damaged is an error.
fn decoded<T>(path: &Path, decode: impl FnOnce() -> parquet::errors::Result<T>) -> Result<T> {
    let message = match catch_panic(decode) {
        Ok(Ok(value)) => return Ok(value),
        Ok(Err(error)) => format!("the file cannot be read as Parquet: {error}"),
        Err(panic) => format!("the file cannot be read as Parquet: it is damaged ({panic})"),
    };
    Err(Error::input(InputPlace::file(path), message))
}

impl CellFormat {
    /// The format of a column, or why it cannot be read.
    fn of(column: &ColumnDescriptor) -> std::result::Result<Self, String> {
        use parquet::basic::Type;
        if column.max_rep_level() > 0 || column.path().parts().len() > 1 {
            return Err("the column is a list or structure".into());
        }
        let physical = column.physical_type();
        let is_number = matches!(physical, Type::INT32 | Type::INT64);
        // pyarrow and pandas store decimal numbers of any precision so.
        let is_fixed_decimal = physical == Type::FIXED_LEN_BYTE_ARRAY
            && usize::try_from(column.type_length()).is_ok_and(|bytes| bytes <= DECIMAL_BYTES);
        let format = match (column.logical_type_ref(), column.converted_type()) {
            (Some(LogicalType::Date), _) | (None, ConvertedType::DATE) => Self::Date,
            (Some(LogicalType::Timestamp(time)), _) => Self::Timestamp {
                per_second: match time.unit {
                    TimeUnit::MILLIS => 1000,
                    TimeUnit::MICROS => 1_000_000,
                    TimeUnit::NANOS => NANOSECONDS_PER_SECOND,
                },
                is_utc: time.is_adjusted_to_u_t_c,
            },
            (None, ConvertedType::TIMESTAMP_MILLIS) => Self::Timestamp {
                per_second: 1000,
                is_utc: true,
            },
            (None, ConvertedType::TIMESTAMP_MICROS) => Self::Timestamp {
                per_second: 1_000_000,
                is_utc: true,
            },
            (Some(LogicalType::Decimal(_)), _) | (None, ConvertedType::DECIMAL)
                if is_number || is_fixed_decimal =>
            {
                Self::Decimal {
                    scale: column.type_scale(),
                }
            }
            (
                _,
                ConvertedType::UINT_8
                | ConvertedType::UINT_16
                | ConvertedType::UINT_32
                | ConvertedType::UINT_64,
            ) => Self::Unsigned,
            (Some(LogicalType::Time(_)), _)
            | (_, ConvertedType::TIME_MILLIS | ConvertedType::TIME_MICROS) => {
                return Err("times of day without a date are not supported".into());
            }
            (Some(LogicalType::Decimal(_)), _) | (None, ConvertedType::DECIMAL) => {
                let message = "decimal numbers of more than 38 digits, or of varying length, are \
                               not supported";
                return Err(message.into());
            }
            _ => Self::Plain,
        };
        match physical {
            Type::INT96 | Type::FIXED_LEN_BYTE_ARRAY if !matches!(format, Self::Decimal { .. }) => {
                Err(format!("values of type {physical} are not supported"))
            }
            _ => Ok(format),
        }
    }
}

impl DecodedColumn {
    fn read(reader: ColumnReader, rows: usize) -> parquet::errors::Result<Self> {
        Ok(match reader {
            ColumnReader::BoolColumnReader(reader) => decode(reader, rows, TypedValues::Boolean)?,
            ColumnReader::Int32ColumnReader(reader) => decode(reader, rows, TypedValues::Int32)?,
            ColumnReader::Int64ColumnReader(reader) => decode(reader, rows, TypedValues::Int64)?,
            ColumnReader::FloatColumnReader(reader) => decode(reader, rows, TypedValues::Float)?,
            ColumnReader::DoubleColumnReader(reader) => decode(reader, rows, TypedValues::Double)?,
            ColumnReader::ByteArrayColumnReader(reader) => decode(reader, rows, TypedValues::Text)?,
            ColumnReader::FixedLenByteArrayColumnReader(reader) => decode(reader, rows, decimals)?,
            ColumnReader::Int96ColumnReader(_) => {
                let message = "a column has an unsupported type".to_owned();
                return Err(parquet::errors::ParquetError::General(message));
            }
        })
    }

    /// Bytes of the texts or decimal numbers of all rows.
    fn text_bytes(&self) -> u64 {
        match &self.values {
            TypedValues::Text(texts) => texts.iter().map(|text| text.len() as u64).sum(),
            TypedValues::Decimal(numbers) => (numbers.len() * DECIMAL_BYTES) as u64,
            _ => 0,
        }
    }

    /// The number of a row's value, if it has one.
    fn position(&self, row: usize) -> Option<usize> {
        match &self.positions {
            None => Some(row),
            Some(positions) => positions[row],
        }
    }

    /// The bytes of a row's value in a column of text.
    fn text(&self, row: usize) -> Option<&[u8]> {
        match &self.values {
            TypedValues::Text(values) => Some(self.position(row).map_or(&[], |i| values[i].data())),
            _ => None,
        }
    }

    /// Writes the number, date or time of a row; nothing if it is missing.
    fn write(&self, row: usize, format: CellFormat, cell: &mut String) {
        let Some(i) = self.position(row) else { return };
        // Writing to a string cannot fail.
        let _ = match &self.values {
            TypedValues::Boolean(values) => write!(cell, "{}", values[i]),
            TypedValues::Int32(values) => match format {
                CellFormat::Unsigned => write!(cell, "{}", values[i].cast_unsigned()),
                format => write_integer(i64::from(values[i]), format, cell),
            },
            TypedValues::Int64(values) => match format {
                CellFormat::Unsigned => write!(cell, "{}", values[i].cast_unsigned()),
                format => write_integer(values[i], format, cell),
            },
            TypedValues::Float(values) => write!(cell, "{}", values[i]),
            TypedValues::Double(values) => write!(cell, "{}", values[i]),
            TypedValues::Decimal(values) => match format {
                CellFormat::Decimal { scale } => write_decimal(values[i], scale, cell),
                CellFormat::Plain
                | CellFormat::Unsigned
                | CellFormat::Date
                | CellFormat::Timestamp { .. } => write!(cell, "{}", values[i]),
            },
            TypedValues::Text(_) => Ok(()),
        };
    }
}

/// The integers of decimal numbers, which are stored with their highest byte first.
fn decimals(stored: Vec<FixedLenByteArray>) -> TypedValues {
    let integer = |bytes: &[u8]| {
        let is_negative = bytes.first().is_some_and(|first| first & 0x80 != 0);
        let start = if is_negative { -1 } else { 0 };
        bytes
            .iter()
            .fold(start, |number: i128, byte| number << 8 | i128::from(*byte))
    };
    let integers = stored.into_iter().map(|value| integer(value.data()));
    TypedValues::Decimal(integers.collect())
}

fn decode<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    rows: usize,
    kind: fn(Vec<T::T>) -> TypedValues,
) -> parquet::errors::Result<DecodedColumn> {
    let mut values = Vec::new();
    let mut levels = Vec::new();
    let mut read = 0;
    while read < rows {
        let (records, ..) =
            reader.read_records(rows - read, Some(&mut levels), None, &mut values)?;
        if records == 0 {
            let message = format!("a column has {read} of {rows} rows");
            return Err(parquet::errors::ParquetError::General(message));
        }
        read += records;
    }
    // A required column has no levels; the level of a missing value is 0.
    let positions = (values.len() < rows).then(|| {
        let mut next = 0;
        let position = |level: &i16| {
            (*level > 0).then(|| {
                next += 1;
                next - 1
            })
        };
        levels.iter().map(position).collect::<Vec<_>>()
    });
    if positions.as_ref().is_some_and(|found| found.len() != rows) {
        let message = "a column lacks values".to_owned();
        return Err(parquet::errors::ParquetError::General(message));
    }
    Ok(DecodedColumn {
        values: kind(values),
        positions,
    })
}

fn write_integer(value: i64, format: CellFormat, cell: &mut String) -> std::fmt::Result {
    match format {
        CellFormat::Plain | CellFormat::Unsigned => write!(cell, "{value}"),
        CellFormat::Date => {
            match DateTime::from_timestamp(value.saturating_mul(SECONDS_PER_DAY), 0) {
                Some(date) => write!(cell, "{}", date.format("%Y-%m-%d")),
                None => write!(cell, "day {value}"),
            }
        }
        CellFormat::Timestamp { per_second, is_utc } => {
            let seconds = value.div_euclid(per_second);
            let nanoseconds = value.rem_euclid(per_second) * (NANOSECONDS_PER_SECOND / per_second);
            let zone = if is_utc { "Z" } else { "" };
            let time = DateTime::from_timestamp(seconds, nanoseconds as u32);
            match time {
                Some(time) => write!(cell, "{}{zone}", time.format("%Y-%m-%dT%H:%M:%S%.f")),
                None => write!(cell, "time {value}"),
            }
        }
        CellFormat::Decimal { scale } => write_decimal(value.into(), scale, cell),
    }
}

/// Writes a decimal number with all its digits, as CSV files have it.
fn write_decimal(value: i128, scale: i32, cell: &mut String) -> std::fmt::Result {
    let Some(places) = usize::try_from(scale).ok().filter(|places| *places > 0) else {
        return write!(cell, "{value}e{}", -scale);
    };
    let sign = if value < 0 { "-" } else { "" };
    let digits = format!("{:0>1$}", value.unsigned_abs(), places + 1);
    let (whole, part) = digits.split_at(digits.len() - places);
    write!(cell, "{sign}{whole}.{part}")
}

#[cfg(test)]
mod tests {
    use parquet::data_type::{ByteArray, FixedLenByteArray};

    use super::{TypedValues, decimals, write_decimal};

    #[test]
    fn decimal_numbers_of_any_length_are_written_with_all_their_digits() {
        let stored = |bytes: &[u8]| FixedLenByteArray::from(ByteArray::from(bytes.to_vec()));
        let least: Vec<u8> = std::iter::once(0x80).chain([0; 15]).collect();
        let values = decimals(vec![
            stored(&[0x04, 0xd2]),
            stored(&[0xff, 0xff, 0xfb]),
            stored(&[0]),
            stored(&least),
        ]);
        let TypedValues::Decimal(values) = values else {
            panic!("no decimal numbers");
        };
        assert_eq!(values, [1234, -5, 0, i128::MIN]);
        let text = |value, scale| {
            let mut cell = String::new();
            write_decimal(value, scale, &mut cell).unwrap();
            cell
        };
        let texts: Vec<String> = values.iter().map(|value| text(*value, 2)).collect();
        assert_eq!(
            texts,
            [
                "12.34",
                "-0.05",
                "0.00",
                "-1701411834604692317316873037158841057.28"
            ]
        );
        assert_eq!(text(12, 0), "12e0");
        assert_eq!(text(-12, -3), "-12e3");
    }
}
