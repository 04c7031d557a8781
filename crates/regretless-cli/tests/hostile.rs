//! Hostile surroundings: endless files, little memory, full disks, folders that cannot be written,
//! names that are not UTF-8, and two processes in one folder.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

use common::{SMALL_EXPERIMENT, TestWorkspace, folder_content};

/// Address space in kilobytes that is enough for every command here.
const LITTLE_MEMORY: &str = "ulimit -v 1000000";
/// Every write fails, as on a full disk; without the trap the process would be killed.
const FULL_DISK: &str = "trap '' XFSZ; ulimit -f 0";

const LABEL: &str = "label --data table.csv --costs c* --problem problem.toml";
const TRAIN: &str = "train --data table.csv --costs c* --problem problem.toml --method MSE \
    --epochs 2 --out m.safetensors";

#[test]
fn endless_files_end_as_an_error_and_not_as_an_abort() {
    let workspace = TestWorkspace::with_knapsack();
    let extensions = [
        "csv",
        "npy",
        "toml",
        "tsp",
        "vrp",
        "mps",
        "lp",
        "txt",
        "mps.gz",
        "safetensors",
    ];
    for extension in extensions {
        symlink("/dev/zero", workspace.path(&format!("zero.{extension}"))).unwrap();
    }
    for (command, file) in [
        (
            "train --method MAE(O,S) --costs c* --problem problem.toml --data zero.csv",
            "zero.csv",
        ),
        (
            "train --method MAE(O,S) --problem problem.toml --cost-data zero.npy --data zero.npy",
            "zero.npy",
        ),
        (
            "train --method MAE(O,S) --data table.csv --costs c* --problem zero.toml",
            "zero.toml",
        ),
        ("train --config zero.toml", "zero.toml"),
        (
            "train --benchmark KS8 --init-model zero.safetensors",
            "zero.safetensors",
        ),
        (
            "evaluate --model zero.safetensors --data table.csv",
            "zero.safetensors",
        ),
        (
            "evaluate --predictions zero.csv --data table.csv --costs c* --problem problem.toml",
            "zero.csv",
        ),
        ("reproduce zero.toml", "zero.toml"),
        ("solve zero.tsp", "zero.tsp"),
        ("solve zero.vrp", "zero.vrp"),
        ("solve zero.mps", "zero.mps"),
        ("solve zero.lp", "zero.lp"),
        ("solve zero.txt", "zero.txt"),
        ("solve zero.mps.gz", "zero.mps.gz"),
    ] {
        workspace
            .run_limited(LITTLE_MEMORY, command)
            .refused(3, &[file]);
    }
}

#[test]
fn sizes_in_a_settings_file_are_refused_or_cut() {
    let workspace = TestWorkspace::new();
    let train = "train --benchmark KS8 --split 20,10,10 --epochs 1 --method MAE(O,S)";
    for (setting, code) in [
        ("threads = 65536", 2),
        ("threads = 1000000000000000000", 2),
        ("predictor = 'mlp:1000000000000'", 2),
        ("split = '18446744073709551615,1,1'", 2),
        // At most all rows are one batch.
        ("batch_size = 1000000000000000000", 0),
    ] {
        workspace.write("s.toml", setting);
        // Flags would override the file.
        let words = match setting.split_once(' ').unwrap().0 {
            "split" => train.replace(" --split 20,10,10", ""),
            _ => train.to_owned(),
        };
        let words = format!("{words} --config s.toml --out m.safetensors --force");
        let output = workspace.run_limited(LITTLE_MEMORY, &words);
        assert_eq!(output.code, code, "{setting}: {}", output.err);
    }
}

/// Files under a folder with their bytes. Empty folders may stay.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut content = folder_content(folder);
    content.retain(|name, _| !name.ends_with('/'));
    content
}

