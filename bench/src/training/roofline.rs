//! Lower bound on the time of an epoch on this machine: its roofline (Williams, Waterman and
//! Patterson 2009).
//!
//! Arithmetic per cost of the table: a multiply-add per parameter for the prediction and one for
//! the gradient, and a few operations for the error; the sum of squared errors is expanded and
//! needs no prediction. Per parameter and step twelve operations for Adam. Traffic per step and
//! cost: the true costs of the batch and the bits of its decisions; with normalization two passes
//! over the parameters (read W, write the local gradient; read W, gradient and both moments, write
//! W and both moments), without it one pass per epoch. Traffic counts only where the data do not
//! fit into the last-level cache.

use super::case::TrainingCase;
use crate::epochs::BATCH_SIZE;
use crate::machine::Machine;

/// Assumed share of a server's last-level cache for one program.
const LAST_LEVEL_CACHE_BYTES: f64 = 32e6;

/// Seconds per epoch.
pub fn seconds(case: &TrainingCase, machine: &Machine) -> f64 {
    let demand = if case.shared || !case.hidden.is_empty() {
        layered(case)
    } else {
        linear(case)
    };
    let memory = if demand.held > LAST_LEVEL_CACHE_BYTES {
        demand.traffic / machine.adam.max(machine.triad)
    } else {
        0.0
    };
    memory.max(demand.work / machine.flops)
}

/// Minimum memory traffic and arithmetic of an epoch.
struct ResourceDemand {
    /// Floating-point operations.
    work: f64,
    /// Bytes between memory and processor, and bytes in use.
    traffic: f64,
    held: f64,
}

fn linear(case: &TrainingCase) -> ResourceDemand {
    let (rows, costs, parameters) = (
        case.instances as f64,
        case.costs as f64,
        case.features as f64 + 1.0,
    );
    let steps = case.instances.div_ceil(BATCH_SIZE) as f64;
    let is_normalized = case.loss.contains('S') && case.loss.contains('(');
    let table = rows * costs * if is_normalized { 4.125 } else { 4.0 };
    // One product with the costs per row, and one small matrix per step and cost.
    let plain = case.loss == "MSE";
    let row = if plain {
        2.0 * parameters + 1.0
    } else {
        4.0 * parameters + 4.0
    };
    let step = if plain { 12.0 + 2.0 * parameters } else { 12.0 };
    let visits = if is_normalized { 9.0 * steps } else { 6.0 };
    ResourceDemand {
        work: rows * costs * row + steps * costs * parameters * step,
        traffic: table + visits * 4.0 * parameters * costs,
        held: table + 4.0 * 4.0 * parameters * costs,
    }
}

/// Every weight is used three times per row: for the prediction, the gradient of the weights and
/// the gradient of the layer's inputs. The first layer needs no gradient of its inputs. A parameter
/// is read twice and written once a step, like its two moments; features and costs are read once.
fn layered(case: &TrainingCase) -> ResourceDemand {
    let outputs = if case.shared { 1 } else { case.costs };
    let sizes: Vec<usize> = [case.features]
        .into_iter()
        .chain(case.hidden.iter().copied())
        .chain([outputs])
        .collect();
    let rows = (case.instances * if case.shared { case.costs } else { 1 }) as f64;
    let (weights, first) = (weights(&sizes), weights(&sizes[..2]));
    let steps = case.instances.div_ceil(BATCH_SIZE) as f64;
    let table = 4.0 * (rows * case.features as f64 + (case.instances * case.costs) as f64);
    let work = rows * (6.0 * weights - 2.0 * first) + steps * 12.0 * weights;
    ResourceDemand {
        work,
        traffic: table + steps * 28.0 * weights,
        held: table + 12.0 * weights,
    }
}

fn weights(sizes: &[usize]) -> f64 {
    sizes
        .windows(2)
        .map(|pair| (pair[0] * pair[1]) as f64)
        .sum()
}
