//! Fine-tuning of a trained model, and labels that are not optimal decisions: robust and relaxed
//! ones.

use regretless::data::CostNames;
use regretless::data::synthetic::SyntheticSpec;
use regretless::label::{KnnRobustCosts, TrainingLabels};
use regretless::loss::LossSpec;
use regretless::observer::NoopObserver;
use regretless::predict::{CostModel, PredictorSpec};
use regretless::problem::Benchmark;
use regretless::settings::TrainingSettings;
use regretless::solve::relaxation::Relaxation;
use regretless::trainer::Trainer;
use regretless::{Error, ErrorKind};

use crate::tests::fixture::{TrainingFixture, quick_settings};

/// Training rows of [`TrainingFixture::grid_paths`].
const TRAINING_ROWS: usize = 160;

#[test]
fn fine_tuning_starts_from_the_selected_epoch_of_the_first_method() {
    let fixture = TrainingFixture::grid_paths(1);
    let settings = TrainingSettings {
        then_learning_rate: Some(0.001),
        then_epochs: Some(4),
        ..quick_settings()
    };
    let fine_tuned = fixture.train("MAE(O,S) then SPO+", settings).unwrap();
    assert_eq!(fine_tuned.model.metadata.method, "MAE(O,S) then SPO+");
    let rounds = &fine_tuned.report.rounds;
    let epochs_by_method: Vec<(&str, usize)> = rounds
        .iter()
        .map(|round| (&*round.method, round.epochs.len() - 1))
        .collect();
    assert_eq!(epochs_by_method, [("MAE(O,S)", 12), ("SPO+", 4)]);
    let first = fixture.train("MAE(O,S)", settings).unwrap();
    let selected_epoch = first.report.rounds[0].best_epoch;
    assert_eq!(
        rounds[1].epochs[0].validation_regret,
        first.report.rounds[0].epochs[selected_epoch].validation_regret
    );
    let trainer = Trainer {
        start: Some(first.model),
        settings: TrainingSettings {
            learning_rate: 0.001,
            epochs: 4,
            ..quick_settings()
        },
        ..Trainer::new("SPO+".parse::<LossSpec>().unwrap())
            .predictor(PredictorSpec::Linear)
            .settings(quick_settings())
    };
    assert_eq!(
        fixture.run(&trainer).unwrap().model.networks,
        fine_tuned.model.networks
    );
}

#[test]
fn fine_tuning_keeps_the_sense_of_a_maximization() {
    let benchmark: Benchmark = "KS10".parse().unwrap();
    let (problem, data) = benchmark.generate(SyntheticSpec::paper(120, 1)).unwrap();
    let fixture = TrainingFixture::new(problem, data, [80, 20, 20], 1);
    let settings = TrainingSettings {
        then_epochs: Some(1),
        then_learning_rate: Some(1e-9),
        ..quick_settings()
    };
    let without_fine_tuning = fixture.train("MSE", settings).unwrap().model;
    let fine_tuned = fixture.train("MSE then SPO+", settings).unwrap().model;
    assert_eq!(fine_tuned.output, without_fine_tuning.output);
    assert_eq!(
        fixture.evaluate_test_rows(&fine_tuned).regret,
        fixture.evaluate_test_rows(&without_fine_tuning).regret
    );
}

#[test]
fn an_incompatible_model_is_not_fine_tuned() {
    let fixture = TrainingFixture::grid_paths(1);
    let one_epoch = TrainingSettings {
        epochs: 1,
        ..quick_settings()
    };
    let trainer_from = |model| Trainer {
        start: Some(model),
        ..Trainer::new("SPO+".parse::<LossSpec>().unwrap())
            .predictor(PredictorSpec::Linear)
            .settings(one_epoch)
    };
    let ensemble = fixture.train("MSE(EIC(2))", one_epoch).unwrap().model;
    let assert_refused = |model: CostModel, kind: ErrorKind, quoted: &str| {
        let error = fixture.run(&trainer_from(model)).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(quoted), "{error}");
    };
    assert_refused(ensemble, ErrorKind::Setting, "2 networks");
    let mut other_features = fixture.train("MSE", one_epoch).unwrap().model;
    other_features.metadata.features[0] = "other".into();
    assert_refused(other_features, ErrorKind::Data, " other,");
    let mut more_costs = fixture.train("MSE", one_epoch).unwrap().model;
    more_costs.metadata.costs = CostNames::numbered(more_costs.metadata.costs.len() + 1);
    assert_refused(more_costs, ErrorKind::Setting, "25 costs");
}

