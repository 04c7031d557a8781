//! Assignment of agents to tasks: every member of the smaller side gets one of the larger.
//!
//! Pairs are numbered agent by agent. Some pairs may be forbidden. The linear relaxation is
//! integral (Birkhoff 1946): all its vertices are assignments. Ties are broken by the fixed order
//! of all scans: the result depends on the costs only.

mod cost_ranges;
mod exchanges;
mod hall;
mod shortest_augmenting_path;

use std::sync::Arc;

pub use hall::{HallViolator, find_hall_violator};

use self::shortest_augmenting_path::ShortestAugmentingPath;
use super::relaxation::RelaxationSolver;
use super::{Solution, SolveFailure, SolveStatus, Solver};

/// Solves assignments of one size.
#[derive(Debug, Clone)]
pub struct AssignmentSolver {
    agents: usize,
    tasks: usize,
    /// Whether each pair is allowed; `None` if all are.
    allowed: Option<Arc<[bool]>>,
    /// The costs with a row for each member of the smaller side, and ∞ for forbidden pairs; empty
    /// if these are the costs themselves.
    table: Vec<f64>,
    matching: ShortestAugmentingPath,
}

impl AssignmentSolver {
    /// A solver for these pairs; `allowed` has a flag for each.
    pub fn new(agents: usize, tasks: usize, allowed: Option<Arc<[bool]>>) -> Self {
        Self {
            agents,
            tasks,
            allowed,
            table: Vec::new(),
            matching: ShortestAugmentingPath::new(agents.min(tasks), agents.max(tasks)),
        }
    }

    /// Solves with other allowed pairs from now on; `false`, with nothing changed, if the size is
    /// another one.
    pub fn set_allowed(
        &mut self,
        agents: usize,
        tasks: usize,
        allowed: Option<Arc<[bool]>>,
    ) -> bool {
        let has_size = [self.agents, self.tasks] == [agents, tasks];
        if has_size {
            self.allowed = allowed;
        }
        has_size
    }

    /// The number of the pair of a row and a column of the table.
    fn pair(&self, row: usize, column: usize) -> usize {
        if self.agents <= self.tasks {
            row * self.tasks + column
        } else {
            column * self.tasks + row
        }
    }

    fn is_allowed(&self, pair: usize) -> bool {
        self.allowed.as_ref().is_none_or(|allowed| allowed[pair])
    }

    /// Fills the table, unless it is the costs themselves.
    fn fill_table(&mut self, costs: &[f64]) {
        self.table.clear();
        if self.agents <= self.tasks {
            if let Some(allowed) = &self.allowed {
                let pairs = costs.iter().zip(allowed.iter());
                self.table.extend(
                    pairs.map(|(cost, allowed)| if *allowed { *cost } else { f64::INFINITY }),
                );
            }
            return;
        }
        self.table.resize(costs.len(), f64::INFINITY);
        for (agent, row) in costs.chunks_exact(self.tasks).enumerate() {
            for (task, cost) in row.iter().enumerate() {
                let pair = agent * self.tasks + task;
                if self.allowed.as_ref().is_none_or(|allowed| allowed[pair]) {
                    self.table[task * self.agents + agent] = *cost;
                }
            }
        }
    }

    /// Finds an optimal assignment.
    fn find_assignment(&mut self, costs: &[f64]) -> Result<(), SolveFailure> {
        self.fill_table(costs);
        let table = if self.table.is_empty() {
            costs
        } else {
            &self.table
        };
        self.matching.solve(table)
    }

    /// The costs by rows and columns of the matching, after a solve.
    fn cost_table<'a>(&'a self, costs: &'a [f64]) -> &'a [f64] {
        if self.table.is_empty() {
            costs
        } else {
            &self.table
        }
    }
}

impl Solver for AssignmentSolver {
    fn solve(&mut self, costs: &[f64]) -> Result<Solution, SolveFailure> {
        let mut solution = Solution::empty();
        self.solve_into(costs, &mut solution)?;
        Ok(solution)
    }

    fn solve_into(&mut self, costs: &[f64], solution: &mut Solution) -> Result<(), SolveFailure> {
        self.find_assignment(costs)?;
        let rows = self.matching.column_of().iter().enumerate();
        let pairs = rows.map(|(row, column)| self.pair(row, *column as usize) as u32);
        solution.decision.assign_indices(pairs);
        solution.objective = solution.decision.dot(costs);
        solution.bound = solution.objective;
        solution.status = SolveStatus::Optimal;
        Ok(())
    }
}

/// Every vertex of the polytope of assignments is one: the relaxation is the problem itself.
impl RelaxationSolver for AssignmentSolver {
    fn relax(&mut self, costs: &[f64]) -> Result<Solution, SolveFailure> {
        self.solve(costs)
    }
}
