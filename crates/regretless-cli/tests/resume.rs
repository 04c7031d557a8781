//! Work interrupted at any moment resumes and finishes with the same bytes.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fs;
use std::path::PathBuf;

use common::{TestWorkspace, folder_content, killed_after, kills, moment};

/// The single label file of a table; only temporary files of killed runs may be next to it.
fn labels(workspace: &TestWorkspace) -> Vec<u8> {
    let entries = fs::read_dir(workspace.path("table.csv.labels"))
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let files: Vec<PathBuf> = entries
        .filter(|path| path.extension().is_some_and(|e| e == "safetensors"))
        .collect();
    assert_eq!(files.len(), 1, "{files:?}");
    fs::read(&files[0]).unwrap()
}

fn forget(workspace: &TestWorkspace) {
    fs::remove_dir_all(workspace.path("table.csv.labels")).unwrap();
}

fn tours() -> TestWorkspace {
    let workspace = TestWorkspace::new();
    workspace
        .run("generate --benchmark TSP15 --instances 400 --out .")
        .succeeded();
    workspace
}

/// The same tours, each through some of the nodes.
fn tours_of_the_day() -> TestWorkspace {
    let workspace = tours();
    add_columns(&workspace, "visit_", 15, |row, node| {
        // Seven of eight nodes are visited.
        if (row * 31 + node * 17 + row * node) % 8 == 0 {
            "0".into()
        } else {
            "1".into()
        }
    });
    workspace.write(
        "problem.toml",
        "kind = 'tsp'\nnodes = 15\npresent = { columns = 'visit_*' }\n",
    );
    workspace
}

/// Adds numbered columns to the table; `cell` has the cell of a row and column.
fn add_columns(
    workspace: &TestWorkspace,
    name: &str,
    count: usize,
    cell: impl Fn(usize, usize) -> String,
) {
    let mut text = String::new();
    for (line, content) in workspace.read("table.csv").lines().enumerate() {
        text.push_str(content);
        for column in 0..count {
            let cell = match line.checked_sub(1) {
                Some(row) => cell(row, column),
                None => format!("{name}{column}"),
            };
            text.push(',');
            text.push_str(&cell);
        }
        text.push('\n');
    }
    workspace.write("table.csv", &text);
}

const LABEL: &str = "label --data table.csv --costs c* --problem problem.toml";

#[test]
fn labeling_killed_repeatedly_finishes_with_the_same_bytes() {
    check_killed_labeling(&tours());
}

#[test]
fn labeling_sets_per_row_killed_repeatedly_finishes_with_the_same_bytes() {
    check_killed_labeling(&tours_of_the_day());
}

fn check_killed_labeling(workspace: &TestWorkspace) {
    workspace.run(LABEL).succeeded();
    let whole = labels(workspace);
    forget(workspace);
    let mut interrupted = 0;
    for kill in 0..kills() {
        let words: Vec<String> = LABEL
            .split(' ')
            .chain(["--checkpoint-interval", "0"])
            .map(str::to_owned)
            .collect();
        interrupted += u64::from(killed_after(workspace, &words, moment(kill + 1, 60)));
        if kill % 5 == 4 {
            workspace.run(LABEL).succeeded();
            assert_eq!(labels(workspace), whole);
            forget(workspace);
        }
    }
    workspace.run(LABEL).succeeded();
    assert_eq!(labels(workspace), whole);
    assert!(
        interrupted > kills() / 8,
        "only {interrupted} runs were killed at work"
    );
}

#[test]
fn shards_and_threads_do_not_change_the_labels() {
    check_shards_and_threads(&tours());
}

#[test]
fn shards_and_threads_do_not_change_the_labels_of_sets_per_row() {
    check_shards_and_threads(&tours_of_the_day());
}

fn check_shards_and_threads(workspace: &TestWorkspace) {
    workspace.run(LABEL).succeeded();
    let whole = labels(workspace);
    for threads in [1, 2, 3, 8] {
        for shards in [1, 2, 7] {
            forget(workspace);
            for shard in (1..=shards).rev() {
                let words = format!("{LABEL} --threads {threads} --shard {shard}/{shards} --json");
                let output = workspace.run(&words).json();
                assert_eq!(output["rows"], 400);
                assert_eq!(output["known"] == 400, shard == 1, "{output}");
            }
            let output = workspace.run(&format!("{LABEL} --json")).json();
            assert_eq!(
                (&output["solved"], &output["stored"]),
                (&0.into(), &400.into())
            );
            assert_eq!(
                labels(workspace),
                whole,
                "{threads} threads, {shards} shards"
            );
        }
    }
}

