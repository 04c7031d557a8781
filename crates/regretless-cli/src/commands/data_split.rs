//! Training data: labeled rows, their split, and their problem.
//!
//! Benchmark data are generated for each seed: `--seed 3` trains on the table that `generate --seed
//! 3` writes. A user's table is the same for all seeds; its random split depends on the seed.

use regretless::data::{
    DataCheck, Finding, InstanceKeys, SplitIndices, SplitRule, SyntheticSpec, TableSource,
};
use regretless::job::{LabeledTable, MatchedTable};
use regretless::problem::Benchmark;
use regretless::{Error, Problem, Result};
use regretless_study::experiment::CellData;
use regretless_study::table_report::{DataFindings, SkippedRows, UnusedColumns};

use super::{CommandContext, labeled, oracle};
use crate::args::{DataOptions, ExecutionOptions, ProblemOptions};
use crate::input::{in_file, keys_of_table, table_and_problem, table_source};

/// Rows to train, validate and test on of benchmark data.
const BENCHMARK_SPLIT: SplitRule = SplitRule::Counts([1000, 400, 600]);
/// Rows of benchmark data if the split is given as fractions.
const DEFAULT_BENCHMARK_ROWS: usize = 2000;

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

/// The data of each seed.
pub struct LabeledSplits {
    /// Labeled and divided rows, in the order of the seeds.
    pub cells: Vec<CellData>,
    /// Rows of the table that have no label and are in no part.
    pub skipped_rows: SkippedRows,
    /// The user's table, which is checked; none for benchmarks.
    pub table: Option<CheckedTable>,
}

/// A user's table and how it is divided, for the data check.
pub struct CheckedTable {
    source: TableSource,
    split: SplitRule,
}

impl LabeledSplits {
    /// Runs the data check of a user's table.
    pub fn check(&self, check: DataCheck<'_>) -> Result<Vec<Finding>> {
        match &self.table {
            Some(table) => table.source.check(check, table.split.time_column()),
            None => Ok(Vec::new()),
        }
    }

    /// What the check found in a user's table.
    pub fn findings(&self, findings: Vec<Finding>) -> Option<DataFindings> {
        self.table.is_some().then(|| findings.into())
    }
}

enum DataOrigin {
    Benchmark(Benchmark),
    Table(Box<UserTable>),
}

