//! Fused training, which evaluates the loss and steps the optimizer in one pass over the costs,
//! gives the same results as the minibatch runner.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use regretless::data::{Dataset, FeatureShape, Features, Matrix, SplitIndices};
use regretless::label::LabeledDataset;
use regretless::method::Method;
use regretless::observer::NoopObserver;
use regretless::optimizer::Optimizer;
use regretless::oracle::Oracle;
use regretless::parallel::Threads;
use regretless::predict::PredictorSpec;
use regretless::problem::{ProblemSpec, Sense, TopK};
use regretless::random::{Purpose, RandomStream};
use regretless::report::TrainReport;
use regretless::settings::{SelectionCriterion, TrainingSettings};
use regretless::train::TrainingContext;
use regretless::trainer::{Trainer, TrainingOutcome};
use serde_json::json;

use crate::simd::{SimdToken, WITHOUT_AVX512};
use crate::tests::common::{exact_numbers, hash_of_bits};

/// Costs that depend on the features nonlinearly, with noise.
fn table(rows: usize, features: usize, costs: usize, seed: u64) -> Dataset {
    let mut stream = RandomStream::new(Purpose::Benchmark, seed, [0, 0]);
    let x: Vec<f32> = (0..rows * features)
        .map(|_| stream.normal() as f32)
        .collect();
    let mixing: Vec<f32> = (0..costs * features)
        .map(|_| stream.normal() as f32)
        .collect();
    let mut c = Vec::with_capacity(rows * costs);
    for x in x.chunks(features) {
        for b in mixing.chunks(features) {
            let inner: f32 = x.iter().zip(b).map(|(x, b)| x * b).sum();
            c.push(3.0 + inner + 0.3 * inner * inner + 0.5 * stream.normal() as f32);
        }
    }
    let features = Features::new(
        Matrix::new(rows, features, x).unwrap(),
        FeatureShape::Wide,
        None,
    )
    .unwrap();
    Dataset::new(features, Matrix::new(rows, costs, c).unwrap(), None).unwrap()
}

fn train_linear(
    loss: &str,
    features: usize,
    costs: usize,
    settings: TrainingSettings,
    threads: usize,
) -> TrainingOutcome {
    let data = table(83, features, costs, 7);
    train(
        &top_quarter(&data),
        &PredictorSpec::Linear,
        data,
        loss,
        settings,
        threads,
    )
}

/// A long table: each cost has its own features.
fn long_table(features: usize, costs: usize) -> Dataset {
    let wide = table(83, features, costs, 7);
    let mut stream = RandomStream::new(Purpose::Benchmark, 8, [0, 0]);
    let x = (0..83 * costs * features)
        .map(|_| stream.normal() as f32)
        .collect();
    let x = Matrix::new(83 * costs, features, x).unwrap();
    let features = Features::new(x, FeatureShape::Long { items: costs }, None).unwrap();
    Dataset::new(features, wide.costs().clone(), None).unwrap()
}

/// A choice of a quarter of the columns.
fn top_quarter(data: &Dataset) -> ProblemSpec {
    let costs = data.costs().cols();
    ProblemSpec::TopK(TopK::new(costs, costs / 4, Sense::Maximize).unwrap())
}

fn train(
    problem: &ProblemSpec,
    spec: &PredictorSpec,
    data: Dataset,
    loss: &str,
    settings: TrainingSettings,
    threads: usize,
) -> TrainingOutcome {
    let oracle = Oracle::new(problem.build().unwrap()).with_threads(Threads::new(threads).unwrap());
    let data = LabeledDataset::solve(data, &oracle, &NoopObserver).unwrap();
    let split = SplitIndices::in_order(83, [70, 13, 0]).unwrap();
    let training_context = TrainingContext {
        data: &data,
        split: &split,
        oracle: &oracle,
        observer: &NoopObserver,
    };
    let trainer = Trainer::new(loss.parse::<Method>().unwrap())
        .predictor(spec.clone())
        .settings(settings);
    trainer.train(&training_context, problem, None).unwrap()
}

/// If terms of a gradient cancel, only its rounding error is left, which Adam would scale up to a
/// full step; a large ε keeps such steps small.
fn settings() -> TrainingSettings {
    let optimizer = Optimizer::Adam {
        beta1: 0.9,
        beta2: 0.999,
        epsilon: 0.01,
        weight_decay: 0.0,
    };
    TrainingSettings {
        epochs: 3,
        learning_rate: 0.02,
        optimizer,
        select: SelectionCriterion::ValidationLoss,
        ..TrainingSettings::default()
    }
}

