//! `fit`: what its verdict says, what it is silent about, and what the card says of the model.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fmt::Write as _;

use common::{TestWorkspace, noise};

const PROBLEM: &str = "kind = \"top_k\"\nitems = 3\nk = 1\nsense = \"minimize\"\n";
const SHOP: &str = "kind = 'newsvendor'\nitems = ['a', 'b']\nunder_cost = 9.0\nover_cost = 1.0\n";

fn date(day: u64) -> String {
    format!(
        "{}-{:02}-{:02}",
        2021 + day / 336,
        1 + day / 28 % 12,
        1 + day % 28
    )
}

/// A table of costs without a pattern.
fn table(days: u64, has_dates: bool) -> String {
    let mut text = String::from(if has_dates { "date," } else { "" });
    text += "x,price_a,price_b,price_c\n";
    for day in 0..days {
        if has_dates {
            text += &date(day);
            text.push(',');
        }
        write!(text, "{:.4}", noise(day, 1)).unwrap();
        for item in 2..5 {
            write!(text, ",{:.4}", 10.0 + noise(day, item)).unwrap();
        }
        text.push('\n');
    }
    text
}

fn workspace(table: &str, problem: &str) -> TestWorkspace {
    let workspace = TestWorkspace::new();
    workspace.write("table.csv", table);
    workspace.write("problem.toml", problem);
    workspace
}

const COMMAND: &str = "fit table.csv --problem problem.toml --out result --lags none";

/// Every sentence of the verdict.
fn sentences(json: &serde_json::Value) -> Vec<String> {
    let mut all = vec![json["verdict"].as_str().unwrap().to_owned()];
    for remark in json["remarks"].as_array().unwrap() {
        all.push(remark.as_str().unwrap().to_owned());
    }
    all
}

/// Demands of two items, the second of which is not wanted on most days.
fn demands(rows: u64) -> String {
    let mut text = String::from("x,demand_a,demand_b\n");
    for row in 0..rows {
        let x = noise(row, 1);
        let b = if noise(row, 3) < 0.7 { 0.0 } else { 10.0 };
        writeln!(text, "{x:.3},{:.2},{b}", 20.0 + 10.0 * x * noise(row, 2)).unwrap();
    }
    text
}

#[test]
fn the_shrinkage_that_folds_chose_is_chosen_again_by_the_model() {
    let workspace = workspace(&demands(120), SHOP);
    let json = workspace
        .run(&format!(
            "{COMMAND} --costs demand_* --method MAE(D) --json"
        ))
        .json();
    assert!(json["model"].is_string(), "{json}");
}

#[test]
fn a_method_that_the_problem_does_not_have_is_refused_before_the_folds() {
    let workspace = workspace(&table(100, true), PROBLEM);
    let output = workspace.run(&format!("{COMMAND} --method MAE(D(0.5))"));
    assert_eq!(output.code, 2, "{}{}", output.out, output.err);
    assert!(output.err.contains("MAE(D(0.5))"), "{}", output.err);
    assert!(!workspace.path("result/summary.json").exists());
}

#[test]
fn a_baseline_that_fails_is_named() {
    let workspace = workspace(&table(150, true), PROBLEM);
    let json = workspace
        .run(&format!("{COMMAND} --method MSE --season 150 --json"))
        .json();
    let all = sentences(&json).join("\n");
    assert!(all.contains("not compared: seasonal naive 150"), "{all}");
}

#[test]
fn too_few_periods_are_named_as_the_reason() {
    let workspace = workspace(&table(60, true), PROBLEM);
    let json = workspace
        .run(&format!("{COMMAND} --method MAE --json"))
        .json();
    let all = sentences(&json);
    let expected = "too few periods to tell: 30 were decided, at least 60 are needed; the model is";
    assert!(all[0].starts_with(expected), "{all:?}");
    assert!(!all.join("\n").contains("differ"), "{all:?}");
}

#[test]
fn nothing_is_compared_with_itself_or_said_twice() {
    for (has_dates, method) in [(true, "MSE"), (false, "MSE"), (true, "MAE")] {
        let workspace = workspace(&table(200, has_dates), PROBLEM);
        let json = workspace
            .run(&format!("{COMMAND} --method {method} --json"))
            .json();
        let all = sentences(&json);
        let chosen = json["method"].as_str().unwrap();
        for sentence in &all {
            assert!(
                !sentence.contains("`least squares` is not certain to beat least squares"),
                "{all:?}"
            );
        }
        let model: Vec<&String> = all
            .iter()
            .filter(|sentence| sentence.contains("the model is"))
            .collect();
        assert_eq!(model.len(), 1, "{all:?}");
        assert!(model[0].ends_with(chosen), "{all:?}");
        // What the model saves against the best simple rule is always said.
        let of_model = all.iter().filter(|sentence| {
            sentence.contains(&format!("`{chosen}`"))
                && ["mean of history", "last period"]
                    .iter()
                    .any(|rule| sentence.contains(rule))
        });
        assert_eq!(of_model.count(), 1, "{all:?}");
    }
}

