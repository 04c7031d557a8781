//! Numbers that stay in their file: read-only memory maps, the operating system's pages their only
//! copy.
//!
//! A table may then be larger than memory: pages come when they are read and go when memory is
//! needed for something else. What the program cannot rule out is that somebody changes the file
//! meanwhile; whoever works with it for long asks [`Mapped::check_unchanged`] now and then. A file
//! that is replaced by renaming, as this program and careful ones do, stays as it was for those who
//! have it open.

#![allow(
    unsafe_code,
    reason = "a file is mapped, and its bytes are seen as numbers"
)]

use std::env::temp_dir;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use memmap2::Mmap;

use crate::error::{Error, Place, Result};

/// Numbers handled at a time on the way to a file.
const VALUES_PER_CHUNK: usize = 1 << 16;

/// Single-precision numbers in a file.
#[derive(Debug)]
pub struct MappedArray {
    map: Mmap,
    /// Where the numbers begin, in bytes, and how many there are.
    start: usize,
    count: usize,
    file: File,
    path: PathBuf,
    /// Length and time of the last change, when it was opened.
    stamp: (u64, Option<SystemTime>),
}

impl MappedArray {
    /// Maps `count` little-endian numbers that begin at byte `start`; nothing where this machine
    /// cannot read them in place.
    ///
    /// # Errors
    /// When the file is shorter or cannot be mapped.
    pub fn open(file: File, path: &Path, start: usize, count: usize) -> Result<Option<Self>> {
        let stamp = stamp(&file).map_err(Error::io(path))?;
        let end = count
            .checked_mul(size_of::<f32>())
            .and_then(|bytes| bytes.checked_add(start));
        if end.is_none_or(|end| end as u64 > stamp.0) {
            let message = format!(
                "{count} numbers are expected, but the file has only {} bytes",
                stamp.0
            );
            return Err(Error::input(Place::file(path), message));
        }
        if cfg!(target_endian = "big") || !start.is_multiple_of(align_of::<f32>()) {
            return Ok(None);
        }
        // SAFETY: the map is read-only and as long as the file; who changes the file meanwhile is
        // found out by `check_unchanged`, and no bytes make an invalid number.
        let map = unsafe { Mmap::map(&file) }.map_err(Error::io(path))?;
        Ok(Some(Self {
            map,
            start,
            count,
            file,
            path: path.to_path_buf(),
            stamp,
        }))
    }

    /// All numbers.
    pub fn as_slice(&self) -> &[f32] {
        let bytes = &self.map[self.start..][..self.count * size_of::<f32>()];
        // SAFETY: any 32 bits are a number. Maps begin at pages and `start` is a multiple of 4, so
        // that nothing is left over before or behind.
        unsafe { bytes.align_to().1 }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Asks whether the file is still what it was.
    ///
    /// # Errors
    /// When somebody wrote to it or cut it off.
    pub fn check_unchanged(&self) -> Result<()> {
        if stamp(&self.file).map_err(Error::io(&self.path))? == self.stamp {
            return Ok(());
        }
        let message = "the file was changed while it was in use, so that nothing computed since \
            can be trusted; \
                       start again, and replace files by renaming instead of writing over them";
        Err(Error::input(Place::file(&self.path), message))
    }

    /// The negative numbers, in a file without a name that is gone when nobody uses it any more:
    /// beside this one, or where temporary files go.
    ///
    /// # Errors
    /// When there is no room for it.
    pub fn negated(&self) -> Result<Self> {
        let numbers = || self.as_slice().iter().map(|value| -value);
        self.write_transformed("the costs of a maximisation are negated", numbers)
    }

    /// The numbers as rows of as many columns as the order has, whose new column j is the old
    /// column `order[j]`, in a file of the same kind as that of [`Mapped::negated`].
    ///
    /// # Errors
    /// When there is no room for it.
    pub fn with_columns_reordered(&self, order: &[usize]) -> Result<Self> {
        let rows = || self.as_slice().chunks_exact(order.len().max(1));
        let numbers = || rows().flat_map(|row| order.iter().map(|old| row[*old]));
        self.write_transformed("costs are brought into the order of the problem", numbers)
    }

    /// As many other numbers in a temporary file; `why` says what it is for.
    fn write_transformed<I: Iterator<Item = f32>>(
        &self,
        why: &str,
        numbers: impl Fn() -> I,
    ) -> Result<Self> {
        let folder = self
            .path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        let first = write_into(folder, numbers());
        let written = first
            .or_else(|_| write_into(&temp_dir(), numbers()))
            .map_err(|error| {
                let size = self.count * size_of::<f32>();
                let message = format!(
                    "{why} in a temporary file of {size} bytes, which cannot be written ({error}); \
                    make room in {} or in \
                 TMPDIR",
                    folder.display()
                );
                Error::input(Place::file(&self.path), message)
            })?;
        let wrong = || Error::input(Place::file(&self.path), "a temporary file cannot be mapped");
        Self::open(written, &self.path, 0, self.count)?.ok_or_else(wrong)
    }
}

/// A file without a name in this folder, with these numbers.
fn write_into(folder: &Path, numbers: impl Iterator<Item = f32>) -> io::Result<File> {
    let file = tempfile::tempfile_in(folder)?;
    let mut out = BufWriter::new(&file);
    write_numbers(&mut out, numbers)?;
    out.flush()?;
    drop(out);
    Ok(file)
}

fn stamp(file: &File) -> io::Result<(u64, Option<SystemTime>)> {
    let found = file.metadata()?;
    Ok((found.len(), found.modified().ok()))
}

/// Writes numbers as an NPY file of little-endian single precision holds them.
pub(super) fn write_numbers(
    out: &mut dyn Write,
    mut values: impl Iterator<Item = f32>,
) -> io::Result<()> {
    let mut bytes = Vec::with_capacity(VALUES_PER_CHUNK * size_of::<f32>());
    loop {
        bytes.clear();
        values
            .by_ref()
            .take(VALUES_PER_CHUNK)
            .for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
        if bytes.is_empty() {
            return Ok(());
        }
        out.write_all(&bytes)?;
    }
}
