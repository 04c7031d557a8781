//! A whole training, as every interface runs it, in one order.
//!
//! [`MatchedTable`]: from a table to labeled rows. [`TrainingJob::prepare`]: the data check, notes
//! about what is about to be trained and how epochs are selected. [`TrainingJob::run`]: the
//! training, its evaluation and notes about its outcome. Interfaces pass notes on.

use crate::checkpoint::CheckpointFolder;
use crate::data::{DataCheck, Finding};
use crate::error::Result;
use crate::label::LabeledSplit;
use crate::method::Method;
use crate::notes::{FinishedTraining, Note, NoteKind, PlannedTraining, findings_of_split};
use crate::observer::Observer;
use crate::oracle::Oracle;
use crate::train::TrainingContext;
use crate::trainer::{Trainer, TrainingOutcome};

mod opening;

pub use opening::{LabeledTable, MatchedTable, RowLabels};

/// A training, or the trainings of a comparison, before it begins.
#[derive(Clone, Copy)]
pub struct TrainingJob<'a> {
    /// Labeled rows; of a comparison those of its first seed.
    pub labeled: &'a LabeledSplit,
    /// Solves the problem.
    pub oracle: &'a Oracle,
    /// What is trained.
    pub methods: &'a [Method],
    /// Receives progress and may interrupt.
    pub observer: &'a dyn Observer,
    /// How the user writes a split by the dates of the table, if it has some and the split was left
    /// to the program.
    pub time_split: Option<&'a str>,
    /// What the user calls the number of epochs.
    pub epochs_setting: &'a str,
    /// The rows whose solves decide how epochs are selected; by default those of the training.
    pub validated: Option<TrainingContext<'a>>,
}

/// What is known before a training begins.
pub struct PreparedJob {
    /// What the data check found.
    pub findings: Vec<Finding>,
    /// What the user should know.
    pub notes: Vec<Note>,
}

impl<'a> TrainingJob<'a> {
    /// A training whose method and split were chosen by the user.
    pub fn new(
        labeled: &'a LabeledSplit,
        oracle: &'a Oracle,
        methods: &'a [Method],
        observer: &'a dyn Observer,
    ) -> Self {
        Self {
            labeled,
            oracle,
            methods,
            observer,
            time_split: None,
            epochs_setting: "epochs",
            validated: None,
        }
    }

    /// The rows, the solver and the observer of a training.
    pub fn context(&self) -> TrainingContext<'a> {
        TrainingContext {
            data: &self.labeled.data,
            split: &self.labeled.split,
            oracle: self.oracle,
            observer: self.observer,
        }
    }

    /// Checks the data and says what the user should know before the training begins. `check` runs
    /// the data check if the times of the rows are known; otherwise it is `|check|
    /// Ok(check.run())`. `select` is the trainer if the user did not choose how epochs are
    /// selected; in a comparison that of its reference, so all methods are compared on equal terms.
    ///
    /// # Errors
    /// Those of `check`.
    pub fn prepare(
        &self,
        select: Option<&mut Trainer>,
        check: impl FnOnce(DataCheck<'_>) -> Result<Vec<Finding>>,
    ) -> Result<PreparedJob> {
        let LabeledSplit { data, split, .. } = self.labeled;
        let findings = findings_of_split(data, split, check)?;
        let planned = PlannedTraining {
            time_split: self.time_split,
            ..PlannedTraining::new(self.methods, data, self.oracle, &findings)
        };
        let mut notes = planned.notes();
        if let Some(trainer) = select {
            let validated = self.validated.unwrap_or_else(|| self.context());
            let text = trainer.select_affordably(&validated);
            notes.extend(text.map(|text| Note::new(NoteKind::Selection, text)));
        }
        Ok(PreparedJob { findings, notes })
    }

    /// Trains and evaluates; the outcome has the notes about it. Resumes from checkpoints if there
    /// are any.
    ///
    /// # Errors
    /// As [`Trainer::train`].
    pub fn run(
        &self,
        trainer: &Trainer,
        checkpoints: Option<&CheckpointFolder>,
    ) -> Result<TrainingOutcome> {
        let spec = self.labeled.problem.spec();
        let outcome = trainer.fit_and_evaluate(&self.context(), spec, checkpoints)?;
        Ok(self.with_notes(trainer, outcome))
    }

    /// Trains without an evaluation; the notes are about the training.
    ///
    /// # Errors
    /// As [`Trainer::train`].
    pub(crate) fn fit(&self, trainer: &Trainer) -> Result<TrainingOutcome> {
        let outcome = trainer.train(&self.context(), self.labeled.problem.spec(), None)?;
        Ok(self.with_notes(trainer, outcome))
    }

    fn with_notes(&self, trainer: &Trainer, outcome: TrainingOutcome) -> TrainingOutcome {
        let finished = FinishedTraining {
            trainer,
            outcome: &outcome,
            context: &self.context(),
            epochs_setting: self.epochs_setting,
        };
        TrainingOutcome {
            notes: finished.notes(),
            ..outcome
        }
    }
}
