//! Tables whose rows have parameters of the problem, and instances with different items.

#![allow(clippy::unwrap_used, reason = "a failed step should show where")]

mod common;

use std::fmt::Write as _;

use common::TestWorkspace;

const ROWS: usize = 40;

/// The capacity of a day.
fn capacity(day: usize) -> f64 {
    3.0 + (day % 4) as f64
}

/// The gains of three items on a day.
fn gains(day: usize) -> [f64; 3] {
    let x = (day % 7) as f64;
    [1.0 + x, 6.5 - 0.5 * x, 4.25]
}

/// A knapsack of three items whose capacity changes daily, as a column and as files of its own.
fn knapsack() -> TestWorkspace {
    let workspace = TestWorkspace::new();
    let mut table = "day,x,truck,c0,c1,c2\n".to_owned();
    let (mut plain, mut files) = ("day,x,c0,c1,c2\n".to_owned(), "truck\n".to_owned());
    for day in 0..ROWS {
        let (x, truck, [a, b, c]) = (day % 7, capacity(day), gains(day));
        writeln!(table, "d{day},{x},{truck},{a},{b},{c}").unwrap();
        writeln!(plain, "d{day},{x},{a},{b},{c}").unwrap();
        writeln!(files, "{truck}").unwrap();
    }
    workspace.write("table.csv", &table);
    workspace.write("plain.csv", &plain);
    workspace.write("trucks.csv", &files);
    workspace.write(
        "problem.toml",
        "kind = 'knapsack'\nweights = [[2.0, 3.0, 1.0]]\ncapacity = [{ column = 'truck' }]\n",
    );
    workspace
}

/// The best gain of a day with its capacity, by enumeration.
fn best(day: usize) -> f64 {
    let weights = [2.0, 3.0, 1.0];
    let mut best = 0.0_f64;
    for set in 0..8_u32 {
        let chosen = (0..3).filter(|item| set >> item & 1 == 1);
        let (mut weight, mut gain) = (0.0, 0.0);
        for item in chosen {
            weight += weights[item];
            gain += gains(day)[item];
        }
        if weight <= capacity(day) {
            best = best.max(gain);
        }
    }
    best
}

#[test]
fn a_capacity_per_row_is_used_by_every_command() {
    let workspace = knapsack();
    let train = "train --costs c* --problem problem.toml --epochs 3 --method MAE(O,S)";
    let run = workspace
        .run(&format!("{train} --data table.csv"))
        .succeeded();
    assert!(run.out.contains("2: x, truck"), "{}", run.out);
    assert!(!run.err.contains("truck"), "it is used: {}", run.err);
    workspace
        .run("evaluate --model model.safetensors --data table.csv --rows-out rows.csv --key day")
        .succeeded();
    let rows = workspace.read("rows.csv");
    for (day, row) in rows.lines().skip(1).enumerate() {
        let cells: Vec<&str> = row.split(',').collect();
        assert_eq!(cells[0], format!("d{day}"));
        let optimal: f64 = cells[3].parse().unwrap();
        assert!((optimal - best(day)).abs() < 1e-5, "{row}: {}", best(day));
    }
    workspace
        .run("decide --model model.safetensors --data table.csv --out decisions.csv --key day")
        .succeeded();
    let decisions = workspace.read("decisions.csv");
    for (day, row) in decisions.lines().skip(1).enumerate() {
        let values: Vec<f64> = row
            .split(',')
            .skip(3)
            .map(|cell| cell.parse().unwrap())
            .collect();
        let weight = 2.0 * values[0] + 3.0 * values[1] + values[2];
        assert!(weight <= capacity(day), "{row}");
    }
    workspace
        .run("label --data table.csv --costs c* --problem problem.toml")
        .succeeded();
    let inspect = "inspect model.safetensors --data table.csv --repeats 1";
    let importance = workspace.run(inspect).succeeded();
    assert!(importance.out.contains("truck"), "{}", importance.out);
    let compare = "compare --data table.csv --costs c* --problem problem.toml --epochs 2 \
                   --methods MSE;SPO+ --out comparison";
    workspace.run(compare).succeeded();
}

