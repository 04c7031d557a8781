//! Checksummed files: arrays and a header in one safetensors file, with a checksum over all of it.
//!
//! Reading executes nothing and trusts nothing: sizes are checked against the length of the file
//! before memory is allocated, the checksum covers every array, and the file must be, byte for
//! byte, what this module writes for its content, so every flipped bit is detected.

use std::collections::HashMap;
use std::io::{self, Write};

use safetensors::tensor::{Dtype, Metadata, SafeTensors, TensorInfo};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::error::{Error, Result};

/// Longest header that is read, 16 MB. It contains names and metadata, never arrays.
pub const MAX_HEADER_BYTES: u64 = 16 << 20;
/// The one metadata key, so the order of a hash map cannot change the bytes.
const METADATA_KEY: &str = "regretless";
/// Values converted to bytes at a time, so large arrays are not copied as a whole. Untuned: any
/// size of some ten KB works.
const VALUES_PER_CHUNK: usize = 1 << 14;

/// An array with its shape.
#[derive(Debug, Clone, PartialEq)]
pub struct Tensor {
    shape: Vec<usize>,
    values: TensorValues,
}

/// The values of an array.
#[derive(Debug, Clone, PartialEq)]
pub enum TensorValues {
    /// Single precision.
    F32(Vec<f32>),
    /// Double precision.
    F64(Vec<f64>),
    /// Unsigned, 32 bits.
    U32(Vec<u32>),
    /// Unsigned, 64 bits.
    U64(Vec<u64>),
    /// Bytes.
    U8(Vec<u8>),
}

macro_rules! tensor_types {
    ($($name:ident $type:ty, $bytes:literal;)*) => {
        impl TensorValues {
            /// Calls `write` with all bytes, chunk by chunk.
            fn write_bytes(
                &self,
                mut write: impl FnMut(&[u8]) -> io::Result<()>,
            ) -> io::Result<()> {
                match self { $(Self::$name(values) => {
                    let mut bytes = vec![0; VALUES_PER_CHUNK * $bytes];
                    for chunk in values.chunks(VALUES_PER_CHUNK) {
                        for (out, value) in bytes.chunks_exact_mut($bytes).zip(chunk) {
                            out.copy_from_slice(&value.to_le_bytes());
                        }
                        write(&bytes[..chunk.len() * $bytes])?;
                    }
                    Ok(())
                })* }
            }

            fn size(&self) -> usize {
                match self { $(Self::$name(values) => values.len() * $bytes,)* }
            }

            fn dtype(&self) -> Dtype {
                match self { $(Self::$name(_) => Dtype::$name,)* }
            }

            fn from_bytes(dtype: Dtype, bytes: &[u8]) -> Option<Self> {
                $(if dtype == Dtype::$name {
                    let number = |b: &[u8]| b.try_into().map(<$type>::from_le_bytes);
                    let values: std::result::Result<Vec<$type>, _> =
                        bytes.chunks($bytes).map(number).collect();
                    return values.ok().map(Self::$name);
                })*
                None
            }
        }

        $(impl From<Vec<$type>> for Tensor {
            fn from(values: Vec<$type>) -> Self {
                Self { shape: vec![values.len()], values: TensorValues::$name(values) }
            }
        }

        impl TryFrom<Tensor> for Vec<$type> {
            type Error = ();

            fn try_from(array: Tensor) -> std::result::Result<Self, ()> {
                match array.values { TensorValues::$name(values) => Ok(values), _ => Err(()) }
            }
        })*
    };
}

tensor_types! {
    F32 f32, 4;
    F64 f64, 8;
    U32 u32, 4;
    U64 u64, 8;
    U8 u8, 1;
}

/// The content of a checksummed file: a header, and arrays by name.
#[derive(Debug, Clone, PartialEq)]
pub struct ChecksummedFile<T> {
    /// The header: metadata of the arrays.
    pub header: T,
    arrays: Vec<(String, Tensor)>,
}

