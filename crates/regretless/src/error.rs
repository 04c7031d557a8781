//! Error types. Messages state what was found and what to change.
//!
//! Messages hold text from outside, such as cells and file names. They are shown on one line with
//! hidden characters escaped (`text.rs`), so that no file can drive the reader's terminal.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::text::{display_path, escaped};

/// Result of everything fallible in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A place in an input file; rows and columns are counted as a spreadsheet shows them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// The file, if the data came from one.
    pub file: Option<PathBuf>,
    /// Line of the file, the header being line 1.
    pub row: Option<u64>,
    /// Name or number of the column.
    pub column: Option<String>,
}

impl Place {
    /// The whole file.
    pub fn file(path: &Path) -> Self {
        Self {
            file: Some(path.to_path_buf()),
            row: None,
            column: None,
        }
    }

    /// The same place, narrowed to a row.
    #[must_use]
    pub fn row(mut self, row: u64) -> Self {
        self.row = Some(row);
        self
    }

    /// The same place, narrowed to a column.
    #[must_use]
    pub fn column(mut self, column: impl Into<String>) -> Self {
        self.column = Some(column.into());
        self
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if let Some(file) = &self.file {
            parts.push(display_path(file));
        }
        if let Some(row) = self.row {
            parts.push(format!("row {row}"));
        }
        if let Some(column) = &self.column {
            parts.push(format!("column {}", escaped(column)));
        }
        if parts.is_empty() {
            parts.push("input".into());
        }
        f.write_str(&parts.join(", "))
    }
}

/// Why there is no decision.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub enum SolveFailure {
    /// No decision satisfies the constraints.
    #[error("no decision is feasible")]
    Infeasible,
    /// The objective is unbounded below.
    #[error("the objective is unbounded")]
    Unbounded,
    /// The search ended before any decision was found.
    #[error("no decision found within {nodes} nodes")]
    LimitReached {
        /// Nodes searched.
        nodes: u64,
    },
    /// The solver call was to be served from the solution pool, and the pool is empty.
    #[error(
        "the solution pool is empty, and the cache may not call the solver; provide training rows, \
         or let the cache solve (cache 5%)"
    )]
    EmptySolutionPool,
    /// The search was canceled.
    #[error("interrupted")]
    Interrupted,
    /// The solver's decision failed the check against the constraints.
    #[error("the solver returned an invalid solution: {0}")]
    InvalidSolution(String),
    /// The solver reported an error.
    #[error("the solver failed: {0}")]
    SolverError(String),
}

/// What an [`Error`] is about, for programs that react to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Data that cannot be used.
    Data,
    /// A name or setting that does not exist or contradicts another one.
    Setting,
    /// A problem that does not have what a method needs.
    Problem,
    /// A solver that found no decision, or a training that produced no number.
    Solver,
    /// A file that cannot be read or written.
    File,
    /// The user asked to stop.
    Interrupted,
}

