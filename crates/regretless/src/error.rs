//! Error types. Messages state the defect and the remedy.
//!
//! Messages contain text from outside, such as cells and file names. They are printed on one line
//! with invisible characters escaped (`text.rs`), so that no file can send control sequences to the
//! user's terminal.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::text::{display_path, escaped};

/// Result of everything fallible in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The place in the input that an error refers to. Rows of a CSV file are counted as a spreadsheet
/// shows them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InputPlace {
    /// The file, if the data came from one.
    pub file: Option<PathBuf>,
    /// Line of the file, the header being line 1.
    pub row: Option<u64>,
    /// Name or number of the column.
    pub column: Option<String>,
}

impl InputPlace {
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

impl fmt::Display for InputPlace {
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

/// The kind of an [`Error`], for programs that react to it.
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
    /// The user interrupted the work.
    Interrupted,
}

/// Every error of the library.
///
/// Programs react to [`Error::kind`] and [`Error::place`]; the text is for people.
///
/// ```
/// use std::path::Path;
///
/// use regretless::{Dataset, ErrorKind, Problem};
///
/// let error = Problem::benchmark("KS").unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Setting);
///
/// let error = Dataset::from_csv("missing.csv", "c*").unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::File);
/// let place = error.place().unwrap();
/// assert_eq!(place.file.as_deref(), Some(Path::new("missing.csv")));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Data that cannot be used; the message has the remedy.
    #[error("{place}: {}", escaped(message))]
    Input {
        /// The file, row and column.
        place: InputPlace,
        /// The defect and the remedy.
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
    /// A method needs a capability that the problem does not have.
    #[error(
        "{} needs {capability}, which {} does not offer; {}",
        escaped(method),
        escaped(problem),
        escaped(remedy)
    )]
    Capability {
        /// The method.
        method: String,
        /// The missing capability.
        capability: &'static str,
        /// The problem.
        problem: String,
        /// What the user can do.
        remedy: String,
    },
    /// A method needs a solution pool, and the pool is empty.
    #[error(
        "{} compares with the decisions of a solution pool, and the pool is empty; add the optimal \
         decisions of the training rows",
        escaped(method)
    )]
    EmptyPool {
        /// The method.
        method: String,
    },
    /// Training produced a value that is not a number.
    #[error(
        "training stopped at epoch {epoch}: the {quantity} of instance {instance}{} is not finite; \
         lower the learning rate or check the features of that instance",
        output.map(|o| format!(", output {o}")).unwrap_or_default()
    )]
    NonFinite {
        /// The quantity that is not finite, such as "loss".
        quantity: &'static str,
        /// Epoch, counted from 1.
        epoch: usize,
        /// Row of the table, counted from 0.
        instance: usize,
        /// Output, counted from 0, if the value belongs to one output.
        output: Option<usize>,
    },
    /// The user interrupted the work.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// The kind of the error.
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

    /// The place in a file or table that the error refers to, if there is one.
    pub fn place(&self) -> Option<InputPlace> {
        match self {
            Self::Input { place, .. } => Some(place.clone()),
            Self::Io { path, .. } | Self::Exists(path) => Some(InputPlace::file(path)),
            Self::Setting(_)
            | Self::EmptyPool { .. }
            | Self::Capability { .. }
            | Self::Solver { .. }
            | Self::NonFinite { .. }
            | Self::Interrupted => None,
        }
    }

    /// Bad data at a place.
    pub fn input(place: InputPlace, message: impl Into<String>) -> Self {
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
            place: InputPlace::default(),
            message: message.into(),
        }
    }

    /// The same error with this file as its place, if it is an error in data without a file.
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

    /// As [`Error::in_file`], also for settings: the file contains the setting.
    #[must_use]
    pub fn with_file(self, path: &Path) -> Self {
        match self {
            Self::Setting(message) => Self::input(InputPlace::file(path), message),
            other => other.in_file(path),
        }
    }

    /// A solver found no decision for an instance; a canceled search is [`Error::Interrupted`].
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
                remedy,
                ..
            } => Self::Capability {
                method: name.to_owned(),
                capability,
                problem,
                remedy,
            },
            other => other,
        }
    }

    /// Adds the path of the file to an error of the operating system.
    pub fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        move |source| Self::Io {
            path: path.to_path_buf(),
            source,
        }
    }

    /// An unknown name of something (such as "method"), with the possible names.
    pub fn unknown(what: &str, name: &str, choices: &[&str]) -> Self {
        Self::Setting(format!(
            "unknown {what} '{name}'; choose one of: {}",
            choices.join(", ")
        ))
    }
}
