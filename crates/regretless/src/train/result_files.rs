//! Files that a training writes when it is done, and who may replace them.
//!
//! A training writes several files, the model last: a model means that all of them are there. A
//! kill in between leaves some, and the same command must go on from there, though files that exist
//! are else refused. So a claim is written first, beside the checkpoints: which run this is, and a
//! hash of every file it is about to write. A later call of the same run may replace a file that
//! still has such a hash. Files of another run, or files that somebody has changed, never match and
//! are refused as always.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::CheckpointFolder;
use crate::data::atomic_write::{check_free, write_atomically};
use crate::error::{Error, Result};

/// The claim's name in the folder of checkpoints.
pub(super) const MANIFEST_FILE_NAME: &str = "results.json";

/// A file to be written.
pub struct ResultFile<'a> {
    /// Where.
    pub path: &'a Path,
    /// What; called twice, and must write the same bytes both times.
    pub write: &'a dyn Fn(&mut dyn Write) -> io::Result<()>,
}

/// The results of one training.
#[derive(Debug, Clone)]
pub struct ResultFiles<'a> {
    /// Beside which checkpoints the claim lies.
    pub checkpoints: &'a CheckpointFolder,
    /// All that makes this run the same run, such as its settings in writing.
    pub run: &'a str,
    /// Whether files of others may be replaced too.
    pub force: bool,
}

/// What a run was about to write.
#[derive(Debug, Default, Serialize, Deserialize)]
struct ResultManifest {
    /// Hash of the run's description.
    run: String,
    /// Hashes that a file of this name may have: what is written, and what an earlier call of this
    /// run had written.
    files: BTreeMap<String, Vec<String>>,
}

impl ResultFiles<'_> {
    /// Asks before the work whether a file could be written.
    ///
    /// # Errors
    /// [`Error::Exists`] when there is a file that neither this run wrote nor `force` allows to
    /// replace; [`Error::Io`] when the folder is missing or the path is not a file.
    pub fn check(&self, path: &Path) -> Result<()> {
        check_free(path, self.force || self.was_written(&self.manifest(), path))
    }

    /// Writes all files, each whole or not at all, in this order.
    ///
    /// # Errors
    /// As [`Self::check`], and when writing fails.
    pub fn write(&self, files: &[ResultFile<'_>]) -> Result<()> {
        let before = self.manifest();
        let mut claim = ResultManifest {
            run: hash(self.run.as_bytes()),
            files: BTreeMap::new(),
        };
        let mut replaceable = Vec::new();
        for file in files {
            let ours = self.was_written(&before, file.path);
            // Until it is replaced the file has the hash it has now; a kill may come before that.
            let mut hashes: Vec<String> = if ours {
                hash_of(file.path).into_iter().collect()
            } else {
                Vec::new()
            };
            let mut hasher = blake3::Hasher::new();
            (file.write)(&mut hasher).map_err(Error::io(file.path))?;
            hashes.push(hasher.finalize().to_hex().to_string());
            claim.files.insert(name(file.path), hashes);
            replaceable.push(ours);
        }
        let folder = self.checkpoints.folder();
        fs::create_dir_all(folder).map_err(Error::io(folder))?;
        let text =
            serde_json::to_vec(&claim).map_err(|e| Error::setting(format!("results: {e}")))?;
        write_atomically(&folder.join(MANIFEST_FILE_NAME), true, |out| {
            out.write_all(&text)
        })?;
        for (file, ours) in files.iter().zip(replaceable) {
            write_atomically(file.path, self.force || ours, |out| (file.write)(out))?;
        }
        Ok(())
    }

    /// The claim of an earlier call of this run; an empty one where there is none.
    fn manifest(&self) -> ResultManifest {
        let text = fs::read(self.checkpoints.folder().join(MANIFEST_FILE_NAME)).unwrap_or_default();
        let claim: ResultManifest = serde_json::from_slice(&text).unwrap_or_default();
        if claim.run == hash(self.run.as_bytes()) {
            claim
        } else {
            ResultManifest::default()
        }
    }

    /// Whether the file is there just as an earlier call of this run wrote it.
    fn was_written(&self, claim: &ResultManifest, path: &Path) -> bool {
        let Some(hashes) = claim.files.get(&name(path)) else {
            return false;
        };
        hash_of(path).is_some_and(|hash| hashes.contains(&hash))
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

/// Hash over the bytes of a regular file.
fn hash_of(path: &Path) -> Option<String> {
    if !fs::symlink_metadata(path).ok()?.is_file() {
        return None;
    }
    let mut hasher = blake3::Hasher::new();
    io::copy(&mut File::open(path).ok()?, &mut hasher).ok()?;
    Some(hasher.finalize().to_hex().to_string())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::{ResultFile, ResultFiles};
    use crate::error::Error;
    use crate::train::CheckpointFolder;

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
            let files = self
                .paths
                .each_ref()
                .map(|path| (path, format!("{text} in {}", path.display())));
            let writers = files.each_ref().map(|(_, text)| {
                move |out: &mut dyn std::io::Write| out.write_all(text.as_bytes())
            });
            let files = [
                ResultFile {
                    path: &self.paths[0],
                    write: &writers[0],
                },
                ResultFile {
                    path: &self.paths[1],
                    write: &writers[1],
                },
            ];
            self.results(run).write(&files)
        }
    }

    #[test]
    fn a_run_replaces_what_it_wrote_itself_until_the_checkpoints_are_gone() {
        let shop = ResultFixture::new();
        shop.check("run").unwrap();
        shop.write("run", "first").unwrap();
        shop.check("run").unwrap();
        fs::remove_file(&shop.paths[1]).unwrap();
        shop.check("run").unwrap();
        shop.write("run", "second").unwrap();
        assert!(
            fs::read_to_string(&shop.paths[0])
                .unwrap()
                .starts_with("second")
        );
        shop.checkpoints.remove().unwrap();
        assert!(
            matches!(shop.check("run"), Err(Error::Exists(_))),
            "a run that is done is done"
        );
    }

    #[test]
    fn files_of_another_run_and_changed_files_are_refused() {
        let shop = ResultFixture::new();
        shop.write("run", "first").unwrap();
        assert!(matches!(shop.check("other"), Err(Error::Exists(_))));
        assert!(matches!(shop.write("other", "x"), Err(Error::Exists(_))));
        assert!(
            fs::read_to_string(&shop.paths[0])
                .unwrap()
                .starts_with("first")
        );

        let shop = ResultFixture::new();
        shop.write("run", "first").unwrap();
        fs::write(&shop.paths[0], "mine").unwrap();
        assert!(matches!(shop.check("run"), Err(Error::Exists(path)) if path == shop.paths[0]));
        assert!(shop.write("run", "second").is_err());
        assert_eq!(fs::read_to_string(&shop.paths[0]).unwrap(), "mine");
    }

    /// The claim of a second call is written while the files of the first are still there.
    #[test]
    fn a_kill_between_the_claim_and_the_files_of_a_second_call_is_survived() {
        let shop = ResultFixture::new();
        shop.write("run", "first").unwrap();
        let first = fs::read(&shop.paths[0]).unwrap();
        shop.write("run", "second").unwrap();
        fs::write(&shop.paths[0], first).unwrap();
        fs::remove_file(&shop.paths[1]).unwrap();
        shop.check("run").unwrap();
        shop.write("run", "third").unwrap();
        assert!(
            fs::read_to_string(&shop.paths[0])
                .unwrap()
                .starts_with("third")
        );
    }
}
