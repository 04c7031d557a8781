//! Tables of features and costs, validated once on input.
//!
//! Two shapes. *Wide*: one row per instance, whose features predict all its costs. *Long*: one row
//! per instance and cost, with its own features, so one shared predictor serves all costs.

use std::sync::Arc;

use crate::error::{Error, InputPlace, Result};

pub mod atomic_write;
mod check;
mod construct;
mod cost_columns;
mod cost_gaps;
mod cost_matching;
pub mod csv;
mod csv_dialect;
mod date_forms;
mod encoding;
pub mod energy;
mod files;
pub mod housing;
mod keys;
mod layout;
pub(crate) mod mapped;
mod matrix;
mod names;
mod node_names;
pub mod npy;
mod observed_costs;
mod parameter_files;
mod problem_columns;
mod profile;
mod row_costs;
mod row_parameters;
mod row_times;
mod row_weights;
mod split;
pub(crate) mod split_indices;
pub mod synthetic;
mod table;

use cost_gaps::CostGaps;

pub use atomic_write::OutputFile;
pub use check::{DataCheck, Finding, FindingKind};
pub(crate) use cost_columns::CostColumnGroups;
pub use cost_matching::{CostMatching, NamedCosts};
pub(crate) use cost_matching::{in_order_of_costs, matched_by_position};
pub use csv_dialect::CsvDialect;
pub use encoding::FeatureOptions;
pub(crate) use encoding::{FeatureEncoding, FeatureSourceKind};
pub use keys::InstanceKeys;
pub(crate) use layout::WantedFeatures;
pub use layout::{Layout, LongColumns, WideColumns};
pub use matrix::{Matrix, SharedArray};
pub(crate) use matrix::{first_not_finite, norm};
pub use names::CostNames;
pub(crate) use names::check_names;

pub(crate) use node_names::{NodeNames, NodeNamesBuilder};
pub(crate) use problem_columns::ProblemColumns;
pub use profile::{ColumnProfile, TableProfile, ValueKind};
pub(crate) use row_parameters::BoundParameters;
pub use row_parameters::{ParameterColumns, RowParameters};
pub use row_times::RowTimes;
pub use split::{Split, SplitRule};
pub use split_indices::SplitIndices;
pub use synthetic::{SyntheticGenerator, SyntheticSpec};
pub use table::TableSource;

/// How rows of features relate to instances.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FeatureShape {
    /// One row of features per instance.
    Wide,
    /// One row of features per cost of an instance.
    Long {
        /// Costs, and so rows, per instance.
        items: usize,
    },
}

impl FeatureShape {
    /// Rows of features that belong to one instance.
    pub fn rows_per_instance(self) -> usize {
        match self {
            Self::Wide => 1,
            Self::Long { items } => items,
        }
    }
}

/// Features of instances; all values are finite. Columns of text, dates and gaps have no values
/// until they are encoded: when the table is divided, or when a model predicts costs.
#[derive(Debug, Clone, PartialEq)]
pub struct Features {
    values: Matrix,
    shape: FeatureShape,
    names: Vec<String>,
    /// The columns of the table, if they are not these values themselves.
    raw: Option<Box<encoding::RawFeatures>>,
}

impl Features {
    /// Features with their column names; names are optional.
    ///
    /// # Errors
    /// When a value is not finite, the rows are not a multiple of the rows per instance, or names
    /// have the wrong number, are empty or duplicated.
    pub fn new(values: Matrix, shape: FeatureShape, names: Option<Vec<String>>) -> Result<Self> {
        if let Some(names) = &names {
            check_names(names, "feature")?;
        }
        let names = names.unwrap_or_else(|| (0..values.cols()).map(|j| format!("x{j}")).collect());
        if names.len() != values.cols() {
            return Err(Error::data(format!(
                "{} names for {} features",
                names.len(),
                values.cols()
            )));
        }
        if values.cols() == 0 {
            return Err(Error::data("no feature column").with_remedy("at least one is needed"));
        }
        if !values.rows().is_multiple_of(shape.rows_per_instance()) {
            let (rows, items) = (values.rows(), shape.rows_per_instance());
            return Err(Error::data(format!(
                "{rows} rows of features do not make instances of {items} rows"
            )));
        }
        values.check_finite(|j| names[j].clone())?;
        Ok(Self {
            values,
            shape,
            names,
            raw: None,
        })
    }

    /// All rows.
    pub fn values(&self) -> &Matrix {
        &self.values
    }

