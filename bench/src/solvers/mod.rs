//! Solver suite: time per cost vector, compared with solvers that a Python user can install, one
//! thread each.
//!
//! All solve the same instances with three kinds of costs: true costs, predictions of min_speedup
//! squares, and 2·predicted − true, the costs of the SPO+ loss. Times are CPU times, the shortest
//! of several passes over the instances; those of the other solvers include their Python
//! interface, as for their users. Ratios are of medians over the instances that both solved.

use std::fs;

use regretless::{Error, Result};
use serde_json::json;

mod case;
mod compare;
mod ours;

use case::{KINDS, SolverCase};
use compare::{SolveRecords, SolverRun};

use crate::args::Cli;
use crate::peer::Peer;
use crate::report::{Report, ReportTable};
use crate::statistics::{digits, milliseconds, ratio};

/// Scripts of the other solvers and the kinds of problems they model.
const PEERS: [(&str, &[&str]); 6] = [
    ("gurobi_solver", &["SP", "KS", "TSP", "CVRP"]),
    ("highs_solver", &["SP", "KS", "TSP"]),
    ("scip_solver", &["KS"]),
    ("cp_sat_solver", &["KS", "TSP", "CVRP"]),
    ("lkh_solver", &["TSP"]),
    ("pyvrp_solver", &["CVRP"]),
];

/// Goals of the project: minimum speedup over Gurobi, for every kind of costs.
const SPEEDUP_GOALS: [(&str, f64); 3] = [("TSP20", 10.0), ("KS32", 10.0), ("TSP50", 5.0)];

/// Runs the suite.
///
/// # Errors
/// When a solve of ours fails, another solver finds a better decision than ours, or a file cannot
/// be written.
pub fn run_suite(cli: &Cli) -> Result<Report> {
    let mut tables = SolverTables::new();
    let mut raw = Vec::new();
    for case in SolverCase::all(cli.smoke)?
        .into_iter()
        .filter(|case| cli.selects(&case.name()))
    {
        eprintln!("bench: {}", case.name());
        let ours = ours::solve(&case)?;
        let peers = run_peers(cli, &case)?;
        for kind in KINDS {
            tables.add(&case, kind, &ours, &peers);
        }
        let runs: Vec<&SolverRun> = std::iter::once(&ours).chain(&peers).collect();
        raw.push(json!({ "case": case.name(), "runs": runs }));
    }
    tables.report(raw)
}

fn run_peers(cli: &Cli, case: &SolverCase) -> Result<Vec<SolverRun>> {
    if cli.no_peers {
        return Ok(Vec::new());
    }
    let folder = cli.folder()?.join(case.name());
    fs::create_dir_all(&folder).map_err(Error::io(&folder))?;
    case.write(&folder)?;
    let job = json!({
        "folder": folder,
        "problem": case.problem,
        "kinds": KINDS,
        "passes": case.passes,
        "budget": case.budget,
        "limit": case.limit,
    });
    let mut runs = Vec::new();
    for (script, _) in PEERS
        .iter()
        .filter(|(_, kinds)| kinds.iter().any(|kind| case.name().starts_with(kind)))
    {
        runs.extend(
            Peer {
                script,
                environment: &[("OMP_NUM_THREADS", "1")],
            }
            .run::<SolverRun>(cli, &folder, &job)?,
        );
    }
    let is_maximization = case.is_maximization()?;
    runs.iter_mut()
        .for_each(|peer| peer.is_maximization = is_maximization);
    Ok(runs)
}

/// The tables of the suite, row by row.
struct SolverTables {
    times: ReportTable,
    details: ReportTable,
    goals: Vec<(String, f64)>,
    versions: Vec<String>,
    contradictions: Vec<String>,
}

impl SolverTables {
    fn new() -> Self {
        let clock = "CPU time in milliseconds";
        Self {
            times: ReportTable::new(
                format!("Solvers: median {clock} per cost vector, one thread each"),
                &[
                    "problem",
                    "costs",
                    "regretless",
                    "Gurobi",
                    "speedup",
                    "HiGHS",
                    "speedup",
                    "SCIP",
                    "speedup",
                    "CP-SAT",
                    "speedup",
                    "LKH*",
                    "speedup",
                    "PyVRP*",
                    "speedup",
                ],
            ),
            details: ReportTable::new(
                format!("Solvers, in detail: {clock}"),
                &[
                    "problem",
                    "costs",
                    "solver",
                    "instances",
                    "median",
                    "mean",
                    "speedup, median",
                    "speedup, mean",
                    "solver's clock",
                    "speedup, solver's clock",
                    "proven",
                    "as good as ours",
                    "largest excess",
                ],
            ),
            goals: Vec::new(),
            versions: Vec::new(),
            contradictions: Vec::new(),
        }
    }

