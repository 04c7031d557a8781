//! `solve`: published files and models, solved as they are.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use regretless::data::atomic_write::check_free;
use regretless::observer::Observer;
use regretless::oracle::Oracle;
use regretless::solve::relaxation::Relaxation;
use regretless::solve::{SearchLimits, Solution, SolveFailure, SolveStatus};
use regretless::{Error, Result};
use serde_json::json;

use super::CommandContext;
use crate::args::SolveOptions;
use crate::output::{CommandReport, grouped, percent, write_text};
use crate::text_table::TextTable;

mod solution_file;
mod target;

use target::SolveTarget;

/// What became of one problem.
struct ProblemOutcome {
    name: String,
    /// Objective, bound and status in the user's sense, or what went wrong.
    found: std::result::Result<SolvedProblem, Error>,
    seconds: f64,
}

struct SolvedProblem {
    objective: f64,
    bound: f64,
    status: String,
}

/// Solves every problem of every file; one that fails does not stop the others.
pub fn run(options: &SolveOptions, session: &CommandContext) -> Result<CommandReport> {
    if options.files.is_empty() {
        return Err(Error::setting(
            "no file to solve; see --help for an example",
        ));
    }
    let mut outcomes = Vec::new();
    let observer = &session.progress;
    observer.begin("solving", options.files.len() as u64);
    for file in &options.files {
        match target::read(file, options) {
            Err(error) => outcomes.push(ProblemOutcome {
                name: file.display().to_string(),
                found: Err(error),
                seconds: 0.0,
            }),
            Ok(subjects) => {
                let several = subjects.len() > 1 || options.files.len() > 1;
                for (place, problem) in subjects.iter().enumerate() {
                    if observer.interrupted() {
                        return Err(Error::Interrupted);
                    }
                    observer.message(&problem.name);
                    outcomes.push(solved(problem, (place, several), options, session));
                }
            }
        }
        observer.advance(1);
    }
    observer.end();
    Ok(report(outcomes))
}

fn solved(
    problem: &SolveTarget,
    (place, several): (usize, bool),
    options: &SolveOptions,
    session: &CommandContext,
) -> ProblemOutcome {
    let begun = Instant::now();
    let out = options
        .out
        .as_ref()
        .map(|out| target(out, several, problem));
    let free = out
        .as_deref()
        .map_or(Ok(()), |path| check_output_free(path, several, session));
    let found = free.and_then(|()| {
        let solution = answer(problem, options).map_err(|failure| match failure {
            Ok(failure) => Error::solver(place, failure),
            Err(error) => error,
        })?;
        let solution = problem.problem.sense().convert_solution(solution);
        let found = SolvedProblem {
            objective: solution.objective,
            bound: solution.bound,
            status: match solution.status {
                _ if options.relax.is_some() => "relaxed".into(),
                SolveStatus::Optimal => "optimal".into(),
                SolveStatus::WithinGap(gap) => format!("within {}", percent(gap)),
                SolveStatus::LimitReached => "limit reached".into(),
            },
        };
        if let Some(path) = &out {
            write_text(
                path,
                &problem
                    .form
                    .write(&problem.name, &solution.decision, found.objective),
                session.force,
            )?;
        }
        Ok(found)
    });
    ProblemOutcome {
        name: problem.name.clone(),
        found,
        seconds: begun.elapsed().as_secs_f64(),
    }
}

/// The file itself, or one of its own for each problem in a folder.
fn target(out: &Path, several: bool, problem: &SolveTarget) -> PathBuf {
    if several {
        out.join(format!("{}.{}", problem.name, problem.form.ending()))
    } else {
        out.to_path_buf()
    }
}

/// Asks before the work whether the decision could be written.
fn check_output_free(path: &Path, several: bool, session: &CommandContext) -> Result<()> {
    if let (true, Some(folder)) = (several, path.parent()) {
        fs::create_dir_all(folder).map_err(Error::io(folder))?;
    }
    check_free(path, session.force)
}

