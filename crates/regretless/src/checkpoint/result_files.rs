//! Files that a training writes when it is done, and which existing files it may replace.
//!
//! A training writes several files, the model last: if the model exists, all of them do. A killed
//! run leaves some of them, and the same command must resume, although existing files are otherwise
//! refused. So a manifest is written first, beside the checkpoints: which run this is, and a hash
//! of every file it is about to write. A later call of the same run may replace a file that still
//! has such a hash. Files of another run, or files changed since, never match and are refused.
//!
//! The manifest is removed when the run has reported its results. A run that wrote its
//! [`identity`](ResultFiles::identity) and the hashes of its files is recognized after that, too:
//! the same command repeats the report.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::CheckpointFolder;
use crate::data::atomic_write::{check_free, write_atomically};
use crate::error::{Error, Result};

/// Name of the manifest in the checkpoint folder.
pub(super) const MANIFEST_FILE_NAME: &str = "results.json";

/// The results of one training.
#[derive(Debug, Clone)]
pub struct ResultFiles<'a> {
    /// The folder of the manifest.
    pub checkpoints: &'a CheckpointFolder,
    /// Description that identifies the run, such as its settings.
    pub run: &'a str,
    /// Whether files of other runs may be replaced too.
    pub force: bool,
}

/// The files a run was about to write.
#[derive(Debug, Default, Serialize, Deserialize)]
struct ResultManifest {
    /// Hash of the run's description.
    run: String,
    /// Hashes that a file of this name may have: of the content to be written, and of what an
    /// earlier call of this run had written.
    files: BTreeMap<String, Vec<String>>,
}

