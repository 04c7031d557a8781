//! Runs an experiment, or reads stored results, and writes the report into a folder.
//!
//! ```text
//! cargo run -p regretless-study --example render -- RESULTS.json|EXPERIMENT.toml FOLDER
//! ```

use std::error::Error;
use std::fs;
use std::path::Path;

use regretless::observer::NoopObserver;
use regretless::parallel::Threads;
use regretless_study::experiment::{DataFiles, Experiment, ExperimentResults, ExperimentRunner};
use regretless_study::report::{PageSummary, comparison_page, review_page};
use regretless_study::review::ExplainedRow;

#[path = "../tests/fixtures/reviews.rs"]
mod fixture;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [source, folder] = arguments.as_slice() else {
        return Err("render RESULTS.json|EXPERIMENT.toml FOLDER".into());
    };
    let (text, folder) = (fs::read_to_string(source)?, Path::new(folder));
    fs::create_dir_all(folder)?;
    let results = if source.ends_with(".json") {
        serde_json::from_str(&text)?
    } else {
        run(&text, folder)?
    };
    fs::write(
        folder.join("results.json"),
        serde_json::to_string(&results)?,
    )?;
    fs::write(
        folder.join("report.html"),
        regretless_study::report::page(&results),
    )?;
    let backtest = fixture::of_backtest()?;
    let explained = backtest.explained.clone();
    fs::write(
        folder.join("comparison.html"),
        comparison(&results, explained.as_ref()),
    )?;
    for (name, review) in [
        ("backtest.html", backtest),
        ("training.html", fixture::of_training()?),
    ] {
        fs::write(folder.join(name), review_page(&review, &fixture::summary()))?;
    }
    fs::write(
        folder.join("report.md"),
        regretless_study::report::markdown(&results),
    )?;
    for figure in regretless_study::report::figures(&results) {
        fs::write(folder.join(format!("{}.svg", figure.name)), &figure.svg)?;
        #[cfg(feature = "png")]
        fs::write(
            folder.join(format!("{}.png", figure.name)),
            regretless_study::report::png(&figure.svg, 1520)?,
        )?;
    }
    Ok(())
}

/// The page of a comparison of the methods on the first problem, as `compare` writes it.
fn comparison(results: &ExperimentResults, explained: Option<&ExplainedRow>) -> String {
    let mut results = results.clone();
    results.problems.truncate(1);
    let summary = PageSummary {
        verdict: vec![
            "A verdict.".into(),
            format!("A warning about {}.", results.title),
        ],
        facts: vec![("table".into(), "table.csv".into())],
        data_check: Some(vec![format!("A finding about {}.", results.title)]),
        commands: vec![results.provenance.command.clone()],
        explanation: fixture::summary().explanation,
        ..PageSummary::default()
    };
    comparison_page(&results, explained, &summary)
}

fn run(text: &str, folder: &Path) -> Result<ExperimentResults, Box<dyn Error>> {
    let experiment: Experiment = toml::from_str(text)?;
    let (labels, folder) = (folder.join("labels"), folder.to_path_buf());
    let runner = ExperimentRunner {
        experiment,
        folder,
        labels,
        files: DataFiles::default(),
        time_budget: None,
        shard: None,
        threads: Threads::single_threaded(),
    };
    Ok(runner.run(&NoopObserver)?)
}
