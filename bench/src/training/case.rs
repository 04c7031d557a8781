//! Sizes of the training suite, and their data.
//!
//! Costs are a linear function of the features plus noise; decisions choose as many variables at
//! random as a tour through the graph would. No solver is called: only the arithmetic of training
//! is timed.

use std::path::Path;
use std::sync::Arc;

use regretless::Result;
use regretless::data::{Dataset, FeatureShape, Features, Matrix};
use regretless::decision::Decision;
use regretless::label::LabeledDataset;
use regretless::oracle::Oracle;
use regretless::parallel::Threads;
use regretless::predict::PredictorSpec;
use regretless::problem::{Problem, Sense};
use regretless::solve::Solution;

use crate::epochs::{SEED, order};
use crate::random::SplitMix64;

/// Learning rate of Adam.
pub const LEARNING_RATE: f64 = 0.005;

/// Size of a network, or of a predictor that all items share.
struct NetworkSize {
    features: usize,
    hidden: &'static [usize],
    shared: bool,
    costs: usize,
    instances: usize,
    chosen: usize,
    /// Epochs we run, epochs torch runs.
    epochs: [usize; 2],
}

/// A network on a wide table.
const fn wide(
    hidden: &'static [usize],
    costs: usize,
    instances: usize,
    epochs: [usize; 2],
) -> NetworkSize {
    NetworkSize {
        features: 5,
        hidden,
        shared: false,
        costs,
        instances,
        chosen: 20,
        epochs,
    }
}

impl NetworkSize {
    /// The predictor that all items of a long table share.
    const fn shared(self) -> Self {
        Self {
            features: 8,
            shared: true,
            ..self
        }
    }
}

const SMOKE_NETWORKS: [NetworkSize; 4] = [
    wide(&[64], 40, 64, [8, 5]),
    wide(&[256], 400, 64, [8, 5]),
    wide(&[], 50, 64, [40, 10]).shared(),
    wide(&[64], 50, 64, [40, 10]).shared(),
];

const NETWORKS: [NetworkSize; 6] = [
    wide(&[64], 40, 1000, [100, 10]),
    wide(&[64], 190, 1000, [60, 10]),
    wide(&[64], 4_950, 900, [8, 6]),
    wide(&[256], 31_125, 320, [8, 5]),
    wide(&[], 1000, 320, [40, 10]).shared(),
    wide(&[64], 1000, 320, [40, 10]).shared(),
];

/// One size and loss.
#[derive(Debug, Clone)]
pub struct TrainingCase {
    /// Costs per instance.
    pub costs: usize,
    /// Instances per epoch.
    pub instances: usize,
    /// Features per row.
    pub features: usize,
    /// Sizes of hidden layers.
    pub hidden: Vec<usize>,
    /// Whether one predictor predicts every cost from the features of that cost.
    pub shared: bool,
    /// Name of the loss.
    pub loss: &'static str,
    /// Variables that a decision chooses.
    pub chosen: usize,
    /// Epochs we run.
    pub epochs: usize,
    /// Epochs torch runs.
    pub torch_epochs: usize,
}

impl TrainingCase {
    /// All cases of the suite.
    pub fn all(smoke: bool) -> Vec<Self> {
        let sizes: &[[usize; 5]] = if smoke {
            &[[40, 200, 8, 10, 3], [4950, 64, 100, 4, 2]]
        } else {
            &[
                [40, 1000, 8, 400, 20],
                [190, 1000, 20, 300, 20],
                [4_950, 900, 100, 100, 10],
                [31_125, 900, 250, 40, 6],
                [124_750, 450, 500, 25, 5],
                [499_500, 200, 1000, 20, 5],
            ]
        };
        let linear = |[costs, instances, chosen, epochs, torch_epochs]: [usize; 5], loss| Self {
            costs,
            instances,
            features: 5,
            hidden: Vec::new(),
            shared: false,
            loss,
            chosen,
            epochs,
            torch_epochs,
        };
        let mut cases: Vec<Self> = ["MSE", "MAE(O,S)"]
            .iter()
            .flat_map(|loss| sizes.iter().map(|size| linear(*size, *loss)))
            .collect();
        let networks: &[NetworkSize] = if smoke { &SMOKE_NETWORKS } else { &NETWORKS };
        for loss in ["MSE", "MAE(O,S)"] {
            for size in networks {
                let [epochs, torch_epochs] = size.epochs;
                let sizes = [
                    size.costs,
                    size.instances,
                    size.chosen,
                    epochs,
                    torch_epochs,
                ];
                cases.push(Self {
                    features: size.features,
                    hidden: size.hidden.to_vec(),
                    shared: size.shared,
                    ..linear(sizes, loss)
                });
            }
        }
        cases
    }