    fn add(&mut self, case: &SolverCase, kind: &str, ours: &SolverRun, peers: &[SolverRun]) {
        let (name, our_records) = (case.name(), &ours.kinds[kind]);
        let mut cells = vec![
            name.clone(),
            kind.to_owned(),
            milliseconds(our_records.times().median()),
        ];
        self.add_detail(&name, kind, ours, our_records);
        for column in ["Gurobi", "HiGHS", "SCIP", "CP-SAT", "LKH", "PyVRP"] {
            let solves = peers
                .iter()
                .find(|peer| peer.name == column)
                .map(|peer| (peer, &peer.kinds[kind]));
            let Some((peer, solves)) = solves else {
                cells.extend([String::new(), String::new()]);
                continue;
            };
            let (their_median, our_median) = (
                solves.times().median(),
                our_records.first(solves.len()).times().median(),
            );
            let unproven = if peer.heuristic || solves.all_proven() {
                ""
            } else {
                "†"
            };
            cells.extend([
                milliseconds(their_median) + unproven,
                ratio(their_median, our_median),
            ]);
            self.add_detail(&name, kind, peer, our_records);
            self.check_objectives(&name, kind, peer, our_records);
        }
        self.times.row(cells);
    }

    fn add_detail(&mut self, case: &str, kind: &str, solver: &SolverRun, ours: &SolveRecords) {
        let solves = &solver.kinds[kind];
        let our_records = ours.first(solves.len());
        let (their_times, our_times) = (solves.times(), our_records.times());
        let comparison = solves.compare_with(&our_records, solver.is_maximization);
        let clock = solves.solver_clock();
        let clock_median = if clock.0.is_empty() {
            String::new()
        } else {
            milliseconds(clock.median())
        };
        let clock_speedup = if clock.0.is_empty() {
            String::new()
        } else {
            ratio(clock.median(), our_times.median())
        };
        self.details.row(vec![
            case.to_owned(),
            kind.to_owned(),
            solver.name.clone() + if solver.heuristic { "*" } else { "" },
            solves.len().to_string(),
            milliseconds(their_times.median()),
            milliseconds(their_times.mean()),
            ratio(their_times.median(), our_times.median()),
            ratio(their_times.mean(), our_times.mean()),
            clock_median,
            clock_speedup,
            solves
                .proven
                .iter()
                .filter(|proven| **proven)
                .count()
                .to_string(),
            comparison.equal.to_string(),
            format!("{} %", digits(100.0 * comparison.max_excess)),
        ]);
    }

    fn check_objectives(
        &mut self,
        case: &str,
        kind: &str,
        solver: &SolverRun,
        ours: &SolveRecords,
    ) {
        let solves = &solver.kinds[kind];
        let our_records = ours.first(solves.len());
        if solver.name == "Gurobi" && SPEEDUP_GOALS.iter().any(|(name, _)| *name == case) {
            self.goals.push((
                case.to_owned(),
                solves.times().median() / our_records.times().median(),
            ));
        }
        let better = solves
            .compare_with(&our_records, solver.is_maximization)
            .better;
        if better > 0 && !solver.relaxes {
            self.contradictions.push(format!(
                "{} found {better} better decisions on {case} {kind}",
                solver.name
            ));
        }
        let version = format!("{} {}", solver.name, solver.version);
        if !self.versions.contains(&version) {
            self.versions.push(version);
        }
    }

    fn report(self, raw: Vec<serde_json::Value>) -> Result<Report> {
        if !self.contradictions.is_empty() {
            return Err(Error::setting(format!(
                "a decision reported as optimal is not optimal: {}",
                self.contradictions.join("; ")
            )));
        }
        let mut report = Report {
            tables: vec![self.times, self.details],
            notes: Vec::new(),
            raw,
        };
        report.tables.extend(goals(&self.goals));
        report
            .notes
            .push(format!("versions: {}", self.versions.join(", ")));
        report.notes.extend(NOTES.map(String::from));
        Ok(report)
    }
}

/// Goals and whether they are met; none where Gurobi did not run.
fn goals(speedups: &[(String, f64)]) -> Option<ReportTable> {
    let mut table = ReportTable::new(
        "Goals: speedup over Gurobi, the minimum over the three kinds of costs",
        &["problem", "goal", "reached", "met"],
    );
    for (name, goal) in SPEEDUP_GOALS {
        let min_speedup = speedups
            .iter()
            .filter(|(case, _)| case == name)
            .map(|(_, ratio)| *ratio)
            .reduce(f64::min);
        let Some(min_speedup) = min_speedup else {
            continue;
        };
        let met = if min_speedup >= goal { "yes" } else { "no" };
        table.row(vec![
            name.to_owned(),
            format!("{goal}×"),
            ratio(min_speedup, 1.0),
            met.to_owned(),
        ]);
    }
    (!speedups.is_empty()).then_some(table)
}

const NOTES: [&str; 6] = [
    "regretless: one call of the library's oracle per cost vector, the decision checked, proven \
        optimal with gap 0",
    "other solvers: model built once; passing the costs, the solve and reading the decision back \
        are timed around the Python interface; the detailed table has the clock of Gurobi and \
        CP-SAT, too (wall time of the solve alone)",
    "other solvers stop at their default gap of 1e-4, except CP-SAT and the heuristics; a decision \
        within 1e-4 of ours counts as equal",
    "* heuristic, without proof: LKH one run, PyVRP 1,000 iterations (PyVRP may use routes of a \
        single customer)",
    "† not all instances were proven optimal within the time limit; speedups are over the \
        instances that both solved, so they are not quotients of the two columns",
    "TSP in Gurobi: PyEPO's model, subtour elimination at integer points; in HiGHS, which has no \
        lazy constraints: solve, cut, solve again",
];
