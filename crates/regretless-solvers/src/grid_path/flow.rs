//! The flow model of a grid: one unit flows from the source to the target.

#[cfg(feature = "highs")]
use std::sync::Arc;

use super::GridPathSolver;
#[cfg(feature = "highs")]
use crate::highs::LinearModel;

/// Entries of the flow balance of each node: arcs that leave count 1, arcs that arrive −1.
pub fn balances(rows: usize, cols: usize) -> Vec<Vec<(usize, f64)>> {
    let mut balances = vec![Vec::new(); rows * cols];
    for arc in 0..GridPathSolver::num_arcs(rows, cols) {
        let (tail, head) = ends(cols, arc);
        balances[tail].push((arc, 1.0));
        balances[head].push((arc, -1.0));
    }
    balances
}

/// The nodes an arc joins, numbered row by row.
pub fn ends(cols: usize, arc: usize) -> (usize, usize) {
    let (row, index) = (arc / (2 * cols - 1), arc % (2 * cols - 1));
    if index < cols - 1 {
        (row * cols + index, row * cols + index + 1)
    } else {
        let col = index - (cols - 1);
        (row * cols + col, (row + 1) * cols + col)
    }
}

/// The arc from a node to the right.
pub fn right_arc(cols: usize, row: usize, col: usize) -> usize {
    row * (2 * cols - 1) + col
}

/// The arc from a node down.
pub fn down_arc(cols: usize, row: usize, col: usize) -> usize {
    row * (2 * cols - 1) + cols - 1 + col
}

/// The linear model of the paths from one node of a grid to another; all its vertices are paths.
#[cfg(feature = "highs")]
pub fn model([rows, cols]: [usize; 2], source: usize, target: usize) -> LinearModel {
    let arcs = GridPathSolver::num_arcs(rows, cols);
    let mut model = LinearModel {
        cost: vec![0.0; arcs],
        column_bounds: vec![[0.0, 1.0]; arcs],
        integer: vec![false; arcs],
        column_names: Arc::new((0..arcs).map(|arc| format!("arc{arc}")).collect()),
        ..LinearModel::default()
    };
    for (node, balance) in balances(rows, cols).into_iter().enumerate() {
        let supply = f64::from(u8::from(node == source)) - f64::from(u8::from(node == target));
        model.row_bounds.push([supply, supply]);
        Arc::make_mut(&mut model.row_names).push(format!("node{node}"));
        Arc::make_mut(&mut model.rows).push(balance);
    }
    model
}
