//! Ctrl-C and closed pipes.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use common::{TestWorkspace, folder_content};

/// Starts the program in the workspace.
fn start(workspace: &TestWorkspace, words: &str) -> Child {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("regretless"));
    command
        .current_dir(workspace.path("."))
        .args(words.split_whitespace());
    command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Ends a test that would wait forever; nothing is expected to take that long.
const HANG_LIMIT: Duration = Duration::from_secs(60);

/// Waits until the program has created a file or folder.
fn wait_for(workspace: &TestWorkspace, name: &str) {
    let begun = Instant::now();
    while !workspace.path(name).exists() {
        assert!(begun.elapsed() < HANG_LIMIT, "{name} is not made");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Presses Ctrl-C and waits for the end.
fn interrupted(child: Child) -> Output {
    Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn an_interrupted_comparison_keeps_the_runs_that_finished() {
    let workspace = TestWorkspace::new();
    let child = start(
        &workspace,
        "compare --benchmark SP4x4 --methods MSE;MAE --seeds 500 --split 60,20,20 --out cmp",
    );
    wait_for(&workspace, "cmp/results.jsonl");
    let output = interrupted(child);
    assert_eq!(
        output.status.code(),
        Some(130),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let (runs, table) = (
        workspace.read("cmp/results.jsonl").lines().count(),
        workspace.read("cmp/results.csv").lines().count(),
    );
    assert!((1..1000).contains(&runs), "{runs}");
    assert_eq!(table, runs + 1);
}

#[test]
fn an_interrupted_training_writes_no_model() {
    let workspace = TestWorkspace::with_knapsack();
    let child = start(
        &workspace,
        "train --method MAE(O,S) \
            --data table.csv --costs c* --problem problem.toml --epochs 100000000",
    );
    wait_for(&workspace, "table.csv.labels");
    let output = interrupted(child);
    assert_eq!(output.status.code(), Some(130));
    let error = String::from_utf8(output.stderr).unwrap();
    let expected = "error: interrupted\n hint: finished work is kept; the same command resumes\n";
    assert!(error.ends_with(expected), "{error}");
    assert_eq!(workspace.files(), ["problem.toml", "table.csv"]);
}

/// A history of 120 days in which the sites a to d have costs, and a choice of two of them.
fn write_history(workspace: &TestWorkspace) {
    let mut text = String::from("date,wind,cost_a,cost_b,cost_c,cost_d\n");
    for day in 0..120_u32 {
        let wind = f64::from(day * 37 % 101) / 101.0;
        text += &format!("2024-{:02}-{:02},{wind:.4}", 1 + day / 28, 1 + day % 28);
        for site in 0..4_u32 {
            let noise = f64::from((day * 53 + site * 29) % 97) / 97.0;
            let bend = (f64::from(site) - 4.0 * wind).powi(2);
            text += &format!(",{:.4}", 10.0 + 3.0 * bend + noise);
        }
        text.push('\n');
    }
    workspace.write("table.csv", &text);
    let problem = "kind = \"top_k\"\nitems = 4\nk = 2\nsense = \"minimize\"\n";
    workspace.write("problem.toml", problem);
}

#[test]
fn a_fit_that_was_interrupted_or_killed_ends_with_the_same_bytes() {
    let command = "fit table.csv --problem problem.toml --budget 6 --out result";
    let whole = TestWorkspace::new();
    write_history(&whole);
    whole.run(command).succeeded();
    let expected = folder_content(&whole.path("result"));
    for signal in ["-INT", "-KILL"] {
        let workspace = TestWorkspace::new();
        write_history(&workspace);
        let child = start(&workspace, command);
        // The first cells are stored, and the model is not.
        wait_for(&workspace, "result/cells");
        Command::new("kill")
            .args([signal, &child.id().to_string()])
            .status()
            .unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(!output.status.success(), "{signal}: the fit had ended");
        assert!(!workspace.path("result/model.safetensors").exists());
        workspace.run(command).succeeded();
        let found = folder_content(&workspace.path("result"));
        assert!(
            found.keys().eq(expected.keys()),
            "{signal}: {:?}",
            found.keys()
        );
        for (file, bytes) in &expected {
            assert!(found[file] == *bytes, "{signal}: {file} differs");
        }
    }
}

/// A set-covering problem of Fulkerson, Nemhauser and Trotter's kind: easy to solve nearly, hard to
/// solve.
fn hard_model() -> String {
    let mut text = String::from("Minimize\n obj:");
    for column in 0..120 {
        text.push_str(&format!(" + {} x{column}", 1000 + (column * 7919) % 97));
    }
    text.push_str("\nSubject To\n");
    for row in 0..240_usize {
        let column = |k: usize| (row * (k + 3) * 31 + k * k * 17 + row / 7) % 120;
        let mut columns: Vec<usize> = (0..5).map(column).collect();
        columns.sort_unstable();
        columns.dedup();
        let terms: Vec<String> = columns.iter().map(|j| format!("x{j}")).collect();
        text.push_str(&format!(" r{row}: {} >= 2\n", terms.join(" + ")));
    }
    text.push_str("Binary\n");
    for column in 0..120 {
        text.push_str(&format!(" x{column}\n"));
    }
    text.push_str("End\n");
    text
}

#[test]
fn a_solve_stopped_by_its_time_limit_or_ctrl_c_reports_incumbent_and_bound() {
    let workspace = TestWorkspace::new();
    workspace.write("hard.lp", &hard_model());
    let limited = workspace
        .run("solve hard.lp --seconds 1 --out limited.csv --json")
        .json();
    let child = start(&workspace, "solve hard.lp --out stopped.csv --json");
    std::thread::sleep(Duration::from_secs(1));
    let output = interrupted(child);
    assert_eq!(output.status.code(), Some(130));
    let stopped: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    for (result, status, file) in [
        (&limited[0], "limit reached", "limited.csv"),
        (&stopped[0], "interrupted", "stopped.csv"),
    ] {
        assert_eq!(result["status"], status, "{result}");
        let [objective, bound] = ["objective", "bound"].map(|name| result[name].as_f64().unwrap());
        assert!(bound < objective, "{result}");
        assert!(workspace.read(file).lines().count() > 1);
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    let workspace = TestWorkspace::new();
    let mut child = start(&workspace, "generate --benchmark KS8 --instances 5 --out .");
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(
        (output.status.code(), output.stderr.as_slice()),
        (Some(0), &b""[..])
    );
}
