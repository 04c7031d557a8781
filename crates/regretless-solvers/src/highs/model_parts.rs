//! Parts of a linear model and results of a solve, as plain values.

/// Compressed sparse vectors: the rows or the columns of a matrix.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SparseVectors {
    pub(super) starts: Vec<i32>,
    pub(super) index: Vec<i32>,
    pub(super) value: Vec<f64>,
}

impl SparseVectors {
    /// Adds one vector.
    pub fn push(&mut self, entries: impl IntoIterator<Item = (usize, f64)>) {
        self.starts.push(self.index.len() as i32);
        for (index, value) in entries {
            self.index.push(i32::try_from(index).unwrap_or(i32::MAX));
            self.value.push(value);
        }
    }

    /// Number of vectors.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether there is no vector.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// The entries of one vector.
    pub fn entries(&self, vector: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let from = self.starts[vector] as usize;
        let next = self.starts.get(vector + 1);
        let to = next.map_or(self.index.len(), |start| *start as usize);
        let entries = self.index[from..to].iter().zip(&self.value[from..to]);
        entries.map(|(index, value)| (*index as usize, *value))
    }

    /// Removes all vectors and keeps the allocations.
    pub fn clear(&mut self) {
        self.starts.clear();
        self.index.clear();
        self.value.clear();
    }
}

/// Columns (variables) to be added, with their entries in rows that exist already.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LpColumns {
    pub(super) cost: Vec<f64>,
    pub(super) lower: Vec<f64>,
    pub(super) upper: Vec<f64>,
    pub(super) integer: Vec<bool>,
    pub(super) entries: SparseVectors,
}

impl LpColumns {
    /// Adds a continuous column: cost, bounds, entries by row.
    pub fn push(
        &mut self,
        cost: f64,
        bounds: [f64; 2],
        entries: impl IntoIterator<Item = (usize, f64)>,
    ) {
        self.cost.push(cost);
        self.lower.push(bounds[0]);
        self.upper.push(bounds[1]);
        self.integer.push(false);
        self.entries.push(entries);
    }

    /// Makes the last column an integer.
    pub fn mark_last_integer(&mut self) {
        if let Some(last) = self.integer.last_mut() {
            *last = true;
        }
    }

    /// Number of columns.
    pub(crate) fn len(&self) -> usize {
        self.cost.len()
    }
}

/// Rows (constraints) to be added, with their entries in columns that exist already.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LpRows {
    pub(super) lower: Vec<f64>,
    pub(super) upper: Vec<f64>,
    pub(super) entries: SparseVectors,
}

impl LpRows {
    /// Adds a row: bounds (possibly infinite), entries by column.
    pub fn push(&mut self, bounds: [f64; 2], entries: impl IntoIterator<Item = (usize, f64)>) {
        self.lower.push(bounds[0]);
        self.upper.push(bounds[1]);
        self.entries.push(entries);
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        self.lower.len()
    }
}

/// Basis status of a column or row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BasisStatus {
    /// At its lower bound.
    Lower,
    /// Basic.
    Basic,
    /// At its upper bound.
    Upper,
    /// Nonbasic, free and at zero.
    Zero,
    /// Nonbasic; HiGHS chooses the bound.
    Nonbasic,
}

impl BasisStatus {
    pub(super) fn code(self) -> i32 {
        match self {
            Self::Lower => 0,
            Self::Basic => 1,
            Self::Upper => 2,
            Self::Zero => 3,
            Self::Nonbasic => 4,
        }
    }

    pub(super) fn from_code(code: i32) -> Option<Self> {
        [
            Self::Lower,
            Self::Basic,
            Self::Upper,
            Self::Zero,
            Self::Nonbasic,
        ]
        .into_iter()
        .find(|status| status.code() == code)
    }
}

/// A basis: the status of each column and each row.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Basis {
    /// Status of each column.
    pub columns: Vec<BasisStatus>,
    /// Status of each row.
    pub rows: Vec<BasisStatus>,
}

/// A basic variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BasicVariable {
    /// A column.
    Column(usize),
    /// The slack of a row.
    Row(usize),
}

/// A primal and dual point.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PrimalDualPoint {
    /// Value of each column.
    pub value: Vec<f64>,
    /// Reduced cost of each column; zeros after a mixed-integer solve.
    pub reduced_cost: Vec<f64>,
    /// Activity of each row.
    pub activity: Vec<f64>,
    /// Dual value of each row; zeros after a mixed-integer solve.
    pub dual: Vec<f64>,
}

/// How a solve ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LpStatus {
    /// Optimal, or within the gap of a mixed-integer search.
    Optimal,
    /// No point satisfies the constraints.
    Infeasible,
    /// The objective is unbounded.
    Unbounded,
    /// Unbounded or infeasible; HiGHS did not determine which.
    UnboundedOrInfeasible,
    /// The objective reached the bound at which the solve may stop.
    ObjectiveBound,
    /// Stopped at the iteration limit.
    IterationLimit,
    /// Stopped at the node limit.
    NodeLimit,
}

/// The simplex method of an LP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SimplexMethod {
    /// Dual simplex, for solves after a change of rows or bounds.
    Dual,
    /// Primal simplex, for solves after a change of costs.
    Primal,
}

/// The value of a HiGHS option.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum OptionValue<'a> {
    /// A Boolean.
    Bool(bool),
    /// An integer.
    Int(i32),
    /// A floating-point number.
    Float(f64),
    /// A string.
    Text(&'a std::ffi::CStr),
}

impl From<bool> for OptionValue<'_> {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i32> for OptionValue<'_> {
    fn from(value: i32) -> Self {
        Self::Int(value)
    }
}

impl From<f64> for OptionValue<'_> {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl<'a> From<&'a std::ffi::CStr> for OptionValue<'a> {
    fn from(value: &'a std::ffi::CStr) -> Self {
        Self::Text(value)
    }
}
