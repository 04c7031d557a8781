//! Features without information: constant, duplicate, almost duplicate, or the number of the row.

use std::collections::{HashMap, HashSet};

use super::statistics::{column_at, correlation, evenly_spaced, standardized};
use super::{Finding, FindingKind};
use crate::data::{FeatureSourceKind, Features, Matrix};

/// Least correlation of near-duplicates: a temperature in two units has 1, two lags of a slow
/// series 0.99. Untuned.
const NEAR_DUPLICATE_CORRELATION: f64 = 0.9995;
/// Most columns that are compared in pairs, and most rows: 500 columns of 1,000 rows take 0.1 s.
const MAX_PAIRED_COLUMNS: usize = 500;
const MAX_PAIRED_ROWS: usize = 1000;
/// Fewer rows are correlated by chance.
const MIN_ROWS: usize = 12;

/// Constant, duplicate, near-duplicate and row-counting features.
pub(super) fn find(features: &Features, findings: &mut Vec<Finding>) {
    let names = features.names();
    let matrix = features.values();
    if matrix.rows() < 2 {
        return;
    }
    let summaries = summaries(matrix);
    let mut is_constant = vec![false; names.len()];
    for (column, summary) in summaries.iter().enumerate() {
        if summary.is_constant {
            is_constant[column] = true;
            let value = matrix.row(0)[column];
            findings.push(Finding {
                kind: FindingKind::Constant,
                columns: vec![names[column].clone()],
                row: None,
                message: format!(
                    "feature {} is constant: {value} in all {} rows",
                    names[column],
                    matrix.rows()
                ),
            });
        } else if summary.counts_rows && matrix.rows() >= MIN_ROWS {
            findings.push(Finding {
                kind: FindingKind::RowNumber,
                columns: vec![names[column].clone()],
                row: None,
                message: format!(
                    "feature {} counts the rows: an index, or a trend that goes on after training",
                    names[column]
                ),
            });
        }
    }
    let mut is_duplicate = vec![false; names.len()];
    let mut first_with: HashMap<u64, usize> = HashMap::new();
    let sources = features.sources();
    let mut paired: HashSet<[usize; 2]> = HashSet::new();
    for (column, summary) in summaries.iter().enumerate() {
        if is_constant[column] {
            continue;
        }
        match first_with.get(&summary.hash) {
            Some(first) if are_equal(matrix, *first, column) => {
                is_duplicate[column] = true;
                // Values of categories are equal for many values; gaps occur together.
                let pair = [*first, column].map(|feature| sources[feature].column);
                let is_indicator = sources[column].kind == FeatureSourceKind::Indicator;
                if is_indicator || !paired.insert(pair) {
                    continue;
                }
                let (first, second) = (&names[*first], &names[column]);
                findings.push(Finding {
                    kind: FindingKind::Duplicate,
                    columns: vec![first.clone(), second.clone()],
                    row: None,
                    message: format!("features {first} and {second} are equal in all rows"),
                });
            }
            Some(_) => {}
            None => {
                first_with.insert(summary.hash, column);
            }
        }
    }
    let varying: Vec<usize> = (0..names.len())
        .filter(|column| !is_constant[*column] && !is_duplicate[*column])
        // The values of a category exclude each other: two of them are correlated perfectly.
        .filter(|column| sources[*column].kind == FeatureSourceKind::Number)
        .collect();
    find_near_duplicates(features, &varying, findings);
}

/// What one pass over the rows finds out about a column.
struct ColumnSummary {
    is_constant: bool,
    /// Whether every value is that of the row before plus 1.
    counts_rows: bool,
    /// FNV-1a hash of the bits of all values.
    hash: u64,
}

fn summaries(matrix: &Matrix) -> Vec<ColumnSummary> {
    /// Offset basis and prime of FNV-1a (Fowler, Noll, Vo).
    const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const FNV_PRIME: u64 = 0x0100_0000_01b3;
    let new = |_| ColumnSummary {
        is_constant: true,
        counts_rows: true,
        hash: FNV_OFFSET,
    };
    let mut summaries: Vec<ColumnSummary> = (0..matrix.cols()).map(new).collect();
    let first = matrix.row(0);
    let mut previous = first;
    for number in 0..matrix.rows() {
        let row = matrix.row(number);
        for (column, summary) in summaries.iter_mut().enumerate() {
            summary.is_constant &= row[column].to_bits() == first[column].to_bits();
            summary.counts_rows &= number == 0 || row[column] == previous[column] + 1.0;
            summary.hash =
                (summary.hash ^ u64::from(row[column].to_bits())).wrapping_mul(FNV_PRIME);
        }
        previous = row;
    }
    summaries
}

fn are_equal(matrix: &Matrix, first: usize, second: usize) -> bool {
    (0..matrix.rows()).all(|row| {
        let row = matrix.row(row);
        row[first].to_bits() == row[second].to_bits()
    })
}

fn find_near_duplicates(features: &Features, columns: &[usize], findings: &mut Vec<Finding>) {
    let matrix = features.values();
    if matrix.rows() < MIN_ROWS || columns.len() > MAX_PAIRED_COLUMNS {
        return;
    }
    let rows = evenly_spaced(matrix.rows(), MAX_PAIRED_ROWS);
    let standardized: Vec<Vec<f64>> = columns
        .iter()
        .map(|column| standardized(column_at(matrix, *column, &rows)))
        .collect();
    for (i, second) in standardized.iter().enumerate() {
        let similar = standardized[..i]
            .iter()
            .position(|first| correlation(first, second).abs() >= NEAR_DUPLICATE_CORRELATION);
        let Some(j) = similar else { continue };
        let [first_name, second_name] = [j, i].map(|at| features.names()[columns[at]].clone());
        let correlation = correlation(&standardized[j], second);
        findings.push(Finding {
            kind: FindingKind::NearDuplicate,
            message: format!(
                "features {first_name} and {second_name} have the correlation {correlation:.5}"
            ),
            columns: vec![first_name, second_name],
            row: None,
        });
    }
}
