//! Training on from a trained model, and labels that are not the best decisions.

use regretless::Error;
use regretless::data::CostNames;
use regretless::data::synthetic::SyntheticSpec as DataRecipe;
use regretless::label::{KnnRobustCosts, TrainingLabels};
use regretless::loss::LossSpec;
use regretless::observer::NoopObserver;
use regretless::predict::PredictorSpec;
use regretless::problem::Benchmark;
use regretless::settings::TrainingSettings;
use regretless::solve::relaxation::Relaxation;
use regretless::trainer::Trainer;

use crate::tests::setting::{Setting, quick};

/// Rows of [`Setting::paths`] that train.
const ROWS: usize = 160;

#[test]
fn training_on_starts_where_the_first_method_ended() {
    let setting = Setting::paths(1);
    let settings = TrainingSettings {
        then_learning_rate: Some(0.001),
        then_epochs: Some(4),
        ..quick()
    };
    let whole = setting.train("MAE(O,S) then SPO+", settings).unwrap();
    assert_eq!(whole.model.metadata.method, "MAE(O,S) then SPO+");
    let rounds = &whole.report.rounds;
    let named: Vec<(&str, usize)> = rounds
        .iter()
        .map(|round| (&*round.method, round.epochs.len() - 1))
        .collect();
    assert_eq!(named, [("MAE(O,S)", 12), ("SPO+", 4)]);
    let first = setting.train("MAE(O,S)", settings).unwrap();
    let kept = first.report.rounds[0].best_epoch;
    assert_eq!(
        rounds[1].epochs[0].validation_regret,
        first.report.rounds[0].epochs[kept].validation_regret
    );
    let recipe = Trainer {
        start: Some(first.model),
        settings: TrainingSettings {
            learning_rate: 0.001,
            epochs: 4,
            ..quick()
        },
        ..Trainer::new("SPO+".parse::<LossSpec>().unwrap())
            .predictor(PredictorSpec::Linear)
            .settings(quick())
    };
    assert_eq!(
        setting.follow(&recipe).unwrap().model.networks,
        whole.model.networks
    );
}

#[test]
fn training_on_keeps_the_sense_of_a_maximisation() {
    let benchmark: Benchmark = "KS10".parse().unwrap();
    let (problem, data) = benchmark.generate(DataRecipe::paper(120, 1)).unwrap();
    let setting = Setting::new(problem, data, [80, 20, 20], 1);
    let settings = TrainingSettings {
        then_epochs: Some(1),
        then_learning_rate: Some(1e-9),
        ..quick()
    };
    let alone = setting.train("MSE", settings).unwrap().model;
    let whole = setting.train("MSE then SPO+", settings).unwrap().model;
    assert_eq!(whole.output, alone.output);
    assert_eq!(setting.test(&whole).regret, setting.test(&alone).regret);
}

#[test]
fn a_model_that_does_not_fit_is_not_trained_on() {
    let setting = Setting::paths(1);
    let quick = TrainingSettings {
        epochs: 1,
        ..quick()
    };
    let start = |model| Trainer {
        start: Some(model),
        ..Trainer::new("SPO+".parse::<LossSpec>().unwrap())
            .predictor(PredictorSpec::Linear)
            .settings(quick)
    };
    let mean = setting.train("MSE(EIC(2))", quick).unwrap().model;
    let message = setting.follow(&start(mean)).unwrap_err().to_string();
    assert!(message.contains("mean of 2 networks"), "{message}");
    let mut foreign = setting.train("MSE", quick).unwrap().model;
    foreign.metadata.features[0] = "other".into();
    assert!(
        setting
            .follow(&start(foreign))
            .unwrap_err()
            .to_string()
            .contains("other")
    );
    let mut wider = setting.train("MSE", quick).unwrap().model;
    wider.metadata.costs = CostNames::numbered(wider.metadata.costs.len() + 1);
    assert!(
        setting
            .follow(&start(wider))
            .unwrap_err()
            .to_string()
            .contains("25 costs")
    );
}

#[test]
fn a_method_with_its_own_learning_rate_and_epochs_trains_as_the_settings_would() {
    let setting = Setting::paths(1);
    let settings = TrainingSettings {
        then_learning_rate: Some(0.001),
        then_epochs: Some(4),
        ..quick()
    };
    let by_settings = setting.train("MAE(O,S) then SPO+", settings).unwrap().model;
    let by_label = setting
        .train("MAE(O,S) then SPO+ lr 0.001 epochs 4", quick())
        .unwrap();
    assert_eq!(by_label.model.networks, by_settings.networks);
    let both = setting.train(
        "MAE(O,S) then SPO+ lr 0.001",
        TrainingSettings {
            then_learning_rate: Some(0.5),
            ..settings
        },
    );
    assert_eq!(
        both.unwrap().model.networks,
        by_settings.networks,
        "the label wins"
    );
    let three = setting
        .train("MSE epochs 2 then MAE epochs 3 then SPO+ epochs 1", quick())
        .unwrap()
        .report;
    let epochs: Vec<usize> = three
        .rounds
        .iter()
        .map(|round| round.epochs.len() - 1)
        .collect();
    assert_eq!(epochs, [2, 3, 1]);
}

