//! The two loops that decide how fast a node is, written for several columns at a time.
//!
//! Every lane keeps a minimum of its own and choices are made by selecting values, not by jumping,
//! so that the compiler can use vector instructions. A minimum does not depend on the order in
//! which it is taken: the answers are those of the plain loop.

use super::tableau::KnapsackTableau;

/// Columns treated together.
const LANES: usize = 4;
/// Least size of a cell that may be pivoted on.
pub(super) const PIVOT_TOLERANCE: f64 = 1e-9;
/// Least size of a cell that counts as different from 0 in a penalty.
const ZERO_TOLERANCE: f64 = 1e-12;

#[inline(always)]
fn lesser(a: f64, b: f64) -> f64 {
    if b < a { b } else { a }
}

#[inline(always)]
fn max(a: f64, b: f64) -> f64 {
    if b > a { b } else { a }
}

/// What rounding a basic item down and up costs at least.
pub(super) fn penalties(tableau: &KnapsackTableau, row: usize, value: f64) -> [f64; 2] {
    let (cells, reduced, steps) = (tableau.row(row), tableau.reduced(), tableau.steps());
    let cost = |cell: f64, reduced: f64, step: f64| {
        let move_by = (if cell > 0.0 { value } else { value - 1.0 }) / cell;
        let cost = max(reduced, 0.0) * max(step, move_by);
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
    let (mut down, mut up) = ([f64::INFINITY; LANES], [f64::INFINITY; LANES]);
    let whole = cells.len() / LANES * LANES;
    let (head, tail) = (0..whole, whole..cells.len());
    for at in head.step_by(LANES) {
        let (cells, reduced, steps) = (
            &cells[at..][..LANES],
            &reduced[at..][..LANES],
            &steps[at..][..LANES],
        );
        for lane in 0..LANES {
            let (d, u) = cost(cells[lane], reduced[lane], steps[lane]);
            down[lane] = lesser(down[lane], d);
            up[lane] = lesser(up[lane], u);
        }
    }
    for at in tail {
        let (d, u) = cost(cells[at], reduced[at], steps[at]);
        down[0] = lesser(down[0], d);
        up[0] = lesser(up[0], u);
    }
    [
        down.into_iter().fold(f64::INFINITY, lesser),
        up.into_iter().fold(f64::INFINITY, lesser),
    ]
}

/// Writes the ratio of every column that could enter for a row, infinity for the others.
pub(super) fn ratios(tableau: &KnapsackTableau, row: usize, out: &mut Vec<f64>) {
    let ratio = |(cell, reduced): (&f64, &f64)| {
        let ratio = max(*reduced, 0.0) / -cell;
        if *cell < -PIVOT_TOLERANCE {
            ratio
        } else {
            f64::INFINITY
        }
    };
    out.clear();
    out.extend(tableau.row(row).iter().zip(tableau.reduced()).map(ratio));
}

/// The first position of the least number, unless all are infinite.
pub(super) fn least(numbers: &[f64]) -> Option<usize> {
    let mut lanes = [f64::INFINITY; LANES];
    let chunks = numbers.chunks_exact(LANES);
    let rest = chunks
        .remainder()
        .iter()
        .copied()
        .fold(f64::INFINITY, lesser);
    for chunk in chunks {
        for lane in 0..LANES {
            lanes[lane] = lesser(lanes[lane], chunk[lane]);
        }
    }
    let least = lanes.into_iter().fold(rest, lesser);
    if least < f64::INFINITY {
        numbers.iter().position(|number| *number == least)
    } else {
        None
    }
}