#[test]
fn a_learning_rate_and_epochs_in_the_method_name_equal_those_in_the_settings() {
    let fixture = TrainingFixture::grid_paths(1);
    let settings = TrainingSettings {
        then_learning_rate: Some(0.001),
        then_epochs: Some(4),
        ..quick_settings()
    };
    let by_settings = fixture.train("MAE(O,S) then SPO+", settings).unwrap().model;
    let by_method_name = fixture
        .train("MAE(O,S) then SPO+ lr 0.001 epochs 4", quick_settings())
        .unwrap();
    assert_eq!(by_method_name.model.networks, by_settings.networks);
    let both = fixture.train(
        "MAE(O,S) then SPO+ lr 0.001",
        TrainingSettings {
            then_learning_rate: Some(0.5),
            ..settings
        },
    );
    assert_eq!(
        both.unwrap().model.networks,
        by_settings.networks,
        "the method name takes precedence"
    );
    let report = fixture
        .train(
            "MSE epochs 2 then MAE epochs 3 then SPO+ epochs 1",
            quick_settings(),
        )
        .unwrap()
        .report;
    let epochs: Vec<usize> = report
        .rounds
        .iter()
        .map(|round| round.epochs.len() - 1)
        .collect();
    assert_eq!(epochs, [2, 3, 1]);
}

#[test]
fn the_name_of_a_fine_tuned_model_lists_all_its_methods() {
    let fixture = TrainingFixture::grid_paths(1);
    let one_epoch = TrainingSettings {
        epochs: 1,
        ..quick_settings()
    };
    let first = fixture.train("MAE(O,S)", one_epoch).unwrap().model;
    let spo: LossSpec = "SPO+".parse().unwrap();
    let trainer = Trainer {
        start: Some(first),
        ..Trainer::new(spo)
            .predictor(PredictorSpec::Linear)
            .settings(one_epoch)
    };
    assert_eq!(
        fixture.run(&trainer).unwrap().model.metadata.method,
        "MAE(O,S) then SPO+"
    );
}

#[test]
fn robust_labels_mix_costs_with_those_of_similar_rows_and_solve_again() {
    let fixture = TrainingFixture::grid_paths(1);
    let rows = &fixture.split.train;
    let labels = |neighbors, weight| {
        let labels = TrainingLabels {
            robust: Some(KnnRobustCosts { neighbors, weight }),
            relaxed: None,
        };
        labels
            .apply(&fixture.data, rows, "MSE", &fixture.oracle, &NoopObserver)
            .unwrap()
            .unwrap()
    };
    assert_eq!(labels(4, 1.0).data(), fixture.data.data());
    let mean = labels(TRAINING_ROWS - 1, 0.0);
    let costs = fixture.data.data().costs();
    let sum_of_others = rows
        .iter()
        .filter(|row| **row != 7)
        .map(|row| f64::from(costs.row(*row)[2]))
        .sum::<f64>();
    assert!(
        (f64::from(mean.data().costs().row(7)[2]) - sum_of_others / (TRAINING_ROWS as f64 - 1.0))
            .abs()
            < 1e-5
    );
    assert_eq!(
        mean.data().costs().row(200),
        costs.row(200),
        "costs of other rows do not change"
    );
    for row in [7, 42, 200] {
        let solved = fixture
            .oracle
            .worker()
            .solve_row(mean.data().costs().row(row))
            .unwrap();
        assert_eq!(*mean.optimal_decision(row), solved.decision);
    }
}

