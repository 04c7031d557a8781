//! Notes about a table that meets a problem, and about its labels.

use super::{Note, NoteKind, add};
use crate::data::{CostMatching, CostNames};
use crate::error::Result;
use crate::label::LabeledDataset;
use crate::observer::Observer;
use crate::oracle::Oracle;
use crate::problem::ProblemKind;

impl Note {
    /// When the costs of a table with these names, or numbers of the problem such as weights, are
    /// matched by position.
    pub fn of_matching(
        problem: &dyn ProblemKind,
        names: &CostNames,
        matching: &CostMatching,
    ) -> Vec<Self> {
        let mut notes = Vec::new();
        if names.len() == problem.num_costs() {
            add(
                &mut notes,
                NoteKind::Position,
                problem.names().position_note(names),
            );
        }
        let by_position = matching.warning().map(str::to_owned);
        add(&mut notes, NoteKind::Position, by_position);
        notes
    }

    /// Where labels need not be optimal, others may be found another time, or those of other rows
    /// are better, and where rows leave no choice.
    ///
    /// # Errors
    /// When the user interrupts.
    pub fn of_labels(
        data: &LabeledDataset,
        oracle: &Oracle,
        observer: &dyn Observer,
    ) -> Result<Vec<Self>> {
        let mut notes = Vec::new();
        add(&mut notes, NoteKind::Heuristic, heuristic(oracle));
        add(&mut notes, NoteKind::TimeLimit, time_limit(oracle));
        add(&mut notes, NoteKind::Labels, unproven_labels(data, oracle));
        notes.extend(Self::of_worse_labels(data, oracle));
        add(
            &mut notes,
            NoteKind::NoChoice,
            data.no_choice_note(oracle, observer)?,
        );
        Ok(notes)
    }
}

fn heuristic(oracle: &Oracle) -> Option<String> {
    let heuristic = oracle.heuristic()?;
    Some(format!(
        "labels are decisions of '{heuristic}', which need not be optimal"
    ))
}

fn time_limit(oracle: &Oracle) -> Option<String> {
    let seconds = oracle.limits().seconds;
    seconds.map(|_| "solves have a time limit: results are not reproducible".into())
}

/// The labels by their quality. Who declares a function a heuristic knows that they are not proven.
fn unproven_labels(data: &LabeledDataset, oracle: &Oracle) -> Option<String> {
    let counts = data.label_counts(&data.rows());
    (!counts.are_optimal() && !oracle.is_heuristic()).then(|| format!("labels: {counts}"))
}
