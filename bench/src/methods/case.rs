//! Problems and methods of the method suite.

use std::path::Path;

use regretless::Result;
use regretless::data::SyntheticSpec;
use regretless::data::{Dataset, Matrix};
use regretless::predict::PredictorSpec;
use regretless::problem::{Benchmark, ProblemSpec};

use crate::args::Cli;
use crate::epochs::{SEED, order};

/// Learning rate.
pub const LEARNING_RATE: f64 = 0.01;

/// A method that both programs implement.
#[derive(Debug)]
pub struct Method {
    /// The name of the method in this library.
    pub name: &'static str,
    /// Samples per row; 0 for SPO+, which draws none.
    pub samples: usize,
}

/// The methods; ten samples are the default of both programs.
const METHODS: [Method; 3] = [
    Method {
        name: "SPO+",
        samples: 0,
    },
    Method {
        name: "PFYL(samples=1)",
        samples: 1,
    },
    Method {
        name: "PFYL",
        samples: 10,
    },
];

/// One problem.
#[derive(Debug)]
pub struct MethodCase {
    benchmark: Benchmark,
    /// Training rows.
    pub train: usize,
    /// Test rows.
    pub test: usize,
    epochs: usize,
}

impl MethodCase {
    /// All cases of the benchmark.
    pub fn all(smoke: bool) -> Result<Vec<Self>> {
        let sizes: &[(&str, usize, usize)] = if smoke {
            &[("SP5x5", 96, 2), ("KS32", 64, 2), ("TSP20", 32, 1)]
        } else {
            &[("SP5x5", 1000, 20), ("KS32", 1000, 10), ("TSP20", 500, 10)]
        };
        let case = |(name, train, epochs): &(&str, usize, usize)| {
            Ok(Self {
                benchmark: name.parse()?,
                train: *train,
                test: *train,
                epochs: *epochs,
            })
        };
        sizes.iter().map(case).collect()
    }

    /// Name of the case.
    pub fn name(&self) -> String {
        self.benchmark.to_string()
    }

    /// The methods that the command line selects, by names such as `KS32 SPO+`.
    pub fn methods(&self, cli: &Cli) -> Vec<&'static Method> {
        METHODS
            .iter()
            .filter(|method| cli.selects(&format!("{} {}", self.name(), method.name)))
            .collect()
    }

    /// Epochs of both programs; fewer for the methods that take minutes.
    pub fn epochs_of(&self, method: &Method) -> usize {
        if method.samples > 1 {
            self.epochs.div_ceil(3)
        } else {
            self.epochs
        }
    }
}

/// The table of a case.
pub struct MethodTable {
    /// The problem.
    pub problem: ProblemSpec,
    /// Training rows, then test rows.
    pub data: Dataset,
}

impl MethodTable {
    /// PyEPO's data.
    pub fn generate(case: &MethodCase) -> Result<Self> {
        let (problem, data) = case
            .benchmark
            .generate(SyntheticSpec::paper(case.train + case.test, SEED as u32))?;
        Ok(Self { problem, data })
    }

    /// Writes what the other program needs: table, initial parameters, order of every epoch.
    pub fn write(&self, case: &MethodCase, folder: &Path) -> Result<()> {
        self.data.write_npy(
            &folder.join("features.npy"),
            &folder.join("costs.npy"),
            true,
        )?;
        let (features, costs) = (
            self.data.features().values().cols(),
            self.data.costs().cols(),
        );
        let mut parameters = PredictorSpec::Linear.initial_parameters(features, costs, SEED);
        // This library's networks predict costs to be minimized, PyEPO's costs in the sense of the
        // problem.
        self.problem
            .build()?
            .sense()
            .convert_single(&mut parameters);
        let parameters = Matrix::new(1, parameters.len(), parameters)?;
        parameters.write_npy(&folder.join("parameters.npy"), true)?;
        let orders = (1..=case.epochs)
            .flat_map(|epoch| order(case.train, epoch))
            .map(|row| row as f32)
            .collect();
        let orders = Matrix::new(case.epochs, case.train, orders)?;
        orders.write_npy(&folder.join("orders.npy"), true)
    }
}
