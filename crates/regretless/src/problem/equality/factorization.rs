//! Sparse factorization of A Aᵀ = L D Lᵀ by elimination in the order of least degree (Tinney and
//! Walker 1967). A row whose pivot vanishes depends linearly on the rows before it and is left out.

#![allow(
    clippy::needless_range_loop,
    reason = "loops over the lanes of several vectors read best with an index, and are vectorized"
)]

use std::collections::BTreeSet;

use super::SparseIncidence;

/// Most entries of the factor: 512 MB. A grid of 100 by 100 nodes has 211,032, one of 200 by 200
/// nodes 1.2 million.
const MAX_FACTOR_ENTRIES: usize = 1 << 25;

/// Rows have unit norm; a smaller pivot is the rounding error of 0. Untuned: pivots of independent
/// rows of networks are above 1e-6.
const MIN_PIVOT: f64 = 1e-10;

/// The factors.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Factorization {
    /// Independent rows in the order of elimination.
    pivots: Vec<Pivot>,
    /// Rows that depend on others.
    dependent: Vec<u32>,
    /// For each pivot, its column of L below the diagonal.
    entries: Vec<FactorEntry>,
}

#[derive(Debug, Clone, PartialEq)]
struct FactorEntry {
    row: u32,
    value: f64,
}

#[derive(Debug, Clone, PartialEq)]
struct Pivot {
    row: u32,
    /// 1 / D.
    inverse: f64,
    /// The end of its entries of L; they begin where those of the pivot before end.
    end: usize,
}

/// A row of the matrix without its diagonal: columns in increasing order, and values.
type MatrixRow = Vec<(u32, f64)>;

impl Factorization {
    /// Factorizes A Aᵀ.
    ///
    /// # Errors
    /// When the factor is too large, as a message.
    pub(super) fn new(
        incidence: &SparseIncidence,
        num_variables: usize,
        num_rows: usize,
    ) -> Result<Self, String> {
        let (mut diagonal, mut matrix) = product(incidence, num_variables, num_rows)?;
        let mut queue: BTreeSet<(usize, u32)> = BTreeSet::new();
        for (row, entries) in (0..).zip(&matrix) {
            queue.insert((entries.len(), row));
        }
        let mut factors = Self {
            pivots: Vec::new(),
            dependent: Vec::new(),
            entries: Vec::new(),
        };
        while let Some((_, pivot)) = queue.pop_first() {
            let column = std::mem::take(&mut matrix[pivot as usize]);
            let value = diagonal[pivot as usize];
            let is_independent = value > MIN_PIVOT;
            for (row, entry) in &column {
                let entries = &mut matrix[*row as usize];
                queue.remove(&(entries.len(), *row));
                let factor = if is_independent { entry / value } else { 0.0 };
                diagonal[*row as usize] -= factor * entry;
                if is_independent {
                    *entries = subtract(entries, &column, factor, [pivot, *row]);
                } else {
                    entries.retain(|(other, _)| *other != pivot);
                }
                queue.insert((entries.len(), *row));
            }
            if !is_independent {
                factors.dependent.push(pivot);
                continue;
            }
            let entries = column.iter().map(|(row, entry)| FactorEntry {
                row: *row,
                value: entry / value,
            });
            factors.entries.extend(entries);
            factors.pivots.push(Pivot {
                row: pivot,
                inverse: 1.0 / value,
                end: factors.entries.len(),
            });
            if factors.entries.len() > MAX_FACTOR_ENTRIES {
                return Err(too_many_entries());
            }
        }
        Ok(factors)
    }

    pub(super) fn num_rows(&self) -> usize {
        self.pivots.len() + self.dependent.len()
    }

    pub(super) fn num_entries(&self) -> usize {
        self.entries.len()
    }

    /// Overwrites right-hand sides with solutions, for several vectors at a time; the solution of
    /// dependent rows is 0.
    #[inline(always)]
    pub(super) fn solve<const LANES: usize>(&self, vectors: &mut [[f64; LANES]]) {
        let mut start = 0;
        for pivot in &self.pivots {
            let value = vectors[pivot.row as usize];
            for entry in &self.entries[start..pivot.end] {
                let vector = &mut vectors[entry.row as usize];
                for lane in 0..LANES {
                    vector[lane] -= entry.value * value[lane];
                }
            }
            start = pivot.end;
        }
        for row in &self.dependent {
            vectors[*row as usize] = [0.0; LANES];
        }
        for (position, pivot) in self.pivots.iter().enumerate().rev() {
            let start = position
                .checked_sub(1)
                .map_or(0, |before| self.pivots[before].end);
            let mut value = vectors[pivot.row as usize];
            for lane in 0..LANES {
                value[lane] *= pivot.inverse;
            }
            for entry in &self.entries[start..pivot.end] {
                let vector = &vectors[entry.row as usize];
                for lane in 0..LANES {
                    value[lane] -= entry.value * vector[lane];
                }
            }
            vectors[pivot.row as usize] = value;
        }
    }
}

fn too_many_entries() -> String {
    format!("the factorization of their rows has more than {MAX_FACTOR_ENTRIES} entries")
}

/// The diagonal of A Aᵀ, and the rest of its rows.
fn product(
    incidence: &SparseIncidence,
    num_variables: usize,
    num_rows: usize,
) -> Result<(Vec<f64>, Vec<MatrixRow>), String> {
    let mut diagonal = vec![0.0; num_rows];
    let mut matrix: Vec<MatrixRow> = vec![Vec::new(); num_rows];
    let mut count = 0;
    for variable in 0..num_variables {
        for (first, a) in incidence.entries(variable) {
            for (second, b) in incidence.entries(variable) {
                if first == second {
                    diagonal[first] += a * b;
                } else {
                    matrix[first].push((second as u32, a * b));
                    count += 1;
                }
            }
        }
        if count > 2 * MAX_FACTOR_ENTRIES {
            return Err(too_many_entries());
        }
    }
    for entries in &mut matrix {
        // Stable, so sums do not depend on the sort.
        entries.sort_by_key(|(column, _)| *column);
        entries.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
    }
    Ok((diagonal, matrix))
}

/// `row` − `factor` · `pivot_row` without the entries of the two `left_out` columns.
fn subtract(
    row: &[(u32, f64)],
    pivot_row: &[(u32, f64)],
    factor: f64,
    left_out: [u32; 2],
) -> MatrixRow {
    let mut out = Vec::with_capacity(row.len() + pivot_row.len());
    let mut row = row.iter().copied().peekable();
    let mut pivot_row = pivot_row.iter().copied().peekable();
    loop {
        let entry = match (row.peek(), pivot_row.peek()) {
            (None, None) => return out,
            (Some(_), None) => row.next(),
            (None, Some((column, value))) => {
                let entry = (*column, -factor * value);
                pivot_row.next();
                Some(entry)
            }
            (Some((first, a)), Some((second, b))) => {
                let entry = match first.cmp(second) {
                    std::cmp::Ordering::Less => (*first, *a),
                    std::cmp::Ordering::Equal => (*first, a - factor * b),
                    std::cmp::Ordering::Greater => (*second, -factor * b),
                };
                let (take_row, take_pivot_row) = (first <= second, second <= first);
                if take_row {
                    row.next();
                }
                if take_pivot_row {
                    pivot_row.next();
                }
                Some(entry)
            }
        };
        out.extend(entry.filter(|(column, _)| !left_out.contains(column)));
    }
}