#[test]
fn damaged_and_unrelated_partial_files_are_solved_again() {
    let workspace = tours();
    workspace.run(LABEL).succeeded();
    let whole = labels(&workspace);
    forget(&workspace);
    for shard in 1..=3 {
        workspace
            .run(&format!("{LABEL} --shard {shard}/3"))
            .succeeded();
    }
    let files = fs::read_dir(workspace.path("table.csv.labels")).unwrap();
    let path = files.last().unwrap().unwrap().path();
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    fs::write(&path, &bytes).unwrap();
    let name = path.file_name().unwrap().to_str().unwrap();
    let foreign = path.with_file_name(format!("{}-foreign.safetensors", &name[..16]));
    fs::write(&foreign, "instance,item\n").unwrap();
    let output = workspace.run(&format!("{LABEL} --json")).succeeded();
    assert!(
        output
            .err
            .contains("foreign.safetensors: labels could not be used")
            && output.err.matches("could not be used").count() == 2,
        "{}",
        output.err
    );
    assert_eq!(labels(&workspace), whole);
    assert!(!foreign.exists());
}

#[test]
fn a_shard_that_does_not_exist_is_refused() {
    let workspace = tours();
    for shard in ["0/2", "3/2", "2", "a/b"] {
        workspace
            .run(&format!("{LABEL} --shard {shard}"))
            .failed(2, &["is not a shard", "2/7"]);
    }
}

/// The bytes of the model after this number of kills, and the number of kills that hit a running
/// program.
fn trained(workspace: &TestWorkspace, words: &[String], kills: u64) -> (Vec<u8>, u64) {
    let common = "train \
        --data table.csv --costs c* --problem problem.toml --out m.safetensors \
        --checkpoint-interval 0";
    let words: Vec<String> = common
        .split(' ')
        .map(str::to_owned)
        .chain(words.iter().cloned())
        .collect();
    let mut interrupted = 0;
    for kill in 0..kills {
        interrupted += u64::from(killed_after(workspace, &words, moment(kill + 7, 120)));
        // A model without a manifest was finished before the kill; the same command would only
        // report it.
        if workspace.path("m.safetensors").exists()
            && !workspace
                .path("m.safetensors.checkpoints/results.json")
                .exists()
        {
            WRITTEN
                .iter()
                .for_each(|name| fs::remove_file(workspace.path(name)).unwrap());
        }
    }
    workspace.run_words(&words).succeeded();
    assert!(!workspace.path("m.safetensors.checkpoints").exists());
    let model = workspace.bytes("m.safetensors");
    WRITTEN
        .iter()
        .for_each(|name| fs::remove_file(workspace.path(name)).unwrap());
    (model, interrupted)
}

#[test]
fn training_killed_repeatedly_finishes_with_the_same_bytes() {
    let workspace = TestWorkspace::new();
    workspace
        .run("generate --benchmark SP4x4 --instances 120 --out .")
        .succeeded();
    check_killed_training(
        &workspace,
        &[
            "--method MAE(O,S) --epochs 400",
            "--method MSE(C,O) --epochs 200",
            "--method MSE(O_S) --epochs 200 --fused false",
            "--method MSE(EIC(3)) --epochs 100",
            "--method MSE --epochs 100 --predictor mlp:8 --optimizer sgd:momentum=0.9",
            "--method SPO+|cache|20%|then|AI-MLE --epochs 60",
        ],
    );
}

