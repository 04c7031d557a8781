//! Example decisions for figures and tables: the tour, the path, the chosen items or columns.

use serde::{Deserialize, Serialize};

use super::named_problem::NamedProblem;
use regretless::data::Matrix;
use regretless::label::LabeledDataset;
use regretless::oracle::CompleteResult;
use regretless::problem::{DecisionLayout, ProblemSpec};
use regretless::sense::Sense;
use regretless_base::decision::Decision;

/// Fewest and most test rows whose decisions are stored, if there are so many. A report shows the
/// row with the largest regret and one with the median regret, which should be those of many rows;
/// a hundred decisions of fifty costs take 100 KB in a cell's file.
const MIN_EXAMPLE_ROWS: usize = 8;
/// See [`MIN_EXAMPLE_ROWS`].
const MAX_EXAMPLE_ROWS: usize = 100;
/// True costs that are stored with the examples of a problem: between both limits, fewer rows of
/// large problems are stored.
const MAX_EXAMPLE_COSTS: usize = 10_000;
/// Nonzero values of columns without predicted costs up to which they are stored. Untuned: more are
/// not read by anybody.
const MAX_AUXILIARY_ENTRIES: usize = 500;
/// Number of costs above which decisions are not drawn: single items would not be visible.
const MAX_DRAWN_COSTS: usize = 20_000;
/// The decision of one test row under predicted costs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExampleDecision {
    /// Row of the table.
    pub row: usize,
    /// Its regret.
    pub regret: f64,
    /// Indices of the chosen costs.
    pub chosen: Vec<u32>,
    /// Their values; empty if all are 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<f64>,
    /// Cost of variables whose costs are known, in the problem's sense.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub fixed: f64,
    /// Predicted costs, in the problem's sense, of the entries that this or the optimal decision
    /// has: index and cost.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub predicted: Vec<(u32, f32)>,
    /// Nonzero values of columns without predicted costs: index among them, and value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub auxiliary: Vec<(u32, f64)>,
}

/// The optimal decision of one test row, and its true costs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Example {
    /// Row of the table.
    pub row: usize,
    /// Indices of the optimal decision.
    pub optimal: Vec<u32>,
    /// Their values; empty if all are 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<f64>,
    /// Cost of variables whose costs are known, in the problem's sense.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub fixed: f64,
    /// Nonzero values of columns without predicted costs, if they are known: index among these
    /// columns, and value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auxiliary: Option<Vec<(u32, f64)>>,
    /// How the user calls the row, such as its date; empty unless the caller sets it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub key: String,
    /// Its objective, in the problem's sense.
    pub objective: f64,
    /// True costs in the problem's sense.
    pub costs: Vec<f32>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

/// The layout of a named problem; the nodes of synthetic tours and routes have coordinates.
pub(super) fn named_layout(
    spec: &ProblemSpec,
    problem: NamedProblem,
    seed: u32,
) -> Option<DecisionLayout> {
    match problem {
        NamedProblem::Benchmark(benchmark) => benchmark.layout(spec, seed),
        NamedProblem::Houses { .. }
        | NamedProblem::Schedule { .. }
        | NamedProblem::EnergyItems { .. }
        | NamedProblem::Scoreboard(_) => DecisionLayout::of_problem(spec),
    }
}

/// The test rows whose decisions are stored: the first ones.
pub(crate) fn example_rows<'a>(data: &LabeledDataset, rows: &'a [usize]) -> &'a [usize] {
    let costs = data.data().costs().cols();
    if costs > MAX_DRAWN_COSTS {
        return &[];
    }
    let count = (MAX_EXAMPLE_COSTS / costs.max(1)).clamp(MIN_EXAMPLE_ROWS, MAX_EXAMPLE_ROWS);
    &rows[..count.min(rows.len())]
}

/// The values of a decision; none if all are 1.
fn stored_values(decision: &Decision) -> Vec<f64> {
    decision.values().unwrap_or_default().to_vec()
}

/// The first test rows as examples.
pub(crate) fn examples(data: &LabeledDataset, rows: &[usize]) -> Vec<Example> {
    let example = |row: &usize| {
        let costs = data.stated_costs(*row).into_iter();
        let optimal = data.optimal_decision(*row);
        Example {
            row: *row,
            optimal: optimal.indices().to_vec(),
            values: stored_values(optimal),
            fixed: data.stated_fixed_cost(optimal),
            auxiliary: None,
            key: String::new(),
            objective: data.stated_optimal_objective(*row),
            costs: costs.map(|cost| cost as f32).collect(),
        }
    };
    example_rows(data, rows).iter().map(example).collect()
}

