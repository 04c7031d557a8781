//! Progress and cancellation: an observer that prints every tenth epoch and stops the training
//! after thirty.
//!
//! `cargo run --release -p regretless --example progress`

#![allow(clippy::print_stdout, reason = "the program prints its results")]

use std::sync::atomic::{AtomicU64, Ordering};

use regretless::observer::Observer;
use regretless::{Dataset, ErrorKind, Method, Problem, Split, Trainer};

/// Counts the steps of the present task and asks to stop at a limit.
struct StopAfter {
    limit: u64,
    done: AtomicU64,
}

impl Observer for StopAfter {
    fn begin(&self, task: &str, steps: u64) {
        println!("{task}: {steps} steps");
        self.done.store(0, Ordering::Relaxed);
    }

    fn advance(&self, steps: u64) {
        let done = self.done.fetch_add(steps, Ordering::Relaxed) + steps;
        if done.is_multiple_of(10) {
            println!("  {done} done");
        }
    }

    fn interrupted(&self) -> bool {
        self.done.load(Ordering::Relaxed) >= self.limit
    }
}

fn main() -> regretless::Result<()> {
    let problem = Problem::benchmark("SP4x4")?;
    let data = Dataset::generate(&problem, 300)?.split(Split::random(0))?;
    // Labels are computed once; the training below finds them.
    Trainer::new(Method::of_paper())
        .epochs(1)
        .fit(&problem, &data)?;

    let observer = StopAfter {
        limit: 30,
        done: AtomicU64::new(0),
    };
    let trainer = Trainer::new(Method::of_paper()).epochs(100);
    match trainer.fit_with(&problem, &data, &observer) {
        Err(error) if error.kind() == ErrorKind::Interrupted => println!("stopped as asked"),
        Err(error) => return Err(error),
        Ok(_) => println!("finished before the limit"),
    }
    Ok(())
}
