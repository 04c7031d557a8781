//! Features without information: constant, duplicate, almost duplicate, or the number of the row.

use std::collections::{HashMap, HashSet};

use super::statistics::{column_at, correlation, evenly_spaced, standardized};
use super::{Finding, FindingKind};
use crate::data::{FeatureSourceKind, Features, Matrix};
use crate::text::first_names;

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
    let mut constants = Vec::new();
    for (column, summary) in summaries.iter().enumerate() {
        if summary.is_constant {
            is_constant[column] = true;
            constants.push(column);
        // A few rows may count by chance.
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
    findings.extend(constant_features(features, &constants));
    let mut duplicates = Vec::new();
    let mut is_duplicate = vec![false; names.len()];
    let mut first_with: HashMap<u64, usize> = HashMap::new();
    let sources = features.sources();
    let mut paired: HashSet<[usize; 2]> = HashSet::new();
    for (column, summary) in summaries.iter().enumerate() {
        if is_constant[column] {
            continue;
        }
        // Hashes find candidates in one pass; equal hashes are compared.
        match first_with.get(&summary.hash) {
            Some(first) if are_equal(matrix, *first, column) => {
                is_duplicate[column] = true;
                // Values of categories are equal for many values; gaps occur together.
                let pair = [*first, column].map(|feature| sources[feature].column);
                let is_indicator = sources[column].kind == FeatureSourceKind::Indicator;
                if is_indicator || !paired.insert(pair) {
                    continue;
                }
                duplicates.push([*first, column]);
            }
            // Equal hashes of different columns: the first one keeps its place.
            Some(_) => {}
            None => {
                first_with.insert(summary.hash, column);
            }
        }
    }
    findings.extend(equal_features(names, &duplicates));
    let varying: Vec<usize> = (0..names.len())
        .filter(|column| !is_constant[*column] && !is_duplicate[*column])
        // The values of a category are mutually exclusive: two of them are correlated perfectly.
        .filter(|column| sources[*column].kind == FeatureSourceKind::Number)
        .collect();
    find_near_duplicates(features, &varying, findings);
}

/// One finding for all constant features.
fn constant_features(features: &Features, constants: &[usize]) -> Option<Finding> {
    let (names, matrix) = (features.names(), features.values());
    let (rows, values) = (matrix.rows(), matrix.row(0));
    let message = match constants {
        [] => return None,
        [column] => {
            let (name, value) = (&names[*column], values[*column]);
            format!("feature {name} is constant: {value} in all {rows} rows")
        }
        _ => {
            let described = constants.iter();
            let described =
                described.map(|column| format!("{} ({})", names[*column], values[*column]));
            format!(
                "{} features are constant in all {rows} rows: {}",
                constants.len(),
                first_names(described)
            )
        }
    };
    let kind = FindingKind::Constant;
    Some(column_finding(kind, names, constants.iter(), message))
}

/// A finding about features by their numbers.
fn column_finding<'a>(
    kind: FindingKind,
    names: &[String],
    columns: impl Iterator<Item = &'a usize>,
    message: String,
) -> Finding {
    Finding {
        kind,
        columns: columns.map(|column| names[*column].clone()).collect(),
        row: None,
        message,
    }
}

/// One finding for all pairs of equal features.
fn equal_features(names: &[String], pairs: &[[usize; 2]]) -> Option<Finding> {
    let described: Vec<String> = described_pairs(names, pairs);
    let message = match described.as_slice() {
        [] => return None,
        [pair] => format!("features {pair} are equal in all rows"),
        all => format!(
            "{} pairs of features are equal in all rows: {}",
            all.len(),
            first_names(all)
        ),
    };
    let columns = pairs.iter().flatten();
    Some(column_finding(
        FindingKind::Duplicate,
        names,
        columns,
        message,
    ))
}

fn described_pairs(names: &[String], pairs: &[[usize; 2]]) -> Vec<String> {
    let described = pairs.iter().map(|pair| {
        let [first, second] = pair.map(|column| &names[column]);
        format!("{first} and {second}")
    });
    described.collect()
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
            // Bits, as NaN is not equal to itself.
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
    // A sample is enough for correlations this close to 1.
    let rows = evenly_spaced(matrix.rows(), MAX_PAIRED_ROWS);
    let standardized: Vec<Vec<f64>> = columns
        .iter()
        .map(|column| standardized(column_at(matrix, *column, &rows)))
        .collect();
    let (mut pairs, mut lowest) = (Vec::new(), 1.0_f64);
    for (i, second) in standardized.iter().enumerate() {
        // One partner per column, or else a group of equal columns would make a finding for every
        // pair.
        let similar = standardized[..i]
            .iter()
            .position(|first| correlation(first, second).abs() >= NEAR_DUPLICATE_CORRELATION);
        let Some(j) = similar else { continue };
        let correlation = correlation(&standardized[j], second);
        pairs.push([columns[j], columns[i]]);
        if correlation.abs() < lowest.abs() || pairs.len() == 1 {
            lowest = correlation;
        }
    }
    let names = features.names();
    let described = described_pairs(names, &pairs);
    let message = match described.as_slice() {
        [] => return,
        [pair] => format!("features {pair} have the correlation {lowest:.5}"),
        all => format!(
            "{} pairs of features have correlations of {:.5} or more: {}",
            all.len(),
            lowest.abs(),
            first_names(all)
        ),
    };
    findings.push(Finding {
        kind: FindingKind::NearDuplicate,
        message,
        columns: pairs
            .iter()
            .flatten()
            .map(|column| names[*column].clone())
            .collect(),
        row: None,
    });
}
