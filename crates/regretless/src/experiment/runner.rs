//! Runs the cells of an experiment and stores their records in a folder.
//!
//! Problem by problem and seed by seed: rows are generated and labeled once, then every method
//! without a record is run. Existing records are never run again; cells that are missing when the
//! time budget ends are run by the next call.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::cell::{CellOutcome, CellRecord, ExperimentCell};
use super::cell_data::CellData;
use super::example::{DecisionLayout, Example, examples};
use super::problem_source::DataFiles;
use super::results::ExperimentResults;
use super::spec::{Experiment, ExperimentMethod, ExperimentProblem};
use crate::data::atomic_write::write_atomically;
use crate::error::{Error, Result};
use crate::label::Shard;
use crate::observer::{InterruptOnlyObserver, Observer};
use crate::oracle::Oracle;
use crate::parallel::Threads;
use crate::problem::ProblemSpec;

/// Limits of one call.
#[derive(Debug, Clone, Default)]
pub struct RunLimits {
    /// No cell starts after this time.
    pub budget: Option<Duration>,
    /// Only these pairs of problem and seed.
    pub shard: Option<Shard>,
}

/// Runs an experiment in a folder.
#[derive(Debug, Clone)]
pub struct ExperimentRunner {
    /// What is run.
    pub experiment: Experiment,
    /// Folder of the records.
    pub folder: PathBuf,
    /// Folder of the labels; experiments with the same problem, rows and seed share them.
    pub labels: PathBuf,
    /// Files of real data.
    pub files: DataFiles,
    /// Time budget and shard.
    pub limits: RunLimits,
    /// Threads.
    pub threads: Threads,
}

/// Data of a problem and seed that its cells share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct CellContext {
    pub(super) costs: usize,
    pub(super) label_seconds: f64,
    pub(super) drawing: Option<DecisionLayout>,
    pub(super) examples: Vec<Example>,
}

/// Cells of one problem and seed.
struct CellBatch<'a> {
    problem: &'a ExperimentProblem,
    seed: u32,
    cells: Vec<ExperimentCell>,
}

impl ExperimentRunner {
    /// Runs the missing cells and returns all results.
    ///
    /// # Errors
    /// When the experiment is invalid, the folder cannot be written, or the user interrupts;
    /// finished cells are kept.
    pub fn run(&self, observer: &dyn Observer) -> Result<ExperimentResults> {
        self.experiment.check()?;
        let batches = self.batches()?;
        let begun = Instant::now();
        let missing: u64 = batches.iter().map(|batch| batch.cells.len() as u64).sum();
        observer.begin(&self.experiment.name, missing);
        let mut refused = Vec::new();
        for batch in &batches {
            if observer.interrupted() {
                return Err(Error::Interrupted);
            }
            if !self.is_over_budget(begun) && !batch.cells.is_empty() {
                self.run_batch(batch, begun, &mut refused, observer)?;
            }
        }
        observer.end();
        self.collect_results(refused)
    }

    /// Results of the existing records, without running anything.
    ///
    /// # Errors
    /// When the experiment is invalid.
    pub fn results(&self) -> Result<ExperimentResults> {
        self.experiment.check()?;
        self.collect_results(Vec::new())
    }

    fn is_over_budget(&self, begun: Instant) -> bool {
        self.limits
            .budget
            .is_some_and(|budget| begun.elapsed() >= budget)
    }

