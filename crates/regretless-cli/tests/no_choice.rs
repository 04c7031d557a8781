//! Tables whose rows leave no choice: nothing can be learned from them.

#![allow(clippy::unwrap_used, reason = "a failed step should show where")]

mod common;

use std::fmt::Write as _;

use common::TestWorkspace;

/// 80 days, three stores of which the dearest is visited; `was` says which.
fn workspace() -> TestWorkspace {
    let workspace = TestWorkspace::new();
    let mut table = "day,x,was_a,was_b,was_c,eur_a,eur_b,eur_c\n".to_owned();
    for row in 0..80_usize {
        let x = (row % 7) as f64;
        let chosen = (row / 3) % 3;
        let was = [0, 1, 2].map(|store| u8::from(store == chosen));
        let eur = [10.0 + x, 14.0 - 0.7 * x, 12.0 + (row % 4) as f64];
        writeln!(
            table,
            "{},{x},{},{},{},{},{},{}",
            row + 1,
            was[0],
            was[1],
            was[2],
            eur[0],
            eur[1],
            eur[2]
        )
        .unwrap();
    }
    workspace.write("table.csv", &table);
    let problem = "kind = 'top_k'\nitems = 3\nk = 1\nsense = 'maximize'\n";
    workspace.write("all.toml", problem);
    workspace.write_with_presence("chosen.toml", problem, "was_*");
    workspace
}

const TABLE: &str = "--data table.csv --costs eur_* --features x --epochs 2";
const NOTE: &str = "the rows leave no choice";

#[test]
fn a_training_whose_rows_have_one_decision_each_says_that_nothing_can_be_learned() {
    let workspace = workspace();
    let trained = workspace
        .run(&format!("train {TABLE} --problem chosen.toml"))
        .succeeded();
    assert!(trained.err.contains(NOTE), "{}", trained.err);
    assert!(trained.err.contains("`present`"), "{}", trained.err);
    let trained = workspace
        .run(&format!("train {TABLE} --problem all.toml --force"))
        .succeeded();
    assert!(!trained.err.contains("choice"), "{}", trained.err);
}

#[test]
fn every_command_that_labels_rows_says_that_they_leave_no_choice() {
    let workspace = workspace();
    let trained = "--out model.safetensors --split 80,0,0 --force";
    let commands = [
        format!("train {TABLE} --method least~squares {trained}"),
        "check --data table.csv --costs eur_* --features x".to_owned(),
        "label --data table.csv --costs eur_*".to_owned(),
        "evaluate --predictions table.csv --data table.csv --costs eur_*".to_owned(),
    ];
    for command in &commands {
        let run = |problem: &str| {
            let line = format!("{command} --problem {problem}");
            let words: Vec<String> = line.split(' ').map(|word| word.replace('~', " ")).collect();
            workspace.run_words(&words).succeeded()
        };
        let output = run("chosen.toml");
        assert_eq!(
            output.err.matches(NOTE).count(),
            1,
            "{command}: {}",
            output.err
        );
        if command.starts_with("check") {
            assert!(output.out.contains(NOTE), "{}", output.out);
            assert!(!output.out.contains("no findings"), "{}", output.out);
        }
        let output = run("all.toml");
        assert!(!(output.err + &output.out).contains(NOTE), "{command}");
    }
    let model = "evaluate --model model.safetensors --data table.csv --costs eur_*";
    workspace
        .run(&format!(
            "train {TABLE} --problem chosen.toml --out model.safetensors --force"
        ))
        .succeeded();
    let evaluated = workspace.run(model).succeeded();
    assert!(evaluated.err.contains(NOTE), "{}", evaluated.err);
}

#[test]
fn a_problem_with_one_feasible_decision_leaves_no_choice() {
    let workspace = workspace();
    workspace.write(
        "all.toml",
        "kind = 'top_k'\nitems = 3\nk = 3\nsense = 'maximize'\n",
    );
    let trained = workspace
        .run(&format!("train {TABLE} --problem all.toml"))
        .succeeded();
    assert_eq!(trained.err.matches(NOTE).count(), 1, "{}", trained.err);
}