#[test]
fn a_model_that_was_trained_on_tells_its_whole_story() {
    let setting = Setting::paths(1);
    let few = TrainingSettings {
        epochs: 1,
        ..quick()
    };
    let first = setting.train("MAE(O,S)", few).unwrap().model;
    let spo: LossSpec = "SPO+".parse().unwrap();
    let recipe = Trainer {
        start: Some(first),
        ..Trainer::new(spo)
            .predictor(PredictorSpec::Linear)
            .settings(few)
    };
    assert_eq!(
        setting.follow(&recipe).unwrap().model.metadata.method,
        "MAE(O,S) then SPO+"
    );
}

#[test]
fn robust_labels_mix_costs_with_those_of_similar_rows_and_solve_again() {
    let setting = Setting::paths(1);
    let rows = &setting.split.train;
    let labels = |neighbors, weight| {
        let labels = TrainingLabels {
            robust: Some(KnnRobustCosts { neighbors, weight }),
            relaxed: None,
        };
        labels
            .apply(&setting.data, rows, "MSE", &setting.oracle, &NoopObserver)
            .unwrap()
            .unwrap()
    };
    assert_eq!(labels(4, 1.0).data(), setting.data.data());
    let mean = labels(ROWS - 1, 0.0);
    let costs = setting.data.data().costs();
    let others = rows
        .iter()
        .filter(|row| **row != 7)
        .map(|row| f64::from(costs.row(*row)[2]))
        .sum::<f64>();
    assert!((f64::from(mean.data().costs().row(7)[2]) - others / (ROWS as f64 - 1.0)).abs() < 1e-5);
    assert_eq!(
        mean.data().costs().row(200),
        costs.row(200),
        "rows that do not train stay as they are"
    );
    for row in [7, 42, 200] {
        let solved = setting
            .oracle
            .worker()
            .solve_row(mean.data().costs().row(row))
            .unwrap();
        assert_eq!(*mean.optimal_decision(row), solved.decision);
    }
}

/// By hand: rows on a line, of which each has its own nearest two; ties go to the earlier row.
#[test]
fn robust_costs_are_half_their_own_and_half_the_mean_of_the_nearest() {
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
    let setting = Setting::new(
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
    let rows = &setting.split.train;
    let made = labels
        .apply(&setting.data, rows, "MSE", &setting.oracle, &NoopObserver)
        .unwrap()
        .unwrap();
    let found: Vec<f32> = (0..5).map(|row| made.data().costs().row(row)[0]).collect();
    assert_eq!(found, [2.0, 2.25, 2.75, 10.0, 13.0]);
    let chosen: Vec<u32> = (0..5)
        .map(|row| made.optimal_decision(row).indices()[0])
        .collect();
    assert_eq!(chosen, [0, 0, 0, 1, 1]);
    assert_eq!(
        setting.data.optimal_decision(3).indices(),
        [0],
        "the label of row 3 follows its mixed costs"
    );
}

#[test]
fn relaxed_labels_are_optima_of_the_relaxation_in_training_rows_only() {
    let benchmark: Benchmark = "KS10".parse().unwrap();
    let (problem, data) = benchmark.generate(DataRecipe::paper(60, 1)).unwrap();
    let setting = Setting::new(problem, data, [40, 10, 10], 1);
    let labels = TrainingLabels {
        robust: None,
        relaxed: Some(Relaxation::Plain),
    };
    let before = setting.oracle.counts();
    let made = labels
        .apply(
            &setting.data,
            &setting.split.train,
            "SPO+",
            &setting.oracle,
            &NoopObserver,
        )
        .unwrap()
        .unwrap();
    let spent = setting.oracle.counts() - before;
    assert_eq!((spent.relaxed, spent.total()), (40, 40));
    assert_eq!(made.data(), setting.data.data());
    assert!(
        (0..40).any(|row| !made.optimal_decision(row).is_binary()),
        "a knapsack's relaxed optimum has a fraction"
    );
    assert!(
        (0..40)
            .all(|row| made.optimal_objective(row) <= setting.data.optimal_objective(row) + 1e-6)
    );
    assert!((40..60).all(|row| made.optimal_decision(row) == setting.data.optimal_decision(row)));
    let trained = setting.train("SPO+ relax labels relaxed", quick()).unwrap();
    assert_eq!(trained.model.metadata.method, "SPO+ relax labels relaxed");
    assert!(trained.report.solves.relaxed > 40);
}

#[test]
fn labels_of_a_relaxation_that_does_not_exist_are_refused_with_what_to_do() {
    let setting = super::oracle_settings::relaxed_paths();
    let error = setting
        .train("SPO+ labels relaxed tight", quick())
        .unwrap_err();
    assert!(matches!(error, Error::Capability { .. }), "{error}");
    assert!(
        error.to_string().contains("SPO+ labels relaxed tight"),
        "{error}"
    );
}
