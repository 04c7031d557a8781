//! Atomic writes: a complete file or none, and no existing file replaced without `force`.
//!
//! Everything is written to a temporary file in the folder of the target and renamed when it is
//! complete; a full disk or an interrupted run leaves the old file. A process that is killed while
//! it writes leaves its temporary file; the next process that writes to the same folder removes it.
//! An advisory lock on the file shows whether its owner is alive: the operating system releases it
//! with the process, and it works between machines that share a folder, where process IDs do not.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
#[cfg(debug_assertions)]
use std::sync::LazyLock;
#[cfg(debug_assertions)]
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use tempfile::NamedTempFile;

use crate::error::{Error, Result};

/// A file to be written, as a whole or not at all.
#[derive(Debug, Clone, Copy)]
pub struct OutputFile<'a> {
    path: &'a Path,
    force: bool,
}

impl<'a> OutputFile<'a> {
    /// A file that replaces an existing one only with `force`.
    pub fn new(path: &'a Path, force: bool) -> Self {
        Self { path, force }
    }

    /// Checks before long work that the file can be written.
    ///
    /// # Errors
    /// [`Error::Exists`] when the file exists and may not be replaced; [`Error::Io`] when the
    /// folder is missing or the path is not a file.
    pub fn check_free(self) -> Result<()> {
        check_free(self.path, self.force)
    }

    /// Writes the complete file or nothing.
    ///
    /// # Errors
    /// As [`OutputFile::check_free`], and when writing fails.
    pub fn write(self, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
        write_atomically(self.path, self.force, content)
    }

    /// Opens or creates a file and locks it until it is closed; `None` if another process holds the
    /// lock. If the file system has no locks, the file is only opened.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn lock(path: &Path) -> io::Result<Option<File>> {
        lock_file(path)
    }

    /// A point at which a test can abort the program, for files that are written step by step.
    #[doc(hidden)]
    pub fn fail_point() {
        fail_point();
    }
}

/// Aborts the process as `kill -9` would if this is the N-th fail point that it reaches, where N is
/// the value of `REGRETLESS_ABORT_AT_FAIL_POINT`. There is one after every step that changes files.
/// Tests abort a run at each of them in turn and check that the same command resumes it.
#[cfg(debug_assertions)]
pub(crate) fn fail_point() {
    static SELECTED: LazyLock<Option<u64>> = LazyLock::new(|| {
        let number = std::env::var("REGRETLESS_ABORT_AT_FAIL_POINT").ok()?;
        number.parse().ok()
    });
    static REACHED: AtomicU64 = AtomicU64::new(0);
    let number = 1 + REACHED.fetch_add(1, Ordering::Relaxed);
    if *SELECTED == Some(number) {
        std::process::abort();
    }
}

/// Nothing: builds without debug assertions have no fail points.
#[cfg(not(debug_assertions))]
pub(crate) fn fail_point() {}

/// Writes a complete file or none. With `force`, an existing file is replaced.
///
/// # Errors
/// [`Error::Exists`] when the file exists and `force` is false; [`Error::Io`] when the folder is
/// missing, the path is not a file, or writing fails.
pub fn write_atomically(
    path: &Path,
    force: bool,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<()> {
    // Checked again after the work: the file may have appeared meanwhile.
    check_free(path, force)?;
    // The link stays, and its target is replaced.
    let target = resolve_symlink(path);
    let mut file = temporary_beside(&target).map_err(Error::io(path))?;
    fail_point();
    let mut buffer = BufWriter::with_capacity(1 << 16, file.as_file_mut());
    write(&mut buffer)
        .and_then(|()| buffer.flush())
        .map_err(Error::io(path))?;
    drop(buffer);
    // On disk before the rename: after a crash of the machine the name must not refer to an empty
    // file.
    file.as_file().sync_all().map_err(Error::io(path))?;
    fail_point();
    // Another process may have created the file since the check.
    move_into_place(file, &target, force).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => Error::Exists(path.to_path_buf()),
        _ => Error::io(path)(error),
    })?;
    fail_point();
    Ok(())
}