#[test]
fn a_full_disk_is_reported_and_the_same_command_succeeds_with_room() {
    for (command, file) in [
        (LABEL, "table.csv.labels"),
        (TRAIN, "m.safetensors"),
        (
            "compare --benchmark KS8 --methods MSE --seeds 2 --split 20,10,10 --epochs 1 --out cmp",
            "cmp/",
        ),
        ("reproduce small.toml", "runs/small/"),
        (
            "generate --benchmark KS8 --instances 5 --out made",
            "made/table.csv",
        ),
        (
            "generate --benchmark KS8 --instances 5 --format npy --out made",
            "made/costs.npy",
        ),
    ] {
        let workspace = TestWorkspace::with_knapsack();
        workspace.write("small.toml", SMALL_EXPERIMENT);
        let before = files(&workspace.path("."));
        workspace
            .run_limited(FULL_DISK, command)
            .refused(3, &[file]);
        assert_eq!(files(&workspace.path(".")), before, "{command} left files");
        workspace.run(command).succeeded();
        let after = files(&workspace.path("."));
        assert!(
            after.keys().any(|name| name.starts_with(file)),
            "{command}: {:?}",
            after.keys()
        );
    }
}

#[test]
fn a_full_disk_keeps_the_file_that_decisions_would_replace() {
    let workspace = TestWorkspace::with_knapsack();
    workspace.run(TRAIN).succeeded();
    workspace.write("d.csv", "mine");
    workspace
        .run_limited(
            FULL_DISK,
            "decide --model m.safetensors --data table.csv --out d.csv --force",
        )
        .refused(3, &["d.csv"]);
    assert_eq!(workspace.read("d.csv"), "mine");
}

#[test]
fn results_that_cannot_be_printed_are_a_failure() {
    let workspace = TestWorkspace::with_knapsack();
    let output = Command::new(assert_cmd::cargo::cargo_bin!("regretless"))
        .current_dir(workspace.path("."))
        .args(TRAIN.split_whitespace())
        .stdout(fs::File::options().write(true).open("/dev/full").unwrap())
        .output()
        .unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{err}");
    assert!(err.contains("standard output"), "{err}");
    assert!(workspace.path("m.safetensors").exists(), "the work is kept");
}

/// Nobody can create files in `/proc`, not even root, for whom permissions do not count.
#[test]
fn folders_that_cannot_be_written_are_named() {
    let workspace = TestWorkspace::with_knapsack();
    symlink("/proc", workspace.path("table.csv.labels")).unwrap();
    workspace
        .run(LABEL)
        .refused(3, &["table.csv.labels", "could not be written"]);
    // A training does not need to store its labels.
    let output = workspace.run(TRAIN).succeeded();
    assert!(output.err.contains("could not be stored"), "{}", output.err);
    for command in [
        TRAIN.replace("m.safetensors", "/proc/m.safetensors"),
        "generate --benchmark KS8 --instances 5 --out /proc".to_owned(),
        "compare --benchmark KS8 --methods MSE --seeds 2 --epochs 1 --out /proc/cmp".to_owned(),
        "decide --model m.safetensors --data table.csv --out /proc/d.csv".to_owned(),
    ] {
        workspace.run(&command).refused(3, &["/proc/"]);
    }
}

#[test]
fn files_whose_names_are_not_utf8_are_read_and_written() {
    let workspace = TestWorkspace::with_knapsack();
    workspace.run(TRAIN).succeeded();
    let odd = |name: &str| {
        let mut bytes = b"odd\xff".to_vec();
        bytes.extend(name.bytes());
        OsString::from_vec(bytes)
    };
    let words = |command: &str| -> Vec<OsString> {
        let plain = command.split(' ');
        plain
            .map(|word| match word.strip_prefix("odd") {
                Some(name) => odd(name),
                None => word.into(),
            })
            .collect()
    };
    fs::copy(
        workspace.path("m.safetensors"),
        workspace.path(".").join(odd(".safetensors")),
    )
    .unwrap();
    fs::copy(
        workspace.path("table.csv"),
        workspace.path(".").join(odd(".csv")),
    )
    .unwrap();
    fs::write(
        workspace.path(".").join(odd(".txt")),
        "1\n3 1 0\n6 5 4\n2 3 4\n6\n",
    )
    .unwrap();
    for command in [
        "evaluate --model odd.safetensors --data odd.csv",
        "decide --model odd.safetensors --data odd.csv --out odd-d.csv",
        "solve odd.txt",
    ] {
        workspace.run_words(&words(command)).succeeded();
    }
    assert!(workspace.path(".").join(odd("-d.csv")).exists());
    // HiGHS reads model files itself, by names in UTF-8.
    fs::write(workspace.path(".").join(odd(".lp")), "end\n").unwrap();
    workspace
        .run_words(&words("solve odd.lp"))
        .refused(3, &["odd", ".lp", "UTF-8"]);
    fs::write(workspace.path(".").join(odd(".csv")), "x,c0\n1,high\n").unwrap();
    workspace
        .run_words(&words("evaluate --model odd.safetensors --data odd.csv"))
        .failed(3, &["odd", ".csv"]);
}

