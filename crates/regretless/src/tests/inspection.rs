//! What a model says about itself: record, coefficients, importance of features, training rows.

use regretless::data::{CostNames, FeatureShape, Features, Matrix};
use regretless::label::LabeledDataset;
use regretless::observer::NoopObserver;
use regretless::oracle::Oracle;
use regretless::{Dataset, Method, Model, Problem, Sense, Split, Trainer};

/// Three features: the first decides everything, the second is weak, the third is noise.
fn table(rows: u32, seed: u32) -> Dataset {
    let draw = |row: u32, stream: u32| {
        let mixed = (row + 1)
            .wrapping_mul(2_654_435_761)
            .wrapping_add(stream.wrapping_mul(40_503) ^ seed.wrapping_mul(97));
        f64::from(mixed.wrapping_mul(mixed ^ 0x9e37_79b9) >> 16) / 65_536.0
    };
    let features: Vec<[f64; 3]> = (0..rows)
        .map(|row| [10.0 * draw(row, 1), 1000.0 * draw(row, 2), draw(row, 3)])
        .collect();
    let costs: Vec<[f64; 3]> = features
        .iter()
        .map(|[x, y, _]| [5.0 + x, 15.0 - x, 10.0 + 0.001 * y])
        .collect();
    Dataset::from_arrays(&features, &costs).unwrap()
}

fn problem() -> Problem {
    Problem::top_k(3, 1, Sense::Maximize).unwrap()
}

fn trained(data: Dataset, epochs: usize) -> Model {
    let split = data.split(Split::random(0)).unwrap();
    let trainer = Trainer::new(Method::mse())
        .epochs(epochs)
        .learning_rate(0.05);
    trainer.fit(&problem(), &split).unwrap()
}

fn labeled(data: Dataset) -> (LabeledDataset, Oracle) {
    let oracle = Oracle::new(problem().kind().clone());
    (
        LabeledDataset::solve(data, &oracle, &NoopObserver).unwrap(),
        oracle,
    )
}

#[test]
fn coefficients_reproduce_predictions_in_original_units() {
    let data = table(60, 0);
    let model = trained(data.clone(), 20);
    let rows = model.predictor().coefficients().unwrap();
    assert_eq!((rows.len(), rows[0].len()), (3, 4));
    let predicted = model.predict_all(data.features()).unwrap();
    for instance in 0..data.len() {
        for (cost, row) in rows.iter().enumerate() {
            let features = data.features().instance(instance);
            let products = features.iter().zip(row).map(|(x, w)| f64::from(*x) * w);
            let expected = products.sum::<f64>() + row[3];
            let found = f64::from(predicted.row(instance)[cost]);
            assert!(
                (found - expected).abs() < 1e-4 * expected.abs(),
                "{found} {expected}"
            );
        }
    }
}

#[test]
fn a_shared_predictor_has_one_row_and_a_network_none() {
    let values = Matrix::new(40, 1, (0..40).map(|x| x as f32).collect()).unwrap();
    let features = Features::new(values, FeatureShape::Long { items: 2 }, None).unwrap();
    let costs = Matrix::new(20, 2, (0..40).map(|x| 3.0 * x as f32 + 1.0).collect()).unwrap();
    let data = Dataset::new(features, costs, Some(CostNames::numbered(2))).unwrap();
    let problem = Problem::top_k(2, 1, Sense::Minimize).unwrap();
    let split = || data.clone().split(Split::random(0)).unwrap();
    let trainer = Trainer::new(Method::mse()).epochs(5);
    let model = trainer.fit(&problem, &split()).unwrap();
    let rows = model.predictor().coefficients().unwrap();
    assert_eq!(rows.len(), 1);
    let predicted = model.predict_all(data.features()).unwrap();
    for (x, found) in data
        .features()
        .values()
        .as_slice()
        .iter()
        .zip(predicted.as_slice())
    {
        let expected = rows[0][0] * f64::from(*x) + rows[0][1];
        assert!((f64::from(*found) - expected).abs() < 1e-4 * expected.abs().max(1.0));
    }
    assert_eq!(model.predictor().architecture(), "linear");
    let trainer = trainer.predictor("mlp:4,3".parse().unwrap()).epochs(1);
    let model = trainer.fit(&problem, &split()).unwrap();
    assert_eq!(model.predictor().architecture(), "mlp:4,3");
    assert_eq!(model.predictor().coefficients(), None);
    let found = serde_json::to_value(model.predictor().inspection()).unwrap();
    assert!(found["coefficients"].is_null());
    assert_eq!(found["layout"], "long");
}

