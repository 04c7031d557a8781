//! Every note of a training, comparison or backtest is printed where it belongs, and nowhere else.
//!
//! `testdata/notes/cases.json` has the tables, the texts, and the interfaces where a note makes no
//! sense, with the reason. The library and the Python package are tested with the same file.

#![allow(clippy::unwrap_used, reason = "a failed step should show where")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::TestWorkspace;
use serde_json::{Value, json};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/notes")
}

/// One table with what is done with it.
struct NoteCase(Value);

impl NoteCase {
    /// All cases with their defaults.
    fn all() -> Vec<Self> {
        let text = fs::read_to_string(folder().join("cases.json")).unwrap();
        let file: Value = serde_json::from_str(&text).unwrap();
        let cases = file["cases"].as_array().unwrap().iter();
        cases
            .map(|case| Self::with_defaults(case, &file["defaults"]))
            .collect()
    }

    fn clean() -> Self {
        let text = fs::read_to_string(folder().join("cases.json")).unwrap();
        let file: Value = serde_json::from_str(&text).unwrap();
        let settings = json!({"epochs": 300, "learning_rate": 0.05});
        let case = json!({"note": "none", "table": "clean.csv", "settings": settings});
        Self::with_defaults(&case, &file["defaults"])
    }

    fn with_defaults(case: &Value, defaults: &Value) -> Self {
        let mut complete = defaults.clone();
        for (name, value) in case.as_object().unwrap() {
            complete[name] = value.clone();
        }
        Self(complete)
    }

    fn name(&self) -> &str {
        self.0["note"].as_str().unwrap()
    }

    /// What a command says; `None` where it says nothing, for a reason.
    fn text(&self, command: &str) -> Option<&str> {
        let absent = &self.0["absent"];
        if absent[command].is_string() || absent["command line"].is_string() {
            return None;
        }
        let texts = &self.0["text"];
        texts[command].as_str().or_else(|| texts["all"].as_str())
    }

    fn is_verdict(&self, command: &str) -> bool {
        let verdicts = self.0["verdicts"].as_array();
        verdicts.is_some_and(|verdicts| verdicts.contains(&json!(command)))
    }

    /// The words of a command.
    fn words(&self, command: &str) -> Vec<String> {
        let text = |name: &str| self.0[name].as_str().map(str::to_owned);
        let features = self.0["features"].as_array().unwrap().iter();
        let features: Vec<&str> = features.map(|name| name.as_str().unwrap()).collect();
        let mut words: Vec<String> = [command, "--costs", "c_*", "--force"]
            .map(Into::into)
            .into();
        let mut add = |flag: &str, value: String| words.extend([format!("--{flag}"), value]);
        let table = text("table").unwrap();
        if command != "fit" {
            add("data", table.clone());
        }
        add("features", features.join(","));
        add("problem", text("problem").unwrap());
        let method = text("method");
        match command {
            "train" => add("out", "model.safetensors".into()),
            "compare" => {
                add("methods", method.clone().unwrap_or_default());
                add("seeds", "1".into());
                add("out", "compared".into());
            }
            "fit" => {
                let method = self.0["fit"]["method"]
                    .as_str()
                    .map(str::to_owned)
                    .or(method.clone());
                add("method", method.unwrap_or_default());
                add("time", "date".into());
                add("lags", "none".into());
                add("out", "fitted".into());
            }
            _ => {
                add("methods", method.clone().unwrap_or_default());
                add("time", "date".into());
                add("out", "tested".into());
            }
        }
        if let ("train", Some(method)) = (command, method) {
            add("method", method);
        }
        if let ("train" | "compare", Some(split)) = (command, text("split")) {
            add("split", split);
        }
        let groups: &[&str] = match command {
            "fit" => &["options"],
            "backtest" => &["settings", "options", "backtest"],
            _ => &["settings", "options"],
        };
        for (name, value) in groups
            .iter()
            .flat_map(|group| self.0[group].as_object().unwrap())
        {
            let value = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            add(&name.replace('_', "-"), value);
        }
        if command == "fit" {
            words.push(table);
        }
        words
    }

    /// Everything that a command prints.
    fn printed(&self, command: &str) -> String {
        let workspace = TestWorkspace::new();
        for entry in fs::read_dir(folder()).unwrap() {
            let path = entry.unwrap().path();
            fs::copy(
                &path,
                workspace.path(path.file_name().unwrap().to_str().unwrap()),
            )
            .unwrap();
        }
        let output = workspace.run_words(&self.words(command));
        // A baseline that does not suit the table fails, and the others are compared.
        assert!([0, 2].contains(&output.code), "{}", output.err);
        output.err + &output.out
    }
}

/// The cases in which a command does not print what it should.
fn missing_notes(command: &str) -> Vec<String> {
    let mut missing = Vec::new();
    let mut count = 0;
    for case in NoteCase::all() {
        let Some(text) = case.text(command) else {
            continue;
        };
        count += 1;
        let printed = case.printed(command);
        if !printed.contains(text) {
            missing.push(format!("{}: no '{text}' in\n{printed}", case.name()));
        }
    }
    assert!(count > 15, "{count} cases");
    missing
}

fn check(command: &str) {
    let missing = missing_notes(command);
    assert!(missing.is_empty(), "{command}: {}", missing.join("\n"));
    let printed = NoteCase::clean().printed(command);
    for case in NoteCase::all() {
        if let Some(text) = case.text(command)
            && !case.is_verdict(command)
        {
            assert!(!printed.contains(text), "{}: {printed}", case.name());
        }
    }
}

#[test]
fn train_prints_every_note_and_none_about_a_clean_table() {
    check("train");
}

#[test]
fn compare_prints_every_note_and_none_about_a_clean_table() {
    check("compare");
}

#[test]
fn backtest_prints_every_note_and_none_about_a_clean_table() {
    check("backtest");
}

#[test]
fn fit_prints_every_note_and_none_about_a_clean_table() {
    check("fit");
}

#[test]
fn a_comparison_names_one_reference() {
    // A trained method without decisions in its loss may be better than every baseline.
    let workspace = TestWorkspace::new();
    workspace
        .run("generate --benchmark KS16 --instances 200 --out .")
        .succeeded();
    let command = "compare --data table.csv --costs c* --problem problem.toml --seeds 1 \
                   --split order:0.2,0.2 --methods MSE;MAE(O,S) --predictor mlp:16 --epochs 30 \
                   --learning-rate 0.02 --out compared";
    let output = workspace.run(command).succeeded();
    let sentences: Vec<&str> = output
        .out
        .lines()
        .filter(|line| line.contains(" decides better than "))
        .collect();
    let [verdict] = sentences.as_slice() else {
        panic!("{}", output.out);
    };
    let claim = "one seed does not tell whether `MAE(O,S)` decides better than MSE on 40 test rows";
    assert!(verdict.starts_with(claim), "{verdict}");
    // The page has the same sentence, with names as code, and no other about the reference.
    let page = workspace.read("compared/report.html");
    let (_, sentence) = verdict.rsplit_once('`').unwrap();
    assert_eq!(page.matches(sentence).count(), 1, "{sentence}");
}
