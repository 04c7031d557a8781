//! An LP relaxation with a cut pool: permanent rows stay, cut rows are added and deleted.
//!
//! A cut is identified by its index in the pool, which only grows. A basis can therefore be
//! restored after rows were deleted: its snapshot lists the binding cuts by index, and their rows
//! are added again. The pool itself, with the coefficients of each cut, belongs to the caller, who
//! supplies the coefficients whenever a row is added.

use crate::SolveFailure;
use crate::highs::{
    Basis, BasisStatus, Lp, LpColumns, LpRows, LpStatus, PrimalDualPoint, SimplexMethod,
};

/// Marks a cut of the pool that has no row at present.
const NO_ROW: u32 = u32::MAX;
/// Old rows are deleted once there are at least `MIN_OLD_ROWS` of them plus one per
/// `OLD_ROW_DIVISOR` cut rows. A deletion makes the simplex solver factorize anew, so rows are
/// deleted in large groups.
const MIN_OLD_ROWS: usize = 10;
/// See [`MIN_OLD_ROWS`].
const OLD_ROW_DIVISOR: usize = 4;
/// Feasibility tolerance of the simplex solver, tighter than its default of 10⁻⁷, because bounds
/// are computed from its duals.
const LP_FEASIBILITY_TOLERANCE: f64 = 1e-9;
/// Exponents of two that a scaling factor stays within: beyond them products would over- or
/// underflow.
const MAX_SCALING_EXPONENT: f64 = 500.0;

/// A basis that stays valid when cut rows are deleted and columns are added.
#[derive(Debug, Clone, Default)]
pub(crate) struct BasisSnapshot {
    columns: Box<[BasisStatus]>,
    permanent_rows: Box<[BasisStatus]>,
    /// Nonbasic cut rows, by their index in the pool.
    binding_cuts: Box<[(u32, BasisStatus)]>,
}

/// The LP and its solver.
#[derive(Debug)]
pub(crate) struct LpRelaxation {
    pub(crate) lp: Lp,
    /// Number of rows that are never deleted.
    permanent_rows: usize,
    /// Age from which a cut row is deleted.
    max_age: u32,
    bounds: Vec<[f64; 2]>,
    /// Cut row of each cut of the pool, or `NO_ROW`.
    row_of_cut: Vec<u32>,
    /// Index in the pool of each cut row.
    cut_indices: Vec<u32>,
    /// Age of each cut row: the number of consecutive solves with a zero dual.
    ages: Vec<u32>,
    pub(crate) point: PrimalDualPoint,
    method: Option<SimplexMethod>,
}

impl LpRelaxation {
    /// An LP with these permanent rows and no columns.
    pub(crate) fn new(permanent_rows: &LpRows, max_age: u32) -> Result<Self, SolveFailure> {
        Self::with_solver(Lp::new()?, permanent_rows, max_age)
    }

    /// The same in an existing solver, which is cleared first.
    pub(crate) fn with_solver(
        mut lp: Lp,
        permanent_rows: &LpRows,
        max_age: u32,
    ) -> Result<Self, SolveFailure> {
        lp.clear()?;
        // Devex pricing (1) and no scaling (0): the costs are scaled by `scaling_factor`, and the
        // coefficients are small numbers already.
        lp.set_option(c"simplex_dual_edge_weight_strategy", 1)?;
        lp.set_option(c"simplex_scale_strategy", 0)?;
        lp.set_option(c"dual_feasibility_tolerance", LP_FEASIBILITY_TOLERANCE)?;
        lp.set_option(c"primal_feasibility_tolerance", LP_FEASIBILITY_TOLERANCE)?;
        lp.add_rows(permanent_rows)?;
        Ok(Self {
            lp,
            permanent_rows: permanent_rows.len(),
            max_age,
            bounds: Vec::new(),
            row_of_cut: Vec::new(),
            cut_indices: Vec::new(),
            ages: Vec::new(),
            point: PrimalDualPoint::default(),
            method: None,
        })
    }

