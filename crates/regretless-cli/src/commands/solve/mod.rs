//! `solve`: problem files, solved with the costs they contain.

use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use regretless::observer::Observer;
use regretless::oracle::Oracle;
use regretless::solve::relaxation::Relaxation;
use regretless::solve::{Solution, SolveFailure, SolveStatus};
use regretless::{Error, Result};
use regretless_study::text::{TextTable, grouped, percent};
use serde_json::json;

use super::CommandContext;
use crate::args::SolveOptions;
use crate::output::{CommandReport, ResultTarget, is_stream};

mod solution_file;
mod target;

use target::SolveTarget;

/// Outcome of one problem.
struct ProblemOutcome {
    name: String,
    /// Objective, bound and status in the problem's sense, or the error.
    result: Result<SolvedProblem>,
    seconds: f64,
}

struct SolvedProblem {
    objective: f64,
    bound: f64,
    status: String,
}

/// Solves every problem of every file; one that fails does not stop the others.
pub fn run(options: &SolveOptions, context: &CommandContext) -> Result<CommandReport> {
    if options.files.is_empty() {
        return Err(Error::setting("no file to solve").with_remedy("see --help for an example"));
    }
    let mut outcomes = Vec::new();
    let observer = &context.progress;
    observer.begin("solving", options.files.len() as u64);
    'files: for file in &options.files {
        match target::read(file, options) {
            Err(error) => outcomes.push(ProblemOutcome {
                name: file.display().to_string(),
                result: Err(error),
                seconds: 0.0,
            }),
            Ok(targets) => {
                let is_one_of_many = targets.len() > 1 || options.files.len() > 1;
                for problem in &targets {
                    if observer.interrupted() {
                        break 'files;
                    }
                    observer.message(&problem.name);
                    let out = output_path(options, is_one_of_many, problem);
                    outcomes.push(solve_and_write(problem, out.as_ref(), options, context));
                }
            }
        }
        observer.advance(1);
    }
    observer.end();
    let mut report = report(outcomes);
    report.stdout_is_taken = options.out.as_deref().is_some_and(is_stream);
    if observer.interrupted() {
        report.failure = Some(Error::Interrupted);
    }
    Ok(report)
}

/// Solves a problem; writes the decision if a path is given.
fn solve_and_write(
    problem: &SolveTarget,
    out: Option<&OutputPath>,
    options: &SolveOptions,
    context: &CommandContext,
) -> ProblemOutcome {
    let begun = Instant::now();
    let can_write = out.map_or(Ok(()), |out| out.check_free(context.force));
    let result = can_write.and_then(|()| {
        let solution = solve(problem, options)?;
        let solved = SolvedProblem {
            objective: solution.objective,
            bound: solution.bound,
            status: match solution.status {
                _ if options.relax.is_some() => "relaxed".into(),
                SolveStatus::Optimal => "optimal".into(),
                SolveStatus::WithinGap(gap) => format!("within {}", percent(gap)),
                SolveStatus::LimitReached if context.progress.interrupted() => "interrupted".into(),
                SolveStatus::LimitReached => "limit reached".into(),
            },
        };
        if let Some(out) = out {
            let format = &problem.solution_format;
            let text = format.write(&problem.name, &solution.decision, solved.objective)?;
            let target = ResultTarget::of(&out.path, context.force);
            target.write(|writer| writer.write_all(text.as_bytes()))?;
        }
        Ok(solved)
    });
    ProblemOutcome {
        name: problem.name.clone(),
        result,
        seconds: begun.elapsed().as_secs_f64(),
    }
}

/// Where the decision of one problem is written.
struct OutputPath {
    path: PathBuf,
    /// Whether it is one of several files in a folder, which is created.
    in_folder: bool,
}

/// The path given by `--out`, or a file per problem in that folder.
fn output_path(
    options: &SolveOptions,
    is_one_of_many: bool,
    problem: &SolveTarget,
) -> Option<OutputPath> {
    let out = options.out.as_ref()?;
    let path = if is_one_of_many {
        out.join(format!(
            "{}.{}",
            problem.name,
            problem.solution_format.extension()
        ))
    } else {
        out.clone()
    };
    Some(OutputPath {
        path,
        in_folder: is_one_of_many,
    })
}