/// The metadata block.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ChecksumHeader<T> {
    /// Kind and version of the file, such as `model 2`.
    format: String,
    /// BLAKE3 over the header and all arrays in the order of their names.
    checksum: String,
    header: T,
}

impl<T: Serialize + DeserializeOwned> ChecksummedFile<T> {
    /// A file with this header and no arrays.
    pub fn new(header: T) -> Self {
        Self {
            header,
            arrays: Vec::new(),
        }
    }

    /// Adds an array.
    #[must_use]
    pub fn with_array(mut self, name: impl Into<String>, array: impl Into<Tensor>) -> Self {
        self.arrays.push((name.into(), array.into()));
        self.arrays.sort_by(|a, b| a.0.cmp(&b.0));
        self
    }

    /// Removes and returns an array by name; `None` when it is missing or of another type.
    pub fn take_array<V: TryFrom<Tensor>>(&mut self, name: &str) -> Option<V> {
        let index = self.arrays.iter().position(|(known, _)| known == name)?;
        V::try_from(self.arrays.remove(index).1).ok()
    }

    /// Whether the file has an array with this name.
    pub fn has(&self, name: &str) -> bool {
        self.arrays.iter().any(|(known, _)| known == name)
    }

    /// The name of an array that was not taken, if there is one.
    pub fn unused_array(&self) -> Option<&str> {
        self.arrays.first().map(|(name, _)| name.as_str())
    }

