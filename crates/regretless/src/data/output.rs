//! Files out: never over an existing one unless told so, and never half a file.
//!
//! Everything is written to a temporary file in the folder of the target and moved into place when
//! it is complete; a full disk or an interrupted run leaves what was there before.

use std::fs;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::{Error, Result};

/// Writes a whole file or nothing. With `force`, a file that is there is replaced.
///
/// # Errors
/// [`Error::Exists`] when the path is taken and `force` is false; [`Error::Io`] when the folder is
/// missing, the path is not a file, or writing fails.
pub fn write_atomically(path: &Path, force: bool, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    check_free(path, force)?;
    let target = followed(path);
    let mut file = temporary_beside(&target).map_err(Error::io(path))?;
    let mut buffer = BufWriter::with_capacity(1 << 16, file.as_file_mut());
    write(&mut buffer).and_then(|()| buffer.flush()).map_err(Error::io(path))?;
    drop(buffer);
    file.as_file().sync_all().map_err(Error::io(path))?;
    move_into_place(file, &target, force).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => Error::Exists(path.to_path_buf()),
        _ => Error::io(path)(error),
    })
}

/// Asks before long work whether its result could be written.
///
/// # Errors
/// [`Error::Exists`] when the path is taken and `force` is false; [`Error::Io`] when the folder is
/// missing or the path is not a file.
pub fn check_free(path: &Path, force: bool) -> Result<()> {
    let refuse = |kind, message: String| Err(Error::io(path)(io::Error::new(kind, message)));
    match fs::symlink_metadata(path) {
        Ok(_) if !force => return Err(Error::Exists(path.to_path_buf())),
        // Renaming over a device or a pipe would remove it.
        Ok(_) if fs::metadata(path).is_ok_and(|found| !found.is_file()) => {
            return refuse(ErrorKind::InvalidInput, "is not a regular file and will not be replaced".into());
        }
        Ok(_) | Err(_) => {}
    }
    let folder = folder_of(path);
    if folder.is_dir() {
        return Ok(());
    }
    refuse(ErrorKind::NotFound, format!("the folder {} does not exist", folder.display()))
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// What a symbolic link points to, so that replacing writes there instead of cutting the link.
fn followed(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())
}

fn temporary_beside(target: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".regretless-").suffix(".tmp");
    // Temporary files are private by default; results get what the user's umask allows.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder_of(target))
}

fn move_into_place(file: NamedTempFile, target: &Path, force: bool) -> io::Result<()> {
    if force {
        return file.persist(target).map(drop).map_err(|failed| failed.error);
    }
    match file.persist_noclobber(target) {
        Ok(_) => Ok(()),
        Err(failed) if failed.error.kind() == ErrorKind::AlreadyExists || target.exists() => {
            Err(ErrorKind::AlreadyExists.into())
        }
        // Some file systems know no "rename unless taken"; the path was free a moment ago.
        Err(failed) => failed.file.persist(target).map(drop).map_err(|failed| failed.error),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::{self, Write};

    use super::write_atomically;
    use crate::error::Error;

    fn names(folder: &std::path::Path) -> Vec<String> {
        let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
        fs::read_dir(folder).unwrap().map(name).collect()
    }

    #[test]
    fn a_taken_path_is_replaced_only_by_force() {
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
        let half = |w: &mut dyn Write| w.write_all(b"ne").and_then(|()| Err(io::Error::other("disk full")));
        let error = write_atomically(&path, true, half).unwrap_err();
        assert!(error.to_string().ends_with("out.csv: disk full"), "{error}");
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names(folder.path()), ["out.csv"]);
    }

    #[test]
    fn a_missing_folder_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("no/out.csv");
        let error = write_atomically(&path, false, |_| Ok(())).unwrap_err().to_string();
        assert!(error.contains("no does not exist"), "{error}");
    }

    #[test]
    fn a_folder_is_never_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let error = write_atomically(folder.path(), true, |_| Ok(())).unwrap_err().to_string();
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
