//! `fit` on tables whose columns belong to one cost each: predictors that all costs share, and
//! several forecasts.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::f64::consts::TAU;
use std::fmt::Write as _;

use common::{CommandOutput, TestWorkspace};

const PROBLEM: &str = "kind = \"top_k\"\nitems = 6\nk = 2\nsense = \"minimize\"\n";
const HOURS: u64 = 6;

/// A pseudo-random number in (0, 1] of two numbers.
fn uniform(a: u64, b: u64) -> f64 {
    let mut state = a.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ b.wrapping_mul(0xD1B5_4A32_D192_ED03);
    state ^= state >> 29;
    state = state.wrapping_mul(0xBF58_476D_1CE4_E5B9);
    state ^= state >> 32;
    ((state % 1_000_000) as f64 + 1.0) / 1e6
}

/// A standard normal number of two numbers.
fn normal(a: u64, b: u64) -> f64 {
    (-2.0 * uniform(a, 2 * b).ln()).sqrt() * (TAU * uniform(a, 2 * b + 1)).cos()
}

/// Prices of six hours, each of which depends on wind, load and gas of its own hour in the same
/// way. `name` gives a source and an hour the name of their column.
fn table(rows: std::ops::Range<u64>, name: impl Fn(&str, u64) -> String) -> String {
    let mut text = String::from("shop");
    for source in ["wind", "load", "gas", "price"] {
        for hour in 0..HOURS {
            write!(text, ",{}", name(source, hour)).unwrap();
        }
    }
    text.push('\n');
    for row in rows {
        write!(text, "{}", ["a", "b"][(row % 2) as usize]).unwrap();
        let value = |source: u64, hour: u64| normal(row, 10 * source + hour);
        for source in 0..3 {
            for hour in 0..HOURS {
                write!(text, ",{:.3}", value(source, hour)).unwrap();
            }
        }
        for hour in 0..HOURS {
            let [wind, load, gas, noise] = [0, 1, 2, 3].map(|source| value(source, hour));
            let price = 50.0 - 8.0 * wind + 10.0 * load + 5.0 * gas + 6.0 * noise;
            write!(text, ",{price:.3}").unwrap();
        }
        text.push('\n');
    }
    text
}

fn workspace(table: &str) -> TestWorkspace {
    let workspace = TestWorkspace::new();
    workspace.write("table.csv", table);
    workspace.write("problem.toml", PROBLEM);
    workspace
}

const COMMAND: &str = "fit table.csv --problem problem.toml --out result";

fn json(output: &CommandOutput) -> serde_json::Value {
    serde_json::from_str(&output.out).unwrap_or_else(|_| panic!("{}", output.err))
}

fn regret(found: &serde_json::Value, method: &str) -> f64 {
    let methods = found["summary"]["methods"].as_array().unwrap();
    let method = methods.iter().find(|known| known["name"] == method);
    method.unwrap_or_else(|| panic!("{methods:?}"))["total_regret"]
        .as_f64()
        .unwrap()
}

/// The regret of the model of a fit on rows that it has not seen.
fn regret_on(workspace: &TestWorkspace, model: &str, file: &str) -> f64 {
    let command = format!("evaluate --model {model} --data {file} --costs 'price_*' --json");
    let words: Vec<String> = command
        .replace('\'', "")
        .split(' ')
        .map(str::to_owned)
        .collect();
    let output = workspace.run_words(&words);
    json(&output.succeeded())["regret"].as_f64().unwrap()
}

