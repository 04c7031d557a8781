//! Problems of single rows, for feasible sets that differ between rows.
//!
//! The table holds the numbers (`data/row_parameters.rs`), the oracle is bound to them here, and a
//! worker enters a row before it solves, checks or computes cones (`worker.rs`).
//! `RowProblems::row_problem` builds the problem of the row; solvers move to the numbers of the
//! next row if that is faster than building a new solver (`ProblemKind::reuse_solver`). Labels are
//! keyed by costs and parameters.

use std::sync::Arc;

use super::Oracle;
use crate::data::{CostMatching, Dataset, Matrix, NamedCosts, RowParameters};
use crate::error::{Error, Result};
use crate::problem::ProblemKind;
use crate::solve::SolveFailure;

impl Oracle {
    /// The same oracle for the rows of a table with these parameters: instance i is row i. Problems
    /// without parameters per row ignore them.
    ///
    /// # Errors
    /// When a column that the problem needs is missing, or the items of the table differ between
    /// instances and the problem does not say so.
    pub fn with_parameters(mut self, parameters: Option<&Arc<RowParameters>>) -> Result<Self> {
        let needed = self.problem.row_problems().parameters();
        let has_absent_items =
            parameters.is_some_and(|table| table.width(RowParameters::PRESENT_ITEMS).is_some());
        let is_read = |name: &str| needed.iter().any(|columns| columns.pattern == name);
        if has_absent_items && !is_read(RowParameters::PRESENT_ITEMS) {
            return Err(Error::data(format!(
                "the instances of the table have different items, but {} has the same items for \
                 all rows",
                self.problem.name()
            ))
            .with_remedy(
                "give all instances the same items, or let the problem file take its numbers from \
                 columns",
            ));
        }
        self.parameters = match parameters {
            _ if needed.is_empty() => None,
            Some(table) => Some(table.bind(needed)?),
            None => return Err(self.missing_parameters()),
        };
        // Idle solvers were built for other parameters.
        self.idle = Default::default();
        Ok(self)
    }

    /// The same oracle for the rows of a table, whose items may be in another order than the costs
    /// of the problem.
    ///
    /// # Errors
    /// As [`Oracle::with_parameters`], and when the costs do not match those of the problem.
    pub fn for_dataset(self, data: &Dataset) -> Result<Self> {
        let names = NamedCosts::new("the table", data.cost_names());
        let matching = CostMatching::with_problem(names, self.problem.as_ref())?;
        match (data.parameters(), matching.order()) {
            // Parameters per item follow the order of the problem's costs.
            (Some(parameters), Some(order)) => {
                let mut parameters = RowParameters::clone(parameters);
                parameters.reorder_items(order);
                self.with_parameters(Some(&Arc::new(parameters)))
            }
            (parameters, _) => self.with_parameters(parameters),
        }
    }

    /// Checks that the oracle was made for the rows of this table, whose costs are in the order of
    /// the problem.
    pub(crate) fn check_parameters(&self, data: &Dataset) -> Result<()> {
        let (Some(own), Some(parameters)) = (self.parameters(), data.parameters()) else {
            return match (self.has_row_problems(), self.parameters()) {
                (true, None) => Err(self.missing_parameters()),
                _ => Ok(()),
            };
        };
        // The same table is mostly the same allocation; comparing values is the slow case.
        if Arc::ptr_eq(own, parameters) || own == parameters {
            Ok(())
        } else {
            Err(Error::data(
                "the oracle has the parameters of another table",
            ))
        }
    }

    /// Checks that decisions of one row can be offered to another: that its problem can check
    /// whether they are feasible.
    ///
    /// # Errors
    /// When only a user's function knows what is feasible for a row.
    pub(crate) fn require_checks(&self) -> Result<()> {
        if !self.has_row_problems() || self.problem.row_problems().checks_constraints() {
            return Ok(());
        }
        Err(self.unsupported(
            "a check of decisions if feasible sets differ per row",
            "give the problem a check (`check` of from_solver), or use a method without a pool or \
             cache",
        ))
    }

    /// Whether all rows of two tables have the same parameters, as far as the problem reads them.
    pub(crate) fn reads_same_parameters(
        &self,
        first: Option<&Arc<RowParameters>>,
        second: Option<&Arc<RowParameters>>,
    ) -> bool {
        if !self.has_row_problems() {
            return true;
        }
        let (Some(first), Some(second)) = (first, second) else {
            return false;
        };
        let needed = self.problem.row_problems().parameters();
        let (Ok(first), Ok(second)) = (first.bind(needed), second.bind(needed)) else {
            return false;
        };
        let (mut left, mut right) = (Vec::new(), Vec::new());
        first.rows() == second.rows()
            && (0..first.rows()).all(|row| {
                first.read(row, &mut left);
                second.read(row, &mut right);
                left == right
            })
    }

