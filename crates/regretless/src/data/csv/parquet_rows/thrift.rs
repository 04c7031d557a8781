//! A check of the footer and of page headers, which are structures in Thrift's compact protocol,
//! before the decoder reads them.
//!
//! The decoder believes every length: six bytes can state a list of two billion booleans, which it
//! skips one by one. Here every element takes at least one byte of the input. The decoder does not
//! look at the types of fields it knows, so they are compared with those of the format: both read
//! the same bytes as the same fields.

use std::io::{Read, Take};

use parquet::errors::{ParquetError, Result};

use super::metadata_types::ValueType::{
    self, Binary, Boolean, Byte, Double, Integer, List, Structure,
};
use super::metadata_types::{
    BOOLEAN_CODES, COMPRESSED_SIZE_FIELD, FOOTER, NUM_CHILDREN_FIELD, PAGE_HEADER, PAGE_TYPE_FIELD,
    SCHEMA_FIELD, UNCOMPRESSED_SIZE_FIELD,
};

/// Levels of structures and lists in each other. The format has eight.
const MAX_DEPTH: usize = 16;
/// Most bytes of an integer with seven bits per byte.
const MAX_INTEGER_BYTES: u32 = 10;

/// What the footer says about its columns.
#[derive(Debug, Default)]
pub(super) struct SchemaSize {
    /// Elements that have others in them; the table itself is one.
    pub groups: usize,
    /// The sum of the numbers of elements in them.
    pub children: u64,
}

/// What the header of a page says about its size.
#[derive(Debug, Default)]
pub(super) struct PageSize {
    /// Bytes of the header.
    pub header: u64,
    pub page_type: i64,
    pub uncompressed: i64,
    pub compressed: i64,
}

/// Checks a footer.
pub(super) fn check_footer(bytes: &[u8]) -> Result<SchemaSize> {
    let mut size = SchemaSize::default();
    let mut valid = Ok(());
    CompactReader::new(bytes, bytes.len() as u64).value(&FOOTER, &mut |fields, value| {
        if *fields == [SCHEMA_FIELD, NUM_CHILDREN_FIELD] && value != 0 {
            size.groups += 1;
            match u32::try_from(value) {
                Ok(children) => size.children += u64::from(children),
                Err(_) => valid = Err(invalid("the schema has an invalid number of columns")),
            }
        }
    })?;
    valid.map(|()| size)
}

/// Checks the header of a page at the beginning of an input, of which it may take `limit` bytes.
pub(super) fn check_page_header(input: impl Read, limit: u64) -> Result<PageSize> {
    let mut size = PageSize::default();
    let mut reader = CompactReader::new(input, limit);
    reader.value(&PAGE_HEADER, &mut |fields, value| match *fields {
        [PAGE_TYPE_FIELD] => size.page_type = value,
        [UNCOMPRESSED_SIZE_FIELD] => size.uncompressed = value,
        [COMPRESSED_SIZE_FIELD] => size.compressed = value,
        _ => {}
    })?;
    size.header = limit - reader.input.limit();
    Ok(size)
}

pub(super) fn invalid(message: &str) -> ParquetError {
    ParquetError::General(message.to_owned())
}

fn unknown_type() -> ParquetError {
    invalid("its metadata have a field of an unknown type")
}

fn ends_early() -> ParquetError {
    ParquetError::EOF("its metadata end early".to_owned())
}

/// Reads values of the compact protocol.
struct CompactReader<R> {
    input: Take<R>,
    /// Fields that lead to the current value.
    fields: Vec<i16>,
    depth: usize,
}

/// Is called with the fields that lead to an integer, and the integer.
type IntegerVisitor<'a> = dyn FnMut(&[i16], i64) + 'a;

impl<R: Read> CompactReader<R> {
    fn new(input: R, limit: u64) -> Self {
        Self {
            input: input.take(limit),
            fields: Vec::new(),
            depth: 0,
        }
    }

    fn byte(&mut self) -> Result<u8> {
        let mut byte = [0];
        self.input.read_exact(&mut byte).map_err(|_| ends_early())?;
        Ok(byte[0])
    }

