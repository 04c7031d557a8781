//! The optimal vertex of the knapsack's LP relaxation.

use super::tableau::KnapsackTableau;
use crate::decision::Decision;

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

/// The values of all items in a solved tableau.
pub(super) fn item_values(tableau: &KnapsackTableau, chosen: &[u32], out: &mut [f64]) {
    out.fill(0.0);
    for item in chosen {
        out[*item as usize] = 1.0;
    }
    for code in tableau.codes() {
        if tableau.is_item(*code) && code.is_complemented() {
            out[code.variable()] = 1.0;
        }
    }
    for (code, value) in tableau.basics().iter().zip(tableau.values()) {
        if tableau.is_item(*code) {
            let fraction = if code.is_complemented() {
                1.0 - value
            } else {
                *value
            };
            out[code.variable()] = fraction.clamp(0.0, 1.0);
        }
    }
}

/// The basic variables of the capacity rows.
pub(super) fn basis(tableau: &KnapsackTableau, items: usize) -> Vec<KnapsackBasicVariable> {
    let basic = |variable: usize| match variable.checked_sub(items) {
        None => KnapsackBasicVariable::Item(variable as u32),
        Some(row) => KnapsackBasicVariable::Slack(row as u32),
    };
    let capacity_rows = tableau.rows() - 1;
    tableau.basics()[..capacity_rows]
        .iter()
        .map(|code| basic(code.variable()))
        .collect()
}

/// The duals of the capacity rows, in the scale of the tableau.
pub(super) fn duals(tableau: &KnapsackTableau, items: usize, out: &mut [f64]) {
    out.fill(0.0);
    for (code, reduced) in tableau.codes().iter().zip(tableau.reduced()) {
        if let Some(row) = code.variable().checked_sub(items) {
            out[row] = -reduced.max(0.0);
        }
    }
}
