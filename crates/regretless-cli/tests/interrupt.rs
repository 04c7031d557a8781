//! Ctrl-C and readers that leave early.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::Workshop;

/// Starts the program in the workshop's folder.
fn start(shop: &Workshop, words: &str) -> Child {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("regretless"));
    command
        .current_dir(shop.path("."))
        .args(words.split_whitespace());
    command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Waits until the program has made a file or folder.
fn wait_for(shop: &Workshop, name: &str) {
    let begun = Instant::now();
    while !shop.path(name).exists() {
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "{name} is not made"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn an_interrupted_comparison_keeps_the_runs_that_finished() {
    let shop = Workshop::new();
    let child = start(
        &shop,
        "compare --benchmark SP4x4 --methods MSE;MAE --seeds 500 --split 60,20,20 --out cmp",
    );
    wait_for(&shop, "cmp/results.jsonl");
    Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    let left = child.wait_with_output().unwrap();
    assert_eq!(
        left.status.code(),
        Some(130),
        "{}",
        String::from_utf8_lossy(&left.stderr)
    );
    let (runs, table) = (
        shop.read("cmp/results.jsonl").lines().count(),
        shop.read("cmp/results.csv").lines().count(),
    );
    assert!((1..1000).contains(&runs), "{runs}");
    assert_eq!(table, runs + 1);
}

#[test]
fn an_interrupted_training_writes_no_model() {
    let shop = Workshop::with_knapsack();
    let child = start(
        &shop,
        "train --data table.csv --costs c* --problem problem.toml --epochs 100000000",
    );
    wait_for(&shop, "table.csv.labels");
    Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    let left = child.wait_with_output().unwrap();
    assert_eq!(left.status.code(), Some(130));
    assert_eq!(
        String::from_utf8(left.stderr).unwrap(),
        "error: interrupted\n"
    );
    assert_eq!(shop.files(), ["problem.toml", "table.csv"]);
}

#[test]
fn a_reader_who_leaves_early_is_no_error() {
    let shop = Workshop::new();
    let mut child = start(&shop, "generate --benchmark KS8 --instances 5 --out .");
    drop(child.stdout.take());
    let left = child.wait_with_output().unwrap();
    assert_eq!(
        (left.status.code(), left.stderr.as_slice()),
        (Some(0), &b""[..])
    );
}
