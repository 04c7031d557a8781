//! Target leakage, features that leak a cost: almost perfect correlation, of values or of ranks,
//! with a cost, with all costs of a row together, with the best objective, or with a cost of the
//! next row.

use super::statistics::{column_at, correlation, evenly_spaced, ranks, standardized};
use super::{DataCheck, Finding, FindingKind};
use crate::data::{FeatureShape, FeatureSourceKind};
use crate::text::first_names;

/// Least correlation of a leak. Features of synthetic tables have at most 0.93 (degree 6, 50
/// rows); a cost that is rounded, converted or has 10 % noise has 0.995 or more.
const LEAK_CORRELATION: f64 = 0.99;
/// Least rank correlation of a leak: a logarithm of a cost has 1. It is higher, since a feature
/// that determines a cost up to a little noise is less unusual on ranks.
const LEAK_RANK_CORRELATION: f64 = 0.998;
/// Least correlation with a cost of the next row: lower ones occur in slow series.
const NEXT_ROW_CORRELATION: f64 = 0.9999;
/// Most products of all correlations together, about 0.3 s; of larger tables rows are sampled, and
/// if that does not suffice, costs.
const MAX_PRODUCTS: usize = 300_000_000;
/// Most values of unknown quantities in memory at a time, 32 MB with their ranks: a table may be
/// larger than the memory.
const MAX_VALUES_PER_BLOCK: usize = 2_000_000;
/// Rows that are used in any case, if the table has them.
const MIN_SAMPLED_ROWS: usize = 300;
/// Most rows that are used, since ranks are sorted before every training: the standard error of a
/// correlation of 0.99 is 0.00014 then.
const MAX_SAMPLED_ROWS: usize = 20_000;
/// Leaks up to this number have a finding each, with the cost that they leak. Untuned: keeps the
/// output short.
const MAX_SEPARATE_LEAKS: usize = 3;
/// Fewer rows are correlated by chance.
const MIN_ROWS: usize = 12;

/// A quantity that is unknown when the decision is made.
#[derive(Clone, Copy)]
enum UnknownQuantity {
    /// A cost of a wide table, by its column.
    Cost(usize),
    /// The cost of the item of a row of a long table.
    CostOfItem,
    SumOfCosts,
    BestObjective,
}

/// The best correlation of a feature.
struct BestMatch {
    target: UnknownQuantity,
    correlation: f64,
    is_of_ranks: bool,
    others: usize,
}

/// Values and ranks of a quantity or a feature, standardized.
struct StandardizedColumn {
    values: Vec<f64>,
    ranks: Vec<f64>,
}

impl StandardizedColumn {
    fn new(values: Vec<f64>) -> Self {
        Self {
            ranks: standardized(ranks(&values)),
            values: standardized(values),
        }
    }
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
    // The time is bounded first by rows, then by costs.
    let affordable = MAX_PRODUCTS / (columns * costs).max(1);
    let rows = evenly_spaced(
        matrix.rows(),
        affordable.clamp(MIN_SAMPLED_ROWS, MAX_SAMPLED_ROWS),
    );
    let targets = targets(check, MAX_PRODUCTS / (columns * rows.len()).max(1));
    let mut best_of_features: Vec<Option<BestMatch>> = (0..columns).map(|_| None).collect();
    // In blocks, so the quantities of a wide table are not in memory together.
    for block in targets.chunks((MAX_VALUES_PER_BLOCK / rows.len()).max(1)) {
        let standardized_targets: Vec<StandardizedColumn> = block
            .iter()
            .map(|target| StandardizedColumn::new(target.values(check, &rows)))
            .collect();
        for (column, best) in best_of_features.iter_mut().enumerate() {
            let feature = StandardizedColumn::new(column_at(matrix, column, &rows));
            for (target, values) in block.iter().zip(&standardized_targets) {
                update_best_match(best, &feature, *target, values);
            }
        }
    }
    let mut leaks = Vec::new();
    let sources = features.sources();
    for (column, best) in best_of_features.iter().enumerate() {
        // The calendar is always known.
        let is_date = sources[column].kind == FeatureSourceKind::Date;
        if let Some(best) = best.as_ref().filter(|_| !is_date) {
            let target = best.target.name(check);
            leaks.push(leak(&features.names()[column], &target, best));
        }
    }
    if leaks.len() > MAX_SEPARATE_LEAKS {
        findings.push(all_leaks(&leaks));
    } else {
        findings.append(&mut leaks);
    }
    find_next_row_leaks(check, findings);
}

