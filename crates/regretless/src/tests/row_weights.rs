//! Sample weights: training minimizes the weighted mean of the losses, in every method and runner.

use regretless::data::{Dataset, SplitIndices};
use regretless::evaluate::Evaluation;
use regretless::loss::LossSpec;
use regretless::observer::NoopObserver;
use regretless::optimizer::Optimizer;
use regretless::predict::LinearFit;
use regretless::report::EpochReport;
use regretless::settings::{SelectionCriterion, TrainingSettings};
use regretless::trainer::TrainingOutcome;

use crate::Problem;
use crate::tests::fixture::{TrainingFixture, losses_and_methods_with_state, quick_settings};

const TRAIN: usize = 160;
const VALIDATION: usize = 40;

/// The fixture of grid paths with these weights.
fn weighted(weight: impl Fn(usize) -> f64) -> TrainingFixture {
    let (problem, data) = TrainingFixture::grid_path_data();
    let weights = (0..data.len()).map(weight).collect();
    let data = data.with_row_weights(weights).unwrap();
    TrainingFixture::new(problem, data, [TRAIN, VALIDATION, 60], 1)
}

/// 1, 2, 3, 1, 2, 3, ...
fn integer_weight(row: usize) -> usize {
    row % 3 + 1
}

/// The fixture in which each row of training and validation occurs as often as its integer weight.
fn repeated() -> TrainingFixture {
    let (problem, data) = TrainingFixture::grid_path_data();
    let mut list = Vec::new();
    let mut counts = [0; 3];
    for row in 0..data.len() {
        let part = usize::from(row >= TRAIN) + usize::from(row >= TRAIN + VALIDATION);
        let count = if part < 2 { integer_weight(row) } else { 1 };
        list.extend(std::iter::repeat_n(row, count));
        counts[part] += count;
    }
    TrainingFixture::new(problem, select(&data, &list), counts, 1)
}

fn select(data: &Dataset, rows: &[usize]) -> Dataset {
    let features = data.features().select_rows(rows);
    Dataset::new(features, data.costs().select_rows(rows), None).unwrap()
}

fn methods() -> Vec<String> {
    losses_and_methods_with_state(&[
        "MAE(C,O,S)",
        "MSE(EIC(2))",
        "SPO+ cache 30%",
        "NCE cache 50%",
    ])
}

fn few_epochs() -> TrainingSettings {
    TrainingSettings {
        epochs: 2,
        ..quick_settings()
    }
}

fn bytes(trained: &TrainingOutcome) -> Vec<u8> {
    trained.model.to_bytes().unwrap()
}

#[test]
fn equal_weights_give_the_same_bytes_as_none() {
    let (plain, equal) = (TrainingFixture::grid_paths(1), weighted(|_| 0.3));
    for method in methods() {
        let train = |fixture: &TrainingFixture| fixture.train(&method, few_epochs()).unwrap();
        assert!(bytes(&train(&plain)) == bytes(&train(&equal)), "{method}");
    }
}

/// The same for methods that solve, keep pools or weight instances themselves.
#[test]
fn rows_of_weight_zero_are_left_out() {
    let is_used = |row: usize| row % 5 != 3;
    let with_zeros = weighted(|row| f64::from(u8::from(is_used(row))));
    let mut without = TrainingFixture::grid_paths(1);
    without.split.train.retain(|row| is_used(*row));
    without.split.validation.retain(|row| is_used(*row));
    for method in methods() {
        let train = |fixture: &TrainingFixture| fixture.train(&method, few_epochs()).unwrap();
        let (found, expected) = (train(&with_zeros), train(&without));
        // The records of the two trainings name different rows.
        let (model, other) = (&found.model, &expected.model);
        assert!(model.networks == other.networks, "{method}");
        assert!(
            model.input == other.input && model.output == other.output,
            "{method}"
        );
        let regrets = |trained: &TrainingOutcome| -> Vec<Option<f64>> {
            let epochs = &trained.report.rounds[0].epochs;
            epochs.iter().map(|epoch| epoch.validation_regret).collect()
        };
        assert_eq!(regrets(&found), regrets(&expected), "{method}");
    }
}

/// One step on all rows, in the minibatch runner (dense and sparse gradients) and in the fused one.
fn one_step(optimizer: Optimizer, fused: bool, select: SelectionCriterion) -> TrainingSettings {
    TrainingSettings {
        epochs: 1,
        batch_size: 10_000,
        learning_rate: 0.02,
        optimizer,
        fused,
        select,
        ..TrainingSettings::default()
    }
}

fn assert_near(found: f64, expected: f64, tolerance: f64, what: &str) {
    assert!(
        (found - expected).abs() <= tolerance * expected.abs().max(1.0),
        "{what}: {found} instead of {expected}"
    );
}

