//! The linear relaxation of the knapsack: items may be taken in part.

use super::tableau::KnapsackTableau;
use crate::decision::Decision;

/// A basic variable of a linear programme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KnapsackBasicVariable {
    /// The share taken of an item.
    Item(u32),
    /// What is left of the capacity of a dimension.
    Slack(u32),
}

/// The cheapest point of the linear relaxation, a vertex.
#[derive(Debug, Clone, PartialEq)]
pub struct LpVertex {
    /// How much is taken of each item.
    pub decision: Decision,
    /// Its cost.
    pub objective: f64,
    /// What one more unit of each capacity changes in the objective: never positive.
    pub duals: Vec<f64>,
    /// Reduced cost of each item, `cost − Σ dual · weight`: negative at 1, positive at 0, 0
    /// between.
    pub reduced_costs: Vec<f64>,
    /// One basic variable per dimension, in no particular order of meaning.
    pub basis: Vec<KnapsackBasicVariable>,
}

/// The shares of all items that a solved tableau takes.
pub(super) fn item_values(tableau: &KnapsackTableau, taken: &[u32], out: &mut [f64]) {
    out.fill(0.0);
    taken.iter().for_each(|item| out[*item as usize] = 1.0);
    for code in tableau
        .codes()
        .iter()
        .filter(|code| tableau.is_item(**code) && code.complemented())
    {
        out[code.variable()] = 1.0;
    }
    for (code, value) in tableau.basics().iter().zip(tableau.values()) {
        if tableau.is_item(*code) {
            let share = if code.complemented() {
                1.0 - value
            } else {
                *value
            };
            out[code.variable()] = share.clamp(0.0, 1.0);
        }
    }
}

/// The basic variables of the capacity rows.
pub(super) fn basis(tableau: &KnapsackTableau, items: usize) -> Vec<KnapsackBasicVariable> {
    let name = |variable: usize| match variable.checked_sub(items) {
        None => KnapsackBasicVariable::Item(variable as u32),
        Some(row) => KnapsackBasicVariable::Slack(row as u32),
    };
    let counting = tableau.rows() - 1;
    tableau.basics()[..counting]
        .iter()
        .map(|code| name(code.variable()))
        .collect()
}

/// The duals of the capacity rows in the tableau's own scale.
pub(super) fn duals(tableau: &KnapsackTableau, items: usize, out: &mut [f64]) {
    out.fill(0.0);
    for (code, reduced) in tableau.codes().iter().zip(tableau.reduced()) {
        if let Some(row) = code.variable().checked_sub(items) {
            out[row] = -reduced.max(0.0);
        }
    }
}
