//! Linear and mixed-integer programs through HiGHS (Huangfu and Hall, 2018), linked statically.
//!
//! [`Lp`] is one model with one solver, for one thread at a time: without output, on one thread,
//! without presolve; costs and rows may change between solves. After a change of costs the last
//! basis stays primal feasible, so [`SimplexMethod::Primal`] continues from it; after a change of
//! rows or bounds it stays dual feasible, so [`SimplexMethod::Dual`] does.
//! [`Lp::reset_basis_and_solution`] makes the next solve a cold start, so its result does not
//! depend on earlier solves.
//!
//! HiGHS drops matrix entries with an absolute value of 1e-9 or less and refuses those of 1e15 or
//! more. It has no lazy constraints: branch and cut adds rows between solves.
//!
//! `ffi` holds every unsafe call; no other module calls HiGHS.

use std::ffi::{CStr, CString};

use self::ffi::HighsHandle;
use crate::SolveFailure;
use regretless_base::error::Result;

mod ffi;
mod model;
mod model_parts;
mod mps_check;
mod mps_fixed;
mod read;
mod solution;

pub use model::LinearModel;
pub use model::integer_bounds;
pub use model_parts::{
    BasicVariable, Basis, BasisStatus, LpColumns, LpRows, LpStatus, OptionValue, PrimalDualPoint,
    SimplexMethod, SparseVectors,
};

/// Smallest absolute value of a matrix entry that HiGHS refuses as too large.
pub const MIN_REFUSED_ENTRY: f64 = 1e15;

/// A linear or mixed-integer program and its solver.
#[derive(Debug)]
pub struct Lp {
    raw: HighsHandle,
    /// Whether HiGHS holds a valid basis: that of the last solve, or one that was set since.
    has_basis: bool,
}

impl Lp {
    /// An empty model to be minimized.
    ///
    /// # Errors
    /// When HiGHS cannot start.
    pub fn new() -> Result<Self, SolveFailure> {
        let mut lp = Self {
            raw: HighsHandle::new()?,
            has_basis: false,
        };
        lp.set_option(c"output_flag", false)?;
        lp.set_option(c"threads", 1)?;
        lp.set_option(c"parallel", c"off")?;
        lp.use_presolve(false)?;
        Ok(lp)
    }

    /// A model whose matrix entries are stored with its rows.
    ///
    /// # Errors
    /// When the parts are not a valid model.
    pub fn by_rows(columns: &LpColumns, rows: &LpRows) -> Result<Self, SolveFailure> {
        let mut lp = Self::new()?;
        lp.add_columns(columns)?;
        lp.add_rows(rows)?;
        Ok(lp)
    }

    /// A model whose matrix entries are stored with its columns.
    ///
    /// # Errors
    /// When the parts are not a valid model.
    pub fn by_columns(rows: &LpRows, columns: &LpColumns) -> Result<Self, SolveFailure> {
        let mut lp = Self::new()?;
        lp.add_rows(rows)?;
        lp.add_columns(columns)?;
        Ok(lp)
    }

    /// A model with the contents of a [`LinearModel`].
    ///
    /// # Errors
    /// When the parts are not a valid model.
    pub fn from_model(model: &LinearModel) -> Result<Self, SolveFailure> {
        let mut lp = Self::new()?;
        lp.add_model(model)?;
        Ok(lp)
    }

    /// Replaces the model and keeps the options.
    ///
    /// # Errors
    /// When the parts are not a valid model.
    pub fn replace_model(&mut self, model: &LinearModel) -> Result<(), SolveFailure> {
        self.clear()?;
        self.add_model(model)
    }

    /// Adds the contents of a model to an empty one.
    fn add_model(&mut self, model: &LinearModel) -> Result<(), SolveFailure> {
        let (mut columns, mut rows) = (LpColumns::default(), LpRows::default());
        for (column, bounds) in model.column_bounds.iter().enumerate() {
            columns.push(model.cost[column], *bounds, []);
            if model.integer[column] {
                columns.mark_last_integer();
            }
        }
        for (row, bounds) in model.row_bounds.iter().enumerate() {
            rows.push(*bounds, model.rows.entries(row));
        }
        self.add_columns(&columns)?;
        self.add_rows(&rows)?;
        self.set_objective(model.maximize, model.offset)?;
        self.set_names(&model.column_names, &model.row_names)
    }

    /// Number of columns.
    pub fn num_columns(&self) -> usize {
        self.raw.num_columns()
    }

    /// Number of rows.
    pub fn num_rows(&self) -> usize {
        self.raw.num_rows()
    }

