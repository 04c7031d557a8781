//! The problem stored with a model: a model file must not make the program read an arbitrary file.

#![cfg(feature = "highs")]
use std::path::Path;

use regretless::problem::{CostColumns, ProblemSpec};
use regretless::{Dataset, Method, Model, Problem, Split, Trainer};
use serde_json::json;

const LP: &str = "minimize\n obj: a + b\nsubject to\n one: a + b >= 1\nbinary\n a b\nend\n";

/// Builds the problem of a model that refers to a file.
fn build(file: &Path, hash: Option<&str>, folder: Option<&Path>) -> Result<ProblemSpec, String> {
    let problem = json!({"kind": "linear", "file": file, "costs": "all"});
    Problem::of_model_metadata(&problem, hash, None, folder)
        .map(|problem| problem.spec().clone())
        .map_err(|error| error.to_string())
}

fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

#[test]
fn a_file_is_used_only_if_its_hash_is_that_of_training() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.lp");
    std::fs::write(&path, LP).unwrap();
    let correct_hash = hash(LP);
    assert!(build(&path, Some(&correct_hash), None).is_ok());
    let message = build(&path, Some(&hash("other")), None).unwrap_err();
    assert!(
        message.contains("changed since training") && message.contains("pass the problem"),
        "{message}"
    );
    let message = build(&path, None, None).unwrap_err();
    assert!(message.contains("has no hash of this file"), "{message}");
    let spec = build(
        Path::new("model.lp"),
        Some(&correct_hash),
        Some(folder.path()),
    )
    .unwrap();
    let ProblemSpec::Linear(linear_file) = spec else {
        panic!("another kind of problem")
    };
    assert_eq!(
        linear_file.file, path,
        "the file in the folder of the model"
    );
    let message = build(Path::new("model.lp"), Some(&correct_hash), None).unwrap_err();
    assert!(message.contains("is missing"), "{message}");
}

#[test]
fn the_content_of_other_files_is_not_shown() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [("secret.txt", "hunter2"), ("secret.lp", "hunter2")] {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let message = build(&path, Some(&hash(LP)), None).unwrap_err();
        assert!(!message.contains("hunter2"), "{message}");
    }
    // Content with the right hash, but not the file name of a linear model.
    let path = folder.path().join("model.txt");
    std::fs::write(&path, LP).unwrap();
    let message = build(&path, Some(&hash(LP)), None).unwrap_err();
    assert!(message.contains("ends in .mps or .lp"), "{message}");
    let directory = folder.path().join("folder.lp");
    std::fs::create_dir(&directory).unwrap();
    assert!(
        build(&directory, Some(&hash(LP)), None)
            .unwrap_err()
            .contains("is missing")
    );
}

#[cfg(unix)]
#[test]
fn a_link_to_a_device_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("endless.lp");
    std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
    assert!(
        build(&link, Some(&hash(LP)), None)
            .unwrap_err()
            .contains("is missing")
    );
}

#[test]
fn a_problem_has_the_hash_and_the_column_names_of_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.lp");
    std::fs::write(&path, LP).unwrap();
    let spec: ProblemSpec =
        serde_json::from_value(json!({"kind": "linear", "file": path})).unwrap();
    let problem = spec.build().unwrap();
    assert_eq!(problem.model_parts().file_hash(), Some(hash(LP).as_str()));
    assert_eq!(problem.names().cost_names().unwrap().to_vec(), ["a", "b"]);
}

/// A model of this problem, trained on a few rows.
fn trained(problem: &Problem) -> Model {
    let features: Vec<[f64; 1]> = (0..20).map(|row| [f64::from(row % 5)]).collect();
    let costs: Vec<[f64; 2]> = features.iter().map(|[x]| [x + 1.0, 4.0 - x]).collect();
    let data = Dataset::from_arrays(&features, &costs).unwrap();
    let data = data.split(Split::random(0)).unwrap();
    let trainer = Trainer::new(Method::mse()).epochs(3);
    trainer.fit(problem, &data).unwrap()
}

#[test]
fn a_model_holds_the_file_of_its_problem() {
    let folder = tempfile::tempdir().unwrap();
    // A name that is no plain word: only the extension matters.
    let path = folder.path().join("depots (v2).2026-11.lp");
    std::fs::write(&path, LP).unwrap();
    let problem = Problem::from_mps(&path, CostColumns::All).unwrap();
    let model = trained(&problem);
    let file = folder.path().join("m.safetensors");
    model.save(&file).unwrap();
    let row = [3.0];
    let decision = model.decide(row.as_slice()).unwrap();
    for change in [None, Some("minimize\n obj: a\nend\n")] {
        match change {
            None => std::fs::remove_file(&path).unwrap(),
            Some(text) => std::fs::write(&path, text).unwrap(),
        }
        let moved = Model::load(&file).unwrap();
        assert_eq!(moved.decide(row.as_slice()).unwrap(), decision);
        assert_eq!(moved.problem().name(), problem.name());
        assert_eq!(moved.problem().spec(), problem.spec());
        assert_eq!(
            moved.problem().kind().model_parts().fingerprint(),
            problem.kind().model_parts().fingerprint()
        );
        assert_eq!(
            moved.problem().kind().model_parts().file_hash(),
            problem.kind().model_parts().file_hash()
        );
        assert_eq!(
            moved.predictor().problem_file().unwrap(),
            Some(LP.as_bytes().to_vec())
        );
    }
    // Trained again from what the model holds, the model is the same.
    let again = trained(Model::load(&file).unwrap().problem());
    assert_eq!(again.predictor(), model.predictor());
}

#[test]
fn a_forged_file_in_a_model_is_refused_as_a_file_is() {
    let problem = json!({"kind": "linear", "file": "model.lp", "costs": "all"});
    let build = |file: &str, content: &str| {
        let mut problem = problem.clone();
        problem["file"] = file.into();
        Problem::of_model_metadata(&problem, Some(&hash(LP)), Some(content.into()), None)
            .map(|_| ())
            .map_err(|e| e.to_string())
    };
    assert_eq!(build("model.lp", LP), Ok(()));
    let message = build("model.lp", &LP.replace(">= 1", ">= 2")).unwrap_err();
    assert!(message.contains("damaged"), "{message}");
    let message = build("model.lp", "minimize\n obj: a +\n").unwrap_err();
    assert!(message.starts_with("model.lp"), "{message}");
    let message = build("model.sh", LP).unwrap_err();
    assert!(message.contains(".mps or .lp"), "{message}");
    let message = build("model.l/../p", LP).unwrap_err();
    assert!(message.contains("model file ends in"), "{message}");
}
