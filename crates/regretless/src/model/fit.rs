//! Training of a model by [`Trainer::fit`].

use super::Model;
use crate::error::Result;
use crate::job::{LabeledTable, TrainingJob};
use crate::label::DataSplit;
use crate::notes::Note;
use crate::observer::{NoopObserver, Observer};
use crate::oracle::Oracle;
use crate::parallel::Threads;
use crate::problem::Problem;
use crate::trainer::Trainer;

/// Training of a model: the way from a [`Trainer`] to a [`Model`].
impl Trainer {
    /// Trains on the training rows; validation rows select the best epoch. Rows are labeled first
    /// if they are not. The model depends on data and settings, not on the number of threads.
    ///
    /// # Errors
    /// When settings contradict each other or do not fit the data, rows cannot be labeled, or a
    /// value is not finite.
    pub fn fit(&self, problem: &Problem, data: &DataSplit) -> Result<Model> {
        self.fit_with(problem, data, &NoopObserver)
    }

    /// The same with progress and cancellation.
    ///
    /// # Errors
    /// As [`Trainer::fit`], and when the user interrupts.
    pub fn fit_with(
        &self,
        problem: &Problem,
        data: &DataSplit,
        observer: &dyn Observer,
    ) -> Result<Model> {
        let problem = data.problem_for_table(problem)?;
        let oracle = Oracle::new(problem.kind().clone()).with_threads(Threads::new(self.threads)?);
        let oracle = data.bind(oracle)?;
        let kind = problem.kind().as_ref();
        let (cost_names, matching) = data.matching(kind)?;
        let mut notes = Note::of_matching(kind, &cost_names, &matching);
        let table = LabeledTable::of_split(data, &problem, &oracle, observer)?;
        notes.extend(table.notes);
        let methods = std::slice::from_ref(&self.method);
        let job = TrainingJob::new(&table.splits[0], &oracle, methods, observer);
        notes.extend(job.prepare(None, |check| Ok(check.run()))?.notes);
        warn(&notes, observer);
        let outcome = job.fit(self)?;
        warn(&outcome.notes, observer);
        notes.extend(outcome.notes);
        let model = Model::assemble(outcome.model, problem)?;
        Ok(model
            .with_threads(self.threads)?
            .with_report(outcome.report, notes))
    }
}

fn warn(notes: &[Note], observer: &dyn Observer) {
    for note in notes {
        observer.warn(&note.text);
    }
}
