//! Training: it lowers the loss and the regret, is deterministic for a seed, and stops at its
//! limits.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use regretless::data::synthetic::SyntheticSpec;
use regretless::data::{Dataset, FeatureShape, Features, Matrix};
use regretless::error::InputPlace;
use regretless::label::LabeledDataset;
use regretless::loss::LossSpec;
use regretless::method::Method;
use regretless::observer::{NoopObserver, Observer};
use regretless::optimizer::Optimizer;
use regretless::oracle::Oracle;
use regretless::predict::{CostModel, PredictorSpec};
use regretless::problem::{Benchmark, ProblemSpec, Sense, TopK};
use regretless::report::StopReason;
use regretless::settings::{SelectionCriterion, TrainingSettings};
use regretless::train::TrainingContext;
use regretless::trainer::Trainer;
use regretless::{Error, ErrorKind};

use crate::tests::fixture::{TrainingFixture, losses_and_methods_with_state, quick_settings};

/// A long table: each item has two features, and its cost is the same linear function of them.
fn items_with_own_features(instances: usize, items: usize) -> Dataset {
    let value = |i: usize| (i as f32 * 0.37).sin();
    let rows = instances * items;
    let features: Vec<f32> = (0..rows)
        .flat_map(|i| [value(i), value(3 * i + 1)])
        .collect();
    let costs = features
        .chunks(2)
        .map(|x| 5.0 + 2.0 * x[0] - x[1])
        .collect();
    let features = Matrix::new(rows, 2, features).unwrap();
    let features = Features::new(features, FeatureShape::Long { items }, None).unwrap();
    Dataset::new(
        features,
        Matrix::new(instances, items, costs).unwrap(),
        None,
    )
    .unwrap()
}

#[test]
fn training_with_any_loss_lowers_the_loss_and_the_regret_of_the_untrained_model() {
    let fixture = TrainingFixture::grid_paths(1);
    let untrained = fixture.untrained_regret("MSE");
    for loss in LossSpec::examples().unwrap() {
        let trained = fixture.train(&loss.to_string(), quick_settings()).unwrap();
        let epochs = &trained.report.rounds[0].epochs;
        let (first, last) = (
            epochs[1].training_loss.unwrap(),
            epochs[12].training_loss.unwrap(),
        );
        assert!(
            last < first,
            "{loss}: training loss went from {first} to {last}"
        );
        let regret = fixture.evaluate_test_rows(&trained.model).regret;
        assert!(
            regret < untrained,
            "{loss}: test regret {regret}, untrained {untrained}"
        );
    }
}

fn all_methods() -> Vec<String> {
    losses_and_methods_with_state(&[
        "MAE(C,O,S)",
        "SPO+ cache 30%",
        "PFYL(samples=2) cache 30% per-instance capacity 7",
        "NCE cache 50%",
    ])
}

#[test]
fn the_same_seed_gives_byte_identical_models_on_any_number_of_threads() {
    let (one, three) = (
        TrainingFixture::grid_paths(1),
        TrainingFixture::grid_paths(3),
    );
    for method in all_methods() {
        let bytes = |fixture: &TrainingFixture, seed: u64| {
            let settings = TrainingSettings {
                seed,
                epochs: 2,
                ..quick_settings()
            };
            fixture
                .train(&method, settings)
                .unwrap()
                .model
                .to_bytes()
                .unwrap()
        };
        let on_one_thread = bytes(&one, 5);
        assert_eq!(on_one_thread, bytes(&three, 5), "{method}");
        assert_ne!(on_one_thread, bytes(&one, 6), "{method}");
    }
}

#[test]
fn weighted_losses_solve_every_training_and_validation_row_once_per_reweighting() {
    let fixture = TrainingFixture::grid_paths(1);
    let solves = |loss: &str| {
        let settings = TrainingSettings {
            select: SelectionCriterion::ValidationLoss,
            epochs: 2,
            ..quick_settings()
        };
        fixture.train(loss, settings).unwrap().report.solves.total()
    };
    assert_eq!(solves("MAE(O,S)"), 0);
    for (loss, reweightings) in [
        ("MSE(C)", 1),
        ("MSE(W(0.5))", 1),
        ("MSE(IC(3))", 2),
        ("MAE(EIC(4),S)", 3),
    ] {
        // 160 training and 40 validation rows.
        assert_eq!(solves(loss), reweightings * 200, "{loss}");
    }
}