#[test]
fn costs_with_columns_of_their_own_share_a_predictor_that_is_better_on_new_rows() {
    let name = |source: &str, hour: u64| format!("{source}_h{hour}");
    let workspace = workspace(&table(0..160, name));
    let costs = ["--costs".to_owned(), "price_*".to_owned()];
    let words = |command: &str| -> Vec<String> {
        command
            .split(' ')
            .map(str::to_owned)
            .chain(costs.clone())
            .collect()
    };
    let output = workspace.run_words(&words(&format!("{COMMAND} --budget 4 --json")));
    let found = json(&output);
    let columns = found["roles"]["cost_columns"].as_array().unwrap();
    assert_eq!(columns.len(), 3, "{columns:?}");
    assert!(
        output
            .err
            .contains("of each cost    a column each in wind_h*, load_h*, gas_h*"),
        "{}",
        output.err
    );
    let [wide, shared] =
        ["least squares", "shared least squares"].map(|method| regret(&found, method));
    assert!(shared < 0.97 * wide, "{shared} against {wide}");
    // The model that is chosen is a shared one.
    let method = found["method"].as_str().unwrap();
    let chosen = found["remarks"].to_string();
    assert!(
        method.starts_with("shared") || chosen.contains("linear shared"),
        "{method}: {chosen}"
    );
    // A model of the wide table: saved, loaded, and deciding on the same columns.
    workspace.write("unseen.csv", &table(1000..1800, name));
    let decide = "decide --model result/model.safetensors --data unseen.csv --out d.csv";
    workspace.run(decide).succeeded();
    assert_eq!(workspace.read("d.csv").lines().count(), 801);
    let train = "train --data table.csv --problem problem.toml --method";
    for (method, file) in [("least squares", "ls"), ("shared least squares", "shared")] {
        let mut train = words(train);
        train.insert(6, method.into());
        train.extend(["--out".to_owned(), format!("{file}.safetensors")]);
        workspace.run_words(&train).succeeded();
    }
    let [wide, shared, chosen] = ["ls", "shared", "result/model"]
        .map(|file| regret_on(&workspace, &format!("{file}.safetensors"), "unseen.csv"));
    assert!(shared < wide, "{shared} against {wide}");
    assert!(chosen < wide, "{chosen} against {wide}");
}

#[test]
fn columns_are_found_by_correlation_where_names_do_not_tell() {
    // The columns of the sources are numbered backwards.
    let name = |source: &str, hour: u64| match source {
        "price" => format!(
            "price_{}",
            ["six", "ten", "two", "one", "nine", "four"][hour as usize]
        ),
        source => format!("{source}{}", 40 - hour),
    };
    let workspace = workspace(&table(0..900, name));
    let mut words: Vec<String> = COMMAND.split(' ').map(str::to_owned).collect();
    words.extend(["--costs", "price_*", "--method", "MSE", "--json"].map(str::to_owned));
    let found = json(&workspace.run_words(&words));
    let load: Vec<String> = (0..HOURS)
        .map(|hour| format!("load{}", 40 - hour))
        .collect();
    let columns = found["roles"]["cost_columns"].as_array().unwrap();
    assert!(columns.contains(&serde_json::json!(load)), "{columns:?}");
    let [wide, shared] =
        ["least squares", "shared least squares"].map(|method| regret(&found, method));
    assert!(shared < wide, "{shared} against {wide}");
}

#[test]
fn every_forecast_is_compared_and_quantities_on_another_scale_are_not() {
    // Two forecasts of the price, and the wind.
    let mut text = String::new();
    for (number, line) in table(0..120, |source, hour| format!("{source}_h{hour}"))
        .lines()
        .enumerate()
    {
        let cells: Vec<&str> = line.split(',').collect();
        let mut cells: Vec<String> = cells.into_iter().map(str::to_owned).collect();
        for (position, source) in [(7, "early"), (13, "late")] {
            for hour in 0..HOURS as usize {
                cells[position + hour] = if number == 0 {
                    format!("{source}_h{hour}")
                } else {
                    let price: f64 = cells[19 + hour].parse().unwrap();
                    let error = normal(number as u64, 90 + position as u64 + 7 * hour as u64);
                    format!("{:.3}", price + (20 - position) as f64 * error)
                };
            }
        }
        text += &(cells.join(",") + "\n");
    }
    let workspace = workspace(&text);
    let mut words: Vec<String> = COMMAND.split(' ').map(str::to_owned).collect();
    words.extend(["--costs", "price_*", "--method", "MSE", "--json"].map(str::to_owned));
    let output = workspace.run_words(&words);
    let reason = "columns wind_h* are not compared: they are on another scale";
    assert!(output.err.contains(reason), "{}", output.err);
    let found = json(&output);
    let [early, late] = ["columns early_h*", "columns late_h*"].map(|name| regret(&found, name));
    assert!(late < early, "{late} against {early}");
    let summary = &found["summary"];
    assert!(!summary["methods"].to_string().contains("columns wind"));
}
