//! Fused training does what the plain machinery does.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

use std::sync::Arc;

use regretless::data::{Dataset, Features, Matrix, Shape, Split};
use regretless::label::Labelled;
use regretless::oracle::Oracle;
use regretless::parallel::Threads;
use regretless::predict::{Predictor, PredictorSpec};
use regretless::problem::{ProblemSpec, Sense, TopK};
use regretless::random::{Purpose, Stream};
use regretless::train::{Method, Optimizer, Recipe, Select, Settings, Task, TrainReport, Trained, train};
use regretless::watch::Silent;

/// Costs that depend on the features in a bent and noisy way.
fn table(rows: usize, features: usize, costs: usize, seed: u64) -> Dataset {
    let mut stream = Stream::new(Purpose::Benchmark, seed, [0, 0]);
    let x: Vec<f32> = (0..rows * features).map(|_| stream.normal() as f32).collect();
    let mixing: Vec<f32> = (0..costs * features).map(|_| stream.normal() as f32).collect();
    let mut c = Vec::with_capacity(rows * costs);
    for x in x.chunks(features) {
        for b in mixing.chunks(features) {
            let inner: f32 = x.iter().zip(b).map(|(x, b)| x * b).sum();
            c.push(3.0 + inner + 0.3 * inner * inner + 0.5 * stream.normal() as f32);
        }
    }
    let features = Features::new(Matrix::new(rows, features, x).unwrap(), Shape::Wide, None).unwrap();
    Dataset::new(features, Matrix::new(rows, costs, c).unwrap(), None).unwrap()
}

fn trained(loss: &str, (features, costs): (usize, usize), settings: Settings, threads: usize) -> Trained {
    trained_by(&PredictorSpec::Linear, table(83, features, costs, 7), loss, settings, threads)
}

/// The same costs as those of a table, each with features of its own.
fn items(features: usize, costs: usize) -> Dataset {
    let wide = table(83, features, costs, 7);
    let mut stream = Stream::new(Purpose::Benchmark, 8, [0, 0]);
    let x = (0..83 * costs * features).map(|_| stream.normal() as f32).collect();
    let x = Matrix::new(83 * costs, features, x).unwrap();
    let features = Features::new(x, Shape::Long { items: costs }, None).unwrap();
    Dataset::new(features, wide.costs().clone(), None).unwrap()
}

fn trained_by(spec: &PredictorSpec, data: Dataset, loss: &str, settings: Settings, threads: usize) -> Trained {
    let costs = data.costs().cols();
    let problem = TopK { items: costs, k: costs / 4, at_most: false, sense: Sense::Maximize };
    let oracle = Oracle::new(Arc::new(problem.clone())).with_threads(Threads::new(threads).unwrap());
    let data = Labelled::solve(data, &oracle, &Silent).unwrap();
    let split = Split::in_order(83, [70, 13, 0]).unwrap();
    let task = Task { data: &data, split: &split, oracle: &oracle, watch: &Silent };
    let recipe = Recipe::new(loss.parse::<Method>().unwrap(), spec.clone(), settings);
    train(&task, &recipe, &ProblemSpec::TopK(problem)).unwrap()
}

/// Where signs cancel, a gradient is rounding noise, and Adam would make a whole step of it; a large ε
/// keeps such steps as small as they should be.
fn settings() -> Settings {
    let optimizer = Optimizer::Adam { beta1: 0.9, beta2: 0.999, epsilon: 0.01, decay: 0.0 };
    Settings { epochs: 3, learning_rate: 0.02, optimizer, select: Select::ValidationLoss, ..Settings::default() }
}

const LOSSES: [&str; 12] = [
    "MSE",
    "MAE",
    "MSE(S)",
    "MAE(S)",
    "MSE(O)",
    "MAE(O)",
    "MSE(O,S)",
    "MAE(O,S)",
    "MSE(tau=0.2,S)",
    "MAE(tau=0.8)",
    "MSE(C,O,S)",
    "MAE(O_S(exact),S)",
];

