//! [`MatchedTable`]: the way of every interface from a table to labeled rows, in one order.
//!
//! ```text
//! match ─► weights ─► split ─► encode ─► oracle ─► label
//! ```
//!
//! Features are encoded before rows are labeled: labels are for minimized costs, encodings such as
//! target statistics for the costs as the user states them.

use std::sync::Arc;

use crate::data::{CostMatching, Dataset, Features, NamedCosts, SplitIndices};
use crate::error::Result;
use crate::label::{DataSplit, LabelReport, LabelStore, LabeledDataset, LabeledSplit};
use crate::notes::Note;
use crate::observer::Observer;
use crate::oracle::Oracle;
use crate::problem::{Problem, ProblemKind};
use crate::solve::SolveFailure;

/// A table whose costs are in the order of its problem's, before its rows are labeled.
pub struct MatchedTable {
    data: Dataset,
    divisions: Vec<Division>,
    notes: Vec<Note>,
}

/// One division of the rows, such as that of a seed.
struct Division {
    split: SplitIndices,
    /// The features as its training rows encode them; none if those of the table are used.
    features: Option<Arc<Features>>,
}

/// Where labels come from.
#[derive(Clone, Copy)]
pub enum RowLabels<'a> {
    /// Every row is solved.
    Solved,
    /// Stored labels are read, the other rows are solved and stored.
    Stored(&'a LabelStore),
    /// They are known.
    Known {
        /// Rows with the same costs.
        rows: &'a LabeledDataset,
        /// Rows without a label, with the reason.
        failed: &'a [(usize, SolveFailure)],
    },
}

/// A labeled table.
pub struct LabeledTable {
    /// All rows.
    pub rows: Arc<LabeledDataset>,
    /// The rows as each division uses them; empty for a table that is not divided.
    pub splits: Vec<LabeledSplit>,
    /// How the labels were obtained.
    pub report: LabelReport,
    /// What the user should know about the labels.
    pub notes: Vec<Note>,
}

impl MatchedTable {
    /// Puts the costs of a table, which messages call `name`, in the order of the problem's.
    ///
    /// # Errors
    /// When names of costs do not match.
    pub fn open(problem: &dyn ProblemKind, mut data: Dataset, name: &str) -> Result<Self> {
        let names = data.cost_names().clone();
        let matching = CostMatching::with_problem(NamedCosts::new(name, &names), problem)?;
        data.apply(&matching)?;
        Ok(Self {
            notes: Note::of_matching(problem, &names, &matching),
            ..Self::new(data)
        })
    }

    /// A table whose costs are in the order of the problem's already, such as by a model's names.
    pub fn new(data: Dataset) -> Self {
        Self {
            data,
            divisions: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// The table.
    pub fn data(&self) -> &Dataset {
        &self.data
    }

    /// The table without its divisions.
    pub fn into_data(self) -> Dataset {
        self.data
    }

    /// What the user should know about the match of table and problem.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// With sample weights.
    ///
    /// # Errors
    /// When a weight is missing, negative or not finite.
    pub fn weighted(self, weights: Vec<f64>) -> Result<Self> {
        let data = self.data.with_row_weights(weights)?;
        Ok(Self { data, ..self })
    }

    /// Divides the rows in one or more ways; features are encoded by the training rows of each.
    /// Divisions with the same training rows share their features.
    ///
    /// # Errors
    /// When no feature is left, or a gap is refused.
    pub fn divided(mut self, splits: Vec<SplitIndices>) -> Result<Self> {
        if let [only] = splits.as_slice() {
            // No second copy of the features is needed.
            self.data = self.data.encoded(&only.train)?;
        }
        let mut divisions: Vec<Division> = Vec::with_capacity(splits.len());
        for split in splits {
            let features = match divisions.last() {
                Some(last) if last.split.train == split.train => last.features.clone(),
                _ => self.data.encoded_features(&split.train)?.map(Arc::new),
            };
            divisions.push(Division { split, features });
        }
        Ok(Self { divisions, ..self })
    }

    /// Labels the rows. Those that cannot be solved are in the report and in no part of a division.
    ///
    /// # Errors
    /// When the table does not fit the problem, known labels belong to other costs, no row can be
    /// solved, no row with a label is left for a training, or the user interrupts.
    pub fn label(
        self,
        problem: &Problem,
        oracle: &Oracle,
        labels: RowLabels<'_>,
        observer: &dyn Observer,
    ) -> Result<LabeledTable> {
        let (rows, report) = match labels {
            RowLabels::Solved => {
                let (rows, failed) = LabeledDataset::solve_feasible(self.data, oracle, observer)?;
                let report = LabelReport::of_solved(rows.len(), failed);
                (rows, report)
            }
            RowLabels::Stored(store) => store.label(self.data, problem.spec(), oracle, observer)?,
            RowLabels::Known { rows, failed } => {
                let report = LabelReport::of_known(rows.len(), failed.to_vec());
                (rows.with_dataset(self.data, oracle)?, report)
            }
        };
        let rows = Arc::new(rows);
        Ok(LabeledTable {
            splits: labeled_splits(self.divisions, problem, &rows)?,
            report,
            notes: Note::of_labels(&rows, oracle, observer)?,
            rows,
        })
    }
}

impl LabeledTable {
    /// The rows of a [`DataSplit`], which has one division and may have its labels already. A row
    /// that cannot be solved is an error.
    ///
    /// # Errors
    /// As [`DataSplit::label`].
    pub fn of_split(
        data: &DataSplit,
        problem: &Problem,
        oracle: &Oracle,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let rows = data.label(problem, oracle, observer)?;
        let split = data.indices().clone();
        Ok(Self {
            splits: vec![LabeledSplit::new(
                problem.clone(),
                Arc::clone(&rows),
                split,
            )?],
            report: LabelReport::of_known(rows.len(), Vec::new()),
            notes: Note::of_labels(&rows, oracle, observer)?,
            rows,
        })
    }
}

fn labeled_splits(
    divisions: Vec<Division>,
    problem: &Problem,
    rows: &Arc<LabeledDataset>,
) -> Result<Vec<LabeledSplit>> {
    let mut labeled: Vec<LabeledSplit> = Vec::with_capacity(divisions.len());
    let mut last_features: Option<Arc<Features>> = None;
    for Division { split, features } in divisions {
        let data = match (&features, &last_features, labeled.last()) {
            (None, _, _) => Arc::clone(rows),
            (Some(features), Some(last), Some(earlier)) if Arc::ptr_eq(features, last) => {
                Arc::clone(&earlier.data)
            }
            (Some(features), _, _) => Arc::new(rows.with_features(Features::clone(features))?),
        };
        labeled.push(LabeledSplit::new(problem.clone(), data, split)?);
        last_features = features;
    }
    Ok(labeled)
}
