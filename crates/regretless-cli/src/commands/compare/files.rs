//! The folder of a comparison: runs as they finish, then the tables.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use regretless::{Error, Result};

use super::summary::{Outcome, Summary};
use crate::output::write_text;

const FILES: [&str; 4] = ["results.jsonl", "results.csv", "summary.csv", "settings.toml"];

/// A folder that will hold results; nothing is made before the first run has finished.
pub struct Folder {
    path: PathBuf,
    runs: Mutex<Option<File>>,
}

impl Folder {
    /// The given folder if it holds no results yet, or else the first free one under `runs`.
    pub fn choose(given: Option<&Path>, name: &str, force: bool) -> Result<Self> {
        let taken = |path: &Path| FILES.iter().map(|file| path.join(file)).find(|file| file.exists());
        let path = match given {
            Some(path) => match taken(path) {
                Some(file) if !force => return Err(Error::Exists(file)),
                _ => path.to_path_buf(),
            },
            None => {
                let numbered = |number: u64| Path::new("runs").join(format!("{name}-{number}"));
                let free = (1..).map(numbered).find(|path| !path.exists());
                free.unwrap_or_else(|| Path::new("runs").join(name))
            }
        };
        if path.exists() && !path.is_dir() {
            return Err(Error::Exists(path));
        }
        Ok(Self { path, runs: Mutex::new(None) })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes down a run that has finished, the settings before the first.
    pub fn append(&self, outcome: &Outcome, settings: &str) -> Result<()> {
        let path = self.path.join("results.jsonl");
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        let mut file = match runs.take() {
            Some(file) => file,
            None => {
                fs::create_dir_all(&self.path).map_err(Error::io(&self.path))?;
                write_text(&self.path.join("settings.toml"), settings, true)?;
                File::create(&path).map_err(Error::io(&path))?
            }
        };
        let line = serde_json::to_string(outcome).map_err(|e| Error::io(&path)(e.into()))?;
        writeln!(file, "{line}").map_err(Error::io(&path))?;
        *runs = Some(file);
        Ok(())
    }

    /// Writes the tables.
    pub fn finish(&self, outcomes: &[Outcome], summary: &Summary) -> Result<()> {
        write_text(&self.path.join("results.csv"), &summary.runs_csv(outcomes), true)?;
        write_text(&self.path.join("summary.csv"), &summary.csv(), true)
    }
}
