//! Runs aborted at every step that changes files: the same command resumes them and leaves the
//! files of an uninterrupted run. `REGRETLESS_KILLS` of the other tests kills at random times; here
//! every step has its turn.
#![cfg(all(unix, debug_assertions))]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;

use common::{SMALL_EXPERIMENT, TestWorkspace, folder_content};
use serde_json::Value;

/// The signal of an aborted process.
const SIGABRT: i32 = 6;

/// Everything under a folder, with its content as [`comparable`].
fn comparable_content(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let content = folder_content(folder).into_iter();
    content
        .map(|(name, bytes)| (name.clone(), comparable(&name, bytes)))
        .collect()
}

/// The bytes of a file without the seconds that a run took, which differ from run to run.
fn comparable(name: &str, bytes: Vec<u8>) -> Vec<u8> {
    let text = || String::from_utf8(bytes.clone()).unwrap();
    match Path::new(name)
        .extension()
        .and_then(|extension| extension.to_str())
    {
        Some("json") => json_without_seconds(&text()).into(),
        Some("jsonl") => {
            let lines: String = text().lines().map(json_without_seconds).collect();
            lines.into()
        }
        Some("csv") => csv_without_seconds(&text()).into(),
        // Pages and figures show seconds in their text; they follow from `results.json`.
        Some("html" | "svg" | "md") => Vec::new(),
        _ => bytes,
    }
}

fn json_without_seconds(text: &str) -> String {
    let mut value: Value = serde_json::from_str(text).unwrap();
    remove_seconds(&mut value);
    format!("{value}\n")
}

/// Whether a field depends on the time of a run: its seconds, and the Pareto front, which compares
/// them.
fn depends_on_time(name: &str) -> bool {
    name.ends_with("seconds") || name == "on_front"
}

fn remove_seconds(value: &mut Value) {
    match value {
        Value::Object(map) => {
            // A test may run over midnight.
            map.retain(|name, _| !depends_on_time(name) && name != "date");
            // The record of a training has its printed seconds, and hashes of files with seconds.
            map.retain(|_, value| value.get("identity").is_none());
            map.values_mut().for_each(remove_seconds);
        }
        Value::Array(list) => list.iter_mut().for_each(remove_seconds),
        _ => {}
    }
}

/// A table without the columns that depend on the time of a run. No cell of these tests has a
/// quoted comma before such a column, other than in method names without them.
fn csv_without_seconds(text: &str) -> String {
    let is_kept: Vec<bool> = text
        .lines()
        .next()
        .unwrap()
        .split(',')
        .map(|name| !depends_on_time(name))
        .collect();
    let mut kept = String::new();
    for line in text.lines() {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!(cells.len(), is_kept.len(), "{line}");
        for (cell, _) in cells.iter().zip(&is_kept).filter(|(_, is_kept)| **is_kept) {
            kept.push_str(cell);
            kept.push(',');
        }
        kept.push('\n');
    }
    kept
}

/// The words of a command; `|` stands for a space within a word.
fn split_words(command: &str) -> Vec<String> {
    command
        .split_whitespace()
        .map(|word| word.replace('|', " "))
        .collect()
}

/// Runs a command and aborts it at this fail point; whether it got there.
fn is_aborted(workspace: &TestWorkspace, command: &str, fail_point: usize) -> bool {
    let output = Command::new(assert_cmd::cargo::cargo_bin!("regretless"))
        .current_dir(workspace.path("."))
        .args(split_words(command))
        .env("REGRETLESS_ABORT_AT_FAIL_POINT", fail_point.to_string())
        .output()
        .unwrap();
    if output.status.success() {
        return false;
    }
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.signal(), Some(SIGABRT), "{command}: {err}");
    true
}

/// A command whose results are checked.
struct Case<'a> {
    /// Files that exist before the command.
    inputs: &'a [(&'a str, &'a str)],
    command: &'a str,
    /// A file of the results.
    last: &'a str,
    /// Fields of the JSON output that say how much was done now.
    changing_fields: &'a [&'a str],
    /// Fail points there are at least; fewer would mean that they are not reached any more.
    min_fail_points: usize,
}

impl Case<'_> {
    fn workspace(&self) -> TestWorkspace {
        let workspace = TestWorkspace::new();
        for (name, text) in self.inputs {
            workspace.write(name, text);
        }
        workspace
    }

    fn check(&self) {
        let whole = self.outcome(&self.workspace(), self.command);
        let names: Vec<&String> = whole.files.keys().collect();
        assert!(whole.files.contains_key(self.last), "{names:?}");
        let mut fail_point = 1;
        loop {
            let workspace = self.workspace();
            if !is_aborted(&workspace, self.command, fail_point) {
                break;
            }
            self.resume(&workspace, &whole, fail_point);
            fail_point += 1;
        }
        assert!(
            fail_point > self.min_fail_points,
            "{}: only {fail_point} fail points",
            self.command
        );
    }

    /// Repeats an aborted command: also where all results were written, it prints what the
    /// uninterrupted run printed and leaves the same files.
    fn resume(&self, workspace: &TestWorkspace, whole: &Outcome, fail_point: usize) {
        let context = format!("{}, aborted at {fail_point}", self.command);
        let found = self.outcome(workspace, &context);
        assert_eq!(found.json, whole.json, "{context}");
        assert_eq!(
            found.files.keys().collect::<Vec<_>>(),
            whole.files.keys().collect::<Vec<_>>(),
            "{context}"
        );
        for (name, content) in &found.files {
            assert!(*content == whole.files[name], "{context}: {name}");
        }
    }

    /// Runs the command to its end.
    fn outcome(&self, workspace: &TestWorkspace, context: &str) -> Outcome {
        let mut words = split_words(self.command);
        words.push("--json".to_owned());
        let output = workspace.run_words(&words);
        assert_eq!(output.code, 0, "{context}: {}", output.err);
        let mut json: Value = serde_json::from_str(&output.out).unwrap();
        remove_seconds(&mut json);
        // How much of the work an earlier call had done.
        if let Some(fields) = json.as_object_mut() {
            fields.retain(|name, _| !self.changing_fields.contains(&name.as_str()));
        }
        Outcome {
            json,
            files: comparable_content(&workspace.path(".")),
        }
    }
}

