//! Error types. The message states the defect; the remedy, if there is one, is a separate text.
//!
//! Messages contain text from outside, such as cells and file names. They are printed on one line
//! with invisible characters escaped (`text.rs`), so no file can send control sequences to the
//! user's terminal.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::text::{display_path, escaped};

mod constructors;
mod remedy;
mod solve_failure;

pub use self::remedy::Remedy;
pub use self::solve_failure::{SolveFailure, SolvePlace};

/// Result of everything fallible in this crate.
///
/// ```
/// use regretless::{Problem, Result};
///
/// fn number_of_costs(benchmark: &str) -> Result<usize> {
///     Ok(Problem::benchmark(benchmark)?.kind().num_costs())
/// }
/// assert_eq!(number_of_costs("KS32")?, 32);
/// assert!(number_of_costs("KS").is_err());
/// # Ok::<(), regretless::Error>(())
/// ```
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

/// The kind of an [`Error`], for programs that react to it.
///
/// ```
/// use regretless::{ErrorKind, Model};
///
/// let error = Model::load("no/such/file").unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::File);
/// ```
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
/// Programs react to [`Error::kind`] and [`Error::place`]; the text is for people: the message, a
/// semicolon and the remedy.
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
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// Data that cannot be used.
    Input {
        /// The file, row and column.
        place: InputPlace,
        /// The defect.
        message: String,
        /// What to change, or what is allowed.
        remedy: Option<Remedy>,
    },
    /// A name or setting that does not exist or does not fit the others.
    Setting {
        /// The defect.
        message: String,
        /// What to change, or what is allowed.
        remedy: Option<Remedy>,
    },
    /// A file could not be read or written.
    Io {
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        source: std::io::Error,
    },
    /// The output file already exists.
    Exists(PathBuf),
    /// A solver found no decision for an instance.
    Solver {
        /// The instance.
        place: SolvePlace,
        /// Why there is no decision.
        failure: SolveFailure,
    },
    /// A method needs a capability that the problem does not have.
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
    EmptyPool {
        /// The method.
        method: String,
    },
    /// Training produced a value that is not a number.
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
    Interrupted,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message())?;
        match self.remedy() {
            Some(remedy) => write!(f, "; {remedy}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::Input { .. }
            | Self::Setting { .. }
            | Self::Exists(_)
            | Self::Solver { .. }
            | Self::Capability { .. }
            | Self::EmptyPool { .. }
            | Self::NonFinite { .. }
            | Self::Interrupted => None,
        }
    }
}

impl Error {
    /// The defect, with its place.
    pub fn message(&self) -> String {
        match self {
            Self::Input { place, message, .. } => format!("{place}: {}", escaped(message)),
            Self::Setting { message, .. } => escaped(message).into_owned(),
            Self::Io { path, source } => format!("{}: {source}", display_path(path)),
            Self::Exists(path) => format!("{}: exists already", display_path(path)),
            Self::Solver { place, failure } => {
                format!("{place}{}", escaped(&failure.to_string()))
            }
            Self::Capability {
                method,
                capability,
                problem,
                ..
            } => format!(
                "{} needs {capability}, which {} does not offer",
                escaped(method),
                escaped(problem)
            ),
            Self::EmptyPool { method } => format!(
                "{} compares with the decisions of a solution pool, and the pool is empty",
                escaped(method)
            ),
            Self::NonFinite {
                quantity,
                epoch,
                instance,
                output,
            } => {
                let output = output
                    .map(|output| format!(", output {output}"))
                    .unwrap_or_default();
                format!(
                    "training stopped at epoch {epoch}: the {quantity} of row {instance} (counted \
                     from 0){output} is not finite"
                )
            }
            Self::Interrupted => "interrupted".into(),
        }
    }

    /// What to change, or what is allowed, if the error says so.
    pub fn remedy(&self) -> Option<String> {
        match self {
            Self::Input { remedy, .. } | Self::Setting { remedy, .. } => {
                remedy.as_ref().map(Remedy::text)
            }
            Self::Exists(_) => Some("choose another path or allow it to be replaced".into()),
            Self::Capability { remedy, .. } => Some(escaped(remedy).into_owned()),
            Self::EmptyPool { .. } => Some("add the optimal decisions of the training rows".into()),
            Self::NonFinite { .. } => {
                Some("lower the learning rate or check the features of that instance".into())
            }
            Self::Solver {
                failure: SolveFailure::UnboundedAlong(_),
                ..
            } => Some(
                "give the columns a bound on that side, in the model or in the problem file \
                 (upper = { NAME = ... }, lower = { NAME = ... })"
                    .into(),
            ),
            Self::Io { .. } | Self::Solver { .. } | Self::Interrupted => None,
        }
    }

    /// The kind of the error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Input { .. } => ErrorKind::Data,
            Self::Setting { .. } | Self::EmptyPool { .. } => ErrorKind::Setting,
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
            Self::Setting { .. }
            | Self::EmptyPool { .. }
            | Self::Capability { .. }
            | Self::Solver { .. }
            | Self::NonFinite { .. }
            | Self::Interrupted => None,
        }
    }
}