#[test]
fn comparisons_and_backtests_say_it_too() {
    let workspace = workspace();
    let compare = format!("compare {TABLE} --methods MSE --seeds 1");
    let compared = workspace
        .run(&format!("{compare} --problem chosen.toml --out chosen"))
        .succeeded();
    assert!(compared.out.contains(NOTE), "{}", compared.out);
    let compared = workspace
        .run(&format!("{compare} --problem all.toml --out all"))
        .succeeded();
    assert!(!compared.out.contains("no choice"), "{}", compared.out);
    let backtest = format!("backtest {TABLE} --methods MSE --time day --initial 40 --step 20");
    // Fails for the last period alone, which need not have the same items.
    let tested = workspace.run(&format!(
        "{backtest} --problem chosen.toml --out chosen_days"
    ));
    assert_eq!(tested.code, 2, "{}", tested.err);
    assert!(tested.out.contains(NOTE), "{}", tested.out);
    let tested = workspace
        .run(&format!("{backtest} --problem all.toml --out all_days"))
        .succeeded();
    assert!(!tested.out.contains("no choice"), "{}", tested.out);
}

#[test]
fn a_decision_that_is_always_the_best_leaves_nothing_to_conclude() {
    let workspace = workspace();
    let mut table = "x,eur_a,eur_b\n".to_owned();
    for row in 0..80 {
        let x = f64::from(row % 7);
        writeln!(table, "{x},{},{}", 10.0 + x, 90.0 - 0.7 * x).unwrap();
    }
    workspace.write("table.csv", &table);
    workspace.write(
        "all.toml",
        "kind = 'top_k'\nitems = 2\nk = 1\nsense = 'maximize'\n",
    );
    let trained = workspace
        .run(&format!("train {TABLE} --problem all.toml"))
        .succeeded();
    assert!(
        trained.err.contains("nothing can be concluded"),
        "{}",
        trained.err
    );
    assert!(!trained.err.contains("leave no choice"), "{}", trained.err);
}

#[test]
fn features_that_are_named_after_the_costs_may_be_past_decisions() {
    let workspace = workspace();
    let check = "check --data table.csv --costs eur_* --problem all.toml";
    let output = workspace.run(check).succeeded();
    let line = output
        .out
        .lines()
        .find(|line| line.contains("past decisions"));
    let line = line.unwrap_or_else(|| panic!("{}", output.out));
    for words in ["3 features", "was_a, was_b, was_c", "backtest"] {
        assert!(line.contains(words), "{line}");
    }
    // Columns that say what exists are no decisions.
    let output = workspace.run(&check.replace("all", "chosen")).succeeded();
    assert!(!output.out.contains("past decisions"), "{}", output.out);
}

#[test]
fn constant_features_are_one_line_of_the_check() {
    let workspace = workspace();
    let mut table = "date,x,k_1,k_2,k_3,eur_a,eur_b,eur_c\n".to_owned();
    for row in 0..40 {
        let x = f64::from(row % 7);
        writeln!(
            table,
            "2026-{:02}-{:02},{x},4,5,6,{},{},{}",
            1 + row / 28,
            1 + row % 28,
            10.0 + f64::from((row * 5) % 11),
            10.0 + f64::from((row * 3) % 13),
            10.0 + f64::from((row * 7) % 17)
        )
        .unwrap();
    }
    workspace.write("table.csv", &table);
    let output = workspace
        .run("check --data table.csv --costs eur_*")
        .succeeded();
    assert_eq!(output.out.matches("constant").count(), 2, "{}", output.out);
    let line = "3 features are constant in all 40 rows: k_1 (4), k_2 (5), k_3 (6)";
    assert!(output.out.contains(line), "{}", output.out);
    assert!(output.err.contains("--split 'time:date'"), "{}", output.err);
}
