//! Notes: what a user should know about a training, a comparison or a backtest besides its numbers.
//!
//! Interfaces print notes or raise them as warnings, and compute none. A note is one function, and
//! one line in its list: `table.rs` has those of a table that meets a problem and of its labels,
//! `before.rs` those that are known before anything is trained, `after.rs` those of its outcome,
//! `optimality.rs` those about a custom solver. What methods are worth against each other is said
//! by the verdicts of comparisons and backtests.

pub use crate::note::{Note, NoteKind};

mod after;
mod before;
mod findings;
mod optimality;
mod table;

pub(crate) use after::FinishedTraining;
pub use before::PlannedTraining;
pub use findings::findings_of_split;
pub use optimality::{negative_regret_sentence, negative_regrets};

/// Adds the texts of a kind, if there are any.
fn add(notes: &mut Vec<Note>, kind: NoteKind, texts: impl IntoIterator<Item = String>) {
    notes.extend(texts.into_iter().map(|text| Note::new(kind, text)));
}
