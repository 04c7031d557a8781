//! Training data: labeled rows, their split, and their problem.
//!
//! Benchmark data are generated for each seed: `--seed 3` trains on the table that `generate --seed
//! 3` writes. A user's table is the same for all seeds; its random split depends on the seed.

use std::path::PathBuf;
use std::sync::Arc;

use regretless::data::SyntheticSpec;
use regretless::data::{Dataset, SplitIndices, SplitRule};
use regretless::experiment::CellData;
use regretless::label::LabeledDataset;
use regretless::problem::Benchmark;
use regretless::{Error, Problem, Result};

use super::{CommandContext, labeled, oracle, store};
use crate::args::{DataOptions, ExecutionOptions, ProblemOptions};
use crate::input::{in_file, load_problem, table_source};
use crate::output::grouped;

/// Rows to train, validate and test on of benchmark data.
const BENCHMARK_SPLIT: SplitRule = SplitRule::Counts([1000, 400, 600]);
/// Rows of benchmark data where the split is given as fractions.
const DEFAULT_BENCHMARK_ROWS: usize = 2000;

/// Rows to train, validate and test, for people.
pub fn rows_text(split: &SplitIndices) -> String {
    let [train, validation, test] = split.counts().map(|rows| grouped(rows as u64));
    format!("{train}/{validation}/{test} rows")
}

/// The default split.
pub fn standard_split(data: &DataOptions, problem: &ProblemOptions) -> Result<SplitRule> {
    match (problem.benchmark, data.is_given()) {
        (Some(_), true) => Err(Error::setting("--benchmark brings its own data")
            .with_remedy("drop it and give --problem, or drop --data")),
        (Some(_), false) if problem.problem.is_some() => {
            Err(Error::setting("--benchmark brings its own problem")
                .with_remedy("drop it and give --data, or drop --problem"))
        }
        (Some(_), false) => Ok(BENCHMARK_SPLIT),
        (None, true) => Ok(SplitRule::DEFAULT),
        (None, false) => {
            Err(Error::setting("no data")
                .with_remedy("give --data and --problem, or --benchmark KS32"))
        }
    }
}

/// Where labeled rows come from.
pub struct DataSource<'a> {
    split: SplitRule,
    execution: &'a ExecutionOptions,
    context: &'a CommandContext,
    origin: DataOrigin,
}

enum DataOrigin {
    Benchmark(Benchmark),
    Table(Box<UserTable>),
}

/// A user's table, read but not labeled.
struct UserTable {
    problem: Problem,
    data: Dataset,
    file: PathBuf,
}

impl<'a> DataSource<'a> {
    /// Reads the user's table and problem, if there are any.
    pub fn open(
        data: &DataOptions,
        problem: &ProblemOptions,
        split: Option<SplitRule>,
        execution: &'a ExecutionOptions,
        context: &'a CommandContext,
    ) -> Result<Self> {
        let standard = standard_split(data, problem)?;
        let origin = match problem.benchmark {
            Some(benchmark) => DataOrigin::Benchmark(benchmark),
            None => {
                let missing = || {
                    Error::setting("--problem is missing")
                        .with_remedy("give a problem file, as generate writes one")
                };
                let problem = load_problem(problem.problem.as_ref().ok_or_else(missing)?)?;
                let source = table_source(data)?;
                let (mut data, file) = (source.read()?, source.costs_file().to_path_buf());
                context.match_table(&mut data, &file, &problem)?;
                context.hint_at_storage(&source, &data);
                DataOrigin::Table(Box::new(UserTable {
                    problem,
                    data,
                    file,
                }))
            }
        };
        Ok(Self {
            split: split.unwrap_or(standard),
            execution,
            context,
            origin,
        })
    }

    /// The labeled and divided rows of some seeds, in their order.
    pub fn data_splits(self, seeds: impl Iterator<Item = u32>) -> Result<Vec<CellData>> {
        let Self {
            split,
            execution,
            context,
            origin,
        } = self;
        match origin {
            DataOrigin::Benchmark(benchmark) => {
                let rows = split.rows().unwrap_or(DEFAULT_BENCHMARK_ROWS);
                let data_split = |seed| {
                    let (spec, data) = benchmark.generate(SyntheticSpec::paper(rows, seed))?;
                    let problem = Problem::from_spec(spec)?;
                    let data = LabeledDataset::solve(
                        data,
                        &oracle(&problem, execution)?,
                        &context.progress,
                    )?;
                    let split = split.with_seed(u64::from(seed)).apply(data.len())?;
                    Ok(CellData {
                        problem,
                        data: Arc::new(data),
                        split,
                    })
                };
                seeds.map(data_split).collect()
            }
            DataOrigin::Table(table) => {
                let UserTable {
                    problem,
                    data,
                    file,
                } = *table;
                let seeds: Vec<u32> = seeds.collect();
                let split = |seed: &u32| split.with_seed(u64::from(*seed)).apply(data.len());
                let splits = seeds.iter().map(split).collect::<Result<Vec<_>>>()?;
                let labels = store(&file, execution);
                let labeled = labeled(
                    data,
                    &labels,
                    &problem,
                    &oracle(&problem, execution)?,
                    context,
                );
                let data = Arc::new(labeled.map_err(in_file(&file))?.0);
                let rows = data.rows();
                let data_split = |split: SplitIndices| {
                    Ok(CellData {
                        problem: problem.clone(),
                        data: data.clone(),
                        split: split.restrict_to(&rows)?,
                    })
                };
                splits.into_iter().map(data_split).collect()
            }
        }
    }
}
