//! Notes about answers that are right under an assumption only.

#![allow(clippy::unwrap_used, reason = "a failed step should show where")]

mod common;

use std::fmt::Write as _;

use common::TestWorkspace;

/// A table of gains of three drinks; the weights of beer, water and cola are 12, 10 and 3.
fn drinks() -> TestWorkspace {
    let workspace = TestWorkspace::new();
    let mut table = "x,cola,beer,water\n".to_owned();
    for row in 0..40 {
        let x = f64::from(row % 7);
        writeln!(table, "{x},4,{},3", 5.0 + x).unwrap();
    }
    workspace.write("table.csv", &table);
    let problem = "kind = 'knapsack'\nweights = [12, 10, 3]\ncapacity = 13\n";
    workspace.write("by_position.toml", problem);
    let names = "items = ['beer', 'water', 'cola']\n";
    workspace.write("by_name.toml", &format!("{problem}{names}"));
    workspace.write(
        "unknown.toml",
        &format!("{problem}items = ['beer', 'water', 'wine']\n"),
    );
    workspace
}

const TRAIN: &str = "train --data table.csv --costs cola,beer,water --epochs 2 --method MSE";

#[test]
fn weights_without_names_are_shown_next_to_the_costs_they_are_matched_to() {
    let workspace = drinks();
    let command = format!("{TRAIN} --problem by_position.toml --out a.safetensors");
    let output = workspace.run(&command).succeeded();
    let note = "weights are matched to costs by position: cola 12, beer 10, water 3; name them \
                with items = [...]";
    assert!(output.err.contains(note), "{}", output.err);
    let command = format!("{TRAIN} --problem by_name.toml --out b.safetensors");
    let output = workspace.run(&command).succeeded();
    assert!(!output.err.contains("by position"), "{}", output.err);
    let command = format!("{TRAIN} --problem unknown.toml --out c.safetensors");
    let output = workspace.run(&command);
    for words in ["only the table has 'cola'", "has 'wine'"] {
        assert!(output.err.contains(words), "{}", output.err);
    }
}

/// A linear problem with the predicted costs a and b, and a table of 40 rows.
fn plan(model: &str) -> TestWorkspace {
    let workspace = TestWorkspace::new();
    workspace.write("plan.lp", model);
    workspace.write(
        "plan.toml",
        "kind = 'linear'\nfile = 'plan.lp'\ncosts = ['a', 'b']\n",
    );
    let mut table = "x,a,b\n".to_owned();
    for row in 0..40 {
        let x = f64::from(row % 7);
        writeln!(table, "{x},{},{}", 1.0 + 0.3 * x, 4.0 - 0.4 * x).unwrap();
    }
    workspace.write("table.csv", &table);
    workspace
}

/// Two machines with predicted costs and set-ups whose costs are known.
fn set_ups() -> TestWorkspace {
    plan(
        "Minimize\n obj: a + b + 5 set_a + 2 set_b\nSubject To\n need: a + b >= 3\n \
         link_a: a - 9 set_a <= 0\n link_b: b - 9 set_b <= 0\nBounds\n a <= 9\n b <= 9\n\
         Binary\n set_a set_b\nEnd\n",
    )
}

const SET_UP: &str = "train --data table.csv --costs a,b --problem plan.toml --epochs 2";

#[test]
fn methods_that_ignore_the_level_of_costs_are_named_next_to_known_costs() {
    let workspace = set_ups();
    let warning = "MAE(O,S) compares costs up to a factor, but 2 columns have known costs (set_a, \
                   set_b): the level of the predicted costs matters; consider MAE(O) or SPO+";
    let command = format!("{SET_UP} --method MAE(O,S) --out s.safetensors");
    let output = workspace.run(&command).succeeded();
    assert!(output.err.contains(warning), "{}", output.err);
    let compare = SET_UP.replace("train", "compare") + " --methods MSE;MAE(O,S) --seeds 1 --out c";
    let output = workspace.run(&compare).succeeded();
    assert!(output.err.contains(warning), "{}", output.err);
}

#[test]
fn predicted_amounts_of_scale_invariant_methods_are_no_money() {
    let workspace = set_ups();
    let train = |method: &str| {
        let command = format!("{SET_UP} --method {method} --out m.safetensors --force");
        workspace.run(&command).succeeded();
    };
    let note = "predicted costs are correct up to a per-row scale factor";
    let explain = "explain --model m.safetensors --data table.csv --row 0";
    let decide = "decide --model m.safetensors --data table.csv --out d.csv --force";
    train("MAE(O,S)");
    let output = workspace.run(explain).succeeded();
    assert!(
        output.out.contains(&format!("With MAE(O,S) {note}")),
        "{}",
        output.out
    );
    let json = workspace.run(&format!("{explain} --json")).json();
    assert!(
        json["scale_note"].as_str().unwrap().contains(note),
        "{json}"
    );
    let output = workspace.run(decide).succeeded();
    assert!(output.err.contains(note), "{}", output.err);
    train("MAE(O)");
    let output = workspace.run(explain).succeeded();
    assert!(!output.out.contains(note), "{}", output.out);
    let bias = "ith MAE(O) predicted costs may have a bias";
    assert!(output.out.contains(bias), "{}", output.out);
    let json = workspace.run(&format!("{explain} --json")).json();
    assert!(json["scale_note"].is_null() && json["bias_note"].is_string());
    let output = workspace.run(decide).succeeded();
    assert!(!output.err.contains(note) && output.err.contains(bias));
    train("MSE");
    let output = workspace.run(explain).succeeded();
    assert!(!output.out.contains("a bias"), "{}", output.out);
}

