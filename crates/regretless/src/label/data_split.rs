//! [`DataSplit`]: a table divided into rows for training, validation and test, labeled on demand.

use std::sync::{Arc, PoisonError, RwLock};

use super::{LabelStore, LabeledDataset};
use crate::data::{Dataset, FeatureShape, Features, Matrix, Split, SplitIndices};
use crate::error::{Error, Result};
use crate::observer::Observer;
use crate::oracle::Oracle;
use crate::problem::{Problem, ProblemSpec};

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
        problem: ProblemSpec,
    },
}

impl Dataset {
    /// Divides the rows.
    ///
    /// # Errors
    /// When the table is too short or no row is left for training.
    pub fn split(self, split: Split) -> Result<DataSplit> {
        let indices = split.apply(self.len())?;
        Ok(DataSplit {
            table: RwLock::new(Table::Unlabeled(Arc::new(self))),
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
        let indices = indices.restrict_to(&data.rows())?;
        let problem = problem.spec().clone();
        Ok(Self {
            table: RwLock::new(Table::Labeled { data, problem }),
            indices,
            store: None,
        })
    }

    /// Keeps labels in a folder, so that no row is solved twice.
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
    /// When the table does not fit the problem, was labeled for another one, no row has a feasible
    /// decision, or the user interrupts.
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
            } if known == problem.spec() => {
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
            Some(store) => store.label(unlabeled, problem.spec(), oracle, observer)?.0,
            None => LabeledDataset::solve_feasible(unlabeled, oracle, observer)?.0,
        };
        let data = Arc::new(labeled);
        *table = Table::Labeled {
            data: Arc::clone(&data),
            problem: problem.spec().clone(),
        };
        Ok(data)
    }

    /// Features of one instance.
    fn features(&self, instance: usize) -> Features {
        match &*self.table.read().unwrap_or_else(PoisonError::into_inner) {
            Table::Unlabeled(data) => data.features().select_rows(&[instance]),
            Table::Labeled { data, .. } => data.data().features().select_rows(&[instance]),
        }
    }
}

/// The rows of one part of a [`DataSplit`].
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

/// One row to decide for: its features.
///
/// ```
/// use regretless::Row;
///
/// let new_day = Row::from([0.4, 1.0, -2.5].as_slice());
/// # let _ = new_day;
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Row<'a>(RowSource<'a>);

#[derive(Debug, Clone, Copy)]
enum RowSource<'a> {
    /// Feature values in the order the model was trained on.
    Values(&'a [f64]),
    /// A row of a table.
    Instance {
        data: &'a DataSplit,
        rows: &'a [usize],
        position: usize,
    },
}

impl<'a> From<&'a [f64]> for Row<'a> {
    fn from(values: &'a [f64]) -> Self {
        Self(RowSource::Values(values))
    }
}

impl Row<'_> {
    /// The features as a table of one instance; `like` gives names and shape of plain values.
    ///
    /// # Errors
    /// When the row does not exist or has another number of values.
    pub(crate) fn features(&self, like: &FeatureLayout<'_>) -> Result<Features> {
        match self.0 {
            RowSource::Instance {
                data,
                rows,
                position,
            } => match rows.get(position) {
                Some(instance) => Ok(data.features(*instance)),
                None => Err(Error::data(format!(
                    "row {position} does not exist; the part has {} rows",
                    rows.len()
                ))),
            },
            RowSource::Values(values) => like.features(values),
        }
    }
}

/// Names and shape of the features that a model expects.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FeatureLayout<'a> {
    /// Names, in order.
    pub(crate) names: &'a [String],
    /// Wide or long.
    pub(crate) shape: FeatureShape,
}

impl FeatureLayout<'_> {
    fn features(&self, values: &[f64]) -> Result<Features> {
        let rows = self.shape.rows_per_instance();
        let matrix = Matrix::from_f64(rows, self.names.len(), values)?;
        Features::new(matrix, self.shape, Some(self.names.to_vec()))
    }
}