#[test]
fn there_is_one_recommendation_where_a_rule_is_certainly_better() {
    // The forecasts are the costs but for a little noise, and the feature says nothing.
    let mut text = String::from("date,x,price_a,price_b,price_c,guess_a,guess_b,guess_c\n");
    for day in 0..300 {
        write!(text, "{},{:.4}", date(day), noise(day, 1)).unwrap();
        let costs: Vec<f64> = (2..5).map(|item| 10.0 + 5.0 * noise(day, item)).collect();
        let guess = costs
            .iter()
            .zip(5..)
            .map(|(cost, item)| cost + 2.0 * noise(day, item));
        for value in costs.iter().copied().chain(guess.collect::<Vec<f64>>()) {
            write!(text, ",{value:.4}").unwrap();
        }
        text.push('\n');
    }
    let workspace = workspace(&text, PROBLEM);
    let command = format!("{COMMAND} --costs price_* --forecasts guess_* --features x");
    let json = workspace
        .run(&format!("{command} --method MAE --json"))
        .json();
    let all = sentences(&json);
    assert!(all[0].starts_with("`columns guess_*` saves"), "{all:?}");
    assert!(
        all[0].ends_with(": decide by it, which needs no model"),
        "{all:?}"
    );
    let recommended = all.iter().filter(|sentence| {
        sentence.contains("decide by it") || sentence.contains("; the model is")
    });
    assert_eq!(recommended.count(), 1, "{all:?}");
}

#[test]
fn rows_without_a_label_are_one_note_and_are_not_counted_in_the_card() {
    let mut text = demands(150);
    for row in 0..12 {
        writeln!(text, "0.{row},5.0,-3.0").unwrap();
    }
    let workspace = workspace(&text, SHOP);
    let output = workspace
        .run(&format!("{COMMAND} --costs demand_* --method MSE"))
        .succeeded();
    let notes = output.err.lines().filter(|line| line.contains("below 0"));
    assert_eq!(notes.count(), 1, "{}", output.err);
    let expected = "12 of 162 rows are left out, as no decision is best for them; the first is row \
                    150 (counted from 0)";
    assert!(output.err.contains(expected), "{}", output.err);
    let card = workspace.read("result/model-card.md");
    assert!(card.contains("* rows: 150 of 162"), "{card}");
}

#[test]
fn the_card_of_a_closed_form_says_that_all_rows_were_fitted() {
    let mut text = String::from("x,price_a,price_b,price_c,load_a,load_b,load_c\n");
    for row in 0..70 {
        let loads: Vec<f64> = (2..5).map(|item| noise(row, item)).collect();
        write!(text, "{:.3}", noise(row, 1)).unwrap();
        for (load, item) in loads.iter().zip(10..) {
            write!(text, ",{:.4}", 10.0 + load + 1.5 * noise(row, item)).unwrap();
        }
        for load in loads {
            write!(text, ",{load:.4}").unwrap();
        }
        text.push('\n');
    }
    let workspace = workspace(&text, PROBLEM);
    let command = format!("{COMMAND} --costs price_* --decisions none --forecasts none");
    let json = workspace
        .run(&format!("{command} --method MSE --json"))
        .json();
    assert_eq!(json["method"], "shared least squares", "{json}");
    let card = workspace.read("result/model-card.md");
    assert!(card.contains("* fitted to all rows"), "{card}");
    assert!(!card.contains("candidates"), "{card}");
}

#[test]
fn repeated_rows_claim_nothing() {
    let mut text = String::from("x,price_a,price_b,price_c\n");
    for row in 0..200_u64 {
        let batch = row % 20;
        write!(text, "{:.4}", noise(batch, 1)).unwrap();
        for item in 2..5 {
            write!(text, ",{:.4}", 10.0 + noise(batch, item)).unwrap();
        }
        text.push('\n');
    }
    let workspace = workspace(&text, PROBLEM);
    let json = workspace
        .run(&format!("{COMMAND} --method MAE --json"))
        .json();
    let all = sentences(&json);
    let expected = "nothing is claimed: 200 of 200 rows have the features and costs of another one";
    assert!(all[0].starts_with(expected), "{all:?}");
    assert_eq!(json["method"], "least squares", "{all:?}");
    let methods = json["summary"]["methods"].as_array().unwrap();
    assert!(
        methods
            .iter()
            .all(|method| method["saving"]["interval"].is_null()),
        "{methods:?}"
    );
}

#[test]
fn the_plan_names_the_periods_whose_costs_are_not_known_yet() {
    let workspace = workspace(&table(150, true), PROBLEM);
    let output = workspace
        .run(&format!("{COMMAND} --method MSE --horizon 3"))
        .succeeded();
    let expected = "each on all earlier periods but the last 2; 73 of 150 periods are decided";
    assert!(output.err.contains(expected), "{}", output.err);
}

