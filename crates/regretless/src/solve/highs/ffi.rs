//! The only file that calls HiGHS. Every function here is safe to call with any arguments: lengths and
//! indices are checked on this side, so that no C++ code ever reads or writes outside our memory.

#![allow(unsafe_code, reason = "calls into a C library; each block says why it is sound")]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::{self, NonNull};

use highs_sys as c;

use super::parts::{Columns, OptionValue, Rows, Vectors};
use crate::solve::Failure;

pub(super) type Called<T = ()> = Result<T, Failure>;

/// Owner of one HiGHS object.
#[derive(Debug)]
pub(super) struct Raw {
    object: NonNull<c_void>,
    /// Most columns and rows the model ever had: HiGHS may still hold vectors of that length.
    most: [usize; 2],
}

// SAFETY: a HiGHS object has no ties to the thread that made it: its state is reached through the
// pointer only, and the thread-local task executor is looked up anew by every run.
unsafe impl Send for Raw {}

impl Drop for Raw {
    fn drop(&mut self) {
        // SAFETY: the pointer came from `Highs_create` and is destroyed here only.
        unsafe { c::Highs_destroy(self.object.as_ptr()) }
    }
}

/// Turns HiGHS's return code into a result; warnings pass.
fn called(what: &str, status: c::HighsInt) -> Called {
    if status == c::STATUS_ERROR { Err(Failure::Engine(format!("HiGHS could not {what}"))) } else { Ok(()) }
}

fn misfit<T>(what: &str, found: usize, expected: usize) -> Called<T> {
    Err(Failure::Engine(format!("{found} {what} given where the model has {expected}")))
}

fn int(value: usize) -> c::HighsInt {
    c::HighsInt::try_from(value).unwrap_or(c::HighsInt::MAX)
}

/// Entries must lie in vectors that exist; HiGHS is not asked to find out.
fn check_entries(entries: &Vectors, most: usize, what: &str) -> Called {
    match entries.index.iter().find(|index| **index as usize >= most) {
        Some(index) => Err(Failure::Engine(format!("an entry lies in {what} {index} of {most}"))),
        None if entries.index.len() > i32::MAX as usize => Err(Failure::Engine("too many entries".into())),
        None => Ok(()),
    }
}

