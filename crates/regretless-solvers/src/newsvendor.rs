//! Newsvendor with a shared capacity: how much of each item to order before its demand is known.
//!
//! For a predicted demand the best plan fills the capacity in the order of what a unit of capacity
//! earns (the continuous knapsack, Dantzig 1957), no item beyond its demand. Ties go to the item
//! with the lower index.
//!
//! The problem is a maximization: quantities arrive negated, as all values of maximizations do.

use std::sync::Arc;

use super::{Solution, SolveFailure, Solver};
use regretless_base::decision::Decision;

/// Relative part of the capacity that may be free although the capacity binds: rounding.
const CAPACITY_TOLERANCE: f64 = 1e-9;

/// What units cost, and what they take of the capacity.
#[derive(Debug, Clone, PartialEq)]
pub struct NewsvendorNumbers {
    /// What a unit of demand that is not met costs, per item: its lost margin.
    pub under_cost: Vec<f64>,
    /// What a unit that is left costs, per item: its price less what it is still worth.
    pub over_cost: Vec<f64>,
    /// Capacity that a unit takes, per item.
    pub weights: Vec<f64>,
    /// The shared capacity; infinite where there is none.
    pub capacity: f64,
}

impl NewsvendorNumbers {
    /// Number of items.
    pub fn items(&self) -> usize {
        self.under_cost.len()
    }

    /// The capacity that amounts take.
    pub fn load(&self, decision: &Decision) -> f64 {
        decision
            .iter()
            .map(|(item, amount)| self.weights[item] * amount)
            .sum()
    }

    /// What is earned with these amounts under the true demands, which are negated: the margin of
    /// every unit that is sold less the cost of every unit that is left. Minimized, so negative.
    pub fn objective(&self, decision: &Decision, negated_demands: &[f64]) -> f64 {
        let mut earned = 0.0;
        for (item, amount) in decision.iter() {
            let sold = amount.min(-negated_demands[item]);
            earned += self.under_cost[item] * sold - self.over_cost[item] * (amount - sold);
        }
        -earned
    }

    /// What a unit of capacity is worth at an optimal plan: the dual of the capacity.
    pub fn capacity_price(&self, plan: &Decision) -> f64 {
        let is_slack = self.load(plan) < self.capacity * (1.0 - CAPACITY_TOLERANCE);
        if self.capacity.is_infinite() || is_slack {
            return 0.0;
        }
        let earned_per_weight = |(item, _): (usize, f64)| {
            let weight = self.weights[item];
            (weight > 0.0).then(|| self.under_cost[item] / weight)
        };
        let least = plan
            .iter()
            .filter_map(earned_per_weight)
            .fold(f64::INFINITY, f64::min);
        if least.is_finite() {
            return least;
        }
        // No capacity at all: a unit of it would go to the best item.
        let best = self.under_cost.iter().zip(&self.weights);
        best.filter(|(_, weight)| **weight > 0.0)
            .map(|(under, weight)| under / weight)
            .fold(0.0, f64::max)
    }
}

/// Fills the capacity in the order of what a unit of it earns.
#[derive(Debug, Clone)]
pub struct NewsvendorSolver {
    numbers: Arc<NewsvendorNumbers>,
    /// Items by margin per weight, highest first.
    order: Vec<u32>,
    amounts: Vec<f64>,
}

impl NewsvendorSolver {
    /// A solver for these numbers.
    pub fn new(numbers: Arc<NewsvendorNumbers>) -> Self {
        let mut order: Vec<u32> = (0..numbers.items() as u32).collect();
        let earned_per_weight = |item: &u32| {
            let (under, weight) = (
                numbers.under_cost[*item as usize],
                numbers.weights[*item as usize],
            );
            // An item without a margin is not ordered, whatever it weighs.
            if under > 0.0 && weight == 0.0 {
                f64::INFINITY
            } else {
                under / weight.max(f64::MIN_POSITIVE)
            }
        };
        order.sort_by(|a, b| {
            earned_per_weight(b)
                .total_cmp(&earned_per_weight(a))
                .then(a.cmp(b))
        });
        Self {
            amounts: vec![0.0; numbers.items()],
            numbers,
            order,
        }
    }

    /// Overwrites the amounts with the best plan; returns what it earns.
    fn plan(&mut self, negated_demands: &[f64]) -> f64 {
        let numbers = self.numbers.as_ref();
        let (mut free, mut earned) = (numbers.capacity, 0.0);
        self.amounts.fill(0.0);
        for item in &self.order {
            let item = *item as usize;
            let (under, weight) = (numbers.under_cost[item], numbers.weights[item]);
            // A forecast may be negative, a demand is not.
            let demand = (-negated_demands[item]).max(0.0);
            if under <= 0.0 || demand == 0.0 {
                continue;
            }
            let amount = if weight * demand <= free {
                free -= weight * demand;
                demand
            } else {
                // Nothing is left, not even a rounding error for the next item.
                std::mem::take(&mut free) / weight
            };
            earned += under * amount;
            self.amounts[item] = amount;
        }
        earned
    }
}

impl Solver for NewsvendorSolver {
    fn solve(&mut self, negated_demands: &[f64]) -> Result<Solution, SolveFailure> {
        let earned = self.plan(negated_demands);
        Ok(Solution::optimal(
            Decision::from_dense(&self.amounts),
            -earned,
        ))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{NewsvendorNumbers, NewsvendorSolver};
    use crate::Solver;
    use regretless_base::decision::Decision;

    fn two_items(capacity: f64) -> NewsvendorNumbers {
        NewsvendorNumbers {
            under_cost: vec![3.0, 4.0],
            over_cost: vec![1.0, 2.0],
            weights: vec![1.0, 2.0],
            capacity,
        }
    }

    #[test]
    fn the_capacity_goes_to_the_items_that_earn_most_per_unit_of_it() {
        let numbers = Arc::new(two_items(8.0));
        let solution = NewsvendorSolver::new(Arc::clone(&numbers))
            .solve(&[-5.0, -4.0])
            .unwrap();
        assert_eq!(solution.decision, Decision::from_dense(&[5.0, 1.5]));
        assert_eq!(solution.objective, -21.0);
        assert_eq!(numbers.objective(&solution.decision, &[-5.0, -4.0]), -21.0);
        assert_eq!(numbers.capacity_price(&solution.decision), 2.0);
        // One of the first item is left, 0.5 of the second demand are not met.
        assert_eq!(
            numbers.objective(&solution.decision, &[-4.0, -2.0]),
            -(12.0 - 1.0 + 6.0)
        );
    }

    #[test]
    fn a_free_capacity_is_worth_nothing_and_negative_forecasts_order_nothing() {
        let numbers = Arc::new(two_items(100.0));
        let mut solver = NewsvendorSolver::new(Arc::clone(&numbers));
        let plan = solver.solve(&[-5.0, 3.0]).unwrap().decision;
        assert_eq!(plan, Decision::from_dense(&[5.0, 0.0]));
        assert_eq!(numbers.capacity_price(&plan), 0.0);
        let none = NewsvendorNumbers {
            capacity: 0.0,
            ..two_items(0.0)
        };
        assert_eq!(none.capacity_price(&Decision::from_dense(&[0.0, 0.0])), 3.0);
    }
}