impl ResultFiles<'_> {
    /// Checks before the training that a file can be written.
    ///
    /// # Errors
    /// [`Error::Exists`] when a file exists that this run did not write and `force` is not set;
    /// [`Error::Io`] when the folder is missing or the path is not a file.
    pub fn check(&self, path: &Path) -> Result<()> {
        check_free(path, self.force || self.was_written(&self.manifest(), path))
    }

    /// A hash that identifies the run: of its description, and of parts that the description only
    /// names, such as the rows of a table.
    pub fn identity(&self, parts: &[&str]) -> String {
        let mut hasher = blake3::Hasher::new();
        for part in [self.run].iter().chain(parts) {
            hasher
                .update(&(part.len() as u64).to_le_bytes())
                .update(part.as_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }

    /// The hash of what `write` writes.
    ///
    /// # Errors
    /// Those of `write`.
    pub fn hash_of_content(
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<String> {
        let mut hasher = blake3::Hasher::new();
        write(&mut hasher)?;
        Ok(hasher.finalize().to_hex().to_string())
    }

    /// The hash of the bytes of a regular file; none if it cannot be read.
    pub fn hash_of_file(path: &Path) -> Option<String> {
        if !fs::symlink_metadata(path).ok()?.is_file() {
            return None;
        }
        let mut hasher = blake3::Hasher::new();
        io::copy(&mut File::open(path).ok()?, &mut hasher).ok()?;
        Some(hasher.finalize().to_hex().to_string())
    }

    /// Writes all files in this order, each atomically. `write` writes the content of the file with
    /// a path; it is called twice for each, with the same bytes both times.
    ///
    /// # Errors
    /// As [`Self::check`], and when writing fails.
    pub fn write(
        &self,
        paths: &[&Path],
        write: impl Fn(&Path, &mut dyn Write) -> io::Result<()>,
    ) -> Result<()> {
        let earlier_manifest = self.manifest();
        let mut manifest = ResultManifest {
            run: hash(self.run.as_bytes()),
            files: BTreeMap::new(),
        };
        let mut replaceable = Vec::new();
        for path in paths {
            let is_own_file = self.was_written(&earlier_manifest, path);
            // If the run is killed before the file is replaced, the file has its present hash.
            let mut hashes: Vec<String> = if is_own_file {
                Self::hash_of_file(path).into_iter().collect()
            } else {
                Vec::new()
            };
            let hash = Self::hash_of_content(|out| write(path, out)).map_err(Error::io(path))?;
            hashes.push(hash);
            manifest.files.insert(name(path), hashes);
            replaceable.push(is_own_file);
        }
        let folder = self.checkpoints.folder();
        fs::create_dir_all(folder).map_err(Error::io(folder))?;
        let text =
            serde_json::to_vec(&manifest).map_err(|e| Error::setting(format!("results: {e}")))?;
        write_atomically(&folder.join(MANIFEST_FILE_NAME), true, |out| {
            out.write_all(&text)
        })?;
        for (path, is_own_file) in paths.iter().zip(replaceable) {
            write_atomically(path, self.force || is_own_file, |out| write(path, out))?;
        }
        Ok(())
    }

    /// The manifest of an earlier call of this run, or an empty one.
    fn manifest(&self) -> ResultManifest {
        let text = fs::read(self.checkpoints.folder().join(MANIFEST_FILE_NAME)).unwrap_or_default();
        let manifest: ResultManifest = serde_json::from_slice(&text).unwrap_or_default();
        if manifest.run == hash(self.run.as_bytes()) {
            manifest
        } else {
            ResultManifest::default()
        }
    }

    /// Whether the file is unchanged since an earlier call of this run wrote it.
    fn was_written(&self, manifest: &ResultManifest, path: &Path) -> bool {
        let Some(hashes) = manifest.files.get(&name(path)) else {
            return false;
        };
        Self::hash_of_file(path).is_some_and(|hash| hashes.contains(&hash))
    }
}

fn name(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::ResultFiles;
    use crate::checkpoint::CheckpointFolder;
    use crate::error::Error;

    struct ResultFixture {
        _folder: tempfile::TempDir,
        paths: [PathBuf; 2],
        checkpoints: CheckpointFolder,
    }

    impl ResultFixture {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let paths = ["m.csv", "m.safetensors"].map(|name| folder.path().join(name));
            let checkpoints = CheckpointFolder::for_model(&paths[1]);
            Self {
                _folder: folder,
                paths,
                checkpoints,
            }
        }

        fn results<'a>(&'a self, run: &'a str) -> ResultFiles<'a> {
            ResultFiles {
                checkpoints: &self.checkpoints,
                run,
                force: false,
            }
        }

        fn check(&self, run: &str) -> Result<(), Error> {
            self.paths
                .iter()
                .try_for_each(|path| self.results(run).check(path))
        }

        fn write(&self, run: &str, text: &str) -> Result<(), Error> {
            let paths = self.paths.each_ref().map(PathBuf::as_path);
            self.results(run).write(&paths, |path, out| {
                write!(out, "{text} in {}", path.display())
            })
        }
    }

    #[test]
    fn a_run_replaces_what_it_wrote_itself_until_the_checkpoints_are_gone() {
        let fixture = ResultFixture::new();
        fixture.check("run").unwrap();
        fixture.write("run", "first").unwrap();
        fixture.check("run").unwrap();
        fs::remove_file(&fixture.paths[1]).unwrap();
        fixture.check("run").unwrap();
        fixture.write("run", "second").unwrap();
        assert!(
            fs::read_to_string(&fixture.paths[0])
                .unwrap()
                .starts_with("second")
        );
        let lock = fixture.checkpoints.lock().unwrap();
        fixture.checkpoints.remove(lock).unwrap();
        assert!(!fixture.checkpoints.folder().exists());
        assert!(
            matches!(fixture.check("run"), Err(Error::Exists(_))),
            "a finished run does not replace its files"
        );
    }

    #[test]
    fn files_of_another_run_and_changed_files_are_refused() {
        let fixture = ResultFixture::new();
        fixture.write("run", "first").unwrap();
        assert!(matches!(fixture.check("other"), Err(Error::Exists(_))));
        assert!(matches!(fixture.write("other", "x"), Err(Error::Exists(_))));
        assert!(
            fs::read_to_string(&fixture.paths[0])
                .unwrap()
                .starts_with("first")
        );

        let fixture = ResultFixture::new();
        fixture.write("run", "first").unwrap();
        fs::write(&fixture.paths[0], "mine").unwrap();
        assert!(
            matches!(fixture.check("run"), Err(Error::Exists(path)) if path == fixture.paths[0])
        );
        assert!(fixture.write("run", "second").is_err());
        assert_eq!(fs::read_to_string(&fixture.paths[0]).unwrap(), "mine");
    }

    /// The manifest of a second call is written while the files of the first are still there.
    #[test]
    fn a_kill_between_the_manifest_and_the_files_of_a_second_call_is_survived() {
        let fixture = ResultFixture::new();
        fixture.write("run", "first").unwrap();
        let first = fs::read(&fixture.paths[0]).unwrap();
        fixture.write("run", "second").unwrap();
        fs::write(&fixture.paths[0], first).unwrap();
        fs::remove_file(&fixture.paths[1]).unwrap();
        fixture.check("run").unwrap();
        fixture.write("run", "third").unwrap();
        assert!(
            fs::read_to_string(&fixture.paths[0])
                .unwrap()
                .starts_with("third")
        );
    }
}
