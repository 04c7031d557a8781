//! What measurements share: the paper's synthetic costs of three kinds, and a clock of the thread's
//! own work.

#![allow(clippy::unwrap_used, reason = "a benchmark stops at the first error")]
#![allow(dead_code, reason = "each benchmark uses its own part")]

pub mod random;

use regretless::data::Dataset;
use regretless::data::SyntheticSpec;
use regretless::problem::{Benchmark, ProblemSpec};

/// Rows of a table, and so the fit behind predicted costs, do not depend on how many are measured.
const ROWS: usize = 100;

/// Whether a part was named on the command line, or none was.
pub fn wanted(name: &str) -> bool {
    let mut words = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .peekable();
    words.peek().is_none() || words.any(|word| word == name)
}

/// Seconds that this thread has worked: neighbors on the machine do not count.
#[cfg(unix)]
pub fn worked() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Seconds that have passed, where the system does not tell how long a thread has worked.
#[cfg(not(unix))]
pub fn worked() -> f64 {
    static BEGIN: std::sync::LazyLock<std::time::Instant> =
        std::sync::LazyLock::new(std::time::Instant::now);
    BEGIN.elapsed().as_secs_f64()
}

/// Milliseconds of work, and what came of it.
pub fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let begin = worked();
    let made = work();
    ((worked() - begin) * 1e3, made)
}

/// Sorts times; returns the middle one.
pub fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Cost vectors of one kind and its name.
pub type Kind = (&'static str, Vec<Vec<f64>>);

/// A benchmark with costs of three kinds: true, predicted by ordinary least squares, and
/// 2·predicted − true as the SPO+ loss asks for.
pub fn kinds(benchmark: Benchmark, instances: usize) -> (ProblemSpec, [Kind; 3]) {
    let (spec, data) = benchmark
        .generate(SyntheticSpec::paper(instances.max(ROWS), 135))
        .unwrap();
    let (truth, predicted) = (wide(&data), least_squares(&data));
    let mixed = truth
        .iter()
        .zip(&predicted)
        .map(|(c, h)| c.iter().zip(h).map(|(c, h)| 2.0 * h - c).collect());
    let mixed = mixed.collect();
    let kinds = [("c", truth), ("h", predicted), ("2h-c", mixed)].map(
        |(name, mut rows): (_, Vec<Vec<f64>>)| {
            rows.truncate(instances);
            (name, rows)
        },
    );
    (spec, kinds)
}

fn wide(data: &Dataset) -> Vec<Vec<f64>> {
    (0..data.len())
        .map(|row| {
            data.costs()
                .row(row)
                .iter()
                .map(|cost| f64::from(*cost))
                .collect()
        })
        .collect()
}

/// Predictions of the least-squares fit with an intercept, by the normal equations.
fn least_squares(data: &Dataset) -> Vec<Vec<f64>> {
    let features: Vec<Vec<f64>> = (0..data.len())
        .map(|row| {
            std::iter::once(1.0)
                .chain(data.features().instance(row).iter().map(|x| f64::from(*x)))
                .collect()
        })
        .collect();
    let (size, costs) = (features[0].len(), data.costs().cols());
    let mut system = vec![vec![0.0; size + costs]; size];
    for (row, x) in features.iter().enumerate() {
        for i in 0..size {
            (0..size).for_each(|j| system[i][j] += x[i] * x[j]);
            (0..costs)
                .for_each(|j| system[i][size + j] += x[i] * f64::from(data.costs().row(row)[j]));
        }
    }
    for pivot in 0..size {
        let row = system[pivot].clone();
        for (_, target) in system
            .iter_mut()
            .enumerate()
            .filter(|(other, _)| *other != pivot)
        {
            let factor = target[pivot] / row[pivot];
            target
                .iter_mut()
                .zip(&row)
                .for_each(|(t, r)| *t -= factor * r);
        }
    }
    let weight = |i: usize, j: usize| system[i][size + j] / system[i][i];
    let predict = |x: &Vec<f64>| {
        (0..costs)
            .map(|j| (0..size).map(|i| x[i] * weight(i, j)).sum())
            .collect()
    };
    features.iter().map(predict).collect()
}
