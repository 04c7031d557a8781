//! Arrays in read-only memory maps; the pages of the operating system are the only copy.
//!
//! A table may then be larger than memory: pages are loaded when they are read and evicted under
//! memory pressure. Another program may change the file meanwhile; long computations call
//! [`MappedArray::check_unchanged`] periodically. A file that is replaced by renaming, as this
//! program does, stays unchanged for processes that have it open.

#![allow(
    unsafe_code,
    reason = "a file is mapped, and its bytes are read as numbers"
)]

use std::env::temp_dir;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use memmap2::Mmap;

use super::SharedArray;
use crate::error::{Error, InputPlace, Result};

/// Values converted to bytes at a time. Untuned: any size of some hundred KB works.
const VALUES_PER_CHUNK: usize = 1 << 16;

/// Numbers that are read in place: every bit pattern is one of them.
pub trait MappedNumber: Copy + Send + Sync + std::fmt::Debug {}

impl MappedNumber for f32 {}
impl MappedNumber for f64 {}

/// A memory-mapped array, in single precision unless said otherwise.
#[derive(Debug)]
pub struct MappedArray<T = f32> {
    map: Mmap,
    /// Offset of the first value, in bytes.
    start: usize,
    /// Number of values.
    count: usize,
    file: File,
    path: PathBuf,
    /// The state of the file when it was opened.
    stamp: FileStamp,
    number: PhantomData<T>,
}

/// Size and modification time of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileStamp {
    bytes: u64,
    modified: Option<SystemTime>,
}

impl FileStamp {
    fn of(file: &File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        Ok(Self {
            bytes: metadata.len(),
            modified: metadata.modified().ok(),
        })
    }
}

impl<T: MappedNumber> MappedArray<T> {
    /// Maps `count` little-endian values that begin at byte `start`; `None` if this machine cannot
    /// read them in place.
    ///
    /// # Errors
    /// When the file is shorter or cannot be mapped.
    pub fn open(file: File, path: &Path, start: usize, count: usize) -> Result<Option<Self>> {
        let stamp = FileStamp::of(&file).map_err(Error::io(path))?;
        let end = count
            .checked_mul(size_of::<T>())
            .and_then(|bytes| bytes.checked_add(start));
        if end.is_none_or(|end| end as u64 > stamp.bytes) {
            let message = format!(
                "{count} numbers are expected, but the file has only {} bytes",
                stamp.bytes
            );
            return Err(Error::input(InputPlace::file(path), message));
        }
        if cfg!(target_endian = "big") || !start.is_multiple_of(align_of::<T>()) {
            return Ok(None);
        }
        // SAFETY: the map is read-only and as long as the file; a change of the file meanwhile is
        // detected by `check_unchanged`, and all bit patterns are numbers.
        let map = unsafe { Mmap::map(&file) }.map_err(Error::io(path))?;
        Ok(Some(Self {
            map,
            start,
            count,
            file,
            path: path.to_path_buf(),
            stamp,
            number: PhantomData,
        }))
    }

    /// All values.
    pub fn as_slice(&self) -> &[T] {
        let bytes = &self.map[self.start..][..self.count * size_of::<T>()];
        // SAFETY: all bit patterns are numbers. Maps begin at pages and `start` is a multiple of
        // the size of a number, so the aligned middle part is the whole slice.
        unsafe { bytes.align_to().1 }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Checks that the file has not changed.
    ///
    /// # Errors
    /// When another program wrote to it or truncated it.
    pub fn check_unchanged(&self) -> Result<()> {
        if FileStamp::of(&self.file).map_err(Error::io(&self.path))? == self.stamp {
            return Ok(());
        }
        let message = "the file was changed while it was in use, so results may be wrong";
        Err(Error::input(InputPlace::file(&self.path), message)
            .with_remedy("start again, and replace files by renaming instead of writing over them"))
    }
}

impl<T: MappedNumber> SharedArray<T> for MappedArray<T> {
    fn values(&self) -> &[T] {
        self.as_slice()
    }

    fn check_unchanged(&self) -> Result<()> {
        MappedArray::check_unchanged(self)
    }
}

impl MappedArray {
    /// The negated values, in an unnamed temporary file: in the folder of this file, or in the
    /// folder for temporary files.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn negated(&self) -> Result<Self> {
        let values = || self.as_slice().iter().map(|value| -value);
        self.write_transformed("the costs of a maximization are negated", values)
    }

    /// The values as rows with as many columns as the order has, whose new column j is the old
    /// column `order[j]`, in a temporary file as in [`MappedArray::negated`].
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn with_columns_reordered(&self, order: &[usize]) -> Result<Self> {
        let rows = || self.as_slice().chunks_exact(order.len().max(1));
        let values = || rows().flat_map(|row| order.iter().map(|old| row[*old]));
        self.write_transformed("costs are brought into the order of the problem", values)
    }

    /// As many other values in a temporary file; `why` is its purpose for error messages.
    fn write_transformed<I: Iterator<Item = f32>>(
        &self,
        why: &str,
        values: impl Fn() -> I,
    ) -> Result<Self> {
        let folder = self
            .path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        let first = write_into(folder, values());
        let written = first
            .or_else(|_| write_into(&temp_dir(), values()))
            .map_err(|error| {
                let size = self.count * size_of::<f32>();
                let message = format!(
                    "{why} in a temporary file of {size} bytes, which cannot be written ({error}); \
                     free space in {} or in TMPDIR",
                    folder.display()
                );
                Error::input(InputPlace::file(&self.path), message)
            })?;
        Self::open(written, &self.path, 0, self.count)?.ok_or_else(|| {
            Error::input(
                InputPlace::file(&self.path),
                "a temporary file cannot be mapped",
            )
        })
    }
}

/// An unnamed temporary file in this folder, with these values.
fn write_into(folder: &Path, values: impl Iterator<Item = f32>) -> io::Result<File> {
    let file = tempfile::tempfile_in(folder)?;
    let mut out = BufWriter::new(&file);
    write_values(&mut out, values)?;
    out.flush()?;
    drop(out);
    Ok(file)
}

/// Writes values in little-endian single precision, as in an NPY file.
pub(super) fn write_values(
    out: &mut dyn Write,
    mut values: impl Iterator<Item = f32>,
) -> io::Result<()> {
    let mut bytes = Vec::with_capacity(VALUES_PER_CHUNK * size_of::<f32>());
    loop {
        bytes.clear();
        for value in values.by_ref().take(VALUES_PER_CHUNK) {
            bytes.extend_from_slice(&value.to_le_bytes());
        }
        if bytes.is_empty() {
            return Ok(());
        }
        out.write_all(&bytes)?;
    }
}