/// What a command printed and left.
struct Outcome {
    json: Value,
    files: BTreeMap<String, Vec<u8>>,
}

/// Six rows with two features; one of three costs is chosen.
const TABLE: &str =
    "x,y,c0,c1,c2\n1,0,3,2,1\n2,1,1,4,2\n3,0,2,2,5\n4,1,6,1,3\n5,0,1,3,3\n6,1,4,4,1\n";
const PROBLEM: &str = "kind = 'top_k'\nitems = 3\nk = 1\nsense = 'minimize'\n";
const INPUTS: &[(&str, &str)] = &[("table.csv", TABLE), ("problem.toml", PROBLEM)];

#[test]
fn labeling_aborted_at_any_step_resumes() {
    Case {
        inputs: INPUTS,
        command: "label --data table.csv --costs c* --problem problem.toml --threads 1 \
            --checkpoint-interval 0",
        last: "table.csv.labels/",
        changing_fields: &["solved", "stored"],
        // A file for each of six rows, and at least one merged file with the removal of others.
        min_fail_points: 3 * 7 + 1,
    }
    .check();
}

#[test]
fn training_aborted_at_any_step_resumes() {
    Case {
        inputs: INPUTS,
        // Two stages: the model of the first one is stored. The interval is never reached, because
        // the number of checkpoints would depend on the time that writing takes.
        command: "train --data table.csv --costs c* --problem problem.toml --split 3,2,1 \
            --method MSE|then|SPO+ --epochs 3 --threads 1 --checkpoint-interval 100000 \
            --out m.safetensors",
        last: "m.safetensors",
        changing_fields: &[],
        // Labels, the model of the first stage, the manifest and five results.
        min_fail_points: 3 * 8,
    }
    .check();
}

/// The first checkpoint of an epoch is always due at an interval of 0.
#[test]
fn training_aborted_at_its_first_checkpoint_resumes() {
    let case = Case {
        inputs: INPUTS,
        command: "train --data table.csv --costs c* --problem problem.toml --split 3,2,1 \
            --method MAE --epochs 40 --threads 1 --checkpoint-interval 0 --out m.safetensors",
        last: "m.safetensors",
        changing_fields: &[],
        min_fail_points: 0,
    };
    let labeled_workspace = || {
        let workspace = case.workspace();
        workspace
            .run("label --data table.csv --costs c* --problem problem.toml")
            .succeeded();
        workspace
    };
    let whole = case.outcome(&labeled_workspace(), case.command);
    // The checkpoint is created, complete, and in its place.
    for fail_point in 1..=3 {
        let workspace = labeled_workspace();
        assert!(is_aborted(&workspace, case.command, fail_point));
        assert_eq!(
            workspace
                .path("m.safetensors.checkpoints/epoch.safetensors")
                .exists(),
            fail_point == 3
        );
        case.resume(&workspace, &whole, fail_point);
    }
}

#[test]
fn a_comparison_aborted_at_any_step_resumes() {
    Case {
        inputs: &[],
        command: "compare --benchmark KS8 --seeds 2 --split 20,10,10 --epochs 2 --methods MSE;SPO+ \
            --threads 1 --out cmp",
        last: "cmp/summary.csv",
        changing_fields: &[],
        // Settings, runs, and three tables.
        min_fail_points: 3 + 2 * 4 + 3 * 3,
    }
    .check();
}

#[test]
fn an_experiment_aborted_at_any_step_resumes() {
    Case {
        inputs: &[("small.toml", SMALL_EXPERIMENT)],
        command: "reproduce small.toml --threads 1",
        last: "runs/small/tables.md",
        changing_fields: &[],
        // The context of the problem, two cells, and six results.
        min_fail_points: 3 * (1 + 2 + 6),
    }
    .check();
}

#[test]
fn a_backtest_aborted_at_any_step_resumes() {
    Case {
        inputs: &[
            (
                "problem.toml",
                "kind = \"top_k\"\nitems = 2\nk = 1\nsense = \"minimize\"\n",
            ),
            (
                "table.csv",
                "day,x,c0,c1\n1,0.1,3,4\n2,0.9,5,2\n3,0.4,3,5\n4,0.8,6,2\n5,0.3,1,4\n6,0.7,4,3\n",
            ),
        ],
        command: "backtest --data table.csv --costs c* --problem problem.toml --time day \
            --window 4 --step 1 --epochs 2 --methods MSE --warm-start --threads 1 --out result",
        last: "result/summary.json",
        changing_fields: &[],
        // Labels, settings, two models, eight cells and three results.
        min_fail_points: 3 * (1 + 1 + 2 + 8 + 3),
    }
    .check();
}
