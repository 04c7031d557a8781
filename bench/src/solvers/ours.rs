//! Our side of the solver suite: one solver call at a time through the library's oracle.

use std::collections::BTreeMap;
use std::time::Instant;

use regretless::Result;
use regretless::oracle::{Oracle, OracleWorker};
use regretless::solve::SolveStatus;
use rustix::time::{ClockId, clock_gettime};

use super::case::{KINDS, SolverCase, failed};
use super::compare::{SolveRecords, SolverRun};

/// Solves all cost vectors of a case on the calling thread.
pub fn solve(case: &SolverCase) -> Result<SolverRun> {
    let oracle = Oracle::new(case.problem.build()?);
    let mut kinds = BTreeMap::new();
    for (kind, costs) in KINDS.iter().zip(&case.costs) {
        let mut minimized = costs.clone();
        oracle
            .problem()
            .sense()
            .convert_single(minimized.as_mut_slice());
        let rows: Vec<&[f32]> = (0..minimized.rows())
            .map(|row| minimized.row(row))
            .collect();
        let mut solves = timed(case, &mut oracle.worker(), &rows)?;
        let sense = oracle.problem().sense();
        solves
            .objective
            .iter_mut()
            .flatten()
            .for_each(|objective| *objective = sense.convert(*objective));
        kinds.insert((*kind).to_owned(), solves);
    }
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let is_maximization = case.is_maximization()?;
    Ok(SolverRun {
        name: "ours".into(),
        version,
        heuristic: false,
        kinds,
        is_maximization,
        relaxes: false,
    })
}

/// Passes over all rows, one after the other, so that no row profits from having just been solved.
fn timed(
    case: &SolverCase,
    worker: &mut OracleWorker<'_>,
    rows: &[&[f32]],
) -> Result<SolveRecords> {
    let mut solves = SolveRecords::default();
    let nothing = (0..1000)
        .map(|_| stopwatch(|| ()).1)
        .reduce(least)
        .unwrap_or([0.0; 2]);
    for pass in 0..case.passes.max(3) {
        for (row, costs) in rows.iter().enumerate() {
            let (answer, [wall, cpu]) = stopwatch(|| worker.solve_row(costs));
            let solution = answer.map_err(|failure| failed(case, failure))?;
            // What reading the clocks takes is no part of a solve of a microsecond.
            let times = [(wall - nothing[0]).max(1e-9), (cpu - nothing[1]).max(1e-9)];
            if pass == 0 {
                solves.push(
                    times,
                    solution.objective,
                    solution.status == SolveStatus::Optimal,
                );
            } else {
                solves.shorten(row, times);
            }
        }
    }
    Ok(solves)
}

fn least(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0].min(b[0]), a[1].min(b[1])]
}

/// Wall time and processor time of this thread.
fn stopwatch<T>(work: impl FnOnce() -> T) -> (T, [f64; 2]) {
    let (wall, cpu) = (Instant::now(), thread_seconds());
    let found = work();
    let cpu = thread_seconds() - cpu;
    (found, [wall.elapsed().as_secs_f64(), cpu])
}

fn thread_seconds() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}
