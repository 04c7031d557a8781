//! The LP relaxation of a linear problem: optimum, cost ranges, adjacent vertices.
//!
//! Ranges and adjacent vertices are those of the optimal basis of HiGHS. Columns without predicted
//! costs change as well: their cost is part of the difference to an adjacent vertex, and vertices
//! that differ only in such columns and have the same objective are omitted.

use std::sync::Arc;

use super::{LinearSolver, relaxed};
use crate::highs::{BasicVariable, LinearModel, Lp};
use crate::relaxation::{AdjacentVertices, CostRanges, CostRanging, RelaxationSolver, VertexDelta};
use crate::simplex_dictionary::{DictionaryVariable, SimplexDictionary};
use crate::warm_start::WarmStart;
use crate::{SearchLimits, Solution, SolveFailure, Solver};
use regretless_base::decision::Decision;

/// Solver of the LP relaxation of one model, with sensitivity analysis.
#[derive(Debug)]
pub struct LinearRelaxation {
    search: LinearSolver,
    /// Index of the predicted cost of each column, if it has one.
    cost_index: Vec<Option<u32>>,
}

impl LinearRelaxation {
    /// A solver for a model to be minimized; cost `j` is that of column `predicted[j]`, whose cost
    /// in the model is 0. Columns count as continuous.
    pub fn new(model: &LinearModel, predicted: &Arc<[usize]>, limits: SearchLimits) -> Self {
        let mut cost_index = vec![None; model.cost.len()];
        for (cost, column) in predicted.iter().enumerate() {
            cost_index[*column] = Some(cost as u32);
        }
        Self {
            search: LinearSolver::new(relaxed(model), Arc::clone(predicted), limits),
            cost_index,
        }
    }

    /// The same solver for a problem in which some predicted costs do not exist.
    #[must_use]
    pub fn with_present(mut self, present: Option<Arc<[bool]>>) -> Self {
        self.search = self.search.with_present(present);
        self
    }

    /// The optimum, and HiGHS with the optimal basis.
    fn solve(&mut self, costs: &[f64]) -> Result<(Solution, &mut Lp), SolveFailure> {
        let solution = self.search.solve(costs)?;
        let lp = self.search.lp.as_mut().ok_or_else(missing_solver)?;
        Ok((solution, lp))
    }

    /// A column, or the activity of a row, numbered after the columns.
    fn variable(&self, number: usize) -> DictionaryVariable {
        let (model, point) = (&self.search.model, &self.search.point);
        let (value, bounds) = match number.checked_sub(model.cost.len()) {
            None => (point.value[number], model.column_bounds[number]),
            Some(row) => (point.activity[row], model.row_bounds[row]),
        };
        DictionaryVariable {
            number: number as u32,
            value,
            bounds,
        }
    }

    /// The simplex dictionary of the optimal basis. In HiGHS the logical variable of a row is its
    /// negated activity.
    fn dictionary(&mut self) -> Result<SimplexDictionary, SolveFailure> {
        let columns = self.search.model.cost.len();
        let count = columns + self.search.model.row_bounds.len();
        let mut lp = self.search.lp.take().ok_or_else(missing_solver)?;
        let number = |basic: BasicVariable| match basic {
            BasicVariable::Column(column) => column,
            BasicVariable::Row(row) => columns + row,
        };
        // HiGHS has no factorization of an empty basis.
        let basic_variables = if count > columns {
            lp.basic_variables()?
        } else {
            Vec::new()
        };
        let basics: Vec<usize> = basic_variables.into_iter().map(number).collect();
        // Logical variables are numbered after the columns.
        let mut is_basic = vec![false; count];
        for basic in &basics {
            is_basic[*basic] = true;
        }
        let mut dictionary =
            SimplexDictionary::new(basics.iter().map(|basic| self.variable(*basic)).collect());
        let mut coefficients = Vec::new();
        for number in (0..count).filter(|number| !is_basic[*number]) {
            let variable = self.variable(number);
            let sign = |number: usize| if number < columns { 1.0 } else { -1.0 };
            if number < columns && count > columns {
                lp.reduced_column(number, &mut coefficients)?;
            } else if number >= columns {
                lp.inverse_column(number - columns, &mut coefficients)?;
            }
            dictionary.push(
                variable,
                coefficients
                    .iter()
                    .zip(&basics)
                    // The sign of rows turns for each logical variable on either side.
                    .map(|(coefficient, basic)| coefficient * sign(number) * sign(*basic)),
            );
        }
        self.search.lp = Some(lp);
        Ok(dictionary)
    }