#[test]
fn losses_and_chosen_epoch_equal_those_of_the_plain_machinery() {
    for loss in LOSSES {
        for shape in [(1, 5), (3, 16), (5, 40), (6, 259), (20, 33)] {
            for batch in [7, 32, 100] {
                let with = |fused| trained(loss, shape, Settings { fused, batch, ..settings() }, 1);
                same(&with(true).report, &with(false).report, &format!("{loss} {shape:?} batch {batch}"));
            }
        }
    }
}

/// Whether losses and the chosen epoch agree.
fn same(fast: &TrainReport, plain: &TrainReport, what: &str) {
    assert_eq!(fast.best_epoch(), plain.best_epoch(), "{what}");
    for (a, b) in fast.rounds.iter().zip(&plain.rounds).flat_map(|(a, b)| a.epochs.iter().zip(&b.epochs)) {
        for (a, b) in [(a.training_loss, b.training_loss), (a.validation_loss, b.validation_loss)] {
            let (a, b) = (a.unwrap_or(1.0), b.unwrap_or(1.0));
            assert!((a / b - 1.0).abs() < 1e-6, "{what}: {a} and {b}");
        }
    }
}

#[test]
fn hidden_layers_and_shared_predictors_train_as_the_plain_machinery_trains_them() {
    let (linear, deep) = (PredictorSpec::Linear, PredictorSpec::Mlp { hidden: vec![20, 9] });
    for loss in LOSSES {
        let cases = [
            (&deep, table(83, 3, 40, 7)),
            (&deep, table(83, 5, 259, 7)),
            (&linear, table(83, 70, 50, 7)),
            (&linear, items(8, 40)),
            (&linear, items(3, 259)),
            (&deep, items(5, 33)),
        ];
        for (case, (spec, data)) in cases.into_iter().enumerate() {
            let with = |fused| {
                let settings = Settings { fused, learning_rate: 0.005, ..settings() };
                trained_by(spec, data.clone(), loss, settings, 1)
            };
            same(&with(true).report, &with(false).report, &format!("{loss}, case {case}"));
        }
    }
}

#[test]
fn the_first_step_is_the_same_to_rounding() {
    for loss in LOSSES {
        let one = Settings { epochs: 1, batch: 100, ..settings() };
        let with = |fused| trained(loss, (5, 100), Settings { fused, select: Select::Last, ..one }, 1).model.members;
        for (a, b) in with(true)[0].parameters().iter().zip(with(false)[0].parameters()) {
            assert!((a - b).abs() < 2e-6, "{loss}: {a} and {b}");
        }
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    for loss in ["MSE", "MAE(O)", "MAE(O,S)", "MSE(C,S)"] {
        let bytes = |threads| trained(loss, (5, 3001), settings(), threads).model.to_bytes().unwrap();
        let one = bytes(1);
        assert_eq!(one, bytes(2), "{loss}");
        assert_eq!(one, bytes(3), "{loss}");
        assert_eq!(one, bytes(8), "{loss}");
    }
    let deep = PredictorSpec::Mlp { hidden: vec![20] };
    for data in [table(83, 5, 3001, 7), items(5, 1301)] {
        let bytes = |threads| {
            trained_by(&deep, data.clone(), "MAE(O,S)", settings(), threads).model.to_bytes().unwrap()
        };
        let one = bytes(1);
        for threads in [2, 3, 8] {
            assert_eq!(one, bytes(threads), "{threads} threads");
        }
    }
}

#[test]
fn weight_decay_and_other_rules_work_as_well() {
    let decay = Optimizer::Adam { beta1: 0.8, beta2: 0.99, epsilon: 1e-6, decay: 0.1 };
    let with = |fused| trained("MSE(O,S)", (5, 60), Settings { fused, optimizer: decay, ..settings() }, 1).report;
    let last = |report: TrainReport| report.rounds[0].epochs[3].validation_loss.unwrap();
    let (fast, plain) = (last(with(true)), last(with(false)));
    assert!((fast / plain - 1.0).abs() < 1e-5, "{fast} and {plain}");
}
