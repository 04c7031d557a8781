//! Regretless in the solver suite: one solver call at a time through the library's oracle.

use std::collections::BTreeMap;
use std::time::Instant;

use regretless::Result;
use regretless::oracle::{Oracle, OracleWorker};
use regretless::solve::SolveStatus;
use rustix::time::{ClockId, clock_gettime};

use super::case::{KINDS, SolverCase, failed};
use super::compare::{SolveRecords, SolverRun};

/// Measurements of the clocks' own overhead, of which the minimum counts. Untuned.
const OVERHEAD_MEASUREMENTS: usize = 1000;
/// Shortest time of a solve: the resolution of the clocks, so ratios stay finite.
const MIN_SECONDS: f64 = 1e-9;

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
        let mut solves = time_solves(case, &mut oracle.worker(), &rows)?;
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

/// Repeats passes over all rows. A row is not solved twice in a row, because caches would then
/// speed up the second solve.
fn time_solves(
    case: &SolverCase,
    worker: &mut OracleWorker<'_>,
    rows: &[&[f32]],
) -> Result<SolveRecords> {
    let mut solves = SolveRecords::default();
    let overhead = ClockOverhead::measure();
    for pass in 0..case.passes.max(3) {
        for (row, costs) in rows.iter().enumerate() {
            let timed = stopwatch(|| worker.solve_row(costs));
            let solution = timed.result.map_err(|failure| failed(case, failure))?;
            // Reading the clocks is not part of the solve, which may take a microsecond.
            let wall = (timed.wall - overhead.wall).max(MIN_SECONDS);
            let cpu = (timed.cpu - overhead.cpu).max(MIN_SECONDS);
            if pass == 0 {
                let is_optimal = solution.status == SolveStatus::Optimal;
                solves.push(wall, cpu, solution.objective, is_optimal);
            } else {
                solves.shorten(row, wall, cpu);
            }
        }
    }
    Ok(solves)
}

/// Seconds that a measurement of nothing takes.
struct ClockOverhead {
    wall: f64,
    cpu: f64,
}

impl ClockOverhead {
    fn measure() -> Self {
        let (mut wall, mut cpu) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..OVERHEAD_MEASUREMENTS {
            let timed = stopwatch(|| ());
            wall = wall.min(timed.wall);
            cpu = cpu.min(timed.cpu);
        }
        Self { wall, cpu }
    }
}

/// A result with the wall-clock and CPU seconds of this thread that it took.
struct Timed<T> {
    result: T,
    wall: f64,
    cpu: f64,
}

fn stopwatch<T>(work: impl FnOnce() -> T) -> Timed<T> {
    let (start, cpu_start) = (Instant::now(), thread_seconds());
    let result = work();
    let cpu = thread_seconds() - cpu_start;
    Timed {
        result,
        wall: start.elapsed().as_secs_f64(),
        cpu,
    }
}

fn thread_seconds() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}