    /// Number of matrix entries.
    pub fn num_entries(&self) -> usize {
        self.raw.num_entries()
    }

    /// Appends columns; a basis is kept, with the new columns nonbasic.
    ///
    /// # Errors
    /// When an entry is in a missing row or appears twice, or a number is invalid.
    pub fn add_columns(&mut self, columns: &LpColumns) -> Result<(), SolveFailure> {
        self.raw.add_columns(columns)
    }

    /// Appends rows; a basis is kept, with the new rows basic.
    ///
    /// # Errors
    /// When an entry is in a missing column or appears twice, or a number is invalid.
    pub fn add_rows(&mut self, rows: &LpRows) -> Result<(), SolveFailure> {
        self.raw.add_rows(rows)
    }

    /// Deletes the marked columns; later ones are renumbered.
    ///
    /// # Errors
    /// When there is not one mark per column.
    pub fn delete_columns(&mut self, delete: &[bool]) -> Result<(), SolveFailure> {
        self.raw.delete_columns(delete)
    }

    /// Deletes the marked rows; later ones are renumbered.
    ///
    /// # Errors
    /// When there is not one mark per row.
    pub fn delete_rows(&mut self, delete: &[bool]) -> Result<(), SolveFailure> {
        self.raw.delete_rows(delete)
    }

    /// Changes the costs of the columns from `first` on.
    ///
    /// # Errors
    /// When there are more costs than columns, or a cost is not finite.
    pub fn set_costs(&mut self, first: usize, costs: &[f64]) -> Result<(), SolveFailure> {
        if let Some(index) = costs.iter().position(|cost| !cost.is_finite()) {
            return Err(SolveFailure::SolverError(format!(
                "cost {} of column {} is not finite",
                costs[index],
                first + index
            )));
        }
        self.raw.set_costs(first, costs)
    }

    /// Changes the bounds of a column.
    ///
    /// # Errors
    /// When there is no such column.
    pub fn set_column_bounds(
        &mut self,
        column: usize,
        bounds: [f64; 2],
    ) -> Result<(), SolveFailure> {
        self.raw.set_column_bounds(column, bounds)
    }

    /// Changes the bounds of a row.
    ///
    /// # Errors
    /// When there is no such row.
    pub fn set_row_bounds(&mut self, row: usize, bounds: [f64; 2]) -> Result<(), SolveFailure> {
        self.raw.set_row_bounds(row, bounds)
    }

    /// Sets which of the columns from `first` on are integer.
    ///
    /// # Errors
    /// When there are more marks than columns.
    pub fn set_integer(&mut self, first: usize, integer: &[bool]) -> Result<(), SolveFailure> {
        self.raw.set_integer(first, integer)
    }

    /// Sets the sense and the constant part of the objective.
    ///
    /// # Errors
    /// When the constant is not finite.
    pub fn set_objective(&mut self, maximize: bool, offset: f64) -> Result<(), SolveFailure> {
        self.raw.set_objective(maximize, offset)
    }

    /// Names columns and rows, for files.
    ///
    /// # Errors
    /// When there are too many names or one is invalid.
    pub fn set_names(&mut self, columns: &[String], rows: &[String]) -> Result<(), SolveFailure> {
        let c_string = |name: &String| {
            CString::new(name.as_str())
                .map_err(|_| SolveFailure::SolverError(format!("the name {name:?} contains NUL")))
        };
        for (column, name) in columns.iter().enumerate() {
            self.raw.set_column_name(column, &c_string(name)?)?;
        }
        for (row, name) in rows.iter().enumerate() {
            self.raw.set_row_name(row, &c_string(name)?)?;
        }
        Ok(())
    }

