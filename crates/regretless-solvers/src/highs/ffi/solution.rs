//! Results of a solve: point, basis, rows and columns of the tableau, cost ranges, statistics.

use std::ffi::CStr;
use std::ptr;

use highs_sys as c;

use super::{HighsHandle, HighsResult, check_status, int, length_mismatch};

impl HighsHandle {
    pub(in crate::highs) fn int_info(&self, name: &CStr) -> HighsResult<i32> {
        let mut value = 0;
        // SAFETY: live object, a string that ends in NUL, a place for one number.
        check_status("return a statistic", unsafe {
            c::Highs_getIntInfoValue(self.pointer(), name.as_ptr(), &mut value)
        })?;
        Ok(value)
    }

    pub(in crate::highs) fn long_info(&self, name: &CStr) -> HighsResult<i64> {
        let mut value = 0;
        // SAFETY: live object, a string that ends in NUL, a place for one number.
        check_status("return a statistic", unsafe {
            c::Highs_getInt64InfoValue(self.pointer(), name.as_ptr(), &mut value)
        })?;
        Ok(value)
    }

    pub(in crate::highs) fn float_info(&self, name: &CStr) -> HighsResult<f64> {
        let mut value = 0.0;
        // SAFETY: live object, a string that ends in NUL, a place for one number.
        check_status("return a statistic", unsafe {
            c::Highs_getDoubleInfoValue(self.pointer(), name.as_ptr(), &mut value)
        })?;
        Ok(value)
    }

    pub(in crate::highs) fn objective(&self) -> f64 {
        // SAFETY: reads a number of a live object.
        unsafe { c::Highs_getObjectiveValue(self.pointer()) }
    }

    /// Overwrites values and reduced costs of columns, activities and duals of rows.
    pub(in crate::highs) fn solution(
        &self,
        value: &mut Vec<f64>,
        reduced: &mut Vec<f64>,
        activity: &mut Vec<f64>,
        dual: &mut Vec<f64>,
    ) -> HighsResult {
        for vector in [&mut *value, &mut *reduced] {
            vector.clear();
            vector.resize(self.max_columns, 0.0);
        }
        for vector in [&mut *activity, &mut *dual] {
            vector.clear();
            vector.resize(self.max_rows, 0.0);
        }
        // SAFETY: HiGHS writes as many numbers as its own vectors hold, never more than the model
        // ever had columns or rows, and ours are that long.
        check_status("return the solution", unsafe {
            c::Highs_getSolution(
                self.pointer(),
                value.as_mut_ptr(),
                reduced.as_mut_ptr(),
                activity.as_mut_ptr(),
                dual.as_mut_ptr(),
            )
        })?;
        let (columns, rows) = (self.num_columns(), self.num_rows());
        value.truncate(columns);
        reduced.truncate(columns);
        activity.truncate(rows);
        dual.truncate(rows);
        Ok(())
    }

    /// Status codes of columns and rows; -1 if HiGHS has none.
    pub(in crate::highs) fn basis(&self) -> HighsResult<[Vec<c::HighsInt>; 2]> {
        let (mut columns, mut rows) = (vec![-1; self.max_columns], vec![-1; self.max_rows]);
        // SAFETY: as for the solution, both vectors are as long as HiGHS's own ever were.
        check_status("return the basis", unsafe {
            c::Highs_getBasis(self.pointer(), columns.as_mut_ptr(), rows.as_mut_ptr())
        })?;
        columns.truncate(self.num_columns());
        rows.truncate(self.num_rows());
        Ok([columns, rows])
    }

    pub(in crate::highs) fn set_basis(
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
        check_status("set the basis", unsafe {
            c::Highs_setBasis(self.pointer(), columns.as_ptr(), rows.as_ptr())
        })
    }

    /// Codes of the basic variables: a column, or minus one minus a row.
    pub(in crate::highs) fn basic_variables(&mut self) -> HighsResult<Vec<c::HighsInt>> {
        let mut codes = vec![0; self.num_rows()];
        // SAFETY: the vector has one place per row, which is the size of a basis.
        check_status("list the basis", unsafe {
            c::Highs_getBasicVariables(self.pointer(), codes.as_mut_ptr())
        })?;
        Ok(codes)
    }