    /// All rows, mutable.
    pub fn values_mut(&mut self) -> &mut Matrix {
        &mut self.values
    }

    /// Wide or long.
    pub fn shape(&self) -> FeatureShape {
        self.shape
    }

    /// Column names.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Number of instances.
    pub fn instances(&self) -> usize {
        self.values.rows() / self.shape.rows_per_instance()
    }

    /// The features of the listed instances, in the order of the list.
    #[must_use]
    pub fn select_rows(&self, instances: &[usize]) -> Self {
        let size = self.shape.rows_per_instance();
        let rows: Vec<usize> = instances
            .iter()
            .flat_map(|instance| instance * size..(instance + 1) * size)
            .collect();
        Self {
            values: self.values.select_rows(&rows),
            shape: self.shape,
            names: self.names.clone(),
            raw: self.raw.as_ref().map(|raw| Box::new(raw.select(&rows))),
        }
    }

    /// Reorders the items of every instance: the new item j is the old item `order[j]`. Does
    /// nothing to wide tables, whose rows are instances.
    fn reorder_items(&mut self, order: &[usize]) {
        match self.shape {
            FeatureShape::Wide => {}
            FeatureShape::Long { items } => {
                let mut rows = Vec::with_capacity(self.values.rows());
                for instance in 0..self.instances() {
                    rows.extend(order.iter().map(|item| instance * items + item));
                }
                self.values = self.values.select_rows(&rows);
                if let Some(raw) = &mut self.raw {
                    **raw = raw.select(&rows);
                }
            }
        }
    }

    /// The features of one instance, all its rows in sequence.
    pub fn instance(&self, instance: usize) -> &[f32] {
        let size = self.shape.rows_per_instance() * self.values.cols();
        &self.values.as_slice()[instance * size..][..size]
    }
}

/// A table of instances: features with the observed costs.
///
/// ```
/// use regretless::{Dataset, Problem};
///
/// let problem = Problem::benchmark("SP3x3")?;
/// let data = Dataset::generate(&problem, 10)?;
/// assert_eq!(data.len(), 10);
/// assert_eq!(data.costs().cols(), problem.num_costs());
/// # Ok::<(), regretless::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    features: Features,
    costs: Matrix,
    cost_names: CostNames,
    /// How much each instance counts in training; all alike if absent.
    row_weights: Option<Vec<f64>>,
    /// Known numbers that the feasible sets of the rows depend on.
    parameters: Option<Arc<RowParameters>>,
    /// Known parts of the costs and which costs exist; set when the table is labeled.
    row_costs: row_costs::RowCosts,
}

impl Dataset {
    /// A validated table: features and costs have equally many instances, all costs are finite.
    ///
    /// # Errors
    /// When counts differ, a value is not finite, or names of costs are empty or duplicated.
    pub fn new(features: Features, costs: Matrix, cost_names: Option<CostNames>) -> Result<Self> {
        let table = Self::from_finite_parts(features, costs, cost_names)?;
        let name = |column: usize| table.cost_names.get(column).into_owned();
        let gaps = |error| CostGaps::of(&table.costs).explain(error);
        table.costs.check_finite(name).map_err(gaps)?;
        // Values in double precision may overflow when they are rounded.
        if let Some(at) = first_not_finite(table.costs.as_slice()) {
            let (row, column) = (at / table.costs.cols(), at % table.costs.cols());
            let place = InputPlace::default().row(row as u64).column(name(column));
            return Err(Error::input(
                place,
                "the number is beyond 3.4e38, the most that single precision holds",
            ));
        }
        Ok(table)
    }

    /// The same for costs that may be missing (NaN) if a row lacks the item: labels check that all
    /// others are finite.
    ///
    /// # Errors
    /// As [`Dataset::new`], but for values that are not finite.
    pub fn with_missing_costs(
        features: Features,
        costs: Matrix,
        cost_names: Option<CostNames>,
    ) -> Result<Self> {
        Self::from_finite_parts(features, costs, cost_names)
    }