#[test]
fn a_model_records_its_training() {
    let data = table(60, 0);
    let model = trained(data.clone(), 2);
    let found = serde_json::to_value(model.predictor().inspection()).unwrap();
    let training = &found["training"];
    assert_eq!(training["rows"], serde_json::json!([36, 12, 12]));
    assert_eq!(training["settings"]["epochs"], 2);
    assert_eq!(training["program_version"], env!("CARGO_PKG_VERSION"));
    assert!(training["validation"].is_null(), "`fit` measures no regret");
    assert_eq!(found["coefficients"][2]["cost"], "c2");
    assert_eq!(found["coefficients"][2]["features"][1]["feature"], "x1");
    let hash = |model: &Model| {
        let found = serde_json::to_value(model.predictor().inspection()).unwrap();
        found["training"]["data_hash"].clone()
    };
    assert_eq!(hash(&trained(data, 1)), training["data_hash"]);
    assert_ne!(hash(&trained(table(60, 1), 1)), training["data_hash"]);
}

#[test]
fn rows_of_the_training_are_recognized() {
    let data = table(60, 0);
    let split = data.clone().split(Split::random(0)).unwrap();
    let trainer = Trainer::new(Method::mse()).epochs(1);
    let model = trainer.fit(&problem(), &split).unwrap();
    let (labeled, _) = labeled(data);
    let overlap = |rows: &[usize]| model.predictor().training_overlap(&labeled, rows).unwrap();
    let all: Vec<usize> = (0..60).collect();
    let found = overlap(&all);
    assert_eq!((found.rows, found.compared, found.seen), (60, 60, 48));
    let warning = found.warning().unwrap();
    assert!(warning.contains("48 of these 60 rows"), "{warning}");
    let test = overlap(split.test().rows());
    assert_eq!((test.seen, test.warning()), (0, None));
    assert_eq!(overlap(split.train().rows()).seen, 36);
}

#[test]
fn rows_of_a_large_training_are_estimated() {
    let model = trained(table(10_000, 0), 1);
    let (labeled, _) = labeled(table(10_000, 0));
    let all: Vec<usize> = (0..10_000).collect();
    let found = model.predictor().training_overlap(&labeled, &all).unwrap();
    assert!(found.compared < 10_000, "{found:?}");
    let fraction = found.seen as f64 / found.compared as f64;
    assert!((fraction - 0.8).abs() < 0.05, "{found:?}");
    let warning = found.warning().unwrap();
    assert!(
        warning.contains("about") && warning.contains("an estimate"),
        "{warning}"
    );
}

#[test]
fn the_feature_that_decides_is_the_most_important_one() {
    let model = trained(table(200, 0), 30);
    let (data, oracle) = labeled(table(100, 5));
    let rows: Vec<usize> = (0..100).collect();
    let measure = |seed: u64, oracle: &Oracle| {
        let predictor = model.predictor();
        predictor
            .permutation_importance(&data, &rows, oracle, 4, seed, &NoopObserver)
            .unwrap()
    };
    let before = oracle.counts().total();
    let found = measure(0, &oracle);
    assert_eq!(oracle.counts().total() - before, 100 * (1 + 3 * 4));
    let mean = |increases: &[f64]| increases.iter().sum::<f64>() / increases.len() as f64;
    let [first, second, third] = [0, 1, 2].map(|feature| mean(&found[feature]));
    assert!(
        first > 1.0 && first > 10.0 * second.abs() && first > 10.0 * third.abs(),
        "{found:?}"
    );
    let threads = regretless::parallel::Threads::new(2).unwrap();
    let parallel = Oracle::new(problem().kind().clone()).with_threads(threads);
    assert_eq!(
        measure(0, &parallel),
        found,
        "the same for any number of threads"
    );
    assert_ne!(measure(1, &oracle), found, "the seed matters");
}