    fn missing_parameters(&self) -> Error {
        let needed = self.problem.row_problems().parameters();
        let name = needed
            .first()
            .map_or("", |columns| columns.pattern.as_str());
        Error::data(format!(
            "{} needs the parameter '{name}' of every row",
            self.problem.name()
        ))
        .with_remedy("no parameters were given")
    }

    /// Checks that costs are predicted as a whole and exist in every row, for methods that combine
    /// the costs of several rows.
    ///
    /// # Errors
    /// When they are not.
    pub(crate) fn require_plain_costs(&self) -> Result<()> {
        if self.problem.row_problems().has_known_costs() || self.problem.may_have_absent_costs() {
            Err(self.unsupported(
                "costs that are predicted as a whole and exist in every row",
                "use labels of single rows: leave out 'knn'",
            ))
        } else {
            Ok(())
        }
    }

    /// Whether rows have problems of their own.
    pub(crate) fn has_row_problems(&self) -> bool {
        !self.problem.row_problems().parameters().is_empty()
    }

    /// The parameters of the rows, if the problem depends on them.
    pub(crate) fn parameters(&self) -> Option<&Arc<RowParameters>> {
        self.parameters.as_ref().map(|bound| bound.table())
    }

    /// Overwrites `values` with the parameters of a row that the problem depends on.
    ///
    /// # Errors
    /// When the oracle does not have the parameters of the row.
    pub(crate) fn read_parameters(
        &self,
        row: usize,
        values: &mut Vec<f64>,
    ) -> std::result::Result<(), SolveFailure> {
        match &self.parameters {
            Some(bound) if row < bound.rows() => {
                bound.read(row, values);
                Ok(())
            }
            _ => Err(SolveFailure::InvalidParameters(format!(
                "the parameters of instance {row} are missing"
            ))),
        }
    }

    /// Predicted costs of instance 0, 1, … with their known costs added, both in the user's sense;
    /// absent costs are 0.
    ///
    /// # Errors
    /// When the parameters of a row are missing or define no problem.
    pub fn total_costs(&self, predicted: &Matrix) -> Result<Matrix> {
        let (rows, cols) = (predicted.rows(), predicted.cols());
        let may_have_absent_costs = self.problem.may_have_absent_costs();
        if !may_have_absent_costs && !self.problem.row_problems().has_known_costs() {
            return Ok(predicted.clone());
        }
        let mut totals = Vec::with_capacity(rows * cols);
        let (mut values, mut costs) = (Vec::new(), Vec::new());
        for row in 0..rows {
            if self.has_row_problems() {
                self.read_parameters(row, &mut values)
                    .map_err(|failure| Error::solver(row, failure))?;
            }
            predicted.read(row, &mut costs);
            if let Some(known) = self.problem.row_problems().known_costs(&values) {
                for (cost, known) in costs.iter_mut().zip(known) {
                    *cost += known;
                }
            }
            if may_have_absent_costs {
                match self.row_problem(row) {
                    Ok(problem) => {
                        let present = problem.present_costs().unwrap_or_default();
                        for (cost, exists) in costs.iter_mut().zip(present) {
                            if !exists {
                                *cost = 0.0;
                            }
                        }
                    }
                    // Reported when the row is solved.
                    // The row has no decision, whatever its costs.
                    Err(_) => costs.fill(0.0),
                }
            }
            totals.extend_from_slice(&costs);
        }
        // Both precisions: sums with known costs may need digits that single precision lacks.
        Matrix::from_f64(rows, cols, &totals)?.with_f64_values(Arc::new(totals))
    }

    /// The same, minimized.
    ///
    /// # Errors
    /// As [`Oracle::total_costs`].
    pub fn minimized_totals(&self, predicted: Matrix) -> Result<Matrix> {
        let problem = &self.problem;
        let mut totals =
            if problem.may_have_absent_costs() || problem.row_problems().has_known_costs() {
                self.total_costs(&predicted)?
            } else {
                predicted
            };
        self.problem.sense().convert_matrix(&mut totals)?;
        Ok(totals)
    }

    /// The problem of a row.
    ///
    /// # Errors
    /// When its parameters define no problem.
    pub fn row_problem(
        &self,
        row: usize,
    ) -> std::result::Result<Arc<dyn ProblemKind>, SolveFailure> {
        if !self.has_row_problems() {
            return Ok(Arc::clone(&self.problem));
        }
        let mut values = Vec::new();
        self.read_parameters(row, &mut values)?;
        self.problem
            .row_problems()
            .row_problem(&values)
            .map_err(SolveFailure::InvalidParameters)
    }
}
