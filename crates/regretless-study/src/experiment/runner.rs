//! Runs the cells of an experiment (one per problem, method and seed) and stores their records in a
//! folder.
//!
//! Problem by problem and seed by seed: rows are generated and labeled once, then every method
//! without a record is run. Existing records are never run again; cells that are missing when the
//! time budget ends are run by the next call. The rows of a user's table exist already, so cells of
//! different seeds may run in parallel.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::cell::{CellId, CellOutcome, CellRecord, ExperimentCell};
use super::cell_context::CellContext;
use super::cell_data::{CellData, GeneratedData};
use super::example::named_layout;
use super::named_problem::{DataFiles, NamedProblem};
use super::problem_source::ProblemSource;
use super::results::ExperimentResults;
use super::spec::{Experiment, ExperimentMethod, ExperimentProblem};
use super::store::{CellFiles, CellStore};
use regretless::data::atomic_write::write_atomically;
use regretless::label::Shard;
use regretless::oracle::Oracle;
use regretless::predict::CostModel;
use regretless::problem::DecisionLayout;
use regretless_base::error::{Error, Result};
use regretless_base::observer::{InterruptOnlyObserver, Observer};
use regretless_base::parallel::Threads;

/// Runs an experiment in a folder.
#[derive(Debug, Clone)]
pub struct ExperimentRunner {
    /// What is run.
    pub experiment: Experiment,
    /// Folder of the records.
    pub folder: PathBuf,
    /// Folder of the labels of named problems; experiments with the same problem, rows and seed
    /// share them.
    pub labels: PathBuf,
    /// Files of real data.
    pub files: DataFiles,
    /// No cell starts after this time.
    pub time_budget: Option<Duration>,
    /// Only these pairs of problem and seed.
    pub shard: Option<Shard>,
    /// Threads.
    pub threads: Threads,
}

/// The model of a cell, with its rows.
pub(crate) struct FittedCell<'a> {
    pub(crate) model: CostModel,
    pub(crate) data: &'a CellData,
    /// Solves the problem of all rows.
    pub(crate) oracle: Oracle,
}

/// Cells of one problem and seed, in order; of all seeds if the rows exist already and cells run in
/// parallel.
struct CellBatch<'a> {
    problem: &'a ExperimentProblem,
    seed: u32,
    cells: Vec<ExperimentCell>,
}

/// Storage, start and observer of one call of the runner.
#[derive(Clone, Copy)]
struct RunContext<'a> {
    store: &'a dyn CellStore,
    begun: Instant,
    observer: &'a dyn Observer,
}

impl ExperimentRunner {
    /// Runs the missing cells and returns all results.
    ///
    /// # Errors
    /// When the experiment is invalid, the folder cannot be written, or the user interrupts;
    /// finished cells are kept.
    pub fn run(&self, observer: &dyn Observer) -> Result<ExperimentResults> {
        self.run_in(&self.cell_files(), observer)
    }

    /// The same with records in another storage.
    ///
    /// # Errors
    /// When the experiment is invalid, the storage fails, or the user interrupts; finished cells
    /// are kept.
    pub fn run_in(
        &self,
        store: &dyn CellStore,
        observer: &dyn Observer,
    ) -> Result<ExperimentResults> {
        self.experiment.check()?;
        let batches = self.batches(store)?;
        let context = RunContext {
            store,
            begun: Instant::now(),
            observer,
        };
        let missing: u64 = batches.iter().map(|batch| batch.cells.len() as u64).sum();
        observer.begin(&self.experiment.name, missing);
        // Failures before the first cell, such as a missing file of real data. They are shown but
        // not stored: the next call may succeed.
        let mut not_stored = Vec::new();
        for batch in &batches {
            if observer.interrupted() {
                return Err(Error::Interrupted);
            }
            if !self.is_over_budget(context.begun) && !batch.cells.is_empty() {
                self.run_batch(batch, context, &mut not_stored)?;
            }
        }
        observer.end();
        self.collect_results(store, not_stored)
    }

    /// Results of the existing records, without running anything.
    ///
    /// # Errors
    /// When the experiment is invalid.
    pub fn results(&self) -> Result<ExperimentResults> {
        self.results_in(&self.cell_files())
    }

    /// The same with records in another storage.
    ///
    /// # Errors
    /// When the experiment is invalid or the storage fails.
    pub fn results_in(&self, store: &dyn CellStore) -> Result<ExperimentResults> {
        self.experiment.check()?;
        self.collect_results(store, Vec::new())
    }

    /// All cells in order: by problem, seed and method.
    ///
    /// # Errors
    /// When a setting is invalid.
    pub fn cell_ids(&self) -> Result<Vec<CellId>> {
        let mut ids = Vec::new();
        for problem in &self.experiment.problems {
            for seed in self.seeds(problem) {
                for cell in self.cells(problem, seed)? {
                    ids.push(cell.id()?);
                }
            }
        }
        Ok(ids)
    }

