//! [`DataSplit`]: a table divided into rows for training, validation and test, labeled on demand.

use std::sync::{Arc, PoisonError, RwLock};

use self::row::RowSource;
use super::{LabelStore, LabeledDataset, LabeledSplit};
use crate::data::{
    CostMatching, CostNames, Dataset, FeatureEncoding, Features, NamedCosts, RowParameters, Split,
    SplitIndices,
};
use crate::error::{Error, Result};
use crate::observer::Observer;
use crate::oracle::Oracle;
use crate::problem::{Problem, ProblemKind};

mod row;

pub(crate) use self::row::FeatureLayout;
pub use self::row::Row;

/// A table divided into three parts. Labels, the optimal decisions of the rows, are computed when
/// a training or an evaluation first needs them.
///
/// ```
/// use regretless::{Dataset, Problem, Split};
///
/// let problem = Problem::benchmark("SP3x3")?;
/// let data = Dataset::generate(&problem, 100)?
///     .split(Split::random(0).train(0.6).validation(0.2))?;
/// assert_eq!(data.train().len(), 60);
/// assert_eq!(data.validation().len(), 20);
/// assert_eq!(data.test().len(), 20);
/// # Ok::<(), regretless::Error>(())
/// ```
#[derive(Debug)]
pub struct DataSplit {
    table: RwLock<Table>,
    indices: SplitIndices,
    store: Option<LabelStore>,
}

/// The table before and after labeling.
#[derive(Debug, Clone)]
enum Table {
    Unlabeled(Arc<Dataset>),
    Labeled {
        data: Arc<LabeledDataset>,
        problem: Box<Problem>,
    },
}

impl Dataset {
    /// Divides the rows. Columns of text, dates and gaps are encoded by what the training rows say.
    ///
    /// # Errors
    /// When the table is too short or no row is left for training, or when the rows are split by
    /// time: the table does not have the times ([`Dataset::split_by`] takes them).
    #[expect(
        clippy::needless_pass_by_value,
        reason = "a split is built where it is passed"
    )]
    pub fn split(self, split: Split) -> Result<DataSplit> {
        let indices = split.apply(self.len())?;
        self.split_by(indices)
    }

    /// Divides the rows by their numbers, for instance those of
    /// [`Split::apply_to_times`](crate::Split::apply_to_times).
    ///
    /// ```
    /// use regretless::{Dataset, Problem, Split};
    ///
    /// let data = Dataset::generate(&Problem::benchmark("SP3x3")?, 3)?;
    /// let days = ["2026-01-01", "2026-01-02", "2026-01-03"];
    /// let data = data.split_by(Split::by_time("day").apply_to_times(&days)?)?;
    /// assert_eq!(data.test().rows(), [2]);
    /// # Ok::<(), regretless::Error>(())
    /// ```
    ///
    /// # Errors
    /// When a row does not exist or there is no row for training.
    pub fn split_by(self, indices: SplitIndices) -> Result<DataSplit> {
        let parts = [&indices.train, &indices.validation, &indices.test];
        if let Some(row) = parts.into_iter().flatten().find(|row| **row >= self.len()) {
            let remedy = format!("the table has {} rows", self.len());
            return Err(Error::setting(format!("row {row} does not exist")).with_remedy(remedy));
        }
        if indices.train.is_empty() {
            return Err(Error::setting("no row is left to train on"));
        }
        let data = self.encoded(&indices.train)?;
        Ok(DataSplit {
            table: RwLock::new(Table::Unlabeled(Arc::new(data))),
            indices,
            store: None,
        })
    }
}

impl DataSplit {
    /// Rows that have their labels already.
    ///
    /// # Errors
    /// When no row with a label is left for training.
    pub fn from_labeled(
        data: Arc<LabeledDataset>,
        problem: &Problem,
        indices: SplitIndices,
    ) -> Result<Self> {
        let labeled = LabeledSplit::new(problem.clone(), data, indices)?;
        let table = Table::Labeled {
            data: labeled.data,
            problem: Box::new(labeled.problem),
        };
        Ok(Self {
            table: RwLock::new(table),
            indices: labeled.split,
            store: None,
        })
    }

    /// How the columns of the table became features; none if they are the features.
    pub fn encoding(&self) -> Option<Arc<FeatureEncoding>> {
        self.with_table(|data| data.features().encoding().cloned())
    }

    /// Values that no training row has and gaps that were handled in encoding, for people.
    pub fn encoding_notes(&self) -> Vec<String> {
        self.with_table(|data| data.features().encoding_notes().to_vec())
    }

    /// How the costs of the table are matched to those of a problem.
    pub(crate) fn matching(&self, problem: &dyn ProblemKind) -> Result<(CostNames, CostMatching)> {
        self.with_table(|data| {
            let names = data.cost_names();
            let matching =
                CostMatching::with_problem(NamedCosts::new("the table", names), problem)?;
            Ok((names.clone(), matching))
        })
    }

    /// Keeps labels in a folder, so no row is solved twice.
    #[must_use]
    pub fn keep_labels(mut self, store: LabelStore) -> Self {
        self.store = Some(store);
        self
    }

