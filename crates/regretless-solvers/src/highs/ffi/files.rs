//! Model files, and the model that was read from one.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

use highs_sys as c;

use super::super::model_parts::SparseVectors;
use super::{HighsHandle, HighsResult, check_status, int};
use crate::SolveFailure;

impl HighsHandle {
    /// Reads a model file; returns the log of HiGHS, as an error if reading failed.
    pub(in crate::highs) fn read(&mut self, path: &CStr) -> Result<String, String> {
        let mut log = String::new();
        let status = self.with_log_capture(&mut log, |object| {
            // SAFETY: live object and a string that ends in NUL.
            unsafe { c::Highs_readModel(object, path.as_ptr()) }
        });
        self.update_size();
        if status == c::STATUS_ERROR {
            Err(log)
        } else {
            Ok(log)
        }
    }

    /// Calls HiGHS and captures its log.
    fn with_log_capture(
        &mut self,
        log: &mut String,
        call: impl FnOnce(*mut c_void) -> c::HighsInt,
    ) -> c::HighsInt {
        let (object, log) = (self.pointer(), ptr::from_mut(log).cast::<c_void>());
        // SAFETY: `log` outlives the callback, which is removed before this function ends and is
        // called on this thread only.
        unsafe {
            c::Highs_setBoolOptionValue(object, c"log_to_console".as_ptr(), 0);
            c::Highs_setBoolOptionValue(object, c"output_flag".as_ptr(), 1);
            c::Highs_setCallback(object, Some(log_callback), log);
            c::Highs_startCallback(object, c::kHighsCallbackLogging);
        }
        let status = call(object);
        // SAFETY: live object; afterwards HiGHS has no pointer to the log.
        unsafe {
            c::Highs_stopCallback(object, c::kHighsCallbackLogging);
            c::Highs_setCallback(object, None, ptr::null_mut());
            c::Highs_setBoolOptionValue(object, c"output_flag".as_ptr(), 0);
        }
        status
    }

    pub(in crate::highs) fn write(&mut self, path: &CStr) -> HighsResult {
        // SAFETY: live object and a string that ends in NUL.
        check_status("write the model", unsafe {
            c::Highs_writeModel(self.pointer(), path.as_ptr())
        })
    }

    /// The model: sense and offset, then vectors by column, by row, and the rows' entries.
    pub(in crate::highs) fn model(&self) -> HighsResult<RawModel> {
        let (columns, rows, entries) = (self.num_columns(), self.num_rows(), self.num_entries());
        let mut model = RawModel::sized(columns, rows, entries);
        let (mut num_columns, mut num_rows, mut num_entries) = (0, 0, 0);
        // SAFETY: every vector has the length that HiGHS's own numbers ask for.
        let status = unsafe {
            c::Highs_getLp(
                self.pointer(),
                c::MATRIX_FORMAT_ROW_WISE,
                &mut num_columns,
                &mut num_rows,
                &mut num_entries,
                &mut model.sense,
                &mut model.offset,
                model.cost.as_mut_ptr(),
                model.lower.as_mut_ptr(),
                model.upper.as_mut_ptr(),
                model.row_lower.as_mut_ptr(),
                model.row_upper.as_mut_ptr(),
                model.rows.starts.as_mut_ptr(),
                model.rows.index.as_mut_ptr(),
                model.rows.value.as_mut_ptr(),
                model.kind.as_mut_ptr(),
            )
        };
        check_status("return the model", status)?;
        Ok(model)
    }

    /// Names of all columns and of all rows, none longer than `longest` bytes.
    pub(in crate::highs) fn names(&self, longest: usize) -> HighsResult<[Vec<String>; 2]> {
        let mut buffer = vec![0_u8; longest.max(c::kHighsMaximumStringLength as usize) + 1];
        let mut name = |row: bool, index: usize| {
            let target = buffer.as_mut_ptr().cast::<c_char>();
            // SAFETY: HiGHS writes the name and a NUL; the buffer is longer than any name there is.
            let status = unsafe {
                if row {
                    c::Highs_getRowName(self.pointer(), int(index), target)
                } else {
                    c::Highs_getColName(self.pointer(), int(index), target)
                }
            };
            check_status("return a name", status)?;
            let text = CStr::from_bytes_until_nul(&buffer)
                .map_err(|_| SolveFailure::SolverError("a name has no terminating NUL".into()))?;
            Ok(text.to_string_lossy().into_owned())
        };
        let columns = (0..self.num_columns())
            .map(|column| name(false, column))
            .collect::<HighsResult<_>>()?;
        let rows = (0..self.num_rows())
            .map(|row| name(true, row))
            .collect::<HighsResult<_>>()?;
        Ok([columns, rows])
    }
}

/// A model in HiGHS's representation.
#[derive(Debug, Default)]
pub(in crate::highs) struct RawModel {
    pub(in crate::highs) sense: c::HighsInt,
    pub(in crate::highs) offset: f64,
    pub(in crate::highs) cost: Vec<f64>,
    pub(in crate::highs) lower: Vec<f64>,
    pub(in crate::highs) upper: Vec<f64>,
    pub(in crate::highs) row_lower: Vec<f64>,
    pub(in crate::highs) row_upper: Vec<f64>,
    pub(in crate::highs) rows: SparseVectors,
    pub(in crate::highs) kind: Vec<c::HighsInt>,
}

impl RawModel {
    fn sized(columns: usize, rows: usize, entries: usize) -> Self {
        let vectors = SparseVectors {
            starts: vec![0; rows],
            index: vec![0; entries],
            value: vec![0.0; entries],
        };
        Self {
            sense: c::OBJECTIVE_SENSE_MINIMIZE,
            offset: 0.0,
            cost: vec![0.0; columns],
            lower: vec![0.0; columns],
            upper: vec![0.0; columns],
            row_lower: vec![0.0; rows],
            row_upper: vec![0.0; rows],
            rows: vectors,
            kind: vec![c::VAR_TYPE_CONTINUOUS; columns],
        }
    }
}

/// Appends a message of HiGHS to the log.
unsafe extern "C" fn log_callback(
    _kind: c_int,
    message: *const c_char,
    _out: *const c::HighsCallbackDataOut,
    _in: *mut c::HighsCallbackDataIn,
    log: *mut c_void,
) {
    if message.is_null() || log.is_null() {
        return;
    }
    // SAFETY: HiGHS passes a string that ends in NUL, and the pointer that `with_log_capture`
    // gave it, whose `String` is not borrowed elsewhere as long as HiGHS holds the pointer.
    let (message, log) = unsafe { (CStr::from_ptr(message), &mut *log.cast::<String>()) };
    log.push_str(&message.to_string_lossy());
}