    /// Adds columns; `bounds` repeats the bounds of these columns.
    pub(crate) fn add_columns(
        &mut self,
        columns: &LpColumns,
        bounds: impl IntoIterator<Item = [f64; 2]>,
    ) -> Result<(), SolveFailure> {
        self.bounds.extend(bounds);
        debug_assert_eq!(self.bounds.len(), self.lp.num_columns() + columns.len());
        self.lp.add_columns(columns)
    }

    /// Extends the pool by this many cuts; returns their indices.
    pub(crate) fn reserve_cuts(&mut self, count: usize) -> Vec<u32> {
        let before = self.row_of_cut.len() as u32;
        self.row_of_cut
            .resize(self.row_of_cut.len() + count, NO_ROW);
        (before..self.row_of_cut.len() as u32).collect()
    }

    /// Adds the rows of these cuts.
    pub(crate) fn add_rows(
        &mut self,
        cut_indices: &[u32],
        rows: &LpRows,
    ) -> Result<(), SolveFailure> {
        for cut in cut_indices {
            self.row_of_cut[*cut as usize] = self.cut_indices.len() as u32;
            self.cut_indices.push(*cut);
            self.ages.push(0);
        }
        self.lp.add_rows(rows)
    }

    /// Pool indices of the cut rows, in row order.
    pub(crate) fn cut_indices(&self) -> &[u32] {
        &self.cut_indices
    }

    /// The LP row of a cut, if it has one at present.
    pub(crate) fn row(&self, cut: u32) -> Option<usize> {
        let row = self.row_of_cut[cut as usize];
        (row != NO_ROW).then(|| self.permanent_rows + row as usize)
    }

    /// Deletes cut rows that are older than the allowed age, if there
    /// are enough of them. Cuts for which `keep` holds stay.
    pub(crate) fn delete_old_rows(
        &mut self,
        keep: impl Fn(u32) -> bool,
    ) -> Result<(), SolveFailure> {
        let max_age = self.max_age;
        let is_old = |age: &u32| *age > max_age;
        let old_rows = self.ages.iter().filter(|count| is_old(count));
        if old_rows.count() < MIN_OLD_ROWS + self.ages.len() / OLD_ROW_DIVISOR {
            return Ok(());
        }
        let Some(basis) = self.lp.basis() else {
            return Ok(());
        };
        let statuses = &basis.rows[self.permanent_rows..];
        let mut delete = Vec::with_capacity(statuses.len());
        for (row, status) in statuses.iter().enumerate() {
            let is_deletable = is_old(&self.ages[row]) && !keep(self.cut_indices[row]);
            delete.push(*status == BasisStatus::Basic && is_deletable);
        }
        self.delete_rows(&delete, basis)
    }

    fn delete_rows(&mut self, delete: &[bool], mut basis: Basis) -> Result<(), SolveFailure> {
        let mask: Vec<bool> = std::iter::repeat_n(false, self.permanent_rows)
            .chain(delete.iter().copied())
            .collect();
        self.lp.delete_rows(&mask)?;
        retain_unmarked(&mut basis.rows, &mask);
        retain_unmarked(&mut self.ages, delete);
        for (cut, delete) in self.cut_indices.iter().zip(delete) {
            if *delete {
                self.row_of_cut[*cut as usize] = NO_ROW;
            }
        }
        retain_unmarked(&mut self.cut_indices, delete);
        for (row, cut) in self.cut_indices.iter().enumerate() {
            self.row_of_cut[*cut as usize] = row as u32;
        }
        self.lp.set_basis(&basis)
    }

    /// Deletes the marked columns except basic ones; returns which were deleted.
    pub(crate) fn drop_columns(
        &mut self,
        mut delete: Vec<bool>,
    ) -> Result<Vec<bool>, SolveFailure> {
        let Some(mut basis) = self.lp.basis() else {
            return Ok(vec![false; delete.len()]);
        };
        for (delete, status) in delete.iter_mut().zip(&basis.columns) {
            *delete &= *status != BasisStatus::Basic;
        }
        self.lp.delete_columns(&delete)?;
        retain_unmarked(&mut self.bounds, &delete);
        retain_unmarked(&mut basis.columns, &delete);
        self.lp.set_basis(&basis)?;
        Ok(delete)
    }

