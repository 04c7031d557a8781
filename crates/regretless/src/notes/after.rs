//! Notes about the outcome of a training.

use super::optimality::negative_regret_text;
use super::{Note, NoteKind, add};
use crate::baseline::Baseline;
use crate::evaluate::Evaluation;
use crate::label::LabeledDataset;
use crate::oracle::Oracle;
use crate::train::TrainingContext;
use crate::trainer::{Trainer, TrainingOutcome};
use crate::verdict::Significance;

impl Note {
    /// What the user should know about the regret of some test rows, by whatever predictor.
    pub fn of_test(
        evaluation: &Evaluation,
        data: &LabeledDataset,
        rows: &[usize],
        oracle: &Oracle,
    ) -> Vec<Self> {
        let mut notes = Vec::new();
        let few_rows = Evaluation::few_rows_warning("test", evaluation.instances);
        add(&mut notes, NoteKind::FewTestRows, few_rows);
        let zero_objectives = evaluation.normalized_regret.is_nan().then(|| {
            "the best objective of every test row is 0, so regret cannot be divided by it; is the \
             problem to be minimized or maximized?"
                .into()
        });
        add(&mut notes, NoteKind::ZeroObjectives, zero_objectives);
        let negative = negative_regret_text(&evaluation.regrets, data, rows, oracle);
        add(&mut notes, NoteKind::NegativeRegret, negative);
        notes
    }
}

/// A training that has ended.
#[derive(Clone, Copy)]
pub(crate) struct FinishedTraining<'a> {
    /// What was trained, and how.
    pub trainer: &'a Trainer,
    /// The model, the report of its training, and its evaluation, if that was wanted.
    pub outcome: &'a TrainingOutcome,
    /// The rows that it had, and the solver.
    pub context: &'a TrainingContext<'a>,
    /// What the user calls the number of epochs.
    pub epochs_setting: &'a str,
}

impl FinishedTraining<'_> {
    /// What the user should know about its outcome.
    pub fn notes(&self) -> Vec<Note> {
        let mut notes = Vec::new();
        add(&mut notes, NoteKind::Epochs, self.epochs());
        add(&mut notes, NoteKind::Auto, self.auto());
        if let Some(evaluation) = self.test_evaluation() {
            let TrainingContext {
                data,
                split,
                oracle,
                ..
            } = *self.context;
            notes.extend(Note::of_test(evaluation, data, &split.test, oracle));
        }
        for baseline in Baseline::ALL {
            let text = self.better_baseline(baseline);
            add(&mut notes, NoteKind::BetterBaseline(baseline), text);
        }
        notes
    }

    fn test_evaluation(&self) -> Option<&Evaluation> {
        self.outcome.test.as_ref()
    }

    fn epochs(&self) -> Option<String> {
        self.trainer
            .epoch_remark(&self.outcome.report, self.epochs_setting)
    }

    /// Where `auto` is not certain to be better than least squares.
    fn auto(&self) -> Option<String> {
        let verdict = self.outcome.search_verdict();
        let significance = verdict.map(|verdict| verdict.significance());
        if significance == Some(Significance::Better) {
            return None;
        }
        self.outcome.search_sentence()
    }

    /// Least squares, the training mean and the previous row, where their mean regret is lower.
    fn better_baseline(&self, baseline: Baseline) -> Option<String> {
        let better = self.outcome.better_baseline(baseline)?;
        let verdict = self.outcome.verdict(baseline)?.sentence();
        let model = self.test_evaluation()?;
        let percent = |evaluation: &Evaluation| 100.0 * evaluation.normalized_regret;
        Some(format!(
            "{baseline} has the test regret {:.5} (normalized {:.2} %), the model {:.5} ({:.2} %): \
             {verdict}",
            better.regret,
            percent(better),
            model.regret,
            percent(model)
        ))
    }
}