#[test]
fn validation_by_regret_solves_once_per_row_and_epoch() {
    let fixture = TrainingFixture::grid_paths(1);
    assert_eq!(
        fixture
            .train(
                "MSE",
                TrainingSettings {
                    epochs: 4,
                    ..quick_settings()
                }
            )
            .unwrap()
            .report
            .solves
            .total(),
        5 * 40,
        "the untrained model and four epochs, 40 validation rows each"
    );
}

#[test]
fn c_equals_ic_of_two_rounds_and_a_weight_of_zero_equals_the_base_loss() {
    let fixture = TrainingFixture::grid_paths(1);
    let parameters = |loss: &str| {
        fixture
            .train(loss, quick_settings())
            .unwrap()
            .model
            .networks
    };
    assert_eq!(parameters("MSE(C,S)"), parameters("MSE(IC(2),S)"));
    assert_eq!(parameters("MAE(W(0))"), parameters("MAE"));
    assert_eq!(parameters("MSE(EIC(3))").len(), 3);
    assert_eq!(parameters("MSE(EIC(3))")[1], parameters("MSE(C)")[0]);
}

#[test]
fn the_epoch_with_the_lowest_validation_score_is_selected_even_if_it_is_epoch_zero() {
    let fixture = TrainingFixture::grid_paths(1);
    let trained = fixture.train("MSE", quick_settings()).unwrap();
    let round = &trained.report.rounds[0];
    let regret = |epoch: usize| round.epochs[epoch].validation_regret.unwrap();
    assert!((0..=12).all(|epoch| regret(round.best_epoch) <= regret(epoch)));
    let with_huge_rate = TrainingSettings {
        learning_rate: 1e6,
        epochs: 3,
        select: SelectionCriterion::ValidationLoss,
        ..quick_settings()
    };
    assert_eq!(
        fixture
            .train("MSE", with_huge_rate)
            .unwrap()
            .report
            .best_epoch(),
        0
    );
    let last = TrainingSettings {
        learning_rate: 1e6,
        epochs: 3,
        select: SelectionCriterion::Last,
        ..quick_settings()
    };
    assert_eq!(fixture.train("MSE", last).unwrap().report.best_epoch(), 3);
}

#[test]
fn patience_and_time_limits_end_training_early() {
    let fixture = TrainingFixture::grid_paths(1);
    let stopped = |settings: TrainingSettings| {
        let report = fixture.train("MSE", settings).unwrap().report;
        (report.rounds[0].stopped, report.rounds[0].epochs.len() - 1)
    };
    let with_huge_rate = TrainingSettings {
        learning_rate: 1e6,
        select: SelectionCriterion::ValidationLoss,
        ..quick_settings()
    };
    assert_eq!(
        stopped(TrainingSettings {
            patience: Some(2),
            ..with_huge_rate
        }),
        (StopReason::Patience, 2)
    );
    assert_eq!(
        stopped(TrainingSettings {
            patience_seconds: Some(1e-9),
            ..with_huge_rate
        }),
        (StopReason::Patience, 1)
    );
    assert_eq!(
        stopped(TrainingSettings {
            time_limit: Some(1e-9),
            ..quick_settings()
        }),
        (StopReason::TimeLimit, 1)
    );
    assert_eq!(stopped(quick_settings()), (StopReason::Epochs, 12));
    let batch_size = 8;
    let with_time_limit = TrainingSettings {
        time_limit: Some(1e-9),
        select: SelectionCriterion::Last,
        batch_size,
        ..quick_settings()
    };
    let report = fixture.train("SPO+", with_time_limit).unwrap().report;
    assert_eq!(
        (report.rounds[0].stopped, report.solves.total()),
        (StopReason::TimeLimit, batch_size as u64),
        "the time limit stops training within an epoch"
    );
}

