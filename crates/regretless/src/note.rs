//! [`Note`]: one sentence about a training, a comparison or a backtest. `notes/` makes them.

use serde::Serialize;

use crate::baseline::Baseline;
use crate::data::FindingKind;

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
    /// Epochs are selected by validation loss, since validation regret takes many solves.
    Selection,
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
    /// `auto` is not certain to be better than least squares.
    Auto,
    /// Regret is averaged over few test rows.
    FewTestRows,
    /// All best objectives are 0.
    ZeroObjectives,
    /// Decisions under predicted costs are better than the labels.
    NegativeRegret,
    /// The rows leave no choice.
    NoChoice,
    /// Labels of other rows are better than a row's own.
    WorseLabels,
    /// The mean test regret of a baseline is lower than that of the model.
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
    pub(crate) fn new(kind: NoteKind, text: impl Into<String>) -> Self {
        Self {
            kind,
            text: text.into(),
        }
    }
}

fn baseline_name<S: serde::Serializer>(
    baseline: &Baseline,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_str(baseline)
}