#[test]
fn training_with_sets_per_row_killed_repeatedly_finishes_with_the_same_bytes() {
    let workspace = TestWorkspace::new();
    workspace
        .run("generate --benchmark KS8 --instances 120 --out .")
        .succeeded();
    add_columns(&workspace, "truck_", 1, |row, _| {
        format!("{}.5", 8 + row % 9)
    });
    add_columns(&workspace, "offer_", 8, |row, item| {
        u8::from((row * 5 + item * 3 + row * item) % 7 != 0).to_string()
    });
    add_columns(&workspace, "fee_", 8, |row, item| {
        format!("-0.{}", (row + 3 * item) % 9)
    });
    let problem = workspace.read("problem.toml");
    let weights = problem.lines().find(|line| line.starts_with("weights"));
    workspace.write(
        "problem.toml",
        &format!(
            "kind = 'knapsack'\n{}\ncapacity = [20.0, {{ column = 'truck_0' }}]\n\
             present = {{ columns = 'offer_*' }}\nknown = {{ columns = 'fee_*' }}\n",
            weights.unwrap()
        ),
    );
    check_killed_training(
        &workspace,
        &[
            "--method MAE(O,S) --epochs 150",
            "--method MSE(C,O) --epochs 80",
            "--method MAP|cache|20% --epochs 40",
            "--method SPO+|cache|20%|then|NCE --epochs 30",
        ],
    );
}

fn check_killed_training(workspace: &TestWorkspace, recipes: &[&str]) {
    let mut interrupted = 0;
    for words in recipes {
        let words: Vec<String> = words
            .split(' ')
            .map(|word| word.replace('|', " "))
            .collect();
        let (whole, _) = trained(workspace, &words, 0);
        let (resumed, stopped) = trained(workspace, &words, kills().div_ceil(recipes.len() as u64));
        assert!(whole == resumed, "{words:?}");
        interrupted += stopped;
    }
    assert!(
        interrupted > kills() / 8,
        "only {interrupted} runs were killed at work"
    );
}

const TRAIN: &str = "train --data table.csv --costs c* --problem problem.toml --method MSE \
    --epochs \
    3 --out m.safetensors";
const COMPLETE: &str = "this training was complete; its results are unchanged";
const WRITTEN: [&str; 5] = [
    "m.epochs.csv",
    "m.epochs.jsonl",
    "m.report.json",
    "m.settings.toml",
    "m.safetensors",
];

/// The files on disk after a kill at each step of writing the results: the manifest, then one more
/// file each time, then some checkpoints removed.
#[test]
fn training_killed_while_writing_results_resumes_with_the_same_command() {
    let workspace = TestWorkspace::with_knapsack();
    workspace.run(TRAIN).succeeded();
    let model = workspace.bytes("m.safetensors");
    for name in WRITTEN {
        fs::remove_file(workspace.path(name)).unwrap();
    }
    for step in 0..=WRITTEN.len() {
        let files = killed_in_writing(&workspace, step);
        let output = workspace.run(TRAIN);
        assert_eq!(
            output.code, 0,
            "{step} files written ({files:?}): {}",
            output.err
        );
        assert_eq!(
            output.err.contains(COMPLETE),
            step == WRITTEN.len(),
            "{step} files written: {}",
            output.err
        );
        assert_eq!(
            workspace.bytes("m.safetensors"),
            model,
            "{step} files written"
        );
        assert!(!workspace.path("m.safetensors.checkpoints").exists());
        for name in WRITTEN {
            fs::remove_file(workspace.path(name)).unwrap();
        }
    }
}

/// The state after this number of files is written.
fn killed_in_writing(workspace: &TestWorkspace, files: usize) -> Vec<String> {
    // A complete run keeps its manifest if its folder is not empty and cannot be removed.
    let progress = workspace.path("m.safetensors.checkpoints");
    fs::create_dir_all(progress.join("kept")).unwrap();
    fs::write(progress.join("kept/x"), "x").unwrap();
    let output = workspace.run(TRAIN);
    assert_eq!(output.code, 3, "{}", output.err);
    fs::remove_dir_all(progress.join("kept")).unwrap();
    assert!(
        progress.join("results.json").exists(),
        "{:?}",
        workspace.files()
    );
    for name in &WRITTEN[files..] {
        fs::remove_file(workspace.path(name)).unwrap();
    }
    workspace.files()
}

#[test]
fn the_lock_of_a_killed_run_is_removed_by_the_next_one_also_if_it_is_refused() {
    let workspace = TestWorkspace::with_knapsack();
    workspace.run(TRAIN).succeeded();
    let folder = workspace.path("m.safetensors.checkpoints");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("lock"), "").unwrap();
    let other = TRAIN.replace("MSE", "MAE");
    workspace
        .run(&other)
        .failed(3, &["m.safetensors", "exists already"]);
    assert!(!folder.exists());
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("lock"), "").unwrap();
    workspace.run(TRAIN).succeeded();
    assert!(!folder.exists());
}

