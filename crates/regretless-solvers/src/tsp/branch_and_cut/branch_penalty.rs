//! Branching penalties: the gain of one dual simplex step (Driebeek 1966).
//!
//! Fix a basic edge of fractional value to 0 or to 1: the duals change along that edge's row of B⁻¹
//! until the objective no longer increases. A nonbasic edge whose reduced cost reaches zero before
//! that may flip to its other bound, which decreases the slope by |α|, its entry in that row of
//! B⁻¹A (bound flipping ratio test); a binding cut ends the step. The gain of the objective is a
//! valid lower bound on that of the child, and takes one row of the inverse instead of an LP solve.

use super::cuts::NodeSetIndex;
use super::master::TspMasterLp;
use super::pricing::DualPrices;
use crate::SolveFailure;
use crate::complete_graph::{EdgeCostMatrix, EdgeEnds};
use crate::highs::{BasicVariable, BasisStatus};

/// Smaller entries of a row count as zero: the feasibility tolerance of the simplex solver.
const ZERO_TOLERANCE: f64 = 1e-9;

/// A nonbasic column that is not fixed: its bounds differ, so it can change its value.
#[derive(Debug, Clone, Copy)]
struct UnfixedNonbasic {
    ends: EdgeEnds,
    /// Absolute reduced cost.
    dual_slack: f64,
    at_upper: bool,
}

/// A step of the duals at which the slope of the objective decreases.
#[derive(Debug, Clone, Copy)]
struct Breakpoint {
    step: f64,
    slope_loss: f64,
}

/// Marks a column outside the basis.
const NONBASIC: u32 = u32::MAX;

/// Penalties of one relaxation at its optimum.
#[derive(Debug, Default)]
pub(super) struct BranchPenalties {
    /// Position of each column in the basis, or `NONBASIC`.
    basis_position: Vec<u32>,
    unfixed_nonbasic: Vec<UnfixedNonbasic>,
    /// Rows of binding cuts with their absolute duals.
    binding_cuts: Vec<(usize, f64)>,
    /// Node sets of the binding cuts, by node.
    set_index: NodeSetIndex,
    /// The current row of B⁻¹.
    inverse_row: Vec<f64>,
    /// Breakpoints of the step down to 0 and up to 1.
    breakpoints: [Vec<Breakpoint>; 2],
}

impl BranchPenalties {
    /// Loads the current optimum; `false` when there is no basis.
    pub(super) fn load(
        &mut self,
        master: &mut TspMasterLp,
        edge_costs: &EdgeCostMatrix,
        prices: &DualPrices,
    ) -> Result<bool, SolveFailure> {
        let Some(basis) = master.basis() else {
            return Ok(false);
        };
        self.basis_position.clear();
        self.basis_position.resize(master.edges.len(), NONBASIC);
        for (position, basic) in master.basic_variables()?.into_iter().enumerate() {
            if let BasicVariable::Column(column) = basic {
                self.basis_position[column] = position as u32;
            }
        }
        self.unfixed_nonbasic.clear();
        for (column, ([i, j], status)) in master.edges.iter().zip(&basis.columns).enumerate() {
            let [lower, upper] = master.relaxation.bounds()[column];
            // Fixed columns cannot enter the basis, whatever their reduced cost: they limit no
            // step.
            if *status != BasisStatus::Basic && lower < upper {
                let reduced_cost = prices.reduced_cost(edge_costs.between(*i, *j), *i, *j);
                self.unfixed_nonbasic.push(UnfixedNonbasic {
                    ends: [*i, *j],
                    dual_slack: reduced_cost.abs(),
                    at_upper: *status == BasisStatus::Upper,
                });
            }
        }
        let nodes = master.nodes();
        // The slack of a row that is basic has dual value 0: a cut that is not binding limits no
        // step.
        let is_binding = |row: &usize| basis.rows[nodes + row] != BasisStatus::Basic;
        self.binding_cuts.clear();
        for (row, dual) in master.cut_duals().enumerate() {
            if is_binding(&row) {
                self.binding_cuts.push((nodes + row, dual.abs()));
            }
        }
        let cuts = master.cuts().enumerate().filter(|(row, _)| is_binding(row));
        self.set_index
            .fill(nodes, cuts.map(|(row, cut)| ((nodes + row) as u32, cut)));
        Ok(true)
    }