/// The decisions of the same rows under predicted costs, which are to be minimized.
pub(crate) fn example_decisions(
    solutions: &[CompleteResult],
    predictions: &Matrix,
    data: &LabeledDataset,
    rows: &[usize],
) -> Vec<ExampleDecision> {
    let mut examples = Vec::new();
    for (position, row) in example_rows(data, rows).iter().enumerate() {
        if let Some(Ok((solution, complete))) = solutions.get(position) {
            let decision = &solution.decision;
            let objective = data.objective_of(decision, *row);
            examples.push(ExampleDecision {
                row: *row,
                regret: objective - data.optimal_objective(*row),
                chosen: decision.indices().to_vec(),
                values: stored_values(decision),
                fixed: data.stated_fixed_cost(decision),
                predicted: shown_predictions(
                    decision,
                    data.optimal_decision(*row),
                    predictions.row(position),
                    data.sense(),
                ),
                auxiliary: auxiliary_entries(complete, predictions.cols()),
            });
        }
    }
    examples
}

/// The entries of columns without predicted costs, which follow the predicted ones. None if there
/// are too many of them.
pub(crate) fn auxiliary_entries(complete: &Decision, num_costs: usize) -> Vec<(u32, f64)> {
    let mut entries = Vec::new();
    for (column, value) in complete.iter() {
        if let Some(index) = column.checked_sub(num_costs) {
            entries.push((index as u32, value));
        }
    }
    entries.truncate(MAX_AUXILIARY_ENTRIES + 1);
    if entries.len() > MAX_AUXILIARY_ENTRIES {
        entries.clear();
    }
    entries
}

/// The predicted costs of the entries of two decisions, in the problem's sense.
pub(crate) fn shown_predictions(
    decision: &Decision,
    optimal: &Decision,
    predictions: &[f32],
    sense: Sense,
) -> Vec<(u32, f32)> {
    let mut entries = [decision.indices(), optimal.indices()].concat();
    entries.sort_unstable();
    entries.dedup();
    // A cost that no training row has has no prediction.
    entries.retain(|entry| !predictions[*entry as usize].is_nan());
    let predicted = |entry: u32| {
        let mut cost = [predictions[entry as usize]];
        sense.convert_single(&mut cost);
        (entry, cost[0])
    };
    entries.into_iter().map(predicted).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::DecisionLayout;
    use regretless::problem::ProblemSpec;

    fn layout(template: Value) -> Option<DecisionLayout> {
        DecisionLayout::for_problem(&ProblemSpec::Parametric { template }, None).unwrap()
    }

    #[test]
    fn problems_with_parameters_per_row_have_the_layout_of_their_rows() {
        let transport = json!({
            "kind": "transport", "sources": ["n", "s"], "destinations": 3,
            "supply": [5, 5], "demand": {"columns": "need_*"},
        });
        let lanes = layout(transport).unwrap();
        let DecisionLayout::Lanes {
            sources,
            destinations,
        } = lanes
        else {
            panic!("{lanes:?}");
        };
        assert_eq!(
            (sources.join(""), destinations.join("")),
            ("ns".into(), "012".into())
        );
        let storage = json!({
            "kind": "storage", "steps": 6, "capacity": {"column": "size"},
            "charge_limit": 1.0, "discharge_limit": 1.0,
        });
        assert_eq!(layout(storage), Some(DecisionLayout::Steps));
    }

    #[test]
    fn numbers_of_rows_are_not_drawn_and_rows_with_different_items_have_no_layout() {
        let mut knapsack = json!({
            "kind": "knapsack", "weights": [3, 4, 5], "capacity": {"column": "truck"},
        });
        let items = DecisionLayout::Items {
            weights: Vec::new(),
            capacity: Vec::new(),
        };
        assert_eq!(layout(knapsack.clone()), Some(items));
        knapsack["present"] = json!({"columns": "has_*"});
        assert_eq!(layout(knapsack), None);
        let large = json!({
            "kind": "transport", "sources": 21, "destinations": 20,
            "supply": {"columns": "has_*"}, "demand": {"columns": "need_*"},
        });
        assert_eq!(layout(large), None, "too many nodes");
    }
}
