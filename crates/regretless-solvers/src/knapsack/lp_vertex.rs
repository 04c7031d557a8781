//! The optimal vertex of the knapsack's LP relaxation.

use super::tableau::KnapsackTableau;
use regretless_base::decision::Decision;

/// A basic variable of the LP relaxation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KnapsackBasicVariable {
    /// The chosen fraction of an item.
    Item(u32),
    /// The slack of the capacity of a dimension.
    Slack(u32),
}

/// An optimal vertex of the LP relaxation with its basis and duals.
#[derive(Debug, Clone, PartialEq)]
pub struct LpVertex {
    /// The chosen fraction of each item.
    pub decision: Decision,
    /// Its objective.
    pub objective: f64,
    /// Dual price of each capacity: never positive.
    pub duals: Vec<f64>,
    /// Reduced cost of each item, `cost − Σ dual · weight`: negative at 1, positive at 0, 0
    /// between.
    pub reduced_costs: Vec<f64>,
    /// One basic variable per dimension, in no particular order.
    pub basis: Vec<KnapsackBasicVariable>,
}

/// The values of all items: those fixed at 1 before the solve, and those in the tableau.
pub(super) fn item_values(tableau: &KnapsackTableau, fixed_at_one: &[u32], out: &mut [f64]) {
    out.fill(0.0);
    for item in fixed_at_one {
        out[*item as usize] = 1.0;
    }
    for variable in tableau.nonbasics() {
        // A complemented variable that is nonbasic is 0, so the item is at 1.
        if tableau.is_item(*variable) && variable.is_complemented() {
            out[variable.index()] = 1.0;
        }
    }
    for (variable, value) in tableau.basics().iter().zip(tableau.values()) {
        if tableau.is_item(*variable) {
            let fraction = if variable.is_complemented() {
                1.0 - value
            } else {
                *value
            };
            out[variable.index()] = fraction.clamp(0.0, 1.0);
        }
    }
}

/// The basic variables of the capacity rows.
pub(super) fn basis(tableau: &KnapsackTableau, items: usize) -> Vec<KnapsackBasicVariable> {
    let basic = |index: usize| match index.checked_sub(items) {
        None => KnapsackBasicVariable::Item(index as u32),
        Some(row) => KnapsackBasicVariable::Slack(row as u32),
    };
    // The last row is the cardinality row.
    let capacity_rows = tableau.rows() - 1;
    tableau.basics()[..capacity_rows]
        .iter()
        .map(|variable| basic(variable.index()))
        .collect()
}

/// The duals of the capacity rows, in the scale of the tableau.
pub(super) fn duals(tableau: &KnapsackTableau, items: usize, out: &mut [f64]) {
    out.fill(0.0);
    for (variable, reduced_cost) in tableau.nonbasics().iter().zip(tableau.reduced_costs()) {
        if let Some(row) = variable.index().checked_sub(items) {
            // The dual of a row is the reduced cost of its slack; basic slacks have none.
            out[row] = -reduced_cost.max(0.0);
        }
    }
}