#[test]
fn training_with_adamw_and_sgd_lowers_the_validation_loss() {
    let fixture = TrainingFixture::grid_paths(1);
    let adamw = Optimizer::Adam {
        beta1: 0.9,
        beta2: 0.999,
        epsilon: 1e-8,
        weight_decay: 0.1,
    };
    for (optimizer, learning_rate) in [(adamw, 0.02), (Optimizer::Sgd { momentum: 0.9 }, 0.05)] {
        let settings = TrainingSettings {
            optimizer,
            learning_rate,
            select: SelectionCriterion::ValidationLoss,
            ..quick_settings()
        };
        let epochs = &fixture.train("MSE", settings).unwrap().report.rounds[0].epochs;
        assert!(
            epochs[12].validation_loss < epochs[0].validation_loss,
            "{optimizer:?}"
        );
    }
}

#[test]
fn scale_invariant_losses_train_from_predictions_near_zero() {
    let fixture = TrainingFixture::grid_paths(1);
    // Without cost scaling the untrained network predicts numbers around zero, where the norm is
    // not differentiable.
    let settings = TrainingSettings {
        scale_costs: false,
        select: SelectionCriterion::ValidationLoss,
        ..quick_settings()
    };
    for loss in ["MSE(S)", "MAE(O,S)"] {
        let epochs = fixture.train(loss, settings).unwrap().report.rounds[0]
            .epochs
            .clone();
        assert!(
            epochs[12].validation_loss < epochs[0].validation_loss,
            "{loss}"
        );
        assert!(
            epochs
                .iter()
                .all(|epoch| epoch.validation_loss.unwrap().is_finite())
        );
    }
}

#[test]
fn hidden_layers_reach_a_lower_training_loss_than_a_linear_model() {
    let fixture = TrainingFixture::grid_paths(1);
    let settings = TrainingSettings {
        epochs: 60,
        select: SelectionCriterion::Last,
        ..quick_settings()
    };
    let loss = |predictor: PredictorSpec| {
        let report = fixture
            .train_with("MSE", predictor, settings)
            .unwrap()
            .report;
        report.rounds[0].epochs[60].training_loss.unwrap()
    };
    assert!(loss("mlp:32".parse().unwrap()) < loss(PredictorSpec::Linear));
}

#[test]
fn one_predictor_is_shared_by_all_items_of_a_long_table() {
    let problem = ProblemSpec::TopK(TopK::new(6, 2, Sense::Maximize).unwrap());
    for predictor in ["linear", "mlp:8"] {
        let fixture = TrainingFixture::new(
            problem.clone(),
            items_with_own_features(60, 6),
            [40, 10, 10],
            1,
        );
        let settings = TrainingSettings {
            epochs: 80,
            select: SelectionCriterion::ValidationLoss,
            ..quick_settings()
        };
        let trained = fixture
            .train_with("MSE", predictor.parse().unwrap(), settings)
            .unwrap();
        assert_eq!(trained.model.networks[0].sizes().last(), Some(&1));
        let evaluation = fixture.evaluate_test_rows(&trained.model);
        assert!(evaluation.mse < 0.05, "{predictor}: {}", evaluation.mse);
        let predicted = trained
            .model
            .predict(fixture.data.data().features())
            .unwrap();
        assert!(
            (4.0..6.0).contains(&(predicted.as_slice().iter().sum::<f32>() / 360.0)),
            "predictions are in the sense of the user"
        );
    }
}