    /// Lower bounds on the gain of fixing a basic column of this value to 0 and to 1.
    pub(super) fn compute(
        &mut self,
        master: &mut TspMasterLp,
        column: usize,
        value: f64,
    ) -> Result<[f64; 2], SolveFailure> {
        let position = self.basis_position[column];
        // A nonbasic column is at a bound, so its value does not change when that bound is
        // enforced.
        if position == NONBASIC {
            return Ok([0.0; 2]);
        }
        master.inverse_row(position as usize, &mut self.inverse_row)?;
        let breakpoints = &mut self.breakpoints;
        breakpoints.iter_mut().for_each(Vec::clear);
        for (row, dual) in &self.binding_cuts {
            // A binding cut's slack is unbounded on one side: behind its breakpoint the slope is
            // negative.
            record_breakpoint(breakpoints, *dual, self.inverse_row[*row], f64::INFINITY);
        }
        for column in &self.unfixed_nonbasic {
            let [i, j] = column.ends;
            // The entry in the row of B⁻¹A: 1 in both degree rows, and 1 per set of a cut that
            // contains both ends.
            let mut entry = self.inverse_row[i as usize] + self.inverse_row[j as usize];
            self.set_index
                .visit_cuts_with_both(i, j, |row| entry += self.inverse_row[row as usize]);
            // At the upper bound a reduced cost is nonpositive, so the signs of slack and entry are
            // turned.
            let signed_entry = if column.at_upper { -entry } else { entry };
            // A column between bounds 0 and 1 loses `entry` of the slope when it changes from one
            // bound to the other.
            record_breakpoint(breakpoints, column.dual_slack, signed_entry, entry.abs());
        }
        let [down, up] = breakpoints;
        // The slope at step 0 is the distance of the value to the bound that is enforced.
        Ok([gain(down, value), gain(up, 1.0 - value)])
    }
}

/// Records the step at which a dual slack that decreases by step · entry becomes zero; the step up
/// has the opposite sign, so negative entries are its breakpoints.
fn record_breakpoint(
    [down, up]: &mut [Vec<Breakpoint>; 2],
    dual_slack: f64,
    entry: f64,
    slope_loss: f64,
) {
    if entry > ZERO_TOLERANCE {
        let step = dual_slack / entry;
        down.push(Breakpoint { step, slope_loss });
    } else if entry < -ZERO_TOLERANCE {
        let step = dual_slack / -entry;
        up.push(Breakpoint { step, slope_loss });
    }
}

/// Gain of the objective until its slope is no longer positive; infinite when that never happens.
fn gain(breakpoints: &mut [Breakpoint], mut slope: f64) -> f64 {
    breakpoints.sort_unstable_by(|a, b| {
        // Ties are broken by the loss, so the order does not depend on that of the columns.
        let by_slope = a.slope_loss.total_cmp(&b.slope_loss);
        a.step.total_cmp(&b.step).then(by_slope)
    });
    let (mut step, mut total) = (0.0, 0.0);
    for breakpoint in breakpoints {
        // Dual ascent along a piecewise linear concave function: it rises up to the breakpoint at
        // which the slope is no longer positive.
        total += slope * (breakpoint.step - step);
        step = breakpoint.step;
        slope -= breakpoint.slope_loss;
        if slope <= 0.0 {
            return total;
        }
    }
    // No breakpoint ends the ascent: the child's relaxation is infeasible.
    f64::INFINITY
}