#[test]
fn features_that_only_all_rows_allow_for_are_named() {
    let workspace = workspace(&table(370, true), PROBLEM);
    let output = workspace
        .run(&format!("{COMMAND} --method MSE"))
        .succeeded();
    let expected = "all rows together allow for features that no training of the comparison had";
    assert!(output.err.contains(expected), "{}", output.err);
    let card = workspace.read("result/model-card.md");
    assert!(card.contains(expected), "{card}");
}

#[test]
fn the_last_period_is_the_one_before_each_decided_period() {
    // Costs that change slowly: those of the period before are nearly right.
    let mut text = String::from("date,x,price_a,price_b,price_c\n");
    let mut level = [10.0, 10.0, 10.0];
    for day in 0..300 {
        write!(text, "{},{:.4}", date(day), noise(day, 1)).unwrap();
        for (item, level) in level.iter_mut().enumerate() {
            *level += noise(day, 2 + item as u64) - 0.5;
            write!(text, ",{level:.5}").unwrap();
        }
        text.push('\n');
    }
    let workspace = workspace(&text, PROBLEM);
    let json = workspace
        .run(&format!("{COMMAND} --method MSE --horizon 2 --json"))
        .json();
    let rows: Vec<Vec<f64>> = text
        .lines()
        .skip(1)
        .map(|line| {
            line.split(',')
                .skip(2)
                .map(|cell| cell.parse().unwrap())
                .collect()
        })
        .collect();
    let mut expected = 0.0;
    for period in 151..300_usize {
        let known = &rows[period - 2];
        let cheapest = (0..3)
            .min_by(|a, b| known[*a].total_cmp(&known[*b]))
            .unwrap();
        expected += rows[period][cheapest];
    }
    let methods = json["summary"]["methods"].as_array().unwrap();
    let last = methods
        .iter()
        .find(|method| method["name"] == "last period")
        .unwrap();
    let found = last["total_cost"].as_f64().unwrap();
    assert!((found - expected).abs() < 1e-3, "{found} {expected}");
}

#[test]
fn what_changes_numbers_is_refused_and_what_changes_words_is_not() {
    let workspace = workspace(&table(100, true), PROBLEM);
    let command = format!("{COMMAND} --method MSE");
    workspace.run(&command).succeeded();
    workspace
        .run(&format!("{command} --unit EUR --title Which?"))
        .succeeded();
    workspace.write("problem.toml", &PROBLEM.replace("minimize", "maximize"));
    workspace
        .run(&command)
        .failed(3, &["another problem", "settings.toml"]);
    workspace.write("problem.toml", PROBLEM);
    workspace.run(&command).succeeded();
    workspace.write("table.csv", &table(101, true));
    workspace
        .run(&command)
        .failed(3, &["another table", "settings.toml"]);
    // The next row of a longer table replaces no number.
    workspace.run(&format!("{command} --rows-only")).succeeded();
    workspace.run(&format!("{command} --force")).succeeded();
}

#[test]
fn the_printed_command_replaces_decisions_of_an_earlier_model() {
    let workspace = workspace(&table(100, true), PROBLEM);
    let command = format!("{COMMAND} --method MSE");
    let decide_line = |out: &str| {
        let mut lines = out
            .lines()
            .filter_map(|line| line.strip_prefix("  regretless "));
        lines
            .find(|line| line.starts_with("decide"))
            .unwrap()
            .to_owned()
    };
    let output = workspace.run(&command).succeeded();
    assert!(!output.out.contains("earlier model"), "{}", output.out);
    workspace.run(&decide_line(&output.out)).succeeded();
    let output = workspace.run(&command).succeeded();
    assert!(
        output.out.contains("new-decisions.csv in this folder"),
        "{}",
        output.out
    );
    workspace.run(&decide_line(&output.out)).succeeded();
}

#[test]
fn settings_hold_where_their_folder_is_moved_and_where_they_are_called_from() {
    let workspace = workspace(&table(100, true), PROBLEM);
    workspace
        .run("fit table.csv --problem problem.toml --out runs/first --lags none --method MSE")
        .succeeded();
    let settings = workspace.read("runs/first/settings.toml");
    assert!(settings.contains("\"../../table.csv\""), "{settings}");
    assert!(settings.contains("out = \".\""), "{settings}");
    std::fs::rename(
        workspace.path("runs/first"),
        workspace.path("runs/my again"),
    )
    .unwrap();
    let again = ["fit", "--config", "runs/my again/settings.toml"];
    let output = workspace.run_words(&again).succeeded();
    assert!(
        output.out.contains("runs/my again/model.safetensors"),
        "{}",
        output.out
    );
    assert!(!workspace.path("runs/first").exists());
    // From another folder.
    let config = workspace.path("runs/my again/settings.toml");
    let elsewhere = TestWorkspace::new();
    let words = ["fit", "--config", config.to_str().unwrap()];
    elsewhere.run_words(&words).succeeded();
    assert_eq!(elsewhere.files(), Vec::<String>::new());
}
