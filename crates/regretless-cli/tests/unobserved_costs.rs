//! Items that no training row has: there is no prediction of their costs.

#![allow(clippy::unwrap_used, reason = "a failed step should show where")]

mod common;

use std::fmt::Write as _;

use common::{CommandOutput, TestWorkspace};

/// Choose one of four items of least cost; item d has no cost in the first rows.
const PROBLEM: &str =
    "kind = 'top_k'\nk = 1\nitems = 4\nsense = 'minimize'\npresent = { columns = 'p_*' }\n";

/// 60 rows of which the first ones lack d, and a row that offers it.
fn workspace(rows_with_d: std::ops::Range<usize>) -> TestWorkspace {
    let workspace = TestWorkspace::new();
    let header = "x,p_a,p_b,p_c,p_d,c_a,c_b,c_c,c_d\n";
    let mut table = header.to_owned();
    for row in 0..60_usize {
        let x = (row % 7) as f64;
        let (flag, cost) = if rows_with_d.contains(&row) {
            ("1", "13")
        } else {
            ("0", "")
        };
        let [a, b, c] = [10.0 + 0.2 * x, 11.5 - 0.3 * x, 12.0];
        writeln!(table, "{x},1,1,1,{flag},{a},{b},{c},{cost}").unwrap();
    }
    workspace.write("table.csv", &table);
    workspace.write("problem.toml", PROBLEM);
    workspace.write(
        "new.csv",
        "x,p_a,p_b,p_c,p_d\n1,1,1,1,1\n6,1,1,1,1\n3,1,1,1,0\n",
    );
    workspace.write("only_d.csv", "x,p_a,p_b,p_c,p_d\n1,0,0,0,1\n2,1,1,1,1\n");
    workspace
}

const TRAIN: &str = "train --data table.csv --costs c_* --problem problem.toml --split order \
                     --out model.safetensors";
const DECIDE: &str = "decide --model model.safetensors --out decisions.csv --force";

/// Runs a command in which `~` is a space of a word.
fn run(workspace: &TestWorkspace, command: &str) -> CommandOutput {
    let words = command.split_whitespace();
    let words: Vec<String> = words.map(|word| word.replace('~', " ")).collect();
    workspace.run_words(&words)
}

/// Trained in these ways, with a linear predictor, a closed form, a network and an average.
const WAYS: [&str; 5] = [
    "--method MAE(O,S) --epochs 3",
    "--method MSE --epochs 3",
    "--method least~squares",
    "--method MSE --epochs 3 --predictor mlp:4",
    "--method auto~2s",
];

#[test]
fn an_item_that_no_training_row_has_is_left_out_of_the_choice_with_a_note() {
    for way in WAYS {
        let workspace = workspace(0..0);
        let trained = run(&workspace, &format!("{TRAIN} {way}")).succeeded();
        assert!(
            trained.err.contains("no training row has a value of c_d"),
            "{way}: {}",
            trained.err
        );
        let decided = workspace
            .run(&format!(
                "{DECIDE} --data new.csv --predictions-out predicted.csv"
            ))
            .succeeded();
        for words in ["c_d", "2 rows", "left out"] {
            assert!(decided.err.contains(words), "{way}: {}", decided.err);
        }
        for line in workspace.read("decisions.csv").lines().skip(1) {
            let cells: Vec<&str> = line.split(',').collect();
            assert_eq!(cells[6], "0", "{way}: {line}");
            let objective: f64 = cells[1].parse().unwrap();
            assert!((9.0..12.5).contains(&objective), "{way}: {line}");
        }
        // There is no prediction to write.
        for line in workspace.read("predicted.csv").lines().skip(1) {
            assert_eq!(line.split(',').nth(3), Some(""), "{way}: {line}");
        }
    }
}

#[test]
fn a_row_that_needs_an_item_without_a_prediction_is_refused_by_name() {
    let workspace = workspace(0..0);
    workspace
        .run(&format!("{TRAIN} --method MSE --epochs 2"))
        .succeeded();
    let decided = workspace.run(&format!("{DECIDE} --data only_d.csv"));
    assert_ne!(decided.code, 0);
    assert!(decided.err.contains("c_d"), "{}", decided.err);
    assert!(decided.err.contains("no prediction"), "{}", decided.err);
    // The other row has a decision.
    let written = workspace.read("decisions.csv");
    assert_eq!(written.lines().count(), 2, "{written}");
}

#[test]
fn an_item_of_some_training_rows_is_predicted_and_no_field_is_written() {
    let workspace = workspace(0..20);
    let trained = workspace
        .run(&format!("{TRAIN} --method MSE --epochs 2"))
        .succeeded();
    assert!(!trained.err.contains("training row"), "{}", trained.err);
    let decided = workspace
        .run(&format!("{DECIDE} --data new.csv"))
        .succeeded();
    assert!(!decided.err.contains("c_d"), "{}", decided.err);
    let bytes = workspace.bytes("model.safetensors");
    let word = b"unobserved";
    assert!(!bytes.windows(word.len()).any(|part| part == word));
}

