//! Command line of the benchmark program.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Parser, ValueEnum};
use regretless::{Error, Result};

/// Benchmarks regretless and other implementations.
#[derive(Debug, Parser)]
#[command(name = "regretless-bench")]
pub struct Cli {
    /// Which suite to run.
    pub suite: Suite,
    /// Small sizes; takes less than a minute.
    #[arg(long)]
    pub smoke: bool,
    /// Only cases whose name contains this text; may be repeated.
    #[arg(long = "case", value_name = "TEXT")]
    pub cases: Vec<String>,
    /// Time regretless only.
    #[arg(long)]
    pub no_peers: bool,
    /// Threads of each program, where the suite does not fix them.
    #[arg(long, default_value_t = 2)]
    pub threads: usize,
    /// Python with the other implementations.
    #[arg(long, value_name = "PROGRAM", default_value_os_t = default_python())]
    pub python: PathBuf,
    /// Folder for instances and results.
    #[arg(long, value_name = "FOLDER", default_value = "target/bench")]
    pub out: PathBuf,
}

/// A benchmark suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Suite {
    /// Epochs of SPO+ and PFYL, compared with PyEPO.
    Methods,
    /// Time per cost vector, compared with solvers that have a Python interface.
    Solvers,
    /// Epochs of training without solver calls, compared with torch.
    Training,
}

impl Suite {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Methods => "methods",
            Self::Solvers => "solvers",
            Self::Training => "training",
        }
    }
}

impl Cli {
    /// Whether the command line selects a case of this name.
    pub fn selects(&self, name: &str) -> bool {
        self.cases.is_empty() || self.cases.iter().any(|text| name.contains(text.as_str()))
    }

    /// The folder of the suite; created if missing.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn folder(&self) -> Result<PathBuf> {
        let folder = self.out.join(self.suite.name());
        fs::create_dir_all(&folder).map_err(Error::io(&folder))?;
        Ok(folder)
    }
}

/// The folder of this program in the checkout it was built from.
pub fn home() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The Python that `scripts/bench` installs, or the system's.
fn default_python() -> PathBuf {
    let installed = home().join(".venv/bin/python");
    if installed.exists() {
        installed
    } else {
        PathBuf::from("python3")
    }
}
