//! Work interrupted at any moment resumes and finishes with the same bytes.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fs;
use std::path::PathBuf;

use common::{Workshop, killed_after, kills, moment};

/// The one file of labels of a table, and nothing else beside it but what a killed run left.
fn labels(shop: &Workshop) -> Vec<u8> {
    let entries = fs::read_dir(shop.path("table.csv.labels"))
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let files: Vec<PathBuf> = entries
        .filter(|path| path.extension().is_some_and(|e| e == "safetensors"))
        .collect();
    assert_eq!(files.len(), 1, "{files:?}");
    fs::read(&files[0]).unwrap()
}

fn forget(shop: &Workshop) {
    fs::remove_dir_all(shop.path("table.csv.labels")).unwrap();
}

fn tours() -> Workshop {
    let shop = Workshop::new();
    shop.run("generate --benchmark TSP15 --instances 400 --out .")
        .succeeded();
    shop
}

const LABEL: &str = "label --data table.csv --costs c* --problem problem.toml";

#[test]
fn labelling_that_is_killed_again_and_again_ends_with_the_same_bytes() {
    let shop = tours();
    shop.run(LABEL).succeeded();
    let whole = labels(&shop);
    forget(&shop);
    let mut interrupted = 0;
    for kill in 0..kills() {
        let words: Vec<String> = LABEL
            .split(' ')
            .chain(["--checkpoint-interval", "0"])
            .map(str::to_owned)
            .collect();
        interrupted += u64::from(killed_after(&shop, &words, moment(kill + 1, 60)));
        if kill % 5 == 4 {
            shop.run(LABEL).succeeded();
            assert_eq!(labels(&shop), whole);
            forget(&shop);
        }
    }
    shop.run(LABEL).succeeded();
    assert_eq!(labels(&shop), whole);
    assert!(
        interrupted > kills() / 8,
        "only {interrupted} runs were killed at work"
    );
}

#[test]
fn shards_and_threads_do_not_change_the_labels() {
    let shop = tours();
    shop.run(LABEL).succeeded();
    let whole = labels(&shop);
    for threads in [1, 2, 3, 8] {
        for shards in [1, 2, 7] {
            forget(&shop);
            for shard in (1..=shards).rev() {
                let words = format!("{LABEL} --threads {threads} --shard {shard}/{shards} --json");
                let output = shop.run(&words).json();
                assert_eq!(output["rows"], 400);
                assert_eq!(output["known"] == 400, shard == 1, "{output}");
            }
            let output = shop.run(&format!("{LABEL} --json")).json();
            assert_eq!(
                (&output["solved"], &output["continued"]),
                (&0.into(), &400.into())
            );
            assert_eq!(labels(&shop), whole, "{threads} threads, {shards} shards");
        }
    }
}

