//! Numbers of a model that differ from its file: right-hand sides, bounds, coefficients, and
//! columns that are absent.
//!
//! Names are resolved once ([`LinearSlots`]); a problem with other numbers then takes a copy of the
//! bounds ([`LinearProblem::with_changes`]). It equals the problem of a file in which the same
//! numbers were edited.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::LinearProblem;
use super::file::{LinearFile, suggestion};
use crate::solve::highs::{LinearModel, MIN_REFUSED_ENTRY, SparseVectors, integer_bounds};

/// Absolute value from which on HiGHS reads a bound as infinite.
const INFINITE_BOUND: f64 = 1e20;
/// Absolute value up to which HiGHS drops an entry.
const MAX_DROPPED_ENTRY: f64 = 1e-9;

/// A number of a model that may be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LinearSlot {
    /// The right-hand side of a row that is not ranged.
    RowRhs(usize),
    RowLower(usize),
    RowUpper(usize),
    /// The lower bound of a column.
    Lower(usize),
    Upper(usize),
    /// Both bounds of a column.
    Fixed(usize),
    Coefficient {
        row: usize,
        column: usize,
    },
    /// Whether the column of a predicted cost exists (1) or not (0).
    Present(usize),
}

/// A new value of a number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LinearChange {
    pub(crate) slot: LinearSlot,
    pub(crate) value: f64,
}

/// Finds the slots of names.
#[derive(Debug)]
pub(crate) struct LinearSlots<'a> {
    problem: &'a LinearProblem,
    /// `None` for a name that several have.
    rows: HashMap<&'a str, Option<usize>>,
    columns: HashMap<&'a str, Option<usize>>,
}

impl<'a> LinearSlots<'a> {
    pub(crate) fn new(problem: &'a LinearProblem) -> Self {
        Self {
            problem,
            rows: numbers_by_name(&problem.model().row_names),
            columns: numbers_by_name(&problem.model().column_names),
        }
    }

    /// The slot of a field of [`LinearFile`] and the name in it: `["rhs", "demand"]`,
    /// `["coefficients", "demand", "x3"]`.
    ///
    /// # Errors
    /// When there is no such field, row or column, or the row has no right-hand side, as a message.
    pub(crate) fn slot(&self, path: &[&str]) -> Result<LinearSlot, String> {
        match *path {
            ["rhs", name] => {
                let row = self.row("rhs", name)?;
                match RowKind::of(self.problem.model().row_bounds[row]) {
                    RowKind::Ranged(bounds) => Err(format!(
                        "rhs: row {name} has no right-hand side, because it is {bounds}; \
                         use row_lower or row_upper"
                    )),
                    _ => Ok(LinearSlot::RowRhs(row)),
                }
            }
            ["row_lower", name] => self.row("row_lower", name).map(LinearSlot::RowLower),
            ["row_upper", name] => self.row("row_upper", name).map(LinearSlot::RowUpper),
            ["lower", name] => self.column("lower", name).map(LinearSlot::Lower),
            ["upper", name] => self.column("upper", name).map(LinearSlot::Upper),
            ["fixed", name] => self.column("fixed", name).map(LinearSlot::Fixed),
            ["coefficients", row, column] => Ok(LinearSlot::Coefficient {
                row: self.row("coefficients", row)?,
                column: self.column("coefficients", column)?,
            }),
            ["present", name] => {
                let column = self.column("present", name)?;
                let cost = self.problem.cost_of_column(column);
                cost.map(LinearSlot::Present).ok_or_else(|| {
                    format!(
                        "present: the cost of column {name} is not predicted; an auxiliary column \
                         is absent with fixed = {{ {name} = 0.0 }}"
                    )
                })
            }
            _ => Err(format!(
                "a linear problem has no number called {}",
                path.join(".")
            )),
        }
    }

    fn row(&self, field: &str, name: &str) -> Result<usize, String> {
        let names = &self.problem.model().row_names;
        find(&self.rows, name).map_err(|problem| problem.message(field, "row", name, names))
    }

