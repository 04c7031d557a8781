//! `fit`: roles, verdict, model and page of a table, resuming, and tables with two readings.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fmt::Write as _;

use common::{TestWorkspace, folder_content};

/// Two of four sites are chosen each day; the wind decides which of them are cheap.
const PROBLEM: &str = "kind = \"top_k\"\nitems = 4\nk = 2\nsense = \"minimize\"\n";
const SITES: [char; 4] = ['a', 'b', 'c', 'd'];

/// A pseudo-random number in [0, 1) of two numbers.
fn noise(a: u64, b: u64) -> f64 {
    let mut state = a.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ b.wrapping_mul(0xD1B5_4A32_D192_ED03);
    state ^= state >> 29;
    state = state.wrapping_mul(0xBF58_476D_1CE4_E5B9);
    state ^= state >> 32;
    (state % 1_000_000) as f64 / 1e6
}

/// A table of some days: a column that names them, features, decisions that were made, costs.
fn table(days: u64, with_dates: bool) -> String {
    let mut text = String::from(if with_dates { "date," } else { "" });
    text += "order_id,load,wind,region,always";
    for name in ["was", "cost"] {
        for site in SITES {
            write!(text, ",{name}_{site}").unwrap();
        }
    }
    text.push('\n');
    for day in 0..days {
        if with_dates {
            write!(text, "2024-{:02}-{:02},", 1 + day / 28, 1 + day % 28).unwrap();
        }
        let (load, wind) = (noise(day, 1), noise(day, 2));
        let region = ["north", "south"][(day % 2) as usize];
        write!(text, "{},{load:.4},{wind:.4},{region},7", 1000 + day).unwrap();
        for site in 0..4_u32 {
            write!(text, ",{}", u8::from((u64::from(site) + day) % 4 < 2)).unwrap();
        }
        for site in 0..4_u32 {
            // Not linear in the wind, so that least squares decides worse than a network.
            let bend = (f64::from(site) - 4.0 * wind).powi(2);
            let mean = 10.0 + 3.0 * bend + load;
            write!(text, ",{:.4}", mean + noise(day, 10 + u64::from(site))).unwrap();
        }
        text.push('\n');
    }
    text
}

fn workspace(days: u64, with_dates: bool) -> TestWorkspace {
    let workspace = TestWorkspace::new();
    workspace.write("table.csv", &table(days, with_dates));
    workspace.write("problem.toml", PROBLEM);
    workspace
}

const COMMAND: &str = "fit table.csv --problem problem.toml --budget 3 --out result";

#[test]
fn a_history_needs_no_flag_and_its_model_decides() {
    let workspace = workspace(200, true);
    let output = workspace.run(&format!("{COMMAND} --unit EUR --json"));
    let json = output.json();
    let roles = &json["roles"];
    let names =
        |role: &str| -> Vec<String> { serde_json::from_value(roles[role].clone()).unwrap() };
    assert_eq!(names("costs"), ["cost_a", "cost_b", "cost_c", "cost_d"]);
    assert_eq!(names("decisions"), ["was_a", "was_b", "was_c", "was_d"]);
    assert_eq!(names("features"), ["date", "load", "wind", "region"]);
    assert_eq!(roles["time"], "date");
    for (column, reason) in [("order_id", "names the rows"), ("always", "constant")] {
        let unused = roles["unused"].to_string();
        let expected = format!("{{\"name\":\"{column}\",\"reason\":\"{reason}\"}}");
        assert!(unused.contains(&expected), "{unused}");
    }
    let verdict = json["verdict"].as_str().unwrap();
    assert!(verdict.starts_with("`auto "), "{verdict}");
    assert!(verdict.contains("EUR"), "{verdict}");
    let remarks = json["remarks"].to_string();
    assert!(remarks.contains("past decisions"), "{remarks}");
    let page = workspace.read("result/report.html");
    assert!(page.contains("past decisions"));
    // Rows without costs: the last one of the table, and two others.
    let new = workspace.read("result/new-rows.csv");
    assert_eq!(new.lines().next(), Some("date,load,wind,region"), "{new}");
    assert!(
        new.lines().nth(1).unwrap().starts_with("2024-08-04,"),
        "{new}"
    );
    workspace.write(
        "new.csv",
        "date,load,wind,region\n2025-01-01,0.5,0.1,north\n2025-01-02,0.5,0.9,south\n",
    );
    let decide = "decide --model result/model.safetensors --data new.csv --key date --out d.csv";
    workspace.run(decide).succeeded();
    let decisions = workspace.read("d.csv");
    let chosen: Vec<&str> = decisions.lines().collect();
    assert!(
        chosen[0].ends_with("cost_a,cost_b,cost_c,cost_d"),
        "{decisions}"
    );
    // Calm days favor the first sites, windy days the last ones.
    assert!(chosen[1].ends_with(",1,1,0,0"), "{decisions}");
    assert!(chosen[2].ends_with(",0,0,1,1"), "{decisions}");
}

