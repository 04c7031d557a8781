//! Setting words that were renamed before the first release.
//!
//! Old words are refused. The error has the new word, wherever the setting was read from: a flag, a
//! settings file, an experiment, a problem file, a keyword of Python.

use crate::error::Error;
use crate::text::one_line;

/// Old and new words, as settings files spell them. An old word may have several new words, one
/// per kind of file or command where it was used.
const RENAMED_WORDS: [(&str, &str); 22] = [
    ("about", "description"),
    ("batch", "batch_size"),
    ("budget", "time_budget"),
    ("clip_costs", "clip_instance_costs"),
    ("decay", "lr_decay"),
    ("decay", "weight_decay"),
    ("decide_by", "heuristic"),
    ("epoch_rows", "rows_per_epoch"),
    ("given", "external"),
    ("init_from", "init_model"),
    ("join_validation", "train_on_validation"),
    ("keep_every", "checkpoint_interval"),
    ("kind", "file_format"),
    ("loss", "method"),
    ("loss", "methods"),
    ("losses", "methods"),
    ("node_limit", "nodes"),
    ("number", "problem_number"),
    ("output_map", "scale_costs"),
    ("rescale", "rescale_loss"),
    ("shortest_path", "grid_path"),
    ("warm_start", "retrain_from_baseline"),
];

/// The new word for an old one, among the valid words of the file or command that uses it.
pub fn new_word(old: &str, mut is_known: impl FnMut(&str) -> bool) -> Option<&'static str> {
    RENAMED_WORDS
        .iter()
        .filter(|(renamed, _)| *renamed == old)
        .map(|(_, new)| *new)
        .find(|new| is_known(new))
}

/// The error for a word of a method name that has a new name.
pub fn refuse(old: &str, new: &str) -> Error {
    Error::setting(format!("'{old}' is called '{new}' now"))
}

/// Replaces serde's message about an unknown field or variant by the new word, if the unknown word
/// is an old one. The result is one line.
pub fn explain(message: &str) -> String {
    match unknown_word(message) {
        Some(old) => match new_word(old, |new| message.contains(&format!("`{new}`"))) {
            Some(new) => format!("'{old}' is called '{new}' now"),
            None => one_line(message),
        },
        None => one_line(message),
    }
}

impl Error {
    /// The new word for an old one that was renamed, if `is_known` accepts it.
    pub fn renamed_word(old: &str, is_known: impl FnMut(&str) -> bool) -> Option<&'static str> {
        new_word(old, is_known)
    }

    /// Replaces serde's message about an unknown field or variant by the new word, if the unknown
    /// word is an old one. The result is one line.
    pub fn explain_renamed(message: &str) -> String {
        explain(message)
    }
}

/// The word between backticks in serde's "unknown field `…`" or "unknown variant `…`".
fn unknown_word(message: &str) -> Option<&str> {
    let (_, rest) = message
        .split_once("unknown field `")
        .or_else(|| message.split_once("unknown variant `"))?;
    rest.split_once('`').map(|(word, _)| word)
}