#[test]
fn files_of_parameters_give_the_labels_of_columns() {
    let workspace = knapsack();
    let label = |options: &str| {
        let words = format!("label --costs c* --problem problem.toml --json {options}");
        workspace.run(&words).json()
    };
    label("--data table.csv");
    label("--data plain.csv --parameters trucks.csv");
    let evaluate = |options: &str| {
        let words = format!(
            "evaluate --predictions predictions.csv --costs c* --problem problem.toml --json \
             {options}"
        );
        workspace.run(&words).json()["regret"].clone()
    };
    let mut predictions = "c0,c1,c2\n".to_owned();
    for _ in 0..ROWS {
        predictions += "1,2,3\n";
    }
    workspace.write("predictions.csv", &predictions);
    let by_column = evaluate("--data table.csv");
    assert_eq!(
        by_column,
        evaluate("--data plain.csv --parameters trucks.csv")
    );
    workspace.write("settings.toml", "parameters = 'trucks.csv'\n");
    assert_eq!(
        by_column,
        evaluate("--data plain.csv --config settings.toml")
    );
    let refused = |options: &str, code: i32, words: &[&str]| {
        let label = "label --costs c* --problem problem.toml";
        let run = workspace.run(&format!("{label} {options}"));
        run.failed(code, words);
    };
    let words = ["plain.csv", "row 1", "column truck", "day, x, c0"];
    refused("--data plain.csv", 3, &words);
    let other = "--data table.csv --parameters predictions.csv";
    refused(other, 2, &["predictions.csv", "it needs: truck"]);
    workspace.write("trucks.csv", "truck\n3\n-1\n");
    let fewer = "--data plain.csv --parameters trucks.csv";
    refused(
        fewer,
        3,
        &["trucks.csv", "2 rows of parameters for 40 instances"],
    );
    let costs = "label --data table.csv --costs c*,truck --problem problem.toml";
    let words = [
        "table.csv",
        "row 1",
        "column truck",
        "a cost and a parameter",
    ];
    workspace.run(costs).failed(3, &words);
}

/// Houses on offer: two to four per day, with prices that depend on their size.
fn houses() -> TestWorkspace {
    let workspace = TestWorkspace::new();
    let mut table = "day,house,size,budget,weight,gain\n".to_owned();
    for day in 0..ROWS {
        for house in 0..2 + day % 3 {
            let size = ((day * 3 + house * 5) % 9) as f64;
            let (budget, weight) = (4 + day % 2, 1 + (day + house) % 3);
            let gain = 2.0 * size + 1.0;
            writeln!(
                table,
                "d{day},h{day}_{house},{size},{budget},{weight},{gain}"
            )
            .unwrap();
        }
    }
    workspace.write("houses.csv", &table);
    workspace.write(
        "problem.toml",
        "kind = 'knapsack'\nweights = [{ column = 'weight' }]\n\
         capacity = [{ column = 'budget' }]\n",
    );
    workspace
}

#[test]
fn decisions_name_the_items_of_each_instance() {
    let workspace = houses();
    let columns = "--instance-column day --item-column house";
    let train = format!(
        "train --method MAE(O,S) \
            --data houses.csv {columns} --cost-column gain --problem problem.toml --epochs 3"
    );
    workspace.run(&train).succeeded();
    let new_rows = "day,house,size,budget,weight\n\
                    mon,a,1,4,2\nmon,b,8,4,2\nmon,c,2,4,2\ntue,z,1,4,1\n";
    workspace.write("new.csv", new_rows);
    let decide = format!("decide --model model.safetensors --data new.csv {columns} --force");
    workspace
        .run(&format!("{decide} --out decisions.csv"))
        .succeeded();
    let decisions = workspace.read("decisions.csv");
    let items: Vec<&str> = decisions
        .lines()
        .skip(1)
        .map(|row| row.split(',').nth(3).unwrap())
        .collect();
    assert_eq!(items, ["a", "b", "c", "z"], "{decisions}");
    assert!(
        decisions.contains(",b,1") && decisions.contains(",z,1"),
        "{decisions}"
    );
    workspace
        .run(&format!(
            "{decide} --out decisions.csv --predictions-out p.csv"
        ))
        .failed(2, &["different items", "--predictions-out"]);
    let evaluated = format!(
        "evaluate --model model.safetensors --data houses.csv {columns} --cost-column gain --json"
    );
    let regret = workspace.run(&evaluated).json()["regret"].as_f64().unwrap();
    assert!(regret >= 0.0);
    workspace.write(
        "new.csv",
        "day,house,size,budget,weight\nmon,a,1,4,2\nmon,a,8,4,2\n",
    );
    workspace
        .run(&format!("{decide} --out decisions.csv"))
        .failed(3, &["new.csv", "row 3", "column house", "'a' twice"]);
    workspace.write(
        "new.csv",
        "day,house,size,budget,weight\nmon,a,1,4,2\nmon,b,8,5,2\n",
    );
    workspace
        .run(&format!("{decide} --out decisions.csv"))
        .failed(3, &["new.csv", "row 3", "column budget", "4 and 5"]);
}