#[test]
fn the_commands_that_are_printed_next_can_be_pasted() {
    let workspace = workspace(60, true);
    let output = workspace
        .run(&COMMAND.replace("--budget 3", "--method MAE"))
        .succeeded();
    let next = output
        .out
        .lines()
        .filter_map(|line| line.strip_prefix("  regretless "));
    let next: Vec<&str> = next.collect();
    assert_eq!(next.len(), 2, "{}", output.out);
    for command in next {
        workspace.run(command).succeeded();
    }
    assert_eq!(
        workspace.read("result/new-decisions.csv").lines().count(),
        2
    );
}

#[test]
fn the_same_command_resumes_with_the_same_bytes_and_other_settings_are_refused() {
    let workspace = workspace(120, true);
    workspace.run(COMMAND).succeeded();
    let first = folder_content(&workspace.path("result"));
    workspace.run(COMMAND).succeeded();
    let second = folder_content(&workspace.path("result"));
    for (file, bytes) in &first {
        assert!(second[file] == *bytes, "{file} differs");
    }
    let other = workspace.run(&format!("{COMMAND} --seed 1"));
    assert_eq!(other.code, 3, "{}", other.err);
    assert!(other.err.contains("settings.toml"), "{}", other.err);
    // The settings that were written name every role.
    let again = "fit --config result/settings.toml --threads 1 --out again";
    workspace.run(again).succeeded();
    let second = folder_content(&workspace.path("again"));
    for file in ["model.safetensors", "summary.json", "periods.csv"] {
        assert!(first[file] == second[file], "{file} differs");
    }
}

#[test]
fn rows_without_dates_are_cross_validated() {
    let workspace = workspace(150, false);
    let output = workspace.run(&format!("{COMMAND} --json"));
    let printed = output.err.clone();
    let json = output.json();
    assert_eq!(json["roles"]["time"], serde_json::Value::Null);
    let summary = &json["summary"];
    assert_eq!(summary["periods"], 150, "every row is decided once");
    let methods = summary["methods"].to_string();
    assert!(!methods.contains("last period"), "{methods}");
    let verdict = json["verdict"].as_str().unwrap();
    assert!(verdict.contains("per decision"), "{verdict}");
    assert!(printed.contains("cross-validation of 5 folds"), "{printed}");
}

#[test]
fn noise_ends_with_least_squares_and_says_so() {
    let workspace = TestWorkspace::new();
    let mut text = String::from("x,y,c1,c2,c3,c4\n");
    for row in 0..120 {
        let cells: Vec<String> = (0..6)
            .map(|column| format!("{:.4}", 5.0 + noise(row, 50 + column)))
            .collect();
        text += &cells.join(",");
        text.push('\n');
    }
    workspace.write("table.csv", &text);
    workspace.write("problem.toml", PROBLEM);
    let json = workspace.run(&format!("{COMMAND} --json")).json();
    assert_eq!(json["method"], "least squares", "{}", json["verdict"]);
    let verdict = json["verdict"].as_str().unwrap();
    assert!(verdict.ends_with("the model is least squares"), "{verdict}");
}

#[test]
fn two_readings_are_refused_with_a_flag_for_each() {
    let workspace = TestWorkspace::new();
    let mut text = String::from("x,buy_1,buy_2,buy_3,buy_4,sell_1,sell_2,sell_3,sell_4\n");
    for row in 0..40 {
        let cells: Vec<String> = (0..9)
            .map(|column| format!("{:.3}", 1.0 + noise(row, column)))
            .collect();
        text += &cells.join(",");
        text.push('\n');
    }
    workspace.write("table.csv", &text);
    workspace.write("problem.toml", PROBLEM);
    let refused = workspace.run(COMMAND);
    assert_eq!(refused.code, 2, "{}", refused.err);
    for flag in ["--costs 'buy_*'", "--costs 'sell_*'"] {
        assert!(refused.err.contains(flag), "{}", refused.err);
    }
    let chosen = workspace.run(&format!("{COMMAND} --costs buy_*"));
    assert!(chosen.succeeded().err.contains("forecasts"));
}

#[test]
fn the_examples_run_from_the_program_alone() {
    let workspace = TestWorkspace::new();
    let output = workspace
        .run("fit --example machine --budget 1 --out m")
        .succeeded();
    assert!(output.out.contains("; the model is "), "{}", output.out);
    assert!(
        workspace
            .read("m/report.html")
            .contains("In which eight hours")
    );
    let unknown = workspace.run("fit --example batery");
    assert_eq!(unknown.code, 2);
    assert!(unknown.err.contains("battery"), "{}", unknown.err);
    let both = workspace.run("fit m/electricity.csv.gz --example battery");
    assert!(both.err.contains("brings its own table"), "{}", both.err);
}