/// Runs a command twice at the same time; exit codes and standard error of both.
fn run_twice(workspace: &TestWorkspace, command: &str) -> Vec<(i32, String)> {
    let children: Vec<_> = (0..2)
        .map(|_| {
            Command::new(assert_cmd::cargo::cargo_bin!("regretless"))
                .current_dir(workspace.path("."))
                .args(command.split_whitespace())
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    let mut ended = Vec::new();
    for child in children {
        let output = child.wait_with_output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        ended.push((output.status.code().unwrap_or(-1), err));
    }
    ended
}

#[test]
fn two_processes_label_one_table() {
    let (alone, shared) = (
        TestWorkspace::with_knapsack(),
        TestWorkspace::with_knapsack(),
    );
    let command = format!("{LABEL} --checkpoint-interval 0");
    alone.run(&command).succeeded();
    for (code, err) in run_twice(&shared, &command) {
        assert_eq!(code, 0, "{err}");
    }
    assert_eq!(files(&shared.path(".")), files(&alone.path(".")));
}

#[test]
fn of_two_trainings_to_one_model_one_is_refused() {
    let (alone, shared) = (
        TestWorkspace::with_knapsack(),
        TestWorkspace::with_knapsack(),
    );
    let command = format!("{TRAIN} --checkpoint-interval 0").replace("--epochs 2", "--epochs 200");
    alone.run(&command).succeeded();
    let mut ended = run_twice(&shared, &command);
    ended.sort();
    // By the lock of the first one, or because its model exists.
    let codes: Vec<i32> = ended.iter().map(|(code, _)| *code).collect();
    assert_eq!(codes, [0, 3], "{ended:?}");
    assert_eq!(shared.bytes("m.safetensors"), alone.bytes("m.safetensors"));
    assert_eq!(
        files(&shared.path(".")).into_keys().collect::<Vec<_>>(),
        files(&alone.path(".")).into_keys().collect::<Vec<_>>()
    );
}

#[test]
fn two_processes_run_one_experiment() {
    let (alone, shared) = (TestWorkspace::new(), TestWorkspace::new());
    for workspace in [&alone, &shared] {
        workspace.write("small.toml", SMALL_EXPERIMENT);
    }
    alone.run("reproduce small.toml").succeeded();
    for (code, err) in run_twice(&shared, "reproduce small.toml") {
        assert_eq!(code, 0, "{err}");
    }
    let names = |workspace: &TestWorkspace| {
        let files = files(&workspace.path("."));
        files.into_keys().collect::<Vec<_>>()
    };
    assert_eq!(names(&shared), names(&alone));
    // Regrets do not depend on who has run a cell; seconds do.
    let regrets = |workspace: &TestWorkspace| {
        let text = workspace.read("runs/small/results.json");
        let results: serde_json::Value = serde_json::from_str(&text).unwrap();
        let methods = results["problems"][0]["methods"]
            .as_array()
            .unwrap()
            .clone();
        methods
            .iter()
            .map(|method| method["regret"]["mean"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(regrets(&shared), regrets(&alone));
    assert!(
        regrets(&alone).iter().all(serde_json::Value::is_number),
        "{:?}",
        regrets(&alone)
    );
}
