//! `reproduce`: experiments in folders, resumable cell by cell, with tables, figures and a report.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use regretless::experiment::{
    DataFiles, Experiment, ExperimentResults, ExperimentRunner, RunLimits,
};
use regretless::parallel::Threads;
use regretless::{Error, Result};
use serde_json::json;

use super::CommandContext;
use crate::args::ReproduceOptions;
use crate::output::{CommandReport, path_json, write_text};
use crate::settings::parse_toml;

mod tables;

/// Runs every experiment and reports.
pub fn run(options: &ReproduceOptions, session: &CommandContext) -> Result<CommandReport> {
    let texts = texts(options)?;
    if options.show {
        let text = texts
            .iter()
            .map(|(_, text)| text.as_str())
            .collect::<Vec<_>>()
            .join("\n");
        return Ok(CommandReport {
            json: json!({ "experiments": text }),
            text,
            failure: None,
        });
    }
    let experiments = texts
        .iter()
        .map(|(place, text)| experiment(place, text, options))
        .collect::<Result<Vec<_>>>()?;
    let mut report = CommandReport {
        json: json!([]),
        ..CommandReport::default()
    };
    let mut found = Vec::new();
    for experiment in experiments {
        let runner = runner(experiment, options)?;
        let results = match runner.run(&session.progress) {
            Err(Error::Interrupted) => {
                report.failure = Some(Error::Interrupted);
                runner.results()?
            }
            other => other?,
        };
        let results = write_results(&runner, results)?;
        report.text.push_str(&tables::text(&results));
        report.line(format!(
            "report in {}\n",
            runner.folder.join("report.html").display()
        ));
        found.push(json!({ "out": path_json(&runner.folder), "missing": results.missing(), "results": results }));
        if report.failure.is_some() {
            break;
        }
    }
    report.json = json!(found);
    Ok(report)
}

/// Each experiment by where it comes from and its text.
fn texts(options: &ReproduceOptions) -> Result<Vec<(String, String)>> {
    let mut names = options.experiments.clone();
    if names.is_empty() {
        let smoke = options.smoke.unwrap_or(false);
        names = if smoke {
            Experiment::names().map(String::from).collect()
        } else {
            vec!["components".into()]
        };
    }
    let text = |name: String| {
        if Path::new(&name)
            .extension()
            .is_some_and(|extension| extension == "toml")
        {
            let text = std::fs::read_to_string(&name).map_err(Error::io(Path::new(&name)))?;
            return Ok((name, text));
        }
        let text = Experiment::built_in(&name)?.to_string();
        Ok((name, text))
    };
    names.into_iter().map(text).collect()
}

fn experiment(place: &str, text: &str, options: &ReproduceOptions) -> Result<Experiment> {
    let mut experiment: Experiment = parse_toml(text, Path::new(place))?;
    if !options.only.is_empty() {
        experiment.retain_named(&options.only)?;
    }
    if options.smoke.unwrap_or(false) {
        experiment = experiment.smoke_version();
    }
    if let Some(seeds) = options.seeds {
        experiment.seeds = seeds;
        experiment
            .problems
            .iter_mut()
            .for_each(|stage| stage.seeds = None);
    }
    experiment.check()?;
    Ok(experiment)
}

fn runner(experiment: Experiment, options: &ReproduceOptions) -> Result<ExperimentRunner> {
    if let Some(heuristic) = options.execution.heuristic {
        let message =
            format!("an experiment decides as it is written; drop --heuristic '{heuristic}'");
        return Err(Error::setting(message));
    }
    let out = options.out.clone().unwrap_or_else(|| PathBuf::from("runs"));
    let (folder, labels) = (out.join(&experiment.name), out.join("labels"));
    let limits = RunLimits {
        budget: options.time_budget.as_deref().map(duration).transpose()?,
        shard: options.shard.as_deref().map(str::parse).transpose()?,
    };
    let files = DataFiles {
        california: options.california.clone(),
        energy: options.energy.clone(),
    };
    let threads = Threads::new(options.execution.threads.unwrap_or(0))?;
    Ok(ExperimentRunner {
        experiment,
        folder,
        labels,
        files,
        limits,
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
    seconds
        .map(Duration::from_secs_f64)
        .ok_or_else(|| Error::setting(format!("'{text}' is no time; give 90s, 30m or 2h")))
}

/// Writes tables and the experiment itself beside its cells.
fn write_results(
    runner: &ExperimentRunner,
    mut results: ExperimentResults,
) -> Result<ExperimentResults> {
    results.provenance.command =
        std::env::args()
            .skip(1)
            .fold("regretless".into(), |line, word| {
                let plain = word
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || "-_./,=+%".contains(c));
                if plain {
                    format!("{line} {word}")
                } else {
                    format!("{line} '{word}'")
                }
            });
    results.provenance.date = today();
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
        &tables::cells_csv(&results),
        true,
    )?;
    write_text(
        &folder.join("summary.csv"),
        &tables::summary_csv(&results),
        true,
    )?;
    write_text(
        &folder.join("report.html"),
        &regretless_report::page(&results),
        true,
    )?;
    write_text(
        &folder.join("tables.md"),
        &regretless_report::markdown(&results),
        true,
    )?;
    draw(&folder.join("figures"), &results)?;
    Ok(results)
}

/// Writes every figure as SVG, and as PNG where the program was built with it.
fn draw(folder: &Path, results: &ExperimentResults) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(Error::io(folder))?;
    for figure in regretless_report::figures(results) {
        write_text(
            &folder.join(format!("{}.svg", figure.name)),
            &figure.svg,
            true,
        )?;
        #[cfg(feature = "png")]
        {
            let file = folder.join(format!("{}.png", figure.name));
            let picture = regretless_report::png(&figure.svg, 1600)
                .map_err(|e| Error::setting(e.to_string()))?;
            regretless::data::atomic_write::write_atomically(&file, true, |out| {
                out.write_all(&picture)
            })?;
        }
    }
    Ok(())
}

/// Today's date, UTC.
fn today() -> String {
    let seconds = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    let (year, month, day) = civil_from_days(seconds / 86_400);
    format!("{year:04}-{month:02}-{day:02}")
}

/// Year, month and day of a number of days since 1970-01-01 in the Gregorian calendar, counted in
/// eras of 400 years that begin on 1 March.
fn civil_from_days(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{civil_from_days, duration};

    #[test]
    fn times_are_read_as_people_write_them() {
        for (text, seconds) in [("90s", 90), ("30m", 1800), ("2h", 7200), ("15", 15)] {
            assert_eq!(duration(text).unwrap(), Duration::from_secs(seconds));
        }
        assert!(duration("soon").unwrap_err().to_string().contains("30m"));
        assert!(duration("-3m").is_err());
    }

    #[test]
    fn days_become_dates() {
        assert_eq!(civil_from_days(0), (1970, 1, 1));
        assert_eq!(civil_from_days(11_016), (2000, 2, 29));
        assert_eq!(civil_from_days(20_772), (2026, 11, 15));
    }
}