/// Checks before long work that its result can be written.
///
/// # Errors
/// [`Error::Exists`] when the file exists and `force` is false; [`Error::Io`] when the folder is
/// missing or the path is not a file.
pub fn check_free(path: &Path, force: bool) -> Result<()> {
    let refuse = |kind, message: String| Err(Error::io(path)(io::Error::new(kind, message)));
    match fs::symlink_metadata(path) {
        // The link itself counts as existing, even if its target is missing.
        Ok(_) if !force => return Err(Error::Exists(path.to_path_buf())),
        // Renaming over a device or a pipe would remove it.
        Ok(_) if fs::metadata(path).is_ok_and(|found| !found.is_file()) => {
            return refuse(
                ErrorKind::InvalidInput,
                "is not a regular file and will not be replaced".into(),
            );
        }
        Ok(_) | Err(_) => {}
    }
    let folder = parent_folder(path);
    if folder.is_dir() {
        return Ok(());
    }
    refuse(
        ErrorKind::NotFound,
        format!("the folder {} does not exist", folder.display()),
    )
}

fn parent_folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// The target of a symbolic link, so replacing writes there and keeps the link.
fn resolve_symlink(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())
}

/// Prefix and suffix of the names of temporary files.
const TEMP_FILE_PREFIX: &str = ".regretless-";
const TEMP_FILE_SUFFIX: &str = ".tmp";

/// The path of a lock file that is removed like a temporary file once its process has ended.
pub(crate) fn temp_file_path(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{TEMP_FILE_PREFIX}{name}{TEMP_FILE_SUFFIX}"))
}

/// Attempts to create and lock a temporary file: another process may take a file that is not locked
/// yet for a stale one and remove it. Untuned: a second collision is already unlikely.
const MAX_TEMP_FILE_ATTEMPTS: usize = 10;

fn temporary_beside(target: &Path) -> io::Result<NamedTempFile> {
    let folder = parent_folder(target);
    remove_stale_temp_files_once(folder);
    for _ in 1..MAX_TEMP_FILE_ATTEMPTS {
        let file = temporary_in(folder)?;
        match file.as_file().try_lock() {
            Err(TryLockError::WouldBlock) => continue,
            // Some file systems have no locks; then no process removes files there either.
            Err(TryLockError::Error(_)) => return Ok(file),
            Ok(()) if is_at(file.as_file(), file.path()) => return Ok(file),
            // The file was removed between creating and locking it: another attempt.
            Ok(()) => {}
        }
    }
    // The last attempt goes without a lock: a collision is unlikely by now.
    temporary_in(folder)
}

fn temporary_in(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMP_FILE_PREFIX).suffix(TEMP_FILE_SUFFIX);
    // Temporary files are private by default; results get the permissions of the user's umask.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder)
}

/// Removes temporary files in a folder whose processes have ended, at the first call for the
/// folder in this process.
fn remove_stale_temp_files_once(folder: &Path) {
    // Listing a folder takes time, and experiments write thousands of files to one.
    static CLEANED_FOLDERS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let Ok(canonical) = fs::canonicalize(folder) else {
        return;
    };
    let mut cleaned = CLEANED_FOLDERS
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    let is_first_call = cleaned.insert(canonical);
    // Not held while files are removed.
    drop(cleaned);
    if is_first_call {
        remove_stale_temp_files(folder);
    }
}

/// Removes temporary files in a folder whose processes have ended. Files that cannot be removed
/// stay; they do no harm.
pub(crate) fn remove_stale_temp_files(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_ours = name.to_str().is_some_and(|name| {
            name.starts_with(TEMP_FILE_PREFIX) && name.ends_with(TEMP_FILE_SUFFIX)
        });
        // A folder or a device with such a name is not ours.
        if !is_ours || !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        let Ok(file) = File::options().write(true).open(entry.path()) else {
            continue;
        };
        // Removed while the lock is held: a process that created the file and did not lock it yet
        // notices and creates another.
        if file.try_lock().is_ok() {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Opens or creates a file and locks it until it is closed; `None` if another process holds the
/// lock. If the file system has no locks, the file is only opened.
///
/// # Errors
/// When the file cannot be opened.
pub(crate) fn lock_file(path: &Path) -> io::Result<Option<File>> {
    for _ in 0..MAX_TEMP_FILE_ATTEMPTS {
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path)?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(_)) => return Ok(Some(file)),
            // The previous owner may have removed the file between opening and locking.
            Ok(()) if is_at(&file, path) => return Ok(Some(file)),
            Ok(()) => {}
        }
    }
    Ok(None)
}

