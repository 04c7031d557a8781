//! The only place that calls HiGHS. Every function here is safe to call with any arguments: lengths
//! and indices are checked on this side, so no C++ code ever reads or writes outside our memory.
//!
//! This file builds, changes and solves models; `solution` reads results, `files` model files.

#![allow(
    unsafe_code,
    reason = "calls into a C library; each block says why it is sound"
)]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::{self, NonNull};

use highs_sys as c;

use super::model_parts::{LpColumns, LpRows, OptionValue, SparseVectors};
use crate::SolveFailure;
use regretless_base::cancellation;

mod files;
mod solution;

pub(super) use files::RawModel;

pub(super) type HighsResult<T = ()> = Result<T, SolveFailure>;

/// Owner of one HiGHS object.
#[derive(Debug)]
pub(super) struct HighsHandle {
    object: NonNull<c_void>,
    /// Largest number of columns so far: HiGHS may still hold vectors of that length.
    max_columns: usize,
    /// Largest number of rows so far.
    max_rows: usize,
    /// Whether a column was ever integer.
    has_integers: bool,
}

/// Rows plus columns from which on the simplex and interior-point methods check for cancellation:
/// HiGHS calls back after every iteration, which would slow down small models that take
/// milliseconds anyway.
const MIN_CANCEL_CALLBACK_SIZE: usize = 1000;

// SAFETY: a HiGHS object has no ties to the thread that made it: its state is reached through the
// pointer only, and the thread-local task executor is looked up anew by every run.
unsafe impl Send for HighsHandle {}

impl Drop for HighsHandle {
    fn drop(&mut self) {
        // SAFETY: the pointer came from `Highs_create` and is destroyed here only.
        unsafe { c::Highs_destroy(self.object.as_ptr()) }
    }
}

/// Called by HiGHS during a solve, on the thread that called it: it has one thread only.
unsafe extern "C" fn stop_if_canceled(
    _kind: c_int,
    _message: *const c_char,
    _output: *const c::HighsCallbackDataOut,
    input: *mut c::HighsCallbackDataIn,
    _data: *mut c_void,
) {
    if !input.is_null() && cancellation::requested() {
        // SAFETY: HiGHS passes its own input structure, which lives during the call.
        unsafe { (*input).user_interrupt = 1 };
    }
}

/// Converts the return code of HiGHS into a result; warnings are ignored. `action` completes the
/// message "HiGHS could not …".
fn check_status(action: &str, status: c::HighsInt) -> HighsResult {
    if status == c::STATUS_ERROR {
        Err(SolveFailure::SolverError(format!(
            "HiGHS could not {action}"
        )))
    } else {
        Ok(())
    }
}

fn length_mismatch<T>(items: &str, found: usize, expected: usize) -> HighsResult<T> {
    Err(SolveFailure::SolverError(format!(
        "expected {expected} {items}, found {found}"
    )))
}

fn int(value: usize) -> c::HighsInt {
    c::HighsInt::try_from(value).unwrap_or(c::HighsInt::MAX)
}

/// Checks that entries lie in existing vectors, instead of relying on HiGHS.
fn check_entries(entries: &SparseVectors, max: usize, vector: &str) -> HighsResult {
    match entries.index.iter().find(|index| **index as usize >= max) {
        Some(index) => Err(SolveFailure::SolverError(format!(
            "an entry is in {vector} {index}, but the model has {max}"
        ))),
        None if entries.index.len() > i32::MAX as usize => {
            Err(SolveFailure::SolverError("too many entries".into()))
        }
        None => Ok(()),
    }
}

impl HighsHandle {
    pub(super) fn new() -> HighsResult<Self> {
        // SAFETY: takes nothing and returns a new object or null.
        let object = NonNull::new(unsafe { c::Highs_create() });
        let object =
            object.ok_or_else(|| SolveFailure::SolverError("HiGHS could not start".into()))?;
        Ok(Self {
            object,
            max_columns: 0,
            max_rows: 0,
            has_integers: false,
        })
    }

    fn pointer(&self) -> *mut c_void {
        self.object.as_ptr()
    }

    pub(super) fn num_columns(&self) -> usize {
        // SAFETY: reads a number of a live object.
        unsafe { c::Highs_getNumCol(self.pointer()) as usize }
    }

    pub(super) fn num_rows(&self) -> usize {
        // SAFETY: reads a number of a live object.
        unsafe { c::Highs_getNumRow(self.pointer()) as usize }
    }

    pub(super) fn num_entries(&self) -> usize {
        // SAFETY: reads a number of a live object.
        unsafe { c::Highs_getNumNz(self.pointer()) as usize }
    }

    pub(super) fn num_quadratic_entries(&self) -> usize {
        // SAFETY: reads a number of a live object.
        unsafe { c::Highs_getHessianNumNz(self.pointer()) as usize }
    }

    fn update_size(&mut self) {
        self.max_columns = self.max_columns.max(self.num_columns());
        self.max_rows = self.max_rows.max(self.num_rows());
    }

