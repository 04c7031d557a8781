//! Gaps in costs, and unknown quantities in constraints: what the messages advise.

#![allow(clippy::unwrap_used, reason = "a failed step should show where")]

mod common;

use std::fmt::Write as _;

use common::TestWorkspace;

/// 40 rows in which only the chosen item's cost is known, or in which one cost is missing.
fn table(is_observed: impl Fn(usize, usize) -> bool) -> TestWorkspace {
    let workspace = TestWorkspace::new();
    let mut table = "x,p_a,p_b,eur_a,eur_b\n".to_owned();
    for row in 0..40_usize {
        let cost = |item: usize| {
            if is_observed(row, item) {
                (10 + row % 5).to_string()
            } else {
                String::new()
            }
        };
        writeln!(table, "{},1,1,{},{}", row % 7, cost(0), cost(1)).unwrap();
    }
    workspace.write("table.csv", &table);
    let problem = "kind = 'top_k'\nitems = 2\nk = 1\nsense = 'minimize'\n";
    workspace.write("problem.toml", problem);
    workspace.write_with_presence("present.toml", problem, "p_*");
    workspace
}

const TRAIN: &str = "train --method MAE(O,S) \
    --data table.csv --costs eur_* --features x --epochs 2 --problem";

#[test]
fn gaps_in_most_rows_are_not_to_be_filled_in() {
    let workspace = table(|row, item| row % 2 == item);
    for problem in ["problem.toml", "present.toml"] {
        let output = workspace.run(&format!("{TRAIN} {problem}"));
        assert_ne!(output.code, 0);
        for words in ["40 of 40 rows", "do not fill in numbers", "`present`"] {
            assert!(output.err.contains(words), "{problem}: {}", output.err);
        }
        assert!(
            !output.err.contains("leave the row out"),
            "{problem}: {}",
            output.err
        );
    }
}

#[test]
fn a_rare_gap_may_be_left_out() {
    let workspace = table(|row, item| row != 7 || item == 0);
    let output = workspace.run(&format!("{TRAIN} problem.toml"));
    assert!(output.err.contains("leave the row out"), "{}", output.err);
    assert!(!output.err.contains("`present`"), "{}", output.err);
}

#[test]
fn an_unknown_quantity_in_a_constraint_has_a_way_out() {
    let workspace = TestWorkspace::new();
    let mut table = "x,demand,cost_a\n".to_owned();
    for row in 0..20 {
        writeln!(table, "{row},{},{}", 5 + row % 3, 2 + row % 4).unwrap();
    }
    workspace.write("table.csv", &table);
    let problem = "kind = 'knapsack'\nweights = [1.0, 1.0]\ncapacity = { column = 'demand' }\n";
    workspace.write("problem.toml", problem);
    let train = "train --method MAE(O,S) \
        --data table.csv --costs demand,cost_a --problem problem.toml";
    let output = workspace.run(train);
    for words in [
        "cannot be a cost and a parameter",
        "newsvendor",
        "multiple-choice knapsack",
    ] {
        assert!(output.err.contains(words), "{}", output.err);
    }
}
