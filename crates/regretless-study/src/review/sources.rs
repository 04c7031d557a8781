//! Regret as a sum over the costs, by their names and over many rows; `explain/regret.rs` has the
//! identity.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::experiment::{ExampleDecision, ProblemResults};
use regretless::sense::Sense;
use regretless_base::decision::Decision;

/// Difference of values that is rounding error of a solver.
const VALUE_TOLERANCE: f64 = 1e-6;

/// Where the regret of a method comes from: the errors of which costs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RegretSources {
    /// Rows that it is summed over.
    pub rows: usize,
    /// The sum of their regrets.
    pub regret: f64,
    /// How much worse the optimal decisions looked under the predicted costs, in total. The shares
    /// of all costs minus this gap are the regret.
    pub gap: f64,
    /// The costs on which decisions differ from the optimal ones, the largest share first.
    pub costs: Vec<CostSource>,
}

/// What the errors of one cost add to the regret.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CostSource {
    /// The name of the cost.
    pub name: String,
    /// Its share: positive if errors favored the decisions that were made.
    pub share: f64,
    /// Rows in which the decision has more of it than the optimal one.
    pub wrong: usize,
    /// Rows in which the decision has less of it.
    pub missed: usize,
}

/// Sums over rows.
pub(super) struct SourceSums {
    sense: Sense,
    rows: usize,
    regret: f64,
    costs: BTreeMap<String, CostSource>,
}

impl SourceSums {
    pub fn new(sense: Sense) -> Self {
        Self {
            sense,
            rows: 0,
            regret: 0.0,
            costs: BTreeMap::new(),
        }
    }

    /// Adds the decision of a row, unless its predicted costs are not known; `true_cost`, in the
    /// user's sense, and `name` are those of a cost by its number.
    pub fn add(
        &mut self,
        decision: &ExampleDecision,
        optimal: &Decision,
        true_cost: impl Fn(usize) -> f64,
        name: impl Fn(usize) -> String,
    ) {
        if decision.predicted.is_empty() {
            return;
        }
        self.rows += 1;
        self.regret += decision.regret;
        let chosen = chosen_values(decision);
        for (entry, predicted) in &decision.predicted {
            let chosen = chosen.get(entry).copied().unwrap_or(0.0);
            let optimal = optimal.value(*entry as usize);
            let difference = chosen - optimal;
            if difference.abs() <= VALUE_TOLERANCE {
                continue;
            }
            let cost = *entry as usize;
            let error = self.sense.convert(true_cost(cost) - f64::from(*predicted));
            let name = name(cost);
            let source = self
                .costs
                .entry(name)
                .or_insert_with_key(|name| CostSource {
                    name: name.clone(),
                    share: 0.0,
                    wrong: 0,
                    missed: 0,
                });
            source.share += error * difference;
            if difference > 0.0 {
                source.wrong += 1;
            } else {
                source.missed += 1;
            }
        }
    }

    /// The sources; none if no row has predictions.
    pub fn finish(self) -> Option<RegretSources> {
        let mut costs: Vec<CostSource> = self.costs.into_values().collect();
        costs.sort_by(|a, b| b.share.total_cmp(&a.share));
        let total: f64 = costs.iter().map(|cost| cost.share).sum();
        (self.rows > 0).then_some(RegretSources {
            rows: self.rows,
            regret: self.regret,
            gap: total - self.regret,
            costs,
        })
    }
}

impl RegretSources {
    /// Those of a method's stored decisions, which are of the first test rows of the first seed.
    pub fn of_examples(problem: &ProblemResults, method: &str) -> Option<Self> {
        let method = problem.methods.iter().find(|known| known.name == method)?;
        let mut sums = SourceSums::new(problem.sense?);
        for decision in &method.examples {
            let mut examples = problem.examples.iter();
            let Some(example) = examples.find(|example| example.row == decision.row) else {
                continue;
            };
            let value = |position: usize| example.values.get(position).copied().unwrap_or(1.0);
            let entries = example.optimal.iter().enumerate();
            let entries = entries.map(|(position, entry)| (*entry, value(position)));
            let optimal = Decision::from_entries(entries);
            let name = |cost: usize| {
                let name = problem.cost_names.get(cost);
                name.map_or_else(|| format!("c{cost}"), Clone::clone)
            };
            let true_cost = |cost: usize| f64::from(example.costs[cost]);
            sums.add(decision, &optimal, true_cost, name);
        }
        sums.finish()
    }
}

/// The values of a decision by the number of their cost.
fn chosen_values(decision: &ExampleDecision) -> BTreeMap<u32, f64> {
    let value = |position: usize| decision.values.get(position).copied().unwrap_or(1.0);
    let chosen = decision.chosen.iter().enumerate();
    chosen
        .map(|(position, entry)| (*entry, value(position)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::SourceSums;
    use crate::experiment::ExampleDecision;
    use regretless::sense::Sense;
    use regretless_base::decision::Decision;

    #[test]
    fn shares_minus_the_gap_are_the_regret_in_both_senses() {
        // Item 0 was taken, item 1 was better: costs 5 and 3, predicted 2 and 4.
        for (sense, sign) in [(Sense::Minimize, 1.0), (Sense::Maximize, -1.0_f32)] {
            let decision = ExampleDecision {
                row: 0,
                regret: 2.0,
                chosen: vec![0, 2],
                values: Vec::new(),
                fixed: 0.0,
                predicted: vec![(0, 2.0 * sign), (1, 4.0 * sign), (2, 9.0)],
                auxiliary: Vec::new(),
            };
            let costs = [5.0, 3.0, 1.0].map(|cost| cost * f64::from(sign));
            let optimal = Decision::from_indices([1, 2]);
            let mut sums = SourceSums::new(sense);
            sums.add(
                &decision,
                &optimal,
                |cost| costs[cost],
                |cost| format!("c{cost}"),
            );
            let sources = sums.finish().unwrap();
            // (5 − 2) · 1 and (3 − 4) · (−1); under the predictions item 1 looked worse by 2.
            let shares: Vec<f64> = sources.costs.iter().map(|cost| cost.share).collect();
            assert_eq!(shares, [3.0, 1.0]);
            assert_eq!((sources.gap, sources.regret, sources.rows), (2.0, 2.0, 1));
            assert_eq!((sources.costs[0].wrong, sources.costs[1].missed), (1, 1));
        }
        assert!(SourceSums::new(Sense::Minimize).finish().is_none());
    }
}
