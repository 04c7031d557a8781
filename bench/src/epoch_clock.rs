//! Times of the epochs of a training; benchmarks of the library include this file too.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use regretless::Result;
use regretless::data::SplitIndices;
use regretless::label::LabeledDataset;
use regretless::observer::{NoopObserver, Observer};
use regretless::oracle::Oracle;
use regretless::problem::ProblemSpec;
use regretless::train::TrainingContext;
use regretless::trainer::{Trainer, TrainingOutcome};

/// Seconds of one epoch.
#[derive(Debug, Clone, Copy)]
pub struct EpochTime {
    /// Of the wall clock.
    pub wall: f64,
    /// Of the processor, summed over all threads; those of the wall clock where the system does
    /// not report them.
    pub cpu: f64,
}

/// Trains by the public call, and returns the time of each epoch.
pub fn train(
    context: &TrainingContext<'_>,
    trainer: &Trainer,
    problem: &ProblemSpec,
) -> Result<(Vec<EpochTime>, TrainingOutcome)> {
    let clock = EpochClock::default();
    let timed_context = TrainingContext {
        observer: &clock,
        ..*context
    };
    let trained = trainer.train(&timed_context, problem, None)?;
    Ok((clock.epochs(), trained))
}

/// The same with all rows of a table as training rows.
pub fn train_on_all_rows(
    data: &LabeledDataset,
    oracle: &Oracle,
    trainer: &Trainer,
    problem: &ProblemSpec,
) -> Result<(Vec<EpochTime>, TrainingOutcome)> {
    let split = SplitIndices::in_order(data.len(), [data.len(), 0, 0])?;
    let context = TrainingContext {
        data,
        split: &split,
        oracle,
        observer: &NoopObserver,
    };
    train(&context, trainer, problem)
}

/// Reads the clocks when training begins and after every epoch.
#[derive(Debug)]
struct EpochClock {
    start: Instant,
    /// Seconds since the start at each mark.
    marks: Mutex<Vec<EpochTime>>,
}

impl Default for EpochClock {
    fn default() -> Self {
        Self {
            start: Instant::now(),
            marks: Mutex::new(Vec::new()),
        }
    }
}

impl EpochClock {
    fn mark(&self) {
        let wall = self.start.elapsed().as_secs_f64();
        let cpu = cpu_seconds().unwrap_or(wall);
        self.marks
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(EpochTime { wall, cpu });
    }

    /// The times between the marks.
    fn epochs(self) -> Vec<EpochTime> {
        let marks = self
            .marks
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        let between = marks.windows(2).map(|pair| EpochTime {
            wall: pair[1].wall - pair[0].wall,
            cpu: pair[1].cpu - pair[0].cpu,
        });
        between.collect()
    }
}

impl Observer for EpochClock {
    fn begin(&self, _task: &str, _steps: u64) {
        self.mark();
    }

    fn advance(&self, steps: u64) {
        // Training first reports the epochs that it resumes after: 0 in a new run.
        if steps > 0 {
            self.mark();
        }
    }
}

/// Processor seconds of the process so far, where the system reports them.
#[cfg(unix)]
fn cpu_seconds() -> Option<f64> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Some(time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9)
}

/// Processor seconds of the process so far, where the system reports them.
#[cfg(not(unix))]
fn cpu_seconds() -> Option<f64> {
    None
}
