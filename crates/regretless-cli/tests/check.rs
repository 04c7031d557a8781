//! The data check as a command, and its lines in other commands.

#![allow(clippy::unwrap_used, reason = "a failed step should show where")]

mod common;

use std::fmt::Write as _;

use common::TestWorkspace;

/// A number from -1 to 1 that looks random.
fn noise(row: usize, stream: u64) -> f64 {
    let mut hash = (row as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (stream << 40);
    hash ^= hash >> 31;
    hash = hash.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash ^= hash >> 27;
    (hash % 20_001) as f64 / 10_000.0 - 1.0
}

/// Days in order, but for the last two; one feature is a cost of the day, one of the next day, and
/// one is constant.
fn workspace() -> TestWorkspace {
    let workspace = TestWorkspace::new();
    let cost = |row: usize, item: u64| 10.0 + noise(row, 1) * item as f64 + noise(row, 10 + item);
    let mut table = "date,load,paid,tomorrow,site,c1,c2,c3\n".to_owned();
    for row in 0..60 {
        let order = match row {
            58 => 59,
            59 => 58,
            row => row,
        };
        writeln!(
            table,
            "2026-{:02}-{:02},{},{},{},4,{},{},{}",
            1 + order / 28,
            1 + order % 28,
            noise(row, 1),
            2.0 * cost(row, 2),
            // The rows of the last two days are exchanged.
            cost(
                match row {
                    57 => 59,
                    58 => 60,
                    59 => 58,
                    row => row + 1,
                },
                3
            ),
            cost(row, 1),
            cost(row, 2),
            cost(row, 3)
        )
        .unwrap();
    }
    workspace.write("table.csv", &table);
    workspace.write(
        "problem.toml",
        "kind = 'top_k'\nitems = 3\nk = 1\nsense = 'minimize'\n",
    );
    workspace
}

#[test]
fn check_lists_what_is_wrong_with_a_table() {
    let workspace = workspace();
    let text = workspace
        .run("check --data table.csv --costs c*")
        .succeeded()
        .out;
    for expected in [
        "table.csv: 60 rows, 11 features, 3 costs",
        "leak            feature paid has the correlation 1.0000 with cost c2",
        "leak            feature tomorrow has the correlation 1.0000 with cost c3 of the next row",
        "constant        feature site is constant: 4 in all 60 rows",
        "time order      rows are not in time order: 1 is earlier than the row before, the first \
         is row 59, counted from 0 (2026-03-03 after 2026-03-04)",
    ] {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
    assert!(!text.contains("feature load"), "{text}");
    let report = workspace
        .run("check --data table.csv --costs c* --problem problem.toml --json")
        .json();
    let findings = report["findings"].as_array().unwrap();
    let kinds: Vec<&str> = findings
        .iter()
        .map(|finding| finding["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["leak", "leak", "constant", "time_order"]);
    let clean = workspace
        .run("check --data table.csv --costs c* --features load --split time:date")
        .succeeded()
        .out;
    assert!(clean.contains("time order"), "{clean}");
    assert!(!clean.contains("leak"), "{clean}");
}

#[test]
fn rows_with_the_time_of_another_row_are_found_where_they_are_few() {
    let workspace = workspace();
    let table = workspace.read("table.csv");
    let check = "check --data table.csv --costs c* --features load";
    let out = workspace.run(check).succeeded().out;
    assert!(!out.contains("repeated time"), "{out}");
    // The third day is in the table twice.
    let third = table.lines().nth(3).unwrap();
    workspace.write("table.csv", &format!("{table}{third}\n"));
    let out = workspace.run(check).succeeded().out;
    let expected = "repeated time   1 row has the time of another row, the first is row 60, \
                    counted from 0 (2026-01-03)";
    assert!(out.contains(expected), "{out}");
    // Several rows per day by design.
    let rows = table.split_once('\n').unwrap().1;
    workspace.write("table.csv", &format!("{table}{rows}"));
    let out = workspace.run(check).succeeded().out;
    assert!(!out.contains("repeated time"), "{out}");
}

#[test]
fn train_and_compare_print_findings_and_store_them() {
    let workspace = workspace();
    let table = "--data table.csv --costs c* --problem problem.toml --epochs 2";
    let output = workspace.run(&format!("train {table}")).succeeded();
    let line = "check: feature paid has the correlation 1.0000 with cost c2";
    assert!(output.err.contains(line), "{}", output.err);
    let report: serde_json::Value =
        serde_json::from_str(&workspace.read("model.report.json")).unwrap();
    assert_eq!(report["data_check"][0]["columns"][0], "paid");
    let quiet = workspace
        .run(&format!("train {table} --quiet --force"))
        .succeeded();
    assert!(!quiet.err.contains("check:"), "{}", quiet.err);
    workspace
        .run(&format!(
            "compare {table} --methods MSE --seeds 1 --out compared"
        ))
        .succeeded();
    let page = workspace.read("compared/report.html");
    assert!(page.contains("<h2>Data check</h2>"), "no data check");
    assert!(page.contains("feature site is constant"), "no finding");
}
