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
use regretless::train::{Method, Optimizer, Recipe, Select, Settings, Task, Trained, train};
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
    let problem = TopK { items: costs, k: costs / 4, at_most: false, sense: Sense::Maximize };
    let oracle = Oracle::new(Arc::new(problem.clone())).with_threads(Threads::new(threads).unwrap());
    let data = Labelled::solve(table(83, features, costs, 7), &oracle, &Silent).unwrap();
    let split = Split::in_order(83, [70, 13, 0]).unwrap();
    let task = Task { data: &data, split: &split, oracle: &oracle, watch: &Silent };
    let recipe = Recipe::new(loss.parse::<Method>().unwrap(), PredictorSpec::Linear, settings);
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
    for loss in LOSSES.iter().filter(|loss| !loss.contains("O_S")) {
        for shape in [(1, 5), (3, 16), (5, 40), (6, 259), (20, 33)] {
            for batch in [7, 32, 100] {
                let with = |fused| trained(loss, shape, Settings { fused, batch, ..settings() }, 1);
                let (fast, plain) = (with(true).report, with(false).report);
                assert_eq!(fast.best_epoch(), plain.best_epoch(), "{loss} {shape:?} batch {batch}");
                for (a, b) in fast.rounds.iter().zip(&plain.rounds).flat_map(|(a, b)| a.epochs.iter().zip(&b.epochs)) {
                    for (a, b) in [(a.training_loss, b.training_loss), (a.validation_loss, b.validation_loss)] {
                        let (a, b) = (a.unwrap_or(1.0), b.unwrap_or(1.0));
                        // A sign that rounding flips moves a weight by a whole step under absolute errors.
                        let tolerance = if loss.starts_with("MAE") { 1e-4 } else { 1e-5 };
                        assert!((a / b - 1.0).abs() < tolerance, "{loss} {shape:?} batch {batch}: {a} and {b}");
                    }
                }
            }
        }
    }
}

#[test]
fn the_first_step_is_the_same_to_rounding() {
    for loss in LOSSES.iter().filter(|loss| !loss.contains("O_S")) {
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
}

#[test]
fn weight_decay_and_other_rules_work_as_well() {
    let decay = Optimizer::Adam { beta1: 0.8, beta2: 0.99, epsilon: 1e-6, decay: 0.1 };
    let with = |fused| trained("MSE(O,S)", (5, 60), Settings { fused, optimizer: decay, ..settings() }, 1).report;
    let last = |report: regretless::train::TrainReport| report.rounds[0].epochs[3].validation_loss.unwrap();
    let (fast, plain) = (last(with(true)), last(with(false)));
    assert!((fast / plain - 1.0).abs() < 1e-5, "{fast} and {plain}");
}
