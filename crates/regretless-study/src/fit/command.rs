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

    /// The call for a table with one row per instance and item; none in Python, which takes tables
    /// with one row per decision.
    pub(super) fn for_long_table(&self, instance: &str, item: &str) -> Option<String> {
        match self {
            Self::Shell(_) => {
                let line = Self::Shell(self.with_role("instance-column", instance));
                let line = Self::Shell(line.with_role("item-column", item));
                Some(line.with_role("cost-column", "COSTS"))
            }
            Self::Python(_) => None,
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
