//! Building a linear problem column by column and row by row.

use std::sync::Arc;

use super::LinearProblem;
use crate::data::CostNames;
use crate::error::{Error, Result};
use crate::problem::Sense;
use crate::solve::highs::{LinearModel, MIN_REFUSED_ENTRY};

/// The values a column can take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum VariableDomain {
    /// 0 or 1.
    Binary,
    /// Integers between the bounds, which may be infinite.
    Integer([f64; 2]),
    /// Real numbers between the bounds, which may be infinite.
    Continuous([f64; 2]),
}

impl VariableDomain {
    fn bounds(self) -> [f64; 2] {
        match self {
            Self::Binary => [0.0, 1.0],
            Self::Integer(bounds) | Self::Continuous(bounds) => bounds,
        }
    }

    fn is_integer(self) -> bool {
        match self {
            Self::Binary | Self::Integer(_) => true,
            Self::Continuous(_) => false,
        }
    }
}

/// Builds a linear problem. Columns and rows are numbered in the order in which they are added.
///
/// ```
/// use regretless::problem::{LinearBuilder, Sense, VariableDomain};
///
/// let mut build = LinearBuilder::new("two goods", Sense::Maximize);
/// let wheat = build.predicted("wheat", VariableDomain::Continuous([0.0, f64::INFINITY]));
/// let barley = build.predicted("barley", VariableDomain::Continuous([0.0, f64::INFINITY]));
/// build.row([f64::NEG_INFINITY, 10.0], [(wheat, 1.0), (barley, 2.0)]);
/// let problem = regretless::Problem::from_kind(build.build()?);
/// assert_eq!(problem.solve(&[3.0, 5.0])?.objective, 30.0);
/// # Ok::<(), regretless::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct LinearBuilder {
    name: String,
    sense: Sense,
    model: LinearModel,
    predicted: Vec<usize>,
    named: bool,
}

impl LinearBuilder {
    /// A problem without columns.
    pub fn new(name: impl Into<String>, sense: Sense) -> Self {
        Self {
            name: name.into(),
            sense,
            model: LinearModel::default(),
            predicted: Vec::new(),
            named: true,
        }
    }

    /// Marks the names of columns as placeholders: costs are then matched by position.
    pub fn without_names(&mut self) {
        self.named = false;
    }

    /// Adds a column whose cost is predicted; returns its index.
    pub fn predicted(&mut self, name: impl Into<String>, domain: VariableDomain) -> usize {
        self.predicted.push(self.model.cost.len());
        self.auxiliary(name, domain, 0.0)
    }

    /// Adds a column whose cost is known; returns its index.
    pub fn auxiliary(
        &mut self,
        name: impl Into<String>,
        domain: VariableDomain,
        cost: f64,
    ) -> usize {
        self.model.cost.push(cost);
        self.model.column_bounds.push(domain.bounds());
        self.model.integer.push(domain.is_integer());
        Arc::make_mut(&mut self.model.column_names).push(name.into());
        self.model.cost.len() - 1
    }

    /// Adds a row: the sum of its entries, each a coefficient times a column, is within the bounds.
    pub fn row(
        &mut self,
        bounds: [f64; 2],
        entries: impl IntoIterator<Item = (usize, f64)>,
    ) -> usize {
        self.model.row_bounds.push(bounds);
        let names = Arc::make_mut(&mut self.model.row_names);
        names.push(format!("r{}", names.len()));
        Arc::make_mut(&mut self.model.rows).push(entries);
        self.model.row_bounds.len() - 1
    }

    /// Sets the constant part of the objective.
    pub fn offset(&mut self, offset: f64) {
        self.model.offset = offset;
    }

    /// The problem.
    ///
    /// # Errors
    /// When a value is invalid, or names of predicted columns are empty or duplicated; the error
    /// has the column or row.
    pub fn build(self) -> Result<LinearProblem> {
        let refused = |message: String| Error::setting(format!("{}: {message}", self.name));
        check(&self.model).map_err(refused)?;
        if self.predicted.is_empty() {
            return Err(refused("no column with a predicted cost".into()));
        }
        let cost_names = if self.named {
            let names: Vec<String> = self
                .predicted
                .iter()
                .map(|column| self.model.column_names[*column].clone())
                .collect();
            let names = CostNames::from(names);
            names
                .check("column")
                .map_err(|error| Error::setting(format!("{}: {error}", self.name)))?;
            Some(names)
        } else {
            None
        };
        let name = self.name.clone();
        let problem = LinearProblem::new(self.name, self.sense, self.model, self.predicted)
            .map_err(|message| Error::setting(format!("{name}: {message}")))?;
        Ok(problem.with_cost_names(cost_names))
    }
}

/// Checks all columns and rows.
fn check(model: &LinearModel) -> Result<(), String> {
    if !model.offset.is_finite() {
        return Err(format!("the constant {} is not finite", model.offset));
    }
    for (column, name) in model.column_names.iter().enumerate() {
        let (cost, bounds) = (model.cost[column], model.column_bounds[column]);
        if !cost.is_finite() {
            return Err(format!("the cost {cost} of column {name} is not finite"));
        }
        check_bounds(bounds).map_err(|message| format!("column {name}: {message}"))?;
    }
    for (row, name) in model.row_names.iter().enumerate() {
        check_bounds(model.row_bounds[row]).map_err(|message| format!("row {name}: {message}"))?;
        check_entries(model, row).map_err(|message| format!("row {name}: {message}"))?;
    }
    Ok(())
}

fn check_bounds([lower, upper]: [f64; 2]) -> Result<(), String> {
    let valid = lower <= upper && lower < f64::INFINITY && upper > f64::NEG_INFINITY;
    if valid {
        Ok(())
    } else {
        Err(format!("bounds {lower} to {upper} contain no number"))
    }
}

fn check_entries(model: &LinearModel, row: usize) -> Result<(), String> {
    let mut columns: Vec<usize> = model.rows.entries(row).map(|(column, _)| column).collect();
    columns.sort_unstable();
    if let Some(column) = columns.last().filter(|column| **column >= model.cost.len()) {
        return Err(format!(
            "column {column} of {} does not exist",
            model.cost.len()
        ));
    }
    if let Some(duplicate) = columns.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(format!(
            "column {} has two entries",
            model.column_names[duplicate[0]]
        ));
    }
    match model
        .rows
        .entries(row)
        .find(|(_, entry)| !entry.is_finite() || entry.abs() >= MIN_REFUSED_ENTRY)
    {
        Some((column, entry)) => Err(format!(
            "the entry {entry} of column {} is too large",
            model.column_names[column]
        )),
        None => Ok(()),
    }
}
