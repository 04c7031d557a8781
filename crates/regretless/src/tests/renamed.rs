//! Renamed words in settings, optimizers and problems.

use crate::optimizer::Optimizer;
use crate::problem::ProblemSpec;
use crate::renamed::{explain, new_word};
use crate::settings::TrainingSettings;

#[test]
fn the_new_word_depends_on_the_valid_words() {
    assert_eq!(new_word("loss", |word| word == "methods"), Some("methods"));
    assert_eq!(new_word("loss", |word| word == "method"), Some("method"));
    assert_eq!(new_word("loss", |_| false), None);
    assert_eq!(new_word("learning_rate", |_| true), None);
}

#[test]
fn errors_of_settings_and_problems_give_the_new_word() {
    let setting = |text: &str| serde_json::from_str::<TrainingSettings>(text).unwrap_err();
    let optimizer = |text: &str| serde_json::from_str::<Optimizer>(text).unwrap_err();
    let problem = |text: &str| serde_json::from_str::<ProblemSpec>(text).unwrap_err();
    for (error, new) in [
        (
            setting(r#"{"join_validation": true}"#),
            "train_on_validation",
        ),
        (setting(r#"{"decay": true}"#), "lr_decay"),
        (
            optimizer(r#"{"kind": "adam", "decay": 0.1}"#),
            "weight_decay",
        ),
        (problem(r#"{"kind": "shortest_path"}"#), "grid_path"),
        (problem(r#"{"kind": "given"}"#), "external"),
    ] {
        let message = explain(&error.to_string());
        assert!(message.contains(&format!("'{new}' now")), "{message}");
    }
    assert_eq!(explain("unknown field `size`"), "unknown field `size`");
}
