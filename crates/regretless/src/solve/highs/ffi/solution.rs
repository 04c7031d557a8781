//! What a solve left behind: point, basis, rows and columns of the tableau, cost ranges, figures.

use std::ffi::CStr;
use std::ptr;

use highs_sys as c;

use super::{HighsHandle, HighsResult, check_status, int, length_mismatch};

impl HighsHandle {
    pub(in crate::solve::highs) fn int_info(&self, name: &CStr) -> HighsResult<i32> {
        let mut value = 0;
        // SAFETY: live object, a string that ends in NUL, a place for one number.
        check_status("tell a figure", unsafe {
            c::Highs_getIntInfoValue(self.pointer(), name.as_ptr(), &mut value)
        })?;
        Ok(value)
    }

    pub(in crate::solve::highs) fn long_info(&self, name: &CStr) -> HighsResult<i64> {
        let mut value = 0;
        // SAFETY: live object, a string that ends in NUL, a place for one number.
        check_status("tell a figure", unsafe {
            c::Highs_getInt64InfoValue(self.pointer(), name.as_ptr(), &mut value)
        })?;
        Ok(value)
    }

    pub(in crate::solve::highs) fn float_info(&self, name: &CStr) -> HighsResult<f64> {
        let mut value = 0.0;
        // SAFETY: live object, a string that ends in NUL, a place for one number.
        check_status("tell a figure", unsafe {
            c::Highs_getDoubleInfoValue(self.pointer(), name.as_ptr(), &mut value)
        })?;
        Ok(value)
    }

    pub(in crate::solve::highs) fn objective(&self) -> f64 {
        // SAFETY: reads a number of a live object.
        unsafe { c::Highs_getObjectiveValue(self.pointer()) }
    }

    /// Overwrites values and reduced costs of columns, activities and duals of rows.
    pub(in crate::solve::highs) fn solution(
        &self,
        [value, reduced, activity, dual]: [&mut Vec<f64>; 4],
    ) -> HighsResult {
        for (vector, max) in [
            (&mut *value, 0),
            (&mut *reduced, 0),
            (&mut *activity, 1),
            (&mut *dual, 1),
        ] {
            vector.clear();
            vector.resize(self.max[max], 0.0);
        }
        let pointers = (
            value.as_mut_ptr(),
            reduced.as_mut_ptr(),
            activity.as_mut_ptr(),
            dual.as_mut_ptr(),
        );
        // SAFETY: HiGHS writes as many numbers as its own vectors hold, never more than the model
        // ever had columns or rows, and ours are that long.
        check_status("give the solution", unsafe {
            c::Highs_getSolution(
                self.pointer(),
                pointers.0,
                pointers.1,
                pointers.2,
                pointers.3,
            )
        })?;
        let (columns, rows) = (self.num_columns(), self.num_rows());
        value.truncate(columns);
        reduced.truncate(columns);
        activity.truncate(rows);
        dual.truncate(rows);
        Ok(())
    }

    /// Codes of where columns and rows stand; -1 where HiGHS does not know.
    pub(in crate::solve::highs) fn basis(&self) -> HighsResult<[Vec<c::HighsInt>; 2]> {
        let [mut columns, mut rows] = self.max.map(|max| vec![-1; max]);
        // SAFETY: as for the solution, both vectors are as long as HiGHS's own ever were.
        check_status("give the basis", unsafe {
            c::Highs_getBasis(self.pointer(), columns.as_mut_ptr(), rows.as_mut_ptr())
        })?;
        columns.truncate(self.num_columns());
        rows.truncate(self.num_rows());
        Ok([columns, rows])
    }

    pub(in crate::solve::highs) fn set_basis(
        &mut self,
        columns: &[c::HighsInt],
        rows: &[c::HighsInt],
    ) -> HighsResult {
        if columns.len() != self.num_columns() {
            return length_mismatch("columns of a basis", columns.len(), self.num_columns());
        }
        if rows.len() != self.num_rows() {
            return length_mismatch("rows of a basis", rows.len(), self.num_rows());
        }
        // SAFETY: one code per column and per row, as checked above; HiGHS refuses unknown codes.
        check_status("take the basis", unsafe {
            c::Highs_setBasis(self.pointer(), columns.as_ptr(), rows.as_ptr())
        })
    }

    /// Members of the basis in their order: a column, or minus one minus a row.
    pub(in crate::solve::highs) fn basic_variables(&mut self) -> HighsResult<Vec<c::HighsInt>> {
        let mut members = vec![0; self.num_rows()];
        // SAFETY: the vector has one place per row, which is the size of a basis.
        check_status("list the basis", unsafe {
            c::Highs_getBasicVariables(self.pointer(), members.as_mut_ptr())
        })?;
        Ok(members)
    }