#[test]
fn integer_weights_are_repeated_rows() {
    let weights = weighted(|row| integer_weight(row) as f64);
    let repeated = repeated();
    let sgd = Optimizer::Sgd { momentum: 0.0 };
    for (optimizer, fused) in [(sgd, false), (Optimizer::default(), true)] {
        for select in [
            SelectionCriterion::ValidationRegret,
            SelectionCriterion::ValidationLoss,
        ] {
            for method in ["MSE", "MAE(O,S)", "MSE(O,S)", "MAE(C,O,S)", "SPO+", "DBB"] {
                if method == "DBB" && fused {
                    // Adam's first step divides sums that nearly cancel by their size.
                    continue;
                }
                let settings = one_step(optimizer, fused, select);
                let train = |fixture: &TrainingFixture| fixture.train(method, settings).unwrap();
                let (found, expected) = (train(&weights), train(&repeated));
                let (scaler, other) = (&found.model.output, &expected.model.output);
                for (scale, expected) in scaler.scale.iter().zip(&other.scale) {
                    assert_near(*scale, *expected, 1e-12, method);
                }
                let epochs = |trained: &TrainingOutcome| trained.report.rounds[0].epochs.clone();
                for (found, expected) in epochs(&found).iter().zip(&epochs(&expected)) {
                    let numbers = |epoch: &EpochReport| {
                        [
                            epoch.training_loss,
                            epoch.validation_loss,
                            epoch.validation_regret,
                        ]
                    };
                    for (found, expected) in numbers(found).into_iter().zip(numbers(expected)) {
                        assert_eq!(found.is_some(), expected.is_some());
                        if let (Some(found), Some(expected)) = (found, expected) {
                            assert_near(found, expected, 1e-4, method);
                        }
                    }
                }
                let parameters =
                    |trained: &TrainingOutcome| trained.model.networks[0].parameters().to_vec();
                for (found, expected) in parameters(&found).iter().zip(parameters(&expected)) {
                    assert_near(f64::from(*found), f64::from(expected), 1e-4, method);
                }
            }
        }
    }
}

/// The weighted mean of the losses of the training rows, computed row by row.
fn mean_loss(fixture: &TrainingFixture, trained: &TrainingOutcome, loss: &LossSpec) -> f64 {
    let problem = Problem::benchmark("SP4x4").unwrap();
    let data = fixture.data.data();
    let predictions = trained.model.predict(data.features()).unwrap();
    let (mut sum, mut total) = (0.0, 0.0);
    for row in &fixture.split.train {
        let double = |values: &[f32]| values.iter().map(|v| f64::from(*v)).collect::<Vec<_>>();
        let (prediction, costs) = (
            double(predictions.row(*row)),
            double(data.costs().row(*row)),
        );
        let weight = data.row_weights().unwrap()[*row];
        sum += weight * loss.evaluate(&problem, &prediction, &costs).unwrap().value;
        total += weight;
    }
    sum / total
}

#[test]
fn the_step_is_the_gradient_of_the_weighted_mean_loss() {
    let fixture = weighted(|row| 0.5 + (row as f64).sin().powi(2));
    let rate = 1e-3;
    for name in ["MSE", "MSE(O)"] {
        let loss: LossSpec = name.parse().unwrap();
        let settings = |epochs: usize| TrainingSettings {
            epochs,
            learning_rate: rate,
            scale_costs: false,
            ..one_step(
                Optimizer::Sgd { momentum: 0.0 },
                false,
                SelectionCriterion::Last,
            )
        };
        let mut start = fixture.train(name, settings(0)).unwrap();
        let after = fixture.train(name, settings(1)).unwrap();
        let before = mean_loss(&fixture, &start, &loss);
        let reported = after.report.rounds[0].epochs[1].training_loss.unwrap();
        assert_near(reported, before, 1e-5, name);
        for parameter in [0, 7, 41, 130] {
            let original = start.model.networks[0].parameters()[parameter];
            let slope = (original - after.model.networks[0].parameters()[parameter]) / rate as f32;
            let step = 1e-2;
            let mut moved = [0.0; 2];
            for (moved, sign) in moved.iter_mut().zip([1.0, -1.0]) {
                start.model.networks[0].parameters_mut()[parameter] = original + sign * step;
                *moved = mean_loss(&fixture, &start, &loss);
            }
            start.model.networks[0].parameters_mut()[parameter] = original;
            let difference = (moved[0] - moved[1]) / (2.0 * f64::from(step));
            assert!(
                difference.abs() > 1e-3,
                "{name}: {difference} shows nothing"
            );
            assert_near(f64::from(slope), difference, 2e-3, name);
        }
    }
}

