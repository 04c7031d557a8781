//! The part of each feature in the predicted costs.

use regretless::data::{FeatureShape, Features, Matrix};
use regretless::explain::FeatureMethod;
use regretless::observer::NoopObserver;
use regretless::predict::PredictorSpec;
use regretless::settings::TrainingSettings;
use regretless::{Dataset, ExplainSettings, Method, Model, Problem, Sense, Split, Trainer};

use super::without_alternatives;

/// Costs of three items that depend on two features; the third feature is noise.
fn table() -> Dataset {
    let draw = |row: u32, stream: u32| {
        let mixed = (row + 1)
            .wrapping_mul(2_654_435_761)
            .wrapping_add(stream * 40_503);
        f64::from(mixed.wrapping_mul(mixed ^ 0x9e37_79b9) >> 16) / 65_536.0
    };
    let features: Vec<[f64; 3]> = (0..60)
        .map(|row| [10.0 * draw(row, 1), 100.0 * draw(row, 2), draw(row, 3)])
        .collect();
    let costs: Vec<[f64; 3]> = features
        .iter()
        .map(|[x, y, _]| [5.0 + x, 15.0 - x, 8.0 + 0.05 * y])
        .collect();
    Dataset::from_arrays(&features, &costs).unwrap()
}

fn trained(predictor: &str, standardize: bool) -> Model {
    let problem = Problem::top_k(3, 1, Sense::Maximize).unwrap();
    let split = table().split(Split::random(0)).unwrap();
    let predictor: PredictorSpec = predictor.parse().unwrap();
    let settings = TrainingSettings {
        standardize,
        epochs: 200,
        learning_rate: 0.05,
        ..TrainingSettings::default()
    };
    let trainer = Trainer::new(Method::mse())
        .settings(settings)
        .predictor(predictor);
    trainer.fit(&problem, &split).unwrap()
}

/// The predicted costs for other feature values.
fn predict(model: &Model, values: &[f64]) -> Vec<f64> {
    model.predict(values).unwrap()
}

#[test]
fn the_terms_of_a_linear_predictor_add_up_to_the_prediction() {
    for standardize in [true, false] {
        let model = trained("linear", standardize);
        let row = [7.0, 20.0, 0.3];
        let explanation = model
            .explain(row.as_slice(), &without_alternatives())
            .unwrap();
        let effects = &explanation.features;
        let expected = if standardize {
            FeatureMethod::LinearFromMean
        } else {
            FeatureMethod::LinearFromZero
        };
        assert_eq!(effects.method, Some(expected));
        let mut references = [0.0; 3];
        for effect in &effects.features {
            let place = ["x0", "x1", "x2"]
                .iter()
                .position(|name| *name == effect.feature);
            references[place.unwrap()] = effect.reference;
            assert_eq!(
                effect.value.map(|value| value as f32),
                Some(row[place.unwrap()] as f32)
            );
        }
        assert_eq!(standardize, references[1] > 1.0);
        let at_references = predict(&model, &references);
        for (cost, explained) in explanation.costs.iter().enumerate() {
            let terms: f64 = effects
                .features
                .iter()
                .map(|effect| effect.effects[cost])
                .sum();
            let sum = effects.base[cost] + terms;
            assert!((sum - explained.predicted).abs() < 1e-12, "{sum}");
            let base = effects.base[cost];
            assert!((base - at_references[cost]).abs() < 1e-4, "{base}");
        }
        assert!(
            effects
                .features
                .iter()
                .any(|effect| effect.effects[0] > 0.5)
        );
    }
}

#[test]
fn a_feature_of_a_network_is_replaced_by_its_mean() {
    let model = trained("mlp:8", true);
    let row = [9.9, 60.0, 0.5];
    let explanation = model
        .explain(row.as_slice(), &without_alternatives())
        .unwrap();
    let effects = &explanation.features;
    assert_eq!(effects.method, Some(FeatureMethod::ReplacedByMean));
    assert!(effects.base.is_empty());
    for effect in &effects.features {
        let place: usize = effect.feature[1..].parse().unwrap();
        let mut replaced = row;
        replaced[place] = effect.reference;
        let costs = predict(&model, &replaced);
        for (cost, explained) in explanation.costs.iter().enumerate() {
            let expected = explained.predicted - costs[cost];
            assert!((effect.effects[cost] - expected).abs() < 1e-5);
        }
        let best = costs.iter().fold(f64::MIN, |max, cost| max.max(*cost));
        let chosen = explanation.costs.iter().position(|cost| cost.value == 1.0);
        let is_best = costs[chosen.unwrap()] == best;
        assert_eq!(
            effect.changes_decision,
            Some(!is_best),
            "{}",
            effect.feature
        );
    }
    // The first feature decides between the first two items.
    assert_eq!(effects.features[0].feature, "x0");
    assert_eq!(effects.features[0].changes_decision, Some(true));
}

#[test]
fn a_network_without_means_has_no_effects_and_says_why() {
    let model = trained("mlp:4", false);
    let row = [1.0, 2.0, 3.0];
    let explanation = model
        .explain(row.as_slice(), &without_alternatives())
        .unwrap();
    assert_eq!(explanation.features.method, None);
    assert!(
        explanation
            .features
            .reason
            .unwrap()
            .contains("standardized")
    );
}

#[test]
fn items_of_a_long_table_have_effects_of_their_own_features() {
    let instances = 30;
    let items = 4;
    let values: Vec<f32> = (0..instances * items)
        .map(|row| ((row * 37 + 11) % 101) as f32)
        .collect();
    let costs: Vec<f32> = values.iter().map(|value| 3.0 + 0.5 * value).collect();
    let matrix = Matrix::new(instances * items, 1, values).unwrap();
    let shape = FeatureShape::Long { items };
    let features = Features::new(matrix, shape, Some(vec!["size".into()])).unwrap();
    let costs = Matrix::new(instances, items, costs).unwrap();
    let data = Dataset::new(features.clone(), costs, None).unwrap();
    let problem = Problem::top_k(items, 2, Sense::Maximize).unwrap();
    let split = data.split(Split::random(0)).unwrap();
    let trainer = Trainer::new(Method::mse()).epochs(100).learning_rate(0.05);
    let model = trainer.fit(&problem, &split).unwrap();
    let row = features.select_rows(&[2]);
    let settings = ExplainSettings::default();
    let explanation = model
        .explain_instance(&row, None, &settings, &NoopObserver)
        .unwrap();
    let effect = &explanation.features.features[0];
    let slope = model.predictor().coefficients().unwrap()[0][0];
    assert!(slope > 0.1, "{slope}");
    assert_eq!(effect.value, None);
    for (item, cost) in explanation.costs.iter().enumerate() {
        let distance = f64::from(row.instance(0)[item]) - effect.reference;
        assert!((effect.effects[item] - slope * distance).abs() < 1e-9);
        let sum = explanation.features.base[item] + effect.effects[item];
        assert!((sum - cost.predicted).abs() < 1e-12);
    }
}