#[test]
fn a_training_says_when_nothing_was_learned_and_when_more_could_be() {
    let workspace = drinks();
    let run = |settings: &str| {
        let command = format!("{TRAIN} --problem by_name.toml {settings} --force");
        workspace.run(&command).succeeded().out
    };
    let slow = run("--select validation-loss --learning-rate 0.001");
    assert!(
        slow.contains("the last epoch was the best: more --epochs may help"),
        "{slow}"
    );
    let wild = run("--select validation-loss --learning-rate 1000");
    assert!(
        wild.contains("the untrained model was best: training did not lower the validation loss"),
        "{wild}"
    );
    let worse = run("--select last --learning-rate 1000");
    assert!(
        worse.contains("`MSE` is not certain to beat least squares: it loses "),
        "{worse}"
    );
}

#[test]
fn messages_name_what_was_probably_meant() {
    let workspace = set_ups();
    let message = |command: &str| workspace.run(command).err;
    let command = SET_UP.replace("--costs a,b", "--costs a,b --features xx");
    let found = message(&command);
    assert!(
        found.contains("did you mean 'x'? the file has: x, a, b"),
        "{found}"
    );
    let found = message("solve plan.toml");
    for words in [
        "plan.toml is a problem file, for train, label and decide",
        "solve takes the model itself: plan.lp",
    ] {
        assert!(found.contains(words), "{found}");
    }
    let found = message(&SET_UP.replace("plan.toml", "plan.lp"));
    for words in [
        "plan.lp is a model, not a problem file",
        "kind = \"linear\"",
    ] {
        assert!(found.contains(words), "{found}");
    }
    workspace.write("typo.toml", "kind = 'linaer'\nfile = 'plan.lp'\n");
    let found = message(&SET_UP.replace("plan.toml", "typo.toml"));
    for words in ["unknown kind 'linaer'", "did you mean 'linear'?"] {
        assert!(found.contains(words), "{found}");
    }
    let text = workspace
        .read("plan.lp")
        .replace("need: a + b >= 3", "need: a + b >= 30");
    workspace.write("none.lp", &text);
    let output = workspace.run("solve none.lp");
    assert!(output.out.contains("infeasible"), "{}", output.out);
    assert!(
        output
            .err
            .contains("need, the bounds of a and b cannot hold together"),
        "{}",
        output.err
    );
    let text = workspace.read("plan.lp").replace("set_a", "set[a,1]");
    workspace.write("brackets.lp", &text);
    let found = message("solve brackets.lp");
    for words in ["brackets.lp, row 2", "write the model as an MPS file"] {
        assert!(found.contains(words), "{found}");
    }
}

#[test]
fn least_squares_is_trained_and_decides_like_the_baseline_of_a_comparison() {
    let workspace = drinks();
    let train = format!("{TRAIN} --problem by_name.toml --split order:0.2,0.2 --out a.safetensors");
    let mut words: Vec<&str> = train.split_whitespace().collect();
    for word in &mut words {
        if *word == "MSE" {
            *word = "least squares";
        }
    }
    let trained = workspace.run_words(&words).succeeded();
    assert!(
        trained.out.contains("least squares on knapsack"),
        "{}",
        trained.out
    );
    assert!(!trained.out.contains("best epoch"), "{}", trained.out);
    let decide = "decide --model a.safetensors --data table.csv --out decisions.csv";
    workspace.run(decide).succeeded();
    // Gains are linear in x: the best decisions are predicted, and their values are right.
    let decisions = workspace.read("decisions.csv");
    let row = decisions.lines().nth(6).unwrap();
    let objective: f64 = row.split(',').nth(1).unwrap().parse().unwrap();
    assert!((objective - 10.0).abs() < 1e-3, "{row}");
}

#[test]
fn a_missing_row_of_a_long_table_does_not_change_which_item_is_which() {
    let workspace = TestWorkspace::new();
    let mut table = "day,item,x,gain,space\n".to_owned();
    for day in 0..40 {
        for (item, level) in [("cola", 4), ("beer", 9), ("water", 1)] {
            // Without the first item of a day, the others would move up by one position.
            if day == 7 && item == "cola" {
                continue;
            }
            writeln!(table, "{day},{item},{},{level},2", day % 5).unwrap();
        }
    }
    workspace.write("long.csv", &table);
    let problem = "kind = 'knapsack'\nweights = { column = 'space' }\ncapacity = 2\n";
    workspace.write("problem.toml", problem);
    let command = "compare --data long.csv --instance-column day --item-column item --cost-column \
                   gain --problem problem.toml --split order:0.2,0.2 --methods MSE --seeds 1 \
                   --epochs 1 --out result";
    let output = workspace.run(command).succeeded();
    let absent = "1 of 40 instances has fewer items than others";
    assert!(output.err.contains(absent), "{}", output.err);
    // Weights are in the rows of items.
    assert!(!output.err.contains("by position"), "{}", output.err);
    for baseline in ["training mean", "previous row"] {
        let mut lines = output.out.lines();
        let line = lines.find(|line| line.starts_with(baseline)).unwrap();
        assert!(line.contains("0.00 %"), "{line}");
    }
}

#[test]
fn a_column_that_is_fixed_has_no_known_cost_that_matters() {
    let workspace = plan(
        "Minimize\n obj: a + b + 100 one\nSubject To\n need: a + b >= 3\nBounds\n a <= 9\n \
         b <= 9\n one = 1\nEnd\n",
    );
    let command = "train --method MAE(O,S) \
        --data table.csv --costs a,b --problem plan.toml --epochs 2";
    let output = workspace.run(command).succeeded();
    assert!(output.out.contains("MAE(O,S) on"), "{}", output.out);
    assert!(!output.err.contains("known costs"), "{}", output.err);
}