#[test]
fn damaged_and_foreign_parts_are_solved_again() {
    let shop = tours();
    shop.run(LABEL).succeeded();
    let whole = labels(&shop);
    forget(&shop);
    for shard in 1..=3 {
        shop.run(&format!("{LABEL} --shard {shard}/3")).succeeded();
    }
    let folder = fs::read_dir(shop.path("table.csv.labels"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let mut parts: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    parts.sort();
    assert_eq!(parts.len(), 3);
    let mut bytes = fs::read(&parts[0]).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    fs::write(&parts[0], &bytes).unwrap();
    fs::write(folder.join("foreign.part"), "instance,item\n").unwrap();
    let output = shop.run(&format!("{LABEL} --json")).succeeded();
    assert!(
        output.err.contains("foreign.part: not used")
            && output.err.matches("not used").count() == 2,
        "{}",
        output.err
    );
    assert_eq!(labels(&shop), whole);
    assert!(!folder.exists());
}

#[test]
fn a_shard_that_does_not_exist_is_refused() {
    let shop = tours();
    for shard in ["0/2", "3/2", "2", "a/b"] {
        shop.run(&format!("{LABEL} --shard {shard}"))
            .failed(2, &["is not a shard", "2/7"]);
    }
}

/// The bytes of the model a training writes, after it was killed this often, and how often it was
/// at work then.
fn trained(shop: &Workshop, words: &[String], kills: u64) -> (Vec<u8>, u64) {
    let common = "train --data table.csv --costs c* --problem problem.toml --out m.safetensors \
        --checkpoint-interval 0";
    let words: Vec<String> = common
        .split(' ')
        .map(str::to_owned)
        .chain(words.iter().cloned())
        .collect();
    let mut interrupted = 0;
    for kill in 0..kills {
        interrupted += u64::from(killed_after(shop, &words, moment(kill + 7, 120)));
        // A model without a claim on it is one that was done before the kill; the same command is
        // then refused.
        if shop.path("m.safetensors").exists()
            && !shop.path("m.safetensors.checkpoints/results.json").exists()
        {
            WRITTEN
                .iter()
                .for_each(|name| fs::remove_file(shop.path(name)).unwrap());
        }
    }
    shop.run_words(&words).succeeded();
    assert!(!shop.path("m.safetensors.checkpoints").exists());
    let model = shop.bytes("m.safetensors");
    WRITTEN
        .iter()
        .for_each(|name| fs::remove_file(shop.path(name)).unwrap());
    (model, interrupted)
}

#[test]
fn training_that_is_killed_again_and_again_ends_with_the_same_bytes() {
    let shop = Workshop::new();
    shop.run("generate --benchmark SP4x4 --instances 120 --out .")
        .succeeded();
    let recipes = [
        "--method MAE(O,S) --epochs 400",
        "--method MSE(C,O) --epochs 200",
        "--method MSE(O_S) --epochs 200 --fused false",
        "--method MSE(EIC(3)) --epochs 100",
        "--method MSE --epochs 100 --predictor mlp:8 --optimizer sgd:momentum=0.9",
        "--method SPO+|cache|20%|then|AI-MLE --epochs 60",
    ];
    let mut interrupted = 0;
    for words in recipes {
        let words: Vec<String> = words
            .split(' ')
            .map(|word| word.replace('|', " "))
            .collect();
        let (whole, _) = trained(&shop, &words, 0);
        let (resumed, stopped) = trained(&shop, &words, kills().div_ceil(recipes.len() as u64));
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
const WRITTEN: [&str; 5] = [
    "m.epochs.csv",
    "m.epochs.jsonl",
    "m.report.json",
    "m.settings.toml",
    "m.safetensors",
];

/// What lies on the disk after a kill behind each step of writing the results: the claim, then one
/// file more each time, then the checkpoints in part removed.
#[test]
fn training_killed_while_writing_results_resumes_with_the_same_command() {
    let shop = Workshop::with_knapsack();
    shop.run(TRAIN).succeeded();
    let model = shop.bytes("m.safetensors");
    for name in WRITTEN {
        fs::remove_file(shop.path(name)).unwrap();
    }
    for step in 0..=WRITTEN.len() {
        let left = killed_in_writing(&shop, step);
        let output = shop.run(TRAIN);
        assert_eq!(
            output.code, 0,
            "{step} files written ({left:?}): {}",
            output.err
        );
        assert_eq!(shop.bytes("m.safetensors"), model, "{step} files written");
        assert!(!shop.path("m.safetensors.checkpoints").exists());
        for name in WRITTEN {
            fs::remove_file(shop.path(name)).unwrap();
        }
    }
}

/// The state after so many of the files are written.
fn killed_in_writing(shop: &Workshop, files: usize) -> Vec<String> {
    // The claim of a whole run is kept by stopping its end: a folder that is not empty cannot be
    // removed.
    let progress = shop.path("m.safetensors.checkpoints");
    fs::create_dir_all(progress.join("kept")).unwrap();
    fs::write(progress.join("kept/x"), "x").unwrap();
    let output = shop.run(TRAIN);
    assert_eq!(output.code, 3, "{}", output.err);
    fs::remove_dir_all(progress.join("kept")).unwrap();
    assert!(progress.join("results.json").exists(), "{:?}", shop.files());
    for name in &WRITTEN[files..] {
        fs::remove_file(shop.path(name)).unwrap();
    }
    shop.files()
}

#[test]
fn results_of_another_run_are_refused_whatever_a_killed_run_left() {
    let shop = Workshop::with_knapsack();
    killed_in_writing(&shop, 2);
    let other = TRAIN.replace("MSE", "MAE");
    shop.run(&other)
        .failed(3, &["m.epochs.csv", "exists already"]);
    shop.write("m.epochs.csv", "mine");
    shop.run(TRAIN)
        .failed(3, &["m.epochs.csv", "exists already"]);
    assert_eq!(shop.read("m.epochs.csv"), "mine");
    shop.run(&format!("{TRAIN} --force")).succeeded();
    shop.run(TRAIN)
        .failed(3, &["m.safetensors", "exists already"]);
}

#[test]
fn a_second_training_to_one_model_is_refused_while_the_first_runs() {
    let shop = Workshop::with_knapsack();
    fs::create_dir(shop.path("m.safetensors.checkpoints")).unwrap();
    let lock = fs::File::create(shop.path("m.safetensors.checkpoints/lock")).unwrap();
    lock.try_lock().unwrap();
    shop.run(TRAIN)
        .failed(3, &["m.safetensors.checkpoints", "another training"]);
    drop(lock);
    shop.run(TRAIN).succeeded();
    assert!(!shop.path("m.safetensors.checkpoints").exists());
}

#[test]
fn what_killed_runs_left_is_removed() {
    let shop = Workshop::with_knapsack();
    shop.run(LABEL).succeeded();
    let whole = labels(&shop);
    let folder = shop.path("table.csv.labels");
    let name = fs::read_dir(&folder)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let parts = name.with_extension("parts");
    fs::create_dir(&parts).unwrap();
    fs::write(parts.join("00000000-x.part"), "x").unwrap();
    for place in [
        folder.join(".regretless-dead00.tmp"),
        shop.path(".regretless-dead00.tmp"),
    ] {
        fs::write(place, "half").unwrap();
    }
    shop.run(TRAIN).succeeded();
    assert_eq!(labels(&shop), whole);
    assert!(!parts.exists());
    for place in [folder, shop.path(".")] {
        let left = fs::read_dir(place)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap());
        assert_eq!(left.filter(|name| name.ends_with(".tmp")).count(), 0);
    }
}

#[test]
fn a_model_name_that_leaves_no_room_for_its_checkpoints_is_refused_at_once() {
    let shop = Workshop::with_knapsack();
    let out = format!("{}.safetensors", "m".repeat(240));
    shop.run(&TRAIN.replace("m.safetensors", &out))
        .failed(2, &[".checkpoints", "255"]);
    assert_eq!(shop.files(), ["problem.toml", "table.csv"]);
}