    /// Problems and seeds of this shard with their missing cells.
    fn batches(&self) -> Result<Vec<CellBatch<'_>>> {
        let pairs = self
            .experiment
            .problems
            .iter()
            .flat_map(|problem| self.seeds(problem).map(move |seed| (problem, seed)));
        let mut batches = Vec::new();
        for (index, (problem, seed)) in pairs.enumerate() {
            let in_shard = self
                .limits
                .shard
                .is_none_or(|shard| index % shard.count == shard.index);
            if !in_shard {
                continue;
            }
            let mut cells = Vec::new();
            for cell in self.cells(problem, seed)? {
                if cell.load(&self.folder)?.is_none() {
                    cells.push(cell);
                }
            }
            batches.push(CellBatch {
                problem,
                seed,
                cells,
            });
        }
        Ok(batches)
    }

    pub(super) fn seeds(&self, problem: &ExperimentProblem) -> std::ops::Range<u32> {
        0..self.experiment.seeds_of(problem)
    }

    fn cells(&self, problem: &ExperimentProblem, seed: u32) -> Result<Vec<ExperimentCell>> {
        let methods: Vec<ExperimentMethod> = self.experiment.methods_of(problem).collect();
        methods
            .iter()
            .map(|method| ExperimentCell::new(&self.experiment, problem, method, seed))
            .collect()
    }

    /// Runs the cells of a batch. Where its data cannot be prepared, the cells are reported as
    /// failed but not stored, so that the next call tries again.
    fn run_batch(
        &self,
        batch: &CellBatch<'_>,
        begun: Instant,
        refused: &mut Vec<CellRecord>,
        observer: &dyn Observer,
    ) -> Result<()> {
        observer.message(&format!("{} seed {}", batch.problem.name, batch.seed));
        let oracle =
            |problem: &ProblemSpec| Ok(self.oracle(problem)?.with_threads(self.threads.clone()));
        let data = CellData::generate(
            batch.problem,
            batch.seed,
            &self.files,
            &self.labels,
            oracle,
            &InterruptOnlyObserver(observer),
        );
        let data = match data {
            Ok(data) => data,
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(error) => {
                for cell in &batch.cells {
                    let (problem, name, key) =
                        (cell.problem.clone(), cell.name.clone(), cell.key()?);
                    refused.push(CellRecord {
                        key,
                        problem,
                        name,
                        seed: cell.seed,
                        outcome: CellOutcome::Failed(error.to_string()),
                    });
                }
                return Ok(());
            }
        };
        self.write_context(batch, &data)?;
        if self.experiment.side_by_side {
            self.run_in_parallel(batch, &data, observer)
        } else {
            self.run_sequentially(batch, &data, begun, observer)
        }
    }

    fn oracle(&self, problem: &ProblemSpec) -> Result<Oracle> {
        Ok(Oracle::new(problem.build()?))
    }

    fn run_in_parallel(
        &self,
        batch: &CellBatch<'_>,
        data: &CellData,
        observer: &dyn Observer,
    ) -> Result<()> {
        let run = |cell: &ExperimentCell| {
            if observer.interrupted() {
                return Err(Error::Interrupted);
            }
            let record = cell.run(
                data,
                &self.oracle(&data.problem)?,
                &self.folder,
                &InterruptOnlyObserver(observer),
            );
            observer.advance(1);
            record.map(drop)
        };
        let mut ends: Vec<Result<()>> = batch.cells.iter().map(|_| Ok(())).collect();
        // A long cell that starts last would leave the other threads idle.
        let expected = |place: usize| batch.cells[place].estimated_solver_calls();
        self.threads.fill_longest_first(
            &mut ends,
            expected,
            || (),
            |(), place, end| *end = run(&batch.cells[place]),
        );
        ends.into_iter().collect()
    }

    fn run_sequentially(
        &self,
        batch: &CellBatch<'_>,
        data: &CellData,
        begun: Instant,
        observer: &dyn Observer,
    ) -> Result<()> {
        let oracle = self
            .oracle(&data.problem)?
            .with_threads(self.threads.clone());
        for cell in &batch.cells {
            if self.is_over_budget(begun) {
                return Ok(());
            }
            observer.message(&format!(
                "{} seed {} {}",
                cell.problem, cell.seed, cell.name
            ));
            cell.run(
                data,
                &oracle,
                &self.folder,
                &InterruptOnlyObserver(observer),
            )?;
            observer.advance(1);
        }
        Ok(())
    }

    fn context_file(&self, problem: &ExperimentProblem, seed: u32) -> PathBuf {
        let [train, validation, test] = problem.split;
        self.folder
            .join("cells")
            .join(problem.name.to_string())
            .join(format!("scene-{seed}-{train}-{validation}-{test}.json"))
    }

    fn write_context(&self, batch: &CellBatch<'_>, data: &CellData) -> Result<()> {
        let file = self.context_file(batch.problem, batch.seed);
        if file.exists() {
            return Ok(());
        }
        if let Some(parent) = file.parent() {
            std::fs::create_dir_all(parent).map_err(Error::io(parent))?;
        }
        let first = batch.seed == 0;
        let context = CellContext {
            costs: data.data.data().costs().cols(),
            label_seconds: data.label_seconds,
            drawing: if first {
                data.drawing(batch.problem.name, batch.seed)
            } else {
                None
            },
            examples: if first {
                examples(&data.data, &data.split.test)
            } else {
                Vec::new()
            },
        };
        write_atomically(&file, true, |out| {
            serde_json::to_writer(out, &context).map_err(Into::into)
        })
    }

    pub(super) fn read_context(
        &self,
        problem: &ExperimentProblem,
        seed: u32,
    ) -> Option<CellContext> {
        let text = std::fs::read(self.context_file(problem, seed)).ok()?;
        serde_json::from_slice(&text).ok()
    }

    fn collect_results(&self, mut records: Vec<CellRecord>) -> Result<ExperimentResults> {
        for problem in &self.experiment.problems {
            for seed in self.seeds(problem) {
                for cell in self.cells(problem, seed)? {
                    records.extend(cell.load(&self.folder)?);
                }
            }
        }
        Ok(ExperimentResults::of(self, &records))
    }
}
