//! `reproduce`: runs experiments cell by cell, resumable, with tables, figures and a report.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use regretless::parallel::Threads;
use regretless::{Error, Result};
use regretless_study::experiment::{Experiment, ExperimentResults, ExperimentRunner};
use regretless_study::text::write_text;
use serde_json::json;
use time::OffsetDateTime;

use super::CommandContext;
use super::decision_page::write_figures;
use crate::args::ReproduceOptions;
use crate::output::{CommandReport, path_json};
use crate::settings::{parse_toml, read_text};
use crate::shell::command_line;

mod data_files;
mod tables;

/// Runs every experiment and reports.
pub fn run(options: &ReproduceOptions, context: &CommandContext) -> Result<CommandReport> {
    let texts = texts(options)?;
    if options.show {
        let texts: Vec<&str> = texts.iter().map(|text| text.toml.as_str()).collect();
        let text = texts.join("\n");
        return Ok(CommandReport {
            json: json!({ "experiments": text }),
            text,
            ..CommandReport::default()
        });
    }
    let experiments = texts
        .iter()
        .map(|text| experiment(text, options))
        .collect::<Result<Vec<_>>>()?;
    let mut report = CommandReport {
        json: json!([]),
        ..CommandReport::default()
    };
    let mut found = Vec::new();
    for experiment in experiments {
        let runner = runner(experiment, options)?;
        let results = match runner.run(&context.progress) {
            Err(Error::Interrupted) => {
                report.failure = Some(Error::Interrupted);
                runner.results()?
            }
            other => other?,
        };
        let results = write_results(&runner, results, &context.arguments)?;
        report.text.push_str(&tables::text(&results));
        report.line(format!(
            "report in {}\n",
            runner.folder.join("report.html").display()
        ));
        if report.failure.is_none() && results.missing() == 0 {
            report.failure = tables::reason_without_results(&results)
                .map(|reason| Error::setting(format!("{}: no results: {reason}", results.name)));
        }
        found.push(json!({
            "out": path_json(&runner.folder),
            "missing": results.missing(),
            "results": results,
        }));
        if matches!(report.failure, Some(Error::Interrupted)) {
            break;
        }
    }
    report.json = json!(found);
    Ok(report)
}

/// The TOML of an experiment.
struct ExperimentText {
    /// Name or path it comes from, for errors.
    source: String,
    toml: String,
}

fn texts(options: &ReproduceOptions) -> Result<Vec<ExperimentText>> {
    let mut names = options.experiments.clone();
    if names.is_empty() {
        let smoke = options.smoke.unwrap_or(false);
        names = if smoke {
            Experiment::names().map(String::from).collect()
        } else {
            vec!["components".into()]
        };
    }
    let mut texts = Vec::new();
    for source in names {
        let path = Path::new(&source);
        let toml = if path
            .extension()
            .is_some_and(|extension| extension == "toml")
        {
            read_text(path)?
        } else {
            Experiment::built_in(&source)?.to_string()
        };
        texts.push(ExperimentText { source, toml });
    }
    Ok(texts)
}

fn experiment(text: &ExperimentText, options: &ReproduceOptions) -> Result<Experiment> {
    let mut experiment: Experiment = parse_toml(&text.toml, Path::new(&text.source))?;
    if !options.methods.is_empty() {
        let names = options.methods.iter().map(|name| name.trim().parse());
        experiment.set_methods(names.collect::<Result<_>>()?);
    }
    if !options.only.is_empty() {
        experiment.retain_named(&options.only)?;
    }
    if options.smoke.unwrap_or(false) {
        experiment = experiment.smoke_version();
    }
    if let Some(seeds) = options.seeds {
        experiment.set_seeds(seeds);
    }
    experiment.check()?;
    Ok(experiment)
}

