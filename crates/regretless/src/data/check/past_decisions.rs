//! Features that are named after the costs and look like decisions: `was_2` next to `eur_2`, mostly
//! 0, or 0 and 1 with equally many 1 in every row.

use std::collections::HashMap;

use super::{DataCheck, Finding, FindingKind};
use crate::data::{Features, RowParameters};
use crate::text::{distinct_parts, first_names};

/// Share of the costs that have such a feature: items that were never chosen may be missing.
const MIN_COVERED_SHARE: f64 = 0.8;
/// Share of zeros among amounts that look like decisions: most items are not chosen. Earlier costs,
/// which have such names too, are rarely 0.
const MIN_ZERO_SHARE: f64 = 0.5;
/// Fewer costs, or rows, say nothing about what their names have in common.
const MIN_COSTS: usize = 3;
const MIN_ROWS: usize = 12;

/// Features whose names are those of costs with another beginning and end.
struct NamedAfterCosts {
    /// Their columns, in the order of the costs.
    columns: Vec<usize>,
}

pub(super) fn find(check: &DataCheck<'_>) -> Option<Finding> {
    let features = check.data.features();
    let costs = check.data.cost_names();
    let rows = features.values().rows();
    if check.is_long() || !costs.are_explicit() || costs.len() < MIN_COSTS || rows < MIN_ROWS {
        return None;
    }
    let costs = costs.to_vec();
    let parts = distinct_parts(&costs);
    let candidates = named_after(&parts, features, check.data.parameters().map(AsRef::as_ref));
    let found = candidates
        .into_iter()
        .find(|candidate| look_like_decisions(features, &candidate.columns))?;
    let names = found.columns.iter();
    let names: Vec<String> = names
        .map(|column| features.names()[*column].clone())
        .collect();
    Some(Finding {
        kind: FindingKind::PastDecisions,
        message: format!(
            "{} features are named after the costs and look like decisions ({}): if they are \
             decisions that were made, ignore them as features, and give them to a backtest as \
             past decisions or, if the true costs are unknown, as labels",
            names.len(),
            first_names(&names)
        ),
        columns: names,
        row: None,
    })
}

/// Lists of features that have the distinct part of most costs between the same beginning and end;
/// columns of parameters, such as which items exist, are no decisions.
fn named_after(
    parts: &[&str],
    features: &Features,
    parameters: Option<&RowParameters>,
) -> Vec<NamedAfterCosts> {
    // Costs whose names are equal up to a part that is empty cannot be told apart.
    if parts.iter().any(|part| part.is_empty()) {
        return Vec::new();
    }
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (column, name) in features.names().iter().enumerate() {
        if parameters.is_none_or(|parameters| parameters.width(name).is_none()) {
            places.insert(name, column);
        }
    }
    let mut found = Vec::new();
    // The parts of two costs: one item may never have been chosen.
    for part in &parts[..2] {
        for name in features.names() {
            for (start, _) in name.match_indices(part) {
                let (prefix, suffix) = (&name[..start], &name[start + part.len()..]);
                let column = |part: &&str| places.get(format!("{prefix}{part}{suffix}").as_str());
                let columns: Vec<usize> = parts.iter().filter_map(column).copied().collect();
                if columns.len() as f64 >= MIN_COVERED_SHARE * parts.len() as f64 {
                    found.push(NamedAfterCosts { columns });
                }
            }
        }
    }
    found
}

/// Whether values are mostly 0, or 0 and 1 with the same number of 1 in every row. Columns that
/// were made from a category have such values too.
fn look_like_decisions(features: &Features, columns: &[usize]) -> bool {
    let own = features.column_names();
    let names = features.names();
    // Columns that an encoding made are no columns of the user.
    if columns.iter().any(|column| !own.contains(&names[*column])) {
        return false;
    }
    let values = features.values();
    let (mut zeros, mut are_binary) = (0, true);
    let mut chosen = Vec::with_capacity(values.rows());
    for row in 0..values.rows() {
        let before = zeros;
        for column in columns {
            let value = values.row(row)[*column];
            // Decisions are not negative.
            if value < 0.0 {
                return false;
            }
            zeros += usize::from(value == 0.0);
            are_binary &= value == 0.0 || value == 1.0;
        }
        // How many of the columns are not 0 in this row.
        chosen.push(columns.len() - (zeros - before));
    }
    let count = values.rows() * columns.len();
    let is_any_chosen = zeros < count;
    let are_equally_many = are_binary && chosen.windows(2).all(|pair| pair[0] == pair[1]);
    is_any_chosen && (are_equally_many || zeros as f64 >= MIN_ZERO_SHARE * count as f64)
}
