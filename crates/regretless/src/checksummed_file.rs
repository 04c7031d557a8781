//! Sealed files: arrays and a description in one safetensors file, with a checksum over all of it.
//!
//! Reading one executes nothing and believes nothing: sizes are checked against the length of the
//! file before anything is allocated, the checksum covers every array, and the file must be, byte
//! for byte, what this module writes for its content, so that no damaged bit goes unnoticed.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;

use safetensors::tensor::{Dtype, Metadata, SafeTensors, TensorInfo};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::error::{Error, Place, Result};

/// Longest header that is read: names and descriptions, never arrays.
pub const MAX_HEADER_BYTES: u64 = 16 << 20;
/// The one metadata key, so that the order of a hash map cannot change the bytes.
const METADATA_KEY: &str = "regretless";
/// Numbers turned into bytes at a time, so that large arrays are never there twice.
const VALUES_PER_CHUNK: usize = 1 << 14;

/// An array of numbers with its shape.
#[derive(Debug, Clone, PartialEq)]
pub struct Tensor {
    shape: Vec<usize>,
    values: TensorValues,
}

/// The numbers of an array.
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
}

macro_rules! kinds {
    ($($name:ident $type:ty, $bytes:literal;)*) => {
        impl TensorValues {
            /// Hands on all bytes, some at a time.
            fn bytes(&self, mut take: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
                match self { $(Self::$name(values) => {
                    let mut bytes = vec![0; VALUES_PER_CHUNK * $bytes];
                    for part in values.chunks(VALUES_PER_CHUNK) {
                        let places = bytes.chunks_exact_mut($bytes);
                        places.zip(part).for_each(|(place, x)| place.copy_from_slice(&x.to_le_bytes()));
                        take(&bytes[..part.len() * $bytes])?;
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
                    return bytes.chunks($bytes).map(number).collect::<std::result::Result<_, _>>().ok().map(Self::$name);
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

kinds! {
    F32 f32, 4;
    F64 f64, 8;
    U32 u32, 4;
    U64 u64, 8;
}

/// Everything in a sealed file: a description, and arrays by name.
#[derive(Debug, Clone, PartialEq)]
pub struct ChecksummedFile<T> {
    /// What the arrays are.
    pub about: T,
    arrays: Vec<(String, Tensor)>,
}

/// The metadata block.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ChecksumHeader<T> {
    /// Kind and version of the file, such as `model 1`.
    format: String,
    /// BLAKE3 over the description and all arrays in the order of their names.
    checksum: String,
    about: T,
}

impl<T: Serialize + DeserializeOwned> ChecksummedFile<T> {
    /// A file with this description and no arrays yet.
    pub fn new(about: T) -> Self {
        Self {
            about,
            arrays: Vec::new(),
        }
    }

    /// The same with one more array.
    #[must_use]
    pub fn with_array(mut self, name: impl Into<String>, array: impl Into<Tensor>) -> Self {
        self.arrays.push((name.into(), array.into()));
        self.arrays.sort_by(|a, b| a.0.cmp(&b.0));
        self
    }

    /// Takes an array out by name; `None` when it is missing or of another kind.
    pub fn take_array<V: TryFrom<Tensor>>(&mut self, name: &str) -> Option<V> {
        let at = self.arrays.iter().position(|(found, _)| found == name)?;
        V::try_from(self.arrays.remove(at).1).ok()
    }

    /// Whether there is an array of this name.
    pub fn has(&self, name: &str) -> bool {
        self.arrays.iter().any(|(found, _)| found == name)
    }

    /// The name of an array that nobody has taken out, if there is one.
    pub fn unused_array(&self) -> Option<&str> {
        self.arrays.first().map(|(name, _)| name.as_str())
    }

    /// The bytes of the file.
    ///
    /// # Errors
    /// When the description cannot be written as JSON.
    pub fn to_bytes(&self, format: &str) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let unwritable =
            |e: io::Error| Error::data(format!("cannot write the file's description: {e}"));
        self.write_to(&mut bytes, format).map_err(unwritable)?;
        Ok(bytes)
    }

    /// Writes the file, without a second copy of its arrays.
    ///
    /// # Errors
    /// When writing fails, or the description cannot be written as JSON.
    pub fn write_to(&self, out: &mut dyn Write, format: &str) -> io::Result<()> {
        let seal = ChecksumHeader {
            format: format.into(),
            checksum: self.checksum(format)?,
            about: &self.about,
        };
        let seal = HashMap::from([(METADATA_KEY.to_owned(), serde_json::to_string(&seal)?)]);
        // The order that safetensors asks for: the widest numbers first, then by name.
        let mut arrays: Vec<&(String, Tensor)> = self.arrays.iter().collect();
        arrays.sort_by(|a, b| {
            b.1.values
                .dtype()
                .cmp(&a.1.values.dtype())
                .then(a.0.cmp(&b.0))
        });
        let infos = arrays.iter().scan(0, |start, (name, array)| {
            let end = *start + array.values.size();
            let data_offsets = (std::mem::replace(start, end), end);
            Some((
                name.clone(),
                TensorInfo {
                    dtype: array.values.dtype(),
                    shape: array.shape.clone(),
                    data_offsets,
                },
            ))
        });
        let metadata = Metadata::new(Some(seal), infos.collect()).map_err(io::Error::other)?;
        let mut header = serde_json::to_vec(&metadata)?;
        header.resize(header.len().next_multiple_of(size_of::<u64>()), b' ');
        out.write_all(&(header.len() as u64).to_le_bytes())?;
        out.write_all(&header)?;
        arrays
            .into_iter()
            .try_for_each(|(_, array)| array.values.bytes(|bytes| out.write_all(bytes)))
    }

    fn checksum(&self, format: &str) -> io::Result<String> {
        let mut hasher = blake3::Hasher::new();
        hasher.update(format!("{format}\n{}\n", serde_json::to_string(&self.about)?).as_bytes());
        for (name, array) in &self.arrays {
            hasher.update(
                format!("{name} {:?} {:?}\n", array.values.dtype(), array.shape).as_bytes(),
            );
            array.values.bytes(|bytes| {
                hasher.update(bytes);
                Ok(())
            })?;
        }
        Ok(hasher.finalize().to_hex().to_string())
    }

    /// Reads a file of this format.
    ///
    /// # Errors
    /// When it cannot be read, is damaged, or is of another kind; the message says which.
    pub fn read(path: &Path, format: &str) -> Result<Self> {
        let mut bytes = Vec::new();
        fs::File::open(path)
            .and_then(|mut file| file.read_to_end(&mut bytes))
            .map_err(Error::io(path))?;
        Self::from_bytes(&bytes, format).map_err(|message| Error::input(Place::file(path), message))
    }

    /// The content of these bytes, or what is wrong with them.
    ///
    /// # Errors
    /// In words, for the reader of a message that already names the file.
    pub fn from_bytes(bytes: &[u8], format: &str) -> std::result::Result<Self, String> {
        let kind = format.split(' ').next().unwrap_or(format);
        let damaged = |what: &str| {
            format!("this is not a whole {kind} file ({what}); it may be damaged or cut off")
        };
        check_header(bytes).map_err(damaged)?;
        let (_, metadata) =
            SafeTensors::read_metadata(bytes).map_err(|e| damaged(&e.to_string()))?;
        let seal = metadata
            .metadata()
            .as_ref()
            .and_then(|m| m.get(METADATA_KEY))
            .ok_or_else(|| damaged("no seal"))?;
        let outer: ChecksumHeader<serde_json::Value> =
            serde_json::from_str(seal).map_err(|e| damaged(&e.to_string()))?;
        if outer.format != format {
            return Err(format!(
                "this file is '{}'; '{format}' is needed",
                outer.format
            ));
        }
        let about = serde_json::from_value(outer.about).map_err(|e| damaged(&e.to_string()))?;
        let tensors = SafeTensors::deserialize(bytes).map_err(|e| damaged(&e.to_string()))?;
        let mut sealed = Self::new(about);
        for (name, view) in tensors.iter() {
            // Whoever writes these files writes vectors; another shape was made by hand.
            if view.shape().len() != 1 {
                return Err(damaged(
                    "an array has another number of dimensions than one",
                ));
            }
            let values = TensorValues::from_bytes(view.dtype(), view.data())
                .ok_or_else(|| damaged("unknown number type"))?;
            sealed.arrays.push((
                name.to_owned(),
                Tensor {
                    shape: view.shape().to_vec(),
                    values,
                },
            ));
        }
        sealed.arrays.sort_by(|a, b| a.0.cmp(&b.0));
        let mut same = ByteComparer(bytes);
        match sealed.write_to(&mut same, format) {
            Ok(()) if same.0.is_empty() => Ok(sealed),
            _ => Err(damaged("its checksum does not match")),
        }
    }
}

/// Takes only the bytes that it expects; holds those still to come.
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

/// Refuses a header that is too long, or arrays that claim to reach beyond the end of the file,
/// before any sum of their lengths is formed, which could overflow.
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
        serde_json::from_slice(header).map_err(|_| "its header is no JSON")?;
    let arrays = header.as_object().ok_or("its header is no JSON object")?;
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
        let huge = r#"{"a":{"dtype":"U8","shape":[18446744073709551615],"data_offsets":[0,18446744073709551615]}}"#;
        let message =
            |bytes: &[u8]| ChecksummedFile::<String>::from_bytes(bytes, "test 1").unwrap_err();
        assert!(message(&file(huge)).contains("beyond its end"));
        assert!(message(&(1_u64 << 40).to_le_bytes()).contains("too long"));
        assert!(message(&100_u64.to_le_bytes()).contains("shorter"));
        assert!(message(&file("[]")).contains("no JSON object"));
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