fn runner(experiment: Experiment, options: &ReproduceOptions) -> Result<ExperimentRunner> {
    if let Some(heuristic) = options.execution.heuristic {
        let message = "experiments use exact solvers";
        return Err(
            Error::setting(message).with_remedy(format!("remove --heuristic '{heuristic}'"))
        );
    }
    if options.execution.limits.are_any_set() {
        return Err(Error::setting("experiments use exact solvers")
            .with_remedy("remove --gap, --nodes and --seconds"));
    }
    let out = options.out.clone().unwrap_or_else(|| PathBuf::from("runs"));
    let (folder, labels) = (out.join(&experiment.name), out.join("labels"));
    let current_folder = std::env::current_dir().map_err(Error::io(Path::new(".")))?;
    let files = data_files::locate(options, &current_folder);
    let threads = Threads::new(options.execution.threads.unwrap_or(0))?;
    Ok(ExperimentRunner {
        experiment,
        folder,
        labels,
        files,
        time_budget: options.time_budget.as_deref().map(duration).transpose()?,
        shard: options.shard.as_deref().map(str::parse).transpose()?,
        threads,
    })
}

/// `90s`, `30m`, `2h`, or seconds.
fn duration(text: &str) -> Result<Duration> {
    let (digits, factor) = match text.trim().strip_suffix(['s', 'm', 'h']) {
        Some(digits) if text.ends_with('m') => (digits, 60.0),
        Some(digits) if text.ends_with('h') => (digits, 3600.0),
        Some(digits) => (digits, 1.0),
        None => (text.trim(), 1.0),
    };
    let seconds = digits
        .trim()
        .parse::<f64>()
        .ok()
        .map(|number| number * factor);
    let seconds = seconds.filter(|seconds| (0.0..1e9).contains(seconds));
    seconds.map(Duration::from_secs_f64).ok_or_else(|| {
        Error::setting(format!("'{text}' is not a time")).with_remedy("give 90s, 30m or 2h")
    })
}

/// Writes tables, figures, report and the experiment itself next to its cells.
fn write_results(
    runner: &ExperimentRunner,
    mut results: ExperimentResults,
    arguments: &[OsString],
) -> Result<ExperimentResults> {
    results.provenance.command = command_line(arguments);
    results.provenance.date = OffsetDateTime::now_utc().date().to_string();
    let folder = &runner.folder;
    std::fs::create_dir_all(folder).map_err(Error::io(folder))?;
    let text = toml::to_string(&runner.experiment)
        .map_err(|e| Error::setting(format!("experiment: {e}")))?;
    write_text(&folder.join("experiment.toml"), &text, true)?;
    let json =
        serde_json::to_string(&results).map_err(|e| Error::setting(format!("results: {e}")))?;
    write_text(&folder.join("results.json"), &json, true)?;
    write_text(
        &folder.join("cells.csv"),
        &tables::cells_csv(&results)?,
        true,
    )?;
    write_text(
        &folder.join("summary.csv"),
        &tables::summary_csv(&results)?,
        true,
    )?;
    if regretless_study::report::Scoreboard::new(&results).is_some() {
        let csv = tables::scoreboard_csv(&results)?;
        write_text(&folder.join("scoreboard.csv"), &csv, true)?;
    }
    write_text(
        &folder.join("report.html"),
        &regretless_study::report::page(&results),
        true,
    )?;
    write_text(
        &folder.join("tables.md"),
        &regretless_study::report::markdown(&results),
        true,
    )?;
    write_figures(
        &folder.join("figures"),
        &regretless_study::report::figures(&results),
    )?;
    Ok(results)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::duration;

    #[test]
    fn times_are_read_as_people_write_them() {
        for (text, seconds) in [("90s", 90), ("30m", 1800), ("2h", 7200), ("15", 15)] {
            assert_eq!(duration(text).unwrap(), Duration::from_secs(seconds));
        }
        assert!(duration("soon").unwrap_err().to_string().contains("30m"));
        assert!(duration("-3m").is_err());
    }
}