    /// Fits the model of a method of a comparison again, for its first seed. None if the method has
    /// no model, and for experiments with named problems.
    ///
    /// # Errors
    /// When training fails or the user interrupts.
    pub(crate) fn fit_again(
        &self,
        method: &str,
        observer: &dyn Observer,
    ) -> Result<Option<FittedCell<'_>>> {
        let Some(problem) = self.experiment.problems.first() else {
            return Ok(None);
        };
        let ProblemSource::Table(table) = &problem.source else {
            return Ok(None);
        };
        let seed = self.experiment.first_seed_of(problem);
        let cells = self.cells(problem, seed)?;
        let Some(cell) = cells.iter().find(|cell| cell.is_of(method)) else {
            return Ok(None);
        };
        let data = table.data(seed)?;
        let oracle = table.oracle(data)?.with_threads(self.threads.clone());
        let fitted = cell.fit(data, &oracle, observer)?;
        Ok(fitted.map(|model| FittedCell {
            model,
            data,
            oracle,
        }))
    }

    fn cell_files(&self) -> CellFiles {
        CellFiles {
            folder: self.folder.clone(),
        }
    }

    fn is_over_budget(&self, begun: Instant) -> bool {
        self.time_budget
            .is_some_and(|budget| begun.elapsed() >= budget)
    }

    /// Problems and seeds of this shard with their missing cells.
    fn batches(&self, store: &dyn CellStore) -> Result<Vec<CellBatch<'_>>> {
        let pairs = self
            .experiment
            .problems
            .iter()
            .flat_map(|problem| self.seeds(problem).map(move |seed| (problem, seed)));
        let mut batches: Vec<CellBatch<'_>> = Vec::new();
        for (index, (problem, seed)) in pairs.enumerate() {
            let in_shard = self
                .shard
                // Every count-th pair, since consecutive ones are of one problem and take equally
                // long.
                .is_none_or(|shard| index % shard.count == shard.index);
            if !in_shard {
                continue;
            }
            let mut cells = Vec::new();
            for cell in self.cells(problem, seed)? {
                if store.load(&cell.id()?)?.is_none() {
                    cells.push(cell);
                }
            }
            // One batch for all seeds, so no thread waits for the last cell of a seed.
            match batches.last_mut() {
                Some(last) if self.runs_seeds_in_parallel(problem) && last.problem == problem => {
                    last.cells.append(&mut cells);
                }
                _ => batches.push(CellBatch {
                    problem,
                    seed,
                    cells,
                }),
            }
        }
        Ok(batches)
    }

    fn runs_seeds_in_parallel(&self, problem: &ExperimentProblem) -> bool {
        self.experiment.side_by_side && matches!(problem.source, ProblemSource::Table(_))
    }

    pub(super) fn seeds(&self, problem: &ExperimentProblem) -> std::ops::Range<u32> {
        let first = self.experiment.first_seed_of(problem);
        first..first.saturating_add(self.experiment.seeds_of(problem))
    }

    fn cells(&self, problem: &ExperimentProblem, seed: u32) -> Result<Vec<ExperimentCell>> {
        let methods: Vec<ExperimentMethod> = self.experiment.methods_of(problem).collect();
        methods
            .iter()
            .map(|method| ExperimentCell::new(&self.experiment, problem, method, seed))
            .collect()
    }

    /// Runs the cells of a batch. If its data cannot be prepared, the cells are reported as failed
    /// but not stored, so the next call tries again.
    fn run_batch(
        &self,
        batch: &CellBatch<'_>,
        context: RunContext<'_>,
        not_stored: &mut Vec<CellRecord>,
    ) -> Result<()> {
        let named = match &batch.problem.source {
            ProblemSource::Named(named) => *named,
            ProblemSource::Table(table) => {
                return self.run_cells(batch, |cell| table.data(cell.seed), context);
            }
        };
        context
            .observer
            .message(&format!("{named} seed {}", batch.seed));
        let generated = GeneratedData::new(
            named,
            batch.problem.split,
            batch.seed,
            &self.files,
            &self.labels,
            &self.threads,
            &InterruptOnlyObserver(context.observer),
        );
        match generated {
            Ok(generated) => {
                self.write_context(batch, named, &generated)?;
                self.run_cells(batch, |_| Ok(&generated.data), context)
            }
            Err(Error::Interrupted) => Err(Error::Interrupted),
            Err(error) => {
                for cell in &batch.cells {
                    not_stored.push(CellRecord {
                        id: cell.id()?,
                        outcome: CellOutcome::Failed(error.to_string()),
                    });
                }
                Ok(())
            }
        }
    }

    fn run_cells<'d>(
        &self,
        batch: &CellBatch<'_>,
        data: impl Fn(&ExperimentCell) -> Result<&'d CellData> + Sync,
        context: RunContext<'_>,
    ) -> Result<()> {
        // Side by side: several cells at a time, each on one thread.
        if self.experiment.side_by_side {
            self.run_in_parallel(batch, data, context)
        } else {
            self.run_sequentially(batch, data, context)
        }
    }

    /// A single-threaded oracle.
    pub(super) fn oracle(&self, problem: &ExperimentProblem, data: &CellData) -> Result<Oracle> {
        match &problem.source {
            ProblemSource::Named(_) => Ok(Oracle::new(data.problem.kind().clone())),
            ProblemSource::Table(table) => table.oracle(data),
        }
    }

    /// Runs a cell and stores its record; only interruptions and errors of the storage are errors.
    fn run_cell(
        &self,
        cell: &ExperimentCell,
        data: &CellData,
        oracle: &Oracle,
        context: RunContext<'_>,
    ) -> Result<()> {
        let id = cell.id()?;
        match cell.run(data, oracle, &InterruptOnlyObserver(context.observer)) {
            Ok(metrics) => context.store.save(CellRecord {
                id,
                outcome: CellOutcome::Done(Box::new(metrics)),
            }),
            Err(Error::Interrupted) => Err(Error::Interrupted),
            Err(error) => {
                let outcome = CellOutcome::Failed(error.to_string());
                context
                    .store
                    .save_failure(CellRecord { id, outcome }, error)
            }
        }
    }

    fn run_in_parallel<'d>(
        &self,
        batch: &CellBatch<'_>,
        data: impl Fn(&ExperimentCell) -> Result<&'d CellData> + Sync,
        context: RunContext<'_>,
    ) -> Result<()> {
        let run = |cell: &ExperimentCell| {
            if context.observer.interrupted() {
                return Err(Error::Interrupted);
            }
            if self.is_over_budget(context.begun) {
                return Ok(());
            }
            let data = data(cell)?;
            let oracle = self.oracle(batch.problem, data)?;
            let outcome = self.run_cell(cell, data, &oracle, context);
            context.observer.advance(1);
            outcome
        };
        let mut outcomes: Vec<Result<()>> = batch.cells.iter().map(|_| Ok(())).collect();
        let expected_work = |index: usize| {
            if self.runs_seeds_in_parallel(batch.problem) {
                // Seed by seed, so an interrupted experiment has complete seeds.
                0.0
            } else {
                // A long cell that starts last would leave the other threads idle.
                batch.cells[index].estimated_solves_per_row()
            }
        };
        self.threads.fill_longest_first(
            &mut outcomes,
            expected_work,
            || (),
            |(), index, outcome| *outcome = run(&batch.cells[index]),
        );
        outcomes.into_iter().collect()
    }

    fn run_sequentially<'d>(
        &self,
        batch: &CellBatch<'_>,
        data: impl Fn(&ExperimentCell) -> Result<&'d CellData>,
        context: RunContext<'_>,
    ) -> Result<()> {
        let Some(first) = batch.cells.first() else {
            return Ok(());
        };
        let data = data(first)?;
        let oracle = self
            .oracle(batch.problem, data)?
            .with_threads(self.threads.clone());
        for cell in &batch.cells {
            if self.is_over_budget(context.begun) {
                return Ok(());
            }
            let CellId {
                problem,
                name,
                seed,
                ..
            } = cell.id()?;
            context
                .observer
                .message(&format!("{problem} seed {seed} {name}"));
            self.run_cell(cell, data, &oracle, context)?;
            context.observer.advance(1);
        }
        Ok(())
    }

    fn context_file(&self, problem: &ExperimentProblem, seed: u32) -> PathBuf {
        let [train, validation, test] = problem.split;
        self.folder
            .join("cells")
            .join(problem.source.to_string())
            .join(format!("context-{seed}-{train}-{validation}-{test}.json"))
    }

    fn write_context(
        &self,
        batch: &CellBatch<'_>,
        problem: NamedProblem,
        generated: &GeneratedData,
    ) -> Result<()> {
        let file = self.context_file(batch.problem, batch.seed);
        if file.exists() {
            return Ok(());
        }
        if let Some(parent) = file.parent() {
            std::fs::create_dir_all(parent).map_err(Error::io(parent))?;
        }
        let data = &generated.data;
        let layout = named_layout(data.problem.spec(), problem, batch.seed);
        let has_examples = batch.seed == self.experiment.first_seed_of(batch.problem);
        let context = CellContext::new(data, Some(generated.label_seconds), has_examples, layout);
        write_atomically(&file, true, |out| {
            serde_json::to_writer(out, &context).map_err(Into::into)
        })
    }

    pub(super) fn read_context(
        &self,
        problem: &ExperimentProblem,
        seed: u32,
    ) -> Option<CellContext> {
        if let ProblemSource::Table(table) = &problem.source {
            let data = table.data(seed).ok()?;
            let layout = DecisionLayout::of_problem(data.problem.spec());
            let has_examples = seed == self.experiment.first_seed_of(problem);
            return Some(CellContext::new(data, None, has_examples, layout));
        }
        let text = std::fs::read(self.context_file(problem, seed)).ok()?;
        serde_json::from_slice(&text).ok()
    }

    fn collect_results(
        &self,
        store: &dyn CellStore,
        mut records: Vec<CellRecord>,
    ) -> Result<ExperimentResults> {
        for id in self.cell_ids()? {
            records.extend(store.load(&id)?);
        }
        Ok(ExperimentResults::new(self, &records))
    }
}
