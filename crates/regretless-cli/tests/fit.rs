//! `fit`: roles, verdict, model and page of a table, resuming, and tables with two readings.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fmt::Write as _;

use common::{TestWorkspace, folder_content, noise};

/// Two of four sites are chosen each day; the wind decides which of them are cheap.
const PROBLEM: &str = "kind = \"top_k\"\nitems = 4\nk = 2\nsense = \"minimize\"\n";
const SITES: [char; 4] = ['a', 'b', 'c', 'd'];

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
            // Not linear in the wind, so least squares decides worse than a network.
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
    assert_eq!(names("keys"), ["order_id"]);
    let unused = roles["unused"].to_string();
    let expected = "{\"name\":\"always\",\"reason\":\"constant\"}";
    assert!(unused.contains(expected), "{unused}");
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
    // Times with gaps say nothing about the next one.
    assert_eq!(new.lines().nth(1), Some(",,,"), "{new}");
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
    let sentence = "next, after you have filled in date, load, wind, region in";
    assert!(output.out.contains(sentence), "{}", output.out);
    // What is not filled in is noted.
    let open = workspace.run(&format!("{} --force", next[0]));
    assert!(
        open.err.contains("column wind: the value is missing"),
        "{}",
        open.err
    );
    let _ = std::fs::remove_file(workspace.path("result/new-decisions.csv"));
    workspace.write(
        "result/new-rows.csv",
        "date,load,wind,region\n2024-03-05,0.5,0.5,north\n",
    );
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
    // Each command is a line of its own, so it can be copied.
    for flag in ["--costs 'buy_*'", "--costs 'sell_*'"] {
        let line = format!("  regretless {COMMAND} {flag}");
        assert!(refused.err.lines().any(|l| l == line), "{}", refused.err);
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
    // Every row has items and a budget of its own.
    let houses = workspace.run("fit --example houses --budget 1 --out h");
    let houses = houses.succeeded();
    assert!(houses.err.contains("row parameters"), "{}", houses.err);
    assert!(houses.out.contains("kUSD"), "{}", houses.out);
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
    let open = workspace.run("fit table.csv --problem van.toml --budget 0.5 --out van");
    assert_eq!(open.code, 3, "{}", open.err);
    for part in ["van.toml, row 4", "'# fill in'"] {
        assert!(open.err.contains(part), "{}", open.err);
    }
    workspace.write("van.toml", &text.replace("# fill in", "#"));
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
fn a_new_problem_file_finds_the_costs_or_shows_a_command_for_each_reading() {
    let workspace = workspace(40, true);
    let new = "new top_k --table table.csv --out found.toml";
    let written = workspace.run(new).succeeded();
    let named = workspace
        .run("new top_k --table table.csv --costs cost_* --out named.toml")
        .succeeded();
    assert_eq!(workspace.read("found.toml"), workspace.read("named.toml"));
    assert!(
        written
            .out
            .contains("checked against table.csv: 4 costs in 40 rows"),
        "{}",
        written.out
    );
    let next = written.out.lines().last().unwrap();
    let next = next.strip_prefix("next: regretless ").unwrap();
    assert_eq!(next, "fit table.csv --problem found.toml --costs 'cost_*'");
    assert_eq!(
        next.replace("found", "named"),
        named.out.lines().last().unwrap()[17..]
    );
    let text = workspace.read("found.toml");
    let values = text
        .lines()
        .map(|line| line.split("# fill in").next().unwrap());
    workspace.write(
        "found.toml",
        &values.map(|line| format!("{line}\n")).collect::<String>(),
    );
    let fit = format!("{} --budget 0.5 --out found", next.replace('\'', ""));
    workspace.run(&fit).succeeded();
    // A forecast has names that are alike, too.
    let forecast = with_column(&table(40, true), "guess_a", |cells| cells[2].into());
    let forecast = with_column(&forecast, "guess_b", |cells| cells[3].into());
    workspace.write("two.csv", &forecast);
    let refused = workspace.run("new top_k --table two.csv --out two.toml");
    assert_eq!(refused.code, 2, "{}", refused.err);
    for pattern in ["cost_*", "guess_*"] {
        let line =
            format!("  regretless new top_k --table two.csv --out two.toml --costs '{pattern}'");
        assert!(refused.err.lines().any(|l| l == line), "{}", refused.err);
    }
    assert!(!workspace.path("two.toml").exists());
    // A parameter of the problem that the table lacks.
    workspace.write("few.csv", "a_1,a_2\n1,x\n2,y\n");
    let none = workspace.run("new top_k --table few.csv --out few.toml");
    assert!(none.err.contains("names that are alike"), "{}", none.err);
}

#[test]
fn items_are_called_on_the_page_and_in_explanations_as_the_file_of_names_says() {
    let workspace = workspace(60, true);
    workspace.write(
        "names.csv",
        "cost,name\ncost_a,\"Elbe, north\"\ncost_c,Harz\n",
    );
    let command = COMMAND.replace("--budget 3", "--method MAE");
    let plain = workspace
        .run(&command.replace("result", "plain"))
        .succeeded();
    let named = workspace.run(&format!("{command} --names names.csv"));
    let named = named.succeeded();
    let page = workspace.read("result/report.html");
    assert!(
        page.contains("Elbe, north") && page.contains("Harz"),
        "names are on the page"
    );
    assert!(!workspace.read("plain/report.html").contains("Harz"));
    // Models and tables keep the names of columns.
    for file in ["model.safetensors", "decisions.csv", "summary.json"] {
        let [plain, named] = ["plain", "result"].map(|folder| workspace.path(folder).join(file));
        assert!(
            std::fs::read(plain).unwrap() == std::fs::read(named).unwrap(),
            "{file}"
        );
    }
    assert!(
        workspace
            .read("result/settings.toml")
            .contains("names = \"../names.csv\"")
    );
    // The command that is printed next explains with these names, which choices have, too.
    let explain = named
        .out
        .lines()
        .find(|line| line.contains("explain"))
        .unwrap();
    let explain = explain.trim().strip_prefix("regretless ").unwrap();
    let explained = workspace.run(explain).succeeded();
    assert!(!explained.out.contains("cost_a"), "{}", explained.out);
    assert!(explained.out.contains("cost_b") || explained.out.contains("Harz"));
    let forced = workspace.run_words(
        &[
            &explain.split(' ').collect::<Vec<_>>()[..],
            &["--force-choice", "Elbe, north"],
        ]
        .concat(),
    );
    assert!(forced.succeeded().out.contains("Elbe, north"));
    assert!(plain.out.contains("explain") && !plain.out.contains("--names"));
    workspace.write("wrong.csv", "cost,name\ncost_x,Harz\n");
    let wrong = workspace.run(&format!("{command} --names wrong.csv --force"));
    assert_eq!(wrong.code, 3, "{}", wrong.err);
    assert!(
        wrong
            .err
            .contains("wrong.csv, row 2: no cost is called 'cost_x'"),
        "{}",
        wrong.err
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

#[test]
fn the_row_to_decide_next_is_that_of_the_next_time() {
    let workspace = workspace(28, true);
    let text = workspace.read("table.csv");
    let mut lines: Vec<&str> = text.lines().collect();
    // The latest day first.
    lines[1..].reverse();
    workspace.write("table.csv", &(lines.join("\n") + "\n"));
    let command = COMMAND.replace("--budget 3", "--method MSE --lags none");
    workspace.run(&command).succeeded();
    let new = workspace.read("result/new-rows.csv");
    assert_eq!(new.lines().nth(1), Some("2024-01-29,,,"), "{new}");
}

#[test]
fn costs_belong_to_the_items_that_their_names_contain_in_every_command() {
    let workspace = workspace(60, true);
    let problem = "kind = \"knapsack\"\nitems = [\"b\", \"a\", \"c\", \"d\"]\n\
        weights = [[1.0, 1.0, 1.0, 1.0]]\ncapacity = [2.0]\n";
    workspace.write("van.toml", problem);
    let fit = "fit table.csv --problem van.toml --method MAE --out result";
    workspace.run(fit).succeeded();
    let data = "--data table.csv --costs cost_* --features load,wind";
    for command in [
        format!("check {data} --problem van.toml"),
        format!("train {data} --problem van.toml --epochs 1 --out m.safetensors"),
        format!("backtest {data} --problem van.toml --time date --methods MAE --epochs 1"),
        // The advice of the model card.
        "evaluate --model result/model.safetensors --data table.csv --costs cost_*".into(),
    ] {
        workspace.run(&command).succeeded();
    }
    let decided = "decide --model m.safetensors --data table.csv --out d.csv";
    workspace.run(decided).succeeded();
    let decisions = workspace.read("d.csv");
    let header = decisions.lines().next().unwrap();
    assert!(header.ends_with("b,a,c,d"), "{header}");
}

#[test]
fn the_model_has_the_median_of_the_epochs_that_the_folds_chose() {
    let workspace = workspace(120, true);
    let command = COMMAND.replace("--budget 3", "--method MAE --json");
    let json = workspace.run(&command).json();
    let mut epochs = Vec::new();
    for (name, bytes) in folder_content(&workspace.path("result/cells")) {
        let is_method = name.contains("MAE") && name.ends_with(".json");
        if is_method {
            let cell: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
            epochs.push(cell["epochs"].as_u64().unwrap());
        }
    }
    epochs.sort_unstable();
    assert_eq!(epochs.len(), 5);
    // The bends of the costs make a network better; a linear MAE has its epochs all the same.
    if json["method"] == "MAE" {
        assert_eq!(json["epochs"], epochs[2]);
        let card = workspace.read("result/model-card.md");
        assert!(
            card.contains(&format!("epochs: {}, the median", epochs[2])),
            "{card}"
        );
    } else {
        assert_eq!(json["epochs"], serde_json::Value::Null);
    }
}

#[test]
fn mse_of_a_linear_predictor_is_the_row_of_least_squares() {
    let workspace = workspace(60, true);
    let command = COMMAND.replace("--budget 3", "--method MSE --json");
    let output = workspace.run(&command);
    let printed = output.err.clone();
    let json = output.json();
    let methods = json["summary"]["methods"].to_string();
    assert!(!methods.contains("\"MSE\""), "{methods}");
    assert_eq!(json["method"], "least squares");
    // What has no search has no budget.
    assert!(!printed.contains("CPU seconds"), "{printed}");
}

#[test]
fn the_work_that_is_announced_is_that_of_the_trainings() {
    let workspace = workspace(60, true);
    let searched = workspace.run(&format!("{COMMAND} --json"));
    let expected = "6 searches of at most 0.5 CPU seconds each, counted by work: 5, and one for \
                    the model";
    assert!(searched.err.contains(expected), "{}", searched.err);
    let trained = COMMAND.replace("--budget 3 --out result", "--method MAE --out mae");
    let trained = workspace.run(&trained).succeeded();
    let expected = "6 trainings: 5, and one for the model";
    assert!(trained.err.contains(expected), "{}", trained.err);
    assert!(!trained.err.contains("CPU seconds"), "{}", trained.err);
}

#[test]
fn gaps_in_costs_and_problems_of_other_kinds_are_led_on() {
    let workspace = workspace(60, true);
    let text = workspace.read("table.csv");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for line in lines.iter_mut().skip(1).step_by(9) {
        let end = line.rfind(',').unwrap();
        line.truncate(end + 1);
    }
    workspace.write("table.csv", &(lines.join("\n") + "\n"));
    let gaps = workspace.run(COMMAND);
    assert_eq!(gaps.code, 3, "{}", gaps.err);
    for part in ["table.csv", "leave these rows out", "which-problem.md"] {
        assert!(gaps.err.contains(part), "{}", gaps.err);
    }
    workspace.write(
        "problem.toml",
        &PROBLEM.replace("items = 4", "items = [\"a\", \"b\"]"),
    );
    let named = workspace.run(COMMAND);
    let expected = "their names are those of the costs in the table";
    assert!(named.err.contains(expected), "{}", named.err);
}

#[test]
fn a_date_that_several_rows_have_is_no_key() {
    let workspace = workspace(60, true);
    let text = workspace.read("table.csv");
    // Every second row has the date of the row before it.
    let mut changed = Vec::new();
    let mut date = "";
    for (number, line) in text.lines().enumerate() {
        let (own, cells) = line.split_once(',').unwrap();
        if number % 2 == 1 || number == 0 {
            date = own;
        }
        changed.push(format!("{date},{cells}"));
    }
    workspace.write("table.csv", &(changed.join("\n") + "\n"));
    let command = COMMAND.replace("--budget 3", "--method MAE");
    let output = workspace.run(&command).succeeded();
    assert!(!output.out.contains("--key date"), "{}", output.out);
    assert!(output.out.contains("--key order_id"), "{}", output.out);
}

#[test]
fn several_tables_are_one_history() {
    let workspace = workspace(120, true);
    let text = workspace.read("table.csv");
    let lines: Vec<&str> = text.lines().collect();
    // The second one has its columns in another order.
    let reversed = |line: &str| {
        let mut cells: Vec<&str> = line.split(',').collect();
        cells.reverse();
        cells.join(",") + "\n"
    };
    workspace.write("one.csv", &(lines[..61].join("\n") + "\n"));
    let second: String = std::iter::once(lines[0])
        .chain(lines[61..].iter().copied())
        .map(reversed)
        .collect();
    workspace.write("two.csv", &second);
    let command = COMMAND.replace("--budget 3", "--method MAE");
    workspace.run(&command).succeeded();
    let several = command.replace("table.csv", "one.csv two.csv");
    let several = several.replace("--out result", "--out several");
    workspace.run(&several).succeeded();
    for file in ["model.safetensors", "periods.csv", "new-rows.csv"] {
        let [one, both] = ["result", "several"].map(|f| workspace.bytes(&format!("{f}/{file}")));
        assert!(one == both, "{file} differs");
    }
    workspace.run(&several).succeeded();
    let again = "fit --config several/settings.toml --out again";
    workspace.run(again).succeeded();
    // Rows of later periods are read for the next decision.
    workspace.write("two.csv", &second.replace("2024-05-08", "2024-05-09"));
    let rows_only = "fit --config several/settings.toml --rows-only";
    workspace.run(rows_only).succeeded();
    // Other rows do not replace the table of results that are there.
    workspace.write("two.csv", &second.replace("2024", "2025"));
    assert_eq!(workspace.run(&several).code, 3);
    workspace.write("two.csv", &second.replace("wind", "breeze"));
    let other = workspace.run(&several);
    for part in ["two.csv", "wind", "same columns"] {
        assert!(other.err.contains(part), "{}", other.err);
    }
}

#[test]
fn a_long_table_is_fitted_and_its_next_commands_can_be_pasted() {
    let workspace = workspace(60, true);
    let wide = workspace.read("table.csv");
    let mut long = String::from("order,date,site,wind,eur\n");
    for (day, line) in wide.lines().skip(1).enumerate() {
        let cells: Vec<&str> = line.split(',').collect();
        for (site, name) in SITES.iter().enumerate() {
            let cost = cells[cells.len() - 4 + site];
            writeln!(long, "o{day},{},{name},{},{cost}", cells[0], cells[3]).unwrap();
        }
    }
    workspace.write("long.csv", &long);
    let problem = "kind = \"knapsack\"\nitems = [\"a\", \"b\", \"c\", \"d\"]\n\
        weights = [[1.0, 1.0, 1.0, 1.0]]\ncapacity = [2.0]\n";
    workspace.write("problem.toml", problem);
    let command = "fit long.csv --problem problem.toml --method MAE --instance-column order \
        --item-column site --cost-column eur --out result";
    let output = workspace.run(command).succeeded();
    let new = workspace.read("result/new-rows.csv");
    assert_eq!(new.lines().count(), 5, "{new}");
    assert!(new.lines().nth(1).unwrap().starts_with("o59,"), "{new}");
    for next in output
        .out
        .lines()
        .filter_map(|l| l.strip_prefix("  regretless "))
    {
        workspace.run(next).succeeded();
    }
    workspace.run(command).succeeded();
}

#[test]
fn keys_label_the_rows_of_tables_without_dates() {
    let workspace = workspace(60, false);
    let command = COMMAND.replace("--budget 3", "--method MAE");
    let output = workspace.run(&command).succeeded();
    assert!(
        output.err.contains("keys            order_id"),
        "{}",
        output.err
    );
    assert!(output.out.contains("--key order_id"), "{}", output.out);
    let periods = workspace.read("result/periods.csv");
    assert!(periods.contains("1059"), "{periods}");
    for next in output
        .out
        .lines()
        .filter_map(|l| l.strip_prefix("  regretless "))
    {
        workspace.run(next).succeeded();
    }
    let refused = workspace.run(&format!("{command} --force --keys region"));
    assert!(
        refused.err.contains("keys: several rows"),
        "{}",
        refused.err
    );
}

#[test]
fn unknown_demands_are_fitted_and_no_explanation_is_offered() {
    let workspace = TestWorkspace::new();
    let mut table = "temperature,bread,cake\n".to_owned();
    for row in 0..120 {
        let temperature = (row * 7) % 23;
        let [bread, cake] = [
            20 + temperature + (row * 5) % 9,
            30 - temperature + (row * 3) % 7,
        ];
        table += &format!("{temperature},{bread},{cake}\n");
    }
    workspace.write("sales.csv", &table);
    workspace.write(
        "shop.toml",
        "kind = 'newsvendor'\nitems = ['bread', 'cake']\nunder_cost = [2.0, 3.0]\n\
         over_cost = [1.0, 1.0]\ncapacity = 50.0\n",
    );
    let fitted = workspace.run("fit sales.csv --problem shop.toml --budget 2 --out result");
    let output = fitted.succeeded();
    assert!(output.out.contains("regretless decide"), "{}", output.out);
    assert!(!output.out.contains("explain"), "{}", output.out);
    let decide = "decide --model result/model.safetensors --data result/new-rows.csv --out d.csv";
    workspace.run(decide).succeeded();
    let decided = workspace.read("d.csv");
    let row = decided.lines().nth(1).unwrap();
    let ordered: f64 = row
        .split(',')
        .skip(3)
        .map(|cell| cell.parse::<f64>().unwrap())
        .sum();
    assert!((49.0..=50.0001).contains(&ordered), "{decided}");
}
