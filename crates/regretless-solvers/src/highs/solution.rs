//! Results of the last solve of an [`Lp`].

use super::{BasicVariable, Basis, BasisStatus, Lp, PrimalDualPoint};
use crate::SolveFailure;
use crate::relaxation::CostRanges;

impl Lp {
    /// Objective of the last solution.
    pub fn objective(&self) -> f64 {
        self.raw.objective()
    }

    /// Dual bound of the last mixed-integer search.
    ///
    /// # Errors
    /// When nothing was solved.
    pub fn bound(&self) -> Result<f64, SolveFailure> {
        self.raw.float_info(c"mip_dual_bound")
    }

    /// Nodes of the last mixed-integer search.
    ///
    /// # Errors
    /// When nothing was solved.
    pub fn nodes(&self) -> Result<u64, SolveFailure> {
        Ok(self.raw.long_info(c"mip_node_count")?.max(0).unsigned_abs())
    }

    /// Simplex iterations of the last solve.
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

    /// The point of the last solve.
    ///
    /// # Errors
    /// When nothing was solved.
    pub fn point(&self) -> Result<PrimalDualPoint, SolveFailure> {
        let mut point = PrimalDualPoint::default();
        self.read_point(&mut point)?;
        Ok(point)
    }

    /// Overwrites `point` with the point of the last solve, feasible or not.
    ///
    /// # Errors
    /// When nothing was solved since the model changed.
    pub fn read_point(&self, point: &mut PrimalDualPoint) -> Result<(), SolveFailure> {
        if self.raw.int_info(c"primal_solution_status")? == highs_sys::SOLUTION_STATUS_NONE {
            return Err(SolveFailure::SolverError(
                "HiGHS has no point; solve first".into(),
            ));
        }
        self.raw.solution(
            &mut point.value,
            &mut point.reduced_cost,
            &mut point.activity,
            &mut point.dual,
        )
    }

    /// The current basis, if there is one. It stays valid when rows or columns are added, and when
    /// basic rows or nonbasic columns are deleted.
    pub fn basis(&self) -> Option<Basis> {
        let [columns, rows] = self.has_basis.then(|| self.raw.basis().ok()).flatten()?;
        // After other deletions the number of basic variables is wrong.
        let codes = columns.iter().chain(&rows);
        let basic = codes.filter(|code| **code == BasisStatus::Basic.code());
        let num_basic = basic.count();
        let statuses = |codes: &[i32]| {
            codes
                .iter()
                .map(|code| BasisStatus::from_code(*code))
                .collect::<Option<_>>()
        };
        let basis = Basis {
            columns: statuses(&columns)?,
            rows: statuses(&rows)?,
        };
        (num_basic == basis.rows.len()).then_some(basis)
    }

    /// Sets the initial basis of the next solve.
    ///
    /// # Errors
    /// When the basis does not fit the model.
    pub fn set_basis(&mut self, basis: &Basis) -> Result<(), SolveFailure> {
        let codes = |statuses: &[BasisStatus]| {
            statuses
                .iter()
                .map(|status| status.code())
                .collect::<Vec<_>>()
        };
        self.raw
            .set_basis(&codes(&basis.columns), &codes(&basis.rows))?;
        self.has_basis = true;
        Ok(())
    }

    /// The basic variables, in the order of the entries of reduced columns.
    ///
    /// # Errors
    /// When there is no basis.
    pub fn basic_variables(&mut self) -> Result<Vec<BasicVariable>, SolveFailure> {
        let variable = |code: i32| match usize::try_from(code) {
            Ok(column) => BasicVariable::Column(column),
            Err(_) => BasicVariable::Row((-1 - code).unsigned_abs() as usize),
        };
        let codes = self.raw.basic_variables()?;
        Ok(codes.into_iter().map(variable).collect())
    }

    /// Overwrites `out` with the duals of the rows for these costs of the basic variables.
    ///
    /// # Errors
    /// When there is no basis, or not one cost per basic variable.
    pub fn duals(&mut self, costs: &[f64], out: &mut Vec<f64>) -> Result<(), SolveFailure> {
        self.raw.transpose_solve(costs, out)
    }

    /// Overwrites `out` with column `column` of `B⁻¹A`: one number per basic variable.
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

    /// Overwrites `out` with column `row` of `B⁻¹`: one number per basic variable.
    ///
    /// # Errors
    /// When there is no such row or the last linear solve left no basis.
    pub fn inverse_column(&mut self, row: usize, out: &mut Vec<f64>) -> Result<(), SolveFailure> {
        self.raw.inverse_column(row, out)
    }

    /// Overwrites `out` with row `row` of `B⁻¹`: the change of the duals per unit of cost of that
    /// basic variable.
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

    /// Cost ranging: the range of each cost within which the basis stays optimal.
    ///
    /// # Errors
    /// When the last solve was not an LP solved to optimality.
    pub fn cost_ranges(&mut self) -> Result<CostRanges, SolveFailure> {
        let [lower, upper] = self.raw.cost_ranges()?;
        Ok(CostRanges { lower, upper })
    }
}