#[test]
fn loss_rescaling_hardly_changes_training_but_helps_with_a_large_adam_epsilon() {
    let fixture = TrainingFixture::grid_paths(1);
    let settings = |rescale_loss| TrainingSettings {
        rescale_loss,
        select: SelectionCriterion::ValidationLoss,
        ..quick_settings()
    };
    let loss = |rescale_loss| {
        let report = fixture
            .train("MSE(O,S)", settings(rescale_loss))
            .unwrap()
            .report;
        report.rounds[0].epochs[12].validation_loss.unwrap()
    };
    assert!(
        (loss(true) / loss(false) - 1.0).abs() < 0.02,
        "{} and {}",
        loss(true),
        loss(false)
    );
    let large_epsilon = Optimizer::Adam {
        beta1: 0.9,
        beta2: 0.999,
        epsilon: 1.0,
        weight_decay: 0.0,
    };
    let with_large_epsilon = |rescale_loss| {
        let settings = TrainingSettings {
            optimizer: large_epsilon,
            ..settings(rescale_loss)
        };
        let epochs = &fixture.train("MSE(O,S)", settings).unwrap().report.rounds[0].epochs;
        epochs[12].validation_loss.unwrap() / epochs[0].validation_loss.unwrap()
    };
    assert!(with_large_epsilon(true) < 0.9 * with_large_epsilon(false));
}

#[test]
fn non_finite_values_stop_training_with_epoch_instance_and_output() {
    let fixture = TrainingFixture::grid_paths(1);
    let settings = TrainingSettings {
        learning_rate: 1e30,
        epochs: 50,
        select: SelectionCriterion::Last,
        optimizer: Optimizer::Sgd { momentum: 0.0 },
        ..quick_settings()
    };
    let error = fixture.train("MSE", settings).unwrap_err();
    assert!(
        matches!(
            error,
            Error::NonFinite {
                epoch: 1..,
                output: Some(_),
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn invalid_settings_are_refused() {
    let fixture = TrainingFixture::grid_paths(1);
    for settings in [
        TrainingSettings {
            batch_size: 0,
            ..quick_settings()
        },
        TrainingSettings {
            learning_rate: 0.0,
            ..quick_settings()
        },
        TrainingSettings {
            learning_rate: f64::NAN,
            ..quick_settings()
        },
        TrainingSettings {
            time_limit: Some(-1.0),
            ..quick_settings()
        },
    ] {
        assert!(matches!(
            fixture.train("MSE", settings),
            Err(Error::Setting { .. })
        ));
    }
    let mut without_validation = TrainingFixture::grid_paths(1);
    without_validation.split.validation.clear();
    let error = without_validation
        .train("MSE", quick_settings())
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Setting, "{error}");
    assert!(error.to_string().contains("validation"), "{error}");
}

/// Interrupts after 30 polls.
struct InterruptAfterPolls(AtomicU64);

impl Observer for InterruptAfterPolls {
    fn interrupted(&self) -> bool {
        self.0.fetch_add(1, Ordering::Relaxed) >= 30
    }
}

#[test]
fn interrupted_training_is_an_error() {
    let fixture = TrainingFixture::grid_paths(1);
    let observer = InterruptAfterPolls(AtomicU64::new(0));
    let context = TrainingContext {
        data: &fixture.data,
        split: &fixture.split,
        oracle: &fixture.oracle,
        observer: &observer,
    };
    let trainer = Trainer::new("MSE".parse::<Method>().unwrap())
        .predictor(PredictorSpec::Linear)
        .settings(quick_settings());
    assert!(matches!(
        trainer.train(&context, &fixture.problem, None),
        Err(Error::Interrupted)
    ));
}

#[test]
fn a_loaded_model_predicts_the_same_and_refuses_a_table_with_other_features() {
    let fixture = TrainingFixture::grid_paths(1);
    let model = fixture
        .train("MAE(EIC(2),O,S)", quick_settings())
        .unwrap()
        .model;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    model.save(&path, false).unwrap();
    assert!(matches!(model.save(&path, false), Err(Error::Exists(_))));
    let loaded = CostModel::load(&path).unwrap();
    assert_eq!(loaded, model);
    let features = fixture.data.data().features();
    assert_eq!(
        loaded.predict(features).unwrap(),
        model.predict(features).unwrap()
    );
    let names = features
        .names()
        .iter()
        .map(|name| format!("other_{name}"))
        .collect();
    let other_features =
        Features::new(features.values().clone(), FeatureShape::Wide, Some(names)).unwrap();
    let error = loaded.predict(&other_features).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Data, "{error}");
    let message = error.to_string();
    assert!(
        message.contains(" x0,") && message.contains(" other_x0,"),
        "{message}"
    );
    std::fs::write(&path, b"not a model").unwrap();
    let error = CostModel::load(&path).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Data, "{error}");
    assert_eq!(error.place(), Some(InputPlace::file(&path)), "{error}");
}

#[test]
fn a_table_of_the_wrong_width_is_refused() {
    let (_, data) = "SP4x4"
        .parse::<Benchmark>()
        .unwrap()
        .generate(SyntheticSpec::paper(5, 1))
        .unwrap();
    let oracle = Oracle::new(Arc::new(TopK::new(5, 1, Sense::Minimize).unwrap()));
    let error = LabeledDataset::solve(data, &oracle, &NoopObserver).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Data, "{error}");
    let message = error.to_string();
    assert!(message.contains("24") && message.contains('5'), "{message}");
}