    /// The layer sizes as text.
    pub fn model(&self) -> String {
        let outputs = if self.shared { 1 } else { self.costs };
        let sizes: Vec<String> = self
            .hidden
            .iter()
            .chain([&outputs])
            .map(usize::to_string)
            .collect();
        let kind = if self.shared { "shared " } else { "" };
        format!("{kind}{}–{}", self.features, sizes.join("–"))
    }

    /// Name of the case.
    pub fn name(&self) -> String {
        format!("{} {}", self.model(), self.loss)
    }

    /// The predictor that is trained.
    pub fn predictor(&self) -> PredictorSpec {
        if self.hidden.is_empty() {
            PredictorSpec::Linear
        } else {
            PredictorSpec::Mlp {
                hidden: self.hidden.clone(),
            }
        }
    }

    /// The table and its random decisions.
    pub fn generate(&self) -> Result<TrainingData> {
        let mut stream = SplitMix64::new(self.costs as u64);
        let rows = if self.shared {
            self.instances * self.costs
        } else {
            self.instances
        };
        let features: Vec<f64> = (0..rows * self.features).map(|_| stream.normal()).collect();
        let weights: Vec<f32> = (0..self.costs * self.features)
            .map(|_| stream.uniform(-0.5, 0.5) as f32)
            .collect();
        let mut costs = Vec::with_capacity(self.instances * self.costs);
        for instance in 0..self.instances {
            for cost in 0..self.costs {
                let row = if self.shared {
                    instance * self.costs + cost
                } else {
                    instance
                };
                let output = if self.shared { 0 } else { cost };
                let x = &features[row * self.features..][..self.features];
                let w = &weights[output * self.features..][..self.features];
                let signal: f64 = x.iter().zip(w).map(|(x, w)| x * f64::from(*w)).sum();
                costs.push((3.0 + signal + stream.uniform(-0.5, 0.5)) as f32);
            }
        }
        let shape = if self.shared {
            FeatureShape::Long { items: self.costs }
        } else {
            FeatureShape::Wide
        };
        let features = Features::new(
            Matrix::from_f64(rows, self.features, &features)?,
            shape,
            None,
        )?;
        let data = Dataset::new(
            features,
            Matrix::new(self.instances, self.costs, costs)?,
            None,
        )?;
        let decisions = (0..self.instances)
            .map(|_| self.decision(&mut stream))
            .collect();
        Ok(TrainingData { data, decisions })
    }

    fn decision(&self, stream: &mut SplitMix64) -> Decision {
        let mut chosen = std::collections::BTreeSet::new();
        while chosen.len() < self.chosen {
            chosen.insert(stream.uniform(0.0, self.costs as f64) as u32);
        }
        Decision::from_indices(chosen)
    }

    /// The problem that accepts the decisions.
    ///
    /// # Errors
    /// When more costs are chosen than there are.
    pub fn problem(&self) -> Result<Problem> {
        Problem::top_k(self.costs, self.chosen, Sense::Minimize)
    }
}

/// A table and a decision per instance.
pub struct TrainingData {
    data: Dataset,
    decisions: Vec<Decision>,
}

impl TrainingData {
    /// The table with its decisions as labels, and the oracle, which holds the threads of training.
    pub fn labeled(&self, case: &TrainingCase, threads: usize) -> Result<(LabeledDataset, Oracle)> {
        let oracle =
            Oracle::new(Arc::clone(case.problem()?.kind())).with_threads(Threads::new(threads)?);
        let labels = self
            .decisions
            .iter()
            .map(|decision| Solution::optimal(decision.clone(), 0.0))
            .collect();
        Ok((
            LabeledDataset::from_decisions(self.data.clone(), &oracle, labels)?,
            oracle,
        ))
    }

    /// Writes what the other program needs: table, decisions, initial parameters, order of every
    /// epoch.
    pub fn write(&self, case: &TrainingCase, folder: &Path) -> Result<()> {
        let array = |name: &str, rows: usize, values: Vec<f32>| {
            let cols = values.len() / rows.max(1);
            Matrix::new(rows, cols, values)?.write_npy(&folder.join(name), true)
        };
        self.data.write_npy(
            &folder.join("features.npy"),
            &folder.join("costs.npy"),
            true,
        )?;
        let chosen = self
            .decisions
            .iter()
            .flat_map(|decision| decision.indices().iter().map(|j| *j as f32));
        array("chosen.npy", case.instances, chosen.collect())?;
        let outputs = if case.shared { 1 } else { case.costs };
        let parameters = case
            .predictor()
            .initial_parameters(case.features, outputs, SEED);
        array("parameters.npy", 1, parameters)?;
        let orders = (1..=case.torch_epochs).flat_map(|epoch| order(case.instances, epoch));
        array(
            "orders.npy",
            case.torch_epochs,
            orders.map(|row| row as f32).collect(),
        )
    }
}