const LOSSES: [&str; 16] = [
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
    "MSE(W(0.5),O,S)",
    "MAE(O_S(exact),S)",
    "MSE(O,E)",
    "MAE(E)",
    "MSE(O_S(exact),E)",
];

#[test]
fn losses_and_best_epoch_equal_those_of_the_minibatch_runner() {
    for loss in LOSSES {
        for (features, costs) in [(1, 5), (3, 16), (5, 40), (6, 259), (20, 33)] {
            let compare = |changed: TrainingSettings, context: &str| {
                let train_with = |fused| {
                    let settings = TrainingSettings { fused, ..changed };
                    train_linear(loss, features, costs, settings, 1)
                };
                assert_same(
                    &train_with(true).report,
                    &train_with(false).report,
                    &format!("{loss} {features} features, {costs} costs, {context}"),
                );
            };
            for batch_size in [7, 32, 100] {
                let changed = TrainingSettings {
                    batch_size,
                    ..settings()
                };
                compare(changed, &format!("batch size {batch_size}"));
            }
            let changed = TrainingSettings {
                rows_per_epoch: Some(45),
                ..settings()
            };
            compare(changed, "45 rows");
        }
    }
}

/// Checks that losses and the best epoch agree.
fn assert_same(fused_report: &TrainReport, minibatch_report: &TrainReport, context: &str) {
    assert_same_within(1e-6, fused_report, minibatch_report, context);
}

fn assert_same_within(
    tolerance: f64,
    fused_report: &TrainReport,
    minibatch_report: &TrainReport,
    context: &str,
) {
    assert_eq!(
        fused_report.best_epoch(),
        minibatch_report.best_epoch(),
        "{context}"
    );
    for (a, b) in fused_report
        .rounds
        .iter()
        .zip(&minibatch_report.rounds)
        .flat_map(|(a, b)| a.epochs.iter().zip(&b.epochs))
    {
        for (a, b) in [
            (a.training_loss, b.training_loss),
            (a.validation_loss, b.validation_loss),
        ] {
            let (a, b) = (a.unwrap_or(1.0), b.unwrap_or(1.0));
            assert!((a / b - 1.0).abs() < tolerance, "{context}: {a} and {b}");
        }
    }
}

#[test]
fn hidden_layers_and_shared_predictors_equal_the_minibatch_runner() {
    let (linear, mlp) = (
        PredictorSpec::Linear,
        PredictorSpec::Mlp {
            hidden: vec![20, 9],
        },
    );
    let one_hidden_layer = PredictorSpec::Mlp { hidden: vec![37] };
    for loss in LOSSES {
        let cases = [
            (&mlp, table(83, 3, 40, 7)),
            (&mlp, table(83, 5, 259, 7)),
            (&linear, table(83, 70, 50, 7)),
            (&linear, long_table(8, 40)),
            (&linear, long_table(3, 259)),
            (&mlp, long_table(5, 33)),
            (&one_hidden_layer, long_table(8, 40)),
            (&one_hidden_layer, long_table(13, 259)),
            (&one_hidden_layer, table(83, 5, 190, 7)),
        ];
        for (case, (spec, data)) in cases.into_iter().enumerate() {
            let train_with = |fused| {
                let settings = TrainingSettings {
                    fused,
                    learning_rate: 0.005,
                    ..settings()
                };
                train(&top_quarter(&data), spec, data.clone(), loss, settings, 1)
            };
            assert_same(
                &train_with(true).report,
                &train_with(false).report,
                &format!("{loss}, case {case}"),
            );
        }
    }
}

#[test]
fn the_first_step_is_equal_up_to_rounding() {
    for loss in LOSSES {
        let one = TrainingSettings {
            epochs: 1,
            batch_size: 100,
            ..settings()
        };
        let train_with = |fused| {
            train_linear(
                loss,
                5,
                100,
                TrainingSettings {
                    fused,
                    select: SelectionCriterion::Last,
                    ..one
                },
                1,
            )
            .model
            .networks
        };
        for (a, b) in train_with(true)[0]
            .parameters()
            .iter()
            .zip(train_with(false)[0].parameters())
        {
            assert!((a - b).abs() < 2e-6, "{loss}: {a} and {b}");
        }
    }
}