#[test]
fn a_row_without_a_feasible_decision_does_not_stop_the_others() {
    let workspace = TestWorkspace::new();
    let header = "day,x,k,c0,c1,c2\n";
    let rows: String = (0..12)
        .map(|day| format!("d{day},{day},{},{},2,3\n", 1 + day % 2, day % 5))
        .collect();
    workspace.write("t.csv", &format!("{header}{rows}"));
    workspace.write(
        "p.toml",
        "kind = 'top_k'\nitems = 3\nk = { column = 'k' }\nsense = 'minimize'\n",
    );
    workspace
        .run(
            "train --method MAE(O,S) \
            --data t.csv --costs c* --features x --problem p.toml --out m.safetensors",
        )
        .succeeded();
    workspace.write("new.csv", "day,x,k\ne1,1,1\ne2,2,4\ne3,3,2\n");
    let decide = "decide --model m.safetensors --data new.csv --key day --out";
    let run = workspace.run(&format!("{decide} d.csv"));
    assert_eq!(run.code, 4, "{}{}", run.out, run.err);
    assert!(run.err.contains("day e2 has no decision"), "{}", run.err);
    assert!(run.err.contains("k = 4 of 3"), "{}", run.err);
    let decided = workspace.read("d.csv");
    let keys: Vec<&str> = decided.lines().map(|line| &line[..2]).collect();
    assert_eq!(keys, ["da", "e1", "e3"], "{decided}");
    // An array has no keys: which row is missing could not be seen.
    workspace
        .run("decide --model m.safetensors --data new.csv --out d.npy")
        .failed(4, &["k = 4 of 3"]);
    assert!(!workspace.path("d.npy").exists());
}

const PLAN: &str = "Minimize\n cost: + 3 north + 4 south + 9 late\nSubject To\n \
    demand: north + late >= 5\n other: south >= 4\n supply: north + south <= 12\n\
    Bounds\n late <= 3\nEnd\n";

/// Demands of twelve days; day 4 needs more than there is unless `late` is unbounded.
fn plan() -> TestWorkspace {
    let workspace = TestWorkspace::new();
    workspace.write("plan.lp", PLAN);
    let mut table = "day,wind,need,north,south\n".to_owned();
    for day in 0..12 {
        let need = if day == 4 { 20 } else { 3 + day % 3 };
        let (wind, north) = (day % 5, 3 + day % 4);
        writeln!(table, "2026-03-{:02},{wind},{need},{north},4", day + 1).unwrap();
    }
    workspace.write("plan.csv", &table);
    workspace
}

/// A problem of the plan with more keys, as a file or as a table of a settings file.
fn plan_problem(keys: &str) -> String {
    format!(
        "kind = 'linear'\nfile = 'plan.lp'\ncosts = ['north', 'south']\n\
         rhs = {{ demand = {{ column = 'need' }} }}\n{keys}\n"
    )
}

#[test]
fn infinite_bounds_are_read_from_problem_files_and_settings() {
    let workspace = plan();
    workspace.write("plan.toml", &plan_problem("upper = { late = inf }"));
    let label = "label --data plan.csv --costs north,south --problem plan.toml --json";
    let labels = workspace.run(label).json();
    assert_eq!(labels["failed"], serde_json::json!([]));
    workspace.write("plan.toml", &plan_problem("upper = { late = nan }"));
    let words = ["plan.toml", "upper.late = NaN: this is not a number"];
    workspace.run(label).failed(2, &words);
    let settings = "data = 'plan.csv'\ncosts = ['north', 'south']\nsplit = 'order:0.25,0.25'\n\
                    epochs = 2\n[problem]\n";
    let inline = plan_problem("upper = { late = inf }\nlower = { late = -inf }");
    workspace.write("s.toml", &format!("{settings}{inline}"));
    let train = |config: &str, out: &str| {
        let words = format!("train --config {config} --out {out}.safetensors --json");
        workspace.run(&words).json()["test"]["regret"].clone()
    };
    let first = train("s.toml", "first");
    assert!(first.is_number(), "{first}");
    let written = workspace.read("first.settings.toml");
    assert!(written.contains("late = \"inf\""), "{written}");
    assert_eq!(train("first.settings.toml", "second"), first);
}