    /// Scaled ranges of all columns of a model without rows.
    fn unconstrained_ranges(&mut self) -> Result<CostRanges, SolveFailure> {
        let dictionary = self.dictionary()?;
        let costs = &self.search.costs;
        Ok(dictionary.cost_ranges(|column| costs[column as usize], costs.len()))
    }

    /// The difference of decisions along an edge.
    fn delta(&self, direction: &[(u32, f64)]) -> VertexDelta {
        let columns = direction
            .iter()
            .take_while(|(number, _)| (*number as usize) < self.cost_index.len());
        let (mut entries, mut fixed) = (Vec::new(), 0.0);
        for (column, change) in columns {
            match self.cost_index[*column as usize] {
                Some(cost) => entries.push((cost, *change)),
                // Columns without predicted costs change the known part of the objective.
                None => fixed += change * self.search.model.cost[*column as usize],
            }
        }
        entries.sort_unstable_by_key(|(cost, _)| *cost);
        Decision::from_entries(entries).with_fixed(fixed)
    }
}

impl RelaxationSolver for LinearRelaxation {
    fn work(&self) -> Option<u64> {
        Solver::work(&self.search)
    }

    fn relax(&mut self, costs: &[f64]) -> Result<Solution, SolveFailure> {
        self.search.solve(costs)
    }

    fn relax_warm(
        &mut self,
        costs: &[f64],
        warm_start: &mut WarmStart,
    ) -> Result<Solution, SolveFailure> {
        self.search.solve_warm(costs, warm_start)
    }

    fn certify(&mut self, costs: &[f64], warm_start: &WarmStart) -> Option<Solution> {
        self.search.certify(costs, warm_start)
    }
}

impl CostRanging for LinearRelaxation {
    fn ranges(&mut self, costs: &[f64]) -> Result<CostRanges, SolveFailure> {
        let (_, lp) = self.solve(costs)?;
        let scaled = if lp.num_rows() > 0 {
            lp.cost_ranges()?
        } else {
            self.unconstrained_ranges()?
        };
        let scale = self.search.scale;
        let (mut lower, mut upper) = (
            Vec::with_capacity(costs.len()),
            Vec::with_capacity(costs.len()),
        );
        for (column, cost) in self.search.predicted.iter().zip(costs) {
            // Rounding may put the current cost outside of its own range.
            lower.push((scaled.lower[*column] / scale).min(*cost));
            upper.push((scaled.upper[*column] / scale).max(*cost));
        }
        let present = self.search.present.iter().flat_map(|present| &**present);
        for (cost, present) in present.enumerate() {
            if !present {
                // A cost that does not exist may be anything.
                (lower[cost], upper[cost]) = (f64::NEG_INFINITY, f64::INFINITY);
            }
        }
        Ok(CostRanges { lower, upper })
    }
}

impl AdjacentVertices for LinearRelaxation {
    fn adjacent_vertices(
        &mut self,
        costs: &[f64],
    ) -> Result<(Solution, Vec<VertexDelta>), SolveFailure> {
        let (solution, _) = self.solve(costs)?;
        let directions = self.dictionary()?.adjacent_vertices();
        let deltas = directions.iter().map(|direction| self.delta(direction));
        let is_nonzero = |delta: &VertexDelta| !delta.indices().is_empty() || delta.fixed() != 0.0;
        Ok((solution, deltas.filter(is_nonzero).collect()))
    }
}

fn missing_solver() -> SolveFailure {
    SolveFailure::SolverError("the LP has no solver after a failed solve".into())
}