    /// The bytes of the file.
    ///
    /// # Errors
    /// When the header cannot be serialized as JSON.
    pub fn to_bytes(&self, format: &str) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let invalid = |e: io::Error| Error::data(format!("cannot write the file's header: {e}"));
        self.write_to(&mut bytes, format).map_err(invalid)?;
        Ok(bytes)
    }

    /// Writes the file, without copying its arrays.
    ///
    /// # Errors
    /// When writing fails, or the header cannot be serialized as JSON.
    pub fn write_to(&self, out: &mut dyn Write, format: &str) -> io::Result<()> {
        let checksum_header = ChecksumHeader {
            format: format.into(),
            checksum: self.checksum(format)?,
            header: &self.header,
        };
        let json = serde_json::to_string(&checksum_header)?;
        let metadata = HashMap::from([(METADATA_KEY.to_owned(), json)]);
        // The order that safetensors requires: the widest types first, then by name.
        let mut arrays: Vec<&(String, Tensor)> = self.arrays.iter().collect();
        arrays.sort_by(|a, b| {
            b.1.values
                .dtype()
                .cmp(&a.1.values.dtype())
                .then(a.0.cmp(&b.0))
        });
        let (mut infos, mut start) = (Vec::with_capacity(arrays.len()), 0);
        for (name, array) in &arrays {
            let end = start + array.values.size();
            let info = TensorInfo {
                dtype: array.values.dtype(),
                shape: array.shape.clone(),
                data_offsets: (start, end),
            };
            infos.push((name.clone(), info));
            start = end;
        }
        let metadata = Metadata::new(Some(metadata), infos).map_err(io::Error::other)?;
        let mut header = serde_json::to_vec(&metadata)?;
        header.resize(header.len().next_multiple_of(size_of::<u64>()), b' ');
        out.write_all(&(header.len() as u64).to_le_bytes())?;
        out.write_all(&header)?;
        for (_, array) in arrays {
            array.values.write_bytes(|bytes| out.write_all(bytes))?;
        }
        Ok(())
    }

    fn checksum(&self, format: &str) -> io::Result<String> {
        let mut hasher = blake3::Hasher::new();
        hasher.update(format!("{format}\n{}\n", serde_json::to_string(&self.header)?).as_bytes());
        for (name, array) in &self.arrays {
            hasher.update(
                format!("{name} {:?} {:?}\n", array.values.dtype(), array.shape).as_bytes(),
            );
            array.values.write_bytes(|bytes| {
                hasher.update(bytes);
                Ok(())
            })?;
        }
        Ok(hasher.finalize().to_hex().to_string())
    }

    /// The content of these bytes.
    ///
    /// # Errors
    /// A message without the name of the file, which the caller adds.
    pub fn from_bytes(bytes: &[u8], format: &str) -> std::result::Result<Self, String> {
        let file = Self::parse(bytes, format)?;
        let mut comparer = ByteComparer(bytes);
        match file.write_to(&mut comparer, format) {
            Ok(()) if comparer.0.is_empty() => Ok(file),
            Ok(()) | Err(_) => Err(damaged(format, "its checksum does not match")),
        }
    }

    /// Whether these bytes say that they are a file of this format. Nothing else is checked.
    pub fn has_format(bytes: &[u8], format: &str) -> bool {
        Self::outer_header(bytes, format)
            .is_ok_and(|outer| outer["format"].as_str() == Some(format))
    }

    /// The metadata block as plain JSON: files of other versions may have other fields.
    fn outer_header(bytes: &[u8], format: &str) -> std::result::Result<serde_json::Value, String> {
        let damaged = |what: &str| damaged(format, what);
        check_header(bytes).map_err(damaged)?;
        let (_, metadata) =
            SafeTensors::read_metadata(bytes).map_err(|e| damaged(&e.to_string()))?;
        let header = metadata
            .metadata()
            .as_ref()
            .and_then(|m| m.get(METADATA_KEY))
            .ok_or_else(|| damaged("no checksum"))?;
        serde_json::from_str(header).map_err(|e| damaged(&e.to_string()))
    }

    /// The content of these bytes, the checksum not compared.
    fn parse(bytes: &[u8], format: &str) -> std::result::Result<Self, String> {
        let damaged = |what: &str| damaged(format, what);
        let outer = Self::outer_header(bytes, format)?;
        let found = outer["format"].as_str().unwrap_or_default();
        if found != format {
            return Err(format!("this file is '{found}'; '{format}' is needed"));
        }
        let outer: ChecksumHeader<serde_json::Value> =
            serde_json::from_value(outer).map_err(|e| damaged(&e.to_string()))?;
        let header = serde_json::from_value(outer.header).map_err(|e| damaged(&e.to_string()))?;
        let tensors = SafeTensors::deserialize(bytes).map_err(|e| damaged(&e.to_string()))?;
        let mut file = Self::new(header);
        for (name, view) in tensors.iter() {
            // This module writes vectors only; another shape was not written by it.
            if view.shape().len() != 1 {
                return Err(damaged(
                    "an array has another number of dimensions than one",
                ));
            }
            let values = TensorValues::from_bytes(view.dtype(), view.data())
                .ok_or_else(|| damaged("unknown number type"))?;
            file.arrays.push((
                name.to_owned(),
                Tensor {
                    shape: view.shape().to_vec(),
                    values,
                },
            ));
        }
        file.arrays.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(file)
    }

    /// The same content with a checksum that matches, so fuzzing reaches what is checked behind it;
    /// `None` for bytes that are no such file.
    pub fn with_matching_checksum(bytes: &[u8], format: &str) -> Option<Vec<u8>> {
        Self::parse(bytes, format).ok()?.to_bytes(format).ok()
    }
}

fn damaged(format: &str, what: &str) -> String {
    let kind = format.split(' ').next().unwrap_or(format);
    format!("this is not an intact {kind} file ({what}); it may be damaged or truncated")
}

/// Accepts only the expected bytes; contains those still to come.
struct ByteComparer<'a>(&'a [u8]);

impl Write for ByteComparer<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self
            .0
            .strip_prefix(bytes)
            .ok_or(io::ErrorKind::InvalidData)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Refuses a header that is too long, or arrays beyond the end of the file, before any sum of their