/// A user's table, read but not labeled.
struct UserTable {
    problem: Problem,
    table: MatchedTable,
    source: TableSource,
    unused_columns: UnusedColumns,
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
                let problem = problem.problem.as_ref().ok_or_else(missing)?;
                let source = table_source(data)?;
                let (problem, data) = table_and_problem(&source, problem)?;
                let time_column = match &split {
                    Some(SplitRule::Time { column, .. }) => Some(column.as_str()),
                    _ => None,
                };
                let unused_columns =
                    context.unused_columns(&source, &data, time_column.as_slice())?;
                let table = context.open_table(data, source.costs_file(), &problem)?;
                context.hint_at_storage(&source, table.data());
                DataOrigin::Table(Box::new(UserTable {
                    problem,
                    table,
                    source,
                    unused_columns,
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

    /// The split by time that is suggested if the user's table has a column of dates.
    pub fn time_split(&self) -> Result<Option<String>> {
        let DataOrigin::Table(table) = &self.origin else {
            return Ok(None);
        };
        time_split(&table.source)
    }

    /// Names of the columns that features are made of in the user's table; `None` for built-in data
    /// and for arrays, which have no names.
    pub fn feature_names(&self) -> Option<Vec<String>> {
        match &self.origin {
            DataOrigin::Table(user) => match user.source {
                TableSource::Csv { .. } | TableSource::CsvPair { .. } => {
                    Some(user.table.data().features().column_names())
                }
                TableSource::Npy { .. } => None,
            },
            DataOrigin::Benchmark(_) => None,
        }
    }

    /// How the user calls the rows of a table: by the column of a split by time, by a column of
    /// dates, or by the instances of a long table; `None` if they have only numbers.
    pub fn row_keys(&self) -> Result<Option<InstanceKeys>> {
        let DataOrigin::Table(user) = &self.origin else {
            return Ok(None);
        };
        let column = match &self.split {
            SplitRule::Time { column, .. } => Some(column.clone()),
            SplitRule::Fractions(_) | SplitRule::Ordered(_) | SplitRule::Counts(_) => {
                user.source.date_column()?
            }
        };
        let rows = user.table.data().len();
        let keys = keys_of_table(&user.source, column.as_deref(), rows)?;
        let has_names = column.is_some() || keys != InstanceKeys::numbered(rows);
        Ok(has_names.then_some(keys))
    }

    /// Columns of the user's table that are not used.
    pub fn unused_columns(&self) -> UnusedColumns {
        match &self.origin {
            DataOrigin::Table(table) => table.unused_columns.clone(),
            DataOrigin::Benchmark(_) => UnusedColumns::default(),
        }
    }

    /// The labeled and divided rows of some seeds, in their order.
    pub fn data_splits(self, seeds: impl Iterator<Item = u32>) -> Result<LabeledSplits> {
        let Self {
            split,
            execution,
            context,
            origin,
        } = self;
        match origin {
            DataOrigin::Benchmark(benchmark) => {
                let cells =
                    seeds.map(|seed| generated(benchmark, &split, seed, execution, context));
                Ok(LabeledSplits {
                    cells: cells.collect::<Result<_>>()?,
                    skipped_rows: SkippedRows::default(),
                    table: None,
                })
            }
            DataOrigin::Table(user) => {
                let UserTable {
                    problem,
                    table,
                    source,
                    ..
                } = *user;
                let seeds: Vec<u32> = seeds.collect();
                let splits = table_splits(&split, &source, table.data().len(), &seeds)?;
                let table = table
                    .divided(splits)
                    .map_err(in_file(source.costs_file()))?;
                let labeled = labeled(table, &source, &problem, execution, context)?;
                Ok(LabeledSplits {
                    cells: labeled.table.splits,
                    skipped_rows: labeled.skipped_rows,
                    table: Some(CheckedTable { source, split }),
                })
            }
        }
    }
}

/// The rows of a benchmark for one seed.
fn generated(
    benchmark: Benchmark,
    split: &SplitRule,
    seed: u32,
    execution: &ExecutionOptions,
    context: &CommandContext,
) -> Result<CellData> {
    let rows = split.rows().unwrap_or(DEFAULT_BENCHMARK_ROWS);
    let (spec, data) = benchmark.generate(SyntheticSpec::paper(rows, seed))?;
    let problem = Problem::from_spec(spec)?;
    let oracle = oracle(&problem, &data, execution)?;
    let data = data.split(split.with_seed(u64::from(seed)))?;
    let table = LabeledTable::of_split(&data, &problem, &oracle, &context.progress)?;
    let mut splits = table.splits;
    Ok(splits.remove(0))
}

/// The rows of each seed; only a random split depends on the seed.
fn table_splits(
    split: &SplitRule,
    source: &TableSource,
    rows: usize,
    seeds: &[u32],
) -> Result<Vec<SplitIndices>> {
    let divide = |seed: u32| source.split(&split.with_seed(u64::from(seed)), rows);
    match split {
        SplitRule::Fractions(_) => seeds.iter().map(|seed| divide(*seed)).collect(),
        SplitRule::Ordered(_) | SplitRule::Counts(_) | SplitRule::Time { .. } => {
            Ok(vec![divide(0)?; seeds.len()])
        }
    }
}

/// The split by time that is suggested if a table has a column of dates.
pub fn time_split(source: &TableSource) -> Result<Option<String>> {
    let column = source.date_column()?;
    Ok(column.map(|column| format!("--split 'time:{column}'")))
}
