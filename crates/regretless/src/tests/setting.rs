//! A labeled table with its problem, oracle and split, ready to train on.

use std::sync::Arc;

use regretless::Result;
use regretless::data::synthetic::SyntheticSpec as DataRecipe;
use regretless::data::{Dataset, Matrix, SplitIndices};
use regretless::evaluate::Evaluation;
use regretless::label::LabeledDataset;
use regretless::method::Method;
use regretless::observer::NoopObserver;
use regretless::oracle::Oracle;
use regretless::parallel::Threads;
use regretless::predict::{CostModel, PredictorSpec};
use regretless::problem::{Benchmark, ProblemKind, ProblemSpec};
use regretless::settings::TrainingSettings;
use regretless::train::{FitResult, TrainingContext};
use regretless::trainer::Trainer;

pub struct Setting {
    pub problem: ProblemSpec,
    pub data: LabeledDataset,
    pub split: SplitIndices,
    pub oracle: Oracle,
}

impl Setting {
    pub fn new(problem: ProblemSpec, data: Dataset, counts: [usize; 3], threads: usize) -> Self {
        let built = problem.build().unwrap();
        Self::solved_as(built, problem, data, counts, threads)
    }

    /// The same with another problem behind the oracle.
    pub fn solved_as(
        solved: Arc<dyn ProblemKind>,
        problem: ProblemSpec,
        data: Dataset,
        counts: [usize; 3],
        threads: usize,
    ) -> Self {
        let oracle = Oracle::new(solved).with_threads(Threads::new(threads).unwrap());
        let split = SplitIndices::in_order(data.len(), counts).unwrap();
        let data = LabeledDataset::solve(data, &oracle, &NoopObserver).unwrap();
        Self {
            problem,
            data,
            split,
            oracle,
        }
    }

    /// Paths through a grid of 4 by 4 nodes: 160 rows train, 40 validate, 60 test.
    pub fn paths(threads: usize) -> Self {
        let (problem, data) = Self::path_data();
        Self::new(problem, data, [160, 40, 60], threads)
    }

    pub fn path_data() -> (ProblemSpec, Dataset) {
        let benchmark: Benchmark = "SP4x4".parse().unwrap();
        benchmark.generate(DataRecipe::paper(260, 3)).unwrap()
    }

    pub fn task(&self) -> TrainingContext<'_> {
        TrainingContext {
            data: &self.data,
            split: &self.split,
            oracle: &self.oracle,
            observer: &NoopObserver,
        }
    }

    pub fn train(&self, method: &str, settings: TrainingSettings) -> Result<FitResult> {
        self.train_with(method, PredictorSpec::Linear, settings)
    }

    pub fn train_with(
        &self,
        method: &str,
        predictor: PredictorSpec,
        settings: TrainingSettings,
    ) -> Result<FitResult> {
        self.follow(
            &Trainer::new(method.parse::<Method>()?)
                .predictor(predictor)
                .settings(settings),
        )
    }

    pub fn follow(&self, recipe: &Trainer) -> Result<FitResult> {
        recipe.train(&self.task(), &self.problem, None)
    }

    pub fn test(&self, model: &CostModel) -> Evaluation {
        let mut predictions = model.predict(self.data.data().features()).unwrap();
        self.data.sense().convert_single(predictions.as_mut_slice());
        let width = predictions.cols();
        let rows: Vec<f32> = self
            .split
            .test
            .iter()
            .flat_map(|row| predictions.row(*row).to_vec())
            .collect();
        let rows = Matrix::new(self.split.test.len(), width, rows).unwrap();
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

/// A few large steps.
pub fn quick() -> TrainingSettings {
    TrainingSettings {
        epochs: 12,
        learning_rate: 0.02,
        ..TrainingSettings::default()
    }
}