/// The best decision, or the optimum of the relaxation.
fn answer(
    problem: &SolveTarget,
    options: &SolveOptions,
) -> std::result::Result<Solution, Result<SolveFailure, Error>> {
    let standard = SearchLimits::default();
    let limits = SearchLimits {
        nodes: options.node_limit.unwrap_or(standard.nodes),
        gap: options.gap.unwrap_or(standard.gap),
    };
    let mut costs = problem.costs.clone();
    problem.problem.sense().convert_slice(&mut costs);
    let Some(relax) = options.relax else {
        let oracle = Oracle::new(problem.problem.clone()).with_limits(limits);
        return oracle.worker().solve(&costs).map_err(Ok);
    };
    let kind: Relaxation = relax.into();
    let missing = || {
        Error::setting(format!(
            "{} has no linear relaxation",
            problem.problem.name()
        ))
    };
    let mut relaxer = problem
        .problem
        .relaxation_solver(kind, &limits)
        .ok_or_else(missing)
        .map_err(Err)?;
    relaxer.relax(&costs).map_err(Ok)
}

fn report(outcomes: Vec<ProblemOutcome>) -> CommandReport {
    let json = outcomes.iter().map(ProblemOutcome::json).collect();
    let mut report = CommandReport {
        json: serde_json::Value::Array(json),
        ..CommandReport::default()
    };
    if let [only] = outcomes.as_slice() {
        only.lines()
            .iter()
            .for_each(|(name, value)| report.line(format!("{name:<10} {value}")));
    } else {
        let mut table = TextTable::new(["problem", "objective", "bound", "status", "seconds"]);
        outcomes
            .iter()
            .for_each(|outcome| table.row(outcome.cells()));
        report.text.push_str(&table.text());
    }
    report.failure = outcomes.into_iter().find_map(|outcome| outcome.found.err());
    report
}

impl ProblemOutcome {
    /// Infeasible and unbounded are findings about the problem; everything else is an error.
    fn status(&self) -> String {
        match &self.found {
            Ok(found) => found.status.clone(),
            Err(Error::Solver {
                failure: SolveFailure::Infeasible,
                ..
            }) => "infeasible".into(),
            Err(Error::Solver {
                failure: SolveFailure::Unbounded,
                ..
            }) => "unbounded".into(),
            Err(error) => format!("failed: {error}"),
        }
    }

    fn json(&self) -> serde_json::Value {
        let found = self.found.as_ref().ok();
        json!({
            "problem": self.name, "status": self.status(), "seconds": self.seconds,
            "objective": found.map(|found| found.objective), "bound": found.map(|found| found.bound),
            "gap": found.map(SolvedProblem::gap),
        })
    }

    fn lines(&self) -> Vec<(&'static str, String)> {
        let mut lines = vec![("problem", self.name.clone()), ("status", self.status())];
        if let Ok(found) = &self.found {
            lines.push(("objective", exact(found.objective)));
            lines.push(("bound", exact(found.bound)));
            lines.push(("gap", percent(found.gap())));
        }
        lines.push(("seconds", format!("{:.3}", self.seconds)));
        lines
    }

    fn cells(&self) -> [String; 5] {
        let (objective, bound) = match &self.found {
            Ok(found) => (exact(found.objective), exact(found.bound)),
            Err(_) => (String::new(), String::new()),
        };
        [
            self.name.clone(),
            objective,
            bound,
            self.status(),
            format!("{:.3}", self.seconds),
        ]
    }
}

impl SolvedProblem {
    /// By which share of the objective the decision may be off.
    fn gap(&self) -> f64 {
        let distance = (self.objective - self.bound).abs();
        if distance == 0.0 {
            0.0
        } else {
            distance / self.objective.abs().max(1e-10)
        }
    }
}

/// From here on digits before the point say nothing: whole numbers are not told apart any more.
const MAX_PLAIN_NUMBER: f64 = 1e15;

/// Whole numbers with commas, others with all digits that matter, very large ones with a power of
/// ten.
fn exact(value: f64) -> String {
    if value.abs() >= MAX_PLAIN_NUMBER {
        return format!("{value:e}");
    }
    if value.fract() == 0.0 {
        let sign = if value < 0.0 { "-" } else { "" };
        return format!("{sign}{}", grouped(value.abs() as u64));
    }
    format!("{value:.10}")
        .trim_end_matches('0')
        .trim_end_matches('.')
        .to_owned()
}