    /// Solves `Bᵀ y = right`, dense over the members of the basis and the rows of the model.
    pub(in crate::solve::highs) fn transpose_solve(
        &mut self,
        right: &[f64],
        out: &mut Vec<f64>,
    ) -> HighsResult {
        if right.len() != self.num_rows() {
            return length_mismatch(
                "numbers for members of a basis",
                right.len(),
                self.num_rows(),
            );
        }
        out.clear();
        out.resize(self.num_rows(), 0.0);
        // SAFETY: both vectors have one place per row, which is the size of a basis; null pointers
        // say that no sparse form is wanted; HiGHS refuses a model without a factor.
        check_status("solve for duals; is there a basis?", unsafe {
            let (count, index) = (ptr::null_mut(), ptr::null_mut());
            c::Highs_getBasisTransposeSolve(
                self.pointer(),
                right.as_ptr(),
                out.as_mut_ptr(),
                count,
                index,
            )
        })
    }

    /// Row of `B⁻¹`, dense over the rows of the model.
    pub(in crate::solve::highs) fn inverse_row(
        &mut self,
        row: usize,
        out: &mut Vec<f64>,
    ) -> HighsResult {
        out.clear();
        out.resize(self.num_rows(), 0.0);
        // SAFETY: the vector has one place per row; null pointers say that no sparse form is
        // wanted; HiGHS refuses a row that does not exist and a model without a factor.
        check_status("give a row of the inverse; is the model solved?", unsafe {
            let (count, index) = (ptr::null_mut(), ptr::null_mut());
            c::Highs_getBasisInverseRow(self.pointer(), int(row), out.as_mut_ptr(), count, index)
        })
    }

    /// Column of `B⁻¹A`, dense over the rows.
    pub(in crate::solve::highs) fn reduced_column(
        &mut self,
        column: usize,
        out: &mut Vec<f64>,
    ) -> HighsResult {
        out.clear();
        out.resize(self.num_rows(), 0.0);
        // SAFETY: the vector has one place per row; null pointers say that no sparse form is
        // wanted; HiGHS refuses a column that does not exist and a model without a factor.
        check_status("give a reduced column; is the model solved?", unsafe {
            let (count, index) = (ptr::null_mut(), ptr::null_mut());
            c::Highs_getReducedColumn(self.pointer(), int(column), out.as_mut_ptr(), count, index)
        })
    }

    /// Column of `B⁻¹`, dense over the rows.
    pub(in crate::solve::highs) fn inverse_column(
        &mut self,
        row: usize,
        out: &mut Vec<f64>,
    ) -> HighsResult {
        out.clear();
        out.resize(self.num_rows(), 0.0);
        // SAFETY: the vector has one place per row; null pointers say that no sparse form is
        // wanted; HiGHS refuses a row that does not exist and a model without a factor.
        check_status(
            "give a column of the inverse; is the model solved?",
            unsafe {
                let (count, index) = (ptr::null_mut(), ptr::null_mut());
                c::Highs_getBasisInverseCol(
                    self.pointer(),
                    int(row),
                    out.as_mut_ptr(),
                    count,
                    index,
                )
            },
        )
    }

    /// Row of `B⁻¹A`, dense over the columns.
    pub(in crate::solve::highs) fn reduced_row(
        &mut self,
        row: usize,
        out: &mut Vec<f64>,
    ) -> HighsResult {
        out.clear();
        out.resize(self.num_columns(), 0.0);
        // SAFETY: the vector has one place per column; null pointers say that no sparse form is
        // wanted; HiGHS refuses a row that does not exist and a model without a factor.
        check_status("give a reduced row; is the model solved?", unsafe {
            let (count, index) = (ptr::null_mut(), ptr::null_mut());
            c::Highs_getReducedRow(self.pointer(), int(row), out.as_mut_ptr(), count, index)
        })
    }

    /// Lower and upper limits of costs.
    pub(in crate::solve::highs) fn cost_ranges(&mut self) -> HighsResult<[Vec<f64>; 2]> {
        let (mut lower, mut upper) = (vec![0.0; self.num_columns()], vec![0.0; self.num_columns()]);
        let (no, nor) = (ptr::null_mut::<f64>, ptr::null_mut::<c::HighsInt>);
        let (up, down) = (upper.as_mut_ptr(), lower.as_mut_ptr());
        // SAFETY: both vectors have one place per column; HiGHS leaves out what a null pointer
        // stands for.
        #[rustfmt::skip]
        let status = unsafe {
            c::Highs_getRanging(
                self.pointer(),
                up, no(), nor(), nor(), down, no(), nor(), nor(),
                no(), no(), nor(), nor(), no(), no(), nor(), nor(),
                no(), no(), nor(), nor(), no(), no(), nor(), nor(),
            )
        };
        check_status("range the costs; is the model solved?", status)?;
        Ok([lower, upper])
    }
}
