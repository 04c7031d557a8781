//! A linear programme whose first rows stay and whose further rows come and go.
//!
//! Further rows are known by their place in a pool that never forgets, so that a basis can be taken
//! up again after rows were dropped: it names the rows that were tight, and these return. The owner
//! keeps the pool itself, that is what each row says; it hands in entries when a row is to be
//! there.

use crate::solve::SolveFailure;
use crate::solve::highs::{
    Basis, BasisStatus, Lp, LpColumns, LpRows, LpStatus, PrimalDualPoint, SimplexMethod,
};

const NO_ROW: u32 = u32::MAX;

/// A basis that survives changes of rows, and new columns.
#[derive(Debug, Clone, Default)]
pub(in crate::solve) struct BasisSnapshot {
    columns: Box<[BasisStatus]>,
    permanent_rows: Box<[BasisStatus]>,
    /// Further rows that are not slack, by their places.
    tight: Box<[(u32, BasisStatus)]>,
}

/// The linear programme and its solver.
#[derive(Debug)]
pub(in crate::solve) struct LpRelaxation {
    pub(in crate::solve) lp: Lp,
    /// Rows that stay.
    permanent_rows: usize,
    /// Solves that a further row may be slack before it is dropped.
    max_slack_solves: u32,
    bounds: Vec<[f64; 2]>,
    /// Which of the further rows each place of the pool is.
    row_of: Vec<u32>,
    /// Place of each further row.
    cut_indices: Vec<u32>,
    /// Solves for which each further row has been slack.
    slack_solves: Vec<u32>,
    pub(in crate::solve) point: PrimalDualPoint,
    method: Option<SimplexMethod>,
}

impl LpRelaxation {
    /// Rows that stay, and no columns yet.
    pub(in crate::solve) fn new(
        permanent_rows: &LpRows,
        max_slack_solves: u32,
    ) -> Result<Self, SolveFailure> {
        Self::within(Lp::new()?, permanent_rows, max_slack_solves)
    }

    /// The same in a solver that may have been used before.
    pub(in crate::solve) fn within(
        mut lp: Lp,
        permanent_rows: &LpRows,
        max_slack_solves: u32,
    ) -> Result<Self, SolveFailure> {
        lp.clear()?;
        lp.set_option(c"simplex_dual_edge_weight_strategy", 1)?;
        lp.set_option(c"simplex_scale_strategy", 0)?;
        lp.set_option(c"dual_feasibility_tolerance", 1e-9)?;
        lp.set_option(c"primal_feasibility_tolerance", 1e-9)?;
        lp.add_rows(permanent_rows)?;
        Ok(Self {
            lp,
            permanent_rows: permanent_rows.len(),
            max_slack_solves,
            bounds: Vec::new(),
            row_of: Vec::new(),
            cut_indices: Vec::new(),
            slack_solves: Vec::new(),
            point: PrimalDualPoint::default(),
            method: None,
        })
    }

    /// Adds columns, whose bounds are given once more.
    pub(in crate::solve) fn add_columns(
        &mut self,
        columns: &LpColumns,
        bounds: impl IntoIterator<Item = [f64; 2]>,
    ) -> Result<(), SolveFailure> {
        self.bounds.extend(bounds);
        debug_assert_eq!(self.bounds.len(), self.lp.num_columns() + columns.len());
        self.lp.add_columns(columns)
    }

    /// Makes room in the pool; returns the new places.
    pub(in crate::solve) fn reserve_cuts(&mut self, count: usize) -> Vec<u32> {
        let before = self.row_of.len() as u32;
        self.row_of.resize(self.row_of.len() + count, NO_ROW);
        (before..self.row_of.len() as u32).collect()
    }

    /// Adds the rows of some places.
    pub(in crate::solve) fn add_rows(
        &mut self,
        cut_indices: &[u32],
        rows: &LpRows,
    ) -> Result<(), SolveFailure> {
        for place in cut_indices {
            self.row_of[*place as usize] = self.cut_indices.len() as u32;
            self.cut_indices.push(*place);
            self.slack_solves.push(0);
        }
        self.lp.add_rows(rows)
    }

    /// Places of the further rows, in their order.
    pub(in crate::solve) fn cut_indices(&self) -> &[u32] {
        &self.cut_indices
    }

    /// The row of a place, if it is there.
    pub(in crate::solve) fn row(&self, place: u32) -> Option<usize> {
        let row = self.row_of[place as usize];
        (row != NO_ROW).then(|| self.permanent_rows + row as usize)
    }

    /// Drops rows that have been slack for long, if that is worth the trouble; `keep` says which
    /// places stay all the same.
    pub(in crate::solve) fn drop_slack_rows(
        &mut self,
        keep: impl Fn(u32) -> bool,
    ) -> Result<(), SolveFailure> {
        let slack_solves = self
            .slack_solves
            .iter()
            .filter(|slack_solves| **slack_solves > self.max_slack_solves)
            .count();
        if slack_solves < 10 + self.slack_solves.len() / 4 {
            return Ok(());
        }
        let Some(basis) = self.lp.basis() else {
            return Ok(());
        };
        let slack = basis.rows[self.permanent_rows..]
            .iter()
            .map(|status| *status == BasisStatus::Basic);
        let long = self
            .slack_solves
            .iter()
            .zip(&self.cut_indices)
            .map(|(slack_solves, place)| *slack_solves > self.max_slack_solves && !keep(*place));
        let delete: Vec<bool> = slack.zip(long).map(|(slack, long)| slack && long).collect();
        self.delete_rows(&delete, basis)
    }

