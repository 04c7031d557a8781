//! Rows that dominate squared losses, and values of features far from all others.

use super::statistics::column_at;
use super::{Finding, FindingKind};
use crate::data::Dataset;
use crate::text::plural;

/// Share of all squared deviations of costs from their means that one row may have. Skewed
/// synthetic costs (degree 6, 300 rows) have at most 0.38.
const MAX_ROW_SHARE: f64 = 0.5;
/// Fewer rows have large shares by themselves.
const MIN_ROWS: usize = 30;
/// Distance from the median in interquartile ranges; the largest of 1,000 lognormal values has
/// about 17.
const MAX_QUARTILE_RANGES: f64 = 100.0;
/// Most values of a table whose features are checked for it.
const MAX_CHECKED_VALUES: usize = 20_000_000;

pub(super) fn find(data: &Dataset, findings: &mut Vec<Finding>) {
    if data.len() < MIN_ROWS {
        return;
    }
    findings.extend(dominating_row(data));
    find_distant_values(data, findings);
}

/// The row with more than half of the squared deviations of all costs from their means.
fn dominating_row(data: &Dataset) -> Option<Finding> {
    let costs = data.costs();
    let mut sums = vec![0.0; costs.cols()];
    let mut counts = vec![0.0; costs.cols()];
    for row in 0..costs.rows() {
        for (j, cost) in costs.row(row).iter().enumerate() {
            if cost.is_finite() {
                sums[j] += f64::from(*cost);
                counts[j] += 1.0;
            }
        }
    }
    let means: Vec<f64> = sums
        .iter()
        .zip(&counts)
        .map(|(sum, count)| sum / f64::max(*count, 1.0))
        .collect();
    let (mut total, mut largest, mut at) = (0.0, 0.0, 0);
    // Deviations from the means of all rows: the row's own part of the mean is negligible beside
    // half of the squares.
    for row in 0..costs.rows() {
        let mut squares = 0.0;
        for (cost, mean) in costs.row(row).iter().zip(&means) {
            if cost.is_finite() {
                squares += (f64::from(*cost) - mean).powi(2);
            }
        }
        total += squares;
        if squares > largest {
            (largest, at) = (squares, row);
        }
    }
    (largest > MAX_ROW_SHARE * total).then(|| Finding {
        kind: FindingKind::Outlier,
        columns: Vec::new(),
        row: Some(at),
        message: format!(
            "row {at} has {:.0} % of the squared deviations of all costs from their means: squared \
             losses fit little else",
            100.0 * largest / total
        ),
    })
}

fn find_distant_values(data: &Dataset, findings: &mut Vec<Finding>) {
    let features = data.features();
    let matrix = features.values();
    // A table this large would take longer to check than to train on.
    if matrix.rows() * matrix.cols() > MAX_CHECKED_VALUES {
        return;
    }
    let all: Vec<usize> = (0..matrix.rows()).collect();
    for (column, name) in features.names().iter().enumerate() {
        let values = column_at(matrix, column, &all);
        let mut finite = values.clone();
        finite.retain(|value| value.is_finite());
        if finite.len() < MIN_ROWS {
            continue;
        }
        // Three selections are faster than sorting a large table before every training.
        let last = finite.len() - 1;
        let mut quartile = |i: usize| {
            let (_, value, _) = finite.select_nth_unstable_by(i * last / 4, f64::total_cmp);
            *value
        };
        let (median, range) = (quartile(2), quartile(3) - quartile(1));
        // Constant columns, and those of mostly one value, have no range.
        let is_distant =
            |value: f64| range > 0.0 && (value - median).abs() > MAX_QUARTILE_RANGES * range;
        let Some(row) = values.iter().position(|value| is_distant(*value)) else {
            continue;
        };
        let count = values.iter().filter(|value| is_distant(**value)).count();
        findings.push(Finding {
            kind: FindingKind::Outlier,
            columns: vec![name.clone()],
            row: Some(row),
            message: format!(
                "feature {name} has {count} value{} more than {MAX_QUARTILE_RANGES} interquartile \
                 ranges from its median {}, the first is {} in row {row}: a code for a missing \
                 value?",
                plural(count),
                // With the digits that they were read with.
                median as f32,
                values[row] as f32
            ),
        });
    }
}
