//! Costs are matched to a problem by name. Feasibility and optimality are checked here by name,
//! independently of the library.

#![allow(clippy::unwrap_used, reason = "a failed step should show where")]

mod common;

use std::collections::BTreeMap;

use common::TestWorkspace;

/// `a` never fits: a decision that matches costs by position is infeasible.
const LP: &str =
    "maximize\n obj: a + b + c\nsubject to\n room: 5 a + b + c <= 2\nbinary\n a b c\nend\n";
const WEIGHTS: [(&str, f64); 3] = [("a", 5.0), ("b", 1.0), ("c", 1.0)];
const ROOM: f64 = 2.0;
const ROWS: usize = 30;

type ByName = BTreeMap<String, f64>;

/// True costs of one row; `a` is worth most.
fn truth(row: usize) -> [(&'static str, f64); 3] {
    let f = (row % 7) as f64;
    [("a", 9.0 + f), ("b", 2.0 - 0.5 * f), ("c", 1.0 - 0.25 * f)]
}

/// A folder with the model file, its problem file, and tables whose costs are in the order c, b, a.
fn workspace() -> TestWorkspace {
    let workspace = TestWorkspace::new();
    workspace.write("toy.lp", LP);
    workspace.write("toy.toml", "kind = 'linear'\nfile = 'toy.lp'\n");
    let mut wide = String::from("f,c,b,a\n");
    let mut long = String::from("day,thing,f,weight,cost\n");
    for row in 0..ROWS {
        let [a, b, c] = truth(row).map(|(_, cost)| cost);
        wide += &format!("{},{c},{b},{a}\n", row % 7);
        for (name, cost) in truth(row).iter().rev() {
            long += &format!("{row},{name},{},{},{cost}\n", row % 7, name.len());
        }
    }
    workspace.write("wide.csv", &wide);
    workspace.write("long.csv", &long);
    workspace
}

/// The same folder with a model that was trained on the wide table, with its costs in this order.
fn with_trained_model(costs: &str, epochs: usize) -> TestWorkspace {
    let workspace = workspace();
    let words = format!(
        "train --method MAE(O,S) --data wide.csv --features f --costs {costs} \
        --problem toy.toml --epochs {epochs}"
    );
    workspace.run(&words).succeeded();
    workspace
}

/// The numbers of a table's rows by the names in its header; keys and statuses are left out.
fn table(text: &str) -> Vec<ByName> {
    let mut lines = text.lines();
    let names: Vec<String> = lines.next().unwrap().split(',').map(String::from).collect();
    let row = |line: &str| {
        let cells = names.iter().cloned().zip(line.split(','));
        cells
            .filter(|(name, _)| !["day", "instance", "status"].contains(&name.as_str()))
            .map(|(name, cell)| (name, cell.parse().unwrap()))
            .collect()
    };
    lines.map(row).collect()
}

/// The maximum objective within the capacity, over all eight decisions.
fn most(costs: &ByName) -> f64 {
    let choices = (0..8_u32).map(|choice| {
        let chosen = WEIGHTS
            .iter()
            .enumerate()
            .filter(|(place, _)| choice >> place & 1 == 1);
        let (mut weight, mut worth) = (0.0, 0.0);
        for (_, (name, heavy)) in chosen {
            weight += heavy;
            worth += costs[*name];
        }
        if weight <= ROOM {
            worth
        } else {
            f64::NEG_INFINITY
        }
    });
    choices.fold(f64::NEG_INFINITY, f64::max)
}

/// Every decision is feasible and optimal for the predicted costs, by name.
fn assert_decisions(workspace: &TestWorkspace, decisions: &str, predictions: &str) {
    let (decisions, predictions) = (
        table(&workspace.read(decisions)),
        table(&workspace.read(predictions)),
    );
    assert_eq!((decisions.len(), predictions.len()), (ROWS, ROWS));
    for (decision, costs) in decisions.iter().zip(&predictions) {
        let weight: f64 = WEIGHTS
            .iter()
            .map(|(name, weight)| weight * decision[*name])
            .sum();
        assert!(weight <= ROOM, "infeasible: {decision:?}");
        let worth: f64 = WEIGHTS
            .iter()
            .map(|(name, _)| costs[*name] * decision[*name])
            .sum();
        assert!((worth - decision["objective"]).abs() < 1e-4, "{decision:?}");
        assert!(
            (worth - most(costs)).abs() < 1e-4,
            "{worth} instead of {}: {decision:?} for {costs:?}",
            most(costs)
        );
    }
}

fn note(err: &str) -> bool {
    err.lines()
        .any(|line| line.starts_with("note: ") && line.contains("matched by position"))
}

#[test]
fn wide_tables_in_another_order_are_matched_by_name() {
    let workspace = workspace();
    for costs in ["c,b,a", "a,c,b", "b*,a*,c*"] {
        let words = format!(
            "train --method MAE(O,S) \
                --data wide.csv --features f --costs {costs} --problem toy.toml --force"
        );
        let output = workspace
            .run(&format!("{words} --epochs 20 --out m.safetensors"))
            .succeeded();
        assert!(!note(&output.err), "{}", output.err);
        workspace
            .run(
                "decide --model m.safetensors --data wide.csv --out d.csv --predictions-out p.csv \
            --force",
            )
            .succeeded();
        assert_decisions(&workspace, "d.csv", "p.csv");
    }
    let sparse = "decide --model m.safetensors --data wide.csv --out s.csv --sparse";
    workspace.run(sparse).succeeded();
    assert!(
        workspace
            .read("s.csv")
            .lines()
            .skip(1)
            .all(|line| !line.contains(",a,")),
        "{}",
        workspace.read("s.csv")
    );
}

#[test]
fn labels_and_regrets_are_those_of_the_names() {
    let workspace = with_trained_model("c,b,a", 1);
    workspace
        .run("decide --model model.safetensors --data wide.csv --out d.csv")
        .succeeded();
    let decisions = table(&workspace.read("d.csv"));
    let mut regret = 0.0;
    for (row, decision) in decisions.iter().enumerate() {
        let costs: ByName = truth(row)
            .into_iter()
            .map(|(name, cost)| (name.to_string(), cost))
            .collect();
        let worth: f64 = costs.iter().map(|(name, cost)| cost * decision[name]).sum();
        regret += (most(&costs) - worth) / ROWS as f64;
    }
    let report = workspace
        .run("evaluate --model model.safetensors --data wide.csv --json")
        .json();
    assert!(
        (report["regret"].as_f64().unwrap() - regret).abs() < 1e-5,
        "{report} {regret}"
    );
    let perfect =
        "evaluate --predictions wide.csv --data wide.csv --costs c,b,a --problem toy.toml --json";
    assert_eq!(workspace.run(perfect).json()["regret"], 0.0);
}

#[test]
fn long_tables_in_another_order_are_matched_by_name() {
    let workspace = workspace();
    let columns = "--data long.csv --instance-column day --item-column thing";
    workspace
        .run(&format!("train {columns} --problem toy.toml --epochs 20"))
        .succeeded();
    let decide =
        format!("decide --model model.safetensors {columns} --out d.csv --predictions-out p.csv");
    workspace.run(&decide).succeeded();
    assert_decisions(&workspace, "d.csv", "p.csv");
    let found = workspace
        .run(&format!("evaluate --model model.safetensors {columns}"))
        .succeeded();
    assert!(!note(&found.err), "{}", found.err);
    let unnamed =
        "evaluate --model model.safetensors --data long.csv --instance-column day --ignore thing";
    assert!(
        note(&workspace.run(unnamed).succeeded().err),
        "without names of items positions decide"
    );
}

#[test]
fn different_names_are_refused_and_listed() {
    let workspace = workspace();
    let wide = workspace.read("wide.csv");
    workspace.write("other.csv", &wide.replacen("f,c,b,a", "f,c,b,bonus", 1));
    let both = &[
        "other.csv",
        "only the table has 'bonus'",
        "only linear problem toy has 'a'",
    ];
    for command in ["train", "label", "compare"] {
        let features = if command == "label" {
            ""
        } else {
            "--features f"
        };
        let words =
            format!("{command} --data other.csv {features} --costs c,b,bonus --problem toy.toml");
        workspace.run(&words).failed(3, both);
    }
    let more: String = wide
        .lines()
        .map(|line| format!("{line},{line}\n"))
        .collect();
    workspace.write(
        "more.csv",
        &more.replacen("f,c,b,a,f,c,b,a", "f,c,b,a,f2,c2,b2,a2", 1),
    );
    let words = "label --data more.csv --costs c,b,a,a2 --problem toy.toml";
    workspace
        .run(words)
        .failed(3, &["only the table has 'a2'", "(4 costs)", "(3 costs)"]);
}

#[test]
fn arrays_have_no_names_and_are_matched_by_position_with_a_message() {
    let workspace = with_trained_model("a,b,c", 1);
    let decide =
        "decide --model model.safetensors --data wide.csv --out d.csv --predictions-out p.npy";
    workspace.run(decide).succeeded();
    let name = workspace
        .run("label --cost-data p.npy --problem toy.toml")
        .succeeded();
    assert!(note(&name.err), "{}", name.err);
    let evaluated = workspace
        .run("evaluate --predictions p.npy --data wide.csv --costs c,b,a --problem toy.toml")
        .succeeded();
    assert!(note(&evaluated.err), "{}", evaluated.err);
    // A knapsack has no names for its costs: no message.
    let plain = TestWorkspace::with_knapsack();
    let output = plain
        .run("label --data table.csv --costs c* --problem problem.toml")
        .succeeded();
    assert!(!note(&output.err), "{}", output.err);
}

#[test]
fn a_model_is_matched_to_another_problem_by_name() {
    let workspace = with_trained_model("c,b,a", 20);
    workspace.write(
        "turned.lp",
        &LP.replace("a + b + c\n", "c + b + a\n")
            .replace("5 a + b + c", "c + b + 5 a"),
    );
    workspace.write("turned.toml", "kind = 'linear'\nfile = 'turned.lp'\n");
    let words = "--model model.safetensors --data wide.csv --problem turned.toml";
    workspace
        .run(&format!(
            "decide {words} --out d.csv --predictions-out p.csv"
        ))
        .succeeded();
    assert!(
        workspace
            .read("d.csv")
            .starts_with("instance,objective,status,c,b,a\n"),
        "the order of the problem given"
    );
    assert_decisions(&workspace, "d.csv", "p.csv");
    let here = workspace
        .run("evaluate --model model.safetensors --data wide.csv --json")
        .json();
    assert_eq!(
        workspace.run(&format!("evaluate {words} --json")).json()["regret"],
        here["regret"]
    );
    workspace.write(
        "turned.lp",
        &LP.replace('a', "z")
            .replace("mzximize", "maximize")
            .replace("binzry", "binary"),
    );
    workspace
        .run(&format!("decide {words} --out e.csv"))
        .failed(3, &["only the model has 'a'", "has 'z'"]);
}

#[test]
fn columns_of_linear_arrays_may_have_names() {
    let workspace = workspace();
    let column = |name: &str| {
        format!("[[columns]]\nname = '{name}'\nlower = 0\nupper = 1\ninteger = true\n")
    };
    let row = "[[rows]]\nupper = 2\nentries = [[0, 5], [1, 1], [2, 1]]\n";
    let head = "kind = 'linear_arrays'\nname = 'toy'\nsense = 'maximize'\n";
    let problem = |names: [&str; 3]| format!("{head}{}{row}", names.map(column).concat());
    workspace.write("arrays.toml", &problem(["a", "b", "c"]));
    workspace
        .run(
            "train --method MAE(O,S) \
            --data wide.csv --features f --costs c,b,a --problem arrays.toml --epochs 20",
        )
        .succeeded();
    let decide =
        "decide --model model.safetensors --data wide.csv --out d.csv --predictions-out p.csv";
    workspace.run(decide).succeeded();
    assert_decisions(&workspace, "d.csv", "p.csv");
    let name = "label --data wide.csv --costs c,b,a --problem arrays.toml";
    workspace.write("arrays.toml", &problem(["a", "b", "a"]));
    workspace
        .run(name)
        .failed(2, &["two columns are named 'a'"]);
    workspace.write("arrays.toml", &problem(["a", "b", ""]));
    workspace
        .run(name)
        .failed(2, &["column 2 (counted from 0) has an empty name"]);
    workspace.write(
        "arrays.toml",
        &problem(["a", "b", "c"]).replacen("name = 'b'\n", "", 1),
    );
    workspace.run(name).failed(2, &["some have none"]);
    let nameless = "[[columns]]\nlower = 0\nupper = 1\ninteger = true\n".repeat(3);
    workspace.write("arrays.toml", &format!("{head}{nameless}{row}"));
    assert!(
        note(&workspace.run(name).succeeded().err),
        "a table with names and a problem that could have some"
    );
}

/// A model of an earlier version names the file of its problem and has its hash. This one was
/// trained for `EARLIER_LP` with the path `toy.lp`.
const EARLIER_MODEL: &[u8] = include_bytes!("files/model-2.safetensors");
const EARLIER_LP: &str =
    "maximize\n obj: a + b + c\nsubject to\n weight: 5 a + b + c <= 2\nbinary\n a b c\nend\n";

#[test]
fn the_problem_file_of_an_earlier_model_must_not_have_changed() {
    let workspace = workspace();
    std::fs::create_dir(workspace.path("kept")).unwrap();
    std::fs::write(workspace.path("kept/m.safetensors"), EARLIER_MODEL).unwrap();
    workspace.write("toy.lp", EARLIER_LP);
    let decide = "decide --model kept/m.safetensors --data wide.csv --out d.csv --force";
    workspace.run(decide).succeeded();
    workspace.write("toy.lp", &EARLIER_LP.replace("<= 2", "<= 7"));
    workspace
        .run(decide)
        .failed(3, &["toy.lp", "changed since training", "problem file"]);
    workspace
        .run("evaluate --model kept/m.safetensors --data wide.csv")
        .failed(3, &["changed since training"]);
    // With --problem the changed file is used.
    workspace
        .run(&format!("{decide} --problem toy.toml"))
        .succeeded();
    assert!(
        table(&workspace.read("d.csv"))
            .iter()
            .all(|row| row["a"] == 1.0),
        "{}",
        workspace.read("d.csv")
    );
    std::fs::remove_file(workspace.path("toy.lp")).unwrap();
    workspace
        .run(decide)
        .failed(3, &["toy.lp", "is missing", "problem file"]);
    // The file is also found next to the model.
    workspace.write("kept/toy.lp", EARLIER_LP);
    workspace.run(decide).succeeded();
    workspace.write("toy.lp", "nothing of the kind: hunter2\n");
    workspace.run(decide).succeeded();
    std::fs::remove_file(workspace.path("kept/toy.lp")).unwrap();
    let output = workspace.run(decide);
    assert!(!output.err.contains("hunter2"), "{}", output.err);
    output.failed(3, &["changed since training"]);
}

#[test]
fn a_model_decides_the_same_wherever_it_is_and_whatever_becomes_of_its_files() {
    let workspace = with_trained_model("c,b,a", 1);
    let decide = "--data wide.csv --out d.csv --predictions-out p.csv --force";
    workspace
        .run(&format!("decide --model model.safetensors {decide}"))
        .succeeded();
    let (decisions, predictions) = (workspace.bytes("d.csv"), workspace.bytes("p.csv"));
    let evaluation = workspace
        .run("evaluate --model model.safetensors --data wide.csv --json")
        .json();

    // Another folder has a copy of the model and of the rows, and nothing else.
    let elsewhere = TestWorkspace::new();
    for file in ["model.safetensors", "wide.csv"] {
        std::fs::write(elsewhere.path(file), workspace.bytes(file)).unwrap();
    }
    let problem = workspace.read("toy.toml");
    drop(workspace);
    let check = |what: &str| {
        elsewhere
            .run(&format!("decide --model model.safetensors {decide}"))
            .succeeded();
        assert_eq!(elsewhere.bytes("d.csv"), decisions, "{what}");
        assert_eq!(elsewhere.bytes("p.csv"), predictions, "{what}");
        let found = elsewhere
            .run("evaluate --model model.safetensors --data wide.csv --json")
            .json();
        assert_eq!(found["regret"], evaluation["regret"], "{what}");
    };
    check("everything else is gone");
    elsewhere.write("toy.lp", &LP.replace("<= 2", "<= 7"));
    check("a file of the same name is another one");
    // --problem still counts.
    elsewhere.write("toy.toml", &problem);
    elsewhere
        .run(&format!(
            "decide --model model.safetensors --problem toy.toml {decide}"
        ))
        .succeeded();
    assert!(
        table(&elsewhere.read("d.csv"))
            .iter()
            .all(|row| row["a"] == 1.0),
        "{}",
        elsewhere.read("d.csv")
    );
}

#[test]
fn rows_that_were_trained_on_are_counted() {
    let workspace = with_trained_model("c,b,a", 1);
    let evaluate = "evaluate --model model.safetensors --data";
    let overlap = |file: &str| {
        let words = format!("{evaluate} {file} --json");
        let report = workspace.run(&words).json();
        report["training_overlap"].clone()
    };
    // Rows repeat every seven days, so all of them are among those of the training.
    let output = workspace.run(&format!("{evaluate} wide.csv")).succeeded();
    let warning = "note: the model was trained or validated on 30 of these 30 rows";
    assert!(output.err.contains(warning), "{}", output.err);
    let all = serde_json::json!({ "rows": 30, "compared": 30, "seen": 30 });
    assert_eq!(overlap("wide.csv"), all);
    // The order of the columns does not matter; other costs do.
    let text = workspace.read("wide.csv");
    let mut turned = String::new();
    for line in text.lines().take(11) {
        let cells: Vec<&str> = line.split(',').collect();
        turned.push_str(&format!(
            "{},{},{},{}\n",
            cells[3], cells[1], cells[0], cells[2]
        ));
    }
    turned.push_str("1,2,3,4\n");
    workspace.write("turned.csv", &turned);
    let some = serde_json::json!({ "rows": 11, "compared": 11, "seen": 10 });
    assert_eq!(overlap("turned.csv"), some);
    workspace.write("new.csv", "f,c,b,a\n1,2,3,4\n2,2,3,4\n");
    let output = workspace.run(&format!("{evaluate} new.csv")).succeeded();
    assert!(!output.err.contains("trained"), "{}", output.err);
    // A model that does not record its rows makes no statement.
    std::fs::write(workspace.path("old.safetensors"), EARLIER_MODEL).unwrap();
    workspace.write("toy.lp", EARLIER_LP);
    let report = workspace
        .run("evaluate --model old.safetensors --data wide.csv --json")
        .json();
    assert!(report["training_overlap"].is_null(), "{report}");
}

#[test]
fn known_costs_whose_columns_lack_the_first_word_of_the_costs_get_a_hint() {
    let workspace = TestWorkspace::new();
    workspace.write(
        "table.csv",
        "x,now_a,now_b,buy_a,buy_b\n1,2,3,4,5\n2,2,3,5,4\n3,2,3,4,5\n",
    );
    let problem = "kind = 'knapsack'\nweights = [1, 1]\ncapacity = 1\nitems = ['buy_a', 'buy_b']\n";
    let known = "known = { columns = 'now_*' }\n";
    workspace.write("problem.toml", &format!("{problem}{known}"));
    let check = "check --data table.csv --costs buy_* --features x --problem problem.toml";
    let hint = "known = { \"buy_*\" = { column = \"now_*\" } }";
    workspace
        .run(check)
        .failed(3, &["now_buy_a", "the problem needs this column", hint]);
    workspace.write("problem.toml", &format!("{problem}{hint}\n"));
    workspace.run(check).succeeded();
}