#[test]
fn missing_bounds_of_arrays_are_infinite_in_settings_too() {
    let workspace = TestWorkspace::new();
    let rows: String = (0..12)
        .map(|x| format!("{x},{},2,1\n", 5 + x % 2))
        .collect();
    workspace.write("t.csv", &format!("x,lo,a,b\n{rows}"));
    let settings = |lower: &str| {
        format!(
            "data = 't.csv'\ncosts = ['a', 'b']\nfeatures = ['x']\nsplit = 'order:0.2,0.2'\n\
             epochs = 2\n[problem]\nkind = 'linear_arrays'\nname = 'p'\nsense = 'minimize'\n\
             columns = [{{ lower = {lower}, upper = 10.0, name = 'a' }}, \
             {{ lower = 0.0, upper = 3.0, name = 'b' }}]\n\
             rows = [{{ lower = {{ column = 'lo' }}, upper = inf, \
             entries = [[0, 1.0], [1, 1.0]] }}]\n"
        )
    };
    workspace.write("s.toml", &settings("-inf"));
    workspace
        .run("train --config s.toml --out first.safetensors")
        .succeeded();
    workspace
        .run("train --config first.settings.toml --out second.safetensors")
        .succeeded();
    workspace.write("s.toml", &settings("inf"));
    let words = ["s.toml", "columns[0].lower = inf", "no number is above"];
    workspace
        .run("train --config s.toml --out third.safetensors")
        .failed(2, &words);
}

#[test]
fn parameters_may_be_in_the_file_of_features() {
    let workspace = knapsack();
    let (mut features, mut costs) = ("x,truck\n".to_owned(), "c0,c1,c2\n".to_owned());
    for day in 0..ROWS {
        let (x, truck, [a, b, c]) = (day % 7, capacity(day), gains(day));
        writeln!(features, "{x},{truck}").unwrap();
        writeln!(costs, "{a},{b},{c}").unwrap();
    }
    workspace.write("x.csv", &features);
    workspace.write("c.csv", &costs);
    let pair = "--data x.csv --cost-data c.csv --problem problem.toml";
    let labels = workspace.run(&format!("label {pair} --json")).json();
    assert_eq!(labels["rows"], ROWS);
    assert_eq!(labels["unused_columns"], serde_json::json!([]));
    // The labels are those of training, which solves nothing to get them.
    let train = workspace
        .run(&format!("train {pair} --epochs 2"))
        .succeeded();
    let words = format!("labels of {ROWS} of {ROWS} rows read");
    assert!(train.err.contains(&words), "{}", train.err);
    workspace.write("x.csv", "x,lorry\n1,2\n");
    let words = ["x.csv", "row 1", "column truck"];
    workspace.run(&format!("label {pair}")).failed(3, &words);
}

#[test]
fn skipped_rows_are_listed_with_row_key_and_reason() {
    let workspace = plan();
    workspace.write("plan.toml", &plan_problem(""));
    let table = "--data plan.csv --costs north,south --problem plan.toml";
    let check = |found: &serde_json::Value| {
        let found = found.as_array().unwrap();
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0]["row"], 4);
        assert_eq!(found[0]["key"], "2026-03-05");
        let reason = found[0]["reason"].as_str().unwrap();
        assert!(reason.contains("no decision is feasible"), "{reason}");
        assert!(reason.contains("demand"), "{reason}");
    };
    let label = workspace.run(&format!("label {table} --json")).json();
    check(&label["failed"]);
    let train = format!("train {table} --features wind --split order:0.25,0.25 --epochs 2");
    check(&workspace.run(&format!("{train} --json")).json()["skipped_rows"]);
    let report = workspace.read("model.report.json");
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    check(&report["skipped_rows"]);
    let text = workspace.run(&format!("{train} --force")).succeeded().out;
    let line = "skipped rows       1; model.report.json says why";
    assert!(text.contains(line), "{text}");
    let evaluate = "evaluate --model model.safetensors --data plan.csv --json";
    check(&workspace.run(evaluate).json()["skipped_rows"]);
    let compare = format!(
        "compare {table} --features wind --split order:0.25,0.25 --epochs 2 --methods MSE \
         --seeds 1 --out comparison --json"
    );
    check(&workspace.run(&compare).json()["skipped_rows"]);
    let decide = "decide --model model.safetensors --data plan.csv --key day --out d.csv --json";
    let run = workspace.run(decide);
    assert_eq!(run.code, 4, "{}{}", run.out, run.err);
    let decided: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    check(&decided["failed"]);
}

