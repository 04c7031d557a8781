//! The least time an epoch of the linear model could take on this machine: its roofline.
//!
//! Arithmetic per number of the table: a multiply-add per parameter to predict and one to send back, and a few
//! operations for the error; per parameter and step a dozen for Adam. Traffic per step and cost: the true costs of the
//! batch and the bits of its decisions; with normalisation two passes over the parameters (read W, write the local
//! gradient; read W, gradient and both moments, write W and both moments), without it one pass per epoch. Traffic
//! counts only where the data do not fit into the last cache.

use super::case::Case;
use crate::epochs::BATCH;
use crate::machine::Machine;

/// What the last cache of a usual server holds per program.
const CACHE: f64 = 32e6;

/// Seconds per epoch; unknown for models that are not linear.
pub fn seconds(case: &Case, machine: &Machine) -> Option<f64> {
    if case.shared || !case.hidden.is_empty() {
        return None;
    }
    let (rows, costs, parameters) = (case.instances as f64, case.costs as f64, case.features as f64 + 1.0);
    let steps = case.instances.div_ceil(BATCH) as f64;
    let normalised = case.loss.contains('S') && case.loss.contains('(');
    let work = rows * costs * (4.0 * parameters + 4.0) + steps * costs * parameters * 12.0;
    let table = rows * costs * if normalised { 4.125 } else { 4.0 };
    let visits = if normalised { 9.0 * steps } else { 6.0 };
    let traffic = table + visits * 4.0 * parameters * costs;
    let held = table + 4.0 * 4.0 * parameters * costs;
    let memory = if held > CACHE { traffic / machine.adam.max(machine.triad) } else { 0.0 };
    Some(memory.max(work / machine.flops))
}