#[test]
fn a_new_problem_file_has_the_names_of_the_table_and_fits_it() {
    let workspace = workspace(40, true);
    let list = workspace.run("new --list").succeeded();
    assert!(list.out.contains("knapsack"), "{}", list.out);
    let new = "new knapsack --table table.csv --costs cost_* --out van.toml";
    let written = workspace.run(new).succeeded();
    assert!(
        written.out.contains("regretless fit table.csv"),
        "{}",
        written.out
    );
    let text = workspace.read("van.toml");
    assert!(text.contains("items = [\"cost_a\", \"cost_b\""), "{text}");
    let fit = workspace.run("fit table.csv --problem van.toml --budget 0.5 --out van");
    fit.succeeded();
    assert_eq!(workspace.run(new).code, 3, "existing files stay");
    let unknown = workspace.run("new knapsak");
    assert!(
        unknown.err.contains("did you mean 'knapsack'"),
        "{}",
        unknown.err
    );
}

#[test]
fn three_rows_and_columns_that_do_not_exist_are_refused() {
    let workspace = workspace(3, true);
    let few = workspace.run(COMMAND);
    assert_eq!(few.code, 3, "{}", few.err);
    assert!(few.err.contains("at least 10"), "{}", few.err);
    let wrong = workspace.run(&format!("{COMMAND} --costs eur_*"));
    assert_eq!(wrong.code, 2, "{}", wrong.err);
    assert!(
        wrong.err.contains("no column is called 'eur_*'"),
        "{}",
        wrong.err
    );
}

/// The table with one more column, a value of each row.
fn with_column(text: &str, name: &str, value: impl Fn(&[&str]) -> String) -> String {
    let mut lines = text.lines();
    let mut changed = format!("{},{name}\n", lines.next().unwrap());
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        writeln!(changed, "{line},{}", value(&cells)).unwrap();
    }
    changed
}

#[test]
fn a_feature_that_gives_a_cost_away_is_left_out_unless_it_is_named() {
    let workspace = TestWorkspace::new();
    workspace.write("problem.toml", PROBLEM);
    let clean = table(120, true);
    let bill = |cells: &[&str]| {
        let cost: f64 = cells.last().unwrap().parse().unwrap();
        format!("{:.4}", 1.19 * cost + 0.001 * noise(cells.len() as u64, 7))
    };
    workspace.write("table.csv", &with_column(&clean, "bill", bill));
    let found = workspace.run(COMMAND).succeeded();
    let line = "bill: target leakage: almost perfectly correlated with a cost";
    assert!(found.err.contains(line), "{}", found.err);
    // The same model as that of a table without the column.
    workspace.write("clean.csv", &clean);
    let command = COMMAND.replace("table.csv", "clean.csv");
    workspace
        .run(&command.replace("result", "clean"))
        .succeeded();
    let [with, without] = ["result", "clean"].map(|folder| {
        let bytes = std::fs::read(workspace.path(folder).join("model.safetensors"));
        bytes.unwrap()
    });
    assert!(with == without, "the leaking column changed the model");
    let named = format!("{} --features *", COMMAND.replace("result", "named"));
    let kept = workspace.run(&named).succeeded();
    assert!(
        kept.err.contains("feature bill has the rank correlation"),
        "{}",
        kept.err
    );
    assert!(!kept.err.contains("target leakage"), "{}", kept.err);
}

#[test]
fn past_decisions_are_valued_by_name_in_any_order_of_columns() {
    let workspace = TestWorkspace::new();
    workspace.write("problem.toml", PROBLEM);
    let ordered = table(120, true);
    // The same cells with the decisions in another order.
    let place = |name: &str| {
        let mut header = ordered.lines().next().unwrap().split(',');
        header.position(|column| column == name).unwrap()
    };
    let mut order: Vec<usize> = (0..ordered.lines().next().unwrap().split(',').count()).collect();
    order.swap(place("was_a"), place("was_c"));
    order.swap(place("was_b"), place("was_d"));
    let mut shuffled = String::new();
    for line in ordered.lines() {
        let cells: Vec<&str> = line.split(',').collect();
        let cells: Vec<&str> = order.iter().map(|column| cells[*column]).collect();
        writeln!(shuffled, "{}", cells.join(",")).unwrap();
    }
    let past = |table: &str, options: &str| {
        workspace.write("table.csv", table);
        let output = workspace.run(&format!("{COMMAND} --json --force {options}"));
        let methods = output.json()["summary"]["methods"].clone();
        let methods = methods.as_array().unwrap().clone();
        let mut methods = methods.into_iter();
        methods
            .find(|method| method["name"] == "past decisions")
            .unwrap()["total_cost"]
            .clone()
    };
    let total = past(&ordered, "");
    assert!(total.is_number(), "{total}");
    assert_eq!(past(&shuffled, ""), total);
    assert_eq!(past(&shuffled, "--decisions was_*"), total);
}
