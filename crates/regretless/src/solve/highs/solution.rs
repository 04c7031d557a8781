//! What an [`Lp`] knows after a solve.

use super::{BasicVariable, Basis, BasisStatus, Lp, PrimalDualPoint};
use crate::solve::SolveFailure;
use crate::solve::relaxation::CostRanges;

impl Lp {
    /// Objective of the last solve's point.
    pub fn objective(&self) -> f64 {
        self.raw.objective()
    }

    /// What the last search over whole numbers proved: no point is better than this.
    ///
    /// # Errors
    /// When nothing was solved.
    pub fn bound(&self) -> Result<f64, SolveFailure> {
        self.raw.float_info(c"mip_dual_bound")
    }

    /// Nodes of the last search over whole numbers.
    ///
    /// # Errors
    /// When nothing was solved.
    pub fn nodes(&self) -> Result<u64, SolveFailure> {
        Ok(self.raw.long_info(c"mip_node_count")?.max(0).unsigned_abs())
    }

    /// Iterations of the last linear solve.
    ///
    /// # Errors
    /// When nothing was solved.
    pub fn iterations(&self) -> Result<u32, SolveFailure> {
        Ok(self
            .raw
            .int_info(c"simplex_iteration_count")?
            .max(0)
            .unsigned_abs())
    }

    /// Whether the last solve left a feasible point.
    pub fn has_point(&self) -> bool {
        self.raw
            .int_info(c"primal_solution_status")
            .is_ok_and(|status| status == highs_sys::SOLUTION_STATUS_FEASIBLE)
    }

    /// The point the last solve ended at.
    ///
    /// # Errors
    /// When nothing was solved.
    pub fn point(&self) -> Result<PrimalDualPoint, SolveFailure> {
        let mut point = PrimalDualPoint::default();
        self.read_point(&mut point)?;
        Ok(point)
    }

    /// Overwrites `point` with the point the last solve ended at, feasible or not.
    ///
    /// # Errors
    /// When nothing was solved since the model changed.
    pub fn read_point(&self, point: &mut PrimalDualPoint) -> Result<(), SolveFailure> {
        if self.raw.int_info(c"primal_solution_status")? == highs_sys::SOLUTION_STATUS_NONE {
            return Err(SolveFailure::Engine(
                "HiGHS has no point; solve first".into(),
            ));
        }
        self.raw.solution([
            &mut point.value,
            &mut point.reduced_cost,
            &mut point.activity,
            &mut point.dual,
        ])
    }

    /// The present basis, if there is one. It stays when rows or columns are added, and when rows
    /// in it or columns out of it are deleted.
    pub fn basis(&self) -> Option<Basis> {
        let [columns, rows] = self.has_basis.then(|| self.raw.basis().ok()).flatten()?;
        // After other deletions there are too many members or too few.
        let members = columns
            .iter()
            .chain(&rows)
            .filter(|code| **code == BasisStatus::Basic.code())
            .count();
        let stands = |codes: &[i32]| {
            codes
                .iter()
                .map(|code| BasisStatus::from_code(*code))
                .collect::<Option<_>>()
        };
        let basis = Basis {
            columns: stands(&columns)?,
            rows: stands(&rows)?,
        };
        (members == basis.rows.len()).then_some(basis)
    }

    /// Starts the next linear solve from this basis.
    ///
    /// # Errors
    /// When the basis does not fit the model.
    pub fn set_basis(&mut self, basis: &Basis) -> Result<(), SolveFailure> {
        let codes = |stands: &[BasisStatus]| {
            stands
                .iter()
                .map(|status| status.code())
                .collect::<Vec<_>>()
        };
        self.raw
            .set_basis(&codes(&basis.columns), &codes(&basis.rows))?;
        self.has_basis = true;
        Ok(())
    }

    /// Members of the basis, in the order that reduced columns count them.
    ///
    /// # Errors
    /// When there is no basis.
    pub fn basic_variables(&mut self) -> Result<Vec<BasicVariable>, SolveFailure> {
        let member = |code: i32| match usize::try_from(code) {
            Ok(column) => BasicVariable::Column(column),
            Err(_) => BasicVariable::Row((-1 - code).unsigned_abs() as usize),
        };
        Ok(self
            .raw
            .basic_variables()?
            .into_iter()
            .map(member)
            .collect())
    }

    /// Overwrites `out` with the duals of rows that these costs of the members of the basis give.
    ///
    /// # Errors
    /// When there is no basis, or not one cost per member.
    pub fn duals(&mut self, costs: &[f64], out: &mut Vec<f64>) -> Result<(), SolveFailure> {
        self.raw.transpose_solve(costs, out)
    }

    /// Overwrites `out` with column `column` of `B⁻¹A`: one number per member of the basis.
    ///
    /// # Errors
    /// When there is no such column or the last linear solve left no basis.
    pub fn reduced_column(
        &mut self,
        column: usize,
        out: &mut Vec<f64>,
    ) -> Result<(), SolveFailure> {
        self.raw.reduced_column(column, out)
    }

    /// Overwrites `out` with column `row` of `B⁻¹`: one number per member of the basis.
    ///
    /// # Errors
    /// When there is no such row or the last linear solve left no basis.
    pub fn inverse_column(&mut self, row: usize, out: &mut Vec<f64>) -> Result<(), SolveFailure> {
        self.raw.inverse_column(row, out)
    }

    /// Overwrites `out` with row `row` of `B⁻¹`: what the duals gain when that member of the basis
    /// becomes dearer by one.
    ///
    /// # Errors
    /// When there is no such row or the last linear solve left no basis.
    pub fn inverse_row(&mut self, row: usize, out: &mut Vec<f64>) -> Result<(), SolveFailure> {
        self.raw.inverse_row(row, out)
    }

    /// Overwrites `out` with row `row` of `B⁻¹A`: one number per column.
    ///
    /// # Errors
    /// When there is no such row or the last linear solve left no basis.
    pub fn reduced_row(&mut self, row: usize, out: &mut Vec<f64>) -> Result<(), SolveFailure> {
        self.raw.reduced_row(row, out)
    }

    /// How far each cost can move before the optimal basis changes.
    ///
    /// # Errors
    /// When the last solve was not a linear one that ended optimal.
    pub fn cost_ranges(&mut self) -> Result<CostRanges, SolveFailure> {
        let [lower, upper] = self.raw.cost_ranges()?;
        Ok(CostRanges { lower, upper })
    }
}