#[test]
fn a_training_that_goes_on_learns_the_costs_that_were_unknown_before() {
    let first = workspace(0..0);
    first
        .run(&format!("{TRAIN} --method MSE --epochs 2"))
        .succeeded();
    let second = workspace(0..60);
    std::fs::write(
        second.path("first.safetensors"),
        first.bytes("model.safetensors"),
    )
    .unwrap();
    second
        .run(&format!(
            "{TRAIN} --method MSE --epochs 30 --init-model first.safetensors"
        ))
        .succeeded();
    second
        .run(&format!(
            "{DECIDE} --data new.csv --predictions-out predicted.csv"
        ))
        .succeeded();
    for line in second.read("predicted.csv").lines().skip(1) {
        let cost: f64 = line.split(',').nth(3).unwrap().parse().unwrap();
        assert!((12.0..14.0).contains(&cost), "{line}");
    }
}

#[test]
fn a_row_with_an_item_without_a_prediction_is_not_explained() {
    let workspace = workspace(0..0);
    workspace
        .run(&format!("{TRAIN} --method MSE --epochs 2"))
        .succeeded();
    let explain = "explain --model model.safetensors --data new.csv --row";
    let output = workspace.run(&format!("{explain} 0"));
    assert_ne!(output.code, 0);
    assert!(output.err.contains("c_d"), "{}", output.err);
    workspace.run(&format!("{explain} 2")).succeeded();
    let inspected = workspace.run("inspect model.safetensors --json").json();
    assert_eq!(inspected["unobserved_costs"][0], "c_d");
    assert!(inspected["coefficients"][3]["intercept"].is_null());
}

#[test]
fn items_of_few_training_rows_are_named() {
    let workspace = workspace(0..3);
    let trained = workspace
        .run(&format!("{TRAIN} --method MSE --epochs 2"))
        .succeeded();
    assert!(trained.err.contains("c_d (3 rows)"), "{}", trained.err);
}

#[test]
fn regret_of_rows_with_an_item_without_a_prediction_counts_the_item_as_left_out() {
    // Only test rows have d.
    let workspace = workspace(50..60);
    for way in WAYS {
        let trained = run(&workspace, &format!("{TRAIN} {way} --force")).succeeded();
        assert!(trained.err.contains("c_d"), "{way}: {}", trained.err);
        // The item of cost 13 is never best, and never chosen.
        let report = workspace.read("model.report.json");
        let report: serde_json::Value = serde_json::from_str(&report).unwrap();
        let mean = report["training_mean"]["regret"].as_f64().unwrap();
        let test = report["test"]["regret"].as_f64().unwrap();
        for regret in [mean, test] {
            assert!((0.0..1.5).contains(&regret), "{way}: {report}");
        }
        let evaluated =
            workspace.run("evaluate --model model.safetensors --data table.csv --costs c_*");
        assert!(evaluated.succeeded().err.contains("c_d"), "{way}");
    }
    let checked =
        workspace.run("check --data table.csv --costs c_* --problem problem.toml --split order");
    assert!(
        checked.out.contains("c_d"),
        "{}{}",
        checked.out,
        checked.err
    );
    let compared = workspace
        .run(
            "compare --data table.csv --costs c_* --problem problem.toml --split order \
             --methods MSE --seeds 1 --epochs 2 --out results",
        )
        .succeeded();
    assert!(
        compared.err.contains("c_d"),
        "{}{}",
        compared.out,
        compared.err
    );
}

#[test]
fn a_backtest_says_which_items_had_no_prediction() {
    let workspace = workspace(50..60);
    let table = workspace.read("table.csv");
    let mut dated = String::new();
    for (number, line) in table.lines().enumerate() {
        let cell = if number == 0 {
            "day".into()
        } else {
            number.to_string()
        };
        writeln!(dated, "{cell},{line}").unwrap();
    }
    workspace.write("table.csv", &dated);
    // The baseline of the last period fails: c_d does not exist there.
    let output = workspace.run(
        "backtest --data table.csv --costs c_* --problem problem.toml --time day \
             --methods MSE --epochs 2 --initial 30 --step 30 --out saved",
    );
    assert!(
        output.out.contains("c_d (10 rows)"),
        "{}{}",
        output.out,
        output.err
    );
}

/// A long table of 60 instances with the items a, b and c; item d is in the instances of the range.
fn long_workspace(instances_with_d: std::ops::Range<usize>) -> TestWorkspace {
    let workspace = TestWorkspace::new();
    let mut table = "day,item,x,cost\n".to_owned();
    let mut new = "day,item,x\n".to_owned();
    for day in 0..60_usize {
        for (number, item) in ["a", "b", "c", "d"].into_iter().enumerate() {
            let x = (day * 3 + number * 5) % 11;
            if item != "d" || instances_with_d.contains(&day) {
                writeln!(table, "{day},{item},{x},{}", 5 + x + number).unwrap();
            }
            if day < 2 {
                writeln!(new, "{day},{item},{x}").unwrap();
            }
        }
    }
    workspace.write("long.csv", &table);
    workspace.write("new.csv", &new);
    workspace.write("unknown.csv", &new.replace("d,", "z,"));
    workspace.write(
        "problem.toml",
        "kind = 'top_k'\nk = 1\nitems = 4\nsense = 'minimize'\n",
    );
    workspace
}

