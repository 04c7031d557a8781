//! What `backtest` prints: the verdict, then a row for each method.

use std::path::Path;

use regretless::{Error, Result};
use regretless_study::backtest::{BacktestResults, MethodHistory};
use regretless_study::text::{TextTable, number, percent};

use super::History;
use crate::output::{CommandReport, path_json};

/// The results as text and JSON.
pub fn report(
    results: &BacktestResults,
    history: &History,
    folder: &Path,
) -> Result<CommandReport> {
    let mut report = CommandReport {
        json: results.summary()?,
        ..CommandReport::default()
    };
    report.json["skipped_rows"] = serde_json::json!(history.skipped_rows);
    report.json["unused_columns"] = history.unused_columns.json();
    report.json["notes"] = serde_json::json!(history.notes);
    report.json["folder"] = path_json(folder);
    report.line(results.verdict().sentence());
    for remark in &results.remarks {
        report.line(remark);
    }
    report.line("");
    report.line(results.title(&history.problem.name()));
    report.line("");
    report.text.push_str(&table(results));
    if let Some(block_lengths) = results.block_lengths() {
        let saving = if results.sense.is_maximize() {
            "gain"
        } else {
            "saving"
        };
        report.line(format!(
            "{saving} per period against least squares; the 95 % intervals hold for all methods \
             together (block bootstrap, blocks of {block_lengths})"
        ));
    }
    for failure in &results.failures {
        report.line(format!("failed: {}: {}", failure.name, failure.error));
    }
    report.line(format!("\nresults in {}", folder.display()));
    report.failure = results.failures.first().map(|failure| {
        let message = format!("{} failed: {}", failure.name, failure.error);
        Error::setting(message).with_remedy("the other methods are compared without it")
    });
    Ok(report)
}

fn table(results: &BacktestResults) -> String {
    let unit = match &results.unit {
        Some(unit) => format!(" ({unit})"),
        None => String::new(),
    };
    let cost = if results.sense.is_maximize() {
        "gain"
    } else {
        "cost"
    };
    let saving = if results.sense.is_maximize() {
        "more per period"
    } else {
        "saving per period"
    };
    let has_days = results.days_per_period.is_some();
    let mut heading = vec![
        "method".to_owned(),
        format!("{cost}{unit}"),
        format!("regret{unit}"),
        saving.to_owned(),
        "95 % interval".to_owned(),
    ];
    if has_days {
        heading.push("per year".into());
    }
    heading.extend(["won", "lost"].map(String::from));
    let mut table = TextTable::new(heading.iter().map(String::as_str));
    for method in &results.methods {
        table.row(row(method, results, has_days));
    }
    table.text()
}

fn row(method: &MethodHistory, results: &BacktestResults, has_days: bool) -> Vec<String> {
    let mut cells = vec![
        method.name.clone(),
        number(method.total_cost()),
        number(method.total_regret()),
    ];
    let savings = &results.savings;
    match savings.iter().find(|saving| saving.name == method.name) {
        Some(saving) => {
            cells.push(number(saving.per_period));
            cells.push(match saving.interval {
                Some(interval) => {
                    format!("{} to {}", number(interval.lower), number(interval.upper))
                }
                None => "–".into(),
            });
            if has_days {
                cells.push(saving.per_year.map_or("–".into(), number));
            }
            cells.extend([percent(saving.won), percent(saving.lost)]);
        }
        None => cells.extend(std::iter::repeat_n(
            String::new(),
            if has_days { 5 } else { 4 },
        )),
    }
    cells
}