#[test]
fn all_instances_of_an_evaluated_table_may_lack_a_known_item() {
    let workspace = houses();
    let columns = "--instance-column day --item-column house";
    let header = "day,house,size,budget,weight,gain\n";
    let mut table = header.to_owned();
    for day in 0..ROWS {
        let (a, b) = (day % 4, day % 3);
        let (gain_a, gain_b) = (1 + 2 * a, 1 + 2 * b);
        writeln!(
            table,
            "d{day},a,{a},4,2,{gain_a}\nd{day},b,{b},4,3,{gain_b}"
        )
        .unwrap();
    }
    workspace.write("both.csv", &table);
    let options = format!("{columns} --cost-column gain");
    workspace
        .run(&format!(
            "train --method MAE(O,S) --data both.csv {options} --problem problem.toml --epochs 2"
        ))
        .succeeded();
    workspace.write(
        "one.csv",
        &format!("{header}mon,a,1,4,2,3\ntue,a,2,4,2,5\n"),
    );
    let evaluate = format!("evaluate --model model.safetensors {options} --json --data");
    let evaluation = workspace.run(&format!("{evaluate} one.csv")).json();
    assert_eq!(evaluation["instances"], 2);
    // The only item fits, so taking it is the best decision.
    assert_eq!(evaluation["regret"], 0.0);
    workspace.write(
        "other.csv",
        &format!("{header}mon,a,1,4,2,3\ntue,z,2,4,2,5\n"),
    );
    let words = [
        "other.csv",
        "row 3",
        "column house",
        "an item 'z'",
        "the model knows",
    ];
    workspace
        .run(&format!("{evaluate} other.csv"))
        .failed(3, &words);
    // Without names, the table does not fit.
    workspace
        .run(
            "evaluate --model model.safetensors --instance-column day --cost-column gain \
              --data one.csv --ignore house",
        )
        .failed(
            3,
            &[
                "one.csv",
                "a long table with 2 items",
                "one item per instance",
            ],
        );
}

#[test]
fn empty_costs_of_items_that_exist_are_refused_with_their_cell() {
    let workspace = houses();
    let table = workspace
        .read("houses.csv")
        .replacen("d2,h2_1,2,4,1,5", "d2,h2_1,2,4,1,", 1);
    let row = table.lines().position(|line| line.ends_with(',')).unwrap() + 1;
    workspace.write("houses.csv", &table);
    let columns = "--instance-column day --item-column house --cost-column gain";
    workspace
        .run(&format!(
            "label --data houses.csv {columns} --problem problem.toml"
        ))
        .failed(
            3,
            &["houses.csv", &format!("row {row}"), "column gain", "empty"],
        );
}

#[test]
fn different_items_and_present_are_not_combined() {
    let workspace = houses();
    let problem = workspace.read("problem.toml");
    workspace.write(
        "problem.toml",
        &format!("{problem}present = {{ column = 'size' }}\n"),
    );
    let columns = "--instance-column day --item-column house --cost-column gain";
    workspace
        .run(&format!(
            "label --data houses.csv {columns} --problem problem.toml"
        ))
        .failed(
            3,
            &[
                "houses.csv",
                "different items",
                "`present`",
                "cannot be combined",
            ],
        );
}

#[test]
fn errors_in_files_of_parameters_do_not_name_the_problem_file() {
    let workspace = knapsack();
    let label = "label --data plain.csv --costs c* --problem problem.toml --parameters";
    for (file, message) in [
        (
            "W=W.npy",
            "error: W=W.npy: the problem needs no parameter of this file",
        ),
        (
            "W.npy",
            "error: 'W.npy' does not say which parameter the array holds",
        ),
    ] {
        workspace
            .run(&format!("{label} {file}"))
            .failed(2, &[message]);
    }
}

#[test]
fn instances_that_lack_items_are_counted() {
    let workspace = TestWorkspace::new();
    let mut table = String::from("day,job,x,cost\n");
    for day in 0..12 {
        for job in ["a", "b", "c"] {
            // Day 4 has no row of job b.
            if (day, job) != (4, "b") {
                table.push_str(&format!("{day},{job},{},{}\n", day % 3, 1 + day % 4));
            }
        }
    }
    workspace.write("t.csv", &table);
    workspace.write("p.toml", "kind = 'top_k'\nk = 1\nsense = 'minimize'\n");
    let columns = "--data t.csv --instance-column day --item-column job";
    let words = "1 of 12 instances has fewer items than others, the first of them is instance 4";
    let train = format!("train {columns} --problem p.toml --out m.safetensors");
    let run = workspace.run(&train).succeeded();
    assert!(run.err.contains(words), "{}", run.err);
    let decide = format!("decide {columns} --model m.safetensors --out d.csv");
    let run = workspace.run(&decide).succeeded();
    assert!(run.err.contains(words), "{}", run.err);
}
