//! Instances of the solver suite.

use std::path::Path;

use regretless::data::Matrix;
use regretless::data::SyntheticSpec;
use regretless::problem::{Benchmark, ProblemSpec};
use regretless::{Error, Result};

/// Kinds of costs, which are also file names.
pub const KINDS: [&str; 3] = ["true", "predicted", "2ĉ−c"];
/// Rows on which the predictor is fitted.
const FITTED_ROWS: usize = 500;
/// Seed of the data.
const SEED: u32 = 135;

/// A problem and its cost vectors.
#[derive(Debug)]
pub struct SolverCase {
    benchmark: Benchmark,
    /// The problem.
    pub problem: ProblemSpec,
    /// Cost vectors of each kind, in the sense of the problem.
    pub costs: [Matrix; 3],
    /// Passes over all cost vectors; the shortest time counts.
    pub passes: usize,
    /// Time limit of another solver for one kind of costs, in seconds.
    pub budget: f64,
    /// Time limit of another solver for one instance, in seconds.
    pub limit: f64,
}

impl SolverCase {
    /// All cases of the benchmark.
    pub fn all(smoke: bool) -> Result<Vec<Self>> {
        let sizes: &[(&str, usize, usize)] = if smoke {
            &[
                ("SP5x5", 20, 2),
                ("KS32", 10, 2),
                ("TSP20", 5, 1),
                ("CVRP10", 2, 1),
            ]
        } else {
            &[
                ("SP5x5", 300, 5),
                ("KS32", 200, 5),
                ("KS100", 60, 3),
                ("KS500", 20, 1),
                ("TSP20", 200, 3),
                ("TSP50", 60, 3),
                ("TSP100", 30, 1),
                ("TSP250", 10, 1),
                ("CVRP20", 20, 1),
                ("CVRP30", 8, 1),
            ]
        };
        let budget = if smoke { 2.0 } else { 12.0 };
        sizes
            .iter()
            .map(|(name, instances, passes)| Self::new(name, *instances, *passes, budget))
            .collect()
    }

    fn new(name: &str, instances: usize, passes: usize, budget: f64) -> Result<Self> {
        let benchmark: Benchmark = name.parse()?;
        let (problem, data) =
            benchmark.generate(SyntheticSpec::paper(FITTED_ROWS.max(instances), SEED))?;
        let (width, rows) = (data.costs().cols(), (0..data.len()).collect::<Vec<_>>());
        // Least-squares predictions, which ignore decisions.
        let predicted: Vec<f32> = data.least_squares_predictions(&rows[..instances])?;
        let true_costs = &data.costs().as_slice()[..instances * width];
        let mixed: Vec<f32> = predicted
            .iter()
            .zip(true_costs)
            .map(|(p, c)| 2.0 * p - c)
            .collect();
        let matrix = |values: Vec<f32>| Matrix::new(instances, width, values);
        let costs = [
            matrix(true_costs.to_vec())?,
            matrix(predicted)?,
            matrix(mixed)?,
        ];
        Ok(Self {
            benchmark,
            problem,
            costs,
            passes,
            budget,
            limit: budget,
        })
    }

    /// Name of the case.
    pub fn name(&self) -> String {
        self.benchmark.to_string()
    }

    /// Writes the cost vectors for the other solvers.
    pub fn write(&self, folder: &Path) -> Result<()> {
        for (kind, costs) in KINDS.iter().zip(&self.costs) {
            costs.write_npy(&folder.join(format!("{kind}.npy")), true)?;
        }
        Ok(())
    }

    /// Whether the problem is a maximization.
    pub fn is_maximization(&self) -> Result<bool> {
        Ok(self.problem.build()?.sense().is_maximize())
    }
}

/// The error of a missing solution.
pub fn failed(case: &SolverCase, reason: impl std::fmt::Display) -> Error {
    Error::setting(format!("{}: {reason}", case.name()))
}
