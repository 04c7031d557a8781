//! The header of an NPY file, checked against the length of the file.
//!
//! A file of 128 bytes may claim 745 GiB, or nest brackets until the stack of the parser overflows.
//! The shape is therefore extracted by a restricted reader first; only a plausible header reaches
//! the parser.

use std::fs::File;
use std::io::{BufReader, Cursor, Read};
use std::path::Path;

use npyz::{DType, NpyHeader, Order, TypeChar, TypeStr};

use crate::error::{Error, InputPlace, Result};

/// Longest header that is read; numpy's own are 118 bytes long unless types are structured.
const MAX_HEADER_BYTES: usize = 1 << 16;

/// An open file, positioned after its header.
pub(super) struct NpySource {
    pub header: NpyHeader,
    pub shape: Vec<usize>,
    pub kind: TypeStr,
    /// Offset of the data, in bytes.
    pub start: usize,
    pub data: BufReader<File>,
}

impl NpySource {
    /// Whether the file is in native format: single precision, little-endian, in C order.
    pub fn is_native(&self) -> bool {
        self.is_mappable("<f4")
    }

    /// Whether the numbers are of this type and in C order.
    pub fn is_mappable(&self, kind: &str) -> bool {
        self.kind.to_string() == kind && self.header.order() == Order::C
    }

    /// Type and order, for messages.
    pub fn describe(&self) -> String {
        let order = if self.header.order() == Order::C {
            "C"
        } else {
            "Fortran"
        };
        format!("type '{}', {order} order", self.kind)
    }
}

/// Opens a file and checks that its data are as long as its header says.
pub(super) fn open(path: &Path) -> Result<NpySource> {
    let wrong = |message: String| Error::input(InputPlace::file(path), message);
    let file = File::open(path).map_err(Error::io(path))?;
    let length = file.metadata().map_err(Error::io(path))?.len();
    let mut data = BufReader::with_capacity(1 << 16, file);
    let start = header_bytes(&mut data).map_err(wrong)?;
    let shape = claimed_shape(&start).map_err(wrong)?;
    check_fits(&shape, 1, length).map_err(wrong)?;
    let parsed = NpyHeader::from_reader(Cursor::new(&start));
    let header =
        parsed.map_err(|error| wrong(format!("the NPY header cannot be read: {error}")))?;
    let kind = number_type(&header).map_err(wrong)?;
    let data_bytes = length.saturating_sub(start.len() as u64);
    let size = kind.num_bytes().unwrap_or_default() as u64;
    let needed = check_fits(&shape, size, data_bytes).map_err(wrong)?;
    if needed != data_bytes || header.shape() != shape {
        return Err(wrong(format!(
            "{data_bytes} bytes of data, but its shape {shape:?} takes {needed}"
        )));
    }
    let shape = shape
        .into_iter()
        .map(usize::try_from)
        .collect::<Result<_, _>>();
    let shape = shape.map_err(|_| wrong("the array is larger than memory".into()))?;
    Ok(NpySource {
        header,
        shape,
        kind,
        start: start.len(),
        data,
    })
}

/// Everything before the data.
fn header_bytes(file: &mut impl Read) -> Result<Vec<u8>, String> {
    let mut start = vec![0; 10];
    let short =
        |_| "the file is not an NPY file, or is truncated; write it with numpy.save".to_string();
    file.read_exact(&mut start).map_err(short)?;
    if !start.starts_with(b"\x93NUMPY") {
        return Err("the file is not an NPY file; write it with numpy.save".into());
    }
    let mut length = usize::from(u16::from_le_bytes([start[8], start[9]]));
    if start[6] > 1 {
        let mut high = [0; 2];
        file.read_exact(&mut high).map_err(short)?;
        start.extend(high);
        length |= usize::from(u16::from_le_bytes(high)) << 16;
    }
    if length > MAX_HEADER_BYTES {
        return Err(format!(
            "a header of {length} bytes; plain arrays of numbers need far less"
        ));
    }
    let before = start.len();
    start.resize(before + length, 0);
    file.read_exact(&mut start[before..]).map_err(short)?;
    Ok(start)
}

/// The shape, extracted without trusting anything else in the header.
fn claimed_shape(header: &[u8]) -> Result<Vec<u64>, String> {
    let text = String::from_utf8_lossy(header);
    let count = |what: &str| text.matches(what).count();
    // One dictionary, one tuple, no escapes: then the parser sees the same shape, and cannot
    // recurse.
    let plain =
        count("shape") == 1 && count("{") == 1 && count("(") == 1 && !text.contains(['[', '\\']);
    let shape = text
        .split_once("shape")
        .and_then(|(_, rest)| rest.split_once('(')?.1.split_once(')'));
    let (true, Some((numbers, _))) = (plain, shape) else {
        return Err(
            "the NPY header describes no plain array of numbers; save one of dtype float32 \
            or float64"
                .into(),
        );
    };
    let numbers = numbers
        .split(',')
        .map(str::trim)
        .filter(|number| !number.is_empty());
    let shape: Result<Vec<u64>, _> = numbers.map(str::parse).collect();
    let shape = shape.map_err(|_| "the NPY header has a shape that cannot be read".to_string())?;
    if shape.contains(&0) {
        return Err(format!(
            "the array of shape {shape:?} is empty; at least one row and one column are needed"
        ));
    }
    Ok(shape)
}

/// The bytes of an array of this shape, if `available` suffices.
fn check_fits(shape: &[u64], size: u64, available: u64) -> Result<u64, String> {
    let needed = shape
        .iter()
        .try_fold(size, |product, length| product.checked_mul(*length));
    needed.filter(|needed| *needed <= available).ok_or_else(|| {
        format!(
            "the shape {shape:?} takes more than the {available} available bytes; the file was \
                 truncated or is damaged"
        )
    })
}

/// The type of the numbers, if they are numbers.
fn number_type(header: &NpyHeader) -> Result<TypeStr, String> {
    const DTYPE_REMEDY: &str =
        "save it as float32 or float64, for instance with .astype('float32')";
    if header.uses_pickled_array() {
        return Err(format!(
            "the array holds Python objects, which are not read; {DTYPE_REMEDY}"
        ));
    }
    match header.dtype() {
        DType::Plain(kind) => match (kind.type_char(), kind.size_field()) {
            (TypeChar::Float, 4 | 8) | (TypeChar::Int | TypeChar::Uint, 1 | 2 | 4 | 8) => Ok(kind),
            _ => Err(format!(
                "an array of type '{kind}' is not read; {DTYPE_REMEDY}"
            )),
        },
        DType::Array(..) | DType::Record(_) => Err(format!(
            "an array of structures is not read; {DTYPE_REMEDY}"
        )),
    }
}