    /// Solves `Bᵀ y = right_side`, dense over the basic variables and the rows of the model.
    pub(in crate::highs) fn transpose_solve(
        &mut self,
        right_side: &[f64],
        out: &mut Vec<f64>,
    ) -> HighsResult {
        if right_side.len() != self.num_rows() {
            return length_mismatch(
                "numbers for basic variables",
                right_side.len(),
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
                right_side.as_ptr(),
                out.as_mut_ptr(),
                count,
                index,
            )
        })
    }

    /// Row of `B⁻¹`, dense over the rows of the model.
    pub(in crate::highs) fn inverse_row(&mut self, row: usize, out: &mut Vec<f64>) -> HighsResult {
        out.clear();
        out.resize(self.num_rows(), 0.0);
        // SAFETY: the vector has one place per row; null pointers say that no sparse form is
        // wanted; HiGHS refuses a row that does not exist and a model without a factor.
        check_status(
            "return a row of the inverse; is the model solved?",
            unsafe {
                let (count, index) = (ptr::null_mut(), ptr::null_mut());
                c::Highs_getBasisInverseRow(
                    self.pointer(),
                    int(row),
                    out.as_mut_ptr(),
                    count,
                    index,
                )
            },
        )
    }

    /// Column of `B⁻¹A`, dense over the rows.
    pub(in crate::highs) fn reduced_column(
        &mut self,
        column: usize,
        out: &mut Vec<f64>,
    ) -> HighsResult {
        out.clear();
        out.resize(self.num_rows(), 0.0);
        // SAFETY: the vector has one place per row; null pointers say that no sparse form is
        // wanted; HiGHS refuses a column that does not exist and a model without a factor.
        check_status("return a reduced column; is the model solved?", unsafe {
            let (count, index) = (ptr::null_mut(), ptr::null_mut());
            c::Highs_getReducedColumn(self.pointer(), int(column), out.as_mut_ptr(), count, index)
        })
    }

    /// Column of `B⁻¹`, dense over the rows.
    pub(in crate::highs) fn inverse_column(
        &mut self,
        row: usize,
        out: &mut Vec<f64>,
    ) -> HighsResult {
        out.clear();
        out.resize(self.num_rows(), 0.0);
        // SAFETY: the vector has one place per row; null pointers say that no sparse form is
        // wanted; HiGHS refuses a row that does not exist and a model without a factor.
        check_status(
            "return a column of the inverse; is the model solved?",
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
    pub(in crate::highs) fn reduced_row(&mut self, row: usize, out: &mut Vec<f64>) -> HighsResult {
        out.clear();
        out.resize(self.num_columns(), 0.0);
        // SAFETY: the vector has one place per column; null pointers say that no sparse form is
        // wanted; HiGHS refuses a row that does not exist and a model without a factor.
        check_status("return a reduced row; is the model solved?", unsafe {
            let (count, index) = (ptr::null_mut(), ptr::null_mut());
            c::Highs_getReducedRow(self.pointer(), int(row), out.as_mut_ptr(), count, index)
        })
    }

    /// Lower and upper ends of the cost ranges.
    pub(in crate::highs) fn cost_ranges(&mut self) -> HighsResult<[Vec<f64>; 2]> {
        let (mut lower, mut upper) = (vec![0.0; self.num_columns()], vec![0.0; self.num_columns()]);
        let (no_f64, no_int) = (ptr::null_mut::<f64>, ptr::null_mut::<c::HighsInt>);
        let (up, down) = (upper.as_mut_ptr(), lower.as_mut_ptr());
        // SAFETY: both vectors have one place per column; HiGHS skips what a null pointer
        // stands for.
        #[rustfmt::skip]
        let status = unsafe {
            c::Highs_getRanging(
                self.pointer(),
                up, no_f64(), no_int(), no_int(), down, no_f64(), no_int(), no_int(),
                no_f64(), no_f64(), no_int(), no_int(), no_f64(), no_f64(), no_int(), no_int(),
                no_f64(), no_f64(), no_int(), no_int(), no_f64(), no_f64(), no_int(), no_int(),
            )
        };
        check_status("range the costs; is the model solved?", status)?;
        Ok([lower, upper])
    }
}