    fn skip(&mut self, count: u64) -> Result<()> {
        if count > self.input.limit() {
            return Err(ends_early());
        }
        let skipped = std::io::copy(&mut self.input.by_ref().take(count), &mut std::io::sink())?;
        if skipped == count {
            Ok(())
        } else {
            Err(ends_early())
        }
    }

    /// An integer without a sign.
    fn unsigned(&mut self) -> Result<u64> {
        let mut value = 0;
        for position in 0..MAX_INTEGER_BYTES {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << (7 * position);
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(invalid("an integer of its metadata is too long"))
    }

    fn integer(&mut self) -> Result<i64> {
        let value = self.unsigned()?;
        Ok((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }

    fn value(&mut self, value_type: &ValueType, visit: &mut IntegerVisitor<'_>) -> Result<()> {
        match value_type {
            // A field of this type is its own value, and there are no lists of it.
            Boolean => Ok(()),
            Byte => self.skip(1),
            Integer => {
                let value = self.integer()?;
                visit(&self.fields, value);
                Ok(())
            }
            Double => self.skip(8),
            Binary => {
                let length = self.unsigned()?;
                self.skip(length)
            }
            List(element) => self.list(Some(element), visit),
            Structure(fields) => self.structure(fields, visit),
        }
    }

    fn structure(
        &mut self,
        known: &[(i16, ValueType)],
        visit: &mut IntegerVisitor<'_>,
    ) -> Result<()> {
        self.enter()?;
        let mut field: i16 = 0;
        loop {
            let header = self.byte()?;
            let (step, code) = (i16::from(header >> 4), header & 0xf);
            if code == 0 {
                break;
            }
            field = if step > 0 {
                field.checked_add(step)
            } else {
                i16::try_from(self.integer()?).ok()
            }
            .ok_or_else(|| invalid("its metadata have an invalid field"))?;
            let found = known.iter().find(|(number, _)| *number == field);
            self.fields.push(field);
            match found {
                Some((_, value_type)) if value_type.has_code(code) => {
                    self.value(value_type, visit)?;
                }
                Some(_) => return Err(invalid("a field of its metadata has the wrong type")),
                None => self.unknown(code)?,
            }
            self.fields.pop();
        }
        self.depth -= 1;
        Ok(())
    }

    /// Reads a list; without a type of its elements, whatever they are.
    fn list(&mut self, element: Option<&ValueType>, visit: &mut IntegerVisitor<'_>) -> Result<()> {
        self.enter()?;
        let header = self.byte()?;
        let count = match header >> 4 {
            15 => self.unsigned()?,
            count => u64::from(count),
        };
        let code = header & 0xf;
        // Each element takes at least one byte.
        if count > self.input.limit() {
            return Err(ends_early());
        }
        for _ in 0..count {
            match element {
                Some(element) if element.has_code(code) => self.value(element, visit)?,
                Some(_) => return Err(invalid("a list of its metadata has the wrong type")),
                None if BOOLEAN_CODES.contains(&code) => return Err(unknown_type()),
                None => self.unknown(code)?,
            }
        }
        self.depth -= 1;
        Ok(())
    }

    /// Skips a value as the decoder does, except for what the format does not have: sets, maps, and
    /// lists of booleans, of which the decoder does not skip the bytes.
    fn unknown(&mut self, code: u8) -> Result<()> {
        let ignore: &mut IntegerVisitor<'_> = &mut |_, _| {};
        match code {
            _ if BOOLEAN_CODES.contains(&code) => Ok(()),
            3 => self.value(&Byte, ignore),
            4..=6 => self.value(&Integer, ignore),
            7 => self.value(&Double, ignore),
            8 => self.value(&Binary, ignore),
            9 => self.list(None, ignore),
            12 => self.structure(&[], ignore),
            13 => self.skip(16),
            _ => Err(unknown_type()),
        }
    }

    fn enter(&mut self) -> Result<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(invalid("its metadata are nested too deeply"));
        }
        Ok(())
    }
}
