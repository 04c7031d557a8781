//! The LP relaxation of a knapsack: optimum, cost ranges, adjacent vertices.
//!
//! The basis has one variable per dimension, so its inverse is a small matrix and every column of
//! the simplex dictionary is a small product. Items with positive weight in a dimension without
//! capacity can never be chosen, not even fractionally: the ranges of their costs are unbounded,
//! and they are excluded from pivots.

use super::{KnapsackBasicVariable, KnapsackBranchAndBound, LpVertex};
use crate::dense_tableau::invert;
use crate::relaxation::{AdjacentVertices, CostRanges, CostRanging, RelaxationSolver, VertexDelta};
use crate::simplex_dictionary::{DictionaryVariable, SimplexDictionary};
use crate::{SearchLimits, Solution, SolveFailure};
use regretless_base::decision::Decision;

/// Solver of the LP relaxation of one knapsack, with sensitivity analysis.
#[derive(Debug)]
pub struct KnapsackRelaxation {
    search: KnapsackBranchAndBound,
}

impl KnapsackRelaxation {
    /// A solver for items with one row of weights per dimension.
    pub fn new(weights: &[Vec<f64>], capacity: &[f64]) -> Self {
        Self {
            search: KnapsackBranchAndBound::new(weights, capacity, SearchLimits::default()),
        }
    }

    fn items(&self) -> usize {
        self.search.items.count()
    }

    /// An item, or the slack of a dimension, numbered after the items; slacks have the scale of the
    /// weights.
    fn variable(&self, number: usize, point: &[f64]) -> DictionaryVariable {
        let bounds = match number.checked_sub(self.items()) {
            None if self.search.items.fits_fractionally(number) => [0.0, 1.0],
            // Items that cannot even be chosen in part are fixed at 0.
            None => [0.0, 0.0],
            Some(_) => [0.0, f64::INFINITY],
        };
        DictionaryVariable {
            number: number as u32,
            value: point[number],
            bounds,
        }
    }

    /// The entry of a variable in a row.
    fn entry(&self, number: usize, row: usize) -> f64 {
        match number.checked_sub(self.items()) {
            None => self.search.items.column(number)[row],
            Some(slack_row) => f64::from(u8::from(slack_row == row)),
        }
    }

    /// Values of all items and slacks.
    fn values(&self, point: &LpVertex) -> Vec<f64> {
        let (count, rows) = (self.items(), self.search.items.rows() - 1);
        let mut values = vec![0.0; count + rows];
        let mut slacks = self.search.items.strict_rhs()[..rows].to_vec();
        for (item, fraction) in point.decision.iter() {
            values[item] = fraction;
            for (slack, weight) in slacks.iter_mut().zip(self.search.items.column(item)) {
                *slack -= fraction * weight;
            }
        }
        for (value, slack) in values[count..].iter_mut().zip(slacks) {
            // Rounding may leave a full capacity slightly negative.
            *value = slack.max(0.0);
        }
        values
    }

    /// The simplex dictionary at the relaxed optimum.
    fn dictionary(&self, point: &LpVertex) -> Result<SimplexDictionary, SolveFailure> {
        let values = self.values(point);
        let number = |basic: &KnapsackBasicVariable| match basic {
            KnapsackBasicVariable::Item(item) => *item as usize,
            KnapsackBasicVariable::Slack(row) => self.items() + *row as usize,
        };
        let basics: Vec<usize> = point.basis.iter().map(number).collect();
        let matrix_row = |row: usize| basics.iter().map(|basic| self.entry(*basic, row)).collect();
        let matrix = (0..basics.len()).map(matrix_row).collect();
        let inverse = invert(matrix)
            .ok_or_else(|| SolveFailure::SolverError("the optimal basis is singular".into()))?;
        let mut dictionary = SimplexDictionary::new(
            basics
                .iter()
                .map(|basic| self.variable(*basic, &values))
                .collect(),
        );
        for number in (0..values.len()).filter(|number| !basics.contains(number)) {
            let variable = self.variable(number, &values);
            match number.checked_sub(self.items()) {
                Some(slack) => dictionary.push(
                    variable,
                    inverse.iter().map(|inverse_row| inverse_row[slack]),
                ),
                None => {
                    let weights = self.search.items.column(number);
                    let product = |inverse_row: &Vec<f64>| {
                        inverse_row.iter().zip(weights).map(|(a, b)| a * b).sum()
                    };
                    dictionary.push(variable, inverse.iter().map(product));
                }
            }
        }
        Ok(dictionary)
    }
}

impl RelaxationSolver for KnapsackRelaxation {
    fn relax(&mut self, costs: &[f64]) -> Result<Solution, SolveFailure> {
        let point = self.search.relax(costs)?;
        Ok(Solution::optimal(point.decision, point.objective))
    }
}

impl CostRanging for KnapsackRelaxation {
    fn ranges(&mut self, costs: &[f64]) -> Result<CostRanges, SolveFailure> {
        let point = self.search.relax(costs)?;
        let cost = |number: u32| costs.get(number as usize).copied().unwrap_or(0.0);
        Ok(self.dictionary(&point)?.cost_ranges(cost, costs.len()))
    }
}

impl AdjacentVertices for KnapsackRelaxation {
    fn adjacent_vertices(
        &mut self,
        costs: &[f64],
    ) -> Result<(Solution, Vec<VertexDelta>), SolveFailure> {
        let point = self.search.relax(costs)?;
        let directions = self.dictionary(&point)?.adjacent_vertices();
        let is_item = |(number, _): &(u32, f64)| (*number as usize) < costs.len();
        // Changes of slacks are not part of the decision.
        let deltas = directions
            .into_iter()
            .map(|direction| Decision::from_entries(direction.into_iter().filter(is_item)))
            .collect();
        Ok((Solution::optimal(point.decision, point.objective), deltas))
    }
}