#[test]
fn least_squares_is_a_method_with_the_model_of_the_baseline() {
    let fixture = TrainingFixture::grid_paths(1);
    let trained = fixture.train("least squares", quick_settings()).unwrap();
    assert_eq!(trained.model.metadata.method, "least squares");
    assert!(trained.report.rounds.is_empty());
    let own = fixture.evaluate_test_rows(&trained.model);
    let baseline = regretless::baseline::Baseline::LeastSquares
        .evaluate(&fixture.context(), &fixture.problem)
        .unwrap();
    assert_eq!(own.regrets, baseline.regrets);
    // More penalty, smaller coefficients, other predictions.
    let ridge = fixture.train("ridge(10)", quick_settings()).unwrap();
    assert_ne!(
        fixture.evaluate_test_rows(&ridge.model).mse.to_bits(),
        own.mse.to_bits()
    );
    for name in [
        "ridge(0)",
        "ridge(-1)",
        "ridge(x)",
        "least squares epochs 3",
        "least squares then MSE",
    ] {
        assert!(name.parse::<Method>().is_err(), "{name}");
    }
    assert_eq!(
        "ridge(0.5)".parse::<Method>().unwrap().to_string(),
        "ridge(0.5)"
    );
    let combined = Trainer::new(Method::least_squares().epochs(3));
    assert!(fixture.run(&combined).is_err());
    let network = "mlp:4".parse::<PredictorSpec>().unwrap();
    let network = Trainer::new(Method::least_squares()).predictor(network);
    assert!(fixture.run(&network).is_err());
}

#[test]
fn trained_decisions_do_not_depend_on_the_unit_of_costs() {
    for loss in ["MSE", "MAE", "MAE(O,S)", "MSE(O,S)", "SPO+"] {
        let expected = regret_in_unit(loss, 1.0);
        for unit in [1e-9, 1e-5, 1e12] {
            let found = regret_in_unit(loss, unit);
            assert!(
                (found - expected).abs() <= 0.05 * expected,
                "{loss} in units of {unit}: {found}, {expected} in units of 1"
            );
        }
    }
}

/// Normalized test regret of a short training on shortest paths whose costs are multiplied by this.
fn regret_in_unit(loss: &str, unit: f32) -> f64 {
    let problem = regretless::Problem::benchmark("SP5x5").unwrap();
    let data = Dataset::generate(&problem, 200).unwrap();
    let mut costs = data.costs().clone();
    costs
        .as_mut_slice()
        .iter_mut()
        .for_each(|cost| *cost *= unit);
    let data = Dataset::new(data.features().clone(), costs, None).unwrap();
    let data = data.split(regretless::Split::random(0)).unwrap();
    let method: Method = loss.parse().unwrap();
    let model = Trainer::new(method)
        .epochs(20)
        .fit(&problem, &data)
        .unwrap();
    model.evaluate(data.test()).unwrap().normalized_regret
}
