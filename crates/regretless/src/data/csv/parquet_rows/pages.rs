//! Pages of a column, checked before the decoder allocates memory for them and reads them.
//!
//! The decoder believes what the header of a page says about sizes and numbers of values.

use std::fs::File;
use std::io::{BufReader, Seek, SeekFrom};
use std::sync::Arc;

use parquet::basic::Encoding;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};

use super::delta;
use super::thrift::{PageSize, check_page_header, invalid};
use crate::size_limits::MAX_STREAM_BYTES;

/// Most bytes that one compressed byte can become: a block of 128 KiB in which all bytes are equal
/// takes four bytes in zstd; the other compressions have smaller ratios.
const MAX_COMPRESSION_RATIO: u64 = 1 << 15;

/// The code of pages that the decoder leaves out.
const INDEX_PAGE: i64 = 1;

/// Where the pages of a column are, and what they may hold.
pub(super) struct ColumnPages {
    /// Of the first header.
    pub offset: u64,
    /// Of all pages and headers.
    pub bytes: u64,
    pub rows: u64,
    /// Most bytes of texts in a page.
    pub max_text_bytes: u64,
    pub is_nullable: bool,
    /// Fewest bytes of a value in a dictionary.
    pub min_value_bytes: u64,
}

/// The pages of a column.
pub(super) struct CheckedPages {
    pages: Box<dyn PageReader>,
    file: Arc<File>,
    /// What is left of it.
    column: ColumnPages,
}

impl CheckedPages {
    pub fn new(pages: Box<dyn PageReader>, file: Arc<File>, column: ColumnPages) -> Self {
        Self {
            pages,
            file,
            column,
        }
    }

    /// Checks the header of the page that is read next.
    fn check_header(&mut self) -> Result<()> {
        while self.column.bytes > 0 {
            let mut file = &*self.file;
            file.seek(SeekFrom::Start(self.column.offset))?;
            let size = check_page_header(BufReader::new(file), self.column.bytes)?;
            let page_bytes = size.header + check_size(&size)?;
            let left = self.column.bytes.checked_sub(page_bytes);
            self.column.bytes = left.ok_or_else(|| invalid("a page ends behind its column"))?;
            self.column.offset += page_bytes;
            if size.page_type != INDEX_PAGE {
                break;
            }
        }
        Ok(())
    }

    fn check_page(&mut self, page: &Page) -> Result<()> {
        let count = u64::from(page.num_values());
        let buffer = page.buffer();
        let levels = match page {
            Page::DictionaryPage { .. } => {
                if count * self.column.min_value_bytes > buffer.len() as u64 {
                    return Err(invalid("a dictionary has more values than bytes"));
                }
                return Ok(());
            }
            Page::DataPage {
                def_level_encoding, ..
            } => self.level_bytes(buffer, *def_level_encoding, count),
            Page::DataPageV2 {
                def_levels_byte_len,
                rep_levels_byte_len,
                ..
            } => u64::from(*def_levels_byte_len) + u64::from(*rep_levels_byte_len),
        };
        let left = self.column.rows.checked_sub(count);
        self.column.rows = left.ok_or_else(|| invalid("a column has more values than rows"))?;
        let texts = usize::try_from(levels).ok();
        let Some(texts) = texts.and_then(|levels| buffer.get(levels..)) else {
            return Err(invalid("a page ends early"));
        };
        let text_bytes = match page.encoding() {
            Encoding::DELTA_LENGTH_BYTE_ARRAY => delta::text_bytes(texts, count)?,
            Encoding::DELTA_BYTE_ARRAY => delta::prefixed_text_bytes(texts, count)?,
            // Texts are stored with their length, and the decoder copies no text.
            _ => 0,
        };
        if text_bytes > self.column.max_text_bytes {
            return Err(invalid("its texts are too long"));
        }
        Ok(())
    }

    /// Bytes in front of the values of a page of version 1, which say which rows have a value.
    fn level_bytes(&self, buffer: &[u8], encoding: Encoding, count: u64) -> u64 {
        if !self.column.is_nullable {
            return 0;
        }
        match (encoding, buffer.first_chunk()) {
            (Encoding::RLE, Some(length)) => 4 + u64::from(u32::from_le_bytes(*length)),
            _ => count.div_ceil(8),
        }
    }
}

/// The bytes of a page in the file, if its sizes are possible.
fn check_size(size: &PageSize) -> Result<u64> {
    let [compressed, uncompressed] = [size.compressed, size.uncompressed].map(u64::try_from);
    let (Ok(compressed), Ok(uncompressed)) = (compressed, uncompressed) else {
        return Err(invalid("a page has a negative size"));
    };
    let limit = compressed.saturating_mul(MAX_COMPRESSION_RATIO);
    if uncompressed > limit.min(MAX_STREAM_BYTES) {
        let message =
            format!("a page of {compressed} bytes states {uncompressed} when decompressed");
        return Err(ParquetError::General(message));
    }
    Ok(compressed)
}

impl PageReader for CheckedPages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        self.check_header()?;
        let page = self.pages.get_next_page()?;
        if let Some(page) = &page {
            self.check_page(page)?;
        }
        Ok(page)
    }

    /// Pages of columns without lists are only read in order.
    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        Err(invalid("pages are read in order"))
    }

    fn skip_next_page(&mut self) -> Result<()> {
        Err(invalid("pages are read in order"))
    }
}

impl Iterator for CheckedPages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}