    /// Sets any option of HiGHS by its name, as in `lp.set_option(c"random_seed", 7)`.
    ///
    /// # Errors
    /// When there is no such option or its value is invalid.
    pub fn set_option<'a>(
        &mut self,
        name: &CStr,
        value: impl Into<OptionValue<'a>>,
    ) -> Result<(), SolveFailure> {
        self.raw.set_option(name, value.into())
    }

    /// Chooses the simplex method.
    ///
    /// # Errors
    /// Never in practice.
    pub fn use_simplex(&mut self, method: SimplexMethod) -> Result<(), SolveFailure> {
        // Values of the HiGHS option.
        let strategy = match method {
            SimplexMethod::Dual => 1,
            SimplexMethod::Primal => 4,
        };
        self.set_option(c"simplex_strategy", strategy)
    }

    /// Switches presolve; without it tiny and warm-started models are solved faster.
    ///
    /// # Errors
    /// Never in practice.
    pub fn use_presolve(&mut self, on: bool) -> Result<(), SolveFailure> {
        self.set_option(c"presolve", if on { c"on" } else { c"off" })
    }

    /// Limits the iterations of the simplex method, or removes the limit.
    ///
    /// # Errors
    /// Never in practice.
    pub fn limit_iterations(&mut self, max: Option<u32>) -> Result<(), SolveFailure> {
        self.set_option(
            c"simplex_iteration_limit",
            max.map_or(i32::MAX, |max| i32::try_from(max).unwrap_or(i32::MAX)),
        )
    }

    /// Limits the nodes of a mixed-integer search.
    ///
    /// # Errors
    /// Never in practice.
    pub fn limit_nodes(&mut self, max: u64) -> Result<(), SolveFailure> {
        self.set_option(c"mip_max_nodes", i32::try_from(max).unwrap_or(i32::MAX))
    }

    /// Sets the gaps between incumbent and dual bound at which a mixed-integer search may stop.
    ///
    /// # Errors
    /// When a gap is negative.
    pub fn set_gap(&mut self, relative: f64, absolute: f64) -> Result<(), SolveFailure> {
        self.set_option(c"mip_rel_gap", relative)?;
        self.set_option(c"mip_abs_gap", absolute)
    }

    /// Allows the dual simplex method to stop when the minimum is proven to exceed this value. It
    /// may still continue to an optimum that is a few iterations away.
    ///
    /// # Errors
    /// Never in practice.
    pub fn set_objective_bound(&mut self, objective: f64) -> Result<(), SolveFailure> {
        self.set_option(c"objective_bound", objective)
    }

    /// Solves from the current basis, or cold if there is none.
    ///
    /// # Errors
    /// When HiGHS fails; infeasibility is a status and not a failure.
    pub fn solve(&mut self) -> Result<LpStatus, SolveFailure> {
        self.has_basis = false;
        let status = self.raw.run()?;
        self.has_basis =
            self.raw.int_info(c"basis_validity")? == highs_sys::kHighsBasisValidityValid;
        match status {
            highs_sys::MODEL_STATUS_OPTIMAL | highs_sys::MODEL_STATUS_MODEL_EMPTY => {
                Ok(LpStatus::Optimal)
            }
            highs_sys::MODEL_STATUS_INFEASIBLE => Ok(LpStatus::Infeasible),
            highs_sys::MODEL_STATUS_UNBOUNDED => Ok(LpStatus::Unbounded),
            highs_sys::MODEL_STATUS_UNBOUNDED_OR_INFEASIBLE => Ok(LpStatus::UnboundedOrInfeasible),
            highs_sys::MODEL_STATUS_OBJECTIVE_BOUND => Ok(LpStatus::ObjectiveBound),
            highs_sys::MODEL_STATUS_REACHED_ITERATION_LIMIT => Ok(LpStatus::IterationLimit),
            // HiGHS reports a search that ends at its node limit with this status.
            highs_sys::MODEL_STATUS_REACHED_SOLUTION_LIMIT => Ok(LpStatus::NodeLimit),
            highs_sys::MODEL_STATUS_REACHED_INTERRUPT => Err(SolveFailure::Interrupted),
            other => Err(SolveFailure::SolverError(format!(
                "HiGHS ended with model status {other}"
            ))),
        }
    }

    /// Drops basis and solution: the next solve depends on the model only.
    ///
    /// # Errors
    /// Never in practice.
    pub fn reset_basis_and_solution(&mut self) -> Result<(), SolveFailure> {
        self.has_basis = false;
        self.raw.clear_solver()
    }

    /// Drops model, basis and solution, and keeps the options: creating a HiGHS object takes longer
    /// than solving a small model.
    ///
    /// # Errors
    /// Never in practice.
    pub fn clear(&mut self) -> Result<(), SolveFailure> {
        self.has_basis = false;
        self.raw.clear_model()
    }

    /// Sets the initial incumbent of the next mixed-integer search.
    ///
    /// # Errors
    /// When there is not one value per column.
    pub fn set_start(&mut self, values: &[f64]) -> Result<(), SolveFailure> {
        self.raw.set_start(values)
    }

    /// Writes the model as an `.mps` or `.lp` file.
    ///
    /// # Errors
    /// When the extension is another or the file cannot be written.
    pub fn write(&mut self, path: &std::path::Path) -> Result<()> {
        use regretless_base::error::{Error, InputPlace};

        read::ModelFileFormat::from_path(path)?;
        let name = read::c_path(path)?;
        let to_error =
            |failure: SolveFailure| Error::input(InputPlace::file(path), failure.to_string());
        self.raw.write(&name).map_err(to_error)
    }
}
