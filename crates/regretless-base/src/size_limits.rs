//! Limits on sizes from input: products that cannot overflow, fixed limits, and memory that is
//! reserved before it is used.
//!
//! A few characters in a file or a name can request any amount of memory (`DIMENSION: 65535`,
//! `KS100000000`, `mlp:100000,100000`). Rust aborts the process when an allocation fails. Code that
//! allocates an array whose length comes from input checks it here first and returns an ordinary
//! [`Error`].

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::compressed;
use crate::error::{Error, InputPlace, Result};

/// Most costs of one instance: 200 million, the edges between 20,000 nodes. One row of costs then
/// takes 1.6 GB in double precision; no solver of this library is practical beyond that.
pub const MAX_COSTS: usize = 200_000_000;

/// Most nodes of a TSP or CVRP: their edges are at most [`MAX_COSTS`].
pub const MAX_NODES: usize = 20_000;

/// Largest absolute cost that a solver accepts. Solvers add and multiply costs; up to this value,
/// sums of all costs, their products with other data and their squares stay far below the largest
/// f64 (1.8e308).
pub const MAX_ABS_COST: f64 = 1e100;

/// Most parameters of a predictor: a billion. Training stores several arrays of that length.
pub const MAX_PARAMETERS: usize = 1_000_000_000;

/// Arrays with an entry per parameter in training: parameters, gradient, two moments, the best
/// epoch.
const PARAMETER_ARRAYS_IN_TRAINING: usize = 5;

/// Most values of one table that is generated in memory: 2³⁶, 256 GiB in single precision. Larger
/// tables are memory-mapped files.
pub const MAX_TABLE_VALUES: usize = 1 << 36;

/// Most bytes that are read from a device or a pipe, which may be endless, and that a compressed
/// file may have when it is decompressed. Another regular file is as large as it is.
pub const MAX_STREAM_BYTES: u64 = 1 << 30;

/// All bytes of a file.
///
/// # Errors
/// When it cannot be read, or is a device or pipe with more than [`MAX_STREAM_BYTES`].
pub fn read_file(path: &Path) -> Result<Vec<u8>> {
    let file = File::open(path).map_err(Error::io(path))?;
    let metadata = file.metadata().map_err(Error::io(path))?;
    if metadata.is_file() {
        read_at_most(file, u64::MAX - 1, path)
    } else {
        read_at_most(file, MAX_STREAM_BYTES, path)
    }
}

fn read_at_most(stream: impl Read, limit: u64, path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut limited = stream.take(limit + 1);
    limited.read_to_end(&mut bytes).map_err(Error::io(path))?;
    if bytes.len() as u64 > limit {
        let message = format!("is not a regular file and has more than {limit} bytes");
        return Err(Error::input(InputPlace::file(path), message));
    }
    Ok(bytes)
}

/// All text of a file, as [`read_file`]; compressed files are decompressed.
///
/// # Errors
/// As [`read_file`], when compressed data are damaged or too long, and when the content is not
/// UTF-8; the error has the line.
pub fn read_text_file(path: &Path) -> Result<String> {
    FileText::read(path).map(|file| file.text)
}

/// The text of a file.
#[derive(Debug)]
pub struct FileText {
    /// The text, decompressed.
    pub text: String,
    /// Whether the file is compressed.
    pub is_compressed: bool,
}

impl FileText {
    /// Reads a file.
    ///
    /// # Errors
    /// As [`read_text_file`].
    pub fn read(path: &Path) -> Result<Self> {
        let (bytes, is_compressed) = compressed::decompress(read_file(path)?, path)?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = 1 + valid.iter().filter(|byte| **byte == b'\n').count() as u64;
            let place = InputPlace::file(path).row(line);
            Error::input(place, "this line is not valid UTF-8")
        })?;
        Ok(Self {
            text,
            is_compressed,
        })
    }
}

/// The product of sizes, if it is at most `max`.
///
/// # Errors
/// When it is larger or overflows; `what` is the counted quantity, for the message.
pub fn checked_product(what: &str, factors: &[usize], max: usize) -> Result<usize> {
    let mut product: usize = 1;
    for factor in factors {
        product = product.saturating_mul(*factor);
        if *factor == 0 {
            return Ok(0);
        }
    }
    if product <= max {
        return Ok(product);
    }
    let factors: Vec<String> = factors.iter().map(usize::to_string).collect();
    Err(Error::setting(format!(
        "{} {what} are more than the {max} allowed",
        factors.join(" x ")
    )))
}

