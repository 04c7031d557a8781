//! Compressed files: gzip and bzip2, as publishers of instances and tables use them. They are
//! recognized by their first bytes, whatever their names, and decompressed while they are read. A
//! short file can decompress to any length, so the length is limited.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};

use bzip2::read::MultiBzDecoder;
use flate2::read::MultiGzDecoder;

use crate::error::{Error, Result};
use crate::size_limits::MAX_STREAM_BYTES;

/// Bytes that recognize a format: gzip has three, bzip2 has four and those of its first block.
const MAGIC_BYTES: usize = 10;
/// A gzip member with deflated data (RFC 1952).
const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b, 0x08];
/// A bzip2 stream; a digit and a block, or the end of an empty stream, follow.
const BZIP2_MAGIC: &[u8] = b"BZh";
const BZIP2_BLOCK_MAGICS: [&[u8]; 2] = [
    &[0x31, 0x41, 0x59, 0x26, 0x53, 0x59],
    &[0x17, 0x72, 0x45, 0x38, 0x50, 0x90],
];

/// Extensions that compressed files have behind that of their content.
const EXTENSIONS: [&str; 2] = ["gz", "bz2"];

/// A stream whose content is decompressed if it is compressed. Several compressed streams one after
/// another are read as one, as their programs do.
pub struct DecompressedStream {
    reader: Box<dyn Read>,
    is_compressed: bool,
    /// Bytes that may still be read from a compressed stream.
    left: u64,
}

impl DecompressedStream {
    /// Opens a file.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(Error::io(path))?;
        Self::new(file, MAX_STREAM_BYTES).map_err(Error::io(path))
    }

    fn new(mut stream: impl Read + 'static, limit: u64) -> io::Result<Self> {
        let mut start = Vec::with_capacity(MAGIC_BYTES);
        stream
            .by_ref()
            .take(MAGIC_BYTES as u64)
            .read_to_end(&mut start)?;
        let is_gzip = start.starts_with(GZIP_MAGIC);
        let is_bzip2 = is_bzip2(&start);
        let whole = Cursor::new(start).chain(stream);
        let reader: Box<dyn Read> = if is_gzip {
            Box::new(MultiGzDecoder::new(whole))
        } else if is_bzip2 {
            Box::new(MultiBzDecoder::new(whole))
        } else {
            Box::new(whole)
        };
        Ok(Self {
            reader,
            is_compressed: is_gzip || is_bzip2,
            left: limit,
        })
    }
}

impl Read for DecompressedStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.is_compressed {
            return self.reader.read(buffer);
        }
        let count = self.reader.read(buffer).map_err(|error| {
            if error.kind() == io::ErrorKind::Interrupted {
                return error;
            }
            let message = format!("the compressed data are damaged or incomplete ({error})");
            io::Error::new(io::ErrorKind::InvalidData, message)
        })?;
        self.left = self.left.checked_sub(count as u64).ok_or_else(|| {
            let message = format!(
                "the file has more than {MAX_STREAM_BYTES} bytes when it is decompressed; \
                 decompress it first"
            );
            io::Error::new(io::ErrorKind::InvalidData, message)
        })?;
        Ok(count)
    }
}

fn is_bzip2(start: &[u8]) -> bool {
    let Some(rest) = start.strip_prefix(BZIP2_MAGIC) else {
        return false;
    };
    let Some((level, block)) = rest.split_first() else {
        return false;
    };
    level.is_ascii_digit() && BZIP2_BLOCK_MAGICS.contains(&block)
}

/// The content of a file that has these bytes, and whether they were compressed.
///
/// # Errors
/// When compressed data are damaged or too long.
pub(crate) fn decompress(bytes: Vec<u8>, path: &Path) -> Result<(Vec<u8>, bool)> {
    let is_compressed = bytes.starts_with(GZIP_MAGIC) || is_bzip2(&bytes[..bytes.len().min(10)]);
    if !is_compressed {
        return Ok((bytes, false));
    }
    let mut content = Vec::new();
    DecompressedStream::new(Cursor::new(bytes), MAX_STREAM_BYTES)
        .and_then(|mut stream| stream.read_to_end(&mut content))
        .map_err(Error::io(path))?;
    Ok((content, true))
}

/// The path of a file without the extension of its compression: `model.mps` for `model.mps.gz`.
pub fn uncompressed_path(path: &Path) -> PathBuf {
    let is_compressed = path.extension().is_some_and(|extension| {
        EXTENSIONS
            .iter()
            .any(|known| extension.eq_ignore_ascii_case(known))
    });
    if is_compressed {
        path.with_extension("")
    } else {
        path.to_path_buf()
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Read, Write};
    use std::path::Path;

    use super::{DecompressedStream, decompress, uncompressed_path};

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn bzip2(text: &[u8]) -> Vec<u8> {
        let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn read(bytes: &[u8]) -> Result<(Vec<u8>, bool), String> {
        decompress(bytes.to_vec(), Path::new("f")).map_err(|error| error.to_string())
    }

    #[test]
    fn compressed_content_is_recognized_by_its_first_bytes() {
        for text in [&b""[..], b"a", &b"some text\n".repeat(10_000)] {
            assert_eq!(read(text).unwrap(), (text.to_vec(), false));
            for compress in [gzip, bzip2] {
                assert_eq!(read(&compress(text)).unwrap(), (text.to_vec(), true));
            }
        }
        for text in [&b"BZh9 is text"[..], b"BZh", b"\x1f\x8b"] {
            assert_eq!(read(text).unwrap(), (text.to_vec(), false));
        }
    }

    #[test]
    fn streams_one_after_another_are_one() {
        for compress in [gzip, bzip2] {
            let both = [compress(b"first\n"), compress(b"second\n")].concat();
            assert_eq!(read(&both).unwrap().0, b"first\nsecond\n");
        }
    }

    #[test]
    fn damaged_and_truncated_streams_are_refused() {
        for compress in [gzip, bzip2] {
            let whole = compress(&b"0123456789".repeat(1000));
            for length in 12..whole.len() {
                assert!(read(&whole[..length]).unwrap_err().contains("damaged"));
            }
            let mut flipped = whole.clone();
            flipped[whole.len() / 2] ^= 0x10;
            assert!(read(&flipped).unwrap_err().contains("damaged"));
            let followed = [whole, b"garbage".to_vec()].concat();
            assert!(read(&followed).unwrap_err().contains("damaged"));
        }
    }

    #[test]
    fn a_short_file_cannot_decompress_to_any_length() {
        for compress in [gzip, bzip2] {
            let zeros = compress(&vec![b'0'; 1_000_000]);
            let mut stream = DecompressedStream::new(Cursor::new(zeros), 999_999).unwrap();
            let error = stream.read_to_end(&mut Vec::new()).unwrap_err();
            assert!(error.to_string().contains("when it is decompressed"));
        }
    }

    #[test]
    fn the_name_of_the_content_is_in_front() {
        let name = |path: &str| uncompressed_path(Path::new(path)).display().to_string();
        assert_eq!(name("a/m.mps.gz"), "a/m.mps");
        assert_eq!(name("m.LP.BZ2"), "m.LP");
        assert_eq!(name("m.mps"), "m.mps");
    }
}