/// Problems with equality constraints of every structure.
fn problems_with_equalities() -> Vec<(ProblemSpec, usize)> {
    let problems = [
        json!({"kind": "tsp", "nodes": 7}),
        json!({"kind": "tsp", "nodes": 12}),
        json!({"kind": "assignment", "agents": 6, "tasks": 6}),
        json!({"kind": "assignment", "agents": 7, "tasks": 5}),
        json!({"kind": "assignment", "agents": 4, "tasks": 9}),
        json!({"kind": "assignment", "agents": 40, "tasks": 40}),
        json!({"kind": "grid_path", "grid": [5, 5]}),
        json!({"kind": "grid_path", "grid": [24, 30]}),
        json!({"kind": "multiple_choice_knapsack", "weights": [[1, 3], [2, 4, 1], [5, 1]],
            "capacity": 8}),
    ];
    let built = problems.map(|problem| {
        let spec = ProblemSpec::from_json(problem).unwrap();
        let costs = spec.build().unwrap().num_costs();
        (spec, costs)
    });
    built.into()
}

#[test]
fn projected_parameters_equal_projected_predictions() {
    for (problem, costs) in problems_with_equalities() {
        for loss in ["MSE(E)", "MAE(O,E)", "MSE(C,O,E)", "MAE(tau=0.3,E)"] {
            for features in [2, 5, 11] {
                let train_with = |fused| {
                    let settings = TrainingSettings {
                        fused,
                        ..settings()
                    };
                    let data = table(83, features, costs, 7);
                    train(&problem, &PredictorSpec::Linear, data, loss, settings, 1)
                };
                let context = format!("{loss}, {features} features, {problem:?}");
                // Weights by the loss of a baseline multiply its rounding errors.
                assert_same_within(
                    3e-6,
                    &train_with(true).report,
                    &train_with(false).report,
                    &context,
                );
            }
        }
    }
}

/// Costs of pairs that are almost those of their agents: the constraints absorb all but a small
/// part of what a model by squared errors learns.
fn costs_of_agents(agents: usize, tasks: usize) -> Dataset {
    let (pairs, of_agents) = (table(83, 5, agents * tasks, 7), table(83, 5, agents, 8));
    let mut costs = Vec::new();
    for row in 0..83 {
        for (pair, cost) in pairs.costs().row(row).iter().enumerate() {
            costs.push(cost + 200.0 * of_agents.costs().row(row)[pair / tasks]);
        }
    }
    let costs = Matrix::new(83, agents * tasks, costs).unwrap();
    Dataset::new(pairs.features().clone(), costs, None).unwrap()
}

#[test]
fn norms_are_accurate_where_the_constraints_absorb_most_of_the_parameters() {
    let problem = json!({"kind": "assignment", "agents": 6, "tasks": 6});
    let problem = ProblemSpec::from_json(problem).unwrap();
    // If rounding changes the sign of an absolute error, the next steps differ: from 1e-6 in the
    // first epochs to 6e-4 in the last ones.
    for (method, tolerance) in [("MSE then MSE(E)", 1e-5), ("MSE then MAE(O,E)", 2e-3)] {
        let train_with = |fused| {
            let settings = TrainingSettings {
                fused,
                epochs: 40,
                learning_rate: 0.05,
                ..settings()
            };
            let data = costs_of_agents(6, 6);
            train(&problem, &PredictorSpec::Linear, data, method, settings, 1)
        };
        let (fused, minibatch) = (train_with(true).report, train_with(false).report);
        assert_same_within(tolerance, &fused, &minibatch, method);
    }
}

#[test]
fn projected_models_are_byte_identical_on_any_number_of_threads() {
    for (problem, costs) in problems_with_equalities() {
        let bytes = |threads| {
            let data = table(83, 5, costs, 7);
            let settings = TrainingSettings {
                batch_size: 70,
                ..settings()
            };
            let spec = PredictorSpec::Linear;
            let result = train(&problem, &spec, data, "MAE(O,E)", settings, threads);
            result.model.to_bytes().unwrap()
        };
        let one = bytes(1);
        for threads in [2, 3, 8] {
            assert_eq!(one, bytes(threads), "{problem:?}");
        }
    }
}

