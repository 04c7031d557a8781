//! Comparisons of losses.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::Workshop;

const SMALL: &str = "compare --benchmark SP4x4 --seeds 2 --split 60,20,20 --epochs 3";

/// The lines of a CSV file without the last column, which is seconds.
fn without_seconds(text: &str) -> Vec<&str> {
    text.lines().map(|line| line.rsplit_once(',').unwrap().0).collect()
}

/// The lines of results.jsonl without seconds, in an order of their own.
fn runs(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text
        .lines()
        .map(|line| {
            let mut run: serde_json::Value = serde_json::from_str(line).unwrap();
            run.as_object_mut().unwrap().remove("seconds").unwrap();
            run.to_string()
        })
        .collect();
    lines.sort();
    lines
}

#[test]
fn two_losses_on_two_seeds_are_compared() {
    let shop = Workshop::new();
    let left = shop.run(&format!("{SMALL} --losses MSE;MAE(O,S) --out cmp")).succeeded();
    assert!(left.out.contains("1.000 ± 0.000") && left.out.contains("MAE(O,S)"), "{}", left.out);
    assert_eq!(runs(&shop.read("cmp/results.jsonl")).len(), 4);
    assert_eq!(shop.read("cmp/results.csv").lines().count(), 5);
    let summary = shop.read("cmp/summary.csv");
    assert!(summary.contains("\n\"MSE\",2,1,0,") && summary.contains("\n\"MAE(O,S)\",2,"), "{summary}");
}

#[test]
fn the_ratio_is_the_mean_over_seeds_of_regret_over_that_of_mse() {
    let shop = Workshop::new();
    let found = shop.run(&format!("{SMALL} --losses MAE --out cmp --json")).json();
    let runs = shop.read("cmp/results.jsonl");
    let runs: Vec<serde_json::Value> = runs.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let regret = |loss: &str, seed: u64| {
        let run = runs.iter().find(|run| run["loss"] == loss && run["seed"] == seed).unwrap();
        run["test_regret"].as_f64().unwrap()
    };
    let ratios = [0, 1].map(|seed| regret("MAE", seed) / regret("MSE", seed));
    let mean = (ratios[0] + ratios[1]) / 2.0;
    let deviation = (ratios[0] - ratios[1]).abs() / 2.0_f64.sqrt();
    let line = &found["losses"][1];
    assert_eq!(line["loss"], "MAE");
    assert!((line["ratio"].as_f64().unwrap() - mean).abs() < 1e-12);
    assert!((line["ratio_sd"].as_f64().unwrap() - deviation).abs() < 1e-12);
}

#[test]
fn mse_runs_as_the_reference_even_when_it_is_not_listed() {
    let shop = Workshop::new();
    let left = shop.run(&format!("{SMALL} --loss MAE --loss MAE(S) --out cmp")).succeeded();
    assert!(left.err.contains("MSE runs too"), "{}", left.err);
    assert_eq!(runs(&shop.read("cmp/results.jsonl")).len(), 6);
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let shop = Workshop::new();
    for threads in [1, 3] {
        let words = format!("{SMALL} --losses MSE;MSE(C,O);MAE(S) --threads {threads} --out t{threads}");
        shop.run(&words).succeeded();
    }
    for file in ["results.csv", "summary.csv"] {
        let (one, three) = (shop.read(&format!("t1/{file}")), shop.read(&format!("t3/{file}")));
        assert!(one.lines().next().unwrap().ends_with(",seconds"));
        assert_eq!(without_seconds(&one), without_seconds(&three));
    }
    assert_eq!(runs(&shop.read("t1/results.jsonl")), runs(&shop.read("t3/results.jsonl")));
}

#[test]
fn settings_of_a_comparison_give_the_same_comparison_again() {
    let shop = Workshop::new();
    shop.run(&format!("{SMALL} --losses MSE;MAE(O) --learning-rate 0.02 --out a")).succeeded();
    shop.run("compare --config a/settings.toml --out b").succeeded();
    assert_eq!(without_seconds(&shop.read("a/results.csv")), without_seconds(&shop.read("b/results.csv")));
}

#[test]
fn a_users_table_is_compared_on_splits_of_its_own() {
    let shop = Workshop::with_knapsack();
    let words = "compare --data table.csv --costs c* --problem problem.toml --losses MSE;MAE --seeds 3 --epochs 2";
    let found = shop.run(&format!("{words} --out cmp --json")).json();
    assert_eq!(found["losses"][0]["runs"], 3);
    let runs = shop.read("cmp/results.csv");
    let regrets: Vec<&str> =
        runs.lines().filter(|l| l.starts_with("\"MSE\"")).map(|l| l.split(',').nth(5).unwrap()).collect();
    assert!(regrets[0] != regrets[1] && regrets[1] != regrets[2], "{regrets:?}");
}

#[test]
fn without_a_folder_the_first_free_one_is_taken() {
    let shop = Workshop::new();
    let words = format!("{SMALL} --losses MSE");
    shop.run(&words).succeeded();
    shop.run(&words).succeeded();
    assert_eq!(shop.read("runs/SP4x4-1/summary.csv").lines().count(), 2);
    assert_eq!(shop.read("runs/SP4x4-2/summary.csv").lines().count(), 2);
}

#[test]
fn results_that_exist_are_kept_unless_forced() {
    let shop = Workshop::new();
    let words = format!("{SMALL} --losses MSE --out cmp");
    shop.run(&words).succeeded();
    let before = shop.read("cmp/results.csv");
    shop.run(&words).failed(3, &["cmp/results.jsonl", "--force"]);
    assert_eq!(shop.read("cmp/results.csv"), before);
    shop.run(&format!("{words} --force")).succeeded();
}

#[test]
fn a_comparison_that_cannot_begin_leaves_nothing() {
    let shop = Workshop::new();
    shop.run(&format!("{SMALL} --losses MSE --batch 0 --out cmp")).failed(2, &["batch"]);
    shop.run("compare --benchmark SP4x4 --losses MSE --split 0.2,0 --out cmp").failed(2, &["test"]);
    shop.run("compare --benchmark SP4x4 --seeds 0 --out cmp").failed(2, &["seeds"]);
    assert!(shop.files().is_empty());
}
