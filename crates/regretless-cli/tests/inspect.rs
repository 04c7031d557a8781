//! `inspect`: what a model file says about its model.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::TestWorkspace;

const TRAIN: &str =
    "train --data table.csv --costs c* --problem problem.toml --epochs 3 --method MSE";

#[test]
fn a_model_is_described_with_its_training() {
    let workspace = TestWorkspace::with_knapsack();
    let trained = workspace.run(&format!("{TRAIN} --json")).json();
    let found = workspace.run("inspect model.safetensors --json").json();
    assert_eq!(found["method"], "MSE");
    assert_eq!(found["problem"]["kind"], "knapsack");
    assert_eq!(found["predictor"], "linear");
    assert_eq!(found["costs"].as_array().unwrap().len(), 8);
    let training = &found["training"];
    assert_eq!(training["rows"], serde_json::json!([36, 12, 12]));
    assert_eq!(training["settings"]["epochs"], 3);
    for part in ["validation", "test"] {
        assert_eq!(training[part]["regret"], trained[part]["regret"]);
        assert_eq!(training[part]["instances"], 12);
    }
    let output = workspace.run("inspect model.safetensors").succeeded();
    for line in [
        "method             MSE",
        "predictor          linear, 48 parameters",
        "rows               36/12/12 for training, validation and test",
        "coefficients in units of the original features, which training standardized",
    ] {
        assert!(
            output.out.contains(line),
            "'{line}' is not in:\n{}",
            output.out
        );
    }
    // The first cost predicted from its coefficients is the one that decide predicts.
    workspace
        .run(
            "decide --model model.safetensors --data table.csv --out d.csv --predictions-out p.csv",
        )
        .succeeded();
    let cells = |file: &str| -> Vec<f64> {
        let text = workspace.read(file);
        let line = text.lines().nth(1).unwrap();
        line.split(',').map(|cell| cell.parse().unwrap()).collect()
    };
    let (row, predicted) = (cells("table.csv"), cells("p.csv"));
    let coefficients = &found["coefficients"][0];
    let mut expected = coefficients["intercept"].as_f64().unwrap();
    for (feature, value) in coefficients["features"]
        .as_array()
        .unwrap()
        .iter()
        .zip(&row)
    {
        expected += feature["coefficient"].as_f64().unwrap() * value;
    }
    assert!(
        (expected - predicted[0]).abs() < 1e-4 * expected.abs(),
        "{expected} {predicted:?}"
    );
}

#[test]
fn a_network_has_no_coefficients() {
    let workspace = TestWorkspace::with_knapsack();
    workspace
        .run(&format!("{TRAIN} --predictor mlp:5 --out n.safetensors"))
        .succeeded();
    let output = workspace.run("inspect n.safetensors").succeeded();
    assert!(output.out.contains("mlp:5"), "{}", output.out);
    assert!(output.out.contains("hidden layers"), "{}", output.out);
}

#[test]
fn the_importance_of_features_is_measured_and_reproducible() {
    let workspace = TestWorkspace::with_knapsack();
    workspace.run(TRAIN).succeeded();
    let words = "inspect model.safetensors --data table.csv --repeats 2 --json";
    let found = workspace.run(words).json();
    let importance = &found["importance"];
    assert_eq!(importance["rows"], 60);
    assert_eq!(importance["solves"], 60 * (1 + 5 * 2));
    let features = importance["features"].as_array().unwrap();
    assert_eq!(features.len(), 5);
    for feature in features {
        let repeats: Vec<f64> = feature["repeats"]
            .as_array()
            .unwrap()
            .iter()
            .map(|value| value.as_f64().unwrap())
            .collect();
        let mean = (repeats[0] + repeats[1]) / 2.0;
        assert_eq!(feature["regret_increase"].as_f64().unwrap(), mean);
    }
    let again = workspace.run(&format!("{words} --threads 1")).json();
    assert_eq!(again["importance"], found["importance"]);
    let other = workspace.run(&format!("{words} --seed 7")).json();
    assert_ne!(
        other["importance"]["features"],
        found["importance"]["features"]
    );
    let output = workspace
        .run("inspect model.safetensors --data table.csv --repeats 1")
        .succeeded();
    assert!(
        output
            .out
            .contains("importance: increase of the mean regret"),
        "{}",
        output.out
    );
    assert!(
        output
            .err
            .contains("was trained or validated on 48 of these 60"),
        "{}",
        output.err
    );
    workspace
        .run("inspect model.safetensors --data table.csv --repeats 0")
        .failed(2, &["--repeats"]);
}

#[test]
fn an_earlier_model_says_what_it_does_not_record() {
    let workspace = TestWorkspace::new();
    let model = include_bytes!("files/model-2.safetensors");
    std::fs::write(workspace.path("old.safetensors"), model).unwrap();
    let output = workspace.run("inspect old.safetensors").succeeded();
    assert!(
        output.out.contains("training           not recorded"),
        "{}",
        output.out
    );
    assert!(output.out.contains("toy.lp (must exist)"), "{}", output.out);
    let found = workspace.run("inspect old.safetensors --json").json();
    assert!(
        found["training"].is_null() && found["holds_problem_file"] == false,
        "{found}"
    );
    assert_eq!(found["coefficients"][0]["cost"], "a");
}

#[test]
fn other_files_are_refused() {
    let workspace = TestWorkspace::with_knapsack();
    workspace
        .run("inspect table.csv")
        .failed(3, &["table.csv", "model"]);
    workspace.run("inspect").failed(2, &["model file"]);
}