impl Raw {
    pub(super) fn new() -> Called<Self> {
        // SAFETY: takes nothing and returns a new object or null.
        let object = NonNull::new(unsafe { c::Highs_create() });
        Ok(Self { object: object.ok_or_else(|| Failure::Engine("HiGHS could not start".into()))?, most: [0, 0] })
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

    fn remember_size(&mut self) {
        self.most = [self.most[0].max(self.num_columns()), self.most[1].max(self.num_rows())];
    }

    pub(super) fn set_option(&mut self, name: &CStr, value: OptionValue<'_>) -> Called {
        let (object, name_pointer) = (self.pointer(), name.as_ptr());
        // SAFETY: live object, strings that end in NUL and are only read during the call.
        let status = unsafe {
            match value {
                OptionValue::Bool(value) => c::Highs_setBoolOptionValue(object, name_pointer, value.into()),
                OptionValue::Int(value) => c::Highs_setIntOptionValue(object, name_pointer, value),
                OptionValue::Float(value) => c::Highs_setDoubleOptionValue(object, name_pointer, value),
                OptionValue::Text(value) => c::Highs_setStringOptionValue(object, name_pointer, value.as_ptr()),
            }
        };
        called(&format!("set option {} to {value:?}", name.to_string_lossy()), status)
    }

    pub(super) fn int_info(&self, name: &CStr) -> Called<i32> {
        let mut value = 0;
        // SAFETY: live object, a string that ends in NUL, a place for one number.
        called("tell a figure", unsafe { c::Highs_getIntInfoValue(self.pointer(), name.as_ptr(), &mut value) })?;
        Ok(value)
    }

    pub(super) fn long_info(&self, name: &CStr) -> Called<i64> {
        let mut value = 0;
        // SAFETY: live object, a string that ends in NUL, a place for one number.
        called("tell a figure", unsafe { c::Highs_getInt64InfoValue(self.pointer(), name.as_ptr(), &mut value) })?;
        Ok(value)
    }

    pub(super) fn float_info(&self, name: &CStr) -> Called<f64> {
        let mut value = 0.0;
        // SAFETY: live object, a string that ends in NUL, a place for one number.
        called("tell a figure", unsafe { c::Highs_getDoubleInfoValue(self.pointer(), name.as_ptr(), &mut value) })?;
        Ok(value)
    }

    pub(super) fn objective(&self) -> f64 {
        // SAFETY: reads a number of a live object.
        unsafe { c::Highs_getObjectiveValue(self.pointer()) }
    }

    pub(super) fn add_columns(&mut self, block: &Columns) -> Called {
        let first = self.num_columns();
        check_entries(&block.entries, self.num_rows(), "row")?;
        let (lower, upper, entries) = (&block.lower, &block.upper, &block.entries);
        // SAFETY: `Columns` keeps all its vectors equally long; entries were checked above; HiGHS copies.
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
        called("add columns", status)?;
        self.remember_size();
        if block.integer.contains(&true) { self.set_integer(first, &block.integer) } else { Ok(()) }
    }

    pub(super) fn add_rows(&mut self, block: &Rows) -> Called {
        check_entries(&block.entries, self.num_columns(), "column")?;
        let (lower, upper, entries) = (&block.lower, &block.upper, &block.entries);
        // SAFETY: `Rows` keeps all its vectors equally long; entries were checked above; HiGHS copies.
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
        called("add rows", status)?;
        self.remember_size();
        Ok(())
    }

    pub(super) fn delete_columns(&mut self, doomed: &[bool]) -> Called {
        if doomed.len() != self.num_columns() {
            return misfit("columns", doomed.len(), self.num_columns());
        }
        let mut mask: Vec<c::HighsInt> = doomed.iter().map(|doomed| (*doomed).into()).collect();
        // SAFETY: the mask has one entry per column, as checked above; HiGHS overwrites it.
        called("delete columns", unsafe { c::Highs_deleteColsByMask(self.pointer(), mask.as_mut_ptr()) })
    }

    pub(super) fn delete_rows(&mut self, doomed: &[bool]) -> Called {
        if doomed.len() != self.num_rows() {
            return misfit("rows", doomed.len(), self.num_rows());
        }
        let mut mask: Vec<c::HighsInt> = doomed.iter().map(|doomed| (*doomed).into()).collect();
        // SAFETY: the mask has one entry per row, as checked above; HiGHS overwrites it.
        called("delete rows", unsafe { c::Highs_deleteRowsByMask(self.pointer(), mask.as_mut_ptr()) })
    }

    /// The range `first..first + count` as HiGHS wants it, or `None` when there is nothing in it.
    fn column_range(&self, first: usize, count: usize) -> Called<Option<(c::HighsInt, c::HighsInt)>> {
        if first + count > self.num_columns() {
            return misfit("columns", first + count, self.num_columns());
        }
        Ok((count > 0).then(|| (int(first), int(first + count - 1))))
    }

    pub(super) fn set_integer(&mut self, first: usize, integer: &[bool]) -> Called {
        let Some((from, to)) = self.column_range(first, integer.len())? else { return Ok(()) };
        let kinds: Vec<c::HighsInt> = integer.iter().map(|integer| (*integer).into()).collect();
        // SAFETY: the range lies in the model and `kinds` has one entry for each column of it.
        called("set kinds", unsafe { c::Highs_changeColsIntegralityByRange(self.pointer(), from, to, kinds.as_ptr()) })
    }

    pub(super) fn set_costs(&mut self, first: usize, costs: &[f64]) -> Called {
        let Some((from, to)) = self.column_range(first, costs.len())? else { return Ok(()) };
        // SAFETY: the range lies in the model and `costs` has one entry for each column of it.
        called("set costs", unsafe { c::Highs_changeColsCostByRange(self.pointer(), from, to, costs.as_ptr()) })
    }

    pub(super) fn set_column_bounds(&mut self, column: usize, [lower, upper]: [f64; 2]) -> Called {
        // SAFETY: live object; HiGHS refuses a column that does not exist.
        called("set column bounds", unsafe { c::Highs_changeColBounds(self.pointer(), int(column), lower, upper) })
    }

    pub(super) fn set_row_bounds(&mut self, row: usize, [lower, upper]: [f64; 2]) -> Called {
        // SAFETY: live object; HiGHS refuses a row that does not exist.
        called("set row bounds", unsafe { c::Highs_changeRowBounds(self.pointer(), int(row), lower, upper) })
    }

    pub(super) fn set_objective(&mut self, maximize: bool, offset: f64) -> Called {
        let sense = if maximize { c::OBJECTIVE_SENSE_MAXIMIZE } else { c::OBJECTIVE_SENSE_MINIMIZE };
        // SAFETY: live object and plain numbers.
        called("set the sense", unsafe { c::Highs_changeObjectiveSense(self.pointer(), sense) })?;
        // SAFETY: live object and plain numbers.
        called("set the offset", unsafe { c::Highs_changeObjectiveOffset(self.pointer(), offset) })
    }

    pub(super) fn set_column_name(&mut self, column: usize, name: &CStr) -> Called {
        // SAFETY: live object and a string that ends in NUL; HiGHS refuses a column that does not exist.
        called("name a column", unsafe { c::Highs_passColName(self.pointer(), int(column), name.as_ptr()) })
    }

    pub(super) fn set_row_name(&mut self, row: usize, name: &CStr) -> Called {
        // SAFETY: live object and a string that ends in NUL; HiGHS refuses a row that does not exist.
        called("name a row", unsafe { c::Highs_passRowName(self.pointer(), int(row), name.as_ptr()) })
    }

    /// Solves; returns HiGHS's model status.
    pub(super) fn run(&mut self) -> Called<c::HighsInt> {
        // SAFETY: live object, used by one thread at a time since `self` is exclusive.
        called("solve", unsafe { c::Highs_run(self.pointer()) })?;
        // SAFETY: reads a number of a live object.
        Ok(unsafe { c::Highs_getModelStatus(self.pointer()) })
    }

    /// Forgets basis, solution and everything else a solve left behind; the model stays.
    pub(super) fn clear_solver(&mut self) -> Called {
        // SAFETY: live object.
        called("forget the last solve", unsafe { c::Highs_clearSolver(self.pointer()) })
    }

    /// Overwrites values and reduced costs of columns, activities and duals of rows.
    pub(super) fn solution(&self, [value, reduced, activity, dual]: [&mut Vec<f64>; 4]) -> Called {
        for (vector, most) in [(&mut *value, 0), (&mut *reduced, 0), (&mut *activity, 1), (&mut *dual, 1)] {
            vector.clear();
            vector.resize(self.most[most], 0.0);
        }
        let pointers = (value.as_mut_ptr(), reduced.as_mut_ptr(), activity.as_mut_ptr(), dual.as_mut_ptr());
        // SAFETY: HiGHS writes as many numbers as its own vectors hold, never more than the model ever
        // had columns or rows, and ours are that long.
        called("give the solution", unsafe {
            c::Highs_getSolution(self.pointer(), pointers.0, pointers.1, pointers.2, pointers.3)
        })?;
        let (columns, rows) = (self.num_columns(), self.num_rows());
        value.truncate(columns);
        reduced.truncate(columns);
        activity.truncate(rows);
        dual.truncate(rows);
        Ok(())
    }

    /// Codes of where columns and rows stand.
    pub(super) fn basis(&self) -> Called<[Vec<c::HighsInt>; 2]> {
        let [mut columns, mut rows] = self.most.map(|most| vec![0; most]);
        // SAFETY: as for the solution, both vectors are as long as HiGHS's own ever were.
        called("give the basis", unsafe {
            c::Highs_getBasis(self.pointer(), columns.as_mut_ptr(), rows.as_mut_ptr())
        })?;
        columns.truncate(self.num_columns());
        rows.truncate(self.num_rows());
        Ok([columns, rows])
    }

    pub(super) fn set_basis(&mut self, columns: &[c::HighsInt], rows: &[c::HighsInt]) -> Called {
        if columns.len() != self.num_columns() {
            return misfit("columns of a basis", columns.len(), self.num_columns());
        }
        if rows.len() != self.num_rows() {
            return misfit("rows of a basis", rows.len(), self.num_rows());
        }
        // SAFETY: one code per column and per row, as checked above; HiGHS refuses unknown codes.
        called("take the basis", unsafe { c::Highs_setBasis(self.pointer(), columns.as_ptr(), rows.as_ptr()) })
    }

    /// Members of the basis in their order: a column, or minus one minus a row.
    pub(super) fn basic_variables(&mut self) -> Called<Vec<c::HighsInt>> {
        let mut members = vec![0; self.num_rows()];
        // SAFETY: the vector has one place per row, which is the size of a basis.
        called("list the basis", unsafe { c::Highs_getBasicVariables(self.pointer(), members.as_mut_ptr()) })?;
        Ok(members)
    }

    /// Column of `B⁻¹A`, dense over the rows.
    pub(super) fn reduced_column(&mut self, column: usize, out: &mut Vec<f64>) -> Called {
        out.clear();
        out.resize(self.num_rows(), 0.0);
        // SAFETY: the vector has one place per row; null pointers say that no sparse form is wanted;
        // HiGHS refuses a column that does not exist and a model without a factor.
        called("give a reduced column; is the model solved?", unsafe {
            let (count, index) = (ptr::null_mut(), ptr::null_mut());
            c::Highs_getReducedColumn(self.pointer(), int(column), out.as_mut_ptr(), count, index)
        })
    }

    /// Row of `B⁻¹A`, dense over the columns.
    pub(super) fn reduced_row(&mut self, row: usize, out: &mut Vec<f64>) -> Called {
        out.clear();
        out.resize(self.num_columns(), 0.0);
        // SAFETY: the vector has one place per column; null pointers say that no sparse form is wanted;
        // HiGHS refuses a row that does not exist and a model without a factor.
        called("give a reduced row; is the model solved?", unsafe {
            let (count, index) = (ptr::null_mut(), ptr::null_mut());
            c::Highs_getReducedRow(self.pointer(), int(row), out.as_mut_ptr(), count, index)
        })
    }

    /// Lower and upper limits of costs.
    pub(super) fn cost_ranges(&mut self) -> Called<[Vec<f64>; 2]> {
        let (mut lower, mut upper) = (vec![0.0; self.num_columns()], vec![0.0; self.num_columns()]);
        let (no, nor) = (ptr::null_mut::<f64>, ptr::null_mut::<c::HighsInt>);
        let (up, down) = (upper.as_mut_ptr(), lower.as_mut_ptr());
        // SAFETY: both vectors have one place per column; HiGHS leaves out what a null pointer stands for.
        #[rustfmt::skip]
        let status = unsafe {
            c::Highs_getRanging(
                self.pointer(),
                up, no(), nor(), nor(), down, no(), nor(), nor(),
                no(), no(), nor(), nor(), no(), no(), nor(), nor(),
                no(), no(), nor(), nor(), no(), no(), nor(), nor(),
            )
        };
        called("range the costs; is the model solved?", status)?;
        Ok([lower, upper])
    }

    /// A point to start a search over whole numbers from.
    pub(super) fn set_start(&mut self, values: &[f64]) -> Called {
        if values.len() != self.num_columns() {
            return misfit("values of columns", values.len(), self.num_columns());
        }
        // SAFETY: one value per column, as checked above; null stands for what is not given.
        called("take a start", unsafe {
            c::Highs_setSolution(self.pointer(), values.as_ptr(), ptr::null(), ptr::null(), ptr::null())
        })
    }

    /// Reads a model file; returns what HiGHS had to say when it could not.
    pub(super) fn read(&mut self, path: &CStr) -> Result<(), String> {
        let mut said = String::new();
        let status = self.listening(&mut said, |object| {
            // SAFETY: live object and a string that ends in NUL.
            unsafe { c::Highs_readModel(object, path.as_ptr()) }
        });
        self.remember_size();
        if status == c::STATUS_ERROR { Err(said) } else { Ok(()) }
    }

    /// Calls HiGHS while its messages are written down.
    fn listening(&mut self, said: &mut String, call: impl FnOnce(*mut c_void) -> c::HighsInt) -> c::HighsInt {
        let (object, notebook) = (self.pointer(), ptr::from_mut(said).cast::<c_void>());
        // SAFETY: `notebook` outlives the callback, which is taken off again before this function ends
        // and is called on this thread only.
        unsafe {
            c::Highs_setBoolOptionValue(object, c"log_to_console".as_ptr(), 0);
            c::Highs_setBoolOptionValue(object, c"output_flag".as_ptr(), 1);
            c::Highs_setCallback(object, Some(write_down), notebook);
            c::Highs_startCallback(object, c::kHighsCallbackLogging);
        }
        let status = call(object);
        // SAFETY: live object; afterwards HiGHS no longer knows the notebook.
        unsafe {
            c::Highs_stopCallback(object, c::kHighsCallbackLogging);
            c::Highs_setCallback(object, None, ptr::null_mut());
            c::Highs_setBoolOptionValue(object, c"output_flag".as_ptr(), 0);
        }
        status
    }

    pub(super) fn write(&mut self, path: &CStr) -> Called {
        // SAFETY: live object and a string that ends in NUL.
        called("write the model", unsafe { c::Highs_writeModel(self.pointer(), path.as_ptr()) })
    }

    /// The model: sense and offset, then vectors by column, by row, and the rows' entries.
    pub(super) fn model(&self) -> Called<RawModel> {
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
        called("give the model", status)?;
        Ok(model)
    }

    /// Names of all columns and of all rows, none longer than `longest` bytes.
    pub(super) fn names(&self, longest: usize) -> Called<[Vec<String>; 2]> {
        let mut buffer = vec![0_u8; longest.max(c::kHighsMaximumStringLength as usize) + 1];
        let mut name = |row: bool, index: usize| {
            let place = buffer.as_mut_ptr().cast::<c_char>();
            // SAFETY: HiGHS writes the name and a NUL; the buffer is longer than any name there is.
            let status = unsafe {
                if row {
                    c::Highs_getRowName(self.pointer(), int(index), place)
                } else {
                    c::Highs_getColName(self.pointer(), int(index), place)
                }
            };
            called("give a name", status)?;
            let text = CStr::from_bytes_until_nul(&buffer).map_err(|_| Failure::Engine("a name has no end".into()))?;
            Ok(text.to_string_lossy().into_owned())
        };
        let columns = (0..self.num_columns()).map(|column| name(false, column)).collect::<Called<_>>()?;
        let rows = (0..self.num_rows()).map(|row| name(true, row)).collect::<Called<_>>()?;
        Ok([columns, rows])
    }
}

/// A model in HiGHS's own vectors.
#[derive(Debug, Default)]
pub(super) struct RawModel {
    pub(super) sense: c::HighsInt,
    pub(super) offset: f64,
    pub(super) cost: Vec<f64>,
    pub(super) lower: Vec<f64>,
    pub(super) upper: Vec<f64>,
    pub(super) row_lower: Vec<f64>,
    pub(super) row_upper: Vec<f64>,
    pub(super) rows: Vectors,
    pub(super) kind: Vec<c::HighsInt>,
}

impl RawModel {
    fn sized(columns: usize, rows: usize, entries: usize) -> Self {
        let vectors = Vectors { starts: vec![0; rows], index: vec![0; entries], value: vec![0.0; entries] };
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

/// Receives one of HiGHS's messages.
unsafe extern "C" fn write_down(
    _kind: c_int,
    message: *const c_char,
    _out: *const c::HighsCallbackDataOut,
    _in: *mut c::HighsCallbackDataIn,
    notebook: *mut c_void,
) {
    if message.is_null() || notebook.is_null() {
        return;
    }
    // SAFETY: HiGHS passes a string that ends in NUL, and the pointer that `listening` gave it, whose
    // `String` is borrowed by nobody else for as long as HiGHS knows it.
    let (message, notebook) = unsafe { (CStr::from_ptr(message), &mut *notebook.cast::<String>()) };
    notebook.push_str(&message.to_string_lossy());
}
