//! `fit` on tables of periods: the calendar of a date, costs of earlier periods, and a horizon
//! across which nothing is known.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fmt::Write as _;

use common::{CommandOutput, TestWorkspace, noise};

const PROBLEM: &str = "kind = \"top_k\"\nitems = 4\nk = 2\nsense = \"minimize\"\n";

/// The date of a day counted from the first of January 2024.
fn date(day: u64) -> String {
    let lengths = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut left = day;
    for (month, length) in lengths.iter().enumerate() {
        if left < *length {
            return format!("2024-{:02}-{:02}", month + 1, left + 1);
        }
        left -= length;
    }
    panic!("day {day} is after the year");
}

/// Costs that depend on the weekday alone.
fn weekday_cost(day: u64, item: u64) -> f64 {
    let is_expensive = (day % 7 + item).is_multiple_of(4);
    10.0 + if is_expensive { 6.0 } else { 0.0 } + noise(day, item)
}

/// A level for every day and item that the day after remembers.
fn remembered_cost(day: u64, item: u64) -> f64 {
    let first = day.saturating_sub(12);
    let shocks = (first..=day)
        .map(|earlier| 0.8_f64.powi((day - earlier) as i32) * (noise(earlier, 50 + item) - 0.5));
    20.0 + 10.0 * shocks.sum::<f64>()
}