    pub(super) fn set_option(&mut self, name: &CStr, value: OptionValue<'_>) -> HighsResult {
        let (object, name_pointer) = (self.pointer(), name.as_ptr());
        // SAFETY: live object, strings that end in NUL and are only read during the call.
        let status = unsafe {
            match value {
                OptionValue::Bool(value) => {
                    c::Highs_setBoolOptionValue(object, name_pointer, value.into())
                }
                OptionValue::Int(value) => c::Highs_setIntOptionValue(object, name_pointer, value),
                OptionValue::Float(value) => {
                    c::Highs_setDoubleOptionValue(object, name_pointer, value)
                }
                OptionValue::Text(value) => {
                    c::Highs_setStringOptionValue(object, name_pointer, value.as_ptr())
                }
            }
        };
        check_status(
            &format!("set option {} to {value:?}", name.to_string_lossy()),
            status,
        )
    }

    pub(super) fn add_columns(&mut self, block: &LpColumns) -> HighsResult {
        let first = self.num_columns();
        check_entries(&block.entries, self.num_rows(), "row")?;
        let (lower, upper, entries) = (&block.lower, &block.upper, &block.entries);
        // SAFETY: `LpColumns` keeps all its vectors equally long; entries were checked above; HiGHS
        // copies.
        let status = unsafe {
            c::Highs_addCols(
                self.pointer(),
                int(block.len()),
                block.cost.as_ptr(),
                lower.as_ptr(),
                upper.as_ptr(),
                int(entries.index.len()),
                entries.starts.as_ptr(),
                entries.index.as_ptr(),
                entries.value.as_ptr(),
            )
        };
        check_status("add columns", status)?;
        self.update_size();
        if block.integer.contains(&true) {
            self.set_integer(first, &block.integer)
        } else {
            Ok(())
        }
    }

    pub(super) fn add_rows(&mut self, block: &LpRows) -> HighsResult {
        check_entries(&block.entries, self.num_columns(), "column")?;
        let (lower, upper, entries) = (&block.lower, &block.upper, &block.entries);
        // SAFETY: `LpRows` keeps all its vectors equally long; entries were checked above; HiGHS
        // copies.
        let status = unsafe {
            c::Highs_addRows(
                self.pointer(),
                int(block.len()),
                lower.as_ptr(),
                upper.as_ptr(),
                int(entries.index.len()),
                entries.starts.as_ptr(),
                entries.index.as_ptr(),
                entries.value.as_ptr(),
            )
        };
        check_status("add rows", status)?;
        self.update_size();
        Ok(())
    }

    pub(super) fn delete_columns(&mut self, delete: &[bool]) -> HighsResult {
        if delete.len() != self.num_columns() {
            return length_mismatch("columns", delete.len(), self.num_columns());
        }
        let mut mask: Vec<c::HighsInt> = delete.iter().map(|delete| (*delete).into()).collect();
        // SAFETY: the mask has one entry per column, as checked above; HiGHS overwrites it.
        check_status("delete columns", unsafe {
            c::Highs_deleteColsByMask(self.pointer(), mask.as_mut_ptr())
        })
    }

    pub(super) fn delete_rows(&mut self, delete: &[bool]) -> HighsResult {
        if delete.len() != self.num_rows() {
            return length_mismatch("rows", delete.len(), self.num_rows());
        }
        let mut mask: Vec<c::HighsInt> = delete.iter().map(|delete| (*delete).into()).collect();
        // SAFETY: the mask has one entry per row, as checked above; HiGHS overwrites it.
        check_status("delete rows", unsafe {
            c::Highs_deleteRowsByMask(self.pointer(), mask.as_mut_ptr())
        })
    }

    /// The range `first..first + count` with an inclusive end, as HiGHS takes it, or `None` if it
    /// is empty.
    fn column_range(
        &self,
        first: usize,
        count: usize,
    ) -> HighsResult<Option<(c::HighsInt, c::HighsInt)>> {
        if first + count > self.num_columns() {
            return length_mismatch("columns", first + count, self.num_columns());
        }
        Ok((count > 0).then(|| (int(first), int(first + count - 1))))
    }

    pub(super) fn set_integer(&mut self, first: usize, integer: &[bool]) -> HighsResult {
        let Some((from, to)) = self.column_range(first, integer.len())? else {
            return Ok(());
        };
        self.has_integers |= integer.contains(&true);
        let kinds: Vec<c::HighsInt> = integer.iter().map(|integer| (*integer).into()).collect();
        // SAFETY: the range lies in the model and `kinds` has one entry for each column of it.
        check_status("set the integrality of columns", unsafe {
            c::Highs_changeColsIntegralityByRange(self.pointer(), from, to, kinds.as_ptr())
        })
    }