    /// Row numbers of the three parts.
    pub fn indices(&self) -> &SplitIndices {
        &self.indices
    }

    /// The rows that parameters are fitted on.
    pub fn train(&self) -> DataPart<'_> {
        self.part(&self.indices.train)
    }

    /// The rows that select the best epoch.
    pub fn validation(&self) -> DataPart<'_> {
        self.part(&self.indices.validation)
    }

    /// The rows that no training uses.
    pub fn test(&self) -> DataPart<'_> {
        self.part(&self.indices.test)
    }

    fn part<'a>(&'a self, rows: &'a [usize]) -> DataPart<'a> {
        DataPart { data: self, rows }
    }

    /// The table with labels for a problem: computed on the first call, kept for the next ones.
    ///
    /// # Errors
    /// When the table does not fit the problem or was labeled for another one, a row has no
    /// feasible decision, or the user interrupts.
    pub fn label(
        &self,
        problem: &Problem,
        oracle: &Oracle,
        observer: &dyn Observer,
    ) -> Result<Arc<LabeledDataset>> {
        // Held while solving: two threads that need labels do not solve them twice.
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        let unlabeled = match &*table {
            Table::Labeled {
                data,
                problem: known,
            } if known.has_same_labels(problem) => {
                // The same labels, though settings of the search may differ.
                return Ok(Arc::clone(data));
            }
            Table::Labeled { .. } => {
                let name = problem.name();
                return Err(Error::data(format!(
                    "the table was labeled for another problem than {name}"
                )));
            }
            Table::Unlabeled(data) => Dataset::clone(data),
        };
        let labeled = match &self.store {
            Some(store) => {
                let (labeled, report) = store.label(unlabeled, problem.spec(), oracle, observer)?;
                // A row without a label must not be dropped from trainings and evaluations
                // silently.
                if let Some((row, failure)) = report.failed.into_iter().next() {
                    return Err(Error::solver(row, failure));
                }
                labeled
            }
            None => LabeledDataset::solve(unlabeled, oracle, observer)?,
        };
        let data = Arc::new(labeled);
        *table = Table::Labeled {
            data: Arc::clone(&data),
            problem: Box::new(problem.clone()),
        };
        Ok(data)
    }

    /// The problem for this table: with the names of its parameter columns, by which a model finds
    /// them in other tables.
    ///
    /// # Errors
    /// When the problem cannot serve the instances of the table.
    pub(crate) fn problem_for_table(&self, problem: &Problem) -> Result<Problem> {
        self.with_table(|data| problem.for_table(data))
    }

    /// An oracle for the rows of this table, if the feasible sets of a problem differ between rows.
    ///
    /// # Errors
    /// When the table lacks a parameter of the problem.
    pub fn bind(&self, oracle: Oracle) -> Result<Oracle> {
        match &*self.table.read().unwrap_or_else(PoisonError::into_inner) {
            Table::Unlabeled(data) => oracle.for_dataset(data),
            Table::Labeled { data, .. } => oracle.with_parameters(data.data().parameters()),
        }
    }

    /// Features of one instance.
    fn features(&self, instance: usize) -> Features {
        self.with_table(|data| data.features().select_rows(&[instance]))
    }

    /// Parameters of one instance, in the order of the problem's costs.
    fn parameters(
        &self,
        instance: usize,
        problem: &dyn ProblemKind,
    ) -> Result<Option<Arc<RowParameters>>> {
        self.with_table(|data| {
            let names = NamedCosts::new("the table", data.cost_names());
            let matching = CostMatching::with_problem(names, problem)?;
            Ok(data.parameters().map(|parameters| {
                let mut row = parameters.select_rows(&[instance]);
                if let Some(order) = matching.order() {
                    row.reorder_items(order);
                }
                Arc::new(row)
            }))
        })
    }

    fn with_table<T>(&self, read: impl FnOnce(&Dataset) -> T) -> T {
        match &*self.table.read().unwrap_or_else(PoisonError::into_inner) {
            Table::Unlabeled(data) => read(data),
            Table::Labeled { data, .. } => read(data.data()),
        }
    }
}

/// The rows of one part of a [`DataSplit`].
///
/// ```
/// use regretless::{DataPart, Dataset, Problem, Split};
///
/// let problem = Problem::benchmark("KS32")?;
/// let data = Dataset::generate(&problem, 20)?.split(Split::random(0).train(0.5))?;
/// let test: DataPart = data.test();
/// assert_eq!(test.len(), test.rows().len());
/// assert_eq!(data.train().len() + data.validation().len() + test.len(), 20);
/// # Ok::<(), regretless::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct DataPart<'a> {
    data: &'a DataSplit,
    rows: &'a [usize],
}

impl<'a> DataPart<'a> {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether the part has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Row numbers in the table.
    pub fn rows(&self) -> &'a [usize] {
        self.rows
    }

    /// The table that the part belongs to.
    pub fn data(&self) -> &'a DataSplit {
        self.data
    }

    /// One row by its position in the part. Whether it exists is checked where it is used.
    pub fn row(&self, position: usize) -> Row<'a> {
        Row(RowSource::Instance {
            data: self.data,
            rows: self.rows,
            position,
        })
    }
}

#[cfg(test)]
mod tests;