/// The number of pairs of `count` nodes, if it is at most [`MAX_COSTS`].
///
/// # Errors
/// When it is larger.
pub fn pairs(what: &str, count: usize) -> Result<usize> {
    let ordered = count.checked_mul(count.saturating_sub(1));
    let pairs = ordered
        .map(|ordered| ordered / 2)
        .filter(|pairs| *pairs <= MAX_COSTS);
    pairs.ok_or_else(|| {
        Error::setting(format!(
            "{count} nodes have more {what} than the {MAX_COSTS} allowed"
        ))
    })
}

/// An empty vector with capacity for `count` values.
///
/// # Errors
/// When there is not enough memory.
pub fn try_with_capacity<T>(what: &str, count: usize) -> Result<Vec<T>> {
    let mut values = Vec::new();
    match values.try_reserve_exact(count) {
        Ok(()) => Ok(values),
        Err(_) => Err(out_of_memory(what, count.saturating_mul(size_of::<T>()))),
    }
}

/// Checks that this much memory can be allocated, and frees it at once.
///
/// # Errors
/// When it cannot.
pub fn check_memory(what: &str, bytes: usize) -> Result<()> {
    try_with_capacity::<u8>(what, bytes).map(drop)
}

/// Checks the number of parameters between layers of these sizes, and that there is memory to train
/// them.
///
/// # Errors
/// When there are more than [`MAX_PARAMETERS`], or not enough memory.
pub fn check_parameters(sizes: &[usize]) -> Result<()> {
    let count = parameters(sizes).filter(|count| *count <= MAX_PARAMETERS);
    let shape = || {
        sizes
            .iter()
            .map(usize::to_string)
            .collect::<Vec<_>>()
            .join(" to ")
    };
    let Some(count) = count else {
        let message = format!(
            "a predictor from {} has more than {MAX_PARAMETERS} parameters",
            shape()
        );
        return Err(Error::setting(message).with_remedy("choose smaller hidden layers"));
    };
    let what = format!("training a predictor from {} ({count} parameters)", shape());
    check_memory(
        &what,
        count.saturating_mul(PARAMETER_ARRAYS_IN_TRAINING * size_of::<f32>()),
    )
}

/// Weights and biases between layers of these sizes, if they can be counted.
pub fn parameters(sizes: &[usize]) -> Option<usize> {
    let mut sum: usize = 0;
    for pair in sizes.windows(2) {
        let layer = pair[0].checked_add(1)?.checked_mul(pair[1])?;
        sum = sum.checked_add(layer)?;
    }
    Some(sum)
}

fn out_of_memory(what: &str, bytes: usize) -> Error {
    let gigabytes = bytes as f64 / 1e9;
    Error::setting(format!(
        "{what} takes {gigabytes:.1} GB of memory, more than is available"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endless_stream_is_refused_at_the_limit() {
        let path = Path::new("/dev/endless");
        assert_eq!(read_at_most(&b"abc"[..], 3, path).unwrap(), b"abc");
        let error = read_at_most(std::io::repeat(0), 3, path).unwrap_err();
        assert_eq!(error.place(), Some(InputPlace::file(path)));
    }

    #[test]
    fn products_are_checked() {
        assert_eq!(checked_product("costs", &[3, 4], MAX_COSTS).unwrap(), 12);
        assert_eq!(
            checked_product("costs", &[usize::MAX, 0], MAX_COSTS).unwrap(),
            0
        );
        let error = checked_product("numbers", &[usize::MAX, 2], MAX_TABLE_VALUES)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("18446744073709551615 x 2 numbers"),
            "{error}"
        );
        assert!(checked_product("costs", &[MAX_COSTS, 2], MAX_COSTS).is_err());
    }

    #[test]
    fn pairs_are_counted_to_the_limit() {
        assert_eq!(
            [
                pairs("edges", 0).unwrap(),
                pairs("edges", 1).unwrap(),
                pairs("edges", 5).unwrap()
            ],
            [0, 0, 10]
        );
        assert!(pairs("edges", 20_000).is_ok());
        assert!(pairs("edges", 20_001).is_err());
        assert!(pairs("edges", usize::MAX).is_err());
    }

    #[test]
    fn memory_that_is_not_available_is_an_error() {
        let error = try_with_capacity::<f64>("a table", usize::MAX / 8)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("a table takes") && error.contains("GB"),
            "{error}"
        );
        assert!(check_memory("a table", 1 << 62).is_err());
    }

    #[test]
    fn networks_have_a_limit() {
        assert_eq!(parameters(&[5, 3, 2]), Some(18 + 8));
        check_parameters(&[5, 256, 256, 100]).unwrap();
        for sizes in [
            vec![5, 100_000, 100_000, 8],
            vec![5, 1_000_000_000_000, 8],
            vec![5, usize::MAX, usize::MAX],
        ] {
            let error = check_parameters(&sizes).unwrap_err().to_string();
            assert!(
                error.contains("parameters") && error.contains("hidden layers"),
                "{error}"
            );
        }
    }
}
