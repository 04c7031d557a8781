//! What one step of the dual simplex method says about deciding an edge (Driebeek 1966).
//!
//! Let the value of a basic edge fall from f to 0, or rise to 1: the duals move along that edge's
//! row of B⁻¹ until the objective no longer rises. Every edge out of the basis whose reduced cost d
//! reaches zero on the way may cross to its other bound, which takes |α| off the slope; a tight cut
//! stops the way. The objective gained is a valid estimate from below, and costs one row of the
//! inverse instead of a solve.

use super::cuts::NodeSetIndex;
use super::master::TspMasterLp;
use super::pricing::DualPrices;
use crate::solve::SolveFailure;
use crate::solve::complete_graph::DistanceMatrix;
use crate::solve::highs::{BasicVariable, BasisStatus};

/// Entries of a row that are smaller count as zero.
const ZERO_TOLERANCE: f64 = 1e-9;

/// Estimates for one relaxation at its optimum.
#[derive(Debug, Default)]
pub(super) struct BranchPenalties {
    /// Place of each column in the basis.
    member: Vec<u32>,
    /// Columns out of the basis that can move: ends, absolute reduced cost, whether at the upper
    /// bound.
    free: Vec<([u32; 2], f64, bool)>,
    /// Rows of tight cuts with their absolute duals.
    tight: Vec<(usize, f64)>,
    nesting: NodeSetIndex,
    row: Vec<f64>,
    /// Where the slope changes on the way down and up, and by how much.
    turns: [Vec<(f64, f64)>; 2],
}

impl BranchPenalties {
    /// Takes over the present optimum.
    pub(super) fn load(
        &mut self,
        master: &mut TspMasterLp,
        distances: &DistanceMatrix,
        prices: &DualPrices,
    ) -> Result<bool, SolveFailure> {
        let Some(basis) = master.basis() else {
            return Ok(false);
        };
        self.member.clear();
        self.member.resize(master.edges.len(), u32::MAX);
        for (place, member) in master.basic_variables()?.into_iter().enumerate() {
            if let BasicVariable::Column(column) = member {
                self.member[column] = place as u32;
            }
        }
        self.free.clear();
        for (column, ([i, j], status)) in master.edges.iter().zip(&basis.columns).enumerate() {
            let [lower, upper] = master.bounds(column);
            if *status != BasisStatus::Basic && lower < upper {
                let reduced = prices.reduced(distances.between(*i, *j), *i, *j);
                self.free
                    .push(([*i, *j], reduced.abs(), *status == BasisStatus::Upper));
            }
        }
        let nodes = master.nodes();
        let is_tight = |row: &usize| basis.rows[nodes + row] != BasisStatus::Basic;
        self.tight.clear();
        let duals = master
            .cut_duals()
            .enumerate()
            .filter(|(row, _)| is_tight(row));
        self.tight
            .extend(duals.map(|(row, dual)| (nodes + row, dual.abs())));
        let cuts = master.cuts().enumerate().filter(|(row, _)| is_tight(row));
        self.nesting
            .fill(nodes, cuts.map(|(row, cut)| ((nodes + row) as u32, cut)));
        Ok(true)
    }

    /// Objective gained at least by taking a basic column from its value to 0 and to 1.
    pub(super) fn of(
        &mut self,
        master: &mut TspMasterLp,
        column: usize,
        value: f64,
    ) -> Result<[f64; 2], SolveFailure> {
        if self.member[column] == u32::MAX {
            return Ok([0.0; 2]);
        }
        master.inverse_row(self.member[column] as usize, &mut self.row)?;
        self.turns.iter_mut().for_each(Vec::clear);
        for (row, dual) in &self.tight {
            record_breakpoint(&mut self.turns, *dual, self.row[*row], f64::INFINITY);
        }
        for ([i, j], margin, upper) in &self.free {
            let mut entry = self.row[*i as usize] + self.row[*j as usize];
            self.nesting
                .around_both(*i, *j, |row| entry += self.row[row as usize]);
            record_breakpoint(
                &mut self.turns,
                *margin,
                if *upper { -entry } else { entry },
                entry.abs(),
            );
        }
        let [down, up] = &mut self.turns;
        Ok([gain(down, value), gain(up, 1.0 - value)])
    }
}

/// Notes where a margin that moves by −Δ·entry vanishes.
fn record_breakpoint([down, up]: &mut [Vec<(f64, f64)>; 2], margin: f64, entry: f64, slope: f64) {
    if entry > ZERO_TOLERANCE {
        down.push((margin / entry, slope));
    } else if entry < -ZERO_TOLERANCE {
        up.push((margin / -entry, slope));
    }
}

/// Follows the slope from turn to turn until it is no longer positive.
fn gain(turns: &mut [(f64, f64)], mut slope: f64) -> f64 {
    turns.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let (mut at, mut total) = (0.0, 0.0);
    for (turn, loss) in turns {
        total += slope * (*turn - at);
        at = *turn;
        slope -= *loss;
        if slope <= 0.0 {
            return total;
        }
    }
    f64::INFINITY
}
