//! The inner loops of a node, ratio test and penalties, written for the compiler to vectorize.
//!
//! Every lane keeps its own minimum, and values are selected without branches. A minimum does not
//! depend on the order of its operands: the results are those of the scalar loop.

use super::tableau::KnapsackTableau;

/// Columns per iteration: four `f64` fill an AVX2 register.
const COLUMNS_PER_CHUNK: usize = 4;
/// Smallest absolute value of a pivot; smaller ones are not distinguishable from rounding errors.
pub(super) const PIVOT_TOLERANCE: f64 = 1e-9;
/// Smallest absolute value of a cell that counts as nonzero in a penalty: above rounding errors.
const ZERO_TOLERANCE: f64 = 1e-12;

#[inline(always)]
fn min(a: f64, b: f64) -> f64 {
    // Written as a comparison, which is one instruction; `f64::min` would handle NaN with several.
    if b < a { b } else { a }
}

#[inline(always)]
fn max(a: f64, b: f64) -> f64 {
    if b > a { b } else { a }
}

/// Penalties (Driebeek 1966) of fixing a basic item at 0 and at 1: lower bounds on the increase of
/// the objective.
pub(super) fn penalties(tableau: &KnapsackTableau, row: usize, value: f64) -> [f64; 2] {
    let (cells, reduced, steps) = (tableau.row(row), tableau.reduced_costs(), tableau.steps());
    let cost = |cell: f64, reduced: f64, step: f64| {
        let change = (if cell > 0.0 { value } else { value - 1.0 }) / cell;
        // An item that enters changes by at least its step, the distance of its bounds; a slack by
        // what the ratio says.
        let cost = max(reduced, 0.0) * max(step, change);
        let down = if cell > ZERO_TOLERANCE {
            cost
        } else {
            f64::INFINITY
        };
        let up = if cell < -ZERO_TOLERANCE {
            cost
        } else {
            f64::INFINITY
        };
        (down, up)
    };
    // One minimum per lane: a single one would make every comparison wait for the one before.
    let (mut down, mut up) = (
        [f64::INFINITY; COLUMNS_PER_CHUNK],
        [f64::INFINITY; COLUMNS_PER_CHUNK],
    );
    let chunked = cells.len() / COLUMNS_PER_CHUNK * COLUMNS_PER_CHUNK;
    let (head, tail) = (0..chunked, chunked..cells.len());
    for start in head.step_by(COLUMNS_PER_CHUNK) {
        let (cells, reduced, steps) = (
            &cells[start..][..COLUMNS_PER_CHUNK],
            &reduced[start..][..COLUMNS_PER_CHUNK],
            &steps[start..][..COLUMNS_PER_CHUNK],
        );
        for lane in 0..COLUMNS_PER_CHUNK {
            let (d, u) = cost(cells[lane], reduced[lane], steps[lane]);
            down[lane] = min(down[lane], d);
            up[lane] = min(up[lane], u);
        }
    }
    for i in tail {
        let (d, u) = cost(cells[i], reduced[i], steps[i]);
        down[0] = min(down[0], d);
        up[0] = min(up[0], u);
    }
    [
        down.into_iter().fold(f64::INFINITY, min),
        up.into_iter().fold(f64::INFINITY, min),
    ]
}

/// Writes the dual ratio of every column that may enter for a row, infinity for the others.
pub(super) fn ratios(tableau: &KnapsackTableau, row: usize, out: &mut Vec<f64>) {
    let ratio = |cell: f64, reduced: f64| {
        // Computed before the comparison: without branches the loop vectorizes.
        let ratio = max(reduced, 0.0) / -cell;
        if cell < -PIVOT_TOLERANCE {
            ratio
        } else {
            f64::INFINITY
        }
    };
    out.clear();
    let columns = tableau.row(row).iter().zip(tableau.reduced_costs());
    out.extend(columns.map(|(cell, reduced)| ratio(*cell, *reduced)));
}

/// The first position of the minimum, unless all numbers are infinite.
pub(super) fn argmin(numbers: &[f64]) -> Option<usize> {
    let mut lanes = [f64::INFINITY; COLUMNS_PER_CHUNK];
    let chunks = numbers.chunks_exact(COLUMNS_PER_CHUNK);
    let tail_min = chunks.remainder().iter().copied().fold(f64::INFINITY, min);
    for chunk in chunks {
        for lane in 0..COLUMNS_PER_CHUNK {
            lanes[lane] = min(lanes[lane], chunk[lane]);
        }
    }
    let min = lanes.into_iter().fold(tail_min, min);
    if min < f64::INFINITY {
        // The position is searched afterwards, since only one pass in many needs it.
        numbers.iter().position(|number| *number == min)
    } else {
        None
    }
}
