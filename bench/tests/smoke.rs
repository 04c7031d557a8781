//! The smoke size of every suite runs without any peer.

#![allow(clippy::unwrap_used, reason = "a panic shows where a test failed")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

/// Runs a suite in its own folder, with a program in place of Python that always prints this
/// response.
fn run(suite: &str, response: &str) -> (Output, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let python = folder.path().join("python");
    fs::write(
        &python,
        format!("#!/bin/sh\necho log line\necho '{response}'\n"),
    )
    .unwrap();
    fs::set_permissions(&python, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_regretless-bench"));
    command
        .args([suite, "--smoke", "--python"])
        .arg(&python)
        .arg("--out")
        .arg(folder.path());
    (command.output().unwrap(), folder)
}

fn table(folder: &Path, suite: &str) -> String {
    fs::read_to_string(folder.join(suite).join("table-1.csv")).unwrap()
}

#[test]
fn every_suite_runs_without_peers_and_lists_the_missing_ones() {
    for (suite, case, peer) in [
        ("solvers", "TSP20", "gurobi_solver"),
        ("methods", "KS32", "pyepo_methods"),
        ("training", "4950", "torch_training"),
    ] {
        let (output, folder) = run(suite, r#"{"skipped": "it is not installed"}"#);
        let messages = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{suite}: {messages}");
        assert!(
            messages.contains(&format!("{peer} is skipped: it is not installed")),
            "{suite}: {messages}"
        );
        assert!(table(folder.path(), suite).contains(case), "{suite}");
        assert!(folder.path().join(suite).join("results.json").exists());
    }
}

#[test]
fn an_invalid_response_skips_the_peer() {
    let (output, _folder) = run("methods", "not JSON");
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && messages.contains("pyepo_methods is skipped: its response"),
        "{messages}"
    );
}
