//! `explain`: why one decision was made.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::TestWorkspace;
use serde_json::Value;

/// A small knapsack with a model, and a table with a column of dates.
fn workspace() -> TestWorkspace {
    let workspace = TestWorkspace::with_knapsack();
    workspace
        .run("train --data table.csv --costs c* --problem problem.toml --epochs 3 --method MSE")
        .succeeded();
    let table = workspace.read("table.csv");
    let mut dated = String::new();
    for (line, text) in table.lines().enumerate() {
        let cell = match line {
            0 => "date".to_owned(),
            // The last two rows have the same date.
            60 => "2026-03-59".to_owned(),
            day => format!("2026-03-{day:02}"),
        };
        dated.push_str(&format!("{cell},{text}\n"));
    }
    workspace.write("dated.csv", &dated);
    workspace
}

const EXPLAIN: &str = "explain --model model.safetensors --data dated.csv";

/// The names of the chosen costs.
fn chosen(found: &Value) -> Vec<String> {
    let costs = found["costs"].as_array().unwrap().iter();
    let chosen = costs.filter(|cost| cost["value"] == 1.0);
    chosen
        .map(|cost| cost["name"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn the_explained_decision_is_the_one_that_decide_writes() {
    let workspace = workspace();
    workspace
        .run("decide --model model.safetensors --data dated.csv --out d.csv")
        .succeeded();
    let decisions = workspace.read("d.csv");
    let mut lines = decisions.lines();
    let heading: Vec<&str> = lines.next().unwrap().split(',').collect();
    for (row, line) in lines.enumerate().take(5) {
        let found = workspace
            .run(&format!("{EXPLAIN} --row {row} --json"))
            .json();
        let cells = heading.iter().zip(line.split(','));
        let cells = cells.filter(|(name, cell)| name.starts_with('c') && *cell == "1");
        let expected: Vec<&str> = cells.map(|(name, _)| *name).collect();
        assert_eq!(chosen(&found), expected, "{line}");
        assert_eq!(found["row"], row);
    }
}

#[test]
fn a_row_is_found_by_its_number_and_by_its_key() {
    let workspace = workspace();
    let by_number = workspace.run(&format!("{EXPLAIN} --row 6 --json")).json();
    let by_key = workspace.run(&format!("{EXPLAIN} --key date=2026-03-07 --json"));
    assert_eq!(by_key.json(), by_number);
    let one_thread = workspace.run(&format!("{EXPLAIN} --row 6 --threads 1 --json"));
    assert_eq!(one_thread.json(), by_number);
}

#[test]
fn the_text_says_what_was_decided_and_why() {
    let workspace = workspace();
    let names = chosen(&workspace.run(&format!("{EXPLAIN} --row 4 --json")).json());
    let words = format!(
        "{EXPLAIN} --row 4 --costs c* --alternatives 2 --forbid-choice {}",
        names[0]
    );
    let output = workspace.run(&words).succeeded().out;
    for text in [
        "row 4 of knapsack of 8 items",
        "The decision chooses",
        "Its predicted gain is",
        "It changes when the predicted gain",
        &format!("Not choosing {} costs ", names[0]),
        "regret",
        "cost ranges (exact, by",
        "other decisions, the best first",
        "features: effect on the decision's objective",
    ] {
        assert!(output.contains(text), "'{text}' is not in:\n{output}");
    }
}

#[test]
fn the_shares_of_the_regret_add_up_in_the_output() {
    let workspace = workspace();
    let evaluated = "evaluate --model model.safetensors --data table.csv --rows-out rows.csv";
    workspace.run(evaluated).succeeded();
    let rows = workspace.read("rows.csv");
    let mut with_regret = 0;
    for row in 0..12 {
        let words = format!("{EXPLAIN} --row {row} --costs c* --alternatives 0 --json");
        let found = workspace.run(&words).json();
        let split = &found["regret"];
        let shares = split["shares"].as_array().unwrap().iter();
        let sum: f64 = shares.map(|share| share["share"].as_f64().unwrap()).sum();
        let number = |name: &str| split[name].as_f64().unwrap();
        assert!((sum - number("gap") - number("regret")).abs() < 1e-9);
        let line = rows.lines().nth(row + 1).unwrap();
        let evaluated: f64 = line.split(',').nth(1).unwrap().parse().unwrap();
        assert!((number("regret") - evaluated).abs() < 1e-6, "{line}");
        with_regret += usize::from(evaluated > 0.0);
    }
    assert!(with_regret > 2, "{with_regret}");
}

#[test]
fn what_cannot_be_explained_is_refused_with_a_remedy() {
    let workspace = workspace();
    for (words, code, expected) in [
        (
            "--row 60",
            3,
            &["dated.csv", "row 60 does not exist", "0 to 59"][..],
        ),
        ("--row 1 --force-choice c9", 2, &["'c9'", "c0, c1"]),
        ("", 2, &["60 rows", "--row"]),
        ("--key date", 2, &["'date' has no value", "date="]),
        (
            "--key date=2020-01-01",
            3,
            &["no row has date 2020-01-01", "2026-03-01"],
        ),
        ("--key date=2026-03-59", 3, &["2 rows have date", "--row"]),
        ("--key day=1", 3, &["dated.csv", "day"]),
        ("--row 1 --costs q*", 3, &["dated.csv", "q*"]),
        (
            "--row 1 --costs c0,c1",
            3,
            &["dated.csv", "2 true costs", "needs 8"],
        ),
    ] {
        workspace
            .run(&format!("{EXPLAIN} {words}"))
            .failed(code, expected);
    }
}

#[test]
fn choices_of_a_settings_file_are_answered_and_flags_replace_them() {
    let workspace = workspace();
    workspace.write("explain.toml", "force_choice = [\"c1\"]\n");
    let with_file = format!("{EXPLAIN} --row 1 --json --config explain.toml");
    let by_flag = format!("{EXPLAIN} --row 1 --json --force-choice c1");
    let expected = workspace.run(&by_flag).json();
    assert!(!expected["choices"].as_array().unwrap().is_empty());
    assert_eq!(
        workspace.run(&with_file).json()["choices"],
        expected["choices"]
    );
    let other = workspace
        .run(&format!("{with_file} --force-choice c2"))
        .json();
    assert_ne!(other["choices"], expected["choices"]);
}

#[test]
fn decisions_that_are_not_binary_have_ranges_and_no_list() {
    let workspace = TestWorkspace::new();
    workspace.write(
        "battery.toml",
        "kind = \"storage\"\nsteps = 4\ncapacity = 2.0\ncharge_limit = 1.0\n\
         discharge_limit = 1.0\n",
    );
    let mut table = String::from("x,p0,p1,p2,p3\n");
    for row in 0..20 {
        let x = f64::from(row % 7);
        let [a, b] = [1.0 + x, 9.0 - x];
        table.push_str(&format!("{x},{a},{b},{},{}\n", 0.5 * a, 2.0 + b));
    }
    workspace.write("prices.csv", &table);
    workspace
        .run("train --data prices.csv --costs p* --problem battery.toml --epochs 5 --method MSE")
        .succeeded();
    let explain = "explain --model model.safetensors --data prices.csv --row 2";
    let output = workspace.run(explain).succeeded().out;
    assert!(output.contains("cost ranges (exact"), "{output}");
    assert!(output.contains("binary decisions"), "{output}");
    let list = format!("{explain} --alternatives 2");
    workspace.run(&list).failed(2, &["binary decisions"]);
    let choice = format!("{explain} --force-choice p1");
    workspace.run(&choice).failed(2, &["binary decisions"]);
}

#[test]
fn columns_of_known_cost_are_part_of_the_explained_decision() {
    let workspace = TestWorkspace::new();
    workspace.write(
        "total.lp",
        "Minimize\n cost: + 3 bought + 1 truck + 6 own\nSubject To\n total: bought - truck = 0\n \
         demand: truck + own >= 5\nBounds\n bought <= 10\nEnd\n",
    );
    workspace.write(
        "total.toml",
        "kind = 'linear'\nfile = 'total.lp'\ncosts = ['bought']\n",
    );
    let mut table = String::from("wind,bought\n");
    for row in 0..30 {
        table.push_str(&format!("{},{}\n", row, 2 + row % 2 + row / 3));
    }
    workspace.write("table.csv", &table);
    workspace
        .run("train --data table.csv --costs bought --problem total.toml --method ridge(0.001)")
        .succeeded();
    // Where it is expensive to buy, nothing is bought.
    workspace.write("new.csv", "wind\n29\n0\n");
    for (row, words) in [
        (
            0,
            "The decision uses 0 of 1: none.\nColumns of known cost: own = 5.0000.",
        ),
        (1, "Columns of known cost: truck = 5.0000."),
    ] {
        let command = format!("explain --model model.safetensors --data new.csv --row {row}");
        let out = workspace.run(&command).succeeded().out;
        assert!(out.contains(words), "{out}");
        let found = workspace.run(&format!("{command} --json")).json();
        assert_eq!(found["other_columns"].as_array().unwrap().len(), 1);
        assert_eq!(found["other_columns"][0]["value"], 5.0);
    }
}

#[test]
fn the_gain_of_an_unused_column_may_fall_without_limit() {
    let workspace = TestWorkspace::new();
    // At the optimum (4, 4, 0) four limits hold with equality, and c is in the basis of HiGHS,
    // which has a range of 0 to 6 for its gain.
    workspace.write(
        "plan.lp",
        "Maximize\n gain: 3 a + 4 b + 3 c\nSubject To\n r0: 2 b + 3 c <= 8\n r1: b + c <= 8\n \
         r2: a + 2 c <= 4\nBounds\n a <= 4\n b <= 4\n c <= 4\nEnd\n",
    );
    workspace.write(
        "plan.toml",
        "kind = 'linear'\nfile = 'plan.lp'\ncosts = ['a', 'b', 'c']\n",
    );
    let mut table = String::from("wind,a,b,c\n");
    for row in 0..12 {
        table.push_str(&format!("{row},3,4,3\n"));
    }
    workspace.write("table.csv", &table);
    workspace
        .run("train --data table.csv --costs a,b,c --problem plan.toml --method ridge(1)")
        .succeeded();
    let found = workspace
        .run("explain --model model.safetensors --data table.csv --row 0 --json")
        .json();
    assert_eq!(found["ranges"]["method"], "basis");
    let unused = &found["costs"][2];
    assert_eq!(unused["value"], 0.0);
    assert!(unused["range"]["lower"].is_null(), "{unused}");
    assert_eq!(unused["range"]["upper"], 6.0);
    // Both chosen columns are at their upper bounds: their gains may rise without limit.
    for chosen in [&found["costs"][0], &found["costs"][1]] {
        assert_eq!(chosen["value"], 4.0);
        assert!(chosen["range"]["upper"].is_null(), "{chosen}");
    }
}

/// Amounts that need a set-up of known cost.
fn lots() -> TestWorkspace {
    let workspace = TestWorkspace::new();
    workspace.write(
        "lots.lp",
        "Minimize\n cost: 2 a + 3 b + 4 c + 6 open_a + 4 open_b + 1 open_c\nSubject To\n \
         need: a + b + c >= 10\n la: a - 8 open_a <= 0\n lb: b - 9 open_b <= 0\n \
         lc: c - 6 open_c <= 0\nBinary\n open_a open_b open_c\nEnd\n",
    );
    workspace.write(
        "lots.toml",
        "kind = 'linear'\nfile = 'lots.lp'\ncosts = ['a', 'b', 'c']\n",
    );
    let mut table = String::from("wind,a,b,c\n");
    for row in 0..12 {
        table.push_str(&format!("{row},2,3,4\n"));
    }
    workspace.write("table.csv", &table);
    workspace
        .run("train --data table.csv --costs a,b,c --problem lots.toml --method ridge(1)")
        .succeeded();
    workspace
}

#[test]
fn quantities_that_need_set_ups_have_ranges_and_other_decisions() {
    let workspace = lots();
    let explain = "explain --model model.safetensors --data table.csv --row 0";
    let output = workspace.run(explain).succeeded().out;
    // 8 of a and 2 of c cost 16 + 8 + 6 + 1 = 31, 8 of a and 2 of b 32, 9 of b and 1 of c 36.
    for text in [
        "The decision uses 2 of 3: a = 8.0000, c = 2.0000.",
        "The best other decision is worse by 1.0000: it adds b = 2.0000, open_b and drops c, \
         open_c.",
        "cost ranges (exact, by",
        "other decisions, the best first",
    ] {
        assert!(output.contains(text), "'{text}' is not in:\n{output}");
    }
    let found = workspace.run(&format!("{explain} --json")).json();
    assert_eq!(found["ranges"]["method"], "solves");
    // c costs 0.5 more per unit before 2 of b are as cheap.
    let end = found["costs"][2]["range"]["upper"].as_f64().unwrap();
    assert!((end - 4.5).abs() < 1e-6, "{end}");
    assert_eq!(found["costs"][2]["range"]["upper_is_exact"], true);
    let one_thread = workspace.run(&format!("{explain} --threads 1 --json"));
    assert_eq!(one_thread.json(), found);
}

#[test]
fn set_ups_and_quantities_can_be_forced_and_left_out() {
    let workspace = lots();
    let explain = "explain --model model.safetensors --data table.csv --row 0";
    let words = "--force-choice open_b --forbid-choice a --forbid-choice open_c";
    let output = workspace.run(&format!("{explain} {words}")).succeeded().out;
    for text in [
        "Choosing open_b costs 1.0000: the best such decision adds b, open_b and drops c, open_c.",
        "Not choosing a costs 5.0000: the best such decision adds b, open_b, drops a, open_a and \
         changes c from 2.0000 to 1.0000.",
        "Not choosing open_c costs 1.0000",
    ] {
        assert!(output.contains(text), "'{text}' is not in:\n{output}");
    }
    let refused = format!("{explain} --force-choice b");
    workspace
        .run(&refused)
        .failed(2, &["'b'", "smallest amount", "set-up"]);
    let unknown = format!("{explain} --force-choice open_d");
    workspace
        .run(&unknown)
        .failed(2, &["'open_d'", "did you mean 'open_"]);
}

#[test]
fn a_limit_of_solves_is_called_by_its_flag() {
    let workspace = lots();
    let explain = "explain --model model.safetensors --data table.csv --row 0";
    let output = workspace.run(&format!("{explain} --max-solves 2"));
    let output = output.succeeded().out;
    assert!(
        output.contains("more than the limit of 2 (--max-solves 15 allows them"),
        "{output}"
    );
    let output = workspace
        .run(&format!("{explain} --max-solves 6"))
        .succeeded()
        .out;
    assert!(output.contains("ends are not exact"), "{output}");
    assert!(output.contains('≥') || output.contains('≤'), "{output}");
    assert!(!output.contains("max_solves"), "{output}");
}