    fn delete_rows(&mut self, delete: &[bool], mut basis: Basis) -> Result<(), SolveFailure> {
        let mask: Vec<bool> = std::iter::repeat_n(false, self.permanent_rows)
            .chain(delete.iter().copied())
            .collect();
        self.lp.delete_rows(&mask)?;
        retain_unmarked(&mut basis.rows, &mask);
        retain_unmarked(&mut self.slack_solves, delete);
        let gone = self
            .cut_indices
            .iter()
            .zip(delete)
            .filter(|(_, delete)| **delete);
        gone.for_each(|(place, _)| self.row_of[*place as usize] = NO_ROW);
        retain_unmarked(&mut self.cut_indices, delete);
        self.cut_indices
            .iter()
            .enumerate()
            .for_each(|(row, place)| self.row_of[*place as usize] = row as u32);
        self.lp.set_basis(&basis)
    }

    /// Drops the marked columns but those in the basis; returns which are gone.
    pub(in crate::solve) fn drop_columns(
        &mut self,
        mut delete: Vec<bool>,
    ) -> Result<Vec<bool>, SolveFailure> {
        let Some(mut basis) = self.lp.basis() else {
            return Ok(vec![false; delete.len()]);
        };
        delete
            .iter_mut()
            .zip(&basis.columns)
            .for_each(|(delete, status)| *delete &= *status != BasisStatus::Basic);
        self.lp.delete_columns(&delete)?;
        retain_unmarked(&mut self.bounds, &delete);
        retain_unmarked(&mut basis.columns, &delete);
        self.lp.set_basis(&basis)?;
        Ok(delete)
    }

    /// Limits a column to these values.
    pub(in crate::solve) fn set_bounds(
        &mut self,
        column: usize,
        bounds: [f64; 2],
    ) -> Result<(), SolveFailure> {
        if self.bounds[column] != bounds {
            self.bounds[column] = bounds;
            self.lp.set_column_bounds(column, bounds)?;
        }
        Ok(())
    }

    /// Least and greatest value of each column at present.
    pub(in crate::solve) fn bounds(&self) -> &[[f64; 2]] {
        &self.bounds
    }

    /// Solves and reads the point.
    pub(in crate::solve) fn solve(
        &mut self,
        method: SimplexMethod,
    ) -> Result<LpStatus, SolveFailure> {
        let outcome = self.run(method)?;
        if outcome == LpStatus::Optimal || outcome == LpStatus::ObjectiveBound {
            self.lp.read_point(&mut self.point)?;
            let duals = self.point.dual[self.permanent_rows..].iter();
            self.slack_solves
                .iter_mut()
                .zip(duals)
                .for_each(|(slack_solves, dual)| {
                    *slack_solves = if *dual != 0.0 { 0 } else { *slack_solves + 1 }
                });
        }
        Ok(outcome)
    }

    /// Solves only.
    pub(in crate::solve) fn run(
        &mut self,
        method: SimplexMethod,
    ) -> Result<LpStatus, SolveFailure> {
        if self.method != Some(method) {
            self.lp.use_simplex(method)?;
            self.method = Some(method);
        }
        self.lp.solve()
    }

    /// The present basis.
    pub(in crate::solve) fn snapshot(&self) -> Option<BasisSnapshot> {
        let basis = self.lp.basis()?;
        let (permanent_rows, further) = basis.rows.split_at(self.permanent_rows);
        let stands = self
            .cut_indices
            .iter()
            .copied()
            .zip(further.iter().copied());
        let tight = stands
            .filter(|(_, status)| *status != BasisStatus::Basic)
            .collect();
        Some(BasisSnapshot {
            columns: basis.columns.into(),
            permanent_rows: permanent_rows.into(),
            tight,
        })
    }

    /// Places that must be rows again before a basis can be taken up.
    pub(in crate::solve) fn missing(&self, snapshot: &BasisSnapshot) -> Vec<u32> {
        let cut_indices = snapshot.tight.iter().map(|(place, _)| *place);
        cut_indices
            .filter(|place| self.row_of[*place as usize] == NO_ROW)
            .collect()
    }

    /// Takes up a basis again whose tight rows are there.
    pub(in crate::solve) fn restore(
        &mut self,
        snapshot: &BasisSnapshot,
    ) -> Result<(), SolveFailure> {
        let mut columns = snapshot.columns.to_vec();
        columns.resize(self.bounds.len(), BasisStatus::Lower);
        let mut rows = snapshot.permanent_rows.to_vec();
        rows.resize(
            self.permanent_rows + self.cut_indices.len(),
            BasisStatus::Basic,
        );
        for (place, status) in &snapshot.tight {
            rows[self.permanent_rows + self.row_of[*place as usize] as usize] = *status;
        }
        self.lp.set_basis(&Basis { columns, rows })
    }
}

/// A power of two that brings costs of this mean size near to 2 to the power of `aim`.
pub(in crate::solve) fn scaling_factor(costs: impl ExactSizeIterator<Item = f64>, aim: f64) -> f64 {
    let count = costs.len().max(1) as f64;
    let mean = costs.map(f64::abs).sum::<f64>() / count;
    if mean > 0.0 && mean.is_finite() {
        2.0_f64.powi((aim - mean.log2().round()).clamp(-500.0, 500.0) as i32)
    } else {
        1.0
    }
}

/// Keeps the items whose mark is not set.
pub(in crate::solve) fn retain_unmarked<T>(items: &mut Vec<T>, marks: &[bool]) {
    let mut marks = marks.iter();
    items.retain(|_| !marks.next().copied().unwrap_or(false));
}
