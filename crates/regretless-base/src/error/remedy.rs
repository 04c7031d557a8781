//! What to do about an error: a sentence, and commands that can be copied.

use crate::text::escaped;

/// What to change, or what is allowed; below it commands, each on a line of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remedy {
    /// The sentence, then the commands.
    lines: Vec<String>,
}

impl Remedy {
    pub(super) fn new(sentence: String) -> Self {
        Self {
            lines: vec![sentence],
        }
    }

    pub(super) fn add_commands(&mut self, commands: impl IntoIterator<Item = String>) {
        self.lines.extend(commands);
    }

    /// The lines; names within them break none, since each line is escaped by itself.
    pub(super) fn text(&self) -> String {
        let lines: Vec<_> = self.lines.iter().map(|line| escaped(line)).collect();
        lines.join("\n  ")
    }
}