#[test]
fn models_are_byte_identical_on_any_number_of_threads() {
    for loss in [
        "MSE",
        "MAE(O)",
        "MAE(O,S)",
        "MSE(C,S)",
        "MAE(O_S(exact))",
        "MSE(O,E)",
    ] {
        let bytes = |threads| {
            train_linear(loss, 5, 3001, settings(), threads)
                .model
                .to_bytes()
                .unwrap()
        };
        let one = bytes(1);
        assert_eq!(one, bytes(2), "{loss}");
        assert_eq!(one, bytes(3), "{loss}");
        assert_eq!(one, bytes(8), "{loss}");
    }
    let (linear, mlp) = (
        PredictorSpec::Linear,
        PredictorSpec::Mlp { hidden: vec![20] },
    );
    for (spec, data) in [
        (&mlp, table(83, 5, 3001, 7)),
        (&mlp, long_table(5, 1301)),
        (&linear, long_table(5, 1301)),
    ] {
        let bytes = |threads| {
            train(
                &top_quarter(&data),
                spec,
                data.clone(),
                "MAE(O,S)",
                settings(),
                threads,
            )
            .model
            .to_bytes()
            .unwrap()
        };
        let one = bytes(1);
        for threads in [2, 3, 8] {
            assert_eq!(one, bytes(threads), "{threads} threads");
        }
    }
}

/// A table made by exact operations only: the last digit of logarithms and exponentials, which
/// make normal random numbers, depends on the operating system.
fn rational_table(shape: FeatureShape, features: usize, costs: usize) -> Dataset {
    let rows = match shape {
        FeatureShape::Wide => 83,
        FeatureShape::Long { items } => 83 * items,
    };
    let x = Matrix::new(rows, features, exact_numbers(rows * features, 37)).unwrap();
    let c = exact_numbers(83 * costs, 53)
        .iter()
        .map(|c| c + 3.0)
        .collect();
    let features = Features::new(x, shape, None).unwrap();
    Dataset::new(features, Matrix::new(83, costs, c).unwrap(), None).unwrap()
}

/// The hashes are those of the AVX2 kernels. AVX-512, portable arrays on the same processor
/// (`scripts/portable-test`) and other processors must reproduce them; a change of the arithmetic
/// of training changes them.
#[test]
fn trained_parameters_are_the_same_bits_on_every_processor() {
    SimdToken::detect().expect("a processor with AVX2 and FMA, or aarch64, is needed");
    let (linear, mlp) = (
        PredictorSpec::Linear,
        PredictorSpec::Mlp {
            hidden: vec![20, 9],
        },
    );
    let one_hidden_layer = PredictorSpec::Mlp { hidden: vec![37] };
    let wide = |features, costs| rational_table(FeatureShape::Wide, features, costs);
    let long =
        |features, costs| rational_table(FeatureShape::Long { items: costs }, features, costs);
    let cases = [
        ("MSE", &linear, wide(5, 40)),
        ("MAE", &linear, wide(70, 50)),
        ("MAE(O,S)", &linear, wide(6, 259)),
        ("MSE(tau=0.2,S)", &linear, wide(3, 16)),
        ("MSE(C,O,S)", &linear, long(8, 40)),
        ("MAE(O,S)", &mlp, wide(3, 40)),
        ("MSE(O)", &mlp, long(5, 33)),
        // Not fused: matrix products, the loss in double precision.
        ("SPO+", &mlp, wide(5, 40)),
        ("MAE(O,S)", &one_hidden_layer, long(8, 259)),
        ("MSE", &one_hidden_layer, wide(5, 190)),
    ];
    let found = cases.map(|(loss, spec, data)| {
        let train_again = || {
            // Not the best epoch, which may be the untrained model.
            let settings = TrainingSettings {
                select: SelectionCriterion::Last,
                ..settings()
            };
            let model = train(&top_quarter(&data), spec, data.clone(), loss, settings, 1).model;
            hash_of_bits(model.networks[0].parameters())
        };
        let hash = train_again();
        // Other tests that run meanwhile compute the same bits.
        WITHOUT_AVX512.store(true, Ordering::Relaxed);
        assert_eq!(hash, train_again(), "{loss} without AVX-512");
        WITHOUT_AVX512.store(false, Ordering::Relaxed);
        hash
    });
    let expected = [
        "03ba84fc7f7812df",
        "1e463657e9899056",
        "fa27f95a8daa6666",
        "04761527373730ef",
        "000036246d8d4feb",
        "6c5075a875acc06c",
        "d46b7e2113941b3f",
        "e6f74169a3e10213",
        "bb917654b9af15dd",
        "2b409d4d207838af",
    ];
    assert_eq!(found, expected);
}

