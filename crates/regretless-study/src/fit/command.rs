//! How a user would repeat a fit with another role, for error messages and the page.

/// The call of a fit as its user wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FitCommand {
    /// A line of a shell.
    Shell(String),
    /// The arguments of a Python function without the closing bracket.
    Python(String),
}

impl FitCommand {
    /// The call with the columns of one more role.
    pub(super) fn with_role(&self, role: &str, columns: &str) -> String {
        match self {
            // Quotes keep the shell from replacing a pattern by names of files.
            Self::Shell(line) => {
                let quoted = columns.replace('\'', r"'\''");
                format!("{line} --{role} '{quoted}'")
            }
            Self::Python(start) => {
                let quoted = columns.replace('\\', r"\\").replace('"', "\\\"");
                format!("{start}, {role}=\"{quoted}\")")
            }
        }
    }

    /// The call as it was.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Shell(line) => line.clone(),
            Self::Python(start) => format!("{start})"),
        }
    }
}
