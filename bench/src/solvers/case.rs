//! The instances of the solvers race.

use std::path::Path;

use regretless::data::synthetic::SyntheticSpec;
use regretless::data::{Matrix, npy};
use regretless::predict::LinearFit;
use regretless::problem::{Benchmark, ProblemSpec};
use regretless::{Error, Result};

/// Kinds of costs, as files are called.
pub const KINDS: [&str; 3] = ["true", "predicted", "2ĉ−c"];
/// Rows the predicting model is fitted on.
const FITTED_ROWS: usize = 500;
/// Seed of the data.
const SEED: u32 = 135;

/// A problem and its cost vectors.
#[derive(Debug)]
pub struct SolverCase {
    benchmark: Benchmark,
    /// The problem in writing.
    pub problem: ProblemSpec,
    /// Cost vectors of each kind, in the sense of the problem.
    pub costs: [Matrix; 3],
    /// How often all are solved; the least time counts.
    pub passes: usize,
    /// Seconds a peer may spend on one kind of costs.
    pub budget: f64,
    /// Seconds a peer may spend on one instance.
    pub limit: f64,
}

impl SolverCase {
    /// All cases of the race.
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
        sizes
            .iter()
            .map(|size| Self::new(*size, if smoke { 2.0 } else { 12.0 }))
            .collect()
    }

    fn new((name, instances, passes): (&str, usize, usize), budget: f64) -> Result<Self> {
        let benchmark: Benchmark = name.parse()?;
        let (problem, data) =
            benchmark.generate(SyntheticSpec::paper(FITTED_ROWS.max(instances), SEED))?;
        let (width, rows) = (data.costs().cols(), (0..data.len()).collect::<Vec<_>>());
        // What is predicted before anybody thinks of decisions.
        let fit = LinearFit::least_squares(&data, &rows)?;
        let predicted: Vec<f32> = fit.predict(&data.features().select_rows(&rows[..instances]));
        let truth = &data.costs().as_slice()[..instances * width];
        let mixed: Vec<f32> = predicted
            .iter()
            .zip(truth)
            .map(|(p, c)| 2.0 * p - c)
            .collect();
        let matrix = |values: Vec<f32>| Matrix::new(instances, width, values);
        let costs = [matrix(truth.to_vec())?, matrix(predicted)?, matrix(mixed)?];
        Ok(Self {
            benchmark,
            problem,
            costs,
            passes,
            budget,
            limit: budget,
        })
    }

    /// What the case is called.
    pub fn name(&self) -> String {
        self.benchmark.to_string()
    }

    /// Writes the cost vectors for peers.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let write = |(kind, costs)| {
            npy::write_predictions(&folder.join(format!("{kind}.npy")), costs, true)
        };
        KINDS.iter().zip(&self.costs).try_for_each(write)
    }

    /// Whether high totals are good.
    pub fn is_maximization(&self) -> Result<bool> {
        Ok(self.problem.build()?.sense().is_maximize())
    }
}

/// An answer that is missing where there must be one.
pub fn failed(case: &SolverCase, why: impl std::fmt::Display) -> Error {
    Error::setting(format!("{}: {why}", case.name()))
}
