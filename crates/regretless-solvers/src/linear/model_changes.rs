//! HiGHS instances: built for a model, and moved from one model to another.

use std::ffi::CStr;
use std::sync::Arc;

use super::super::highs::{LinearModel, Lp, PrimalDualPoint, SimplexMethod};
use super::super::{SearchLimits, SolveFailure};
use super::dense_mip::DenseMip;
use super::{LinearSolver, relaxed};

/// Matrix entries up to which an LP is solved without presolve: on knapsacks and grids up to this
/// size presolve doubled the time.
const LP_PRESOLVE_THRESHOLD: usize = 10_000;

/// Matrix entries up to which a mixed-integer program is small.
const SMALL_MIP_THRESHOLD: usize = 100;

/// Options that take more time than they save in a search on a small model.
const OPTIONS_OFF_WHEN_SMALL: [&CStr; 5] = [
    c"mip_heuristic_run_rins",
    c"mip_heuristic_run_rens",
    c"mip_heuristic_run_root_reduced_cost",
    c"mip_detect_symmetry",
    c"mip_allow_cut_separation_at_nodes",
];

impl LinearSolver {
    /// Moves the solver to another model with the same columns and the same number of rows, as if
    /// it had been built for it: creating a HiGHS object takes longer than solving a small model.
    /// `false`, with nothing changed, if the models are of another shape.
    pub fn move_to(
        &mut self,
        model: &Arc<LinearModel>,
        predicted: &Arc<[usize]>,
        present: Option<Arc<[bool]>>,
    ) -> bool {
        let has_same_shape = Arc::ptr_eq(&self.predicted, predicted)
            && self.model.integer == model.integer
            && self.model.row_bounds.len() == model.row_bounds.len();
        if !has_same_shape {
            return false;
        }
        let lp = self.lp.take();
        // After a failure a new instance is built for the next solve.
        self.lp = lp.and_then(|lp| move_lp(lp, &self.model, model).ok());
        self.dense = match (self.dense.take(), DenseMip::from_model(model)) {
            (Some(previous), Some(moved)) => Some(moved.with_buffers(previous)),
            (_, moved) => moved,
        };
        // The relaxation is kept, too, since it was built for certificates of the same shape.
        if let Some(relaxation) = &mut self.relaxation {
            relaxation.move_to(&relaxed(model), predicted, present.clone());
        }
        self.model = Arc::clone(model);
        self.present = present;
        // Nothing of the last solve may show in the next one.
        self.point = PrimalDualPoint::default();
        (self.start, self.nodes, self.work) = (None, None, 0);
        true
    }

    pub(super) fn take_solver(&mut self) -> Result<Lp, SolveFailure> {
        match self.lp.take() {
            Some(lp) => Ok(lp),
            None => Self::build(&self.model, &self.limits),
        }
    }

    pub(super) fn build(model: &LinearModel, limits: &SearchLimits) -> Result<Lp, SolveFailure> {
        let mut lp = Lp::from_model(model)?;
        lp.use_presolve(needs_presolve(model, &lp))?;
        lp.set_option(c"mip_heuristic_run_feasibility_jump", false)?;
        if lp.num_entries() <= SMALL_MIP_THRESHOLD {
            for option in OPTIONS_OFF_WHEN_SMALL {
                lp.set_option(option, false)?;
            }
        }
        lp.set_gap(limits.gap, 0.0)?;
        lp.limit_nodes(limits.nodes)?;
        Ok(lp)
    }

    /// Restores simplex method and presolve for cold starts.
    pub(super) fn configure_cold(&self, lp: &mut Lp) -> Result<(), SolveFailure> {
        lp.use_presolve(needs_presolve(&self.model, lp))?;
        lp.use_simplex(SimplexMethod::Dual)
    }
}

/// Moves HiGHS from one model to another with the same columns and the same number of rows.
fn move_lp(mut lp: Lp, from: &LinearModel, to: &LinearModel) -> Result<Lp, SolveFailure> {
    // Models that share their matrix differ in bounds only.
    if !Arc::ptr_eq(&from.rows, &to.rows) {
        lp.replace_model(to)?;
        lp.use_presolve(needs_presolve(to, &lp))?;
        return Ok(lp);
    }
    for (column, bounds) in to.column_bounds.iter().enumerate() {
        if from.column_bounds[column] != *bounds {
            lp.set_column_bounds(column, *bounds)?;
        }
    }
    for (row, bounds) in to.row_bounds.iter().enumerate() {
        if from.row_bounds[row] != *bounds {
            lp.set_row_bounds(row, *bounds)?;
        }
    }
    Ok(lp)
}

/// Whether HiGHS presolves: large models, to save time, and all mixed-integer programs. Without
/// presolve and its feasibility jump, HiGHS 1.15.0 takes wrong points for optimal if quantities
/// have no upper bound: 2 of 3,000 random lots with set-ups, none of them with presolve.
fn needs_presolve(model: &LinearModel, lp: &Lp) -> bool {
    model.integer.contains(&true) || lp.num_entries() > LP_PRESOLVE_THRESHOLD
}