/// A run may be killed after its last step, when nothing shows that it did not end.
#[test]
fn a_complete_training_is_reported_again_and_any_other_one_is_refused() {
    let workspace = TestWorkspace::with_knapsack();
    let page = format!("{TRAIN} --report page.html");
    let whole = workspace.run(&page).succeeded();
    let whole_json = workspace
        .run(&format!("{} --json", TRAIN.replace("m.safe", "n.safe")))
        .succeeded();
    let names = [WRITTEN.as_slice(), &["page.html"]].concat();
    let bytes = || -> Vec<Vec<u8>> { names.iter().map(|name| workspace.bytes(name)).collect() };
    let written = bytes();
    let is_repeated = |command: &str, out: &str| {
        let reported = workspace.run(command).succeeded();
        assert_eq!(reported.out, out, "{command}");
        assert!(reported.err.contains(COMPLETE), "{}", reported.err);
        assert_eq!(bytes(), written, "{command}");
        assert!(!workspace.path("m.safetensors.checkpoints").exists());
    };
    is_repeated(&page, &whole.out);
    let without_page: String = whole.out.replace("report in page.html\n", "");
    is_repeated(TRAIN, &without_page);
    let json = format!("{} --json", TRAIN.replace("m.safe", "n.safe"));
    is_repeated(&json, &whole_json.out);

    let is_refused = |command: &str| {
        workspace.run(command).failed(3, &["exists already"]);
        assert_eq!(bytes(), written, "{command}");
    };
    is_refused(&TRAIN.replace("--epochs 3", "--epochs 4"));
    is_refused(&TRAIN.replace("MSE", "MAE"));
    is_refused(&format!("{TRAIN} --report m.report.json"));
    // The same settings of other rows.
    let table = workspace.read("table.csv");
    let (rows, last) = table.trim_end().rsplit_once('\n').unwrap();
    workspace.write("table.csv", &format!("{rows}\n"));
    is_refused(TRAIN);
    workspace.write("table.csv", &format!("{rows}\n{last}\n"));
    is_repeated(TRAIN, &without_page);
    // A file that was changed since.
    let epochs = workspace.read("m.epochs.csv");
    workspace.write("m.epochs.csv", "mine");
    workspace.run(TRAIN).failed(3, &["exists already"]);
    assert_eq!(workspace.read("m.epochs.csv"), "mine");
    workspace.write("m.epochs.csv", &epochs);
    workspace.write("page.html", "mine");
    workspace.run(&page).failed(3, &["page.html", "exists"]);
    assert_eq!(workspace.read("page.html"), "mine");
}

#[test]
fn a_complete_backtest_and_fit_are_reported_again_and_other_settings_refused() {
    let workspace = TestWorkspace::new();
    let rows = "1,0.1,3,4\n2,0.9,5,2\n3,0.4,3,5\n4,0.8,6,2\n5,0.3,1,4\n6,0.7,4,3\n7,0.2,2,4\n\
                8,0.6,5,3\n9,0.5,3,3.5\n10,0.1,2,6\n11,0.9,6,1\n12,0.4,3,4\n";
    workspace.write("table.csv", &format!("day,x,c0,c1\n{rows}"));
    workspace.write(
        "problem.toml",
        "kind = 'top_k'\nitems = 2\nk = 1\nsense = 'minimize'\n",
    );
    let backtest = "backtest --data table.csv --costs c* --problem problem.toml --time day \
                    --window 6 --step 2 --epochs 2 --methods MSE --out tested --report page.html";
    let fit = "fit table.csv --costs c* --problem problem.toml --time day --method MSE \
               --lags none --out fitted";
    for (command, other, folder, name) in [
        (
            backtest,
            backtest.replace("MSE", "MAE"),
            "tested",
            "backtest",
        ),
        (fit, fit.replace("MSE", "MAE"), "fitted", "fit"),
    ] {
        let whole = workspace.run(command).succeeded();
        let written = folder_content(&workspace.path(folder));
        let reported = workspace.run(command).succeeded();
        assert_eq!(reported.out, whole.out);
        let note = format!("this {name} was complete; its results are unchanged");
        assert!(reported.err.contains(&note), "{}", reported.err);
        assert!(!whole.err.contains(&note), "{}", whole.err);
        let now = folder_content(&workspace.path(folder));
        assert_eq!(
            now.keys().collect::<Vec<_>>(),
            written.keys().collect::<Vec<_>>()
        );
        assert!(now == written, "{name}");
        workspace.run(&other).failed(3, &["exists already"]);
        assert!(folder_content(&workspace.path(folder)) == written);
    }
    workspace.write("page.html", "mine");
    workspace.run(backtest).refused(3, &["page.html", "exists"]);
    assert_eq!(workspace.read("page.html"), "mine");
}