/// Costs that are linear in the features, with this much noise.
fn linear_costs(noise: f32) -> Dataset {
    let wide = table(83, 3, 40, 7);
    let mut stream = RandomStream::new(Purpose::Benchmark, 9, [0, 0]);
    let mixing: Vec<f32> = (0..40 * 3).map(|_| stream.normal() as f32).collect();
    let mut c = Vec::new();
    for row in 0..83 {
        for b in mixing.chunks(3) {
            let inner: f32 = wide
                .features()
                .instance(row)
                .iter()
                .zip(b)
                .map(|(x, b)| x * b)
                .sum();
            c.push(100.0 + inner + noise * stream.normal() as f32);
        }
    }
    Dataset::new(
        wide.features().clone(),
        Matrix::new(83, 40, c).unwrap(),
        None,
    )
    .unwrap()
}

#[test]
fn squared_errors_far_below_the_spread_of_costs_are_accurate() {
    for (noise, tolerance) in [(0.1, 1e-5), (0.01, 1e-4)] {
        let train_with = |fused| {
            let settings = TrainingSettings {
                fused,
                epochs: 60,
                learning_rate: 0.05,
                optimizer: Optimizer::default(),
                ..settings()
            };
            let data = linear_costs(noise);
            let problem = top_quarter(&data);
            train(&problem, &PredictorSpec::Linear, data, "MSE", settings, 1).report
        };
        let (fused_report, minibatch_report) = (train_with(true), train_with(false));
        let losses = |report: &TrainReport| -> Vec<f64> {
            report.rounds[0]
                .epochs
                .iter()
                .filter_map(|epoch| epoch.training_loss)
                .collect()
        };
        assert!(
            losses(&fused_report).last().unwrap() / losses(&fused_report)[0] < 0.01,
            "errors become small compared with the first epoch"
        );
        for (epoch, (a, b)) in losses(&fused_report)
            .iter()
            .zip(losses(&minibatch_report))
            .enumerate()
        {
            assert!(
                (a / b - 1.0).abs() < tolerance,
                "noise {noise}, epoch {epoch}: {a} and {b}"
            );
        }
    }
}

#[test]
fn learning_rate_decay_is_the_same() {
    let with_decay = TrainingSettings {
        lr_decay: true,
        ..settings()
    };
    let [fused, minibatch] = [true, false].map(|fused| {
        let settings = TrainingSettings {
            fused,
            ..with_decay
        };
        train_linear("MSE(O,S)", 5, 60, settings, 1).report
    });
    assert_same(&fused, &minibatch, "lr_decay");
    let without_decay = train_linear("MSE(O,S)", 5, 60, settings(), 1)
        .model
        .networks;
    assert_ne!(
        train_linear("MSE(O,S)", 5, 60, with_decay, 1)
            .model
            .networks,
        without_decay
    );
}

#[test]
fn weight_decay_is_the_same() {
    let decay = Optimizer::Adam {
        beta1: 0.8,
        beta2: 0.99,
        epsilon: 1e-6,
        weight_decay: 0.1,
    };
    let train_with = |fused| {
        train_linear(
            "MSE(O,S)",
            5,
            60,
            TrainingSettings {
                fused,
                optimizer: decay,
                ..settings()
            },
            1,
        )
        .report
    };
    let last = |report: TrainReport| report.rounds[0].epochs[3].validation_loss.unwrap();
    let (fused_loss, minibatch_loss) = (last(train_with(true)), last(train_with(false)));
    assert!(
        (fused_loss / minibatch_loss - 1.0).abs() < 1e-5,
        "{fused_loss} and {minibatch_loss}"
    );
}

