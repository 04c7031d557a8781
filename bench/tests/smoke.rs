//! The smoke size of every race runs without any peer.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot go on should say where"
)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

/// Runs a race in a folder of its own, with a Python that answers this line whatever it is asked.
fn run(race: &str, answer: &str) -> (Output, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let python = folder.path().join("python");
    fs::write(
        &python,
        format!("#!/bin/sh\necho chatter\necho '{answer}'\n"),
    )
    .unwrap();
    fs::set_permissions(&python, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_regretless-bench"));
    command
        .args([race, "--smoke", "--python"])
        .arg(&python)
        .arg("--out")
        .arg(folder.path());
    (command.output().unwrap(), folder)
}

fn table(folder: &Path, race: &str) -> String {
    fs::read_to_string(folder.join(race).join("table-1.csv")).unwrap()
}

#[test]
fn every_race_runs_without_peers_and_says_who_is_missing() {
    for (race, case, peer) in [
        ("solvers", "TSP20", "gurobi_solver"),
        ("methods", "KS32", "pyepo_methods"),
        ("training", "4950", "torch_training"),
    ] {
        let (output, folder) = run(race, r#"{"skipped": "it is not installed"}"#);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{race}: {said}");
        assert!(
            said.contains(&format!("{peer} is skipped: it is not installed")),
            "{race}: {said}"
        );
        assert!(table(folder.path(), race).contains(case), "{race}");
        assert!(folder.path().join(race).join("results.json").exists());
    }
}

#[test]
fn an_answer_that_is_not_understood_skips_the_peer() {
    let (output, _folder) = run("methods", "no idea");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && said.contains("pyepo_methods is skipped: its answer"),
        "{said}"
    );
}
