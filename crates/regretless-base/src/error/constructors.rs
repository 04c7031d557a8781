//! Errors of each kind, and what is added to them on their way to the user.

use std::path::Path;

use super::solve_failure::{SolveFailure, SolvePlace};
use super::{Error, InputPlace, Remedy};
use crate::text::nearest_name;

impl Error {
    /// The same error with a remedy, if it is an error in data or settings.
    #[must_use]
    pub fn with_remedy(mut self, text: impl Into<String>) -> Self {
        if let Self::Input { remedy, .. } | Self::Setting { remedy, .. } = &mut self {
            *remedy = Some(Remedy::new(text.into()));
        }
        self
    }

    /// The same error with commands below its remedy, each on a line of its own, so it can be
    /// copied.
    #[must_use]
    pub fn with_commands(mut self, commands: impl IntoIterator<Item = String>) -> Self {
        if let Self::Input { remedy, .. } | Self::Setting { remedy, .. } = &mut self
            && let Some(remedy) = remedy
        {
            remedy.add_commands(commands);
        }
        self
    }

    /// Bad data at a place.
    pub fn input(place: InputPlace, message: impl Into<String>) -> Self {
        Self::Input {
            place,
            message: message.into(),
            remedy: None,
        }
    }

    /// A setting that cannot be used.
    pub fn setting(message: impl Into<String>) -> Self {
        Self::Setting {
            message: message.into(),
            remedy: None,
        }
    }

    /// Bad data that did not come from a file.
    pub fn data(message: impl Into<String>) -> Self {
        Self::input(InputPlace::default(), message)
    }

    /// The same error with this file as its place, if it is an error in data without a file.
    #[must_use]
    pub fn in_file(mut self, path: &Path) -> Self {
        if let Self::Input { place, .. } = &mut self {
            place.file.get_or_insert_with(|| path.to_path_buf());
        }
        self
    }

    /// As [`Error::in_file`], also for settings: the file contains the setting.
    #[must_use]
    pub fn with_file(self, path: &Path) -> Self {
        match self {
            Self::Setting { message, remedy } => Self::Input {
                place: InputPlace::file(path),
                message,
                remedy,
            },
            other => other.in_file(path),
        }
    }

    /// A solver found no decision for an instance; a canceled search is [`Error::Interrupted`].
    pub fn solver(instance: usize, failure: SolveFailure) -> Self {
        match failure {
            SolveFailure::Interrupted => Self::Interrupted,
            failure => Self::Solver {
                place: SolvePlace::Row(instance),
                failure,
            },
        }
    }

    /// As [`Error::solver`], if there is only one instance.
    pub fn single_solve(failure: SolveFailure) -> Self {
        match failure {
            SolveFailure::Interrupted => Self::Interrupted,
            failure => Self::Solver {
                place: SolvePlace::Single,
                failure,
            },
        }
    }

    /// As [`Error::solver`], if this many rows failed and no other exists; `failure` is that of the
    /// first.
    pub fn all_failed(rows: usize, failure: SolveFailure) -> Self {
        match failure {
            SolveFailure::Interrupted => Self::Interrupted,
            failure => Self::Solver {
                place: if rows == 1 {
                    SolvePlace::Row(0)
                } else {
                    SolvePlace::FirstOfAll(rows)
                },
                failure,
            },
        }
    }

    /// The same error with another remedy, if it is a missing capability.
    #[must_use]
    pub fn with_capability_remedy(mut self, text: String) -> Self {
        if let Self::Capability { remedy, .. } = &mut self {
            *remedy = text;
        }
        self
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

    /// An unknown name of something (such as "method"), with the name that was probably meant and
    /// all possible ones.
    pub fn unknown(what: &str, name: &str, choices: &[&str]) -> Self {
        let all = format!("choose one of: {}", choices.join(", "));
        Self::setting(format!("unknown {what} '{name}'")).with_remedy(
            match nearest_name(name, choices.iter().copied()) {
                Some(meant) => format!("did you mean '{meant}'? {all}"),
                None => all,
            },
        )
    }
}
