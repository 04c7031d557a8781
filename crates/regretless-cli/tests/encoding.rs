//! Real tables: categories, dates, truth values, gaps and identifiers, from file to model to
//! decisions in one command each.

#![allow(clippy::unwrap_used, reason = "a failed step should show where")]

mod common;

use std::fmt::Write as _;

use common::TestWorkspace;
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Numbers from 0 to less than 1 that look random and are the same in every run.
fn noise(number: usize) -> f64 {
    (number * 7919 % 1009) as f64 / 1009.0
}

/// Months × sites with counts of earlier months, gaps, a county and an identifier per row.
fn surveillance() -> String {
    let mut text = "month,site,county,latitude,count_1,count_2,report,cost\n".to_owned();
    for month in 0..27 {
        for site in 0..20 {
            let row = month * 20 + site;
            let count = |lag: usize| match noise(row * 3 + lag) {
                gap if gap < 0.1 => "".into(),
                other => format!("{}", (other * 9.0).round()),
            };
            let county = ["Essex", "Norfolk", "Suffolk"][site % 3];
            writeln!(
                text,
                "{}-{:02},s{site},{county},{:.2},{},{},R{row:05},{}",
                2022 + month / 12,
                month % 12 + 1,
                42.0 + noise(site),
                count(1),
                count(2),
                (site % 5) as f64 + (10.0 * noise(row)).round()
            )
            .unwrap();
        }
    }
    text
}

#[test]
fn a_long_table_with_gaps_and_identifiers_goes_to_decisions() {
    let workspace = TestWorkspace::new();
    workspace.write("asurv.csv", &surveillance());
    workspace.write(
        "problem.toml",
        "kind = 'top_k'\nitems = 20\nk = 4\nsense = 'maximize'\n",
    );
    let table = "--data asurv.csv --instance-column month --item-column site";
    let run = workspace
        .run(&format!(
            "train {table} --cost-column cost --problem problem.toml --split order --epochs 2"
        ))
        .succeeded();
    assert!(
        run.err
            .contains("column report is not used: text with 340 values in 340 training rows"),
        "{}",
        run.err
    );
    for line in [
        "features           8: county=Essex, county=Norfolk, county=Suffolk, latitude, count_1, \
         count_1 is missing, count_2, count_2 is missing",
        "county: one-hot, 3 values",
        "gaps in the training rows, filled with the median",
    ] {
        assert!(run.out.contains(line), "'{line}' is not in {}", run.out);
    }
    let report = json(&workspace.read("model.report.json"));
    assert_eq!(report["unused_columns"][0]["column"], "report");
    let decide = format!("decide --model model.safetensors {table} --out d.csv --sparse");
    workspace.run(&decide).succeeded();
    let lines = workspace.read("d.csv").lines().count();
    assert_eq!(lines, 1 + 27 * 4);
    // The item is a feature too where users say so.
    let run = workspace
        .run(&format!(
            "train {table} --cost-column cost --problem problem.toml --split order --epochs 2 \
             --target-statistics site,report --out site.safetensors"
        ))
        .succeeded();
    for line in ["site mean cost", "report mean cost"] {
        assert!(run.out.contains(line), "{}", run.out);
    }
    let decide = format!("decide --model site.safetensors {table} --out e.csv");
    workspace.run(&decide).succeeded();
}

/// Days × shops of a bakery.
fn bakery(days: usize) -> String {
    let mut text = "date,shop,weather,late,temperature,customer,c_roll,c_cake,c_pie\n".to_owned();
    for day in 0..days {
        let shop = ["mall", "north", "south", "station"][day * 5 % 4];
        let weather = ["sun", "rain", "NA"][day * 11 % 3];
        let late = ["yes", "no"][day * 3 % 2];
        let temperature = if day % 12 == 7 {
            String::new()
        } else {
            format!("{:.1}", 25.0 * noise(day))
        };
        let weekend = if matches!(day % 7, 2 | 3) { 2.0 } else { 0.0 };
        let rain = if weather == "rain" { 1.5 } else { 0.0 };
        writeln!(
            text,
            "{},{shop},{weather},{late},{temperature},K{day:04},{:.2},{:.2},{:.2}",
            date(day),
            2.0 + weekend + noise(day),
            3.0 + noise(day + 1),
            2.5 + rain + noise(day + 2)
        )
        .unwrap();
    }
    text
}