/// A table of daily rows with a feature that says nothing.
fn table(days: u64, cost: impl Fn(u64, u64) -> f64) -> String {
    let mut text = String::from("date,noise,cost_p,cost_q,cost_r,cost_s\n");
    for day in 0..days {
        write!(text, "{},{:.3}", date(day), noise(day, 99)).unwrap();
        for item in 0..4 {
            write!(text, ",{:.3}", cost(day, item)).unwrap();
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

const COMMAND: &str = "fit table.csv --problem problem.toml --method MSE --out result";

/// The regret of a method in the results of a fit.
fn regret(output: &CommandOutput, method: &str) -> f64 {
    let json: serde_json::Value = serde_json::from_str(&output.out).unwrap();
    let methods = json["summary"]["methods"].as_array().unwrap();
    let found = methods.iter().find(|found| found["name"] == method);
    found.unwrap()["total_regret"].as_f64().unwrap()
}

#[test]
fn a_date_becomes_weekdays_unless_the_features_are_named() {
    let workspace = workspace(&table(200, weekday_cost));
    let with = workspace.run(&format!("{COMMAND} --lags none --json"));
    assert!(
        with.err
            .contains("calendar        weekday (7 values); no season"),
        "{}",
        with.err
    );
    let found: serde_json::Value = serde_json::from_str(&with.out).unwrap();
    assert_eq!(
        found["roles"]["features"],
        serde_json::json!(["date", "noise"])
    );
    assert_eq!(found["roles"]["time"], "date");
    let without = "--features noise --out without --json";
    let without = workspace.run(&format!("{COMMAND} {without}").replace("--out result", ""));
    assert!(!without.err.contains("calendar"), "{}", without.err);
    // Only the weekday tells the days apart.
    let [with, without] = [&with, &without].map(|output| regret(output, "least squares"));
    assert!(with < 0.2 * without, "{with} against {without}");
    // A time that is named among the features is both.
    let named = "--features date,noise --time date --lags none --out named --json";
    let named = workspace.run(&format!("{COMMAND} {named}").replace("--out result", ""));
    assert_eq!(regret(&named, "least squares"), with);
    workspace.write("new.csv", "date,noise\n2024-09-02,0.5\n2024-09-03,0.5\n");
    let decide = "decide --model result/model.safetensors --data new.csv --key date --out d.csv";
    workspace.run(decide).succeeded();
    // The first of January 2024 was a Monday: on Mondays the first item is expensive.
    let decisions = workspace.read("d.csv");
    let monday = decisions.lines().nth(1).unwrap();
    assert!(monday.split(',').nth(3) == Some("0"), "{decisions}");
}

#[test]
fn costs_of_earlier_periods_are_features_and_new_rows_have_them() {
    let all = table(320, remembered_cost);
    let lines: Vec<&str> = all.lines().collect();
    let workspace = workspace(&(lines[..301].join("\n") + "\n"));
    let output = workspace.run(COMMAND).succeeded();
    assert!(
        output.err.contains(
            "lags            8 columns with the costs of 1 and 7 periods before; 7 rows without \
             history left out"
        ),
        "{}",
        output.err
    );
    let lagged = workspace.read("result/lagged.csv");
    let header = "date,noise,cost_p,cost_q,cost_r,cost_s,cost_p_lag1,cost_q_lag1,cost_r_lag1,\
                  cost_s_lag1,cost_p_lag7,cost_q_lag7,cost_r_lag7,cost_s_lag7";
    assert_eq!(lagged.lines().next(), Some(header));
    assert_eq!(lagged.lines().count(), 1 + 300 - 7);
    let cells = |line: &str| -> Vec<String> { line.split(',').map(str::to_owned).collect() };
    let first = cells(lagged.lines().nth(1).unwrap());
    assert_eq!(first[0], date(7));
    assert_eq!(first[6..10], cells(lines[7])[2..], "the day before");
    assert_eq!(first[10..14], cells(lines[1])[2..], "the week before");
    // The next day, with what is known on the last one.
    let check_new = |last: usize| {
        let new = workspace.read("result/new-rows.csv");
        assert_eq!(new.lines().count(), 2, "{new}");
        let next = cells(new.lines().nth(1).unwrap());
        assert_eq!(next[0], date(last as u64), "{new}");
        assert_eq!(next[2..6], cells(lines[last])[2..]);
        assert_eq!(next[6..10], cells(lines[last - 6])[2..]);
    };
    check_new(300);
    let next = output
        .out
        .lines()
        .filter_map(|line| line.strip_prefix("  regretless "));
    let next: Vec<&str> = next.collect();
    assert_eq!(next.len(), 3, "{}", output.out);
    let sentence = format!("next, after you have filled in noise of {} in", date(300));
    assert!(output.out.contains(&sentence), "{}", output.out);
    workspace.fill_in("result/new-rows.csv", "0.5");
    for command in &next {
        workspace.run(command).succeeded();
    }
    // Days later, the same model decides with the costs that are known by then.
    workspace.write("table.csv", &(lines[..311].join("\n") + "\n"));
    let model = workspace.bytes("result/model.safetensors");
    workspace.run(next[2]).succeeded();
    check_new(310);
    workspace.fill_in("result/new-rows.csv", "0.5");
    workspace.run(&format!("{} --force", next[0])).succeeded();
    assert_eq!(workspace.bytes("result/model.safetensors"), model);
    // What the day before remembers is worth something.
    let with = workspace.run(&format!("{COMMAND} --force --json"));
    let without = format!("{COMMAND} --lags none --json").replace("--out result", "--out without");
    let [with, without] =
        [with, workspace.run(&without)].map(|output| regret(&output, "least squares"));
    assert!(with < 0.7 * without, "{with} against {without}");
}

#[test]
fn nothing_is_known_across_the_horizon() {
    let days = 200;
    let horizon = 3;
    let command = format!("{COMMAND} --lags 3,7 --horizon 3");
    let whole = workspace(&table(days, remembered_cost));
    whole.run(&command).succeeded();
    // Rows of the table with lags are 193; 97 are trained on first, then five steps.
    let decided: Vec<String> = periods(&whole);
    let last_fold = decided[decided.len() * 4 / 5 + 1].clone();
    for period in [decided[0].clone(), last_fold] {
        let at = (0..days).find(|day| date(*day) == period).unwrap();
        // Everything that is not known when this period is decided.
        let corrupted = table(days, |day, item| {
            if day > at - horizon {
                1000.0 * noise(day, 70 + item)
            } else {
                remembered_cost(day, item)
            }
        });
        let other = workspace(&corrupted);
        other.run(&command).succeeded();
        let features = |workspace: &TestWorkspace| -> Vec<String> {
            let text = workspace.read("result/lagged.csv");
            let row = text.lines().find(|line| line.starts_with(&period)).unwrap();
            row.split(',').skip(6).map(str::to_owned).collect()
        };
        assert_eq!(features(&whole), features(&other));
        let [first, second] = [&whole, &other].map(|workspace| decisions(workspace, &period));
        assert!(!first.is_empty());
        assert_eq!(first, second, "decisions of {period}");
    }
}

/// The decided periods in their order.
fn periods(workspace: &TestWorkspace) -> Vec<String> {
    let text = workspace.read("result/periods.csv");
    let mut periods: Vec<String> = Vec::new();
    for line in text.lines().skip(1) {
        let period = line
            .split(',')
            .find(|cell| cell.starts_with("2024-"))
            .unwrap();
        if !periods.contains(&period.to_owned()) {
            periods.push(period.to_owned());
        }
    }
    periods
}

/// The decisions of the models and of the last known period.
fn decisions(workspace: &TestWorkspace, period: &str) -> Vec<String> {
    let text = workspace.read("result/decisions.csv");
    let lines = text.lines().filter(|line| line.contains(period));
    lines.map(str::to_owned).collect()
}

#[test]
fn lags_that_are_not_known_or_have_no_history_are_refused() {
    let workspace = workspace(&table(100, remembered_cost));
    for (options, message) in [
        (
            "--lags 1,7 --horizon 2",
            "the costs of 1 period before are not known",
        ),
        ("--lags one", "the lag 'one' is not a number of periods"),
        ("--horizon 0", "a horizon of 0 periods"),
        ("--lags 1 --time none", "the table has no column of times"),
    ] {
        let refused = workspace.run(&format!("{COMMAND} {options}"));
        assert_eq!(refused.code, 2, "{options}: {}", refused.err);
        assert!(refused.err.contains(message), "{options}: {}", refused.err);
    }
    // Days off make a lag of days another one.
    let text = workspace.read("table.csv");
    let is_kept = |number: usize| number == 0 || number % 7 < 4;
    let lines = text
        .lines()
        .enumerate()
        .filter(|(number, _)| is_kept(*number));
    let lines: Vec<&str> = lines.map(|(_, line)| line).collect();
    workspace.write("table.csv", &(lines.join("\n") + "\n"));
    let refused = workspace.run(&format!("{COMMAND} --lags 1"));
    assert_eq!(refused.code, 2, "{}", refused.err);
    assert!(
        refused.err.contains("the times in 'date' are not regular"),
        "{}",
        refused.err
    );
    assert!(refused.err.contains("--lags 'none'"), "{}", refused.err);
    let usual = workspace.run(COMMAND).succeeded();
    assert!(
        usual
            .err
            .contains("lags            none: the times in 'date'"),
        "{}",
        usual.err
    );
}

#[test]
fn rows_of_one_time_have_the_history_of_their_series() {
    let mut text = String::from("date,shop,noise,cost_p,cost_q,cost_r,cost_s\n");
    for day in 0..120 {
        for (number, shop) in ["north", "south"].iter().enumerate() {
            write!(text, "{},{shop},{:.3}", date(day), noise(day, 99)).unwrap();
            for item in 0..4 {
                let cost = remembered_cost(day, item + 10 * number as u64);
                write!(text, ",{cost:.3}").unwrap();
            }
            text.push('\n');
        }
    }
    let with_shops = workspace(&text);
    let output = with_shops.run(&format!("{COMMAND} --lags 1")).succeeded();
    assert!(
        output
            .err
            .contains("in the same series (shop); 2 rows without"),
        "{}",
        output.err
    );
    let lagged = with_shops.read("result/lagged.csv");
    let rows: Vec<Vec<&str>> = lagged
        .lines()
        .map(|line| line.split(',').collect())
        .collect();
    for pair in rows[1..].chunks(2).collect::<Vec<_>>().windows(2) {
        for (later, earlier) in pair[1].iter().zip(pair[0]) {
            assert_eq!(later[7..], earlier[3..7]);
        }
    }
    let new = with_shops.read("result/new-rows.csv");
    assert_eq!(new.lines().count(), 3, "{new}");
    assert!(new.starts_with("date,shop,noise,cost_p_lag1"), "{new}");
    // Without a name for the series, rows of one time cannot be told apart.
    let nameless = text
        .replace(",shop,", ",")
        .replace(",north,", ",")
        .replace(",south,", ",");
    let nameless = workspace(&nameless);
    let refused = nameless.run(&format!("{COMMAND} --lags 1"));
    assert_eq!(refused.code, 2, "{}", refused.err);
    assert!(
        refused.err.contains("no column names the series"),
        "{}",
        refused.err
    );
}