/// Computed by hand: rows with one feature, two nearest neighbors each; ties go to the earlier row.
#[test]
fn robust_costs_are_half_the_costs_of_the_row_and_half_the_mean_of_its_neighbors() {
    use regretless::data::{Dataset, FeatureShape, Features, Matrix};
    use regretless::problem::{ProblemSpec, Sense, TopK};
    let features = Features::new(
        Matrix::new(5, 1, vec![0.0, 1.0, 2.0, 10.0, 11.5]).unwrap(),
        FeatureShape::Wide,
        None,
    )
    .unwrap();
    let costs = Matrix::new(
        5,
        2,
        vec![1.0, 9.0, 2.0, 9.0, 4.0, 9.0, 8.0, 9.0, 20.0, 9.0],
    )
    .unwrap();
    let problem = ProblemSpec::TopK(TopK::new(2, 1, Sense::Minimize).unwrap());
    let fixture = TrainingFixture::new(
        problem,
        Dataset::new(features, costs, None).unwrap(),
        [5, 0, 0],
        1,
    );
    let labels = TrainingLabels {
        robust: Some(KnnRobustCosts {
            neighbors: 2,
            weight: 0.5,
        }),
        relaxed: None,
    };
    let rows = &fixture.split.train;
    let labeled = labels
        .apply(&fixture.data, rows, "MSE", &fixture.oracle, &NoopObserver)
        .unwrap()
        .unwrap();
    let robust_costs: Vec<f32> = (0..5)
        .map(|row| labeled.data().costs().row(row)[0])
        .collect();
    assert_eq!(robust_costs, [2.0, 2.25, 2.75, 10.0, 13.0]);
    let chosen: Vec<u32> = (0..5)
        .map(|row| labeled.optimal_decision(row).indices()[0])
        .collect();
    assert_eq!(chosen, [0, 0, 0, 1, 1]);
    assert_eq!(
        fixture.data.optimal_decision(3).indices(),
        [0],
        "the label of row 3 follows its mixed costs"
    );
}

#[test]
fn relaxed_labels_are_optima_of_the_relaxation_in_training_rows_only() {
    let benchmark: Benchmark = "KS10".parse().unwrap();
    let (problem, data) = benchmark.generate(SyntheticSpec::paper(60, 1)).unwrap();
    let fixture = TrainingFixture::new(problem, data, [40, 10, 10], 1);
    let labels = TrainingLabels {
        robust: None,
        relaxed: Some(Relaxation::Plain),
    };
    let before = fixture.oracle.counts();
    let labeled = labels
        .apply(
            &fixture.data,
            &fixture.split.train,
            "SPO+",
            &fixture.oracle,
            &NoopObserver,
        )
        .unwrap()
        .unwrap();
    let counts = fixture.oracle.counts() - before;
    assert_eq!((counts.relaxed, counts.total()), (40, 40));
    assert_eq!(labeled.data(), fixture.data.data());
    assert!(
        (0..40).any(|row| !labeled.optimal_decision(row).is_binary()),
        "the relaxed optimum of a knapsack is fractional"
    );
    assert!(
        (0..40)
            .all(|row| labeled.optimal_objective(row) <= fixture.data.optimal_objective(row) + 1e-6)
    );
    assert!(
        (40..60).all(|row| labeled.optimal_decision(row) == fixture.data.optimal_decision(row))
    );
    let trained = fixture
        .train("SPO+ relax labels relaxed", quick_settings())
        .unwrap();
    assert_eq!(trained.model.metadata.method, "SPO+ relax labels relaxed");
    assert!(trained.report.solves.relaxed > 40);
}

#[test]
fn labels_of_a_missing_relaxation_are_an_error() {
    let fixture = super::oracle_settings::relaxed_paths();
    let error = fixture
        .train("SPO+ labels relaxed tight", quick_settings())
        .unwrap_err();
    assert!(matches!(error, Error::Capability { .. }), "{error}");
    assert!(
        error.to_string().contains("SPO+ labels relaxed tight"),
        "{error}"
    );
}