/// A date from 2026-01-01 on, which was a Thursday.
fn date(day: usize) -> String {
    const MONTHS: [usize; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let (mut month, mut left) = (0, day);
    while left >= MONTHS[month] {
        left -= MONTHS[month];
        month += 1;
    }
    format!("2026-{:02}-{:02}", month + 1, left + 1)
}

fn with_bakery() -> TestWorkspace {
    let workspace = TestWorkspace::new();
    workspace.write("bakery.csv", &bakery(200));
    workspace.write(
        "problem.toml",
        "kind = 'top_k'\nitems = 3\nk = 1\nsense = 'minimize'\n",
    );
    workspace
}

const BAKERY: &str = "--data bakery.csv --costs c_* --problem problem.toml --split time:date";

#[test]
fn a_table_with_categories_and_dates_goes_to_decisions() {
    let workspace = with_bakery();
    let run = workspace
        .run(&format!("train {BAKERY} --epochs 30"))
        .succeeded();
    assert!(
        run.err
            .contains("column customer is not used: text with 120 values"),
        "{}",
        run.err
    );
    for line in [
        "date: weekday (7 values); no season, as the training rows span 120 days",
        "shop: one-hot, 4 values",
        "weather: one-hot, 2 values and one for gaps",
        "late: true or false",
        "temperature: 10 gaps in the training rows, filled with the median",
    ] {
        assert!(run.out.contains(line), "'{line}' is not in {}", run.out);
    }
    let report = json(&workspace.read("model.report.json"));
    let normalized = |part: &str| report[part]["normalized_regret"].as_f64().unwrap();
    assert!(
        normalized("test") < 0.7 * normalized("training_mean"),
        "weekdays and weather decide: {report}"
    );
    workspace
        .run("decide --model model.safetensors --data bakery.csv --key date --out d.csv")
        .succeeded();
    assert_eq!(workspace.read("d.csv").lines().count(), 201);
    // The settings repeat the run.
    let model = workspace.bytes("model.safetensors");
    workspace
        .run("train --config model.settings.toml --out again.safetensors")
        .succeeded();
    assert_eq!(workspace.bytes("again.safetensors"), model);
}

#[test]
fn values_that_training_did_not_have_are_counted_with_their_place() {
    let workspace = with_bakery();
    workspace
        .run(&format!("train {BAKERY} --epochs 2"))
        .succeeded();
    let decide = "decide --model model.safetensors --data new.csv --json --force --out d.csv";
    let header = "shop,date,weather,late,temperature\n";
    let rows = "mall,2027-01-01,sun,no,3\nmoon,2027-01-02,sun,no,3\nmars,2027-01-03,sun,,NA\n";
    workspace.write("new.csv", &format!("{header}{rows}"));
    let run = workspace.run(decide).succeeded();
    let unseen = "new.csv, row 3, column shop: 'moon' is a value that no training row has";
    let gap = "new.csv, row 4, column late: the value is missing";
    for words in [unseen, "(2 of 3 rows)", gap] {
        assert!(run.err.contains(words), "'{words}' is not in {}", run.err);
    }
    let notes = json(&run.out)["encoding_notes"].clone();
    assert_eq!(notes.as_array().unwrap().len(), 2, "{notes}");
    for (row, words) in [
        (
            "mall,2027-02-30,sun,no,3\n",
            ["row 2", "column date", "'2027-02-30' is no date"],
        ),
        (
            "mall,2027-01-01,sun,no,warm\n",
            ["row 2", "column temperature", "'warm'"],
        ),
        (
            "mall,2027-01-01,sun,no,inf\n",
            ["row 2", "column temperature", "'inf'"],
        ),
    ] {
        workspace.write("new.csv", &format!("{header}{row}"));
        workspace.run(decide).failed(3, &words);
    }
    workspace.write(
        "new.csv",
        "shop,date,weather,temperature\nmall,2027-01-01,sun,3\n",
    );
    workspace
        .run(decide)
        .failed(3, &["new.csv", "column late", "no such column"]);
    // A date that is none in the training table.
    let broken = bakery(200).replacen("2026-01-31", "2026-01-32", 1);
    workspace.write("bakery.csv", &broken);
    workspace.run(&format!("train {BAKERY} --force")).failed(
        3,
        &["bakery.csv, row 32, column date", "'2026-01-32' is no date"],
    );
}

#[test]
fn gaps_can_be_refused_and_columns_chosen() {
    let workspace = with_bakery();
    workspace
        .run(&format!("train {BAKERY} --missing error"))
        .failed(3, &["bakery.csv, row 9, column temperature", "empty"]);
    workspace
        .run(&format!(
            "train {BAKERY} --missing error --ignore temperature"
        ))
        .failed(3, &["bakery.csv, row 3, column weather", "missing"]);
    workspace
        .run(&format!("train {BAKERY} --categories shops"))
        .failed(2, &["'shops'"]);
    workspace
        .run(&format!("train {BAKERY} --dates date=month"))
        .failed(2, &["'month'", "weekday, season"]);
    workspace.write(
        "holidays.csv",
        "name,date\nNew Year,2026-01-01\nspring,2026-03-20\n",
    );
    let run = workspace
        .run(&format!(
            "train {BAKERY} --epochs 2 --dates date=trend+holiday --holidays holidays.csv"
        ))
        .succeeded();
    assert!(
        run.out.contains("date trend, date holiday, shop=mall"),
        "{}",
        run.out
    );
    workspace.write(
        "new.csv",
        "shop,date,weather,late,temperature\nmall,2027-01-01,sun,no,3\n",
    );
    let decide = "decide --model model.safetensors --data new.csv --force --out d.csv";
    let beyond = "new.csv, row 2, column date: a date in a year without any given holiday";
    let run = workspace.run(decide).succeeded();
    assert!(run.err.contains(beyond), "{}", run.err);
    let first = workspace.read("d.csv");
    workspace.write("holidays.csv", "2027-01-01\n");
    let run = workspace
        .run(&format!("{decide} --holidays holidays.csv"))
        .succeeded();
    assert!(!run.err.contains("holiday"), "{}", run.err);
    assert_ne!(
        workspace.read("d.csv"),
        first,
        "the objective has the holiday"
    );
}

#[test]
fn compare_and_evaluate_encode_by_the_training_rows_of_each_seed() {
    let workspace = with_bakery();
    let table = BAKERY.replace(" --split time:date", "");
    let run = workspace
        .run(&format!(
            "compare {table} --methods MSE --epochs 2 --seeds 2 --json --out results"
        ))
        .succeeded();
    let report = json(&run.out);
    assert_eq!(
        report["encoding"]["columns"].as_array().unwrap().len(),
        5,
        "{report}"
    );
    let run = workspace
        .run(&format!(
            "compare {table} --methods MSE --epochs 2 --seeds 2 --json --out again"
        ))
        .succeeded();
    let regrets = |report: &Value| {
        let methods = report["methods"].as_array().unwrap().iter();
        methods
            .map(|method| method["test_regret"].clone())
            .collect::<Vec<Value>>()
    };
    assert_eq!(regrets(&json(&run.out)), regrets(&report));
    workspace
        .run(&format!("train {table} --epochs 2"))
        .succeeded();
    let run = workspace
        .run("evaluate --model model.safetensors --data bakery.csv --json")
        .succeeded();
    let evaluated = json(&run.out);
    assert_eq!(evaluated["instances"], 200);
    assert_eq!(evaluated["training_overlap"]["seen"], 160, "{evaluated}");
    workspace
        .run("inspect model.safetensors --data bakery.csv --repeats 1")
        .succeeded();
    workspace
        .run("check --data bakery.csv --costs c_*")
        .succeeded();
}

/// Shipments from two depots, whose costs depend on the weekday and the fuel price.
#[test]
fn a_linear_program_with_a_dated_table_goes_to_decisions() {
    let workspace = TestWorkspace::new();
    workspace.write(
        "model.lp",
        "minimize\n obj: 20 open_a + 30 open_b\nsubject to\n \
         x: ship_a_x + ship_b_x >= 3\n y: ship_a_y + ship_b_y >= 4\n \
         a: ship_a_x + ship_a_y - 8 open_a <= 0\n b: ship_b_x + ship_b_y - 8 open_b <= 0\n\
         binary\n open_a open_b\nend\n",
    );
    workspace.write(
        "problem.toml",
        "kind = 'linear'\nfile = 'model.lp'\ncosts = ['ship_*']\n",
    );
    let names = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    let mut text =
        "date,weekday,dayname,rain,fuel,ship_a_x,ship_a_y,ship_b_x,ship_b_y\n".to_owned();
    for day in 0..300 {
        let fuel = if day % 20 == 11 {
            "NA".into()
        } else {
            format!("{:.2}", 1.0 + noise(day))
        };
        let weekend = if matches!(day % 7, 2 | 3) { 6.0 } else { 0.0 };
        let cost = |base: f64| format!("{:.2}", base + weekend + noise(day * 3));
        writeln!(
            text,
            "{},{},{},{},{fuel},{},{},{},{}",
            date(day),
            (day + 3) % 7,
            names[day % 7],
            day % 3 == 0,
            cost(5.0),
            cost(6.0),
            cost(4.0),
            cost(5.5)
        )
        .unwrap();
    }
    workspace.write("history.csv", &text);
    let run = workspace
        .run(
            "train --method MAE(O,S) \
                --data history.csv --costs ship_* --problem problem.toml --split time:date \
             --categories weekday --epochs 2",
        )
        .succeeded();
    for line in [
        "weekday: one-hot, 7 values",
        "dayname: one-hot, 7 values",
        "rain: true or false",
    ] {
        assert!(run.out.contains(line), "'{line}' is not in {}", run.out);
    }
    // The three ways to write a weekday say the same.
    assert!(run.err.contains("are equal in all rows"), "{}", run.err);
    workspace
        .run("decide --model model.safetensors --data history.csv --key date --out d.csv")
        .succeeded();
    let decisions = workspace.read("d.csv");
    assert_eq!(decisions.lines().count(), 301);
    assert!(
        decisions.starts_with("date,objective,status,"),
        "{decisions:.80}"
    );
    assert!(decisions.lines().next().unwrap().contains("open_a"));
}