const TRAIN_LONG: &str = "train --data long.csv --instance-column day --item-column item --costs \
                          cost --features x --problem problem.toml --split order --method \
                          least~squares --out model.safetensors";
const DECIDE_LONG: &str = "decide --model model.safetensors --instance-column day --item-column \
                           item --out decisions.csv --force";

#[test]
fn an_item_of_a_long_table_that_no_training_row_has_is_left_out_of_the_choice_with_a_note() {
    let workspace = long_workspace(50..60);
    let trained = run(&workspace, TRAIN_LONG).succeeded();
    let note = "no training row has a value of d: without a prediction, decisions leave it out";
    assert!(trained.err.contains(note), "{}", trained.err);
    // On day 1, where the others have the features 3, 8 and 2, item d looks best.
    let new = workspace.read("new.csv");
    workspace.write("new.csv", &new.replace("1,d,7", "1,d,-9"));
    let decided = workspace
        .run(&format!("{DECIDE_LONG} --data new.csv"))
        .succeeded();
    let note = "left out of the choice, since no training row has a value and so there is no \
                prediction: d (2 rows)";
    assert!(decided.err.contains(note), "{}", decided.err);
    let text = workspace.read("decisions.csv");
    let rows: Vec<&str> = text.lines().skip(1).collect();
    assert_eq!(rows.len(), 2, "{text}");
    assert!(rows[0].ends_with(",1,0,0,0"), "{text}");
    assert!(rows[1].ends_with(",0,0,1,0"), "{text}");
    // Test rows have d, and regret counts it as left out.
    let evaluated = workspace.run(
        "evaluate --model model.safetensors --data long.csv --instance-column day --item-column \
         item --costs cost",
    );
    assert!(evaluated.succeeded().err.contains("d (10 rows)"));
    // Nothing else is on offer.
    workspace.write(
        "only_d.csv",
        "day,item,x\n0,a,1\n0,b,4\n0,c,3\n0,d,2\n1,d,-9\n",
    );
    workspace
        .run(&format!("{DECIDE_LONG} --data only_d.csv"))
        .refused(4, &["d, and no feasible decision leaves this out"]);
    let inspected = workspace.run("inspect model.safetensors --json").json();
    assert_eq!(inspected["unobserved_costs"][0], "d");
    // The item x feature of all items.
    assert!(inspected["coefficients"][0]["intercept"].is_number());
}

#[test]
fn training_of_a_long_table_leaves_out_an_item_that_no_training_row_has_by_any_method() {
    for method in [
        "MAE(O,S) --epochs 3",
        "MSE --epochs 3 --predictor mlp:4",
        "auto~1s",
    ] {
        let workspace = long_workspace(50..60);
        let train = TRAIN_LONG.replace("least~squares", method);
        run(&workspace, &train).succeeded();
        let decided = workspace
            .run(&format!("{DECIDE_LONG} --data new.csv"))
            .succeeded();
        assert!(
            decided.err.contains("d (2 rows)"),
            "{method}: {}",
            decided.err
        );
        // Continued with rows of d, it is predicted.
        if !method.starts_with("auto") {
            let second = long_workspace(0..60);
            let first = workspace.bytes("model.safetensors");
            std::fs::write(second.path("first.safetensors"), first).unwrap();
            run(&second, &format!("{train} --init-model first.safetensors")).succeeded();
            let decided = second
                .run(&format!("{DECIDE_LONG} --data new.csv"))
                .succeeded();
            assert!(
                !decided.err.contains("left out"),
                "{method}: {}",
                decided.err
            );
        }
    }
}

#[test]
fn an_item_of_few_training_rows_of_a_long_table_is_named() {
    let workspace = long_workspace(30..60);
    let trained = run(&workspace, TRAIN_LONG).succeeded();
    assert!(
        trained.err.contains("d (6 rows), too few"),
        "{}",
        trained.err
    );
    let workspace = long_workspace(0..60);
    let trained = run(&workspace, TRAIN_LONG).succeeded();
    assert!(!trained.err.contains("value of d"), "{}", trained.err);
}

#[test]
fn an_item_that_the_model_never_saw_is_refused_by_name() {
    let workspace = long_workspace(50..60);
    run(&workspace, TRAIN_LONG).succeeded();
    let decided = workspace.run(&format!("{DECIDE_LONG} --data unknown.csv"));
    assert_ne!(decided.code, 0);
    assert!(decided.err.contains("'z'"), "{}", decided.err);
    assert!(!workspace.path("decisions.csv").exists());
}