    fn column(&self, field: &str, name: &str) -> Result<usize, String> {
        let names = &self.problem.model().column_names;
        find(&self.columns, name).map_err(|problem| problem.message(field, "column", name, names))
    }

    /// Checks that no number is set twice.
    ///
    /// # Errors
    /// The row or column, as a message.
    pub(crate) fn check_distinct(&self, slots: &[LinearSlot]) -> Result<(), String> {
        let all: BTreeSet<LinearSlot> = slots.iter().copied().collect();
        let model = self.problem.model();
        if all.len() < slots.len() {
            return Err("a number of the linear problem is set twice".into());
        }
        for slot in slots {
            match *slot {
                LinearSlot::RowRhs(row)
                    if all.contains(&LinearSlot::RowLower(row))
                        || all.contains(&LinearSlot::RowUpper(row)) =>
                {
                    let name = &model.row_names[row];
                    return Err(format!(
                        "row {name} is in rhs and in row_lower or row_upper; one of them suffices"
                    ));
                }
                LinearSlot::Fixed(column)
                    if all.contains(&LinearSlot::Lower(column))
                        || all.contains(&LinearSlot::Upper(column)) =>
                {
                    let name = &model.column_names[column];
                    return Err(format!(
                        "column {name} is in fixed and in lower or upper; one of them suffices"
                    ));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// Why a name has no number.
#[derive(Debug, Clone, Copy)]
enum NameProblem {
    Unknown,
    Ambiguous,
}

impl NameProblem {
    fn message(self, field: &str, what: &str, name: &str, names: &[String]) -> String {
        match self {
            // As the patterns of known costs say it.
            Self::Unknown if name.contains('*') => format!(
                "'{field}.{name}' is a pattern, and its value is no column; write {{ column = \
                 \"...\" }} with a *, or name the {what}s one by one"
            ),
            Self::Unknown => {
                format!(
                    "{field}: no {what} is called '{name}'; {}",
                    suggestion(name, what, names)
                )
            }
            Self::Ambiguous => format!(
                "{field}: several {what}s are called '{name}'; give them different names in the \
                 model"
            ),
        }
    }
}

fn numbers_by_name(names: &[String]) -> HashMap<&str, Option<usize>> {
    let mut numbers = HashMap::with_capacity(names.len());
    for (number, name) in names.iter().enumerate() {
        numbers
            .entry(name.as_str())
            // A name that several have is an error only where it is used.
            .and_modify(|number| *number = None)
            .or_insert(Some(number));
    }
    numbers
}

fn find(numbers: &HashMap<&str, Option<usize>>, name: &str) -> Result<usize, NameProblem> {
    match numbers.get(name) {
        Some(Some(number)) => Ok(*number),
        Some(None) => Err(NameProblem::Ambiguous),
        None => Err(NameProblem::Unknown),
    }
}

/// The sense of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
enum RowKind {
    AtMost,
    AtLeast,
    Equal,
    /// Ranged or free; the bounds in words.
    Ranged(&'static str),
}

impl RowKind {
    fn of([lower, upper]: [f64; 2]) -> Self {
        match (lower == f64::NEG_INFINITY, upper == f64::INFINITY) {
            (true, true) => Self::Ranged("free"),
            (true, false) => Self::AtMost,
            (false, true) => Self::AtLeast,
            (false, false) if lower == upper => Self::Equal,
            (false, false) => Self::Ranged("bounded on both sides"),
        }
    }
}

impl LinearFile {
    /// The numbers that differ from the file, with their paths as in [`LinearSlots::slot`].
    pub(in crate::problem) fn changes(&self) -> Vec<(Vec<&str>, f64)> {
        let mut changes = Vec::new();
        let fields = [
            ("rhs", &self.rhs),
            ("row_lower", &self.row_lower),
            ("row_upper", &self.row_upper),
            ("lower", &self.lower),
            ("upper", &self.upper),
            ("fixed", &self.fixed),
            ("present", &self.present),
        ];
        for (field, values) in fields {
            for (name, value) in values {
                changes.push((vec![field, name.as_str()], *value));
            }
        }
        for (row, values) in &self.coefficients {
            for (column, value) in values {
                changes.push((vec!["coefficients", row.as_str(), column.as_str()], *value));
            }
        }
        changes
    }

    /// The problem of the file with these numbers.
    ///
    /// # Errors
    /// A wrong name or number, as a message.
    pub(crate) fn change(&self, problem: LinearProblem) -> Result<LinearProblem, String> {
        let changes = self.changes();
        if changes.is_empty() {
            return Ok(problem);
        }
        let slots = LinearSlots::new(&problem);
        let mut resolved = Vec::with_capacity(changes.len());
        for (path, value) in changes {
            let slot = slots.slot(&path)?;
            resolved.push(LinearChange { slot, value });
        }
        let all: Vec<LinearSlot> = resolved.iter().map(|change| change.slot).collect();
        slots.check_distinct(&all)?;
        problem.with_changes(&resolved)
    }
}

impl LinearProblem {
    /// The same problem with other numbers; no two changes are of the same number
    /// ([`LinearSlots::check_distinct`]).
    ///
    /// # Errors
    /// When a number is invalid, or bounds contain no number, as a message.
    pub(crate) fn with_changes(&self, changes: &[LinearChange]) -> Result<Self, String> {
        let mut changed = ChangedModel {
            model: LinearModel::clone(self.model()),
            entries: BTreeMap::new(),
        };
        for change in changes {
            changed.set(change)?;
        }
        // After all changes: a lower bound may be set before the upper bound that makes room for
        // it.
        changed.check_bounds(changes)?;
        let mut present = None;
        for change in changes {
            if let LinearSlot::Present(cost) = change.slot {
                let column = self.predicted()[cost];
                if !changed.is_present(column, change.value)? {
                    present.get_or_insert_with(|| self.all_present())[cost] = false;
                }
            }
        }
        changed.replace_entries();
        Ok(self.with_model(changed.model, present))
    }
}

/// A model while its numbers are changed.
#[derive(Debug)]
struct ChangedModel {
    model: LinearModel,
    /// New entries by row and column.
    entries: BTreeMap<(usize, usize), f64>,
}

impl ChangedModel {
    /// Sets a number; bounds are checked when all are set.
    fn set(&mut self, change: &LinearChange) -> Result<(), String> {
        let LinearChange { slot, value } = *change;
        if value.is_nan() {
            return Err(format!("{} is not a number", self.describe(slot)));
        }
        // Files and solvers write infinite bounds as large numbers.
        let bound = if value.abs() >= INFINITE_BOUND {
            f64::INFINITY.copysign(value)
        } else {
            value
        };
        match slot {
            LinearSlot::RowRhs(row) => {
                let bounds = &mut self.model.row_bounds[row];
                match RowKind::of(*bounds) {
                    RowKind::AtMost => bounds[1] = bound,
                    RowKind::AtLeast => bounds[0] = bound,
                    RowKind::Equal | RowKind::Ranged(_) => *bounds = [bound, bound],
                }
            }
            LinearSlot::RowLower(row) => self.model.row_bounds[row][0] = bound,
            LinearSlot::RowUpper(row) => self.model.row_bounds[row][1] = bound,
            LinearSlot::Lower(column) => self.model.column_bounds[column][0] = bound,
            LinearSlot::Upper(column) => self.model.column_bounds[column][1] = bound,
            LinearSlot::Fixed(column) => self.model.column_bounds[column] = [bound, bound],
            LinearSlot::Coefficient { row, column } => {
                if value.abs() >= MIN_REFUSED_ENTRY {
                    let what = self.describe(slot);
                    return Err(format!("{what} is {value}, which is too large"));
                }
                self.entries.insert((row, column), value);
            }
            LinearSlot::Present(_) => {}
        }
        Ok(())
    }

    /// What a slot is, for messages.
    fn describe(&self, slot: LinearSlot) -> String {
        let row_name = |row: usize| &self.model.row_names[row];
        let column_name = |column: usize| &self.model.column_names[column];
        match slot {
            LinearSlot::RowRhs(row) => format!("the right-hand side of row {}", row_name(row)),
            LinearSlot::RowLower(row) => format!("the lower bound of row {}", row_name(row)),
            LinearSlot::RowUpper(row) => format!("the upper bound of row {}", row_name(row)),
            LinearSlot::Lower(column) => {
                format!("the lower bound of column {}", column_name(column))
            }
            LinearSlot::Upper(column) => {
                format!("the upper bound of column {}", column_name(column))
            }
            LinearSlot::Fixed(column) => format!("the value of column {}", column_name(column)),
            LinearSlot::Coefficient { row, column } => format!(
                "the coefficient of column {} in row {}",
                column_name(column),
                row_name(row)
            ),
            LinearSlot::Present(cost) => format!("whether cost {cost} is present"),
        }
    }

    /// Checks the bounds that were set, and rounds those of integer columns as
    /// [`LinearModel::prepare`] does.
    fn check_bounds(&mut self, changes: &[LinearChange]) -> Result<(), String> {
        for change in changes {
            match change.slot {
                LinearSlot::RowRhs(row) | LinearSlot::RowLower(row) | LinearSlot::RowUpper(row) => {
                    let bounds = self.model.row_bounds[row];
                    if !contain_a_number(bounds) {
                        return Err(no_number("row", &self.model.row_names[row], bounds));
                    }
                }
                LinearSlot::Lower(column)
                | LinearSlot::Upper(column)
                | LinearSlot::Fixed(column) => self.check_column(column)?,
                LinearSlot::Coefficient { .. } | LinearSlot::Present(_) => {}
            }
        }
        Ok(())
    }

    fn check_column(&mut self, column: usize) -> Result<(), String> {
        let (bounds, name) = (
            self.model.column_bounds[column],
            &self.model.column_names[column],
        );
        if !contain_a_number(bounds) {
            return Err(no_number("column", name, bounds));
        }
        if self.model.integer[column] {
            let rounded = integer_bounds(bounds);
            if rounded[0] > rounded[1] {
                let [lower, upper] = bounds;
                return Err(format!(
                    "column {name} is integer, but there is no integer from {lower} to {upper}"
                ));
            }
            self.model.column_bounds[column] = rounded;
        }
        Ok(())
    }

    /// Whether a column with a predicted cost is present; an absent one is fixed to 0.
    fn is_present(&mut self, column: usize, value: f64) -> Result<bool, String> {
        if value == 1.0 {
            return Ok(true);
        }
        let (bounds, name) = (
            &mut self.model.column_bounds[column],
            &self.model.column_names[column],
        );
        if value != 0.0 {
            return Err(format!(
                "present: column {name} has {value}, which is neither 0 nor 1"
            ));
        }
        let [lower, upper] = *bounds;
        if lower > 0.0 || upper < 0.0 {
            return Err(format!(
                "present: column {name} cannot be absent, because its bounds {lower} to {upper} \
                 exclude 0"
            ));
        }
        *bounds = [0.0, 0.0];
        Ok(false)
    }

    /// Replaces entries, adds missing ones, and drops those that HiGHS would drop from a file.
    fn replace_entries(&mut self) {
        if self.entries.is_empty() {
            return;
        }
        let mut rows = SparseVectors::default();
        for row in 0..self.model.rows.len() {
            let changed = || self.entries.range((row, 0)..=(row, usize::MAX));
            if changed().next().is_none() {
                rows.push(self.model.rows.entries(row));
                continue;
            }
            let mut entries: BTreeMap<usize, f64> = self.model.rows.entries(row).collect();
            for ((_, column), value) in changed() {
                if value.abs() > MAX_DROPPED_ENTRY {
                    entries.insert(*column, *value);
                } else {
                    entries.remove(column);
                }
            }
            rows.push(entries);
        }
        self.model.rows = Arc::new(rows);
    }
}

fn contain_a_number([lower, upper]: [f64; 2]) -> bool {
    lower <= upper && lower < f64::INFINITY && upper > f64::NEG_INFINITY
}

fn no_number(what: &str, name: &str, [lower, upper]: [f64; 2]) -> String {
    format!("the bounds of {what} {name}, {lower} to {upper}, contain no number")
}
