//! Problems with fewer decisions, for explanations of decisions with quantities: bounds of single
//! columns, and values of binary columns that are excluded.
//!
//! Columns are numbered as in a complete decision: predicted costs first, then the columns of known
//! cost (`ModelParts::auxiliary_names`).

use crate::decision::Decision;

/// The values that a column can take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ColumnDomain {
    /// Lower and upper bound.
    pub bounds: [f64; 2],
    /// Whether it is integer.
    pub is_integer: bool,
}

impl ColumnDomain {
    /// Whether it is an integer column with several values.
    pub fn is_choice(&self) -> bool {
        self.is_integer && self.bounds[0] < self.bounds[1]
    }

    /// Whether its values are 0 and 1.
    pub fn is_binary(&self) -> bool {
        self.is_integer && self.bounds == [0.0, 1.0]
    }

    /// Whether a value is within the bounds.
    pub fn contains(&self, value: f64) -> bool {
        (self.bounds[0]..=self.bounds[1]).contains(&value)
    }
}

/// Narrower bounds of a column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ColumnBounds {
    /// Its number.
    pub column: u32,
    /// Lower and upper bound.
    pub bounds: [f64; 2],
}

/// Values of all binary columns, which no decision may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExcludedPattern {
    /// Columns that are 1.
    pub ones: Vec<u32>,
    /// Columns that are 0.
    pub zeros: Vec<u32>,
}

impl ExcludedPattern {
    /// The values that a complete decision has in these columns.
    pub fn of(columns: &[u32], complete: &Decision) -> Self {
        let is_one = |column: &u32| complete.value(*column as usize) > 0.5;
        let (ones, zeros) = columns.iter().partition(|column| is_one(column));
        Self { ones, zeros }
    }
}

/// What decisions must have.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Restriction {
    /// Narrower bounds; several of one column are all obeyed.
    pub bounds: Vec<ColumnBounds>,
    /// Values that are excluded.
    pub excluded: Vec<ExcludedPattern>,
}

impl Restriction {
    /// Narrower bounds of one column.
    pub fn of_column(column: u32, bounds: [f64; 2]) -> Self {
        Self {
            bounds: vec![ColumnBounds { column, bounds }],
            excluded: Vec::new(),
        }
    }
}