#[test]
fn weighted_least_squares_is_least_squares_of_repeated_rows() {
    let data = TrainingFixture::grid_path_data().1;
    let weights = (0..data.len()).map(|row| integer_weight(row) as f64);
    let list: Vec<usize> = (0..100)
        .flat_map(|row| std::iter::repeat_n(row, integer_weight(row)))
        .collect();
    let repeated = select(&data, &list);
    let weighted = data.clone().with_row_weights(weights.collect()).unwrap();
    let rows = |count: usize| (0..count).collect::<Vec<_>>();
    for (name, penalty) in [("least squares", 0.0), ("ridge", 0.3)] {
        let fit =
            |data: &Dataset, count: usize| LinearFit::ridge(data, &rows(count), penalty).unwrap();
        let expected = fit(&repeated, list.len()).predict(data.features());
        let unweighted = fit(&data, 100).predict(data.features());
        let found = fit(&weighted, 100).predict(data.features());
        let distance = |other: &[f32]| {
            let gaps = found.iter().zip(other).map(|(a, b)| (a - b).abs());
            gaps.fold(0.0, f32::max)
        };
        assert!(
            distance(&expected) < 2e-6,
            "{name}: {}",
            distance(&expected)
        );
        assert!(
            distance(&unweighted) > 1e-2,
            "{name}: weights have no effect"
        );
    }
}

/// Costs are those of the fixture in one half of the rows, and the same in reverse order in the
/// other half: the weights say which half is to be learned.
#[test]
fn auto_learns_and_scores_by_the_weights_of_rows() {
    let (problem, data) = TrainingFixture::grid_path_data();
    let reversed = |row: usize| row % 2 == 1;
    let mut costs = data.costs().clone();
    for row in (0..costs.rows()).filter(|row| reversed(*row)) {
        costs.row_mut(row).reverse();
    }
    for heavy in [false, true] {
        let weight = |row: usize| if reversed(row) == heavy { 3.0 } else { 0.01 };
        let weights = (0..data.len()).map(weight).collect();
        let table = Dataset::new(data.features().clone(), costs.clone(), None).unwrap();
        let table = table.with_row_weights(weights).unwrap();
        let fixture = TrainingFixture::new(problem.clone(), table, [TRAIN, VALIDATION, 60], 1);
        let trained = fixture.train("auto 2s", few_epochs()).unwrap();
        let regret_of = |half: bool| {
            let rows: Vec<usize> = (TRAIN + VALIDATION..TRAIN + VALIDATION + 60)
                .filter(|row| reversed(*row) == half)
                .collect();
            let TrainingFixture { data, oracle, .. } = &fixture;
            let found = Evaluation::of_model(&trained.model, data, &rows, oracle, &NoopObserver);
            found.unwrap().normalized_regret
        };
        let (learned, other) = (regret_of(heavy), regret_of(!heavy));
        assert!(learned < 0.5 * other, "{learned} and {other}");
        // The regret that auto states is that of the rows that count.
        let stated = trained.report.search.as_ref().unwrap().expected_regret;
        assert!(
            (stated - learned).abs() < 0.5 * other,
            "{stated} for {learned}"
        );
        assert!(stated < 0.5 * other, "{stated} counts rows without weight");
    }
}

#[test]
fn auto_leaves_out_rows_of_weight_zero() {
    let is_used = |row: usize| row % 5 != 3;
    let with_zeros = weighted(|row| f64::from(u8::from(is_used(row))));
    let mut without = TrainingFixture::grid_paths(1);
    without.split.train.retain(|row| is_used(*row));
    without.split.validation.retain(|row| is_used(*row));
    let train = |fixture: &TrainingFixture| fixture.train("auto 2s", few_epochs()).unwrap();
    let (found, expected) = (train(&with_zeros), train(&without));
    assert!(found.model.networks == expected.model.networks);
    assert_eq!(
        found.report.search.unwrap().interval,
        expected.report.search.unwrap().interval
    );
}

#[test]
fn checkpoints_tell_weights_apart() {
    let fixture = weighted(|row| row as f64);
    let plain = TrainingFixture::grid_paths(1);
    let key = |fixture: &TrainingFixture| fixture.context().fingerprint(&fixture.problem).unwrap();
    assert_ne!(key(&fixture), key(&plain));
    assert_ne!(key(&fixture), key(&weighted(|row| (row * row) as f64)));
}

#[test]
fn models_record_that_rows_had_weights() {
    let record = |fixture: &TrainingFixture| {
        let trained = fixture.train("MSE", few_epochs()).unwrap();
        trained.model.metadata.record.unwrap()
    };
    let (plain, weights) = (
        record(&TrainingFixture::grid_paths(1)),
        record(&weighted(|row| row as f64)),
    );
    assert!(weights.has_row_weights && !plain.has_row_weights);
    assert_ne!(weights.data_hash, plain.data_hash);
}

#[test]
fn rows_of_a_split_must_have_a_weight() {
    let mut fixture = weighted(|row| f64::from(u8::from(row < TRAIN)));
    let error = fixture.train("MSE", few_epochs()).unwrap_err();
    assert!(
        error.to_string().contains("validation rows have weight 0"),
        "{error}"
    );
    fixture.split = SplitIndices {
        train: vec![TRAIN + 1],
        validation: vec![0],
        ..SplitIndices::default()
    };
    let error = fixture.train("MSE", few_epochs()).unwrap_err();
    assert!(
        error.to_string().contains("training rows have weight 0"),
        "{error}"
    );
}