#[test]
fn a_complete_comparison_is_reported_again_with_and_without_the_lock_of_a_killed_run() {
    let compare = "compare --benchmark KS8 --seeds 1 --split 20,10,10 --epochs 2 --methods MSE \
        --out cmp --report page.html";
    let workspace = TestWorkspace::new();
    let whole = workspace.run(compare).succeeded();
    let files = [
        "summary.csv",
        "results.csv",
        "results.jsonl",
        "settings.toml",
    ]
    .map(|name| format!("cmp/{name}"));
    let bytes = || files.each_ref().map(|name| workspace.bytes(name));
    let written = bytes();
    for has_lock in [false, true, false] {
        if has_lock {
            fs::write(workspace.path("cmp/lock"), "").unwrap();
        }
        let other = compare.replace("--epochs 2", "--epochs 3");
        workspace.run(&other).failed(3, &["exists already"]);
        let reported = workspace.run(compare).succeeded();
        assert_eq!(reported.out, whole.out);
        assert!(
            reported
                .err
                .contains("this comparison was complete; its results are unchanged"),
            "{}",
            reported.err
        );
        assert_eq!(bytes(), written);
        assert!(!workspace.path("cmp/lock").exists());
    }
}

#[test]
fn results_of_another_run_are_never_replaced_after_a_kill() {
    let workspace = TestWorkspace::with_knapsack();
    killed_in_writing(&workspace, 2);
    let other = TRAIN.replace("MSE", "MAE");
    workspace
        .run(&other)
        .failed(3, &["m.epochs.csv", "exists already"]);
    workspace.write("m.epochs.csv", "mine");
    workspace
        .run(TRAIN)
        .failed(3, &["m.epochs.csv", "exists already"]);
    assert_eq!(workspace.read("m.epochs.csv"), "mine");
    workspace.run(&format!("{TRAIN} --force")).succeeded();
    workspace
        .run(&other)
        .failed(3, &["m.safetensors", "exists already"]);
}

#[test]
fn a_second_training_to_one_model_is_refused_while_the_first_runs() {
    let workspace = TestWorkspace::with_knapsack();
    fs::create_dir(workspace.path("m.safetensors.checkpoints")).unwrap();
    let lock = fs::File::create(workspace.path("m.safetensors.checkpoints/lock")).unwrap();
    lock.try_lock().unwrap();
    workspace
        .run(TRAIN)
        .failed(3, &["m.safetensors.checkpoints", "another training"]);
    drop(lock);
    workspace.run(TRAIN).succeeded();
    assert!(!workspace.path("m.safetensors.checkpoints").exists());
}

#[test]
fn temporary_files_of_killed_runs_are_removed() {
    let workspace = TestWorkspace::with_knapsack();
    workspace.run(LABEL).succeeded();
    let whole = labels(&workspace);
    let folder = workspace.path("table.csv.labels");
    for place in [
        folder.join(".regretless-dead00.tmp"),
        workspace.path(".regretless-dead00.tmp"),
    ] {
        fs::write(place, "half").unwrap();
    }
    workspace.run(TRAIN).succeeded();
    assert_eq!(labels(&workspace), whole);
    for place in [folder, workspace.path(".")] {
        let files = fs::read_dir(place)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap());
        assert_eq!(files.filter(|name| name.ends_with(".tmp")).count(), 0);
    }
}

#[test]
fn a_model_name_too_long_for_its_checkpoints_is_refused_at_once() {
    let workspace = TestWorkspace::with_knapsack();
    let out = format!("{}.safetensors", "m".repeat(240));
    workspace
        .run(&TRAIN.replace("m.safetensors", &out))
        .failed(2, &[".checkpoints", "255"]);
    assert_eq!(workspace.files(), ["problem.toml", "table.csv"]);
}
