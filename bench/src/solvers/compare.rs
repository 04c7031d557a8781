//! Times and objectives of one solver, and how they compare with ours.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::statistics::Times;

/// Relative difference up to which objectives count as equal: the default gap of most solvers.
const OBJECTIVE_TOLERANCE: f64 = 1e-4;
/// A solver whose objective is better by more than this fraction shows that ours is not optimal.
const WRONG_OPTIMUM_TOLERANCE: f64 = 1e-6;

/// A solver and its measurements.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SolverRun {
    /// Name of the solver.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Whether it is a heuristic.
    pub heuristic: bool,
    /// Solves by kind of costs.
    pub kinds: BTreeMap<String, SolveRecords>,
    /// Whether the problem is a maximization.
    #[serde(default)]
    pub is_maximization: bool,
    /// Whether its feasible set is larger than ours.
    #[serde(default)]
    pub relaxes: bool,
}

/// One entry per instance.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct SolveRecords {
    /// Wall-clock seconds.
    pub wall: Vec<f64>,
    /// CPU seconds.
    pub cpu: Vec<f64>,
    /// Seconds of the solve alone, as the solver reports them.
    #[serde(default)]
    pub solver_seconds: Vec<Option<f64>>,
    /// Objective of the decision, if there is one, in the sense of the problem.
    pub objective: Vec<Option<f64>>,
    /// Whether the decision was proven optimal.
    pub proven: Vec<bool>,
}

/// How decisions compare with ours.
#[derive(Debug, Default)]
pub struct ObjectiveComparison {
    /// Decisions that are as good as ours, up to the gap.
    pub equal: usize,
    /// Decisions that are better than ours, beyond rounding.
    pub better: usize,
    /// Largest relative excess over ours.
    pub max_excess: f64,
}

impl SolveRecords {
    pub fn len(&self) -> usize {
        self.cpu.len()
    }

    /// Adds an instance, with its wall-clock and CPU seconds.
    pub fn push(&mut self, wall: f64, cpu: f64, objective: f64, proven: bool) {
        self.wall.push(wall);
        self.cpu.push(cpu);
        self.solver_seconds.push(None);
        self.objective.push(Some(objective));
        self.proven.push(proven);
    }

    /// Keeps the shorter times of an instance that was solved before.
    pub fn shorten(&mut self, row: usize, wall: f64, cpu: f64) {
        self.wall[row] = self.wall[row].min(wall);
        self.cpu[row] = self.cpu[row].min(cpu);
    }

    /// The first instances only.
    pub fn first(&self, count: usize) -> Self {
        let mut first = self.clone();
        first.wall.truncate(count);
        first.cpu.truncate(count);
        first.solver_seconds.truncate(count);
        first.objective.truncate(count);
        first.proven.truncate(count);
        first
    }

    /// CPU times.
    pub fn times(&self) -> Times {
        Times(self.cpu.clone())
    }

    /// Times that the solver reports; empty if it reports none.
    pub fn solver_clock(&self) -> Times {
        Times(self.solver_seconds.iter().flatten().copied().collect())
    }

    /// Whether every decision was proven optimal.
    pub fn all_proven(&self) -> bool {
        self.proven.iter().all(|proven| *proven)
    }

    /// Compares objectives with ours.
    pub fn compare_with(&self, ours: &Self, is_maximization: bool) -> ObjectiveComparison {
        let sign = if is_maximization { -1.0 } else { 1.0 };
        let mut comparison = ObjectiveComparison::default();
        for (theirs, ours) in self.objective.iter().zip(&ours.objective) {
            let (Some(theirs), Some(ours)) = (theirs, ours) else {
                continue;
            };
            let excess = sign * (theirs - ours) / ours.abs().max(1.0);
            comparison.equal += usize::from(excess <= OBJECTIVE_TOLERANCE);
            comparison.better += usize::from(excess < -WRONG_OPTIMUM_TOLERANCE);
            comparison.max_excess = comparison.max_excess.max(excess);
        }
        comparison
    }
}

#[cfg(test)]
mod tests {
    use super::SolveRecords;

    fn solves(objectives: &[f64]) -> SolveRecords {
        let mut solves = SolveRecords::default();
        objectives
            .iter()
            .for_each(|objective| solves.push(1.0, 1.0, *objective, true));
        solves
    }

    #[test]
    fn better_and_worse_depend_on_the_sense() {
        let comparison =
            solves(&[10.0, 11.0, 9.0]).compare_with(&solves(&[10.0, 10.0, 10.0]), false);
        assert_eq!((comparison.equal, comparison.better), (2, 1));
        assert!((comparison.max_excess - 0.1).abs() < 1e-12);
        let comparison =
            solves(&[10.0, 11.0, 9.0, 8.0]).compare_with(&solves(&[10.0, 10.0, 10.0, 10.0]), true);
        assert_eq!((comparison.equal, comparison.better), (2, 1));
        assert!((comparison.max_excess - 0.2).abs() < 1e-12);
    }
}
