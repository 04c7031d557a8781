use super::{ChecksummedFile, EARLIER_MODEL_FILE_FORMAT, MODEL_FILE_FORMAT};
use crate::data::{CostNames, FeatureShape, Features, Matrix};
use crate::predict::{
    CostModel, CostScaler, EmbeddedFile, FeatureScaler, ModelMetadata, Network, RecordedRegret,
    RowSketch, TrainingRecord,
};

pub(in crate::predict) fn model(deviation: f64) -> CostModel {
    let metadata = ModelMetadata {
        method: "MSE".into(),
        problem_file_hash: None,
        problem: serde_json::json!({}),
        seed: 0,
        features: vec!["x".into()],
        costs: CostNames::numbered(2),
        shape: FeatureShape::Wide,
        encoding: None,
        unobserved: Vec::new(),
        record: None,
    };
    CostModel {
        networks: vec![Network::new(1, &[], 2, 0)],
        input: Some(FeatureScaler {
            mean: vec![0.0],
            deviation: vec![deviation],
        }),
        output: CostScaler {
            offset: vec![0.0; 2],
            scale: vec![1.0; 2],
        },
        metadata,
        problem_file: None,
        sketch: None,
    }
}

/// A model with everything that a file can have.
pub(super) fn complete_model() -> CostModel {
    let content = b"minimize\n x\nend\n";
    let mut model = model(2.0);
    model.metadata.problem_file_hash = Some(blake3::hash(content).to_hex().to_string());
    model.problem_file = EmbeddedFile::compress(content);
    model.sketch = Some(RowSketch::new(vec![7, 3, 9]));
    let regret = RecordedRegret {
        instances: 10,
        regret: 0.5,
        normalized_regret: 0.01,
    };
    model.metadata.record = Some(TrainingRecord {
        program_version: "0.1.0".into(),
        data_hash: "0".repeat(64),
        has_row_weights: true,
        rows: [60, 20, 20],
        split: "random".into(),
        settings: serde_json::json!({ "epochs": 3 }),
        limits: serde_json::json!({ "gap": 0.0 }),
        heuristic: None,
        validation: None,
        test: Some(regret),
        sketch_is_complete: true,
    });
    model
}

/// A model of two costs of which no training row had the second.
pub(super) fn model_without_a_cost() -> CostModel {
    let mut model = model(2.0);
    model.metadata.unobserved = vec![1];
    model
}

#[test]
fn costs_without_a_prediction_are_read_again() {
    let bytes = model_without_a_cost().to_bytes().unwrap();
    let read = CostModel::from_bytes(&bytes).unwrap();
    assert_eq!(read.metadata.unobserved, [1]);
    assert_eq!(read.to_bytes().unwrap(), bytes);
}

/// The best objective is 0 in all rows if not to act is best.
#[test]
fn a_regret_relative_to_zero_is_read_again() {
    let mut written = complete_model();
    let record = written.metadata.record.as_mut().unwrap();
    record.validation = record.test.map(|regret| RecordedRegret {
        normalized_regret: f64::NAN,
        ..regret
    });
    let bytes = written.to_bytes().unwrap();
    let read = CostModel::from_bytes(&bytes).unwrap();
    let regret = read.metadata.record.as_ref().unwrap().validation.unwrap();
    assert!(regret.normalized_regret.is_nan() && regret.regret == 0.5);
    assert_eq!(read.to_bytes().unwrap(), bytes);
}

fn refused(bytes: &[u8], word: &str) {
    let error = CostModel::from_bytes(bytes).unwrap_err().to_string();
    assert!(error.contains(word), "{error}");
}

/// Files with a correct checksum whose content no training writes.
#[test]
fn forged_models_are_refused() {
    assert_eq!(
        CostModel::from_bytes(&model(2.0).to_bytes().unwrap()).unwrap(),
        model(2.0)
    );
    for deviation in [0.0, -1.0] {
        refused(&model(deviation).to_bytes().unwrap(), "scaling");
    }
    let more = model(2.0).to_file().with_array("network.1", vec![1.0_f32]);
    refused(&more.to_bytes(MODEL_FILE_FORMAT).unwrap(), "network.1");
    let mut short: ChecksummedFile<_> = model(2.0).to_file();
    let _: Option<Vec<f64>> = short.take_array("input.mean");
    let _: Option<Vec<f64>> = short.take_array("input.deviation");
    let short = short
        .with_array("input.mean", vec![0.0_f64; 3])
        .with_array("input.deviation", vec![1.0_f64; 3]);
    refused(&short.to_bytes(MODEL_FILE_FORMAT).unwrap(), "scaling");
}

#[test]
fn files_of_both_formats_are_read_back() {
    let complete = complete_model();
    let bytes = complete.to_bytes().unwrap();
    let read_back = CostModel::from_bytes(&bytes).unwrap();
    assert_eq!(read_back, complete);
    assert_eq!(read_back.to_bytes().unwrap(), bytes);
    let content = b"minimize\n x\nend\n".to_vec();
    assert_eq!(read_back.problem_file().unwrap(), Some(content));
    let earlier = model(2.0).to_file();
    let earlier = earlier.to_bytes(EARLIER_MODEL_FILE_FORMAT).unwrap();
    assert_eq!(CostModel::from_bytes(&earlier).unwrap(), model(2.0));
}

#[test]
fn costs_without_training_rows_are_read_back_and_have_no_prediction() {
    let mut unobserved = model(2.0);
    unobserved.metadata.unobserved = vec![1];
    let bytes = unobserved.to_bytes().unwrap();
    let read_back = CostModel::from_bytes(&bytes).unwrap();
    assert_eq!(read_back, unobserved);
    let rows = Matrix::from_f64(1, 1, &[0.5]).unwrap();
    let features = Features::new(rows, FeatureShape::Wide, Some(vec!["x".into()])).unwrap();
    let predicted = read_back.predict(&features).unwrap();
    assert!(predicted.as_slice()[0].is_finite() && predicted.as_slice()[1].is_nan());
    for forged in [vec![2], vec![1, 0], vec![1, 1]] {
        unobserved.metadata.unobserved = forged;
        refused(&unobserved.to_bytes().unwrap(), "without training rows");
    }
    let earlier = read_back.to_file();
    let earlier = earlier.to_bytes(EARLIER_MODEL_FILE_FORMAT).unwrap();
    refused(&earlier, "later format");
}

#[test]
fn forged_parts_of_a_model_are_refused() {
    let later = complete_model().to_file();
    refused(
        &later.to_bytes(EARLIER_MODEL_FILE_FORMAT).unwrap(),
        "later format",
    );
    let mut without_hash = complete_model();
    without_hash.metadata.problem_file_hash = None;
    refused(&without_hash.to_bytes().unwrap(), "hash");
    let mut without_record = complete_model();
    without_record.metadata.record = None;
    refused(&without_record.to_bytes().unwrap(), "record");
    let mut without_sketch = complete_model();
    without_sketch.sketch = None;
    refused(&without_sketch.to_bytes().unwrap(), "record");
    let numbers = model(2.0)
        .to_file()
        .with_array("problem.file", vec![1.0_f32]);
    refused(
        &numbers.to_bytes(MODEL_FILE_FORMAT).unwrap(),
        "problem.file",
    );
    let mut other_file = complete_model();
    other_file.problem_file = EmbeddedFile::compress(b"another file");
    let other_file = CostModel::from_bytes(&other_file.to_bytes().unwrap()).unwrap();
    let error = other_file.problem_file().unwrap_err().to_string();
    assert!(error.contains("damaged"), "{error}");
}
