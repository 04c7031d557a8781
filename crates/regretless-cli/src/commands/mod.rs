//! One file per command. Each turns its options into a plan, carries it out, and reports.

use regretless::data::Matrix;
use regretless::evaluate::{Evaluation, evaluate as measure};
use regretless::label::{LabelSource, LabelStore, Labelled};
use regretless::oracle::Oracle;
use regretless::parallel::Threads;
use regretless::predict::Model;
use regretless::watch::Watch;
use regretless::{Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::args::{Call, Command, Common};
use crate::input::{Decided, in_file};
use crate::output::{Report, remark};
use crate::progress::Progress;
use crate::settings;

mod compare;
mod decide;
mod evaluate;
mod generate;
mod ground;
mod train;

/// What every command works with.
pub struct Session {
    /// Shows progress and hears Ctrl-C.
    pub progress: Progress,
    /// Whether outputs that exist are replaced.
    pub force: bool,
    quiet: bool,
}

impl Session {
    fn new(common: &Common) -> Self {
        Self { progress: Progress::new(common.quiet), force: common.force, quiet: common.quiet }
    }

    /// Says something that is not a result.
    pub fn remark(&self, text: &str) {
        if !self.quiet {
            remark(text);
        }
    }
}

/// Carries out a command and prints what it found; returns what went wrong after that.
pub fn run(command: Command) -> Result<Option<Error>> {
    match command {
        Command::Generate(call) => perform(call, "generate", generate::run),
        Command::Train(call) => perform(call, "train", train::run),
        Command::Evaluate(call) => perform(call, "evaluate", evaluate::run),
        Command::Decide(call) => perform(call, "decide", decide::run),
        Command::Compare(call) => perform(call, "compare", compare::run),
    }
}

fn perform<O: clap::Args + Serialize + DeserializeOwned>(
    call: Call<O>,
    name: &str,
    work: impl FnOnce(&O, &Session) -> Result<Report>,
) -> Result<Option<Error>> {
    let session = Session::new(&call.common);
    let options = settings::merged(call.options, call.common.config.as_deref(), name)?;
    let outcome = work(&options, &session);
    // Work that failed leaves its bar behind, which would be drawn over the error.
    session.progress.end();
    let report = outcome?;
    report.print(call.common.json)?;
    Ok(report.failure)
}

/// An oracle on as many threads as the user allows.
fn oracle(decided: &Decided, threads: Option<usize>) -> Result<Oracle> {
    Ok(Oracle::new(decided.problem.clone()).with_threads(Threads::new(threads.unwrap_or(0))?))
}

/// Labels a table, from the labels beside its file if there are any.
fn label(
    data: regretless::data::Dataset,
    file: &std::path::Path,
    (decided, oracle): (&Decided, &Oracle),
    session: &Session,
) -> Result<Labelled> {
    let labelled = LabelStore::beside(file).label(data, &decided.spec, oracle, &session.progress);
    let (labelled, report) = labelled.map_err(in_file(file))?;
    report.warnings.iter().for_each(|warning| session.remark(&format!("note: {warning}")));
    if report.source == LabelSource::Found {
        session.remark(&format!("note: best decisions taken from {}", report.file.display()));
    }
    Ok(labelled)
}

/// What a model's decisions are worth on some rows of a labelled table.
fn judge(model: &Model, data: &Labelled, rows: &[usize], (oracle, watch): (&Oracle, &dyn Watch)) -> Result<Evaluation> {
    let all = model.predict(data.data().features())?;
    let mut chosen = Vec::with_capacity(rows.len() * all.cols());
    rows.iter().for_each(|row| chosen.extend_from_slice(all.row(*row)));
    let mut predictions = Matrix::new(rows.len(), all.cols(), chosen)?;
    data.sense().flip(predictions.as_mut_slice());
    measure(&predictions, data, rows, (oracle, watch))
}

/// A value as JSON.
fn json<T: Serialize>(value: &T) -> Result<serde_json::Value> {
    serde_json::to_value(value).map_err(|e| Error::setting(format!("the result cannot be written as JSON: {e}")))
}