/// Every error of the library.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Data that cannot be used; names the place and what would be right.
    #[error("{place}: {}", escaped(message))]
    Input {
        /// Where.
        place: Place,
        /// What was found and what would be right.
        message: String,
    },
    /// A name or setting that does not exist or does not fit the others.
    #[error("{}", escaped(.0))]
    Setting(String),
    /// A file could not be read or written.
    #[error("{}: {source}", display_path(path))]
    Io {
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        source: std::io::Error,
    },
    /// The output file already exists.
    #[error("{}: exists already; choose another path or allow it to be replaced", display_path(.0))]
    Exists(PathBuf),
    /// A solver found no decision for an instance.
    #[error("instance {instance}: {}", escaped(&failure.to_string()))]
    Solver {
        /// Row of the table, counted from 0.
        instance: usize,
        /// Why there is no decision.
        failure: SolveFailure,
    },
    /// A method asks for something the problem cannot give.
    #[error(
        "{} needs {capability}, which {} does not offer; {}",
        escaped(method),
        escaped(problem),
        escaped(instead)
    )]
    Capability {
        /// The method that asks.
        method: String,
        /// What it asks for.
        capability: &'static str,
        /// The problem that was asked.
        problem: String,
        /// What the user can do.
        instead: String,
    },
    /// A method compares with known decisions and there are none.
    #[error(
        "{} compares with a pool of known decisions, and the pool is empty; give it the best \
            decisions of the \
         training rows",
        escaped(method)
    )]
    EmptyPool {
        /// The method.
        method: String,
    },
    /// Training produced a value that is not a number.
    #[error(
        "training stopped at epoch {epoch}: the {what} of instance {instance}{} is not finite; \
         lower the learning rate or look at the features of that instance",
        output.map(|o| format!(", output {o}")).unwrap_or_default()
    )]
    NonFinite {
        /// What was not finite.
        what: &'static str,
        /// Epoch, counted from 1.
        epoch: usize,
        /// Row of the table, counted from 0.
        instance: usize,
        /// Output, counted from 0, if the value belongs to one output.
        output: Option<usize>,
    },
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// What the error is about.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Input { .. } => ErrorKind::Data,
            Self::Setting(_) | Self::EmptyPool { .. } => ErrorKind::Setting,
            Self::Capability { .. } => ErrorKind::Problem,
            Self::Solver { .. } | Self::NonFinite { .. } => ErrorKind::Solver,
            Self::Io { .. } | Self::Exists(_) => ErrorKind::File,
            Self::Interrupted => ErrorKind::Interrupted,
        }
    }

    /// The place in a file or table that the error is about, if it is about one.
    pub fn place(&self) -> Option<Place> {
        match self {
            Self::Input { place, .. } => Some(place.clone()),
            Self::Io { path, .. } | Self::Exists(path) => Some(Place::file(path)),
            Self::Setting(_)
            | Self::EmptyPool { .. }
            | Self::Capability { .. }
            | Self::Solver { .. }
            | Self::NonFinite { .. }
            | Self::Interrupted => None,
        }
    }

    /// Bad data at a place.
    pub fn input(place: Place, message: impl Into<String>) -> Self {
        Self::Input {
            place,
            message: message.into(),
        }
    }

    /// A setting that cannot be used.
    pub fn setting(message: impl Into<String>) -> Self {
        Self::Setting(message.into())
    }

    /// Bad data that did not come from a file.
    pub fn data(message: impl Into<String>) -> Self {
        Self::Input {
            place: Place::default(),
            message: message.into(),
        }
    }

    /// The same error about this file, where it is bad data that came from none so far.
    #[must_use]
    pub fn in_file(self, path: &Path) -> Self {
        match self {
            Self::Input { mut place, message } => {
                place.file.get_or_insert_with(|| path.to_path_buf());
                Self::Input { place, message }
            }
            other => other,
        }
    }

    /// The same error about this file, also where it is a setting: the file holds the setting.
    #[must_use]
    pub fn with_file(self, path: &Path) -> Self {
        match self {
            Self::Setting(message) => Self::input(Place::file(path), message),
            other => other.in_file(path),
        }
    }

    /// A solver found no decision for an instance; a solve that was interrupted is an interruption.
    pub fn solver(instance: usize, failure: SolveFailure) -> Self {
        match failure {
            SolveFailure::Interrupted => Self::Interrupted,
            failure => Self::Solver { instance, failure },
        }
    }

    /// Names the method that needs a missing capability; other errors are unchanged.
    #[must_use]
    pub fn for_method(self, name: &str) -> Self {
        match self {
            Self::Capability {
                capability,
                problem,
                instead,
                ..
            } => Self::Capability {
                method: name.to_owned(),
                capability,
                problem,
                instead,
            },
            other => other,
        }
    }

    /// Wraps an operating-system error with the path it is about.
    pub fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        move |source| Self::Io {
            path: path.to_path_buf(),
            source,
        }
    }

    /// An unknown name, answered with the choices.
    pub fn unknown(what: &str, found: &str, choices: &[&str]) -> Self {
        Self::Setting(format!(
            "unknown {what} '{found}'; choose one of: {}",
            choices.join(", ")
        ))
    }
}