    /// Sets the bounds of a column.
    pub(crate) fn set_bounds(
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

    /// Current lower and upper bound of each column.
    pub(crate) fn bounds(&self) -> &[[f64; 2]] {
        &self.bounds
    }

    /// Solves and reads the primal and dual solution.
    pub(crate) fn solve(&mut self, method: SimplexMethod) -> Result<LpStatus, SolveFailure> {
        let status = self.run(method)?;
        if status == LpStatus::Optimal || status == LpStatus::ObjectiveBound {
            self.lp.read_point(&mut self.point)?;
            let duals = &self.point.dual[self.permanent_rows..];
            for (age, dual) in self.ages.iter_mut().zip(duals) {
                *age = if *dual != 0.0 { 0 } else { *age + 1 };
            }
        }
        Ok(status)
    }

    /// Solves without reading the solution.
    pub(crate) fn run(&mut self, method: SimplexMethod) -> Result<LpStatus, SolveFailure> {
        if self.method != Some(method) {
            self.lp.use_simplex(method)?;
            self.method = Some(method);
        }
        self.lp.solve()
    }

    /// A snapshot of the current basis.
    pub(crate) fn snapshot(&self) -> Option<BasisSnapshot> {
        let basis = self.lp.basis()?;
        let (permanent_rows, cut_rows) = basis.rows.split_at(self.permanent_rows);
        let statuses = self
            .cut_indices
            .iter()
            .copied()
            .zip(cut_rows.iter().copied());
        let binding_cuts = statuses
            .filter(|(_, status)| *status != BasisStatus::Basic)
            .collect();
        Some(BasisSnapshot {
            columns: basis.columns.into(),
            permanent_rows: permanent_rows.into(),
            binding_cuts,
        })
    }

    /// Binding cuts of a snapshot whose rows must be added before it can be restored.
    pub(crate) fn missing_cuts(&self, snapshot: &BasisSnapshot) -> Vec<u32> {
        let cuts = snapshot.binding_cuts.iter().map(|(cut, _)| *cut);
        cuts.filter(|cut| self.row_of_cut[*cut as usize] == NO_ROW)
            .collect()
    }

    /// Restores a basis whose binding cuts all have rows. Columns added since are nonbasic.
    pub(crate) fn restore(&mut self, snapshot: &BasisSnapshot) -> Result<(), SolveFailure> {
        let mut columns = snapshot.columns.to_vec();
        columns.resize(self.bounds.len(), BasisStatus::Lower);
        let mut rows = snapshot.permanent_rows.to_vec();
        rows.resize(
            self.permanent_rows + self.cut_indices.len(),
            BasisStatus::Basic,
        );
        for (cut, status) in &snapshot.binding_cuts {
            rows[self.permanent_rows + self.row_of_cut[*cut as usize] as usize] = *status;
        }
        self.lp.set_basis(&Basis { columns, rows })
    }
}

/// A power of two that scales the mean absolute cost to about 2 to the power of `exponent`.
pub(crate) fn scaling_factor(costs: impl ExactSizeIterator<Item = f64>, exponent: f64) -> f64 {
    let count = costs.len().max(1) as f64;
    let mean = costs.map(f64::abs).sum::<f64>() / count;
    if mean > 0.0 && mean.is_finite() {
        let shift = exponent - mean.log2().round();
        2.0_f64.powi(shift.clamp(-MAX_SCALING_EXPONENT, MAX_SCALING_EXPONENT) as i32)
    } else {
        1.0
    }
}

/// Keeps the items whose mark is not set.
pub(crate) fn retain_unmarked<T>(items: &mut Vec<T>, marks: &[bool]) {
    let mut marks = marks.iter();
    items.retain(|_| !marks.next().copied().unwrap_or(false));
}