/// Counts a quantity that a feature leaks, and keeps it if none before it is more correlated.
fn update_best_match(
    best: &mut Option<BestMatch>,
    feature: &StandardizedColumn,
    target: UnknownQuantity,
    values: &StandardizedColumn,
) {
    let of_values = correlation(&feature.values, &values.values);
    let of_ranks = correlation(&feature.ranks, &values.ranks);
    // Ranks also find monotone transformations.
    if of_values.abs() < LEAK_CORRELATION && of_ranks.abs() < LEAK_RANK_CORRELATION {
        return;
    }
    let is_of_ranks = of_ranks.abs() > of_values.abs();
    let correlation = if is_of_ranks { of_ranks } else { of_values };
    match best {
        // The first of equal correlations is kept.
        Some(best) if best.correlation.abs() >= correlation.abs() => best.others += 1,
        Some(_) | None => {
            *best = Some(BestMatch {
                target,
                correlation,
                is_of_ranks,
                others: best.as_ref().map_or(0, |best| best.others + 1),
            });
        }
    }
}

/// One finding for many features.
fn all_leaks(leaks: &[Finding]) -> Finding {
    let columns: Vec<String> = leaks.iter().flat_map(|leak| leak.columns.clone()).collect();
    Finding {
        kind: FindingKind::Leak,
        row: None,
        message: format!(
            "{} features have correlations of {LEAK_CORRELATION} or more with costs: {}: are they \
             known when the decision is made?",
            leaks.len(),
            first_names(&columns)
        ),
        columns,
    }
}

fn leak(feature: &str, target: &str, best: &BestMatch) -> Finding {
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
            "feature {feature} has the {kind}correlation {:.4} with {target}{more}: is it known \
             when the decision is made?",
            best.correlation
        ),
    }
}

/// Costs, at most `max_costs` of them, evenly spaced; their sum per instance; the best objective.
fn targets(check: &DataCheck<'_>, max_costs: usize) -> Vec<UnknownQuantity> {
    let costs = check.data.costs().cols();
    let mut targets = if check.is_long() {
        vec![UnknownQuantity::CostOfItem]
    } else {
        // Items of one cost have no other sum.
        let columns = evenly_spaced(costs, max_costs.max(1));
        columns.into_iter().map(UnknownQuantity::Cost).collect()
    };
    if costs > 1 {
        targets.push(UnknownQuantity::SumOfCosts);
    }
    if check.objectives.is_some() {
        targets.push(UnknownQuantity::BestObjective);
    }
    targets
}

impl UnknownQuantity {
    fn name(self, check: &DataCheck<'_>) -> String {
        match self {
            Self::Cost(column) => format!("cost {}", check.data.cost_names().get(column)),
            Self::CostOfItem => "the cost".into(),
            Self::SumOfCosts => "the sum of all costs of a row".into(),
            Self::BestObjective => "the best objective of a row".into(),
        }
    }

    /// Its values at these rows of the features.
    fn values(self, check: &DataCheck<'_>, rows: &[usize]) -> Vec<f64> {
        let costs = check.data.costs();
        let items = match check.data.features().shape() {
            FeatureShape::Wide => 1,
            FeatureShape::Long { items } => items,
        };
        match self {
            Self::Cost(column) => column_at(costs, column, rows),
            Self::CostOfItem => {
                let cost = |row: &usize| f64::from(costs.row(row / items)[row % items]);
                rows.iter().map(cost).collect()
            }
            Self::SumOfCosts => {
                let sum = |row: &usize| {
                    let finite = costs
                        .row(row / items)
                        .iter()
                        .filter(|cost| cost.is_finite());
                    finite.map(|cost| f64::from(*cost)).sum()
                };
                rows.iter().map(sum).collect()
            }
            Self::BestObjective => {
                let objectives = check.objectives.unwrap_or_default();
                rows.iter().map(|row| objectives[row / items]).collect()
            }
        }
    }
}

/// Features of a wide table that are a cost of the next row in time: a column that was shifted the
/// wrong way. The same correlation with the row before is a lag, which is known.
fn find_next_row_leaks(check: &DataCheck<'_>, findings: &mut Vec<Finding>) {
    // Of a long table rows are items, which have no order in time.
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
            // Both directions: a slow series is correlated with all of its neighbors.
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
