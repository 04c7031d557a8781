//! Fixture of training tests: a labeled dataset with its problem, oracle and split.

use std::sync::Arc;

use regretless::Result;
use regretless::data::synthetic::SyntheticSpec;
use regretless::data::{Dataset, Matrix, SplitIndices};
use regretless::evaluate::Evaluation;
use regretless::label::LabeledDataset;
use regretless::loss::LossSpec;
use regretless::method::Method;
use regretless::observer::NoopObserver;
use regretless::oracle::Oracle;
use regretless::parallel::Threads;
use regretless::predict::{CostModel, PredictorSpec};
use regretless::problem::{Benchmark, ProblemKind, ProblemSpec};
use regretless::settings::TrainingSettings;
use regretless::train::TrainingContext;
use regretless::trainer::{Trainer, TrainingOutcome};

/// A labeled dataset with its problem, oracle and split, ready for training.
pub struct TrainingFixture {
    pub problem: ProblemSpec,
    pub data: LabeledDataset,
    pub split: SplitIndices,
    pub oracle: Oracle,
}

impl TrainingFixture {
    /// `counts` are the numbers of training, validation and test rows, in the order of the rows.
    pub fn new(problem: ProblemSpec, data: Dataset, counts: [usize; 3], threads: usize) -> Self {
        let oracle_problem = problem.build().unwrap();
        Self::with_oracle_problem(oracle_problem, problem, data, counts, threads)
    }

    /// The oracle solves `oracle_problem`, which may have other capabilities than `problem`.
    pub fn with_oracle_problem(
        oracle_problem: Arc<dyn ProblemKind>,
        problem: ProblemSpec,
        data: Dataset,
        counts: [usize; 3],
        threads: usize,
    ) -> Self {
        let oracle = Oracle::new(oracle_problem)
            .with_threads(Threads::new(threads).unwrap())
            .for_dataset(&data)
            .unwrap();
        let split = SplitIndices::in_order(data.len(), counts).unwrap();
        let data = LabeledDataset::solve(data, &oracle, &NoopObserver).unwrap();
        Self {
            problem,
            data,
            split,
            oracle,
        }
    }

    /// Shortest paths in a grid of 4 by 4 nodes: 160 training, 40 validation and 60 test rows.
    pub fn grid_paths(threads: usize) -> Self {
        let (problem, data) = Self::grid_path_data();
        Self::new(problem, data, [160, 40, 60], threads)
    }

    pub fn grid_path_data() -> (ProblemSpec, Dataset) {
        let benchmark: Benchmark = "SP4x4".parse().unwrap();
        benchmark.generate(SyntheticSpec::paper(260, 3)).unwrap()
    }

    pub fn context(&self) -> TrainingContext<'_> {
        TrainingContext {
            data: &self.data,
            split: &self.split,
            oracle: &self.oracle,
            observer: &NoopObserver,
        }
    }

    pub fn train(&self, method: &str, settings: TrainingSettings) -> Result<TrainingOutcome> {
        self.train_with(method, PredictorSpec::Linear, settings)
    }

    pub fn train_with(
        &self,
        method: &str,
        predictor: PredictorSpec,
        settings: TrainingSettings,
    ) -> Result<TrainingOutcome> {
        self.run(
            &Trainer::new(method.parse::<Method>()?)
                .predictor(predictor)
                .settings(settings),
        )
    }

    pub fn run(&self, trainer: &Trainer) -> Result<TrainingOutcome> {
        trainer.train(&self.context(), &self.problem, None)
    }

    /// The regret on the test rows of the model that a method starts from.
    pub fn untrained_regret(&self, method: &str) -> f64 {
        let settings = TrainingSettings {
            epochs: 0,
            ..quick_settings()
        };
        let untrained = self.train(method, settings).unwrap();
        self.evaluate_test_rows(&untrained.model).regret
    }

    /// Evaluates the decisions of a model on the test rows.
    pub fn evaluate_test_rows(&self, model: &CostModel) -> Evaluation {
        let mut predictions = model.predict(self.data.data().features()).unwrap();
        self.data.sense().convert_single(predictions.as_mut_slice());
        let num_costs = predictions.cols();
        let rows: Vec<f32> = self
            .split
            .test
            .iter()
            .flat_map(|row| predictions.row(*row).to_vec())
            .collect();
        let rows = Matrix::new(self.split.test.len(), num_costs, rows).unwrap();
        Evaluation::of_predictions(
            &rows,
            &self.data,
            &self.split.test,
            &self.oracle,
            &NoopObserver,
        )
        .unwrap()
    }
}

/// Every loss, and methods whose oracle or sample weights keep state between epochs.
pub fn losses_and_methods_with_state(with_state: &[&str]) -> Vec<String> {
    let losses = LossSpec::examples().unwrap();
    let names = losses.iter().map(LossSpec::to_string);
    names
        .chain(with_state.iter().map(ToString::to_string))
        .collect()
}

/// Few epochs with a large learning rate.
pub fn quick_settings() -> TrainingSettings {
    TrainingSettings {
        epochs: 12,
        learning_rate: 0.02,
        ..TrainingSettings::default()
    }
}