/// The gradient of a loss on all training rows, in double precision, by its definition.
fn gradient_by_definition(
    loss: &str,
    data: &LabeledDataset,
    rows: usize,
    parameters: &[f32],
) -> Vec<f64> {
    let (features, costs) = (data.data().features(), data.data().costs());
    let (width, count) = (features.names().len(), costs.cols());
    let mut gradient = vec![0.0; parameters.len()];
    let norm = |values: &[f64]| values.iter().map(|v| v * v).sum::<f64>().sqrt();
    for row in 0..rows {
        let z: Vec<f64> = features
            .instance(row)
            .iter()
            .map(|z| f64::from(*z))
            .collect();
        let output = |j: usize| {
            let inner = (0..width)
                .map(|k| f64::from(parameters[j * width + k]) * z[k])
                .sum::<f64>();
            inner + f64::from(parameters[count * width + j])
        };
        let predicted: Vec<f64> = (0..count).map(output).collect();
        let targets: Vec<f64> = costs.row(row).iter().map(|c| f64::from(*c)).collect();
        let normalized = loss.contains("S)");
        let (predicted_norm, target_norm) = if normalized {
            (norm(&predicted), norm(&targets))
        } else {
            (1.0, 1.0)
        };
        let slope = |j: usize| {
            let error = predicted[j] / predicted_norm - targets[j] / target_norm;
            let is_penalized =
                data.optimal_decision(row).indices().contains(&(j as u32)) == (error > 0.0);
            let slope = if loss.starts_with("MAE") {
                error.signum()
            } else {
                2.0 * error
            };
            if is_penalized || !loss.contains("(O") {
                slope / count as f64
            } else {
                0.0
            }
        };
        let slopes: Vec<f64> = (0..count).map(slope).collect();
        let projection = slopes
            .iter()
            .zip(&predicted)
            .map(|(g, p)| g * p / predicted_norm)
            .sum::<f64>();
        for j in 0..count {
            let output_gradient = if normalized {
                (slopes[j] - projection * predicted[j] / predicted_norm) / predicted_norm
            } else {
                slopes[j]
            };
            let output_gradient = output_gradient / rows as f64;
            for k in 0..width {
                gradient[j * width + k] += output_gradient * z[k];
            }
            gradient[count * width + j] += output_gradient;
        }
    }
    gradient
}

#[test]
fn gradients_equal_those_of_double_precision() {
    let (rows, costs, seed) = (70, 1900, 3);
    let problem = TopK::new(costs, 200, Sense::Minimize).unwrap();
    let oracle = Oracle::new(Arc::new(problem.clone()));
    let data = LabeledDataset::solve(table(rows, 5, costs, 7), &oracle, &NoopObserver).unwrap();
    let split = SplitIndices::in_order(rows, [rows, 0, 0]).unwrap();
    let training_context = TrainingContext {
        data: &data,
        split: &split,
        oracle: &oracle,
        observer: &NoopObserver,
    };
    // With an ε far above all gradients the first step is proportional to them, and a large
    // learning rate makes it far larger than the initial parameters.
    let (epsilon, learning_rate) = (1.0, 1e8);
    let optimizer = Optimizer::Adam {
        beta1: 0.9,
        beta2: 0.999,
        epsilon,
        weight_decay: 0.0,
    };
    let settings = TrainingSettings {
        epochs: 1,
        batch_size: rows,
        learning_rate,
        optimizer,
        select: SelectionCriterion::Last,
        ..settings()
    };
    let settings = TrainingSettings {
        scale_costs: false,
        standardize: false,
        rescale_loss: false,
        seed,
        ..settings
    };
    let before = PredictorSpec::Linear.build(5, costs, seed);
    for loss in ["MAE(O,S)", "MSE(O,S)", "MSE", "MAE(S)", "MSE(O)"] {
        let trainer = Trainer::new(loss.parse::<Method>().unwrap())
            .predictor(PredictorSpec::Linear)
            .settings(settings);
        let after = trainer
            .train(&training_context, &ProblemSpec::TopK(problem.clone()), None)
            .unwrap()
            .model
            .networks
            .remove(0);
        let step = |(after, before): (&f32, &f32)| {
            (f64::from(*before) - f64::from(*after)) / learning_rate
        };
        let steps = after.parameters().iter().zip(before.parameters()).map(step);
        let expected = gradient_by_definition(loss, &data, rows, before.parameters());
        let (mut squared_error, mut squared_norm) = (0.0, 0.0);
        for (step, expected) in steps.zip(&expected) {
            squared_error += (step * epsilon / (1.0 - step.abs()) - expected).powi(2);
            squared_norm += expected * expected;
        }
        assert!(
            (squared_error / squared_norm).sqrt() < 3e-7,
            "{loss}: {:e}",
            (squared_error / squared_norm).sqrt()
        );
    }
}
