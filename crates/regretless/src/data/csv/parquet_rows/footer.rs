//! The footer of a file, checked before the decoder reads it, and how much a file may hold.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use parquet::basic::Type;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, RowGroupMetaData};

use super::pages::ColumnPages;
use super::thrift::{check_footer, invalid};
use crate::size_limits::MAX_STREAM_BYTES;

/// The length of the footer and the mark at the end of a file.
const TAIL_BYTES: u64 = 8;

/// Most lists and structures of a schema. The decoder calls itself for one within another; columns
/// of them are not supported anyway.
const MAX_SCHEMA_GROUPS: usize = 256;

/// Bytes that a byte of a file may become, beyond [`MAX_STREAM_BYTES`]. A column of one value takes
/// no bytes per row; but for tables of little else, a byte holds less than a hundred.
const MAX_DECODED_BYTES_PER_BYTE: u64 = 1024;

/// Fewest bytes of a value: a number of 32 bits, or the length of a text.
const MIN_VALUE_BYTES: u64 = 4;

/// Checks the footer of a file.
pub(super) fn check_file(mut file: &File) -> Result<()> {
    let length = file.metadata()?.len();
    let too_short = || invalid("it is shorter than its footer");
    let tail_start = length.checked_sub(TAIL_BYTES).ok_or_else(too_short)?;
    file.seek(SeekFrom::Start(tail_start))?;
    let mut tail = [0; TAIL_BYTES as usize];
    file.read_exact(&mut tail)?;
    let [a, b, c, d, mark @ ..] = tail;
    if mark != *b"PAR1" {
        return Err(invalid("it does not end like a Parquet file"));
    }
    let footer_bytes = u32::from_le_bytes([a, b, c, d]);
    let start = tail_start.checked_sub(footer_bytes.into());
    file.seek(SeekFrom::Start(start.ok_or_else(too_short)?))?;
    let mut footer = Vec::new();
    file.take(footer_bytes.into()).read_to_end(&mut footer)?;
    let schema = check_footer(&footer)?;
    if schema.children > footer.len() as u64 {
        return Err(invalid("the schema has fewer columns than it states"));
    }
    if schema.groups > MAX_SCHEMA_GROUPS {
        let message = format!("the schema has more than {MAX_SCHEMA_GROUPS} lists and structures");
        return Err(ParquetError::General(message));
    }
    Ok(())
}

/// How much more of a file may be decoded: a few bytes can state any number of rows.
pub(super) struct DecodedSize {
    bytes: u64,
    file_bytes: u64,
}

impl DecodedSize {
    /// Bytes that a cell counts as, beside those of its text.
    pub const CELL_BYTES: usize = 8;

    /// What a file of this length may hold.
    pub fn of_file(metadata: &ParquetMetaData, file_bytes: u64) -> Result<Self> {
        let columns = metadata.file_metadata().schema_descr().num_columns();
        if columns == 0 {
            return Err(invalid("it has no columns"));
        }
        let mut rows: i64 = 0;
        for group in metadata.row_groups() {
            rows = rows.saturating_add(group.num_rows());
        }
        let stated = metadata.file_metadata().num_rows();
        if rows != stated {
            let message = format!("it states {stated} rows, and {rows} in its row groups");
            return Err(ParquetError::General(message));
        }
        let limit = file_bytes.saturating_mul(MAX_DECODED_BYTES_PER_BYTE);
        Ok(Self {
            bytes: limit.max(MAX_STREAM_BYTES),
            file_bytes,
        })
    }

    /// The number of rows of a group, whose cells are then counted.
    pub fn take_cells(&mut self, group: &RowGroupMetaData, columns: usize) -> Result<usize> {
        let rows = usize::try_from(group.num_rows())?;
        let cells = rows.saturating_mul(columns);
        self.take_bytes(cells.saturating_mul(Self::CELL_BYTES) as u64)?;
        Ok(rows)
    }

    /// Counts decoded bytes.
    pub fn take_bytes(&mut self, bytes: u64) -> Result<()> {
        let left = self.bytes.checked_sub(bytes);
        self.bytes = left.ok_or_else(|| {
            let message = format!(
                "it states more cells than a file of {} bytes may hold",
                self.file_bytes
            );
            ParquetError::General(message)
        })?;
        Ok(())
    }

    /// Where the pages of a column are, and what they may hold.
    pub fn column_pages(&self, column: &ColumnChunkMetaData, rows: usize) -> Result<ColumnPages> {
        let first_page = column.dictionary_page_offset();
        let first_page = first_page.unwrap_or_else(|| column.data_page_offset());
        let [offset, bytes] = [first_page, column.compressed_size()].map(u64::try_from);
        let (Ok(offset), Ok(bytes)) = (offset, bytes) else {
            return Err(invalid("a column has a negative place or size"));
        };
        let end = offset.checked_add(bytes);
        if end.is_none_or(|end| end > self.file_bytes) {
            return Err(invalid("a column ends behind the file"));
        }
        Ok(ColumnPages {
            offset,
            bytes,
            rows: rows as u64,
            max_text_bytes: self.bytes,
            is_nullable: column.column_descr().max_def_level() > 0,
            min_value_bytes: match column.column_type() {
                Type::FIXED_LEN_BYTE_ARRAY => {
                    u64::try_from(column.column_descr().type_length()).map_or(1, |n| n.max(1))
                }
                _ => MIN_VALUE_BYTES,
            },
        })
    }
}
