//! The lengths of texts in the encodings `DELTA_LENGTH_BYTE_ARRAY` and `DELTA_BYTE_ARRAY`, before
//! the decoder allocates memory for them.
//!
//! Both store lengths as `DELTA_BINARY_PACKED` integers, whose number is stated in a few bytes. In
//! `DELTA_BYTE_ARRAY`, every text may repeat the one before, which takes no bytes at all.

use parquet::errors::Result;

use super::thrift::invalid;

/// Values of a mini block are a multiple of this.
const MINI_BLOCK_UNIT: u64 = 32;

/// Lengths that were read.
struct LengthSum<'a> {
    sum: u64,
    /// What follows them.
    rest: &'a [u8],
}

/// Bytes of all texts of a page in the encoding `DELTA_LENGTH_BYTE_ARRAY`, of which there are at
/// most `max_count`.
pub(super) fn text_bytes(page: &[u8], max_count: u64) -> Result<u64> {
    sum_lengths(page, max_count).map(|lengths| lengths.sum)
}

/// The same in the encoding `DELTA_BYTE_ARRAY`.
pub(super) fn prefixed_text_bytes(page: &[u8], max_count: u64) -> Result<u64> {
    let prefixes = sum_lengths(page, max_count)?;
    let suffixes = sum_lengths(prefixes.rest, max_count)?;
    Ok(prefixes.sum.saturating_add(suffixes.sum))
}

fn sum_lengths(bytes: &[u8], max_count: u64) -> Result<LengthSum<'_>> {
    let mut reader = DeltaReader { bytes };
    let block_size = reader.unsigned()?;
    let mini_blocks = reader.unsigned()?;
    let count = reader.unsigned()?;
    let mut value = reader.integer()?;
    if count > max_count {
        return Err(invalid("a page has more lengths of texts than values"));
    }
    let mini_block_size = block_size.checked_div(mini_blocks).unwrap_or(0);
    if mini_block_size == 0 || !mini_block_size.is_multiple_of(MINI_BLOCK_UNIT) {
        return Err(invalid("the blocks of a page have an invalid size"));
    }
    let mut sum = if count > 0 { length(value)? } else { 0 };
    let mut left = count.saturating_sub(1);
    while left > 0 {
        let min_delta = reader.integer()?;
        for width in reader.take(mini_blocks)? {
            let packed = left.min(mini_block_size);
            let bits = BitReader {
                width: u32::from(*width),
                bytes: reader.mini_block(mini_block_size, packed, *width)?,
            };
            for position in 0..packed {
                let delta = bits.value(position).cast_signed();
                value = value.wrapping_add(min_delta).wrapping_add(delta);
                sum += length(value)?;
            }
            left -= packed;
            if left == 0 {
                break;
            }
        }
    }
    Ok(LengthSum {
        sum,
        rest: reader.bytes,
    })
}

fn length(value: i32) -> Result<u64> {
    u64::try_from(value).map_err(|_| invalid("a text has a negative length"))
}

struct DeltaReader<'a> {
    bytes: &'a [u8],
}

impl<'a> DeltaReader<'a> {
    fn take(&mut self, count: u64) -> Result<&'a [u8]> {
        let taken = usize::try_from(count).ok();
        let (taken, rest) = taken
            .and_then(|count| self.bytes.split_at_checked(count))
            .ok_or_else(|| invalid("a page ends early"))?;
        self.bytes = rest;
        Ok(taken)
    }

    /// The bytes of the next mini block. Some writers end the last one early.
    fn mini_block(&mut self, size: u64, used: u64, width: u8) -> Result<&'a [u8]> {
        if u32::from(width) > i32::BITS {
            return Err(invalid("an integer of a page has too many bits"));
        }
        let bytes = |values: u64| values.saturating_mul(u64::from(width)).div_ceil(8);
        let stored = bytes(size).min(self.bytes.len() as u64);
        self.take(stored.max(bytes(used)))
    }

    fn unsigned(&mut self) -> Result<u64> {
        let mut value = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.take(1)?[0];
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(invalid("an integer of a page is too long"))
    }

    fn integer(&mut self) -> Result<i32> {
        let value = self.unsigned()?;
        let value = (value >> 1).cast_signed() ^ -(value & 1).cast_signed();
        i32::try_from(value).map_err(|_| invalid("a length of a text is too large"))
    }
}

/// Integers of a fixed number of bits, the lowest first.
struct BitReader<'a> {
    width: u32,
    bytes: &'a [u8],
}

impl BitReader<'_> {
    fn value(&self, position: u64) -> u32 {
        let first_bit = position * u64::from(self.width);
        let first_byte = (first_bit / 8) as usize;
        let mut bits = 0;
        // 32 bits are in at most five bytes.
        for (shift, byte) in self.bytes[first_byte..].iter().take(5).enumerate() {
            bits |= u64::from(*byte) << (8 * shift);
        }
        let mask = (1_u64 << self.width) - 1;
        ((bits >> (first_bit % 8)) & mask) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::{prefixed_text_bytes, text_bytes};

    /// 3, 4, 6, 7: blocks of 128 in 4 mini blocks, 4 values, the first of which is 3; differences of
    /// at least 1, beyond which one has the value 1 in a bit.
    const LENGTHS: [u8; 13] = [0x80, 0x01, 4, 4, 6, 2, 1, 0, 0, 0, 0b010, 0, 0];

    #[test]
    fn lengths_are_added() {
        let mut page = LENGTHS.to_vec();
        page.push(0);
        page.extend([b'a'; 20]);
        assert_eq!(text_bytes(&page, 4).unwrap(), 3 + 4 + 6 + 7);
        // The last mini block may end early.
        assert_eq!(text_bytes(&LENGTHS[..11], 4).unwrap(), 20);
        let none = [0x80, 0x01, 4, 0, 0];
        assert_eq!(text_bytes(&none, 0).unwrap(), 0);
        let both = [&page[..14], &page].concat();
        assert_eq!(prefixed_text_bytes(&both, 4).unwrap(), 40);
    }

    #[test]
    fn impossible_lengths_are_refused() {
        let message = |page: &[u8]| text_bytes(page, 4).unwrap_err().to_string();
        let with = |position: usize, byte: u8| {
            let mut page = LENGTHS;
            page[position] = byte;
            page
        };
        assert!(message(&with(3, 5)).contains("more lengths of texts than values"));
        assert!(message(&with(2, 0)).contains("invalid size"));
        assert!(message(&with(0, 0x84)).contains("invalid size"));
        assert!(message(&with(4, 5)).contains("negative length"));
        assert!(message(&with(6, 33)).contains("too many bits"));
        assert!(message(&LENGTHS[..8]).contains("ends early"));
        assert!(message(&[0xff; 12]).contains("too long"));
        let huge_count = [0x80, 0x01, 4, 0xff, 0xff, 0xff, 0xff, 0x0f, 6];
        assert!(message(&huge_count).contains("more lengths of texts than values"));
    }
}
