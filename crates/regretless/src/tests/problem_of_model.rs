//! The problem stored with a model: a model file must not make the program read an arbitrary file.

#![cfg(feature = "highs")]
use std::path::Path;

use regretless::problem::{ModelProblem, ProblemSpec};
use serde_json::json;

const LP: &str = "minimize\n obj: a + b\nsubject to\n one: a + b >= 1\nbinary\n a b\nend\n";

/// Builds the problem of a model that refers to a file.
fn build(file: &Path, hash: Option<&str>, folder: Option<&Path>) -> Result<ProblemSpec, String> {
    let problem = json!({"kind": "linear", "file": file, "costs": "all"});
    let model_problem = ModelProblem {
        problem: &problem,
        file_hash: hash,
        folder,
    };
    model_problem
        .build()
        .map(|(spec, _)| spec)
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
    assert_eq!(problem.file_hash(), Some(hash(LP).as_str()));
    assert_eq!(problem.cost_names().unwrap().to_vec(), ["a", "b"]);
}
