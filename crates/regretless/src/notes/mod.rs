//! Notes: what a user should know about a training, a comparison or a backtest besides its numbers.
//!
//! Interfaces print notes or raise them as warnings, and compute none. A note is one function, and
//! one line in its list: `table.rs` has those of a table that meets a problem and of its labels,
//! `before.rs` those that are known before anything is trained, `after.rs` those of its outcome,
//! `optimality.rs` those about a solver of the user's.
//! What methods are worth against each other is said by the verdicts of comparisons and backtests.

use serde::Serialize;

use crate::baseline::Baseline;
use crate::data::FindingKind;

mod after;
mod before;
mod findings;
mod optimality;
mod table;

pub use after::FinishedTraining;
pub use before::PlannedTraining;
pub use findings::{EncodedHistory, findings_of_split};
pub use optimality::{negative_regret_sentence, negative_regrets};

/// What a note is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NoteKind {
    /// Costs, or numbers of the problem, are matched by position.
    Position,
    /// Labels are decisions of a heuristic.
    Heuristic,
    /// Solves have a time limit.
    TimeLimit,
    /// Labels are not proven optimal.
    Labels,
    /// Predicted costs may make the objective unbounded.
    Unboundedness,
    /// A method ignores the level of predicted costs, which matters to this problem.
    Scale,
    /// The default method is another one than usual.
    DefaultMethod,
    /// Rows with dates are split at random.
    TimeSplit,
    /// A column of the table is no feature.
    UnusedColumn,
    /// Values that no training row has, and gaps.
    Encoding,
    /// A finding of the data check; none for the number of all findings.
    DataCheck(Option<FindingKind>),
    /// The untrained model or the last epoch was the best.
    Epochs,
    /// `auto` found nothing that is better than least squares.
    Auto,
    /// Regret is averaged over few test rows.
    FewTestRows,
    /// All best objectives are 0.
    ZeroObjectives,
    /// Decisions under predicted costs are better than the labels.
    NegativeRegret,
    /// Labels of other rows are better than a row's own.
    WorseLabels,
    /// A baseline decides better than the model.
    BetterBaseline(#[serde(serialize_with = "baseline_name")] Baseline),
}

/// One note.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Note {
    /// What it is about.
    pub kind: NoteKind,
    /// One sentence.
    pub text: String,
}

impl Note {
    fn new(kind: NoteKind, text: impl Into<String>) -> Self {
        Self {
            kind,
            text: text.into(),
        }
    }
}

/// Adds the texts of a kind, if there are any.
fn add(notes: &mut Vec<Note>, kind: NoteKind, texts: impl IntoIterator<Item = String>) {
    notes.extend(texts.into_iter().map(|text| Note::new(kind, text)));
}

fn baseline_name<S: serde::Serializer>(
    baseline: &Baseline,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_str(baseline)
}