impl OutputPath {
    /// Checks before the solve that the decision can be written.
    fn check_free(&self, force: bool) -> Result<()> {
        if let (true, Some(folder)) = (self.in_folder, self.path.parent()) {
            if is_stream(folder) {
                let message = "--out - writes the solution of one problem to standard output; \
                               there are several";
                return Err(Error::setting(message)
                    .with_remedy("name a folder, or a single problem (--problem-number)"));
            }
            fs::create_dir_all(folder).map_err(Error::io(folder))?;
        }
        ResultTarget::of(&self.path, force).check_free()
    }
}

/// The optimal decision, or the optimum of the relaxation, in the sense of the problem.
fn solve(problem: &SolveTarget, options: &SolveOptions) -> Result<Solution> {
    let limits = options.limits.search_limits()?;
    let (costs, sense) = (problem.costs.clone(), problem.problem.sense());
    let mut relaxed = match options.relax {
        None => None,
        Some(relaxation) => {
            let name = problem.problem.name();
            let solver = problem
                .problem
                .sensitivity()
                .relaxation_solver(Relaxation::from(relaxation), &limits);
            let missing = || Error::setting(format!("{name} has no LP relaxation"));
            Some(solver.ok_or_else(missing)?)
        }
    };
    let solution = sense.solve_stated(costs, |minimized| match &mut relaxed {
        Some(solver) => solver.relax(minimized),
        None => Oracle::new(problem.problem.clone())
            .with_limits(limits)
            .with_incumbents_on_cancellation()
            .worker()
            .solve(minimized),
    });
    solution.map_err(|failure| match failure {
        SolveFailure::Infeasible => {
            let conflict = problem.problem.failure_reasons().infeasibility();
            Error::single_solve(conflict.map_or(failure, SolveFailure::Conflict))
        }
        failure => Error::single_solve(failure),
    })
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
    report.failure = outcomes
        .into_iter()
        .find_map(|outcome| outcome.result.err());
    report
}

impl ProblemOutcome {
    /// Infeasible and unbounded are properties of the problem; everything else is an error.
    fn status(&self) -> String {
        match &self.result {
            Ok(solved) => solved.status.clone(),
            Err(Error::Solver {
                failure: SolveFailure::Infeasible | SolveFailure::Conflict(_),
                ..
            }) => "infeasible".into(),
            Err(Error::Solver {
                failure: SolveFailure::Unbounded | SolveFailure::UnboundedAlong(_),
                ..
            }) => "unbounded".into(),
            Err(error) => format!("failed: {error}"),
        }
    }

    fn json(&self) -> serde_json::Value {
        let solved = self.result.as_ref().ok();
        json!({
            "problem": self.name,
            "status": self.status(),
            "seconds": self.seconds,
            "objective": solved.map(|solved| solved.objective),
            "bound": solved.map(|solved| solved.bound),
            "gap": solved.map(SolvedProblem::gap),
        })
    }

    fn lines(&self) -> Vec<(&'static str, String)> {
        let mut lines = vec![("problem", self.name.clone()), ("status", self.status())];
        if let Ok(solved) = &self.result {
            lines.push(("objective", shortest_text(solved.objective)));
            lines.push(("bound", shortest_text(solved.bound)));
            lines.push(("gap", percent(solved.gap())));
        }
        lines.push(("seconds", format!("{:.3}", self.seconds)));
        lines
    }

    fn cells(&self) -> [String; 5] {
        let (objective, bound) = match &self.result {
            Ok(solved) => (shortest_text(solved.objective), shortest_text(solved.bound)),
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
    /// Relative gap between objective and dual bound.
    fn gap(&self) -> f64 {
        let distance = (self.objective - self.bound).abs();
        if distance == 0.0 {
            0.0
        } else {
            distance / self.objective.abs().max(MIN_GAP_DENOMINATOR)
        }
    }
}

/// Smallest denominator of a relative gap, so an objective of 0 does not divide by 0. Any small
/// value works.
const MIN_GAP_DENOMINATOR: f64 = 1e-10;

/// Largest absolute value printed without an exponent: a double has fewer than 16 decimal digits.
const MAX_PLAIN_NUMBER: f64 = 1e15;

/// Integers with thousands separators, other numbers with up to ten decimals, very large ones with
/// an exponent.
fn shortest_text(value: f64) -> String {
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
