//! Labeled rows of one problem and seed. The cells of an experiment (one per method) with this
//! problem and seed share them.

use std::path::Path;
use std::time::Instant;

use super::named_problem::{DataFiles, NamedProblem};
use regretless::job::{MatchedTable, RowLabels};
use regretless::label::LabelStore;
use regretless::oracle::Oracle;
use regretless::problem::Problem;
use regretless_base::error::Result;
use regretless_base::observer::Observer;
use regretless_base::parallel::Threads;

/// Labeled rows of one problem and seed.
pub use regretless::label::LabeledSplit as CellData;

/// Generated rows and the time of their labeling.
pub(super) struct GeneratedData {
    pub(super) data: CellData,
    /// Seconds of labeling; about 0 if stored labels were found.
    pub(super) label_seconds: f64,
}

impl GeneratedData {
    /// Generates or reads the rows and labels them, from stored labels if they exist.
    pub(super) fn new(
        problem: NamedProblem,
        split: [usize; 3],
        seed: u32,
        files: &DataFiles,
        labels: &Path,
        threads: &Threads,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let (spec, data, split) = problem.generate(split, seed, files)?;
        let store = LabelStore::for_table(&labels.join(problem.label_name(seed)));
        let started = Instant::now();
        let problem = Problem::from_spec(spec)?;
        let oracle = Oracle::new(problem.kind().clone()).with_threads(threads.clone());
        let table = MatchedTable::new(data).divided(vec![split])?;
        let labeled = table.label(&problem, &oracle, RowLabels::Stored(&store), observer)?;
        let mut splits = labeled.splits;
        Ok(Self {
            data: splits.remove(0),
            label_seconds: started.elapsed().as_secs_f64(),
        })
    }
}
