//! A file inside a model file: that of the problem, compressed (raw DEFLATE).

use std::io::{Read, Write};
use std::sync::Arc;

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;

/// Most bytes of an embedded file, 2 GiB; files of real problems have up to some hundred megabytes.
const MAX_FILE_BYTES: u64 = 1 << 31;
/// Text shrinks to about a tenth. A larger ratio in a model file means a forged file that would
/// fill the memory.
const MAX_COMPRESSION_RATIO: u64 = 200;
/// Files up to 16 MB are embedded whatever their compression ratio is.
const MIN_CHECKED_BYTES: u64 = 1 << 24;

/// The compressed bytes of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EmbeddedFile {
    compressed: Arc<[u8]>,
}

impl EmbeddedFile {
    /// Compresses a file; `None` if it is larger than a model file may hold.
    pub(crate) fn compress(content: &[u8]) -> Option<Self> {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        // Writing to memory does not fail.
        encoder.write_all(content).ok()?;
        let file = Self::from_compressed(encoder.finish().ok()?);
        (content.len() as u64 <= file.max_bytes()).then_some(file)
    }

    /// Most bytes that the file may have.
    fn max_bytes(&self) -> u64 {
        let by_ratio = MAX_COMPRESSION_RATIO.saturating_mul(self.compressed.len() as u64);
        by_ratio.clamp(MIN_CHECKED_BYTES, MAX_FILE_BYTES)
    }

    /// The file of an array in a model file.
    pub(crate) fn from_compressed(compressed: Vec<u8>) -> Self {
        Self {
            compressed: compressed.into(),
        }
    }

    pub(crate) fn compressed(&self) -> &[u8] {
        &self.compressed
    }

    /// The bytes of the file; `None` if they are damaged, not those of this BLAKE3 hash, or more
    /// than a model file may hold.
    pub(crate) fn content(&self, hash: &str) -> Option<Vec<u8>> {
        let limit = self.max_bytes();
        let mut content = Vec::new();
        let mut decoder = DeflateDecoder::new(&*self.compressed).take(limit + 1);
        decoder.read_to_end(&mut content).ok()?;
        let is_intact =
            content.len() as u64 <= limit && blake3::hash(&content).to_hex().as_str() == hash;
        is_intact.then_some(content)
    }
}

#[cfg(test)]
mod tests {
    use super::{EmbeddedFile, MIN_CHECKED_BYTES};

    #[test]
    fn a_file_survives_and_another_hash_does_not_match() {
        let content = b"minimize\n x + y\nend\n".repeat(100);
        let hash = blake3::hash(&content).to_hex().to_string();
        let file = EmbeddedFile::compress(&content).unwrap();
        assert!(file.compressed().len() < content.len() / 10);
        assert_eq!(file.content(&hash), Some(content));
        assert_eq!(file.content(&hash.replace('0', "1")), None);
        let mut damaged = file.compressed().to_vec();
        damaged.truncate(damaged.len() / 2);
        assert_eq!(EmbeddedFile::from_compressed(damaged).content(&hash), None);
    }

    #[test]
    fn a_file_that_would_fill_the_memory_is_refused() {
        let bomb = vec![0_u8; MIN_CHECKED_BYTES as usize + 1];
        let hash = blake3::hash(&bomb).to_hex().to_string();
        assert_eq!(EmbeddedFile::compress(&bomb), None);
        let mut encoder = super::DeflateEncoder::new(Vec::new(), super::Compression::best());
        std::io::Write::write_all(&mut encoder, &bomb).unwrap();
        let forged = EmbeddedFile::from_compressed(encoder.finish().unwrap());
        assert_eq!(forged.content(&hash), None);
        // The largest one of this ratio that is accepted.
        let file = EmbeddedFile::compress(&bomb[1..]).unwrap();
        let hash = blake3::hash(&bomb[1..]).to_hex().to_string();
        assert!(file.content(&hash).is_some());
    }
}