    pub(super) fn set_costs(&mut self, first: usize, costs: &[f64]) -> HighsResult {
        let Some((from, to)) = self.column_range(first, costs.len())? else {
            return Ok(());
        };
        // SAFETY: the range lies in the model and `costs` has one entry for each column of it.
        check_status("set costs", unsafe {
            c::Highs_changeColsCostByRange(self.pointer(), from, to, costs.as_ptr())
        })
    }

    pub(super) fn set_column_bounds(
        &mut self,
        column: usize,
        [lower, upper]: [f64; 2],
    ) -> HighsResult {
        // SAFETY: live object; HiGHS refuses a column that does not exist.
        check_status("set column bounds", unsafe {
            c::Highs_changeColBounds(self.pointer(), int(column), lower, upper)
        })
    }

    pub(super) fn set_row_bounds(&mut self, row: usize, [lower, upper]: [f64; 2]) -> HighsResult {
        // SAFETY: live object; HiGHS refuses a row that does not exist.
        check_status("set row bounds", unsafe {
            c::Highs_changeRowBounds(self.pointer(), int(row), lower, upper)
        })
    }

    pub(super) fn set_objective(&mut self, maximize: bool, offset: f64) -> HighsResult {
        let sense = if maximize {
            c::OBJECTIVE_SENSE_MAXIMIZE
        } else {
            c::OBJECTIVE_SENSE_MINIMIZE
        };
        // SAFETY: live object and plain numbers.
        check_status("set the sense", unsafe {
            c::Highs_changeObjectiveSense(self.pointer(), sense)
        })?;
        // SAFETY: live object and plain numbers.
        check_status("set the offset", unsafe {
            c::Highs_changeObjectiveOffset(self.pointer(), offset)
        })
    }

    pub(super) fn set_column_name(&mut self, column: usize, name: &CStr) -> HighsResult {
        // SAFETY: live object and a string that ends in NUL; HiGHS refuses a column that does not
        // exist.
        check_status("name a column", unsafe {
            c::Highs_passColName(self.pointer(), int(column), name.as_ptr())
        })
    }

    pub(super) fn set_row_name(&mut self, row: usize, name: &CStr) -> HighsResult {
        // SAFETY: live object and a string that ends in NUL; HiGHS refuses a row that does not
        // exist.
        check_status("name a row", unsafe {
            c::Highs_passRowName(self.pointer(), int(row), name.as_ptr())
        })
    }

    /// Solves; returns HiGHS's model status. If the work of this thread can be canceled, so can the
    /// solve.
    pub(super) fn run(&mut self) -> HighsResult<c::HighsInt> {
        let is_large = self.num_columns() + self.num_rows() >= MIN_CANCEL_CALLBACK_SIZE;
        let is_cancelable = cancellation::is_possible() && (is_large || self.has_integers);
        if is_cancelable {
            self.install_cancel_callback(is_large);
        }
        // SAFETY: live object, used by one thread at a time since `self` is exclusive.
        let status = unsafe { c::Highs_run(self.pointer()) };
        if is_cancelable {
            // SAFETY: live object; afterwards HiGHS has no callback.
            unsafe { c::Highs_setCallback(self.pointer(), None, ptr::null_mut()) };
        }
        check_status("solve", status)?;
        // SAFETY: reads a number of a live object.
        Ok(unsafe { c::Highs_getModelStatus(self.pointer()) })
    }

    /// Makes HiGHS call back during a solve to check for cancellation.
    fn install_cancel_callback(&mut self, is_large: bool) {
        let object = self.pointer();
        // SAFETY: live object; the callback reads a flag of its thread and no other state.
        unsafe {
            c::Highs_setCallback(object, Some(stop_if_canceled), ptr::null_mut());
            c::Highs_startCallback(object, c::kHighsCallbackMipInterrupt);
            if is_large {
                c::Highs_startCallback(object, c::kHighsCallbackSimplexInterrupt);
                c::Highs_startCallback(object, c::kHighsCallbackIpmInterrupt);
            }
        }
    }

    /// Drops basis, solution and all other results of a solve; the model stays.
    pub(super) fn clear_solver(&mut self) -> HighsResult {
        // SAFETY: live object.
        check_status("clear the last solve", unsafe {
            c::Highs_clearSolver(self.pointer())
        })
    }

    /// Drops the model too; options stay.
    pub(super) fn clear_model(&mut self) -> HighsResult {
        // SAFETY: live object.
        check_status("clear the model", unsafe {
            c::Highs_clearModel(self.pointer())
        })
    }

    /// Sets the initial incumbent of a mixed-integer search.
    pub(super) fn set_start(&mut self, values: &[f64]) -> HighsResult {
        if values.len() != self.num_columns() {
            return length_mismatch("values of columns", values.len(), self.num_columns());
        }
        // SAFETY: one value per column, as checked above; null stands for what is not given.
        check_status("set the initial point", unsafe {
            c::Highs_setSolution(
                self.pointer(),
                values.as_ptr(),
                ptr::null(),
                ptr::null(),
                ptr::null(),
            )
        })
    }
}
