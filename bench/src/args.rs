//! What can be asked on the command line.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Parser, ValueEnum};
use regretless::{Error, Result};

/// Races regretless against its peers.
#[derive(Debug, Parser)]
#[command(name = "regretless-bench")]
pub struct Cli {
    /// What is raced.
    pub race: Suite,
    /// A small size that takes less than a minute.
    #[arg(long)]
    pub smoke: bool,
    /// Only cases whose name contains this text; may be repeated.
    #[arg(long = "case", value_name = "TEXT")]
    pub cases: Vec<String>,
    /// Time ourselves only.
    #[arg(long)]
    pub no_peers: bool,
    /// Threads of each contender, where the race does not fix them.
    #[arg(long, default_value_t = 2)]
    pub threads: usize,
    /// Python that has the peers.
    #[arg(long, value_name = "PROGRAM", default_value_os_t = own_python())]
    pub python: PathBuf,
    /// Folder for instances and results.
    #[arg(long, value_name = "FOLDER", default_value = "target/bench")]
    pub out: PathBuf,
}

/// What is raced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Suite {
    /// Epochs of SPO+ and PFYL, beside PyEPO.
    Methods,
    /// One more cost vector, beside solvers of the Python world.
    Solvers,
    /// Epochs of training without solves, beside torch.
    Training,
}

impl Suite {
    /// The name of the race, as typed.
    pub fn name(self) -> &'static str {
        match self {
            Self::Methods => "methods",
            Self::Solvers => "solvers",
            Self::Training => "training",
        }
    }
}

impl Cli {
    /// Whether a case of this name is wanted.
    pub fn wants(&self, name: &str) -> bool {
        self.cases.is_empty() || self.cases.iter().any(|text| name.contains(text.as_str()))
    }

    /// The folder of the race, made if it is missing.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn folder(&self) -> Result<PathBuf> {
        let folder = self.out.join(self.race.name());
        fs::create_dir_all(&folder).map_err(Error::io(&folder))?;
        Ok(folder)
    }
}

/// The folder of this program in the checkout it was built from.
pub fn home() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The Python of `scripts/bench`, or any.
fn own_python() -> PathBuf {
    let own = home().join(".venv/bin/python");
    if own.exists() {
        own
    } else {
        PathBuf::from("python3")
    }
}
