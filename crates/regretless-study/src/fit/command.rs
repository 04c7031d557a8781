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
    /// The call with these columns of a role, instead of others that it may have.
    pub(super) fn with_role(&self, role: &str, columns: &str) -> String {
        match self {
            // Quotes keep the shell from replacing a pattern by names of files.
            Self::Shell(line) => {
                let quoted = columns.replace('\'', r"'\''");
                format!("{} --{role} '{quoted}'", without_flag(line, role))
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

/// A line of a shell without a flag and its value.
fn without_flag(line: &str, flag: &str) -> String {
    let flag = format!(" --{flag}");
    let is_end = |rest: &str| rest.is_empty() || rest.starts_with([' ', '=']);
    let found = line.match_indices(&flag);
    let mut found = found.map(|(start, _)| (start, start + flag.len()));
    let Some((start, end)) = found.find(|(_, end)| is_end(&line[*end..])) else {
        return line.to_owned();
    };
    let value = &line[(end + 1).min(line.len())..];
    let mut is_quoted = false;
    let length = value.find(|c| {
        is_quoted ^= c == '\'';
        c == ' ' && !is_quoted
    });
    let after = length.map_or("", |length| &value[length..]);
    without_flag(&format!("{}{after}", &line[..start]), &flag[" --".len()..])
}
