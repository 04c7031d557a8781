//! What `backtest` prints: the verdict, then a row for each method.

use std::path::Path;

use regretless::backtest::{BacktestResults, MethodHistory};
use regretless::data::{DataCheck, SplitRule};
use regretless::{Error, Result};
use regretless_report::PageSummary;

use super::super::check::{DataFindings, best_objectives};
use super::super::decision_page::{TableFacts, origin, table_name};
use super::super::encoding::EncodingReport;
use super::History;
use crate::args::BacktestOptions;
use crate::output::{CommandReport, grouped, number, path_json, percent};
use crate::text_table::TextTable;

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
    report.line(&results.verdict.sentence);
    for remark in &results.verdict.remarks {
        report.line(remark);
    }
    report.line("");
    report.line(title(results, history));
    report.line("");
    report.text.push_str(&table(results));
    if let Some(block_length) = results.verdict.block_length {
        report.line(format!(
            "saving per period against least squares; the {} % intervals hold for all methods \
             together (block bootstrap, blocks of {block_length} periods)",
            100.0 * results.verdict.confidence
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

fn title(results: &BacktestResults, history: &History) -> String {
    let periods = grouped(results.periods.len() as u64);
    let range = match (results.periods.first(), results.periods.last()) {
        (Some(first), Some(last)) => format!(" from {first} to {last}"),
        _ => String::new(),
    };
    let trainings = match results.trainings {
        1 => "1 training".into(),
        count => format!("{count} trainings"),
    };
    let name = history.problem.name();
    format!("{name}: {periods} periods{range}, {trainings} of each model")
}

/// What the page says besides the review.
pub fn page_summary(
    results: &BacktestResults,
    history: &History,
    options: &BacktestOptions,
    folder: &Path,
) -> Result<PageSummary> {
    let data = history.data.data();
    let encoding = EncodingReport::of(data.features());
    let table = TableFacts {
        origin: origin(&options.data),
        problem: history.problem.name(),
        table: data,
        encoding: &encoding,
        unused_columns: &history.unused_columns,
        skipped_rows: &history.skipped_rows,
    };
    let mut facts = table.list();
    let mut add = |name: &str, value: String| facts.push((name.to_string(), value));
    let time = options.origin.time.as_deref().unwrap_or_default();
    let first = history.folds.first().map_or(0, |fold| fold.history.len());
    add(
        "history",
        format!(
            "periods of the column {time}; the first training has {} rows",
            grouped(first as u64)
        ),
    );
    add("trainings", format!("{} of each model", results.trainings));
    let labels = history.data.label_counts(&history.data.rows());
    add("best decisions in hindsight", labels.to_string());
    add("seed", options.seed.unwrap_or(0).to_string());
    for note in &history.notes {
        add("note", note.clone());
    }
    add(
        "all settings",
        format!("{}/settings.toml", folder.display()),
    );
    let name = table_name(&options.data).unwrap_or_else(|| history.problem.name());
    Ok(PageSummary {
        title: format!("What would have been saved on {name}?"),
        description: title(results, history),
        facts,
        data_check: Some(findings(history, time)?.messages()),
        ..PageSummary::default()
    })
}

/// Checks the table; its earliest rows are compared with the latest ones.
fn findings(history: &History, time: &str) -> Result<DataFindings> {
    let rule = SplitRule::Time {
        column: time.to_owned(),
        fractions: [0.0, 0.5],
    };
    let data = history.data.data();
    let split = history.source.split(&rule.with_seed(0), data.len())?;
    let split = split.restrict_to(&history.data.rows())?;
    let encoded = data.encoded_features(&split.train)?;
    let encoded = encoded.map(|features| history.data.with_features(features));
    let encoded = encoded.transpose()?;
    let labeled = encoded.as_ref().unwrap_or(&history.data);
    let objectives = best_objectives(labeled);
    let check = DataCheck::new(labeled.data())
        .with_split(&split)
        .with_objectives(&objectives);
    DataFindings::of(&history.source, check, &rule)
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
    let savings = &results.verdict.savings;
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
