//! Solver suite: time per cost vector, next to solvers that a Python user can install, one
//! thread each.
//!
//! All solve the same instances with three kinds of costs: true costs, predictions of least
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
        .filter(|case| cli.wants(&case.name()))
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
    let mut found = Vec::new();
    for (script, _) in PEERS
        .iter()
        .filter(|(_, kinds)| kinds.iter().any(|kind| case.name().starts_with(kind)))
    {
        found.extend(
            Peer {
                script,
                environment: &[("OMP_NUM_THREADS", "1")],
            }
            .run::<SolverRun>(cli, &folder, &job)?,
        );
    }
    let is_maximization = case.is_maximization()?;
    found
        .iter_mut()
        .for_each(|peer| peer.is_maximization = is_maximization);
    Ok(found)
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
                    "problem", "costs", "ours", "Gurobi", "×", "HiGHS", "×", "SCIP", "×", "CP-SAT",
                    "×", "LKH*", "×", "PyVRP*", "×",
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
                    "median ×",
                    "mean ×",
                    "own clock",
                    "own ×",
                    "proven",
                    "as good as ours",
                    "worst excess",
                ],
            ),
            goals: Vec::new(),
            versions: Vec::new(),
            contradictions: Vec::new(),
        }
    }

    fn add(&mut self, case: &SolverCase, kind: &str, ours: &SolverRun, peers: &[SolverRun]) {
        let (name, own) = (case.name(), &ours.kinds[kind]);
        let mut wide = vec![
            name.clone(),
            kind.to_owned(),
            milliseconds(own.times().median()),
        ];
        self.detail(&name, kind, ours, own);
        for column in ["Gurobi", "HiGHS", "SCIP", "CP-SAT", "LKH", "PyVRP"] {
            let solves = peers
                .iter()
                .find(|peer| peer.name == column)
                .map(|peer| (peer, &peer.kinds[kind]));
            let Some((peer, solves)) = solves else {
                wide.extend([String::new(), String::new()]);
                continue;
            };
            let (theirs, same) = (
                solves.times().median(),
                own.first(solves.len()).times().median(),
            );
            let unproven = if peer.heuristic || solves.all_proven() {
                ""
            } else {
                "†"
            };
            wide.extend([milliseconds(theirs) + unproven, ratio(theirs, same)]);
            self.detail(&name, kind, peer, own);
            self.check_objectives(&name, kind, peer, own);
        }
        self.times.row(wide);
    }

    fn detail(&mut self, case: &str, kind: &str, solver: &SolverRun, ours: &SolveRecords) {
        let solves = &solver.kinds[kind];
        let same = ours.first(solves.len());
        let (times, own_times) = (solves.times(), same.times());
        let against = solves.compare_with(&same, solver.is_maximization);
        let clock = solves.own_clock();
        let shown = if clock.0.is_empty() {
            String::new()
        } else {
            milliseconds(clock.median())
        };
        let own_ratio = if clock.0.is_empty() {
            String::new()
        } else {
            ratio(clock.median(), own_times.median())
        };
        self.details.row(vec![
            case.to_owned(),
            kind.to_owned(),
            solver.name.clone() + if solver.heuristic { "*" } else { "" },
            solves.len().to_string(),
            milliseconds(times.median()),
            milliseconds(times.mean()),
            ratio(times.median(), own_times.median()),
            ratio(times.mean(), own_times.mean()),
            shown,
            own_ratio,
            solves
                .proven
                .iter()
                .filter(|proven| **proven)
                .count()
                .to_string(),
            against.equal.to_string(),
            format!("{} %", digits(100.0 * against.worst)),
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
        let same = ours.first(solves.len());
        if solver.name == "Gurobi" && SPEEDUP_GOALS.iter().any(|(name, _)| *name == case) {
            self.goals.push((
                case.to_owned(),
                solves.times().median() / same.times().median(),
            ));
        }
        let better = solves.compare_with(&same, solver.is_maximization).better;
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
                "not optimal after all: {}",
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
            .push(format!("peers: {}", self.versions.join(", ")));
        report.notes.extend(NOTES.map(String::from));
        Ok(report)
    }
}

/// Goals and whether they are met; none where Gurobi did not run.
fn goals(found: &[(String, f64)]) -> Option<ReportTable> {
    let mut table = ReportTable::new(
        "Goals: times as fast as Gurobi, the least of the three kinds of costs",
        &["problem", "goal", "reached", "met"],
    );
    for (name, goal) in SPEEDUP_GOALS {
        let least = found
            .iter()
            .filter(|(case, _)| case == name)
            .map(|(_, ratio)| *ratio)
            .reduce(f64::min);
        let Some(least) = least else { continue };
        let met = if least >= goal { "yes" } else { "no" };
        table.row(vec![
            name.to_owned(),
            format!("{goal}×"),
            ratio(least, 1.0),
            met.to_owned(),
        ]);
    }
    (!found.is_empty()).then_some(table)
}

const NOTES: [&str; 6] = [
    "ours: one call of the library's oracle per cost vector, the decision checked, proved optimal \
        with gap 0",
    "peers: model built once; handing over the costs, the solve and reading the decision back are \
        timed around the Python \
     interface; Gurobi and CP-SAT are also shown with their own clock (wall time of the solve \
     alone)",
    "peers stop at their default gap of 1e-4, CP-SAT and the heuristics excepted; a decision is as \
        good as ours within 1e-4 of it",
    "* heuristic, without proof: LKH one run, PyVRP 1,000 iterations (PyVRP may use routes of a \
        single customer)",
    "† not all instances were proved within the time limit",
    "tours in Gurobi: PyEPO's model, subtours cut at integer points; in HiGHS, which has no lazy \
        constraints: solve, cut, solve again",
];