/// Whether an open file is the one at this path.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(opened), Ok(found)) => (opened.dev(), opened.ino()) == (found.dev(), found.ino()),
        _ => false,
    }
}

/// Whether an open file is the one at this path: this operating system does not remove open files.
#[cfg(not(unix))]
fn is_at(_file: &File, path: &Path) -> bool {
    path.exists()
}

fn move_into_place(file: NamedTempFile, target: &Path, force: bool) -> io::Result<()> {
    // Renaming replaces the target in one step: readers see the old file or the new one.
    if force {
        return file
            .persist(target)
            .map(drop)
            .map_err(|failed| failed.error);
    }
    match file.persist_noclobber(target) {
        Ok(_) => Ok(()),
        Err(failed) if failed.error.kind() == ErrorKind::AlreadyExists || target.exists() => {
            Err(ErrorKind::AlreadyExists.into())
        }
        // Some file systems cannot rename without replacing; the path did not exist a moment ago.
        Err(failed) => failed
            .file
            .persist(target)
            .map(drop)
            .map_err(|failed| failed.error),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::{self, Write};

    use super::{lock_file, remove_stale_temp_files, write_atomically};
    use crate::error::Error;

    fn names(folder: &std::path::Path) -> Vec<String> {
        let name =
            |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
        fs::read_dir(folder).unwrap().map(name).collect()
    }

    #[test]
    fn an_existing_file_is_replaced_only_by_force() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.csv");
        write_atomically(&path, false, |w| w.write_all(b"first")).unwrap();
        let again = write_atomically(&path, false, |w| w.write_all(b"second"));
        assert!(matches!(again, Err(Error::Exists(found)) if found == path));
        assert_eq!(fs::read(&path).unwrap(), b"first");
        write_atomically(&path, true, |w| w.write_all(b"second")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"second");
        assert_eq!(names(folder.path()), ["out.csv"]);
    }

    #[test]
    fn a_failed_write_keeps_the_old_file_and_leaves_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.csv");
        fs::write(&path, "old").unwrap();
        let half = |w: &mut dyn Write| {
            w.write_all(b"ne")
                .and_then(|()| Err(io::Error::other("disk full")))
        };
        let error = write_atomically(&path, true, half).unwrap_err();
        assert!(error.to_string().ends_with("out.csv: disk full"), "{error}");
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names(folder.path()), ["out.csv"]);
    }

    #[test]
    fn stale_files_are_removed_unless_their_process_is_alive() {
        let folder = tempfile::tempdir().unwrap();
        let [dead, alive, other] = [
            ".regretless-dead00.tmp",
            ".regretless-alive0.tmp",
            "mine.tmp",
        ]
        .map(|name| folder.path().join(name));
        [&dead, &alive, &other]
            .iter()
            .for_each(|path| fs::write(path, "half").unwrap());
        let held = lock_file(&alive).unwrap().unwrap();
        write_atomically(&folder.path().join("out.csv"), false, |w| w.write_all(b"x")).unwrap();
        assert!(!dead.exists() && alive.exists() && other.exists());
        drop(held);
        remove_stale_temp_files(folder.path());
        assert!(!alive.exists() && other.exists());
    }

    #[test]
    fn a_lock_is_held_by_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let held = lock_file(&path).unwrap().unwrap();
        assert!(lock_file(&path).unwrap().is_none());
        drop(held);
        assert!(lock_file(&path).unwrap().is_some());
    }

    #[test]
    fn a_missing_folder_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("no/out.csv");
        let error = write_atomically(&path, false, |_| Ok(()))
            .unwrap_err()
            .to_string();
        assert!(error.contains("no does not exist"), "{error}");
    }

    #[test]
    fn a_folder_is_never_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let error = write_atomically(folder.path(), true, |_| Ok(()))
            .unwrap_err()
            .to_string();
        assert!(error.contains("not a regular file"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn replacing_through_a_link_keeps_the_link() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        fs::write(&real, "old").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        write_atomically(&link, true, |w| w.write_all(b"new")).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&real).unwrap(), b"new");
    }
}
