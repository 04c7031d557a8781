//! Peers, the other implementations: Python programs, each in its own process, that read a job and
//! print their measurements.
//!
//! A job is a JSON file; the response is the last line of standard output, also JSON. The response
//! `{"skipped": "reason"}` means that the program cannot run, for example without a license.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use regretless::{Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::args::{Cli, home};

/// A program under `peers/` and the environment it runs in.
#[derive(Debug, Clone, Copy)]
pub struct Peer<'a> {
    /// File name without `.py`.
    pub script: &'a str,
    /// Environment variables of its process.
    pub environment: &'a [(&'a str, &'a str)],
}

/// Response of a program.
#[derive(Debug, serde::Deserialize)]
#[serde(untagged)]
enum PeerResponse<T> {
    Skipped { skipped: String },
    Measured(T),
}

impl Peer<'_> {
    /// Runs the program on a job, whose file is written to `folder`; `None` when it cannot run.
    ///
    /// # Errors
    /// When the job cannot be written.
    pub fn run<T: DeserializeOwned>(
        &self,
        cli: &Cli,
        folder: &Path,
        job: &impl Serialize,
    ) -> Result<Option<T>> {
        if cli.no_peers {
            return Ok(None);
        }
        let path = folder.join(format!("{}.json", self.script));
        let text =
            serde_json::to_string_pretty(job).map_err(|e| Error::setting(format!("job: {e}")))?;
        fs::write(&path, text).map_err(Error::io(&path))?;
        match self.run_job(cli, &path) {
            Ok(PeerResponse::Measured(measurement)) => Ok(Some(measurement)),
            Ok(PeerResponse::Skipped { skipped: reason }) | Err(reason) => {
                eprintln!("bench: {} is skipped: {reason}", self.script);
                Ok(None)
            }
        }
    }

    fn run_job<T: DeserializeOwned>(
        &self,
        cli: &Cli,
        job: &Path,
    ) -> std::result::Result<PeerResponse<T>, String> {
        let mut command = Command::new(&cli.python);
        command
            .arg(home().join("peers").join(self.script).with_extension("py"))
            .arg(job);
        command
            .envs(self.environment.iter().copied())
            .stderr(Stdio::inherit());
        let output = command
            .output()
            .map_err(|e| format!("{} does not start: {e}", cli.python.display()))?;
        if !output.status.success() {
            return Err(format!("it ended with {}", output.status));
        }
        let text = String::from_utf8_lossy(&output.stdout);
        let last = text.lines().last().ok_or("it printed nothing")?;
        serde_json::from_str(last).map_err(|e| format!("its response is not valid: {e}"))
    }
}