/// lengths is computed, which could overflow.
fn check_header(bytes: &[u8]) -> std::result::Result<(), &'static str> {
    let (length, rest) = bytes.split_first_chunk().ok_or("too short")?;
    let length = u64::from_le_bytes(*length);
    if length > MAX_HEADER_BYTES {
        return Err("its header is too long");
    }
    let header = rest
        .get(..length as usize)
        .ok_or("shorter than its header")?;
    let header: serde_json::Value =
        serde_json::from_slice(header).map_err(|_| "its header is not JSON")?;
    let arrays = header
        .as_object()
        .ok_or("its header is not a JSON object")?;
    let within = |array: &serde_json::Value| {
        array["data_offsets"][1]
            .as_u64()
            .is_some_and(|end| end <= rest.len() as u64)
    };
    match arrays
        .iter()
        .all(|(name, array)| name == "__metadata__" || within(array))
    {
        true => Ok(()),
        false => Err("an array reaches beyond its end"),
    }
}

#[cfg(test)]
mod tests {
    use super::ChecksummedFile;

    fn example() -> ChecksummedFile<String> {
        ChecksummedFile::new("a \"small\" file".to_owned())
            .with_array("b", vec![1.5_f32, -2.0])
            .with_array("a", vec![1_u64, 2, 3])
    }

    #[test]
    fn content_reads_back_as_it_was_written() {
        let bytes = example().to_bytes("test 1").unwrap();
        let mut back = ChecksummedFile::<String>::from_bytes(&bytes, "test 1").unwrap();
        assert_eq!(back, example());
        assert_eq!(back.take_array::<Vec<u64>>("a"), Some(vec![1, 2, 3]));
        assert_eq!(back.take_array::<Vec<f64>>("b"), None);
        assert!(
            ChecksummedFile::<String>::from_bytes(&bytes, "test 2")
                .unwrap_err()
                .contains("'test 1'")
        );
    }

    #[test]
    fn the_file_is_the_one_that_safetensors_writes() {
        use safetensors::tensor::{Dtype, SafeTensors, TensorView, serialize};
        let bytes = example().to_bytes("test 1").unwrap();
        let (_, metadata) = SafeTensors::read_metadata(&bytes).unwrap();
        let (b, a) = (
            [1.5_f32, -2.0].map(f32::to_le_bytes),
            [1_u64, 2, 3].map(u64::to_le_bytes),
        );
        let b = TensorView::new(Dtype::F32, vec![2], b.as_flattened()).unwrap();
        let a = TensorView::new(Dtype::U64, vec![3], a.as_flattened()).unwrap();
        assert_eq!(
            serialize([("b", b), ("a", a)], metadata.metadata().clone()).unwrap(),
            bytes
        );
    }

    #[test]
    fn arrays_of_other_shapes_are_refused() {
        let mut odd = example();
        odd.arrays[0].1.shape = [vec![1; 1000], vec![3]].concat();
        let message =
            ChecksummedFile::<String>::from_bytes(&odd.to_bytes("test 1").unwrap(), "test 1")
                .unwrap_err();
        assert!(message.contains("dimensions"), "{message}");
    }

    #[test]
    fn claims_beyond_the_file_are_refused() {
        let file = |header: &str| {
            [
                &(header.len() as u64).to_le_bytes()[..],
                header.as_bytes(),
                &[0; 3],
            ]
            .concat()
        };
        let max = u64::MAX;
        let huge = format!(r#"{{"a":{{"dtype":"U8","shape":[{max}],"data_offsets":[0,{max}]}}}}"#);
        let message =
            |bytes: &[u8]| ChecksummedFile::<String>::from_bytes(bytes, "test 1").unwrap_err();
        assert!(message(&file(&huge)).contains("beyond its end"));
        assert!(message(&(1_u64 << 40).to_le_bytes()).contains("too long"));
        assert!(message(&100_u64.to_le_bytes()).contains("shorter"));
        assert!(message(&file("[]")).contains("not a JSON object"));
    }

    #[test]
    fn every_truncation_and_every_flipped_bit_is_noticed() {
        let bytes = example().to_bytes("test 1").unwrap();
        for length in 0..bytes.len() {
            assert!(
                ChecksummedFile::<String>::from_bytes(&bytes[..length], "test 1").is_err(),
                "cut at {length}"
            );
        }
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(
                ChecksummedFile::<String>::from_bytes(&damaged, "test 1").is_err(),
                "bit {bit}"
            );
        }
    }
}
