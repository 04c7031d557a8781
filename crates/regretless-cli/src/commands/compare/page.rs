//! The page of a comparison: what it was made from, and the results for `regretless-report`.

use std::ffi::OsString;
use std::path::Path;

use regretless::experiment::{DecisionLayout, ExperimentResults, FigureKind, ProblemResults};
use regretless_report::{PageSummary, comparison_page};
use time::OffsetDateTime;

use super::super::check::DataFindings;
use super::super::decision_page::{TableFacts, table_name};
use super::{Comparison, ComparisonResult, name, profile_name};
use crate::args::CompareOptions;
use crate::output::grouped;
use crate::shell::{command_line, quoted};

/// Everything a page is made from.
pub struct PageInput<'a> {
    pub options: &'a CompareOptions,
    pub comparison: &'a Comparison,
    pub result: &'a ComparisonResult,
    /// How decisions of a user's problem are drawn.
    pub layout: Option<DecisionLayout>,
    /// The unit of costs.
    pub unit: &'a str,
    /// The verdict in plain words.
    pub headline: Option<String>,
    /// The verdict in detail, and warnings.
    pub sentences: &'a [String],
    pub folder: &'a Path,
    pub arguments: &'a [OsString],
}

/// The page as HTML.
pub fn html(input: &PageInput<'_>) -> String {
    let mut verdict: Vec<String> = input.headline.iter().cloned().collect();
    verdict.extend(input.sentences.iter().cloned());
    let labels = input.comparison.label_counts();
    if !labels.are_optimal() {
        verdict.push(format!(
            "Not all labels are proven optimal: {labels}. Regrets are differences to the labels."
        ));
    }
    let folder = input.folder.display().to_string();
    let (settings, again) = (format!("{folder}/settings.toml"), format!("{folder}-again"));
    let summary = PageSummary {
        verdict,
        unit: input.unit.to_owned(),
        facts: facts(input),
        data_check: input
            .comparison
            .findings
            .as_ref()
            .map(DataFindings::messages),
        commands: vec![
            command_line(input.arguments),
            format!(
                "regretless compare --config {} --out {}   # the same settings in a new folder",
                quoted(&settings),
                quoted(&again)
            ),
        ],
        ..PageSummary::default()
    };
    comparison_page(&results(input), &summary)
}

/// The results with title, figures and origin.
fn results(input: &PageInput<'_>) -> ExperimentResults {
    let mut results = input.result.experiment.clone();
    let what = table_name(&input.options.data).unwrap_or_else(|| name(input.options));
    results.title = format!("Which method decides best on {what}?");
    results.description = input.comparison.title(input.options);
    results.figures = vec![
        FigureKind::Bars,
        FigureKind::Examples,
        FigureKind::Pareto,
        FigureKind::Curves,
        FigureKind::Solves,
    ];
    results.provenance.command = command_line(input.arguments);
    results.provenance.date = OffsetDateTime::now_utc().date().to_string();
    let mut problem = input.result.statistics.clone();
    note_failures(&mut problem, input.result);
    problem.layout = input.layout.clone().or(problem.layout);
    if let Some(keys) = &input.comparison.keys {
        for example in &mut problem.examples {
            if let Some(key) = keys.values().get(example.row) {
                example.key = format!("{} {key}", keys.name());
            }
        }
    }
    if input.comparison.shares_test_rows() {
        // Seeds that share their test rows show nothing about other rows.
        for method in &mut problem.methods {
            method.difference = None;
        }
    }
    results.problems = vec![problem];
    results
}

/// Failed runs are not stored, so that the same command repeats them; the page has their errors.
fn note_failures(problem: &mut ProblemResults, result: &ComparisonResult) {
    for failure in &result.failures {
        let mut methods = problem.methods.iter_mut();
        if let Some(method) = methods.find(|method| method.name == failure.run.name) {
            method.note = Some(format!("seed {}: {}", failure.run.seed, failure.error));
        }
    }
}

/// Data, split and settings.
fn facts(input: &PageInput<'_>) -> Vec<(String, String)> {
    let (options, comparison) = (input.options, input.comparison);
    let data = &comparison.data[0];
    let table = TableFacts {
        options: &options.data,
        problem: data.problem.name(),
        table: data.data.data(),
        encoding: &comparison.encoding(),
        unused_columns: &comparison.unused_columns,
        skipped_rows: &comparison.skipped_rows,
    };
    let mut facts = table.list();
    let mut add = |name: &str, value: String| facts.push((name.to_string(), value));
    if options.problem.benchmark.is_some() {
        add(
            "data",
            format!("{}, generated for each seed", name(options)),
        );
    }
    let [train, validation, test] = data.split.counts().map(|rows| grouped(rows as u64));
    let seeds = if comparison.shares_test_rows() {
        "the same for all seeds"
    } else {
        "for each seed"
    };
    let parts = format!("{train} rows to train, {validation} to validate, {test} to test");
    add("split", format!("{parts}; {}, {seeds}", data.split.rule));
    add("labels", comparison.label_counts().to_string());
    let (first, count) = (options.seed.unwrap_or(0), comparison.data.len());
    add("seeds", format!("{count}, from {first}"));
    if let Some(predictor) = &options.split.predictor {
        add("predictor", predictor.to_string());
    }
    add(
        "training",
        format!(
            "{} epochs, profile {}",
            options.training.epochs.unwrap_or(0),
            profile_name(options)
        ),
    );
    if let Some(heuristic) = options.execution.heuristic {
        add(
            "decisions",
            format!("by a heuristic, {heuristic}: labels and decisions need not be optimal"),
        );
    }
    add(
        "all settings",
        format!("{}/settings.toml", input.folder.display()),
    );
    facts
}
