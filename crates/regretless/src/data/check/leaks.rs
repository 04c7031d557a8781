//! Features that give costs away: almost perfect correlation, of values or of ranks, with a cost,
//! with all costs of a row together, with the best objective, or with a cost of the next row.

use super::statistics::{column_at, correlation, evenly_spaced, ranks, standardized};
use super::{DataCheck, Finding, FindingKind};
use crate::data::FeatureShape;

/// Least correlation of a leak. Features of synthetic tables have at most 0.93 (degree 6, 50
/// rows); a cost that is rounded, converted or has 10 % noise has 0.995 or more.
const LEAK_CORRELATION: f64 = 0.99;
/// Least rank correlation of a leak: a logarithm of a cost has 1. It is higher, since a feature
/// that determines a cost up to a little noise is less unusual on ranks.
const LEAK_RANK_CORRELATION: f64 = 0.998;
/// Least correlation with a cost of the next row: lower ones occur in slow series.
const NEXT_ROW_CORRELATION: f64 = 0.9999;
/// Most products of all correlations together, about 0.3 s; more rows are sampled.
const MAX_PRODUCTS: usize = 300_000_000;
/// Rows that are used in any case, if the table has them.
const MIN_SAMPLED_ROWS: usize = 300;
/// Fewer rows are correlated by chance.
const MIN_ROWS: usize = 12;

/// A quantity that is unknown when the decision is made.
struct UnknownQuantity {
    name: String,
    values: Vec<f64>,
}

/// The best correlation of a feature.
struct BestMatch {
    target: String,
    correlation: f64,
    is_of_ranks: bool,
    others: usize,
}

pub(super) fn find(check: &DataCheck<'_>, findings: &mut Vec<Finding>) {
    let features = check.data.features();
    let matrix = features.values();
    if matrix.rows() < MIN_ROWS {
        return;
    }
    let columns = matrix.cols();
    let costs = if check.is_long() {
        1
    } else {
        check.data.costs().cols()
    };
    let affordable = MAX_PRODUCTS / (columns * costs).max(1);
    let rows = evenly_spaced(matrix.rows(), affordable.max(MIN_SAMPLED_ROWS));
    let targets = targets(check, &rows);
    let target_ranks = standardized_ranks(&targets);
    let standardized_targets: Vec<Vec<f64>> = targets
        .iter()
        .map(|target| standardized(target.values.clone()))
        .collect();
    for column in 0..columns {
        let values = column_at(matrix, column, &rows);
        let feature_ranks = standardized(ranks(&values));
        let feature = standardized(values);
        let mut best: Option<BestMatch> = None;
        for (number, target) in targets.iter().enumerate() {
            let of_values = correlation(&feature, &standardized_targets[number]);
            let of_ranks = correlation(&feature_ranks, &target_ranks[number]);
            let is_leak =
                of_values.abs() >= LEAK_CORRELATION || of_ranks.abs() >= LEAK_RANK_CORRELATION;
            if !is_leak {
                continue;
            }
            let is_of_ranks = of_ranks.abs() > of_values.abs();
            let correlation = if is_of_ranks { of_ranks } else { of_values };
            let others = best.as_ref().map_or(0, |best| best.others + 1);
            best = Some(match best {
                Some(best) if best.correlation.abs() >= correlation.abs() => {
                    BestMatch { others, ..best }
                }
                Some(_) | None => BestMatch {
                    target: target.name.clone(),
                    correlation,
                    is_of_ranks,
                    others,
                },
            });
        }
        if let Some(best) = best {
            findings.push(leak(&features.names()[column], &best));
        }
    }
    find_next_row_leaks(check, findings);
}

fn leak(feature: &str, best: &BestMatch) -> Finding {
    let kind = if best.is_of_ranks { "rank " } else { "" };
    let more = match best.others {
        0 => String::new(),
        others => format!(", and similar ones with {others} more"),
    };
    Finding {
        kind: FindingKind::Leak,
        columns: vec![feature.to_owned()],
        row: None,
        message: format!(
            "feature {feature} has the {kind}correlation {:.4} with {}{more}: is it known when \
             the decision is made?",
            best.correlation, best.target
        ),
    }
}

/// Costs, their sum per instance, and the best objective, at these rows of the features.
fn targets(check: &DataCheck<'_>, rows: &[usize]) -> Vec<UnknownQuantity> {
    let costs = check.data.costs();
    let names = check.data.cost_names();
    let instance_of = |row: usize| match check.data.features().shape() {
        FeatureShape::Wide => row,
        FeatureShape::Long { items } => row / items,
    };
    let mut targets = Vec::new();
    if let FeatureShape::Long { items } = check.data.features().shape() {
        let cost = |row: &usize| f64::from(costs.row(row / items)[row % items]);
        targets.push(UnknownQuantity {
            name: "the cost".into(),
            values: rows.iter().map(cost).collect(),
        });
    } else {
        for column in 0..costs.cols() {
            targets.push(UnknownQuantity {
                name: format!("cost {}", names.get(column)),
                values: column_at(costs, column, rows),
            });
        }
    }
    if costs.cols() > 1 {
        let sum = |row: &usize| {
            let costs = costs.row(instance_of(*row)).iter();
            costs
                .filter(|cost| cost.is_finite())
                .map(|cost| f64::from(*cost))
                .sum()
        };
        targets.push(UnknownQuantity {
            name: "the sum of all costs of a row".into(),
            values: rows.iter().map(sum).collect(),
        });
    }
    if let Some(objectives) = check.objectives {
        targets.push(UnknownQuantity {
            name: "the best objective of a row".into(),
            values: rows
                .iter()
                .map(|row| objectives[instance_of(*row)])
                .collect(),
        });
    }
    targets
}

fn standardized_ranks(targets: &[UnknownQuantity]) -> Vec<Vec<f64>> {
    targets
        .iter()
        .map(|target| standardized(ranks(&target.values)))
        .collect()
}

/// Features of a wide table that are a cost of the next row in time: a column that was shifted the
/// wrong way. The same correlation with the row before is a lag, which is known.
fn find_next_row_leaks(check: &DataCheck<'_>, findings: &mut Vec<Finding>) {
    let Some(times) = check.times else { return };
    let features = check.data.features();
    let costs = check.data.costs();
    let products = features.values().cols() * costs.cols() * check.data.len();
    if check.is_long() || products > MAX_PRODUCTS {
        return;
    }
    let order = times.sorted_rows();
    let (earlier, later) = (&order[..order.len() - 1], &order[1..]);
    for column in 0..features.values().cols() {
        let feature_before = standardized(column_at(features.values(), column, earlier));
        let feature_after = standardized(column_at(features.values(), column, later));
        for cost in 0..costs.cols() {
            let next = standardized(column_at(costs, cost, later));
            let with_next = correlation(&feature_before, &next);
            if with_next.abs() < NEXT_ROW_CORRELATION {
                continue;
            }
            let previous = standardized(column_at(costs, cost, earlier));
            if correlation(&feature_after, &previous).abs() >= NEXT_ROW_CORRELATION {
                continue;
            }
            let (feature, cost) = (&features.names()[column], check.data.cost_names().get(cost));
            findings.push(Finding {
                kind: FindingKind::Leak,
                columns: vec![feature.clone()],
                row: None,
                message: format!(
                    "feature {feature} has the correlation {with_next:.4} with cost {cost} of the \
                     next row in time: it is known only after the decision"
                ),
            });
            break;
        }
    }
}
