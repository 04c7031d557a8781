//! Equality rows of a linear problem without its auxiliary columns.
//!
//! A decision holds the predicted columns only. A combination yᵀA of equality rows is constant over
//! decisions if the auxiliary columns vanish from it. Gaussian elimination of these columns finds
//! all such combinations.

use std::collections::BTreeSet;

use super::{ConstraintRow, EqualityConstraints};

/// Most entries that the elimination may touch: some seconds.
const MAX_ELIMINATION_WORK: usize = 200_000_000;

/// Entries below this, relative to the terms whose difference they are, are rounding errors of 0.
const CANCELLATION_TOLERANCE: f64 = 1e-11;

/// A pivot is at least this share of the largest entry of its column (threshold pivoting), as in
/// most sparse factorizations.
const PIVOT_THRESHOLD: f64 = 0.1;

/// An equality row.
#[derive(Debug, Clone, PartialEq, Default)]
pub(in crate::problem) struct EqualityRow {
    /// Predicted costs and factors, sorted.
    pub predicted: ConstraintRow,
    /// Auxiliary columns and factors, sorted.
    pub auxiliary: ConstraintRow,
}

impl EqualityRow {
    fn factor(&self, column: u32) -> Option<f64> {
        let at = self
            .auxiliary
            .binary_search_by_key(&column, |(other, _)| *other);
        at.ok().map(|at| self.auxiliary[at].1)
    }

    fn len(&self) -> usize {
        self.predicted.len() + self.auxiliary.len()
    }

    /// Subtracts a multiple of a row.
    fn subtract(&mut self, row: &Self, factor: f64) {
        self.predicted = difference(&self.predicted, &row.predicted, factor);
        self.auxiliary = difference(&self.auxiliary, &row.auxiliary, factor);
    }
}

/// `row` − `factor` · `other`, without what cancels.
fn difference(row: &ConstraintRow, other: &ConstraintRow, factor: f64) -> ConstraintRow {
    let mut out = ConstraintRow::with_capacity(row.len() + other.len());
    let mut rest = row.as_slice();
    for (column, value) in other {
        let smaller = rest.partition_point(|(before, _)| before < column);
        out.extend_from_slice(&rest[..smaller]);
        rest = &rest[smaller..];
        let subtracted = factor * value;
        match rest.first() {
            Some((found, own)) if found == column => {
                let result = own - subtracted;
                if result.abs() > CANCELLATION_TOLERANCE * own.abs().max(subtracted.abs()) {
                    out.push((*column, result));
                }
                rest = &rest[1..];
            }
            _ => out.push((*column, -subtracted)),
        }
    }
    out.extend_from_slice(rest);
    out
}

/// The combinations of rows that have no auxiliary columns.
pub(in crate::problem) fn eliminate_auxiliary(mut rows: Vec<EqualityRow>) -> EqualityConstraints {
    let columns = rows.iter().flat_map(|row| &row.auxiliary);
    let last = columns.map(|(column, _)| *column).max();
    let mut rows_of: Vec<BTreeSet<usize>> =
        vec![BTreeSet::new(); last.map_or(0, |c| c as usize + 1)];
    for (index, row) in rows.iter().enumerate() {
        for (column, _) in &row.auxiliary {
            rows_of[*column as usize].insert(index);
        }
    }
    let mut queue: BTreeSet<(usize, u32)> = BTreeSet::new();
    for (column, rows) in (0..).zip(&rows_of) {
        queue.insert((rows.len(), column));
    }
    let mut work = 0;
    while let Some((_, column)) = queue.pop_first() {
        let affected = std::mem::take(&mut rows_of[column as usize]);
        let Some(pivot) = choose_pivot(&rows, &affected, column) else {
            continue;
        };
        let pivot_row = std::mem::take(&mut rows[pivot]);
        let pivot_factor = pivot_row.factor(column).unwrap_or(1.0);
        for index in affected.into_iter().filter(|index| *index != pivot) {
            let factor = rows[index].factor(column).unwrap_or(0.0) / pivot_factor;
            rows[index].subtract(&pivot_row, factor);
            // Exactly, whatever the rounding.
            rows[index].auxiliary.retain(|(other, _)| *other != column);
            for (other, _) in &pivot_row.auxiliary {
                let rows_of = &mut rows_of[*other as usize];
                queue.remove(&(rows_of.len(), *other));
                if rows[index].factor(*other).is_some() {
                    rows_of.insert(index);
                } else {
                    rows_of.remove(&index);
                }
                if *other != column {
                    queue.insert((rows_of.len(), *other));
                }
            }
            work += rows[index].len() + pivot_row.len();
        }
        for (other, _) in &pivot_row.auxiliary {
            let rows_of = &mut rows_of[*other as usize];
            queue.remove(&(rows_of.len(), *other));
            rows_of.remove(&pivot);
            if *other != column {
                queue.insert((rows_of.len(), *other));
            }
        }
        if work > MAX_ELIMINATION_WORK {
            return EqualityConstraints::Unavailable(
                "the elimination of the columns without predicted costs takes too long".into(),
            );
        }
    }
    EqualityConstraints::from_rows(rows.into_iter().map(|row| row.predicted))
}

/// The shortest of the rows whose factor of a column is large enough.
fn choose_pivot(rows: &[EqualityRow], candidates: &BTreeSet<usize>, column: u32) -> Option<usize> {
    let factor = |index: usize| rows[index].factor(column).map_or(0.0, f64::abs);
    let largest = candidates
        .iter()
        .map(|index| factor(*index))
        .fold(0.0, f64::max);
    let is_large = |index: &usize| factor(*index) >= PIVOT_THRESHOLD * largest;
    let large = candidates.iter().copied().filter(is_large);
    large.min_by_key(|index| rows[*index].len())
}