    /// The same for costs that are known to be finite.
    fn from_finite_parts(
        features: Features,
        costs: Matrix,
        cost_names: Option<CostNames>,
    ) -> Result<Self> {
        let cost_names = cost_names.unwrap_or_else(|| CostNames::numbered(costs.cols()));
        if cost_names.len() != costs.cols() {
            return Err(Error::data(format!(
                "{} names for {} costs",
                cost_names.len(),
                costs.cols()
            )));
        }
        cost_names.check("cost")?;
        if features.instances() != costs.rows() {
            return Err(Error::data(format!(
                "features of {} instances but costs of {}",
                features.instances(),
                costs.rows()
            )));
        }
        if costs.rows() == 0 || costs.cols() == 0 {
            return Err(Error::data("the table is empty")
                .with_remedy("it needs at least one instance and one cost"));
        }
        if let FeatureShape::Long { items } = features.shape()
            && items != costs.cols()
        {
            return Err(Error::data(format!(
                "{items} rows of features per instance but {} costs",
                costs.cols()
            )));
        }
        Ok(Self {
            features,
            costs,
            cost_names,
            row_weights: None,
            parameters: None,
            row_costs: row_costs::RowCosts::default(),
        })
    }

    /// The table of the listed instances, in the order of the list.
    #[must_use]
    pub(crate) fn select_rows(&self, instances: &[usize]) -> Self {
        let weights = |all: &Vec<f64>| instances.iter().map(|row| all[*row]).collect();
        let parameters = |all: &Arc<RowParameters>| Arc::new(all.select_rows(instances));
        Self {
            features: self.features.select_rows(instances),
            costs: self.costs.select_rows(instances),
            cost_names: self.cost_names.clone(),
            row_weights: self.row_weights.as_ref().map(weights),
            parameters: self.parameters.as_ref().map(parameters),
            row_costs: self.row_costs.select_rows(instances, self.costs.cols()),
        }
    }

    /// Number of instances.
    pub fn len(&self) -> usize {
        self.costs.rows()
    }

    /// Whether there are no instances (never after validation).
    pub fn is_empty(&self) -> bool {
        self.costs.rows() == 0
    }

    /// The features.
    pub fn features(&self) -> &Features {
        &self.features
    }

    /// The costs, one row per instance.
    pub fn costs(&self) -> &Matrix {
        &self.costs
    }

    /// The costs, mutable.
    pub fn costs_mut(&mut self) -> &mut Matrix {
        &mut self.costs
    }

    /// The table in single precision and, if it has values in double precision, the table with
    /// them.
    pub fn into_single_precision(self) -> (Self, Option<Self>) {
        if !self.costs.has_f64_values() {
            return (self, None);
        }
        let exact = self.clone();
        let costs = self.costs.into_single_precision();
        (Self { costs, ..self }, Some(exact))
    }

    /// Names of the costs.
    pub fn cost_names(&self) -> &CostNames {
        &self.cost_names
    }

    /// The name of a cost of a row: that of its item if items differ between rows.
    pub fn row_cost_name(&self, row: usize, cost: usize) -> String {
        let parameters = self.parameters();
        let own = parameters.and_then(|parameters| parameters.item_name(row, cost));
        own.map_or_else(|| self.cost_names.get(cost).into_owned(), Into::into)
    }

    /// Gives the costs other names, such as those of the problem if columns have a common beginning
    /// before them.
    ///
    /// # Errors
    /// When there is not one name for each cost, or two are the same.
    pub fn rename_costs(&mut self, names: CostNames) -> Result<()> {
        if names.len() != self.costs.cols() {
            let (names, costs) = (names.len(), self.costs.cols());
            return Err(Error::data(format!("{names} names for {costs} costs")));
        }
        names.check("cost")?;
        self.cost_names = names;
        Ok(())
    }

    /// Reorders and renames the costs, and the items of a long table, by a matching.
    ///
    /// # Errors
    /// When memory-mapped costs need a temporary file and it cannot be written.
    pub fn apply(&mut self, matching: &CostMatching) -> Result<()> {
        if let Some(order) = matching.order() {
            self.costs.reorder_columns(order)?;
            self.features.reorder_items(order);
            self.reorder_parameters(order);
        }
        if let Some(names) = matching.names() {
            self.cost_names = names.clone();
        }
        Ok(())
    }
}

impl Matrix {
    /// Checks that all values are finite; `name` returns the name of a column.
    ///
    /// # Errors
    /// When one is not; the error has its row, counted from 0, and column.
    pub fn check_finite(&self, name: impl Fn(usize) -> String) -> Result<()> {
        match self.first_not_finite() {
            None => Ok(()),
            Some((row, column, number)) => {
                let place = InputPlace::default().row(row as u64).column(name(column));
                Err(Error::input(
                    place,
                    format!("{number} is not a finite number (rows counted from 0)"),
                ))
            }
        }
    }
}
